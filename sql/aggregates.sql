-- Averages, variances, regression, quantiles, histograms and distinct counts:
-- answers (with so much rho that noise does not show, compared with plain SQL),
-- noise, prices, and what is refused.  Then what tells of errors: dp_margin,
-- dp_noise_stddev, dp_cdp.preview, dp_cdp.last_release.
CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE ROLE regress_dp_team;
GRANT regress_dp_team TO regress_dp_analyst;
CREATE SCHEMA aggregates AUTHORIZATION regress_dp_owner;
GRANT CREATE, USAGE ON SCHEMA aggregates TO regress_dp_analyst, regress_dp_team;
SET search_path = aggregates, public;
SET client_min_messages = warning;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET SESSION AUTHORIZATION regress_dp_owner;
CREATE TABLE wards (dept text PRIMARY KEY, floor int NOT NULL);
INSERT INTO wards VALUES ('a', 1), ('b', 2), ('z', 2);
GRANT SELECT ON wards TO PUBLIC;
CREATE TABLE answers (			-- each row is a unit
	id int PRIMARY KEY, dept text NOT NULL, code int, s smallint, i int, b bigint, r real, f double precision, n numeric,
	d date, ts timestamp, tz timestamptz, t text, flag boolean, j jsonb, cash money, span interval
);
INSERT INTO answers SELECT g, (ARRAY['a', 'b'])[1 + g % 2], g % 2, v, v, v, v, v, v, date '2020-01-01' + v,
	timestamp '2020-01-01' + v * interval '1 day', timestamptz '2020-01-01 00:00Z' + v * interval '1 day',
	't' || g % 7, g % 3 = 0, '{}', v, v * interval '1 day' FROM (SELECT g, (g * g) % 10 AS v FROM generate_series(1, 60) g) s;
INSERT INTO answers (id, dept) VALUES (61, 'a');		-- NULLs
CREATE TABLE visits (			-- a patient has five rows
	id int PRIMARY KEY, patient int, dept text NOT NULL, code int, x numeric, y float8, d date, mood text
);
INSERT INTO visits SELECT g, g % 12, (ARRAY['a', 'b'])[1 + g % 2], g % 2, g % 10, (g * g) % 20, date '2020-01-01' + g % 10, 'm' || g % 4
	FROM generate_series(1, 60) g;
INSERT INTO visits VALUES (61, NULL, 'a', 1, 9, 19, '2020-01-09', 'nobody');
CREATE TABLE strange (			-- each row is a unit
	id int PRIMARY KEY, f float8, n numeric, r real, d date, tz timestamptz
);
INSERT INTO strange VALUES (1, 'NaN', 'NaN', 'NaN', NULL, NULL), (2, 'Infinity', 'Infinity', 'Infinity', 'infinity', 'infinity'),
	(3, '-Infinity', '-Infinity', '-Infinity', '-infinity', '-infinity'), (4, 1e300, 1e300, 1e30, '2020-01-05', '2020-01-05Z'),
	(5, -1e300, -1e300, -1e30, '1800-01-01', '1800-01-01Z'), (6, 4, 4, 4, '2020-01-05', '2020-01-05Z');
CREATE TABLE lone (x float8, y float8);
INSERT INTO lone VALUES (3, 4);
CREATE TABLE busy (patient int, x int);		-- one patient with many rows of 10, ten with one row of 0
INSERT INTO busy SELECT 0, 10 FROM generate_series(1, 1000) UNION ALL SELECT g, 0 FROM generate_series(1, 10) g;
SELECT dp_cdp.create_dataset('aggregates', find_bounds => 0, default_rho => 0.5, max_groups => 5, max_rows => 5);
SELECT dp_cdp.create_dataset('replacing', find_bounds => 0, default_rho => 0.5, max_groups => 5, max_rows => 5, neighbors => 'replace_one');
SELECT dp_cdp.protect_table('answers', 'aggregates', each_row => true), dp_cdp.protect_table('strange', 'aggregates', each_row => true),
	dp_cdp.protect_table('lone', 'aggregates', each_row => true), dp_cdp.protect_table('busy', 'aggregates', unit => 'patient'),
	dp_cdp.protect_table('visits', 'aggregates', unit => 'patient');
CREATE TABLE answers2 AS TABLE answers;
ALTER TABLE answers2 ALTER dept SET NOT NULL;
CREATE TABLE visits2 AS TABLE visits;
ALTER TABLE visits2 ALTER dept SET NOT NULL;
SELECT dp_cdp.protect_table('answers2', 'replacing', each_row => true), dp_cdp.protect_table('visits2', 'replacing', unit => 'patient');
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b', 'z']) FROM unnest('{answers,visits,answers2,visits2}'::regclass[]) t;
SELECT dp_cdp.set_bounds('answers', c, 0, 10) FROM unnest('{s,i,b,r,f,n}'::name[]) c;
SELECT dp_cdp.set_bounds('visits', 'x', 0, 10), dp_cdp.set_bounds('visits', 'y', 0, 20);
SELECT dp_cdp.set_budget('aggregates', r, rho => 1000000) FROM unnest('{regress_dp_analyst,regress_dp_owner,regress_dp_team}'::regrole[]) r;
SELECT dp_cdp.set_budget('replacing', 'regress_dp_analyst', rho => 1000000);

