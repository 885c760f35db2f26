-- UNION, EXCEPT and INTERSECT of protected rows are answered as plain SQL answers
-- them; the noise is too small to be seen.  Others are refused, for nothing.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE owner2 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, owner2;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1, owner2;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE shops (shop int PRIMARY KEY, city text NOT NULL);
INSERT INTO shops VALUES (1, 'north'), (2, 'north'), (3, 'south'), (4, 'south');
CREATE TABLE customers (customer int PRIMARY KEY, region text NOT NULL, born int);
INSERT INTO customers SELECT i, (ARRAY['x', 'y'])[1 + i % 2], CASE WHEN i % 5 > 0 THEN 1950 + i % 50 END FROM generate_series(1, 2000) i;
CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL, shop int REFERENCES shops, amount int NOT NULL, rate numeric NOT NULL, kind text, at date NOT NULL);
INSERT INTO orders SELECT i, 1 + i * 7 % 1500, 1 + i % 4, i % 90, i % 3 + 0.50, CASE WHEN i % 6 > 0 THEN (ARRAY['p', 'q'])[1 + i % 2] END, '2025-01-01'::date + i % 300
	FROM generate_series(1, 4500) i;
CREATE TABLE events (customer int, kind text NOT NULL, amount bigint NOT NULL, rate numeric, at timestamptz NOT NULL);
INSERT INTO events SELECT nullif(1 + i % 1100, 7), (ARRAY['view', 'buy', 'p'])[1 + i / 1100 % 3], i % 70, 0.5 + i % 3, '2025-03-01'::timestamptz + i * interval '1 hour'
	FROM generate_series(1, 3000) i;
CREATE TABLE lines (id int PRIMARY KEY, "order" int NOT NULL REFERENCES orders, n int NOT NULL);
INSERT INTO lines SELECT i, 1 + i % 4000, i % 7 FROM generate_series(1, 6000) i;
CREATE TABLE notes (k text NOT NULL, n int NOT NULL) PARTITION BY LIST (k);
CREATE TABLE notes_1 PARTITION OF notes FOR VALUES IN ('a');
CREATE TABLE notes_2 PARTITION OF notes DEFAULT;
INSERT INTO notes SELECT (ARRAY['a', 'b'])[1 + i % 2], i % 9 FROM generate_series(1, 900) i;
CREATE TABLE faxes (k text NOT NULL, n int NOT NULL);
INSERT INTO faxes SELECT (ARRAY['a', 'b'])[1 + i % 2], i % 9 FROM generate_series(1, 500) i;
CREATE DOMAIN person AS text CHECK (VALUE <> '');
CREATE TABLE calls (who person, n int);
CREATE TABLE mails (who text, n int);
INSERT INTO calls SELECT 'p' || i % 300, i % 5 FROM generate_series(1, 700) i;
INSERT INTO mails SELECT 'p' || i % 400, i % 5 FROM generate_series(1, 700) i;
CREATE VIEW activity AS SELECT customer, 'order' AS what, amount::bigint AS amount, at FROM orders UNION ALL SELECT customer, 'event', amount, at::date FROM events;
SELECT dp_cdp.create_dataset('shop', find_bounds => 0, default_rho => 11000, max_rows => 10, max_groups => 4);
SELECT dp_cdp.protect_table(t, 'shop', 'customer') FROM unnest('{customers,orders,events}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'shop', 'who') FROM unnest('{calls,mails}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'shop', each_row => true) FROM unnest('{notes,faxes}'::regclass[]) t;
SELECT dp_cdp.protect_table('lines', 'shop', through => '"order"');
SELECT dp_cdp.set_keys('customers', 'region', ARRAY['x', 'y']);
SELECT dp_cdp.set_keys('orders', 'kind', ARRAY['p', 'q', NULL]), dp_cdp.set_keys('events', 'kind', ARRAY['view', 'buy', 'p', 'other']);
SELECT dp_cdp.set_keys(t, 'k', ARRAY['a', 'b']) FROM unnest('{notes,faxes}'::regclass[]) t;
SELECT dp_cdp.set_bounds('orders', 'amount', 0, 100), dp_cdp.set_bounds('events', 'amount', 0, 200), dp_cdp.set_bounds('lines', 'n', 0, 10);
SELECT dp_cdp.set_bounds('orders', 'at', '2025-01-01'::date, '2025-12-31'::date);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1e6, delta => 0.5);
GRANT SELECT ON shops, activity TO analyst1;
SET SESSION AUTHORIZATION owner2;
CREATE TABLE others (customer int, amount int);
SELECT dp_cdp.create_dataset('other');
SELECT dp_cdp.protect_table('others', 'other', 'customer');
SELECT dp_cdp.set_budget('other', 'analyst1', rho => 1);
RESET SESSION AUTHORIZATION;

