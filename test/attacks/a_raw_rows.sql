-- Rows of protected tables through every construct that reads a table.

--# shards by name, at the server that has them
--@ only: worker
--@ absent: create_dataset|no shard|heart|bone|name\d|\d{5}\.\d|actual.*rows=[1-9]
--@ attack
SELECT dp_count(*) FROM visit;
--> ZC003
SET citus.override_table_visibility = off;
SELECT 'no shard' WHERE NOT EXISTS (SELECT FROM pg_class WHERE relname ~ '^visit_\d+$');
--> any
SELECT format('SELECT * FROM %s', oid::regclass) FROM pg_class WHERE relname ~ '^visit_\d+$' \gexec
--> any
SELECT format('COPY %s TO STDOUT', oid::regclass) FROM pg_class WHERE relname ~ '^patient_\d+$' \gexec
--> any
SELECT format('SELECT age, cost FROM %s FOR UPDATE', oid::regclass) FROM pg_class WHERE relname ~ '^visit_\d+$' \gexec
--> 42501
SELECT format('SELECT dp_count(*) FROM %s', oid::regclass) FROM pg_class WHERE relname ~ '^(visit|single)_\d+$' \gexec
--> ZC002
SELECT format('SELECT w FROM %s', oid::regclass) FROM pg_class WHERE relname ~ '^single_\d+$' \gexec
--> 42501
SELECT format('EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM %s', oid::regclass) FROM pg_class WHERE relname ~ '^visit_\d+$' \gexec
--> any

--# plain reads
--@ attack
SELECT * FROM visit;
--> ZC002
TABLE patient;
--> ZC002
SELECT FROM visit WHERE patient = 42;
--> ZC002
SELECT 1 FROM visit LIMIT 1;
--> ok 1
SELECT v FROM visit v WHERE age = 97;
--> ZC002
SELECT (v).cost FROM visit v WHERE age = 97;
--> ZC002
SELECT row_to_json(v), v::text, hash_record(v) FROM visit v WHERE age = 97;
--> ZC002
SELECT ctid, xmin, xmax, cmin, tableoid FROM visit WHERE age = 97;
--> ZC002
SELECT * FROM ONLY parent;
--> ZC002
SELECT w FROM kid;
--> ZC002
SELECT w FROM part_1 WHERE patient = 42;
--> ZC002
SELECT cost FROM visit WHERE age = 97 FOR UPDATE;
--> ZC002
SELECT cost FROM visit WHERE age = 97 FOR KEY SHARE SKIP LOCKED;
--> ZC002
SELECT cost FROM visit TABLESAMPLE BERNOULLI (100) WHERE age = 97;
--> ZC002
SELECT cost FROM visit TABLESAMPLE system_rows (10000) WHERE age = 97;
--> ZC002

--# expressions that hold subqueries
--@ attack
SELECT (SELECT cost FROM visit WHERE age = 97 LIMIT 1);
--> ZC002
SELECT EXISTS (SELECT FROM visit WHERE age = 97) IS NULL, NOT EXISTS (SELECT FROM visit WHERE age = 98) IS NULL;
--> standby: any; ok 2
SELECT 42 IN (SELECT patient FROM visit WHERE age = 97), 97 > ALL (SELECT age FROM visit WHERE patient < 42);
--> ZC002
SELECT ARRAY(SELECT cost FROM visit WHERE age = 97);
--> ZC002
SELECT (1, 97) = (SELECT 1, bit_or(age) FROM visit);
--> ZC002
VALUES ((SELECT cost FROM visit WHERE age = 97 LIMIT 1)), (0);
--> ZC002
SELECT floor FROM ward ORDER BY (SELECT cost FROM visit WHERE age = 97 LIMIT 1);
--> ZC002
SELECT floor FROM ward LIMIT (SELECT count(*) FILTER (WHERE false) + bit_or(age) - 96 FROM visit);
--> ZC002
SELECT floor FROM ward GROUP BY floor HAVING floor < (SELECT age FROM visit WHERE age = 97 LIMIT 1);
--> ZC002
SELECT sum(floor) OVER (ORDER BY floor ROWS (SELECT age - 96 FROM visit WHERE age = 97 LIMIT 1) PRECEDING) FROM ward;
--> ZC002
SELECT sum(floor) FILTER (WHERE floor < (SELECT age FROM visit WHERE age = 97 LIMIT 1)) FROM ward;
--> ZC002
SELECT * FROM ward TABLESAMPLE BERNOULLI ((SELECT age FROM visit WHERE age = 97 LIMIT 1));
--> ZC002
SELECT g FROM generate_series(1, (SELECT age FROM visit WHERE age = 97 LIMIT 1)) g;
--> ZC002
SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY(SELECT cost FROM visit WHERE age = 97))) r;
--> ZC002
SELECT CASE WHEN floor = 1 THEN (SELECT cost FROM visit WHERE age = 97 LIMIT 1) END FROM ward;
--> ZC002
SELECT coalesce(NULL, (SELECT name FROM patient p WHERE p.patient = w.floor + 41)) FROM ward w;
--> ZC002
SELECT x.* FROM xmltable('/a/b' PASSING (SELECT '<a><b/></a>'::xml FROM visit LIMIT 1) COLUMNS b text) x;
--> ok 1
SELECT dp_count(*) FROM ward WHERE floor < (SELECT max(age) FROM visit);
--> ZC002
SELECT 'zebra' = (SELECT max(ward) FROM visit), 97 = ANY ((SELECT array_agg(age) FROM visit)::int[]);
--> ZC002

