-- Conditions with subqueries: what they read must be rows of the same person,
-- public, or released, and no row may be repeated or chosen by others' rows.

--# other people's rows
--@ absent: ^f
--@ attack
SELECT dp_count(*) IS NOT NULL FROM visit v WHERE EXISTS (SELECT FROM patient p WHERE p.patient = v.patient);
--> ok 1
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM visit w WHERE w.ward = 'zebra');
--> ZC002
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM visit w WHERE w.ward = v.ward AND w.age = 97);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE NOT EXISTS (SELECT FROM visit w WHERE w.age > v.age);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE NOT EXISTS (SELECT FROM visit w WHERE w.patient = v.patient + 1);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.ward IN (SELECT ward FROM visit WHERE age = 97);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.age IN (SELECT patient FROM patient WHERE name = 'Quux');
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.patient IN (SELECT patient FROM patient ORDER BY name LIMIT 1);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE (v.patient, 1) IN (SELECT patient, row_number() OVER (ORDER BY name) FROM patient);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.patient IN (SELECT patient FROM patient UNION SELECT 1);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.patient = ANY (SELECT patient FROM patient TABLESAMPLE bernoulli (50));
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.patient > ALL (SELECT patient FROM patient);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.patient < ANY (SELECT patient FROM patient);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.patient NOT IN (SELECT patient FROM patient WHERE name = 'Quux');
--> ok 1
SELECT dp_count(*) IS NOT NULL FROM visit v WHERE v.age = (SELECT dp_max(age) FROM visit);
--> ok 2
SELECT dp_count(*) FROM visit v WHERE v.age = (SELECT age FROM visit);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.age = (SELECT age FROM visit ORDER BY age DESC LIMIT 1);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.age = (SELECT max(age) FROM visit w WHERE w.ward = v.ward);
--> ok 3
SELECT dp_count(*) FROM visit v WHERE v.age = 97 OR EXISTS (SELECT FROM patient p WHERE p.patient <> v.patient);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.age = 97 OR EXISTS (SELECT FROM patient p WHERE p.name = 'Quux');
--> ZC002
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM visit w WHERE w.patient = v.patient OR w.age > v.age);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE NOT EXISTS (SELECT FROM visit w WHERE w.patient <= v.patient);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.age > ANY (SELECT w.age FROM visit w);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM visit w WHERE w.patient = v.patient AND 1 / (w.age - v.age) > 0);
--> ok 1
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM visit w WHERE w.patient = v.patient AND w::text > '');
--> ZC002
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM lab l WHERE l.patient = v.patient);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.patient::bpchar IN (SELECT patient::bpchar FROM patient);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM patient p WHERE p.patient = v.patient AND 1 / (p.patient - 42) IS NOT NULL AND pg_sleep(1) IS NOT NULL);
--> ZC002

--# a row counts once, however many rows are found, and errors tell nothing
--@ absent: ^f
--@ attack
SET dp_cdp.rho = 50;
SELECT n < 10 FROM (SELECT dp_count(*) AS n FROM visit v WHERE patient = 42 AND EXISTS (SELECT FROM visit w WHERE w.patient = v.patient)) q;
--> ok 5000
SELECT n < 3 FROM (SELECT dp_count(*) AS n FROM patient v WHERE patient = 42 AND patient IN (SELECT patient FROM visit)) q;
--> ok 5000
SELECT n < 2 FROM (SELECT dp_count(*) AS n FROM patient v WHERE patient = 42 AND NOT EXISTS (SELECT FROM visit w WHERE w.patient = v.patient AND 1 / (w.age - 97) < 5)) q;
--> ok 5000

