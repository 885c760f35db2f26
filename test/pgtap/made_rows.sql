-- Rows that functions make of each row (unnest and its relatives), what looks into
-- arrays, and full-text search, beside plain SQL.

\ir shop.psql

SET SESSION AUTHORIZATION owner1;
CREATE TABLE notes (id int PRIMARY KEY, customer int NOT NULL, words text, tags text[], numbers int[], days date[], props jsonb);
INSERT INTO notes SELECT i, 1 + i * 7 % 600, (ARRAY['App crash on start', 'Cannot log in', 'dark  mode, please', '', NULL, 'crashes, again'])[1 + i % 6],
	(ARRAY['{beta}', '{beta,dark}', '{}', NULL, '{dark,NULL,dark}'])[1 + i % 5]::text[], ARRAY[i % 3, i % 4], ARRAY[date '2025-01-01' + i % 3],
	(ARRAY['{"a": 1, "b": {"c": [2]}}', '["x", null, 1.50, true]', '"scalar"', '{}', 'null', '{"a": null}'])[1 + i % 6]::jsonb FROM generate_series(1, 3000) i;
CREATE TABLE readings (id int, codes int[]);
INSERT INTO readings SELECT i, ARRAY[i % 3, i % 2] FROM generate_series(1, 1200) i;
SELECT dp_cdp.protect_table('notes', 'shop', 'customer'), dp_cdp.protect_table('readings', 'shop', each_row => true);
SELECT dp_cdp.alter_dataset('shop', max_rows => 16, max_groups => 24, default_rho => 3000);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1000000, delta => 0.9);
RESET SESSION AUTHORIZATION;

