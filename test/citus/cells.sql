-- Histograms and quantiles, which the servers that have the rows count: they are those of the same rows in a
-- table of one server, and those that the coordinator counts of rows that it is given.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET citus.enable_ddl_propagation = off;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE here (patient int NOT NULL, visit int, dept text NOT NULL, ward int, cost numeric, age int);
INSERT INTO here SELECT i % 700, i, substr('abc', 1 + (i % 700) % 3, 1), nullif(i % 4, 3), CASE WHEN i % 7 > 0 THEN i % 120 END, i % 90 FROM generate_series(1, 3000) i;
-- a group of one, which is not shown
INSERT INTO here VALUES (999, 3001, 'rare', 77, 50, 1);
CREATE TABLE rows_here AS SELECT * FROM here;
ALTER TABLE rows_here ALTER dept SET NOT NULL;
CREATE TABLE people_here (id int PRIMARY KEY, sex text NOT NULL);
INSERT INTO people_here SELECT i, substr('fm', 1 + i % 2, 1) FROM generate_series(0, 699) i;
RESET SESSION AUTHORIZATION;
RESET citus.enable_ddl_propagation;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (LIKE here);
CREATE TABLE rows_of (LIKE here);
CREATE TABLE people (id int PRIMARY KEY, sex text NOT NULL);
SELECT create_distributed_table('visits', 'patient');
SELECT create_distributed_table('rows_of', 'visit');
SELECT create_distributed_table('people', 'id', colocate_with => 'visits');
INSERT INTO visits SELECT * FROM here;
INSERT INTO rows_of SELECT * FROM here;
INSERT INTO people SELECT * FROM people_here;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{here,visits}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'clinic', 'id') FROM unnest('{people_here,people}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'clinic', each_row => true) FROM unnest('{rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b', 'c', 'z']) FROM unnest('{here,visits,rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'sex', ARRAY['f', 'm']) FROM unnest('{people_here,people}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{here,visits,rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6, delta => 0.1);
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
CREATE TABLE answer (who text, value text);
GRANT ALL ON answer TO analyst1;

-- the rows of two queries
CREATE FUNCTION alike_rows(there text, here text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a record;
	b record;
BEGIN
	TRUNCATE answer;
	a := run_as_analyst(format('INSERT INTO answer SELECT ''there'', r::text FROM (%s) r', there));
	b := run_as_analyst(format('INSERT INTO answer SELECT ''here'', r::text FROM (%s) r', here));
	IF a.failure IS NOT NULL OR b.failure IS NOT NULL OR NOT EXISTS (SELECT FROM answer) THEN
		RETURN ok(false, description) || E'\n' || diag(coalesce(a.failure, b.failure, 'no rows'));
	END IF;
	RETURN results_eq($q$SELECT value FROM answer WHERE who = 'there' ORDER BY 1$q$,
					  $q$SELECT value FROM answer WHERE who = 'here' ORDER BY 1$q$, description);
END $$;
CREATE FUNCTION here(query text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(replace(replace(query, 'visits', 'here'), 'rows_of', 'rows_here'), '\mpeople\M', 'people_here')
$$;
CREATE FUNCTION alike_under(setting text, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM run_as_analyst(setting);
	RETURN alike_rows(query, here(query), setting || ': ' || query);
END $$;
CREATE FUNCTION allow(pull boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	SET SESSION AUTHORIZATION owner1;
	PERFORM dp_cdp.alter_dataset('clinic', pull_rows => pull);
	RESET SESSION AUTHORIZATION;
END $$;
SET citus.enable_ddl_propagation = off;
SELECT no_plan();

SELECT alike_rows(q, here(q), q) FROM unnest(ARRAY[
	'SELECT dp_histogram(cost, 0, 100, 4) FROM visits',
	'SELECT dp_histogram(cost, 0, 100, 4) FROM visits WHERE cost < 100 AND false',
	'SELECT dp_histogram(cost, 0, 100, 4) FROM visits WHERE visit = -1',
	'SELECT dept, dp_histogram(cost, 0, 100, 4), dp_count(*), dp_count(DISTINCT patient), round(dp_sum(cost) / 500) FROM visits GROUP BY dept',
	'SELECT ward, dp_histogram(cost, 0, 100, 4) FROM visits GROUP BY ward',
	'SELECT ward, dept, round(dp_median(cost)::numeric, 1) AS m FROM visits WHERE cost < 50 GROUP BY ward, dept',
	'SELECT dp_histogram(cost, 0, 100, 3), dp_histogram(age, 0, 90, 7) FILTER (WHERE cost > 20), round(dp_median(cost)::numeric, 1) FROM visits',
	'SELECT sex, dp_histogram(cost, 0, 100, 4) FROM visits JOIN people ON id = patient GROUP BY sex',
	'SELECT round(dp_median(cost)::numeric, 1), round(dp_min(cost)::numeric, 1) FROM visits WHERE patient = 8',
	'SELECT round(dp_clipped(cost, 0, 50)::numeric, 2) FROM visits',
	'SELECT dp_bounds(cost) FROM visits',
	'SELECT dp_histogram(cost, 0, 100, 4), dp_histogram(age, 0, 90, 7) FILTER (WHERE cost > 20), dp_count(cost), round(dp_sum(cost) / 500), round(dp_stddev(age, 0, 90)) FROM rows_of',
	'SELECT dept, dp_histogram(cost, 0, 100, 4), dp_count(*) FILTER (WHERE age > 60) FROM rows_of GROUP BY dept',
	'SELECT ward, dp_histogram(cost, 0, 100, 4) FROM rows_of GROUP BY ward',
	'SELECT round(dp_quantile(cost, 0.1)::numeric, 1), round(dp_max(cost)::numeric, 1) FROM rows_of']) q;
-- of each unit two values count, whichever these are
SELECT run_as_analyst('SET dp_cdp.max_rows = 2');
SELECT alike_rows(q, here(q), 'of two rows of each unit: ' || q) FROM unnest(ARRAY[
	'SELECT (SELECT sum(h) FROM unnest(v) h) FROM (SELECT dp_histogram(visit, 0, 3000, 4) AS v FROM visits) q',
	'SELECT dept, n, (SELECT sum(h) FROM unnest(v) h) FROM (SELECT dept, dp_count(*) AS n, dp_histogram(visit, 0, 3000, 4) AS v FROM visits GROUP BY dept) q']) q;
SELECT run_as_analyst('RESET dp_cdp.max_rows');
-- norms that cut most units
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.drop_budget('clinic', 'analyst1'), dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6, delta => 0.1);
RESET SESSION AUTHORIZATION;
SELECT alike_under(setting, q) FROM unnest('{SET dp_cdp.max_contribution = 0.25,SET dp_cdp.max_contribution = 1.5}'::text[]) setting, unnest(ARRAY[
	'SELECT array_agg(round(h / 5.0)) FROM (SELECT dp_histogram(cost, 0, 100, 3) AS v FROM visits) q, unnest(v) h',
	'SELECT dept, array_agg(round(h / 5.0)), round((n + 2) / 10), round(u / 10), round(s / 100), round(t::numeric, 1) FROM (SELECT dept, dp_histogram(cost, 0, 100, 4) AS v, dp_count(*) AS n, dp_count(DISTINCT patient) AS u, dp_sum(cost) AS s, dp_clipped_totals(age, 0, 90, 0, 150) AS t FROM visits GROUP BY dept) q, unnest(v) h WHERE dept < ''z'' GROUP BY dept, n, u, s, t',
	'SELECT ward, array_agg(round(h / 5.0)) FROM (SELECT ward, dp_histogram(age, 0, 90, 4) AS v FROM visits GROUP BY ward) q, unnest(v) h GROUP BY ward',
	'SELECT ward % 2, round(dp_avg(age, 0, 90)::numeric), round(dp_median(cost)::numeric / 5) FROM visits WHERE ward IN (0, 1) GROUP BY ward % 2']) q;
SELECT run_as_analyst('RESET dp_cdp.max_contribution');
-- keys are selected of units' weights, without the heaviest
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', min_units => 3);
RESET SESSION AUTHORIZATION;
SELECT alike_rows(q, here(q), 'groups of three: ' || q) FROM unnest(ARRAY[
	'SELECT ward, dp_histogram(cost, 0, 100, 4) FROM visits GROUP BY ward', 'SELECT ward, dept, dp_count(*), dp_histogram(age, 0, 90, 2) FROM visits GROUP BY ward, dept']) q;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', min_units => 1);
RESET SESSION AUTHORIZATION;
SELECT is((run_as_analyst('SET dp_cdp.find_bounds = on; SELECT dp_sum(visit) FROM visits')).failure, NULL, 'bounds that are found');
SELECT run_as_analyst('RESET dp_cdp.find_bounds');
SELECT run_as_analyst('PREPARE p(int) AS INSERT INTO answer SELECT ''prepared'', dp_histogram(cost, 0, 100, 4)::text FROM visits WHERE age > $1');
TRUNCATE answer;
SELECT is(bool_and((run_as_analyst('EXECUTE p(50)')).failure IS NULL), true, 'a prepared statement, by custom and generic plans') FROM generate_series(1, 7);
SELECT is(count(DISTINCT value), 1::bigint, 'has the same answer') FROM answer;
SELECT is((run_as_analyst('SELECT dp_histogram(cost, 0, 100, 4) FROM visits')).cost, 10000000000, 'a histogram is charged once');

-- with a count of distinct values rows are pulled, where that is allowed
SELECT alike(failure, 'ZC002%"visits"%pull_rows => true%', 'a count of distinct values is refused') FROM run_as_analyst('SELECT dp_histogram(cost, 0, 100, 4), dp_count(DISTINCT dept) FROM visits');
SELECT allow(true);
SELECT alike_rows(q, replace(q, ' FROM visits', ', dp_count(DISTINCT dept) AS d FROM visits'), 'pulled, too: ' || q) FROM (VALUES
	('SELECT h FROM (SELECT dp_histogram(cost, 0, 100, 4) AS h FROM visits) q'),
	('SELECT dept, h, n FROM (SELECT dept, dp_histogram(cost, 0, 100, 4) AS h, dp_count(*) AS n FROM visits GROUP BY dept) q'),
	('SELECT ward, h FROM (SELECT ward, dp_histogram(cost, 0, 100, 4) AS h FROM visits GROUP BY ward) q'),
	('SELECT round(m::numeric, 1) FROM (SELECT dp_median(cost) AS m FROM visits) q')) v(q);

-- what makes them of a row
SELECT results_eq($q$SELECT dp_cdp_internal.entry_cells(5::bigint, ARRAY[1, 2], 7), dp_cdp_internal.entry_totals(5::bigint, ARRAY[1, 2], 7)$q$,
	$q$VALUES (0::bigint, 5::bigint), (4294967297, 1), (4294967298, 1), (8589934599, 1)$q$, 'totals, and codes of one histogram and another');
SELECT results_eq($q$SELECT dp_cdp_internal.entry_cells(NULL::bigint, '{}'::int[], NULL::int), dp_cdp_internal.entry_totals(NULL::bigint, '{}'::int[], NULL::int)$q$,
	$q$VALUES (-1::bigint, 0::bigint)$q$, 'nothing');
SELECT throws_ok(q, state, NULL, q) FROM (VALUES
	('SELECT dp_cdp_internal.entry_cells(''x''::text)', '42804'), ('SELECT dp_cdp_internal.entry_totals(1.5)', '42804'), ('SELECT dp_cdp_internal.entry_cells(ARRAY[1, NULL])', '22004')) v(q, state);
SELECT results_eq($q$SELECT dp_cdp_internal.entry_cells(ARRAY[9, 1, 2]::bigint[], '{9}'::bigint[]), dp_cdp_internal.entry_totals(ARRAY[9, 1, 2]::bigint[], '{9}'::bigint[])$q$,
	$q$VALUES (1::bigint, 9::bigint), (2, 9)$q$, 'codes after what each counts');
SELECT * FROM finish();
