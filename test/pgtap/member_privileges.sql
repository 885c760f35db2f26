-- Privileges on the extension's own objects: default privileges before CREATE
-- EXTENSION, grants after it, and the triggers that ask who writes.

SET client_min_messages = warning;
SELECT no_plan();

CREATE ROLE ana LOGIN;
CREATE ROLE bob LOGIN;
CREATE ROLE auditor LOGIN;
CREATE ROLE writer LOGIN IN ROLE pg_write_all_data;

DROP EXTENSION IF EXISTS dp_cdp CASCADE;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO ana, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO ana, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO ana;
ALTER DEFAULT PRIVILEGES GRANT USAGE ON TYPES TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO ana, PUBLIC;
CREATE EXTENSION dp_cdp;

-- who but PUBLIC and the owner has what; and what everybody has of relations
CREATE VIEW of_others AS
	SELECT c.oid::regclass::text AS object, x.grantee, x.privilege_type
	FROM pg_class c, aclexplode(c.relacl) x WHERE c.relnamespace::regnamespace::text ~ '^dp_cdp' AND x.grantee <> c.relowner
	UNION ALL
	SELECT p.oid::regprocedure::text, x.grantee, x.privilege_type
	FROM pg_proc p, aclexplode(p.proacl) x WHERE p.pronamespace::regnamespace::text ~ '^dp_cdp' AND x.grantee NOT IN (0, p.proowner)
	UNION ALL
	SELECT p.oid::regprocedure::text, x.grantee, x.privilege_type
	FROM pg_proc p, aclexplode(p.proacl) x WHERE p.prokind = 'a' AND p.proname ~ '^dp_' AND x.grantee NOT IN (0, p.proowner)
	UNION ALL
	SELECT t.oid::regtype::text, x.grantee, x.privilege_type
	FROM pg_type t, aclexplode(t.typacl) x WHERE t.typnamespace::regnamespace::text ~ '^dp_cdp' AND x.grantee NOT IN (0, t.typowner)
	UNION ALL
	SELECT n.nspname, x.grantee, x.privilege_type
	FROM pg_namespace n, aclexplode(n.nspacl) x WHERE n.nspname ~ '^dp_cdp' AND x.grantee <> n.nspowner;
SELECT set_eq('SELECT * FROM of_others WHERE object <> ''of_others''', $$
	SELECT 'dp_cdp.' || v AS a, 0::oid AS b, 'SELECT' AS c FROM unnest('{budgets,releases,datasets,settings,limits,protected,blocks,overview,reserved_names}'::text[]) v
	UNION ALL VALUES ('dp_cdp_internal.log_sums', 0, 'SELECT'), ('dp_cdp', 0, 'USAGE'), ('dp_cdp_internal', 0, 'USAGE'),
		('dp_cdp.harden(boolean,text[])', 'pg_database_owner'::regrole, 'EXECUTE'), ('dp_cdp.create_dataset'::regproc::regprocedure::text, 'pg_database_owner'::regrole, 'EXECUTE') $$, 'default privileges give nothing of the extension');
SELECT ok(NOT has_function_privilege('ana', 'dp_cdp.harden(boolean, text[])', 'EXECUTE'), 'nor functions of administration');
SELECT ok(has_function_privilege('bob', 'public.dp_count("any")', 'EXECUTE') AND has_type_privilege('bob', 'dp_cdp_internal.exact_sum', 'USAGE') IS FALSE,
	'PUBLIC has what it has always had');
SELECT is_empty($$ SELECT object, grantee, privilege FROM dp_cdp_internal.member_grants() WHERE NOT given $$, 'the list says so, too');
SELECT set_eq('SELECT defaclobjtype::text FROM pg_default_acl', ARRAY['r', 'S', 'f', 'T', 'n'], 'default privileges stay');

ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM ana, PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM ana, PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM ana;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TYPES FROM ana;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM ana, PUBLIC;
DROP VIEW of_others;

-- without EXECUTE for PUBLIC no analyst could ask anything
BEGIN;
DROP EXTENSION dp_cdp;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
SELECT throws_like('CREATE EXTENSION dp_cdp', 'default privileges of role postgres take EXECUTE on FUNCTIONS from PUBLIC%', 'default privileges that take are told');
ROLLBACK;

CREATE TABLE visits (patient int NOT NULL);
INSERT INTO visits SELECT i FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 10);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'bob', rho => 5);
SELECT dp_cdp.harden() \g /dev/null

-- ------------------------------------------------------------------------
-- the triggers ask who writes, whatever was granted
-- ------------------------------------------------------------------------

