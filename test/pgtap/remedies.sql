-- What refusals say to write instead: each is refused for nothing, and what its
-- message names is answered, as plain SQL answers it, when it is typed in.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE shops (shop int PRIMARY KEY, city text NOT NULL);
INSERT INTO shops VALUES (1, 'north'), (2, 'north'), (3, 'south'), (4, 'south');
CREATE TABLE customers (customer int PRIMARY KEY, region text NOT NULL);
INSERT INTO customers SELECT i, (ARRAY['x', 'y'])[1 + i % 2] FROM generate_series(1, 2000) i;
CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL, shop int NOT NULL REFERENCES shops, status text NOT NULL, note text, quantity int NOT NULL,
	amount numeric NOT NULL, change int, day date NOT NULL, at timestamptz NOT NULL, active boolean NOT NULL, props jsonb, raw json, tags text[]);
INSERT INTO orders SELECT i, 1 + i * 7 % 1500, 1 + i % 4, (ARRAY['paid', 'open', 'returned'])[1 + i % 3], CASE WHEN i % 4 > 0 THEN 'a' || i % 3 END, i % 6, i % 101, i % 9,
	date '2025-01-01' + i % 10, timestamptz '2025-01-01 12:00 UTC' + i % 10 * interval '1 day', i % 5 > 0,
	jsonb_build_object('device', (ARRAY['ios', 'android', 'web'])[1 + i % 3]), '{"a": 1}' FROM generate_series(1, 4500) i;
CREATE TABLE events (customer int NOT NULL, kind text NOT NULL);
INSERT INTO events SELECT 1 + i % 1100, (ARRAY['view', 'buy', 'leave'])[1 + i / 1100 % 3] FROM generate_series(1, 3000) i;
CREATE TABLE readings (value int NOT NULL);
INSERT INTO readings SELECT i % 10 FROM generate_series(1, 3000) i;
CREATE TABLE staff (person int PRIMARY KEY, status text NOT NULL);
INSERT INTO staff SELECT i, 'open' FROM generate_series(1, 500) i;
UPDATE orders SET tags = ARRAY['new', 'sale'] WHERE id % 3 = 0;
CREATE TABLE tags (customer int NOT NULL, "order" int NOT NULL, tag text NOT NULL, place bigint NOT NULL);
INSERT INTO tags SELECT customer, id, tag, n FROM orders, unnest(tags) WITH ORDINALITY t (tag, n);
SELECT dp_cdp.create_dataset('shop', find_bounds => 0, default_rho => 7000, max_rows => 16, max_groups => 3);
SELECT dp_cdp.create_dataset('staff', default_rho => 9500);
SELECT dp_cdp.protect_table(t, 'shop', 'customer') FROM unnest('{customers,orders,events,tags}'::regclass[]) t;
SELECT dp_cdp.protect_table('readings', 'shop', each_row => true), dp_cdp.protect_table('staff', 'staff', 'person');
SELECT dp_cdp.set_keys('orders', 'status', ARRAY['paid', 'open', 'returned']), dp_cdp.set_keys('customers', 'region', ARRAY['x', 'y']),
	dp_cdp.set_keys('staff', 'status', ARRAY['open']), dp_cdp.set_keys('events', 'kind', ARRAY['view', 'buy', 'leave']);
SELECT dp_cdp.set_bounds('orders', 'quantity', 0, 5), dp_cdp.set_bounds('orders', 'amount', 0, 100), dp_cdp.set_bounds('readings', 'value', 0, 10);
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1000000, delta => 0.9) FROM unnest(ARRAY['shop', 'staff']) d;
CREATE DOMAIN word AS text;
CREATE VIEW paid AS SELECT * FROM orders WHERE status = 'paid';
CREATE VIEW unpaid AS SELECT * FROM orders WHERE status = 'open';
GRANT SELECT ON shops, paid TO analyst1;
RESET SESSION AUTHORIZATION;

\ir same.psql
\ir taught.psql

SELECT no_plan();

-- ------------------------------------------------------------------------
-- queries that messages write out
-- ------------------------------------------------------------------------

