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
CREATE TABLE here (patient int NOT NULL, visit int, dept text NOT NULL, cost numeric, at timestamptz);
INSERT INTO here SELECT i % 500, i, substr('abc', 1 + (i % 500) % 3, 1), i % 100, '2025-01-01'::timestamptz + i * interval '1 hour'
	FROM generate_series(1, 3000) i;
CREATE TABLE rows_here AS SELECT * FROM here;
ALTER TABLE rows_here ALTER dept SET NOT NULL;
CREATE TABLE labs_here (patient int NOT NULL, found int);
INSERT INTO labs_here SELECT i % 700, i % 9 FROM generate_series(1, 2000) i;
CREATE TABLE depts_here AS SELECT * FROM (VALUES ('a', 1), ('b', 2), ('c', 3)) v(dept, floor);
CREATE TABLE people_here (id int PRIMARY KEY, sex text NOT NULL);
INSERT INTO people_here SELECT i, substr('fm', 1 + i % 2, 1) FROM generate_series(0, 499) i;
CREATE TABLE stays_here (person int NOT NULL REFERENCES people_here, days int);
INSERT INTO stays_here SELECT i % 500, i % 20 FROM generate_series(1, 1500) i;
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
CREATE TABLE labs (LIKE labs_here);
CREATE TABLE people (id int PRIMARY KEY, sex text NOT NULL);
SELECT create_distributed_table('labs', 'patient', colocate_with => 'visits');
SELECT create_distributed_table('people', 'id', colocate_with => 'visits');
CREATE TABLE stays (person int NOT NULL, days int);
SELECT create_distributed_table('stays', 'person', colocate_with => 'people');
ALTER TABLE stays ADD FOREIGN KEY (person) REFERENCES people;
CREATE TABLE moved (LIKE here);
SELECT create_distributed_table('moved', 'patient', colocate_with => 'none');
INSERT INTO labs SELECT * FROM labs_here;
INSERT INTO people SELECT * FROM people_here;
INSERT INTO stays SELECT * FROM stays_here;
INSERT INTO moved SELECT * FROM here;
INSERT INTO visits SELECT * FROM here;
INSERT INTO others SELECT * FROM here;
INSERT INTO rows_of SELECT * FROM here;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{here,visits,others}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{labs_here,labs,moved}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'clinic', 'id') FROM unnest('{people_here,people}'::regclass[]) t;
SELECT dp_cdp.protect_table(t, 'clinic', through => 'person') FROM unnest('{stays_here,stays}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'sex', ARRAY['f', 'm']) FROM unnest('{people_here,people}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'found', 0, 8) FROM unnest('{labs_here,labs}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'days', 0, 20) FROM unnest('{stays_here,stays}'::regclass[]) t;
GRANT SELECT ON depts, depts_here TO analyst1;
CREATE VIEW dear_visits AS SELECT patient, cost, dept AS d FROM visits WHERE cost > 10;
CREATE VIEW dear_here AS SELECT patient, cost, dept AS d FROM here WHERE cost > 10;
CREATE VIEW closed_visits WITH (security_barrier) AS SELECT * FROM dear_visits JOIN depts ON dept = d;
CREATE VIEW closed_here WITH (security_barrier) AS SELECT * FROM dear_here JOIN depts_here ON dept = d;
GRANT SELECT ON dear_visits, dear_here, closed_visits, closed_here TO analyst1;
SELECT dp_cdp.protect_table(t, 'clinic', each_row => true) FROM unnest('{rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b', 'c', 'z']) FROM unnest('{here,visits,others,rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{here,visits,others,rows_here,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
CREATE TABLE answer (who text, value text);
CREATE TABLE kept_there (dept text, n bigint);
SELECT create_distributed_table('kept_there', 'dept');
GRANT ALL ON answer, kept_there TO analyst1;

-- the rows of a query over the distributed table, and over the other, as the analyst
CREATE FUNCTION same(query text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	there record;
	here record;
BEGIN
	TRUNCATE answer;
	there := run_as_analyst(format('INSERT INTO answer SELECT ''there'', r::text FROM (%s) r', query));
	here := run_as_analyst(format('INSERT INTO answer SELECT ''here'', r::text FROM (%s) r',
								  regexp_replace(replace(replace(query, 'visits', 'here'), 'rows_of', 'rows_here'),
												 '\m(labs|depts|people|stays)\M', '\1_here', 'g')));
	IF there.failure IS NOT NULL OR here.failure IS NOT NULL THEN
		RETURN ok(false, description) || E'\n' || diag(coalesce(there.failure, here.failure));
	END IF;
	RETURN results_eq($q$SELECT value FROM answer WHERE who = 'there' ORDER BY 1$q$,
					  $q$SELECT value FROM answer WHERE who = 'here' ORDER BY 1$q$, description);
END $$;

-- views of an analyst's over releases
SET SESSION AUTHORIZATION analyst1;
CREATE VIEW told_visits AS SELECT dept, round(dp_count(*)) AS n FROM visits GROUP BY dept;
CREATE VIEW told_here AS SELECT dept, round(dp_count(*)) AS n FROM here GROUP BY dept;
RESET SESSION AUTHORIZATION;

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
SELECT no_plan();

SELECT same('SELECT dept, round(dp_count(*)) AS n FROM visits GROUP BY dept', 'counts of declared groups');
SELECT same('SELECT round(dp_count(*)) AS n FROM visits', 'a count of all');
SELECT same('SELECT dept, round(dp_count(DISTINCT patient)) AS n FROM visits GROUP BY dept', 'units');
SELECT same('SELECT dept, round(dp_sum(cost) / 700) AS s FROM visits WHERE cost > 10 GROUP BY dept', 'sums');
SELECT same('SELECT dept, round(a / 2), round(d / 3) FROM (SELECT dept, dp_avg(cost) AS a, dp_stddev(cost) AS d FROM visits GROUP BY dept) q WHERE dept < ''z''',
	'moments');
SELECT run_as_analyst('SET dp_cdp.rho = 2000');
SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT dept, round(dp_count(*)) AS n FROM visits WHERE dept IN (''a'', ''z'') AND cost > 10 GROUP BY dept',
	'SELECT dept, round(dp_count(*)) AS n FROM visits WHERE dept <> ''b'' GROUP BY dept',
	'SELECT cost % 10 AS d, round(dp_count(*)) AS n FROM rows_of WHERE cost % 10 IN (3, 4) GROUP BY 1']) q;
