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
FOR smallint; integer; bigint; numeric; float8; text
CREATE CAST ($1 AS dp_cdp.contribution) WITH INOUT AS IMPLICIT;
END

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