CREATE FUNCTION as_role(role name, statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', role);
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		RESET SESSION AUTHORIZATION;
		RETURN SQLSTATE || ': ' || SQLERRM;
	END;
	RESET SESSION AUTHORIZATION;
	RETURN 'done';
END $$;
CREATE VIEW writes AS SELECT * FROM (VALUES
	('budget', $$INSERT INTO dp_cdp_internal.budget (dataset, role, rho_limit, delta_limit, report_delta) SELECT 'clinic', oid, 1e6, 1e-6, 1e-6 FROM pg_roles WHERE rolname = 'ana'$$),
	('budget', $$INSERT INTO dp_cdp_internal.budget SELECT * FROM dp_cdp_internal.budget ON CONFLICT (dataset, role, role_name) DO UPDATE SET rho_spent = 0$$),
	('dataset', $$INSERT INTO dp_cdp_internal.dataset (name, owner, delta_limit, default_rho, default_delta, max_groups, max_rows, neighbors) SELECT 'mine', oid, 1e-6, 1, 1e-9, 1, 1, 'add_remove' FROM pg_roles WHERE rolname = 'ana'$$),
	('release_log', $$INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, aggregates, rho, delta, granted) VALUES ('clinic', 10, 10, '', -4, 0, true)$$),
	('release_log', $$INSERT INTO dp_cdp.audit DEFAULT VALUES$$),
	('block_spent', $$INSERT INTO dp_cdp_internal.block_spent VALUES (1, '2020-01-01', '2021-01-01', 0, 0)$$),
	('kept_answer', $$INSERT INTO dp_cdp_internal.kept_answer (dataset, ledger_id, fingerprint, began, rho, delta, below, paid_by) VALUES ('clinic', 1, decode(repeat('00', 32), 'hex'), now(), 1, 0, 1, '{1}')$$),
	('role_alias', $$INSERT INTO dp_cdp_internal.role_alias SELECT oid, 'bob', oid, 'ana' FROM pg_roles WHERE rolname = 'ana'$$),
	('ledger_stamp', $$INSERT INTO dp_cdp_internal.ledger_stamp VALUES (false, 1, 1, 1, 1)$$),
	('ledger_chain', $$INSERT INTO dp_cdp_internal.ledger_chain VALUES (true, 1, '', 1)$$),
	('pruned', $$INSERT INTO dp_cdp_internal.pruned VALUES (1, 9, '')$$),
	('reserved_name', $$INSERT INTO dp_cdp_internal.reserved_name VALUES ('public', 'visits2', 'clinic', now(), 0, true)$$),
	('hardened', $$INSERT INTO dp_cdp_internal.hardened VALUES ('TABLE visits', 'SELECT', '', 'ana', false)$$),
	('standby', $$INSERT INTO dp_cdp_internal.standby SELECT 'mine', oid, 'ana' FROM pg_roles WHERE rolname = 'ana'$$),
	('standby', $$DELETE FROM dp_cdp_internal.standby$$)) AS w (tablename, statement);
INSERT INTO dp_cdp_internal.standby SELECT 'hers', oid, 'bob' FROM pg_roles WHERE rolname = 'bob';
GRANT ALL ON ALL TABLES IN SCHEMA dp_cdp, dp_cdp_internal TO ana;
GRANT ALL ON ALL SEQUENCES IN SCHEMA dp_cdp_internal TO ana;
GRANT SELECT ON dp_cdp_internal.budget, dp_cdp_internal.dataset TO writer;
SELECT matches(as_role(r, w.statement), '42501: table dp_cdp_internal.' || w.tablename || ' cannot be changed directly; |(cannot insert into|violates check|ledger_stamp)',
		r || ': ' || w.statement)
	FROM writes w, unnest('{ana,writer}'::name[]) r WHERE NOT (w.statement ~ 'audit|hardened|standby' AND r = 'writer');
SELECT is(count(*), 1::bigint, 'there is the one budget') FROM dp_cdp_internal.budget;
SELECT isnt(as_role('ana', 'SELECT dp_count(*) FROM visits'), 'done', 'and no answer');

-- what check_setup() says of it
CREATE VIEW found AS SELECT severity, object, finding, remedy FROM dp_cdp.check_setup()
	WHERE object NOT LIKE 'database %' AND object NOT IN ('fsync', 'full_page_writes', 'max_worker_processes');
SELECT ok(count(*) >= 60, 'each of it is a finding') FROM found WHERE severity = 'critical' AND finding ~ 'granted to ana';
SELECT remedy FROM found WHERE object ~ 'dp_cdp' AND remedy ~ '^REVOKE' \gexec
DELETE FROM dp_cdp_internal.standby;
SELECT is_empty('SELECT * FROM found', 'remedied');

