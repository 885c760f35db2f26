
-- =========================================================================
-- 17. Standbys, whose answers the primary debits (src/admin/standby.c)
-- =========================================================================

REVOKE ALL ON dp_cdp_internal.standby FROM PUBLIC;
CREATE OR REPLACE TRIGGER not_replicated BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.standby
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.not_replicated();
ALTER TABLE dp_cdp_internal.standby ENABLE ALWAYS TRIGGER not_replicated;

CREATE OR REPLACE FUNCTION dp_cdp_internal.standby_debit(origin text[], asker text[], items text[]) RETURNS void
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_standby_debit';
REVOKE ALL ON FUNCTION dp_cdp_internal.standby_debit(text[], text[], text[]) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.standby_debit(text[], text[], text[]) IS
	'for the role of a registered standby: debits what it is about to answer';

CREATE OR REPLACE FUNCTION dp_cdp_internal.standby_reads(origin text[], asker text[], items text[]) RETURNS void
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_standby_reads';
REVOKE ALL ON FUNCTION dp_cdp_internal.standby_reads(text[], text[], text[]) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.standby_reads(text[], text[], text[]) IS
	'says that a release which was debited begins to read rows, for the role of a registered standby. It has failed if the session ends before it says more';

CREATE OR REPLACE FUNCTION dp_cdp_internal.standby_has_read(failed boolean) RETURNS int[]
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_standby_has_read';
REVOKE ALL ON FUNCTION dp_cdp_internal.standby_has_read(boolean) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.standby_has_read(boolean) IS
	'for the role of a registered standby: the release has ended; how many have failed today, and how many may';

CREATE OR REPLACE FUNCTION dp_cdp_internal.primary_pays() RETURNS boolean
	LANGUAGE C STRICT STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_standby_primary_pays';
COMMENT ON FUNCTION dp_cdp_internal.primary_pays() IS
	'is dp_cdp.primary_conninfo set, so that a standby has its answers debited';

CREATE OR REPLACE FUNCTION dp_cdp.register_standby(name text, role regrole) RETURNS dp_cdp_internal.standby
	LANGUAGE plpgsql STRICT VOLATILE SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_variable
DECLARE
	r record;
	registered dp_cdp_internal.standby;
BEGIN
	IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
		RAISE EXCEPTION 'only superusers may call dp_cdp.register_standby' USING ERRCODE = 'insufficient_privilege';
	END IF;
	IF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'this server is a standby; call dp_cdp.register_standby on the primary' USING ERRCODE = 'ZC003';
	END IF;
	IF name !~ '^[\x20-\x7e]{1,63}$' THEN
		RAISE EXCEPTION 'name must be the cluster_name of the standby, up to 63 printable characters' USING ERRCODE = 'ZC004';
	END IF;
	SELECT * INTO r FROM pg_roles a WHERE a.oid = role;
	IF r.oid IS NULL OR NOT r.rolcanlogin OR r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls THEN
		RAISE EXCEPTION 'role must be one that may log in and do nothing else: CREATE ROLE ... LOGIN for it alone' USING ERRCODE = 'ZC004';
	END IF;
	IF EXISTS (SELECT FROM pg_auth_members m WHERE m.member = role) THEN
		RAISE EXCEPTION 'role % is a member of others, whose privileges a standby needs not: CREATE ROLE ... LOGIN for it alone', role
			USING ERRCODE = 'ZC004';
	END IF;
	INSERT INTO dp_cdp_internal.standby AS s (name, role, role_name) VALUES (name, role, r.rolname)
		ON CONFLICT ON CONSTRAINT standby_pkey DO UPDATE SET role = excluded.role, role_name = excluded.role_name
		RETURNING s.* INTO registered;
	EXECUTE format('GRANT EXECUTE ON FUNCTION dp_cdp_internal.standby_debit(text[], text[], text[]), dp_cdp_internal.standby_reads(text[], text[], text[]),'
		' dp_cdp_internal.standby_has_read(boolean) TO %I', r.rolname);
	RETURN registered;
END $$;
REVOKE ALL ON FUNCTION dp_cdp.register_standby(text, regrole) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.register_standby(text, regrole) IS
	'lets the standby of that cluster_name, which logs in as role, have its answers debited here. It returns what is registered';

CREATE OR REPLACE FUNCTION dp_cdp.drop_standby(name text) RETURNS dp_cdp_internal.standby
	LANGUAGE plpgsql STRICT VOLATILE SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_variable
DECLARE
	gone dp_cdp_internal.standby;
BEGIN
	IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
		RAISE EXCEPTION 'only superusers may call dp_cdp.drop_standby' USING ERRCODE = 'insufficient_privilege';
	END IF;
	DELETE FROM dp_cdp_internal.standby s WHERE s.name = name RETURNING s.* INTO gone;
	IF gone.role IS NULL THEN
		RAISE EXCEPTION 'no standby "%" is registered', name USING ERRCODE = 'ZC004';
	END IF;
	IF EXISTS (SELECT FROM pg_roles a WHERE a.oid = gone.role AND a.rolname = gone.role_name)
		AND NOT EXISTS (SELECT FROM dp_cdp_internal.standby s WHERE s.role = gone.role) THEN
		EXECUTE format('REVOKE EXECUTE ON FUNCTION dp_cdp_internal.standby_debit(text[], text[], text[]), dp_cdp_internal.standby_reads(text[], text[], text[]),'
			' dp_cdp_internal.standby_has_read(boolean) FROM %I', gone.role_name);
	END IF;
	RETURN gone;
END $$;
REVOKE ALL ON FUNCTION dp_cdp.drop_standby(text) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.drop_standby(text) IS
	'takes away what dp_cdp.register_standby gave, and returns what was registered';

CREATE OR REPLACE FUNCTION dp_cdp_internal.standby_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
SELECT 'warning', format('standby %s', quote_ident(s.name)),
	CASE WHEN r.oid IS NULL THEN format('its role %s does not exist any more, or has another name: nothing is debited for it', quote_ident(s.role_name))
		ELSE format('its role %s can do more than have answers debited: who has its password has that, too', quote_ident(s.role_name)) END,
	CASE WHEN r.oid IS NULL THEN format('SELECT dp_cdp.register_standby(%L, ...), or dp_cdp.drop_standby(%L)', s.name, s.name)
		ELSE format('make a role for it alone, and SELECT dp_cdp.register_standby(%L, ...)', s.name) END
FROM dp_cdp_internal.standby s LEFT JOIN pg_roles r ON r.oid = s.role AND r.rolname = s.role_name
WHERE r.oid IS NULL OR r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
	OR EXISTS (SELECT FROM pg_auth_members m WHERE m.member = s.role)
	OR EXISTS (SELECT FROM dp_cdp_internal.budget b WHERE b.role = s.role AND b.role_name = s.role_name)
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.standby_findings() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.standby_findings() IS
	'standbys whose role has gone, or can do more than it needs';
