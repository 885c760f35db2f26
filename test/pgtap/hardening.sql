-- What PostgreSQL itself leaves open: dp_cdp.harden(), dp_cdp.unharden() and
-- dp_cdp.check_setup().

SET client_min_messages = warning;
SELECT no_plan();

ALTER SYSTEM SET fsync = on;
ALTER SYSTEM SET full_page_writes = on;
SELECT pg_reload_conf();

CREATE ROLE dba LOGIN;
CREATE ROLE team;
CREATE ROLE ana LOGIN IN ROLE team;
CREATE ROLE stranger LOGIN;
CREATE SCHEMA lab AUTHORIZATION dba;
GRANT USAGE ON SCHEMA lab TO PUBLIC;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
SET SESSION AUTHORIZATION dba;
CREATE TABLE lab.visits (id serial PRIMARY KEY, patient int NOT NULL, dept text, cost numeric);
INSERT INTO lab.visits (patient, dept, cost) SELECT i % 500, 'd' || i % 3, i FROM generate_series(1, 5002) i;
CREATE TABLE lab.parts (patient int NOT NULL, year int) PARTITION BY LIST (year);
CREATE TABLE lab.parts_1 PARTITION OF lab.parts FOR VALUES IN (1);
CREATE TABLE lab.plain (x int);
SELECT dp_cdp.create_dataset('clinic', rho => 10);
SELECT dp_cdp.protect_table('lab.visits', 'clinic', 'patient');
SELECT dp_cdp.protect_table('lab.parts', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'team', rho => 5);
RESET SESSION AUTHORIZATION;
ANALYZE lab.visits;

