-- LATERAL subqueries over rows of the same person, public rows and the row at
-- hand, and releases for each public row, beside plain SQL.

\ir shop.psql

SELECT no_plan();

CREATE TYPE one_number AS (x int);
ALTER TYPE one_number OWNER TO owner1;

SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT round(avg(q.n), 2) FROM customers c, LATERAL (SELECT count(*) n FROM orders o WHERE o.customer = c.customer) q',
	'SELECT region, count(*) FROM customers c CROSS JOIN LATERAL (SELECT count(*) AS n, max(amount) AS m FROM orders o WHERE o.customer = c.customer) q WHERE q.n > 2 AND q.m > 50 GROUP BY 1',
	'SELECT q.n > 2, count(*) FROM customers c LEFT JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer = c.customer) q ON true GROUP BY 1',
	'SELECT count(*) FROM customers c JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer = c.customer) q ON q.n > 2',
	'SELECT count(*) FROM customers c, LATERAL (SELECT * FROM orders o WHERE o.customer = c.customer AND amount > 30) q',
	'SELECT count(*), count(q.id) FROM customers c LEFT JOIN LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.customer AND amount > 30) q ON true',
	'SELECT q.kind, count(*) FROM customers c CROSS JOIN LATERAL (SELECT kind, amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 1) q GROUP BY 1',
	'SELECT count(*), count(q.amount) FROM customers c LEFT JOIN LATERAL (SELECT kind, amount FROM orders o WHERE o.customer = c.customer ORDER BY id DESC LIMIT 1) q ON true WHERE q.amount > 20 OR q.amount IS NULL',
	'SELECT q.y % 2, count(*) FROM orders o CROSS JOIN LATERAL (SELECT o.amount + 1 AS y) q GROUP BY 1',
	'SELECT q.y, count(*) FROM orders o CROSS JOIN LATERAL (SELECT CASE WHEN o.amount > 50 THEN ''big'' ELSE ''small'' END AS y) q GROUP BY 1',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (SELECT o.amount + 1 AS y) q CROSS JOIN LATERAL (SELECT q.y * 2 AS z) r WHERE r.z > 100',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT kind, count(*) AS n FROM orders o WHERE o.customer = c.customer GROUP BY kind) q WHERE q.n > 1',
	'SELECT s2.city, count(*) FROM orders o CROSS JOIN LATERAL (SELECT city FROM shops s WHERE s.shop = o.shop LIMIT 1) s2 GROUP BY 1',
	'SELECT s2.city, count(*) FROM orders o CROSS JOIN LATERAL (SELECT city FROM shops s WHERE s.shop = o.shop) s2 GROUP BY 1',
	'SELECT count(*) FROM (SELECT c.customer, q.n FROM customers c CROSS JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer = c.customer) q) x WHERE n > 2',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT o.amount - c.born AS d FROM orders o WHERE o.customer = c.customer) q WHERE d < -1900',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT DISTINCT kind FROM orders o WHERE o.customer = c.customer) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT 1 AS one) q',
	'SELECT count(*) FROM customers c JOIN LATERAL (SELECT customer, kind FROM orders) q ON q.customer = c.customer',
	'SELECT count(DISTINCT c.customer) FROM customers c LEFT JOIN orders o USING (customer) CROSS JOIN LATERAL (SELECT coalesce(o.amount, 0) AS a) q WHERE a = 0',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT kind, amount FROM orders o WHERE o.customer = c.customer AND EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND e.amount > o.amount) ORDER BY id LIMIT 1) q WHERE q.amount > 10',
	'SELECT city, count(*) FROM shops s CROSS JOIN LATERAL (SELECT customer FROM orders o WHERE o.shop = s.shop) q GROUP BY 1',
	'SELECT s.city, count(q.customer) FROM shops s LEFT JOIN LATERAL (SELECT customer FROM orders o WHERE o.shop = s.shop AND amount > 88) q ON true GROUP BY 1',
	'SELECT q.n, count(*) FROM orders o CROSS JOIN LATERAL (SELECT count(*) AS n FROM lines l WHERE l."order" = o.id) q GROUP BY 1',
	'SELECT sum(t.s) > 50000 FROM customers c CROSS JOIN LATERAL (SELECT sum(amount) AS s FROM orders o WHERE o.customer = c.customer) t']) AS statement;

