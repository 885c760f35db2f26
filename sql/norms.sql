-- What a unit adds to all of its groups, held to a norm: values, shares and bins by hand, and every message.  Run by a
-- superuser, like exact_states.sql, which says who may call what.
SET client_min_messages = warning;
SET plan_cache_mode = force_generic_plan;	-- parameters as the release node has them
CREATE SCHEMA norms;
SET search_path = norms, public;
\set unit 1048576
\set VERBOSITY terse

-- limits, in units of 2^20
CREATE FUNCTION units(VARIADIC n numeric[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce(array_agg((x * 1048576)::bigint ORDER BY i), '{}') FROM unnest(n) WITH ORDINALITY u (x, i) $$;
-- a count, whose rows are 2^20 steps each
CREATE FUNCTION counted(VARIADIC n numeric[]) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql IMMUTABLE AS $$
	SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 4294967295, 'bigint')]), 0, 20, '{}', units(VARIADIC n)) $$;

-- Somebody with 3 rows in one group and 4 in another has the norm 5.  Of his share 2^20 is his norm.
CREATE TABLE visits (who text, k int, n int);
INSERT INTO visits VALUES
	('3 and 4', 1, 3), ('3 and 4', 2, 4), ('6', 1, 6), ('6, nearly', 1, 5), ('6, nearly', 2, 3), ('one of each', 1, 1), ('one of each', 2, 1), ('one of each', 3, 1),
	('one of each', 4, 1), ('many', 1, 1000), ('many', 2, 1), ('nothing', 1, 0), ('nothing', 2, 0);
PREPARE held(dp_cdp_internal.bound_spec) AS
	SELECT who, k, bin, value / :unit AS rows, round(share::numeric / :unit, 7) AS share FROM
		(SELECT who, dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1) AS bin, dp_cdp_internal.bound_value(0, state, $1) AS value,
				dp_cdp_internal.bound_share(0, state, $1) AS share
		   FROM (SELECT who, dp_cdp_internal.bound_unit($1, who, k, i <= n) AS state FROM visits, generate_series(1, greatest(n, 1)) i GROUP BY who) s) s ORDER BY who, k;
EXECUTE held(counted(2, 5, 6, 100));
-- one limit; none; as many as there may be
EXECUTE held(counted(5));
EXECUTE held(counted(VARIADIC '{}'));
SELECT count(*) FROM (SELECT counted(VARIADIC array_agg(i)) FROM generate_series(1, 104) i) s;

-- Held to a limit, a vector has at most its norm: over all groups, in steps, squared.
PREPARE squares(dp_cdp_internal.bound_spec, bigint[]) AS
	SELECT who, max(bin) AS bin, array_agg(held ORDER BY i) AS held, bool_and(squares <= limited ^ 2) AS fits FROM (
		SELECT who, i, l AS limited, max(bin) AS bin, sum(CASE WHEN bin < i THEN value ELSE share * (l / :unit) END ^ 2) AS squares,
			   string_agg(round(CASE WHEN bin < i THEN value ELSE share * (l / :unit) END / :unit, 4)::text, ' ' ORDER BY k) AS held
		  FROM (SELECT who, dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1) AS bin, dp_cdp_internal.bound_value(0, state, $1)::numeric AS value,
					   dp_cdp_internal.bound_share(0, state, $1)::numeric AS share
				  FROM (SELECT who, dp_cdp_internal.bound_unit($1, who, k, i <= n) AS state FROM visits, generate_series(1, greatest(n, 1)) i GROUP BY who) s) s,
			   unnest($2) WITH ORDINALITY l (l, i) GROUP BY who, i, l) s GROUP BY who ORDER BY who;
EXECUTE squares(counted(2, 5, 6, 100), units(2, 5, 6, 100));

-- Sums: shares are rounded toward zero, on both sides of it.  A norm at a limit is in its bin, one step more is not.
CREATE TABLE amounts (who text, k int, x bigint);
INSERT INTO amounts VALUES ('both signs', 1, 2000000), ('both signs', 2, -2000001), ('a limit', 1, :unit), ('a limit, below', 1, -:unit), ('one step more', 1, :unit + 1),
	('one step beside', 1, :unit), ('one step beside', 2, 1), ('one step', 1, 1), ('none', 1, NULL), ('zero', 1, 0), ('zero', 2, 7), ('zero', 2, -7),
	('large', 1, 2::numeric ^ 50), ('larger', 1, 2::numeric ^ 62), ('larger', 2, -(2::numeric ^ 62)), ('the most', 1, 2::numeric ^ 48);
