-- The release node: one debit and one draw of noise for each execution of a
-- release, whatever the plan, the cursor or the protocol does around it.
--
-- Everything is measured as what an analyst's budget has spent, in units of
-- the price of one aggregate (rho 1e-6).  At that price the noise is so large
-- that two draws for the same groups practically never coincide.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
CREATE TABLE depts (dept text PRIMARY KEY, floor int);
INSERT INTO depts VALUES ('a', 1), ('b', 2), ('c', 3);
CREATE TABLE nothing (x int);
GRANT ALL ON depts, nothing TO analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, dept text NOT NULL, cost numeric, flag boolean);
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), i % 1000, i % 2 = 0
	FROM generate_series(1, 3000) i;
CREATE TABLE people AS SELECT * FROM visits;
ALTER TABLE people ALTER dept SET NOT NULL;
CREATE TABLE undeclared AS SELECT i AS id, i % 7 AS ward FROM generate_series(1, 700) i;
CREATE TABLE single (person int PRIMARY KEY, ward int);
INSERT INTO single SELECT id, ward FROM undeclared;
SELECT dp_cdp.create_dataset('clinic', find_bounds => 0, default_rho => 1e-6);
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true);
SELECT dp_cdp.protect_table('people', 'clinic', 'patient');
SELECT dp_cdp.protect_table('undeclared', 'clinic', each_row => true);
SELECT dp_cdp.protect_table('single', 'clinic', 'person');
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b', 'c', 'z']) FROM unnest('{visits,people}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'cost', 0, 1000) FROM unnest('{visits,people}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000);
RESET SESSION AUTHORIZATION;
ANALYZE visits, people, undeclared, depts;

\ir analyst.psql

CREATE FUNCTION costs(statement text, price int, description text) RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	r record := run_as_analyst(statement);
BEGIN
	IF r.failure IS NOT NULL THEN
		RETURN ok(false, description) || E'\n' || diag(r.failure);
	END IF;
	RETURN is(r.cost, price::bigint, description);
END $$;

-- a statement that fails with this SQLSTATE, after paying
CREATE FUNCTION fails(statement text, state text, price int, description text) RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	r record := run_as_analyst(statement);
BEGIN
	RETURN is(coalesce(left(r.failure, 5), 'none') || ' ' || r.cost, state || ' ' || price, description)
		|| CASE WHEN left(r.failure, 5) IS DISTINCT FROM state THEN E'\n' || diag(r.failure) ELSE '' END;
END $$;

-- a query of one boolean, as the analyst
CREATE FUNCTION holds(query text, price int, description text) RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	before int := spent();
	result boolean;
	cost int;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	EXECUTE query INTO result;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	cost := spent() - before;
	RETURN is(coalesce(result::text, 'NULL') || ' ' || cost, 'true ' || price, description);
END $$;

-- what happened since the last call of paid() is checked by paid()
CREATE TABLE mark AS SELECT spent() AS spent;
CREATE FUNCTION paid(price int, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before int := (SELECT spent FROM mark);
	after int := spent();
BEGIN
	UPDATE mark SET spent = after;
	RETURN is(after - before, price, description);
END $$;

SELECT no_plan();

-- --------------------------------------------------------------------------
-- Prices
-- --------------------------------------------------------------------------

SELECT costs('SELECT dp_count(*) FROM visits', 1, 'one aggregate');
SELECT costs('SELECT dept, dp_count(*) FROM visits GROUP BY dept', 1, 'one aggregate, all groups together');
SELECT costs('SELECT dp_count(*), dp_count(cost), dp_sum(cost) FROM visits', 3, 'three aggregates');
SELECT costs('SELECT dp_count(*), 1 + dp_count(*) FROM visits HAVING dp_count(*) > 0 ORDER BY dp_count(*)', 1,
	'the same aggregate written several times');
SELECT costs('SELECT dp_sum(cost), dp_sum(cost) FILTER (WHERE flag) FROM visits', 2, 'a filter makes another aggregate');
SELECT costs('SELECT dp_sum(cost, 0, 10), dp_sum(cost, 0, 20) FROM visits', 2, 'other bounds make another aggregate');
SELECT costs('SELECT dp_count(*) FROM visits WHERE false', 1, 'a condition that is never true is paid for');
SELECT costs('SELECT dp_count(*) FROM visits WHERE cost > 1e6', 1, 'no rows, same price');
SELECT costs('SELECT 1 FROM visits HAVING dp_count(*) > 0', 1, 'an aggregate in HAVING only');
SELECT costs('SELECT dept FROM visits GROUP BY dept ORDER BY dp_count(*)', 1, 'an aggregate in ORDER BY only');
SELECT costs('EXPLAIN SELECT dp_count(*) FROM visits', 0, 'EXPLAIN is free');
SELECT costs('EXPLAIN (VERBOSE, COSTS, SETTINGS, FORMAT json) SELECT dp_count(*) FROM visits', 0, 'EXPLAIN with options');
CREATE FUNCTION explained(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; lines text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || statement LOOP
		lines := lines || line || E'\n';
	END LOOP;
	RETURN lines;
END $$;
SELECT matches(explained('SELECT dp_count(*), dp_avg(cost, 0, 10) FROM visits'),
	'dp_count\(\*\)  \(stddev=[0-9.e+]+ rho=\S+ sensitivity=[0-9.]+ margin=[0-9.e+]+\)\n.*dp_avg\S* 0, 10\)  \(stddev about [0-9.e+]+ / N for N rows, rho=\S+ sensitivity=[0-9.]+\)\n',
	'EXPLAIN VERBOSE shows sensitivities, and margins that do not depend on the answer');
SELECT costs('SELECT * FROM (SELECT ward, dp_count(*) FROM undeclared GROUP BY ward) s', 1, 'a count that selects the keys, too');
SELECT costs('SELECT ward, dp_count(*) FROM single GROUP BY ward', 1, 'a count of rows where each is another person');
SELECT costs('SELECT ward, dp_count(DISTINCT person) FROM single GROUP BY ward', 1, 'a count of these persons');
SELECT costs('SELECT ward, dp_count(*) FILTER (WHERE id > 3) FROM undeclared GROUP BY ward', 2,
	'a hidden count that selects the keys');

-- --------------------------------------------------------------------------
-- Never asked for a row: free
-- --------------------------------------------------------------------------

SELECT costs('SELECT dp_count(*) FROM visits LIMIT 0', 0, 'LIMIT 0');
SELECT costs('SELECT dept, dp_count(*) FROM visits GROUP BY dept LIMIT 0', 0, 'LIMIT 0 of groups');
SELECT costs('SELECT * FROM (SELECT dept, dp_count(*) FROM visits GROUP BY dept) s LIMIT 0', 0, 'LIMIT 0 outside');
SELECT costs('SELECT * FROM (SELECT dept, dp_count(*) FROM visits GROUP BY dept) s WHERE false', 0, 'WHERE false outside');
SELECT costs('SELECT dp_count(*) FROM visits HAVING false', 0, 'HAVING false');
SELECT costs('SELECT dept, dp_count(*) FROM visits GROUP BY dept HAVING 1 = 0', 0, 'HAVING 1 = 0');
SELECT costs('SELECT * FROM nothing LEFT JOIN (SELECT dp_count(*) FROM visits) r ON true', 0, 'the other side of an empty join');
SELECT costs('SELECT x, (SELECT dp_count(*) FROM visits) FROM nothing', 0, 'a subquery for no rows');
SELECT costs('SELECT CASE WHEN random() < 2 THEN 0 ELSE (SELECT dp_count(*) FROM visits) END', 0, 'a branch not taken');
SELECT costs('WITH r AS MATERIALIZED (SELECT dp_count(*) FROM visits) SELECT 1', 0, 'a CTE that is not read');

-- --------------------------------------------------------------------------
-- Read several times: one debit, one draw
-- --------------------------------------------------------------------------

-- nested loops only
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
SELECT holds($$ SELECT count(DISTINCT (dept, n)) = 4 AND count(*) = 4000
	FROM generate_series(1, 1000) g LEFT JOIN (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r ON g > 0 $$,
	1, 'inner side of a nested loop');
SELECT holds($$ SELECT count(*) = 4 AND bool_and(x.n = y.n)
	FROM (WITH r AS NOT MATERIALIZED (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept)
		  SELECT a.dept, a.n, b.n AS m FROM r a JOIN r b USING (dept)) x (dept, n, m)
		 CROSS JOIN LATERAL (SELECT x.m AS n) y $$,
	1, 'two references to a CTE in a nested loop');
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material; RESET enable_memoize;

SELECT holds($$ WITH r AS (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept)
	SELECT bool_and(a.n = b.n) AND count(*) = 4 FROM r a JOIN r b USING (dept) $$, 1, 'two references to a CTE');
SELECT holds($$ WITH r AS NOT MATERIALIZED (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept)
	SELECT bool_and(a.n = b.n) AND count(*) = 4 FROM r a JOIN r b USING (dept) $$, 1, '... that is NOT MATERIALIZED');
SELECT holds($$ WITH r AS (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept), s AS NOT MATERIALIZED (SELECT * FROM r)
	SELECT bool_and(a.n = b.n) AND count(*) = 4 FROM s a JOIN s b USING (dept) $$, 1, '... through another one');
SELECT holds($$ WITH o AS NOT MATERIALIZED (WITH r AS NOT MATERIALIZED (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) SELECT * FROM r)
	SELECT bool_and(a.n = b.n) AND count(*) = 4 FROM o a JOIN o b USING (dept) $$, 1, '... inside of another one');
SELECT costs($$ WITH r AS (SELECT dp_count(*) AS n FROM visits) SELECT n FROM r UNION ALL SELECT n FROM r $$, 1, 'both sides of UNION ALL');
SELECT holds($$ SELECT count(DISTINCT n) = 1 FROM (
	SELECT (SELECT n FROM (SELECT dp_count(*) AS n FROM visits) r WHERE d.floor > 0) AS n FROM depts d) s $$,
	1, 'correlated subquery around an uncorrelated release');
SELECT holds($$ SELECT count(DISTINCT (dept, n)) = 3 FROM (
	SELECT d.dept, (SELECT n FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r WHERE r.dept = d.dept) AS n
	FROM depts d, generate_series(1, 50)) s $$, 1, '... that has groups');
SELECT holds($$ SELECT count(DISTINCT n) = 3 FROM depts d,
	LATERAL (SELECT dp_count(*) * 0 + d.floor AS n FROM visits) r $$, 1, 'LATERAL with an outer column beside the aggregate');
SELECT costs('SELECT floor FROM depts WHERE dept IN (SELECT dept FROM visits GROUP BY dept HAVING dp_count(*) > 0)', 1, 'IN (release)');
SELECT costs('SELECT floor FROM depts WHERE dept NOT IN (SELECT dept FROM visits GROUP BY dept HAVING dp_count(*) > 0)', 1, 'NOT IN (release)');
SELECT costs('SELECT floor FROM depts WHERE EXISTS (SELECT dept FROM visits GROUP BY dept HAVING dp_count(*) > floor)', 1, 'EXISTS with an outer column in HAVING');
SELECT costs('SELECT floor FROM depts WHERE floor > ALL (SELECT dp_count(*) FROM visits GROUP BY dept)', 1, '> ALL (release)');
SELECT costs('SELECT floor, ARRAY(SELECT dp_count(*) FROM visits GROUP BY dept) FROM depts', 1, 'ARRAY(release)');

-- --------------------------------------------------------------------------
-- Several releases of one statement are several debits
-- --------------------------------------------------------------------------

SELECT costs('SELECT dp_count(*) FROM visits UNION SELECT dp_count(*) FROM visits', 2, 'UNION of two releases');
SELECT costs('SELECT dp_count(*) FROM visits UNION ALL SELECT dp_sum(cost)::bigint FROM visits', 2, 'UNION ALL');
SELECT costs('SELECT dp_count(*) FROM visits EXCEPT SELECT dp_count(*) FROM visits INTERSECT SELECT 1', 2, 'EXCEPT and INTERSECT');
SELECT costs('SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_count(*) FROM visits)', 2, 'two subqueries');
SELECT costs('SELECT * FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) a JOIN (SELECT dept, dp_sum(cost) FROM visits GROUP BY dept) b USING (dept)', 2, 'a join of two releases');
SELECT costs($$ DO 'BEGIN FOR i IN 1..3 LOOP PERFORM dp_count(*) FROM visits; END LOOP; END' $$, 3, 'a loop');
SELECT costs($$ DO 'BEGIN FOR i IN 1..3 LOOP EXECUTE ''SELECT dp_count(*) FROM visits''; END LOOP; END' $$, 3, 'a loop of EXECUTE');

-- --------------------------------------------------------------------------
-- Post-processing is free
-- --------------------------------------------------------------------------

SELECT costs($$ WITH root AS (SELECT dept, dp_count(*) FROM visits GROUP BY dept) SELECT count(*) AS rows FROM root $$, 0, 'count(*) around declared keys');
SELECT costs($$ SELECT count(*) FROM (SELECT dept, dp_count(*) FROM visits GROUP BY dept) s $$, 0, '... as a subquery');
SELECT costs($$ SELECT dept FROM (SELECT dept, dp_count(*) FROM visits GROUP BY dept) s $$, 0, 'only the declared keys of a release');
SELECT costs($$ SELECT count(*) FROM (SELECT ward, dp_count(*) FROM undeclared GROUP BY ward) s $$, 1, 'count(*) of selected keys');
SELECT costs($$ SELECT ward FROM (SELECT ward, dp_count(*) FROM undeclared GROUP BY ward) s $$, 1, 'only the keys, selected');
SELECT holds($$ SELECT array_agg(dept ORDER BY dept) = '{a,b,c,z}' FROM (SELECT dept, dp_count(*) FROM visits GROUP BY dept) s $$,
	0, 'all declared keys appear');
SELECT costs('SELECT DISTINCT dp_count(*) FROM visits GROUP BY dept', 1, 'DISTINCT');
SELECT costs('SELECT DISTINCT ON (dp_count(*)) dept FROM visits GROUP BY dept ORDER BY dp_count(*), dept', 1, 'DISTINCT ON');
SELECT holds($$ SELECT count(*) = 4 AND max(total) = sum(n) FROM (
	SELECT dept, dp_count(*) AS n, sum(dp_count(*)) OVER () AS total, rank() OVER (ORDER BY dp_count(*) DESC) AS r,
		lag(dp_count(*)) OVER (PARTITION BY dept ORDER BY dp_count(*))
	FROM visits GROUP BY dept) s $$, 1, 'windows over released values');
SELECT costs('SELECT dept, dp_sum(cost) / nullif(dp_count(*), 0) AS mean FROM visits GROUP BY dept HAVING dp_count(*) > 100 ORDER BY 2 DESC, dept LIMIT 2 OFFSET 1', 2, 'arithmetic, HAVING, ORDER BY, LIMIT, OFFSET');
SELECT costs($$ SELECT CASE WHEN dp_count(*) > 5 THEN 'many' ELSE 'few' END, greatest(0, dp_count(*)), upper(dept) FROM visits GROUP BY dept $$, 1, 'CASE, greatest');
SELECT costs('SELECT d.floor, r.n FROM depts d JOIN (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r USING (dept) WHERE r.n > 0', 1, 'join with a public table');
SELECT costs('SELECT d.floor, r.n FROM depts d LEFT JOIN (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r USING (dept)', 1, 'outer join');
SELECT costs('SELECT d.floor, r.n FROM depts d FULL JOIN (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r USING (dept)', 1, 'full join');
SELECT costs('SELECT max(n), avg(n), string_agg(dept, chr(44)) FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r', 1, 'aggregates over released values');
SELECT costs('SELECT dept, (SELECT floor FROM depts d WHERE d.dept = visits.dept) FROM visits GROUP BY dept HAVING dp_count(*) > 0', 1, 'a subquery that refers to a key');
SELECT costs('SELECT dept, (SELECT max(floor + dp_count(visits.cost)) FROM depts d) FROM visits GROUP BY dept', 1, 'a subquery with the aggregate inside');
SELECT costs('SELECT s.* FROM (SELECT dept AS "D e", dp_count(*) AS "N" FROM visits GROUP BY 1) AS s WHERE "N" > 0 ORDER BY "D e" LIMIT 1000', 1, 'quoted aliases');
SELECT costs('SELECT row_to_json(r), r FROM (SELECT dept, dp_count(*) FROM visits GROUP BY dept) r', 1, 'whole rows of a release');
SELECT costs('SELECT floor(dp_sum(cost)), generate_series(1, 3) FROM visits', 1, 'a set-returning function beside');
SELECT costs('TABLE nothing UNION ALL SELECT floor(n)::int FROM (SELECT dp_sum(cost) n FROM visits GROUP BY dept) r WHERE n > 0', 1, 'conditions outside');

SELECT holds('SELECT bool_and(g = 0) FROM (SELECT dept, grouping(dept) AS g, dp_count(*) FROM visits GROUP BY dept) s', 1, 'GROUPING of a plain GROUP BY');

-- errors after the release
SELECT fails('SELECT setseed(2 + dp_count(*) * 0) FROM visits', '22023', 1, 'an error in post-processing does not refund');
SELECT costs($$ SELECT CAST('x' || dp_count(*) AS date) FROM visits $$, 1, 'a cast that fails is NULL');
SELECT fails('SELECT dp_sum(cost, 5, 5) FROM visits', 'ZC004', 0, 'bad bounds are found before the debit');
SELECT fails('SELECT dp_count(*), 1/0 FROM visits', '22012', 0, 'an error of the planner is free');

-- --------------------------------------------------------------------------
-- Statements that store
-- --------------------------------------------------------------------------

SELECT costs('CREATE TEMP TABLE kept AS SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept', 1, 'CREATE TABLE AS');
SELECT costs('CREATE TEMP TABLE kept3 AS SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept WITH NO DATA', 0, 'CREATE TABLE AS ... WITH NO DATA');
SELECT costs('INSERT INTO nothing SELECT dp_count(*) % 100 FROM visits GROUP BY dept', 1, 'INSERT ... SELECT');
SELECT costs('INSERT INTO nothing VALUES ((SELECT dp_count(*) FROM visits) % 100) RETURNING x', 1, 'INSERT ... VALUES');
SELECT costs('UPDATE depts SET floor = (SELECT dp_count(*) FROM visits) % 100', 1, 'UPDATE ... SET');
SELECT costs('UPDATE depts SET floor = n % 100 FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r WHERE r.dept = depts.dept', 1, 'UPDATE ... FROM');
SELECT costs('DELETE FROM nothing USING (SELECT dp_count(*) AS n FROM visits) r WHERE r.n % 100 = x', 1, 'DELETE ... USING');
SELECT costs('MERGE INTO depts d USING (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r ON r.dept = d.dept WHEN MATCHED THEN UPDATE SET floor = r.n % 100', 1, 'MERGE') WHERE current_setting('server_version_num')::int >= 150000;
SELECT costs('WITH r AS (SELECT dp_count(*) AS n FROM visits), i AS (INSERT INTO nothing SELECT n % 100 FROM r RETURNING x) SELECT * FROM i, r', 1, 'a WITH clause that modifies data beside a release');
SELECT costs('SELECT d.* FROM depts d, (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) r WHERE d.dept = r.dept AND n IS NOT NULL FOR UPDATE OF d', 1, 'FOR UPDATE of another table');

SELECT costs('CREATE VIEW by_dept AS SELECT dept, dp_count(*) AS n, dp_sum(cost) AS total FROM visits GROUP BY dept', 0, 'CREATE VIEW is free');
SELECT costs('SELECT * FROM by_dept', 2, 'a view of the analyst');
SELECT costs('SELECT dept, n FROM by_dept', 1, '... of which two columns are read');
SELECT costs('SELECT * FROM by_dept a JOIN by_dept b USING (dept)', 4, 'a view named twice is released twice');
SELECT costs('CREATE MATERIALIZED VIEW by_dept_kept AS SELECT * FROM by_dept', 2, 'CREATE MATERIALIZED VIEW');
SELECT costs('REFRESH MATERIALIZED VIEW by_dept_kept', 2, 'REFRESH MATERIALIZED VIEW');
SELECT costs('SELECT * FROM by_dept_kept', 0, 'a materialized view is free');
SET SESSION AUTHORIZATION owner1;
CREATE VIEW of_owner AS SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
GRANT SELECT ON of_owner TO analyst1;
RESET SESSION AUTHORIZATION;
SELECT costs('SELECT * FROM of_owner', 1, 'a view of the owner');

-- --------------------------------------------------------------------------
-- Functions
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION f_sql() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT dp_count(*) FROM visits';
CREATE FUNCTION f_sql_stable() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT dp_count(*) FROM visits';
CREATE FUNCTION f_sql_set() RETURNS TABLE (dept text, n bigint) LANGUAGE sql STABLE AS 'SELECT dept, dp_count(*) FROM visits GROUP BY dept';
CREATE FUNCTION f_sql_set_volatile() RETURNS TABLE (dept text, n bigint) LANGUAGE sql AS 'SELECT dept, dp_count(*) FROM visits GROUP BY dept';
CREATE FUNCTION f_atomic() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT dp_count(*) FROM visits; END;
CREATE FUNCTION f_where(lowest int) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT dp_count(*) FROM visits WHERE id > lowest';
CREATE FUNCTION f_plpgsql(lowest int, bound numeric, unused int DEFAULT 0) RETURNS numeric LANGUAGE plpgsql AS
	'DECLARE r numeric; also text; BEGIN SELECT dp_sum(cost, 0, bound) INTO r FROM visits WHERE id > lowest; RETURN r; END';
CREATE FUNCTION f_for() RETURNS int LANGUAGE plpgsql AS
	'DECLARE r record; n int := 0; BEGIN FOR r IN SELECT dept, dp_count(*) FROM visits GROUP BY dept LOOP n := n + 1; END LOOP; RETURN n; END';
CREATE FUNCTION f_caught() RETURNS int LANGUAGE plpgsql AS
	'BEGIN PERFORM setseed(2 + n * 0) FROM (SELECT dp_count(*) AS n FROM visits) r; RETURN 0; EXCEPTION WHEN invalid_parameter_value THEN RETURN 1; END';
CREATE FUNCTION f_refcursor(c refcursor) RETURNS refcursor LANGUAGE plpgsql AS
	'BEGIN OPEN c SCROLL FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept; RETURN c; END';
RESET SESSION AUTHORIZATION;
SELECT costs('SELECT f_sql()', 1, 'SQL function');
SELECT costs('SELECT f_sql_stable()', 1, 'SQL function, stable');
SELECT costs('SELECT f_sql() FROM depts', 3, 'SQL function for each of three rows');
SELECT costs('SELECT * FROM f_sql_set_volatile()', 1, 'set-returning SQL function');
SELECT costs('SELECT f_atomic()', 1, 'SQL function with a parsed body');
SELECT costs('SELECT f_where(100)', 1, 'SQL function with a parameter');
SELECT costs('SELECT f_plpgsql(100, 10) FROM generate_series(1, 8)', 8, 'plpgsql with variables in WHERE and bounds, also by a generic plan');
SELECT holds('SELECT f_for() = 4', 1, 'plpgsql loop over a release');
SELECT holds('SELECT f_caught() = 1', 1, 'an exception block does not refund');
-- inlining would put the release into a plan that the guard has not split
SELECT ok(failure IS NULL AND cost = 1 OR failure IS NOT NULL AND cost = 0,
	'set-returning SQL function that can be inlined: released or refused')
	FROM run_as_analyst('SELECT * FROM f_sql_set()');

-- --------------------------------------------------------------------------
-- Prepared statements
-- --------------------------------------------------------------------------

UPDATE mark SET spent = spent();
SET SESSION AUTHORIZATION analyst1;
PREPARE p (int, numeric) AS SELECT dept, dp_count(*), dp_sum(cost, 0, $2) FROM visits WHERE id > $1 GROUP BY dept;
RESET SESSION AUTHORIZATION;
SELECT paid(0, 'PREPARE is free');
SET SESSION AUTHORIZATION analyst1;
\o /dev/null
EXECUTE p(1, 10);
EXECUTE p(1, 10);
EXECUTE p(1, 10);
EXECUTE p(1, 10);
EXECUTE p(1, 10);
EXECUTE p(1, 10);
EXECUTE p(1, 10);
EXECUTE p(1, 10);
\o
SELECT generic_plans > 0 AS generic FROM pg_prepared_statements WHERE name = 'p' \gset
RESET SESSION AUTHORIZATION;
SELECT paid(16, 'EXECUTE x 8 pays 8 times');
SELECT ok(:'generic', 'the last ones by a generic plan');
SET SESSION AUTHORIZATION analyst1;
SET plan_cache_mode = force_generic_plan;
PREPARE q (text, text) AS SELECT dp_sum(cost, $1, $2) FROM visits;
\o /dev/null
EXECUTE q('0', '10');
EXECUTE q('0', '10');
EXPLAIN EXECUTE q('0', '10');
\o
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
SELECT paid(2, 'generic plans from the start; EXPLAIN EXECUTE is free');
SET SESSION AUTHORIZATION analyst1;
\o /dev/null
\set VERBOSITY sqlstate
\set ON_ERROR_STOP 0
EXECUTE q('0', '0');
EXECUTE q('0', NULL);
EXECUTE q('0', 'x');
EXPLAIN ANALYZE EXECUTE q('0', '10');
\set ON_ERROR_STOP 1
\set VERBOSITY default
\o
CREATE TEMP TABLE from_execute AS EXECUTE q('0', '10');
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'bad parameters and EXPLAIN ANALYZE EXECUTE are free, CREATE TABLE AS EXECUTE is not');
SET SESSION AUTHORIZATION analyst1;
DEALLOCATE ALL;
RESET SESSION AUTHORIZATION;

-- plans that were cached before the policy changed
SET SESSION AUTHORIZATION owner1;
CREATE TABLE changing AS SELECT i AS id, 'a'::text AS k, 1 AS x FROM generate_series(1, 10) i;
ALTER TABLE changing ALTER k SET NOT NULL;
SELECT dp_cdp.protect_table('changing', 'clinic', each_row => true);
SELECT dp_cdp.set_keys('changing', 'k', ARRAY['a', 'b']);
SELECT dp_cdp.set_bounds('changing', 'x', 0, 1);
SET SESSION AUTHORIZATION analyst1;
SET plan_cache_mode = force_generic_plan;
PREPARE cached AS SELECT string_agg(k, ' ' ORDER BY k) AS keys FROM (SELECT k, dp_sum(x) AS x FROM changing GROUP BY k) s WHERE x IS NOT NULL;
EXECUTE cached \gset one_
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_keys('changing', 'k', ARRAY['c']);
SET SESSION AUTHORIZATION analyst1;
EXECUTE cached \gset two_
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.drop_bounds('changing', 'x');
SET SESSION AUTHORIZATION analyst1;
\set VERBOSITY sqlstate
\set ON_ERROR_STOP 0
EXECUTE cached \gset three_
\set three_state :LAST_ERROR_SQLSTATE
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.unprotect_table('changing');
SET SESSION AUTHORIZATION analyst1;
EXECUTE cached \gset four_
\set four_state :LAST_ERROR_SQLSTATE
\set ON_ERROR_STOP 1
\set VERBOSITY default
DEALLOCATE cached;
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
SELECT paid(2, 'a cached plan before and after a change of keys');
SELECT is(:'one_keys' || ', ' || :'two_keys' || ', ' || :'three_state' || ', ' || :'four_state',
	'a b, c, ZC004, ZC002', 'cached plans follow keys, bounds and protection');

-- --------------------------------------------------------------------------
-- Cursors
-- --------------------------------------------------------------------------

CREATE TEMP TABLE fetched (step text, dept text, n bigint);
GRANT ALL ON fetched TO analyst1;
CREATE FUNCTION keep(step text, cursor refcursor, direction text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
	FOR i IN 1..10 LOOP
		IF direction = 'forward' THEN FETCH NEXT FROM cursor INTO r; ELSE FETCH PRIOR FROM cursor INTO r; END IF;
		EXIT WHEN NOT FOUND;
		INSERT INTO fetched VALUES (step, r.dept, r.n);
	END LOOP;
END $$;

SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept ORDER BY dept;
RESET SESSION AUTHORIZATION;
SELECT paid(0, 'an open cursor is free');
SET SESSION AUTHORIZATION analyst1;
\o /dev/null
SELECT keep('one', 'c', 'forward');
SELECT keep('two', 'c', 'backward');
FETCH ABSOLUTE 0 FROM c;
SELECT keep('three', 'c', 'forward');
MOVE BACKWARD ALL IN c;
SELECT keep('four', 'c', 'forward');
FETCH ABSOLUTE 2 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
\o
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'a cursor pays once');
COMMIT;
SELECT is(count(DISTINCT (dept, n))::int, 4, 'a scrolled cursor repeats its answers') FROM fetched;
SELECT is(count(*)::int, 16, 'however it is read') FROM fetched;

-- without ORDER BY the node itself is scrolled
TRUNCATE fetched;
SET SESSION AUTHORIZATION analyst1;
BEGIN READ ONLY;
DECLARE c SCROLL CURSOR FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
COMMIT;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
\o /dev/null
SELECT keep('one', 'c', 'forward');
SELECT keep('two', 'c', 'backward');
SELECT keep('three', 'c', 'forward');
\o
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'a cursor that scrolls the node');
SELECT is(count(*)::int || ' ' || count(DISTINCT (dept, n))::int, '12 4', '... repeats its answers') FROM fetched;

TRUNCATE fetched;
SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
COMMIT;
\o /dev/null
SELECT keep('one', 'h', 'forward');
SELECT keep('two', 'h', 'backward');
CLOSE h;
\o
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'WITH HOLD, fetched after COMMIT');
SELECT is(count(*)::int || ' ' || count(DISTINCT (dept, n))::int, '8 4', '... repeats its answers') FROM fetched;

TRUNCATE fetched;
SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
\o /dev/null
FETCH 2 FROM h;
\o
COMMIT;
CLOSE h;
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'WITH HOLD, fetched before and after COMMIT');

SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE c CURSOR FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
\o /dev/null
MOVE 0 FROM c;
MOVE NEXT FROM c;
\o
ROLLBACK;
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'MOVE pays');

TRUNCATE fetched;
SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
SAVEPOINT s;
\o /dev/null
FETCH NEXT FROM c;
ROLLBACK TO s;
\o
\set VERBOSITY sqlstate
SELECT keep('one', 'c', 'forward') AS keep \gset
MOVE ABSOLUTE 0 IN c;
SELECT keep('two', 'c', 'forward') AS keep \gset
\set VERBOSITY default
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'a cursor that goes on after ROLLBACK TO');
SELECT is(count(*)::int || ' ' || count(DISTINCT (dept, n))::int, '7 4', '... repeats its answers') FROM fetched;

TRUNCATE fetched;
SET SESSION AUTHORIZATION analyst1;
BEGIN;
SELECT f_refcursor('c2') AS c \gset
SELECT keep('one', 'c2', 'forward') AS keep \gset
ROLLBACK;
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'a cursor opened by a function; ROLLBACK after reading does not refund');

-- many rows: what is stored spills to disk, also below a savepoint
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_keys('visits', 'id', (SELECT array_agg(g) FROM generate_series(1, 20000) g));
SET SESSION AUTHORIZATION analyst1;
SET work_mem = '64kB';
TRUNCATE fetched;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id::text AS dept, dp_count(*) AS n FROM visits GROUP BY id;
SAVEPOINT s;
\o /dev/null
FETCH NEXT FROM c;
MOVE FORWARD 100 IN c;
\o
ROLLBACK TO s;
SELECT keep('one', 'c', 'forward') AS keep \gset
MOVE LAST IN c;
MOVE ABSOLUTE 101 IN c;
SELECT keep('two', 'c', 'forward') AS keep \gset
MOVE ABSOLUTE 112 IN c;
SELECT keep('three', 'c', 'backward') AS keep \gset
COMMIT;
RESET work_mem;
RESET SESSION AUTHORIZATION;
SELECT paid(1, 'a release that spills to disk');
SELECT is(count(*)::int || ' ' || count(DISTINCT (dept, n))::int, '30 10', '... repeats its answers') FROM fetched;

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_keys('visits', 'patient', (SELECT array_agg(g) FROM generate_series(1, 1000) g));
RESET SESSION AUTHORIZATION;
SELECT fails('SELECT id, patient, dp_count(*) FROM visits GROUP BY id, patient', 'ZC002', 0, 'too many declared groups are refused before the debit');
UPDATE mark SET spent = spent();

