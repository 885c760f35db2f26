-- Settings: those of the extension, those of PostgreSQL that show or change
-- what runs inside.

--# the extension's own
--@ attack
SET dp_cdp.enabled = off;
--> 42602 | 42704
SET dp_cdp.guard = 'off';
--> 42602 | 42704
SELECT set_config('dp_cdp.bypass', 'on', false);
--> 42602 | 42704
SET dp_cdp.standard_aggregates = off;
--> 42501
SET dp_cdp.max_public_rows = 2000000000;
--> 42501
SET dp_cdp.max_public_time = 0;
--> 42501
ALTER ROLE ana SET dp_cdp.standard_aggregates = off;
--> 42501
ALTER ROLE ana SET dp_cdp.rho = '1e9';
--> ZC004 | 22023
CREATE FUNCTION ana.f() RETURNS bigint LANGUAGE sql SET dp_cdp.standard_aggregates = off AS 'SELECT 1::bigint';
--> ok | 42501
SELECT ana.f();
--> 42501 | 42883
UPDATE pg_settings SET setting = '1e9' WHERE name = 'dp_cdp.rho';
--> ZC004 | 22023
SELECT cost FROM visit WHERE age = 97;
--> ZC002

--# options of the connection
--@ shell
PGOPTIONS="-c dp_cdp.enabled=off -c dp_cdp.guard=off" psql -X -At -U ana -c "SELECT cost FROM visit WHERE age = 97"
PGOPTIONS="-c session_preload_libraries= -c local_preload_libraries=" psql -X -At -U ana -c "SELECT cost FROM visit WHERE age = 97"
PGOPTIONS="-c dp_cdp.standard_aggregates=off" psql -X -At -U ana -c "SELECT max(cost) FROM visit"
PGOPTIONS="-c session_authorization=boss" psql -X -At -U ana -c "SELECT cost FROM visit WHERE age = 97"
PGOPTIONS="-c role=boss" psql -X -At -U ana -c "SELECT cost FROM visit WHERE age = 97"
PGOPTIONS="-c row_security=off" psql -X -At -U ana -c "SELECT cost FROM visit WHERE age = 97"
PGOPTIONS="-c allow_system_table_mods=on -c ignore_system_indexes=on" psql -X -At -U ana -c "SELECT cost FROM visit WHERE age = 97"
psql -X -At -U ana -c "LOAD 'auto_explain'" -c "LOAD 'dp_cdp'" -c "SELECT cost FROM visit WHERE age = 97"
psql -X -At -U ana "replication=database" -c "IDENTIFY_SYSTEM" -c "START_REPLICATION 0/0"
--> any 0

--# output of debugging
--@ absent: (seqscan|indexscan|SEQSCAN|INDEXSCAN|AGG ).*plan_rows|duration:|[0-9] tuples
--@ attack
SET client_min_messages = debug5;
SET debug_print_plan = on; SET debug_print_rewritten = on; SET debug_print_parse = on; SET trace_sort = on; SET trace_notify = on;
SELECT ward, dp_count(*) IS NULL FROM visit WHERE patient = 42 GROUP BY ward;
--> ok 2
SELECT age > 96, dp_count(*) IS NULL FROM visit GROUP BY 1 ORDER BY 1;
--> ok 1
SET log_executor_stats = on;
--> 42501
SET log_min_duration_statement = 0;
--> 42501
SET track_functions = 'all';
--> 42501
SET log_statement_stats = on;
--> 42501
SET backtrace_functions = 'x';
--> 42501
SET session_replication_role = replica;
--> 42501
SET zero_damaged_pages = on;
--> 42501

--# settings that change a meaning
--@ attack
SET search_path = pg_temp, ana, public;
SET TimeZone = 'Pacific/Kiritimati'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'sql_standard'; SET extra_float_digits = -15;
SET transform_null_equals = on; SET standard_conforming_strings = off; SET bytea_output = 'escape'; SET quote_all_identifiers = on; SET array_nulls = off;
SELECT date_trunc('month', at), dp_count(*) IS NULL FROM visit GROUP BY 1 LIMIT 1;
--> ok 2
SELECT dp_count(*) IS NULL FROM visit WHERE cost = NULL;
--> ok 1
SET row_security = off;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1 | 42501
SELECT cost FROM visit;
--> ZC002 | 42501
COPY visit TO STDOUT;
--> ZC002 | 42501
RESET row_security;
SET default_transaction_read_only = on;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
SET default_transaction_isolation = 'serializable'; SET default_transaction_deferrable = on;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
SET synchronous_commit = off;
SELECT dp_count(*) IS NULL FROM visit;
--> standby: any; ok 1
SET exit_on_error = off; SET lock_timeout = 1; SET idle_in_transaction_session_timeout = 0;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1

--# random numbers
--@ absent: ^t$
--@ attack
SELECT setseed(0.5) IS NULL \g /dev/null
SELECT dp_count(*) AS a, dp_sum(cost) AS s FROM visit \gset
--> ok 2
SELECT setseed(0.5) IS NULL \g /dev/null
SELECT dp_count(*) AS b, dp_sum(cost) AS t FROM visit \gset
--> ok 2
SELECT :a = :b AND :s = :t;
--> standby: any; ok

--# sensitivity does not follow settings that the charge does not
--@ attack
SET dp_cdp.max_rows = 1;
PREPARE p AS SELECT dp_count(*) IS NULL FROM visit;
EXECUTE p;
--> ok 1
SET dp_cdp.max_rows = 1000; SET dp_cdp.rho = 0.02;
EXECUTE p;
--> ok 2
BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) IS NULL FROM visit; SET LOCAL dp_cdp.rho = 0.04; FETCH c;
--> ok 4
COMMIT;
BEGIN; DECLARE c CURSOR FOR SELECT ward, dp_count(*) IS NULL FROM visit GROUP BY ward; FETCH 1 FROM c; SET LOCAL dp_cdp.rho = 0.5; SET LOCAL dp_cdp.max_groups = 100; FETCH ALL FROM c;
--> ok 4
COMMIT;

--# a setting that names what is gone fails in parallel workers only, which start when a row asks for them
--@ only: noselect rls
--@ setup
GRANT USAGE, CREATE ON SCHEMA ana TO ana;
--@ attack
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;
CREATE TEXT SEARCH CONFIGURATION ana.cfg (COPY = pg_catalog.simple);
SET default_text_search_config = 'ana.cfg';
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
DROP TEXT SEARCH CONFIGURATION ana.cfg;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT patient, max(ward) FROM visit GROUP BY patient) q USING (patient) WHERE age = 97;
--> ok 1
