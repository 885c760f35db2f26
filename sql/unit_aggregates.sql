-- The aggregates that a subquery over one privacy unit may compute on raw rows,
-- as dp_cdp.allowed_functions() lists them: over no set of values, however
-- extreme, may one raise an error once its argument has gone through what is
-- listed beside it; whatever is not extreme must go through unchanged.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET extra_float_digits = 1;

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

SELECT x, dp_cdp.try_summand(x)
	FROM unnest('{0,-0,1.5,-2.5,1e-45,7.9228155e28,-7.9228155e28,7.922817e28,-7.922817e28,3.4028235e38,Infinity,-Infinity,NaN}'::float4[]) x;
SELECT x, dp_cdp.try_summand(x), dp_cdp.try_summand_squared(x)
	FROM unnest('{0,-0,1.5,-2.5,4.9e-324,4.7634e139,-4.7634e139,4.7635e139,-4.7635e139,1.6e296,-1.6e296,1.7e296,-1.7e296,1.7976931348623157e308,Infinity,-Infinity,NaN}'::float8[]) x;
SELECT left(x::text, 12) AS x, length(x::text), scale(x),
		dp_cdp.try_summand(x) IS NOT DISTINCT FROM x AS summand, dp_cdp.try_summand_squared(x) IS NOT DISTINCT FROM x AS squared
	FROM unnest(ARRAY[0, 1.50, -2.5, 1e999, -1e999, 1e1000, -1e1000, 9e129999, 1e130000, -1e130000, 9e131071, -9e131071,
		1e-1000, 1e-1001, 1e-16383, (repeat('7', 900) || '.5')::numeric, (repeat('7', 1100))::numeric, 'Infinity', '-Infinity', 'NaN']) x;
SELECT dp_cdp.try_summand(NULL::float8), dp_cdp.try_summand_squared(NULL::numeric);
-- scale and trailing zeros are kept
SELECT dp_cdp.try_summand(1.500), dp_cdp.try_summand_squared(-0.10);

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
		('numeric', '{0,1.50,-2.5,1e-1000,1e-16383,9e999,-9e999,9e129999,-9e129999,1e130000,9e131071,-9e131071,Infinity,-Infinity,NaN}'),
		('money', '{0,-92233720368547758.08,92233720368547758.07}'),
		('text', '{"",a,A,ä,"\\",0}'),
		('bpchar', '{"",a,"a ",ä}'),
		('inet', '{0.0.0.0/0,10.0.0.1,ff::/8,255.255.255.255}'),
		('date', '{2020-02-29,infinity,-infinity,4714-11-24 BC,5874897-12-31}'),
		('time', '{00:00,24:00}'),
		('timetz', '{00:00+15:59,24:00-15:59}'),
		('timestamp', '{2020-02-29,infinity,-infinity,4714-11-24 BC,294276-12-31 23:59:59.999999}'),
		('timestamptz', '{2020-02-29 00:00+00,infinity,-infinity,4714-11-24 00:00+00 BC,294276-12-31 23:59:59.999999+00}'),
		('interval', '{0,1 month,30 days,178000000 years,-178000000 years,2147483647 days,-2147483648 months}'),
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

-- what a query of one aggregate over the rows of each unit prints
CREATE FUNCTION of_units(f regprocedure, total regprocedure, type regtype, how text) RETURNS TABLE (unit text, result text) LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT unit, %s(%s%s(value::%s))::text FROM row WHERE type = %L::regtype GROUP BY unit ORDER BY unit',
		f::oid::regproc, how, coalesce(total::oid::regproc::text, ''), type, type);
BEGIN
	IF f = 'count()'::regprocedure THEN
		query := format('SELECT unit, count(*)::text FROM row WHERE type = %L::regtype GROUP BY unit ORDER BY unit', type);
	END IF;
	RETURN QUERY EXECUTE query;
END $$;

CREATE VIEW listed AS
	SELECT a.function, a.total, t.type
	FROM dp_cdp.allowed_functions() a JOIN pg_proc p ON p.oid = a.function
		JOIN (SELECT DISTINCT type FROM sample) t
			ON pronargs = 0 AND t.type = 'int4'::regtype OR proargtypes[0] = t.type OR proargtypes[0] = '"any"'::regtype
				OR proargtypes[0] = 'anyenum'::regtype AND t.type = 'mood'::regtype
	WHERE treatment = 'per unit';
SELECT function FROM dp_cdp.allowed_functions() WHERE treatment = 'per unit' EXCEPT SELECT function FROM listed;

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
	WHERE total IS NOT NULL AND type <> 'numeric'::regtype ORDER BY function::text;

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
SELECT outcome('SELECT sum(dp_cdp.try_summand(x))::text FROM unnest(ARRAY[9e131071, 9e131071, 1.50]) x');
SELECT outcome('SELECT avg(dp_cdp.try_summand(x))::text FROM unnest(ARRAY[9e131071, 1, 2]) x');
SELECT outcome('SELECT variance(dp_cdp.try_summand_squared(x))::text FROM unnest(ARRAY[1e-16383, 1, 2]) x');

-- ------------------------------------------------------------------------
-- The same in parallel
-- ------------------------------------------------------------------------

CREATE FUNCTION plan(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Partial' THEN RETURN true; END IF;
	END LOOP;
	RETURN false;
END $$;
CREATE TABLE serial_result AS
	SELECT function, l.type, u.* FROM listed l, of_units(function, total, l.type, '') u;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET cpu_operator_cost = 1;
SELECT plan($$ SELECT unit, sum(dp_cdp.try_summand(value::float8)) FROM row WHERE type = 'float8'::regtype GROUP BY unit $$) AS partial;
CREATE TABLE parallel_result AS
	SELECT function, l.type, u.* FROM listed l, of_units(function, total, l.type, '') u;
-- floating point depends on the order of rows; so does which of equal values is the greatest
SELECT function, count(*) FROM serial_result s FULL JOIN parallel_result p USING (function, type, unit)
	WHERE s.result IS DISTINCT FROM p.result
		AND type NOT IN ('float4'::regtype, 'float8'::regtype, 'interval'::regtype, 'bpchar'::regtype)
	GROUP BY function;
SELECT function, count(*) FROM serial_result s FULL JOIN parallel_result p USING (function, type, unit)
	WHERE type IN ('float4'::regtype, 'float8'::regtype)
		AND ((s.result IS NULL) <> (p.result IS NULL) OR (s.result = 'NaN') <> (p.result = 'NaN'))
	GROUP BY function;

DROP SCHEMA unit_aggregates CASCADE;
