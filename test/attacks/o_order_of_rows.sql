-- Values of a unit that the order of rows decides.  The order is that of a scan,
-- a sort or a hash table, in which everybody's rows are: what depends on it tells
-- of others.  with_all and without_one hold the same people but one, and moved has
-- the rows of without_one at other places; counts of units may differ by that one,
-- with noise of a deviation of a tenth or so.

--@ setup
CREATE TABLE public.with_all (patient int, pid numeric, day int, f8 float8, f4 real, n numeric, c bpchar, iv interval);
INSERT INTO with_all
	SELECT p, CASE WHEN hashint4(k * 7919 + p) % 2 = 0 THEN p::numeric(10,1) ELSE p::numeric(10,2) END, k, (k % 3 + 1) / 10.0, (k % 3 + 1) / 10.0,
		(ARRAY[1.0, 1.00, 1.000])[k % 3 + 1], (ARRAY['a', 'a ', 'a  '])[k % 3 + 1]::bpchar,
		(ARRAY['1 month', '30 days', '720:00']::interval[])[k % 3 + 1]
	FROM generate_series(1, 3000) g (p), generate_series(1, 3) h (k) ORDER BY hashint4(g.p * 31 + h.k), g.p, h.k;
CREATE TABLE public.without_one AS SELECT * FROM with_all WHERE patient <> 17;
-- free space is taken by whoever comes next
CREATE TABLE public.moved AS SELECT * FROM without_one ORDER BY hashint4(patient * 17 + day);
ALTER TABLE with_all OWNER TO boss; ALTER TABLE without_one OWNER TO boss; ALTER TABLE moved OWNER TO boss;
ANALYZE with_all; ANALYZE without_one; ANALYZE moved;
SET SESSION AUTHORIZATION boss;
SELECT dp_cdp.protect_table(t, 'clinic', unit => 'patient') FROM unnest('{with_all,without_one,moved}'::regclass[]) t;

--# sums of floats, above what they are in another order
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f8) > 0.6) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f8) > 0.6) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f8) = 0.6) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f8) = 0.6) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f4) > 0.6::real) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f4) > 0.6::real) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f8 * 1e15) + sum(-1e15 * f8) = 0) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND sum(f8 * 1e15) + sum(-1e15 * f8) = 0) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# averages of floats
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND avg(f8) > 0.2) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND avg(f8) > 0.2) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND avg(f8) = 0.2) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND avg(f8) = 0.2) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, avg(f4) AS a FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE a > 0.2::real),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, avg(f4) AS a FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE a > 0.2::real)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# variances and deviations of floats
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND variance(f8) > 0.01) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND variance(f8) > 0.01) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND stddev_pop(f8) > 0.0816496580927726) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND stddev_pop(f8) > 0.0816496580927726) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, (var_pop(f4) * 1e19)::bigint AS digits FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE digits % 2 = 0),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, (var_pop(f4) * 1e19)::bigint AS digits FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE digits % 2 = 0)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, (var_pop(f8) * 1e19)::bigint AS digits FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE digits % 2 = 0),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, (var_pop(f8) * 1e19)::bigint AS digits FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE digits % 2 = 0)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# the scale of the greatest of equal numerics
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND scale(max(n)) = 2) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND scale(max(n)) = 2) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, min(n)::text AS m FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE m = '1.0'),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, min(n)::text AS m FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE m = '1.0')
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, scale(sum(DISTINCT n)) AS s FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE s = 3),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, scale(sum(DISTINCT n)) AS s FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE s = 3)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# trailing blanks of the greatest of equal strings
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND octet_length(max(c)) = 2) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND octet_length(max(c)) = 2) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, min(c) AS m FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE octet_length(m) = 1),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, min(c) AS m FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE octet_length(m) = 1)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, octet_length(max(DISTINCT c)) AS s FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE s = 3),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, octet_length(max(DISTINCT c)) AS s FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE s = 3)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# months of the greatest of equal intervals
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1 AND extract(month FROM max(iv)) = 1) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1 AND extract(month FROM max(iv)) = 1) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, extract(day FROM min(iv)) AS d FROM with_all GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE d = 30),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, extract(day FROM min(iv)) AS d FROM without_one GROUP BY patient HAVING count(DISTINCT day) > 1) q WHERE d = 30)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# keys of groups that are written differently
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, n, count(DISTINCT day) AS days FROM with_all GROUP BY patient, n) q WHERE days + scale(n) = 5),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, n, count(DISTINCT day) AS days FROM moved GROUP BY patient, n) q WHERE days + scale(n) = 5)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT patient, c, count(DISTINCT day) AS days FROM with_all GROUP BY patient, c) q WHERE days + octet_length(c) = 5),
	b AS (SELECT dp_count(*) AS n FROM (SELECT patient, c, count(DISTINCT day) AS days FROM moved GROUP BY patient, c) q WHERE days + octet_length(c) = 5)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT patient, n FROM with_all ) q WHERE scale(n) = 2),
	b AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT patient, n FROM moved ) q WHERE scale(n) = 2)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT patient, c FROM with_all ) q WHERE octet_length(c) = 3),
	b AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT patient, c FROM moved ) q WHERE octet_length(c) = 3)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# the unit itself, written differently
