-- min_units of a dataset: undeclared groups of fewer people are not shown, whatever noise says, and declared ones whose noisy
-- count of people is below it have no answers.
-- Noise is so small that it decides nothing: sigma is 0.025 of a person at rho 800, and a threshold is 7 sigma from what it is
-- compared with, or more.  All of this file together is a false alarm with probability below 1e-9.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset(d, neighbors => n, default_rho => 800, delta => 0.5, default_delta => 1e-14)
	FROM (VALUES ('town', 'add_remove'), ('replaced', 'replace_one')) v (d, n) \g /dev/null
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6, delta => 0.4) FROM unnest('{town,replaced}'::text[]) d \g /dev/null
-- group g has g people, who are in no other one; in the groups of "four" each is in four of one size.  In mix_20 nine people are in no
-- other group, and 20 in 99 more; mix_10 has 10 of the latter
CREATE TABLE alone AS SELECT g * 1000 + u AS u, g::text AS g, u % 2 AS half, u % 5 AS x FROM generate_series(1, 30) g, generate_series(1, g) u;
CREATE TABLE four AS SELECT n * 1000 + u AS u, n || '.' || t AS g, 0 AS half, u % 5 AS x FROM generate_series(1, 30) n, generate_series(1, n) u, generate_series(1, 4) t;
CREATE TABLE mixed AS SELECT u, g, 0 AS half, 1 AS x FROM (
	SELECT m * 1000 + u AS u, 'mix_' || m AS g FROM unnest('{10,20}'::int[]) m, generate_series(1, 9) u
	UNION ALL SELECT m * 1000 + 100 + u, CASE f WHEN 1 THEN 'mix_' || m ELSE m || '.' || f END FROM unnest('{10,20}'::int[]) m, generate_series(1, m) u, generate_series(1, 100) f) s;
CREATE TABLE alone_replaced AS TABLE alone;
CREATE TABLE by_row AS TABLE alone;
SELECT dp_cdp.protect_table(t, 'town', 'u') FROM unnest('{alone,four,mixed}'::regclass[]) t \g /dev/null
SELECT dp_cdp.protect_table('alone_replaced', 'replaced', 'u'), dp_cdp.protect_table('by_row', 'town', each_row => true) \g /dev/null
SELECT dp_cdp.set_bounds(t, 'x', 0, 5) FROM unnest('{alone,four,mixed,alone_replaced,by_row}'::regclass[]) t \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE;

