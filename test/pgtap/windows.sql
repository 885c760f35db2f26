-- Windows and DISTINCT ON within a person's rows: what is answered is what plain SQL answers, where that
-- does not leave it open; the noise is too small to be seen.

SET client_min_messages = error;
SET search_path = public;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir same.psql
SELECT no_plan();

GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE orders (id int PRIMARY KEY, customer int, ordered_at timestamp NOT NULL, day date NOT NULL, channel text NOT NULL,
	status text, amount int NOT NULL, price numeric, weight float8, span interval, code character(3), doc jsonb);
INSERT INTO orders
SELECT i, nullif(1 + i * 7 % 400, 3), timestamp '2025-01-01' + (i * 37 % 3000) * interval '7 hours 1 second', date '2025-01-01' + i * 37 % 300,
	(ARRAY['web', 'shop', 'phone'])[1 + i * 11 % 3], (ARRAY['new', 'paid', NULL])[1 + i * 5 % 3], i * 13 % 90,
	CASE WHEN i % 4 > 0 THEN (i % 50) / 4.0 END, i % 30 * 0.25, (i % 40) * interval '1 hour', 'c' || i % 3, jsonb_build_object('n', i % 5)
FROM generate_series(1, 2400) i;
CREATE TABLE customers (customer int PRIMARY KEY, region text NOT NULL);
INSERT INTO customers SELECT i, (ARRAY['x', 'y'])[1 + i % 2] FROM generate_series(1, 500) i;
CREATE TABLE lines (line int PRIMARY KEY, id int NOT NULL REFERENCES orders, product int NOT NULL);
INSERT INTO lines SELECT i, 1 + i * 7 % 2400, i % 5 FROM generate_series(1, 5000) i;
CREATE TABLE readings (sensor int, value int);
INSERT INTO readings SELECT i % 10, i % 50 FROM generate_series(1, 500) i;
CREATE TABLE channels (channel text PRIMARY KEY, kind text NOT NULL);
INSERT INTO channels VALUES ('web', 'far'), ('shop', 'near'), ('phone', 'far');
GRANT SELECT ON channels TO analyst1;

SELECT dp_cdp.create_dataset('shop', find_bounds => 0, default_rho => 7000, max_groups => 4, max_rows => 6);
SELECT dp_cdp.protect_table('customers', 'shop', 'customer');
SELECT dp_cdp.protect_table('orders', 'shop', 'customer');
SELECT dp_cdp.protect_table('lines', 'shop', through => 'id');
SELECT dp_cdp.protect_table('readings', 'shop', each_row => true);
SELECT dp_cdp.set_keys('customers', 'region', ARRAY['x', 'y']);
SELECT dp_cdp.set_keys('orders', 'channel', ARRAY['web', 'shop', 'phone']);
SELECT dp_cdp.set_bounds('orders', 'amount', 0, 90);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1000000);
RESET SESSION AUTHORIZATION;

