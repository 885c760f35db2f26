-- Groups of keys that compare an undeclared column with constants: tiers, yes
-- and no, before and after.  The noise is too small to be seen, and each group
-- that a row can have has some, unless that is told, so that answers are
-- compared with the owner's plain SQL.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TYPE grade AS ENUM ('low', 'middle', 'high');
CREATE TABLE depts (dept text PRIMARY KEY, floor int NOT NULL);
INSERT INTO depts VALUES ('x', 1), ('y', 2);
CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL, dept text NOT NULL REFERENCES depts, amount numeric(8,2) NOT NULL, tip numeric,
	n int, small smallint, f float8, r float4, status varchar(8), name text NOT NULL, fixed char(3), paid boolean, sure boolean NOT NULL,
	day date, at timestamp NOT NULL, seen timestamptz, g grade, u uuid NOT NULL);
INSERT INTO orders SELECT i, i, substr('xy', 1 + i % 2, 1), i % 300, nullif(i % 7, 0) * 0.5, nullif(i % 11, 10), nullif(i % 5, 4),
	CASE i % 5 WHEN 4 THEN 'NaN' WHEN 3 THEN NULL ELSE i % 5 + 0.5 END, nullif(i % 5, 4) / 10.0,
	(ARRAY['new', 'open', 'done', NULL])[1 + i % 4], chr(97 + i % 26), (ARRAY['a', 'b ', NULL])[1 + i % 3],
	nullif(i % 3, 2)::boolean, i % 2 = 0, nullif(date '2025-01-01' + i % 90, '2025-01-05'), timestamp '2025-01-01' + i * interval '1 hour',
	CASE WHEN i % 9 > 0 THEN timestamptz '2025-01-01 UTC' + i * interval '1 hour' END, (ARRAY['low', 'middle', 'high', NULL])[1 + i % 4]::grade,
	md5((i % 50)::text)::uuid
	FROM generate_series(1, 3600) i;
SELECT dp_cdp.create_dataset('shop', default_rho => 1000, max_rows => 2, max_groups => 2);
SELECT dp_cdp.protect_table('orders', 'shop', 'customer');
SELECT dp_cdp.set_keys('orders', 'dept', ARRAY['x', 'y']);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1000000);
GRANT SELECT ON depts TO analyst1;
RESET SESSION AUTHORIZATION;

\ir analyst.psql
\ir same.psql

SELECT no_plan();

-- ------------------------------------------------------------------------
-- tiers
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT CASE WHEN o.amount < 50 THEN '0' WHEN o.amount >= 50 AND o.amount < 100 THEN '1' WHEN o.amount >= 100 THEN '2' ELSE '3' END AS sort,
	CASE WHEN o.amount < 50 THEN 'Below 50' WHEN o.amount >= 50 AND o.amount < 100 THEN '50 to 99' WHEN o.amount >= 100 THEN '100 or above' ELSE 'Undefined' END AS tier,
	count(*) FROM orders o GROUP BY 1, 2$$, 'a tier and its place, of a column that is not NULL');
SELECT as_declared($$SELECT CASE WHEN tip < 1 THEN 0 WHEN tip < 2 THEN 1 WHEN tip >= 2 THEN 2 ELSE 3 END, CASE WHEN tip < 1 THEN 'a' WHEN tip < 2 THEN 'b' WHEN tip >= 2 THEN 'c' ELSE 'none' END, count(*)
	FROM orders GROUP BY 1, 2$$, '... of one that may be NULL');
SELECT as_declared($$SELECT CASE WHEN tip < 1 THEN 0 WHEN tip < 2 THEN 1 END, dept, count(*) FROM orders WHERE tip IS NOT NULL GROUP BY 1, 2$$,
	'... which a condition excludes, beside a declared key');
SELECT as_declared($$SELECT CASE WHEN tip IS NULL THEN 'none' WHEN tip < 1 THEN 'low' WHEN tip >= 1 THEN 'high' ELSE 'never' END, count(*) FROM orders GROUP BY 1$$,
	'... and is asked for');
SELECT is(rows_for('analyst1', $$SELECT CASE WHEN tip < 1 THEN 'low' WHEN tip >= 1 THEN 'high' ELSE 'none' END, count(*) FROM orders WHERE tip * 2 > 1.5 GROUP BY 1$$), '(high,2571) (low,0)', '... or excluded by a condition that nothing else is known of');
SELECT as_declared($$SELECT CASE WHEN amount < 100 THEN 'a' WHEN amount < 200 THEN 'b' ELSE 'c' END, count(*) FROM orders WHERE amount BETWEEN 120 AND 250 GROUP BY 1$$,
	'a condition on the column leaves out tiers');
