-- Releases that public rows are joined with: they read the rows of the groups alone that the query's own conditions leave,
-- and answer as without that.

\ir shop.psql

SELECT no_plan();
CREATE ROLE reader1 LOGIN;

SET SESSION AUTHORIZATION owner1;
CREATE TABLE places (amount int, place text NOT NULL, kind text);
INSERT INTO places SELECT i, (ARRAY['in', 'out', 'off'])[1 + i % 3], (ARRAY['p', 'q'])[1 + i % 2] FROM generate_series(0, 99) i;
INSERT INTO places VALUES (NULL, 'in', 'p');
GRANT SELECT ON places TO analyst1;
SELECT dp_cdp.set_budget('shop', 'reader1', rho => 1000000) \g /dev/null
GRANT SELECT ON places, shops, orders TO reader1;
GRANT UPDATE ON places TO reader1;
RESET SESSION AUTHORIZATION;

-- whether a statement, of who may see its plans, reads protected rows of these groups alone
CREATE FUNCTION filtered(statement text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	SET SESSION AUTHORIZATION reader1;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) ' || regexp_replace(statement, '(count\(\*\) AS n|(?<=\(SELECT )(sum|count))', 'dp_\1', 'g') LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RESET SESSION AUTHORIZATION;
	RETURN plan LIKE '%Named Tuplestore Scan%';
END $$;

-- the values that public rows ask for: orders.amount has no declared keys, and those of 90 on no orders
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE place = ''in''',
	'SELECT amount FROM places p WHERE place = ''in'' AND EXISTS (SELECT FROM orders o WHERE o.amount = p.amount AND o.id > 20)',
	'SELECT shop FROM shops s WHERE city IN (SELECT city FROM shops t WHERE (SELECT count(*) FROM orders o WHERE o.amount = t.shop) > 3 AND t.shop < 4)',
	'WITH few AS (SELECT * FROM places WHERE place = ''in'') SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM few p WHERE p.amount < 30',
	'SELECT amount, kind, (SELECT count(*) FROM orders o WHERE o.amount = p.amount AND o.kind = p.kind) FROM places p WHERE amount % 6 = 1',
	'SELECT v.a, (SELECT count(*) FROM orders o WHERE o.amount = v.a) FROM (VALUES (1, 2), (3, 4), (200, 2)) v (a, b) WHERE b < 4']) AS statement;

-- so are values that are NULL where there are no rows, of what a foreign key references
SET SESSION AUTHORIZATION owner1;
CREATE TABLE slots (a int, b text, open bool NOT NULL, PRIMARY KEY (a, b));
INSERT INTO slots SELECT i / 4, chr(65 + i % 4), i % 3 > 0 FROM generate_series(0, 199) i;
CREATE TABLE bookings (customer int NOT NULL, a int, b text, n int NOT NULL, FOREIGN KEY (a, b) REFERENCES slots);
INSERT INTO bookings SELECT 1 + i % 1500, i % 45, chr(65 + i % 3), 1 + i % 5 FROM generate_series(1, 3000) i;
SELECT dp_cdp.protect_table('bookings', 'shop', 'customer'), dp_cdp.set_bounds('bookings', 'n', 0, 5) \g /dev/null
GRANT SELECT ON slots TO analyst1;
RESET SESSION AUTHORIZATION;
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT a, b, coalesce((SELECT sum(n) FROM bookings k WHERE k.a = s.a AND k.b = s.b), 0) > 100 FROM slots s WHERE open AND b < ''D'' AND a < 45',
	'SELECT a, b FROM slots s WHERE a IN (SELECT shop FROM shops WHERE city = ''north'') AND (SELECT 0.5 * sum(n) FROM bookings k WHERE s.b = k.b AND k.a = s.a) > 50']) AS statement;

-- groups that are joined, and values of them that are NULL where there are no rows: they are those that there are without the filter, so that no other place has a number
SELECT line FROM unnest(ARRAY[
	'SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount + 1 = p.amount) FROM places p WHERE place = ''in'' AND amount BETWEEN 1 AND 90',
	'SELECT amount FROM places p WHERE place = ''in'' AND ((SELECT sum(o.amount) FROM orders o WHERE o.amount = p.amount) > 1000) IS NOT FALSE',
	'SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount GROUP BY o.amount) IS NULL FROM places p WHERE place = ''in''',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q USING (amount) WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p LEFT JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p LEFT JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount AND p.kind = ''p'' WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q RIGHT JOIN places p ON q.amount = p.amount WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p JOIN shops s ON s.shop = p.amount JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = s.shop',
	'SELECT p.amount, q.n FROM places p, (SELECT amount + 1 AS a, count(*) AS n FROM orders GROUP BY 1) q WHERE q.a = p.amount AND p.place = ''in'' AND p.amount > 0',
	'SELECT p.amount, q.kind, q.n FROM places p JOIN (SELECT amount, kind, count(*) AS n FROM orders GROUP BY 1, 2) q ON q.amount = p.amount AND q.kind = p.kind WHERE p.amount % 6 = 1',
	'SELECT p.amount, q.kind, q.n FROM places p JOIN (SELECT amount, kind, count(*) AS n FROM orders GROUP BY 1, 2) q ON q.amount = p.amount WHERE p.amount % 6 = 1',
	'SELECT count(*), sum(q.n) FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q USING (amount) WHERE p.amount > 80',
	'SELECT s.city, sum(q.n) FROM shops s LEFT JOIN (SELECT shop, count(*) AS n FROM orders GROUP BY 1) q ON q.shop = s.shop WHERE s.closed IS NULL GROUP BY s.city HAVING count(*) > 0',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.place = ''in'' ORDER BY p.amount DESC LIMIT 3',
	'SELECT DISTINCT p.place, q.n > 45, rank() OVER (ORDER BY p.place) FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.kind = ''p''',
	'SELECT p.amount, q.n FROM places p LEFT JOIN shops s ON s.shop = p.amount LEFT JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE s.shop IS NULL AND p.place = ''in''',
	'SELECT p.amount, q.n FROM places p LEFT JOIN ((SELECT amount, count(*) AS n FROM orders GROUP BY 1) q JOIN shops s ON s.shop = q.amount) ON q.amount = p.amount WHERE p.place = ''in''',
	'SELECT p.amount, q.n, r.n FROM places p LEFT JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount LEFT JOIN (SELECT amount, count(*) AS n FROM orders WHERE id > 20 GROUP BY 1) r ON r.amount = q.amount AND r.amount = p.amount WHERE p.place = ''in''']) AS statement, LATERAL unnest(ARRAY[as_written(statement), ok(filtered(statement), '... filtered')]) AS line;