-- the first and the last, numbers and steps
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT channel, count(*) FROM (SELECT *, row_number() OVER (PARTITION BY customer ORDER BY ordered_at, id) rn FROM orders) q WHERE rn = 1 AND customer > 0 GROUP BY channel ORDER BY 1',
	'SELECT count(DISTINCT customer) FROM (SELECT customer, day, lag(day, 2) OVER (PARTITION BY customer ORDER BY day) p FROM orders) q WHERE day - p <= 30',
	'SELECT count(*), count(DISTINCT customer) FROM (SELECT customer, rank() OVER w r, dense_rank() OVER w d FROM orders WHERE customer > 0 WINDOW w AS (PARTITION BY customer ORDER BY channel)) q WHERE r > d',
	'SELECT count(*) FROM (SELECT customer, percent_rank() OVER w p, cume_dist() OVER w c, ntile(3) OVER (PARTITION BY customer ORDER BY id) n FROM orders WHERE customer > 0 WINDOW w AS (PARTITION BY customer ORDER BY amount)) q
		WHERE p < 0.5 AND c > 0.2 AND n < 3',
	'SELECT count(*) FROM (SELECT customer, channel, lead(channel) OVER (PARTITION BY customer ORDER BY ordered_at, id) next FROM orders WHERE customer > 0) q WHERE channel = ''web'' AND next = ''shop''',
	'SELECT count(*) FROM (SELECT customer, lag(amount, 1, 0) OVER w - amount AS d, nth_value(amount, 2) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) s FROM orders WHERE customer > 0
		WINDOW w AS (PARTITION BY customer ORDER BY ordered_at, id)) q WHERE d > s',
	'SELECT count(*) FROM (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY ordered_at, id) a, row_number() OVER (PARTITION BY customer ORDER BY ordered_at DESC, id DESC) b FROM orders WHERE customer > 0) q WHERE a = b + 1',
	'SELECT count(*) FROM (SELECT customer, first_value(channel) OVER w f, last_value(channel) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) l FROM orders WHERE customer > 0
		WINDOW w AS (PARTITION BY customer ORDER BY day, id)) q WHERE f = l',
	'SELECT count(*) FROM (SELECT customer, first_value(id) OVER (PARTITION BY customer ORDER BY price NULLS FIRST, id DESC) f, id FROM orders WHERE customer > 0) q WHERE f = id',
	'SELECT region, count(*) FROM (SELECT region, row_number() OVER (PARTITION BY o.customer ORDER BY o.ordered_at, o.id) n FROM orders o JOIN customers c USING (customer)) q WHERE n = 2 GROUP BY 1 ORDER BY 1',
	'WITH steps AS (SELECT customer, channel, lag(channel) OVER (PARTITION BY customer ORDER BY id) AS before FROM orders WHERE customer > 0) SELECT count(*), count(before) FROM steps WHERE channel <> before',
	'SELECT count(*) FROM customers c WHERE customer IN (SELECT customer FROM (SELECT customer, amount, lag(amount) OVER (PARTITION BY customer ORDER BY id) p FROM orders) q WHERE amount > p)',
	'SELECT count(*) FROM (SELECT customer, kind, lag(kind) OVER (PARTITION BY customer ORDER BY id) p FROM orders JOIN channels USING (channel) WHERE customer > 0) q WHERE kind = p',
	'SELECT count(*) FROM (SELECT customer, n, row_number() OVER (PARTITION BY customer ORDER BY id) r FROM (SELECT customer, id, row_number() OVER (PARTITION BY customer, channel ORDER BY id) n FROM orders WHERE customer > 0) q) q WHERE n = r'
	]) AS statement;

