-- Tables whose rows belong to people through foreign keys: a row that would be
-- two people's, keys that are not what they were when the query was planned.
-- Stay 42 is patient 42's, the only one of ward 'zebra'.

--# rows that would be two people's
--@ only: noselect hardened
--@ setup
SET ROLE boss; CREATE TABLE stay (stay int PRIMARY KEY, patient int, ward text, room numeric UNIQUE); INSERT INTO stay SELECT i, i % 400, CASE i WHEN 42 THEN 'zebra' ELSE 'w' END, i FROM generate_series(1, 800) i;
CREATE TABLE dose (dose int PRIMARY KEY, stay int REFERENCES stay, amount int, note text); INSERT INTO dose SELECT i, 1 + i % 800, i % 7, 'n' || i FROM generate_series(1, 2000) i; INSERT INTO dose VALUES (2001, NULL, 1, 'n'), (2002, NULL, 1, 'n');
SELECT dp_cdp.protect_table('stay', 'clinic', 'patient'), dp_cdp.protect_table('dose', 'clinic', through => 'stay');
--@ attack
SELECT dp_count(*) IS NULL FROM dose d JOIN stay s ON s.stay = d.stay;
--> ok 1
SELECT dp_count(*) FROM dose d JOIN dose e ON d.amount = e.amount;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON s.stay = d.dose;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON s.patient = d.stay;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON s.room = d.stay;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON s.stay = d.stay OR s.ward = 'zebra';
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON NOT s.stay = d.stay;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON s.stay IS DISTINCT FROM d.stay;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON (s.stay = d.stay) IS NOT FALSE;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON s.stay::text = d.stay::text;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN stay s ON s.stay::float4 = d.stay::float4;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN (SELECT stay + 0 AS stay FROM stay) s USING (stay);
--> ZC002
SELECT dp_count(*) FROM dose d JOIN (SELECT stay AS dose, patient AS stay FROM stay) s USING (stay);
--> ZC002
SELECT dp_count(*) FROM dose d, stay s;
--> ZC002
SELECT dp_count(*) IS NULL FROM dose d FULL JOIN stay s USING (stay);
--> ok 1
SELECT dp_count(*) FROM dose d FULL JOIN stay s ON s.room = d.amount;
--> ZC002
SELECT dp_count(*) FROM dose d LEFT JOIN stay s ON s.stay = d.stay AND s.ward = 'zebra' JOIN dose e ON e.stay IS NOT DISTINCT FROM s.stay;
--> ZC002
SELECT dp_count(*) FROM dose d LEFT JOIN stay s ON s.stay = d.stay AND s.ward = 'zebra' JOIN stay t ON t.room IS NOT DISTINCT FROM s.room;
--> ZC002
SELECT dp_count(*) FROM patient p LEFT JOIN stay s USING (patient) LEFT JOIN stay t ON t.room IS NOT DISTINCT FROM s.room;
--> ZC002
SELECT dp_count(*) FROM stay s JOIN stay t ON t.room IS NOT DISTINCT FROM s.room;
--> ZC002
SELECT dp_count(*) IS NULL FROM stay s JOIN stay t ON t.room = s.room;
--> ok 1
SELECT dp_sum(n, 0, 5) FROM (SELECT room, count(*) AS n FROM stay GROUP BY room) q;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN visit v ON v.id = d.stay;
--> ZC002
SELECT dp_count(*) FROM dose d JOIN patient p ON p.patient = d.stay;
--> ZC002
SELECT dp_sum(n, 0, 5) FROM (SELECT amount, count(*) AS n FROM dose GROUP BY amount) q;
--> ZC002
SELECT dp_sum(n, 0, 5) FROM (SELECT stay % 10, count(*) AS n FROM dose GROUP BY 1) q;
--> ZC002
SELECT dp_sum(n, 0, 5) FROM (SELECT s.room, count(*) AS n FROM patient p LEFT JOIN stay s USING (patient) GROUP BY s.room) q;
--> ZC002
SELECT dp_sum(n, 0, 5) FROM (SELECT count(*) AS n FROM dose) q;
--> ZC002
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('dose'), dp_cdp.unprotect_table('stay'); DROP TABLE dose, stay;