-- --------------------------------------------------------------------------
-- Transactions
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
\o /dev/null
BEGIN; SELECT dp_count(*) FROM visits; ROLLBACK;
BEGIN; SAVEPOINT a; SELECT dp_count(*) FROM visits; ROLLBACK TO a; SELECT dp_count(*) FROM visits; RELEASE a; COMMIT;
\o
RESET SESSION AUTHORIZATION;
SELECT paid(3, 'ROLLBACK and ROLLBACK TO do not refund');
SET SESSION AUTHORIZATION analyst1;
\o /dev/null
BEGIN READ ONLY; SELECT dp_count(*) FROM visits; COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT dp_count(*) FROM visits; SELECT dp_count(*) FROM visits; COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE; SELECT dp_count(*) FROM visits; COMMIT;
SET default_transaction_read_only = on; SELECT dp_count(*) FROM visits; RESET default_transaction_read_only;
\o
RESET SESSION AUTHORIZATION;
SELECT paid(5, 'READ ONLY, REPEATABLE READ and deferrable SERIALIZABLE transactions pay');

-- what PostgreSQL remembers of rows that were met would fail a later statement, or another transaction
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION pg_temp.refused(query text) RETURNS text LANGUAGE plpgsql AS
	$$ BEGIN EXECUTE query; RETURN 'answered'; EXCEPTION WHEN SQLSTATE 'ZC002' THEN RETURN substr(SQLERRM, 1, 63); END $$;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT is(pg_temp.refused('SELECT dp_count(*) FROM visits'), 'private aggregates are not released in SERIALIZABLE transaction', 'a SERIALIZABLE transaction is refused');