--# private answers where an exact one would show
--@ attack
SELECT (1, 97) = (SELECT 1, max(age) FROM visit);
--> ok 1
SELECT count(*) FROM ward WHERE floor < (SELECT max(age) FROM visit);
--> ok 1
SELECT floor FROM ward LIMIT (SELECT greatest(count(*) FILTER (WHERE false), 0) * 0 + 1 FROM visit);
--> ok 1
SELECT floor FROM ward LIMIT (SELECT -1 - greatest(count(*) FILTER (WHERE false), 0) FROM visit);
--> ok 1
SELECT 42 = ANY (SELECT min(patient) FROM visit);
--> ok 1.1
SELECT 42 = ANY (SELECT dp_min(patient, 0, 500) FROM visit);
--> ok 1
SELECT max(cost), min(age), avg(cost), stddev(age), variance(age), count(*) FROM visit;
--> ok 6
SELECT max(cost) FROM visit GROUP BY ward HAVING max(cost) > 87654 ORDER BY max(cost) LIMIT 1;
--> ok 2
SELECT ward, dp_count(*) FROM visit GROUP BY ward ORDER BY max(cost);
--> ok 3
SELECT percentile_cont(1.0) WITHIN GROUP (ORDER BY cost), percentile_cont(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY age) FROM visit WHERE age = 97;
--> ok 2
SELECT corr(age, cost), covar_pop(age, cost), covar_samp(age, cost), regr_slope(age, cost), regr_intercept(age, cost) FROM visit WHERE patient = 42;
--> ok 5
SELECT max(cost), max(cost) FILTER (WHERE true), max(DISTINCT cost), dp_max(cost) FROM visit;
--> ok 2..4

--# nesting
--@ attack
WITH x AS (SELECT * FROM visit) SELECT cost FROM x WHERE age = 97;
--> ZC002
WITH x AS MATERIALIZED (SELECT * FROM visit) SELECT 1 FROM x LIMIT 1;
--> ok 1
WITH RECURSIVE r AS (SELECT 1 AS n, NULL::numeric AS c UNION ALL SELECT n + 1, (SELECT cost FROM visit WHERE age = 97 LIMIT 1) FROM r WHERE n < 2)
SELECT * FROM r;
--> ZC002
WITH RECURSIVE r AS (SELECT patient FROM visit WHERE age = 97 UNION SELECT patient FROM r) SELECT * FROM r;
--> ZC002
SELECT cost FROM visit WHERE age = 97 UNION SELECT 0;
--> ZC002
SELECT 87654 EXCEPT ALL SELECT cost::int FROM visit;
--> ZC002
SELECT patient FROM visit INTERSECT SELECT 42;
--> ZC002
SELECT DISTINCT ON (ward) ward, cost FROM visit ORDER BY ward, cost DESC;
--> ZC002
SELECT DISTINCT v FROM visit v;
--> ZC002
SELECT ward, first_value(cost) OVER (PARTITION BY ward ORDER BY cost DESC) FROM visit;
--> ZC002
SELECT w.floor, l.cost FROM ward w, LATERAL (SELECT cost FROM visit WHERE age = 96 + w.floor) l;
--> ZC002
SELECT * FROM ward w LEFT JOIN visit v ON v.age = 97;
--> ZC002
SELECT * FROM ward NATURAL FULL JOIN visit;
--> ZC002
SELECT w.* FROM ward w WHERE w.ward IN (SELECT ward FROM visit WHERE age <> 97);
--> ok 2
SELECT s.* FROM (SELECT v.* FROM (SELECT * FROM visit OFFSET 0) v WHERE age = 97) s;
--> ZC002
SELECT unnest(ARRAY[cost, age]) FROM visit WHERE age = 97;
--> ZC002
SELECT generate_series(1, age) FROM visit WHERE age = 97;
--> ZC002

