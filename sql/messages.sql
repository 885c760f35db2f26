-- Messages that say what to write instead: of calls that no function fits, of
-- what reads rows, of roles that may read rows and of those that may not.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE ROLE regress_dp_reader;
CREATE ROLE regress_dp_backup NOINHERIT;
GRANT regress_dp_reader TO regress_dp_backup;
CREATE SCHEMA messages AUTHORIZATION regress_dp_owner;
GRANT USAGE ON SCHEMA messages TO PUBLIC;
SET search_path = messages, public;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;

-- who reads a table without noise, and whom row-level security keeps from it
SET SESSION AUTHORIZATION regress_dp_owner;
CREATE TABLE visits (patient int, dept text, cost numeric, day date);
CREATE TABLE patients (patient int, zip text);
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
ALTER TABLE patients ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON visits, patients TO regress_dp_reader, regress_dp_analyst, PUBLIC;
CREATE POLICY readers ON visits FOR SELECT TO regress_dp_reader USING (true);
SELECT FROM dp_cdp.create_dataset('messages', rho => 10, default_rho => 0.1);
SELECT dp_cdp.protect_table('visits', 'messages', unit => 'patient');
SELECT dp_cdp.protect_table('patients', 'messages', unit => 'patient');
SELECT FROM dp_cdp.set_budget('messages', 'regress_dp_analyst', rho => 5);
REVOKE SELECT ON visits, patients FROM PUBLIC, regress_dp_analyst;
RESET SESSION AUTHORIZATION;

-- calls that no function fits: the commonest ones
SET SESSION AUTHORIZATION regress_dp_analyst;
SELECT dp_avg(cost, 0) FROM visits;
SELECT dp_sum(cost, 0, 500, 0) FROM visits;
SELECT dp_sum(day) FROM visits;
SELECT dp_histogram(cost) FROM visits;
SELECT dp_histogram(cost, 0, 500) FROM visits;
SELECT dp_cdp.dp_count(*) FROM visits;
SELECT dp_quantile(cost) FROM visits;
SELECT dp_margin(dp_count(*), 0.9, 1) FROM visits;
SELECT dp_cdp.zcdp_epsilon(0.5);
SELECT dp_cdp.max_groups(5);
SELECT dp_cdp.preview();
SELECT dp_cdp.no_such_function(1);
SELECT dp_cout(*);
SELECT no_such_function(1);
SELECT median(cost) FROM visits;
SELECT avg(dept) FROM visits;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_dp_owner;
SELECT dp_cdp.set_bounds('visits', 'cost', 0);
SELECT dp_cdp.set_budget('messages', 'regress_dp_analyst', rho => '1'::text);
SELECT dp_cdp.create_dataset('other', epsilon => 1, deltas => 1e-6);
SELECT dp_cdp.alter_dataset('messages', max_contribution => 12, max_rows => 45.25);
-- arguments in another order
SELECT dp_cdp.drop_keys('dept', 'visits');
SELECT dp_cdp.set_budget('regress_dp_analyst', 'messages', rho => 1);
SELECT 'messages'::regclass;
SELECT dp_cdp.set_keys('visits', 'dept', 'x');
SELECT dp_cdp.set_keys('visits', 'dept', 'x'::text);
-- names without quotes, literals that cannot be read, and PUBLIC, which is no role
SELECT dp_cdp.set_bounds('visits', cost, 0, 500);
SELECT dp_cdp.protect_table(messages.patients, 'messages', unit => 'patient');
SELECT dp_cdp.set_budget('messages', 'regress_dp_analyst', rho => 1, period => 'month');
SELECT dp_cdp.spent_together('messages', ARRAY['regress_dp_analyst']);
SELECT dp_cdp.spent_together('messages', 'regress_dp_analyst');
SELECT dp_cdp.set_budget('messages', 'public', rho => 1);
-- who may not call a function, and who may be allowed to
SELECT dp_cdp.harden();
SELECT dp_cdp.debit_budget('messages', 0.1);
-- what stands in the way of dropping a dataset
SELECT dp_cdp.drop_dataset('messages');
RESET SESSION AUTHORIZATION;
-- a function handles the error as PostgreSQL's
DO $$ BEGIN PERFORM dp_avg(1, 0); EXCEPTION WHEN undefined_function THEN RAISE NOTICE '% %', sqlstate, sqlerrm; END $$;
-- none of the functions of analysts is left out
\set VERBOSITY terse
SELECT DISTINCT format('SELECT %I(1, 2, 3, 4, 5, 6, 7)', p.proname)
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dp_cdp'
WHERE p.pronamespace = e.extnamespace ORDER BY 1
\gexec
\set VERBOSITY default

