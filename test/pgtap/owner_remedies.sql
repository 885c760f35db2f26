-- What messages to owners, administrators and payers name: each is provoked, what
-- it names is typed in, and what was refused works after that.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE other1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, other1;

SELECT no_plan();

-- how a statement of a role ends
CREATE FUNCTION ends(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text := 'done';
	hint text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', role);
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
		message := SQLSTATE || ' ' || SQLERRM || ' ' || hint;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN message;
END $$;

CREATE FUNCTION refused(role text, statement text, says text) RETURNS text LANGUAGE sql
	AS $$ SELECT ok(m <> 'done' AND strpos(m, says) > 0, format('%s says %s', m, says)) FROM ends(role, statement) m $$;
CREATE FUNCTION done(role text, statement text) RETURNS text LANGUAGE sql
	AS $$ SELECT is(ends(role, statement), 'done', '... ' || statement) $$;

-- refused with words that say what to do, which works, and then what was refused, or what the message says to write instead of it
CREATE FUNCTION helped(role text, statement text, says text, helper text, remedy text, again text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	message text := ends(role, statement);
BEGIN
	RETURN NEXT ok(message <> 'done' AND strpos(message, says) > 0, statement || ' is refused: ' || says);
	IF strpos(message, says) = 0 THEN
		RETURN NEXT diag(message);
	END IF;
	RETURN NEXT is(ends(helper, remedy), 'done', '... ' || remedy);
	IF again IS DISTINCT FROM '' THEN
		RETURN NEXT is(ends(role, coalesce(again, statement)), 'done', '... and then ' || coalesce(again, 'it works'));
	END IF;
END $$;

-- refused with words that say what to write instead, which works
CREATE FUNCTION instead(role text, statement text, says text, remedy text) RETURNS SETOF text LANGUAGE sql
	AS $$ SELECT helped(role, statement, says, role, remedy, '') $$;

-- ------------------------------------------------------------------------
-- datasets and tables
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
-- its many changes of one transaction may meet autovacuum's in a deadlock
CREATE TABLE people (person int, born date, sex text NOT NULL, wage numeric, note text, code varchar(8)) WITH (autovacuum_enabled = false);
INSERT INTO people SELECT i, date '1950-01-01' + i % 9000, (ARRAY['f', 'm'])[1 + i % 2], i % 100, 'n' || i % 3, 'c' FROM generate_series(1, 500) i;
CREATE TABLE orders (id int PRIMARY KEY, person int, amount int);
INSERT INTO orders SELECT i, i % 500, i % 9 FROM generate_series(1, 2000) i;
CREATE TABLE lines (id int, "order" int, quantity int);
INSERT INTO lines SELECT i, 1 + i % 2000, i % 5 FROM generate_series(1, 4000) i;
CREATE VIEW grown AS SELECT * FROM people WHERE born < '1960-01-01';
CREATE MATERIALIZED VIEW counted AS SELECT sex, count(*) FROM people GROUP BY 1;
CREATE TABLE parts (person int, day int) PARTITION BY LIST (day);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE people_new (person int, born date, sex text, wage numeric, note text, code varchar(8), more int);
INSERT INTO people_new SELECT * FROM people;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION other1;
CREATE TABLE others (person int);
RESET SESSION AUTHORIZATION;
SET client_min_messages = error;

SELECT helped('owner1', $$SELECT dp_cdp.create_dataset('town', rho => 20)$$, 'permission denied for function', 'postgres', 'GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1');
SELECT instead('owner1', $$SELECT dp_cdp.create_dataset('town')$$, 'call dp_cdp.alter_dataset', $$SELECT dp_cdp.alter_dataset('town', max_rows => 6)$$);
SELECT instead('owner1', $$SELECT dp_cdp.create_dataset('town')$$, 'choose another name', $$SELECT dp_cdp.create_dataset('village')$$);
SELECT instead('owner1', $$SELECT dp_cdp.create_dataset('v2', delta => 1)$$, 'less than 1', $$SELECT dp_cdp.create_dataset('v2', delta => 1e-6)$$);
SELECT instead('owner1', $$SELECT dp_cdp.alter_dataset('town', default_rho => 3, max_rho => 2)$$, 'raise max_rho', $$SELECT dp_cdp.alter_dataset('town', default_rho => 3, max_rho => 3)$$);
SELECT instead('owner1', $$SELECT dp_cdp.alter_dataset('town', default_rho => 3, max_rho => 2)$$, 'lower default_rho', $$SELECT dp_cdp.alter_dataset('town', default_rho => 1, max_rho => 2)$$);
SELECT instead('owner1', $$SELECT dp_cdp.alter_dataset('town', min_rho => 2)$$, 'lower min_rho', $$SELECT dp_cdp.alter_dataset('town', min_rho => 0.5)$$);
SELECT instead('owner1', $$SELECT dp_cdp.alter_dataset('town', default_delta => 1e-3)$$, 'lower default_delta', $$SELECT dp_cdp.alter_dataset('town', default_delta => 1e-8)$$);
SELECT instead('owner1', $$SELECT dp_cdp.alter_dataset('town', find_bounds => 3)$$, 'such as 0.1', $$SELECT dp_cdp.alter_dataset('town', find_bounds => 0.1)$$);
SELECT instead('owner1', $$SELECT dp_cdp.alter_dataset('town', find_bounds => 3)$$, 'or 0 to turn it off', $$SELECT dp_cdp.alter_dataset('town', find_bounds => 0)$$);
SELECT helped('owner1', $$SELECT dp_cdp.protect_table('people', 'nowhere', unit => 'person')$$, 'create it with dp_cdp.create_dataset', 'owner1', $$SELECT dp_cdp.create_dataset('nowhere')$$);
SELECT helped('owner1', $$SELECT dp_cdp.drop_dataset('nowhere')$$, 'call dp_cdp.unprotect_table(''public.people'') first', 'owner1', $$SELECT dp_cdp.unprotect_table('public.people')$$);
SELECT instead('owner1', $$SELECT dp_cdp.protect_table('people', 'town', unit => 'persn')$$, 'name one of its columns', $$SELECT dp_cdp.protect_table('people', 'town', unit => 'person')$$);
SELECT helped('owner1', $$SELECT dp_cdp.protect_table('people', 'town', unit => 'code')$$, 'call dp_cdp.unprotect_table first', 'owner1', $$SELECT dp_cdp.unprotect_table('people')$$);
SELECT helped('owner1', $$SELECT dp_cdp.protect_table('people', 'town', unit => 'person')$$, 'call dp_cdp.unprotect_table first', 'owner1', $$SELECT dp_cdp.unprotect_table('people')$$);
SELECT instead('owner1', $$SELECT dp_cdp.protect_table('grown', 'town', unit => 'person')$$, 'protect the tables it reads', $$SELECT dp_cdp.protect_table('people', 'town', unit => 'person')$$);
SELECT instead('owner1', $$SELECT dp_cdp.protect_table('counted', 'town', each_row => true)$$, 'fill a table with its query', $$CREATE TABLE filled AS SELECT sex, count(*) FROM people GROUP BY 1; SELECT dp_cdp.protect_table('filled', 'town', each_row => true)$$);
SELECT instead('owner1', $$SELECT dp_cdp.protect_table('parts_1', 'town', unit => 'person')$$, 'protect "parts"', $$SELECT dp_cdp.protect_table('parts', 'town', unit => 'person')$$);
SELECT instead('owner1', $$CREATE TEMP TABLE mine (person int); SELECT dp_cdp.protect_table('mine', 'town', unit => 'person')$$, 'use an ordinary table', $$CREATE TABLE yours (person int); SELECT dp_cdp.protect_table('yours', 'town', unit => 'person')$$);
SELECT helped('owner1', $$ALTER TABLE yours DROP COLUMN person$$, 'call dp_cdp.unprotect_table first', 'owner1', $$SELECT dp_cdp.unprotect_table('yours')$$);
SELECT instead('owner1', $$SECURITY LABEL FOR dp_cdp ON TABLE lines IS 'mine'$$, 'such as dp_cdp.protect_table', $$SELECT dp_cdp.protect_table('lines', 'village', unit => 'id')$$);
SELECT ends('owner1', $$SELECT dp_cdp.unprotect_table('lines')$$) \g /dev/null

-- units through foreign keys
SELECT instead('owner1', $$SELECT dp_cdp.protect_table('lines', 'town', unit => 'id', through => 'order')$$, 'give through where', $$SELECT dp_cdp.protect_table('orders', 'town', unit => 'person')$$);
SELECT helped('owner1', $$SELECT dp_cdp.protect_table('lines', 'town', through => 'order')$$, 'by a validated foreign key on just these columns', 'owner1', 'ALTER TABLE lines ADD CONSTRAINT fk FOREIGN KEY ("order") REFERENCES orders');
SELECT helped('owner1', 'ALTER TABLE lines DROP COLUMN "order"', 'call dp_cdp.unprotect_table first', 'owner1', $$SELECT dp_cdp.unprotect_table('lines')$$);

-- bounds and keys
SELECT helped('owner1', $$SELECT dp_cdp.set_bounds('others2', 'x', 0, 1)$$, 'does not exist', 'owner1', $$CREATE TABLE others2 (x int)$$, '');
SELECT helped('owner1', $$SELECT dp_cdp.set_bounds('others2', 'x', 0, 1)$$, 'call dp_cdp.protect_table first', 'owner1', $$SELECT dp_cdp.protect_table('others2', 'town', unit => 'x')$$);
SELECT instead('owner1', $$SELECT dp_cdp.set_bounds('people', 'wage', NULL::numeric, 9)$$, 'call dp_cdp.drop_bounds', $$SELECT dp_cdp.set_bounds('people', 'wage', 0, 9), dp_cdp.drop_bounds('people', 'wage')$$);
SELECT instead('owner1', $$SELECT dp_cdp.set_bounds('people', 'wage', 0, 9, total_upper => 30)$$, 'where no value is below 0, total_lower is 0', $$SELECT dp_cdp.set_bounds('people', 'wage', 0, 9, total_lower => 0, total_upper => 30)$$);
SELECT instead('owner1', $$SELECT dp_cdp.set_bounds('people', 'born', '1900-01-01'::text, 'always'::text)$$, 'write it as in ''2024-12-31''', $$SELECT dp_cdp.set_bounds('people', 'born', '1900-01-01'::text, '2024-12-31'::text)$$);
SELECT instead('owner1', $$SELECT dp_cdp.drop_bounds('people', 'note')$$, 'see dp_cdp.protected', $$SELECT columns FROM dp_cdp.protected$$);
SELECT instead('owner1', $$SELECT dp_cdp.set_keys('people', 'sex', NULL::text[])$$, 'call dp_cdp.drop_keys', $$SELECT dp_cdp.set_keys('people', 'sex', ARRAY['f']), dp_cdp.drop_keys('people', 'sex')$$);
SELECT instead('owner1', $$SELECT dp_cdp.set_keys('people', 'sex', ARRAY[]::text[])$$, 'call dp_cdp.drop_keys', $$SELECT dp_cdp.set_keys('people', 'sex', ARRAY['f', 'm'])$$);
SELECT instead('owner1', $$SELECT dp_cdp.drop_keys('people', 'note')$$, 'see dp_cdp.protected', $$SELECT columns FROM dp_cdp.protected$$);

-- reloads and names
SELECT helped('owner1', $$SELECT dp_cdp.replace_table('people', 'people_new')$$, 'make the columns of "people_new" those of "people" first', 'owner1', 'ALTER TABLE people_new DROP COLUMN more');
SELECT ends('owner1', $$SELECT dp_cdp.unprotect_table('people_new')$$) \g /dev/null
SELECT ends('owner1', $$SELECT dp_cdp.protect_table('people', 'town', 'person'), dp_cdp.set_bounds('people', 'wage', 0, 99), dp_cdp.set_keys('people', 'sex', ARRAY['f', 'm'])$$) \g /dev/null
SELECT instead('owner1', $$SELECT dp_cdp.forget_name('nobody')$$, 'see dp_cdp.reserved_names', 'SELECT * FROM dp_cdp.reserved_names');

-- ------------------------------------------------------------------------
-- budgets and prices
-- ------------------------------------------------------------------------

SELECT instead('owner1', $$SELECT dp_cdp.set_budget('town', 'analyst1', rho => 1, epsilon => 1)$$, 'exactly one of the two', $$SELECT dp_cdp.set_budget('village', 'analyst1', epsilon => 1, delta => 1e-6)$$);
SELECT instead('owner1', $$SELECT dp_cdp.set_budget('village', 'analyst1', epsilon => 1e-9, delta => 1e-18)$$, 'raise epsilon', $$SELECT dp_cdp.set_budget('village', 'analyst1', epsilon => 1, delta => 1e-9)$$);
SELECT instead('owner1', $$SELECT dp_cdp.set_budget('village', 'analyst1', rho => 1e-15)$$, 'give at least 1e-12', $$SELECT dp_cdp.set_budget('village', 'analyst1', rho => 1e-12)$$);
SELECT instead('owner1', $$SELECT dp_cdp.drop_budget('town', 'other1')$$, 'see dp_cdp.budgets', 'SELECT * FROM dp_cdp.budgets');
-- each in a transaction of its own
SELECT refused('analyst1', 'SELECT count(*) FROM people', 'the dataset''s owner can give one with dp_cdp.set_budget');
SELECT done('owner1', $$SELECT dp_cdp.set_budget('town', 'analyst1', rho => 1.5)$$);
SELECT done('analyst1', 'SELECT count(*) FROM people');
SELECT refused('analyst1', 'SELECT count(*) FROM people', 'the dataset''s owner can raise it with dp_cdp.set_budget');
SELECT done('owner1', $$SELECT dp_cdp.set_budget('town', 'analyst1', rho => 100)$$);
SELECT done('analyst1', 'SELECT count(*) FROM people');
CREATE FUNCTION many() RETURNS text LANGUAGE sql
	AS $$ SELECT 'SET dp_cdp.rho = 2; SELECT ' || string_agg(format('dp_count(*) FILTER (WHERE person > %s)', i), ', ') || ' FROM people' FROM generate_series(1, 12) i $$;
SELECT refused('analyst1', many(), 'its owner can raise the cap with dp_cdp.alter_dataset');
SELECT done('owner1', $$SELECT dp_cdp.alter_dataset('town', rho => 200)$$);
SELECT done('analyst1', many());
SELECT instead('analyst1', 'SET dp_cdp.rho = 5; SELECT count(*) FROM people', 'set it to at most 2', 'SET dp_cdp.rho = 2; SELECT count(*) FROM people');
SELECT instead('analyst1', 'SET dp_cdp.rho = 0.001; SELECT count(*) FROM people', 'SET dp_cdp.rho = 0.5 or more', 'SET dp_cdp.rho = 0.5; SELECT count(*) FROM people');
SELECT instead('analyst1', 'SET dp_cdp.rho = 0.001; SELECT count(*) FROM people', 'or RESET it', 'RESET dp_cdp.rho; SELECT count(*) FROM people');
SELECT instead('analyst1', 'SET dp_cdp.find_bounds = maybe', 'such as 0.1', 'SET dp_cdp.find_bounds = 0.1');
SELECT instead('analyst1', 'SET dp_cdp.find_bounds = maybe', 'on, off', 'SET dp_cdp.find_bounds = on; SET dp_cdp.find_bounds = off; RESET dp_cdp.find_bounds');
SELECT instead('analyst1', 'SELECT avg(amount) FROM orders', 'SET dp_cdp.find_bounds = on', 'SET dp_cdp.find_bounds = on; SELECT avg(amount) FROM orders; RESET dp_cdp.find_bounds');
SELECT instead('analyst1', 'SET dp_cdp.target_error = 0.0001; SELECT count(*) FROM people', 'SET dp_cdp.target_error to at least', 'SET dp_cdp.target_error = 100; SELECT count(*) FROM people; RESET dp_cdp.target_error');
SELECT ends('analyst1', 'RESET dp_cdp.target_error') \g /dev/null
SELECT instead('analyst1', $$SELECT * FROM dp_cdp.preview('SELECT 1; SELECT 2')$$, 'give it a single SELECT', $$SELECT * FROM dp_cdp.preview('SELECT count(*) FROM people')$$);
SELECT instead('analyst1', $$SELECT * FROM dp_cdp.preview('CREATE TABLE x AS SELECT count(*) FROM people')$$, 'give it the SELECT in them', $$SELECT * FROM dp_cdp.preview('SELECT count(*) FROM people')$$);
SELECT instead('analyst1', 'EXPLAIN ANALYZE SELECT count(*) FROM people', 'use EXPLAIN without ANALYZE', 'EXPLAIN SELECT count(*) FROM people');
SELECT refused('analyst1', 'COPY people TO ''/dev/null''', 'COPY (SELECT dp_count(*) ...) TO');
SELECT sum(rho_spent) AS before FROM dp_cdp.budgets \gset
SET SESSION AUTHORIZATION analyst1;
COPY (SELECT dp_count(*) FROM people) TO STDOUT \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT cmp_ok((SELECT sum(rho_spent) FROM dp_cdp.budgets), '>', :before, '... which is answered, and paid for');

-- limits that the administrator raises
SELECT helped('analyst1', 'SELECT count(*) FROM people JOIN generate_series(1, 3000) g ON g = person', 'ask the administrator to raise dp_cdp.max_public_rows', 'postgres', $$ALTER ROLE analyst1 SET dp_cdp.max_public_rows = 5000$$, '')
	FROM set_config('dp_cdp.max_public_rows', '2000', false);
SET dp_cdp.max_public_rows = 5000;
SELECT is(ends('analyst1', 'SELECT count(*) FROM people JOIN generate_series(1, 3000) g ON g = person'), 'done', '... which is done for a session');
RESET dp_cdp.max_public_rows;
SELECT instead('owner1', $$SELECT dp_cdp.drop_dataset('town', erase_spent => true)$$, 'still protects 5 tables: call dp_cdp.unprotect_table(''public.people''), ',
	$$SELECT dp_cdp.unprotect_table(t) FROM unnest('{people,orders,filled,parts,others2}'::regclass[]) t$$);
SELECT helped('owner1', $$SELECT dp_cdp.drop_dataset('town')$$, 'call dp_cdp.drop_dataset with erase_spent => true', 'owner1', $$SELECT dp_cdp.drop_dataset('town', erase_spent => true)$$, 'SELECT 1');

-- functions on rows
SELECT ends('owner1', $$SELECT dp_cdp.protect_table('people', 'village', 'person'), dp_cdp.set_bounds('people', 'wage', 0, 99), dp_cdp.set_budget('village', 'analyst1', rho => 10)$$) \g /dev/null
CREATE FUNCTION own(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN x; END';
SELECT helped('analyst1', 'SELECT count(*) FROM people WHERE own(person) > 3', 'dp_cdp.allow_function', 'postgres', $$SELECT dp_cdp.allow_function('own(int)')$$);

-- what an added function says of itself when it stops being fit
SELECT helped('postgres', $$ALTER FUNCTION own(int) VOLATILE; SELECT dp_cdp.allow_function('own(int)')$$, 'IMMUTABLE', 'postgres', 'ALTER FUNCTION own(int) IMMUTABLE', $$SELECT dp_cdp.allow_function('own(int)')$$);

-- objects on rows that belong to somebody else
CREATE DOMAIN nothing AS text;
SET SESSION AUTHORIZATION other1;
CREATE COLLATION theirs (provider = icu, locale = 'de');
CREATE TYPE mood AS ENUM ('good', 'bad');
RESET SESSION AUTHORIZATION;
SELECT instead('analyst1', 'SELECT count(*) FROM people WHERE note COLLATE theirs > ''n1''', 'ALTER COLLATION', 'SELECT count(*) FROM people WHERE note COLLATE "C" > ''n1''');
SELECT helped('analyst1', 'SELECT count(*) FROM people WHERE note COLLATE theirs > ''n1''', 'ALTER COLLATION theirs OWNER TO owner1', 'postgres', 'ALTER COLLATION public.theirs OWNER TO owner1');

-- ------------------------------------------------------------------------
-- what check_setup() names: what can be typed in takes the finding away
-- ------------------------------------------------------------------------

CREATE ROLE helpers;
GRANT helpers TO analyst1;
GRANT pg_read_all_data TO helpers;
GRANT pg_monitor TO analyst1;
ALTER ROLE analyst1 CREATEROLE;
GRANT SELECT ON people TO helpers;
GRANT SELECT (sex, note) ON people TO analyst1;
GRANT UPDATE (note) ON people TO PUBLIC;
GRANT SELECT ON grown TO analyst1;
GRANT SET ON PARAMETER log_statement TO analyst1;
SET SESSION AUTHORIZATION owner1;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO analyst1;
ALTER TABLE people ADD UNIQUE (person);
ALTER TABLE people ADD feeling mood;
CREATE TABLE guests (person int REFERENCES people (person), x int);
GRANT INSERT ON guests TO analyst1;
CREATE TABLE copied AS TABLE people;
CREATE FUNCTION wages() RETURNS numeric LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(wage) FROM people';
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.set_budget('village', 'owner1', rho => 1);

CREATE FUNCTION remedied() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	f record;
BEGIN
	FOR f IN SELECT * FROM dp_cdp.check_setup() WHERE remedy ~ '^(SELECT|REVOKE|GRANT|ALTER (?!SYSTEM))' ORDER BY 1, 2, 3 LOOP
		-- one remedy may mend several
		CONTINUE WHEN NOT EXISTS (SELECT FROM dp_cdp.check_setup() c WHERE (c.object, c.finding) = (f.object, f.finding));
		BEGIN
			EXECUTE regexp_replace(f.remedy, ', or SELECT .*|; -- if .*', '');
			RETURN NEXT ok(NOT EXISTS (SELECT FROM dp_cdp.check_setup() c WHERE (c.object, c.finding) = (f.object, f.finding)), concat_ws(' ', f.object, f.finding, '->', f.remedy));
		EXCEPTION WHEN OTHERS THEN
			RETURN NEXT fail(concat_ws(' ', f.object, f.finding, '->', f.remedy, SQLERRM));
		END;
	END LOOP;
END $$;
SELECT remedied();
-- some findings read otherwise when others are gone
SELECT remedied();
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE severity = 'critical'), 0::bigint, 'then nothing critical is left');

SELECT * FROM finish();
