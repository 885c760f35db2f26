-- dp_cdp.consistent: counts and sums of GROUPING SETS, ROLLUP and CUBE that add up,
-- at the same price and with no more noise, and what stays as it is.
-- Noise is looked at by chi-square, 1e-12 on each side.  The noise that is drawn has 3,600 degrees of freedom, in
-- "make test" 600: half or twice the variance is surely found, and nine times of ten 0.81 or 1.22 times, in "make test"
-- 0.6 or 1.6 times.  What is told of each set has 300, in "make test" 50: three times of four half the variance is
-- found, in "make test" an eighth.

\ir size.psql
SELECT CASE WHEN :long THEN 300 ELSE 50 END AS times, CASE WHEN :long THEN 158 ELSE 7 END AS least, CASE WHEN :long THEN 506 ELSE 156 END AS most,
	CASE WHEN :long THEN 3035 ELSE 387 END AS least_drawn, CASE WHEN :long THEN 4230 ELSE 877 END AS most_drawn \gset
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
-- 9,600 rows with declared keys, 1,200 with another one of a
CREATE TABLE visits (id int PRIMARY KEY, a text NOT NULL, b int NOT NULL, c boolean NOT NULL, free int, cost numeric);
INSERT INTO visits SELECT i, CASE WHEN i % 9 < 8 THEN substr('wxyz', 1 + i % 4, 1) ELSE 'v' END, i % 5, i % 2 = 0, i % 3, i % 100
	FROM generate_series(1, 10800) i;
CREATE TABLE people AS SELECT id, id % 2000 AS person, a, b, cost FROM visits;
ALTER TABLE people ALTER a SET NOT NULL, ALTER b SET NOT NULL;
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.01, min_rho => 1e-12, delta => 0.5, default_delta => 1e-6, max_groups => 3, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true);
SELECT dp_cdp.protect_table('people', 'clinic', 'person');
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{visits,people}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'a', '{w,x,y,z}'::text[]) FROM unnest('{visits,people}'::regclass[]) t;
SELECT dp_cdp.set_keys(t, 'b', '{0,1,2,3,4}'::int[]) FROM unnest('{visits,people}'::regclass[]) t;
SELECT dp_cdp.set_keys('visits', 'c', '{f,t}'::boolean[]);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 100000);
RESET SESSION AUTHORIZATION;

-- keeps the rows of a query as analyst1 gets them, by the setting, and what was charged
CREATE TABLE kept (run serial, name text, a text, b int, c boolean, gid int, n bigint, s numeric, n_stddev float8, s_stddev float8);
GRANT ALL ON kept, kept_run_seq TO analyst1;
CREATE FUNCTION keep(sets text, setting text, called text, relation text DEFAULT 'visits', rho text DEFAULT '0.01')
	RETURNS TABLE (prices text) LANGUAGE plpgsql AS $$
DECLARE
	last bigint := (SELECT coalesce(max(id), 0) FROM dp_cdp.releases);
	c text := CASE relation WHEN 'visits' THEN 'c' ELSE 'NULL::boolean' END;
