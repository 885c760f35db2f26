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
