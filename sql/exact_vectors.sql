-- Exact states of moments, histograms and distinct values.  Run by a
-- superuser, like exact_states.sql, which says who may call what.
SET client_min_messages = warning;
SET plan_cache_mode = force_generic_plan;	-- parameters as the release node has them
CREATE SCHEMA exact_vectors;
SET search_path = exact_vectors, public;

-- what a unit keeps, of a call of bound_unit: columns k0 .. of the types that are named, and v0 .. of these kinds
CREATE FUNCTION columns(bound text, spec text, keys text[], kinds text[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(', ',
		(SELECT string_agg(format('dp_cdp_internal.bound_key(%s, %s, NULL::%s) AS k%s', i - 1, bound, t, i - 1), ', ' ORDER BY i) FROM unnest(keys) WITH ORDINALITY u (t, i)),
		(SELECT string_agg(format(CASE kind WHEN 'codes' THEN 'dp_cdp_internal.bound_codes(%3$s, %1$s, %2$s)' WHEN 'distinct' THEN 'dp_cdp_internal.bound_distinct_codes(%3$s, %1$s, %2$s)'
			ELSE 'dp_cdp_internal.bound_value(%3$s, %1$s, %2$s)' END || ' AS v%3$s', bound, spec, i - 1), ', ' ORDER BY i) FROM unnest(kinds) WITH ORDINALITY u (kind, i))) $$;

-- ---------------------------------------------------------------------
-- Ranges
-- ---------------------------------------------------------------------

SELECT dp_cdp_internal.make_range(0, 1, 10, 0);
SELECT dp_cdp_internal.make_range(1, 1, 10, 0);
SELECT dp_cdp_internal.make_range('NaN', 1, 10, 0);
SELECT dp_cdp_internal.make_range(0, 'Infinity', 3, 2);
SELECT dp_cdp_internal.make_range(0, 1, 0, 0);
SELECT dp_cdp_internal.make_range(0, 1, 1048577, 0);
SELECT dp_cdp_internal.make_range(0, 1, 10, 3);

-- one value of any type, centered and in ten bins of -10 .. 30
CREATE FUNCTION place(input regtype, vals text[]) RETURNS TABLE (x text, centered int, t float8, bin int) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT v, dp_cdp_internal.centered(v::%1$s, r), dp_cdp_internal.centered(v::%1$s, r) / 16777216.0::float8, dp_cdp_internal.bin(v::%1$s, r)
		FROM unnest($1) WITH ORDINALITY v (v, o), (SELECT dp_cdp_internal.make_range(-10, 30, 10, 0) AS r) r ORDER BY o', input) USING vals;
END $$;
SELECT * FROM place('smallint', '{-32768,-11,-10,-9,-7,-6,-5,0,10,29,30,31,32767,NULL}');
SELECT * FROM place('integer', '{-2147483648,-10,-6,0,9,10,11,30,2147483647,NULL}');
SELECT * FROM place('bigint', '{-9223372036854775808,-10,-6,10,30,9007199254740993,9223372036854775807,NULL}');
SELECT * FROM place('real', '{-Infinity,-3.4e38,-10,-9.999999,-6,-0,1e-45,10,29.999998,30,3.4e38,Infinity,NaN,NULL}');
SELECT * FROM place('double precision', '{-Infinity,-1.7976931348623157e308,-10.000000000000002,-10,-6.000000000000001,-6,-0,4.9e-324,10,
	10.000000000000002,29.999999,29.999999999999996,30,1.7976931348623157e308,Infinity,NaN,NULL}');
SELECT * FROM place('numeric', '{-Infinity,-1e130000,-1e308,-10.0000000000000000000000001,-10,-6,-1e-16000,0,1e-16000,1e-320,
	10,10.000,29.9999999999999999999999999999,30,12345678901234567890.5,1e400,1e130000,Infinity,NaN,NULL}')
 WHERE length(x) < 1000;

-- half of a step goes to the even one
SELECT x, dp_cdp_internal.centered(x / 16777216.0::float8, dp_cdp_internal.make_range(-1, 1, 1, 0))
  FROM unnest('{-2.5,-1.5,-0.5,0.5,1.5,2.5,0.49999,-0.5001}'::float8[]) x;

-- bounds of all sizes: the ends, the middle, a quarter
SELECT l AS lower, u AS upper, dp_cdp_internal.centered(l, r) AS lower, dp_cdp_internal.centered(m, r) AS middle, dp_cdp_internal.centered(u, r) AS upper,
	   dp_cdp_internal.bin(l, r) AS lower, dp_cdp_internal.bin(CASE WHEN abs(u) < 1e-320 THEN l ELSE m - (m - l) / 2 END, r) AS quarter, dp_cdp_internal.bin(m, r) AS middle, dp_cdp_internal.bin(u, r) AS upper
  FROM (VALUES (0::float8, 1::float8), (-1.7976931348623157e308, 1.7976931348623157e308), (0, 1.7976931348623157e308), (-1e308, -9e307),
			   (1e-300, 3e-300), (-4.9e-324, 4.9e-324), (0, 4.9e-324), (1e15, 1.00000000001e15), (1, 1.0000000000000002)) v (l, u),
	   LATERAL (SELECT dp_cdp_internal.make_range(l, u, 4, 0) AS r, CASE WHEN abs(u) < 1e-320 THEN 0 ELSE l / 2 + u / 2 END AS m) s;

-- edges of bins are found where decimals put them, for every input type
SELECT l AS lower, u AS upper, bins, count(*),
	   count(*) FILTER (WHERE dp_cdp_internal.bin(x, r) <> b) AS "numeric",
	   count(*) FILTER (WHERE dp_cdp_internal.bin(x::float8, r) <> b) AS float8,
	   count(*) FILTER (WHERE x = trunc(x) AND dp_cdp_internal.bin(x::bigint, r) <> b) AS int8
  FROM (VALUES (0::numeric, 1::numeric, 100), (0, 1, 4096), (0, 10, 100), (-1, 1, 20), (0, 100, 100), (1000000, 1000001, 100), (-7, 123, 1300)) v (l, u, bins),
	   LATERAL (SELECT dp_cdp_internal.make_range(l::float8, u::float8, bins, 0) AS r, i AS b, l + (u - l) * i / bins AS x
				  FROM generate_series(0, bins - 1) i) s
 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- neither falls when the value grows, and both stay within their limits
SELECT l AS lower, u AS upper, bins, count(*) > 3000 AS many, bool_and(c BETWEEN -16777216 AND 16777216) AND bool_and(b BETWEEN 0 AND bins - 1) AS within,
	   count(*) FILTER (WHERE c < c0 OR b < b0 OR o < o0 OR g < g0) AS falls, count(*) FILTER (WHERE n <> c OR nb <> b OR ng <> g) AS numeric_differs
  FROM (SELECT l, u, bins, c, b, o, g, lag(c) OVER w AS c0, lag(b) OVER w AS b0, lag(o) OVER w AS o0, lag(g) OVER w AS g0, n, nb, ng
		  FROM (VALUES (-3::float8, 5::float8, 7), (0, 1e-10, 4096), (-1e20, 1e20, 1048576), (1e6, 1000001, 10)) v (l, u, bins),
			   LATERAL (SELECT x, dp_cdp_internal.centered(x, r) AS c, dp_cdp_internal.bin(x, r) AS b, dp_cdp_internal.bin(x, dp_cdp_internal.make_range(l, u, 3, 2)) AS o, dp_cdp_internal.bin(x, lg) AS g,
							   dp_cdp_internal.centered(x::text::numeric, r) AS n, dp_cdp_internal.bin(x::text::numeric, r) AS nb, dp_cdp_internal.bin(x::text::numeric, lg) AS ng
						  FROM (SELECT dp_cdp_internal.make_range(l, u, bins, 0) AS r, dp_cdp_internal.make_range(0, 0, 0, 1) AS lg) r,
							   (SELECT l + (u - l) * (hashint4extended(i, 5) % 1000000) / 900000.0 AS x FROM generate_series(1, 2000) i
								UNION ALL SELECT s * power(10::float8, e / 5.0) FROM generate_series(-300, 200) e, (VALUES (1), (-1)) s (s)
								UNION ALL VALUES (l), (u), (0)) x) s
		WINDOW w AS (PARTITION BY l, u, bins ORDER BY x)) t
 GROUP BY 1, 2, 3 ORDER BY 1;

-- numeric becomes the nearest double, or the one beside it
SELECT count(*), count(*) FILTER (WHERE dp_cdp_internal.bin(x, below) <> 1 AND dp_cdp_internal.bin(x, at) <> 1 AND dp_cdp_internal.bin(x, above) <> 1) AS wrong,
	   count(*) FILTER (WHERE dp_cdp_internal.bin(x, at) = 1) > 0.99 * count(*) AS nearly_all
  FROM (SELECT (s || substr(abs(hashint8extended(i, 1))::text || abs(hashint8extended(i, 2))::text, 1, 1 + i % 36) || 'e' || (i * 7) % 560 - 290)::numeric AS x
		  FROM generate_series(1, 3000) i, (VALUES (''), ('-')) s (s)) x,
	   LATERAL (SELECT x::float8 AS d, abs(x::float8) * 2.3e-16 AS e) d,
	   LATERAL (SELECT dp_cdp_internal.make_range(d - 1.5 * e, d - 0.1 * e, 3, 2) AS below, dp_cdp_internal.make_range(d, d + abs(d) * 1e-9, 3, 2) AS at,
					   dp_cdp_internal.make_range(d, d + 1.5 * e, 3, 2) AS above) r;

-- below, within, above: bounds are within, also those that doubles only approximate
SELECT x, dp_cdp_internal.bin(x, r) AS "numeric", dp_cdp_internal.bin(x::float8, r) AS float8
  FROM (SELECT dp_cdp_internal.make_range(0.1, 0.7, 3, 2) AS r) r,
	   unnest('{-Infinity,0,0.0999999,0.1,0.100,0.3,0.7,0.70,0.7000001,1e100,Infinity,NaN}'::numeric[]) x;

-- logarithmic: whatever dp_log_bin says, no matter what type the number comes in
SELECT x, dp_cdp_internal.bin(x::numeric, r) AS "numeric", dp_cdp_internal.bin(x::float8, r) AS float8, dp_cdp_internal.bin(x::float4, r) AS float4,
	   CASE WHEN x ~ '^-?\d{1,18}$' THEN dp_cdp_internal.bin(x::bigint, r) END AS int8
  FROM (SELECT dp_cdp_internal.make_range(0, 0, 0, 1) AS r) r,
	   unnest('{-Infinity,-1e30,-4,-3,-2,-1,-0.5,0,1e-20,0.5,1,2,3,4,5,1000000,1e30,Infinity,NaN}'::text[]) x;

-- days and microseconds since 2000-01-01; infinite ones are before and after all others
CREATE FUNCTION days(since date) RETURNS float8 LANGUAGE sql AS $$ SELECT since - DATE '2000-01-01' $$;
CREATE FUNCTION microseconds(since timestamp) RETURNS float8 LANGUAGE sql AS $$ SELECT extract(epoch FROM since - TIMESTAMP '2000-01-01') * 1e6 $$;
SELECT x, dp_cdp_internal.bin(x, r) AS bin, dp_cdp_internal.bin(x, o) AS outside
  FROM (SELECT dp_cdp_internal.make_range(days('2020-01-01'), days('2021-01-01'), 366, 0) AS r, dp_cdp_internal.make_range(days('2020-01-01'), days('2021-01-01'), 3, 2) AS o) r,
	   unnest('{-infinity,4713-01-01 BC,2019-12-31,2020-01-01,2020-01-02,2020-02-29,2020-12-31,2021-01-01,2021-01-02,5874897-12-31,infinity,NULL}'::date[]) x;
SELECT x, dp_cdp_internal.bin(x, r) AS bin, dp_cdp_internal.bin(x::timestamptz, r) AS timestamptz, dp_cdp_internal.bin(x, o) AS outside
  FROM (SELECT dp_cdp_internal.make_range(microseconds('2020-01-01'), microseconds('2020-01-02'), 24, 0) AS r,
			   dp_cdp_internal.make_range(microseconds('2020-01-01'), microseconds('2020-01-02'), 3, 2) AS o) r,
	   (SELECT set_config('timezone', 'UTC', false)) z,
	   unnest('{-infinity,4713-01-01 BC,2019-12-31 23:59:59.999999,2020-01-01,2020-01-01 00:59:59.999999,2020-01-01 01:00,2020-01-01 23:59:59.999999,
				2020-01-02,2020-01-02 00:00:00.000001,294276-12-31 23:59:59.999999,infinity,NULL}'::timestamp[]) x;

-- functions of centered values: exactly rounded, half to even, and limited whatever the arguments are
CREATE FUNCTION half_even(x numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS
	$$ SELECT CASE WHEN x - floor(x) = 0.5 THEN 2 * round(x * 0.5) ELSE round(x) END $$;
CREATE TABLE steps AS
	SELECT DISTINCT t FROM (VALUES (0), (1), (-1), (2048), (4096), (4097), (2896), (11863283), (-11863283), (16777215), (-16777215), (16777216), (-16777216)) v (t)
	UNION SELECT (hashint4extended(i, 7) % 16777217)::int FROM generate_series(1, 300) i;
SELECT count(*), count(*) FILTER (WHERE dp_cdp_internal.product(a.t, b.t) <> half_even(a.t::numeric * b.t / 16777216)) AS product,
	   count(*) FILTER (WHERE dp_cdp_internal.chebyshev(a.t) <> half_even(2 * a.t::numeric * a.t / 16777216) - 16777216) AS chebyshev
  FROM steps a, steps b;
SELECT t, dp_cdp_internal.chebyshev(t), dp_cdp_internal.product(t, 16777216), dp_cdp_internal.product(t, t) AS square, dp_cdp_internal.product(t, -2147483648) AS least
  FROM unnest('{0,1,-1,4096,8388608,11863283,16777215,16777216,-16777216,16777217,2147483647,-2147483648,NULL}'::int[]) t;

-- ---------------------------------------------------------------------
-- Codes of values
-- ---------------------------------------------------------------------

CREATE FUNCTION codes(input text, VARIADIC vals text[]) RETURNS TABLE (input_type text, n bigint, codes bigint, equal bigint, nulls bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT %1$L, count(*), count(DISTINCT dp_cdp_internal.code(v)), count(DISTINCT v), count(*) - count(dp_cdp_internal.code(v))
		FROM (SELECT v::%1$s AS v FROM unnest($1) v) s', input) USING vals;
END $$;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b numeric);
CREATE DOMAIN percent AS numeric CHECK (value > 0);
SELECT c.* FROM (VALUES
	('smallint', '{1,-1,1,0,NULL}'::text[]), ('integer', '{1,-1,1,0,NULL}'), ('bigint', '{1,-1,1,0,9223372036854775807}'), ('boolean', '{t,f,true}'),
	('real', '{0,-0,1,1.0,Infinity}'), ('double precision', '{0,-0,1,1.0,-Infinity}'), ('numeric', '{1,1.0,1.00,0,0.0,-0,2,Infinity}'), ('percent', '{1,1.0,2}'),
	('text', '{a,A,"a ",a,""}'), ('char(5)', '{a,"a ","a  ",b}'), ('varchar', '{a,"a ",a}'), ('bytea', '{\\x00,\\x0000,\\x00}'), ('name', '{a,b,a}'),
	('date', '{2020-01-01,2020-01-01,infinity}'), ('timestamp', '{2020-01-01,2020-01-01 00:00,infinity}'), ('timestamptz', '{2020-01-01 00:00+00,2020-01-01 01:00+01}'),
	('time', '{10:00,10:00:00,11:00}'), ('interval', '{1 month,30 days,31 days}'), ('uuid', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'),
	('inet', '{10.0.0.1,10.0.0.1/32,10.0.0.2}'), ('jsonb', '{"{\"a\": 1, \"b\": 2}","{\"b\": 2, \"a\": 1}","{\"a\": 1.0, \"b\": 2}"}'), ('mood', '{sad,ok,sad}'),
	('numeric[]', '{"{1,2}","{1.0,2}","{2,1}"}'), ('pair', '{"(1,2)","(1,2.0)","(1,)","(,)"}'), ('numrange', '{"[1,2]","[1.0,2]","[1,2)"}')) v (t, x),
	LATERAL codes(t, VARIADIC x) c;
-- NaN counts as NULL
SELECT c.* FROM (VALUES ('real'), ('double precision'), ('numeric'), ('percent')) v (t), LATERAL codes(t, 'NaN', '1', NULL) c;
-- long and compressed values
\set step 10
\getenv all DP_TEST_ALL
\if :{?all}
\set step 1
\endif
SELECT count(*) - count(DISTINCT dp_cdp_internal.code(repeat('x', n))) AS same, count(*) - count(DISTINCT dp_cdp_internal.code(left(x, n))) AS same_prefixes
  FROM generate_series(99000, 100000, :step) n, (SELECT repeat('x', 100000) AS x) x;
-- as many codes as numbers
SELECT count(DISTINCT dp_cdp_internal.code(i)) AS int, count(DISTINCT dp_cdp_internal.code(i / 7.0)) AS "numeric", count(DISTINCT dp_cdp_internal.code(i::text)) AS text FROM generate_series(1, 100000) i;
-- refused before a row is looked at
SELECT dp_cdp_internal.code('(1,1)'::point);
SELECT dp_cdp_internal.code('1'::money);
SELECT dp_cdp_internal.code(B'101');
SELECT dp_cdp_internal.code('{}'::json);
SELECT dp_cdp_internal.code(ROW(1, 2));
SELECT dp_cdp_internal.code('{"(1,1)"}'::point[]);

-- ---------------------------------------------------------------------
-- Histograms of rows
-- ---------------------------------------------------------------------

SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.exact_histogram(c, 4)) FROM (VALUES (0), (1), (1), (3), (NULL), (4), (2147483647), (-1), (-2147483648)) v (c);
SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.exact_histogram(c, 4)) IS NULL AS none FROM (SELECT 1 AS c WHERE false) v;
SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.exact_histogram(c, 4)) IS NULL AS nulls FROM (VALUES (NULL::int), (NULL)) v (c);
SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.exact_histogram(c, 4) FILTER (WHERE c > 1)) FROM generate_series(0, 3) c;
SELECT dp_cdp_internal.exact_histogram(c, 4) FROM generate_series(0, 3) c;
SELECT dp_cdp_internal.exact_histogram(c, 0) FROM generate_series(0, 3) c;
SELECT dp_cdp_internal.exact_histogram(c, 1048577) FROM generate_series(0, 3) c;
SELECT dp_cdp_internal.exact_histogram(c, 4 + c) FROM generate_series(0, 3) c;

