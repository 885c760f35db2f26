-- Sums of centered values, all from one state: moment_n, moment_t, ... moment_tu
SET client_min_messages = warning;
CREATE SCHEMA exact_moments;
SET search_path = exact_moments, public;

-- as plain integers
CREATE FUNCTION v(dp_cdp_internal.exact_sum) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN dp_cdp_internal.exact_sum_value($1, dp_cdp_internal.make_grid(-1, 1, 'integer'));
CREATE FUNCTION r(float8, float8) RETURNS dp_cdp_internal.range LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN dp_cdp_internal.make_range($1, $2, 1, 0);

-- by hand: -1, -1/2, 0, 1/2, 1, and what is out of bounds
SELECT v(dp_cdp_internal.moment_n(x, r(0, 4))) AS n, v(dp_cdp_internal.moment_t(x, r(0, 4))) / 2 ^ 24 AS t, v(dp_cdp_internal.moment_t2(x, r(0, 4))) / 2 ^ 24 AS t2
FROM (VALUES (0), (1), (2), (3), (4)) s (x);
SELECT v(dp_cdp_internal.moment_n(x, r(0, 4))) AS n, v(dp_cdp_internal.moment_t(x, r(0, 4))) / 2 ^ 24 AS t, v(dp_cdp_internal.moment_t2(x, r(0, 4))) / 2 ^ 24 AS t2
FROM (VALUES (-7), (1000), (2147483647)) s (x);

-- NULL and NaN are no rows, infinities are clamped; no rows give 0
SELECT v(dp_cdp_internal.moment_n(x, r(0, 4))) AS n, v(dp_cdp_internal.moment_t(x, r(0, 4))) / 2 ^ 24 AS t, v(dp_cdp_internal.moment_t2(x, r(0, 4))) / 2 ^ 24 AS t2
FROM (VALUES (NULL::float8), ('NaN'), ('Infinity'), ('Infinity'), ('-Infinity')) s (x);
SELECT v(dp_cdp_internal.moment_n(x, r(0, 4))) AS n, v(dp_cdp_internal.moment_t(x, r(0, 4))) AS t FROM (VALUES (NULL::numeric), ('NaN')) s (x);
SELECT v(dp_cdp_internal.moment_n(x, r(0, 4))) AS n, v(dp_cdp_internal.moment_t2(x, r(0, 4))) AS t2 FROM (SELECT 1::real AS x WHERE false) s;
SELECT v(dp_cdp_internal.moment_n(t, u)) AS n, v(dp_cdp_internal.moment_tu(t, u)) AS tu FROM (VALUES (1, NULL::int), (NULL, 1)) s (t, u);
-- neither has a row without bounds
SELECT v(dp_cdp_internal.moment_n(x, CASE WHEN x > 1 THEN r(0, 4) END)) AS n FROM generate_series(1, 3) x;

-- within one step, also where bounds are at the ends of double precision
SELECT l AS lower, u AS upper, max(abs(dp_cdp_internal.centered(l * (1 - f) + u * f, r(l, u)) - (2 * f - 1) * 2 ^ 24)) <= 1 AS near
FROM (VALUES (0::float8, 1::float8), (-1.7976931348623157e308, 1.7976931348623157e308), (0, 1.7976931348623157e308), (-1e308, -9e307),
		  (1e308, 1.7e308), (1e-300, 3e-300), (-5e-310, 3e-310), (1e-310, 2e-310), (1e15, 1.1e15), (-3, 1e9)) b (l, u),
	(SELECT i / 1024.0::float8 AS f FROM generate_series(0, 1024) i) f
GROUP BY l, u ORDER BY l, u;

-- arguments that were not centered do not add more than centered ones could
SELECT v(dp_cdp_internal.moment_t(t, u)) / 2 ^ 24 AS t, v(dp_cdp_internal.moment_t2(t, u)) / 2 ^ 24 AS t2, v(dp_cdp_internal.moment_u(t, u)) / 2 ^ 24 AS u,
	v(dp_cdp_internal.moment_u2(t, u)) / 2 ^ 24 AS u2, v(dp_cdp_internal.moment_tu(t, u)) / 2 ^ 24 AS tu
FROM (VALUES (2147483647, -2147483648)) s (t, u);

