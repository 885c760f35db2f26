/*
 * The update script: made by "make" of src/sql/update/ and parts of the install script, see src/sql/compose.sh
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 */

\echo Use "ALTER EXTENSION dp_cdp UPDATE TO '0.2.0'" to load this file. \quit

-- first of all, because it says what is wrong while the library is the old one
CREATE FUNCTION dp_cdp.library_version() RETURNS text
	LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_library_version';

-- what only the extension itself calls
CREATE SCHEMA dp_cdp_internal;
GRANT USAGE ON SCHEMA dp_cdp_internal TO PUBLIC;
DO $$
DECLARE
	inner_names text[] := '{
		bin,bound_spec,bound_spec_in,bound_spec_out,bound_state,bound_state_in,bound_state_out,bound_unit,
		bound_unit_add,bound_unit_combine,canonical,centered,chebyshev,code,compose_delta_add,
		compose_delta_combine,compose_delta_final,compose_gdp_add,compose_gdp_combine,compose_gdp_final,
		compose_mcdp_add,compose_mcdp_combine,compose_mcdp_final,compose_zcdp_add,compose_zcdp_combine,
		compose_zcdp_final,distinct_count,exact_distinct,exact_distinct_in,exact_distinct_out,exact_float,
		exact_float_add,exact_float_avg,exact_float_combine,exact_float_in,exact_float_out,exact_float_square,
		exact_float_stddev_pop,exact_float_stddev_samp,exact_float_sum4,exact_float_sum8,exact_float_var_pop,
		exact_float_var_samp,exact_histogram,exact_histogram_add,exact_moments,exact_moments_in,exact_moments_out,
		exact_sum,exact_sum_add,exact_sum_combine,exact_sum_in,exact_sum_out,exact_sum_value,exact_vector,
		exact_vector_combine,exact_vector_in,exact_vector_out,greater_of,grid,grid_in,grid_out,grid_parts,
		grid_value,hardening,ledger_guard,less_of,make_bound_spec,make_grid,make_range,make_scaled_grid,margin,
		moment_n,moment_t,moment_t2,moment_tu,moment_u,moment_u2,moments_add,moments_combine,moments_n,moments_t,
		moments_t2,moments_tu,moments_u,moments_u2,next_renewal,period_start,preview_columns,private_rule,product,
		range,range_in,range_out,role_pays,server_facts,try_abs,try_add,try_age,try_bpchar,try_btrim,try_ceil,
		try_concat,try_date,try_date_part,try_date_trunc,try_divide,try_exp,try_extract,try_float4,try_float8,
		try_floor,try_ilike,try_initcap,try_int2,try_int4,try_int8,try_left,try_length,try_like,try_ln,try_log,
		try_lower,try_ltrim,try_mod,try_multiply,try_name,try_negate,try_not_ilike,try_not_like,try_numeric,
		try_power,try_replace,try_reverse,try_right,try_round,try_rtrim,try_split_part,try_sqrt,try_starts_with,
		try_strpos,try_substring,try_subtract,try_summand,try_summand_squared,try_text,try_time,try_timestamp,
		try_timestamptz,try_timezone,try_to_char,try_upper,try_varchar,try_width_bucket,unit_avg,unit_max,unit_min,
		unit_stddev_pop,unit_stddev_samp,unit_sum,unit_var_pop,unit_var_samp,unreleased,unreleased_bigint,
		unreleased_bigints,unreleased_float,unreleased_floats,unreleased_in,unreleased_numeric,unreleased_out,
		unreleased_same,unreleased_step,vector_counts}';
	m record;
BEGIN
	FOR m IN
		SELECT pg_catalog.format('ROUTINE %s', p.oid::pg_catalog.regprocedure) AS object
			FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc p ON p.oid = d.objid
			WHERE d.deptype = 'e' AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
				AND p.pronamespace = 'dp_cdp'::pg_catalog.regnamespace AND p.proname = ANY (inner_names)
		UNION ALL
		SELECT pg_catalog.format('TYPE %s', t.oid::pg_catalog.regtype)
			FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_type t ON t.oid = d.objid
			WHERE d.deptype = 'e' AND d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass
				AND t.typnamespace = 'dp_cdp'::pg_catalog.regnamespace AND t.typname = ANY (inner_names)
	LOOP
		EXECUTE pg_catalog.format('ALTER %s SET SCHEMA dp_cdp_internal', m.object);
	END LOOP;
