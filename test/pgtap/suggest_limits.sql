-- dp_cdp.suggest_limits: which max_contribution serves best, found for the dataset's owner and paid by its cap.
-- Histograms have noise of 0.01, so that counts in them are exact but with probability 1e-1000.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE owner2 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1, owner2;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop', rho => 1e6, default_rho => 2, min_rho => 0.5, max_groups => 1, max_rows => 2, reuse => '1 day'),
	dp_cdp.create_dataset('persons', default_rho => 2, neighbors => 'replace_one');
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6, delta => 1e-6) FROM unnest('{shop,persons}'::text[]) d;
-- 400 customers with 4 rows in a and 3 in b; each 20th has 60 more in c, which is not declared
CREATE TABLE visits AS
	SELECT c AS customer, k FROM generate_series(1, 400) c, LATERAL (SELECT 'a' AS k FROM generate_series(1, 4) UNION ALL SELECT 'b' FROM generate_series(1, 3)
		UNION ALL SELECT 'c' FROM generate_series(1, CASE WHEN c % 20 = 0 THEN 60 ELSE 0 END)) s;
ALTER TABLE visits ALTER k SET NOT NULL;
CREATE TABLE replaced AS TABLE visits;
ALTER TABLE replaced ALTER k SET NOT NULL;
CREATE TABLE nobody (LIKE visits);
-- 2 orders of each, 3 lines of each order
CREATE TABLE orders AS SELECT i AS id, i % 400 AS customer FROM generate_series(1, 800) i;
ALTER TABLE orders ADD PRIMARY KEY (id);
CREATE TABLE lines AS SELECT i AS line, i % 800 + 1 AS "order" FROM generate_series(1, 2400) i;
ALTER TABLE lines ADD FOREIGN KEY ("order") REFERENCES orders;
-- each row is a unit; or each unit has a row
CREATE TABLE rows AS SELECT i AS id, i % 2 = 0 AS even FROM generate_series(1, 100) i;
CREATE TABLE customers AS SELECT i AS customer FROM generate_series(1, 400) i;
ALTER TABLE customers ADD PRIMARY KEY (customer);
-- all that declares keys
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE kinds (kind int PRIMARY KEY);
INSERT INTO kinds VALUES (1), (2);
CREATE TABLE secrets (secret int PRIMARY KEY);
INSERT INTO secrets VALUES (1), (2);
CREATE TABLE facts (gone text, customer int, free text, "The Kind" int REFERENCES kinds, even boolean, mood mood, listed int, secret int REFERENCES secrets);
ALTER TABLE facts DROP gone;
INSERT INTO facts SELECT i % 100, i, 1 + i % 2, i % 2 = 0, 'sad', i, 1 + i % 2 FROM generate_series(1, 500) i;
SELECT dp_cdp.protect_table(t, 'shop', 'customer') FROM unnest('{visits,nobody,orders,customers,facts}'::regclass[]) t;
SELECT dp_cdp.protect_table('lines', 'shop', through => 'order'), dp_cdp.protect_table('rows', 'shop', each_row => true), dp_cdp.protect_table('replaced', 'persons', 'customer');
SELECT dp_cdp.set_keys(t, 'k', '{a,b}'::text[]) FROM unnest('{visits,nobody,replaced}'::regclass[]) t;
SELECT dp_cdp.set_keys('facts', 'listed', '{1,2,3}'::int[]);
RESET SESSION AUTHORIZATION;
ALTER TABLE secrets OWNER TO owner2;
ANALYZE;