SELECT is(pg_temp.refused('EXPLAIN SELECT dp_count(*) FROM visits'), 'answered', 'it may see the price');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY;
SELECT is(pg_temp.refused('SELECT dp_count(*) FROM visits'), 'private aggregates are not released in SERIALIZABLE transaction', '... and one that is READ ONLY, whatever others do');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE, DEFERRABLE;
SELECT 1 \g /dev/null
SET TRANSACTION READ ONLY;
SELECT is(pg_temp.refused('SELECT dp_count(*) FROM visits'), 'private aggregates are not released in SERIALIZABLE transaction', '... and one that became READ ONLY after it had begun');
COMMIT;
SET default_transaction_isolation = serializable;
SELECT is(pg_temp.refused('SELECT dept, dp_count(*) FROM visits GROUP BY CUBE (dept)'), 'private aggregates are not released in SERIALIZABLE transaction', '... and each statement of a session that has it by default');
RESET default_transaction_isolation;
RESET SESSION AUTHORIZATION;
SELECT paid(0, 'none of that costs anything');

-- what PostgreSQL counts in a transaction would tell how many rows were read, whatever way they are read
CREATE FUNCTION peek() RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN EXECUTE 'EXPLAIN SELECT dp_count(*) FROM visits WHERE id < 20'; RETURN 1; END $$;
CREATE VIEW counted AS SELECT sum(pg_stat_get_xact_numscans(o) + pg_stat_get_xact_tuples_returned(o) + pg_stat_get_xact_tuples_fetched(o) + pg_stat_get_xact_blocks_fetched(o)) AS n
	FROM unnest('{visits,visits_pkey}'::regclass[]) o;
