-- What the attacks are on: run as superuser in an empty database; the roles are
-- there.  rls.sql changes it.
--
-- Canaries: patient 42 has the only ward 'zebra', age 97, cost 87654.32 and
-- the name 'Quux'; visit has 4003 rows, of which 2000 remain when each of the
-- 400 patients is held to 5 rows, and patient has 401.

SET client_min_messages = error;
GRANT CREATE ON SCHEMA public TO boss;
CREATE SCHEMA stats;
GRANT USAGE ON SCHEMA stats TO PUBLIC;
CREATE EXTENSION pg_stat_statements SCHEMA stats;
CREATE EXTENSION tablefunc;
CREATE EXTENSION pgrowlocks;
CREATE EXTENSION pg_prewarm;
CREATE EXTENSION dblink;
CREATE EXTENSION tsm_system_rows;
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dp_cdp;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO boss;
SET SESSION AUTHORIZATION boss;
CREATE TABLE ward (ward text PRIMARY KEY, floor int);
INSERT INTO ward VALUES ('heart', 1), ('bone', 2), ('nerve', 3), ('child', 4);
CREATE TABLE patient (patient int PRIMARY KEY, name text, zip text);
INSERT INTO patient SELECT i, 'name' || i, (10000 + i % 20)::text FROM generate_series(1, 400) i;
INSERT INTO patient VALUES (500, 'nobody', '99999');
UPDATE patient SET name = 'Quux' WHERE patient = 42;
CREATE TABLE visit (id serial PRIMARY KEY, patient int NOT NULL REFERENCES patient, ward text, age int, cost numeric,
	at timestamptz, CHECK (age >= 0));
INSERT INTO visit (patient, ward, age, cost, at)
	SELECT 1 + i % 400, (ARRAY['heart', 'bone', 'nerve', 'child'])[1 + i % 4], 18 + i % 70, (i * 37) % 1000,
		timestamptz '2024-01-01' + i * interval '1 hour'
	FROM generate_series(1, 4000) i;
INSERT INTO visit (patient, ward, age, cost, at) SELECT 42, 'zebra', 97, 87654.32, '2024-02-29 12:34:56' FROM generate_series(1, 3);
CREATE INDEX visit_patient ON visit (patient);
CREATE INDEX visit_age ON visit (age);
CREATE TABLE part (patient int, y int, w text) PARTITION BY RANGE (y);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE part_2 PARTITION OF part DEFAULT;
INSERT INTO part SELECT i % 400, i % 20, 'w' FROM generate_series(1, 1000) i;
INSERT INTO part VALUES (42, 5, 'zebra');
CREATE TABLE parent (patient int, w text);
CREATE TABLE kid (more int) INHERITS (parent);
INSERT INTO kid VALUES (42, 'zebra', 1);
CREATE TABLE later AS SELECT * FROM visit;
CREATE TABLE bed (id int, patient int REFERENCES patient);
ANALYZE;

SELECT dp_cdp.create_dataset('clinic', default_rho => 0.01, delta => 1e-9, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table(t, 'clinic', unit => 'patient') FROM unnest('{visit,patient,part,parent}'::regclass[]) t;
CREATE TABLE lab (patient int, level numeric);
INSERT INTO lab SELECT i, i FROM generate_series(1, 400) i;
SELECT dp_cdp.create_dataset('other');
SELECT dp_cdp.protect_table('lab', 'other', unit => 'patient');
CREATE TABLE single (id int PRIMARY KEY, nothing int, w text);
INSERT INTO single SELECT i, NULL, 'w' FROM generate_series(1, 400) i;
INSERT INTO single VALUES (4242, 1, 'zebra');
SELECT dp_cdp.protect_table('single', 'clinic', each_row => true);
SELECT dp_cdp.set_bounds('visit', 'cost', 0, 1000);
SELECT dp_cdp.set_bounds('visit', 'age', 0, 120);
SELECT dp_cdp.set_budget('clinic', r, rho => 100000) FROM unnest('{ana,bob}'::regrole[]) r;
SELECT dp_cdp.set_budget('clinic', 'poor', rho => 0.01);
GRANT SELECT ON ward TO PUBLIC;
GRANT INSERT, UPDATE, DELETE ON visit TO wri;
GRANT USAGE ON SEQUENCE visit_id_seq TO wri;
GRANT SELECT ON visit, patient TO rea;
RESET SESSION AUTHORIZATION;
CREATE SCHEMA ana AUTHORIZATION ana;
