-- Units as schemas have them: in keys of several columns, of uuid, text and domains, in
-- partitioned tables, below views.

SET client_min_messages = error;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE other1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop', default_rho => 8000, max_groups => 4, max_rows => 8);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1e6);
CREATE DOMAIN customer_no AS int NOT NULL CHECK (VALUE > 0);
CREATE DOMAIN short AS varchar(8) CHECK (VALUE <> 'never');
CREATE DOMAIN label AS short;
CREATE DOMAIN cents AS numeric(9, 2) DEFAULT 0;
CREATE DOMAIN feeling AS text CHECK (VALUE IN ('good', 'bad'));

-- a domain as unit, as key of a foreign key, as group and value
CREATE TABLE customers (no customer_no PRIMARY KEY, segment label NOT NULL);
INSERT INTO customers SELECT i, (ARRAY['a', 'b', 'c'])[i % 3 + 1] FROM generate_series(1, 30) i;
CREATE TABLE orders (id int PRIMARY KEY, no customer_no REFERENCES customers, price cents, mood feeling NOT NULL);
INSERT INTO orders SELECT i, i % 30 + 1, i % 9, (ARRAY['good', 'bad'])[i % 2 + 1] FROM generate_series(1, 60) i;
SELECT dp_cdp.protect_table('customers', 'shop', 'no');
SELECT dp_cdp.protect_table('orders', 'shop', through => 'no');
SELECT dp_cdp.set_keys('customers', 'segment', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_keys('orders', 'mood', ARRAY['good', 'bad']);
SELECT dp_cdp.set_bounds('orders', 'price', 0, 10);
CREATE VIEW priced AS SELECT no AS customer, price AS cost, mood FROM orders;
CREATE TABLE segments (segment label PRIMARY KEY, title text);
INSERT INTO segments VALUES ('a', 'first'), ('b', 'second'), ('c', 'first');
GRANT SELECT ON priced, segments TO analyst1;

-- uuid, with the person in keys of several columns
CREATE TABLE accounts (tenant int, account uuid, person uuid NOT NULL, plan text NOT NULL, PRIMARY KEY (tenant, account));
INSERT INTO accounts SELECT i % 4, md5(i::text)::uuid, md5((i % 25)::text)::uuid, (ARRAY['x', 'y'])[i % 2 + 1] FROM generate_series(1, 50) i;
CREATE TABLE logins (account uuid, tenant int, day date NOT NULL, seq int, FOREIGN KEY (tenant, account) REFERENCES accounts, PRIMARY KEY (account, tenant, seq));
INSERT INTO logins SELECT account, tenant, date '2025-01-01' + i, i FROM accounts, generate_series(1, 3) i;
CREATE TABLE consents (person uuid, topic text, given boolean NOT NULL, PRIMARY KEY (person, topic));
INSERT INTO consents SELECT md5(i::text)::uuid, t, i % 3 = 0 FROM generate_series(0, 24) i, unnest('{mail,phone}'::text[]) t;
SELECT dp_cdp.protect_table('accounts', 'shop', 'person');
SELECT dp_cdp.protect_table('logins', 'shop', through => 'tenant, account');
SELECT dp_cdp.protect_table('consents', 'shop', 'person');
SELECT dp_cdp.set_keys('accounts', 'plan', ARRAY['x', 'y']);

-- text
CREATE TABLE users (email text PRIMARY KEY, area varchar(10));
INSERT INTO users SELECT 'u' || i || '@x', 'n' || i % 2 FROM generate_series(1, 20) i;
CREATE TABLE posts (author varchar(40) REFERENCES users, likes int NOT NULL);
INSERT INTO posts SELECT 'u' || 1 + i % 20 || '@x', i % 5 FROM generate_series(1, 40) i;
SELECT dp_cdp.protect_table('users', 'shop', 'email');
SELECT dp_cdp.protect_table('posts', 'shop', through => 'author');

-- partitions: the key on the whole, and on each of them, which have other column numbers
CREATE TABLE trips (id int, no int NOT NULL, year int NOT NULL, PRIMARY KEY (id, year)) PARTITION BY LIST (year);
CREATE TABLE trips_1 PARTITION OF trips FOR VALUES IN (2024);
CREATE TABLE trips_2 (year int NOT NULL, extra int, id int NOT NULL, no int NOT NULL);
ALTER TABLE trips_2 DROP COLUMN extra;
ALTER TABLE trips ATTACH PARTITION trips_2 FOR VALUES IN (2025);
INSERT INTO trips SELECT i, i % 30 + 1, 2024 + i % 2 FROM generate_series(1, 60) i;
CREATE TABLE legs (trip int, year int, km int NOT NULL, FOREIGN KEY (trip, year) REFERENCES trips (id, year)) PARTITION BY RANGE (km);
CREATE TABLE legs_1 PARTITION OF legs FOR VALUES FROM (0) TO (10);
CREATE TABLE legs_2 PARTITION OF legs DEFAULT;
INSERT INTO legs SELECT id, year, i * 7 FROM trips, generate_series(0, 2) i;
CREATE TABLE stops (leg_no int, km int, trip int, year int NOT NULL) PARTITION BY LIST (year);
CREATE TABLE stops_1 PARTITION OF stops FOR VALUES IN (2024);
CREATE TABLE stops_2 (year int NOT NULL, trip int, extra text, leg_no int, km int);
ALTER TABLE stops_2 DROP COLUMN extra;
ALTER TABLE stops ATTACH PARTITION stops_2 FOR VALUES IN (2025);
ALTER TABLE stops_1 ADD CONSTRAINT one FOREIGN KEY (trip, year) REFERENCES trips (id, year);
ALTER TABLE stops_2 ADD CONSTRAINT two FOREIGN KEY (year, trip) REFERENCES trips (year, id);
INSERT INTO stops SELECT i, i, id, year FROM trips, generate_series(1, 2) i;
SELECT dp_cdp.protect_table('trips', 'shop', 'no');
SELECT dp_cdp.protect_table('legs', 'shop', through => 'trip, year');
SELECT dp_cdp.protect_table('stops', 'shop', through => 'year, trip');
CREATE VIEW travelled AS SELECT t.no AS traveller, l.km AS far, t.year FROM legs l JOIN trips t ON t.id = l.trip AND t.year = l.year;
CREATE VIEW stopped AS SELECT km, year AS y, trip AS t FROM stops;
GRANT SELECT ON travelled, stopped TO analyst1;
SELECT dp_cdp.set_keys('trips', 'year', ARRAY[2024, 2025]);
SELECT dp_cdp.set_keys('stops', 'year', ARRAY[2024, 2025]);
RESET SESSION AUTHORIZATION;
CREATE DOMAIN foreign_text AS text;
ALTER DOMAIN foreign_text OWNER TO other1;

\ir analyst.psql
\ir same.psql
SELECT no_plan();

-- ------------------------------------------------------------------------
-- domains
-- ------------------------------------------------------------------------

SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM customers', 'SELECT count(*) AS n FROM customers WHERE no > 3', 'SELECT count(DISTINCT no) AS n FROM orders',
	'SELECT segment, count(*) AS n FROM customers GROUP BY segment ORDER BY 1',
	'SELECT upper(segment) AS u, count(*) AS n FROM customers WHERE segment <> ''b'' GROUP BY 1 ORDER BY 1',
	'SELECT count(*) AS n, count(price) FILTER (WHERE price > 4.5) AS m FROM orders WHERE mood = ''good''',
	'SELECT mood, count(*) AS n FROM orders GROUP BY mood ORDER BY mood DESC',
	'SELECT segment, mood, count(*) AS n FROM orders o JOIN customers c ON o.no = c.no GROUP BY 1, 2 ORDER BY 1, 2',
	'SELECT title, count(*) AS n FROM customers JOIN segments USING (segment) GROUP BY title ORDER BY 1',
	'SELECT s.segment, count(*) AS n FROM customers c JOIN segments s ON s.segment = c.segment GROUP BY 1 ORDER BY 1',
	'SELECT count(*) AS n FROM (SELECT no, max(price) AS m, sum(price) AS s FROM orders GROUP BY no) q WHERE m > 5 AND s > 7',
	'SELECT count(*) AS n FROM (SELECT customer, max(cost) AS m FROM priced GROUP BY customer HAVING min(mood) = ''bad'') q JOIN customers c ON c.no = q.customer',
	'SELECT count(*) AS n FROM (SELECT DISTINCT customer, mood FROM priced) q',
	'SELECT count(*) FILTER (WHERE CASE WHEN mood = ''good'' THEN cost ELSE -cost END > 1) AS n FROM priced',
	'SELECT count(*) AS n FROM priced WHERE mood IN (''good'', ''worse'') AND cost::int = 4 AND customer IS NOT NULL',
	'SELECT count(*) AS n FROM orders a LEFT JOIN orders b ON a.no = b.no AND a.id < b.id',
	'SELECT coalesce(mood, ''none'') AS m, count(*) AS n FROM orders WHERE mood IS NOT NULL GROUP BY 1 ORDER BY 1',
	'SELECT mood, price > 4 AS p, count(*) AS n FROM orders WHERE price IS NOT NULL AND (mood = ''good'' OR price > 4) GROUP BY 1, 2 ORDER BY 1, 2'
	]) AS q;
