
-- =========================================================================
-- 20. Who may what with the members of this extension
-- =========================================================================

-- The script gives to PUBLIC: the schema, types, most functions and some views.
-- pg_init_privs has which, when the script has ended.  To the owner of the database
-- it gives two functions.  Tables and sequences are nobody's.  An administrator may
-- grant a role functions and views, and nothing else.
CREATE OR REPLACE FUNCTION dp_cdp_internal.given_to_owner() RETURNS oid[]
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
SELECT ARRAY(SELECT p.oid FROM pg_proc p
	WHERE p.pronamespace = to_regnamespace('dp_cdp')::oid AND p.proname IN ('create_dataset', 'harden'))
$$;
COMMENT ON FUNCTION dp_cdp_internal.given_to_owner() IS
	'functions that the script gives to the owner of the database (pg_database_owner)';

CREATE OR REPLACE FUNCTION dp_cdp_internal.member_grants(OUT object text, OUT classid oid, OUT objid oid, OUT "column" name,
		OUT kind text, OUT schema oid, OUT owner oid, OUT grantee oid, OUT privilege text, OUT to_all boolean, OUT given boolean,
		OUT grantor oid)
	RETURNS SETOF record
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH members AS (
	SELECT d.classid, d.objid
	FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	WHERE e.extname = 'dp_cdp'
), acls (catalogue, objid, attname, kind, code, schema, owner, acl) AS (
	SELECT 'pg_class'::regclass, c.oid, NULL::name,
		CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END,
		CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END, c.relnamespace, c.relowner, c.relacl
	FROM pg_class c
	UNION ALL
	SELECT 'pg_class'::regclass, c.oid, a.attname, CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END,
		'c', c.relnamespace, c.relowner, a.attacl
	FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attacl IS NOT NULL
	UNION ALL
	SELECT 'pg_proc'::regclass, p.oid, NULL, 'ROUTINE', 'f', p.pronamespace, p.proowner, p.proacl FROM pg_proc p
	UNION ALL
	SELECT 'pg_type'::regclass, t.oid, NULL, 'TYPE', 'T', t.typnamespace, t.typowner, t.typacl FROM pg_type t
	UNION ALL
	SELECT 'pg_namespace'::regclass, n.oid, NULL, 'SCHEMA', 'n', 0, n.nspowner, n.nspacl FROM pg_namespace n
), held AS (
	SELECT m.classid, a.objid, a.attname, a.kind, a.code, a.schema, a.owner, x.grantee, x.grantor, x.privilege_type AS privilege,
		EXISTS (SELECT FROM pg_init_privs i, aclexplode(i.initprivs) g
			WHERE i.classoid = m.classid AND i.objoid = m.objid AND i.objsubid = 0 AND g.grantee = 0 AND g.privilege_type = x.privilege_type)
		OR a.kind IN ('ROUTINE', 'TYPE')
			AND NOT EXISTS (SELECT FROM pg_init_privs i WHERE i.classoid = m.classid AND i.objoid = m.objid AND i.objsubid = 0) AS to_all
	FROM members m JOIN acls a ON a.catalogue = m.classid AND a.objid = m.objid
		CROSS JOIN LATERAL aclexplode(coalesce(a.acl, acldefault(a.code::"char", a.owner))) x
	WHERE x.grantee <> a.owner
)
SELECT CASE h.kind WHEN 'ROUTINE' THEN h.objid::regprocedure::text WHEN 'TYPE' THEN h.objid::regtype::text
		WHEN 'SCHEMA' THEN h.objid::regnamespace::text ELSE h.objid::regclass::text END,
	h.classid, h.objid, h.attname, h.kind, h.schema, h.owner, h.grantee, h.privilege, t.to_all,
	t.to_all AND h.grantee = 0
		OR h.kind = 'ROUTINE' AND h.grantee = 'pg_database_owner'::regrole AND h.objid = ANY (dp_cdp_internal.given_to_owner()),
	h.grantor
FROM held h CROSS JOIN LATERAL (
	SELECT h.to_all AND h.code <> 'c' AND (h.kind, h.privilege) IN
		(('ROUTINE', 'EXECUTE'), ('VIEW', 'SELECT'), ('TYPE', 'USAGE'), ('SCHEMA', 'USAGE')) AS to_all) t
