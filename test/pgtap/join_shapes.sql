-- What joins repeat, at every depth.  Answers over all shapes of joins are those
-- of plain SQL where max_groups and max_rows suffice, and one unit's weight in
-- them is what these allow where they do not.  Noise is negligible (rho 9000).
--
-- Person 1 alone is in ward 7, which has six places with two rows each;
-- everybody else is in a ward with one place.

SET client_min_messages = error;
-- whose snapshots may be older than the indexes below
ALTER SYSTEM SET autovacuum = off;
SELECT pg_reload_conf();

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE people (id int PRIMARY KEY, ward int, age int);
INSERT INTO people VALUES (1, 7, 20);
INSERT INTO people SELECT i, 1 + i % 6, 20 + i % 50 FROM generate_series(2, 301) i;
CREATE TABLE visits (person int NOT NULL, day int);
INSERT INTO visits SELECT 1, d FROM generate_series(1, 3) d;
INSERT INTO visits SELECT i, 1 FROM generate_series(2, 301) i;
-- each row a unit by itself
CREATE TABLE beds (bed int PRIMARY KEY, ward int);
INSERT INTO beds SELECT id, ward FROM people;
-- read where protected rows are, and not
CREATE TABLE places (ward int, place int, floor int);
INSERT INTO places SELECT w, w, w FROM generate_series(1, 6) w;
INSERT INTO places SELECT 7, p, n FROM generate_series(1, 6) p, generate_series(1, 2) n;
CREATE TABLE names (place int PRIMARY KEY, number int);
INSERT INTO names SELECT p, 7 - p FROM generate_series(1, 6) p;
CREATE TABLE wards (ward int PRIMARY KEY, wing int);
INSERT INTO wards SELECT w, 1 + w % 6 FROM generate_series(1, 7) w;
SELECT dp_cdp.create_dataset('clinic', default_rho => 9000, max_groups => 2, max_rows => 2);
SELECT dp_cdp.protect_table('people', 'clinic', 'id');
SELECT dp_cdp.protect_table('visits', 'clinic', 'person');
SELECT dp_cdp.protect_table('beds', 'clinic', each_row => true);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
CREATE VIEW placed AS SELECT p.id, p.age, m.place FROM people p JOIN places m ON m.ward = p.ward;
GRANT SELECT ON places, names, wards, placed TO analyst1;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE own_places AS SELECT * FROM places;
RESET SESSION AUTHORIZATION;

-- FROM and the key, which is 1 .. 6
CREATE TABLE shapes (source text, key text, groups int DEFAULT 6);
INSERT INTO shapes (source, key) VALUES
	-- on top
	('people p JOIN places m ON m.ward = p.ward', 'place'),
	('people p LEFT JOIN places m ON m.ward = p.ward', 'place'),
	('people p JOIN own_places m ON m.ward = p.ward', 'place'),
	('people p JOIN wards w ON w.ward = p.ward', 'wing'),
	('people p JOIN places m ON m.ward = p.ward JOIN names n ON n.place = m.place', 'number'),
	('people p JOIN visits v ON v.person = p.id JOIN wards w ON w.ward = p.ward', 'wing'),
	('beds b JOIN places m ON m.ward = b.ward', 'place'),
	-- in a subquery
	('(SELECT p.id, m.place FROM people p JOIN places m ON m.ward = p.ward) q', 'place'),
	('(SELECT p.id, m.place FROM people p JOIN own_places m ON m.ward = p.ward) q', 'place'),
	('(SELECT p.id, m.place FROM people p LEFT JOIN places m ON m.ward = p.ward) q', 'place'),
	('(SELECT m.place FROM places m RIGHT JOIN people p ON m.ward = p.ward) q', 'place'),
	('(SELECT * FROM (SELECT p.age, m.place FROM people p JOIN places m ON m.ward = p.ward) a WHERE age > 0) q', 'place'),
	('(SELECT w.wing FROM people p JOIN wards w ON w.ward = p.ward) q', 'wing'),
	('(SELECT b.bed, m.place FROM beds b JOIN places m ON m.ward = b.ward) q', 'place'),
	('(SELECT b.bed, m.place FROM beds b LEFT JOIN own_places m ON m.ward = b.ward) q', 'place'),
	('placed', 'place'),
	('(WITH w AS (SELECT p.id, m.place FROM people p JOIN places m ON m.ward = p.ward) SELECT * FROM w) q', 'place'),
	('(SELECT p.id, m.place FROM (SELECT id, ward FROM people) p JOIN (SELECT ward, place FROM places) m ON m.ward = p.ward) q', 'place'),
	-- a subquery that repeats, joined again
	('placed q JOIN names n ON n.place = q.place', 'number'),
	('placed q LEFT JOIN names n ON n.place = q.place', 'number'),
	('(SELECT n.number FROM placed q JOIN names n ON n.place = q.place) r', 'number'),
	('(SELECT b.bed, m.place FROM beds b JOIN places m ON m.ward = b.ward) q JOIN names n ON n.place = q.place', 'number'),
	('people p JOIN placed q ON q.id = p.id', 'place'),
	('people p LEFT JOIN placed q ON q.id = p.id', 'place'),
	('placed q JOIN visits v ON v.person = q.id', 'place'),
	('placed q JOIN people p ON q.id = p.id JOIN names n ON n.place = q.place', 'number'),
	('placed q JOIN placed r ON q.id = r.id AND q.place = r.place', 'r.place'),
	('placed q JOIN (SELECT person, max(day) AS day FROM visits GROUP BY person) r ON r.person = q.id', 'place'),
	-- grouped
	('(SELECT id, place, count(*) AS n FROM placed GROUP BY id, place) q', 'place'),
	('(SELECT DISTINCT p.id, m.place FROM people p JOIN places m ON m.ward = p.ward) q', 'place'),
	('(SELECT id, max(place) AS place FROM placed GROUP BY id) q', 'place'),
	('(SELECT id, max(place) AS place FROM placed GROUP BY id) q JOIN names n ON n.place = q.place', 'number'),
	('(SELECT id, max(place) AS place FROM placed GROUP BY id) q JOIN placed r ON r.id = q.id', 'r.place'),
	('(SELECT a.id, m.place FROM (SELECT id, max(ward) AS ward FROM people GROUP BY id) a JOIN places m ON m.ward = a.ward) q', 'place');
