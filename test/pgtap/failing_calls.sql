-- What fails of released values is NULL, so that no answer that was paid for is
-- lost; what does not fail is what PostgreSQL computes.

\ir shop.psql

SELECT no_plan();

CREATE DOMAIN share AS float8 CHECK (VALUE BETWEEN 0 AND 1);

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
	('SELECT (''x'' || (count(*) * 0)::text)::date AS d FROM orders', '()'),
	('SELECT (''x'' || (count(*) * 0)::text)::jsonb AS j FROM orders', '()'),
	('SELECT (count(*) * 0 - 8)::numeric ^ 0.5 AS n FROM orders', '()'),
	('SELECT (count(*) * 0 + 10)::numeric ^ 200000 AS n FROM orders', '()'),
	('SELECT ''1''::money / (count(*) * 0)::float8 AS n FROM orders', '()'),
	('SELECT make_interval(hours => (count(*) * 0)::int) / (count(*) * 0) AS i FROM orders', '()'),
	('SELECT substring(''abc'', 1, (count(*) * 0 - 1)::int) AS t FROM orders', '()'),
	('SELECT repeat(''x'', (count(*) * 0 + 2000000000)::int) AS t FROM orders', '()'),
	('SELECT chr((count(*) * 0 - 1)::int) AS t FROM orders', '()'),
	('SELECT ln((count(*) * 0 - 1)::numeric) AS l, log(2.0, (count(*) * 0)::numeric) AS m, sqrt((count(*) * 0 - 1)::float8) AS s FROM orders', '(,,)'),
	('SELECT to_date((count(*) * 0 + 99)::text, ''DD'') AS d FROM orders', '()'),
	('SELECT array_length(array_fill(1, ARRAY[(count(*) * 0 - 1)::int]), 1) AS n FROM orders', '()'),
	('SELECT (count(*) * 0 - 1)::share AS n FROM orders', '()'),
	('SELECT (SELECT n FROM (SELECT region, count(*) AS n FROM customers GROUP BY region) q) AS n', '()'),
	('SELECT s FROM (SELECT count(*) * 0 AS z FROM orders) q, generate_series(1, 3, z) s', 'none'),
	('SELECT l FROM (SELECT count(*) * 0 AS z FROM orders) q, ln(z::float8) l', '()'),
	('SELECT l, d.d FROM (SELECT count(*) * 0 AS z FROM orders) q LEFT JOIN LATERAL make_date(2025, z::int, 1) AS d ON true, LATERAL ln(z::numeric + 1) AS l', '(0.0000000000000000,)'),
	('SELECT s FROM (SELECT count(*) * 0 AS z FROM orders) q, generate_series(timestamp ''2025-01-01'', ''2025-01-03'', make_interval(days => z::int)) s', 'none'),
	('SELECT count(s), max(z) AS z FROM (SELECT count(*) * 0 AS z FROM orders) q, generate_series(timestamp ''2025-01-01'', ''2025-01-03'', interval ''1 day'') s', '(3,0)'),
	('SELECT count(s), max(z) AS z FROM (SELECT count(*) * 0 AS z FROM orders) q, generate_series(timestamptz ''2025-01-01'', ''2025-01-03'', make_interval(days => z::int + 1)) s', '(3,0)'),
	('SELECT count(s), max(z) AS z FROM (SELECT count(*) * 0 AS z FROM orders) q, generate_series(1.5, 3, 0.5) s', '(4,0)'),
	('SELECT ntile(z::int) OVER () AS n, nth_value(z, z::int) OVER () AS v FROM (SELECT count(*) * 0 AS z FROM orders) q', '(,)'),
	('SELECT count(*) OVER (ROWS BETWEEN (SELECT count(*) * 0 - 1 FROM orders) PRECEDING AND CURRENT ROW) AS n FROM shops LIMIT 1', '(1)'),
	('SELECT json_object_agg(region, n) AS j FROM (SELECT nullif(region, ''y'') AS region, count(*) * 0 AS n FROM customers GROUP BY region) q', '("{ ""x"" : 0 }")'),
	('SELECT n / 0 AS n FROM (SELECT count(*) AS n FROM orders) q', '()'),
	('SELECT city FROM shops LIMIT (SELECT count(*) * 0 - 3 FROM orders)', 'none'),
	('SELECT count(*) FROM (SELECT city FROM shops OFFSET (SELECT count(*) * 0 - 3 FROM orders)) q', (SELECT format('(%s)', count(*)) FROM shops))) AS v (statement, wanted);

