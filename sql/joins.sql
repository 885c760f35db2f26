-- What private aggregates read beside one table: joins, subqueries, views and
-- WITH queries over protected tables, aggregates of each privacy unit below a
-- release, grouping sets, and what of that is refused, with its position.
-- rho is so large that noise rounds to 0.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_other;
CREATE ROLE regress_dp_analyst;
CREATE SCHEMA joins AUTHORIZATION regress_dp_owner;
GRANT CREATE, USAGE ON SCHEMA joins TO regress_dp_analyst, regress_dp_other;
SET search_path = joins, public;
SET client_min_messages = warning;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET SESSION AUTHORIZATION regress_dp_owner;
CREATE TABLE patients (patient int PRIMARY KEY, zip text NOT NULL, born int);	-- 12
INSERT INTO patients SELECT g, 'z' || g % 3, 1950 + g FROM generate_series(0, 11) g;
CREATE TABLE visits (			-- 5 of each patient, and one of nobody; ward w4 is not known
	id int PRIMARY KEY, patient int, ward text NOT NULL, cost int, code int, urgent boolean
);
INSERT INTO visits SELECT g, g % 12, 'w' || 1 + g % 4, g / 12 % 3, g % 5, g % 2 = 0 FROM generate_series(1, 60) g;
INSERT INTO visits VALUES (61, NULL, 'w1', 1, 1, true);
CREATE TABLE events (ev int PRIMARY KEY, ward text, x int);		-- each row is a unit
INSERT INTO events SELECT g, 'w' || 1 + g % 4, g % 3 FROM generate_series(1, 40) g;
CREATE TABLE persons (patient int, zip text);	-- of another dataset
CREATE TABLE wards (ward text PRIMARY KEY, floor int, name text);
INSERT INTO wards VALUES ('w1', 0, 'north'), ('w2', 1, 'south'), ('w3', 1, 'east'), ('w5', 2, 'empty');
CREATE TABLE beds (ward text, bed int);		-- two in each ward
INSERT INTO beds SELECT ward, bed FROM wards, generate_series(1, 2) bed;
CREATE TABLE closed (ward text);			-- nobody else may read it
SELECT dp_cdp.create_dataset('joins', default_rho => 6000, delta => 1e-6, max_groups => 4, max_rows => 5);
SELECT dp_cdp.create_dataset('joins_2');
SELECT dp_cdp.protect_table('patients', 'joins', unit => 'patient');
SELECT dp_cdp.protect_table('visits', 'joins', unit => 'patient');
SELECT dp_cdp.protect_table('events', 'joins', each_row => true);
SELECT dp_cdp.protect_table('persons', 'joins_2', unit => 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 6, 0, 6);
SELECT dp_cdp.set_bounds('events', 'x', 0, 5);
SELECT dp_cdp.set_keys('visits', 'ward', ARRAY['w1', 'w2', 'w3', 'w4']);
SELECT dp_cdp.set_keys('patients', 'zip', ARRAY['z0', 'z1', 'z2', 'z3']);
SELECT dp_cdp.set_budget('joins', 'regress_dp_analyst', rho => 1000000);
SELECT dp_cdp.set_budget('joins_2', 'regress_dp_analyst', rho => 1000000);
GRANT SELECT ON wards, beds TO regress_dp_analyst;

CREATE VIEW urgent_visits AS SELECT patient, ward, cost FROM visits WHERE urgent;
CREATE VIEW treated AS SELECT v.patient, v.ward, v.cost, p.zip, w.floor
	FROM visits v JOIN patients p USING (patient) LEFT JOIN wards w USING (ward);
CREATE VIEW treated_upstairs AS SELECT patient, zip, ward, cost FROM treated WHERE floor > 0;
CREATE VIEW totals AS SELECT patient, count(*) AS visits, sum(cost) AS cost FROM visits GROUP BY patient;
CREATE VIEW floors AS SELECT DISTINCT floor FROM wards;
GRANT SELECT ON urgent_visits, treated, treated_upstairs, totals, floors TO regress_dp_analyst;
CREATE VIEW not_granted AS SELECT * FROM visits;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_dp_other;
CREATE TABLE letters (patient int, kind text);	-- of the dataset, and of another owner
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.protect_table('letters', 'joins', unit => 'patient');

