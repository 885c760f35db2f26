-- Every member of the extension as it is in the catalogues, without OIDs: one
-- line each, in an order of its own.

CREATE TEMP TABLE member AS
	SELECT d.classid, d.objid, i.type, i.identity
	FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass,
		LATERAL pg_identify_object(d.classid, d.objid, 0) i
	WHERE e.extname = 'dp_cdp' AND d.deptype = 'e';

SELECT line FROM (
	SELECT type || ' ' || identity AS line FROM member
	UNION ALL
	SELECT 'owner ' || m.identity || ' ' || CASE m.classid
			WHEN 'pg_class'::regclass THEN (SELECT relowner::regrole FROM pg_class WHERE oid = m.objid)
			WHEN 'pg_proc'::regclass THEN (SELECT proowner::regrole FROM pg_proc WHERE oid = m.objid)
			WHEN 'pg_type'::regclass THEN (SELECT typowner::regrole FROM pg_type WHERE oid = m.objid) END::text
	FROM member m WHERE m.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
	UNION ALL
	SELECT 'comment ' || type || ' ' || identity || ' ' || c.objsubid || ' ' || c.description
	FROM member m JOIN pg_description c ON c.classoid = m.classid AND c.objoid = m.objid
	UNION ALL
	SELECT 'function ' || m.identity || ' ' || pg_get_functiondef(p.oid) || ' ' || (to_jsonb(p) - '{oid,prosqlbody,proacl,proowner,pronamespace,prorettype,proargtypes,proallargtypes,proargdefaults,provariadic,prosupport,prolang}'::text[])::text
	FROM member m JOIN pg_proc p ON p.oid = m.objid AND m.classid = 'pg_proc'::regclass AND p.prokind <> 'a'
	UNION ALL
	SELECT 'aggregate ' || m.identity || ' ' || pg_get_function_result(p.oid) || ' ' || concat_ws(' ', a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn) || ' ' || a.aggtranstype::regtype || ' '
		|| coalesce(a.agginitval, '-') || ' ' || concat(a.aggkind, p.proparallel, p.proisstrict)
	FROM member m JOIN pg_proc p ON p.oid = m.objid AND m.classid = 'pg_proc'::regclass
		JOIN pg_aggregate a ON a.aggfnoid = p.oid
	UNION ALL
	-- those of who has them by default are the same, written down or not
	SELECT 'privileges ' || m.identity || ' ' || coalesce((SELECT string_agg(x::text, ',' ORDER BY x::text) FROM unnest(coalesce(a.acl, a.by_default)) x), 'none')
		|| ' initially ' || coalesce((SELECT string_agg(x::text, ',' ORDER BY x::text)
			FROM unnest(coalesce((SELECT i.initprivs FROM pg_init_privs i
				WHERE i.classoid = m.classid AND i.objoid = m.objid AND i.objsubid = 0), a.by_default)) x), 'none')
	FROM member m LEFT JOIN LATERAL (
		SELECT relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner) FROM pg_class WHERE m.classid = 'pg_class'::regclass AND oid = m.objid
		UNION ALL
		SELECT proacl, acldefault('f', proowner) FROM pg_proc WHERE m.classid = 'pg_proc'::regclass AND oid = m.objid
		UNION ALL
		SELECT typacl, acldefault('T', typowner) FROM pg_type WHERE m.classid = 'pg_type'::regclass AND oid = m.objid
		UNION ALL
		SELECT nspacl, acldefault('n', nspowner) FROM pg_namespace WHERE m.classid = 'pg_namespace'::regclass AND oid = m.objid) AS a(acl, by_default) ON true
	UNION ALL
	SELECT 'relation ' || m.identity || ' ' || concat(c.relkind, c.relpersistence) || ' ' || coalesce(c.reloptions::text, '')
		|| ' ' || c.relrowsecurity || ' ' || coalesce(pg_get_viewdef(v.oid), '')
	FROM member m JOIN pg_class c ON c.oid = m.objid AND m.classid = 'pg_class'::regclass
		LEFT JOIN pg_class v ON v.oid = c.oid AND v.relkind = 'v'
	UNION ALL
	SELECT 'column ' || m.identity || ' ' || row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) || ' ' || a.attname || ' '
		|| format_type(a.atttypid, a.atttypmod) || ' ' || concat(a.attnotnull, a.attidentity, a.attgenerated, a.attstorage) || ' '
		|| coalesce(pg_get_expr(d.adbin, d.adrelid), '') || ' ' || coalesce(a.attacl::text, '')
	FROM member m JOIN pg_attribute a ON a.attrelid = m.objid AND m.classid = 'pg_class'::regclass AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	UNION ALL
	SELECT 'field ' || m.identity || ' ' || a.attnum || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || coalesce(col_description(a.attrelid, a.attnum), '')
	FROM member m JOIN pg_type t ON t.oid = m.objid AND m.classid = 'pg_type'::regclass
		JOIN pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
	UNION ALL
	SELECT 'constraint ' || m.identity || ' ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
	FROM member m JOIN pg_constraint c ON c.conrelid = m.objid AND m.classid = 'pg_class'::regclass
	UNION ALL
	SELECT 'index ' || m.identity || ' ' || pg_get_indexdef(i.indexrelid) || ' ' || i.indisprimary || coalesce((SELECT reloptions::text FROM pg_class WHERE oid = i.indexrelid), '')
	FROM member m JOIN pg_index i ON i.indrelid = m.objid AND m.classid = 'pg_class'::regclass
	UNION ALL
	SELECT 'trigger ' || m.identity || ' ' || pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
	FROM member m JOIN pg_trigger t ON t.tgrelid = m.objid AND m.classid = 'pg_class'::regclass AND NOT t.tgisinternal
	UNION ALL
	SELECT 'type ' || m.identity || ' ' || concat(t.typtype, t.typlen, t.typalign, t.typstorage) || ' ' || t.typinput || ' ' || t.typoutput
	FROM member m JOIN pg_type t ON t.oid = m.objid AND m.classid = 'pg_type'::regclass
	UNION ALL
	SELECT 'dumped ' || k.relid::regclass || ' ' || k.condition
	FROM pg_extension e, unnest(e.extconfig, e.extcondition) k(relid, condition) WHERE e.extname = 'dp_cdp'
	UNION ALL
	SELECT 'extension ' || extversion || ' ' || extrelocatable FROM pg_extension WHERE extname = 'dp_cdp'
) lines
ORDER BY line COLLATE "C";