SELECT same('SELECT abs(sum(price) - 237) < 9 AS s, abs(avg(price) - 3.95) < 1 AS a, abs(min(price)) < 1 AS l FROM orders', 'aggregates of a domain over numeric');
SELECT same('SELECT pg_typeof(dp_median(price)) AS t, dp_median(price) > 1 AS m FROM orders', 'an answer of the argument''s type', 'SELECT ''cents''::regtype AS t, true AS m');
SELECT matches(asked(q), m, q) FROM (VALUES
	('SELECT count(*) FROM customers WHERE no::customer_no > 3', '^\['),
	('SELECT count(*) FROM orders WHERE price::feeling = ''good''', '^ZC002 .*cast to the domain''s base type'),
	('SELECT count(*) FROM customers c JOIN orders o ON c.no = o.price', '^ZC002'),
	('SELECT count(*) FROM customers c JOIN orders o ON c.no::text = o.no::text', '^ZC002')
	) AS v (q, m);
SELECT matches((run_as_analyst(q)).failure, '^ZC002 grouping by', q) FROM unnest(ARRAY[
	'SELECT no, count(*) FROM customers GROUP BY no', 'SELECT customer, count(*) FROM priced GROUP BY customer']) AS q;
-- a domain of somebody else's is not looked at
ALTER TABLE orders ADD note foreign_text;
SELECT matches(asked('SELECT count(*) FROM orders WHERE note = ''x'''), '^ZC002 .*foreign_text|^ZC004 .*foreign_text', 'a domain of another owner');
-- nor is its condition evaluated
SELECT same('SELECT count(*) AS n FROM customers WHERE segment::text || ''r'' <> ''never''', 'values are those of the base type');

