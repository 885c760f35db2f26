-- =========================================================================
-- 9. Hardening and check_setup
-- =========================================================================

-- What PostgreSQL grants to PUBLIC and tells how many rows a table has, or a
-- query met; and ways to leave traces.  See src/guard/HARDENING.md.

CREATE OR REPLACE FUNCTION dp_cdp_internal.closed_class(function name) RETURNS text
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_closed_class';
COMMENT ON FUNCTION dp_cdp_internal.closed_class(name) IS
	'why dp_cdp.harden() closes the functions of PostgreSQL''s of that name: statistics, sizes or traces; NULL: it does not';

-- What queries call instead of functions, and of columns of pg_class, that
-- harden() has closed for who asks.  By hand they tell the same.
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_reltuples(relation oid, reltuples real) RETURNS real
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_reltuples';
COMMENT ON FUNCTION dp_cdp_internal.visible_reltuples(oid, real) IS
	'reltuples of a relation whose rows the caller may count, else -1';
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_relpages(relation oid, relpages integer) RETURNS integer
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_relpages';
COMMENT ON FUNCTION dp_cdp_internal.visible_relpages(oid, integer) IS
	'relpages of a relation whose rows the caller may count, else 0';
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_live_tuples(relation oid) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_live_tuples';
COMMENT ON FUNCTION dp_cdp_internal.visible_live_tuples(oid) IS
	'pg_stat_get_live_tuples of a relation whose rows the caller may count, else NULL';
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_relation_size(relation regclass) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_relation_size';
COMMENT ON FUNCTION dp_cdp_internal.visible_relation_size(regclass) IS
	'pg_relation_size of a relation whose rows the caller may count, else NULL';
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_relation_size(relation regclass, fork text) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_relation_size';
COMMENT ON FUNCTION dp_cdp_internal.visible_relation_size(regclass, text) IS
	'pg_relation_size of a fork of a relation whose rows the caller may count, else NULL';
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_table_size(relation regclass) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_table_size';
COMMENT ON FUNCTION dp_cdp_internal.visible_table_size(regclass) IS
	'pg_table_size of a relation whose rows the caller may count, else NULL';
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_total_relation_size(relation regclass) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_total_relation_size';
COMMENT ON FUNCTION dp_cdp_internal.visible_total_relation_size(regclass) IS
	'pg_total_relation_size of a relation whose rows the caller may count, else NULL';
CREATE OR REPLACE FUNCTION dp_cdp_internal.visible_indexes_size(relation regclass) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_visible_indexes_size';
COMMENT ON FUNCTION dp_cdp_internal.visible_indexes_size(regclass) IS
	'pg_indexes_size of a relation whose rows the caller may count, else NULL';
CREATE OR REPLACE FUNCTION dp_cdp_internal.masked(of_type anyelement, VARIADIC arguments "any") RETURNS anyelement
	LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_masked';
COMMENT ON FUNCTION dp_cdp_internal.masked(anyelement, "any") IS
	'NULL of a type; stands for a function that dp_cdp.harden() has closed';
CREATE OR REPLACE FUNCTION dp_cdp_internal.masked_rows(of_type anyelement, VARIADIC arguments "any") RETURNS SETOF anyelement
	LANGUAGE C STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'dp_masked_rows';
COMMENT ON FUNCTION dp_cdp_internal.masked_rows(anyelement, "any") IS
	'no rows of a type; stands for a function that dp_cdp.harden() has closed';

-- Functions in C of other extensions may ask the planner, read sizes or other
-- sessions' queries, of any relation: hypopg tells how many rows a condition has.
-- Those that run with their owner's rights (SECURITY DEFINER) may call these.
-- A function that takes values alone and is IMMUTABLE only computes.  So does, or asks with the
-- caller's own privileges, what these extensions have.
CREATE OR REPLACE FUNCTION dp_cdp_internal.telling_functions() RETURNS TABLE(oid oid, extension name)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
SELECT p.oid, e.extname
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname <> ALL (
		-- dblink has a finding of its own; those of Citus are in closed.c
		'{dp_cdp,citus,citus_columnar,dblink,pg_trgm,pgcrypto,postgres_fdw,sslinfo,tablefunc,unaccent,xml2}'::name[])
	JOIN pg_proc p ON p.oid = d.objid AND p.prokind = 'f' AND p.provolatile <> 'i'
		AND (p.prosecdef OR p.prolang IN (SELECT l.oid FROM pg_language l WHERE l.lanname IN ('c', 'internal')))
WHERE d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
	-- types of PostGIS have many functions; some of those on statistics have none of them
	AND NOT (e.extname ~ '^postgis' AND p.proname !~ 'estimat|stats|selectivity')
	-- PostgreSQL alone calls these, or asks whom it belongs to
	AND NOT 'internal'::regtype = ANY (p.proargtypes)
	AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = p.prorettype AND t.typname ~ '^(trigger|event_trigger|.*_handler)$')
	AND NOT EXISTS (SELECT FROM pg_language v WHERE v.lanvalidator = p.oid)
	AND NOT EXISTS (SELECT FROM pg_foreign_data_wrapper w WHERE w.fdwvalidator = p.oid)
	-- a relation, a query or the number of one; or rows, of whatever there is
	AND (p.prosecdef OR p.proretset
		OR EXISTS (SELECT FROM pg_type t WHERE t.oid = p.prorettype AND (t.oid = 'record'::regtype OR t.typtype = 'c'))
		OR p.proargtypes::oid[] && '{oid,regclass,regnamespace,regproc,regprocedure,regrole,name,text,varchar,cstring,bigint,
			oid[],regclass[],name[],text[],varchar[],cstring[],bigint[]}'::regtype[]::oid[])
$$;
COMMENT ON FUNCTION dp_cdp_internal.telling_functions() IS
	'functions of other extensions that are not known to be harmless. They are written in C and take a relation, a query or a number of one, or return rows, or are SECURITY DEFINER';

-- Each privilege that harden() has an opinion on.  Monitors get what PUBLIC
-- loses, but for what writes.
CREATE OR REPLACE FUNCTION dp_cdp_internal.hardening(OUT object text, OUT name text, OUT class text, OUT oid oid,
								 OUT privilege text, OUT "column" text, OUT grantee text,
								 OUT wanted boolean, OUT held boolean, OUT acl aclitem[], OUT owner oid)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH RECURSIVE members AS (
	SELECT d.classid, d.objid, e.extname
	FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname <> 'dp_cdp'
), telling AS (
	SELECT 'pg_proc'::regclass::oid AS classid, f.oid AS objid FROM members m, dp_cdp_internal.telling_functions() f
	WHERE m.classid = 'pg_proc'::regclass AND m.objid = f.oid
	UNION
	SELECT m.classid, r.ev_class
	FROM telling t JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.refclassid = t.classid AND d.refobjid = t.objid
		JOIN pg_rewrite r ON r.oid = d.objid
		JOIN members m ON m.classid = 'pg_class'::regclass AND m.objid = r.ev_class
), functions AS (
	SELECT p.oid, p.proname, p.proowner, p.proacl,
		CASE WHEN t.objid IS NOT NULL THEN 'extensions' ELSE dp_cdp_internal.closed_class(p.proname) END AS class
	FROM pg_proc p LEFT JOIN telling t ON t.classid = 'pg_proc'::regclass AND t.objid = p.oid
	WHERE p.prokind IN ('f', 'a') AND (p.pronamespace = 'pg_catalog'::regnamespace OR t.objid IS NOT NULL)
), some_columns (name, class, closed, after) AS (
	VALUES
		-- planner's and vacuum's counters are in pg_class itself; its system columns are read, too
		('pg_class', 'planner', '{reltuples,relpages,relallvisible,relallfrozen,relfrozenxid,relminmxid}'::name[], -32768),
		-- citus_update_table_statistics() leaves sizes of shards there
		('pg_dist_placement', 'sizes', '{shardlength}', 0),
		('pg_dist_shard_placement', 'sizes', '{shardlength}', 0)
), objects AS (
	SELECT 'FUNCTION ' || (pg_identify_object('pg_proc'::regclass, f.oid, 0)).identity AS object,
		f.proname::text AS name, f.class, f.oid, 'EXECUTE' AS privilege, '' AS "column", false AS open,
		coalesce(f.proacl, acldefault('f', f.proowner)) AS acl, f.proowner AS owner
	FROM functions f
	WHERE f.class IS NOT NULL
	UNION ALL
	SELECT 'TABLE ' || (pg_identify_object('pg_class'::regclass, c.oid, 0)).identity,
		c.relname::text, 'extensions', c.oid, 'SELECT', '', false, coalesce(c.relacl, acldefault('r', c.relowner)), c.relowner
	FROM pg_class c JOIN telling t ON t.classid = 'pg_class'::regclass AND t.objid = c.oid
	UNION ALL
	SELECT 'TABLE pg_catalog.' || s.name, s.name, s.class, c.oid, 'SELECT', '', false, coalesce(c.relacl, acldefault('r', c.relowner)), c.relowner
	FROM some_columns s JOIN pg_class c ON c.oid = to_regclass('pg_catalog.' || s.name)
	UNION ALL
	SELECT 'TABLE pg_catalog.' || s.name, s.name, s.class, a.attrelid, 'SELECT', a.attname::text, NOT a.attname = ANY (s.closed), a.attacl, c.relowner
	FROM some_columns s JOIN pg_class c ON c.oid = to_regclass('pg_catalog.' || s.name)
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > s.after AND NOT a.attisdropped
), grants AS (
	SELECT o.*,
		EXISTS (SELECT FROM aclexplode(o.acl) x WHERE x.grantee = 0 AND x.privilege_type = o.privilege) AS public,
		EXISTS (SELECT FROM aclexplode(o.acl) x
			WHERE x.grantee = 'pg_monitor'::regrole AND x.privilege_type = o.privilege) AS monitor
	FROM objects o
)
SELECT g.object, g.name, g.class, g.oid, g.privilege, g."column", 'PUBLIC', g.open, g.public, g.acl, g.owner FROM grants g
UNION ALL
SELECT g.object, g.name, g.class, g.oid, g.privilege, g."column", 'pg_monitor', true, g.monitor, g.acl, g.owner FROM grants g
WHERE g.public AND NOT g.open AND g."column" = '' AND g.class <> 'traces'
$$;
COMMENT ON FUNCTION dp_cdp_internal.hardening() IS
	'privileges that dp_cdp.harden() has an opinion on: wanted or not, held or not';

CREATE OR REPLACE FUNCTION dp_cdp.harden(apply boolean DEFAULT true, keep_open text[] DEFAULT '{}')
	RETURNS TABLE(object text, action text, done boolean)
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
	AS $$
#variable_conflict use_column
DECLARE
	super boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
	step record;
	steps jsonb := '[]';
	unknown text;
	others bigint;
