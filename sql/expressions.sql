-- Which expressions over protected columns an analyst may write, and that no
-- row, however extreme, makes an accepted one fail.  Answers are noisy: only
-- whether there is one is shown.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE SCHEMA expressions AUTHORIZATION regress_dp_owner;
GRANT CREATE, USAGE ON SCHEMA expressions TO regress_dp_analyst;
SET search_path = expressions, public;
SET DateStyle = ISO;
SET TimeZone = 'UTC';

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET ROLE regress_dp_owner;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN zip AS text;
CREATE TABLE edge (
	person int, s smallint, i int, b bigint, r real, f double precision, n numeric, p numeric(8,2),
	t text, v varchar(10), c char(5), x "char", nm name,
	d date, tm time, ts timestamp, tz timestamptz, iv interval, ttz time with time zone,
	m mood, ok boolean, u uuid, ip inet, j jsonb, a int[], z zip, rg int4range,
	nc text COLLATE "C", np text COLLATE "POSIX"
);
INSERT INTO edge (person, s, i, b, r, f, n, p, t, v, c, d, tm, ts, tz, iv, m, ok) VALUES
	(1, -32768, -2147483648, -9223372036854775808, '-Infinity', 'NaN', 'NaN', 'NaN', '', '', '', '-infinity', '00:00', '-infinity', '-infinity', '-178000000 years', 'sad', true),
	(2, 32767, 2147483647, 9223372036854775807, 'Infinity', 'Infinity', 'Infinity', 999999.99, 'a\', '%', 'x', 'infinity', '24:00', 'infinity', 'infinity', '178000000 years', 'ok', false),
	(3, 0, 0, 0, 0, 0, 0, 0, '(', '_', 'y', '5874897-12-31', '12:34', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00', '0', 'happy', NULL),
	(4, 1, -1, 1, 1e-45, 4.9e-324, '1e-400', 0.01, 'not a number', 'ab', 'ab', '4714-11-24 BC', '01:00', '4714-11-24 BC', '4714-11-24 00:00+00 BC', '1 day', 'ok', true),
	(5, 2, 2, 2, 3.4e38, 1.7976931348623157e308, '1e400', 1, '99999999999999999999', 'q', 'q', '5000000-01-01', '02:00', '2020-02-29', '2020-02-29', '2147483647 days', 'ok', true),
	(6, 3, 97, 3, -3.4e38, -1.7976931348623157e308, '-9e131071', -1, '2020-02-30', 'w', 'w', '2020-02-29', '03:00', '0001-01-01', '0001-01-01', '-1 month', 'ok', true),
	(7, 3, 97, 3, 1, 1e-320, '9e131071', -1, '0x1F', 'w', 'w', '294277-01-01', '03:00', '1999-12-31', '1999-12-31', '-1 month', 'ok', true),
	(8, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO edge (person, s, i, b, r, f, n, p, t, v, c, d, tm, ts, tz, m, ok)
	SELECT g, g, g, g, g, g, g, g, g, g, g, date '2020-01-01' + g, '10:00', date '2020-01-01' + g, date '2020-01-01' + g, 'ok', true
	FROM generate_series(100, 200) g;
UPDATE edge SET a = (ARRAY['{}', '{1,NULL}', '{{1,2},{3,4}}', '[0:1]={1,2}', '{3}'])[1 + person % 5]::int[],
	rg = (ARRAY['empty', '(,)', '[3,2147483647)', '[-2147483648,5)'])[1 + person % 4]::int4range, ip = (ARRAY['10.0.0.1', 'ff::/8', '0.0.0.0/0'])[1 + person % 3]::inet
	WHERE person <> 8;
SELECT dp_cdp.create_dataset('expressions');
SELECT dp_cdp.protect_table('edge', 'expressions', unit => 'person');
SELECT dp_cdp.set_budget('expressions', 'regress_dp_analyst', rho => 1000000);
RESET ROLE;

SET SESSION AUTHORIZATION regress_dp_analyst;
SET dp_cdp.rho = 0.01;

-- what becomes of a condition, a filter, a summand, and a key
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows int;
BEGIN
	EXECUTE query;
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ': ' || sqlerrm;
END $$;
CREATE FUNCTION condition(e text) RETURNS text LANGUAGE sql AS
	$$ SELECT outcome(format('SELECT dp_count(*) FROM edge WHERE %s', e)) $$;
CREATE FUNCTION filter(e text) RETURNS text LANGUAGE sql AS
	$$ SELECT outcome(format('SELECT dp_count(*) FILTER (WHERE %s) FROM edge', e)) $$;
CREATE FUNCTION summand(e text) RETURNS text LANGUAGE sql AS
	$$ SELECT outcome(format('SELECT dp_sum(%s, 0, 10) FROM edge', e)) $$;
CREATE FUNCTION key(e text) RETURNS text LANGUAGE sql AS
	$$ SELECT outcome(format('SELECT %1$s, dp_count(*) FROM edge GROUP BY 1', e)) $$;

-- comparisons, logic, and arithmetic that some row would make fail
SELECT e, condition(e), filter(e) FROM unnest(ARRAY[
	'i > 5', 's < b AND i <> s', 'f > r', 'n < 1.0::float8', 'n >= 3', 'p BETWEEN 1 AND 100',
	't = ''a''', 't < v', 'c = ''x''', 'nm IS NULL', 'x IS DISTINCT FROM ''a''', 'm = ''sad''', 'm > ''sad''',
	'd = ''2020-02-29''', 'd < ts', 'ts >= tz', 'tz > now()', 'tm < ''12:00''', 'iv > ''1 day''', 'u IS NOT NULL',
	'ok', 'NOT ok', 'ok IS TRUE', 'ok IS NOT UNKNOWN', 'ok = (i > 3)', 'i > 3 OR (ok AND f = ''NaN'')',
	'i IN (1, 2, 3)', 'i IN (s, 3)', 'ROW(i, s) = ROW(1, 2)', 'i NOT IN (1, NULL)', 't IN (''a'', ''b'')', 'v IN (''a'', ''b'')', 'c IN (''a'', ''b'')',
	'm IN (''sad'', ''ok'')', 'i = ANY (''{1,2}'')', 't <> ALL (ARRAY[''a'', ''b''])', 'd IN (''2020-02-29'', current_date)',
	'CASE WHEN i > 3 THEN ok ELSE false END', 'CASE m WHEN ''sad'' THEN true WHEN ''ok'' THEN false END',
	'coalesce(i, s) > 3', 'nullif(i, 3) > 3', 'greatest(i, s, 5) > least(f, 3)',
	'i + 2147483551 > 0', 'i - 1 > 0', 'i * i > 0', 'i / (i - 97) > 0', 'i % (i - 97) > 0', '-i > 5', 'abs(i) > 5',
	's + s > 0', 'b * b > 0', '-b > 0', 'b / s > 0', 'mod(b, b) = 0', 'f * 1e304 > 0', 'f / f > 0', 'r + r > 0', 'f - r > 0',
	'n * n > 0', 'n + n > 0', 'n / n > 0', 'n % 3 > 0', 'round(n) > 0', 'round(n, 2) > 0', 'ceil(n) > 0', 'floor(n) > 0',
	'trunc(n) > 0', 'sqrt(n) > 0', 'sqrt(f) > 0', 'ln(f) > 0', 'log(f) > 0', 'exp(f) > 0', 'power(f, f) > 0', 'f ^ 2 > 0',
	'sin(f) > 0', 'tan(f) > 0', 'acos(f) > 0', 'atan2(f, r) > 0', 'sinh(f) > 0', 'acosh(f) > 0', 'atanh(f) > 0', 'radians(f) > 0', 'degrees(f) > 0', 'cosd(f) > 0',
	'floor(f) > 0', 'width_bucket(f, 0, 1, 10) > 1', 'width_bucket(n, 0, 1, 10) > 1', 'i & 1 = 1'
]) AS e;

-- casts
SELECT e, condition(e) FROM unnest(ARRAY[
	'n::int2 > 0', 'n::int > 0', 'n::int8 > 0', 'n::float8 > 0', 'n::float4 > 0', 'n::numeric(6,2) > 0', 'f::int > 0',
	'f::int8 > 0', 'f::numeric > 0', 'f::float4 > 0', 'r::int2 > 0', 'b::int > 0', 'i::int2 > 0', 'i::float8 > 0', 'i::numeric > 0',
	'i::bool', 'ok::int = 1', 'ok::text = ''true''', 'i::text = ''5''', 'n::text = ''5''', 'm::text = ''ok''', 'd::text = ''2020-02-29''',
	't::bool', 't::uuid IS NOT NULL', 't::time > ''10:00''', 't::timestamp > ''2020-01-01''', 't::timestamptz > ''2020-01-01''', 't::interval > ''1 day''',
	't::int > 0', 't::int8 > 0', 't::float8 > 0', 't::numeric > 0', 't::date > ''2020-01-01''', 'v::int > 0', 't::varchar(2) = ''a''', 't::char(3) = ''a''',
	'd::timestamp > ''2020-01-01''', 'd::timestamptz > ''2020-01-01''', 'ts::date > ''2020-01-01''', 'tz::date > ''2020-01-01''',
	'ts::timestamptz > ''2020-01-01''', 'tz::timestamp > ''2020-01-01''', 'ts::time > ''10:00''', 'ts::timestamp(0) > ''2020-01-01'''
]) AS e;

-- dates and times
SELECT e, condition(e) FROM unnest(ARRAY[
	'd - d > 3', 'd + 1 > ''2020-01-01''', 'd - 2147483647 > ''2020-01-01''', '3 + d > ''2020-01-01''', 'd + iv > ''2020-01-01''',
	'ts - ts > ''1 day''', 'tz - tz > ''1 day''', 'ts + interval ''1 month'' > ''2020-01-01''', 'tz - iv > ''2020-01-01''', 'iv + ts > ''2020-01-01''',
	'age(ts, ts) > ''1 day''', 'age(tz, now()) > ''1 day''', 'now() - tz < interval ''30 days''', 'tz > current_timestamp - interval ''1 year''', 'd = current_date - 7',
	'extract(year FROM d) = 2020', 'extract(hour FROM ts) > 3', 'extract(epoch FROM tz) > 3', 'extract(dow FROM tz) = 1', 'extract(minute FROM tm) > 3', 'extract(epoch FROM iv) > 3',
	'date_part(''year'', d) = 2020', 'date_part(''isoyear'', tz) = 2020', 'date_trunc(''month'', d) > ''2020-01-01''', 'date_trunc(''millennium'', ts) > ''2020-01-01''',
	'date_trunc(''week'', tz) > ''2020-01-01''', 'date_trunc(''day'', tz, ''Europe/Berlin'') > ''2020-01-01''', 'tz AT TIME ZONE ''Europe/Berlin'' > ''2020-01-01''', 'ts AT TIME ZONE ''UTC'' > ''2020-01-01''',
	'age(ts) > ''1 day''', 'age(tz) > ''1 day''', 'make_date(i, 2, 29) IS NOT NULL', 'to_timestamp(f) > now()', 'date_bin(''15 minutes'', ts, ''2020-01-01'') > ''2020-01-01''', 'date_bin(''7 days'', tz, ''2020-01-06'') > ''2020-01-01''',
	'to_char(ts, ''YYYY-MM'') = ''2020-01''', 'to_char(d, ''YYYY"Q"Q'') = ''2020Q1''', 'to_char(d, ''fmmonth yyyy-01'') = ''''', 't ~ ''^(a|b)$''', 'isfinite(ts)',
	'd >= to_date(''2020-01-01'', ''YYYY-MM-DD'')', 'tz >= to_timestamp(''2020-01-01 00:00:00.000000'', ''YYYY-MM-DD HH24:MI:SS.US'')', 'd > make_date(2020, 1, 1)', 'tz > now() - make_interval(days => 7)', 'd > ''2020-01-01''::text::date'
]) AS e;

-- strings
SELECT e, condition(e) FROM unnest(ARRAY[
	't LIKE ''a%''', 't LIKE ''a\%''', 't NOT LIKE ''%_''', 't ILIKE ''A%''', 'v LIKE ''a%''', 'c LIKE ''a%''', 'nm LIKE ''a%''', 't LIKE ''a#%'' ESCAPE ''#''', 't SIMILAR TO ''a''',
	'length(t) > 3', 'char_length(v) > 3', 'lower(t) = ''a''', 'upper(v) = ''A''', 'initcap(t) = ''A''', 'trim(t) = ''a''', 'ltrim(t, ''0'') = ''a''', 'left(t, 2) = ''a''', 'right(t, -2) = ''a''',
	'substring(t FROM 1 FOR 96 - i) = ''a''', 'substr(t, 2) = ''a''', 'position(''a'' IN t) > 0', 'strpos(t, v) > 0', 'starts_with(t, ''a'')', 't || v = ''aa''', 'reverse(t) = ''a''',
	'lpad(t, i) = ''a''', 'lpad(t, i, t) = ''a''', 'rpad(t, 3, ''x'') = ''a''', 'replace(t, ''a'', ''b'') = ''b''', 'split_part(t, ''-'', 1) = ''a''', 'split_part(t, ''-'', i) = ''a''',
	't || i = ''a1''', 'd || t = ''x''', 'm || t = ''''', 'concat(t, v, i, n, u, d, ts, m, ''x'', NULL) = ''''', 'concat_ws('', '', t, v, i) = ''''', 'concat_ws(NULL, t, v) IS NULL', 'concat_ws('''', i) = ''1''', 't COLLATE "C" < v COLLATE "C"', 't COLLATE "POSIX" > ''a''', 't < nc'
]) AS e;

-- addresses, arrays and ranges
SELECT e, condition(e), filter(e) FROM unnest(ARRAY[
	'ip << ''10.0.0.0/8''', 'inet ''10.0.0.0/8'' >>= ip', 'family(ip) = 4', 'set_masklen(ip, i) = ip', 'host(ip) = t', 'ip::text = t', 'ip::cidr = network(ip)',
	'i = ANY (a)', 'i > ALL (a)', 'a @> ''{1}''', 'a <@ ARRAY[1, 2]', 'a && a', 'cardinality(a) > 1', 'array_length(a, i) > 1', 'array_position(a, i) > 1', 'a[i] = 1', 'a IS NULL',
	'rg @> i', 'i <@ rg', 'i <@ int4range(1, 5)', 'rg && ''[1,5)''', 'rg <@ rg', 'rg = ''empty''', 'lower(rg) > i', 'upper(rg) > 1', 'isempty(rg)', 'upper_inf(rg)', 'lower_inc(rg)', 'rg IS NOT NULL', 'rg @> int4range(5, 1)'
]) AS e;

-- constants: errors of theirs come before anything is charged
SELECT e, condition(e) FROM unnest(ARRAY[
	'true', 'false', 'i > 2 * 3 + 1', 't = upper(''a'') || chr(66)', 'i > 1 / 0', 'CASE WHEN i = 97 THEN 1 / 0 ELSE 1 END > 0', 'i IN (1, 2147483647 + 1)', 't LIKE ''a'' || ''\''', 'i > 1 / NULL::int', 'i = length(repeat(''x'', 5000))', 't = repeat(''x'', 20000)',
	'i > (''{1,2}''::int[])[1]', 't = md5(''a'')', 'd > ''not a date''::text::date'
]) AS e;
PREPARE with_parameters(int, text, int[], float8, numeric, date, interval) AS
	SELECT dp_count(*) IS NOT NULL AS answered FROM edge
	WHERE i / $1 > 0 OR t LIKE $2 OR i = ANY ($3) OR n > $4 OR n / $5 > 0 OR CASE WHEN i = 97 THEN 1 / $1 END = 1 OR d + $7 > $6;
EXECUTE with_parameters(0, 'a\', '{1}', 1, 0, 'infinity', '178000000 years');
SET plan_cache_mode = force_generic_plan;
EXECUTE with_parameters(0, 'a\', '{1}', 1, 0, 'infinity', '178000000 years');
EXECUTE with_parameters(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
RESET plan_cache_mode;

-- summands
SELECT e, summand(e) FROM unnest(ARRAY[
	'i', 's', 'b', 'f', 'r', 'n', 'p', 'i * i', 'f * 1e304', 'n / n', 'i::text::int', 'extract(epoch FROM ts)::int', 'length(t)', 'CASE WHEN ok THEN i END', '1', '1.0 / (i - 97)',
	'random()', 'pg_backend_pid()', 'i + (SELECT 1)', 'sum(i) OVER ()'
]) AS e;

-- keys
-- whether a group is shown is noise
SET client_min_messages = warning;
SELECT e, key(e) FROM unnest(ARRAY[
	'i', 'n', 'p', 'f', 'r', 't', 'v', 'c', 'nm', 'd', 'ts', 'tz', 'tm', 'm', 'ok', 'u', 'i > 50', 'i / 10', 'n::int', 'date_trunc(''month'', tz)', 'extract(year FROM d)', 'to_char(ts, ''YYYY-MM'')', 'lower(t)',
	'CASE WHEN i > 100 THEN ''old'' ELSE ''young'' END', 'width_bucket(n, 0, 100, 10)',
	'iv', 'ttz', 'j', 'a', 'z', 'rg', 'edge', 'ROW(i)', 'ARRAY[i]', 'ctid', 'md5(t)', 'random()'
]) AS e;
RESET client_min_messages;

-- refused, by name
SELECT e, condition(e) FROM unnest(ARRAY[
	'pg_sleep(1) IS NOT NULL', 'pg_notify(''c'', t) IS NOT NULL', 'pg_cancel_backend(1)', 'pg_create_restore_point(t || ''points'') IS NOT NULL', 'set_config(''a.b'', t, false) = ''''',
	'query_to_xml(t, true, false, '''') IS NULL', 'pg_read_file(t) = ''''', 'nextval(''pg_class'') > 0', 'random() > f', 'clock_timestamp() > tz', 'lo_import(t) = 0',
	't ~ ''(a)\1''', 't ~* ''a(?=b)''', 't !~ ''(''', 'regexp_replace(t, ''(a)(b)'', ''\2'') = ''''', 'substring(t FROM ''(a|b)*'') = ''a''', 't LIKE ''a\''', 't LIKE v', 't LIKE ANY (ARRAY[''a%''])',
	'repeat(t, i) = ''''', 'chr(97 - i) = ''a''', 'md5(md5(t)) = ''''', 'format(''%s'', t) = ''''', 'concat(t, f) = ''''', 'concat(c::bpchar) = ''''', 'concat(VARIADIC a) = ''''', 'concat_ws(t, v, v) = ''''', 't || iv = ''''', 't || j = ''''', 'decode(t, ''hex'') = ''''', 'encode(t::bytea, ''hex'') = ''''',
	'to_number(t, ''9'') > 0', 'to_date(t, ''YYYY'') > ''2020-01-01''', 'to_char(n, ''999'') = ''''', 'to_char(ts, ''TMMonth'') = ''''', 'to_char(ts, t) = ''''', 'date_trunc(t, ts) IS NOT NULL', 'date_trunc(''foo'', ts) IS NOT NULL',
	'extract(foo FROM ts) > 0', 'extract(hour FROM d) > 0', 'date_part(t, ts) > 0', 'ts AT TIME ZONE t IS NOT NULL', 'ts AT TIME ZONE ''Nowhere/Nix'' IS NOT NULL', 'date_bin(''1 month'', ts, ts) IS NULL', 'date_bin(''0 days'', tz, ''2020-01-01'') IS NULL', 'date_bin(iv, ts, ''2020-01-01'') IS NULL', 'overlay(t placing ''a'' from i) = ''''',
	't::regclass IS NOT NULL', 't::jsonb IS NOT NULL', 'ts::text = ''''', 't::inet IS NOT NULL', 't::zip IS NOT NULL', 't::varchar(100000) = ''a''', '1::text::varchar(3)::zip = t',
	'power(n, n) > 0', 'ln(n) > 0', 'exp(n) > 0', 'factorial(i) > 0', 'i << 40 > 0', 'iv * 2 > ''1 day''', 'iv + iv > ''1 day''',
	'j ->> ''a'' = ''b''', 'j = ''{}''', 'a[1:2] = ''{1}''', 'a[1][1] = 1', 'a = ''{1}''', 'a @> ARRAY[i]', 'a && ARRAY[1, i]', 'array_append(a, 1) @> ''{1}''', 'z = ''x''', 'rg * rg @> i', 'int4range(i, 5) @> 3', 'rg < rg', 'upper(rg * rg) > 1', 'nc < np', 'nc || np = ''a''', 'nc IN (np)', 'greatest(nc, np) = ''a''',
	'edge IS NOT NULL', 'edge.* = edge.*', 'ctid IS NOT NULL', 'tableoid = 1', 'xmin IS NOT NULL', '(i, s) < (1, 2)', 'ROW(i, s) IS NOT NULL', 'ROW(i) IS DISTINCT FROM ROW(s)',
	'i IN (SELECT 1)', 'EXISTS (SELECT 1)', 'i > (SELECT 1)', 'i = ANY (ARRAY(SELECT 1))', 'i = ANY (ARRAY[s])', 'generate_series(1, i) > 0', 'unnest(a) > 0', 'dp_count(*) > 3', 'count(*) > 3', 't = current_user', 't = current_setting(''a.b'')',
	'has_table_privilege(t, ''SELECT'')', 'pg_column_size(t) > 3', 'hashtext(t) > 0', 'dp_cdp_internal.try_add(i, 1) > 0'
]) AS e;
SELECT condition(repeat('NOT ', 600) || 'ok'), condition('i = 1' || repeat(' OR i = 1', 300)) AS repeated, condition('i = 1' || (SELECT string_agg(' OR i < ' || g, '') FROM generate_series(1, 300) g)) AS long;
SELECT condition('i IN (' || string_agg(g::text, ',') || ')') FROM generate_series(1, 600) g;
SELECT condition('i = ANY (''{' || string_agg(g::text, ',') || '}'')') FROM generate_series(1, 600) g;

-- the analyst's own types, functions and operators
CREATE FUNCTION spy(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN RAISE NOTICE 'spy % %', $1, $2; RETURN true; END $$;
CREATE OPERATOR = (LEFTARG = int, RIGHTARG = int, FUNCTION = spy);
CREATE OPERATOR <>! (LEFTARG = int, RIGHTARG = int, FUNCTION = spy);
-- its function is built in, but NOT makes of it the negator
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq, NEGATOR = <>!);
CREATE DOMAIN spied AS text CHECK (VALUE <> 'x');
CREATE TYPE own_mood AS ENUM ('a\', 'b');
CREATE COLLATION fine (LOCALE = 'C');
SELECT e, condition(e) FROM unnest(ARRAY[
	'spy(i, 1)', 'i OPERATOR(expressions.=) 1', 'i = 1', 'NOT (i === 1)', 'i === ANY (''{1,2}'')', 'NOT (1 === 2)', 'nullif(i, 1) = 1',
	't::spied = ''x''', '''x''::spied = t', 't::own_mood = ''b''', 't < ''a'' COLLATE fine'
]) AS e;

-- positions, in characters
SELECT 'äöü' AS ä, dp_count(*) FROM edge WHERE i > 3 AND t ~ '(a)\1';
SELECT dp_count(*), dp_sum(length(md5(t)), 0, 3) FROM edge;
SELECT dp_count(*) FILTER (WHERE pg_sleep(i) IS NULL) FROM edge;
SELECT iv, dp_count(*) FROM edge GROUP BY iv;
RESET SESSION AUTHORIZATION;

-- numeric keys print without the scale of whoever came first
SET ROLE regress_dp_owner;
CREATE TABLE nums (person int, v numeric);
INSERT INTO nums SELECT g, '1.0' FROM generate_series(2, 500) g;
INSERT INTO nums VALUES (1, '1.00');
SELECT dp_cdp.protect_table('nums', 'expressions', unit => 'person');
SET SESSION AUTHORIZATION regress_dp_analyst;
SET dp_cdp.rho = 1;
SELECT v, dp_count(*) > 400 AS many FROM nums GROUP BY v;
RESET SESSION AUTHORIZATION;

SET client_min_messages = warning;
DROP SCHEMA expressions CASCADE;
SELECT dp_cdp.drop_budget('expressions', 'regress_dp_analyst');
SELECT dp_cdp.drop_dataset('expressions', erase_spent => true);
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_analyst;
