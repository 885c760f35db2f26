-- Releases from distributed tables: answers are those of the same rows in a
-- table of one server, and what cannot be released is refused before it is
-- charged.
--
-- rho is so large that noise vanishes when it is rounded: the true values are many
-- standard deviations from where another integer is nearer.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET citus.enable_ddl_propagation = off;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE here (patient int NOT NULL, visit int, dept text, cost numeric, at timestamptz);
INSERT INTO here SELECT i % 500, i, substr('abc', 1 + (i % 500) % 3, 1), i % 100, '2025-01-01'::timestamptz + i * interval '1 hour'
	FROM generate_series(1, 3000) i;
CREATE TABLE rows_here AS SELECT * FROM here;
RESET SESSION AUTHORIZATION;
RESET citus.enable_ddl_propagation;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (LIKE here);
CREATE TABLE others (LIKE here);
CREATE TABLE rows_of (LIKE here);
CREATE TABLE depts (dept text, floor int);
SELECT create_distributed_table('visits', 'patient');
SELECT create_distributed_table('others', 'visit');
SELECT create_distributed_table('rows_of', 'visit');
SELECT create_reference_table('depts');
INSERT INTO depts VALUES ('a', 1), ('b', 2), ('c', 3);
INSERT INTO visits SELECT * FROM here;
INSERT INTO others SELECT * FROM here;
INSERT INTO rows_of SELECT * FROM here;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{here,visits,others}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'clinic') FROM unnest('{rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b', 'c', 'z']) FROM unnest('{here,visits,others,rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{here,visits,others,rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
CREATE TABLE answer (who text, value text);
GRANT ALL ON answer TO analyst1;

-- the rows of a query over the distributed table, and over the other, as the analyst
CREATE FUNCTION same(query text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	there record;
	here record;
BEGIN
	TRUNCATE answer;
	there := run_as_analyst(format('INSERT INTO answer SELECT ''there'', r::text FROM (%s) r', query));
	here := run_as_analyst(format('INSERT INTO answer SELECT ''here'', r::text FROM (%s) r',
								  replace(replace(query, 'visits', 'here'), 'rows_of', 'rows_here')));
	IF there.failure IS NOT NULL OR here.failure IS NOT NULL THEN
		RETURN ok(false, description) || E'\n' || diag(coalesce(there.failure, here.failure));
	END IF;
	RETURN results_eq($q$SELECT value FROM answer WHERE who = 'there' ORDER BY 1$q$,
					  $q$SELECT value FROM answer WHERE who = 'here' ORDER BY 1$q$, description);
END $$;

-- a query that is refused with this SQLSTATE and words, and is free
CREATE FUNCTION refused(query text, state text, words text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record := run_as_analyst(query);
BEGIN
	IF r.failure LIKE state || '%' || words || '%' AND r.cost = 0 THEN
		RETURN ok(true, description);
	END IF;
	RETURN ok(false, description) || E'\n' || diag(coalesce(r.failure, 'answered') || ', cost ' || coalesce(r.cost::text, '?'));
END $$;
SET citus.enable_ddl_propagation = off;
SELECT plan(24);

SELECT same('SELECT dept, round(dp_count(*)) AS n FROM visits GROUP BY dept', 'counts of declared groups');
SELECT same('SELECT round(dp_count(*)) AS n FROM visits', 'a count of all');
SELECT same('SELECT dept, round(dp_count(DISTINCT patient)) AS n FROM visits GROUP BY dept', 'units');
SELECT same('SELECT dept, round(dp_sum(cost) / 500) AS s FROM visits WHERE cost > 10 GROUP BY dept', 'sums');
SELECT same('SELECT dept, round(a / 2), round(d / 3) FROM (SELECT dept, dp_avg(cost) AS a, dp_stddev(cost) AS d FROM visits GROUP BY dept) q WHERE dept < ''z''',
	'moments');
SELECT run_as_analyst('PREPARE p(int) AS INSERT INTO answer SELECT ''prepared'', round(dp_count(*))::text FROM visits WHERE cost > $1');
SELECT is(bool_and((run_as_analyst('EXECUTE p(50)')).failure IS NULL), true, 'a prepared statement, by custom and generic plans')
	FROM generate_series(1, 8);
-- of the six rows of each of them five count
SELECT is(array_agg(DISTINCT value), ARRAY[(SELECT count(DISTINCT patient) * 5 FROM here WHERE cost > 50)::text], 'has its answers')
	FROM answer WHERE who = 'prepared';
SELECT is((run_as_analyst('SELECT dp_count(*) FROM visits')).cost, 10000000000, 'a release is charged once');
SELECT same('SELECT dept, round(dp_count(*)) AS n FROM rows_of GROUP BY dept', 'counts where each row is a unit');

SELECT refused('SELECT dp_count(*) FROM others', 'ZC002', 'distribute it by the column of its privacy unit',
	'units whose rows are on several servers');
SELECT refused('SELECT dp_sum(cost) FROM visits WHERE patient = 7', 'ZC002', 'in one step', 'what one shard has');
SELECT refused('SELECT dp_median(cost) FROM visits', 'ZC002', 'cannot be released from distributed table', 'a quantile');
SELECT refused('SELECT dp_sum(cost) FROM rows_of', 'ZC002', 'privacy unit', 'a sum where rows are units');
SELECT refused('SELECT dp_count(*) FROM visits WHERE extract(hour FROM at) = 3', 'ZC002', 'depends on settings', 'a condition by the time zone');
SELECT refused('SELECT dp_count(*) FROM visits JOIN here USING (patient)', 'ZC002', 'which is on one server', 'a join with a table of the coordinator');
SELECT refused('SELECT dp_count(*) FROM visits JOIN (VALUES (''a'', 1)) v(dept, n) USING (dept)', 'ZC002', 'distributed table', 'given rows');
SELECT is((run_as_analyst('EXPLAIN SELECT dp_count(*) FROM visits')).cost, 0::bigint, 'EXPLAIN is free');
SELECT alike((run_as_analyst('SELECT * FROM visits')).failure, '%', 'bare rows are refused');

SELECT is((SELECT failure IS NOT NULL FROM run_as_analyst('SELECT count(*) FROM visits_102008')), true, 'shards are closed');

-- who logs in at a worker, also under the name of the engine's own connections
CREATE FUNCTION at_worker(query text, name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY answer(value) FROM PROGRAM %L', format('psql -XAtq "host=%s/worker1 port=5432 user=analyst1 dbname=test application_name=''%s''" -c "%s" 2>&1; true',
		current_setting('unix_socket_directories') || '/..', name, query));
	RETURN (SELECT string_agg(value, ' ') FROM answer WHERE who IS NULL);
END $$;
TRUNCATE answer;
SELECT alike(at_worker('SELECT count(*) FROM visits', 'x'), '%permission denied%', 'a worker shows no rows');
TRUNCATE answer;
SELECT alike(at_worker('SELECT count(*) FROM visits', 'citus_internal gpid=1'), '%permission denied%', 'nor to who takes the name of the engine');
TRUNCATE answer;
SELECT alike(at_worker('SELECT dp_count(*) FROM visits', 'citus_internal gpid=1'), '%ERROR%', 'nor does it release anything');

SELECT count(*) FROM dp_cdp.harden();
SELECT alike((run_as_analyst('SELECT citus_total_relation_size(''visits'')')).failure, '42501%', 'sizes of shards are closed by harden()');

-- a worker that is gone
COPY (SELECT) TO PROGRAM 'pg_ctl -s -D "$WORK/worker2/data" -m immediate stop';
SELECT refused('SELECT dp_count(*) FROM visits', 'ZC002', 'does not answer; nothing was charged', 'a release is free while a worker is away');
SELECT * FROM finish();
