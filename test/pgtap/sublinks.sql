-- EXISTS, NOT EXISTS and IN over subqueries, at negligible noise beside plain SQL.

SET client_min_messages = error;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop', default_rho => 6000, max_groups => 4, max_rows => 6, delta => 0.01);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1e6, delta => 0.01);
CREATE TABLE customers (cust int PRIMARY KEY, segment text NOT NULL, email varchar(20));
INSERT INTO customers SELECT i, (ARRAY['a', 'b', 'c'])[i % 3 + 1], 'm' || i FROM generate_series(1, 40) i;
CREATE TABLE orders (id int PRIMARY KEY, cust int REFERENCES customers, amount int NOT NULL, region text);
INSERT INTO orders SELECT i, CASE WHEN i % 11 <> 0 THEN i % 25 + 1 END, i % 13, (ARRAY['n', 's', NULL])[i % 3 + 1] FROM generate_series(1, 70) i;
CREATE TABLE lines (id int PRIMARY KEY, oid bigint REFERENCES orders, qty int NOT NULL);
INSERT INTO lines SELECT i, CASE WHEN i % 17 <> 0 THEN i % 50 + 1 END, i % 7 FROM generate_series(1, 120) i;
CREATE TABLE visits (cust int, day int);
INSERT INTO visits SELECT nullif(i % 30, 0), i % 9 FROM generate_series(1, 60) i;
CREATE TABLE regions (region text PRIMARY KEY, zone text, pop int);
INSERT INTO regions VALUES ('n', 'cold', 1), ('e', 'cold', 2), ('s', 'warm', 3);
CREATE TABLE holidays (day int, name text);
INSERT INTO holidays VALUES (1, 'x'), (1, 'y'), (4, 'x'), (NULL, 'z');
SELECT dp_cdp.protect_table('customers', 'shop', 'cust'), dp_cdp.protect_table('orders', 'shop', 'cust'),
	dp_cdp.protect_table('lines', 'shop', through => 'oid'), dp_cdp.protect_table('visits', 'shop', 'cust');
SELECT dp_cdp.set_keys('customers', 'segment', ARRAY['a', 'b', 'c']), dp_cdp.set_keys('orders', 'region', ARRAY['n', 's', NULL]);
CREATE VIEW large AS SELECT * FROM orders o WHERE EXISTS (SELECT FROM lines l WHERE l.oid = o.id AND qty > 3);
GRANT SELECT ON regions, holidays, large TO analyst1;
RESET SESSION AUTHORIZATION;
\ir analyst.psql
\ir same.psql
SELECT no_plan();
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	RETURN QUERY EXECUTE 'EXPLAIN ' || query;
	EXECUTE 'RESET SESSION AUTHORIZATION';
END $$;

