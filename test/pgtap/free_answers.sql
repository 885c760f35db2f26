-- What tells nothing of rows is free: how many declared groups there are, their
-- keys, queries without rows.  What is not read of a release is not charged.
-- Prices are in those of one aggregate (rho 1e-6).

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE stranger LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int, dept text NOT NULL, ward text, flag boolean NOT NULL, n numeric, at date);
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), 'w' || i % 7, i % 2 = 0, i % 10, date '2025-01-01' + i % 50
	FROM generate_series(1, 3000) i;
CREATE TABLE depts (dept text PRIMARY KEY, building text NOT NULL);
INSERT INTO depts VALUES ('a', 'north'), ('b', 'north'), ('c', 'south'), ('d', 'south');
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', 'n', 0, 10);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c', 'd']);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1);
GRANT SELECT ON depts TO analyst1;
CREATE VIEW by_dept AS SELECT dept, flag, n FROM visits;
GRANT SELECT ON by_dept TO analyst1;
RESET SESSION AUTHORIZATION;

\ir analyst.psql

-- the rows, the price in aggregates and in rows of the log, whether EXPLAIN speaks of an amount of rho
CREATE FUNCTION answered(statement text, price int, wanted text, about text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	log bigint := (SELECT count(*) FROM dp_cdp_internal.release_log WHERE granted);
	before bigint := spent();
	answer text;
	line text;
	r record;
	charged boolean := false;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		FOR r IN EXECUTE statement LOOP
			answer := concat_ws(' ', answer, r::text);
		END LOOP;
		answer := coalesce(answer, 'none');
		FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || statement LOOP
			charged := charged OR (line ~ 'Rho: ' AND line !~ 'Rho: 0$');
		END LOOP;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN NEXT CASE WHEN wanted IS NULL THEN matches(answer, '^(?!ZC|42)', coalesce(about, statement))
		ELSE is(answer, wanted, coalesce(about, statement)) END;
	RETURN NEXT is(format('%s %s %s', spent() - before, (SELECT count(*) FROM dp_cdp_internal.release_log WHERE granted) - log, charged),
		format('%s %s %s', price, sign(price), price > 0), '... price, rows of the log, EXPLAIN');
END $$;

CREATE FUNCTION free(statement text, wanted text DEFAULT 'none') RETURNS SETOF text LANGUAGE sql
	AS $$ SELECT answered(statement, 0, wanted) $$;

SELECT no_plan();

-- how many groups
SELECT free(statement, '(4)') FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT dept, count(*) FROM visits GROUP BY dept) t',
	'WITH root AS (SELECT dept, count(*) AS n FROM visits GROUP BY dept) SELECT COUNT(*) AS rows FROM root',
	'WITH root AS MATERIALIZED (SELECT dept, count(*) AS n FROM visits GROUP BY dept) SELECT COUNT(*) FROM root',
	'WITH root AS (SELECT dept, dp_sum(n) AS n FROM visits GROUP BY dept), more AS (SELECT *, n + 1 AS m FROM root) SELECT COUNT(*) FROM more',
	'SELECT count(*) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept ORDER BY n DESC) t',
	'SELECT count(*) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept ORDER BY n DESC LIMIT 100) t',
	'SELECT count(*) FROM (SELECT s.*, rank() OVER (ORDER BY n) FROM (SELECT dept, sum(n) AS n, avg(n) FROM visits GROUP BY dept) s ORDER BY 2 LIMIT 50) t',
	'SELECT count(DISTINCT dept) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t',
	'SELECT count(*) FROM (SELECT dept FROM by_dept GROUP BY 1) t',
	'SELECT count(*) FROM (SELECT DISTINCT dept FROM visits) t']) AS statement;
