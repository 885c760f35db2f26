-- dp_cdp.consistent where persons have several rows and nobody has set limits: each grouping set finds its own, and counts and sums
-- add up all the same, with no more noise.
-- What is told of noise is looked at by chi-square of 50 answers, 1e-12 on each side.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
-- 2000 persons with 1 to 12 rows
CREATE TABLE visits AS SELECT p AS person, substr('wxyz', 1 + (p + i) % 4, 1) AS a, (p * i) % 5 AS b, (p + i) % 100 AS cost, ((p + i) % 100)::numeric / 3 AS price, ((p + i) % 100)::float8 / 7 AS weight
	FROM generate_series(1, 2000) p, generate_series(1, 1 + p % 12) i;
ALTER TABLE visits ALTER a SET NOT NULL, ALTER b SET NOT NULL;
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.01, min_rho => 1e-12, consistent => true), dp_cdp.create_dataset('kept', default_rho => 0.01, min_rho => 1e-12, consistent => true, reuse => '1 day') \g /dev/null
CREATE TABLE kept AS TABLE visits;
ALTER TABLE kept ALTER a SET NOT NULL, ALTER b SET NOT NULL;
SELECT dp_cdp.protect_table('visits', 'clinic', 'person'), dp_cdp.protect_table('kept', 'kept', 'person') \g /dev/null
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100), dp_cdp.set_bounds(t, 'price', 0, 40), dp_cdp.set_bounds(t, 'weight', 0, 20), dp_cdp.set_keys(t, 'a', '{w,x,y,z}'::text[]), dp_cdp.set_keys(t, 'b', '{0,1,2,3,4}'::int[]) FROM unnest('{visits,kept}'::regclass[]) t \g /dev/null
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6) FROM unnest('{clinic,kept}'::text[]) d \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE;

