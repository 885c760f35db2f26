-- What ORMs and drivers send to learn columns, to ask whether there is a row, and to read pages: Perl's DBI, Sequel, Rails, Django, PDO,
-- Tcl's tdbc, TypeORM, pg-promise, objection and slonik, as their logs have it; by PREPARE where they do.

\ir shop.psql
CREATE FUNCTION spent() RETURNS numeric LANGUAGE sql AS $$ SELECT sum(rho_spent) FROM dp_cdp_internal.budget $$;
-- the number of rows as analyst1 gets them, or the error
CREATE FUNCTION rows_of(statement text, VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
	line record;
BEGIN
	SET LOCAL SESSION AUTHORIZATION analyst1;
	FOR i IN 1 .. cardinality(settings) LOOP
		EXECUTE settings[i];
	END LOOP;
	FOR line IN EXECUTE statement LOOP
		n := n + 1;
	END LOOP;
	SET LOCAL SESSION AUTHORIZATION DEFAULT;
	RETURN n;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

SELECT no_plan();

-- columns: for nothing
CREATE TEMP TABLE before AS SELECT spent();
SELECT is(rows_of(statement), '0', statement) FROM unnest(ARRAY[
	'SELECT * FROM "orders" LIMIT 0', 'SELECT * FROM orders WHERE false', 'SELECT * FROM "orders" WHERE (1 = 0) LIMIT 1', 'SELECT * FROM (SELECT * FROM orders) AS t LIMIT 0']) statement;
SELECT matches(rows_of(statement), '^ZC002 permission denied for rows of protected table "orders"; ask for private aggregates, such as SELECT dp_count\(\*\) FROM orders', statement)
	FROM unnest(ARRAY['SELECT * FROM "orders" LIMIT 1', 'SELECT * FROM orders']) statement;
SELECT is(rows_of(statement, 'SET LOCAL dp_cdp.empty_previews = on'), answer, statement || ' with empty previews') FROM (VALUES
	('SELECT * FROM "orders" LIMIT 1', '0'), ('SELECT * FROM orders', '0'), ('SELECT o.*, c.region FROM orders o JOIN customers c USING (customer) ORDER BY id LIMIT 1000', '0'),
	('SELECT id, rank() OVER (ORDER BY amount) FROM orders LIMIT 5', '0')) v (statement, answer);
SELECT matches(rows_of(statement, 'SET LOCAL dp_cdp.empty_previews = on'), '^ZC002', statement || ' is none') FROM unnest(ARRAY[
	'SELECT id FROM orders FOR UPDATE', 'SELECT customer, count(*) FROM orders GROUP BY 1', 'SELECT sum(amount) FROM (SELECT * FROM orders LIMIT 5) q']) statement;
CREATE ROLE stranger LOGIN;
SET SESSION AUTHORIZATION stranger;
SET dp_cdp.empty_previews = on;
SELECT throws_like('SELECT * FROM orders LIMIT 1', '%', 'not without a budget');
RESET dp_cdp.empty_previews;
RESET SESSION AUTHORIZATION;
SELECT is(spent(), (TABLE before), '... all for nothing');

-- whether there is a row
SELECT is(rows_of(statement), '1', statement) FROM unnest(ARRAY[
	'SELECT (1) AS "a" FROM "orders" WHERE "orders"."shop" = 1 LIMIT 1', 'SELECT 1 AS "one" FROM "orders" WHERE ("shop" = 1) LIMIT 1', 'SELECT 1 AS "row_exists" FROM (SELECT 1 AS dummy_column) "dummy_table" WHERE EXISTS (SELECT 1 FROM "orders" "o" WHERE o.shop = 1) LIMIT 1',
	'SELECT EXISTS(SELECT 1 FROM orders WHERE shop = 1)', 'SELECT count(DISTINCT("o"."id")) AS "cnt" FROM "orders" "o" WHERE o.shop = 1']) statement;

-- pages, with the number of their rows
SELECT is(rows_of(statement), answer, statement) FROM (VALUES
	('SELECT "shop", count(*) AS "count" FROM "orders" WHERE shop IN (1, 2) GROUP BY "shop" ORDER BY "shop" LIMIT 10 OFFSET 0', '2'),
	('SELECT count(*) AS "count" FROM (SELECT "shop", count(*) AS "count" FROM "orders" WHERE shop IN (1, 2) GROUP BY "shop") AS "t1" LIMIT 1', '1'),
	('SELECT COUNT(*) FROM (SELECT "orders"."shop" AS Col1, COUNT("orders"."id") AS "n" FROM "orders" GROUP BY "orders"."shop") subquery', '1'),
	('select count(*) from (select "shop", count(*) as "n" from "orders" group by "shop") as "temp"', '1')) v (statement, answer);

SELECT * FROM finish();