BEGIN
	PERFORM set_config('dp_cdp.consistent', CASE setting WHEN 'default' THEN NULL ELSE setting END, false), set_config('dp_cdp.rho', rho, false);
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	EXECUTE format('INSERT INTO kept (name, a, b, c, gid, n, s, n_stddev, s_stddev)
		SELECT %L, a, b, %s, GROUPING(a, b%s), dp_count(*), dp_sum(cost), dp_noise_stddev(dp_count(*)), dp_noise_stddev(dp_sum(cost))
		FROM %I GROUP BY %s', called, c, CASE relation WHEN 'visits' THEN ', c' ELSE '' END, relation, sets);
	EXECUTE 'RESET SESSION AUTHORIZATION';
	PERFORM set_config('dp_cdp.consistent', NULL, false), set_config('dp_cdp.rho', '0.01', false);
	RETURN QUERY SELECT string_agg(r.aggregates || ' by ' || coalesce(r.groups, 'nothing') || ' ' || r.rho, '; ' ORDER BY r.groups NULLS FIRST)
		FROM dp_cdp.releases r WHERE id > last AND granted;
END $$;

-- how many margins of a kept answer are not the sum of the finest cells
CREATE FUNCTION off_margins(called text, OUT counts bigint, OUT sums bigint) LANGUAGE sql AS $$
	WITH fine AS (SELECT * FROM kept WHERE name = called AND gid = 0)
	SELECT count(*) FILTER (WHERE k.n <> f.n), count(*) FILTER (WHERE k.s <> f.s)
		FROM kept k CROSS JOIN LATERAL (SELECT sum(f.n) AS n, sum(f.s) AS s FROM fine f
			WHERE (k.a = f.a OR k.gid & 4 > 0) AND (k.b = f.b OR k.gid & 2 > 0) AND (k.c = f.c OR k.gid & 1 > 0)) f
		WHERE k.name = called
$$;

SELECT plan(88);

-- ---------------------------------------------------------------------
-- Off by default, same price
-- ---------------------------------------------------------------------

CREATE TABLE prices AS
	SELECT 'default' AS name, prices FROM keep('CUBE (a, b, c)', 'default', 'default')
	UNION ALL SELECT 'on', prices FROM keep('CUBE (a, b, c)', 'on', 'on')
	UNION ALL SELECT 'rollup', prices FROM keep('ROLLUP (a, b, c)', 'on', 'rollup')
	UNION ALL SELECT 'rollup off', prices FROM keep('ROLLUP (a, b, c)', 'off', 'rollup off');
SELECT is((SELECT count(*) FROM kept WHERE name = 'default'), 90::bigint, 'a cube has the cells of all sets');
SELECT ok((off_margins('default')).counts > 10 AND (off_margins('default')).sums > 10, 'sums do not add up unless that is asked for');
SELECT is(off_margins('on'), ROW(0::bigint, 0::bigint), 'all margins of a cube are the sums of its cells, exactly');
SELECT is(off_margins('rollup'), ROW(0::bigint, 0::bigint), 'and of a rollup');
SELECT ok((off_margins('rollup off')).sums > 10, 'off is off');
SELECT is(a.prices, b.prices, 'at the same price') FROM prices a, prices b WHERE a.name = 'on' AND b.name = 'default';
SELECT is(a.prices, b.prices, 'also of a rollup') FROM prices a, prices b WHERE a.name = 'rollup' AND b.name = 'rollup off';

-- ---------------------------------------------------------------------
-- Noise
-- ---------------------------------------------------------------------

SELECT is(count(DISTINCT n_stddev), 1::bigint, 'without it all sets have one noise') FROM kept WHERE name = 'default';
SELECT ok(bool_and(k.n_stddev < d.n_stddev AND k.s_stddev < d.s_stddev), 'no set is noisier')
	FROM kept k JOIN kept d ON k.gid = d.gid AND (k.a, k.b, k.c) IS NOT DISTINCT FROM (d.a, d.b, d.c) WHERE k.name = 'on' AND d.name = 'default';
-- the finest set's, from the definition: the mean over eigenspaces of 1 / what is known, and rounding in three dimensions
SELECT ok(abs(max(n_stddev) / sqrt(50 * sum_of.x / 40 + 8.0 / 12) - 1) < 1e-9, 'the deviation is what least squares has')
	FROM kept, (SELECT sum(da * db * dc / (fa * fb * fc)::float8) AS x
		FROM (VALUES (1, 5), (3, 1)) a(da, fa), (VALUES (1, 6), (4, 1)) b(db, fb), (VALUES (1, 3), (1, 1)) c(dc, fc)) sum_of
	WHERE name = 'on' AND gid = 0 GROUP BY sum_of.x;

-- of many answers
SELECT count(*) FROM generate_series(1, :times) i CROSS JOIN LATERAL keep('CUBE (a, b, c)', 'on', 'many ' || i) \g /dev/null
CREATE TABLE truth AS SELECT a, b, c, GROUPING(a, b, c) AS gid, count(*) AS n, sum(cost) AS s FROM visits WHERE a <> 'v' GROUP BY CUBE (a, b, c);
CREATE FUNCTION observed_of(called text) RETURNS TABLE (gid int, n bigint, counts float8, sums float8) LANGUAGE sql AS $$
	SELECT k.gid, count(*), sum(((k.n - coalesce(t.n, 0)) / n_stddev) ^ 2), sum(((k.s - coalesce(t.s, 0)) / s_stddev) ^ 2)
		FROM kept k LEFT JOIN truth t ON t.gid = k.gid AND (t.a, t.b, t.c) IS NOT DISTINCT FROM (k.a, k.b, k.c)
		WHERE k.name LIKE called AND coalesce(k.a, 'x') = 'x' AND coalesce(k.b, 3) = 3 AND coalesce(k.c, true) GROUP BY k.gid
$$;
CREATE VIEW observed AS SELECT * FROM observed_of('many %');
SELECT is(count(*), 8::bigint, 'errors of all sets are looked at') FROM observed WHERE n = :times;
SELECT ok(bool_and(counts BETWEEN :least AND :most), 'counts have the noise that is said, and no bias: ' || string_agg(round(counts::numeric, 1)::text, ' ')) FROM observed;
SELECT ok(bool_and(sums BETWEEN :least AND :most) AND count(sums) = 8, 'sums have the noise that is said, and no bias: ' || string_agg(round(sums::numeric, 1)::text, ' ')) FROM observed;
SELECT ok(bool_and((off_margins('many ' || i)) = ROW(0::bigint, 0::bigint)), 'all of them add up') FROM generate_series(1, :times, 10) i;
-- Interactions of all three keys, 3 * 4 * 1 in each answer, are known from the finest set alone: least squares leave
-- them as they were drawn, independent of each other, with a variance of 50 and what rounding adds.
CREATE VIEW drawn AS
	SELECT count(*) / 40 * 12 AS freedom, sum(n * n) / 50 AS counts, sum(s * s) / (50 * 100 * 100) AS sums FROM (
		SELECT n - avg(n) OVER ab - avg(n) OVER ac - avg(n) OVER bc + avg(n) OVER ea + avg(n) OVER eb + avg(n) OVER ec - avg(n) OVER every AS n,
			s - avg(s) OVER ab - avg(s) OVER ac - avg(s) OVER bc + avg(s) OVER ea + avg(s) OVER eb + avg(s) OVER ec - avg(s) OVER every AS s
		FROM (SELECT name, k.a, k.b, k.c, k.n - coalesce(t.n, 0) AS n, k.s - coalesce(t.s, 0) AS s
			FROM kept k LEFT JOIN truth t ON t.gid = 0 AND (t.a, t.b, t.c) = (k.a, k.b, k.c) WHERE k.gid = 0 AND name LIKE 'many %') e
		WINDOW every AS (PARTITION BY name), ea AS (PARTITION BY name, a), eb AS (PARTITION BY name, b), ec AS (PARTITION BY name, c),
			ab AS (PARTITION BY name, a, b), ac AS (PARTITION BY name, a, c), bc AS (PARTITION BY name, b, c)) r;
SELECT is(freedom, :times * 12::bigint, 'what was drawn is seen in all answers') FROM drawn;
SELECT ok(counts BETWEEN :least_drawn AND :most_drawn * (1 + 8.0 / 12 / 50) AND sums BETWEEN :least_drawn AND :most_drawn,
	'it has the noise that the price has: ' || round(counts, 1) || ' ' || round(sums, 1) || ' of ' || freedom) FROM drawn;

-- ---------------------------------------------------------------------
-- What is told before and after
-- ---------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.consistent = on;
CREATE TEMP TABLE cube AS SELECT a, b, dp_count(*) AS n, dp_noise_stddev(dp_count(*)) AS s FROM visits GROUP BY CUBE (a, b);
SELECT is((SELECT array_agg(DISTINCT round(stddev::numeric, 9)) FROM dp_cdp.last_release()),
	(SELECT array_agg(DISTINCT round(s::numeric, 9)) FROM cube), 'dp_cdp.last_release tells the noise of what was shown');
SELECT is((SELECT array_agg(DISTINCT round(stddev::numeric, 9)) FROM dp_cdp.preview('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)') WHERE stddev IS NOT NULL),
	(SELECT array_agg(DISTINCT round(s::numeric, 9)) FROM cube), 'and the preview did before');
SELECT is((SELECT sum(n) FROM cube WHERE a IS NOT NULL AND b IS NOT NULL), (SELECT n FROM cube WHERE a IS NULL AND b IS NULL)::numeric, 'they add up');
-- before the first row is handed out, and whatever is read
BEGIN;
DECLARE c CURSOR FOR SELECT a, b, dp_count(*) AS n FROM visits GROUP BY ROLLUP (a, b);
CREATE TEMP TABLE fetched (a text, b int, n bigint);
CREATE FUNCTION pg_temp.fetch_all() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'c';
	r record;
BEGIN
	LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		INSERT INTO fetched VALUES (r.a, r.b, r.n);
	END LOOP;
END $$;
SELECT pg_temp.fetch_all() \g /dev/null
COMMIT;
SELECT is((SELECT sum(n) FROM fetched WHERE b IS NOT NULL), (SELECT n FROM fetched WHERE a IS NULL)::numeric, 'row by row from a cursor');
SELECT is(count(n), 1::bigint, 'a part of the sets can be read') FROM (SELECT a, dp_count(*) AS n FROM visits GROUP BY ROLLUP (a) LIMIT 1) q;
SELECT is(count(n), 1::bigint, 'and a condition on the sets') FROM (SELECT a, b, dp_count(*) AS n FROM visits GROUP BY CUBE (a, b) HAVING GROUPING(a, b) = 3) q;
SELECT is(array_agg(x ORDER BY x), '{0,0,0,0}', 'and what is computed of them') FROM (
	WITH c AS (SELECT a, b, dp_count(*) AS n FROM visits GROUP BY CUBE (a, b))
	SELECT (sum(c.n) - t.n)::int AS x FROM c JOIN c t ON c.a = t.a AND t.b IS NULL WHERE c.b IS NOT NULL GROUP BY t.a, t.n) q;

-- cached plans know of the setting
RESET dp_cdp.consistent;
PREPARE q AS SELECT max(dp_noise_stddev) FROM (SELECT dp_noise_stddev(dp_count(*)) FROM visits GROUP BY CUBE (a, b)) q;
CREATE TEMP TABLE prepared (step int, s float8);
INSERT INTO prepared SELECT 0, max(s) FROM (SELECT dp_noise_stddev(dp_count(*)) AS s FROM visits GROUP BY CUBE (a, b)) q;
DEALLOCATE q;
PREPARE q AS SELECT max(s) FROM (SELECT dp_noise_stddev(dp_count(*)) AS s FROM visits GROUP BY CUBE (a, b)) q;
CREATE FUNCTION pg_temp.ask() RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT max(s) FROM (SELECT dp_noise_stddev(dp_count(*)) AS s FROM visits GROUP BY CUBE (a, b)) q);
END $$;
INSERT INTO prepared VALUES (1, pg_temp.ask());
SET dp_cdp.consistent = on;
INSERT INTO prepared VALUES (2, pg_temp.ask());
SET dp_cdp.consistent = off;
INSERT INTO prepared VALUES (3, pg_temp.ask());
RESET dp_cdp.consistent;
SELECT ok((SELECT s FROM prepared WHERE step = 2) < (SELECT s FROM prepared WHERE step = 1), 'a cached plan follows the setting');
SELECT is((SELECT s FROM prepared WHERE step = 3), (SELECT s FROM prepared WHERE step = 1), 'and back');
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------
-- The same rows for all sets
-- ---------------------------------------------------------------------