-- rows of the same person
SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust = c.cust LIMIT 0)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust = c.cust OFFSET 2)',
	'SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT FROM orders o WHERE o.cust = c.cust OFFSET 2)',
	'SELECT count(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cust)',
	'SELECT segment, count(*) AS n FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE c.cust = o.cust AND o.amount > 5 LIMIT 1) GROUP BY 1 ORDER BY 1',
	'SELECT count(*) AS n FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cust)',
	'SELECT count(*) AS n FROM customers c WHERE segment <> ''a'' AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cust AND amount > 7) AND EXISTS (SELECT FROM visits v WHERE v.cust = c.cust)',
	'SELECT count(*) AS n FROM customers WHERE cust IN (SELECT cust FROM orders WHERE amount > 9)',
	'SELECT count(*) AS n FROM customers WHERE cust IN (SELECT cust FROM orders GROUP BY cust HAVING count(*) > 2)',
	'SELECT count(*) AS n FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust = c.cust GROUP BY o.cust HAVING count(*) > 2)',
	'SELECT count(*) AS n FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust = c.cust AND EXISTS (SELECT FROM visits v WHERE v.cust = c.cust AND v.day > o.amount))',
	'SELECT count(*) AS n FROM customers c WHERE c.cust IN (SELECT o.cust FROM orders o JOIN visits v ON v.cust = o.cust WHERE v.day = 3 OR o.amount = 2)',
	'SELECT count(*) AS n FROM customers c WHERE EXISTS (SELECT FROM orders o JOIN lines l ON l.oid = o.id WHERE o.cust = c.cust AND l.qty > 4)',
	'SELECT count(*) AS n FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust = c.cust AND EXISTS (SELECT FROM lines l WHERE l.oid = o.id AND l.qty > 4))',
	'SELECT count(*) AS n FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust = c.cust AND NOT EXISTS (SELECT FROM lines l WHERE l.oid = o.id))',
	'SELECT region, count(*) AS n FROM orders o JOIN customers c ON c.cust = o.cust WHERE EXISTS (SELECT FROM visits v WHERE v.cust = o.cust AND v.day > 5) GROUP BY region ORDER BY 1',
	'SELECT count(*) AS n FROM (SELECT c.cust, count(*) AS k FROM customers c JOIN visits v USING (cust) WHERE NOT EXISTS (SELECT FROM orders o WHERE o.cust = c.cust) GROUP BY c.cust) q WHERE k > 1'
	]) AS q;
-- along a key; rows of nobody do not count
SELECT same(q, q, replace(q, 'FROM orders o WHERE', 'FROM orders o WHERE cust IS NOT NULL AND')) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM orders o WHERE EXISTS (SELECT * FROM lines l WHERE l.oid = o.id AND l.qty < 3)',
	'SELECT count(*) AS n FROM orders o WHERE NOT EXISTS (SELECT * FROM lines l WHERE l.oid = o.id AND l.qty < 3)',
	'SELECT count(*) AS n FROM orders o WHERE o.id IN (SELECT oid FROM lines GROUP BY oid HAVING sum(qty) > 7)',
	'SELECT count(*) AS n FROM orders o WHERE o.amount > 3 AND EXISTS (SELECT FROM lines l WHERE l.oid = o.id AND o.amount > 5)'
	]) AS q;
SELECT same('SELECT count(*) AS n FROM lines l WHERE l.oid IN (SELECT id FROM orders WHERE amount > 6)', 'a child of such a parent',
	'SELECT count(*) AS n FROM lines l JOIN orders o ON o.id = l.oid WHERE amount > 6 AND cust IS NOT NULL');
SELECT same('SELECT count(*) AS n FROM large', 'below a view', 'SELECT count(*) AS n FROM large WHERE cust IS NOT NULL');
-- public rows
SELECT same(q, q, replace(q, 'FROM orders o WHERE', 'FROM orders o WHERE cust IS NOT NULL AND')) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM orders o WHERE region IN (SELECT region FROM regions WHERE zone = ''cold'')',
	'SELECT count(*) AS n FROM orders o WHERE EXISTS (SELECT FROM regions r WHERE r.region = o.region AND pop > 2)',
	'SELECT count(*) AS n FROM orders o WHERE NOT EXISTS (SELECT FROM regions r WHERE r.region = o.region AND pop > 2)',
	'SELECT count(*) AS n FROM orders o WHERE region IN (SELECT max(region) FROM regions GROUP BY zone)',
	'SELECT count(*) AS n FROM orders o WHERE region IN (SELECT region FROM regions ORDER BY pop LIMIT 1)',
	'SELECT count(*) AS n FROM orders o WHERE region IN (SELECT ''n'' UNION SELECT ''e'')',
	'SELECT count(*) AS n FROM orders o WHERE (region, amount) IN (SELECT region, pop FROM regions)',
	'SELECT count(*) AS n FROM orders o WHERE amount IN (SELECT g FROM generate_series(1, 4) g)'
	]) AS q;
