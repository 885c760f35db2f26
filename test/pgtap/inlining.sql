-- SQL functions of analysts that PostgreSQL inlines, over protected rows: what
-- their bodies say is answered as if it had been typed in, or refused as that
-- would be.  All others are refused as they were.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
CREATE SCHEMA analyst1 AUTHORIZATION analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE orders (customer int NOT NULL, status text NOT NULL, amount int NOT NULL, rate numeric NOT NULL, day date NOT NULL);
INSERT INTO orders SELECT 1 + i * 7 % 1000, (ARRAY['paid', 'open', 'returned'])[1 + i % 3], i % 90, i % 4, date '2025-01-01' + i % 20 FROM generate_series(1, 4000) i;
CREATE TABLE customers (customer int PRIMARY KEY, region text NOT NULL);
INSERT INTO customers SELECT i, (ARRAY['x', 'y'])[1 + i % 2] FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('shop', default_rho => 12000, max_rows => 5, max_groups => 4);
SELECT dp_cdp.protect_table(t, 'shop', 'customer') FROM unnest('{orders,customers}'::regclass[]) t;
SELECT dp_cdp.set_keys('orders', 'status', ARRAY['paid', 'open', 'returned']), dp_cdp.set_keys('customers', 'region', ARRAY['x', 'y']);
SELECT dp_cdp.set_bounds('orders', 'amount', 0, 100), dp_cdp.set_bounds('orders', 'rate', 0, 4);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1000000, delta => 0.9);
CREATE FUNCTION owned(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 - 1';
REVOKE EXECUTE ON FUNCTION owned FROM PUBLIC;
RESET SESSION AUTHORIZATION;

\ir same.psql

SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION half(int) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT $1 / 2.0';
CREATE FUNCTION size(x int) RETURNS text STABLE LANGUAGE sql RETURN CASE WHEN x > 40 THEN 'big' ELSE 'small' END;
CREATE FUNCTION square(x numeric) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT x * x';
CREATE FUNCTION fourth(x numeric) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT analyst1.square(analyst1.square(x))';
CREATE FUNCTION plus(x int, y int DEFAULT 3) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT x + y';
CREATE FUNCTION strictly(x int) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT x + 1';
CREATE FUNCTION cut() RETURNS date STABLE LANGUAGE sql AS $$ SELECT date '2025-01-08' $$;
CREATE FUNCTION same_as(anyelement) RETURNS anyelement IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION paid() RETURNS SETOF orders STABLE LANGUAGE sql AS $$ SELECT * FROM orders WHERE status = 'paid' $$;
CREATE FUNCTION since(d date) RETURNS TABLE (customer int, amount int) STABLE LANGUAGE sql AS 'SELECT customer, analyst1.plus(amount, 0) FROM orders WHERE day >= d';
CREATE FUNCTION paid_since(d date) RETURNS TABLE (status text) STABLE LANGUAGE sql AS 'SELECT p.status FROM analyst1.paid() p WHERE day >= d';
CREATE FUNCTION leaky(x int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT length(md5(x::text))';
CREATE FUNCTION fails(x int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1 / x';
CREATE FUNCTION definer(x int) RETURNS int IMMUTABLE SECURITY DEFINER LANGUAGE sql AS 'SELECT x';
CREATE FUNCTION setting(x int) RETURNS int IMMUTABLE LANGUAGE sql SET work_mem = '1MB' AS 'SELECT x';
CREATE FUNCTION moving(x int) RETURNS int VOLATILE LANGUAGE sql AS 'SELECT x';
CREATE FUNCTION written(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
CREATE FUNCTION total() RETURNS bigint STABLE LANGUAGE sql AS 'SELECT count(*) FROM orders';
CREATE FUNCTION rows_of_definer() RETURNS SETOF orders STABLE SECURITY DEFINER LANGUAGE sql AS 'SELECT * FROM orders';
CREATE FUNCTION again(x int) RETURNS SETOF orders STABLE LANGUAGE sql AS 'SELECT * FROM orders';
CREATE OR REPLACE FUNCTION again(x int) RETURNS SETOF orders STABLE LANGUAGE sql AS 'SELECT * FROM analyst1.again(x)';
CREATE VIEW halves AS SELECT customer, half(amount) AS h FROM orders;
RESET SESSION AUTHORIZATION;
GRANT USAGE ON SCHEMA analyst1 TO owner1;
GRANT SELECT ON analyst1.halves TO owner1;
SET search_path = public, analyst1;

CREATE FUNCTION answered(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	spent numeric := (SELECT sum(rho_spent) FROM dp_cdp.budgets);
BEGIN
	RETURN NEXT as_written(statement);
	RETURN NEXT is((SELECT sum(rho_spent) FROM dp_cdp.budgets), spent + 12000, '... for the price of one');
END $$;
CREATE FUNCTION refused(statement text, message text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	spent numeric := (SELECT sum(rho_spent) FROM dp_cdp.budgets);
BEGIN
	RETURN NEXT matches(rows_for('analyst1', statement), message, statement);
	RETURN NEXT is((SELECT sum(rho_spent) FROM dp_cdp.budgets), spent, '... for nothing');
END $$;

SELECT no_plan();

-- expressions
SELECT answered(q) FROM unnest(ARRAY[
	'SELECT round(sum(half(amount)), -2) AS s FROM orders',
	'SELECT size(amount), count(*) FROM orders GROUP BY 1',
	'SELECT size(amount) || ''!'' AS s FROM orders GROUP BY size(amount) HAVING count(*) > 5 ORDER BY size(amount)',
	'SELECT round(sum(square(rate)), -2) AS s FROM orders', 'SELECT round(sum(fourth(rate)), -3) AS s FROM orders', 'SELECT round(sum(plus(y => 2, x => amount)), -3) AS s FROM orders',
	'SELECT round(sum(plus(amount)), -3) AS s FROM orders', 'SELECT count(*) FROM orders WHERE strictly(amount) > 50', 'SELECT count(*) FROM orders WHERE day >= cut()',
	'SELECT count(*) FROM orders WHERE plus(10, 20) < amount', 'SELECT status, count(*) FILTER (WHERE size(amount) = ''big'') FROM orders GROUP BY 1',
	'SELECT same_as(status), count(*) FROM orders GROUP BY 1', 'SELECT half(count(*)::int) FROM orders',
	'SELECT region, count(*) FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND size(amount) = ''small'') GROUP BY 1',
	'SELECT count(*) FROM (SELECT customer, max(half(amount)) AS m FROM orders GROUP BY 1) q WHERE m > 40', 'WITH w AS (SELECT size(amount) AS s FROM orders) SELECT count(*) FROM w WHERE s = ''big'' ']) q;
SELECT is(rows_for('analyst1', 'SELECT round(sum(h), -2) AS s FROM halves'), rows_for('owner1', 'SELECT round(sum(amount / 2.0), -2) AS s FROM orders'), 'in a view');

-- FROM
SELECT answered(q) FROM unnest(ARRAY['SELECT count(*) FROM paid()', 'SELECT count(*) FROM since(''2025-01-10'')', 'SELECT round(sum(amount), -2) AS s FROM since(cut()) s',
	'SELECT region, count(*) FROM paid() p JOIN customers USING (customer) GROUP BY 1', 'SELECT count(*) FROM customers WHERE customer IN (SELECT customer FROM since(''2025-01-10''))',
	'WITH w AS (SELECT * FROM paid()) SELECT count(*) FROM w', 'SELECT (SELECT count(*) FROM paid()) AS n', 'SELECT count(*) FROM paid_since(cut()) p']) q;

-- what would be refused if it were typed in, and what PostgreSQL does not inline
SELECT refused('SELECT sum(leaky(amount)) FROM orders', '^ZC002 function md5\(text\)');
SELECT is(rows_for('analyst1', 'SELECT count(*) FROM orders WHERE fails(amount) IS NULL AND amount < 2'), rows_for('owner1', 'SELECT count(*) FROM orders WHERE amount = 0'), 'no error of a row');
SELECT refused(format('SELECT sum(%s(amount)) FROM orders', f), '^ZC002 function ' || f || '\(integer\) .*LANGUAGE sql IMMUTABLE') FROM unnest(ARRAY['definer', 'setting', 'moving', 'written']) f;
SELECT refused('SELECT sum(owned(amount)) FROM orders', '^ZC002 function owned');
SELECT refused('SELECT count(*) FROM orders WHERE amount < total()', '^ZC002 function total');
SELECT refused('SELECT sum(square(random()::numeric * amount)) FROM orders', '^ZC002');
SELECT refused('SELECT * FROM paid()', '^ZC002');
SELECT refused('SELECT day FROM since(''2025-01-01'') GROUP BY 1', '^42703');
SELECT refused('SELECT count(*) FROM rows_of_definer()', '^ZC002 permission denied for rows');
SELECT refused('SELECT count(*) FROM again(1)', '^54001');

-- a prepared statement follows a function that is replaced
SET SESSION AUTHORIZATION analyst1;
PREPARE p AS SELECT round(sum(analyst1.half(amount)), -2) AS s FROM orders;
PREPARE r AS SELECT count(*) FROM analyst1.paid();
CREATE TEMP TABLE seen (n int, s numeric);
SET plan_cache_mode = force_generic_plan;
EXECUTE p \gset a_
EXECUTE r \gset b_
CREATE OR REPLACE FUNCTION analyst1.half(int) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 1.0';
CREATE OR REPLACE FUNCTION analyst1.paid() RETURNS SETOF orders STABLE LANGUAGE sql AS $$ SELECT * FROM orders WHERE status <> 'paid' $$;
EXECUTE p \gset c_
EXECUTE r \gset d_
RESET SESSION AUTHORIZATION;
SELECT ok(:'c_s'::numeric - 2 * :'a_s'::numeric BETWEEN -300 AND 300, 'a call in an expression');
SELECT is(:d_count, 4000 - :b_count, '... and in FROM');

SELECT * FROM finish();