SELECT keep('CUBE (a, b, c)', 'on', 'exact', rho => '1000'), keep('CUBE (a, b, c)', 'off', 'exact off', rho => '1000') \g /dev/null
SELECT ok(abs(n - 9600) < 20, 'rows without a declared key are in no set: ' || n) FROM kept WHERE name = 'exact' AND gid = 7;
SELECT ok(abs(n - 10800) < 20, 'without the setting, in those that do not group by it: ' || n) FROM kept WHERE name = 'exact off' AND gid = 7;
SELECT ok(abs(n - 2400) < 20, 'also by another key: ' || n) FROM kept WHERE name = 'exact' AND a = 'w' AND gid = 3;
-- noise so small that rounding to whole numbers would be more than it
SELECT is((SELECT array_agg(DISTINCT n_stddev) FROM kept WHERE name = 'exact'), (SELECT array_agg(DISTINCT n_stddev) FROM kept WHERE name = 'exact off'),
	'counts stay as they are where rounding would make them noisier');
SELECT is((off_margins('exact')).sums, 0::bigint, 'sums, of finer steps, add up still');

-- ---------------------------------------------------------------------
-- Units of several rows
-- ---------------------------------------------------------------------

SELECT keep('CUBE (a, b)', 'on', 'units', 'people'), keep('CUBE (a, b)', 'off', 'units off', 'people') \g /dev/null
UPDATE kept SET gid = (gid << 1) | 1 WHERE name LIKE 'units%';
CREATE FUNCTION off_two(called text) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FILTER (WHERE k.n <> f.n OR k.s <> f.s) FROM kept k CROSS JOIN LATERAL (SELECT sum(n) AS n, sum(s) AS s FROM kept f
		WHERE f.name = called AND f.gid = 1 AND (k.a = f.a OR k.gid & 4 > 0) AND (k.b = f.b OR k.gid & 2 > 0)) f WHERE k.name = called