GRANT SELECT ON counted TO analyst1;
SET SESSION AUTHORIZATION analyst1;
BEGIN;
SELECT n AS before FROM counted \gset
SELECT dp_count(*) AS n FROM visits WHERE id < 99 \gset
SET LOCAL enable_seqscan = off;
SELECT dp_count(*) AS n FROM visits WHERE id < 98 \gset
SET LOCAL enable_bitmapscan = off;
SELECT dp_count(*) AS n FROM visits WHERE id < 97 \gset
SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = on;
SELECT dp_count(*) AS n FROM visits WHERE id < 96 \gset
-- code of the asker between two releases of a statement
SELECT a.n + b.n AS n FROM (SELECT dp_count(*) AS n FROM visits WHERE id < 95) a, LATERAL (SELECT peek() + a.n * 0 AS n OFFSET 0) p, LATERAL (SELECT dp_count(*) + p.n AS n FROM visits WHERE id < 94) b \gset
SELECT n AS after, current_setting('track_counts') AS tracked FROM counted \gset
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT is(:after - :before || ' ' || :'tracked', '0 on', 'reading protected rows leaves no counts');
SELECT paid(6, '... and is paid for');

-- --------------------------------------------------------------------------
-- COPY
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
\o /dev/null
COPY (SELECT dept, dp_count(*) FROM visits GROUP BY dept) TO STDOUT;
\copy (SELECT dept, dp_count(*) FROM visits GROUP BY dept) TO '/dev/null' WITH (FORMAT csv)
\o
RESET SESSION AUTHORIZATION;
SELECT paid(2, 'COPY (query) TO');

