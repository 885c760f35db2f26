-- What differs between versions of PostgreSQL.  Tests that need a newer server
-- than the one at hand are left out.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

CREATE FUNCTION pg(major int) RETURNS boolean LANGUAGE sql
	AS $$ SELECT current_setting('server_version_num')::int / 10000 >= major $$;

-- what the analyst gets: the answer's rows, or the error
CREATE FUNCTION asked(statement text, OUT rows text[], OUT failure text) LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	rows := '{}';
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		IF statement LIKE 'MERGE%' AND statement NOT LIKE '%RETURNING%' THEN
			EXECUTE statement;
		ELSE
			FOR r IN EXECUTE statement LOOP
				rows := rows || r::text;
			END LOOP;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		failure := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
END $$;

CREATE FUNCTION gives(statement text, expected text[], description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record := asked(statement);
BEGIN
	RETURN is(coalesce(r.failure, r.rows::text), expected::text, description);
END $$;

CREATE FUNCTION refused(statement text, pattern text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record := asked(statement);
BEGIN
	RETURN matches(coalesce(r.failure, 'answered'), pattern, description);
END $$;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int, dept text NOT NULL, cost numeric, stay interval);
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), i % 1000, '1 day'::interval * (i % 7)
	FROM generate_series(1, 3000) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 100);
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 100000);
RESET SESSION AUTHORIZATION;
GRANT SELECT ON visits TO owner1;

SELECT * FROM no_plan();

-- ---------------------------------------------------------------------------
-- Group keys, which are a range table entry of their own from 18 on
-- ---------------------------------------------------------------------------

SELECT gives('SELECT dept FROM visits GROUP BY dept HAVING dp_count(*) > 500', '{(a),(b),(c)}', 'keys in the select list');
SELECT gives('SELECT upper(dept) || dept FROM visits GROUP BY dept HAVING dept <> ''b'' AND dp_count(*) > 500',
	'{(Aa),(Cc)}', 'keys inside expressions, and in HAVING');
SELECT gives('SELECT dept FROM visits GROUP BY dept HAVING dp_count(*) > 500 ORDER BY dept || ''x'' DESC',
	'{(c),(b),(a)}', 'keys in ORDER BY');
SELECT gives('SELECT DISTINCT ON (dept = ''a'') dept = ''a'', dp_count(*) > 500 FROM visits GROUP BY dept ORDER BY dept = ''a'', dept',
	'{"(f,t)","(t,t)"}', 'keys in DISTINCT ON');
SELECT gives('SELECT dept, row_number() OVER (PARTITION BY dept > ''a'' ORDER BY dept DESC), dp_count(*) > 500 FROM visits GROUP BY dept ORDER BY 1',
	'{"(a,1,t)","(b,2,t)","(c,1,t)"}', 'keys in windows');
SELECT gives('SELECT (SELECT string_agg(v.dept || i, '','') FROM generate_series(1, 2) i), dp_count(*) > 500 FROM visits v GROUP BY dept ORDER BY 1',
	'{"(\"a1,a2\",t)","(\"b1,b2\",t)","(\"c1,c2\",t)"}', 'keys in a correlated subquery');
SELECT gives('SELECT (SELECT max(x) FROM (SELECT v.dept || s AS x FROM (VALUES (1), (2)) t (s) WHERE v.dept > ''a'') u), dp_count(*) > 500 FROM visits v GROUP BY dept ORDER BY 1',
	'{"(b2,t)","(c2,t)","(,t)"}', 'keys two levels down');
SELECT gives('SELECT g, n > 100 FROM (SELECT id / 1000 AS g, dp_count(*) AS n FROM visits GROUP BY id / 1000) s WHERE n > 100 ORDER BY g',
	'{"(0,t)","(1,t)","(2,t)"}', 'an expression as a key');
SELECT gives('SELECT d1, d2 FROM (SELECT dept AS d1, dept AS d2, dp_count(*) FROM visits GROUP BY 1, 2) s',
	'{"(a,a)","(b,b)","(c,c)"}', 'the same key twice');
SELECT refused('SELECT dept, cost, dp_count(*) FROM visits GROUP BY dept, id + 0, cost', 'answered', 'keys that are not declared');
SELECT refused('SELECT id, cost, dp_count(*) FROM visits GROUP BY id', '^ZC002 grouping by "id" would show single persons',
	'a column that depends on a key of protected rows');
SELECT gives('SELECT dept, id > 1000, GROUPING(dept, id > 1000) FROM visits GROUP BY GROUPING SETS ((dept), (id > 1000)) HAVING dp_count(*) > 500 ORDER BY 1, 2',
	'{"(a,,1)","(b,,1)","(c,,1)","(,f,2)","(,t,2)"}', 'grouping sets');
