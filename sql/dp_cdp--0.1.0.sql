/* dp_cdp--0.1.0.sql */

\echo Use "CREATE EXTENSION dp_cdp" to load this file. \quit

CREATE SCHEMA dp_cdp;
GRANT USAGE ON SCHEMA dp_cdp TO PUBLIC;

-- =========================================================================
-- 1. Tables
-- =========================================================================

-- Amounts are exact: rho has 12 decimals, delta 18.

CREATE TABLE dp_cdp.dataset (
	name			text PRIMARY KEY
		CHECK (name <> '' AND octet_length(name) < 64),
	owner			regrole NOT NULL,
	rho_limit		numeric,				-- lifetime cap, NULL: none
	rho_spent		numeric NOT NULL DEFAULT 0,
	delta_limit		numeric NOT NULL,		-- lifetime cap on delta, and delta of reports
	delta_spent		numeric NOT NULL DEFAULT 0,
	default_rho		numeric NOT NULL,		-- of one aggregate
	max_rho			numeric,
	default_delta	numeric NOT NULL,		-- of one private key selection
	max_groups		int NOT NULL,
	max_rows		int NOT NULL,
	neighbors		text NOT NULL CHECK (neighbors IN ('add_remove', 'replace_one'))
);

CREATE TABLE dp_cdp.budget (
	-- of dp_cdp.dataset; set_budget and drop_dataset see to that, because
	-- pg_restore -j loads tables of an extension regardless of foreign keys
	dataset			text NOT NULL,
	role			regrole NOT NULL,
	rho_limit		numeric NOT NULL,
	rho_spent		numeric NOT NULL DEFAULT 0,
	delta_limit		numeric NOT NULL,		-- for key selection
	delta_spent		numeric NOT NULL DEFAULT 0,
	report_delta	numeric NOT NULL,		-- at which epsilon is reported, beside delta_spent
	period			interval,
	renews_at		timestamptz,
	PRIMARY KEY (dataset, role)
);

-- One row for each release that was granted and each debit that was refused.
CREATE TABLE dp_cdp.release_log (
	id				bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	released_at		timestamptz NOT NULL DEFAULT clock_timestamp(),
	dataset			text NOT NULL,
	role			regrole NOT NULL,		-- current_user
	session_role	regrole NOT NULL,
	application		text,
	aggregates		text NOT NULL,
	groups			text,
	rho				numeric NOT NULL,
	delta			numeric NOT NULL,
	sigma			text,
	granted			boolean NOT NULL
);

-- Where this ledger lives; see src/ledger/README.md.
CREATE TABLE dp_cdp.ledger_stamp (
	one				boolean PRIMARY KEY DEFAULT true CHECK (one),
	system_id		numeric NOT NULL,
	database		oid NOT NULL,
	timeline		bigint NOT NULL
);

-- =========================================================================
-- 2. Exact states (agg)
-- =========================================================================

-- For inner queries of releases only.  The types have no text form (but '0'
-- for an empty exact_sum), no binary form and no casts, and print as a
-- constant; nobody has USAGE on them.

CREATE TYPE dp_cdp.grid;
CREATE TYPE dp_cdp.exact_sum;
CREATE TYPE dp_cdp.bound_spec;
CREATE TYPE dp_cdp.bound_state;
CREATE TYPE dp_cdp.bound_entry;

