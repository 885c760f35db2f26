-- Queries that must be answered, and cost what they say: a guard that refuses
-- everything would pass all the rest.

--# aggregates
--@ attack
SELECT dp_count(*), dp_sum(cost, 0, 1000) FROM visit WHERE age BETWEEN 20 AND 40 AND ward IN ('bone', 'heart') AND NOT (ward = 'x');
--> ok 2
SELECT ward, dp_count(*) AS n FROM visit GROUP BY ward HAVING dp_count(*) > 100 ORDER BY n DESC LIMIT 3;
--> ok 2
SELECT ward, round(100.0 * dp_count(*) / 4000, 1) AS pct, CASE WHEN dp_count(*) > 10 THEN 'big' ELSE 'small' END FROM visit GROUP BY ward;
--> ok 2
SELECT date_trunc('month', at), count(*), sum(cost) / count(*), count(DISTINCT patient) FROM visit GROUP BY 1 ORDER BY 1;
--> ok 3
SELECT s.ward, w.floor, s.n FROM (SELECT ward, dp_count(*) n FROM visit GROUP BY ward) s JOIN ward w USING (ward) ORDER BY 1;
--> ok 2
SELECT DISTINCT ward FROM visit;
--> ok 1
SELECT dp_count(*) FILTER (WHERE age > 60), dp_sum(age) FROM visit WHERE extract(year FROM at) = 2024 AND lower(ward) LIKE 'h%';
--> ok 2

--# carriers
--@ attack
PREPARE q (int) AS SELECT dp_count(*) FROM visit WHERE age > $1;
EXECUTE q (50); EXECUTE q (50); EXECUTE q (50); EXECUTE q (50); EXECUTE q (50); EXECUTE q (50); EXECUTE q (50);
--> ok 7
BEGIN; DECLARE c CURSOR FOR SELECT ward, dp_count(*) FROM visit GROUP BY 1; FETCH ALL FROM c;
--> ok 2
COMMIT;
COPY (SELECT dp_count(*) FROM visit) TO STDOUT;
--> standby: any; ok 1
CREATE TEMP TABLE r AS SELECT ward, dp_count(*) n FROM visit GROUP BY 1;
--> ok 2
CREATE VIEW ana.v AS SELECT ward, dp_count(*) n FROM visit GROUP BY 1;
SELECT * FROM ana.v ORDER BY 1;
--> ok 2
SELECT 1; SELECT dp_count(*) FROM part;
--> ok 1
SELECT dp_count(*) FROM parent; SELECT dp_count(*) FROM kid;
--> ok 2
SELECT dp_count(*) FROM visit v JOIN patient p ON p.patient = v.patient WHERE p.zip = '10001';
--> ok 1

--# what is not protected
--@ attack
SELECT * FROM ward ORDER BY 1; EXPLAIN ANALYZE SELECT * FROM ward;
--> coordinator: 42501; ok
\d visit
SELECT table_name FROM information_schema.tables LIMIT 1;
--> ok
SELECT * FROM visit WHERE false;
--> ok
SELECT * FROM visit LIMIT 0;
--> ok
EXPLAIN SELECT ward, dp_count(*) FROM visit GROUP BY ward;
--> ok
SELECT dataset, role, rho_remaining > 0 FROM dp_cdp.budgets;
--> ok
--@ attack boss
SELECT count(*) > 4000, max(cost) > 1 FROM visit;
--> ok
BEGIN; INSERT INTO visit (patient, ward) VALUES (1, 'bone'); UPDATE visit SET age = 1 WHERE patient = 1; DELETE FROM visit WHERE patient = 1; ROLLBACK;
--> standby: any; ok
BEGIN; DELETE FROM patient WHERE patient = 500; ROLLBACK;
--> standby: any; ok
--@ attack wri
BEGIN; INSERT INTO visit (patient, ward) VALUES (1, 'bone'); ROLLBACK;
--> standby: any; ok
BEGIN; INSERT INTO visit (patient, ward) VALUES (987654, 'bone');
--> 23503
ROLLBACK;
--@ attack rea
SELECT count(*) > 4000 FROM visit;
--> ok

--# the owner's statements and foreign keys still work with cascades
--@ only: noselect rls hardened
--@ setup
SET ROLE boss; CREATE TABLE chart (patient int REFERENCES patient ON DELETE CASCADE ON UPDATE CASCADE); INSERT INTO patient VALUES (2000, 'x', '1'), (2001, 'y', '1'); SELECT dp_cdp.protect_table('chart', 'clinic', 'patient'); GRANT INSERT ON chart TO nob; ALTER TABLE chart FORCE ROW LEVEL SECURITY;
--@ attack nob
INSERT INTO chart VALUES (2000), (2001);
--> ok
INSERT INTO chart VALUES (2002);
--> 23503
--@ attack boss
UPDATE patient SET patient = 2003 WHERE patient = 2000;
--> coordinator: 0A000; ok
DELETE FROM patient WHERE patient IN (2000, 2001, 2003);
--> ok
SELECT count(*) = 0 FROM chart;
--> ok
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('chart'); DROP TABLE chart;
