-- The owner of the database, who is no superuser: what he may do where a superuser has made the extension, what is
-- refused to him, and what he tries to get beyond that.

SET client_min_messages = error;
SELECT no_plan();

CREATE ROLE dba LOGIN;
CREATE ROLE other LOGIN;
CREATE ROLE ana LOGIN;
CREATE ROLE stranger LOGIN;
ALTER DATABASE test OWNER TO dba;
CREATE SCHEMA clinic AUTHORIZATION other;
GRANT USAGE ON SCHEMA clinic TO PUBLIC;

-- how a statement of a role ends, and with which hint
CREATE FUNCTION ends(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text := 'done';
	hint text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', role);
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
		message := concat_ws(' ', SQLSTATE, SQLERRM, hint);
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN message;
END $$;
CREATE FUNCTION done(role text, statement text) RETURNS text LANGUAGE sql
	AS $$ SELECT is(ends(role, statement), 'done', role || ': ' || statement) $$;
CREATE FUNCTION refused(role text, statement text, says text DEFAULT '^42501') RETURNS text LANGUAGE sql
	AS $$ SELECT matches(ends(role, statement), says, role || ' is refused: ' || statement) $$;

-- ------------------------------------------------------------------------
-- what he may do, without anybody's GRANT
-- ------------------------------------------------------------------------

SELECT done('dba', 'SELECT * FROM dp_cdp.check_setup()');
SET SESSION AUTHORIZATION dba;
SELECT matches(finding, '^Datasets: 0, protected tables: 0, analysts: 0; critical findings: 0, warnings: [0-9]+[.]', 'asked before there is a dataset')
	FROM dp_cdp.check_setup() LIMIT 1;
SELECT set_has('SELECT object, remedy, by_superuser FROM dp_cdp.check_setup()', $$ VALUES
	('functions that leave traces', 'SELECT * FROM dp_cdp.harden()', true),
	('pg_class', 'SELECT * FROM dp_cdp.harden()', true),
	('size functions', 'SELECT * FROM dp_cdp.harden()', true),
	('statistics functions', 'SELECT * FROM dp_cdp.harden()', true) $$, 'what a superuser has to do has its statement');
RESET SESSION AUTHORIZATION;
SELECT refused('stranger', 'SELECT * FROM dp_cdp.check_setup()', '^42501 only superusers, the owner of the database and owners of datasets may call');
\set said `psql -X -c 'SET SESSION AUTHORIZATION stranger' -c "SELECT dp_cdp.create_dataset('mine')" -c 'SELECT * FROM dp_cdp.harden()' 2>&1`
SELECT matches(:'said'::text, 'permission denied for function create_dataset\s+HINT:  The owner of the database, or a superuser, grants it: GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO stranger[.]', 'others are told who grants it');
SELECT matches(:'said'::text, 'permission denied for function harden\s+HINT:  A superuser calls it, or the owner of the database for what is his[.]', '... and who hardens');
SELECT is_empty($$ SELECT object, grantee::regrole FROM dp_cdp_internal.member_grants() WHERE NOT given $$, 'it is the script''s');

SET SESSION AUTHORIZATION dba;
CREATE SCHEMA saas;
CREATE TABLE saas.visits (patient int NOT NULL, dept text NOT NULL, cost int);
INSERT INTO saas.visits SELECT i % 500, 'd' || i % 3, i % 100 FROM generate_series(1, 5000) i;
GRANT USAGE ON SCHEMA saas TO ana;
RESET SESSION AUTHORIZATION;
SELECT done('dba', s) FROM unnest(ARRAY[
	$$SELECT dp_cdp.create_dataset('saas', rho => 2)$$,
	$$SELECT dp_cdp.protect_table('saas.visits', 'saas', unit => 'patient')$$,
	$$SELECT dp_cdp.set_bounds('saas.visits', 'cost', 0, 100)$$,
	$$SELECT dp_cdp.set_keys('saas.visits', 'dept', ARRAY['d0', 'd1', 'd2'])$$,
	$$SELECT dp_cdp.set_budget('saas', 'ana', rho => 1)$$,
	$$SELECT dp_cdp.alter_dataset('saas', default_rho => 0.02)$$,
	$$SELECT dp_cdp.check_data('saas')$$,
	$$SELECT dp_cdp.report('saas')$$,
	$$SELECT dp_cdp.certificate('saas')$$,
	$$SELECT dp_cdp.spent_together('saas', '{ana}')$$,
	$$SELECT dp_cdp.forget_answers('saas')$$,
	$$SELECT dp_cdp.reset_failures('saas', 'ana')$$,
	$$SELECT dp_cdp.prune_releases(now() - interval '1 year')$$,
	$$SELECT FROM dp_cdp.worker_slots()$$,
	$$SELECT dp_cdp.set_budget('saas', 'stranger', rho => 1)$$,
	$$SELECT dp_cdp.drop_budget('saas', 'stranger')$$]) s;
SET SESSION AUTHORIZATION dba;
SELECT is(dp_cdp.correct_spent('saas', 'ana', 0.001, 'told by mail'), 0.001, 'correct_spent');
SELECT ok(count(*) > 0, 'suggest_limits') FROM dp_cdp.suggest_limits('saas.visits', 0.01);
SELECT matches(dp_cdp.report('saas'), 'dp_cdp.harden\(\)</code> by a superuser', 'his report says who closes what is open');
SET SESSION AUTHORIZATION ana;
SELECT ok(count(*) BETWEEN 4000 AND 6000, 'an analyst is answered') FROM saas.visits;
SET SESSION AUTHORIZATION dba;
SELECT is(count(*), 1::bigint, 'he sees who asked') FROM dp_cdp.releases WHERE role = 'ana'::regrole AND granted AND aggregates = 'count(*)';

-- he lets others make datasets, which are theirs
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO other;
SET SESSION AUTHORIZATION other;
CREATE TABLE clinic.stays (patient int NOT NULL, days int);
INSERT INTO clinic.stays SELECT i, i % 30 FROM generate_series(1, 1000) i;
CREATE VIEW clinic.long_stays AS SELECT * FROM clinic.stays WHERE days > 7;
GRANT SELECT ON clinic.long_stays TO ana;
SELECT is((SELECT rho FROM dp_cdp.create_dataset('clinic', rho => 1)), 1::numeric, 'whom he lets makes one');
SELECT lives_ok($$ SELECT dp_cdp.protect_table('clinic.stays', 'clinic', unit => 'patient') $$);
SELECT lives_ok($$ SELECT dp_cdp.set_budget('clinic', 'ana', rho => 0.1) $$);
RESET SESSION AUTHORIZATION;
SELECT refused('other', $$ SELECT * FROM dp_cdp.harden() $$);
SELECT done('other', 'GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO stranger');		-- which gives nothing, but a warning
SELECT ok(NOT has_function_privilege('stranger', 'dp_cdp.create_dataset'::regproc, 'EXECUTE'), 'nobody else may');

-- what he is told ends at his datasets
SET SESSION AUTHORIZATION dba;
SELECT matches(finding, '^Datasets: 1, protected tables: 1, analysts: 1;', 'check_setup() counts his own') FROM dp_cdp.check_setup() LIMIT 1;
SELECT is_empty('SELECT * FROM dp_cdp.check_setup() WHERE (object, finding)::text ~ ''clinic|other''', 'and names nothing of others');
SELECT is_empty('SELECT * FROM dp_cdp.budgets WHERE dataset = ''clinic''', 'he sees none of their budgets');
SELECT is_empty('SELECT * FROM dp_cdp.releases WHERE dataset = ''clinic''', 'nor their releases');
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------------------
-- harden() with his rights
-- ------------------------------------------------------------------------

-- pgcrypto is an extension that he makes himself, and its functions are a superuser's; one that he adds is his
SET SESSION AUTHORIZATION dba;
CREATE EXTENSION pgcrypto SCHEMA saas;
CREATE EXTENSION hstore SCHEMA saas;
CREATE FUNCTION saas.rows_of() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = '' AS 'SELECT count(*) FROM saas.visits';
ALTER EXTENSION hstore ADD FUNCTION saas.rows_of();
CREATE TEMP TABLE listed AS SELECT * FROM dp_cdp.harden(apply => false);
SELECT ok(count(*) > 50 AND NOT bool_or(done), 'a list') FROM listed;
SELECT ok(has_function_privilege('stranger', 'saas.rows_of()', 'EXECUTE'), 'which changes nothing');
SELECT set_eq('SELECT object, remedy, by_superuser FROM dp_cdp.check_setup() WHERE object = ''functions of extensions''',
	$$ VALUES ('functions of extensions', 'SELECT * FROM dp_cdp.harden(); -- as owner of them', false) $$, 'his own are a finding that he can mend');
CREATE TEMP TABLE closed AS SELECT * FROM dp_cdp.harden();
SELECT set_eq('SELECT object, action FROM closed', 'SELECT object, action FROM listed', 'he is shown all that there is to do');
SELECT set_eq('SELECT object, action FROM closed WHERE done', $$ VALUES ('FUNCTION saas.rows_of()', 'REVOKE EXECUTE FROM PUBLIC'),
	('FUNCTION saas.rows_of()', 'GRANT EXECUTE TO pg_monitor') $$, 'and what he owns is done');
SELECT ok(NOT has_function_privilege('stranger', 'saas.rows_of()', 'EXECUTE'), 'it is closed');
SELECT ok(has_function_privilege('stranger', 'pg_relation_size(regclass)', 'EXECUTE') AND has_column_privilege('stranger', 'pg_class', 'reltuples', 'SELECT'),
	'PostgreSQL''s are as they were');
SELECT is_empty('SELECT * FROM dp_cdp.check_setup() WHERE object = ''functions of extensions''', 'the finding is gone');
SELECT throws_ok('SELECT * FROM dp_cdp.harden(keep_open => ARRAY[''none''])', 'ZC004');
RESET SESSION AUTHORIZATION;
SELECT is(count(*), 0::bigint, 'unharden() would not know of it') FROM dp_cdp_internal.hardened;
\set said `psql -X -c 'SET SESSION AUTHORIZATION dba' -c 'SELECT count(*) FROM dp_cdp.harden()' 2>&1`
SELECT matches(:'said'::text, 'NOTICE:  [0-9]+ objects are not yours, and stay open: a superuser closes them in this database by SELECT [*] FROM dp_cdp.harden\(\)', 'he is told who does the rest');

-- the statement of the findings, in a superuser's hands
SELECT count(*) FROM dp_cdp.harden() \g /dev/null
SET SESSION AUTHORIZATION dba;
SELECT is_empty($$ SELECT * FROM dp_cdp.check_setup() WHERE remedy ~ 'harden' $$, 'a superuser has closed the rest');
SELECT is_empty('SELECT * FROM dp_cdp.harden()', 'nothing is left to do');
RESET SESSION AUTHORIZATION;
SELECT refused('dba', 'SELECT * FROM dp_cdp.unharden()');
SELECT refused('dba', 'GRANT EXECUTE ON FUNCTION pg_catalog.pg_relation_size(regclass) TO PUBLIC');
SELECT ok(NOT has_function_privilege('stranger', 'pg_relation_size(regclass)', 'EXECUTE'), 'he opens nothing again');
SELECT count(*) FROM dp_cdp.unharden() \g /dev/null
SELECT ok(NOT has_function_privilege('stranger', 'saas.rows_of()', 'EXECUTE'), 'what he has closed stays so');
SELECT count(*) FROM dp_cdp.harden() \g /dev/null

-- an extension of his that comes later: its functions belong to the superuser who runs its script
SELECT done('dba', 'ALTER EXTENSION hstore DROP FUNCTION saas.rows_of(); DROP EXTENSION hstore; DROP EXTENSION pgcrypto; DROP FUNCTION saas.rows_of()');

-- ------------------------------------------------------------------------
-- by_superuser is true where he cannot run the remedy, and nowhere else
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION dba;
SELECT lives_ok($$ SELECT dp_cdp.alter_dataset('saas', rho => 'Infinity') $$);
SELECT lives_ok($$ SELECT dp_cdp.set_budget('saas', 'dba', rho => 1) $$);
RESET SESSION AUTHORIZATION;
CREATE EXTENSION dblink SCHEMA saas;
CREATE SERVER far FOREIGN DATA WRAPPER dblink_fdw OPTIONS (dbname 'test');
ALTER ROLE ana REPLICATION BYPASSRLS;
GRANT EXECUTE ON FUNCTION pg_relation_size(regclass) TO ana;
GRANT SELECT (reltuples) ON pg_class TO ana;
GRANT EXECUTE ON FUNCTION dp_cdp.empty_ledger() TO ana;
GRANT INSERT ON dp_cdp_internal.budget TO ana;
GRANT SELECT ON dp_cdp.audit TO ana;
GRANT CREATE ON SCHEMA dp_cdp TO ana;
GRANT USAGE ON TYPE dp_cdp_internal.grid TO ana;
GRANT SET ON PARAMETER log_statement TO ana;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO PUBLIC;
ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ledger_guard;
ALTER EVENT TRIGGER dp_cdp_keep_ledger DISABLE;
SET SESSION AUTHORIZATION dba;
GRANT SELECT, INSERT, UPDATE, TRIGGER, REFERENCES ON saas.visits TO ana;
ALTER DEFAULT PRIVILEGES IN SCHEMA saas GRANT SELECT ON TABLES TO ana;
CREATE MATERIALIZED VIEW saas.copied AS TABLE saas.visits;
CREATE TABLE saas.again AS TABLE saas.visits;
GRANT SELECT ON saas.copied, saas.again TO ana;
CREATE FUNCTION saas.costs() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(cost) FROM saas.visits';
CREATE TABLE saas."ledger" (patient int, dept text, cost int);
GRANT SELECT ON saas."ledger" TO ana;

-- how each remedy that is one statement ends for a role, and whether its finding is gone then; all of it is undone
CREATE FUNCTION saas.tried(role text, which boolean[]) RETURNS TABLE (object text, finding text, remedy text, by_superuser boolean, ended text) LANGUAGE plpgsql AS $$
DECLARE
	f record;
BEGIN
	SET LOCAL SESSION AUTHORIZATION dba;
	FOR f IN SELECT * FROM dp_cdp.check_setup() c WHERE c.remedy ~ '^(SELECT|REVOKE|GRANT|DROP|ALTER (?!SYSTEM)|CREATE|SET ROLE)' AND c.remedy !~ '[.][.][.]' AND c.by_superuser = ANY (which) LOOP
		SELECT f.object, f.finding, f.remedy, f.by_superuser INTO object, finding, remedy, by_superuser;
		BEGIN
			EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', role);
			EXECUTE regexp_replace(f.remedy, ', or SELECT .*|; -- if .*', '');
			SET LOCAL SESSION AUTHORIZATION dba;
			IF EXISTS (SELECT FROM dp_cdp.check_setup() c WHERE (c.object, c.finding) = (f.object, f.finding)) THEN
				RAISE EXCEPTION USING ERRCODE = 'ZZ001', MESSAGE = 'found still';
			END IF;
			RAISE EXCEPTION USING ERRCODE = 'ZZ002';
		EXCEPTION
			WHEN SQLSTATE 'ZZ002' THEN ended := 'mended';
			WHEN OTHERS THEN ended := SQLSTATE || ' ' || SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
	RESET SESSION AUTHORIZATION;
END $$;
RESET SESSION AUTHORIZATION;
CREATE TEMP TABLE tries AS SELECT 'dba' AS who, t.* FROM saas.tried('dba', '{t,f}') t UNION ALL SELECT 'postgres', t.* FROM saas.tried('postgres', '{t}') t;
SELECT ok(count(*) FILTER (WHERE by_superuser) >= 12 AND count(*) FILTER (WHERE NOT by_superuser) >= 8, 'there are enough of both kinds') FROM tries WHERE who = 'dba';
SELECT matches(ended, CASE WHEN by_superuser THEN '^(42501|ZZ001)' ELSE '^mended$' END, concat_ws(' ', 'the owner:', object, finding, '->', remedy))
	FROM tries WHERE who = 'dba';
SELECT is(ended, 'mended', concat_ws(' ', 'a superuser:', object, finding, '->', remedy)) FROM tries WHERE who = 'postgres';
SELECT is(by_superuser, false, 'a table with the name of something else is a table') FROM tries WHERE who = 'dba' AND object = 'saas.ledger';

-- what he has granted himself he takes back, and so does a superuser
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM PUBLIC;
SET SESSION AUTHORIZATION dba;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO PUBLIC;
RESET SESSION AUTHORIZATION;
SELECT set_eq('SELECT by_superuser, ended FROM saas.tried(''' || r || ''', ''{f}'') WHERE object ~ ''create_dataset''', $$ VALUES (false, 'mended') $$, r || ' takes back what the owner has granted to PUBLIC')
	FROM unnest('{dba,postgres}'::text[]) r;
SET SESSION AUTHORIZATION dba;
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM PUBLIC;
RESET SESSION AUTHORIZATION;

-- the server's
SELECT is(dp_cdp_internal.takes_superuser(o, r), t, o || ': ' || r) FROM (VALUES
	('shared_preload_libraries', 'add dp_cdp to shared_preload_libraries and restart the server', true),
	('max_worker_processes', 'ALTER SYSTEM SET max_worker_processes = 20; then restart the server', true),
	('ledger', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => ...)', true),
	('fsync', 'ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()', true),
	('dp_cdp_internal.release_log_id_seq', 'SELECT setval(''dp_cdp_internal.release_log_id_seq'', 7)', true),
	('audit', 'nothing is to be done: their order is that of their numbers', false),
	('dataset saas', 'SELECT dp_cdp.alter_dataset(''saas'', rho => 1)', false),
	('role ana', 'SELECT dp_cdp.drop_budget(''saas'', ''ana'')', false)) AS v(o, r, t);

DROP EXTENSION dblink CASCADE;
ALTER ROLE ana NOREPLICATION NOBYPASSRLS;
REVOKE EXECUTE ON FUNCTION pg_relation_size(regclass) FROM ana;
REVOKE SELECT (reltuples) ON pg_class FROM ana;
REVOKE EXECUTE ON FUNCTION dp_cdp.empty_ledger() FROM ana;
REVOKE INSERT ON dp_cdp_internal.budget FROM ana;
REVOKE SELECT ON dp_cdp.audit FROM ana;
REVOKE CREATE ON SCHEMA dp_cdp FROM ana;
REVOKE USAGE ON TYPE dp_cdp_internal.grid FROM ana;
REVOKE SET ON PARAMETER log_statement FROM ana;
ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard;
ALTER EVENT TRIGGER dp_cdp_keep_ledger ENABLE ALWAYS;
SET SESSION AUTHORIZATION dba;
DROP MATERIALIZED VIEW saas.copied;
DROP TABLE saas.again, saas."ledger";
DROP FUNCTION saas.costs();
REVOKE ALL ON saas.visits FROM ana;
ALTER DEFAULT PRIVILEGES IN SCHEMA saas REVOKE SELECT ON TABLES FROM ana;
SELECT lives_ok($$ SELECT dp_cdp.drop_budget('saas', 'dba') $$);
SELECT lives_ok($$ SELECT dp_cdp.alter_dataset('saas', rho => 2) $$);
SELECT is_empty($$ SELECT severity, object, finding FROM dp_cdp.check_setup() WHERE severity <> 'info' AND object NOT IN ('fsync', 'full_page_writes', 'max_worker_processes') $$, 'all is mended');
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------------------
-- what is refused to him
-- ------------------------------------------------------------------------

SELECT refused('dba', s) FROM unnest(ARRAY[
	-- other owners' datasets
	$$SELECT dp_cdp.set_budget('clinic', 'ana', rho => 9)$$,
	$$SELECT dp_cdp.set_budget('clinic', 'dba', rho => 9)$$,
	$$SELECT dp_cdp.drop_budget('clinic', 'ana')$$,
	$$SELECT dp_cdp.alter_dataset('clinic', rho => 9)$$,
	$$SELECT dp_cdp.alter_dataset('clinic', new_owner => 'dba')$$,
	$$SELECT dp_cdp.drop_dataset('clinic', erase_spent => true)$$,
	$$SELECT dp_cdp.correct_spent('clinic', 'ana', 0.01, 'x')$$,
	$$SELECT dp_cdp.correct_spent('saas', 'ana', -0.01, 'x')$$,
	$$SELECT dp_cdp.reset_failures('clinic', 'ana')$$,
	$$SELECT dp_cdp.forget_answers('clinic')$$,
	$$SELECT dp_cdp.suggest_limits('clinic.stays', 0.01)$$,
	-- other owners' tables
	$$SELECT dp_cdp.protect_table('clinic.stays', 'saas', unit => 'patient')$$,
	$$SELECT dp_cdp.unprotect_table('clinic.stays')$$,
	$$SELECT dp_cdp.set_bounds('clinic.stays', 'days', 0, 1)$$,
	$$SELECT dp_cdp.set_keys('clinic.stays', 'days', ARRAY[1])$$,
	$$SELECT dp_cdp.drop_bounds('clinic.stays', 'days')$$,
	$$SELECT dp_cdp.replace_table('clinic.stays', 'saas.visits')$$,
	$$SECURITY LABEL FOR dp_cdp ON TABLE clinic.stays IS NULL$$,
	$$SECURITY LABEL FOR dp_cdp ON COLUMN clinic.stays.patient IS NULL$$,
	$$SECURITY LABEL FOR dp_cdp ON TABLE saas.visits IS '{"dataset": "clinic", "unit": true}'$$,
	$$SECURITY LABEL FOR dp_cdp ON FUNCTION saas.tried(text, boolean[]) IS '{"allow": true}'$$,
	$$SECURITY LABEL FOR dp_cdp ON ROLE ana IS '{"names": ["other"]}'$$,
	$$ALTER TABLE clinic.stays RENAME TO old$$,
	$$ALTER TABLE saas.visits INHERIT clinic.stays$$,
	-- the ledger
	$$UPDATE dp_cdp_internal.budget SET rho_spent = 0$$,
	$$DELETE FROM dp_cdp_internal.release_log$$,
	$$TRUNCATE dp_cdp_internal.budget$$,
	$$INSERT INTO dp_cdp_internal.dataset (name, owner, delta_limit, default_rho, default_delta, max_groups, max_rows, neighbors) SELECT 'x', oid, 1e-6, 1, 1e-9, 1, 1, 'add_remove' FROM pg_roles WHERE rolname = 'dba'$$,
	$$SELECT * FROM dp_cdp_internal.release_log$$,
	$$DROP TABLE dp_cdp_internal.budget CASCADE$$,
	$$DROP TRIGGER ledger_guard ON dp_cdp_internal.budget$$,
	$$ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ALL$$,
	$$ALTER TABLE dp_cdp_internal.budget OWNER TO dba$$,
	$$CREATE TRIGGER mine BEFORE INSERT ON dp_cdp_internal.budget EXECUTE FUNCTION suppress_redundant_updates_trigger()$$,
	$$CREATE RULE mine AS ON INSERT TO dp_cdp_internal.release_log DO INSTEAD NOTHING$$,
	$$CREATE INDEX ON dp_cdp_internal.budget (role)$$,
	$$ALTER SEQUENCE dp_cdp_internal.release_log_id_seq RESTART$$,
	$$SELECT setval('dp_cdp_internal.ledger_id_seq', 1)$$,
	$$SELECT dp_cdp.empty_ledger()$$,
	$$SELECT dp_cdp.adopt_ledger()$$,
	$$SELECT dp_cdp.adopt_role('ana', 'other')$$,
	$$SELECT dp_cdp.accept_clock()$$,
	$$SELECT dp_cdp.debit_budget('saas', 0.1, 0)$$,
	$$SELECT * FROM dp_cdp.check_ledger()$$,
	$$SELECT dp_cdp.register_standby('mine', 'dba')$$,
	$$SELECT dp_cdp.allow_function('saas.tried(text, boolean[])')$$,
	-- the extension and its objects
	$$ALTER EXTENSION dp_cdp UPDATE$$,
	$$DROP EXTENSION dp_cdp CASCADE$$,
	$$ALTER EXTENSION dp_cdp ADD FUNCTION saas.tried(text, boolean[])$$,
	$$ALTER EXTENSION dp_cdp DROP FUNCTION dp_cdp.harden(boolean, text[])$$,
	$$DROP SCHEMA dp_cdp CASCADE$$,
	$$ALTER SCHEMA dp_cdp RENAME TO elsewhere$$,
	$$CREATE TABLE dp_cdp.mine ()$$,
	$$CREATE FUNCTION dp_cdp_internal.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'$$,
	$$CREATE OR REPLACE FUNCTION dp_cdp_internal.server_facts(OUT preloaded boolean, OUT after_citus boolean, OUT ledger_waits boolean) LANGUAGE sql AS 'SELECT true, true, false'$$,
	$$ALTER FUNCTION dp_cdp.check_ledger() SECURITY INVOKER$$,
	$$ALTER FUNCTION dp_cdp.set_budget(text, regrole, float8, float8, float8, interval) RESET ALL$$,
	$$DROP EVENT TRIGGER dp_cdp_keep_ledger$$,
	$$ALTER EVENT TRIGGER dp_cdp_extensions DISABLE$$,
	$$CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION dp_cdp_internal.tell_of_extension()$$,
	-- settings that decide about the guard
	$$SET session_replication_role = replica$$,
	$$ALTER DATABASE test SET session_replication_role = replica$$,
	$$ALTER DATABASE test SET allow_system_table_mods = on$$,
	$$ALTER DATABASE test SET session_preload_libraries = 'x'$$]) s;
SELECT refused('dba', 'ALTER SYSTEM SET dp_cdp.notice_copies = off', '^(25001|42501)');
SELECT refused('dba', s, '^ZC004') FROM unnest(ARRAY[$$SELECT dp_cdp.check_data('clinic')$$, $$SELECT dp_cdp.report('clinic')$$,
	$$SELECT dp_cdp.certificate('clinic')$$, $$SELECT dp_cdp.forget_name('clinic.stays', 'clinic')$$]) s;
SELECT refused('dba', s, '^55P02') FROM unnest(ARRAY['SET dp_cdp.notice_copies = off', 'ALTER DATABASE test SET dp_cdp.notice_copies = off']) s;
SELECT refused('dba', s, '^2BP01') FROM unnest(ARRAY['DROP FUNCTION public.dp_noise_stddev("any")', 'DROP AGGREGATE public.dp_count("any")']) s;

-- his schema public is that of the aggregates, and the extension would go with it: first with what was spent, which
-- is refused to everybody, and then where nothing was
SELECT refused('dba', 'DROP SCHEMA public CASCADE', '^(2BP01|42501) .*extension dp_cdp');

-- ------------------------------------------------------------------------
-- attacks
-- ------------------------------------------------------------------------

-- names: a schema of his before all others, for everybody
SET SESSION AUTHORIZATION dba;
CREATE SCHEMA evil;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
CREATE TABLE evil.seen (who text, what text);
GRANT ALL ON evil.seen TO PUBLIC;
CREATE FUNCTION evil.see(text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.seen VALUES (current_user, $1); RETURN true; END $$;
DO $$
DECLARE
	one record;
BEGIN
	-- all that the extension's statements may compare without a cast
	FOR one IN SELECT format('evil.op_%s', row_number() OVER ()) AS f, l, r, o
		FROM unnest('{oid,regrole,regclass,regproc,regnamespace,name,text,bigint,integer,"char"}'::text[]) l,
			unnest('{oid,regrole,regclass,regproc,regnamespace,name,text,bigint,integer,"char"}'::text[]) r, unnest('{=,<>}'::text[]) o
	LOOP
		EXECUTE format('CREATE FUNCTION %s(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', one.f, one.l, one.r,
			format('BEGIN RETURN evil.see(%L); END', one.l || one.o || one.r));
		EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s)', one.o, one.l, one.r, one.f);
	END LOOP;
END $$;
CREATE FUNCTION evil.format(text, text) RETURNS text LANGUAGE sql AS $$ SELECT evil.see('format')::text $$;
CREATE FUNCTION evil.quote_ident(name) RETURNS text LANGUAGE sql AS $$ SELECT evil.see('quote_ident')::text $$;
CREATE FUNCTION evil.count(text) RETURNS bigint LANGUAGE sql AS $$ SELECT evil.see('count')::int $$;
CREATE VIEW evil.pg_class AS SELECT oid, relname FROM pg_catalog.pg_class WHERE evil.see('pg_class');
CREATE VIEW evil.pg_roles AS SELECT oid, rolname, true AS rolsuper FROM pg_catalog.pg_roles WHERE evil.see('pg_roles');
ALTER DATABASE test SET search_path = evil, pg_catalog, public;
RESET SESSION AUTHORIZATION;
\set said `psql -XAt -c 'SHOW search_path' -c 'SELECT dp_cdp.check_setup()' -c 'SELECT dp_cdp.check_ledger()' -c 'SELECT dp_cdp.harden()' -c "SELECT dp_cdp.set_budget('saas', 'ana', rho => 1)" -c "SELECT dp_cdp.set_budget('clinic', 'ana', rho => 0.2)" -c "SELECT dp_cdp.report('saas')" -c "SELECT dp_cdp.suggest_limits('saas.visits', 0.01)" -c 'TABLE dp_cdp.budgets' -c 'TABLE dp_cdp.overview' -c 'TABLE dp_cdp.metrics' -c 'TABLE dp_cdp.settings' -c 'SET SESSION AUTHORIZATION ana' -c 'SELECT dp_count(*) AS answered FROM saas.visits' 2>&1`
SELECT matches(:'said'::text, '^evil, pg_catalog, public\s.*database test.*SET\s+-?[0-9]+$', 'sessions begin with his search_path');
SELECT is(strpos(:'said', 'ERROR'), 0, 'which hinders nobody');
SELECT is((SELECT string_agg(DISTINCT who || ' ' || what, ', ') FROM evil.seen), NULL, 'nobody but he runs what is in it');
ALTER DATABASE test RESET search_path;

-- code of his beside the rows of a table of his, which a superuser administers for once
SET SESSION AUTHORIZATION dba;
CREATE FUNCTION evil.spy(what text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'dba' THEN
		RAISE EXCEPTION 'seen: % as %', what, current_user USING ERRCODE = 'ZZ009';
	END IF;
	RETURN true;
END $$;
CREATE DOMAIN saas.money AS numeric CHECK (evil.spy('domain'));
CREATE DOMAIN saas.word AS text CHECK (evil.spy('domain'));
CREATE TYPE saas.mood AS ENUM ('good', 'bad');
CREATE FUNCTION evil.mood_text(saas.mood) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT evil.spy('cast')::text $$;
CREATE CAST (saas.mood AS text) WITH FUNCTION evil.mood_text(saas.mood);
CREATE TABLE saas.bait (patient int NOT NULL, amount saas.money, word saas.word, mood saas.mood);
INSERT INTO saas.bait SELECT i, i, 'w', 'good' FROM generate_series(1, 100) i;
CREATE INDEX ON saas.bait ((evil.spy('index')));
CREATE INDEX ON saas.bait (amount) WHERE evil.spy('predicate');
ALTER TABLE saas.bait ADD CHECK (evil.spy('check'));
ALTER TABLE saas.bait ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON saas.bait USING (evil.spy('policy'));
RESET SESSION AUTHORIZATION;
SELECT lives_ok(s, 'a superuser: ' || s) FROM unnest(ARRAY[
	$$SELECT dp_cdp.protect_table('saas.bait', 'saas', unit => 'patient')$$,
	$$SELECT dp_cdp.set_bounds('saas.bait', 'amount', 0, 10)$$,
	$$SELECT dp_cdp.set_bounds('saas.bait', 'amount', '0', '10')$$,
	$$SELECT dp_cdp.set_keys('saas.bait', 'word', ARRAY['w', 'v'])$$,
	$$SELECT dp_cdp.set_keys('saas.bait', 'mood', ARRAY['good', 'bad'])$$,
	$$SELECT dp_cdp.suggest_limits('saas.bait', 0.01)$$,
	$$SELECT dp_cdp.check_setup()$$,
	$$SELECT dp_cdp.report('saas')$$,
	$$SELECT dp_cdp.certificate('saas')$$]) s;
SET SESSION AUTHORIZATION ana;
SELECT lives_ok(s, 'an analyst: ' || s) FROM unnest(ARRAY[
	$$SELECT count(*), sum(amount) FROM saas.bait$$,
	$$SELECT word, count(*) FROM saas.bait WHERE word = 'w' GROUP BY word$$,
	$$SELECT mood, count(*) FROM saas.bait GROUP BY mood$$,
	$$SELECT * FROM dp_cdp.preview('SELECT count(*) FROM saas.bait')$$]) s;
RESET SESSION AUTHORIZATION;

-- names that would be statements where a superuser pastes remedies
SET SESSION AUTHORIZATION dba;
CREATE TABLE saas."x; ALTER ROLE dba SUPERUSER; --" (patient int NOT NULL, "y"" TO ana; ALTER ROLE dba SUPERUSER; --" int);
CREATE FUNCTION saas."f(); ALTER ROLE dba SUPERUSER; --"() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM saas.visits';
SELECT lives_ok($$ SELECT dp_cdp.create_dataset('''); ALTER ROLE dba SUPERUSER; --') $$);
SELECT lives_ok($$ SELECT dp_cdp.set_budget('''); ALTER ROLE dba SUPERUSER; --', 'ana', rho => 0.1) $$);
SELECT lives_ok($$ SELECT dp_cdp.protect_table('saas."x; ALTER ROLE dba SUPERUSER; --"', '''); ALTER ROLE dba SUPERUSER; --', each_row => true) $$);
GRANT SELECT, INSERT ON saas."x; ALTER ROLE dba SUPERUSER; --" TO ana;
GRANT SELECT ("y"" TO ana; ALTER ROLE dba SUPERUSER; --") ON saas."x; ALTER ROLE dba SUPERUSER; --" TO ana;
RESET SESSION AUTHORIZATION;
SELECT ok(count(*) >= 4, 'they are in remedies') FROM dp_cdp.check_setup() WHERE remedy ~ 'ALTER ROLE dba SUPERUSER';
SELECT remedy FROM dp_cdp.check_setup() WHERE remedy ~ 'ALTER ROLE dba SUPERUSER' AND remedy ~ '^(SELECT|REVOKE|ALTER)' \gexec
SELECT is(rolsuper, false, 'and change no role when they are run') FROM pg_roles WHERE rolname = 'dba';

-- what others' tables stand in: their schema stays theirs, and his own name for their table is a table of his
SET SESSION AUTHORIZATION dba;
ALTER SCHEMA public RENAME TO formerly;
CREATE SCHEMA public;
CREATE AGGREGATE public.dp_count(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0');
GRANT USAGE ON SCHEMA public TO PUBLIC;
SET search_path = formerly;
SET SESSION AUTHORIZATION ana;
SELECT throws_ok('SELECT public.dp_count(*) FROM clinic.stays', 'ZC002', NULL, 'an aggregate of his is none of the extension''s');
SELECT lives_ok('SELECT formerly.dp_count(*), count(*) FROM clinic.stays', 'which is where it was');
SET SESSION AUTHORIZATION dba;
DROP SCHEMA public CASCADE;
ALTER SCHEMA formerly RENAME TO public;
RESET search_path;
RESET SESSION AUTHORIZATION;

-- nothing of others' has changed
SET SESSION AUTHORIZATION ana;
SELECT throws_ok('SELECT * FROM clinic.stays', 'ZC002', NULL, 'no rows of others'' tables');
SELECT throws_ok('SELECT * FROM clinic.long_stays', 'ZC002', NULL, 'nor of their views');
SET SESSION AUTHORIZATION other;
SELECT results_eq('SELECT rho_limit FROM dp_cdp.budgets WHERE dataset = ''clinic'' AND role = ''ana''::regrole', $$ VALUES (0.2) $$, 'their budgets are as they and superusers have set them');
SELECT ok(rho_spent > 0, 'and what was spent is') FROM dp_cdp.budgets WHERE dataset = 'clinic' AND role = 'ana'::regrole;
RESET SESSION AUTHORIZATION;
SELECT is_empty($$ SELECT * FROM dp_cdp.check_ledger() WHERE severity <> 'info' $$, 'the ledger adds up');

-- ------------------------------------------------------------------------
-- an analyst who owns the database
-- ------------------------------------------------------------------------

SELECT dp_cdp.alter_dataset('clinic', new_owner => 'stranger') \g /dev/null
ALTER TABLE clinic.stays OWNER TO stranger;
ALTER DATABASE test OWNER TO ana;
CREATE TABLE clinic.plan (x int);
SELECT results_eq($$ SELECT severity, object, finding FROM dp_cdp.check_setup() WHERE object = 'role ana' $$, $$ VALUES ('warning', 'role ana', 'owns the database') $$,
	'an analyst who owns the database is a finding, and what comes with that is none');
GRANT SELECT ON clinic.stays TO pg_database_owner;
SELECT set_has($$ SELECT severity, object, remedy FROM dp_cdp.check_setup() $$, $$ VALUES ('critical', 'clinic.stays', 'REVOKE SELECT ON clinic.stays FROM pg_database_owner') $$,
	'rows that the database''s owner may read are his');
REVOKE SELECT ON clinic.stays FROM pg_database_owner;
SET SESSION AUTHORIZATION ana;
SELECT throws_ok('SELECT * FROM clinic.stays', 'ZC002', NULL, 'he gets no rows');
SELECT throws_ok(s, '42501', NULL, 'he gets no more: ' || s) FROM unnest(ARRAY['SELECT dp_cdp.set_budget(''clinic'', ''ana'', rho => 9)',
	'SELECT dp_cdp.unprotect_table(''clinic.stays'')', 'SELECT * FROM dp_cdp.unharden()']) s;
RESET SESSION AUTHORIZATION;
ALTER TABLE clinic.stays OWNER TO pg_database_owner;
SELECT set_has($$ SELECT severity, object, finding, remedy FROM dp_cdp.check_setup() $$, $$ VALUES ('critical', 'role ana',
	'can act as role pg_database_owner, which owns protected table clinic.stays', 'ALTER DATABASE test OWNER TO ...') $$, 'what the database''s owner owns is his');

SELECT * FROM finish();