-- keeps what analyst1 is answered
CREATE TABLE answer (name text, a text, b int, gid int, n bigint, s bigint, p numeric, w float8, nd float8, sd float8, pd float8, ne float8, cut float8);
GRANT ALL ON answer TO analyst1;
CREATE FUNCTION keep(name text, sets text DEFAULT 'CUBE (a, b)', settings text DEFAULT '', source text DEFAULT 'visits') RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT sum(rho_spent) FROM dp_cdp_internal.budget);
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	EXECUTE format('INSERT INTO answer SELECT %L, a, b, GROUPING(a, b), dp_count(*), dp_sum(cost), dp_sum(price), dp_sum(weight), dp_noise_stddev(dp_count(*)), dp_noise_stddev(dp_sum(cost)), dp_noise_stddev(dp_sum(price)),
		dp_error_stddev(dp_count(*)), dp_cut(dp_count(*)) FROM %I GROUP BY %s', name, source, sets);
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.rho; RESET dp_cdp.max_contribution; RESET dp_cdp.consistent; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows; RESET work_mem';
	RETURN (SELECT sum(rho_spent) FROM dp_cdp_internal.budget) - before;
END $$;
-- margins that are not the sums of the cells
CREATE FUNCTION off_margins(called text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', count(*) FILTER (WHERE k.n <> f.n), count(*) FILTER (WHERE k.s <> f.s), count(*) FILTER (WHERE k.p <> f.p), count(*) FILTER (WHERE abs(k.w - f.w) > 1e-6 * abs(f.w))) FROM answer k CROSS JOIN LATERAL
		(SELECT sum(f.n) AS n, sum(f.s) AS s, sum(f.p) AS p, sum(f.w) AS w FROM answer f WHERE f.name = called AND f.gid = 0 AND (k.a = f.a OR k.gid & 2 > 0) AND (k.b = f.b OR k.gid & 1 > 0)) f WHERE k.name = called $$;
CREATE TABLE truth AS SELECT a, b, GROUPING(a, b) AS gid, count(*) AS n, sum(cost) AS s, sum(price) AS p FROM visits GROUP BY CUBE (a, b);

SELECT * FROM no_plan();

-- ------------------------------------------------------------------------
-- Limits that are found
-- ------------------------------------------------------------------------

SELECT is(keep('on'), 0.16, 'a cube of four aggregates costs sixteen');
SELECT is(keep('off', settings => 'SET dp_cdp.consistent = off'), 0.16, 'as it does by itself');
SELECT is(off_margins('on'), '0 0 0 0', 'counts and sums add up');
SELECT isnt(off_margins('off'), '0 0 0 0', 'which they do not by themselves');
SELECT is(keep('on, ' || r, settings => 'SET dp_cdp.rho = ' || r) > 0 AND off_margins('on, ' || r) = '0 0 0 0', true, 'and at rho ' || r) FROM unnest('{0.001,0.1,0.5}'::float8[]) r;
SELECT is(keep('rollup', 'ROLLUP (a, b)') > 0 AND off_margins('rollup') = '0 0 0 0', true, 'in a rollup');
SELECT is(keep('memory', settings => 'SET work_mem = ''64kB''') > 0 AND off_margins('memory') = '0 0 0 0', true, 'with little memory');
-- the total has a hard limit, the groups have norms
SELECT is(keep('rows', settings => 'SET dp_cdp.max_rows = 4') > 0 AND off_margins('rows') LIKE '0 0 %', true, 'where some sets find limits and others have them');
SELECT is(keep('hard', settings => 'SET dp_cdp.max_rows = 4; SET dp_cdp.max_groups = 3') > 0 AND off_margins('hard') LIKE '0 0 %', true, 'and where all have them');
SELECT keep('margins', 'GROUPING SETS ((a), (b), ())') \g /dev/null
SELECT is(array_agg(DISTINCT n || ' ' || s || ' ' || p), array_agg(DISTINCT t), 'without the finest set') FROM (SELECT sum(n) AS n, sum(s) AS s, sum(p) AS p FROM answer WHERE name = 'margins' GROUP BY gid) q,
	(SELECT n || ' ' || s || ' ' || p AS t FROM answer WHERE name = 'margins' AND gid = 3) m;
-- what is told is what least squares has: less than a set's own limit costs, which is told without it
CREATE TABLE told (aggregate text, stddev float8, norm float8, cut float8, rho float8);
GRANT ALL ON told TO analyst1;
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE cube AS SELECT a, b, GROUPING(a, b) AS gid, dp_count(*) AS n, dp_noise_stddev(dp_count(*)) AS d, dp_error_stddev(dp_count(*)) AS e, dp_cut(dp_count(*)) AS cut FROM visits GROUP BY CUBE (a, b);
INSERT INTO told SELECT aggregate, stddev, norm, cut, rho FROM dp_cdp.last_release() WHERE "group" IS NULL;
SELECT is((SELECT array_agg(DISTINCT round(stddev::numeric, 6)) FROM told WHERE norm IS NOT NULL), (SELECT array_agg(DISTINCT round(d::numeric, 6)) FROM cube), 'last_release tells the noise of what was shown');
SELECT is(count(*) FILTER (WHERE stddev >= norm / sqrt(2 * rho)), 0::bigint, 'which is below that of each limit: ' || count(*)) FROM told WHERE norm IS NOT NULL;
RESET SESSION AUTHORIZATION;
-- what is cut is in doubt by one share of all groups of a set
SELECT is(count(*) FILTER (WHERE abs(ne - sqrt(nd ^ 2 + (n * doubt) ^ 2)) > 1e-3 + 1e-6 * ne + 0.6 * doubt OR doubt < cut / greatest(1 - cut, 0.01) - 1e-6), 0::bigint, 'errors have what is cut, too: ' || count(*))
	FROM answer k, LATERAL (SELECT sqrt(m.ne ^ 2 - m.nd ^ 2) / m.n AS doubt FROM answer m WHERE m.name = 'on' AND m.gid = k.gid ORDER BY m.n DESC LIMIT 1) d WHERE name = 'on';
-- with a rho at which hardly anything is cut
SELECT keep('near', settings => 'SET dp_cdp.rho = 20') \g /dev/null
SELECT matches(off_margins('near'), '^\d+ 0 0 0$', 'sums add up with little noise, too, where counts may stay as they are');
SELECT is(count(*) FILTER (WHERE abs(k.n - t.n) > 8 * ne + 5 OR abs(k.s - t.s) > 8 * sd + 0.02 * t.s), 0::bigint, 'and they are what plain SQL has: ' || count(*)) FROM answer k JOIN truth t ON t.gid = k.gid AND (t.a, t.b) IS NOT DISTINCT FROM (k.a, k.b) WHERE name = 'near';
-- and one that makes rounding dearer than agreeing: they stay as they are, and nothing fails
SELECT keep('exact', settings => 'SET dp_cdp.rho = 2000') \g /dev/null
SELECT is(split_part(off_margins('exact'), ' ', 2) || ' ' || split_part(off_margins('exact'), ' ', 3), '0 0', 'sums of finer steps agree still');
SELECT is(count(*) FILTER (WHERE abs(k.n - t.n) > 8 * ne + 5), 0::bigint, 'counts are what plain SQL has') FROM answer k JOIN truth t ON t.gid = k.gid AND (t.a, t.b) IS NOT DISTINCT FROM (k.a, k.b) WHERE name = 'exact';

-- ------------------------------------------------------------------------
-- Limits that are set: noise is known before
-- ------------------------------------------------------------------------

SELECT keep('set ' || i, settings => 'SET dp_cdp.max_contribution = 12') FROM generate_series(1, 50) i \g /dev/null
SELECT is(string_agg(DISTINCT off_margins('set ' || i), '; '), '0 0 0 0', 'all add up') FROM generate_series(1, 50) i;
SELECT ok(bool_and(c BETWEEN 7 AND 156 AND s BETWEEN 7 AND 156 AND p BETWEEN 7 AND 156) AND count(*) = 4, 'with the noise that is told, and no bias: ' || string_agg(round(c::numeric, 1) || ' ' || round(s::numeric, 1) || ' ' || round(p::numeric, 1), ', '))
	FROM (SELECT k.gid, sum(((k.n - t.n) / nd) ^ 2) AS c, sum(((k.s - t.s) / sd) ^ 2) AS s, sum(((k.p - t.p) / pd) ^ 2) AS p FROM answer k JOIN truth t ON t.gid = k.gid AND (t.a, t.b) IS NOT DISTINCT FROM (k.a, k.b)
		WHERE name LIKE 'set %' AND coalesce(k.a, 'x') = 'x' AND coalesce(k.b, 3) = 3 GROUP BY 1) q;
SELECT ok(bool_and(nd < 12 / sqrt(0.02) AND sd < 1200 / sqrt(0.02)), 'which is less than that of each set') FROM answer WHERE name = 'set 1';
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.max_contribution = 12;
SELECT is((SELECT array_agg(DISTINCT round(stddev::numeric, 6)) FROM dp_cdp.preview('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)') WHERE stddev IS NOT NULL),
	(SELECT array_agg(DISTINCT round(nd::numeric, 6)) FROM answer WHERE name = 'set 1'), 'the preview tells it');
RESET dp_cdp.max_contribution;
SELECT is((SELECT count(*) FROM dp_cdp.preview('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)') WHERE item = 'aggregate' AND stddev IS NOT NULL), 0::bigint, 'without a limit it is not known before');
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------------------
-- What is told, plans and kept answers
-- ------------------------------------------------------------------------

CREATE FUNCTION explained(query text, pattern text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found bigint := 0;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		found := found + (line ~ pattern)::int;
	END LOOP;
	RESET SESSION AUTHORIZATION;
	RETURN found;
END $$;
SELECT is(explained('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)', 'Consistent: counts and sums are made to add up'), 4::bigint, 'EXPLAIN tells that sets agree');
SELECT is(explained('SELECT a, b, dp_count(*) FROM visits GROUP BY CUBE (a, b)', 'a unit counts up to a norm that is found first'), 4::bigint, 'and that each finds its limit');
SET SESSION AUTHORIZATION analyst1;
SET plan_cache_mode = force_generic_plan;
PREPARE q AS SELECT a, GROUPING(a) AS gid, dp_count(*) AS n FROM visits WHERE cost >= 20 GROUP BY ROLLUP (a);
CREATE FUNCTION pg_temp.run() RETURNS TABLE (a text, gid int, n bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXECUTE q';
END $$;
CREATE TEMP TABLE prepared AS SELECT p, q.* FROM generate_series(1, 3) p, LATERAL pg_temp.run() q WHERE p > 0;
SELECT is(count(*) FILTER (WHERE parts = total), 3::bigint, 'a prepared statement agrees each time') FROM (SELECT p, sum(n) FILTER (WHERE gid = 0) AS parts, max(n) FILTER (WHERE gid = 1) AS total FROM prepared GROUP BY p) s;
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;

SELECT is(keep('bought', source => 'kept'), 0.16, 'what is kept is bought once');
SELECT is(keep('again', source => 'kept'), 0.00, 'and given again');
SELECT is(off_margins('bought') || '; ' || off_margins('again'), '0 0 0 0; 0 0 0 0', 'both add up');
SELECT is(count(*), 0::bigint, 'and are the same') FROM ((SELECT a, b, gid, n, s, p, w, nd, sd, pd, ne, cut FROM answer WHERE name = 'bought' EXCEPT ALL SELECT a, b, gid, n, s, p, w, nd, sd, pd, ne, cut FROM answer WHERE name = 'again')) q;
SELECT is(keep('finest', 'a, b', 'SET dp_cdp.consistent = off', 'kept'), 0.00, 'the finest set is kept by itself');
SELECT ok(bool_or(f.n <> k.n) AND bool_and(f.nd > k.nd), 'as it was drawn') FROM answer f JOIN answer k USING (a, b, gid) WHERE f.name = 'finest' AND k.name = 'bought';
SELECT cmp_ok(keep('dearer', 'ROLLUP (a, b)', 'SET dp_cdp.rho = 0.03', 'kept'), '<=', 0.24, 'three sets made better cost the difference at most, as limits are kept');
SELECT is(keep('uneven', source => 'kept'), 0.00, 'a cube of these is free');
SELECT is(off_margins('dearer') || '; ' || off_margins('uneven'), '0 0 0 0; 0 0 0 0', 'and both add up');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'), 0::bigint, 'the audit adds up');

SELECT * FROM finish();