-- what a role is told: the rows, or the error
CREATE FUNCTION as_role(role name, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
	r record;
BEGIN
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', role);
	BEGIN
		FOR r IN EXECUTE statement LOOP
			n := n + 1;
		END LOOP;
	EXCEPTION WHEN OTHERS THEN
		RESET SESSION AUTHORIZATION;
		RETURN SQLSTATE;
	END;
	RESET SESSION AUTHORIZATION;
	RETURN n || ' rows';
END $$;

-- ------------------------------------------------------------------------
-- harden and unharden
-- ------------------------------------------------------------------------

CREATE VIEW privileges AS
	SELECT 'pg_proc' AS kind, p.oid, 0 AS attnum, x.grantor, x.grantee, x.privilege_type, x.is_grantable
	FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x
	UNION ALL
	SELECT 'pg_class', c.oid, 0, x.grantor, x.grantee, x.privilege_type, x.is_grantable
	FROM pg_class c, aclexplode(c.relacl) x WHERE c.relname NOT IN ('before', 'done')
	UNION ALL
	SELECT 'pg_attribute', a.attrelid, a.attnum, x.grantor, x.grantee, x.privilege_type, x.is_grantable
	FROM pg_attribute a, aclexplode(a.attacl) x;

-- somebody was here before
CREATE EXTENSION pg_stat_statements;
GRANT SELECT (relpages, relname) ON pg_class TO PUBLIC;
GRANT EXECUTE ON FUNCTION pg_table_size(regclass) TO stranger;
REVOKE EXECUTE ON FUNCTION pg_database_size(oid) FROM PUBLIC;
CREATE TABLE before AS SELECT * FROM privileges;

SELECT is(as_role('dba', 'SELECT * FROM dp_cdp.harden()'), '42501', 'harden is for superusers');
SELECT is(as_role('dba', 'SELECT * FROM dp_cdp.unharden()'), '42501', 'unharden, too');
SELECT throws_ok($$ SELECT * FROM dp_cdp.harden(keep_open => ARRAY['pg_clas']) $$, 'ZC004');
SELECT ok(count(*) > 50 AND NOT bool_or(done), 'asked only: a list') FROM dp_cdp.harden(apply => false);
SELECT set_eq('SELECT * FROM privileges', 'SELECT * FROM before', 'which changes nothing');
SELECT is(count(*), 0::bigint, 'nothing is remembered') FROM dp_cdp_internal.hardened;

CREATE TABLE done AS SELECT * FROM dp_cdp.harden();
SELECT ok(count(*) > 50 AND bool_and(done), 'everything was done') FROM done;
SELECT is(count(*), 0::bigint, 'and has not to be done again') FROM dp_cdp.harden();
SELECT ok(NOT EXISTS (SELECT FROM dp_cdp_internal.hardening() WHERE wanted <> held), 'all is as wanted');
SELECT is((SELECT count(*) FROM dp_cdp_internal.hardened WHERE object ~ 'pg_database_size\(pg_catalog.oid\)'), 0::bigint,
	'what was closed before is none of its business');

-- what analysts are told (more in masking.sql): nothing, without an error
SELECT is(as_role('ana', q), '0 rows', 'masked: ' || q) FROM unnest(ARRAY[
	'SELECT FROM pg_stat_xact_user_tables WHERE num_nonnulls(seq_scan, idx_scan, idx_tup_fetch) > 0',
	'SELECT FROM (SELECT pg_stat_get_xact_tuples_fetched(''lab.visits''::regclass) AS n) s WHERE n IS NOT NULL',
	'SELECT FROM pg_stat_user_tables WHERE schemaname = ''lab'' AND num_nonnulls(n_live_tup, n_tup_ins, seq_tup_read, last_analyze) > 0',
	'SELECT FROM (SELECT pg_stat_get_live_tuples(''lab.visits''::regclass) AS n) s WHERE n IS NOT NULL',
	'SELECT FROM pg_stat_user_indexes WHERE num_nonnulls(idx_scan, idx_tup_read) > 0',
	'SELECT FROM pg_statio_user_tables WHERE num_nonnulls(heap_blks_read, idx_blks_hit) > 0',
	'SELECT FROM pg_stat_database WHERE num_nonnulls(tup_returned, temp_bytes, blks_hit) > 0',
	'SELECT * FROM pg_stat_progress_analyze',
	'SELECT FROM pg_class WHERE relnamespace = ''lab''::regnamespace AND (reltuples <> -1 OR relpages <> 0 OR relallvisible <> 0)',
	'SELECT FROM (SELECT c FROM pg_class c WHERE relnamespace = ''lab''::regnamespace) s WHERE (c).reltuples <> -1 OR (c).relpages <> 0',
	'SELECT FROM (SELECT pg_relation_size(''lab.visits'') AS n) s WHERE n IS NOT NULL',
	'SELECT FROM (SELECT pg_total_relation_size(''lab.visits'') AS n) s WHERE n IS NOT NULL',
	'SELECT FROM (SELECT pg_database_size(current_database()) AS n) s WHERE n IS NOT NULL',
	'SELECT FROM pg_sequences WHERE last_value IS NOT NULL',
	'SELECT FROM (SELECT pg_current_wal_lsn() AS a, pg_last_wal_replay_lsn() AS b, pg_last_wal_receive_lsn() AS c) s WHERE num_nonnulls(a, b, c) > 0',
	'SELECT FROM pg_control_checkpoint() c WHERE c IS NOT NULL OR c.redo_lsn IS NOT NULL',
	'SELECT FROM pg_control_recovery() c WHERE c IS NOT NULL OR c.min_recovery_end_lsn IS NOT NULL',
	'SELECT * FROM pg_replication_slots']) q;
-- what would leave traces, and other extensions', is refused
SELECT is(as_role('ana', q), '42501', 'refused: ' || q) FROM unnest(ARRAY[
	'SELECT currtid2(''lab.visits'', ''(0,1)'')',
	'SELECT lo_create(0)',
	'SELECT lo_from_bytea(0, ''x'')',
	'SELECT pg_logical_emit_message(false, ''a'', ''b'')',
	'SELECT query, rows FROM pg_stat_statements',
	'SELECT * FROM pg_stat_statements(true)']) q;
SELECT is(as_role('ana', 'SELECT last_value FROM lab.visits_id_seq'), 'ZC002', 'refused by the guard: a sequence');
SELECT is(as_role('ana', 'SELECT 1 FROM pg_stats WHERE tablename = ''visits'''), '0 rows', 'no statistics of columns');

-- a monitor goes on
CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
SELECT matches(as_role('monitor', q), 'rows$', 'monitors: ' || q) FROM unnest(ARRAY[
	'SELECT n_live_tup FROM pg_stat_user_tables',
	'SELECT reltuples FROM pg_class LIMIT 1',
	'SELECT pg_relation_size(''pg_class'')']) q;
SELECT is(as_role('monitor', 'SELECT lo_create(0)'), '42501', 'monitors write nothing');

-- catalogues as psql, drivers and tools read them
SELECT matches(as_role('ana', q), 'rows$', 'answered: ' || q) FROM unnest(ARRAY[
	'SELECT * FROM information_schema.tables',
	'SELECT * FROM information_schema.columns',
	'SELECT * FROM information_schema.table_constraints',
	'SELECT * FROM information_schema.sequences',
	'SELECT * FROM information_schema.table_privileges',
	'SELECT * FROM pg_tables',
	'SELECT * FROM pg_indexes',
	'SELECT * FROM pg_views',
	'SELECT * FROM pg_matviews',
	'SELECT count(*) FROM pg_class',
	'SELECT * FROM pg_class',
	'SELECT * FROM pg_stat_all_tables',
	'SELECT * FROM pg_stat_database',
	'SELECT c.oid, c.tableoid, c.relname, c.relkind, c.reltoastrelid FROM pg_class c',
	'SELECT pid, state FROM pg_stat_activity',
	'SELECT ''lab.visits''::regclass, pg_get_constraintdef(oid) FROM pg_constraint']) q;
\set QUIET on
\o /dev/null
SET SESSION AUTHORIZATION ana;
\d
\d+
\dt
\dt+ lab.*
\di+ lab.*
\dP+ lab.*
\db+
\d lab.visits
\d+ lab.visits
\d+ lab.parts
\d lab.visits_id_seq
\d lab.visits_pkey
\dv
\dn+
\df lab.*
\dp lab.*
\du
\dx
\l+
\dd
\ddp
RESET SESSION AUTHORIZATION;
\o
SELECT pass('psql describes');

SELECT ok(bool_and(done), 'unharden does all of it') FROM dp_cdp.unharden();
SELECT set_eq('SELECT * FROM privileges', 'SELECT * FROM before', 'and leaves the privileges that there were');
SELECT is(count(*), 0::bigint, 'nothing is remembered') FROM dp_cdp_internal.hardened;
SELECT is(count(*), 0::bigint, 'nor to be undone') FROM dp_cdp.unharden();

-- others' changes stay
SELECT count(*) FROM dp_cdp.harden(keep_open => ARRAY['pg_class', 'pg_table_size']) \g /dev/null
SELECT is(as_role('ana', 'SELECT reltuples FROM pg_class LIMIT 1'), '1 rows', 'kept open');
SELECT is(as_role('ana', 'SELECT pg_table_size(''pg_class'')'), '1 rows', 'kept open, too');
SELECT is(as_role('ana', 'SELECT FROM (SELECT pg_relation_size(''pg_class'') AS n) s WHERE n IS NOT NULL'), '0 rows', 'the rest is closed');
GRANT EXECUTE ON FUNCTION pg_relation_size(regclass) TO stranger;
DROP EXTENSION pg_stat_statements;
SELECT set_eq('SELECT DISTINCT object FROM dp_cdp.unharden() WHERE NOT done',
	'SELECT DISTINCT object FROM done WHERE object ~ ''pg_stat_statements''', 'what is gone is reported');
SELECT set_eq('SELECT kind, oid, grantee FROM privileges EXCEPT SELECT kind, oid, grantee FROM before',
	$$ SELECT 'pg_proc' AS kind, 'pg_relation_size(regclass)'::regprocedure::oid AS oid, 'stranger'::regrole::oid AS grantee $$,
	'a grant in between stays');
REVOKE EXECUTE ON FUNCTION pg_relation_size(regclass) FROM stranger;
GRANT EXECUTE ON FUNCTION pg_database_size(oid) TO PUBLIC;
REVOKE SELECT (relpages, relname) ON pg_class FROM PUBLIC;

-- ------------------------------------------------------------------------
-- check_setup
-- ------------------------------------------------------------------------

-- what is found, but for the summary
CREATE VIEW found AS SELECT * FROM dp_cdp.check_setup() WHERE object NOT LIKE 'database %';

SELECT is(as_role('ana', 'SELECT * FROM dp_cdp.check_setup()'), '42501', 'check_setup is not for analysts');
SELECT set_eq('SELECT severity, object, remedy FROM found', $$ VALUES
	('warning', 'functions that leave traces', 'SELECT * FROM dp_cdp.harden()'),
	('warning', 'pg_class', 'SELECT * FROM dp_cdp.harden()'),
	('warning', 'size functions', 'SELECT * FROM dp_cdp.harden()'),
	('warning', 'statistics functions', 'SELECT * FROM dp_cdp.harden()') $$, 'not hardened');
SELECT count(*) FROM dp_cdp.harden() \g /dev/null
SELECT is_empty('SELECT * FROM found', 'hardened: nothing is left');
SELECT matches(finding, 'Datasets: 1, protected tables: 3, analysts: 2; critical findings: 0, warnings: 0. The promise holds', 'the summary says so')
	FROM dp_cdp.check_setup();

-- Provokes a finding, looks for it, applies its remedy (or the one given), and
-- sees that it is gone.
CREATE FUNCTION provoked(provocation text, expected_severity text, expected_object text, expected_finding text,
						 given text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	all_found text;
	hits found[];
	remedies text;
BEGIN
	EXECUTE provocation;
	SELECT string_agg(f::text, E'\n'), array_agg(f) FILTER (WHERE wanted), string_agg(f.remedy, '; ') FILTER (WHERE wanted) INTO all_found, hits, remedies
		FROM found f, LATERAL (SELECT f.severity = expected_severity AND f.object = expected_object AND f.finding ~ expected_finding AS wanted) w;
	RETURN NEXT ok(cardinality(hits) > 0, provocation);
	IF hits IS NULL THEN
		RETURN NEXT diag('found: ' || coalesce(all_found, 'nothing'));
	END IF;
	EXECUTE coalesce(given, remedies, 'SELECT');
	SELECT string_agg(f::text, E'\n') INTO all_found FROM found f WHERE f.finding !~ 'each row is a person, as unit';
	RETURN NEXT is(all_found, NULL, 'remedied by ' || coalesce(given, remedies, 'nothing'));
END $$;

-- privileges
SELECT provoked('GRANT SELECT ON lab.visits TO ana', 'critical', 'lab.visits', 'SELECT .* granted to ana \(ana\)');
SELECT provoked('GRANT SELECT ON lab.visits TO PUBLIC', 'critical', 'lab.visits', 'PUBLIC \(every analyst\)');
SELECT provoked('GRANT SELECT (dept, cost) ON lab.visits TO team', 'critical', 'lab.visits', 'granted to team \(ana, team\)');
SELECT provoked('GRANT SELECT ON lab.parts_1 TO ana', 'critical', 'lab.parts_1', 'plain SQL');
SELECT provoked('GRANT INSERT ON lab.visits TO ana', 'critical', 'lab.visits', 'whether a key exists');
SELECT provoked('GRANT INSERT ON lab.parts TO ana', 'warning', 'lab.parts', 'INSERT');
SELECT provoked('GRANT UPDATE (dept) ON lab.visits TO ana', 'critical', 'lab.visits', 'UPDATE');
SELECT provoked('GRANT DELETE ON lab.visits TO ana', 'warning', 'lab.visits', 'DELETE');
SELECT provoked('GRANT TRUNCATE ON lab.visits TO ana', 'warning', 'lab.visits', 'TRUNCATE');
SELECT provoked('GRANT TRIGGER ON lab.visits TO ana', 'critical', 'lab.visits', 'TRIGGER');
SELECT provoked('GRANT REFERENCES ON lab.visits TO ana', 'warning', 'lab.visits', 'REFERENCES');
SELECT provoked('GRANT REFERENCES (id, dept) ON lab.visits TO ana', 'warning', 'lab.visits', 'REFERENCES', 'REVOKE REFERENCES (id, dept) ON lab.visits FROM ana');
GRANT REFERENCES (dept, cost) ON lab.visits TO ana;
SELECT is_empty('SELECT * FROM found', 'columns of which no foreign key can be made');
SELECT is((SELECT string_agg(column_name, ' ' ORDER BY column_name) FROM information_schema.columns WHERE table_schema = 'lab' AND table_name = 'visits'
	AND has_column_privilege('ana', 'lab.visits', column_name, 'REFERENCES')), 'cost dept', '... and information_schema shows them');
REVOKE REFERENCES (dept, cost) ON lab.visits FROM ana;
SELECT provoked('GRANT SELECT ON SEQUENCE lab.visits_id_seq TO ana', 'warning', 'lab.visits_id_seq', 'lab.visits');
SELECT provoked('GRANT INSERT ON dp_cdp_internal.budget TO ana', 'critical', 'dp_cdp_internal.budget', 'ledger');
SELECT provoked('ALTER DEFAULT PRIVILEGES FOR ROLE dba IN SCHEMA lab GRANT SELECT ON TABLES TO team',
	'warning', 'default privileges of dba', 'future tables');
GRANT SELECT ON lab.plain TO ana;
SELECT is_empty('SELECT * FROM found', 'other tables are no finding');

-- who holds SELECT and has no budget, as the finding says it
CREATE ROLE reader LOGIN;
GRANT SELECT ON lab.visits, lab.parts TO reader;
GRANT SELECT ON lab.visits TO dba, postgres;
SELECT is(as_role('reader', 'SELECT patient FROM lab.visits'), '5002 rows', 'SELECT without a budget shows rows');
SELECT is(as_role('reader', 'SELECT dp_count(*) FROM lab.visits'), 'ZC001', 'and gets no answer with noise');
SELECT results_eq('SELECT severity, object, finding, remedy FROM found', $$ VALUES ('info', 'dataset clinic',
	'plain SQL shows rows of its tables, without noise, to roles that hold SELECT; as they have no budget, their dp_* aggregates are refused: reader (lab.parts and 1 more)',
	'nothing, if they are to see rows; else REVOKE SELECT ON lab.parts FROM reader; REVOKE SELECT ON lab.visits FROM reader; and for answers with noise SELECT dp_cdp.set_budget(''clinic'', ''reader'', rho => ...)') $$,
	'check_setup() names them in one row');
SELECT matches(finding, 'warnings: 0. The promise holds', 'which is information') FROM dp_cdp.check_setup() LIMIT 1;
REVOKE SELECT ON lab.parts FROM reader;
ALTER TABLE lab.visits ENABLE ROW LEVEL SECURITY;
SELECT is(as_role('reader', 'SELECT count(*) FROM lab.visits'), 'ZC001', 'row-level security without a policy: refused without a budget');
SELECT provoked('SELECT', 'info', 'dataset clinic', 'shows them no rows; .* refused: reader \(lab.visits\)$', $$SELECT dp_cdp.set_budget('clinic', 'reader', rho => 1)$$);
SELECT is(as_role('reader', 'SELECT count(*) FROM lab.visits'), '1 rows', 'answered with a budget');
SELECT count(*) FROM dp_cdp.drop_budget('clinic', 'reader') \g /dev/null
SELECT provoked('CREATE POLICY p ON lab.visits TO reader USING (true)', 'info', 'dataset clinic', 'plain SQL shows rows',
	'DROP POLICY p ON lab.visits; REVOKE SELECT ON lab.visits FROM reader');
ALTER TABLE lab.visits DISABLE ROW LEVEL SECURITY;
SELECT provoked('GRANT SELECT (patient) ON lab.visits TO reader', 'info', 'dataset clinic', 'shows them no rows', 'REVOKE SELECT (patient) ON lab.visits FROM reader');

-- a table that lists the people, which a foreign key of the unit leads to
CREATE TABLE lab.people AS SELECT DISTINCT patient FROM lab.visits WHERE patient IS NOT NULL;
ALTER TABLE lab.people ADD PRIMARY KEY (patient), OWNER TO dba;
ALTER TABLE lab.visits ADD CONSTRAINT of_people FOREIGN KEY (patient) REFERENCES lab.people;
SELECT is_empty('SELECT * FROM found', 'nobody is told to show analysts who is in the data');
SELECT provoked('GRANT SELECT (patient) ON lab.people TO ana', 'info', 'lab.people', 'lists the people of protected table lab.visits, and ana may read', 'REVOKE SELECT (patient) ON lab.people FROM ana');
SELECT provoked('GRANT SELECT ON lab.people TO ana', 'info', 'lab.people', 'lists the people', $$SELECT dp_cdp.protect_table('lab.people', 'clinic', unit => 'patient'); REVOKE SELECT ON lab.people FROM ana$$);
SELECT dp_cdp.unprotect_table('lab.people') \g /dev/null
ALTER TABLE lab.visits DROP CONSTRAINT of_people;
DROP TABLE lab.people;

-- row-level security with no policy: the setup for tools that list tables
ALTER TABLE lab.visits ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON lab.visits TO team;
SELECT is_empty('SELECT * FROM found', 'SELECT under row-level security without a policy is no finding');
SELECT provoked('CREATE POLICY p ON lab.visits TO team USING (true)', 'critical', 'lab.visits', 'SELECT', 'DROP POLICY p ON lab.visits');
SELECT provoked('ALTER ROLE ana BYPASSRLS', 'critical', 'lab.visits', 'SELECT', 'ALTER ROLE ana NOBYPASSRLS');
REVOKE SELECT ON lab.visits FROM team;
ALTER TABLE lab.visits DISABLE ROW LEVEL SECURITY;

-- roles
SELECT provoked('ALTER ROLE ana BYPASSRLS', 'warning', 'role ana', 'row-level security');
SELECT provoked('ALTER ROLE ana REPLICATION', 'critical', 'role ana', 'replicate');
SELECT provoked('CREATE ROLE boss SUPERUSER IN ROLE team', 'critical', 'role boss', 'is a superuser', 'DROP ROLE boss');
CREATE ROLE root SUPERUSER;
SELECT provoked('GRANT root TO ana', 'critical', 'role ana', 'can act as role root');
SELECT provoked('GRANT pg_read_all_data TO ana', 'critical', 'role ana', 'reads every table');
SELECT provoked('GRANT pg_read_server_files TO team', 'critical', 'role ana', 'files', 'REVOKE pg_read_server_files FROM team');
SELECT provoked('GRANT pg_execute_server_program TO ana', 'critical', 'role ana', 'programs');
SELECT provoked('GRANT pg_write_all_data TO ana', 'warning', 'role ana', 'writes every table');
SELECT provoked('GRANT pg_monitor TO ana', 'warning', 'role ana', 'statistics', 'REVOKE pg_monitor FROM ana');
CREATE ROLE middle IN ROLE pg_read_all_data;
SELECT provoked('GRANT middle TO ana', 'critical', 'role ana', 'pg_read_all_data', 'REVOKE middle FROM ana');
SELECT provoked('GRANT dba TO ana', 'critical', 'role ana', 'owns protected table', 'REVOKE dba FROM ana');
SELECT provoked('GRANT dba TO ana', 'critical', 'role ana', 'owns dataset', 'REVOKE dba FROM ana');
SELECT provoked($$ SELECT dp_cdp.set_budget('clinic', 'dba', rho => 1) $$, 'critical', 'role dba', 'owns dataset',
	$$ SELECT dp_cdp.drop_budget('clinic', 'dba') $$);
SELECT CASE WHEN current_setting('server_version_num')::int < 160000 THEN
		(SELECT string_agg(p, E'\n') FROM provoked('ALTER ROLE ana CREATEROLE', 'critical', 'role ana', 'CREATEROLE') p)
	ELSE pass('CREATEROLE is tame from 16 on') || E'\n' || pass('so is what it creates') END;

-- other relations
SELECT provoked('CREATE TABLE lab.referrals (id int REFERENCES lab.visits); GRANT INSERT ON lab.referrals TO ana;
	SELECT dp_cdp.forget_name(''lab.referrals'', ''clinic'')',
	'warning', 'lab.referrals', 'foreign key referrals_id_fkey');
SELECT provoked('CREATE SCHEMA own AUTHORIZATION ana; CREATE TYPE own.mood AS ENUM (''a''); ALTER TYPE own.mood OWNER TO ana; GRANT USAGE ON SCHEMA own TO dba;
	ALTER TABLE lab.visits ADD m own.mood', 'warning', 'lab.visits', 'own.mood, of its column m, belongs to ana', 'ALTER TYPE own.mood OWNER TO dba');
SELECT provoked('CREATE COLLATION own.c FROM "C"; ALTER COLLATION own.c OWNER TO ana; ALTER TABLE lab.visits ADD w text COLLATE own.c', 'warning', 'lab.visits',
	'COLLATION own.c, of its column w', 'ALTER TABLE lab.visits DROP w, DROP m');
SELECT provoked('ALTER TABLE lab.parts_1 OWNER TO stranger', 'warning', 'lab.parts_1', 'belongs to stranger', 'ALTER TABLE lab.parts_1 OWNER TO dba');
SELECT provoked('SET ROLE dba; CREATE TABLE lab.codes (code int PRIMARY KEY); ALTER TABLE lab.visits ADD code int REFERENCES lab.codes; RESET ROLE', 'info', 'lab.visits',
	'keys of its column code are those of lab.codes, which team may not read', 'GRANT SELECT (code) ON lab.codes TO team');
SELECT provoked('SET ROLE dba; CREATE VIEW lab.v AS SELECT * FROM lab.visits; CREATE VIEW lab.vv AS SELECT * FROM lab.v;
	GRANT SELECT ON lab.vv TO ana; RESET ROLE', 'info', 'lab.vv', 'its owner''s rights');
SELECT provoked('SET ROLE dba; CREATE MATERIALIZED VIEW lab.m AS SELECT dept, sum(cost) FROM lab.v GROUP BY dept;
	GRANT SELECT ON lab.m TO ana; RESET ROLE', 'critical', 'lab.m', 'copy of rows of protected table lab.visits');
SELECT provoked('SET ROLE dba; CREATE MATERIALIZED VIEW lab.released AS SELECT dp_count(*) FROM lab.visits WITH NO DATA;
	GRANT SELECT ON lab.released TO ana; RESET ROLE', 'info', 'lab.released', 'review');
SELECT provoked('SET ROLE stranger; CREATE TEMP VIEW mine AS SELECT * FROM lab.visits; GRANT SELECT ON mine TO ana; RESET ROLE;
	GRANT SELECT ON lab.vv TO ana', 'info', 'lab.vv', 'owner');
SELECT provoked('SET ROLE dba; CREATE FUNCTION lab.raw(int) RETURNS SETOF numeric LANGUAGE plpgsql SECURITY DEFINER
		AS ''BEGIN RETURN QUERY SELECT cost FROM lab.visits WHERE patient = $1; END'';
	CREATE FUNCTION lab.visitors() RETURNS int LANGUAGE sql SECURITY DEFINER AS ''SELECT 1''; RESET ROLE',
	'info', 'function lab.raw(integer)', 'rights of dba');
SELECT provoked('SET ROLE dba; CREATE FUNCTION lab.atomic() RETURNS SETOF numeric LANGUAGE sql SECURITY DEFINER
		BEGIN ATOMIC SELECT cost FROM lab.visits; END; RESET ROLE',
	'info', 'function lab.atomic()', 'rights of dba');
GRANT CREATE ON SCHEMA lab TO ana;
SELECT provoked('SET ROLE ana; CREATE FUNCTION lab.spy() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NEW; END''; RESET ROLE;
	CREATE TRIGGER spy BEFORE INSERT ON lab.visits FOR EACH ROW EXECUTE FUNCTION lab.spy()',
	'critical', 'lab.visits', 'function lab.spy\(\), which belongs to ana', 'DROP TRIGGER spy ON lab.visits');
SELECT provoked('CREATE TABLE lab.elder (patient int, year int); GRANT SELECT ON lab.elder TO ana;
	INSERT INTO pg_inherits (inhrelid, inhparent, inhseqno, inhdetachpending)
		VALUES (''lab.visits''::regclass, ''lab.elder''::regclass, 1, false)',
	'critical', 'lab.elder', 'reads the rows of protected table lab.visits',
	'DELETE FROM pg_inherits WHERE inhrelid = ''lab.visits''::regclass; DROP TABLE lab.elder');

-- statistics
SELECT provoked('GRANT EXECUTE ON FUNCTION pg_stat_get_live_tuples(oid) TO ana', 'warning',
	'FUNCTION pg_catalog.pg_stat_get_live_tuples(pg_catalog.oid)', 'granted to ana');
SELECT provoked('GRANT SELECT (reltuples) ON pg_class TO team', 'warning', 'TABLE pg_catalog.pg_class', 'granted to team');
SELECT provoked('GRANT EXECUTE ON FUNCTION pg_stat_get_live_tuples(oid) TO PUBLIC', 'warning', 'statistics functions', 'open to PUBLIC',
	'SELECT dp_cdp.harden()');
SELECT provoked('CREATE EXTENSION pg_stat_statements', 'warning', 'functions of extensions', 'open to PUBLIC',
	'SELECT dp_cdp.harden()');
DROP EXTENSION pg_stat_statements;

-- settings
SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN
		(SELECT string_agg(p, E'\n') FROM provoked('GRANT SET ON PARAMETER log_min_messages TO team', 'warning',
			'setting log_min_messages', 'SET on it is granted to team') p)
	ELSE pass('no privileges on settings before 15') || E'\n' || pass('none to take away') END;

-- other servers
SELECT provoked('CREATE EXTENSION dblink', 'warning', 'extension dblink', 'PUBLIC may execute');
DROP EXTENSION dblink;
CREATE EXTENSION postgres_fdw;
CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'test');
CREATE USER MAPPING FOR ana SERVER loop OPTIONS (user 'dba');
SELECT is_empty('SELECT * FROM found', 'a mapping for a server that nobody may use');
SELECT provoked('GRANT USAGE ON FOREIGN SERVER loop TO ana', 'warning', 'server loop', 'user mapping for ana');

-- policies and budgets
SELECT provoked('ALTER TABLE lab.visits ALTER COLUMN patient DROP NOT NULL', 'info', 'lab.visits', 'patient is nullable');
SELECT provoked('UPDATE pg_seclabel SET label = label::jsonb - ''unit'' WHERE objoid = ''lab.parts''::regclass AND objsubid = 0',
	'warning', 'lab.parts', 'damaged',
	'UPDATE pg_seclabel SET label = label::jsonb || ''{"unit": true}'' WHERE objoid = ''lab.parts''::regclass AND objsubid = 0');
SELECT provoked('SELECT dp_cdp.alter_dataset(''clinic'', rho => ''Infinity'')', 'info', 'dataset clinic', 'a rho of 5');
SELECT provoked('SELECT dp_cdp.alter_dataset(dataset, rho => rho_spent::float8 + 0.001) FROM dp_cdp.datasets', 'warning', 'dataset clinic', 'its lifetime cap has only rho 0.001 left, less than one aggregate costs \(0.01\): all',
	'SELECT dp_cdp.alter_dataset(''clinic'', rho => 10)');
SELECT provoked('SELECT dp_cdp.alter_dataset(''clinic'', rho => 0.001)', 'warning', 'dataset clinic', 'its lifetime cap is spent: all its roles are refused',
	'SELECT dp_cdp.alter_dataset(''clinic'', rho => 10)');
SELECT dp_cdp.set_budget('clinic', 'team', rho => 5, period => '1 week');
SELECT provoked('SELECT dp_cdp.alter_dataset(''clinic'', rho => ''Infinity'')', 'warning', 'dataset clinic', 'in the long run');
CREATE ROLE temporary;
SELECT dp_cdp.set_budget('clinic', 'temporary', rho => 1);
\! psql -X -q -d postgres -c 'DROP ROLE temporary'
SELECT provoked('SELECT', 'warning', 'dataset clinic', 'budget of role temporary, which does not exist');

-- ledger and server
SELECT provoked('ALTER TABLE dp_cdp_internal.ledger_stamp DISABLE TRIGGER ALL;
	INSERT INTO dp_cdp_internal.ledger_stamp VALUES (true, 1, 1, 1, 1) ON CONFLICT (one) DO UPDATE SET system_id = 1;
	ALTER TABLE dp_cdp_internal.ledger_stamp ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate', 'warning', 'ledger', 'adopted', 'SELECT dp_cdp.adopt_ledger()');
SELECT matches(as_role('ana', 'SELECT dp_count(*) FROM lab.visits'), 'rows', 'and then there are answers');
SELECT is_empty('SELECT * FROM found', 'after which the ledger is at home');
ALTER SYSTEM SET fsync = off;
-- when new sessions have it, this one has been told
SELECT pg_reload_conf();
\! for i in $(seq 600); do psql -X -A -t -c 'SHOW fsync' | grep -q off && break; sleep 0.1; done
SELECT results_eq('SELECT severity, object FROM found', $$ VALUES ('warning', 'fsync') $$, 'fsync is off');
ALTER SYSTEM SET fsync = on;
SELECT pg_reload_conf();
\! for i in $(seq 600); do psql -X -A -t -c 'SHOW fsync' | grep -q on && break; sleep 0.1; done

-- owners see theirs
CREATE ROLE other LOGIN;
GRANT CREATE ON SCHEMA lab TO other;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO other;
SET SESSION AUTHORIZATION other;
CREATE TABLE lab.others (id int NOT NULL);
SELECT dp_cdp.create_dataset('other', rho => 1);
SELECT dp_cdp.protect_table('lab.others', 'other', 'id');
SELECT dp_cdp.set_budget('other', 'ana', rho => 1);
GRANT SELECT ON lab.others TO ana;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION dba;
SELECT is_empty('SELECT severity, object FROM dp_cdp.check_setup() WHERE object NOT LIKE ''database %''',
	'an owner is not told of others'' datasets');
SELECT matches(finding, 'Datasets: 1, protected tables: 3, analysts: 2;', 'nor counts them') FROM dp_cdp.check_setup();
SET SESSION AUTHORIZATION other;
SELECT results_eq('SELECT severity, object FROM dp_cdp.check_setup() WHERE object NOT LIKE ''database %''',
	$$ VALUES ('critical', 'lab.others') $$, 'but of its own');
RESET SESSION AUTHORIZATION;
SELECT is(count(*), 2::bigint, 'a superuser sees all') FROM dp_cdp.check_setup() WHERE object IN ('lab.others', 'database test');

-- tables whose rows are taken for a person each
SET SESSION AUTHORIZATION other;
CREATE TABLE lab.sick (nr int PRIMARY KEY, id int);
CREATE TABLE lab.bills (sick int REFERENCES lab.sick, before int, UNIQUE (before), FOREIGN KEY (before) REFERENCES lab.bills (before));
CREATE TABLE lab.alone (x int);
SELECT throws_ok('SELECT dp_cdp.protect_table(''lab.' || t || ''', ''other'')', 'ZC004', NULL, t || ': whose rows these are has to be said')
	FROM unnest('{sick,bills,alone}'::text[]) t;
SELECT dp_cdp.protect_table(t, 'other', each_row => true) FROM unnest('{lab.sick,lab.bills,lab.alone}'::regclass[]) t;
CREATE VIEW lab.each_row AS SELECT severity, object, finding, remedy FROM dp_cdp.check_setup() WHERE finding ~ 'person of its own';
SELECT results_eq('SELECT severity, object, finding FROM lab.each_row ORDER BY 1, 2', $$ VALUES
	('info', 'lab.alone', 'each row is taken for a person of its own: what is known of a person with n rows may be n * n times the rho'),
	('info', 'lab.bills', 'each row is taken for a person of its own: what is known of a person with n rows may be n * n times the rho'),
	('info', 'lab.sick', 'each row is taken for a person of its own: what is known of a person with n rows may be n * n times the rho'),
	('warning', 'lab.bills', 'each row is taken for a person of its own, but references protected table lab.sick'),
	('warning', 'lab.sick', 'each row is taken for a person of its own, but column id is the privacy unit of table lab.others') $$,
	'check_setup() names them, and warns where a column tells more');
SELECT set_config('lab.remedy', remedy, false) FROM lab.each_row WHERE (severity, object) = ('warning', 'lab.sick') \gset
SELECT lives_ok(current_setting('lab.remedy'), 'the remedy of a unit runs');
SELECT set_config('lab.remedy', remedy, false) FROM lab.each_row WHERE (severity, object) = ('warning', 'lab.bills') \gset
SELECT lives_ok(current_setting('lab.remedy'), 'the remedy of a foreign key runs');
SELECT results_eq('SELECT severity, object FROM lab.each_row', $$ VALUES ('info', 'lab.alone') $$, 'and both help');
-- a unit that is a key by itself, and keys that lead in and out
CREATE TABLE lab.folk (nr int PRIMARY KEY, of_sick int REFERENCES lab.sick);
CREATE TABLE lab.stays (folk int NOT NULL REFERENCES lab.folk);
SELECT is((dp_cdp.protect_table('lab.folk', 'other', unit => 'nr')).warnings,
	ARRAY['table "folk": each row is taken for a person of its own, as unit nr is different in each, but references protected table lab.sick.'
		|| ' Unless that is meant: SELECT dp_cdp.unprotect_table(''lab.folk''), dp_cdp.protect_table(''lab.folk'', ''other'', through => ''of_sick'')'], 'protect_table warns of a unit that is a key');
ALTER TABLE lab.folk DROP of_sick;
SELECT results_eq('SELECT severity, finding FROM lab.each_row WHERE object = ''lab.folk''', $$ VALUES
	('info', 'each row is taken for a person of its own, as unit nr is different in each: what is known of a person with n rows may be n * n times the rho') $$, 'check_setup() says so');
SELECT dp_cdp.unprotect_table('lab.folk') \g /dev/null
SELECT dp_cdp.protect_table('lab.folk', 'other', each_row => true) \g /dev/null
SELECT dp_cdp.protect_table('lab.stays', 'other', unit => 'folk') \g /dev/null
SELECT results_eq('SELECT severity, finding, remedy FROM lab.each_row WHERE object = ''lab.folk'' ORDER BY 1 DESC LIMIT 1', $$ VALUES
	('warning', 'each row is taken for a person of its own, but column nr is what the privacy unit of table lab.stays references',
	'SELECT dp_cdp.unprotect_table(''lab.folk''), dp_cdp.protect_table(''lab.folk'', ''other'', unit => ''nr'')') $$, 'rows that the units of another table reference');
RESET SESSION AUTHORIZATION;

SELECT * FROM finish();
