-- What is written from releases: what a column cannot hold is refused before
-- anything is paid for, as are privileges and the like; what is computed is NULL
-- where it fails.

\ir shop.psql
\ir analyst.psql

SELECT no_plan();

CREATE DOMAIN share AS float8 CHECK (VALUE BETWEEN 0 AND 1);
CREATE TABLE kept (k serial, n smallint, i int, b bigint, share share, a smallint[], v varchar(2), d numeric(3, 1), r real, f float8, t text, double int GENERATED ALWAYS AS (i * 2) STORED);
CREATE TABLE closed (n int);
CREATE TABLE seen (id int UNIQUE, n smallint);
INSERT INTO seen VALUES (1, 1);
GRANT INSERT, SELECT, UPDATE ON kept, seen TO analyst1;
GRANT USAGE ON SEQUENCE kept_k_seq TO analyst1;
GRANT CREATE ON SCHEMA public TO analyst1;

-- refused, for nothing
CREATE FUNCTION refused_free(statement text, error text) RETURNS text LANGUAGE sql
	AS $$ SELECT is(left(failure, 5) || ' ' || cost, error || ' 0', statement) FROM run_as_analyst(statement) $$;
-- answered, at the price of one aggregate
CREATE FUNCTION written(statement text) RETURNS text LANGUAGE sql
	AS $$ SELECT is(coalesce(failure, '') || ' ' || cost / 5000000000, ' 1', statement) FROM run_as_analyst(statement) $$;

SELECT refused_free(statement, 'ZC002') FROM unnest(ARRAY[
	'INSERT INTO kept (n) SELECT count(*) FROM orders',
	'INSERT INTO kept (n) VALUES ((SELECT count(*) FROM orders))',
	'INSERT INTO kept (n) VALUES (1), ((SELECT count(*) FROM orders))',
	'INSERT INTO kept (i) SELECT sum(amount)::numeric FROM orders',
	'INSERT INTO kept (v) SELECT ''abc'' || count(*) FROM orders',
	'INSERT INTO kept (d) SELECT avg(amount) FROM orders',
	'INSERT INTO kept (r) SELECT count(*)::float8 FROM orders',
	'INSERT INTO kept (share) SELECT count(*)::float8 FROM orders',
	'INSERT INTO kept (a) SELECT ARRAY[count(*)] FROM orders',
	'INSERT INTO seen (id) SELECT count(*) FROM orders ON CONFLICT (id) DO UPDATE SET n = excluded.id',
	'WITH w AS (INSERT INTO kept (n) SELECT count(*) FROM orders RETURNING n) SELECT n FROM w',
	'UPDATE seen SET n = (SELECT count(*) FROM orders)',
	'UPDATE seen SET (id, n) = (SELECT 1, count(*) FROM orders)',
	'UPDATE seen SET n = q.n FROM (SELECT count(*) AS n FROM orders) q',
	'MERGE INTO seen USING (SELECT count(*) AS z FROM orders) q ON seen.id = 1 WHEN MATCHED THEN UPDATE SET n = z',
	'MERGE INTO seen USING (SELECT count(*) AS z FROM orders) q ON seen.id = 2 WHEN NOT MATCHED THEN INSERT (n) VALUES (z)']) AS statement;

SELECT written(statement) FROM unnest(ARRAY[
	'INSERT INTO kept (n) SELECT (70000 + count(*) * 0)::smallint FROM orders',
	'INSERT INTO kept (n) VALUES ((SELECT count(*)::smallint FROM orders))',
	'INSERT INTO kept (n) SELECT (7 / (count(*) * 0))::smallint FROM orders',
	'INSERT INTO kept (v) SELECT (''abc'' || count(*))::varchar(2) FROM orders',
	'INSERT INTO kept (d) SELECT (1000 + count(*))::numeric(3, 1) FROM orders',
	'INSERT INTO kept (r) SELECT (1e300 + count(*) * 0)::real FROM orders',
	'INSERT INTO kept (share) SELECT (2 + count(*))::share FROM orders',
	'INSERT INTO kept (i, a) SELECT count(*), ARRAY[count(*)]::smallint[] FROM orders',
	'INSERT INTO seen (id) SELECT count(*) * 0 + 1 FROM orders ON CONFLICT (id) DO UPDATE SET n = excluded.id::smallint',
	'INSERT INTO kept (i) SELECT count(*) FROM orders',
	'INSERT INTO kept (b, f) SELECT n, n FROM (SELECT count(*) AS n FROM orders) q',
	'INSERT INTO kept (f, t) SELECT n, n FROM (SELECT count(*) AS n FROM orders) q',
	'UPDATE seen SET n = n + 1 WHERE id < (SELECT count(*) FROM orders)',
	'UPDATE seen SET id = (SELECT 1 / (count(*) * 0) FROM orders)',
	'UPDATE seen SET id = 1 WHERE id / (SELECT count(*) * 0 FROM orders) = 1',
	'MERGE INTO seen USING (SELECT count(*) * 0 AS z FROM orders) q ON seen.n IS NOT NULL WHEN MATCHED THEN UPDATE SET id = 1 / z',
	'CREATE TABLE made AS SELECT (count(*) * 0 + 70000)::smallint AS n FROM orders']) AS statement;

SELECT is((SELECT count(*) FROM kept WHERE num_nulls(n, i, b, share, v, d, r, f, t) = 9), 5::bigint, 'what cannot be computed, or does not fit its cast, is NULL');
SELECT is((SELECT v FROM kept WHERE v IS NOT NULL), 'ab', 'text is cut by its cast');

-- what PostgreSQL finds out when a statement starts
SELECT refused_free(statement, error) FROM (VALUES
	('INSERT INTO closed SELECT count(*) FROM orders', '42501'),
	('DELETE FROM seen WHERE id < (SELECT count(*) FROM orders)', '42501'),
	('INSERT INTO kept (double) SELECT count(*) FROM orders', '428C9'),
	('CREATE TABLE kept AS SELECT count(*) AS n FROM orders', '42P07'),
	('CREATE TABLE pg_catalog.made AS SELECT count(*) AS n FROM orders', '42501'),
	('CREATE TABLE other AS SELECT count(*) AS n, count(*) AS n FROM orders', '42701'),
	('COPY (SELECT count(*) FROM orders) TO $$/tmp/made$$', '42501')) AS v (statement, error);
BEGIN READ ONLY;
SELECT refused_free(statement, '25006') FROM unnest(ARRAY[
	'INSERT INTO kept (i) SELECT count(*) FROM orders',
	'CREATE TABLE other AS SELECT count(*) FROM orders']) AS statement;
COMMIT;

SELECT * FROM finish();
