-- Averages, quantiles, extremes, histograms and bounds: arguments that depend
-- on rows, many answers for one charge, values that are not finite, sizes.
-- With rho 50 noise is small; what shows then, must be one answer's worth.

--# bounds that depend on rows
--@ attack
SELECT dp_avg(cost, 0, max(cost)) FROM visit;
--> 42803 | ZC002
SELECT dp_avg(cost, 0, cost) FROM visit;
--> ZC002
SELECT dp_max(cost, 0, age::numeric) FROM visit;
--> ZC002
SELECT dp_avg(cost, 0, (SELECT max(v.cost) FROM visit v)) FROM visit;
--> ZC002
SELECT dp_avg(cost, 0, (SELECT 1000)) FROM visit;
--> ZC002
SELECT dp_quantile(cost, 0.5, 0, (SELECT count(*) FROM visit)) FROM visit;
--> ZC002
SELECT age, dp_avg(cost, 0, age) FROM visit GROUP BY age;
--> ZC002
SELECT dp_covariance(age, cost, 0, 100, 0, age) FROM visit;
--> ZC002
SELECT dp_histogram(cost, 0, age::numeric, 3) FROM visit;
--> ZC002
SELECT dp_clipped(cost, 0, age::numeric) FROM visit;
--> ZC002
SELECT dp_sum(cost, 0, 1000, 0, cost) FROM visit;
--> ZC002
SELECT dp_sum(cost, 0, 1000, 0, (SELECT max(v.cost) FROM visit v)) FROM visit;
--> ZC002
SELECT dp_clipped_totals(cost, 0, 1000, 0, age::numeric) FROM visit;
--> ZC002
SELECT dp_sum(cost, 0, 1000, -random(), 1) FROM visit;
--> ZC002
SELECT g, (SELECT dp_avg(cost, 0, g) FROM visit) FROM generate_series(1, 3) g;
--> ZC002
SELECT a IS NULL FROM generate_series(1, 3) g, LATERAL (SELECT dp_max(cost, 0::numeric, g::numeric) AS a FROM visit) s;
--> ZC002
SELECT dp_avg(cost, 0, grouping(ward)) FROM visit GROUP BY ward;
--> 42803 | ZC002
SELECT dp_avg(cost, 0, random() * 1000) FROM visit;
--> ZC002
SELECT dp_avg(cost, -nextval('visit_id_seq'), 1) FROM visit;
--> ZC002
SELECT avg(cost + length(ward)), max(cost * length(ward)) FROM visit;
--> ok 2.2
SELECT max(x) FROM (SELECT CASE WHEN age = 97 THEN cost / (cost::float8 - 7.5) END AS x FROM visit) s;
--> ok 1.1
SELECT avg(cost + 0) < 1e9 AND max(cost * 2) < 1e9 FROM visit;
--> ok 2
SELECT max(x) < 1e9 FROM (SELECT CASE WHEN age = 97 THEN cost + 0 END AS x FROM visit) s;
--> ok 1
SELECT max(at), min(id) FROM visit;
--> ok 2.2
SELECT max(zip::int), avg(zip::numeric) FROM patient;
--> ok 2.2