-- what reads rows where it stands
SET SESSION AUTHORIZATION regress_dp_analyst;
SELECT dp_margin(5) FROM visits;
SELECT count(*) AS n, dp_margin(n) FROM visits;
SELECT dept, rank() OVER (ORDER BY cost) FROM visits;
WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w JOIN visits ON patient = n) SELECT * FROM w;
SELECT dp_count(*) FROM visits v WHERE v = ROW(1, 'a', 1, NULL);
SELECT dp_count(*) FROM visits WHERE ctid IS NOT NULL;
SELECT dp_count(*) FROM visits WHERE md5(dept) = '';

-- no group has enough people
SELECT zip, dp_count(*) FROM patients WHERE patient < 0 GROUP BY zip;
-- nobody sees which groups a subquery has
SELECT dp_count(*) IS NULL AS none FROM visits WHERE dept IN (SELECT zip FROM patients GROUP BY zip HAVING count(*) > 10);

-- settings that are none, and values of another kind; arguments that are given by =
SET dp_cdp.max_row = 3;
SHOW dp_cdp.max_row;
SET dp_cdp.max_rows = '3 rows';
SET dp_cdp.reuse = '1 day';
SELECT dp_cdp.create_dataset('other', rho = 1);

-- more than the budget holds
SET dp_cdp.rho = 900;
EXPLAIN (COSTS OFF) SELECT dp_count(*) FROM visits;
RESET dp_cdp.rho;

-- names of tables and of what stands for them
SELECT dp_count(*) FROM visits v JOIN patients p ON v.dept = p.zip;
SELECT dp_count(*) FROM visits JOIN patients ON dept = zip;
SELECT dp_count(*) FROM visits v JOIN (SELECT patient, upper(zip) AS zip FROM patients) q ON v.dept = q.zip;
RESET SESSION AUTHORIZATION;

-- who has logged in counts, whatever SET ROLE says
SET SESSION AUTHORIZATION regress_dp_backup;
SET ROLE regress_dp_reader;
COPY visits TO STDOUT;
SELECT * FROM visits;
EXPLAIN (COSTS OFF) SELECT dp_count(*) FROM visits;
RESET ROLE;
RESET SESSION AUTHORIZATION;

SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_dp_owner;
-- what is in the way, by its name
CREATE TABLE stays (stay int PRIMARY KEY, patient int NOT NULL);
CREATE TABLE drugs (stay int NOT NULL REFERENCES stays, drug text NOT NULL);
SELECT dp_cdp.protect_table('drugs', 'messages', through => 'stay');
SELECT dp_cdp.protect_table('visits', 'messages', unit => 'dept');
SELECT dp_cdp.drop_budget('messages', 'regress_dp_reader');
SELECT dp_cdp.unprotect_table('visits');
SELECT dp_cdp.unprotect_table('patients');
SELECT dp_cdp.drop_dataset('messages', erase_spent => true);
RESET SESSION AUTHORIZATION;
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP SCHEMA messages CASCADE;
DROP ROLE regress_dp_owner, regress_dp_analyst, regress_dp_reader, regress_dp_backup;