SELECT gives('SELECT (SELECT count(*) > 500 FROM visits) AS k, dp_count(*) > 500 FROM visits GROUP BY 1', '{"(t,t)"}', 'a subquery as a key');
CREATE VIEW per_dept AS SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept;
GRANT SELECT ON per_dept TO analyst1;
SELECT gives('SELECT p.dept FROM per_dept p JOIN per_dept q USING (dept) WHERE p.n > 500 AND q.n > 500 ORDER BY 1',
	'{(a),(b),(c)}', 'keys in a view');

-- ---------------------------------------------------------------------------
-- 15
-- ---------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
CREATE TABLE got (dept text, n bigint);
INSERT INTO got VALUES ('a', 0);
RESET SESSION AUTHORIZATION;
SELECT gives('MERGE INTO got USING (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) s ON s.dept = got.dept
	WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.dept, s.n)', '{}', 'MERGE of released rows') WHERE pg(15);
SELECT is((SELECT count(*) FROM got WHERE n BETWEEN 900 AND 1100), 3::bigint, 'MERGE has stored them') WHERE pg(15);
SELECT refused('MERGE INTO got USING visits s ON s.dept = got.dept WHEN MATCHED THEN DELETE', '^ZC002 permission denied for rows',
	'MERGE of protected rows') WHERE pg(15);
SELECT refused('MERGE INTO visits USING got s ON s.dept = visits.dept WHEN MATCHED THEN DELETE', '^ZC002 rows of protected table',
	'MERGE into protected rows') WHERE pg(15);

-- ---------------------------------------------------------------------------
-- 16
-- ---------------------------------------------------------------------------

SELECT refused('EXPLAIN (GENERIC_PLAN) SELECT dp_count(*) FROM visits WHERE id > $1', 'answered', 'EXPLAIN (GENERIC_PLAN)') WHERE pg(16);
SELECT refused('EXPLAIN (GENERIC_PLAN) SELECT dp_sum(cost, 0, $1) FROM visits', 'answered',
	'EXPLAIN (GENERIC_PLAN), bounds unknown') WHERE pg(16);
SELECT refused('EXPLAIN (GENERIC_PLAN) SELECT * FROM visits WHERE id > $1', '^ZC002', 'EXPLAIN (GENERIC_PLAN) of protected rows') WHERE pg(16);

-- ---------------------------------------------------------------------------
-- 17
-- ---------------------------------------------------------------------------

SELECT refused('EXPLAIN (MEMORY) SELECT dept, dp_count(*) FROM visits GROUP BY dept', '^ZC002 EXPLAIN \(MEMORY\)',
	'EXPLAIN (MEMORY), which depends on statistics') WHERE pg(17);
SELECT refused('EXPLAIN (MEMORY off) SELECT dept, dp_count(*) FROM visits GROUP BY dept', 'answered', 'EXPLAIN (MEMORY off)') WHERE pg(17);
SELECT refused('EXPLAIN (MEMORY) SELECT * FROM got', 'answered', 'EXPLAIN (MEMORY) of other tables') WHERE pg(17);
SELECT lives_ok('EXPLAIN (MEMORY) SELECT dept, dp_count(*) FROM visits GROUP BY dept', 'EXPLAIN (MEMORY) by who may read') WHERE pg(17);
SELECT gives('SELECT dp_count(*) BETWEEN 2950 AND 3050 FROM visits WHERE stay < ''infinity''', '{(t)}', 'an infinite interval') WHERE pg(17);
SELECT gives('SELECT dp_count(*) BETWEEN -50 AND 50 FROM visits
	WHERE timestamp ''infinity'' - (CASE WHEN id > 0 THEN ''infinity'' ELSE stay END)::interval IS NOT NULL', '{(t)}',
	'a difference of infinities') WHERE pg(17);