--# quantiles and numbers of bins that depend on rows, or change
--@ attack
SELECT dp_quantile(cost, age / 100.0::float8) FROM visit;
--> ZC002
SELECT dp_quantile(cost, ARRAY[0.5, age / 100.0]::float8[]) FROM visit;
--> ZC002
SELECT age, dp_quantile(cost, age / 100.0::float8) FROM visit GROUP BY age;
--> ZC002
SELECT percentile_cont(age / 100.0) WITHIN GROUP (ORDER BY cost) FROM visit GROUP BY age;
--> ZC002
SELECT percentile_cont(cost::float8) WITHIN GROUP (ORDER BY age) FROM visit;
--> 42803 | ZC002
SELECT percentile_cont((SELECT 0.5)) WITHIN GROUP (ORDER BY cost) FROM visit;
--> ZC002
SELECT dp_quantile(cost, random()) FROM visit;
--> ZC002
SELECT dp_histogram(cost, age) FROM visit;
--> ZC002
SELECT dp_histogram(cost, (random() * 10)::int) FROM visit;
--> ZC002
SELECT dp_histogram(cost, dp_count(*)::int) FROM visit;
--> 42803 | ZC002
SELECT age, dp_histogram(cost, age) FROM visit GROUP BY age;
--> ZC002
CREATE FUNCTION ana.v() RETURNS float8 LANGUAGE plpgsql VOLATILE AS $$ BEGIN RAISE NOTICE 'called'; RETURN 0.5; END $$;
CREATE FUNCTION ana.s() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN 0.5; END $$;
CREATE FUNCTION ana.fails() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
CREATE FUNCTION ana.asks() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM dp_count(*) FROM visit; RETURN 0.5; END $$;
CREATE FUNCTION ana.reads() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT age FROM visit WHERE age = 97 LIMIT 1); END $$;
SELECT dp_quantile(cost, ana.v()) FROM visit;
--> ZC002
SELECT dp_quantile(cost, ana.s()) IS NULL FROM visit;
--> ok 1
SELECT dp_quantile(cost, ana.fails()) FROM visit;
--> P0001
SELECT dp_avg(cost, 0, ana.reads()) FROM visit;
--> ZC002
SELECT dp_quantile(cost, ana.asks()) IS NULL FROM visit;
--> ok 2
SELECT dp_quantile(cost, ana.asks()) IS NULL FROM visit GROUP BY ward LIMIT 1;
--> ok 3
SELECT dp_histogram(cost, (10 * ana.asks())::int) IS NULL FROM visit;
--> ok 2
SELECT dp_avg(cost, 0, ana.asks()) IS NULL FROM visit LIMIT 0;
--> ok
PREPARE p (float8, numeric, int) AS SELECT dp_quantile(cost, $1) IS NULL, dp_max(cost, 0, $2) IS NULL, dp_histogram(cost, $3) IS NULL FROM visit;
EXECUTE p (0.5, 100, 3);
--> ok 3
EXECUTE p (NULL, 100, 3);
--> ZC004
EXECUTE p (0.5, NULL, 3);
--> ZC004
EXECUTE p (0.5, 100, NULL);
--> ZC004
EXECUTE p (2, 100, 3);
--> ZC004