-- the first rows of each, and those behind
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*), sum(q.amount) > 100000 FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 2) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT kind, amount FROM orders o WHERE o.customer = c.customer ORDER BY amount DESC, id LIMIT 2 OFFSET 1) q WHERE q.amount > 20',
	'SELECT count(*), count(q.amount) FROM customers c LEFT JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id OFFSET 1) q ON true',
	'SELECT count(*), count(q.amount) FROM customers c LEFT JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id FETCH FIRST 3 ROWS ONLY) q ON q.amount > 20',
	'SELECT region, count(*) FROM customers c, LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer AND amount > 10 ORDER BY id DESC LIMIT 2) q GROUP BY 1',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT ALL OFFSET 0) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 0) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer LIMIT 2) q',
	'SELECT count(*) FROM customers c WHERE (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 1 OFFSET 1) > 30',
	'SELECT count(*) FROM orders o WHERE id IN (SELECT id FROM orders o2 WHERE o2.customer = o.customer ORDER BY id DESC LIMIT 2)',
	'SELECT count(*), count(nullif(q.n, 3)) FROM orders o CROSS JOIN LATERAL (SELECT n FROM lines l WHERE l."order" = o.id ORDER BY id LIMIT 2) q',
	'SELECT count(*), count(nullif(q.n, 3)) FROM orders o CROSS JOIN LATERAL (SELECT n FROM lines l WHERE l."order" = o.id ORDER BY id LIMIT 1) q',
	'SELECT count(*) FROM lines o CROSS JOIN LATERAL (SELECT n FROM lines l WHERE l."order" = o."order" ORDER BY id LIMIT 1) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT n FROM lines l JOIN orders o ON l."order" = o.id WHERE o.customer = c.customer ORDER BY l.id LIMIT 2) q',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (SELECT city FROM shops s WHERE s.shop = o.shop ORDER BY shop LIMIT 2) q']) AS statement;

-- columns of windows that nobody reads, before those that order others
SELECT as_written($$SELECT count(*) FROM (SELECT customer, lead(amount) OVER (PARTITION BY customer ORDER BY shop, id) AS z, min(amount) OVER (PARTITION BY customer, id) AS k FROM orders) t
	JOIN (VALUES (10), (20), (30)) v (x) ON v.x = t.k$$);

-- rows that are made of each: as many, and as much of one person, as of a UNION ALL
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*), count(v.x) FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x)',
	'SELECT v.x > 3, count(*) FROM orders o, LATERAL (SELECT o.amount AS x UNION ALL SELECT o.rate) v GROUP BY 1',
	'SELECT count(*) FROM orders o, unnest(ARRAY[o.amount, o.shop]) v WHERE v > 2',
	'SELECT count(*) FROM (SELECT o.customer, v.x FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x)) q WHERE x > 3',
	'SELECT count(*) FROM (SELECT o.customer, max(v.x) AS m FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x) GROUP BY 1) q WHERE m > 30',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (SELECT o.amount + 1 AS a) q CROSS JOIN LATERAL unnest(ARRAY[q.a, o.shop]) x WHERE x > 7',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x) CROSS JOIN LATERAL (VALUES (v.x), (-v.x)) w (y) WHERE y > 7',
	'SELECT s.city, count(*) FROM shops s CROSS JOIN LATERAL (VALUES (s.shop), (s.shop + 1)) v (x) JOIN orders o ON o.shop = v.x GROUP BY 1',
	'SELECT count(*), count(z.kind) FROM customers c, orders o CROSS JOIN LATERAL (VALUES (c.born), (o.amount)) q (y) LEFT JOIN events z ON z.customer = o.customer AND z.amount = 3 WHERE o.customer = c.customer AND y > 40 AND o.id < 2000',
	'SELECT count(DISTINCT o.customer) FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x) WHERE x IN (SELECT shop FROM shops WHERE city = ''north'')',
	'SELECT k, count(*) FROM orders o CROSS JOIN LATERAL (VALUES (o.kind, 1), (''z'', 2)) v (k, n) WHERE k IS NOT NULL GROUP BY k',
	'SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY customer ORDER BY x) AS n, x FROM orders o, LATERAL (VALUES (amount), (shop)) v (x)) q WHERE n = 1 AND x > 1',
	'SELECT count(*) FROM customers c, LATERAL (VALUES ((SELECT count(*) FROM orders o WHERE o.customer = c.customer)), (c.born)) v (x) WHERE x > 2']) AS statement;
