-- =========================================================================
-- 2. Exact states (src/agg)
-- =========================================================================

-- For inner queries of releases only.  The types have no text form (but '0'
-- for an empty exact_sum or exact_moments, and what grids, ranges and specs travel in
-- where there is Citus), no binary form and no casts, and print as a
-- constant; nobody has USAGE on them.

CREATE TYPE dp_cdp_internal.grid;
CREATE TYPE dp_cdp_internal.exact_sum;
CREATE TYPE dp_cdp_internal.bound_spec;
CREATE TYPE dp_cdp_internal.bound_state;
CREATE TYPE dp_cdp_internal.range;
CREATE TYPE dp_cdp_internal.exact_moments;
CREATE TYPE dp_cdp_internal.exact_vector;
CREATE TYPE dp_cdp_internal.limited_sum;
CREATE TYPE dp_cdp_internal.exact_distinct;
CREATE TYPE dp_cdp_internal.exact_float;
CREATE TYPE dp_cdp_internal.key_set;

CREATE FUNCTION dp_cdp_internal.grid_in(cstring) RETURNS dp_cdp_internal.grid
	AS 'MODULE_PATHNAME', 'dp_grid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.grid_out(dp_cdp_internal.grid) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_grid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_in(cstring) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_out(dp_cdp_internal.exact_sum) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_spec_in(cstring) RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_bound_spec_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_spec_out(dp_cdp_internal.bound_spec) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_bound_spec_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_state_in(cstring) RETURNS dp_cdp_internal.bound_state
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bound_state_out(dp_cdp_internal.bound_state) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.range_in(cstring) RETURNS dp_cdp_internal.range
	AS 'MODULE_PATHNAME', 'dp_range_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.range_out(dp_cdp_internal.range) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_range_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_moments_in(cstring) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_exact_moments_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_moments_out(dp_cdp_internal.exact_moments) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_vector_in(cstring) RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_vector_out(dp_cdp_internal.exact_vector) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_in(cstring) RETURNS dp_cdp_internal.limited_sum
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_out(dp_cdp_internal.limited_sum) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_distinct_in(cstring) RETURNS dp_cdp_internal.exact_distinct
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_distinct_out(dp_cdp_internal.exact_distinct) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_in(cstring) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_out(dp_cdp_internal.exact_float) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION dp_cdp_internal.key_set_in(cstring) RETURNS dp_cdp_internal.key_set
	AS 'MODULE_PATHNAME', 'dp_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.key_set_out(dp_cdp_internal.key_set) RETURNS cstring
	AS 'MODULE_PATHNAME', 'dp_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE dp_cdp_internal.grid (
	INPUT = dp_cdp_internal.grid_in, OUTPUT = dp_cdp_internal.grid_out,
	INTERNALLENGTH = 32, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_sum (
	INPUT = dp_cdp_internal.exact_sum_in, OUTPUT = dp_cdp_internal.exact_sum_out,
	INTERNALLENGTH = 16, ALIGNMENT = double, STORAGE = plain
);
-- plain: never packed or toasted, so that they are used where they lie
CREATE TYPE dp_cdp_internal.bound_spec (
	INPUT = dp_cdp_internal.bound_spec_in, OUTPUT = dp_cdp_internal.bound_spec_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.bound_state (
	INPUT = dp_cdp_internal.bound_state_in, OUTPUT = dp_cdp_internal.bound_state_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.range (
	INPUT = dp_cdp_internal.range_in, OUTPUT = dp_cdp_internal.range_out,
	INTERNALLENGTH = 32, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_moments (
	INPUT = dp_cdp_internal.exact_moments_in, OUTPUT = dp_cdp_internal.exact_moments_out,
	INTERNALLENGTH = 96, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_vector (
	INPUT = dp_cdp_internal.exact_vector_in, OUTPUT = dp_cdp_internal.exact_vector_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.limited_sum (
	INPUT = dp_cdp_internal.limited_sum_in, OUTPUT = dp_cdp_internal.limited_sum_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_distinct (
	INPUT = dp_cdp_internal.exact_distinct_in, OUTPUT = dp_cdp_internal.exact_distinct_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.exact_float (
	INPUT = dp_cdp_internal.exact_float_in, OUTPUT = dp_cdp_internal.exact_float_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
CREATE TYPE dp_cdp_internal.key_set (
	INPUT = dp_cdp_internal.key_set_in, OUTPUT = dp_cdp_internal.key_set_out,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = plain
);
REVOKE USAGE ON TYPE dp_cdp_internal.grid, dp_cdp_internal.exact_sum, dp_cdp_internal.bound_spec,
	dp_cdp_internal.bound_state, dp_cdp_internal.range, dp_cdp_internal.exact_moments,
	dp_cdp_internal.exact_vector, dp_cdp_internal.limited_sum, dp_cdp_internal.exact_distinct, dp_cdp_internal.exact_float, dp_cdp_internal.key_set FROM PUBLIC;

-- Long lists of declared keys

CREATE FUNCTION dp_cdp_internal.is_declared_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'dp_is_declared_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.is_declared(anyelement, dp_cdp_internal.key_set) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_is_declared' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT dp_cdp_internal.is_declared_support;
CREATE FUNCTION dp_cdp_internal.key_place(anyelement, dp_cdp_internal.key_set) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_key_place' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION dp_cdp_internal.is_shown(VARIADIC "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_is_shown' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- Sums of rows

CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, smallint, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int2' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, integer, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, bigint, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_int8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, real, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, double precision, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, numeric, dp_cdp_internal.grid) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_numeric' LANGUAGE C IMMUTABLE PARALLEL SAFE;
-- what a row adds, for sums of other servers
CREATE FUNCTION dp_cdp_internal.clamped_steps(smallint, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(integer, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(bigint, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(real, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(double precision, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.clamped_steps(numeric, dp_cdp_internal.grid) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_clamped_steps_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_combine(dp_cdp_internal.exact_sum, dp_cdp_internal.exact_sum) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_exact_sum_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE dp_cdp_internal.exact_sum(smallint, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(integer, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(bigint, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(real, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(double precision, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.exact_sum(numeric, dp_cdp_internal.grid) (
	SFUNC = dp_cdp_internal.exact_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);

-- Contributions of units: one state per unit, one row per kept group, of which each function is a column

CREATE FUNCTION dp_cdp_internal.bound_unit_add(dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec, VARIADIC "any")
	RETURNS dp_cdp_internal.bound_state
	AS 'MODULE_PATHNAME', 'dp_bound_unit' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
CREATE FUNCTION dp_cdp_internal.bound_unit_combine(dp_cdp_internal.bound_state, dp_cdp_internal.bound_state)
	RETURNS dp_cdp_internal.bound_state
	AS 'MODULE_PATHNAME', 'dp_bound_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.bound_unit(dp_cdp_internal.bound_spec, VARIADIC "any") (
	SFUNC = dp_cdp_internal.bound_unit_add, STYPE = dp_cdp_internal.bound_state, SSPACE = 256,
	COMBINEFUNC = dp_cdp_internal.bound_unit_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.bound_key(integer, dp_cdp_internal.bound_state, anyelement) RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'dp_bound_key' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_value(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_codes(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF integer[]
	AS 'MODULE_PATHNAME', 'dp_bound_codes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_distinct_codes(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint[]
	AS 'MODULE_PATHNAME', 'dp_bound_distinct_codes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_cut(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF integer[]
	AS 'MODULE_PATHNAME', 'dp_bound_cut' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_share(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_share' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_bin(integer, dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_bin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.bound_first(integer, dp_cdp_internal.bound_state) RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_bound_first' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
CREATE FUNCTION dp_cdp_internal.steps_sum_add(dp_cdp_internal.exact_sum, bigint) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_steps_sum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.steps_sum(bigint) (
	SFUNC = dp_cdp_internal.steps_sum_add, STYPE = dp_cdp_internal.exact_sum, SSPACE = 32, INITCOND = '0',
	COMBINEFUNC = dp_cdp_internal.exact_sum_combine, PARALLEL = SAFE
);

-- Values relative to bounds, and codes of values

CREATE FUNCTION dp_cdp_internal.centered(smallint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(integer, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(bigint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(real, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(double precision, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.centered(numeric, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_centered_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(smallint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(integer, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(bigint, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(real, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(double precision, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(numeric, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(date, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(timestamp, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.bin(timestamptz, dp_cdp_internal.range) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_bin_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.chebyshev(integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_chebyshev' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.product(integer, integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.code(anyelement) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_code' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Sums of centered values.  Aggregates of the same arguments share one state
-- and one call per row, because only their final functions differ.

CREATE FUNCTION dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, anyelement, dp_cdp_internal.range) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_moments_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, integer, integer) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_moments_add2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_combine(dp_cdp_internal.exact_moments, dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_moments
	AS 'MODULE_PATHNAME', 'dp_moments_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_n(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_t(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_t' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_t2(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_t2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_u(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_u' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_u2(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_u2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.moments_tu(dp_cdp_internal.exact_moments) RETURNS dp_cdp_internal.exact_sum
	AS 'MODULE_PATHNAME', 'dp_moments_tu' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.moment_n(x anyelement, dp_cdp_internal.range) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_n, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t(x anyelement, dp_cdp_internal.range) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t2(x anyelement, dp_cdp_internal.range) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t2, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_n(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_n, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_t2(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_t2, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_u(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_u, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_u2(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_u2, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.moment_tu(t integer, u integer) (
	SFUNC = dp_cdp_internal.moments_add, STYPE = dp_cdp_internal.exact_moments, SSPACE = 112, INITCOND = '0',
	FINALFUNC = dp_cdp_internal.moments_tu, COMBINEFUNC = dp_cdp_internal.moments_combine, PARALLEL = SAFE
);

-- Histograms and sets of codes; not strict, as there is no initial state

CREATE FUNCTION dp_cdp_internal.exact_histogram_add(dp_cdp_internal.exact_vector, integer, integer)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_exact_histogram' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.codes_histogram_add(dp_cdp_internal.exact_vector, integer[], integer)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_codes_histogram' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_vector_combine(dp_cdp_internal.exact_vector, dp_cdp_internal.exact_vector)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_exact_vector_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.exact_histogram(code integer, bins integer) (
	SFUNC = dp_cdp_internal.exact_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192,
	COMBINEFUNC = dp_cdp_internal.exact_vector_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.codes_histogram(codes integer[], bins integer) (
	SFUNC = dp_cdp_internal.codes_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192,
	COMBINEFUNC = dp_cdp_internal.exact_vector_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.codes_shares_add(dp_cdp_internal.exact_vector, integer[], integer, bigint)
	RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_codes_shares' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.codes_shares(codes integer[], bins integer, share bigint) (
	SFUNC = dp_cdp_internal.codes_shares_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192,
	COMBINEFUNC = dp_cdp_internal.exact_vector_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.limited_sum_add(dp_cdp_internal.limited_sum, bigint, bigint, bigint, bigint)
	RETURNS dp_cdp_internal.limited_sum
	AS 'MODULE_PATHNAME', 'dp_limited_sum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_combine(dp_cdp_internal.limited_sum, dp_cdp_internal.limited_sum)
	RETURNS dp_cdp_internal.limited_sum
	AS 'MODULE_PATHNAME', 'dp_limited_sum_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.limited_sum(bin bigint, value bigint, share bigint, first bigint) (
	SFUNC = dp_cdp_internal.limited_sum_add, STYPE = dp_cdp_internal.limited_sum, SSPACE = 128,
	COMBINEFUNC = dp_cdp_internal.limited_sum_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.codes_distinct_add(dp_cdp_internal.exact_distinct, bigint[])
	RETURNS dp_cdp_internal.exact_distinct
	AS 'MODULE_PATHNAME', 'dp_codes_distinct' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.distinct_count(dp_cdp_internal.exact_distinct) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_distinct_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.codes_distinct(codes bigint[]) (
	SFUNC = dp_cdp_internal.codes_distinct_add, STYPE = dp_cdp_internal.exact_distinct, SSPACE = 4096,
	FINALFUNC = dp_cdp_internal.distinct_count, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.codes_distinct_shares_add(dp_cdp_internal.exact_distinct, bigint[], bigint, dp_cdp_internal.bound_spec, integer)
	RETURNS dp_cdp_internal.exact_distinct
	AS 'MODULE_PATHNAME', 'dp_codes_distinct_shares' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.distinct_shares(dp_cdp_internal.exact_distinct) RETURNS dp_cdp_internal.exact_vector
	AS 'MODULE_PATHNAME', 'dp_distinct_shares' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.codes_distinct_shares(codes bigint[], share bigint, dp_cdp_internal.bound_spec, value integer) (
	SFUNC = dp_cdp_internal.codes_distinct_shares_add, STYPE = dp_cdp_internal.exact_distinct, SSPACE = 4096,
	FINALFUNC = dp_cdp_internal.distinct_shares, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);

-- Aggregates of one unit's rows, in place of PostgreSQL's own whose results depend on the
-- order of rows: floating point is added up without rounding, and min and max tell apart
-- what is equal but written differently.  sum and avg share a state, variances do.

CREATE FUNCTION dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, real) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_add4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, double precision) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_add8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, real) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_square4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, double precision) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_square8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_combine(dp_cdp_internal.exact_float, dp_cdp_internal.exact_float) RETURNS dp_cdp_internal.exact_float
	AS 'MODULE_PATHNAME', 'dp_exact_float_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_sum4(dp_cdp_internal.exact_float) RETURNS real
	AS 'MODULE_PATHNAME', 'dp_exact_float_sum4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_sum8(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_sum8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_avg(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_avg' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_var_pop(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_var_pop' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_var_samp(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_var_samp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_stddev_pop(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_stddev_pop' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_float_stddev_samp(dp_cdp_internal.exact_float) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_exact_float_stddev_samp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.unit_sum(real) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_sum4, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_sum(double precision) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_sum8, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_avg(real) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_avg, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_avg(double precision) (
	SFUNC = dp_cdp_internal.exact_float_add, STYPE = dp_cdp_internal.exact_float, SSPACE = 64,
	FINALFUNC = dp_cdp_internal.exact_float_avg, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_pop(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_pop(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_samp(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_var_samp(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_var_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_pop(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_pop(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_pop, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_samp(real) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_stddev_samp(double precision) (
	SFUNC = dp_cdp_internal.exact_float_square, STYPE = dp_cdp_internal.exact_float, SSPACE = 128,
	FINALFUNC = dp_cdp_internal.exact_float_stddev_samp, COMBINEFUNC = dp_cdp_internal.exact_float_combine, PARALLEL = SAFE
);
CREATE FUNCTION dp_cdp_internal.greater_of(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_greater_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_less_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(bpchar, bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_greater_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(bpchar, bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_less_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(interval, interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_greater_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(interval, interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_less_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(real, real) RETURNS real
	AS 'MODULE_PATHNAME', 'dp_greater_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(real, real) RETURNS real
	AS 'MODULE_PATHNAME', 'dp_less_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.greater_of(double precision, double precision) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_greater_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.less_of(double precision, double precision) RETURNS double precision
	AS 'MODULE_PATHNAME', 'dp_less_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.unit_max(numeric) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = numeric, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(numeric) (
	SFUNC = dp_cdp_internal.less_of, STYPE = numeric, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(bpchar) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = bpchar, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(bpchar) (
	SFUNC = dp_cdp_internal.less_of, STYPE = bpchar, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(interval) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = interval, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(interval) (
	SFUNC = dp_cdp_internal.less_of, STYPE = interval, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(real) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = real, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(real) (
	SFUNC = dp_cdp_internal.less_of, STYPE = real, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_max(double precision) (
	SFUNC = dp_cdp_internal.greater_of, STYPE = double precision, COMBINEFUNC = dp_cdp_internal.greater_of, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_min(double precision) (
	SFUNC = dp_cdp_internal.less_of, STYPE = double precision, COMBINEFUNC = dp_cdp_internal.less_of, PARALLEL = SAFE
);
-- strings and arrays of one unit's rows; NULL where they are long
CREATE FUNCTION dp_cdp_internal.gather_string(internal, text, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'dp_gather_string' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.gathered_string(internal) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_gathered_string' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.gather_array(internal, anynonarray) RETURNS internal
	AS 'MODULE_PATHNAME', 'dp_gather_array' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.gathered_array(internal, anynonarray) RETURNS anyarray
	AS 'MODULE_PATHNAME', 'dp_gathered_array' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE dp_cdp_internal.unit_string_agg(text, text) (
	SFUNC = dp_cdp_internal.gather_string, STYPE = internal, FINALFUNC = dp_cdp_internal.gathered_string, PARALLEL = SAFE
);
CREATE AGGREGATE dp_cdp_internal.unit_array_agg(anynonarray) (
	SFUNC = dp_cdp_internal.gather_array, STYPE = internal, FINALFUNC = dp_cdp_internal.gathered_array, FINALFUNC_EXTRA, PARALLEL = SAFE
);

-- For the extension's owner and tests: grids by hand, exact values without noise

CREATE FUNCTION dp_cdp_internal.make_grid(lower numeric, upper numeric, input regtype) RETURNS dp_cdp_internal.grid
	AS 'MODULE_PATHNAME', 'dp_make_grid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.make_bound_spec(nkeys integer, max_groups integer, seed bigint[],
		kinds text[], grids dp_cdp_internal.grid[], rows integer[] DEFAULT '{}', limits bigint[] DEFAULT '{}') RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_make_bound_spec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.with_norm(dp_cdp_internal.bound_spec, value integer, shift integer, others integer[], limits bigint[])
	RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_with_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.with_groups(dp_cdp_internal.bound_spec, groups integer[]) RETURNS dp_cdp_internal.bound_spec
	AS 'MODULE_PATHNAME', 'dp_with_groups' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.grid_parts(dp_cdp_internal.grid, OUT lower bigint, OUT upper bigint, OUT exponent integer)
	AS 'MODULE_PATHNAME', 'dp_grid_parts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.grid_value(units numeric, dp_cdp_internal.grid, anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_grid_value_sql' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum, dp_cdp_internal.grid) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_exact_sum_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.make_range(lower double precision, upper double precision, bins integer,
		kind integer) RETURNS dp_cdp_internal.range
	AS 'MODULE_PATHNAME', 'dp_make_range' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.make_scaled_grid(most bigint) RETURNS dp_cdp_internal.grid
	AS 'MODULE_PATHNAME', 'dp_make_scaled_grid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.vector_counts(dp_cdp_internal.exact_vector) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'dp_vector_counts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum) RETURNS numeric[]
	AS 'MODULE_PATHNAME', 'dp_limited_sum_parts' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Not revoked: is_declared, key_place, is_shown, exact_sum, clamped_steps, moment_n .. moment_tu, exact_histogram, bound_unit, bound_key, bound_value, bound_codes,
-- bound_distinct_codes, bound_cut, bound_share, bound_bin, bound_first, steps_sum, limited_sum, codes_histogram, codes_distinct, distinct_count, distinct_shares,
-- centered, bin, chebyshev, product, code, unit_sum .. unit_array_agg, greater_of, less_of, gather_string .. gathered_array.  The inner query runs with the
-- rights of the table's owner, who may be any role; a grid, range, key_set or
-- bound_spec to call them with is nobody's to make.  chebyshev, product,
-- code, unit_*, steps_sum, limited_sum and codes_* are functions of plain values, and what moment_*, steps_sum, limited_sum and the
-- histograms return prints as a constant.
REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.grid_in(cstring), dp_cdp_internal.grid_out(dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_in(cstring), dp_cdp_internal.exact_sum_out(dp_cdp_internal.exact_sum),
	dp_cdp_internal.bound_spec_in(cstring), dp_cdp_internal.bound_spec_out(dp_cdp_internal.bound_spec),
	dp_cdp_internal.bound_state_in(cstring), dp_cdp_internal.bound_state_out(dp_cdp_internal.bound_state),
	dp_cdp_internal.range_in(cstring), dp_cdp_internal.range_out(dp_cdp_internal.range),
	dp_cdp_internal.exact_moments_in(cstring), dp_cdp_internal.exact_moments_out(dp_cdp_internal.exact_moments),
	dp_cdp_internal.exact_vector_in(cstring), dp_cdp_internal.exact_vector_out(dp_cdp_internal.exact_vector),
	dp_cdp_internal.limited_sum_in(cstring), dp_cdp_internal.limited_sum_out(dp_cdp_internal.limited_sum),
	dp_cdp_internal.exact_distinct_in(cstring), dp_cdp_internal.exact_distinct_out(dp_cdp_internal.exact_distinct),
	dp_cdp_internal.key_set_in(cstring), dp_cdp_internal.key_set_out(dp_cdp_internal.key_set), dp_cdp_internal.is_declared_support(internal),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, smallint, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, integer, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, bigint, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, real, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, double precision, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_add(dp_cdp_internal.exact_sum, numeric, dp_cdp_internal.grid),
	dp_cdp_internal.exact_sum_combine(dp_cdp_internal.exact_sum, dp_cdp_internal.exact_sum),
	dp_cdp_internal.bound_unit_add(dp_cdp_internal.bound_state, dp_cdp_internal.bound_spec, "any"),
	dp_cdp_internal.bound_unit_combine(dp_cdp_internal.bound_state, dp_cdp_internal.bound_state),
	dp_cdp_internal.steps_sum_add(dp_cdp_internal.exact_sum, bigint),
	dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, anyelement, dp_cdp_internal.range),
	dp_cdp_internal.moments_add(dp_cdp_internal.exact_moments, integer, integer),
	dp_cdp_internal.moments_combine(dp_cdp_internal.exact_moments, dp_cdp_internal.exact_moments),
	dp_cdp_internal.moments_n(dp_cdp_internal.exact_moments), dp_cdp_internal.moments_t(dp_cdp_internal.exact_moments),
	dp_cdp_internal.moments_t2(dp_cdp_internal.exact_moments), dp_cdp_internal.moments_u(dp_cdp_internal.exact_moments),
	dp_cdp_internal.moments_u2(dp_cdp_internal.exact_moments), dp_cdp_internal.moments_tu(dp_cdp_internal.exact_moments),
	dp_cdp_internal.exact_histogram_add(dp_cdp_internal.exact_vector, integer, integer),
	dp_cdp_internal.codes_histogram_add(dp_cdp_internal.exact_vector, integer[], integer),
	dp_cdp_internal.codes_shares_add(dp_cdp_internal.exact_vector, integer[], integer, bigint),
	dp_cdp_internal.exact_vector_combine(dp_cdp_internal.exact_vector, dp_cdp_internal.exact_vector),
	dp_cdp_internal.limited_sum_add(dp_cdp_internal.limited_sum, bigint, bigint, bigint, bigint),
	dp_cdp_internal.limited_sum_combine(dp_cdp_internal.limited_sum, dp_cdp_internal.limited_sum),
	dp_cdp_internal.codes_distinct_add(dp_cdp_internal.exact_distinct, bigint[]),
	dp_cdp_internal.codes_distinct_shares_add(dp_cdp_internal.exact_distinct, bigint[], bigint, dp_cdp_internal.bound_spec, integer),
	dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, real),
	dp_cdp_internal.exact_float_add(dp_cdp_internal.exact_float, double precision),
	dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, real),
	dp_cdp_internal.exact_float_square(dp_cdp_internal.exact_float, double precision),
	dp_cdp_internal.exact_float_in(cstring), dp_cdp_internal.exact_float_out(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_combine(dp_cdp_internal.exact_float, dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_sum4(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_sum8(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_avg(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_var_pop(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_var_samp(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_stddev_pop(dp_cdp_internal.exact_float),
	dp_cdp_internal.exact_float_stddev_samp(dp_cdp_internal.exact_float),
	dp_cdp_internal.make_grid(numeric, numeric, regtype),
	dp_cdp_internal.make_bound_spec(integer, integer, bigint[], text[], dp_cdp_internal.grid[], integer[], bigint[]),
	dp_cdp_internal.with_norm(dp_cdp_internal.bound_spec, integer, integer, integer[], bigint[]),
	dp_cdp_internal.with_groups(dp_cdp_internal.bound_spec, integer[]),
	dp_cdp_internal.make_range(double precision, double precision, integer, integer),
	dp_cdp_internal.make_scaled_grid(bigint),
	dp_cdp_internal.vector_counts(dp_cdp_internal.exact_vector),
	dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum),
	dp_cdp_internal.grid_parts(dp_cdp_internal.grid),
	dp_cdp_internal.grid_value(numeric, dp_cdp_internal.grid, anyelement),
	dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum, dp_cdp_internal.grid)
	FROM PUBLIC;

