-- =========================================================================
-- 14. Sums over units
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any") FROM PUBLIC;

-- Bounds are of a row's value; a unit's total in a group is limited, too.
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(smallint, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(smallint, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(integer, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(integer, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(bigint, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(bigint, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(real, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(real, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(double precision, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(double precision, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric) IS
	'noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, numeric, numeric, numeric, numeric) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, double precision, double precision, double precision, double precision) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds';
CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(numeric, text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_numeric, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(numeric, text, text, text, text) IS
	'noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument';

-- how much the limits of totals cut off
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any") (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any") IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric, numeric, numeric) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", numeric, numeric, numeric, numeric) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision, double precision, double precision) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", double precision, double precision, double precision, double precision) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", text, text) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_totals("any", text, text, text, text) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_totals("any", text, text, text, text) IS
	'noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_rows(*) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_rows(*) IS
	'noisy share of privacy units, in each group, that have more rows than max_rows, which cuts the rest';
CREATE OR REPLACE AGGREGATE @extschema@.dp_clipped_groups(*) (
	SFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = '',
	FINALFUNC = dp_cdp_internal.unreleased_float, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE @extschema@.dp_clipped_groups(*) IS
	'noisy share of privacy units, in each group, that have more groups than max_groups, which cuts the rest';

