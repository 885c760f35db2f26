-- =========================================================================
-- 14. Sums over units
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any") RETURNS dp_cdp_internal.unreleased
	AS 'MODULE_PATHNAME', 'dp_unreleased_trans' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE EXECUTE ON FUNCTION dp_cdp_internal.unreleased_step(dp_cdp_internal.unreleased, "any", "any", "any", "any", "any") FROM PUBLIC;

-- Bounds are of a row's value; a unit's total in a group is limited, too.
FOR smallint = bigint; integer = bigint; bigint = bigint; real = float; double precision = float; numeric = numeric
OR REPLACE AGGREGATE dp_sum($1) $2
	noisy sum. Each value is clamped to the bounds of set_bounds. The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds
OR REPLACE AGGREGATE dp_sum($1, numeric, numeric) $2
	noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds
OR REPLACE AGGREGATE dp_sum($1, numeric, numeric, numeric, numeric) $2
	noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument
OR REPLACE AGGREGATE dp_sum($1, double precision, double precision) $2
	noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds
OR REPLACE AGGREGATE dp_sum($1, double precision, double precision, double precision, double precision) $2
	noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument
OR REPLACE AGGREGATE dp_sum($1, text, text) $2
	noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the totals of set_bounds, or max_rows times the bounds
OR REPLACE AGGREGATE dp_sum($1, text, text, text, text) $2
	noisy sum. Each value is clamped to lower (2nd argument) .. upper (3rd argument). The total of a privacy unit in a group is clamped to the 4th .. 5th argument
END

-- how much the limits of totals cut off
OR REPLACE AGGREGATE dp_clipped_totals("any") float
	noisy share of the totals of privacy units, one in each group, that dp_sum cuts
OR REPLACE AGGREGATE dp_clipped_totals("any", numeric, numeric) float
	noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts
OR REPLACE AGGREGATE dp_clipped_totals("any", numeric, numeric, numeric, numeric) float
	noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts
OR REPLACE AGGREGATE dp_clipped_totals("any", double precision, double precision) float
	noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts
OR REPLACE AGGREGATE dp_clipped_totals("any", double precision, double precision, double precision, double precision) float
	noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts
OR REPLACE AGGREGATE dp_clipped_totals("any", text, text) float
	noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts
OR REPLACE AGGREGATE dp_clipped_totals("any", text, text, text, text) float
	noisy share of the totals of privacy units, one in each group, that dp_sum with the same arguments cuts
OR REPLACE AGGREGATE dp_clipped_rows(*) float
	noisy share of privacy units, in each group, that have more rows than max_rows, which cuts the rest
OR REPLACE AGGREGATE dp_clipped_groups(*) float
	noisy share of privacy units, in each group, that have more groups than max_groups, which cuts the rest

