-- Subqueries in WHERE: those that compare privacy units, or read nothing
-- protected, are answered as plain SQL answers them; the noise is too small to
-- be seen.  Others are refused, for nothing.

\ir shop.psql

SELECT no_plan();

-- of the same unit
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders WHERE customer IN (SELECT customer FROM customers WHERE region = ''x'')',
	'SELECT count(*) FROM orders WHERE customer = ANY (SELECT customer FROM customers WHERE region = ''x'')',
	'SELECT count(*) FROM orders WHERE (customer, kind) IN (SELECT customer, ''p'' FROM customers)',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.customer = o.customer AND region = ''x'')',
	'SELECT region, count(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE c.customer = o.customer AND amount > 30 LIMIT 1) GROUP BY 1',
	'SELECT region, count(*) FROM customers c WHERE EXISTS (SELECT o.* FROM orders o JOIN events e USING (customer) WHERE customer = c.customer AND e.kind = ''buy'') GROUP BY 1',
	'SELECT region, count(*) FROM customers c WHERE NOT EXISTS (SELECT FROM orders o WHERE c.customer = o.customer) GROUP BY 1',
	'SELECT count(*) FROM customers WHERE customer NOT IN (SELECT customer FROM orders WHERE amount > 50)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE c.customer = o.customer) AND EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND kind = ''buy'')
		AND NOT EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND kind = ''leave'')',
	'SELECT count(*) FROM customers c, orders o WHERE c.customer = o.customer AND region = ''y'' AND NOT EXISTS (SELECT FROM events e WHERE e.customer = o.customer)
		AND EXISTS (SELECT FROM orders i WHERE i.customer = c.customer AND i.amount > 80)',
	'SELECT count(*) FROM customers c JOIN orders o USING (customer) WHERE NOT EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND e.amount = o.amount)',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM events e WHERE e.customer = o.customer AND e.amount = o.amount)',
	'SELECT count(*) FROM orders WHERE customer IN (SELECT customer FROM events GROUP BY 1 HAVING count(*) > 2)',
	'SELECT count(*) FROM orders WHERE customer IN (SELECT DISTINCT customer FROM events WHERE customer IN (SELECT customer FROM customers WHERE born > 1980))',
	'SELECT count(*) FROM (SELECT customer, count(*) AS n FROM orders WHERE customer IN (SELECT customer FROM events) GROUP BY 1) q WHERE n > 2',
	'WITH few AS (SELECT customer FROM customers WHERE region = ''x'') SELECT count(*) FROM orders WHERE customer IN (SELECT customer FROM few)',
	'SELECT count(*) FROM orders o WHERE customer IN (SELECT customer FROM events e WHERE e.amount = o.amount)']) AS statement;

-- NULL is not among nothing
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers WHERE born NOT IN (SELECT shop FROM shops WHERE city = ''none'')',
	'SELECT count(*) FROM customers WHERE born NOT IN (SELECT 1950 + shop FROM shops WHERE closed IS NULL AND 1950 + shop IS NOT NULL)',
	'SELECT region, count(*) FROM customers c WHERE born NOT IN (SELECT shop FROM shops WHERE region = ''x'') GROUP BY 1',
	'SELECT count(*) FROM customers c WHERE born NOT IN (SELECT amount FROM events e WHERE e.customer = c.customer AND amount > 60)']) AS statement;

-- compared by more than equality
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.amount > o.amount)',
	'SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.amount > o.amount AND p.id <> o.id)',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM events e WHERE e.customer = o.customer AND e.kind || o.kind = ''buyp'')',
	'SELECT count(*) FROM orders o WHERE amount > ANY (SELECT amount FROM events e WHERE e.customer = o.customer)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND NOT EXISTS (SELECT FROM lines l WHERE l."order" = o.id AND l.n <> 3))',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM shops s WHERE s.shop < o.shop AND s.shop > o.shop - 2)']) AS statement;

-- not in groups
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers WHERE customer NOT IN (SELECT customer FROM events GROUP BY 1 HAVING count(*) > 2)',
	'SELECT region, count(*) FROM customers c WHERE customer NOT IN (SELECT DISTINCT customer FROM orders WHERE amount > 20) GROUP BY 1']) AS statement;