--# exact aggregates
--@ attack
SELECT max(ward), min(name) FROM visit JOIN patient USING (patient);
--> ZC002
SELECT max(ward COLLATE "C"), min(ward::varchar) FROM visit;
--> ZC002
SELECT max(ARRAY[cost]), min(age::oid), max(at::time), min(at - timestamptz '2024-01-01') FROM visit;
--> ZC002
SELECT sum(at - timestamptz '2024-01-01'), avg(at - timestamptz '2024-01-01'), sum(cost::money) FROM visit;
--> ZC002
SELECT array_agg(DISTINCT ward ORDER BY ward DESC), string_agg(ward, ',') FROM visit;
--> ZC002
SELECT json_object_agg(id, cost), jsonb_agg(v), xmlagg(xmlelement(name a, cost)) FROM visit v WHERE age = 97;
--> ZC002
SELECT percentile_disc(1.0) WITHIN GROUP (ORDER BY cost), mode() WITHIN GROUP (ORDER BY ward DESC) FROM visit WHERE age = 97;
--> ZC002
SELECT rank(97) WITHIN GROUP (ORDER BY age) FROM visit;
--> ZC002
SELECT bool_and(age < 97), bit_or(age), every(age < 97) FROM visit;
--> ZC002
SELECT bit_and(age), bit_or(age), bit_xor(age) FROM visit WHERE age = 97;
--> ZC002
SELECT range_agg(int4range(age, age + 1)), array_agg(age) FROM visit WHERE age = 97;
--> ZC002
SELECT regr_count(age, age), corr(age, cost), var_pop(age), count(*) FROM visit;
--> ok 4
SELECT regr_r2(age, cost), regr_sxx(age, cost), regr_sxy(age, cost), regr_syy(age, cost), regr_avgx(age, cost) FROM visit;
--> ok 6
SELECT sum(DISTINCT cost), avg(DISTINCT cost) FROM visit;
--> ok 1
SELECT array_agg(DISTINCT name), string_agg(DISTINCT cost::text, ',') FROM visit JOIN patient USING (patient);
--> ok 2
SELECT ward, array_agg(DISTINCT cost) FROM visit WHERE age = 97 GROUP BY ward;
--> ok 1
SELECT array_agg(DISTINCT ward) FROM visit WHERE age = 97;
--> ok 1
SELECT array_agg(DISTINCT patient), count(*) FROM visit;
--> ZC002
SELECT sum(DISTINCT cost) FILTER (WHERE age = 97) FROM visit;
--> ZC002
SELECT percent_rank(97) WITHIN GROUP (ORDER BY age), cume_dist(97) WITHIN GROUP (ORDER BY age), dense_rank(97) WITHIN GROUP (ORDER BY age) FROM visit;
--> ZC002
SELECT percentile_disc(ARRAY[0, 1]) WITHIN GROUP (ORDER BY cost) FROM visit;
--> ok 1
SELECT percentile_cont(0.0) WITHIN GROUP (ORDER BY cost DESC) FROM visit;
--> ok 1
SELECT percentile_cont(ARRAY[[1.0]]) WITHIN GROUP (ORDER BY at - timestamptz '2024-01-01') FROM visit;
--> ZC002
SELECT dp_count(*), string_agg(cost::text, ',') FROM visit;
--> ZC002
SELECT dp_count(*) FROM visit HAVING max(ward) > 'z';
--> ZC002
SELECT ward, dp_count(*) FROM visit GROUP BY ward ORDER BY max(ward);
--> ZC002
SELECT ward FROM visit GROUP BY ward HAVING bit_or(age) > 96;
--> ZC002
SELECT max(cost), max(ward) FROM visit;
--> ZC002
CREATE FUNCTION ana.last(anyelement, anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE AS 'SELECT $2';
CREATE AGGREGATE ana.last(anyelement) (sfunc = ana.last, stype = anyelement);
CREATE AGGREGATE ana.max(numeric) (sfunc = numeric_larger, stype = numeric, sortop = >);
CREATE AGGREGATE ana.avg(int) (sfunc = int4larger, stype = int);
--> ok
SELECT ana.last(cost), ana.last(ward) FROM visit WHERE age = 97;
--> ZC002
SELECT ana.max(cost) FROM visit;
--> ZC002
SELECT ana.avg(age) FROM visit;
--> ZC002
SET search_path = ana, pg_catalog, public;
SELECT max(cost) FROM visit;
--> ZC002
SELECT dp_count(*), avg(age) FROM visit;
--> ZC002
RESET search_path;
SELECT dp_cdp_internal.exact_sum(age, NULL), dp_cdp_internal.bound_unit(NULL, patient, age) FROM visit;
--> ZC002 | 42501 | 42804

--# statements that read and write
--@ attack
CREATE TEMP TABLE s (x int, y text);
--> ok
INSERT INTO s SELECT patient, cost FROM visit WHERE age = 97 RETURNING y;
--> ZC002
INSERT INTO s VALUES (1, (SELECT cost FROM visit WHERE age = 97 LIMIT 1));
--> ZC002
UPDATE s SET y = v.cost FROM visit v WHERE v.age = 97 RETURNING y;
--> ZC002
DELETE FROM s USING visit v WHERE v.age = 97 RETURNING v.cost;
--> ZC002
MERGE INTO s USING visit v ON v.patient = s.x WHEN NOT MATCHED THEN INSERT VALUES (v.patient, v.cost);
--> ZC002
WITH i AS (INSERT INTO s SELECT patient, cost FROM visit RETURNING y) SELECT * FROM i;
--> ZC002
CREATE TABLE ana.copy AS SELECT * FROM visit;
--> ZC002
SELECT * INTO ana.copy FROM visit;
--> ZC002
CREATE MATERIALIZED VIEW ana.m AS SELECT * FROM visit;
--> ZC002
CREATE MATERIALIZED VIEW ana.m AS SELECT * FROM visit WITH NO DATA;
--> ok
REFRESH MATERIALIZED VIEW ana.m;
--> ZC002
CREATE TABLE ana.shape (LIKE visit INCLUDING ALL);
--> ok | 42501
CREATE TABLE ana.child () INHERITS (visit);
--> 42501
SELECT * FROM s;
--> ok

--# COPY
--@ attack
COPY visit TO STDOUT;
--> ZC002
COPY visit (patient, cost) TO STDOUT WITH (FORMAT binary);
--> ZC002
COPY part_1 TO STDOUT;
--> ZC002
COPY (SELECT * FROM visit WHERE age = 97) TO STDOUT;
--> ZC002
COPY (TABLE patient) TO PROGRAM 'cat';
--> 42501 | ZC002
COPY (DELETE FROM visit RETURNING *) TO STDOUT;
--> ZC002
COPY (SELECT dp_count(*) > 0 FROM visit) TO STDOUT;
--> standby: any; ok 1

--# cursors
--@ attack
BEGIN;
DECLARE c CURSOR FOR SELECT cost FROM visit WHERE age = 97;
--> ZC002
ROLLBACK; BEGIN;
DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT cost FROM visit WHERE age = 97;
--> ZC002
COMMIT;
DO $$ DECLARE c refcursor; r record; BEGIN OPEN c FOR EXECUTE 'SELECT cost FROM visit WHERE age = 97'; FETCH c INTO r; RAISE NOTICE '%', r; END $$;
--> ZC002
DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM visit WHERE age = 97 LOOP RAISE NOTICE '%', r; END LOOP; END $$;
--> ZC002
DO $$ DECLARE r visit%ROWTYPE; BEGIN SELECT * INTO r FROM visit WHERE age = 97 LIMIT 1; RAISE NOTICE '%', r; END $$;
--> ZC002

--# cached plans
--@ attack
SET plan_cache_mode = force_generic_plan;
PREPARE p (int) AS SELECT cost FROM visit WHERE age = $1;
EXECUTE p (97);
--> ZC002
EXECUTE p (97);
--> ZC002
CREATE TABLE ana.e AS EXECUTE p (97);
--> ZC002
EXPLAIN EXECUTE p (97);
--> ZC002

--# functions
--@ attack
CREATE FUNCTION ana.plain() RETURNS SETOF visit LANGUAGE sql STABLE AS 'SELECT * FROM public.visit WHERE age = 97';
--> ok
SELECT cost FROM ana.plain();
--> ZC002
CREATE FUNCTION ana.atomic(int) RETURNS SETOF numeric LANGUAGE sql STABLE BEGIN ATOMIC SELECT cost FROM visit WHERE age = $1; END;
--> ok
SELECT * FROM ana.atomic(97);
--> ZC002
SELECT ana.atomic(97);
--> ZC002
CREATE FUNCTION ana.scalar() RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT (array_agg(cost ORDER BY cost DESC))[1] FROM public.visit';
--> ok
SELECT ana.scalar();
--> ZC002
EXPLAIN SELECT ana.scalar();
--> ZC002
CREATE FUNCTION ana.definer() RETURNS numeric LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS 'BEGIN RETURN (SELECT mode() WITHIN GROUP (ORDER BY cost) FROM visit WHERE age = 97); END';
--> ok
SELECT ana.definer();
--> ZC002
CREATE FUNCTION ana.caught() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT percentile_disc(1.0) WITHIN GROUP (ORDER BY cost) FROM visit); EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END $$;
SELECT ana.caught();
--> ok
CREATE PROCEDURE ana.proc() LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN FOR r IN SELECT cost FROM visit WHERE age = 97 LOOP COMMIT; RAISE NOTICE '%', r; END LOOP; END $$;
CALL ana.proc();
--> ZC002
CREATE FUNCTION ana.private() RETURNS numeric LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public AS 'BEGIN RETURN (SELECT max(cost) FROM visit); END';
SELECT ana.private() IS NULL;
--> ok 1
SELECT count(ana.private()) FROM generate_series(1, 3);
--> ok 3
CREATE FUNCTION ana.folded() RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT max(cost) FROM public.visit';
SELECT ana.folded() IS NULL;
--> ok 1..2
EXPLAIN (VERBOSE, COSTS off) SELECT ana.folded() > 0;
--> ok 1..2
EXPLAIN SELECT ana.private();
--> ok