SELECT same('SELECT d, round(dp_count(*)) AS n FROM dear_visits GROUP BY d', 'a view of rows');
SELECT same('SELECT round(dp_count(*)) AS n, round(dp_sum(cost, 0, 100) / 500) FROM closed_visits JOIN people ON id = patient WHERE floor > 1', 'a view of a view, with a barrier');
SELECT same('SELECT * FROM told_visits WHERE n > 1', 'a view of answers');
SELECT run_as_analyst('RESET dp_cdp.rho');
SELECT run_as_analyst('PREPARE p(int) AS INSERT INTO answer SELECT ''prepared'', round(dp_count(*))::text FROM visits WHERE cost > $1');
SELECT is(bool_and((run_as_analyst('EXECUTE p(50)')).failure IS NULL), true, 'a prepared statement, by custom and generic plans')
	FROM generate_series(1, 8);
-- six rows of each of them
SELECT is(array_agg(DISTINCT value), ARRAY[(SELECT count(*) FROM here WHERE cost > 50)::text], 'has its answers')
	FROM answer WHERE who = 'prepared';
SELECT is((run_as_analyst('SELECT dp_count(*) FROM visits')).cost, 10000000000, 'a release is charged once');
SELECT same('SELECT dept, round(dp_count(*)) AS n FROM rows_of GROUP BY dept', 'counts where each row is a unit');

SELECT same('SELECT dept, round(dp_sum(cost) / 100) AS s, round(dp_avg(cost) / 2) AS a FROM rows_of WHERE dept < ''z'' GROUP BY dept', 'sums and averages where each row is a unit');
SELECT same('SELECT round(dp_stddev(cost) / 2) AS d, round(dp_correlation(cost, visit, 0, 100, 0, 3000) * 10) AS c FROM rows_of', 'moments of one value and of two');
SELECT same('SELECT round(dp_sum(found) / 100) AS s FROM visits JOIN labs USING (patient)', 'a join of colocated tables along the unit');
SELECT same('SELECT round(dp_sum(found) / 100) AS s FROM visits v LEFT JOIN labs l ON l.patient = v.patient AND v.cost > l.found', 'an outer join of them');
SELECT refused('SELECT dp_count(*) FROM visits v WHERE EXISTS (SELECT FROM labs l WHERE l.patient = v.patient)', 'ZC002', 'write it as a join', 'a test of whether there are other rows');
SELECT same('SELECT sex, round(dp_sum(days) / 70) AS s FROM stays JOIN people ON id = person GROUP BY sex', 'units by a foreign key along the colocated column');
SELECT same('SELECT round(dp_sum(n, 0, 30) / 100) AS s FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) q', 'totals of each unit, in a subquery');