CREATE FUNCTION summed(shift int, VARIADIC n numeric[]) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql IMMUTABLE AS $$
	SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{sum}', ARRAY[dp_cdp_internal.make_grid(-4294967296, 4294967296, 'bigint')]), 0, shift, '{}', units(VARIADIC n)) $$;
-- steps of wide bounds are longer: 2^31 each
SELECT dp_cdp_internal.grid_parts(dp_cdp_internal.make_grid(-4611686018427387904, 4611686018427387904, 'bigint')) AS wide;
CREATE FUNCTION wide(shift int, VARIADIC n numeric[]) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql IMMUTABLE AS $$
	SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{sum}', ARRAY[dp_cdp_internal.make_grid(-4611686018427387904, 4611686018427387904, 'bigint')]), 0, shift, '{}', units(VARIADIC n)) $$;
PREPARE sums(dp_cdp_internal.bound_spec) AS
	SELECT who, k, bin, value, share FROM
		(SELECT who, dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1) AS bin, dp_cdp_internal.bound_value(0, state, $1) AS value,
				dp_cdp_internal.bound_share(0, state, $1) AS share
		   FROM (SELECT who, dp_cdp_internal.bound_unit($1, who, k, x) AS state FROM amounts GROUP BY who) s) s ORDER BY who, k;
EXECUTE sums(summed(0, 1, 3, 5000));
-- steps are halved, four times
EXECUTE sums(summed(4, 16, 48, 268435456));
-- a value is held to 2^50 steps, which is before its norm is known
EXECUTE sums(wide(32, 1, 268435456));

-- Codes: each counts 1, or its share; the norm is that of how many there are in each group.
PREPARE coded(dp_cdp_internal.bound_spec) AS
	SELECT who, k, bin, codes, share, (SELECT dp_cdp_internal.vector_counts(dp_cdp_internal.codes_shares(c, 3, s)) FROM (VALUES (codes, share)) v (c, s)) AS shares FROM
		(SELECT who, dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1) AS bin, dp_cdp_internal.bound_codes(0, state, $1) AS codes, dp_cdp_internal.bound_share(0, state, $1) AS share
		   FROM (SELECT who, dp_cdp_internal.bound_unit($1, who, k, CASE WHEN i <= n THEN k - 1 END) AS state FROM visits, generate_series(1, greatest(n, 1)) i WHERE n < 1000 GROUP BY who) s) s ORDER BY who, k;
EXECUTE coded(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{codes}', ARRAY[dp_cdp_internal.make_grid(0, 64, 'int')]), 0, 20, '{}', units(2, 5, 6)));

-- Several norms, each with values of its own; a value without one is as ever.
CREATE FUNCTION several() RETURNS dp_cdp_internal.bound_spec LANGUAGE sql IMMUTABLE AS $$
	SELECT dp_cdp_internal.with_norm(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{count,sum,units,count}',
		ARRAY[dp_cdp_internal.make_grid(0, 100, 'int'), dp_cdp_internal.make_grid(-100, 100, 'int'), dp_cdp_internal.make_grid(0, 1, 'int'), dp_cdp_internal.make_grid(0, 3, 'int')]),
		1, 18, '{}', units(5, 100)), 0, 20, '{2}', units(2, 4)) $$;
PREPARE several(dp_cdp_internal.bound_spec) AS
	SELECT who, k, bin0, bin1, value0 / :unit AS count, share0 AS of_count, value1 / (:unit / 4) AS sum, share1 AS of_sum, value2 / :unit AS units, share2 AS of_units, value3 AS plain, share3 AS none FROM
		(SELECT who, dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1) AS bin0, dp_cdp_internal.bound_bin(1, state, $1) AS bin1,
				dp_cdp_internal.bound_value(0, state, $1) AS value0, dp_cdp_internal.bound_share(0, state, $1) AS share0, dp_cdp_internal.bound_value(1, state, $1) AS value1, dp_cdp_internal.bound_share(1, state, $1) AS share1,
				dp_cdp_internal.bound_value(2, state, $1) AS value2, dp_cdp_internal.bound_share(2, state, $1) AS share2, dp_cdp_internal.bound_value(3, state, $1) AS value3, dp_cdp_internal.bound_share(3, state, $1) AS share3
		   FROM (SELECT who, dp_cdp_internal.bound_unit($1, who, k, i <= n, 10 - k * 4, true, true) AS state FROM visits, generate_series(1, greatest(n, 1)) i GROUP BY who) s) s ORDER BY who, k;
EXECUTE several(several());

