-- Subqueries that compare rows of the same person by more than equality, in all places, and public rows with protected ones; beside plain SQL.

\ir shop.psql

SELECT no_plan();

SELECT as_written(statement) FROM unnest(ARRAY[
	-- EXISTS and IN
	'SELECT EXISTS (SELECT FROM events e WHERE e.customer = o.customer AND e.amount > o.amount), count(*) FROM orders o GROUP BY 1',
	'SELECT NOT EXISTS (SELECT FROM events e WHERE e.customer = o.customer AND e.amount BETWEEN o.amount AND o.amount + 10), count(*) FROM orders o WHERE o.shop > 1 GROUP BY 1',
	'SELECT CASE WHEN EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.id > o.id) THEN ''again'' ELSE ''last'' END, count(*) FROM orders o GROUP BY 1',
	'SELECT CASE WHEN o.id % 3 IN (SELECT p.amount % 4 FROM orders p WHERE p.customer = o.customer AND p.id < o.id) THEN 1 ELSE 0 END, count(*) FROM orders o GROUP BY 1',
	'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.id <> o.id AND p.amount = o.amount)) FROM orders o',
	'SELECT count(*) FROM orders o WHERE o.amount > 80 OR EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.id > o.id AND p.amount > 80)',
	'SELECT EXISTS (SELECT FROM lines m WHERE m."order" = l."order" AND m.id > l.id AND m.n > l.n), count(*) FROM lines l GROUP BY 1',
	'SELECT EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.amount > o.amount GROUP BY p.customer HAVING count(*) > 1), count(*) FROM orders o GROUP BY 1',
	-- one value
	'SELECT (SELECT count(*) FROM orders p WHERE p.customer = o.customer AND p.id < o.id) AS before, count(*) FROM orders o GROUP BY 1',
	'SELECT count(*) FROM orders o WHERE (SELECT count(*) FROM orders p WHERE p.customer = o.customer AND p.id > o.id) > 1',
	'SELECT count(*) FILTER (WHERE o.id = (SELECT max(p.id) FROM orders p WHERE p.customer = o.customer AND p.amount <= o.amount)) FROM orders o',
	'SELECT (SELECT p.kind FROM orders p WHERE p.customer = o.customer AND p.id < o.id ORDER BY p.id DESC LIMIT 1) AS k, count(*) FROM orders o GROUP BY 1',
	-- their noise has a standard deviation of 0.4
	'SELECT round(sum((SELECT count(*) FROM events e WHERE e.customer = c.customer AND e.amount > c.born - 1950)) / 10.0) FROM customers c',
	'SELECT count(*) FILTER (WHERE n > 1), round(sum(n) / 10.0) FROM (SELECT c.customer, (SELECT count(*) FROM orders o WHERE o.customer = c.customer AND o.amount < c.born - 1900) AS n FROM customers c) q',
	-- a person whose value is NULL finds nothing
	'SELECT EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND o.amount < c.born - 1950), count(*) FROM customers c GROUP BY 1',
	-- of views, subqueries, and several entries that name one person
	'SELECT EXISTS (SELECT FROM events e WHERE e.customer = q.customer AND e.amount > q.most), count(*) FROM (SELECT customer, max(amount) AS most FROM orders GROUP BY 1) q GROUP BY 1',
	'WITH q AS (SELECT customer, max(amount) AS most FROM orders GROUP BY 1) SELECT EXISTS (SELECT FROM events e WHERE e.customer = q.customer AND e.amount > q.most), count(*) FROM q GROUP BY 1',
	'SELECT region, EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND e.amount > o.amount), count(*) FROM orders o JOIN customers c USING (customer) GROUP BY 1, 2',
	-- public rows
	'SELECT (SELECT max(s.city) FROM shops s WHERE s.shop <= o.amount / 20), count(*) FROM orders o GROUP BY 1',
	'SELECT count(*) FILTER (WHERE (SELECT s.city FROM shops s WHERE s.shop <= o.shop + 1 ORDER BY s.shop DESC LIMIT 1) = ''north'') FROM orders o',
	'SELECT EXISTS (SELECT FROM shops s WHERE s.shop * 20 > o.amount AND s.city = ''north''), count(*) FROM orders o GROUP BY 1',
	-- LATERAL
	'SELECT q.n > 1, count(*) FROM orders o LEFT JOIN LATERAL (SELECT count(*) AS n FROM events e WHERE e.customer = o.customer AND e.amount < o.amount) q ON true GROUP BY 1',
	'SELECT q.amount IS NULL, count(*) FROM orders o LEFT JOIN LATERAL (SELECT e.amount FROM events e WHERE e.customer = o.customer AND e.amount < o.amount ORDER BY e.amount DESC LIMIT 1) q ON true GROUP BY 1',
	'SELECT count(*) FROM orders o CROSS JOIN LATERAL (SELECT p.amount FROM orders p WHERE p.customer = o.customer AND p.id > o.id ORDER BY p.id LIMIT 2) q']) AS statement;