SELECT free('SELECT count(*) FROM (SELECT dept, flag, count(*) FROM visits GROUP BY 1, 2) t', '(8)');
SELECT free('SELECT count(*) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept ORDER BY n DESC LIMIT 3) t', '(3)');
SELECT free('SELECT count(*) FROM (SELECT date_trunc(''week'', at), count(*) FROM visits WHERE at >= ''2025-01-06'' AND at < ''2025-01-20'' GROUP BY 1) t', '(2)');
SELECT free('SELECT count(*) FROM (SELECT building, sum(n) FROM visits JOIN depts USING (dept) WHERE dept <> ''d'' GROUP BY 1) t', '(2)');
SELECT free('SELECT count(*) FROM (SELECT dept, count(*) FROM visits WHERE dept = ''a'' GROUP BY 1) t', '(1)');
SELECT free('SELECT count(*) FROM (SELECT count(*), sum(n) FROM visits WHERE n > 3) t', '(1)');
SELECT free('WITH root AS (SELECT count(*) FROM visits) SELECT COUNT(*) AS rows FROM root', '(1)');
-- what has to be drawn is paid for
SELECT answered('SELECT count(*) FROM (SELECT ward, count(*) FROM visits GROUP BY ward) t', 1, NULL, 'keys that are selected are charged');
SELECT answered('SELECT count(*) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept HAVING count(*) > 10) t', 1, NULL, 'so is HAVING');
SELECT answered('SELECT count(*) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t WHERE n > 10', 1, NULL, '... and a condition above');
SELECT answered('SELECT count(*) FROM (SELECT count(*) AS n FROM visits HAVING count(*) > 0) t', 1, NULL, '... of one group, too');
SELECT answered('SELECT count(n) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t', 1, NULL, 'a count that reads the values');
SELECT answered('SELECT count(t) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t', 1, NULL, '... or whole rows');
SELECT answered('SELECT count(*) FROM (SELECT DISTINCT dept, count(*) AS n FROM visits GROUP BY dept) t', 1, NULL, '... or is of distinct ones');
SELECT answered('SELECT count(*) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept ORDER BY n FETCH FIRST 2 ROWS WITH TIES) t', 1, NULL, '... or of ties');
SELECT answered('SELECT count(*) FROM (SELECT dept, generate_series(1, greatest(1, least(3, count(*)))) FROM visits GROUP BY dept) t', 1, NULL, '... or of sets');
SELECT answered('SELECT n FROM (SELECT dept, count(*) AS n, sum(n), avg(n), stddev(n) FROM visits GROUP BY dept) t', 1, NULL, 'of many aggregates those that are read are charged');
SELECT answered('SELECT dept, (SELECT t.n) FROM (SELECT dept, sum(n) AS n, avg(n) FROM visits GROUP BY dept) t', 1, NULL, '... also in sublinks');
SELECT answered('WITH t AS (SELECT dept, sum(n) AS s, avg(n) AS a, count(*) AS c FROM visits GROUP BY dept) SELECT x.s, y.a FROM t x JOIN t y USING (dept)', 2, NULL, '... of a WITH query those that any reference reads');

-- the keys alone
SELECT free(statement, '(a) (b) (c) (d)') FROM unnest(ARRAY[
	'SELECT dept FROM (SELECT dept, count(*) FROM visits GROUP BY dept) t',
	'SELECT dept FROM visits GROUP BY 1',
	'SELECT DISTINCT dept FROM visits WHERE n > 3',
	'SELECT DISTINCT dept FROM (SELECT dept, sum(n) FROM visits GROUP BY dept) t ORDER BY 1',
	'SELECT t.dept FROM (SELECT dept, count(*) FROM visits GROUP BY dept) t JOIN depts d USING (dept)']) AS statement;
SELECT answered('SELECT dept FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t ORDER BY n', 1, NULL, 'their order by an answer is charged');
SELECT answered('SELECT dept FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept ORDER BY n) t', 1, NULL, '... where it stands below, too');

-- no rows
SELECT free(statement) FROM unnest(ARRAY[
	'SELECT 1 FROM visits LIMIT 0', 'SELECT * FROM visits FETCH FIRST 0 ROWS ONLY', 'SELECT * FROM visits WHERE false',
	'SELECT TRUE AS "_" FROM visits WHERE 1 <> 1 LIMIT 0', 'SELECT * FROM visits WHERE n > 3 AND 1 = 0', 'SELECT * FROM visits WHERE NULL',
	'SELECT * FROM visits WHERE 1 = 0 ORDER BY id LIMIT 10', 'SELECT * FROM (SELECT * FROM visits) q LIMIT 0', 'SELECT * FROM (SELECT * FROM visits LIMIT 0) q',
	'SELECT * FROM (SELECT * FROM visits WHERE 1 = 0) q ORDER BY id LIMIT 100', 'SELECT * FROM (SELECT * FROM by_dept) q WHERE 1 = 0',
	'WITH q AS (SELECT * FROM visits) SELECT * FROM q LIMIT 0', 'WITH q AS (SELECT * FROM visits WHERE 1 = 0) SELECT * FROM q ORDER BY 1',
	'WITH q AS MATERIALIZED (SELECT * FROM visits LIMIT 0), r AS (SELECT * FROM q) SELECT * FROM r',
	'SELECT v FROM visits v LIMIT 0', 'SELECT v.ctid, v.* FROM visits v LIMIT 0', 'SELECT *, row_number() OVER (ORDER BY id) FROM visits LIMIT 0',
	'SELECT * FROM visits UNION ALL SELECT * FROM visits LIMIT 0', 'SELECT v.* FROM visits v JOIN depts USING (dept) WHERE false',
	'SELECT * FROM depts d LEFT JOIN visits v ON v.dept = d.dept WHERE 1 = 0', 'SELECT * FROM visits v JOIN visits w ON false',
	'SELECT * FROM visits v WHERE 1 = 0 AND EXISTS (SELECT FROM visits w WHERE w.id > v.id)', 'SELECT (SELECT max(n) FROM visits) FROM visits LIMIT 0',
	'SELECT min(dept), array_agg(id) FROM visits LIMIT 0', 'SELECT dept, count(*) FROM visits GROUP BY 1 ORDER BY 2 LIMIT 0',
	'SELECT dept, count(*) FROM visits GROUP BY 1 HAVING false', 'SELECT dept, count(*) FROM visits WHERE 1 = 0 GROUP BY 1',
	'SELECT ward, count(*) FROM visits WHERE 1 = 0 GROUP BY 1', 'SELECT * FROM (SELECT ward, count(*) FROM visits GROUP BY 1) q LIMIT 0',
	'WITH q AS (SELECT dept, count(*) FROM visits GROUP BY 1) SELECT * FROM q WHERE 1 = 0']) AS statement;