-- looked up by a unique key
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT (SELECT city FROM shops s WHERE s.shop = o.shop) AS city, count(*) FROM orders o GROUP BY 1 HAVING count(*) > 100',
	'SELECT count(*) FROM orders o WHERE (SELECT city FROM shops s WHERE o.shop = s.shop AND s.shop > 1) = ''here''',
	'SELECT (SELECT region FROM customers c WHERE c.customer = o.customer) AS region, count(*) FROM orders o GROUP BY 1',
	'SELECT round(avg((SELECT amount FROM orders o WHERE o.id = l."order"))) FROM lines l',
	'SELECT count(*) FROM (SELECT customer, (SELECT city FROM shops s WHERE s.shop = o.shop) AS city FROM orders o) q WHERE city IS NULL']) AS statement;
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT (SELECT shop FROM shops s WHERE s.city = o.kind), count(*) FROM orders o GROUP BY 1',
	'SELECT (SELECT city FROM shops s WHERE s.shop >= o.shop), count(*) FROM orders o GROUP BY 1',
	'SELECT (SELECT city FROM shops s WHERE s.shop = o.shop OR s.shop = 1), count(*) FROM orders o GROUP BY 1',
	'SELECT (SELECT amount FROM orders p WHERE p.customer = o.customer), count(*) FROM orders o GROUP BY 1',
	'SELECT count(*) FROM orders o WHERE (SELECT s.city FROM shops s, shops r WHERE s.shop = o.shop) = ''x''']) AS statement;

-- of groups of rows, of their first, and two levels further out
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer GROUP BY o.customer HAVING count(*) > 2)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.customer GROUP BY kind HAVING count(*) > 1)',
	'SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer = c.customer GROUP BY shop HAVING sum(amount) > 80)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer HAVING count(*) = 0)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer HAVING count(*) > 2 AND max(amount) > 50)',
	'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer HAVING count(*) > 2 AND max(amount) > 50)) FROM customers c',
	'SELECT region, count(*) FILTER (WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.customer GROUP BY kind HAVING count(*) > 1)) FROM customers c GROUP BY 1',
	'SELECT count(*) FROM orders o WHERE shop IN (SELECT shop FROM orders i WHERE i.customer = o.customer GROUP BY shop HAVING count(*) > 1)',
	'SELECT count(*) FROM customers c WHERE born IN (SELECT DISTINCT 1950 + amount FROM orders o WHERE o.customer = c.customer)',
	'SELECT count(*) FROM customers c WHERE (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 1) > 40',
	'SELECT count(*) FROM customers c WHERE (SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id DESC LIMIT 1) > 40',
	'SELECT round(avg((SELECT amount FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 1))) FROM customers c',
	'SELECT count(*) FROM orders o WHERE o.id = (SELECT id FROM orders i WHERE i.customer = o.customer ORDER BY amount DESC, id LIMIT 1)',
	'SELECT count(*) FROM orders o WHERE o.id IN (SELECT id FROM orders i WHERE i.customer = o.customer ORDER BY amount DESC, id LIMIT 1)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND e.amount > o.amount))',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND NOT EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND e.amount = o.amount))',
	'SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND amount > (SELECT avg(amount) FROM events e WHERE e.customer = c.customer))',
	'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND amount > (SELECT avg(amount) FROM events e WHERE e.customer = c.customer))) FROM customers c',
	'SELECT count(*) FROM customers c WHERE (SELECT count(*) FROM orders o WHERE o.customer = c.customer AND EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND e.kind = ''buy'')) > 1',
	'SELECT count(*) FROM customers WHERE customer NOT IN (SELECT customer FROM orders GROUP BY 1 HAVING count(*) > 2)',
	'SELECT count(*) FROM orders o WHERE shop = (SELECT shop FROM shops s WHERE s.shop >= 2 AND s.shop = o.shop LIMIT 1)',
	'SELECT (SELECT kind FROM orders o WHERE o.customer = c.customer ORDER BY id LIMIT 1) AS first, count(*) FROM customers c GROUP BY 1']) AS statement;

-- within other conditions
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders o WHERE amount > 60 OR customer IN (SELECT customer FROM events)',
	'SELECT count(*) FROM orders o WHERE amount > 60 OR EXISTS (SELECT FROM lines l WHERE l."order" = o.id AND n > 4)',
	'SELECT count(*) FROM orders o WHERE NOT (amount > 60 OR EXISTS (SELECT FROM lines l WHERE l."order" = o.id AND n > 4))',
	'SELECT region, count(*) FROM customers c WHERE CASE WHEN born < 1980 THEN EXISTS (SELECT FROM events e WHERE e.customer = c.customer) ELSE born IS NULL END GROUP BY 1',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM events e WHERE e.customer = c.customer) = (region = ''x'')',
	'SELECT count(*) FROM customers c WHERE NOT (region = ''x'' OR customer IN (SELECT customer FROM orders))',
	'SELECT count(*) FROM orders WHERE kind = ''q'' OR shop IN (SELECT shop FROM shops WHERE city = ''north'')',
	'SELECT count(*) FROM orders o, customers c WHERE (amount > 60 OR EXISTS (SELECT FROM lines l WHERE l."order" = o.id)) AND o.customer = c.customer']) AS statement;

