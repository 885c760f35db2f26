-- The aggregates that a subquery over one privacy unit may compute on raw rows,
-- as dp_cdp.allowed_functions() lists them: over no set of values, however
-- extreme, may one raise an error once its argument has gone through what is
-- listed beside it; whatever is not extreme must go through unchanged.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET extra_float_digits = 1;
SET jit = off;

CREATE SCHEMA unit_aggregates;
SET search_path = unit_aggregates, public;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');

-- what is listed, and with what
SELECT function, total FROM dp_cdp.allowed_functions()
	WHERE treatment = 'per unit' AND total IS NOT NULL
	ORDER BY function::text;
SELECT proname, string_agg(format_type(proargtypes[0], NULL), ', ' ORDER BY proargtypes[0]) AS as_they_stand
	FROM dp_cdp.allowed_functions() JOIN pg_proc ON oid = function
	WHERE treatment = 'per unit' AND total IS NULL
	GROUP BY proname ORDER BY proname;
SELECT function FROM dp_cdp.allowed_functions() JOIN pg_proc p ON p.oid = function
	WHERE treatment = 'per unit' AND (prokind <> 'a' OR provariadic <> 0 OR proparallel <> 's' OR function >= 16384);
SELECT function FROM dp_cdp.allowed_functions() JOIN pg_aggregate ON aggfnoid = function
	WHERE treatment = 'per unit' AND aggkind <> 'n';

-- ------------------------------------------------------------------------
-- Summands
-- ------------------------------------------------------------------------

SELECT left(x::text, 12) AS x, length(x::text), scale(x),
		dp_cdp_internal.try_summand(x) IS NOT DISTINCT FROM x AS summand, dp_cdp_internal.try_summand_squared(x) IS NOT DISTINCT FROM x AS squared
	FROM unnest(ARRAY[0, 1.50, -2.5, 1e999, -1e999, 1e1000, -1e1000, 9e129999, 1e130000, -1e130000, 9e131071, -9e131071,
		1e-1000, 1e-1001, 1e-16383, (repeat('7', 900) || '.5')::numeric, (repeat('7', 1100))::numeric, 'Infinity', '-Infinity', 'NaN']) x;
SELECT dp_cdp_internal.try_summand(NULL::numeric), dp_cdp_internal.try_summand_squared(NULL::numeric);
-- scale and trailing zeros are kept
SELECT dp_cdp_internal.try_summand(1.500), dp_cdp_internal.try_summand_squared(-0.10);

-- ------------------------------------------------------------------------
-- No error
-- ------------------------------------------------------------------------

CREATE TABLE sample (type regtype, value text);
INSERT INTO sample
	SELECT t.type::regtype, v.value
	FROM (VALUES
		('bool', '{true,false}'),
		('int2', '{0,1,-1,32767,-32768}'),
		('int4', '{0,1,-1,2147483647,-2147483648}'),
		('int8', '{0,1,-1,9223372036854775807,-9223372036854775808}'),
		('oid', '{0,4294967295}'),
		('float4', '{0,-0,1.5,1e-45,-1e-45,7.9228155e28,-7.9228155e28,3.4028235e38,-3.4028235e38,Infinity,-Infinity,NaN}'),
		('float8', '{0,-0,1.5,4.9e-324,-4.9e-324,1e-170,4.7634e139,-4.7634e139,1e155,1.6e296,-1.6e296,1.7976931348623157e308,-1.7976931348623157e308,Infinity,-Infinity,NaN}'),
		('numeric', '{0,0.00,1.5,1.50,-2.5,1e-1000,1e-16383,9e999,-9e999,9e129999,-9e129999,1e130000,9e131071,-9e131071,Infinity,-Infinity,NaN}'),
		('money', '{0,-92233720368547758.08,92233720368547758.07}'),
		('text', '{"",a,A,ä,"\\",0}'),
		('bpchar', '{"",a,"a ","a  ",ä}'),
		('inet', '{0.0.0.0/0,10.0.0.1,ff::/8,255.255.255.255}'),
		('date', '{2020-02-29,infinity,-infinity,4714-11-24 BC,5874897-12-31}'),
		('time', '{00:00,24:00}'),
		('timetz', '{00:00+15:59,24:00-15:59}'),
		('timestamp', '{2020-02-29,infinity,-infinity,4714-11-24 BC,294276-12-31 23:59:59.999999}'),
		('timestamptz', '{2020-02-29 00:00+00,infinity,-infinity,4714-11-24 00:00+00 BC,294276-12-31 23:59:59.999999+00}'),
		('interval', '{0,1 month,30 days,29 days 24:00,178000000 years,-178000000 years,2147483647 days,-2147483648 months}'),
		('mood', '{sad,happy}')
	) AS t (type, list), unnest(t.list::text[]) AS v (value);