-- ------------------------------------------------------------------------
-- keys of several columns, uuid, text
-- ------------------------------------------------------------------------

SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) AS n, count(DISTINCT person) AS p FROM accounts', 'SELECT count(*) AS n FROM logins', 'SELECT count(*) AS n FROM consents WHERE given',
	'SELECT plan, count(*) AS n FROM accounts JOIN logins USING (tenant, account) GROUP BY plan ORDER BY 1',
	'SELECT count(*) AS n FROM logins l JOIN accounts a ON a.account = l.account AND l.tenant = a.tenant JOIN consents c ON c.person = a.person AND c.topic = ''mail''',
	'SELECT count(*) AS n FROM logins a JOIN logins b ON a.tenant = b.tenant AND a.account = b.account AND a.seq < b.seq',
	'SELECT count(*) AS n FROM (SELECT account, tenant, count(*) AS c FROM logins GROUP BY 1, 2 HAVING count(*) = 3) q',
	'SELECT count(*) AS n FROM logins LEFT JOIN accounts USING (account, tenant) LEFT JOIN consents c USING (person) WHERE topic = ''phone'' AND given',
	'SELECT count(*) AS n, count(DISTINCT email) AS u FROM users', 'SELECT count(*) AS n FROM posts WHERE likes > 2',
	'SELECT count(*) AS n FROM posts p JOIN users u ON p.author = u.email WHERE area = ''n1'''
	]) AS q;