SELECT as_declared($$SELECT CASE WHEN amount < 100 THEN 'a' WHEN amount < 200 THEN 'b' ELSE 'c' END, dept, count(*) FROM orders WHERE amount < 100 AND dept = 'x' OR amount > 200 AND dept = 'y' GROUP BY 1, 2$$,
	'... together with a declared one');
SELECT as_declared($$SELECT CASE WHEN amount < 100 THEN 'a' ELSE 'b' END, d.floor, count(*) FROM orders o JOIN depts d USING (dept) WHERE d.floor = 2 OR amount < 50 GROUP BY 1, 2$$,
	'... or with a public one');
SELECT as_declared($$SELECT t, s, count(*) FROM (SELECT customer, CASE WHEN amount < 50 THEN 'a' ELSE 'b' END AS t, amount >= 50 AS s FROM orders) q GROUP BY 1, 2$$,
	'keys that a subquery makes');

-- ------------------------------------------------------------------------
-- buckets of equal width
-- ------------------------------------------------------------------------

SELECT as_declared(format('SELECT %s AS b, count(*) FROM orders WHERE %s GROUP BY 1', b, c), b || ', of rows where ' || c)
	FROM (VALUES ('width_bucket(amount, 0, 300, 6)', 'amount >= 0 AND amount < 200'), ('width_bucket(amount, 0, 300, 6)', 'amount > 49.99 AND 150 >= amount'),
		('width_bucket(amount, 50, 250, 4)', 'amount BETWEEN 0 AND 249.99'), ('width_bucket(amount, 0, 300, 6)', 'amount = 75'), ('width_bucket(amount, 0, 300, 6)', 'amount < 300::bigint AND amount > -0.01'),
		('width_bucket(amount::float8, 0, 300, 6)', 'amount >= 0 AND amount < 150'), ('width_bucket(tip, 0, 4, 8)', 'tip >= 0.5 AND tip <= 3'), ('width_bucket(n, 0, 10, 5)', 'n >= 0 AND n < 6'),
		('width_bucket(n, 0, 10, 5)', 'n BETWEEN 2 AND 5'), ('width_bucket(n::numeric, 0, 10, 5)', 'n > 1 AND n < 8'), ('width_bucket(small, 0, 4, 2)', 'small >= 0 AND small < 4'),
		('width_bucket(amount, 0, 300, 6)', 'amount >= 0 AND amount <= 299 AND amount < ''NaN'' AND amount > ''-Infinity'''), ('width_bucket(n, 0, 10, 5)', 'n IS NOT NULL AND n >= 0 AND n < 10')) AS t (b, c);
SELECT is(rows_for('analyst1', 'SELECT width_bucket(n, 0, 10, 5) FROM orders WHERE n IS NOT NULL GROUP BY 1'), '(0) (1) (2) (3) (4) (5) (6)', 'NULL alone is left out');
SELECT is(rows_for('analyst1', 'SELECT width_bucket(amount, 300, 0, 6) FROM orders WHERE amount < 100 GROUP BY 1'), '(0) (1) (2) (3) (4) (5) (6) (7)', 'none of those that are numbered downwards');
SELECT is(rows_for('analyst1', 'SELECT width_bucket(n, 0, 10, 5) FROM orders WHERE n < 4 OR n > 7 GROUP BY 1'), '(0) (1) (2) (5) (6)', 'what lies between two ranges, and NULL, are left out');
SELECT is(rows_for('analyst1', 'SELECT width_bucket(amount, 0, 300, 6) FROM orders WHERE amount < 100 GROUP BY 1'), '(0) (1) (2)', 'a numeric(8,2) below 100 is at most 99.99');
SELECT is(rows_for('analyst1', 'SELECT width_bucket(tip, 0, 4, 8) FROM orders WHERE tip < 1 GROUP BY 1'), '(0) (1) (2) (3)', 'a numeric below 1 may be anything below 1');

-- ------------------------------------------------------------------------
-- tiers of what a subquery computes
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT CASE WHEN total < 100 THEN 'a' WHEN total < 250 THEN 'b' ELSE 'c' END, CASE WHEN total < 100 THEN 0 WHEN total < 250 THEN 1 ELSE 2 END, count(*)
	FROM (SELECT customer, sum(amount) AS total FROM orders GROUP BY 1) q GROUP BY 1, 2$$, 'a tier of a unit''s total, and its place');