BEGIN
	SELECT k INTO unknown FROM unnest(keep_open) k WHERE k NOT IN (SELECT h.name FROM dp_cdp_internal.hardening() h) LIMIT 1;
	IF unknown IS NOT NULL THEN
		RAISE EXCEPTION 'keep_open: dp_cdp.harden closes nothing of the name "%"; call dp_cdp.harden(apply => false) to see what it closes', unknown
			USING ERRCODE = 'ZC004';
	END IF;

	FOR step IN
		-- taking SELECT on a table away takes that on its columns, too
		SELECT h.object, h.grantee, h.wanted, h.oid, h.privilege,
			-- all is done with the rights of who calls, who can close what is his alone
			super OR pg_has_role(h.owner, 'USAGE') AS mine,
			array_agg(h."column") FILTER (WHERE h.wanted <> h.held) AS changed,
			max(h.acl::text) FILTER (WHERE h."column" = '') AS acl,
			CASE WHEN h.wanted THEN 'GRANT ' ELSE 'REVOKE ' END AS verb,
			string_agg(h.privilege || CASE WHEN h."column" <> '' THEN format(' (%I)', h."column") ELSE '' END, ', ') AS privileges,
			CASE WHEN h.wanted THEN ' TO ' ELSE ' FROM ' END || h.grantee AS whom
		FROM (SELECT *, bool_or(wanted <> held) OVER (PARTITION BY object) AS pending
				FROM dp_cdp_internal.hardening() WHERE NOT name = ANY (keep_open)) h
		WHERE h.wanted <> h.held OR (h.pending AND h.wanted AND h."column" <> '')
		GROUP BY h.object, h.grantee, h.wanted, h.oid, h.privilege, h.owner
		ORDER BY h.object, h.wanted, h.grantee
	LOOP
		IF apply AND step.mine THEN
			EXECUTE step.verb || step.privileges || ' ON ' || step.object || step.whom;
		END IF;
		-- unharden() does all that is noted as a superuser: others must not note anything
		IF apply AND super THEN
			INSERT INTO dp_cdp_internal.hardened AS old (object, privilege, "column", grantee, granted, former_acl)
				SELECT step.object, step.privilege, c, step.grantee, step.wanted, step.acl
				FROM unnest(step.changed) c
				ON CONFLICT DO NOTHING;
		END IF;
		CONTINUE WHEN step.changed IS NULL;
		steps := steps || jsonb_build_object('object', step.object, 'grantee', step.grantee, 'changed', step.changed,
			'action', step.verb || step.privilege
				|| CASE WHEN '' = ANY (step.changed) THEN '' ELSE format(' on %s columns', cardinality(step.changed)) END
				|| step.whom, 'mine', step.mine);
	END LOOP;
	SELECT count(DISTINCT s ->> 'object') INTO others FROM jsonb_array_elements(steps) s WHERE NOT (s ->> 'mine')::boolean;
	IF others > 0 THEN
		RAISE NOTICE '% % not yours, and stay open: a superuser closes them in this database by SELECT * FROM dp_cdp.harden()',
			others, CASE others WHEN 1 THEN 'object is' ELSE 'objects are' END;
	END IF;
	RETURN QUERY
		WITH undone AS MATERIALIZED (
			SELECT h.object, h.grantee, h."column" FROM dp_cdp_internal.hardening() h WHERE h.wanted <> h.held
		)
		SELECT s.object, s.action, apply AND NOT EXISTS (SELECT FROM undone u
			WHERE u.object = s.object AND u.grantee = s.grantee AND u."column" = ANY (s.changed))
		FROM ROWS FROM (jsonb_to_recordset(steps) AS (object text, grantee text, changed text[], action text)) WITH ORDINALITY AS s
		ORDER BY s.ordinality;
END $$;
REVOKE ALL ON FUNCTION dp_cdp.harden(boolean, text[]) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.harden(boolean, text[]) IS
	'takes from PUBLIC what tells numbers of rows: statistics, sizes and counters of the planner. With apply => false it only lists. The objects in keep_open stay as they are. A superuser closes all of it, and the owner of the database what he owns';

CREATE OR REPLACE FUNCTION dp_cdp.unharden()
	RETURNS TABLE(object text, action text, done boolean)
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	step record;
BEGIN
	IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
		RAISE EXCEPTION 'only superusers may call dp_cdp.unharden'
			USING ERRCODE = 'insufficient_privilege';
	END IF;
	FOR step IN
		-- grants last: revoking from a table revokes from its columns
		SELECT h.object, h.privilege, count(*) AS n, min(h."column") AS "column",
			CASE WHEN h.granted THEN 'REVOKE ' ELSE 'GRANT ' END AS verb,
			string_agg(h.privilege || CASE WHEN h."column" <> '' THEN format(' (%I)', h."column") ELSE '' END, ', ') AS privileges,
			CASE WHEN h.granted THEN ' FROM ' ELSE ' TO ' END || h.grantee AS whom
		FROM dp_cdp_internal.hardened h
		GROUP BY h.object, h.privilege, h.grantee, h.granted
		ORDER BY h.object, h.granted DESC, h.grantee
	LOOP
		object := step.object;
		action := step.verb || step.privilege
			|| CASE WHEN step."column" = '' THEN '' ELSE format(' on %s columns', step.n) END || step.whom;
		BEGIN
			EXECUTE step.verb || step.privileges || ' ON ' || step.object || step.whom;
			done := true;
		EXCEPTION WHEN undefined_function OR undefined_table OR undefined_column OR undefined_object OR invalid_schema_name THEN
			done := false;		-- dropped since, or of another version
		END;
		RETURN NEXT;
	END LOOP;
	DELETE FROM dp_cdp_internal.hardened;
END $$;
REVOKE ALL ON FUNCTION dp_cdp.unharden() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.unharden() IS
	'reverses what dp_cdp.harden() did, and nothing else';

-- Extensions that come after harden() are open to PUBLIC again.
CREATE OR REPLACE FUNCTION dp_cdp_internal.tell_of_extension() RETURNS event_trigger
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	opened text;
BEGIN
	BEGIN
		SELECT string_agg(DISTINCT t.extension, ', ' ORDER BY t.extension) INTO opened
		FROM dp_cdp_internal.hardening() h JOIN dp_cdp_internal.telling_functions() t ON t.oid = h.oid
		WHERE h.class = 'extensions' AND h.grantee = 'PUBLIC' AND h.held AND EXISTS (SELECT FROM dp_cdp_internal.hardened);
	EXCEPTION WHEN OTHERS THEN
		-- other extensions must not wait until this one is mended
		RAISE WARNING 'dp_cdp could not tell whether this opens what dp_cdp.harden() has closed: %', SQLERRM;
	END;
	IF opened IS NOT NULL THEN
		RAISE WARNING 'functions of extension % are open to PUBLIC and may tell how many rows a table has or a query met: SELECT * FROM dp_cdp.harden() closes them, if their owner or a superuser calls it', opened;
	END IF;
END $$;
REVOKE ALL ON FUNCTION dp_cdp_internal.tell_of_extension() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.tell_of_extension() IS
	'event trigger: warns of extensions that open what dp_cdp.harden() has closed';

-- Where the library is not preloaded, this loads it before it would be too late.
CREATE OR REPLACE FUNCTION dp_cdp_internal.keep_ledger() RETURNS event_trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_keep_ledger';
REVOKE ALL ON FUNCTION dp_cdp_internal.keep_ledger() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.keep_ledger() IS
	'event trigger: without the library, too, a ledger in which budget was spent is not dropped';

DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_event_trigger WHERE evtname = 'dp_cdp_keep_ledger') THEN
		CREATE EVENT TRIGGER dp_cdp_keep_ledger ON ddl_command_start WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED')
			EXECUTE FUNCTION dp_cdp_internal.keep_ledger();
		CREATE EVENT TRIGGER dp_cdp_extensions ON ddl_command_end WHEN TAG IN ('CREATE EXTENSION', 'ALTER EXTENSION')
			EXECUTE FUNCTION dp_cdp_internal.tell_of_extension();
	END IF;
END $$;
ALTER EVENT TRIGGER dp_cdp_keep_ledger ENABLE ALWAYS;
ALTER EVENT TRIGGER dp_cdp_extensions ENABLE ALWAYS;

-- What a dataset's owner cannot see, but must know.
CREATE OR REPLACE FUNCTION dp_cdp_internal.server_facts(OUT preloaded boolean, OUT after_citus boolean, OUT ledger_waits boolean)
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	libraries text[];
BEGIN
	preloaded := EXISTS (SELECT FROM pg_settings WHERE name = 'dp_cdp.rho');
	-- an owner who is no superuser any more may not know more
	IF pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') THEN
		SELECT coalesce(array_agg(regexp_replace(trim(both ' "' FROM l), '^.*/|\.so$', '', 'g')), '{}') INTO libraries
			FROM unnest(string_to_array(current_setting('shared_preload_libraries'), ',')) l;
	END IF;
	after_citus := coalesce(array_position(libraries, 'dp_cdp') > array_position(libraries, 'citus'), true);
	IF NOT pg_is_in_recovery() THEN
		ledger_waits := dp_cdp_internal.ledger_problem() IS NOT NULL;
	END IF;
END $$;
COMMENT ON FUNCTION dp_cdp_internal.server_facts() IS
	'is dp_cdp preloaded, and in order; does the ledger wait for adopt_ledger() (NULL on a standby)';

-- PostgreSQL lets an extension be created whose library it does not preload.
DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name = 'dp_cdp.rho') THEN
		RAISE WARNING 'dp_cdp is installed, but the server has not preloaded its library: nothing is answered until it has'
			USING DETAIL = 'Private queries and administration are refused. Protected tables are closed by privileges alone.',
			HINT = pg_catalog.format('Write shared_preload_libraries = %L to postgresql.conf, and restart the server.',
				pg_catalog.concat_ws(', ', nullif(pg_catalog.current_setting('shared_preload_libraries'), ''), 'dp_cdp'));
	END IF;
END $$;

-- does a rule compute private aggregates
CREATE OR REPLACE FUNCTION dp_cdp_internal.private_rule(rule oid) RETURNS boolean
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
SELECT EXISTS (SELECT FROM pg_depend d
		JOIN pg_depend m ON m.classid = d.refclassid AND m.objid = d.refobjid AND m.deptype = 'e'
		JOIN pg_extension e ON e.oid = m.refobjid AND m.refclassid = 'pg_extension'::regclass AND e.extname = 'dp_cdp'
		JOIN pg_proc p ON p.oid = d.refobjid AND p.prokind = 'a'
	WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = rule AND d.refclassid = 'pg_proc'::regclass)
$$;
COMMENT ON FUNCTION dp_cdp_internal.private_rule(oid) IS
	'does a rewrite rule compute private aggregates';

-- jit: where datasets are many, compiling took 8 of 8.5 seconds
/*
 * Likely mistakes in the unit of a table, beside those of its dataset's other tables, by names and types alone.
 * other: the table whose unit is of another type.  protect_table warns of those of one table, and check_setup() finds all.
 */
