-- What subqueries compute of a unit's rows is a function of the multiset of
-- these rows, to the last bit: for every listed aggregate, every order of rows,
-- plan and number of workers, and beside others' rows, the released number of
-- units whose value is the expected one is that of all units.  rho is so large
-- that the noise has a deviation of 0.07.  In "make test" workers are asked for
-- each aggregate of one type only.

\ir size.psql
SET client_min_messages = error;
SET jit = off;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE rows (patient int, pid numeric, k int, ok bool, i2 int2, i4 int4, i8 int8, o oid, f4 float4, f8 float8,
	n numeric, m money, t text, c bpchar, e mood, ip inet, d date, tm time, tz timetz, ts timestamp, tsz timestamptz,
	iv interval) WITH (parallel_workers = 2);
-- 40 units: equal values in several forms, sums that are not exact, and such that cancel
INSERT INTO rows
	SELECT p, (ARRAY[p, p::numeric(10,1), p::numeric(10,3)])[1 + k % 3], k, k % 2 = 0, k, k * 100003, k * 10000000019, k,
		(k % 5 - 1) * CASE WHEN p % 3 = 0 AND k % 2 = 0 THEN 1e10 ELSE 0.1 END,
		(k % 5 - 1) * CASE WHEN p % 3 = 0 AND k % 2 = 0 THEN 1e18 WHEN p % 3 = 1 THEN 1e-200 ELSE 0.1 END,
		(ARRAY[p, p + 0.0, p + 0.10, p + 0.1, p - 7.000])[1 + (k + p) % 5], k, chr(97 + k % 5),
		(ARRAY['a', 'a ', 'a  ', 'b', 'b '])[1 + (k + p) % 5]::bpchar, (enum_range(NULL::mood))[1 + k % 3],
		('10.0.0.' || k % 5 || '/' || 24 + k % 5)::inet, date '2020-01-01' + k, time '00:00' + k * interval '1 min',
		(ARRAY['10:00+00', '11:00+01', '09:00-01', '12:00+02', '10:00+00']::timetz[])[1 + (k + p) % 5],
		timestamp '2020-01-01' + k * interval '1 min', timestamptz '2020-01-01' + k * interval '1 min',
		(ARRAY['1 month', '30 days', '720:00', '29 days 24:00', '1 day']::interval[])[1 + (k + p) % 5]
	FROM generate_series(1, 40) p, generate_series(1, 20) k;
UPDATE rows SET f4 = '-0', f8 = '-0' WHERE patient % 5 = 0 AND k % 2 = 0;
UPDATE rows SET f4 = '0', f8 = '0' WHERE patient % 5 = 0 AND k % 2 = 1;
UPDATE rows SET f4 = NULL, f8 = NULL, n = NULL, c = NULL WHERE patient = 7;
UPDATE rows SET f4 = 3e38, f8 = 1.7e308 * (k % 3 - 1) WHERE patient = 8;
UPDATE rows SET f4 = 'Infinity', f8 = '-Infinity', n = 'NaN' WHERE patient = 11 AND k = 3;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6);
SELECT dp_cdp.protect_table('rows', 'clinic', 'patient');
CREATE TABLE spelled (pid numeric, f float8, k int);
INSERT INTO spelled SELECT pid, CASE WHEN k % 2 = 0 THEN '-0' ELSE '0' END::float8, k FROM rows;
SELECT dp_cdp.protect_table('spelled', 'clinic', 'pid');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
RESET SESSION AUTHORIZATION;

