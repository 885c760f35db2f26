/*
 * The install script: made by "make" of the files in src/sql/, which are what is edited
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 */

\echo Use "CREATE EXTENSION dp_cdp" to load this file. \quit

-- Who may create in the extension's schema has no say in what a name or an operator here means: PostgreSQL
-- prefers those that fit more exactly, wherever they are in search_path.
SET LOCAL search_path = pg_catalog, pg_temp;

-- Functions write the ledger as the extension's owner, and he may empty it.  With "trusted" in the control file
-- that would be whoever owns the database.
DO $$
DECLARE
	owner regrole := (SELECT e.extowner FROM pg_extension e WHERE e.extname = 'dp_cdp');
BEGIN
	IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = owner) THEN
		RAISE EXCEPTION 'extension dp_cdp must belong to a superuser, and % is none: let a superuser run CREATE EXTENSION dp_cdp, and do not set trusted in dp_cdp.control', owner
			USING ERRCODE = 'insufficient_privilege',
				DETAIL = 'The owner of the extension could empty the ledger.',
				HINT = 'The owner of the database needs no more: he makes datasets, and administers what he owns.';
	END IF;
END $$;

CREATE SCHEMA dp_cdp;
COMMENT ON SCHEMA dp_cdp IS 'functions, views and settings for owners, analysts and operators';
GRANT USAGE ON SCHEMA dp_cdp TO PUBLIC;

-- The ledger's tables, and functions, types and views that only the extension
-- itself calls and reads.  PUBLIC has USAGE: functions of users call them with
-- the caller's rights.
CREATE SCHEMA dp_cdp_internal;
COMMENT ON SCHEMA dp_cdp_internal IS 'tables of the ledger, and functions that dp_cdp calls itself; nobody else needs them';
GRANT USAGE ON SCHEMA dp_cdp_internal TO PUBLIC;

-- =========================================================================
-- 1. Tables
-- =========================================================================

-- Amounts are exact: rho has 12 decimals, delta 18.
--
-- Roles are OIDs with the names that they had when the row was written: a row
-- means a role only if both are right (src/base/role_names.c).  Not regrole:
-- a dump of that could not be restored where a role is missing.

-- Numbers of balances, of which a row of the log says from which it was debited.
CREATE SEQUENCE dp_cdp_internal.ledger_id_seq;

CREATE TABLE dp_cdp_internal.dataset (
	name			text PRIMARY KEY
		CHECK (name <> '' AND octet_length(name) < 64),
	owner			oid NOT NULL,
	rho_limit		numeric,				-- lifetime cap, NULL: none
	rho_spent		numeric NOT NULL DEFAULT 0,
	delta_limit		numeric NOT NULL,		-- lifetime cap on delta, and delta of reports
	delta_spent		numeric NOT NULL DEFAULT 0,
	default_rho		numeric NOT NULL,		-- of one aggregate
	max_rho			numeric,
	default_delta	numeric NOT NULL,		-- of one private key selection
	max_groups		int,					-- NULL: none
	max_rows		int,					-- NULL: none
	neighbors		text NOT NULL CHECK (neighbors IN ('add_remove', 'replace_one')),
	min_rho			numeric,				-- of one aggregate, NULL: default_rho / 100
	max_failures	int NOT NULL DEFAULT 20,	-- of one budget in a day
	answer_step		interval,				-- NULL: answers leave at once
	adopted			text,					-- the stamp under which its owner has adopted it
	owner_name		text,
	ledger_id		bigint NOT NULL DEFAULT nextval('dp_cdp_internal.ledger_id_seq'),	-- of the cap
	release_memory	int,					-- kB; NULL: the server's setting alone
	find_bounds		float8,					-- share of an aggregate's price; NULL: bounds are not found
	reuse			interval,				-- for so long answers are given again, days and less; NULL: never
	forgotten_at	timestamptz,			-- when its owner has ended all answers that there were
	reuse_dumped	boolean NOT NULL DEFAULT false,
	block_every		interval,				-- how long blocks are; NULL: the dataset is without blocks
	consistent		boolean NOT NULL DEFAULT false,	-- counts and sums of grouping sets are made to add up
	pull_rows		boolean NOT NULL DEFAULT false,	-- of distributed tables, where servers cannot add up what is asked for
	key_delta_share	float8 NOT NULL DEFAULT 0.1,	-- of the delta of an (epsilon, delta) budget, for key selections
	max_contribution	text,				-- auto, or a number of rows; NULL: auto where max_groups or max_rows are not set
	min_units		int NOT NULL DEFAULT 1	-- that a group has which is shown
);

CREATE TABLE dp_cdp_internal.budget (
	-- of dp_cdp_internal.dataset; set_budget and drop_dataset see to that, because
	-- pg_restore -j loads tables of an extension regardless of foreign keys
	dataset			text NOT NULL,
	role			oid NOT NULL,
	rho_limit		numeric NOT NULL,
	rho_spent		numeric NOT NULL DEFAULT 0,
	delta_limit		numeric NOT NULL,		-- for key selection
	delta_spent		numeric NOT NULL DEFAULT 0,
	report_delta	numeric NOT NULL,		-- at which epsilon is reported, beside delta_spent
	period			interval,
	renews_at		timestamptz,
	failures		int NOT NULL DEFAULT 0,	-- of releases that this budget paid for
	failures_since	timestamptz,			-- the first of them; a day later they are forgotten
	role_name		text,
	ledger_id		bigint NOT NULL DEFAULT nextval('dp_cdp_internal.ledger_id_seq'),
	spent_since		bigint NOT NULL DEFAULT 0,	-- what is spent are the log's rows from this id on
	PRIMARY KEY (dataset, role, role_name)
);

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
	key_selections	numeric,
	warnings		text[]
);

-- The same of a cap, and what alter_dataset has changed.
CREATE TYPE dp_cdp.altered AS (
	dataset			text,
	changed			text[],
	rho				numeric,
	epsilon			float8,
	delta			float8,
	best_guess		float8,
	aggregates		numeric,
	report_delta	float8,
	key_delta		float8,
	key_selections	numeric,
	warnings		text[]
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
	problem			text,
	warnings		text[]
);
CREATE TYPE dp_cdp.column_policy AS (
	dataset			text,
	"table"			regclass,
	"column"		name,
	lower			text,
	upper			text,
	total_lower		numeric,
	total_upper		numeric,
	keys			int,
	warnings		text[]
);

-- An amount of memory, as a setting of the server is written: a number of kB, or a text with its unit, as in '64MB'.
CREATE TYPE dp_cdp.memory;
CREATE FUNCTION dp_cdp_internal.kilobytes_in(cstring) RETURNS dp_cdp.memory
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_kilobytes_in';
CREATE FUNCTION dp_cdp_internal.kilobytes_out(dp_cdp.memory) RETURNS cstring
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_kilobytes_out';
CREATE TYPE dp_cdp.memory (INPUT = dp_cdp_internal.kilobytes_in, OUTPUT = dp_cdp_internal.kilobytes_out, LIKE = integer);
COMMENT ON TYPE dp_cdp.memory IS
	'amount of memory, as settings of the server are written: a number of kB, or a text with its unit, such as ''64MB''';
CREATE CAST (smallint AS dp_cdp.memory) WITH INOUT AS IMPLICIT;
CREATE CAST (integer AS dp_cdp.memory) WITH INOUT AS IMPLICIT;

-- A limit on the rows of a person: a number, or a text.  create_dataset() and alter_dataset() read it.
CREATE TYPE dp_cdp.contribution;
CREATE FUNCTION dp_cdp_internal.contribution_in(cstring) RETURNS dp_cdp.contribution LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textin';
CREATE FUNCTION dp_cdp_internal.contribution_out(dp_cdp.contribution) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textout';
CREATE TYPE dp_cdp.contribution (INPUT = dp_cdp_internal.contribution_in, OUTPUT = dp_cdp_internal.contribution_out, LIKE = text);
COMMENT ON TYPE dp_cdp.contribution IS
	'limit on the rows that count of a person: a number of rows, or ''auto'', with which each answer finds its own';
CREATE CAST (smallint AS dp_cdp.contribution) WITH INOUT AS IMPLICIT;
CREATE CAST (integer AS dp_cdp.contribution) WITH INOUT AS IMPLICIT;
CREATE CAST (bigint AS dp_cdp.contribution) WITH INOUT AS IMPLICIT;
CREATE CAST (numeric AS dp_cdp.contribution) WITH INOUT AS IMPLICIT;
CREATE CAST (float8 AS dp_cdp.contribution) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS dp_cdp.contribution) WITH INOUT AS IMPLICIT;

-- One row for each release that was granted, each debit that was refused, and
-- each release that was granted and failed while it read rows; for corrections,
-- and for what pruned rows add up to.
CREATE TABLE dp_cdp_internal.release_log (
	id				bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	released_at		timestamptz NOT NULL DEFAULT clock_timestamp(),
	dataset			text NOT NULL,
	role			oid NOT NULL,			-- current_user
	session_role	oid NOT NULL,
	application		text,
	aggregates		text NOT NULL,
	groups			text,
	rho				numeric NOT NULL,
	delta			numeric NOT NULL,
	stddev			text,
	granted			boolean NOT NULL,		-- this row's rho and delta were debited
	failed			boolean NOT NULL DEFAULT false,
	kind			text,					-- granted, refused, guard, failed, correction, checkpoint
	reason			text,					-- of what was not granted: SQLSTATE and words; of a correction
	query			text,					-- the statement, or its beginning
	tables			text,
	client			text,					-- address
	repeats			int NOT NULL DEFAULT 1,	-- refusals of this kind until last_at, which this row stands for; 0: a release has a row before it
	last_at			timestamptz,
	role_name		text,
	session_role_name	text,
	paid_by			bigint[],				-- ledger_id of each balance that was debited
	hash			bytea,					-- of this row and the hash of the one before; NULL: from elsewhere
	reuse_rho		numeric,				-- of rho what kept answers tell, see kept_answer; NULL: nothing
	reuse_delta		numeric,
	block_from		date,					-- of a dataset with blocks: those from this day on ...
	block_to		date					-- ... and before this day were debited
);
CREATE INDEX release_log_role ON dp_cdp_internal.release_log (role);
CREATE INDEX release_log_session_role ON dp_cdp_internal.release_log (session_role) WHERE session_role <> role;
CREATE INDEX release_log_dataset ON dp_cdp_internal.release_log (dataset);

-- What each balance of a dataset with blocks has spent in which of them: between
-- the days of a row so much, elsewhere nothing.  rho_spent of the balance is the maximum.
CREATE TABLE dp_cdp_internal.block_spent (
	ledger_id		bigint NOT NULL,		-- of the balance
	block_from		date NOT NULL,
	block_to		date NOT NULL,			-- not included
	rho_spent		numeric NOT NULL,
	delta_spent		numeric NOT NULL,
	PRIMARY KEY (ledger_id, block_from)
);

-- Where the chain of hashes ends, and where rows were taken out of it.
CREATE TABLE dp_cdp_internal.ledger_chain (
	one				boolean PRIMARY KEY DEFAULT true CHECK (one),
	id				bigint NOT NULL,		-- of the last row
	hash			bytea NOT NULL,			-- its
	first_id		bigint NOT NULL			-- the chain begins with this row
);
CREATE TABLE dp_cdp_internal.pruned (
	first_id		bigint PRIMARY KEY,		-- rows from here ...
	last_id			bigint NOT NULL,		-- ... to here are pruned
	hash			bytea NOT NULL			-- of the last of them
);

-- Answers that were paid for, see src/ledger/kept.h.  Those of one question and
-- one beginning are a chain; who has paid is kept when the answer is not.
CREATE TABLE dp_cdp_internal.kept_answer (
	dataset			text NOT NULL,
	ledger_id		bigint NOT NULL,		-- of the dataset's cap
	fingerprint		bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
	began			timestamptz NOT NULL,	-- when the first answer of the chain was bought
	rho				numeric NOT NULL,		-- what a balance has paid that knows this one and nothing dearer
	delta			numeric NOT NULL,
	below			numeric NOT NULL,		-- the price of the foot of its increment
	paid_by			bigint[] NOT NULL,		-- ledger_id of each balance that has paid for it
	answer			bytea,					-- NULL: not drawn yet, or ended
	used_at			timestamptz NOT NULL DEFAULT clock_timestamp(),
	ended			boolean NOT NULL DEFAULT false,	-- it is given to nobody any more
	dumped			boolean NOT NULL DEFAULT false,
	block_from		date,					-- of a dataset with blocks: those from this day on ...
	block_to		date,					-- ... and before this day are told of
	PRIMARY KEY (fingerprint, began, rho, delta)
);

-- Whom rows of the log mean that came from another server.
CREATE TABLE dp_cdp_internal.role_alias (
	role			oid NOT NULL,			-- as in the log
	role_name		text NOT NULL,
	is_role			oid NOT NULL,			-- here
	is_name			text NOT NULL,
	PRIMARY KEY (role, role_name)
);

-- Where this ledger lives; see src/ledger/README.md.
CREATE TABLE dp_cdp_internal.ledger_stamp (
	one				boolean PRIMARY KEY DEFAULT true CHECK (one),
	system_id		numeric NOT NULL,
	database		oid NOT NULL,
	timeline		bigint NOT NULL,
	-- Which CREATE EXTENSION the balances belong to: a dump that is restored into
	-- the very database it came from must not pass for the original.
	extension		oid NOT NULL,
	file			text,					-- of the data directory, as it was made
	place			text					-- where the file system has it
);

-- Standbys that may have their answers debited, and as whom they log in.  Not
-- dumped: another server's are others.
CREATE TABLE dp_cdp_internal.standby (
	name			text PRIMARY KEY,		-- its cluster_name
	role			oid NOT NULL,
	role_name		text NOT NULL
);

-- What harden() took away (granted: gave in exchange), so that unharden() can
-- reverse it.  Dumped, as pg_dump writes the privileges of system objects too.
CREATE TABLE dp_cdp_internal.hardened (
	object			text NOT NULL,			-- as in GRANT ... ON object
	privilege		text NOT NULL,
	"column"		text NOT NULL DEFAULT '',
	grantee			text NOT NULL,
	granted			boolean NOT NULL,
	former_acl		text,					-- of the object, for information
	hardened_at		timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (object, privilege, "column", grantee)
);
REVOKE ALL ON dp_cdp_internal.hardened FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.hardened', '');

-- Names that protected tables have left.  Rows come from DDL, by whomever, and
-- go with their dataset, or when what bears the name is protected.  The key
-- lets a dump be restored where the same name was left, too.
CREATE TABLE dp_cdp_internal.reserved_name (
	schema			name NOT NULL,
	name			name NOT NULL,
	dataset			text NOT NULL,			-- that protected the table
	since			timestamptz NOT NULL DEFAULT clock_timestamp(),
	successor		oid NOT NULL DEFAULT 0,	-- by replace_table the next to take the name; 0: none
	released		boolean NOT NULL DEFAULT false,
	PRIMARY KEY (schema, name, dataset, since)
);
REVOKE ALL ON dp_cdp_internal.reserved_name FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.reserved_name', '');

-- for whoever lists them
COMMENT ON TABLE dp_cdp_internal.dataset IS 'for the ledger: datasets, their options and what was spent of their caps; read dp_cdp.datasets';
COMMENT ON TABLE dp_cdp_internal.budget IS 'for the ledger: budgets of roles, and what was spent of them; read dp_cdp.budgets';
COMMENT ON TABLE dp_cdp_internal.release_log IS 'for the ledger: the audit; read dp_cdp.releases';
COMMENT ON TABLE dp_cdp_internal.block_spent IS 'for the ledger: what was spent of which block of time';
COMMENT ON TABLE dp_cdp_internal.ledger_chain IS 'for the ledger: where the chain of hashes ends';
COMMENT ON TABLE dp_cdp_internal.pruned IS 'for the ledger: rows that were taken out of the audit';
COMMENT ON TABLE dp_cdp_internal.kept_answer IS 'for the ledger: answers that may be given again, and who has paid for them';
COMMENT ON TABLE dp_cdp_internal.role_alias IS 'for the ledger: whom rows of the audit mean that came from another server';
COMMENT ON TABLE dp_cdp_internal.ledger_stamp IS 'for the ledger: where the ledger lives';
COMMENT ON TABLE dp_cdp_internal.standby IS 'for the ledger: standbys that may have their answers debited';
COMMENT ON TABLE dp_cdp_internal.hardened IS 'for the ledger: what dp_cdp.harden() took away';
COMMENT ON TABLE dp_cdp_internal.reserved_name IS 'for the ledger: names that protected tables have left';
COMMENT ON SEQUENCE dp_cdp_internal.ledger_id_seq IS 'for the ledger: numbers of balances';
-- =========================================================================
-- 2. Exact states (src/agg)
-- =========================================================================

-- For inner queries of releases only.  The types have no text form (but '0'
-- for an empty exact_sum or exact_moments, and what grids, ranges and specs travel in
-- where there is Citus), no binary form and no casts, and print as a
-- constant; nobody has USAGE on them.

CREATE TYPE dp_cdp_internal.grid;
CREATE TYPE dp_cdp_internal.exact_sum;
CREATE TYPE dp_cdp_internal.bound_spec;
CREATE TYPE dp_cdp_internal.bound_state;
CREATE TYPE dp_cdp_internal.range;
CREATE TYPE dp_cdp_internal.exact_moments;
CREATE TYPE dp_cdp_internal.exact_vector;
CREATE TYPE dp_cdp_internal.limited_sum;
CREATE TYPE dp_cdp_internal.exact_distinct;
CREATE TYPE dp_cdp_internal.exact_float;
CREATE TYPE dp_cdp_internal.key_set;

CREATE FUNCTION dp_cdp_internal.grid_in(cstring) RETURNS dp_cdp_internal.grid
	AS 'MODULE_PATHNAME', 'dp_grid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.grid_out(dp_cdp_internal.grid) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_grid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_in(cstring) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_out(dp_cdp_internal.exact_sum) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_spec_in(cstring) RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_bound_spec_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_spec_out(dp_cdp_internal.bound_spec) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_bound_spec_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_state_in(cstring) RETURNS dp_cdp_internal.bound_state
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_state_out(dp_cdp_internal.bound_state) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.range_in(cstring) RETURNS dp_cdp_internal.range
	AS 'MODULE_PATHNAME', 'dp_range_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.range_out(dp_cdp_internal.range) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_range_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_moments_in(cstring) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_exact_moments_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_moments_out(dp_cdp_internal.exact_moments) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_vector_in(cstring) RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_vector_out(dp_cdp_internal.exact_vector) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_in(cstring) RETURNS dp_cdp_internal.limited_sum
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_out(dp_cdp_internal.limited_sum) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_distinct_in(cstring) RETURNS dp_cdp_internal.exact_distinct
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_distinct_out(dp_cdp_internal.exact_distinct) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_in(cstring) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_out(dp_cdp_internal.exact_float) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION dp_cdp_internal.key_set_in(cstring) RETURNS dp_cdp_internal.key_set
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.key_set_out(dp_cdp_internal.key_set) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE dp_cdp_internal.grid (
	INPUT = dp_cdp_internal.grid_in, OUTPUT = dp_cdp_internal.grid_out,
	INTERNALLENGTH = 32, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_sum (
	INPUT = dp_cdp_internal.exact_sum_in, OUTPUT = dp_cdp_internal.exact_sum_out,
	INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
-- plain: never packed or toasted, so that they are used where they lie
CREATE TYPE dp_cdp_internal.bound_spec (
	INPUT = dp_cdp_internal.bound_spec_in, OUTPUT = dp_cdp_internal.bound_spec_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.bound_state (
	INPUT = dp_cdp_internal.bound_state_in, OUTPUT = dp_cdp_internal.bound_state_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.range (
	INPUT = dp_cdp_internal.range_in, OUTPUT = dp_cdp_internal.range_out,
	INTERNALLENGTH = 32, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_moments (
	INPUT = dp_cdp_internal.exact_moments_in, OUTPUT = dp_cdp_internal.exact_moments_out,
	INTERNALLENGTH = 96, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_vector (
	INPUT = dp_cdp_internal.exact_vector_in, OUTPUT = dp_cdp_internal.exact_vector_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.limited_sum (
	INPUT = dp_cdp_internal.limited_sum_in, OUTPUT = dp_cdp_internal.limited_sum_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_distinct (
	INPUT = dp_cdp_internal.exact_distinct_in, OUTPUT = dp_cdp_internal.exact_distinct_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_float (
	INPUT = dp_cdp_internal.exact_float_in, OUTPUT = dp_cdp_internal.exact_float_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.key_set (
	INPUT = dp_cdp_internal.key_set_in, OUTPUT = dp_cdp_internal.key_set_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp_internal.grid, dp_cdp_internal.exact_sum, dp_cdp_internal.bound_spec,
	dp_cdp_internal.bound_state, dp_cdp_internal.range, dp_cdp_internal.exact_moments,
	dp_cdp_internal.exact_vector, dp_cdp_internal.limited_sum, dp_cdp_internal.exact_distinct, dp_cdp_internal.exact_float, dp_cdp_internal.key_set FROM PUBLIC;

-- Long lists of declared keys

CREATE FUNCTION dp_cdp_internal.is_declared_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'dp_is_declared_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.is_declared(anyelement, dp_cdp_internal.key_set) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_is_declared' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT dp_cdp_internal.is_declared_support;
CREATE FUNCTION dp_cdp_internal.key_place(anyelement, dp_cdp_internal.key_set) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_key_place' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION dp_cdp_internal.is_shown(VARIADIC "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_is_shown' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- Sums of rows

CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, smallint, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int2' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, integer, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, bigint, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, real, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, double precision, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, numeric, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_numeric' LANGUAGE C IMMUTABLE PARALLEL SAFE;
-- what a row adds, for sums of other servers
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
CREATE FUNCTION dp_cdp_internal.exact_sum_combine(dp_cdp_internal.exact_sum, dp_cdp_internal.exact_sum) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE dp_cdp_internal.exact_sum(smallint, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(integer, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(bigint, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(real, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(double precision, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(numeric, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);

-- Contributions of units: one state per unit, one row per kept group, of which each function is a column

CREATE FUNCTION dp_cdp_internal.bound_unit_add(dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec, VARIADIC "any")
	RETURNS dp_cdp_internal.bound_state
	AS 'MODULE_PATHNAME', 'dp_bound_unit' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
CREATE FUNCTION dp_cdp_internal.bound_unit_combine(dp_cdp_internal.bound_state, dp_cdp_internal.bound_state)
	RETURNS dp_cdp_internal.bound_state
	AS 'MODULE_PATHNAME', 'dp_bound_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.bound_unit(dp_cdp_internal.bound_spec, VARIADIC "any") (
	SFUNC = dp_cdp_internal.bound_unit_add, STYPE = dp_cdp_internal.bound_state, SSPACE = 256,
	COMBINEFUNC = dp_cdp_internal.bound_unit_combine, PARALLEL = SAFE
);
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

-- Values relative to bounds, and codes of values

CREATE FUNCTION dp_cdp_internal.centered(smallint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(integer, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(bigint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(real, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(double precision, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(numeric, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(smallint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(integer, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(bigint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(real, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(double precision, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(numeric, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(date, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(timestamp, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(timestamptz, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.chebyshev(integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_chebyshev' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.product(integer, integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.code(anyelement) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_code' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Sums of centered values.  Aggregates of the same arguments share one state
-- and one call per row, because only their final functions differ.

CREATE FUNCTION dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, anyelement, dp_cdp_internal.range) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_moments_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, integer, integer) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_moments_add2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_combine(dp_cdp_internal.exact_moments, dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_moments_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_n(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_t(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_t' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_t2(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_t2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_u(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_u' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_u2(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_u2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_tu(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_tu' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.moment_n(x anyelement, dp_cdp_internal.range) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_n, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t(x anyelement, dp_cdp_internal.range) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t2(x anyelement, dp_cdp_internal.range) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t2, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_n(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_n, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t2(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t2, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_u(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_u, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_u2(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_u2, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_tu(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_tu, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);

-- Histograms and sets of codes; not strict, as there is no initial state

CREATE FUNCTION dp_cdp_internal.exact_histogram_add(dp_cdp_internal.exact_vector, integer, integer)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_exact_histogram' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.codes_histogram_add(dp_cdp_internal.exact_vector, integer[], integer)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_codes_histogram' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_vector_combine(dp_cdp_internal.exact_vector, dp_cdp_internal.exact_vector)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_exact_vector_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.exact_histogram(code integer, bins integer) (
	SFUNC = dp_cdp_internal.exact_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192,
	COMBINEFUNC = dp_cdp_internal.exact_vector_combine, PARALLEL = SAFE
);
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
CREATE FUNCTION dp_cdp_internal.codes_distinct_add(dp_cdp_internal.exact_distinct, bigint[])
	RETURNS dp_cdp_internal.exact_distinct
	AS 'MODULE_PATHNAME', 'dp_codes_distinct' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.distinct_count(dp_cdp_internal.exact_distinct) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_distinct_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
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

-- Aggregates of one unit's rows, in place of PostgreSQL's own whose results depend on the
-- order of rows: floating point is added up without rounding, and min and max tell apart
-- what is equal but written differently.  sum and avg share a state, variances do.

CREATE FUNCTION dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, real) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_add4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, double precision) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_add8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, real) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_square4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, double precision) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_square8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_combine(dp_cdp_internal.exact_float, dp_cdp_internal.exact_float) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_sum4(dp_cdp_internal.exact_float) RETURNS real
	AS 'MODULE_PATHNAME', 'dp_exact_float_sum4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_sum8(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_sum8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_avg(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_avg' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_var_pop(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_var_pop' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_var_samp(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_var_samp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_stddev_pop(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_stddev_pop' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_stddev_samp(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_stddev_samp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.unit_sum(real) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_sum4, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_sum(double precision) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_sum8, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_avg(real) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_avg, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_avg(double precision) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_avg, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_pop(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_pop(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_samp(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_samp(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_pop(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_pop(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_samp(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_samp(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.greater_of(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_greater_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_less_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(bpchar, bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_greater_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(bpchar, bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_less_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(interval, interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_greater_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(interval, interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_less_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(real, real) RETURNS real
	AS 'MODULE_PATHNAME', 'dp_greater_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(real, real) RETURNS real
	AS 'MODULE_PATHNAME', 'dp_less_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(double precision, double precision) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_greater_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(double precision, double precision) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_less_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.unit_max(numeric) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = numeric, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(numeric) (
	SFUNC = dp_cdp_internal.less_of, STYPE = numeric, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(bpchar) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = bpchar, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(bpchar) (
	SFUNC = dp_cdp_internal.less_of, STYPE = bpchar, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(interval) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = interval, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(interval) (
	SFUNC = dp_cdp_internal.less_of, STYPE = interval, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(real) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = real, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(real) (
	SFUNC = dp_cdp_internal.less_of, STYPE = real, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(double precision) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = double precision, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(double precision) (
	SFUNC = dp_cdp_internal.less_of, STYPE = double precision, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
-- strings and arrays of one unit's rows; NULL where they are long
CREATE FUNCTION dp_cdp_internal.gather_string(internal, text, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'dp_gather_string' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.gathered_string(internal) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_gathered_string' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.gather_array(internal, anynonarray) RETURNS internal
	AS 'MODULE_PATHNAME', 'dp_gather_array' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.gathered_array(internal, anynonarray) RETURNS anyarray
	AS 'MODULE_PATHNAME', 'dp_gathered_array' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.unit_string_agg(text, text) (
	SFUNC = dp_cdp_internal.gather_string, STYPE = internal, FINALFUNC = dp_cdp_internal.gathered_string, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_array_agg(anynonarray) (
	SFUNC = dp_cdp_internal.gather_array, STYPE = internal, FINALFUNC = dp_cdp_internal.gathered_array, FINALFUNC_EXTRA, PARALLEL = SAFE
);

-- For the extension's owner and tests: grids by hand, exact values without noise

CREATE FUNCTION dp_cdp_internal.make_grid(lower numeric, upper numeric, input regtype) RETURNS dp_cdp_internal.grid
	AS 'MODULE_PATHNAME', 'dp_make_grid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.make_bound_spec(nkeys integer, max_groups integer, seed bigint[],
		kinds text[], grids dp_cdp_internal.grid[], rows integer[] DEFAULT '{}', limits bigint[] DEFAULT '{}') RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_make_bound_spec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.with_norm(dp_cdp_internal.bound_spec, value integer, shift integer, others integer[], limits bigint[])
	RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_with_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.with_groups(dp_cdp_internal.bound_spec, groups integer[]) RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_with_groups' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.grid_parts(dp_cdp_internal.grid, OUT lower bigint, OUT upper bigint, OUT exponent integer)
	AS 'MODULE_PATHNAME', 'dp_grid_parts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.grid_value(units numeric, dp_cdp_internal.grid, anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_grid_value_sql' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum, dp_cdp_internal.grid) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_exact_sum_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.make_range(lower double precision, upper double precision, bins integer,
		kind integer) RETURNS dp_cdp_internal.range
	AS 'MODULE_PATHNAME', 'dp_make_range' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.make_scaled_grid(most bigint) RETURNS dp_cdp_internal.grid
	AS 'MODULE_PATHNAME', 'dp_make_scaled_grid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.vector_counts(dp_cdp_internal.exact_vector) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'dp_vector_counts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum) RETURNS numeric[]
	AS 'MODULE_PATHNAME', 'dp_limited_sum_parts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Not revoked: is_declared, key_place, is_shown, exact_sum, clamped_steps, moment_n .. moment_tu, exact_histogram, bound_unit, bound_key, bound_value, bound_codes,
-- bound_distinct_codes, bound_cut, bound_share, bound_bin, bound_first, steps_sum, limited_sum, codes_histogram, codes_distinct, distinct_count, distinct_shares,
-- centered, bin, chebyshev, product, code, unit_sum .. unit_array_agg, greater_of, less_of, gather_string .. gathered_array.  The inner query runs with the
-- rights of the table's owner, who may be any role; a grid, range, key_set or
-- bound_spec to call them with is nobody's to make.  chebyshev, product,
-- code, unit_*, steps_sum, limited_sum and codes_* are functions of plain values, and what moment_*, steps_sum, limited_sum and the
-- histograms return prints as a constant.
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.grid_in(cstring), dp_cdp_internal.grid_out(dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_in(cstring), dp_cdp_internal.exact_sum_out(dp_cdp_internal.exact_sum),
	dp_cdp_internal.bound_spec_in(cstring), dp_cdp_internal.bound_spec_out(dp_cdp_internal.bound_spec),
	dp_cdp_internal.bound_state_in(cstring), dp_cdp_internal.bound_state_out(dp_cdp_internal.bound_state),
	dp_cdp_internal.range_in(cstring), dp_cdp_internal.range_out(dp_cdp_internal.range),
	dp_cdp_internal.exact_moments_in(cstring), dp_cdp_internal.exact_moments_out(dp_cdp_internal.exact_moments),
	dp_cdp_internal.exact_vector_in(cstring), dp_cdp_internal.exact_vector_out(dp_cdp_internal.exact_vector),
	dp_cdp_internal.limited_sum_in(cstring), dp_cdp_internal.limited_sum_out(dp_cdp_internal.limited_sum),
	dp_cdp_internal.exact_distinct_in(cstring), dp_cdp_internal.exact_distinct_out(dp_cdp_internal.exact_distinct),
	dp_cdp_internal.key_set_in(cstring), dp_cdp_internal.key_set_out(dp_cdp_internal.key_set), dp_cdp_internal.is_declared_support(internal),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, smallint, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, integer, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, bigint, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, real, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, double precision, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, numeric, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_combine(dp_cdp_internal.exact_sum, dp_cdp_internal.exact_sum),
	dp_cdp_internal.bound_unit_add(dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec, "any"),
	dp_cdp_internal.bound_unit_combine(dp_cdp_internal.bound_state, dp_cdp_internal.bound_state),
	dp_cdp_internal.steps_sum_add(dp_cdp_internal.exact_sum, bigint),
	dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, anyelement, dp_cdp_internal.range),
	dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, integer, integer),
	dp_cdp_internal.moments_combine(dp_cdp_internal.exact_moments, dp_cdp_internal.exact_moments),
	dp_cdp_internal.moments_n(dp_cdp_internal.exact_moments), dp_cdp_internal.moments_t(dp_cdp_internal.exact_moments),
	dp_cdp_internal.moments_t2(dp_cdp_internal.exact_moments), dp_cdp_internal.moments_u(dp_cdp_internal.exact_moments),
	dp_cdp_internal.moments_u2(dp_cdp_internal.exact_moments), dp_cdp_internal.moments_tu(dp_cdp_internal.exact_moments),
	dp_cdp_internal.exact_histogram_add(dp_cdp_internal.exact_vector, integer, integer),
	dp_cdp_internal.codes_histogram_add(dp_cdp_internal.exact_vector, integer[], integer),
	dp_cdp_internal.codes_shares_add(dp_cdp_internal.exact_vector, integer[], integer, bigint),
	dp_cdp_internal.exact_vector_combine(dp_cdp_internal.exact_vector, dp_cdp_internal.exact_vector),
	dp_cdp_internal.limited_sum_add(dp_cdp_internal.limited_sum, bigint, bigint, bigint, bigint),
	dp_cdp_internal.limited_sum_combine(dp_cdp_internal.limited_sum, dp_cdp_internal.limited_sum),
	dp_cdp_internal.codes_distinct_add(dp_cdp_internal.exact_distinct, bigint[]),
	dp_cdp_internal.codes_distinct_shares_add(dp_cdp_internal.exact_distinct, bigint[], bigint, dp_cdp_internal.bound_spec, integer),
	dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, real),
	dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, double precision),
	dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, real),
	dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, double precision),
	dp_cdp_internal.exact_float_in(cstring), dp_cdp_internal.exact_float_out(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_combine(dp_cdp_internal.exact_float, dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_sum4(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_sum8(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_avg(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_var_pop(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_var_samp(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_stddev_pop(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_stddev_samp(dp_cdp_internal.exact_float),
	dp_cdp_internal.make_grid(numeric, numeric, regtype),
	dp_cdp_internal.make_bound_spec(integer, integer, bigint[], text[], dp_cdp_internal.grid[], integer[], bigint[]),
	dp_cdp_internal.with_norm(dp_cdp_internal.bound_spec, integer, integer, integer[], bigint[]),
	dp_cdp_internal.with_groups(dp_cdp_internal.bound_spec, integer[]),
	dp_cdp_internal.make_range(double precision, double precision, integer, integer),
	dp_cdp_internal.make_scaled_grid(bigint),
	dp_cdp_internal.vector_counts(dp_cdp_internal.exact_vector),
	dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum),
	dp_cdp_internal.grid_parts(dp_cdp_internal.grid),
	dp_cdp_internal.grid_value(numeric, dp_cdp_internal.grid, anyelement),
	dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum, dp_cdp_internal.grid)
	FROM PUBLIC;

-- =========================================================================
-- 3. Policy and administration (src/policy, src/admin)
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp.library_version() RETURNS text
	LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_library_version';
COMMENT ON FUNCTION dp_cdp.library_version() IS
	'version of the library that is loaded; that of the objects in this database is in pg_extension';

-- Anyone may call these, but for create_dataset; each asks for itself whether
-- the caller owns the dataset (and, to protect a table, the table).

COMMENT ON TYPE dp_cdp.granted IS
	'row that functions on budgets and datasets return. It tells what a budget, or a dataset''s cap, allows in all, however much of it is spent';
COMMENT ON COLUMN dp_cdp.granted.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.granted.role_name IS 'name of the role that has the budget. NULL: this is the dataset''s cap';
COMMENT ON COLUMN dp_cdp.granted.rho IS
	'the limit; Infinity: the dataset has no cap';
COMMENT ON COLUMN dp_cdp.granted.epsilon IS
	'once rho and key_delta are spent, everything that is seen is (epsilon, delta)-differentially private. Rounded up to 6 digits';
COMMENT ON COLUMN dp_cdp.granted.delta IS
	'the delta of that, with key_delta in it';
COMMENT ON COLUMN dp_cdp.granted.best_guess IS
	'how often the best guesser is right, once all is spent. He knows everything but whether one person is in the data, which is as likely as not. At 0.5 he learns nothing, at 1 he may know. It is Phi(sqrt(rho / 2)) with key_delta added, rounded up to 4 decimals';
COMMENT ON COLUMN dp_cdp.granted.aggregates IS
	'how many aggregates rho pays for at the dataset''s default_rho';
COMMENT ON COLUMN dp_cdp.granted.report_delta IS
	'the part of delta at which epsilon holds; key_delta is the other part';
COMMENT ON COLUMN dp_cdp.granted.key_delta IS
	'the limit on delta for private selections of keys; 0: none';
COMMENT ON COLUMN dp_cdp.granted.key_selections IS
	'how many selections of keys that pays for at the dataset''s default_delta';
COMMENT ON COLUMN dp_cdp.granted.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

COMMENT ON TYPE dp_cdp.altered IS
	'row that alter_dataset returns. It tells which options were changed, and what the cap allows in all, however much of it is spent';
COMMENT ON COLUMN dp_cdp.altered.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.altered.changed IS
	'options that have another value than before the call, with the names of alter_dataset''s arguments; empty: none';
COMMENT ON COLUMN dp_cdp.altered.rho IS
	'the limit; Infinity: the dataset has no cap';
COMMENT ON COLUMN dp_cdp.altered.epsilon IS
	'once rho and key_delta are spent, everything that is seen is (epsilon, delta)-differentially private. Rounded up to 6 digits';
COMMENT ON COLUMN dp_cdp.altered.delta IS
	'the delta of that, with key_delta in it';
COMMENT ON COLUMN dp_cdp.altered.best_guess IS
	'how often the best guesser is right, once all is spent. He knows everything but whether one person is in the data, which is as likely as not. At 0.5 he learns nothing, at 1 he may know. It is Phi(sqrt(rho / 2)) with key_delta added, rounded up to 4 decimals';
COMMENT ON COLUMN dp_cdp.altered.aggregates IS
	'how many aggregates rho pays for at the dataset''s default_rho';
COMMENT ON COLUMN dp_cdp.altered.report_delta IS
	'the part of delta at which epsilon holds; key_delta is the other part';
COMMENT ON COLUMN dp_cdp.altered.key_delta IS
	'the limit on delta for private selections of keys; 0: none';
COMMENT ON COLUMN dp_cdp.altered.key_selections IS
	'how many selections of keys that pays for at the dataset''s default_delta';
COMMENT ON COLUMN dp_cdp.altered.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

COMMENT ON TYPE dp_cdp.table_policy IS
	'how a table is protected now; protect_table, unprotect_table and replace_table return it';
COMMENT ON COLUMN dp_cdp.table_policy.dataset IS 'name of the dataset; NULL: the table is not protected';
COMMENT ON COLUMN dp_cdp.table_policy."table" IS 'the table';
COMMENT ON COLUMN dp_cdp.table_policy.unit IS 'column that names the person; NULL: see through';
COMMENT ON COLUMN dp_cdp.table_policy.through IS
	'columns of the foreign key that leads to the person; NULL with unit NULL: each row is a person';
COMMENT ON COLUMN dp_cdp.table_policy.block IS 'column that says in which block of time a row is; NULL: rows are in none';
COMMENT ON COLUMN dp_cdp.table_policy.bounds IS 'columns that have declared bounds';
COMMENT ON COLUMN dp_cdp.table_policy.keys IS 'columns that have keys by set_keys';
COMMENT ON COLUMN dp_cdp.table_policy.readers IS
	'roles beside the owner that hold SELECT: plain SQL shows them the rows that row-level security leaves them';
COMMENT ON COLUMN dp_cdp.table_policy.problem IS
	'why nothing is released from the table; NULL: nothing is wrong with its foreign key';
COMMENT ON COLUMN dp_cdp.table_policy.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

COMMENT ON TYPE dp_cdp.column_policy IS
	'bounds and keys that a column has now; set_bounds, drop_bounds, set_keys and drop_keys return it';
COMMENT ON COLUMN dp_cdp.column_policy.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.column_policy."table" IS 'the table';
COMMENT ON COLUMN dp_cdp.column_policy."column" IS 'the column';
COMMENT ON COLUMN dp_cdp.column_policy.lower IS 'lower bound of a row''s value; NULL: none is declared';
COMMENT ON COLUMN dp_cdp.column_policy.upper IS 'upper bound of a row''s value; NULL: none is declared';
COMMENT ON COLUMN dp_cdp.column_policy.total_lower IS 'lower limit of a person''s total in a group; NULL: it follows from the bounds';
COMMENT ON COLUMN dp_cdp.column_policy.total_upper IS 'upper limit of a person''s total in a group; NULL: it follows from the bounds';
COMMENT ON COLUMN dp_cdp.column_policy.keys IS 'how many keys set_keys has declared; NULL: none';
COMMENT ON COLUMN dp_cdp.column_policy.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

CREATE OR REPLACE FUNCTION dp_cdp.create_dataset(
	dataset text,
	rho float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	default_rho float8 DEFAULT 0.01,
	max_rho float8 DEFAULT NULL,
	max_groups int DEFAULT NULL,
	max_rows int DEFAULT NULL,
	neighbors text DEFAULT 'add_remove',
	default_delta float8 DEFAULT NULL,
	min_rho float8 DEFAULT NULL,
	max_failures int DEFAULT 20,
	answer_step interval DEFAULT NULL,
	release_memory dp_cdp.memory DEFAULT NULL,
	find_bounds float8 DEFAULT 0.1,
	reuse interval DEFAULT NULL,
	reuse_dumped boolean DEFAULT NULL,
	consistent boolean DEFAULT NULL,
	pull_rows boolean DEFAULT NULL,
	key_delta_share float8 DEFAULT 0.1,
	max_contribution dp_cdp.contribution DEFAULT NULL,
	epsilon float8 DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	min_units int DEFAULT 1
) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_create_dataset';
COMMENT ON FUNCTION dp_cdp.create_dataset(text, float8, float8, float8, float8, int, int, text, float8, float8, int, interval, dp_cdp.memory, float8, interval, boolean, boolean, boolean, float8, dp_cdp.contribution, float8, boolean, int) IS
	'creates a dataset that the caller owns. Its arguments are lifetime caps on rho and delta, or on epsilon and delta, defaults and limits for queries, and the neighbouring relation. It returns what the cap allows';

-- Not for everybody: datasets are many, and never forgotten.  16_database_owner.sql says who else may.
REVOKE ALL ON FUNCTION dp_cdp.create_dataset(text, float8, float8, float8, float8, int, int, text, float8, float8, int, interval, dp_cdp.memory, float8, interval, boolean, boolean, boolean, float8, dp_cdp.contribution, float8, boolean, int) FROM PUBLIC;

CREATE OR REPLACE FUNCTION dp_cdp.alter_dataset(
	dataset text,
	rho float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	default_rho float8 DEFAULT NULL,
	max_rho float8 DEFAULT NULL,
	max_groups int DEFAULT NULL,
	max_rows int DEFAULT NULL,
	neighbors text DEFAULT NULL,
	default_delta float8 DEFAULT NULL,
	new_owner regrole DEFAULT NULL,
	min_rho float8 DEFAULT NULL,
	max_failures int DEFAULT NULL,
	answer_step interval DEFAULT NULL,
	release_memory dp_cdp.memory DEFAULT NULL,
	find_bounds float8 DEFAULT NULL,
	reuse interval DEFAULT NULL,
	reuse_dumped boolean DEFAULT NULL,
	consistent boolean DEFAULT NULL,
	pull_rows boolean DEFAULT NULL,
	key_delta_share float8 DEFAULT NULL,
	max_contribution dp_cdp.contribution DEFAULT NULL,
	reset text[] DEFAULT NULL,
	min_units int DEFAULT NULL,
	epsilon float8 DEFAULT NULL
) RETURNS dp_cdp.altered
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_alter_dataset';
COMMENT ON FUNCTION dp_cdp.alter_dataset(text, float8, float8, float8, float8, int, int, text, float8, regrole, float8, int, interval, dp_cdp.memory, float8, interval, boolean, boolean, boolean, float8, dp_cdp.contribution, text[], int, float8) IS
	'changes settings of a dataset. NULL leaves one as it is, and reset names those that get their defaults again. Infinity removes rho or max_rho, and 0 removes an answer_step, a release_memory, a find_bounds or a reuse. Setting max_contribution removes max_groups and max_rows, where they are not set with it. It returns which options were changed, and what the cap allows';

CREATE OR REPLACE FUNCTION dp_cdp.drop_dataset(dataset text, erase_spent boolean DEFAULT false) RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_dataset';
COMMENT ON FUNCTION dp_cdp.drop_dataset(text, boolean) IS
	'drops a dataset that protects no table, with its budgets, and returns how many these were. It asks for erase_spent => true where some of them was spent';

CREATE OR REPLACE FUNCTION dp_cdp.forget_answers(dataset text) RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_refresh';
COMMENT ON FUNCTION dp_cdp.forget_answers(text) IS
	'ends all kept answers of a dataset, for its owner, and returns how many. Each question asked from now on is computed, and paid for, anew';

CREATE OR REPLACE FUNCTION dp_cdp.suggest_limits("table" regclass, rho float8, OUT question text, OUT max_contribution float8,
		OUT cut float8, OUT stddev float8) RETURNS SETOF record
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_suggest_limits';
COMMENT ON FUNCTION dp_cdp.suggest_limits(regclass, float8) IS
	'finds, for the owner of the dataset, which max_contribution serves best. The first row is for a count of all rows, the others are for counts by each column with declared keys. Each tells, by estimate, which share of contributions is cut, and the standard deviation of the count''s noise at default_rho. The answers are private, and the dataset''s cap over all roles pays rho for them';

CREATE OR REPLACE FUNCTION dp_cdp.protect_table("table" regclass, dataset text, unit name DEFAULT NULL, through text DEFAULT NULL,
		block name DEFAULT NULL, every interval DEFAULT NULL, each_row boolean DEFAULT false) RETURNS dp_cdp.table_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_protect_table';
COMMENT ON FUNCTION dp_cdp.protect_table(regclass, text, name, text, name, interval, boolean) IS
	'puts a table and its children under the policy of a dataset. The argument unit is the column that names the person. Or through names the columns of a foreign key to protected rows, to which rows of this table belong. Or each_row => true says that each row is a person of its own. With block and every, budgets hold for each person and block of time. The column block says in which block a row is, and every how long blocks are';
CREATE OR REPLACE FUNCTION dp_cdp_internal.keep_block() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_keep_block';
COMMENT ON FUNCTION dp_cdp_internal.keep_block() IS
	'trigger on protected tables with blocks of time: an UPDATE moves no row to another block';
CREATE OR REPLACE FUNCTION dp_cdp_internal.keep_referenced() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_keep_referenced';
COMMENT ON FUNCTION dp_cdp_internal.keep_referenced() IS
	'trigger on tables whose rows tell the block of time of rows that reference them. It keeps these in their block';
CREATE OR REPLACE FUNCTION dp_cdp_internal.block_problem("table" regclass) RETURNS text
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_block_problem';
COMMENT ON FUNCTION dp_cdp_internal.block_problem(regclass) IS
	'why rows of a protected table, or partition, could move to another block of time. NULL: they cannot, or are in no blocks';

CREATE OR REPLACE FUNCTION dp_cdp.unprotect_table("table" regclass) RETURNS dp_cdp.table_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_unprotect_table';
COMMENT ON FUNCTION dp_cdp.unprotect_table(regclass) IS
	'removes the policy of a table: only who holds SELECT may read it then';

CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower numeric, upper numeric,
		total_lower numeric DEFAULT NULL, total_upper numeric DEFAULT NULL) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, numeric, numeric, numeric, numeric) IS
	'declares bounds of a column, to which each row''s value is clamped. A unit''s total in a group is clamped to total_lower .. total_upper. NULL: max_rows times the bounds';

-- numbers without quotes are numeric, literals in quotes text
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower text, upper text) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, text, text) IS
	'declares bounds of a column, written as values of its type: numbers, dates or timestamps';
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower date, upper date) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, date, date) IS
	'declares bounds of a column of dates or timestamps';
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower timestamp, upper timestamp) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, timestamp, timestamp) IS
	'declares bounds of a column of dates or timestamps';
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower timestamptz, upper timestamptz) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, timestamptz, timestamptz) IS
	'declares bounds of a column of dates or timestamps';

CREATE OR REPLACE FUNCTION dp_cdp.drop_bounds("table" regclass, "column" name) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_bounds';
COMMENT ON FUNCTION dp_cdp.drop_bounds(regclass, name) IS
	'removes the bounds of a column';

CREATE OR REPLACE FUNCTION dp_cdp.set_keys("table" regclass, "column" name, keys anyarray) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_keys';
COMMENT ON FUNCTION dp_cdp.set_keys(regclass, name, anyarray) IS
	'declares which keys a GROUP BY of this column releases, whether rows have them or not. NULL is one more where the column can be NULL';

CREATE OR REPLACE FUNCTION dp_cdp.drop_keys("table" regclass, "column" name) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_keys';
COMMENT ON FUNCTION dp_cdp.drop_keys(regclass, name) IS
	'removes the declared keys of a column';

CREATE OR REPLACE FUNCTION dp_cdp.declared_keys("table" regclass, "column" name) RETURNS text[]
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_declared_keys';
COMMENT ON FUNCTION dp_cdp.declared_keys(regclass, name) IS
	'keys that a GROUP BY of this column releases, by set_keys, its type or a foreign key. NULL: they are selected privately';

CREATE OR REPLACE FUNCTION dp_cdp.dataset_of("table" regclass) RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'dp_dataset_of';
COMMENT ON FUNCTION dp_cdp.dataset_of(regclass) IS
	'dataset that protects a table, by its own policy or by that of a table it is a partition or child of. NULL: none';

CREATE OR REPLACE FUNCTION dp_cdp_internal.through_problem("table" regclass) RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'dp_through_problem';
COMMENT ON FUNCTION dp_cdp_internal.through_problem(regclass) IS
	'why nothing is released from a table whose rows belong to people through a foreign key. The key is gone, not validated, or leads to no protected row. NULL: nothing is wrong';

CREATE OR REPLACE FUNCTION dp_cdp.set_budget(
	dataset text,
	role regrole,
	rho float8 DEFAULT NULL,
	epsilon float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	period interval DEFAULT NULL
) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_budget';
COMMENT ON FUNCTION dp_cdp.set_budget(text, regrole, float8, float8, float8, interval) IS
	'gives a role a budget, or changes it and keeps what is spent. A budget is a rho, or (epsilon, delta), and is renewed each period. The function returns what it allows';

CREATE OR REPLACE FUNCTION dp_cdp.drop_budget(dataset text, role regrole) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_budget';
COMMENT ON FUNCTION dp_cdp.drop_budget(text, regrole) IS
	'takes a role''s budget away';

CREATE OR REPLACE FUNCTION dp_cdp.drop_missing_budget(dataset text, role_name text) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_missing_budget';
COMMENT ON FUNCTION dp_cdp.drop_missing_budget(text, text) IS
	'takes the budget of a role away that does not exist any more';

CREATE OR REPLACE FUNCTION dp_cdp.reset_failures(dataset text, role regrole) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_reset_failures';
COMMENT ON FUNCTION dp_cdp.reset_failures(text, regrole) IS
	'forgets the failures of today that were counted at a role''s budget, so that it may ask again';

CREATE OR REPLACE FUNCTION dp_cdp.epsilon_spent(rho numeric, delta numeric) RETURNS float8
	LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dp_epsilon_spent';
COMMENT ON FUNCTION dp_cdp.epsilon_spent(numeric, numeric) IS
	'the smallest known epsilon for which rho-zCDP implies (epsilon, delta)-DP, rounded up';

CREATE OR REPLACE FUNCTION dp_cdp.best_guess(rho numeric, delta numeric DEFAULT 0) RETURNS float8
	LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dp_best_guess';
COMMENT ON FUNCTION dp_cdp.best_guess(numeric, numeric) IS
	'how often the best guesser is right whether one person is in the data, once rho and a delta for selecting keys are spent. From 0.5 to 1, rounded up to 4 decimals';

-- =========================================================================
-- 4. Calculators (src/calc)
-- =========================================================================

-- Functions of numbers alone, for everybody.  Logarithms are natural: epsilon,
-- rho and xi are in nats.  An argument out of its range is an error of
-- SQLSTATE ZC004; where the truth is infinite the result is Infinity; none is
-- ever NaN.  The default bound is the tightest one known.

CREATE TYPE dp_cdp.zcdp AS (rho float8, xi float8);
COMMENT ON TYPE dp_cdp.zcdp IS
	'(xi, rho)-zCDP: the Renyi divergence of order alpha is at most xi + rho alpha, for every alpha > 1. Bun and '
	'Steinke 2016, Definition 1.1';
COMMENT ON COLUMN dp_cdp.zcdp.rho IS 'slope of the bound in alpha, in nats';
COMMENT ON COLUMN dp_cdp.zcdp.xi IS 'constant of the bound, in nats';
CREATE TYPE dp_cdp.mcdp AS (mu float8, tau float8);
COMMENT ON TYPE dp_cdp.mcdp IS
	'(mu, tau)-mean-concentrated DP: the privacy loss has mean at most mu and is subgaussian around its mean with '
	'standard tau. Dwork and Rothblum 2016, Definition 2.1';
COMMENT ON COLUMN dp_cdp.mcdp.mu IS 'largest mean of the privacy loss, in nats';
COMMENT ON COLUMN dp_cdp.mcdp.tau IS 'how far the privacy loss is from its mean, in nats';
CREATE TYPE dp_cdp.approx_dp AS (epsilon float8, delta float8);
COMMENT ON TYPE dp_cdp.approx_dp IS
	'(epsilon, delta)-differential privacy. Dwork and Roth 2014, Definition 2.4';
COMMENT ON COLUMN dp_cdp.approx_dp.epsilon IS 'bound of the privacy loss, in nats';
COMMENT ON COLUMN dp_cdp.approx_dp.delta IS 'probability up to which the bound may fail';

-- zCDP to (epsilon, delta) and back

CREATE FUNCTION dp_cdp.zcdp_epsilon(rho float8, delta float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_epsilon(float8, float8, float8, text) IS
	'calculator: smallest epsilon for which (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. Bound is tight, '
	'bs36, bs36_closed (for delta <= sqrt(pi rho)) or simple. Bound simple: xi + rho + 2 sqrt(rho ln(1/delta)). '
	'Takes rho >= 0 in nats, 0 <= delta <= 1, xi >= 0 in nats. Source of tight: Canonne, Kamath and Steinke 2020, '
	'Corollary 13. Source of bs36: Bun and Steinke 2016, Lemma 3.6. Source of simple: Bun and Steinke 2016, Lemma 3.5';
CREATE FUNCTION dp_cdp.zcdp_delta(rho float8, epsilon float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_delta(float8, float8, float8, text) IS
	'calculator: smallest delta for which (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. Bound is tight, bs36 '
	'or simple. Bound simple: exp(-(epsilon - xi - rho)^2 / (4 rho)). Takes rho >= 0 in nats, epsilon >= 0 in nats, '
	'xi >= 0 in nats. Source of tight: Canonne, Kamath and Steinke 2020, Proposition 12. Source of bs36: Bun and '
	'Steinke 2016, Lemma 3.6. Source of simple: Bun and Steinke 2016, Lemma 3.5';
CREATE FUNCTION dp_cdp.zcdp_rho(epsilon float8, delta float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_rho(float8, float8, float8, text) IS
	'calculator: largest rho for which (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. Bound is tight, bs36 or '
	'simple. Takes epsilon >= 0 in nats, 0 <= delta <= 1, xi from 0 to epsilon in nats. With bound tight, xi goes up '
	'to epsilon - ln(1 - delta). Source of tight: Canonne, Kamath and Steinke 2020, Corollary 13. Source of bs36: '
	'Bun and Steinke 2016, Lemma 3.6. Source of simple: Bun and Steinke 2016, Lemma 3.5';
CREATE FUNCTION dp_cdp.approx_zcdp_epsilon(rho float8, delta0 float8, delta float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_approx_zcdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_zcdp_epsilon(float8, float8, float8, float8, text) IS
	'calculator: smallest epsilon for which delta0-approximate (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. '
	'Infinity where delta <= delta0 and rho > 0. Bound is tight or simple. Takes rho >= 0 in nats, 0 <= delta0 <= 1, '
	'0 <= delta <= 1, xi >= 0 in nats. Bun and Steinke 2016, section 8, with Canonne, Kamath and Steinke 2020, '
	'Corollary 13';
CREATE FUNCTION dp_cdp.approx_zcdp_delta(rho float8, delta0 float8, epsilon float8, xi float8 DEFAULT 0)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_approx_zcdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_zcdp_delta(float8, float8, float8, float8) IS
	'calculator: smallest delta for which delta0-approximate (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. '
	'It is delta0 + (1 - delta0) zcdp_delta. Takes rho >= 0 in nats, 0 <= delta0 <= 1, epsilon >= 0 in nats, xi >= 0 '
	'in nats. Bun and Steinke 2016, section 8, with Canonne, Kamath and Steinke 2020, Proposition 12';

-- Gaussian noise

CREATE FUNCTION dp_cdp.gaussian_rho(sensitivity float8, stddev float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_rho(float8, float8) IS
	'calculator: rho of Gaussian noise, continuous or discrete: sensitivity^2 / (2 stddev^2). Takes sensitivity >= 0 '
	'in the answer''s unit, stddev > 0 in the answer''s unit. Bun and Steinke 2016, Proposition 1.6. Source of '
	'discrete: Canonne, Kamath and Steinke 2020, Theorem 4';
CREATE FUNCTION dp_cdp.gaussian_stddev_zcdp(sensitivity float8, rho float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_stddev_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_stddev_zcdp(float8, float8) IS
	'calculator: standard deviation of the Gaussian noise that is rho-zCDP: sensitivity / sqrt(2 rho). Takes '
	'sensitivity >= 0 in the answer''s unit, rho >= 0 in nats. Bun and Steinke 2016, Proposition 1.6';
CREATE FUNCTION dp_cdp.gaussian_gdp(sensitivity float8, stddev float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_gdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_gdp(float8, float8) IS
	'calculator: mu of Gaussian noise as Gaussian DP: sensitivity / stddev. Takes sensitivity >= 0 in the answer''s '
	'unit, stddev > 0 in the answer''s unit. Dong, Roth and Su 2019, Theorem 1';
CREATE FUNCTION dp_cdp.gaussian_mcdp(sensitivity float8, stddev float8) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_mcdp(float8, float8) IS
	'calculator: (mu, tau) of Gaussian noise as mean-concentrated DP: tau = sensitivity / stddev, mu = tau^2 / 2. '
	'Takes sensitivity >= 0 in the answer''s unit, stddev > 0 in the answer''s unit. Dwork and Rothblum 2016, '
	'Theorem 3.2';
CREATE FUNCTION dp_cdp.gaussian_rdp(alpha float8, sensitivity float8, stddev float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_rdp(float8, float8, float8) IS
	'calculator: Renyi DP of order alpha of Gaussian noise: alpha sensitivity^2 / (2 stddev^2). Takes alpha > 1, '
	'sensitivity >= 0 in the answer''s unit, stddev > 0 in the answer''s unit. Mironov 2017, Proposition 7';
CREATE FUNCTION dp_cdp.gaussian_delta(sensitivity float8, stddev float8, epsilon float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_delta(float8, float8, float8) IS
	'calculator: exact delta of Gaussian noise at epsilon: Q(epsilon/mu - mu/2) - e^epsilon Q(epsilon/mu + mu/2). '
	'Here mu = sensitivity / stddev, and Q is the upper tail of the normal distribution. Takes sensitivity >= 0 in '
	'the answer''s unit, stddev > 0 in the answer''s unit, epsilon >= 0 in nats. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gaussian_epsilon(sensitivity float8, stddev float8, delta float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_epsilon(float8, float8, float8) IS
	'calculator: exact epsilon of Gaussian noise at delta, the inverse of gaussian_delta. Takes sensitivity >= 0 in '
	'the answer''s unit, stddev > 0 in the answer''s unit, 0 <= delta <= 1. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gaussian_stddev(sensitivity float8, epsilon float8, delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_stddev' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_stddev(float8, float8, float8, text) IS
	'calculator: smallest standard deviation of Gaussian noise that is (epsilon, delta)-DP. Bound is tight (also '
	'called analytic) or classic. Bound classic: sensitivity sqrt(2 ln(1.25/delta)) / epsilon, for 0 < epsilon <= 1. '
	'Takes sensitivity >= 0 in the answer''s unit, epsilon >= 0 in nats, 0 <= delta <= 1. Source of tight: Balle and '
	'Wang 2018, Theorem 8. Source of classic: Dwork and Roth 2014, Theorem A.1';
CREATE FUNCTION dp_cdp.discrete_gaussian_delta(sensitivity float8, sigma float8, epsilon float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_discrete_gaussian_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.discrete_gaussian_delta(float8, float8, float8) IS
	'calculator: exact delta of discrete Gaussian noise on the integers at epsilon. Takes sensitivity >= 0, a whole '
	'number, sigma > 0, the parameter of the discrete Gaussian, and epsilon >= 0 in nats. Canonne, Kamath and '
	'Steinke 2020, Theorem 7';
CREATE FUNCTION dp_cdp.gdp_delta(mu float8, epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_delta(float8, float8) IS
	'calculator: exact delta of mu-Gaussian DP at epsilon. Takes mu >= 0, epsilon >= 0 in nats. Dong, Roth and Su '
	'2019, Corollary 2.13. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gdp_epsilon(mu float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_epsilon(float8, float8) IS
	'calculator: exact epsilon of mu-Gaussian DP at delta, at least 0. Takes mu >= 0, 0 <= delta <= 1. Dong, Roth '
	'and Su 2019, Corollary 2.13. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gdp_mu(epsilon float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_mu' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_mu(float8, float8) IS
	'calculator: largest mu for which mu-Gaussian DP implies (epsilon, delta)-DP. Takes epsilon >= 0 in nats, 0 <= '
	'delta <= 1. Dong, Roth and Su 2019, Corollary 2.13. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gdp_to_zcdp(mu float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_to_zcdp(float8) IS
	'calculator: rho of mu-Gaussian DP: mu^2 / 2. The converse does not hold: no bound for Gaussian DP applies to a '
	'rho. Takes mu >= 0. Dong, Roth and Su 2019, Corollary B.6';

-- Between definitions

CREATE FUNCTION dp_cdp.mcdp_to_zcdp(mu float8, tau float8) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_to_zcdp(float8, float8) IS
	'calculator: (rho, xi) of (mu, tau)-mean-concentrated DP: rho = tau^2 / 2, xi = mu - tau^2 / 2. This xi may be '
	'negative: take 0 before group privacy. Takes mu >= 0, tau >= 0. Bun and Steinke 2016, Lemma 4.2';
CREATE FUNCTION dp_cdp.zcdp_to_mcdp(rho float8, xi float8 DEFAULT 0) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_to_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_to_mcdp(float8, float8) IS
	'calculator: (mu, tau) of (xi, rho)-zCDP: mu = xi + rho and tau^2 = 2 (e^s - 1), with s = xi + 2 rho. From s = 1 '
	'on, tau^2 is at most 4 (e - 1) s^2. Takes rho >= 0 in nats, xi >= 0 in nats. Bun and Steinke 2016, Lemma 4.3, '
	'with constants';
CREATE FUNCTION dp_cdp.mcdp_delta(mu float8, tau float8, epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_delta(float8, float8, float8) IS
	'calculator: delta for which (mu, tau)-mean-concentrated DP implies (epsilon, delta)-DP. It is exp(-(epsilon - '
	'mu)^2 / (2 tau^2)). Takes mu >= 0, tau >= 0, epsilon >= 0 in nats. Dwork and Rothblum 2016, Corollary 3.1';
CREATE FUNCTION dp_cdp.mcdp_epsilon(mu float8, tau float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_epsilon(float8, float8, float8) IS
	'calculator: epsilon for which (mu, tau)-mean-concentrated DP implies (epsilon, delta)-DP. It is mu + tau sqrt(2 '
	'ln(1/delta)). Takes mu >= 0, tau >= 0, 0 <= delta <= 1. Dwork and Rothblum 2016, Corollary 3.1';
CREATE FUNCTION dp_cdp.pure_to_zcdp(epsilon float8, bound text DEFAULT 'tight') RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_pure_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.pure_to_zcdp(float8, text) IS
	'calculator: rho of epsilon-DP. Bound tight: epsilon tanh(epsilon / 2). Bound standard: epsilon^2 / 2. Takes '
	'epsilon >= 0 in nats. Source of tight: Steinke 2024, Theorem 5. Source of standard: Bun and Steinke 2016, '
	'Proposition 1.4';
CREATE FUNCTION dp_cdp.pure_to_mcdp(epsilon float8, bound text DEFAULT 'tight') RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_pure_to_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.pure_to_mcdp(float8, text) IS
	'calculator: (mu, tau) of epsilon-DP as mean-concentrated DP: tau = epsilon, and mu follows from bound. Bound '
	'tight: epsilon tanh(epsilon / 2). Bound standard: epsilon (e^epsilon - 1) / 2. Takes epsilon >= 0 in nats. '
	'Source of tight: Kairouz, Oh and Viswanath 2015, Theorem 3.4. Source of standard: Dwork and Rothblum 2016, '
	'Theorem 3.5';
CREATE FUNCTION dp_cdp.pure_to_rdp(alpha float8, epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_pure_to_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.pure_to_rdp(float8, float8) IS
	'calculator: Renyi DP of order alpha of epsilon-DP: ln(cosh((alpha - 1/2) epsilon) / cosh(epsilon / 2)) / (alpha '
	'- 1). Takes alpha > 1, epsilon >= 0 in nats. Bun and Steinke 2016, Proposition 3.3. Steinke 2024, Theorem 4';
CREATE FUNCTION dp_cdp.zcdp_to_pure(rho float8, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_to_pure' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_to_pure(float8, float8) IS
	'calculator: epsilon of (xi, rho)-zCDP as pure DP: xi where rho = 0, else Infinity. Takes rho >= 0 in nats, xi '
	'>= 0 in nats. Bun and Steinke 2016, Lemma 3.2';
CREATE FUNCTION dp_cdp.zcdp_to_rdp(alpha float8, rho float8, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_to_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_to_rdp(float8, float8, float8) IS
	'calculator: Renyi DP of order alpha of (xi, rho)-zCDP: xi + rho alpha. Takes alpha > 1, rho >= 0 in nats, xi >= '
	'0 in nats. Bun and Steinke 2016, Definition 1.1';
CREATE FUNCTION dp_cdp.laplace_to_zcdp(epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_laplace_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.laplace_to_zcdp(float8) IS
	'calculator: rho of Laplace noise of scale sensitivity / epsilon: epsilon + e^-epsilon - 1. Takes epsilon >= 0 '
	'in nats. Harrison and Manurangsi 2025';
CREATE FUNCTION dp_cdp.bounded_range_to_zcdp(eta float8, bound text DEFAULT 'tight') RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_bounded_range_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.bounded_range_to_zcdp(float8, text) IS
	'calculator: rho of an eta-bounded-range mechanism, such as the exponential mechanism. Bound tight (also called '
	'min): the lesser of eta^2 / 8 and eta tanh(eta / 2). Bound standard: eta^2 / 8. Bound kl, the divergence of '
	'order 1 alone: eta / (e^eta - 1) - 1 - ln(eta / (e^eta - 1)). Takes eta >= 0 in nats. Cesar and Rogers 2021, '
	'Lemma 3.2';
CREATE FUNCTION dp_cdp.approx_to_zcdp(epsilon float8, delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_approx_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_to_zcdp(float8, float8, text) IS
	'calculator: rho for which (epsilon, delta)-DP implies delta-approximate rho-zCDP. Bound tight: epsilon '
	'tanh(epsilon / 2). Bound standard: epsilon^2 / 2. Takes epsilon >= 0 in nats, 0 <= delta <= 1. Bun and Steinke '
	'2016, Proposition 1.13. Source of tight: Steinke 2024, Theorem 5';

-- Renyi DP

CREATE FUNCTION dp_cdp.rdp_epsilon(alpha float8, epsilon float8, delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_epsilon(float8, float8, float8, text) IS
	'calculator: epsilon at delta of Renyi DP of order alpha. Bound tight: the least that follows, rounded upwards. '
	'Bound improved: epsilon + ln(1 - 1/alpha) - ln(alpha delta) / (alpha - 1), at least 0. Bound simple: epsilon + '
	'ln(1/delta) / (alpha - 1). Takes alpha > 1, epsilon >= 0 of that order in nats, 0 <= delta <= 1. Source of '
	'tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source of improved: Canonne, Kamath and Steinke '
	'2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';
CREATE FUNCTION dp_cdp.rdp_delta(alpha float8, epsilon float8, target_epsilon float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_delta(float8, float8, float8, text) IS
	'calculator: delta at target_epsilon of Renyi DP of order alpha, at most 1. Bound tight: the least that follows, '
	'rounded upwards. Bound improved: exp((alpha - 1) (epsilon - target_epsilon)) (1 - 1/alpha)^(alpha - 1) / alpha. '
	'Bound simple: exp((alpha - 1) (epsilon - target_epsilon)). Takes alpha > 1, epsilon >= 0 of that order in nats, '
	'target_epsilon >= 0 in nats. Source of tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source '
	'of improved: Canonne, Kamath and Steinke 2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';
CREATE FUNCTION dp_cdp.rdp_epsilon(alpha float8[], epsilon float8[], delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_epsilon_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_epsilon(float8[], float8[], float8, text) IS
	'calculator: epsilon at delta of Renyi DP at several orders, by the best of them. Each counts as rdp_epsilon of '
	'one. Bound is tight, improved or simple. Takes orders alpha > 1, as many epsilon >= 0 in nats, 0 <= delta <= 1. '
	'Source of tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source of improved: Canonne, Kamath '
	'and Steinke 2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';
CREATE FUNCTION dp_cdp.rdp_delta(alpha float8[], epsilon float8[], target_epsilon float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_delta(float8[], float8[], float8, text) IS
	'calculator: delta at target_epsilon of Renyi DP at several orders, by the best of them. Each counts as '
	'rdp_delta of one. Bound is tight, improved or simple. Takes orders alpha > 1, as many epsilon >= 0 in nats, '
	'target_epsilon >= 0 in nats. Source of tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source '
	'of improved: Canonne, Kamath and Steinke 2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';

-- Composition

CREATE FUNCTION dp_cdp.compose_zcdp(rho float8[]) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_zcdp(float8[]) IS
	'calculator: composition of rho-zCDP mechanisms: the sum, with xi = 0. Takes a list of rho >= 0 in nats. Bun and '
	'Steinke 2016, Lemma 1.7';
CREATE FUNCTION dp_cdp.compose_zcdp(rho float8[], xi float8[]) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_zcdp(float8[], float8[]) IS
	'calculator: composition of (xi, rho)-zCDP mechanisms: the sums. Takes a list of rho >= 0 in nats, as many xi >= '
	'0 in nats. Bun and Steinke 2016, Lemma 2.3';
CREATE FUNCTION dp_cdp.compose_mcdp(mu float8[], tau float8[]) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_mcdp(float8[], float8[]) IS
	'calculator: composition of mean-concentrated DP: (sum of mu, sqrt of the sum of tau^2). Takes a list of mu >= 0 '
	'in nats, as many tau >= 0 in nats. Dwork and Rothblum 2016, Theorem 3.4';
CREATE FUNCTION dp_cdp.compose_gdp(mu float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_gdp(float8[]) IS
	'calculator: mu of a composition of Gaussian DP: sqrt of the sum of mu^2. Takes a list of mu >= 0. Dong, Roth '
	'and Su 2019, Corollary 3.3';
CREATE FUNCTION dp_cdp.compose_rdp(alpha float8, epsilon float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_rdp(float8, float8[]) IS
	'calculator: Renyi DP of order alpha of a composition: the sum of epsilon at that order. Takes alpha > 1, list '
	'of epsilon >= 0 in nats. Mironov 2017, Proposition 1';
CREATE FUNCTION dp_cdp.compose_delta(delta float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_delta(float8[]) IS
	'calculator: delta of a composition of delta-approximate zCDP: 1 - the product of (1 - delta). Takes a list of 0 '
	'<= delta <= 1. Bun and Steinke 2016, section 8';
CREATE FUNCTION dp_cdp.compose_delta(delta float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_delta(float8, bigint) IS
	'calculator: delta of k times delta-approximate zCDP: 1 - (1 - delta)^k. Takes 0 <= delta <= 1, k >= 1. Bun and '
	'Steinke 2016, section 8';
CREATE FUNCTION dp_cdp.compose_basic(epsilon float8, delta float8, k bigint)
	RETURNS dp_cdp.approx_dp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_basic' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_basic(float8, float8, bigint) IS
	'calculator: (epsilon, delta) of k times (epsilon, delta)-DP by basic composition: k epsilon, and k delta up to '
	'1. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k >= 1. Dwork and Roth 2014, Theorem 3.16';
CREATE FUNCTION dp_cdp.compose_advanced(epsilon float8, delta_slack float8, k bigint, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced(float8, float8, bigint, text) IS
	'calculator: epsilon of k times (epsilon, delta)-DP by advanced composition, at compose_advanced_delta. Bound '
	'tight (also called kov) is the least of three, with m = epsilon tanh(epsilon / 2). The first is k epsilon. The '
	'second is k m + sqrt(2 k ln(e + sqrt(k) epsilon / delta_slack)) epsilon. The third is k m + sqrt(2 k '
	'ln(1/delta_slack)) epsilon. Bounds dr16 and drv10 are the third alone, as printed. Bound dr16 has m = epsilon '
	'(e^epsilon - 1) / 2. Bound drv10 has m = epsilon (e^epsilon - 1). Takes epsilon >= 0 in nats, 0 <= delta_slack '
	'<= 1, k >= 1. Source of kov: Kairouz, Oh and Viswanath 2015, Theorem 3.4. Source of dr16: Dwork and Rothblum '
	'2016, Theorem 1.1. Source of drv10: Dwork, Rothblum and Vadhan 2010, Theorem III.3';
CREATE FUNCTION dp_cdp.compose_advanced(epsilon float8[], delta_slack float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced(float8[], float8) IS
	'calculator: epsilon of a composition of (epsilon, delta)-DP mechanisms that differ, by advanced composition. It '
	'is the least of three bounds, at compose_advanced_delta. Takes a list of epsilon >= 0 in nats, 0 <= delta_slack '
	'<= 1. Kairouz, Oh and Viswanath 2015, Theorem 3.5';
CREATE FUNCTION dp_cdp.compose_advanced_delta(delta float8, delta_slack float8, k bigint)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced_delta(float8, float8, bigint) IS
	'calculator: delta that belongs to compose_advanced of k times (epsilon, delta)-DP. With every bound it is 1 - '
	'(1 - delta)^k (1 - delta_slack). Takes 0 <= delta <= 1, 0 <= delta_slack <= 1, k >= 1. Kairouz, Oh and '
	'Viswanath 2015, Theorem 3.4';
CREATE FUNCTION dp_cdp.compose_advanced_delta(delta float8[], delta_slack float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced_delta(float8[], float8) IS
	'calculator: delta that belongs to compose_advanced of a list: 1 - (1 - delta_slack) times the product of (1 - '
	'delta). Takes a list of 0 <= delta <= 1, 0 <= delta_slack <= 1. Kairouz, Oh and Viswanath 2015, Theorem 3.5';
CREATE FUNCTION dp_cdp.compose_optimal_delta(epsilon float8, delta float8, k bigint, epsilon_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_delta(float8, float8, bigint, float8) IS
	'calculator: smallest delta for which every k-fold adaptive composition of (epsilon, delta)-DP is (epsilon_g, '
	'delta)-DP. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k >= 1, epsilon_g >= 0 in nats. Kairouz, Oh and '
	'Viswanath 2015, Theorem 3.3. Murtagh and Vadhan 2016, Theorem 1.4';
CREATE FUNCTION dp_cdp.compose_optimal_epsilon(epsilon float8, delta float8, k bigint, delta_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_epsilon(float8, float8, bigint, float8) IS
	'calculator: smallest epsilon for which every k-fold adaptive composition of (epsilon, delta)-DP is (epsilon, '
	'delta_g)-DP. It is Infinity where delta_g < 1 - (1 - delta)^k. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k '
	'>= 1, 0 <= delta_g <= 1. Kairouz, Oh and Viswanath 2015, Theorem 3.3. Murtagh and Vadhan 2016, Theorem 1.4';
CREATE FUNCTION dp_cdp.compose_optimal_delta(epsilon float8[], delta float8[], epsilon_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_delta(float8[], float8[], float8) IS
	'calculator: smallest delta for which every adaptive composition of (epsilon, delta)-DP mechanisms that differ '
	'is (epsilon_g, delta)-DP. An error says where exact composition is out of reach. Takes a list of epsilon >= 0 '
	'in nats, as many 0 <= delta <= 1, epsilon_g >= 0 in nats. Murtagh and Vadhan 2016, Theorem 1.5';
CREATE FUNCTION dp_cdp.compose_optimal_epsilon(epsilon float8[], delta float8[], delta_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_epsilon_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_epsilon(float8[], float8[], float8) IS
	'calculator: smallest epsilon for which every adaptive composition of (epsilon, delta)-DP mechanisms that differ '
	'is (epsilon, delta_g)-DP. An error says where exact composition is out of reach. Takes a list of epsilon >= 0 '
	'in nats, as many 0 <= delta <= 1, 0 <= delta_g <= 1. Murtagh and Vadhan 2016, Theorem 1.5';

-- Groups of k

CREATE FUNCTION dp_cdp.group_zcdp(rho float8, k bigint, xi float8 DEFAULT 0) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_zcdp(float8, bigint, float8) IS
	'calculator: (rho, xi) for groups of k of (xi, rho)-zCDP: k^2 rho and xi k (1 + 1/2 + ... + 1/k). Where rho = 0, '
	'xi becomes k xi. Takes rho >= 0 in nats, k >= 1, xi >= 0 in nats. Bun and Steinke 2016, Propositions 1.9 and '
	'5.3, and Lemma 3.2';
CREATE FUNCTION dp_cdp.group_mcdp(mu float8, tau float8, k bigint) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
-- (its comment is in part 19)
CREATE FUNCTION dp_cdp.group_gaussian(sensitivity float8, stddev float8, k bigint)
	RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_gaussian' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_gaussian(float8, float8, bigint) IS
	'calculator: (mu, tau) for groups of k of Gaussian noise: tau = k sensitivity / stddev, mu = tau^2 / 2. Takes '
	'sensitivity >= 0 in the answer''s unit, stddev > 0 in the answer''s unit, k >= 1. Dwork and Rothblum 2016, '
	'Corollary 3.3 (which leaves out "/ stddev")';
CREATE FUNCTION dp_cdp.group_gdp(mu float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_group_gdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_gdp(float8, bigint) IS
	'calculator: mu for groups of k of Gaussian DP: k mu. Takes mu >= 0, k >= 1. Dong, Roth and Su 2019, Theorem 2.14';
CREATE FUNCTION dp_cdp.group_pure(epsilon float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_group_pure' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_pure(float8, bigint) IS
	'calculator: epsilon for groups of k of epsilon-DP: k epsilon. Takes epsilon >= 0 in nats, k >= 1. Dwork and '
	'Roth 2014, Theorem 2.2';
CREATE FUNCTION dp_cdp.group_approx_delta(epsilon float8, delta float8, k bigint, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_group_approx_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_approx_delta(float8, float8, bigint, text) IS
	'calculator: delta for groups of k of (epsilon, delta)-DP, at k epsilon, at most 1. Bound tight: delta (e^(k '
	'epsilon) - 1) / (e^epsilon - 1). Bound standard: k e^((k - 1) epsilon) delta. Takes epsilon >= 0 in nats, 0 <= '
	'delta <= 1, k >= 1. Source of tight: Vadhan 2017, Lemma 2.2. Source of standard: Dwork and Rothblum 2016, '
	'section 1';

-- Planning

CREATE FUNCTION dp_cdp.sensitivity(lower float8 DEFAULT 0, upper float8 DEFAULT 1, max_groups bigint DEFAULT 1,
		neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_sensitivity' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.sensitivity(float8, float8, bigint, text, boolean) IS
	'calculator: L2 sensitivity of a released column: sqrt(k) M. For replace_one it is sqrt(k max(2 M^2, (U - L)^2)) '
	'with GROUP BY, and U - L without. Here M = max(|lower|, |upper|), U = max(upper, 0), L = min(lower, 0) and k = '
	'max_groups. A unit''s contribution to a group is 0, or from lower to upper (max_rows for a count). Takes '
	'max_groups >= 1, neighbors add_remove or replace_one, and grouped for GROUP BY. This is the guarantee of '
	'dp_cdp, see src/release/README.md';
CREATE FUNCTION dp_cdp.releases_within(rho float8, epsilon float8, delta float8) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_calc_releases_within' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.releases_within(float8, float8, float8) IS
	'calculator: how many releases of rho each are together (epsilon, delta)-DP by the tight bound. They are as the '
	'ledger counts them, and never too many. 9223372036854775807 stands for any number. Takes rho > 0 in nats, '
	'epsilon >= 0 in nats, 0 <= delta <= 1. Canonne, Kamath and Steinke 2020, Corollary 13';
CREATE FUNCTION dp_cdp.stddev_of(rho float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1, max_groups bigint DEFAULT 1,
		neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_stddev_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.stddev_of(float8, float8, float8, bigint, text, boolean) IS
	'calculator: standard deviation of the noise that a rho gives: sensitivity / sqrt(2 rho). Takes rho >= 0 in '
	'nats. A unit''s contribution to a group is 0, or from lower to upper (max_rows for a count). Takes max_groups '
	'>= 1, neighbors add_remove or replace_one, and grouped for GROUP BY. Bun and Steinke 2016, Proposition 1.6';
CREATE FUNCTION dp_cdp.rho_for_stddev(stddev float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1, max_groups bigint DEFAULT 1,
		neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rho_for_stddev' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rho_for_stddev(float8, float8, float8, bigint, text, boolean) IS
	'calculator: rho for noise of a wanted standard deviation: sensitivity^2 / (2 stddev^2). Takes stddev >= 0 in '
	'the answer''s unit. A unit''s contribution to a group is 0, or from lower to upper (max_rows for a count). '
	'Takes max_groups >= 1, neighbors add_remove or replace_one, and grouped for GROUP BY. Bun and Steinke 2016, '
	'Proposition 1.6';
CREATE FUNCTION dp_cdp.margin_of(rho float8, probability float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1,
		max_groups bigint DEFAULT 1, neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false,
		step float8 DEFAULT 1)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_margin_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.margin_of(float8, float8, float8, float8, bigint, text, boolean, float8) IS
	'calculator: half-width of the interval around the true value in which the released one lies with that '
	'probability. It is never too small. Takes rho >= 0 in nats, 0 < probability < 1. A unit''s contribution to a '
	'group is 0, or from lower to upper (max_rows for a count). Takes max_groups >= 1, neighbors add_remove or '
	'replace_one, and grouped for GROUP BY, step >= 0: 1 for whole numbers, 0 for continuous noise. Exact tails of '
	'the discrete Gaussian, or a bound that is proved in src/calc/planning.c';
CREATE FUNCTION dp_cdp.rho_for_margin(margin float8, probability float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1,
		max_groups bigint DEFAULT 1, neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false,
		step float8 DEFAULT 1)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rho_for_margin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rho_for_margin(float8, float8, float8, float8, bigint, text, boolean, float8) IS
	'calculator: rho for which the released value lies within margin of the true one with that probability. It is '
	'never too small. Takes margin >= 0 in the answer''s unit, 0 < probability < 1. A unit''s contribution to a '
	'group is 0, or from lower to upper (max_rows for a count). Takes max_groups >= 1, neighbors add_remove or '
	'replace_one, and grouped for GROUP BY, step >= 0: 1 for whole numbers, 0 for continuous noise. Exact tails of '
	'the discrete Gaussian, or a bound that is proved in src/calc/planning.c';
CREATE FUNCTION dp_cdp.split_budget(rho float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_split_budget_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.split_budget(float8, bigint) IS
	'calculator: share of rho for each of k releases, rounded down to the 1e-12 that the ledger counts. Takes rho >= '
	'0 in nats, k >= 1. Bun and Steinke 2016, Lemma 1.7';
CREATE FUNCTION dp_cdp.split_budget(epsilon float8, delta float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_split_budget' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.split_budget(float8, float8, bigint) IS
	'calculator: rho for each of k releases that are together (epsilon, delta)-DP by the tight bound, rounded down '
	'to the 1e-12 that the ledger counts. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k >= 1. Canonne, Kamath and '
	'Steinke 2020, Corollary 13';
CREATE FUNCTION dp_cdp.split_budget(rho float8, weights float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_split_budget_weighted' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.split_budget(float8, float8[]) IS
	'calculator: shares of rho in proportion to weights, rounded down to the 1e-12 that the ledger counts. Takes rho '
	'>= 0 in nats, list of weights >= 0 with a positive sum. Bun and Steinke 2016, Lemma 1.7';

-- Composition of the mechanisms in a table.  Sums are compensated: the order
-- of the rows and the number of workers do not matter.  Rows with NULL are
-- left out; without rows the result is NULL.

CREATE FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8) IS
	'adds a mechanism to the state of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_zcdp_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_combine(float8[], float8[]) IS
	'adds two states of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_zcdp_final(float8[]) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_final(float8[]) IS
	'the result of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8, float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8, float8) IS
	'adds a mechanism to the state of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_mcdp_add(float8[], float8, float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_mcdp_add(float8[], float8, float8) IS
	'adds a mechanism to the state of compose_mcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_mcdp_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_mcdp_combine(float8[], float8[]) IS
	'adds two states of compose_mcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_mcdp_final(float8[]) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_mcdp_final(float8[]) IS
	'the result of compose_mcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_gdp_add(float8[], float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_gdp_add(float8[], float8) IS
	'adds a mechanism to the state of compose_gdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_gdp_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_gdp_combine(float8[], float8[]) IS
	'adds two states of compose_gdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_gdp_final(float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_gdp_final(float8[]) IS
	'the result of compose_gdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_delta_add(float8[], float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_delta_add(float8[], float8) IS
	'adds a mechanism to the state of compose_delta_agg';
CREATE FUNCTION dp_cdp_internal.compose_delta_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_delta_combine(float8[], float8[]) IS
	'adds two states of compose_delta_agg';
CREATE FUNCTION dp_cdp_internal.compose_delta_final(float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_delta_final(float8[]) IS
	'the result of compose_delta_agg';

CREATE AGGREGATE dp_cdp.compose_zcdp_agg(rho float8) (
	SFUNC = dp_cdp_internal.compose_zcdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_zcdp_combine, FINALFUNC = dp_cdp_internal.compose_zcdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_zcdp_agg(float8) IS
	'calculator: composition of the rho-zCDP mechanisms in a table: (sum of rho, 0). Takes rho >= 0 in nats. Bun and '
	'Steinke 2016, Lemma 1.7';
CREATE AGGREGATE dp_cdp.compose_zcdp_agg(rho float8, xi float8) (
	SFUNC = dp_cdp_internal.compose_zcdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_zcdp_combine, FINALFUNC = dp_cdp_internal.compose_zcdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_zcdp_agg(float8, float8) IS
	'calculator: composition of the (xi, rho)-zCDP mechanisms in a table: (sum of rho, sum of xi). Takes rho >= 0 in '
	'nats, xi >= 0 in nats. Bun and Steinke 2016, Lemma 2.3';
CREATE AGGREGATE dp_cdp.compose_mcdp_agg(mu float8, tau float8) (
	SFUNC = dp_cdp_internal.compose_mcdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_mcdp_combine, FINALFUNC = dp_cdp_internal.compose_mcdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_mcdp_agg(float8, float8) IS
	'calculator: composition of the mean-concentrated DP mechanisms in a table: (sum of mu, sqrt of the sum of '
	'tau^2). Takes mu >= 0, tau >= 0. Dwork and Rothblum 2016, Theorem 3.4';
CREATE AGGREGATE dp_cdp.compose_gdp_agg(mu float8) (
	SFUNC = dp_cdp_internal.compose_gdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_gdp_combine, FINALFUNC = dp_cdp_internal.compose_gdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_gdp_agg(float8) IS
	'calculator: mu of the composition of the Gaussian DP mechanisms in a table: sqrt of the sum of mu^2. Takes mu '
	'>= 0. Dong, Roth and Su 2019, Corollary 3.3';
CREATE AGGREGATE dp_cdp.compose_delta_agg(delta float8) (
	SFUNC = dp_cdp_internal.compose_delta_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_delta_combine, FINALFUNC = dp_cdp_internal.compose_delta_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_delta_agg(float8) IS
	'calculator: delta of the composition of the delta-approximate zCDP mechanisms in a table: 1 - the product of (1 '
	'- delta). Takes 0 <= delta <= 1. Bun and Steinke 2016, section 8';

REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.compose_zcdp_add(float8[], float8),
	dp_cdp_internal.compose_zcdp_combine(float8[], float8[]),
	dp_cdp_internal.compose_zcdp_final(float8[]),
	dp_cdp_internal.compose_zcdp_add(float8[], float8, float8),
	dp_cdp_internal.compose_mcdp_add(float8[], float8, float8),
	dp_cdp_internal.compose_mcdp_combine(float8[], float8[]),
	dp_cdp_internal.compose_mcdp_final(float8[]),
	dp_cdp_internal.compose_gdp_add(float8[], float8),
	dp_cdp_internal.compose_gdp_combine(float8[], float8[]),
	dp_cdp_internal.compose_gdp_final(float8[]),
	dp_cdp_internal.compose_delta_add(float8[], float8),
	dp_cdp_internal.compose_delta_combine(float8[], float8[]),
	dp_cdp_internal.compose_delta_final(float8[])
	FROM PUBLIC;

-- =========================================================================
-- 5. Ledger (src/ledger)
-- =========================================================================

REVOKE ALL ON dp_cdp_internal.dataset, dp_cdp_internal.budget, dp_cdp_internal.release_log, dp_cdp_internal.ledger_stamp,
	dp_cdp_internal.ledger_chain, dp_cdp_internal.pruned, dp_cdp_internal.role_alias, dp_cdp_internal.kept_answer, dp_cdp_internal.block_spent FROM PUBLIC;

-- A debit updates two or three rows, always the same ones: room on their pages
-- lets the new versions stay there, and vacuum should come often.
ALTER TABLE dp_cdp_internal.dataset SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.budget SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.ledger_chain SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.block_spent SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.release_log SET (vacuum_truncate = off);

-- Dumped with their contents.  A restored ledger waits for adopt_ledger().
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.dataset', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.budget', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.release_log', '');
COMMENT ON SEQUENCE dp_cdp_internal.release_log_id_seq IS 'numbers of the rows of dp_cdp_internal.release_log';
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.release_log_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.ledger_stamp', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.ledger_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.ledger_chain', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.pruned', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.role_alias', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.kept_answer', 'WHERE dumped');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.block_spent', '');

-- Balances change only through the worker and the functions of this schema.
CREATE OR REPLACE FUNCTION dp_cdp_internal.ledger_guard() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_ledger_guard';
REVOKE ALL ON FUNCTION dp_cdp_internal.ledger_guard() FROM PUBLIC;

CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.dataset
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.budget
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.release_log
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.ledger_stamp
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.ledger_chain
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.pruned
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.role_alias
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.kept_answer
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.block_spent
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.dataset
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.budget
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.release_log
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.ledger_stamp
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.ledger_chain
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.pruned
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.role_alias
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.kept_answer
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.block_spent
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
ALTER TABLE dp_cdp_internal.dataset ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.release_log ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.ledger_stamp ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.ledger_chain ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.pruned ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.role_alias ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.kept_answer ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.block_spent ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;

-- Whose rows are whose, for the views.
CREATE OR REPLACE FUNCTION dp_cdp_internal.known_role(role oid, name text) RETURNS regrole
	LANGUAGE C CALLED ON NULL INPUT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_known_role';
COMMENT ON FUNCTION dp_cdp_internal.known_role(oid, text) IS
	'role that a row of the ledger means by an OID and a name. NULL: there is no such role any more';
CREATE OR REPLACE FUNCTION dp_cdp_internal.is_mine(role oid, name text) RETURNS boolean
	LANGUAGE C CALLED ON NULL INPUT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_is_mine';
COMMENT ON FUNCTION dp_cdp_internal.is_mine(oid, text) IS
	'is the role that a row of the ledger means one of the session''s, or one that it inherits from';
CREATE OR REPLACE FUNCTION dp_cdp_internal.my_roles() RETURNS oid[]
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_my_roles';
COMMENT ON FUNCTION dp_cdp_internal.my_roles() IS
	'OIDs in rows of the ledger that may mean a role of the session''s, or one that it inherits from';
CREATE OR REPLACE FUNCTION dp_cdp_internal.my_datasets() RETURNS text[]
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_my_datasets';
COMMENT ON FUNCTION dp_cdp_internal.my_datasets() IS
	'datasets that the session owns';

-- What logical replication brings is not applied, here nor to the tables above:
-- a trigger of one of the two kinds is on each table of this schema.
CREATE OR REPLACE FUNCTION dp_cdp_internal.not_replicated() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_ledger_not_replicated';
REVOKE ALL ON FUNCTION dp_cdp_internal.not_replicated() FROM PUBLIC;
CREATE OR REPLACE TRIGGER not_replicated BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.hardened
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.not_replicated();
ALTER TABLE dp_cdp_internal.hardened ENABLE ALWAYS TRIGGER not_replicated;

-- The rules that the worker applies, for views and for adopt_ledger().
CREATE OR REPLACE FUNCTION dp_cdp_internal.role_pays(payer oid, role oid) RETURNS boolean
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_role_pays';
COMMENT ON FUNCTION dp_cdp_internal.role_pays(oid, oid) IS
	'is the payer charged to budgets of this role: by inheritance, for superusers by membership';
CREATE OR REPLACE FUNCTION dp_cdp_internal.next_renewal(renews_at timestamptz, period interval, now timestamptz) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_next_renewal';
COMMENT ON FUNCTION dp_cdp_internal.next_renewal(timestamptz, interval, timestamptz) IS
	'when a budget renews next, seen from now; differs from renews_at when a renewal is due';
CREATE OR REPLACE FUNCTION dp_cdp_internal.period_start(renews_at timestamptz, period interval) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_period_start';
COMMENT ON FUNCTION dp_cdp_internal.period_start(timestamptz, interval) IS
	'when the period began that ends at renews_at';

CREATE OR REPLACE FUNCTION dp_cdp.clock_ahead() RETURNS interval
	LANGUAGE C STRICT VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_clock_ahead';
COMMENT ON FUNCTION dp_cdp.clock_ahead() IS
	'how far the server''s clock was set ahead while the server ran. Nothing is renewed by that much. 0: it was not, or was accepted';
CREATE OR REPLACE FUNCTION dp_cdp.accept_clock() RETURNS interval
	LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME', 'dp_ledger_accept_clock';
REVOKE ALL ON FUNCTION dp_cdp.accept_clock() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.accept_clock() IS
	'has budgets renewed by the server''s clock as it is now, although it was set ahead while the server ran. It returns by how much. For the owner of the extension';

CREATE OR REPLACE FUNCTION dp_cdp.worker_slots(OUT needed int, OUT available int)
	LANGUAGE C STRICT STABLE AS 'MODULE_PATHNAME', 'dp_ledger_worker_slots';
COMMENT ON FUNCTION dp_cdp.worker_slots() IS
	'background workers that ledgers, parallel queries and logical replication need together; and max_worker_processes';

CREATE OR REPLACE FUNCTION dp_cdp.debit_budget(dataset text, rho numeric, delta numeric DEFAULT 0) RETURNS numeric
	LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_ledger_debit_by_hand';
REVOKE ALL ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) IS
	'debits the caller''s budgets by hand, for an answer given outside of the database. It returns the rho that was debited, rounded up to the ledger''s digits';

CREATE OR REPLACE FUNCTION dp_cdp.debit_budget(dataset text, rho numeric, delta numeric, role regrole) RETURNS numeric
	LANGUAGE C VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_debit_for';
COMMENT ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric, regrole) IS
	'debits a role''s budgets by hand, for an answer given outside of the database. It returns the rho that was debited, rounded up to the ledger''s digits. For the owner of the dataset';

CREATE OR REPLACE FUNCTION dp_cdp.correct_spent(dataset text, role regrole, rho numeric, reason text) RETURNS numeric
	LANGUAGE C VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_correct';
COMMENT ON FUNCTION dp_cdp.correct_spent(text, regrole, numeric, text) IS
	'adds rho to what a role''s budget and the dataset''s cap have spent, with a reason. With role NULL it changes the cap alone. It returns what it added. For the owner of the dataset; a negative rho is for superusers';

CREATE OR REPLACE FUNCTION dp_cdp.prune_releases(before timestamptz) RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off
	AS 'MODULE_PATHNAME', 'dp_ledger_prune';
COMMENT ON FUNCTION dp_cdp.prune_releases(timestamptz) IS
	'makes older rows of the audit into one checkpoint for each balance. Owners of datasets prune their rows, the owner of the extension prunes all';

CREATE OR REPLACE FUNCTION dp_cdp_internal.check_chain(OUT id bigint, OUT finding text) RETURNS SETOF record
	LANGUAGE C STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_check_chain';
REVOKE ALL ON FUNCTION dp_cdp_internal.check_chain() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.check_chain() IS
	'rows of the audit whose hash does not follow from their text and the row before';

-- Findings that a look at the catalogues brings, whatever is left of the tables.
CREATE OR REPLACE FUNCTION dp_cdp_internal.table_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH wanted (name, key) AS (
	VALUES ('dataset', 'name'), ('budget', 'dataset, role, role_name'), ('release_log', 'id'), ('ledger_stamp', 'one'), ('ledger_chain', 'one'),
		('pruned', 'first_id'), ('role_alias', 'role, role_name'), ('kept_answer', 'fingerprint, began, rho, delta'), ('block_spent', 'ledger_id, block_from')
), tables AS (
	SELECT c.oid, c.relpersistence, c.relname, w.key
	FROM wanted w JOIN pg_class c ON c.relname = w.name AND c.relnamespace = to_regnamespace('dp_cdp_internal') AND c.relkind = 'r'
)
SELECT 'critical', format('trigger %s on dp_cdp_internal.%s', n.name, t.relname),
	'is missing, disabled or changed: rows of the ledger can be changed unseen',
	CASE WHEN g.oid IS NULL THEN format('CREATE OR REPLACE TRIGGER %s BEFORE %s ON dp_cdp_internal.%s FOR EACH %s EXECUTE FUNCTION dp_cdp_internal.ledger_guard(); ',
		n.name, n.events, t.relname, n.each) ELSE '' END
		|| format('ALTER TABLE dp_cdp_internal.%s ENABLE ALWAYS TRIGGER %s', t.relname, n.name)
FROM tables t
	-- tgtype: before 2, row 1, insert 4, delete 8, update 16, truncate 32
	CROSS JOIN (VALUES ('ledger_guard', 'INSERT OR UPDATE OR DELETE', 'ROW', 31),
		('ledger_guard_truncate', 'TRUNCATE', 'STATEMENT', 34)) n(name, events, each, type)
	LEFT JOIN pg_trigger g ON g.tgrelid = t.oid AND g.tgname = n.name AND g.tgtype = n.type AND g.tgattr = ''
		AND g.tgfoid = to_regprocedure('dp_cdp_internal.ledger_guard()') AND g.tgqual IS NULL
WHERE g.tgenabled IS DISTINCT FROM 'A'
UNION ALL
SELECT 'critical', format('dp_cdp_internal.%s', t.relname), 'is UNLOGGED: a crash empties it',
	format('ALTER TABLE dp_cdp_internal.%s SET LOGGED', t.relname)
FROM tables t WHERE t.relpersistence <> 'p'
UNION ALL
SELECT 'critical', format('dp_cdp_internal.%s', w.name), 'is missing', 'restore the database from a backup, then SELECT dp_cdp.adopt_ledger(surcharge_rho => ...)'
FROM wanted w WHERE NOT EXISTS (SELECT FROM tables t WHERE t.relname = w.name)
UNION ALL
SELECT 'critical', format('dp_cdp_internal.%s', t.relname), 'has lost its primary key: debits fail, and a row can be there twice',
	format('ALTER TABLE dp_cdp_internal.%s ADD PRIMARY KEY (%s)', t.relname, t.key)
FROM tables t WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary AND i.indisvalid)
UNION ALL
SELECT 'critical', format('event trigger %s', n.name), 'is missing, disabled or changed: ' || n.lost,
	CASE WHEN g.oid IS NULL THEN 'restore the database from a backup' ELSE format('ALTER EVENT TRIGGER %I ENABLE ALWAYS', n.name) END
FROM (VALUES ('dp_cdp_keep_ledger', 'keep_ledger', 'where the library is not loaded, DROP EXTENSION erases the ledger'),
		('dp_cdp_extensions', 'tell_of_extension', 'extensions that tell numbers of rows come unseen')) n(name, function, lost)
	LEFT JOIN pg_event_trigger g ON g.evtname = n.name AND g.evtfoid = to_regprocedure(format('dp_cdp_internal.%s()', n.function))
WHERE g.evtenabled IS DISTINCT FROM 'A'
$$;
COMMENT ON FUNCTION dp_cdp_internal.table_findings() IS
	'faults of the ledger''s tables, their keys and triggers, by the catalogues';

-- Findings that a look at the sequences and at the end of the log brings: cheap, for check_setup(), too.
CREATE OR REPLACE FUNCTION dp_cdp_internal.ledger_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
WITH last AS (
	SELECT l.id, l.hash FROM dp_cdp_internal.release_log l WHERE l.hash IS NOT NULL ORDER BY l.id DESC LIMIT 1
)
SELECT 'critical', 'audit', 'it does not end with the row that the ledger wrote last: rows were deleted, or put back',
	'find out who did that, then SELECT dp_cdp.adopt_ledger(surcharge_rho => ...)'
FROM (SELECT) one LEFT JOIN dp_cdp_internal.ledger_chain c ON true LEFT JOIN last l ON true
	LEFT JOIN (SELECT max(last_id) AS last_id FROM dp_cdp_internal.pruned) p ON true
WHERE c.id IS DISTINCT FROM greatest(l.id, p.last_id)
	OR (l.id > coalesce(p.last_id, 0) AND c.hash IS DISTINCT FROM l.hash)
UNION ALL
SELECT 'critical', s.name, format('stands at %s, and the greatest number in use is %s: it was set by hand, and debits fail or will', s.last_value, s.greatest),
	format('SELECT setval(%L, %s)', s.name, greatest(s.greatest, 1))
FROM (
	SELECT 'dp_cdp_internal.release_log_id_seq', q.last_value, q.is_called, (SELECT max(id) FROM dp_cdp_internal.release_log)
	FROM dp_cdp_internal.release_log_id_seq q
	UNION ALL
	SELECT 'dp_cdp_internal.ledger_id_seq', q.last_value, q.is_called,
		greatest((SELECT max(ledger_id) FROM dp_cdp_internal.dataset), (SELECT max(ledger_id) FROM dp_cdp_internal.budget))
	FROM dp_cdp_internal.ledger_id_seq q) AS s(name, last_value, is_called, greatest)
-- restores set numbers back, and the ledger goes on from what it finds
WHERE s.last_value > 9e18 OR s.name ~ 'log' AND (s.last_value < s.greatest OR s.last_value = s.greatest AND NOT s.is_called)
UNION ALL
SELECT 'critical', q.seqrelid::regclass::text,
	format('was altered, and counts from %s to %s by %s%s: debits fail or will', q.seqmin, q.seqmax, q.seqincrement, CASE WHEN q.seqcycle THEN ', in cycles' ELSE '' END),
	format('ALTER SEQUENCE %s INCREMENT BY 1 MINVALUE 1 NO MAXVALUE NO CYCLE', q.seqrelid::regclass)
FROM pg_sequence q WHERE q.seqrelid IN ('dp_cdp_internal.release_log_id_seq'::regclass, 'dp_cdp_internal.ledger_id_seq'::regclass)
	AND (q.seqmin, q.seqmax, q.seqincrement, q.seqcycle) <> (1, 9223372036854775807, 1, false)
$$;
COMMENT ON FUNCTION dp_cdp_internal.ledger_findings() IS
	'faults of the ledger''s sequences and of the end of its log, at a glance. Every row is looked at by check_ledger()';

-- What the log says that each balance has spent, from which day on until the next
-- such day.  A row counts for each balance in paid_by, from the row on with which
-- its period began, in the blocks of its days; without blocks, on all days.
CREATE OR REPLACE FUNCTION dp_cdp_internal.logged_steps()
	RETURNS TABLE(ledger_id bigint, block_from date, rho numeric, delta numeric)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH rows AS (
	SELECT p.id, coalesce(l.block_from, '-infinity') AS block_from, coalesce(l.block_to, 'infinity') AS block_to,
		sum(l.rho) AS rho, sum(l.delta) AS delta
	FROM dp_cdp_internal.release_log l CROSS JOIN LATERAL unnest(l.paid_by) AS p(id)
		JOIN (SELECT d.ledger_id, 0::bigint AS since FROM dp_cdp_internal.dataset d
			UNION ALL SELECT b.ledger_id, b.spent_since FROM dp_cdp_internal.budget b) s ON s.ledger_id = p.id AND l.id >= s.since
	GROUP BY 1, 2, 3
), changes AS (
	SELECT r.id, r.block_from AS day, r.rho, r.delta FROM rows r
	UNION ALL SELECT r.id, r.block_to, -r.rho, -r.delta FROM rows r WHERE r.block_to < 'infinity'
)
SELECT c.id, c.day, sum(sum(c.rho)) OVER w, sum(sum(c.delta)) OVER w
FROM changes c GROUP BY c.id, c.day
WINDOW w AS (PARTITION BY c.id ORDER BY c.day)
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.logged_steps() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.logged_steps() IS
	'sums of the rows of the audit for each balance, from a day on until the next. Without blocks, from -infinity on';

-- With blocks, the maximum over them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.logged_balances()
	RETURNS TABLE(dataset text, role oid, role_name text, rho_spent numeric, rho_logged numeric,
				  delta_spent numeric, delta_logged numeric, ledger_id bigint)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH balances AS (
	SELECT d.ledger_id, d.name AS dataset, NULL::oid AS role, NULL::text AS role_name, d.rho_spent, d.delta_spent
	FROM dp_cdp_internal.dataset d
	UNION ALL
	SELECT b.ledger_id, b.dataset, b.role, b.role_name, b.rho_spent, b.delta_spent FROM dp_cdp_internal.budget b
), sums AS (
	SELECT s.ledger_id AS id, max(s.rho) AS rho, max(s.delta) AS delta FROM dp_cdp_internal.logged_steps() s GROUP BY 1
)
SELECT b.dataset, b.role, b.role_name, b.rho_spent, coalesce(s.rho, 0), b.delta_spent, coalesce(s.delta, 0),
	b.ledger_id
FROM balances b LEFT JOIN sums s ON s.id = b.ledger_id
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.logged_balances() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.logged_balances() IS
	'each balance (role NULL: the dataset''s cap) beside what the rows of the audit add up to';

CREATE OR REPLACE FUNCTION dp_cdp.spent_together(dataset text, roles regrole[])
	RETURNS TABLE(dataset text, rho numeric, delta numeric, epsilon float8, rho_sum numeric)
	LANGUAGE C STRICT STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off
	AS 'MODULE_PATHNAME', 'dp_ledger_collusion';
COMMENT ON FUNCTION dp_cdp.spent_together(text, regrole[]) IS
	'rho that roles have spent together in a dataset, or in each with ''*''. A kept answer counts once, as the dearest that one of them has paid for, and every other release counts for itself. The epsilon is at the dataset''s delta, and rho_sum counts kept answers as often as they were paid for. For owners of datasets, and for oneself';

-- Days on which a balance with blocks is not what the log says.
CREATE OR REPLACE FUNCTION dp_cdp_internal.logged_blocks()
	RETURNS TABLE(ledger_id bigint, block_from date, block_to date, rho_spent numeric, rho_logged numeric,
				  delta_spent numeric, delta_logged numeric)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH balances AS (
	SELECT d.ledger_id FROM dp_cdp_internal.dataset d WHERE d.block_every IS NOT NULL
	UNION ALL
	SELECT b.ledger_id FROM dp_cdp_internal.budget b JOIN dp_cdp_internal.dataset d ON d.name = b.dataset WHERE d.block_every IS NOT NULL
), changes AS (
	SELECT k.ledger_id AS id, k.block_from AS day, k.rho_spent AS rho, k.delta_spent AS delta, 0::numeric AS l_rho, 0::numeric AS l_delta
	FROM dp_cdp_internal.block_spent k
	UNION ALL
	SELECT k.ledger_id, k.block_to, -k.rho_spent, -k.delta_spent, 0, 0 FROM dp_cdp_internal.block_spent k WHERE k.block_to < 'infinity'
	UNION ALL
	SELECT s.ledger_id, s.block_from, 0, 0, s.rho - lag(s.rho, 1, 0) OVER w, s.delta - lag(s.delta, 1, 0) OVER w
	FROM dp_cdp_internal.logged_steps() s WINDOW w AS (PARTITION BY s.ledger_id ORDER BY s.block_from)
)
SELECT c.id, c.day, coalesce(lead(c.day) OVER w, 'infinity'), sum(sum(c.rho)) OVER w, sum(sum(c.l_rho)) OVER w,
	sum(sum(c.delta)) OVER w, sum(sum(c.l_delta)) OVER w
FROM changes c JOIN balances b ON b.ledger_id = c.id
GROUP BY c.id, c.day
WINDOW w AS (PARTITION BY c.id ORDER BY c.day)
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.logged_blocks() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.logged_blocks() IS
	'rho and delta that each balance of a dataset with blocks has spent in them, beside the sums of the audit''s rows';

CREATE OR REPLACE FUNCTION dp_cdp_internal.balance_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN b.rho_spent < b.rho_logged OR b.delta_spent < b.delta_logged OR b.rho_spent < 0 OR b.delta_spent < 0
			THEN 'critical' ELSE 'warning' END,
		CASE WHEN b.role IS NULL THEN format('cap of dataset %s', quote_ident(b.dataset))
			ELSE format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)) END,
		format('has spent rho %s and delta %s, and the audit adds up to rho %s and delta %s',
			trim_scale(b.rho_spent), trim_scale(b.delta_spent), trim_scale(b.rho_logged), trim_scale(b.delta_logged)),
		CASE WHEN b.rho_spent < b.rho_logged THEN format('SELECT dp_cdp.correct_spent(%L, %L, %s, ''...'')', b.dataset,
				b.role_name, trim_scale(b.rho_logged - b.rho_spent))
			ELSE 'put rows of an exported audit back, if there are more' END
	FROM dp_cdp_internal.logged_balances() b
	WHERE b.rho_spent <> b.rho_logged OR b.delta_spent <> b.delta_logged OR b.rho_spent < 0 OR b.delta_spent < 0
	UNION ALL
	SELECT CASE WHEN k.rho_spent < k.rho_logged OR k.delta_spent < k.delta_logged OR k.rho_spent < 0 OR k.delta_spent < 0
			THEN 'critical' ELSE 'warning' END,
		format('balance %s, blocks from %s to before %s', k.ledger_id, k.block_from, k.block_to),
		format('has spent rho %s and delta %s there, and the audit adds up to rho %s and delta %s',
			trim_scale(k.rho_spent), trim_scale(k.delta_spent), trim_scale(k.rho_logged), trim_scale(k.delta_logged)),
		'SELECT dp_cdp.adopt_ledger() raises it to the audit; or put rows of an exported audit back, if there are more'
	FROM dp_cdp_internal.logged_blocks() k
	WHERE k.rho_spent <> k.rho_logged OR k.delta_spent <> k.delta_logged OR k.rho_spent < 0 OR k.delta_spent < 0
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.balance_findings() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.balance_findings() IS
	'balances that are not what the rows of the audit add up to';

-- Traces of a clock that was ahead.  Less than an hour is a clock that was corrected.
CREATE OR REPLACE FUNCTION dp_cdp_internal.clock_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT 'warning', 'clock', format('it was set ahead by %s while the server ran: the ledger goes on with the time that has passed, and renews no budget by the clock',
			date_trunc('second', c.ahead)),
		'set the clock right; where it is right, SELECT dp_cdp.accept_clock()'
	FROM dp_cdp.clock_ahead() c(ahead) WHERE c.ahead > '0'
	UNION ALL
	-- months differ in length by three days
	SELECT 'warning', format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)),
		format('renews on %s, later than after a period: the clock was ahead when it was renewed or given', b.renews_at),
		'repeat dp_cdp.set_budget as it was: it renews after a period from then on'
	FROM dp_cdp_internal.budget b WHERE b.renews_at > now() + b.period + least(b.period, '4 days') AND b.renews_at < 'infinity'
	UNION ALL
	SELECT 'warning', format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)),
		format('counts failures of the day that begins on %s, which is to come: the clock was ahead', b.failures_since),
		format('SELECT dp_cdp.reset_failures(%L, %L)', b.dataset, quote_ident(b.role_name))
	FROM dp_cdp_internal.budget b WHERE b.failures_since > now() + '1 hour'
	UNION ALL
	SELECT 'warning', format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)),
		format('counts rows of the audit from %s on, and the next has number %s: the sequence was set back', b.spent_since, s.last_value + s.is_called::int),
		format('SELECT setval(''dp_cdp_internal.release_log_id_seq'', %s)', b.spent_since)
	FROM dp_cdp_internal.budget b, dp_cdp_internal.release_log_id_seq s WHERE b.spent_since - s.is_called::int > s.last_value
	UNION ALL
	SELECT 'warning', format('dataset %s', quote_ident(d.name)), CASE WHEN d.forgotten_at > now() + '1 hour'
			THEN format('answers were forgotten on %s, which is to come, as the clock was ahead: until then no answer is given again', d.forgotten_at)
			ELSE 'keeps answers of times to come, as the clock was ahead: they last longer than reuse' END,
		format('SELECT dp_cdp.forget_answers(%L)', d.name)
	FROM dp_cdp_internal.dataset d
	WHERE d.forgotten_at > now() + '1 hour' OR EXISTS (SELECT FROM dp_cdp_internal.kept_answer k WHERE k.dataset = d.name AND NOT k.ended AND k.began > now() + '1 hour')
	UNION ALL
	SELECT 'warning', 'audit', format('%s rows are of times to come, the first is row %s: the clock was ahead', count(*), min(l.id)),
		'nothing is to be done: their order is that of their numbers'
	FROM dp_cdp_internal.release_log l WHERE l.released_at > now() + '1 hour' HAVING count(*) > 0
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.clock_findings() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.clock_findings() IS
	'a clock that was set ahead, and what lies in the future since it was';

CREATE OR REPLACE FUNCTION dp_cdp.check_ledger()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
WITH findings AS (
	SELECT * FROM dp_cdp_internal.table_findings()
	UNION ALL
	SELECT * FROM dp_cdp_internal.ledger_findings()
	UNION ALL
	SELECT 'critical', CASE WHEN c.id IS NULL THEN 'audit' ELSE format('row %s of the audit', c.id) END, c.finding,
		'compare it with an export, or with a backup'
	FROM (SELECT * FROM dp_cdp_internal.check_chain() LIMIT 100) c
	UNION ALL
	SELECT * FROM dp_cdp_internal.balance_findings()
	UNION ALL
	SELECT 'warning', 'audit', format('%s rows after the beginning of the chain have no hash, the first is row %s: they were put in by hand',
		count(*), min(l.id)), 'compare them with an export'
	FROM dp_cdp_internal.release_log l, dp_cdp_internal.ledger_chain c WHERE l.hash IS NULL AND l.id > c.first_id HAVING count(*) > 0
	UNION ALL
	SELECT 'warning', format('cap of dataset %s', quote_ident(d.name)),
		format('holds no more than rho %s, less than one aggregate costs: all its roles are refused, though their budgets hold more',
			trim_scale(greatest(d.rho_limit - d.rho_spent, 0))),
		format('SELECT dp_cdp.alter_dataset(%L, rho => ...)', d.name)
	FROM dp_cdp_internal.dataset d
	-- with blocks, new ones come with new budget
	WHERE d.block_every IS NULL AND d.rho_limit - d.rho_spent < d.default_rho
		AND EXISTS (SELECT FROM dp_cdp_internal.budget b WHERE b.dataset = d.name AND b.rho_limit - b.rho_spent >= d.default_rho)
)
SELECT r.severity, r.object, r.finding, r.remedy
FROM (
	SELECT 0 AS place, 'info' AS severity, 'audit' AS object,
		(SELECT format('Rows: %s, without a hash: %s. ', count(*), count(*) FILTER (WHERE hash IS NULL)) FROM dp_cdp_internal.release_log)
		|| coalesce((SELECT format('The chain goes from row %s to row %s, which has hash %s. ', first_id, id, encode(hash, 'hex')) FROM dp_cdp_internal.ledger_chain), '')
		|| format('Critical findings: %s, warnings: %s.', (SELECT count(*) FROM findings f WHERE f.severity = 'critical'),
			(SELECT count(*) FROM findings f WHERE f.severity = 'warning')) AS finding,
		'keep the last hash elsewhere: what is written before it cannot be changed unseen then' AS remedy
	UNION ALL
	SELECT CASE f.severity WHEN 'critical' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END, f.* FROM findings f) r
ORDER BY r.place, r.object, r.finding
$$;
REVOKE ALL ON FUNCTION dp_cdp.check_ledger() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.check_ledger() IS
	'reads the whole audit. It reports rows that do not follow from the one before, balances that disagree, and what is in the way of the triggers. For the owner of the extension, and whom it is granted to';

-- Asks for itself whether the caller owns the extension, or the dataset.  The
-- planner expects few rows of what its statements compute, and nested loops
-- over them took half a minute for 3,000 roles; and takes a statement without
-- them for so dear that compiling it took three seconds, while debits wait.
CREATE OR REPLACE FUNCTION dp_cdp.adopt_ledger(surcharge_rho float8 DEFAULT 0, surcharge_delta float8 DEFAULT 0, dataset text DEFAULT '*')
	RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET enable_nestloop = off SET jit = off
	AS 'MODULE_PATHNAME', 'dp_adopt_ledger';
COMMENT ON FUNCTION dp_cdp.adopt_ledger(float8, float8, text) IS
	'accepts a ledger that was copied, restored or promoted. It raises balances to the audit log, and adds a surcharge to each. It returns how many caps and budgets it adopted. The owner of the extension adopts all of it, the owner of a dataset that dataset';

-- asks as the owner of the tables, for everybody: not with operators of the caller's search_path
CREATE OR REPLACE FUNCTION dp_cdp_internal.ledger_problem() RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_problem';
COMMENT ON FUNCTION dp_cdp_internal.ledger_problem() IS
	'why nothing can be debited until the ledger is adopted; NULL: it can';

CREATE OR REPLACE FUNCTION dp_cdp.adopt_role(role_name text, role regrole) RETURNS bigint
	LANGUAGE C VOLATILE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_adopt_role';
REVOKE ALL ON FUNCTION dp_cdp.adopt_role(text, regrole) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.adopt_role(text, regrole) IS
	'gives a role the budgets and rows that the ledger has of a role that is gone, after a restore. It returns how many rows of datasets, budgets and names it changed';

CREATE OR REPLACE FUNCTION dp_cdp.empty_ledger() RETURNS bigint
	LANGUAGE C STRICT VOLATILE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_empty';
REVOKE ALL ON FUNCTION dp_cdp.empty_ledger() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.empty_ledger() IS
	'forgets all spending and the audit log, and returns how many rows the log had. For the owner of the extension';

-- =========================================================================
-- 6. Views over policies and balances
-- =========================================================================

-- Visible to a session are the rows of its session_user, its current_user and
-- the roles they inherit from; to the owner of a dataset all that concern it.

CREATE OR REPLACE VIEW dp_cdp.budgets WITH (security_barrier) AS
	SELECT b.dataset,
		who.is AS role,
		trim_scale(b.rho_limit) AS rho_limit,
		trim_scale(spent.rho) AS rho_spent,
		trim_scale(greatest(b.rho_limit - spent.rho, 0)) AS rho_remaining,
		trim_scale(b.delta_limit) AS delta_limit,
		trim_scale(spent.delta) AS delta_spent,
		dp_cdp.epsilon_spent(spent.rho, b.report_delta) AS epsilon_spent,
		b.period,
		coalesce(due.next, b.renews_at) AS renews_at,
		failed.failures,
		d.max_failures,
		failed.failures_end,
		coalesce((SELECT r.rolname::text FROM pg_catalog.pg_roles r WHERE r.oid = who.is), b.role_name) AS role_name,
		who.is IS NULL AS role_missing,
		b.ledger_id
	FROM dp_cdp_internal.budget b
		JOIN dp_cdp_internal.dataset d ON d.name = b.dataset
		-- not by an alias, which is for rows of the audit
		CROSS JOIN LATERAL (SELECT CASE WHEN k.is = b.role THEN k.is END AS is
			FROM (SELECT dp_cdp_internal.known_role(b.role, b.role_name) AS is) k) who
		CROSS JOIN LATERAL (SELECT dp_cdp_internal.next_renewal(b.renews_at, b.period, now()) AS next) due
		CROSS JOIN LATERAL (
			SELECT CASE WHEN due.next <> b.renews_at THEN 0 ELSE b.rho_spent END AS rho,
				CASE WHEN due.next <> b.renews_at THEN 0 ELSE b.delta_spent END AS delta) spent
		CROSS JOIN LATERAL (
			SELECT CASE WHEN today.fresh THEN b.failures ELSE 0 END AS failures,
				CASE WHEN today.fresh AND b.failures > 0 THEN b.failures_since + interval '24:00' END AS failures_end
			FROM (SELECT b.failures_since > clock_timestamp() - interval '24:00' AS fresh) today) failed
	WHERE dp_cdp_internal.is_mine(coalesce(who.is::oid, 0), b.role_name)
		OR dp_cdp_internal.is_mine(d.owner, d.owner_name);
COMMENT ON VIEW dp_cdp.budgets IS
	'budgets of the current roles, and all budgets of a dataset for its owner. A period that is over counts as renewed';
COMMENT ON COLUMN dp_cdp.budgets.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.budgets.rho_limit IS 'how much rho the budget has in a period';
COMMENT ON COLUMN dp_cdp.budgets.rho_remaining IS 'how much rho is left in this period';
COMMENT ON COLUMN dp_cdp.budgets.delta_limit IS 'how much delta private selections of keys may spend';
COMMENT ON COLUMN dp_cdp.budgets.delta_spent IS 'how much delta they have spent in this period';
COMMENT ON COLUMN dp_cdp.budgets.period IS 'how often the budget is renewed; NULL: never';
COMMENT ON COLUMN dp_cdp.budgets.renews_at IS 'when it is renewed next';
COMMENT ON COLUMN dp_cdp.budgets.max_failures IS 'this many failures in a day close the budget';
COMMENT ON COLUMN dp_cdp.budgets.failures_end IS 'when the failures are forgotten';
COMMENT ON COLUMN dp_cdp.budgets.role_name IS 'name of the role, also of one that does not exist any more';
COMMENT ON COLUMN dp_cdp.budgets.role_missing IS 'the role does not exist any more, and nobody has this budget';
COMMENT ON COLUMN dp_cdp.budgets.rho_spent IS
	'rho that is spent. With blocks of time it is that of the block in which most was spent. It bounds what is known of a person''s rows of any one block. For a person with rows in several blocks add these up, by dp_cdp.blocks';
COMMENT ON COLUMN dp_cdp.budgets.role IS
	'NULL: the role that role_name names does not exist any more, and nobody has this budget';
COMMENT ON COLUMN dp_cdp.budgets.ledger_id IS
	'number of the balance, as in paid_by of the audit';
COMMENT ON COLUMN dp_cdp.budgets.failures IS
	'releases that this budget paid for and that failed or were cancelled, since the first of them, at most a day ago. After max_failures of them it pays for no more until failures_end';
COMMENT ON COLUMN dp_cdp.budgets.epsilon_spent IS
	'epsilon that corresponds to rho_spent, at the delta of the budget, or of the dataset where the budget is a rho. On top of that delta comes delta_spent';

CREATE OR REPLACE VIEW dp_cdp.releases WITH (security_barrier) AS
	SELECT l.id, l.released_at, l.dataset,
		dp_cdp_internal.known_role(l.role, l.role_name) AS role,
		dp_cdp_internal.known_role(l.session_role, l.session_role_name) AS session_role,
		l.application,
		l.aggregates, l.groups, trim_scale(l.rho) AS rho, trim_scale(l.delta) AS delta,
		l.stddev, l.granted, l.failed,
		coalesce(l.kind, CASE WHEN l.failed THEN 'failed' WHEN l.granted THEN 'granted' ELSE 'refused' END) AS kind,
		l.reason, l.query, l.tables, l.client, l.repeats, l.last_at,
		l.role_name, l.session_role_name,
		-- it follows from the row before, and would let its guess be tried
		CASE WHEN l.dataset = ANY (dp_cdp_internal.my_datasets()) THEN l.hash END AS hash,
		trim_scale(l.reuse_rho) AS reuse_rho, trim_scale(l.reuse_delta) AS reuse_delta,
		l.block_from, l.block_to
	FROM dp_cdp_internal.release_log l
	WHERE l.dataset = ANY (dp_cdp_internal.my_datasets())
		OR (l.role = ANY (dp_cdp_internal.my_roles()) AND dp_cdp_internal.is_mine(l.role, l.role_name))
		OR (l.session_role = ANY (dp_cdp_internal.my_roles()) AND l.session_role <> l.role
			AND dp_cdp_internal.is_mine(l.session_role, l.session_role_name))
	-- the planner looks into no security barrier: only so are the last rows found by their index
	ORDER BY l.id DESC;
COMMENT ON VIEW dp_cdp.releases IS
	'audit of releases, refused debits and failures: those of the current roles, and all of a dataset for its owner';
COMMENT ON COLUMN dp_cdp.releases.id IS 'number of the row';
COMMENT ON COLUMN dp_cdp.releases.released_at IS 'when the budget was debited, or the query refused';
COMMENT ON COLUMN dp_cdp.releases.dataset IS 'dataset that was asked';
COMMENT ON COLUMN dp_cdp.releases.session_role IS 'the role that has logged in; NULL: it does not exist any more';
COMMENT ON COLUMN dp_cdp.releases.application IS 'application_name of the session';
COMMENT ON COLUMN dp_cdp.releases.aggregates IS 'aggregates that were released';
COMMENT ON COLUMN dp_cdp.releases.groups IS 'keys of GROUP BY';
COMMENT ON COLUMN dp_cdp.releases.rho IS 'rho that was charged';
COMMENT ON COLUMN dp_cdp.releases.delta IS 'delta that was charged for private selections of keys';
COMMENT ON COLUMN dp_cdp.releases.stddev IS 'standard deviation of the noise of the first count or sum inside each aggregate. Where it says by bounds, or by limit, these are found after the debit';
COMMENT ON COLUMN dp_cdp.releases.granted IS 'the ledger has debited the budgets';
COMMENT ON COLUMN dp_cdp.releases.query IS 'text of the statement, as much as dp_cdp.log_query_bytes keeps';
COMMENT ON COLUMN dp_cdp.releases.tables IS 'protected tables that were read';
COMMENT ON COLUMN dp_cdp.releases.client IS 'address of the client';
COMMENT ON COLUMN dp_cdp.releases.last_at IS 'when the last of the repeated refusals was';
COMMENT ON COLUMN dp_cdp.releases.role_name IS 'name that the role had then';
COMMENT ON COLUMN dp_cdp.releases.session_role_name IS 'name that the role of the session had then';
COMMENT ON COLUMN dp_cdp.releases.reuse_delta IS 'the part of delta that was paid for answers that are kept';
COMMENT ON COLUMN dp_cdp.releases.block_to IS 'the end of the blocks that were debited, not included';
COMMENT ON COLUMN dp_cdp.releases.role IS
	'NULL: the role that role_name names does not exist any more';
COMMENT ON COLUMN dp_cdp.releases.kind IS
	'granted, refused (by the ledger), guard (refused before a price was known), failed, correction, or checkpoint (sum of pruned rows of a balance)';
COMMENT ON COLUMN dp_cdp.releases.reason IS
	'why it was not granted, as SQLSTATE and words, such as ZC001 rho; or why it was corrected';
COMMENT ON COLUMN dp_cdp.releases.repeats IS
	'refusals of this role and reason, from released_at to last_at, within a minute, for which this row stands. 0: the row belongs to a release that another row stands for, and these balances owed another amount';
COMMENT ON COLUMN dp_cdp.releases.hash IS
	'sha256 of the row and of the hash of the one before, see dp_cdp.check_ledger(). Owners see it. Others, who could try out by it what was asked, see NULL';
COMMENT ON COLUMN dp_cdp.releases.reuse_rho IS
	'part of rho that was paid for kept answers. Whoever has paid for such an answer knows it, and all cheaper ones, alone. See dp_cdp.spent_together';
COMMENT ON COLUMN dp_cdp.releases.block_from IS
	'first day of the blocks of time that were debited, up to the day before block_to';
COMMENT ON COLUMN dp_cdp.releases.failed IS
	'a release that another row shows as granted, and that failed or was cancelled while it read rows';

-- For auditors, who are not analysts: GRANT SELECT ON dp_cdp.audit TO ...
CREATE OR REPLACE VIEW dp_cdp.audit WITH (security_barrier) AS
	SELECT l.id, l.released_at, l.dataset, l.role, l.session_role, l.application,
		l.aggregates, l.groups, l.rho, l.delta, l.stddev, l.granted, l.failed,
		coalesce(l.kind, CASE WHEN l.failed THEN 'failed' WHEN l.granted THEN 'granted' ELSE 'refused' END) AS kind,
		l.reason, l.query, l.tables, l.client, l.repeats, l.last_at,
		l.role_name, l.session_role_name, l.paid_by, l.hash, l.reuse_rho, l.reuse_delta, l.block_from, l.block_to
	FROM dp_cdp_internal.release_log l;
REVOKE ALL ON dp_cdp.audit FROM PUBLIC;
COMMENT ON VIEW dp_cdp.audit IS
	'the whole audit, with all that is needed to put rows back into a restored ledger. For whom it is granted to';
COMMENT ON COLUMN dp_cdp.audit.paid_by IS 'numbers of the balances that were debited: the budgets'' and the cap''s';
COMMENT ON COLUMN dp_cdp.audit.role IS 'oid that the role had then';
COMMENT ON COLUMN dp_cdp.audit.session_role IS 'oid that the role of the session had then';
COMMENT ON COLUMN dp_cdp.audit.hash IS 'sha256 of the row and of the hash of the one before, see dp_cdp.check_ledger(). Owners see it. Others, who could try out by it what was asked, see NULL';
-- the others are those of dp_cdp.releases
DO $$
DECLARE
	a record;
BEGIN
	FOR a IN SELECT r.attname, pg_catalog.col_description(r.attrelid, r.attnum) AS text
		FROM pg_catalog.pg_attribute r WHERE r.attrelid = 'dp_cdp.releases'::pg_catalog.regclass AND r.attnum > 0
			AND r.attname NOT IN ('role', 'session_role', 'hash')
	LOOP
		EXECUTE pg_catalog.format('COMMENT ON COLUMN dp_cdp.audit.%I IS %L', a.attname, a.text);
	END LOOP;
END $$;

CREATE OR REPLACE VIEW dp_cdp.datasets WITH (security_barrier) AS
	SELECT d.name AS dataset,
		dp_cdp_internal.known_role(d.owner, d.owner_name) AS owner,
		trim_scale(d.rho_limit) AS rho_limit,
		CASE WHEN own.er THEN trim_scale(d.rho_spent) END AS rho_spent,
		CASE WHEN own.er AND d.rho_limit IS NOT NULL THEN trim_scale(greatest(d.rho_limit - d.rho_spent, 0)) END AS rho_remaining,
		trim_scale(d.delta_limit) AS delta_limit,
		CASE WHEN own.er THEN trim_scale(d.delta_spent) END AS delta_spent,
		CASE WHEN own.er THEN dp_cdp.epsilon_spent(d.rho_spent, d.delta_limit) END AS epsilon_spent,
		trim_scale(d.default_rho) AS default_rho,
		trim_scale(d.max_rho) AS max_rho,
		trim_scale(d.default_delta) AS default_delta,
		d.max_groups,
		d.max_rows,
		d.neighbors,
		trim_scale(coalesce(d.min_rho, greatest(trunc(d.default_rho / 100, 12), 1e-12))) AS min_rho,
		d.max_failures,
		d.answer_step,
		d.owner_name,
		d.release_memory,
		d.find_bounds,
		d.reuse,
		d.forgotten_at,
		d.reuse_dumped,
		d.block_every,
		d.consistent,
		d.pull_rows,
		d.key_delta_share,
		coalesce(d.max_contribution, CASE WHEN d.max_groups IS NULL OR d.max_rows IS NULL THEN 'auto' END) AS max_contribution,
		d.min_units
	FROM dp_cdp_internal.dataset d
		CROSS JOIN LATERAL (SELECT dp_cdp_internal.is_mine(d.owner, d.owner_name) AS er) own
	WHERE own.er
		OR EXISTS (SELECT FROM dp_cdp_internal.budget b
			WHERE b.dataset = d.name AND dp_cdp_internal.is_mine(b.role, b.role_name));
COMMENT ON VIEW dp_cdp.datasets IS
	'datasets that one owns or has a budget in, with their settings and lifetime caps. Owners see what is spent over all roles. Others see NULL, because a price may follow from answers that somebody else has paid for';
COMMENT ON COLUMN dp_cdp.datasets.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.datasets.owner IS 'role that sets its policy and gives budgets';
COMMENT ON COLUMN dp_cdp.datasets.rho_limit IS 'lifetime cap on the rho of all roles together; NULL: none';
COMMENT ON COLUMN dp_cdp.datasets.rho_spent IS 'rho that all roles have spent together; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.rho_remaining IS 'rho that is left under the cap; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.delta_limit IS 'lifetime cap on delta, at which epsilon is given, too';
COMMENT ON COLUMN dp_cdp.datasets.delta_spent IS 'delta that all roles have spent together; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.epsilon_spent IS 'epsilon that corresponds to rho_spent, at delta_limit; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.default_rho IS 'price of one aggregate, where dp_cdp.rho is not set';
COMMENT ON COLUMN dp_cdp.datasets.max_rho IS 'the most that one aggregate may cost; NULL: no such limit';
COMMENT ON COLUMN dp_cdp.datasets.default_delta IS 'price of one private selection of keys, where dp_cdp.delta is not set';
COMMENT ON COLUMN dp_cdp.datasets.max_groups IS 'the most groups of a query in which a person counts; NULL: no such limit';
COMMENT ON COLUMN dp_cdp.datasets.max_rows IS 'how many rows of a person count in a group; NULL: no such limit';
COMMENT ON COLUMN dp_cdp.datasets.neighbors IS 'add_remove: a person is in the data or is not; replace_one: his rows are replaced by others';
COMMENT ON COLUMN dp_cdp.datasets.min_rho IS 'the least that one aggregate may cost';
COMMENT ON COLUMN dp_cdp.datasets.max_failures IS 'this many failures in a day close a budget';
COMMENT ON COLUMN dp_cdp.datasets.answer_step IS 'answers and failures leave at a multiple of this time; NULL: at once';
COMMENT ON COLUMN dp_cdp.datasets.owner_name IS 'name of the owner, also of one that does not exist any more';
COMMENT ON COLUMN dp_cdp.datasets.release_memory IS 'kB that declared keys and their groups may take; NULL: as much as the server allows';
COMMENT ON COLUMN dp_cdp.datasets.find_bounds IS 'share of an aggregate''s price for finding bounds that nobody has declared; NULL: they are not found';
COMMENT ON COLUMN dp_cdp.datasets.reuse IS 'how long answers are kept and given again; NULL: never';
COMMENT ON COLUMN dp_cdp.datasets.forgotten_at IS 'when all kept answers were last ended, by forget_answers or unprotect_table';
COMMENT ON COLUMN dp_cdp.datasets.reuse_dumped IS 'kept answers are in dumps of the database';
COMMENT ON COLUMN dp_cdp.datasets.consistent IS 'counts and sums of grouping sets are made to add up';
COMMENT ON COLUMN dp_cdp.datasets.pull_rows IS 'rows of distributed tables may leave their servers, where these cannot add up what is asked for';

COMMENT ON COLUMN dp_cdp.datasets.block_every IS
	'length of blocks of time. Caps and budgets hold for a person''s rows of each block, and what is known of a person with rows in several blocks adds up. NULL: the dataset has no blocks, and they hold for all rows of a person';

COMMENT ON COLUMN dp_cdp.datasets.key_delta_share IS
	'the share of the delta of an (epsilon, delta) budget that set_budget keeps for selecting keys';
COMMENT ON COLUMN dp_cdp.datasets.max_contribution IS
	'norm to which the rows of a person in all groups of a query are scaled. It is a number of rows, or auto, which finds it privately. NULL: max_groups and max_rows alone limit these rows';
COMMENT ON COLUMN dp_cdp.datasets.min_units IS
	'groups of fewer people than this are not shown. A group of declared keys is shown with NULL for its answers where its noisy number of people is below it. 1: no such limit';

-- pg_settings says where a value comes from; a value of '' is none.  Of settings that datasets have no part in the server shows
-- what holds, with its unit.
CREATE OR REPLACE VIEW dp_cdp.settings WITH (security_barrier) AS
	SELECT d.dataset, g.setting, g.value AS session, s.own AS dataset_value,
		CASE g.setting
			WHEN 'dp_cdp.reuse' THEN CASE WHEN g.value = 'off' THEN 'off' ELSE coalesce(s.own, 'off') END
			WHEN 'dp_cdp.release_memory' THEN least(coalesce(g.value, g.boot)::int, d.release_memory)::dp_cdp.memory::text
			ELSE coalesce(g.value, s.own, g.boot)
		END AS in_effect,
		CASE
			WHEN g.setting = 'dp_cdp.release_memory' THEN CASE WHEN d.release_memory < coalesce(g.value, g.boot)::int
				THEN 'the dataset allows less than the server' ELSE 'the server''s, of which the dataset takes nothing away' END
			WHEN g.setting = 'dp_cdp.reuse' AND s.own IS NULL THEN 'the dataset keeps no answers'
			WHEN g.setting = 'dp_cdp.reuse' AND g.value IS DISTINCT FROM 'off' THEN 'the dataset keeps answers for so long'
			WHEN g.value IS NULL AND s.setting IS NULL THEN 'the server''s default, which no dataset changes'
			WHEN g.value IS NULL AND s.own IS NULL THEN 'neither the session nor the dataset says anything'
			WHEN g.value IS NULL THEN 'the dataset''s default'
			WHEN g.source = 'session' THEN 'SET in this session'
			WHEN g.source = 'client' THEN 'set by the client when it connected'
			WHEN g.source IN ('user', 'database user') THEN 'ALTER ROLE ... SET'
			WHEN g.source = 'database' THEN 'ALTER DATABASE ... SET'
			ELSE 'set for the server'
		END AS because
	FROM dp_cdp.datasets d
		CROSS JOIN (
			SELECT p.name AS setting, p.source, CASE WHEN p.source <> 'default' THEN nullif(p.setting, '') END AS value,
				CASE p.name WHEN 'dp_cdp.release_memory' THEN p.boot_val WHEN 'dp_cdp.find_bounds' THEN 'off'
					ELSE nullif(current_setting(p.name), '') END AS boot
			FROM pg_catalog.pg_settings p WHERE p.name LIKE 'dp\_cdp.%') g
		LEFT JOIN LATERAL (VALUES
			('dp_cdp.rho', d.default_rho::text),
			('dp_cdp.delta', d.default_delta::text),
			('dp_cdp.target_error', NULL),
			('dp_cdp.max_contribution', d.max_contribution),
			('dp_cdp.max_groups', d.max_groups::text),
			('dp_cdp.max_rows', d.max_rows::text),
			('dp_cdp.find_bounds', d.find_bounds::text),
			('dp_cdp.consistent', CASE WHEN d.consistent THEN 'on' ELSE 'off' END),
			('dp_cdp.reuse', CASE WHEN d.reuse > interval '0' THEN d.reuse::text END),
			('dp_cdp.release_memory', d.release_memory::dp_cdp.memory::text)) s(setting, own) ON s.setting = g.setting;
COMMENT ON VIEW dp_cdp.settings IS
	'settings that a query of this session would run with, and why. One row for each setting of each dataset that one owns or has a budget in';
COMMENT ON COLUMN dp_cdp.settings.dataset IS
	'name of the dataset';
COMMENT ON COLUMN dp_cdp.settings.setting IS
	'name of the setting, for SET';
COMMENT ON COLUMN dp_cdp.settings.because IS
	'who decided so';
COMMENT ON COLUMN dp_cdp.settings.session IS
	'value that the session, the role, the database or the server sets; NULL: none';
COMMENT ON COLUMN dp_cdp.settings.dataset_value IS
	'value that the dataset''s owner has set; NULL: none';
COMMENT ON COLUMN dp_cdp.settings.in_effect IS
	'value that holds; NULL: no limit, or no target';

CREATE OR REPLACE VIEW dp_cdp.blocks WITH (security_barrier) AS
	SELECT b.dataset, b.role, b.role_name, k.block_from, k.block_to,
		trim_scale(k.rho_spent) AS rho_spent,
		trim_scale(greatest(b.rho_limit - k.rho_spent, 0)) AS rho_remaining,
		trim_scale(k.delta_spent) AS delta_spent,
		b.ledger_id
	FROM (SELECT v.dataset, v.role, v.role_name, v.rho_limit, v.ledger_id
			FROM dp_cdp.budgets v JOIN dp_cdp_internal.budget c ON c.ledger_id = v.ledger_id
			-- a period that is over counts as renewed
			WHERE c.renews_at IS NOT DISTINCT FROM v.renews_at
		UNION ALL
		SELECT d.name, NULL, NULL, d.rho_limit, d.ledger_id FROM dp_cdp_internal.dataset d
			WHERE dp_cdp_internal.is_mine(d.owner, d.owner_name)) b
		JOIN dp_cdp_internal.block_spent k ON k.ledger_id = b.ledger_id;
COMMENT ON VIEW dp_cdp.blocks IS
	'rho and delta that budgets have spent in each block of time. Analysts see those of their current roles. The owner of a dataset sees all, and the cap (role_name NULL). A row is for blocks from block_from on and before block_to; nothing is spent in other blocks. Each row bounds what is known of a person''s rows of one of its blocks. For a person with rows in several blocks, add these up';
COMMENT ON COLUMN dp_cdp.blocks.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.blocks.role IS 'role that has the budget; NULL: the cap, or the role does not exist any more';
COMMENT ON COLUMN dp_cdp.blocks.role_name IS 'name of the role; NULL: the dataset''s cap';
COMMENT ON COLUMN dp_cdp.blocks.block_from IS 'first day of the block';
COMMENT ON COLUMN dp_cdp.blocks.block_to IS 'end of the block, not included';
COMMENT ON COLUMN dp_cdp.blocks.rho_spent IS 'rho that was spent in the block';
COMMENT ON COLUMN dp_cdp.blocks.rho_remaining IS 'rho that is left in it';
COMMENT ON COLUMN dp_cdp.blocks.delta_spent IS 'delta that was spent in it';
COMMENT ON COLUMN dp_cdp.blocks.ledger_id IS 'number of the balance, as in paid_by of the audit';

CREATE OR REPLACE VIEW dp_cdp.protected WITH (security_barrier) AS
	SELECT l.objoid::regclass AS "table",
		l.label ->> 'dataset' AS dataset,
		columns.unit,
		columns.columns,
		columns.through,
		columns.block
	FROM (SELECT objoid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
			FROM pg_catalog.pg_seclabel
			WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass AND objsubid = 0) l
		JOIN pg_catalog.pg_class c ON c.oid = l.objoid
		LEFT JOIN dp_cdp_internal.dataset d ON d.name = l.label ->> 'dataset'
		CROSS JOIN LATERAL (
			SELECT (array_agg(a.attname) FILTER (WHERE s.label ? 'unit'))[1] AS unit,
				(array_agg(a.attname) FILTER (WHERE s.label ? 'block'))[1] AS block,
				jsonb_object_agg(a.attname, s.label - '{unit,through,block}'::text[])
					FILTER (WHERE s.label - '{unit,through,block}'::text[] <> '{}') AS columns,
				string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE s.label ? 'through') AS through
			FROM (SELECT objsubid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
					FROM pg_catalog.pg_seclabel
					WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass
						AND objoid = c.oid AND objsubid > 0) s
				JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.objsubid) columns
	WHERE pg_has_role(session_user, c.relowner, 'USAGE')
		OR pg_has_role(current_user, c.relowner, 'USAGE')
		OR dp_cdp_internal.is_mine(d.owner, d.owner_name)
		OR EXISTS (SELECT FROM dp_cdp_internal.budget b
			WHERE b.dataset = l.label ->> 'dataset' AND dp_cdp_internal.is_mine(b.role, b.role_name));
COMMENT ON VIEW dp_cdp.protected IS
	'protected tables that one owns or has a budget for, with dataset, privacy unit, bounds and declared keys of columns. In through are the columns of the foreign key that leads to the unit. Where unit and through are NULL, each row is one. In block is the column that says in which block of time a row is';
COMMENT ON COLUMN dp_cdp.protected."table" IS 'the protected table';
COMMENT ON COLUMN dp_cdp.protected.dataset IS 'dataset whose policy it has';
COMMENT ON COLUMN dp_cdp.protected.unit IS 'column that names the person; NULL: see through';
COMMENT ON COLUMN dp_cdp.protected.columns IS 'bounds, totals and keys of its columns';
COMMENT ON COLUMN dp_cdp.protected.through IS 'columns of the foreign key that leads to the person; NULL with unit NULL: each row is a person';
COMMENT ON COLUMN dp_cdp.protected.block IS 'column that says in which block of time a row is';

GRANT SELECT ON dp_cdp.budgets, dp_cdp.releases, dp_cdp.datasets, dp_cdp.settings, dp_cdp.protected, dp_cdp.blocks TO PUBLIC;

-- =========================================================================
-- 7. What analysts write (src/guard, src/release)
-- =========================================================================

-- These aggregates are never run: the guard replaces them by exact states
-- and noise.  One that it did not replace ends in an error when it is
-- planned, in the input function of its state type.

CREATE TYPE dp_cdp_internal.unreleased;

CREATE FUNCTION dp_cdp_internal.unreleased_in(cstring) RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_in' LANGUAGE C IMMUTABLE STRICT PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_out(dp_cdp_internal.unreleased) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_unreleased_out' LANGUAGE C IMMUTABLE STRICT PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_in(cstring), dp_cdp_internal.unreleased_out(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE TYPE dp_cdp_internal.unreleased (
	INPUT = dp_cdp_internal.unreleased_in, OUTPUT = dp_cdp_internal.unreleased_out,
	INTERNALLENGTH = 4, PASSEDBYVALUE, ALIGNMENT = int4, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp_internal.unreleased FROM PUBLIC;
COMMENT ON TYPE dp_cdp_internal.unreleased IS 'state of private aggregates, which are never run as such';


CREATE FUNCTION dp_cdp_internal.unreleased_bigint(dp_cdp_internal.unreleased) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_bigint(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp_internal.unreleased_float(dp_cdp_internal.unreleased) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_float(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp_internal.unreleased_numeric(dp_cdp_internal.unreleased) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_numeric(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased) RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any"),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any")
	FROM PUBLIC;

CREATE AGGREGATE @extschema@.dp_count(*) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count(*) IS
	'noisy number of rows, a privacy unit counting for at most max_rows in each group';
CREATE AGGREGATE @extschema@.dp_count("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_count("any") IS
	'noisy number of rows where the argument is not NULL. With DISTINCT it counts values, of which a privacy unit supports at most max_rows, or units';
-- averages and spreads; their bounds are those of a row's value
CREATE FUNCTION dp_cdp_internal.unreleased_floats(dp_cdp_internal.unreleased) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_bigints(dp_cdp_internal.unreleased) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, anycompatible, anycompatible) RETURNS anycompatible
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision[]) RETURNS anyarray
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision, anycompatible, anycompatible) RETURNS anycompatible
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision[], anycompatible, anycompatible) RETURNS anycompatiblearray
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.unreleased_floats(dp_cdp_internal.unreleased),
	dp_cdp_internal.unreleased_bigints(dp_cdp_internal.unreleased),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, anycompatible, anycompatible),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision[]),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision, anycompatible, anycompatible),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision[], anycompatible, anycompatible),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any"),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any"),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any", "any")
	FROM PUBLIC;

CREATE AGGREGATE @extschema@.dp_avg("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg("any") IS
	'noisy average; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_avg("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg("any", numeric, numeric) IS
	'noisy average; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_avg("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg("any", double precision, double precision) IS
	'noisy average; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_avg("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg("any", text, text) IS
	'noisy average; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_variance("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance("any") IS
	'noisy sample variance; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_variance("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance("any", numeric, numeric) IS
	'noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_variance("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance("any", double precision, double precision) IS
	'noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_variance("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance("any", text, text) IS
	'noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_var_samp("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp("any") IS
	'noisy sample variance; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_var_samp("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp("any", numeric, numeric) IS
	'noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_var_samp("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp("any", double precision, double precision) IS
	'noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_var_samp("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp("any", text, text) IS
	'noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_var_pop("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop("any") IS
	'noisy population variance; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_var_pop("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop("any", numeric, numeric) IS
	'noisy population variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_var_pop("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop("any", double precision, double precision) IS
	'noisy population variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_var_pop("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop("any", text, text) IS
	'noisy population variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev("any") IS
	'noisy sample standard deviation; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_stddev("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev("any", numeric, numeric) IS
	'noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev("any", double precision, double precision) IS
	'noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev("any", text, text) IS
	'noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev_samp("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp("any") IS
	'noisy sample standard deviation; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_stddev_samp("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp("any", numeric, numeric) IS
	'noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev_samp("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp("any", double precision, double precision) IS
	'noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev_samp("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp("any", text, text) IS
	'noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev_pop("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop("any") IS
	'noisy population standard deviation; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_stddev_pop("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop("any", numeric, numeric) IS
	'noisy population standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev_pop("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop("any", double precision, double precision) IS
	'noisy population standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_stddev_pop("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop("any", text, text) IS
	'noisy population standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_covariance("any", "any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covariance("any", "any") IS
	'noisy sample covariance; the bounds of the values are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_covariance("any", "any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covariance("any", "any", numeric, numeric, numeric, numeric) IS
	'noisy sample covariance; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_covariance("any", "any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covariance("any", "any", double precision, double precision, double precision, double precision) IS
	'noisy sample covariance; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_covar_samp("any", "any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covar_samp("any", "any") IS
	'noisy sample covariance; the bounds of the values are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_covar_samp("any", "any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covar_samp("any", "any", numeric, numeric, numeric, numeric) IS
	'noisy sample covariance; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_covar_samp("any", "any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covar_samp("any", "any", double precision, double precision, double precision, double precision) IS
	'noisy sample covariance; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_covar_pop("any", "any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covar_pop("any", "any") IS
	'noisy population covariance; the bounds of the values are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_covar_pop("any", "any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covar_pop("any", "any", numeric, numeric, numeric, numeric) IS
	'noisy population covariance; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_covar_pop("any", "any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_covar_pop("any", "any", double precision, double precision, double precision, double precision) IS
	'noisy population covariance; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_correlation("any", "any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_correlation("any", "any") IS
	'noisy correlation; the bounds of the values are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_correlation("any", "any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_correlation("any", "any", numeric, numeric, numeric, numeric) IS
	'noisy correlation; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_correlation("any", "any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_correlation("any", "any", double precision, double precision, double precision, double precision) IS
	'noisy correlation; lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_regr_slope("any", "any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_regr_slope("any", "any") IS
	'noisy slope of the regression of the 1st argument on the 2nd. The bounds of the values are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_regr_slope("any", "any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_regr_slope("any", "any", numeric, numeric, numeric, numeric) IS
	'noisy slope of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_regr_slope("any", "any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_regr_slope("any", "any", double precision, double precision, double precision, double precision) IS
	'noisy slope of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_regr_intercept("any", "any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_regr_intercept("any", "any") IS
	'noisy intercept of the regression of the 1st argument on the 2nd. The bounds of the values are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_regr_intercept("any", "any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_regr_intercept("any", "any", numeric, numeric, numeric, numeric) IS
	'noisy intercept of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd';
CREATE AGGREGATE @extschema@.dp_regr_intercept("any", "any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_regr_intercept("any", "any", double precision, double precision, double precision, double precision) IS
	'noisy intercept of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd';

-- quantiles and histograms
CREATE AGGREGATE @extschema@.dp_median(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(anyelement) IS
	'noisy median; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_median(anycompatible, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(anycompatible, anycompatible, anycompatible) IS
	'noisy median; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_min(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_min(anyelement) IS
	'noisy least value, as far as noise lets it be seen. The bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_min(anycompatible, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_min(anycompatible, anycompatible, anycompatible) IS
	'noisy least value, as far as noise lets it be seen. Each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_max(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_max(anyelement) IS
	'noisy greatest value, as far as noise lets it be seen. The bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_max(anycompatible, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_max(anycompatible, anycompatible, anycompatible) IS
	'noisy greatest value, as far as noise lets it be seen. Each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_quantile(anyelement, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anyelement, double precision) IS
	'noisy quantile q (2nd argument, 0 .. 1); the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_quantile(anycompatible, double precision, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anycompatible, double precision, anycompatible, anycompatible) IS
	'noisy quantile q (2nd argument, 0 .. 1); each value is clamped to lower (3rd argument) .. upper (4th argument)';
CREATE AGGREGATE @extschema@.dp_quantile(anyelement, double precision[]) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anyelement, double precision[]) IS
	'noisy quantiles at one charge; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_quantile(anycompatible, double precision[], anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anycompatible, double precision[], anycompatible, anycompatible) IS
	'noisy quantiles at one charge; each value is clamped to lower (3rd argument) .. upper (4th argument)';
CREATE AGGREGATE @extschema@.dp_histogram("any", integer) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigints, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_histogram("any", integer) IS
	'noisy counts in bins (2nd argument) of equal width; the bounds are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_histogram(anycompatible, anycompatible, anycompatible, integer) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigints, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_histogram(anycompatible, anycompatible, anycompatible, integer) IS
	'noisy counts in bins (4th argument) of equal width from lower (2nd argument) to upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_clipped("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped("any") IS
	'noisy share of rows outside of the bounds of set_bounds';
CREATE AGGREGATE @extschema@.dp_clipped(anycompatible, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped(anycompatible, anycompatible, anycompatible) IS
	'noisy share of rows outside of lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_mode(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_mode(anyelement) IS
	'most frequent value, by noisy counts; one of the declared keys';
CREATE AGGREGATE @extschema@.dp_bounds("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_floats, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_bounds("any") IS
	'bounds that hold nearly all values, from a noisy histogram over powers of two. NULL: noise hides all of it';

-- the error of an answer, beside it
CREATE FUNCTION @extschema@.dp_noise_stddev("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_noise_stddev("any") IS
	'standard deviation of the noise in a private aggregate, free of charge';
CREATE FUNCTION @extschema@.dp_margin("any", confidence double precision DEFAULT 0.95) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_margin("any", double precision) IS
	'half the width of an interval around a private aggregate, free of charge. With this confidence the interval holds the value without noise, and without the cut of a limit that was found. The cut is estimated: people whom the noise hides may have more rows';
CREATE FUNCTION @extschema@.dp_error_stddev("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_error_stddev("any") IS
	'standard deviation of the error of a private aggregate, free of charge. The error is its noise and, by estimate, the part of a count or sum that a limit that was found has cut';
CREATE FUNCTION @extschema@.dp_cut("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_cut("any") IS
	'share of people''s contributions to a private aggregate that the limit found for it cuts, by estimate, free of charge. NULL: limits are set';
CREATE FUNCTION dp_cdp_internal.only_one(bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_only_one' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.only_one(bigint) IS
	'1, which a LIMIT has to be; refuses all else';
CREATE FUNCTION dp_cdp.rest() RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_rest' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rest() IS
	'whether a row is of all groups that are not shown, where groups are found privately. GROUP BY dp_cdp.rest() asks for that row, as dp_cdp.rest does for all queries. Elsewhere it is false';
CREATE FUNCTION dp_cdp_internal.margin(stddev double precision, confidence double precision) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_normal_margin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.margin(double precision, double precision) IS
	'half the width of the interval that holds a normal deviate with this confidence';

-- =========================================================================
-- 8. Variants of built-in functions that cannot fail (src/safe)
-- =========================================================================

-- Each try_f returns what the built-in f returns, or NULL where that would
-- raise an error.  Inside of a private query they take the place of the
-- built-ins, and run with the rights of the table's owner; PUBLIC keeps
-- EXECUTE, because they are harmless.

-- integers
CREATE FUNCTION dp_cdp_internal.try_add(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_add_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_divide_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_mod_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_mod_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_mod_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_negate(int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_negate_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_abs(int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_abs_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_negate(int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_negate_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_abs(int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_abs_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_negate(int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_negate_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_abs(int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_abs_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- floating point
CREATE FUNCTION dp_cdp_internal.try_add(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_add_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_divide_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sqrt(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_sqrt_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ln(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_ln_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_log(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_log_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_exp(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_exp_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_power(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_power_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_width_bucket(float8, float8, float8, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_width_bucket_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sin(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_sin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cos(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cos' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_tan(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_tan' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cot(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cot' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sind(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_sind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cosd(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cosd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_tand(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_tand' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cotd(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cotd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_asin(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_asin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_acos(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_acos' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_asind(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_asind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_acosd(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_acosd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_acosh(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_acosh' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_atanh(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_atanh' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_radians(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_radians' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_degrees(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_degrees' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- numeric
CREATE FUNCTION dp_cdp_internal.try_add(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_add_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_subtract_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_multiply_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_divide_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_mod_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ceil(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_ceil_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_floor(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_floor_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sqrt(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_sqrt_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_round(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_round0_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_round(numeric, int4) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_round_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_width_bucket(numeric, numeric, numeric, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_width_bucket_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- casts between numbers
CREATE FUNCTION dp_cdp_internal.try_int2(int4) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(int8) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(int8) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float4(float8) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_float4_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(float4) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(float4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(float4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(float8) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(float8) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(float8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(numeric) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(numeric) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(numeric) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float4(numeric) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_float4_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float8(numeric) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_float8_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_numeric(numeric, int4) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_numeric_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- strings
CREATE FUNCTION dp_cdp_internal.try_lower(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_upper(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_initcap(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_initcap' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_concat(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_length(text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_length_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_length(bpchar) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_length_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_btrim(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_btrim' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ltrim(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_ltrim' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rtrim(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rtrim' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_btrim(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_btrim_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ltrim(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_ltrim_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rtrim(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rtrim_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_left(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_left' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_right(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_right' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_reverse(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_reverse' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_substring(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_substring_from' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_substring(text, int4, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_substring' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_replace(text, text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_replace' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_split_part(text, text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_split_part' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_translate(text, text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_translate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ascii(text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_ascii' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_starts_with(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_starts_with' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.text_starts_with_support;
CREATE FUNCTION dp_cdp_internal.try_strpos(text, text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_strpos' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_like(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textlike_support;
CREATE FUNCTION dp_cdp_internal.try_like(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textlike_support;
CREATE FUNCTION dp_cdp_internal.try_like(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textlike_support;
CREATE FUNCTION dp_cdp_internal.try_not_like(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_like(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_like(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ilike(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticlike_support;
CREATE FUNCTION dp_cdp_internal.try_ilike(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticlike_support;
CREATE FUNCTION dp_cdp_internal.try_ilike(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticlike_support;
CREATE FUNCTION dp_cdp_internal.try_not_ilike(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_ilike(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_ilike(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_matches(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_matches' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textregexeq_support;
CREATE FUNCTION dp_cdp_internal.try_matches(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_matches' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textregexeq_support;
CREATE FUNCTION dp_cdp_internal.try_imatches(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_imatches' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticregexeq_support;
CREATE FUNCTION dp_cdp_internal.try_imatches(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_imatches' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticregexeq_support;
CREATE FUNCTION dp_cdp_internal.try_regexp_substr(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_regexp_substr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_regexp_replace(text, text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_regexp_replace' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_regexp_replace(text, text, text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_regexp_replace' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text_search(text, text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_text_search' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_lpad(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_lpad' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_lpad(text, int4, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_lpad_fill' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rpad(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rpad' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rpad(text, int4, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rpad_fill' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- casts to and from text
CREATE FUNCTION dp_cdp_internal.try_text(int2) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(int8) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(numeric) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(uuid) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(date) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(timestamp) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(timestamptz) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(anyenum) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_enum' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(bpchar) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_name(text) RETURNS name
	AS 'MODULE_PATHNAME', 'dp_try_name_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_varchar(varchar, int4, boolean) RETURNS varchar
	AS 'MODULE_PATHNAME', 'dp_try_varchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_bpchar(bpchar, int4, boolean) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_try_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(text) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(text) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float8(text) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_float8_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_numeric(text) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_numeric_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date(text) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_date_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_bool(text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_bool_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_time(text) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_time_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamp(text) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(text) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_text' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_interval(text) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_interval_text' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_uuid(text) RETURNS uuid
	AS 'MODULE_PATHNAME', 'dp_try_uuid_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- dates and times
CREATE FUNCTION dp_cdp_internal.try_timestamp(date) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(date) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(timestamp) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamp(timestamptz) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date(timestamptz) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_date_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_time(timestamptz) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_time_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamp(timestamp, int4) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(timestamptz, int4) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(date, date) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(date, int4) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_add_date_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, date) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_add_int4_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(date, int4) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(date, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_date_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(interval, date) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(date, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_clock_add(time, interval) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_clock_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_clock_add(interval, time) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_clock_add_to' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_clock_subtract(time, interval) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_clock_subtract' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(timestamp, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_timestamp_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(interval, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamp, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(timestamptz, interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_add_timestamptz_interval' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(interval, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamptz, interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamptz_interval' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamp, timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_age(timestamp, timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamptz, timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_age(timestamptz, timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
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
CREATE FUNCTION dp_cdp_internal.try_extract(text, date) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, date) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, time) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, time) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, timestamp) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, timestamp) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, timestamptz) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, timestamptz) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, interval) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, interval) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_trunc(text, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_trunc(text, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_trunc(text, timestamptz, text) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_zone' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(interval, float8) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_multiply_interval_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float8, interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float8_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timezone(text, timestamp) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timezone_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timezone(text, timestamptz) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timezone_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_to_char(timestamp, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_to_char_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_to_char(timestamptz, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_to_char_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- What aggregates of numeric add up in a subquery over one privacy unit: the argument,
-- or NULL where it is so large that the aggregate might overflow.
CREATE FUNCTION dp_cdp_internal.try_summand(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_summand_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_summand(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_summand_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_summand(bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_try_summand_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_summand_squared(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_summand_squared_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- looking into jsonb
CREATE FUNCTION dp_cdp_internal.try_json_type(jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_json_type' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_exists(jsonb, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_json_exists' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_exists_any(jsonb, text[]) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_json_exists_any' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_exists_all(jsonb, text[]) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_json_exists_all' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_array_length(jsonb) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_json_array_length' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
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
CREATE FUNCTION dp_cdp_internal.try_json_keys(jsonb) RETURNS text[]
	AS 'MODULE_PATHNAME', 'dp_try_json_keys' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_values(jsonb) RETURNS text[]
	AS 'MODULE_PATHNAME', 'dp_try_json_values' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_elements(jsonb) RETURNS text[]
	AS 'MODULE_PATHNAME', 'dp_try_json_elements' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- looking into arrays
CREATE FUNCTION dp_cdp_internal.try_array(anyarray) RETURNS anyarray
	AS 'MODULE_PATHNAME', 'dp_try_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_element(anyarray, int4) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_try_element' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_contains(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_contained(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_overlap(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_overlap' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cardinality(anyarray) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_cardinality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_array_length(anyarray, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_array_length' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_equal(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_unequal(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_array_to_string(anyarray, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_array_to_string' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_string_to_array(text, text) RETURNS text[]
	AS 'MODULE_PATHNAME', 'dp_try_string_to_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_regexp_split_to_array(text, text) RETURNS text[]
	AS 'MODULE_PATHNAME', 'dp_try_regexp_split_to_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_array_position(anycompatiblearray, anycompatible) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_array_position' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- addresses
CREATE FUNCTION dp_cdp_internal.try_set_masklen(inet, int4) RETURNS inet
	AS 'MODULE_PATHNAME', 'dp_try_set_masklen_inet' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_set_masklen(cidr, int4) RETURNS cidr
	AS 'MODULE_PATHNAME', 'dp_try_set_masklen_cidr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- A call of a function of PostgreSQL's with released values, NULL where it fails; a value, NULL
-- where none of a type can be made of it.  Private queries call them alone (src/safe/caught.c).
CREATE FUNCTION dp_cdp_internal.null_on_error(VARIADIC arguments "any") RETURNS "any"
	AS 'MODULE_PATHNAME', 'dp_null_on_error' LANGUAGE C STABLE;
CREATE FUNCTION dp_cdp_internal.null_unless_valid(of_type regtype, value "any") RETURNS "any"
	AS 'MODULE_PATHNAME', 'dp_null_unless_valid' LANGUAGE C STABLE STRICT;

-- one representation of equal group keys
CREATE FUNCTION dp_cdp_internal.canonical(float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_canonical_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.canonical(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_canonical_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.canonical(bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_canonical_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Points of time from the 1st argument to the 2nd, both among them, so many microseconds (of dates, days' worth) apart,
-- and NULL, if asked for: they stand for a column where keys are made of it.  Between them are the moments of the 5th
-- argument, with others near them if they are spread, and the times of the 7th on each day.
CREATE FUNCTION dp_cdp_internal.time_points(date, date, bigint, boolean, date[], boolean, time[]) RETURNS SETOF date
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.time_points(timestamp, timestamp, bigint, boolean, timestamp[], boolean, time[]) RETURNS SETOF timestamp
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.time_points(timestamptz, timestamptz, bigint, boolean, timestamptz[], boolean, time[]) RETURNS SETOF timestamptz
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C STABLE PARALLEL SAFE;

-- The cells into which constants divide the values of a type: the number of the cell that a constant is; those that have
-- values, of whole numbers only (2nd argument), and NULL (3rd).  They stand for what keys compare with these constants.
CREATE FUNCTION dp_cdp_internal.cell_of(anyelement, anyarray) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_cell_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.cells(anyarray, boolean, boolean) RETURNS integer[]
	AS 'MODULE_PATHNAME', 'dp_cells' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- What may be used on rows of protected tables, and how it is treated there:
-- as it stands, replaced by its total variant, with constants only, added by
-- a superuser, or, "per unit", as an aggregate in a subquery that groups by the
-- privacy unit; total is then a function that its argument goes through, or an
-- aggregate that is run in its place.
CREATE FUNCTION dp_cdp.allowed_functions(OUT function regprocedure, OUT treatment text,
										 OUT total regprocedure, OUT constant_arguments int[])
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_allowed_functions_sql' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.allowed_functions() IS
	'functions that may be used on rows of protected tables. Some are used as they are, some as a total variant that is NULL instead of an error, and some with constants only. Some are aggregates for a subquery that groups by the privacy unit, and some were added by allow_function';

CREATE FUNCTION dp_cdp.allow_function(function regprocedure) RETURNS regprocedure
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_allow_function';
REVOKE ALL ON FUNCTION dp_cdp.allow_function(regprocedure) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.allow_function(regprocedure) IS
	'lets a function be used on rows of protected tables, for superusers. It runs on raw rows with the rights of the table''s owner. It must never raise an error, send a message or have an effect that depends on a row. It returns the function';

CREATE FUNCTION dp_cdp.disallow_function(function regprocedure) RETURNS regprocedure
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_disallow_function';
REVOKE ALL ON FUNCTION dp_cdp.disallow_function(regprocedure) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.disallow_function(regprocedure) IS
	'takes back what dp_cdp.allow_function allowed, for superusers. Prepared queries that use the function are refused from then on. It returns the function';

-- =========================================================================
-- 9. Whether the rows are as the policy says, for owners who may read them
-- =========================================================================

-- Everything here is for who calls, and is told to nobody else.  dp_cdp_internal.may_read() comes first: a role that may not
-- read a table would be given a private answer instead, and pay for it.  Rows are read as the table's owner (row_checks.c).

CREATE OR REPLACE FUNCTION dp_cdp_internal.may_read("table" regclass) RETURNS boolean
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_may_read_rows';

-- What to name in place of a name that is no dataset's: that of the table which bears it, with its schema or without.
CREATE OR REPLACE FUNCTION dp_cdp_internal.hint_of_dataset(asked text) RETURNS text
	LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
SELECT coalesce(string_agg(format('Table %s is protected in dataset %s: name %2$L.', p."table", p.dataset), ' ' ORDER BY p."table"::text),
	'SELECT dataset FROM dp_cdp.datasets names those that are there.')
FROM dp_cdp.protected p JOIN pg_class c ON c.oid = p."table" WHERE asked IN (c.relname, p."table"::text)
$$;

-- The rows of a table as t0, joined along foreign keys with those that name the
-- person; person is NULL where each row of the table is one.
CREATE OR REPLACE FUNCTION dp_cdp_internal.people_source("table" regclass, OUT source text, OUT person text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	at regclass := people_source."table";
	policy record;
	referenced regclass;
	condition text;
BEGIN
	FOR step IN 0 .. 100 LOOP
		IF NOT dp_cdp_internal.may_read(at) THEN
			RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE =
				CASE WHEN pg_catalog.has_table_privilege(at, 'SELECT') AND session_user <> current_user
					THEN format('must be allowed to read the rows of table %s, to check them: role "%s" may, and login role "%s" may not; log in as a role that may',
						at, current_user, session_user)
				ELSE format('must be allowed to read the rows of table %s, to check them: have SELECT on it granted', at) END;
		ELSIF pg_catalog.row_security_active(at) THEN
			RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE =
				format('must be allowed to read all rows of table %s, to check them: row-level security hides some from role "%s"', at, current_user);
		END IF;
		source := coalesce(source || format(' LEFT JOIN %s AS t%s ON %s', at, step, condition), format('%s AS t0', at));
		-- a partition has the policy of the table that it is one of
		SELECT p.unit, p.through INTO policy FROM dp_cdp.protected p
			WHERE p."table" = at OR p."table" IN (SELECT a.relid FROM pg_partition_ancestors(at) a(relid));
		IF policy.unit IS NOT NULL THEN
			person := format('t%s.%I', step, policy.unit);
		ELSIF policy.through IS NULL AND step > 0 THEN
			person := format('(t%s.tableoid, t%1$s.ctid)', step);
		END IF;
		EXIT WHEN policy.unit IS NOT NULL OR policy.through IS NULL;
		SELECT f.confrelid::regclass, string_agg(format('t%s.%I OPERATOR(%I.%s) t%s.%I',
				step + 1, r.attname, n.nspname, o.oprname, step, a.attname), ' AND ') INTO referenced, condition
			FROM pg_constraint f CROSS JOIN LATERAL unnest(f.conkey, f.confkey, f.conpfeqop) c(here, there, operator)
				JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = c.here
				JOIN pg_attribute r ON r.attrelid = f.confrelid AND r.attnum = c.there
				JOIN pg_operator o ON o.oid = c.operator JOIN pg_namespace n ON n.oid = o.oprnamespace
			WHERE f.contype = 'f' AND f.conrelid = at AND f.convalidated
			GROUP BY f.oid, f.confrelid
			HAVING string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) = policy.through
			ORDER BY f.oid LIMIT 1;
		-- check_setup() says what has become of the key
		EXIT WHEN referenced IS NULL;
		at := referenced;
	END LOOP;
END $$;

-- What of a column's policy is not of its type any more, which was changed; NULL: nothing.
CREATE OR REPLACE FUNCTION dp_cdp_internal.unfit_policy("table" regclass, "column" name, declared jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD'
	AS $$
DECLARE
	type oid;
	base oid;
	category "char";
BEGIN
	SELECT t.oid, coalesce(nullif(t.typbasetype, 0), t.oid), t.typcategory INTO type, base, category FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = unfit_policy."table" AND a.attname = unfit_policy."column";
	IF declared ? 'lower' AND category <> (CASE jsonb_typeof(declared -> 'lower') WHEN 'number' THEN 'N' ELSE 'D' END) THEN
		RETURN format('its bounds %s and %s are not of its type %s', declared ->> 'lower', declared ->> 'upper', format_type(type, NULL));
	-- of PostgreSQL's own types alone: no code of the table's owner runs here
	ELSIF declared ? 'keys' AND base < 16384 THEN
		BEGIN
			EXECUTE format('SELECT FROM jsonb_array_elements_text($1) k WHERE k::%s IS NULL', format_type(base, NULL)) USING declared -> 'keys';
		EXCEPTION WHEN data_exception THEN
			RETURN format('its declared keys are not of its type %s', format_type(type, NULL));
		END;
	END IF;
	RETURN NULL;
END $$;

-- What is declared of a column beside what its rows have.  keys: what dp_cdp.declared_keys() says, for its owner, or NULL.
CREATE OR REPLACE FUNCTION dp_cdp_internal.check_column("table" regclass, "column" name, declared jsonb, keys jsonb, source text, person text)
	RETURNS TABLE(severity text, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD'
	AS $$
#variable_conflict use_column
DECLARE
	value text := format('t0.%I', check_column."column");
	its_rows text := format('%s AS t0', check_column."table");
	type text := (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
		WHERE a.attrelid = check_column."table" AND a.attname = check_column."column");
	bound text := CASE jsonb_typeof(declared -> 'lower') WHEN 'number' THEN 'numeric' ELSE type END;
	them text := format('%L, %L', check_column."table", check_column."column");
	unfit text := dp_cdp_internal.unfit_policy(check_column."table", check_column."column", declared);
	missing text;
	n record;
BEGIN
	IF unfit IS NOT NULL THEN
		RETURN QUERY SELECT 'warning', unfit, NULL::bigint, format('SELECT dp_cdp.set_bounds(%1$s, ...) or dp_cdp.set_keys(%1$s, ...), or drop_bounds and drop_keys', them);
		RETURN;
	END IF;
	IF declared ? 'lower' THEN
		EXECUTE format('SELECT count(*) FILTER (WHERE %1$s < $1::%2$s OR %1$s > $2::%2$s) AS outside, count(%1$s) AS whole FROM %3$s',
			value, bound, its_rows) INTO n USING declared ->> 'lower', declared ->> 'upper';
		RETURN QUERY SELECT 'warning', format('%s of %s values are outside of the bounds %s and %s, and count as the nearer one', n.outside, n.whole,
				declared ->> 'lower', declared ->> 'upper'), n.outside,
			format('SELECT dp_cdp.set_bounds(%s, lower, upper), with bounds that are publicly plausible', them) WHERE n.outside > 0;
		IF bound = 'numeric' THEN
			EXECUTE format('SELECT count(*) FILTER (WHERE 10 * abs(%1$s::numeric) > greatest(abs($1::numeric), abs($2::numeric))) AS far, count(%1$s) AS whole FROM %2$s',
				value, its_rows) INTO n USING declared ->> 'lower', declared ->> 'upper';
			-- the values themselves are not told: bounds that follow them would be told to analysts
			RETURN QUERY SELECT 'info', format('each of %s values is within a tenth of the bounds %s and %s: sums have at least ten times the noise of narrower bounds', n.whole,
					declared ->> 'lower', declared ->> 'upper'), n.whole,
				format('SELECT dp_cdp.set_bounds(%s, lower, upper), with narrower bounds if these are publicly plausible', them) WHERE n.far = 0 AND n.whole >= 20;
		END IF;
	END IF;
	IF declared ? 'total_lower' AND person IS NOT NULL THEN
		EXECUTE format('SELECT count(*) FILTER (WHERE p.total < $1 OR p.total > $2) AS outside, count(*) AS whole'
			' FROM (SELECT sum(least(greatest(%s::numeric, $3), $4)) AS total FROM %s WHERE %s IS NOT NULL GROUP BY %3$s) p', value, source, person)
			INTO n USING (declared ->> 'total_lower')::numeric, (declared ->> 'total_upper')::numeric, (declared ->> 'lower')::numeric, (declared ->> 'upper')::numeric;
		RETURN QUERY SELECT 'warning', format('the values of %s of %s people add up to less than %s or more than %s, and are cut to that',
				n.outside, n.whole, declared ->> 'total_lower', declared ->> 'total_upper'), n.outside,
			format('SELECT dp_cdp.set_bounds(%s, %s, %s, total_lower, total_upper), with totals that are publicly plausible',
				them, declared ->> 'lower', declared ->> 'upper') WHERE n.outside > 0;
	END IF;
	IF NOT declared ? 'keys' THEN
		RETURN;
	END IF;
	-- by the equality of GROUP BY
	EXECUTE format('SELECT coalesce(sum(g.rows) FILTER (WHERE g.key IS NULL), 0)::bigint AS nulls,'
		' coalesce(sum(g.rows) FILTER (WHERE g.key IS NOT NULL AND NOT g.declared), 0)::bigint AS others,'
		' count(*) FILTER (WHERE g.rows = 0 AND g.key IS NOT NULL) AS missing, coalesce(sum(g.rows), 0) > 0 AS any_row,'
		' array_to_string((array_agg(g.key::text ORDER BY g.key::text) FILTER (WHERE g.rows = 0 AND g.key IS NOT NULL))[1:5], '', '') AS names'
		' FROM (SELECT k.key, sum(k.rows) AS rows, bool_or(k.declared) AS declared'
		' FROM (SELECT %s AS key, count(*) AS rows, false AS declared FROM %s GROUP BY 1 UNION ALL SELECT d.key::%s, 0, true FROM unnest($1) d(key)) k'
		' GROUP BY k.key) g', value, its_rows, type)
		INTO n USING ARRAY(SELECT jsonb_array_elements_text(keys));
	missing := n.names || CASE WHEN n.missing > 5 THEN ', ...' ELSE '' END;
	RETURN QUERY SELECT 'info', format('%s rows have NULL here', n.nulls), n.nulls,
			format('ALTER TABLE %s ALTER %I SET NOT NULL once they have a value, where NULL is to be no group',
				check_column."table", check_column."column") WHERE n.nulls > 0
		UNION ALL SELECT 'warning', format('%s rows have a value that is no declared key: they are in no group', n.others), n.others,
			format('SELECT dp_cdp.set_keys(%s, ...), with all keys that are publicly known', them) WHERE n.others > 0
		UNION ALL SELECT 'info', format(CASE n.missing WHEN 1 THEN '%s declared key has no row: its group is noise around 0: %s' ELSE '%s declared keys have no row: their groups are noise around 0: %s' END, n.missing, missing), n.missing,
			'leave them out of the keys if everybody knows that they have no row' WHERE n.missing > 0 AND n.any_row;
END $$;

-- What the rows of a table tell of its people, where one counts with "most" rows, which is a norm or max_rows, in so many groups:
-- of limits alone, or all; of the groups by one column with declared keys (at), or of all columns and of rows.
CREATE OR REPLACE FUNCTION dp_cdp_internal.people_findings("table" regclass, at name, limits_only boolean, most numeric, of_norm boolean, most_groups int,
		source text, person text) RETURNS TABLE(severity text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	t record;
	keyed record;
	n record;
	g record;
BEGIN
	SELECT p.* INTO t FROM dp_cdp.protected p WHERE p."table" = people_findings."table";
	IF person IS NULL THEN
		RETURN;
	END IF;
	IF at IS NULL AND NOT (limits_only AND most IS NULL) THEN
		-- heaviest are the people with most rows, one in a hundred
		EXECUTE format('SELECT coalesce(sum(p.rows) FILTER (WHERE p.nobody), 0)::bigint AS of_nobody,'
			' count(*) FILTER (WHERE NOT p.nobody) AS whole, coalesce(sum(p.rows) FILTER (WHERE NOT p.nobody), 0)::bigint AS rows,'
			' count(*) FILTER (WHERE NOT p.nobody AND p.rows > $1) AS above, coalesce(round(sum(p.rows - $1) FILTER (WHERE NOT p.nobody AND p.rows > $1)), 0) AS cut,'
			' count(*) FILTER (WHERE p.place <= p.heaviest) AS heaviest, coalesce(sum(p.rows) FILTER (WHERE p.place <= p.heaviest), 0)::bigint AS of_heaviest'
			' FROM (SELECT h.rows, h.nobody, row_number() OVER (PARTITION BY h.nobody ORDER BY h.rows DESC) AS place,'
			' CASE WHEN NOT h.nobody THEN ceil(count(*) OVER (PARTITION BY h.nobody) / 100.0) END AS heaviest'
			' FROM (SELECT count(*) AS rows, %2$s IS NULL AS nobody FROM %1$s GROUP BY %2$s) h) p', source, person) INTO n USING most;
		RETURN QUERY SELECT 'warning', NULL::name, format('%s rows belong to nobody, and count in no answer', n.of_nobody), n.of_nobody,
				'give each row its person, and declare the column NOT NULL' WHERE n.of_nobody > 0 AND NOT limits_only
			UNION ALL SELECT 'warning', t.unit, format('%s rows have %s different values here: is each of them one person?', n.rows, n.whole), n.whole,
				format('SELECT dp_cdp.unprotect_table(%1$L), and dp_cdp.protect_table(%1$L, %2$L, unit => ...) with the column that says whose row it is, if it is another', t."table", t.dataset)
				WHERE t.unit IS NOT NULL AND n.whole < 100 AND n.rows > n.whole * CASE WHEN n.whole < 10 THEN 10 ELSE 1000 END AND NOT limits_only
			UNION ALL SELECT 'warning', NULL,
				CASE WHEN of_norm THEN format('%s of %s people have more than %s rows (max_contribution), and are scaled down to that: a count lacks %s of %s rows', n.above, n.whole, most, n.cut, n.rows)
					ELSE format('%2$s of %3$s people have more than %1$s rows (max_rows): in one group at most %1$s of each count', most, n.above, n.whole) END,
				n.above, format('SELECT * FROM dp_cdp.suggest_limits(%L, rho => ...), which finds a limit privately', t."table") WHERE n.above > 0;
	END IF;
	FOR keyed IN SELECT a.attname, c.value FROM jsonb_each(t.columns) c JOIN pg_attribute a ON a.attrelid = t."table" AND a.attname = c.key
			WHERE most_groups IS NOT NULL AND c.value ? 'keys' AND a.attname = coalesce(at, a.attname)
				AND dp_cdp_internal.unfit_policy(t."table", a.attname, c.value) IS NULL ORDER BY a.attnum LOOP
		EXECUTE format('SELECT count(*) FILTER (WHERE p.groups > $1) AS above, count(*) AS whole'
			' FROM (SELECT count(DISTINCT t0.%I) AS groups FROM %s WHERE %s IS NOT NULL GROUP BY %3$s) p', keyed.attname, source, person)
			INTO g USING most_groups;
		RETURN QUERY SELECT 'warning', keyed.attname,
			format('%s of %s people are in more than %s of its groups (max_groups), and count in so many alone', g.above, g.whole, most_groups),
			g.above, format('SELECT dp_cdp.alter_dataset(%L, max_groups => ...), or a max_contribution instead', t.dataset) WHERE g.above > 0;
	END LOOP;
	IF at IS NULL AND NOT limits_only THEN
		RETURN QUERY SELECT 'info', NULL::name,
			format('the %s people with most rows, of %s, have %s of %s rows: a limit cuts much of that, or noise grows with it', n.heaviest, n.whole, n.of_heaviest, n.rows), n.of_heaviest,
			format('SELECT * FROM dp_cdp.suggest_limits(%L, rho => ...) finds a limit privately, and dp_cdp.alter_dataset(%L, max_contribution => ...), or max_rows, declares it; dp_cut tells what a limit cuts that queries find', t."table", t.dataset)
			WHERE n.whole >= 20 AND 10 * n.of_heaviest > n.rows;
	END IF;
END $$;

-- What a declaration tells at once of the rows of a table that is read in a moment: of a column's bounds (of_bounds) or keys,
-- and without a column of whose rows they are (of_bounds), or of limits alone.
CREATE OR REPLACE FUNCTION dp_cdp_internal.findings_at_once("table" regclass, "column" name, of_bounds boolean, keys jsonb,
		most numeric, of_norm boolean, most_groups int) RETURNS TABLE(at_column name, finding text, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	asked regclass := findings_at_once."table";
	at name := findings_at_once."column";
	unread constant text := format('SELECT * FROM dp_cdp.check_data(%L) reads them', dp_cdp.dataset_of(asked));
	too_large boolean;
	people record;
BEGIN
	WITH RECURSIVE r AS (SELECT asked::oid AS relid UNION SELECT i.inhrelid FROM r JOIN pg_inherits i ON i.inhparent = r.relid)
	SELECT coalesce(sum(CASE WHEN c.relkind = 'f' THEN NULL ELSE pg_table_size(c.oid) END) > 134217728
			OR bool_or(c.relkind = 'f') OR bool_or(pg_table_size(c.oid) IS NULL), true) INTO too_large
		FROM r JOIN pg_class c ON c.oid = r.relid WHERE c.relkind <> 'p';
	IF too_large THEN
		RETURN QUERY SELECT at, 'its rows were not looked at, as they may be many', unread;
		RETURN;
	END IF;
	people := dp_cdp_internal.people_source(asked);
	RETURN QUERY SELECT at, f.finding, f.remedy FROM dp_cdp.protected p CROSS JOIN LATERAL dp_cdp_internal.check_column(p."table", at,
			(p.columns -> at::text) - CASE WHEN of_bounds THEN '{keys}'::text[] ELSE '{lower,upper,total_lower,total_upper}'::text[] END,
			keys, people.source, people.person) f
		WHERE p."table" = asked AND at IS NOT NULL
		UNION ALL SELECT f."column", f.finding, f.remedy
			FROM dp_cdp_internal.people_findings(asked, at, at IS NOT NULL OR NOT of_bounds, most, of_norm, most_groups, people.source, people.person) f
			WHERE f.severity = 'warning' AND (at IS NULL OR NOT of_bounds);
-- a declaration does not fail because its rows cannot be read
EXCEPTION WHEN OTHERS THEN
	RETURN QUERY SELECT at, 'its rows could not be looked at', unread;
END $$;

-- What check_data() tells of a table, where a person counts with "most" rows, which is a norm or max_rows, in so many groups.
CREATE OR REPLACE FUNCTION dp_cdp_internal.findings_of_table("table" regclass, most numeric, of_norm boolean, most_groups int, keys jsonb)
	RETURNS TABLE(severity text, object text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	t record;
	rows_of record;
	n record;
BEGIN
	SELECT p."table"::text AS name, p.* INTO t FROM dp_cdp.protected p WHERE p."table" = findings_of_table."table";
	rows_of := dp_cdp_internal.people_source(t."table");
	RETURN QUERY SELECT f.severity, t.name, f."column", f.finding, f.number, f.remedy
		FROM dp_cdp_internal.people_findings(t."table", NULL, false, most, of_norm, most_groups, rows_of.source, rows_of.person) f;
	IF t.block IS NOT NULL THEN
		EXECUTE format('SELECT count(*) AS rows FROM %s WHERE %I IS NULL', t."table", t.block) INTO n;
		RETURN QUERY SELECT 'info', t.name, t.block,
			format('%s rows have NULL here: they are in the first block of time, and only queries without a lower end read them', n.rows), n.rows,
			'give each row its time before the table is protected, or delete these and put them in anew: triggers keep rows in their blocks' WHERE n.rows > 0;
	END IF;
	RETURN QUERY SELECT f.severity, t.name, a.attname, f.finding, f.number, f.remedy
		FROM jsonb_each(t.columns) c JOIN pg_attribute a ON a.attrelid = t."table" AND a.attname = c.key
			CROSS JOIN LATERAL dp_cdp_internal.check_column(t."table", a.attname, c.value, keys -> c.key, rows_of.source, rows_of.person) f
		ORDER BY a.attnum;
END $$;

CREATE OR REPLACE FUNCTION dp_cdp_internal.check_table("table" regclass, most numeric, of_norm boolean, most_groups int, keys jsonb)
	RETURNS TABLE(severity text, object text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_check_table';

CREATE OR REPLACE FUNCTION dp_cdp.check_data(dataset text)
	RETURNS TABLE(severity text, object text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	asked text := check_data.dataset;
	cap record;
	t record;
	most numeric;
BEGIN
	SELECT d.*, pg_has_role(current_user, d.owner::oid, 'USAGE') AS own INTO cap FROM dp_cdp.datasets d WHERE d.dataset = asked;
	IF cap.dataset IS NULL THEN
		RAISE EXCEPTION 'dataset "%" does not exist, or is none of yours: see dp_cdp.datasets', asked
			USING ERRCODE = 'ZC004', HINT = dp_cdp_internal.hint_of_dataset(asked);
	ELSIF NOT coalesce(cap.own, (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user)) THEN
		RAISE EXCEPTION 'must be owner of dataset "%" to check its data', asked USING ERRCODE = 'insufficient_privilege';
	END IF;
	most := coalesce(cap.max_rows, nullif(cap.max_contribution, 'auto')::numeric);

	FOR t IN SELECT p."table", p.columns FROM dp_cdp.protected p WHERE p.dataset = asked ORDER BY p."table"::text LOOP
		RETURN QUERY SELECT * FROM dp_cdp_internal.check_table(t."table", most, cap.max_rows IS NULL, cap.max_groups,
			(SELECT jsonb_object_agg(c.key, dp_cdp.declared_keys(t."table", c.key::name)) FROM jsonb_each(t.columns) c
				WHERE c.value ? 'keys' AND dp_cdp_internal.unfit_policy(t."table", c.key::name, c.value) IS NULL));
	END LOOP;
END $$;
COMMENT ON FUNCTION dp_cdp.check_data(text) IS
	'where rows are not as the policy of a dataset says. It finds rows of nobody, and rows without time. It finds values out of bounds, bounds that are far too wide, undeclared keys, and units with few values. It finds people above limits, and people with much of the rows. It is for the owner of the dataset who may read all of its tables. It counts rows without noise and costs nothing, so its result is for no analyst';

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
-- =========================================================================
-- 10. At a glance: overview, metrics, and what a report shows
-- =========================================================================

-- Everything here reads what budgets, datasets and releases show and adds it
-- up; nothing is kept, and nothing runs with other rights than the caller's but
-- views, and setup_metrics(), which tells numbers of findings and no names.

CREATE OR REPLACE FUNCTION dp_cdp_internal.significant(x numeric, digits int DEFAULT 3) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN x IN ('NaN', 'Infinity', '-Infinity') OR x = 0 THEN trim_scale(x)
		ELSE trim_scale(round(x, digits - 1 - floor(log(abs(x)))::int)) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.significant(numeric, int) IS
	'a number with so many significant digits';

-- Rows of the log as sums need them: what they stand for, and for whose owner.
-- A checkpoint stands for rows that were pruned, up to its last_at: for each
-- balance one, so that of all checkpoints only the cap's is the dataset's.  What an
-- adoption adds to the log repeats rows that are there, and is no
-- spending of any day: neither granted, nor a checkpoint with last_at.
CREATE OR REPLACE VIEW dp_cdp_internal.log_sums WITH (security_barrier) AS
	SELECT l.id, l.dataset,
		CASE WHEN k.kind = 'checkpoint' THEN coalesce(l.last_at, l.released_at) ELSE l.released_at END AS at,
		dp_cdp_internal.known_role(l.role, l.role_name) AS role, l.role_name,
		dp_cdp_internal.known_role(l.session_role, l.session_role_name) AS session_role,
		l.application, l.aggregates, l.tables, l.query, l.reason, l.paid_by, k.kind,
		CASE WHEN l.granted OR (k.kind = 'checkpoint' AND l.last_at IS NOT NULL) THEN l.rho ELSE 0 END AS rho,
		CASE WHEN l.granted OR (k.kind = 'checkpoint' AND l.last_at IS NOT NULL) THEN l.delta ELSE 0 END AS delta,
		CASE WHEN k.kind = 'granted' THEN l.repeats ELSE 0 END AS answered,
		CASE WHEN k.kind IN ('refused', 'guard') THEN l.repeats ELSE 0 END AS refused,
		CASE WHEN k.kind = 'failed' THEN 1 ELSE 0 END AS failed,
		l.paid_by IS NULL OR d.ledger_id = ANY (l.paid_by) AS of_dataset,
		l.rho AS asked_rho
	FROM dp_cdp_internal.release_log l
		LEFT JOIN dp_cdp_internal.dataset d ON d.name = l.dataset
		CROSS JOIN LATERAL (SELECT coalesce(l.kind, CASE WHEN l.failed THEN 'failed' WHEN l.granted THEN 'granted' ELSE 'refused' END) AS kind) k
	WHERE l.dataset = ANY (dp_cdp_internal.my_datasets());
COMMENT ON VIEW dp_cdp_internal.log_sums IS
	'for dp_cdp.report: the audit of datasets that one owns, ready to be added up';

-- Does a row count at a balance?  It says from which it was debited; those that
-- were put back without that, and refusals, count where they would have been paid.
CREATE OR REPLACE FUNCTION dp_cdp_internal.counts_at(paid_by bigint[], ledger_id bigint, role oid, session_role oid, budget_role oid) RETURNS boolean
	LANGUAGE sql STABLE PARALLEL SAFE
	RETURN CASE WHEN paid_by IS NOT NULL THEN ledger_id = ANY (paid_by)
		WHEN dp_cdp_internal.role_pays(role, budget_role) THEN true
		WHEN session_role <> role THEN coalesce(dp_cdp_internal.role_pays(session_role, budget_role), false)
		ELSE false END;
COMMENT ON FUNCTION dp_cdp_internal.counts_at(bigint[], bigint, oid, oid, oid) IS
	'is a row of the audit, by its paid_by, role and session_role, one of a balance';

-- What was debited in the last seven days, by who asked: the rate at which a
-- budget is spent is that of a week, so that weekends do not matter.  Groups are
-- few, so that who pays is asked once for each of them, not for each row.
CREATE OR REPLACE VIEW dp_cdp_internal.last_week WITH (security_barrier) AS
	SELECT l.dataset,
		dp_cdp_internal.known_role(l.role, l.role_name)::oid AS role, l.role_name,
		dp_cdp_internal.known_role(l.session_role, l.session_role_name)::oid AS session_role,
		l.paid_by,
		coalesce(sum(l.rho) FILTER (WHERE l.granted), 0) AS rho,
		min(l.released_at) FILTER (WHERE l.granted AND l.rho > 0) AS first_debit,
		max(coalesce(l.last_at, l.released_at)) FILTER (WHERE NOT l.granted AND NOT l.failed AND coalesce(l.kind, 'refused') IN ('refused', 'guard')) AS last_refusal,
		-- of others' refusals nobody hears but the owner
		dp_cdp_internal.is_mine(l.role, l.role_name) OR dp_cdp_internal.is_mine(l.session_role, l.session_role_name) AS mine,
		-- surcharges: they were spent on no day
		coalesce(sum(l.rho) FILTER (WHERE l.kind = 'correction' AND NOT l.granted), 0) AS corrected
	FROM dp_cdp_internal.release_log l
	WHERE l.released_at > now() - interval '7 days'
	GROUP BY l.dataset, l.role, l.role_name, l.session_role, l.session_role_name, l.paid_by;
COMMENT ON VIEW dp_cdp_internal.last_week IS
	'for dp_cdp.overview and dp_cdp.metrics: debits and refusals of the last seven days, of everybody';

CREATE OR REPLACE FUNCTION dp_cdp_internal.rate(spent numeric, week numeric, first_debit timestamptz, now timestamptz) RETURNS numeric
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	-- where nothing was spent before this week, it begins with the first debit
	SELECT coalesce(week, 0) / CASE WHEN week < spent OR first_debit IS NULL THEN 7
		ELSE least(greatest(extract(epoch FROM now - first_debit) / 86400, 1), 7) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.rate(numeric, numeric, timestamptz, timestamptz) IS
	'rho per day over the last seven days, or since the first debit, but at least a day';

CREATE OR REPLACE VIEW dp_cdp.overview WITH (security_barrier) AS
	-- once, not for each budget
	WITH week AS MATERIALIZED (SELECT * FROM dp_cdp_internal.last_week)
	SELECT o.dataset,
		o.role,
		o.rho_limit,
		o.rho_spent,
		trunc(100 * o.rho_spent / nullif(o.rho_limit, 0), 1) AS percent_spent,
		dp_cdp_internal.significant(o.rate) AS rho_per_day,
		CASE WHEN o.rate > 0 AND o.rho_limit IS NOT NULL THEN dp_cdp_internal.significant(greatest(o.rho_limit - o.rho_spent, 0) / o.rate) END AS days_left,
		o.renews_at,
		date_trunc('second', o.last_refusal) AS last_refusal,
		o.ledger_id,
		o.paid_by_roles
	FROM (
		SELECT d.dataset, t.ledger_id, NULL::text AS role, d.rho_limit, d.rho_spent, NULL::timestamptz AS renews_at,
			dp_cdp_internal.rate(d.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()) AS rate, w.last_refusal,
			(SELECT trim_scale(coalesce(sum(b.rho_spent), 0)) FROM dp_cdp.budgets b WHERE b.dataset = d.dataset) AS paid_by_roles
		FROM dp_cdp.datasets d
			JOIN dp_cdp_internal.dataset t ON t.name = d.dataset
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit, max(l.last_refusal) AS last_refusal
				FROM week l
				WHERE l.dataset = d.dataset AND (l.paid_by IS NULL OR t.ledger_id = ANY (l.paid_by))) w ON true
		-- shown to the owner alone
		WHERE d.rho_spent IS NOT NULL
		UNION ALL
		SELECT b.dataset, b.ledger_id, b.role_name, b.rho_limit, b.rho_spent, b.renews_at,
			dp_cdp_internal.rate(b.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()), w.last_refusal, NULL
		FROM dp_cdp.budgets b
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit,
					max(l.last_refusal) FILTER (WHERE l.mine OR b.dataset = ANY (dp_cdp_internal.my_datasets())) AS last_refusal
				FROM week l
				WHERE l.dataset = b.dataset
					AND dp_cdp_internal.counts_at(l.paid_by, b.ledger_id, l.role, l.session_role, b.role::oid)) w ON true
	) o
	ORDER BY o.dataset, o.role IS NOT NULL, o.role, o.ledger_id;
COMMENT ON VIEW dp_cdp.overview IS
	'budgets of the current roles at a glance. The owner of a dataset sees all of its budgets, and the whole dataset, with role NULL and its cap as the limit';
COMMENT ON COLUMN dp_cdp.overview.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.overview.role IS 'name of the role; NULL: the dataset as a whole';
COMMENT ON COLUMN dp_cdp.overview.rho_limit IS 'rho of the budget, or the dataset''s cap';
COMMENT ON COLUMN dp_cdp.overview.rho_spent IS 'rho that was spent of it';
COMMENT ON COLUMN dp_cdp.overview.percent_spent IS 'the same in percent of the limit';
COMMENT ON COLUMN dp_cdp.overview.renews_at IS 'when the budget is renewed next';
COMMENT ON COLUMN dp_cdp.overview.rho_per_day IS
	'mean of the last seven days, or since the first debit if that is later, over at least a day';
COMMENT ON COLUMN dp_cdp.overview.days_left IS
	'how long the rest lasts at this rate; a budget that renews before has more';
COMMENT ON COLUMN dp_cdp.overview.ledger_id IS
	'number of the balance, as in paid_by of the audit. Two budgets may have one name, when a role of that name is missing';
COMMENT ON COLUMN dp_cdp.overview.paid_by_roles IS
	'sum of what the budgets of a whole dataset have paid in their periods. It exceeds rho_spent, which is what all of them know together, where roles share kept answers. See dp_cdp.spent_together';
COMMENT ON COLUMN dp_cdp.overview.last_refusal IS
	'last refusal within seven days, as far as dp_cdp.releases shows it';

-- With each limit its own delta: that at which its epsilon is told, and that of selections of keys.
CREATE OR REPLACE VIEW dp_cdp.limits WITH (security_barrier) AS
	SELECT l.dataset, l.ledger_id, l.rho, dp_cdp.epsilon_spent(l.rho, l.report_delta) AS epsilon,
		trim_scale(least(l.report_delta + l.key_delta, 1)) AS delta, dp_cdp.best_guess(l.rho, l.key_delta) AS best_guess
	FROM (SELECT d.name AS dataset, d.ledger_id, d.rho_limit AS rho, d.delta_limit AS report_delta, d.delta_limit AS key_delta FROM dp_cdp_internal.dataset d
		UNION ALL
		SELECT b.dataset, b.ledger_id, b.rho_limit, b.report_delta, b.delta_limit FROM dp_cdp_internal.budget b) l
	WHERE l.dataset = ANY (dp_cdp_internal.my_datasets());
COMMENT ON VIEW dp_cdp.limits IS
	'caps and budgets of datasets that one owns, with what they allow in all, as set_budget returned it. For dp_cdp.report';
COMMENT ON COLUMN dp_cdp.limits.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.limits.ledger_id IS 'number of the balance, as in paid_by of dp_cdp.audit: that of the cap, or of a budget';
COMMENT ON COLUMN dp_cdp.limits.rho IS 'limit of rho; NULL: none';
COMMENT ON COLUMN dp_cdp.limits.epsilon IS 'epsilon that the limit is worth, at delta';
COMMENT ON COLUMN dp_cdp.limits.delta IS 'delta at which epsilon holds, with the delta that selecting keys may spend';
COMMENT ON COLUMN dp_cdp.limits.best_guess IS 'how often the best guesser is right, once all is spent; 0.5 is a coin';

GRANT SELECT ON dp_cdp.overview, dp_cdp_internal.log_sums, dp_cdp.limits TO PUBLIC;
REVOKE ALL ON dp_cdp_internal.last_week FROM PUBLIC;

-- It asks for itself who calls: a view checks the right to call a function of whoever reads the view.
CREATE OR REPLACE FUNCTION dp_cdp.spilled_bytes(dataset text) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_spilled_bytes';
COMMENT ON FUNCTION dp_cdp.spilled_bytes(text) IS
	'bytes that releases from a dataset have written to temporary files since the server was started, for its owner and for those who may read dp_cdp.metrics. Others get NULL, because these bytes depend on rows';

-- For monitoring: everybody's, and so granted to nobody.  No amount is NULL,
-- because exporters cannot tell one: what has no limit has an infinite one.
CREATE OR REPLACE VIEW dp_cdp.metrics WITH (security_barrier) AS
	WITH week AS MATERIALIZED (SELECT * FROM dp_cdp_internal.last_week)
	SELECT m.dataset,
		m.role,
		coalesce(m.rho_limit, 'Infinity')::float8 AS rho_limit,
		m.rho_spent::float8 AS rho_spent,
		greatest(coalesce(m.rho_limit, 'Infinity') - m.rho_spent, 0)::float8 AS rho_remaining,
		m.delta_limit::float8 AS delta_limit,
		m.delta_spent::float8 AS delta_spent,
		m.rate::float8 AS rho_per_day,
		(CASE WHEN m.rate > 0 AND m.rho_limit IS NOT NULL
			THEN round(greatest(m.rho_limit - m.rho_spent, 0) / m.rate, 6) ELSE 'Infinity' END)::float8 AS days_left,
		m.failures,
		m.max_failures,
		CASE WHEN m.role = '' THEN coalesce(dp_cdp.spilled_bytes(m.dataset), 0) ELSE 0 END AS spilled_bytes
	FROM (
		SELECT d.name AS dataset, '' AS role, d.rho_limit, d.rho_spent, d.delta_limit, d.delta_spent,
			dp_cdp_internal.rate(d.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()) AS rate, 0 AS failures, d.max_failures
		FROM dp_cdp_internal.dataset d
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit
				FROM week l
				WHERE l.dataset = d.name AND (l.paid_by IS NULL OR d.ledger_id = ANY (l.paid_by))) w ON true
		UNION ALL
		SELECT b.dataset, coalesce((SELECT r.rolname::text FROM pg_catalog.pg_roles r WHERE r.oid = who.is),
				-- exporters stop at a second row of one name
				format('%s (missing, %s)', coalesce(b.role_name, b.role::text), b.ledger_id)), b.rho_limit, s.rho_spent, b.delta_limit, s.delta_spent,
			dp_cdp_internal.rate(s.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()), s.failures, d.max_failures
		FROM dp_cdp_internal.budget b
			JOIN dp_cdp_internal.dataset d ON d.name = b.dataset
			CROSS JOIN LATERAL (SELECT dp_cdp_internal.known_role(b.role, b.role_name)::oid AS is) who
			CROSS JOIN LATERAL (
				SELECT coalesce(dp_cdp_internal.next_renewal(b.renews_at, b.period, now()) <> b.renews_at, false) AS renewed) due
			CROSS JOIN LATERAL (
				SELECT CASE WHEN due.renewed THEN 0 ELSE b.rho_spent END AS rho_spent,
					CASE WHEN due.renewed THEN 0 ELSE b.delta_spent END AS delta_spent,
					CASE WHEN b.failures_since > clock_timestamp() - interval '24:00' THEN b.failures ELSE 0 END AS failures) s
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit
				FROM week l
				WHERE l.dataset = b.dataset
					AND dp_cdp_internal.counts_at(l.paid_by, b.ledger_id, l.role, l.session_role, who.is)) w ON true
	) m;
COMMENT ON VIEW dp_cdp.metrics IS
	'all budgets, and each dataset as a whole (role empty), as numbers for monitoring. Nobody may read it at first: grant it to the role that monitors';
COMMENT ON COLUMN dp_cdp.metrics.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.metrics.role IS 'name of the role. Empty: the dataset as a whole. A role that does not exist any more is shown as name (missing, ledger_id)';
COMMENT ON COLUMN dp_cdp.metrics.rho_limit IS 'rho of the budget, or the dataset''s cap; Infinity: none';
COMMENT ON COLUMN dp_cdp.metrics.rho_spent IS 'rho that was spent of it';
COMMENT ON COLUMN dp_cdp.metrics.rho_remaining IS 'rho that is left of it';
COMMENT ON COLUMN dp_cdp.metrics.delta_limit IS 'delta of the budget or cap';
COMMENT ON COLUMN dp_cdp.metrics.delta_spent IS 'delta that was spent of it';
COMMENT ON COLUMN dp_cdp.metrics.rho_per_day IS 'mean of the last seven days, or since the first debit if that is later, over at least a day';
COMMENT ON COLUMN dp_cdp.metrics.days_left IS 'how long the rest lasts at this rate';
COMMENT ON COLUMN dp_cdp.metrics.failures IS 'failures that were counted at the budget today';
COMMENT ON COLUMN dp_cdp.metrics.max_failures IS 'as many failures close the budget for the day';
COMMENT ON COLUMN dp_cdp.metrics.spilled_bytes IS 'bytes that releases from the dataset have written to temporary files since the server was started; 0 for a budget';

CREATE OR REPLACE VIEW dp_cdp.metrics_hour WITH (security_barrier) AS
	SELECT d.name AS dataset, o.outcome,
		coalesce(CASE o.outcome WHEN 'answered' THEN l.answered WHEN 'refused' THEN l.refused ELSE l.failed END, 0) AS releases
	FROM dp_cdp_internal.dataset d
		CROSS JOIN (VALUES ('answered'), ('refused'), ('failed')) AS o(outcome)
		LEFT JOIN (
			SELECT l.dataset,
				coalesce(sum(l.repeats) FILTER (WHERE l.granted AND l.kind IS DISTINCT FROM 'correction'), 0) AS answered,
				coalesce(sum(l.repeats) FILTER (WHERE NOT l.granted AND NOT l.failed AND coalesce(l.kind, 'refused') IN ('refused', 'guard')), 0) AS refused,
				count(*) FILTER (WHERE l.failed) AS failed
			FROM dp_cdp_internal.release_log l
			WHERE l.released_at > now() - interval '1 hour'
			GROUP BY l.dataset) l ON l.dataset = d.name;
COMMENT ON VIEW dp_cdp.metrics_hour IS
	'numbers of releases that were answered, refused and failed in the last hour, by dataset. Nobody may read it at first: grant it to the role that monitors';
COMMENT ON COLUMN dp_cdp.metrics_hour.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.metrics_hour.outcome IS 'answered, refused or failed';
COMMENT ON COLUMN dp_cdp.metrics_hour.releases IS 'how many releases of the last hour had this outcome';

-- A role that monitors owns no dataset, and must not: this runs with the rights
-- of the extension's owner and tells numbers alone.
CREATE OR REPLACE FUNCTION dp_cdp.setup_metrics() RETURNS TABLE(severity text, findings bigint)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT s.severity, count(f.severity)
	FROM (VALUES ('critical'), ('warning'), ('info')) AS s(severity)
		LEFT JOIN dp_cdp.check_setup() f ON f.severity = s.severity
	GROUP BY s.severity
$$;
COMMENT ON FUNCTION dp_cdp.setup_metrics() IS
	'numbers of findings of dp_cdp.check_setup(), by severity. Nobody may call it at first: grant it to the role that monitors';

REVOKE ALL ON dp_cdp.metrics, dp_cdp.metrics_hour FROM PUBLIC;
REVOKE ALL ON FUNCTION dp_cdp.setup_metrics() FROM PUBLIC;

-- -------------------------------------------------------------------------
-- What a report shows, as numbers
-- -------------------------------------------------------------------------

-- The log is read once: the sums by day, by who asked, by application, tables,
-- question and reason are made in one pass.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_sums(dataset text)
	RETURNS TABLE(kind text, day date, role oid, session_role oid, paid_by bigint[], name text, rho numeric, delta numeric,
				  paid numeric, answered bigint, refused bigint, failed bigint)
	LANGUAGE sql STABLE ROWS 100000 SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE grouping(l.day, l.role, l.application, l.tables, l.aggregates, l.reason)
			WHEN 31 THEN 'day' WHEN 15 THEN 'role' WHEN 55 THEN 'application' WHEN 59 THEN 'tables' WHEN 61 THEN 'aggregates' ELSE 'reason' END,
		l.day, l.role, l.session_role, l.paid_by, coalesce(l.application, l.tables, l.aggregates, l.reason),
		coalesce(sum(l.rho) FILTER (WHERE l.of_dataset), 0),
		coalesce(sum(l.delta) FILTER (WHERE l.of_dataset), 0),
		sum(l.rho), sum(l.answered), sum(l.refused), sum(l.failed)
	FROM (
		-- what is out of the calendar was put there by hand
		SELECT least(greatest(r.at, now() - interval '20 years'), now())::date AS day,
			r.role::oid AS role, r.session_role::oid AS session_role, r.paid_by, coalesce(r.application, '') AS application,
			coalesce(r.tables, '') AS tables, r.aggregates, coalesce(r.reason, '') AS reason,
			r.rho, r.delta, r.of_dataset, r.answered, r.refused, r.failed
		FROM dp_cdp_internal.log_sums r
		WHERE r.dataset = report_sums.dataset) l
	GROUP BY GROUPING SETS ((l.day), (l.day, l.role, l.session_role, l.paid_by), (l.application), (l.tables), (l.aggregates), (l.reason))
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_sums(text) IS
	'for dp_cdp.report: the audit of a dataset that one owns, added up in several ways';

-- The first of a list, and what the rest adds up to: names of applications are
-- anybody's to make up.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_shares_of(shares jsonb, most int DEFAULT 12) RETURNS jsonb
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce(jsonb_agg(x.s ORDER BY x.n) FILTER (WHERE x.n <= most), '[]')
		|| CASE WHEN count(*) > most THEN jsonb_build_array(jsonb_build_object('name', NULL, 'others', count(*) - most,
			'rho', sum((x.s ->> 'rho')::numeric) FILTER (WHERE x.n > most),
			'answered', sum((x.s ->> 'answered')::numeric) FILTER (WHERE x.n > most),
			'refused', sum((x.s ->> 'refused')::numeric) FILTER (WHERE x.n > most))) ELSE '[]' END
	FROM jsonb_array_elements(shares) WITH ORDINALITY x(s, n)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_shares_of(jsonb, int) IS
	'for dp_cdp.report: the first of a list, and the sum of the rest';

-- The key of a table that is protected through one leads to a table of the same dataset.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_tables(dataset text) RETURNS jsonb
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce(jsonb_agg(jsonb_build_object('table', p."table"::text, 'owner', pg_get_userbyid(c.relowner), 'unit', p.unit,
			'through', p.through, 'block', p.block, 'references', (
				SELECT min(f.confrelid::regclass::text)
				FROM pg_constraint f JOIN dp_cdp.protected o ON o."table" = f.confrelid AND o.dataset = p.dataset
				WHERE f.contype = 'f' AND p.unit IS NULL
					AND (f.conrelid = p."table" OR f.conrelid IN (SELECT t.relid FROM pg_partition_tree(p."table") t))
					AND p.through = (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
						FROM pg_attribute a WHERE a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey))))
		ORDER BY p.unit IS NULL, p.through IS NULL, p."table"::text), '[]')
	FROM dp_cdp.protected p JOIN pg_class c ON c.oid = p."table"
	WHERE p.dataset = report_tables.dataset
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_tables(text) IS
	'protected tables of a dataset, as far as the caller sees them, and whose rows they are. For dp_cdp.report';

CREATE OR REPLACE FUNCTION dp_cdp.report_data(dataset text) RETURNS jsonb
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	asked text := report_data.dataset;
	-- burn-downs are drawn of the budgets that are nearest to their end
	charts int := 24;
	today date := now()::date;
	cap record;
	result jsonb;
BEGIN
	IF asked IS NULL THEN
		RAISE EXCEPTION 'dataset is NULL: name one of dp_cdp.datasets' USING ERRCODE = 'ZC004';
	END IF;
	SELECT d.*, coalesce(pg_has_role(current_user, d.owner::oid, 'USAGE'), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)) AS own INTO cap
		FROM dp_cdp.datasets d WHERE d.dataset = asked;
	IF cap.dataset IS NULL THEN
		RAISE EXCEPTION 'dataset "%" does not exist, or is none of yours: see dp_cdp.datasets', asked USING ERRCODE = 'ZC004', HINT = dp_cdp_internal.hint_of_dataset(asked);
	ELSIF NOT cap.own THEN
		RAISE EXCEPTION 'must be owner of dataset "%" to see a report of it; your own budgets are in dp_cdp.overview', asked
			USING ERRCODE = 'insufficient_privilege';
	END IF;

	WITH sums AS MATERIALIZED (
		SELECT * FROM dp_cdp_internal.report_sums(asked)
	), budgets AS MATERIALIZED (
		SELECT b.ledger_id, b.role::oid AS role, b.role_name AS name, b.role_missing, b.rho_limit, b.rho_spent, b.rho_remaining,
			b.delta_limit, b.delta_spent, b.epsilon_spent, b.period, b.renews_at, b.failures, b.max_failures,
			o.percent_spent, o.rho_per_day, o.days_left,
			CASE WHEN isfinite(b.renews_at) THEN dp_cdp_internal.period_start(b.renews_at, b.period)::date END AS begins
		FROM dp_cdp.budgets b JOIN dp_cdp.overview o ON o.ledger_id = b.ledger_id
		WHERE b.dataset = asked
	), ranked AS MATERIALIZED (
		SELECT b.*, row_number() OVER (ORDER BY b.percent_spent DESC NULLS LAST, b.rho_per_day DESC, b.name) AS place,
			-- what it spends is debited from no wider budget as well
			NOT b.role_missing AND NOT EXISTS (SELECT FROM budgets w WHERE w.role <> b.role AND dp_cdp_internal.role_pays(b.role, w.role)) AS widest
		FROM budgets b
	), payers AS MATERIALIZED (
		-- what a planner cannot estimate is not computed again for each budget
		SELECT DISTINCT s.role, s.session_role, s.paid_by FROM sums s WHERE s.kind = 'role'
	), pays AS MATERIALIZED (
		SELECT p.role AS payer, p.session_role, p.paid_by, b.ledger_id, b.begins, b.place
		FROM payers p JOIN ranked b ON dp_cdp_internal.counts_at(p.paid_by, b.ledger_id, p.role, p.session_role, b.role)
	), paid AS MATERIALIZED (
		SELECT p.ledger_id, p.place, s.day, sum(s.paid) AS rho, sum(s.answered) AS answered, sum(s.refused) AS refused,
			bool_and(p.begins IS NULL OR s.day >= p.begins) AS this_period
		FROM sums s JOIN pays p ON coalesce(p.payer, 0) = coalesce(s.role, 0) AND coalesce(p.session_role, 0) = coalesce(s.session_role, 0)
			AND coalesce(p.paid_by, '{}') = coalesce(s.paid_by, '{}')
		WHERE s.kind = 'role'
		GROUP BY p.ledger_id, p.place, s.day
	), totals AS MATERIALIZED (
		SELECT p.ledger_id, sum(p.answered) AS answered, sum(p.refused) AS refused
		FROM paid p GROUP BY p.ledger_id
	), series AS MATERIALIZED (
		SELECT p.ledger_id, min(p.day) AS first, jsonb_agg(jsonb_build_array(p.day, p.rho) ORDER BY p.day) AS days
		FROM paid p WHERE p.place <= charts AND p.this_period AND p.rho <> 0 GROUP BY p.ledger_id
	), wide AS (
		SELECT r.name, r.rho_remaining, r.rho_limit, r.period,
			sum(r.rho_remaining) OVER (ORDER BY r.rho_remaining DESC, r.name) AS running
		FROM ranked r WHERE r.widest
	)
	SELECT jsonb_build_object(
		'dataset', asked,
		'database', current_database(),
		'owner', cap.owner_name,
		'neighbors', cap.neighbors,
		'version', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'dp_cdp'),
		'block_every', cap.block_every,
		'max_contribution', cap.max_contribution,
		'max_groups', cap.max_groups,
		'max_rows', cap.max_rows,
		'min_units', cap.min_units,
		'protected', dp_cdp_internal.report_tables(asked),
		'epsilon_limit', m.epsilon,
		'report_delta', m.delta,
		'best_guess', m.best_guess,
		'made_at', to_char(now(), 'FMDD Mon YYYY, HH24:MI'),
		'zone', current_setting('TimeZone'),
		'today', today,
		'first', (SELECT min(s.day) FROM sums s WHERE s.kind = 'day'),
		'rho_limit', cap.rho_limit,
		'rho_spent', cap.rho_spent,
		'rho_remaining', cap.rho_remaining,
		'delta_limit', cap.delta_limit,
		'delta_spent', cap.delta_spent,
		'epsilon_spent', cap.epsilon_spent,
		'rho_per_day', o.rho_per_day,
		'days_left', o.days_left,
		'totals', (SELECT jsonb_build_object('rho', coalesce(sum(s.rho), 0), 'delta', coalesce(sum(s.delta), 0),
				'answered', coalesce(sum(s.answered), 0), 'refused', coalesce(sum(s.refused), 0), 'failed', coalesce(sum(s.failed), 0))
			FROM sums s WHERE s.kind = 'day'),
		'days', (SELECT coalesce(jsonb_agg(jsonb_build_object('day', s.day, 'rho', s.rho, 'delta', s.delta,
				'answered', s.answered, 'refused', s.refused, 'failed', s.failed) ORDER BY s.day), '[]')
			FROM sums s WHERE s.kind = 'day'),
		'budgets', (SELECT coalesce(jsonb_agg(jsonb_build_object('role', r.name, 'rho_limit', r.rho_limit, 'rho_spent', r.rho_spent,
				'rho_remaining', r.rho_remaining, 'delta_limit', r.delta_limit, 'delta_spent', r.delta_spent,
				'epsilon_spent', r.epsilon_spent, 'percent_spent', r.percent_spent, 'rho_per_day', r.rho_per_day,
				'days_left', r.days_left, 'period', r.period, 'renews_on', CASE WHEN r.renews_at < now() + interval '100 years' THEN r.renews_at::date END,
				'failures', r.failures, 'max_failures', r.max_failures,
				'epsilon_limit', l.epsilon, 'report_delta', l.delta, 'best_guess', l.best_guess,
				'answered', coalesce(t.answered, 0), 'refused', coalesce(t.refused, 0),
				'chart', r.place <= charts, 'begins', coalesce(r.begins, s.first), 'days', coalesce(s.days, '[]')) ORDER BY r.place), '[]')
			FROM ranked r LEFT JOIN totals t ON t.ledger_id = r.ledger_id LEFT JOIN series s ON s.ledger_id = r.ledger_id
				LEFT JOIN dp_cdp.limits l ON l.dataset = asked AND l.ledger_id = r.ledger_id),
		'together', (SELECT jsonb_build_object('roles', count(*), 'rho_remaining', coalesce(sum(w.rho_remaining), 0),
				'rho_renewed_per_day', coalesce(sum(w.rho_limit * 86400 / extract(epoch FROM w.period)) FILTER (WHERE extract(epoch FROM w.period) > 0), 0),
				'enough', coalesce(jsonb_agg(jsonb_build_object('role', w.name, 'rho_remaining', w.rho_remaining)
						ORDER BY w.rho_remaining DESC, w.name)
					FILTER (WHERE w.running - w.rho_remaining <= cap.rho_remaining AND w.rho_remaining > 0), '[]'))
			FROM wide w),
		'applications', (SELECT dp_cdp_internal.report_shares_of(jsonb_agg(jsonb_build_object('name', s.name, 'rho', s.rho, 'answered', s.answered, 'refused', s.refused)
					ORDER BY s.rho DESC, s.answered DESC, s.name)) FROM sums s WHERE s.kind = 'application' AND (s.rho <> 0 OR s.answered + s.refused > 0)),
		'tables', (SELECT dp_cdp_internal.report_shares_of(jsonb_agg(jsonb_build_object('name', s.name, 'rho', s.rho, 'answered', s.answered, 'refused', s.refused)
					ORDER BY s.rho DESC, s.answered DESC, s.name)) FROM sums s WHERE s.kind = 'tables' AND (s.rho <> 0 OR s.answered + s.refused > 0)),
		'aggregates', (SELECT dp_cdp_internal.report_shares_of(jsonb_agg(jsonb_build_object('name', s.name, 'rho', s.rho, 'answered', s.answered, 'refused', s.refused)
					ORDER BY s.rho DESC, s.answered DESC, s.name)) FROM sums s WHERE s.kind = 'aggregates' AND (s.rho <> 0 OR s.answered + s.refused > 0)),
		'reasons', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'refused', s.refused) ORDER BY s.refused DESC, s.name), '[]')
			FROM sums s WHERE s.kind = 'reason' AND s.refused > 0),
		'refusals', (SELECT coalesce(jsonb_agg(to_jsonb(f) ORDER BY f.id DESC), '[]') FROM (
				SELECT l.id, to_char(l.at, 'YYYY-MM-DD HH24:MI:SS') AS at, l.role_name AS role,
					coalesce(l.application, '') AS application, l.aggregates, l.tables, left(l.query, 300) AS query, l.reason,
					l.asked_rho AS rho, l.refused AS repeats, l.failed > 0 AS failed
				FROM dp_cdp_internal.log_sums l
				WHERE l.dataset = asked AND (l.refused > 0 OR l.failed > 0) ORDER BY l.id DESC LIMIT 10) f),
		-- not those of other datasets: of their tables, with partitions and children, and of roles with budgets in them alone
		'findings', (WITH RECURSIVE others AS (
				SELECT p."table"::oid AS relid FROM dp_cdp.protected p WHERE p.dataset <> asked
				UNION SELECT i.inhrelid FROM others o JOIN pg_inherits i ON i.inhparent = o.relid
			), payers AS (
				SELECT format('role %s', r.oid::regrole) AS object, bool_or(b.dataset = asked) AS here
				FROM pg_roles r JOIN dp_cdp.budgets b ON pg_has_role(r.oid, b.role::oid, 'MEMBER') AND NOT r.rolsuper GROUP BY r.oid
			)
			SELECT coalesce(jsonb_agg(to_jsonb(f)), '[]') FROM dp_cdp.check_setup() f
			WHERE NOT EXISTS (SELECT FROM dp_cdp.datasets d WHERE d.dataset <> asked AND f.object = format('dataset %s', quote_ident(d.dataset)))
				AND f.object NOT IN (SELECT o.relid::regclass::text FROM others o)
				AND f.object NOT IN (SELECT p.object FROM payers p WHERE NOT p.here)))
	INTO result
	FROM dp_cdp.overview o LEFT JOIN dp_cdp.limits m ON m.dataset = o.dataset AND m.ledger_id = o.ledger_id
	WHERE o.dataset = asked AND o.role IS NULL;
	RETURN result;
END $$;
COMMENT ON FUNCTION dp_cdp.report_data(text) IS
	'figures that dp_cdp.report draws, as JSON, for the owner of a dataset';
-- =========================================================================
-- 11. The report's text and figures
-- =========================================================================

-- All that somebody could have chosen (names of datasets, roles and applications,
-- queries, findings) goes through report_text, and only ASCII leaves it, so that no
-- encoding of a client can spoil a page.  These functions make text of their
-- arguments and read nothing; who may see what is decided by dp_cdp.report_data.

-- -------------------------------------------------------------------------
-- Text, numbers and dates
-- -------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_char(c text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	b bytea := convert_to(c, 'UTF8');
	code int;
BEGIN
	code := CASE
		WHEN length(b) = 1 AND get_byte(b, 0) < 128 THEN get_byte(b, 0)
		WHEN length(b) = 2 THEN (get_byte(b, 0) & 31) * 64 + (get_byte(b, 1) & 63)
		WHEN length(b) = 3 THEN (get_byte(b, 0) & 15) * 4096 + (get_byte(b, 1) & 63) * 64 + (get_byte(b, 2) & 63)
		WHEN length(b) = 4 THEN (get_byte(b, 0) & 7) * 262144 + (get_byte(b, 1) & 63) * 4096
			+ (get_byte(b, 2) & 63) * 64 + (get_byte(b, 3) & 63) END;
	-- bytes of no encoding, and what XML and HTML know no reference for
	IF code IS NULL OR code < 32 AND code NOT IN (9, 10, 13) OR code BETWEEN 127 AND 159
		OR code BETWEEN 64976 AND 65007 OR (code & 65534) = 65534 THEN
		RETURN '?';
	END IF;
	RETURN format('&#%s;', code);
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_char(text) IS
	'for dp_cdp.report: a character as a reference';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_text(t text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE
		WHEN t ~ '^[]A-Za-z0-9 _.,:;()/*=+@!?#$%^{}|~[-]*$' THEN t
		ELSE (SELECT string_agg(CASE WHEN c.c ~ '^[]A-Za-z0-9 _.,:;()/*=+@!?#$%^{}|~[-]$' THEN c.c
				ELSE dp_cdp_internal.report_char(c.c) END, '' ORDER BY c.n)
			FROM regexp_split_to_table(t, '') WITH ORDINALITY c(c, n)) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_text(text) IS
	'for dp_cdp.report: text as HTML and XML show it, in elements and in quoted attributes';

-- Isolated, so that letters that run from right to left turn nothing around them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_name(t text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<bdi>' || dp_cdp_internal.report_text(t) || '</bdi>'
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_name(text) IS
	'for dp_cdp.report: a name that somebody has chosen';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_number(x numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE
		WHEN x IS NULL OR x = 'NaN' THEN '&#8211;'
		WHEN x = 'Infinity' THEN '&#8734;'
		WHEN x = '-Infinity' THEN '-&#8734;'
		WHEN x = 0 THEN '0'
		WHEN abs(x) < 0.0001 OR abs(x) >= 1e9 THEN
			regexp_replace(ltrim(to_char(x, '9.99EEEE')), '\.?0*e[+]?(-?)0*(?=[0-9])', 'e\1')
		WHEN abs(x) >= 1000 THEN to_char(round(x), 'FM999,999,999,990')
		ELSE dp_cdp_internal.significant(x)::text END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_number(numeric) IS
	'for dp_cdp.report: a number with three digits, or all before the point';

-- A promise is told no smaller than it is.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_up(x numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT dp_cdp_internal.report_number(CASE WHEN x <= 0 OR x IN ('NaN', 'Infinity') THEN x
		ELSE ceil(x * 10::numeric ^ p.places) / 10::numeric ^ p.places END)
	FROM (SELECT CASE WHEN x > 0 AND x < 'Infinity' THEN 2 - floor(log(x)) END AS places) p
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_up(numeric) IS
	'for dp_cdp.report: a number with three digits, rounded up';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_guess(guess numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN guess IS NULL THEN '&#8211;' WHEN guess > 0.999 THEN 'almost 100&#160;%'
		ELSE trim_scale(ceil(guess * 1000) / 10) || '&#160;%' END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_guess(numeric) IS
	'for dp_cdp.report: how often a guess is right, rounded up';

-- The audit's words for machines, as people say them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_reason(reason text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN x.parts IS NULL THEN reason
		ELSE coalesce(CASE concat_ws(' ', x.parts[1], nullif(x.parts[2], ''))
			WHEN 'ZC001 no budget' THEN 'the role has no budget'
			WHEN 'ZC001 rho' THEN 'too little rho was left'
			WHEN 'ZC001 delta' THEN 'too little delta was left to select keys'
			WHEN 'ZC001 failures' THEN 'too many releases had failed that day'
			WHEN 'ZC003 rate' THEN 'the role asked too often within a second'
			WHEN 'ZC003' THEN 'the ledger could not answer' END, nullif(x.parts[2], ''), 'refused')
			|| coalesce(x.parts[3], '') || ' (' || x.parts[1] || ')' END
	FROM (SELECT regexp_match(reason, '^(ZC[0-9]{3})(?: ([^;]*))?(;.*)?$') AS parts) x
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_reason(text) IS
	'for dp_cdp.report: why something was refused, in words';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_amount(x numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN x IS NULL THEN '&#8211;'
		ELSE format('<data value="%s">%s</data>', trim_scale(x), dp_cdp_internal.report_number(x)) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_amount(numeric) IS
	'for dp_cdp.report: a number to be read, and the exact one for machines';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_day(d date) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce(format('<time datetime="%s">%s</time>', to_char(d, 'YYYY-MM-DD'),
		replace(to_char(d, 'FMDD Mon YYYY'), ' ', '&#160;')), '&#8211;')
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_day(date) IS
	'for dp_cdp.report: a date';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_lasts(days numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE
		WHEN days IS NULL THEN '&#8211;'
		WHEN days = 0 THEN 'spent'
		WHEN days < 1 THEN 'under a day'
		WHEN days < 2 THEN '1 day'
		WHEN days < 3650 THEN to_char(floor(days), 'FM9,990') || ' days'
		ELSE 'over 10 years' END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_lasts(numeric) IS
	'for dp_cdp.report: how many days';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_plural(n bigint, one text, many text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT to_char(n, 'FM999,999,999,999,990') || ' ' || CASE n WHEN 1 THEN one ELSE many END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_plural(bigint, text, text) IS
	'for dp_cdp.report: a number of things';

-- -------------------------------------------------------------------------
-- Figures
-- -------------------------------------------------------------------------

-- The step of an axis from 0 to the largest value, so that it has two to five.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_step(largest numeric, whole boolean DEFAULT false) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT min(s.step) FROM (
		SELECT trim_scale(f * round(10 ^ e.e, greatest(-e.e, 0)::int)) AS step
		FROM unnest(ARRAY[1, 2, 5, 10]) f, (SELECT floor(log(largest / 5)) AS e) e) s
	WHERE s.step * 5 >= largest AND (NOT whole OR s.step >= 1)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_step(numeric, boolean) IS
	'for dp_cdp.report: distance of the lines of an axis';

-- Days to be named on an axis: as many as there is room for, at the begin of
-- months, quarters and years where that is possible.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_dates(first date, last date, most int) RETURNS TABLE(day date, label text)
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
	AS $$
DECLARE
	step int;
	start date;
BEGIN
	FOREACH step IN ARRAY ARRAY[1, 2, 7, 14] LOOP
		IF (last - first) / step < most THEN
			RETURN QUERY SELECT g.d::date, to_char(g.d, 'FMDD Mon')
				FROM generate_series(first::timestamp, last::timestamp, make_interval(days => step)) g(d);
			RETURN;
		END IF;
	END LOOP;
	FOREACH step IN ARRAY ARRAY[1, 3, 6, 12, 24, 60, 120, 600, 2400, 120000] LOOP
		start := make_date(extract(year FROM first)::int / greatest(step / 12, 1) * greatest(step / 12, 1), 1, 1);
		IF (SELECT count(*) FROM generate_series(start::timestamp, last::timestamp, make_interval(months => step)) g(d)
				WHERE g.d >= first) <= most OR step = 120000 THEN
			RETURN QUERY SELECT g.d::date,
					CASE WHEN step >= 12 THEN to_char(g.d, 'YYYY')
						WHEN extract(month FROM g.d) = 1 OR g.n = 1 THEN to_char(g.d, 'Mon YYYY') ELSE to_char(g.d, 'Mon') END
				FROM (SELECT s.d, row_number() OVER (ORDER BY s.d) AS n
					FROM generate_series(start::timestamp, last::timestamp, make_interval(months => step)) s(d)
					WHERE s.d >= first) g;
			RETURN;
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_dates(date, date, int) IS
	'for dp_cdp.report: the days that an axis names';

-- A frame for figures: the axes with their lines and labels.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_axes(w numeric, h numeric, l numeric, r numeric, t numeric, b numeric,
											  largest numeric, step numeric, first date, last date, most int) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce((SELECT string_agg(format('<line class="grid" x1="%s" x2="%s" y1="%s" y2="%3$s"/>' ||
				'<text class="tick" x="%s" y="%s" text-anchor="end">%s</text>',
				l, w - r, round(y.y, 1), l - 8, round(y.y + 4, 1), dp_cdp_internal.report_number(y.v)), '' ORDER BY y.v)
			FROM (SELECT g AS v, h - b - (h - b - t) * g / largest AS y FROM generate_series(0::numeric, largest, step) g) y), '')
		|| coalesce((SELECT string_agg(format('<line class="tickline" x1="%s" x2="%1$s" y1="%s" y2="%s"/>' ||
				'<text class="tick" x="%1$s" y="%4$s" text-anchor="middle">%5$s</text>',
				round(x.x, 1), h - b, h - b + 5, h - b + 19, x.label), '' ORDER BY x.x)
			FROM (SELECT l + (w - l - r) * (d.day - first + 0.5) / (last - first + 1) AS x, d.label
				FROM dp_cdp_internal.report_dates(first, last, most) d) x
			-- a name must not hang over the figure's edge
			WHERE x.x BETWEEN 26 AND w - 26), '')
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_axes(numeric, numeric, numeric, numeric, numeric, numeric, numeric, numeric, date, date, int) IS
	'for dp_cdp.report: lines and labels of a figure of size w, h with margins l, r, t, b';

-- What is left, by day: backwards from today's balance, so that it ends at the
-- truth, whatever was added by hand or at an adoption.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_burndown(id text, name text, "limit" numeric, remaining numeric, rate numeric,
												  begins date, today date, ends date, renews boolean,
												  days jsonb, small boolean) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	w numeric := CASE WHEN small THEN 340 ELSE 1000 END;
	h numeric := CASE WHEN small THEN 150 ELSE 300 END;
	l numeric := CASE WHEN small THEN 42 ELSE 56 END;
	r numeric := 14;
	t numeric := 16;
	b numeric := 30;
	spent numeric := (SELECT coalesce(sum((d ->> 1)::numeric), 0) FROM jsonb_array_elements(days) d);
	most numeric := greatest("limit", remaining + spent);
	step numeric := dp_cdp_internal.report_step(CASE WHEN most > 0 THEN most ELSE 1 END);
	top numeric := greatest(most, step);
	per_day numeric := (w - l - r) / (ends - begins + 1);
	per_rho numeric := (h - t - b) / top;
	zero numeric := h - b;
	now_x numeric := round(l + per_day * (today - begins + 1), 1);
	now_y numeric := round(zero - per_rho * remaining, 1);
	beside boolean := now_x < w - 92;
	line text;
	ahead text := '';
	until numeric;
BEGIN
	SELECT format('M%s,%s', l, round(zero - per_rho * (remaining + spent), 1))
			|| coalesce(string_agg(format('H%sV%s', s.x, s.y), '' ORDER BY s.day), '') || 'H' || now_x
		INTO line
		FROM (SELECT d.day, round(l + per_day * (d.day - begins + 0.5), 1) AS x,
				round(zero - per_rho * (remaining + spent - sum(d.rho) OVER (ORDER BY d.day)), 1) AS y
			FROM (SELECT (e ->> 0)::date AS day, (e ->> 1)::numeric AS rho FROM jsonb_array_elements(days) e) d) s;
	IF rate > 0 AND remaining > 0 THEN
		until := least(remaining / rate, ends - today);
		IF until > 0 THEN
			ahead := format('<path class="ahead" d="M%s,%sL%s,%s"/>', now_x, now_y, round(now_x + per_day * until, 1),
				round(zero - per_rho * (remaining - rate * until), 1));
		END IF;
	END IF;
	RETURN format('<svg class="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %4$s-d" xmlns="http://www.w3.org/2000/svg">',
			CASE WHEN small THEN 'small' ELSE 'wide' END, w, h, id)
		|| format('<title id="%s-t">What is left of %s</title><desc id="%1$s-d">', id, dp_cdp_internal.report_text(name))
		|| format('%s of %s are left%s.</desc>', dp_cdp_internal.report_number(remaining), dp_cdp_internal.report_number("limit"),
			CASE WHEN remaining = 0 THEN '' WHEN rate > 0 THEN format('; at %s a day that lasts %s', dp_cdp_internal.report_number(rate),
				dp_cdp_internal.report_lasts(remaining / rate)) ELSE '; nothing was spent in the last seven days' END)
		|| dp_cdp_internal.report_axes(w, h, l, r, t, b, top, CASE WHEN small AND "limit" > 0 THEN "limit" ELSE step END, begins, ends,
			CASE WHEN small THEN 3 ELSE 8 END)
		|| format('<line class="limit" x1="%s" x2="%s" y1="%s" y2="%3$s"/>', l, w - r, round(zero - per_rho * "limit", 1))
		-- named, where the axis does not name it or something near
		|| CASE WHEN NOT small AND "limit" > 0 AND abs("limit" - round("limit" / step) * step) * per_rho > 14
			THEN format('<text class="tick" x="%s" y="%s" text-anchor="end">%s</text>', l - 8, round(zero - per_rho * "limit" + 4, 1),
				dp_cdp_internal.report_number("limit")) ELSE '' END
		|| format('<path class="area" d="%sV%sH%sZ"/>', line, zero, l)
		|| CASE WHEN renews THEN format('<path class="even" d="M%s,%sL%s,%s"/>', l, round(zero - per_rho * "limit", 1), w - r, zero) ELSE '' END
		|| format('<path class="line" d="%s"/>', line) || ahead
		|| format('<circle class="now" cx="%s" cy="%s" r="4"/>', now_x, now_y)
		-- the line falls: to the right of it there is room above, to the left below
		|| format('<text class="mark" x="%s" y="%s" text-anchor="%s">%s left</text>',
			CASE WHEN beside THEN now_x + 9 ELSE now_x - 9 END,
			CASE WHEN beside OR now_y > zero - 24 THEN greatest(now_y - 8, 11) ELSE now_y + 17 END,
			CASE WHEN beside THEN 'start' ELSE 'end' END, dp_cdp_internal.report_number(remaining))
		|| '</svg>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_burndown(text, text, numeric, numeric, numeric, date, date, date, boolean, jsonb, boolean) IS
	'for dp_cdp.report: a burn-down';

-- One column for each day, week or month: rho, or a number of refusals.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_columns(id text, title text, days jsonb, measure text, first date, today date) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
	AS $$
DECLARE
	w numeric := 1000;
	h numeric := CASE WHEN measure = 'rho' THEN 260 ELSE 170 END;
	l numeric := 56;
	r numeric := 14;
	t numeric := 16;
	b numeric := 30;
	unit text := CASE WHEN today - first < 100 THEN 'day' WHEN today - first < 700 THEN 'week' ELSE 'month' END;
	start date := date_trunc(unit, greatest(first, today - 36500)::timestamp)::date;
	largest numeric;
	step numeric;
	columns text;
BEGIN
	-- not so few days that one of them fills the figure
	start := least(start, date_trunc(unit, (today - CASE unit WHEN 'day' THEN 13 ELSE 0 END)::timestamp)::date);
	WITH sums AS (
		SELECT date_trunc(unit, ((d ->> 'day')::date)::timestamp)::date AS day, sum((d ->> measure)::numeric) AS v
		FROM jsonb_array_elements(days) d GROUP BY 1
	), scale AS (
		SELECT greatest(max(s.v), 0) AS most FROM sums s
	), axis AS (
		SELECT dp_cdp_internal.report_step(CASE WHEN s.most > 0 THEN s.most ELSE 1 END, measure <> 'rho') AS step, s.most FROM scale s
	), tops AS (
		SELECT a.step, greatest(ceil(a.most / a.step), 1) * a.step AS largest FROM axis a
	)
	SELECT t2.largest, t2.step, string_agg(format('<rect x="%s" y="%s" width="%s" height="%s"><title>%s: %s</title></rect>',
			round(l + (w - l - r) * (s.day - start + x.gap) / (today - start + 1), 2),
			round(h - b - y.y, 2),
			round(greatest((w - l - r) * (least((s.day + ('1 ' || unit)::interval)::date, today + 1) - s.day - 2 * x.gap) / (today - start + 1), 0.8), 2),
			round(y.y, 2),
			CASE unit WHEN 'day' THEN to_char(s.day, 'FMDD Mon YYYY') WHEN 'week' THEN 'week of ' || to_char(s.day, 'FMDD Mon YYYY')
				ELSE to_char(s.day, 'Mon YYYY') END,
			dp_cdp_internal.report_number(s.v)), '' ORDER BY s.day)
		INTO largest, step, columns
		FROM tops t2 LEFT JOIN sums s ON s.v > 0
			CROSS JOIN LATERAL (SELECT CASE unit WHEN 'day' THEN 0.12 WHEN 'week' THEN 0.7 ELSE 2.5 END AS gap) x
			-- what there is can be seen
			CROSS JOIN LATERAL (SELECT greatest((h - b - t) * s.v / t2.largest, 1.5) AS y) y
		GROUP BY t2.largest, t2.step;
	RETURN format('<svg class="wide %s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %4$s-d" xmlns="http://www.w3.org/2000/svg">',
			CASE measure WHEN 'rho' THEN 'spent' ELSE 'no' END, w, h, id)
		|| format('<title id="%s-t">%s by %s</title><desc id="%1$s-d">From %4$s to %5$s; the table below has the numbers.</desc>',
			id, title, unit, to_char(start, 'FMDD Mon YYYY'), to_char(today, 'FMDD Mon YYYY'))
		|| dp_cdp_internal.report_axes(w, h, l, r, t, b, largest, step, start, today, 8)
		|| coalesce(columns, '') || '</svg>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_columns(text, text, jsonb, text, date, date) IS
	'for dp_cdp.report: columns by day, week or month';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_bar(share numeric, class text DEFAULT 'spent') RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT format('<svg class="bar %s" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" ' ||
		'xmlns="http://www.w3.org/2000/svg"><rect class="track" width="100" height="8"/><rect width="%s" height="8"/></svg>',
		class, round(100 * least(greatest(coalesce(share, 0), 0), 1), 1))
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_bar(numeric, text) IS
	'for dp_cdp.report: a share as a bar, beside a number that says the same';

-- What is seen where a person is in the data and where not, or the one or the other: noise of
-- deviation 1 about centres that are sqrt(2 rho) apart.  In the overlap a guess can be wrong.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_bells(rho numeric, guess text, one text, other text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	w int := 440;
	zero int := 128;
	-- farther apart nothing is seen to change
	apart float8 := least(sqrt(2 * rho::float8), 12);
	low float8 := -3.3;
	wide float8 := apart + 6.6;
	left_bell text;
	right_bell text;
	overlap text;
	middle numeric := w / 2;
BEGIN
	SELECT string_agg(s.x || ',' || round((zero - 96 * exp(-(s.v ^ 2) / 2))::numeric, 1), 'L' ORDER BY s.i),
			string_agg(s.x || ',' || round((zero - 96 * exp(-((s.v - apart) ^ 2) / 2))::numeric, 1), 'L' ORDER BY s.i),
			string_agg(s.x || ',' || round((zero - 96 * exp(-(greatest(abs(s.v), abs(s.v - apart)) ^ 2) / 2))::numeric, 1), 'L' ORDER BY s.i)
		INTO left_bell, right_bell, overlap
		FROM (SELECT i, low + wide * i / 160 AS v, round(w * i / 160.0, 1) AS x FROM generate_series(0, 160) i) s;
	RETURN format('<svg class="small bells" viewBox="0 0 %s 152" role="img" aria-labelledby="f-bells-t f-bells-d" xmlns="http://www.w3.org/2000/svg">', w)
		|| format('<title id="f-bells-t">What answers look like, %s and %s</title>', one, other)
		|| format('<desc id="f-bells-d">Two bells; where they overlap, a guess can be wrong. The best guess is right %s of the time.</desc>', guess)
		|| format('<path class="area" d="M0,%sL%sL%s,%1$sZ"/>', zero, overlap, w)
		|| format('<line class="limit" x1="0" x2="%s" y1="%s" y2="%2$s"/><line class="grid" x1="%3$s" x2="%3$s" y1="22" y2="%2$s"/>', w, zero, middle)
		|| format('<path class="line" d="M%s"/><path class="line other" d="M%s"/>', left_bell, right_bell)
		|| format('<text class="mark" x="%s" y="14" text-anchor="end">%s</text><text class="mark" x="%s" y="14">%s</text>', middle - 10, one, middle + 10, other)
		|| format('<text class="tick" x="%s" y="%s" text-anchor="middle">guess right at most %s of the time</text></svg>', middle, zero + 18, guess);
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_bells(numeric, text, text, text) IS
	'for dp_cdp.report: what a rho leaves to guess';
-- =========================================================================
-- 12. The report's page
-- =========================================================================

-- One HTML page without scripts, links or files: it may be mailed and printed,
-- and its Content-Security-Policy forbids the browser to load or run anything.
-- It is also well-formed XML.

-- -------------------------------------------------------------------------
-- Sections
-- -------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_lead(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<p class="lead">' || CASE
		WHEN n.spent = 0 THEN CASE WHEN n.cap IS NULL THEN 'Nothing was spent yet, and there is no lifetime cap.'
			ELSE format('Nothing of the lifetime cap of %s was spent yet.', dp_cdp_internal.report_number(n.cap)) END
		WHEN n.cap IS NULL THEN format('A rho of %s is spent, and there is no lifetime cap.', dp_cdp_internal.report_number(n.spent))
			|| CASE WHEN n.rate > 0 THEN format(' Each day adds %s.', dp_cdp_internal.report_number(n.rate)) ELSE '' END
		WHEN n.remaining = 0 THEN format('The lifetime cap of %s is spent: nobody gets another answer.', dp_cdp_internal.report_number(n.cap))
		ELSE format('%s %% of the lifetime cap of %s is spent.', trim_scale(trunc(100 * n.spent / n.cap, 1)), dp_cdp_internal.report_number(n.cap))
			|| CASE WHEN n.rate IS NULL OR n.rate = 0 THEN ' Nothing was spent in the last seven days.'
				WHEN n.days < 3650 THEN format(' At the rate of the last seven days the rest lasts %s, until %s.',
					dp_cdp_internal.report_lasts(n.days), dp_cdp_internal.report_day((r ->> 'today')::date + floor(n.days)::int))
				ELSE ' At the rate of the last seven days the rest lasts over ten years.' END
		END || '</p>'
	FROM (SELECT (r ->> 'rho_limit')::numeric AS cap, (r ->> 'rho_spent')::numeric AS spent,
			(r ->> 'rho_remaining')::numeric AS remaining, (r ->> 'rho_per_day')::numeric AS rate,
			(r ->> 'days_left')::numeric AS days) n
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_lead(jsonb) IS
	'for dp_cdp.report: the sentence that says it all';

-- Names of roles, the first few of them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_names(names text[]) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT string_agg(dp_cdp_internal.report_name(n.n), ', ' ORDER BY n.o)
		|| CASE WHEN cardinality(names) > 6 THEN format(' and %s more', cardinality(names) - 6) ELSE '' END
	FROM unnest(names[1:6]) WITH ORDINALITY n(n, o)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_names(text[]) IS
	'for dp_cdp.report: a list of names';

-- What needs a person.  Each sentence says what is so, and where to look.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_alerts(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	WITH budgets AS (
		SELECT b ->> 'role' AS role, (b ->> 'rho_remaining')::numeric AS remaining, (b ->> 'rho_limit')::numeric AS rho_limit,
			(b ->> 'days_left')::numeric AS days_left, (b ->> 'renews_on')::date AS renews_on,
			(b ->> 'failures')::int >= (b ->> 'max_failures')::int AS closed, n
		FROM jsonb_array_elements(r -> 'budgets') WITH ORDINALITY x(b, n)
	), alerts(place, class, sentence) AS (
		SELECT 1, 'bad', format('The setup has %s. <a href="#setup">Setup</a>',
				dp_cdp_internal.report_plural(count(*), 'critical finding', 'critical findings'))
			FROM jsonb_array_elements(r -> 'findings') f WHERE f ->> 'severity' = 'critical' HAVING count(*) > 0
		UNION ALL
		SELECT 2, 'bad', 'The lifetime cap is spent. <a href="#cap">Cap</a>'
			WHERE (r ->> 'rho_remaining')::numeric = 0
		UNION ALL
		SELECT 3, 'warn', format('The lifetime cap lasts %s. <a href="#cap">Cap</a>', dp_cdp_internal.report_lasts((r ->> 'days_left')::numeric))
			WHERE (r ->> 'rho_remaining')::numeric > 0 AND (r ->> 'days_left')::numeric < 14
		UNION ALL
		SELECT 4, 'warn', format('%s spent: %s. <a href="#roles">Roles</a>',
				dp_cdp_internal.report_plural(count(*), 'budget is', 'budgets are'), dp_cdp_internal.report_names(array_agg(b.role ORDER BY b.n)))
			FROM budgets b WHERE b.remaining = 0 HAVING count(*) > 0
		UNION ALL
		SELECT 5, 'warn', format('%s within a week at this rate: %s. <a href="#roles">Roles</a>',
				dp_cdp_internal.report_plural(count(*), 'budget ends', 'budgets end'), dp_cdp_internal.report_names(array_agg(b.role ORDER BY b.n)))
			FROM budgets b
			WHERE b.remaining > 0 AND b.days_left < 7
				AND (b.renews_on IS NULL OR (r ->> 'today')::date + least(floor(b.days_left), 9999)::int < b.renews_on)
			HAVING count(*) > 0
		UNION ALL
		SELECT 6, 'warn', format('Too many releases failed: closed for today %s %s. <a href="#roles">Roles</a>',
				CASE count(*) WHEN 1 THEN 'is' ELSE 'are' END, dp_cdp_internal.report_names(array_agg(b.role ORDER BY b.n)))
			FROM budgets b WHERE b.closed HAVING count(*) > 0
		UNION ALL
		SELECT 7, 'warn', format('The roles'' budgets together hold %s, the cap %s. <a href="#together">Roles together</a>',
				dp_cdp_internal.report_number((r #>> '{together,rho_remaining}')::numeric), dp_cdp_internal.report_number((r ->> 'rho_remaining')::numeric))
			WHERE (r #>> '{together,rho_remaining}')::numeric > (r ->> 'rho_remaining')::numeric
				AND (r ->> 'rho_remaining')::numeric > 0
		UNION ALL
		SELECT 8, 'warn', format('The setup has %s. <a href="#setup">Setup</a>',
				dp_cdp_internal.report_plural(count(*), 'warning', 'warnings'))
			FROM jsonb_array_elements(r -> 'findings') f WHERE f ->> 'severity' = 'warning' HAVING count(*) > 0
	)
	SELECT coalesce('<ul class="alerts">' || string_agg(format('<li class="%s">%s</li>', a.class, a.sentence), '' ORDER BY a.place) || '</ul>',
		'<ul class="alerts"><li class="good">Nothing needs attention.</li></ul>')
	FROM alerts a
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_alerts(jsonb) IS
	'for dp_cdp.report: what needs attention';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_tiles(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<dl class="tiles">' || string_agg(format('<div><dt>%s</dt><dd>%s <small>%s</small></dd></div>', t.name, t.number, t.small), '' ORDER BY t.n)
		|| '</dl>'
	FROM (VALUES
		(1, 'Left of the cap', CASE WHEN r ->> 'rho_limit' IS NULL THEN '&#8734;' ELSE dp_cdp_internal.report_amount((r ->> 'rho_remaining')::numeric) END,
			CASE WHEN r ->> 'rho_limit' IS NULL THEN 'no lifetime cap' ELSE 'of ' || dp_cdp_internal.report_number((r ->> 'rho_limit')::numeric) || ' rho' END),
		(2, 'Spent', dp_cdp_internal.report_amount((r ->> 'rho_spent')::numeric),
			format('rho; epsilon %s at delta %s', dp_cdp_internal.report_number((r ->> 'epsilon_spent')::numeric), dp_cdp_internal.report_number((r ->> 'delta_limit')::numeric))),
		(3, 'Rate', dp_cdp_internal.report_number((r ->> 'rho_per_day')::numeric), 'rho a day, last 7 days'),
		(4, 'Answers', dp_cdp_internal.report_number((r #>> '{totals,answered}')::numeric),
			CASE WHEN r ->> 'first' IS NULL THEN 'none yet' ELSE 'since ' || dp_cdp_internal.report_day((r ->> 'first')::date) END),
		(5, 'Refusals', dp_cdp_internal.report_number((r #>> '{totals,refused}')::numeric),
			format('and %s', dp_cdp_internal.report_plural((r #>> '{totals,failed}')::bigint, 'failure', 'failures')))
	) AS t(n, name, number, small)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_tiles(jsonb) IS
	'for dp_cdp.report: the figures at its head';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_cap(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	today date := r ->> 'today';
	first date := coalesce((r ->> 'first')::date, today);
	lasts numeric := (r ->> 'days_left')::numeric;
	-- days: as much as tells something, but not more than what was
	ahead int;
	days jsonb;
BEGIN
	IF r ->> 'rho_limit' IS NULL THEN
		RETURN '<section id="cap"><h2>The lifetime cap</h2><p class="none">This dataset has none. What its roles may spend in all '
			'is bounded by their budgets alone, and by nothing where these renew: <code>dp_cdp.alter_dataset</code> sets a cap.</p></section>';
	END IF;
	SELECT coalesce(jsonb_agg(jsonb_build_array(d ->> 'day', d -> 'rho') ORDER BY d ->> 'day'), '[]') INTO days
		FROM jsonb_array_elements(r -> 'days') d WHERE (d ->> 'rho')::numeric > 0;
	ahead := least(coalesce(ceil(lasts), 0), greatest(14, (today - first) / 3));
	RETURN '<section id="cap"><h2>The lifetime cap</h2>'
		-- a narrow screen shows one end of it: that with today
		|| CASE WHEN ahead > today - first THEN '<figure class="early">' ELSE '<figure>' END
		|| dp_cdp_internal.report_burndown('f-cap', 'the lifetime cap', (r ->> 'rho_limit')::numeric, (r ->> 'rho_remaining')::numeric,
			(r ->> 'rho_per_day')::numeric, first, today, today + ahead, false, days, false)
		|| '<figcaption>What is left of it, by day. Dashed: at the rate of the last seven days. It never renews.</figcaption></figure></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_cap(jsonb) IS
	'for dp_cdp.report: burn-down of the cap';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_roles(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	today date := r ->> 'today';
	rows text;
	cards text;
	n int;
	drawn int;
BEGIN
	WITH budgets AS (
		SELECT x.n, b ->> 'role' AS role, (b ->> 'rho_limit')::numeric AS rho_limit, (b ->> 'rho_spent')::numeric AS spent,
			(b ->> 'rho_remaining')::numeric AS remaining, (b ->> 'percent_spent')::numeric AS percent,
			(b ->> 'rho_per_day')::numeric AS rate, (b ->> 'days_left')::numeric AS days_left, (b ->> 'renews_on')::date AS renews_on,
			(b ->> 'answered')::bigint AS answered, (b ->> 'refused')::bigint AS refused,
			(b ->> 'epsilon_spent')::numeric AS epsilon, (b ->> 'delta_spent')::numeric AS delta,
			coalesce((b ->> 'begins')::date, today) AS begins, b -> 'days' AS days, (b ->> 'chart')::boolean AS chart
		FROM jsonb_array_elements(r -> 'budgets') WITH ORDINALITY x(b, n)
	)
	SELECT count(*), count(*) FILTER (WHERE b.chart),
		string_agg(format('<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td>' ||
			'<td class="share">%s<span>%s&#160;%%</span></td><td class="n">%s</td><td class="n">%s</td><td>%s</td>' ||
			'<td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
			dp_cdp_internal.report_name(b.role), dp_cdp_internal.report_amount(b.rho_limit), dp_cdp_internal.report_amount(b.spent), dp_cdp_internal.report_amount(b.remaining),
			dp_cdp_internal.report_bar(b.percent / 100, CASE WHEN b.remaining = 0 THEN 'bad' WHEN b.percent >= 80 THEN 'warn' ELSE 'spent' END),
			dp_cdp_internal.report_number(b.percent),
			dp_cdp_internal.report_number(b.rate), dp_cdp_internal.report_lasts(b.days_left), dp_cdp_internal.report_day(b.renews_on),
			dp_cdp_internal.report_number(b.epsilon), dp_cdp_internal.report_number(b.answered), dp_cdp_internal.report_number(b.refused)), '' ORDER BY b.n),
		string_agg(format('<figure class="card"><figcaption>%s</figcaption>%s<p>%s</p></figure>', dp_cdp_internal.report_name(b.role),
			dp_cdp_internal.report_burndown('f-role-' || b.n, 'the budget of ' || b.role, b.rho_limit, b.remaining, b.rate,
				-- a budget that was overdue has begun anew today
				least(b.begins, today), today,
				greatest(coalesce(b.renews_on, today + least(coalesce(ceil(b.days_left), 0), greatest(7, (today - b.begins) / 3))::int), today),
				b.renews_on IS NOT NULL, b.days, true),
			CASE WHEN b.remaining = 0 THEN 'Spent' WHEN b.rate > 0 THEN format('%s a day, lasts %s', dp_cdp_internal.report_number(b.rate), dp_cdp_internal.report_lasts(b.days_left))
				ELSE 'Nothing in the last 7 days' END
				|| CASE WHEN b.renews_on IS NULL THEN '' ELSE '; renews ' || dp_cdp_internal.report_day(b.renews_on) END), '' ORDER BY b.n)
			FILTER (WHERE b.chart)
		INTO n, drawn, rows, cards
		FROM budgets b;
	IF n = 0 THEN
		RETURN '<section id="roles"><h2>Roles</h2><p class="none">No role has a budget: <code>dp_cdp.set_budget</code> gives one.</p></section>';
	END IF;
	RETURN '<section id="roles"><h2>Roles</h2><div class="scroll" tabindex="0" role="region" aria-label="Budgets of roles"><table>'
		|| '<caption>Budgets, those that are nearest to their end first</caption><thead><tr><th scope="col">Role</th>'
		|| '<th scope="col" class="n">Limit</th><th scope="col" class="n">Spent</th><th scope="col" class="n">Left</th>'
		|| '<th scope="col">Share spent</th><th scope="col" class="n">A day</th><th scope="col" class="n">Lasts</th><th scope="col">Renews</th>'
		|| '<th scope="col" class="n">Epsilon</th><th scope="col" class="n">Answers</th><th scope="col" class="n">Refusals</th></tr></thead><tbody>'
		|| rows || '</tbody></table></div><h3>What is left of each</h3><div class="cards">' || cards || '</div>'
		|| CASE WHEN drawn < n THEN format('<p class="note">Drawn are the %s budgets that are nearest to their end; the table has all %s.</p>', drawn, n) ELSE '' END
		|| '<p class="note">A budget that renews is drawn since it last did, with an even pace dotted. Where rows do not say who paid, today''s '
		|| 'memberships tell; where an answer is paid from several budgets, each of them shows it.</p></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_roles(jsonb) IS
	'for dp_cdp.report: budgets of roles, as a table and as burn-downs';

-- Whether the budgets promise more than the cap holds.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_together(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	cap numeric := (r ->> 'rho_remaining')::numeric;
	promised numeric := (r #>> '{together,rho_remaining}')::numeric;
	daily numeric := (r #>> '{together,rho_renewed_per_day}')::numeric;
	roles bigint := (r #>> '{together,roles}')::bigint;
	most numeric := greatest(cap, promised);
	told text;
BEGIN
	IF cap IS NULL OR roles = 0 THEN
		RETURN '';
	END IF;
	IF promised > cap AND cap > 0 THEN
		SELECT format('Together, the roles would reach the cap before their limits. That takes no more than %s: %s.',
				CASE count(*) WHEN 1 THEN 'one of them' ELSE format('these %s', count(*)) END,
				string_agg(format('%s (%s)', dp_cdp_internal.report_name(e ->> 'role'), dp_cdp_internal.report_number((e ->> 'rho_remaining')::numeric)), ', ' ORDER BY o)
					FILTER (WHERE o <= 12)
				|| CASE WHEN count(*) > 12 THEN format(' and %s more', count(*) - 12) ELSE '' END)
			INTO told
			FROM jsonb_array_elements(r #> '{together,enough}') WITH ORDINALITY x(e, o);
	ELSIF cap = 0 THEN
		told := 'The cap is spent, whatever the roles'' budgets still hold.';
	ELSE
		told := 'The cap holds what is left of all budgets.';
		IF daily > 0 THEN
			told := told || format(' Budgets that renew add up to %s a day if they are used up: the cap then lasts %s.',
				dp_cdp_internal.report_number(daily), dp_cdp_internal.report_lasts((cap - promised) / daily));
		END IF;
	END IF;
	RETURN '<section id="together"><h2>Roles together</h2><p>' || told || '</p><table class="bars"><caption>Left, in rho</caption><tbody>'
		|| format('<tr><th scope="row">Budgets of %s</th><td class="share">%s</td><td class="n">%s</td></tr>',
			dp_cdp_internal.report_plural(roles, 'role', 'roles'), dp_cdp_internal.report_bar(promised / nullif(most, 0), CASE WHEN promised > cap THEN 'warn' ELSE 'spent' END),
			dp_cdp_internal.report_amount(promised))
		|| format('<tr><th scope="row">Lifetime cap</th><td class="share">%s</td><td class="n">%s</td></tr></tbody></table>',
			dp_cdp_internal.report_bar(cap / nullif(most, 0), 'cap'), dp_cdp_internal.report_amount(cap))
		|| '<p class="note">Budgets whose every debit is also debited from a wider one, as a member''s from the team''s, are not counted.</p></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_together(jsonb) IS
	'for dp_cdp.report: the roles'' budgets against the cap';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_spending(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	today date := r ->> 'today';
	first date := r ->> 'first';
BEGIN
	IF first IS NULL THEN
		RETURN '<section id="spending"><h2>Spending</h2><p class="none">Nothing was asked yet.</p></section>';
	END IF;
	RETURN '<section id="spending"><h2>Spending</h2><figure>'
		|| dp_cdp_internal.report_columns('f-days', 'Rho that was spent', r -> 'days', 'rho', first, today)
		|| '<figcaption>Rho that was spent, over all roles.</figcaption></figure>'
		|| '<details><summary>Numbers of each day</summary><div class="scroll" tabindex="0" role="region" aria-label="Numbers of each day">'
		|| '<table id="days"><thead><tr><th scope="col">Day</th><th scope="col" class="n">Rho</th><th scope="col" class="n">Delta</th>'
		|| '<th scope="col" class="n">Answers</th><th scope="col" class="n">Refusals</th><th scope="col" class="n">Failures</th></tr></thead><tbody>'
		|| (SELECT string_agg(format('<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
				dp_cdp_internal.report_day((d ->> 'day')::date), dp_cdp_internal.report_amount((d ->> 'rho')::numeric), dp_cdp_internal.report_amount((d ->> 'delta')::numeric),
				dp_cdp_internal.report_amount((d ->> 'answered')::numeric), dp_cdp_internal.report_amount((d ->> 'refused')::numeric),
				dp_cdp_internal.report_amount((d ->> 'failed')::numeric)), '' ORDER BY d ->> 'day' DESC)
			FROM jsonb_array_elements(r -> 'days') d)
		|| format('</tbody><tfoot><tr><th scope="row">In all</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr></tfoot></table></div></details>',
			dp_cdp_internal.report_amount((r #>> '{totals,rho}')::numeric), dp_cdp_internal.report_amount((r #>> '{totals,delta}')::numeric),
			dp_cdp_internal.report_amount((r #>> '{totals,answered}')::numeric), dp_cdp_internal.report_amount((r #>> '{totals,refused}')::numeric),
			dp_cdp_internal.report_amount((r #>> '{totals,failed}')::numeric))
		|| '<div class="two">' || dp_cdp_internal.report_shares('By table', 'Tables', 'not known', r -> 'tables')
		|| dp_cdp_internal.report_shares('By application', 'Application', 'without a name', r -> 'applications')
		|| dp_cdp_internal.report_shares('By question', 'Aggregates', 'none', r -> 'aggregates') || '</div></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_spending(jsonb) IS
	'for dp_cdp.report: spending by day, application and question';

-- Rows of {name, rho, answered, refused}; a row without a name is the sum of the rest.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_shares(heading text, of text, nameless text, shares jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT format('<div><h3>%s</h3><div class="scroll" tabindex="0" role="region" aria-label="%1$s"><table class="bars"><thead><tr><th scope="col">%s</th>' ||
			'<th scope="col"><span class="hidden">Share</span></th><th scope="col" class="n">Rho</th><th scope="col" class="n">Answers</th></tr></thead><tbody>', heading, of)
		|| coalesce(string_agg(format('<tr><th scope="row">%s</th><td class="share">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
			CASE WHEN s ->> 'name' IS NULL THEN format('<i>%s others</i>', s ->> 'others')
				WHEN s ->> 'name' = '' THEN format('<i>%s</i>', nameless) ELSE dp_cdp_internal.report_name(s ->> 'name') END,
			dp_cdp_internal.report_bar((s ->> 'rho')::numeric / nullif(m.most, 0)), dp_cdp_internal.report_amount((s ->> 'rho')::numeric),
			dp_cdp_internal.report_amount((s ->> 'answered')::numeric)), '' ORDER BY x.n), '') || '</tbody></table></div></div>'
	FROM jsonb_array_elements(shares) WITH ORDINALITY x(s, n),
		(SELECT max((s ->> 'rho')::numeric) AS most FROM jsonb_array_elements(shares) s) m
	-- of what was only refused another section tells
	WHERE (s ->> 'rho')::numeric <> 0 OR (s ->> 'answered')::numeric > 0
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_shares(text, text, text, jsonb) IS
	'for dp_cdp.report: a table with bars';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_refusals(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	-- failures were granted: they are no refusals of any reason
	reasons jsonb := (r -> 'reasons') || CASE WHEN (r #>> '{totals,failed}')::numeric > 0
		THEN jsonb_build_array(jsonb_build_object('name', NULL, 'refused', r #> '{totals,failed}')) ELSE '[]' END;
BEGIN
	IF (r #>> '{totals,refused}')::numeric + (r #>> '{totals,failed}')::numeric = 0 THEN
		RETURN '<section id="refusals"><h2>Refusals</h2><p class="none">Nothing was refused, and nothing failed.</p></section>';
	END IF;
	RETURN '<section id="refusals"><h2>Refusals</h2><figure>'
		|| dp_cdp_internal.report_columns('f-refusals', 'Refusals', r -> 'days', 'refused', (r ->> 'first')::date, (r ->> 'today')::date)
		|| '<figcaption>Refused, over all roles.</figcaption></figure>'
		|| '<div class="scroll" tabindex="0" role="region" aria-label="Reasons"><table class="bars"><thead><tr><th scope="col">Reason</th>'
		|| '<th scope="col"><span class="hidden">Share</span></th><th scope="col" class="n">Times</th></tr></thead><tbody>'
		|| (SELECT string_agg(format('<tr><th scope="row">%s</th><td class="share">%s</td><td class="n">%s</td></tr>',
				CASE WHEN s ->> 'name' IS NULL THEN '<i>failed after it was charged</i>'
					WHEN s ->> 'name' = '' THEN '<i>not known</i>' ELSE dp_cdp_internal.report_name(dp_cdp_internal.report_reason(s ->> 'name')) END,
				dp_cdp_internal.report_bar((s ->> 'refused')::numeric / m.most, 'no'), dp_cdp_internal.report_amount((s ->> 'refused')::numeric)), '' ORDER BY x.n)
			FROM jsonb_array_elements(reasons) WITH ORDINALITY x(s, n),
				(SELECT max((s ->> 'refused')::numeric) AS most FROM jsonb_array_elements(reasons) s) m
			WHERE x.n <= 12 OR s ->> 'name' IS NULL)
		|| '</tbody></table></div><div class="scroll" tabindex="0" role="region" aria-label="The latest refusals">'
		|| '<table class="latest"><caption>The latest</caption><thead><tr><th scope="col">When</th><th scope="col">Role</th><th scope="col">Application</th>'
		|| '<th scope="col">Asked</th><th scope="col">Reason</th><th scope="col" class="n">Times</th></tr></thead><tbody>'
		|| coalesce((SELECT string_agg(format('<tr><td class="when">%s</td><th scope="row">%s</th><td>%s</td><td>%s</td><td>%s</td><td class="n">%s</td></tr>',
				f ->> 'at', dp_cdp_internal.report_name(f ->> 'role'), dp_cdp_internal.report_name(f ->> 'application'),
				CASE WHEN f ->> 'query' IS NULL THEN dp_cdp_internal.report_name(f ->> 'aggregates')
					ELSE format('<code>%s</code>', dp_cdp_internal.report_text(f ->> 'query')) END,
				coalesce(dp_cdp_internal.report_name(dp_cdp_internal.report_reason(f ->> 'reason')), CASE WHEN (f ->> 'failed')::boolean THEN 'failed after it was charged; why, the server''s log says' ELSE 'refused' END),
				dp_cdp_internal.report_number(greatest((f ->> 'repeats')::numeric, 1))), '' ORDER BY x.n)
			FROM jsonb_array_elements(r -> 'refusals') WITH ORDINALITY x(f, n)), '')
		|| '</tbody></table></div></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_refusals(jsonb) IS
	'for dp_cdp.report: refusals by day, and the latest';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_findings_of(findings jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<ul class="findings">' || coalesce(string_agg(format('<li class="%s"><span class="badge">%s</span><div><b>%s</b> %s%s</div></li>',
			CASE f ->> 'severity' WHEN 'critical' THEN 'bad' WHEN 'warning' THEN 'warn' ELSE 'info' END,
			dp_cdp_internal.report_text(f ->> 'severity'), dp_cdp_internal.report_name(f ->> 'object'), dp_cdp_internal.report_name(f ->> 'finding'),
			CASE WHEN f ->> 'remedy' IS NULL THEN '' ELSE format('<code>%s</code>', dp_cdp_internal.report_text(f ->> 'remedy'))
				|| CASE WHEN (f ->> 'by_superuser')::boolean THEN ' by a superuser' ELSE '' END END), '' ORDER BY x.n), '')
		|| '</ul>'
	FROM jsonb_array_elements(findings) WITH ORDINALITY x(f, n)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_findings_of(jsonb) IS
	'for dp_cdp.report: a list of findings';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_findings(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<section id="setup"><h2>Setup</h2><p class="note">What <code>dp_cdp.check_setup()</code> finds in this database.</p>'
		|| dp_cdp_internal.report_findings_of(r -> 'findings') || '</section>'
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_findings(jsonb) IS
	'for dp_cdp.report: findings of check_setup()';

-- -------------------------------------------------------------------------
-- The page
-- -------------------------------------------------------------------------

-- Pairs of colours that stand on one another have a contrast of 4.5 and more as
-- text and 3 and more as figures, light and dark; a test holds that.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_style() RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT $css$
:root { color-scheme: light dark;
	--page: #f5f6f8; --card: #ffffff; --ink: #16191d; --soft: #545c67; --line: #dde1e7; --track: #e8ebf0;
	--blue: #1f5fbf; --wash: #dfe9f9; --amber: #8a5200; --amber-wash: #fdf1dc; --red: #b3261e; --red-wash: #fdeae8;
	--green: #1a6b3c; --green-wash: #e3f4e9; }
@media (prefers-color-scheme: dark) { :root {
	--page: #0f1216; --card: #171b21; --ink: #e7eaee; --soft: #a0a9b5; --line: #2c333c; --track: #272d36;
	--blue: #7dabf8; --wash: #1c2d4a; --amber: #efb65c; --amber-wash: #33270f; --red: #ff9187; --red-wash: #3c1a18;
	--green: #6fd196; --green-wash: #12301e; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5; font-size: 1rem;
	font-family: Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif;
	font-variant-numeric: tabular-nums lining-nums; }
main { max-width: 68rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
header { margin-bottom: 1.75rem; }
#promise + .spending { margin-top: 2rem; }
.kicker { margin: 0 0 .35rem; color: var(--blue); font-size: .8125rem; font-weight: 650; letter-spacing: .02em; }
h1 { margin: 0; font-size: 2.375rem; line-height: 1.15; letter-spacing: -.022em; font-weight: 680; overflow-wrap: anywhere; }
.meta { margin: .5rem 0 0; color: var(--soft); font-size: .9375rem; overflow-wrap: anywhere; }
.lead { margin: 0 0 1.5rem; max-width: 46rem; font-size: 1.3125rem; line-height: 1.42; letter-spacing: -.008em; }
h2 { margin: 0 0 1rem; font-size: 1.25rem; line-height: 1.3; letter-spacing: -.012em; font-weight: 650; }
h3 { margin: 1.75rem 0 .75rem; font-size: .9375rem; font-weight: 650; }
p { margin: .75rem 0; }
a { color: var(--blue); text-underline-offset: .18em; }
code { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
bdi, code { overflow-wrap: anywhere; }
section, .tiles > div { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
section { margin: 1.25rem 0 0; padding: 1.5rem; }
.alerts { list-style: none; margin: 0 0 1.5rem; padding: 0; }
.alerts li { margin: .5rem 0 0; padding: .625rem 1rem; border-radius: .5rem; border-left: .25rem solid; }
.alerts a { color: inherit; white-space: nowrap; }
.alerts .bad { background: var(--red-wash); border-color: var(--red); }
.alerts .warn { background: var(--amber-wash); border-color: var(--amber); }
.alerts .good { background: var(--green-wash); border-color: var(--green); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .75rem; margin: 0; }
.tiles > div { padding: 1rem 1.125rem; }
.tiles dt { color: var(--soft); font-size: .875rem; }
.tiles dd { margin: .15rem 0 0; font-size: 1.75rem; line-height: 1.25; letter-spacing: -.018em; font-weight: 620; }
.tiles small { display: block; color: var(--soft); font-size: .8125rem; font-weight: 400; letter-spacing: 0; line-height: 1.4; }
figure { margin: 0; }
figcaption, .note, caption { color: var(--soft); font-size: .875rem; }
figcaption { margin-top: .5rem; }
figure + .scroll, .scroll + .scroll { margin-top: 1.5rem; }
caption { text-align: left; padding: 0 0 .5rem; }
.none { color: var(--soft); margin: 0; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-size: 13px; fill: var(--ink); font-family: inherit; }
svg.small text { font-size: 11.5px; }
svg .tick { fill: var(--soft); }
svg .mark { font-weight: 650; paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
.grid, .tickline { stroke: var(--line); stroke-width: 1; }
.limit { stroke: var(--soft); stroke-width: 1; }
.area { fill: var(--wash); }
.line { fill: none; stroke: var(--blue); stroke-width: 2; stroke-linejoin: round; }
.ahead { fill: none; stroke: var(--blue); stroke-width: 2; stroke-dasharray: 2 5; stroke-linecap: round; }
.even { fill: none; stroke: var(--soft); stroke-width: 1.25; stroke-dasharray: 1 4; stroke-linecap: round; }
.now { fill: var(--blue); stroke: var(--card); stroke-width: 2; }
svg.spent rect { fill: var(--blue); }
svg.no rect, svg.bad rect { fill: var(--red); }
svg.warn rect { fill: var(--amber); }
svg.cap rect { fill: var(--soft); }
.line.other { stroke: var(--amber); }
svg.bar { display: inline-block; height: .5rem; min-width: 3.5rem; border-radius: .25rem; vertical-align: middle; overflow: hidden; }
svg.bar .track { fill: var(--track); }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { padding: .5rem .5rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-weight: 500; font-size: .8125rem; white-space: nowrap; vertical-align: bottom; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 550; min-width: 8.5rem; }
tfoot > tr > * { border-top: 1px solid var(--soft); border-bottom: 0; font-weight: 650; }
.n { text-align: right; white-space: nowrap; }
.when { white-space: nowrap; color: var(--soft); }
.share { min-width: 7rem; white-space: nowrap; }
.share svg + span { display: inline-block; width: 3.5rem; text-align: right; }
td.share svg.bar:not(:last-child) { width: calc(100% - 3.5rem); }
.bars { table-layout: fixed; }
.bars th { width: 46%; min-width: 0; }
.bars th + th, .bars .share { width: 24%; min-width: 0; }
.bars .n { width: 15%; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--blue); outline-offset: 4px; border-radius: .25rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(17.5rem, 1fr)); gap: 1.75rem 1.5rem; }
.card figcaption { margin: 0 0 .25rem; color: var(--ink); font-weight: 550; font-size: .9375rem; }
.card p { margin: .125rem 0 0; color: var(--soft); font-size: .8125rem; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 0 2.5rem; }
.plain { margin: 0; padding-left: 1.125rem; font-size: .875rem; }
.plain li + li { margin-top: .25rem; }
.warning { padding: .5rem .75rem; border-radius: .5rem; background: var(--amber-wash); }
.told + .note { margin: .5rem 0 0; }
#promise .findings { font-size: .875rem; }
#promise .findings li { padding: .375rem 0; }
.sign { display: grid; grid-template-columns: 2fr 1fr 2fr; gap: 1.5rem; }
.sign p { margin: 2.5rem 0 0; padding-top: .25rem; border-top: 1px solid var(--soft); color: var(--soft); font-size: .8125rem; }
details { margin-top: 1rem; }
summary { cursor: pointer; color: var(--blue); font-size: .9375rem; }
details .scroll { margin-top: .75rem; max-height: 26rem; overflow: auto; }
.findings { list-style: none; margin: 1rem 0 0; padding: 0; }
.findings li { display: grid; grid-template-columns: 5.25rem 1fr; gap: .875rem; padding: .75rem 0; border-top: 1px solid var(--line); }
.badge { justify-self: start; align-self: start; padding: .0625rem .5rem; border-radius: 1rem; font-size: .8125rem; font-weight: 550;
	background: var(--track); color: var(--ink); }
.bad .badge { background: var(--red-wash); color: var(--red); }
.warn .badge { background: var(--amber-wash); color: var(--amber); }
.findings b { font-weight: 620; }
.findings code { display: block; margin-top: .25rem; color: var(--soft); }
footer { margin: 2rem 0 0; color: var(--soft); font-size: .875rem; }
footer dt { color: var(--ink); font-weight: 550; }
footer dd { margin: 0 0 .625rem; max-width: 46rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 40rem) {
	main { padding: 1.75rem 1rem 2.5rem; }
	section { padding: 1.125rem 1rem; margin-left: -.25rem; margin-right: -.25rem; }
	h1 { font-size: 1.875rem; }
	.lead { font-size: 1.125rem; }
	.tiles { grid-template-columns: 1fr 1fr; }
	.tiles dd { font-size: 1.5rem; }
	svg.wide { min-width: 40rem; }
	figure { overflow-x: auto; }
	.sign { grid-template-columns: 1fr; gap: 0; }
	section > figure { direction: rtl; }
	section > figure.early { direction: ltr; }
	figure > * { direction: ltr; text-align: left; }
	.scroll table:not(.bars) { min-width: 42rem; }
	.findings li { grid-template-columns: 1fr; gap: .375rem; } }
@media print {
	:root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --track: #ddd;
		--blue: #1f5fbf; --wash: #dfe9f9; --amber: #8a5200; --amber-wash: #fff; --red: #b3261e; --red-wash: #fff;
		--green: #1a6b3c; --green-wash: #fff; }
	body { font-size: 10pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
	main { max-width: none; padding: 0; }
	section { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 1rem 0; }
	.scroll, details .scroll { overflow: visible; max-height: none; }
	@page { size: A4; margin: 11mm; }
	header { margin-bottom: .5rem; }
	h1 { font-size: 1.5rem; }
	#promise { zoom: .88; margin: 0; padding: .5rem 0 0; line-height: 1.35; }
	#promise p, .plain, #promise table, .findings { font-size: 8.5pt; }
	#promise h2 { margin: 0 0 .25rem; }
	#promise h3 { margin: .5rem 0 .125rem; font-size: 9.5pt; }
	#promise p { margin: .25rem 0; }
	#promise th, #promise td { padding: .0625rem .375rem .0625rem 0; }
	#promise svg.bells { max-width: 7cm; }
	#promise figcaption { font-size: 8pt; margin-top: 0; }
	.plain li + li { margin-top: 0; }
	#promise .two { grid-template-columns: 1fr 1fr; gap: 0 2rem; }
	#promise .findings { margin-top: .25rem; }
	#promise .findings li { padding: .125rem 0; }
	#promise + * { break-before: page; }
	#promise + footer { break-before: auto; margin-top: .5rem; font-size: 8pt; }
	.sign { break-inside: avoid; }
	#promise .sign p { margin-top: 1.75rem; }
	table { font-size: 8.5pt; }
	th, td { padding: .25rem .375rem; }
	details::details-content { content-visibility: visible; height: auto; }
	h2, h3 { break-after: avoid; }
	figure, tr, .findings li, .tiles > div { break-inside: avoid; }
	thead { display: table-header-group; }
	a { color: inherit; text-decoration: none; } }
$css$
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_style() IS
	'for dp_cdp.report: its style sheet';

-- What goes around the sections of a page.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_frame(r jsonb, title text, sections text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	name text := dp_cdp_internal.report_text(r ->> 'dataset');
BEGIN
	RETURN '<!DOCTYPE html>' || chr(10)
		|| '<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>'
		|| '<meta http-equiv="Content-Security-Policy" content="default-src ''none''; style-src ''unsafe-inline''; base-uri ''none''; form-action ''none''"/>'
		|| '<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="referrer" content="no-referrer"/>'
		|| '<meta name="color-scheme" content="light dark"/>'
		|| format('<title>%s of %s</title><style>%s</style></head><body><main>', title, name, dp_cdp_internal.report_style())
		|| format('<header><p class="kicker">%s</p><h1><bdi>%s</bdi></h1><p class="meta">Database %s, dataset of %s, dp_cdp %s. %s (%s)</p></header>', title,
			name, dp_cdp_internal.report_name(r ->> 'database'), dp_cdp_internal.report_name(r ->> 'owner'), dp_cdp_internal.report_text(r ->> 'version'),
			r ->> 'made_at', dp_cdp_internal.report_text(r ->> 'zone'))
		|| sections || '</main></body></html>' || chr(10);
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_frame(jsonb, text, text) IS
	'for dp_cdp.report: a page around sections';

CREATE OR REPLACE FUNCTION dp_cdp.report(dataset text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r jsonb := dp_cdp.report_data(dataset);
BEGIN
	RETURN dp_cdp_internal.report_frame(r, 'Privacy budget', dp_cdp_internal.report_promise(r)
		|| '<div class="spending">' || dp_cdp_internal.report_lead(r) || dp_cdp_internal.report_alerts(r) || dp_cdp_internal.report_tiles(r) || '</div>'
		|| dp_cdp_internal.report_cap(r) || dp_cdp_internal.report_roles(r)
		|| dp_cdp_internal.report_together(r) || dp_cdp_internal.report_spending(r) || dp_cdp_internal.report_refusals(r) || dp_cdp_internal.report_findings(r)
		|| '<footer><dl><dt>Rho</dt><dd>What each answer costs of privacy, as zero-concentrated differential privacy counts it. It adds up, '
		|| 'nothing gives it back, and with delta it translates into an epsilon: ' || dp_cdp_internal.report_neighbors(r) || ' are hard to tell apart.</dd>'
		|| '<dt>Who may see this page</dt><dd>It holds no data, but names roles, their applications and what they asked for, and what was spent of the '
		|| 'whole dataset: that is for its owner. Days and times are those of the time zone above.</dd></dl></footer>');
END $$;
COMMENT ON FUNCTION dp_cdp.report(text) IS
	'one self-contained HTML page for the owner of a dataset, on what is promised, budgets, spending, refusals and setup. Write it into a file with psql -AtXqc';

CREATE OR REPLACE FUNCTION dp_cdp.certificate(dataset text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r jsonb := dp_cdp.report_data(dataset);
BEGIN
	RETURN dp_cdp_internal.report_frame(r, 'Privacy promise', dp_cdp_internal.report_promise(r));
END $$;
COMMENT ON FUNCTION dp_cdp.certificate(text) IS
	'page for the owner of a dataset that says what is promised, to be printed and signed. It is the first section of dp_cdp.report. Write it into a file with psql -AtXqc';

-- =========================================================================
-- 12. The report's page: what is promised, a page that a review board signs
-- =========================================================================

-- The two databases that are hard to tell apart.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_neighbors(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE r ->> 'neighbors'
		WHEN 'replace_one' THEN format('two databases in which all rows of one person%s are those of one or of another person', b.blocks)
		ELSE format('two databases of which one lacks all rows of one person%s', b.blocks) END
	FROM (SELECT coalesce(' in one block of ' || (r ->> 'block_every'), '') AS blocks) b
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_neighbors(jsonb) IS
	'for dp_cdp.report: neighbouring databases, in words';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_tables_of(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN count(*) = 0 THEN '<p class="none">No table is protected: nothing is promised of any, and nothing is released.</p>'
		ELSE '<div class="scroll" tabindex="0" role="region" aria-label="Protected tables"><table class="told"><thead><tr><th scope="col">Table</th>'
			|| '<th scope="col">Whose rows these are</th><th scope="col">Owner</th></tr></thead><tbody>'
			|| string_agg(format('<tr><th scope="row">%s</th><td>%s</td><td>%s</td></tr>', dp_cdp_internal.report_name(t ->> 'table'),
				CASE WHEN t ->> 'unit' IS NOT NULL THEN format('The person whom column %s names', dp_cdp_internal.report_name(t ->> 'unit'))
					WHEN t ->> 'through' IS NOT NULL THEN format('The person of the row of %s to which foreign key (%s) leads',
						coalesce(dp_cdp_internal.report_name(t ->> 'references'), '<i>an unknown table</i>'), dp_cdp_internal.report_name(t ->> 'through'))
					ELSE 'Each row is a person of its own: whoever has several has this promise for each row alone' END
				|| CASE WHEN t ->> 'block' IS NULL THEN '' ELSE format('; its block of time is that of %s', dp_cdp_internal.report_name(t ->> 'block')) END,
				dp_cdp_internal.report_name(t ->> 'owner')), '' ORDER BY x.n) || '</tbody></table></div>' END
	FROM jsonb_array_elements(r -> 'protected') WITH ORDINALITY x(t, n)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_tables_of(jsonb) IS
	'for dp_cdp.report: protected tables, and whose rows they are';

-- The cap, and the largest budgets.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_limits(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	WITH limits AS (
		SELECT 0::bigint AS place, 'All roles together, for ever: the lifetime cap' AS whom, r AS of WHERE r ->> 'rho_limit' IS NOT NULL
		UNION ALL
		SELECT row_number() OVER (ORDER BY (b ->> 'rho_limit')::numeric DESC, b ->> 'role'),
			dp_cdp_internal.report_name(b ->> 'role') || CASE WHEN b ->> 'period' IS NULL THEN '' ELSE format(', anew each %s',
				dp_cdp_internal.report_text(regexp_replace(regexp_replace(b ->> 'period', '\mmon', 'month'), '^1 (\w+)$', '\1'))) END, b
		FROM jsonb_array_elements(r -> 'budgets') b
	)
	SELECT CASE WHEN r ->> 'rho_limit' IS NULL THEN '<p class="warning">There is no lifetime cap: budgets alone bound what roles learn, and those that renew bound it within each period only.</p>' ELSE '' END
		|| CASE WHEN count(*) = 0 THEN '<p class="none">No role has a budget.</p>' ELSE
			'<div class="scroll" tabindex="0" role="region" aria-label="Cap and budgets"><table class="told"><thead><tr><th scope="col">Who</th>'
			|| '<th scope="col" class="n">Rho</th><th scope="col" class="n">Epsilon</th><th scope="col" class="n">at delta</th><th scope="col" class="n">Best guess is right</th></tr></thead><tbody>'
			|| string_agg(format('<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
				l.whom, dp_cdp_internal.report_up((l.of ->> 'rho_limit')::numeric), dp_cdp_internal.report_up((l.of ->> 'epsilon_limit')::numeric),
				dp_cdp_internal.report_up((l.of ->> 'report_delta')::numeric), dp_cdp_internal.report_guess((l.of ->> 'best_guess')::numeric)), '' ORDER BY l.place)
				FILTER (WHERE l.place <= 12)
			|| '</tbody></table></div>'
			|| CASE WHEN max(l.place) > 12 THEN format('<p class="note">%s have no larger rho than the last of these.</p>',
				dp_cdp_internal.report_plural(max(l.place) - 12, 'more budget', 'more budgets')) ELSE '' END END
	FROM limits l
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_limits(jsonb) IS
	'for dp_cdp.report: the cap and budgets as rho, epsilon and guess';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_contribution(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<ul class="plain">' || string_agg(format('<li>%s</li>', l.line), '' ORDER BY l.n) || '</ul>'
	FROM (VALUES
		(1, CASE WHEN r ->> 'max_contribution' = 'auto' THEN '<code>max_contribution</code>, found: each answer finds privately, within its price, how much of a person counts.'
			WHEN r ->> 'max_contribution' IS NULL THEN '<code>max_contribution</code>, none: the two below limit a person alone.'
			ELSE format('<code>max_contribution</code>, declared: a person counts in all groups together as much as %s rows in one.', dp_cdp_internal.report_text(r ->> 'max_contribution')) END),
		(2, CASE WHEN r ->> 'max_groups' IS NULL THEN '<code>max_groups</code>, not declared: 5 is used for the few aggregates that need a limit.'
			ELSE format('<code>max_groups</code>, declared: a person counts in at most %s of an answer.', dp_cdp_internal.report_plural((r ->> 'max_groups')::bigint, 'group', 'groups')) END),
		(3, CASE WHEN r ->> 'max_rows' IS NULL THEN '<code>max_rows</code>, not declared: 5 is used for the few aggregates that need a limit.'
			ELSE format('<code>max_rows</code>, declared: in one group at most %s of a person.', dp_cdp_internal.report_plural((r ->> 'max_rows')::bigint, 'row counts', 'rows count')) END),
		(4, 'An analyst may choose others: noise follows the limit, and the promise stays.'),
		(5, CASE WHEN (r ->> 'min_units')::bigint > 1 THEN format('<code>min_units</code>, declared: groups of fewer than %s people are not shown. Groups whose keys are declared have no answers where a noisy number of people is below it.', (r ->> 'min_units')::bigint) END)) l(n, line)
	WHERE l.line IS NOT NULL
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_contribution(jsonb) IS
	'for dp_cdp.report: how much of a person counts';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_checked(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT format('<p><code>check_setup()</code> has %s and %s. %s</p>', dp_cdp_internal.report_plural(n.critical, 'critical finding', 'critical findings'),
			dp_cdp_internal.report_plural(n.warnings, 'warning', 'warnings'),
			CASE WHEN n.critical > 0 THEN '<b>The promise does not hold until they are mended.</b>'
				WHEN n.warnings > 0 THEN 'Roles with a budget see no rows, but something beside them is open, or fails.' ELSE 'The promise holds for roles with a budget.' END)
		|| CASE WHEN n.listed = '[]' THEN '' ELSE dp_cdp_internal.report_findings_of(n.listed) END
	FROM (SELECT count(*) FILTER (WHERE f ->> 'severity' = 'critical') AS critical, count(*) FILTER (WHERE f ->> 'severity' = 'warning') AS warnings,
			coalesce(jsonb_agg(f - 'remedy' ORDER BY f ->> 'severity', x.n) FILTER (WHERE f ->> 'severity' IN ('critical', 'warning')), '[]') AS listed
		FROM jsonb_array_elements(r -> 'findings') WITH ORDINALITY x(f, n)) n
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_checked(jsonb) IS
	'for dp_cdp.report: critical findings and warnings';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_promise(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	replaced boolean := r ->> 'neighbors' = 'replace_one';
	every text := dp_cdp_internal.report_text(r ->> 'block_every');
	guess text := dp_cdp_internal.report_guess((r ->> 'best_guess')::numeric);
	figure text := '';
BEGIN
	IF r ->> 'rho_limit' IS NOT NULL THEN
		figure := '<figure>' || dp_cdp_internal.report_bells((r ->> 'rho_limit')::numeric, guess,
				CASE WHEN replaced THEN 'the one' ELSE 'without the person' END, CASE WHEN replaced THEN 'the other' ELSE 'with the person' END)
			|| '<figcaption>All answers that the cap buys, seen as one number. Where the bells overlap, a guess can be wrong.</figcaption></figure>';
	END IF;
	RETURN '<section id="promise"><h2>What is promised</h2>'
		|| format(CASE WHEN r -> 'protected' = '[]' THEN '<p class="warning">No table is protected: nothing is promised yet of %s. '
			WHEN r ->> 'rho_limit' IS NULL THEN '<p class="warning">No cap limits what all roles learn together. By the answers of one role, %s are as hard to tell apart as its budget says. '
			WHEN (r ->> 'best_guess')::numeric > 0.8 THEN '<p class="warning">Once the cap is spent, little is hidden: %s are told apart in %s of cases. '
			ELSE '<p>By all private answers, %s are hard to tell apart. ' END, dp_cdp_internal.report_neighbors(r), guess)
		|| format('Take the best guesser: he knows %s, and thinks both equally likely. Once a limit below is spent, he is right at most as often as it says; without answers, 50&#160;%% of the time.</p>',
			CASE WHEN replaced THEN 'everything but which of two persons is in the data'
				WHEN every IS NOT NULL THEN 'everything but whether a person''s rows of one block are in the data' ELSE 'everything but whether one person is in the data' END)
		|| CASE WHEN every IS NULL THEN '' ELSE format('<p class="warning">Caps and budgets hold for each block of time (%s) alone. Of somebody with rows in several blocks, up to as many times as much is known.</p>', every) END
		|| '<h3>Protected tables</h3>' || dp_cdp_internal.report_tables_of(r)
		|| '<h3>Cap and budgets</h3>' || dp_cdp_internal.report_limits(r)
		|| '<div class="two"><div><h3>How well the cap hides a person</h3>' || coalesce(nullif(figure, ''), '<p class="none">There is no cap to draw.</p>')
		|| '</div><div><h3>How much of a person counts</h3>' || dp_cdp_internal.report_contribution(r) || '</div><div><h3>Not covered</h3><ul class="plain">'
		|| '<li>Time: how long a query takes depends on rows. Each try has a price, and failures are counted.</li>'
		|| '<li>Roles that put answers together: only the lifetime cap limits what they know.</li>'
		|| '<li>Superusers, the operating system, backups, WAL and the server''s log: they show rows.</li>'
		|| '<li>Copies, exports, and tables that are not listed above.</li>'
		|| '<li>A person who goes by two names in the unit column: up to four times the rho.</li>'
		|| '<li>Disks that are set back as a whole: old balances come back with them.</li></ul></div>'
		|| '</div><h3>Setup</h3>' || dp_cdp_internal.report_checked(r)
		|| format('<h3>Owner of the dataset: %s. Read, and agreed to:</h3>', dp_cdp_internal.report_name(r ->> 'owner'))
		|| '<div class="sign"><p>Name</p><p>Date</p><p>Signature</p></div></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_promise(jsonb) IS
	'for dp_cdp.report: what is promised, as a page to be signed';

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
-- =========================================================================
-- 14. Sums over units
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any") FROM PUBLIC;

-- Bounds are of a row's value; a unit's total in a group is limited, too.
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';

-- how much the limits of totals cut off
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any") IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric, numeric, numeric) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision, double precision, double precision) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", text, text) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", text, text, text, text) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_rows(*) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_rows(*) IS
	'noisy share of privacy units, in each group, that have more rows than max_rows, which cuts the rest';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_groups(*) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_groups(*) IS
	'noisy share of privacy units, in each group, that have more groups than max_groups, which cuts the rest';

-- =========================================================================
-- 15. The price and the error of a query, before and after it ran (src/release/report.c)
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp_internal.preview_columns(query text, OUT aggregate text, OUT dataset text, OUT "group" text,
		OUT sensitivity double precision, OUT stddev double precision, OUT margin double precision,
		OUT rho numeric, OUT delta numeric, OUT formula text,
		OUT row_lower double precision, OUT row_upper double precision, OUT total_lower double precision, OUT total_upper double precision,
		OUT reused_since timestamptz, OUT block_from date, OUT block_to date, OUT norm double precision, OUT cut double precision, OUT limits text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_preview_columns' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_cdp_internal.preview_columns(text) IS
	'price and noise that each private aggregate of a query would have. For totals, too, call dp_cdp.preview';
CREATE OR REPLACE FUNCTION dp_cdp.preview(query text) RETURNS TABLE (item text, name text, dataset text,
		sensitivity double precision, stddev double precision, margin double precision, rho numeric, delta numeric,
		formula text, row_lower double precision, row_upper double precision,
		total_lower double precision, total_upper double precision, reused_since timestamptz,
		block_from date, block_to date, norm double precision, limits text)
	LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
	WITH c AS MATERIALIZED (
		SELECT p.* FROM dp_cdp_internal.preview_columns(preview.query) WITH ORDINALITY
			AS p(aggregate, dataset, "group", sensitivity, stddev, margin, rho, delta, formula,
				row_lower, row_upper, total_lower, total_upper, reused_since, block_from, block_to, norm, cut, limits, n)
	), t AS MATERIALIZED (
		SELECT c.dataset, sum(c.rho) AS rho, sum(c.delta) AS delta, min(c.block_from) AS block_from, max(c.block_to) AS block_to
			FROM c GROUP BY c.dataset
	), l AS (
		SELECT 1 AS part, c.n, CASE WHEN c.rho IS NULL THEN 'expression' ELSE 'aggregate' END AS item, c.aggregate AS name, c.dataset, c.sensitivity, c.stddev, c.margin, c.rho, c.delta, c.formula,
				c.row_lower, c.row_upper, c.total_lower, c.total_upper, c.reused_since, c.block_from, c.block_to, c.norm, c.limits
			FROM c
		UNION ALL
		SELECT 2, 0, 'total', NULL, t.dataset, NULL, NULL, NULL, t.rho, t.delta, NULL,
				NULL, NULL, NULL, NULL, NULL, t.block_from, t.block_to, NULL, NULL FROM t
		UNION ALL
		SELECT 3, 0, 'remains', b.role::text, b.dataset, NULL, NULL, NULL,
				b.rho_limit - CASE WHEN t.block_from IS NULL THEN b.rho_spent ELSE k.rho END - t.rho,
				b.delta_limit - CASE WHEN t.block_from IS NULL THEN b.delta_spent ELSE k.delta END - t.delta, NULL,
				NULL, NULL, NULL, NULL, NULL, t.block_from, t.block_to, NULL, NULL
			FROM t JOIN dp_cdp.budgets b ON b.dataset = t.dataset
				-- of the block with the most
				CROSS JOIN LATERAL (SELECT coalesce(max(s.rho_spent), 0) AS rho, coalesce(max(s.delta_spent), 0) AS delta
					FROM dp_cdp.blocks s
					WHERE s.ledger_id = b.ledger_id AND s.block_from < t.block_to AND t.block_from < s.block_to) k
			WHERE dp_cdp_internal.role_pays(session_user::regrole, b.role) OR dp_cdp_internal.role_pays(current_user::regrole, b.role)
	)
	SELECT l.item, l.name, l.dataset, l.sensitivity, l.stddev, l.margin, trim_scale(l.rho), trim_scale(l.delta), l.formula,
			l.row_lower, l.row_upper, l.total_lower, l.total_upper, l.reused_since, l.block_from, l.block_to, l.norm, l.limits
		FROM l ORDER BY l.part, l.n, l.dataset, l.name;
END;
COMMENT ON FUNCTION dp_cdp.preview(text) IS
	'price that a query would have, and the noise of each of its private aggregates. Nothing is executed or charged. The margin is half of a 95 % interval. Where stddev and margin depend on the answer they are NULL, and formula says about what the margin is for N rows. Where the norm is found first, formula has C for it. The limits of rows'' values and of units'' totals are row_lower to total_upper. The norm is a number of rows, for sums at the larger bound. It is NULL where it is found first, or limits nothing. The column limits says what a unit may add, as EXPLAIN does. Rows of the item remains say what would be left of each budget. Where an answer would be given again, or made better for the difference in price, reused_since tells since when it is kept. With blocks of time, each block that the query reads is charged the whole price, and what remains is of the block with the least';
CREATE OR REPLACE FUNCTION dp_cdp.query_fingerprint(query text, OUT aggregate text, OUT dataset text, OUT fingerprint text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_fingerprint' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_cdp.query_fingerprint(text) IS
	'fingerprint of what each private aggregate asks. Equal ones ask the same, whatever they cost. NULL: it is known only when the query runs. Nothing is executed or charged';
CREATE OR REPLACE FUNCTION dp_cdp.last_release(OUT aggregate text, OUT dataset text, OUT "group" text,
		OUT sensitivity double precision, OUT stddev double precision, OUT margin double precision,
		OUT rho numeric, OUT delta numeric,
		OUT row_lower double precision, OUT row_upper double precision, OUT total_lower double precision, OUT total_upper double precision,
		OUT reused_since timestamptz, OUT block_from date, OUT block_to date, OUT norm double precision, OUT cut double precision, OUT limits text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_last_release' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_cdp.last_release() IS
	'price and error of each private aggregate that this session released last. Single groups have rows where the error differs. The row tells since when the answer is kept, where it was given again or made better. Where the limit was found, it tells the norm to which a unit''s contributions to all groups were scaled. It tells by estimate the share that was cut. The column limits says what a unit may add. The margin is that of noise alone: dp_margin holds what was cut, too. An expression of aggregates, such as dp_margin(x), has a row without rho';

-- =========================================================================
-- 16. The owner of the database
-- =========================================================================

/*
 * Who owns the database may make datasets, let others make them, and close what is his, without a superuser's
 * GRANT: on managed servers there is none to ask.  Neither lets him do anything to what others own.  This part is
 * not run again by updates: what a superuser has taken from him stays taken.
 */
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO pg_database_owner WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION dp_cdp.harden TO pg_database_owner;

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
-- =========================================================================
-- 18. Clusters of Citus
-- =========================================================================

-- What a row adds to totals (bigint) and histograms (codes: integer, integer[]; bigint[] after what each counts), as rows of a cell and a number, whose sums Citus has computed where rows are
CREATE OR REPLACE FUNCTION dp_cdp_internal.entry_cells(VARIADIC "any") RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_entry_cells' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 3;
CREATE OR REPLACE FUNCTION dp_cdp_internal.entry_totals(VARIADIC "any") RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_entry_totals' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 3;

-- Without a function that combines states: Citus has the rows brought to the coordinator, or has all of it done by the one server that has them
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_histogram(code integer, bins integer) (
	SFUNC = dp_cdp_internal.exact_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192, FINALFUNC = dp_cdp_internal.vector_counts, PARALLEL = SAFE
);
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_histogram(codes integer[], bins integer) (
	SFUNC = dp_cdp_internal.codes_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192, FINALFUNC = dp_cdp_internal.vector_counts, PARALLEL = SAFE
);
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_shares(codes integer[], bins integer, share bigint) (
	SFUNC = dp_cdp_internal.codes_shares_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192, FINALFUNC = dp_cdp_internal.vector_counts, PARALLEL = SAFE
);
CREATE OR REPLACE FUNCTION dp_cdp_internal.gathered_distinct(dp_cdp_internal.exact_distinct) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'dp_gathered_distinct' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_distinct_shares(codes bigint[], share bigint, dp_cdp_internal.bound_spec, value integer) (
	SFUNC = dp_cdp_internal.codes_distinct_shares_add, STYPE = dp_cdp_internal.exact_distinct, SSPACE = 4096,
	FINALFUNC = dp_cdp_internal.gathered_distinct, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);

-- Gives the table that Citus manages the labels that it has here at the workers, too, or takes those of "removed" (numbers of columns,
-- 0: of the table) from them, and all of shards.  Labels are set in transactions of the workers' own, and taken from shards in such:
-- one that stays there when this is undone closes a table, and shards of a table with one are closed.  The table's own
-- are removed by Citus, in transactions that end as this one does, lest a ROLLBACK should leave it open at workers
CREATE OR REPLACE FUNCTION dp_cdp_internal.relabel_workers("table" regclass, removed smallint[])
	RETURNS void
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	AS $f$
DECLARE
	-- labels of the table where that is true and it gets new ones, and of shards
	clear text := $d$DECLARE
			statement text;
		BEGIN
			-- shard_name() does not say public; the function that this is a part of resets it
			SET LOCAL search_path = pg_catalog, public;
			%3$s
			FOR statement IN SELECT format('SECURITY LABEL FOR dp_cdp ON %%s IS NULL', CASE WHEN l.objsubid = 0 THEN 'TABLE ' || l.objoid::regclass
					ELSE format('COLUMN %%s.%%I', l.objoid::regclass, a.attname) END)
				FROM pg_seclabel l LEFT JOIN pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
				WHERE l.provider = 'dp_cdp' AND l.classoid = 'pg_class'::regclass AND (%2$L AND l.objoid = to_regclass(%1$L) OR
					l.objoid IN (SELECT to_regclass(shard_name(s.logicalrelid, s.shardid)) FROM pg_dist_shard s WHERE s.logicalrelid = to_regclass(%1$L)))
				ORDER BY l.objoid, l.objsubid LOOP
				EXECUTE statement;
			END LOOP;$d$;
	statement text;
	name text := (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = "table");
	wanted text;
	command text;
	failed text;
	roles_propagate text := current_setting('citus.enable_alter_role_propagation');
	propagates text := current_setting('citus.enable_ddl_propagation');
	-- workers know no others: of those that are distributed by ranges or appended to they have shards alone
	known bool := (SELECT p.partmethod IN ('h', 'n') FROM pg_dist_partition p WHERE p.logicalrelid = "table");
BEGIN
	IF known THEN
		PERFORM set_config('citus.enable_ddl_propagation', 'on', true), set_config('citus.enable_alter_role_propagation', 'on', true);
		FOR statement IN SELECT format('SECURITY LABEL FOR dp_cdp ON %s IS NULL', CASE WHEN r = 0 THEN 'TABLE ' || name ELSE format('COLUMN %s.%I', name, a.attname) END)
			FROM unnest(removed) r LEFT JOIN pg_attribute a ON a.attrelid = "table" AND a.attnum = r ORDER BY r DESC LOOP
			EXECUTE statement;
		END LOOP;
		PERFORM set_config('citus.enable_ddl_propagation', propagates, true), set_config('citus.enable_alter_role_propagation', roles_propagate, true);
	END IF;
	SELECT string_agg(format('SECURITY LABEL FOR dp_cdp ON %s IS %L', CASE WHEN l.objsubid = 0 THEN 'TABLE ' || name
			ELSE format('COLUMN %s.%I', name, a.attname) END, l.label), '; ' ORDER BY l.objsubid)
		INTO wanted
		FROM pg_seclabel l LEFT JOIN pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
		WHERE l.provider = 'dp_cdp' AND l.classoid = 'pg_class'::regclass AND l.objoid = "table";
	-- one that knows no tables of the cluster, by its own number, has none to be closed
	command := format('DO LANGUAGE plpgsql %L', format(clear, name, wanted IS NOT NULL, 'SET LOCAL lock_timeout = ''10s''; SET LOCAL citus.enable_ddl_propagation = off;')
		|| format(' IF EXISTS (SELECT FROM pg_dist_local_group WHERE groupid <> 0) THEN IF to_regclass(%L) IS NULL THEN'
			' RAISE ''it is not there yet: call this in a transaction after that in which the table was distributed''; END IF; %s END IF; END',
			name, coalesce(wanted || ';', '')));
	IF known THEN
		EXECUTE 'SELECT string_agg(format(''%s:%s: %s'', w.nodename, w.nodeport, w.result), ''; '') FROM run_command_on_workers($1) w WHERE NOT w.success'
			INTO failed USING command;
	END IF;
	IF failed IS NOT NULL THEN
		RAISE 'the label of table % cannot be set at all servers of the cluster: %', name, failed USING ERRCODE = 'ZC004';
	END IF;
	IF wanted IS NULL THEN
		PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
		EXECUTE format('DO LANGUAGE plpgsql %L', format(clear, name, false, '') || ' END');
		PERFORM set_config('citus.enable_ddl_propagation', propagates, true);
	END IF;
END $f$;
REVOKE ALL ON FUNCTION dp_cdp_internal.relabel_workers(regclass, smallint[]) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.relabel_workers(regclass, smallint[]) IS
	'called by protect_table() and unprotect_table(): labels of a table that Citus manages at the workers';

-- What a worker tells of itself; '{}' where there is no Citus, or this is a worker
CREATE OR REPLACE FUNCTION dp_cdp_internal.cluster_facts()
	RETURNS TABLE(node text, answers boolean, told jsonb)
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	coordinator boolean;
BEGIN
	IF to_regclass('pg_catalog.pg_dist_local_group') IS NULL THEN
		RETURN;
	END IF;
	EXECUTE 'SELECT groupid = 0 FROM pg_catalog.pg_dist_local_group' INTO coordinator;
	IF coordinator THEN
		RETURN QUERY EXECUTE 'SELECT format(''%s:%s'', w.nodename, w.nodeport), w.success,'
			' CASE WHEN w.success THEN w.result::jsonb ELSE ''{}'' END FROM run_command_on_workers($1) w'
			USING format('SELECT jsonb_build_object(''libraries'', current_setting(''shared_preload_libraries''),'
				' ''version'', (SELECT extversion FROM pg_extension WHERE extname = ''dp_cdp''),'
				' ''logs'', (SELECT string_agg(l.setting, '', '' ORDER BY l.setting) FROM (SELECT name || '' = '' || setting FROM pg_settings'
				' WHERE name IN (''log_statement'', ''log_min_duration_statement'', ''log_min_duration_sample'') AND setting NOT IN (''none'', ''-1'')'
				' UNION SELECT replace(c, ''='', '' = '') || coalesce('' of role '' || nullif(setrole, 0)::regrole, '''') FROM pg_db_role_setting, unnest(setconfig) c'
				' WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))'
				' AND c ~ ''^log_(statement|min_duration_statement|min_duration_sample)='' AND c !~ ''=(none|-1)$'') l(setting)),'
				' ''analysts'', (SELECT string_agg(quote_ident(rolname), '', '' ORDER BY rolname) FROM pg_roles'
				' WHERE rolname = ANY (%L::text[]) AND rolcanlogin AND has_database_privilege(oid, current_database(), ''CONNECT'')))',
				ARRAY(SELECT DISTINCT b.role_name::text FROM dp_cdp_internal.budget b));
	END IF;
END $$;
REVOKE ALL ON FUNCTION dp_cdp_internal.cluster_facts() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.cluster_facts() IS
	'facts that the workers of a Citus cluster tell of themselves. No rows on a worker, nor where there is no Citus';

-- What check_setup() says of them
CREATE OR REPLACE FUNCTION dp_cdp_internal.cluster_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
	AS $$
WITH facts AS MATERIALIZED (
	SELECT f.node, f.answers, f.told FROM dp_cdp_internal.cluster_facts() f
)
SELECT v.severity, format('worker %s', f.node), v.finding, v.remedy
FROM facts f, LATERAL (VALUES
	(NOT f.answers, 'warning', 'does not answer: what is open there is not known, and releases from distributed tables are refused',
		'start it, or take it out of the cluster'),
	(f.answers AND NOT coalesce('dp_cdp' = ANY (string_to_array(regexp_replace(f.told ->> 'libraries', '[ "]|\.so', '', 'g'), ',')), false),
		'critical', 'shared_preload_libraries has no dp_cdp: nothing is guarded there',
		'add dp_cdp after citus to its shared_preload_libraries and restart it'),
	(f.answers AND f.told ->> 'version' IS DISTINCT FROM (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'dp_cdp'),
		'warning', format('has version %s of dp_cdp, and the coordinator another', coalesce(f.told ->> 'version', 'none')),
		'install the same version on all servers, and ALTER EXTENSION dp_cdp UPDATE'),
	(f.told ->> 'logs' IS NOT NULL, 'warning',
		format('logs statements (%s): of inner queries they show the seed that decides which groups of a person are left out', f.told ->> 'logs'),
		'ALTER SYSTEM RESET those settings there; SELECT pg_reload_conf()'),
	(f.told ->> 'analysts' IS NOT NULL, 'info',
		format('as far as privileges tell, analysts may log in there (%s); they read nothing, but have no business with it', f.told ->> 'analysts'),
		'let pg_hba.conf there admit the coordinator and administrators alone')
	) AS v(applies, severity, finding, remedy)
WHERE v.applies
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.cluster_findings() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.cluster_findings() IS
	'for check_setup(): what is open or missing at the workers of a Citus cluster';
-- =========================================================================
-- 19. Calculators of divergences, information and groups (src/calc)
-- =========================================================================

-- As in part 4; these can be run again.  What two arrays of probabilities tell is rounded upwards.

CREATE OR REPLACE FUNCTION dp_cdp.kl_divergence(p float8[], q float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_kl_divergence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.kl_divergence(float8[], float8[]) IS
	'calculator: Kullback-Leibler divergence of p from q, in nats: the sum of p ln(p / q). It is Infinity where an '
	'outcome of p is impossible under q. Rounded upwards. Arrays p and q have the same length, elements >= 0 and <= '
	'1, and sums of 1 within 1e-9. Dwork and Rothblum 2016, Definition 2.1';
CREATE OR REPLACE FUNCTION dp_cdp.max_divergence(p float8[], q float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_max_divergence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.max_divergence(float8[], float8[]) IS
	'calculator: max divergence of p from q, in nats: the largest ln(p / q). It is Infinity where an outcome of p is '
	'impossible under q. Rounded upwards. Arrays p and q have the same length, elements >= 0 and <= 1, and sums of 1 '
	'within 1e-9. Dwork and Rothblum 2016, Definition 2.2';
CREATE OR REPLACE FUNCTION dp_cdp.renyi_divergence(alpha float8, p float8[], q float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_renyi_divergence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.renyi_divergence(float8, float8[], float8[]) IS
	'calculator: Renyi divergence of order alpha of p from q, in nats: ln(sum of p^alpha q^(1 - alpha)) / (alpha - '
	'1). It is Infinity where an outcome of p is impossible under q. Rounded upwards. Takes alpha > 1. Arrays p and '
	'q have the same length, elements >= 0 and <= 1, and sums of 1 within 1e-9. Bun and Steinke 2016, Definition 2.1';
CREATE OR REPLACE FUNCTION dp_cdp.privacy_loss(p float8[], q float8[]) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_privacy_loss' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.privacy_loss(float8[], float8[]) IS
	'calculator: (mu, tau) of the privacy loss ln(p / q) under p, both rounded upwards. They are its mean, and the '
	'least tau for which it is tau-subgaussian around that. A mechanism is (mu, tau)-mean-concentrated DP if no pair '
	'of neighbours has more, in either order. They are Infinity where an outcome of p is impossible under q. Arrays '
	'p and q have the same length, elements >= 0 and <= 1, and sums of 1 within 1e-9. At most 10000 elements are '
	'taken. Dwork and Rothblum 2016, section 2. Proof in src/calc/divergence.c';
CREATE OR REPLACE FUNCTION dp_cdp.renyi_triangle(alpha float8, k float8, epsilon_pq float8, epsilon_qr float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_renyi_triangle' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.renyi_triangle(float8, float8, float8, float8) IS
	'calculator: bound of the Renyi divergence of order alpha of P from R: k alpha / (k alpha - 1) epsilon_pq + '
	'epsilon_qr. Here epsilon_pq is of P from Q, of order (k alpha - 1) / (k - 1). And epsilon_qr is of Q from R, of '
	'order k alpha. Rounded upwards. Takes alpha > 1, k > 1, both epsilons >= 0 in nats. Bun and Steinke 2016, Lemma '
	'5.2';
CREATE OR REPLACE FUNCTION dp_cdp.mutual_information(rho float8, n bigint, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mutual_information' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mutual_information(float8, bigint, float8) IS
	'calculator: bound of the mutual information, in nats, between a dataset of n entries and the output of a (xi, '
	'rho)-zCDP mechanism. Neighbours differ in one entry. The bound is rho n^2 + xi n (1 + 1/2 + ... + 1/n). Rounded '
	'upwards. Takes rho >= 0 in nats, n >= 1, xi >= 0 in nats. Bun and Steinke 2016, Proposition 1.10';
CREATE OR REPLACE FUNCTION dp_cdp.mutual_information_product(rho float8, n bigint, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mutual_information_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mutual_information_product(float8, bigint, float8) IS
	'calculator: bound of the mutual information, in nats, for n entries that are independent (a product '
	'distribution): (rho + xi) n. Rounded upwards. Takes rho >= 0 in nats, n >= 1, xi >= 0 in nats. Bun and Steinke '
	'2016, Proposition 1.10';
CREATE OR REPLACE FUNCTION dp_cdp.approx_curve_to_zcdp(xi float8, rho float8) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_approx_curve_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_curve_to_zcdp(float8, float8) IS
	'calculator: (rho, xi) as zCDP of a mechanism that is (epsilon, delta)-DP for every delta > 0, with epsilon = xi '
	'+ sqrt(rho ln(1/delta)). They are rho / 4, and xi - rho / 4 + 5 rho^(1/4), rounded upwards. Takes 0 <= xi <= 1, '
	'0 <= rho <= 1. Bun and Steinke 2016, Lemma 3.7';
CREATE OR REPLACE FUNCTION dp_cdp.group_mcdp_general(mu float8, tau float8, k bigint) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_mcdp_general' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_mcdp_general(float8, float8, bigint) IS
	'calculator: (mu, tau) for groups of k of any mean-concentrated DP, rounded upwards. Let m be the smaller of mu '
	'and tau^2 / 2. The result''s mu is k m + (k - 1) tau sqrt(2 m) + (k - 1) (k - 2) tau^2 / 2, at most (k tau)^2 / '
	'2. Its tau is k tau times a factor, which is 1.14 for k tau = 0.1 and 1.54 for k tau = 1. Takes mu >= 0, tau >= '
	'0, k >= 1. Sharper than Dwork and Rothblum 2016, Theorem 4.1. Proof in src/calc/group.c';
CREATE OR REPLACE FUNCTION dp_cdp.mcdp_triangle(mu_pq float8, tau_pq float8, mu_qr float8, tau_qr float8) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_triangle' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_triangle(float8, float8, float8, float8) IS
	'calculator: (mu, tau) of the privacy loss of P from R, rounded upwards. That between P and Q is (mu_pq, '
	'tau_pq), and that between Q and R is (mu_qr, tau_qr), each in both orders. All are >= 0. Sharper than Dwork and '
	'Rothblum 2016, Lemmas 4.2 and 4.3. Proof in src/calc/group.c';
COMMENT ON FUNCTION dp_cdp.group_mcdp(float8, float8, bigint) IS
	'calculator: (mu, tau) for groups of k of mean-concentrated DP: k^2 mu, k tau. It holds for Gaussian noise with '
	'mu = tau^2 / 2, and for epsilon-DP as pure_to_mcdp has it: tau >= epsilon, mu >= epsilon tanh(epsilon / 2). It '
	'holds for compositions of these. For all else take group_mcdp_general. Takes mu >= 0, tau >= 0, k >= 1. Dwork '
	'and Rothblum 2016, section 1 and Corollary 3.3. Proof in src/calc/group.h';

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