-- NULL is no limit, as it was
SELECT is(rows_for('analyst1', 'SELECT count(*) FROM (SELECT city FROM shops LIMIT (SELECT nullif(count(*) * 0, 0) FROM orders)) q'), (SELECT format('(%s)', count(*)) FROM shops), 'a LIMIT that is NULL');

SELECT as_written('SELECT ' || expression || ' AS x FROM (SELECT count(*) * 0 AS z FROM orders) q') FROM unnest(ARRAY[
	'z::int + 3', '7 - z', '(z + 2) * 5', '-(z + 2)', 'abs(z - 4)', '(z + 1)::float8 * 1e300', '(z + 2)::float8 ^ 10::float8', '(z + 1.5)::float4', 'round(z + 2.345, 2)', 'floor(z + 2.5)', 'round(z::float8 + 2.5)',
	'(z + 12.345)::numeric(4, 1)', 'make_date(2025, 2 + z::int, 28)', 'date ''2025-01-01'' + (z::int + 30)', '(''4'' || z::text)::int', '(''4.'' || z::text || ''1'')::numeric(5, 1)', '(''1e'' || z::text)::float8',
	'timestamp ''2025-01-01'' + interval ''1 day'' * z::int', '(z + 1)::float8 * ''Infinity''', '(z + 1)::float8 * ''NaN''', '(z + 1)::numeric + ''NaN''', '(z + 2)::numeric ^ 10', '(z + 1)::money * 3', '(''2025-01-0'' || z + 1)::date', 'substring(''abc'', 2, z::int + 1)', 'chr(z::int + 65)', 'log(2.0, z + 8)', '(z + 0.5)::share', 'format(''%s of %s'', z, 1)', 'concat(VARIADIC ARRAY[z, 1])',
	'make_interval(days => z::int + 2)', '(SELECT max(s.shop + q.z) FROM shops s)', '(SELECT s.shop + q.z FROM shops s WHERE s.shop = 2)', '(ARRAY[z, 7])[z + 2]', 'ARRAY[z, 1]::text[]', 'to_char(z, ''0.0'')', 'z::text = ANY (ARRAY[''0'', NULL])', '''a'' ~ ANY (ARRAY[z::text, ''a''])']) AS expression;

-- what fails without a release fails before anything is paid for
SELECT matches(asked('SELECT count(*) + 2147483647 * 2 AS n FROM orders'), '^22003', 'constants fail as they did');

SELECT matches(asked('SELECT ' || call || ' FROM (SELECT count(*) AS n, ''a'' || count(*) AS t, date ''2025-01-01'' + (count(*) * 0)::int AS d FROM orders) q'), error, call) FROM (VALUES
	('date_trunc(''weekday'', d)', '^22023'), ('regexp_replace(t, ''('', ''x'')', '^2201B'), ('split_part(t, '','', 0)', '^22023'), ('substring(t, 1, -1)', '^22011'),
	('d AT TIME ZONE ''Nowhere''', '^22023')) AS v (call, error);

SELECT matches(asked(statement), '^22023', statement) FROM (VALUES
	('SELECT z, s FROM (SELECT count(*) * 0 AS z FROM orders) q, generate_series(1, 3, 0) s'),
	('SELECT z, s FROM (SELECT count(*) * 0 AS z FROM orders) q, generate_series(date ''2025-01-01'', date ''2025-01-03'', interval ''0'') s'),
	('SELECT z, generate_series(1, 3, 0) AS s FROM (SELECT count(*) * 0 AS z FROM orders) q')) AS v (statement);

-- nobody calls them by hand
SELECT throws_ok($$ SELECT dp_cdp_internal.null_on_error('lower(text)'::regprocedure, 'X'::text) $$, '0A000', NULL, 'null_on_error by hand');
SELECT throws_ok($$ SELECT dp_cdp_internal.null_unless_valid('int', 'X'::text) $$, '0A000', NULL, 'null_unless_valid by hand');

SELECT * FROM finish();