-- ... of which those that match none have one
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*), count(v.x) FROM orders o LEFT JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x) ON v.x > 3',
	'SELECT v.k, count(*) FROM orders o LEFT JOIN LATERAL (VALUES (''a'', o.amount), (''b'', o.shop)) v (k, x) ON v.x > 3 GROUP BY 1',
	'SELECT v.k, count(*) FROM orders o LEFT JOIN LATERAL (VALUES (''a'', o.amount), (''b'', o.shop)) v (k, x) ON v.k = ''a'' GROUP BY 1',
	'SELECT v.k, count(*) FROM orders o LEFT JOIN LATERAL (VALUES (''a'', o.amount), (''b'', o.shop)) v (k, x) ON v.k = ''z'' GROUP BY 1',
	'SELECT v.k, count(*), count(v.x) FROM orders o LEFT JOIN LATERAL (VALUES (''a'', o.amount), (''b'', o.shop), (NULL, 9)) v (k, x) ON v.x > 2 AND o.kind = ''p'' GROUP BY 1',
	'SELECT region, v.k, count(*) FROM customers c LEFT JOIN orders o USING (customer) LEFT JOIN LATERAL unnest(ARRAY[1, 2], ARRAY[o.amount, c.born]) v (k, x) ON v.x > 60 OR o.shop = v.k GROUP BY 1, 2',
	'SELECT count(*), count(x) FROM (SELECT o.customer, v.x FROM orders o LEFT JOIN LATERAL (SELECT o.amount AS x UNION ALL SELECT o.shop) v ON v.x % 2 = 1) q',
	'SELECT count(*), count(w.y) FROM orders o LEFT JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x) ON v.x > 3 LEFT JOIN LATERAL (VALUES (v.x), (-v.x)) w (y) ON w.y > 7']) AS statement;
-- ... in a subquery, of the level around it, which it is compared with
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o, LATERAL (VALUES (o.amount), (c.customer)) v (x) WHERE o.customer = c.customer AND v.x > 700)',
	'SELECT count(*) FROM customers c, LATERAL (SELECT max(v.x) AS m FROM orders o, LATERAL (VALUES (o.amount), (c.customer)) v (x) WHERE o.customer = c.customer) q WHERE q.m > 80',
	'SELECT count(*) FROM customers c WHERE (SELECT count(*) FROM orders o, unnest(ARRAY[o.amount, c.customer]) x WHERE x > 40 AND o.customer = c.customer) > 2']) AS statement;
-- what reads nothing of the row has keys that are known
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT v.k, count(*), count(nullif(v.x, 3)) FROM orders o CROSS JOIN LATERAL (VALUES (''amount'', o.amount), (''shop'', o.shop)) v (k, x) GROUP BY 1',
	'SELECT v.k, round(avg(v.x), -1) FROM orders o, LATERAL (VALUES (1, o.amount), (2, o.amount + 97)) v (k, x) WHERE v.x > 10 GROUP BY 1',
	'SELECT v.k, count(*) FROM orders o, LATERAL (VALUES (''a'', o.amount), (NULL, o.shop), (''a'', 3)) v (k, x) WHERE x > 2 GROUP BY 1',
	'WITH q AS (SELECT o.customer, v.* FROM orders o, LATERAL (VALUES (''a'', o.amount), (''b'', o.shop)) v (k, x)) SELECT k, count(DISTINCT customer) FROM q WHERE x > 2 GROUP BY 1',
	'SELECT n, count(*) FROM orders o, unnest(ARRAY[o.amount, o.shop, 3]) WITH ORDINALITY AS v (x, n) WHERE x > 2 GROUP BY 1',
	'SELECT k, count(x) FROM orders o LEFT JOIN LATERAL unnest(ARRAY[''a'', ''b''], ARRAY[o.amount, o.shop, 3]) AS v (k, x) ON true GROUP BY 1',
	'SELECT k, count(x) FROM customers c JOIN orders o USING (customer) JOIN LATERAL (VALUES (''a'', c.born), (''b'', o.amount), (''c'', customer)) AS v (k, x) ON x > 30 AND region = ''x'' GROUP BY 1',
	'SELECT city, v.k, count(*) FROM orders o JOIN shops s USING (shop) CROSS JOIN LATERAL (VALUES (''north'', 1), (city, 2)) v (k, x) GROUP BY 1, 2',
	'SELECT k, count(*) FROM customers c CROSS JOIN LATERAL (VALUES (c.region), (''z'')) v (k) GROUP BY k']) AS statement;
-- of one person at most max_rows (6) of them are counted
SELECT is(rows_for('analyst1', 'SELECT round(count(*), -2) AS n FROM customers c CROSS JOIN LATERAL (VALUES (1), (c.born), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)) v (x)'),
	'(12000)', 'six rows of each person');