INSERT INTO sample SELECT type, NULL FROM sample GROUP BY type;

-- every set of one or two of a type's values, the first several times, and all values at once
CREATE TABLE row AS
	SELECT a.type, coalesce(a.value, 'NULL') || ' ' || coalesce(b.value, 'NULL') AS unit, v.value
	FROM sample a JOIN sample b ON b.type = a.type AND a.value IS DISTINCT FROM b.value,
		LATERAL (SELECT a.value FROM generate_series(1, 5) UNION ALL SELECT b.value) v (value)
	UNION ALL
	SELECT type, 'all', value FROM sample;
ALTER TABLE row SET (parallel_workers = 2);
ANALYZE row;

-- what a query of one aggregate over the rows of each unit prints; of a row everything shows, as trailing blanks do
CREATE FUNCTION of_units(f regprocedure, total regprocedure, type regtype, how text) RETURNS TABLE (unit text, result text) LANGUAGE plpgsql AS $$
DECLARE
	own boolean := total IN (SELECT oid FROM pg_proc WHERE prokind = 'a');
	value text := 'value::' || CASE WHEN type = 'bpchar'::regtype THEN 'bpchar' ELSE type::text END;
	query text := format('SELECT unit, ROW(%s(%s%s(%s)))::text FROM row WHERE type = %L::regtype GROUP BY unit ORDER BY unit',
		CASE WHEN own THEN total ELSE f END::oid::regproc, how, CASE WHEN NOT own THEN total::oid::regproc::text END,
		CASE WHEN type = 'numeric'::regtype AND how <> '' THEN format('trim_scale(%s)', value) ELSE value END, type);
BEGIN
	IF f = 'count()'::regprocedure THEN
		query := format('SELECT unit, ROW(count(*))::text FROM row WHERE type = %L::regtype GROUP BY unit ORDER BY unit', type);
	END IF;
	RETURN QUERY EXECUTE query;
END $$;

CREATE VIEW listed AS
	SELECT a.function, a.total, t.type
	FROM dp_cdp.allowed_functions() a JOIN pg_proc p ON p.oid = a.function
		JOIN (SELECT DISTINCT type FROM sample) t
			ON pronargs = 0 AND t.type = 'int4'::regtype OR proargtypes[0] = t.type OR proargtypes[0] = '"any"'::regtype
				OR proargtypes[0] = 'anyenum'::regtype AND t.type = 'mood'::regtype
	WHERE treatment = 'per unit' AND proname NOT IN ('string_agg', 'array_agg');
SELECT function FROM dp_cdp.allowed_functions() WHERE treatment = 'per unit' EXCEPT SELECT function FROM listed ORDER BY 1;

CREATE FUNCTION sweep(f regprocedure, total regprocedure, type regtype, OUT units bigint, OUT offence text) LANGUAGE plpgsql AS $$
DECLARE
	how text;
BEGIN
	units := 0;
	FOREACH how IN ARRAY ARRAY['', 'DISTINCT '] LOOP
		BEGIN
			SELECT units + count(*) INTO units FROM of_units(f, total, type, how);
		EXCEPTION WHEN OTHERS THEN
			offence := format('%s%s raised %s', how, f, sqlerrm);
			RETURN;
		END;
	END LOOP;