CREATE FUNCTION price(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole);
BEGIN
	PERFORM rows_for('analyst1', statement);
	RETURN (SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole) - before;
END $$;

-- releases of all that can be released, by keys that are declared and others
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT p.amount, q.n FROM places p JOIN (SELECT u.amount, count(*) AS n FROM (SELECT amount, customer FROM orders WHERE id < 900 UNION ALL SELECT amount, customer FROM orders WHERE id > 3600) u GROUP BY 1) q USING (amount) WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p LEFT JOIN (SELECT o.amount, count(*) AS n FROM orders o JOIN customers c USING (customer) LEFT JOIN shops s ON s.shop = o.shop WHERE s.closed IS NULL GROUP BY 1) q USING (amount) WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT w.amount, count(*) AS n FROM (SELECT amount, row_number() OVER (PARTITION BY customer ORDER BY id) AS r FROM orders) w WHERE r = 1 GROUP BY 1) q USING (amount) WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT w.times, count(*) AS n FROM (SELECT customer, count(*) AS times FROM orders GROUP BY 1) w GROUP BY 1) q ON q.times = p.amount WHERE p.amount < 5',
	'SELECT s.shop, q.n FROM shops s LEFT JOIN (SELECT s.shop, count(o.id) AS n FROM shops s LEFT JOIN orders o USING (shop) GROUP BY 1) q USING (shop) WHERE s.city = ''north''',
	'SELECT s.shop, q.n FROM shops s LEFT JOIN (SELECT o.shop, count(*) AS n FROM orders o WHERE o.kind IS NULL OR EXISTS (SELECT FROM lines l WHERE l."order" = o.id) GROUP BY 1) q USING (shop) WHERE s.city = ''north''',
	'SELECT p.kind, q.n FROM (SELECT DISTINCT kind FROM places WHERE amount < 1) p LEFT JOIN (SELECT k.k, count(*) AS n FROM orders o, unnest(ARRAY[kind, ''p'']) k (k) GROUP BY 1) q ON q.k = p.kind',
	'SELECT p.kind, q.n FROM (SELECT DISTINCT kind FROM places WHERE amount < 1) p LEFT JOIN (SELECT CASE WHEN amount > 50 THEN ''p'' ELSE ''x'' END AS k, count(*) AS n FROM orders GROUP BY 1) q ON q.k = p.kind',
	'SELECT s.shop, q.n FROM shops s JOIN (SELECT shop, count(*) AS n FROM orders GROUP BY 1 HAVING count(*) > 10 ORDER BY 2) q USING (shop) WHERE s.city = ''north''',
	'SELECT s.shop, q.n, q.v FROM shops s JOIN (SELECT shop, count(*) AS n, (SELECT count(*) FROM shops) AS v FROM orders WHERE amount > 5 GROUP BY 1) q USING (shop) WHERE s.city = ''north'' OR s.shop IN (SELECT amount FROM places WHERE place = ''in'')',
	'SELECT q.region, q.n FROM (VALUES (''x'', 1), (''z'', 1), (''y'', 2)) v (r, i) LEFT JOIN (SELECT region, count(*) AS n FROM customers GROUP BY 1) q ON q.region = v.r WHERE v.i = 1',
	'SELECT p.amount, q.n > 2000 FROM places p LEFT JOIN LATERAL (SELECT sum(o.amount) AS n FROM orders o WHERE o.amount = p.amount) q ON true WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p LEFT JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.amount = p.amount) q ON true WHERE p.place = ''in''']) AS statement;