-- groups are those that the conditions allow
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT shop, count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM shops s WHERE s.shop = o.shop AND city = ''north'') AND shop IS NOT NULL GROUP BY 1',
	'SELECT shop, count(*) FROM orders o WHERE shop NOT IN (SELECT shop FROM shops WHERE city = ''north'') GROUP BY 1',
	'SELECT shop, count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM shops s WHERE s.shop = o.shop AND amount > 5) AND shop IS NOT NULL GROUP BY 1',
	'SELECT shop, count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM shops s WHERE s.shop > o.shop) AND shop IS NOT NULL GROUP BY 1',
	'SELECT city, count(*) FROM orders o JOIN shops USING (shop) WHERE NOT EXISTS (SELECT FROM shops s WHERE s.shop = o.shop AND s.city = ''north'') GROUP BY 1',
	'SELECT shop, count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM events e WHERE e.customer = o.customer AND e.amount > o.amount) AND shop IS NOT NULL GROUP BY 1',
	'SELECT shop, count(*) FROM orders o WHERE EXISTS (SELECT FROM shops s WHERE s.shop = o.shop AND city = ''north'' AND amount > 5) GROUP BY 1',
	'SELECT shop, count(*) FROM orders o WHERE shop = 4 OR shop IN (SELECT shop FROM shops WHERE city = ''north'') GROUP BY 1']) AS statement;
SELECT is(rows_for('analyst1', 'SELECT shop, region, count(*) FROM orders o JOIN customers c USING (customer)
	WHERE NOT EXISTS (SELECT FROM shops s WHERE s.shop = o.shop AND city = ''north'' AND region = ''x'') AND shop IS NOT NULL GROUP BY 1, 2'),
	'(1,y,1125) (2,y,0) (3,x,0) (3,y,1125) (4,x,1125) (4,y,0)', 'groups that can have rows, by keys that are compared with each other');
SELECT is(rows_for('analyst1', 'SELECT city, region, count(*) FROM orders o JOIN customers c USING (customer)
	LEFT JOIN shops s ON s.shop = o.shop AND region = ''x'' GROUP BY 1, 2'),
	'(,x,0) (,y,2250) (north,x,1125) (south,x,1125)', 'so those of a left join');

-- along a key
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM lines l WHERE l."order" = o.id AND n > 4)',
	'SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM lines l WHERE l."order" = o.id)',
	'SELECT count(*) FROM orders o WHERE id IN (SELECT "order" FROM lines WHERE n = 3)',
	'SELECT count(*) FROM lines l WHERE EXISTS (SELECT FROM orders o WHERE l."order" = o.id AND amount > 30)']) AS statement;

-- aggregates of the same unit
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT region, count(*) FROM customers c WHERE (SELECT count(*) FROM orders o WHERE o.customer = c.customer) > 2 GROUP BY 1',
	'SELECT region, count(*) FROM customers c WHERE (SELECT count(*) FROM orders o WHERE o.customer = c.customer) = 0 GROUP BY 1',
	'SELECT count(*) FROM customers c WHERE (SELECT sum(amount) FROM orders o WHERE o.customer = c.customer) > 150',
	'SELECT count(*) FROM customers c WHERE (SELECT max(amount) FROM orders o WHERE o.customer = c.customer) IS NULL',
	'SELECT count(*) FROM orders o WHERE amount > (SELECT 0.5 * avg(amount) FROM orders i WHERE i.customer = o.customer)',
	'SELECT count(*) FROM orders o WHERE amount > (SELECT 2 * max(n) FROM lines l WHERE l."order" = o.id)']) AS statement;

