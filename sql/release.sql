-- What is released, what EXPLAIN shows of it, and what is refused, with its
-- position.  Where answers are shown, rho is so large that noise rounds to 0.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE ROLE regress_dp_stranger;
CREATE SCHEMA release AUTHORIZATION regress_dp_owner;
GRANT CREATE, USAGE ON SCHEMA release TO regress_dp_analyst, regress_dp_stranger;
SET search_path = release, public;
SET client_min_messages = warning;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET SESSION AUTHORIZATION regress_dp_owner;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE wards (ward int PRIMARY KEY, name text);
INSERT INTO wards VALUES (1, 'north'), (2, 'south'), (3, 'empty');
GRANT SELECT ON wards TO PUBLIC;
CREATE TABLE answers (			-- each row is a unit
	id int PRIMARY KEY, dept text, mood mood, urgent boolean, ward int REFERENCES wards, code int,
	s smallint, i int, b bigint, r real, f double precision, n numeric, j jsonb
);
INSERT INTO answers SELECT g, (ARRAY['a', 'b', 'c'])[1 + g % 3], (ARRAY['sad', 'ok']::mood[])[1 + g % 2],
	CASE WHEN g % 5 > 0 THEN g % 2 = 0 END, CASE WHEN g % 4 > 0 THEN 1 + g % 2 END, CASE WHEN g > 3 THEN g % 4 END,
	g % 10, g % 10, g % 10, g % 10, g % 10, g % 10, '{}' FROM generate_series(1, 60) g;
CREATE TABLE visits (			-- a patient has several rows
	id int PRIMARY KEY, patient int, dept text NOT NULL, code int, cost numeric, urgent boolean
);
INSERT INTO visits SELECT g, g % 12, (ARRAY['a', 'b', 'c'])[1 + g % 3], g % 4, g % 10, g % 2 = 0 FROM generate_series(1, 60) g;
INSERT INTO visits VALUES (61, NULL, 'a', 1, 5, true);
CREATE TABLE unprotected (x int);
INSERT INTO unprotected VALUES (1);
GRANT SELECT ON unprotected TO PUBLIC;
SELECT dp_cdp.create_dataset('release', find_bounds => 0, default_rho => 0.5, max_groups => 5, max_rows => 5, delta => 1e-6);
SELECT dp_cdp.protect_table('answers', 'release', each_row => true);
SELECT dp_cdp.protect_table('visits', 'release', unit => 'patient');
SELECT dp_cdp.set_keys('answers', 'dept', ARRAY['b', 'a', 'z', NULL]);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'z']);
SELECT dp_cdp.set_bounds('answers', c, 0, 10) FROM unnest('{s,i,b,r,f,n}'::name[]) c;
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10);
SELECT dp_cdp.set_budget('release', 'regress_dp_analyst', rho => 1000000);
RESET SESSION AUTHORIZATION;

SET SESSION AUTHORIZATION regress_dp_analyst;

-- --------------------------------------------------------------------------
-- EXPLAIN
-- --------------------------------------------------------------------------

EXPLAIN SELECT dp_count(*) FROM answers;
EXPLAIN (COSTS OFF) SELECT dept, dp_count(*), dp_sum(n), dp_sum(i, -5, 20) FILTER (WHERE urgent) FROM answers GROUP BY dept;
EXPLAIN (COSTS OFF) SELECT dept, urgent, mood, ward, dp_count(*) FROM answers GROUP BY 1, 2, 3, 4;
EXPLAIN (COSTS OFF) SELECT code, dp_count(*) FROM answers GROUP BY code;
EXPLAIN (COSTS OFF) SELECT code, dp_sum(n) FROM answers GROUP BY code;
EXPLAIN (COSTS OFF) SELECT dp_count(*), dp_count(DISTINCT patient), dp_sum(cost) FROM visits;
EXPLAIN (COSTS OFF) SELECT dept, dp_count(*), dp_sum(cost, -2, 1) FROM visits GROUP BY dept;
EXPLAIN (COSTS OFF) SELECT code, dp_count(DISTINCT patient) FROM visits GROUP BY code;
EXPLAIN (COSTS OFF) SELECT dept, dp_sum(n) / dp_count(*) AS mean FROM answers GROUP BY dept
	HAVING dp_count(*) > 5 ORDER BY mean DESC LIMIT 3;
