-- The plan node that bounds contributions: the planner takes it, EXPLAIN shows it, and
-- what it returns is bit for bit what PostgreSQL's own aggregation with bound_unit
-- returns for the same seed, whatever the memory, the order of rows and the plan below.

SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;

-- units of all types by value, keys and values of each kind; 6,000 units with 1 to 19 rows, some of nobody
CREATE TABLE visit AS
	SELECT nullif(p, 0) AS i4, nullif(p, 0)::smallint AS i2, nullif(p, 0)::bigint * 10000000000 AS i8,
		date '2000-01-01' + nullif(p, 0) AS d, timestamptz '2000-01-01' + nullif(p, 0) * interval '1 s' AS ts,
		p % 2 = 0 AS b, nullif(p, 0)::text AS t, gen_random_uuid() AS noise,
		nullif(h % 13, 12) AS k, substr('abcdefghijk', 1 + h % 7, 1 + h % 3) AS word, (h % 5)::numeric / 2 AS n,
		h % 1000 AS x, (h % 1000)::float8 / 7 AS y, (h % 1000)::numeric / 3 AS z, h % 3 = 0 AS flag
	FROM generate_series(1, 60000) g, LATERAL (SELECT hashint4(g) & 65535 AS h, (hashint4(g * 7) & 65535) % 6000 * (1 + (g & 1)) / 2 AS p) s;
CREATE INDEX ON visit (i4);
CREATE TABLE person AS SELECT p AS i4, p % 3 AS area FROM generate_series(1, 6000) p;
CREATE TABLE visit_by_range (LIKE visit) PARTITION BY RANGE (i4);
CREATE TABLE visit_low PARTITION OF visit_by_range FOR VALUES FROM (MINVALUE) TO (3000);
CREATE TABLE visit_high PARTITION OF visit_by_range FOR VALUES FROM (3000) TO (MAXVALUE);
CREATE TABLE visit_rest PARTITION OF visit_by_range DEFAULT;
INSERT INTO visit_by_range SELECT * FROM visit;
CREATE TABLE visit_dropped AS SELECT 1 AS gone, * FROM visit;
ALTER TABLE visit_dropped DROP COLUMN gone;
CREATE TABLE empty (LIKE visit);
ANALYZE;

-- the specs, by what they take after the unit
CREATE TABLE form (name text, keys text, vals text, spec text);
INSERT INTO form VALUES
	('count', 'k', 'true', $$dp_cdp.make_bound_spec(1, 3, '{11,12}', '{count}', ARRAY[dp_cdp.make_grid(0, 4, 'int')])$$),
	('no keys', NULL, 'flag, x', $$dp_cdp.make_bound_spec(0, 1, '{13,14}', '{count,sum}',
		ARRAY[dp_cdp.make_grid(0, 4, 'int'), dp_cdp.make_grid(0, 500, 'int')])$$),
	('sums', 'k, b', 'x, y, z, flag', $$dp_cdp.make_bound_spec(2, 4, '{15,16}', '{sum,sum,sum,units}',
		ARRAY[dp_cdp.make_grid(0, 900, 'int'), dp_cdp.make_grid(-5, 100, 'float8'), dp_cdp.make_grid(0, 300, 'numeric'), dp_cdp.make_grid(0, 1, 'int')])$$),
	('long keys', 'word, n', 'x + 1, flag AND x > 10', $$dp_cdp.make_bound_spec(2, 2, '{17,18}', '{sum,count}',
		ARRAY[dp_cdp.make_grid(0, 900, 'int'), dp_cdp.make_grid(0, 3, 'int')])$$),
	('computed', 'k / 2, x % 4', 'x * 2', $$dp_cdp.make_bound_spec(2, 3, '{19,20}', '{sum}', ARRAY[dp_cdp.make_grid(-10, 900, 'int')])$$),
	('codes', 'k', 'x, x::bigint', $$dp_cdp.make_bound_spec(1, 3, '{21,22}', '{codes,distinct}',
		ARRAY[dp_cdp.make_grid(0, 3, 'int'), dp_cdp.make_grid(0, 4, 'int')])$$);

-- with the unit beside each entry, which keeps units apart; and as the inner query of a release has it
CREATE FUNCTION apart(f form, unit text, source text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT %2$s AS unit, dp_cdp.bound_entries(dp_cdp.bound_unit(%1$s, %2$s, %3$s), %1$s) AS e FROM %4$s GROUP BY %2$s',
				  f.spec, unit, concat_ws(', ', f.keys, f.vals), source) $$;
CREATE FUNCTION together(f form, unit text, source text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT dp_cdp.bound_entries(dp_cdp.bound_unit(%1$s, %2$s, %3$s), %1$s) AS e FROM %4$s GROUP BY %2$s',
				  f.spec, unit, concat_ws(', ', f.keys, f.vals), source) $$;

CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; result text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP result := result || line || E'\n'; END LOOP;
	RETURN result;