-- what nothing connects is asked for one by one; views, policies, and levels further out
SET SESSION AUTHORIZATION owner1;
CREATE VIEW near WITH (security_barrier) AS SELECT * FROM places WHERE place = 'in';
CREATE TABLE few (amount int NOT NULL, place text NOT NULL);
INSERT INTO few SELECT amount, place FROM places WHERE amount IS NOT NULL;
ALTER TABLE few ENABLE ROW LEVEL SECURITY;
ALTER TABLE few FORCE ROW LEVEL SECURITY;
CREATE POLICY those ON few USING (amount IN (SELECT shop FROM shops));
GRANT SELECT ON near, few TO analyst1, reader1;
RESET SESSION AUTHORIZATION;
SELECT line FROM unnest(ARRAY[
	'SELECT p.amount, q.n, s.city FROM places p JOIN (SELECT amount, shop, count(*) AS n FROM orders GROUP BY 1, 2) q ON q.amount = p.amount JOIN shops s ON s.shop = q.shop WHERE p.place = ''in'' AND s.city = ''north''',
	'SELECT p.amount, q.n FROM near p LEFT JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q USING (amount)',
	'SELECT p.amount, q.n FROM few p LEFT JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q USING (amount) WHERE p.amount < 10',
	'SELECT p.amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM few p WHERE p.place <> ''off''']) AS statement, LATERAL unnest(ARRAY[as_written(statement), ok(filtered(statement), '... filtered')]) AS line;
SELECT as_written('SELECT s.shop, (SELECT sum(x.n) FROM (SELECT (SELECT count(*) FROM orders o WHERE o.amount = p.amount) AS n FROM places p WHERE p.amount < s.shop AND p.place = ''in'') x) FROM shops s');

