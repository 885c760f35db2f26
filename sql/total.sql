-- Sweeps every function that may run on rows of protected tables, as
-- dp_cdp.allowed_functions() lists them, over extreme values of its types:
-- none may raise an error, and a total variant must agree with its built-in
-- wherever that returns, except for values outside of what it is made for.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET extra_float_digits = 3;

CREATE TYPE total_mood AS ENUM ('sad', 'ok', 'happy');

-- far: a total variant may be NULL although the built-in returns; ends: it may in a zone that is named, where a
-- timestamptz is truncated, and where the difference of two is too long (older versions let that wrap around)
CREATE TEMP TABLE sample (type regtype, value text, far boolean NOT NULL DEFAULT false, ends boolean NOT NULL DEFAULT false);
INSERT INTO sample
	SELECT t.type::regtype, v.value
	FROM (VALUES
		('bool', ARRAY['true', 'false']),
		('int2', ARRAY['0', '1', '-1', '2', '7', '-3', '32767', '-32768', '181', '-182']),
		('int4', ARRAY['0', '1', '-1', '2', '7', '-3', '32767', '32768', '-32768', '-32769', '46341', '2147483647', '-2147483648', '-2147483647', '65536', '1000000']),
		('int8', ARRAY['0', '1', '-1', '2', '7', '32767', '32768', '-32769', '2147483647', '2147483648', '-2147483648', '-2147483649', '3037000500', '9223372036854775807', '-9223372036854775808', '-9223372036854775807']),
		('float4', ARRAY['0', '-0', '1', '-1', '0.5', '1.5', '2.5', '-2.5', '3', 'NaN', 'Infinity', '-Infinity', '3.4028235e38', '-3.4028235e38', '1.1754944e-38', '1e-45', '-1e-45', '32767.5', '32768', '2147483648', '2147483520', '9223372036854775807', '9.22337e18', '-9.223372e18']),
		('float8', ARRAY['0', '-0', '1', '-1', '0.5', '1.5', '2.5', '-2.5', '3', 'NaN', 'Infinity', '-Infinity', '1.7976931348623157e308', '-1.7976931348623157e308', '2.2250738585072014e-308', '4.9e-324', '-4.9e-324', '1e-320', '32767.49', '32767.5', '-32768.5', '2147483647.4999998', '2147483647.5', '-2147483648.5', '9223372036854775807', '9223372036854774784', '-9223372036854775808', '3.4028236e38', '1e-46', '709.78', '709.79', '-745.13', '-745.14', '1e154', '1e155', '-210866803200', '-210866803200.5', '9224318015999.5', '9224318016000']),
		('numeric', ARRAY['0', '1', '-1', '0.5', '1.50', '-2.5', '3', 'NaN', 'Infinity', '-Infinity', '1e400', '-1e400', '1e-400', '1.7976931348623157e308', '1.7976931348623159e308', '1e309', '4.9e-324', '1e-324', '2e-324', '3.4028235e38', '3.4028236e38', '1e-46', '32767.49', '32767.5', '-32768.49', '-32768.5', '2147483647.49', '2147483647.5', '-2147483648.5', '9223372036854775807', '9223372036854775807.49', '9223372036854775807.5', '-9223372036854775808.49', '-9223372036854775808.5', '9999.994', '9999.995', '1e-16383']),
		('text', ARRAY['', ' ', 'a', 'ab', 'A%b_c', 'äöüß', 'ŒÆ€𝄞', repeat('x', 700), '\\', '%', '_', 'a\%', '0', ' 12 ', '-7', '+8', '32768', '2147483648', '9223372036854775807', '9223372036854775808', '-9223372036854775808', '1.5', '-1e3', '1e308', '1e309', '1e-330', '.5', '5.', '.', '-', 'e5', '2020-02-29', '2019-02-29', '2020-13-01', '0000-01-01', '0001-01-01', '12a']),
		('bpchar', ARRAY['', ' ', 'a', 'ab  ', 'äö ']),
		('varchar', ARRAY['', ' ', 'a', 'ab  ', 'äö ', 'abcdefghijkl']),
		('name', ARRAY['', 'a', 'ab', 'äö', repeat('y', 63)]),
		('"char"', ARRAY['', 'a', '~']),
		('bytea', ARRAY['', '\x00', '\xff00']),
		('oid', ARRAY['0', '1', '4294967295']),
		('uuid', ARRAY['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']),
		('inet', ARRAY['0.0.0.0/0', '10.0.0.1', 'ff::/8', '::1', '255.255.255.255']),
		('cidr', ARRAY['0.0.0.0/0', '10.0.0.0/8', 'ff00::/8', '::1/128', '255.255.255.255/32']),
		('macaddr', ARRAY['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff']),
		('macaddr8', ARRAY['00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff']),
		('bit', ARRAY['0', '1']),
		('varbit', ARRAY['', '0', '10101']),
		('money', ARRAY['0', '-92233720368547758.08', '92233720368547758.07']),
		('time', ARRAY['00:00', '12:34:56.789012', '23:59:59.999999', '24:00']),
		('timetz', ARRAY['00:00+15:59', '24:00-15:59', '12:00+00']),
		('date', ARRAY['2000-01-01', '2020-02-29', '1999-12-31', '0001-01-01', '0001-12-31 BC', '4001-06-30 BC', '5874897-12-31', '5000000-01-01', '294277-01-01', '280000-01-01',
			'4714-11-24 BC', '4713-01-01 BC', '294276-12-31', '290000-01-01']),
		('timestamp', ARRAY['2000-01-01', '2020-02-29 12:34:56.789012', '2020-03-29 02:30', '2021-10-31 02:30', '1999-12-31 23:59:59.999999', '0001-01-01', '0001-12-31 BC', '3999-06-30 BC', '280000-01-01']),
		('timestamptz', ARRAY['2000-01-01 00:00+00', '2020-02-29 12:34:56.789012+00', '2020-03-29 02:30+01', '2021-10-31 02:30+02', '1883-11-18 12:00+00', '0001-01-01 00:00+00', '3999-06-30 00:00+00 BC', '280000-01-01 00:00+00']),
		('interval', ARRAY['0', '1 microsecond', '-1 day', '1 month', '13 months 40 days 25 hours', '-1000 years', '10000 years', '-7 days', '400 years',
			'178000000 years', '-178000000 years', '2147483647 days', '9223372036854775807 microseconds', '294000 years', '-290000 years', '107000000 days',
			'2147483647 months 2147483647 days', '2500000000 hours']),
		('jsonb', ARRAY['{}', '[]', 'null', '1', '"a"', 'true', '{"a": 1, "b": null, "": "x"}', '{"a": {"a": [1, "2", {"b": -1e400}]}, "0": "null"}',
			'[null, "a", [1, [2, [3]]], {"a": "\u00e4\n\""}]', '{"a": "' || repeat('x', 700) || '", "b": [' || repeat('[', 500) || repeat(']', 500) || ']}']),
		('text[]', ARRAY['{}', '{a}', '{NULL}', '{a,NULL}', '{a,a,2,b}', '{0}', '{-1,a}', '{2,1,1,0}', '{3,a}', '{a,99999999999}', '{b,0,0,0}', '{{a,b},{NULL,a}}', '[0:1]={a,b}']),
		('int4range', ARRAY['empty', '(,)', '[1,5)', '[,7)', '(-5,]', '[-2147483648,2147483647)', '[2147483646,]', '[1,1]']),
		('total_mood', ARRAY['sad', 'happy'])
	) AS t (type, list), unnest(t.list) AS v (value);