--# what is computed before, with the asker's rights
--@ only: noselect hardened
--@ absent: Quux|zebra|spy 97
--@ attack
CREATE FUNCTION ana.spy(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN $1; END $$;
CREATE TABLE ana.t AS SELECT g AS age FROM generate_series(1, 5) g;
SELECT dp_count(*) IS NULL FROM visit WHERE age IN (SELECT ana.spy(age) FROM ana.t);
--> ok 1 | ZC002
SELECT dp_count(*) IS NULL FROM visit v WHERE EXISTS (SELECT FROM ana.t WHERE t.age = ana.spy(v.age));
--> ZC002
SELECT dp_count(*) IS NULL FROM visit v WHERE EXISTS (SELECT FROM ana.t WHERE ana.spy(t.age) = v.age);
--> ok 1 | ZC002
SELECT dp_count(*) IS NULL FROM visit v WHERE ward IN (SELECT name FROM patient);
--> ZC002

--# unions of rows
--@ absent: ^f
--@ attack
SELECT dp_count(*) IS NOT NULL FROM (SELECT patient FROM visit UNION ALL SELECT patient FROM part) u;
--> ok 1
SELECT dp_count(*) FROM (SELECT ward FROM visit UNION SELECT w FROM part) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT age FROM visit EXCEPT SELECT y FROM part) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT age FROM visit INTERSECT SELECT 97) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, age FROM visit UNION SELECT y, patient FROM part) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit UNION ALL SELECT 42) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit UNION ALL SELECT patient FROM lab) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit UNION ALL SELECT id FROM single) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, 1 AS n FROM visit UNION ALL SELECT patient, row_number() OVER (ORDER BY w) FROM part) u WHERE n < 3;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit UNION ALL (SELECT patient FROM part ORDER BY w LIMIT 1)) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit UNION ALL SELECT patient FROM part TABLESAMPLE bernoulli (50)) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit UNION ALL SELECT patient FROM part WHERE 1 / (patient - 42) > 0) u;
--> ok 1
SELECT dp_count(*) FROM (SELECT patient, cost FROM visit UNION ALL SELECT patient, 10 / (patient - 42) FROM part) u WHERE cost > 1;
--> ok 1
SELECT dp_count(*) FROM (SELECT at FROM visit UNION ALL SELECT CASE WHEN w = 'zebra' THEN 'infinity'::date ELSE '2024-01-01'::date + patient END FROM part) u WHERE at IS NOT NULL;
--> ok 1
SELECT dp_count(*) FROM (SELECT patient, ward FROM visit UNION ALL SELECT patient, pg_sleep(0)::text FROM part) u WHERE ward > '';
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit UNION ALL SELECT patient FROM part) u JOIN visit v ON v.age = u.patient;
--> ZC002
SELECT patient FROM visit UNION ALL SELECT patient FROM part;
--> ZC002
SELECT ward FROM visit EXCEPT SELECT ward FROM ward;
--> ZC002
SELECT dp_count(*) FROM (SELECT ward FROM ward EXCEPT SELECT ward FROM visit) u;
--> ZC002
SELECT dp_count(*) FROM (SELECT 42 INTERSECT SELECT patient FROM visit) u;
--> ZC002
WITH RECURSIVE r AS (SELECT patient, 1 AS n FROM visit UNION ALL SELECT patient, n + 1 FROM r WHERE n < 3) SELECT dp_count(*) FROM r;
--> ZC002

--# a person is bounded over all that is put together
--@ only: noselect
--@ absent: ^f
--@ attack
SET dp_cdp.rho = 50;
-- 400 patients with 10 rows each, of which 5 count, and not 10, 15 or 20
SELECT n BETWEEN 1990 AND 2010 FROM (SELECT dp_count(*) AS n FROM (SELECT id FROM visit UNION ALL SELECT id FROM visit) u) s;
--> ok 5000
SELECT n BETWEEN 1990 AND 2010 FROM (SELECT dp_count(*) AS n FROM (SELECT age FROM visit UNION ALL SELECT patient FROM patient UNION ALL SELECT y FROM part WHERE patient > 0) u) s;
--> ok 5000
-- each row of single is a unit
SELECT n BETWEEN 790 AND 814 FROM (SELECT dp_count(*) AS n FROM (SELECT id FROM single UNION ALL SELECT nothing FROM single) u) s;
--> ok 5000