-- where each row is a person, too
SET SESSION AUTHORIZATION owner1;
CREATE TABLE readings (id int PRIMARY KEY, low int NOT NULL);
INSERT INTO readings SELECT i, i % 10 FROM generate_series(1, 3000) i;
SELECT dp_cdp.protect_table('readings', 'shop', each_row => true);
RESET SESSION AUTHORIZATION;
SELECT as_written('SELECT x > 4, count(*) FROM readings CROSS JOIN LATERAL (VALUES (low), (id)) v (x) GROUP BY 1');
SELECT is(rows_for('analyst1', 'SELECT round(count(*), -2) AS n FROM readings, unnest(ARRAY[low, 1, 2, 3, 4, 5, 6, 7])'), '(18000)', 'six rows of each');

-- commas beside joins
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders o, shops s CROSS JOIN LATERAL (SELECT n FROM lines l WHERE l."order" = o.id AND s.shop = o.shop) q',
	'SELECT count(*) FROM customers c, orders o CROSS JOIN LATERAL (SELECT e.amount FROM events e WHERE e.customer = c.customer AND e.amount < 30 ORDER BY e.amount DESC LIMIT 1) q WHERE o.customer = c.customer',
	'SELECT count(*), count(z.kind) FROM customers c, orders o JOIN LATERAL (SELECT c.born + 1 AS y) q ON q.y > 3 LEFT JOIN events z ON z.customer = o.customer AND z.amount < 4 WHERE o.customer = c.customer']) AS statement;

-- a release for each public row
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT city, q.n FROM shops s CROSS JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.shop = s.shop) q',
	'SELECT city, q.n, q.m FROM shops s LEFT JOIN LATERAL (SELECT count(*) AS n, round(avg(amount)) AS m FROM orders o WHERE o.shop = s.shop AND amount > 10) q ON true ORDER BY q.n']) AS statement;

-- what may have several rows of one person, or of several, and what is NULL where an outer join has no row
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT city, q.n FROM shops s CROSS JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.shop IS DISTINCT FROM s.shop) q',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (random()::int)) v (x)',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop) LIMIT 1) v (x)',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (SELECT o.amount AS x UNION SELECT o.shop) v',
	'SELECT count(*) FROM orders o LEFT JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x) ON v.x IN (SELECT customer FROM events)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o, LATERAL (VALUES (o.amount), (c.born)) v (x) WHERE o.customer = c.customer AND v.x > 700)',
	'SELECT count(*) FROM customers c LEFT JOIN (orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x)) ON o.customer = c.customer WHERE v.x IS NULL',
	'SELECT v, count(*) FROM orders o CROSS JOIN LATERAL (VALUES (o.amount), (o.shop)) v (x) GROUP BY 1',
	'SELECT count(*) FROM orders o, unnest(ARRAY[ROW(o.amount)::one_number]) v (x) WHERE x > 3',
	'SELECT count(v.k) FROM orders o, unnest(ARRAY[o]) v (k)',
	'SELECT count(*) FROM customers c, orders o CROSS JOIN LATERAL (VALUES (c.born), (o.amount)) q (y) LEFT JOIN events z ON z.customer = o.customer AND z.amount = q.y WHERE o.customer = c.customer',
	'SELECT count(*) FROM orders o CROSS JOIN (VALUES (1), (2)) v (x)',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL generate_series(1, o.shop) g',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.amount = c.born LIMIT 1) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.amount = c.born ORDER BY id LIMIT 2) q',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (SELECT amount FROM orders e WHERE e.shop = o.shop ORDER BY kind LIMIT 1) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id FETCH FIRST 2 ROWS WITH TIES) q',
	'SELECT count(*) FROM customers c CROSS JOIN LATERAL (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT c.born) q',
	'SELECT count(*) FROM customers c WHERE (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 2) > 30',
	-- a condition of an outer join that would name what the join does not read
	'SELECT count(*) FROM customers c, orders o CROSS JOIN LATERAL (SELECT c.born + 1 AS y) q LEFT JOIN events z ON z.customer = o.customer AND z.amount < q.y WHERE o.customer = c.customer',
	'SELECT count(*) FROM customers c, orders o LEFT JOIN LATERAL (SELECT e.kind FROM events e WHERE e.customer = c.customer) q ON true WHERE o.customer = c.customer',
	'SELECT count(*) FROM customers c LEFT JOIN (orders o CROSS JOIN LATERAL (SELECT o.amount + 1 AS y) q) ON o.customer = c.customer WHERE q.y IS NULL',
	'SELECT count(*) FROM customers c LEFT JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer = c.customer) q ON c.region = ''x'' WHERE q.n IS NULL',
	'SELECT q, count(*) FROM customers c CROSS JOIN LATERAL (SELECT c.born + 1 AS y) q GROUP BY 1']) AS statement;
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT g, q.n FROM shops s CROSS JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.shop = s.shop) q CROSS JOIN LATERAL generate_series(1, q.n) g',
	'SELECT q FROM shops s CROSS JOIN LATERAL (SELECT count(*) AS n FROM orders o WHERE o.shop = s.shop) q']) AS statement;