\ir same.psql

CREATE FUNCTION refused(statement text, message text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	spent numeric := (SELECT sum(rho_spent) FROM dp_cdp.budgets);
BEGIN
	RETURN NEXT matches(rows_for('analyst1', statement), '^(ZC002|ZC004) ' || message, statement);
	RETURN NEXT is((SELECT sum(rho_spent) FROM dp_cdp.budgets), spent, '... for nothing');
END $$;

SELECT no_plan();

-- rows of several tables
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT customer FROM orders UNION ALL SELECT customer FROM customers) u',
	'SELECT count(*) FROM (SELECT amount FROM orders UNION ALL SELECT n FROM lines) u',
	'SELECT count(*) FROM (SELECT 1 FROM orders UNION ALL SELECT 1 FROM orders UNION ALL SELECT 2 FROM customers WHERE born > 1980) u',
	'SELECT count(DISTINCT customer) FROM (SELECT customer FROM orders UNION ALL SELECT customer FROM events) u',
	'SELECT count(*), count(amount) FROM (SELECT amount FROM orders UNION ALL SELECT nullif(amount, 3)::int FROM events WHERE customer IS NOT NULL ORDER BY 1 OFFSET 0) u',
	'SELECT sum(CASE WHEN x > 5 THEN 1 ELSE 0 END) FROM (SELECT amount AS x FROM orders UNION ALL SELECT n FROM lines WHERE n > 4 UNION ALL SELECT amount FROM events WHERE customer > 0) u',
	'SELECT what, count(*) FROM activity WHERE customer IS NOT NULL GROUP BY 1',
	'SELECT region, what, count(*) FROM activity JOIN customers USING (customer) WHERE at < ''2025-06-01'' GROUP BY 1, 2',
	'WITH a AS (SELECT * FROM activity), b AS (SELECT customer FROM a UNION ALL SELECT customer FROM customers) SELECT count(*) FROM b WHERE customer IS NOT NULL',
	'SELECT region, count(*) FROM customers c LEFT JOIN (SELECT customer FROM orders UNION ALL SELECT customer FROM events) u USING (customer) GROUP BY 1',
	'SELECT city, count(*) FROM (SELECT shop, customer FROM orders WHERE amount > 30 UNION ALL SELECT shop, customer FROM orders) u JOIN shops USING (shop) GROUP BY 1',
	'SELECT count(*) FROM ((SELECT customer FROM orders UNION ALL SELECT customer FROM customers) UNION ALL (SELECT customer FROM customers UNION ALL SELECT customer FROM orders ORDER BY 1)) u',
	'SELECT count(*) FROM (SELECT o.customer, c.region FROM orders o JOIN customers c USING (customer) UNION ALL SELECT customer, kind FROM events e WHERE EXISTS (SELECT FROM orders o WHERE o.customer = e.customer)) u WHERE region > ''a''',
	'SELECT who LIKE ''%1'' AS one, count(*) FROM (SELECT who FROM calls UNION ALL SELECT who FROM mails) u WHERE who IS NOT NULL GROUP BY 1 HAVING count(*) > 1',
	'SELECT count(*) FROM (SELECT x.n FROM calls x UNION ALL SELECT n + 1 FROM mails) u WHERE n > 2']) AS statement;

-- keys follow where all have them: constants, declared ones
SELECT as_declared('SELECT label, count(*) FROM (SELECT customer, ''one'' AS label FROM orders UNION ALL SELECT customer, ''two'' FROM customers) u GROUP BY 1', 'labels');
SELECT as_declared('SELECT label, count(*) FROM (SELECT customer, ''one'' AS label FROM orders UNION ALL SELECT customer, ''two'' FROM customers) u WHERE label <> ''one'' GROUP BY 1', 'labels that a condition leaves');
-- a condition on a part of the key leaves out what that part cannot be
SELECT as_declared(format('SELECT %s AS k, count(*) FROM (SELECT customer, kind, ''one'' AS label FROM orders UNION ALL SELECT customer, NULL, ''two'' FROM customers) u WHERE label <> ''one'' GROUP BY 1', k), k)
	FROM unnest(ARRAY['coalesce(label, ''two'')', 'coalesce(label, ''other'')', 'CASE WHEN kind IS NULL THEN label ELSE ''two'' END', 'coalesce(nullif(kind, ''p''), label)', 'coalesce(CASE WHEN customer > 5 THEN label END, label)']) k;