-- --------------------------------------------------------------------------
-- Noise, or about what it is for N rows: a half of rho is for the count of an
-- average's rows, a third for that of a variance's
-- --------------------------------------------------------------------------
SET SESSION AUTHORIZATION regress_dp_analyst;
CREATE FUNCTION noise(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ '(Release|Rho|Delta|Threshold): ' THEN
			RETURN NEXT trim(line);
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION noises(t text, groups text) RETURNS TABLE (aggregate text, noise text) LANGUAGE sql AS $$
	SELECT a, regexp_replace(line, '.*  \((.* rho=.*)\)', '\1')
	FROM unnest(ARRAY['dp_avg({x},0,10)', 'dp_var_pop({x},0,10)', 'dp_stddev({x},0,10)', 'dp_covariance({x},{x},0,10,0,10)',
			'dp_correlation({x},{x},0,10,0,10)', 'dp_regr_slope({x},{x},0,10,0,10)', 'dp_median({x},0,10)', 'dp_min({x},0,10)', 'dp_quantile({x},0.9,0,10)',
			'dp_histogram({x},0,10,5)', 'dp_clipped({x},0,10)', 'dp_bounds({x})', 'dp_count(DISTINCT {x})']) WITH ORDINALITY u (a, o),
		noise(format('SELECT %s FROM %s %s', replace(a, '{x}', CASE WHEN t ~ 'answers' THEN 'f' ELSE 'x' END), t, groups)) line
	WHERE line ~ 'Release' ORDER BY o;
$$;
SELECT a.aggregate, a.noise AS rows, b.noise AS units, c.noise AS grouped_units
	FROM noises('answers', '') WITH ORDINALITY a (aggregate, noise, o), noises('visits', '') WITH ORDINALITY b (aggregate, noise, o),
		noises('visits', 'GROUP BY dept') WITH ORDINALITY c (aggregate, noise, o) WHERE a.o = b.o AND a.o = c.o ORDER BY a.o;
SELECT a.aggregate, a.noise AS rows_replaced, r.noise AS grouped_rows, b.noise AS units_replaced, c.noise AS grouped_units
	FROM noises('answers2', '') WITH ORDINALITY a (aggregate, noise, o), noises('answers2', 'GROUP BY dept') WITH ORDINALITY r (aggregate, noise, o),
		noises('visits2', '') WITH ORDINALITY b (aggregate, noise, o), noises('visits2', 'GROUP BY dept') WITH ORDINALITY c (aggregate, noise, o)
	WHERE a.o = b.o AND a.o = c.o AND a.o = r.o ORDER BY a.o;
-- a unit has at most 256 values in a histogram, whatever max_rows is
SET dp_cdp.max_rows = 1000;
SELECT noise('SELECT dp_histogram(x, 0, 10, 5), dp_median(x), dp_count(DISTINCT x), dp_avg(x), dp_count(*) FROM visits');
RESET dp_cdp.max_rows;
-- each aggregate is charged once; other arguments make another
SELECT noise('SELECT dp_avg(i), dp_avg(i) + 1, dp_avg(i, 0, 9), dp_median(i), dp_quantile(i, ARRAY[0.1, 0.5, 0.9]), dp_median(i) FROM answers');
SELECT noise('SELECT code, dp_avg(x), dp_count(DISTINCT patient) FROM visits GROUP BY code');
SELECT noise('SELECT code, dp_median(x) FROM visits GROUP BY code');
SELECT noise('SELECT dept, dp_median(x) FROM visits GROUP BY ROLLUP (dept)');
SELECT rho_spent FROM dp_cdp.budgets WHERE role = current_user::regrole;

-- --------------------------------------------------------------------------
-- Answers
-- --------------------------------------------------------------------------
SET SESSION AUTHORIZATION regress_dp_owner;		-- who may read, too
SET dp_cdp.rho = 5000;
SET extra_float_digits = 0;
CREATE FUNCTION near(a float8, b float8, tolerance float8 DEFAULT 0.1) RETURNS boolean LANGUAGE sql
	AS 'SELECT abs(a - b) < tolerance OR (a IS NULL AND b IS NULL)';
SELECT near(p.s, e.a, .05) AS s, near(p.i, e.a, .05) AS i, near(p.b, e.a, .05) AS b, near(p.r, e.a, .05) AS r, near(p.f, e.a, .05) AS f, near(p.n, e.a, .05) AS n
	FROM (SELECT dp_avg(s) AS s, dp_avg(i) AS i, dp_avg(b) AS b, dp_avg(r) AS r, dp_avg(f) AS f, dp_avg(n) AS n FROM answers) p,
		(SELECT avg(i) AS a FROM answers) e;
SELECT near(p.v, e.v) AS variance, near(p.vp, e.vp) AS var_pop, near(p.vs, e.v) AS var_samp, near(p.s, e.s, .03) AS stddev, near(p.sp, e.sp, .03) AS stddev_pop,
		near(p.ss, e.s, .03) AS stddev_samp
	FROM (SELECT dp_variance(f) AS v, dp_var_pop(i) AS vp, dp_var_samp(n) AS vs, dp_stddev(s) AS s, dp_stddev_pop(r) AS sp, dp_stddev_samp(b) AS ss FROM answers) p,
		(SELECT variance(f) AS v, var_pop(f) AS vp, stddev(f) AS s, stddev_pop(f) AS sp FROM answers) e;
SELECT near(p.c, e.c) AS covariance, near(p.cp, e.cp) AS covar_pop, near(p.cs, e.c) AS covar_samp, near(p.r, e.r) AS correlation,
		near(p.s, e.s) AS slope, near(p.i, e.i) AS intercept
	FROM (SELECT dp_covariance(f, id % 7, 0, 10, 0, 6) AS c, dp_covar_pop(f, id % 7, 0, 10, 0, 6) AS cp, dp_covar_samp(f, id % 7, 0, 10, 0, 6) AS cs,
			dp_correlation(f, id % 7, 0, 10, 0, 6) AS r, dp_regr_slope(f, id % 7, 0, 10, 0, 6) AS s, dp_regr_intercept(f, id % 7, 0, 10, 0, 6) AS i FROM answers) p,
		(SELECT covar_samp(f, id % 7) AS c, covar_pop(f, id % 7) AS cp, corr(f, id % 7) AS r, regr_slope(f, id % 7) AS s, regr_intercept(f, id % 7) AS i FROM answers) e;
-- the dependent variable is the first
SELECT round(dp_regr_slope(f, f / 2, 0, 10, 0, 5)::numeric, 1) AS slope, round(dp_regr_intercept(f + 3, f / 2, 3, 13, 0, 5)::numeric, 1) AS intercept FROM answers;

-- units have five rows each, so that none is too many
SELECT near(p.a, e.a, .2) AS avg, near(p.v, e.v, .7) AS var_pop, near(p.c, e.c, 1) AS covar_pop, near(p.r, e.r) AS corr, near(p.s, e.s, .3) AS slope, near(p.i, e.i, 1.5) AS intercept
	FROM (SELECT dp_avg(x) AS a, dp_var_pop(x) AS v, dp_covar_pop(y, x) AS c, dp_correlation(y, x) AS r, dp_regr_slope(y, x) AS s, dp_regr_intercept(y, x) AS i FROM visits) p,
		(SELECT avg(x) AS a, var_pop(x) AS v, covar_pop(y, x) AS c, corr(y, x) AS r, regr_slope(y, x) AS s, regr_intercept(y, x) AS i FROM visits WHERE patient IS NOT NULL) e;
SELECT p.dept, near(p.a, e.a, .5) AS avg, near(p.v, e.v, 2) AS var_pop, near(p.r, e.r, .5) AS corr, p.d = e.d AS "distinct", p.h = e.h AS histogram
	FROM (SELECT dept, dp_avg(x) AS a, dp_var_pop(x) AS v, dp_correlation(y, x) AS r, dp_count(DISTINCT x) AS d, dp_histogram(x, 2) AS h FROM visits GROUP BY dept) p
	LEFT JOIN (SELECT dept, avg(x) AS a, var_pop(x) AS v, corr(y, x) AS r, count(DISTINCT x) AS d, ARRAY[count(*) FILTER (WHERE x < 5), count(*) FILTER (WHERE x >= 5)] AS h
		FROM visits WHERE patient IS NOT NULL GROUP BY dept) e USING (dept) ORDER BY 1;

-- too many rows of a unit: all of them are read, and then scaled to max_rows.
-- 5 rows of 10 and 10 rows of 0, not the first five rows of that patient
SELECT near(dp_avg(x, 0, 10), 50 / 15.0, .3) AS avg, near(dp_var_pop(x, 0, 10), 200 / 9.0, 2) AS var_pop, dp_count(x), dp_histogram(x, 0, 10, 2), dp_count(DISTINCT x) FROM busy;
UPDATE busy SET x = 0 WHERE ctid IN (SELECT ctid FROM busy WHERE patient = 0 LIMIT 500);
SELECT near(dp_avg(x, 0, 10), 5, .8) AS avg, dp_count(x), dp_count(DISTINCT x) FROM busy WHERE patient = 0;
SET dp_cdp.max_rows = 20;
SET dp_cdp.rho = 40000;
SELECT near(dp_avg(x, 0, 10), 5, .8) AS avg, dp_count(x) FROM busy WHERE patient = 0;
RESET dp_cdp.max_rows;
SET dp_cdp.rho = 5000;

-- medians and other quantiles, within a leaf of 1/4096 of the bounds
SELECT dp_median(s) AS s, dp_median(i) AS i, dp_median(b) AS b, round(dp_median(r)::numeric, 1) AS r, round(dp_median(f)::numeric, 1) AS f, round(dp_median(n), 1) AS n FROM answers WHERE i <> 5;
SELECT dp_quantile(i, 0) AS q0, dp_quantile(i, 0.25) AS q25, dp_quantile(i, 1) AS q100, dp_quantile(i, ARRAY[0.1, 0.6, 0.9]) AS several, dp_quantile(i, '{0.9,0.1}'::float8[]) AS other_order,
	dp_quantile(i, 0.5, 3, 8) AS bounds FROM answers;
SELECT dp_min(i), dp_max(i), dp_min(i, 2, 8) AS clamped_min, dp_max(i, 2, 8) AS clamped_max, round(dp_min(f)::numeric, 1) AS f, dp_min(DISTINCT s) AS "distinct" FROM answers;
SELECT dp_median(d, '2020-01-01', '2020-01-11') AS median, dp_quantile(d, ARRAY[0.1, 0.8], '2020-01-01', '2020-01-11') AS quantiles,
	dp_min(d, '2020-01-01', '2020-01-11') AS min, dp_max(d, '2020-01-01', '2020-01-11') AS max, dp_max(d, '2020-01-01', '2020-01-05') AS clamped FROM answers WHERE i <> 5;
SELECT date_trunc('hour', dp_min(ts, '2020-01-01', '2020-01-11')) AS min, date_trunc('hour', dp_max(ts, '2020-01-01', '2020-01-11')) AS max,
	date_trunc('hour', dp_median(tz, '2020-01-01 00:00Z', '2020-01-11 00:00Z') AT TIME ZONE 'UTC') AS median FROM answers WHERE i <> 5;
SELECT dp_histogram(i, 5) AS i, dp_histogram(n, 1) AS one, dp_histogram(f, 3, 5, 2) AS clamped, dp_histogram(d, '2020-01-01', '2020-01-11', 10) AS dates,
	dp_histogram(ts, '2020-01-01', '2020-01-11', 5) AS timestamps, dp_histogram(tz, '2020-01-01 00:00Z', '2020-01-11 00:00Z', 2) AS zones FROM answers;
SELECT width_bucket(i, 0, 10, 5) AS bin, count(*) FROM answers GROUP BY 1 ORDER BY 1;
SELECT round(dp_clipped(i, 3, 5)::numeric, 2) AS i, round(dp_clipped(f)::numeric, 2) AS none, round(dp_clipped(d, '2020-01-03', '2020-01-07')::numeric, 2) AS d,
	dp_bounds(i) AS bounds, dp_bounds(-f) AS negative, dp_bounds(f - 5) AS both, dp_bounds(n * 1000) AS far FROM answers;
SELECT count(*) FILTER (WHERE i < 3 OR i > 5) / count(i)::numeric AS i, count(*) FILTER (WHERE i < 2 OR i > 6) / count(i)::numeric AS d FROM answers;
SELECT dp_count(DISTINCT i) AS i, dp_count(DISTINCT n) AS n, dp_count(DISTINCT t) AS t, dp_count(DISTINCT d) AS d, dp_count(DISTINCT flag) AS flag, dp_count(DISTINCT tz) AS tz,
	dp_count(DISTINCT i / 2) AS half, dp_count(DISTINCT 1) AS one, dp_count(DISTINCT NULL::int) AS none, dp_count(DISTINCT id) AS id FROM answers;
SELECT dp_count(DISTINCT x) AS x, dp_count(DISTINCT mood) AS mood, dp_count(DISTINCT patient) AS units, dp_count(DISTINCT d) AS d, dp_count(DISTINCT (x > 4)) AS b FROM visits;
SELECT dept, dp_count(DISTINCT t) AS t, dp_median(i) AS median, dp_min(i) AS min, dp_max(i) AS max, dp_histogram(i, 2) AS h, dp_bounds(i) AS bounds FROM answers GROUP BY dept;
SELECT dept, count(DISTINCT t) AS t, percentile_disc(0.5) WITHIN GROUP (ORDER BY i) AS median, min(i), max(i), count(*) FILTER (WHERE i < 5) AS h1, count(*) FILTER (WHERE i >= 5) AS h2
	FROM answers GROUP BY dept ORDER BY dept;

-- NaN counts as NULL, infinities as values beyond the bounds
SELECT round(dp_avg(f, 0, 8)::numeric) AS f, round(dp_avg(n, 0, 8)::numeric) AS n, round(dp_avg(r, 0, 8)::numeric) AS r, dp_histogram(f, 0, 8, 2) AS hf, dp_histogram(n, 0, 8, 2) AS hn,
	dp_histogram(d, '2020-01-01', '2020-01-09', 4) AS hd, dp_histogram(tz, '2020-01-01 00:00Z', '2020-01-09 00:00Z', 4) AS htz, dp_count(DISTINCT f) AS d FROM strange;
SELECT round(dp_clipped(f, 0, 8)::numeric, 1) AS f, round(dp_clipped(n, 0, 8)::numeric, 1) AS n, round(dp_clipped(d, '2020-01-01', '2020-01-09')::numeric, 1) AS d, dp_bounds(f) = dp_bounds(n) AS same_bounds,
	dp_max(d, '2020-01-01', '2020-01-09') AS max, near(dp_covar_pop(f, n, 0, 8, 0, 8), 12.8, 1) AS covar_pop FROM strange;

-- nothing, and one row
SELECT near(dp_avg(f), 5) AS avg, near(dp_var_pop(f), 12.5) AS var_pop, near(dp_covar_pop(f, n), 0) AS covar_pop, near(dp_correlation(f, n), 0) AS corr, dp_median(f), dp_min(f), dp_max(f), dp_quantile(f, 0.1) AS q,
	dp_histogram(f, 2), dp_clipped(f), dp_bounds(f), dp_count(DISTINCT f) FROM answers WHERE false;
SELECT near(dp_avg(x), 5) AS avg, dp_median(x), dp_histogram(x, 2), dp_bounds(x), dp_count(DISTINCT x) FROM visits WHERE x > 99;
SELECT near(dp_avg(x, 0, 10), 3, 1) AS avg, near(dp_var_pop(x, 0, 10), 0, 5) AS var_pop, dp_histogram(x, 0, 10, 5), dp_bounds(x), dp_count(DISTINCT x), dp_clipped(x, 0, 10), near(dp_median(x, 0, 10), 3, .1) AS median FROM lone;
SELECT dp_median(NULL::int, 0, 10), dp_histogram(NULL::float8, 0, 10, 2) FROM answers;

-- the same with parallel workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT dept, round(dp_avg(f)::numeric) AS avg, dp_median(i) AS median, dp_histogram(i, 5) AS h, dp_count(DISTINCT t) AS t FROM answers GROUP BY dept;
SELECT dept, round(dp_avg(x)::numeric) AS avg, dp_histogram(x, 5) AS h, dp_count(DISTINCT mood) AS mood FROM visits GROUP BY dept;
SET max_parallel_workers_per_gather = 0;
SELECT dept, round(dp_avg(f)::numeric) AS avg, dp_median(i) AS median, dp_histogram(i, 5) AS h, dp_count(DISTINCT t) AS t FROM answers GROUP BY dept;
SELECT dept, round(dp_avg(x)::numeric) AS avg, dp_histogram(x, 5) AS h, dp_count(DISTINCT mood) AS mood FROM visits GROUP BY dept;
RESET ALL;
SET search_path = aggregates, public;
SET client_min_messages = warning;
SET dp_cdp.rho = 5000;
SET extra_float_digits = 0;

-- --------------------------------------------------------------------------
-- As analysts and their tools write it
-- --------------------------------------------------------------------------
SET SESSION AUTHORIZATION regress_dp_analyst;
-- standard names: PostgreSQL's types of result
CREATE TEMP TABLE types AS SELECT avg(s) AS avg_s, avg(i) AS avg_i, avg(b) AS avg_b, avg(r) AS avg_r, avg(f) AS avg_f, avg(n) AS avg_n,
	variance(i) AS variance_i, var_samp(b) AS var_samp_b, var_pop(f) AS var_pop_f, stddev(s) AS stddev_s, stddev_samp(r) AS stddev_samp_r, stddev_pop(n) AS stddev_pop_n,
	min(s) AS min_s, max(i) AS max_i, min(b) AS min_b, max(r) AS max_r, min(f) AS min_f, max(n) AS max_n,
	corr(f, r) AS corr, covar_pop(f, i) AS covar_pop, covar_samp(f, n) AS covar_samp, regr_slope(f, i) AS regr_slope, regr_intercept(f, i) AS regr_intercept,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS pc, percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY f) AS pcs, percentile_cont(0.5) WITHIN GROUP (ORDER BY i) AS pc_i,
	count(DISTINCT t) AS count_distinct FROM answers;
