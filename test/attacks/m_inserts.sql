-- Inserts by roles that may not read: whether a chosen key exists already would
-- show.  Key 42 of "keyed" exists, 4242 does not.

--# a chosen key
--@ absent: duplicate key|already exists|conflicts with
--@ setup
SET ROLE boss;
CREATE TABLE keyed (id int PRIMARY KEY, patient int, mail text UNIQUE, n serial UNIQUE, w text);
INSERT INTO keyed (id, patient, mail, w) VALUES (42, 42, 'a@b', 'zebra');
ALTER TABLE keyed ALTER id SET DEFAULT 7;
SELECT dp_cdp.protect_table('keyed', 'clinic', 'patient');
GRANT INSERT ON keyed TO ana, wri; GRANT USAGE ON SEQUENCE keyed_n_seq TO ana, wri;
--@ attack
INSERT INTO keyed (id, patient) VALUES (42, 1);
--> ZC002
INSERT INTO keyed (id, patient) VALUES (4242, 1);
--> ZC002
INSERT INTO keyed VALUES (42, 1);
--> ZC002
INSERT INTO keyed VALUES (4242, 1, 'c', 99, 'x'), (42, 1, 'd', 98, 'y');
--> ZC002
INSERT INTO keyed SELECT 42, 1;
--> ZC002
INSERT INTO keyed (patient, id) SELECT g, g FROM generate_series(40, 44) g;
--> ZC002
INSERT INTO keyed (mail) VALUES ('a@b');
--> ZC002
INSERT INTO keyed (mail) VALUES ('new');
--> ZC002
INSERT INTO keyed (n) OVERRIDING SYSTEM VALUE VALUES (1);
--> ZC002
INSERT INTO keyed (id) VALUES (NULL);
--> ZC002
INSERT INTO keyed (id, patient) TABLE ward;
--> ZC002 | 42804
INSERT INTO keyed (patient) VALUES (1) ON CONFLICT DO NOTHING;
--> ZC002
INSERT INTO keyed (id) VALUES (42) ON CONFLICT (id) DO NOTHING;
--> ZC002
INSERT INTO keyed (id) VALUES (42) ON CONFLICT (id) DO UPDATE SET w = excluded.w WHERE keyed.w = 'zebra';
--> ZC002
INSERT INTO keyed (patient) VALUES (1) RETURNING id;
--> ZC002
INSERT INTO keyed DEFAULT VALUES RETURNING *;
--> ZC002
WITH i AS (INSERT INTO keyed (id) VALUES (42)) SELECT 1;
--> ZC002
EXPLAIN INSERT INTO keyed (id) VALUES (42);
--> ZC002
EXPLAIN ANALYZE INSERT INTO keyed (id) VALUES (42);
--> ZC002
PREPARE p (int) AS INSERT INTO keyed (id) VALUES ($1);
EXECUTE p (42);
--> ZC002
PREPARE q AS INSERT INTO keyed VALUES (42);
EXECUTE q;
--> ZC002
DO $$ BEGIN INSERT INTO keyed (id) VALUES (42); EXCEPTION WHEN unique_violation THEN RAISE NOTICE 'already exists'; END $$;
--> ZC002
DO $$ BEGIN EXECUTE 'INSERT INTO keyed VALUES ($1)' USING 42; END $$;
--> ZC002
CREATE FUNCTION ana.f(int) RETURNS void LANGUAGE sql AS 'INSERT INTO public.keyed (id) VALUES ($1)';
SELECT ana.f(42);
--> ZC002
MERGE INTO keyed k USING (VALUES (42)) v (id) ON false WHEN NOT MATCHED THEN INSERT (id) VALUES (v.id);
--> ZC002
INSERT INTO keyed (id, w) SELECT 42, dp_count(*)::text FROM visit;
--> ZC002
--@ attack wri
INSERT INTO keyed VALUES (42, 1);
--> ZC002
BEGIN; INSERT INTO keyed (patient, w) VALUES (1, 'new');
--> standby: any; ok
ROLLBACK; BEGIN; INSERT INTO keyed (patient, w) SELECT floor, ward FROM ward WHERE floor = 1;
--> standby: any; ok
ROLLBACK; BEGIN; INSERT INTO keyed DEFAULT VALUES;
--> standby: any; ok
ROLLBACK;
PREPARE p (int) AS INSERT INTO keyed (patient) VALUES ($1);
BEGIN; EXECUTE p (1);
--> standby: any; ok
ROLLBACK;
--@ attack boss
BEGIN; INSERT INTO keyed (id, patient) VALUES (4242, 1) RETURNING id; INSERT INTO keyed (id) VALUES (42) ON CONFLICT DO NOTHING; ROLLBACK;
--> standby: any; ok
--@ attack nob
INSERT INTO keyed (id) VALUES (42);
--> 42501
COPY keyed FROM '/dev/null';
--> 42501
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('keyed'); DROP TABLE keyed;