-- what caps and budgets have spent
CREATE FUNCTION balances() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(trim_scale(rho_spent)::text, ' ' ORDER BY name) || ' ' || (SELECT trim_scale(sum(rho_spent)) FROM dp_cdp_internal.budget) FROM dp_cdp_internal.dataset $$;
-- what a role is told, or how it fails
CREATE FUNCTION told(role text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', role);
	BEGIN
		EXECUTE format('SELECT string_agg(format(''%%s: %%s, %%s, %%s'', question, round(max_contribution::numeric, 3), round(cut::numeric, 3), round(stddev::numeric, 3)), ''; '')
			FROM dp_cdp.suggest_limits(%s)', call) INTO result;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;

SELECT * FROM no_plan();

-- --------------------------------------------------------------------------
-- Answers
-- --------------------------------------------------------------------------

-- norms of 7 and 67, and of 5: the ends of their bins, which cut nothing; noise is C / sqrt(2 default_rho)
SELECT is(told('owner1', '''visits'', 10000'), 'count(*): 128.000, 0.000, 64.000; count(*) by k: 8.000, 0.000, 4.000', 'all rows, and those of declared keys');
SELECT is(told('owner1', '''replaced'', 10000'), 'count(*): 128.000, 0.000, 64.000; count(*) by k: 8.000, 0.000, 5.657', 'the noise of replacing a unit');
SELECT is(told('owner1', '''orders'', 10000'), 'count(*): 2.000, 0.000, 1.000', 'a table without declared keys');
SELECT is(told('owner1', '''lines'', 10000'), 'count(*): 8.000, 0.000, 4.000', 'whose rows belong to people through two foreign keys');
SELECT matches(told('owner1', '''nobody'', 10000'), '^count\(\*\): 4.000, 0\.[0-7]\d*, 2.000; count\(\*\) by k: 4.000, 0\.[0-7]\d*, 2.000$', 'where noise is all that there is, and what is cut is a guess');
SELECT is(regexp_replace(told('owner1', '''facts'', 50000'), ': [^;]*', '', 'g'),
	'count(*); count(*) by "The Kind"; count(*) by even; count(*) by mood; count(*) by listed', 'columns whose keys are declared, and shown to who asks; not the unit');
-- at a lower price more is cut; the limit is nearly the best
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('shop', default_rho => 0.0005, min_rho => 0.0001);
CREATE TEMP TABLE suggested AS SELECT * FROM dp_cdp.suggest_limits('visits', 10000);
RESET SESSION AUTHORIZATION;
SELECT is(round((stddev / max_contribution)::numeric, 3), 31.623, 'noise of a low price: ' || question) FROM suggested;
CREATE FUNCTION cut(c float8) RETURNS float8 LANGUAGE sql AS $$ SELECT sum(greatest(n - c, 0))::float8 FROM (SELECT count(*) AS n FROM visits GROUP BY customer) s $$;
-- what norms are within a bin, 64 to 128, is not known
SELECT ok(abs(s.cut - cut(max_contribution) / cut(0)) < 0.15 AND s.cut > 0.1, format('cuts %s: %s', s.cut, cut(max_contribution) / cut(0))) FROM suggested s WHERE question = 'count(*)';
SELECT ok(sqrt(cut(max_contribution) ^ 2 + stddev ^ 2) < 1.2 * (SELECT min(sqrt(cut(c) ^ 2 + (c * 31.623) ^ 2)) FROM generate_series(1, 128) c), 'error at ' || max_contribution) FROM suggested WHERE question = 'count(*)';
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('shop', default_rho => 2, min_rho => 0.5);
RESET SESSION AUTHORIZATION;
-- what the session has set does not matter, nor what it calls by these names
CREATE SCHEMA mine AUTHORIZATION owner1;
SET SESSION AUTHORIZATION owner1;
CREATE FUNCTION mine.count_of() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called'; END $$;
CREATE AGGREGATE mine.dp_count(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0');
CREATE TABLE mine.visits (customer int, k text);
SET search_path = mine, public;
SET dp_cdp.rho = 0.5;
SET dp_cdp.max_contribution = 3;
SET dp_cdp.max_rows = 1;
SET dp_cdp.max_groups = 1;
SET dp_cdp.target_error = '5%';
SET dp_cdp.consistent = on;
SELECT is(string_agg(format('%s: %s', question, max_contribution), '; '), 'count(*): 128; count(*) by k: 8', 'whatever the session has set') FROM dp_cdp.suggest_limits('public.visits', 10000);
SELECT is(current_setting('dp_cdp.' || s), v, 'which stays as it is: ' || s) FROM (VALUES ('rho', '0.5'), ('max_contribution', '3'), ('max_rows', '1'), ('max_groups', '1'), ('target_error', '5%')) s (s, v);
RESET ALL;
SET client_min_messages = error;
RESET SESSION AUTHORIZATION;
SET search_path = public;
-- in workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is(told('owner1', '''visits'', 10000'), 'count(*): 128.000, 0.000, 64.000; count(*) by k: 8.000, 0.000, 4.000', 'in workers');
RESET max_parallel_workers_per_gather;
-- nothing is shown but this
SET SESSION AUTHORIZATION owner1;
SELECT is((SELECT count(*) FROM dp_cdp.last_release()), 0::bigint, 'no release is reported');
RESET SESSION AUTHORIZATION;
SELECT is((SELECT count(*) FROM dp_cdp_internal.kept_answer), 0::bigint, 'no answer is kept');

-- --------------------------------------------------------------------------
-- Prices
-- --------------------------------------------------------------------------

CREATE TEMP TABLE before AS SELECT rho_spent, (SELECT max(id) FROM dp_cdp_internal.release_log) AS id, (SELECT sum(rho_spent) FROM dp_cdp_internal.budget) AS budgets FROM dp_cdp_internal.dataset WHERE name = 'shop';
SELECT told('owner1', '''facts'', 3.000000000001');
SELECT is(d.rho_spent - b.rho_spent, 3.000000000001, 'the cap, to the last digit') FROM dp_cdp_internal.dataset d, before b WHERE name = 'shop';
SELECT is((SELECT sum(rho_spent) FROM dp_cdp_internal.budget), budgets, 'and no budget') FROM before;
SELECT is(string_agg(format('%s by %s of %s', aggregates, groups, tables), '; ' ORDER BY id) || format(' %s %s %s', sum(rho), count(DISTINCT released_at), max(rho) - min(rho)),
	'limit of public.dp_count(*) by  of public.facts; limit of public.dp_count(*) by "The Kind" of public.facts; limit of public.dp_count(*) by even of public.facts; limit of public.dp_count(*) by mood of public.facts; limit of public.dp_count(*) by listed of public.facts 3.000000000001 1 0.000000000001',
	'one debit, which the audit has') FROM dp_cdp.releases r WHERE id > (SELECT id FROM before);
SELECT is(count(*), 5::bigint, 'of the cap alone, and by whom') FROM dp_cdp_internal.release_log l, dp_cdp_internal.dataset d
	WHERE l.id > (SELECT id FROM before) AND d.name = 'shop' AND l.paid_by = ARRAY[d.ledger_id] AND l.role_name = 'owner1' AND l.kind = 'granted'
		AND l.query = 'SELECT * FROM dp_cdp.suggest_limits(''public.facts'', 3.000000000001)';
SELECT is(string_agg(object, ''), NULL, 'the ledger is sound') FROM dp_cdp.check_ledger() WHERE severity IN ('critical', 'warning');
-- a rollback gives nothing back
CREATE TEMP TABLE spent AS SELECT balances() AS b, rho_spent FROM dp_cdp_internal.dataset WHERE name = 'shop';
SET SESSION AUTHORIZATION owner1;
BEGIN;
SELECT count(*) FROM dp_cdp.suggest_limits('visits', 1);
ROLLBACK;
RESET SESSION AUTHORIZATION;
SELECT is(d.rho_spent - s.rho_spent, 1::numeric, 'a rollback') FROM dp_cdp_internal.dataset d, spent s WHERE name = 'shop';
-- an error after the debit: the answer waits for its step, and a busy machine has 0.9 s for the debit
TRUNCATE spent;
INSERT INTO spent SELECT balances(), rho_spent FROM dp_cdp_internal.dataset WHERE name = 'shop';
-- who asks could pay from a budget that others have, too, and that one did not pay
CREATE ROLE everybody;
GRANT everybody TO owner1, analyst1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('shop', 'everybody', rho => 1) \g /dev/null
SELECT dp_cdp.alter_dataset('shop', answer_step => '1 s');
SET statement_timeout = '900ms';
\set ON_ERROR_STOP 0
SELECT count(*) FROM dp_cdp.suggest_limits('visits', 1);
\set ON_ERROR_STOP 1
RESET statement_timeout;
SELECT dp_cdp.alter_dataset('shop', answer_step => '0');
RESET SESSION AUTHORIZATION;
SELECT is(d.rho_spent - s.rho_spent, 1::numeric, 'an error') FROM dp_cdp_internal.dataset d, spent s WHERE name = 'shop';
SELECT is(aggregates || ' ' || rho, 'limit of public.dp_count(*) 0', 'which is a failure') FROM dp_cdp_internal.release_log WHERE failed ORDER BY id DESC LIMIT 1;
SELECT is(sum(failures), 0::bigint, 'of the dataset alone: it counts at no budget') FROM dp_cdp.budgets WHERE dataset = 'shop';
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.drop_budget('shop', 'everybody') \g /dev/null
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- Refusals, for nothing
-- --------------------------------------------------------------------------

TRUNCATE spent;
INSERT INTO spent SELECT balances(), 0;
SELECT matches(told('owner1', q), m, q) FROM (VALUES
	('''visits'', NULL', '^ZC004 rho must be given'),
	('''visits'', 0', '^ZC004 rho '),
	('''visits'', -0.0', '^ZC004 rho '),
	('''visits'', -1', '^ZC004 rho '),
	('''visits'', ''nan''', '^ZC004 rho '),
	('''visits'', ''infinity''', '^ZC004 rho '),
	('''visits'', ''-infinity''', '^ZC004 rho '),
	('''visits'', 1e300', '^ZC004 rho '),
	('''visits'', 1e-300', '^ZC004 rho is too little for 2 answers'),
	('''visits'', 0.999999999999', '^ZC004 rho is too little for 2 answers: each costs at least min_rho of dataset "shop", which is 0.5; give rho 1 or more'),
	('''orders'', 0.4999', '^ZC004 rho is too little for 1 answers'),
	('NULL, 1', '^ZC004 "table" is not the name of a table'),
	('0, 1', '^ZC004 "table" is not the name of a table'),
	('''kinds'', 1', '^ZC004 table "kinds" is not protected'),
	('''rows'', 10', '^ZC004 no privacy unit has two rows in table "rows"'),
	('''customers'', 10', '^ZC004 no privacy unit has two rows in table "customers"'),
	('''visits'', 999999', '^ZC001 privacy budget exhausted for dataset "shop": asked rho 999999, more than its lifetime cap')
	) v (q, m);
SELECT is(balances(), b, 'nothing was spent') FROM spent;
SELECT is(string_agg(DISTINCT kind || ' ' || reason, ''), 'refused ZC001 rho', 'the audit knows who asked for too much') FROM dp_cdp.releases WHERE rho > 100000;
-- others than the dataset's owner, also who owns the table
SELECT matches(told('analyst1', '''visits'', 1'), '^42501 must be owner of dataset "shop"', 'not an analyst');
SELECT matches(told('owner2', '''visits'', 1'), '^42501 must be owner of dataset "shop"', 'nor another owner');
SELECT dp_cdp.alter_dataset('shop', new_owner => 'owner2');
SELECT matches(told('owner1', '''visits'', 1'), '^42501 must be owner of dataset "shop"', 'nor who owns the table');
SELECT is(balances(), b, 'nothing was spent by them') FROM spent;
-- who owns the dataset needs no right to read the table, and gets none
SELECT is(told('owner2', '''visits'', 10000'), 'count(*): 128.000, 0.000, 64.000; count(*) by k: 8.000, 0.000, 4.000', 'who owns the dataset');
SELECT is(told('postgres', '''visits'', 10000'), 'count(*): 128.000, 0.000, 64.000; count(*) by k: 8.000, 0.000, 4.000', 'a superuser');
TRUNCATE spent;
INSERT INTO spent SELECT balances(), 0;
SET SESSION AUTHORIZATION owner2;
SELECT throws_ok('SELECT count(*) FROM visits', 'ZC001', NULL, 'no budget, and no other query');
SELECT throws_ok('EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM dp_cdp.suggest_limits(''visits'', 1)', 'ZC002', NULL, 'no EXPLAIN ANALYZE');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT throws_ok('SELECT * FROM dp_cdp.suggest_limits(''visits'', 1)', 'ZC002', NULL, 'no serializable transaction');
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT is(balances(), b, 'nothing was spent by these') FROM spent;
-- without a cap
SELECT is(told('owner1', '''replaced'', 1e6') ~ '^count', true, 'a dataset without a cap');
-- with blocks of time
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('monthly', rho => 30000, default_rho => 2);
CREATE TABLE days AS SELECT i % 400 AS customer, date '2024-01-01' + i % 60 AS day FROM generate_series(1, 2800) i;
SELECT dp_cdp.protect_table('days', 'monthly', 'customer', block => 'day', every => '1 month');
RESET SESSION AUTHORIZATION;
SELECT is(told('owner1', '''days'', 20000'), 'count(*): 8.000, 0.000, 4.000', 'with blocks');
SELECT matches(told('owner1', '''days'', 20000'), '^ZC001', 'of which each has paid');
SELECT * FROM finish();