-- one group each
UPDATE shapes SET groups = 1 WHERE key = 'wing' OR source LIKE '%max(place)%' AND key <> 'r.place';

CREATE TABLE answers (shape text, run text, k int, n numeric, failure text);

CREATE FUNCTION ask(run text, groups int, rows int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	s shapes;
	statement text;
	failure text;
BEGIN
	FOR s IN SELECT * FROM shapes LOOP
		statement := format('SELECT %1$s AS k, %2$s(*) AS n FROM %3$s WHERE %1$s BETWEEN 1 AND 6 GROUP BY %1$s',
			s.key, '%s', s.source);
		IF run = 'exact' THEN
			EXECUTE format('INSERT INTO answers SELECT %L, %L, k, n FROM (%s) x', s.source, run, format(statement, 'count'));
			CONTINUE;
		END IF;
		EXECUTE 'SET SESSION AUTHORIZATION analyst1';
		PERFORM set_config('dp_cdp.max_groups', groups::text, false), set_config('dp_cdp.max_rows', rows::text, false);
		BEGIN
			EXECUTE format('CREATE TEMP TABLE got AS SELECT k, n FROM (%s) x', format(statement, 'dp_count'));
		EXCEPTION WHEN OTHERS THEN
			failure := sqlerrm;
			EXECUTE 'CREATE TEMP TABLE got AS SELECT 0 AS k, 0 AS n';
		END;
		EXECUTE 'RESET SESSION AUTHORIZATION';
		INSERT INTO answers SELECT s.source, ask.run, k, n, failure FROM got;
		DROP TABLE got;
	END LOOP;
END $$;

SELECT ask('exact', 0, 0);
SELECT ask('all', 6, 6);
SELECT ask('with', 2, 2);
DELETE FROM people WHERE id = 1;
DELETE FROM visits WHERE person = 1;
DELETE FROM beds WHERE bed = 1;
SELECT ask('without', 2, 2);

SELECT plan(2 * count(*)::int + 1) FROM shapes;

SELECT is((SELECT string_agg(DISTINCT failure, E'\n') FROM answers), NULL, 'all are answered');

SELECT ok(NOT EXISTS (
		SELECT FROM (SELECT * FROM answers WHERE shape = source AND run = 'exact') e
			FULL JOIN (SELECT * FROM answers WHERE shape = source AND run = 'all') a USING (k)
		WHERE abs(e.n - a.n) > 0.7 OR e.n IS NULL OR a.n IS NULL),
	'exact: ' || source || ' by ' || key)
	FROM shapes;

-- the squared distance of the two answers
SELECT ok(d BETWEEN 0.5 AND least(groups, 2) * 4 + 2, format('within two groups of two rows (%s): %s by %s', d, source, key))
	FROM shapes, LATERAL (SELECT round(sum((a.n - b.n) ^ 2), 1) AS d FROM answers a JOIN answers b USING (shape, k)
		WHERE a.run = 'with' AND b.run = 'without' AND shape = source) x;
SELECT * FROM finish();