-- --------------------------------------------------------------------------
-- Parallel plans: of the inner query only
-- --------------------------------------------------------------------------

SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT set_config(name, 'on', false) IS NOT NULL AS forced FROM pg_settings
	WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset
SELECT costs('SELECT dp_count(*), dp_sum(cost) FROM visits', 2, 'parallel inner plan');
SELECT costs('SELECT dept, dp_count(*), dp_sum(cost) FROM visits GROUP BY dept', 2, '... with groups');
SELECT costs('SELECT dept, dp_count(*), dp_sum(cost) FROM people GROUP BY dept', 2, '... with a privacy unit');
CREATE TABLE large AS SELECT i AS x FROM generate_series(1, 20000) i;
GRANT SELECT ON large TO analyst1;
ANALYZE large;
SELECT holds($$ SELECT count(DISTINCT n) = 1 FROM large LEFT JOIN (SELECT dp_count(*) AS n FROM visits) r ON x > 0 $$,
	1, 'an outer query over a large table');
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION f_liar() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN (SELECT dp_count(*) FROM visits); END';
RESET SESSION AUTHORIZATION;
SELECT fails('SELECT f_liar() FROM large', 'ZC002', 0, 'a function that is wrongly marked PARALLEL SAFE is refused in a worker');
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
SELECT set_config(name, 'off', false) IS NOT NULL AS forced FROM pg_settings
	WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset

-- --------------------------------------------------------------------------
-- A privacy unit, and who pays
-- --------------------------------------------------------------------------

SELECT costs('SELECT dept, dp_count(*), dp_count(DISTINCT patient), dp_sum(cost) FROM people GROUP BY dept', 3, 'with a privacy unit');
SELECT costs('SELECT id % 10 AS k, dp_count(*) FROM people GROUP BY 1', 2, 'key selection by units is a release of its own');
SELECT costs('SELECT id % 10 AS k, dp_count(DISTINCT patient) FROM people GROUP BY 1', 2, '... also where the query counts units');
SET dp_cdp.max_groups = 5;
SET dp_cdp.max_rows = 5;
SELECT costs('SELECT id % 10 AS k, dp_count(DISTINCT patient) FROM people GROUP BY 1', 1, '... unless units are limited in groups and rows');
RESET dp_cdp.max_groups;
RESET dp_cdp.max_rows;
SELECT holds('SELECT dp_count(*) IS NOT NULL FROM people WHERE patient < 0', 1, 'no rows: a number, not NULL');
-- an error that only a row could raise would tell whether there is one
ALTER TABLE people ADD COLUMN bits bit(3);
SELECT fails('SELECT bits, dp_count(*) FROM people GROUP BY bits', 'ZC002', 0, 'keys that cannot be hashed');
SELECT fails('SELECT bits, dp_count(*) FROM people WHERE patient < 0 GROUP BY bits', 'ZC002', 0, '... are refused without rows, too');
SELECT ok(run_as_analyst('SET dp_cdp.rho = 0.5; SELECT dp_count(*) FROM visits') = (NULL::text, 500000::bigint), 'dp_cdp.rho sets the price');
RESET dp_cdp.rho;