SELECT as_declared($$SELECT total < 100, total >= 100, count(*) FROM (SELECT customer, sum(amount) AS total FROM orders GROUP BY 1) q GROUP BY 1, 2$$,
	'... which is not NULL where its summands are not');
SELECT as_declared($$SELECT tips < 1, tips >= 1, count(*) FROM (SELECT customer, sum(tip) AS tips FROM orders GROUP BY 1) q GROUP BY 1, 2$$, '... and may be where they may be');
SELECT as_declared(format($$SELECT v < %s, v >= %s, count(*) FROM (SELECT customer, %s AS v FROM orders GROUP BY 1) q GROUP BY 1, 2$$, c, c, a), '... nor is ' || a)
	FROM (VALUES ('min(amount)', '100'), ('max(at)', '''2025-02-01'''), ('avg(id)', '70'), ('avg(amount)', '50'), ('count(tip)', '1')) AS t(a, c);
SELECT as_declared($$SELECT CASE WHEN total < 100 THEN 'a' WHEN total < 250 THEN 'b' ELSE 'c' END, count(*) FROM (SELECT customer, sum(amount) AS total FROM orders GROUP BY 1) q
	WHERE total > 120 GROUP BY 1$$, 'a condition on it leaves out tiers');
SELECT as_declared($$SELECT CASE WHEN total < 100 THEN 'a' WHEN total < 250 THEN 'b' ELSE 'c' END, count(*) FROM (SELECT customer, sum(amount) AS total FROM orders GROUP BY 1
	HAVING sum(amount) > 120 AND count(*) < 9) q GROUP BY 1$$, '... as HAVING does');
SELECT is(rows_for('analyst1', $$SELECT CASE WHEN n = 0 THEN 'none' WHEN n = 1 THEN 'one' WHEN n BETWEEN 2 AND 5 THEN 'few' WHEN n > 5 THEN 'many' END, count(*)
	FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1) q GROUP BY 1$$), '(few,0) (many,0) (one,3600)', 'a number of rows is at least 1');
SELECT is(rows_for('analyst1', $$SELECT CASE WHEN n < 0 THEN 'never' WHEN n = 0 THEN 'none' WHEN n = 1 THEN 'one' ELSE 'more' END, count(*)
	FROM (SELECT customer, count(paid) AS n FROM orders GROUP BY 1) q GROUP BY 1$$), '(more,0) (none,1200) (one,2400)', '... of values at least 0');
SELECT is(rows_for('analyst1', $$SELECT CASE WHEN q.n IS NULL THEN 'none' WHEN q.n < 2 THEN 'one' ELSE 'more' END, q.n IS NULL, count(*) FROM orders a
	LEFT JOIN (SELECT customer, count(*) AS n FROM orders WHERE paid GROUP BY 1) q USING (customer) GROUP BY 1, 2$$), '(more,f,0) (none,t,2400) (one,f,1200)',
	'a subquery that may have no row');
SELECT is(rows_for('analyst1', $$SELECT rn = 1, CASE WHEN rn = 1 THEN 'first' ELSE 'later' END, count(*) FROM (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY at) AS rn
	FROM orders) q GROUP BY 1, 2$$), '(f,later,0) (t,first,3600)', 'a place in an order');
SELECT as_declared($$SELECT CASE WHEN rn = 1 THEN 'first' ELSE 'later' END, count(*) FROM (SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY at) AS rn FROM orders) q
	WHERE rn = 1 GROUP BY 1$$, '... with a condition');
SELECT as_declared($$SELECT date_trunc('month', first), count(*) FROM (SELECT customer, min(at) AS first FROM orders GROUP BY 1) q
	WHERE first >= '2025-01-20' AND first < '2025-04-02' GROUP BY 1$$, 'months of a unit''s first day');