SELECT same(q, q, replace(q, 'FROM visits v WHERE', 'FROM visits v WHERE cust IS NOT NULL AND')) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM visits v WHERE day IN (SELECT day FROM holidays)', 'SELECT count(*) AS n FROM visits v WHERE EXISTS (SELECT FROM holidays h WHERE h.day = v.day AND name = ''x'')',
	'SELECT count(*) AS n FROM visits v WHERE NOT EXISTS (SELECT FROM holidays h WHERE h.day = v.day)',
	'WITH h AS (SELECT day FROM holidays WHERE name = ''x'') SELECT count(*) AS n FROM visits v WHERE day IN (SELECT day FROM h)',
	'WITH h AS (SELECT day FROM holidays WHERE name = ''x'') SELECT count(*) AS n FROM visits v WHERE day IN (SELECT day FROM h LIMIT 5)'
	]) AS q;
-- where there is one row of a unit, whether it has others costs no noise
SELECT is((SELECT string_agg(substring(line FROM 'stddev=[0-9.]+'), '') FROM explained($$SELECT dp_count(*) FROM customers c WHERE segment IN (SELECT 'a')
	AND EXISTS (SELECT FROM orders o WHERE o.cust = c.cust) AND NOT EXISTS (SELECT FROM regions r WHERE r.region = c.email)$$) AS line),
	(SELECT string_agg(substring(line FROM 'stddev=[0-9.]+'), '') FROM explained('SELECT dp_count(*) FROM customers') AS line), 'a row is not repeated');
-- one value, which is computed before
SELECT same(q, q, replace(q, 'FROM orders o WHERE', 'FROM orders o WHERE cust IS NOT NULL AND')) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM orders o WHERE amount > (SELECT max(pop) FROM regions)',
	'SELECT count(*) AS n FROM orders o WHERE amount BETWEEN (SELECT min(pop) FROM regions) AND 2 * (SELECT max(day) FROM holidays)',
	'SELECT count(*) AS n FROM orders o WHERE amount > (SELECT max(pop) FROM regions WHERE zone = ''none'')',
	'SELECT region, count(*) AS n FROM orders o WHERE (region >= (SELECT max(region) FROM regions) OR amount = 3) GROUP BY 1 ORDER BY 1'
	]) AS q;
SELECT same('SELECT count(*) AS n FROM customers WHERE cust > (SELECT count(*) FROM customers WHERE segment = ''a'')', 'a released value');
-- released rows
SELECT same('SELECT segment, count(*) AS n FROM customers WHERE segment IN (SELECT segment FROM customers GROUP BY segment ORDER BY count(*) DESC, 1 LIMIT 1) GROUP BY 1',
	'the groups that a release says are largest');

-- conditions of joins
SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM customers c JOIN orders o ON o.cust = c.cust AND o.amount > (SELECT avg(pop) FROM regions)',
	'SELECT count(*) AS n FROM customers c JOIN orders o ON o.cust = c.cust AND EXISTS (SELECT FROM lines l WHERE l.oid = o.id AND qty > 3)',
	'SELECT count(*) AS n FROM customers c JOIN orders o ON o.cust = c.cust AND o.region NOT IN (SELECT region FROM regions WHERE zone = ''cold'') LEFT JOIN regions r USING (region)',
	'SELECT count(*) AS n FROM customers c JOIN orders o ON o.cust = c.cust AND o.amount = (SELECT max(p.amount) FROM orders p WHERE p.cust = c.cust)',
	'SELECT segment, count(o.id) AS n FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND o.amount > 2 * (SELECT max(pop) FROM regions) GROUP BY 1 ORDER BY 1',
	'SELECT segment, count(o.id) AS n FROM orders o RIGHT JOIN customers c ON o.cust = c.cust AND o.amount > 2 * (SELECT max(pop) FROM regions) GROUP BY 1 ORDER BY 1',
	'SELECT count(o.id) AS n FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND o.amount > (SELECT count(*) / 10 FROM orders WHERE cust IS NOT NULL)',
	'SELECT count(*) AS n, count(r.zone) AS zones FROM customers c JOIN orders o ON o.cust = c.cust LEFT JOIN regions r ON r.region = o.region AND r.pop > (SELECT avg(pop) FROM regions)',
	'SELECT count(*) AS n FROM customers c LEFT JOIN (orders o JOIN regions r ON r.region = o.region AND r.pop < (SELECT max(pop) FROM regions)) ON o.cust = c.cust']) AS q;
