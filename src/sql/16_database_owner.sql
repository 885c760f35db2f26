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
