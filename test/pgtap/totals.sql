-- A sum is a sum: bounds are of a row's value, and what a unit adds up to in a group is limited by max_rows or by
-- totals, declared or written.  With hardly any noise, answers are those of plain SQL that does the same.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('clinic', find_bounds => 0, max_groups => 3, max_rows => 10);
SELECT dp_cdp.create_dataset('persons', max_groups => 3, max_rows => 10);
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6) FROM unnest('{clinic,persons}'::text[]) d;
-- the clinic of the README; and a patient who is there every day
CREATE TABLE visits AS SELECT i % 5000 AS patient_id, (ARRAY['cardiology', 'neurology', 'surgery'])[1 + i % 3] AS dept,
	(10 + i % 400)::numeric AS cost, 10 + i % 400 AS whole, (10 + i % 400)::float8 AS float, (i % 400 - 200)::int AS change
	FROM generate_series(1, 20000) i;
ALTER TABLE visits ALTER dept SET NOT NULL;
CREATE TABLE daily AS SELECT * FROM visits UNION ALL SELECT 5000, 'surgery', 400, 400, 400, 200 FROM generate_series(1, 300);
ALTER TABLE daily ALTER dept SET NOT NULL;
CREATE TABLE person AS SELECT patient_id, cost FROM visits WHERE patient_id < 1000;
SELECT dp_cdp.protect_table(t, 'clinic', 'patient_id') FROM unnest('{visits,daily}'::regclass[]) t;
SELECT dp_cdp.protect_table('person', 'persons', each_row => true);
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['cardiology', 'neurology', 'radiology', 'surgery']),
	dp_cdp.set_bounds(t, 'cost', 0, 500), dp_cdp.set_bounds(t, 'whole', 0, 500), dp_cdp.set_bounds(t, 'float', 0, 500),
	dp_cdp.set_bounds(t, 'change', -200, 200) FROM unnest('{visits,daily}'::regclass[]) t;
SELECT dp_cdp.set_bounds('person', 'cost', 0, 500);
RESET SESSION AUTHORIZATION;
ANALYZE;

-- one number as the analyst gets it, by either road of bounding, at a rho that leaves an error of about 1 in a million
CREATE FUNCTION answer(query text, node text DEFAULT 'on') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	result float8;
BEGIN
	PERFORM set_config('dp_cdp.bounding_node', node, true), set_config('dp_cdp.rho', '10000', true);
	SET SESSION AUTHORIZATION analyst1;
	EXECUTE query INTO result;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
