-- Groups of a private query are those that the query's own public inputs
-- allow: public tables with their conditions, parameters, lists of the policy,
-- released rows.  The noise is too small to be seen, and every group that can
-- have rows has some, so that answers are compared with the owner's plain SQL.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE depts (dept text PRIMARY KEY, building text NOT NULL, floor int);
INSERT INTO depts VALUES ('a', 'north', 1), ('b', 'north', 2), ('c', 'south', 1), ('d', 'south', NULL), ('e', 'empty', 9);
CREATE TABLE days (day date PRIMARY KEY, year int, month int, month_name text);
INSERT INTO days SELECT d, extract(year FROM d), extract(month FROM d), to_char(d, 'Mon')
	FROM generate_series('2024-01-01'::date, '2025-12-31', '1 day') d;
CREATE TABLE kinds (kind int PRIMARY KEY, label varchar(10), lowest numeric(6,2));
INSERT INTO kinds VALUES (1, 'one', 0.5), (2, 'two', 1), (3, 'three', 1.5);

CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, dept text NOT NULL REFERENCES depts, kind int REFERENCES kinds,
	day date NOT NULL, channel text NOT NULL, diagnosis text, cost numeric(6,2) NOT NULL, at timestamp NOT NULL, seen timestamptz NOT NULL);
INSERT INTO visits SELECT i, i, substr('abcd', 1 + i % 4, 1), CASE WHEN i % 7 > 0 THEN 1 + i % 3 END,
	date '2024-01-01' + i % 731, (ARRAY['web', 'shop', 'phone'])[1 + i % 3], 'd' || i % 9, (i % 4) / 2.0,
	timestamp '2024-01-01' + i * interval '1 hour', timestamptz '2024-01-01 00:10 UTC' + i * interval '61 minutes'
	FROM generate_series(1, 8772) i;
ALTER TABLE visits ADD code varchar(3);
UPDATE visits SET code = 'k' || id % 3;
CREATE TABLE patients (patient int PRIMARY KEY, region text NOT NULL, born int);
INSERT INTO patients SELECT i, (ARRAY['x', 'y'])[1 + i % 2], i % 3 FROM generate_series(1, 8772) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 5000, max_rows => 2, max_groups => 2);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.protect_table('patients', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', 'kind', 0, 3);
SELECT dp_cdp.set_keys('visits', 'code', ARRAY['k0', 'k1', 'k2']);
SELECT dp_cdp.set_keys('visits', 'channel', ARRAY['web', 'shop', 'phone']);
SELECT dp_cdp.set_keys('visits', 'cost', ARRAY[0, 0.5, 1, 1.5]);
SELECT dp_cdp.set_keys('patients', 'region', ARRAY['x', 'y']);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
ALTER TABLE visits ADD FOREIGN KEY (patient) REFERENCES patients;
GRANT SELECT ON depts, days, kinds TO analyst1;
CREATE VIEW located AS SELECT v.*, d.building, d.floor FROM visits v JOIN depts d USING (dept);
GRANT SELECT ON located TO analyst1;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE mine (dept text, note text);
GRANT SELECT ON mine TO owner1;
INSERT INTO mine VALUES ('a', 'p'), ('a', 'q'), ('c', 'r'), (NULL, 's');
RESET SESSION AUTHORIZATION;

\ir analyst.psql
\ir same.psql

-- the same of a prepared statement, whose plan does not know the parameters
CREATE FUNCTION prepared(types text, statement text, VARIADIC arguments text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	SET LOCAL plan_cache_mode = force_generic_plan;
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE format('PREPARE asked (%s) AS SELECT coalesce(string_agg(q::text, '' '' ORDER BY q::text), ''none'') FROM (%s) q',
					   types, statement);
		EXECUTE format('EXECUTE asked (%s)', array_to_string(arguments, ', ')) INTO answer;
		EXECUTE 'DEALLOCATE asked';
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN answer;
END $$;

-- how a refused query ends, and what it cost
CREATE FUNCTION failed(statement text) RETURNS text LANGUAGE sql
	AS $$ SELECT failure || ' for ' || cost FROM run_as_analyst(statement) $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- conditions on public tables
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT d.dept, count(*) FROM visits v JOIN depts d USING (dept) WHERE d.building = 'north' GROUP BY d.dept$$,
	'a condition on another column of the dimension');
SELECT as_declared($$SELECT v.dept, count(*) FROM visits v JOIN depts d ON d.dept = v.dept WHERE d.building = 'north' GROUP BY v.dept$$,
	'... with the protected column as the key');
SELECT as_declared($$SELECT d.building, d.floor, count(*) FROM visits v JOIN depts d USING (dept) WHERE d.building <> 'empty' GROUP BY 1, 2$$,
	'columns of one public row stay together');
SELECT as_declared($$SELECT year, month, month_name, count(*) FROM visits JOIN days USING (day) GROUP BY 1, 2, 3$$,
	'parts of one date');
SELECT as_declared($$SELECT days.day, count(*) FROM visits JOIN days USING (day) WHERE year = 2025 AND month = 3 GROUP BY 1$$,
	'a filter on a date dimension');
SELECT as_declared($$SELECT v.day, count(*) FROM visits v JOIN days d ON v.day = d.day WHERE d.day BETWEEN '2024-02-01' AND '2024-02-29' GROUP BY 1$$,
	'a range of a date dimension');
SELECT as_declared($$SELECT upper(building), floor + 1, count(*) FROM visits v JOIN depts d USING (dept) WHERE floor IS NOT NULL AND building <> 'empty' GROUP BY 1, 2$$,
	'expressions over public columns');
SELECT as_declared($$SELECT building, channel, count(*) FROM located WHERE building <> 'empty' AND NOT (building = 'north' AND channel = 'web') GROUP BY 1, 2$$,
	'a condition over a public column of a view and a declared one');
SELECT as_declared($$SELECT channel, count(*) FROM (SELECT * FROM visits WHERE channel = 'web') q GROUP BY 1$$,
	'the only key, and all that limits it stands in a subquery');
SELECT as_declared($$WITH few AS (SELECT * FROM visits WHERE channel <> 'web') SELECT channel, round(avg(kind)) FROM (SELECT * FROM few) q WHERE channel <> 'shop' GROUP BY 1$$,
	'... in one below another');
SELECT as_declared($$SELECT channel, n, count(*) FROM (SELECT patient, channel, count(*) AS n FROM visits WHERE channel IN ('web', 'shop') GROUP BY 1, 2) q WHERE n = 1 GROUP BY 1, 2$$,
	'... in one of groups');
SELECT as_declared($$SELECT q.b, count(*) FROM (SELECT patient, d.building AS b, count(*) AS n FROM visits v JOIN depts d USING (dept) WHERE d.floor = 1 GROUP BY 1, 2) q GROUP BY 1$$,
	'a subquery that groups by the unit');
SELECT as_declared($$SELECT k.label, d.building, count(*) FROM visits v JOIN depts d USING (dept) JOIN kinds k USING (kind) WHERE d.building IN ('north', 'south') GROUP BY 1, 2$$,
	'two dimensions');
SELECT as_declared($$SELECT note, count(*) FROM visits v JOIN mine m USING (dept) WHERE note > 'p' AND note < 's' GROUP BY 1$$,
	'a table of the analyst');
SELECT as_declared($$SELECT v.dept, count(*) FROM visits v JOIN mine m ON m.dept = v.dept GROUP BY 1$$,
	'... which limits the groups');
SELECT as_declared($$SELECT v.dept, note, count(*) FROM visits v JOIN (VALUES ('a', 'p'), ('b', 'q')) m (dept, note) ON m.dept = v.dept GROUP BY 1, 2$$,
	'VALUES');
SELECT as_declared($$SELECT a.dept, count(*) FROM visits v JOIN depts a ON a.dept = v.dept JOIN depts b ON b.building = a.building WHERE b.floor = 2 GROUP BY 1$$,
	'a small table of several rows for one');
SELECT as_declared($$SELECT cost, count(*) FROM visits JOIN kinds ON cost = lowest GROUP BY cost$$,
	'the form of a value is that of the column');

SELECT as_declared($$SELECT code, note, count(*) FROM visits JOIN (VALUES ('k1'::text, 'p'), ('k2', 'q'), ('k1222', 'r')) m (c, note) ON code = c WHERE note <> 'q' GROUP BY 1, 2$$,
	'... of varchar, which is equal to text, and no longer than it may be');
SELECT as_declared($$SELECT c, count(*) FROM visits JOIN (VALUES ('k1'::text), ('k2')) m (c) ON code = c WHERE code > 'k1' GROUP BY 1$$,
	'... and compared by another condition');
SELECT as_declared($$SELECT channel, count(*) FROM visits v JOIN depts d USING (dept) WHERE d.building = 'nowhere' GROUP BY 1$$,
	'a public table without rows, of which no key is');
SELECT as_declared($$SELECT channel, cost, count(*) FROM visits v JOIN depts d USING (dept) JOIN kinds k USING (kind) WHERE d.building = k.label GROUP BY 1, 2$$,
	'two of them, which have no rows together');
SELECT as_declared($$SELECT channel, count(*) FROM visits v LEFT JOIN kinds k USING (kind) WHERE k.label = 'four' GROUP BY 1$$,
	'... of an outer join, with a condition above it');
SELECT as_declared($$SELECT d.floor, count(*) FROM visits v JOIN depts d ON d.dept = v.dept AND d.floor <= v.id WHERE d.building <> 'empty' GROUP BY 1$$,
	'a comparison with what is not known leaves no NULL');

-- ------------------------------------------------------------------------
-- foreign keys that are compared with other columns
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT d.building, d.floor, count(*) FROM visits v JOIN depts d ON v.kind = d.floor GROUP BY 1, 2$$,
	'a column that has values which the key cannot have');
