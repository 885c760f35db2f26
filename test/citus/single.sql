-- Queries of one shard, of tables that have one, and of reference tables.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int NOT NULL, visit int, dept text NOT NULL, cost int);
CREATE TABLE alone (LIKE visits);
CREATE TABLE one (LIKE visits);
CREATE TABLE same_everywhere (LIKE visits);
CREATE TABLE appended (LIKE visits);
CREATE TABLE ranged (LIKE visits);
CREATE TABLE depts (dept text PRIMARY KEY, floor int);
SELECT create_distributed_table('visits', 'patient');
SELECT create_distributed_table('alone', 'patient', shard_count => 1);
SELECT create_distributed_table('one', NULL);
SELECT create_reference_table('same_everywhere');
SELECT create_reference_table('depts');
SELECT create_distributed_table('appended', 'patient', 'append');
SELECT create_distributed_table('ranged', 'patient', 'range');
INSERT INTO depts VALUES ('a', 1), ('b', 2), ('c', 3);
INSERT INTO visits SELECT i % 611, i, substr('abc', 1 + (i % 500) % 3, 1), i % 100 FROM generate_series(1, 2003) i;
INSERT INTO alone SELECT * FROM visits;
INSERT INTO one SELECT * FROM visits;
INSERT INTO same_everywhere SELECT * FROM visits;
CREATE TABLE plain AS SELECT * FROM visits;
ALTER TABLE plain ALTER dept SET NOT NULL;
CREATE TABLE plain_too AS SELECT * FROM visits;
CREATE TABLE depts_here AS SELECT * FROM depts;
SELECT dp_cdp.create_dataset('clinic', default_rho => 5e3, max_rho => 1e5, pull_rows => true);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{visits,alone,one,same_everywhere,appended,ranged,plain,plain_too}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b', 'c']) FROM unnest('{visits,alone,one,same_everywhere,plain}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{visits,alone,one,same_everywhere,plain}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
GRANT SELECT ON depts, depts_here TO analyst1;
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
CREATE TABLE answer (who text, value text);
GRANT ALL ON answer TO analyst1;
SET citus.enable_ddl_propagation = off;

-- answers of a query over a table of the cluster, for FROM %s, and over one of the coordinator's
CREATE FUNCTION same(query text, tables text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	there record;
	here record;
BEGIN
	TRUNCATE answer;
	there := run_as_analyst(format('INSERT INTO answer SELECT ''there'', r::text FROM (%s) r', format(query, tables)));
	here := run_as_analyst(format('INSERT INTO answer SELECT ''here'', r::text FROM (%s) r', format(query, replace(replace(regexp_replace(tables, '^\w+', 'plain'), 'depts', 'depts_here'), 'same_everywhere', 'plain_too'))));
	IF there.failure IS NOT NULL OR here.failure IS NOT NULL OR there.cost <> here.cost THEN
		RETURN ok(false, description) || E'\n' || diag(coalesce(there.failure, here.failure, 'another price'));
	END IF;
	RETURN results_eq($q$SELECT value FROM answer WHERE who = 'there' ORDER BY 1$q$,
					  $q$SELECT value FROM answer WHERE who = 'here' ORDER BY 1$q$, description);
END $$;
CREATE FUNCTION refused(query text, words text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record := run_as_analyst(query);
BEGIN
	IF r.failure LIKE 'ZC002%' || words || '%' AND r.cost = 0 THEN
		RETURN ok(true, description);
	END IF;
	RETURN ok(false, description) || E'\n' || diag(coalesce(r.failure, 'answered') || ', cost ' || coalesce(r.cost::text, '?'));
END $$;
SELECT no_plan();

SELECT same(q, t, t || ': ' || d) FROM unnest('{visits,alone,one,same_everywhere}'::text[]) t, (VALUES
	('SELECT round(dp_count(*)) FROM %s', 'a count'),
	('SELECT dept, round(dp_count(*)) FROM %s GROUP BY dept', 'counts of groups'),
	('SELECT dept, round(dp_count(DISTINCT patient)) FROM %s GROUP BY dept', 'units'),
	('SELECT dept, round((dp_sum(cost) + 500) / 1000) FROM %s GROUP BY dept', 'sums'),
	('SELECT round(dp_avg(cost)) FROM %s', 'an average'),
	('SELECT round((dp_sum(cost) + 500) / 1000) FROM %s WHERE patient = 7', 'one unit'),
	('SELECT dept, round(dp_count(*)) FROM %s WHERE patient IN (7, 8) GROUP BY dept', 'two units'),
	('SELECT round(dp_count(*)) FROM %s WHERE patient = 7 AND patient = 8', 'nobody'),
	('SELECT array_agg(round(h / 10.0) ORDER BY i) FROM (SELECT dp_histogram(cost, 0, 100, 4) AS v FROM %s) q, unnest(v) WITH ORDINALITY u(h, i)', 'a histogram'),
	('SELECT array_agg(round(h) ORDER BY i) FROM (SELECT dp_histogram(cost, 0, 100, 4) AS v FROM %s WHERE patient = 7) q, unnest(v) WITH ORDINALITY u(h, i)', 'a histogram of one unit'),
	('SELECT round(dp_count(DISTINCT dept)), round(dp_median(cost)::numeric / 5) FROM %s', 'distinct values and a quantile')) v(q, d);
SELECT same(q, t || ' v JOIN depts USING (dept)', t || ' and a reference table: ' || d) FROM unnest('{visits,alone,one,same_everywhere}'::text[]) t, (VALUES
	('SELECT round((dp_sum(cost) + 500) / 1000) FROM %s WHERE floor = 2', 'a sum'),
	('SELECT floor, round(dp_count(*)) FROM %s WHERE patient = 7 AND floor IN (1, 2, 3) GROUP BY floor', 'counts of one unit')) v(q, d);
SELECT same('SELECT round((dp_sum(v.cost) + 500) / 1000) FROM %s', 'visits v JOIN same_everywhere s ON s.patient = v.patient AND s.visit = v.visit',
	'a join with a protected reference table');
SELECT run_as_analyst('PREPARE p(int) AS INSERT INTO answer SELECT ''prepared'', round(dp_count(*))::text FROM visits WHERE patient = $1');
TRUNCATE answer;
SELECT is(count(*), 8::bigint, 'a parameter for the unit, by custom and generic plans')
	FROM generate_series(1, 8) i, run_as_analyst(format('EXECUTE p(%s)', i)) r WHERE r.failure IS NULL;
SELECT is(array_agg(DISTINCT value), ARRAY['4'], 'has its answers') FROM answer;

SELECT refused('SELECT dp_count(*) FROM visits JOIN one USING (patient)', 'in one step where its rows are; nothing was charged', 'a join with a table that is on one server');
SELECT refused('SELECT dp_count(*) FROM visits JOIN alone USING (patient)', 'nothing was charged', 'a join with a table that is distributed otherwise');
SELECT refused('SELECT dp_count(*) FROM visits v JOIN alone a USING (patient) WHERE v.patient = 7', '', 'also for one unit');
SELECT refused('SELECT dp_count(*) FROM same_everywhere JOIN visits ON same_everywhere.patient = visits.visit', '', 'a join that is not along the unit');
SELECT refused('SELECT dp_count(*) FROM appended', 'distribute it by hash', 'a table that is appended to');
SELECT refused('SELECT dp_count(*) FROM ranged', 'distribute it by hash', 'a table that is distributed by ranges');
SELECT * FROM finish();
