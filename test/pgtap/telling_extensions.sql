-- Functions of other extensions that answer from statistics, sizes or queries of
-- others: harden() closes them, what comes later is told and reported.

SET client_min_messages = error;
SELECT no_plan();

CREATE ROLE ana LOGIN;
CREATE ROLE bob LOGIN;
CREATE TABLE visits (patient int NOT NULL, cost int);
INSERT INTO visits SELECT i, i FROM generate_series(1, 50000) i;
ANALYZE visits;
SELECT dp_cdp.create_dataset('clinic', rho => 10);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 5);

CREATE FUNCTION as_role(role name, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', role);
	BEGIN
		EXECUTE statement INTO result;
	EXCEPTION WHEN OTHERS THEN
		RESET SESSION AUTHORIZATION;
		RETURN SQLSTATE;
	END;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;

-- an extension that nobody knows: a function of a relation, one of a query, rows of
-- everything, a view of these and a view of that
CREATE EXTENSION lo;
CREATE FUNCTION pages_of(text) RETURNS bigint AS '$libdir/pgstattuple', 'pg_relpages_v1_5' LANGUAGE C STRICT;
CREATE FUNCTION pages_of(regclass) RETURNS bigint AS '$libdir/pgstattuple', 'pg_relpagesbyid_v1_5' LANGUAGE C STRICT STABLE;
CREATE FUNCTION times() RETURNS SETOF record AS '$libdir/pg_buffercache', 'pg_buffercache_pages' LANGUAGE C STRICT;
CREATE FUNCTION computed(text) RETURNS text AS '$libdir/citext', 'citext_hash' LANGUAGE C STRICT IMMUTABLE;
CREATE FUNCTION drawn(int) RETURNS int AS '$libdir/tablefunc', 'normal_rand' LANGUAGE C;
CREATE FUNCTION lent() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$ SELECT pages_of('visits') $$;
CREATE FUNCTION lent_more() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN public.pages_of('public.visits'::regclass); END $$;
CREATE FUNCTION asks() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT public.pages_of('public.visits'::regclass) $$;
CREATE VIEW all_pages AS SELECT c.relname, pages_of(c.oid::regclass) AS pages FROM pg_class c WHERE c.relname = 'visits';
CREATE VIEW some_pages AS SELECT pages FROM all_pages;
GRANT SELECT ON all_pages, some_pages TO PUBLIC;
ALTER EXTENSION lo ADD FUNCTION pages_of(text);
ALTER EXTENSION lo ADD FUNCTION pages_of(regclass);
ALTER EXTENSION lo ADD FUNCTION times();
ALTER EXTENSION lo ADD FUNCTION lent();
ALTER EXTENSION lo ADD FUNCTION lent_more();
ALTER EXTENSION lo ADD FUNCTION asks();
ALTER EXTENSION lo ADD FUNCTION computed(text);
ALTER EXTENSION lo ADD FUNCTION drawn(int);
ALTER EXTENSION lo ADD VIEW all_pages;
ALTER EXTENSION lo ADD VIEW some_pages;
SELECT ok(as_role('bob', q)::int > 100, 'open to a role without any grant: ' || q) FROM unnest(ARRAY[
	'SELECT pages_of(''visits'')', 'SELECT pages_of(''visits''::regclass)', 'SELECT pages FROM all_pages', 'SELECT pages FROM some_pages',
	'SELECT lent()', 'SELECT lent_more()', 'SELECT asks()']) q;

CREATE VIEW found AS SELECT * FROM dp_cdp.check_setup() WHERE object NOT LIKE 'database %' AND object NOT IN ('fsync', 'full_page_writes', 'max_worker_processes');
SELECT matches(finding, '^open to PUBLIC: all_pages and 6 more, of lo; they tell how many rows', 'a finding') FROM found WHERE object = 'functions of extensions';

SELECT is(count(*), 14::bigint, 'closed: those, for PUBLIC, and given to monitors') FROM dp_cdp.harden() WHERE object ~ 'pages|times[(]|lent' AND done;
SELECT is(as_role('bob', q), '42501', 'hardened: ' || q) FROM unnest(ARRAY[
	'SELECT pages_of(''visits'')', 'SELECT pages_of(''visits''::regclass)', 'SELECT pages FROM all_pages', 'SELECT pages FROM some_pages',
	'SELECT 1 FROM times() t(a int, b timestamptz, c xid)', 'SELECT lent()', 'SELECT lent_more()', 'SELECT asks()']) q;
SELECT ok(has_function_privilege('bob', f, 'EXECUTE'), f || ' stays') FROM unnest('{computed(text),drawn(int),asks()}'::text[]) f;
SELECT is_empty('SELECT * FROM found', 'nothing is left');

-- what is created after it
\set said `psql -X -c 'CREATE EXTENSION pgrowlocks' 2>&1`
SELECT matches(:'said'::text, 'WARNING:  functions of extension pgrowlocks are open to PUBLIC .* dp_cdp.harden\(\) closes them', 'told at CREATE EXTENSION');
SELECT is((SELECT severity || ' ' || object FROM found), 'warning functions of extensions', 'and by check_setup()');
\set said `psql -X -c 'SELECT count(*) FROM dp_cdp.harden()' -c 'CREATE EXTENSION pageinspect' -c 'SELECT count(*) FROM dp_cdp.harden()' 2>&1`
SELECT matches(:'said'::text, 'extension pageinspect are open', 'another');
\set said `psql -X -c 'CREATE EXTENSION pg_trgm' -c 'CREATE EXTENSION tablefunc' -c 'CREATE EXTENSION pgcrypto' -c 'CREATE EXTENSION hstore' -c 'CREATE EXTENSION unaccent' -c 'CREATE EXTENSION cube' -c 'CREATE EXTENSION file_fdw' -c 'CREATE EXTENSION bloom' -c 'CREATE EXTENSION intarray' -c 'CREATE EXTENSION "uuid-ossp"' 2>&1 | grep -v '^CREATE EXTENSION$'`
SELECT is(:'said'::text, '', 'what computes is left alone');
SELECT is_empty('SELECT * FROM found', 'and is no finding');
\set said `psql -X -c 'ALTER EXTENSION lo DROP FUNCTION times()' -c 'GRANT EXECUTE ON FUNCTION pages_of(text) TO PUBLIC' -c 'ALTER EXTENSION lo ADD FUNCTION times()' 2>&1`
SELECT matches(:'said'::text, 'extension lo are open', 'told at ALTER EXTENSION, too');

-- back
SELECT count(*) FROM dp_cdp.unharden() \g /dev/null
SELECT ok(as_role('bob', 'SELECT pages FROM some_pages')::int > 100, 'unharden() gives it back');
\set said `psql -X -c 'CREATE EXTENSION pg_prewarm' 2>&1`
SELECT is(:'said'::text, 'CREATE EXTENSION', 'nothing is told who has not hardened');

SELECT * FROM finish();