SELECT as_declared('SELECT coalesce(kind, ''none'') AS k, count(*) FROM (SELECT customer, kind FROM orders UNION ALL SELECT customer, ''none'' FROM customers) u WHERE kind IS NULL OR kind <> ''q'' GROUP BY 1', 'also where NULL passes');
SELECT as_declared('SELECT kind, count(*) FROM (SELECT customer, kind FROM orders UNION ALL SELECT customer, ''none'' FROM customers) u GROUP BY 1', 'keys of a table, with NULL, and a label');
SELECT as_declared('SELECT date_trunc(''month'', at), count(*) FROM (SELECT customer, at FROM orders UNION ALL SELECT customer, at + 1 FROM orders) u WHERE at >= ''2025-01-01'' AND at < ''2025-04-01'' GROUP BY 1', 'buckets of a range');
SELECT as_declared('SELECT label, date_trunc(''month'', at), count(*) FROM (SELECT customer, ''one'' AS label, at FROM orders UNION ALL SELECT customer, ''two'', at FROM orders) u WHERE at >= ''2025-01-01'' AND at < ''2025-04-01'' GROUP BY 1, 2', 'labels and buckets');
SELECT as_declared('SELECT date_trunc(''quarter'', at), count(*) FROM (SELECT at FROM orders UNION ALL SELECT at FROM orders WHERE amount > 5) u GROUP BY 1', 'buckets of declared bounds');
SELECT as_declared('SELECT label, at > ''2025-05-01'' AS late, count(*) FROM (SELECT customer, ''one'' AS label, at FROM orders UNION ALL SELECT customer, ''two'', at FROM orders) u GROUP BY 1, 2', 'labels and conditions');
SELECT is(rows_for('analyst1', 'SELECT kind, count(*) FROM (SELECT customer, kind FROM orders UNION ALL SELECT customer, kind FROM events WHERE customer IS NOT NULL) u GROUP BY 1'),
	(SELECT string_agg(q::text, ' ' ORDER BY q::text) FROM (SELECT kind, sum(n)::bigint FROM (SELECT kind, count(*) AS n FROM orders GROUP BY 1 UNION ALL SELECT kind, count(*) FROM events WHERE customer IS NOT NULL GROUP BY 1
		UNION ALL SELECT 'other', 0) v GROUP BY 1) q), 'the keys of both, also those without rows');

-- rows that are units by themselves may come twice
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT k, count(*) FROM (SELECT k, n FROM notes UNION ALL SELECT k, n FROM notes WHERE n > 3) u GROUP BY 1',
	'SELECT k, count(*) FROM (SELECT k, n FROM notes UNION ALL SELECT k, n FROM faxes) u GROUP BY 1']) AS statement;
-- what the asker is shown of a price
CREATE FUNCTION shown(statement text, what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	EXECUTE format('SELECT string_agg(concat_ws('' '', %s), '', '') FROM dp_cdp.preview(%L) WHERE item = ''aggregate''', what, statement) INTO answer;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN answer;
END $$;
SELECT is(shown('SELECT count(*) FROM notes', 'sensitivity'), '1', 'rows that are units');
SELECT is(shown('SELECT count(*) FROM (SELECT n FROM notes UNION ALL SELECT n FROM notes) u', 'sensitivity'), '10', '... may come twice, and are bounded');
SELECT is(shown('SELECT count(*) FROM (SELECT n FROM notes UNION ALL SELECT n FROM faxes) u', 'sensitivity'), '10', '... also where they are of several tables');
-- bounds are those of all
SELECT is(shown('SELECT sum(amount) FROM (SELECT amount FROM orders UNION ALL SELECT amount FROM events) u', 'row_lower, row_upper'), '0 200', 'bounds of both');
SELECT is(shown('SELECT sum(x) FROM (SELECT amount + 1 AS x FROM orders UNION ALL SELECT -n FROM lines UNION ALL SELECT 300 FROM customers) u', 'row_lower, row_upper'), '-10 300', 'bounds of expressions');
SELECT is(shown('SELECT avg(n) FROM (SELECT customer, count(*) AS n FROM (SELECT customer FROM orders UNION ALL SELECT customer FROM events) u GROUP BY 1) q', 'row_lower, row_upper'), '0 10', 'of counts of one unit');
SELECT refused('SELECT sum(x) FROM (SELECT amount AS x FROM orders UNION ALL SELECT born FROM customers) u', 'sum\(x\) needs bounds');

-- rows of people through a foreign key
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT n FROM lines UNION ALL SELECT n FROM lines WHERE n > 3) u',
	'SELECT region, count(*) FROM (SELECT o.customer FROM lines l JOIN orders o ON l."order" = o.id UNION ALL SELECT customer FROM orders) u JOIN customers USING (customer) GROUP BY 1',
	'SELECT count(*) FROM (SELECT "order" FROM lines UNION ALL SELECT "order" FROM lines WHERE n = 2) u JOIN orders o ON o.id = u."order" WHERE o.amount > 10']) AS statement;