$$;
COMMENT ON FUNCTION dp_cdp_internal.member_grants() IS
	'privileges on members of this extension that others than their owners hold. With to_all the script gives it to PUBLIC. With given it is one that the script gives, to PUBLIC or the owner of the database';

-- Default privileges of who runs a script gave each new member to others, or took
-- it from PUBLIC; those of functions and views that an administrator granted stay.
DO $$
DECLARE
	g record;
BEGIN
	SELECT x.name, x.privilege INTO g
	FROM (VALUES ('f', 'FUNCTIONS', 'EXECUTE'), ('T', 'TYPES', 'USAGE')) AS x(type, name, privilege)
		JOIN pg_catalog.pg_default_acl d ON d.defaclobjtype = x.type::"char" AND d.defaclnamespace = 0 AND d.defaclrole = current_user::regrole
	WHERE NOT EXISTS (SELECT FROM pg_catalog.aclexplode(d.defaclacl) a WHERE a.grantee = 0);
	IF FOUND THEN
		RAISE EXCEPTION 'default privileges of role % take % on % from PUBLIC, which would leave dp_cdp without users: run ALTER DEFAULT PRIVILEGES GRANT % ON % TO PUBLIC, this command, and ALTER DEFAULT PRIVILEGES REVOKE % ON % FROM PUBLIC, in one transaction',
			current_user, g.privilege, g.name, g.privilege, g.name, g.privilege, g.name
			USING ERRCODE = 'ZC004';
	END IF;
	FOR g IN
		SELECT m.object, CASE m.kind WHEN 'VIEW' THEN 'TABLE' ELSE m.kind END AS kind,
			CASE m.grantee WHEN 0 THEN 'PUBLIC' ELSE m.grantee::regrole::text END AS whom,
			string_agg(m.privilege || coalesce(' (' || quote_ident(m."column") || ')', ''), ', ') AS privileges
		FROM dp_cdp_internal.member_grants() m
		WHERE NOT m.given
			AND (m.grantee = 0 OR m.kind NOT IN ('ROUTINE', 'VIEW')
				OR EXISTS (SELECT FROM pg_catalog.pg_default_acl d, pg_catalog.aclexplode(d.defaclacl) x
					WHERE d.defaclrole = m.owner AND d.defaclnamespace IN (0, m.schema)
						AND d.defaclobjtype = (CASE m.kind WHEN 'ROUTINE' THEN 'f' ELSE 'r' END)::"char"
						AND x.grantee = m.grantee AND x.privilege_type = m.privilege))
		GROUP BY m.classid, m.objid, m.object, m.kind, m.grantee
	LOOP
		EXECUTE format('REVOKE %s ON %s %s FROM %s CASCADE', g.privileges, g.kind, g.object, g.whom);
	END LOOP;
END $$;

-- PostgreSQL notes as this script's whatever an object's privileges are after a GRANT or
-- REVOKE of it, also what an administrator has granted to a role, and pg_dump leaves
-- out what a script gives.  The script gives to PUBLIC and the owner of the database alone;
-- what an administrator has taken from the latter is dumped as a REVOKE.
UPDATE pg_catalog.pg_init_privs i SET initprivs = s.given
FROM (SELECT p.classoid, p.objoid, p.objsubid, ARRAY(SELECT a FROM pg_catalog.unnest(p.initprivs) a
			-- the owner's own are granted by himself
			WHERE EXISTS (SELECT FROM pg_catalog.aclexplode(ARRAY[a]) x WHERE x.grantee IN (0, x.grantor)))
		|| CASE WHEN p.classoid = 'pg_catalog.pg_proc'::regclass AND p.objoid = ANY (dp_cdp_internal.given_to_owner())
			THEN ARRAY(SELECT pg_catalog.makeaclitem('pg_database_owner'::regrole, f.proowner, 'EXECUTE', f.proname = 'create_dataset')
				FROM pg_catalog.pg_proc f WHERE f.oid = p.objoid) END AS given
	FROM pg_catalog.pg_extension e
		JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
		JOIN pg_catalog.pg_init_privs p ON p.classoid = d.classid AND p.objoid = d.objid
	WHERE e.extname = 'dp_cdp') s
WHERE (i.classoid, i.objoid, i.objsubid) = (s.classoid, s.objoid, s.objsubid) AND i.initprivs <> s.given;