-- An average: sums of centered values are held to the norm of the rows, which are 2^24 steps each.
CREATE FUNCTION averaged() RETURNS dp_cdp_internal.bound_spec LANGUAGE sql IMMUTABLE AS $$
	SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{rows,scaled,scaled}',
		ARRAY[dp_cdp_internal.make_grid(0, 4294967295, 'bigint'), dp_cdp_internal.make_scaled_grid(4294967295), dp_cdp_internal.make_scaled_grid(4294967295)], '{0,0,0}'),
		0, 24, '{1,2}', units(32, 80)) $$;
PREPARE averages(dp_cdp_internal.bound_spec) AS
	SELECT who, k, bin, n / 16777216 AS rows, t / 16777216.0::float8 AS t, t2 / 16777216.0::float8 AS t2, of_n, of_t, of_t2 FROM
		(SELECT who, dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1) AS bin, dp_cdp_internal.bound_value(0, state, $1) AS n, dp_cdp_internal.bound_value(1, state, $1) AS t,
				dp_cdp_internal.bound_value(2, state, $1) AS t2, dp_cdp_internal.bound_share(0, state, $1) AS of_n, dp_cdp_internal.bound_share(1, state, $1) AS of_t, dp_cdp_internal.bound_share(2, state, $1) AS of_t2
		   FROM (SELECT who, dp_cdp_internal.bound_unit($1, who, k, true, t, dp_cdp_internal.chebyshev(t)) AS state
				   FROM (SELECT who, k, dp_cdp_internal.centered(k, dp_cdp_internal.make_range(0, 4, 1, 0)) AS t FROM visits, generate_series(1, n)) s GROUP BY who) s) s ORDER BY who, k;
EXECUTE averages(averaged());
-- what claims to be centered, and is not, counts for no more than its rows do
PREPARE cheats(dp_cdp_internal.bound_spec) AS
	SELECT bin, n / 16777216 AS rows, t / 16777216 AS t, of_n, of_t FROM
		(SELECT dp_cdp_internal.bound_bin(0, state, $1) AS bin, dp_cdp_internal.bound_value(0, state, $1) AS n, dp_cdp_internal.bound_value(1, state, $1) AS t,
				dp_cdp_internal.bound_share(0, state, $1) AS of_n, dp_cdp_internal.bound_share(1, state, $1) AS of_t
		   FROM (SELECT dp_cdp_internal.bound_unit($1, 1, 1, i <= $2, $3::int, NULL::int) AS state FROM generate_series(1, $4) i) s) s;
EXECUTE cheats(averaged(), 2, 2147483647, 3);
EXECUTE cheats(averaged(), 1, -2147483648, 3);
EXECUTE cheats(averaged(), 0, 2147483647, 3);
EXECUTE cheats(averaged(), 4, 2147483647, 4);

-- Values that count in fewer groups, of which those with the least ranks: the norm is over these alone.
PREPARE fewer(dp_cdp_internal.bound_spec) AS
	SELECT who, count(*) AS groups, sum(first) AS first, max(bin) AS bin, sum(value)::bigint / :unit AS rows, count(*) FILTER (WHERE value > 0) AS counted, sum(plain) AS plain FROM
		(SELECT who, dp_cdp_internal.bound_first(0, state) AS first, dp_cdp_internal.bound_bin(0, state, $1) AS bin, dp_cdp_internal.bound_value(0, state, $1) AS value, dp_cdp_internal.bound_value(1, state, $1) AS plain
		   FROM (SELECT who, dp_cdp_internal.bound_unit($1, who, k, true, true) AS state FROM visits, generate_series(1, 2) GROUP BY who) s) s GROUP BY who ORDER BY who;
