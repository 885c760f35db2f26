-- Plans for those who cannot pay, and who is an analyst: planning an inner
-- query uses the owner's rights and statistics of protected rows.

--# EXPLAIN, preview and prepared statements of a role without a budget
--@ only: noselect hardened
--@ absent: DpRelease|stddev
--@ attack nob
EXPLAIN SELECT dp_count(*) FROM visit;
--> ZC001
EXPLAIN (COSTS OFF, VERBOSE) SELECT ward, dp_sum(cost) FROM visit WHERE ward = 'heart' GROUP BY ward;
--> ZC001
EXPLAIN SELECT dp_count(*) FROM visit WHERE CASE WHEN ward = 'zebra' THEN repeat('a', 60001) END LIKE repeat('%a', 5000) || '%b';
--> ZC001 | ZC002
SELECT * FROM dp_cdp.preview('SELECT dp_count(*) FROM visit');
--> ZC001
SELECT * FROM dp_cdp_internal.preview_columns('SELECT count(*) FROM (SELECT patient FROM visit GROUP BY patient HAVING sum(cost) > 1) q');
--> ZC001
SELECT ward FROM visit GROUP BY ward;
--> ZC001
PREPARE p AS SELECT dp_count(*) FROM visit;
--> ok
EXPLAIN EXECUTE p;
--> ZC001
EXECUTE p;
--> ZC001
DECLARE c CURSOR WITH HOLD FOR SELECT dp_count(*) FROM visit;
--> ZC001
CREATE TEMP TABLE x AS SELECT dp_count(*) FROM visit;
--> ZC001
EXPLAIN ANALYZE SELECT dp_count(*) FROM visit;
--> ZC001
CREATE TEMP VIEW v AS SELECT dp_count(*) AS n FROM visit;
EXPLAIN SELECT * FROM v;
--> ZC001
DO $$ DECLARE r record; BEGIN FOR r IN EXPLAIN SELECT dp_count(*) FROM public.visit LOOP RAISE NOTICE '%', r; END LOOP; END $$;
--> ZC001
SELECT query_to_xml('SELECT dp_count(*) FROM visit', true, true, '');
--> ZC001
EXPLAIN SELECT g FROM generate_series(1, 2) g WHERE g < (SELECT dp_count(*) FROM visit);
--> ZC001
EXPLAIN SELECT (SELECT dp_count(*) FROM lab);
--> ZC001
EXPLAIN SELECT dp_count(*) FROM visit, (SELECT pg_sleep(5)) s;
--> ZC001

--# a budget in another dataset is none in this
--@ only: noselect hardened
--@ absent: DpRelease
--@ attack
EXPLAIN SELECT dp_count(*) FROM lab;
--> ZC001
SELECT * FROM dp_cdp.preview('SELECT dp_count(*) FROM lab');
--> ZC001
SELECT * FROM dp_cdp.preview('SELECT dp_count(*) FROM visit') WHERE false;
--> ok
EXPLAIN SELECT (SELECT dp_count(*) FROM visit), (SELECT dp_count(*) FROM lab);
--> ZC001

--# what is joined is not computed before the question who pays
--@ only: noselect hardened
--@ absent: called
--@ setup
CREATE FUNCTION public.called() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'called'; RETURN 1; END $$;
--@ attack nob
SELECT dp_count(*) FROM visit, (SELECT public.called() AS x) s WHERE age = x;
--> ZC001
EXPLAIN SELECT dp_count(*) FROM visit, (SELECT public.called() AS x) s WHERE age = x;
--> ZC001
--@ teardown
DROP FUNCTION public.called();

--# a plan of who had a budget, for who has none any more
--@ only: noselect hardened
--@ absent: DpRelease|stddev
--@ setup
SET ROLE boss; SELECT dp_cdp.set_budget('clinic', 'nob', rho => 1);
--@ attack nob
SET plan_cache_mode = force_generic_plan;
PREPARE p AS SELECT dp_count(*) IS NULL FROM visit;
EXECUTE p;
--> ok
\! psql -X -q -U boss -c "SELECT dp_cdp.drop_budget('clinic', 'nob')" > /dev/null
EXPLAIN EXECUTE p;
--> ZC001
EXECUTE p;
--> ZC001
--@ teardown
DELETE FROM dp_cdp_internal.budget WHERE role = 'nob'::regrole;

--# plans of a function's owner, who may pay, and of who may read
--@ only: noselect hardened
--@ setup
CREATE FUNCTION public.priced() RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$ BEGIN RETURN QUERY EXPLAIN (COSTS OFF) SELECT dp_count(*) FROM visit; END $$;
ALTER FUNCTION public.priced() OWNER TO bob;
--@ attack nob
SELECT count(*) FROM public.priced();
--> ok
SET ROLE nob; EXPLAIN SELECT dp_count(*) FROM visit;
--> ZC001
--@ attack boss
EXPLAIN (COSTS OFF) SELECT dp_count(*) FROM visit;
--> ok
SELECT dp_count(*) FROM visit;
--> ZC001
--@ teardown
DROP FUNCTION public.priced();

--# a NOINHERIT member asks foreign keys whether a person exists
--@ only: noselect hardened
--@ absent: violates foreign|is not present
--@ setup
CREATE ROLE aloof LOGIN NOINHERIT IN ROLE ana; CREATE ROLE middle NOINHERIT IN ROLE ana; CREATE ROLE distant LOGIN NOINHERIT IN ROLE middle;
SET ROLE boss; GRANT INSERT ON bed TO aloof, distant, nob;
--@ attack aloof
INSERT INTO bed VALUES (1, 42);
--> ZC002
INSERT INTO bed VALUES (1, 987654);
--> ZC002
COPY bed FROM STDIN;
1	987654
\.
--> ZC002
INSERT INTO bed VALUES (1, NULL);
--> ok
SET ROLE ana;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
--@ attack distant
INSERT INTO bed VALUES (1, 42);
--> ZC002
WITH w AS (INSERT INTO bed VALUES (1, 987654) RETURNING id) SELECT * FROM w;
--> ZC002 | 42501
--@ attack nob
INSERT INTO bed VALUES (2, 42);
--> ok
--@ teardown
REVOKE ALL ON bed FROM aloof, distant, nob; DELETE FROM bed; DROP ROLE aloof, distant, middle;

--# pg_read_all_data of a NOINHERIT member
--@ only: noselect hardened
--@ setup
CREATE ROLE aloof LOGIN NOINHERIT IN ROLE ana; GRANT pg_read_all_data TO aloof; ALTER ROLE aloof INHERIT; REVOKE ana FROM aloof; CREATE ROLE gate NOINHERIT IN ROLE ana; GRANT gate TO aloof;
--@ attack aloof
SELECT cost FROM visit WHERE age = 97;
--> ZC002
TABLE patient;
--> ZC002
COPY visit TO STDOUT;
--> ZC002
--@ teardown
DROP ROLE aloof, gate;