-- sets min_units of all datasets
CREATE FUNCTION hold_to(n int) RETURNS void LANGUAGE sql AS $$ SELECT dp_cdp.alter_dataset(name, min_units => n) FROM dp_cdp_internal.dataset $$;
-- the first of the released columns, as the analyst
CREATE FUNCTION shown(query text, settings text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	EXECUTE format('SELECT array_agg((to_jsonb(q) ->> (SELECT key FROM jsonb_object_keys(to_jsonb(q)) key WHERE key IN (''g'', ''s'') LIMIT 1))) FROM (%s) q', query) INTO answer;
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows; RESET dp_cdp.max_contribution; RESET dp_cdp.rho';
	RETURN QUERY SELECT unnest(answer);
END $$;
-- the size of the smallest group that is shown; every larger one is, too
CREATE FUNCTION smallest(query text, settings text DEFAULT '', per_size int DEFAULT 1) RETURNS text LANGUAGE sql AS $$
	WITH s AS MATERIALIZED (SELECT split_part(g, '.', 1)::int AS n, count(*) AS groups FROM shown(query, settings) g GROUP BY 1)
	SELECT CASE WHEN count(*) = 31 - min(n) AND min(groups) = per_size AND max(groups) = per_size THEN min(n)::text ELSE coalesce(string_agg(n || 'x' || groups, ' ' ORDER BY n), 'none') END FROM s $$;

SELECT * FROM no_plan();

-- --------------------------------------------------------------------------
-- Selected keys
-- --------------------------------------------------------------------------

-- with so little noise each group of two is shown
CREATE TEMP TABLE queries (n serial, query text, settings text);
INSERT INTO queries (query, settings) VALUES
	('SELECT g, count(*) FROM alone GROUP BY g', ''),
	('SELECT g, count(DISTINCT u) FROM alone GROUP BY g', ''),
	('SELECT DISTINCT g FROM alone', ''),
	('SELECT g, sum(x), avg(x) FROM alone GROUP BY g', ''),
	('SELECT g, dp_median(x) FROM alone GROUP BY g', ''),
	('SELECT g, dp_histogram(x, 5), count(DISTINCT x) FROM alone GROUP BY g', ''),
	('SELECT g, count(*) FROM alone GROUP BY g', 'SET dp_cdp.max_groups = 3; SET dp_cdp.max_rows = 2'),
	('SELECT g, count(*) FROM alone GROUP BY g', 'SET dp_cdp.max_contribution = 2'),
	('SELECT g, count(*) FROM alone GROUP BY GROUPING SETS ((g))', ''),
	('SELECT g, n FROM (SELECT g, half, count(*) AS n FROM alone GROUP BY GROUPING SETS ((g), (half))) s WHERE g IS NOT NULL', ''),
	('SELECT g, rank() OVER (ORDER BY n) FROM (SELECT g, count(*) AS n FROM alone GROUP BY g) s', ''),
	('SELECT s.g FROM generate_series(1, 30) AS s(g) WHERE s.g::text IN (SELECT a.g FROM alone a GROUP BY a.g HAVING count(*) > 0)', ''),
	('WITH w AS (SELECT g, count(*) AS n FROM alone GROUP BY g) SELECT * FROM w', ''),
	('SELECT g, count(*) FROM alone_replaced GROUP BY g', ''),
	('SELECT g, count(DISTINCT u) FROM alone_replaced GROUP BY g', ''),
	('SELECT g, count(*) FROM by_row GROUP BY g', ''),
	('SELECT g, sum(x) FROM by_row GROUP BY g', ''),
	('SELECT g, dp_median(x) FROM by_row GROUP BY g', '');
SELECT is(smallest(query, settings), '2', format('without: %s %s', query, settings)) FROM queries ORDER BY n;
SELECT hold_to(10);
SELECT is(smallest(query, settings), '11', format('with: %s %s', query, settings)) FROM queries ORDER BY n;
SET dp_cdp.bounding_node = off;
SELECT is(smallest(query, settings), '11', format('without the node: %s', query)) FROM queries ORDER BY n;
RESET dp_cdp.bounding_node;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is(smallest(query, settings), '11', format('in workers: %s', query)) FROM queries ORDER BY n;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- at 30, none is above it by enough
SELECT hold_to(30);
SELECT is((SELECT count(*) FROM queries, shown(query, settings)), 0::bigint, 'no group has more people than 30');
SELECT hold_to(1000000);
SELECT is((SELECT count(*) FROM queries, shown(query, settings)), 0::bigint, 'none has a million');

-- who is in 4 groups weighs a half in each: 2 of the weight 1 are 3 people, beside the 9 heaviest
SELECT hold_to(1);
CREATE TEMP TABLE of_four (query text, settings text, usual text, held text);
INSERT INTO of_four VALUES ('SELECT g, count(*) FROM four GROUP BY g', '', '3', '12'), ('SELECT DISTINCT g FROM four', '', '3', '12'),
	('SELECT g, dp_histogram(x, 5), count(DISTINCT x) FROM four GROUP BY g', '', '3', '12'), ('SELECT g, count(DISTINCT u) FROM four GROUP BY g', 'SET dp_cdp.max_groups = 4', '3', '12'),
	('SELECT g, count(DISTINCT u) FROM four GROUP BY g', 'SET dp_cdp.max_groups = 4; SET dp_cdp.max_rows = 1', '2', '11'),
	('SELECT g, count(*) FROM four GROUP BY g', 'SET dp_cdp.max_groups = 4; SET dp_cdp.max_rows = 1', '2', '11');
SELECT is(smallest(query, settings, 4), usual, format('in four, without: %s %s', query, settings)) FROM of_four;
SELECT hold_to(10);
SELECT is(smallest(query, settings, 4), held, format('in four: %s %s', query, settings)) FROM of_four;
SET dp_cdp.bounding_node = off;
SELECT is(smallest(query, settings, 4), held, format('in four, without the node: %s', query)) FROM of_four;
RESET dp_cdp.bounding_node;
-- nine heavy ones are left out, and 20 of a tenth are 2; 10 are no more than one person.  Of the others 11 of a tenth are left, which noise may show
SELECT is((SELECT string_agg(g, ' ' ORDER BY g) FROM shown('SELECT g, count(*) FROM mixed GROUP BY g') g WHERE g ~ 'mix'), 'mix_20', 'the heaviest people do not count');
SELECT hold_to(9);
SELECT is((SELECT string_agg(g, ' ' ORDER BY g) FROM shown('SELECT g, count(*) FROM mixed GROUP BY g') g WHERE g ~ 'mix'), 'mix_10 mix_20', 'but for the ninth');

-- --------------------------------------------------------------------------
-- What is told
-- --------------------------------------------------------------------------

SELECT hold_to(10);
CREATE FUNCTION explained(query text, format text DEFAULT 'text') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	FOR line IN EXECUTE format('EXPLAIN (FORMAT %s) %s', format, query) LOOP
		RETURN NEXT line;
	END LOOP;
	RESET SESSION AUTHORIZATION;
END $$;
SET dp_cdp.max_groups = 5;
SET dp_cdp.max_rows = 1;
SELECT is((SELECT string_agg(trim(l), '; ') FROM explained('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') l WHERE l ~ 'Threshold|Min Units'),
	'Threshold: 11; Min Units: 10', 'EXPLAIN has it, and a threshold for what is shown');
RESET dp_cdp.max_groups;
RESET dp_cdp.max_rows;
SELECT is((SELECT string_agg(trim(l), '; ') FROM explained('SELECT g, count(*) FROM alone GROUP BY g') l WHERE l ~ 'Threshold|Min Units'),
	'Threshold: 1.19; Min Units: 10', '... and for weights beside the heaviest');
SELECT ok((SELECT bool_or(l ~ '"Min Units": 10') FROM explained('SELECT g, count(*) FROM alone GROUP BY g', 'json') l), '... as a number');
SELECT is((SELECT min(limits) FROM dp_cdp.preview('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') WHERE name ~ 'count'), NULL, 'who may not ask is told nothing');
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.max_groups = 5;
SET dp_cdp.max_rows = 1;
SELECT is((SELECT string_agg(limits, '; ') FROM dp_cdp.preview('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') WHERE limits ~ 'at least'),
	'a unit adds 2.23607 at most; a group that is shown has at least 10 units', 'previews have it');
RESET dp_cdp.max_groups;
RESET dp_cdp.max_rows;
SELECT is((SELECT string_agg(limits, '; ') FROM dp_cdp.preview('SELECT g, count(*) FROM alone GROUP BY g') WHERE limits ~ 'at least'),
	'a unit in n groups weighs 1 / sqrt(n) in each; a group that is shown has at least 10 units', '... of weights, too');
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'town'), 10, 'analysts see it');
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- Kept answers
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('town', reuse => '1 day', min_units => 1) \g /dev/null
RESET SESSION AUTHORIZATION;
CREATE FUNCTION id(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	SELECT string_agg(fingerprint, ' ' ORDER BY fingerprint) INTO answer FROM dp_cdp.query_fingerprint(query);
	RESET SESSION AUTHORIZATION;
	RETURN answer;
END $$;
CREATE TEMP TABLE ids AS SELECT q, id(q) FROM unnest('{"SELECT g, count(*) FROM alone GROUP BY g","SELECT g, count(DISTINCT u) FROM alone GROUP BY g",SELECT count(*) FROM alone}'::text[]) q;
SELECT is(smallest('SELECT g, count(DISTINCT u) FROM alone GROUP BY g'), '2', 'an answer is kept');
SELECT is(run_as_analyst('SELECT g, count(DISTINCT u) FROM alone GROUP BY g')::text, '(,0)', '... and given again');
SELECT hold_to(10);
SELECT is((SELECT string_agg((id(q) = id)::text, ' ' ORDER BY q) FROM ids), 'true false false', 'it is part of questions that select keys, and of no others');
SELECT is(run_as_analyst('SELECT g, count(DISTINCT u) FROM alone GROUP BY g')::text, '(,1600000000)', 'another min_units is another question');
SELECT is(smallest('SELECT g, count(DISTINCT u) FROM alone GROUP BY g'), '11', '... whose groups are fewer');
SELECT is(smallest('SELECT g, count(DISTINCT u), sum(x) FROM alone GROUP BY g'), '11', '... also where a column is bought beside it');
SELECT hold_to(1);
SELECT is((SELECT bool_and(id(q) = id) FROM ids), true, 'a former min_units is the former question');
SELECT is(smallest('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') || run_as_analyst('SELECT g, count(DISTINCT u) FROM alone GROUP BY g')::text, '2(,0)', '... whose answer is there');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('town', reuse => '0') \g /dev/null
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- Declared keys
-- --------------------------------------------------------------------------

SELECT hold_to(1);
SET SESSION AUTHORIZATION owner1;
-- group g has 2 g people, the last one none; every second of them in "twice" has two rows
CREATE TABLE clinic AS SELECT g * 100 + u AS u, g, u % 2 AS half, u % 5 AS x, CASE WHEN u % 2 = 0 THEN 'f' ELSE 'm' END AS sex FROM generate_series(1, 9) g, generate_series(1, 2 * g) u;
CREATE TABLE twice AS TABLE clinic UNION ALL SELECT * FROM clinic WHERE half = 0;
CREATE TABLE clinic_rows AS TABLE clinic;
ALTER TABLE clinic ALTER g SET NOT NULL, ALTER sex SET NOT NULL, ALTER half SET NOT NULL;
ALTER TABLE twice ALTER g SET NOT NULL, ALTER sex SET NOT NULL, ALTER half SET NOT NULL;
ALTER TABLE clinic_rows ALTER g SET NOT NULL, ALTER sex SET NOT NULL, ALTER half SET NOT NULL;
SELECT dp_cdp.protect_table(t, 'town', 'u') FROM unnest('{clinic,twice}'::regclass[]) t \g /dev/null
SELECT dp_cdp.protect_table('clinic_rows', 'town', each_row => true) \g /dev/null
SELECT dp_cdp.set_keys(t, 'g', ARRAY(SELECT generate_series(1, 10))), dp_cdp.set_keys(t, 'half', '{0,1}'::int[]), dp_cdp.set_keys(t, 'sex', '{f,m}'::text[]), dp_cdp.set_bounds(t, 'x', 0, 5)
	FROM unnest('{clinic,twice,clinic_rows}'::regclass[]) t \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE;

-- the groups that are shown as key:answer, "-" being NULL
CREATE FUNCTION answers(query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	EXECUTE format('SELECT string_agg(coalesce(q.k::text, ''all'') || '':'' || coalesce(round(q.n::numeric)::text, ''-''), '' '' ORDER BY q.k) FROM (%s) q (k, n)', query) INTO answer;
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows; RESET dp_cdp.max_contribution; RESET dp_cdp.target_error';
	RETURN answer;
END $$;
-- how many columns analyst1 has paid for
CREATE FUNCTION columns_of(query text) RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(' ', failure, round(cost / 800e6, 2)) FROM run_as_analyst(query) $$;

SELECT is(answers('SELECT g, count(DISTINCT u) FROM clinic GROUP BY g'), '1:2 2:4 3:6 4:8 5:10 6:12 7:14 8:16 9:18 10:0', 'without min_units');
SELECT is(columns_of('SELECT g, sum(x) FROM clinic GROUP BY g'), '1.00', '... a sum is one answer');
SELECT hold_to(9);
SELECT is(answers('SELECT g, count(DISTINCT u) FROM clinic GROUP BY g'), '1:- 2:- 3:- 4:- 5:10 6:12 7:14 8:16 9:18 10:-', 'the count itself');
SELECT is(answers('SELECT g, count(*) FROM clinic GROUP BY g'), '1:- 2:- 3:- 4:- 5:10 6:12 7:14 8:16 9:18 10:-', 'a count of rows');
SELECT is(answers('SELECT g, count(*) FROM twice GROUP BY g'), '1:- 2:- 3:- 4:- 5:15 6:18 7:21 8:24 9:27 10:-', '... of people with two');
SELECT is(answers('SELECT g, count(*) FROM clinic_rows GROUP BY g'), '1:- 2:- 3:- 4:- 5:10 6:12 7:14 8:16 9:18 10:-', 'rows that are people');
SELECT is(answers('SELECT g, count(*) FILTER (WHERE half = 0) FROM clinic GROUP BY g'), '1:- 2:- 3:- 4:- 5:5 6:6 7:7 8:8 9:9 10:-', 'an answer may be smaller');
SELECT is(answers('SELECT g, count(*) FROM clinic WHERE half = 0 GROUP BY g'), '1:- 2:- 3:- 4:- 5:- 6:- 7:- 8:- 9:9 10:-', 'conditions leave fewer people');
SET dp_cdp.bounding_node = off;
SELECT is(answers('SELECT g, count(*) FROM clinic GROUP BY g'), '1:- 2:- 3:- 4:- 5:10 6:12 7:14 8:16 9:18 10:-', 'without the node');
RESET dp_cdp.bounding_node;
SELECT is(answers(format('SELECT g, %s FROM clinic GROUP BY g', a), s) ~ '^1:- 2:- 3:- 4:- 5:[0-9]+ 6:[0-9]+ 7:[0-9]+ 8:[0-9]+ 9:[0-9]+ 10:-$', true, format('%s %s', a, s))
	FROM (VALUES ('sum(x)', ''), ('avg(x)', ''), ('dp_median(x, 0, 5)', ''), ('(dp_histogram(x, 5))[1]', ''), ('count(DISTINCT x)', ''), ('mode() WITHIN GROUP (ORDER BY half)', ''), ('sum(x) + count(*)', ''),
		('dp_noise_stddev(count(*))', ''), ('dp_margin(sum(x))', ''), ('dp_var_pop(x)', ''), ('sum(x)', 'SET dp_cdp.max_groups = 2; SET dp_cdp.max_rows = 2'), ('sum(x)', 'SET dp_cdp.max_contribution = 3'),
		('sum(x)', 'SET dp_cdp.target_error = ''3'''), ('dp_median(x, 0, 5)', 'SET dp_cdp.target_error = ''1''')) v (a, s);
SELECT is(answers('SELECT NULL, count(*) FROM clinic WHERE g = 1'), 'all:2', 'rows without groups are no group');
SELECT is(answers('SELECT g, NULL FROM (SELECT DISTINCT g FROM clinic) s'), '1:- 2:- 3:- 4:- 5:- 6:- 7:- 8:- 9:- 10:-', 'nor have keys without answers anything to hide');
SELECT is(answers('SELECT g, n FROM (SELECT g, count(*) AS n FROM clinic GROUP BY g HAVING count(*) > 11) s'), '6:12 7:14 8:16 9:18', 'HAVING is false of what is NULL');
SELECT is(answers('SELECT g, n FROM (SELECT g, rank() OVER (ORDER BY count(*) DESC NULLS LAST) AS n FROM clinic GROUP BY g) s'), '1:6 2:6 3:6 4:6 5:5 6:4 7:3 8:2 9:1 10:6', 'a window over them');
SELECT is(answers('SELECT k, 1 FROM generate_series(1, 10) AS v (k) WHERE k IN (SELECT g FROM clinic GROUP BY g HAVING count(*) > 0)'), '5:1 6:1 7:1 8:1 9:1', 'a subquery that selects among them');
SELECT is(answers('SELECT coalesce(g::text, ''all'') || sex, n FROM (SELECT g, sex, count(*) AS n FROM clinic WHERE g IN (2, 8, 9) GROUP BY GROUPING SETS ((g, sex), (sex))) s'), '2f:- 2m:- 8f:- 8m:- 9f:9 9m:9 allf:19 allm:19', 'grouping sets, each by its own groups');
SELECT is(answers('SELECT g, count(*) FROM clinic WHERE g > 100 GROUP BY g'), NULL, 'of no groups');
SELECT is(answers(format('SELECT d.k, %s', q)), w, format('of public rows: %s', q)) FROM (VALUES
	('(SELECT count(*) FROM clinic v WHERE v.g = d.k) FROM generate_series(4, 11) d (k)', '4:- 5:10 6:12 7:14 8:16 9:18 10:- 11:0'),
	('(SELECT sum(x) > 0 FROM clinic v WHERE v.g = d.k)::int FROM generate_series(4, 11) d (k)', '4:- 5:1 6:1 7:1 8:1 9:1 10:- 11:-'),
	('n FROM generate_series(4, 11) d (k), LATERAL (SELECT count(*) + 1 AS n FROM clinic v WHERE v.g = d.k) l', '4:- 5:11 6:13 7:15 8:17 9:19 10:- 11:1'),
	('EXISTS (SELECT FROM clinic v WHERE v.g = d.k)::int FROM generate_series(4, 11) d (k)', '4:0 5:1 6:1 7:1 8:1 9:1 10:0 11:0')) v (q, w);

-- what it costs: one answer more, but where people are counted anyway
SELECT is(columns_of(q), c, q || ' costs ' || c) FROM (VALUES ('SELECT g, sum(x) FROM clinic GROUP BY g', '2.00'), ('SELECT g, sum(x), count(*), avg(x) FROM clinic GROUP BY g', '4.00'), ('SELECT g, count(*) FROM clinic GROUP BY g', '2.00'),
	('SELECT g, count(DISTINCT u), sum(x) FROM clinic GROUP BY g', '2.00'), ('SELECT g, count(DISTINCT u) FILTER (WHERE half = 0) FROM clinic GROUP BY g', '2.00'), ('SELECT g, count(*), sum(x) FROM clinic_rows GROUP BY g', '2.00'),
	('SELECT g, sum(x) FROM clinic_rows GROUP BY g', '2.00'), ('SELECT g, count(*) FROM (SELECT DISTINCT u, g FROM twice) s GROUP BY g', '1.00'), ('SELECT count(*) FROM clinic', '1.00'), ('SELECT DISTINCT g FROM clinic', '0.00'), ('SELECT x, count(*) FROM clinic GROUP BY x', '2.00')) v (q, c);
SELECT is((SELECT string_agg(regexp_replace(trim(l), 'stddev=[^ ]+', 'stddev=.'), E'\n') FROM explained('SELECT g, sum(x) FROM clinic GROUP BY g') l WHERE l ~ 'count of units|Min Units'),
	E'Release: limit of count of units  (stddev=. of each count, rho=12)  found first\nRelease: count of units  (stddev known when it runs, rho=788)  a unit counts up to a norm that is found first  tells which groups have answers\nMin Units: 9', 'EXPLAIN shows the count');
SELECT is((SELECT string_agg(trim(l), ' ') FROM explained('SELECT g, count(DISTINCT u) FROM clinic GROUP BY g') l WHERE l ~ 'tells|Min Units') ~ '^Release: count\(DISTINCT u\).* tells which groups have answers Min Units: 9$', true, '... and which is taken for it');
SELECT is((SELECT count(*) FROM explained('SELECT count(*) FROM clinic') l WHERE l ~ 'count of units|Min Units'), 0::bigint, '... nothing where there are no groups');
SET SESSION AUTHORIZATION analyst1;
SELECT is((SELECT string_agg(name || ': ' || limits, '; ') FROM dp_cdp.preview('SELECT g, sum(x) FROM clinic GROUP BY g') WHERE limits ~ 'NULL'),
	'count of units: a unit counts up to a norm that is found first; where it is below 9, all answers of the group are NULL', 'previews tell');
SET SESSION AUTHORIZATION owner1;
SELECT lives_ok('SELECT dp_cdp.suggest_limits(''twice'', 100)', 'suggested limits are of the counts alone');

-- what has been planned and has not run
SET SESSION AUTHORIZATION analyst1;
PREPARE sums AS SELECT g FROM (SELECT g, sum(x) AS n FROM clinic GROUP BY g) s WHERE n IS NOT NULL;
EXECUTE sums \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT hold_to(15);
SET SESSION AUTHORIZATION analyst1;
SELECT results_eq('EXECUTE sums', 'VALUES (8), (9)', 'a prepared statement follows min_units');
RESET SESSION AUTHORIZATION;
SELECT hold_to(1);
SET SESSION AUTHORIZATION analyst1;
SELECT results_eq('EXECUTE sums', 'SELECT generate_series(1, 10)', '... to none');
RESET SESSION AUTHORIZATION;

-- kept answers: numbers are kept before they are NULL, and a change of min_units costs nothing where people are counted
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('town', reuse => '1 day', min_units => 1) \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT is(answers('SELECT g, count(DISTINCT u) FROM clinic GROUP BY g'), '1:2 2:4 3:6 4:8 5:10 6:12 7:14 8:16 9:18 10:0', 'a kept answer');
SELECT hold_to(9);
SELECT is(columns_of('SELECT g, count(DISTINCT u) FROM clinic GROUP BY g') || ' ' || answers('SELECT g, count(DISTINCT u) FROM clinic GROUP BY g'),
	'0.00 1:- 2:- 3:- 4:- 5:10 6:12 7:14 8:16 9:18 10:-', '... has fewer groups with answers');
SELECT is(columns_of('SELECT g, count(DISTINCT u), sum(x) FROM clinic GROUP BY g'), '1.00', '... and a sum beside it is one answer more');
SELECT is(columns_of('SELECT g, sum(x) FROM clinic GROUP BY g'), '0.00', '... which is there without the count, too');
SELECT is(columns_of('SELECT g, sum(x) FROM clinic WHERE g IN (3, 9) GROUP BY g') || ' ' || (answers('SELECT g, sum(x) FROM clinic WHERE g IN (3, 9) GROUP BY g') ~ '^3:- 9:[0-9]+$'), '0.00 true', '... for some of its groups');
SELECT hold_to(1);
SELECT is(columns_of('SELECT g, count(DISTINCT u), sum(x) FROM clinic GROUP BY g') || ' ' || answers('SELECT g, count(DISTINCT u) FROM clinic GROUP BY g'),
	'0.00 1:2 2:4 3:6 4:8 5:10 6:12 7:14 8:16 9:18 10:0', 'without min_units all of them are there');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('town', reuse => '0') \g /dev/null
RESET SESSION AUTHORIZATION;

-- counts that add up
SELECT hold_to(9);
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.consistent = on;
CREATE TEMP TABLE agreed AS SELECT g, sex, count(*) AS n, dp_noise_stddev(count(*)) AS sigma FROM clinic_rows WHERE g IN (2, 8, 9) GROUP BY CUBE (g, sex);
RESET dp_cdp.consistent;
SELECT is((SELECT string_agg(coalesce(g::text, 'all') || coalesce(sex, '') || ':' || coalesce(n::text, '-') || CASE WHEN (sigma IS NULL) <> (n IS NULL) THEN '?' ELSE '' END, ' ' ORDER BY g, sex) FROM agreed),
	'2f:- 2m:- 2:- 8f:- 8m:- 8:16 9f:9 9m:9 9:18 allf:19 allm:19 all:38', 'sets that agree, and groups of few have no answers');
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- The option
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT throws_ok(format('SELECT dp_cdp.%s_dataset(%L, min_units => %s)', f, CASE f WHEN 'alter' THEN 'town' ELSE 'new' END, v), 'ZC004',
	'min_units must be between 1 and 1000000, such as 10; 1 is no limit', f || ' refuses ' || v) FROM unnest('{create,alter}'::text[]) f, unnest('{0,-1,1000001}'::int[]) v;
SELECT throws_ok($$SELECT dp_cdp.alter_dataset('town', min_units => 5, reset => ARRAY['min_units'])$$, 'ZC004', NULL, 'a value and a reset');
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'town'), 9, 'nothing has changed');
SELECT dp_cdp.create_dataset('new', min_units => 1000000), dp_cdp.create_dataset('null', min_units => NULL), dp_cdp.create_dataset('plain') \g /dev/null
SELECT is((SELECT string_agg(min_units::text, ' ' ORDER BY dataset) FROM dp_cdp.datasets WHERE dataset IN ('new', 'null', 'plain')), '1000000 1 1', 'it is 1 unless it is given');
SELECT dp_cdp.alter_dataset('new', min_units => NULL) \g /dev/null
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'new'), 1000000, 'NULL changes nothing');
SELECT dp_cdp.alter_dataset('new', reset => ARRAY['min_units']) \g /dev/null
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'new'), 1, 'a reset');
SET SESSION AUTHORIZATION analyst1;
SELECT throws_ok($$SELECT dp_cdp.alter_dataset('town', min_units => 1)$$, '42501', NULL, 'it is the owner''s');
RESET SESSION AUTHORIZATION;

SELECT * FROM finish();