-- an index proves that there is one row once it is older than each snapshot, those of autovacuum, too
DO $$ BEGIN
	FOR i IN 1..600 LOOP
		PERFORM pg_stat_clear_snapshot();
		EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()
			AND greatest(age(backend_xmin), age(backend_xid)) >= (SELECT min(age(xmin)) FROM pg_index));
		PERFORM pg_sleep(0.05);
	END LOOP;
END $$;
SET SESSION AUTHORIZATION regress_dp_analyst;
CREATE TABLE notes (ward text, note text);	-- the analyst's own
INSERT INTO notes VALUES ('w1', 'a'), ('w2', 'a'), ('w4', 'b');
CREATE VIEW own_view AS SELECT v.ward, v.cost, n.note FROM visits v JOIN notes n ON n.ward = v.ward;

-- --------------------------------------------------------------------------
-- Protected tables on their privacy units
-- --------------------------------------------------------------------------

SELECT dp_count(*) FROM visits v JOIN patients p ON p.patient = v.patient WHERE p.zip = 'z1';
SELECT dp_count(*) FROM visits v, patients p WHERE p.patient = v.patient AND p.born < 1953;
SELECT zip, dp_count(*), dp_count(DISTINCT patient), dp_sum(cost) FROM visits JOIN patients USING (patient) GROUP BY zip;
SELECT zip, count(*), count(DISTINCT v.patient), sum(v.cost) FROM visits v NATURAL JOIN patients GROUP BY zip;
SELECT dp_count(*), dp_count(p.patient) FROM visits v LEFT JOIN patients p ON p.patient = v.patient AND p.zip = 'z0';
SELECT dp_count(*), dp_count(v.id) FROM visits v RIGHT JOIN patients p ON v.patient = p.patient AND v.urgent;
SELECT p.zip, dp_count(*) FROM visits v LEFT JOIN patients p ON p.patient = v.patient AND p.zip <> 'z2' GROUP BY p.zip;
SELECT dp_count(*) FROM visits a JOIN patients b USING (patient) JOIN patients c USING (patient) WHERE c.zip = 'z1';
-- a visit with each visit of the same patient: 25 rows, of which max_rows count
SELECT dp_count(*), dp_count(DISTINCT a.patient) FROM visits a JOIN visits b ON a.patient = b.patient;
SET dp_cdp.rho = 30000;
SET dp_cdp.max_rows = 25;
SELECT dp_count(*) FROM visits a JOIN visits b ON a.patient = b.patient;
SELECT dp_count(*) FROM visits a JOIN visits b ON a.patient = b.patient AND a.id < b.id;
RESET dp_cdp.max_rows;
RESET dp_cdp.rho;
-- every patient is in 3 wards; of them two are taken, at random
SET dp_cdp.max_groups = 2;
SELECT sum(n) FROM (SELECT code, dp_count(DISTINCT v.patient) FROM visits v JOIN patients p USING (patient)
	WHERE code IN (1, 2, 3, 4) GROUP BY code) q (code, n);
RESET dp_cdp.max_groups;

-- --------------------------------------------------------------------------
-- With public tables
-- --------------------------------------------------------------------------

SELECT floor, name, dp_count(*), dp_sum(cost) FROM visits JOIN wards USING (ward) GROUP BY 1, 2;
SELECT floor, dp_count(*), dp_count(DISTINCT patient) FROM visits NATURAL JOIN wards GROUP BY 1;
SELECT floor, dp_count(*) FROM visits v LEFT JOIN wards w ON w.ward = v.ward GROUP BY 1;
SELECT floor, dp_count(*) FROM wards w RIGHT JOIN visits v ON w.ward = v.ward AND floor > 0 GROUP BY 1;
SELECT w.name, p.zip, dp_count(*) FROM visits v JOIN patients p USING (patient) JOIN wards w USING (ward)
	WHERE w.floor = 1 AND p.zip IN ('z1', 'z2') GROUP BY 1, 2;
SELECT n.note, w.floor, dp_count(*) FROM visits v LEFT JOIN wards w USING (ward) LEFT JOIN notes n USING (ward) GROUP BY 1, 2;
SELECT dp_count(*) FROM visits v JOIN (wards w JOIN beds b USING (ward)) ON w.ward = v.ward AND b.bed = 1;
SELECT dp_count(*) FROM visits v JOIN (wards w LEFT JOIN notes n USING (ward)) ON w.ward = v.ward WHERE n.note IS NULL;
SELECT dp_count(*) FROM visits v JOIN wards w ON v.code > w.floor AND w.name = 'south';
-- two beds: each visit twice, of which max_rows count
SELECT bed, dp_count(*) FROM visits JOIN beds USING (ward) GROUP BY bed;
SELECT dp_count(*) FROM visits JOIN beds USING (ward);
SET dp_cdp.max_rows = 10;
SELECT dp_count(*) FROM visits JOIN beds USING (ward);
RESET dp_cdp.max_rows;

