-- One person's weight in an answer: more rows, more groups, more units than the
-- bounds allow.  With rho 50 the noise of a count has a standard deviation
-- below 1; who is in a count with at most 5 rows cannot move it by 25.

--# joins that repeat one person
--@ absent: ^f
--@ later: joins with tables that are not protected
--@ attack
CREATE TEMP TABLE amp AS SELECT 42 AS patient, g FROM generate_series(1, 1000) g;
CREATE TABLE ana.amp AS SELECT * FROM amp;
SET dp_cdp.rho = 50;
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit JOIN amp USING (patient)) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v, ana.amp a WHERE a.patient = v.patient) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_sum(1, 0, 5, 0, 5) AS n FROM ana.amp a RIGHT JOIN visit v USING (patient) WHERE a.g IS NOT NULL) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(DISTINCT v.patient) AS n FROM visit v JOIN amp a ON v.patient = a.patient) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN amp a ON true WHERE v.patient = 42) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v CROSS JOIN amp a WHERE v.patient = 42) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN LATERAL (SELECT * FROM amp WHERE amp.patient = v.patient) a ON true) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN (SELECT patient FROM amp UNION ALL SELECT patient FROM amp) a USING (patient)) q;
--> ZC002 | ok 5000
WITH a AS (SELECT * FROM amp) SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN a USING (patient)) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN patient p USING (patient) JOIN amp a USING (patient)) q;
--> ZC002 | ok 5000

--# functions and values in FROM
--@ attack
SELECT g, dp_count(*) FROM visit CROSS JOIN generate_series(1, 100) g GROUP BY g;
--> ZC002
SELECT dp_count(*) FROM visit, generate_series(1, 100);
--> ZC002
SELECT dp_count(*) FROM visit JOIN unnest(ARRAY[42, 42, 42]) u ON u = patient;
--> ok 1
SELECT dp_count(*) FROM visit CROSS JOIN (SELECT generate_series(1, 100)) g;
--> ZC002
SELECT dp_count(*) FROM visit v, jsonb_to_recordset('[]') AS j(patient int) WHERE j.patient = v.patient;
--> ok 1
SELECT dp_count(*) FROM visit, ward;
--> ZC002
SELECT dp_count(*) FROM visit CROSS JOIN ward WHERE age = 97;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN ward w ON true;
--> ZC002
CREATE FUNCTION ana.many() RETURNS SETOF int LANGUAGE sql AS 'SELECT 42 FROM generate_series(1, 1000)';
SELECT dp_count(*) FROM visit JOIN ana.many() m ON m = patient;
--> ok 1
CREATE VIEW ana.many AS SELECT 42 AS patient, g FROM generate_series(1, 1000) g;
SET dp_cdp.rho = 50;
SELECT n < 25 OR n IS NULL FROM (SELECT dp_count(*) AS n FROM visit JOIN ana.many USING (patient)) q;
--> ZC002 | ok 5000

--# a person in every group
--@ absent: ^f
--@ later: joins with tables that are not protected
--@ attack
CREATE TEMP TABLE every AS SELECT p AS patient, g FROM generate_series(1, 400) p, generate_series(1, 50) g;
SET dp_cdp.rho = 50;
SELECT sum(n) < 5 * 5 + 400 FROM (SELECT g, dp_count(*) AS n FROM visit JOIN every USING (patient) WHERE patient = 42 GROUP BY g) q;
--> ZC002 | ok 5000..10000
SELECT sum(n) < 5 * 5 + 400 FROM (SELECT e.g, dp_count(DISTINCT v.patient) AS n FROM every e JOIN visit v ON e.patient = v.patient WHERE v.patient = 42 GROUP BY 1) q;
--> ZC002 | ok 5000
SELECT coalesce(sum(n), 0) < 5 * 5 + 400 FROM (SELECT date_trunc('hour', at), dp_count(*) AS n FROM visit WHERE patient = 42 GROUP BY 1) q;
--> ok 10000
SELECT coalesce(sum(n), 0) < 5 * 5 + 400 FROM (SELECT id + 0, dp_count(DISTINCT patient) AS n FROM visit WHERE patient = 42 GROUP BY 1) q;
--> ok 5000