--# COPY FROM
--@ absent: duplicate key|already exists|COPY \d
--@ setup
SET ROLE boss;
CREATE TABLE keyed (id int PRIMARY KEY DEFAULT 7, patient int, mail text UNIQUE, w text);
INSERT INTO keyed VALUES (42, 42, 'a@b', 'zebra');
SELECT dp_cdp.protect_table('keyed', 'clinic', 'patient');
GRANT INSERT ON keyed TO ana;
--@ attack
COPY keyed FROM STDIN;
42	1	x	y
\.
--> ZC002
COPY keyed (id) FROM STDIN;
4242
\.
--> ZC002
COPY keyed (patient, mail) FROM STDIN WITH (FORMAT csv);
1,a@b
\.
--> ZC002
COPY keyed (patient, id, w) FROM STDIN WITH (FORMAT csv, HEADER match);
patient,id,w
\.
--> ZC002
COPY keyed FROM STDIN WITH (FORMAT binary);
\.
--> ZC002
COPY keyed FROM PROGRAM 'echo 42';
--> 42501 | ZC002
BEGIN;
COPY keyed (patient, w) FROM STDIN;
1	new
\.
--> standby: any; ok
ROLLBACK;
\copy keyed (id) FROM '/dev/null'
--> ZC002
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('keyed'); DROP TABLE keyed;

