-- Debits survive whatever the asker does, and nobody writes to the ledger.

--# rollback in every form
--@ attack
BEGIN; SELECT dp_count(*) IS NULL FROM visit; ROLLBACK;
--> standby: any; ok 1
BEGIN; SAVEPOINT s;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
ROLLBACK TO s; SELECT dp_count(*) IS NULL FROM visit; COMMIT;
--> standby: any; ok 1
DO $$ BEGIN BEGIN PERFORM dp_count(*) FROM visit; RAISE EXCEPTION 'x'; EXCEPTION WHEN OTHERS THEN NULL; END; END $$;
--> standby: any; ok 1
DO $$ BEGIN PERFORM dp_count(*) FROM visit; RAISE EXCEPTION 'x'; END $$;
--> P0001 1
CREATE PROCEDURE ana.p() LANGUAGE plpgsql AS $$ BEGIN PERFORM dp_count(*) FROM visit; ROLLBACK; PERFORM dp_count(*) FROM visit; COMMIT; END $$;
CALL ana.p();
--> ok 2
BEGIN; SELECT dp_count(*) IS NULL FROM visit; PREPARE TRANSACTION 'a';
--> standby: any; coordinator: 0A000 1; ok 1
ROLLBACK PREPARED 'a';
--> standby: any; coordinator: 42704; ok
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
COMMIT;

--# several statements in one message, errors after the answer, lost connections
--@ shell
psql -X -At -U ana -c "SELECT dp_count(*) FROM visit; SELECT 1 / 0"
psql -X -At -U ana -c "SELECT dp_count(*) FROM visit" -c "SELECT pg_terminate_backend(pg_backend_pid())" 2>&1 | grep -v -e connection -e terminated
psql -X -At -U ana -1 -c "SELECT dp_count(*) FROM visit" -c "SELECT nothing"
--> any 3

--# cancelled and timed out
--@ shell
for i in 1 2 3 4 5 6; do PGOPTIONS="-c statement_timeout=${i}ms" psql -X -At -U ana -c "SELECT dp_count(*) FROM visit a"; done
--> any 0..6

--# every answer that was seen is paid for, also when sessions are killed
--@ shell
for i in 1 2 3 4; do (for j in 1 2 3; do psql -X -At -U ana -c "SELECT dp_count(*) FROM visit"; done) & done; wait
--> any 12

--# the worker is killed
--@ shell
psql -X -At -U postgres -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type LIKE 'dp_cdp%'" >/dev/null
psql -X -At -U ana -c "SELECT dp_count(*) IS NULL FROM visit"
--> any 1

--# tables of the ledger
--@ attack
SELECT * FROM dp_cdp_internal.budget;
--> 42501
UPDATE dp_cdp_internal.budget SET rho_spent = 0;
--> 42501
INSERT INTO dp_cdp_internal.release_log DEFAULT VALUES;
--> 42501
DELETE FROM dp_cdp_internal.release_log;
--> 42501
TRUNCATE dp_cdp_internal.budget;
--> 42501
LOCK dp_cdp_internal.budget;
--> 42501 | 25P01
SELECT * FROM dp_cdp_internal.budget FOR UPDATE;
--> 42501
UPDATE dp_cdp.budgets SET rho_spent = 0;
--> 42501 | 55000
DELETE FROM dp_cdp.releases;
--> 42501 | 55000
ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ALL;
--> 42501
DROP TABLE dp_cdp_internal.budget;
--> 42501
COPY dp_cdp_internal.release_log TO STDOUT;
--> 42501
--@ attack boss
UPDATE dp_cdp_internal.budget SET rho_spent = 0;
--> 42501
DELETE FROM dp_cdp_internal.release_log;
--> 42501
--@ attack postgres
UPDATE dp_cdp_internal.budget SET rho_spent = 0;
--> worker: ok; 42501 | ZC003 | 55000
DELETE FROM dp_cdp_internal.release_log;
--> worker: ok; 42501 | ZC003 | 55000
TRUNCATE dp_cdp_internal.budget CASCADE;
--> 42501 | ZC003 | 55000

--# a debit that waits for the asker's own locks
--@ attack postgres
BEGIN; LOCK dp_cdp_internal.release_log IN ACCESS EXCLUSIVE MODE; SET LOCAL ROLE ana;
SET LOCAL statement_timeout = '300ms';
-- what was asked for before the lock is gone may be charged then
SELECT dp_count(*) IS NULL FROM visit;
--> ZC003 | 57014 0..1
ROLLBACK;
SET ROLE ana;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1

--# concurrent requests for the last of a budget
--@ setup
SET ROLE boss; SELECT dp_cdp.set_budget('clinic', 'poor', rho => 0.03);
--@ shell
for i in 1 2 3 4 5 6; do psql -X -At -U poor -c "SELECT dp_count(*) IS NULL FROM visit" & done; wait
--> any poor:3
--@ teardown
SET ROLE boss; SELECT dp_cdp.set_budget('clinic', 'poor', rho => 0.01);

--# a role that is dropped and made again starts with nothing
--@ only: noselect
--@ setup
CREATE ROLE temporary LOGIN; SET ROLE boss; SELECT dp_cdp.set_budget('clinic', 'temporary', rho => 1);
--@ attack temporary
SELECT dp_count(*) IS NULL FROM visit;
--> ok temporary:0..1
--@ attack postgres
DROP ROLE temporary;
--> 2BP01
\connect postgres
DROP ROLE temporary; CREATE ROLE temporary LOGIN;
--> any
--@ attack temporary
SELECT dp_count(*) FROM visit;
--> ZC001
--@ teardown
DROP ROLE temporary;