--# joins of protected tables that are not on the unit
--@ absent: ^f
--@ attack
SET dp_cdp.rho = 50;
SELECT dp_count(*) FROM visit v JOIN visit w ON v.age = w.age;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON v.id = p.patient;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient = p.patient + 0;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient = p.patient OR true;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient < p.patient;
--> ZC002
SELECT dp_count(*) FROM visit v, patient p WHERE v.patient IN (p.patient, 42);
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON (v.patient = p.patient) IS NOT TRUE;
--> ZC002
SELECT dp_count(*) FROM visit v, visit w;
--> ZC002
SELECT dp_count(*) FROM (SELECT id AS patient FROM visit) v JOIN patient p USING (patient);
--> ZC002
SELECT dp_count(*) FROM (SELECT age AS patient, ward FROM visit) v NATURAL JOIN patient p;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN visit w ON v.patient = w.patient JOIN patient p ON p.zip = v.ward;
--> ZC002
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN visit w USING (patient) JOIN visit x USING (patient) WHERE v.patient = 42) q;
--> ZC002 | ok 5000
SELECT dp_count(*) FROM visit v JOIN later l USING (patient);
--> ZC002 | 42501
SELECT dp_count(*) FROM visit v WHERE EXISTS (SELECT FROM patient p WHERE p.zip = v.ward);
--> ZC002

--# units that are equal only by appearance
--@ absent: ^f
--@ attack
CREATE TABLE ana.map (a int, b int);
INSERT INTO ana.map SELECT g, 42 FROM generate_series(1, 400) g;
SET dp_cdp.rho = 50;
SELECT dp_count(*) FROM visit v JOIN ana.map m ON m.a = v.patient JOIN patient p ON p.patient = m.b;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON p.patient = (v.patient + 42) - v.patient;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON CASE WHEN p.patient = 42 THEN true ELSE v.patient = p.patient END;
--> ZC002
SELECT dp_count(*) FROM visit v LEFT JOIN ana.map m ON m.a = v.patient JOIN patient p ON p.patient IS NOT DISTINCT FROM m.b;
--> ZC002
SELECT dp_count(*) FROM visit v LEFT JOIN patient p ON v.patient = p.patient AND false LEFT JOIN visit w ON w.patient IS NOT DISTINCT FROM p.patient;
--> ZC002
SELECT dp_count(*) FROM visit v LEFT JOIN (patient p JOIN visit w ON true) ON v.patient = p.patient;
--> ZC002
SELECT dp_count(*) FROM (visit v LEFT JOIN patient p ON v.patient = p.patient) JOIN visit w ON coalesce(p.patient, 42) = w.patient;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON NOT (v.patient <> p.patient) IS FALSE;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient = p.patient::smallint::int;
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient::text = left(p.patient::text, 1);
--> ZC002
SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient::float4 = p.patient::float4;
--> ZC002
SELECT dp_count(*) FROM visit v, patient p WHERE v.patient = p.patient OR v.age = 97;
--> ZC002
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN ana.map m ON m.b = v.patient JOIN patient p ON p.patient = m.b WHERE v.patient = 42) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v JOIN patient p ON v.patient = 42 AND p.patient = 42) q;
--> ZC002 | ok 5000
SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient = 42 AND p.patient = 43;
--> ZC002 | ok 5000
PREPARE p (int, int) AS SELECT dp_count(*) FROM visit v JOIN patient p ON v.patient = $1 AND p.patient = $2;
--> ZC002 | ok
EXECUTE p (42, 43);
--> ZC002 | ok 5000 | 26000
SELECT n < 25 FROM (SELECT dp_count(DISTINCT m.b) AS n FROM visit v JOIN ana.map m ON m.a = v.patient) q;
--> ok 5000
SELECT n < 25 FROM (SELECT dp_count(DISTINCT m.a) AS n FROM visit v JOIN ana.map m ON m.b = v.patient) q;
--> ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM (SELECT v.patient, m.b FROM visit v JOIN ana.map m ON m.b = v.patient) s WHERE patient = 42) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM (SELECT m.b AS patient FROM visit v JOIN ana.map m ON m.a = v.patient) s JOIN patient p USING (patient)) q;
--> ZC002

--# pre-aggregation over joins that multiply
--@ absent: ^f
--@ attack
CREATE TABLE ana.amp AS SELECT 42 AS patient, g FROM generate_series(1, 1000) g;
SET dp_cdp.rho = 50;
SELECT n < 25 FROM (SELECT dp_sum(c, 0, 5) AS n FROM (SELECT patient, count(*) AS c FROM visit JOIN ana.amp USING (patient) GROUP BY patient) s) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM (SELECT patient, g, count(*) AS c FROM visit JOIN ana.amp USING (patient) GROUP BY patient, g) s) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM (SELECT patient, count(*) AS c FROM visit GROUP BY patient) s JOIN ana.amp USING (patient)) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM patient p LEFT JOIN (SELECT patient, count(*) AS c FROM visit GROUP BY patient) s USING (patient) JOIN ana.amp USING (patient)) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM ana.amp a LEFT JOIN (SELECT patient, count(*) AS c FROM visit GROUP BY patient) s ON s.patient = a.g AND s.c > 12) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_sum(c, 0, 5, 0, 5) AS n FROM (SELECT patient, sum(age) AS c FROM visit GROUP BY patient, ward) s WHERE patient = 42) q;
--> ZC002 | ok 5000
SELECT dp_count(*) FROM (SELECT g AS patient, count(*) FROM visit JOIN ana.amp USING (patient) GROUP BY g) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT id, count(*) FROM single GROUP BY id) s;
--> ZC002 | ok 5000
SELECT dp_count(*) FROM (SELECT w, max(id) AS id FROM single GROUP BY w) s;
--> ZC002