EXPLAIN (VERBOSE, COSTS OFF) SELECT dept, 1 + dp_count(*) FROM answers GROUP BY dept;
CREATE FUNCTION explained(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	RETURN jsonb_pretty(jsonb_build_object('Dataset', plan -> 'Dataset', 'Groups', plan -> 'Groups', 'Releases', plan -> 'Releases',
		'Rho', plan -> 'Rho', 'Delta', plan -> 'Delta', 'Threshold', plan -> 'Threshold', 'Budgets', plan -> 'Budgets'));
END $$;
SELECT explained('SELECT code, dp_count(*), dp_sum(n) FROM answers GROUP BY code');
EXPLAIN (COSTS OFF) WITH r AS (SELECT dept, dp_count(*) AS n FROM answers GROUP BY dept) SELECT * FROM r a, r b;
-- the price and the contribution bounds are settings
SET dp_cdp.rho = 2;
SET dp_cdp.max_groups = 2;
SET dp_cdp.max_rows = 3;
EXPLAIN (COSTS OFF) SELECT dept, dp_count(*), dp_sum(cost) FROM visits GROUP BY dept;
RESET dp_cdp.rho;
RESET dp_cdp.max_groups;
RESET dp_cdp.max_rows;
-- parameters
PREPARE bounds (numeric, numeric) AS SELECT dp_sum(n, $1, $2) FROM answers;
EXPLAIN (COSTS OFF) EXECUTE bounds(0, 100);
EXPLAIN (COSTS OFF) EXECUTE bounds(100, 0);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE bounds(0, 100);
RESET plan_cache_mode;
DEALLOCATE bounds;
-- ANALYZE would show counts of rows and blocks
EXPLAIN ANALYZE SELECT dp_count(*) FROM answers;
EXPLAIN (ANALYZE, TIMING OFF) SELECT dept FROM (SELECT dept, dp_count(*) FROM answers GROUP BY dept) s;
EXPLAIN (ANALYZE off, COSTS off) SELECT dp_count(*) FROM answers;
SELECT rho_spent FROM dp_cdp.budgets;

-- --------------------------------------------------------------------------
-- Answers
-- --------------------------------------------------------------------------

SET dp_cdp.rho = 5000;
SET extra_float_digits = 0;

SELECT dp_count(*), dp_count(code), dp_count(*) FILTER (WHERE urgent), dp_count(NULL::int) FROM answers;
SELECT round(dp_sum(s), 0) AS s, dp_sum(i) AS i, dp_sum(b) AS b, round(dp_sum(n)) AS n FROM answers;
SELECT pg_typeof(dp_count(*)) AS c, pg_typeof(dp_sum(s)) AS s, pg_typeof(dp_sum(i)) AS i, pg_typeof(dp_sum(b)) AS b,
	pg_typeof(dp_sum(r)) AS r, pg_typeof(dp_sum(f)) AS f, pg_typeof(dp_sum(n)) AS n FROM answers;
SELECT abs(dp_sum(r) - 270) < 2 AS r, abs(dp_sum(f) - 270) < 2 AS f, abs(dp_sum(n) - 270) < 2 AS n FROM answers;
SELECT dp_sum(i, 2, 4) AS clamped, dp_sum(-i, -4, 0) AS negative, dp_sum(i, -3, 3) AS both FROM answers;
SELECT dp_count(*), dp_sum(i) FROM answers WHERE false;

-- declared keys: all of them, in their order, and no others
SELECT dept, dp_count(*), dp_sum(i) FROM answers GROUP BY dept;
SELECT mood, dp_count(*) FROM answers GROUP BY mood;
SELECT urgent, dp_count(*) FROM answers GROUP BY urgent;
SELECT ward, dp_count(*) FROM answers GROUP BY ward;
SELECT i > 5 AS large, dp_count(*) FROM answers GROUP BY 1;
SELECT dept, mood, dp_count(*) FROM answers GROUP BY dept, mood;
SELECT dept, dp_count(*) FROM answers WHERE false GROUP BY dept;
-- keys that are selected: in order, by the number of units
SELECT code, dp_count(*) FROM answers GROUP BY code;
SELECT code, dp_sum(i) FROM answers GROUP BY code;
SELECT id + 0 AS id, dp_count(*) FROM answers GROUP BY 1;
SELECT code, dept, dp_count(*) FROM answers GROUP BY code, dept;
SELECT code, dp_count(*) FROM answers WHERE false GROUP BY code;
-- units: rows of nobody are left out, contributions are bounded
SELECT dp_count(*), dp_count(DISTINCT patient), round(dp_sum(cost), -1) AS cost FROM visits;
SELECT dept, dp_count(*), dp_count(DISTINCT patient) FROM visits GROUP BY dept;
SELECT code, dp_count(DISTINCT patient) FROM visits GROUP BY code;
SET dp_cdp.max_rows = 2;
SELECT dp_count(*), dp_count(*) FILTER (WHERE urgent) AS urgent, round(dp_sum(cost, 0, 7, 0, 7)) AS cost FROM visits;
RESET dp_cdp.max_rows;
SET dp_cdp.max_groups = 1;
SELECT sum(n) FROM (SELECT id % 5 < 2, dp_count(DISTINCT patient) FROM visits GROUP BY 1) s (k, n);
RESET dp_cdp.max_groups;
-- after the release everything is possible
SELECT dept, dp_count(*) AS n, rank() OVER (ORDER BY dp_count(*) DESC, dept), sum(dp_count(*)) OVER () AS total,
	round(100.0 * dp_count(*) / nullif(sum(dp_count(*)) OVER (), 0)) AS share
	FROM answers GROUP BY dept HAVING dp_count(*) > 5 OR dept IS NULL ORDER BY n DESC, dept LIMIT 3;
SELECT w.name, r.n FROM wards w LEFT JOIN (SELECT ward, dp_count(*) AS n FROM answers GROUP BY ward) r USING (ward) ORDER BY 1;
SELECT count(*), sum(n) FROM (SELECT dept, dp_count(*) FROM answers GROUP BY dept) s (d, n);
SELECT dept AS d, dp_count(*) AS d FROM answers GROUP BY dept UNION ALL SELECT 'all', dp_count(*) FROM answers ORDER BY 1;
SELECT (SELECT name FROM wards w WHERE w.ward = a.ward), dp_count(*) FROM answers a GROUP BY a.ward ORDER BY 1;
SELECT upper(dept) || '!', dp_count(*) FROM answers GROUP BY dept ORDER BY 1;
SELECT upper(dept), dp_count(*) FROM answers GROUP BY upper(dept);
COPY (SELECT dept, dp_count(*) FROM answers GROUP BY dept) TO STDOUT;

-- bounds as parameters
PREPARE b_int (int, int) AS SELECT dp_sum(i, $1, $2) FROM answers;
PREPARE b_numeric (numeric, numeric) AS SELECT dp_sum(i, $1, $2) FROM answers;
PREPARE b_float (float8, float8) AS SELECT dp_sum(i, $1, $2) FROM answers;
PREPARE b_text (text, text) AS SELECT dp_sum(i, $1, $2) FROM answers;
PREPARE b_unknown AS SELECT dp_sum(i, $1, $2), dp_count(*) FILTER (WHERE id <= $3) FROM answers;
EXECUTE b_int(2, 4);
EXECUTE b_numeric(2, 4);
EXECUTE b_float(2, 4);
EXECUTE b_text('2', ' 4.0 ');
EXECUTE b_unknown('2', '4', 10);
SET plan_cache_mode = force_generic_plan;
EXECUTE b_int(2, 4);
EXECUTE b_unknown('2', '4', 10);
RESET plan_cache_mode;
EXECUTE b_int(4, 2);
EXECUTE b_int(2, 2);
EXECUTE b_int(NULL, 2);
EXECUTE b_numeric(2, NULL);
EXECUTE b_numeric('NaN', 2);
EXECUTE b_float(2, 'NaN');
EXECUTE b_float('-Infinity', 2);
EXECUTE b_text('a', 'b');
EXECUTE b_text('', '4');
DEALLOCATE ALL;

-- --------------------------------------------------------------------------
-- Refusals
-- --------------------------------------------------------------------------

-- rows
SELECT * FROM answers;
SELECT * FROM answers LIMIT 10;
SELECT 1 FROM answers;
SELECT FROM answers WHERE id = 1;
TABLE answers;
SELECT * FROM ONLY answers;
SELECT DISTINCT dept FROM answers;
SELECT dept FROM answers GROUP BY dept;
SELECT a FROM answers a;
SELECT EXISTS (SELECT FROM answers WHERE id = 1) IS NULL AS noise;
SELECT x IN (SELECT id FROM answers), ARRAY(SELECT id FROM answers) FROM unprotected;
WITH a AS (SELECT * FROM answers) SELECT count(*) FROM a;
SELECT * FROM unprotected, LATERAL (SELECT id FROM answers WHERE id = x) l;
SELECT id FROM answers UNION SELECT 1;
SELECT id FROM answers FOR UPDATE;
SELECT row_number() OVER () FROM answers;
VALUES ((SELECT max(id) FROM answers));
EXPLAIN SELECT * FROM answers;
EXPLAIN ANALYZE SELECT * FROM answers;
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM answers;
PREPARE p AS SELECT * FROM answers;
EXECUTE p;
DEALLOCATE p;
CREATE TABLE stolen AS SELECT * FROM answers;
COPY answers TO STDOUT;
COPY answers (id, dept) TO STDOUT WITH (FORMAT csv);
COPY (SELECT id FROM answers) TO STDOUT;
DO $$ BEGIN PERFORM id FROM answers; END $$;

-- exact aggregates
SELECT min(id) FROM answers;
SELECT dept, round(avg(n), 1) FROM answers GROUP BY dept;
SELECT dp_count(*), max(i) FROM answers;
SELECT array_agg(id ORDER BY n) FILTER (WHERE dept = 'a') FROM answers;

-- changes
INSERT INTO answers (id) VALUES (1);
INSERT INTO unprotected SELECT id FROM answers;
UPDATE answers SET n = 0;
DELETE FROM answers WHERE id = 1;
UPDATE unprotected SET x = id FROM answers;
DELETE FROM unprotected USING answers WHERE x = id;
WITH d AS (DELETE FROM answers RETURNING id) SELECT * FROM d;

-- the shape of a query
SELECT dp_count(*) FROM answers JOIN wards USING (ward);
SELECT dp_count(*) FROM answers, wards;
SELECT dp_count(*) FROM answers a, answers b;
SELECT dp_count(*) FROM (SELECT * FROM answers) s;
SELECT dp_count(*) FROM (SELECT dept FROM answers GROUP BY dept HAVING dp_count(*) > 0) s;
WITH s AS (SELECT * FROM answers) SELECT dp_count(*) FROM s;
SELECT dept, dp_count(*) FROM answers GROUP BY ROLLUP (dept);
SELECT dept, dp_count(*) FROM answers GROUP BY GROUPING SETS ((dept), ());
SELECT dp_count(*) FROM answers TABLESAMPLE SYSTEM (50);
WITH d AS (DELETE FROM unprotected RETURNING 1) SELECT dp_count(*) FROM answers;
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT dp_count(*) FROM answers;
SELECT dp_count(*) OVER () FROM answers;
SELECT dept, dp_count(*) OVER (PARTITION BY dept) FROM answers;
SELECT dp_count(*) FROM answers GROUP BY dept HAVING max(i) > 3;
SELECT i, dp_count(*) FROM answers GROUP BY id;
SELECT dept, dp_count(*) FROM answers GROUP BY dept ORDER BY sum(i);

-- arguments
SELECT dp_count(a) FROM answers a;
SELECT dp_count(a.*) FROM answers a;
SELECT dp_count(ctid) FROM answers;
SELECT tableoid, dp_count(*) FROM answers GROUP BY tableoid;
SELECT dp_count(*) FROM answers WHERE xmin = '1';
SELECT dp_count(DISTINCT j) FROM answers;
SELECT dp_count(DISTINCT dept) FROM answers;
SELECT dp_count(DISTINCT id) FROM visits;
SELECT dp_count(id ORDER BY id) FROM answers;
SELECT dp_sum(DISTINCT i) FROM answers;
SELECT dp_sum(i + 1) FROM answers;
SELECT dp_sum(id) FROM answers;
SELECT dp_sum(i, 0, n) FROM answers;
SELECT dp_sum(i, 0, random()) FROM answers;
SELECT dp_sum(i, 0, (SELECT 5)) FROM answers;
SELECT dp_sum(i, 0, dp_count(*)) FROM answers;
SELECT dp_sum(i, 5, 5) FROM answers;
SELECT dp_sum(i, 5, 4) FROM answers;
SELECT dp_sum(i, NULL, 4) FROM answers;
SELECT dp_sum(n, 0, 'NaN'::numeric) FROM answers;
SELECT dp_sum(n, 0, 'Infinity'::float8) FROM answers;
-- details and hints differ between versions
\set VERBOSITY terse
SELECT dp_sum(i, 0) FROM answers;
SELECT dp_sum(dept, 0, 1) FROM answers;
\set VERBOSITY default
SELECT dp_sum((SELECT 1), 0, 1) FROM answers;
SELECT dp_count((SELECT dp_count(*) FROM answers)) FROM answers;
SELECT dp_count(*) FILTER (WHERE id IN (SELECT x FROM unprotected)) FROM answers;
SELECT dp_count(*) FROM answers WHERE id IN (SELECT x FROM unprotected);
SELECT (SELECT dp_count(*) FROM answers WHERE id = x) FROM unprotected;
SELECT (SELECT dp_sum(i * x, 0, 10) FROM answers) FROM unprotected;
SELECT (SELECT dp_sum(i, 0, x) FROM answers) FROM unprotected;
SELECT dp_count(*) FROM answers WHERE random() < 0.5;
SELECT dept || random(), dp_count(*) FROM answers GROUP BY 1;
SELECT j, dp_count(*) FROM answers GROUP BY j;

-- where there is nothing private
SELECT dp_count(*) FROM unprotected;
SELECT dp_sum(x, 0, 1) FROM unprotected;
SELECT dp_count(*);
SELECT dp_count(*) FROM unprotected, (SELECT dp_count(*) FROM answers) r;

-- prices
SET dp_cdp.rho = 0.00499;
SELECT dp_sum(n, 0, 1e12) IS NOT NULL AS answered FROM answers;
SET dp_cdp.rho = 0.005;
SELECT dp_sum(n, 0, 1e12) IS NOT NULL AS answered FROM answers;
SET dp_cdp.rho = 1e6;
SELECT dp_count(*), dp_sum(n) FROM answers;
RESET dp_cdp.rho;

-- who is in more groups than count is told so, once
SET client_min_messages = notice;
SET dp_cdp.max_groups = 2;
SELECT count(*) FROM (SELECT dept, dp_count(*) FROM visits GROUP BY dept UNION ALL SELECT dept, dp_count(*) FROM visits WHERE code = 1 GROUP BY dept) q;
SET dp_cdp.rho = 0.02;
SET dp_cdp.max_contribution = auto;
SELECT count(n) FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) q;
RESET dp_cdp.max_contribution;
RESET dp_cdp.rho;
SET dp_cdp.max_groups = 3;
SELECT count(n) FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) q;
SET client_min_messages = warning;
RESET dp_cdp.max_groups;