CREATE OR REPLACE FUNCTION dp_cdp_internal.doubts_of_unit(relation regclass DEFAULT NULL)
	RETURNS TABLE (relation regclass, other regclass, finding text, remedy text)
	LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH labels AS (
		SELECT l.objoid AS relid, l.objsubid, CASE WHEN l.provider = 'dp_cdp' THEN l.label::jsonb END AS label
		FROM pg_seclabel l WHERE l.provider = 'dp_cdp' AND l.classoid = 'pg_class'::regclass
	), tops AS (
		SELECT l.relid, l.label ->> 'dataset' AS dataset, coalesce((l.label ->> 'through')::int, 0) AS nthrough
		FROM labels l WHERE l.objsubid = 0
	), units AS (
		SELECT t.dataset, t.relid, u.attnum, u.attname, u.atttypid, y.typcategory, EXISTS (SELECT FROM pg_index i
				WHERE i.indrelid = t.relid AND i.indisunique AND i.indnkeyatts = 1 AND i.indkey[0] = u.attnum AND i.indpred IS NULL) AS alone
		FROM tops t JOIN labels l ON l.relid = t.relid AND l.objsubid > 0 AND l.label ? 'unit'
			JOIN pg_attribute u ON u.attrelid = l.relid AND u.attnum = l.objsubid AND NOT u.attisdropped
			JOIN pg_type y ON y.oid = u.atttypid
	)
	SELECT t.relid::regclass, NULL::regclass,
		format('each row is taken for a person of its own%s, but column %s is the privacy unit of table %s',
			', as unit ' || quote_ident(u.attname) || ' is different in each', quote_ident(a.attname), min(o.relid::regclass::text)),
		format('SELECT dp_cdp.unprotect_table(%1$L), dp_cdp.protect_table(%1$L, %2$L, unit => %3$L)',
			t.relid::regclass, t.dataset, a.attname)
	FROM tops t JOIN units o ON o.dataset = t.dataset AND o.relid <> t.relid
		JOIN pg_attribute a ON a.attrelid = t.relid AND a.attname = o.attname AND NOT a.attisdropped
		LEFT JOIN units u ON u.relid = t.relid
	WHERE t.relid = coalesce(doubts_of_unit.relation, t.relid) AND t.nthrough = 0
		AND (u.attnum IS NULL OR u.attnum <> a.attnum AND u.alone)
	GROUP BY t.dataset, t.relid, a.attname, u.attname
	UNION ALL
	SELECT t.relid::regclass, NULL::regclass,
		format('each row is taken for a person of its own%s, but %s', ', as unit ' || quote_ident(u.attname) || ' is different in each',
			CASE WHEN f.conrelid = t.relid THEN format('references protected table %s', f.confrelid::regclass)
				ELSE format('column %s is what the privacy unit of table %s references', f.there, f.conrelid::regclass) END),
		CASE WHEN f.conrelid = t.relid THEN format('SELECT dp_cdp.unprotect_table(%1$L), dp_cdp.protect_table(%1$L, %2$L, through => %3$L)', t.relid::regclass, t.dataset, f.here)
			ELSE format('SELECT dp_cdp.unprotect_table(%1$L), dp_cdp.protect_table(%1$L, %2$L, unit => %3$L)', t.relid::regclass, t.dataset, f.there) END
	FROM tops t LEFT JOIN units u ON u.relid = t.relid
		JOIN (SELECT c.conrelid, c.confrelid, string_agg(quote_ident(a.attname), ', ' ORDER BY k.place) AS here,
				string_agg(quote_ident(r.attname), ', ' ORDER BY k.place) AS there, min(k.here) AS column_here, min(k.there) AS column_there, count(*) AS columns
			FROM pg_constraint c CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY k(here, there, place)
				JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.here JOIN pg_attribute r ON r.attrelid = c.confrelid AND r.attnum = k.there
			WHERE c.contype = 'f' AND c.conrelid <> c.confrelid GROUP BY c.oid, c.conrelid, c.confrelid) f ON t.relid IN (f.conrelid, f.confrelid)
		JOIN tops o ON o.dataset = t.dataset AND o.relid = CASE WHEN f.conrelid = t.relid THEN f.confrelid ELSE f.conrelid END
		LEFT JOIN units w ON w.relid = o.relid
	WHERE t.relid = coalesce(doubts_of_unit.relation, t.relid) AND t.nthrough = 0 AND (u.attnum IS NULL OR u.alone)
		AND CASE
			-- its own key, and not that of a person
			WHEN f.conrelid = t.relid THEN coalesce(u.attnum <> f.column_here OR f.columns > 1, true)
			-- people are of rows that reference it, and each row of it is one
			ELSE u.attnum IS NULL AND f.columns = 1 AND w.attnum = f.column_here AND NOT w.alone END
		-- said above, by name
		AND NOT EXISTS (SELECT FROM units n JOIN pg_attribute a ON a.attrelid = t.relid AND a.attname = n.attname AND NOT a.attisdropped
			WHERE n.dataset = t.dataset AND n.relid <> t.relid AND (u.attnum IS NULL OR u.attnum <> a.attnum))
	UNION ALL
	SELECT u.relid::regclass, min(o.relid)::regclass,
		format('unit %s is of type %s, and that of table %s of type %s: they name no person by the same value',
			quote_ident(u.attname), u.atttypid::regtype, min(o.relid::regclass::text), o.atttypid::regtype),
		'give both columns one type, and the same values for the same people'
	FROM units u JOIN units o ON o.dataset = u.dataset AND o.relid <> u.relid AND o.typcategory <> u.typcategory
	WHERE u.relid = coalesce(doubts_of_unit.relation, u.relid)
	GROUP BY u.relid, u.attname, u.atttypid, o.atttypid;
END;

-- By what is found: the server, the extension's own objects, and those of PostgreSQL.  Names of tables come with their
-- schema or in quotes, so that nobody's table passes for one of these.
CREATE OR REPLACE FUNCTION dp_cdp_internal.takes_superuser(object text, remedy text) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp
	AS $$
SELECT remedy !~ '^nothing|; -- as owner of (it|them)$'
	AND (object ~ '^(shared_preload_libraries|max_worker_processes|server|cluster_name|hot_standby_feedback|fsync|full_page_writes|allow_system_table_mods)$'
		OR object ~ '^(ledger|audit|clock|row [0-9]+ of the audit|dp_cdp(_internal)?\.[a-z_]+)$'
		OR object ~ '^(worker|standby|setting|extension|schema|type|event trigger|trigger [a-z_]+ on dp_cdp_internal|FUNCTION|TABLE)[ .]'
		OR object ~ '^function dp_cdp' AND remedy ~ '^REVOKE '
		OR remedy ~ '^(SELECT \* FROM dp_cdp\.harden|SELECT setval|ALTER ROLE .* (NOBYPASSRLS|NOREPLICATION)$)')
$$;
COMMENT ON FUNCTION dp_cdp_internal.takes_superuser(text, text) IS
	'can a superuser alone do what a finding of check_setup() says, in SQL or in the server''s configuration';

-- The owner of the database says how sessions read a backslash, and write a name, and superusers' do.
CREATE OR REPLACE FUNCTION dp_cdp.check_setup()
	RETURNS TABLE(severity text, object text, finding text, remedy text, by_superuser boolean)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
	SET standard_conforming_strings = on SET quote_all_identifiers = off
	AS $$
#variable_conflict use_column
DECLARE
	super boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
	database_owner oid := (SELECT datdba FROM pg_database WHERE datname = current_database());
	version int := current_setting('server_version_num')::int / 10000;
	facts record;
	slots record;
	parameters jsonb := '[]';
	applied jsonb;
	balances jsonb := '[]';
	found jsonb;
	part text;