--# outer joins
--@ absent: ^f
--@ later: joins with tables that are not protected
--@ attack
SET dp_cdp.rho = 50;
CREATE TABLE ana.g AS SELECT g FROM generate_series(1, 1000) g;
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM ana.g LEFT JOIN visit v ON v.patient = 42 AND v.age = 97 WHERE v.patient IS NULL) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM ana.g LEFT JOIN visit v ON v.patient = g AND v.age = 97) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(g) AS n FROM visit v RIGHT JOIN ana.g ON v.patient = g AND v.age = 97) q;
--> ZC002 | ok 5000
SELECT n < 2100 FROM (SELECT dp_count(*) AS n FROM visit v FULL JOIN ana.g ON v.patient = g) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM patient p LEFT JOIN visit v USING (patient) WHERE p.patient = 42) q;
--> ZC002 | ok 5000
SELECT dp_count(*) FROM ana.g LEFT JOIN visit v ON false;
--> ZC002 | ok 5000

--# levels below the aggregate that are not of one person
--@ absent: ^f
--@ attack
SELECT dp_sum(c, 0, 10000) FROM (SELECT ward, count(*) AS c FROM visit GROUP BY ward) s;
--> ZC002
SELECT dp_sum(m, 0, 100000) FROM (SELECT max(cost) AS m FROM visit) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT DISTINCT ward FROM visit WHERE patient = 42) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient / 2 AS p, count(*) FROM visit GROUP BY 1) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, ward, count(*) FROM visit GROUP BY ROLLUP (patient, ward)) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM visit GROUP BY patient HAVING (SELECT count(*) FROM visit) > 4002) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT max(patient) AS patient FROM visit GROUP BY patient % 7) s;
--> ZC002
SELECT dp_sum(c, 0, 10) FROM (SELECT patient, count(*) OVER () AS c FROM visit GROUP BY patient) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, rank() OVER (ORDER BY count(*)) AS r FROM visit GROUP BY patient) s WHERE r = 1;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, count(*) FROM visit GROUP BY patient ORDER BY 2 DESC LIMIT 1) s;
--> ok 1
SELECT dp_count(*) FROM (SELECT patient, count(*) AS n FROM visit GROUP BY patient ORDER BY 2 DESC LIMIT 1) s WHERE n > 12;
--> ZC002
SELECT dp_sum(c, 0, 10) FROM (SELECT patient, string_agg(ward, ',') AS w, array_agg(age) AS a, count(*) AS c FROM visit GROUP BY patient) s WHERE w LIKE '%x%' AND a[1] = 97;
--> ok 1
SELECT dp_sum(c, 0, 10) FROM (SELECT ward, string_agg(patient::text, ',') AS w, count(*) AS c FROM visit GROUP BY ward) s WHERE w LIKE '%42%';
--> ZC002
SET dp_cdp.rho = 50;
SELECT n < 25 FROM (SELECT dp_sum(c, 0, 5) AS n FROM (SELECT patient, count(*) AS c FROM visit GROUP BY patient) s WHERE patient = 42) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM (SELECT patient, ward, age FROM visit GROUP BY patient, ward, age) s WHERE patient = 42) q;
--> ZC002 | ok 5000
SELECT dp_count(*) IS NOT NULL FROM (SELECT patient, max(age) AS a FROM visit GROUP BY patient HAVING max(age) > 96) s;
--> ZC002 | ok 5000
SELECT dp_sum(a, 0, 100) IS NOT NULL FROM (SELECT patient, sum(age::bigint * 100000000000000000) AS a FROM visit GROUP BY patient) s;
--> ZC002 | ok 5000
SELECT dp_sum(a, 0, 100) IS NOT NULL FROM (SELECT patient, sum(cost::float8 * 1e305) AS a, avg(1 / (age - 97)) AS b FROM visit GROUP BY patient) s;
--> ZC002 | ok 5000
SELECT dp_sum(a, 0, 100) IS NOT NULL FROM (SELECT patient, stddev(cost) / (count(*) - 13) AS a FROM visit GROUP BY patient) s;
--> ZC002 | ok 5000

