-- Plans, their costs and what is printed of them.

--# EXPLAIN shows prices, not data
--@ absent: Seq Scan|Index|visit_patient|rows=4\d{3}|Rows Removed|Heap Fetches
--@ attack
EXPLAIN SELECT ward, dp_count(*) FROM visit WHERE patient = 42 GROUP BY ward;
--> ok
EXPLAIN (VERBOSE, SETTINGS, FORMAT json) SELECT dp_sum(cost) FROM visit WHERE age = 97;
--> ok
EXPLAIN (FORMAT xml) SELECT dp_count(*) FROM visit v JOIN patient p USING (patient) WHERE name = 'x';
--> ok | ZC002
EXPLAIN SELECT dp_count(*) FROM visit v JOIN ward USING (ward) WHERE floor = 1;
--> ok | ZC002
EXPLAIN DECLARE c CURSOR FOR SELECT dp_count(*) FROM visit;
--> ok
EXPLAIN CREATE TABLE ana.z AS SELECT dp_count(*) FROM visit;
--> ok
PREPARE p (int) AS SELECT dp_count(*) FROM visit WHERE age > $1;
EXPLAIN EXECUTE p (97);
--> ok
EXPLAIN SELECT * FROM visit;
--> ZC002
EXPLAIN SELECT count(*) FROM visit JOIN ward USING (ward);
--> ok | ZC002
EXPLAIN SELECT * FROM ward WHERE ward NOT IN (SELECT ward FROM visit WHERE ward.floor = 1 AND age = 97);
--> ZC002
EXPLAIN SELECT * FROM visit WHERE false;
--> ok
EXPLAIN DELETE FROM visit WHERE age = 97;
--> ZC002
EXPLAIN INSERT INTO ward SELECT ward, age FROM visit;
--> ZC002
EXPLAIN (GENERIC_PLAN) SELECT cost FROM visit WHERE age = $1;
--> 42601 | 42P02 | ZC002

--# EXPLAIN ANALYZE
--@ absent: actual|Removed
--@ attack
EXPLAIN ANALYZE SELECT dp_count(*) FROM visit;
--> ZC002
EXPLAIN (ANALYZE, TIMING off, BUFFERS) SELECT dp_count(*) FROM visit WHERE age = 97;
--> ZC002
PREPARE p AS SELECT dp_count(*) FROM visit;
EXPLAIN ANALYZE EXECUTE p;
--> ZC002
EXPLAIN ANALYZE DECLARE c CURSOR FOR SELECT dp_count(*) FROM visit;
--> ZC002
EXPLAIN ANALYZE CREATE TABLE ana.z AS SELECT dp_count(*) FROM visit;
--> ZC002
EXPLAIN ANALYZE CREATE MATERIALIZED VIEW ana.z AS SELECT dp_count(*) FROM visit;
--> ZC002
CREATE FUNCTION ana.f() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT dp_count(*) FROM visit); END';
EXPLAIN (ANALYZE, BUFFERS) SELECT ana.f();
--> ZC002
EXPLAIN ANALYZE SELECT ana.f() FROM ward;
--> coordinator: 42501; ZC002
EXPLAIN ANALYZE SELECT query_to_xml('SELECT dp_count(*) FROM visit', true, true, '');
--> ZC002
EXPLAIN ANALYZE INSERT INTO ward SELECT 'x', dp_count(*) FROM visit;
--> ZC002 | 42501
DO $$ DECLARE t text; BEGIN EXECUTE 'EXPLAIN ANALYZE SELECT dp_count(*) FROM visit' INTO t; RAISE NOTICE '%', t; END $$;
--> ZC002

--# EXPLAIN ANALYZE around a cursor that was opened before
--@ absent: Removed|visit_patient
--@ attack
BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) FROM visit WHERE patient = 42;
CREATE FUNCTION ana.fetch() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE c refcursor := 'c'; n bigint; BEGIN FETCH c INTO n; RETURN n; END $$;
EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off) SELECT ana.fetch() IS NULL;
--> any 0..1
ROLLBACK;

