-- What stands for numbers of rows after dp_cdp.harden(): catalogue queries of
-- tools run, and nothing that they tell follows from protected rows.

SET client_min_messages = warning;
SELECT no_plan();
ALTER SYSTEM SET autovacuum = off;
SELECT pg_reload_conf();

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE monitor1 LOGIN IN ROLE pg_monitor;
CREATE ROLE team;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE depts (dept text PRIMARY KEY, building text);
INSERT INTO depts VALUES ('a', 'north'), ('b', 'south'), ('c', 'south');
CREATE TABLE visits (id serial PRIMARY KEY, patient int NOT NULL, dept text REFERENCES depts, note text);
INSERT INTO visits (patient, dept, note) SELECT i % 500, 'a', i FROM generate_series(1, 5002) i;
CREATE INDEX ON visits (patient);
CREATE TABLE parts (patient int NOT NULL, year int) PARTITION BY LIST (year);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
INSERT INTO parts SELECT i, 1 FROM generate_series(1, 1000) i;
CREATE TABLE elders (patient int NOT NULL);
CREATE TABLE elders_1 () INHERITS (elders);
INSERT INTO elders_1 SELECT generate_series(1, 100);
CREATE TABLE secret (x int);
INSERT INTO secret SELECT generate_series(1, 77);
CREATE TABLE by_row (x int);
INSERT INTO by_row SELECT generate_series(1, 77);
ALTER TABLE by_row ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON by_row TO PUBLIC USING (x < 5);
CREATE TABLE some_columns (x int, y int);
INSERT INTO some_columns SELECT generate_series(1, 77);
CREATE MATERIALIZED VIEW copied AS SELECT * FROM visits;
CREATE VIEW sizes_for_all AS SELECT oid, relname, reltuples, relpages FROM pg_class;
CREATE FUNCTION size_for_all(t regclass) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN pg_relation_size(t); END $$;
GRANT SELECT ON depts, by_row, sizes_for_all TO PUBLIC;
GRANT SELECT (x) ON some_columns TO PUBLIC;
SELECT dp_cdp.create_dataset('clinic', rho => 1000);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.protect_table('parts', 'clinic', 'patient');
SELECT dp_cdp.protect_table('elders', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 500);
RESET SESSION AUTHORIZATION;
ANALYZE;

\ir same.psql
\ir catalogue_queries.psql

CREATE FUNCTION told(statement text, wanted text, description text DEFAULT NULL) RETURNS text
	LANGUAGE sql AS $$ SELECT is(asked(statement), wanted, coalesce(description, statement)) $$;

-- ------------------------------------------------------------------------
-- What tools send
-- ------------------------------------------------------------------------

SELECT told('SELECT reltuples FROM pg_class WHERE relname = ''visits''', '[{"reltuples":5002}]', 'before harden() nothing is masked');
SELECT count(*) FROM dp_cdp.harden() \g /dev/null

SELECT matches(coalesce(asked(query), '[none'), '^\[', tool) FROM tool_query;

