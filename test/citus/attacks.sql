-- Roads to rows and their number that a cluster has beside those of one
-- server, by a coordinator and a worker, hardened and not.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE visits (patient int NOT NULL, visit int, dept text NOT NULL, cost int, mood mood);
SELECT create_distributed_table('visits', 'patient');
INSERT INTO visits SELECT i % 611, i, substr('abc', 1 + (i % 500) % 3, 1), i % 100, (ARRAY['good', 'bad'])[1 + i % 611 % 2]::mood FROM generate_series(1, 40003) i;
UPDATE visits SET cost = 876543 WHERE visit = 77;
CREATE TABLE rows_of (n int);
SELECT create_distributed_table('rows_of', 'n');
INSERT INTO rows_of SELECT i % 10 FROM generate_series(1, 1000) i;
ANALYZE visits;
-- sizes of shards are in a catalogue from now on
SELECT citus_update_table_statistics('visits');
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.protect_table('rows_of', 'clinic', each_row => true);
SELECT dp_cdp.set_bounds('rows_of', 'n', 0, 10);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
\ir ask.psql

-- what must not be seen: a value, the number of rows, of all shards and of each, their pages and bytes
CREATE TABLE secret AS
	SELECT DISTINCT s FROM (
		VALUES ('876543'), ('40003')) v(s)
	UNION SELECT result FROM run_command_on_shards('visits', 'SELECT count(*) FROM %s')
	UNION SELECT result FROM run_command_on_shards('visits', $$SELECT relpages FROM pg_class WHERE oid = '%s'::regclass$$)
	UNION SELECT result FROM run_command_on_shards('visits', $$SELECT pg_relation_size('%s')$$)
	UNION SELECT result FROM run_command_on_shards('visits', $$SELECT pg_table_size('%s')$$)
	UNION SELECT result FROM run_command_on_shards('visits', $$SELECT pg_total_relation_size('%s')$$)
	UNION SELECT citus_table_size('visits')::text
	UNION SELECT citus_total_relation_size('visits')::text;
DELETE FROM secret WHERE length(s) < 3;
CREATE FUNCTION hidden(answer text) RETURNS boolean LANGUAGE sql AS
	$$ SELECT answer !~ ('\m(' || string_agg(s, '|') || ')\M') FROM secret $$;