CREATE FUNCTION fewer(a int, b int) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql IMMUTABLE AS $$
	SELECT dp_cdp_internal.with_groups(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{count,count}', array_fill(dp_cdp_internal.make_grid(0, 100, 'int'), '{2}')), 0, 20, '{}', units(2, 3, 4)), ARRAY[a, b]) $$;
EXECUTE fewer(fewer(10, 10));
EXECUTE fewer(fewer(1, 10));
EXECUTE fewer(fewer(2, 3));

-- ---------------------------------------------------------------------
-- Messages
-- ---------------------------------------------------------------------

-- limits ascend, and are multiples of the unit within 2^48
SELECT counted(2, 2);
SELECT counted(3, 2);
SELECT counted(0, 1);
SELECT counted(-1, 1);
SELECT counted(1.5);
SELECT counted(268435456) IS NOT NULL AS the_most;
SELECT counted(268435457);
SELECT counted(VARIADIC array_agg(i)) FROM generate_series(1, 105) i;
SELECT dp_cdp_internal.with_norm(counted(1), 0, 20, '{}', ARRAY[1048576, NULL]);
-- a value has one norm, and each norm one of its own; codes have that of no other, and sets have none
SELECT dp_cdp_internal.with_norm(counted(1), 0, 20, '{}', units(1));
SELECT dp_cdp_internal.with_norm(counted(1), 1, 20, '{}', units(1));
SELECT dp_cdp_internal.with_norm(counted(1), -1, 20, '{}', units(1));
SELECT dp_cdp_internal.with_norm(several(), 3, 20, '{4}', units(1));
SELECT dp_cdp_internal.with_norm(several(), 3, 33, '{}', units(1));
SELECT dp_cdp_internal.with_norm(several(), 3, -1, '{}', units(1));
SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{count,codes}', array_fill(dp_cdp_internal.make_grid(0, 5, 'int'), '{2}')), 0, 0, '{1}', units(1));
SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{codes,count}', array_fill(dp_cdp_internal.make_grid(0, 5, 'int'), '{2}')), 0, 0, '{1}', units(1));
SELECT dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{count,distinct}', array_fill(dp_cdp_internal.make_grid(0, 5, 'int'), '{2}')), 0, 0, '{1}', units(1));
-- what a norm limits counts in no more groups than what it is of
SELECT dp_cdp_internal.with_groups(several(), '{4,5,4,7}') IS NOT NULL AS fits;
SELECT dp_cdp_internal.with_groups(several(), '{4,5,5,7}');
SELECT dp_cdp_internal.with_groups(several(), '{4,5,0,7}');
SELECT dp_cdp_internal.with_groups(several(), '{4,5,4}');
-- norms and values that are not there, and specs of another shape
PREPARE column_of(dp_cdp_internal.bound_spec, dp_cdp_internal.bound_spec, int, int) AS
	SELECT dp_cdp_internal.bound_bin($3, state, $2), dp_cdp_internal.bound_share($4, state, $2) FROM (SELECT dp_cdp_internal.bound_unit($1, who, k, true) AS state FROM visits GROUP BY who) s LIMIT 1;
EXECUTE column_of(counted(1), counted(1), 1, 0);
EXECUTE column_of(counted(1), counted(1), -1, 0);
EXECUTE column_of(counted(1), counted(1), 1000, 0);
EXECUTE column_of(counted(1), counted(1), 0, 1);
EXECUTE column_of(counted(1), counted(1), 0, -1);
EXECUTE column_of(counted(1), several(), 0, 0);
EXECUTE column_of(counted(1), summed(0, 1), 0, 0);
EXECUTE column_of(dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 5, 'int')]), counted(1), 0, 0);
EXECUTE column_of(counted(1), dp_cdp_internal.make_bound_spec(1, 10, '{1,2}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 5, 'int')]), 0, 0);
-- of nothing there is nothing
SELECT dp_cdp_internal.bound_bin(0, NULL, counted(1)), dp_cdp_internal.bound_share(0, NULL, counted(1)), dp_cdp_internal.bound_first(0, NULL);

-- What a release gathers: values, shares and first units by bin.  Who is in none, and adds nothing, is left out.
SELECT dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b, v, s, f)) AS parts
	FROM (VALUES (3, 10, 1, 1), (0, 5, 0, 1), (3, -4, 2, 0), (104, 0, 7, 1), (-1, 0, 0, 1), (2, NULL, 1, 1), (-1, 6, 0, 0)) r (b, v, s, f);
SELECT dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(1, -4611686018427387904, 1048576, 1)) AS parts FROM generate_series(1, 5);
SELECT dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(i * 37 % 105, i, 1, 0)) = (SELECT array_agg(x ORDER BY i * 37 % 105, o) FROM generate_series(0, 104) i, unnest(ARRAY[i * 37 % 105, 3 * i + 630, 3, 0]::numeric[]) WITH ORDINALITY u (x, o)) AS all_bins
	FROM (SELECT i + 105 * j AS i FROM generate_series(0, 104) i, generate_series(1, 3) j) r;
SELECT dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(-1, 0, 0, 1)) IS NULL AS nothing;
SELECT dp_cdp_internal.limited_sum(105, 1, 1, 1);
SELECT dp_cdp_internal.limited_sum(-2, 1, 1, 1);
SELECT dp_cdp_internal.limited_sum_add(NULL, 1, 1, 1, 1);

DROP SCHEMA norms CASCADE;