-- what can be written in their place
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers c JOIN (SELECT customer, amount, row_number() OVER (PARTITION BY customer ORDER BY id) AS n FROM orders) q ON q.customer = c.customer AND q.n <= 2',
	'SELECT count(*) FROM (SELECT customer, amount AS x FROM orders UNION ALL SELECT customer, shop FROM orders) v']) AS statement;

-- constants, which need no LATERAL, and other entries of one row at most repeat nothing
SELECT as_written(statement) FROM unnest(ARRAY[
	'WITH p AS (SELECT 50 AS cutoff) SELECT CASE WHEN o.amount > p.cutoff THEN ''big'' ELSE ''small'' END AS k, count(*) FROM orders o CROSS JOIN p GROUP BY 1',
	'WITH p AS (SELECT 10 AS a, 20 AS b) SELECT count(*) FROM customers c JOIN orders o USING (customer), p WHERE o.amount BETWEEN p.a AND p.b',
	'WITH p AS (SELECT 2 AS rate) SELECT round(sum(o.amount * p.rate) / 2000.0), p.rate FROM orders o JOIN p ON true GROUP BY p.rate',
	'SELECT p.k, region, count(*) FROM customers CROSS JOIN (SELECT ''z'' AS k) p GROUP BY 1, 2 ORDER BY p.k',
	'WITH p AS (SELECT 50 AS cutoff), q AS (SELECT o.*, p.cutoff FROM orders o CROSS JOIN p) SELECT count(*) FROM q WHERE amount > cutoff',
	'WITH p AS (SELECT 50 AS c) SELECT count(*) FILTER (WHERE amount > p.c), (SELECT count(*) FROM orders x, p WHERE x.amount <= p.c) FROM orders, p',
	'SELECT count(*) FROM customers c CROSS JOIN (SELECT 2 AS n) p WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND o.shop > p.n)',
	'SELECT count(*), count(p.one), count(q.two) FROM orders LEFT JOIN (SELECT 1 AS one) p ON amount > 50 LEFT JOIN (SELECT 2 AS two) q ON true',
	'SELECT count(*), count(q.one) FROM customers c LEFT JOIN (SELECT o.customer, p.one FROM orders o CROSS JOIN (SELECT 1 AS one) p WHERE amount > 70) q USING (customer)',
	'SELECT count(*), count(p.one) FROM customers c LEFT JOIN (orders o CROSS JOIN (SELECT 1 AS one) p) ON o.customer = c.customer AND o.amount > 70',
	'SELECT count(*) FROM orders CROSS JOIN (SELECT CURRENT_DATE - date ''2020-01-01'' AS n) p WHERE amount < p.n',
	'SELECT shop, count(*) FROM orders CROSS JOIN (SELECT max(shop) AS m FROM shops) s WHERE shop IN (1, 2, s.m) GROUP BY 1',
	'SELECT s.city, count(*) FROM orders o CROSS JOIN (SELECT city FROM shops ORDER BY shop LIMIT 1) s GROUP BY 1',
	'SELECT count(*), count(s.city) FROM orders o LEFT JOIN (SELECT city FROM shops WHERE shop > 3 FETCH FIRST ROW ONLY) s ON true',
	'SELECT count(*), count(s.city) FROM orders o LEFT JOIN (SELECT city FROM shops WHERE shop > 4 LIMIT 1) s ON 1 = 1',
	'SELECT count(*) FROM orders CROSS JOIN (VALUES (50, 3)) p (cutoff, shop) WHERE amount > cutoff',
	'WITH p (cutoff) AS (VALUES (50)) SELECT CASE WHEN amount > cutoff THEN 1 ELSE 0 END AS k, count(*) FROM orders CROSS JOIN p GROUP BY 1',
	'SELECT s.city, region, count(*) FROM customers LEFT JOIN (SELECT city FROM shops WHERE shop > 3 LIMIT 1) s ON region = ''x'' GROUP BY 1, 2 HAVING count(*) > 9',
	'SELECT s.city, count(*) FROM orders o LEFT JOIN (SELECT city FROM shops WHERE shop > 4 LIMIT 1) s ON true GROUP BY 1',
	'SELECT s.city, count(*) FROM (SELECT city FROM shops WHERE shop > 3 LIMIT 1) s RIGHT JOIN orders o ON o.amount > 50 GROUP BY 1',
	'SELECT round(100.0 * sum(o.amount) / min(t.s)) AS p FROM orders o CROSS JOIN (SELECT sum(amount) AS s FROM orders HAVING (count(1) > 0)) t',
	'SELECT o.shop, round(100.0 * sum(o.amount) / min(t.s)) AS p FROM orders o LEFT JOIN (SELECT sum(amount) AS s FROM orders) t ON true WHERE o.shop > 0 GROUP BY 1',
	'WITH t AS (SELECT sum(amount) AS s FROM orders) SELECT o.shop, round(100.0 * sum(o.amount) / max(t.s)) AS p FROM orders o LEFT JOIN t ON 1 = 1 WHERE o.shop > 0 GROUP BY 1',
	'SELECT round(100.0 * sum(o.amount) / min(t.s)) AS p FROM orders o CROSS JOIN (SELECT a.s * b.n AS s FROM (SELECT sum(amount) AS s FROM orders) a CROSS JOIN (SELECT 2 AS n) b) t',
	'SELECT count(*), count(t.n) FROM orders o LEFT JOIN (SELECT count(*) AS n FROM orders HAVING count(*) < 9) t ON true']) AS statement;
