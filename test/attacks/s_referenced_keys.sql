-- Keys that a foreign key declares are the rows of another table: shown only
-- to those who may read that.  Secret codes are canaries.

--# keys of a table that the asker may not read
--@ only: noselect hardened
--@ absent: code-
--@ setup
SET ROLE boss; CREATE TABLE code (code text PRIMARY KEY, note text); INSERT INTO code SELECT 'code-' || i FROM generate_series(1, 3) i;
CREATE TABLE stay (patient int, code text NOT NULL REFERENCES code); INSERT INTO stay VALUES (1, 'code-1'); SELECT dp_cdp.protect_table('stay', 'clinic', 'patient');
CREATE VIEW stays AS SELECT patient, code FROM stay; GRANT SELECT ON stays TO ana;
CREATE VIEW coded AS SELECT s.patient, s.code, c.code AS other, c.note FROM stay s JOIN code c USING (code); GRANT SELECT ON coded TO ana;
CREATE VIEW left_coded AS SELECT s.patient, c.code FROM stay s LEFT JOIN code c USING (code); GRANT SELECT ON left_coded TO ana;
--@ attack
SELECT code FROM code;
--> 42501
SELECT code, dp_count(*) FROM stay GROUP BY code;
--> ok 1..3
SELECT code FROM stay GROUP BY code;
--> ok 1..3
SELECT DISTINCT code FROM stay;
--> ok 1..3
SELECT code, dp_count(*) FROM stays GROUP BY code;
--> ok 1..3
SELECT code, dp_count(*) FROM coded GROUP BY code;
--> ok 0..3
SELECT other, dp_count(*) FROM coded GROUP BY other;
--> ok 0..3
SELECT note || other, dp_count(*) FROM coded WHERE other > 'a' GROUP BY 1;
--> ok 0..3
SELECT code, dp_count(*) FROM left_coded GROUP BY code;
--> ok 0..3
SELECT upper(code), code FROM (SELECT DISTINCT code FROM stay) s;
--> ok 1..3
SELECT coalesce(code, 'none'), dp_count(*) FROM stay GROUP BY 1;
--> ok 1..3
SELECT c, dp_count(*) FROM (SELECT patient, code AS c FROM stay) s GROUP BY c;
--> ok 1..3
SELECT code, dp_count(*) FROM stay GROUP BY ROLLUP (code);
--> ok 1..4
SELECT upper(s.code), dp_count(*) FROM stay s JOIN (VALUES ('code' || '-1')) v (c) ON s.code = v.c GROUP BY 1;
--> ok 0..1
SELECT * FROM dp_cdp.preview('SELECT code, dp_count(*) FROM stay GROUP BY code');
--> ok
EXPLAIN SELECT code, dp_count(*) FROM stay GROUP BY code;
--> ok
SELECT dp_cdp.declared_keys('stay', 'code');
--> any
--@ attack boss
SELECT 'keys: ' || cardinality(dp_cdp.declared_keys('stay', 'code'));
--> ok
--@ teardown
SET ROLE boss; DROP VIEW stays, coded, left_coded; SELECT dp_cdp.unprotect_table('stay'); DROP TABLE stay, code;

--# a price and a plan do not tell how many keys there are
--@ only: noselect hardened
--@ absent: rows=17|rows=18|declared
--@ setup
SET ROLE boss; CREATE TABLE code (code text PRIMARY KEY); INSERT INTO code SELECT 'code-' || i FROM generate_series(1, 17) i;
CREATE TABLE stay (patient int, code text REFERENCES code); SELECT dp_cdp.protect_table('stay', 'clinic', 'patient');
--@ attack
EXPLAIN SELECT code, dp_count(*) FROM stay GROUP BY code;
--> ok
EXPLAIN SELECT code FROM stay GROUP BY code;
--> ok
SELECT dp_noise_stddev(dp_count(*)), dp_count(*) FROM stay WHERE code IS NULL GROUP BY code;
--> ok 1
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('stay'); DROP TABLE stay, code;

