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

-- =========================================================================
-- 5. What analysts write (guard)
-- =========================================================================