-- counts are compared to the nearest ten: they are multiples of that, and noise is about 1
CREATE FUNCTION tens(rows text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(CASE WHEN part ~ '^[0-9]{3,}$' THEN round(part::numeric, -1)::text ELSE part END, '' ORDER BY n)
		FROM regexp_split_to_table(rows, '(?<=[^0-9])(?=[0-9])|(?<=[0-9])(?=[^0-9])') WITH ORDINALITY AS p (part, n)
$$;
CREATE FUNCTION as_counted(statement text) RETURNS text LANGUAGE sql
	AS $$ SELECT is(tens(rows_for('analyst1', statement)), tens(rows_for('owner1', statement)), statement) $$;

SELECT no_plan();

-- rows of a row
SELECT as_counted(statement) FROM unnest(ARRAY[
	'SELECT t, count(*) FROM notes, unnest(tags) AS t GROUP BY 1',
	'SELECT t.tag, count(*), count(DISTINCT n.customer) FROM notes n CROSS JOIN LATERAL unnest(n.tags) AS t (tag) GROUP BY 1',
	'SELECT unnest(tags) AS t, count(*) FROM notes GROUP BY 1',
	'SELECT upper(unnest(tags)) AS t, count(*) FROM notes GROUP BY 1',
	'SELECT unnest(tags) AS t, unnest(numbers) AS n, count(*) FROM notes GROUP BY 1, 2',
	'SELECT t, n, count(*) FROM notes, unnest(tags, numbers) AS u (t, n) GROUP BY 1, 2',
	'SELECT t, n, count(*) FROM notes, unnest(tags) WITH ORDINALITY AS u (t, n) GROUP BY 1, 2',
	'SELECT DISTINCT unnest(tags) FROM notes',
	'SELECT t, count(*) FROM (SELECT customer, unnest(tags) AS t FROM notes) q GROUP BY 1',
	'SELECT count(*) FROM (SELECT DISTINCT customer, unnest(tags) FROM notes) q',
	'SELECT coalesce(t, ''none'') AS t, count(*) FROM notes LEFT JOIN LATERAL unnest(tags) AS t ON true GROUP BY 1',
	'SELECT count(*), count(t) FROM notes LEFT JOIN LATERAL unnest(tags) AS t ON t = ''dark''',
	'SELECT count(*) FROM notes, unnest(tags) AS t WHERE t = ''dark'' AND id % 2 = 0',
	'SELECT region, t, count(*) FROM customers c JOIN notes n USING (customer), unnest(n.tags) AS t WHERE t IN (''beta'', ''dark'') GROUP BY 1, 2',
	'SELECT n, count(*) FROM notes, unnest(numbers) AS n GROUP BY 1',
	'SELECT d, count(*) FROM notes, unnest(days) AS d WHERE d >= ''2025-01-01'' AND d < ''2025-01-04'' GROUP BY 1',
	'SELECT k, count(*) FROM (SELECT customer, count(DISTINCT t) AS k FROM notes, unnest(tags) AS t GROUP BY 1) q GROUP BY 1',
	'SELECT t, count(*) FROM (SELECT customer, t, row_number() OVER (PARTITION BY customer ORDER BY id, t) AS r FROM notes, unnest(tags) AS t) q WHERE r = 1 GROUP BY 1',
	'SELECT code, count(*) FROM readings, unnest(codes) AS code GROUP BY 1',
	'SELECT count(*) FROM orders o JOIN notes n USING (customer), unnest(n.tags) AS t WHERE o.amount > 80',
	'SELECT w, count(*) FROM notes, string_to_table(lower(words), '' '') AS w GROUP BY 1',
	'SELECT w, count(*) FROM notes, unnest(string_to_array(words, '', '')) AS w GROUP BY 1',
	'SELECT w, count(*) FROM notes, regexp_split_to_table(words, ''[ ,]+'') AS w GROUP BY 1',
	'SELECT w, count(*) FROM notes, regexp_split_to_table(words, ''s*'') AS w GROUP BY 1',
	'SELECT regexp_split_to_table(words, ''\s'') AS w, count(*) FROM notes GROUP BY 1',
	'SELECT k, count(*) FROM (SELECT customer, props FROM notes WHERE id % 6 IN (0, 3, 5)) n, jsonb_object_keys(props) AS k GROUP BY 1',
	'SELECT key, value, count(*) FROM (SELECT customer, props FROM notes WHERE id % 6 IN (0, 3, 5)) n, jsonb_each_text(props) GROUP BY 1, 2',
	'SELECT v, count(*) FROM (SELECT customer, props FROM notes WHERE id % 6 = 1) n, jsonb_array_elements_text(props) AS v GROUP BY 1']) AS statement;

-- where PostgreSQL fails for a value there are no rows of it; of the four elements of each of five arrays max_rows leaves 16
SELECT is(tens(rows_for('analyst1', 'SELECT k, count(*) FROM notes, jsonb_object_keys(props) AS k GROUP BY 1')), '(a,1000) (b,500)', 'keys of what is no object');
SELECT is(tens(rows_for('analyst1', 'SELECT count(*) FROM notes, jsonb_array_elements_text(props) AS v')), '(1600)', 'elements of what is no array');

-- into arrays
SELECT as_counted(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM notes WHERE tags = ''{}''', 'SELECT count(*) FROM notes WHERE tags = ARRAY[''beta'', ''dark'']', 'SELECT count(*) FROM notes WHERE tags <> ''{beta}''',
	'SELECT array_to_string(tags, ''+'') AS t, count(*) FROM notes GROUP BY 1', 'SELECT array_to_string(numbers, '', '') AS t, count(*) FROM notes GROUP BY 1',
	'SELECT (string_to_array(words, '' ''))[1] AS w, count(*) FROM notes GROUP BY 1', 'SELECT count(*) FROM notes WHERE ''log'' = ANY (string_to_array(words, '' ''))',
	'SELECT cardinality(string_to_array(words, '' '')) AS n, count(*) FROM notes GROUP BY 1', 'SELECT count(*) FROM notes WHERE string_to_array(words, '' '') @> ''{crash}''',
	'SELECT count(*) FROM notes WHERE words LIKE ANY (ARRAY[''%crash%'', ''dark%''])', 'SELECT count(*) FROM notes WHERE words ILIKE ANY (''{%CRASH%,NULL}'')',
	'SELECT count(*) FROM notes WHERE words NOT ILIKE ALL (ARRAY[''%crash%'', ''%dark%''])', 'SELECT count(*) FROM notes WHERE words ~ ANY (ARRAY[''^App'', ''in$''])',
	'SELECT count(*) FROM notes WHERE words LIKE ANY (''{}'')']) AS statement;
