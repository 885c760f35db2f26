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
	dataset			text NOT NULL REFERENCES dp_cdp.dataset,
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

-- =========================================================================
-- 3. Policy and administration (policy, api)
-- =========================================================================

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

CREATE TRIGGER ledger_guard BEFORE UPDATE OR DELETE ON dp_cdp.dataset
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard BEFORE UPDATE OR DELETE ON dp_cdp.budget
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard BEFORE UPDATE OR DELETE ON dp_cdp.release_log
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE TRIGGER ledger_guard BEFORE UPDATE OR DELETE ON dp_cdp.ledger_stamp
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
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_count(*) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count(*) IS
	'noisy number of rows, a privacy unit counting for at most max_rows in each group';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, "any") RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, "any") FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_count("any") (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count("any") IS
	'noisy number of rows where the argument is not NULL; with DISTINCT over the privacy unit: of units';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(smallint) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint, numeric, numeric) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint, numeric, numeric) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint, double precision, double precision) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint, double precision, double precision) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint, text, text) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, smallint, text, text) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(smallint, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(integer) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer, numeric, numeric) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer, numeric, numeric) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer, double precision, double precision) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer, double precision, double precision) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer, text, text) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, integer, text, text) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(integer, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(bigint) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint, numeric, numeric) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint, numeric, numeric) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint, double precision, double precision) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint, double precision, double precision) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint, text, text) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, bigint, text, text) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(bigint, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(real) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real, numeric, numeric) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real, numeric, numeric) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(real, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real, double precision, double precision) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real, double precision, double precision) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(real, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real, text, text) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, real, text, text) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(real, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision, numeric, numeric) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision, numeric, numeric) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision, double precision, double precision) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision, double precision, double precision) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision, text, text) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, double precision, text, text) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(double precision, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to the bounds that were declared with dp_cdp.set_bounds';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric, numeric, numeric) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric, numeric, numeric) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric, double precision, double precision) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric, double precision, double precision) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric, text, text) RETURNS dp_cdp.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp.unreleased_step(dp_cdp.unreleased, numeric, text, text) FROM PUBLIC;
CREATE AGGREGATE @extschema@.dp_sum(numeric, text, text) (
	SFUNC = dp_cdp.unreleased_step, STYPE = dp_cdp.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, text, text) IS
	'noisy sum; the total of a privacy unit in a group is clamped to lower (2nd argument) .. upper (3rd argument)';