--# sampling, limits, windows, set operations below the aggregate
--@ attack
SELECT dp_count(*) FROM (SELECT * FROM visit LIMIT 1) s;
--> ok 1
SELECT dp_count(cost) FROM (SELECT * FROM visit LIMIT 1) s;
--> ZC002
SELECT dp_sum(cost, 0, 1000) FROM (SELECT * FROM visit ORDER BY cost DESC OFFSET 3) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT * FROM visit ORDER BY cost FETCH FIRST 1 ROW WITH TIES) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT row_number() OVER (ORDER BY id) AS r, * FROM visit) s WHERE r % 2 = 0;
--> ZC002
SELECT dp_count(*) FROM (SELECT DISTINCT ON (ward) * FROM visit ORDER BY ward, at) s;
--> ZC002
SELECT dp_count(*) IS NULL FROM (SELECT * FROM visit UNION ALL SELECT * FROM visit) s;
--> ok 1
SELECT dp_count(*) IS NULL FROM (SELECT patient FROM visit EXCEPT SELECT 42) s;
--> ok 1
SELECT dp_count(*) FROM (SELECT patient FROM visit INTERSECT ALL SELECT patient FROM patient) s;
--> ZC002
SELECT dp_count(*) FROM visit TABLESAMPLE SYSTEM (10) REPEATABLE (1);
--> ZC002
SELECT dp_count(*) FROM visit TABLESAMPLE system_rows (1);
--> ZC002
WITH RECURSIVE r AS (SELECT patient, 1 AS n FROM visit UNION ALL SELECT patient, n + 1 FROM r WHERE n < 5) SELECT dp_count(*) FROM r;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, unnest(ARRAY[1, 2, 3]) FROM visit) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT * FROM visit FOR SHARE) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT v.* FROM visit v, visit w) s;
--> ZC002

--# conditions over everybody
--@ attack
SELECT dp_count(*) FROM visit WHERE NOT EXISTS (SELECT FROM visit w WHERE w.age = 97);
--> ZC002
SELECT dp_count(*) IS NOT NULL FROM visit WHERE age > (SELECT avg(age) FROM visit);
--> ok 2
SELECT dp_count(*) FROM visit WHERE cost = (SELECT max(w.cost) FROM visit w WHERE w.ward = visit.ward);
--> ok 3
SELECT dp_count(*) FROM visit WHERE cost = (SELECT max(w.cost) FROM visit w WHERE w.ward > visit.ward);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE ctid = '(0,1)' OR xmin::text = '1' OR tableoid = 1;
--> ZC002
SELECT dp_count(*) FROM visit WHERE (SELECT dp_count(*) FROM visit) > 1000;
--> ok 2
SELECT (SELECT dp_count(v.age) FROM ward LIMIT 1) FROM visit v;
--> ok 1 | ZC002
SELECT dp_count(*) FROM visit v WHERE v = (SELECT w FROM visit w LIMIT 1);
--> ZC002

