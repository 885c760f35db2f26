-- Functions that a superuser adds to those that may be used on rows:
-- dp_cdp.allow_function(), dp_cdp.disallow_function(), and what is asked again
-- at each use.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE visits (id int PRIMARY KEY, patient int, dept text, mood mood, cost numeric);
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), 'sad', i FROM generate_series(1, 3000) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
RESET SESSION AUTHORIZATION;

\ir analyst.psql

CREATE FUNCTION answers(statement text, description text) RETURNS text
	LANGUAGE sql AS $$ SELECT is(run_as_analyst(statement)::text, '(,1)', description) $$;
CREATE FUNCTION refused(statement text, message text, description text) RETURNS text
	LANGUAGE sql AS $$
	SELECT CASE WHEN r.cost = 0 THEN matches(coalesce(r.failure, 'answered'), message, description)
		ELSE fail(description || ': it cost ' || r.cost) END
	FROM run_as_analyst(statement) r $$;

CREATE SCHEMA lib;
GRANT USAGE ON SCHEMA lib TO PUBLIC;
-- no SQL functions, which would be inlined
CREATE FUNCTION lib.band(i int) RETURNS text LANGUAGE plpgsql IMMUTABLE
	AS $$ BEGIN RETURN CASE WHEN i < 100 THEN 'few' ELSE 'many' END; END $$;
CREATE FUNCTION lib.share(part int, whole int DEFAULT 2) RETURNS int LANGUAGE plpgsql IMMUTABLE
	AS $$ BEGIN RETURN CASE WHEN whole <> 0 THEN part / whole END; END $$;
CREATE FUNCTION lib.initial(text) RETURNS text LANGUAGE internal IMMUTABLE STRICT AS 'initcap';
CREATE FUNCTION lib.glad(mood) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT $1 = 'happy' $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- who may add
-- ------------------------------------------------------------------------

SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.band(id) = ''few''',
	'^ZC002 function lib.band\(integer\) cannot be used .* a superuser can add it with dp_cdp.allow_function', 'not yet added');
SELECT refused('SELECT dp_cdp.allow_function(''lib.band(int)'')', '^42501', 'analysts add nothing');
SELECT refused('SELECT dp_cdp.disallow_function(''lib.band(int)'')', '^42501', 'nor remove');
GRANT EXECUTE ON FUNCTION dp_cdp.allow_function(regprocedure), dp_cdp.disallow_function(regprocedure) TO analyst1;
SELECT refused('SELECT dp_cdp.allow_function(''lib.band(int)'')', '^42501 only superusers', 'with EXECUTE neither');
SELECT refused('SELECT dp_cdp.disallow_function(''lib.band(int)'')', '^42501 only superusers', 'nor remove with it');
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION mine(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
RESET SESSION AUTHORIZATION;
SELECT refused('SECURITY LABEL FOR dp_cdp ON FUNCTION mine(int) IS ''{"allowed": true}''', '^42501 only superusers',
	'nor by a label on their own function');
SELECT throws_ok($$ SELECT dp_cdp.disallow_function('lib.band(int)') $$, 'ZC004', NULL, 'nothing to remove');
SELECT throws_ok(format('SECURITY LABEL FOR dp_cdp ON FUNCTION lib.band(int) IS %L', l), 'ZC004', NULL, 'no label: ' || l)
	FROM unnest('{"{}", "{\"allowed\": false}", "{\"unit\": true}", "{\"allowed\": true, \"x\": 1}"}'::text[]) l;
SELECT throws_ok($$ SECURITY LABEL FOR dp_cdp ON SCHEMA lib IS '{"allowed": true}' $$, 'ZC004', NULL, 'nothing else has labels');
SELECT is(count(*), 0::bigint, 'none is added') FROM dp_cdp.allowed_functions() WHERE treatment = 'added';

-- ------------------------------------------------------------------------
-- what can be added
-- ------------------------------------------------------------------------