SELECT as_declared($$SELECT k.label, count(*) FROM visits v, kinds k WHERE v.dept = k.label GROUP BY 1$$, '... none that it can have');
SELECT as_declared($$SELECT channel, count(*) FROM visits v JOIN kinds k ON v.dept = k.label GROUP BY 1$$, '... where no key reads either');
SELECT as_declared($$SELECT d.floor, count(*) FROM visits v JOIN depts d USING (dept) WHERE v.kind = d.floor GROUP BY 1$$,
	'... beside the join along another key');
SELECT as_declared($$SELECT f, count(*) FROM (SELECT patient, kind AS k FROM visits WHERE id > 5) v JOIN (SELECT floor AS f FROM depts) d ON k = f GROUP BY 1$$,
	'... in subqueries');
SELECT as_declared($$SELECT channel, count(*) FROM visits v LEFT JOIN depts d ON d.floor = v.kind WHERE d.building = 'empty' GROUP BY 1$$,
	'... in an outer join that a condition makes an inner one');
SELECT as_declared($$SELECT d.floor, count(*) FROM visits v LEFT JOIN depts d ON d.floor = v.kind GROUP BY 1$$,
	'... in an outer join, where a row may have no match');
SELECT as_declared($$SELECT v.kind, d.floor, count(*) FROM visits v LEFT JOIN depts d ON d.floor = v.kind GROUP BY 1, 2$$,
	'... beside the column itself');
REVOKE SELECT ON kinds FROM analyst1;
SELECT is(rows_for('analyst1', 'SELECT d.building, d.floor, count(*) FROM visits v JOIN depts d ON v.kind = d.floor GROUP BY 1, 2'),
	'(empty,9,0) (north,1,2507) (north,2,2506) (south,1,2507)', 'a referenced table that the asker may not read tells nothing');
GRANT SELECT ON kinds TO analyst1;
ALTER TABLE kinds ENABLE ROW LEVEL SECURITY;
SELECT is(rows_for('analyst1', 'SELECT d.building, d.floor, count(*) FROM visits v JOIN depts d ON v.kind = d.floor GROUP BY 1, 2'),
	'(empty,9,0) (north,1,2507) (north,2,2506) (south,1,2507)', '... nor one of which he may read some rows');