-- running totals and frames
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT customer, sum(amount) OVER (PARTITION BY customer ORDER BY ordered_at) s FROM orders WHERE customer > 0) q WHERE s > 100',
	'SELECT count(*) FROM (SELECT customer, sum(amount) OVER (PARTITION BY customer ORDER BY id ROWS 2 PRECEDING) s, avg(weight) OVER (PARTITION BY customer) a FROM orders WHERE customer > 0) q WHERE s > 100 AND a > 2',
	'SELECT count(*) FROM (SELECT customer, sum(weight) OVER (PARTITION BY customer ORDER BY day RANGE BETWEEN ''30 days'' PRECEDING AND CURRENT ROW) s FROM orders WHERE customer > 0) q WHERE s > 5',
	'SELECT count(*) FROM (SELECT customer, count(*) OVER (PARTITION BY customer ORDER BY day RANGE ''30 days'' PRECEDING) n FROM orders WHERE customer > 0) q WHERE n >= 3',
	'SELECT count(*) FROM (SELECT customer, count(*) OVER (PARTITION BY customer ORDER BY ordered_at RANGE BETWEEN ''1 month'' PRECEDING AND ''1 day'' FOLLOWING EXCLUDE CURRENT ROW) n FROM orders WHERE customer > 0) q WHERE n >= 1',
	'SELECT count(*) FROM (SELECT customer, max(amount) OVER (PARTITION BY customer ORDER BY amount RANGE BETWEEN 20 PRECEDING AND 10 PRECEDING) n FROM orders WHERE customer > 0) q WHERE n > 5',
	'SELECT count(*) FROM (SELECT customer, min(price) OVER (PARTITION BY customer ORDER BY price DESC RANGE BETWEEN 0.5 PRECEDING AND 1.25 FOLLOWING) n, price FROM orders WHERE customer > 0) q WHERE n < price',
	'SELECT count(*) FROM (SELECT customer, sum(price) OVER (PARTITION BY customer ORDER BY weight RANGE 1 PRECEDING) n FROM orders WHERE customer > 0) q WHERE n > 10',
	'SELECT count(*) FROM (SELECT customer, count(*) FILTER (WHERE channel = ''web'') OVER (PARTITION BY customer ORDER BY status, channel GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) n FROM orders WHERE customer > 0) q WHERE n > 1',
	'SELECT count(*) FROM (SELECT customer, count(status) OVER (PARTITION BY customer ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) n FROM orders WHERE customer > 0) q WHERE n = 2',
	'SELECT count(*) FROM (SELECT customer, bool_or(status = ''paid'') OVER (PARTITION BY customer ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) b FROM orders WHERE customer > 0) q WHERE b',
	'SELECT count(*) FROM (SELECT customer, sum(amount) OVER (PARTITION BY customer) s, amount FROM orders WHERE customer > 0) q WHERE amount * 2 > s',
	'SELECT count(*) FROM (SELECT customer, stddev(weight) OVER (PARTITION BY customer ORDER BY id ROWS 3 PRECEDING) s, max(channel) OVER (PARTITION BY customer) c FROM orders WHERE customer > 0) q WHERE s > 1 AND c = ''web'''
	]) AS statement;

-- after GROUP BY, and with DISTINCT
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT customer, channel, count(*) n, rank() OVER (PARTITION BY customer ORDER BY count(*) DESC) r FROM orders WHERE customer > 0 GROUP BY 1, 2) q WHERE r = 1 AND n > 1',
	'SELECT count(*) FROM (SELECT customer, extract(month FROM day) m, sum(amount) s, lag(sum(amount)) OVER (PARTITION BY customer ORDER BY extract(month FROM day)) p FROM orders WHERE customer > 0 GROUP BY 1, 2) q WHERE s > p',
	'SELECT count(*) FROM (SELECT customer, channel, sum(sum(amount)) OVER (PARTITION BY customer ORDER BY channel) s FROM orders WHERE customer > 0 GROUP BY 1, 2) q WHERE s > 100',
	'SELECT count(*) FROM (SELECT DISTINCT customer, first_value(channel) OVER (PARTITION BY customer ORDER BY ordered_at, id) c FROM orders WHERE customer > 0) q WHERE c = ''web''',
	'SELECT count(*) FROM (SELECT DISTINCT ON (customer) customer, channel FROM orders WHERE customer > 0 ORDER BY customer, ordered_at, id) q WHERE channel = ''web''',
	'SELECT count(*) FROM (SELECT DISTINCT ON (channel, customer) customer, amount FROM orders WHERE customer > 0 ORDER BY customer DESC, channel, id DESC) q WHERE amount > 30',
	'SELECT count(*) FROM (SELECT DISTINCT ON (customer) customer, channel, count(*) n FROM orders WHERE customer > 0 GROUP BY 1, 2 ORDER BY customer, count(*) DESC, channel DESC) q WHERE n = 2 AND channel = ''web''',
	'SELECT count(*) FROM (SELECT DISTINCT ON (customer) customer, row_number() OVER (PARTITION BY customer ORDER BY id) n FROM orders WHERE customer > 0 ORDER BY customer, amount DESC, id) q WHERE n > 2',
	'SELECT region, count(*) FROM customers JOIN (SELECT DISTINCT ON (customer) * FROM orders ORDER BY customer, id) o USING (customer) WHERE o.channel = ''web'' GROUP BY 1 ORDER BY 1'
	]) AS statement;