-- in aggregates, their filters, and group keys
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM events e WHERE e.customer = c.customer AND e.kind = ''buy'')) FROM customers c',
	'SELECT region, count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.customer = c.customer)), count(*) FROM customers c GROUP BY 1',
	'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer) AND NOT EXISTS (SELECT FROM events e WHERE e.customer = c.customer)),
		count(*) FILTER (WHERE customer IN (SELECT customer FROM events GROUP BY 1 HAVING count(*) > 2)) FROM customers c',
	'SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.customer) THEN 1 ELSE 0 END) FROM customers c',
	'SELECT round(avg((SELECT count(*) FROM orders o WHERE o.customer = c.customer)), 2) FROM customers c',
	'SELECT region, round(avg((SELECT count(*) FROM orders o WHERE o.customer = c.customer AND amount > 40)), 2) AS n FROM customers c
		WHERE EXISTS (SELECT FROM events e WHERE e.customer = c.customer) GROUP BY 1
		HAVING avg((SELECT count(*) FROM orders o WHERE o.customer = c.customer AND amount > 40)) > 1',
	'SELECT round(sum((SELECT sum(amount) FROM orders o WHERE o.customer = c.customer)), -3) FROM customers c',
	'SELECT round(sum(amount - (SELECT min(shop) FROM shops)), -3) FROM orders',
	'SELECT count(*) FILTER (WHERE amount > (SELECT 10 * avg(shop) FROM shops)) FROM orders',
	'SELECT count(*) FILTER (WHERE shop IN (SELECT shop FROM shops WHERE city = ''north'')), count(*) FILTER (WHERE EXISTS (SELECT FROM shops WHERE city = ''none'')) FROM orders',
	'SELECT count(*) FILTER (WHERE amount > (SELECT avg(amount) FROM orders i WHERE i.customer = o.customer)) FROM orders o',
	'SELECT city, count(*) FILTER (WHERE EXISTS (SELECT FROM lines l WHERE l."order" = o.id AND n > 4)) FROM orders o JOIN shops USING (shop) GROUP BY city',
	'SELECT s.city, count(o.id) FILTER (WHERE EXISTS (SELECT FROM events e WHERE e.customer = o.customer)) FROM shops s LEFT JOIN orders o USING (shop) GROUP BY 1',
	'SELECT (SELECT count(*) FROM orders o WHERE o.customer = c.customer) AS n, count(*) FROM customers c GROUP BY 1',
	'SELECT region, EXISTS (SELECT FROM orders o WHERE o.customer = c.customer)::int, count(*) FROM customers c GROUP BY region, EXISTS (SELECT FROM orders o WHERE o.customer = c.customer)::int']) AS statement;
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.customer AND amount > 20) AS buyer, count(*) FROM customers c GROUP BY 1',
	'SELECT customer NOT IN (SELECT customer FROM events) AS k, region, count(*) FROM customers GROUP BY 1, 2',
	'SELECT CASE WHEN EXISTS (SELECT FROM events e WHERE e.customer = c.customer) THEN ''active'' ELSE ''idle'' END AS k, region, count(*) FROM customers c GROUP BY ROLLUP (1, 2)',
	'SELECT GROUPING(CASE WHEN EXISTS (SELECT FROM shops WHERE city = ''north'') THEN 1 END > 0, amount > 30) AS g, CASE WHEN EXISTS (SELECT FROM shops WHERE city = ''north'') THEN 1 END > 0, amount > 30, count(*)
		FROM orders GROUP BY CUBE (CASE WHEN EXISTS (SELECT FROM shops WHERE city = ''north'') THEN 1 END > 0, amount > 30)',
	'SELECT buyer, region, count(*) FROM (SELECT region, EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND amount > 20) AS buyer FROM customers c) q GROUP BY 1, 2']) AS statement;
-- in what subqueries show
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT round(avg(n), 2) FROM (SELECT c.customer, (SELECT count(*) FROM orders o WHERE o.customer = c.customer) AS n FROM customers c) q',
	'WITH s AS (SELECT customer, region, (SELECT count(*) FROM orders o WHERE o.customer = c.customer) AS n,
		(SELECT max(amount) FROM orders o WHERE o.customer = c.customer) AS m FROM customers c) SELECT region, count(*) FILTER (WHERE n > 2 AND m > 50) FROM s GROUP BY 1',
	'SELECT round(avg(k), 2) FROM (SELECT customer, count(*) FILTER (WHERE EXISTS (SELECT FROM lines l WHERE l."order" = o.id)) AS k FROM orders o GROUP BY 1) q',
	'SELECT count(*) FROM (SELECT o.customer, EXISTS (SELECT FROM lines l WHERE l."order" = o.id) AS has, row_number() OVER (PARTITION BY o.customer ORDER BY amount) AS r FROM orders o) q
		WHERE r = 1 AND has']) AS statement;
-- what aggregates are of no rows, and what stands around them
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers c WHERE (SELECT coalesce(sum(amount), 7) FROM events e WHERE e.customer = c.customer) = 7',
	'SELECT count(*) FROM orders o WHERE (SELECT coalesce(sum(amount), 7) - o.amount FROM events e WHERE e.customer = o.customer) > 2',
	'SELECT count(*) FROM customers c WHERE (SELECT count(*) + coalesce(max(amount), 0) FROM events e WHERE e.customer = c.customer) = 0',
	'SELECT count(*) FROM orders o WHERE amount IN (SELECT max(amount) FROM orders i WHERE i.customer = o.customer)',
	'SELECT count(*) FROM orders o WHERE amount NOT IN (SELECT max(amount) FROM orders i WHERE i.customer = o.customer)']) AS statement;
-- by another collation than that by which the subquery would group, several of its rows match one
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT refused('SELECT count(*) FROM orders o WHERE amount > 80 OR EXISTS (SELECT FROM shops s WHERE s.city = o.kind COLLATE blind)');