CREATE TEMP TABLE private_types AS SELECT dp_avg(n) AS avg, dp_var_pop(i) AS var_pop, dp_stddev(r) AS stddev, dp_covariance(i, n) AS covariance, dp_median(s) AS median_s, dp_median(n) AS median_n,
	dp_min(r) AS min_r, dp_max(d, '2020-01-01', '2020-01-11') AS max_d, dp_quantile(ts, 0.5, '2020-01-01', '2020-01-11') AS q_ts, dp_quantile(tz, ARRAY[0.5], '2020-01-01', '2020-01-11') AS q_tz,
	dp_quantile(i, 0.5, 0, 10.5) AS q_numeric, dp_quantile(i, 0.5, 0, 10::bigint) AS q_bigint, dp_histogram(i, 2) AS histogram, dp_clipped(i) AS clipped, dp_bounds(i) AS bounds, dp_count(DISTINCT t) AS count FROM answers;
SELECT c.relname, string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
	WHERE attrelid IN ('types'::regclass, 'private_types'::regclass) AND attnum > 0 GROUP BY 1;
SELECT round(avg_i, 1) AS avg, round(stddev_pop_n, 1) AS stddev, min_s, max_i, round(pc::numeric, 1) AS pc, count_distinct FROM types;
SELECT min(d), max(d) FROM answers;
DROP TABLE types, private_types;

