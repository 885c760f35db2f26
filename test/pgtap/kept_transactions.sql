-- Kept answers and the transactions that ask for them: what ends with these, and what stays; parallel plans; budgets that renew.
--
-- Prices are in units of the price of one aggregate, rho 1e-6.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, dept text NOT NULL, cost int);
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), i % 10 FROM generate_series(1, 20000) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6, max_groups => 5, max_rows => 5, reuse => '1 day');
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1);
RESET SESSION AUTHORIZATION;
ANALYZE visits;

-- answers, and what analyst1 has spent, outside of any transaction of the test
CREATE TABLE told (n serial, answer text);
CREATE FUNCTION cost() RETURNS float8 LANGUAGE sql VOLATILE AS $$ SELECT round(rho_spent * 1e6, 3)::float8 FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole $$;
CREATE TABLE at (before float8);
INSERT INTO at VALUES (0);
CREATE FUNCTION paid() RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	result float8 := cost() - (SELECT before FROM at);
BEGIN
	UPDATE at SET before = cost();
	RETURN result;
END $$;

SELECT no_plan();
SELECT is(paid(), 0::float8, 'nothing yet');

-- READ ONLY
SET SESSION AUTHORIZATION analyst1;
BEGIN READ ONLY;
SELECT count(*) AS first FROM visits \gset
SELECT count(*) AS second FROM visits \gset
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;
SELECT count(*) AS third FROM visits \gset
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT is(paid(), 1::float8, 'a READ ONLY transaction buys, and keeps');
SELECT is(ARRAY[:first, :first], ARRAY[:second, :third], 'and is given what is kept');

-- ROLLBACK
SET SESSION AUTHORIZATION analyst1;
BEGIN;
SELECT string_agg(dept || n, ' ') AS first FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) q \gset
ROLLBACK;
BEGIN;
SAVEPOINT a;
SELECT string_agg(dept || n, ' ') AS second FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) q \gset
SELECT sum(cost) AS in_savepoint FROM visits \gset
ROLLBACK TO a;
SELECT sum(cost) AS after_savepoint FROM visits \gset
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT is(paid(), 2::float8, 'ROLLBACK loses no answer that was paid for');
SELECT is(:'first'::text, :'second'::text, 'which is given again');
SELECT is(:in_savepoint, :after_savepoint, '... to a savepoint, neither');

-- an old snapshot sees what was kept after it
SET SESSION AUTHORIZATION analyst1;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 1 FROM pg_class LIMIT 1;
SELECT count(*) AS first FROM visits WHERE id > 1 \gset
SELECT count(*) AS second FROM visits WHERE id > 1 \gset
ROLLBACK;
SELECT count(*) AS third FROM visits WHERE id > 1 \gset
RESET SESSION AUTHORIZATION;
SELECT is(paid(), 1::float8, 'a snapshot that is older than an answer is given it');
SELECT is(ARRAY[:first, :first], ARRAY[:second, :third], 'the same');