-- public and released rows
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders WHERE shop IN (SELECT shop FROM shops WHERE city = ''north'')',
	'SELECT shop, count(*) FROM orders WHERE shop IN (SELECT shop FROM shops WHERE city = ''north'') GROUP BY 1',
	'SELECT count(*) FROM orders WHERE shop NOT IN (SELECT shop FROM shops WHERE city = ''north'')',
	'SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM shops s WHERE s.shop = o.shop AND closed IS NULL)',
	'SELECT count(*) FROM orders WHERE rate IN (SELECT v FROM (VALUES (0.5), (0.50), (1.500)) q (v))',
	'SELECT count(*) FROM orders WHERE shop IN (SELECT shop FROM shops ORDER BY shop DESC LIMIT 2)',
	'SELECT count(*) FROM orders WHERE amount > (SELECT 10 * avg(shop) FROM shops)',
	'SELECT count(*) FROM orders WHERE amount > 60 AND EXISTS (SELECT FROM shops WHERE city = ''north'')',
	'SELECT shop, count(*) FROM orders WHERE shop IS NOT NULL AND EXISTS (SELECT FROM shops WHERE city = ''none'') GROUP BY 1',
	'SELECT count(*) FROM orders WHERE (SELECT max(shop) FROM shops) > 3',
	'SELECT count(*) FROM orders WHERE amount BETWEEN (SELECT min(shop) FROM shops) AND 10 * (SELECT max(shop) FROM shops)',
	'WITH m AS (SELECT 10 * max(shop) AS top FROM shops) SELECT count(*) FROM orders WHERE amount > (SELECT top FROM m)',
	'SELECT count(*) FROM orders WHERE kind IN (SELECT kind FROM (SELECT kind, count(*) AS n FROM orders WHERE kind IN (''p'', ''q'') GROUP BY 1) q ORDER BY n DESC, kind LIMIT 1)',
	'SELECT count(*) FROM orders WHERE amount * 4000 < (SELECT count(*) FROM orders)',
	-- a WITH query that is released on the way, and read beside that
	'WITH t AS (SELECT customer, sum(amount) AS s FROM orders GROUP BY 1) SELECT count(*) FROM t WHERE s > (SELECT sum(s) / count(*) / 2 - 0.25 FROM t)',
	'WITH o AS (SELECT * FROM orders), t AS (SELECT customer, sum(amount) AS s FROM o GROUP BY 1), m AS (SELECT sum(s) / count(*) - 0.25 AS mean FROM t)
		SELECT region, count(*) FROM t JOIN m ON s > mean JOIN customers USING (customer) GROUP BY 1',
	'WITH t AS (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY amount, shop) AS n FROM orders) SELECT count(*) FROM t WHERE n * 1000 < (SELECT count(*) FROM t WHERE n = 1)']) AS statement;
SELECT matches(rows_for('analyst1', statement), '^ZC002 WITH query "(t|u)" is joined with protected rows, and would be released more than once', statement) FROM unnest(ARRAY[
	'WITH t AS (SELECT kind, count(*) AS n FROM orders GROUP BY 1), m AS (SELECT avg(n) AS mean FROM t) SELECT count(*) FROM orders JOIN t USING (kind) JOIN m ON amount > mean',
	'WITH u AS (SELECT customer, amount FROM orders WHERE amount > (SELECT avg(amount) FROM orders)) SELECT count(*) FROM u WHERE amount > (SELECT avg(amount) FROM u)',
	'WITH t AS (SELECT o.customer, n FROM orders o JOIN (SELECT kind, count(*) AS n FROM orders GROUP BY 1) k USING (kind)) SELECT count(*) FROM t WHERE n > (SELECT count(*) FROM t)']) AS statement;
SELECT is(rows_for('analyst1', 'SELECT count(*) FROM orders WHERE shop > (SELECT shop FROM shops)'),
	'21000 more than one row returned by a subquery used as an expression; nothing was charged for the private query', 'more than one row, before anything is paid for');

-- aggregates of one group, which is what is compared
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers c WHERE (SELECT count(o.amount) FROM orders o WHERE o.customer = c.customer GROUP BY o.customer) > 2',
	'SELECT count(*) FROM customers c WHERE (SELECT count(*) AS c FROM orders o WHERE o.customer = c.customer AND amount > 60 GROUP BY c.customer) IS NULL',
	'SELECT count(*) FROM customers c WHERE coalesce((SELECT count(*) + 1 FROM events e WHERE e.customer = c.customer AND e.kind = c.region GROUP BY e.kind, e.customer), 0) < 1',
	'SELECT (SELECT count(*) FROM orders o WHERE o.customer = c.customer AND c.born > 1970 GROUP BY 1 + 1, o.customer) AS n, count(*) FROM customers c GROUP BY 1',
	'SELECT count(*) FROM customers c WHERE (SELECT count(*) FROM orders o WHERE o.customer = c.customer) = 0 AND (SELECT count(*) FROM orders o WHERE o.customer = c.customer GROUP BY o.customer) IS NULL']) AS statement;