-- lists within each other multiply what is written out
CREATE FUNCTION nested(n int) RETURNS text LANGUAGE sql AS $$
	SELECT 'SELECT count(*) FROM notes WHERE ' || repeat('CASE WHEN ', n) || 'words' || repeat(' LIKE ANY (''{a%,b%,c%,d%,e%,f%}'') THEN ''ab'' ELSE ''ba'' END', n) || ' = ''ab'''
$$;
SELECT as_counted(nested(3));
SELECT refused(nested(12));

-- full-text search
SELECT as_counted(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM notes WHERE to_tsvector(''english'', words) @@ to_tsquery(''english'', ''crash'')',
	'SELECT count(*) FROM notes WHERE to_tsquery(''english'', ''crash & !again'') @@ to_tsvector(''english'', words)',
	'SELECT count(*) FROM notes WHERE to_tsvector(''simple'', words) @@ phraseto_tsquery(''simple'', ''dark mode'')',
	'SELECT region, count(*) FROM notes JOIN customers USING (customer) WHERE to_tsvector(''english'', coalesce(words, '''')) @@ websearch_to_tsquery(''english'', ''crash or mode -please'') GROUP BY 1',
	'SELECT count(*) FROM notes WHERE to_tsvector(words) @@ plainto_tsquery(''log'')', 'SELECT count(*) FROM notes WHERE words @@ ''crash''', 'SELECT count(*) FROM notes WHERE words @@ to_tsquery(''crash'')',
	'SELECT count(*) FROM notes WHERE NOT to_tsvector(''english'', words) @@ to_tsquery(''english'', ''crash'')', 'SELECT count(*) FROM notes WHERE to_tsvector(''english'', words) @@ to_tsquery(''english'', ''the'')',
	'SELECT to_tsvector(''english'', words) @@ ''crash'' AS x, count(*) FROM notes GROUP BY 1']) AS statement;
SET SESSION AUTHORIZATION analyst1;
CREATE TEXT SEARCH CONFIGURATION pg_temp.mine (COPY = pg_catalog.english);
RESET SESSION AUTHORIZATION;
SELECT refused(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM notes WHERE to_tsvector(''pg_temp.mine'', words) @@ to_tsquery(''crash'')', 'SELECT count(*) FROM notes WHERE to_tsvector(''english'', words) @@ to_tsquery(''english'', words)',
	'SELECT count(*) FROM notes WHERE ts_rank(to_tsvector(''english'', words), ''crash'') > 0', 'SELECT to_tsvector(words), count(*) FROM notes GROUP BY 1',
	'SELECT unnest(tags), count(*) OVER () FROM notes', 'SELECT tags, count(*) FROM notes GROUP BY 1',
	'SELECT count(*) FROM notes, generate_series(1, id) g', 'SELECT count(*) FROM notes, unnest((SELECT tags FROM notes LIMIT 1)) t',
	'SELECT count(*) FROM notes, regexp_matches(words, ''a'') m', 'SELECT dp_cdp_internal.try_json_keys(props), count(*) FROM notes GROUP BY 1']) AS statement;

-- strings are split as PostgreSQL does
SELECT is((SELECT count(*) FROM (SELECT DISTINCT v.s, d.d, r.r FROM unnest('{"",a,"a,b",",a,",",,",aaa,"a b  c",ä€ä,"xäx",ab}'::text[]) v (s), unnest('{a,",",aa,"",ä,x,€ä,abc}'::text[]) d (d),
		unnest(ARRAY['a', ',', 'a*', '[, ]+', 'x?', 'ä', '$', '^', 'b|', '.']) r (r)) q
	WHERE dp_cdp_internal.try_string_to_array(s COLLATE "C", d) IS DISTINCT FROM string_to_array(s, d)
		OR dp_cdp_internal.try_regexp_split_to_array(s COLLATE "C", r) IS DISTINCT FROM regexp_split_to_array(s COLLATE "C", r)), 0::bigint, 'as string_to_array and regexp_split_to_array');