SELECT refused('SELECT dp_count(*) FROM visits JOIN moved USING (patient)', 'ZC002', 'nothing was charged', 'a join of tables that are not colocated');
SELECT refused('SELECT dp_count(*) FROM visits v JOIN labs l ON v.visit = l.patient', 'ZC002', '', 'a join that is not along the unit');
SELECT refused('SELECT dp_count(DISTINCT dept) FROM visits', 'ZC002', 'cannot be released from distributed table', 'a count of distinct values');
SELECT refused('SELECT worker_partial_agg(''count("any")''::regprocedure, cost) FROM visits', 'ZC002', '', 'an aggregate of the engine''s, which returns states');
SELECT refused('SELECT dp_count(*) FROM others', 'ZC002', 'distribute it by its privacy unit',
	'units whose rows are on several servers');
SELECT refused('SELECT dp_count(*) FROM (SELECT patient FROM visits UNION ALL SELECT patient FROM visits) q', 'ZC002', 'ask for each SELECT of UNION ALL by itself',
	'units that are put together, of a table that is distributed by them');
SELECT refused('SELECT dp_count(*) FROM others JOIN labs USING (patient)', 'ZC002', 'put it first in FROM', 'units that are those of another table');
SELECT same('SELECT round(dp_sum(cost) / 100) FROM visits WHERE patient = 7', 'what one shard has');
SELECT same('SELECT round(dp_count(*)) AS n FROM visits WHERE cost::numeric(2, 1) >= 0', 'a cast in which some rows overflow');
SELECT same('SELECT cost::numeric(2, 0) AS c, round(dp_count(*)) AS n FROM visits WHERE cost < 5 GROUP BY 1', 'and one to group by');
SELECT same('WITH q AS (SELECT * FROM visits WHERE cost > 10) SELECT n, m FROM (SELECT round(dp_count(*)) AS n FROM q) s, (SELECT round(dp_count(DISTINCT patient)) AS m FROM q) t',
	'a WITH query of which two releases are made');
SELECT refused('SELECT q.n, d.floor FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) q JOIN depts d USING (dept)', 'ZC002', '"depts", which Citus manages; keep them with CREATE TEMP TABLE',
	'answers that are joined with a table that is distributed');
SELECT refused('SELECT floor FROM depts WHERE floor < (SELECT dp_count(*) FROM visits)', 'ZC002', 'which Citus manages', 'or compared with it');
SELECT refused('SELECT floor FROM depts WHERE dept IN (SELECT dept FROM visits WHERE cost <> 97)', 'ZC002', 'which Citus manages', 'or its rows are looked up in');
SELECT is((run_as_analyst(q)).failure, NULL, q) FROM unnest(ARRAY[
	'CREATE TEMP TABLE kept_here AS SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept',
	'SELECT q.n, d.floor FROM kept_here q JOIN depts d USING (dept)',
	'INSERT INTO kept_there SELECT dept, dp_count(*) FROM visits GROUP BY dept']) q;
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
SELECT alike(at_worker('SELECT count(*) FROM visits', 'x'), 'ERROR:  dataset "clinic" is not here, at a worker%', 'a worker shows no rows');
TRUNCATE answer;
SELECT alike(at_worker('SELECT count(*) FROM visits', 'citus_internal gpid=1'), 'ERROR:  dataset "clinic" is not here, at a worker%', 'nor to who takes the name of the engine');
TRUNCATE answer;
SELECT alike(at_worker('SELECT dp_count(*) FROM visits', 'citus_internal gpid=1'), '%ERROR%', 'nor does it release anything');

SELECT count(*) FROM dp_cdp.harden();
SELECT alike((run_as_analyst('SELECT citus_total_relation_size(''visits'')')).failure, '42501%', 'sizes of shards are closed by harden()');