-- known bounds go through casts among numbers, arithmetic, names and subqueries
SELECT round(dp_avg(i::float8)::numeric, 1) AS f, round(dp_avg(f::int)::numeric, 1) AS i, round(avg(n::numeric(10, 2)), 1) AS n, dp_median(n::int) AS m FROM answers;
SELECT round(dp_avg(y)::numeric, 1) AS avg, dp_median(z) AS median FROM (SELECT i AS y, i::bigint AS z FROM answers WHERE i <> 5) q;
SELECT round(dp_avg(i + 1)::numeric, 1) AS avg FROM answers;
SELECT dp_median(y) FROM (SELECT i + 1 AS y FROM answers) q;
-- and what the query itself says: constants, branches of CASE, booleans as numbers; sigma is a hundredth of the sensitivity
SELECT noise('SELECT sum(1), sum(CASE WHEN flag THEN 3 ELSE -1.5 END), sum(-2::float8), sum(flag::int), sum(CASE WHEN flag THEN i ELSE 4 END) FROM answers');
SELECT noise('SELECT sum(1), sum(CASE WHEN code = 1 THEN 3 END), sum(CASE WHEN code = 1 THEN x ELSE 0 END), sum(greatest(x, 0)), sum(CASE WHEN code = 1 THEN x ELSE 14 END) FROM visits');
-- what a unit adds up to is max_rows times that, or less, where it is said; where each row is a unit, the row
SELECT noise('SELECT dp_sum(x, 0, 10, 0, 20), dp_sum(x, -1, 10, -3, 1e9), dp_sum(y, 5, 20, 0, 50), dp_clipped_totals(x), dp_clipped_totals(y, 0, 20, 0, 30) FROM visits');
SELECT noise('SELECT dept, dp_sum(x, 0, 10, 0, 20), dp_clipped_totals(x, 0, 10) FROM visits GROUP BY dept');
SELECT noise('SELECT dept, dp_sum(x, 0, 10, 0, 20), dp_clipped_totals(x, 0, 10) FROM visits2 GROUP BY dept');
SELECT noise('SELECT dp_sum(i, 0, 10, 0, 4), dp_sum(i, 2, 10, -1, 4), dp_clipped_totals(i, 0, 10, 0, 4) FROM answers');
SELECT pg_typeof(dp_sum(s, 0, 9, 0, 5)) AS s, pg_typeof(dp_sum(i, 0, 9, 0, 5.5)) AS i, pg_typeof(dp_sum(b, 0::float8, 9, 0, 5)) AS b, pg_typeof(dp_sum(r, 0, 9, 0, 5)) AS r,
	pg_typeof(dp_sum(f, '0', '9', '0', '5')) AS f, pg_typeof(dp_sum(n, '0'::text, '9'::text, '0'::text, '5'::text)) AS n, pg_typeof(dp_clipped_totals(i, 0, 9)) AS clipped FROM answers;