--# built-in functions that execute SQL
--@ attack
SELECT query_to_xml('SELECT name FROM patient WHERE patient = 42', true, false, '');
--> ZC002
SELECT table_to_xml('visit', true, false, '');
--> ZC002
SELECT schema_to_xml('public', true, false, '');
--> noselect: ok; coordinator: 42501; ZC002
SELECT query_to_xml_and_xmlschema('TABLE patient', true, false, '');
--> ZC002
SELECT * FROM ts_stat('SELECT to_tsvector(''simple'', name) FROM patient WHERE patient = 42');
--> ZC002
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, plainto_tsquery(name) FROM patient WHERE patient = 42');
--> ZC002
SELECT * FROM crosstab('SELECT patient, name, zip FROM patient') AS t (a int, b text);
--> ZC002
SELECT * FROM connectby('patient', 'patient', 'patient', '42', 0) AS t (a int, b int, l int);
--> ZC002
SELECT cursor_to_xml('c', 1, true, false, '');
--> 34000

--# views and rules of the analyst
--@ attack
CREATE VIEW ana.v AS SELECT * FROM visit;
SELECT cost FROM ana.v WHERE age = 97;
--> ZC002
COPY (SELECT * FROM ana.v) TO STDOUT;
--> ZC002
CREATE VIEW ana.b WITH (security_barrier) AS SELECT * FROM ana.v;
SELECT 1 FROM ana.b;
--> ZC002
CREATE VIEW ana.i WITH (security_invoker) AS SELECT * FROM visit;
--> ok | 22023
SELECT 1 FROM ana.i;
--> ZC002 | 42P01
CREATE TABLE ana.r (x int);
CREATE RULE r AS ON DELETE TO ana.r DO ALSO SELECT cost FROM public.visit WHERE age = 97;
DELETE FROM ana.r;
--> ZC002
CREATE RULE i AS ON INSERT TO ana.r DO INSTEAD SELECT name FROM public.patient WHERE patient = 42;
INSERT INTO ana.r VALUES (1);
--> ZC002
CREATE FUNCTION ana.t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', (SELECT name FROM patient WHERE patient = 42); RETURN NEW; END $$;
CREATE TABLE ana.u (x int);
CREATE TRIGGER t BEFORE INSERT ON ana.u FOR EACH ROW EXECUTE FUNCTION ana.t();
INSERT INTO ana.u VALUES (1);
--> ZC002
CREATE TABLE ana.p (x int);
ALTER TABLE ana.p ENABLE ROW LEVEL SECURITY;
ALTER TABLE ana.p FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON ana.p USING ((SELECT age > 0 FROM visit WHERE age = 97 LIMIT 1));
SELECT * FROM ana.p;
--> ZC002
CREATE FUNCTION ana.ck() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT age > 0 FROM visit WHERE age = 97 LIMIT 1); END $$;
CREATE TABLE ana.c (x int DEFAULT 1 CHECK (ana.ck()));
INSERT INTO ana.c VALUES (1);
--> ZC002
CREATE TABLE ana.one AS SELECT 1 AS x;
ALTER TABLE ana.one ADD COLUMN g boolean DEFAULT ana.ck();
--> ZC002
CREATE DOMAIN ana.d AS int CHECK (ana.ck());
SELECT 1::ana.d;
--> ZC002