--# indexes that read other columns
--@ absent: duplicate key|already exists|conflicting key
--@ setup
SET ROLE boss;
CREATE TABLE expr (patient int, mail text, w text); CREATE UNIQUE INDEX ON expr (lower(mail)); INSERT INTO expr VALUES (42, 'A', 'zebra');
CREATE TABLE partial (patient int, mail text, w text); CREATE UNIQUE INDEX ON partial (patient) WHERE w = 'zebra'; INSERT INTO partial VALUES (42, 'A', 'zebra');
CREATE TABLE included (k int DEFAULT 7, patient int, w text); CREATE UNIQUE INDEX ON included (k) INCLUDE (w); INSERT INTO included VALUES (42, 42, 'zebra');
CREATE TABLE generated (patient int, mail text, k text GENERATED ALWAYS AS (lower(mail)) STORED UNIQUE); INSERT INTO generated VALUES (42, 'Zebra');
CREATE TABLE whole (patient int, w text); CREATE UNIQUE INDEX ON whole (hash_record_extended(whole, 0)); INSERT INTO whole VALUES (42, 'zebra');
CREATE TABLE excluded (patient int, r int4range, EXCLUDE USING gist (r WITH &&)); INSERT INTO excluded VALUES (42, '[40,45)');
CREATE TABLE deferred (id int DEFAULT 7, patient int, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED); INSERT INTO deferred VALUES (42, 42);
CREATE TABLE divided (id int, patient int, w text) PARTITION BY LIST (patient); CREATE TABLE divided_1 PARTITION OF divided FOR VALUES IN (42); CREATE TABLE divided_2 PARTITION OF divided DEFAULT; CREATE UNIQUE INDEX ON divided_1 (id); INSERT INTO divided VALUES (42, 42, 'zebra');
CREATE TABLE split (id int DEFAULT 7, patient int, w text, PRIMARY KEY (id, patient)) PARTITION BY LIST (patient); CREATE TABLE split_1 PARTITION OF split FOR VALUES IN (42); CREATE TABLE split_2 PARTITION OF split DEFAULT; INSERT INTO split VALUES (42, 42, 'zebra');
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{expr,partial,included,generated,whole,excluded,deferred,divided,split}'::regclass[]) t;
GRANT INSERT ON expr, partial, included, generated, whole, excluded, deferred, divided, divided_1, split, split_1 TO ana;
--@ attack
INSERT INTO expr (mail) VALUES ('a');
--> ZC002
INSERT INTO partial (patient, w) VALUES (42, 'zebra');
--> ZC002
INSERT INTO partial (w) VALUES ('zebra');
--> ZC002
INSERT INTO partial VALUES (42);
--> ZC002
INSERT INTO generated (mail) VALUES ('zebra');
--> ZC002
INSERT INTO whole VALUES (42, 'zebra');
--> ZC002
INSERT INTO excluded (r) VALUES ('[1,100)');
--> ZC002
INSERT INTO deferred (id) VALUES (42);
--> ZC002
INSERT INTO divided (id, patient) VALUES (42, 42);
--> ZC002
INSERT INTO divided_1 VALUES (42, 42);
--> ZC002
INSERT INTO split (id, patient) VALUES (42, 42);
--> ZC002
INSERT INTO split_1 (patient) VALUES (42);
--> ZC002
COPY divided FROM STDIN;
42	42	x
\.
--> ZC002
COPY generated (mail) FROM STDIN;
zebra
\.
--> ZC002
BEGIN; INSERT INTO included (patient, w) VALUES (42, 'new');
--> standby: any; ok
ROLLBACK; BEGIN; INSERT INTO deferred (patient) VALUES (42);
--> standby: any; ok
ROLLBACK; BEGIN; INSERT INTO expr (patient, w) VALUES (42, 'new');
--> standby: any; ok
ROLLBACK; BEGIN; INSERT INTO divided (patient, w) VALUES (42, 'new');
--> standby: any; ok
ROLLBACK;
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table(t) FROM unnest('{expr,partial,included,generated,whole,excluded,deferred,divided,split}'::regclass[]) t; DROP TABLE expr, partial, included, generated, whole, excluded, deferred, divided, split;

--# keys that come through views, rules and triggers
--@ absent: duplicate key|already exists
--@ setup
SET ROLE boss;
CREATE TABLE keyed (id int PRIMARY KEY DEFAULT 7, patient int, w text);
INSERT INTO keyed VALUES (42, 42, 'zebra');
SELECT dp_cdp.protect_table('keyed', 'clinic', 'patient');
GRANT INSERT ON keyed TO ana;
CREATE FUNCTION public.adds(int) RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO public.keyed (id) VALUES ($1)'; 
CREATE VIEW public.owned AS SELECT id, patient FROM keyed; GRANT INSERT ON owned TO ana;
--@ attack
SELECT adds(42);
--> ZC002
INSERT INTO owned VALUES (42, 1);
--> ZC002
BEGIN; INSERT INTO owned (patient) VALUES (1);
--> standby: any; ok
ROLLBACK;
CREATE VIEW ana.v AS SELECT id AS k, patient AS p FROM keyed;
INSERT INTO ana.v VALUES (42, 1);
--> ZC002
ALTER VIEW ana.v ALTER k SET DEFAULT 42;
INSERT INTO ana.v (p) VALUES (1);
--> ZC002
INSERT INTO ana.v DEFAULT VALUES;
--> ZC002
CREATE VIEW ana.c AS SELECT patient AS p FROM keyed WHERE id = 42 WITH CHECK OPTION;
INSERT INTO ana.c VALUES (1);
--> ZC002 | 44000
CREATE VIEW ana.e AS SELECT patient AS p FROM keyed WHERE EXISTS (SELECT FROM visit v WHERE v.patient = keyed.patient AND v.age = 97) WITH CHECK OPTION;
INSERT INTO ana.e VALUES (42);
--> ZC002
INSERT INTO ana.e VALUES (43);
--> ZC002
INSERT INTO ana.v (p) VALUES (1), (2);
--> ZC002
ALTER VIEW ana.v ALTER k DROP DEFAULT;
BEGIN; INSERT INTO ana.v (p) VALUES (1);
--> standby: any; ok
ROLLBACK;
CREATE TABLE ana.r (x int);
CREATE RULE r AS ON INSERT TO ana.r DO ALSO INSERT INTO public.keyed (id) VALUES (NEW.x);
INSERT INTO ana.r VALUES (42);
--> worker: ok; ZC002
CREATE FUNCTION ana.t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.keyed (id) VALUES (NEW.x); RETURN NEW; END $$;
CREATE TABLE ana.s (x int);
CREATE TRIGGER t BEFORE INSERT ON ana.s FOR EACH ROW EXECUTE FUNCTION ana.t();
INSERT INTO ana.s VALUES (42);
--> ZC002
--@ teardown
SET ROLE boss; DROP FUNCTION adds(int); DROP VIEW owned; SELECT dp_cdp.unprotect_table('keyed'); DROP TABLE keyed CASCADE;