ALTER TABLE kinds DISABLE ROW LEVEL SECURITY;
SET plan_cache_mode = force_generic_plan;
SET SESSION AUTHORIZATION analyst1;
PREPARE by_floor AS SELECT d.building, count(*) FROM visits v JOIN depts d ON v.kind = d.floor WHERE d.building > 'a' GROUP BY 1;
CREATE TEMP TABLE before AS EXECUTE by_floor;
RESET SESSION AUTHORIZATION;
ALTER TABLE visits DROP CONSTRAINT visits_kind_fkey;
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE after AS EXECUTE by_floor;
RESET SESSION AUTHORIZATION;
ALTER TABLE visits ADD CONSTRAINT visits_kind_fkey FOREIGN KEY (kind) REFERENCES kinds NOT VALID;
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE doubtful AS EXECUTE by_floor;
RESET SESSION AUTHORIZATION;
RESET plan_cache_mode;
SELECT is((SELECT string_agg(building, ' ' ORDER BY building) FROM before), 'north south', 'a prepared statement knows of the key');
SELECT is((SELECT string_agg(building, ' ' ORDER BY building) FROM after), 'empty north south', '... and that it is gone');
SELECT is((SELECT string_agg(building, ' ' ORDER BY building) FROM doubtful), 'empty north south', '... and that it has not been validated');
ALTER TABLE visits VALIDATE CONSTRAINT visits_kind_fkey;

SET SESSION AUTHORIZATION owner1;
CREATE TABLE wards (ward int PRIMARY KEY, town text NOT NULL) PARTITION BY LIST (ward);
CREATE TABLE wards_1 PARTITION OF wards FOR VALUES IN (1);
CREATE TABLE wards_2 PARTITION OF wards FOR VALUES IN (2, 3);
INSERT INTO wards VALUES (1, 'p'), (2, 'q'), (3, 'q');
GRANT SELECT ON wards, wards_1, wards_2 TO analyst1;
ALTER TABLE visits ADD ward int NOT NULL DEFAULT 1 REFERENCES wards;
UPDATE visits SET ward = 1 + id % 3;
RESET SESSION AUTHORIZATION;
SELECT as_declared($$SELECT w.town, count(*) FROM visits v LEFT JOIN wards w USING (ward) GROUP BY 1$$, 'a key to a partitioned table');
SELECT as_declared($$SELECT w.town, count(*) FROM visits v LEFT JOIN wards_1 w USING (ward) GROUP BY 1$$, '... of which a partition does not have all rows');
SELECT as_declared($$SELECT d.floor, count(*) FROM visits v JOIN depts d ON v.ward = d.floor GROUP BY 1$$, '... compared with another column');

SELECT as_declared($$SELECT channel, count(*) FROM visits WHERE dept = 'zzz' GROUP BY 1$$, 'a constant that is no referenced value');
SELECT as_declared($$SELECT channel, count(*) FROM visits WHERE dept = 'a' GROUP BY 1$$, '... that is one');
SELECT as_declared($$SELECT dept, channel, count(*) FROM visits WHERE dept = 'zzz' GROUP BY 1, 2$$, '... of which groups are asked');
SELECT as_declared($$SELECT channel, count(*) FROM visits WHERE dept IN ('yyy', 'zzz') GROUP BY 1$$, '... several of them');
SELECT as_declared($$SELECT channel, count(*) FROM visits WHERE dept IN ('a', 'zzz') GROUP BY 1$$, '... one of which is a value');
SELECT as_declared($$SELECT channel, region, count(*) FROM patients p LEFT JOIN visits v ON v.patient = p.patient WHERE v.dept = 'zzz' GROUP BY 1, 2$$,
	'... above an outer join');
SELECT is(rows_for('analyst1', $$SELECT channel, count(*) FROM patients p LEFT JOIN visits v ON v.patient = p.patient AND v.dept = 'zzz' GROUP BY 1$$),
	'(,8772) (phone,0) (shop,0) (web,0)', '... within one, where rows without a match stay');
SELECT is(prepared('text', 'SELECT channel, count(*) FROM visits WHERE dept = $1 GROUP BY 1', $$'zzz'$$), 'none', '... as a parameter');
SELECT is(prepared('text[]', 'SELECT channel, count(*) FROM visits WHERE dept = ANY ($1) GROUP BY 1', $$'{yyy,NULL}'$$), 'none', '... in an array');
SELECT is(prepared('text[]', 'SELECT channel, count(*) FROM visits WHERE dept = ANY ($1) GROUP BY 1', $$'{a,zzz}'$$),
	rows_for('owner1', $$SELECT channel, count(*) FROM visits WHERE dept = 'a' GROUP BY 1$$), '... one of which is a value');
REVOKE SELECT ON depts FROM analyst1;
SELECT is(rows_for('analyst1', $$SELECT channel, count(*) FROM visits WHERE dept = 'zzz' GROUP BY 1$$), '(phone,0) (shop,0) (web,0)',
	'a referenced table that the asker may not read is not asked for constants');
GRANT SELECT ON depts TO analyst1;

-- ------------------------------------------------------------------------
-- lists and expressions over them
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT channel, region, count(*) FROM visits JOIN patients USING (patient) WHERE (channel, region) <> ('web', 'x') GROUP BY 1, 2$$,
	'a condition over two declared keys');
SELECT as_declared($$SELECT channel, region, count(*) FROM visits JOIN patients USING (patient) WHERE channel = 'web' AND region = 'x' OR channel = 'shop' AND region = 'y' GROUP BY 1, 2$$,
	'pairs of declared keys');
SELECT as_declared($$SELECT channel, count(*) FROM visits WHERE (channel = 'web' AND id > 5) OR (channel = 'shop' AND kind = 2) GROUP BY 1$$,
	'what is known of either side of OR');
SELECT as_declared($$SELECT v.kind, region, count(*) FROM visits v JOIN patients USING (patient) WHERE v.kind::text = '2' GROUP BY 1, 2$$, 'a cast to text');
SELECT as_declared($$SELECT code, count(*) FROM visits WHERE substr(code, 2)::int = 1 GROUP BY 1$$, '... and from text');
SELECT as_declared($$SELECT channel, cost, count(*) FROM visits WHERE (channel <> 'web' OR cost > 0) AND (coalesce(channel, 'shop') = 'shop' AND upper(channel) = 'SHOP') GROUP BY 1, 2$$,
	'expressions of a declared key that equal constants');
SELECT as_declared($$SELECT channel = 'shop', cost, count(*) FROM visits WHERE (NOT (cost <> 1) AND (channel, cost) = ('shop', 1)) GROUP BY 1, 2$$,
	'conditions in parentheses');
SELECT as_declared($$SELECT CASE WHEN channel IN ('web', 'phone') THEN 'remote' ELSE channel END, count(*) FROM visits GROUP BY 1$$,
	'CASE over a declared key');
