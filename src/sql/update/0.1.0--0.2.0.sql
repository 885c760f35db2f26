/* The update script: made by "make" of src/sql/update/ and parts of the install script, see src/sql/compose.sh */

\echo Use "ALTER EXTENSION dp_cdp UPDATE TO '0.2.0'" to load this file. \quit