--# plans that are older than the index, or of somebody who may read
--@ only: noselect rls hardened
--@ absent: duplicate key|already exists
--@ setup
SET ROLE boss;
CREATE TABLE keyed (id int, patient int, w text);
INSERT INTO keyed VALUES (42, 42, 'zebra');
SELECT dp_cdp.protect_table('keyed', 'clinic', 'patient');
GRANT INSERT ON keyed TO ana;
--@ attack postgres
SET plan_cache_mode = force_generic_plan;
SET SESSION AUTHORIZATION ana;
PREPARE p (int) AS INSERT INTO keyed (id) VALUES ($1);
BEGIN; EXECUTE p (1); ROLLBACK;
--> ok
SET SESSION AUTHORIZATION boss;
CREATE UNIQUE INDEX ON keyed (id);
SET SESSION AUTHORIZATION ana;
EXECUTE p (42);
--> ZC002
SET SESSION AUTHORIZATION boss;
PREPARE q (int) AS INSERT INTO keyed (id) VALUES ($1);
BEGIN; EXECUTE q (1); ROLLBACK;
--> ok
SET SESSION AUTHORIZATION ana;
EXECUTE q (42);
--> ZC002
RESET SESSION AUTHORIZATION; SET ROLE ana;
EXECUTE q (42);
--> ZC002
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('keyed'); DROP TABLE keyed;

--# sequences behind keys
--@ absent: duplicate key|already exists
--@ attack wri
SELECT setval('visit_id_seq', 1, false);
--> 42501
SELECT last_value FROM visit_id_seq;
--> 42501 | ZC002
BEGIN; INSERT INTO visit (patient, ward) VALUES (1, 'bone');
--> standby: any; ok
ROLLBACK;
INSERT INTO visit (id, patient) VALUES (1, 1);
--> ZC002

--# foreign keys of who has a budget
--@ only: noselect rls hardened
--@ absent: violates foreign|is not present
--@ setup
GRANT INSERT ON visit TO ana; GRANT USAGE ON SEQUENCE visit_id_seq TO ana; GRANT REFERENCES ON patient, visit TO ana;
--@ attack
INSERT INTO visit (patient) VALUES (42);
--> noselect: ZC002; 42501
INSERT INTO visit (patient) VALUES (987654);
--> noselect: ZC002; 42501
CREATE TABLE ana.probe (x int);
INSERT INTO ana.probe VALUES (42);
ALTER TABLE ana.probe ADD FOREIGN KEY (x) REFERENCES patient;
--> ZC002
CREATE TABLE ana.child (x int REFERENCES patient);
INSERT INTO ana.child VALUES (42);
--> ZC002
INSERT INTO ana.child VALUES (987654);
--> ZC002
COPY ana.child FROM STDIN;
42
\.
--> ZC002
--@ teardown
REVOKE INSERT ON visit FROM ana; REVOKE USAGE ON SEQUENCE visit_id_seq FROM ana; DROP SCHEMA ana CASCADE; CREATE SCHEMA ana AUTHORIZATION ana; REVOKE REFERENCES ON patient, visit FROM ana;