SET dp_cdp.max_rows = 3;
SELECT noise('SELECT sum(1), sum(z), dp_sum((code = 1)::int) FROM (SELECT CASE WHEN code = 1 THEN -1 ELSE 1 END AS z, code FROM visits) q');
RESET dp_cdp.max_rows;
CREATE FUNCTION known() RETURNS text LANGUAGE sql AS $$
	SELECT sum(1) || ' ' || sum(CASE WHEN flag THEN 1 ELSE 0 END) || ' ' || round(avg(flag::int), 1) || ' ' || (avg(CASE WHEN flag THEN i END) BETWEEN 4.3 AND 4.7) || ' ' ||
		sum(coalesce(i, 10)) || ' ' || sum(nullif(i, 9)) || ' ' || round(sum(CASE WHEN flag THEN i::numeric WHEN i > 5 THEN 2.5 END) / 2) FROM answers $$;
SELECT known() AS private;
SELECT sum(CASE WHEN code = 1 THEN 1 ELSE 0 END) AS private, sum(-2) AS minus FROM visits;
RESET SESSION AUTHORIZATION;
SELECT known() AS exact;
SET SESSION AUTHORIZATION regress_dp_analyst;
SELECT sum(0) FROM answers;
SELECT round(avg(CASE WHEN flag THEN 'NaN'::float8 ELSE 0 END)::numeric, 1) AS avg FROM answers;
SELECT avg(CASE WHEN flag THEN id ELSE 0 END) FROM answers;
PREPARE given(int) AS SELECT sum(CASE WHEN flag THEN $1 ELSE 0 END) FROM answers;
EXECUTE given(1);
SELECT dp_covariance(f, id) FROM answers;

-- FILTER, HAVING, ORDER BY, grouping sets, joins
SELECT round(dp_avg(i) FILTER (WHERE i < 5)::numeric, 1) AS avg, dp_median(i) FILTER (WHERE flag AND i <> 5) AS median, dp_histogram(i, 5) FILTER (WHERE i > 3) AS h, dp_count(DISTINCT i) FILTER (WHERE i > 3) AS d,
	round(dp_covar_pop(f, i) FILTER (WHERE i = 4)::numeric) AS c, round(dp_clipped(i, 0, 4) FILTER (WHERE i > 4)::numeric) AS clipped FROM answers;
SELECT dp_count(DISTINCT x) FILTER (WHERE x > 6) AS d, dp_histogram(x, 2) FILTER (WHERE x > 6) AS h, round(dp_avg(x) FILTER (WHERE x > 8)::numeric) AS avg FROM visits;
SELECT dept, round(dp_avg(f)) AS avg FROM answers GROUP BY dept HAVING dp_count(DISTINCT i) > 2 ORDER BY dp_avg(f) DESC;
SELECT dept, grouping(dept), dp_histogram(i, 2) AS h, round(dp_avg(f) - 0.2) AS avg, dp_count(DISTINCT t) AS t FROM answers GROUP BY CUBE (dept) ORDER BY 2, 1;
SELECT floor, dp_histogram(i, 2) AS h, dp_count(DISTINCT t) AS t FROM answers JOIN wards USING (dept) GROUP BY floor ORDER BY 1;
SELECT w.floor, dp_histogram(x, 2) AS h, dp_count(DISTINCT mood) AS mood FROM visits v JOIN wards w USING (dept) GROUP BY w.floor ORDER BY 1;
SELECT dp_histogram(x, 2) AS h, round(dp_avg(x)) AS avg, dp_count(DISTINCT mood) AS mood FROM visits v JOIN wards w USING (dept) WHERE floor = 1;
SELECT round(dp_avg(n, 0, 10)) AS avg, dp_median(n, 0, 10) AS median, dp_histogram(n, 0, 10, 2) AS h, dp_count(DISTINCT n) AS d FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) q;
SELECT code, dp_histogram(x, 2) AS h FROM visits GROUP BY code;
SELECT h[1] + h[2] AS n, cardinality(h) FROM (SELECT dp_histogram(i, 2) AS h FROM answers) q;
SELECT bin, n FROM (SELECT dp_histogram(i, 2) AS h FROM answers) q, unnest(h) WITH ORDINALITY u (n, bin);