-- ---------------------------------------------------------------------
-- What a unit contributes
-- ---------------------------------------------------------------------

-- 300 units of up to 60 rows in up to 40 groups, in partitions that no unit keeps to
CREATE TABLE visits (unit int, k text, code int, value bigint, t int, ok boolean, part int) PARTITION BY LIST (part);
CREATE TABLE visits0 PARTITION OF visits FOR VALUES IN (0);
CREATE TABLE visits1 PARTITION OF visits FOR VALUES IN (1);
CREATE TABLE visits2 PARTITION OF visits FOR VALUES IN (2);
INSERT INTO visits
	SELECT i % 300, nullif('g' || abs(hashint4extended(i, 3)) % (1 + i % 40 % 8), 'g3'),
		   CASE WHEN i % 11 > 0 THEN abs(hashint4extended(i, 4)) % 10 END, CASE WHEN i % 5 = 0 THEN i WHEN i % 13 > 0 THEN hashint4extended(abs(hashint4extended(i, 5) % 15)::int, 8) * (i % 17 > 0)::int END,
		   CASE WHEN i % 7 > 0 THEN hashint4extended(i, 6) % 16777217 END, i % 3 > 0, i % 3
	  FROM generate_series(1, 12000) i;
ANALYZE visits;

-- m rows of k groups: 0 rows, 1 scaled, 2 codes, 3 distinct, 4 count, 5 all rows, 6 their scaled
CREATE FUNCTION spec(k int, m int, seed bigint DEFAULT 42) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql AS $$
	SELECT dp_cdp_internal.make_bound_spec(1, k, ARRAY[seed, 4711], '{rows,scaled,codes,distinct,count,rows,scaled}',
		ARRAY[c, s, c, c, c, c, s], '{0,0,0,0,0,0,5}')
	  FROM (SELECT dp_cdp_internal.make_grid(0, m, 'int') AS c, dp_cdp_internal.make_scaled_grid(m) AS s) g $$;