SELECT taught(statement) FROM unnest(ARRAY[
	'SELECT * FROM orders', 'SELECT status FROM orders LIMIT 3', 'SELECT * FROM paid', 'SELECT note FROM orders ORDER BY at DESC LIMIT 1',
	'SELECT customer, count(*) FROM orders GROUP BY 1', 'SELECT id, sum(amount) FROM orders GROUP BY id', 'SELECT customer FROM customers GROUP BY 1', 'SELECT DISTINCT customer FROM orders AS o',
	'SELECT min(status) FROM orders', 'SELECT array_agg(status) FROM orders WHERE amount > 3', 'SELECT string_agg(upper(status), '','') FROM orders',
	'SELECT active, min(status), max(status) FROM orders GROUP BY active', 'SELECT active, quantity, string_agg(note, '','') FROM orders GROUP BY 1, 2',
	'SELECT active, mode() WITHIN GROUP (ORDER BY CASE WHEN id % 10 > 2 THEN ''x'' ELSE note END) FROM orders GROUP BY 1', 'SELECT min(o.note) FROM orders o JOIN customers c USING (customer)',
	'SELECT c.customer FROM customers c LEFT JOIN orders o ON o.customer = c.customer GROUP BY 1', 'SELECT customer, count(*) FROM paid JOIN customers USING (customer) GROUP BY 1',
	'SELECT json_agg(status) FROM orders', 'SELECT json_agg(o) FROM orders o', 'SELECT sum(DISTINCT quantity) FILTER (WHERE active) FROM orders']) AS statement;

-- what would be refused in turn is not written out
SELECT ok(message_of(statement) LIKE says || '%' AND message_of(statement) !~ 'SELECT|WITH', statement) FROM (VALUES
	('SELECT o.customer, sum(o.amount) FROM shops s LEFT JOIN orders o ON o.shop = s.shop WHERE o.quantity > 1 GROUP BY 1', 'ZC002 grouping by the privacy unit "o.customer" would show single persons; group by something else'),
	('SELECT customer, array_agg(status) FROM orders GROUP BY 1', 'ZC002 array_agg is exact and cannot be released over protected table "orders"; take it of released groups')) AS t (statement, says);
-- what an analyst may not name is not written out either
SELECT is(message_of('SELECT * FROM unpaid'), '42501 permission denied for view unpaid', 'a view without the privilege');

-- parts of equal size of all persons are told apart by released quantiles
SELECT matches(message_of(statement), '^ZC002 a window over protected rows .* for example WITH q AS ', statement || ' is refused') FROM unnest(ARRAY[
	'SELECT q, count(*) FROM (SELECT ntile(4) OVER (ORDER BY quantity) AS q FROM orders) z GROUP BY 1', 'SELECT count(*) FROM (SELECT percent_rank() OVER (ORDER BY amount) AS p FROM orders) z WHERE p > 0.9']) AS statement;