-- prepared: bounds, quantiles and bins as parameters, also of type text
SET dp_cdp.rho = 500;
PREPARE q(float8, int, int) AS SELECT dp_quantile(i, $1, $2, $3) FROM answers WHERE i <> 5;
PREPARE qs(float8[]) AS SELECT dp_quantile(i, $1) FROM answers WHERE i <> 5;
PREPARE h(int) AS SELECT dp_histogram(i, $1) FROM answers;
PREPARE t(text, text) AS SELECT round(dp_avg(f, $1, $2)) AS avg FROM answers WHERE i <> 5;
PREPARE d(date, date) AS SELECT dp_histogram(d, $1, $2, 2) FROM answers;
PREPARE m(float8) AS SELECT round(dp_margin(dp_count(*), $1)::numeric, 4) AS margin FROM answers;
PREPARE c(float8) AS SELECT round(percentile_cont($1) WITHIN GROUP (ORDER BY f)::numeric) AS q FROM answers WHERE i <> 5;
CREATE FUNCTION with_parameters() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE q text; answer text;
BEGIN
	FOREACH q IN ARRAY ARRAY['q(0.9, 0, 10)', 'q(0.1, 0, 10)', 'q(1.1, 0, 10)', 'q(NULL, 0, 10)', 'q(0.5, 10, 0)', 'q(0.5, NULL, 1)', 'qs(''{0.9}'')', 'qs(''{}'')', 'qs(NULL)',
			'h(2)', 'h(0)', 'h(NULL)', 't(''0'', ''10'')', 't(''0'', ''a'')', 't(''NaN'', ''1'')', 't(NULL, ''1'')', 'd(''2020-01-01'', ''2020-01-11'')', 'd(''-infinity'', ''2020-01-11'')',
			'm(0.9)', 'c(0.9)', 'c(-1)'] LOOP
		BEGIN
			EXECUTE 'EXECUTE ' || q INTO answer;
			RETURN NEXT q || ': ' || answer;
		EXCEPTION WHEN OTHERS THEN
			RETURN NEXT q || ': ' || SQLSTATE || ' ' || SQLERRM;
		END;
	END LOOP;
END $$;
SELECT with_parameters();
SET plan_cache_mode = force_generic_plan;
SELECT with_parameters();
RESET plan_cache_mode;
DEALLOCATE ALL;
RESET dp_cdp.rho;

-- --------------------------------------------------------------------------
-- Refused, and nothing spent
-- --------------------------------------------------------------------------
CREATE TEMP TABLE before AS SELECT sum(rho_spent) AS rho_spent FROM dp_cdp.budgets;
\set VERBOSITY terse
-- types
SELECT dp_avg(t, 0, 1) FROM answers;
SELECT dp_avg(d) FROM answers;
SELECT dp_avg(span, 0, 1) FROM answers;
SELECT dp_correlation(f, flag, 0, 1, 0, 1) FROM answers;
SELECT dp_median(flag) FROM answers;
SELECT dp_max(t, 'a', 'b') FROM answers;
SELECT dp_histogram(t, 5) FROM answers;
SELECT dp_clipped(j) FROM answers;
SELECT dp_bounds(d) FROM answers;
SELECT dp_count(DISTINCT j) FROM answers;
SELECT dp_count(DISTINCT cash) FROM answers;
SELECT avg(span) FROM answers;
SELECT max(t) FROM answers;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY span) FROM answers;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY t) FROM answers;
SELECT mode() WITHIN GROUP (ORDER BY i) FROM answers;
SELECT bit_and(i) FROM answers;
-- bounds
SELECT dp_avg(id) FROM answers;
SELECT dp_median(id + 1) FROM answers;
SELECT dp_quantile(id, 0.5) FROM answers;
SELECT dp_histogram(id, 5) FROM answers;
SELECT dp_covariance(f, id) FROM answers;
SELECT dp_avg(i, 10, 0) FROM answers;
SELECT dp_avg(i, 5, 5) FROM answers;
SELECT dp_avg(i, NULL, 5) FROM answers;
SELECT dp_avg(i, 'NaN', 5) FROM answers;
SELECT dp_avg(i, 0, 'Infinity'::float8) FROM answers;
SELECT dp_avg(n, 0, 'Infinity'::numeric) FROM answers;
SELECT dp_avg(n, 0, 1e400) FROM answers;
SELECT dp_avg(i, 0) FROM answers;
SELECT dp_avg(i, 0, n) FROM answers;
SELECT dp_avg(i, 0, random()) FROM answers;
SELECT dp_avg(i, 0, (SELECT 5)) FROM answers;
SELECT dp_covariance(f, i, 0, 1, 1, 0) FROM answers;
SELECT dp_covariance(f, i, 0, 1) FROM answers;
SELECT dp_median(i, 10, 0) FROM answers;
SELECT dp_median(f, 'NaN', 1) FROM answers;
SELECT dp_median(d, '-infinity', '2020-01-01') FROM answers;
SELECT dp_median(ts, '2020-01-01', 'infinity') FROM answers;
SELECT dp_median(i, NULL, 1) FROM answers;
SELECT dp_histogram(i, 10, 0, 5) FROM answers;
SELECT dp_clipped(i, 5, 5) FROM answers;
-- quantiles
SELECT dp_quantile(i, 1.5) FROM answers;
SELECT dp_quantile(i, -0.1) FROM answers;
SELECT dp_quantile(i, 'NaN') FROM answers;
SELECT dp_quantile(i, NULL) FROM answers;
SELECT dp_quantile(i, '{}'::float8[]) FROM answers;
SELECT dp_quantile(i, NULL::float8[]) FROM answers;
SELECT dp_quantile(i, '{0.5,NULL}'::float8[]) FROM answers;
SELECT dp_quantile(i, '{{0.5},{0.6}}'::float8[]) FROM answers;
SELECT dp_quantile(i, '{0.5,1.1}'::float8[]) FROM answers;
SELECT dp_quantile(i, f) FROM answers;
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f) FROM answers;
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f DESC) FROM answers;
PREPARE many(float8[]) AS SELECT cardinality(dp_quantile(i, $1)) FROM answers;
EXECUTE many(array_fill(0.5, ARRAY[1001]));
DEALLOCATE many;
-- bins
SELECT dp_histogram(i, 0) FROM answers;
SELECT dp_histogram(i, -1) FROM answers;
SELECT dp_histogram(i, NULL) FROM answers;
SELECT dp_histogram(i, 10001) FROM answers;
SELECT dp_histogram(i, i) FROM answers;
SELECT dp_histogram(i, 0, 10) FROM answers;
-- modifiers
SELECT dp_avg(DISTINCT i) FROM answers;
SELECT corr(DISTINCT f, f) FROM answers;
SELECT dp_median(DISTINCT i) FROM answers;
SELECT dp_histogram(DISTINCT i, 5) FROM answers;
SELECT dp_avg(i) OVER () FROM answers;
SELECT dp_median(i) OVER (PARTITION BY dept) FROM answers;
SELECT dp_avg(i ORDER BY i) FROM answers;
SELECT dp_histogram(i, 5 ORDER BY id) FROM answers;
SELECT dp_avg(dp_avg(i)) FROM answers;
SELECT dp_avg(md5(i::text)::int, 0, 1) FROM answers;
-- companions
SELECT dp_margin(n) FROM (SELECT dp_count(*) AS n FROM answers) q;
SELECT dp_noise_stddev(sqrt(dp_count(*))) FROM answers;
SELECT dp_margin(greatest(dp_count(*), 0)) FROM answers;
SELECT dp_margin(dp_count(*)::text) FROM answers;
SELECT dept, dp_noise_stddev(dept), dp_count(*) FROM answers GROUP BY dept;
SELECT dept, dp_noise_stddev(sum(dp_count(*)) OVER ()) FROM answers GROUP BY dept;
SELECT * FROM (SELECT dp_count(*) AS n FROM answers) q ORDER BY dp_margin(n);
WITH r AS (SELECT dp_count(*) AS n FROM answers) SELECT (SELECT dp_noise_stddev(n)) FROM r;
SELECT dp_noise_stddev(i) FROM answers;
SELECT dp_margin(dp_count(*), 0) FROM answers;
SELECT dp_margin(dp_count(*), 1) FROM answers;
SELECT dp_margin(dp_count(*), 'NaN') FROM answers;
SELECT dp_margin(avg(i), -0.5) FROM answers;
SELECT dp_noise_stddev(1);
-- sizes
SELECT string_agg(format('dp_correlation(x, y) FILTER (WHERE x > %s)', g), ', ') AS many FROM generate_series(1, 15) g \gset
SELECT :many, dp_count(*) AS a, dp_sum(x) AS b, dp_sum(y) AS c, dp_count(x) AS d, dp_count(y) AS e, dp_sum(x + 1) AS f FROM visits GROUP BY dept;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_dp_owner;
SELECT dp_cdp.set_keys('answers', 'id', (SELECT array_agg(g) FROM generate_series(1, 16385) g));
SET SESSION AUTHORIZATION regress_dp_analyst;
SELECT id, dp_median(i) FROM answers GROUP BY id;
SELECT id, dept, dp_histogram(i, 10000) FROM answers GROUP BY id, dept;
SELECT count(*) FROM (SELECT id, dp_histogram(i, 5) FROM answers GROUP BY id) q WHERE false;
\set VERBOSITY sqlstate
SELECT dp_avg(t, 0, 1) FROM answers;				-- ZC002
SELECT dp_avg(id) FROM answers;						-- ZC004
SELECT dp_avg(i, 10, 0) FROM answers;				-- ZC004
SELECT dp_quantile(i, 2) FROM answers;				-- ZC004
SELECT dp_histogram(i, 0) FROM answers;				-- ZC004
SELECT dp_avg(DISTINCT i) FROM answers;				-- ZC002
SELECT dp_avg(i) OVER () FROM answers;				-- ZC002
SELECT dp_margin(n) FROM (SELECT dp_count(*) AS n FROM answers) q;	-- ZC002
SELECT dp_margin(dp_count(*), 0) FROM answers;		-- ZC004
SELECT id, dp_median(i) FROM answers GROUP BY id;	-- ZC002
\set VERBOSITY default
SELECT b.rho_spent = (SELECT sum(rho_spent) FROM dp_cdp.budgets) AS nothing_spent FROM before b;
SELECT dp_max(t, 'a', 'b') FROM answers;				-- with its position