END;
$$;

-- Adopting: which datasets their owners adopted by themselves, and the file
-- that a copied data directory does not share.
ALTER TABLE dp_cdp.dataset ADD COLUMN adopted text;
DROP FUNCTION dp_cdp.adopt_ledger(float8, float8);
ALTER TABLE dp_cdp.ledger_stamp ADD COLUMN file text, ADD COLUMN place text;
-- -------------------------------------------------------------------------
-- Names of roles beside their OIDs; what each row of the log was debited from;
-- the chain of hashes
-- -------------------------------------------------------------------------

-- names that have changed
ALTER VIEW dp_cdp.releases RENAME COLUMN sigma TO stddev;
ALTER TABLE dp_cdp.release_log RENAME COLUMN sigma TO stddev;
ALTER FUNCTION dp_cdp.debit(text, numeric, numeric) RENAME TO debit_budget;

-- views that others may have built upon let go of the columns until they are made anew
CREATE OR REPLACE VIEW dp_cdp.budgets WITH (security_barrier) AS
	SELECT NULL::text AS dataset, NULL::regrole AS role, NULL::numeric AS rho_limit, NULL::numeric AS rho_spent,
		NULL::numeric AS rho_remaining, NULL::numeric AS delta_limit, NULL::numeric AS delta_spent,
		NULL::float8 AS epsilon_spent, NULL::interval AS period, NULL::timestamptz AS renews_at,
		NULL::int AS failures, NULL::int AS max_failures, NULL::timestamptz AS failures_end;
CREATE OR REPLACE VIEW dp_cdp.releases WITH (security_barrier) AS
	SELECT NULL::bigint AS id, NULL::timestamptz AS released_at, NULL::text AS dataset, NULL::regrole AS role,
		NULL::regrole AS session_role, NULL::text AS application, NULL::text AS aggregates, NULL::text AS groups,
		NULL::numeric AS rho, NULL::numeric AS delta, NULL::text AS stddev, NULL::boolean AS granted, NULL::boolean AS failed;
CREATE OR REPLACE VIEW dp_cdp.datasets WITH (security_barrier) AS
	SELECT NULL::text AS dataset, NULL::regrole AS owner, NULL::numeric AS rho_limit, NULL::numeric AS rho_spent,
		NULL::numeric AS rho_remaining, NULL::numeric AS delta_limit, NULL::numeric AS delta_spent,
		NULL::float8 AS epsilon_spent, NULL::numeric AS default_rho, NULL::numeric AS max_rho, NULL::numeric AS default_delta,
		NULL::int AS max_groups, NULL::int AS max_rows, NULL::text AS neighbors, NULL::numeric AS min_rho,
		NULL::int AS max_failures, NULL::interval AS answer_step;
CREATE OR REPLACE VIEW dp_cdp.protected WITH (security_barrier) AS
	SELECT NULL::regclass AS "table", NULL::text AS dataset, NULL::name AS unit, NULL::jsonb AS columns;

CREATE SEQUENCE dp_cdp.ledger_id_seq;
ALTER TABLE dp_cdp.dataset
	ALTER COLUMN owner TYPE oid,
	ADD COLUMN owner_name text,
	ADD COLUMN ledger_id bigint NOT NULL DEFAULT nextval('dp_cdp.ledger_id_seq');
ALTER TABLE dp_cdp.budget
	ALTER COLUMN role TYPE oid,
	ADD COLUMN role_name text,
	ADD COLUMN ledger_id bigint NOT NULL DEFAULT nextval('dp_cdp.ledger_id_seq'),
	ADD COLUMN spent_since bigint NOT NULL DEFAULT 0;
ALTER TABLE dp_cdp.release_log
	ALTER COLUMN role TYPE oid,
	ALTER COLUMN session_role TYPE oid,
	ADD COLUMN kind text,
	ADD COLUMN reason text,
	ADD COLUMN query text,
	ADD COLUMN tables text,
	ADD COLUMN client text,
	ADD COLUMN repeats int NOT NULL DEFAULT 1,
	ADD COLUMN last_at timestamptz,
	ADD COLUMN role_name text,
	ADD COLUMN session_role_name text,
	ADD COLUMN paid_by bigint[],
	ADD COLUMN hash bytea;

