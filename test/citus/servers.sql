-- Servers that go away and come back while somebody asks: what is charged, what
-- is said, and that the next query is answered.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int NOT NULL, visit int, cost int);
SELECT create_distributed_table('visits', 'patient');
INSERT INTO visits SELECT i % 611, i, i % 100 FROM generate_series(1, 2003) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5, max_failures => 1000);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
\ir ask.psql

-- waits for what a query says
CREATE PROCEDURE wait_for(query text, description text) LANGUAGE plpgsql AS $$
DECLARE
	there boolean;
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXECUTE query INTO there;
		EXIT WHEN there;
		COMMIT;
		PERFORM pg_sleep(0.1);
	END LOOP;
	IF there IS NOT TRUE THEN
		RAISE EXCEPTION '%: not within a minute', description;
	END IF;
END $$;
CREATE FUNCTION ledger_fits(description text) RETURNS text LANGUAGE sql AS $$
	SELECT is((SELECT (sum(rho) * 1e6)::bigint FROM dp_cdp_internal.release_log WHERE granted), spent(), description || ': the ledger is what was granted')
$$;
CREATE FUNCTION failures() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM dp_cdp_internal.release_log WHERE failed $$;

-- what a release said that has ended, after it was charged
CREATE FUNCTION failed(before bigint, failures_before bigint, description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	said text := pg_read_file('../../said');
BEGIN
	RETURN NEXT matches(said, E'\\AERROR:  ZC002: private query failed while it read protected rows; what it was charged \\(rho 10000\\) stays charged, and it counts as failure [0-9]+ of at most 1000 in a day; the cause is in the server''s log\nLOCATION:[^\n]*\n\\Z',
		description || ' fails, and says that it was charged');
	RETURN NEXT is((SELECT string_agg(word, ' ') FROM unnest('{worker,visits,connection,server closed,77,administrator}'::text[]) word WHERE said LIKE '%' || word || '%'),
		NULL, description || ': nothing is said of servers and rows');
	RETURN NEXT is(spent() - before, 10000000000, description || ': it was charged, once');
	RETURN NEXT is(failures() - failures_before, 1::bigint, description || ': and is a failure');
	RETURN NEXT ledger_fits(description);
END $$;
CREATE FUNCTION answers(description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT is(ask('coordinator', 'SELECT round(dp_count(*) / 1000) FROM visits'), '2', description);
END $$;
SET citus.enable_ddl_propagation = off;
SELECT 'visits_' || min(shardid) AS shard FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
	WHERE logicalrelid = 'visits'::regclass AND nodename LIKE '%/worker2'
\gset
-- runs a command of the shell, $WORK being the cluster's directory
CREATE FUNCTION run(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', command);
END $$;
-- a session at a server that does what a script says, and stays until let_go()
CREATE FUNCTION hold(node text, script text) RETURNS void LANGUAGE sql AS $$
	SELECT run(format('rm -f $WORK/go; (echo "%s"; while [ ! -e $WORK/go ]; do sleep 0.1; done) | psql -X -q -h $WORK/%s -d test >/dev/null 2>&1 &', script, node))
$$;
CREATE FUNCTION let_go() RETURNS void LANGUAGE sql AS $$ SELECT run('touch $WORK/go') $$;
CREATE FUNCTION release() RETURNS void LANGUAGE sql AS $$
	SELECT run('rm -f $WORK/said; (psql -X -A -t -q -h $WORK/coordinator -U analyst1 -d test -v VERBOSITY=verbose -c "SELECT dp_count(*) FROM visits WHERE cost = 77" >$WORK/saying 2>&1; mv $WORK/saying $WORK/said) >/dev/null 2>&1 &')
$$;
CREATE PROCEDURE wait_for_end() LANGUAGE plpgsql AS $$
BEGIN
	CALL wait_for('SELECT (pg_stat_file(''../../said'', true)).size > 0', 'the end of a release');
END $$;
-- what a query of one boolean says at a server
CREATE FUNCTION at(node text, query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_or(success AND result = 't') FROM run_command_on_all_nodes(query) JOIN pg_dist_node USING (nodeid) WHERE nodename LIKE '%/' || node
$$;
CREATE PROCEDURE wait_at(node text, query text, description text) LANGUAGE plpgsql AS $$
BEGIN
	CALL wait_for(format('SELECT at(%L, %L)', node, query), description);
END $$;
-- a release whose debit waits for a standby that is not there, and what ends that
CREATE PROCEDURE release_to_debit() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM run('psql -X -q -h $WORK/coordinator -d test -c "ALTER SYSTEM SET synchronous_standby_names = nobody" -c "SELECT pg_reload_conf()" >/dev/null');
	-- until the setting has reached the process that debits
	LOOP
		PERFORM release();
		CALL wait_for('SELECT (pg_stat_file(''../../said'', true)).size > 0 OR EXISTS (SELECT FROM pg_stat_activity WHERE application_name = ''dp_cdp ledger'' AND wait_event = ''SyncRep'')',
			'a debit that waits');
		EXIT WHEN pg_stat_file('../../said', true) IS NULL;
	END LOOP;
END $$;
CREATE FUNCTION let_debit() RETURNS void LANGUAGE sql AS $$
	SELECT run('psql -X -q -h $WORK/coordinator -d test -c "ALTER SYSTEM RESET synchronous_standby_names" -c "SELECT pg_reload_conf()" >/dev/null')
$$;
-- a release for whose rows of worker2 somebody waits, while those of worker1 have come
CREATE PROCEDURE release_to_rows(shard text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM hold('worker2', format('SET citus.enable_manual_changes_to_shards = on; BEGIN; LOCK TABLE %s;', shard));
	CALL wait_at('worker2', format('SELECT count(*) > 0 FROM pg_locks WHERE granted AND mode = ''AccessExclusiveLock'' AND relation = to_regclass(%L)', shard), 'a lock of a shard');
	PERFORM release();
	CALL wait_at('worker2', format('SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = to_regclass(%L)', shard), 'a release that reads rows');
	CALL wait_at('worker1', 'SELECT count(*) = 0 FROM pg_stat_activity WHERE state = ''active'' AND query LIKE ''%visits\_%'' AND pid <> pg_backend_pid()', 'the rows of the other server');
END $$;
SET synchronous_commit = local;
SELECT no_plan();

SELECT answers('a release is answered');

-- the server dies when the release is planned and its debit waits
CALL release_to_debit();
SELECT spent() AS before, failures() AS failures
\gset
SELECT run('$WORK/node kill worker2');
SELECT let_debit();
CALL wait_for_end();
SELECT failed(:before, :failures, 'a release whose server dies before its debit is done');
SELECT alike(ask('coordinator', 'SELECT dp_count(*) FROM visits'), 'ERROR:  ZC002: a server of the cluster does not answer; nothing was charged: ask again when it does%', 'without it nothing is answered');
SELECT is(spent() - :before, 10000000000, 'or charged');
SELECT matches(string_agg(object || ' ' || finding, ' '), 'worker2.* does not answer', 'check_setup() says so') FROM dp_cdp_internal.cluster_findings() WHERE severity = 'warning';
SELECT run('$WORK/node start worker2');
SELECT answers('and with it again');

-- between the debit and the first row, which a process that is stopped does not ask for
CALL release_to_debit();
SELECT spent() AS before, failures() AS failures
\gset
SELECT pid AS asking FROM pg_stat_activity WHERE usename = 'analyst1'
\gset
SELECT run('kill -STOP ' || :asking);
SELECT let_debit();
CALL wait_for('SELECT spent() > ' || :before, 'the debit');
SELECT run('$WORK/node stop worker2 immediate');
SELECT run('kill -CONT ' || :asking);
CALL wait_for_end();
SELECT failed(:before, :failures, 'a release whose server dies after its debit');
SELECT run('$WORK/node start worker2');
SELECT answers('with it the next is answered');

-- while rows travel: the server, its sessions, or what they do, are ended
SELECT spent() AS before, failures() AS failures
\gset
CALL release_to_rows(:'shard');
SELECT run('$WORK/node kill worker2');
CALL wait_for_end();
SELECT failed(:before, :failures, 'a release whose server dies while its rows are waited for');
SELECT let_go();
SELECT run('$WORK/node start worker2');
SELECT answers('with it the next is answered');

SELECT spent() AS before, failures() AS failures
\gset
CALL release_to_rows(:'shard');
SELECT run('$WORK/node kill worker1');
SELECT run('$WORK/node start worker1');
SELECT let_go();
CALL wait_for_end();
SELECT matches(pg_read_file('../../said'), '(\A|\n)20\n\Z', 'a release of whose servers one dies when its rows are here is answered');
SELECT is(spent() - :before, 10000000000, 'and charged, once');
SELECT is(failures() - :failures, 0::bigint, 'and is no failure');
SELECT ledger_fits('after an answer');
SELECT answers('with it the next is answered');

SELECT spent() AS before, failures() AS failures
\gset
CALL release_to_rows(:'shard');
SELECT at('worker2', format('SELECT bool_and(pg_terminate_backend(pid)) FROM pg_locks WHERE NOT granted AND relation = to_regclass(%L)', :'shard'));
CALL wait_for_end();
SELECT failed(:before, :failures, 'a release whose session at a server is terminated');
SELECT let_go();
SELECT answers('the next is answered');

SELECT spent() AS before, failures() AS failures
\gset
CALL release_to_rows(:'shard');
SELECT at('worker2', format('SELECT bool_and(pg_cancel_backend(pid)) FROM pg_locks WHERE NOT granted AND relation = to_regclass(%L)', :'shard'));
CALL wait_for_end();
SELECT matches(pg_read_file('../../said'), E'\\AERROR:  57014: canceling private query; what it was charged [^\n]*, and it counts as failure [^\n]*\nLOCATION:[^\n]*\n\\Z', 'a release that is cancelled at a server says so');
SELECT let_go();
SELECT is(spent() - :before, 10000000000, 'it was charged, once');
SELECT is(failures() - :failures, 1::bigint, 'and is a failure');
SELECT ledger_fits('when it is cancelled there');
SELECT answers('the next is answered');

-- a session that has connections to it notices when it asks, before the debit
SELECT matches(ask('coordinator', $q$SELECT round(dp_count(*) / 1000) FROM visits;
\! $WORK/node stop worker2 immediate
\! $WORK/node start worker2
SELECT round(dp_count(*) / 1000) FROM visits;
SELECT round(dp_count(*) / 1000) FROM visits;$q$), E'\\A2\nERROR:  ZC002: a server of the cluster does not answer; nothing was charged[^\n]*\nLOCATION:[^\n]*\n2\\Z',
	'a server that dies and comes back between releases of a session');
SELECT ledger_fits('between releases');
SELECT matches(ask('coordinator', $q$BEGIN;
SELECT round(dp_count(*) / 1000) FROM visits;
\! $WORK/node stop worker2 immediate
\! $WORK/node start worker2
SELECT round(dp_count(*) / 1000) FROM visits;
ROLLBACK;
SELECT round(dp_count(*) / 1000) FROM visits;
SELECT round(dp_count(*) / 1000) FROM visits;$q$), E'\\A2\n(ERROR:  ZC002: a server of the cluster does not answer; nothing was charged[^\n]*\nLOCATION:[^\n]*\n)+2(\n2)?\\Z', 'in one of its transactions');
SELECT ledger_fits('in a transaction');

SELECT * FROM finish();