SELECT is(asked('SELECT count(*) FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND o.amount > (SELECT pop FROM regions)'),
	'21000 more than one row returned by a subquery used as an expression; nothing was charged for the private query', 'more than one value');

-- rows of nobody are left out, so that their NULLs are among nothing
SELECT same('SELECT count(*) AS n FROM customers WHERE cust NOT IN (SELECT cust FROM visits WHERE day > 3)', 'NOT IN of a unit that may be NULL',
	'SELECT count(*) AS n FROM customers WHERE cust NOT IN (SELECT cust FROM visits WHERE day > 3 AND cust IS NOT NULL)');

-- a NULL that the subquery shows leaves no row of the same person, or, of a public table, of anybody
SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM customers c WHERE segment NOT IN (SELECT nullif(o.region, ''n'') FROM orders o WHERE o.cust = c.cust)',
	'SELECT count(*) AS n FROM customers c WHERE nullif(segment, ''a'') NOT IN (SELECT nullif(o.region, ''s'') FROM orders o WHERE o.cust = c.cust AND o.amount > 5)',
	'SELECT count(*) AS n FROM orders o WHERE o.cust IS NOT NULL AND amount NOT IN (SELECT nullif(p.amount, 3) FROM orders p WHERE p.cust = o.cust AND p.amount < 7)',
	'SELECT count(*) AS n FROM orders o WHERE cust IS NOT NULL AND amount NOT IN (SELECT nullif(i, 4) FROM generate_series(3, 5) i)',
	'SELECT count(*) AS n FROM orders o WHERE cust IS NOT NULL AND amount NOT IN (SELECT nullif(i, 9) FROM generate_series(3, 5) i)',
	'SELECT count(*) AS n FROM orders o WHERE cust IS NOT NULL AND amount NOT IN (SELECT nullif(i, 4) FROM generate_series(3, 2) i)']) AS q;

SELECT same('SELECT count(*) AS n FROM (SELECT c.cust, o.cust AS x FROM customers c LEFT JOIN orders o ON o.cust = c.cust
	INTERSECT SELECT c.cust, e.cust FROM customers c LEFT JOIN orders e ON e.cust = c.cust AND e.amount = 3) q', 'INTERSECT of a unit that an outer join makes NULL');