-- of a role that is gone already nobody knows the name: one that no role has
CREATE FUNCTION dp_cdp.name_to_be(role oid) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT coalesce((SELECT r.rolname::text FROM pg_catalog.pg_roles r WHERE r.oid = $1), pg_catalog.format('(dropped before the update, OID %s)', $1))
$$;
UPDATE dp_cdp.dataset SET owner_name = dp_cdp.name_to_be(owner);
UPDATE dp_cdp.budget SET role_name = dp_cdp.name_to_be(role);
UPDATE dp_cdp.release_log SET
	kind = CASE WHEN failed THEN 'failed' WHEN granted THEN 'granted' ELSE 'refused' END,
	role_name = dp_cdp.name_to_be(role),
	session_role_name = dp_cdp.name_to_be(session_role),
	paid_by = CASE WHEN granted THEN '{}'::bigint[] END;	-- in the checkpoint below
DROP FUNCTION dp_cdp.name_to_be(oid);
ALTER TABLE dp_cdp.budget DROP CONSTRAINT budget_pkey, ADD PRIMARY KEY (dataset, role, role_name);

-- earlier rows do not say who paid: what each balance has is where its sum begins
INSERT INTO dp_cdp.release_log (dataset, role, session_role, application, aggregates, rho, delta, granted,
								kind, reason, role_name, session_role_name, paid_by)
	SELECT d.name, 0, 0, '', 'checkpoint', d.rho_spent, d.delta_spent, false,
		'checkpoint', 'update from 0.1.0', NULL::text, NULL::text, ARRAY[d.ledger_id]
	FROM dp_cdp.dataset d WHERE d.rho_spent <> 0 OR d.delta_spent <> 0
	UNION ALL
	SELECT b.dataset, b.role, b.role, '', 'checkpoint', b.rho_spent, b.delta_spent, false,
		'checkpoint', 'update from 0.1.0', b.role_name, b.role_name, ARRAY[b.ledger_id]
	FROM dp_cdp.budget b WHERE b.rho_spent <> 0 OR b.delta_spent <> 0;

CREATE INDEX release_log_role ON dp_cdp.release_log (role);
CREATE INDEX release_log_session_role ON dp_cdp.release_log (session_role) WHERE session_role <> role;
CREATE INDEX release_log_dataset ON dp_cdp.release_log (dataset);

-- Where the chain of hashes ends, and where rows were taken out of it.
CREATE TABLE dp_cdp.ledger_chain (
	one				boolean PRIMARY KEY DEFAULT true CHECK (one),
	id				bigint NOT NULL,		-- of the last row
	hash			bytea NOT NULL,			-- its
	first_id		bigint NOT NULL			-- the chain begins with this row
);
CREATE TABLE dp_cdp.pruned (
	first_id		bigint PRIMARY KEY,		-- rows from here ...
	last_id			bigint NOT NULL,		-- ... to here are pruned
	hash			bytea NOT NULL			-- of the last of them
);

-- Whom rows of the log mean that came from another server.
CREATE TABLE dp_cdp.role_alias (
	role			oid NOT NULL,			-- as in the log
	role_name		text NOT NULL,
	is_role			oid NOT NULL,			-- here
	is_name			text NOT NULL,
	PRIMARY KEY (role, role_name)
);

-- what a release may hold
ALTER TABLE dp_cdp.dataset ADD COLUMN release_memory int;

-- bounds that are found privately
ALTER TABLE dp_cdp.dataset ADD COLUMN find_bounds float8;

-- answers that are given again
ALTER TABLE dp_cdp.dataset ADD COLUMN reuse interval;
ALTER TABLE dp_cdp.dataset ADD COLUMN forgotten_at timestamptz;
ALTER TABLE dp_cdp.dataset ADD COLUMN reuse_dumped boolean NOT NULL DEFAULT false;
ALTER TABLE dp_cdp.release_log ADD COLUMN reuse_rho numeric;
ALTER TABLE dp_cdp.release_log ADD COLUMN reuse_delta numeric;
CREATE TABLE dp_cdp.kept_answer (
	dataset			text NOT NULL,
	ledger_id		bigint NOT NULL,		-- of the dataset's cap
	question		bytea NOT NULL CHECK (octet_length(question) = 32),
	began			timestamptz NOT NULL,	-- when the first answer of the ladder was bought
	rho				numeric NOT NULL,		-- what a balance has paid that knows this one and nothing dearer
	delta			numeric NOT NULL,
	below			numeric NOT NULL,		-- the price of the foot of its piece
	paid_by			bigint[] NOT NULL,		-- ledger_id of each balance that has paid for it
	answer			bytea,					-- NULL: not drawn yet, or ended
	used_at			timestamptz NOT NULL DEFAULT clock_timestamp(),
	ended			boolean NOT NULL DEFAULT false,	-- it is given to nobody any more
	dumped			boolean NOT NULL DEFAULT false,
	block_from		date,					-- of a dataset with blocks: those from this day on ...
	block_to		date,					-- ... and before this day are told of
	PRIMARY KEY (question, began, rho, delta)
);