-- VALUES, subqueries, views and WITH
SELECT k.kind, dp_count(*) FROM visits v JOIN (VALUES ('w1', 'old'), ('w2', 'new'), ('w9', 'planned')) k (ward, kind) ON k.ward = v.ward
	GROUP BY k.kind ORDER BY 1;
SELECT dp_count(*) FROM visits v JOIN (SELECT ward FROM wards WHERE floor = 1 ORDER BY name LIMIT 1) w ON w.ward = v.ward;
SELECT dp_count(*) FROM visits v JOIN (SELECT ward, count(*) AS beds FROM beds GROUP BY ward) b USING (ward) WHERE b.beds = 2;
SELECT dp_count(*) FROM visits v JOIN (SELECT ward FROM wards UNION SELECT ward FROM notes) u USING (ward);
SELECT dp_count(*) FROM visits v JOIN floors f ON f.floor = v.code;
WITH upstairs AS (SELECT ward FROM wards WHERE floor > 0) SELECT dp_count(*) FROM visits JOIN upstairs USING (ward);
WITH upstairs AS MATERIALIZED (SELECT ward FROM wards WHERE floor > 0)
	SELECT (SELECT dp_count(*) FROM visits JOIN upstairs USING (ward)) AS n, (SELECT count(*) FROM upstairs) AS wards;
-- also what was released before
WITH busy AS (SELECT ward, dp_count(*) AS n FROM visits GROUP BY ward HAVING dp_count(*) > 14)
	SELECT dp_count(*) FROM events JOIN busy USING (ward);
-- and the other way round: after the release everything is possible
SELECT w.name, q.n FROM wards w LEFT JOIN (SELECT ward, dp_count(*) AS n FROM visits GROUP BY ward) q USING (ward) ORDER BY 1;
SELECT a.ward, a.n, b.n FROM (SELECT ward, dp_count(*) AS n FROM visits GROUP BY ward) a
	FULL JOIN (SELECT ward, dp_count(*) AS n FROM events WHERE ward IN ('w1', 'w5') GROUP BY ward) b USING (ward) ORDER BY 1;

-- tables whose rows are units
SELECT floor, dp_count(*), dp_sum(x) FROM events JOIN wards USING (ward) GROUP BY floor;
SELECT dp_count(*), dp_sum(x) FROM events JOIN beds USING (ward);
SET dp_cdp.max_rows = 1;
SELECT dp_count(*) FROM events JOIN beds USING (ward);
RESET dp_cdp.max_rows;
-- without and with bounding: no more than one ward for each event, any number of beds
EXPLAIN (COSTS OFF) SELECT dp_count(*), dp_sum(x) FROM events;
EXPLAIN (COSTS OFF) SELECT dp_count(*), dp_sum(x) FROM events JOIN wards USING (ward);
EXPLAIN (COSTS OFF) SELECT dp_count(*), dp_sum(x) FROM events JOIN beds USING (ward);
EXPLAIN (COSTS OFF) SELECT floor, dp_count(*), dp_sum(x) FROM events LEFT JOIN wards USING (ward) GROUP BY floor;
EXPLAIN (COSTS OFF) SELECT bed, dp_count(*), dp_sum(x) FROM events LEFT JOIN beds USING (ward) GROUP BY bed;
EXPLAIN (COSTS OFF) SELECT w.name, p.zip, dp_count(*), dp_sum(v.cost) FROM visits v JOIN patients p USING (patient) JOIN wards w USING (ward) GROUP BY 1, 2;

-- --------------------------------------------------------------------------
-- Subqueries, views and WITH queries over protected tables
-- --------------------------------------------------------------------------

SELECT dp_count(*) FROM (SELECT ward FROM visits WHERE urgent) q;
SELECT q.zip, dp_sum(v.cost) FROM visits v JOIN (SELECT patient AS who, upper(zip) AS zip FROM patients) q ON q.who = v.patient
	WHERE q.zip IN ('Z0', 'Z1') GROUP BY q.zip;