--# what leads to one person's rows is no group
--@ only: noselect hardened
--@ absent: wrong
--@ setup
SET ROLE boss; CREATE TABLE stay (stay int PRIMARY KEY, patient int); INSERT INTO stay SELECT i, i % 400 FROM generate_series(1, 800) i;
CREATE TABLE dose (dose int PRIMARY KEY, stay int REFERENCES stay, amount int); INSERT INTO dose SELECT i, 1 + i % 800, i % 7 FROM generate_series(1, 2000) i;
SELECT dp_cdp.protect_table('stay', 'clinic', 'patient'), dp_cdp.protect_table('dose', 'clinic', through => 'stay');
CREATE VIEW doses AS SELECT d.stay AS number, d.dose AS id, amount FROM dose d JOIN stay USING (stay); GRANT SELECT ON doses TO ana;
--@ attack
SELECT stay, dp_count(*) FROM dose GROUP BY stay;
--> ZC002
SELECT dose, stay, dp_count(*) FROM dose GROUP BY 1, 2;
--> ZC002
SELECT DISTINCT stay FROM dose;
--> ZC002
SELECT s.stay, count(*) FROM stay s JOIN dose d USING (stay) GROUP BY s.stay;
--> ZC002
SELECT number, dp_count(*) FROM doses GROUP BY number;
--> ZC002
SELECT amount, dp_count(*) FROM dose GROUP BY ROLLUP (amount, stay);
--> ZC002
SELECT stay, n FROM (SELECT stay, count(*) AS n FROM dose GROUP BY stay) q;
--> ZC002
SELECT stay FROM dose ORDER BY stay LIMIT 1;
--> ZC002
SELECT max(n) FROM (SELECT stay, count(*) AS n FROM dose GROUP BY stay) q;
--> ZC002 | ok 1
SELECT 'wrong' FROM (SELECT stay + 0, dp_count(*) AS n FROM dose GROUP BY 1) q WHERE n IS NOT NULL;
--> ok 2
SELECT 'wrong' FROM (SELECT dp_count(DISTINCT stay) AS n FROM dose) q WHERE n IS NULL;
--> ok 1
--@ teardown
SET ROLE boss; DROP VIEW doses; SELECT dp_cdp.unprotect_table('dose'), dp_cdp.unprotect_table('stay'); DROP TABLE dose, stay;

--# one person's many rows below a key count no more than one person's
--@ only: noselect hardened
--@ absent: ^f
--@ setup
SET ROLE boss; CREATE TABLE stay (stay int PRIMARY KEY, patient int); INSERT INTO stay SELECT i, 42 FROM generate_series(1, 300) i;
CREATE TABLE dose (dose int PRIMARY KEY, stay int REFERENCES stay); INSERT INTO dose SELECT i, 1 + i % 300 FROM generate_series(1, 3000) i;
CREATE TABLE swab (dose int REFERENCES dose, kind int NOT NULL); INSERT INTO swab SELECT 1 + i % 3000, i % 50 FROM generate_series(1, 9000) i;
SELECT dp_cdp.protect_table('stay', 'clinic', 'patient'), dp_cdp.protect_table('dose', 'clinic', through => 'stay'), dp_cdp.protect_table('swab', 'clinic', through => 'dose');
SELECT dp_cdp.set_keys('swab', 'kind', ARRAY(SELECT generate_series(0, 49)));
--@ attack
SET dp_cdp.rho = 50;
SELECT n < 10 FROM (SELECT dp_count(*) AS n FROM dose) q;
--> ok 5000
SELECT n < 10 FROM (SELECT dp_count(*) AS n FROM swab) q;
--> ok 5000
SELECT n < 10 FROM (SELECT dp_count(*) AS n FROM dose d JOIN dose e USING (stay)) q;
--> ok 5000
SELECT n < 10 FROM (SELECT dp_count(*) AS n FROM (SELECT stay, count(*) FROM dose GROUP BY stay) q) q;
--> ok 5000
SELECT n < 10 FROM (SELECT dp_count(*) AS n FROM swab w JOIN dose d USING (dose) LEFT JOIN stay s USING (stay)) q;
--> ok 5000
SELECT sum(n) < 5 * 5 + 100 FROM (SELECT kind, dp_count(*) AS n FROM swab GROUP BY kind) q;
--> ok 5000
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('swab'), dp_cdp.unprotect_table('dose'), dp_cdp.unprotect_table('stay'); DROP TABLE swab, dose, stay;