--@ absent: counts tell
--@ setup
SET SESSION AUTHORIZATION boss;
SELECT dp_cdp.unprotect_table(t), dp_cdp.protect_table(t, 'clinic', unit => 'pid') FROM unnest('{with_all,moved}'::regclass[]) t;
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT pid, scale(pid) AS s, count(DISTINCT day) AS days FROM with_all GROUP BY pid) q WHERE days + s = 5),
	b AS (SELECT dp_count(*) AS n FROM (SELECT pid, scale(pid) AS s, count(DISTINCT day) AS days FROM moved GROUP BY pid) q WHERE days + s = 5)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT pid FROM with_all GROUP BY pid HAVING count(DISTINCT day) > 1 AND scale(pid) = 1) q),
	b AS (SELECT dp_count(*) AS n FROM (SELECT pid FROM moved GROUP BY pid HAVING count(DISTINCT day) > 1 AND scale(pid) = 1) q)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT pid FROM with_all ) q WHERE scale(pid) = 1),
	b AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT pid FROM moved ) q WHERE scale(pid) = 1)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
--@ teardown
SET SESSION AUTHORIZATION boss;
SELECT dp_cdp.unprotect_table(t), dp_cdp.protect_table(t, 'clinic', unit => 'patient') FROM unnest('{with_all,moved}'::regclass[]) t;

--# which of equal rows a window takes first
--@ absent: counts tell
--@ attack
SET dp_cdp.rho = 100;
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT f8, row_number() OVER (PARTITION BY patient ORDER BY n) AS r FROM with_all) q WHERE r = 1 AND f8 > 0.25),
	b AS (SELECT dp_count(*) AS n FROM (SELECT f8, row_number() OVER (PARTITION BY patient ORDER BY n) AS r FROM without_one) q WHERE r = 1 AND f8 > 0.25)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT scale(n) AS s, lag(n) OVER (PARTITION BY patient ORDER BY n) AS p FROM with_all) q WHERE s > scale(p)),
	b AS (SELECT dp_count(*) AS n FROM (SELECT scale(n) AS s, lag(n) OVER (PARTITION BY patient ORDER BY n) AS p FROM without_one) q WHERE s > scale(p))
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT ON (patient) patient, c FROM with_all ORDER BY patient, c) q WHERE octet_length(c) = 1),
	b AS (SELECT dp_count(*) AS n FROM (SELECT DISTINCT ON (patient) patient, c FROM without_one ORDER BY patient, c) q WHERE octet_length(c) = 1)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY n) AS a, row_number() OVER (PARTITION BY patient ORDER BY n DESC) AS b FROM with_all) q WHERE a = b),
	b AS (SELECT dp_count(*) AS n FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY n) AS a, row_number() OVER (PARTITION BY patient ORDER BY n DESC) AS b FROM without_one) q WHERE a = b)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000
WITH a AS (SELECT dp_count(*) AS n FROM (SELECT sum(day) OVER (PARTITION BY patient ORDER BY iv ROWS 1 PRECEDING) AS d FROM with_all) q WHERE d = 4),
	b AS (SELECT dp_count(*) AS n FROM (SELECT sum(day) OVER (PARTITION BY patient ORDER BY iv ROWS 1 PRECEDING) AS d FROM without_one) q WHERE d = 4)
SELECT CASE WHEN abs(a.n - b.n) > 4 THEN 'the counts tell ' || abs(a.n - b.n) END FROM a, b;
--> ok 20000

--# what has no one form, or is chosen by order, is refused
--@ setup
CREATE COLLATION public.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE public.durations (patient int, iv interval, w text COLLATE loose, x float8);
ALTER TABLE durations OWNER TO boss;
SET SESSION AUTHORIZATION boss;
SELECT dp_cdp.protect_table('durations', 'clinic', unit => 'patient');
--@ attack
SELECT dp_count(*) FROM (SELECT patient, iv FROM durations GROUP BY patient, iv) q WHERE extract(month FROM iv) = 1;
--> ZC002
SELECT dp_count(*) FROM (SELECT DISTINCT patient, iv FROM durations) q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, w FROM durations GROUP BY patient, w) q WHERE w COLLATE "C" = 'a';
--> ZC002
SELECT dp_count(*) FROM (SELECT DISTINCT patient, w FROM durations) q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, max(w) COLLATE "C" AS w FROM durations GROUP BY patient) q WHERE w = 'a';
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, count(DISTINCT w) AS n FROM durations GROUP BY patient) q WHERE n = 1;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING (array_agg(DISTINCT iv))[1] > '1 day') q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING string_agg(DISTINCT w, ',') > 'a') q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING (array_agg(w COLLATE "C" ORDER BY w))[1] > 'a') q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING (array_agg(x ORDER BY ctid))[1] > 1) q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING (array_agg(x ORDER BY x) OVER (PARTITION BY patient))[1] > 1) q;
--> 42P20 | 0A000
SELECT dp_count(*) FROM (SELECT patient, (array_agg(x) OVER (PARTITION BY patient % 2))[1] AS x FROM durations) q WHERE x > 1;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING string_agg(w, ',') > 'a') q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING mode() WITHIN GROUP (ORDER BY x) > 1) q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING percentile_disc(0.5) WITHIN GROUP (ORDER BY x) > 1) q;
--> ok 1
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING corr(x, x) > 1) q;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING sum(iv) > '1 day') q;
--> ok 1
SELECT dp_count(*) FROM (SELECT patient, first_value(x) OVER (PARTITION BY patient % 2) AS x FROM durations) q WHERE x > 1;
--> ZC002
SELECT dp_count(*) FROM (SELECT DISTINCT ON (x) patient, x FROM durations) q WHERE x > 1;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient, x FROM durations LIMIT 10) q WHERE x > 1;
--> ZC002
SELECT dp_count(*) FROM (SELECT patient FROM durations GROUP BY patient HAVING dp_cdp_internal.unit_sum(x) > 1) q;
--> ZC002
--@ teardown
DROP TABLE durations; DROP COLLATION loose;
