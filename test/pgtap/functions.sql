-- Functions that take arrays, ranges, addresses, text and angles apart on rows:
-- the answers are those of the owner's plain SQL, and NULL where that fails.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TYPE tone AS ENUM ('low', 'high');
CREATE TABLE visits (id int PRIMARY KEY, tags text[], codes int[] NOT NULL, tones tone[], prices numeric(8,2)[], short varchar(4)[], stay tstzrange NOT NULL, cost numrange, seats int4range,
	days daterange NOT NULL, ip inet NOT NULL, net cidr, note jsonb, x float8 NOT NULL, y float8);
INSERT INTO visits SELECT i, (ARRAY['{}', '{a}', '{a,b}', '{b,NULL}', NULL, '{{a,b},{c,d}}', '[0:1]={b,a}'])[1 + i % 7]::text[], (ARRAY['{}', '{1}', '{1,2,3}', '{3,3}'])[1 + i % 4]::int[],
	(ARRAY['{low}', '{low,high}', NULL])[1 + i % 3]::tone[], ARRAY[i / 10.0], ARRAY['ab', 'cd'],
	CASE i % 5 WHEN 0 THEN 'empty' WHEN 1 THEN '(,)' WHEN 2 THEN tstzrange('2025-01-01', NULL) ELSE tstzrange('2025-01-01', timestamptz '2025-01-01' + i * interval '1 hour') END::tstzrange,
	(ARRAY['[1.0,2.50]', '(,3)', NULL])[1 + i % 3]::numrange, int4range(i % 10, i % 10 + 3), daterange('2025-01-01', date '2025-01-02' + i % 30),
	(ARRAY['10.0.0.1', '10.0.1.7/24', 'ff::1'])[1 + i % 3]::inet, (ARRAY['10.0.0.0/8', '10.1.0.0/16', NULL])[1 + i % 3]::cidr,
	jsonb_build_object('yes', (ARRAY['true', ' no ', 'perhaps', '', 'ON'])[1 + i % 5], 'at', (ARRAY['2025-02-28T10:00:00Z', '2025-02-28 23:59:59.5+05:30', '2025-02-30', 'soon', '2025-03-01'])[1 + i % 5],
		'time', (ARRAY['10:30', '23:59:59.999999', '24:30'])[1 + i % 3], 'for', (ARRAY['2 days', '-1 month 3 hours', '1 day 2 days', '90 minutes', '1 week 12:30'])[1 + i % 5],
		'id', (ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}', 'a0eebc99'])[1 + i % 3]),
	i % 21 / 10.0 - 1, nullif(i % 7, 3) - 3
	FROM generate_series(1, 420) i;
-- strings in which much matches, and what regular expressions make of them
CREATE TABLE words (id int PRIMARY KEY, w text);
SELECT setseed(0.5);
INSERT INTO words SELECT i, (SELECT string_agg(substr('@@aab.&=', 1 + floor(random() * 8)::int + 0 * g, 1), '') FROM generate_series(1, i % 9) g) FROM generate_series(1, 800) i;
INSERT INTO words VALUES (0, NULL), (-1, ''), (-2, E'a@b\nc@d');
CREATE TABLE patterns (n int, call text);
INSERT INTO patterns SELECT row_number() OVER (), call FROM unnest(ARRAY['substring(w FROM ''@(.*)$'')', 'substring(w FROM ''a@(.*)'')', 'substring(w FROM ''@(.+)'')', 'substring(w FROM ''^[^@]+'')', 'substring(w FROM ''^([^@]*)@'')', 'substring(w FROM ''^([^@]+)@'')',
	'substring(w FROM ''[^.]+$'')', 'substring(w FROM ''([^.]*)$'')', 'substring(w FROM ''a=([^&]*)'')', 'substring(w FROM ''aa([^@]*)'')', 'substring(w, ''^([^.]+)\.'')', 'regexp_replace(w, ''^.*@'', '''')', 'regexp_replace(w, ''@.*$'', '''')', 'regexp_replace(w, ''aa.*'', '''', ''g'')',
	'regexp_replace(w, ''aa'', ''b&'', ''g'')', 'regexp_replace(w, ''\.'', ''-'', ''g'')']) AS call;
DO $$ DECLARE p record; BEGIN FOR p IN TABLE patterns LOOP EXECUTE format('ALTER TABLE words ADD p%s text', p.n); EXECUTE format('UPDATE words SET p%s = %s', p.n, p.call); END LOOP; END $$;
SELECT dp_cdp.create_dataset('clinic', default_rho => 3000, max_rows => 4, max_groups => 4);
SELECT dp_cdp.protect_table('visits', 'clinic', 'id');
SELECT dp_cdp.protect_table('words', 'clinic', 'id');
SELECT dp_cdp.set_bounds('visits', 'x', -1, 1.1), dp_cdp.set_bounds('visits', 'y', -3, 3);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
CREATE TABLE wanted (tag text, code int);
INSERT INTO wanted VALUES ('a', 1), ('c', 3);
GRANT SELECT ON wanted TO analyst1;
RESET SESSION AUTHORIZATION;

\ir same.psql

SELECT no_plan();

-- counts by conditions, each as FILTER, and some as WHERE
CREATE FUNCTION counted(conditions text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	part int := 0;
BEGIN
	RETURN NEXT as_written('SELECT ' || (SELECT string_agg(format('count(*) FILTER (WHERE %s)', c), ', ') FROM unnest(conditions) c) || ' FROM visits', conditions[1] || ', ...');
	RETURN NEXT as_written(format('SELECT count(*) FROM visits WHERE %s OR %s', conditions[1], conditions[cardinality(conditions)]));
END $$;

-- ------------------------------------------------------------------------
-- arrays
-- ------------------------------------------------------------------------

SELECT counted(ARRAY['''a'' = ANY (tags)', '''a'' <> ALL (tags)', '2 < ANY (codes)', '''high'' = ANY (tones)', '3.5 = ANY (prices)', '''ab'' = ANY (short)', 'tags[1] = ANY (tags)',
	'(1 = ANY (codes)) IS NULL', '(''a'' = ANY (tags)) IS NULL', 'NOT (''a'' = ANY (tags))']);
SELECT counted(ARRAY['tags @> ''{a}''', 'tags @> ARRAY[''a'', ''b'']', 'tags <@ ''{a,b}''', 'tags && ARRAY[''b'', ''c'']', 'codes @> codes', 'tones && ''{high}''', 'prices @> ARRAY[3.50]', 'short::text[] @> ''{cd}''', 'codes <@ ''{}''']);
SELECT counted(ARRAY['cardinality(tags) = 2', 'cardinality(codes) = 0', 'array_length(codes, 1) IS NULL', 'array_length(tags, 2) = 2', 'array_position(codes, 3) = 1', 'codes[1] = 1', 'tags[0] = ''b''', 'codes[codes[1]] = 3',
	'codes[1000000] IS NULL', 'tones[2] = ''high''', 'prices[1] > 3.5']);
SELECT as_written('SELECT count(tags), count(*), count(codes), count(*) FILTER (WHERE tags IS NULL) FROM visits');
SELECT is(rows_for('analyst1', 'SELECT count(*) FILTER (WHERE array_position(tags, ''a'') = 1), count(*) FILTER (WHERE array_position(tags, ''b'') IS NULL) FROM visits'), '(180,240)', 'arrays of two dimensions are not searched');
SELECT as_written('SELECT codes[1], count(*) FROM visits WHERE codes[1] IN (1, 3) GROUP BY 1');
SELECT as_written('SELECT w.tag, count(*) FROM wanted w JOIN visits v ON w.tag = ANY (v.tags) GROUP BY 1', 'an array beside a public column');
SELECT as_written('SELECT count(*) FROM (SELECT id, tags AS t, codes FROM visits) q WHERE ''a'' = ANY (t) AND codes && ''{2}''', 'a subquery hands arrays up');
SELECT as_written('SELECT n, count(*) FROM (SELECT id, count(tags) AS n, max(cardinality(codes)) AS c, bool_or(''a'' = ANY (tags)) AS a FROM visits GROUP BY 1) q WHERE c > 0 AND a AND n = 1 GROUP BY 1', 'a subquery by the unit takes them apart');
SELECT as_written('SELECT count(*) FROM (SELECT id, codes[1] AS c, row_number() OVER (PARTITION BY id ORDER BY x) AS r FROM visits) q WHERE r = 1 AND c = 1', '... and one with windows');
SELECT is(executed_for('analyst1', 'SELECT count(*) FROM visits WHERE tags && $1 OR $2 = ANY (codes)', '''{b}'', 2'), executed_for('owner1', 'SELECT count(*) FROM visits WHERE tags && $1 OR $2 = ANY (codes)', '''{b}'', 2'), 'parameters')
	FROM (SELECT 1) q;

-- long ones are NULL
SELECT is(dp_cdp_internal.try_cardinality(array_fill(1, ARRAY[100000])), 100000, 'an array of 400 kB');
SELECT is(dp_cdp_internal.try_cardinality(array_fill(1, ARRAY[200000])), NULL, '... and of 800 kB');
SELECT is(dp_cdp_internal.try_array(array_fill(1, ARRAY[200000])), NULL::int[], '... which is not compared either');
SELECT is(dp_cdp_internal.try_overlap(array_fill(1, ARRAY[100000]), array_fill(2, ARRAY[100000])), NULL, 'too many comparisons');
SELECT is(dp_cdp_internal.try_element(ARRAY[repeat('a', 400000), repeat('b', 100000)], 2), repeat('b', 100000), 'an element');

-- ------------------------------------------------------------------------
-- ranges
-- ------------------------------------------------------------------------

SELECT counted(ARRAY['stay @> timestamptz ''2025-01-05''', 'timestamptz ''2025-01-05'' <@ stay', 'stay @> tstzrange(''2025-01-02'', ''2025-01-03'')', 'stay <@ tstzrange(''2024-01-01'', ''2025-02-01'')',
	'stay && tstzrange(''2025-01-10'', NULL)', 'stay << tstzrange(''2025-01-15'', NULL)', 'isempty(stay)', 'upper_inf(stay)', 'lower_inf(stay)', 'lower_inc(stay)', 'upper_inc(cost)', 'stay = ''empty''',
	'lower(stay) < ''2025-01-02''', 'upper(stay) > ''2025-01-10''', 'upper(stay) IS NULL', 'cost @> 1.7', 'lower(cost) = 1', 'cost IS NULL', 'seats @> 5', 'days @> date ''2025-01-20''', 'upper(days) - lower(days) > 7']);
SELECT as_written('SELECT count(stay), count(cost) FROM visits');
SELECT as_written('SELECT lower(seats), upper(seats), count(*) FROM visits WHERE lower(seats) BETWEEN 2 AND 4 AND upper(seats) = lower(seats) + 3 GROUP BY 1, 2');
SELECT as_written('SELECT m, count(*) FROM generate_series(timestamptz ''2025-01-03'', ''2025-01-06'', ''1 day'') m JOIN visits v ON v.stay @> m GROUP BY 1', 'days that a range of time has');
SELECT as_written('SELECT count(*) FROM visits WHERE stay && tstzrange(now(), NULL)', 'a range of the clock');
SELECT as_written('SELECT upper_inf(stay), isempty(stay), count(*) FROM visits WHERE NOT isempty(stay) GROUP BY 1, 2 HAVING count(*) > 5', 'keys');
SELECT throws_ok('SET SESSION AUTHORIZATION analyst1; SELECT count(*) FROM visits WHERE seats @> int4range(5, 1)', '22000', 'range lower bound must be less than or equal to range upper bound', 'a constant that is no range fails before it is charged');
RESET SESSION AUTHORIZATION;

-- what is refused says what to write
SELECT is(rows_for('analyst1', q), 'ZC002 ' || w, q) FROM (VALUES
	('SELECT tags, count(*) FROM visits GROUP BY 1', 'column "tags" of type text[] cannot be used on rows of a protected table; look into it, for example with value = ANY (column), @>, && or cardinality, or write array_to_string(column, '','')'),
	('SELECT stay, count(*) FROM visits GROUP BY 1', 'column "stay" of type tstzrange cannot be used on rows of a protected table; look into it, for example with @>, &&, lower or upper'),
	('SELECT count(*) FROM visits WHERE codes[1:2] = ''{1}''', 'a list that is not constant cannot be used on rows of a protected table; write comparisons joined by OR, or an IN list of constants'),
	('SELECT count(*) FROM visits WHERE stay && tstzrange(upper(stay), NULL)', 'function tstzrange(timestamp with time zone,timestamp with time zone) cannot be used on rows of a protected table; write a range of constants, or compare its ends, for example lower(column) < a AND upper(column) > b')) AS t (q, w);

-- ------------------------------------------------------------------------
-- addresses
-- ------------------------------------------------------------------------

SELECT counted(ARRAY['ip << ''10.0.0.0/16''', 'ip <<= net', 'inet ''10.0.0.0/8'' >> ip', 'net >>= ip', 'ip && ''10.0.1.0/28''', 'family(ip) = 6', 'masklen(ip) = 24', 'host(ip) = ''10.0.0.1''', 'ip::text LIKE ''10.0.1.7/%''',
	'network(ip) = ''10.0.1.0/24''', 'broadcast(ip) = ''10.0.1.255/24''', 'netmask(net) = ''255.0.0.0''', 'set_masklen(ip, 16) = ''10.0.1.7/16''', 'inet_same_family(ip, net)', 'net IS NULL', 'abbrev(net) = ''10/8''']);
SELECT is(rows_for('analyst1', 'SELECT count(*) FILTER (WHERE set_masklen(ip, 64) IS NULL), count(*) FILTER (WHERE set_masklen(net, -2) IS NULL), avg(family(ip))::numeric(6,3) FROM visits'), '(280,420,4.667)', 'masks that an address has not, and bounds of a family');

-- ------------------------------------------------------------------------
-- numbers of NULLs
-- ------------------------------------------------------------------------

SELECT counted(ARRAY['num_nulls(ip, net) = 1', 'num_nonnulls(x, y, ip) >= 2', 'num_nulls(y) = 0', 'num_nonnulls(tags, codes, stay) = 3', 'num_nulls(x, NULL) = 1']);
SELECT is(rows_for('analyst1', 'SELECT sum(num_nulls(x, y, ip)), avg(num_nonnulls(x, y))::numeric(6,2) FROM visits'), rows_for('owner1', 'SELECT sum(num_nulls(x, y, ip)), avg(num_nonnulls(x, y))::numeric(6,2) FROM visits'), 'added up');
SELECT is(rows_for('analyst1', 'SELECT row_lower, row_upper FROM dp_cdp.preview(''SELECT sum(num_nulls(x, y, ip)) FROM visits'') WHERE item = ''aggregate'''), '(0,3)', 'bounds are 0 and the number of arguments');
SELECT is(rows_for('analyst1', 'SELECT num_nulls(y, x), count(*) FROM visits GROUP BY 1 HAVING count(*) > 10 ORDER BY 1'), rows_for('owner1', 'SELECT num_nulls(y, x), count(*) FROM visits GROUP BY 1 ORDER BY 1'), 'as a key');

-- ------------------------------------------------------------------------
-- casts of text
-- ------------------------------------------------------------------------

-- compares a safe cast with PostgreSQL's: different values, and how many are NULL here alone
CREATE FUNCTION casts(type text, samples text[], OUT different text[], OUT missing text[]) LANGUAGE plpgsql AS $$
DECLARE
	sample text;
	own text;
	plain text;
BEGIN
	FOREACH sample IN ARRAY samples LOOP
		EXECUTE format('SELECT dp_cdp_internal.try_%s($1)::text', type) INTO own USING sample;
		BEGIN
			EXECUTE format('SELECT $1::%s::text', type) INTO plain USING sample;
		EXCEPTION WHEN OTHERS THEN
			plain := NULL;
		END;
		IF own IS NULL AND plain IS NOT NULL THEN
			missing := missing || sample;
		ELSIF own IS DISTINCT FROM plain THEN
			different := different || sample;
		END IF;
	END LOOP;
END $$;
SELECT unnest(ARRAY[is(different, NULL, 'casts to ' || type), is(missing, NULL, '... and what is NULL')])
	FROM (VALUES ('bool', '{t,TRUE," yes ",on,of,off,1,0,2,"",y,nonsense,truely}'::text[]),
		('uuid', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,"{A0EEBC999C0B4EF8BB6D6BB9BD380A11}",a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11,a0e-ebc999c0b4ef8bb6d6bb9bd380a11,a0eebc999c0b4ef8bb6d6bb9bd380a11-," a0eebc999c0b4ef8bb6d6bb9bd380a11",a0eebc999c0b4ef8bb6d6bb9bd380a1,"",x}'),
		('date', '{2025-01-31,2025-01-31T10:00:00Z,"2024-02-29 10:00",2023-02-29,2025-13-01,0000-01-01,soon,""}'),
		('time', '{10:30,23:59:59.999999,24:30,10:60,"",x,"10:30 "}'),
		('timestamp', '{2025-01-31,2025-01-31T10:00:00Z,"2025-01-31 10:00:00.5+05:30","2025-01-31 25:00",x,2025-02-30}'),
		('timestamptz', '{2025-01-31,2025-01-31T10:00:00Z,"2025-01-31 10:00:00.5+05:30","2025-01-31 10:00-0330","0001-01-01 00:00+14","9999-12-31 23:59:59.999999-14","2025-01-31 10:00+25",x}'),
		('interval', '{"1 day","-2 hours 30 minutes","1 year 2 mons 3 weeks 4 days 5 hours 6 minutes 7 seconds 8 milliseconds 9 microseconds","9999999 years 9999999 weeks","1 day 12:30","1 hour 12:30","1 day 2 days",day,"",1 parsec}')) AS t (type, samples),
		casts(type, samples);
SELECT is(missing, '{"2025-01-31 24:00","Jan 31 2025",now,20250131}'::text[], 'spellings that settings or time decide are NULL')
	FROM casts('timestamp', '{2025-01-31,"2025-01-31 24:00","Jan 31 2025",now,20250131}');
SELECT is(missing, '{P1D,"1.5 days","1 day ago",1}'::text[], '... as are other forms of intervals') FROM casts('interval', '{P1D,"1.5 days","1 day ago",1,"1 day"}');
SELECT is(rows_for('analyst1', $$SELECT count(*) FILTER (WHERE (note ->> 'yes')::boolean), count(*) FILTER (WHERE (note ->> 'yes')::boolean IS NULL), count((note ->> 'at')::timestamptz), count((note ->> 'at')::timestamp), count((note ->> 'at')::date),
	count((note ->> 'time')::time), count((note ->> 'for')::interval), count(*) FILTER (WHERE (note ->> 'for')::interval > '1 day'), count((note ->> 'id')::uuid) FROM visits$$), '(168,168,252,252,252,280,336,168,280)', 'NULL where text is no such value');
SELECT as_written($$SELECT (note ->> 'yes')::boolean, count(*) FROM visits WHERE note ->> 'yes' IN ('true', 'ON', ' no ') AND (note ->> 'yes')::boolean IS NOT NULL GROUP BY 1$$, 'a key');

-- ------------------------------------------------------------------------
-- angles, and padding
-- ------------------------------------------------------------------------

SELECT counted(ARRAY['sin(x) > 0.5', 'cos(x) > 0.9', 'tan(y) > 1', 'asin(least(x, 1)) > 0.5', 'degrees(acos(least(x, 1))) > 90', 'atan(y) > 1', 'atan2(x, y) > 1', 'radians(y) > 0.01', 'sind(y * 30) > 0.4', 'sinh(x) > 1', 'cot(y + 0.5) > 1', 'x * pi() > 3']);
SELECT is(rows_for('analyst1', 'SELECT count(*) FILTER (WHERE asin(x) IS NULL), count(*) FILTER (WHERE acosh(x) IS NULL), count(*) FILTER (WHERE atanh(x * 2) IS NULL), count(*) FILTER (WHERE sin(x * ''Infinity''::float8) IS NULL) FROM visits WHERE x <> 0'),
	rows_for('owner1', 'SELECT count(*) FILTER (WHERE abs(x) > 1), count(*) FILTER (WHERE x < 1), count(*) FILTER (WHERE abs(x) > 0.5), count(*) FROM visits WHERE x <> 0'), 'NULL where there is no angle');
SELECT as_written('SELECT avg(sin(x))::numeric(6,2), avg(degrees(atan2(x, y)))::numeric(6,0), avg(acos(least(x, 1)) * 100)::numeric(9,0), avg(radians(x))::numeric(6,2) FROM visits', 'bounds follow');
SELECT counted(ARRAY['lpad(id::text, 3, ''0'') < ''042''', 'rpad(id::text, 2) = ''42''', 'lpad(id::text, 5) = ''   42''', 'lpad(id::text, -1) = ''''', 'rpad(id::text, id, ''ab'') = ''3ab''', 'lpad(id::text, 200000) IS NOT NULL OR id > 0', 'split_part(id::text, ''2'', -1) = ''''']);
SELECT is(rows_for('analyst1', 'SELECT count(*) FILTER (WHERE lpad(id::text, 200000) IS NULL), count(*) FILTER (WHERE rpad(id::text, id * 5000000, ''x'') IS NULL) FROM visits'), '(420,420)', 'long strings are NULL');
SELECT counted(ARRAY['translate(id::text, ''12'', ''2'') = ''2''', 'translate(host(ip), ''.f'', ''-'') = ''10-0-0-1''', 'ascii(id::text) = 52', 'ascii(substr(id::text, 9)) = 0', 'to_hex(id) = ''2a''', 'to_hex(-id::bigint) < ''fffffffffffffff0''',
	'id << 2 = 168', 'id::bigint >> 3 = 5', 'id::smallint << 1 = 84']);

-- times of day go round the clock
SELECT counted(ARRAY['(timestamp ''2025-01-01 00:30'' + id * interval ''1 hour'')::time - interval ''11 hours'' > ''22:45''', '(timestamp ''2025-01-01 00:30'' + id * interval ''1 hour'')::time + interval ''2 hours'' < ''01:00''', '(timestamp ''2025-01-01 00:30'' + id * interval ''1 hour'')::time + interval ''2 hours'' BETWEEN ''12:00'' AND ''13:00''', 'interval ''30 hours'' + (timestamp ''2025-01-01 00:30'' + id * interval ''1 hour'')::time = ''16:30''']);

-- ------------------------------------------------------------------------
-- parts of strings by regular expressions: regexes.sql has more
-- ------------------------------------------------------------------------

SELECT is(rows_for('analyst1', format('SELECT count(*) FILTER (WHERE %1$s IS DISTINCT FROM p%2$s), count(*) FILTER (WHERE %1$s IS NULL) = count(*) FILTER (WHERE p%2$s IS NULL), count(p%2$s) > 50 FROM words', call, n)), '(0,t,t)', call)
	FROM patterns;

SELECT finish();