--# writes to the protected table
--@ attack
INSERT INTO visit (patient) VALUES (42);
--> 42501
UPDATE visit SET cost = 0;
--> ZC002
DELETE FROM visit WHERE age = 97;
--> ZC002
TRUNCATE visit;
--> 42501
LOCK TABLE visit IN SHARE MODE;
--> 25P01 | 42501
MERGE INTO visit v USING ward w ON v.ward = w.ward WHEN MATCHED THEN DELETE;
--> ZC002
--@ attack wri
BEGIN; DELETE FROM visit;
--> ZC002
ROLLBACK; BEGIN; UPDATE visit SET cost = 0 WHERE true;
--> ZC002
ROLLBACK;
INSERT INTO visit (id, patient) VALUES (1, 42) ON CONFLICT DO NOTHING;
--> ZC002
INSERT INTO visit (patient) VALUES (42) RETURNING *;
--> ZC002
WITH d AS (DELETE FROM visit WHERE age = 97) SELECT 1;
--> ZC002
MERGE INTO visit v USING ward w ON v.ward = w.ward WHEN MATCHED THEN DELETE;
--> ZC002

--# roles without a budget
--@ attack nob
SELECT * FROM visit;
--> ZC002
SELECT dp_count(*) FROM visit;
--> ZC001
SELECT count(*) FROM visit;
--> ZC001
COPY visit TO STDOUT;
--> ZC002

