-- Every draw of noise is paid for, once: re-execution, rescans, cursors, rules,
-- copies of a subquery, and what is never fetched.

--# averaging needs a payment for each draw
--@ attack
DO $$ DECLARE c bigint; BEGIN FOR i IN 1..20 LOOP SELECT dp_count(*) INTO c FROM visit WHERE patient = 42; END LOOP; END $$;
--> ok 20
DO $$ BEGIN FOR i IN 1..7 LOOP EXECUTE 'SELECT dp_count(*) FROM visit WHERE patient = $1' USING i; END LOOP; END $$;
--> ok 7
DO $$ DECLARE c bigint; BEGIN FOR i IN 1..7 LOOP EXECUTE 'SELECT dp_count(*) FROM visit WHERE patient = $1' INTO c USING i; END LOOP; END $$;
--> ok 7
PREPARE p (int) AS SELECT dp_count(*) IS NULL FROM visit WHERE patient = $1;
EXECUTE p (1); EXECUTE p (1); EXECUTE p (1); EXECUTE p (1); EXECUTE p (1); EXECUTE p (1);
--> ok 6
CREATE FUNCTION ana.f() RETURNS bigint LANGUAGE sql AS 'SELECT dp_count(*) FROM visit';
SELECT ana.f() + ana.f() + ana.f() IS NULL;
--> ok 3
SELECT count(ana.f()) FROM generate_series(1, 5);
--> ok 5
CREATE FUNCTION ana.g() RETURNS SETOF bigint LANGUAGE sql STABLE AS 'SELECT dp_count(*) FROM visit';
SELECT g IS NULL FROM ana.g() g;
--> ok 1 | ZC002
CREATE FUNCTION ana.h() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT dp_count(*) FROM visit';
SELECT ana.h() IS NULL;
--> ok 1..2

--# one draw, however often it is read
--@ absent: ^f
--@ attack
SELECT s.c = s.c AND s.c - s.c = 0 FROM (SELECT (SELECT dp_count(*) FROM visit) AS c) s;
--> ok 1
SELECT count(DISTINCT c) = 1 FROM (SELECT g, (SELECT dp_count(*) FROM visit) AS c FROM generate_series(1, 50) g) s;
--> ok 1
SELECT count(DISTINCT c) = 1 FROM generate_series(1, 50) g, LATERAL (SELECT dp_count(*) AS c FROM visit OFFSET 0 * g) s;
--> ok 1 | ZC002
SELECT count(DISTINCT c) = 1 FROM generate_series(1, 50) g LEFT JOIN (SELECT dp_count(*) AS c FROM visit) s ON true;
--> ok 1
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
SELECT count(DISTINCT c) <= 1 FROM generate_series(1, 50) g LEFT JOIN (SELECT dp_count(*) AS c FROM visit) s ON s.c > g;
--> ok 1
SELECT count(DISTINCT n) = 1 FROM ward w JOIN (SELECT age > 50 AS o, dp_count(*) AS n FROM visit GROUP BY 1) s ON s.o;
--> ok 1
SELECT dp_count(*) = dp_count(*) FROM visit;
--> ok 1
SELECT bool_and(a = b) FROM (SELECT dp_count(*) AS a, count(*) FILTER (WHERE true) AS b, dp_count(*) FROM visit) s WHERE false;
--> standby: any; ok 0..2
WITH q AS (SELECT dp_count(*) AS n FROM visit) SELECT (SELECT n FROM q) = (SELECT n FROM q);
--> ok 1
SELECT dp_count(*) IS NOT NULL, generate_series(1, 10) FROM visit;
--> ok 1

--# correlated subqueries are one release, in the groups of which people count as in those of a join
--@ attack
SELECT g, (SELECT dp_count(*) FROM visit WHERE age > g) FROM generate_series(1, 50) g;
--> ok 1
SELECT c FROM generate_series(1, 50) g, LATERAL (SELECT dp_count(*) AS c FROM visit WHERE age > g) s;
--> ok 1
SELECT 1 / ((SELECT sensitivity FROM dp_cdp.preview('SELECT g, (SELECT dp_count(*) FROM visit WHERE age > g) FROM generate_series(1, 50) g') WHERE item = 'aggregate')
	= (SELECT sensitivity FROM dp_cdp.preview('SELECT g, dp_count(*) FROM generate_series(1, 50) g JOIN visit ON age > g GROUP BY g') WHERE item = 'aggregate'))::int;