$$;
SELECT is(off_two('units'), 0::bigint, 'answers about units add up');
SELECT ok(off_two('units off') > 5, 'which they do not by themselves');
SELECT ok(bool_and(k.n_stddev < d.n_stddev AND k.s_stddev < d.s_stddev), 'and none is noisier, with noise that differs between sets')
	FROM (SELECT gid, max(n_stddev) AS n_stddev, max(s_stddev) AS s_stddev FROM kept WHERE name = 'units' GROUP BY gid) k
	JOIN (SELECT gid, max(n_stddev) AS n_stddev, max(s_stddev) AS s_stddev FROM kept WHERE name = 'units off' GROUP BY gid) d USING (gid);

-- ---------------------------------------------------------------------
-- What stays as it is
-- ---------------------------------------------------------------------

CREATE FUNCTION deviations(call text, sets text, relation text, setting text) RETURNS numeric[] LANGUAGE plpgsql AS $$
DECLARE
	result numeric[];
BEGIN
	PERFORM set_config('dp_cdp.consistent', setting, false);
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	EXECUTE format('SELECT array_agg(DISTINCT round(s::numeric, 9)) FROM (SELECT dp_noise_stddev(%s) AS s FROM %I GROUP BY %s) q', call, relation, sets) INTO result;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	PERFORM set_config('dp_cdp.consistent', NULL, false);
	RETURN result;
