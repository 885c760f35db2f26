-- Code of the analyst that would see values: functions, operators, casts,
-- domains, collations, types, wherever an expression can stand.

--# functions in every clause
--@ absent: NOTICE:  spy
--@ attack
CREATE FUNCTION ana.spy(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE LEAKPROOF AS 'BEGIN END';
--> 42501
CREATE FUNCTION ana.spy(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN true; END $$;
--> ok
SELECT dp_count(*) FROM visit WHERE ana.spy(age);
--> ZC002
SELECT dp_count(*) FILTER (WHERE ana.spy(age)) FROM visit;
--> ZC002
SELECT dp_count(ana.spy(age)) FROM visit;
--> ZC002
SELECT dp_count(DISTINCT ana.spy(patient)) FROM visit;
--> ZC002
SELECT dp_count(age ORDER BY ana.spy(age)) FROM visit;
--> ZC002
SELECT dp_sum(CASE WHEN ana.spy(cost) THEN 1 END, 0, 1) FROM visit;
--> ZC002
SELECT dp_sum(1, 0, CASE WHEN ana.spy(cost) THEN 1 END) FROM visit;
--> ZC002 | 42803
SELECT ana.spy(ward), dp_count(*) FROM visit GROUP BY 1;
--> ZC002
SELECT DISTINCT ana.spy(ward) FROM visit;
--> ZC002
SELECT dp_count(*) FROM visit HAVING ana.spy(bit_or(age));
--> ZC002
SELECT max(CASE WHEN ana.spy(cost) THEN 1 END) FROM visit;
--> ZC002
SELECT avg(age) FILTER (WHERE ana.spy(age)) FROM visit;
--> ZC002
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN ana.spy(cost) THEN cost END) FROM visit;
--> ZC002
SELECT corr(age, CASE WHEN ana.spy(cost) THEN 1 END) FROM visit;
--> ZC002
SELECT dp_histogram(CASE WHEN ana.spy(cost) THEN cost END, 0, 1000, 10) FROM visit;
--> ZC002
SELECT dp_bounds(CASE WHEN ana.spy(cost) THEN cost END) FROM visit;
--> ZC002
SELECT dp_margin(dp_count(ana.spy(age))) FROM visit;
--> ZC002
SELECT dp_count(*) FROM (SELECT * FROM visit WHERE ana.spy(age)) s;
--> ZC002
SELECT dp_count(*) FROM (SELECT ana.spy(age) FROM visit) s;
--> ZC002 | ok 1
WITH s AS (SELECT patient, ana.spy(age) AS x FROM visit) SELECT dp_count(*) FROM s WHERE x;
--> ZC002
CREATE VIEW ana.v WITH (security_barrier) AS SELECT * FROM visit WHERE ana.spy(cost);
SELECT dp_count(*) FROM ana.v;
--> ZC002
SELECT dp_count(*) FROM visit WHERE age IN (SELECT 97 WHERE ana.spy(age));
--> ZC002
SELECT dp_count(*) FROM visit WHERE (ana.spy(age), true) = (true, true);
--> ZC002
SELECT dp_count(*) FROM visit WHERE coalesce(ana.spy(age), greatest(ana.spy(age), true), NULLIF(ana.spy(age), true));
--> ZC002
SELECT dp_count(*) FROM visit WHERE age = ANY (ARRAY[age, CASE WHEN ana.spy(cost) THEN 1 END]);
--> ZC002
SELECT dp_count(*) FROM visit WHERE ana.spy(visit);
--> ZC002
SELECT dp_count(*) FROM visit v WHERE v.spy;
--> ZC002 | 42703

--# functions of what is released are post-processing
--@ absent: spy [0-9]
--@ attack
CREATE FUNCTION ana.spy(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'spy'; RETURN true; END $$;
SELECT dp_count(*) FROM visit HAVING ana.spy(max(cost));
--> ok 2
SELECT ana.spy(max(age)), ana.spy(dp_noise_stddev(max(age))) FROM visit;
--> ok 1
SELECT ward FROM visit GROUP BY ward HAVING ana.spy(ward) ORDER BY ana.spy(avg(age));
--> ok 2
CREATE FUNCTION ana.late(numeric) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT age FROM visit WHERE cost > $1 LIMIT 1); END $$;
SELECT ana.late(max(cost)) FROM visit;
--> ZC002 1
CREATE FUNCTION ana.again(numeric) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT dp_max(cost, 0, greatest($1, 1)) FROM visit); END $$;
SELECT ana.again(max(cost)) IS NULL FROM visit;
--> ok 2

