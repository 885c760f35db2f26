-- =========================================================================
-- 7. What analysts write (src/guard, src/release)
-- =========================================================================

-- These aggregates are never run: the guard replaces them by exact states
-- and noise.  One that it did not replace ends in an error when it is
-- planned, in the input function of its state type.

CREATE TYPE dp_cdp_internal.unreleased;

CREATE FUNCTION dp_cdp_internal.unreleased_in(cstring) RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_in' LANGUAGE C IMMUTABLE STRICT PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_out(dp_cdp_internal.unreleased) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_unreleased_out' LANGUAGE C IMMUTABLE STRICT PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_in(cstring), dp_cdp_internal.unreleased_out(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE TYPE dp_cdp_internal.unreleased (
	INPUT = dp_cdp_internal.unreleased_in, OUTPUT = dp_cdp_internal.unreleased_out,
	INTERNALLENGTH = 4, PASSEDBYVALUE, ALIGNMENT = int4, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp_internal.unreleased FROM PUBLIC;
COMMENT ON TYPE dp_cdp_internal.unreleased IS 'state of private aggregates, which are never run as such';


CREATE FUNCTION dp_cdp_internal.unreleased_bigint(dp_cdp_internal.unreleased) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_bigint(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp_internal.unreleased_float(dp_cdp_internal.unreleased) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_float(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp_internal.unreleased_numeric(dp_cdp_internal.unreleased) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_numeric(dp_cdp_internal.unreleased) FROM PUBLIC;

CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased) RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any"),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any")
	FROM PUBLIC;

AGGREGATE dp_count(*) bigint
	noisy number of rows, a privacy unit counting for at most max_rows in each group
AGGREGATE dp_count("any") bigint
	noisy number of rows where the argument is not NULL. With DISTINCT it counts values, of which a privacy unit supports at most max_rows, or units
-- averages and spreads; their bounds are those of a row's value
CREATE FUNCTION dp_cdp_internal.unreleased_floats(dp_cdp_internal.unreleased) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_bigints(dp_cdp_internal.unreleased) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, anycompatible, anycompatible) RETURNS anycompatible
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision[]) RETURNS anyarray
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision, anycompatible, anycompatible) RETURNS anycompatible
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision[], anycompatible, anycompatible) RETURNS anycompatiblearray
	AS 'MODULE_PATHNAME', 'dp_unreleased_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.unreleased_floats(dp_cdp_internal.unreleased),
	dp_cdp_internal.unreleased_bigints(dp_cdp_internal.unreleased),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, anycompatible, anycompatible),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anyelement, double precision[]),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision, anycompatible, anycompatible),
	dp_cdp_internal.unreleased_same(dp_cdp_internal.unreleased, anycompatible, double precision[], anycompatible, anycompatible),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any"),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any"),
	dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any", "any")
	FROM PUBLIC;

AGGREGATE dp_avg("any") float
	noisy average; the bounds of a value are those of set_bounds
AGGREGATE dp_avg("any", numeric, numeric) float
	noisy average; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_avg("any", double precision, double precision) float
	noisy average; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_avg("any", text, text) float
	noisy average; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_variance("any") float
	noisy sample variance; the bounds of a value are those of set_bounds
AGGREGATE dp_variance("any", numeric, numeric) float
	noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_variance("any", double precision, double precision) float
	noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_variance("any", text, text) float
	noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_var_samp("any") float
	noisy sample variance; the bounds of a value are those of set_bounds
AGGREGATE dp_var_samp("any", numeric, numeric) float
	noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_var_samp("any", double precision, double precision) float
	noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_var_samp("any", text, text) float
	noisy sample variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_var_pop("any") float
	noisy population variance; the bounds of a value are those of set_bounds
AGGREGATE dp_var_pop("any", numeric, numeric) float
	noisy population variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_var_pop("any", double precision, double precision) float
	noisy population variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_var_pop("any", text, text) float
	noisy population variance; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev("any") float
	noisy sample standard deviation; the bounds of a value are those of set_bounds
AGGREGATE dp_stddev("any", numeric, numeric) float
	noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev("any", double precision, double precision) float
	noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev("any", text, text) float
	noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev_samp("any") float
	noisy sample standard deviation; the bounds of a value are those of set_bounds
AGGREGATE dp_stddev_samp("any", numeric, numeric) float
	noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev_samp("any", double precision, double precision) float
	noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev_samp("any", text, text) float
	noisy sample standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev_pop("any") float
	noisy population standard deviation; the bounds of a value are those of set_bounds
AGGREGATE dp_stddev_pop("any", numeric, numeric) float
	noisy population standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev_pop("any", double precision, double precision) float
	noisy population standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_stddev_pop("any", text, text) float
	noisy population standard deviation; each value is clamped to lower (2nd argument) .. upper (3rd argument)
AGGREGATE dp_covariance("any", "any") float
	noisy sample covariance; the bounds of the values are those of set_bounds
AGGREGATE dp_covariance("any", "any", numeric, numeric, numeric, numeric) float
	noisy sample covariance; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_covariance("any", "any", double precision, double precision, double precision, double precision) float
	noisy sample covariance; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_covar_samp("any", "any") float
	noisy sample covariance; the bounds of the values are those of set_bounds
AGGREGATE dp_covar_samp("any", "any", numeric, numeric, numeric, numeric) float
	noisy sample covariance; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_covar_samp("any", "any", double precision, double precision, double precision, double precision) float
	noisy sample covariance; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_covar_pop("any", "any") float
	noisy population covariance; the bounds of the values are those of set_bounds
