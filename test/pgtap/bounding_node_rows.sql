-- The rows that the node that bounds contributions hands on, and the memory that it takes: rows leave added up where nobody can tell,
-- runs are repeated, ended early and given up by errors.

\ir bounding_node.psql

SELECT * FROM no_plan();

-- Rows leave added up, and only where what reads them cannot tell.
CREATE FUNCTION node_rows(statement text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE line text; result bigint[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || statement LOOP
		result := result || (regexp_match(line, 'DpBounding.*rows=(\d+)'))[1]::bigint;
	END LOOP;
	RETURN array_remove(result, NULL);
END $$;
SELECT cmp_ok((node_rows(together(f, 'i4', 'visit')))[1], '<', 500::bigint, name || ' leave added up') FROM form f WHERE name IN ('count', 'no keys', 'sums', 'text keys', 'long keys', 'many values', 'norm', 'norms', 'norm of an average', 'norm without limits', 'fewer groups');
SELECT cmp_ok((node_rows(together(f, 'i4', 'visit')))[1], '>', :units::bigint, name || ' leave as they are') FROM form f WHERE name IN ('codes', 'many groups', 'norm and codes', 'norm of a set');
-- the table of groups grows where these have more rows than fit into a small one, as far as memory goes
CREATE TABLE crowd AS SELECT v.*, c FROM visit v, generate_series(1, 6) c;
UPDATE crowd SET i4 = (x * 7 + c * 11) % 3000, k = (x * 6 + c * 1009 + i4) % 5000, word = 'w' || (x * 6 + c) % 5000;
ANALYZE crowd;
SET work_mem = '64MB';
SELECT cmp_ok((node_rows(together(f, 'i4', 'crowd')))[1], '<', (SELECT count(*) / 3 FROM crowd), name || ' of many groups leave added up') FROM form f WHERE name IN ('norm', 'fewer groups', 'norm of an average');
SELECT same(f, 'i4', 'crowd', memory => '{1MB,8MB,64MB}') FROM form f WHERE name IN ('norm', 'norms', 'norm of an average', 'text keys', 'fewer groups');
RESET work_mem;
-- Units with the same counts leave together: more of them than are taken at once, and more different counts than wait for others.
CREATE TABLE alike AS SELECT i4, i4 % 3 = 0 AS flag, CASE WHEN i4 <= 4000 THEN 100 ELSE 200 + r END AS x FROM generate_series(1, 4200) i4, LATERAL generate_series(1, CASE WHEN i4 <= 4000 THEN 2 ELSE i4 - 4000 END) r;
ANALYZE alike;
SELECT cmp_ok((node_rows(together(f, 'i4', 'alike')))[1], '<', 500::bigint, name || ' that are alike leave added up') FROM form f WHERE name IN ('counts', 'norm of a count');
SELECT same(f, 'i4', 'alike', memory => '{64kB,1MB,64MB}') FROM form f WHERE name IN ('counts', 'norm of a count');
-- and are estimated so
CREATE FUNCTION estimated_rows(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || statement LOOP
		IF line ~ 'DpBounding' THEN RETURN (regexp_match(line, 'rows=(\d+)'))[1]; END IF;
	END LOOP;
END $$;
SELECT cmp_ok(estimated_rows(together(f, 'i4', 'visit')), '<', 500::bigint, name || ' are estimated to leave added up') FROM form f WHERE name IN ('count', 'no keys', 'sums', 'text keys', 'long keys', 'many values');
SELECT cmp_ok(estimated_rows(together(f, 'i4', 'visit')), '>', :units::bigint / 2, name || ' are estimated to leave as they are') FROM form f WHERE name IN ('codes', 'many groups', 'computed');
SET work_mem = '64kB';
SELECT cmp_ok(estimated_rows(together(f, 'i4', 'visit')), '<', 500::bigint, 'so are few groups with little memory') FROM form f WHERE name = 'count';
SELECT cmp_ok((node_rows(together(f, 'i4', 'visit')))[1], '<', 500::bigint, 'which leave added up') FROM form f WHERE name = 'count';
SET hash_mem_multiplier = 1;
SELECT cmp_ok(estimated_rows(together(f, 'i4', 'visit')), '>', :units::bigint, 'those that there is no room to add up are estimated to leave as they are') FROM form f WHERE name = 'count';
SELECT cmp_ok((node_rows(together(f, 'i4', 'visit')))[1], '>', :units::bigint, 'which they do') FROM form f WHERE name = 'count';
RESET work_mem;
RESET hash_mem_multiplier;
CREATE TABLE telling AS SELECT description, format(statement, u) AS statement, adds FROM form f, format('(%s) u', kept(f, 'i4', 'visit')) u,
	LATERAL (VALUES (true, 'sums', 'SELECT sum_of(v0), k0 FROM %s GROUP BY k0'), (true, 'a function of keys', 'SELECT k0 / 2, sum_of(v0), sum_of(v1) FROM %s GROUP BY k0 / 2'),
		(true, 'no key', 'SELECT sum_of(v2) FROM %s'), (true, 'an order above', 'SELECT k1, k0, sum_of(v0) FROM %s GROUP BY k1, k0 ORDER BY k1, 2, sum_of(v0) LIMIT 7'),
		(false, 'how many rows', 'SELECT k0, count(*), sum_of(v0) FROM %s GROUP BY k0'), (false, 'the largest', 'SELECT max(v0), sum_of(v0) FROM %s'),
		(false, 'some rows', 'SELECT dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(v0) FILTER (WHERE k0 > 3), dp_cdp_internal.make_grid(0, 1000, ''int'')) FROM %s'), (false, 'some values', 'SELECT sum_of(v0) FROM %s WHERE v0 > 3'),
		(false, 'different values', 'SELECT sum_of(DISTINCT v0) FROM %s'), (false, 'a sum of keys', 'SELECT sum_of(k0) FROM %s'),
		(false, 'a computed value', 'SELECT sum_of(v0 + 1) FROM %s'), (false, 'a value beside', 'SELECT k0, v0, sum_of(v1) FROM %s GROUP BY k0, v0'),
		(false, 'groups of one value', 'SELECT v0, sum_of(v1) FROM %s GROUP BY v0'), (false, 'HAVING', 'SELECT k0, sum_of(v0) FROM %s GROUP BY k0 HAVING count(*) > 300'),
		(false, 'sets of groups', 'SELECT k0, k1, sum_of(v0), grouping(k0) FROM %s GROUP BY GROUPING SETS ((k0), (k1))'),
		(false, 'a join', 'SELECT k0, sum_of(v0), sum_of(1) FROM %s JOIN generate_series(1, 3) k0 USING (k0) GROUP BY k0'),
		(false, 'a union', 'SELECT k0, sum_of(v0) FROM (SELECT k0, v0 FROM %1$s UNION ALL SELECT k0, v1 FROM %1$s) s GROUP BY k0'),
		(false, 'a subquery beside', 'SELECT i, (SELECT sum(v0) FROM %s) FROM generate_series(1, 2) i'),
		(false, 'rows', 'SELECT * FROM %s')) v (adds, description, statement) WHERE name = 'sums';
UPDATE telling SET statement = regexp_replace(statement, 'sum_of(\([^()]*\))', 'dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum\1, dp_cdp_internal.make_grid(0, 1000, ''int''))', 'g');
SELECT cmp_ok((node_rows(statement))[1], CASE WHEN adds THEN '<' ELSE '>=' END, 500::bigint, description || CASE WHEN adds THEN ' of rows that are added up' ELSE ' of rows as they are' END) FROM telling;
SET dp_cdp.bounding_node = off;
CREATE TABLE told AS SELECT description, digest(statement) FROM telling;
RESET dp_cdp.bounding_node;
SELECT is(digest(statement), t.digest, t.description || ': the same') FROM telling JOIN told t USING (description);

-- run again, with other rows and with the same, ended early, and given up by an error: the same
-- answers, and no files are left
CREATE FUNCTION runs(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text := ''; r record;
BEGIN
	FOR r IN EXECUTE statement LOOP result := result || r::text; END LOOP;
	RETURN result;
END $$;
CREATE FUNCTION files() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_ls_tmpdir() $$;
CREATE TABLE again AS SELECT format('SELECT i, n, s FROM generate_series(1, 4) i, LATERAL (SELECT count(*) AS n, md5(string_agg(q::text, '','' ORDER BY unit, k0)) AS s FROM (%s) q) l',
	replace(apart(f, 'i4', 'visit WHERE x % 2 = i % 2'), ', true)', ', i > 2 OR flag)')) AS statement FROM form f WHERE name = 'count';
CREATE TABLE nested AS SELECT format('SELECT count(*), sum(l.i * v0) FROM (VALUES (1), (2), (3)) l (i) LEFT JOIN (%s) q ON q.unit > l.i * 100',
	apart(f, 'i4', 'visit')) AS statement FROM form f WHERE name = 'count';
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
SELECT is(count(*), 5::bigint, 'LIMIT') FROM (SELECT runs('SELECT * FROM (' || :'statement' || ') s LIMIT 5') AS r) s, regexp_matches(r, '\(\d*,', 'g');
SELECT is(files(), 0::bigint, 'and no files are left');

-- A snapshot that is older than NOT NULL sees NULLs: a function reads with that of the cursor.
CREATE TABLE once_null AS SELECT unit AS i4, 'unit ' || unit AS t, nullif(g % 7, 0) AS k, nullif(substr('abcdefg', 1 + g % 5, 2), 'ab') AS word, g AS x, g % 3 > 0 AS flag
	FROM generate_series(1, :rows) g, LATERAL (SELECT (hashint4(g) & 65535) % (:rows / 4) AS unit) s;
ALTER TABLE once_null ALTER i4 SET NOT NULL, ALTER t SET NOT NULL;
ANALYZE once_null;
CREATE FUNCTION before_not_null(node text, workers text, statement text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE result text;
BEGIN
	PERFORM set_config('dp_cdp.bounding_node', node, true), set_config('max_parallel_workers_per_gather', workers, true), set_config('work_mem', '64kB', true), set_config('enable_sort', node, true);
	EXECUTE format('SELECT concat_ws('' rows '', count(*), sum(hashtextextended(r::text, 0))) FROM (%s) r', statement) INTO result;
	RETURN concat_ws(' ', substring(plan_of(statement), 'Parallel Custom Scan'), substring(plan_of(statement), 'DpBounding'), result);
END $$;
CREATE TABLE sees AS SELECT unit || ' by ' || n.keys AS description, together((f.name, n.keys, n.types, 'true', replace(f.spec, '(1,', '(' || array_length(n.types, 1) || ','))::form, unit, 'once_null') AS statement
	FROM form f, unnest('{i4,t}'::text[]) unit, (VALUES ('k', '{int}'::text[]), ('k, word', '{int,text}')) n (keys, types) WHERE f.name = 'count';
BEGIN;
DECLARE before CURSOR FOR SELECT description, before_not_null('off', '0', statement) AS expected, before_not_null('on', '0', statement) AS alone, before_not_null('on', '2', statement) AS together FROM sees;
UPDATE once_null SET k = 3 WHERE k IS NULL;
UPDATE once_null SET word = 'zz' WHERE word IS NULL;
ALTER TABLE once_null ALTER k SET NOT NULL, ALTER word SET NOT NULL;
CREATE TEMP TABLE seen (description text, expected text, alone text, together text);
DO $$
DECLARE c refcursor := 'before'; r record;
BEGIN
	LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; INSERT INTO seen VALUES (r.description, r.expected, r.alone, r.together); END LOOP;
END $$;
COMMIT;
SELECT is(alone, 'DpBounding ' || expected, description || ': NULLs of columns that are NOT NULL by now') FROM seen;
SELECT is(together, 'Parallel Custom Scan DpBounding ' || expected, description || ': and in processes together') FROM seen;
SELECT isnt(digest(statement), expected, description || ': which later snapshots do not have') FROM seen JOIN sees USING (description);

-- memory is limited, whatever units are and whatever they have; twice hash_mem_multiplier where states have grown
CREATE FUNCTION memory_of(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE line text; result int;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || statement LOOP
		result := coalesce((regexp_match(line, 'Memory Usage: (\d+)kB  Disk'))[1]::int, result);
	END LOOP;
	RETURN result;
END $$;
CREATE TABLE long_unit AS SELECT repeat(md5((g % 200)::text), CASE WHEN :long THEN 4000 ELSE 1000 END) AS u, g % 5 AS k FROM generate_series(1, 400) g;
CREATE TABLE busy AS SELECT nullif(g % 200, 0) AS u, g / 200 AS k, g AS x FROM generate_series(0, 59999) g;
ANALYZE long_unit, busy;
CREATE TABLE sized AS SELECT * FROM (VALUES ('long units', 2000, apart((SELECT f FROM form f WHERE name = 'count'), 'u', 'long_unit')),
	('units with many groups, one of them nobody''s', 6000, (SELECT apart(('', 'k', '{int}', string_agg('x + ' || i, ', '),
		format('dp_cdp_internal.make_bound_spec(1, 300, ''{31,32}'', ''{%s}'', ARRAY[%s])', string_agg('sum', ','), string_agg('dp_cdp_internal.make_grid(0, 90000, ''int'')', ', ')))::form, 'u', 'busy')
		FROM generate_series(1, 40) i))) s (name, kb, statement);
SET enable_sort = off;
SELECT cmp_ok(memory_of(statement), '<', kb, name || ': kB') FROM sized;
CREATE TABLE sized_answers AS SELECT name, digest(statement) AS answer FROM sized;
SET dp_cdp.bounding_node = off;
SELECT is(answer, digest(statement), name) FROM sized JOIN sized_answers USING (name);
RESET dp_cdp.bounding_node;
RESET enable_sort;

-- thousands of runs in one statement take no more memory than a few, compiled expressions neither
CREATE TABLE few AS SELECT * FROM visit WHERE i4 < 10;
ANALYZE few;
SET enable_sort = off;
SELECT format('SELECT count(*) FROM generate_series(1, 10000) i, LATERAL (%s) q', apart(f, 'i4', 'few WHERE x % 2 = i % 2')) AS often FROM form f WHERE name = 'computed' \gset
CREATE FUNCTION peak() RETURNS int LANGUAGE sql AS $$
	SELECT (regexp_match(pg_read_file('/proc/' || pg_backend_pid() || '/status'), 'VmHWM:\s*(\d+)'))[1]::int $$;
SET jit_above_cost = 0;
CREATE TABLE grown (jit text, before int, after int);
SET jit = off;
SELECT runs(replace(:'often', '10000', '10')) \g /dev/null
INSERT INTO grown SELECT 'off', peak(), 0;
SELECT runs(:'often') \g /dev/null
UPDATE grown SET after = peak() WHERE jit = 'off';
SET jit = on;
SELECT runs(replace(:'often', '10000', '10')) \g /dev/null
INSERT INTO grown SELECT 'on', peak(), 0;
SELECT runs(:'often') \g /dev/null
UPDATE grown SET after = peak() WHERE jit = 'on';
RESET jit;
RESET jit_above_cost;
SELECT matches(plan_of(:'often'), 'Nested Loop.*DpBounding', 'ten thousand runs');
RESET enable_sort;
SELECT cmp_ok(after - before, '<', 8192, format('jit %s: kB more than at first', jit)) FROM grown;
RESET work_mem;

SELECT * FROM finish();