END $$;
-- everything that entries hold, in one hash
CREATE FUNCTION digest(f form, statement text, with_unit boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	columns text := '';
	result text;
	kinds text[] := regexp_split_to_array((regexp_match(f.spec, '\{([a-z,]+)\}'))[1], ',');
	types text[] := regexp_split_to_array((SELECT string_agg(pg_typeof_key, ',') FROM (
		SELECT CASE trim(c) WHEN 'b' THEN 'boolean' WHEN 'word' THEN 'text' WHEN 'n' THEN 'numeric' ELSE 'int' END
		FROM unnest(string_to_array(f.keys, ',')) c) t (pg_typeof_key)), ',');
	by_key text := '';
BEGIN
	FOR i IN 1 .. coalesce(array_length(types, 1), 0) LOOP
		by_key := by_key || format('dp_cdp.entry_key(e, %s, NULL::%s)::text COLLATE "C", ', i - 1, types[i]);
	END LOOP;
	FOR i IN 1 .. array_length(kinds, 1) LOOP
		columns := columns || CASE WHEN kinds[i] IN ('codes', 'distinct')
			THEN format(', %s(dp_cdp.entry_codes(e, %s)%s)', CASE WHEN with_unit THEN '' ELSE 'array_agg' END, i - 1,
						CASE WHEN with_unit THEN '' ELSE format('::text ORDER BY dp_cdp.entry_codes(e, %s)', i - 1) END)
			WHEN with_unit THEN format(', dp_cdp.entry_value(e, %s)', i - 1)
			ELSE format(', dp_cdp.exact_sum_value(dp_cdp.entry_sum(e, %s), dp_cdp.make_grid(0, 1000, ''int''))', i - 1) END;
	END LOOP;
	IF with_unit THEN
		EXECUTE format('SELECT md5(string_agg(r::text, '','' ORDER BY r::text)) || count(*) FROM (SELECT %sunit%s FROM (%s) s) r', by_key, columns, statement) INTO result;
	ELSE
		EXECUTE format('SELECT md5(string_agg(r::text, '','' ORDER BY r::text)) || count(*) FROM (SELECT %s0%s FROM (%s) s%s) r', by_key, columns, statement,
			CASE WHEN by_key = '' THEN '' ELSE ' GROUP BY ' || rtrim(by_key, ', ') END) INTO result;
	END IF;
	RETURN result;
END $$;

-- the node's answer for each amount of memory beside nodeAgg's, which sorts
CREATE FUNCTION same(f form, unit text, source text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statements text[] := ARRAY[together(f, unit, source), apart(f, unit, source)];
	expected text;
	m text;
BEGIN
	FOR i IN 1 .. 2 LOOP
		PERFORM set_config('enable_hashagg', 'off', true), set_config('enable_sort', 'on', true), set_config('work_mem', '64MB', true);
		IF plan_of(statements[i]) ~ 'DpBounding' THEN
			RETURN NEXT fail(format('%s by %s of %s: nodeAgg groups where hashing is off', f.name, unit, source));
		END IF;
		expected := digest(f, statements[i], i = 2);
		PERFORM set_config('enable_hashagg', 'on', true);
		FOREACH m IN ARRAY '{64kB,512kB,64MB}'::text[] LOOP
			PERFORM set_config('work_mem', m, true);
			IF plan_of(statements[i]) !~ 'Custom Scan \(DpBounding\)' THEN
				RETURN NEXT fail(format('%s by %s of %s, work_mem %s: the node is taken: %s', f.name, unit, source, m, plan_of(statements[i])));
			END IF;
			RETURN NEXT is(digest(f, statements[i], i = 2), expected,
						   format('%s by %s of %s, work_mem %s, %s', f.name, unit, source, m, (ARRAY['together', 'apart'])[i]));
		END LOOP;
	END LOOP;
END $$;

SELECT * FROM no_plan();

SELECT same(f, 'i4', 'visit') FROM form f;
SELECT same(f, unit, 'visit') FROM form f, unnest('{i2,i8,d,ts,b}'::text[]) unit WHERE f.name = 'count' OR f.name = 'sums' AND unit <> 'b';
SELECT same(f, 'i4', source) FROM form f, unnest(ARRAY['visit_dropped', 'empty', '(SELECT * FROM visit ORDER BY noise OFFSET 0) v',
	'visit WHERE x < 500', 'visit WHERE x < 500 AND i4 IS NOT NULL']) source WHERE f.name IN ('count', 'computed', 'long keys');
-- plans below the node
SET enable_seqscan = off;
SELECT same(f, 'i4', 'visit WHERE i4 BETWEEN 100 AND 2000') FROM form f WHERE f.name IN ('count', 'sums', 'long keys');
SET enable_indexscan = off;
SELECT same(f, 'i4', 'visit WHERE i4 BETWEEN 100 AND 2000') FROM form f WHERE f.name = 'sums';
RESET enable_indexscan;
RESET enable_seqscan;
SELECT same(f, 'v.i4', 'visit v JOIN person USING (i4) WHERE area < 2') FROM form f WHERE f.name IN ('count', 'sums');
SELECT same(f, 'i4', 'visit_by_range') FROM form f WHERE f.name IN ('count', 'sums', 'codes');
SET enable_partitionwise_aggregate = on;
SELECT same(f, 'i4', 'visit_by_range') FROM form f WHERE f.name IN ('count', 'sums', 'codes');
SELECT matches(plan_of(together(f, 'i4', 'visit_by_range')), '(Custom Scan \(DpBounding\).*){3}', 'each partition is bounded by itself')
	FROM form f WHERE name = 'count';
RESET enable_partitionwise_aggregate;
-- within a worker; DEBUG: debug_parallel_query from 16 on
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT same(f, 'i4', 'visit') FROM form f WHERE f.name IN ('count', 'sums');
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- what is nodeAgg's
SELECT unalike(plan_of(statement), '%DpBounding%', description) FROM (SELECT form.*::form AS f FROM form WHERE name = 'count') s,
	LATERAL (VALUES (apart(f, 't', 'visit'), 'units of text'),
		(apart(f, 'i4', 'visit') || ' HAVING count(*) > 1', 'HAVING'),
		(apart(f, 'i4', 'visit') || ', b', 'two grouping columns'),
		(replace(apart(f, 'i4', 'visit'), 'SELECT i4', 'SELECT max(x), i4'), 'another aggregate'),
		(replace(apart(f, 'i4', 'visit'), 'true)', 'true ORDER BY x)'), 'an order of arguments')) v (statement, description);
SELECT throws_ok('SELECT dp_cdp.bound_unit(NULL, i4, k, true) FROM visit GROUP BY i4', '0A000', NULL, 'no spec');
PREPARE no_spec (dp_cdp.bound_spec) AS SELECT count(s) FROM (SELECT dp_cdp.bound_unit($1, i4, k, true) AS s FROM visit GROUP BY i4) q;
SET plan_cache_mode = force_generic_plan;
SELECT matches(plan_of('EXECUTE no_spec (NULL)'), 'DpBounding', 'a spec that is a parameter');
SELECT throws_ok('EXECUTE no_spec (NULL)', '0A000', NULL, 'no spec, at execution');
RESET plan_cache_mode;

-- run again, with other rows and with the same, ended early, and given up by an error: the same
-- answers, and no files are left
CREATE FUNCTION runs(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text := ''; r record;
BEGIN
	FOR r IN EXECUTE statement LOOP result := result || r::text; END LOOP;
	RETURN result;
END $$;
CREATE FUNCTION files() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_ls_tmpdir() $$;
CREATE TABLE again AS SELECT format('SELECT i, n, s FROM generate_series(1, 4) i, LATERAL (SELECT count(*) AS n, md5(string_agg(ROW(i4,
	dp_cdp.entry_key(e, 0, NULL::int), dp_cdp.entry_value(e, 0))::text, '','' ORDER BY i4, dp_cdp.entry_key(e, 0, NULL::int))) AS s FROM (%s) q) l',
	replace(apart(f, 'i4', 'visit WHERE x % 2 = i % 2'), ', true)', ', i > 2 OR flag)')) AS statement FROM form f WHERE name = 'count';