AGGREGATE dp_covar_pop("any", "any", numeric, numeric, numeric, numeric) float
	noisy population covariance; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_covar_pop("any", "any", double precision, double precision, double precision, double precision) float
	noisy population covariance; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_correlation("any", "any") float
	noisy correlation; the bounds of the values are those of set_bounds
AGGREGATE dp_correlation("any", "any", numeric, numeric, numeric, numeric) float
	noisy correlation; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_correlation("any", "any", double precision, double precision, double precision, double precision) float
	noisy correlation; lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_regr_slope("any", "any") float
	noisy slope of the regression of the 1st argument on the 2nd. The bounds of the values are those of set_bounds
AGGREGATE dp_regr_slope("any", "any", numeric, numeric, numeric, numeric) float
	noisy slope of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_regr_slope("any", "any", double precision, double precision, double precision, double precision) float
	noisy slope of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_regr_intercept("any", "any") float
	noisy intercept of the regression of the 1st argument on the 2nd. The bounds of the values are those of set_bounds
AGGREGATE dp_regr_intercept("any", "any", numeric, numeric, numeric, numeric) float
	noisy intercept of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd
AGGREGATE dp_regr_intercept("any", "any", double precision, double precision, double precision, double precision) float
	noisy intercept of the regression of the 1st argument on the 2nd. Bounds are lower and upper of the 1st argument, then of the 2nd

-- quantiles and histograms
CREATE AGGREGATE @extschema@.dp_median(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(anyelement) IS
	'noisy median; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_median(anycompatible, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(anycompatible, anycompatible, anycompatible) IS
	'noisy median; each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_min(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_min(anyelement) IS
	'noisy least value, as far as noise lets it be seen. The bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_min(anycompatible, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_min(anycompatible, anycompatible, anycompatible) IS
	'noisy least value, as far as noise lets it be seen. Each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_max(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_max(anyelement) IS
	'noisy greatest value, as far as noise lets it be seen. The bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_max(anycompatible, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_max(anycompatible, anycompatible, anycompatible) IS
	'noisy greatest value, as far as noise lets it be seen. Each value is clamped to lower (2nd argument) .. upper (3rd argument)';
CREATE AGGREGATE @extschema@.dp_quantile(anyelement, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anyelement, double precision) IS
	'noisy quantile q (2nd argument, 0 .. 1); the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_quantile(anycompatible, double precision, anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anycompatible, double precision, anycompatible, anycompatible) IS
	'noisy quantile q (2nd argument, 0 .. 1); each value is clamped to lower (3rd argument) .. upper (4th argument)';
CREATE AGGREGATE @extschema@.dp_quantile(anyelement, double precision[]) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anyelement, double precision[]) IS
	'noisy quantiles at one charge; the bounds of a value are those of set_bounds';
CREATE AGGREGATE @extschema@.dp_quantile(anycompatible, double precision[], anycompatible, anycompatible) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anycompatible, double precision[], anycompatible, anycompatible) IS
	'noisy quantiles at one charge; each value is clamped to lower (3rd argument) .. upper (4th argument)';
AGGREGATE dp_histogram("any", integer) bigints
	noisy counts in bins (2nd argument) of equal width; the bounds are those of set_bounds
AGGREGATE dp_histogram(anycompatible, anycompatible, anycompatible, integer) bigints
	noisy counts in bins (4th argument) of equal width from lower (2nd argument) to upper (3rd argument)
AGGREGATE dp_clipped("any") float
	noisy share of rows outside of the bounds of set_bounds
AGGREGATE dp_clipped(anycompatible, anycompatible, anycompatible) float
	noisy share of rows outside of lower (2nd argument) .. upper (3rd argument)
CREATE AGGREGATE @extschema@.dp_mode(anyelement) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_same, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_mode(anyelement) IS
	'most frequent value, by noisy counts; one of the declared keys';
AGGREGATE dp_bounds("any") floats
	bounds that hold nearly all values, from a noisy histogram over powers of two. NULL: noise hides all of it

-- the error of an answer, beside it
CREATE FUNCTION @extschema@.dp_noise_stddev("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_noise_stddev("any") IS
	'standard deviation of the noise in a private aggregate, free of charge';
CREATE FUNCTION @extschema@.dp_margin("any", confidence double precision DEFAULT 0.95) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_margin("any", double precision) IS
	'half the width of an interval around a private aggregate, free of charge. With this confidence the interval holds the value without noise, and without the cut of a limit that was found. The cut is estimated: people whom the noise hides may have more rows';
CREATE FUNCTION @extschema@.dp_error_stddev("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_error_stddev("any") IS
	'standard deviation of the error of a private aggregate, free of charge. The error is its noise and, by estimate, the part of a count or sum that a limit that was found has cut';
CREATE FUNCTION @extschema@.dp_cut("any") RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_companion' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_cut("any") IS
	'share of people''s contributions to a private aggregate that the limit found for it cuts, by estimate, free of charge. NULL: limits are set';
CREATE FUNCTION dp_cdp_internal.only_one(bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_only_one' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.only_one(bigint) IS
	'1, which a LIMIT has to be; refuses all else';
CREATE FUNCTION dp_cdp.rest() RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_rest' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rest() IS
	'whether a row is of all groups that are not shown, where groups are found privately. GROUP BY dp_cdp.rest() asks for that row, as dp_cdp.rest does for all queries. Elsewhere it is false';
CREATE FUNCTION dp_cdp_internal.margin(stddev double precision, confidence double precision) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_normal_margin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.margin(double precision, double precision) IS
	'half the width of the interval that holds a normal deviate with this confidence';