CREATE FUNCTION entries(q text, s dp_cdp_internal.bound_spec)
	RETURNS TABLE (unit int, k text, n bigint, t bigint, codes bigint[], distincts bigint[], n_ok bigint, all_rows bigint, all_t bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT unit, k0, v0, v1, v2::bigint[], (SELECT array_agg(x ORDER BY x) FROM unnest(v3) x), v4, v5, v6
		   FROM (SELECT unit, %s FROM (%s) v GROUP BY unit) s', columns('dp_cdp_internal.bound_unit($1, unit, k, ok AND t IS NOT NULL, CASE WHEN ok THEN t END, code, value, ok, t IS NOT NULL, t)', '$1', '{text}', '{rows,scaled,codes,distinct,count,rows,scaled}'), q) USING s;
END $$;

-- everything, by the means of SQL
CREATE TABLE truth AS
	SELECT unit, k, count(*) FILTER (WHERE ok AND t IS NOT NULL) AS n, coalesce(sum(t) FILTER (WHERE ok), 0) AS t,
		   array_agg(code::bigint ORDER BY code) FILTER (WHERE code IS NOT NULL) AS codes,
		   array_agg(DISTINCT value) FILTER (WHERE value IS NOT NULL) AS distincts,
		   count(*) FILTER (WHERE ok) AS n_ok, count(t) AS all_rows, coalesce(sum(t), 0) AS all_t
	  FROM visits GROUP BY unit, k;
SELECT count(*) AS groups, max(all_rows) AS most_rows, max(cardinality(codes)) AS codes, max(cardinality(distincts)) AS distincts FROM truth;

CREATE FUNCTION same_multiset(a bigint[], b bigint[]) RETURNS boolean LANGUAGE sql AS $$
	SELECT (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) IS NOT DISTINCT FROM (SELECT array_agg(x ORDER BY x) FROM unnest(b) x) $$;
CREATE FUNCTION in_multiset(a bigint[], b bigint[]) RETURNS boolean LANGUAGE sql AS $$
	SELECT NOT EXISTS (SELECT x FROM unnest(a) x EXCEPT ALL SELECT x FROM unnest(b) x) $$;
-- how many codes are kept for some of their rows only
CREATE FUNCTION torn(a bigint[], b bigint[]) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (SELECT x, count(*) AS n FROM unnest(a) x GROUP BY x) a JOIN (SELECT x, count(*) AS n FROM unnest(b) x GROUP BY x) b USING (x) WHERE a.n < b.n $$;

-- counts and totals as they are or scaled to m rows; m rows' codes, m values, whichever they are; all when m is large
SET max_parallel_workers_per_gather = 0;
SELECT m, count(*) AS entries, count(*) FILTER (WHERE tr.n > m) AS scaled,
	   count(*) FILTER (WHERE e.n <> least(tr.n, m) OR e.n_ok <> least(tr.n_ok, m) OR e.all_rows <> least(tr.all_rows, m)) AS wrong_counts,
	   count(*) FILTER (WHERE e.t <> trunc(tr.t * least(tr.n, m) / greatest(tr.n, 1)) OR abs(e.t) > m * 16777216::bigint
						   OR e.all_t <> trunc(tr.all_t * least(tr.all_rows, m)::numeric / greatest(tr.all_rows, 1))) AS wrong_totals,
	   count(*) FILTER (WHERE cardinality(e.codes) <> least(coalesce(cardinality(tr.codes), 0), m) OR NOT in_multiset(e.codes, tr.codes) OR torn(e.codes, tr.codes) > 1) AS wrong_codes,
	   count(*) FILTER (WHERE coalesce(cardinality(e.distincts), 0) <> least(coalesce(cardinality(tr.distincts), 0), m) OR NOT in_multiset(e.distincts, tr.distincts)) AS wrong_distincts
  FROM (VALUES (1), (2), (3), (5), (20), (256)) m (m), LATERAL entries('SELECT * FROM visits', spec(1000, m)) e
  LEFT JOIN truth tr ON tr.unit = e.unit AND tr.k IS NOT DISTINCT FROM e.k
 GROUP BY m ORDER BY m;

-- few groups: those that are kept are complete
SELECT k AS groups, count(*) AS entries, max(per_unit) AS most, sum(wrong) AS wrong
  FROM (SELECT v.k, e.unit, count(*) AS per_unit,
			   count(*) FILTER (WHERE a.unit IS NULL) AS wrong
		  FROM (VALUES (1), (2), (5)) v (k), LATERAL entries('SELECT * FROM visits', spec(v.k, 4)) e
		  LEFT JOIN entries('SELECT * FROM visits', spec(1000, 4)) a ON a = e
		 GROUP BY v.k, e.unit) s GROUP BY k ORDER BY k;

-- what m rows keep is part of what m + 1 keep, and differs from unit to unit, group to group and seed to seed
SELECT m, count(*) FILTER (WHERE NOT in_multiset(a.codes, b.codes) OR NOT in_multiset(a.distincts, b.distincts)) AS not_nested
  FROM generate_series(1, 9) m, LATERAL entries('SELECT * FROM visits', spec(1000, m)) a
  JOIN LATERAL entries('SELECT * FROM visits', spec(1000, m + 1)) b ON a.unit = b.unit AND a.k IS NOT DISTINCT FROM b.k
 GROUP BY m ORDER BY m;
SELECT count(DISTINCT codes[1]) AS first_codes, count(DISTINCT distincts[1]) AS first_values
  FROM entries('SELECT unit, g AS k, code, code::bigint AS value, 0 AS t, true AS ok FROM generate_series(1, 40) unit, (VALUES (''a''), (''b'')) g (g), generate_series(0, 3) code', spec(5, 1));
SELECT bool_and(n BETWEEN 1800 AND 2200) AS codes_even FROM (
	SELECT codes[1], count(*) AS n FROM entries('SELECT unit, ''a'' AS k, code, code::bigint AS value, 0 AS t, true AS ok FROM generate_series(1, 6000) unit, generate_series(0, 2) code', spec(5, 1)) GROUP BY 1) s;
SELECT bool_and(n BETWEEN 1800 AND 2200) AS values_even FROM (
	SELECT distincts[1], count(*) AS n FROM entries('SELECT unit, ''a'' AS k, code, code::bigint AS value, 0 AS t, true AS ok FROM generate_series(1, 6000) unit, generate_series(0, 2) code', spec(5, 1)) GROUP BY 1) s;
SELECT count(*) AS orders_of_three, bool_and(n BETWEEN 850 AND 1150) AS even FROM (
	SELECT codes, count(*) AS n FROM entries('SELECT unit, ''a'' AS k, code, code::bigint AS value, 0 AS t, true AS ok FROM generate_series(1, 6000) unit, generate_series(0, 2) code', spec(5, 3)) GROUP BY 1) s;

-- codes and values of all sizes come back as they went in
SELECT count(*) AS units, bool_and(same_multiset(codes, c) AND distincts = v) AS same
  FROM entries('SELECT unit, NULL::text AS k, (hashint4extended(unit * 100 + i, 1) >> 32)::int * (unit % 5 > 0)::int AS code, hashint4extended(unit * 100 + i, 2) * (i > 1)::int AS value, 0 AS t, true AS ok
				  FROM generate_series(1, 200) unit, generate_series(1, 100) i', spec(1, 256)) e
  JOIN (SELECT unit, array_agg(((hashint4extended(unit * 100 + i, 1) >> 32)::int * (unit % 5 > 0)::int)::bigint) AS c, array_agg(DISTINCT hashint4extended(unit * 100 + i, 2) * (i > 1)::int) AS v
		  FROM generate_series(1, 200) unit, generate_series(1, 100) i GROUP BY unit) s USING (unit);

-- any order of rows, with partitions and with workers: the same
CREATE FUNCTION digest(q text, s dp_cdp_internal.bound_spec) RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(e::text, ',' ORDER BY unit, k)) FROM entries(q, s) e $$;
CREATE TABLE digests AS
	SELECT k, m, digest('SELECT * FROM visits', spec(k, m)) AS digest FROM (VALUES (1, 1), (3, 2), (3, 5), (100, 5), (100, 256)) v (k, m);
SELECT v.k, v.m, count(DISTINCT digest('SELECT * FROM visits ORDER BY ' || o, spec(v.k, v.m))) AS digests,
	   bool_and(digest('SELECT * FROM visits ORDER BY ' || o, spec(v.k, v.m)) = digest) AS same
  FROM digests v, (VALUES ('random()'), ('random() '), ('code, value'), ('value DESC, k'), ('part')) o (o) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(DISTINCT digest('SELECT * FROM visits', spec(3, 2, seed))) AS digests FROM generate_series(1, 10) seed;
CREATE FUNCTION plan_of(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (costs off) ' || q LOOP
		IF line ~ 'Workers Planned|Partial .*Aggregate|Append' THEN
			RETURN NEXT trim(regexp_replace(line, '(Hash|Group)Aggregate', 'Aggregate'), ' ->');
		END IF;
	END LOOP;
END $$;
SELECT columns('dp_cdp_internal.bound_unit($1, unit, k, ok AND t IS NOT NULL, CASE WHEN ok THEN t END, code, value, ok, t IS NOT NULL, t)', '$1', '{text}', '{rows,scaled,codes,distinct,count,rows,scaled}') AS columns \gset
PREPARE digest_units(dp_cdp_internal.bound_spec) AS
	SELECT md5(string_agg(ROW(unit, k0, v0, v1, v2::bigint[], (SELECT array_agg(x ORDER BY x) FROM unnest(v3) x), v4, v5, v6)::text, ',' ORDER BY unit, k0)) AS digest
	  FROM (SELECT unit, :columns FROM visits GROUP BY unit) s;
SET dp_cdp.bounding_node = off;
SET enable_partitionwise_aggregate = on;
SELECT plan_of('EXECUTE digest_units(spec(3, 2))');
CREATE TABLE split_digests (k int, m int, digest text);
SELECT columns('dp_cdp_internal.bound_unit($3, unit, k, ok AND t IS NOT NULL, CASE WHEN ok THEN t END, code, value, ok, t IS NOT NULL, t)', '$3', '{text}', '{rows,scaled,codes,distinct,count,rows,scaled}') AS columns \gset
PREPARE add_split(int, int, dp_cdp_internal.bound_spec) AS
	INSERT INTO split_digests SELECT $1, $2, md5(string_agg(ROW(unit, k0, v0, v1, v2::bigint[], (SELECT array_agg(x ORDER BY x) FROM unnest(v3) x), v4, v5, v6)::text, ',' ORDER BY unit, k0))
	  FROM (SELECT unit, :columns FROM visits GROUP BY unit) s;
EXECUTE add_split(1, 1, spec(1, 1));
EXECUTE add_split(3, 2, spec(3, 2));
EXECUTE add_split(3, 5, spec(3, 5));
EXECUTE add_split(100, 5, spec(100, 5));
EXECUTE add_split(100, 256, spec(100, 256));
SELECT count(*) AS same FROM digests JOIN split_digests USING (k, m, digest);
RESET enable_partitionwise_aggregate;
DISCARD PLANS;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_of('EXECUTE digest_units(spec(3, 2))');
CREATE TABLE worker_digest AS EXECUTE digest_units(spec(3, 2));
SELECT count(*) AS same FROM worker_digest JOIN digests USING (digest);

-- ---------------------------------------------------------------------
-- What the groups come to
-- ---------------------------------------------------------------------

-- vectors and counts of all groups, and what SQL makes of the same entries
SELECT columns('dp_cdp_internal.bound_unit($1, unit, k, ok AND t IS NOT NULL, CASE WHEN ok THEN t END, code, value, ok, t IS NOT NULL, t)', '$1', '{text}', '{rows,scaled,codes,distinct,count,rows,scaled}') AS columns \gset
PREPARE totals(dp_cdp_internal.bound_spec) AS
	SELECT k0 AS k, dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(v2, 8)) AS bins, dp_cdp_internal.codes_distinct(v3) AS n
	  FROM (SELECT :columns FROM visits GROUP BY unit) s GROUP BY 1;
CREATE FUNCTION expected(s dp_cdp_internal.bound_spec) RETURNS TABLE (k text, bins bigint[], n bigint) LANGUAGE sql AS $$
	SELECT k, ARRAY(SELECT count(*) FILTER (WHERE least(c, 7) = b) FROM generate_series(0, 7) b, unnest(all_codes) c GROUP BY b ORDER BY b),
		   (SELECT count(DISTINCT x) FROM unnest(all_values) x)
	  FROM (SELECT k, string_to_array(string_agg(nullif(array_to_string(codes, ','), ''), ','), ',')::bigint[] AS all_codes,
				   string_to_array(string_agg(nullif(array_to_string(distincts, ','), ''), ','), ',')::bigint[] AS all_values
			  FROM entries('SELECT * FROM visits', s) GROUP BY k) e $$;
SELECT plan_of('EXECUTE totals(spec(3, 2))');
CREATE TABLE totals_workers AS EXECUTE totals(spec(3, 2));
RESET dp_cdp.bounding_node;
SET max_parallel_workers_per_gather = 0;
DISCARD PLANS;
SELECT plan_of('EXECUTE totals(spec(3, 2))');
CREATE TABLE totals_serial AS EXECUTE totals(spec(3, 2));
CREATE TABLE totals_all AS EXECUTE totals(spec(100, 256));
SELECT (SELECT count(*) FROM totals_serial) AS groups, (SELECT count(*) FROM totals_serial s JOIN totals_workers w ON w = s) AS workers,
	   (SELECT count(*) FROM totals_serial s JOIN expected(spec(3, 2)) e ON s = e) AS expected,
	   (SELECT count(*) FROM totals_all a JOIN (SELECT k, count(DISTINCT value) AS n, count(code) AS codes FROM visits GROUP BY k) v
		  ON v.k IS NOT DISTINCT FROM a.k AND v.n = a.n AND v.codes = (SELECT sum(b) FROM unnest(a.bins) b)) AS complete;

-- nothing to count
SELECT columns('dp_cdp_internal.bound_unit($1, unit, NULL::int, NULL::bigint)', '$1', '{}', '{codes,distinct}') AS columns \gset
PREPARE nothing(dp_cdp_internal.bound_spec, int) AS
	SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(v0, 3)) AS bins, dp_cdp_internal.codes_distinct(v1) AS n
	  FROM (SELECT :columns FROM visits WHERE unit < $2 GROUP BY unit) s;