-- where the owner lets the coordinator read rows
SELECT refused('SELECT dp_count(DISTINCT dept), dp_histogram(cost, 0, 100, 4) FROM visits', 'ZC002', 'pull_rows => true', 'what would have to be allowed is said');
CREATE FUNCTION allow(pull boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	SET SESSION AUTHORIZATION owner1;
	PERFORM dp_cdp.alter_dataset('clinic', pull_rows => pull);
	RESET SESSION AUTHORIZATION;
END $$;
SELECT run_as_analyst('PREPARE h AS SELECT dp_count(DISTINCT dept) FROM visits');
SELECT allow(true);
SELECT run_as_analyst('SET dp_cdp.rho = 1000');
SELECT same(q, 'pulled: ' || q) FROM unnest(ARRAY[
	'SELECT round(d), array_agg(round(h / 10.0) ORDER BY i) FROM (SELECT dp_count(DISTINCT dept) AS d, dp_histogram(cost, 0, 100, 4) AS v FROM visits) q, unnest(v) WITH ORDINALITY u(h, i) GROUP BY d',
	'SELECT dept, round(d), array_agg(round(h / 10.0) ORDER BY i) FROM (SELECT dept, dp_count(DISTINCT dept) AS d, dp_histogram(cost, 0, 100, 4) AS v FROM visits GROUP BY dept) q, unnest(v) WITH ORDINALITY u(h, i) GROUP BY dept, d',
	'SELECT trunc(dp_median(cost)::numeric / 20), trunc(dp_quantile(cost, 0.1)::numeric / 20), round(dp_count(DISTINCT dept)) FROM visits',
	'SELECT dept, round(m::numeric / 5), round(s / 500), round(d) FROM (SELECT dept, dp_median(cost) AS m, dp_sum(cost) AS s, dp_count(DISTINCT dept) AS d FROM visits GROUP BY dept) q WHERE dept < ''z''',
	'SELECT round(dp_median(found)::numeric, 1), round(dp_count(DISTINCT dept)) FROM visits JOIN labs USING (patient)',
	'SELECT round(dp_clipped(cost, 0, 50)::numeric, 1), round(dp_count(DISTINCT dept)) FROM visits',
	'SELECT round(dp_count(DISTINCT dept)) FROM visits',
	'SELECT round(dp_median(cost)::numeric, 1), round(dp_count(DISTINCT dept)) FROM visits WHERE patient = 7']) q;
-- a norm that cuts most people
SELECT run_as_analyst('SET dp_cdp.max_contribution = 1.5');
SELECT same(q, 'pulled, up to 1.5 rows: ' || q) FROM unnest(ARRAY[
	'SELECT round(d * 5), array_agg(round(h / 5) ORDER BY i) FROM (SELECT dp_count(DISTINCT visit % 7) AS d, dp_histogram(cost, 0, 100, 4) AS v FROM visits) q, unnest(v) WITH ORDINALITY u(h, i) GROUP BY d',
	'SELECT dept, round(d * 5), array_agg(round(h / 5) ORDER BY i), round(s / 50), round(c / 5) FROM (SELECT dept, dp_count(DISTINCT visit % 7) AS d, dp_histogram(cost, 0, 100, 4) AS v, dp_sum(cost) AS s, dp_count(*) AS c FROM visits GROUP BY dept) q, unnest(v) WITH ORDINALITY u(h, i) GROUP BY dept, d, s, c']) q;
SELECT run_as_analyst('RESET dp_cdp.max_contribution; RESET dp_cdp.rho');
SELECT refused('SELECT dp_count(DISTINCT dept) FROM rows_of', 'ZC002', 'ask for other aggregates', 'of rows as units they are refused');
SELECT is((run_as_analyst('SET dp_cdp.find_bounds = on; SELECT dp_sum(visit) FROM visits')).failure, NULL, 'bounds that are found');
SELECT is((run_as_analyst('EXECUTE h')).failure, NULL, 'a statement that was refused when it was prepared is answered');
SELECT run_as_analyst('PREPARE i AS SELECT dp_count(DISTINCT dept) FROM visits');
SELECT is((run_as_analyst('EXECUTE i')).failure, NULL, 'one that is prepared');
SELECT refused('SELECT dp_median(cost) FROM others', 'ZC002', 'distribute it by its privacy unit', 'units on several servers are not pulled');
SELECT allow(false);
SELECT refused('EXECUTE i', 'ZC002', 'pull_rows => true', 'is refused when it is allowed no more');
SELECT alike((run_as_analyst('SELECT dp_cdp.alter_dataset(''clinic'', pull_rows => true)')).failure, '42501%', 'the owner allows it, and nobody else');

-- who is asked what check_setup() is
SELECT is(string_agg(DISTINCT severity, ' '), 'info', 'workers are as they should be') FROM dp_cdp_internal.cluster_findings();
SELECT matches(string_agg(finding, ' '), 'may log in there', 'but analysts may log in there') FROM dp_cdp_internal.cluster_findings();

-- a table that is distributed no more, between plan and run
SELECT run_as_analyst('PREPARE m AS INSERT INTO answer SELECT ''moved'', round(dp_count(*))::text FROM moved');
SELECT is((run_as_analyst('EXECUTE m')).failure, NULL, 'a prepared statement over a distributed table');
SELECT undistribute_table('moved');
SELECT ok(failure IS NULL AND cost > 0 OR failure LIKE 'ZC002%' AND cost = 0, 'that is undistributed: it is answered and charged, or neither: ' || coalesce(failure, 'answered'))
	FROM run_as_analyst('EXECUTE m');
SELECT is((SELECT count(DISTINCT value) FROM answer WHERE who = 'moved'), 1::bigint, 'with the same answers');

-- a worker that is gone
COPY (SELECT) TO PROGRAM 'pg_ctl -s -D "$WORK/worker2/data" -m immediate stop';
SELECT refused('SELECT dp_count(*) FROM visits', 'ZC002', 'does not answer; nothing was charged', 'a release is free while a worker is away');
SELECT * FROM finish();