-- equal or both NULL, as tools write IS NOT DISTINCT FROM; rows of nobody are left out
SELECT same(q, q, q || ' AND o.cust IS NOT NULL') FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM orders o JOIN visits v ON o.cust = v.cust OR (o.cust IS NULL AND v.cust IS NULL) WHERE true',
	'SELECT count(*) AS n FROM orders o JOIN visits v ON ((v.cust IS NULL) AND (o.cust IS NULL)) OR (v.cust = o.cust) WHERE day > 3',
	'SELECT count(*) AS n, count(v.cust) AS m FROM orders o LEFT JOIN visits v ON (o.cust = v.cust OR NOT (o.cust IS NOT NULL OR v.cust IS NOT NULL)) AND day > 3 WHERE true',
	'SELECT count(*) AS n FROM orders o JOIN (SELECT cust, max(day) AS m FROM visits GROUP BY 1) v ON (o.cust = v.cust OR o.cust IS NULL AND v.cust IS NULL) AND (o.amount = v.m OR o.amount IS NULL AND v.m IS NULL) WHERE true',
	'SELECT count(*) AS n FROM orders o JOIN lines l ON o.id = l.oid OR (o.id IS NULL AND l.oid IS NULL) WHERE true',
	'SELECT count(*) AS n FROM orders o WHERE EXISTS (SELECT FROM visits v WHERE v.cust = o.cust OR v.cust IS NULL AND o.cust IS NULL)',
	-- of values
	'SELECT count(*) AS n FROM orders o WHERE (region = upper(region) OR region IS NULL AND upper(region) IS NULL)',
	'SELECT count(*) AS n FROM orders o WHERE (region = ''n'' OR amount = nullif(cust, 3) OR nullif(cust, 3) IS NULL AND amount IS NULL)',
	'SELECT count(*) AS n FROM orders o WHERE NOT (nullif(amount, 1) = nullif(cust, 3) OR nullif(amount, 1) IS NULL AND nullif(cust, 3) IS NULL)',
	'SELECT count(*) AS n FROM orders o WHERE (nullif(amount, 1) = nullif(cust, 3)::numeric OR nullif(amount, 1) IS NULL AND nullif(cust, 3) IS NULL)',
	'SELECT count(*) FILTER (WHERE region = nullif(region, ''n'') OR region IS NULL AND nullif(region, ''n'') IS NULL) AS n FROM orders o WHERE true']) AS q;

-- other people's rows, and what is not understood
SELECT matches(asked(q), '^ZC002', q) FROM unnest(ARRAY[
	-- equal or both NULL, of other values, by another comparison, or where NULL is of a row that an outer join found none for
	'SELECT count(*) FROM orders o JOIN visits v ON o.cust = v.cust OR (o.cust IS NULL AND v.day IS NULL)',
	'SELECT count(*) FROM orders o JOIN visits v ON o.cust = v.cust OR (o.cust IS NULL OR v.cust IS NULL)',
	'SELECT count(*) FROM orders o JOIN visits v ON o.cust <= v.cust OR (o.cust IS NULL AND v.cust IS NULL)',
	'SELECT count(*) FROM orders o JOIN visits v ON o.cust <> v.cust OR (o.cust IS NULL AND v.cust IS NULL)',
	'SELECT count(*) FROM orders o JOIN visits v ON o.cust = v.cust OR (o.cust IS NULL AND v.cust IS NULL) OR v.day = 3',
	'SELECT count(*) FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND o.amount = 3 JOIN visits v ON v.cust = o.cust OR (v.cust IS NULL AND o.cust IS NULL)',
	'SELECT count(*) FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND false LEFT JOIN visits v ON (v.cust IS NULL AND o.cust IS NULL) OR v.cust = o.cust',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.amount = c.cust)',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM orders p WHERE p.region = o.region AND p.amount > o.amount)',
	'SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM orders p WHERE p.region = o.region AND p.amount > 11)',
	'SELECT count(*) FROM orders o WHERE region IN (SELECT region FROM orders WHERE amount > 11)',
	'SELECT count(*) FROM orders o WHERE amount IN (SELECT cust FROM customers)',
	'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM orders p WHERE p.amount > 11)',
	'SELECT count(*) FROM orders o WHERE amount NOT IN (SELECT amount FROM orders)',
	'SELECT count(*) FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND EXISTS (SELECT FROM lines l WHERE l.oid = o.id)',
	'SELECT count(*) FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND o.amount = (SELECT max(p.amount) FROM orders p WHERE p.cust = c.cust)',
	'SELECT count(*) FROM customers c FULL JOIN orders o ON o.cust = c.cust AND o.amount > (SELECT avg(pop) FROM regions)',
	-- the unit of a row that an outer join found none for is named elsewhere, and this one is NULL
	'SELECT count(*) FROM customers c LEFT JOIN orders o ON o.cust = c.cust WHERE o.cust NOT IN (SELECT cust FROM visits WHERE day > 3)',
	'SELECT count(*) FILTER (WHERE NOT o.cust IN (SELECT cust FROM visits WHERE day > 3)) FROM customers c LEFT JOIN orders o ON o.cust = c.cust',
	'SELECT count(*) FROM customers WHERE cust NOT IN (SELECT o.cust FROM customers d LEFT JOIN orders o ON o.cust = d.cust)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust >= c.cust)',
	'SELECT count(*) FROM customers c WHERE c.cust IN (SELECT o.cust FROM orders o ORDER BY amount LIMIT 3)',
	'SELECT count(*) FROM customers c WHERE EXISTS (SELECT random() FROM orders o WHERE o.cust = c.cust AND random() < 0.5)',
	'SELECT count(*) FROM customers c WHERE email::char(20) IN (SELECT email::char(20) FROM customers)',
	'SELECT count(*) FROM customers c WHERE 1 / (c.cust - 3) > 0 AND EXISTS (SELECT 1 / (amount - 1) FROM orders o WHERE o.amount = c.cust)'
	]) AS q;