EXECUTE nothing(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{codes,distinct}', ARRAY[dp_cdp_internal.make_grid(0, 2, 'int'), dp_cdp_internal.make_grid(0, 2, 'int')]), 10);
EXECUTE nothing(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{codes,distinct}', ARRAY[dp_cdp_internal.make_grid(0, 2, 'int'), dp_cdp_internal.make_grid(0, 2, 'int')]), 0);

-- Sets that do not fit into work_mem are sorted instead: the same count by every
-- plan, in every order of rows, of groups that are all large, all small, or some.
CREATE TABLE many AS
	SELECT u AS unit, (CASE WHEN u % 3 = 0 THEN 0 WHEN u % 3 = 1 THEN u % 7 ELSE u % 200 END)::text AS k, ((u * 37 + i * i) % 9000)::bigint AS value
	  FROM generate_series(1, 4000) u, generate_series(1, 20) i;
CREATE TABLE many_truth AS SELECT k, count(DISTINCT value) AS n FROM many GROUP BY k UNION ALL SELECT NULL, count(DISTINCT value) FROM many;
CREATE FUNCTION many_wrong(source text, VARIADIC settings text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
	FOR i IN 1 .. array_length(settings, 1) / 2 LOOP
		PERFORM set_config(settings[2 * i - 1], settings[2 * i], true);
	END LOOP;
	EXECUTE 'WITH found AS MATERIALIZED (
		SELECT k0 AS k, dp_cdp_internal.codes_distinct(v0) AS n
		  FROM (SELECT ' || columns('dp_cdp_internal.bound_unit($1, unit, k, value)', '$1', '{text}', '{distinct}') || ' FROM ' || source || ' GROUP BY unit) s GROUP BY 1
		UNION ALL
		SELECT NULL, dp_cdp_internal.codes_distinct(v0)
		  FROM (SELECT dp_cdp_internal.bound_distinct_codes(0, dp_cdp_internal.bound_unit($2, unit, value), $2) AS v0 FROM ' || source || ' GROUP BY unit) s)
		SELECT count(*) FROM ((TABLE found EXCEPT TABLE many_truth) UNION ALL (TABLE many_truth EXCEPT TABLE found)) w'
		INTO result USING dp_cdp_internal.make_bound_spec(1, 5, '{5,6}', '{distinct}', ARRAY[dp_cdp_internal.make_grid(0, 256, 'int')]),
			dp_cdp_internal.make_bound_spec(0, 1, '{5,6}', '{distinct}', ARRAY[dp_cdp_internal.make_grid(0, 256, 'int')]);
	RETURN result;
END $$;
SELECT many_wrong('many', 'work_mem', '64MB', 'hash_mem_multiplier', '1') AS memory,
	   many_wrong('many', 'work_mem', '64kB', 'enable_sort', 'off') AS hashed,
	   many_wrong('many', 'work_mem', '64kB', 'enable_hashagg', 'off', 'enable_sort', 'on') AS sorted,
	   many_wrong('(SELECT * FROM many ORDER BY value, unit OFFSET 0) m', 'work_mem', '64kB', 'enable_hashagg', 'on') AS by_value,
	   many_wrong('(SELECT * FROM many ORDER BY md5(value::text), unit DESC OFFSET 0) m', 'work_mem', '64kB') AS any_order;
-- for each group by itself, rewound
SELECT (SELECT dp_cdp_internal.codes_distinct(v0)
		  FROM (SELECT dp_cdp_internal.bound_distinct_codes(0, dp_cdp_internal.bound_unit(s, unit, value + j), s) AS v0 FROM many WHERE unit % 2 < j GROUP BY unit) b) = n AS same
  FROM (SELECT j, dp_cdp_internal.make_bound_spec(0, 1, '{5,6}', '{distinct}', ARRAY[dp_cdp_internal.make_grid(0, 256, 'int')]) AS s,
			   (SELECT count(DISTINCT value) FROM many WHERE unit % 2 < j) AS n
		  FROM generate_series(1, 2) j) t;
RESET work_mem;
RESET hash_mem_multiplier;
RESET enable_sort;
RESET enable_hashagg;
DROP TABLE many, many_truth;

-- Leave out any unit: at most k groups change, the bins of each by at most m
-- altogether, its number of distinct values by at most m, the others not at all.
CREATE FUNCTION neighbors(groups int, m int) RETURNS TABLE (units bigint, most_groups bigint, most_codes numeric, most_values bigint, new_groups bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE full_data AS SELECT * FROM entries('SELECT * FROM visits', spec(groups, m));
	RETURN QUERY
	WITH codes AS (SELECT unit, coalesce(k, 'null') AS k, c, count(*) AS n FROM full_data, unnest(codes) c GROUP BY 1, 2, 3),
		vals AS (SELECT DISTINCT unit, coalesce(k, 'null') AS k, v FROM full_data, unnest(distincts) v),
		without AS (SELECT u, e.* FROM generate_series(0, 299, 13) u, LATERAL entries('SELECT * FROM visits WHERE unit <> ' || u, spec(groups, m)) e),
		without_codes AS (SELECT u, coalesce(k, 'null') AS k, c, count(*) AS n FROM without, unnest(codes) c GROUP BY 1, 2, 3),
		code_changes AS (SELECT u, coalesce(a.k, b.k) AS k, sum(abs(coalesce(a.n, 0) - coalesce(b.n, 0))) AS l1
						   FROM (SELECT u, k, c, sum(n) AS n FROM generate_series(0, 299, 13) u, codes GROUP BY 1, 2, 3) a FULL JOIN without_codes b USING (u, k, c) GROUP BY 1, 2),
		value_changes AS (SELECT u, k, abs(a.n - coalesce(b.n, 0)) AS change
							FROM (SELECT u, k, count(DISTINCT v) AS n FROM generate_series(0, 299, 13) u, vals GROUP BY 1, 2) a
							LEFT JOIN (SELECT u, coalesce(k, 'null') AS k, count(DISTINCT v) AS n FROM without, unnest(distincts) v GROUP BY 1, 2) b USING (u, k))
	SELECT (SELECT count(DISTINCT u) FROM code_changes), (SELECT max(n) FROM (SELECT u, count(*) AS n FROM code_changes WHERE l1 > 0 GROUP BY u) s),
		   (SELECT max(l1) FROM code_changes), (SELECT max(change) FROM value_changes),
		   (SELECT count(*) FROM without w LEFT JOIN full_data f ON (w.unit, w.n, w.t, w.codes) = (f.unit, f.n, f.t, f.codes) AND w.k IS NOT DISTINCT FROM f.k WHERE f.unit IS NULL);
	DROP TABLE full_data;
END $$;
SELECT k AS groups, m, n.* FROM (VALUES (1, 1), (2, 3), (100, 2), (3, 256)) v (k, m), LATERAL neighbors(k, m) n;

-- many codes: a thousand bins, many more values than a small set has room for
CREATE TABLE many AS SELECT i % 5000 AS unit, hashint4(i) & 1023 AS code, hashint4extended(i % 80000, 1) AS value FROM generate_series(1, 200000) i;
INSERT INTO many VALUES (1, 5, 0), (2, 5, 0), (-1, NULL, 1);
ANALYZE many;
SELECT columns('dp_cdp_internal.bound_unit($1, unit, code, value)', '$1', '{}', '{codes,distinct}') AS columns \gset
PREPARE many(dp_cdp_internal.bound_spec) AS
	SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(v0, 1024)) AS bins, dp_cdp_internal.codes_distinct(v1) AS n
	  FROM (SELECT :columns FROM many GROUP BY unit) s;
CREATE FUNCTION many_spec(m int) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql AS $$
	SELECT dp_cdp_internal.make_bound_spec(0, 1, '{3,4}', '{codes,distinct}', ARRAY[g, g]) FROM (SELECT dp_cdp_internal.make_grid(0, m, 'int') AS g) g $$;
SELECT plan_of('EXECUTE many(many_spec(256))');
CREATE TABLE many_serial AS EXECUTE many(many_spec(256));
SET max_parallel_workers_per_gather = 2;
SET dp_cdp.bounding_node = off;
DISCARD PLANS;
SELECT plan_of('EXECUTE many(many_spec(256))');
CREATE TABLE many_workers AS EXECUTE many(many_spec(256));
RESET dp_cdp.bounding_node;
SELECT count(*) AS same FROM many_serial s JOIN many_workers w ON s = w;
SELECT n = (SELECT count(DISTINCT value) FROM many) AS n,
	   bins = ARRAY(SELECT count(code) FROM generate_series(0, 1023) b LEFT JOIN many ON code = b GROUP BY b ORDER BY b) AS bins,
	   bins = (SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.exact_histogram(code, 1024)) FROM many) AS by_rows
  FROM many_serial;

-- ---------------------------------------------------------------------
-- Scaling at the edges
-- ---------------------------------------------------------------------

-- a unit with these rows of t, of which at most m count: count and total
CREATE FUNCTION scaled(m bigint, VARIADIC t int[]) RETURNS TABLE (rows bigint, total bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'SELECT ' || columns('dp_cdp_internal.bound_unit($1, t IS NOT NULL, t)', '$1', '{}', '{rows,scaled}') || ' FROM unnest($2) t'
		USING dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{rows,scaled}', ARRAY[dp_cdp_internal.make_grid(0, m, 'bigint'), dp_cdp_internal.make_scaled_grid(m)], '{0,0}'), t;
END $$;
SELECT v.m, left(v.t::text, 40) AS t, s.* FROM (VALUES
	(1::bigint, '{5}'::int[]), (1, '{5,6}'), (1, '{-5,-6}'), (2, '{1,1,1}'), (2, '{-1,-1,-1}'), (2, '{1,1,-1}'), (3, '{1,1,-1}'), (3, '{7,NULL}'), (3, '{NULL,NULL}'),
	(1, array_fill(16777216, '{1000}')), (1, array_fill(-16777216, '{1000}')), (7, array_fill(16777215, '{1000}')), (999, array_fill(16777216, '{1000}')), (1000, array_fill(16777216, '{1000}')),
	(255, array_fill(-16777216, '{1000}')), (1048576, array_fill(16777216, '{1000}')), (2147483647, array_fill(-16777216, '{1000}')),
	-- never more than m, should an argument be no centered value
	(2, '{2147483647,2147483647,2147483647}'), (2, '{-2147483648}'), (5, '{-2147483648,2147483647}')) v (m, t), LATERAL scaled(m, VARIADIC t) s;
-- a total of rows that are not counted; a grid that is narrower than m rows
PREPARE uncounted(dp_cdp_internal.bound_spec, boolean) AS
	SELECT dp_cdp_internal.bound_value(0, dp_cdp_internal.bound_unit($1, $2, t), $1) AS rows, dp_cdp_internal.bound_value(1, dp_cdp_internal.bound_unit($1, $2, t), $1) AS total
	  FROM generate_series(5, 7) t;
CREATE FUNCTION narrow(m int, most int) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql AS $$
	SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{rows,scaled}', ARRAY[dp_cdp_internal.make_grid(0, m, 'int'), dp_cdp_internal.make_grid(-most, most, 'int')], '{0,0}') $$;
EXECUTE uncounted(narrow(3, 100), false);
EXECUTE uncounted(narrow(3, 100), true);
EXECUTE uncounted(narrow(2, 100), true);
EXECUTE uncounted(narrow(2, 10), true);

-- ---------------------------------------------------------------------
-- Out of reach
-- ---------------------------------------------------------------------

CREATE FUNCTION one_grid(m int DEFAULT 1) RETURNS dp_cdp_internal.grid LANGUAGE sql AS $$ SELECT dp_cdp_internal.make_grid(0, m, 'int') $$;
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{scaled}', ARRAY[one_grid()], '{0}');
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{count,scaled}', ARRAY[one_grid(), one_grid()], '{0,0}');
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{rows,scaled}', ARRAY[one_grid(), one_grid()], '{0,2}');
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{rows,scaled}', ARRAY[one_grid(), one_grid()], '{0}');
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{rows,scaled}', ARRAY[one_grid(), dp_cdp_internal.make_grid(0, 1, 'float8')], '{0,0}');
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{codes}', ARRAY[one_grid(257)]);
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{bins}', ARRAY[one_grid()]);
PREPARE wrong(dp_cdp_internal.bound_spec, dp_cdp_internal.bound_spec) AS
	SELECT dp_cdp_internal.bound_value(0, dp_cdp_internal.bound_unit($1, 1, true), $2);
CREATE FUNCTION two(first text, first_grid dp_cdp_internal.grid, second text, second_grid dp_cdp_internal.grid, rows text DEFAULT '{1,1}') RETURNS dp_cdp_internal.bound_spec LANGUAGE sql AS $$
	SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', ARRAY[first, second], ARRAY[first_grid, second_grid], rows::int[]) $$;
EXECUTE wrong(two('sum', one_grid(5), 'count', one_grid(5)), two('sum', one_grid(5), 'count', one_grid(5)));
EXECUTE wrong(two('sum', one_grid(5), 'count', one_grid(5)), two('codes', one_grid(5), 'count', one_grid(5)));
EXECUTE wrong(two('sum', one_grid(5), 'count', one_grid(5)), two('distinct', one_grid(5), 'count', one_grid(5)));
EXECUTE wrong(two('sum', one_grid(5), 'count', one_grid(5)), two('count', one_grid(5), 'count', one_grid(5)));
EXECUTE wrong(two('sum', one_grid(5), 'count', one_grid(5)), dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum}', ARRAY[one_grid(5)]));
EXECUTE wrong(two('sum', one_grid(5), 'count', one_grid(5)), dp_cdp_internal.make_bound_spec(1, 1, '{1,2}', '{sum,count}', ARRAY[one_grid(5), one_grid(5)]));
EXECUTE wrong(two('codes', one_grid(5), 'count', one_grid(5)), two('sum', one_grid(5), 'count', one_grid(5)));
EXECUTE wrong(two('codes', one_grid(5), 'count', one_grid(5)), two('codes', one_grid(5), 'count', one_grid(5)));
EXECUTE wrong(two('distinct', one_grid(5), 'count', one_grid(5)), two('distinct', one_grid(5), 'count', one_grid(5)));
-- codes are no value, values are no codes, a set is no multiset
CREATE TABLE one AS SELECT 1 AS unit, 1 AS code, 1::bigint AS value;
PREPARE misread(dp_cdp_internal.bound_spec, int, int, int) AS
	SELECT dp_cdp_internal.steps_sum(v), dp_cdp_internal.codes_histogram(c, 5), dp_cdp_internal.codes_distinct(d)
	  FROM (SELECT dp_cdp_internal.bound_value($2, b, $1) AS v, dp_cdp_internal.bound_codes($3, b, $1) AS c, dp_cdp_internal.bound_distinct_codes($4, b, $1) AS d
			  FROM (SELECT dp_cdp_internal.bound_unit($1, unit, code, value, true) AS b FROM one GROUP BY unit) s) s;
CREATE FUNCTION three() RETURNS dp_cdp_internal.bound_spec LANGUAGE sql AS $$
	SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{codes,distinct,count}', ARRAY[one_grid(5), one_grid(5), one_grid(5)]) $$;
EXECUTE misread(three(), 2, 0, 1);
EXECUTE misread(three(), 0, 0, 1);
EXECUTE misread(three(), 1, 0, 1);
EXECUTE misread(three(), 2, 1, 1);
EXECUTE misread(three(), 2, 2, 1);
EXECUTE misread(three(), 2, -1, 1);
EXECUTE misread(three(), 2, 0, 0);
EXECUTE misread(three(), 2, 0, 3);
-- only aggregates may change a state
SELECT dp_cdp_internal.exact_histogram_add(NULL, 1, 5);
SELECT dp_cdp_internal.codes_histogram_add(NULL, '{1}', 5);
SELECT dp_cdp_internal.codes_distinct_add(NULL, '{1}');
-- arrays by hand: of any dimensions and bounds, stored or not, NULL as a whole; NULL in them is refused
SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(c, 3)) FROM (VALUES ('{0,1,1}'::int[]), ('{}'), (NULL), ('[5:6]={7,-7}'), ('{{0},{2}}')) v (c);
SELECT dp_cdp_internal.codes_distinct(c) FROM (VALUES ('{0,1,1}'::bigint[]), ('{}'), (NULL), ('[5:6]={7,-7}'), ('{{0},{2}}')) v (c);
CREATE TABLE stored AS SELECT array_agg(i) AS c, array_agg(i::bigint) AS d FROM generate_series(0, 9999) i UNION ALL SELECT '{3}', '{10000}';
SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(c, 5)), dp_cdp_internal.codes_distinct(d) FROM stored;
SELECT dp_cdp_internal.codes_histogram('{0,NULL}'::int[], 3);
SELECT dp_cdp_internal.codes_distinct('{0,NULL}'::bigint[]);
SELECT dp_cdp_internal.codes_histogram('{0}'::int[], 0);

CREATE ROLE regress_dp_nobody;
SET ROLE regress_dp_nobody;
SELECT '(0,1)'::dp_cdp_internal.range;
SELECT '{1,2}'::dp_cdp_internal.exact_vector;
SELECT '\x00'::dp_cdp_internal.exact_distinct;
SELECT dp_cdp_internal.make_range(0, 1, 10, 0);
SELECT dp_cdp_internal.centered(1, NULL), dp_cdp_internal.bin(1, NULL), dp_cdp_internal.code(NULL::int);
SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.exact_histogram(1, 2));
SELECT dp_cdp_internal.exact_histogram(1, 2);
SELECT dp_cdp_internal.exact_vector_combine(NULL, NULL);
CREATE TEMP TABLE t AS SELECT dp_cdp_internal.exact_histogram(1, 2) AS v;
RESET ROLE;
DROP ROLE regress_dp_nobody;

SET client_min_messages = error;
DROP SCHEMA exact_vectors CASCADE;
