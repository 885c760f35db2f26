-- Releases in transactions that have written tables of the cluster: Citus reads no shard as one role that lies
-- where another has written one before.  What that refuses costs nothing.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int NOT NULL, cost int);
CREATE TABLE one (LIKE visits);
CREATE TABLE same_everywhere (LIKE visits);
SELECT create_distributed_table('visits', 'patient');
SELECT create_distributed_table('one', NULL);
SELECT create_reference_table('same_everywhere');
INSERT INTO visits SELECT i % 50, i % 100 FROM generate_series(1, 200) i;
INSERT INTO one SELECT * FROM visits;
INSERT INTO same_everywhere SELECT * FROM visits;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{visits,one,same_everywhere}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{visits,one,same_everywhere}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE kept (n int, answer float8);
CREATE TABLE kept_apart (n text, answer float8);
CREATE TABLE kept_alone (n int, answer float8);
CREATE TABLE kept_everywhere (n int, answer float8);
SELECT create_distributed_table('kept', 'n', colocate_with => 'visits');
SELECT create_distributed_table('kept_apart', 'n', colocate_with => 'none');
SELECT create_distributed_table('kept_alone', NULL);
SELECT create_reference_table('kept_everywhere');
RESET SESSION AUTHORIZATION;

\ir ask.psql
SET citus.enable_ddl_propagation = off;
-- what was spent and failed
CREATE FUNCTION spent() RETURNS text LANGUAGE sql AS 'SELECT format(''%s, %s failed'', round(rho_spent / 1e4), failures) FROM dp_cdp.budgets';
SELECT no_plan();

CREATE TABLE refused (script text);
INSERT INTO refused VALUES
	('INSERT INTO kept VALUES (1, 1)'), ('INSERT INTO kept SELECT i, i FROM generate_series(1, 9) i'), ('UPDATE kept SET answer = 1'), ('TRUNCATE kept'), ('CREATE INDEX ON kept (answer)'),
	('CREATE TABLE t (n int); SELECT create_distributed_table(''t'', ''n'', colocate_with => ''visits'')'), ('SAVEPOINT s; INSERT INTO kept VALUES (1, 1); ROLLBACK TO s; INSERT INTO kept VALUES (2, 2)');
SELECT alike(ask('coordinator', format('BEGIN; %s; SELECT dp_count(*) FROM visits; ROLLBACK', script)),
	'%ERROR:  ZC002: private query cannot be computed after writes to tables that are distributed as those it reads; nothing was charged%', script) FROM refused;
SELECT alike(ask('coordinator', 'BEGIN; INSERT INTO kept_alone VALUES (1, 1); SELECT dp_sum(cost) FROM one; ROLLBACK'), '%ZC002%ask in another transaction%', 'tables of one shard');
SELECT alike(ask('coordinator', 'DO $$ BEGIN INSERT INTO kept VALUES (1, 1), (2, 2), (3, 3), (4, 4); PERFORM dp_median(cost) FROM visits; END $$'), '%ZC002%ask in another transaction%', 'in a block');
SELECT is(spent(), '0, 0 failed', 'none was charged');
SELECT is(ask('coordinator', 'BEGIN; INSERT INTO kept_alone VALUES (1, 1); SAVEPOINT s; SELECT dp_sum(cost) FROM one; ROLLBACK TO s; SELECT count(*) FROM kept_alone; COMMIT') ~ '\n1$', true, 'a part of a transaction that is undone leaves the rest');

-- what can be read is
SELECT is(ask('coordinator', script), answer, script) FROM (VALUES
	('INSERT INTO kept SELECT 1, round(dp_count(*)) FROM visits', ''),
	('BEGIN; SELECT round(dp_count(*) / 100) FROM visits; INSERT INTO kept VALUES (1, 1); COMMIT', '2'),
	('BEGIN; INSERT INTO kept_apart VALUES (''a'', 1); SELECT round(dp_count(*) / 100) FROM visits; COMMIT', '2'),
	('BEGIN; INSERT INTO kept_everywhere VALUES (1, 1); SELECT round(dp_count(*) / 100) FROM visits; SELECT round(dp_count(*) / 100) FROM same_everywhere; COMMIT', E'2\n2'),
	('BEGIN; SELECT count(*) > 0 FROM kept; SELECT round(dp_count(*) / 100) FROM visits; COMMIT', E't\n2')) v(script, answer);
SELECT is(spent(), '6, 0 failed', 'and each once');
SELECT * FROM finish();
