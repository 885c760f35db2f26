-- What functions on tables, columns and budgets return; amounts of memory as text.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE reader1;
CREATE ROLE reader2;
CREATE ROLE keeper LOGIN;
CREATE TYPE mood AS ENUM ('up', 'down');
ALTER TYPE mood OWNER TO owner1;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SELECT no_plan();

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop', rho => 2) \g /dev/null
CREATE TABLE orders (id int PRIMARY KEY, customer int, paid numeric, day date, kind text);
CREATE TABLE lines ("order" int REFERENCES orders, "a ""Part" text);
CREATE TABLE other (LIKE orders);
GRANT SELECT (paid) ON orders TO reader2;
GRANT SELECT ON orders TO reader1, PUBLIC;

-- tables
CREATE FUNCTION shown(t dp_cdp.table_policy) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' | ', coalesce((t).dataset, '-'), (t)."table", coalesce((t).unit, '-'), coalesce((t).through, '-'), coalesce((t).block, '-'),
		(t).bounds, (t).keys, coalesce((t).readers, '-'), coalesce((t).problem, '-')) $$;
SELECT is(shown(dp_cdp.protect_table('orders', 'shop', unit => 'customer')), 'shop | orders | customer | - | - | {} | {} | PUBLIC, reader1 | -', 'protect_table');
SELECT is(shown(dp_cdp.protect_table('lines', 'shop', through => 'order')), 'shop | lines | - | "order" | - | {} | {} | - | -', '... through');
REVOKE SELECT ON orders FROM PUBLIC, reader1;
REVOKE SELECT (paid) ON orders FROM reader2;

-- columns
CREATE FUNCTION shown(c dp_cdp.column_policy) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' | ', (c).dataset, (c)."table", (c)."column", coalesce((c).lower, '-'), coalesce((c).upper, '-'),
		coalesce((c).total_lower::text, '-'), coalesce((c).total_upper::text, '-'), coalesce((c).keys::text, '-')) $$;
SELECT is(shown(dp_cdp.set_bounds('orders', 'paid', 0, 99.50, 0, 500)), 'shop | orders | paid | 0 | 99.50 | 0 | 500 | -', 'set_bounds, with totals');
SELECT is(shown(dp_cdp.set_keys('orders', 'paid', ARRAY[1, 2, NULL])), 'shop | orders | paid | 0 | 99.50 | 0 | 500 | 3', 'set_keys');
SELECT is(shown(dp_cdp.set_bounds('orders', 'paid', '1', '2')), 'shop | orders | paid | 1 | 2 | - | - | 3', 'set_bounds, as text');
SELECT is(shown(dp_cdp.set_bounds('orders', 'day', f.lower, f.upper)), 'shop | orders | day | 2024-01-01 | 2024-12-31 | - | - | -', 'set_bounds of dates')
	FROM (VALUES (date '2024-01-01', date '2024-12-31')) f(lower, upper);