SELECT is(run_as_analyst('CREATE TABLE probed AS SELECT dept AS d, avg(n) AS mean, v.id::text FROM visits v GROUP BY v.dept, v.id LIMIT 0')::text, '(,0)', 'names and types are there');
SELECT is((SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'probed'::regclass AND attnum > 0),
	'd text, mean numeric, id text', '... of a query with aggregates');
SELECT answered('SELECT count(*) FROM visits WHERE 1 = 0', 1, NULL, 'a count of no rows is a row, and paid for');
SELECT answered('SELECT count(*) FROM (SELECT * FROM visits WHERE 1 = 0) q', 1, NULL, '... of a subquery, too');
SELECT matches((run_as_analyst('SELECT * FROM depts d LEFT JOIN (SELECT * FROM visits LIMIT 0) v USING (dept)')).failure, '^ZC002', 'the left side has rows');
SELECT matches((run_as_analyst('SELECT * FROM visits LIMIT 0 FOR UPDATE')).failure, '^ZC002', 'locking is no probe');

-- for nobody but those who hold a budget
SET SESSION AUTHORIZATION stranger;
SELECT throws_ok('SELECT * FROM visits LIMIT 0', 'ZC001', NULL, 'a probe of a stranger');
SELECT throws_ok('SELECT count(*) FROM (SELECT count(*) FROM visits) q', 'ZC001', NULL, '... and a count of one group');
SELECT throws_ok('SELECT count(*) FROM (SELECT dept, count(*) FROM visits GROUP BY 1) q', 'ZC001', NULL, '... and of several');
RESET SESSION AUTHORIZATION;