SELECT as_declared($$SELECT coalesce(nullif(channel, 'web'), 'none'), count(*) FROM visits GROUP BY 1$$,
	'coalesce over a declared key');
SELECT as_declared($$SELECT channel || '-' || length(channel)::text, count(*) FROM visits WHERE channel <> 'shop' GROUP BY 1$$,
	'text of a declared key');
SELECT is(rows_for('analyst1', $$SELECT cost, count(*) FROM visits WHERE cost IN (0.5, 1) AND round(cost) = 1 AND cost::float8 < 1 GROUP BY 1$$), '(0.50,2193)',
	'functions of numbers that are written in several ways');

-- ------------------------------------------------------------------------
-- operands of a UNION ALL
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT sort, dept, count(*) FROM (SELECT patient, 'in' AS sort, dept FROM visits WHERE dept = 'a' UNION ALL SELECT patient, 'out', dept FROM visits WHERE dept = 'b') q GROUP BY 1, 2$$,
	'conditions of each operand');
SELECT as_declared($$SELECT sort, count(*) FROM (SELECT patient, 'in' AS sort, dept FROM visits WHERE dept = 'a' UNION ALL SELECT patient, 'out', dept FROM visits WHERE dept = 'b') q WHERE dept = 'b' GROUP BY 1$$,
	'... and of what reads them');
SELECT as_declared($$SELECT sort, place, count(*) FROM (SELECT patient, 'in' AS sort, 1 AS place FROM visits UNION ALL SELECT patient, 'out', 2 FROM patients) q GROUP BY 1, 2$$,
	'constants of one operand stay together');
SELECT as_declared($$SELECT channel, sort, count(*) FROM (SELECT patient, channel, 'v' AS sort FROM visits WHERE channel <> 'web' UNION ALL SELECT patient, NULL, 'p' FROM patients WHERE born = 2) q GROUP BY ROLLUP (1, 2)$$,
	'... also in ROLLUP');
SELECT as_declared($$SELECT d.building, sort, count(*) FROM (SELECT patient, dept, 'cheap' AS sort FROM visits WHERE cost < 1 AND dept < 'c' UNION ALL SELECT patient, dept, 'dear' FROM visits WHERE cost >= 1 AND dept IN ('c', 'd')) q
	JOIN depts d USING (dept) GROUP BY 1, 2$$, '... joined with a public table');
SELECT as_declared($$SELECT day, count(*) FROM (SELECT patient, day FROM visits WHERE day BETWEEN '2024-02-01' AND '2024-02-03' UNION ALL SELECT patient, at::date FROM visits WHERE at >= '2024-03-05' AND at < '2024-03-07') q GROUP BY 1$$,
	'ranges of each operand');
SELECT as_declared($$WITH w AS (SELECT patient, dept, 'v' AS k FROM visits UNION ALL SELECT patient, NULL, 'p' FROM patients) SELECT a.k, b.k, a.dept, count(*) FROM w a JOIN w b USING (patient)
	WHERE a.k = 'v' AND b.k = 'p' AND a.dept = 'c' GROUP BY 1, 2, 3$$, 'two of them');
SELECT is(prepared('text', $$SELECT sort, count(*) FROM (SELECT patient, 'in' AS sort FROM visits WHERE dept = $1 UNION ALL SELECT patient, $1 FROM visits WHERE dept = 'b') q GROUP BY 1$$, $$'zzz'$$),
	'(zzz,2193)', '... of which a parameter excludes one');
SELECT is(rows_for('analyst1', $$SELECT sort, dept, count(*) FROM (SELECT patient, diagnosis AS sort, dept FROM visits WHERE dept = 'a' UNION ALL SELECT patient, 'out', dept FROM visits WHERE dept = 'b') q
	WHERE sort IN ('d1', 'out') GROUP BY 1, 2$$), '(d1,a,243) (out,a,0) (out,b,2193)', '... and lists of what reads them');

-- ------------------------------------------------------------------------
-- parameters
-- ------------------------------------------------------------------------

SELECT is(prepared('text', 'SELECT channel, count(*) FROM visits WHERE channel = $1 GROUP BY 1', $$'web'$$), '(web,2924)', 'an equality');
SELECT is(prepared('text', 'SELECT channel, count(*) FROM visits WHERE channel = $1 GROUP BY 1', $$NULL$$), 'none', '... with NULL');
SELECT is(prepared('text, text', 'SELECT channel, count(*) FROM visits WHERE channel IN ($1, $2) GROUP BY 1', $$'web'$$, $$'shop'$$),
	'(shop,2924) (web,2924)', 'a list');
SELECT is(prepared('text[]', 'SELECT diagnosis, count(*) FROM visits WHERE diagnosis = ANY ($1) GROUP BY 1', $$'{d1,d2,d1,NULL}'$$),
	'(d1,975) (d2,975)', 'an array that declares keys');
SELECT is(prepared('text', 'SELECT diagnosis, count(*) FROM visits WHERE diagnosis = $1 GROUP BY 1', $$'d1'$$), '(d1,975)',
	'a parameter declares a key');
SELECT is(prepared('text', 'SELECT d.dept, count(*) FROM visits v JOIN depts d USING (dept) WHERE building = $1 GROUP BY 1', $$'south'$$),
	'(c,2193) (d,2193)', 'of a public table');
SELECT is(prepared('int', 'SELECT channel, count(*) FROM visits WHERE $1 > 0 GROUP BY 1', '0'), 'none', 'a condition on nothing else');

-- ------------------------------------------------------------------------
-- released rows
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT channel, region, count(*) FROM visits JOIN patients USING (patient) JOIN
	(SELECT channel, count(*) AS n FROM visits WHERE channel <> 'web' GROUP BY 1 ORDER BY 1 LIMIT 1) t USING (channel) GROUP BY 1, 2$$,
	'a join with the first of released rows');
SELECT as_declared($$SELECT v.diagnosis, count(*) FROM visits v JOIN
	(SELECT diagnosis, count(*) AS n FROM visits WHERE diagnosis IN ('d1', 'd2', 'd3') GROUP BY 1 ORDER BY 1 LIMIT 2) t
	ON v.diagnosis = t.diagnosis GROUP BY 1$$, '... of undeclared keys');
SELECT as_declared($$SELECT v.channel, count(*) FROM visits v JOIN
	(SELECT channel, count(*) AS n FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2) t
	ON v.channel IS NOT DISTINCT FROM t.channel GROUP BY 1$$, '... by IS NOT DISTINCT FROM');