END $$;

CREATE TABLE swept AS SELECT function, type, s.* FROM listed, sweep(function, total, type) s;
SELECT function, type, units, offence FROM swept WHERE offence IS NOT NULL OR units = 0;
SELECT count(*) > 80 AS aggregates, sum(units) > 5000 AS units FROM swept;

-- without what their arguments go through, they do
SELECT function, s.offence FROM listed, sweep(function, NULL, type) s
	WHERE total IS NOT NULL AND type <> 'numeric'::regtype AND s.offence IS NOT NULL ORDER BY function::text;

-- numeric, whose longest values take their time
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate;
END $$;
SELECT outcome('SELECT sum(x)::text FROM unnest(ARRAY[9e131071, 9e131071]) x');
SELECT outcome('SELECT sum(dp_cdp_internal.try_summand(x))::text FROM unnest(ARRAY[9e131071, 9e131071, 1.50]) x');
SELECT outcome('SELECT avg(dp_cdp_internal.try_summand(x))::text FROM unnest(ARRAY[9e131071, 1, 2]) x');
SELECT outcome('SELECT variance(dp_cdp_internal.try_summand_squared(x))::text FROM unnest(ARRAY[1e-16383, 1, 2]) x');

-- ------------------------------------------------------------------------
-- The same to the last bit in any order, by any plan, beside others' rows
-- ------------------------------------------------------------------------

-- some sets will do; the longest numbers take their time
DELETE FROM row WHERE unit <> 'all' AND hashtext(unit) % 16 <> 0
	AND unit NOT IN ('0 -0', '1.5 1.50', '0 0.00', 'a a ', 'a  a ', '1 month 30 days', '30 days 29 days 24:00');
DELETE FROM row WHERE type = 'numeric'::regtype AND value ~ 'e[-+]?[0-9]{4}';
-- cents and the like, which no binary number is, and what cancels
INSERT INTO row
	SELECT t.type, 'inexact ' || u, (n * 7919 % 1000 / 100.0 * CASE WHEN u > 2 AND n % 2 = 0 THEN 1e15 ELSE 1 END * (n % 3 - 1))::text
	FROM (VALUES ('float4'::regtype), ('float8'), ('numeric')) t (type), generate_series(1, 4) u, generate_series(1, 50) n;

-- DISTINCT as the guard leaves it: not in min and max, and over canonical forms
CREATE FUNCTION all_results(hows text[]) RETURNS TABLE (function regprocedure, total regprocedure, type regtype, how text, unit text, result text)
	LANGUAGE sql AS $$
	SELECT l.*, how, u.* FROM listed l, unnest(hows) how, of_units(l.function, l.total, l.type, how) u
	WHERE how = '' OR l.function::text !~ '^(count\(\)|min|max)';
$$;
CREATE TABLE expected AS SELECT * FROM all_results(ARRAY['', 'DISTINCT ']);
SELECT count(*) > 1000 AS many FROM expected;
CREATE FUNCTION differences(hows text[] DEFAULT ARRAY['', 'DISTINCT ']) RETURNS TABLE (function regprocedure, type regtype, count bigint) LANGUAGE sql AS $$
	SELECT function, type, count(*)
	FROM (SELECT * FROM expected WHERE how = ANY (hows)) e FULL JOIN all_results(hows) r USING (function, type, how, unit)
	WHERE e.result IS DISTINCT FROM r.result AND unit NOT LIKE 'other%' GROUP BY function, type;
$$;
-- what PostgreSQL's own would do in another order
CREATE VIEW differences_without AS
	SELECT p.proname, e.type FROM expected e JOIN pg_proc p ON p.oid = e.function,
		LATERAL of_units(e.function, NULL, e.type, e.how) u
	WHERE e.unit = u.unit AND e.result <> u.result AND e.unit !~ 'e[-+]?[1-9][0-9]'
		AND e.total IN (SELECT oid FROM pg_proc WHERE prokind = 'a')
	GROUP BY p.proname, e.type;