-- nothing fails, however long: a string of half a megabyte has more elements than are taken
SELECT is((SELECT count(*) FROM unnest(ARRAY[1, 8191, 8192, 8193, 100000, 524288, 2000000]) n, unnest(ARRAY['a_', 'a ', '<', 'ä', 'http://a/', 'x.y@z ']) s
	WHERE dp_cdp_internal.try_text_search('pg_catalog.english', left(repeat(s, n / length(s) + 1), n), '''crash''')), 0::bigint, 'search of long strings');
SELECT is(dp_cdp_internal.try_string_to_array(repeat(',', 524288), ','), NULL, 'more elements than there can be');
SELECT is(cardinality(dp_cdp_internal.try_string_to_array(repeat(',', 100000), ',')), 100001, 'many elements');
SELECT is(dp_cdp_internal.try_array_to_string(array_fill(1, ARRAY[100000]), repeat('x', 100)), NULL, 'a long delimiter');
SELECT is(dp_cdp_internal.try_json_elements(to_jsonb(array_fill('x'::text, ARRAY[200000]))), NULL, 'more of jsonb than there can be');
SELECT is(dp_cdp_internal.try_json_elements('[null, "a", [1, {"b": null}], 1e3, false]'), ARRAY[NULL, 'a', '[1, {"b": null}]', '1000', 'false'], 'elements');

-- a number of a few bytes has 131072 digits when it is written, and 9,000 of them more than a string can have
SELECT is(dp_cdp_internal.try_array_to_string(array_fill(1e131071, ARRAY[9000]), ','), NULL, 'an array of long numbers');
SELECT is(length(dp_cdp_internal.try_array_to_string(ARRAY[1e131071, NULL, 1], ',')), 131074, '... and of one of them');
SELECT is(dp_cdp_internal.try_json_text(('{"a": [' || repeat('1e131071, ', 9000) || '1]}')::jsonb, 'a'), NULL, 'jsonb of long numbers');
SELECT is(dp_cdp_internal.try_json_values(('{"a": [' || repeat('1e131071, ', 9000) || '1]}')::jsonb), NULL, '... as rows');
SELECT is(dp_cdp_internal.try_json_elements(('[[' || repeat('1e131071, ', 9000) || '1]]')::jsonb), NULL, '... of an array');
SELECT is(count(*), 0::bigint, 'other jsonb is written as PostgreSQL does') FROM unnest(ARRAY['{"a":1.50,"b":{"c":[1,"x",null,{"d":[]}]},"e":"","f":null,"g":true}', '[1,[2,"y"],null,"z",{}]', '"s"', 'null', '2', '{}', '[]']::jsonb[]) j,
	unnest('{a,b,e,f,g,x}'::text[]) k, generate_series(-2, 5) n, unnest(ARRAY['{}', '{b,c}', '{b,c,1}', '{b,c,3,d}', '{1,1}', '{f}', '{0}', '{x}']) p
	WHERE dp_cdp_internal.try_json_text(j, k) IS DISTINCT FROM j ->> k OR dp_cdp_internal.try_json_text(j, n) IS DISTINCT FROM j ->> n OR dp_cdp_internal.try_json_text(j, p::text[]) IS DISTINCT FROM j #>> p::text[];

-- what one person adds is bounded, however many rows are made: a person of 3,000 elements counts for no more than max_rows
SET SESSION AUTHORIZATION owner1;
CREATE TABLE few (customer int NOT NULL, tags text[] NOT NULL);
INSERT INTO few SELECT i, '{a}' FROM generate_series(1, 50) i;
INSERT INTO few VALUES (51, array_fill('a'::text, ARRAY[3000]));
SELECT dp_cdp.protect_table('few', 'shop', 'customer');
SELECT dp_cdp.alter_dataset('shop', max_rows => 4, default_rho => 50000);
RESET SESSION AUTHORIZATION;
SELECT is(rows_for('analyst1', statement), '(54)', statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM few, unnest(tags) AS t', 'SELECT count(*) FROM (SELECT customer, unnest(tags) FROM few) q', 'SELECT count(*) FROM few LEFT JOIN LATERAL unnest(tags) AS t ON true',
	'SELECT count(*) FROM (SELECT customer FROM few GROUP BY 1) q JOIN few USING (customer), unnest(tags) AS t']) AS statement;

SELECT * FROM finish();