-- ------------------------------------------------------------------------
-- NULL only where it can occur
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT d.building, count(*) FROM visits v LEFT JOIN depts d USING (dept) WHERE d.building <> 'empty' OR d.building IS NULL GROUP BY 1$$,
	'a foreign key that is NOT NULL');
SELECT as_declared($$SELECT d.building, count(*) FROM depts d RIGHT JOIN visits v USING (dept) WHERE d.building <> 'empty' OR d.building IS NULL GROUP BY 1$$,
	'... and a join the other way round');
SELECT as_declared($$SELECT d.building, count(*) FROM (SELECT patient, dept AS place FROM visits WHERE id > 3) v LEFT JOIN depts d ON d.dept = v.place
	WHERE d.building IS DISTINCT FROM 'empty' GROUP BY 1$$, '... and a subquery');
SELECT as_declared($$SELECT channel, count(*) FROM visits v LEFT JOIN kinds k USING (kind) JOIN kinds l ON l.kind = k.kind + 1 WHERE l.label = 'four' GROUP BY 1$$,
	'an outer join that a join above makes an inner one');
SELECT as_declared($$SELECT k.label, count(*) FROM visits v LEFT JOIN kinds k USING (kind) GROUP BY 1$$,
	'one that may be NULL');
SELECT as_declared($$SELECT v.kind, k.label, count(*) FROM visits v LEFT JOIN kinds k USING (kind) GROUP BY 1, 2$$,
	'... with its own column as a key');
SELECT as_declared($$SELECT k.label, count(*) FROM visits v LEFT JOIN kinds k USING (kind) WHERE k.lowest > 0.7 GROUP BY 1$$,
	'... and a condition that NULL does not satisfy');
SELECT as_declared($$SELECT d.building, count(*) FROM visits v LEFT JOIN depts d ON d.dept = v.dept AND d.dept < 'e' WHERE v.dept < 'e' GROUP BY 1$$,
	'... where the join asks more than the key, which is so of every row');
SELECT as_declared($$SELECT d.building, count(*) FROM depts d RIGHT JOIN visits v ON d.dept = v.dept AND d.floor = 1 WHERE coalesce(d.building, '') <> 'empty' GROUP BY 1$$,
	'... or of some');
SELECT as_declared($$SELECT a.building, b.building, count(*) FROM visits v LEFT JOIN depts a ON a.dept = v.dept AND a.floor = 1 LEFT JOIN depts b ON b.dept = v.dept AND b.floor > 1
	WHERE v.dept IN ('a', 'b', 'c', 'd') GROUP BY 1, 2$$, '... or of one of two joins');
SELECT as_declared($$SELECT d.building, count(*) FROM visits v JOIN depts d USING (dept) LEFT JOIN kinds k ON k.kind = d.floor AND k.kind < 0 WHERE coalesce(k.kind, 2) = 1 GROUP BY 1$$,
	'a condition on a row that an outer join never finds');
SELECT as_declared($$SELECT k.label, count(*) FROM visits v LEFT JOIN kinds k ON k.kind = v.kind AND k.lowest > 0.7 GROUP BY 1$$,
	'... and one of the join');
SELECT as_declared($$SELECT CASE WHEN d.dept IS NULL THEN 'nowhere' ELSE d.building END, count(*) FROM (SELECT patient, 'none such' AS place FROM visits) v
	LEFT JOIN depts d ON d.dept = v.place GROUP BY 1$$, 'a table that is joined to what is written alone, where nothing matches');
SELECT as_declared($$SELECT p.region, count(*) FROM visits v LEFT JOIN patients p ON p.patient = v.patient GROUP BY 1$$,
	'a foreign key to a protected table');
SELECT as_declared($$SELECT extract(dow FROM at), count(*) FROM visits GROUP BY 1$$, 'extract of a column that is NOT NULL');
SELECT as_declared($$SELECT id > 100, count(*) FROM visits GROUP BY 1$$, 'a comparison of a column that is NOT NULL');

-- ------------------------------------------------------------------------
-- the session's time zone
-- ------------------------------------------------------------------------

SET TimeZone = 'America/New_York';
SELECT as_declared($$SELECT extract(hour FROM seen), count(*) FROM visits GROUP BY 1$$, 'hours of a session in New York');
SET TimeZone = 'Asia/Kolkata';
SELECT as_declared($$SELECT d.year, d.month, count(*) FROM visits v JOIN days d ON d.day = v.seen::date WHERE d.year = 2024 AND d.month < 4 GROUP BY 1, 2$$,
	'days of one in Kolkata');
SELECT as_declared($$SELECT channel, count(*) FROM visits WHERE seen >= date '2024-03-01' GROUP BY 1$$, 'its midnight');
RESET TimeZone;

-- ------------------------------------------------------------------------
-- public rows without a match
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT s.d::date, count(DISTINCT v.patient) FROM generate_series('2024-03-01'::timestamp, '2024-03-05', '1 day') s (d)
	LEFT JOIN visits v ON v.day BETWEEN s.d - interval '1 day' AND s.d GROUP BY 1$$, 'the days before each of a series');
SELECT as_declared($$SELECT d.dept, count(v.id), coalesce(sum(v.kind), 0) FROM depts d LEFT JOIN visits v ON v.dept = d.dept GROUP BY 1$$,
	'a public table on the left');
SELECT as_declared($$SELECT d.dept, count(v.id) FROM visits v RIGHT JOIN depts d ON v.dept = d.dept AND v.kind = 1 WHERE d.building <> 'south' GROUP BY 1$$,
	'... with conditions');
SELECT as_declared($$SELECT d.building, d.dept, count(DISTINCT v.patient) FROM depts d LEFT JOIN visits v USING (dept) LEFT JOIN patients p ON p.patient = v.patient GROUP BY 1, 2$$,
	'... and more tables');
SELECT as_declared($$SELECT s::date, count(v.id) FROM (SELECT d.day::timestamp AS s FROM days d WHERE year = 2024 AND month = 2) q LEFT JOIN visits v ON v.day = s::date GROUP BY 1$$,
	'a spine of dates');
