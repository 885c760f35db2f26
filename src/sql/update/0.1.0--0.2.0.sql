/* The update script: made by "make" of src/sql/update/ and parts of the install script, see src/sql/compose.sh */

\echo Use "ALTER EXTENSION dp_cdp UPDATE TO '0.2.0'" to load this file. \quit

-- Adopting: which datasets their owners adopted by themselves, and the file
-- that a copied data directory does not share.
ALTER TABLE dp_cdp.dataset ADD COLUMN adopted text;
DROP FUNCTION dp_cdp.adopt_ledger(float8, float8);
ALTER TABLE dp_cdp.ledger_stamp ADD COLUMN file text, ADD COLUMN place text;

-- what a release may hold
ALTER TABLE dp_cdp.dataset ADD COLUMN release_memory int;
DROP FUNCTION dp_cdp.create_dataset(text, float8, float8, float8, float8, int, int, text, float8, float8, int, interval);
DROP FUNCTION dp_cdp.alter_dataset(text, float8, float8, float8, float8, int, int, text, float8, regrole, float8, int, interval);

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