-- budgets
SET SESSION AUTHORIZATION regress_dp_stranger;
SELECT dp_count(*) FROM answers;
EXPLAIN (COSTS OFF) SELECT dp_count(*) FROM answers;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_dp_owner;
SELECT dp_cdp.set_budget('release', 'regress_dp_stranger', rho => 0.75);
SET SESSION AUTHORIZATION regress_dp_stranger;
SELECT dp_count(*), dp_sum(i) FROM answers;
SELECT dp_count(*) IS NOT NULL AS answered FROM answers;
SELECT dp_count(*) FROM answers;
SELECT aggregates, groups, rho, delta, stddev, granted FROM dp_cdp.releases WHERE role = 'regress_dp_stranger'::regrole AND kind <> 'guard' ORDER BY id;

-- SQLSTATEs
\set VERBOSITY sqlstate
SELECT id FROM answers;							-- ZC002
SELECT dp_count(*) FROM answers;				-- ZC001
SELECT dp_sum(i, 1, 0) FROM answers;			-- ZC004
SELECT dp_sum(id) FROM answers;					-- ZC004
EXPLAIN ANALYZE SELECT dp_count(*) FROM answers;	-- ZC002
\set VERBOSITY default

-- nobody has set a limit: those of all columns are found
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_dp_owner;
SELECT dp_cdp.alter_dataset('release', max_contribution => 'auto');
SET SESSION AUTHORIZATION regress_dp_analyst;
SET client_min_messages = notice;
SELECT count(x) > 0 AS answered, count(n) FROM (SELECT dept, dp_clipped_totals(cost, 0, 10, 0, 20) AS x, dp_count(*) AS n FROM visits GROUP BY dept) q;
SELECT dp_clipped_totals(cost, 0, 10, 0, 20) IS NOT NULL AS answered FROM visits;
-- whether a group is shown is noise
SET client_min_messages = warning;
SELECT count(n) >= 0 AS answered FROM (SELECT code, dp_count(DISTINCT patient) AS n FROM visits GROUP BY code) q;
RESET client_min_messages;
EXPLAIN (COSTS OFF) SELECT dept, dp_clipped_totals(cost, 0, 10, 0, 20) FROM visits GROUP BY dept;
EXPLAIN (COSTS OFF) SELECT code, dp_count(DISTINCT patient) FROM visits GROUP BY code;
SET dp_cdp.max_groups = 3;
SET dp_cdp.max_rows = 5;
SELECT count(x) > 0 AS answered FROM (SELECT dept, dp_clipped_totals(cost, 0, 10) AS x FROM visits GROUP BY dept) q;
RESET dp_cdp.max_groups;
RESET dp_cdp.max_rows;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP SCHEMA release CASCADE;
SELECT dp_cdp.drop_budget('release', r::regrole) FROM unnest('{regress_dp_analyst,regress_dp_stranger}'::name[]) r;
SELECT dp_cdp.drop_dataset('release', erase_spent => true);
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_analyst, regress_dp_stranger;