-- --------------------------------------------------------------------------
-- Errors, before and after
-- --------------------------------------------------------------------------
-- of a count and a sum they are known; of others they are those of the answer
SELECT dept, dp_noise_stddev(dp_count(*)) AS stddev, round(dp_margin(dp_count(*))::numeric, 3) AS margin, round(dp_margin(dp_count(*), 0.5)::numeric, 3) AS half,
	dp_noise_stddev(count(*)) = dp_noise_stddev(dp_count(*)) AS same FROM answers GROUP BY dept HAVING dp_noise_stddev(dp_count(*)) < 2 ORDER BY dp_noise_stddev(dp_count(*)), dept;
SELECT dp_margin(dp_count(*), NULL) AS unknown, dp_noise_stddev(dp_histogram(i, 5)) AS histogram, dp_noise_stddev(dp_sum(i)) AS sum FROM answers;
SELECT sum(dp_noise_stddev(dp_count(*))) OVER () AS sum FROM answers GROUP BY dept;
SELECT bool_and(e > 0 AND e < 100) AS positive FROM (SELECT ARRAY[dp_noise_stddev(dp_avg(i)), dp_margin(dp_median(i)), dp_margin(dp_min(i)), dp_margin(dp_var_pop(i)), dp_noise_stddev(dp_clipped(i)),
	dp_noise_stddev(dp_correlation(i, f)), dp_noise_stddev(dp_bounds(i)), dp_noise_stddev(dp_quantile(i, ARRAY[0.1, 0.9]))] AS es FROM answers) q, unnest(es) e;
-- of arithmetic, to first order
SELECT dp_noise_stddev(dp_count(*) + 1) AS plus, dp_noise_stddev(-dp_count(*)) AS minus, dp_noise_stddev(dp_count(*) + dp_count(*)) AS same, dp_noise_stddev(2.5 * dp_count(*)) AS product,
	round(dp_noise_stddev(dp_sum(i) - 2 * dp_count(*))::numeric, 6) AS several, round(dp_margin(dp_count(*)::numeric / 4, 0.5)::numeric, 6) AS margin, dp_noise_stddev(dp_count(*) - dp_count(*)) AS none FROM answers;
SELECT near(e * n * n, sqrt(n * n * 100 + s * s), 1e-6) AS ratio FROM (SELECT dp_count(*) AS n, dp_sum(i) AS s, dp_noise_stddev(dp_sum(i)::float8 / dp_count(*)) AS e FROM answers) q;
-- they are free, and their aggregate is released once
SELECT rho_spent AS before FROM dp_cdp.budgets WHERE role = current_user::regrole AND dataset = 'aggregates' \gset
SELECT dp_avg(i) BETWEEN 0 AND 10 AS avg, dp_margin(dp_avg(i)) / dp_noise_stddev(dp_avg(i)) BETWEEN 1.95 AND 1.96 AS ratio FROM answers;
SELECT rho_spent - :before AS spent FROM dp_cdp.budgets WHERE role = current_user::regrole AND dataset = 'aggregates';