BEGIN
	IF to_regclass('dp_cdp.datasets') IS NULL OR to_regclass('dp_cdp_internal.dataset') IS NULL OR to_regprocedure('dp_cdp_internal.member_grants()') IS NULL THEN
		RETURN QUERY SELECT 'critical', format('extension %s', 'dp_cdp'),
			'its schemas or tables have other names, or are gone: nothing is released, and nothing here can be checked',
			'ALTER SCHEMA ... RENAME TO dp_cdp, or dp_cdp_internal, and tables likewise; or restore the database from a backup', true;
		RETURN;
	END IF;
	IF NOT super AND NOT pg_has_role(current_user, database_owner, 'USAGE')
		AND NOT EXISTS (SELECT FROM dp_cdp.datasets d WHERE pg_has_role(current_user, coalesce(d.owner::oid, 0), 'USAGE')) THEN
		RAISE EXCEPTION 'only superusers, the owner of the database and owners of datasets may call dp_cdp.check_setup'
			USING ERRCODE = 'insufficient_privilege';
	END IF;
	IF version >= 15 THEN		-- where there are privileges on settings
		EXECUTE 'SELECT coalesce(jsonb_agg(jsonb_build_object(''name'', p.parname, ''grantee'', x.grantee, ''privilege'', x.privilege_type)), ''[]'')'
			' FROM pg_parameter_acl p, aclexplode(p.paracl) x' INTO parameters;
	END IF;
	-- tables to which subscriptions write with their owners' rights: all, until 16 let that be chosen
	EXECUTE 'SELECT coalesce(jsonb_agg(jsonb_build_object(''relid'', t.relid, ''name'', s.subname, ''owner'', s.subowner)), ''[]'')'
		' FROM pg_subscription s JOIN pg_subscription_rel r ON r.srsubid = s.oid,'
		' LATERAL (SELECT r.srrelid AS relid UNION SELECT p.relid FROM pg_partition_tree(r.srrelid) p) t'
		|| CASE WHEN version >= 16 THEN ' WHERE s.subrunasowner' ELSE '' END INTO applied;
	-- what is damaged says so as a finding, and does not hide the others
	FOREACH part IN ARRAY CASE WHEN super		-- nobody else may read the tables
			THEN '{table,ledger,balance,standby,cluster,clock}' ELSE '{table,ledger}' END::text[] LOOP
		BEGIN
			EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(f)), ''[]'') FROM dp_cdp_internal.%I() f', part || '_findings') INTO found;
		EXCEPTION WHEN OTHERS THEN
			found := jsonb_build_array(jsonb_build_object('severity', 'critical', 'object', 'ledger', 'finding', format('cannot be looked at: %s', SQLERRM),
				'remedy', 'mend what it names, or restore the database from a backup and SELECT dp_cdp.adopt_ledger(surcharge_rho => ...)'));
		END;
		balances := balances || found;
	END LOOP;
	SELECT * INTO facts FROM dp_cdp_internal.server_facts();
	SELECT * INTO slots FROM dp_cdp.worker_slots();

	RETURN QUERY
	WITH RECURSIVE
	-- ---------------------------------------------------------------------
	-- who: analysts have a budget or get one with a membership; the hands of
	-- an analyst are the roles it is, inherits from or can become
	-- ---------------------------------------------------------------------
	datasets AS (
		SELECT d.dataset, d.owner::oid AS owner, d.rho_limit, d.rho_remaining, d.default_rho, d.block_every
		FROM dp_cdp.datasets d
		WHERE super OR pg_has_role(current_user, coalesce(d.owner::oid, 0), 'USAGE')
	), budgets AS (
		SELECT b.dataset, b.role::oid AS role, b.role_name, b.rho_limit, b.rho_remaining, b.period
		FROM dp_cdp.budgets b JOIN datasets d ON d.dataset = b.dataset
	), memberships AS (
		SELECT m.member, m.roleid AS role
		FROM pg_auth_members m, LATERAL to_jsonb(m) j
		-- from 16 on, a membership may be of no use
		WHERE NOT j ? 'inherit_option'
			OR (j ->> 'inherit_option')::boolean OR (j ->> 'set_option')::boolean OR m.admin_option
		UNION ALL
		SELECT database_owner, 'pg_database_owner'::regrole		-- which no row says
	), analysts AS (
		SELECT b.dataset, b.role FROM budgets b JOIN pg_roles r ON r.oid = b.role
		UNION
		SELECT a.dataset, m.member FROM analysts a JOIN memberships m ON m.role = a.role
	), reach AS (
		SELECT a.dataset, a.role AS analyst, a.role AS hand FROM analysts a
		UNION
		SELECT h.dataset, h.analyst, m.role
		FROM reach h JOIN pg_roles r ON r.oid = h.hand AND NOT r.rolsuper JOIN memberships m ON m.member = h.hand
	), hands AS (
		SELECT h.dataset, h.hand, string_agg(h.analyst::regrole::text, ', ' ORDER BY h.analyst::regrole::text) AS analysts
		FROM reach h JOIN pg_roles r ON r.oid = h.hand
		WHERE NOT r.rolsuper AND NOT (SELECT a.rolsuper FROM pg_roles a WHERE a.oid = h.analyst)
		GROUP BY h.dataset, h.hand
	), grantees AS (
		SELECT h.dataset, h.hand AS grantee, quote_ident(r.rolname) AS whom, h.analysts
		FROM hands h JOIN pg_roles r ON r.oid = h.hand
		UNION ALL
		SELECT h.dataset, 0, 'PUBLIC', 'every analyst' FROM hands h GROUP BY h.dataset
	),
	-- ---------------------------------------------------------------------
	-- what: tables with a policy, their children, and who reads them in turn
	-- ---------------------------------------------------------------------
	labels AS (
		SELECT l.objoid AS relid, l.objsubid, l.label
		FROM (SELECT objoid, objsubid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
			FROM pg_seclabel
			WHERE provider = 'dp_cdp' AND classoid = 'pg_class'::regclass) l
	), tops AS (
		SELECT l.label ->> 'dataset' AS dataset, l.relid, coalesce((l.label ->> 'unit')::boolean, false) AS has_unit,
			coalesce((l.label ->> 'through')::int, 0) AS nthrough, coalesce((l.label ->> 'block')::boolean, false) AS has_block
		FROM labels l
		WHERE l.objsubid = 0
			AND (super OR EXISTS (SELECT FROM datasets d WHERE d.dataset = l.label ->> 'dataset'))
	), covered AS (
		SELECT t.dataset, t.relid, t.relid AS top FROM tops t
		UNION
		SELECT c.dataset, i.inhrelid, c.top FROM covered c JOIN pg_inherits i ON i.inhparent = c.relid
	), ancestors AS (
		SELECT t.dataset, t.relid AS top, i.inhparent AS relid FROM tops t JOIN pg_inherits i ON i.inhrelid = t.relid
		UNION
		SELECT a.dataset, a.top, i.inhparent FROM ancestors a JOIN pg_inherits i ON i.inhrelid = a.relid
	), views AS (
		SELECT v.dataset, v.top, v.relid, v.private
		FROM (
			SELECT c.dataset, c.top, r.ev_class AS relid, c.relid AS base, dp_cdp_internal.private_rule(r.oid) AS private
			FROM covered c
				JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid
					AND d.classid = 'pg_rewrite'::regclass
				JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> c.relid) v
			JOIN pg_class k ON k.oid = v.relid AND k.relkind IN ('v', 'm')
		WHERE has_any_column_privilege(k.relowner, v.base, 'SELECT')
			AND coalesce(NOT (SELECT option_value::boolean FROM pg_options_to_table(k.reloptions)
				WHERE option_name = 'security_invoker'), true)
		UNION
		SELECT v.dataset, v.top, r.ev_class, v.private OR dp_cdp_internal.private_rule(r.oid)
		FROM views v
			JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = v.relid
				AND d.classid = 'pg_rewrite'::regclass
			JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> v.relid
			JOIN pg_class k ON k.oid = r.ev_class AND k.relkind IN ('v', 'm')
		WHERE has_any_column_privilege(k.relowner, v.relid, 'SELECT')
	), exposed AS (
		-- relations whose privileges matter, by why they do
		SELECT DISTINCT 'protected' AS kind, c.dataset, c.relid, c.relid AS top FROM covered c
		UNION ALL
		SELECT DISTINCT 'ancestor', a.dataset, a.relid, a.top FROM ancestors a
		WHERE NOT EXISTS (SELECT FROM covered c WHERE c.relid = a.relid)
		UNION ALL
		SELECT CASE WHEN k.relkind = 'm' THEN 'copy' ELSE 'view' END || CASE WHEN bool_or(v.private) THEN ' of answers' ELSE '' END,
			v.dataset, v.relid, min(v.top::regclass::text)::regclass::oid
		FROM views v JOIN pg_class k ON k.oid = v.relid GROUP BY v.dataset, v.relid, k.relkind
		UNION ALL
		SELECT DISTINCT 'sequence', c.dataset, d.objid, c.relid
		FROM covered c
			JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relid
				AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
			JOIN pg_class k ON k.oid = d.objid AND k.relkind = 'S'
	), acls AS (
		SELECT e.*, x.privilege_type AS privilege, x.grantee, '' AS columns
		FROM exposed e JOIN pg_class k ON k.oid = e.relid
			CROSS JOIN LATERAL aclexplode(coalesce(k.relacl, acldefault((CASE k.relkind WHEN 'S' THEN 's' ELSE 'r' END)::"char", k.relowner))) x
		WHERE x.grantee <> k.relowner
		UNION ALL
		SELECT e.kind, e.dataset, e.relid, e.top, x.privilege_type, x.grantee,
			' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')'
		FROM exposed e JOIN pg_class k ON k.oid = e.relid JOIN pg_attribute a ON a.attrelid = e.relid AND NOT a.attisdropped
			CROSS JOIN LATERAL aclexplode(a.attacl) x
		WHERE x.grantee <> k.relowner
		GROUP BY e.kind, e.dataset, e.relid, e.top, x.privilege_type, x.grantee
	), granted AS (
		SELECT a.*, g.whom, g.analysts, k.relkind,
			-- hidden: row-level security lets these analysts see no row
			k.relrowsecurity AND a.kind IN ('protected', 'ancestor')
				AND NOT EXISTS (SELECT FROM pg_policy p
					WHERE p.polrelid = a.relid AND p.polpermissive AND p.polcmd IN ('*', 'r')
						AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM hands h
							WHERE h.dataset = a.dataset AND h.hand = ANY (p.polroles))))
				AND NOT EXISTS (SELECT FROM hands h JOIN pg_roles r ON r.oid = h.hand
					WHERE h.dataset = a.dataset AND r.rolbypassrls) AS hidden
		FROM acls a JOIN grantees g ON g.dataset = a.dataset AND g.grantee = a.grantee
			JOIN pg_class k ON k.oid = a.relid
	),
	-- ---------------------------------------------------------------------
	-- outsiders: who holds SELECT on protected tables and pays from no budget of
	-- the dataset; plain SQL, or row-level security and nobody's budget, is theirs
	-- ---------------------------------------------------------------------
	outsiders AS (
		SELECT a.dataset, a.relid, a.columns, r.rolname, coalesce(quote_ident(r.rolname), 'PUBLIC') AS whom,
			a.columns = '' AND (NOT k.relrowsecurity OR coalesce(r.rolbypassrls, false) OR EXISTS (SELECT FROM pg_policy p
				WHERE p.polrelid = a.relid AND p.polpermissive AND p.polcmd IN ('*', 'r')
					AND (0 = ANY (p.polroles) OR a.grantee = 0 OR EXISTS (SELECT FROM unnest(p.polroles) o WHERE pg_has_role(a.grantee, o, 'USAGE')))))
				AS sees_rows
		FROM acls a JOIN pg_class k ON k.oid = a.relid LEFT JOIN pg_roles r ON r.oid = a.grantee
			LEFT JOIN datasets d ON d.dataset = a.dataset
		WHERE a.kind = 'protected' AND a.privilege = 'SELECT'
			AND NOT EXISTS (SELECT FROM grantees g WHERE g.dataset = a.dataset AND g.grantee = a.grantee)
			AND (a.grantee = 0 OR NOT r.rolsuper AND NOT pg_has_role(a.grantee, k.relowner, 'USAGE')
				AND NOT pg_has_role(a.grantee, coalesce(d.owner, k.relowner), 'USAGE'))
	),
	-- ---------------------------------------------------------------------
	-- copies: relations without a policy that analysts may read, and that have
	-- all columns of a protected table, by name and type
	-- ---------------------------------------------------------------------
	readers AS (
		SELECT k.oid AS relid, x.grantee FROM pg_class k CROSS JOIN LATERAL aclexplode(k.relacl) x
		WHERE x.privilege_type = 'SELECT'
		UNION
		SELECT a.attrelid, x.grantee FROM pg_attribute a CROSS JOIN LATERAL aclexplode(a.attacl) x
		WHERE a.attacl IS NOT NULL AND x.privilege_type = 'SELECT'
		UNION
		SELECT k.oid, k.relowner FROM pg_class k
	), readable AS (
		SELECT k.oid AS relid, r.grantee, n.nspname, k.relname
		FROM readers r JOIN pg_class k ON k.oid = r.relid JOIN pg_namespace n ON n.oid = k.relnamespace
		WHERE r.grantee IN (SELECT g.grantee FROM grantees g)
			AND k.relkind IN ('r', 'p', 'm', 'f', 'v') AND k.relpersistence <> 't' AND k.oid >= 16384
			AND k.oid NOT IN (SELECT c.relid FROM covered c)
			AND k.oid NOT IN (SELECT v.relid FROM views v)
			AND NOT (k.relkind = 'v' AND EXISTS (SELECT FROM pg_options_to_table(k.reloptions)
				WHERE option_name = 'security_invoker' AND option_value::boolean))
			-- of an analyst's own, which shows what he may read
			AND NOT (k.relkind = 'v' AND k.relowner IN (SELECT g.grantee FROM grantees g))
			AND NOT (k.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy p
				WHERE p.polrelid = k.oid AND p.polpermissive AND p.polcmd IN ('*', 'r')))
	), shapes AS (
		SELECT a.attrelid AS relid, array_agg(c.shape ORDER BY c.shape) AS shape
		FROM pg_attribute a CROSS JOIN LATERAL (SELECT a.attname || ' ' || a.atttypid) AS c(shape)
		WHERE a.attnum > 0 AND NOT a.attisdropped
			AND a.attrelid IN (SELECT r.relid FROM readable r UNION SELECT t.relid FROM tops t)
		GROUP BY a.attrelid
	), originals AS (
		SELECT t.dataset, t.relid, s.shape, coalesce(u.attname || ' ' || u.atttypid, s.shape[1]) AS key, t.has_unit
		FROM tops t JOIN shapes s ON s.relid = t.relid
			LEFT JOIN labels l ON l.relid = t.relid AND l.objsubid > 0 AND l.label ? 'unit'
			LEFT JOIN pg_attribute u ON u.attrelid = l.relid AND u.attnum = l.objsubid AND NOT u.attisdropped
	), resembling AS (
		SELECT o.shape AS original, q.shape
		FROM (SELECT DISTINCT shape, key FROM originals) o
			JOIN (SELECT s.shape, unnest(s.shape) AS key
				FROM (SELECT DISTINCT s.shape FROM shapes s JOIN readable r ON r.relid = s.relid) s) q ON q.key = o.key
		WHERE q.shape @> o.shape
		GROUP BY o.shape, q.shape
	), copies AS (
		SELECT r.relid, g.whom, min(g.analysts) AS analysts, bool_or(o.has_unit) AS has_unit,
			min(o.relid::regclass::text) AS original, min(o.dataset) AS dataset, r.nspname, r.relname
		FROM readable r JOIN shapes s ON s.relid = r.relid
			JOIN resembling b ON b.shape = s.shape
			JOIN originals o ON o.shape = b.original
			JOIN grantees g ON g.dataset = o.dataset AND g.grantee = r.grantee
		WHERE (r.nspname, r.relname, o.dataset) NOT IN (SELECT h.schema, h.name, h.dataset FROM dp_cdp.reserved_names h WHERE h.released)
		GROUP BY r.relid, g.whom, r.nspname, r.relname
	),
	-- ---------------------------------------------------------------------
	-- tables without a policy whose rows are people's by a foreign key
	-- ---------------------------------------------------------------------
	keys AS MATERIALIZED (
		SELECT f.oid, f.conrelid, f.confrelid FROM pg_constraint f
		WHERE f.contype = 'f' AND f.convalidated AND f.conparentid = 0 AND f.conrelid <> f.confrelid
			AND f.conrelid NOT IN (SELECT l.relid FROM labels l WHERE l.objsubid = 0)
			AND f.conrelid NOT IN (SELECT c.relid FROM covered c)
	), referencing AS (
		SELECT c.dataset, k.conrelid AS relid, k.oid AS key FROM covered c JOIN keys k ON k.confrelid = c.relid
		UNION
		SELECT r.dataset, k.conrelid, k.oid FROM referencing r JOIN keys k ON k.confrelid = r.relid
	), dependants AS (
		SELECT r.dataset, r.relid, min(r.key) AS key,
			(SELECT string_agg(DISTINCT g.whom, ', ' ORDER BY g.whom) FROM readable d
				JOIN grantees g ON g.dataset = r.dataset AND g.grantee = d.grantee WHERE d.relid = r.relid) AS readers
		FROM referencing r JOIN pg_class k ON k.oid = r.relid JOIN pg_namespace n ON n.oid = k.relnamespace
		WHERE (n.nspname, k.relname, r.dataset) NOT IN (SELECT h.schema, h.name, h.dataset FROM dp_cdp.reserved_names h WHERE h.released)
		GROUP BY r.dataset, r.relid
	), units AS (
		SELECT t.dataset, t.relid, u.attnum, u.attname, u.atttypid
		FROM tops t JOIN labels l ON l.relid = t.relid AND l.objsubid > 0 AND l.label ? 'unit'
			JOIN pg_attribute u ON u.attrelid = l.relid AND u.attnum = l.objsubid AND NOT u.attisdropped
	), doubts AS MATERIALIZED (
		SELECT d.* FROM dp_cdp_internal.doubts_of_unit() d JOIN tops t ON t.relid = d.relation
	),
	-- ---------------------------------------------------------------------
	-- findings
	-- ---------------------------------------------------------------------
	findings AS (
		SELECT CASE
				WHEN g.kind = 'sequence' THEN 'warning'
				WHEN g.kind LIKE '% of answers' OR g.kind = 'view' THEN 'info'
				WHEN g.privilege IN ('SELECT', 'TRIGGER') THEN 'critical'
				WHEN g.privilege IN ('INSERT', 'UPDATE')
					AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = g.relid AND (i.indisunique OR i.indisexclusion)) THEN 'critical'
				ELSE 'warning'
			END AS severity,
			g.relid::regclass::text AS object,
			format(CASE
					WHEN g.kind = 'sequence' THEN '%1$s is granted to %2$s (%3$s), whom this sequence of protected table %4$s tells how many rows were inserted'
					WHEN g.kind = 'copy' THEN 'copy of rows of protected table %4$s, not protected itself: SELECT is granted to %2$s (%3$s)'
					WHEN g.kind = 'copy of answers' THEN 'made of protected table %4$s with private aggregates, and granted to %2$s (%3$s): review that it holds released values only'
					WHEN g.kind = 'view of answers' THEN 'reads protected table %4$s with its owner''s rights, with private aggregates, and is granted to %2$s (%3$s): review what else it shows'
					WHEN g.kind = 'view' THEN 'reads protected table %4$s with its owner''s rights, and is granted to %2$s (%3$s): raw rows wherever the library is not loaded'
					WHEN g.kind = 'ancestor' THEN 'reads the rows of protected table %4$s, its descendant, but is not protected; SELECT is granted to %2$s (%3$s)'
					WHEN g.privilege = 'SELECT' AND g.columns <> '' THEN 'SELECT on columns of protected rows is granted to %2$s (%3$s): plain SQL reads them wherever the library is not loaded'
					WHEN g.privilege = 'SELECT' THEN 'SELECT on protected rows is granted to %2$s (%3$s): plain SQL reads them'
					WHEN g.privilege = 'TRIGGER' THEN 'TRIGGER is granted to %2$s (%3$s), whose code can get every new row'
					WHEN g.privilege IN ('INSERT', 'UPDATE') THEN '%1$s is granted to %2$s (%3$s): a violated constraint tells whether a key exists'
					WHEN g.privilege = 'REFERENCES' THEN 'REFERENCES is granted to %2$s (%3$s): foreign keys tell whether a key exists'
					ELSE '%1$s is granted to %2$s (%3$s), who have no business writing here'
				END, g.privilege, g.whom, g.analysts, g.top::regclass) AS finding,
			format('REVOKE %s%s ON %s%s FROM %s', g.privilege, g.columns,
				CASE g.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END, g.relid::regclass, g.whom) AS remedy
		FROM granted g
		WHERE NOT (g.privilege = 'SELECT' AND g.hidden)
			-- a foreign key needs all columns of a unique index
			AND NOT (g.privilege = 'REFERENCES' AND g.columns <> '' AND NOT EXISTS (SELECT FROM pg_index i
				WHERE i.indrelid = g.relid AND i.indisunique AND NOT EXISTS (SELECT FROM unnest(i.indkey::int2[]) WITH ORDINALITY c (attnum, n)
					WHERE c.n <= i.indnkeyatts AND (c.attnum = 0
						OR NOT has_column_privilege(coalesce((SELECT r.rolname FROM pg_roles r WHERE r.oid = g.grantee), 'public'), g.relid, c.attnum, 'REFERENCES')))))
			AND (g.privilege = 'SELECT' OR g.kind IN ('protected', 'sequence'))

		UNION ALL
		SELECT 'info', format('dataset %s', quote_ident(o.dataset)),
			format(CASE WHEN o.sees_rows THEN 'plain SQL shows rows of its tables, without noise, to roles that hold SELECT; as they have no budget, their dp_* aggregates are refused: %s'
				ELSE 'roles hold SELECT on its tables that shows them no rows; as they have no budget, their private queries are refused: %s' END,
				string_agg(format('%s (%s%s)', o.whom, o.first, CASE WHEN o.n > 1 THEN format(' and %s more', o.n - 1) ELSE '' END), ', ' ORDER BY o.whom)),
			format(CASE WHEN o.sees_rows THEN 'nothing, if they are to see rows; else %2$s; and for answers with noise %1$s' ELSE '%1$s; or %2$s' END,
				format('SELECT dp_cdp.set_budget(%L, %s, rho => ...)', o.dataset, CASE WHEN count(*) = 1 THEN coalesce(quote_literal(min(o.rolname)), '...') ELSE '...' END),
				string_agg(o.revoked, '; ' ORDER BY o.whom))
		FROM (SELECT o.dataset, o.sees_rows, o.whom, o.rolname, count(DISTINCT o.relid) AS n, min(o.relid::regclass::text) AS first,
				string_agg(format('REVOKE SELECT%s ON %s FROM %s', o.columns, o.relid::regclass, o.whom), '; ' ORDER BY o.relid::regclass::text, o.columns) AS revoked
			FROM outsiders o GROUP BY o.dataset, o.sees_rows, o.whom, o.rolname) o
		GROUP BY o.dataset, o.sees_rows

		-- members of this extension: what the script gave to nobody
		UNION ALL
		SELECT CASE WHEN m.kind = 'TYPE' OR m.name IN ('create_dataset', 'debit_budget') OR m.privilege = 'SELECT' AND m.analysts IS NULL THEN 'warning' ELSE 'critical' END,
			CASE m.kind WHEN 'ROUTINE' THEN 'function ' WHEN 'TYPE' THEN 'type ' WHEN 'SCHEMA' THEN 'schema ' ELSE '' END || m.object,
			format(CASE m.kind WHEN 'ROUTINE' THEN '%1$s is granted to %2$s, and the extension gives it to nobody: who may call it has a share in administration'
					WHEN 'TYPE' THEN '%1$s on an internal type is granted to %2$s'
					WHEN 'SCHEMA' THEN '%1$s is granted to %2$s, whose objects may pass for those of the extension'
					ELSE '%1$s on a table of the ledger is granted to %2$s, who may change or read budgets' END,
				m.privilege, m.whom || coalesce(' (' || m.analysts || ')', '')),
			-- what the owner of the database has granted he takes back, in whose name others may do it
			format(CASE WHEN m.grantor = 'pg_database_owner'::regrole THEN 'SET ROLE pg_database_owner; %s; RESET ROLE' ELSE '%s' END,
				format('REVOKE %s%s ON %s %s FROM %s', m.privilege, coalesce(' (' || quote_ident(m."column") || ')', ''),
					CASE m.kind WHEN 'VIEW' THEN 'TABLE' ELSE m.kind END, m.object, m.whom))
		FROM (
			SELECT m.*, CASE m.grantee WHEN 0 THEN 'PUBLIC' ELSE m.grantee::regrole::text END AS whom, p.proname AS name,
				CASE m.grantee WHEN 0 THEN 'every analyst' ELSE (SELECT min(g.analysts) FROM grantees g WHERE g.grantee = m.grantee) END AS analysts
			FROM dp_cdp_internal.member_grants() m LEFT JOIN pg_proc p ON m.kind = 'ROUTINE' AND p.oid = m.objid
			WHERE NOT m.to_all AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = m.grantee AND r.rolsuper)) m
		WHERE (super OR m.analysts IS NOT NULL) AND NOT m.given
			-- what administrators grant to roles for auditing, monitoring, datasets and standbys
			AND NOT (m.kind = 'VIEW' AND m.privilege = 'SELECT' AND m.analysts IS NULL)
			AND NOT (m.kind = 'ROUTINE' AND m.grantee <> 0 AND (m.analysts IS NULL OR m.name IN ('create_dataset', 'debit_budget')))

		UNION ALL
		SELECT 'warning', a.relid::regclass::text,
			format('has protected table %s among its descendants, but is not protected', min(a.top::regclass::text)),
			format('protect %s instead, or end the inheritance', a.relid::regclass)
		FROM ancestors a WHERE NOT EXISTS (SELECT FROM covered c WHERE c.relid = a.relid)
		GROUP BY a.relid

		-- reloads: names that protected tables have left, and copies
		UNION ALL
		SELECT 'critical', h.relation::text,
			format('has the name of a table that was protected in dataset %s, but is not protected: who asks by that name may get raw rows',
				quote_ident(h.dataset)),
			format('call dp_cdp.replace_table or dp_cdp.protect_table for it, or SELECT dp_cdp.forget_name(%L)', h.relation)
		FROM dp_cdp.reserved_names h JOIN pg_class k ON k.oid = h.relation
		WHERE NOT h.released AND k.relkind IN ('r', 'p', 'm', 'f', 'v')
			AND (super OR h.dataset IN (SELECT d.dataset FROM datasets d))
			AND h.relation::oid NOT IN (SELECT c.relid FROM covered c)
		GROUP BY h.relation, h.dataset
		UNION ALL
		SELECT CASE WHEN c.has_unit THEN 'critical' ELSE 'warning' END, c.relid::regclass::text,
			format('has the columns of protected table %s, but is not protected, and %s may read it (%s)', c.original, c.whom, c.analysts),
			CASE WHEN c.whom = k.relowner::regrole::text
				THEN format('drop or protect it, or SELECT dp_cdp.forget_name(%L, %L)', c.relid::regclass, c.dataset)
				ELSE format('REVOKE SELECT ON %s FROM %s', c.relid::regclass, c.whom) END
		FROM copies c JOIN pg_class k ON k.oid = c.relid

		UNION ALL
		SELECT 'critical', 'extension dp_cdp', format('%s of its objects belong to %s, who is no superuser: whoever acts as that role can change the ledger',
				count(*), m.owner::regrole),
			format('ALTER ROLE %1$s SUPERUSER; or let a superuser own what %1$s owns: REASSIGN OWNED BY %1$s TO ...', m.owner::regrole)
		FROM (SELECT c.relowner AS owner FROM pg_class c WHERE c.relnamespace IN ('dp_cdp'::regnamespace, 'dp_cdp_internal'::regnamespace) AND c.relkind IN ('r', 'v', 'S')
			UNION ALL SELECT p.proowner FROM pg_proc p WHERE p.pronamespace IN ('dp_cdp'::regnamespace, 'dp_cdp_internal'::regnamespace)
			UNION ALL SELECT e.extowner FROM pg_extension e WHERE e.extname = 'dp_cdp') m
		WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = m.owner AND r.rolsuper)
		GROUP BY m.owner

		-- roles: what an analyst is, or can become
		UNION ALL
		SELECT p.severity, format('role %s', h.analyst::regrole),
			CASE WHEN h.analyst = h.hand THEN '' ELSE format('can act as role %s, which ', h.hand::regrole) END || p.finding,
			CASE WHEN h.hand = 'pg_database_owner'::regrole THEN format('ALTER DATABASE %I OWNER TO ...', current_database())
				WHEN h.analyst <> h.hand THEN format('REVOKE %s FROM %s', h.hand::regrole,
					(SELECT m.member::regrole FROM memberships m JOIN reach r ON r.hand = m.member AND r.analyst = h.analyst
					WHERE m.role = h.hand ORDER BY m.member <> h.analyst, m.member LIMIT 1))
				WHEN EXISTS (SELECT FROM budgets b WHERE b.role = h.analyst)
				THEN coalesce(p.remedy, (SELECT string_agg(format('SELECT dp_cdp.drop_budget(%L, %L)', b.dataset, b.role::regrole), '; ')
					FROM budgets b WHERE b.role = h.analyst))
				ELSE coalesce(p.remedy, 'take its membership in roles that have a budget away') END
		FROM (SELECT DISTINCT analyst, hand FROM reach) h
			JOIN pg_roles r ON r.oid = h.hand
			CROSS JOIN LATERAL (
				SELECT 'critical', 'is a superuser: it reads every table', NULL WHERE r.rolsuper
				UNION ALL
				SELECT v.severity, v.finding, format('ALTER ROLE %s %s', h.hand::regrole, v.remedy)
				FROM (VALUES
					(r.rolbypassrls, 'warning', 'bypasses row-level security: SELECT that is granted for listing tables shows rows to it', 'NOBYPASSRLS'),
					(r.rolreplication, 'critical', 'may replicate: it can copy the database', 'NOREPLICATION'),
					(r.rolcreaterole AND version < 16, 'critical', 'has CREATEROLE: it can make itself a member of any role, pg_read_all_data or the owner of a table', 'NOCREATEROLE')
					) AS v(applies, severity, finding, remedy)
				WHERE v.applies AND NOT r.rolsuper
				UNION ALL
				SELECT v.severity, v.finding, NULL
				FROM (VALUES
					('pg_read_all_data', 'critical', 'reads every table that is not protected, such as copies, and protected ones wherever the library is not loaded'),
					('pg_execute_server_program', 'critical', 'runs programs on the server, which read its files'),
					('pg_read_server_files', 'critical', 'reads the server''s files'),
					('pg_write_server_files', 'critical', 'writes the server''s files'),
					('pg_create_subscription', 'critical', 'can copy tables by a subscription'),
					('pg_write_all_data', 'warning', 'writes every table: a violated constraint tells whether a key exists'),
					('pg_maintain', 'warning', 'maintains every table: VACUUM and ANALYZE tell the number of rows'),
					('pg_monitor', 'warning', 'sees statistics and sizes, which tell numbers of rows'),
					('pg_read_all_stats', 'warning', 'sees statistics, which tell numbers of rows'),
					('pg_stat_scan_tables', 'warning', 'examines tables, which tells numbers of rows')
					) AS v(role, severity, finding)
				WHERE v.role = r.rolname
				UNION ALL
				SELECT 'critical', format('owns protected table %s', min(c.relid::regclass::text)), NULL
				FROM covered c JOIN pg_class k ON k.oid = c.relid WHERE k.relowner = h.hand AND NOT r.rolsuper HAVING count(*) > 0
				UNION ALL
				SELECT 'critical', format('owns dataset %s, and so sets its own budget', quote_ident(d.dataset)), NULL
				FROM datasets d WHERE d.owner = h.hand AND NOT r.rolsuper AND EXISTS (SELECT FROM hands x WHERE x.hand = h.hand AND x.dataset = d.dataset)
				UNION ALL
				SELECT 'critical', 'owns extension dp_cdp, and so the ledger', NULL
				FROM pg_extension e WHERE e.extname = 'dp_cdp' AND e.extowner = h.hand AND NOT r.rolsuper
				UNION ALL
				SELECT 'warning', 'owns the database', NULL
				FROM pg_database d WHERE d.datname = current_database() AND d.datdba = h.hand AND NOT r.rolsuper
			) AS p(severity, finding, remedy)

		-- foreign keys into protected tables
		UNION ALL
		SELECT 'warning', f.conrelid::regclass::text,
			format('foreign key %s references protected table %s, and %s may insert here: success would tell whether a key exists; the library refuses it',
				quote_ident(f.conname), f.confrelid::regclass, string_agg(DISTINCT h.hand::regrole::text, ', ')),
			string_agg(DISTINCT format('REVOKE INSERT, UPDATE ON %s FROM %s', f.conrelid::regclass, h.hand::regrole), '; ')
		FROM pg_constraint f
			JOIN covered c ON c.relid = f.confrelid
			JOIN hands h ON h.dataset = c.dataset
		WHERE f.contype = 'f' AND NOT EXISTS (SELECT FROM covered o WHERE o.relid = f.conrelid)
			AND (has_any_column_privilege(h.hand, f.conrelid, 'INSERT') OR has_any_column_privilege(h.hand, f.conrelid, 'UPDATE'))
		GROUP BY f.oid, f.conrelid, f.confrelid, f.conname

		-- policies of columns whose type was changed
		UNION ALL
		SELECT 'warning', l.relid::regclass::text, format('column %s: %s, and queries that need them are refused', quote_ident(a.attname), u.unfit),
			format('SELECT dp_cdp.set_bounds(%1$L, %2$L, ...) or dp_cdp.set_keys(%1$L, %2$L, ...), or drop_bounds and drop_keys', l.relid::regclass, a.attname)
		FROM tops t JOIN labels l ON l.relid = t.relid AND l.objsubid > 0
			JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.objsubid AND NOT a.attisdropped
			CROSS JOIN LATERAL (SELECT dp_cdp_internal.unfit_policy(l.relid, a.attname, l.label) AS unfit) u
		WHERE u.unfit IS NOT NULL

		-- tables that protected ones reference: each new row locks one there
		UNION ALL
		SELECT 'warning', f.confrelid::regclass::text,
			format('foreign key %s of protected table %s references it, and %s may write here: to wait for a lock tells which of its rows are referenced',
				quote_ident(f.conname), f.conrelid::regclass, string_agg(DISTINCT h.hand::regrole::text, ', ')),
			string_agg(DISTINCT format('REVOKE UPDATE, DELETE ON %s FROM %s', f.confrelid::regclass, h.hand::regrole), '; ')
		FROM pg_constraint f
			JOIN covered c ON c.relid = f.conrelid AND f.conparentid = 0
			JOIN hands h ON h.dataset = c.dataset
		WHERE f.contype = 'f' AND NOT EXISTS (SELECT FROM covered o WHERE o.relid = f.confrelid)
			AND (has_any_column_privilege(h.hand, f.confrelid, 'UPDATE') OR has_table_privilege(h.hand, f.confrelid, 'DELETE'))
		GROUP BY f.oid, f.conrelid, f.confrelid, f.conname

		-- what queries of rows may not use, because others own it
		UNION ALL
		SELECT 'warning', s.relid::regclass::text,
			format('%s, of its column %s, belongs to %s: queries that read the column are refused', s.what, quote_ident(s.attname), s.owner::regrole),
			format('ALTER %s OWNER TO %s', s.what, s.relowner::regrole)
		FROM (SELECT c.dataset, c.relid, a.attname, k.relowner, o.what, o.owner
			FROM covered c JOIN pg_class k ON k.oid = c.relid AND c.relid = c.top
				JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum > 0 AND NOT a.attisdropped
				CROSS JOIN LATERAL (
					SELECT format('TYPE %s', t.oid::regtype), t.typowner FROM pg_type t WHERE t.oid = a.atttypid
					UNION ALL
					SELECT format('COLLATION %s', l.oid::regcollation), l.collowner FROM pg_collation l WHERE l.oid = a.attcollation
				) AS o(what, owner)) s
			JOIN pg_roles r ON r.oid = s.owner AND NOT r.rolsuper
			LEFT JOIN datasets d ON d.dataset = s.dataset
		WHERE s.owner <> s.relowner AND s.owner IS DISTINCT FROM d.owner
		UNION ALL
		SELECT 'warning', k.oid::regclass::text,
			format('belongs to %s, and its rows to protected table %s: queries of that are refused', k.relowner::regrole, t.oid::regclass),
			format('ALTER TABLE %s OWNER TO %s', k.oid::regclass, t.relowner::regrole)
		FROM covered c JOIN pg_class k ON k.oid = c.relid JOIN pg_class t ON t.oid = c.top
			JOIN pg_roles r ON r.oid = k.relowner AND NOT r.rolsuper
			LEFT JOIN datasets d ON d.dataset = c.dataset
		WHERE k.relowner <> t.relowner AND k.relowner IS DISTINCT FROM d.owner

		-- keys that not everybody is shown
		UNION ALL
		SELECT 'info', f.conrelid::regclass::text,
			format('the keys of its column %s are those of %s, which %s may not read: they are selected privately for them',
				quote_ident(a.attname), f.confrelid::regclass, string_agg(DISTINCT b.role::regrole::text, ', ')),
			'nothing, unless everybody may know these keys; then '
				|| string_agg(DISTINCT format('GRANT SELECT (%I) ON %s TO %s', ka.attname, f.confrelid::regclass, b.role::regrole), '; ')
		FROM pg_constraint f
			JOIN covered c ON c.relid = f.conrelid AND c.relid = c.top
			JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
			JOIN pg_attribute ka ON ka.attrelid = f.confrelid AND ka.attnum = f.confkey[1]
			JOIN budgets b ON b.dataset = c.dataset
			JOIN pg_roles r ON r.oid = b.role
		WHERE f.contype = 'f' AND f.conparentid = 0 AND cardinality(f.conkey) = 1
			AND NOT EXISTS (SELECT FROM covered o WHERE o.relid = f.confrelid)
			AND NOT EXISTS (SELECT FROM labels l WHERE l.relid = f.conrelid AND l.objsubid = a.attnum AND l.label ?| '{keys,unit,through}')
			-- rows that are people's as well
			AND NOT EXISTS (SELECT FROM units u JOIN pg_attribute x ON x.attname = u.attname AND x.atttypid = u.atttypid AND NOT x.attisdropped
				WHERE u.dataset = c.dataset AND x.attrelid = f.confrelid)
			AND NOT EXISTS (SELECT FROM pg_constraint g JOIN covered o ON o.relid = g.confrelid WHERE g.contype = 'f' AND g.conrelid = f.confrelid)
			AND NOT has_column_privilege(b.role, f.confrelid, f.confkey[1], 'SELECT')
		GROUP BY f.oid, f.conrelid, f.confrelid, a.attname

		-- tables that list the people
		UNION ALL
		SELECT 'info', f.confrelid::regclass::text,
			format('its column %s lists the people of protected table %s, and %s may read it without noise: who is in the data is known to them',
				quote_ident(ka.attname), min(f.conrelid::regclass::text), string_agg(DISTINCT g.whom, ', ')),
			format('SELECT dp_cdp.protect_table(%L, %L, unit => %L)', f.confrelid::regclass, c.dataset, ka.attname)
		FROM pg_constraint f
			JOIN covered c ON c.relid = f.conrelid AND c.relid = c.top
			JOIN labels l ON l.relid = f.conrelid AND l.objsubid = f.conkey[1] AND l.label ? 'unit'
			JOIN pg_attribute ka ON ka.attrelid = f.confrelid AND ka.attnum = f.confkey[1]
			JOIN readable r ON r.relid = f.confrelid
			JOIN grantees g ON g.dataset = c.dataset AND g.grantee = r.grantee
		WHERE f.contype = 'f' AND f.conparentid = 0 AND cardinality(f.conkey) = 1
		GROUP BY f.confrelid, ka.attname, c.dataset

		-- functions with their owner's rights
		UNION ALL
		SELECT 'info', format('function %s', p.oid::regprocedure),
			format('runs with the rights of %s, who may read protected table %s, which it mentions, and %s may execute it: review what it returns',
				p.proowner::regrole, min(k.oid::regclass::text), string_agg(DISTINCT h.hand::regrole::text, ', ')),
			format('REVOKE EXECUTE ON %s %s FROM PUBLIC', CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, p.oid::regprocedure)
		FROM pg_proc p
			JOIN covered c ON true
			JOIN pg_class k ON k.oid = c.relid
			JOIN hands h ON h.dataset = c.dataset AND h.hand <> p.proowner
		WHERE p.prosecdef AND p.prolang NOT IN (SELECT l.oid FROM pg_language l WHERE l.lanname IN ('internal', 'c'))
			AND p.pronamespace NOT IN ('dp_cdp'::regnamespace, 'dp_cdp_internal'::regnamespace)
			AND coalesce(p.prosrc, '') || coalesce(pg_get_function_sqlbody(p.oid), '')
				~* ('(?<![[:alnum:]_])' || regexp_replace(k.relname, '([^[:alnum:]_])', '\\\1', 'g') || '(?![[:alnum:]_])')
			AND has_any_column_privilege(p.proowner, c.relid, 'SELECT')
			AND has_function_privilege(h.hand, p.oid, 'EXECUTE')
		GROUP BY p.oid, p.proowner, p.prokind

		-- code of analysts that protected tables run
		UNION ALL
		SELECT 'critical', c.relid::regclass::text,
			format('function %s, which belongs to %s (%s), runs on its rows%s', p.oid::regprocedure, p.proowner::regrole, min(h.analysts),
				', with the rights of the owner of subscription ' || quote_ident(min(c.subscription))),
			'drop what uses the function' || coalesce((SELECT format(', or ALTER FUNCTION %s OWNER TO %s', p.oid::regprocedure, k.relowner::regrole)
				FROM pg_class k WHERE k.oid = c.relid AND k.relowner <> p.proowner), '')
		FROM (SELECT c.dataset, c.relid, NULL AS subscription FROM covered c
				UNION ALL
				SELECT d.dataset, a.relid, a.name FROM datasets d, jsonb_to_recordset(applied) AS a(relid oid, name text)) c
			CROSS JOIN LATERAL (
				SELECT 'pg_trigger'::regclass AS classid, t.oid AS objid FROM pg_trigger t WHERE t.tgrelid = c.relid
				UNION ALL SELECT 'pg_class'::regclass, i.indexrelid FROM pg_index i WHERE i.indrelid = c.relid
				UNION ALL SELECT 'pg_attrdef'::regclass, a.oid FROM pg_attrdef a WHERE a.adrelid = c.relid
				UNION ALL SELECT 'pg_constraint'::regclass, n.oid FROM pg_constraint n WHERE n.conrelid = c.relid
				UNION ALL SELECT 'pg_policy'::regclass, y.oid FROM pg_policy y WHERE y.polrelid = c.relid
				UNION ALL SELECT 'pg_rewrite'::regclass, w.oid FROM pg_rewrite w WHERE w.ev_class = c.relid) part
			JOIN pg_depend d ON d.classid = part.classid AND d.objid = part.objid AND d.refclassid = 'pg_proc'::regclass
			JOIN pg_proc p ON p.oid = d.refobjid
			JOIN hands h ON h.dataset = c.dataset AND h.hand = p.proowner
		GROUP BY c.relid, p.oid, p.proowner

		-- tables whose triggers run with the rights of a subscription's owner
		UNION ALL
		SELECT 'critical', k.oid::regclass::text,
			format('subscription %s writes here with the rights of %s, which has triggers that %s makes (%s) read all tables',
				quote_ident(a.name), a.owner::regrole, g.whom, min(g.analysts)),
			CASE WHEN t.grantee = k.relowner THEN format('ALTER TABLE %s OWNER TO %s', k.oid::regclass, a.owner::regrole)
				ELSE format('REVOKE TRIGGER ON %s FROM %s', k.oid::regclass, g.whom) END
				|| CASE WHEN version >= 16 THEN format(', or ALTER SUBSCRIPTION %I SET (run_as_owner = false)', a.name) ELSE '' END
		FROM jsonb_to_recordset(applied) AS a(relid oid, name text, owner oid)
			JOIN pg_class k ON k.oid = a.relid
			CROSS JOIN LATERAL (
				SELECT k.relowner AS grantee
				UNION
				SELECT x.grantee FROM aclexplode(k.relacl) x WHERE x.privilege_type = 'TRIGGER') t
			JOIN grantees g ON g.grantee = t.grantee AND g.grantee <> a.owner
		GROUP BY k.oid, a.name, a.owner, g.whom, t.grantee

		-- privileges on tables to come
		UNION ALL
		SELECT 'warning', format('default privileges of %s', d.defaclrole::regrole),
			format('%s on its future tables%s will be granted to %s (%s)', x.privilege_type,
				CASE WHEN d.defaclnamespace = 0 THEN '' ELSE format(' in schema %s', d.defaclnamespace::regnamespace) END,
				g.whom, g.analysts),
			format('ALTER DEFAULT PRIVILEGES FOR ROLE %s%s REVOKE %s ON TABLES FROM %s', d.defaclrole::regrole,
				CASE WHEN d.defaclnamespace = 0 THEN '' ELSE format(' IN SCHEMA %s', d.defaclnamespace::regnamespace) END,
				x.privilege_type, g.whom)
		FROM pg_default_acl d
			CROSS JOIN LATERAL aclexplode(d.defaclacl) x
			JOIN grantees g ON g.grantee = x.grantee
		WHERE d.defaclobjtype = 'r' AND x.grantee <> d.defaclrole AND x.privilege_type IN ('SELECT', 'TRIGGER')
			AND EXISTS (SELECT FROM covered c JOIN pg_class k ON k.oid = c.relid
				WHERE c.dataset = g.dataset AND k.relowner = d.defaclrole
					AND d.defaclnamespace IN (0, k.relnamespace))
		GROUP BY d.defaclrole, d.defaclnamespace, x.privilege_type, g.whom, g.analysts

		-- settings that are for superusers
		UNION ALL
		SELECT 'warning', format('setting %s', p.name),
			format('%s on it is granted to %s (%s)', p.privilege, g.whom, min(g.analysts)),
			format('REVOKE %s ON PARAMETER %s FROM %s', p.privilege, p.name, g.whom)
		FROM jsonb_to_recordset(parameters) AS p(name text, grantee oid, privilege text)
			JOIN grantees g ON g.grantee = p.grantee
		GROUP BY p.name, p.privilege, g.whom

		-- statistics
		UNION ALL
		SELECT 'warning', CASE h.class
				WHEN 'statistics' THEN 'statistics functions' WHEN 'sizes' THEN 'size functions'
				WHEN 'planner' THEN 'pg_class' WHEN 'extensions' THEN 'functions of extensions' ELSE 'functions that leave traces' END,
			CASE h.class
				WHEN 'planner' THEN 'PUBLIC reads the planner''s counters (reltuples, relpages)'
				ELSE format('open to PUBLIC: %s and %s more', min(h.name), count(*) - 1)
					|| coalesce((SELECT ', of ' || string_agg(DISTINCT t.extension, ', ' ORDER BY t.extension)
						FROM dp_cdp_internal.telling_functions() t WHERE h.class = 'extensions' AND t.oid = ANY (array_agg(h.oid))), '') END
			|| CASE h.class
				WHEN 'traces' THEN '; an expression that writes can carry data out of a query'
				ELSE '; they tell how many rows a table has or a query met' END,
			'SELECT * FROM dp_cdp.harden()' || h.by_owner
		FROM (SELECT *, CASE WHEN NOT super AND pg_has_role(h.owner, 'USAGE') THEN '; -- as owner of them' ELSE '' END AS by_owner
			FROM dp_cdp_internal.hardening() h) h
		WHERE h.grantee = 'PUBLIC' AND h.held AND NOT h.wanted
		GROUP BY h.class, h.by_owner
		UNION ALL
		SELECT 'warning', h.object,
			format('%s is granted to %s (%s); it tells how many rows a table has or a query met', h.privilege, g.whom, g.analysts),
			format('REVOKE %s%s ON %s FROM %s', h.privilege, CASE WHEN h."column" <> '' THEN format(' (%I)', h."column") ELSE '' END, h.object, g.whom)
				|| CASE WHEN NOT super AND pg_has_role(h.owner, 'USAGE') THEN '; -- as owner of it' ELSE '' END
		FROM dp_cdp_internal.hardening() h
			CROSS JOIN LATERAL aclexplode(h.acl) x
			JOIN grantees g ON g.grantee = x.grantee
		WHERE h.grantee = 'PUBLIC' AND NOT h.wanted AND x.grantee <> 0 AND x.privilege_type = h.privilege
			AND g.whom NOT IN ('pg_monitor', 'pg_read_all_stats')
		GROUP BY h.object, h.privilege, h."column", h.owner, g.whom, g.analysts

		-- ways out of the server
		UNION ALL
		SELECT 'warning', 'extension dblink',
			format('%s may execute %s of its functions: what a session of another role may read can be read through it',
				g.whom, count(DISTINCT p.oid)),
			format('REVOKE EXECUTE ON FUNCTION %s FROM %s', string_agg(DISTINCT p.oid::regprocedure::text, ', '), g.whom)
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.classid = 'pg_proc'::regclass
			JOIN pg_proc p ON p.oid = d.objid
			CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x
			JOIN grantees g ON g.grantee = x.grantee
		WHERE e.extname = 'dblink' AND p.proname ~ '^dblink_?(connect|exec|open|send_query)?(_u)?$'
		GROUP BY g.whom
		UNION ALL
		SELECT 'warning', format('server %s', quote_ident(m.srvname)),
			format('user mapping for %s: %s may read as another role through this server', m.who, min(h.analysts)),
			format('DROP USER MAPPING FOR %s SERVER %s', m.who, quote_ident(m.srvname))
		FROM (SELECT u.srvname, u.srvid, u.umuser, CASE WHEN u.umuser = 0 THEN 'PUBLIC' ELSE u.umuser::regrole::text END AS who
				FROM pg_user_mappings u) m
			JOIN hands h ON m.umuser IN (0, h.hand)
		WHERE has_server_privilege(h.hand, m.srvid, 'USAGE')
			OR EXISTS (SELECT FROM pg_foreign_table t WHERE t.ftserver = m.srvid
				AND has_any_column_privilege(h.hand, t.ftrelid, 'SELECT'))
		GROUP BY m.srvname, m.who

		-- policies
		UNION ALL
		SELECT 'warning', t.relid::regclass::text,
			'its policy is damaged (no unit column, or two): nothing is released from it',
			'call dp_cdp.unprotect_table and dp_cdp.protect_table again'
		FROM tops t
		WHERE (SELECT count(*) FROM labels l JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.objsubid AND NOT a.attisdropped
				WHERE l.relid = t.relid AND l.objsubid > 0 AND l.label ? 'unit') <> t.has_unit::int
			OR (SELECT count(*) FROM labels l JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.objsubid AND NOT a.attisdropped
				WHERE l.relid = t.relid AND l.objsubid > 0 AND l.label ? 'through') <> t.nthrough
		UNION ALL
		SELECT 'warning', t.relid::regclass::text,
			format('its rows belong to people through a foreign key, and nothing is released from it: %s', p.problem),
			'protect the table that the key leads to, mend the key, or call dp_cdp.unprotect_table and dp_cdp.protect_table again'
		FROM tops t CROSS JOIN LATERAL (SELECT CASE WHEN facts.preloaded AND t.nthrough > 0 THEN dp_cdp_internal.through_problem(t.relid) END AS problem) p
		WHERE p.problem IS NOT NULL
		UNION ALL
		SELECT CASE WHEN d.readers IS NULL THEN 'warning' ELSE 'critical' END, d.relid::regclass::text,
			format('references table %s, so that its rows are people''s, too, but is not protected%s', f.confrelid::regclass,
				', and may be read by ' || d.readers),
			format('SELECT dp_cdp.protect_table(%1$L, %2$L, %4$s => %3$L); -- if its rows are nobody''s: SELECT dp_cdp.forget_name(%1$L, %2$L)',
				d.relid::regclass, d.dataset, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY c.i)
					FROM unnest(f.conkey) WITH ORDINALITY AS c (attnum, i)
						JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = c.attnum),
				-- a key that is the person's needs no look at the person's row
				CASE WHEN cardinality(f.confkey) = 1 AND EXISTS (SELECT FROM units u WHERE u.relid = f.confrelid AND u.attnum = f.confkey[1]) THEN 'unit' ELSE 'through' END)
		FROM dependants d JOIN pg_constraint f ON f.oid = d.key
		UNION ALL
		SELECT 'warning', c.relid::regclass::text,
			format('is covered by several policies (%s): nothing is released from it', string_agg(c.top::regclass::text, ', ')),
			'end the inheritance from all but one of them'
		FROM (SELECT DISTINCT relid, top FROM covered) c GROUP BY c.relid HAVING count(*) > 1
		UNION ALL
		SELECT 'warning', t.relid::regclass::text,
			format('its dataset %s does not exist: nothing is released from it', quote_ident(t.dataset)),
			format('SELECT dp_cdp.create_dataset(%L) as the owner of the table', t.dataset)
		FROM tops t WHERE super AND NOT EXISTS (SELECT FROM datasets d WHERE d.dataset = t.dataset)
		UNION ALL
		SELECT 'info', c.relid::regclass::text,
			format('privacy unit %s is nullable: rows without it are left out of every answer', quote_ident(a.attname)),
			format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', c.relid::regclass, a.attname)
		FROM tops c JOIN labels l ON l.relid = c.relid AND l.objsubid > 0 AND l.label ? 'unit'
			JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = l.objsubid AND NOT a.attnotnull AND NOT a.attisdropped
		UNION ALL
		SELECT 'info', t.relid::regclass::text,
			CASE WHEN p.named THEN format('each row is a person, as unit %I is different in each, and rows of other tables name them by it', u.attname)
				ELSE format('each row is taken for a person of its own%s: what is known of a person with n rows may be n * n times the rho',
					', as unit ' || quote_ident(u.attname) || ' is different in each') END,
			CASE WHEN p.named THEN 'nothing'
				ELSE format('nothing, if no person has two rows; else SELECT dp_cdp.unprotect_table(%1$L), and dp_cdp.protect_table(%1$L, %2$L, unit => ...)',
					t.relid::regclass, t.dataset) END
		FROM tops t LEFT JOIN units u ON u.relid = t.relid
			-- a table of people: rows of another one name them by the same column, or reference it
			CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM units o WHERE o.dataset = t.dataset AND o.relid <> t.relid AND o.attname = u.attname)
				OR EXISTS (SELECT FROM tops o JOIN pg_constraint c ON c.conrelid = o.relid
					WHERE o.dataset = t.dataset AND c.contype = 'f' AND c.confrelid = t.relid AND c.confkey = ARRAY[u.attnum]) AS named) p
		WHERE t.nthrough = 0 AND (u.relid IS NULL OR EXISTS (SELECT FROM pg_index i
			WHERE i.indrelid = t.relid AND i.indisunique AND i.indnkeyatts = 1 AND i.indkey[0] = u.attnum AND i.indpred IS NULL))
		UNION ALL
		SELECT 'warning', d.relation::text, d.finding, d.remedy FROM doubts d
		-- of two tables that differ the later one
		WHERE d.other IS NULL OR d.other < d.relation

		-- blocks of time
		UNION ALL
		SELECT 'warning', t.relid::regclass::text,
			CASE WHEN t.has_block THEN 'is with blocks of time, and its dataset without: nothing is released from it'
				ELSE 'is without blocks of time, and its dataset with: nothing is released from it' END,
			'call dp_cdp.unprotect_table and dp_cdp.protect_table again'
		FROM tops t JOIN datasets d ON d.dataset = t.dataset
		WHERE t.has_block AND d.block_every IS NULL OR NOT t.has_block AND d.block_every IS NOT NULL AND t.nthrough = 0
		UNION ALL
		SELECT 'critical', c.relid::regclass::text,
			format('its rows are in blocks of time, and nothing keeps them there: %s', p.problem),
			CASE WHEN p.problem ~ 'could still change' THEN 'the trigger''s owner can do what the finding says'
				ELSE format('call dp_cdp.protect_table again as it was called for table %s', t.relid::regclass) END
		FROM datasets d JOIN tops t ON t.dataset = d.dataset JOIN covered c ON c.top = t.relid
			CROSS JOIN LATERAL (SELECT CASE WHEN facts.preloaded AND d.block_every IS NOT NULL THEN dp_cdp_internal.block_problem(c.relid) END AS problem) p
		WHERE p.problem IS NOT NULL
		UNION ALL
		SELECT 'info', format('dataset %s', quote_ident(d.dataset)),
			format('has blocks of time, each of %s: caps and budgets hold for a person''s rows of one block, and answers may tell n times as much of a person with rows in n blocks', d.block_every),
			'choose blocks that most people are in few of, and budgets for those who are in many'
		FROM datasets d WHERE d.block_every IS NOT NULL

		-- datasets and budgets
		UNION ALL
		SELECT CASE WHEN count(b.period) > 0 THEN 'warning' ELSE 'info' END, format('dataset %s', quote_ident(d.dataset)),
			'has no lifetime cap: ' || CASE WHEN count(b.period) > 0
				THEN 'renewing budgets may spend any rho in the long run'
				WHEN sum(b.rho_limit) > 0 THEN format('its roles together may spend a rho of %s, and more with each new budget', sum(b.rho_limit))
				ELSE 'its roles together may spend what each new budget adds' END,
			format('SELECT dp_cdp.alter_dataset(%L, rho => %s)', d.dataset, coalesce(nullif(sum(b.rho_limit), 0), 1))
		FROM datasets d LEFT JOIN budgets b ON b.dataset = d.dataset
		WHERE d.rho_limit IS NULL GROUP BY d.dataset
		UNION ALL
		SELECT 'warning', format('dataset %s', quote_ident(d.dataset)),
			'has budgets and protects no table: a restore without security labels (pg_restore --no-security-labels) leaves tables open to who may read them',
			format('call dp_cdp.protect_table for each of its tables, or SELECT dp_cdp.drop_dataset(%L)', d.dataset)
		FROM datasets d
		WHERE EXISTS (SELECT FROM budgets b WHERE b.dataset = d.dataset) AND NOT EXISTS (SELECT FROM tops t WHERE t.dataset = d.dataset)
		UNION ALL
		SELECT 'warning', format('dataset %s', quote_ident(b.dataset)),
			format('budget of role %s, which does not exist any more', quote_ident(b.role_name)),
			format('SELECT dp_cdp.drop_missing_budget(%L, %L)', b.dataset, b.role_name)
		FROM budgets b WHERE b.role IS NULL
		UNION ALL
		SELECT 'warning', format('dataset %s', quote_ident(d.dataset)), 'its owner does not exist any more',
			format('SELECT dp_cdp.alter_dataset(%L, new_owner => ...)', d.dataset)
		FROM datasets d WHERE d.owner IS NULL

		UNION ALL
		SELECT 'warning', format('dataset %s', quote_ident(d.dataset)),
			CASE WHEN d.rho_remaining = 0 THEN 'its lifetime cap is spent'
				ELSE format('its lifetime cap has only rho %s left, less than one aggregate costs (%s)', d.rho_remaining, d.default_rho) END
				|| ': all its roles are refused, though their budgets hold more',
			format('SELECT dp_cdp.alter_dataset(%L, rho => ...)', d.dataset)
		FROM datasets d
		-- with blocks, new ones come with new budget
		WHERE d.block_every IS NULL AND d.rho_remaining < d.default_rho
			AND EXISTS (SELECT FROM budgets b WHERE b.dataset = d.dataset AND b.rho_remaining >= d.default_rho)

		-- roles of poolers and applications, which act for others
		UNION ALL
		SELECT 'warning', format('role %s', quote_ident(p.whom)),
			format('each of its queries, also after SET ROLE, is paid by the budgets of %s in dataset %s at once, as it inherits their privileges',
				p.others, quote_ident(p.dataset)),
			CASE WHEN version >= 16 THEN format('GRANT %s TO %I WITH INHERIT FALSE', p.others, p.whom) ELSE format('ALTER ROLE %I NOINHERIT', p.whom) END
				|| '; it then pays from the budget of the role that SET LOCAL ROLE names'
		FROM (SELECT h.dataset, a.rolname AS whom, string_agg(h.hand::regrole::text, ', ' ORDER BY h.hand::regrole::text) AS others
			FROM reach h JOIN budgets b ON b.dataset = h.dataset AND b.role = h.hand
				JOIN pg_roles a ON a.oid = h.analyst AND a.rolcanlogin AND NOT a.rolsuper
				JOIN pg_roles o ON o.oid = h.hand AND o.rolcanlogin AND o.oid <> a.oid
			WHERE dp_cdp_internal.role_pays(h.analyst, h.hand)
			GROUP BY h.dataset, a.rolname HAVING count(*) > 1) p

		-- the ledger, at a glance
		UNION ALL
		SELECT f.severity, f.object, f.finding, f.remedy
		FROM jsonb_to_recordset(balances) AS f(severity text, object text, finding text, remedy text)

		-- the server
		UNION ALL
		SELECT v.severity, v.object, v.finding, v.remedy
		FROM (VALUES
			(NOT facts.preloaded, 'critical', 'shared_preload_libraries', 'dp_cdp is not in it: nothing is guarded, and nothing released',
				'add dp_cdp to shared_preload_libraries and restart the server'),
			(facts.preloaded AND NOT facts.after_citus, 'warning', 'shared_preload_libraries', 'dp_cdp stands before citus',
				'name citus first and restart the server'),
			(facts.ledger_waits, 'warning', 'ledger', 'no release until it is adopted. ' || dp_cdp_internal.ledger_problem(),
				'SELECT dp_cdp.adopt_ledger(surcharge_rho => ...)'),
			(NOT current_setting('dp_cdp.notice_copies', true)::boolean, 'warning', 'dp_cdp.notice_copies',
				'is off: a copy of the data directory would answer from old balances',
				'ALTER SYSTEM RESET dp_cdp.notice_copies; SELECT pg_reload_conf()'),
			(facts.preloaded AND slots.needed > slots.available, 'warning', 'max_worker_processes',
				format('%s, and %s are needed: parallel queries can take all background workers, and a ledger whose worker must be started then refuses debits', slots.available, slots.needed),
				format('ALTER SYSTEM SET max_worker_processes = %s; then restart the server', slots.needed)),
			(pg_is_in_recovery() AND NOT dp_cdp_internal.primary_pays(), 'info', 'server', 'is a standby: private queries are refused here',
				'send them to the primary, or let it pay for what is answered here: dp_cdp.primary_conninfo'),
			(pg_is_in_recovery() AND dp_cdp_internal.primary_pays(), 'info', 'server', 'is a standby: private queries are answered here, and debited by the primary',
				NULL),
			(pg_is_in_recovery() AND dp_cdp_internal.primary_pays() AND current_setting('cluster_name') = '', 'warning', 'cluster_name',
				'is empty: the primary does not know this standby, and debits nothing for it',
				'set cluster_name, and call dp_cdp.register_standby on the primary'),
			(pg_is_in_recovery() AND dp_cdp_internal.primary_pays() AND NOT current_setting('hot_standby_feedback')::boolean
				AND current_setting('max_standby_streaming_delay') <> '-1', 'warning', 'hot_standby_feedback',
				'is off: VACUUM on the primary cancels private queries here, which stay charged and count as failures',
				'ALTER SYSTEM SET hot_standby_feedback = on; SELECT pg_reload_conf()'),
			(version NOT BETWEEN 15 AND 19, 'warning', 'server', format('version %s was not tested: 15 to 19 are supported', version),
				'use a supported version'),
			(NOT current_setting('fsync')::boolean, 'warning', 'fsync', 'is off: after a crash of the machine, answers may be without their debits',
				'ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()'),
			(NOT current_setting('full_page_writes')::boolean, 'warning', 'full_page_writes', 'is off: a crash of the machine can damage the ledger',
				'ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf()'),
			(current_setting('allow_system_table_mods')::boolean, 'warning', 'allow_system_table_mods', 'is on: commands may change the system catalogues that protection relies on',
				'ALTER SYSTEM RESET allow_system_table_mods; SELECT pg_reload_conf()')
			) AS v(applies, severity, object, finding, remedy)
		WHERE v.applies
	), summary AS (
		SELECT count(*) FILTER (WHERE f.severity = 'critical') AS critical,
			count(*) FILTER (WHERE f.severity = 'warning') AS warnings
		FROM findings f
	)
	SELECT r.severity, r.object, r.finding, r.remedy, coalesce(dp_cdp_internal.takes_superuser(r.object, r.remedy), false)
	FROM (
		SELECT 0 AS place, 'info' AS severity, format('database %s', quote_ident(current_database())) AS object,
			format('Datasets: %s, protected tables: %s, analysts: %s; critical findings: %s, warnings: %s. ',
				(SELECT count(*) FROM datasets), (SELECT count(DISTINCT relid) FROM covered),
				(SELECT count(DISTINCT role) FROM analysts), s.critical, s.warnings)
			|| CASE WHEN s.critical > 0 THEN 'The promise does not hold.'
				WHEN s.warnings > 0 THEN 'Roles with a budget see no rows, but something beside them is open, or fails.'
				ELSE 'The promise holds for roles with a budget, as far as the database can tell.' END AS finding,
			NULL AS remedy
		FROM summary s
		UNION ALL
		SELECT CASE f.severity WHEN 'critical' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END,
			f.severity, f.object, f.finding, f.remedy
		FROM findings f) r
	ORDER BY r.place, r.object, r.finding;
END $$;
COMMENT ON FUNCTION dp_cdp.check_setup() IS
	'gaps that are still open in this database, for superusers, for the owner of the database, and for owners of datasets in theirs. Where all are info, the promise holds. With by_superuser the remedy takes a superuser, or who runs the server';