-- blocks of time
ALTER TABLE dp_cdp.dataset ADD COLUMN block_every interval;
-- grouping sets that add up: after those of the blocks, as in a fresh database
ALTER TABLE dp_cdp.dataset ADD COLUMN consistent boolean NOT NULL DEFAULT false;
ALTER TABLE dp_cdp.dataset ADD COLUMN pull_rows boolean NOT NULL DEFAULT false;
ALTER TABLE dp_cdp.dataset ADD COLUMN key_delta_share float8 NOT NULL DEFAULT 0.1;
-- limits that were there stay, set or not
ALTER TABLE dp_cdp.dataset ADD COLUMN max_contribution text;
ALTER TABLE dp_cdp.dataset ALTER COLUMN max_groups DROP NOT NULL, ALTER COLUMN max_rows DROP NOT NULL;
ALTER TABLE dp_cdp.release_log ADD COLUMN block_from date;
ALTER TABLE dp_cdp.release_log ADD COLUMN block_to date;
CREATE TABLE dp_cdp.block_spent (
	ledger_id		bigint NOT NULL,		-- of the balance
	block_from		date NOT NULL,
	block_to		date NOT NULL,			-- not included
	rho_spent		numeric NOT NULL,
	delta_spent		numeric NOT NULL,
	PRIMARY KEY (ledger_id, block_from)
);

-- more arguments
DROP FUNCTION dp_cdp.protect_table(regclass, text, name);
DROP FUNCTION dp_cdp.create_dataset(text, float8, float8, float8, float8, int, int, text, float8, float8, int, interval);
DROP FUNCTION dp_cdp.alter_dataset(text, float8, float8, float8, float8, int, int, text, float8, regrole, float8, int, interval);

-- What a budget or cap allows.
CREATE TYPE dp_cdp.granted AS (
	dataset			text,
	role_name		text,
	rho				numeric,
	epsilon			float8,
	delta			float8,
	best_guess		float8,
	aggregates		numeric,
	report_delta	float8,
	key_delta		float8,
	key_selections	numeric
);

-- How a table is protected, and what is declared of a column.
CREATE TYPE dp_cdp.table_policy AS (
	dataset			text,
	"table"			regclass,
	unit			name,
	through			text,
	block			name,
	bounds			name[],
	keys			name[],
	readers			text,
	problem			text
);
CREATE TYPE dp_cdp.column_policy AS (
	dataset			text,
	"table"			regclass,
	"column"		name,
	lower			text,
	upper			text,
	total_lower		numeric,
	total_upper		numeric,
	keys			int
);

-- An amount of memory, as a setting of the server is written: a number of kB, or a text with its unit, as in '64MB'.
CREATE TYPE dp_cdp_internal.kilobytes;
CREATE FUNCTION dp_cdp_internal.kilobytes_in(cstring) RETURNS dp_cdp_internal.kilobytes
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_kilobytes_in';
CREATE FUNCTION dp_cdp_internal.kilobytes_out(dp_cdp_internal.kilobytes) RETURNS cstring
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_kilobytes_out';
CREATE TYPE dp_cdp_internal.kilobytes (INPUT = dp_cdp_internal.kilobytes_in, OUTPUT = dp_cdp_internal.kilobytes_out, LIKE = integer);
CREATE CAST (smallint AS dp_cdp_internal.kilobytes) WITH INOUT AS IMPLICIT;
CREATE CAST (integer AS dp_cdp_internal.kilobytes) WITH INOUT AS IMPLICIT;