SELECT is(executed_for('analyst1', 'SELECT count(*) FROM orders CROSS JOIN (SELECT $1::int AS c) p WHERE amount > p.c', '50'), '(1950)', 'a parameter');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM orders o CROSS JOIN ' || entry || ' q'), '^ZC002 "q" is joined without a condition', entry) FROM unnest(ARRAY[
	'(SELECT city FROM shops LIMIT 2)', '(SELECT city FROM shops ORDER BY city FETCH FIRST ROW WITH TIES)', '(SELECT city FROM shops LIMIT (SELECT 1))', '(SELECT generate_series(1, 3))',
	'(SELECT generate_series(1, 3) FROM (SELECT 1) a)', '(SELECT 1 UNION ALL SELECT 2)', '(VALUES (1), (2))', '(SELECT count(*) FROM shops GROUP BY GROUPING SETS ((), ()))', '(SELECT count(*) FROM shops GROUP BY city)',
	'(SELECT 1 FROM (SELECT 1 AS a) a FULL JOIN (SELECT 2 AS b) b ON a = b)', '(SELECT city FROM shops WHERE shop < 3)', '(SELECT count(*) FROM orders GROUP BY shop)']) entry;
-- whoever may not read a view does not learn its constants
SET SESSION AUTHORIZATION owner1;
CREATE VIEW cutoffs AS SELECT 50 AS cutoff;
RESET SESSION AUTHORIZATION;
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM orders CROSS JOIN cutoffs WHERE amount > cutoff'), '^42501', 'a view of constants');
GRANT SELECT ON cutoffs TO analyst1;
SELECT as_written('SELECT count(*) FROM orders CROSS JOIN cutoffs WHERE amount > cutoff', '... that may be read');

-- what is written out may double with each of them
SELECT matches(asked('SELECT count(*) FROM customers u CROSS JOIN LATERAL (SELECT u.born AS y) q0' ||
	(SELECT string_agg(format(' CROSS JOIN LATERAL (SELECT q%s.y + q%s.y AS y) q%s', i - 1, i - 1, i), '' ORDER BY i) FROM generate_series(1, 40) i) ||
	' WHERE q40.y > 3'), '^ZC002 LATERAL', 'columns of columns that double 40 times');
SELECT matches(asked('SELECT count(*) FROM customers u CROSS JOIN LATERAL (SELECT u.born AS y) q0' ||
	(SELECT string_agg(format(' CROSS JOIN LATERAL (SELECT count(*) AS y FROM orders o WHERE o.customer = u.customer AND o.amount > q%s.y + q%s.y) q%s', i - 1, i - 1, i), '' ORDER BY i) FROM generate_series(1, 40) i) ||
	' WHERE q40.y > 3'), '^ZC002 LATERAL', 'aggregates of aggregates that double 40 times');

SELECT * FROM finish();