-- the same as sums of what the functions for single rows return, for every type, by groups, with workers
CREATE TABLE many AS
SELECT i, i % 7 AS g, (i * 7919 % 30000 - 15000)::int2 AS a, (i * 104729 % 2000003 - 1000000) AS b, i::int8 * 1000003 AS c,
	(sin(i) * 1e6)::float4 AS d, CASE WHEN i % 11 > 0 THEN cos(i) * 1e6 END AS e, round((sin(i) * 1e6)::numeric, i % 5) AS f
FROM generate_series(1, 20000) i;
ANALYZE many;
CREATE FUNCTION compare(x text) RETURNS TABLE (rows bigint, differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE replace($q$
		SELECT sum(n)::int8, count(*) FILTER (WHERE (n, t, t2) IS DISTINCT FROM (n_rows, t_rows, t2_rows))
		FROM (SELECT g, exact_moments.v(dp_cdp_internal.moment_n(?, r)) AS n, exact_moments.v(dp_cdp_internal.moment_t(?, r)) AS t,
				  exact_moments.v(dp_cdp_internal.moment_t2(?, r)) AS t2,
				  count(dp_cdp_internal.centered(?, r)) AS n_rows, sum(dp_cdp_internal.centered(?, r)) AS t_rows,
				  sum(dp_cdp_internal.chebyshev(dp_cdp_internal.centered(?, r))) AS t2_rows
			  FROM exact_moments.many, exact_moments.r(-900000, 700000.5) r WHERE i % 3 > 0 GROUP BY g) q $q$, '?', x);
END $$;
SELECT x, c.* FROM unnest('{a,b,c,d,e,f}'::text[]) x, compare(x) c;
SELECT count(*) AS groups,
	count(*) FILTER (WHERE (n, t, t2, u, u2, tu) IS DISTINCT FROM (n_rows, t_rows, t2_rows, u_rows, u2_rows, tu_rows)) AS differ
FROM (SELECT g, v(dp_cdp_internal.moment_n(t, u)) AS n, v(dp_cdp_internal.moment_t(t, u)) AS t, v(dp_cdp_internal.moment_t2(t, u)) AS t2,
		  v(dp_cdp_internal.moment_u(t, u)) AS u, v(dp_cdp_internal.moment_u2(t, u)) AS u2, v(dp_cdp_internal.moment_tu(t, u)) AS tu,
		  count(*) FILTER (WHERE u IS NOT NULL) AS n_rows, sum(t) FILTER (WHERE u IS NOT NULL) AS t_rows,
		  sum(dp_cdp_internal.chebyshev(t)) FILTER (WHERE u IS NOT NULL) AS t2_rows, sum(u) AS u_rows,
		  sum(dp_cdp_internal.chebyshev(u)) AS u2_rows, sum(dp_cdp_internal.product(t, u)) AS tu_rows
	  FROM (SELECT g, dp_cdp_internal.centered(b, r(-1e6, 1e6)) AS t, dp_cdp_internal.centered(e, r(-1e6, 5e5)) AS u FROM many OFFSET 0) s
	  GROUP BY g) q;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
PREPARE sums(dp_cdp_internal.range) AS
	SELECT v(n) AS n, v(t) AS t, v(t2) AS t2 FROM (SELECT dp_cdp_internal.moment_n(b, $1) AS n, dp_cdp_internal.moment_t(b, $1) AS t, dp_cdp_internal.moment_t2(b, $1) AS t2 FROM many OFFSET 0) q;
EXPLAIN (COSTS OFF) EXECUTE sums(r(-1e6, 1e6));
EXECUTE sums(r(-1e6, 1e6));
SET max_parallel_workers_per_gather = 0;
EXECUTE sums(r(-1e6, 1e6));

-- a state cannot be read, written or made by hand
SELECT dp_cdp_internal.moment_t(1, r(0, 4));
SELECT '1'::dp_cdp_internal.exact_moments;
SELECT dp_cdp_internal.moments_add('0', 1, 1);
SELECT dp_cdp_internal.moment_t('a'::text, r(0, 4));
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_type t ON t.typname = 'exact_moments'
WHERE p.pronamespace = 'dp_cdp_internal'::regnamespace AND (t.oid = ANY (p.proargtypes) OR p.prorettype = t.oid)
	AND has_function_privilege('public', p.oid, 'EXECUTE') ORDER BY 1;
SELECT has_type_privilege('public', 'dp_cdp_internal.exact_moments', 'USAGE') AS usage;

DROP SCHEMA exact_moments CASCADE;