-- A function with another result is made anew; who may call it stays.
DO $$
DECLARE
	held text := $q$SELECT CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::pg_catalog.regrole::text END AS whom, x.is_grantable
		FROM pg_catalog.pg_proc p
			CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) x
		WHERE p.oid = $1::pg_catalog.regprocedure AND x.grantee <> p.proowner$q$;
	f record;
	g record;
	definition text;
	grants text[];
BEGIN
	FOR f IN SELECT 'dp_cdp.' || x.form AS form, ' RETURNS dp_cdp.' || x.result AS result FROM (VALUES
			('set_budget(text, pg_catalog.regrole, float8, float8, float8, interval)', 'granted'),
			('drop_budget(text, pg_catalog.regrole)', 'granted'),
			('reset_failures(text, pg_catalog.regrole)', 'granted'),
			('unprotect_table(pg_catalog.regclass)', 'table_policy'),
			('drop_bounds(pg_catalog.regclass, pg_catalog.name)', 'column_policy'),
			('set_keys(pg_catalog.regclass, pg_catalog.name, pg_catalog.anyarray)', 'column_policy'),
			('drop_keys(pg_catalog.regclass, pg_catalog.name)', 'column_policy')) AS x(form, result)
	LOOP
		grants := '{}';
		FOR g IN EXECUTE held USING f.form LOOP
			grants := grants || pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %s%s', f.form, g.whom,
				CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
		END LOOP;
		definition := pg_catalog.replace(pg_catalog.pg_get_functiondef(f.form::pg_catalog.regprocedure), E'\n RETURNS void\n', E'\n' || f.result || E'\n');
		EXECUTE pg_catalog.format('DROP FUNCTION %s', f.form);
		EXECUTE definition;
		FOR g IN EXECUTE held USING f.form LOOP
			EXECUTE pg_catalog.format('REVOKE EXECUTE ON FUNCTION %s FROM %s', f.form, g.whom);
		END LOOP;
		FOR i IN 1 .. pg_catalog.cardinality(grants) LOOP
			EXECUTE grants[i];
		END LOOP;
		-- these are an administrator's, and not what the script gives (part 20)
		DELETE FROM pg_catalog.pg_init_privs i
			WHERE i.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND i.objoid = f.form::pg_catalog.regprocedure;
		DELETE FROM pg_catalog.pg_shdepend d
			WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = f.form::pg_catalog.regprocedure AND d.deptype = 'i';
	END LOOP;
END;
$$;

-- Names that protected tables have left.  Rows come from DDL, by whomever, and
-- go with their dataset, or when what bears the name is protected.  The key
-- lets a dump be restored where the same name was left, too.
CREATE TABLE dp_cdp.held_name (
	schema			name NOT NULL,
	name			name NOT NULL,
	dataset			text NOT NULL,			-- that protected the table
	since			timestamptz NOT NULL DEFAULT clock_timestamp(),
	successor		oid NOT NULL DEFAULT 0,	-- by replace_table the next to take the name; 0: none
	released		boolean NOT NULL DEFAULT false,
	PRIMARY KEY (schema, name, dataset, since)
);
REVOKE ALL ON dp_cdp.held_name FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.held_name', '');

-- What is not data travels to the workers of a cluster as text
CREATE OR REPLACE FUNCTION dp_cdp_internal.grid_in(cstring) RETURNS dp_cdp_internal.grid
	AS 'MODULE_PATHNAME', 'dp_grid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OR REPLACE FUNCTION dp_cdp_internal.grid_out(dp_cdp_internal.grid) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_grid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OR REPLACE FUNCTION dp_cdp_internal.bound_spec_in(cstring) RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_bound_spec_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OR REPLACE FUNCTION dp_cdp_internal.bound_spec_out(dp_cdp_internal.bound_spec) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_bound_spec_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OR REPLACE FUNCTION dp_cdp_internal.range_in(cstring) RETURNS dp_cdp_internal.range
	AS 'MODULE_PATHNAME', 'dp_range_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OR REPLACE FUNCTION dp_cdp_internal.range_out(dp_cdp_internal.range) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_range_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- What a row adds to a sum, where other servers add it up