--# keys that are not what a plan was made for
--@ only: noselect hardened
--@ setup
SET ROLE boss; CREATE TABLE stay (stay int PRIMARY KEY, patient int); INSERT INTO stay SELECT i, i % 400 FROM generate_series(1, 800) i;
CREATE TABLE dose (dose int PRIMARY KEY, stay int, CONSTRAINT leads FOREIGN KEY (stay) REFERENCES stay); INSERT INTO dose SELECT i, 1 + i % 800 FROM generate_series(1, 2000) i;
CREATE TABLE other (stay int PRIMARY KEY, patient int); INSERT INTO other SELECT i, i % 400 FROM generate_series(1, 800) i;
SELECT dp_cdp.protect_table('stay', 'clinic', 'patient'), dp_cdp.protect_table('dose', 'clinic', through => 'stay'), dp_cdp.protect_table('other', 'clinic', 'patient');
-- in a session of its own
RESET ROLE; CREATE FUNCTION owner_does(what text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$ BEGIN
PERFORM dblink_exec(format('host=%L port=%L dbname=%L user=boss options=''-c lock_timeout=1s -c client_min_messages=error''', current_setting('unix_socket_directories'), current_setting('port'), current_database()), format('DO %L', format('BEGIN EXECUTE %L; END', what))); RETURN 0; END $$;
--@ attack
SET plan_cache_mode = force_generic_plan;
PREPARE alone AS SELECT dp_count(*) IS NULL FROM dose;
PREPARE joined AS SELECT dp_count(*) IS NULL FROM dose JOIN stay USING (stay);
PREPARE pair AS SELECT dp_count(*) IS NULL FROM dose d JOIN dose e USING (stay);
PREPARE slow (text) AS SELECT dp_count(*) IS NULL FROM dose d, (SELECT owner_does($1) AS zero) z WHERE d.dose > zero;
EXECUTE alone; EXECUTE joined; EXECUTE pair; EXECUTE slow ('SELECT 1');
--> ok 4
SELECT owner_does('ALTER TABLE dose DROP CONSTRAINT leads');
--> ok
EXECUTE alone;
--> ZC004
EXECUTE joined;
--> ZC004
EXECUTE pair;
--> ZC004
SELECT owner_does('ALTER TABLE dose ADD CONSTRAINT leads FOREIGN KEY (stay) REFERENCES stay NOT VALID');
--> ok
EXECUTE alone;
--> ZC004
EXECUTE pair;
--> ZC004
SELECT owner_does('ALTER TABLE dose VALIDATE CONSTRAINT leads');
--> ok
EXECUTE joined;
--> ok 1
EXECUTE slow ('ALTER TABLE dose DROP CONSTRAINT leads');
--> ZC002 | ZC004 | 55P03
SELECT owner_does('ALTER TABLE dose DROP CONSTRAINT IF EXISTS leads, ADD CONSTRAINT leads FOREIGN KEY (stay) REFERENCES other');
--> ok
EXECUTE alone;
--> ok 1
EXECUTE pair;
--> ok 1
EXECUTE joined;
--> ZC002
SELECT owner_does('SELECT dp_cdp.unprotect_table($t$other$t$)');
--> ok
EXECUTE alone;
--> ZC004
SELECT owner_does('SELECT dp_cdp.protect_table($t$other$t$, $t$other$t$, $t$patient$t$)');
--> ok
EXECUTE alone;
--> ZC004
EXECUTE pair;
--> ZC004
SELECT owner_does('SELECT dp_cdp.protect_table($t$other$t$, $t$clinic$t$, $t$patient$t$)');
--> ok
EXECUTE alone;
--> ok 1
SELECT owner_does('ALTER TABLE dose ADD FOREIGN KEY (stay) REFERENCES stay');
--> ok
EXECUTE alone;
--> ZC004
--@ teardown
DROP FUNCTION owner_does; SET ROLE boss; SELECT dp_cdp.unprotect_table('dose'), dp_cdp.unprotect_table('stay'), dp_cdp.unprotect_table('other'); DROP TABLE dose, stay, other;

--# circles, parents that are gone, and labels written by hand
--@ only: noselect hardened
--@ setup
SET ROLE boss; CREATE TABLE stay (stay int PRIMARY KEY, patient int, dose int); INSERT INTO stay SELECT i, i % 400, i FROM generate_series(1, 800) i;
CREATE TABLE dose (dose int PRIMARY KEY, stay int REFERENCES stay); INSERT INTO dose SELECT i, i FROM generate_series(1, 800) i;
SELECT dp_cdp.protect_table('stay', 'clinic', 'patient'), dp_cdp.protect_table('dose', 'clinic', through => 'stay');
SELECT dp_cdp.unprotect_table('stay'); ALTER TABLE stay ADD FOREIGN KEY (dose) REFERENCES dose;
SECURITY LABEL FOR dp_cdp ON TABLE stay IS '{"dataset": "clinic", "through": 1}'; SECURITY LABEL FOR dp_cdp ON COLUMN stay.dose IS '{"through": true}';
CREATE TABLE free (stay int, dose int, name text); INSERT INTO free SELECT i, i, 'Quux' FROM generate_series(1, 800) i;
SECURITY LABEL FOR dp_cdp ON TABLE free IS '{"dataset": "clinic", "through": 2}'; SECURITY LABEL FOR dp_cdp ON COLUMN free.stay IS '{"through": true}';
--@ attack
SELECT dp_count(*) FROM dose;
--> ZC004
SELECT dp_count(*) FROM stay;
--> ZC004
SELECT dp_count(*) FROM stay JOIN dose USING (stay, dose);
--> ZC004
SELECT dp_count(*) FROM dose d JOIN dose e USING (stay);
--> ZC004
SELECT dp_count(*) FROM (SELECT stay, count(*) FROM dose GROUP BY stay) q;
--> ZC004
EXPLAIN SELECT dp_count(*) FROM dose;
--> ZC004
-- a policy that lacks a column is a damaged one
SELECT dp_count(*) FROM free;
--> ZC004 | ZC002
SELECT * FROM free;
--> 42501 | ZC002 | ZC004
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('dose'), dp_cdp.unprotect_table('stay'), dp_cdp.unprotect_table('free'); DROP TABLE dose, stay, free CASCADE;

--# what the asker may do to keys
--@ only: noselect hardened
--@ setup
SET ROLE boss; CREATE TABLE stay (stay int PRIMARY KEY, patient int); INSERT INTO stay SELECT i, i % 400 FROM generate_series(1, 800) i;
CREATE TABLE dose (dose int PRIMARY KEY, stay int REFERENCES stay); INSERT INTO dose SELECT i, i FROM generate_series(1, 800) i;
SELECT dp_cdp.protect_table('stay', 'clinic', 'patient'), dp_cdp.protect_table('dose', 'clinic', through => 'stay');
--@ attack
CREATE TABLE ana.mine (dose int REFERENCES dose);
--> 42501
CREATE TABLE ana.heirs () INHERITS (dose);
--> 42501
SELECT dp_cdp.protect_table('dose', 'clinic', through => 'stay');
--> 42501
SELECT dp_cdp.unprotect_table('dose');
--> 42501
SELECT dp_cdp_internal.through_problem('dose');
--> ok
CREATE TABLE ana.keys (stay int PRIMARY KEY, patient int); CREATE TABLE ana.rows (stay int REFERENCES ana.keys);
SELECT dp_cdp.protect_table('ana.rows', 'clinic', through => 'stay');
--> 42501 | ZC004
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('dose'), dp_cdp.unprotect_table('stay'); DROP TABLE dose, stay;