CREATE FUNCTION released(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	result numeric;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SET dp_cdp.rho = 100;
	SET dp_cdp.max_rows = 1;
	BEGIN
		EXECUTE statement INTO result;
	EXCEPTION WHEN OTHERS THEN
		RAISE WARNING '%: %', statement, sqlerrm;
	END;
	RESET dp_cdp.rho;
	RESET dp_cdp.max_rows;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN round(result);
END $$;

-- ------------------------------------------------------------------------
-- What is expected: computed once, in the order in which rows were inserted
-- ------------------------------------------------------------------------

CREATE TABLE asked (id serial, call text, statement text);

-- what equality does not see of a value
CREATE FUNCTION sees(type oid) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format(' AND %s IS NOT DISTINCT FROM %s', replace(f, '?', 'q.v'), replace(f, '?', 'e.v')), '')
	FROM unnest(CASE type
		WHEN 'numeric'::regtype THEN ARRAY['scale(?)']
		WHEN 'bpchar'::regtype THEN ARRAY['octet_length(?)']
		WHEN 'interval'::regtype THEN ARRAY['extract(month FROM ?)', 'extract(day FROM ?)'] END) f $$;

CREATE FUNCTION expect(asks text, exact text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	n int;
	type oid;
BEGIN
	INSERT INTO asked (call) VALUES (asks) RETURNING id INTO n;
	EXECUTE format('CREATE TABLE expected_%s AS SELECT patient, %s AS v FROM rows GROUP BY patient', n, exact);
	EXECUTE format('GRANT SELECT ON expected_%s TO analyst1', n);
	SELECT atttypid INTO type FROM pg_attribute WHERE attrelid = ('expected_' || n)::regclass AND attname = 'v';
	UPDATE asked SET statement = format('SELECT dp_count(*) FROM (SELECT patient, %s AS v FROM rows GROUP BY patient) q
		JOIN expected_%s e ON e.patient = q.patient AND q.v IS NOT DISTINCT FROM e.v%s', asks, n, sees(type)) WHERE id = n;
END $$;

WITH columns AS (
	SELECT attname, atttypid FROM pg_attribute WHERE attrelid = 'rows'::regclass AND attnum > 3),
listed AS (
	SELECT function, total, p.proname, attname, atttypid, coalesce(t.prokind = 'a', false) AS own
	FROM dp_cdp.allowed_functions() a JOIN pg_proc p ON p.oid = function LEFT JOIN pg_proc t ON t.oid = total
		JOIN columns c ON p.pronargs = 0 AND attname = 'ok' OR p.proargtypes[0] = atttypid OR p.proargtypes[0] = '"any"'::regtype
			OR p.proargtypes[0] = 'anyenum'::regtype AND attname = 'e'
	WHERE treatment = 'per unit' AND p.proname NOT IN ('string_agg', 'array_agg'))
SELECT count(expect(format('%s(%s%s)', proname, how, CASE WHEN function = 'count()'::regprocedure THEN '*' ELSE attname END),
	CASE WHEN function = 'count()'::regprocedure THEN 'count(*)'
		WHEN own THEN format('%s(%s%s)', total::oid::regproc, CASE WHEN proname !~ 'min|max' THEN how END, attname)
		WHEN total IS NOT NULL THEN format('%s(%s%s(%s))', proname, how, total::oid::regproc,
			CASE WHEN how = '' OR atttypid <> 'numeric'::regtype THEN attname ELSE format('trim_scale(%s)', attname) END)
		ELSE format('%s(%s%s)', proname, how, attname) END)) AS calls
FROM listed, unnest(ARRAY['', 'DISTINCT ']) how
WHERE NOT (function = 'count()'::regprocedure AND how <> '')
\gset
SELECT expect('sum(f8 * 0.1) FILTER (WHERE k > 3)', 'dp_cdp_internal.unit_sum(f8 * 0.1) FILTER (WHERE k > 3)');
-- lists of rows
SELECT expect(format(l, '', ''), format(l, exact, CASE WHEN l ~ 'DISTINCT.*n' THEN 'trim_scale' END)) FROM (VALUES
	('string_agg(c::text, t ORDER BY e%s)', ', c::text COLLATE "C", t COLLATE "C"'), ('string_agg(n::text, ''/''%s)', ' ORDER BY n::text COLLATE "C"'),
	('string_agg(c || ''.'', '','' ORDER BY c DESC, n%s)', ', (c || ''.'') COLLATE "C"'), ('string_agg(DISTINCT t, '','')', ''),
	('(array_agg(n ORDER BY e%s))[1]', ', numeric_send(n)'), ('(array_agg(iv ORDER BY e DESC%s))[3]', ', interval_send(iv)'),
	('(array_agg(c%s))[2]', ' ORDER BY c::text COLLATE "C", octet_length(c)'), ('(array_agg(f8 ORDER BY k %% 2%s))[array_length(array_agg(f8), 1)]', ', float8send(f8)'),
	('array_to_string(array_agg(DISTINCT %2$s(n)), '';'')', ''), ('array_to_string(array_agg(n ORDER BY t DESC%s) FILTER (WHERE k > 3), '';'')', ', numeric_send(n)')
	) AS v (l, exact);

-- Windows and DISTINCT ON: rows that ORDER BY takes for equal, rows that are written differently, and rows that are the
-- same in all that is read; exact: with what decides between them.
CREATE FUNCTION expect_of(value text, windows text, exact text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	INSERT INTO asked (call) VALUES (windows) RETURNING id INTO n;
	EXECUTE format('CREATE TABLE expected_%s AS SELECT patient, %s AS v FROM (SELECT %s) w GROUP BY patient', n, value, exact);
	EXECUTE format('GRANT SELECT ON expected_%s TO analyst1', n);
	UPDATE asked SET statement = format('SELECT dp_count(*) FROM (SELECT patient, %s AS v FROM (SELECT %s) w GROUP BY patient) q
		JOIN expected_%s e ON e.patient = q.patient AND q.v IS NOT DISTINCT FROM e.v', value, windows, n) WHERE id = n;
END $$;

SELECT expect_of(value, format(windows, ''), replace(format(windows, exact), 'sum(f8)', 'dp_cdp_internal.unit_sum(f8)')) FROM (VALUES
	('sum(r) FILTER (WHERE scale(n) = 1)', 'patient, n, row_number() OVER (PARTITION BY patient ORDER BY e%s) AS r FROM rows', ', numeric_send(n)'),
	('sum(r) FILTER (WHERE octet_length(c) = 2)', 'patient, c, ntile(7) OVER (PARTITION BY patient ORDER BY e%s) AS r FROM rows', ', c::text COLLATE "C", octet_length(c)'),
	('sum(r) FILTER (WHERE extract(month FROM iv) = 1)', 'patient, iv, row_number() OVER (PARTITION BY patient ORDER BY iv%s) AS r FROM rows', ', interval_send(iv)'),
	('sum(scale(m))', 'patient, lag(n, 2) OVER (PARTITION BY patient ORDER BY e%s) AS m FROM rows', ', numeric_send(n)'),
	('count(*) FILTER (WHERE m > t)', 'patient, t, lead(t) OVER (PARTITION BY patient ORDER BY e%s) AS m FROM rows', ', t COLLATE "C"'),
	('max(scale(m))', 'patient, first_value(n) OVER (PARTITION BY patient ORDER BY n%s) AS m FROM rows', ', scale(n)'),
	('max(scale(m))', 'patient, last_value(n) OVER (PARTITION BY patient ORDER BY n%s RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS m FROM rows', ', scale(n)'),
	('sum(octet_length(m))', 'patient, nth_value(c, 3) OVER (PARTITION BY patient ORDER BY e%s ROWS BETWEEN 5 PRECEDING AND 1 FOLLOWING) AS m FROM rows', ', c::text COLLATE "C", octet_length(c)'),
	('sum(m)', 'patient, sum(n) OVER (PARTITION BY patient ORDER BY e%s ROWS BETWEEN 4 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS m FROM rows', ', numeric_send(n)'),
	('max(scale(m))', 'patient, avg(n) OVER (PARTITION BY patient ORDER BY e%s ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM rows', ', numeric_send(n)'),
	('sum(scale(m))', 'patient, max(n) OVER (PARTITION BY patient ORDER BY e%s ROWS 3 PRECEDING) AS m FROM (SELECT patient, e, n + k AS n FROM rows) i', ', numeric_send(n)'),
	('sum(a * b)', 'patient, row_number() OVER (PARTITION BY patient ORDER BY e%1$s) AS a, row_number() OVER (PARTITION BY patient ORDER BY e DESC%1$s) AS b FROM rows', ', k'),
	('sum(a * b - c)', 'patient, row_number() OVER (PARTITION BY patient ORDER BY t%1$s) AS a, row_number() OVER (PARTITION BY patient, e ORDER BY t DESC%1$s) AS b,
		count(*) OVER (PARTITION BY patient ORDER BY ok DESC%1$s ROWS UNBOUNDED PRECEDING) AS c FROM rows', ', t COLLATE "C", e, ok, k'),
	('count(*) FILTER (WHERE m > 0.1)', 'patient, sum(f8) OVER (PARTITION BY patient ORDER BY e%s ROWS 3 PRECEDING) AS m FROM rows', ', float8send(f8)'),
	('sum(scale(n))', '* FROM (SELECT DISTINCT ON (patient) patient, n FROM rows ORDER BY patient, e%s) d', ', numeric_send(n)')
	) AS v (value, windows, exact);
SELECT expect_of('sum(a * octet_length(c))',
	'* FROM (SELECT DISTINCT ON (patient, e) patient, c, row_number() OVER (PARTITION BY patient ORDER BY c) AS a FROM rows ORDER BY patient DESC, e, ok) d',
	'* FROM (SELECT DISTINCT ON (patient, e) patient, c, row_number() OVER (PARTITION BY patient ORDER BY c, octet_length(c), e, ok) AS a FROM rows
		ORDER BY patient DESC, e, ok, c::text COLLATE "C", octet_length(c), a) d');

-- every listed aggregate is asked for
CREATE FUNCTION missing() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT function::text FROM dp_cdp.allowed_functions() JOIN pg_proc ON oid = function
	WHERE treatment = 'per unit' AND NOT EXISTS (SELECT FROM asked WHERE call ~ ('\m' || proname || '\(')) $$;

-- those whose value is another for some unit; all of them, or one call of each aggregate
CREATE FUNCTION astray(every boolean DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	a asked;
	got numeric;
BEGIN
	FOR a IN SELECT * FROM asked WHERE every OR id IN (SELECT min(id) FROM asked GROUP BY split_part(call, '(', 1), call ~ 'DISTINCT') ORDER BY id LOOP
		got := released(a.statement);
		IF got IS DISTINCT FROM 40 THEN RETURN NEXT a.call || ': ' || coalesce(got::text, 'failed'); END IF;
	END LOOP;
END $$;

-- the scale and length of keys: those of the shortest form, whatever rows have, and in whichever order
CREATE FUNCTION keys_astray() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	l text;
	wanted numeric;
	got numeric;
	-- of the 40, one has no such values; later there is another unit
	with_values numeric := (SELECT count(DISTINCT patient) FROM rows WHERE n IS NOT NULL);
BEGIN
	FOR l, wanted IN VALUES
		('SELECT patient, n FROM rows GROUP BY patient, n) q WHERE scale(n) <> scale(trim_scale(n))', 0),
		('SELECT DISTINCT patient, n FROM rows) q WHERE scale(n) <> scale(trim_scale(n))', 0),
		('SELECT patient, scale(n) AS s FROM rows GROUP BY patient, n HAVING scale(n) <= 1) q', with_values),
		('SELECT patient, n + 1 AS m FROM rows GROUP BY patient, n + 1) q WHERE scale(m) <> scale(trim_scale(m))', 0),
		('SELECT patient, m FROM (SELECT patient, n AS m, count(*) FROM rows GROUP BY patient, n) i GROUP BY patient, m) q WHERE scale(m) > 1', 0),
		('SELECT patient, c FROM rows GROUP BY patient, c) q WHERE octet_length(c) <> 1', 0),
		('SELECT DISTINCT patient, c FROM rows) q WHERE octet_length(c) <> 1', 0),
		('SELECT pid FROM spelled GROUP BY pid HAVING scale(pid) = 0) q', 40),
		('SELECT pid, scale(pid) AS s, max(k) FROM spelled GROUP BY pid) q WHERE s > 0', 0),
		('SELECT DISTINCT pid FROM spelled) q WHERE scale(pid) > 0', 0),
		('SELECT patient, n, count(*) AS m FROM rows GROUP BY patient, n) q WHERE m > scale(n) + 20', 0),
		('SELECT patient, octet_length(c) AS s, max(k) FROM rows GROUP BY patient, c) q WHERE s > 1', 0)
	LOOP
		got := released('SELECT dp_count(*) FROM (' || l);
		IF got IS DISTINCT FROM wanted THEN RETURN NEXT l || ': ' || coalesce(got::text, 'failed'); END IF;
	END LOOP;
END $$;

CREATE FUNCTION reorder(how text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE TEMP TABLE again AS SELECT * FROM rows ORDER BY ' || how;
	TRUNCATE rows;
	INSERT INTO rows SELECT * FROM again;
	DROP TABLE again;
	CREATE TEMP TABLE again AS SELECT * FROM spelled ORDER BY md5(ctid::text);
	TRUNCATE spelled;
	INSERT INTO spelled SELECT * FROM again;
	DROP TABLE again;
	ANALYZE rows;
	ANALYZE spelled;
END $$;

SELECT plan(18);
SELECT ok(:calls > 200, 'calls: ' || :calls);
SELECT is_empty('SELECT missing()', 'no listed aggregate is left out');
SELECT is_empty('SELECT astray()', 'in the order of insertion');
SELECT is_empty('SELECT keys_astray()', 'keys');

SELECT reorder('ctid DESC');
SELECT is_empty('SELECT astray()', 'backwards');
SELECT reorder('md5(ctid::text)');
SELECT is_empty('SELECT astray()', 'in disorder');
SELECT is_empty('SELECT keys_astray()', 'keys in disorder');

-- what the aggregates would give that are written, the test would see
SELECT expect('sum(f8)', 'sum(CASE WHEN patient = 8 THEN 0 ELSE f8 END)'), expect('max(n)', '(array_agg(n ORDER BY n DESC, k))[1]'),
	expect('min(iv)', 'min(iv)'), expect('max(c)', 'max(c)');
SELECT ok((SELECT count(*) FROM astray()) >= 2, 'PostgreSQL''s own results are others');
DELETE FROM asked WHERE id > (SELECT max(id) - 4 FROM asked);

-- another's rows, which are not among those that are counted
INSERT INTO rows SELECT 9999, 9999, k, ok, i2, i4, i8, o, f4, f8, n, m, t, c, e, ip, d, tm, tz, ts, tsz, iv FROM rows WHERE k < 10;
SELECT reorder('f8, n, md5(ctid::text)');
SELECT is_empty('SELECT astray()', 'beside another');

SET enable_hashagg = off;
SELECT is_empty('SELECT astray()', 'sorted');
SELECT is_empty('SELECT keys_astray()', 'keys, sorted');
RESET enable_hashagg;
SET enable_sort = off;
SET work_mem = 64;
SET hash_mem_multiplier = 1;
SELECT is_empty('SELECT astray()', 'hashed in batches');
SELECT is_empty('SELECT keys_astray()', 'keys, hashed in batches');
RESET enable_sort;
SET enable_hashagg = off;
SELECT is_empty('SELECT astray()', 'sorted in runs');
RESET enable_hashagg;
RESET work_mem;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET cpu_operator_cost = 1;
SELECT is_empty(format('SELECT astray(%L)', :long), 'by workers');
SELECT is_empty('SELECT keys_astray()', 'keys, by workers');
SET enable_hashagg = off;
SELECT is_empty(format('SELECT astray(%L)', :long), 'by workers, sorted');
SELECT is_empty('SELECT keys_astray()', 'keys, by workers, sorted');
SELECT * FROM finish();