-- what is known before rows are read is computed then, as who asks, whatever the functions
CREATE FUNCTION asked_with(statement text, parameter text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole);
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE format('SELECT json_agg(q)::text FROM (%s) q', statement) INTO answer USING parameter;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	IF answer LIKE '_____ %' AND (SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole) <> before THEN
		RETURN 'charged for ' || answer;
	END IF;
	RETURN answer;
END $$;
CREATE FUNCTION same_with(statement text, parameter text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wanted text;
BEGIN
	EXECUTE format('SELECT json_agg(q)::text FROM (%s) q', statement) INTO wanted USING parameter;
	RETURN is(asked_with(statement, parameter), wanted, format('%s, of %s', statement, parameter));
END $$;
SELECT same_with(q, p) FROM (VALUES
	('SELECT count(*) AS n FROM visits WHERE cust > 0 AND date ''2025-01-01'' + day >= to_date($1, ''YYYY-MM-DD'')', '2025-01-05'),
	('SELECT count(*) AS n FROM visits WHERE cust > 0 AND timestamptz ''2025-01-01'' + day * interval ''1 day'' >= to_timestamp($1, ''YYYY-MM-DD'')', '2025-01-05'),
	('SELECT count(*) AS n FROM visits WHERE cust > 0 AND timestamptz ''2025-01-01'' + day * interval ''1 day'' >= timestamptz ''2025-01-09'' - make_interval(days => $1::int)', '4'),
	('SELECT count(*) AS n FROM orders WHERE cust > 0 AND ($1::int[] IS NULL OR amount = ANY ($1::int[]))', '{1,2,NULL}'),
	('SELECT count(*) AS n FROM orders WHERE cust > 0 AND ($1::int[] IS NULL OR amount = ANY ($1::int[]))', NULL),
	('SELECT count(*) AS n FROM orders WHERE cust > 0 AND amount = ANY (string_to_array($1, '','')::int[])', '1,2,5'),
	('SELECT count(*) AS n FROM orders WHERE cust > 0 AND amount <> ALL (string_to_array($1, '','')::int[])', '1,2,5'),
	('SELECT count(*) AS n FROM orders WHERE cust > 0 AND amount <@ int4range(2, $1::int)', '7'),
	('SELECT count(*) AS n FROM orders WHERE cust > 0 AND CASE WHEN $1 ~ ''^\d+$'' THEN amount > length(format(''%s%s'', $1, $1)) ELSE region = ''n'' END', '123'),
	('SELECT count(*) AS n FROM orders WHERE cust > 0 AND CASE amount WHEN length(format(''%s'', $1)) THEN region = ''n'' ELSE amount > 5 END', '123'),
	('SELECT count(*) FILTER (WHERE amount > length(format(''%s'', $1))) AS n, sum(CASE WHEN amount > length(format(''%s'', $1)) THEN 1 ELSE 0 END) AS s FROM orders WHERE cust > 0', '1234'),
	('SELECT region, count(*) AS n FROM orders WHERE cust > 0 AND amount > length(format(''%s'', $1)) GROUP BY 1 ORDER BY 1', '1234'),
	('SELECT count(*) AS n, count(o.id) AS o FROM customers c LEFT JOIN orders o ON o.cust = c.cust AND o.amount > length(format(''%s'', $1))', '1234'),
	('SELECT sum(n) AS n FROM (SELECT cust, count(*) FILTER (WHERE amount > length(format(''%s'', $1))) AS n FROM orders WHERE cust > 0 GROUP BY cust HAVING max(amount) > 2) q', '1234'),
	('SELECT count(*) AS n FROM (SELECT id, amount > length(format(''%s'', $1)) AS large FROM orders WHERE cust > 0) q WHERE large', '1234')) AS v (q, p);
SELECT same_with('SELECT count(*) AS n FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.cust = c.cust AND o.amount > length(format(''%s'', $1)))', '1234');
-- its errors are raised before anything is charged, whatever rows there are
SELECT matches(asked_with(q, 'x'), '^22', q) FROM unnest(ARRAY[
	'SELECT count(*) FROM visits WHERE date ''2025-01-01'' + day >= to_date($1, ''YYYY-MM-DD'')',
	'SELECT count(*) FROM visits WHERE day > 100 AND date ''2025-01-01'' + day >= to_date($1, ''YYYY-MM-DD'')',
	'SELECT count(*) FROM visits WHERE day > 100 OR timestamptz ''2025-01-01'' >= now() - make_interval(days => $1::int)',
	'SELECT count(*) FROM orders WHERE amount = ANY (string_to_array($1, '','')::int[])']) AS q;
-- what depends on rows, or need not be the same for each, stays what it was
SELECT matches(asked_with(q, '1'), '^ZC002', q) FROM unnest(ARRAY[
	'SELECT count(*) FROM orders WHERE amount > length(format(''%s'', region))',
	'SELECT count(*) FROM orders WHERE amount > random() * $1::int',
	'SELECT count(*) FROM customers WHERE email LIKE format(''m%s%%'', $1)']) AS q;

-- an outer join each of whose rows has a match, by a foreign key: its other side names the unit, too
SET SESSION AUTHORIZATION owner1;
CREATE TABLE parcels (cust int NOT NULL REFERENCES customers, weight int);
INSERT INTO parcels SELECT i % 9 + 1, i FROM generate_series(1, 30) i;
CREATE TABLE unsure (cust int NOT NULL, weight int);
INSERT INTO unsure SELECT * FROM parcels;
ALTER TABLE unsure ADD FOREIGN KEY (cust) REFERENCES customers NOT VALID;
SELECT dp_cdp.protect_table('parcels', 'shop', 'cust'), dp_cdp.protect_table('unsure', 'shop', 'cust');
RESET SESSION AUTHORIZATION;
SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) AS n, sum(n) AS s FROM (SELECT c.cust, count(*) AS n FROM parcels p LEFT JOIN customers c ON p.cust = c.cust GROUP BY c.cust) q',
	'SELECT count(*) AS n, sum(n) AS s FROM (SELECT c.cust, count(*) AS n FROM customers c RIGHT JOIN parcels p USING (cust) GROUP BY c.cust) q',
	'SELECT segment, sum(n) AS s FROM (SELECT c.cust, c.segment, count(*) AS n FROM parcels p LEFT JOIN customers c ON p.cust = c.cust GROUP BY 1, 2) q GROUP BY 1 ORDER BY 1',
	'SELECT count(*) AS n FROM (SELECT DISTINCT c.cust FROM parcels p LEFT JOIN customers c ON p.cust = c.cust) q',
	'SELECT sum(weight) AS n FROM (SELECT DISTINCT ON (c.cust) c.cust, weight FROM parcels p LEFT JOIN customers c ON p.cust = c.cust ORDER BY c.cust, weight) q',
	'SELECT sum(weight) AS n FROM (SELECT weight, row_number() OVER (PARTITION BY c.cust ORDER BY weight DESC) AS r FROM parcels p LEFT JOIN customers c ON p.cust = c.cust) q WHERE r = 1',
	'SELECT sum(n) AS n FROM (SELECT c, count(r.region) AS n FROM (SELECT c.cust AS c, weight FROM parcels p LEFT JOIN customers c ON p.cust = c.cust) q LEFT JOIN regions r ON r.pop = weight GROUP BY c) q',
	'SELECT count(*) AS n, sum(n) AS s FROM (SELECT c.cust, r.region, count(*) AS n FROM parcels p LEFT JOIN customers c ON p.cust = c.cust LEFT JOIN regions r ON r.pop = weight GROUP BY 1, 2) q'
	]) AS q;