-- a release for each public row
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s',
	'SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop AND amount > 50), (SELECT sum(amount) > 20000 FROM orders o WHERE s.shop = o.shop AND amount > 50),
		(SELECT round(avg(amount)) FROM orders o WHERE s.shop = o.shop), (SELECT max(amount) FROM orders o WHERE s.shop = o.shop) > 50 FROM shops s WHERE city = ''north''',
	'SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop + 2), (SELECT sum(amount) > 40000 FROM orders o WHERE o.shop = s.shop + 2) FROM shops s',
	'SELECT r, (SELECT count(*) FROM orders o JOIN customers c USING (customer) WHERE c.region = r) FROM (VALUES (''x''), (''y''), (''z''), (NULL)) v (r)',
	'SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop AND s.city = ''north'') FROM shops s',
	'SELECT city, (SELECT round(100.0 * count(*) FILTER (WHERE amount > 50) / count(*)) FROM orders o WHERE o.shop = s.shop) FROM shops s',
	'SELECT city, sum((SELECT count(*) FROM orders o WHERE o.shop = s.shop)) FROM shops s GROUP BY 1 HAVING max((SELECT count(*) FROM orders o WHERE o.shop = s.shop)) > 10',
	'SELECT city FROM shops s WHERE closed IS NULL AND (SELECT count(*) FROM orders o WHERE o.shop = s.shop AND amount > 60) > 10',
	'SELECT sum(n) FROM (SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) AS n FROM shops s) q',
	'SELECT c, (SELECT count(DISTINCT customer) FROM orders o JOIN shops USING (shop) WHERE city = c) AS n FROM (SELECT DISTINCT city AS c FROM shops) x ORDER BY n, c']) AS statement;
-- whether there are rows: more than noise explains
SELECT as_declared(statement, statement) FROM unnest(ARRAY[
	'SELECT shop FROM shops s WHERE EXISTS (SELECT 1 FROM orders o WHERE o.shop = s.shop AND o.id % 4 = 1)',
	'SELECT shop FROM shops s WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.shop = s.shop AND o.id % 4 = 1 LIMIT 1)',
	'SELECT shop, EXISTS (SELECT FROM orders o JOIN customers c USING (customer) WHERE o.shop = s.shop AND c.region = ''x'' AND s.city = ''north'') FROM shops s',
	'SELECT city, count(*) FILTER (WHERE EXISTS (SELECT FROM orders o WHERE o.shop = s.shop AND o.id % 4 = 1)) FROM shops s GROUP BY 1',
	'SELECT shop FROM shops s WHERE city = ''south'' OR EXISTS (SELECT FROM orders o WHERE s.shop = o.shop AND o.id % 4 = 1)',
	'SELECT x FROM generate_series(1, 6) x WHERE EXISTS (SELECT FROM orders o WHERE o.shop = x)',
	'SELECT shop FROM shops s WHERE shop IN (SELECT shop FROM orders WHERE id % 4 = 1)',
	'SELECT shop FROM shops s WHERE shop IN (SELECT o.shop FROM orders o WHERE amount > 3 AND s.city = ''north'')',
	'SELECT shop FROM shops s WHERE EXISTS (SELECT FROM orders o WHERE o.shop = s.shop HAVING count(*) > 1000 AND avg(amount) > 44.5)',
	'SELECT shop FROM shops s WHERE EXISTS (SELECT 1 FROM orders o WHERE o.shop = s.shop GROUP BY o.shop HAVING count(*) > 1000 AND avg(amount) > 44.5)',
	'SELECT shop FROM shops s WHERE NOT EXISTS (SELECT o.shop FROM orders o WHERE o.shop = s.shop GROUP BY o.shop HAVING avg(amount) > 44.5)',
	'SELECT shop, EXISTS (SELECT FROM orders o WHERE o.shop = s.shop GROUP BY o.shop HAVING sum(amount) > 50000) FROM shops s',
	'SELECT x FROM generate_series(1, 6) x WHERE EXISTS (SELECT FROM orders o WHERE o.shop = x GROUP BY o.shop HAVING count(*) < 2000)',
	'SELECT x FROM generate_series(1, 6) x WHERE EXISTS (SELECT FROM orders o WHERE o.shop = x GROUP BY o.shop HAVING count(*) > x * 300)',
	'SELECT shop, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s WHERE EXISTS (SELECT FROM orders o WHERE o.shop = s.shop)']) AS statement;
SELECT as_written('SELECT k, EXISTS (SELECT FROM orders o WHERE o.kind = k) FROM (VALUES (''p''), (''q''), (''z''), (NULL)) v (k)', '... by keys that are selected');
SELECT as_written('SELECT k, (SELECT count(*) FROM orders o WHERE o.kind = k) FROM (VALUES (''p''), (''q''), (''z'')) v (k)', '... by keys that are selected');
-- one release of each aggregate, whatever the number of rows
CREATE FUNCTION price(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT sum(rho_spent) FROM dp_cdp.budgets);
	answer text := rows_for('analyst1', statement);
BEGIN
	RETURN CASE WHEN answer !~ '^[0-9A-Z]{5} ' THEN (SELECT sum(rho_spent) FROM dp_cdp.budgets) - before END;
END $$;
SELECT is(price('SELECT shop FROM shops s WHERE EXISTS (SELECT FROM orders o WHERE o.shop = s.shop GROUP BY o.shop HAVING sum(amount) > 50000)'), 5000.0,
	'what HAVING says of a group costs what it reads');
SELECT is(price('SELECT shop FROM shops s WHERE EXISTS (SELECT FROM orders o WHERE o.shop = s.shop GROUP BY o.shop HAVING coalesce(sum(amount), 0) < 50000)'), 10000.0,
	'... and a count, where it may be true of no rows');
SELECT is(price('SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s'), 5000.0, 'one charge');
SELECT is(price('SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) > 5, (SELECT count(*) + sum(amount) FROM orders o WHERE o.shop = s.shop) FROM shops s'), 10000.0,
	'... of each aggregate');
SELECT is(price('SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) FROM shops s WHERE EXISTS (SELECT FROM orders o WHERE o.shop = s.shop)'), 5000.0,
	'... also where it is asked whether there are rows');
SELECT is(price('SELECT city FROM (SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop) AS n FROM shops s) q'), 0.0, '... of what is read');

-- what means something else
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders WHERE kind IN (SELECT kind FROM events)',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM events e WHERE e.amount = o.amount)',
	'SELECT count(*) FROM orders WHERE EXISTS (SELECT FROM events)',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM events e WHERE e.customer <> o.customer)',
	'SELECT count(*) FROM orders o WHERE amount > 60 OR EXISTS (SELECT FROM events e WHERE e.customer > o.customer)',
	'SELECT count(*) FROM orders o WHERE NOT (amount > 60 AND shop IN (SELECT shop FROM shops))',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM events e WHERE e.customer = o.customer OR o.amount = 1)',
	'SELECT count(*) FROM customers WHERE born NOT IN (SELECT amount FROM orders)',
	'SELECT count(*) FROM customers WHERE customer NOT IN (SELECT born FROM customers)',
	'SELECT count(*) FROM orders o WHERE (SELECT count(*) FROM events e WHERE e.amount < o.amount) > 2',
	'SELECT city, (SELECT count(*) FROM orders o WHERE o.shop IS DISTINCT FROM s.shop) FROM shops s',
	'SELECT count(*) FROM customers c WHERE (SELECT count(*) FROM orders o WHERE o.customer = c.customer GROUP BY o.kind) > 2',
	'SELECT count(*) FROM customers c WHERE (SELECT count(*) FROM orders o WHERE o.customer = c.customer GROUP BY o.customer, o.id) > 2',
	'SELECT count(*) FROM customers c WHERE (SELECT o.customer + count(*) FROM orders o WHERE o.customer = c.customer GROUP BY o.customer) > 2',
	'SELECT city FROM shops s WHERE EXISTS (SELECT FROM orders o WHERE o.shop IS DISTINCT FROM s.shop)',
	'SELECT city FROM shops s WHERE shop NOT IN (SELECT shop FROM orders)',
	'SELECT city, shop IN (SELECT shop FROM orders) FROM shops s',
	'SELECT city, (SELECT count(*) FROM orders o WHERE o.shop = s.shop OR s.city = ''north'') FROM shops s',
	'SELECT city, (SELECT amount FROM orders o WHERE o.shop = s.shop) FROM shops s',
	'SELECT g, (SELECT count(*) FROM orders o WHERE o.customer = g) FROM generate_series(1, 3) g',
	'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM events)) FROM orders',
	'SELECT sum((SELECT count(*) FROM events e WHERE e.amount < o.amount)) FROM orders o',
	'SELECT EXISTS (SELECT FROM events e WHERE e.customer <> o.customer), count(*) FROM orders o GROUP BY 1',
	'SELECT count(*) FROM orders o WHERE customer IN (SELECT customer FROM events e ORDER BY amount LIMIT 5)',
	'SELECT count(*) FROM orders o WHERE amount > (SELECT amount FROM events e WHERE e.kind = o.kind LIMIT 1)',
	'SELECT city, (SELECT amount FROM orders o WHERE o.shop = s.shop LIMIT 1) FROM shops s',
	'SELECT count(*) FROM orders o WHERE (SELECT amount FROM events e WHERE e.customer = o.customer ORDER BY amount FETCH FIRST ROW WITH TIES) > 2',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM events e WHERE e.customer > o.customer HAVING count(*) > 2)',
	'SELECT count((SELECT 1 FROM events e WHERE e.customer = o.customer)) FROM orders o']) AS statement;
-- strings of no collation
CREATE TABLE names (shop int, a text COLLATE "C", b text COLLATE "POSIX");
GRANT SELECT ON names TO analyst1;
SELECT matches(asked('SELECT count(*) FROM (SELECT o.*, n.a || n.b AS t FROM orders o JOIN names n USING (shop)) o
	WHERE EXISTS (SELECT FROM (SELECT a || b AS t FROM names) c WHERE c.t = o.t AND EXISTS (SELECT FROM (SELECT a || b AS t FROM names) d WHERE d.t = o.t))'),
	'^ZC002 a comparison of strings without a definite collation', 'no catalogue is asked for collation 0');
-- what aggregates are of no rows: 0, NULL, or not known
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders o WHERE (SELECT count(s.closed) FROM shops s WHERE s.shop = o.shop AND s.city = ''x'') = 0',
	'SELECT count(*) FROM orders o WHERE (SELECT regr_count(s.shop, s.shop) FROM shops s WHERE s.shop = o.shop AND s.city = ''x'') = 0',
	'SELECT count(*) FROM orders o WHERE (SELECT DISTINCT ON (1) count(*) FROM lines l WHERE l."order" = o.id) > 1',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT DISTINCT ON (1) 1 FROM orders o WHERE o.customer = c.customer HAVING count(*) > 1)',
	'SELECT count(*) FROM orders o WHERE (SELECT string_agg(s.city, '','') FROM shops s WHERE s.shop = o.shop AND s.city = ''north'') IS NULL']) AS statement;
CREATE AGGREGATE one_more(int) (SFUNC = int4pl, STYPE = int, INITCOND = 1);
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders o WHERE (SELECT rank(0) WITHIN GROUP (ORDER BY s.shop) FROM shops s WHERE s.shop = o.shop AND s.city = ''x'') = 1',
	'SELECT count(*) FROM orders o WHERE (SELECT one_more(s.shop) FROM shops s WHERE s.shop = o.shop AND s.city = ''x'') = 1']) AS statement;

-- what to write in their place, and that it is answered
SELECT matches(asked(statement), '^ZC002 .*' || message, statement) FROM (VALUES
	('SELECT count(*) FROM orders WHERE amount IN (SELECT max(amount) FROM orders GROUP BY customer)', 'compare orders.customer, too: .orders.customer, .... IN .SELECT orders.customer, ....'),
	('SELECT count(*) FROM orders WHERE amount IN (SELECT amount FROM orders)', 'rename it in the subquery'),
	('SELECT count(*) FROM orders o WHERE amount IN (SELECT amount FROM events)', 'add o.customer = events.customer to the subquery''s WHERE'),
	('SELECT count(*) FROM orders WHERE amount NOT IN (SELECT born FROM customers)', 'NOT IN with a subquery .* write NOT EXISTS'),
	('SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer >= c.customer GROUP BY kind)', 'add o.customer = c.customer to the subquery''s WHERE'),
	('SELECT count(*) FROM customers c WHERE (SELECT amount FROM orders o WHERE o.customer = c.customer LIMIT 2) > 2', 'join a subquery that groups by the privacy unit, or has DISTINCT ON it')
	) AS statements(statement, message);
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders WHERE customer > 0 AND (orders.customer, amount) IN (SELECT orders.customer, max(amount) FROM orders GROUP BY customer)',
	'SELECT count(*) FROM orders WHERE customer > 0 AND amount IN (SELECT amount FROM orders o WHERE o.customer = orders.customer)']) AS statement;

-- WITH queries that nobody refers to are not run
SELECT as_written(statement) FROM unnest(ARRAY[
	'WITH raw AS (SELECT * FROM customers) SELECT count(*) FROM orders',
	'WITH raw AS MATERIALIZED (SELECT * FROM customers), again AS (SELECT * FROM orders) SELECT region, count(*) FROM customers GROUP BY 1',
	'WITH raw AS (SELECT customer FROM orders) SELECT 1 AS one']) statement;
SELECT * FROM finish();