INSERT INTO sample
	SELECT t.type::regtype, v.value, false, true
	FROM (VALUES
		('timestamp', ARRAY['4714-11-24 BC', '4714-11-25 BC', '4714-12-31 BC', '4713-02-01 BC', '4500-06-30 BC', '4000-01-01 BC', '4000-01-02 BC', '290000-01-01', '294276-11-30 12:00', '294276-12-31 23:59:59']),
		('timestamptz', ARRAY['4714-11-25 00:00+00 BC', '4714-12-31 00:00+00 BC', '4713-02-01 00:00+00 BC', '4500-06-30 00:00+00 BC', '4000-01-01 00:00+00 BC', '4000-01-02 00:00+00 BC', '290000-01-01 00:00+00', '294276-11-30 12:00+00', '294276-12-31 23:59:59+00'])
	) AS t (type, list), unnest(t.list) AS v (value);
INSERT INTO sample
	SELECT t.type::regtype, v.value, true
	FROM (VALUES
		('numeric', ARRAY['1e1000', repeat('7', 5000), '1e131071', '-1e131071']),
		('text', ARRAY['NaN', 'Infinity', '-inf', '0x1F', '1_000', '1e1000', 'now', '01/02/2020', '2020-1-1', '20200229', '1999-12-31 12:00', 'epoch', '\', 'a\', '%\', repeat('0', 300) || '1']),
		('date', ARRAY['infinity', '-infinity']),
		('timestamp', ARRAY['infinity', '-infinity', '294276-12-31 23:59:59.999999']),
		('timestamptz', ARRAY['infinity', '-infinity', '4714-11-24 00:00+00 BC', '294276-12-31 23:59:59.999999+00']),
		('interval', ARRAY['-2147483648 days', '-9223372036854775808 microseconds', '-2147483648 months'])
	) AS t (type, list), unnest(t.list) AS v (value);
-- what takes its time is for the run of all tests: more numbers with many digits, the widest strings, all names of
-- one function, and more pairs and triples of arguments
\set widths '{524286,-524286,524289}'
\set every_name false
\set pairs 500
\set triples 2000
\set many 60000
\set least 150
\getenv all DP_TEST_ALL
\if :{?all}
\set widths '{524286,-524286,524289,16777218}'
\set every_name true
\set pairs 5000
\set triples 5000
\set many 100000
\set least 200
INSERT INTO sample
	SELECT 'numeric', value, true FROM unnest('{1e129999,1e130000,-1e131000,9e131071,99999e131067}'::text[] || ('0.' || repeat('7', 5000))) AS value;
\endif
-- infinite intervals, where there are any
INSERT INTO sample
	SELECT 'interval', value, true FROM unnest('{infinity,-infinity}'::text[]) AS value
	WHERE current_setting('server_version_num')::int >= 170000;

-- values of arguments that must be constants, by function; what else is tried
-- there counts as far, or is not tried if the query would have been refused
CREATE TEMP TABLE constant (name name, arg int, value text, only_these boolean NOT NULL DEFAULT false);
INSERT INTO constant VALUES
	('varchar', 2, '-1', true), ('varchar', 2, '5', true), ('varchar', 2, '10244', true),
	('bpchar', 2, '-1', true), ('bpchar', 2, '5', true), ('bpchar', 2, '10244', true),
	('varchar', 3, 'true', true), ('bpchar', 3, 'true', true),
	('lpad', 2, '-1', false), ('lpad', 2, '5', false), ('rpad', 2, '0', false), ('rpad', 2, '700', false),
	('width_bucket', 4, '1', false), ('width_bucket', 4, '10', false), ('width_bucket', 4, '2147483646', false);
INSERT INTO constant
	SELECT name, 1, field
	FROM (VALUES ('extract'), ('date_part')) AS f (name),
		unnest('{century,day,decade,dow,doy,epoch,hour,isodow,isoyear,julian,microseconds,millennium,milliseconds,minute,month,quarter,second,timezone,timezone_hour,timezone_minute,week,YEAR}'::text[]) AS field;
INSERT INTO constant
	SELECT 'date_trunc', 1, field
	FROM unnest('{century,day,decade,hour,microseconds,millennium,milliseconds,minute,month,quarter,second,week,Year}'::text[]) AS field;
INSERT INTO constant
	SELECT f.name, f.arg, zone
	FROM (VALUES ('date_trunc', 3), ('timezone', 1)) AS f (name, arg),
		unnest('{UTC,Europe/Berlin,America/New_York,Pacific/Kiritimati,FOO+23,<X>-23}'::text[]) AS zone;
INSERT INTO constant
	SELECT 'date_bin', 1, stride FROM unnest('{1 microsecond,15 minutes,1 day 3 hours,7 days,36525 days}'::text[]) AS stride;
INSERT INTO constant
	SELECT 'date_bin', 3, origin FROM unnest('{2000-01-01,1883-11-18 12:00,2020-03-29 02:30}'::text[]) AS origin;
INSERT INTO constant
	SELECT 'to_char', 2, format
	FROM unnest(ARRAY['YYYY-MM', 'YYYY-MM-DD"T"HH24:MI:SS.US', 'IYYY-IW ID', 'Q', 'Mon DD, YYYY HH12:MI AM', 'DDD D WW IDDD MS Day Month MONTH month DY dy Dy day DAY mon MON YY HH PM',
		'FMMonth FMDay, FMDD FMHH12 fmmm q w W', 'yyyy-mm-01 hh24:mi:ss.us (iyyy/iw) [ddd d iddd ms hh12 hh ww id am pm]', '10% FMUS+FMIDDD']) AS format;

-- every combination of values for a function's arguments, as literals; of many, some
SET test.pairs = :pairs;
SET test.triples = :triples;
CREATE FUNCTION pg_temp.combinations(f regprocedure) RETURNS TABLE (args text, far boolean) LANGUAGE plpgsql AS $$
DECLARE
	types oid[];
	proname name;
	query text := 'SELECT ''''::text AS args, false AS far';
	i int;
	t regtype;
BEGIN
	SELECT p.proargtypes::oid[], p.proname INTO types, proname FROM pg_proc p WHERE p.oid = f;
	FOR i IN 1 .. coalesce(cardinality(types), 0) LOOP
		t := types[i - 1];
		t := CASE t WHEN 'anyenum'::regtype THEN 'total_mood'::regtype WHEN 'anyrange'::regtype THEN 'int4range'::regtype
			WHEN 'anyelement'::regtype THEN 'int4'::regtype WHEN 'anycompatible'::regtype THEN 'text'::regtype
			WHEN 'anyarray'::regtype THEN 'text[]'::regtype WHEN 'anycompatiblearray'::regtype THEN 'text[]'::regtype ELSE t END;
		query := format(
			'SELECT args || %L || quote_literal(value) || %L AS args, s.far OR prev.far AS far FROM (%s) prev, (
				SELECT value, far OR ends AND %s OR EXISTS (SELECT FROM constant WHERE name = %L AND arg = %s) AS far
				FROM sample
				WHERE type = %L::regtype AND length(value) < %s
					AND NOT EXISTS (SELECT FROM constant WHERE name = %L AND arg = %s AND only_these)
				UNION ALL SELECT value, value = ''week'' AND %s FROM constant WHERE name = %L AND arg = %s) s',
			CASE WHEN i > 1 THEN ', ' ELSE '' END, '::' || t, query,
			(proname IN ('timezone', 'timestamp_mi', 'timestamptz_mi') OR proname = 'date_trunc' AND t = 'timestamptz'::regtype)::text, proname, i, t,
			-- four arguments: not all of the values
			CASE WHEN cardinality(types) > 3 THEN 12 ELSE 10000 END, proname, i,
			-- weeks of intervals are new in version 18
			(types[cardinality(types) - 1] = 'interval'::regtype)::text, proname, i);
	END LOOP;
	IF cardinality(types) > 1 THEN
		query := format('SELECT * FROM (%s) x WHERE hashtext(args) %% (SELECT 1 + count(*) / %s FROM (%s) y) = 0',
			query, current_setting(CASE WHEN cardinality(types) > 2 THEN 'test.triples' ELSE 'test.pairs' END), query);
	END IF;
	RETURN QUERY EXECUTE query;
END $$;

-- how many calls, and a description of the first offence
CREATE FUNCTION pg_temp.sweep(f regprocedure, total regprocedure, OUT calls int, OUT far_nulls int, OUT offence text) LANGUAGE plpgsql AS $$
DECLARE
	run text := coalesce(total, f)::oid::regproc::text;
	builtin text := f::oid::regproc::text;
	expected text;
	got text;
	raised boolean;
	-- a list of arguments is one array here
	many boolean := (SELECT provariadic <> 0 FROM pg_proc WHERE oid = f);
	a record;
BEGIN
	calls := 0; far_nulls := 0;
	FOR a IN SELECT * FROM pg_temp.combinations(f) LOOP
		calls := calls + 1;
		IF total IS NULL THEN
			BEGIN
				EXECUTE format('SELECT %s(%s)', run, a.args);
			EXCEPTION WHEN OTHERS THEN
				offence := format('%s(%s) raised %s', run, left(a.args, 200), sqlerrm);
				RETURN;
			END;
			CONTINUE;
		END IF;
		BEGIN
			raised := false;
			EXECUTE format('SELECT %s(%s)::text', builtin, CASE WHEN many THEN replace(a.args, '::jsonb, ', '::jsonb, VARIADIC ') ELSE a.args END)
				INTO expected;
		EXCEPTION WHEN OTHERS THEN
			raised := true;
			expected := NULL;
		END;
		BEGIN
			EXECUTE format('SELECT %s(%s)::text', run, a.args) INTO got;
		EXCEPTION WHEN OTHERS THEN
			offence := format('%s(%s) raised %s', run, left(a.args, 200), sqlerrm);
			RETURN;
		END;
		IF got IS DISTINCT FROM expected THEN
			IF got IS NULL AND a.far THEN
				far_nulls := far_nulls + 1;
			ELSE
				offence := format('%s(%s) is %s, not %s', run, left(a.args, 200), coalesce(left(got, 60), 'NULL'),
					CASE WHEN raised THEN 'NULL' ELSE left(expected, 60) END);
				RETURN;
			END IF;
		END IF;
	END LOOP;
END $$;

CREATE TEMP VIEW listed AS
	SELECT DISTINCT ON (prosrc, proargtypes, total, CASE WHEN :every_name THEN function END) function, total
	FROM dp_cdp.allowed_functions() JOIN pg_proc p ON p.oid = function
	WHERE treatment IN ('as is', 'total variant', 'added') ORDER BY prosrc, proargtypes, total, CASE WHEN :every_name THEN function END, function;

CREATE TEMP TABLE swept AS
	SELECT function, total, s.* FROM listed, pg_temp.sweep(function, total) s;
SELECT * FROM swept WHERE offence IS NOT NULL OR calls = 0;
SELECT count(*) > 500 AS functions, sum(calls) > :many AS calls, sum(far_nulls) < sum(calls) / 10 AS far_nulls FROM swept;

-- what depends on the time zone, in some others
SET TimeZone = 'America/New_York';
SELECT function, total, s.* FROM listed JOIN pg_proc p ON p.oid = function, pg_temp.sweep(function, total) s
	WHERE provolatile = 's' AND (offence IS NOT NULL OR calls = 0);
SET TimeZone = 'Pacific/Kiritimati';
SELECT function, total, s.* FROM listed JOIN pg_proc p ON p.oid = function, pg_temp.sweep(function, total) s
	WHERE provolatile = 's' AND (offence IS NOT NULL OR calls = 0);
RESET TimeZone;

-- the first and the last day of time are values, and none of the days beyond
SELECT n, dp_cdp_internal.try_add(timestamp '294276-12-01 12:00', n * interval '1 day') AS days, dp_cdp_internal.try_add(n * interval '1 month', timestamp '294274-06-30') AS months,
		dp_cdp_internal.try_add(timestamptz '294276-12-01 12:00+00', n * interval '24 hours') AS hours, dp_cdp_internal.try_add(date '294276-12-01', n * interval '1 day') AS date
	FROM unnest('{29,30,31}'::int[]) n;
SELECT n, dp_cdp_internal.try_subtract(timestamp '4713-01-01 BC', n * interval '1 day') AS days, dp_cdp_internal.try_subtract(timestamp '4711-06-24 BC', n * interval '1 month') AS months,
		dp_cdp_internal.try_subtract(timestamptz '4713-01-01 00:00+00 BC', n * interval '1 day') AS zoned
	FROM unnest('{30,31,38,39}'::int[]) n;
SELECT dp_cdp_internal.try_add(timestamp '294276-12-31', interval '-9223372036854775808 microseconds') AS least, dp_cdp_internal.try_date_bin('365000 days', timestamp '294276-12-31', '2000-01-01') AS bin,
		dp_cdp_internal.try_date_bin('7 days', timestamp '4714-11-25 BC', '2000-01-01') AS no_bin, dp_cdp_internal.try_timestamp(timestamp '294276-12-31 23:59:59.999999', 0) AS rounded;
SELECT y, m, d, dp_cdp_internal.try_make_date(y, m, d)
	FROM (VALUES (-4714, 11, 23), (-4714, 11, 24), (-4714, 12, 32), (0, 1, 1), (5874897, 12, 31), (5874898, 1, 1), (-2147483648, 1, 1)) v (y, m, d);
-- where local time is on the other side of an end
SET TimeZone = 'America/New_York';
SELECT dp_cdp_internal.try_timestamp(t) AS cast, dp_cdp_internal.try_date(t) AS date, dp_cdp_internal.try_to_char(t, 'Day') AS day, dp_cdp_internal.try_extract('hour', t) AS hour, dp_cdp_internal.try_add(t, interval '1 day') = t + interval '1 day' AS same
	FROM (SELECT timestamptz '4714-11-24 00:00+00 BC' AS t) q;
SET TimeZone = 'Asia/Kolkata';
SELECT dp_cdp_internal.try_timestamp(t) AS cast, dp_cdp_internal.try_date(t) AS date, dp_cdp_internal.try_to_char(t, 'YYYY') AS year, dp_cdp_internal.try_extract('hour', t) AS hour, dp_cdp_internal.try_subtract(t, interval '1 day') = t - interval '1 day' AS same,
		dp_cdp_internal.try_timestamptz(timestamp '4714-11-24 BC') AS no_timestamptz
	FROM (SELECT timestamptz '294276-12-31 23:59:59+00' AS t) q;
RESET TimeZone;

-- a total variant has the properties of its built-in, and anybody may call it;
-- date_trunc in a given zone has become immutable in one of the versions, the place of NULL is not sought, NULL is no
-- delimiter, and settings that values are written by are fixed where rows are read
SELECT function, total, p.provolatile, t.provolatile
	FROM listed JOIN pg_proc p ON p.oid = function JOIN pg_proc t ON t.oid = total
	WHERE p.provolatile <> t.provolatile AND function NOT IN ('date_trunc(text, timestamptz, text)'::regprocedure, 'array_to_string(anyarray, text)'::regprocedure) OR p.prorettype <> t.prorettype
		OR NOT t.proisstrict OR NOT p.proisstrict AND p.proname NOT IN ('array_position', 'string_to_array') OR t.proparallel <> 's' OR p.proparallel <> 's';
SELECT count(*) AS not_executable FROM pg_proc
	WHERE pronamespace = 'dp_cdp_internal'::regnamespace AND (proname LIKE 'try%' OR proname = 'canonical')
		AND NOT has_function_privilege('pg_monitor', oid, 'EXECUTE');

-- How long strings may be: what a function makes of longer ones is NULL, it
-- never makes a longer one, and none fails.  Widths: at each limit and beyond;
-- negative: of a letter that is longer in lower case.
CREATE FUNCTION pg_temp.wide(total regprocedure, string text, OUT longest int, OUT offence text) LANGUAGE plpgsql AS $$
DECLARE
	types oid[] := (SELECT proargtypes::oid[] FROM pg_proc WHERE oid = total);
	i int;
	call text;
	bytes int;
BEGIN
	longest := 0;
	-- each argument that is a string in turn
	FOR i IN 0 .. cardinality(types) - 1 LOOP
		CONTINUE WHEN types[i] NOT IN ('text'::regtype, 'bpchar'::regtype, 'varchar'::regtype);
		SELECT 'SELECT octet_length((' || total::oid::regproc || '(' || string_agg(
			CASE WHEN j - 1 = i THEN '$1::' || t::regtype
				WHEN t IN ('text'::regtype, 'bpchar'::regtype, 'varchar'::regtype) THEN quote_literal('xaX') || '::' || t::regtype
				WHEN t = 'anyarray'::regtype THEN '''{a,NULL,b}''::text[]'
				WHEN t = 'int4'::regtype THEN '100000' WHEN t = 'bool'::regtype THEN 'true'
				ELSE (SELECT quote_literal(min(value)) FROM sample s WHERE s.type = t) || '::' || t::regtype END
			|| CASE WHEN t = 'text'::regtype THEN ' COLLATE "C.utf8"' ELSE '' END, ', ' ORDER BY j)
			|| '))::text)' INTO call FROM unnest(types) WITH ORDINALITY AS u (t, j);
		BEGIN
			EXECUTE call INTO bytes USING string;
			longest := greatest(longest, bytes);
		EXCEPTION WHEN OTHERS THEN
			offence := format('%s raised %s', call, sqlerrm);
		END;
	END LOOP;
END $$;
CREATE TEMP TABLE widened AS
	SELECT total, width, w.* FROM (SELECT DISTINCT total FROM listed WHERE total IS NOT NULL
			AND (SELECT proargtypes::oid[] && '{text,bpchar,varchar}'::regtype[]::oid[] AND proargtypes[0] <> 'jsonb'::regtype
				FROM pg_proc WHERE oid = total)) l,
		(SELECT width, CASE WHEN width > 0 THEN repeat('xaX', width / 3) ELSE repeat('Ⱥ', -width / 2) END AS string
			FROM unnest(:'widths'::int[]) width OFFSET 0) s, pg_temp.wide(total, string) w;
SELECT * FROM widened WHERE longest > 524288 OR offence IS NOT NULL;
SELECT count(*) > :least AS calls, count(*) FILTER (WHERE longest > 500000) > 10 AS long FROM widened;
-- at the limit itself
SELECT octet_length(dp_cdp_internal.try_concat(repeat('a', 524287), 'b')) AS concat, dp_cdp_internal.try_concat(repeat('a', 524288), 'b') AS longer,
	dp_cdp_internal.try_length(repeat('a', 16777216)) AS length, dp_cdp_internal.try_length(repeat('a', 16777217)) AS longer,
	dp_cdp_internal.try_strpos(repeat('a', 1000000) || 'b', 'ab') AS strpos, dp_cdp_internal.try_strpos(repeat('a', 16000000), repeat('a', 100)) AS more_work,
	dp_cdp_internal.try_left(repeat('a', 1000000), 5) AS left, dp_cdp_internal.try_left(repeat('a', 1000000), -999995) AS from_the_end,
	dp_cdp_internal.try_substring(repeat('a', 1000000), 3, 4) AS substring, dp_cdp_internal.try_substring(repeat('a', 1000000), 999999, 1) AS far,
	dp_cdp_internal.try_starts_with(repeat('a', 1000000), 'aa') AS starts_with, dp_cdp_internal.try_starts_with(repeat('a', 1000000), 'b') AS not,
	dp_cdp_internal.try_varchar(repeat('a', 1000000), 9, true) AS varchar, dp_cdp_internal.try_bpchar(repeat('a', 1000000)::bpchar, 9, true) AS bpchar,
	dp_cdp_internal.canonical(repeat('a', 524289)::bpchar) AS canonical;
SELECT octet_length(dp_cdp_internal.try_json_text(jsonb_build_object('a', repeat('x', 524288)), 'a')) AS text,
	dp_cdp_internal.try_json_text(jsonb_build_array(repeat('x', 524289)), 0) AS longer,
	octet_length(dp_cdp_internal.try_json(jsonb_build_object('a', repeat('x', 1000000)), 'a')::text) AS json,
	dp_cdp_internal.try_json(jsonb_build_object('a', repeat('x', 16777216)), 'a') AS longer;

-- casts by way of text have no built-in function to be listed under, and unit_min and unit_max stand before what is inside of them
SELECT DISTINCT t.oid::regprocedure FROM pg_proc t
	WHERE pronamespace = 'dp_cdp_internal'::regnamespace AND proname LIKE 'try%'
		AND NOT EXISTS (SELECT FROM dp_cdp.allowed_functions() WHERE total = t.oid)
	ORDER BY 1;
SELECT left(value, 20) AS value, dp_cdp_internal.try_int2(value) AS int2, dp_cdp_internal.try_int4(value) AS int4,
		dp_cdp_internal.try_int8(value) AS int8, dp_cdp_internal.try_float8(value) AS float8,
		left(dp_cdp_internal.try_numeric(value)::text, 10) AS numeric, dp_cdp_internal.try_date(value) AS date
	FROM sample WHERE type = 'text'::regtype;
SET DateStyle = 'German';
SELECT dp_cdp_internal.try_text(value::date) FROM sample WHERE type = 'date'::regtype;
SELECT dp_cdp_internal.try_text(value::timestamp) FROM sample WHERE type = 'timestamp'::regtype;
RESET DateStyle;
SELECT count(*) AS differ FROM sample WHERE type = 'int2'::regtype AND dp_cdp_internal.try_text(value::int2) <> value::int2::text;
SELECT count(*) AS differ FROM sample WHERE type = 'int4'::regtype AND dp_cdp_internal.try_text(value::int4) <> value::int4::text;
SELECT count(*) AS differ FROM sample WHERE type = 'int8'::regtype AND dp_cdp_internal.try_text(value::int8) <> value::int8::text;
SELECT count(*) AS differ FROM sample WHERE type = 'numeric'::regtype AND dp_cdp_internal.try_text(value::numeric) <> value::numeric::text;
SELECT count(*) AS differ FROM sample WHERE type = 'uuid'::regtype AND dp_cdp_internal.try_text(value::uuid) <> value::uuid::text;
SELECT dp_cdp_internal.try_text('sad'::total_mood);

-- one representation of equal keys
SELECT dp_cdp_internal.canonical('-0'::float4), dp_cdp_internal.canonical('-0'::float8), dp_cdp_internal.canonical('NaN'::float8), dp_cdp_internal.canonical('-1e-320'::float8),
	'[' || dp_cdp_internal.canonical('a  '::bpchar)::bytea::text || ']' AS bpchar;

DROP TYPE total_mood;

-- a stored value is as long as it is, wherever and however it is stored
CREATE TABLE stored (how text, value text);
ALTER TABLE stored ALTER value SET STORAGE EXTERNAL;
INSERT INTO stored VALUES ('elsewhere', repeat('a', 600000)), ('in the row', 'aa');
ALTER TABLE stored ALTER value SET STORAGE EXTENDED;
INSERT INTO stored VALUES ('compressed', repeat('a', 600000)),
	('compressed elsewhere', repeat('a', 600000) || (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i));
SELECT how, pg_column_size(value) < 600000 AS compressed, dp_cdp_internal.try_lower(value) IS NULL AS wide,
		dp_cdp_internal.try_replace(value, 'a', 'b') IS NULL AS replaced, dp_cdp_internal.try_summand(value) IS NULL AS left_out
	FROM stored ORDER BY how;
DROP TABLE stored;