--# keys for columns that are granted, for the role that asks, without row-level security
--@ only: noselect hardened
--@ absent: wrong
--@ setup
SET ROLE boss; CREATE TABLE code (code text PRIMARY KEY, note text); INSERT INTO code SELECT 'key-' || i FROM generate_series(1, 3) i;
CREATE TABLE stay (patient int, code text NOT NULL REFERENCES code); SELECT dp_cdp.protect_table('stay', 'clinic', 'patient');
GRANT SELECT (note) ON code TO ana; GRANT SELECT (code) ON code TO bob;
--@ attack
SELECT 'wrong' FROM (SELECT code FROM stay GROUP BY code) s HAVING count(*) <> 0;
--> ok 1
--@ attack bob
SELECT 'wrong' FROM (SELECT code FROM stay GROUP BY code) s HAVING count(*) <> 3;
--> ok
SELECT 'wrong' FROM (SELECT code, dp_count(*) AS n FROM stay GROUP BY code) s HAVING count(n) <> 3;
--> ok bob:1
PREPARE p AS SELECT 'wrong' FROM (SELECT code FROM stay GROUP BY code) s HAVING count(*) <> 3;
EXECUTE p;
--> ok
--@ attack postgres
ALTER TABLE code ENABLE ROW LEVEL SECURITY;
--> ok
--@ attack bob
SELECT 'wrong' FROM (SELECT code FROM stay GROUP BY code) s HAVING count(*) <> 0;
--> ok bob:1
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('stay'); DROP TABLE stay, code;

--# the marks of new rows in the rows that they reference
--@ only: noselect hardened
--@ setup
SET ROLE boss; CREATE TABLE dept (dept text PRIMARY KEY, floor int); INSERT INTO dept SELECT 'dept ' || i, i FROM generate_series(1, 3) i;
CREATE TABLE place (place text PRIMARY KEY); INSERT INTO place VALUES ('a');
CREATE TABLE stay (patient int, dept text REFERENCES dept); SELECT dp_cdp.protect_table('stay', 'clinic', 'patient');
INSERT INTO stay VALUES (1, 'dept 2'); CREATE VIEW depts AS SELECT *, xmax AS marked FROM dept;
GRANT SELECT, UPDATE ON dept TO ana; GRANT SELECT, UPDATE ON place TO ana; GRANT SELECT ON depts TO ana;
--@ attack
SELECT dept, xmax <> 0 FROM dept;
--> ZC002
SELECT dept FROM dept ORDER BY xmax::text::bigint DESC LIMIT 1;
--> ZC002
SELECT count(*) FROM dept WHERE xmax <> '0';
--> ZC002
SELECT dept, marked FROM depts;
--> ZC002
SELECT count(*) FROM place WHERE EXISTS (SELECT FROM dept WHERE xmax <> '0');
--> ZC002
UPDATE dept SET floor = floor RETURNING xmax;
--> ZC002
SELECT dp_count(*) > (SELECT max(xmax::text::bigint) FROM dept) FROM stay;
--> ZC002
SELECT dept FROM dept FOR UPDATE SKIP LOCKED;
--> ZC002
SELECT dept FROM (SELECT dept FROM dept FOR NO KEY UPDATE NOWAIT) d;
--> ZC002
WITH d AS (SELECT dept FROM dept FOR SHARE NOWAIT) SELECT count(*) FROM d;
--> ZC002
SELECT dept FROM dept;
--> ok
SELECT dept, xmin IS NULL FROM dept FOR UPDATE;
--> ok
SELECT place, xmax FROM place FOR UPDATE SKIP LOCKED;
--> ok
--@ attack boss
SELECT dept FROM dept WHERE xmax <> '0';
--> ok
--@ teardown
SET ROLE boss; DROP VIEW depts; SELECT dp_cdp.unprotect_table('stay'); DROP TABLE stay, dept, place;