CREATE FUNCTION dp_cdp.grid_in(cstring) RETURNS dp_cdp.grid
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.grid_out(dp_cdp.grid) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_in(cstring) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_out(dp_cdp.exact_sum) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.bound_spec_in(cstring) RETURNS dp_cdp.bound_spec
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.bound_spec_out(dp_cdp.bound_spec) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.bound_state_in(cstring) RETURNS dp_cdp.bound_state
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.bound_state_out(dp_cdp.bound_state) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.bound_entry_in(cstring) RETURNS dp_cdp.bound_entry
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.bound_entry_out(dp_cdp.bound_entry) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE dp_cdp.grid (
	INPUT = dp_cdp.grid_in, OUTPUT = dp_cdp.grid_out,
	INTERNALLENGTH = 32, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp.exact_sum (
	INPUT = dp_cdp.exact_sum_in, OUTPUT = dp_cdp.exact_sum_out,
	INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
-- plain: never packed or toasted, so that they are used where they lie
CREATE TYPE dp_cdp.bound_spec (
	INPUT = dp_cdp.bound_spec_in, OUTPUT = dp_cdp.bound_spec_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp.bound_state (
	INPUT = dp_cdp.bound_state_in, OUTPUT = dp_cdp.bound_state_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp.bound_entry (
	INPUT = dp_cdp.bound_entry_in, OUTPUT = dp_cdp.bound_entry_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp.grid, dp_cdp.exact_sum, dp_cdp.bound_spec,
	dp_cdp.bound_state, dp_cdp.bound_entry FROM PUBLIC;

-- Sums of rows

CREATE FUNCTION dp_cdp.exact_sum_add(dp_cdp.exact_sum, smallint, dp_cdp.grid) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_add(dp_cdp.exact_sum, integer, dp_cdp.grid) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_add(dp_cdp.exact_sum, bigint, dp_cdp.grid) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_add(dp_cdp.exact_sum, real, dp_cdp.grid) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_add(dp_cdp.exact_sum, double precision, dp_cdp.grid) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_add(dp_cdp.exact_sum, numeric, dp_cdp.grid) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_combine(dp_cdp.exact_sum, dp_cdp.exact_sum) RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE dp_cdp.exact_sum(smallint, dp_cdp.grid) (
	SFUNC = dp_cdp.exact_sum_add, STYPE = dp_cdp.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp.exact_sum(integer, dp_cdp.grid) (
	SFUNC = dp_cdp.exact_sum_add, STYPE = dp_cdp.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp.exact_sum(bigint, dp_cdp.grid) (
	SFUNC = dp_cdp.exact_sum_add, STYPE = dp_cdp.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp.exact_sum(real, dp_cdp.grid) (
	SFUNC = dp_cdp.exact_sum_add, STYPE = dp_cdp.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp.exact_sum(double precision, dp_cdp.grid) (
	SFUNC = dp_cdp.exact_sum_add, STYPE = dp_cdp.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp.exact_sum(numeric, dp_cdp.grid) (
	SFUNC = dp_cdp.exact_sum_add, STYPE = dp_cdp.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp.exact_sum_combine, PARALLEL = SAFE
);

-- Contributions of units: one state per unit, one entry per kept group

CREATE FUNCTION dp_cdp.bound_unit_add(dp_cdp.bound_state, dp_cdp.bound_spec, VARIADIC "any")
	RETURNS dp_cdp.bound_state
	AS 'MODULE_PATHNAME', 'dp_bound_unit' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp.bound_unit_combine(dp_cdp.bound_state, dp_cdp.bound_state)
	RETURNS dp_cdp.bound_state
	AS 'MODULE_PATHNAME', 'dp_bound_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp.bound_unit(dp_cdp.bound_spec, VARIADIC "any") (
	SFUNC = dp_cdp.bound_unit_add, STYPE = dp_cdp.bound_state, SSPACE = 256,
	COMBINEFUNC = dp_cdp.bound_unit_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp.bound_entries(dp_cdp.bound_state, dp_cdp.bound_spec)
	RETURNS SETOF dp_cdp.bound_entry
	AS 'MODULE_PATHNAME', 'dp_bound_entries' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp.entry_key(dp_cdp.bound_entry, integer, anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_entry_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp.entry_sum_add(dp_cdp.exact_sum, dp_cdp.bound_entry, integer)
	RETURNS dp_cdp.exact_sum
	AS 'MODULE_PATHNAME', 'dp_entry_sum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp.entry_sum(dp_cdp.bound_entry, integer) (
	SFUNC = dp_cdp.entry_sum_add, STYPE = dp_cdp.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp.exact_sum_combine, PARALLEL = SAFE
);

-- For the extension's owner and tests: grids by hand, exact values without noise

CREATE FUNCTION dp_cdp.make_grid(lower numeric, upper numeric, input regtype) RETURNS dp_cdp.grid
	AS 'MODULE_PATHNAME', 'dp_make_grid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.make_bound_spec(nkeys integer, max_groups integer, seed bigint[],
		kinds text[], grids dp_cdp.grid[]) RETURNS dp_cdp.bound_spec
	AS 'MODULE_PATHNAME', 'dp_make_bound_spec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.grid_parts(dp_cdp.grid, OUT lower bigint, OUT upper bigint, OUT exponent integer)
	AS 'MODULE_PATHNAME', 'dp_grid_parts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.grid_value(units numeric, dp_cdp.grid, anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_grid_value_sql' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp.exact_sum_value(dp_cdp.exact_sum, dp_cdp.grid) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_exact_sum_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.entry_value(dp_cdp.bound_entry, integer) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_entry_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Not revoked: exact_sum, bound_unit, bound_entries, entry_key, entry_sum.
-- The inner query runs with the rights of the table's owner, who may be any
-- role; a grid or bound_spec to call them with is nobody's to make.
REVOKE EXECUTE ON FUNCTION
	dp_cdp.grid_in(cstring), dp_cdp.grid_out(dp_cdp.grid),
	dp_cdp.exact_sum_in(cstring), dp_cdp.exact_sum_out(dp_cdp.exact_sum),
	dp_cdp.bound_spec_in(cstring), dp_cdp.bound_spec_out(dp_cdp.bound_spec),
	dp_cdp.bound_state_in(cstring), dp_cdp.bound_state_out(dp_cdp.bound_state),
	dp_cdp.bound_entry_in(cstring), dp_cdp.bound_entry_out(dp_cdp.bound_entry),
	dp_cdp.exact_sum_add(dp_cdp.exact_sum, smallint, dp_cdp.grid),
	dp_cdp.exact_sum_add(dp_cdp.exact_sum, integer, dp_cdp.grid),
	dp_cdp.exact_sum_add(dp_cdp.exact_sum, bigint, dp_cdp.grid),
	dp_cdp.exact_sum_add(dp_cdp.exact_sum, real, dp_cdp.grid),
	dp_cdp.exact_sum_add(dp_cdp.exact_sum, double precision, dp_cdp.grid),
	dp_cdp.exact_sum_add(dp_cdp.exact_sum, numeric, dp_cdp.grid),
	dp_cdp.exact_sum_combine(dp_cdp.exact_sum, dp_cdp.exact_sum),
	dp_cdp.bound_unit_add(dp_cdp.bound_state, dp_cdp.bound_spec, "any"),
	dp_cdp.bound_unit_combine(dp_cdp.bound_state, dp_cdp.bound_state),
	dp_cdp.entry_sum_add(dp_cdp.exact_sum, dp_cdp.bound_entry, integer),
	dp_cdp.make_grid(numeric, numeric, regtype),
	dp_cdp.make_bound_spec(integer, integer, bigint[], text[], dp_cdp.grid[]),
	dp_cdp.grid_parts(dp_cdp.grid),
	dp_cdp.grid_value(numeric, dp_cdp.grid, anyelement),
	dp_cdp.exact_sum_value(dp_cdp.exact_sum, dp_cdp.grid),
	dp_cdp.entry_value(dp_cdp.bound_entry, integer)
	FROM PUBLIC;

-- =========================================================================
-- 3. Policy and administration (policy, api)
-- =========================================================================

-- Anyone may call these; each asks for itself whether the caller owns the
-- dataset (and, to protect a table, the table).

CREATE FUNCTION dp_cdp.create_dataset(
	name text,
	rho float8 DEFAULT NULL,
	delta float8 DEFAULT 1e-6,
	default_rho float8 DEFAULT 0.01,
	max_rho float8 DEFAULT NULL,
	max_groups int DEFAULT 5,
	max_rows int DEFAULT 5,
	neighbors text DEFAULT 'add_remove',
	default_delta float8 DEFAULT NULL
) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_create_dataset';
COMMENT ON FUNCTION dp_cdp.create_dataset(text, float8, float8, float8, float8, int, int, text, float8) IS
	'creates a dataset owned by the caller: lifetime caps on rho and delta, defaults for queries, neighbouring relation';

CREATE FUNCTION dp_cdp.alter_dataset(
	name text,
	rho float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	default_rho float8 DEFAULT NULL,
	max_rho float8 DEFAULT NULL,
	max_groups int DEFAULT NULL,
	max_rows int DEFAULT NULL,
	neighbors text DEFAULT NULL,
	default_delta float8 DEFAULT NULL,
	new_owner regrole DEFAULT NULL
) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_alter_dataset';
COMMENT ON FUNCTION dp_cdp.alter_dataset(text, float8, float8, float8, float8, int, int, text, float8, regrole) IS
	'changes settings of a dataset; NULL leaves one as it is, Infinity removes rho or max_rho';

CREATE FUNCTION dp_cdp.drop_dataset(name text, erase_spent boolean DEFAULT false) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_dataset';
COMMENT ON FUNCTION dp_cdp.drop_dataset(text, boolean) IS
	'drops a dataset that protects no table, with its budgets; erase_spent when some of them was spent';

CREATE FUNCTION dp_cdp.protect_table("table" regclass, dataset text, unit name DEFAULT NULL) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_protect_table';
COMMENT ON FUNCTION dp_cdp.protect_table(regclass, text, name) IS
	'puts a table and its children under the policy of a dataset; unit is the column that names the person, NULL: each row';

CREATE FUNCTION dp_cdp.unprotect_table("table" regclass) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_unprotect_table';
COMMENT ON FUNCTION dp_cdp.unprotect_table(regclass) IS
	'removes the policy of a table: only who holds SELECT may read it then';

CREATE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower numeric, upper numeric) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, numeric, numeric) IS
	'declares bounds of a column, to which values (with a unit column: totals of a unit) are clamped in sums';

CREATE FUNCTION dp_cdp.drop_bounds("table" regclass, "column" name) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_bounds';
COMMENT ON FUNCTION dp_cdp.drop_bounds(regclass, name) IS
	'removes the bounds of a column';

CREATE FUNCTION dp_cdp.set_keys("table" regclass, "column" name, keys anyarray) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_keys';
COMMENT ON FUNCTION dp_cdp.set_keys(regclass, name, anyarray) IS
	'declares which keys a GROUP BY of this column releases, whether rows have them or not; a NULL among them is the NULL group';

CREATE FUNCTION dp_cdp.drop_keys("table" regclass, "column" name) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_keys';
COMMENT ON FUNCTION dp_cdp.drop_keys(regclass, name) IS
	'removes the declared keys of a column';

CREATE FUNCTION dp_cdp.declared_keys("table" regclass, "column" name) RETURNS text[]
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_declared_keys';
COMMENT ON FUNCTION dp_cdp.declared_keys(regclass, name) IS
	'which keys a GROUP BY of this column releases, by set_keys, its type or a foreign key; NULL: they are selected privately';

CREATE FUNCTION dp_cdp.dataset_of("table" regclass) RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'dp_dataset_of';
COMMENT ON FUNCTION dp_cdp.dataset_of(regclass) IS
	'the dataset that protects a table, by its own policy or that of a table it is a partition or child of; NULL: none';

CREATE FUNCTION dp_cdp.set_budget(
	dataset text,
	role regrole,
	rho float8 DEFAULT NULL,
	epsilon float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	period interval DEFAULT NULL
) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_budget';
COMMENT ON FUNCTION dp_cdp.set_budget(text, regrole, float8, float8, float8, interval) IS
	'gives a role a budget, or changes it and keeps what is spent: rho, or (epsilon, delta); renewed each period';

CREATE FUNCTION dp_cdp.drop_budget(dataset text, role regrole) RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_budget';
COMMENT ON FUNCTION dp_cdp.drop_budget(text, regrole) IS
	'takes a role''s budget away';

CREATE FUNCTION dp_cdp.epsilon_spent(rho numeric, delta numeric) RETURNS float8
	LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dp_epsilon_spent';
COMMENT ON FUNCTION dp_cdp.epsilon_spent(numeric, numeric) IS
	'the smallest known epsilon for which rho-zCDP implies (epsilon, delta)-DP, rounded up';

-- =========================================================================
-- 4. Ledger (ledger)
-- =========================================================================

-- Which CREATE EXTENSION the balances belong to: a dump that is restored into
-- the very database it came from must not pass for the original.
ALTER TABLE dp_cdp.ledger_stamp ADD COLUMN extension oid NOT NULL;

REVOKE ALL ON dp_cdp.dataset, dp_cdp.budget, dp_cdp.release_log, dp_cdp.ledger_stamp FROM PUBLIC;

-- A debit updates two or three rows, always the same ones: room on their pages
-- lets the new versions stay there, and vacuum should come often.
ALTER TABLE dp_cdp.dataset SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp.budget SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp.release_log SET (vacuum_truncate = off);

-- Dumped with their contents.  A restored ledger waits for adopt_ledger().
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.dataset', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.budget', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.release_log', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.release_log_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.ledger_stamp', '');

-- Balances change only through the worker and the functions of this schema.
CREATE FUNCTION dp_cdp.ledger_guard() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_ledger_guard';
REVOKE ALL ON FUNCTION dp_cdp.ledger_guard() FROM PUBLIC;

CREATE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp.dataset
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp.budget
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard BEFORE UPDATE OR DELETE ON dp_cdp.release_log
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp.ledger_stamp
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.dataset
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.budget
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.release_log
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.ledger_stamp
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
ALTER TABLE dp_cdp.dataset ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp.budget ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp.release_log ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp.ledger_stamp ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;

-- The rules that the worker applies, for views and for adopt_ledger().
CREATE FUNCTION dp_cdp.role_pays(payer oid, role oid) RETURNS boolean
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_role_pays';
COMMENT ON FUNCTION dp_cdp.role_pays(oid, oid) IS
	'is the payer charged to budgets of this role: by inheritance, for superusers by membership';
CREATE FUNCTION dp_cdp.next_renewal(renews_at timestamptz, period interval, now timestamptz) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_next_renewal';
COMMENT ON FUNCTION dp_cdp.next_renewal(timestamptz, interval, timestamptz) IS
	'when a budget renews next, seen from now; differs from renews_at when a renewal is due';
CREATE FUNCTION dp_cdp.period_start(renews_at timestamptz, period interval) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_period_start';
COMMENT ON FUNCTION dp_cdp.period_start(timestamptz, interval) IS
	'when the period began that ends at renews_at';

CREATE FUNCTION dp_cdp.debit(dataset text, rho numeric, delta numeric DEFAULT 0) RETURNS void
	LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_ledger_debit_by_hand';
REVOKE ALL ON FUNCTION dp_cdp.debit(text, numeric, numeric) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.debit(text, numeric, numeric) IS
	'debits the caller''s budgets by hand, for an answer given outside of the database';

CREATE FUNCTION dp_cdp.adopt_ledger(surcharge_rho float8 DEFAULT 0, surcharge_delta float8 DEFAULT 0) RETURNS void
	LANGUAGE C STRICT VOLATILE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
	AS 'MODULE_PATHNAME', 'dp_ledger_adopt';
REVOKE ALL ON FUNCTION dp_cdp.adopt_ledger(float8, float8) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.adopt_ledger(float8, float8) IS
	'accepts a ledger that was copied, restored or promoted: raises balances to the audit log, plus a surcharge on each';

CREATE FUNCTION dp_cdp.empty_ledger() RETURNS void
	LANGUAGE C STRICT VOLATILE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_empty';
REVOKE ALL ON FUNCTION dp_cdp.empty_ledger() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.empty_ledger() IS
	'forgets all spending and the audit log';

-- =========================================================================
-- 4a. Views over policy and ledger (api)
-- =========================================================================

-- Visible to a session are the rows of its session_user, its current_user and
-- the roles they inherit from; to the owner of a dataset all that concern it.

CREATE VIEW dp_cdp.budgets WITH (security_barrier) AS
	SELECT b.dataset,
		b.role,
		trim_scale(b.rho_limit) AS rho_limit,
		trim_scale(spent.rho) AS rho_spent,
		trim_scale(greatest(b.rho_limit - spent.rho, 0)) AS rho_remaining,
		trim_scale(b.delta_limit) AS delta_limit,
		trim_scale(spent.delta) AS delta_spent,
		dp_cdp.epsilon_spent(spent.rho, b.report_delta) AS epsilon_spent,
		b.period,
		coalesce(due.next, b.renews_at) AS renews_at
	FROM dp_cdp.budget b
		JOIN dp_cdp.dataset d ON d.name = b.dataset
		CROSS JOIN LATERAL (SELECT dp_cdp.next_renewal(b.renews_at, b.period, now()) AS next) due
		CROSS JOIN LATERAL (
			SELECT CASE WHEN due.next <> b.renews_at THEN 0 ELSE b.rho_spent END AS rho,
				CASE WHEN due.next <> b.renews_at THEN 0 ELSE b.delta_spent END AS delta) spent
	WHERE pg_has_role(session_user, b.role::oid, 'USAGE')
		OR pg_has_role(current_user, b.role::oid, 'USAGE')
		OR pg_has_role(session_user, d.owner::oid, 'USAGE')
		OR pg_has_role(current_user, d.owner::oid, 'USAGE');
COMMENT ON VIEW dp_cdp.budgets IS
	'budgets of the current roles, and all of a dataset for its owner; a period that is over counts as renewed';
COMMENT ON COLUMN dp_cdp.budgets.epsilon_spent IS
	'epsilon that corresponds to rho_spent, at the delta of the budget (given as rho: of the dataset); delta_spent comes on top of that delta';

CREATE VIEW dp_cdp.releases WITH (security_barrier) AS
	SELECT l.id, l.released_at, l.dataset, l.role, l.session_role, l.application,
		l.aggregates, l.groups, trim_scale(l.rho) AS rho, trim_scale(l.delta) AS delta,
		l.sigma, l.granted
	FROM dp_cdp.release_log l
		LEFT JOIN dp_cdp.dataset d ON d.name = l.dataset
	WHERE pg_has_role(session_user, l.role::oid, 'USAGE')
		OR pg_has_role(current_user, l.role::oid, 'USAGE')
		OR pg_has_role(session_user, l.session_role::oid, 'USAGE')
		OR pg_has_role(current_user, l.session_role::oid, 'USAGE')
		OR pg_has_role(session_user, d.owner::oid, 'USAGE')
		OR pg_has_role(current_user, d.owner::oid, 'USAGE');
COMMENT ON VIEW dp_cdp.releases IS
	'audit of releases and refused debits: those of the current roles, and all of a dataset for its owner';

CREATE VIEW dp_cdp.datasets WITH (security_barrier) AS
	SELECT d.name AS dataset,
		d.owner,
		trim_scale(d.rho_limit) AS rho_limit,
		trim_scale(d.rho_spent) AS rho_spent,
		CASE WHEN d.rho_limit IS NOT NULL THEN trim_scale(greatest(d.rho_limit - d.rho_spent, 0)) END AS rho_remaining,
		trim_scale(d.delta_limit) AS delta_limit,
		trim_scale(d.delta_spent) AS delta_spent,
		dp_cdp.epsilon_spent(d.rho_spent, d.delta_limit) AS epsilon_spent,
		trim_scale(d.default_rho) AS default_rho,
		trim_scale(d.max_rho) AS max_rho,
		trim_scale(d.default_delta) AS default_delta,
		d.max_groups,
		d.max_rows,
		d.neighbors
	FROM dp_cdp.dataset d
	WHERE pg_has_role(session_user, d.owner::oid, 'USAGE')
		OR pg_has_role(current_user, d.owner::oid, 'USAGE')
		OR EXISTS (SELECT FROM dp_cdp.budget b
			WHERE b.dataset = d.name
				AND (pg_has_role(session_user, b.role::oid, 'USAGE')
					OR pg_has_role(current_user, b.role::oid, 'USAGE')));
COMMENT ON VIEW dp_cdp.datasets IS
	'datasets one owns or has a budget in: settings, lifetime caps and what is spent over all roles';

CREATE VIEW dp_cdp.protected WITH (security_barrier) AS
	SELECT l.objoid::regclass AS "table",
		l.label ->> 'dataset' AS dataset,
		columns.unit,
		columns.columns
	FROM (SELECT objoid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
			FROM pg_catalog.pg_seclabel
			WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass AND objsubid = 0) l
		JOIN pg_catalog.pg_class c ON c.oid = l.objoid
		LEFT JOIN dp_cdp.dataset d ON d.name = l.label ->> 'dataset'
		CROSS JOIN LATERAL (
			SELECT (array_agg(a.attname) FILTER (WHERE s.label ? 'unit'))[1] AS unit,
				jsonb_object_agg(a.attname, s.label - 'unit')
					FILTER (WHERE s.label - 'unit' <> '{}') AS columns
			FROM (SELECT objsubid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
					FROM pg_catalog.pg_seclabel
					WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass
						AND objoid = c.oid AND objsubid > 0) s
				JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.objsubid) columns
	WHERE pg_has_role(session_user, c.relowner, 'USAGE')
		OR pg_has_role(current_user, c.relowner, 'USAGE')
		OR pg_has_role(session_user, d.owner::oid, 'USAGE')
		OR pg_has_role(current_user, d.owner::oid, 'USAGE')
		OR EXISTS (SELECT FROM dp_cdp.budget b
			WHERE b.dataset = l.label ->> 'dataset'
				AND (pg_has_role(session_user, b.role::oid, 'USAGE')
					OR pg_has_role(current_user, b.role::oid, 'USAGE')));
COMMENT ON VIEW dp_cdp.protected IS
	'protected tables one owns or has a budget for: dataset, privacy unit (NULL: each row), bounds and declared keys of columns';

GRANT SELECT ON dp_cdp.budgets, dp_cdp.releases, dp_cdp.datasets, dp_cdp.protected TO PUBLIC;

-- =========================================================================
-- 5. What analysts write (guard)
-- =========================================================================

-- These aggregates are never run: the guard replaces them by exact states
-- and noise.  One that it did not replace ends in an error when it is
-- planned, in the input function of its state type.

CREATE TYPE dp_cdp.unreleased;

CREATE FUNCTION dp_cdp.unreleased_in(cstring) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_in' LANGUAGE C IMMUTABLE STRICT PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp.unreleased_out(dp_cdp.unreleased) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_unreleased_out' LANGUAGE C IMMUTABLE STRICT PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_in(cstring), dp_cdp.unreleased_out(dp_cdp.unreleased) FROM PUBLIC;

CREATE TYPE dp_cdp.unreleased (
	INPUT = dp_cdp.unreleased_in, OUTPUT = dp_cdp.unreleased_out,
	INTERNALLENGTH = 4, PASSEDBYVALUE, ALIGNMENT = int4, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp.unreleased FROM PUBLIC;
COMMENT ON TYPE dp_cdp.unreleased IS 'state of private aggregates, which are never run as such';


CREATE FUNCTION dp_cdp.unreleased_bigint(dp_cdp.unreleased) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_bigint(dp_cdp.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp.unreleased_float(dp_cdp.unreleased) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_float(dp_cdp.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp.unreleased_numeric(dp_cdp.unreleased) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_numeric(dp_cdp.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, "any") RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, "any", "any", "any") RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION
	dp_cdp.unreleased_step(dp_cdp.unreleased),
	dp_cdp.unreleased_step(dp_cdp.unreleased, "any"),
	dp_cdp.unreleased_step(dp_cdp.unreleased, "any", "any", "any")
	FROM PUBLIC;

CREATE AGGREGATE @extschema@.dp_count(*) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count(*) IS
	'noisy number of rows, a privacy unit counting for at most max_rows in each group';
CREATE AGGREGATE @extschema@.dp_count("any") (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count("any") IS
	'noisy number of rows where the argument is not NULL; with DISTINCT over the privacy unit: of units';
CREATE AGGREGATE @extschema@.dp_sum(smallint) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(smallint, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(integer) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(integer, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(bigint) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(bigint, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(real) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE AGGREGATE @extschema@.dp_sum(real, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(real, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(real, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(double precision, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_sum(numeric, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';

-- -------------------------------------------------------------------------
-- Total variants
-- -------------------------------------------------------------------------

-- Each try_f returns what the built-in f returns, or NULL where that would
-- raise an error.  Inside of a private query they take the place of the
-- built-ins, and run with the rights of the table's owner; PUBLIC keeps
-- EXECUTE, because they are harmless.

-- integers
CREATE FUNCTION dp_cdp.try_add(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_add_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_divide_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_mod(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_mod_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_mod(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_mod_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_mod(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_mod_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_negate(int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_negate_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_abs(int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_abs_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_negate(int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_negate_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_abs(int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_abs_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_negate(int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_negate_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_abs(int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_abs_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- floating point
CREATE FUNCTION dp_cdp.try_add(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_add_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_divide_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_sqrt(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_sqrt_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_ln(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_ln_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_log(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_log_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_exp(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_exp_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_power(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_power_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_width_bucket(float8, float8, float8, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_width_bucket_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- numeric
CREATE FUNCTION dp_cdp.try_add(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_add_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_subtract_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_multiply(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_multiply_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_divide(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_divide_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_mod(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_mod_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_ceil(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_ceil_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_floor(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_floor_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_sqrt(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_sqrt_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_round(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_round0_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_round(numeric, int4) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_round_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_width_bucket(numeric, numeric, numeric, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_width_bucket_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- casts between numbers
CREATE FUNCTION dp_cdp.try_int2(int4) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int2(int8) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int4(int8) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_float4(float8) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_float4_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int2(float4) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int4(float4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int8(float4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int2(float8) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int4(float8) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int8(float8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int2(numeric) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int4(numeric) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int8(numeric) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_float4(numeric) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_float4_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_float8(numeric) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_float8_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_numeric(numeric, int4) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_numeric_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- strings
CREATE FUNCTION dp_cdp.try_lower(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_upper(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_initcap(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_initcap' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_concat(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_substring(text, int4, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_substring' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_replace(text, text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_replace' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_split_part(text, text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_split_part' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_like(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_like(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_like(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_not_like(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_not_like(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_not_like(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_ilike(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_ilike(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_ilike(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_not_ilike(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_not_ilike(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_not_ilike(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- casts to and from text
CREATE FUNCTION dp_cdp.try_text(int2) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_text(int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_text(int8) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_text(numeric) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_text(uuid) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_text(date) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_text(timestamp) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_text(anyenum) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_enum' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int2(text) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int4(text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_int8(text) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_float8(text) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_float8_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_numeric(text) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_numeric_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date(text) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_date_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- dates and times
CREATE FUNCTION dp_cdp.try_timestamp(date) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_timestamptz(date) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_timestamptz(timestamp) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_timestamp(timestamptz) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date(timestamptz) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_date_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_time(timestamptz) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_time_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_timestamp(timestamp, int4) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_timestamptz(timestamptz, int4) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(date, date) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(date, int4) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_add_date_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(int4, date) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_add_int4_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(date, int4) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(date, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_date_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(interval, date) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(date, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(timestamp, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_timestamp_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(interval, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(timestamp, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(timestamptz, interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_add_timestamptz_interval' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_add(interval, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(timestamptz, interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamptz_interval' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(timestamp, timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_age(timestamp, timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_subtract(timestamptz, timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_age(timestamptz, timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_extract(text, date) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_part(text, date) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_extract(text, time) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_part(text, time) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_extract(text, timestamp) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_part(text, timestamp) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_extract(text, timestamptz) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_part(text, timestamptz) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_extract(text, interval) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_part(text, interval) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_trunc(text, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_trunc(text, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_date_trunc(text, timestamptz, text) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_zone' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_timezone(text, timestamp) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timezone_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_timezone(text, timestamptz) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timezone_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_to_char(timestamp, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_to_char_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.try_to_char(timestamptz, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_to_char_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- one representation of equal group keys
CREATE FUNCTION dp_cdp.canonical(float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_canonical_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.canonical(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_canonical_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp.canonical(bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_canonical_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- What may be used on rows of protected tables, and how it is treated there:
-- as it stands, replaced by its total variant, or with constants only.
CREATE FUNCTION dp_cdp.allowed_functions(OUT function regprocedure, OUT treatment text,
										 OUT total regprocedure, OUT constant_arguments int[])
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_allowed_functions_sql' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.allowed_functions() IS
	'functions that may be used on rows of protected tables: as is, as a total variant that is NULL instead of an error, or with constants only';
