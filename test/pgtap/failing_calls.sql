-- What fails of released values is NULL, so that no answer that was paid for is
-- lost; what does not fail is what PostgreSQL computes.

\ir shop.psql

SELECT no_plan();

SELECT is(rows_for('analyst1', statement), wanted, statement) FROM (VALUES
	('SELECT (count(*) * 0)::int + 2147483647 + 1 AS n FROM orders', '()'),
	('SELECT ((count(*) * 0)::int2 + 32767::int2) * 2::int2 AS n FROM orders', '()'),
	('SELECT -((count(*) * 0)::int - 2147483647 - 1) AS n FROM orders', '()'),
	('SELECT abs((count(*) * 0) - 9223372036854775807 - 1) AS n FROM orders', '()'),
	('SELECT (1 + count(*) * 0)::float8 * 1e200 * 1e200 AS n FROM orders', '()'),
	('SELECT (10 + count(*) * 0)::float8 ^ 400::float8 AS n FROM orders', '()'),
	('SELECT (1e300 + count(*) * 0)::float4 AS n FROM orders', '()'),
	('SELECT (1000 + count(*) * 0)::numeric(3, 1) AS n FROM orders', '()'),
	('SELECT make_date(2025, 13 + (count(*) * 0)::int, 1) AS d FROM orders', '()'),
	('SELECT date ''2025-01-01'' + (2147483647 + (count(*) * 0)::int) AS d FROM orders', '()'),
	('SELECT (''x'' || (count(*) * 0)::text)::int AS n FROM orders', '()'),
	('SELECT (''x'' || (count(*) * 0)::text)::numeric(5, 1) AS n FROM orders', '()'),
	('SELECT city FROM shops LIMIT (SELECT count(*) * 0 - 3 FROM orders)', 'none'),
	('SELECT count(*) FROM (SELECT city FROM shops OFFSET (SELECT count(*) * 0 - 3 FROM orders)) q', (SELECT format('(%s)', count(*)) FROM shops))) AS v (statement, wanted);

-- NULL is no limit, as it was
SELECT is(rows_for('analyst1', 'SELECT count(*) FROM (SELECT city FROM shops LIMIT (SELECT nullif(count(*) * 0, 0) FROM orders)) q'), (SELECT format('(%s)', count(*)) FROM shops), 'a LIMIT that is NULL');

SELECT as_written('SELECT ' || expression || ' AS x FROM (SELECT count(*) * 0 AS z FROM orders) q') FROM unnest(ARRAY[
	'z::int + 3', '7 - z', '(z + 2) * 5', '-(z + 2)', 'abs(z - 4)', '(z + 1)::float8 * 1e300', '(z + 2)::float8 ^ 10::float8', '(z + 1.5)::float4', 'round(z + 2.345, 2)', 'floor(z + 2.5)', 'round(z::float8 + 2.5)',
	'(z + 12.345)::numeric(4, 1)', 'make_date(2025, 2 + z::int, 28)', 'date ''2025-01-01'' + (z::int + 30)', '(''4'' || z::text)::int', '(''4.'' || z::text || ''1'')::numeric(5, 1)', '(''1e'' || z::text)::float8',
	'timestamp ''2025-01-01'' + interval ''1 day'' * z::int', '(z + 1)::float8 * ''Infinity''', '(z + 1)::float8 * ''NaN''', '(z + 1)::numeric + ''NaN''']) AS expression;

-- what fails without a release fails before anything is paid for
SELECT matches(asked('SELECT count(*) + 2147483647 * 2 AS n FROM orders'), '^22003', 'constants fail as they did');

SELECT * FROM finish();