-- ------------------------------------------------------------------------
-- comparisons
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT n < 5, n > 4, n = 5, n <> 5, count(*) FROM orders GROUP BY 1, 2, 3, 4$$, 'no whole number is between two that follow each other');
SELECT as_declared($$SELECT n < 4.5, n > 4.5, n = 4.5, n::bigint <= 4, count(*) FROM orders GROUP BY 1, 2, 3, 4$$, '... nor is one a fraction');
SELECT as_declared($$SELECT small < 2, small >= 2::bigint, small < 1.5, count(*) FROM orders GROUP BY 1, 2, 3$$, 'integers of different lengths, and numeric');
SELECT as_declared($$SELECT tip < 1.0, tip <= 1.00, tip >= 1, tip > 1.000, count(*) FROM orders GROUP BY 1, 2, 3, 4$$, 'all spellings of a number');
SELECT as_declared($$SELECT n BETWEEN 3 AND 5, n NOT BETWEEN 3 AND 5, n IN (3, 4, 5), n NOT IN (3, 4, 5), count(*) FROM orders GROUP BY 1, 2, 3, 4$$, 'BETWEEN and IN');
SELECT as_declared($$SELECT n IN (3, NULL), n NOT IN (3, NULL), n IS DISTINCT FROM 3, n IS NOT DISTINCT FROM NULL, count(*) FROM orders GROUP BY 1, 2, 3, 4$$, '... with NULL, and IS DISTINCT FROM');
SELECT as_declared($$SELECT n < ALL (ARRAY[3, 7]), n > ANY (ARRAY[3, 7]), 5 > n, count(*) FROM orders GROUP BY 1, 2, 3$$, 'ANY, ALL, and a constant on the left');
SELECT as_declared($$SELECT f < 1, f >= 1, f > 1e300, f = 'NaN', count(*) FROM orders WHERE f IS NULL OR f < 3 OR f = 'NaN' GROUP BY 1, 2, 3, 4$$, 'NaN is above all numbers');
SELECT is(rows_for('analyst1', $$SELECT r < 0.1, r = 0.1::real, r > 0.1, count(*) FROM orders GROUP BY 1, 2, 3$$), '(,,,720) (f,f,f,0) (f,f,t,1440) (f,t,t,720) (t,f,f,720)', 'float4 compared with float8');
SELECT as_declared($$SELECT CASE status WHEN 'new' THEN 1 WHEN 'open' THEN 2 ELSE 3 END, CASE WHEN status IN ('new', 'open') THEN 'alive' ELSE 'dead' END, count(*) FROM orders GROUP BY 1, 2$$,
	'CASE of a column');
SELECT is(rows_for('analyst1', $$SELECT name < 'k', name COLLATE "C" >= 'k', count(*) FROM orders GROUP BY 1, 2$$),
	'(f,f,0) (f,t,2211) (t,f,1389) (t,t,0)', 'another collation is another order');
SELECT is(rows_for('analyst1', $$SELECT fixed = 'b', fixed < 'b', fixed >= 'b  ', fixed IN ('b ', 'a'), count(*) FROM orders GROUP BY 1, 2, 3, 4$$),
	'(,,,,1200) (f,f,t,f,0) (f,t,f,f,0) (f,t,f,t,1200) (t,f,t,t,1200)', 'character takes trailing spaces for nothing');
SELECT as_declared($$SELECT g < 'middle', g >= 'middle', count(*) FROM orders GROUP BY 1, 2$$, 'an enum');
SELECT as_declared($$SELECT u < '80000000-0000-0000-0000-000000000000', u >= '80000000-0000-0000-0000-000000000000', count(*) FROM orders GROUP BY 1, 2$$, 'a uuid');
SELECT as_declared($$SELECT paid, CASE WHEN paid THEN 'yes' WHEN NOT paid THEN 'no' ELSE '?' END, paid = false, count(*) FROM orders GROUP BY 1, 2, 3$$, 'a condition itself');
SELECT as_declared($$SELECT CASE WHEN paid AND n < 5 THEN 'a' WHEN paid OR n > 7 THEN 'b' ELSE 'c' END, paid IS NOT TRUE, n IS NULL, sure, count(*) FROM orders GROUP BY 1, 2, 3, 4$$,
	'two columns, with AND and OR');
SELECT as_declared($$SELECT status LIKE 'n%', CASE WHEN status LIKE 'n%' THEN 'yes' ELSE 'no' END, count(*) FROM orders GROUP BY 1, 2$$, 'a condition that is no comparison');
SELECT as_declared($$SELECT CASE WHEN length(status) < 4 THEN 'short' ELSE 'long' END, length(status) < 4, count(*) FROM orders GROUP BY 1, 2$$, 'an expression that is compared');