--# what is not finite, or has no width
--@ absent: (^|[|{,])(NaN|-?Infinity)|overflow|out of range
--@ attack
SELECT dp_avg(cost, 'NaN'::numeric, 1::numeric) FROM visit;
--> ZC004
SELECT dp_avg(cost, 0::float8, 'NaN'::float8) FROM visit;
--> ZC004
SELECT dp_avg(cost, '-Infinity'::float8, 1::float8) FROM visit;
--> ZC004
SELECT dp_max(cost, 0::numeric, 'Infinity'::numeric) FROM visit;
--> ZC004
SELECT dp_min(cost::float8, '-Infinity'::float8, 0::float8) FROM visit;
--> ZC004
SELECT dp_max(at, timestamptz '2024-01-01', timestamptz 'infinity') FROM visit;
--> ZC004
SELECT dp_max(at::date, date '-infinity', date '2024-01-01') FROM visit;
--> ZC004
SELECT dp_quantile(cost, 'NaN'::float8) FROM visit;
--> ZC004
SELECT dp_quantile(cost, 'Infinity'::float8), dp_quantile(cost, -1e-300::float8) FROM visit;
--> ZC004
SELECT dp_quantile(cost, ARRAY[0.5, NULL]::float8[]) FROM visit;
--> ZC004
SELECT dp_quantile(cost, '{}'::float8[]) FROM visit;
--> ZC004
SELECT dp_quantile(cost, '{{0.1,0.2},{0.3,0.4}}'::float8[]) FROM visit;
--> ZC004
SELECT dp_avg(cost, 1, 1), dp_avg(cost, 2, 1) FROM visit;
--> ZC004
SELECT dp_stddev(cost, 5, 0) FROM visit;
--> ZC004
SELECT dp_histogram(cost, 5, 5, 3) FROM visit;
--> ZC004
SELECT dp_avg(cost::float8, -1.7e308::float8, 1.7e308::float8), dp_max(cost::float8, -1.7e308::float8, 1.7e308::float8), dp_stddev(cost::float8, -1.7e308::float8, 1.7e308::float8) FROM visit;
--> ok 3 | ZC004
SELECT dp_avg(cost::float8, 0::float8, 5e-324::float8) IS NULL, dp_max(cost::float8, 0::float8, 5e-324::float8) IS NULL, dp_variance(cost::float8, 0::float8, 5e-324::float8) IS NULL FROM visit;
--> ok 3 | ZC004
SELECT dp_avg(CASE WHEN age = 97 THEN 'NaN'::float8 ELSE 1 END, 0, 1), dp_max(CASE WHEN age = 97 THEN 'Infinity'::float8 ELSE 1 END, 0, 2), dp_variance(CASE WHEN age = 97 THEN '-Infinity'::float8 ELSE 1 END, 0, 1) FROM visit;
--> ok 3
SELECT dp_correlation(CASE WHEN age = 97 THEN 'NaN'::float8 ELSE age END, cost::float8, 0, 100, 0, 100), dp_regr_slope(age, 5, 0, 100, 0, 10), dp_regr_intercept(0, 0, 0, 100, 0, 100) FROM visit;
--> ok 3
SELECT dp_max(at, timestamptz '4713-01-01 BC', timestamptz '294276-12-31') IS NULL, dp_min(at::date, date '4713-01-01 BC', date '5874897-12-31') IS NULL FROM visit;
--> ok 2
SELECT dp_max(age::int2, (-32768)::int2, 32767::int2) IS NULL, dp_quantile(age::int8, 1, (-9223372036854775808)::int8, 9223372036854775807) IS NULL FROM visit;
--> ok 2
SELECT dp_bounds(CASE WHEN age = 97 THEN 'Infinity'::float8 WHEN age = 96 THEN 'NaN' WHEN age = 95 THEN 5e-324 ELSE cost::float8 END) FROM visit;
--> ok 1

--# nothing to measure is noise, not NULL and no error
--@ absent: ^t$|t\||\|t
--@ attack
SELECT dp_avg(cost) IS NULL, dp_max(cost) IS NULL, dp_median(cost) IS NULL, dp_histogram(cost, 3) IS NULL, dp_clipped(cost) IS NULL, dp_variance(cost) IS NULL, dp_correlation(age, cost) IS NULL, dp_regr_slope(age, cost) IS NULL, dp_clipped_totals(cost) IS NULL FROM visit WHERE patient = -1;
--> ok 9
SELECT avg(cost) IS NULL, min(cost) IS NULL, stddev(age) IS NULL, percentile_cont(0.5) WITHIN GROUP (ORDER BY age) IS NULL, corr(age, cost) IS NULL, count(DISTINCT ward) IS NULL FROM visit WHERE false;
--> ok 6
SELECT avg(cost) IS NULL, min(cost) IS NULL FROM visit WHERE cost IS NULL;
--> ok 2

--# many answers for one charge are one answer's worth
--@ absent: ^f
--@ attack
SELECT cardinality(dp_quantile(cost, (SELECT array_agg(g / 999.0::float8) FROM generate_series(0, 999) g))) FROM visit;
--> ZC002
PREPARE q (float8[]) AS SELECT dp_quantile(cost, $1) AS q FROM visit;
CREATE TEMP TABLE qs (q float8[]);
EXECUTE q ('{0,0,0,0,1,1,1,1}') \g /dev/null
--> ok 1
SELECT q[1] = q[2] AND q[2] = q[3] AND q[4] = q[5] FROM (SELECT dp_quantile(cost, ARRAY[0.99, 0.99, 0.99, 1, 1]::float8[]) AS q FROM visit) s;
--> ok 1
SELECT bool_and(a <= b) FROM (SELECT q[i] AS a, q[i + 1] AS b FROM (SELECT dp_quantile(cost, ARRAY[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]::float8[]) AS q FROM visit OFFSET 0) s, generate_series(1, 10) i) t;
--> ok 1
SELECT format('SELECT cardinality(dp_quantile(cost, %L::float8[])) = 1000 FROM visit', array_agg(g / 999.0)) FROM generate_series(0, 999) g \gexec
--> ok 1
SELECT format('SELECT cardinality(dp_quantile(cost, %L::float8[])) FROM visit', array_agg(g / 1000.0)) AS many FROM generate_series(0, 1000) g \gset
:many;
--> ZC004
SELECT dp_quantile(cost, 0.0) = dp_quantile(cost, 0.0), dp_max(cost) = dp_max(cost) FROM visit;
--> ok 2
SELECT num_nulls(dp_quantile(cost, 0.25), dp_quantile(cost, 0.75), dp_median(cost), dp_quantile(cost, 0.5)) = 0 FROM visit;
--> ok 3..4

--# one person moves extremes and averages within what was bought
--@ absent: ^f
--@ attack
SELECT max(cost) <= 1000 AND dp_quantile(cost, 1) <= 1000 AND percentile_cont(1.0) WITHIN GROUP (ORDER BY cost) <= 1000 FROM visit WHERE age = 97;
--> ok 3
SELECT dp_max(cost, 0, 100) <= 100 AND dp_quantile(cost, ARRAY[1, 0]::float8[], 0, 100) <= '{100,100}' FROM visit WHERE age = 97;
--> ok 2
SELECT avg(cost) BETWEEN 0 AND 1000 AND dp_avg(cost, 0, 10) BETWEEN 0 AND 10 FROM visit WHERE age = 97;
--> ok 2
SET dp_cdp.rho = 50;
SELECT bool_and(n < 25) FROM (SELECT unnest(dp_histogram(cost, 0, 1000, 4)) AS n FROM visit WHERE patient = 42) s;
--> ok 5000
SELECT n < 30 FROM (SELECT sum(n) FILTER (WHERE n > 10) AS n FROM (SELECT unnest(dp_histogram(id, 0, 5000, 1000)) AS n FROM visit WHERE patient = 42) s) t WHERE n IS NOT NULL;
--> ok 5000
SET dp_cdp.max_rows = 1;
SELECT n < 12 FROM (SELECT sum(n) FILTER (WHERE n > 3) AS n FROM (SELECT unnest(dp_histogram(id, 0, 5000, 100)) AS n FROM visit WHERE patient = 42) s) t WHERE n IS NOT NULL;
--> ok 5000

--# one person whom a join repeats
--@ absent: ^f
--@ attack
CREATE TABLE ana.amp AS SELECT 42 AS patient, g FROM generate_series(1, 1000) g;
SET dp_cdp.rho = 50;
SELECT a < 25 FROM (SELECT dp_avg(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a < 25000 AND b < 200 FROM (SELECT dp_variance(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000) AS a, dp_stddev(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000) AS b FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 10000
SELECT a < 500 FROM (SELECT dp_quantile(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0.9, 0, 1000) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a[2] < 25 FROM (SELECT dp_histogram(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000, 2) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a < 0.05 FROM (SELECT dp_clipped(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 999) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a < 0.05 FROM (SELECT dp_clipped_totals(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000, 0, 999) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a < 25000 FROM (SELECT dp_sum(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a < 2500 FROM (SELECT dp_sum(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000, 0, 1000) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a < 25 FROM (SELECT dp_count(DISTINCT a.g) AS a FROM visit v LEFT JOIN ana.amp a ON a.patient = v.patient) s;
--> ZC002 | ok 5000
SELECT a < 25 FROM (SELECT avg(dp_avg) AS a FROM (SELECT dp_avg(CASE WHEN v.patient = 42 THEN 1000 ELSE 0 END, 0, 1000) FROM visit v JOIN ward w ON w.ward IN ('heart', 'bone', 'nerve', 'child') GROUP BY w.ward) s) t;
--> ZC002 | ok 5000

--# pre-aggregation for each person
--@ absent: ^f
--@ attack
SELECT avg(c) < 1e9 FROM (SELECT patient, count(*) AS c FROM visit GROUP BY patient) s;
--> ok 1
SELECT max(m) < 1e9 FROM (SELECT patient, max(cost) AS m FROM visit GROUP BY patient) s;
--> ok 1
SELECT avg(m) FROM (SELECT ward, avg(cost) AS m FROM visit GROUP BY ward) s;
--> ok 2
SELECT dp_avg(m, 0, 1000) FROM (SELECT ward, avg(cost) AS m FROM visit GROUP BY ward) s;
--> ZC002
SELECT dp_max(c, 0, 20) <= 20 FROM (SELECT patient, count(*) AS c FROM visit GROUP BY patient) s;
--> ok 1
SELECT dp_avg(c, 0, 5) BETWEEN 0 AND 5 FROM (SELECT patient, count(*) AS c FROM visit GROUP BY patient) s WHERE patient = 42;
--> ok 1
SELECT dp_quantile(m, 1.0::float8, 0, 1000) <= 1000 FROM (SELECT patient, max(cost) AS m FROM visit GROUP BY patient) s;
--> ok 1
SET dp_cdp.rho = 50;
SELECT n < 25 FROM (SELECT dp_count(DISTINCT c) AS n FROM (SELECT patient, ward, count(*) AS c FROM visit GROUP BY patient, ward) s WHERE patient = 42) q;
--> ok 5000
SELECT bool_and(n < 25) FROM (SELECT unnest(dp_histogram(c, 0, 20, 4)) AS n FROM (SELECT patient, id, count(*) AS c FROM visit GROUP BY patient, id) s WHERE patient = 42) q;
--> ok 5000
SELECT dp_avg(c, 0, 5) FROM (SELECT max(patient) AS patient, count(*) AS c FROM visit GROUP BY ward) s;
--> ok 15000 | ZC002

--# sizes
--@ attack
SELECT cardinality(dp_histogram(cost, 10000)) FROM visit;
--> ok 1
SELECT dp_histogram(cost, 10001) FROM visit;
--> ZC004
SELECT dp_histogram(cost, 0), dp_histogram(cost, -1) FROM visit;
--> ZC004
SELECT width_bucket(age, 0, 100, 8000), dp_histogram(cost, 10000) FROM visit GROUP BY 1;
--> ZC002
EXPLAIN SELECT width_bucket(age, 0, 100, 8000), dp_histogram(cost, 10000) FROM visit GROUP BY 1;
--> ZC002
SELECT width_bucket(age, 0, 100, 200), width_bucket(cost, 0, 1000, 200), dp_median(cost) FROM visit GROUP BY 1, 2;
--> ZC002
SELECT width_bucket(age, 0, 100, 1000), dp_median(cost), dp_min(cost), dp_max(cost), dp_max(age), dp_min(age), dp_median(age), dp_quantile(age, 0), dp_quantile(age, 1), dp_quantile(cost, 0), dp_quantile(cost, 1), dp_quantile(cost, 0.1), dp_quantile(cost, 0.2), dp_quantile(cost, 0.3), dp_quantile(cost, 0.4), dp_quantile(cost, 0.6), dp_quantile(cost, 0.7), dp_quantile(cost, 0.8) FROM visit GROUP BY 1;
--> ZC002
SELECT count(*) = 100 FROM (SELECT DISTINCT dp_median(cost) OVER () FROM visit) s;
--> ZC002
SELECT count(width_bucket) FROM (SELECT width_bucket(age, 0, 100, 100000), dp_histogram(cost, 10000) AS h FROM visit GROUP BY 1) s WHERE h IS NOT NULL;
--> ok 2
SELECT cardinality(dp_histogram(cost, 10000)) FROM visit GROUP BY age > 50;
--> ok 1
SELECT cardinality(dp_histogram(cost, 10000)) FROM visit GROUP BY age LIMIT 1;
--> ok 2
SELECT count(m) > 0 FROM (SELECT id + 0, dp_median(cost) AS m FROM visit GROUP BY id + 0) s;
--> ok 2
SELECT count(m) > 0 FROM (SELECT id, dp_bounds(cost) AS m, dp_clipped(cost) AS c, dp_stddev(cost) AS d FROM visit GROUP BY CUBE (id, age > 50)) s;
--> ZC002 | ok 4..20

--# bounds as an oracle
--@ attack
SELECT dp_bounds(cost) IS NULL FROM visit;
--> ok 1
SELECT dp_bounds(cost) IS NULL FROM visit WHERE age = 97;
--> ok 1
SELECT (dp_bounds(cost))[2] > 1 FROM visit GROUP BY ward HAVING (dp_bounds(cost))[2] > 2000;
--> ok 2
SELECT dp_bounds(cost), dp_bounds(age), dp_clipped(cost, 0, 1000), dp_clipped(cost) FROM visit WHERE patient = 42;
--> ok 3..4
SELECT dp_clipped_totals(cost, 0, 1000) IS NULL, dp_clipped_totals(cost, 0, 1000, 0, 3000) IS NULL FROM visit WHERE patient = 42;
--> ok 2
SELECT dp_sum(cost, 0, (SELECT (dp_bounds(cost))[2] FROM visit)::numeric) FROM visit;
--> ZC002
SELECT dp_bounds(ward) FROM visit;
--> ZC002
SELECT dp_bounds(at) FROM visit;
--> ZC002
SELECT dp_bounds(cost) OVER () FROM visit;
--> ZC002
DO $$ BEGIN FOR i IN 1..5 LOOP PERFORM dp_bounds(cost) FROM visit WHERE patient = 42; END LOOP; END $$;
--> ok 5

--# types, DISTINCT, windows
--@ attack
SELECT dp_max(ward), dp_avg(ward) FROM visit;
--> ZC002
SELECT dp_avg(at) FROM visit;
--> ZC002
SELECT dp_max(v), dp_min(ctid) FROM visit v;
--> ZC002 | 42883
SELECT dp_avg(DISTINCT cost) FROM visit;
--> ZC002
SELECT dp_median(DISTINCT cost) FROM visit;
--> ZC002
SELECT dp_histogram(DISTINCT cost, 3) FROM visit;
--> ZC002
SELECT dp_avg(cost ORDER BY id) FROM visit;
--> ZC002
SELECT dp_avg(cost) OVER () FROM visit;
--> ZC002
SELECT max(cost) OVER (ORDER BY id) FROM visit;
--> ZC002
SELECT avg(cost) OVER w FROM visit WINDOW w AS (ORDER BY id ROWS CURRENT ROW);
--> ZC002
SELECT max(max(cost)) OVER () IS NULL FROM visit GROUP BY age > 50;
--> ok 1
SELECT dp_avg(dp_count(*)) FROM visit;
--> 42803
SELECT avg(n) IS NULL, max(n) IS NULL, array_agg(n) IS NULL FROM (SELECT ward, dp_count(*) AS n FROM visit GROUP BY ward) s;
--> ok 2
SELECT dp_max(n, 0, 5) FROM (SELECT ward, dp_count(*) AS n FROM visit GROUP BY ward) s;
--> ZC002 | 42883
SELECT dp_avg(g) FROM generate_series(1, 10) g;
--> ZC002
SELECT dp_avg(floor, 0, 5), dp_median(floor, 0, 5) FROM ward;
--> ZC002
CREATE TYPE ana.n AS (x int);
SELECT dp_max(age::ana.n) FROM visit;
--> 42846
SELECT max(cost) FROM visit FOR UPDATE;
--> 0A000

--# standard aggregates off
--@ setup
ALTER ROLE ana SET dp_cdp.standard_aggregates = off;
--@ attack
SELECT max(cost) FROM visit;
--> ZC002
SELECT avg(age), stddev(age) FROM visit;
--> ZC002
SELECT count(*) FROM visit;
--> ZC002
SELECT percentile_cont(1.0) WITHIN GROUP (ORDER BY cost), corr(age, cost) FROM visit;
--> ZC002
SELECT dp_count(*), max(cost) FROM visit;
--> ZC002
SELECT dp_count(*) FROM visit HAVING max(cost) > 87654;
--> ZC002
SELECT (1, 97) = (SELECT 1, max(age) FROM visit);
--> ZC002
SELECT dp_margin(avg(age)), dp_count(*) FROM visit;
--> ZC002
SELECT dp_max(cost) IS NULL, dp_avg(age) IS NULL FROM visit;
--> ok 2
SET dp_cdp.standard_aggregates = on;
--> 42501
SET ROLE bob;
--> 42501
SELECT avg(n) IS NULL FROM (SELECT ward, dp_count(*) AS n FROM visit GROUP BY ward) s;
--> ok 2
--@ attack boss
SELECT max(cost) > 1 FROM visit;
--> ok
SELECT dp_count(*), max(cost) FROM visit;
--> ZC002
--@ teardown
ALTER ROLE ana RESET dp_cdp.standard_aggregates;