--> ok
SELECT c FROM generate_series(1, 5) g, LATERAL (SELECT dp_sum(age, 0, g) AS c FROM visit) s;
--> ZC002
SELECT (SELECT dp_count(*) FILTER (WHERE age > floor) FROM visit) FROM ward;
--> ZC002
SELECT (SELECT dp_count(*) FROM visit GROUP BY age > w.floor) FROM ward w;
--> ZC002
SELECT (SELECT n IS NULL FROM (SELECT dp_count(*) AS n FROM visit) s WHERE n > w.floor) FROM ward w;
--> ok 1

--# rules, triggers, writable queries
--@ attack
CREATE TABLE ana.a (x bigint); CREATE TABLE ana.b (x bigint);
CREATE RULE r AS ON INSERT TO ana.a DO ALSO INSERT INTO ana.b VALUES (NEW.x);
INSERT INTO ana.a SELECT dp_count(*) FROM visit;
--> ok 2
UPDATE ana.a SET x = (SELECT dp_count(*) FROM visit);
--> ok 1
INSERT INTO ana.a SELECT dp_count(*) FROM visit RETURNING x IS NULL;
--> ok 2 | 0A000
DELETE FROM ana.a WHERE x < (SELECT dp_count(*) FROM visit);
--> ok 1
CREATE TABLE ana.c AS SELECT dp_count(*) FROM visit;
--> ok 1
CREATE MATERIALIZED VIEW ana.m AS SELECT dp_count(*) FROM visit;
--> ok 1
REFRESH MATERIALIZED VIEW ana.m;
--> ok 1
EXPLAIN INSERT INTO ana.b SELECT dp_count(*) FROM visit;
--> ok
CREATE VIEW ana.v AS SELECT dp_count(*) AS n FROM visit;
SELECT a.n IS NULL OR b.n IS NULL FROM ana.v a, ana.v b;
--> ok 2
SELECT a.n IS NULL FROM ana.v a, ana.v b;
--> ok 1
MERGE INTO ana.b USING (SELECT dp_count(*) AS n FROM visit) s ON x = n WHEN NOT MATCHED THEN INSERT VALUES (n);
--> ok 1
WITH i AS (INSERT INTO ana.b SELECT dp_count(*) FROM visit RETURNING x) SELECT count(*) FROM i;
--> ok 1
CREATE TABLE ana.d (x bigint DEFAULT ana.nothing());
--> 42883
CREATE FUNCTION ana.n() RETURNS bigint LANGUAGE sql AS 'SELECT dp_count(*) FROM visit';
CREATE TABLE ana.e (x bigint DEFAULT ana.n(), y int);
INSERT INTO ana.e (y) VALUES (1), (2), (3);
--> ok 3

--# cursors
--@ attack
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT age > 50 AS o, dp_count(*) IS NULL FROM visit GROUP BY 1 ORDER BY 1;
--> ok
MOVE 0 FROM c;
--> ok
FETCH 1 FROM c;
--> ok 1
FETCH ALL FROM c; FETCH BACKWARD ALL FROM c; MOVE ABSOLUTE 0 FROM c; FETCH ALL FROM c;
--> ok
COMMIT;
BEGIN; DECLARE h CURSOR WITH HOLD FOR SELECT dp_count(*) IS NULL FROM visit; COMMIT;
--> worker: any; ok 1
FETCH ALL FROM h; CLOSE h;
--> ok
BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) FROM visit; CLOSE c; COMMIT;
--> ok
BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) IS NULL FROM visit; SAVEPOINT s; FETCH c; ROLLBACK TO s;
--> standby: any; ok 1
COMMIT;
BEGIN; DECLARE c CURSOR FOR SELECT setseed(2 + dp_count(*) * 0) FROM visit; SAVEPOINT s;
FETCH c;
--> 22023 1
ROLLBACK TO s;
FETCH c;
--> 55000 | 22023 | 34000
COMMIT;