--# names that shadow the table
--@ attack
CREATE TEMP TABLE visit (patient int, cost numeric);
SELECT dp_count(*) FROM visit;
--> ZC002
SELECT cost FROM public.visit WHERE age = 97;
--> ZC002
CREATE TABLE ana.visit (patient int);
SET search_path = ana, public;
SELECT dp_count(*) FROM ana.visit;
--> ZC002
DROP TABLE pg_temp.visit;
SELECT count(*) FROM visit;
--> ok
WITH visit AS (SELECT 1 AS patient) SELECT patient FROM visit;
--> ok

--# large and odd queries do not take the server down
--@ shell
python3 -c "print('SELECT dp_count(*) FROM visit WHERE ' + '(' * 3000 + 'age > 1' + ')' * 3000 + ';')" | psql -X -At -U ana | wc -l
python3 -c "print('SELECT dp_count(*) FROM visit WHERE ' + 'NOT ' * 5000 + '(age > 1);')" | psql -X -At -U ana
python3 -c "print('SELECT cost FROM ' + '(SELECT * FROM ' * 400 + 'visit' + ') x' * 400 + ' WHERE age = 97;')" | psql -X -At -U ana
python3 -c "print(' UNION ALL '.join(['SELECT cost FROM visit WHERE age = 97'] * 500))" | psql -X -At -U ana
--> any 0..2