SELECT as_declared($$SELECT f, count(*) FROM orders WHERE f IN (0.5, 1.5) AND f::numeric = 0.5 GROUP BY 1$$, 'a listed number, cast');
SELECT as_declared($$SELECT f, dept, count(*) FROM orders WHERE f IN (0.5, 1.5) AND round(f) = 2 GROUP BY 1, 2$$, '... rounded');
SELECT as_declared($$SELECT CASE WHEN tip > 1 THEN 'a' ELSE 'b' END, count(*) FROM orders WHERE tip IN (0.5, 1.5, 2) AND round(tip) = 2 GROUP BY 1$$, '... and compared');
SELECT as_declared($$SELECT round(tip), tip::int + 1, count(*) FROM orders WHERE tip IN (0.5, 1.5, 1.7) AND tip * 2 > 1 GROUP BY 1, 2$$, '... in keys');
SELECT is(rows_for('analyst1', $$SELECT tip, count(*) FROM orders WHERE tip IN (0.5, 1.5) AND tip::text = '1.5' GROUP BY 1$$), '(1.5,514)',
	'... and as text, which is that of one number');

-- ------------------------------------------------------------------------
-- time
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT CASE WHEN at < '2025-03-01' THEN 'old' ELSE 'new' END, at >= '2025-03-01', count(*) FROM orders GROUP BY 1, 2$$, 'before and after');
SELECT as_declared($$SELECT CASE WHEN at < '2025-03-01' THEN 'old' WHEN at < '2025-04-01' THEN 'new' ELSE 'newest' END, dept, count(*) FROM orders WHERE at >= '2025-03-15' GROUP BY 1, 2$$, '... with a condition');
SELECT as_declared($$SELECT day < '2025-02-01', day > '2025-01-31', day IN ('2025-01-31', '2025-02-01'), count(*) FROM orders GROUP BY 1, 2, 3$$, 'days; none is between two that follow each other');
SELECT as_declared($$SELECT seen < '2025-02-01'::date, seen >= '2025-02-01'::date, seen IS NULL, count(*) FROM orders GROUP BY 1, 2, 3$$, 'a timestamp compared with a day');
SELECT as_declared($$SELECT extract(isodow FROM at)::int, at < '2025-03-01', count(*) FROM orders GROUP BY 1, 2$$, 'a comparison and a field that comes again');
SELECT as_declared($$SELECT date_trunc('month', at)::date, at < '2025-02-16', count(*) FROM orders WHERE at >= '2025-02-01' AND at < '2025-04-01' GROUP BY 1, 2$$, 'a comparison and a bucket');
SELECT is(rows_for('analyst1', $$SELECT date_trunc('month', at)::date, at < '2025-04-16', count(*) FROM orders WHERE at >= '2025-02-01' AND at < '2025-04-01' GROUP BY 1, 2$$),
	'(2025-02-01,t,672) (2025-03-01,t,744)', '... both within the range');
SELECT is(rows_for('analyst1', $$SELECT CASE WHEN at < now() - interval '30 days' THEN 'old' ELSE 'new' END, at < now() - interval '30 days', count(*) FROM orders GROUP BY 1, 2$$), '(new,f,0) (old,t,3600)', 'the clock');
SELECT is(rows_for('analyst1', $$SELECT at < '5000000-01-01'::date, dept, count(*) FROM orders GROUP BY 1, 2$$),
	'(f,x,0) (f,y,0) (t,x,1800) (t,y,1800)', 'a day that is no timestamp');

-- ------------------------------------------------------------------------
-- parameters
-- ------------------------------------------------------------------------

SET plan_cache_mode = force_generic_plan;
SET SESSION AUTHORIZATION analyst1;
PREPARE tiers(numeric, numeric) AS SELECT string_agg(q::text, ' ' ORDER BY q::text) FROM (SELECT CASE WHEN amount < $1 THEN 'a' WHEN amount < $2 THEN 'b' ELSE 'c' END, amount IN ($1, $2), count(*) FROM orders GROUP BY 1, 2) q;
CREATE TEMP TABLE one AS EXECUTE tiers(50, 100);
CREATE TEMP TABLE two AS EXECUTE tiers(100, 50);
CREATE TEMP TABLE same AS EXECUTE tiers(100, 100.00);
CREATE TEMP TABLE none AS EXECUTE tiers(NULL, 100);
RESET SESSION AUTHORIZATION;
RESET plan_cache_mode;
SELECT is((SELECT string_agg FROM one), '(a,f,600) (b,f,588) (b,t,12) (c,f,2388) (c,t,12)', 'constants that are parameters');
SELECT is((SELECT string_agg FROM two), '(a,f,1188) (a,t,12) (c,f,2388) (c,t,12)', '... in another order');
SELECT is((SELECT string_agg FROM same), '(a,f,1200) (c,f,2388) (c,t,12)', '... that are equal');
SELECT is((SELECT string_agg FROM none), '(b,,1200) (c,,2388) (c,t,12)', '... one of which is NULL');

SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE answers(mode text, argument text, answer text);
DO $$
DECLARE
	mode text;
	argument text;
BEGIN
	FOREACH mode IN ARRAY ARRAY['force_custom_plan', 'force_generic_plan'] LOOP
		PERFORM set_config('plan_cache_mode', mode, true);
		PREPARE listed(int[]) AS SELECT string_agg(q::text, ' ' ORDER BY q::text) FROM (SELECT CASE WHEN n = ANY ($1) THEN 'in' ELSE 'out' END, n = ANY ($1), n <> ALL ($1), count(*)
			FROM orders GROUP BY 1, 2, 3) q;
		FOREACH argument IN ARRAY ARRAY['''{1,2}''', '''{}''', 'NULL'] LOOP
			EXECUTE format('CREATE TEMP TABLE answer AS EXECUTE listed(%s)', argument);
			INSERT INTO answers SELECT mode, argument, string_agg FROM answer;
			DROP TABLE answer;
		END LOOP;
		DEALLOCATE listed;
	END LOOP;
END $$;
RESET SESSION AUTHORIZATION;
SELECT is(a.answer, rows_for('owner1', replace($$SELECT CASE WHEN n = ANY ($1) THEN 'in' ELSE 'out' END, n = ANY ($1), n <> ALL ($1), count(*) FROM orders GROUP BY 1, 2, 3$$, '$1', a.argument || '::int[]')),
	format('an array %s that is a parameter, %s', a.argument, a.mode)) FROM answers a;

-- buckets, and conditions on their value, of which parameters are a part
SELECT executed_as_declared(format('SELECT %s AS b, count(*) FROM orders WHERE %s GROUP BY 1', b, c), a)
	FROM (VALUES ('width_bucket(amount, 0, 300, 6)', 'amount >= $1::numeric AND amount < $2::numeric', '50, 200'), ('width_bucket(amount, 0, 300, 6)', 'amount > $1::numeric AND $2::numeric >= amount', '49.99, 150'),
		('width_bucket(amount, 0, 300, 6)', 'amount >= $1::numeric AND amount < $2::numeric', '50, NULL'), ('width_bucket(amount, 0, 300, 6)', 'amount = $1::numeric', '75'), ('width_bucket(amount, 0, 300, 6)', 'amount = $1::int', '75'),
		('width_bucket(n, 0, 10, 5)', 'n >= $1::int AND n < $2::int', '0, 6'), ('width_bucket(n, 0, 10, 5)', 'n BETWEEN $1::bigint AND $2::numeric', '2, 5'), ('width_bucket(n, 0, 10, 5)', 'n >= 0 AND n < 6 AND n < $1::int', '4'),
		('width_bucket(amount::float8, 0, 300, 6)', 'amount >= $1::numeric AND amount < $2::numeric', '0, 150'), ('width_bucket(n::float8, 0, 10, 5)', 'n >= $1::int AND n <= $2::int', '2, 3'),
		('width_bucket(amount, $1::numeric, $2::numeric, $3::int)', 'amount >= $1 AND amount < $2', '50, 250, 4'), ('width_bucket(amount, $1::numeric, $2::numeric, $3::int)', 'amount >= $1 AND amount < $2', '50, NULL, 4'),
		('width_bucket(amount, $1::numeric, 300, $2::int) * 10', 'amount BETWEEN $1 AND $3::int', '0, 6, 299'), ('width_bucket(amount, 0, 300, $1::int)', 'amount >= 0 AND amount < 300', '10'),
		('width_bucket(amount, 0, 300, $1::int)', 'amount >= 0', 'NULL'), ('width_bucket(amount, 0, 300, 6)', 'amount >= 0 AND amount < 300 AND width_bucket(amount, 0, 300, 6) = $1::int', '3'),
		('width_bucket(n, 0, 10, 5)', 'n IS NOT NULL AND n >= $1::int AND n < $2::int', '0, 10')) AS t (b, c, a);
