-- dp_count(DISTINCT x) of other columns than the unit: a unit's values have credits by its norm, and a value counts the sum of
-- its units' credits, at most 1; what is beside it in a query keeps limits of its own.
-- First the exact states, in integers, for every limit at once; then releases, with noise so small that answers are compared with
-- plain SQL: 7 standard deviations miss with probability 2.6e-12 each.
\ir size.psql
SELECT CASE WHEN :long THEN 60 ELSE 12 END AS tables \gset
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
SELECT * FROM no_plan();

-- --------------------------------------------------------------------------
-- Exact states
-- --------------------------------------------------------------------------

-- small tables: units with 1 to 40 rows in up to 4 groups, values of their own and of many, NULL in both
CREATE TABLE small AS
	SELECT t, u, nullif(((h >> 2) % (1 + t % 4))::int, 3) AS k, nullif(CASE WHEN (h >> 6) % 3 = 0 THEN u * 1000 + (h >> 8) % 30 ELSE (h >> 8) % 9 END, 8)::bigint AS v
	FROM generate_series(1, :tables) t, generate_series(1, 2 + t % 7) u, generate_series(1, 1 + (abs(hashint8extended(u, t)) % 40)::int) r,
		LATERAL (SELECT abs(hashint8extended(r * 100 + u, t + 1000)) AS h) s;
-- a value is 2^22 steps, so that a limit of n values is n * 2^22
CREATE FUNCTION spec(limits bigint[], nkeys int DEFAULT 1, most int DEFAULT 40, groups int DEFAULT 100) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql IMMUTABLE AS $$
	SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(nkeys, groups, '{51,52}', '{distinct}', ARRAY[dp_cdp_internal.make_grid(0, most, 'int')]), 0, 22, '{}', limits) $$;