CREATE FUNCTION near(query text, truth float8, tolerance float8, description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	node text;
	got float8;
BEGIN
	FOREACH node IN ARRAY '{on,off}'::text[] LOOP
		got := answer(query, node);
		RETURN NEXT ok(abs(got - truth) <= tolerance,
					   format('%s, node %s: %s is %s', description, node, got, truth));
	END LOOP;
END $$;
-- what plain SQL has, with rows and totals clamped
CREATE FUNCTION truth(t regclass, x text, low numeric, high numeric, total_low numeric, total_high numeric) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	result float8;
BEGIN
	EXECUTE format('SELECT sum(least(greatest(s, %s), %s)) FROM (SELECT sum(least(greatest(%s, %s), %s)) AS s FROM %s GROUP BY patient_id) q',
				   total_low, total_high, x, low, high, t) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION refused(query text, message text, description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	ended record;
BEGIN
	SELECT * INTO ended FROM run_as_analyst(query);
	RETURN NEXT matches(ended.failure, message, description);
	RETURN NEXT is(ended.cost, 0::bigint, description || ': not charged');
END $$;

SELECT * FROM no_plan();

-- the README's clinic: 4.19 million
SELECT near('SELECT sum(cost) FROM visits', 4190000, 1000, 'a sum is a sum') FROM (SELECT 1) one;
SELECT is((SELECT sum(cost) FROM visits), 4190000::numeric, 'which is what the owner has');
SELECT near('SELECT dp_sum(float) FROM visits', 4190000, 1000, 'of floating point');
SELECT near('SELECT dp_sum(whole) FROM visits', 4190000, 1000, 'of whole numbers');
SELECT near('SELECT sum(s) FROM (SELECT dept, sum(cost) AS s FROM visits GROUP BY dept) q', 4190000, 2000, 'by groups');
SELECT near('SELECT sum(change) FROM visits', (SELECT sum(change) FROM visits), 500, 'of both signs');
SELECT near('SELECT sum(CASE WHEN cost > 300 THEN cost ELSE 100 END) FROM visits', (SELECT sum(CASE WHEN cost > 300 THEN cost ELSE 100 END) FROM visits), 1000,
			'a column beside a constant');
SELECT near('SELECT sum(least(cost, 100)) FROM visits', (SELECT sum(least(cost, 100)) FROM visits), 1000, 'least');

-- rows are clamped, totals by max_rows
SELECT near('SELECT dp_sum(cost, 0, 200) FROM visits', truth('visits', 'cost', 0, 200, 0, 2000), 300, 'a row is clamped to its bounds');
SELECT near('SELECT dp_sum(cost, 100, 200) FROM visits', truth('visits', 'cost', 100, 200, 0, 2000), 300, 'from below, too');
SELECT near('SELECT dp_sum(change, -50, 100) FROM visits', truth('visits', 'change', -50, 100, -500, 1000), 300, 'with a sign');
SELECT near('SELECT sum(cost) FROM daily', 4190000 + 5000, 1000, 'of 300 visits 10 count, at their bound');
SELECT near('SELECT dp_sum(cost, 0, 100) FROM daily', truth('daily', 'cost', 0, 100, 0, 1000), 300, 'also where rows are clamped');

-- totals
SELECT near('SELECT dp_sum(cost, 0, 500, 0, 700) FROM visits', truth('visits', 'cost', 0, 500, 0, 700), 200, 'a total is clamped');
SELECT near('SELECT dp_sum(cost, 0, 200, 0, 300) FROM visits', truth('visits', 'cost', 0, 200, 0, 300), 200, 'of clamped rows');
SELECT near('SELECT dp_sum(float, 0, 500, 0, 700) FROM visits', truth('visits', 'float', 0, 500, 0, 700), 200, 'of floating point');
SELECT near('SELECT dp_sum(whole, 0, 500, 0, 700) FROM visits', truth('visits', 'whole', 0, 500, 0, 700), 200, 'of whole numbers');
SELECT near('SELECT dp_sum(change, -200, 200, -100, 50) FROM visits', truth('visits', 'change', -200, 200, -100, 50), 100, 'of both signs');
SELECT near('SELECT dp_sum(cost, 0, 500, 0, 1e9) FROM daily', 4190000 + 5000, 1000, 'never wider than max_rows times the bounds');
SELECT near('SELECT dp_sum(cost, 0, 500, 0, 100) FROM visits', truth('visits', 'cost', 0, 500, 0, 100), 50, 'narrower than a row');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 500, total_lower => 0, total_upper => 700);
RESET SESSION AUTHORIZATION;
SELECT near('SELECT sum(cost) FROM visits', truth('visits', 'cost', 0, 500, 0, 700), 200, 'declared totals');
SELECT near('SELECT sum(CASE WHEN dept = ''surgery'' THEN cost ELSE 0 END) FROM visits',
			truth('visits', 'CASE WHEN dept = ''surgery'' THEN cost ELSE 0 END', 0, 500, 0, 700), 200, 'go with the column');
SELECT near('SELECT dp_sum(cost, 0, 200) FROM visits', truth('visits', 'cost', 0, 200, 0, 700), 200, 'also where bounds are written');
SELECT near('SELECT dp_sum(cost, 0, 500, 0, 5000) FROM visits', 4190000, 1000, 'but not where totals are');
SELECT near('SELECT sum(CASE WHEN dept = ''surgery'' THEN cost ELSE 500 END) FROM visits',
			(SELECT sum(CASE WHEN dept = 'surgery' THEN cost ELSE 500 END) FROM visits), 1000, 'nor with constants');
SELECT near('SELECT dp_avg(cost) FROM visits', 209.5, 0.5, 'averages know no totals');
SELECT is((SELECT columns -> 'cost' FROM dp_cdp.protected WHERE "table" = 'visits'::regclass),
		  '{"lower": 0, "upper": 500, "total_lower": 0, "total_upper": 700}', 'the view shows them');

-- what is cut
SELECT near('SELECT dp_clipped(cost, 0, 200) FROM visits', (SELECT avg((cost > 200)::int) FROM visits), 0.01, 'the share of rows that are cut');
SELECT near('SELECT dp_clipped_totals(cost) FROM visits',
			(SELECT avg((s > 700)::int) FROM (SELECT sum(cost) AS s FROM visits GROUP BY patient_id) q), 0.01, 'the share of totals');
SELECT near('SELECT dp_clipped_totals(cost, 0, 200, 0, 300) FROM visits',
			(SELECT avg((s > 300)::int) FROM (SELECT sum(least(cost, 200)) AS s FROM visits GROUP BY patient_id) q), 0.01, 'of clamped rows');
SELECT near('SELECT dp_clipped_totals(change, -200, 200, -100, 50) FROM visits',
			(SELECT avg((s > 50 OR s < -100)::int) FROM (SELECT sum(change) AS s FROM visits GROUP BY patient_id) q), 0.01, 'on both sides');
SELECT near('SELECT dp_clipped_totals(cost) FROM daily WHERE patient_id > 4990 AND dept = ''surgery''', 1 / 10.0, 0.05, 'by max_rows');
SELECT near('SELECT dp_clipped_totals(cost, 0, 500, 0, 300) FILTER (WHERE cost > 200) FROM visits',
			(SELECT avg((s > 300)::int) FROM (SELECT sum(cost) AS s FROM visits WHERE cost > 200 GROUP BY patient_id) q), 0.01, 'of those that have a value');
SELECT near('SELECT max(c) FROM (SELECT dept, dp_clipped_totals(cost, 0, 500, 0, 300) AS c FROM visits WHERE dept <> ''radiology'' GROUP BY dept) q',
			(SELECT max(c) FROM (SELECT dept, avg((s > 300)::int) AS c FROM (SELECT dept, sum(cost) AS s FROM visits GROUP BY dept, patient_id) q GROUP BY 1) q2),
			0.02, 'in each group');
-- units of which max_rows cuts rows
SELECT near('SELECT dp_clipped_rows(*) FROM visits', 0, 0.001, 'nobody has more than 10 rows');
SELECT near('SELECT dp_clipped_rows(*) FROM daily WHERE patient_id > 4990', 1 / 10.0, 0.05, 'one of ten has');
SELECT near('SELECT dp_clipped_rows(*) FILTER (WHERE cost < 300) FROM daily WHERE patient_id > 4990', 0, 0.05, 'of rows that count');
SELECT near('SELECT max(c) FROM (SELECT dept, dp_clipped_rows(*) AS c FROM daily WHERE patient_id > 4990 AND dept = ''surgery'' GROUP BY dept) q', 1.0 / (SELECT count(DISTINCT patient_id) FROM daily WHERE patient_id > 4990 AND dept = 'surgery'), 0.05, 'in a group');
SELECT set_config('dp_cdp.max_rows', '2', false);
SELECT near('SELECT dp_clipped_rows(*) FROM visits WHERE cost < 300', (SELECT avg((n > 2)::int) FROM (SELECT count(*) AS n FROM visits WHERE cost < 300 GROUP BY patient_id) q), 0.01, 'by the max_rows of the session');
RESET dp_cdp.max_rows;

-- units of which max_groups cuts groups: 1,000 in one ward alone, 1,000 in two, of which each counts in one of them at random
SET SESSION AUTHORIZATION owner1;
CREATE TABLE moves AS SELECT i AS patient_id, 'first' AS ward, i % 2 = 0 AS even FROM generate_series(1, 2000) i UNION ALL SELECT i, 'second', i % 2 = 0 FROM generate_series(1001, 2000) i;
ALTER TABLE moves ALTER ward SET NOT NULL;
SELECT dp_cdp.create_dataset('wards', max_groups => 3, max_rows => 10), dp_cdp.set_budget('wards', 'analyst1', rho => 1e6) \g /dev/null
SELECT dp_cdp.protect_table('moves', 'wards', 'patient_id'), dp_cdp.set_keys('moves', 'ward', '{first,second,third}'::text[]) \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE moves;
CREATE FUNCTION ward_cut(ward text, clause text DEFAULT '', filter text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT c FROM (SELECT ward, dp_clipped_groups(*) %s AS c, count(*), dp_clipped_rows(*), sum(1) FROM moves %s GROUP BY ward) q WHERE ward = %L', filter, clause, ward) $$;
SELECT near(ward_cut(ward), 0, 0.001, 'nobody is in more than 3 wards: ' || ward) FROM unnest('{first,second}'::text[]) ward;
SET dp_cdp.max_groups = 1;
-- 500 of 1,500, known to 9 standard deviations of the draw
SELECT near(ward_cut('first'), 1 / 3.0, 0.075, 'half of those who move count here');
SELECT near(ward_cut('second'), 1, 0.001, 'all of these move');
SELECT near(ward_cut('second', '', 'FILTER (WHERE even)'), 1, 0.001, 'of rows that count');
SELECT near(ward_cut('second', 'WHERE patient_id <= 1000 OR even'), 1, 0.001, 'of rows that are read');
SELECT near('SELECT min(c) FROM (SELECT even, dp_clipped_groups(*) AS c FROM moves GROUP BY even) q', 0, 0.001, 'who is in one group of two');
SET dp_cdp.max_groups = 2;
SELECT near(ward_cut(ward), 0, 0.001, 'both wards count: ' || ward) FROM unnest('{first,second}'::text[]) ward;
SET dp_cdp.max_contribution = 100;
SELECT near(format('SELECT c FROM (SELECT ward, dp_clipped_groups(*) AS c, count(*) FROM moves GROUP BY ward) q WHERE ward = %L', 'first'), 0, 0.001, 'beside a norm');
SET dp_cdp.max_groups = 1;
SELECT near(format('SELECT c FROM (SELECT ward, dp_clipped_groups(*) AS c, count(*) FROM moves GROUP BY ward) q WHERE ward = %L', 'second'), 1, 0.001, 'which does not cut groups');
SELECT near(format('SELECT n FROM (SELECT ward, dp_clipped_groups(*) AS c, dp_count(*) AS n FROM moves GROUP BY ward) q WHERE ward = %L', 'second'), 500, 150, 'and groups that are looked for do not count');
RESET dp_cdp.max_contribution;
RESET dp_cdp.max_groups;

-- where each row is a unit, it is its total
SELECT near('SELECT sum(cost) FROM person', (SELECT sum(cost) FROM person), 100, 'rows that are units');
SELECT near('SELECT dp_sum(cost, 0, 500, 0, 100) FROM person', (SELECT sum(least(cost, 100)) FROM person), 100, 'their totals are clamped, too');
SELECT near('SELECT dp_clipped_totals(cost, 0, 500, 0, 100) FROM person', (SELECT avg((cost > 100)::int) FROM person), 0.01, 'and what is cut of them told');

-- before and after
CREATE FUNCTION shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	FOR line IN EXECUTE query LOOP
		RETURN NEXT line;
	END LOOP;
	RESET SESSION AUTHORIZATION;
END $$;
SELECT is((SELECT string_agg(regexp_replace(l, '^.*Release: ', ''), '; ') FROM shown('EXPLAIN (COSTS OFF) SELECT sum(whole), sum(cost), avg(cost) FROM visits') l WHERE l ~ 'Release:'),
		  'sum(whole)  (stddev=35355.3 rho=0.01)  rows within 0 .. 500, a unit''s total within 0 .. 5000 (max_rows 10); '
		  'sum(cost)  (stddev=4949.75 rho=0.01)  rows within 0 .. 500, a unit''s total within 0 .. 700; avg(cost)  (stddev about 26500 / N for N rows, rho=0.01)  a unit counts with 10 rows', 'EXPLAIN shows both limits');
SELECT is((SELECT string_agg(l, '; ') FROM shown('SELECT concat_ws('' '', name, row_lower, row_upper, total_lower, total_upper, round(stddev)) FROM dp_cdp.preview(
		''SELECT sum(whole), dp_sum(cost, 0, 400, 0, 600), dp_clipped_totals(cost), count(*) FROM visits'') WHERE item = ''aggregate''') l),
		  'sum(whole) 0 500 0 5000 35355; dp_sum(cost, 0, 400, 0, 600) 0 400 0 600 4243; dp_clipped_totals(cost) 0 500 0 700; count(*) 71',
		  'preview shows both limits, and the noise that they cause');
SELECT is((SELECT string_agg(l, '; ') FROM shown('SELECT concat_ws('': '', name, limits) FROM dp_cdp.preview(
		''SELECT count(*), count(DISTINCT patient_id), sum(cost), avg(cost) FROM visits'') WHERE item = ''aggregate''') l),
		  'count(*): a unit counts with 10 rows; count(DISTINCT patient_id): a unit adds 1 at most; '
		  'sum(cost): rows within 0 .. 500, a unit''s total within 0 .. 700; avg(cost): a unit counts with 10 rows', '... and what a person may add, in words');
SELECT is((SELECT string_agg(l, '; ') FROM shown('SELECT concat_ws('': '', name, limits) FROM dp_cdp.preview(
		''SELECT dept, count(*), count(DISTINCT patient_id) FROM visits GROUP BY 1'') WHERE item = ''aggregate''') l),
		  'count(*): a unit counts in 3 of 4 groups with 10 rows of each group; count(DISTINCT patient_id): a unit counts in 3 of 4 groups', '... by groups');

SELECT shown('SELECT count(*) FROM (SELECT sum(cost) AS a, avg(whole) AS b, dp_max(whole, 3, 9) AS c FROM visits) q WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL') \g /dev/null
SELECT is((SELECT string_agg(l, '; ') FROM shown('SELECT concat_ws('' '', aggregate, row_lower, row_upper, total_lower, total_upper) FROM dp_cdp.last_release() WHERE "group" IS NULL') l),
		  'sum(cost) 0 500 0 700; avg(whole) 0 500; dp_max(whole, 3, 9) 3 9', 'last_release shows what was applied');

-- parameters, by a plan that does not know them
SET plan_cache_mode = force_generic_plan;
SET SESSION AUTHORIZATION analyst1;
PREPARE limited(numeric, numeric, numeric, numeric) AS SELECT dp_sum(cost, $1, $2, $3, $4) FROM visits;
RESET SESSION AUTHORIZATION;
SELECT near('EXECUTE limited(0, 500, 0, 700)', truth('visits', 'cost', 0, 500, 0, 700), 200, 'parameters');
SELECT refused('EXECUTE limited(0, 500, 0, NULL)', '^ZC004 .*NULL', 'a NULL parameter');
SELECT refused('EXECUTE limited(0, 500, 10, 20)', '^ZC004 .*0 between them.*write 0 as the lower one', 'a parameter beyond 0');
RESET plan_cache_mode;

-- bad input
SELECT refused('SELECT dp_sum(cost, 0, 500, 700, 0) FROM visits', '^ZC004 the lower limit of a unit''s total in dp_sum\(cost, .*\) must be less than', 'limits in the wrong order');
SELECT refused('SELECT dp_sum(cost, 0, 500, 0, 0) FROM visits', '^ZC004 the lower limit', 'equal ones');
SELECT refused('SELECT dp_sum(cost, 0, 500, -9, -1) FROM visits', '^ZC004 .*write 0 as the upper one', 'limits below 0');
SELECT refused('SELECT dp_sum(cost, 0, 500, 0, ''Infinity'') FROM visits', '^ZC004 .*finite', 'infinity');
SELECT refused('SELECT dp_sum(float, 0, 500, 0, ''NaN''::float8) FROM visits', '^ZC004 .*finite', 'not a number');
SELECT refused('SELECT dp_sum(cost, ''0'', ''500'', ''0'', ''many'') FROM visits', '^(ZC004|22P02) ', 'no number');
SELECT refused('SELECT dp_sum(cost, 0, 500, -700, 0) FROM visits', '^ZC004 no two totals', 'nothing left');
SELECT refused('SELECT dp_sum(cost, 0, 500, 0, cost) FROM visits', '^ZC002 the limits of a unit''s total .* constants or parameters', 'a limit that is read from rows');
SELECT refused('SELECT dp_sum(cost, 0, 500, 0, (SELECT 1)) FROM visits', '^ZC002 ', 'a limit from a subquery');
SELECT refused('SELECT dp_sum(cost, 0, 500, 0) FROM visits', '^42883 ', 'three of four');
SELECT refused('SELECT dp_avg(cost, 0, 500, 0, 700) FROM visits', '^42883 ', 'totals for an average');
SELECT refused('SELECT dp_sum(dept, 0, 500, 0, 700) FROM visits', '^42883 ', 'totals of no number');
SELECT refused('SELECT dp_clipped_totals(dept, 0, 500, 0, 700) FROM visits', '^ZC002 .*give it numbers', 'nor what is cut');
SELECT refused('SELECT dp_clipped_groups(*) FROM visits', '^ZC002 dp_clipped_groups\(\*\) tells which units have more groups than max_groups, and here no unit is in two groups; leave it out', 'without groups');
SELECT refused('SELECT dp_clipped_rows(*) FROM person', '^ZC002 dp_clipped_rows\(\*\) tells which units have more rows than max_rows, and here no unit has two rows', 'rows that are units');
SELECT refused('SELECT dp_clipped_totals(DISTINCT cost) FROM visits', '^ZC002 .*DISTINCT', 'nor of distinct values');
SELECT refused('SELECT dp_clipped_totals(length(dept)) FROM visits', '^ZC004 .*needs bounds, .*write dp_clipped_totals\(length\(dept\), lower, upper\)', 'which needs bounds as sums do');
-- what it recommends
SELECT near('SELECT dp_clipped_totals(cost * 2, 0, 1000, 0, 1400) FROM visits', (SELECT avg((s > 700)::int) FROM (SELECT sum(cost) AS s FROM visits GROUP BY patient_id) q),
			0.01, 'and has them');
SELECT throws_ok(format('SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS %L', label), 'ZC004', NULL, label)
	FROM unnest(ARRAY['{"lower": 0, "upper": 1, "total_lower": 0}', '{"lower": 0, "upper": 1, "total_upper": 0}', '{"total_lower": 0, "total_upper": 1}',
		'{"lower": 0, "upper": 1, "total_lower": 1, "total_upper": 2}', '{"lower": 0, "upper": 1, "total_lower": -2, "total_upper": -1}',
		'{"lower": 0, "upper": 1, "total_lower": 0, "total_upper": 0}', '{"lower": 0, "upper": 1, "total_lower": "0", "total_upper": 1}']) label;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.drop_bounds('visits', 'cost');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 500);
RESET SESSION AUTHORIZATION;
SELECT is((SELECT columns -> 'cost' FROM dp_cdp.protected WHERE "table" = 'visits'::regclass), '{"lower": 0, "upper": 500}', 'bounds that are declared anew have no totals');
SELECT near('SELECT sum(cost) FROM visits', 4190000, 1000, 'and limit none');

SELECT * FROM finish();
