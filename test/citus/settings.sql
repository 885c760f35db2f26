-- What sessions and datasets may set, and forms that are more than one release, for distributed tables: prices and
-- failures are those of the same rows in a table of one server.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET citus.enable_ddl_propagation = off;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE here (patient int NOT NULL, day date NOT NULL, dept text NOT NULL, sex text NOT NULL, ward int, cost int);
INSERT INTO here SELECT i % 700, '2025-01-01'::date + i % 300, substr('abc', 1 + (i % 700) % 3, 1), substr('fm', 1 + i % 2, 1), i % 4, i % 120 FROM generate_series(1, 3000) i;
RESET SESSION AUTHORIZATION;
RESET citus.enable_ddl_propagation;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (LIKE here);
CREATE TABLE dated (LIKE here);
CREATE TABLE late (LIKE here);
SELECT create_distributed_table('visits', 'patient');
SELECT create_distributed_table('dated', 'patient');
INSERT INTO visits SELECT * FROM here;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1, max_rho => 1e5);
SELECT dp_cdp.create_dataset('monthly', default_rho => 1, max_rho => 1e5);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{here,visits}'::regclass[]) t;
SELECT dp_cdp.protect_table('late', 'monthly', 'patient', block => 'day', every => '1 month');
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b', 'c', 'z']) FROM unnest('{here,visits}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'sex', ARRAY['f', 'm']) FROM unnest('{here,visits}'::regclass[]) t;
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{here,visits}'::regclass[]) t;
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6, delta => 0.1) FROM unnest('{clinic,monthly}'::text[]) d;
RESET SESSION AUTHORIZATION;

\ir ask.psql
SET citus.enable_ddl_propagation = off;
CREATE FUNCTION here(query text) RETURNS text LANGUAGE sql AS $$ SELECT replace(query, 'visits', 'here') $$;
CREATE FUNCTION spent() RETURNS numeric LANGUAGE sql VOLATILE AS $$ SELECT sum(rho_spent)::numeric FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole $$;

-- what a script says, and what it costs
CREATE FUNCTION told(script text, OUT said text, OUT cost numeric) LANGUAGE plpgsql AS $$
DECLARE
	before numeric := spent();
BEGIN
	said := ask('coordinator', script);
	cost := round(spent() - before, 6);
