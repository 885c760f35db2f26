-- Whether there is a row, as ORMs ask it: SELECT 1 ... LIMIT 1, with the LIMIT as a parameter, in an order, with DISTINCT, and EXISTS with any LIMIT.

\ir shop.psql
CREATE FUNCTION spent() RETURNS numeric LANGUAGE sql AS $$ SELECT sum(rho_spent) FROM dp_cdp_internal.budget $$;
CREATE FUNCTION run(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := 'none';
	line record;
BEGIN
	FOR line IN EXECUTE statement LOOP
		answer := line::text;
	END LOOP;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

SELECT no_plan();

CREATE TEMP TABLE before AS SELECT spent();
SET SESSION AUTHORIZATION analyst1;
SELECT is(run(statement), answer, statement) FROM (VALUES
	('SELECT 1 AS one FROM orders LIMIT 1', '(1)'),
	('SELECT 1 AS one FROM orders WHERE shop = 1 LIMIT 1', '(1)'),
	('SELECT 1 AS one FROM orders WHERE shop > 4 LIMIT 1', 'none'),
	('SELECT 1 AS one FROM orders WHERE shop = 1 ORDER BY amount DESC LIMIT 1', '(1)'),
	('SELECT EXISTS (SELECT 1 FROM orders WHERE shop = 1 ORDER BY id LIMIT 5) AS e', '(t)'),
	('SELECT EXISTS (SELECT 1 FROM orders WHERE shop = 1 LIMIT 0) AS e', '(f)'),
	('SELECT EXISTS (SELECT * FROM orders WHERE shop > 4 LIMIT 7) AS e', '(f)')) v (statement, answer);
RESET SESSION AUTHORIZATION;
SELECT is((spent() - (TABLE before)) / 5000, 6.0, 'each costs a count, but for LIMIT 0');
-- of what is the same in each row there is one row, if there is one at all: no declared key
DROP TABLE before;
CREATE TEMP TABLE before AS SELECT spent();
SET SESSION AUTHORIZATION analyst1;
SELECT is(run(statement), answer, statement) FROM (VALUES
	('SELECT DISTINCT 1 AS a FROM orders WHERE shop = 1 LIMIT 1', '(1)'),
	('SELECT DISTINCT 1 AS a FROM orders WHERE shop > 4 LIMIT 1', 'none'),
	('SELECT DISTINCT 1 AS a, now() IS NULL AS b FROM orders WHERE shop = 1 ORDER BY a FETCH FIRST ROW WITH TIES', '(1,f)'),
	('SELECT 1 AS a FROM orders WHERE shop > 4 GROUP BY a', 'none'),
	('SELECT 1 AS a FROM orders WHERE shop = 1 GROUP BY a, lower(''X'')', '(1)'),
	('SELECT count(*) FROM (SELECT DISTINCT 1 FROM orders WHERE shop > 4) q', '(0)'),
	('SELECT EXISTS (SELECT DISTINCT shop FROM orders WHERE shop > 4) AS e', '(f)'),
	('SELECT EXISTS (SELECT DISTINCT ON (shop) id FROM orders WHERE shop = 1 ORDER BY shop, id) AS e', '(t)'),
	('SELECT EXISTS (SELECT kind FROM orders WHERE shop > 4 GROUP BY kind) AS e', '(f)')) v (statement, answer);
RESET SESSION AUTHORIZATION;
SELECT is((spent() - (TABLE before)) / 5000, 9.0, 'each of them costs a count');
-- parameters, by custom and by generic plans
SET SESSION AUTHORIZATION analyst1;
PREPARE any_row(int, bigint) AS SELECT 1 AS one FROM orders WHERE shop = $1 LIMIT $2;
PREPARE row_exists(int, bigint) AS SELECT EXISTS (SELECT 1 FROM orders WHERE shop = $1 LIMIT $2) AS e;
CREATE TEMP TABLE asked (mode text, statement text, answer text);
INSERT INTO asked SELECT mode, statement, answer FROM unnest('{force_custom_plan,force_generic_plan}'::text[]) mode, (VALUES
	('EXECUTE any_row(1, 1)', '(1)'), ('EXECUTE any_row(9, 1)', 'none'),
	('EXECUTE any_row(1, 2)', 'ZC002 only LIMIT 1 asks whether a protected table has a row; write LIMIT 1, or ask for the number of rows by count(*)'),
	('EXECUTE any_row(1, NULL)', 'ZC002 only LIMIT 1 asks whether a protected table has a row; write LIMIT 1, or ask for the number of rows by count(*)'),
	('EXECUTE row_exists(1, 1)', '(t)'), ('EXECUTE row_exists(1, 0)', '(f)'), ('EXECUTE row_exists(9, 3)', '(f)')) v (statement, answer);
SELECT is(run(statement), answer, format('%s: %s', mode, statement)) FROM asked, LATERAL (SELECT set_config('plan_cache_mode', mode, false)) m;
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
DROP TABLE before;
CREATE TEMP TABLE before AS SELECT spent();
SET SESSION AUTHORIZATION analyst1;
SELECT is(run('EXECUTE any_row(1, 2)'), 'ZC002 only LIMIT 1 asks whether a protected table has a row; write LIMIT 1, or ask for the number of rows by count(*)', 'another number is refused');
SELECT matches(run(statement), '^ZC002', statement) FROM unnest(ARRAY['SELECT 1 AS one FROM orders LIMIT 2', 'SELECT id FROM orders LIMIT 1', 'SELECT 1 AS one FROM orders LIMIT 1 OFFSET 1']) statement;
RESET SESSION AUTHORIZATION;
SELECT is(spent(), (TABLE before), '... for nothing');

-- a table without rows, and one with a row of one person, are told apart by noise alone
SET SESSION AUTHORIZATION owner1;
CREATE TABLE nobody (person int NOT NULL, shop int NOT NULL);
CREATE TABLE somebody (LIKE nobody INCLUDING ALL);
INSERT INTO somebody VALUES (1, 1);
SELECT dp_cdp.alter_dataset('shop', min_rho => 0.001);
SELECT dp_cdp.protect_table(t, 'shop', unit => 'person') FROM unnest(ARRAY['nobody', 'somebody']::regclass[]) t;
RESET SESSION AUTHORIZATION;
CREATE FUNCTION told(relname text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	said text := '';
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SET LOCAL dp_cdp.rho = 0.1;
	FOR line IN EXECUTE 'EXPLAIN ' || format(statement, relname) LOOP
		said := said || regexp_replace(line, '(Budget: |remain).*|nobody|somebody', '', 'g');
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN said;
END $$;
CREATE FUNCTION yes(relname text, statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint := 0;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SET LOCAL dp_cdp.rho = 0.1;
	FOR i IN 1 .. 200 LOOP
		n := n + (run(format(statement, relname)) <> 'none')::int;
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN n;
END $$;
CREATE TEMP TABLE spellings AS SELECT unnest(ARRAY['SELECT DISTINCT 1 FROM %s LIMIT 1', 'SELECT 1 FROM %s LIMIT 1', 'SELECT DISTINCT 1 FROM %s WHERE shop = 1']) AS statement;
SELECT is(told('nobody', statement), told('somebody', statement), 'one plan and price: ' || statement) FROM spellings;
-- 5 and 9 are expected; more than 40 in one of 1e10 runs
SELECT cmp_ok(yes(relname, statement), '<', most, format('%s: %s', relname, statement)) FROM spellings, (VALUES ('nobody', 40::bigint), ('somebody', 60)) v (relname, most);

SELECT * FROM finish();