CREATE FUNCTION closed(node text, script text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := ask(node, script);
BEGIN
	IF answer ~ 'ERROR:  ((42501|ZC00[23]|42P01|42703|0A000|55000|P0001):|permission denied)' AND hidden(answer) THEN
		RETURN ok(true, node || ': ' || description);
	END IF;
	RETURN ok(false, node || ': ' || description) || E'\n' || diag(left(answer, 600));
END $$;
CREATE FUNCTION tells_nothing(node text, script text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := ask(node, script);
BEGIN
	RETURN ok(hidden(answer), node || ': ' || description) ||
		CASE WHEN hidden(answer) THEN '' ELSE E'\n' || diag(left(answer, 600)) END;
END $$;
SET citus.enable_ddl_propagation = off;
SELECT (SELECT 'visits_' || min(shardid) FROM pg_dist_shard WHERE logicalrelid = 'visits'::regclass) AS shard,
	(SELECT min(shardid) FROM pg_dist_shard WHERE logicalrelid = 'visits'::regclass) AS shardid,
	(SELECT min(shardid) FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
		WHERE logicalrelid = 'visits'::regclass AND nodename LIKE '%/worker1') AS here
\gset
SELECT no_plan();

SELECT cmp_ok((SELECT count(*) FROM secret), '>=', 8::bigint, 'there is something to be hidden');
SELECT ok(NOT hidden(ask('worker1', 'SELECT count(*) FROM visits', 'owner1')), 'and it is seen where it is shown');

-- who asks in a session, in which settings are sent to workers

SELECT closed('coordinator', $q$BEGIN;
SET LOCAL citus.propagate_set_commands = 'local';
SET LOCAL work_mem = '5MB'\; DO $x$ BEGIN IF current_user = 'owner1' THEN EXECUTE format('CREATE TABLE taken_%s AS SELECT 1 AS n', pg_backend_pid()); END IF; END $x$;
SELECT dp_count(*) FROM visits;
COMMIT;$q$, 'what a client sends with a setting does not come to the owner''s sessions');
SELECT closed('coordinator', $q$SET citus.propagate_set_commands = 'local';
BEGIN;
SELECT round(dp_count(*) / 1e6) FROM visits;
SET LOCAL work_mem = '5MB'\; DO $x$ BEGIN IF current_user = 'owner1' THEN EXECUTE format('CREATE TABLE taken_%s AS SELECT 1 AS n', pg_backend_pid()); END IF; END $x$;
COMMIT;$q$, 'nor after a release');
SELECT closed('coordinator', $q$BEGIN;
SET LOCAL citus.propagate_set_commands = 'local';
SAVEPOINT s;
SET LOCAL search_path = public, pg_catalog;
RELEASE s;
SELECT dp_count(*) FROM visits;
COMMIT;$q$, 'nor by a savepoint');
SELECT closed('coordinator', $q$SET citus.propagate_set_commands = 'local';
DO $x$ BEGIN RESET ALL; SET LOCAL citus.propagate_set_commands = 'local'; RESET work_mem; PERFORM dp_count(*) FROM visits; END $x$$q$, 'nor by a block');
SELECT is(string_agg(DISTINCT result, ' '), '0', 'nothing was made with the owner''s rights')
	FROM run_command_on_all_nodes($$SELECT count(*) FROM pg_class WHERE relname LIKE 'taken%'$$);
SELECT matches(ask('coordinator', $q$SET citus.propagate_set_commands = 'local';
BEGIN;
SET LOCAL work_mem = '5MB';
COMMIT;
BEGIN;
SET work_mem = '5MB';
SELECT round(dp_count(*) / 1e6) FROM visits;
SELECT round(dp_count(*) / 1e6) FROM visits;
COMMIT;$q$), '^0\n0$', 'in another transaction it is answered');

-- a constant ends where it ends, also where a worker reads strings otherwise
SELECT ask(node, 'SET citus.enable_alter_role_set_propagation = off; ALTER ROLE owner1 SET standard_conforming_strings = off', 'postgres') FROM unnest('{worker1,worker2}'::text[]) node;
SELECT matches(ask('coordinator', $q$SET dp_cdp.max_rows = 5; SELECT round(dp_count(*) / 1e3) FROM visits WHERE dept <> 'a\' AND dept <> ' OR dept = current_user -- '$q$), '^3$', 'no statement is made of it');
SELECT ask(node, 'SET citus.enable_alter_role_set_propagation = off; ALTER ROLE owner1 RESET standard_conforming_strings', 'postgres') FROM unnest('{worker1,worker2}'::text[]) node;

-- functions that fit better than PostgreSQL's, where a session would look for them
SELECT ask(node, $q$SET citus.enable_ddl_propagation = off;
CREATE FUNCTION public.more(int, int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 876543; END';
CREATE AGGREGATE public.count(int) (SFUNC = public.more, STYPE = int);
CREATE FUNCTION public.same(mood, mood) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
CREATE OPERATOR public.= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = public.same)$q$) FROM unnest('{worker1,worker2}'::text[]) node;
SELECT is(string_agg(DISTINCT result, ' '), '876543', 'there is an aggregate that is found first')
	FROM run_command_on_workers('SELECT count(v.n) FROM (VALUES (1), (2)) v(n)');
SELECT matches(ask('coordinator', 'SELECT round(dp_avg(n)) BETWEEN 4 AND 5 FROM rows_of'), '^t$', 'it is not called on rows');
SELECT matches(ask('coordinator', 'SELECT dp_count(*) > 1000 FROM visits WHERE mood = ''bad'''), '^t$', 'nor is an operator');
SELECT matches(ask('coordinator', 'BEGIN; SAVEPOINT s; SELECT dp_count(*) > 1000 FROM visits WHERE mood = ''bad''; ROLLBACK TO s; SELECT dp_count(*) > 1000 FROM visits WHERE mood = ''bad'''),
	'^t\nt$', 'nor in a transaction of several queries');

-- plans
SELECT closed('coordinator', 'EXPLAIN ANALYZE SELECT dp_count(*) FROM visits', 'EXPLAIN ANALYZE of a release');
SELECT closed('coordinator', 'SET citus.explain_all_tasks = on; EXPLAIN (ANALYZE, VERBOSE, BUFFERS) SELECT count(*) FROM visits', 'EXPLAIN ANALYZE per shard');
SELECT closed('coordinator', 'SET citus.explain_all_tasks = on; EXPLAIN VERBOSE SELECT * FROM visits', 'EXPLAIN of rows');
SELECT unalike(ask('coordinator', 'SET citus.explain_all_tasks = on; EXPLAIN (VERBOSE, FORMAT json) SELECT dp_count(*) FROM visits'), '%Task%', 'EXPLAIN shows no tasks');
SELECT unalike(ask('coordinator', format('SET client_min_messages = debug5; SET citus.worker_min_messages = debug5; SET citus.log_remote_commands = on; SET citus.log_local_commands = on; SET citus.log_intermediate_results = on;'
	' SET citus.multi_task_query_log_level = notice; SET citus.log_multi_join_order = on; SET citus.stat_tenants_log_level = notice; SELECT round(dp_count(*) / 1e6) FROM visits')), '%visits\_%',
	'nor do messages show queries of shards');
SELECT hidden(ask('coordinator', 'SET citus.multi_task_query_log_level = error; SELECT dp_count(*) FROM visits'));

-- shards, by name
SELECT closed('coordinator', format('SELECT count(*) FROM %s', :'shard'), 'a shard by name');
SELECT closed('coordinator', format('COPY %s TO STDOUT', :'shard'), 'COPY of it');
SELECT closed(node, format('SET citus.override_table_visibility = off; SELECT count(*) FROM visits_%s', :here), 'a shard by name')
	FROM unnest('{coordinator,worker1}'::text[]) node;
SELECT closed('worker1', q, d) FROM (VALUES
	(format('COPY visits_%s TO STDOUT', :here), 'COPY of a shard'),
	(format('EXPLAIN ANALYZE SELECT * FROM visits_%s', :here), 'EXPLAIN ANALYZE of a shard'),
	('SELECT * FROM visits', 'rows'),
	('EXPLAIN ANALYZE SELECT count(*) FROM visits', 'EXPLAIN ANALYZE'),
	('SELECT dp_count(*) FROM visits', 'a release'),
	('EXPLAIN SELECT dp_count(*) FROM visits', 'EXPLAIN of a release'),
	(format('SELECT dp_count(*) FROM visits_%s', :here), 'a release from a shard'),
	(format('CREATE TABLE copied (LIKE visits_%s); SELECT worker_copy_table_to_node(''visits_%s'', 1)', :here, :here), 'a copy of a shard'),
	(format('SELECT worker_save_query_explain_analyze(''SELECT 1 FROM visits_%s'', ''{}'')', :here), 'an explained query of a shard'),
	(format('SELECT create_intermediate_result(''x'', ''SELECT * FROM visits_%s'')', :here), 'an intermediate result'),
	(format('BEGIN; SELECT * FROM worker_partition_query_result(''x'', ''SELECT * FROM visits_%s'', 0, ''hash'', ''{-2147483648}'', ''{2147483647}'', false)', :here), 'a partitioned one'),
	(format('SELECT worker_partial_agg(''count("any")''::regprocedure, visit) FROM visits_%s', :here), 'partial states')) v(q, d);
SELECT closed('coordinator', q, d) FROM (VALUES
	('SELECT create_intermediate_result(''x'', ''SELECT * FROM visits'')', 'an intermediate result'),
	('SELECT broadcast_intermediate_result(''x'', ''SELECT * FROM visits'')', 'one that is sent'),
	('SELECT worker_save_query_explain_analyze(''SELECT count(*) FROM pg_temp.x, visits'', ''{}'')', 'an explained query'),
	('SELECT worker_partial_agg(''count("any")''::regprocedure, visit) FROM visits', 'partial states'),
	('SELECT coord_combine_agg(''count("any")''::regprocedure, s, NULL::bigint) FROM (SELECT worker_partial_agg(''count("any")''::regprocedure, visit) AS s FROM visits) q', 'states put together'),
	('SELECT * FROM run_command_on_shards(''visits'', ''SELECT count(*) FROM %s'')', 'run_command_on_shards'),
	('SELECT * FROM run_command_on_placements(''visits'', ''SELECT count(*) FROM %s'')', 'run_command_on_placements'),
	('SELECT create_distributed_table(''visits'', ''patient'')', 'create_distributed_table'),
	('SELECT undistribute_table(''visits'')', 'undistribute_table'),
	('SELECT alter_distributed_table(''visits'', shard_count => 2)', 'alter_distributed_table'),
	(format('SELECT citus_copy_shard_placement(%s, 1, 2)', :shardid), 'a copy of a shard'),
	(format('SELECT citus_move_shard_placement(%s, 1, 2)', :shardid), 'a shard that is moved'),
	('SELECT isolate_tenant_to_new_shard(''visits'', 7)', 'a tenant that is isolated'),
	('CREATE FUNCTION mine(int) RETURNS bigint LANGUAGE sql AS ''SELECT count(*) FROM public.visits WHERE patient = $1''; SELECT create_distributed_function(''mine(int)'', ''$1'', ''visits''); SELECT mine(7)',
		'a function that workers are to run'),
	('CREATE TABLE mine AS SELECT * FROM visits', 'CREATE TABLE AS'),
	('INSERT INTO visits SELECT * FROM visits', 'INSERT ... SELECT'),
	('CREATE TABLE target (n int); SELECT create_distributed_table(''target'', ''n''); INSERT INTO target SELECT visit FROM visits', 'INSERT ... SELECT into a table that is distributed')) v(q, d);

-- what a table tells of its shards, before and after harden() on all servers
\! psql -X -q -d test -c "SELECT count(*) FROM dp_cdp.harden()" >/dev/null
\! psql -X -q -h $WORK/worker1 -d test -c "SELECT count(*) FROM dp_cdp.harden()" >/dev/null
\! psql -X -q -h $WORK/worker2 -d test -c "SELECT count(*) FROM dp_cdp.harden()" >/dev/null
SELECT closed(node, q, d) FROM unnest('{coordinator,worker1}'::text[]) node, (VALUES
	('SELECT citus_table_size(''visits'')', 'size of a table'),
	('SELECT citus_relation_size(''visits'')', 'size of a relation'),
	('SELECT citus_total_relation_size(''visits'')', 'size of all'),
	('SELECT * FROM citus_shard_sizes()', 'sizes of shards'),
	('SELECT citus_update_table_statistics(''visits'')', 'sizes of shards, written into a catalogue'),
	(format('SELECT citus_update_shard_statistics(%s)', :shardid), 'of one'),
	('SELECT * FROM citus_shards', 'the view of shards'),
	('SELECT shardlength FROM pg_dist_placement', 'sizes that were written before'),
	('SELECT * FROM pg_dist_shard_placement', 'and in its view'),
	('SELECT * FROM citus_tables', 'the view of tables'),
	('SELECT * FROM citus_stat_counters', 'counters'),
	('SELECT * FROM run_command_on_workers(''SELECT 1'')', 'run_command_on_workers'),
	('SELECT * FROM run_command_on_all_nodes(''SELECT 1'')', 'run_command_on_all_nodes'),
	('SELECT * FROM run_command_on_coordinator(''SELECT 1'')', 'run_command_on_coordinator'),
	('SELECT * FROM master_run_on_worker(''{localhost}'', ''{5432}'', ''{SELECT 1}'', false)', 'what that is made of'),
	('SELECT * FROM citus_stat_statements', 'statements and tenants'),
	('SELECT * FROM citus_stat_tenants', 'tenants'),
	('SELECT * FROM worker_save_query_explain_analyze(''SELECT 1'', ''{}'') AS (n int)', 'an explained query'),
	('SELECT * FROM worker_save_query_explain_analyze(''SELECT dp_count(*) FROM visits'', ''{}'') AS (n bigint)', 'an explained release'),
	('SELECT worker_partial_agg(''sum(int)''::regprocedure, n) FROM (VALUES (1)) v(n)', 'worker_partial_agg'),
	('SELECT coord_combine_agg(''sum(int)''::regprocedure, ''1''::cstring, NULL::bigint)', 'coord_combine_agg')) v(q, d);
SELECT is(string_agg(node || ' ' || f.oid::regproc, ' '), NULL, 'functions of these aggregates are closed')
	FROM (VALUES ('worker_partial_agg_sfunc'), ('worker_partial_agg_ffunc'), ('coord_combine_agg_sfunc'), ('coord_combine_agg_ffunc')) v(name) JOIN pg_proc f ON f.proname = v.name,
		unnest('{coordinator,worker1}'::text[]) node
	WHERE ask(node, format('SELECT has_function_privilege(%s, ''EXECUTE'')', f.oid)) <> 'f';
SELECT alike(ask(node, 'SELECT count(shardid) > 0 FROM pg_dist_placement JOIN pg_dist_shard_placement USING (placementid, shardid, shardstate)'), 't', node || ': where shards are is told')
	FROM unnest('{coordinator,worker1}'::text[]) node;
SELECT tells_nothing(node, q, d) FROM unnest('{coordinator,worker1}'::text[]) node, (VALUES
	('SELECT * FROM pg_dist_shard; SELECT * FROM pg_dist_placement; SELECT * FROM pg_dist_partition; SELECT * FROM pg_dist_shard_placement', 'catalogues'),
	('SELECT * FROM citus_stats', 'statistics of columns'),
	('SELECT * FROM pg_stats WHERE tablename LIKE ''visits%''', 'statistics of columns of shards'),
	('SELECT relname, reltuples, relpages FROM pg_class WHERE relname LIKE ''visits%''', 'statistics of shards'),
	('SET citus.override_table_visibility = off; SELECT relname, reltuples, relpages, pg_relation_size(oid) FROM pg_class WHERE relname LIKE ''visits%''', 'of those that are not shown'),
	('SELECT * FROM pg_stat_user_tables; SELECT * FROM pg_stat_xact_user_tables', 'activity of tables'),
	('SELECT * FROM citus_stat_activity; SELECT * FROM citus_dist_stat_activity; SELECT * FROM get_global_active_transactions(); SELECT * FROM citus_lock_waits; SELECT * FROM citus_locks',
		'activity of sessions'),
	('SELECT * FROM citus_shard_indexes_on_worker; SELECT * FROM citus_shards_on_worker; SELECT * FROM time_partitions; SELECT * FROM citus_schemas', 'views'),
	('SELECT * FROM columnar.stripe; SELECT * FROM columnar.chunk; SELECT * FROM columnar.chunk_group', 'tables of columns'),
	('SELECT citus_executor_name(1); SELECT citus_query_stats(); SELECT citus_remote_connection_stats()', 'functions')) v(q, d);

-- all that Citus has and the analyst may call, with arguments that are right where they can be guessed
CREATE TEMP TABLE called AS
SELECT node, f.proname, format('SET statement_timeout = ''5s''; SELECT * FROM %I.%I(%s) %s', f.pronamespace::regnamespace, f.proname,
		(SELECT string_agg(CASE t.typname
			WHEN 'regclass' THEN '''visits''' WHEN 'oid' THEN '''visits''::regclass' WHEN 'int8' THEN :'here' WHEN 'int4' THEN '1' WHEN 'bool' THEN 'true'
			WHEN 'text' THEN CASE coalesce(f.proargnames[i], '') WHEN 'query' THEN '''SELECT count(*) FROM visits''' ELSE format('''visits_%s''', :'here') END
			WHEN '_text' THEN '''{x}''' WHEN 'citus_copy_format' THEN '''text''' WHEN 'name' THEN '''patient''' WHEN 'cstring' THEN '''visits''' WHEN 'jsonb' THEN '''{}''' WHEN 'json' THEN '''{}'''
			ELSE 'NULL::' || format_type(t.oid, NULL) END, ', ' ORDER BY i)
			FROM unnest(f.proargtypes) WITH ORDINALITY a(type, i) JOIN pg_type t ON t.oid = a.type),
		CASE WHEN f.prorettype = 'record'::regtype AND f.proallargtypes IS NULL THEN 'AS (a text)' ELSE '' END) AS script
FROM unnest('{coordinator,worker1}'::text[]) node, pg_proc f JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname IN ('citus', 'citus_columnar')
WHERE f.prokind = 'f' AND f.prorettype <> 'trigger'::regtype AND has_function_privilege('analyst1', f.oid, 'EXECUTE') AND f.proname !~ 'wait|cancel|terminate'
	AND has_schema_privilege('analyst1', f.pronamespace, 'USAGE');
SELECT cmp_ok((SELECT count(DISTINCT proname) FROM called), '>', 60::bigint, 'there are functions of Citus to be called');
SELECT is(string_agg(node || ' ' || proname || ' ' || answer, E'\n'), NULL, 'none of them tells anything')
	FROM (SELECT node, proname, ask(node, script) AS answer FROM called) c WHERE NOT hidden(answer);
SELECT is((SELECT count(*) FROM visits), 40003::bigint, 'nor changes anything');
SELECT is((run_as_analyst('SELECT dp_count(*) FROM visits')).failure, NULL, 'and a release is answered as before');
SELECT * FROM finish();