SELECT is(message_of(substring(message_of('SELECT q, count(*) FROM (SELECT ntile(4) OVER (ORDER BY quantity) AS q FROM orders) z GROUP BY 1') FROM 'for example (WITH .*)$')), 'answered', '... with what is answered');
SELECT is(rows_for('analyst1', statement), rows_for('owner1', statement), statement) FROM unnest(ARRAY[
	'WITH q AS (SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY quantity) AS a, percentile_disc(0.75) WITHIN GROUP (ORDER BY quantity) AS c FROM orders)
		SELECT CASE WHEN quantity <= q.a THEN ''low'' WHEN quantity <= q.c THEN ''middle'' ELSE ''high'' END AS part, count(*) AS n FROM orders, q GROUP BY 1',
	'WITH q AS (SELECT count(*) AS c FROM customers) SELECT status, count(*) FILTER (WHERE quantity < q.c) AS n FROM orders, q GROUP BY 1',
	'WITH q AS (SELECT max(shop) AS m, min(shop) AS s FROM shops) SELECT count(*) FROM orders, q WHERE status = ''open''',
	-- a release that is named several times
	'WITH q AS (SELECT count(*) AS c FROM customers) SELECT count(*) FILTER (WHERE quantity < (SELECT c FROM q)) AS n, count(*) FILTER (WHERE amount < (SELECT c FROM q)) AS m FROM orders',
	'WITH q AS (SELECT count(*) / 1000 AS c, count(*) / 400 AS d FROM customers) SELECT count(*) FROM orders WHERE quantity >= (SELECT c FROM q) AND quantity < (SELECT d - 1 FROM q)',
	'WITH q AS (SELECT count(*) / 1000 AS c FROM customers) SELECT active, count(*) FROM orders, q WHERE quantity > c AND quantity - 1 > (SELECT c FROM q) GROUP BY active',
	'WITH q AS (SELECT count(*) / 1000 AS c, count(*) / 500 AS d FROM customers)
		SELECT CASE WHEN quantity <= (SELECT c FROM q) THEN ''low'' WHEN quantity <= (SELECT d FROM q) THEN ''middle'' ELSE ''high'' END AS part, count(*) AS n FROM orders GROUP BY 1']) AS statement;
SELECT mended(statement, says, remedy) FROM (VALUES
	('WITH q AS (SELECT count(*) AS c FROM customers) SELECT count(*) FILTER (WHERE quantity < (SELECT c FROM q)) AS n, (SELECT c FROM q) > 0 AS m FROM orders', 'name it once, in FROM',
		'WITH q AS (SELECT count(*) AS c FROM customers) SELECT count(*) FILTER (WHERE quantity < q.c) AS n, true AS m FROM orders, q'),
	('SELECT count(*) FROM orders WHERE random() < 0.1', 'leave the sample out', 'SELECT count(*) FROM orders'),
	('SELECT count(*) FROM orders WHERE hashtext(note) % 10 = 0', 'leave the sample out', 'SELECT count(*) FROM orders'),
	('SELECT count(*) FROM orders TABLESAMPLE BERNOULLI (10)', 'leave the clause out', 'SELECT count(*) FROM orders'),
	('SELECT count(*) FROM orders WHERE props @? ''$.device''', '(column ->> ''name'')::numeric > 50', 'SELECT count(*) FROM orders WHERE (props ->> ''device'') IS NOT NULL')
	) AS v (statement, says, remedy);

-- with schemas that search_path does not find
CREATE SCHEMA elsewhere AUTHORIZATION owner1;
SET SESSION AUTHORIZATION owner1;
GRANT USAGE ON SCHEMA elsewhere TO analyst1;
CREATE TABLE elsewhere."Odd" AS SELECT * FROM orders;
CREATE VIEW elsewhere.seen AS SELECT * FROM elsewhere."Odd" WHERE status = 'paid';
GRANT SELECT ON elsewhere.seen TO analyst1;
SELECT dp_cdp.create_dataset('elsewhere', default_rho => 9000, max_rows => 16, max_groups => 3);
SELECT dp_cdp.protect_table('elsewhere."Odd"', 'elsewhere', 'customer'), dp_cdp.set_keys('elsewhere."Odd"', 'status', ARRAY['paid', 'open', 'returned']);
SELECT dp_cdp.set_budget('elsewhere', 'analyst1', rho => 100000);
RESET SESSION AUTHORIZATION;
SELECT taught(statement) FROM unnest(ARRAY['SELECT * FROM elsewhere."Odd"', 'SELECT * FROM elsewhere."Odd" AS o', 'SELECT min(status) FROM elsewhere."Odd"',
	'SELECT customer, count(*) FROM elsewhere."Odd" GROUP BY 1']) AS statement;
CREATE FUNCTION of_no_schema(statement text) RETURNS text LANGUAGE sql SET search_path = pg_catalog AS $$ SELECT public.message_of(statement) $$;
SELECT matches(of_no_schema(statement), '^ZC002 .* SELECT public\.dp_count\(\*\) FROM ' || relation || '$', statement || ' names both schemas')
	FROM (VALUES ('SELECT * FROM public.orders', 'public\.orders'), ('SELECT * FROM elsewhere."Odd"', 'elsewhere\."Odd"'),
		('SELECT customer FROM public.customers GROUP BY 1', '\(SELECT customer FROM public\.customers GROUP BY 1\) AS q')) AS v (statement, relation);
SELECT is(of_no_schema('SELECT public.dp_count(*) FROM elsewhere."Odd"'), 'answered', '... which is answered');
SELECT matches(of_no_schema('WITH RECURSIVE r AS (SELECT shop FROM elsewhere."Odd" UNION ALL SELECT 1 FROM r) SELECT * FROM r'),
	'AS SELECT shop AS k, public\.dp_count\(\*\) AS n FROM elsewhere\."Odd" GROUP BY 1$', 'also beside WITH RECURSIVE');
CREATE FUNCTION hint_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	SET LOCAL SESSION AUTHORIZATION analyst1;
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	END;
	SET LOCAL SESSION AUTHORIZATION DEFAULT;
	RETURN hint;
END $$;
SELECT is(hint_of('SELECT id, rank() OVER (ORDER BY id) FROM elsewhere."Odd"'),
	'Such as: SELECT k, n, rank() OVER (ORDER BY n DESC) FROM (SELECT id AS k, dp_count(*) AS n FROM elsewhere."Odd" GROUP BY 1) AS q', 'and of windows');
SELECT is(hint_of('SELECT id, rank() OVER (ORDER BY id) FROM elsewhere.seen'),
	'Such as: SELECT k, n, rank() OVER (ORDER BY n DESC) FROM (SELECT id AS k, dp_count(*) AS n FROM elsewhere.seen GROUP BY 1) AS q', '... over a view, which is what analysts may name');
SELECT is(hint_of('SELECT a.status, rank() OVER (ORDER BY a.status) FROM paid a JOIN paid b USING (id, customer)'),
	'Such as: SELECT k, n, rank() OVER (ORDER BY n DESC) FROM (SELECT a.status AS k, dp_count(*) AS n FROM (paid a JOIN paid b USING (id, customer)) GROUP BY 1) AS q', '... over a join, by a column that both sides have');
SELECT is(hint_of('SELECT customer, n, rank() OVER (ORDER BY n) FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1) z'),
	'Such as: SELECT k, n, rank() OVER (ORDER BY n DESC) FROM (SELECT n AS k, dp_count(*) AS n FROM (SELECT orders.customer, count(*) AS n FROM orders GROUP BY orders.customer) z GROUP BY 1) AS q', '... over persons, by what is no person');

-- ------------------------------------------------------------------------
-- words that messages name
-- ------------------------------------------------------------------------

SELECT mended(statement, says, remedy) FROM (VALUES
	('SELECT count(*) FROM customers WHERE customer NOT IN (SELECT change FROM orders)', 'NOT EXISTS (SELECT ... WHERE its privacy unit = that of the row AND its value = what is tested)',
	 'SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND o.change = c.customer)'),
	('SELECT count(*) FROM customers WHERE region = ''x'' OR region NOT IN (SELECT status FROM orders)', 'NOT EXISTS (SELECT',
	 'SELECT count(*) FROM customers c WHERE region = ''x'' OR NOT EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND o.status = c.region)'),
	('SELECT count(o.id) FROM customers c LEFT JOIN orders o ON o.customer = c.customer AND EXISTS (SELECT FROM events e WHERE e.customer = o.customer AND kind = ''buy'')',
	 'join a subquery: LEFT JOIN',
	 'SELECT count(o.id) FROM customers c LEFT JOIN (SELECT * FROM orders o WHERE EXISTS (SELECT FROM events e WHERE e.customer = o.customer AND kind = ''buy'')) o ON o.customer = c.customer'),
	('SELECT count(*) FROM orders WHERE note ~ ''a(?=[0-9])''', 'without back references', 'SELECT count(*) FROM orders WHERE note ~ ''a[0-9]'''),
	('SELECT count(*) FROM orders WHERE substring(note FROM ''(a)(.)'') = ''a''', 'capture with one pair of parentheses', 'SELECT count(*) FROM orders WHERE substring(note FROM ''(a).'') = ''a'''),
	('SELECT count(*) FROM orders WHERE props @> ''["ios"]''', 'column ->> ''name'' = ''value''', 'SELECT count(*) FROM orders WHERE props ->> ''device'' = ''ios'''),
	('SELECT count(*) FROM orders WHERE props = ''{}''', 'column ->> ''name'' = ''value''', 'SELECT count(*) FROM orders WHERE props ->> ''device'' = ''ios'''),
	('SELECT count(DISTINCT props) FROM orders', '->> ''name''', 'SELECT count(DISTINCT props ->> ''device'') FROM orders'),
	('SELECT count(*) FROM orders WHERE to_char(quantity, ''9'') = '' 1''', 'cast to text', 'SELECT count(*) FROM orders WHERE quantity::text = ''1'''),
	('SELECT count(*) FROM orders WHERE at < clock_timestamp()', 'use now()', 'SELECT count(*) FROM orders WHERE at < now()'),
	('SELECT md5(status), count(*) FROM orders GROUP BY 1', 'left(column, n)', 'SELECT left(status, 2), count(*) FROM orders GROUP BY 1'),
	('SELECT count(*) FROM orders WHERE (status, quantity) < (''open'', 3)', 'compare column by column', 'SELECT count(*) FROM orders WHERE status < ''open'' OR status = ''open'' AND quantity < 3'),
	('SELECT count(*) FROM orders WHERE ARRAY[status] <@ ARRAY[''open'', ''paid'']', 'IN list of constants', 'SELECT count(*) FROM orders WHERE status IN (''open'', ''paid'')'),
	('SELECT count(*) FROM orders WHERE status::word = ''open''', 'cast to the domain''s base type', 'SELECT count(*) FROM orders WHERE status::text = ''open'''),
	('SELECT count(*) FROM orders WHERE note = current_user', 'write it as a constant', 'SELECT count(*) FROM orders WHERE note = ''a1'''),
	('SELECT age(day), count(*) FROM orders GROUP BY 1', 'group by extract(epoch from ...)', 'SELECT count(DISTINCT extract(epoch from age(day, date ''2025-01-01''))) FROM orders'),
	('SELECT count(*) FROM orders WHERE (day, interval ''2 days'') OVERLAPS (date ''2025-01-03'', interval ''1 day'')', 'day + interval ''2 days''',
		'SELECT count(*) FROM orders WHERE (day, day + interval ''2 days'') OVERLAPS (date ''2025-01-03'', date ''2025-01-03'' + interval ''1 day'')'),
	('SELECT tags, count(*) FROM orders GROUP BY 1', 'value = ANY (column)', 'SELECT count(*) FROM orders WHERE ''new'' = ANY (tags) AND cardinality(tags) = 2'),
	('SELECT count(*) FROM orders WHERE day + make_interval(days => quantity) > ''2025-01-05''', 'day + n', 'SELECT count(*) FROM orders WHERE day + quantity > ''2025-01-05'''),
	('SELECT props -> ''device'', count(*) FROM orders GROUP BY 1', '->> ''name''', 'SELECT count(DISTINCT props ->> ''device'') FROM orders'),
	('SELECT sum((props -> ''device'')::int) FROM orders', '(column ->> ''name'')::integer', 'SELECT count((props ->> ''number'')::integer) FROM orders'),
	('SELECT count(*) FROM orders WHERE to_tsvector(''simple'', note) @@ to_tsquery(''simple'', status)', 'write the words out', 'SELECT count(*) FROM orders WHERE to_tsvector(''simple'', note) @@ to_tsquery(''simple'', ''a1'')'),
	('SELECT count(*) FROM orders WHERE setweight(to_tsvector(''simple'', note), ''A'') @@ to_tsquery(''a1'')', 'write to_tsvector(''english'', column) @@ to_tsquery(''english'', ''word'')',
		'SELECT count(*) FROM orders WHERE to_tsvector(''english'', note) @@ to_tsquery(''english'', ''a1'')'),
	('SELECT count(*) FROM orders WHERE string_to_array(note, NULL) @> ''{a}''', 'a delimiter that is not NULL', 'SELECT count(*) FROM orders WHERE string_to_array(note, ''1'') @> ''{a}'''),
	('SELECT tags::text, count(*) FROM orders GROUP BY 1', 'array_to_string(column, '','')', 'SELECT count(*) FROM orders WHERE array_to_string(tags, '','') = ''new,sale'''),
	('SELECT count(*) FROM orders WHERE to_number(note, ''9'') = 1', 'cast it to numeric', 'SELECT count(*) FROM orders WHERE substr(note, 2)::numeric = 1'),
	('SELECT count(*) FROM orders WHERE to_date(note, ''YYYY'') > ''2025-01-01''', 'column::date', 'SELECT count(*) FROM orders WHERE (''2025-01-1'' || substr(note, 2))::date > ''2025-01-01'''),
	('SELECT count(*) FROM orders WHERE bit_length(note) > 16', '8 * octet_length(column)', 'SELECT count(*) FROM orders WHERE 8 * octet_length(note) > 16'),
	('SELECT count(*) FROM orders WHERE format(''%s'', note) = ''a1''', 'concat or ||', 'SELECT count(*) FROM orders WHERE concat(note, ''x'') = ''a1x'' AND note || ''x'' = ''a1x'''),
	('SELECT count(*) FROM orders WHERE date_trunc(''epoch'', at) > ''2025-01-02''', 'truncate to year', 'SELECT count(*) FROM orders WHERE date_trunc(''day'', at) > ''2025-01-02'''),
	('SELECT count(*) FROM orders WHERE date_bin(''1 month'', at, ''2025-01-01'') > ''2025-01-02''', 'date_trunc for months', 'SELECT count(*) FROM orders WHERE date_trunc(''month'', at) > ''2024-01-02'''),
	('SELECT count(*) FROM orders WHERE to_char(day, ''RM'') = ''I''', 'YYYY, MM, DD', 'SELECT count(*) FROM orders WHERE to_char(day, ''MM'') = ''01'''),
	('SELECT count(*) FROM orders WHERE at AT TIME ZONE interval ''1 hour'' > ''2025-01-03''', '''Europe/Berlin''', 'SELECT count(*) FROM orders WHERE at AT TIME ZONE ''Europe/Berlin'' > ''2025-01-03'''),
	('SELECT count(*) FROM orders WHERE note LIKE ''a\''', 'end the pattern with something else', 'SELECT count(*) FROM orders WHERE note LIKE ''a\\'''),
	('SELECT count(*) FROM orders WHERE note LIKE status', 'must be a constant', 'SELECT count(*) FROM orders WHERE note LIKE ''a1'''),

	('SELECT count(note) FROM (SELECT * FROM orders LIMIT 10) q', 'filter with WHERE', 'SELECT count(note) FROM (SELECT * FROM orders WHERE id <= 10) q'),
	('SELECT count(*) FROM (SELECT status, generate_series(1, quantity) FROM orders) q', 'JOIN generate_series(1, 100) AS g (n) ON g.n <= column', 'SELECT count(*) FROM orders JOIN generate_series(1, 100) AS g (n) ON g.n <= quantity'),
	('SELECT avg(n) FROM (SELECT customer, status, count(*) AS n FROM orders GROUP BY ROLLUP (1, 2)) q', 'at the level of private aggregates', 'SELECT status, count(*) FROM orders GROUP BY ROLLUP (1)'),
	('SELECT count(*) FROM (SELECT * FROM orders FOR UPDATE) q', 'leave the clause out', 'SELECT count(*) FROM (SELECT * FROM orders) q'),
	('SELECT count(*) FROM (SELECT DISTINCT customer, count(*) FROM orders GROUP BY 1) q', 'leave DISTINCT out', 'SELECT count(*) FROM (SELECT customer, count(*) FROM orders GROUP BY 1) q'),
	('SELECT count(*) FROM (SELECT status FROM orders UNION SELECT kind FROM events) q', 'add the unit to each', 'SELECT count(*) FROM (SELECT customer, status FROM orders UNION SELECT customer, kind FROM events) q'),
	('SELECT count(*) FROM (SELECT status FROM orders UNION SELECT kind FROM events) q', 'write UNION ALL', 'SELECT count(*) FROM (SELECT status FROM orders UNION ALL SELECT kind FROM events) q'),
	('SELECT dp_avg(n, 0, 9) FROM (SELECT status, count(*) AS n FROM orders GROUP BY 1) q', 'of a subquery of its rows', 'SELECT round(avg(n), 1) FROM (SELECT customer, status, count(*) AS n FROM orders GROUP BY 1, 2) q'),
	('SELECT count(*) FROM (SELECT customer, status FROM orders EXCEPT ALL SELECT customer, kind FROM events) q', 'leave ALL out', 'SELECT count(*) FROM (SELECT customer, status FROM orders EXCEPT SELECT customer, kind FROM events) q'),
	('SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY id) AS r FROM orders) q WHERE r < 3', 'PARTITION BY', 'SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY customer ORDER BY id) AS r FROM orders) q WHERE r < 3'),
	('SELECT count(*) FROM (SELECT DISTINCT ON (status) * FROM orders ORDER BY status, id) q', 'add the unit', 'SELECT count(*) FROM (SELECT DISTINCT ON (customer, status) * FROM orders ORDER BY customer, status, id) q'),
	('SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY value) AS r FROM readings) q WHERE r > 1', 'apply them to released rows', 'SELECT value, rank() OVER (ORDER BY value) FROM (SELECT value, count(*) AS n FROM readings WHERE value BETWEEN 0 AND 9 GROUP BY 1) q'),
	('SELECT count(*) FROM (SELECT first_value(quantity) OVER (PARTITION BY customer ORDER BY day GROUPS 1 PRECEDING) AS r FROM orders) q WHERE r > 2', 'or ROWS in place of RANGE or GROUPS',
		'SELECT count(*) FROM (SELECT first_value(quantity) OVER (PARTITION BY customer ORDER BY day, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS r FROM orders) q WHERE r > 2'),
	('SELECT count(*) FROM orders TABLESAMPLE SYSTEM (10)', 'leave the clause out', 'SELECT count(*) FROM orders'),
	('SELECT count(*) FROM orders JOIN staff ON customer = person', 'join the released rows', 'SELECT o.status, o.n, s.n FROM (SELECT status, count(*) AS n FROM orders GROUP BY 1) o JOIN (SELECT status, count(*) AS n FROM staff GROUP BY 1) s USING (status)'),
	('SELECT count(*) FROM orders o JOIN events e ON o.status = e.kind', 'add o.customer = e.customer', 'SELECT count(*) FROM orders o JOIN events e ON o.status = e.kind AND o.customer = e.customer'),
	('SELECT count(*) FROM orders a JOIN orders b ON a.day = b.day', 'a.customer = b.customer', 'SELECT count(*) FROM orders a JOIN orders b ON a.day = b.day AND a.customer = b.customer AND a.id < b.id WHERE a.customer > 3'),
	('SELECT count(*) FROM orders CROSS JOIN shops', 'ON columns of both sides', 'SELECT count(*) FROM orders JOIN shops ON orders.shop = shops.shop'),
	('SELECT count(*) FROM orders FULL JOIN shops USING (shop)', 'use an inner join', 'SELECT count(*) FROM orders JOIN shops USING (shop)'),
	('SELECT count(*) FROM orders FULL JOIN shops USING (shop)', 'a left join from the protected side', 'SELECT count(*) FROM orders LEFT JOIN shops USING (shop)'),
	('SELECT city, count(*) FROM shops LEFT JOIN orders USING (shop) GROUP BY 1', 'give it a column of "orders"', 'SELECT city, count(orders.id) FROM shops LEFT JOIN orders USING (shop) GROUP BY 1'),
	('SELECT status, count(id) FROM shops LEFT JOIN orders USING (shop) GROUP BY 1', 'use an inner join', 'SELECT status, count(id) FROM shops JOIN orders USING (shop) GROUP BY 1'),
	('SELECT city, count(id) FROM shops LEFT JOIN orders USING (shop) WHERE quantity IS NULL OR quantity > 2 GROUP BY 1', 'move it to the join''s ON', 'SELECT city, count(id) FROM shops LEFT JOIN orders ON shops.shop = orders.shop AND (quantity IS NULL OR quantity > 2) GROUP BY 1'),
	('WITH RECURSIVE r AS (SELECT 1 AS shop UNION ALL SELECT shop + 1 FROM r WHERE shop < 3) SELECT count(*) FROM orders JOIN r USING (shop)', '', 'SELECT count(*) FROM orders JOIN (VALUES (1), (2), (3)) AS r (shop) USING (shop)'),
	('SELECT count(*) FROM orders o, LATERAL generate_series(1, o.quantity) k', 'JOIN generate_series(1, 100) AS g (n) ON g.n <= column', 'SELECT count(*) FROM orders JOIN generate_series(1, 100) AS g (n) ON g.n <= quantity'),

	('SELECT sum(quantity / (amount - 50.25)) FROM orders', 'divide by greatest(', 'SELECT round(sum(quantity / greatest(amount - 50.25, 1)) / 1e4, 1) AS s FROM orders'),
	('SELECT dp_median(status) FROM orders', 'give it numbers, dates or timestamps', 'SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY quantity) FROM orders'),
	('SELECT dp_count(note ORDER BY note) FROM orders', 'leave it out', 'SELECT count(note) FROM orders'),
	('SELECT corr(DISTINCT amount, quantity) FROM orders', 'leave it out', 'SELECT round(corr(amount, quantity)::numeric, 1) FROM orders'),
	('SELECT dp_count(*) OVER () FROM orders', 'release them with GROUP BY in a subquery', 'SELECT n, sum(n) OVER () FROM (SELECT status, count(*) AS n FROM orders GROUP BY status) q'),
	('SELECT status FROM orders GROUP BY ROLLUP (status)', 'add dp_count(*)', 'SELECT status, count(*) FROM orders GROUP BY ROLLUP (status)'),
	('SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY amount) FROM orders', '0.5 for the median', 'SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)) FROM orders'),
	('SELECT dp_sum(amount, 5, 5) FROM orders', 'less than', 'SELECT round(sum(amount), -3) FROM orders')
	) AS v (statement, says, remedy);

SELECT mended('SELECT avg(change) FROM orders', 'dp_avg(change, lower, upper)', 'SELECT round(dp_avg(change, 0, 8)::numeric, 1) FROM orders', 'SELECT round(avg(change), 1) FROM orders');
SELECT mended('SELECT avg(change) FROM orders', 'dp_cdp.set_bounds', 'SELECT count(*) FROM orders');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_bounds('orders', 'change', 0, 8);
RESET SESSION AUTHORIZATION;
SELECT is(rows_for('analyst1', 'SELECT round(avg(change), 1) FROM orders'), rows_for('owner1', 'SELECT round(avg(change), 1) FROM orders'), '... which the owner can call');

-- ------------------------------------------------------------------------
-- what is named is what was written, also where the query was put in other words
-- ------------------------------------------------------------------------

SELECT mended(statement, says, remedy, plain) FROM (VALUES
	('SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer > c.customer) q', 'c.customer = o.customer to the subquery''s WHERE',
		'SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE c.customer = o.customer) q', NULL),
	('SELECT count(*) FROM orders o WHERE quantity = (SELECT count(*) FROM events e WHERE e.customer = o.shop)', 'o.customer = e.customer to the subquery''s WHERE',
		'SELECT count(*) FROM orders o WHERE quantity = (SELECT count(*) FROM events e WHERE o.customer = e.customer)', NULL),
	('SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.quantity = c.customer ORDER BY id LIMIT 1) q', 'LIMIT 1 must choose',
		'SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 1) q', NULL),
	('SELECT count(*) FROM orders c, LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer AND (o.change > c.change OR c.change IS NULL) ORDER BY id LIMIT 2) q', '(PARTITION BY the privacy unit',
		'SELECT count(*) FROM customers c JOIN (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY id) AS n FROM orders) q ON q.customer = c.customer AND q.n <= 2', NULL),
	('SELECT count(*) FROM orders o WHERE quantity >= ALL (SELECT quantity FROM orders p WHERE p.customer = o.customer)', 'AND NOT the comparison',
		'SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND NOT o.quantity >= p.quantity)', NULL),
	('SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer ORDER BY quantity FETCH FIRST 2 ROWS WITH TIES) q', 'rank() OVER',
		'SELECT count(*) FROM customers c JOIN (SELECT customer, rank() OVER (PARTITION BY customer ORDER BY quantity) AS n FROM orders) q ON q.customer = c.customer AND q.n <= 2', NULL),
	('SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer ORDER BY quantity, id LIMIT (SELECT 2)) q', 'with a constant LIMIT',
		'SELECT count(*) FROM customers c JOIN (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY quantity, id) AS n FROM orders) q ON q.customer = c.customer AND q.n <= 2', NULL),
	('SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.quantity = c.customer ORDER BY id LIMIT 2) q', 'LIMIT and OFFSET of a subquery',
		'SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 2) q', NULL),
	('SELECT count(v.x) FROM customers c LEFT JOIN (orders o LEFT JOIN LATERAL (VALUES (o.quantity), (o.shop)) v (x) ON v.x > 3) USING (customer)', 'UNION ALL between them',
		'SELECT count(v.x) FROM customers c LEFT JOIN (SELECT customer, quantity AS x FROM orders UNION ALL SELECT customer, shop FROM orders) v ON v.customer = c.customer AND v.x > 3', NULL),
	('SELECT count(*) FROM orders o, LATERAL (SELECT max(x) FROM (VALUES (o.id), (o.shop)) w (x) OFFSET 1) v (x)', 'UNION ALL between them', 'SELECT count(*) FROM (SELECT id FROM orders UNION ALL SELECT shop FROM orders) v (x)', NULL),
	('SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer UNION ALL SELECT 3 FROM events e WHERE e.customer = c.customer) q', 'leave LATERAL out',
		'SELECT count(*) FROM customers c JOIN (SELECT o.customer FROM orders o UNION ALL SELECT e.customer FROM events e) q ON q.customer = c.customer', NULL),
	('SELECT count(*) FROM (SELECT status FROM orders INTERSECT SELECT kind FROM events) q', 'add the unit to each', 'SELECT count(*) FROM (SELECT customer, status FROM orders INTERSECT SELECT customer, kind FROM events) q', NULL),
	('SELECT sum(q.m) FROM customers c, LATERAL (SELECT max(length(note)) AS m FROM orders o WHERE o.customer = c.customer) q', 'dp_sum(q.m, lower, upper)',
		'SELECT round(dp_sum(q.m, 0, 5), -1) AS s FROM customers c, LATERAL (SELECT max(length(note)) AS m FROM orders o WHERE o.customer = c.customer) q',
		'SELECT round(sum(m), -1) AS s FROM (SELECT max(length(note)) AS m FROM orders GROUP BY customer) q'),
	('SELECT sum(q.m) FROM orders o, LATERAL (SELECT o.change + o.id AS m) q', 'dp_sum(q.m, lower, upper)', 'SELECT count(q.m) FROM orders o, LATERAL (SELECT o.change + o.id AS m) q', NULL),
	('SELECT sum((SELECT max(shop) FROM shops) * o.id) FROM orders o', 'dp_sum(((SELECT max(shops.shop) AS max FROM shops) * o.id), lower, upper)',
		'SELECT count((SELECT max(shops.shop) AS max FROM shops) * o.id) FROM orders o', NULL)
	) AS v (statement, says, remedy, plain);

-- a LIMIT that is a parameter
PREPARE firsts(int) AS SELECT count(*) FROM customers c, LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer ORDER BY quantity, id LIMIT $1) q;
PREPARE limited(int) AS SELECT count(note) FROM (SELECT * FROM orders ORDER BY id LIMIT $1) q;
CREATE FUNCTION executed(role text, statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', role);
	EXECUTE statement INTO n;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN n;
END $$;
SELECT matches(message_of('EXECUTE firsts(2)'), '^ZC002 .*a constant LIMIT.*row_number\(\) OVER \(PARTITION BY the privacy unit ORDER BY', 'LIMIT $1 is refused');
SELECT matches(message_of('EXECUTE limited(10)'), '^ZC002 LIMIT and OFFSET on protected rows .* filter with WHERE', 'LIMIT $1 of all rows is refused');
PREPARE numbered(int) AS SELECT count(*) FROM customers c JOIN (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY quantity, id) AS n FROM orders) q
	ON q.customer = c.customer AND q.n <= $1;
PREPARE filtered(int) AS SELECT count(note) FROM (SELECT * FROM orders WHERE id <= $1) q;
SELECT is(executed('analyst1', 'EXECUTE numbered(' || n || ')'), executed('owner1', 'EXECUTE firsts(' || n || ')'), '... with what is answered, for ' || n) FROM generate_series(1, 2) n;
SELECT is(executed('analyst1', 'EXECUTE filtered(10)'), executed('owner1', 'EXECUTE limited(10)'), '... and so is the filter');

SELECT * FROM finish();