-- through foreign keys
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT line, row_number() OVER (PARTITION BY id ORDER BY line) n FROM lines JOIN orders USING (id) WHERE customer > 0) q WHERE n = 2',
	'SELECT count(DISTINCT customer) FROM (SELECT customer, product, lag(product, 3) OVER (PARTITION BY customer ORDER BY line) p FROM lines JOIN orders USING (id) WHERE customer > 0) q WHERE p = product'
	]) AS statement;

-- what rows decide that are equal by ORDER BY does not depend on where they are; twins count as they would apart
SELECT same('SELECT count(*) FROM (SELECT customer, channel, row_number() OVER (PARTITION BY customer ORDER BY amount % 2) n FROM orders) q WHERE n = 1 AND channel = ''shop'' AND customer > 0', 'ties of row_number()',
	'SELECT count(*) FROM (SELECT customer, channel, row_number() OVER (PARTITION BY customer ORDER BY amount % 2, channel COLLATE "C") n FROM orders) q WHERE n = 1 AND channel = ''shop'' AND customer > 0');
SELECT same('SELECT count(*) FROM (SELECT DISTINCT ON (customer) customer, amount FROM orders WHERE customer > 0 ORDER BY customer, channel) q WHERE amount > 40', 'ties of DISTINCT ON',
	'SELECT count(*) FROM (SELECT DISTINCT ON (customer) customer, amount FROM orders WHERE customer > 0 ORDER BY customer, channel, amount) q WHERE amount > 40');
SELECT same('SELECT count(*) FROM (SELECT customer, sum(amount) OVER (PARTITION BY customer ORDER BY channel ROWS UNBOUNDED PRECEDING) n FROM orders WHERE customer > 0) q WHERE n > 100', 'ties of a frame of rows',
	'SELECT count(*) FROM (SELECT customer, sum(amount) OVER (PARTITION BY customer ORDER BY channel, amount ROWS UNBOUNDED PRECEDING) n FROM orders WHERE customer > 0) q WHERE n > 100');
SELECT same(format('SELECT count(*) FROM (SELECT customer, %1$s, lag(%1$s) OVER (PARTITION BY customer ORDER BY channel) p FROM orders WHERE customer > 0) q WHERE p > %1$s', c), 'ties by ' || c,
	format('SELECT count(*) FROM (SELECT customer, %1$s, lag(%1$s) OVER (PARTITION BY customer ORDER BY channel, %1$s) p FROM orders WHERE customer > 0) q WHERE p > %1$s', c))
FROM unnest('{day,amount,status,code,ordered_at}'::text[]) c;

-- the value of another row has its column's keys, and NULL; bounds follow
SELECT as_declared('SELECT p, count(*) FROM (SELECT customer, lag(channel) OVER (PARTITION BY customer ORDER BY id) p FROM orders WHERE customer > 0) q GROUP BY 1', 'lag');
SELECT as_declared('SELECT f, channel, count(*) FROM (SELECT customer, channel, first_value(channel) OVER (PARTITION BY customer ORDER BY id) f FROM orders WHERE customer > 0) q GROUP BY 1, 2 HAVING count(*) > 10', 'first_value');
SELECT as_declared('SELECT n, count(*) FROM (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY id) n FROM orders WHERE customer > 0) q WHERE n BETWEEN 1 AND 3 GROUP BY 1', 'row_number');
SELECT unalike(asked(format('SELECT sum(v) FROM (SELECT %s AS v FROM orders WINDOW w AS (PARTITION BY customer ORDER BY id)) q', f)), 'ZC%', 'bounds of ' || f) FROM unnest(ARRAY[
	'row_number() OVER w', 'rank() OVER w', 'dense_rank() OVER w', 'percent_rank() OVER w', 'cume_dist() OVER w', 'ntile(3) OVER w', 'lag(amount) OVER w', 'lead(amount, 2, -5) OVER w',
	'first_value(amount) OVER w', 'nth_value(amount, 2) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)', 'count(*) OVER w', 'sum(amount) OVER w', 'avg(amount) OVER w', 'max(amount) OVER w',
	'stddev(amount) OVER w', 'amount - lag(amount, 1, 0) OVER w']) f;