SELECT executed_as_declared('SELECT width_bucket(amount, 0, 300, 6), dept, count(*) FROM orders WHERE amount >= 0 AND amount < 100 AND dept = $1::text GROUP BY 1, 2', '''x''');
SELECT is(executed_for('analyst1', 'SELECT width_bucket(amount, $1::numeric, $2::numeric, $3::int), count(*) FROM orders GROUP BY 1', a), '2201G ' || message, 'plain SQL''s mistake with ' || a)
	FROM (VALUES ('0, 300, 0', 'count must be greater than zero'), ('5, 5, 3', 'lower bound cannot equal upper bound')) AS t (a, message);
SELECT is(executed_for('analyst1', 'SELECT width_bucket(amount, 0, $1::numeric, 6) FROM orders WHERE amount < $2::numeric GROUP BY 1', '300, 100'), '(0) (1) (2)', 'below a parameter');
SELECT is(executed_for('analyst1', 'SELECT width_bucket(amount, $1::numeric, 0, 6) FROM orders WHERE amount < $2::numeric GROUP BY 1', '300, 100'), '(0) (1) (2) (3) (4) (5) (6) (7)', '... none of those that are numbered downwards');
SELECT is(executed_for('analyst1', 'SELECT width_bucket(amount, 0, 300, 6) FROM orders WHERE amount < $1::numeric GROUP BY 1', '''NaN'''), '(0) (1) (2) (3) (4) (5) (6) (7)', '... which has no bucket');
SELECT is(executed_for('analyst1', 'SELECT width_bucket(amount, 0, 300, 6) FROM orders WHERE amount < $1::numeric GROUP BY 1', '1e131000'), '(0) (1) (2) (3) (4) (5) (6) (7)', '... nor a neighbour');
SELECT is(executed_for('analyst1', 'SELECT width_bucket(n, 0, $1::int, 2) FROM orders GROUP BY 1', '10'), '() (0) (1) (2) (3)', 'of a column that may be NULL');
SET dp_cdp.max_public_time = '200ms';
SELECT matches(executed_for('analyst1', 'SELECT width_bucket(n, 0, 10, $1::int) FROM orders GROUP BY 1', '2147483647'), '^ZC002 .* took longer than 200 ms', 'too many buckets');
RESET dp_cdp.max_public_time;

-- buckets of unequal width
SELECT as_declared(format('SELECT width_bucket(%s) AS b, count(*) FROM orders WHERE %s GROUP BY 1', b, c), b || ', of rows where ' || c)
	FROM (VALUES ('amount, ARRAY[10, 50, 200]', 'true'), ('amount, ARRAY[0, 10, 10, 50]::numeric[]', 'amount >= 0 AND amount < 40'), ('tip, ARRAY[0.5, 1.5, 10]', 'tip >= 0.5 AND tip < 2'), ('n, ARRAY[2, 5]', 'n IS NOT NULL'), ('n, ''{2,5}''', 'n > 3'),
		('f, ARRAY[1, 2, ''NaN'']::float8[]', 'true'), ('status::text, ARRAY[''b'', ''o'']', 'status >= ''b'' AND status < ''n'''), ('day, ARRAY[date ''2025-02-01'', ''2025-03-01'']', 'true'), ('n, ARRAY[3]', 'n IS NULL')) AS t (b, c);
SELECT executed_as_declared('SELECT width_bucket(amount, ARRAY[10, 50, 200]), dept, count(*) FROM orders WHERE amount < $1::numeric AND dept = $2::text GROUP BY 1, 2', '45, ''x''');
SELECT is(left(rows_for('analyst1', format('SELECT width_bucket(n, %s), count(*) FROM orders GROUP BY 1', a)), 5), 'ZC002', 'no thresholds: ' || a)
	FROM unnest(ARRAY['ARRAY[5, 2]', 'ARRAY[2, NULL]', 'NULL::int[]', 'ARRAY[[2, 5]]', 'ARRAY[n]', 'ARRAY(SELECT i FROM generate_series(1, 3) i)']) a;

-- what is true of no row
SELECT executed_as_declared('SELECT dept, count(*) FROM orders WHERE ' || c || ' GROUP BY 1', a)
	FROM (VALUES ('amount < $1::numeric', 'NULL'), ('amount < $1::numeric', '100'), ('n = ANY ($1::int[])', '''{}'''), ('n = ANY ($1::int[])', 'NULL'), ('n = ANY ($1::int[])', '''{1,NULL}'''), ('n <> ALL ($1::int[])', 'NULL'),
		('n <> ALL ($1::int[])', '''{}'''), ('at < $1::timestamp', 'NULL'), ('amount BETWEEN $1::int AND $2::int', '1, NULL')) AS t (c, a);