CREATE FUNCTION reorder(how text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE TEMP TABLE again AS SELECT * FROM row ORDER BY ' || how;
	TRUNCATE row;
	INSERT INTO row SELECT * FROM again;
	DROP TABLE again;
	ANALYZE row;
END $$;
CREATE FUNCTION plan(query text, node text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ node THEN RETURN true; END IF;
	END LOOP;
	RETURN false;
END $$;
\set query 'SELECT unit, dp_cdp_internal.unit_sum(value::float8) FROM row WHERE type = ''float8''::regtype GROUP BY unit'

SELECT * FROM differences();
SELECT reorder('ctid DESC');
SELECT * FROM differences();
-- min or max, by the order that the server's sort leaves
SELECT DISTINCT type FROM differences_without WHERE type IN ('bpchar'::regtype, 'interval'::regtype) ORDER BY 1;
-- another's rows in between
INSERT INTO row SELECT type, 'other', value FROM sample;
SELECT reorder('md5(value || type)');
SELECT * FROM differences();
-- sorted, by values of everybody
SET enable_hashagg = off;
SELECT plan(:'query', 'GroupAggregate') AS sorted;
SELECT * FROM differences();
SET enable_hashagg = on;
SET enable_sort = off;
-- hashed, with more groups than fit
SET work_mem = 64;
SELECT plan(:'query', 'HashAggregate') AS hashed;
SELECT * FROM differences();
RESET work_mem;
RESET enable_sort;
-- by workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET cpu_operator_cost = 1;
SELECT plan(:'query', 'Partial') AS partial;
-- with DISTINCT there is nothing that they could do
SELECT * FROM differences(ARRAY['']);
RESET cpu_operator_cost;

-- ------------------------------------------------------------------------
-- Exact, and which of equal values it is
-- ------------------------------------------------------------------------

SELECT dp_cdp_internal.unit_sum(x), dp_cdp_internal.unit_avg(x), dp_cdp_internal.unit_var_samp(x), dp_cdp_internal.unit_stddev_pop(x)
	FROM unnest('{0.1,0.2,0.3}'::float8[]) x;
SELECT dp_cdp_internal.unit_sum(x), dp_cdp_internal.unit_avg(x), dp_cdp_internal.unit_var_samp(x), dp_cdp_internal.unit_stddev_pop(x)
	FROM unnest('{0.1,0.2,0.3}'::float4[]) x;
SELECT dp_cdp_internal.unit_sum(x), dp_cdp_internal.unit_avg(x), dp_cdp_internal.unit_var_pop(x), dp_cdp_internal.unit_stddev_samp(x)
	FROM unnest('{1e308,1e308,-1e308,-1e308,5e-324,1e-200}'::float8[]) x;
SELECT dp_cdp_internal.unit_sum(x), dp_cdp_internal.unit_avg(x), dp_cdp_internal.unit_var_pop(x) FROM unnest('{1.7e308,1.7e308}'::float8[]) x;
SELECT dp_cdp_internal.unit_sum(x), dp_cdp_internal.unit_avg(x) FROM unnest('{3e38,3e38}'::float4[]) x;
SELECT dp_cdp_internal.unit_sum(x), dp_cdp_internal.unit_avg(x), dp_cdp_internal.unit_var_pop(x), dp_cdp_internal.unit_var_samp(x) FROM unnest('{NULL,-0}'::float8[]) x;
SELECT dp_cdp_internal.unit_sum(x), dp_cdp_internal.unit_avg(x), dp_cdp_internal.unit_var_pop(x), dp_cdp_internal.unit_var_samp(x) FROM unnest('{NULL}'::float8[]) x;
SELECT dp_cdp_internal.unit_min(x), dp_cdp_internal.unit_max(x) FROM unnest('{1.00,1.0,1,0.99}'::numeric[]) x;
SELECT ROW(dp_cdp_internal.unit_min(x), dp_cdp_internal.unit_max(x)) FROM unnest('{"a  ","a","a "}'::bpchar[]) x;
SELECT dp_cdp_internal.unit_min(x), dp_cdp_internal.unit_max(x) FROM unnest('{30 days,1 month,720:00,29 days 24:00}'::interval[]) x;
SELECT dp_cdp_internal.unit_min(x), dp_cdp_internal.unit_max(x) FROM unnest('{0,-0}'::float8[]) x;
SELECT dp_cdp_internal.unit_min(x), dp_cdp_internal.unit_max(x) FROM unnest('{NaN,1,-Infinity}'::float4[]) x;
-- ------------------------------------------------------------------------
-- Lists of rows: PostgreSQL's, and NULL where they are long
-- ------------------------------------------------------------------------

CREATE TABLE list AS SELECT * FROM (VALUES (1, 'b', ',', 1.0, '1 month'::interval), (2, NULL, ';', NULL, '1 day'), (3, 'a', NULL, 1, NULL), (4, 'ä', '--', 2, '30 days'), (5, '', ':', 1.00, '0')) v (n, x, d, m, i);
SELECT dp_cdp_internal.unit_string_agg(x, d ORDER BY n), string_agg(x, d ORDER BY n) FROM list;
SELECT dp_cdp_internal.unit_string_agg(x, ',' ORDER BY n DESC), dp_cdp_internal.unit_string_agg(DISTINCT left(x, 1), '' ORDER BY left(x, 1)) FROM list;
SELECT dp_cdp_internal.unit_string_agg(x, ',') FROM list WHERE x IS NULL;
SELECT dp_cdp_internal.unit_string_agg(x, ',') FROM list WHERE false;
SELECT dp_cdp_internal.unit_array_agg(x ORDER BY n) = array_agg(x ORDER BY n) AS text, dp_cdp_internal.unit_array_agg(m ORDER BY n DESC)::text = array_agg(m ORDER BY n DESC)::text AS numeric,
	dp_cdp_internal.unit_array_agg(i ORDER BY n)::text = array_agg(i ORDER BY n)::text AS interval, dp_cdp_internal.unit_array_agg(n ORDER BY n) = array_agg(n ORDER BY n) AS int FROM list;
SELECT dp_cdp_internal.unit_array_agg(n) FILTER (WHERE n > 5), array_ndims(dp_cdp_internal.unit_array_agg(x) FILTER (WHERE n = 2)) FROM list;
SELECT n, length(dp_cdp_internal.unit_string_agg(repeat('x', 1000), '')), length(dp_cdp_internal.unit_string_agg('', repeat('x', 1000)))
	FROM unnest(ARRAY[524, 525, 526, 100000]) n, generate_series(1, n) GROUP BY n ORDER BY n;
SELECT n, cardinality(dp_cdp_internal.unit_array_agg(g)), cardinality(dp_cdp_internal.unit_array_agg(NULL::text)) FROM unnest(ARRAY[43690, 43691, 65536, 65537]) n, generate_series(1, n) g GROUP BY n ORDER BY n;
SELECT n, length(dp_cdp_internal.unit_string_agg(repeat('x', n), ',')), cardinality(dp_cdp_internal.unit_array_agg(repeat('x', n))) FROM unnest(ARRAY[500000, 524289, 100000000]) n GROUP BY n ORDER BY n;

-- states are nobody's to make or to read
SELECT dp_cdp_internal.exact_float_add(NULL, 1.0::float8);
SELECT '0'::dp_cdp_internal.exact_float;

DROP SCHEMA unit_aggregates CASCADE;

-- strings that are too long to be kept are NULL, those just short enough are not
SELECT length(min(dp_cdp_internal.try_summand(x))) AS least, length(max(dp_cdp_internal.try_summand(x))) AS greatest, count(dp_cdp_internal.try_summand(x))
	FROM unnest(ARRAY[repeat('a', 512 * 1024 + 1), repeat('b', 512 * 1024), 'ab']) x;
SELECT octet_length(dp_cdp_internal.unit_max(dp_cdp_internal.try_summand(x::bpchar))) FROM unnest(ARRAY[repeat('z', 600000), 'ab  ']) x;