SELECT as_declared($$SELECT count(v.id) FROM depts d LEFT JOIN visits v ON v.dept = d.dept$$, 'no groups');
SELECT is(failed(q), 'ZC002 ' || message || ' for 0', q) FROM (VALUES
	('SELECT d.dept, count(*) FROM depts d LEFT JOIN visits v ON v.dept = d.dept GROUP BY 1',
	 'count(*) would count rows without a match in protected table "visits" (v); give it a column of "v", or use an inner join'),
	('SELECT d.dept, sum(CASE WHEN v.kind = 1 THEN 1 ELSE 2 END) FROM depts d LEFT JOIN visits v ON v.dept = d.dept GROUP BY 1',
	 'sum(...) would count rows without a match in protected table "visits" (v); give it a column of "v", or use an inner join'),
	('SELECT v.channel, count(v.id) FROM depts d LEFT JOIN visits v ON v.dept = d.dept GROUP BY 1',
	 'rows without a match in protected table "visits" (v) have no group "v.channel"; group by columns of the public side, or use an inner join'),
	('SELECT d.dept, count(v.id) FROM depts d LEFT JOIN visits v ON v.dept = d.dept WHERE v.kind IS NULL GROUP BY 1',
	 'this condition may hold for rows without a match in protected table "visits" (v), which belong to nobody; move it to the join''s ON')) q (q, message);

-- ------------------------------------------------------------------------
-- limits
-- ------------------------------------------------------------------------

SET dp_cdp.max_public_rows = 20;
SELECT is(failed('SELECT day, count(*) FROM visits JOIN days USING (day) GROUP BY 1'),
	'ZC002 this query reads more than 20 public rows or groups; filter them, or ask the administrator to raise dp_cdp.max_public_rows for 0',
	'more groups than are allowed');
SELECT is(failed('SELECT count(*) FROM visits JOIN (SELECT day FROM days) d USING (day)'),
	'ZC002 this query reads more than 20 public rows or groups; filter them, or ask the administrator to raise dp_cdp.max_public_rows for 0',
	'more rows than are allowed');
SELECT as_declared($$SELECT d.dept, count(*) FROM visits v JOIN depts d USING (dept) WHERE d.building = 'north' GROUP BY d.dept$$, 'as many as are allowed');
RESET dp_cdp.max_public_rows;
SET dp_cdp.max_public_time = 100;
SELECT is(failed('SELECT count(*) FROM visits JOIN (SELECT a.day FROM days a, days b, days c WHERE a.year + b.year + c.year < 0) d USING (day)'),
	'ZC002 finding public rows and groups took longer than 100 ms; filter them, or ask the administrator to raise dp_cdp.max_public_time for 0',
	'longer than is allowed');
RESET dp_cdp.max_public_time;

-- ------------------------------------------------------------------------
-- EXPLAIN
-- ------------------------------------------------------------------------