--# buffers of planning do not depend on rows
--@ absent: ^f$
--@ attack
CREATE FUNCTION ana.buffers(q text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE l text; r text := ''; BEGIN FOR l IN EXECUTE 'EXPLAIN (BUFFERS) ' || q LOOP r := r || CASE WHEN l ~ 'Buffers' THEN l ELSE '' END; END LOOP; RETURN r; END $$;
SELECT ana.buffers('SELECT dp_count(*) FROM visit WHERE patient = 42') IS NULL, ana.buffers('SELECT dp_count(*) FROM visit WHERE patient = -1') IS NULL,
  ana.buffers('SELECT dp_count(*) FROM visit WHERE patient > 1000000') IS NULL, ana.buffers('SELECT dp_count(*) FROM visit WHERE patient > -1') IS NULL \g /dev/null
--> ok
-- what others do to catalogs meanwhile may make one of a pair read them again, so one pair of five has to be equal
SELECT bool_or(ana.buffers('SELECT dp_count(*) FROM visit WHERE patient = 42 AND ' || i || ' > 0') = ana.buffers('SELECT dp_count(*) FROM visit WHERE patient = -1 AND ' || i || ' > 0')) FROM generate_series(1, 5) i;
--> standby: any; ok
SELECT bool_or(ana.buffers('SELECT dp_count(*) FROM visit WHERE patient > 1000000 AND ' || i || ' > 0') = ana.buffers('SELECT dp_count(*) FROM visit WHERE patient > -1 AND ' || i || ' > 0')) FROM generate_series(1, 5) i;
--> standby: any; ok

--# estimates and the choice of plans do not depend on rows
--@ absent: ^f$
--@ attack
CREATE FUNCTION ana.plan(q text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE l text; r text := ''; BEGIN FOR l IN EXECUTE 'EXPLAIN ' || q LOOP r := r || CASE WHEN l ~ 'Budget' THEN '' ELSE l END; END LOOP; RETURN r; END $$;
SELECT ana.plan('SELECT ward, dp_count(*) FROM visit WHERE age = 97 GROUP BY ward') = ana.plan('SELECT ward, dp_count(*) FROM visit WHERE age = 20 GROUP BY ward');
--> standby: any; ok
SELECT ana.plan('SELECT w.floor, n FROM ward w JOIN (SELECT ward, dp_count(*) AS n FROM visit WHERE age = 97 GROUP BY ward) s USING (ward)') = ana.plan('SELECT w.floor, n FROM ward w JOIN (SELECT ward, dp_count(*) AS n FROM visit WHERE age > 1 GROUP BY ward) s USING (ward)');
--> standby: any; ok
SELECT ana.plan('SELECT id + 0, dp_count(*) AS n FROM visit GROUP BY id + 0') = replace(ana.plan('SELECT age + 0, dp_count(*) AS n FROM visit GROUP BY age + 0'), 'age', 'id');
--> standby: any; ok
PREPARE p (int) AS SELECT dp_count(*) IS NOT NULL FROM visit WHERE patient = $1;
EXECUTE p (1); EXECUTE p (1); EXECUTE p (1); EXECUTE p (1); EXECUTE p (1); EXECUTE p (1); EXECUTE p (1);
--> ok 7
SELECT count(*) = 1 FROM pg_prepared_statements WHERE name = 'p';
--> standby: any; ok

--# the order of groups is not the order of rows
--@ absent: ^f$
--@ attack
SET dp_cdp.rho = 50;
SELECT array_agg(ward) = array_agg(ward ORDER BY ward COLLATE "C") FROM (SELECT ward, dp_count(*) FROM visit WHERE age <> 97 GROUP BY ward) s;
--> ok 5000
SELECT array_agg(age) = array_agg(age ORDER BY age) FROM (SELECT age, dp_count(*) AS n FROM visit GROUP BY age) s WHERE n IS NOT NULL;
--> ok 10000
SELECT array_agg(y) = array_agg(y ORDER BY y) FROM (SELECT y, dp_count(DISTINCT patient) AS n FROM part GROUP BY y) s WHERE n IS NOT NULL;
--> ok 5000

--# the spelling of a key is not that of a row
--@ only: noselect
--@ absent: 1\.00|-0
--@ setup
SET ROLE boss; CREATE TABLE spelled (patient int, v numeric, f float8, c char(5)); INSERT INTO spelled SELECT i, CASE i WHEN 1 THEN 1.00 ELSE 1.0 END, CASE i WHEN 1 THEN -0.0 ELSE 0.0 END, 'a' FROM generate_series(1, 300) i; SELECT dp_cdp.protect_table('spelled', 'clinic', 'patient');
--@ attack
SET dp_cdp.rho = 50;
SELECT v, dp_count(*) IS NULL FROM spelled GROUP BY v;
--> ok 10000
SELECT f::text, 'minus ' || f, dp_count(*) IS NULL FROM spelled GROUP BY f;
--> ok 10000
SELECT 'minus ' || (f::text = '-0'), dp_count(*) IS NULL FROM spelled GROUP BY f;
--> ok 10000
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('spelled'); DROP TABLE spelled;

--# auto_explain on the server shows the analyst nothing
--@ only: noselect
--@ setup
ALTER DATABASE noselect SET session_preload_libraries = 'auto_explain'; ALTER DATABASE noselect SET auto_explain.log_min_duration = 0; ALTER DATABASE noselect SET auto_explain.log_analyze = on; ALTER DATABASE noselect SET auto_explain.log_buffers = on; ALTER DATABASE noselect SET auto_explain.log_nested_statements = on;
--@ absent: Seq Scan on visit|Index.*visit|Removed by
--@ attack
SET client_min_messages = log;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ok 1
SELECT ward, dp_count(*) IS NULL FROM visit GROUP BY ward;
--> ok 2
-- of two releases that are paid together the second is started and never run
(SELECT dp_count(*) IS NULL FROM visit) UNION ALL (SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42) LIMIT 1;
--> ok 2
--@ verify
ALTER DATABASE noselect RESET session_preload_libraries; ALTER DATABASE noselect RESET auto_explain.log_min_duration; ALTER DATABASE noselect RESET auto_explain.log_analyze; ALTER DATABASE noselect RESET auto_explain.log_buffers; ALTER DATABASE noselect RESET auto_explain.log_nested_statements;