CREATE FUNCTION dp_cdp_internal.clamped_steps(smallint, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(integer, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(bigint, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(real, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(double precision, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(numeric, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Long lists of declared keys
CREATE TYPE dp_cdp_internal.key_set;
CREATE FUNCTION dp_cdp_internal.key_set_in(cstring) RETURNS dp_cdp_internal.key_set
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.key_set_out(dp_cdp_internal.key_set) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE dp_cdp_internal.key_set (
	INPUT = dp_cdp_internal.key_set_in, OUTPUT = dp_cdp_internal.key_set_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp_internal.key_set FROM PUBLIC;
CREATE FUNCTION dp_cdp_internal.is_declared_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'dp_is_declared_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.is_declared(anyelement, dp_cdp_internal.key_set) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_is_declared' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT dp_cdp_internal.is_declared_support;
CREATE FUNCTION dp_cdp_internal.key_place(anyelement, dp_cdp_internal.key_set) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_key_place' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.key_set_in(cstring), dp_cdp_internal.key_set_out(dp_cdp_internal.key_set), dp_cdp_internal.is_declared_support(internal)
	FROM PUBLIC;

-- what a row costs PostgreSQL's own aggregation with it, beside which the bounding node's cost is set
ALTER FUNCTION dp_cdp_internal.bound_unit_add(dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec, VARIADIC "any") COST 50;

-- Bounded contributions of units are rows of keys, values and codes instead of values of a type of their own.
DROP AGGREGATE dp_cdp.entry_sum(dp_cdp.bound_entry, integer);
DROP AGGREGATE dp_cdp.entry_histogram(dp_cdp.bound_entry, integer, integer);
DROP AGGREGATE dp_cdp.entry_distinct(dp_cdp.bound_entry, integer);
DROP FUNCTION dp_cdp.entry_sum_add(dp_cdp_internal.exact_sum, dp_cdp.bound_entry, integer);
DROP FUNCTION dp_cdp.entry_histogram_add(dp_cdp_internal.exact_vector, dp_cdp.bound_entry, integer, integer);
DROP FUNCTION dp_cdp.entry_distinct_add(dp_cdp_internal.exact_distinct, dp_cdp.bound_entry, integer);
DROP FUNCTION dp_cdp.entry_key(dp_cdp.bound_entry, integer, anyelement);
DROP FUNCTION dp_cdp.entry_value(dp_cdp.bound_entry, integer);
DROP FUNCTION dp_cdp.entry_codes(dp_cdp.bound_entry, integer);
DROP FUNCTION dp_cdp.bound_entries(dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec);
-- in and out go with the type; PostgreSQL knows that each needs the other
DROP TYPE dp_cdp.bound_entry CASCADE;
CREATE FUNCTION dp_cdp_internal.bound_key(integer, dp_cdp_internal.bound_state, anyelement) RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'dp_bound_key' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_value(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_codes(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF integer[]
	AS 'MODULE_PATHNAME', 'dp_bound_codes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_distinct_codes(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint[]
	AS 'MODULE_PATHNAME', 'dp_bound_distinct_codes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_cut(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF integer[]
	AS 'MODULE_PATHNAME', 'dp_bound_cut' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_share(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_share' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_bin(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_bin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_first(integer, dp_cdp_internal.bound_state) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_first' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.steps_sum_add(dp_cdp_internal.exact_sum, bigint) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_steps_sum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.steps_sum(bigint) (
	SFUNC = dp_cdp_internal.steps_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.codes_histogram_add(dp_cdp_internal.exact_vector, integer[], integer)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_codes_histogram' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.codes_histogram(codes integer[], bins integer) (
	SFUNC = dp_cdp_internal.codes_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192,
	COMBINEFUNC = dp_cdp_internal.exact_vector_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.codes_shares_add(dp_cdp_internal.exact_vector, integer[], integer, bigint)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_codes_shares' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.codes_shares(codes integer[], bins integer, share bigint) (
	SFUNC = dp_cdp_internal.codes_shares_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192,
	COMBINEFUNC = dp_cdp_internal.exact_vector_combine, PARALLEL = SAFE
);
CREATE TYPE dp_cdp_internal.limited_sum;
CREATE FUNCTION dp_cdp_internal.limited_sum_in(cstring) RETURNS dp_cdp_internal.limited_sum
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_out(dp_cdp_internal.limited_sum) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE dp_cdp_internal.limited_sum (
	INPUT = dp_cdp_internal.limited_sum_in, OUTPUT = dp_cdp_internal.limited_sum_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp_internal.limited_sum FROM PUBLIC;
CREATE FUNCTION dp_cdp_internal.limited_sum_add(dp_cdp_internal.limited_sum, bigint, bigint, bigint, bigint)
	RETURNS dp_cdp_internal.limited_sum
	AS 'MODULE_PATHNAME', 'dp_limited_sum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_combine(dp_cdp_internal.limited_sum, dp_cdp_internal.limited_sum)
	RETURNS dp_cdp_internal.limited_sum
	AS 'MODULE_PATHNAME', 'dp_limited_sum_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.limited_sum(bin bigint, value bigint, share bigint, first bigint) (
	SFUNC = dp_cdp_internal.limited_sum_add, STYPE = dp_cdp_internal.limited_sum, SSPACE = 128,
	COMBINEFUNC = dp_cdp_internal.limited_sum_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum) RETURNS numeric[]
	AS 'MODULE_PATHNAME', 'dp_limited_sum_parts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.codes_distinct_add(dp_cdp_internal.exact_distinct, bigint[])
	RETURNS dp_cdp_internal.exact_distinct
	AS 'MODULE_PATHNAME', 'dp_codes_distinct' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.codes_distinct(codes bigint[]) (
	SFUNC = dp_cdp_internal.codes_distinct_add, STYPE = dp_cdp_internal.exact_distinct, SSPACE = 4096,
	FINALFUNC = dp_cdp_internal.distinct_count, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.codes_distinct_shares_add(dp_cdp_internal.exact_distinct, bigint[], bigint, dp_cdp_internal.bound_spec, integer)
	RETURNS dp_cdp_internal.exact_distinct
	AS 'MODULE_PATHNAME', 'dp_codes_distinct_shares' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.distinct_shares(dp_cdp_internal.exact_distinct) RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_distinct_shares' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.codes_distinct_shares(codes bigint[], share bigint, dp_cdp_internal.bound_spec, value integer) (
	SFUNC = dp_cdp_internal.codes_distinct_shares_add, STYPE = dp_cdp_internal.exact_distinct, SSPACE = 4096,
	FINALFUNC = dp_cdp_internal.distinct_shares, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.steps_sum_add(dp_cdp_internal.exact_sum, bigint),
	dp_cdp_internal.codes_histogram_add(dp_cdp_internal.exact_vector, integer[], integer),
	dp_cdp_internal.codes_shares_add(dp_cdp_internal.exact_vector, integer[], integer, bigint),
	dp_cdp_internal.limited_sum_in(cstring), dp_cdp_internal.limited_sum_out(dp_cdp_internal.limited_sum),
	dp_cdp_internal.limited_sum_add(dp_cdp_internal.limited_sum, bigint, bigint, bigint, bigint),
	dp_cdp_internal.limited_sum_combine(dp_cdp_internal.limited_sum, dp_cdp_internal.limited_sum),
	dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum),
	dp_cdp_internal.codes_distinct_add(dp_cdp_internal.exact_distinct, bigint[]),
	dp_cdp_internal.codes_distinct_shares_add(dp_cdp_internal.exact_distinct, bigint[], bigint, dp_cdp_internal.bound_spec, integer)
	FROM PUBLIC;

-- Bounds are of a row's value everywhere, and a unit's total has limits of its own.
DROP FUNCTION dp_cdp_internal.make_bound_spec(integer, integer, bigint[], text[], dp_cdp_internal.grid[], integer[]);
CREATE FUNCTION dp_cdp_internal.make_bound_spec(nkeys integer, max_groups integer, seed bigint[],
		kinds text[], grids dp_cdp_internal.grid[], rows integer[] DEFAULT '{}', limits bigint[] DEFAULT '{}') RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_make_bound_spec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.with_norm(dp_cdp_internal.bound_spec, value integer, shift integer, others integer[], limits bigint[])
	RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_with_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.with_groups(dp_cdp_internal.bound_spec, groups integer[]) RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_with_groups' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.make_bound_spec(integer, integer, bigint[], text[], dp_cdp_internal.grid[], integer[], bigint[]),
	dp_cdp_internal.with_norm(dp_cdp_internal.bound_spec, integer, integer, integer[], bigint[]),
	dp_cdp_internal.with_groups(dp_cdp_internal.bound_spec, integer[])
	FROM PUBLIC;
DROP FUNCTION dp_cdp.set_bounds(regclass, name, numeric, numeric);
DROP FUNCTION dp_cdp.preview(text);
DROP FUNCTION dp_cdp_internal.preview_columns(text);
DROP FUNCTION dp_cdp.last_release();
-- Bounds that were meant for the total of a unit would go on as bounds of a row: no sum is cut any more, and noise is
-- max_rows times as large.  Which is right only the owner can know.  (Notices of scripts are not shown.)
DO $$
DECLARE
	bounds record;
BEGIN
	FOR bounds IN
		SELECT c.oid::regclass AS "table", a.attname AS "column",
				(s.label ->> 'lower')::numeric AS lower, (s.label ->> 'upper')::numeric AS upper
			FROM (SELECT objoid, objsubid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
					FROM pg_catalog.pg_seclabel
					WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass) s
				JOIN (SELECT objoid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
					FROM pg_catalog.pg_seclabel
					WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass AND objsubid = 0) t
					ON t.objoid = s.objoid AND t.label ? 'unit'
				JOIN pg_catalog.pg_class c ON c.oid = s.objoid
				JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.objsubid
			WHERE s.objsubid > 0 AND s.label ? 'lower'
			ORDER BY 1::text, 2
	LOOP
		RAISE WARNING 'bounds % .. % of column % of % limit the value of a row now, and no longer what a privacy unit adds to a sum: its sums are not cut any more, and have max_rows times the noise',
				bounds.lower, bounds.upper, pg_catalog.quote_ident(bounds."column"), bounds."table"
			USING HINT = pg_catalog.format('Where they were meant for a unit''s total, call dp_cdp.set_bounds(%L, %L, lower, upper, %s, %s) with the bounds of a row.',
				bounds."table", bounds."column", least(bounds.lower, 0), greatest(bounds.upper, 0));
	END LOOP;
END;
$$;


-- more functions that may run on rows
CREATE FUNCTION dp_cdp_internal.try_age(timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_of_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_age(timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_of_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_make_date(year int, month int, day int) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_make_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_to_timestamp(float8) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_to_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_bin(interval, timestamp, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_date_bin_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_bin(interval, timestamptz, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_bin_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.time_points(date, date, bigint, boolean, date[], boolean, time[]) RETURNS SETOF date
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.time_points(timestamp, timestamp, bigint, boolean, timestamp[], boolean, time[]) RETURNS SETOF timestamp
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.time_points(timestamptz, timestamptz, bigint, boolean, timestamptz[], boolean, time[]) RETURNS SETOF timestamptz
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.cell_of(anyelement, anyarray) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_cell_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.cells(anyarray, boolean, boolean) RETURNS integer[]
	AS 'MODULE_PATHNAME', 'dp_cells' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json(jsonb, text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'dp_try_json_field' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_text(jsonb, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_json_field_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json(jsonb, int) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'dp_try_json_element' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_text(jsonb, int) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_json_element_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json(jsonb, text[]) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'dp_try_json_path' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_text(jsonb, text[]) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_json_path_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- the mode, of declared keys
CREATE AGGREGATE @extschema@.dp_mode(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);

-- A call of a function of PostgreSQL's with released values, NULL where it fails; a value, NULL
-- where none of a type can be made of it.  Private queries call them alone (src/safe/caught.c).
CREATE FUNCTION dp_cdp_internal.null_on_error(VARIADIC arguments "any") RETURNS "any"
	AS 'MODULE_PATHNAME', 'dp_null_on_error' LANGUAGE C STABLE;
CREATE FUNCTION dp_cdp_internal.null_unless_valid(of_type regtype, value "any") RETURNS "any"
	AS 'MODULE_PATHNAME', 'dp_null_unless_valid' LANGUAGE C STABLE STRICT;
CREATE FUNCTION dp_cdp_internal.try_multiply(interval, float8) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_multiply_interval_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float8, interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float8_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Standbys that may have their answers debited, and as whom they log in.  Not
-- dumped: another server's are others.
CREATE TABLE dp_cdp.standby (
	name			text PRIMARY KEY,		-- its cluster_name
	role			oid NOT NULL,
	role_name		text NOT NULL
);

-- Calculators whose definition says more

-- what is cut by limits that were found
CREATE FUNCTION @extschema@.dp_error_stddev("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION @extschema@.dp_cut("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
