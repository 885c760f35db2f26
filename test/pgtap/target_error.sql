-- dp_cdp.target_error: what a wanted accuracy costs, and that nothing is
-- released for less; errors of expressions of aggregates; dp_cdp.preview and
-- dp_cdp.last_release.
--
-- Where a price follows from noisy values, it is compared with the limits that
-- it has when these are within seven standard deviations.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
CREATE TABLE depts (dept text PRIMARY KEY, floor int);
INSERT INTO depts VALUES ('a', 1), ('b', 2), ('c', 3);
GRANT SELECT ON depts TO analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, dept text, cost numeric, hundred int NOT NULL, seen date);
INSERT INTO visits SELECT i, substr('abc', 1 + i % 3, 1), i % 1000, i % 100, date '2025-01-01' + i % 360
	FROM generate_series(1, 9999) i;
INSERT INTO visits VALUES (10000, 'a', 500, 0, '2025-06-01');
CREATE TABLE people AS SELECT id, id % 500 AS patient, dept, cost FROM visits;
ALTER TABLE people ALTER dept SET NOT NULL;
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.01, min_rho => 1e-12, delta => 0.5, default_delta => 1e-6, max_groups => 3, max_rows => 40);
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true);
SELECT dp_cdp.protect_table('people', 'clinic', 'patient');
SELECT dp_cdp.set_bounds(t, 'cost', 0, 1000) FROM unnest('{visits,people}'::regclass[]) t;
SELECT dp_cdp.set_keys('visits', 'hundred', (SELECT array_agg(i) FROM generate_series(0, 99) i));
SELECT dp_cdp.set_keys('people', 'dept', ARRAY['a', 'b', 'c', 'd']);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000);
RESET SESSION AUTHORIZATION;
CREATE FUNCTION fussy(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN RAISE EXCEPTION 'secret 77'; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('fussy(int)');

-- runs statements as a role and tells what was granted and charged: "aggregates rho [delta]", and how it failed
CREATE FUNCTION charged(statement text, target text DEFAULT '', who name DEFAULT 'analyst1',
		OUT aggregates text[], OUT rho numeric[], OUT delta numeric[], OUT failure text)
	LANGUAGE plpgsql AS $$
DECLARE
	last bigint := (SELECT coalesce(max(id), 0) FROM dp_cdp.releases);
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', who);
	BEGIN
		PERFORM set_config('dp_cdp.target_error', target, false);
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		failure := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	PERFORM set_config('dp_cdp.target_error', '', false);
	SELECT array_agg(r.aggregates ORDER BY id), array_agg(r.rho ORDER BY id), array_agg(r.delta ORDER BY id)
		INTO aggregates, rho, delta FROM dp_cdp.releases r WHERE id > last AND granted;
END $$;

-- the rho of a total for half a 95 % interval
CREATE FUNCTION price(sens2 float8, half float8) RETURNS float8 LANGUAGE sql AS
	$$ SELECT sens2 * 1.959963984540054 ^ 2 / (2 * half ^ 2) $$;

CREATE FUNCTION about(x anyelement, y float8, tolerance float8 DEFAULT 1e-9) RETURNS boolean LANGUAGE sql AS
	$$ SELECT abs(x / y - 1) <= tolerance $$;
CREATE FUNCTION is_about(got numeric, wanted float8, description text, tolerance float8 DEFAULT 1e-9) RETURNS text LANGUAGE sql AS
	$$ SELECT is(CASE WHEN about(got, wanted, tolerance) THEN wanted ELSE got END, wanted, description) $$;
CREATE FUNCTION is_between(got float8, low float8, high float8, description text) RETURNS text LANGUAGE sql AS
	$$ SELECT is(got, least(greatest(got, low), high), description) $$;

CREATE FUNCTION charges(statement text, target text, wanted text[], rho numeric[], description text) RETURNS text LANGUAGE sql AS
	$$ SELECT is((SELECT (c.aggregates, c.rho, c.failure)::text FROM charged(statement, target) c),
				 (wanted, rho, NULL::text)::text, description) $$;

CREATE FUNCTION fails(statement text, target text, message text, wanted text[], rho numeric[], description text,
		who name DEFAULT 'analyst1') RETURNS text LANGUAGE sql AS
	$$ SELECT is((SELECT CASE WHEN c.failure LIKE message THEN 'right' ELSE coalesce(c.failure, 'none') END || (c.aggregates, c.rho)::text
				  FROM charged(statement, target, who) c), 'right' || (wanted, rho)::text, description) $$;

-- what a query returns as the analyst
CREATE FUNCTION asked(query text, target text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	PERFORM set_config('dp_cdp.target_error', target, false);
	RETURN QUERY EXECUTE format('SELECT q::text FROM (%s) q', query);
	EXECUTE 'RESET SESSION AUTHORIZATION';
	PERFORM set_config('dp_cdp.target_error', '', false);
END $$;

SELECT no_plan();

-- --------------------------------------------------------------------------
-- Absolute targets of totals: no look
-- --------------------------------------------------------------------------

SELECT unnest(ARRAY[
	is(c.aggregates, '{dp_count(*)}', 'a count: one release'),
	is_about(c.rho[1], price(1, 25), 'a count: its price'),
	is_about(c.rho[1], dp_cdp.rho_for_margin(25, 0.95), 'a count: about what the calculator says', 0.05)])
	FROM charged('SELECT dp_count(*) FROM visits', '25') c;
SELECT is(asked('SELECT round(dp_margin(dp_count(*))::numeric, 6) FROM visits', '25'), '(25.000000)', 'a count: its margin');
SELECT unnest(ARRAY[
	is_about(c.rho[1], price(1e6, 5000), 'a sum: its price'),
	is_about(c.rho[1], dp_cdp.rho_for_margin(5000, 0.95, 0, 1000, step => 0), 'a sum: the calculator''s price', 1e-6)])
	FROM charged('SELECT dp_sum(cost) FROM visits', '5000') c;
SELECT is(asked('SELECT round(dp_margin(dp_sum(cost))::numeric, 3) FROM visits', '5000'), '(5000.000)', 'a sum: its margin');
SELECT unnest(ARRAY[
	is_about(c.rho[1], price(1, 30), 'a histogram: its price'),
	is(array_length(c.rho, 1), 1, 'a histogram: no look')])
	FROM charged('SELECT dp_histogram(cost, 10) FROM visits', '30') c;
SELECT unnest(ARRAY[
	is_about(c.rho[1], price(3 * 40 ^ 2, 1000), 'a count of people''s visits by dept: its price'),
	is_about(c.rho[1], dp_cdp.rho_for_margin(1000, 0.95, 0, 40, 3, grouped => true, step => 0), '... the calculator''s price', 1e-6)])
	FROM charged('SELECT dept, dp_count(*) FROM people GROUP BY dept', '1000') c;
SELECT is_about(c.rho[1], price(1, 500) + price(1e6, 500), 'two aggregates: each has its price')
	FROM charged('SET LOCAL dp_cdp.rho = 100; SELECT dp_count(*), dp_sum(cost) FROM visits', '500') c;
SELECT is_about(c.rho[1], price(1, 40) + 0.01, 'a selection of keys that is not shown has no target')
	FROM charged('SELECT dept, dp_count(*) FILTER (WHERE id > 0) FROM visits GROUP BY dept', '40') c;
SELECT is_about(c.rho[1], price(1, 40), 'a selection of keys that is shown has one')
	FROM charged('SELECT dept, dp_count(*) FROM visits GROUP BY dept', '40') c;
SELECT charges('SELECT dp_bounds(cost) FROM visits', '40', '{dp_bounds(cost)}', '{0.01}', 'bounds have no target');
SELECT charges('SELECT dp_bounds(cost) FROM visits', '4%', '{dp_bounds(cost)}', '{0.01}', '... nor a relative one');
SELECT charges('SELECT dp_count(*) FROM visits', '1e100', '{dp_count(*)}', '{0.000000000001}', 'the smallest price');
SELECT fails('SELECT dp_count(*) FROM visits', '0.1',
	'ZC004 a margin of 0.1 for dp_count(*) needs more than rho 1, an aggregate''s greatest price; SET dp_cdp.target_error to at least 1.39%', NULL, NULL, 'more than 100 times the usual price');
SELECT fails('EXPLAIN SELECT dp_count(*) FROM visits', '0.1', 'ZC004 a margin of 0.1%', NULL, NULL, '... EXPLAIN says so, too');
SELECT is_about(c.rho[1], price(1, 1.39), 'what the message proposes is possible') FROM charged('SELECT dp_count(*) FROM visits', '1.39') c;

-- --------------------------------------------------------------------------
-- After a look
-- --------------------------------------------------------------------------

-- the look's sigma is 22.4, so its count is 10000 +- 160
SELECT unnest(ARRAY[
	is(c.aggregates, '{pilot: dp_count(*),dp_count(*)}', 'a relative target of a count: a look, then the release'),
	is(c.rho[1], 0.001, 'the look costs a tenth of the usual price'),
	is_between(c.rho[2], price(1, 101.6), price(1, 98.4), 'the price follows')])
	FROM charged('SELECT dp_count(*) FROM visits', '1%') c;
SELECT is(count(*)::int, 1, 'the margin is a hundredth')
	FROM asked('SELECT dp_count(*) AS n, dp_margin(dp_count(*)) AS m FROM visits', '1 %') q,
		 LATERAL (SELECT trim(q, '()')) t(row), LATERAL (SELECT split_part(row, ',', 2)::float8) m(m) WHERE m BETWEEN 98.4 AND 101.6;
SELECT is_between(c.rho[2], price(1, 254), price(1, 246), 'the target is that of when it runs, rho of when it is asked')
	FROM charged('SELECT set_config(''dp_cdp.target_error'', ''2.5%'', true); SELECT dp_count(*) FROM visits', '1%') c;
SELECT is(c.rho[1], 0.002, 'a look at twice the usual price')
	FROM charged('SET LOCAL dp_cdp.rho = 0.02; SELECT dp_count(*) FROM visits', '1%') c;
SELECT charges('SELECT dp_count(*) FROM visits', '0.00001%', '{pilot: dp_count(*),dp_count(*)}', '{0.001,1}',
	'no more than 100 times the usual price');
SELECT charges('SELECT dp_count(*) FROM visits', '1e20%', '{pilot: dp_count(*),dp_count(*)}', '{0.001,0.00001}',
	'a hundredth of the look at least');
SELECT charges('SELECT dp_avg(cost), dp_median(cost) FROM visits', '1e20', '{"pilot: dp_avg(cost), dp_median(cost)","dp_avg(cost), dp_median(cost)"}',
	'{0.002,0.002}', 'what is estimated costs as much as the look at least');
SELECT charges('SELECT dp_avg(cost) FROM visits', '1e-20', '{pilot: dp_avg(cost),dp_avg(cost)}', '{0.001,1}', 'an average: at most');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', max_rho => 0.5);
RESET SESSION AUTHORIZATION;
SELECT charges('SELECT dp_count(*) FROM visits', '0.00001%', '{pilot: dp_count(*),dp_count(*)}', '{0.001,0.5}', 'no more than max_rho');
SELECT fails('SELECT dp_count(*) FROM visits', '1', 'ZC004 % needs more than rho 0.5, % at least 1.97%', NULL, NULL, 'max_rho and an absolute target');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', max_rho => 1000);
RESET SESSION AUTHORIZATION;

-- an average of 10000 rows in 0..1000, in the middle: sigma is 0.61 * 1000 / 10000 / sqrt(2 rho), so 2 needs rho 0.0018
SELECT unnest(ARRAY[
	is(c.aggregates, '{pilot: dp_avg(cost),dp_avg(cost)}', 'an average needs a look for an absolute target'),
	is(c.rho[1], 0.001, '... at a tenth'),
	is_between(c.rho[2], 0.0016, 0.0029, '... and costs what it must')])
	FROM charged('SELECT dp_avg(cost) FROM visits', '2') c;
SELECT is_between(q.m::float8, 1.8, 2.2, 'the average has the margin')
	FROM asked('SELECT dp_margin(dp_avg(cost)) FROM visits', '2') t(row), LATERAL (SELECT trim(row, '()')) q(m);
SELECT ok(c.rho[1] = 0.002 AND c.rho[2] > 0.001 + price(1, 20), 'what has a price already is looked at for a tenth of the usual one')
	FROM charged('SELECT dp_count(*), dp_avg(cost) FROM visits', '20') c;
SELECT ok(c.rho[1] = 0.001 AND c.rho[2] BETWEEN 0.001 AND 1 AND array_length(c.rho, 1) = 2, 'quantiles in an array')
	FROM charged('SELECT dp_quantile(cost, ARRAY[0.1, 0.5]) FROM visits', '3%') c;
SELECT ok(c.rho[1] = 0.001 AND c.rho[2] BETWEEN 0.001 AND 1 AND array_length(c.rho, 1) = 2, 'a median of dates, in days')
	FROM charged('SELECT dp_median(seen, ''2025-01-01'', ''2026-01-01'') FROM visits', '3') c;
SELECT charges('SELECT dp_median(seen, ''2025-01-01'', ''2026-01-01'') FROM visits', '3%', '{"dp_median(seen, ''2025-01-01''::date, ''2026-01-01''::date)"}', '{0.01}', 'a share of a date is no target');
-- in a look the values of nothing are within 160 of 0, where 5 % needs 0.024 or more
SELECT is_between(c.rho[2], 0.024, 1, 'nothing but noise')
	FROM charged('SELECT dp_count(*) FILTER (WHERE id < 0) FROM visits', '5%') c;
SELECT is(array_length(c.rho, 1), 2, 'an average of nothing')
	FROM charged('SELECT dp_avg(cost) FILTER (WHERE id < 0) FROM visits', '5%') c;
SELECT is(array_length(c.rho, 1), 2, 'a histogram''s greatest bin')
	FROM charged('SELECT dp_histogram(cost, 10) FROM visits', '5%') c;

-- groups
-- the median of 100 counts of 100 +- 22.4 is 100 +- 20
SELECT ok(c.rho[1] = 0.001 AND c.rho[2] BETWEEN price(1, 60) AND price(1, 40), 'the group in the middle decides')
	FROM charged('SELECT hundred, dp_count(*) FROM visits GROUP BY hundred', '50%') c;
SELECT is((c.aggregates, c.rho, c.delta)::text, (ARRAY['pilot: dp_count(*), dp_sum(cost)', 'dp_count(*), dp_sum(cost)'],
	'{0.011,0.02}'::numeric[], '{0.0000000000001,0.0000000000001}'::numeric[])::text, 'no group passes: the usual price; delta of both selections')
	FROM charged('SET LOCAL dp_cdp.delta = 1e-13; SELECT id + 0, dp_count(*), dp_sum(cost) FROM visits WHERE id < 100 GROUP BY id + 0', '5%') c;
SELECT is(c.rho, '{0.01,0.01}', 'a shown selection never costs less than usual, so that groups are seen as usual')
	FROM charged('SELECT dept, dp_count(*) FROM visits GROUP BY dept', '50%') c;
SELECT ok(c.rho[1] = 0.011 AND c.rho[2] > 0.01 AND c.rho[2] < 0.02 AND c.aggregates[1] = 'pilot: dp_sum(cost), key selection', 'a hidden selection has the usual price')
	FROM charged('SELECT dept, dp_sum(cost) FROM visits GROUP BY dept', '2%') c;
SELECT is(count(*)::int, 3, 'and the groups are there') FROM asked('SELECT dept, dp_sum(cost) FROM visits GROUP BY dept', '2%');

-- shapes of statements
SELECT is(c.aggregates, '{pilot: dp_count(*),pilot: dp_sum(cost),dp_count(*),dp_sum(cost)}', 'two releases: all looks come first')
	FROM charged('SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_sum(cost) FROM people)', '5%') c;
SELECT is(c.aggregates, '{pilot: dp_avg(cost),dp_count(*),dp_avg(cost)}', 'only one of two needs a look')
	FROM charged('SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_avg(cost) FROM visits)', '50') c;
SELECT is(array_length(c.aggregates, 1), 4, 'grouping sets: a look for each')
	FROM charged('SELECT dept, dp_count(*) FROM people GROUP BY ROLLUP (dept)', '5%') c;
SELECT unnest(ARRAY[
	is(c.aggregates, '{pilot: dp_count(*),dp_count(*)}', 'a join with VALUES'),
	is(c.rho[1], 0.001, '... its look')])
	FROM charged('SELECT v.k, dp_count(*) FROM people JOIN (VALUES (''a'', 1), (''b'', 2), (''b'', 3)) v(dept, k) USING (dept) GROUP BY v.k', '5%') c;
SELECT unnest(ARRAY[
	is(array_agg(split_part(trim(q, '()'), ',', 1)), '{1,2,3}', 'a join with VALUES: both runs find the rows'),
	ok(bool_and(split_part(trim(q, '()'), ',', 2)::int > 1000), '... the second, too')])
	FROM asked('SELECT v.k, dp_count(*) FROM people JOIN (VALUES (''a'', 1), (''b'', 2), (''b'', 3)) v(dept, k) USING (dept) GROUP BY v.k ORDER BY 1', '5%') q;
SELECT is(c.aggregates, '{pilot: dp_count(*),dp_count(*)}', 'a join with a table')
	FROM charged('SELECT d.floor, dp_count(*) FROM people JOIN depts d USING (dept) GROUP BY d.floor', '5%') c;
SELECT is(c.aggregates, '{pilot: dp_count(*),dp_count(*),pilot: dp_sum(p.cost),dp_sum(p.cost)}', 'what is given is released before, with its own look')
	FROM charged('SELECT dp_sum(p.cost) FROM people p JOIN (SELECT dept FROM people GROUP BY dept HAVING dp_count(*) > 1000) r ON r.dept = p.dept', '5%') c;
SELECT is(array_length(c.aggregates, 1), 2, 'a subquery in a nested loop')
	FROM charged('SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off;
		SELECT sum(r.n) FROM generate_series(1, 50) g LEFT JOIN (SELECT dept, dp_count(*) AS n FROM people GROUP BY dept) r ON g > 0', '5%') c;
SELECT is(array_length(c.aggregates, 1), 12, 'six executions of a prepared statement')
	FROM charged('PREPARE p AS SELECT dp_count(*) FROM visits; EXECUTE p; EXECUTE p; EXECUTE p; EXECUTE p; EXECUTE p; EXECUTE p; DEALLOCATE p', '5%') c;
SELECT is(array_length(c.aggregates, 1), 2, 'bounds as parameters, generic plan')
	FROM charged('SET LOCAL plan_cache_mode = force_generic_plan; PREPARE p(int) AS SELECT dp_avg(cost, 0, $1) FROM visits; EXECUTE p(500); DEALLOCATE p', '5%') c;
SELECT unnest(ARRAY[
	is(c.failure, NULL, 'LIMIT 0 ...'),
	is(c.aggregates, NULL, '... costs nothing')])
	FROM charged('SELECT dp_count(*) FROM visits LIMIT 0', '5%') c;

CREATE TABLE mark AS SELECT max(id) AS id FROM dp_cdp.releases;
CREATE FUNCTION since() RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	result text[] := (SELECT array_agg(aggregates ORDER BY id) FROM dp_cdp.releases WHERE granted AND id > (SELECT id FROM mark));
BEGIN
	UPDATE mark SET id = (SELECT max(id) FROM dp_cdp.releases);
	RETURN result;
END $$;

SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.target_error = '5%';
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT dept, dp_count(*) FROM people GROUP BY dept;
MOVE 0 IN c;
RESET SESSION AUTHORIZATION;
SELECT is(since(), NULL, 'a cursor that is open');
SET SESSION AUTHORIZATION analyst1;
FETCH c \gset first_
FETCH ALL c \g /dev/null
FETCH FIRST c \gset again_
RESET SESSION AUTHORIZATION;
SELECT unnest(ARRAY[
	is(since(), '{pilot: dp_count(*),dp_count(*)}', 'a cursor that was read and rewound'),
	is(:again_dp_count, :first_dp_count, 'a cursor repeats its answer')]);
SET SESSION AUTHORIZATION analyst1;
ROLLBACK;
BEGIN READ ONLY; SELECT dp_count(*) FROM visits \g /dev/null
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT is(since(), '{pilot: dp_count(*),dp_count(*),pilot: dp_count(*),dp_count(*)}', 'a read-only transaction; ROLLBACK did not undo what was paid before');
SET SESSION AUTHORIZATION analyst1;
BEGIN; SELECT dp_count(*) FROM visits \g /dev/null
ROLLBACK;
BEGIN; SAVEPOINT s; SELECT dp_count(*) FROM visits \g /dev/null
ROLLBACK TO s; COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE; SELECT dp_avg(cost) FROM visits \g /dev/null
COMMIT;
SET dp_cdp.target_error = '20';
EXPLAIN SELECT dp_count(*), dp_avg(cost) FROM visits \g /dev/null
SELECT rho, stddev FROM dp_cdp.preview('SELECT dp_count(*) FROM visits') WHERE item = 'aggregate' \gset preview_
SET dp_cdp.target_error = '5%';
SELECT rho FROM dp_cdp.preview('SELECT dp_count(*), dp_avg(cost) FROM visits') WHERE item = 'total' \gset usual_
EXPLAIN SELECT dp_count(*), dp_avg(cost) FROM visits \g /dev/null
RESET dp_cdp.target_error;
RESET SESSION AUTHORIZATION;
SELECT unnest(ARRAY[
	is(since(), '{pilot: dp_count(*),dp_count(*),pilot: dp_count(*),dp_count(*),pilot: dp_avg(cost),dp_avg(cost)}',
	'rollbacks refund neither the look nor the release; EXPLAIN and preview are free'),
	ok(about(:preview_rho, price(1, 20)) AND about(:preview_stddev, 20 / 1.959963984540054), 'preview: the price of an absolute target'),
	is(:usual_rho, 0.02, 'preview: usual prices where a look settles them')]);

-- --------------------------------------------------------------------------
-- Budgets and errors on the way
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('clinic', 'analyst2', rho => 0.0005);
RESET SESSION AUTHORIZATION;
SELECT fails('SELECT dp_count(*) FROM visits', '1%', 'ZC001 %asked rho 0.001, remaining 0.0005%', NULL, NULL, 'a budget too small for a look', 'analyst2');
SELECT is(rho_spent, 0::numeric, '... nothing is charged') FROM dp_cdp.budgets WHERE role = 'analyst2'::regrole;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('clinic', 'analyst2', rho => 0.005);
RESET SESSION AUTHORIZATION;
SELECT fails('SELECT dp_count(*) FROM visits', '0.1%', 'ZC001 %remaining 0.004 %', '{pilot: dp_count(*)}', '{0.001}', 'a budget too small for the release', 'analyst2');
SELECT is(rho_spent, 0.001, '... the look is charged') FROM dp_cdp.budgets WHERE role = 'analyst2'::regrole;
SELECT fails('SELECT dp_count(*) FROM visits WHERE fussy(id) > 0', '5%', '%', '{pilot: dp_count(*)}', '{0.001}',
	'an error while rows are looked at: the look is charged');
SELECT ok(c.failure NOT LIKE '%77%', '... and the error says nothing') FROM charged('SELECT dp_count(*) FROM visits WHERE fussy(id) > 0', '5%') c;
SELECT fails('SELECT dp_sum(cost, 5, 5) FROM visits', '5%', 'ZC004 %', NULL, NULL, 'wrong bounds: nothing is charged');
SELECT fails('SELECT d.x, dp_count(*) FROM people JOIN (SELECT dept, 1 / (floor - 1) AS x FROM depts) d USING (dept) GROUP BY d.x', '5%', '22012 %', NULL, NULL,
	'an error of given rows: nothing is charged');
SELECT fails('SELECT (SELECT dp_avg(cost) FROM visits), (SELECT max(n) FROM (SELECT d.x, dp_count(*) AS n FROM people JOIN (SELECT dept, 1 / (floor - 1) AS x FROM depts) d USING (dept) GROUP BY d.x) q)', '5%', '22012 %', NULL, NULL,
	'... also where another release would have been looked at before');
SELECT fails('SET LOCAL dp_cdp.rho = 1e-12; SELECT dp_avg(cost) FROM visits', '5%', 'ZC004 rho is too small %', NULL, NULL, 'a look too cheap for its noise: nothing is charged');

-- --------------------------------------------------------------------------
-- The floor under prices
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', min_rho => 0.002);
RESET SESSION AUTHORIZATION;
SELECT fails('SET LOCAL dp_cdp.rho = 0.0019; SELECT dp_count(*) FROM visits', '',
	'ZC004 % dataset "clinic", which is 0.002; SET dp_cdp.rho = 0.002 or more%', NULL, NULL, 'a price below the floor: nothing is charged');
SELECT fails('SET LOCAL dp_cdp.rho = 0.0019; EXPLAIN SELECT dp_count(*) FROM visits', '', 'ZC004 % which is 0.002; %', NULL, NULL, '... in EXPLAIN');
SELECT fails('SET LOCAL dp_cdp.rho = 0.0019; SELECT * FROM dp_cdp.preview(''SELECT dp_count(*) FROM visits'')', '', 'ZC004 % which is 0.002; %',
	NULL, NULL, '... in a preview');
SELECT fails('SET LOCAL dp_cdp.rho = 0.0019; SELECT dp_count(*) FROM visits', '5%', 'ZC004 % which is 0.002; %', NULL, NULL, '... where a look would follow');
SELECT charges('SET LOCAL dp_cdp.rho = 0.002; SELECT dp_count(*), dp_avg(cost) FROM visits', '', '{"dp_count(*), dp_avg(cost)"}', '{0.004}',
	'the floor itself may be asked; parts of a column share it');
SELECT charges('SELECT dp_count(*) FROM visits', '1e9', '{dp_count(*)}', '{0.002}', 'a price that follows from a target is raised to the floor');
SELECT charges('SELECT dp_count(*) FROM visits', '1e20%', '{pilot: dp_count(*),dp_count(*)}', '{0.002,0.002}', '... so are a look and what follows');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', min_rho => 1e-12);
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- The setting
-- --------------------------------------------------------------------------

SELECT throws_ok(format('SET dp_cdp.target_error = %L', bad), 'ZC004', NULL, format('not a target: "%s"', bad))
	FROM unnest('{x,-5,-5%,0,0%,inf,nan,5%%,5 % x,5x,%,1e400,1e301,1e-301,"1,5"," "}'::text[]) bad;
SELECT lives_ok(format('SET dp_cdp.target_error = %L', good), format('a target: "%s"', good))
	FROM unnest('{5,5%,"5 %"," 5 % ",0.5%,1e3,.5,""}'::text[]) good;
SET dp_cdp.target_error = 7;
SELECT throws_ok('SET dp_cdp.target_error = ''x''', 'ZC004', NULL, 'a bad value ...');
SELECT is(current_setting('dp_cdp.target_error'), '7', '... leaves the old one');
BEGIN; SET LOCAL dp_cdp.target_error = '3%'; COMMIT;
SELECT is(current_setting('dp_cdp.target_error'), '7', 'SET LOCAL ends with the transaction');
RESET dp_cdp.target_error;
SELECT is(current_setting('dp_cdp.target_error'), '', 'RESET');
SELECT charges('SET LOCAL dp_cdp.target_error = ''20%''; RESET dp_cdp.target_error; SELECT dp_count(*) FROM visits', '5%', '{dp_count(*)}', '{0.01}',
	'after RESET the usual price');
SELECT charges('SELECT dp_count(*) FROM visits', '', '{dp_count(*)}', '{0.01}', 'no target');
SELECT throws_ok('ALTER ROLE analyst1 SET dp_cdp.target_error = ''much''', 'ZC004', NULL, 'ALTER ROLE SET, a bad value');
ALTER ROLE analyst1 SET dp_cdp.target_error = '25';
\setenv DATABASE :DBNAME
\set role_margin `psql -X -A -t -U analyst1 -d "$DATABASE" -c 'SELECT round(dp_margin(dp_count(*))::numeric, 6) FROM visits'`
ALTER ROLE analyst1 RESET dp_cdp.target_error;
SELECT is(:'role_margin'::text, '25.000000', 'ALTER ROLE SET');

-- --------------------------------------------------------------------------
-- Errors of expressions
-- --------------------------------------------------------------------------

CREATE FUNCTION holds(query text, description text, price numeric DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT rho_spent FROM dp_cdp.budgets WHERE role = 'analyst1'::regrole);
	result text;
	cost numeric;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE query INTO result;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	cost := (SELECT rho_spent FROM dp_cdp.budgets WHERE role = 'analyst1'::regrole) - before;
	RETURN is(coalesce(result, 'NULL') || coalesce(' ' || trim_scale(cost), ''), 'true' || coalesce(' ' || coalesce(price, trim_scale(cost)), ''), description);
END $$;

-- s and n and their errors, and f with its error by the delta method: d and e are its derivatives; where the noise
-- makes a divisor 0, f has no error
CREATE FUNCTION by_delta(f text, d text, e text) RETURNS text LANGUAGE sql AS $$
	SELECT holds(format('SELECT bool_and(about(m, 1.959963984540054 * sqrt((%s) ^ 2 * ss ^ 2 + (%s) ^ 2 * sn ^ 2))) AND count(*) = 4
		FROM (SELECT dept, nullif(dp_sum(cost)::float8, 0) AS s, nullif(dp_count(cost)::float8, 0) AS n, dp_noise_stddev(dp_sum(cost)) AS ss, dp_noise_stddev(dp_count(cost)) AS sn,
			dp_margin(%s) AS m FROM people GROUP BY dept) q', d, e, replace(replace(f, 's.', 'dp_sum(cost)'), 'n.', 'dp_count(cost)')), f, 0.02) $$;
SELECT by_delta('s. / n.', '1 / n', 's / n ^ 2');
SELECT by_delta('n. / s.', 'n / s ^ 2', '1 / s');
SELECT by_delta('s. - 7 * n.', '1', '7');
SELECT by_delta('- s. + n. / 4', '1', '0.25');
SELECT by_delta('s. * n.', 'n', 's');
SELECT by_delta('n. * n. + s.', '1', '2 * n');
SELECT by_delta('round(100.0 * s. / n., 2)', '100 / n', '100 * s / n ^ 2');
SELECT by_delta('trunc((s. / n.)::numeric)', '1 / n', 's / n ^ 2');
SELECT by_delta('s. / nullif(n., 0)', '1 / n', 's / n ^ 2');
SELECT by_delta('(s. + n.) / (s. - n.)', '2 * n / nullif(s - n, 0) ^ 2', '2 * s / nullif(s - n, 0) ^ 2');
SELECT by_delta('n. / n. * s.', '1', '0');
SELECT by_delta('s.::float8 * 2::int + n.::numeric(30,2)', '2', '1');
SELECT by_delta('s. + 5', '1', '0');

-- what a preview says that the margin will be, with the answers put in, is what it is
CREATE FUNCTION margin_of(expression text, OUT formula text, OUT foretold float8, OUT shown float8) LANGUAGE plpgsql AS $$
DECLARE s float8; n float8; ss float8; sn float8;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SELECT p.formula INTO formula FROM dp_cdp.preview(format('SELECT %s FROM visits', expression)) p WHERE item = 'expression';
	EXECUTE format('SELECT dp_sum(cost), dp_count(cost), dp_margin(%s) FROM visits', expression) INTO s, n, shown;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	EXECUTE 'SELECT ' || coalesce(replace(replace(replace(formula, 'dp_sum(cost)', '$1'), 'dp_count(cost)', '$2'), '--', ''), 'NULL') INTO foretold USING s, n;
END $$;
SELECT ok(f.formula ~ '^1\.96 \* sqrt\(' AND abs(f.foretold / f.shown - 1) < 0.001, format('%s: %s', e, f.formula))
	FROM unnest('{dp_sum(cost) / dp_count(cost),dp_sum(cost) * dp_count(cost),100.0 * dp_count(cost) / dp_sum(cost),1 / (2.0 * dp_count(cost)),
		-(dp_count(cost) - dp_sum(cost) * dp_count(cost)),(dp_sum(cost) + dp_count(cost)) / (dp_sum(cost) - 3 * dp_count(cost)),
		"round(dp_sum(cost) / nullif(dp_count(cost), 0), 2)",dp_sum(cost) / (dp_count(cost) - 9) / 7,(dp_sum(cost) - 5) * (dp_count(cost) + 7) / dp_sum(cost)}'::text[]) e, margin_of(e) f;
SELECT is(f.formula, NULL, 'a difference has no formula, but a margin') FROM margin_of('dp_sum(cost) - 2 * dp_count(cost)') f;

SELECT holds($$ SELECT about(m, sqrt((2 * s1) ^ 2 + s2 ^ 2)) FROM (SELECT dp_noise_stddev(2 * dp_median(cost) - dp_avg(cost)) AS m, dp_noise_stddev(dp_median(cost)) AS s1,
	dp_noise_stddev(dp_avg(cost)) AS s2 FROM visits) q $$, 'medians and averages', 0.02);
SELECT holds($$ SELECT about(m90, m / 1.959963984540054 * 1.6448536269514722) FROM (SELECT dp_margin(sum(cost) / count(*), 0.9) AS m90, dp_margin(sum(cost) / count(*)) AS m FROM visits) q $$,
	'standard aggregates, another confidence', 0.02);
SELECT holds('SELECT dp_margin(sum(cost) / (count(*) - count(*))) IS NULL FROM visits', 'division by 0 has no error', 0.02);
SELECT holds('SELECT dp_margin(sum(cost) / count(*) FILTER (WHERE id < 0)) IS DISTINCT FROM 0 FROM visits', 'division by noise: large, or NULL', 0.02);
SELECT holds('SELECT dp_margin(count(*) / count(*) FILTER (WHERE id < 0) * sum(cost)) IS DISTINCT FROM 0 FROM visits', '... also inside of a factor', 0.03);
SELECT holds('SELECT dp_margin(count(*) * 1e300::float8 * 1e300::float8) IS NULL FROM visits', 'overflow has no error', 0.01);
SELECT holds('SELECT count(*) = 4 FROM (SELECT dept FROM people GROUP BY dept HAVING dp_margin(sum(cost) - count(*)) > 0 ORDER BY dp_margin(sum(cost) - count(*))) q', 'in HAVING and ORDER BY', 0.02);
SELECT holds('SELECT count(*) = 5 AND count(m) = 5 AND min(m) < max(m) FROM (SELECT dept, dp_margin(sum(cost) - count(*)) AS m FROM people GROUP BY ROLLUP (dept)) q', 'with grouping sets', 0.04);
SELECT holds('WITH q AS (SELECT dept, dp_margin(sum(cost) - count(*)) AS m FROM people GROUP BY dept) SELECT count(*) = 3 FROM q JOIN depts USING (dept) WHERE m > 0', 'in a CTE', 0.02);
SELECT holds('SELECT about(m, sqrt((s1 / n) ^ 2 + (s * s2 / n ^ 2) ^ 2)) FROM (SELECT dp_sum(v.cost)::float8 AS s, dp_noise_stddev(dp_sum(v.cost)) AS s1, dp_count(v.id)::float8 AS n,
	dp_noise_stddev(dp_count(v.id)) AS s2, (SELECT dp_noise_stddev(dp_sum(v.cost) / dp_count(v.id))) AS m FROM visits v) q', 'in a subquery, of aggregates outside of it', 0.02);
SELECT holds('SELECT CASE WHEN dp_margin(sum(cost) - count(*)) > 0 THEN true END FROM visits', 'in an expression', 0.02);
SELECT holds('SELECT about(dp_margin(sum(cost) / floor), 1.959963984540054 * dp_noise_stddev(sum(cost)) / floor) FROM people JOIN depts USING (dept) GROUP BY floor ORDER BY floor LIMIT 1', 'a key as a factor', 0.01);

-- refused, with a position, and free
CREATE FUNCTION refused(query text, at text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c record := charged(query);
BEGIN
	RETURN is(left(c.failure, 5) || coalesce(c.aggregates::text, ' free'), 'ZC002 free', query);
END $$;
SELECT refused(format('SELECT dp_margin(%s) FROM visits', f), f) FROM unnest(ARRAY['sqrt(count(*))', 'coalesce(sum(cost), 0)', 'count(*) % 3', 'abs(sum(cost))', 'count(*) ^ 2',
	'greatest(count(*), 0)', 'count(*)::text', 'round(sum(cost), count(*)::int)', 'CASE WHEN count(*) > 0 THEN sum(cost) END', '(dp_histogram(cost, 10))[1]',
	'count(*) * (SELECT count(*) FROM visits)', 'count(*) > 5', 'dp_median(seen, ''2025-01-01'', ''2026-01-01'') - date ''2025-01-01''', '3', 'cost']) f;
SELECT refused('SELECT dp_margin(2 * n) FROM (SELECT count(*) AS n FROM visits) q', 'dp_margin');
SELECT fails('SELECT dp_margin(sum(cost) / count(*), 2) FROM visits', '', 'ZC004 %', NULL, NULL, 'a bad confidence');
-- --------------------------------------------------------------------------
-- Before and after
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
CREATE TABLE answers AS SELECT dept, dp_noise_stddev(dp_avg(cost)) AS stddev, dp_margin(dp_avg(cost)) AS margin FROM people GROUP BY dept;
CREATE TABLE told AS SELECT * FROM dp_cdp.last_release();
RESET SESSION AUTHORIZATION;
SELECT ok(count(*) = 4 AND bool_and(about(t.stddev, a.stddev) AND about(t.margin, a.margin)), 'last_release: what the companions say')
	FROM answers a JOIN told t ON t."group" = a.dept AND t.aggregate = 'dp_avg(cost)';
SET SESSION AUTHORIZATION analyst1;
SELECT dept, dp_avg(cost), dp_count(*) FROM people GROUP BY dept \g /dev/null
SELECT string_agg(format('%s/%s/%s', aggregate, "group", rho), ' ') AS lines FROM dp_cdp.last_release() \gset
RESET SESSION AUTHORIZATION;
SELECT is(:'lines'::text, 'dp_avg(cost)//0.01 dp_count(*)//0.01 dp_avg(cost)/a/ dp_avg(cost)/b/ dp_avg(cost)/c/ dp_avg(cost)/d/',
	'last_release: columns, then the groups of those whose errors differ');
SELECT is(count(*)::int, 0, 'last_release: of this role only') FROM dp_cdp.last_release();

-- a look is not reported, what follows is
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.target_error = '2';
SELECT dp_avg(cost) FROM visits \g /dev/null
RESET dp_cdp.target_error;
SELECT count(*) AS n, max(margin) AS margin FROM dp_cdp.last_release() \gset
SELECT rho = (SELECT max(rho) FROM dp_cdp.last_release()) AS same FROM dp_cdp.releases WHERE granted ORDER BY id DESC LIMIT 1 \gset
RESET SESSION AUTHORIZATION;
SELECT ok(:n = 2 AND :margin BETWEEN 1.8 AND 2.2 AND :'same'::boolean, 'last_release: not of the look');

-- a cursor whose second release runs when another has been reported
SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE c CURSOR FOR SELECT dp_avg(cost) FROM visits UNION ALL SELECT dp_avg(cost, 0, 500) FROM visits;
FETCH c \g /dev/null
SELECT dp_sum(cost) FROM visits \g /dev/null
FETCH c \g /dev/null
SELECT string_agg(aggregate, ' ') AS lines FROM dp_cdp.last_release() \gset
COMMIT;
CREATE FUNCTION as_definer() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN PERFORM dept, dp_avg(cost) FROM people GROUP BY dept; END $$;
RESET SESSION AUTHORIZATION;
SELECT is(:'lines'::text, 'dp_sum(cost)', 'last_release: releases of different statements do not mix');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('clinic', 'analyst2', rho => 1);
SET SESSION AUTHORIZATION analyst2;
SELECT as_definer();
SELECT count(*) AS lines FROM dp_cdp.last_release() \gset
RESET SESSION AUTHORIZATION;
SELECT is(:lines, 0, 'last_release: not of what a SECURITY DEFINER function released');

-- preview: totals are what is charged then, remaining budgets what remains
CREATE FUNCTION foretold(query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT rho_remaining FROM dp_cdp.budgets WHERE role = 'analyst1'::regrole);
	told record;
	paid record;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	EXECUTE settings;
	SELECT max(rho) FILTER (WHERE item = 'total') AS rho, max(delta) FILTER (WHERE item = 'total') AS delta,
		max(rho) FILTER (WHERE item = 'remains') AS remains, sum(rho) FILTER (WHERE item = 'aggregate') AS columns
		INTO told FROM dp_cdp.preview(query);
	EXECUTE 'RESET SESSION AUTHORIZATION';
	paid := charged(settings || ';' || query);
	RETURN is((told.rho, told.delta, told.columns, told.remains)::text,
		((SELECT trim_scale(sum(r)) FROM unnest(paid.rho) r), (SELECT trim_scale(sum(d)) FROM unnest(paid.delta) d),
		 (SELECT trim_scale(sum(r)) FROM unnest(paid.rho) r), trim_scale(before - told.rho))::text, 'preview: ' || query);
END $$;
SELECT foretold(q) FROM unnest(ARRAY[
	'SELECT dp_count(*) FROM visits',
	'SELECT dept, dp_count(*), dp_avg(cost), dp_median(cost) FROM people GROUP BY CUBE (dept)',
	'SELECT dept, dp_sum(cost) FROM visits GROUP BY dept',
	'SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_count(*) FROM people)',
	'WITH r AS (SELECT dept, dp_count(*) AS n FROM people GROUP BY dept) SELECT * FROM r a JOIN r b USING (dept)',
	'SELECT dp_sum(p.cost) FROM people p JOIN (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r ON r.dept = p.dept',
	'SELECT dp_margin(sum(cost) / count(*)) FROM visits']) q;
SELECT foretold('SELECT dp_count(*), dp_sum(cost, 0, 10) FROM visits', 'SET LOCAL dp_cdp.target_error = 100');

SELECT is((SELECT sum(rho) FROM dp_cdp.releases WHERE role = 'analyst1'::regrole AND granted),
	(SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole), 'the audit adds up to the balance');

SELECT * FROM finish();