\set limits '''{4194304,6291456,8388608,16777216,25165824,67108864,268435456}''::bigint[]'
-- as the inner query of a release has it
CREATE FUNCTION counts(source text, spec dp_cdp_internal.bound_spec, grouped bool DEFAULT true) RETURNS TABLE (k int, counts bigint[]) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT k0, dp_cdp_internal.vector_counts(n) FROM (
		SELECT k0, b0, dp_cdp_internal.codes_distinct_shares(v0, s0, $1, 0) AS n FROM (
			SELECT %s AS k0, dp_cdp_internal.bound_bin(0, state, $1) AS b0, dp_cdp_internal.bound_distinct_codes(0, state, $1) AS v0, dp_cdp_internal.bound_share(0, state, $1) AS s0, dp_cdp_internal.bound_first(0, state) AS f
			FROM (SELECT dp_cdp_internal.bound_unit($1, u, %sv) AS state FROM %s t GROUP BY u) units) kept GROUP BY k0, b0) s WHERE n IS NOT NULL',
		CASE WHEN grouped THEN 'dp_cdp_internal.bound_key(0, state, NULL::int)' ELSE 'NULL::int' END, CASE WHEN grouped THEN 'k, ' END, source) USING spec;
END $$;
-- the same from plain SQL, for one limit in values
CREATE FUNCTION credited(source text, held float8, grouped bool DEFAULT true) RETURNS TABLE (k int, n float8) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('WITH v AS (SELECT DISTINCT u, %s AS k, v FROM %s t WHERE v IS NOT NULL),
		norms AS (SELECT u, sqrt(sum(c ^ 2)) AS norm FROM (SELECT u, count(*)::float8 AS c FROM v GROUP BY u, k) s GROUP BY u)
		SELECT k, sum(least(1, w)) FROM (SELECT k, v, sum(least(1, $1 / norm)) AS w FROM v JOIN norms USING (u) GROUP BY k, v) s GROUP BY k',
		CASE WHEN grouped THEN 'k' ELSE 'NULL::int' END, source) USING held;
END $$;
CREATE FUNCTION of_table(t int, condition text DEFAULT 'true') RETURNS text LANGUAGE sql AS $$ SELECT format('(SELECT * FROM small WHERE t = %s AND %s)', t, condition) $$;

-- each share is rounded down, once for each unit that has the value
SELECT is(count(*) FILTER (WHERE c.counts[i] / 2 ^ 22 > w.n + 1e-9 OR c.counts[i] / 2 ^ 22 < w.n - 5e-2), 0::bigint, format('values count their credits, held to %s, %s', l / 2 ^ 22, CASE WHEN grouped THEN 'in groups' ELSE 'at once' END))
	FROM unnest('{f,t}'::bool[]) grouped, unnest(:limits) WITH ORDINALITY m (l, i), generate_series(1, :tables) t,
		LATERAL counts(of_table(t), spec(:limits, grouped::int), grouped) c JOIN LATERAL credited(of_table(t), l / 2 ^ 22, grouped) w ON w.k IS NOT DISTINCT FROM c.k GROUP BY l, grouped ORDER BY grouped, l;
SELECT is((SELECT counts[7] FROM counts(of_table(7), spec(:limits, 0), false)), count(DISTINCT v) * 4194304, 'held to more than anybody has, all values count') FROM small WHERE t = 7;
SELECT is((SELECT counts FROM counts(of_table(7), spec('{}', 0), false)), ARRAY[count(DISTINCT v) * 4194304], 'without limits there is one count') FROM small WHERE t = 7;

-- A unit more: the vector over all groups has a norm of at most the limit, in integers, and comes to it.
CREATE TABLE everybody AS SELECT t, grouped, c.* FROM unnest('{f,t}'::bool[]) grouped, generate_series(1, :tables) t, LATERAL counts(of_table(t), spec(:limits, grouped::int), grouped) c;
CREATE TABLE unit AS SELECT DISTINCT t, u FROM small;
CREATE TABLE without AS SELECT n.t, n.u, grouped, c.* FROM unnest('{f,t}'::bool[]) grouped, unit n, LATERAL counts(of_table(n.t, 'u <> ' || n.u), spec(:limits, grouped::int), grouped) c;
-- what each adds to each group
CREATE TABLE added AS SELECT n.t, n.u, e.grouped, e.k, l, i, e.counts[i]::numeric - coalesce(w.counts[i], 0) AS more
	FROM unit n JOIN everybody e USING (t) LEFT JOIN without w ON (w.t, w.u, w.grouped) = (n.t, n.u, e.grouped) AND w.k IS NOT DISTINCT FROM e.k, unnest(:limits) WITH ORDINALITY m (l, i);
SELECT is(min(more) >= 0 AND bool_and(square <= l::numeric * l), true, format('who comes adds a vector of norm %s at most, %s', l / 2 ^ 22, CASE WHEN grouped THEN 'in groups' ELSE 'at once' END))
	FROM (SELECT t, u, grouped, l, min(more) AS more, sum(more * more) AS square FROM added GROUP BY 1, 2, 3, 4) s GROUP BY l, grouped ORDER BY grouped, l;
SELECT cmp_ok(max(sqrt(square) / l), '>', 0.999, 'and some come to it: ' || l / 2 ^ 22) FROM (SELECT l, sum(more * more) AS square FROM added WHERE l < 16777217 GROUP BY t, u, grouped, l) s GROUP BY l;
-- and the norm of all groups' numbers, in integers, grows by at most the limit, as a limiter has it
SELECT is(bool_and(after - before BETWEEN 0 AND l), true, format('the norm of all numbers grows by %s at most, %s', l / 2 ^ 22, CASE WHEN grouped THEN 'in groups' ELSE 'at once' END))
	FROM (SELECT grouped, l, floor(sqrt(sum(e.counts[i]::numeric ^ 2))) AS after, floor(sqrt(sum((e.counts[i] - more) ^ 2))) AS before
		FROM added a JOIN everybody e USING (t, grouped) WHERE a.k IS NOT DISTINCT FROM e.k GROUP BY t, u, grouped, l) s GROUP BY l, grouped ORDER BY grouped, l;
-- one in the place of another: both are among the others, and each is taken away
SELECT is(bool_and(square <= CASE WHEN grouped THEN 2 ELSE 1 END * l::numeric * l), true, format('who takes another''s place changes a vector by %s, %s', l / 2 ^ 22, CASE WHEN grouped THEN 'and the root of 2, in groups' ELSE 'at once' END))
	FROM (SELECT a.grouped, a.l, sum((a.more - b.more) ^ 2) AS square FROM added a JOIN added b ON (a.t, a.grouped, a.l) = (b.t, b.grouped, b.l) AND a.k IS NOT DISTINCT FROM b.k AND a.u < b.u
		GROUP BY a.t, a.u, b.u, a.grouped, a.l) s GROUP BY l, grouped ORDER BY grouped, l;
-- fewer values and groups than a unit has: those that are kept, and the bound holds
CREATE TABLE few AS SELECT n.t, n.u, c.*, e.counts AS all_counts FROM unit n, LATERAL counts(of_table(n.t), spec(:limits, 1, 3, 2)) e LEFT JOIN LATERAL counts(of_table(n.t, 'u <> ' || n.u), spec(:limits, 1, 3, 2)) c ON c.k IS NOT DISTINCT FROM e.k;
SELECT is(bool_and(square <= l::numeric * l AND square <= 18 * 2::numeric ^ 44), true, '3 values in 2 groups, held to ' || l / 2 ^ 22)
	FROM (SELECT l, sum((all_counts[i]::numeric - coalesce(counts[i], 0)) ^ 2) AS square FROM few, unnest(:limits) WITH ORDINALITY m (l, i) GROUP BY t, u, l) s GROUP BY l;

-- Sets that go to disk, other plans, workers: the same.
CREATE TABLE large AS SELECT u, nullif(u % 3, 2) AS k, (CASE WHEN r % 3 = 0 THEN u * 50 + r ELSE (u * r) % 20000 END)::bigint AS v FROM generate_series(1, 3000) u, generate_series(1, 1 + u % 30) r;
ANALYZE large;
CREATE FUNCTION digest(settings text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE settings;
	RETURN (SELECT string_agg(c::text, ' ' ORDER BY k) FROM counts('large', spec('{4194304,8388608,16777216,134217728}')) c);
END $$;
SELECT digest('SET work_mem = ''64MB''; SET dp_cdp.bounding_node = off; SET enable_hashagg = off; SET max_parallel_workers_per_gather = 0') AS expected \gset
SELECT is(digest(s), :'expected', s) FROM unnest('{SET dp_cdp.bounding_node = on; SET enable_hashagg = on,SET work_mem = ''64kB'',SET dp_cdp.bounding_node = off,SET enable_hashagg = off,
	SET enable_hashagg = on; SET dp_cdp.bounding_node = on; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0,
	SET dp_cdp.bounding_node = off}'::text[]) s;
RESET work_mem; RESET dp_cdp.bounding_node; RESET enable_hashagg; RESET max_parallel_workers_per_gather;
SELECT is(array_agg(counts[4] / 4194304 ORDER BY k), (SELECT array_agg(n ORDER BY k) FROM (SELECT k, count(DISTINCT v) AS n FROM large GROUP BY k) s), 'of all values, which is what plain SQL counts') FROM counts('large', spec('{4194304,8388608,16777216,134217728}'));
-- what is refused
SELECT throws_ok($$SELECT dp_cdp_internal.codes_distinct_shares('{1}', 0, dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{distinct}', ARRAY[dp_cdp_internal.make_grid(0, 2, 'int')]), 0)$$, 'XX000', 'bound_spec has no set 0 that a norm limits', 'a set without a norm');
SELECT throws_ok($$SELECT dp_cdp_internal.codes_distinct_shares('{1}', 0, spec('{4194304}'), 1)$$, 'XX000', 'bound_spec has no set 1 that a norm limits', 'no set');
SELECT throws_ok($$SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{count,distinct}', ARRAY[g, g]), 0, 20, '{1}', '{1048576}') FROM dp_cdp_internal.make_grid(0, 2, 'int') g$$, 'XX000', 'invalid bound_spec: value 1', 'a norm of another value');
SELECT is(dp_cdp_internal.vector_counts(dp_cdp_internal.codes_distinct_shares(c, 0, spec('{4194304}'), 0)), '{20971520}', 'all codes are told apart') FROM (VALUES ('{0,1}'::bigint[]), ('{}'), (NULL), ('{1,2,3,-1}')) v (c);

-- --------------------------------------------------------------------------
-- Releases
-- --------------------------------------------------------------------------

GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop'), dp_cdp.create_dataset('persons', neighbors => 'replace_one') \g /dev/null
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6, delta => 1e-6) FROM unnest('{shop,persons}'::text[]) d \g /dev/null
-- 400 customers with up to 13 rows, every 20th with 40 more, in 3 groups; half of the values are one customer's alone
CREATE TABLE visits AS SELECT u, (ARRAY['a', 'b', 'c'])[1 + (u + i) % 3] AS k, CASE WHEN i % 2 = 0 THEN u * 1000 + i ELSE i % 9 END AS v, i % 11 AS cost
	FROM generate_series(1, 400) u, generate_series(1, 1 + u % 13 + CASE WHEN u % 20 = 0 THEN 40 ELSE 0 END) i;
ALTER TABLE visits ALTER k SET NOT NULL;
CREATE TABLE replaced AS TABLE visits;
ALTER TABLE replaced ALTER k SET NOT NULL;
SELECT dp_cdp.protect_table('visits', 'shop', 'u'), dp_cdp.protect_table('replaced', 'persons', 'u') \g /dev/null
SELECT dp_cdp.set_keys(t, 'k', '{a,b,c,d}'::text[]), dp_cdp.set_bounds(t, 'cost', 0, 10) FROM unnest('{visits,replaced}'::regclass[]) t \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE;

-- as the analyst: rows of key and answer
CREATE FUNCTION asked(query text, settings text DEFAULT '') RETURNS TABLE (key text, answer float8) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	RETURN QUERY EXECUTE format('SELECT coalesce(k::text, ''none''), n::float8 FROM (%s) q (k, n)', query);
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.max_contribution; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows';
END $$;
-- the limit in values; groups as they are called, or at once
CREATE FUNCTION truth(held float8, grouped bool, source text DEFAULT 'visits') RETURNS TABLE (key text, answer float8) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('WITH v AS (SELECT DISTINCT u, %s AS k, v FROM %s t),
		norms AS (SELECT u, sqrt(sum(c ^ 2)) AS norm FROM (SELECT u, count(*)::float8 AS c FROM v GROUP BY u, k) s GROUP BY u)
		SELECT k, sum(least(1, w)) FROM (SELECT k, v, sum(least(1, $1 / norm)) AS w FROM v JOIN norms USING (u) GROUP BY k, v) s GROUP BY k',
		CASE WHEN grouped THEN 'k' ELSE '''none''::text' END, source) USING held;