SELECT dp_count(*) FROM urgent_visits;
SELECT zip, floor, dp_count(*) FROM treated WHERE zip IN ('z0', 'z1') GROUP BY 1, 2;
SELECT dp_count(*), dp_sum(cost) FROM treated_upstairs;
SELECT zip, dp_count(DISTINCT u.patient) FROM urgent_visits u JOIN treated_upstairs t ON t.patient = u.patient GROUP BY zip;
SELECT note, dp_count(*), dp_sum(cost) FROM own_view GROUP BY note;
WITH v AS (SELECT * FROM visits WHERE cost > 0), p AS MATERIALIZED (SELECT * FROM patients), both_of AS (SELECT v.ward, p.zip FROM v JOIN p USING (patient))
	SELECT (SELECT dp_count(*) FROM v) AS v, (SELECT dp_count(*) FROM v WHERE ward = 'w1') AS w1, (SELECT dp_count(*) FROM p) AS p,
		(SELECT dp_count(*) FROM both_of WHERE zip = 'z2') AS z2;
WITH v AS NOT MATERIALIZED (SELECT * FROM visits) SELECT dp_count(*) FROM v a JOIN v b ON a.patient = b.patient AND a.id = b.id;
-- a release that is referenced twice is one release
SELECT rho_spent AS before FROM dp_cdp.budgets WHERE dataset = 'joins' \gset
WITH r AS (SELECT ward, dp_count(*) AS n FROM visits GROUP BY ward) SELECT a.ward, a.n - b.n AS difference FROM r a JOIN r b USING (ward);
SELECT rho_spent - :before AS price FROM dp_cdp.budgets WHERE dataset = 'joins';

-- --------------------------------------------------------------------------
-- Aggregates of each unit, below a release
-- --------------------------------------------------------------------------

SELECT dp_count(*), dp_sum(n, 0, 6), dp_sum(dearest, 0, 6) FROM (SELECT patient, count(*) AS n, max(cost) AS dearest FROM visits GROUP BY patient) q;
SELECT n, count(*) FROM (SELECT patient, count(*) AS n FROM visits WHERE cost > 0 GROUP BY patient) q WHERE n IN (2, 3, 4) GROUP BY n;
SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING sum(cost) > 4) q;
SELECT zip, dp_sum(cost, 0, 6) FROM totals JOIN patients USING (patient) GROUP BY zip;
WITH q AS (SELECT patient, ward, count(*) AS n FROM visits GROUP BY patient, ward) SELECT w.floor, dp_count(*), dp_sum(n, 0, 5, 0, 5) FROM q JOIN wards w USING (ward) GROUP BY 1;
SELECT dp_count(*), dp_sum(wards, 0, 6) FROM (SELECT p.patient, count(DISTINCT w.ward) AS wards
	FROM patients p JOIN visits v ON v.patient = p.patient LEFT JOIN wards w ON w.ward = v.ward GROUP BY p.patient) q;
SELECT dp_count(*) FROM (SELECT DISTINCT patient FROM visits) q;
SELECT dp_count(*) FROM (SELECT DISTINCT patient, cost FROM visits) q;
SELECT CASE WHEN n > 4 THEN 'many' ELSE 'few' END AS visits, dp_count(*) FROM (SELECT patient, count(*) AS n FROM visits WHERE id > 3 GROUP BY patient) q GROUP BY 1;

-- --------------------------------------------------------------------------
-- Grouping sets: each set is a release
-- --------------------------------------------------------------------------

SELECT rho_spent AS before FROM dp_cdp.budgets WHERE dataset = 'joins' \gset
SELECT ward, dp_count(*) FROM visits GROUP BY ROLLUP (ward) ORDER BY 1;
SELECT rho_spent - :before AS price FROM dp_cdp.budgets WHERE dataset = 'joins';
SELECT ward, urgent, dp_count(*) AS n, grouping(ward, urgent) FROM visits WHERE ward IN ('w1', 'w2') AND urgent IS NOT NULL GROUP BY CUBE (ward, urgent)
	ORDER BY grouping(ward, urgent), ward, urgent;
SELECT rho_spent - :before AS price FROM dp_cdp.budgets WHERE dataset = 'joins';
SELECT floor, zip, dp_sum(cost) FROM visits JOIN wards USING (ward) JOIN patients USING (patient)
	GROUP BY GROUPING SETS ((floor), (zip), ()) ORDER BY 1, 2;