-- an error above the release
SET SESSION AUTHORIZATION analyst1;
SELECT 1 / (count(*) * 0) FROM visits WHERE id > 2;
CREATE FUNCTION pg_temp.fails(bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
\set ON_ERROR_STOP 0
SELECT pg_temp.fails(count(*)) FROM visits WHERE id > 3;
\set ON_ERROR_STOP 1
SELECT count(*) AS first FROM visits WHERE id > 3 \gset
SELECT count(*) AS second FROM visits WHERE id > 3 \gset
RESET SESSION AUTHORIZATION;
SELECT is(paid(), 2::float8, 'who fails after it was drawn has paid');
SELECT is(:first, :second, 'and is given it');

-- a cursor that nobody fetches from
SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE c CURSOR FOR SELECT dept, sum(cost) FROM visits GROUP BY dept;
ROLLBACK;
RESET SESSION AUTHORIZATION;
SELECT is(paid(), 0::float8, 'a cursor without FETCH buys nothing');
SET SESSION AUTHORIZATION analyst1;
BEGIN;
DECLARE c CURSOR FOR SELECT dept, sum(cost) FROM visits GROUP BY dept;
FETCH 1 FROM c;
ROLLBACK;
SELECT count(*) FROM (SELECT dept, sum(cost) FROM visits GROUP BY dept) q;
RESET SESSION AUTHORIZATION;
SELECT is(paid(), 1::float8, 'with one row of it all are kept');

-- parallel plans: rows are read by workers, and what is kept is given without
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT set_config(name, CASE WHEN name LIKE 'force%' THEN 'on' ELSE 'on' END, false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET SESSION AUTHORIZATION analyst1;
SELECT sum(cost) AS first FROM visits WHERE id > 4 \gset
SELECT sum(cost) AS second FROM visits WHERE id > 4 \gset
SELECT max(s) AS third FROM (SELECT dept, sum(cost) AS s FROM visits GROUP BY dept) q, generate_series(1, 10) \gset
RESET SESSION AUTHORIZATION;
SELECT is(paid(), 1::float8, 'parallel plans buy once');
SELECT is(:first, :second, 'and are given what is kept');
CREATE FUNCTION asks() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN (SELECT count(*) FROM visits); END $$;
CREATE TABLE many (n int);
INSERT INTO many SELECT generate_series(1, 1000);
GRANT SELECT ON many TO analyst1;
SET SESSION AUTHORIZATION analyst1;
SELECT throws_like('SELECT max(asks() + n) FROM many', '%cannot be released inside a parallel plan%', 'workers are not given kept answers');
RESET SESSION AUTHORIZATION;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT is(paid(), 0::float8, 'nor is anything bought there');

-- budgets that renew: what a period has paid for stays paid for
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('clinic', 'analyst2', rho => 2e-6, period => '0.1 seconds');
SET SESSION AUTHORIZATION analyst2;
SELECT count(*) AS first FROM visits WHERE id > 5 \gset
SELECT pg_sleep(0.15);
SELECT count(*) AS second FROM visits WHERE id > 5 \gset
RESET SESSION AUTHORIZATION;
SELECT is(round(rho_spent * 1e6, 3)::float8, 1::float8, 'a renewed budget pays nothing for what it has paid for') FROM dp_cdp_internal.budget WHERE role = 'analyst2'::regrole;
SELECT is(:first, :second, 'and is given it');
SELECT is(rho::float8 * 1e6, 1::float8, 'roles know what they have asked in all periods') FROM dp_cdp.spent_together('clinic', '{analyst2}');
SET SESSION AUTHORIZATION analyst2;
SET dp_cdp.rho = 3e-6;
SELECT count(*) AS third FROM visits WHERE id > 5 \gset
SELECT pg_sleep(0.15);
SELECT count(*) AS fourth FROM visits WHERE id > 5 \gset
SELECT throws_like('SELECT count(*) FROM visits WHERE id > 6', 'privacy budget%exhausted%', 'while another question is more than a period holds');
RESET SESSION AUTHORIZATION;
SELECT is(:third, :fourth, 'a better answer may be paid for in several periods');
SELECT is(round(rho_spent * 1e6, 3)::float8, 2::float8, 'each of which pays the difference') FROM dp_cdp_internal.budget WHERE role = 'analyst2'::regrole;
RESET dp_cdp.rho;
-- one that is given anew is another
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.drop_budget('clinic', 'analyst2');
SELECT dp_cdp.set_budget('clinic', 'analyst2', rho => 1);
SET SESSION AUTHORIZATION analyst2;
SELECT count(*) FROM visits WHERE id > 5;
RESET SESSION AUTHORIZATION;
SELECT is(round(rho_spent * 1e6, 3)::float8, 1::float8, 'a budget that is dropped and given again has paid for nothing') FROM dp_cdp_internal.budget WHERE role = 'analyst2'::regrole;

SELECT * FROM finish();