CREATE FUNCTION groups_line(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	FOR line IN EXECUTE 'EXPLAIN ' || statement LOOP
		IF line ~ 'Groups:' THEN
			found := trim(line);
		END IF;
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN found;
END $$;

SELECT is(groups_line('SELECT d.dept, count(*) FROM visits v JOIN depts d USING (dept) WHERE d.building = ''north'' GROUP BY d.dept'),
	'Groups: d.dept', 'EXPLAIN finds the groups');
SELECT is(groups_line('SELECT channel, region, count(*) FROM visits JOIN patients USING (patient) JOIN
	(SELECT channel, count(*) AS n FROM visits GROUP BY 1 ORDER BY 1 LIMIT 1) t USING (channel) GROUP BY 1, 2'),
	'Groups: visits.channel, patients.region  (known when it runs)', '... unless they depend on what is released');

SELECT is(rows_for('analyst1', 'SELECT count(*), count(*) FILTER (WHERE x <> y) FROM (SELECT a.dept AS x, b.dept AS y, count(*) AS n FROM visits v
	LEFT JOIN depts a ON a.dept = lower(v.diagnosis) LEFT JOIN depts b ON lower(v.diagnosis) = b.dept GROUP BY 1, 2) q'), '(16,0)',
	'outer joins by the same protected expression match the same key, or none');
SELECT is(rows_for('analyst1', 'SELECT count(*), count(*) FILTER (WHERE x <> y) FROM (SELECT a.dept AS x, b.dept AS y, count(*) AS n FROM visits v
	LEFT JOIN depts a ON a.dept = lower(v.diagnosis) LEFT JOIN depts b ON upper(v.diagnosis) = b.dept GROUP BY 1, 2) q'), '(36,20)', '... by others any');

-- ------------------------------------------------------------------------
-- outer joins of what conditions leave few values
-- ------------------------------------------------------------------------

SELECT as_declared(format('SELECT d.building, count(*) FROM visits v LEFT JOIN depts d ON d.dept = v.dept WHERE %s GROUP BY 1', condition), condition)
	FROM unnest(ARRAY['v.dept IN (''a'', ''c'')', 'v.dept = ''a'' OR v.dept = ''b''']) condition;
SELECT as_declared(format('SELECT k.label, count(*) FROM visits v LEFT JOIN kinds k ON k.kind = v.kind WHERE %s GROUP BY 1', condition), condition)
	FROM unnest(ARRAY['v.kind IN (1, 3)', 'v.kind BETWEEN 1 AND 2', 'v.kind < 3', 'v.kind IS NOT NULL', 'v.kind <> 2', 'v.kind IN (1, 3) OR v.kind IS NULL']) condition;
SELECT as_declared('SELECT k.label, count(*) FROM (SELECT * FROM visits WHERE kind < 3) v LEFT JOIN kinds k ON k.kind = v.kind GROUP BY 1', 'one level below the join');
SELECT as_declared(format('SELECT d.year, d.month, count(*) FROM visits v LEFT JOIN days d ON d.day = %s WHERE %s GROUP BY 1, 2', value, condition), condition || ' of ' || value)
	FROM (VALUES ('v.day', 'v.day >= ''2025-01-01'' AND v.day < ''2025-03-01'''), ('v.day', 'extract(year FROM v.day) = 2024'), ('v.day', 'v.day BETWEEN ''2024-02-28'' AND ''2024-03-01'''),
		('v.at::date', 'v.at >= ''2024-02-10 12:00'' AND v.at < ''2024-03-01'''), ('v.seen::date', 'v.seen >= ''2024-02-10 12:00'' AND v.seen < ''2024-03-01'''),
		('(v.seen AT TIME ZONE ''Europe/Berlin'')::date', 'v.seen >= ''2024-03-10 12:00'' AND v.seen < ''2024-04-02''')) AS c (value, condition);
SELECT as_declared('SELECT date_trunc(''month'', v.day) AS m, d.month_name, count(*) FROM visits v LEFT JOIN days d ON d.day = v.day WHERE v.day >= ''2025-01-01'' AND v.day < ''2025-03-01'' GROUP BY 1, 2',
	'pairs of a column and of what it is joined with');
SELECT as_declared('SELECT d.month, k.label, count(*) FROM visits v LEFT JOIN days d ON d.day = v.day LEFT JOIN kinds k ON k.kind = v.kind
	WHERE v.day >= ''2025-01-01'' AND v.day < ''2025-02-01'' AND v.kind IN (1, 2) GROUP BY 1, 2', 'two of them');
SELECT as_declared('SELECT d.month, count(*) FROM visits v LEFT JOIN days d ON d.day = v.day + 400 WHERE v.day BETWEEN ''2024-11-20'' AND ''2024-12-10'' GROUP BY 1', 'rows of which some have no match');
SELECT as_declared('SELECT l.label, count(*) FROM visits v LEFT JOIN (VALUES (''web'', ''w''), (''shop'', ''s''), (''phone'', ''p'')) l (channel, label) USING (channel) WHERE v.channel IN (''web'', ''shop'') GROUP BY 1',
	'with what is written');
SELECT as_declared(format('SELECT d.month, count(*) FROM visits v JOIN days d ON %s = d.day WHERE v.seen >= ''2024-02-01 12:00'' AND v.seen < ''2024-02-28 12:00'' GROUP BY 1', value), 'an inner join by ' || value)
	FROM unnest(ARRAY['(v.seen AT TIME ZONE ''UTC'')::date', '(v.seen AT TIME ZONE ''Asia/Tokyo'')::date', 'date_trunc(''day'', v.seen)::date', '(v.seen - interval ''3 hours'')::date']) value;
SELECT is(rows_for('analyst1', 'SELECT d.month, count(*) > 300 FROM visits v LEFT JOIN days d ON d.day = v.day WHERE v.day >= ''2025-11-01'' GROUP BY 1'), '(,f) (11,t) (12,t)',
	'a range of one end limits matches, and not whether there are any');
SELECT is(prepared('date, date', 'SELECT d.month, count(*) FROM visits v LEFT JOIN days d ON d.day = v.day WHERE v.day >= $1 AND v.day < $2 GROUP BY 1', '''2025-01-01''', '''2025-03-01'''),
	rows_for('owner1', 'SELECT d.month, count(*) FROM visits v LEFT JOIN days d ON d.day = v.day WHERE v.day >= ''2025-01-01'' AND v.day < ''2025-03-01'' GROUP BY 1'), 'a range of parameters');

-- ------------------------------------------------------------------------
-- joins by order, and by what is made of a time
-- ------------------------------------------------------------------------

SELECT as_declared(format('SELECT d.day, count(*) FROM visits v JOIN days d ON %s WHERE v.seen >= ''2024-02-10'' AND v.seen < ''2024-02-17'' GROUP BY 1', condition), condition)
	FROM unnest(ARRAY['v.seen >= d.day AND v.seen < d.day + 1', 'd.day <= v.seen AND d.day + interval ''1 day'' > v.seen', 'v.seen BETWEEN d.day AND d.day + interval ''1 day'' - interval ''1 microsecond''',
		'v.seen::date >= d.day AND v.seen::date - 1 < d.day', 'date_trunc(''day'', v.seen) = d.day', 'd.day = v.seen::date AND v.seen >= d.day - 1', 'v.seen >= d.day::timestamptz AND v.seen < (d.day + 1)::timestamptz',
		'to_char(v.seen, ''YYYY-MM-DD'') = to_char(d.day, ''YYYY-MM-DD'')', 'date_trunc(''week'', v.seen)::date = d.day', 'date_trunc(''month'', v.seen) = d.day',
		'extract(year FROM v.seen) = d.year AND extract(month FROM v.seen) = d.month AND d.day < ''2024-02-02''', 'to_char(v.seen, ''Mon'') = d.month_name AND d.year = 2024 AND extract(day FROM d.day) = 1']) condition;
SELECT as_declared('SELECT d.day, count(*) FROM visits v JOIN days d ON date_trunc(''day'', v.day) = d.day WHERE v.day >= ''2024-02-10'' AND v.day < ''2024-02-17'' GROUP BY 1', 'a date as a moment');
SELECT as_declared('SELECT d.day, count(*) FROM (SELECT patient, min(seen) AS seen FROM visits GROUP BY 1) v JOIN days d ON v.seen >= d.day AND v.seen < d.day + 1 WHERE v.seen >= ''2024-02-10'' AND v.seen < ''2024-02-12'' GROUP BY 1',
	'a moment of each patient');
SELECT as_declared('SELECT d, count(*) FROM visits v JOIN generate_series(timestamp ''2024-02-01'', ''2024-03-01'', ''12 hours'') d ON v.at >= d AND v.at < d + interval ''12 hours'' WHERE v.at >= ''2024-02-10 12:00'' AND v.at < ''2024-02-12'' GROUP BY 1',
	'with a series');
SELECT is(rows_for('analyst1', 'SELECT d.day, count(*) > 5 FROM visits v LEFT JOIN days d ON v.seen >= d.day AND v.seen < d.day + 1 WHERE v.seen >= ''2024-02-10'' AND v.seen < ''2024-02-12'' GROUP BY 1'),
	'(,f) (2024-02-10,t) (2024-02-11,t)', 'there may be rows without a match');
SELECT is(prepared('timestamptz, timestamptz', 'SELECT d.day, count(*) FROM visits v JOIN days d ON v.seen >= d.day AND v.seen < d.day + 1 WHERE v.seen >= $1 AND v.seen < $2 GROUP BY 1', '''2024-02-10'', ''2024-02-12'''),
	rows_for('owner1', 'SELECT d.day, count(*) FROM visits v JOIN days d ON v.seen >= d.day AND v.seen < d.day + 1 WHERE v.seen >= ''2024-02-10'' AND v.seen < ''2024-02-12'' GROUP BY 1'), 'of parameters');
-- clocks of a zone may be set: a day more on both sides is not decided
SELECT is(rows_for('analyst1', 'SELECT d.day, count(*) > 5 FROM visits v JOIN days d ON v.seen AT TIME ZONE ''Asia/Tokyo'' >= d.day AND v.seen AT TIME ZONE ''Asia/Tokyo'' < d.day + 1 WHERE v.seen >= ''2024-02-10 15:00'' AND v.seen < ''2024-02-12 15:00'' GROUP BY 1'),
	'(2024-02-10,f) (2024-02-11,t) (2024-02-12,t) (2024-02-13,f)', 'of another zone');
SELECT is(rows_for('analyst1', 'SELECT d.day, count(*) > 5 FROM visits v JOIN days d ON v.seen::timestamp >= d.day AND v.seen::timestamp < d.day + 1 WHERE v.seen >= ''2024-02-11'' AND v.seen < ''2024-02-13'' GROUP BY 1'),
	'(2024-02-10,f) (2024-02-11,t) (2024-02-12,t) (2024-02-13,f)', 'of the zone of the session');
SELECT as_declared(format('SELECT k.label, count(*) FROM visits v JOIN kinds k ON %s GROUP BY 1', condition), condition)
	FROM unnest(ARRAY['v.cost >= k.lowest WHERE v.cost <= 1', 'v.cost > k.lowest AND v.cost >= 0 WHERE v.cost <= 1', 'k.lowest >= v.cost WHERE v.cost BETWEEN 1 AND 1.5', 'v.kind >= k.kind WHERE v.kind < 3',
		'v.kind > k.kind WHERE v.kind IN (1, 2)', 'v.kind <= k.lowest WHERE v.kind = 1', 'v.cost < k.kind WHERE v.cost >= 1']) condition;
-- strings have no ranges
SELECT as_declared(format('SELECT d.building, count(*) FROM visits v JOIN depts d ON %s GROUP BY 1', condition), condition)
	FROM unnest(ARRAY['v.dept >= d.dept WHERE v.dept <= ''c'' AND d.dept < ''d''', 'v.dept = d.dept WHERE v.dept >= ''b'' AND v.dept < ''d''']) condition;
SELECT is(rows_for('analyst1', 'SELECT d.building, count(*) > 100 FROM visits v LEFT JOIN depts d ON v.dept > d.dept WHERE v.dept IN (''a'', ''b'') GROUP BY 1'), '(,t) (empty,f) (north,t) (south,f)', 'nor in outer joins');
SELECT as_declared(format('SELECT l.label, count(*) FROM visits v JOIN (VALUES (1::%s, ''x''), (2, ''y''), (3, ''z'')) l (kind, label) ON l.kind = v.kind WHERE v.kind %s GROUP BY 1', type, condition), format('%s %s', type, condition))
	FROM unnest('{int,bigint,smallint,numeric}'::text[]) type, unnest('{< 3,= 2,"BETWEEN 1 AND 2"}'::text[]) condition;

-- ------------------------------------------------------------------------
-- columns that a primary key determines
-- ------------------------------------------------------------------------

SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT d.dept, d.building, d.floor, count(*) FROM visits v JOIN depts d ON d.dept = v.dept WHERE d.dept < ''e'' GROUP BY d.dept',
	'SELECT d.*, count(*) FROM visits v JOIN depts d ON d.dept = v.dept WHERE v.dept < ''e'' GROUP BY d.dept',
	'SELECT d.building || d.floor AS place, count(*) FROM visits v JOIN depts d ON d.dept = v.dept GROUP BY d.dept HAVING d.building = ''north''',
	'SELECT k.label, k.lowest, count(v.id) FROM kinds k LEFT JOIN visits v ON v.kind = k.kind GROUP BY k.kind ORDER BY k.lowest',
	'SELECT k.label, count(*) FROM visits v LEFT JOIN kinds k ON v.kind = k.kind GROUP BY k.kind',
	'SELECT (SELECT m.note FROM mine m WHERE m.dept = d.dept ORDER BY 1 LIMIT 1) AS note, count(*) FROM visits v JOIN depts d ON d.dept = v.dept WHERE d.dept < ''e'' GROUP BY d.dept']) statement;

-- ------------------------------------------------------------------------
-- conditions on declared keys that depend on settings
-- ------------------------------------------------------------------------

SELECT dp_cdp.set_keys('visits', 'day', ARRAY['2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02']::date[]);
SET TimeZone = 'Asia/Kolkata';
SELECT is(rows_for('analyst1', format('SELECT day, count(*) FROM visits WHERE %s GROUP BY 1', condition)), '(2024-02-28,12) (2024-02-29,12)', condition)
FROM unnest(ARRAY['date_trunc(''month'', day) = ''2024-02-01''', 'to_char(day, ''YYYY-MM'') = ''2024-02''', 'day < timestamptz ''2024-03-01''',
	'day::text IN (''2024-02-28'', ''2024-02-29'')', 'cast(day AS varchar) LIKE ''2024-02%''', 'left(day::text, 7) = ''2024-02''',
	'substring(day::text FROM 6 FOR 2)::int = 2', 'concat(day) < ''2024-03''', 'extract(month FROM day) = 2 AND extract(year FROM day) = 2024',
	'date_trunc(''month'', day)::date = ''2024-02-01''']) AS condition;
SELECT is(rows_for('analyst1', 'SELECT day, channel, count(*) FROM visits WHERE date_trunc(''month'', day) = ''2024-02-01'' AND channel = ''web'' GROUP BY 1, 2'),
	(SELECT string_agg(r::text, ' ' ORDER BY r) FROM (SELECT day, channel, count(*) FROM visits WHERE day IN ('2024-02-28', '2024-02-29') AND channel = 'web' GROUP BY 1, 2) r),
	'... with another key');
RESET TimeZone;

-- ------------------------------------------------------------------------
-- what a view shows to whom
-- ------------------------------------------------------------------------

REVOKE SELECT ON depts FROM analyst1;
CREATE TABLE deltas AS SELECT delta_spent FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole;
SELECT is(rows_for('analyst1', 'SELECT building, count(*) FROM located WHERE building <> $$empty$$ GROUP BY 1'), '(north,4386) (south,4386)',
	'a table behind a view that the asker may not read');
SELECT isnt((SELECT delta_spent FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole), (SELECT delta_spent FROM deltas), '... declares no keys');

SELECT * FROM finish();