--# what is called like the unit is not the unit
--@ absent: ^f
--@ attack
CREATE VIEW ana.w AS SELECT id AS patient, cost, patient AS p FROM visit;
CREATE FUNCTION ana.weight(q text) RETURNS float8 LANGUAGE sql AS 'SELECT sensitivity FROM dp_cdp.preview(q) WHERE item = ''aggregate''';
SELECT ana.weight('SELECT dp_count(DISTINCT patient) FROM visit') = 1;
--> ok
SELECT ana.weight('SELECT dp_count(DISTINCT patient) FROM (SELECT id AS patient FROM visit) s') = 5;
--> ok
SELECT ana.weight('SELECT dp_count(DISTINCT p) FROM (SELECT patient % 10 AS p FROM visit) s') = 5;
--> ok
SELECT ana.weight('SELECT dp_count(DISTINCT id) FROM visit') = 5;
--> ok
SELECT ana.weight('SELECT dp_count(DISTINCT patient) FROM ana.w') = 5 AND ana.weight('SELECT dp_count(DISTINCT p) FROM ana.w') = 1;
--> ok
SELECT ana.weight('SELECT dp_count(DISTINCT patient + 0) FROM visit') = 5;
--> ok
SELECT ana.weight('SELECT dp_count(DISTINCT patient || '''') FROM visit') = 5;
--> ok
SELECT dp_count(DISTINCT patient) > 0 FROM (SELECT patient FROM visit) s;
--> ok 1
SET dp_cdp.rho = 50;
SELECT n < 25 FROM (SELECT dp_count(DISTINCT patient) AS n FROM ana.w WHERE p = 42) s;
--> ok 5000

--# distinct values move with one person by at most max_rows
--@ absent: ^f
--@ attack
SET dp_cdp.rho = 50;
SELECT n < 25 FROM (SELECT dp_count(DISTINCT id) AS n FROM visit WHERE patient = 42) s;
--> ok 5000
SELECT n < 25 FROM (SELECT dp_count(DISTINCT at) AS n FROM visit WHERE patient = 42) s;
--> ok 5000
SELECT n < 25 FROM (SELECT dp_count(DISTINCT g.g) AS n FROM visit v CROSS JOIN (SELECT g FROM ward w, (SELECT floor * 4 + i AS g FROM ward, (VALUES (1), (2), (3)) t (i)) x) g WHERE v.patient = 42) s;
--> ZC002 | ok 5000
SELECT abs(a - b) < 25 FROM (SELECT dp_count(DISTINCT patient + 0) AS a, dp_count(DISTINCT patient + 0) FILTER (WHERE patient <> 42) AS b FROM visit) s;
--> ok 10000
SELECT abs(a - b) < 25 FROM (SELECT dp_count(DISTINCT (patient, age)) AS a, dp_count(DISTINCT (patient, age)) FILTER (WHERE patient <> 42) AS b FROM visit) s;
--> ok 10000
SELECT abs(a - b) < 25 FROM (SELECT dp_count(DISTINCT id * 1000 + age) AS a, dp_count(DISTINCT id * 1000 + age) FILTER (WHERE patient <> 42) AS b FROM visit) s;
--> ok 10000
SELECT abs(a - b) < 25 FROM (SELECT dp_count(DISTINCT CASE WHEN patient = 42 THEN id ELSE 0 END) AS a, dp_count(DISTINCT 0 * age) AS b FROM visit) s;
--> ok 10000
SELECT n < 25 * 5 FROM (SELECT sum(n) AS n FROM (SELECT age > 96, dp_count(DISTINCT id) AS n FROM visit WHERE patient = 42 GROUP BY 1) s) s;
--> ok 5000
SET dp_cdp.max_rows = 1;
SELECT n < 25 FROM (SELECT dp_count(DISTINCT id) AS n FROM visit WHERE patient = 42) s;
--> ok 5000
SET dp_cdp.max_rows = 100000; SET dp_cdp.rho = 0.01;
SELECT sensitivity >= 100 FROM dp_cdp.preview('SELECT dp_count(DISTINCT id) FROM visit') WHERE item = 'aggregate';
--> ok
RESET dp_cdp.max_rows;
SELECT dp_count(DISTINCT v) FROM visit v;
--> ZC002
SELECT dp_count(DISTINCT ARRAY[age]) FROM visit v;
--> ZC002
SELECT dp_count(DISTINCT ctid) FROM visit v;
--> ZC002
SELECT dp_count(DISTINCT xmin::text), dp_count(DISTINCT tableoid) FROM visit v;
--> ZC002
SELECT dp_count(DISTINCT age ORDER BY age DESC), count(DISTINCT ward ORDER BY ward COLLATE "C") FROM visit v;
--> ZC002 | ok 2 | 42P10

--# bounds and settings
--@ absent: ^f
--@ attack
SET dp_cdp.rho = 50;
SET dp_cdp.max_rows = 1;
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit WHERE patient = 42) q;
--> ok 5000
SELECT n < 1500 FROM (SELECT dp_sum(cost) AS n FROM visit WHERE patient = 42) q;
--> ok 5000
SELECT n < 1500 FROM (SELECT dp_sum(cost, 0, 1000) AS n FROM visit WHERE patient = 42) q;
--> ok 5000
SELECT n < 25 FROM (SELECT dp_sum(1000000, 0, 5) AS n FROM visit WHERE patient = 42) q;
--> ok 5000
SELECT n < 25 FROM (SELECT dp_sum(1000000, 0, 5, 0, 1e18) AS n FROM visit WHERE patient = 42) q;
--> ok 5000
SELECT n < 25 FROM (SELECT dp_sum(1000000, 0, 1e15, 0, 5) AS n FROM visit WHERE patient = 42) q;
--> ok 5000
SET dp_cdp.max_rows = 100000;
SET dp_cdp.rho = 0.01;
SELECT stddev(n) > 1000 FROM (SELECT w, dp_count(*) AS n FROM part GROUP BY w, y < 10 LIMIT 0) q;
--> ok
SET dp_cdp.max_rows = -1;
--> ZC004
SET dp_cdp.max_groups = 2147483648;
--> 22023

--# grouping sets
--@ attack
SELECT ward, age > 50, dp_count(*) IS NULL FROM visit GROUP BY CUBE (ward, age > 50) LIMIT 1;
--> ZC002 | ok 4..8
SELECT ward, dp_count(*) IS NULL FROM visit GROUP BY ROLLUP (ward) LIMIT 1;
--> ZC002 | ok 2..4
SELECT age > 5, dp_count(*) IS NULL FROM visit GROUP BY GROUPING SETS ((age > 5), (age > 5), (), ()) LIMIT 1;
--> ZC002 | ok 2..4
SELECT ward, grouping(ward), dp_count(*) IS NULL FROM visit GROUP BY GROUPING SETS ((ward), ()) HAVING grouping(ward) = 1 LIMIT 1;
--> ZC002 | ok 2..4
SELECT dp_count(*) IS NULL FROM visit GROUP BY GROUPING SETS (());
--> ZC002 | ok 1

--# public tables of the analyst that bring code
--@ absent: NOTICE:  spy.*(boss|postgres)|NOTICE:  spy \d{4}
--@ attack
CREATE FUNCTION ana.spy(int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'spy % % %', $1, current_user, session_user; RETURN $1; END $$;
CREATE FUNCTION ana.loot(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'spy %', (SELECT mode() WITHIN GROUP (ORDER BY cost) FROM public.visit WHERE age = 97); RETURN true; END $$;
CREATE FUNCTION ana.pays(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 1000000 AS $$ BEGIN RETURN (SELECT max(cost) > 2000 FROM public.visit) IS NOT NULL; END $$;
CREATE TABLE ana.t (patient int, x int);
INSERT INTO ana.t SELECT g, g FROM generate_series(1, 100) g;
CREATE TABLE ana.log (t text);
CREATE FUNCTION ana.trg() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', current_user; RETURN NULL; END $$;
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON ana.t FOR EACH STATEMENT EXECUTE FUNCTION ana.trg();
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t ON t.patient = v.patient AND ana.loot(t.x);
--> ZC002
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t ON t.patient = v.patient WHERE ana.spy(t.x) > 0;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t ON ana.spy(v.age) = t.x;
--> ZC002
SELECT dp_count(*) IS NULL FROM (visit v JOIN ward d ON v.ward = d.ward AND ana.spy(v.age) > 0) JOIN ward e ON d.ward = e.ward;
--> ZC002
CREATE VIEW ana.tv AS SELECT patient, ana.spy(x) AS x FROM ana.t;
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.tv USING (patient);
--> ZC002 | ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.tv ON tv.x = v.patient;
--> ZC002 | ok 1
CREATE VIEW ana.tb WITH (security_barrier) AS SELECT * FROM ana.t WHERE ana.loot(x);
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.tb USING (patient);
--> ZC002
ALTER TABLE ana.t ENABLE ROW LEVEL SECURITY;
ALTER TABLE ana.t FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON ana.t USING (ana.loot(x));
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t USING (patient);
--> ZC002
DROP POLICY p ON ana.t;
CREATE POLICY p ON ana.t USING (patient > 97 AND ana.pays(x));
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t USING (patient);
--> ok 4
DROP POLICY p ON ana.t;
ALTER TABLE ana.t DISABLE ROW LEVEL SECURITY;
CREATE VIEW ana.tp WITH (security_barrier) AS SELECT * FROM ana.t WHERE patient > 97 AND ana.pays(x);
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.tp USING (patient);
--> ok 4
CREATE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS 'BEGIN RETURN $1; END';
CREATE INDEX ON ana.t (ana.idx(x));
CREATE INDEX ON ana.t (patient) WHERE ana.idx(x) > 0;
CREATE STATISTICS ana.st ON (ana.idx(x)) FROM ana.t;
CREATE OR REPLACE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'spy % %', current_user, (SELECT mode() WITHIN GROUP (ORDER BY cost) FROM public.visit WHERE age = 97); RETURN $1; END $$;
SET enable_seqscan = off;
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t USING (patient);
--> ZC002 | ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t USING (patient) WHERE ana.idx(t.x) > 0;
--> ZC002
CREATE TABLE ana.ck (patient int, CHECK (ana.idx(patient) > 0));
ALTER TABLE ana.ck ADD CONSTRAINT two CHECK (ana.idx(5) > 6) NOT VALID;
SET constraint_exclusion = on;
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.ck USING (patient);
--> ZC002 | ok 1
CREATE TABLE ana.pt (patient int) PARTITION BY RANGE (ana.spy(patient));
--> ok | 42P17
CREATE TYPE ana.c AS (i int);
CREATE FUNCTION ana.c_lt(ana.c, ana.c) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'spy'; RETURN true; END $$;
CREATE TABLE ana.comp (patient int, c ana.c, d int GENERATED ALWAYS AS (ana.idx(patient)) STORED);
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.comp USING (patient);
--> ZC002 | ok 1
CREATE RULE "_RETURN" AS ON SELECT TO ana.log DO INSTEAD SELECT ana.spy(1)::text AS t;
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.log l ON l.t = v.ward;
--> ZC002 | ok 1
CREATE FOREIGN TABLE ana.ft (patient int) SERVER nowhere;
--> 42704

--# a public table with a child of the analyst's
--@ absent: NOTICE:  spy.*(boss|postgres)
--@ setup
CREATE TABLE public.opened (patient int, x int); ALTER TABLE opened OWNER TO boss; GRANT SELECT ON opened TO ana;
INSERT INTO opened SELECT g, g FROM generate_series(1, 10) g;
CREATE TABLE public.opened_part (patient int, x int) PARTITION BY LIST (x); ALTER TABLE opened_part OWNER TO boss; GRANT SELECT ON opened_part TO ana;
CREATE TABLE ana.sub () INHERITS (opened); ALTER TABLE ana.sub OWNER TO ana;
CREATE TABLE ana.one PARTITION OF opened_part FOR VALUES IN (1); ALTER TABLE ana.one OWNER TO ana;
--@ attack
CREATE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS 'BEGIN RETURN $1; END';
INSERT INTO ana.sub SELECT g, g FROM generate_series(1, 100) g;
INSERT INTO ana.one SELECT g, 1 FROM generate_series(1, 100) g;
CREATE INDEX ON ana.sub (ana.idx(x)); CREATE INDEX ON ana.sub (patient) WHERE ana.idx(1) = 1;
CREATE INDEX ON ana.one (ana.idx(x)); CREATE INDEX ON ana.one (patient) WHERE ana.idx(1) = 1;
ALTER TABLE ana.sub ADD CHECK (ana.idx(patient) > 0); ALTER TABLE ana.one ADD CHECK (ana.idx(patient) > 0);
CREATE OR REPLACE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'spy % %', current_user, (SELECT mode() WITHIN GROUP (ORDER BY cost) FROM public.visit WHERE age = 97); RETURN $1; END $$;
SET enable_seqscan = off;
SET constraint_exclusion = on;
SELECT dp_count(*) IS NULL FROM visit v JOIN opened USING (patient);
--> ZC002 | ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN opened USING (patient) WHERE x = 1;
--> ZC002 | ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN opened_part USING (patient) WHERE x = 1;
--> ZC002 | ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT * FROM opened WHERE x > 1) o USING (patient);
--> ZC002 | ok 1
--@ teardown
DROP TABLE opened, opened_part CASCADE;

--# privileges on public tables are still asked for
--@ absent: \b777\b
--@ setup
CREATE TABLE public.pay (patient int, pay int); INSERT INTO pay VALUES (42, 777); ALTER TABLE pay OWNER TO boss; GRANT SELECT (patient) ON pay TO ana;
CREATE TABLE public.hidden (patient int, pay int); INSERT INTO hidden VALUES (42, 777); ALTER TABLE hidden OWNER TO boss;
CREATE TABLE public.policed (patient int, pay int); INSERT INTO policed VALUES (42, 777); ALTER TABLE policed OWNER TO boss; GRANT SELECT ON policed TO ana; ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
--@ attack
SELECT dp_count(*) FROM visit JOIN pay USING (patient) WHERE pay > 776;
--> 42501 | ZC002
SELECT pay, dp_count(*) FROM visit JOIN pay USING (patient) GROUP BY pay;
--> 42501 | ZC002
SELECT dp_count(*) IS NULL FROM visit JOIN pay USING (patient);
--> ok 1 | ZC002 | 42501
SELECT dp_count(*) FROM visit JOIN hidden USING (patient);
--> 42501 | ZC002
SELECT pay, dp_count(*) FROM visit LEFT JOIN hidden USING (patient) GROUP BY pay;
--> 42501 | ZC002
CREATE VIEW ana.h AS SELECT * FROM hidden;
SELECT pay, dp_count(*) FROM visit JOIN ana.h USING (patient) GROUP BY pay;
--> 42501 | ZC002
WITH h AS (SELECT * FROM hidden) SELECT dp_count(*) FROM visit JOIN h USING (patient);
--> 42501 | ZC002
SET dp_cdp.rho = 50;
SELECT pay, n < 5 FROM (SELECT pay, dp_count(*) AS n FROM visit JOIN policed USING (patient) GROUP BY pay) q;
--> ok 5000..10000 | ZC002
EXPLAIN SELECT dp_count(*) FROM visit JOIN hidden USING (patient);
--> 42501 | ok | ZC002
--@ teardown
DROP TABLE pay, hidden CASCADE; DROP TABLE policed;

--# other datasets, tables whose rows are the units
--@ absent: ^f
--@ attack
SELECT dp_count(*) IS NOT NULL FROM visit v JOIN lab l USING (patient);
--> ZC002
SELECT dp_count(*) IS NOT NULL FROM visit v JOIN single s ON s.id = v.patient;
--> ZC002
SELECT dp_count(*) IS NOT NULL FROM single s JOIN single t ON s.id = t.id;
--> ZC002 | ok 1
SET dp_cdp.rho = 50;
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN (SELECT 42 AS id FROM generate_series(1, 1000)) a USING (id)) q;
--> ZC002 | ok 5000
CREATE TABLE ana.u (id int UNIQUE DEFERRABLE INITIALLY DEFERRED, g int);
BEGIN; INSERT INTO ana.u SELECT 42, g FROM generate_series(1, 1000) g;
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN ana.u USING (id)) q;
--> standby: any; ZC002 | ok 5000
ROLLBACK;
CREATE TABLE ana.n (id int UNIQUE, g int UNIQUE);
INSERT INTO ana.n SELECT NULL, g FROM generate_series(1, 1000) g;
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN ana.n ON coalesce(n.id, 42) = s.id) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN ana.n ON n.id IS NOT DISTINCT FROM s.nothing WHERE s.id = 42) q;
--> ZC002 | ok 5000
CREATE TABLE ana.w (id int, g int); CREATE UNIQUE INDEX ON ana.w (id) WHERE g = 1;
INSERT INTO ana.w SELECT 42, g FROM generate_series(1, 1000) g;
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN ana.w USING (id)) q;
--> ZC002 | ok 5000
CREATE TABLE ana.base (id int PRIMARY KEY); CREATE TABLE ana.heir () INHERITS (ana.base);
INSERT INTO ana.heir SELECT 42 FROM generate_series(1, 1000);
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN ana.base USING (id)) q;
--> ZC002 | ok 5000
PREPARE p AS SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN ana.k USING (id)) q;
--> 42P01
CREATE TABLE ana.k (id int PRIMARY KEY); INSERT INTO ana.k VALUES (42);
PREPARE p AS SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM single s JOIN ana.k USING (id)) q;
EXECUTE p;
--> ZC002 | ok 5000
ALTER TABLE ana.k DROP CONSTRAINT k_pkey; INSERT INTO ana.k SELECT 42 FROM generate_series(1, 1000);
EXECUTE p;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(DISTINCT patient) AS n FROM visit FULL JOIN patient USING (patient) WHERE patient = 42) q;
--> ZC002 | ok 5000
SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM visit v FULL JOIN visit w ON v.patient = w.patient WHERE coalesce(v.patient, w.patient) = 42) q;
--> ZC002 | ok 5000

--# what a release is given is computed, and paid for, before
--@ attack
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT dp_count(*) AS n FROM visit) q ON q.n > v.age;
--> ZC002 | ok 2
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT ward, dp_count(*) AS n FROM visit GROUP BY ward) q USING (ward) WHERE n > -1e9;
--> ZC002 | ok 3
CREATE FUNCTION ana.asks() RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN PERFORM dp_count(*) FROM visit; PERFORM set_config('dp_cdp.rho', '0.05', false); RETURN NEXT 42; END $$;
CREATE VIEW ana.asks AS SELECT a AS patient FROM ana.asks() a;
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.asks USING (patient);
--> ZC002 | ok 2..6
CREATE FUNCTION ana.fails() RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
CREATE VIEW ana.fails AS SELECT a AS patient FROM ana.fails() a;
RESET dp_cdp.rho;
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.fails USING (patient);
--> ZC002 | P0001
CREATE FUNCTION ana.reads() RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT patient FROM visit WHERE age = 97; END $$;
CREATE VIEW ana.reads AS SELECT a AS patient FROM ana.reads() a;
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.reads USING (patient);
--> ZC002
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT patient FROM kid) k USING (patient) JOIN ana.reads r USING (patient);
--> ZC002
CREATE TABLE ana.mark (patient int); INSERT INTO ana.mark VALUES (42);
WITH d AS (DELETE FROM ana.mark RETURNING patient) SELECT dp_count(*) FROM visit JOIN d USING (patient);
--> ZC002

--# CTEs that are referenced twice
--@ absent: ^f
--@ attack
WITH q AS (SELECT dp_count(*) AS n FROM visit) SELECT a.n = b.n FROM q a, q b;
--> ok 1
WITH q AS NOT MATERIALIZED (SELECT dp_count(*) AS n FROM visit) SELECT a.n = b.n FROM q a JOIN q b ON true;
--> ok 1
SET dp_cdp.rho = 50;
WITH q AS (SELECT * FROM visit WHERE patient = 42) SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM q a, q b) s;
--> ZC002
WITH q AS (SELECT * FROM visit WHERE patient = 42) SELECT n < 25 FROM (SELECT dp_count(*) AS n FROM q a JOIN q b USING (patient)) s;
--> ZC002 | ok 5000
WITH q AS (SELECT * FROM visit WHERE patient = 42) SELECT n < 25 AND m < 25 FROM (SELECT dp_count(*) AS n FROM q) s, (SELECT dp_count(*) AS m FROM q) t;
--> ZC002 | ok 10000