-- an equality with a number of another type tells of the column, too
SELECT as_declared(format('SELECT n <= 1 AS low, n = 2 AS two, count(*) FROM orders WHERE %s GROUP BY 1, 2', c), 'where ' || c)
	FROM unnest(ARRAY['n = 1.0', '2.00 = n', 'n = 2.0 AND n > 0', 'n = 0.5', 'n = 1::bigint', 'n = 1']) c;
SELECT executed_as_declared('SELECT n <= 1 AS low, CASE WHEN n < 3 THEN ''few'' ELSE ''many'' END, count(*) FROM orders WHERE n = $1::numeric GROUP BY 1, 2', a) FROM unnest(ARRAY['1.0', '7', '0.5', 'NULL']) a;

-- ------------------------------------------------------------------------
-- outer joins, and what is too much
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT CASE WHEN amount < 50 THEN 'a' ELSE 'b' END, d.floor, count(*) FROM orders o LEFT JOIN depts d ON d.dept = o.dept AND amount < 50 GROUP BY 1, 2$$,
	'a condition of an outer join');
SELECT as_declared($$SELECT b.amount < 50, CASE WHEN b.amount < 50 THEN 'a' WHEN b.amount >= 50 THEN 'b' ELSE 'none' END, a.sure, count(*)
	FROM orders a LEFT JOIN orders b ON b.customer = a.customer AND b.id > 1800 GROUP BY 1, 2, 3$$, 'a column that an outer join may have no row of');
SELECT is(asked($$SELECT count(*) FROM (SELECT CASE WHEN n < 1 THEN 1 ELSE 0 END a, CASE WHEN small < 1 THEN 1 ELSE 0 END b, CASE WHEN f < 1 THEN 1 ELSE 0 END c, CASE WHEN tip < 1 THEN 1 ELSE 0 END d,
	CASE WHEN r < 1 THEN 1 ELSE 0 END e, CASE WHEN amount < 1 THEN 1 ELSE 0 END f, CASE WHEN seen < '2025-02-01' THEN 1 ELSE 0 END g, CASE WHEN day < '2025-02-01' THEN 1 ELSE 0 END h, count(*) FROM orders GROUP BY 1, 2, 3, 4, 5, 6, 7, 8) q$$),
	'[{"count":256}]', 'more columns than can be asked together are told one by one');

-- what a row can have is there: keys and conditions of all kinds, each alone and with others
CREATE TEMP TABLE atoms AS SELECT row_number() OVER () AS i, a FROM unnest(ARRAY['n < 3', 'n >= 3', 'n = 7', 'n IS NULL', 'n NOT IN (2, 7)', 'n::numeric <= 6.5', 'n BETWEEN 2 AND 8', 'tip > 1', 'tip = 1.50',
	'paid', 'paid IS UNKNOWN', 'status = ''new''', 'status >= ''new''', 'status IS DISTINCT FROM ''open''', 'seen < ''2025-02-01''', 'day >= ''2025-01-20''', 'f > 1', 'f IS NULL', 'fixed = ''b''']) a;
CREATE TEMP TABLE crossed AS SELECT format($$SELECT %s AS k, CASE WHEN %s THEN 'a' WHEN %s THEN 'b' END AS l, count(*)::int FROM orders WHERE %s GROUP BY 1, 2$$,
	a.a, b.a, c.a, CASE WHEN d.i % 3 = 0 THEN 'NOT coalesce(' || d.a || ', false)' ELSE d.a || ' OR ' || a.a END) AS statement
	FROM atoms a, atoms b, atoms c, atoms d WHERE (a.i * 7 + b.i * 5 + c.i * 3 + d.i) % 199 = 0;
CREATE FUNCTION missing(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := asked(statement);
	plain jsonb;
BEGIN
	EXECUTE format('SELECT coalesce(jsonb_agg(q), ''[]'') FROM (%s) q', statement) INTO plain;
	IF coalesce(answer, '[]') !~ '^\[' OR NOT coalesce(answer, '[]')::jsonb @> plain THEN
		RETURN statement || ': ' || coalesce(answer, 'nothing');
	END IF;
	RETURN NULL;
END $$;
SELECT cmp_ok((SELECT count(*)::int FROM crossed), '>', 200, 'conditions are crossed');
SELECT is((SELECT string_agg(missing(statement), E'\n') FROM crossed), NULL, 'no group is missing that plain SQL has');

SELECT * FROM finish();