END $$;
SELECT is(deviations(call, sets, relation, 'on') = deviations(call, sets, relation, 'off'), stays, what)
	FROM (VALUES ('dp_count(*)', 'CUBE (a, b)', 'visits', false, 'a cube of declared keys changes'),
		('dp_count(*)', 'GROUPING SETS ((a, b), (a), ())', 'visits', false, 'sets that are written out, too'),
		('dp_count(*) FILTER (WHERE cost > 50)', 'ROLLUP (a)', 'visits', false, 'and a count with a filter'),
		('dp_count(*)', 'CUBE (a, free)', 'visits', true, 'keys that are not declared'),
		('dp_count(*)', 'GROUPING SETS ((a, b), (b, c))', 'visits', false, 'sets of which none is the finest, too'),
		('dp_count(*)', 'GROUPING SETS ((a, b), (b, free))', 'visits', true, 'where a key of another set is not declared'),
		('dp_count(DISTINCT person)', 'CUBE (a, b)', 'people', true, 'units, of which one is in several groups'),
		('dp_count(*)', 'a', 'visits', true, 'one set')) v(call, sets, relation, stays, what);
SELECT is(deviations('dp_histogram(cost, 0, 100, 4)', 'ROLLUP (a)', 'visits', 'on'), deviations('dp_histogram(cost, 0, 100, 4)', 'ROLLUP (a)', 'visits', 'off'), 'a histogram');
-- and EXPLAIN says so, as preview does by its noise
CREATE FUNCTION says(query text, OUT said text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text[] := '{}';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		lines := lines || replace(substring(line FROM 'Consistent: (.*)'), ' with those of the other grouping sets, where none becomes noisier; dp_cdp.preview shows the noise then', '');
	END LOOP;
	SELECT string_agg(DISTINCT l, '; ') INTO said FROM unnest(lines) l;
END $$;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE wide AS SELECT i AS k, i % 2 = 0 AS c, i % 10 AS x FROM generate_series(0, 999) i;
ALTER TABLE wide ALTER k SET NOT NULL;
SELECT dp_cdp.create_dataset('wide', default_rho => 1e-4, consistent => true, release_memory => 900) \g /dev/null
SELECT dp_cdp.protect_table('wide', 'wide', each_row => true) \g /dev/null
SELECT dp_cdp.set_keys('wide', 'k', (SELECT array_agg(k) FROM wide)) \g /dev/null
SELECT dp_cdp.set_budget('wide', 'analyst2', rho => 1) \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT 'SELECT k, c, ' || string_agg(format('dp_count(*) FILTER (WHERE x = %s)', i), ', ') || ' FROM wide GROUP BY ROLLUP (k, c)' AS many_columns FROM generate_series(1, 10) i \gset
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.consistent = on;
SELECT is(says('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)'), 'counts and sums are made to add up', 'EXPLAIN tells sets that agree');
SELECT is(says('SELECT a, b, dp_avg(cost) FROM visits GROUP BY CUBE (a, b)'), 'no: there is no count or sum of rows that none of the sets has noisier then', 'those that have nothing to agree on');
SET dp_cdp.rho = 1000;
SELECT is(says('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)'), 'no: there is no count or sum of rows that none of the sets has noisier then', 'and where rounding is more than the noise');
RESET dp_cdp.rho;
RESET dp_cdp.consistent;
SET SESSION AUTHORIZATION analyst2;
SELECT is(says('SELECT k, c, dp_count(*) FROM wide GROUP BY ROLLUP (k, c)'), 'counts and sums are made to add up', 'one column of many cells has room');
SELECT is(says(:'many_columns'), 'no: there is no room for the cells of all sets at once (dp_cdp.release_memory)', 'ten have none, which is said');
SELECT is(count(DISTINCT stddev), 1::bigint, 'and their noise is that of each set by itself') FROM dp_cdp.preview(:'many_columns') WHERE stddev IS NOT NULL;
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------
-- Sets of which none is the finest
-- ---------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.consistent = on;
CREATE TEMP TABLE apart AS SELECT a, b, GROUPING(a, b) AS gid, dp_count(*) AS n, dp_sum(cost) AS s, dp_noise_stddev(dp_count(*)) AS d
	FROM visits GROUP BY GROUPING SETS ((a), (b), ());
SELECT is(array_agg(DISTINCT sum_of.n || ' ' || sum_of.s), array_agg(DISTINCT t.n || ' ' || t.s), 'two margins and a total add up')
	FROM (SELECT sum(n) AS n, sum(s) AS s FROM apart GROUP BY gid) sum_of, apart t WHERE t.gid = 3;
-- from the definition, with the total known three times: by itself, from 4 values and from 5
SELECT is(array_agg(DISTINCT gid || ' ' || round(d::numeric, 9)), ARRAY['1 ' || round(sqrt(50 * 5 / 4.0 * (1 / 29.0 + 3 / 5.0) + 2 / 12.0), 9),
	'2 ' || round(sqrt(50 * 4 / 5.0 * (1 / 29.0 + 4 / 4.0) + 2 / 12.0), 9), '3 ' || round(sqrt(50 * 20 / 29.0 + 1 / 12.0), 9)],
	'with the noise that least squares has') FROM apart;
SELECT is((SELECT array_agg(DISTINCT round(stddev::numeric, 9)) FROM dp_cdp.preview('SELECT a, b, dp_count(*) FROM visits GROUP BY GROUPING SETS ((a), (b), ())') WHERE stddev IS NOT NULL),
	(SELECT array_agg(DISTINCT round(d::numeric, 9)) FROM apart), 'and the preview says');
-- a key that is there under two names makes the same set twice, which may be one draw
SELECT is(array_agg(DISTINCT round(d::numeric, 9)), ARRAY[round(sqrt(50::numeric), 9)], 'a set that is there twice is not weighed twice: the sets stay as they are')
	FROM (SELECT dp_noise_stddev(dp_count(*)) AS d FROM (SELECT a AS x, a AS y FROM visits) v GROUP BY GROUPING SETS ((x, y), (x), (y))) q;
RESET dp_cdp.consistent;
RESET SESSION AUTHORIZATION;
SELECT is(prices, (SELECT prices FROM keep('GROUPING SETS ((a, b), (b, c), (a))', 'off', 'apart off')), 'at the same price')
	FROM keep('GROUPING SETS ((a, b), (b, c), (a))', 'on', 'apart on');
SELECT count(*) FROM generate_series(1, :times) i CROSS JOIN LATERAL keep('GROUPING SETS ((a, b), (b, c), (a))', 'on', 'chain ' || i) \g /dev/null
CREATE VIEW chained AS SELECT name, gid, a, b, sum(n) AS n, sum(s) AS s FROM (
		SELECT name, gid, a, NULL::int AS b, n, s FROM kept WHERE gid IN (1, 3) UNION ALL
		SELECT name, gid, NULL, b, n, s FROM kept WHERE gid IN (1, 4)) q WHERE name LIKE 'chain %' GROUP BY 1, 2, 3, 4;
SELECT is(count(*) || ' compared, ' || count(*) FILTER (WHERE x.n <> y.n OR x.s <> y.s) || ' differ', :times * 9 || ' compared, 0 differ', 'sums by the keys that sets share are equal')
	FROM chained x JOIN chained y ON (x.name, x.a, x.b) IS NOT DISTINCT FROM (y.name, y.a, y.b) AND x.gid = 1 AND y.gid > 1;
SELECT ok(bool_and(n = :times AND counts BETWEEN :least AND :most AND sums BETWEEN :least AND :most) AND count(*) = 3, 'they have the noise that is said, and no bias: '
	|| string_agg(round(counts::numeric, 1) || ' ' || round(sums::numeric, 1), ', ')) FROM observed_of('chain %');

-- ---------------------------------------------------------------------
-- More rows than memory holds
-- ---------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
CREATE TABLE large (k int NOT NULL, l int NOT NULL, cost int);
INSERT INTO large SELECT i % 60, i % 59, 1 FROM generate_series(1, 3540) i;
SELECT dp_cdp.protect_table('large', 'clinic', each_row => true) \g /dev/null
SELECT dp_cdp.set_keys('large', k, (SELECT array_agg(i) FROM generate_series(0, 59) i)), dp_cdp.set_bounds('large', 'cost', -1, 2) FROM unnest('{k,l}'::text[]) k \g /dev/null
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.consistent = on;
SET work_mem = '64kB';
-- values by reference, and not
CREATE TEMP TABLE spilled AS SELECT k, l, GROUPING(k, l) AS gid, count(*) AS n, sum(cost) AS s, avg(cost) AS mean FROM large GROUP BY CUBE (k, l);
SELECT is(count(*) || ' cells, total ' || max(n) FILTER (WHERE gid = 3) || ' ' || max(s) FILTER (WHERE gid = 3),
	'3721 cells, total ' || sum(n) FILTER (WHERE gid = 0) || ' ' || sum(s) FILTER (WHERE gid = 0), 'rows that come from disk agree') FROM spilled;
CREATE TEMP TABLE spilled_by_value AS SELECT k, l, GROUPING(k, l) AS gid, count(*) AS n, sum(cost) AS s FROM large GROUP BY CUBE (k, l);
SELECT is(count(*) || ' cells, total ' || max(n) FILTER (WHERE gid = 3) || ' ' || max(s) FILTER (WHERE gid = 3),
	'3721 cells, total ' || sum(n) FILTER (WHERE gid = 0) || ' ' || sum(s) FILTER (WHERE gid = 0), 'so do those that were arrays first') FROM spilled_by_value;
RESET work_mem;
RESET dp_cdp.consistent;
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------
-- Kept answers
-- ---------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', reuse => '1 day') \g /dev/null
RESET SESSION AUTHORIZATION;
CREATE FUNCTION spent() RETURNS numeric LANGUAGE sql VOLATILE AS $$ SELECT rho_spent FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole $$;
-- keeps an answer and returns what it cost, in prices of one aggregate in one set
CREATE FUNCTION cost(sets text, setting text, called text, rho text DEFAULT '0.01') RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	before numeric := spent();
BEGIN
	PERFORM keep(sets, setting, called, 'visits', rho);
	RETURN round((spent() - before) / 0.01, 3);
END $$;
CREATE FUNCTION differing(one text, other text) RETURNS bigint LANGUAGE sql AS $$
	WITH x AS (SELECT a, b, c, gid, n, s, n_stddev, s_stddev FROM kept WHERE name = one),
		y AS (SELECT a, b, c, gid, n, s, n_stddev, s_stddev FROM kept WHERE name = other)
	SELECT count(*) FROM ((TABLE x EXCEPT ALL TABLE y) UNION ALL (TABLE y EXCEPT ALL TABLE x)) q
$$;
SELECT is(cost('CUBE (a, b, c)', 'on', 'bought'), 16::numeric, 'a cube is bought once');
SELECT is(cost('CUBE (a, b, c)', 'on', 'again'), 0::numeric, 'asked twice it is free');
SELECT is((SELECT count(*) FROM kept WHERE name = 'again') || ' rows, differing ' || differing('bought', 'again'), '90 rows, differing 0', 'and has the same rows');
SELECT is(off_margins('again'), ROW(0::bigint, 0::bigint), 'which agree');
-- what is kept is what was drawn: the finest set asks the same by itself, the others are of more rows
SELECT is(cost('GROUPING SETS ((a, b, c))', 'off', 'finest'), 0::numeric, 'the finest set is given by itself');
SELECT ok(bool_or(f.n <> k.n) AND bool_and(f.n_stddev > k.n_stddev), 'as it was drawn')
	FROM kept f JOIN kept k USING (a, b, c, gid) WHERE f.name = 'finest' AND k.name = 'again';
SELECT is(cost('CUBE (a, b, c)', 'off', 'apart'), 12::numeric, 'totals of all rows are other questions, but that over c, of which all values are declared');
SELECT is(cost('CUBE (a, b, c)', 'on', 'once more') || ', differing ' || differing('bought', 'once more'), '0.000, differing 0', 'and change nothing');
-- of sets that were bought dearer
SELECT is(cost('ROLLUP (a, b, c)', 'on', 'dearer', '0.03'), 16::numeric, 'four of the sets made better cost the difference');
SELECT is(cost('CUBE (a, b, c)', 'on', 'uneven'), 0::numeric, 'a cube of these is free');
SELECT is(off_margins('uneven'), ROW(0::bigint, 0::bigint), 'and agrees');
SELECT ok(bool_and(k.n_stddev < d.n_stddev AND k.s_stddev < d.s_stddev), 'with less noise')
	FROM (SELECT DISTINCT gid, n_stddev, s_stddev FROM kept WHERE name = 'uneven') k
	JOIN (SELECT DISTINCT gid, n_stddev, s_stddev FROM kept WHERE name = 'bought') d USING (gid);
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.consistent = on;
SELECT is((SELECT array_agg(DISTINCT round(stddev::numeric, 9)) FROM dp_cdp.preview('SELECT a, b, c, dp_count(*) FROM visits GROUP BY CUBE (a, b, c)') WHERE stddev IS NOT NULL),
	(SELECT array_agg(DISTINCT round(n_stddev::numeric, 9)) FROM kept WHERE name = 'uneven'), 'the preview tells the noise of what is kept');
-- some of the keys, of which all groups are kept: a cube of its own
CREATE TEMP TABLE cube_of_some AS SELECT a, b, GROUPING(a, b, c) AS gid, dp_count(*) AS n FROM visits WHERE a IN ('w', 'x') GROUP BY CUBE (a, b, c);
SELECT is(count(*) || ' cells, total ' || max(n) FILTER (WHERE gid = 7), '54 cells, total ' || sum(n) FILTER (WHERE gid = 0), 'with a condition on a key they agree, too') FROM cube_of_some;
RESET dp_cdp.consistent;
RESET SESSION AUTHORIZATION;
-- of many such answers
CREATE PROCEDURE ask_afresh(times int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. times LOOP
		SET SESSION AUTHORIZATION owner1;
		PERFORM dp_cdp.forget_answers('clinic');
		RESET SESSION AUTHORIZATION;
		COMMIT;
		PERFORM keep('ROLLUP (a, b, c)', 'on', 'first uneven ' || i, 'visits', '0.03');
		COMMIT;
		PERFORM keep('CUBE (a, b, c)', 'on', 'uneven many ' || i);
		COMMIT;
	END LOOP;
END $$;
CALL ask_afresh(:times);
SELECT is(string_agg(DISTINCT n::text, ' ') || ', ' || count(*), :times || ', 8', 'errors of all sets are looked at') FROM observed_of('uneven many %');
SELECT ok(bool_and(counts BETWEEN :least AND :most AND sums BETWEEN :least AND :most), 'they have the noise that is said, and no bias: '
	|| string_agg(round(counts::numeric, 1) || ' ' || round(sums::numeric, 1), ', ')) FROM observed_of('uneven many %');

-- some of the sets are kept, the others are bought
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.forget_answers('clinic') \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT is(cost('ROLLUP (a, b, c)', 'on', 'some'), 8::numeric, 'four sets are bought');
SELECT is(cost('CUBE (a, b, c)', 'on', 'with others'), 8::numeric, 'a cube of them costs the other four');
SELECT is(off_margins('with others'), ROW(0::bigint, 0::bigint), 'and agrees');
SELECT is(cost('CUBE (a, b, c)', 'on', 'with others again') || ', differing ' || differing('with others', 'with others again'), '0.000, differing 0', 'in the same way again');

-- ---------------------------------------------------------------------
-- The dataset's default
-- ---------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', reuse => '0') \g /dev/null
SELECT is((SELECT consistent FROM dp_cdp.datasets WHERE dataset = 'clinic'), false, 'a dataset has no such default by itself');
RESET SESSION AUTHORIZATION;
-- in one session, with a plan that is cached
SET SESSION AUTHORIZATION analyst1;
PREPARE by_default AS SELECT max(s) FROM (SELECT dp_noise_stddev(dp_count(*)) AS s FROM visits GROUP BY CUBE (a, b)) q;
CREATE FUNCTION pg_temp.explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN ' || query;
END $$;
CREATE TEMP TABLE defaults (step int, s float8, lines bigint);
CREATE FUNCTION pg_temp.note(step int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	s float8;
BEGIN
	EXECUTE 'EXECUTE by_default' INTO s;
	INSERT INTO defaults SELECT step, s, count(*) FROM pg_temp.explained('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)') line
		WHERE line LIKE '%Consistent: counts and sums are made to add up%';
END $$;
SELECT pg_temp.note(1) \g /dev/null
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', consistent => true) \g /dev/null
SELECT dp_cdp.alter_dataset('clinic', max_rows => 5) \g /dev/null
SET SESSION AUTHORIZATION analyst1;
SELECT pg_temp.note(2) \g /dev/null
SELECT is((SELECT consistent FROM dp_cdp.datasets WHERE dataset = 'clinic'), true, 'analysts see the default, which stays when something else is altered');
SELECT is((SELECT max(stddev) FROM dp_cdp.preview('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)')), (SELECT s FROM defaults WHERE step = 2),
	'the preview follows the default');
SET dp_cdp.consistent = off;
SELECT pg_temp.note(3) \g /dev/null
SET dp_cdp.consistent = on;
SELECT pg_temp.note(4) \g /dev/null
RESET dp_cdp.consistent;
SELECT pg_temp.note(5) \g /dev/null
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', consistent => false) \g /dev/null
SET SESSION AUTHORIZATION analyst1;
SELECT pg_temp.note(6) \g /dev/null
SELECT ok(d.s < o.s, 'the default makes sets agree') FROM defaults d, defaults o WHERE d.step = 2 AND o.step = 1;
SELECT is(array_agg(d.s = o.s ORDER BY d.step), '{f,t,f,f,t}', 'cached plans follow the default, which the setting overrides')
	FROM defaults d, defaults o WHERE d.step > 1 AND o.step = 1;
SELECT is(array_agg(lines ORDER BY step), '{0,4,0,4,4,0}', 'EXPLAIN says of each set that it is made to agree') FROM defaults;
SELECT throws_like('SET dp_cdp.consistent = maybe', 'dp_cdp.consistent must be on or off%', 'other values are refused');
SELECT is(current_setting('dp_cdp.consistent'), '', 'and leave the setting as it was');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('other', consistent => true) \g /dev/null
SELECT is(array_agg(dataset || ' ' || consistent ORDER BY dataset), '{clinic false,other true}', 'a dataset is made with it') FROM dp_cdp.datasets WHERE dataset <> 'wide';
RESET SESSION AUTHORIZATION;
SELECT throws_like($$SELECT dp_cdp.alter_dataset('clinic', consistent => 'maybe')$$, 'invalid input syntax for type boolean%', 'it is a boolean');
SELECT is((SELECT count(*) FROM pg_attribute WHERE attrelid = 'dp_cdp_internal.dataset'::regclass AND attname = 'consistent' AND attnotnull), 1::bigint, 'and never NULL');

SELECT * FROM finish();