-- whether there are rows: a count that is compared with its noise
SELECT answered('SELECT EXISTS (SELECT 1 FROM visits WHERE visits.dept = ''a'') AS x', 1, NULL);
SELECT answered('SELECT 1 AS a FROM visits WHERE dept = ''a'' LIMIT 1', 1, NULL);
-- so much that no group without rows is found to have some
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
CREATE FUNCTION sharp(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	t text;
	r record;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SET LOCAL dp_cdp.rho = 2000;
	FOR r IN EXECUTE statement LOOP
		t := concat_ws(' ', t, r::text);
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN t;
END $$;
SELECT is(sharp(statement), wanted, statement) FROM (VALUES
	('SELECT EXISTS (SELECT 1 FROM visits WHERE n > 3) AS x', '(t)'), ('SELECT NOT EXISTS (SELECT * FROM visits v WHERE n > 3 ORDER BY id LIMIT 1)', '(f)'),
	('SELECT 1 AS a FROM visits WHERE flag LIMIT 1', '(1)'), ('SELECT 1 AS one FROM visits LIMIT 1', '(1)'), ('SELECT EXISTS (SELECT 1 FROM visits)', '(t)'),
	('SELECT NOT EXISTS (SELECT * FROM visits)', '(f)'), ('SELECT (1) AS "a" FROM visits FETCH FIRST 1 ROW ONLY', '(1)'), ('SELECT CASE WHEN EXISTS (SELECT FROM visits LIMIT 1) THEN 1 ELSE 0 END', '(1)'),
	('SELECT 1 AS row_exists FROM (SELECT 1 AS dummy) t WHERE EXISTS (SELECT 1 FROM visits) LIMIT 1', '(1)'), ('SELECT dept FROM depts WHERE EXISTS (SELECT FROM visits WHERE flag) ORDER BY 1', '(a) (b) (c) (d)'),
	('SELECT dept FROM depts d WHERE EXISTS (SELECT FROM visits v WHERE v.dept = d.dept) ORDER BY 1', '(a) (b) (c)'),
	('SELECT count(*) > dp_margin(count(*), 0.99) FROM visits WHERE n > 3', '(t)')) AS v (statement, wanted);
-- of rows without rows one in forty has some (175 with a probability below 1e-11), also where noise is a row or two and 95 % are between whole numbers
SET SESSION AUTHORIZATION owner1;
CREATE TABLE drawn (person int NOT NULL, k int NOT NULL);
SELECT dp_cdp.protect_table('drawn', 'clinic', 'person'), dp_cdp.set_keys('drawn', 'k', (SELECT array_agg(i) FROM generate_series(1, 4000) i));
SELECT dp_cdp.alter_dataset('clinic', max_groups => 1, max_rows => 1);
RESET SESSION AUTHORIZATION;
CREATE FUNCTION yes(sigma float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	PERFORM set_config('dp_cdp.rho', (0.5 / sigma ^ 2)::text, true);
	SELECT count(*) INTO n FROM generate_series(1, 4000) g WHERE EXISTS (SELECT FROM drawn d WHERE d.k = g);
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN n;
END $$;
SELECT cmp_ok(yes(sigma)::int, '<', 175, 'with a deviation of ' || sigma) FROM unnest(ARRAY[0.505, 1.015, 1.525, 5]) sigma;
SELECT dp_cdp.alter_dataset('clinic', max_groups => 5, max_rows => 5);
SELECT matches((run_as_analyst(statement)).failure, '^ZC002', statement) FROM unnest(ARRAY[
	'SELECT 1 FROM visits LIMIT 2', 'SELECT 1 FROM visits WHERE flag LIMIT 2', 'SELECT 1 FROM visits WHERE flag', 'SELECT dept FROM visits WHERE flag LIMIT 1',
	'SELECT 1, id FROM visits WHERE flag ORDER BY id LIMIT 1', 'SELECT EXISTS (SELECT 1 FROM visits WHERE flag OFFSET 5)']) AS statement;

-- quotients of what was paid for do not fail
SELECT answered('SELECT dept, sum(n) / (0 * count(*)) FROM visits GROUP BY 1', 2, '(a,) (b,) (c,) (d,)', 'NULL where a divisor is 0');
SELECT answered('SELECT dept, s / c AS q FROM (SELECT dept, sum(n) AS s, 0 * count(*) AS c FROM visits GROUP BY 1) q', 2, '(a,) (b,) (c,) (d,)', '... also above');
SELECT answered('SELECT 1.0 / (SELECT 0 * count(*) FROM visits) AS q', 1, '()', '... and around a sublink');
SELECT answered('SELECT (0 * count(*)) / 7 AS q FROM visits', 1, '(0)', 'others are what they were');
SELECT answered('SELECT count(*) / 0 AS q FROM visits', 1, '()', 'also where it is written so');
-- nor do other functions that are not defined for numbers that noise makes
SELECT answered(statement, 1, '()', statement) FROM unnest(ARRAY[
	'SELECT 10 % (0 * count(*)) AS q FROM visits', 'SELECT mod(10, 0 * count(*)) AS q FROM visits', 'SELECT mod(10.5, 0 * count(*)) AS q FROM visits',
	'SELECT div(10.5, 0 * count(*)) AS q FROM visits', 'SELECT ln(0 * count(*)) AS q FROM visits', 'SELECT ln(-1.5 - abs(count(*))) AS q FROM visits',
	'SELECT log(0 * count(*)) AS q FROM visits', 'SELECT log(0.0 * count(*)) AS q FROM visits', 'SELECT sqrt(-1 - abs(count(*))) AS q FROM visits',
	'SELECT sqrt(-1.5 - abs(count(*))) AS q FROM visits', 'SELECT power(-2 - abs(count(*)), 0.5::float8) AS q FROM visits', 'SELECT exp(1000 * (1 + abs(count(*)))) AS q FROM visits',
	'SELECT width_bucket(count(*), 0, 0 * count(*), 3) AS q FROM visits', 'SELECT ((1 + abs(count(*))) * 1e18)::int AS q FROM visits',
	'SELECT q FROM (SELECT sqrt(c) AS q FROM (SELECT -1 - abs(count(*)) AS c FROM visits) v) w']) AS statement;
SELECT answered('SELECT dept, mod(7, 2) AS a, sqrt(4) AS b, round(ln(exp(1 + 0 * count(*)))) AS c FROM visits GROUP BY 1', 1, '(a,1,2,1) (b,1,2,1) (c,1,2,1) (d,1,2,1)', 'what is defined is what it was');

SELECT * FROM finish();