--# what is not fetched is free, what is fetched costs the whole
--@ attack
SELECT dp_count(*) FROM visit LIMIT 0;
--> ok
SELECT dp_count(*) FROM visit OFFSET 1;
--> ok 1
SELECT ward, dp_count(*) IS NULL FROM visit GROUP BY ward LIMIT 1;
--> ok 2
SELECT 1 WHERE false AND (SELECT dp_count(*) FROM visit) > 0;
--> ok
SELECT CASE WHEN false THEN (SELECT dp_count(*) FROM visit) END;
--> standby: any; ok 0..1
SELECT EXISTS (SELECT dp_count(*) FROM visit);
--> standby: any; ok 0..1
SELECT count(*) FROM (SELECT dp_count(*) FROM visit) s;
--> ok
SELECT dp_count(*) IS NULL FROM visit UNION ALL SELECT dp_count(*) IS NULL FROM patient LIMIT 1;
--> ok 2
EXPLAIN (VERBOSE, COSTS) SELECT dp_count(*) FROM visit;
--> ok
SELECT * FROM visit WHERE false;
--> ok
SELECT count(*) FROM visit WHERE false AND age > 3;
--> ok 1

--# distinct aggregates are distinct releases
--@ attack
SELECT dp_count(*) IS NULL, dp_count(*) FILTER (WHERE age > 50) IS NULL, dp_count(age) IS NULL, dp_sum(age, 0, 100) IS NULL, dp_sum(age, 0, 101) IS NULL, count(*) IS NULL FROM visit;
--> ok 6
SELECT dp_count(*) IS NULL FROM visit HAVING dp_sum(age) > 0 ORDER BY dp_count(cost);
--> ok 3
SELECT sum(dp_count(*)) OVER () IS NULL FROM visit GROUP BY age > 50;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit GROUP BY ward, age > 5, cost;
--> ok 2
SELECT rank() OVER (ORDER BY dp_count(*)) FROM visit GROUP BY age > 5 LIMIT 1;
--> ok 1

--# window functions over rows
--@ attack
SELECT patient, dp_count(*) OVER (ORDER BY id) FROM visit;
--> ZC002
SELECT dp_sum(cost, 0, 100) OVER (ROWS CURRENT ROW) FROM visit;
--> ZC002
SELECT count(*) OVER () FROM visit;
--> ZC002
SELECT dp_sum(cost, 0, 100) OVER w FROM visit WINDOW w AS (PARTITION BY patient);
--> ZC002

--# plans that would run it twice
--@ attack
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
SELECT count(*) FROM ward WHERE floor < (SELECT dp_count(*) FROM visit);
--> ok 1
CREATE FUNCTION ana.safe() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT dp_count(*) FROM public.visit';
SELECT ana.safe() IS NULL FROM ward LIMIT 1;
--> ok 1..4 | ZC002
RESET ALL;
SET geqo_threshold = 2; SET jit = on; SET jit_above_cost = 0; SET from_collapse_limit = 1; SET enable_hashagg = off; SET enable_sort = off; SET work_mem = '64kB';
SELECT age, dp_count(*) IS NULL FROM visit GROUP BY age LIMIT 1;
--> ok 2

--# what is asked for too much is refused whole
--@ attack poor
SELECT dp_count(*), dp_sum(age) FROM visit;
--> ZC001
SELECT dp_count(*) IS NULL FROM visit UNION ALL SELECT dp_count(*) IS NULL FROM patient;
--> ZC001
SELECT ward, dp_count(*) FROM visit GROUP BY ward;
--> ZC001

--# several databases, several roles
--@ setup
GRANT bob TO ana;
--@ attack
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1 bob:1
SET ROLE bob;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1 bob:1
SELECT cost FROM visit;
--> ZC002
RESET ROLE;
BEGIN; SET LOCAL ROLE bob; DECLARE c CURSOR FOR SELECT dp_count(*) IS NULL FROM visit; RESET ROLE; FETCH c;
--> ok 1 bob:1
COMMIT;
--@ teardown
REVOKE bob FROM ana;

--# the price
--@ attack
SET dp_cdp.rho = '-1';
--> ZC004
SET dp_cdp.rho = 'NaN';
--> 22023 | ZC004
SET dp_cdp.rho = '0';
--> ZC004
SET dp_cdp.rho = '1e-300';
--> ZC004
SET dp_cdp.rho = '1e308';
--> ZC004
SET dp_cdp.delta = '-1';
--> ZC004
SET dp_cdp.delta = '0.9';
--> ZC004
SET dp_cdp.rho = 1e-12;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0.0..0.001 | ZC004
SET dp_cdp.rho = 1e6;
SELECT dp_count(*) FROM visit;
--> ZC001
CREATE FUNCTION ana.dear() RETURNS bigint LANGUAGE sql SET dp_cdp.rho = 0.05 AS 'SELECT dp_count(*) FROM visit';
RESET dp_cdp.rho;
SELECT ana.dear() IS NULL;
--> ok 5