SELECT matches(asked(q), m, q) FROM (VALUES
	('SELECT count(*) FROM logins l JOIN accounts a ON a.account = l.account', '^ZC002 .*l\.tenant = a\.tenant'),
	('SELECT count(*) FROM accounts a JOIN accounts b USING (account)', '^ZC002'),
	-- parts of a key of two rows are no key
	('SELECT count(*) FROM (SELECT a.tenant, b.account, count(*) AS n FROM accounts a JOIN accounts b ON a.person = b.person GROUP BY a.tenant, b.account) q', '^ZC002'),
	('SELECT count(*) FROM consents c JOIN consents d USING (topic)', '^ZC002 .*c\.person = d\.person'),
	('SELECT count(*) FROM posts p JOIN users u ON p.author::char(40) = u.email::char(40)', '^ZC002')
	) AS v (q, m);

-- ------------------------------------------------------------------------
-- partitions and views
-- ------------------------------------------------------------------------

SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM trips', 'SELECT count(*) AS n, count(*) FILTER (WHERE km > 5) AS m FROM legs', 'SELECT count(*) AS n, count(*) FILTER (WHERE km > 1) AS m FROM stops',
	'SELECT year, count(*) AS n FROM stops GROUP BY year ORDER BY 1',
	'SELECT count(*) AS n FROM legs l JOIN trips t ON t.id = l.trip AND t.year = l.year WHERE t.year = 2025',
	'SELECT year, count(*) FILTER (WHERE far > 5) AS n FROM travelled GROUP BY year ORDER BY 1',
	'SELECT count(*) AS n FROM (SELECT traveller, sum(far) AS km FROM travelled GROUP BY 1) q WHERE km > 40',
	'SELECT count(*) AS n FROM stopped WHERE y = 2024',
	'SELECT count(*) AS n FROM stops s JOIN legs l ON s.trip = l.trip AND s.year = l.year WHERE l.km > 0',
	'SELECT count(*) AS n FROM (SELECT t, y, count(*) AS c FROM stopped GROUP BY t, y) q JOIN trips ON id = t AND year = y WHERE c = 2'
	]) AS q;
-- a partition without the key, with another one, and with the key again
CREATE TABLE stops_3 PARTITION OF stops FOR VALUES IN (2026);
SELECT matches(asked('SELECT count(*) FROM stops'), '^ZC004 .*no foreign key', 'a partition that lacks the key');
ALTER TABLE stops_3 ADD CONSTRAINT three FOREIGN KEY (year, trip) REFERENCES trips (id, year);
SELECT matches(asked('SELECT count(*) FROM stops'), '^ZC004 .*several foreign keys', 'one whose key says something else');
ALTER TABLE stops_3 DROP CONSTRAINT three, ADD FOREIGN KEY (trip, year) REFERENCES trips (id, year);
SELECT same('SELECT count(*) AS n FROM stops', 'one that has it');
-- a parent that is a partition
SET SESSION AUTHORIZATION owner1;
CREATE TABLE tickets (trip int, year int, FOREIGN KEY (trip, year) REFERENCES trips_1 (id, year));
SELECT dp_cdp.protect_table('tickets', 'shop', through => 'trip, year');
INSERT INTO tickets SELECT id, year FROM trips_1;
RESET SESSION AUTHORIZATION;
SELECT same(q, q) FROM unnest(ARRAY['SELECT count(*) AS n FROM tickets', 'SELECT count(*) AS n FROM tickets t JOIN trips_1 p ON p.id = t.trip AND p.year = t.year']) AS q;
-- the same rows, by two names
SELECT matches(asked('SELECT count(*) FROM tickets t JOIN trips p ON p.id = t.trip AND p.year = t.year'), '^ZC002|^\[', 'the partition and the whole');