END $$;
-- a script of both tables says the same, at the same price: no error and nothing for free, unless one is expected
CREATE FUNCTION alike_both(script text, expected text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	there record := told(script);
	here record := told(here(script));
BEGIN
	IF there.said IS NOT DISTINCT FROM here.said AND there.cost = here.cost AND there.said LIKE expected
		AND (there.said ~ 'ERROR') = (expected ~ 'ZC') AND (expected ~ 'ZC' OR there.cost > 0) THEN
		RETURN ok(true, script);
	END IF;
	RETURN ok(false, script) || E'\n' || diag(format('there: %s, for %s', there.said, there.cost)) || E'\n' || diag(format('here: %s, for %s', here.said, here.cost));
END $$;
CREATE FUNCTION set_clinic(VARIADIC args text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	SET SESSION AUTHORIZATION owner1;
	EXECUTE format('SELECT dp_cdp.alter_dataset(''clinic'', %s)', array_to_string(args, ', '));
	RESET SESSION AUTHORIZATION;
END $$;
SELECT no_plan();

-- accuracy: prices that are known before, as no limit is found, and those of a pilot
SELECT alike_both('SET dp_cdp.max_contribution = 5; SET dp_cdp.target_error = ''40''; ' || q, '%') FROM unnest(ARRAY[
	'SELECT count(n) FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) q',
	'SELECT dp_count(*) IS NULL, round(dp_margin(dp_count(*))) FROM visits',
	'SET dp_cdp.target_error = ''400''; SELECT dp_sum(cost) IS NULL FROM visits WHERE dept = ''a''',
	-- of these no limit on norms is found for distributed tables
	'SET dp_cdp.max_rows = 5; SELECT dp_histogram(cost, 0, 100, 4) IS NULL FROM visits']) q;
SELECT is(said !~ 'ERROR' AND cost BETWEEN 0.0001 AND 10, true, 'a share of what is first looked at: ' || q) FROM unnest(ARRAY[
	'SELECT count(n) FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) q', 'SELECT dp_avg(cost) IS NULL FROM visits', 'SELECT dp_median(cost) IS NULL FROM visits']) q,
	told('SET dp_cdp.target_error = ''20%''; ' || q);
SELECT alike_both('SET dp_cdp.max_contribution = 5; SET dp_cdp.target_error = ''0.0001''; SELECT dp_count(*) FROM visits', '%ZC004%');

-- grouping sets, which agree where that is asked for
SELECT alike_both('SET dp_cdp.rho = 1000; SELECT dept, sex, round(dp_count(*) / 20) FROM visits GROUP BY CUBE (dept, sex) ORDER BY 1, 2', '%');
SELECT alike_both('SET dp_cdp.rho = 10; SET dp_cdp.consistent = on; WITH c AS (SELECT dept, sex, grouping(dept, sex) AS g, dp_count(*) AS n FROM visits GROUP BY CUBE (dept, sex)) SELECT (SELECT sum(n) FROM c WHERE g = 0) = (SELECT n FROM c WHERE g = 3), (SELECT sum(n) FROM c WHERE g = 1) = (SELECT n FROM c WHERE g = 3)', 't|t');

-- answers that are kept
SELECT set_clinic('reuse => ''1 day''');
SELECT alike_both('SET dp_cdp.rho = 2; WITH a AS MATERIALIZED (SELECT dept, dp_count(*) AS n, dp_sum(cost) AS s FROM visits GROUP BY dept), b AS MATERIALIZED (SELECT dept, dp_count(*) AS n, dp_sum(cost) AS s FROM visits GROUP BY dept) SELECT count(*), bool_and(a = b) FROM a JOIN b USING (dept)', '4|t');
SELECT is((told('SET dp_cdp.rho = 2; SELECT dept, dp_count(*) FROM visits GROUP BY dept')).cost, 0.000000, 'asked again it is free');
SELECT is((told('SET dp_cdp.rho = 2; SELECT dept, dp_count(*) FROM visits WHERE dept IN (''a'', ''b'') GROUP BY dept')).cost, 0.000000, 'and so are some of its groups');
SELECT ok(cost BETWEEN 0.9 AND 1, 'better, it costs the difference, but for the limit, which is there: ' || cost) FROM told('SET dp_cdp.rho = 3; SELECT dept, dp_count(*) FROM visits GROUP BY dept');
SELECT is((told('SET dp_cdp.rho = 1; SELECT dept, dp_count(*) FROM visits GROUP BY dept')).cost, 0.000000, 'and worse nothing');
SELECT alike_both('SET dp_cdp.rho = 2; SELECT ward, n IS NULL FROM (SELECT ward, dp_count(*) AS n FROM visits GROUP BY ward) q ORDER BY 1', '%0|f%');
SELECT alike_both('SET dp_cdp.max_rows = 5; SET dp_cdp.rho = 2; SELECT dp_histogram(cost, 0, 100, 4) IS NULL, dp_median(cost) IS NULL FROM visits', 'f|f');
SELECT set_clinic('reuse => ''0''');

-- bounds that are found; steps of answers; blocks of time
SELECT alike_both('SET dp_cdp.find_bounds = on; SET dp_cdp.rho = 10; SELECT dp_sum(ward) IS NULL, dp_avg(ward) IS NULL FROM visits', 'f|f');
SELECT set_clinic('answer_step => ''100 ms''');
SELECT alike_both('SELECT dp_count(*) IS NULL FROM visits', 'f');
SELECT set_clinic('answer_step => ''0''');
-- nothing would hold rows in their blocks at shards, whoever distributes the table
SELECT alike(ask('coordinator', $$SELECT dp_cdp.protect_table('dated', 'monthly', 'patient', block => 'day', every => '1 month')$$, 'owner1'), 'ERROR:  ZC004: the rows of distributed table "dated" cannot be kept in blocks of time%', 'no blocks of distributed tables');
SELECT alike(ask('coordinator', $$SELECT create_distributed_table('late', 'patient')$$, 'owner1'), '%ERROR:%trigger%', 'nor distributed tables with blocks');
SELECT is(ask('coordinator', $$SET citus.enable_unsafe_triggers = on; SELECT create_distributed_table('late', 'patient')$$, 'owner1'), '', 'unless somebody insists');
SELECT alike((told('SELECT dp_count(*) FROM late')).said, 'ERROR:  ZC002: the rows of distributed table "late" may leave their blocks of time%undistribute_table%', 'which has no answers then');
SELECT is(ask('coordinator', $$SET client_min_messages = error; SELECT undistribute_table('late')$$, 'owner1'), '', 'until it is here again');
SELECT is((told('SELECT dp_count(*) IS NULL FROM late')).said, 'f', 'and has them');

-- ways to fetch
SELECT alike_both(q, '%') FROM unnest(ARRAY[
	'BEGIN; DECLARE c CURSOR FOR SELECT dept, dp_count(*) IS NULL FROM visits GROUP BY dept ORDER BY 1; FETCH 1 FROM c; FETCH ALL FROM c; COMMIT',
	'COPY (SELECT dept, dp_count(*) IS NULL FROM visits GROUP BY dept ORDER BY 1) TO STDOUT',
	'CREATE TEMP TABLE t AS SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept; SELECT count(n) FROM t',
	'PREPARE p(int) AS SELECT dp_count(*) IS NULL FROM visits WHERE cost > $1; EXECUTE p(1); EXECUTE p(NULL)',
	'DO $$ BEGIN FOR i IN 1..3 LOOP PERFORM dp_count(*) FROM visits; END LOOP; END $$',
	'SELECT (SELECT dp_count(*) FROM visits WHERE dept = d) IS NULL FROM unnest(ARRAY[''a'', ''b'']) d',
	'SELECT dp_count(*) IS NULL FROM visits UNION ALL SELECT dp_sum(cost) IS NULL FROM visits',
	'BEGIN; SELECT dp_count(*) IS NULL FROM visits; ROLLBACK; BEGIN; SAVEPOINT s; SELECT dp_count(*) IS NULL FROM visits; ROLLBACK TO s; SELECT dp_count(*) IS NULL FROM visits; COMMIT',
	'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE; SELECT dp_count(*) IS NULL FROM visits; COMMIT',
	'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT dp_count(*) IS NULL FROM visits; SELECT dp_count(*) IS NULL FROM visits; COMMIT']) q;
SELECT is(told(q), told(here(q)), 'a preview') FROM (VALUES ('SELECT aggregates, rho FROM dp_cdp.preview(''SELECT dept, dp_count(*) FROM visits GROUP BY dept'')')) v(q);
SELECT * FROM finish();