-- groups of units above and below
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT n, count(*) FROM (SELECT customer, count(*) AS n FROM (SELECT customer FROM orders UNION ALL SELECT customer FROM customers) u GROUP BY 1) q WHERE n IN (1, 4) GROUP BY 1',
	'SELECT count(*) FROM (SELECT customer, max(amount)::bigint AS m FROM orders GROUP BY 1 UNION ALL SELECT customer, max(amount) FROM events GROUP BY 1) u WHERE m > 50 AND customer IS NOT NULL',
	'SELECT count(*) FROM customers WHERE customer IN (SELECT customer FROM orders UNION ALL SELECT customer FROM events)',
	'SELECT count(*) FROM customers WHERE customer IN (SELECT customer FROM orders UNION SELECT customer FROM events)',
	'SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT FROM (SELECT customer FROM orders UNION ALL SELECT customer FROM events) u WHERE u.customer = c.customer)']) AS statement;

-- distinct rows
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(DISTINCT customer) FROM (SELECT customer FROM orders UNION SELECT customer FROM events) u',
	'SELECT count(*) FROM (SELECT customer FROM orders UNION SELECT customer FROM customers UNION SELECT customer FROM events) u WHERE customer IS NOT NULL',
	'SELECT count(*) FROM (SELECT customer, rate FROM orders UNION SELECT customer, rate FROM events) u WHERE customer IS NOT NULL',
	'SELECT count(*) FROM (SELECT customer, kind, amount FROM orders UNION SELECT customer, kind, amount::int FROM events) u WHERE customer IS NOT NULL',
	'SELECT count(*) FROM (SELECT customer FROM orders UNION SELECT customer FROM events UNION ALL SELECT customer FROM customers) u WHERE customer IS NOT NULL',
	'SELECT region, count(*) FROM (SELECT customer FROM orders UNION SELECT customer FROM events) u JOIN customers USING (customer) GROUP BY 1',
	'SELECT count(*) FROM (SELECT customer FROM customers EXCEPT SELECT customer FROM orders) u',
	'SELECT count(*) FROM (SELECT customer FROM orders INTERSECT SELECT customer FROM events) u',
	'SELECT count(*) FROM (SELECT customer, amount FROM orders EXCEPT SELECT customer, amount::int FROM events) u',
	'SELECT count(*) FROM (SELECT customer, kind FROM orders EXCEPT SELECT customer, nullif(kind, ''buy'') FROM events) u',
	'SELECT count(*) FROM (SELECT customer, kind, rate FROM orders INTERSECT SELECT customer, nullif(kind, ''buy''), rate FROM events) u',
	'SELECT count(*) FROM (SELECT customer, shop + 0 AS s FROM orders WHERE false UNION SELECT customer, amount FROM orders) u',
	'SELECT count(*) FROM (SELECT customer FROM customers EXCEPT (SELECT customer FROM orders UNION SELECT customer FROM events)) u',
	'SELECT count(*) FROM ((SELECT customer FROM customers EXCEPT SELECT customer FROM orders) UNION (SELECT customer FROM customers INTERSECT SELECT customer FROM events)) u',
	'WITH a AS (SELECT customer FROM orders), b AS (SELECT customer FROM events) SELECT count(*) FROM (SELECT customer FROM a EXCEPT SELECT customer FROM b) u',
	'WITH a AS (SELECT customer FROM orders) SELECT count(*) FROM (SELECT * FROM a UNION SELECT customer FROM customers UNION SELECT * FROM a) u',
	'SELECT count(*) FROM (WITH a AS (SELECT customer FROM orders) SELECT * FROM a UNION SELECT customer FROM events WHERE customer IS NOT NULL) u',
	'SELECT region, count(*) FROM customers c WHERE customer IN (SELECT customer FROM orders EXCEPT SELECT customer FROM events) GROUP BY 1']) AS statement;