-- rows without a unit belong to nobody: also where the column could not be NULL when the query was planned
SET SESSION AUTHORIZATION owner1;
-- from 18 on a table inherits this constraint for good, unless it is said
SELECT CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'NO INHERIT' ELSE '' END AS alone \gset
CREATE TABLE named (person int NOT NULL :alone, x int);
INSERT INTO named SELECT i, i FROM generate_series(1, 100) i;
CREATE TABLE loose () INHERITS (named);
ALTER TABLE loose ALTER person DROP NOT NULL;
CREATE TABLE parts (person int NOT NULL, x int) PARTITION BY RANGE (x);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000000);
INSERT INTO parts SELECT i, i FROM generate_series(1, 100) i;
SELECT dp_cdp.protect_table('named', 'clinic', 'person'), dp_cdp.protect_table('parts', 'clinic', 'person') \g /dev/null
INSERT INTO loose SELECT NULL, i FROM generate_series(1, 10000) i;
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.rho = 1;
SET dp_cdp.max_rows = 1;
SET plan_cache_mode = force_generic_plan;
PREPARE counted AS SELECT count(*) BETWEEN 50 AND 150 AS told FROM named;
PREPARE counted_parts AS SELECT count(*) BETWEEN 50 AND 150 AS told FROM parts;
PREPARE through AS SELECT count(*) BETWEEN 50 AND 150 AS told FROM (SELECT person AS who, x FROM parts WHERE x > 0) q JOIN parts p ON p.person = who AND p.x = q.x;
EXECUTE counted \gset child_
EXECUTE counted_parts \gset before_
EXECUTE through \gset joined_
RESET SESSION AUTHORIZATION;
DROP TABLE loose;
ALTER TABLE named ALTER person DROP NOT NULL;
ALTER TABLE parts ALTER person DROP NOT NULL;
INSERT INTO named SELECT NULL, i FROM generate_series(1, 10000) i;
INSERT INTO parts SELECT NULL, i FROM generate_series(1, 10000) i;
SET SESSION AUTHORIZATION analyst1;
EXECUTE counted \gset after_
EXECUTE counted_parts \gset parts_
EXECUTE through \gset through_
RESET dp_cdp.rho;
RESET dp_cdp.max_rows;
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
SELECT unnest(ARRAY[ok(:'child_told', 'NULL in a child that may have it'), ok(:'before_told', 'none in partitions'), ok(:'joined_told', '... nor through a subquery'),
	ok(:'after_told', 'NULL since NOT NULL was dropped'), ok(:'parts_told', '... in partitions'), ok(:'through_told', '... through a subquery')]);

-- two datasets: both are debited, or none
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('other', default_rho => 1e-6);
CREATE TABLE elsewhere (x int);
SELECT dp_cdp.protect_table('elsewhere', 'other', each_row => true);
SELECT dp_cdp.set_budget('other', 'analyst1', rho => 1e-6);
RESET SESSION AUTHORIZATION;
SELECT costs('SELECT dp_count(*) FROM visits UNION ALL SELECT dp_count(*) FROM elsewhere', 2, 'two datasets in one statement');
SELECT fails('SELECT dp_count(*) FROM visits UNION ALL SELECT dp_count(*) FROM elsewhere', 'ZC001', 0, '... one of them exhausted: none is debited');
SELECT fails('SELECT dp_count(*) FROM visits, LATERAL (SELECT dp_count(*) AS n FROM elsewhere) e WHERE visits.id < e.n', 'ZC001', 0, '... also where rows are compared with what is released of the other');

-- settings of the asker that would change a run, make it fail for some rows only, or show how far it is
CREATE FUNCTION is_pinned(int) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
	wanted text[];
BEGIN
	FOREACH wanted SLICE 1 IN ARRAY ARRAY[['synchronize_seqscans', 'off'], ['default_text_search_config', 'pg_catalog.simple'],
		['default_tablespace', ''], ['TimeZone', 'Asia/Tokyo'], ['track_counts', 'off'], ['jit', 'off'], ['search_path', 'pg_catalog, pg_temp']] LOOP
		IF current_setting(wanted[1]) <> wanted[2] THEN
			RAISE EXCEPTION '% is %', wanted[1], current_setting(wanted[1]);
		END IF;
	END LOOP;
	RETURN true;
END $$;
SELECT dp_cdp.allow_function('is_pinned(int)');
SELECT costs('SET LOCAL synchronize_seqscans = on; SET LOCAL jit = on; SET LOCAL TimeZone = ''Asia/Tokyo'';
	SET LOCAL default_text_search_config = ''pg_catalog.german''; SET LOCAL search_path = public;
	SELECT dp_count(*) FROM visits WHERE is_pinned(id)', 1, 'settings are what the run needs');

-- what fails before a row is read costs nothing, and is no failure of the day
SELECT count(*) = 1 AS has_fdw FROM pg_available_extensions WHERE name = 'file_fdw' \gset
\if :has_fdw
CREATE EXTENSION file_fdw;
CREATE SERVER away FOREIGN DATA WRAPPER file_fdw;
CREATE TABLE far (id int, x int) PARTITION BY LIST (x);
CREATE TABLE near PARTITION OF far FOR VALUES IN (1);
CREATE FOREIGN TABLE gone PARTITION OF far FOR VALUES IN (2) SERVER away OPTIONS (filename '/nowhere/to/be/found');
ALTER TABLE far OWNER TO owner1;
ALTER TABLE near OWNER TO owner1;
ALTER FOREIGN TABLE gone OWNER TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.protect_table('far', 'clinic', each_row => true);
RESET SESSION AUTHORIZATION;
SELECT fails('SELECT dp_count(*) FROM far', 'ZC002', 0, 'a scan that cannot be started costs nothing');
SELECT fails('SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_count(*) FROM far)', 'ZC002', 0, '... nor does what else the statement asks');
SELECT is(sum(failures), 0::bigint, '... and is no failure of the day') FROM dp_cdp_internal.budget;
SELECT costs('SELECT dp_count(*) FROM far WHERE x = 1', 1, 'what does not need it is answered');
\else
SELECT skip('file_fdw is not installed', 4);
\endif

-- a statement of two releases that fetches one: what was started is ended with it
SELECT costs('SELECT n FROM (SELECT dp_count(*) AS n FROM visits UNION ALL SELECT dp_count(*) FROM people) q LIMIT 1', 2, 'a release that nobody reads');

-- what overflows when it is multiplied
SELECT fails(format('SET LOCAL dp_cdp.rho = 288230.3761517118; SELECT %s FROM visits', string_agg(format('dp_sum(id, 0, %s)', i), ',')),
	'ZC004', 0, 'a price beyond what can be accounted for') FROM generate_series(1, 64) i;

-- the worker counts refusals that are alike when it finds time
DO $$
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXIT WHEN (SELECT sum(repeats) FROM dp_cdp.releases WHERE kind = 'refused') >= 3;
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;
SELECT is(sum(repeats)::int, 3, 'every grant is in the audit, and what was refused')
	FROM dp_cdp.releases WHERE kind = 'refused';
SELECT is((SELECT sum(rho) FROM dp_cdp.releases WHERE role = 'analyst1'::regrole AND granted),
	(SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole), 'the audit adds up to the balance');

SELECT * FROM finish();