--# a function with the name of one that is allowed
--@ absent: NOTICE:  spy
--@ attack
CREATE FUNCTION ana.lower(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN $1; END $$;
CREATE FUNCTION pg_temp.length(text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN 1; END $$;
CREATE FUNCTION ana.try_lower(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN $1; END $$;
CREATE FUNCTION ana.dp_count(int) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE AGGREGATE ana.dp_count(text) (sfunc = int8inc_any, stype = int8, initcond = '0');
CREATE AGGREGATE ana.count(*) (sfunc = int8inc, stype = int8, initcond = '0');
SET search_path = ana, pg_catalog, public;
SELECT dp_count(*) FROM visit WHERE lower(ward) = 'x';
--> ZC002
SELECT dp_count(*) FROM visit WHERE ana.try_lower(ward) = 'x';
--> ZC002
SELECT dp_count(*) FROM visit WHERE pg_temp.length(ward) = 1;
--> ZC002
SELECT dp_count(age) FROM visit;
--> ZC002
SELECT dp_count(ward) FROM visit;
--> ZC002
SELECT count(*) FROM visit;
--> ZC002
SELECT dp_count(*) FROM visit WHERE pg_catalog.lower(ward) = 'x';
--> ok 1
CREATE SCHEMA dp_cdp2;
--> 42501
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, text, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum LANGUAGE internal AS 'textin';
--> 42501

--# operators
--@ absent: NOTICE:  spy
--@ attack
CREATE FUNCTION ana.eq(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'spy % %', $1, $2; RETURN true; END $$;
CREATE OPERATOR ana.= (LEFTARG = int, RIGHTARG = int, FUNCTION = ana.eq);
CREATE OPERATOR ana.< (LEFTARG = int, RIGHTARG = int, FUNCTION = int4lt, COMMUTATOR = OPERATOR(ana.=), RESTRICT = scalarltsel);
SELECT dp_count(*) FROM visit WHERE age OPERATOR(ana.=) 97;
--> ZC002
SELECT dp_count(*) FROM visit WHERE 97 OPERATOR(ana.<) age;
--> ZC002
SET search_path = ana, pg_catalog, public;
SELECT dp_count(*) FROM visit WHERE age = 97;
--> ZC002
SELECT dp_count(*) FROM visit WHERE age IN (97, 98);
--> ZC002
SELECT dp_count(*) FROM visit WHERE age = ANY ('{97}');
--> ZC002
SELECT dp_count(*) FROM visit WHERE age IS DISTINCT FROM 97;
--> ZC002
SELECT dp_count(*) FROM visit WHERE NULLIF(age, 97) IS NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE CASE age WHEN 97 THEN true END;
--> ZC002
SELECT dp_count(*) FROM visit WHERE (age, patient) < (97, 42);
--> ZC002 | 0A000
SELECT dp_count(*) FROM visit WHERE age BETWEEN 96 AND 98;
--> ok 1 | ZC002
SELECT age, dp_count(*) > 0 FROM visit GROUP BY age ORDER BY age USING OPERATOR(pg_catalog.<) LIMIT 0;
--> ok

--# casts, domains and types
--@ absent: NOTICE:  spy
--@ attack
CREATE FUNCTION ana.check(text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN true; END $$;
CREATE DOMAIN ana.dom AS text CHECK (ana.check(VALUE));
CREATE TYPE ana.row AS (x text);
CREATE FUNCTION ana.visit2row(visit) RETURNS ana.row LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN ROW('x'); END $$;
CREATE CAST (visit AS ana.row) WITH FUNCTION ana.visit2row(visit) AS IMPLICIT;
CREATE FUNCTION ana.row(int) RETURNS ana.row LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN ROW('x'); END $$;
CREATE CAST (int AS ana.row) WITH FUNCTION ana.row(int) AS IMPLICIT;
CREATE CAST (text AS bytea) WITHOUT FUNCTION;
--> 42501 | 42710 | 42P17
SELECT dp_count(ward::ana.dom) FROM visit;
--> ZC002
SELECT ward::ana.dom, dp_count(*) FROM visit GROUP BY 1;
--> ZC002
SELECT dp_count(*) FROM visit WHERE CAST(age AS ana.dom) = '1';
--> ZC002
SELECT dp_count(v::ana.row) FROM visit v;
--> ZC002
SELECT dp_count(age::ana.row) FROM visit;
--> ZC002
SELECT dp_count(*) FROM visit WHERE ARRAY[ward]::ana.dom[] IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE ROW(ward)::ana.row IS NOT NULL;
--> ZC002
CREATE FUNCTION ana.dom_arg(ana.dom) RETURNS boolean LANGUAGE sql AS 'SELECT true';
SELECT dp_count(*) FROM visit WHERE ana.dom_arg(ward);
--> ZC002
CREATE TYPE ana.mood AS ENUM ('a');
SELECT dp_count(*) FROM visit WHERE ward::ana.mood = 'a';
--> ZC002
CREATE TYPE ana.r AS RANGE (subtype = int);
SELECT dp_count(*) FROM visit WHERE ana.r(age, age + 1) @> 97;
--> ZC002

--# built-in functions that tell
--@ absent: payload
--@ attack
LISTEN ch;
SELECT dp_count(*) FROM visit WHERE pg_notify('ch', ward) IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE set_config('a.b', ward, false) = 'x';
--> ZC002
SELECT dp_count(*) FROM visit WHERE age = 97 AND pg_advisory_lock(age) IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE age = 97 AND pg_try_advisory_xact_lock(97);
--> ZC002
SELECT dp_count(*) FROM visit WHERE age = 97 AND pg_sleep(5) IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE age = 97 AND pg_cancel_backend(pg_backend_pid());
--> ZC002
SELECT dp_count(*) FROM visit WHERE age = 97 AND pg_terminate_backend(pg_backend_pid(), age);
--> ZC002
SELECT dp_count(*) FROM visit WHERE nextval('ana.s') > age;
--> ZC002 | 42P01
SELECT dp_count(*) FROM visit WHERE lo_from_bytea(0, ward::bytea) > 0;
--> ZC002
SELECT dp_count(*) FROM visit WHERE lowrite(lo_open(1, 131072), 'a') > age;
--> ZC002
SELECT dp_count(*) FROM visit WHERE dblink_connect('host=/nowhere-' || ward) IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE pg_logical_emit_message(false, 'x', ward) IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE query_to_xml('SELECT ' || age, true, true, '') IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE random() < 0.5;
--> ZC002
SELECT dp_count(*) FROM visit WHERE setseed(age / 100.0) IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE clock_timestamp() > at;
--> ZC002
SELECT dp_count(*) FROM visit WHERE txid_current() > age;
--> ZC002
SELECT dp_count(*) FROM visit WHERE current_setting('a.' || ward, true) IS NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE pg_get_viewdef(age) IS NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE has_table_privilege(age::oid, 'SELECT');
--> ZC002
SELECT dp_count(*) FROM visit WHERE current_user = ward OR current_schema = ward OR current_catalog = ward;
--> ZC002
SELECT dp_count(*) FROM visit WHERE pg_relation_size(age) > 0;
--> ZC002
SELECT dp_count(*) FROM visit WHERE md5(ward) = 'x' OR sha256(ward::bytea) IS NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE ward ~ '(a+)+$' OR ward SIMILAR TO 'x' OR regexp_match(ward, 'x') IS NULL;
--> ZC002
SELECT 1;
--> ok

--# set-returning functions, variadic calls, arrays, XML
--@ attack
SELECT dp_count(generate_series(1, age)) FROM visit;
--> ZC002 | 0A000
SELECT generate_series(1, age), dp_count(*) FROM visit GROUP BY 1;
--> ZC002
SELECT dp_count(*) FROM visit GROUP BY generate_series(1, 3);
--> ZC002
SELECT dp_count(*) FROM visit WHERE concat(VARIADIC ARRAY[ward, 'x']) = 'x';
--> ZC002
SELECT dp_count(*) FROM visit WHERE num_nulls(age, cost) = 0 AND format('%s', ward) = 'x';
--> ZC002
SELECT dp_count(*) FROM visit WHERE (ARRAY[1, 2])[age] = 1;
--> ZC002
SELECT dp_count(*) FROM visit WHERE xmlparse(CONTENT ward) IS NOT NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE xpath_exists(ward, '<a/>'::xml);
--> ZC002
SELECT dp_count(*) FROM visit WHERE to_jsonb(ward) ? 'a' OR json_build_object(ward, 1) IS NULL;
--> ZC002
SELECT dp_count(*) FROM visit WHERE to_tsvector(ward) @@ 'a';
--> ok 1
SELECT dp_count(*) FROM visit, LATERAL (SELECT age AS a) l;
--> ok 1
SELECT dp_count(*) FROM visit, unnest(ARRAY[age]) u;
--> ok 1
SELECT dp_count(*) FROM visit, unnest(ARRAY[1 / age, (ward::int)]) u WHERE u > 0;
--> ok 1
SELECT dp_count(*) FROM visit, unnest(ARRAY[age] || age) u;
--> ZC002
SELECT dp_count(*) FROM visit, unnest(array_fill(1, ARRAY[age])) u;
--> ZC002
SELECT dp_count(*) FROM visit, LATERAL (VALUES (age), (ana.own(age))) u (x);
--> ZC002 | 42883
SELECT dp_count(*) FROM visit, LATERAL (VALUES (age), (1)) u (x) WHERE concat(VARIADIC ARRAY[ward, x::text]) = 'x';
--> ZC002
SELECT dp_count(*) FROM visit WHERE grouping(age) = 0;
--> ZC002 | 42803

--# constants come from code of the analyst once, before anything is paid
--@ attack
CREATE FUNCTION ana.noisy() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE NOTICE 'asked'; RETURN 50; END $$;
SELECT dp_count(*) > 0 FROM visit WHERE age > ana.noisy();
--> ok 1 | ZC002
CREATE FUNCTION ana.fails() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
SELECT dp_count(*) FROM visit WHERE age > ana.fails();
--> P0001 | ZC002
SELECT dp_sum(age, 0, ana.fails()) FROM visit;
--> P0001
CREATE FUNCTION ana.asks() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM dp_count(*) FROM visit; RETURN 50; END $$;
SELECT dp_sum(age, 0, ana.asks()) IS NULL FROM visit;
--> ok 2
CREATE FUNCTION ana.changes() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM set_config('dp_cdp.rho', '0.03', false), set_config('dp_cdp.max_groups', '1', false), set_config('search_path', 'ana', false); RETURN 50; END $$;
SELECT dp_sum(age, 0, ana.changes()) IS NULL, public.dp_count(*) IS NULL FROM visit;
--> ok 2
CREATE FUNCTION ana.drops() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM ana.drops2(); RETURN 50; END $$;
CREATE FUNCTION ana.drops2() RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN CREATE TABLE ana.t (x int); DISCARD PLANS; ANALYZE ana.t; DROP TABLE ana.t; RETURN 50; END $$;
RESET dp_cdp.rho;
SELECT public.dp_sum(age, 0, ana.drops()) IS NULL FROM public.visit;
--> any 0..1

--# the guard's state does not survive an error
--@ attack
-- in one transaction, so that the setting ends with whatever the timeout ends
SET statement_timeout = 1 \; SELECT dp_count(*) FROM visit a \; RESET statement_timeout;
--> any 0..1
SELECT cost FROM visit WHERE age = 97;
--> ZC002
DO $$ BEGIN FOR i IN 1..5 LOOP BEGIN SET LOCAL statement_timeout = 1; PERFORM dp_count(*) FROM visit; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$;
--> any 0..5
DO $$ BEGIN PERFORM cost FROM visit; EXCEPTION WHEN OTHERS THEN PERFORM cost FROM visit; END $$;
--> ZC002
SELECT cost FROM visit WHERE age = 97;
--> ZC002
SELECT dp_count(*) > 0 FROM visit;
--> ok 1