CREATE FUNCTION lib.definer(int) RETURNS int LANGUAGE sql IMMUTABLE SECURITY DEFINER AS 'SELECT $1';
CREATE FUNCTION lib.noisy(int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT $1';
CREATE FUNCTION lib.many(int) RETURNS SETOF int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION lib.of_array(int[]) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1[1]';
CREATE FUNCTION lib.of_some(VARIADIC int[]) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1[1]';
CREATE FUNCTION lib.of_any(anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION lib.of_row(visits) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1.id';
CREATE FUNCTION lib.to_json(int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS 'SELECT to_jsonb($1)';
CREATE FUNCTION lib.to_nothing(int) RETURNS void LANGUAGE sql IMMUTABLE AS 'SELECT';
CREATE FUNCTION lib.two(int, OUT a int, OUT b int) LANGUAGE sql IMMUTABLE AS 'SELECT $1, $1';
CREATE AGGREGATE lib.total(int) (SFUNC = int4pl, STYPE = int);
CREATE PROCEDURE lib.proc(int) LANGUAGE sql AS 'SELECT';
CREATE EXTENSION fuzzystrmatch;
CREATE LANGUAGE other HANDLER plpgsql_call_handler;
CREATE FUNCTION lib.in_other(int) RETURNS int LANGUAGE other IMMUTABLE AS 'BEGIN RETURN 1; END';

SELECT throws_matching(format('SELECT dp_cdp.allow_function(%L)', f), because, 'cannot be added: ' || f)
	FROM (VALUES
		('mine(int)', 'its owner, who can replace it, is no superuser'),
		('lib.definer(int)', 'SECURITY DEFINER'),
		('lib.noisy(int)', 'VOLATILE'),
		('lib.many(int)', 'returns a set'),
		('lib.of_array(int[])', 'takes type integer\[\]'),
		('lib.of_some(int[])', 'takes type integer\[\]'),
		('lib.of_any(anyelement)', 'takes type anyelement'),
		('lib.of_row(visits)', 'takes type (public.)?visits'),
		('lib.to_json(int)', 'returns type jsonb'),
		('lib.to_nothing(int)', 'returns type void'),
		('lib.two(int)', 'returns type record'),
		('lib.total(int)', 'an aggregate'),
		('lib.proc(int)', 'a procedure'),
		('lib.in_other(int)', 'its language is other'),
		('soundex(text)', 'it belongs to extension "fuzzystrmatch"'),
		('pg_catalog.md5(text)', 'PostgreSQL''s own'),
		('pg_catalog.lower(text)', 'already'),
		('random()', 'PostgreSQL''s own')) AS v (f, because);
SELECT throws_ok('SELECT dp_cdp.allow_function(''lib.noisy(int)'')', 'ZC004', NULL, 'SQLSTATE of these');
SELECT throws_ok('SELECT dp_cdp.allow_function(1::oid)', '42883', NULL, 'no function at all');

SELECT lives_ok(format('SELECT dp_cdp.allow_function(%L)', f), 'added: ' || f)
	FROM unnest('{lib.band(int),"lib.share(int,int)",lib.initial(text),lib.glad(mood),lib.band(int)}'::text[]) f;
SELECT results_eq($$ SELECT function::text, treatment, total::text, constant_arguments
		FROM dp_cdp.allowed_functions() WHERE function >= 16384 ORDER BY 1 $$,
	$$ SELECT f, 'added', NULL::text, '{}'::int[]
		FROM unnest('{lib.band(integer),lib.glad(mood),lib.initial(text),"lib.share(integer,integer)"}'::text[]) f $$,
	'they are listed, once');
SELECT is((SELECT count(*) FROM dp_cdp.allowed_functions() WHERE treatment <> 'added') > 400, true, 'after the others');

-- ------------------------------------------------------------------------
-- use
-- ------------------------------------------------------------------------

SELECT answers('SELECT dp_count(*) FROM visits WHERE lib.band(id) = ''few''', 'in WHERE');
SELECT answers('SELECT dp_count(*) FILTER (WHERE lib.glad(mood)) FROM visits', 'in FILTER');
SELECT answers('SELECT dp_sum(lib.share(id, 3), 0, 10) FROM visits', 'in an aggregate');
SELECT is(run_as_analyst('SELECT lib.band(id), dp_count(DISTINCT patient) FROM visits GROUP BY 1')::text, '(,2)', 'as a key, which is selected');
SELECT answers('SELECT dp_count(*) FROM visits WHERE upper(lib.initial(dept)) LIKE ''A%''', 'inside of others');
SELECT answers('SELECT dp_count(*) FROM visits WHERE id IN (1, lib.share(9), 7)', 'in a list of constants');
SELECT answers('SELECT dp_count(*) FROM (SELECT lib.band(id) AS b FROM visits) s WHERE b = ''few''', 'in a subquery');
SELECT answers('SELECT dp_sum(lib.share(whole => 3, part => id), 0, 10) FROM visits', 'arguments by name');
SELECT answers('SELECT dp_sum(lib.share(part => id), 0, 10) FROM visits', 'a default');
SELECT answers('SELECT dp_sum(lib.share(8, 4), 0, 10) FROM visits', 'constants alone');

-- the function is trusted, its arguments are not
SELECT answers('SELECT dp_sum(lib.share(id + 2147483647, id / (id - id)), 0, 10) FROM visits', 'arguments are made total');
SELECT answers('SELECT dp_sum(lib.share(whole => 1 / (id - 7), part => 2147483647 * id), 0, 10) FROM visits', 'by name, too');
SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.share((random() * id)::int) = 1', '^ZC002 function random\(\)', 'arguments are vetted');
SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.share(whole => mine(id), part => 1) = 1', '^ZC002 function mine\(integer\)', 'by name, too');
SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.share((SELECT id)) = 1', '^ZC002', 'and may not hold a subquery of rows');
SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.band(tableoid::int) = ''a''', '^ZC002 a system column', 'nor a system column');
SELECT refused('SELECT dp_count(*) FROM visits WHERE ctid = ''(0,1)''', '^ZC002 a system column cannot be used', 'nor with an operator that rows may not use');
CREATE FUNCTION lib.by_default(i int, x float8 DEFAULT random()) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT i + x';
CREATE FUNCTION lib.in_turn(i int) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT lib.by_default(i, 0)';
SELECT dp_cdp.allow_function('lib.by_default(int,float8)');
SELECT dp_cdp.allow_function('lib.in_turn(int)');
SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.by_default(id) = 1', '^ZC002 function random\(\)', 'defaults are vetted');
SELECT answers('SELECT dp_count(*) FROM visits WHERE lib.by_default(id, 1) = 1', 'where they are used');
SELECT answers('SELECT dp_count(*) FROM visits WHERE lib.in_turn(id) = 1', 'what the function does is not looked at');

-- operators and casts
CREATE OPERATOR public.// (LEFTARG = int, RIGHTARG = int, FUNCTION = lib.share);
SELECT refused('SELECT dp_count(*) FROM visits WHERE id // 2 = 1', '^ZC002 operator //', 'not by way of an operator');

-- functions and the sandbox
CREATE FUNCTION lib.raises(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE
	AS $$ BEGIN IF i = 1234 THEN RAISE EXCEPTION 'found %', i; END IF; RAISE NOTICE 'row %', i; RETURN 1; END $$;
CREATE FUNCTION lib.peeks(i int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT v.id FROM public.visits v WHERE v.id = i); END $$;
CREATE FUNCTION lib.unqualified(i int) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lib.initial(left(dept, i)) FROM (SELECT ''a''::text AS dept) s';
SELECT dp_cdp.allow_function(f) FROM unnest('{lib.raises(int),lib.peeks(int),lib.unqualified(int)}'::regprocedure[]) f;
SELECT is(regexp_replace(run_as_analyst('SELECT dp_sum(lib.raises(id), 0, 1) FROM visits')::text, 'failure \d+', 'failure N'),
	'("ZC002 private query failed while it read protected rows; what it was charged (rho 0.000001) stays charged, and it counts as failure N of at most 20 in a day; the cause is in the server''s log",1)',
	'an error shows no data');
CREATE FUNCTION lib.asks(i int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT dp_count(*) FROM public.visits); END $$;
SELECT dp_cdp.allow_function('lib.asks(int)');
SELECT is(regexp_replace(run_as_analyst(format('SELECT dp_sum(%s(id), 0, 1) FROM visits', f))::text, 'failure \d+', 'failure N'),
	'("ZC002 private query failed while it read protected rows; what it was charged (rho 0.000001) stays charged, and it counts as failure N of at most 20 in a day; the cause is in the server''s log",1)',
	'a function reads no protected rows, nor debits for each: ' || f) FROM unnest('{lib.peeks,lib.asks}'::regproc[]) f;
SELECT answers('SELECT dp_count(*) FROM visits WHERE lib.unqualified(id) = ''A''', 'names of pg_catalog need no schema');

SET track_functions = 'all';
BEGIN;
SELECT answers('SELECT dp_sum(lib.share(id, 3), 0, 10) FROM visits', 'with track_functions');
SELECT is(pg_stat_get_xact_function_calls('lib.share'::regproc), NULL, 'calls are not counted');
SELECT lib.share(id) FROM visits LIMIT 2 \g /dev/null
SELECT cmp_ok(pg_stat_get_xact_function_calls('lib.share'::regproc), '>', 0::bigint, 'but outside');
COMMIT;
RESET track_functions;

-- ------------------------------------------------------------------------
-- asked again at each use
-- ------------------------------------------------------------------------

PREPARE q AS SELECT dp_count(*) FROM visits WHERE lib.band(id) = 'few';
PREPARE p AS SELECT dp_sum(lib.share(id), 0, 10) FROM visits;
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION three(message text, description text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT CASE WHEN message IS NULL THEN answers(s, description || ': ' || s) ELSE refused(s, message, description || ': ' || s) END
	FROM unnest(ARRAY['SELECT dp_count(*) FROM visits WHERE lib.band(id) = ''few''', 'EXECUTE q', 'EXECUTE p']) s $$;
SELECT three(NULL, 'answered');
SELECT three(NULL, 'answered again');
SELECT is(array_agg(generic_plans ORDER BY name), '{2,2}', 'plans are kept') FROM pg_prepared_statements;

ALTER FUNCTION lib.band(int) OWNER TO analyst1;
ALTER FUNCTION lib.share(int, int) OWNER TO analyst1;
SELECT three('^ZC002 function lib\.(band|share)\(.*\) cannot be used .*its owner, who can replace it, is no superuser', 'of another owner');
SELECT is(count(*), 0::bigint, 'not listed then') FROM dp_cdp.allowed_functions() WHERE function IN ('lib.band(int)'::regprocedure, 'lib.share(int,int)'::regprocedure);
ALTER FUNCTION lib.band(int) OWNER TO CURRENT_USER;
ALTER FUNCTION lib.share(int, int) OWNER TO CURRENT_USER;
SELECT three(NULL, 'owned by a superuser');
ALTER FUNCTION lib.band(int) SECURITY DEFINER;
ALTER FUNCTION lib.share(int, int) SECURITY DEFINER;
SELECT three('^ZC002 .*SECURITY DEFINER', 'as definer');
ALTER FUNCTION lib.band(int) SECURITY INVOKER VOLATILE;
ALTER FUNCTION lib.share(int, int) SECURITY INVOKER VOLATILE;
SELECT three('^ZC002 .*VOLATILE', 'volatile');
ALTER FUNCTION lib.band(int) IMMUTABLE;
ALTER FUNCTION lib.share(int, int) IMMUTABLE;
SELECT three(NULL, 'immutable');

CREATE ROLE root SUPERUSER;
GRANT USAGE, CREATE ON SCHEMA lib TO root;
ALTER FUNCTION lib.band(int) OWNER TO root;
SELECT three(NULL, 'of another superuser');
ALTER ROLE root NOSUPERUSER;
SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.band(id) = ''few''', '^ZC002 .*no superuser', 'who is none any more');
SET SESSION AUTHORIZATION root;
CREATE OR REPLACE FUNCTION lib.band(i int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'few'; END $$;
RESET SESSION AUTHORIZATION;
SELECT refused('EXECUTE q', '^ZC002 .*no superuser', 'whose replacement is not run');
ALTER FUNCTION lib.band(int) OWNER TO CURRENT_USER;

-- EXECUTE
REVOKE EXECUTE ON FUNCTION lib.band(int), lib.share(int, int) FROM PUBLIC;
SELECT three('^42501 permission denied for function (band|share)', 'EXECUTE for nobody');
GRANT EXECUTE ON FUNCTION lib.band(int), lib.share(int, int) TO owner1;
SELECT three('^42501 permission denied for function (band|share)', 'for the owner of the table');
REVOKE EXECUTE ON FUNCTION lib.band(int), lib.share(int, int) FROM owner1;
GRANT EXECUTE ON FUNCTION lib.band(int), lib.share(int, int) TO analyst1;
SELECT three('^ZC002 .*role "owner1", as whom .* read, needs EXECUTE', 'for the analyst');
GRANT EXECUTE ON FUNCTION lib.band(int), lib.share(int, int) TO owner1;
SELECT three(NULL, 'for both');

-- rename, replace, remove, drop
ALTER FUNCTION lib.band(int) RENAME TO class;
ALTER SCHEMA lib RENAME TO library;
SELECT answers('SELECT dp_count(*) FROM visits WHERE library.class(id) = ''few''', 'renamed');
ALTER SCHEMA library RENAME TO lib;
ALTER FUNCTION lib.class(int) RENAME TO band;
CREATE OR REPLACE FUNCTION lib.band(i int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'all'; END $$;
SELECT three(NULL, 'replaced by a superuser');
SELECT dp_cdp.disallow_function('lib.band(int)');
SELECT dp_cdp.disallow_function('lib.share(int,int)');
SELECT three('^ZC002 function lib\.(band|share)\(.*\) cannot be used', 'removed');
SELECT dp_cdp.allow_function('lib.band(int)');
SECURITY LABEL FOR dp_cdp ON FUNCTION lib.share(int, int) IS '{"allowed":true}';
SELECT three(NULL, 'added again, also by hand');
SECURITY LABEL FOR dp_cdp ON FUNCTION lib.share(int, int) IS NULL;
SELECT refused('EXECUTE p', '^ZC002 function lib.share\(integer,integer\) cannot be used', 'and removed by hand');
BEGIN;
SELECT dp_cdp.disallow_function('lib.band(int)');
SELECT refused('EXECUTE q', '^ZC002', 'removed in this transaction');
ROLLBACK;
SELECT answers('EXECUTE q', 'which is rolled back');
DROP FUNCTION lib.band(int);
CREATE FUNCTION lib.band(i int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'few'; END $$;
SELECT refused('SELECT dp_count(*) FROM visits WHERE lib.band(id) = ''few''', '^ZC002', 'its name alone is not added');
SELECT is(count(*), 0::bigint, 'and nothing is left of it')
	FROM pg_seclabel s WHERE classoid = 'pg_proc'::regclass AND NOT EXISTS (SELECT FROM pg_proc p WHERE p.oid = s.objoid);

SELECT * FROM finish();