-- rows that one comparison tells apart and another does not, conditions that NULL may satisfy, and other people's rows
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.rate::text < o.rate::text), count(*) FROM orders o GROUP BY 1',
	'SELECT EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND (o.amount < c.born OR c.born IS NULL)), count(*) FROM customers c GROUP BY 1',
	'SELECT EXISTS (SELECT FROM events e WHERE e.customer = c.customer AND e.amount > o.amount), count(*) FROM customers c LEFT JOIN orders o USING (customer) GROUP BY 1',
	'SELECT EXISTS (SELECT FROM orders p WHERE p.customer > o.customer), count(*) FROM orders o GROUP BY 1',
	'SELECT (SELECT count(*) FROM orders p WHERE p.amount > o.amount), count(*) FROM orders o GROUP BY 1',
	'SELECT (SELECT count(*) FROM orders p WHERE p.customer <> o.customer AND p.amount > o.amount), count(*) FROM orders o GROUP BY 1',
	'SELECT EXISTS (SELECT FROM orders p WHERE p.customer = o.customer AND p.amount > o.amount + random()), count(*) FROM orders o GROUP BY 1',
	'SELECT EXISTS (SELECT FROM orders p WHERE p.customer = q.customer AND p.amount > q.amount), count(*) FROM (SELECT * FROM orders LIMIT 5) q GROUP BY 1']) AS statement;

-- full joins: one side, the other or both may have a row of a person
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT count(*), count(a.n), count(b.n) FROM (SELECT customer, count(*) AS n FROM orders WHERE shop = 1 GROUP BY 1) a FULL JOIN (SELECT customer, count(*) AS n FROM events GROUP BY 1) b USING (customer)',
	'SELECT a.n IS NULL, b.n IS NULL, count(*) FROM (SELECT customer, count(*) AS n FROM orders WHERE shop = 1 GROUP BY 1) a FULL OUTER JOIN (SELECT customer, count(*) AS n FROM events GROUP BY 1) b ON b.customer = a.customer GROUP BY 1, 2',
	'SELECT coalesce(a.n, 0) + coalesce(b.n, 0) AS n, count(*) FROM (SELECT customer, count(*) AS n FROM orders WHERE shop = 1 GROUP BY 1) a FULL JOIN (SELECT customer, count(*) AS n FROM events GROUP BY 1) b USING (customer) GROUP BY 1',
	'SELECT count(*) FROM (SELECT DISTINCT customer FROM orders) a FULL JOIN (SELECT DISTINCT customer FROM events) b USING (customer)',
	'SELECT c.customer IS NULL, o.id IS NULL, count(*) FROM (SELECT * FROM customers WHERE born > 1970) c FULL JOIN orders o USING (customer) GROUP BY 1, 2',
	'SELECT o.id IS NULL, e.kind, count(*) FROM orders o FULL JOIN events e ON e.customer = o.customer AND e.amount = o.amount GROUP BY 1, 2',
	'SELECT x > 2, y, count(*) FROM (SELECT coalesce(a.customer, b.customer) AS u, coalesce(a.n, 0) AS x, b.n AS y FROM (SELECT customer, count(*) AS n FROM orders WHERE shop = 1 GROUP BY 1) a FULL JOIN (SELECT customer, count(*) AS n FROM events GROUP BY 1) b USING (customer)) q GROUP BY 1, 2',
	'WITH a AS (SELECT customer, count(*) AS n FROM orders WHERE shop = 1 GROUP BY 1), b AS (SELECT customer, count(*) AS n FROM events GROUP BY 1) SELECT a.n IS NULL, b.n IS NULL, count(*) FROM a FULL JOIN b USING (customer) GROUP BY 1, 2',
	-- whose is what USING shows
	'SELECT region, count(a.n), count(*) FROM (SELECT customer, count(*) AS n FROM orders WHERE shop = 1 GROUP BY 1) a FULL JOIN (SELECT customer, count(*) AS n FROM events GROUP BY 1) b USING (customer) JOIN customers c USING (customer) GROUP BY 1',
	'SELECT a.n IS NULL, b.n IS NULL, c.born IS NULL, count(*) FROM (SELECT customer, count(*) AS n FROM orders WHERE shop = 1 GROUP BY 1) a FULL JOIN (SELECT customer, count(*) AS n FROM events GROUP BY 1) b USING (customer) FULL JOIN customers c USING (customer) GROUP BY 1, 2, 3',
	'SELECT o.id IS NULL, l.id IS NULL, count(*) FROM (SELECT * FROM orders WHERE shop = 2) o FULL JOIN lines l ON l."order" = o.id GROUP BY 1, 2']) AS statement;
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders o FULL JOIN shops s USING (shop)',
	'SELECT count(*) FROM orders o FULL JOIN events e ON o.amount = e.amount',
	'SELECT count(*) FROM orders o FULL JOIN events e ON o.customer = e.customer AND random() > 0.5',
	'SELECT n, count(*) FROM (SELECT coalesce(a.customer, b.customer) AS u, count(*) AS n FROM orders a FULL JOIN events b USING (customer) GROUP BY 1) q GROUP BY 1',
	'SELECT o, count(*) FROM orders o FULL JOIN events e ON o.customer = e.customer GROUP BY 1',
	'SELECT count(*) FROM (SELECT * FROM orders LIMIT 5) o FULL JOIN events e ON o.customer = e.customer']) AS statement;

SELECT * FROM finish();