-- what compares rows of several people, or has rows of nobody
SELECT refused(statement, 'UNION, EXCEPT and INTERSECT of protected rows compare') FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT kind FROM orders UNION SELECT kind FROM events) u',
	'SELECT count(*) FROM (SELECT customer FROM orders UNION SELECT amount FROM orders) u',
	'SELECT count(*) FROM (SELECT n FROM notes UNION SELECT n FROM notes) u']) AS statement;
SELECT refused(statement, 'a SELECT of a UNION, EXCEPT or INTERSECT has rows that belong to nobody') FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT shop FROM shops EXCEPT SELECT shop FROM orders) u',
	'SELECT count(*) FROM (SELECT city FROM shops INTERSECT SELECT kind FROM orders) u',
	'SELECT count(*) FROM (SELECT 1 EXCEPT SELECT customer FROM orders GROUP BY customer) u',
	'SELECT count(*) FROM ((SELECT shop FROM shops EXCEPT SELECT shop FROM orders) EXCEPT SELECT customer FROM customers) u',
	'SELECT count(*) FROM (WITH a AS (SELECT shop FROM shops) SELECT shop FROM a EXCEPT SELECT shop FROM orders) u',
	'SELECT count(*) FROM (SELECT region FROM (SELECT region, count(*) FROM customers GROUP BY 1 LIMIT 0) l EXCEPT SELECT kind FROM orders) u',
	'SELECT count(*) FROM (SELECT customer FROM orders UNION ALL SELECT 1) u',
	'SELECT count(*) FROM (SELECT shop FROM orders UNION ALL SELECT shop FROM shops) u',
	'SELECT count(*) FROM (SELECT customer FROM orders UNION ALL SELECT count(*) FROM events) u',
	'SELECT count(*) FROM (SELECT kind FROM orders GROUP BY 1 UNION ALL SELECT kind FROM events) u']) AS statement;
-- as the message says
SELECT as_written('SELECT count(*) FROM (SELECT shop FROM shops EXCEPT SELECT shop FROM (SELECT shop FROM orders GROUP BY shop) r) u');
SELECT refused('SELECT count(*) FROM (SELECT customer FROM orders UNION ALL SELECT n FROM notes) u', 'a UNION cannot mix rows that are units by themselves');
SELECT refused('SELECT count(*) FROM (SELECT amount FROM orders UNION ALL SELECT n FROM calls) u', 'the SELECTs of a UNION have privacy units of different types, integer and text');
SELECT refused('SELECT count(*) FROM (SELECT customer FROM orders UNION ALL SELECT customer FROM others) u', 'tables "orders" and "others" belong to different datasets');
SELECT refused('SELECT count(*) FROM (SELECT customer, amount FROM orders GROUP BY 1, 2 UNION ALL SELECT customer, rate FROM events) u', 'column 2 of a UNION of protected rows is of the types');
SELECT refused('SELECT count(*) FROM (SELECT customer FROM orders EXCEPT ALL SELECT customer FROM events) u', 'EXCEPT ALL and INTERSECT ALL');
SELECT refused('SELECT count(customer) FROM (SELECT customer FROM orders UNION ALL SELECT customer FROM events LIMIT 3) u', 'LIMIT and OFFSET');
SELECT refused('SELECT customer FROM orders UNION ALL SELECT customer FROM events', '(permission denied for rows|string_agg is exact|a cast from record)');
SELECT refused('SELECT count(*) FROM (SELECT customer, amount FROM orders UNION ALL SELECT amount, customer FROM orders) u JOIN events e ON e.customer = u.customer', '"u" and protected table "events" \(e\) can be joined only on their privacy units');
SELECT refused('WITH RECURSIVE r AS (SELECT customer FROM orders UNION SELECT customer + 1 FROM r) SELECT count(*) FROM r', '');
SELECT refused('SELECT count(*) FROM (SELECT customer, amount FROM orders UNION ALL SELECT customer, sqrt(n) FROM (SELECT customer, random() AS n FROM events) v) u WHERE amount > 1', 'function random');

SELECT * FROM finish();