END $$;
CREATE FUNCTION near(query text, settings text, wanted text, tolerance float8, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wrong text;
BEGIN
	EXECUTE format('CREATE TEMP TABLE wanted AS %s', wanted);
	SELECT string_agg(format('%s: %s is %s', key, a.answer, t.answer), ', ') INTO wrong FROM asked(query, settings) a FULL JOIN wanted t USING (key)
		WHERE a.answer IS NULL OR abs(a.answer - coalesce(t.answer, 0)) > tolerance;
	DROP TABLE wanted;
	RETURN is(wrong, NULL, description);
END $$;
CREATE FUNCTION explained(query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) %s', query) LOOP
		result := concat_ws(E'\n', result, substring(line FROM '^ *Release: (.*)'));
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.rho; RESET dp_cdp.max_contribution; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows';
	RETURN ltrim(result, E'\n');
END $$;

-- sigma is C / 100
SET dp_cdp.rho = 5000;
\set by_k 'SELECT k, count(DISTINCT v) FROM visits GROUP BY k'
\set at_once 'SELECT NULL::text, count(DISTINCT v) FROM visits'
SELECT near(CASE WHEN grouped THEN :'by_k' ELSE :'at_once' END, 'SET dp_cdp.max_contribution = ' || c, format('SELECT * FROM truth(%s, %L)', c, grouped), 0.07 * c + 0.6, format('values, up to %s, %s', c, grouped))
	FROM unnest('{0.5,1,3,7.5,100}'::float8[]) c, unnest('{f,t}'::bool[]) grouped;
-- other columns have limits of their own, which values do not change
SELECT near(format('SELECT k, %s FROM (SELECT k, count(*) AS n, count(DISTINCT v) AS d, sum(cost) AS s, dp_histogram(cost, 1) AS h, count(DISTINCT u) AS p, count(DISTINCT cost) AS c FROM visits GROUP BY k) q', x), 'SET dp_cdp.max_contribution = 3',
	wanted, t, 'beside others: ' || x) FROM (VALUES
	('d', 'SELECT * FROM truth(3, true)', 0.9), ('c', 'SELECT * FROM truth(3, true, ''(SELECT u, k, cost AS v FROM visits)'')', 0.9),
	('n', 'SELECT k AS key, sum(n * least(1, 3 / norm)) AS answer FROM (SELECT k, n, sqrt(sum(n ^ 2) OVER (PARTITION BY u)) AS norm FROM (SELECT u, k, count(*)::float8 AS n FROM visits GROUP BY 1, 2) s) s GROUP BY 1', 0.9),
	('s', 'SELECT k AS key, sum(n * least(1, 30 / nullif(norm, 0))) AS answer FROM (SELECT k, n, sqrt(sum(n ^ 2) OVER (PARTITION BY u)) AS norm FROM (SELECT u, k, sum(cost)::float8 AS n FROM visits GROUP BY 1, 2) s) s GROUP BY 1', 3),
	('h[1]', 'SELECT k AS key, sum(n * least(1, 3 / norm)) AS answer FROM (SELECT k, n, sqrt(sum(n ^ 2) OVER (PARTITION BY u)) AS norm FROM (SELECT u, k, count(*)::float8 AS n FROM visits GROUP BY 1, 2) s) s GROUP BY 1', 0.9),
	('p', 'SELECT k AS key, count(DISTINCT u)::float8 AS answer FROM visits GROUP BY 1', 0.9)) w (x, wanted, t);
-- found: hardly anything is cut with so little noise
SELECT near(format('SELECT k, %s FROM (SELECT k, count(*) AS n, count(DISTINCT v) AS d, sum(cost) AS s FROM visits GROUP BY k) q', x), '', format('SELECT k AS key, %s::float8 AS answer FROM visits GROUP BY 1', plain), t, 'found: ' || x)
	FROM (VALUES ('d', 'count(DISTINCT v)', 12), ('n', 'count(*)', 12), ('s', 'sum(cost)', 60)) w (x, plain, t);
SELECT near('SELECT v % 2, count(DISTINCT v) FROM visits GROUP BY 1', '', 'SELECT (v % 2)::text AS key, count(DISTINCT v)::float8 AS answer FROM visits GROUP BY 1', 12, 'in groups that are selected');
SELECT near('SELECT NULL::text, count(DISTINCT v) FILTER (WHERE cost > 3) FROM visits', '', 'SELECT ''none'' AS key, count(DISTINCT v) FILTER (WHERE cost > 3)::float8 AS answer FROM visits', 12, 'with a filter');
SELECT near('SELECT k, count(DISTINCT v) FROM visits WHERE v < 0 GROUP BY k', '', 'SELECT ''a'' AS key, 0::float8 AS answer', 0.6, 'of no rows');
-- which limit is found depends on how many share a value: 1,000 people with 20 of 200 values each, or with 20 of their own
RESET SESSION AUTHORIZATION;
CREATE TABLE shared AS SELECT u, u % 2 AS k, (u * 7 + i * 31) % 200 AS common, u * 20 + i AS own FROM generate_series(1, 1000) u, generate_series(1, 20) i;
ALTER TABLE shared ALTER k SET NOT NULL;
ALTER TABLE shared OWNER TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.protect_table('shared', 'shop', 'u'), dp_cdp.set_keys('shared', 'k', '{0,1}'::int[]) \g /dev/null
RESET SESSION AUTHORIZATION;
CREATE FUNCTION found(query text, OUT answer float8, OUT norm float8, OUT cut float8) LANGUAGE plpgsql AS $$
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	EXECUTE query INTO answer;
	SELECT l.norm, l.cut INTO norm, cut FROM dp_cdp.last_release() l WHERE l.norm IS NOT NULL LIMIT 1;
	RESET SESSION AUTHORIZATION;
END $$;
SET dp_cdp.rho = 5;
SELECT ok(norm <= 10 AND abs(answer - 200) < 25 AND cut < 0.1, format('values that many share, at once: a norm of %s', norm)) FROM found('SELECT count(DISTINCT common) FROM shared');
SELECT ok(norm <= 10 AND abs(answer - 200) < 25 AND cut < 0.1, format('and in groups: a norm of %s', norm)) FROM found('SELECT max(n) FROM (SELECT k, count(DISTINCT common) AS n FROM shared GROUP BY k) q');
SELECT ok(norm <= 10 AND abs(answer - 200) < 25 AND cut < 0.1, format('and in groups that are selected: a norm of %s', norm)) FROM found('SELECT max(n) FROM (SELECT k % 2, count(DISTINCT common) AS n FROM shared GROUP BY k % 2) q');
SELECT ok(norm > 16 AND abs(answer - 20000) < 1000 AND cut < 0.1, format('values of one person each: a norm of %s', norm)) FROM found('SELECT count(DISTINCT own) FROM shared');
-- what a pilot has found is told of the answer, too
SET dp_cdp.target_error = 5;
SELECT ok(norm <= 10 AND abs(answer - 200) < 60 AND cut > 0 AND cut < 0.1, format('after a pilot: a norm of %s, which cuts %s', norm, cut)) FROM found('SELECT count(DISTINCT common) FROM shared');
RESET dp_cdp.target_error;
-- hard limits alone, and beside a norm
SELECT is(explained(:'by_k', 'SET dp_cdp.rho = 0.5; SET dp_cdp.max_groups = 2; SET dp_cdp.max_rows = 3'), 'count(DISTINCT v)  (stddev=4.24264 rho=0.5)  a unit counts in 2 of 4 groups with 3 rows of each group', 'hard limits are limits of groups and values');
SELECT is(explained(:'by_k', 'SET dp_cdp.rho = 0.5; SET dp_cdp.max_groups = 2; SET dp_cdp.max_rows = 3; SET dp_cdp.max_contribution = 2'), 'count(DISTINCT v)  (stddev=2 rho=0.5)  a unit counts in 2 of 4 groups with 3 rows of each group, up to a norm of 2 values', 'or the norm, where that is less');
SET dp_cdp.rho = 5000;
SELECT near(:'at_once', 'SET dp_cdp.max_rows = 60; SET dp_cdp.max_groups = 1', 'SELECT ''none'' AS key, count(DISTINCT v)::float8 AS answer FROM visits', 5, 'all values within hard limits');
-- what is told before
SELECT is(explained('SELECT k, count(DISTINCT v), count(*) FROM visits GROUP BY k', 'SET dp_cdp.rho = 0.5; SET dp_cdp.max_contribution = 4'),
	E'count(DISTINCT v)  (stddev=4 rho=0.5)  a unit counts up to a norm of 4 values\ncount(*)  (stddev=4 rho=0.5)  a unit counts up to a norm of 4 rows', 'noise by the norm');
SELECT is(explained('SELECT k, count(DISTINCT v) FROM replaced GROUP BY k', 'SET dp_cdp.rho = 0.5; SET dp_cdp.max_contribution = 4'), 'count(DISTINCT v)  (stddev=5.65685 rho=0.5)  a unit counts up to a norm of 4 values', 'of who is replaced, in groups');
SELECT is(explained('SELECT count(DISTINCT v) FROM replaced', 'SET dp_cdp.rho = 0.5; SET dp_cdp.max_contribution = 4'), 'count(DISTINCT v)  (stddev=4 rho=0.5)  a unit counts up to a norm of 4 values', 'and at once');
SELECT matches(explained('SELECT k, count(DISTINCT v), count(*) FROM visits GROUP BY k', 'SET dp_cdp.rho = 0.5'), '^limit of count.DISTINCT v. .*\nlimit of count.\*. .*\ncount.DISTINCT v. .*a unit counts up to a norm that is found first\ncount.\*. .*a unit counts up to a norm that is found first$', 'each column finds its own');
-- who is added changes the histogram by 1, and each of three numbers of values by 1 in its steps; who is replaced two bins of the histogram
SELECT is(round((m[1]::numeric ^ 2 * 2 * m[2]::numeric), 2), wanted, format('the limiter''s squared sensitivity of %s', source)) FROM (VALUES ('visits', 4.00), ('visits GROUP BY k', 4.00), ('replaced', 5.00), ('replaced GROUP BY k', 5.00)) q (source, wanted),
	LATERAL regexp_match(explained('SELECT count(DISTINCT v) FROM ' || source, 'SET dp_cdp.rho = 0.5'), '^limit of count.DISTINCT v. *\(stddev=([0-9.]+) of each count, rho=([0-9.]+)\)') m;
-- what it costs
SET dp_cdp.rho = 0.01;
SELECT is((SELECT cost FROM run_as_analyst('SET LOCAL dp_cdp.reuse = off; SELECT k, count(DISTINCT v), count(*) FROM visits GROUP BY k')), 20000::bigint, 'the price of two aggregates, limits included');
-- workers, little memory, without the node, prepared: at a rho of 5000 again
SET dp_cdp.rho = 5000;
CREATE FUNCTION each_way(settings text, description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT near('SELECT k, count(DISTINCT v) FROM visits GROUP BY k', 'SET dp_cdp.reuse = off; SET dp_cdp.max_contribution = 3; ' || settings, 'SELECT * FROM truth(3, true)', 0.9, description);
	RETURN NEXT near('SELECT k, d FROM (SELECT k, count(DISTINCT v) AS d, count(*), avg(cost) FROM visits GROUP BY k) q', 'SET dp_cdp.reuse = off; ' || settings, 'SELECT k AS key, count(DISTINCT v)::float8 AS answer FROM visits GROUP BY 1', 12, description || ', found');
	RESET dp_cdp.reuse;
END $$;
SELECT each_way('SET work_mem = ''64kB''', 'little memory');
SELECT each_way('SET enable_hashagg = off', 'sorted');
SET dp_cdp.bounding_node = off;
SELECT each_way('SET enable_hashagg = on', 'PostgreSQL''s own aggregation');
SELECT each_way('SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0', 'in workers');
RESET dp_cdp.bounding_node;
SELECT each_way('', 'in workers, with the node');
RESET max_parallel_workers_per_gather; RESET work_mem;
SET SESSION AUTHORIZATION analyst1;
SET plan_cache_mode = force_generic_plan;
SET dp_cdp.reuse = off;
PREPARE q (int) AS SELECT k, count(DISTINCT v) AS d, count(*) AS n FROM visits WHERE cost >= $1 GROUP BY k;
CREATE FUNCTION pg_temp.run(lowest int) RETURNS TABLE (k text, d bigint, n bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('EXECUTE q (%s)', lowest);
END $$;
CREATE TEMP TABLE prepared AS SELECT 'found' AS setting, p, q.* FROM generate_series(0, 6, 3) p, LATERAL pg_temp.run(p) q;
SET dp_cdp.max_contribution = 3;
INSERT INTO prepared SELECT '3', p, q.* FROM generate_series(0, 6, 3) p, LATERAL pg_temp.run(p) q;
RESET dp_cdp.max_contribution; RESET dp_cdp.reuse; RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
GRANT SELECT ON prepared TO PUBLIC;
SELECT is(count(*) FILTER (WHERE abs(p.d - t.d) > 12 OR abs(p.n - t.n) > 12), 0::bigint, 'a prepared statement: ' || count(*)) FROM prepared p JOIN LATERAL (SELECT v.k, count(DISTINCT v) AS d, count(*) AS n FROM visits v WHERE cost >= p.p GROUP BY v.k) t USING (k) WHERE setting = 'found';
SELECT is(count(*) FILTER (WHERE abs(p.d - t.answer) > 0.9), 0::bigint, 'which follows the setting: ' || count(*)) FROM prepared p JOIN LATERAL truth(3, true, format('(SELECT * FROM visits WHERE cost >= %s)', p.p)) t ON t.key = p.k WHERE setting = '3';

-- kept answers
SET dp_cdp.rho = 0.01;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('shop', reuse => '1 day') \g /dev/null
RESET SESSION AUTHORIZATION;
CREATE FUNCTION lines(query text, settings text DEFAULT '', OUT lines text, OUT cost bigint) LANGUAGE plpgsql AS $$
BEGIN
	cost := spent();
	SELECT string_agg(a::text, ' ' ORDER BY key) INTO lines FROM asked(query, settings) a;
	cost := spent() - cost;
END $$;
CREATE TABLE first AS SELECT * FROM lines(:'by_k');
SELECT is(cost, 10000::bigint, 'an answer is bought, with its limit') FROM first;
SELECT is(row(l.lines, l.cost), row(f.lines, 0::bigint), 'and given again') FROM lines(:'by_k') l, first f;
SELECT is(l.cost, 10000::bigint, 'with another limit it is another question') FROM lines(:'by_k', 'SET dp_cdp.max_contribution = 3') l;
SELECT is(row(l.lines, l.cost), row(f.lines, 0::bigint), 'beside others it is the same') FROM lines('SELECT k, d FROM (SELECT k, count(DISTINCT v) AS d FROM visits GROUP BY k) q') l, first f;
SELECT ok(l.cost BETWEEN 1 AND 10000, 'a dearer one makes it better, and costs the difference at most, as the limit is kept: ' || l.cost) FROM lines(:'by_k', 'SET dp_cdp.rho = 0.02') l;
SET dp_cdp.rho = 0.01;
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'), 0::bigint, 'and the audit adds up');

SELECT * FROM finish();