SELECT is(asked(q), 'ZC002 c.cust is NULL in rows that have no match, and so no privacy unit to group by; write p.cust in its place', q) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT c.cust, count(*) FROM unsure p LEFT JOIN customers c ON p.cust = c.cust GROUP BY c.cust) q',
	'SELECT count(*) FROM (SELECT c.cust, count(*) FROM orders p LEFT JOIN customers c ON p.cust = c.cust GROUP BY c.cust) q',
	'SELECT count(*) FROM (SELECT DISTINCT c.cust FROM parcels p LEFT JOIN customers c ON p.cust = c.cust AND c.segment = ''a'') q',
	'SELECT count(*) FROM (SELECT c.cust, count(*) FROM parcels p LEFT JOIN (SELECT * FROM customers WHERE segment = ''a'') c ON p.cust = c.cust GROUP BY c.cust) q',
	'SELECT count(*) FROM (SELECT c.cust, count(*) FROM customers p LEFT JOIN (parcels q JOIN customers c ON q.cust = c.cust) ON q.cust = p.cust GROUP BY c.cust) q'
	]) AS q;

-- public rows without a match, in a subquery that is all that the level reads
SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT zone, count(id) AS n FROM (SELECT r.*, o.id FROM regions r LEFT JOIN (SELECT * FROM orders WHERE cust > 0) o ON o.region = r.region) q GROUP BY 1 ORDER BY 1',
	'WITH q AS (SELECT r.zone, r.pop, o.id FROM orders o RIGHT JOIN regions r ON o.region = r.region AND o.cust > 0) SELECT zone, count(id) AS n FROM q WHERE pop < 3 GROUP BY 1 ORDER BY 1',
	'SELECT z, count(x) AS n FROM (SELECT z, x FROM (SELECT upper(r.zone) AS z, o.amount + 1 AS x FROM regions r LEFT JOIN orders o ON o.region = r.region AND o.cust > 0) p) q GROUP BY 1 ORDER BY 1'
	]) AS q;
SELECT matches(asked(q), '^ZC002', q) FROM unnest(ARRAY[
	'SELECT zone, count(*) FROM (SELECT r.*, o.id FROM regions r LEFT JOIN orders o ON o.region = r.region) q GROUP BY 1',
	'SELECT zone, count(q) FROM (SELECT r.*, o.id FROM regions r LEFT JOIN orders o ON o.region = r.region) q GROUP BY 1',
	'SELECT zone, count(id) FROM (SELECT DISTINCT r.*, o.id FROM regions r LEFT JOIN orders o ON o.region = r.region) q GROUP BY 1',
	'SELECT zone, count(id) FROM (SELECT r.*, o.id FROM regions r LEFT JOIN orders o ON o.region = r.region WHERE random() < 2) q GROUP BY 1',
	'SELECT h.name, count(id) FROM holidays h LEFT JOIN (SELECT r.*, o.id FROM regions r LEFT JOIN orders o ON o.region = r.region) q ON h.day = pop GROUP BY 1'
	]) AS q;

SELECT * FROM finish();
