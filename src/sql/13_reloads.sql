
-- =========================================================================
-- 13. Reloads (src/admin/reload.c, src/policy/names.c, src/policy/moves.c)
-- =========================================================================

CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.reserved_name
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.reserved_name
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
ALTER TABLE dp_cdp_internal.reserved_name ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;

CREATE OR REPLACE FUNCTION dp_cdp.replace_table(old regclass, new regclass) RETURNS dp_cdp.table_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_replace_table';
COMMENT ON FUNCTION dp_cdp.replace_table(regclass, regclass) IS
	'gives a table that was loaded anew the policy of the one whose place it takes: dataset, unit, bounds and keys. The other keeps it, too';

CREATE OR REPLACE FUNCTION dp_cdp.forget_name(name text, dataset text DEFAULT NULL) RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_release_name';
COMMENT ON FUNCTION dp_cdp.forget_name(text, text) IS
	'says that a relation need not be protected, although it has the name of a formerly protected table, or resembles one of a dataset. It returns in how many datasets the name was watched';

CREATE OR REPLACE VIEW dp_cdp.reserved_names WITH (security_barrier) AS
	SELECT h.schema, h.name, h.dataset, h.since, h.released,
		CASE WHEN h.successor <> 0 THEN h.successor::regclass END AS successor,
		c.oid::regclass AS relation
	FROM dp_cdp_internal.reserved_name h
		LEFT JOIN dp_cdp_internal.dataset d ON d.name = h.dataset
		LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = h.schema
		LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = h.name
	WHERE pg_has_role(session_user, d.owner::oid, 'USAGE')
		OR pg_has_role(current_user, d.owner::oid, 'USAGE')
		OR (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user);
COMMENT ON VIEW dp_cdp.reserved_names IS
	'names under which tables were protected, and what bears them now, for owners of datasets. A name is reserved until that is protected, or forget_name is called';
COMMENT ON COLUMN dp_cdp.reserved_names.schema IS 'schema of the name';
COMMENT ON COLUMN dp_cdp.reserved_names.name IS 'name under which a table was protected';
COMMENT ON COLUMN dp_cdp.reserved_names.dataset IS 'dataset of that table';
COMMENT ON COLUMN dp_cdp.reserved_names.since IS 'when the name became one that is watched';
COMMENT ON COLUMN dp_cdp.reserved_names.released IS 'forget_name has said that an unprotected table may have the name';
COMMENT ON COLUMN dp_cdp.reserved_names.successor IS 'table that is to take the name by replace_table';
COMMENT ON COLUMN dp_cdp.reserved_names.relation IS 'table or view that bears the name now';

GRANT SELECT ON dp_cdp.reserved_names TO PUBLIC;