SELECT rho_spent - :before AS price FROM dp_cdp.budgets WHERE dataset = 'joins';
-- the same set twice is released once
SELECT ward, dp_count(*) FROM visits GROUP BY GROUPING SETS ((ward), (ward)) ORDER BY 1;
SELECT rho_spent - :before AS price FROM dp_cdp.budgets WHERE dataset = 'joins';
-- a column under two names is told apart by nothing, but where a set has both
SELECT l.again, ward, dp_count(*) FROM visits v, LATERAL (SELECT v.ward AS again) l GROUP BY ROLLUP (l.again, ward);
SELECT l.again, ward, dp_count(*) FROM visits v, LATERAL (SELECT v.ward AS again) l GROUP BY GROUPING SETS ((l.again, ward), ()) ORDER BY 1, 2;
SELECT ward, dp_count(*) FROM visits GROUP BY DISTINCT ROLLUP (ward), ROLLUP (ward) HAVING grouping(ward) = 1 OR dp_count(*) > 14 ORDER BY 2, 1;
EXPLAIN (COSTS OFF) SELECT ward, dp_count(*) FROM visits GROUP BY ROLLUP (ward);

-- --------------------------------------------------------------------------
-- Keys that the query or a public table lists
-- --------------------------------------------------------------------------

SELECT code, dp_count(*) FROM visits JOIN patients USING (patient) WHERE code IN (1, 3, 9) GROUP BY code;
SELECT born, dp_count(*) FROM visits JOIN patients USING (patient) WHERE born BETWEEN 1960 AND 1962 GROUP BY born;
SELECT CASE WHEN p.born < 1956 THEN 'older' ELSE 'younger' END AS age, dp_count(*) FROM visits v JOIN patients p USING (patient) GROUP BY 1;
SELECT width_bucket(p.born, 1950, 1962, 3) AS bucket, dp_count(DISTINCT p.patient) FROM patients p GROUP BY 1;
SELECT 'all' AS visits, dp_count(*) FROM visits GROUP BY 1;
SELECT w.name, dp_count(*) FROM visits v JOIN wards w USING (ward) WHERE w.name <> 'south' GROUP BY 1;
-- a key that nobody declares is selected by its number of units
EXPLAIN (COSTS OFF) SELECT p.born, dp_count(*) FROM visits v JOIN patients p USING (patient) GROUP BY p.born;
SELECT v.urgent, p.born % 2 AS odd, dp_count(DISTINCT p.patient) FROM visits v JOIN patients p USING (patient) GROUP BY 1, 2;

-- --------------------------------------------------------------------------
-- Prepared statements and cursors
-- --------------------------------------------------------------------------

PREPARE p (text, int) AS SELECT dp_count(*) FROM visits v JOIN patients p USING (patient) JOIN (SELECT ward FROM wards WHERE floor >= $2) w USING (ward) WHERE zip = $1;
EXECUTE p('z0', 0);
EXECUTE p('z0', 1);
SET plan_cache_mode = force_generic_plan;
EXECUTE p('z0', 1);
RESET plan_cache_mode;
DEALLOCATE p;
BEGIN;
SELECT rho_spent AS before FROM dp_cdp.budgets WHERE dataset = 'joins' \gset
DECLARE c SCROLL CURSOR FOR SELECT floor, dp_count(*) FROM visits JOIN wards USING (ward) GROUP BY ROLLUP (floor) ORDER BY 1;
FETCH 2 FROM c;
FETCH ALL FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 3 FROM c;
SELECT rho_spent - :before AS price FROM dp_cdp.budgets WHERE dataset = 'joins';
ROLLBACK;
-- names and types are free
SELECT * FROM visits v JOIN patients p USING (patient) JOIN wards w USING (ward) LIMIT 0;
SELECT zip, floor FROM treated WHERE false;
SELECT rho_spent - :before AS price FROM dp_cdp.budgets WHERE dataset = 'joins';

-- --------------------------------------------------------------------------
-- Refusals
-- --------------------------------------------------------------------------