CREATE FUNCTION provoked(provocation text, expected_severity text, expected_object text, expected_finding text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	all_found text;
	remedies text;
BEGIN
	EXECUTE provocation;
	SELECT string_agg(f::text, E'\n'), string_agg(f.remedy, '; ')
			FILTER (WHERE f.severity = expected_severity AND f.object = expected_object AND f.finding ~ expected_finding)
		INTO all_found, remedies FROM found f;
	RETURN NEXT isnt(remedies, NULL, provocation || ' found: ' || coalesce(all_found, 'nothing'));
	EXECUTE coalesce(remedies, 'SELECT');
	SELECT string_agg(f::text, E'\n') INTO all_found FROM found f;
	RETURN NEXT is(all_found, NULL, 'remedied by ' || coalesce(remedies, 'nothing'));
END $$;
SELECT provoked('GRANT INSERT ON dp_cdp_internal.budget TO ana', 'critical', 'dp_cdp_internal.budget', 'granted to ana, who');
SELECT provoked('GRANT UPDATE (rho_spent) ON dp_cdp_internal.budget TO ana', 'critical', 'dp_cdp_internal.budget', 'granted to ana, who');
SELECT provoked('GRANT SELECT ON dp_cdp_internal.kept_answer TO bob', 'critical', 'dp_cdp_internal.kept_answer', 'granted to bob \(bob\)');
SELECT provoked('GRANT SELECT ON dp_cdp_internal.kept_answer TO ana', 'warning', 'dp_cdp_internal.kept_answer', 'granted to ana, who');
SELECT provoked('GRANT UPDATE ON SEQUENCE dp_cdp_internal.release_log_id_seq TO ana', 'critical', 'dp_cdp_internal.release_log_id_seq', 'granted to ana');
SELECT provoked('GRANT TRIGGER ON dp_cdp_internal.budget TO PUBLIC', 'critical', 'dp_cdp_internal.budget', 'PUBLIC \(every analyst\)');
SELECT provoked('GRANT CREATE ON SCHEMA dp_cdp TO ana', 'critical', 'schema dp_cdp', 'may pass for');
SELECT provoked('GRANT CREATE ON SCHEMA dp_cdp_internal TO ana', 'critical', 'schema dp_cdp_internal', 'may pass for');
SELECT provoked('GRANT EXECUTE ON FUNCTION dp_cdp.empty_ledger() TO PUBLIC', 'critical', 'function dp_cdp.empty_ledger()', 'administration');
SELECT provoked('GRANT EXECUTE ON FUNCTION dp_cdp.correct_spent(text, regrole, numeric, text), dp_cdp.check_ledger() TO bob', 'critical', 'function dp_cdp.check_ledger()', 'granted to bob');
SELECT provoked('GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO PUBLIC', 'warning', 'function dp_cdp.create_dataset(text,double precision,double precision,double precision,double precision,integer,integer,text,double precision,double precision,integer,interval,dp_cdp.memory,double precision,interval,boolean,boolean,boolean,double precision,dp_cdp.contribution,double precision,boolean,integer)', 'PUBLIC');
SELECT provoked('GRANT SELECT ON dp_cdp.audit TO PUBLIC', 'critical', 'dp_cdp.audit', 'PUBLIC');
SELECT provoked('GRANT USAGE ON TYPE dp_cdp_internal.grid TO ana', 'warning', 'type dp_cdp_internal.grid', 'internal type');

-- what the documentation lets administrators grant
GRANT SELECT ON dp_cdp.audit, dp_cdp.metrics, dp_cdp.metrics_hour TO auditor;
GRANT EXECUTE ON FUNCTION dp_cdp.check_ledger(), dp_cdp.setup_metrics(), dp_cdp.create_dataset TO auditor;
SELECT is_empty('SELECT * FROM found', 'is no finding');

-- ------------------------------------------------------------------------
-- what pg_dump takes for an administrator's: all that the script has not given
-- ------------------------------------------------------------------------

SELECT is_empty($$ SELECT finding FROM dp_cdp.check_setup() WHERE finding ~ 'of ;' $$, 'a class without extensions names none');
DROP VIEW found CASCADE;
CREATE FUNCTION dumped() RETURNS TABLE (object text, grantee regrole) LANGUAGE sql AS $$
	SELECT m.object, x.grantee::regrole
	FROM (SELECT 'pg_proc'::regclass AS catalogue, oid, oid::regprocedure::text AS object, proacl AS acl FROM pg_proc
			UNION ALL SELECT 'pg_class', oid, oid::regclass::text, relacl FROM pg_class) m
		JOIN pg_depend d ON d.classid = m.catalogue AND d.objid = m.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dp_cdp'
		LEFT JOIN pg_init_privs i ON i.classoid = d.classid AND i.objoid = d.objid AND i.objsubid = 0
		CROSS JOIN LATERAL (SELECT a, (aclexplode(ARRAY[a])).grantee FROM unnest(m.acl) a) x
	WHERE x.grantee <> 0 AND x.grantee::regrole::text <> current_user AND NOT x.a = ANY (coalesce(i.initprivs, '{}'))
$$;
SELECT set_eq('SELECT object, grantee::text FROM dumped() WHERE object !~ ''create_dataset'' AND grantee::text = ''auditor''', $$ VALUES ('dp_cdp.audit', 'auditor'), ('dp_cdp.metrics', 'auditor'),
	('dp_cdp.metrics_hour', 'auditor'), ('dp_cdp.check_ledger()', 'auditor'), ('dp_cdp.setup_metrics()', 'auditor') $$, 'grants after CREATE EXTENSION are dumped');

SELECT * FROM finish();