SELECT matches(asked('SELECT sum(v) FROM (SELECT lag(weight) OVER (PARTITION BY customer ORDER BY id) AS v FROM orders) q'), '^ZC004 .*weight', 'no bounds follow from a column that has none');

-- what is refused is refused for nothing, and says what to write
CREATE FUNCTION refused(statement text, message text) RETURNS text LANGUAGE sql
	AS $$ SELECT matches(asked(statement), '^ZC002 .*' || message, statement) $$;

SELECT refused(format('SELECT count(*) FROM (SELECT *, %s AS v FROM orders) q WHERE v IS NOT NULL', f), message) FROM (VALUES
	('row_number() OVER (ORDER BY id)', 'add the unit .* to its PARTITION BY'),
	('row_number() OVER (PARTITION BY channel ORDER BY id)', 'add the unit .* to its PARTITION BY'),
	('count(*) OVER ()', 'add the unit .* to its PARTITION BY'),
	('sum(amount) OVER (PARTITION BY customer % 10)', 'add the unit .* to its PARTITION BY'),
	('ntile(0) OVER (PARTITION BY customer ORDER BY id)', 'a number of at least 1'),
	('ntile(NULL) OVER (PARTITION BY customer ORDER BY id)', 'a number of at least 1'),
	('ntile(amount) OVER (PARTITION BY customer ORDER BY id)', 'write a number'),
	('nth_value(id, -1) OVER (PARTITION BY customer ORDER BY id ROWS UNBOUNDED PRECEDING)', 'a number of at least 1'),
	('lag(id, amount) OVER (PARTITION BY customer ORDER BY id)', 'write a number'),
	('last_value(id) OVER (PARTITION BY customer ORDER BY day)', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'),
	('nth_value(id, 2) OVER (PARTITION BY customer ORDER BY day)', 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'),
	('first_value(id) OVER (PARTITION BY customer ORDER BY day GROUPS CURRENT ROW)', 'ROWS in place of RANGE or GROUPS'),
	('first_value(id) OVER (PARTITION BY customer ORDER BY day ROWS UNBOUNDED PRECEDING EXCLUDE TIES)', 'EXCLUDE CURRENT ROW'),
	('count(*) OVER (PARTITION BY customer ORDER BY id ROWS -1 PRECEDING)', 'a number of at least 0'),
	('count(*) OVER (PARTITION BY customer ORDER BY id ROWS NULL PRECEDING)', 'a number of at least 0'),
	('count(*) OVER (PARTITION BY customer ORDER BY id ROWS 3000000000 PRECEDING)', 'a number of at least 0'),
	('count(*) OVER (PARTITION BY customer ORDER BY weight RANGE ''NaN'' PRECEDING)', 'a number of at least 0'),
	('count(*) OVER (PARTITION BY customer ORDER BY day RANGE ''-1 day'' PRECEDING)', 'an interval of at most'),
	('count(*) OVER (PARTITION BY customer ORDER BY day RANGE ''4000 years'' PRECEDING)', 'an interval of at most'),
	('count(*) OVER (PARTITION BY customer ORDER BY day::timestamptz RANGE ''400000 days'' PRECEDING)', 'an interval of at most'),
	('count(*) OVER (PARTITION BY customer ORDER BY span RANGE ''1 hour'' PRECEDING)', 'extract.epoch'),
	('count(*) OVER (PARTITION BY customer ORDER BY ordered_at::time RANGE ''1 hour'' PRECEDING)', 'extract.epoch'),
	('array_agg(id) OVER (PARTITION BY customer ORDER BY id)', 'aggregate in a subquery that groups'),
	('string_agg(channel, '','') OVER (PARTITION BY customer ORDER BY id)', 'aggregate in a subquery that groups'),
	('sum(span) OVER (PARTITION BY customer)', 'extract.epoch'),
	('row_number() OVER (PARTITION BY customer ORDER BY channel USING ~<~)', 'leave ORDER BY ... USING out'),
	('lag(doc ->> ''n'') OVER (PARTITION BY customer ORDER BY doc)', 'type jsonb')
	) AS windows(f, message);
SELECT refused(statement, message) FROM (VALUES
	('SELECT count(*) FROM (SELECT doc, row_number() OVER (PARTITION BY customer ORDER BY day) n FROM orders) q WHERE doc ->> ''n'' = ''1'' AND n = 1', 'read a part of it as text'),
	('SELECT count(*) FROM (SELECT DISTINCT ON (channel) * FROM orders ORDER BY channel, id) q', 'add the unit .* to DISTINCT ON'),
	('SELECT count(*) FROM (SELECT value, row_number() OVER (ORDER BY value) n FROM readings) q WHERE n < 10', 'apply them to released rows'),
	('SELECT count(*) FROM (SELECT DISTINCT ON (value) * FROM readings) q', 'apply them to released rows'),
	('SELECT count(*) FROM (SELECT c.region, row_number() OVER (PARTITION BY c.region ORDER BY o.id) n FROM customers c JOIN orders o USING (customer)) q WHERE n = 1', 'add the unit .* to its PARTITION BY'),
	('SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY o.customer ORDER BY o.id) n FROM customers c LEFT JOIN orders o ON o.customer = c.customer) q WHERE n = 1', 'add the unit .c.customer. to its PARTITION BY'),
	('SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY id) FROM orders', ''),
	('SELECT DISTINCT ON (customer) * FROM orders ORDER BY customer, id', '')
	) AS statements(statement, message);

SET dp_cdp.rho = 1500;

-- no row raises an error: the ends of all types that a frame is measured in
SET SESSION AUTHORIZATION owner1;
CREATE TABLE extremes (customer int, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric, d date, ts timestamp, tsz timestamptz);
INSERT INTO extremes SELECT 1, 32767, 2147483647, 9223372036854775807, 'Infinity', 'Infinity', 'Infinity', 'infinity', 'infinity', 'infinity';
INSERT INTO extremes SELECT 1, -32768, -2147483648, -9223372036854775808, '-Infinity', '-Infinity', '-Infinity', '-infinity', '-infinity', '-infinity';
INSERT INTO extremes SELECT 1, 0, 0, 0, 'NaN', 'NaN', 'NaN', '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00';
INSERT INTO extremes SELECT 1, 1, 1, 1, 3e38, 1.7e308, 9.9e1000, '4714-11-24 BC', '4714-11-24 00:00:00 BC', '4714-11-24 00:00:00+00 BC';
INSERT INTO extremes SELECT 1, NULL, NULL, NULL, NULL, NULL, NULL, '2024-02-29', '2024-02-29', '2024-02-29';
INSERT INTO extremes SELECT 2, i2, i4, i8, f4, f8, n, d, ts, tsz FROM extremes;
SELECT dp_cdp.protect_table('extremes', 'shop', 'customer');
RESET SESSION AUTHORIZATION;
SELECT is(asked(format('SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY customer ORDER BY %s %s RANGE BETWEEN %L %s AND %L FOLLOWING) AS v FROM extremes) q WHERE v >= 0', c, way, o, side, o)),
	'[{"count":10}]', format('%s %s, %s, %s', c, way, side, o))
FROM (VALUES ('i2', 32767), ('i4', 2147483647), ('i8', 2147483647), ('f4', 1), ('f8', 1), ('n', 1)) AS numbers(c, o), unnest('{ASC,DESC}'::text[]) way, unnest('{PRECEDING,FOLLOWING}'::text[]) side;
SELECT is(asked(format('SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY customer ORDER BY %s %s RANGE BETWEEN %L %s AND %L FOLLOWING) AS v FROM extremes) q WHERE v >= 0', c, way, o, side, o)),
	'[{"count":10}]', format('%s %s, %s, %s', c, way, side, o))
FROM unnest('{d,ts,tsz}'::text[]) c, unnest('{1000 years,1000 years 366000 days 8000000 hours}'::text[]) o, unnest('{ASC,DESC}'::text[]) way, unnest('{PRECEDING,FOLLOWING}'::text[]) side;
SELECT is(asked('SELECT count(*) FROM (SELECT sum(i8) OVER w s, sum(n) OVER w, avg(f8) OVER w, stddev(n) OVER w v, lag(d, 2147483647) OVER w, lag(d, -2147483647) OVER w, nth_value(f4, 2147483647) OVER w l,
	sum(f4) OVER (PARTITION BY customer ORDER BY n DESC ROWS BETWEEN 1 FOLLOWING AND 2147483647 FOLLOWING) f, sum(i8) OVER (PARTITION BY customer ORDER BY i4 GROUPS BETWEEN 2147483647 PRECEDING AND 2147483647 PRECEDING)
	FROM extremes WINDOW w AS (PARTITION BY customer ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) q WHERE s IS NOT NULL OR v > 0 OR l > 0 OR f > 0'), '[{"count":10}]', 'sums of extremes');

-- a row of a WITH query has one number, whatever its references read
SELECT same(statement, statement) FROM unnest(ARRAY[
	'WITH w AS (SELECT customer, channel, amount, row_number() OVER (PARTITION BY customer ORDER BY customer) c FROM orders)
	SELECT count(*) FROM w a JOIN w b ON a.customer = b.customer AND a.c = b.c WHERE a.channel = ''web'' AND b.amount > 40',
	'WITH w AS (SELECT *, row_number() OVER (PARTITION BY customer ORDER BY day - day) c FROM orders)
	SELECT count(*) FROM w a JOIN w b USING (customer, c) WHERE a.channel = ''web'' AND b.amount > 40',
	'WITH w AS (SELECT customer, channel, amount, row_number() OVER (PARTITION BY customer ORDER BY customer) c FROM orders), v AS (SELECT * FROM w)
	SELECT count(*) FROM v a JOIN v b ON a.customer = b.customer AND a.c = b.c WHERE a.channel = ''web'' AND b.amount > 40',
	'WITH w AS (SELECT customer, channel, amount, row_number() OVER (PARTITION BY customer ORDER BY customer) c FROM orders)
	SELECT count(*) FROM w a WHERE a.channel = ''web'' AND EXISTS (SELECT FROM w b WHERE a.customer = b.customer AND a.c = b.c AND b.amount > 40)',
	'WITH w AS (SELECT customer, channel, amount, row_number() OVER (PARTITION BY customer ORDER BY customer) c FROM orders)
	SELECT count(*) FROM w a JOIN customers USING (customer) JOIN (SELECT customer, c FROM w WHERE amount > 40) b USING (customer, c) WHERE a.channel = ''web''']) AS statement;

-- parameters: how many rows away; for PostgreSQL's errors there is NULL; frames need constants
CREATE FUNCTION asked_with(statement text, parameter int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE statement USING parameter INTO answer;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN answer;
END $$;

SELECT is(asked_with('SELECT count(*) FROM (SELECT amount, lag(amount, $1) OVER (PARTITION BY customer ORDER BY id) p FROM orders) q WHERE amount > p', n),
	(SELECT count(*)::text FROM (SELECT customer, amount, lag(amount, n) OVER (PARTITION BY customer ORDER BY id) p FROM orders) q WHERE amount > p AND customer > 0), 'lag of ' || coalesce(n::text, 'NULL'))
FROM unnest('{2,0,-1,NULL}'::int[]) n;
SELECT is(asked_with('SELECT count(*) FROM (SELECT ntile($1) OVER (PARTITION BY customer ORDER BY id) p FROM orders) q WHERE p = 1', n),
	CASE WHEN n > 0 THEN (SELECT count(*)::text FROM (SELECT customer, ntile(n) OVER (PARTITION BY customer ORDER BY id) p FROM orders) q WHERE p = 1 AND customer > 0) ELSE '0' END, 'ntile of ' || coalesce(n::text, 'NULL'))
FROM unnest('{2,0,-1,NULL}'::int[]) n;
SELECT matches(asked_with('SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY customer ORDER BY id ROWS $1 PRECEDING) p FROM orders) q WHERE p = 1', 2), 'ZC002 .*write a number', 'a frame');

SELECT * FROM finish();
