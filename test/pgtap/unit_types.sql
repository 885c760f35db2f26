-- Types of the column that names a privacy unit: those whose values can be
-- compared on rows, citext among them, and no others.

SET client_min_messages = error;

CREATE SCHEMA more;
CREATE EXTENSION citext SCHEMA more;
CREATE EXTENSION hstore SCHEMA more;
CREATE EXTENSION isn SCHEMA more;
DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'ip4r') THEN CREATE EXTENSION ip4r SCHEMA more; END IF;
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'semver') THEN CREATE EXTENSION semver SCHEMA more; END IF;
END $$;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT USAGE ON SCHEMA more TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET search_path = public, more;

CREATE FUNCTION as_role(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', role);
	BEGIN
		IF statement ~* '^(SELECT dp_cdp|CREATE|ALTER|INSERT|UPDATE)' THEN
			EXECUTE statement;
			result := 'ok';
		ELSE
			EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', statement) INTO result;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN result;
END $$;
CREATE FUNCTION owner1(statement text) RETURNS text LANGUAGE sql AS $$ SELECT as_role('owner1', statement) $$;
-- noise has a standard deviation of 0.07 and less, and answers are rounded
CREATE FUNCTION asked(statement text) RETURNS text LANGUAGE sql AS $$ SELECT as_role('analyst1', statement) $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- what is refused
-- ------------------------------------------------------------------------

CREATE DOMAIN tags AS more.hstore;
CREATE TYPE of_citext AS (mail more.citext, n int);
CREATE TYPE of_ints AS (a int, b int);
CREATE TYPE of_ranges AS RANGE (subtype = int4);
CREATE TYPE of_enum AS ENUM ('a', 'b');
CREATE DOMAIN mail AS more.citext CHECK (VALUE LIKE '%@%');
SELECT is(owner1($$SELECT dp_cdp.create_dataset('types')$$), 'ok', 'a dataset');
-- which types there are, and whether they can name units
CREATE TABLE types AS SELECT t, can FROM (VALUES
	('more.hstore', false), ('tags', false), ('more.isbn', false), ('more.ean13', false), ('more.ip4', false), ('more.ip4r', false),
	('more.semver', false), ('more.citext[]', false), ('of_citext', false), ('of_ranges', false), ('more.hstore[]', false),
	('more.citext', true), ('mail', true), ('of_ints', true), ('of_enum', true), ('of_enum[]', true), ('int4range', true), ('text', true),
	('numeric', true), ('uuid', true), ('jsonb', true), ('inet', true), ('xid8', true)) x (t, can)
	WHERE to_regtype(t) IS NOT NULL;
SELECT is(owner1(format('CREATE TABLE %I (u %s)', 'of ' || t, t)), 'ok', format('a table with a column of type %s', t)) FROM types;
SELECT matches(owner1(format($$SELECT dp_cdp.protect_table(%L, 'types', 'u')$$, quote_ident('of ' || t))),
	CASE WHEN can THEN '^ok$' ELSE '^ZC004 column "u" of type .* cannot be a privacy unit, because only' END, format('units of type %s', t)) FROM types;
SELECT is(owner1($$SELECT dp_cdp.set_budget('types', 'analyst1', rho => 1000)$$), 'ok', 'a budget');
SELECT matches(asked(format('SELECT dp_count(*) FROM %I', 'of ' || t)), '^\(-?\d+\)$', format('each is answered: %s', t)) FROM types WHERE can;
-- what was protected may get another type
SELECT is(owner1($$ALTER TABLE "of text" ALTER u TYPE more.isbn USING NULL$$), 'ok', 'a column of another type');
SELECT matches(asked('SELECT dp_count(*) FROM "of text"'), '^ZC004 the privacy unit of table "of text" cannot have type isbn', 'is refused then');

-- ------------------------------------------------------------------------
-- citext
-- ------------------------------------------------------------------------

-- 40 people with 10 rows each, in two spellings, of a domain and without
SELECT is(owner1($$CREATE TABLE people (email more.citext PRIMARY KEY, born int NOT NULL)$$), 'ok', 'people');
SELECT is(owner1($$INSERT INTO people SELECT format('Person%s@Example.org', i), 1950 + i FROM generate_series(1, 40) i$$), 'ok', 'in one spelling');
SELECT is(owner1($$CREATE TABLE visits (id int PRIMARY KEY, email mail, dept text NOT NULL, cost int NOT NULL)$$), 'ok', 'visits');
SELECT is(owner1($$INSERT INTO visits SELECT i, format(CASE WHEN i > 200 THEN 'person%s@example.ORG' ELSE 'PERSON%s@example.org' END, 1 + i % 40),
	substr('ab', 1 + i % 2, 1), 2 FROM generate_series(1, 400) i$$), 'ok', 'in others');
SELECT is(owner1($$CREATE TABLE bills (visit int NOT NULL REFERENCES visits, amount int NOT NULL)$$), 'ok', 'bills');
SELECT is(owner1($$INSERT INTO bills SELECT i, 3 FROM generate_series(1, 400) i$$), 'ok', 'one for each visit');
SELECT is(owner1($$CREATE TABLE logins (email more.citext NOT NULL REFERENCES people, n int NOT NULL)$$), 'ok', 'logins');
SELECT is(owner1($$INSERT INTO logins SELECT format('PERSON%s@EXAMPLE.org', 1 + i % 40), 1 FROM generate_series(1, 80) i$$), 'ok', 'by a key of citext');
SELECT is(owner1($$SELECT dp_cdp.create_dataset('clinic', default_rho => 25000, max_groups => 2, max_rows => 5)$$), 'ok', 'a dataset');
SELECT is(owner1(format($$SELECT dp_cdp.protect_table(%L, 'clinic', 'email')$$, t)), 'ok', t) FROM unnest('{people,visits}'::text[]) t;
SELECT is(owner1($$SELECT dp_cdp.protect_table('bills', 'clinic', through => 'visit')$$), 'ok', 'bills');
SELECT is(owner1($$SELECT dp_cdp.protect_table('logins', 'clinic', through => 'email')$$), 'ok', 'logins');
SELECT is(owner1($$SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b'])$$), 'ok', 'keys');
SELECT is(owner1($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6)$$), 'ok', 'a budget');

SELECT is(asked('SELECT dp_count(*) FROM visits'), '(200)', 'a person is one unit in all spellings, with five rows');
SELECT is(asked('SELECT dp_count(DISTINCT email) FROM visits'), '(40)', 'people');
SELECT is(asked('SELECT count(DISTINCT email) FROM visits'), '(40)', 'by standard SQL');
SELECT is(asked('SELECT dept, dp_count(*) FROM visits GROUP BY dept'), '(a,100) (b,100)', 'in groups');
SELECT is(asked('SELECT dept, dp_sum(cost, 0, 2) FROM visits GROUP BY dept'), '(a,200) (b,200)', 'sums');
SELECT is(asked('SELECT dp_count(*) FROM (SELECT email, sum(cost) AS s FROM visits GROUP BY email) q WHERE s = 20'), '(40)', 'a subquery by people');
SELECT is(asked('SELECT dp_count(*) FROM (SELECT DISTINCT email FROM visits) q'), '(40)', 'DISTINCT');
SELECT is(asked('SELECT dp_count(*) FROM (SELECT row_number() OVER (PARTITION BY email ORDER BY id) AS r FROM visits) q WHERE r = 10'), '(40)', 'windows of people');
SELECT is(asked('SELECT dp_count(*) FROM visits v JOIN people p ON p.email = v.email WHERE p.born <= 1960'), '(50)', 'a join');
SELECT is(asked('SELECT dp_count(*) FROM people p LEFT JOIN visits v USING (email) WHERE v.id IS NULL'), '(0)', 'an outer join');
SELECT is(asked('SELECT dp_count(*) FROM people p WHERE EXISTS (SELECT FROM visits v WHERE v.email = p.email AND v.id <= 10)'), '(10)', 'EXISTS');
SELECT is(asked('SELECT dp_count(*) FROM people p JOIN (SELECT email, count(*) AS n FROM visits GROUP BY email) q ON q.email = p.email WHERE q.n = 10'), '(40)', 'a join with a subquery');
SELECT is(asked('SELECT dp_sum(amount, 0, 3) FROM bills'), '(600)', 'through a key');
SELECT is(asked('SELECT dp_sum(amount, 0, 3) FROM bills b JOIN visits v ON v.id = b.visit WHERE dept = ''a'''), '(300)', 'joined by it');
SELECT is(asked('SELECT dp_count(*) FROM logins'), '(80)', 'through a key of citext');
SELECT is(asked('SELECT dp_count(*) FROM logins l JOIN people p ON p.email = l.email WHERE p.born <= 1960'), '(20)', 'and joined by it');
SELECT is(asked('SELECT dp_count(*) FROM logins l JOIN people p ON p.email = l.email JOIN visits v ON v.email = p.email WHERE p.born <= 1960 AND v.id <= 40'), '(20)', 'three tables');
SELECT is(asked(q), '(40)', q) FROM unnest(ARRAY['SELECT dp_count(*) FROM people WHERE email IN (SELECT email FROM visits)', 'SELECT dp_count(*) FROM people WHERE email = ANY (SELECT email FROM visits)']) q;
-- values are read in lower case, but for what would tell who is there
SELECT is(asked(q), answer, q) FROM (VALUES
	($$SELECT dp_count(*) FROM visits WHERE email = 'person1@example.org'$$, '(5)'), ($$SELECT dp_count(*) FROM people WHERE email < 'b'$$, '(0)'),
	($$SELECT dp_count(*) FROM visits WHERE email::text = 'PERSON1@example.org'$$, '(5)'), ($$SELECT dp_count(*) FROM people WHERE email LIKE 'P%'$$, '(40)'),
	($$SELECT dp_count(*) FROM people p JOIN (VALUES ('x'::more.citext)) v (e) ON v.e = p.email$$, '(0)'), ('SELECT dp_count(email) FROM people', '(40)')) AS v (q, answer);
SELECT matches(asked(q), '^ZC002 (?!.*bug)', q) FROM unnest(ARRAY[
	$$SELECT email, dp_count(*) FROM people GROUP BY email$$,
	$$SELECT dp_count(*) FROM people p JOIN visits v ON p.email < v.email$$, $$SELECT dp_count(*) FROM people p JOIN visits v ON p.email <> v.email$$,
	$$SELECT dp_count(*) FROM (SELECT email, min(email) AS m FROM visits GROUP BY email) q WHERE m = 'x'$$]) q;
-- and as what their owner makes of them
SELECT is(owner1($$ALTER TABLE people ADD low text GENERATED ALWAYS AS (lower(email::text)) STORED$$), 'ok', 'a generated column');
SELECT is(asked($$SELECT dp_count(*) FROM people WHERE low = 'person1@example.org'$$), '(1)', 'and it is read');
-- what is too long to be compared is nobody's, wherever it is met
SELECT is(owner1($$CREATE TABLE long (email more.citext, n int)$$), 'ok', 'another table');
SELECT is(owner1($$INSERT INTO long SELECT repeat(format('%s', i), 600000), 1 FROM generate_series(1, 3) i UNION ALL SELECT 'person1@example.org', 1$$), 'ok', 'of long values');
SELECT is(owner1($$SELECT dp_cdp.protect_table('long', 'clinic', 'email')$$), 'ok', 'is protected');
SELECT is(asked('SELECT dp_count(*) FROM long'), '(1)', 'they are left out');
SELECT is(asked('SELECT dp_count(*) FROM people p LEFT JOIN long l ON l.email = p.email WHERE l.n IS NULL'), '(39)', 'also of joins');
-- in parallel
ALTER TABLE visits SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is(asked('SELECT dept, dp_count(*) FROM visits GROUP BY dept'), '(a,100) (b,100)', 'in parallel');
SELECT is(asked('SELECT dp_count(*) FROM visits v JOIN people p ON p.email = v.email WHERE p.born <= 1960'), '(50)', 'a join in parallel');
SET enable_hashagg = off;
SET enable_hashjoin = off;
SELECT is(asked('SELECT dp_count(*) FROM (SELECT email, sum(cost) AS s FROM visits GROUP BY email) q WHERE s = 20'), '(40)', 'by sorting');
SELECT is(asked('SELECT dp_count(*) FROM visits v JOIN people p ON p.email = v.email WHERE p.born <= 1960'), '(50)', 'and merging');
RESET ALL;
SET client_min_messages = error;
SET search_path = public, more;
-- answers that are kept
SELECT is(owner1($$SELECT dp_cdp.alter_dataset('clinic', reuse => '1 day', default_rho => 0.5, min_rho => 0.01)$$), 'ok', 'answers are kept');
CREATE TABLE first AS SELECT asked('SELECT dp_count(*), dp_sum(v.cost, 0, 2) FROM visits v JOIN people p ON p.email = v.email') AS answer, (SELECT rho_spent FROM dp_cdp.budgets WHERE role_name = 'analyst1' AND dataset = 'clinic') AS spent;
SELECT matches((SELECT answer FROM first), '^\(\d+,\d+\)$', 'an answer');
CREATE TABLE paid AS SELECT rho_spent FROM dp_cdp.budgets WHERE role_name = 'analyst1' AND dataset = 'clinic';
SELECT is(asked('SELECT dp_count(*) AS n, dp_sum(a.cost, 0, 2) FROM visits a, people b WHERE a.email = b.email'), (SELECT answer FROM first), 'is given again');
SELECT is((SELECT rho_spent FROM dp_cdp.budgets WHERE role_name = 'analyst1' AND dataset = 'clinic'), (SELECT rho_spent FROM paid), 'for nothing');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'), 0::bigint, 'the audit adds up');
-- ------------------------------------------------------------------------
-- columns that a unique index holds short are compared as they are, others in lower case
-- ------------------------------------------------------------------------

SELECT is(owner1($$CREATE TABLE letters (patient int NOT NULL, mail more.citext, n int)$$), 'ok', 'a table');
SELECT is(owner1($$INSERT INTO letters VALUES (1, 'a', 1), (2, 'A', 2)$$), 'ok', 'two rows that are equal');
SELECT is(owner1($$SELECT dp_cdp.create_dataset('post', default_rho => 25000, max_groups => 2, max_rows => 5)$$), 'ok', 'a dataset');
SELECT is(owner1($$SELECT dp_cdp.protect_table('letters', 'post', 'patient')$$), 'ok', 'protected');
SELECT is(owner1($$SELECT dp_cdp.set_budget('post', 'analyst1', rho => 1e6)$$), 'ok', 'a budget');
\set same 'SELECT round(dp_count(*)) FROM letters a JOIN letters b ON a.patient = b.patient AND a.mail = b.mail'
SELECT is(asked(:'same'), '(2)', 'without an index');
INSERT INTO letters VALUES (3, repeat('x', 600000), 3), (4, repeat('X', 600000), 4);
SELECT is(asked('SELECT round(dp_count(*)) FROM letters a JOIN letters b ON a.patient = b.patient AND a.mail = b.mail WHERE a.n > 2'), '(0)', 'what is too long is equal to nothing');
DELETE FROM letters WHERE n > 2;
CREATE UNIQUE INDEX two ON letters (n, mail);
SELECT is(asked(:'same'), '(2)', 'with one of all rows');

SELECT * FROM finish();