CREATE TABLE nested AS SELECT format('SELECT count(*), sum(l.i * dp_cdp.entry_value(q.e, 0)) FROM (VALUES (1), (2), (3)) l (i) LEFT JOIN (%s) q ON q.i4 > l.i * 100',
	replace(apart(f, 'i4', 'visit'), 'i4 AS unit', 'i4')) AS statement FROM form f WHERE name = 'count';
UPDATE again SET statement = replace(statement, 'i4 AS unit', 'i4');
SET work_mem = '64kB';
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CREATE TABLE reruns AS SELECT statement, runs(statement) AS answer, plan_of(statement) AS plan FROM (TABLE again UNION ALL TABLE nested) s;
SELECT matches(plan, 'Nested Loop.*DpBounding', 'the node is run again') FROM reruns;
SET dp_cdp.bounding_node = off;
SELECT unalike(plan_of(statement), '%DpBounding%', 'the node can be turned off') FROM reruns;
SELECT is(answer, runs(statement), 'and returns the same as nodeAgg') FROM reruns;
RESET dp_cdp.bounding_node;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT is(files(), 0::bigint, 'no files are left');
SELECT format('DECLARE c CURSOR FOR %s', apart(f, 'i4', 'visit')) AS cursor, apart(f, 'i4', 'visit') AS statement FROM form f WHERE name = 'sums' \gset
SET cursor_tuple_fraction = 1;
BEGIN;
:cursor;
FETCH 2 FROM c \g /dev/null
SELECT cmp_ok(files(), '>', 0::bigint, 'files of a cursor');
CLOSE c;
SELECT is(files(), 0::bigint, 'that is closed');
COMMIT;
SELECT throws_ok(replace(:'statement', 'x, y', 'x / nullif(least(x, 999), 999), 1 / (x - 998)::float8'), '22012', NULL, 'an error while rows are gathered');
SELECT is(files(), 0::bigint, 'leaves no files');
SELECT is(count(*), 5::bigint, 'LIMIT') FROM (SELECT runs(:'statement' || ' LIMIT 5') AS r) s, regexp_matches(r, '\(\d*,', 'g');
RESET work_mem;

SELECT * FROM finish();