-- ------------------------------------------------------------------------
-- columns that a join makes equal to a key
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
CREATE TABLE baskets (id int PRIMARY KEY, no int NOT NULL, shop int);
CREATE TABLE entries (basket bigint, no int, tag text COLLATE "C", shop int);
INSERT INTO baskets SELECT i, i % 30 + 1, i % 2 FROM generate_series(1, 60) i;
INSERT INTO entries SELECT id, no, chr(96 + i), shop FROM baskets, generate_series(1, 2) i WHERE id <= 50;
SELECT dp_cdp.protect_table('baskets', 'shop', 'no'), dp_cdp.protect_table('entries', 'shop', 'no');
CREATE TABLE places (shop int PRIMARY KEY);
INSERT INTO places VALUES (0), (1);
GRANT SELECT ON places TO analyst1;
RESET SESSION AUTHORIZATION;
SELECT same('SELECT abs(avg(c) - 2) < 0.5 AS a FROM (' || q || ') q', q) FROM unnest(ARRAY[
	'SELECT e.basket, count(*) AS c FROM entries e JOIN baskets b ON b.id = e.basket AND b.no = e.no GROUP BY e.basket',
	'SELECT e.basket, count(*) AS c FROM entries e, baskets b WHERE e.no = b.no AND e.basket = b.id GROUP BY 1',
	'SELECT basket, count(*) AS c FROM entries JOIN (SELECT id AS basket, no FROM baskets) b USING (basket, no) GROUP BY basket',
	'SELECT f.basket, count(*) AS c FROM (SELECT basket, no FROM entries WHERE tag = ''a'') f JOIN entries e USING (basket, no) JOIN baskets b ON b.id = e.basket AND b.no = e.no GROUP BY f.basket'
	]) AS q;
SELECT same('SELECT count(*) AS n FROM (SELECT DISTINCT e.basket FROM entries e JOIN baskets b ON b.id = e.basket AND b.no = e.no) q', 'DISTINCT of such a column');
SELECT matches((run_as_analyst(q)).failure, '^ZC002 grouping by ' || k || ' would show', q) FROM (VALUES
	('SELECT e.basket, count(*) FROM entries e JOIN baskets b ON b.id = e.basket AND b.no = e.no GROUP BY e.basket', '"e.basket"'),
	('SELECT basket, tag, count(*) FROM entries e JOIN baskets b ON b.id = e.basket AND b.no = e.no WHERE e.basket > 3 GROUP BY 1, 2', '"e.basket"'),
	('SELECT e.shop, count(*) FROM entries e JOIN baskets b ON b.no = e.no AND e.shop = b.no GROUP BY 1', 'the privacy unit "e.shop"')
	) AS v (q, k);
-- what holds for some rows only, is compared in another way, or is equal to no key of its own
SELECT matches(asked(q), '^ZC002 .*by privacy unit|^\[', q) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT e.basket, count(*) AS c FROM entries e LEFT JOIN baskets b ON b.id = e.basket AND b.no = e.no GROUP BY e.basket) q',
	'SELECT count(*) FROM (SELECT e.basket, count(*) AS c FROM entries e JOIN baskets b ON b.no = e.no AND (b.id = e.basket OR b.id = 1) GROUP BY e.basket) q',
	'SELECT count(*) FROM (SELECT e.basket, count(*) AS c FROM entries e JOIN baskets b ON b.no = e.no AND b.id <= e.basket GROUP BY e.basket) q',
	'SELECT count(*) FROM (SELECT e.tag, count(*) AS c FROM entries e JOIN baskets b ON b.id = e.basket AND b.no = e.no GROUP BY e.tag) q'
	]) AS q;
-- a public key has its own values
SELECT same('SELECT p.shop, count(*) AS n FROM places p JOIN baskets b ON b.shop = p.shop GROUP BY 1 ORDER BY 1', 'a key of a public table');

SELECT * FROM finish();
