-- An object counts as the extension's own only as a member of it: what bears
-- its name, signature and schema is not enough.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int, cost int);
INSERT INTO visits SELECT i, i FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic');
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1000);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000);
RESET SESSION AUTHORIZATION;

\ir analyst.psql

SELECT no_plan();

-- before anything was asked: a member that was found is remembered
ALTER EXTENSION dp_cdp DROP FUNCTION dp_cdp_internal.margin(float8, float8);
ALTER EXTENSION dp_cdp DROP FUNCTION dp_cdp_internal.bound_value(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec);
SELECT is(failure, '42883 function dp_cdp_internal.margin(double precision, double precision) is missing or altered; run ALTER EXTENSION dp_cdp UPDATE',
		'a function that is no member')
	FROM run_as_analyst('SELECT dp_count(*), dp_margin(dp_count(*)) FROM visits');
SELECT matches(failure, '^42883 function dp_cdp_internal.bound_value.* is missing or altered', 'one that bounds contributions')
	FROM run_as_analyst('SELECT dp_sum(cost) FROM visits');

ALTER EXTENSION dp_cdp ADD FUNCTION dp_cdp_internal.margin(float8, float8);
ALTER EXTENSION dp_cdp ADD FUNCTION dp_cdp_internal.bound_value(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec);
SELECT is(failure, NULL, 'members again')
	FROM run_as_analyst('SELECT dp_count(*), dp_margin(dp_count(*)), dp_sum(cost) FROM visits');

-- made anew in a transaction, and taken back: each time the members that there are
SELECT dp_cdp.empty_ledger();
BEGIN;
DROP EXTENSION dp_cdp CASCADE;
SAVEPOINT s;
SET SESSION AUTHORIZATION analyst1;
\set ON_ERROR_STOP 0
SELECT count(*) FROM visits;
\set ON_ERROR_STOP 1
\set dropped :LAST_ERROR_SQLSTATE
ROLLBACK TO s;
CREATE EXTENSION dp_cdp;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('clinic');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000);
RESET SESSION AUTHORIZATION;
SELECT coalesce(failure, 'none') AS anew
	FROM run_as_analyst('EXPLAIN SELECT dp_count(*), dp_margin(dp_count(*)), dp_sum(cost) FROM visits') \gset
ROLLBACK;
SELECT is(:'dropped'::text, 'ZC002', 'a protected table without the extension');
SELECT is(:'anew'::text, 'none', 'members of the extension that was made anew');
SELECT is(failure, NULL, 'those from before, after a rollback')
	FROM run_as_analyst('SELECT dp_count(*), dp_margin(dp_count(*)), dp_sum(cost) FROM visits');

-- dropped with its extension, a member is forgotten, and what is made in its place is none
SELECT dp_cdp.empty_ledger();
SELECT dp_cdp.unprotect_table('visits');
DROP EXTENSION dp_cdp CASCADE;
CREATE SCHEMA dp_cdp_internal;
SELECT throws_ok('CREATE EXTENSION dp_cdp', '42P06', 'schema "dp_cdp_internal" already exists', 'somebody else''s schema is not taken for the extension''s');
DROP SCHEMA dp_cdp_internal;
CREATE SCHEMA dp_cdp;
CREATE SCHEMA dp_cdp_internal;
GRANT USAGE ON SCHEMA dp_cdp, dp_cdp_internal TO PUBLIC;
CREATE TABLE dp_cdp_internal.dataset (name text, owner regrole);
INSERT INTO dp_cdp_internal.dataset VALUES ('clinic', 'owner1');
CREATE FUNCTION label_as_owner() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION owner1';
	BEGIN
		EXECUTE $l$ SECURITY LABEL FOR dp_cdp ON TABLE visits IS '{"dataset": "clinic"}' $l$;
		EXECUTE 'RESET SESSION AUTHORIZATION';
		RETURN 'labelled';
	EXCEPTION WHEN OTHERS THEN
		EXECUTE 'RESET SESSION AUTHORIZATION';
		RETURN SQLSTATE;
	END;
END $$;
SELECT is(label_as_owner(), 'ZC004', 'a schema and a table of these names make no extension');

DROP SCHEMA dp_cdp, dp_cdp_internal CASCADE;

-- nobody but the extension's owner makes anything in its schemas, and DROP EXTENSION leaves nothing
CREATE EXTENSION dp_cdp;
SELECT is(string_agg(nspname, ', '), NULL, 'an analyst may create in neither schema')
	FROM pg_namespace WHERE nspname IN ('dp_cdp', 'dp_cdp_internal') AND has_schema_privilege('analyst1', oid, 'CREATE');
SELECT is_empty($$ SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'dp_cdp'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL $$,
	'what \df dp_cdp.* shows is all for users, and says what for');
SELECT throws_like('DROP SCHEMA dp_cdp_internal CASCADE', 'cannot drop schema dp_cdp_internal because extension dp_cdp requires it', 'the schema goes with the extension alone');
DROP EXTENSION dp_cdp;
SELECT is(count(*), 0::bigint, 'and both schemas with it') FROM pg_namespace WHERE nspname ~ '^dp_cdp';

SELECT * FROM finish();