-- preview
SET dp_cdp.rho = 2;
CREATE FUNCTION preview(query text) RETURNS TABLE (item text, name text, dataset text, sensitivity numeric, stddev numeric, margin numeric, rho numeric, delta numeric) LANGUAGE sql AS $$
	SELECT item, name, dataset, round(sensitivity::numeric, 3), round(stddev::numeric, 3), round(margin::numeric, 3), CASE WHEN item <> 'remains' THEN rho END, CASE WHEN item <> 'remains' THEN delta END
	FROM dp_cdp.preview(query) $$;
SELECT rho_spent AS before FROM dp_cdp.budgets WHERE role = current_user::regrole AND dataset = 'aggregates' \gset
SELECT * FROM preview('SELECT dp_count(*), dp_sum(i), avg(i), dp_median(i), dp_histogram(i, 5), dp_count(DISTINCT t) FROM answers');
SELECT * FROM preview('SELECT dept, dp_count(*), avg(x), dp_histogram(x, 5), dp_count(DISTINCT x), dp_margin(dp_var_pop(x)) FROM visits GROUP BY dept');
SELECT * FROM preview('SELECT code, dp_sum(x) FROM visits GROUP BY code');
SELECT * FROM preview('SELECT w.floor, grouping(floor), dp_count(*) FROM visits v JOIN wards w USING (dept) GROUP BY GROUPING SETS ((floor), ())');
SELECT * FROM preview('SELECT dp_count(*) FROM answers UNION ALL SELECT dp_count(*) FROM answers2');
SELECT * FROM preview('WITH r AS (SELECT dp_count(*) AS n FROM answers) SELECT a.n, b.n, (SELECT dp_sum(i) FROM answers) FROM r a, r b');
SELECT * FROM preview('SELECT dp_avg(n, 0, 10) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) q');
-- sums and differences have an error, too; ratios depend on the answer
SELECT * FROM preview('SELECT dp_count(*) - 2 * dp_count(DISTINCT patient), dp_count(*) / 4.0, dp_count(*) / dp_count(DISTINCT patient), -dp_count(*) + $$1$$ FROM visits');
SELECT * FROM preview('SELECT 1');
SELECT * FROM preview(NULL);
-- what remains is before, less the price
SELECT item, name, rho = 1000000 - :before - 2 AS rho FROM dp_cdp.preview('SELECT dp_count(*) FROM answers') WHERE item = 'remains' ORDER BY name;
-- as the query itself would be refused
SELECT * FROM preview('SELECT * FROM answers');
SELECT * FROM preview('SELECT dp_avg(id) FROM answers');
SELECT * FROM dp_cdp.preview('SELECT dp_avg(i, 1, 0) FROM answers');
SELECT * FROM dp_cdp.preview('SELECT dp_margin(n) FROM (SELECT dp_count(*) AS n FROM answers) q');
SELECT * FROM dp_cdp.preview('SELECT dp_margin(dp_count(*), 2) FROM answers');
SELECT * FROM dp_cdp.preview('SELECT rolpassword FROM pg_authid');
SELECT * FROM dp_cdp.preview('SELECT dp_avg(i, $1, 0) FROM answers');
SELECT * FROM dp_cdp.preview('SELEC dp_count(*) FROM answers');
SELECT * FROM dp_cdp.preview('');
SELECT * FROM dp_cdp.preview('SELECT 1; SELECT 2');
SELECT * FROM dp_cdp.preview('DELETE FROM answers');
SELECT * FROM dp_cdp.preview('EXPLAIN SELECT dp_count(*) FROM answers');
SELECT * FROM dp_cdp.preview('CREATE TABLE copy AS SELECT dp_count(*) FROM answers');
SELECT * FROM dp_cdp.preview('SELECT dp_count(*) INTO copy FROM answers');
SELECT rho_spent - :before AS spent FROM dp_cdp.budgets WHERE role = current_user::regrole AND dataset = 'aggregates';

-- what was released last
\c -
SET SESSION AUTHORIZATION regress_dp_analyst;
SET search_path = aggregates, public;
SET dp_cdp.rho = 2;
CREATE FUNCTION last() RETURNS TABLE (aggregate text, dataset text, "group" text, sensitivity numeric, stddev text, rho numeric, delta numeric) LANGUAGE sql AS $$
	SELECT aggregate, dataset, "group", round(sensitivity::numeric, 3), CASE WHEN "group" IS NULL THEN round(stddev::numeric, 3)::text WHEN stddev > 0 AND margin / stddev BETWEEN 1.95 AND 1.97 THEN '> 0' END, rho, delta
	FROM dp_cdp.last_release() $$;
SELECT * FROM last();
SELECT * FROM dp_cdp.preview('SELECT dp_count(*) FROM answers') WHERE false;
SELECT * FROM last();
SELECT dp_count(*) IS NULL AS answered, avg(i) IS NULL AS averaged FROM answers;
SELECT * FROM last();
SELECT count(m) FROM (SELECT dept, dp_median(x) AS m, dp_count(*) AS n FROM visits GROUP BY dept) q WHERE n IS NOT NULL;
SELECT * FROM last();
-- errors before the debit, refusals and other statements do not change it
SELECT dp_avg(i, 5, 4) FROM answers;
SELECT * FROM answers;
SELECT count(*) FROM wards;
SELECT aggregate, "group" FROM last();
-- two releases of a statement; a rollback
BEGIN;
SELECT count(*) FROM (SELECT dp_count(*) FROM answers UNION ALL SELECT dp_count(*) FROM visits2) q;
ROLLBACK;
SELECT * FROM last();
-- whether a group is shown is noise
SET client_min_messages = warning;
SELECT count(a) >= 0 AS answered FROM (SELECT code, dp_avg(x) AS a FROM visits GROUP BY code) q;
RESET client_min_messages;
SELECT aggregate, "group", sensitivity, rho, delta FROM last() WHERE "group" IS NULL;
-- another role of the session is not told
SET ROLE regress_dp_team;
SELECT count(*) FROM dp_cdp.last_release();
RESET ROLE;
SELECT count(*) > 0 AS told FROM dp_cdp.last_release();
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM dp_cdp.last_release();
\c -
SET SESSION AUTHORIZATION regress_dp_analyst;
SELECT count(*) FROM dp_cdp.last_release();
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP SCHEMA aggregates CASCADE;
SELECT dp_cdp.drop_budget(dataset, role) FROM dp_cdp.budgets WHERE dataset IN ('aggregates', 'replacing') ORDER BY dataset, role_name;
SELECT dp_cdp.drop_dataset(d, erase_spent => true) FROM unnest('{aggregates,replacing}'::text[]) d;
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_analyst, regress_dp_team;