SELECT bag_eq($$ SELECT r ->> 'relname' AS a, (r ->> 'reltuples')::real AS b, (r ->> 'pages')::boolean AS c, (r ->> 'relallvisible')::int AS d
	FROM json_array_elements(asked('SELECT relname, reltuples, relpages > 0 AS pages, relallvisible FROM pg_class
		WHERE relname ~ ''^(depts|visits|parts|elders|secret|by_row|some_columns|copied|sizes_for_all|budget|pg_class$)''
			AND relkind IN (''r'', ''p'', ''i'', ''m'', ''v'')')::json) r $$,
	$$ SELECT relname::text AS a, CASE WHEN relname ~ '^depts' THEN 3 ELSE -1 END::real AS b, relname ~ '^depts' AS c, 0 AS d FROM pg_class
		WHERE relname ~ '^(depts|visits|parts|elders|secret|by_row|some_columns|copied|sizes_for_all|budget|pg_class$)'
			AND relkind IN ('r', 'p', 'i', 'm', 'v') $$,
	'what may be counted is told, and nothing else');
SELECT told('SELECT pg_relation_size(t) > 0 AS a, pg_relation_size(t, ''main'') > 0 AS b, pg_table_size(t) > 0 AS c, pg_total_relation_size(t) > 0 AS d,
	pg_indexes_size(t) > 0 AS e, pg_stat_get_live_tuples(t) >= 3 AS f, pg_stat_get_numscans(t) AS g FROM (VALUES (''depts''::regclass)) v(t)',
	'[{"a":true,"b":true,"c":true,"d":true,"e":true,"f":true,"g":null}]', 'sizes of what may be counted; what queries did is never told');
SELECT told(format('SELECT pg_relation_size(t) AS a, pg_relation_size(t, ''main'') AS b, pg_table_size(t) AS c, pg_total_relation_size(t) AS d,
	pg_indexes_size(t) AS e, pg_stat_get_live_tuples(t) AS f FROM (VALUES (%L::regclass)) v(t)', t),
	'[{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null}]', 'nothing of ' || t)
	FROM unnest(ARRAY['visits', 'visits_pkey', 'parts', 'parts_1', 'elders', 'elders_1', 'secret', 'by_row', 'some_columns', 'copied', 'visits_id_seq',
		'pg_class', 'pg_statistic', 'dp_cdp_internal.budget', '0', '4294967295', (SELECT reltoastrelid::text FROM pg_class WHERE oid = 'visits'::regclass),
		(SELECT indexrelid::text FROM pg_index WHERE indrelid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'visits'::regclass))]) t;
SELECT told('SELECT pg_database_size(current_database()) AS a, pg_database_size(1::oid) AS b, pg_tablespace_size(''pg_default'') AS c, pg_current_wal_lsn() AS d,
	(pg_control_checkpoint()).redo_lsn AS e, pg_sequence_last_value(''visits_id_seq''::regclass) AS f',
	'[{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null}]', 'what tells of no one relation is NULL');
-- of the transaction that wrote the oldest row, of calls of triggers
SELECT told('SELECT relfrozenxid, relminmxid FROM pg_class WHERE relname IN (''visits'', ''depts'')', E'[{"relfrozenxid":"0","relminmxid":"0"}, \n {"relfrozenxid":"0","relminmxid":"0"}]',
	'who wrote the oldest row is not told');
SET track_functions = 'all';
CREATE FUNCTION of_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER each BEFORE UPDATE ON visits FOR EACH ROW EXECUTE FUNCTION of_trigger();
UPDATE visits SET note = note WHERE id <= 3;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT is(pg_stat_get_function_calls('of_trigger'::regproc), 3::bigint, 'a trigger is called once for each row');
SELECT told('SELECT pg_stat_get_function_calls(''of_trigger''::regproc) AS a, pg_stat_get_xact_function_calls(''of_trigger''::regproc) AS b,
	(SELECT count(*) FROM pg_stat_user_functions) AS c', '[{"a":null,"b":null,"c":0}]', 'calls of functions are not told');
RESET track_functions;
DROP TRIGGER each ON visits;
SELECT told('SELECT count(*) FROM pg_stat_progress_analyze', '[{"count":0}]', 'no rows of what returns some');
SELECT told('SELECT count(*) FROM pg_replication_slots', '[{"count":0}]');
SELECT told('SELECT tup_returned, blks_hit, temp_bytes, temp_files FROM pg_stat_database WHERE datname = current_database()',
	'[{"tup_returned":null,"blks_hit":null,"temp_bytes":null,"temp_files":null}]');
SELECT told('SELECT count(*) FROM pg_stat_get_progress_info(cmdtype => ''ANALYZE'')', '[{"count":0}]', 'arguments by name');
SELECT told('SELECT count(*) FROM (SELECT pg_stat_get_progress_info(cmdtype => ''ANALYZE'')) s', '[{"count":0}]');
SELECT told('SELECT archived_count, last_archived_wal FROM pg_stat_archiver', '[{"archived_count":null,"last_archived_wal":null}]');
SELECT told('SELECT checkpoints_req, maxwritten_clean FROM pg_stat_bgwriter', '[{"checkpoints_req":null,"maxwritten_clean":null}]') WHERE current_setting('server_version_num')::int < 170000;
SELECT told('SELECT count(*) FROM pg_stat_replication_slots', '[{"count":0}]');
SELECT told('SELECT last_value FROM pg_sequences', '[{"last_value":null}' || repeat(E', \n {"last_value":null}', (SELECT count(*) - 1 FROM pg_sequences)::int) || ']');

-- ------------------------------------------------------------------------
-- Shapes
-- ------------------------------------------------------------------------

SELECT told('SELECT t.n, c.reltuples, c.relname, c IS NULL AS none FROM (VALUES (''visits''), (''nothing'')) t(n) LEFT JOIN pg_class c ON c.relname = t.n ORDER BY 1 DESC',
	E'[{"n":"visits","reltuples":-1,"relname":"visits","none":false}, \n {"n":"nothing","reltuples":null,"relname":null,"none":true}]', 'outer joins make NULL of all of it');
SELECT told('SELECT to_json(c) ->> ''reltuples'' AS x, (c).relpages AS y FROM pg_namespace n LEFT JOIN pg_class c ON c.relname = ''visits'' AND c.relnamespace = n.oid
	WHERE n.nspname IN (''public'', ''pg_catalog'') ORDER BY 2', E'[{"x":"-1","y":0}, \n {"x":null,"y":null}]', 'whole rows');
SELECT told('SELECT relname FROM pg_class c JOIN pg_class d USING (reltuples, relpages, oid, relname) WHERE relname IN (''visits'', ''depts'') ORDER BY 1',
	E'[{"relname":"depts"}, \n {"relname":"visits"}]', 'USING');
SELECT told('SELECT c.relname, c.reltuples, count(*) > 3 AS more FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname = ''visits'' GROUP BY c.oid',
	'[{"relname":"visits","reltuples":-1,"more":true}]', 'columns that follow from the primary key');
SELECT told('SELECT (SELECT (SELECT c.reltuples FROM pg_namespace WHERE nspname = ''public'') FROM pg_am LIMIT 1) AS x,
	(SELECT c.tableoid::regclass FROM pg_namespace WHERE c.xmin IS NOT NULL LIMIT 1) AS y FROM pg_class c WHERE relname = ''visits''',
	'[{"x":-1,"y":"pg_class"}]', 'references from deeper levels, and system columns');
SELECT told('SELECT l.x FROM pg_class c, LATERAL (SELECT c.reltuples + 1 AS x) l WHERE c.relname = ''visits''', '[{"x":0}]', 'LATERAL');
SELECT told('WITH w AS (SELECT * FROM pg_class) SELECT reltuples FROM w WHERE relname = ''visits'' UNION ALL SELECT reltuples FROM pg_class WHERE relname = ''visits''',
	E'[{"reltuples":-1}, \n {"reltuples":-1}]', 'WITH and UNION');
SELECT told('SELECT reltuples FROM pg_class TABLESAMPLE BERNOULLI (100) WHERE relname = ''visits''', '[{"reltuples":-1}]', 'TABLESAMPLE');
SELECT told('SELECT relname FROM pg_class WHERE reltuples > 1000 AND relnamespace = ''public''::regnamespace', NULL, 'conditions');
SELECT told('SELECT sum(reltuples) FILTER (WHERE reltuples > 4) AS s, max(reltuples) OVER () AS m FROM pg_class WHERE relname IN (''visits'', ''depts'') GROUP BY reltuples ORDER BY reltuples LIMIT 1',
	'[{"s":null,"m":3}]', 'aggregates, windows, ORDER BY');
SELECT told('SELECT f AS n, ordinality FROM ROWS FROM (pg_get_replication_slots(), pg_relation_size(''visits''), generate_series(1, 2)) WITH ORDINALITY AS r, LATERAL (SELECT r.pg_relation_size) s(f)',
	E'[{"n":null,"ordinality":1}, \n {"n":null,"ordinality":2}]', 'ROWS FROM');
SELECT told('SELECT pg_database_size(current_database()) AS x, g FROM generate_series(1, 2) g', E'[{"x":null,"g":1}, \n {"x":null,"g":2}]', 'rows stay');
SELECT told('SELECT dp_count(*) IS NULL AS n, (SELECT reltuples FROM pg_class WHERE relname = ''visits'') AS r, pg_relation_size(''visits'') AS s FROM visits',
	'[{"n":false,"r":-1,"s":null}]', 'beside a release');
SELECT told('SELECT c.reltuples, dp_count(*) IS NULL AS n FROM visits v JOIN pg_class c ON c.relnatts = v.patient WHERE c.relname = ''visits'' GROUP BY c.reltuples',
	'[{"reltuples":-1,"n":false}]', 'joined with protected rows, whose owner may know');
SELECT matches(asked('SELECT dp_count(*) FROM visits WHERE id > pg_relation_size(''visits'')'), '^ZC002', 'not on protected rows');

-- statements that write, rules of one's own, rows as arguments
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE kept (n text PRIMARY KEY, r real, s bigint);
INSERT INTO kept VALUES ('visits'), ('depts');
CREATE VIEW as_invoker WITH (security_invoker = true) AS SELECT * FROM pg_class;
CREATE VIEW as_barrier WITH (security_barrier = true) AS SELECT * FROM pg_class;
CREATE FUNCTION of_row(pg_class) RETURNS real LANGUAGE sql AS 'SELECT $1.reltuples';
CREATE TABLE by_policy (x int);
INSERT INTO by_policy VALUES (1), (2);
ALTER TABLE by_policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE by_policy FORCE ROW LEVEL SECURITY;
CREATE POLICY of_size ON by_policy USING (x < 2 OR pg_relation_size('visits') > 0 OR (SELECT reltuples > 0 FROM pg_class WHERE relname = 'visits'));
CREATE TABLE by_check (x int CHECK (pg_relation_size('visits') > 0));
UPDATE kept SET r = c.reltuples, s = sign(pg_relation_size(c.oid)) FROM pg_class c WHERE c.relname = n AND c.relpages >= 0;
SELECT results_eq('SELECT n, r, s FROM kept ORDER BY n', $$ VALUES ('depts', 3::real, 1::bigint), ('visits', -1, NULL) $$, 'UPDATE');
MERGE INTO kept USING pg_class c ON c.relname = n WHEN MATCHED AND c.reltuples < 0 THEN UPDATE SET r = c.reltuples + 1000 WHEN MATCHED THEN DELETE;
SELECT results_eq('SELECT n, r FROM kept', $$ VALUES ('visits', 999::real) $$, 'MERGE');
INSERT INTO kept VALUES ('visits') ON CONFLICT (n) DO UPDATE SET r = (SELECT reltuples FROM pg_class WHERE relname = 'visits'), s = pg_database_size(current_database());
SELECT results_eq('SELECT n, r, s FROM kept', $$ VALUES ('visits', (-1)::real, NULL::bigint) $$, 'ON CONFLICT');
SELECT throws_ok('INSERT INTO by_check VALUES (1)', '42501', NULL, 'a constraint of one''s own is evaluated without the planner');
RESET SESSION AUTHORIZATION;
SELECT told('SELECT reltuples FROM as_invoker WHERE relname = ''visits''', '[{"reltuples":-1}]', 'a view with rights of who asks');
SELECT told('SELECT reltuples, (b).relpages FROM as_barrier b WHERE relname = ''visits'' AND reltuples < 0', '[{"reltuples":-1,"relpages":0}]', 'a view that is a barrier');
SELECT told('SELECT of_row(c) FROM pg_class c WHERE relname = ''visits''', '[{"of_row":-1}]', 'a function of a row');
SELECT told('SELECT * FROM by_policy', '[{"x":1}]', 'a policy of one''s own');

DROP VIEW as_invoker, as_barrier;
DROP TABLE kept, by_policy, by_check;

-- EXPLAIN counts rows and pages of statistics, of which ANALYZE of a protected table writes some
SELECT told('SELECT count(*) > 0 AS x FROM pg_stats', '[{"x":true}]', 'the statistics that one may see');
SET SESSION AUTHORIZATION analyst1;
SELECT throws_like(q, 'EXPLAIN would show how many statistics%', 'refused: ' || q) FROM unnest(ARRAY['EXPLAIN SELECT * FROM pg_stats', 'EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM pg_stats',
	'EXPLAIN SELECT * FROM pg_stats_ext', 'EXPLAIN ANALYZE SELECT query_to_xml(''SELECT 1 FROM pg_stats LIMIT 1'', true, true, '''')']) q;
PREPARE of_statistics AS SELECT count(*) > 0 FROM pg_stats;
SELECT results_eq('EXECUTE of_statistics', 'VALUES (true)', 'a plan that is kept');
SELECT throws_like('EXPLAIN EXECUTE of_statistics', 'EXPLAIN would show how many statistics%', 'is not explained');
SELECT results_eq('EXECUTE of_statistics', 'VALUES (true)', 'after a refusal');
RESET SESSION AUTHORIZATION;
SELECT lives_ok('EXPLAIN SELECT * FROM pg_stats', 'whoever may know may explain');

-- what is not masked is refused
SELECT matches(asked(q), '^42501', 'refused: ' || q) FROM unnest(ARRAY[
	'SELECT c, c.xmin FROM pg_class c', 'SELECT reltuples FROM pg_class FOR UPDATE', 'SELECT lo_create(0)', 'SELECT pg_logical_emit_message(false, ''a'', ''b'')',
	'SELECT currtid2(''visits'', ''(0,1)'')', 'SELECT pg_ls_dir(''.'')', 'SELECT pg_read_file(''PG_VERSION'')']) q;

-- ------------------------------------------------------------------------
-- Roles, plans
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION monitor1;
SELECT is(reltuples, 5002::real, 'a monitor sees the numbers') FROM pg_class WHERE relname = 'visits';
SELECT ok(pg_relation_size('visits') > 0 AND pg_database_size(current_database()) > 0, 'and sizes');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION owner1;
SELECT is(pg_stat_get_numscans('visits'::regclass), NULL, 'the owner is no monitor');
SELECT is(reltuples, 5002::real, 'and is told of what he can count') FROM pg_class WHERE relname = 'visits';
SELECT ok(pg_relation_size('visits') > 0 AND pg_stat_get_live_tuples('visits'::regclass) > 0, 'sizes, too');
RESET SESSION AUTHORIZATION;
SELECT told('SELECT reltuples FROM sizes_for_all WHERE relname = ''visits''', '[{"reltuples":-1}]', 'in an owner''s view it is the asker who may know');
SELECT told('SELECT size_for_all(''visits'')', '[{"size_for_all":null}]', 'in an owner''s function it is both');

PREPARE numbers AS SELECT reltuples, pg_relation_size('visits') > 0 AS size FROM pg_class WHERE relname = 'visits';
SET plan_cache_mode = force_generic_plan;
SELECT results_eq('EXECUTE numbers', 'VALUES (5002::real, true)', 'a plan of a superuser');
SET ROLE analyst1;
SELECT results_eq('EXECUTE numbers', 'VALUES ((-1)::real, NULL::boolean)', 'is none of an analyst');
SET ROLE monitor1;
SELECT results_eq('EXECUTE numbers', 'VALUES (5002::real, true)', 'nor the other way round');
RESET ROLE;
SET SESSION AUTHORIZATION analyst1;
SELECT results_eq('EXECUTE numbers', 'VALUES ((-1)::real, NULL::boolean)', 'a plan of an analyst');
RESET SESSION AUTHORIZATION;
GRANT pg_monitor TO analyst1;
SET SESSION AUTHORIZATION analyst1;
SELECT results_eq('SELECT reltuples, pg_relation_size(''visits'') > 0 FROM pg_class WHERE relname = ''visits''', 'VALUES (5002::real, true)', 'who becomes a monitor');
RESET SESSION AUTHORIZATION;
REVOKE pg_monitor FROM analyst1;
RESET plan_cache_mode;

-- by hand
SELECT told('SELECT dp_cdp_internal.visible_relation_size(''visits'') AS a, dp_cdp_internal.visible_live_tuples(''visits''::regclass) AS b, dp_cdp_internal.visible_reltuples(''visits''::regclass, 7) AS c,
	dp_cdp_internal.masked(1, 2) AS d, dp_cdp_internal.visible_total_relation_size(''depts'') > 0 AS e', '[{"a":null,"b":null,"c":-1,"d":null,"e":true}]', 'by hand they tell no more');
SELECT told('SELECT * FROM dp_cdp_internal.masked_rows(1, 2)', NULL);

-- protected, and made anew
SET SESSION AUTHORIZATION owner1;
CREATE TABLE reloaded (patient int);
GRANT SELECT ON reloaded TO analyst1;
RESET SESSION AUTHORIZATION;
ANALYZE reloaded;
SELECT told('SELECT reltuples FROM pg_class WHERE relname = ''reloaded''', '[{"reltuples":0}]', 'readable');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.protect_table('reloaded', 'clinic', 'patient');
RESET SESSION AUTHORIZATION;
SELECT told('SELECT reltuples FROM pg_class WHERE relname = ''reloaded''', '[{"reltuples":0}]', 'a reader may know of a protected table');
SET SESSION AUTHORIZATION owner1;
REVOKE SELECT ON reloaded FROM analyst1;
ALTER TABLE reloaded RENAME TO former;
CREATE TABLE reloaded (patient int);
GRANT SELECT ON reloaded TO analyst1;
RESET SESSION AUTHORIZATION;
ANALYZE reloaded;
SELECT told('SELECT relname, reltuples FROM pg_class WHERE relname IN (''former'', ''reloaded'') ORDER BY 1', E'[{"relname":"former","reltuples":-1}, \n {"relname":"reloaded","reltuples":-1}]',
	'a table that took the name of a protected one');

-- ------------------------------------------------------------------------
-- Nothing follows from protected rows, by any road
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
CREATE VIEW own_view AS SELECT relname, reltuples, relpages, pg_relation_size(oid), pg_stat_get_live_tuples(oid) FROM pg_class;
CREATE FUNCTION by_plpgsql() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	size bigint := pg_total_relation_size('visits');
	r record;
	c CURSOR FOR SELECT relname, reltuples, relpages FROM pg_class;
BEGIN
	RETURN NEXT 'size ' || coalesce(size::text, 'none');
	FOR r IN SELECT * FROM pg_class LOOP
		RETURN NEXT r::text;
	END LOOP;
	FOR r IN c LOOP
		RETURN NEXT r::text;
	END LOOP;
	FOR r IN EXECUTE 'SELECT * FROM pg_stat_user_tables' LOOP
		RETURN NEXT r::text;
	END LOOP;
END $$;
CREATE FUNCTION by_explain(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE) ' || statement LOOP
		RETURN NEXT line;
	END LOOP;
END $$;
CREATE FUNCTION by_sql() RETURNS SETOF real LANGUAGE sql VOLATILE AS 'SELECT reltuples FROM pg_class';
CREATE FUNCTION by_inlined_sql() RETURNS SETOF real LANGUAGE sql STABLE AS 'SELECT reltuples FROM pg_class';
CREATE FUNCTION by_inlined_expression(t oid) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT pg_stat_get_live_tuples(t)';
CREATE FUNCTION by_atomic() RETURNS SETOF bigint LANGUAGE sql BEGIN ATOMIC SELECT pg_relation_size(oid) FROM pg_class; END;
CREATE TABLE with_default (x int, size bigint DEFAULT pg_relation_size('visits'));
CREATE FUNCTION by_default() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
BEGIN
	INSERT INTO with_default VALUES (1) RETURNING size INTO found;
	RAISE EXCEPTION '%', coalesce(found::text, 'none');
EXCEPTION WHEN raise_exception THEN
	RETURN SQLERRM;
END $$;
SELECT by_default() \g /dev/null
RESET SESSION AUTHORIZATION;

CREATE TABLE road (query text);
INSERT INTO road SELECT query FROM tool_query;
INSERT INTO road SELECT format('SELECT by_explain(%L)', query) FROM tool_query;
INSERT INTO road VALUES ('SELECT * FROM own_view'), ('SELECT * FROM sizes_for_all'), ('SELECT by_plpgsql()'), ('SELECT by_sql()'), ('SELECT * FROM by_sql()'),
	('SELECT * FROM by_inlined_sql()'), ('SELECT by_inlined_expression(''visits''::regclass)'), ('SELECT * FROM by_atomic()'), ('SELECT by_default()'),
	('SELECT by_explain(''SELECT * FROM by_inlined_sql()'')'), ('SELECT by_explain(''SELECT * FROM pg_class WHERE reltuples > 5002'')'),
	('SELECT by_explain(''SELECT reltuples FROM pg_class GROUP BY reltuples'')'), ('SELECT by_explain(''SELECT * FROM pg_class a JOIN pg_class b USING (reltuples)'')'),
	('SELECT by_explain(''SELECT * FROM pg_class ORDER BY relpages LIMIT 1'')'), ('SELECT size_for_all(oid) FROM pg_class'),
	('SELECT * FROM pg_stat_xact_user_tables'), ('SELECT * FROM pg_statio_user_tables'), ('SELECT * FROM pg_statio_user_indexes'), ('SELECT * FROM pg_stat_user_indexes'),
	('SELECT * FROM pg_statio_all_sequences'), ('SELECT * FROM pg_stat_wal'), ('SELECT * FROM pg_stat_slru'), ('SELECT buffers_alloc FROM pg_stat_bgwriter'), ('SELECT pg_stat_get_checkpoint' || CASE WHEN current_setting('server_version_num')::int >= 170000 THEN 'er' ELSE '' END || '_write_time()'),
	('SELECT * FROM pg_class'), ('SELECT c FROM pg_class c'), ('SELECT oid, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class');
CREATE TABLE answer (query text, before text, now text);
ANALYZE;
SELECT pg_stat_force_next_flush() \g /dev/null
INSERT INTO answer SELECT query, asked(query) FROM road;

-- one person more, with a thousand rows; and what queries do to a public table
SET SESSION AUTHORIZATION owner1;
INSERT INTO visits (patient, dept, note) SELECT 500, 'b', repeat(md5(i::text), 200) FROM generate_series(1, 1000) i;
INSERT INTO parts SELECT 1001, 1 FROM generate_series(1, 1000) i;
INSERT INTO elders_1 SELECT 1001 FROM generate_series(1, 1000) i;
SET enable_seqscan = off;
SELECT count(*) FROM visits JOIN depts USING (dept) \g /dev/null
RESET enable_seqscan;
RESET SESSION AUTHORIZATION;
ANALYZE visits;
ANALYZE parts;
ANALYZE elders_1;
ANALYZE pg_class;
SELECT pg_stat_force_next_flush() \g /dev/null
UPDATE answer SET now = asked(query);
SELECT is_empty('SELECT * FROM answer WHERE before IS DISTINCT FROM now', 'no answer follows from protected rows');
SELECT ok(count(*) > 100 AND count(*) FILTER (WHERE before ~ '^\[') > 90, 'most are answered') FROM answer;
SELECT bag_eq('SELECT query FROM answer WHERE before !~ ''^\[''', $$ VALUES ('SELECT * FROM by_inlined_sql()'),
	('SELECT by_inlined_expression(''visits''::regclass)'), ('SELECT by_explain(''SELECT * FROM by_inlined_sql()'')') $$, 'refused is what the planner inlines');

SELECT * FROM finish();