SELECT is(shown(dp_cdp.drop_bounds('orders', 'paid')), 'shop | orders | paid | - | - | - | - | 3', 'drop_bounds');
SELECT is(shown(dp_cdp.drop_keys('orders', 'paid')), 'shop | orders | paid | - | - | - | - | -', 'drop_keys');
SELECT is(shown(dp_cdp.set_keys('lines', 'a "Part', '{x}'::text[])), 'shop | lines | a "Part | - | - | - | - | 1', 'a name that needs quotes');
SELECT dp_cdp.set_keys('orders', 'kind', '{a,b}'::text[]) \g /dev/null
SELECT is(shown(dp_cdp.replace_table('orders', 'other')), 'shop | other | customer | - | - | {day} | {kind} | - | -', 'replace_table');
\set statement 'BEGIN; SELECT dp_cdp.unprotect_table(''other''); ROLLBACK'
\set said `psql -X -q -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, $$NOTICE:  bounds and keys of columns of table "other" are forgotten: day (bounds), kind (keys)
HINT:  If you protect the table again, declare them again with dp_cdp.set_bounds and dp_cdp.set_keys.$$, 'what unprotect_table forgets');
SELECT is(shown(dp_cdp.unprotect_table('other')), '- | other | - | - | - | {} | {} | - | -', 'unprotect_table');
SELECT is(shown(dp_cdp.unprotect_table('orders')), '- | orders | - | - | - | {} | {} | - | -', '... of what others lead to');
SELECT dp_cdp.protect_table('orders', 'shop', each_row => true) \g /dev/null
SELECT is(shown(dp_cdp.protect_table('lines', 'shop', through => 'order')), 'shop | lines | - | "order" | - | {} | {"a \"Part"} | - | -', 'as it was');
ALTER TABLE lines DROP CONSTRAINT lines_order_fkey;
SELECT is((dp_cdp.set_keys('lines', 'a "Part', '{y,z}'::text[])).keys, 2, 'what is damaged can be declared');
CREATE TABLE stays (person int, day date, ward text);
SELECT dp_cdp.create_dataset('blocks') \g /dev/null
SELECT is(shown(dp_cdp.protect_table('stays', 'blocks', unit => 'person', block => 'day', every => '1 month')), 'blocks | stays | person | - | day | {} | {} | - | -', 'blocks');

-- budgets
CREATE FUNCTION shown(g dp_cdp.granted) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' | ', (g).dataset, coalesce((g).role_name, '-'), (g).rho, (g).epsilon, (g).delta, (g).best_guess, (g).aggregates, (g).report_delta, (g).key_delta, (g).key_selections) $$;
SELECT is(shown(dp_cdp.set_budget('shop', 'analyst1', rho => 1, delta => 1e-7)), 'shop | analyst1 | 1 | 7.76622 | 1.1e-06 | 0.7603 | 100 | 1e-06 | 1e-07 | 100', 'set_budget');
SELECT is(shown(dp_cdp.reset_failures('shop', 'analyst1')), 'shop | analyst1 | 1 | 7.76622 | 1.1e-06 | 0.7603 | 100 | 1e-06 | 1e-07 | 100', 'reset_failures');
SELECT is(shown(dp_cdp.drop_budget('shop', 'analyst1')), 'shop | analyst1 | 0 | 0 | 0 | 0.5 | 0 | 0 | 0 | 0', 'drop_budget: nothing is left');
CREATE FUNCTION shown(a dp_cdp.altered) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' | ', (a).dataset, (a).changed, (a).rho, (a).epsilon, (a).delta, (a).best_guess, (a).aggregates, (a).report_delta, (a).key_delta, (a).key_selections) $$;
SELECT is(shown(dp_cdp.alter_dataset('shop')), 'shop | {} | 2 | 11.6886 | 2e-06 | 0.8414 | 200 | 1e-06 | 1e-06 | 1000', 'a cap');
SELECT is(shown(dp_cdp.alter_dataset('shop', default_rho => 0.02)), 'shop | {default_rho,min_rho} | 2 | 11.6886 | 2e-06 | 0.8414 | 100 | 1e-06 | 1e-06 | 1000', '... and what has changed');
SELECT is(delta || ' ' || report_delta || ' ' || key_delta, '1e-06 5e-07 5e-07', 'a cap of epsilon: each half of delta') FROM dp_cdp.create_dataset('halves', epsilon => 3, delta => 1e-6);

-- notices of what promises little, once for each call
\set said `psql -X -q -U owner1 -o /dev/null -c "SELECT dp_cdp.create_dataset('large', rho => 6, delta => 1e-3)" 2>&1`
SELECT is(:'said'::text, $$NOTICE:  once the cap of dataset "large" is spent, the best guesser is right in 95.85 % of cases whether one person is in the data
HINT:  Give rho => 5 or less, so that he is wrong in at least 5 % of cases.
NOTICE:  the delta of the cap of dataset "large" is 0.002: with this probability answers may tell anything about a person
HINT:  Give a delta well below one over the number of people, such as delta => 1e-6.$$, 'create_dataset');
\set said `psql -X -q -U owner1 -o /dev/null -c "SELECT dp_cdp.alter_dataset('large', rho => 5, delta => 5e-4)" 2>&1`
SELECT is(:'said'::text, '', 'the remedies of alter_dataset');
\set said `psql -X -q -U owner1 -o /dev/null -c "SELECT dp_cdp.set_budget('large', 'analyst1', rho => 5.5, delta => 1e-6)" 2>&1`
SELECT is(:'said'::text, $$NOTICE:  the budget of role "analyst1" in dataset "large" is rho 5.5, above the cap of rho 5 for all roles together: the cap ends its answers first
HINT:  Give rho => 5 or less, or raise the cap with dp_cdp.alter_dataset('large', rho => 5.5).
NOTICE:  once the budget of role "analyst1" in dataset "large" is spent, the best guesser is right in 95.14 % of cases whether one person is in the data
HINT:  Give rho => 5 or less, so that he is wrong in at least 5 % of cases.$$, 'set_budget');
\set said `psql -X -q -U owner1 -o /dev/null -c "SELECT dp_cdp.set_budget('large', 'analyst1', rho => 5, delta => 1e-6)" 2>&1`
SELECT is(:'said'::text, '', 'the remedy of set_budget');
\set said `psql -X -q -U owner1 -o /dev/null -c "SELECT dp_cdp.alter_dataset('large', rho => 4)" 2>&1`
SELECT is(:'said'::text, $$NOTICE:  the cap of dataset "large" is rho 4, and budgets of these roles are above it: analyst1
HINT:  The cap ends their answers first: lower them with dp_cdp.set_budget, or raise the cap.$$, 'a cap that is lowered');
\set said `psql -X -q -U owner1 -o /dev/null -c "SELECT dp_cdp.alter_dataset('large', max_rows => 3), dp_cdp.create_dataset('open', rho => 'Infinity')" 2>&1`
SELECT is(:'said'::text, '', 'of nothing else');

-- warnings: what was raised is in the row, too, where the session shows no notices
SELECT is((dp_cdp.set_keys('lines', 'a "Part', '{x,x,y,NULL,NULL}'::text[])).warnings, ARRAY['1 of 3 keys of column "a "Part" repeat another, and equal keys have one group'], 'a row has its warnings');
SELECT is(columns -> 'a "Part' -> 'keys', '["x", "y", null]', 'a key that is given twice is declared once') FROM dp_cdp.protected WHERE "table" = 'lines'::regclass;
SELECT is((dp_cdp.drop_keys('lines', 'a "Part')).warnings, '{}'::text[], 'the next has none of these');
DO $$ BEGIN PERFORM dp_cdp.protect_table('stays', 'shop'); EXCEPTION WHEN OTHERS THEN NULL; END $$;
DO $$ BEGIN PERFORM (dp_cdp.set_bounds('orders', 'paid', 1, 0)); EXCEPTION WHEN OTHERS THEN NULL; END $$;
SELECT is((dp_cdp.drop_keys('orders', 'kind')).warnings, '{}'::text[], 'nor of a call that failed') FROM dp_cdp.set_keys('orders', 'kind', '{a}'::text[]);
GRANT SELECT ON orders TO analyst1;
SELECT is((dp_cdp.set_budget('shop', 'analyst1', rho => 1)).warnings, ARRAY['role "analyst1" may read rows of dataset "shop", without noise and whatever its budget: public.orders. REVOKE SELECT on these tables from it, or from the roles that it has this right by.'],
	'a budget of a role that reads rows');
REVOKE SELECT ON orders FROM analyst1;
SELECT is((dp_cdp.set_budget('shop', 'analyst1', rho => 1)).warnings, '{}'::text[], '... and that does not');
SELECT throws_ok($$SELECT dp_cdp.drop_dataset('gone')$$, 'ZC004', 'dataset "gone" does not exist: there is nothing to drop', 'a dataset that is not there');

-- what rows have, for who may read them
CREATE TABLE bills (person int NOT NULL, paid int, at date, kind text NOT NULL, mood mood);
INSERT INTO bills SELECT i % 10, i, date '2026-01-01' + i, (ARRAY['a', 'b', 'c'])[1 + i % 3], (ARRAY['up', 'down']::mood[])[1 + i % 2] FROM generate_series(1, 100) i;
SELECT dp_cdp.protect_table('bills', 'shop', unit => 'person') \g /dev/null
SELECT is((dp_cdp.set_bounds('bills', 'paid', 0, 90)).warnings, ARRAY[$$column "paid" of table "bills": 10 of 100 values are outside of the bounds 0 and 90, and count as the nearer one. SELECT dp_cdp.set_bounds('public.bills', 'paid', lower, upper), with bounds that are publicly plausible.$$], 'values outside of bounds');
SELECT is((dp_cdp.set_bounds('bills', 'at', date '2026-01-01', date '2026-02-01')).warnings,
	ARRAY[$$column "at" of table "bills": 69 of 100 values are outside of the bounds 2026-01-01 and 2026-02-01, and count as the nearer one. SELECT dp_cdp.set_bounds('public.bills', 'at', lower, upper), with bounds that are publicly plausible.$$], '... of times');
SELECT is((dp_cdp.set_bounds('bills', 'paid', 0, 100)).warnings, '{}'::text[], 'none are');
SELECT is((dp_cdp.set_keys('bills', 'kind', '{a,b}'::text[])).warnings, ARRAY[$$column "kind" of table "bills": 33 rows have a value that is no declared key: they are in no group. SELECT dp_cdp.set_keys('public.bills', 'kind', ...), with all keys that are publicly known.$$], 'rows outside of keys');
SELECT is((dp_cdp.set_keys('bills', 'kind', '{a,b,c,d}'::text[])).warnings, ARRAY['column "kind" of table "bills": 1 declared key has no row: its group is noise around 0: d. Leave them out of the keys if everybody knows that they have no row.'], 'keys without rows');
SELECT is((dp_cdp.alter_dataset('shop', max_rows => 3, max_groups => 1)).warnings,
	ARRAY[$$table "bills": 10 of 10 people have more than 3 rows (max_rows): in one group at most 3 of each count. SELECT * FROM dp_cdp.suggest_limits('public.bills', rho => ...), which finds a limit privately.$$,
		$$column "kind" of table "bills": 10 of 10 people are in more than 1 of its groups (max_groups), and count in so many alone. SELECT dp_cdp.alter_dataset('shop', max_groups => ...), or a max_contribution instead.$$], 'people above limits');
SELECT is((dp_cdp.alter_dataset('shop', max_contribution => 4)).warnings,
	ARRAY['max_contribution takes the place of max_groups and max_rows of the dataset: give them, too, to keep them',
		$$table "bills": 10 of 10 people have more than 4 rows (max_contribution), and are scaled down to that: a count lacks 60 of 100 rows. SELECT * FROM dp_cdp.suggest_limits('public.bills', rho => ...), which finds a limit privately.$$],
	'people above the norm; a number will do');
SELECT dp_cdp.alter_dataset('shop', reset => ARRAY['max_contribution']) \g /dev/null
SELECT is((dp_cdp.set_keys('bills', 'mood', '{up,NULL}'::mood[])).warnings,
	ARRAY[$$column "mood" of table "bills": 50 rows have a value that is no declared key: they are in no group. SELECT dp_cdp.set_keys('public.bills', 'mood', ...), with all keys that are publicly known.$$],
	'... of a type of one''s own');
SELECT is((dp_cdp.set_bounds('bills', 'paid', 0, 100, 0, 200)).warnings,
	ARRAY[$$column "paid" of table "bills": the values of 10 of 10 people add up to less than 0 or more than 200, and are cut to that. SELECT dp_cdp.set_bounds('public.bills', 'paid', 0, 100, total_lower, total_upper), with totals that are publicly plausible.$$],
	'totals that are exceeded');
CREATE TABLE tills AS SELECT CASE WHEN i % 10 > 0 THEN i % 5 END AS till FROM generate_series(1, 100) i;
SELECT is((dp_cdp.protect_table('tills', 'shop', unit => 'till')).warnings,
	ARRAY['table "tills": 10 rows belong to nobody, and count in no answer. Give each row its person, and declare the column NOT NULL.',
		$$column "till" of table "tills": 90 rows have 5 different values here: is each of them one person?. SELECT dp_cdp.unprotect_table('public.tills'), and dp_cdp.protect_table('public.tills', 'shop', unit => ...) with the column that says whose row it is, if it is another.$$],
	'a unit of few values, and rows of nobody');
SELECT dp_cdp.unprotect_table('tills') \g /dev/null
-- a table of people, whom another names
CREATE TABLE payers (payer int PRIMARY KEY);
CREATE TABLE payments (payer int NOT NULL, paid int);
SELECT dp_cdp.protect_table('payers', 'shop', unit => 'payer'), dp_cdp.protect_table('payments', 'shop', unit => 'payer') \g /dev/null
SELECT is(string_agg(finding || ': ' || remedy, ' '), 'each row is a person, as unit payer is different in each, and rows of other tables name them by it: nothing', 'its rows are people')
	FROM dp_cdp.check_setup() WHERE object = 'public.payers';
SELECT dp_cdp.unprotect_table('payers'), dp_cdp.unprotect_table('payments') \g /dev/null
CREATE TABLE more () INHERITS (bills);
ALTER TABLE more ALTER kind SET STORAGE EXTERNAL;
INSERT INTO more SELECT 1, 1, '2026-01-01', repeat('x', 1000000), 'up' FROM generate_series(1, 140);
SELECT is((dp_cdp.set_bounds('bills', 'paid', 0, 50)).warnings,
	ARRAY[$$column "paid" of table "bills": its rows were not looked at, as they may be many. SELECT * FROM dp_cdp.check_data('shop') reads them.$$], 'a table that is large with its children');
DROP TABLE more;

-- as the table's owner: planning runs code of his
RESET SESSION AUTHORIZATION;
CREATE TABLE ran (who name);
GRANT INSERT ON ran TO PUBLIC;
SET SESSION AUTHORIZATION owner1;
CREATE FUNCTION writes() RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN INSERT INTO public.ran VALUES (current_user); RETURN 1; END $$;
CREATE FUNCTION hides() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.writes(); RETURN 1; END $$;
CREATE INDEX ON bills ((paid + hides()));
CREATE INDEX ON bills (paid) WHERE hides() = 1;
CREATE STATISTICS odd ON (paid + hides()), kind FROM bills;
RESET SESSION AUTHORIZATION;
DELETE FROM ran;
SELECT dp_cdp.set_bounds('bills', 'paid', 0, 90), dp_cdp.set_keys('bills', 'kind', '{a,b}'::text[]) \g /dev/null
SELECT is((SELECT array_agg(DISTINCT who) FROM ran), '{owner1}'::name[], 'a superuser who declares runs it as its owner');
DELETE FROM ran;
SELECT isnt_empty('SELECT * FROM dp_cdp.check_data(''shop'')', 'who checks');
SELECT is((SELECT array_agg(DISTINCT who) FROM ran), '{owner1}'::name[], '... too');
SELECT is(current_user, 'postgres'::name, 'and is himself again');
SET SESSION AUTHORIZATION analyst1;
SELECT throws_ok($$SELECT dp_cdp_internal.check_table('bills', 1, true, 1, NULL)$$, '42501', NULL, 'nobody else checks rows');
SET SESSION AUTHORIZATION owner1;

-- of rows that row-level security hides from who calls, nothing is told
RESET SESSION AUTHORIZATION;
ALTER TABLE bills ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON bills FOR SELECT TO keeper USING (paid <= 10);
GRANT SELECT ON bills TO keeper;
SELECT dp_cdp.alter_dataset('shop', new_owner => 'keeper') \g /dev/null
SET SESSION AUTHORIZATION keeper;
SELECT is((SELECT count(*) FROM bills), 10::bigint, 'who sees some of the rows');
SELECT is((dp_cdp.set_bounds('bills', 'paid', 0, 90)).warnings, '{}'::text[], '... is told nothing of the others when he declares bounds');
SELECT is((dp_cdp.set_keys('bills', 'kind', '{a,b}'::text[])).warnings, '{}'::text[], '... and keys');
SELECT throws_ok($$SELECT dp_cdp_internal.check_table('bills', 1, true, 1, NULL)$$, '42501',
	'must be allowed to read all rows of table public.bills, to check them: row-level security hides some from role "keeper"', '... and does not check them');
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('shop', new_owner => 'owner1') \g /dev/null
REVOKE SELECT ON bills FROM keeper;
DROP POLICY few ON bills;
ALTER TABLE bills DISABLE ROW LEVEL SECURITY;

-- nor of those that lead to whose they are
SET SESSION AUTHORIZATION owner1;
CREATE TABLE carts (cart int PRIMARY KEY, buyer int);
INSERT INTO carts SELECT i, i / 20 FROM generate_series(1, 400) i;
CREATE TABLE wares (ware int, cart int REFERENCES carts);
INSERT INTO wares SELECT i, 1 + i % 400 FROM generate_series(1, 4000) i;
SELECT dp_cdp.create_dataset('store', rho => 1), dp_cdp.protect_table('carts', 'store', unit => 'buyer'), dp_cdp.protect_table('wares', 'store', through => 'cart') \g /dev/null
GRANT SELECT ON carts, wares TO keeper;
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('store', new_owner => 'keeper') \g /dev/null
SET SESSION AUTHORIZATION keeper;
SELECT matches((dp_cdp.alter_dataset('store', max_rows => 5)).warnings::text, 'table ..wares..: 21 of 21 people have more than 5 rows', 'who sees them all is told of people through a key');
RESET SESSION AUTHORIZATION;
ALTER TABLE carts ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON carts FOR SELECT TO keeper USING (buyer = 1);
SET SESSION AUTHORIZATION keeper;
SELECT is((dp_cdp.alter_dataset('store', max_rows => 3)).warnings, '{}'::text[], '... and who sees some of what it leads to is not');
RESET SESSION AUTHORIZATION;
DROP TABLE wares, carts;
SELECT dp_cdp.drop_dataset('store') \g /dev/null
SELECT dp_cdp.set_keys('bills', 'kind', '{a,b,c,d}'::text[]), dp_cdp.set_bounds('bills', 'paid', 0, 90) \g /dev/null
SET SESSION AUTHORIZATION owner1;

-- roles that read a partition or a child, and a column's name in other words
CREATE TABLE part_of () INHERITS (bills);
GRANT SELECT ON part_of TO analyst1;
SELECT is((dp_cdp.set_budget('shop', 'analyst1', rho => 1)).warnings,
	ARRAY['role "analyst1" may read rows of dataset "shop", without noise and whatever its budget: public.part_of. REVOKE SELECT on these tables from it, or from the roles that it has this right by.'],
	'a budget of a role that reads a child');
DROP TABLE part_of;
CREATE FUNCTION hint_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'it runs';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END $$;
SELECT is(hint_of(format('SELECT dp_cdp.set_bounds(''bills'', %L, 0, 1)', given)), expected, 'a column by the name ' || given)
	FROM (VALUES ('Paid', 'Perhaps you mean ''paid''. A name is given as it is stored, without double quotes.'),
		('"paid"', 'Perhaps you mean ''paid''. A name is given as it is stored, without double quotes.'),
		('pid', 'Perhaps you mean ''paid''. A name is given as it is stored, without double quotes.'), ('something', '')) v(given, expected);
BEGIN;
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('shop', new_owner => 'keeper') \g /dev/null
SET SESSION AUTHORIZATION keeper;
SELECT is((dp_cdp.set_bounds('bills', 'paid', 0, 90)).warnings, '{}'::text[], 'who owns a dataset, and may not read its rows, is told nothing');
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('shop', new_owner => 'owner1') \g /dev/null
SET SESSION AUTHORIZATION owner1;

-- amounts of memory
CREATE FUNCTION memory(written text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT dp_cdp.alter_dataset(''shop'', release_memory => %L)', written);
	RETURN (SELECT release_memory FROM dp_cdp.datasets WHERE dataset = 'shop');
END $$;
SELECT is(memory(written), 65536, written) FROM unnest(ARRAY['64MB', '65536', '65536kB', ' 0.0625 GB ']) written;
SELECT dp_cdp.alter_dataset('shop', release_memory => 64 * 1024 + 1) \g /dev/null
SELECT is(release_memory, 65537, 'an expression') FROM dp_cdp.datasets WHERE dataset = 'shop';
SELECT dp_cdp.alter_dataset('shop', release_memory => '1GB') \g /dev/null
SELECT is(release_memory, 1048576, 'text') FROM dp_cdp.datasets WHERE dataset = 'shop';
SELECT dp_cdp.alter_dataset('shop', release_memory => 80::smallint) \g /dev/null
SELECT is(release_memory, 80, 'a small integer') FROM dp_cdp.datasets WHERE dataset = 'shop';
SELECT lives_ok($$SELECT dp_cdp.create_dataset('small', release_memory => '64kB')$$, 'create_dataset');
SELECT is('64MB'::dp_cdp.memory::text, '64MB', 'as it is shown');
SELECT is(written::dp_cdp.memory::text, written, 'in its largest unit: ' || written) FROM unnest('{0kB,1023kB,1MB,1025kB,3GB}'::text[]) written;
SELECT throws_ok(format('SELECT dp_cdp.alter_dataset(''shop'', release_memory => %L)', written), '22P02', NULL, 'refuses ' || written)
	FROM unnest('{64 mb,many,"",1TB1,99999999999GB}'::text[]) written;
SELECT throws_ok(format('SELECT dp_cdp.alter_dataset(''shop'', release_memory => %L)', written), 'ZC004', 'release_memory must be at least 64 kB, such as ''64MB''; 0 removes it', 'refuses ' || written)
	FROM unnest('{63kB,-1}'::text[]) written;
SELECT throws_ok($$SELECT dp_cdp.alter_dataset('shop', release_memory => '64 megabytes')$$, '22P02',
	'"64 megabytes" is no amount of memory: write a number of kB, or a text with its unit, such as ''64MB''', 'and says what to write');
SELECT is(release_memory, 80, 'which changes nothing') FROM dp_cdp.datasets WHERE dataset = 'shop';
RESET SESSION AUTHORIZATION;

SELECT * FROM finish();