-- joins that are not on privacy units
SELECT dp_count(*) FROM visits v JOIN patients p ON p.born = v.code;
SELECT dp_count(*) FROM visits a JOIN visits b USING (ward);
SELECT dp_count(*) FROM visits v, patients p;
SELECT dp_count(*) FROM visits v CROSS JOIN patients p;
SELECT dp_count(*) FROM visits v JOIN patients p ON p.patient = v.patient OR v.urgent;
SELECT dp_count(*) FROM visits v JOIN patients p ON p.patient = v.patient + 1;
SELECT dp_count(*) FROM visits v LEFT JOIN patients p ON p.born = v.code WHERE p.patient = v.patient;
SELECT dp_count(*) FROM visits v JOIN (SELECT patient % 2 AS patient FROM patients) p USING (patient);
SELECT dp_count(*) FROM totals t JOIN urgent_visits u ON t.visits = u.cost;
-- rows that belong to nobody, or are repeated for nothing
SELECT dp_count(*) FROM wards w LEFT JOIN visits v USING (ward);
SELECT dp_count(*) FROM visits v RIGHT JOIN wards w ON w.ward = v.ward;
SELECT dp_count(*) FROM wards w FULL JOIN visits v USING (ward);
SELECT dp_count(*) FROM visits v FULL JOIN patients p USING (patient);
SELECT dp_count(*) FROM visits, wards;
SELECT dp_count(*) FROM visits LEFT JOIN wards ON true;
SELECT dp_count(*) FROM visits JOIN wards ON floor = 1;
-- rows that are units have no unit to be joined on
SELECT dp_count(*) FROM events e JOIN visits v USING (ward);
SELECT dp_count(*) FROM events e JOIN events f USING (ev);
SELECT dp_count(*) FROM (SELECT ward, count(*) FROM events GROUP BY ward) q;
-- datasets and owners
SELECT dp_count(*) FROM visits JOIN persons USING (patient);
SELECT dp_count(*) FROM visits JOIN letters USING (patient);
SELECT dp_count(*) FROM letters JOIN visits USING (patient);
-- what is read beside
SELECT dp_count(*) FROM visits JOIN closed USING (ward);
SELECT dp_count(*) FROM not_granted;
SELECT dp_count(*) FROM visits, generate_series(1, 3) g WHERE g = code;
SELECT dp_count(*) FROM visits v, LATERAL (SELECT * FROM wards w WHERE w.ward = v.ward) l;
SELECT dp_count(*) FROM wards w, LATERAL (SELECT * FROM visits v WHERE w.ward = v.ward) l;
SELECT (SELECT dp_count(*) FROM visits v JOIN beds b ON b.ward = v.ward AND b.ward = w.ward) FROM wards w;
SELECT dp_count(*) FROM visits JOIN wards TABLESAMPLE SYSTEM (50) USING (ward);
SELECT dp_count(*) FROM visits TABLESAMPLE BERNOULLI (50) JOIN wards USING (ward);
SELECT dp_count(*) FROM visits WHERE ward IN (SELECT ward FROM wards);
SELECT dp_count(*) FROM visits v WHERE EXISTS (SELECT FROM patients p WHERE p.patient = v.patient AND zip = 'z0');
SELECT dp_count(*) FROM visits JOIN wards USING (ward) WHERE md5(name) = 'a';
SELECT dp_count(*) FROM visits v JOIN wards w ON v.ward ~ w.ward;
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT dp_count(*) FROM visits JOIN r ON n = code;
SELECT (WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT max(n) FROM r), (SELECT dp_count(*) FROM visits);
WITH d AS (DELETE FROM notes RETURNING ward) SELECT dp_count(*) FROM visits JOIN d USING (ward);
WITH q AS (SELECT ward, dp_count(*) AS n FROM visits GROUP BY ward) SELECT a.n, (SELECT dp_count(*) FROM visits JOIN q USING (ward)) FROM q a;
WITH r AS (SELECT ward, random() AS x FROM wards) SELECT dp_count(*) FROM visits JOIN r a USING (ward) JOIN r b USING (ward);
-- subqueries over protected rows
SELECT dp_count(*) FROM (SELECT * FROM visits LIMIT 10) q;
SELECT dp_count(*) FROM (SELECT * FROM visits ORDER BY id OFFSET 10) q;
SELECT dp_count(*) FROM (SELECT *, row_number() OVER (ORDER BY id) FROM visits) q WHERE row_number = 1;
SELECT dp_count(*) FROM (SELECT patient, generate_series(1, cost) FROM visits) q;
SELECT dp_count(*) FROM (SELECT patient FROM visits UNION ALL SELECT patient FROM patients) q;
SELECT dp_count(*) FROM (SELECT * FROM visits FOR UPDATE) q;
SELECT dp_count(*) FROM (SELECT DISTINCT patient, count(*) FROM visits GROUP BY patient) q;
SELECT dp_count(*) FROM (WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 2 FROM r) SELECT * FROM visits) q;
SELECT dp_count(*) FROM (SELECT patient, (SELECT max(floor) FROM wards) FROM visits) q WHERE max = 1;
SELECT dp_count(*) FROM (SELECT DISTINCT ward FROM visits) q;
SELECT dp_count(*) FROM (SELECT md5(ward) AS m, ward FROM visits) q;
SELECT dp_count(*) FROM (SELECT md5(ward) AS m, ward FROM visits) q WHERE m = 'a';
-- aggregates that are not of one unit each, or not private
SELECT dp_count(*) FROM (SELECT ward, max(cost) FROM visits GROUP BY ward) q;
SELECT dp_sum(n, 0, 1) FROM (SELECT count(*) AS n FROM visits) q;
SELECT dp_count(*) FROM (SELECT patient % 2, max(cost) FROM visits GROUP BY 1) q;
SELECT dp_count(*) FROM (SELECT patient, max(cost) FROM visits GROUP BY ROLLUP (patient)) q;
SELECT dp_count(*) FROM (SELECT patient, json_agg(ward) AS wards FROM visits GROUP BY patient) q WHERE wards IS NOT NULL;
SELECT * FROM (SELECT patient, count(*) FROM visits GROUP BY patient) q;
SELECT * FROM totals;
SELECT max(n) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) q;
SELECT dp_sum(n) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) q;
SELECT count(*) FROM (SELECT ward, max(cost) FROM visits GROUP BY ward) q;
SELECT max(n) FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) q;	-- released, then the greatest
WITH q AS (SELECT * FROM visits) SELECT * FROM q;
SELECT patient, dp_count(*) FROM visits GROUP BY patient;
SELECT p.patient, dp_count(*) FROM visits v JOIN patients p USING (patient) GROUP BY p.patient;
SELECT patient FROM visits;
SELECT v.patient, p.zip FROM visits v JOIN patients p USING (patient);
SELECT ward, patient FROM treated;
SELECT w.name, (SELECT count(*) FROM visits v WHERE v.ward = w.ward) FROM wards w;
SELECT count(DISTINCT zip) FROM visits JOIN patients USING (patient);
SELECT p.zip, v.code, dp_count(*) FROM visits v JOIN patients p USING (patient) GROUP BY p.zip;
-- subqueries that are put in other words
SELECT avg(q.n) FROM patients p, LATERAL (SELECT max(cost) AS n FROM visits v WHERE v.code < p.born) q;
SELECT dp_count(*) FROM patients p, LATERAL (SELECT v.id FROM visits v WHERE v.patient > p.patient) q;
-- without its place: from 18 on a column of a group has that of its key
DO $$ BEGIN
	PERFORM ward, dp_count(*), (SELECT dp_count(*) FROM patients p WHERE p.zip = v.ward) FROM visits v GROUP BY ward;
EXCEPTION WHEN OTHERS THEN
	RAISE WARNING '%', SQLERRM;
END $$;
SELECT dp_count(*) FROM (SELECT ward FROM visits UNION SELECT zip FROM patients) q;
-- grouping sets
SELECT ward, 1 FROM visits GROUP BY ROLLUP (ward);
SELECT dp_count(*) FROM visits GROUP BY CUBE (ward, patient);
SELECT dp_count(*) FROM visits GROUP BY CUBE (id, ward, cost, code, urgent, id + 1, cost + 1);
-- what who may read the table asks must not be joined with exact rows, either
RESET SESSION AUTHORIZATION;
SELECT dp_count(*) FROM joins.events JOIN (SELECT max(ward) AS ward FROM joins.visits) q USING (ward);

SET client_min_messages = error;
DROP SCHEMA joins CASCADE;
SELECT dp_cdp.drop_budget(d, 'regress_dp_analyst') FROM unnest('{joins,joins_2}'::text[]) d;
SELECT dp_cdp.drop_dataset(d, erase_spent => true) FROM unnest('{joins,joins_2}'::text[]) d;
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_other, regress_dp_analyst;