SELECT gives('MERGE INTO got USING (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) s ON s.dept = got.dept
	WHEN MATCHED THEN UPDATE SET n = s.n RETURNING got.n = s.n', '{(t),(t),(t)}', 'MERGE ... RETURNING') WHERE pg(17);
SELECT gives('SELECT j.k, s.n > 500 FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) s,
	JSON_TABLE(to_json(s.dept), ''$'' COLUMNS (k text PATH ''$'')) j ORDER BY 1', '{"(a,t)","(b,t)","(c,t)"}', 'JSON_TABLE') WHERE pg(17);

SELECT gives('SELECT dp_count(*) BETWEEN 950 AND 1050 FROM visits WHERE upper(dept) COLLATE pg_c_utf8 ILIKE ''%a'' AND dept < ''b'' COLLATE pg_c_utf8',
	'{(t)}', 'the collation that is built in') WHERE pg(17);

-- ---------------------------------------------------------------------------
-- 18: LIKE, and another collation that is built in
-- ---------------------------------------------------------------------------

CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT refused(format('SELECT dp_count(*) FROM visits WHERE dept COLLATE loose %s ''A%%''', op), '^ZC002 nondeterministic collation "loose"',
	op || ' with a nondeterministic collation') FROM unnest(ARRAY['LIKE', 'NOT LIKE', 'ILIKE', '~~*']) op;
SELECT refused(format('SELECT dp_count(*) FROM visits WHERE %s', f), '^ZC002', 'functions that take one: ' || f)
	FROM unnest(ARRAY['replace(dept COLLATE loose, ''A'', ''x'') = ''x''', 'position(''A'' IN (dept COLLATE loose)) = 1',
		'starts_with(dept COLLATE loose, ''A'')', 'split_part(dept COLLATE loose, ''A'', 1) = ''''']) f;
SELECT gives('SELECT dp_count(*) BETWEEN 950 AND 1050 FROM visits WHERE upper((dept || ''ß'') COLLATE pg_unicode_fast) LIKE ''ASS''
	AND lower(dept COLLATE pg_unicode_fast) ILIKE ''A''', '{(t)}', 'letters that become more') WHERE pg(18);

-- ---------------------------------------------------------------------------
-- What the statistics tell that newer versions keep
-- ---------------------------------------------------------------------------

SELECT bag_has('SELECT name FROM dp_cdp_internal.hardening() WHERE grantee = ''PUBLIC'' AND NOT wanted',
	$$SELECT p.proname::text FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
		AND p.proname IN ('pg_wal_summary_contents', 'pg_available_wal_summaries', 'pg_get_wal_summarizer_state',
			'pg_stat_get_io', 'pg_stat_get_backend_io', 'pg_stat_get_backend_wal', 'pg_get_aios', 'pg_get_sequence_data',
			'pg_stat_get_db_parallel_workers_to_launch', 'pg_stat_get_db_parallel_workers_launched',
			'pg_stat_get_total_vacuum_time', 'pg_stat_get_autovacuum_scores', 'pg_stat_get_lock', 'pg_stat_get_recovery',
			'pg_get_multixact_stats')$$, 'what newer versions count is known to harden()');
SELECT bag_has('SELECT name FROM dp_cdp_internal.hardening()',
	$$SELECT unnest(ARRAY['pg_get_aios', 'pg_stat_get_backend_io', 'pg_stat_get_db_parallel_workers_to_launch'])$$,
	'... by these names') WHERE pg(18);
SELECT bag_has('SELECT name FROM dp_cdp_internal.hardening()',
	$$SELECT unnest(ARRAY['pg_stat_get_autovacuum_scores', 'pg_stat_get_lock', 'pg_stat_get_recovery', 'pg_get_multixact_stats'])$$,
	'... and these') WHERE pg(19);

-- 18 counts the workers that plans ask for, which follows the size of tables
CREATE FUNCTION workers() RETURNS bigint LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE 'SELECT parallel_workers_to_launch FROM pg_stat_database WHERE datname = current_database()' INTO n;
	RETURN n;
END $$;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT pg_stat_force_next_flush();
SELECT CASE WHEN pg(18) THEN workers() ELSE 0 END AS workers \gset
SELECT gives('SELECT dp_count(*) BETWEEN 2950 AND 3050 FROM visits', '{(t)}', 'a parallel plan');
SELECT pg_stat_force_next_flush();
SELECT is(workers(), :workers::bigint, '... whose workers are not counted') WHERE pg(18);
SELECT count(*) > 0 FROM visits \g /dev/null
SELECT pg_stat_force_next_flush();
SELECT cmp_ok(workers(), '>', :workers::bigint, 'others are') WHERE pg(18);
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;

-- ---------------------------------------------------------------------------
-- 18: generated columns that are computed when they are read
-- ---------------------------------------------------------------------------

SELECT CASE WHEN pg(18) THEN
	'CREATE TABLE derived (id int, x int, inverse int GENERATED ALWAYS AS (1000 / x) VIRTUAL, twice int GENERATED ALWAYS AS (2 * x) STORED)' END \gexec
SELECT format('INSERT INTO derived (id, x) SELECT i, i %% 3 FROM generate_series(1, 300) i') WHERE pg(18) \gexec
SELECT 'ALTER TABLE derived OWNER TO owner1' WHERE pg(18) \gexec
SELECT $$SELECT set_config('role', 'owner1', false), dp_cdp.protect_table('derived', 'clinic', each_row => true), set_config('role', 'none', false)$$ WHERE pg(18) \gexec
SELECT refused('SELECT dp_count(*) FROM derived WHERE inverse > 3', '^ZC002 virtual generated column "inverse"', 'virtual column in WHERE') WHERE pg(18);
SELECT refused('SELECT dp_count(inverse) FROM derived', '^ZC002 virtual generated column', 'virtual column as an argument') WHERE pg(18);
SELECT refused('SELECT dp_sum(inverse, 0, 10) FROM derived', '^ZC002 virtual generated column', 'virtual column in a sum') WHERE pg(18);
SELECT refused('SELECT inverse, dp_count(*) FROM derived GROUP BY inverse', '^ZC002 virtual generated column', 'virtual column as a key') WHERE pg(18);
SELECT gives('SELECT dp_count(*) BETWEEN 150 AND 250 FROM derived WHERE twice > 0', '{(t)}', 'stored generated column') WHERE pg(18);
SELECT 'CREATE TABLE derived_unit (id int, half int GENERATED ALWAYS AS (id / 2) VIRTUAL)' WHERE pg(18) \gexec
SELECT throws_ok($$SELECT dp_cdp.protect_table('derived_unit', 'clinic', unit => 'half')$$, 'ZC004',
	'virtual generated column "half" cannot be a privacy unit; make it STORED', 'virtual column as the unit') WHERE pg(18);

-- ---------------------------------------------------------------------------
-- 19: functions of windows that leave out NULLs, JSON_ARRAY of a query
-- ---------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
CREATE TABLE stays (id int PRIMARY KEY, patient int, days int);
INSERT INTO stays SELECT i, i % 50, nullif(i % 10, 3) FROM generate_series(1, 500) i;
SELECT dp_cdp.protect_table('stays', 'clinic', unit => 'patient');
RESET SESSION AUTHORIZATION;
SELECT gives('SELECT dept, lag(n) IGNORE NULLS OVER (ORDER BY dept) > 500
	FROM (SELECT dept, nullif(dept, ''b'') IS NULL AS b, CASE WHEN dept <> ''b'' THEN dp_count(*) END AS n FROM visits GROUP BY dept) s',
	'{"(a,)","(b,t)","(c,t)"}', 'IGNORE NULLS around a release') WHERE pg(19);
SELECT gives('SELECT last_value(n) RESPECT NULLS OVER (ORDER BY dept) > 500 FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) s',
	'{(t),(t),(t)}', 'RESPECT NULLS around a release') WHERE pg(19);
SELECT refused(format('SELECT %s NULLS OVER (ORDER BY dept), n FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) s', f),
	'^ZC002 function [a-z_]+ takes neither IGNORE NULLS nor RESPECT NULLS', f || ' NULLS, which would fail after the debit')
	FROM unnest(ARRAY['row_number() IGNORE', 'rank() RESPECT', 'ntile(2) IGNORE', 'cume_dist() IGNORE']) f WHERE pg(19);
SELECT gives('SELECT dp_sum(x, 0, 10) > 0 FROM (SELECT lag(days) OVER (PARTITION BY patient ORDER BY id) AS x FROM stays) s', '{(t)}',
	'a window over rows of a unit');
SELECT refused(format('SELECT dp_sum(x, 0, 10) > 0 FROM (SELECT lag(days) %s NULLS OVER (PARTITION BY patient ORDER BY id) AS x FROM stays) s', t),
	'^ZC002 IGNORE NULLS or RESPECT NULLS cannot be used on rows', t || ' NULLS over them') FROM unnest(ARRAY['IGNORE', 'RESPECT']) t WHERE pg(19);
SELECT gives('SELECT json_array_length(JSON_ARRAY(SELECT n FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) s))', '{(3)}',
	'JSON_ARRAY of a release') WHERE pg(16);
SELECT refused('SELECT JSON_ARRAY(SELECT cost FROM visits)', '^ZC002', 'JSON_ARRAY of protected rows') WHERE pg(16);
SELECT refused('SELECT dp_count(*) FROM visits v WHERE JSON_ARRAY(SELECT v.cost) IS NOT NULL', '^ZC002', '... beside a release') WHERE pg(16);
SELECT gives('SELECT dp_count(*) BETWEEN 2950 AND 3050 FROM visits WHERE coalesce(width_bucket(nullif(cost, 0)::float8 * ''NaN''::float8, 0, 10, 3), 0) IN (0, 4)',
	'{(t)}', 'a bucket for NaN') WHERE pg(19);

SELECT * FROM finish();