-- what a filter leaves is at the price of all groups; one of a value for each public row has no keys to select
SELECT is(price('SELECT p.amount, q.n FROM places p LEFT JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q USING (amount) WHERE p.place = ''in'''), price('SELECT amount, count(*) FROM orders GROUP BY 1'), 'the price of all groups');
SELECT is(price('SELECT p.amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE p.place = ''in'''), 5000::numeric, 'that of one count');

-- no limit of public rows, or of what may be held, refuses what was answered without
SET dp_cdp.max_public_rows = 10;
SELECT as_written('SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE place = ''in'' AND amount < 90', 'more rows than may be read beforehand');
RESET dp_cdp.max_public_rows;
SET SESSION AUTHORIZATION owner1;
INSERT INTO places SELECT i, 'far', 'p' FROM generate_series(100, 3000) i;
SELECT dp_cdp.alter_dataset('shop', release_memory => '64kB') \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT as_written('SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE place IN (''far'', ''in'')', 'more than may be held');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('shop', release_memory => 0) \g /dev/null
DELETE FROM places WHERE amount > 99;
RESET SESSION AUTHORIZATION;

-- rows that are locked may be others when they are locked
SELECT ok(NOT filtered('SELECT p.amount, q.n FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.place = ''in'' FOR KEY SHARE OF p'), 'locked rows');

-- parameters, in plans of all kinds
SELECT executed_as_declared('SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE place = $1 AND amount < $2', '''in'', 30');
SET plan_cache_mode = force_generic_plan;
SELECT executed_as_declared('SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE place = $1 AND amount < $2', '''in'', 30');
RESET plan_cache_mode;

-- a pattern, and a quotient that has no value, as outside of the release
SELECT as_declared('SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE place LIKE ''i%'' AND 100 / nullif(p.amount, 0) > 3', 'a pattern');
SELECT is(rows_for('analyst1', 'SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE 100 / p.amount > 30'),
	rows_for('owner1', 'SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE 100 / nullif(p.amount, 0) > 30'), 'a quotient');

-- what is no condition of each row of the group, or might be other rows: all groups stay
SELECT line FROM unnest(ARRAY[
	'SELECT p.amount, q.n FROM places p FULL JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.place = ''in'' OR p.place IS NULL',
	'SELECT q.amount, p.place FROM (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q LEFT JOIN places p ON q.amount = p.amount AND p.place = ''in''',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1 ORDER BY amount LIMIT 7) q ON q.amount = p.amount WHERE p.place = ''in''',
	'SELECT p.amount, q.r FROM places p JOIN (SELECT amount, rank() OVER (ORDER BY amount) AS r, count(*) FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.place = ''in''',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount <= p.amount WHERE p.place = ''in'' AND p.amount < 9',
	'SELECT p.amount, q.n FROM places p JOIN (SELECT amount, count(*) AS n FROM orders GROUP BY 1) q ON q.amount = p.amount WHERE p.place = ''in'' OR q.n > 45']) AS statement, LATERAL unnest(ARRAY[as_written(statement), ok(NOT filtered(statement), '... not filtered')]) AS line;

-- nothing that the asker may not read, and no release, is read a second time
SELECT is(price('SELECT amount, (SELECT count(*) FROM orders o WHERE o.amount = p.amount) FROM places p WHERE place = ''in'''), 5000::numeric, 'one answer');
SELECT is(price('SELECT q.shop, r.n FROM (SELECT shop, count(*) AS n FROM orders GROUP BY 1) q JOIN (SELECT shop, count(*) AS n FROM orders WHERE kind = ''p'' GROUP BY 1) r ON r.shop = q.shop WHERE q.n > 3'), 10000::numeric, 'two releases that are joined');

-- a dataset that keeps answers has one for all filters
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('shop', reuse => '1 day') \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT ok(price('SELECT shop, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s WHERE city = ''north''') > 0, 'bought');
SELECT is(price('SELECT shop, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s WHERE city = ''south'''), 0::numeric, 'kept');

SELECT * FROM finish();
