-- What check_setup() finds of workers that are set up badly.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE idle1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int NOT NULL, cost int);
SELECT create_distributed_table('visits', 'patient');
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

\ir ask.psql
-- findings of a worker, as check_setup() tells them to the superuser
CREATE FUNCTION found(worker text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(severity || ': ' || finding, E'\n' ORDER BY severity, finding), 'nothing') FROM dp_cdp.check_setup() WHERE object LIKE 'worker %/' || worker || ':%'
$$;
-- a setting of a worker, which is restarted
CREATE FUNCTION set_at(worker text, setting text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', format('psql -X -q -h $WORK/%s -d test -c "ALTER SYSTEM %s" && $WORK/node stop %s && $WORK/node start %s', worker, setting, worker, worker));
END $$;
SET citus.enable_ddl_propagation = off;
-- a statement for one server alone
CREATE FUNCTION here(node text, statement text) RETURNS text LANGUAGE sql AS $$
	SELECT ask(node, 'SET citus.enable_ddl_propagation = off; SET citus.enable_alter_role_propagation = off; SET citus.enable_alter_role_set_propagation = off; SET citus.enable_create_database_propagation = off; ' || statement, 'postgres')
$$;
SELECT no_plan();

-- analysts who may log in: those with budgets, and no others
SELECT is(found(worker), 'info: as far as privileges tell, analysts may log in there (analyst1); they read nothing, but have no business with it', worker || ' is set up well')
	FROM unnest('{worker1,worker2}'::text[]) worker;
SELECT here('worker1', 'ALTER ROLE analyst1 NOLOGIN');
SELECT is(found('worker1'), 'nothing', 'one where no analyst may log in');
SELECT matches(found('worker2'), 'analyst1', 'says nothing of the other');
SELECT here('worker1', 'ALTER ROLE analyst1 LOGIN; REVOKE CONNECT ON DATABASE test FROM PUBLIC');
SELECT is(found('worker1'), 'nothing', 'nor one where no analyst may connect to the database');
SELECT here('worker1', 'GRANT CONNECT ON DATABASE test TO PUBLIC');
SELECT matches(found('worker1'), 'info: .*analyst1', 'where he may again it is said again');
SELECT here(node, 'ALTER ROLE analyst1 NOLOGIN') FROM unnest('{worker1,worker2}'::text[]) node;

-- statements that are logged
SELECT set_at('worker1', 'SET log_statement = ''all'''), set_at('worker1', 'SET log_min_duration_statement = 500');
SELECT matches(found('worker1'), '^warning: logs statements \(log_min_duration_statement = 500, log_statement = all\): of inner queries they show the seed[^\n]*$', 'a worker that logs statements');
SELECT is(found('worker2'), 'nothing', 'and the other, which does not');
SELECT set_at('worker1', 'RESET ALL');
SELECT here('worker1', 'ALTER ROLE owner1 SET log_statement = ''mod''; ALTER DATABASE test SET log_min_duration_sample = 0; ALTER ROLE idle1 SET log_statement = ''none''');
SELECT matches(found('worker1'), 'warning: logs statements \(log_min_duration_sample = 0, log_statement = mod of role owner1\)', 'one that logs those of a role or database');
SELECT here('worker1', 'ALTER ROLE owner1 RESET log_statement; ALTER DATABASE test RESET log_min_duration_sample');
SELECT is(found('worker1'), 'nothing', 'and no more');

-- another version of the extension, and none
SELECT ask('worker1', 'UPDATE pg_extension SET extversion = ''0.0.1'' WHERE extname = ''dp_cdp''', 'postgres');
SELECT matches(found('worker1'), '^warning: has version 0\.0\.1 of dp_cdp, and the coordinator another$', 'a worker with another version');
SELECT is(found('worker2'), 'nothing', 'and the other, which has the coordinator''s');
SELECT ask('worker1', 'DELETE FROM pg_extension WHERE extname = ''dp_cdp''', 'postgres');
SELECT matches(found('worker1'), '^warning: has version none of dp_cdp, and the coordinator another$', 'a worker without the extension');

-- without the library, or with others whose names are like it
SELECT set_at('worker2', 'SET shared_preload_libraries = citus');
SELECT matches(found('worker2'), '^critical: shared_preload_libraries has no dp_cdp: nothing is guarded there$', 'a worker without the library');
SELECT set_at('worker2', 'SET shared_preload_libraries = citus, dp_cdp_primary');
SELECT matches(found('worker2'), 'critical: shared_preload_libraries has no dp_cdp', 'or with another one');
SELECT set_at('worker2', 'RESET shared_preload_libraries');
SELECT is(found('worker2'), 'nothing', 'and with it');

-- in the wrong order: Citus does not let such a server start, so nothing is read there
SELECT set_at('worker2', 'SET shared_preload_libraries = dp_cdp, citus');
SELECT matches(pg_read_file(format('%s/worker2/log', regexp_replace(current_setting('unix_socket_directories'), '/[^/]*$', ''))), 'Citus has to be loaded first',
	'a worker that loads dp_cdp before citus does not start');
SELECT matches(found('worker2'), '^warning: does not answer', 'which is found');
\! sed -i /^shared_preload_libraries/d $WORK/worker2/data/postgresql.auto.conf
\! $WORK/node start worker2
SELECT is(found('worker2'), 'nothing', 'in the right order it is as before');

-- what does not answer
\! $WORK/node stop worker2 immediate
SELECT matches(found('worker2'), '^warning: does not answer: what is open there is not known, and releases from distributed tables are refused$', 'a worker that does not answer');
\! $WORK/node start worker2
-- who asks
SELECT here('coordinator', 'ALTER ROLE analyst1 LOGIN');
SELECT alike(ask('coordinator', 'SELECT count(*) FROM dp_cdp_internal.cluster_findings()', who), 'ERROR:  42501: permission denied for function cluster_findings%', who || ' does not ask workers')
	FROM unnest('{analyst1,owner1}'::text[]) who;
SELECT is(ask('worker1', 'SELECT count(*) FROM dp_cdp_internal.cluster_findings()', 'postgres'), '0', 'a worker asks nobody');
SELECT * FROM finish();
