-- =========================================================================
-- 8. Variants of built-in functions that cannot fail (src/safe)
-- =========================================================================

-- Each try_f returns what the built-in f returns, or NULL where that would
-- raise an error.  Inside of a private query they take the place of the
-- built-ins, and run with the rights of the table's owner; PUBLIC keeps
-- EXECUTE, because they are harmless.

-- integers
CREATE FUNCTION dp_cdp_internal.try_add(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_add_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_divide_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int2, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int24' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_add_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int4, int2) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_divide_int42' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int2, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int28' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int8, int2) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int82' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int4, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_add_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(int8, int4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_divide_int84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(int2, int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_mod_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(int4, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_mod_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(int8, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_mod_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_negate(int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_negate_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_abs(int2) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_abs_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_negate(int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_negate_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_abs(int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_abs_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_negate(int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_negate_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_abs(int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_abs_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- floating point
CREATE FUNCTION dp_cdp_internal.try_add(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_add_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float4, float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_divide_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float4, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float48' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_add_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_subtract_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(float8, float4) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_divide_float84' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sqrt(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_sqrt_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ln(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_ln_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_log(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_log_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_exp(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_exp_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_power(float8, float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_power_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_width_bucket(float8, float8, float8, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_width_bucket_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sin(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_sin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cos(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cos' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_tan(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_tan' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cot(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cot' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sind(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_sind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cosd(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cosd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_tand(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_tand' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cotd(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_cotd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_asin(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_asin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_acos(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_acos' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_asind(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_asind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_acosd(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_acosd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_acosh(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_acosh' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_atanh(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_atanh' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_radians(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_radians' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_degrees(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_degrees' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- numeric
CREATE FUNCTION dp_cdp_internal.try_add(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_add_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_subtract_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_multiply_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_divide(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_divide_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_mod(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_mod_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ceil(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_ceil_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_floor(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_floor_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_sqrt(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_sqrt_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_round(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_round0_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_round(numeric, int4) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_round_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_width_bucket(numeric, numeric, numeric, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_width_bucket_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- casts between numbers
CREATE FUNCTION dp_cdp_internal.try_int2(int4) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(int8) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(int8) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float4(float8) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_float4_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(float4) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(float4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(float4) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(float8) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(float8) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(float8) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(numeric) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(numeric) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(numeric) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float4(numeric) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_try_float4_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float8(numeric) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_float8_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_numeric(numeric, int4) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_numeric_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- strings
CREATE FUNCTION dp_cdp_internal.try_lower(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_upper(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_initcap(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_initcap' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_concat(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_length(text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_length_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_length(bpchar) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_length_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_btrim(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_btrim' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ltrim(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_ltrim' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rtrim(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rtrim' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_btrim(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_btrim_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ltrim(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_ltrim_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rtrim(text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rtrim_set' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_left(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_left' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_right(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_right' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_reverse(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_reverse' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_substring(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_substring_from' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_substring(text, int4, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_substring' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_replace(text, text, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_replace' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_split_part(text, text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_split_part' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_starts_with(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_starts_with' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.text_starts_with_support;
CREATE FUNCTION dp_cdp_internal.try_strpos(text, text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_strpos' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_like(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textlike_support;
CREATE FUNCTION dp_cdp_internal.try_like(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textlike_support;
CREATE FUNCTION dp_cdp_internal.try_like(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_like_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.textlike_support;
CREATE FUNCTION dp_cdp_internal.try_not_like(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_like(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_like(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_like_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_ilike(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticlike_support;
CREATE FUNCTION dp_cdp_internal.try_ilike(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticlike_support;
CREATE FUNCTION dp_cdp_internal.try_ilike(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_ilike_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT pg_catalog.texticlike_support;
CREATE FUNCTION dp_cdp_internal.try_not_ilike(text, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_ilike(bpchar, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_not_ilike(name, text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_not_ilike_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_lpad(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_lpad' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_lpad(text, int4, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_lpad_fill' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rpad(text, int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rpad' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_rpad(text, int4, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_rpad_fill' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- casts to and from text
CREATE FUNCTION dp_cdp_internal.try_text(int2) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(int4) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(int8) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(numeric) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(uuid) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(date) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(timestamp) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(anyenum) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_enum' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_text(bpchar) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_text_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_name(text) RETURNS name
	AS 'MODULE_PATHNAME', 'dp_try_name_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_varchar(varchar, int4, boolean) RETURNS varchar
	AS 'MODULE_PATHNAME', 'dp_try_varchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_bpchar(bpchar, int4, boolean) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_try_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int2(text) RETURNS int2
	AS 'MODULE_PATHNAME', 'dp_try_int2_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int4(text) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_int4_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_int8(text) RETURNS int8
	AS 'MODULE_PATHNAME', 'dp_try_int8_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_float8(text) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_float8_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_numeric(text) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_numeric_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date(text) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_date_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_bool(text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_bool_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_time(text) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_time_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamp(text) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(text) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_text' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_interval(text) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_interval_text' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_uuid(text) RETURNS uuid
	AS 'MODULE_PATHNAME', 'dp_try_uuid_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- dates and times
CREATE FUNCTION dp_cdp_internal.try_timestamp(date) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(date) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(timestamp) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamptz_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamp(timestamptz) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date(timestamptz) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_date_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_time(timestamptz) RETURNS time
	AS 'MODULE_PATHNAME', 'dp_try_time_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamp(timestamp, int4) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timestamptz(timestamptz, int4) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timestamp_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(date, date) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(date, int4) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_add_date_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(int4, date) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_add_int4_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(date, int4) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(date, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_date_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(interval, date) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(date, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_subtract_date_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(timestamp, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_timestamp_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(interval, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamp, interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(timestamptz, interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_add_timestamptz_interval' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_add(interval, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_add_interval_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamptz, interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamptz_interval' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamp, timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_age(timestamp, timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_subtract(timestamptz, timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_subtract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_age(timestamptz, timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_age(timestamp) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_of_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_age(timestamptz) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_age_of_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_make_date(year int, month int, day int) RETURNS date
	AS 'MODULE_PATHNAME', 'dp_try_make_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_to_timestamp(float8) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_to_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_bin(interval, timestamp, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_date_bin_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_bin(interval, timestamptz, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_bin_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, date) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, date) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, time) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, time) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, timestamp) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, timestamp) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, timestamptz) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, timestamptz) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_extract(text, interval) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_extract_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_part(text, interval) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_try_date_part_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_trunc(text, timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_trunc(text, timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_date_trunc(text, timestamptz, text) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_date_trunc_zone' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(interval, float8) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_multiply_interval_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_multiply(float8, interval) RETURNS interval
	AS 'MODULE_PATHNAME', 'dp_try_multiply_float8_interval' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timezone(text, timestamp) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'dp_try_timezone_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_timezone(text, timestamptz) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'dp_try_timezone_timestamptz' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_to_char(timestamp, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_to_char_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_to_char(timestamptz, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_to_char_timestamptz' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- What aggregates of numeric add up in a subquery over one privacy unit: the argument,
-- or NULL where it is so large that the aggregate might overflow.
CREATE FUNCTION dp_cdp_internal.try_summand(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_summand_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_summand(text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_summand_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_summand(bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_try_summand_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_summand_squared(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'dp_try_summand_squared_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- looking into jsonb
CREATE FUNCTION dp_cdp_internal.try_json(jsonb, text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'dp_try_json_field' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_text(jsonb, text) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_json_field_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json(jsonb, int) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'dp_try_json_element' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_text(jsonb, int) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_json_element_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json(jsonb, text[]) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'dp_try_json_path' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_json_text(jsonb, text[]) RETURNS text
	AS 'MODULE_PATHNAME', 'dp_try_json_path_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- looking into arrays
CREATE FUNCTION dp_cdp_internal.try_array(anyarray) RETURNS anyarray
	AS 'MODULE_PATHNAME', 'dp_try_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_element(anyarray, int4) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'dp_try_element' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_contains(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_contained(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_overlap(anyarray, anyarray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'dp_try_array_overlap' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_cardinality(anyarray) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_cardinality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_array_length(anyarray, int4) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_array_length' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_array_position(anycompatiblearray, anycompatible) RETURNS int4
	AS 'MODULE_PATHNAME', 'dp_try_array_position' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- addresses
CREATE FUNCTION dp_cdp_internal.try_set_masklen(inet, int4) RETURNS inet
	AS 'MODULE_PATHNAME', 'dp_try_set_masklen_inet' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.try_set_masklen(cidr, int4) RETURNS cidr
	AS 'MODULE_PATHNAME', 'dp_try_set_masklen_cidr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- A call of a function of PostgreSQL's with released values, NULL where it fails; a value, NULL
-- where none of a type can be made of it.  Private queries call them alone (src/safe/caught.c).
CREATE FUNCTION dp_cdp_internal.null_on_error(VARIADIC arguments "any") RETURNS "any"
	AS 'MODULE_PATHNAME', 'dp_null_on_error' LANGUAGE C STABLE;
CREATE FUNCTION dp_cdp_internal.null_unless_valid(of_type regtype, value "any") RETURNS "any"
	AS 'MODULE_PATHNAME', 'dp_null_unless_valid' LANGUAGE C STABLE STRICT;

-- one representation of equal group keys
CREATE FUNCTION dp_cdp_internal.canonical(float4) RETURNS float4
	AS 'MODULE_PATHNAME', 'dp_canonical_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.canonical(float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_canonical_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.canonical(bpchar) RETURNS bpchar
	AS 'MODULE_PATHNAME', 'dp_canonical_bpchar' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Points of time from the 1st argument to the 2nd, both among them, so many microseconds (of dates, days' worth) apart,
-- and NULL, if asked for: they stand for a column where keys are made of it.  Between them are the moments of the 5th
-- argument, with others near them if they are spread, and the times of the 7th on each day.
CREATE FUNCTION dp_cdp_internal.time_points(date, date, bigint, boolean, date[], boolean, time[]) RETURNS SETOF date
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.time_points(timestamp, timestamp, bigint, boolean, timestamp[], boolean, time[]) RETURNS SETOF timestamp
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.time_points(timestamptz, timestamptz, bigint, boolean, timestamptz[], boolean, time[]) RETURNS SETOF timestamptz
	AS 'MODULE_PATHNAME', 'dp_time_points' LANGUAGE C STABLE PARALLEL SAFE;

-- The cells into which constants divide the values of a type: the number of the cell that a constant is; those that have
-- values, of whole numbers only (2nd argument), and NULL (3rd).  They stand for what keys compare with these constants.
CREATE FUNCTION dp_cdp_internal.cell_of(anyelement, anyarray) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_cell_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dp_cdp_internal.cells(anyarray, boolean, boolean) RETURNS integer[]
	AS 'MODULE_PATHNAME', 'dp_cells' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- What may be used on rows of protected tables, and how it is treated there:
-- as it stands, replaced by its total variant, with constants only, added by
-- a superuser, or, "per unit", as an aggregate in a subquery that groups by the
-- privacy unit; total is then a function that its argument goes through, or an
-- aggregate that is run in its place.
CREATE FUNCTION dp_cdp.allowed_functions(OUT function regprocedure, OUT treatment text,
										 OUT total regprocedure, OUT constant_arguments int[])
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_allowed_functions_sql' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.allowed_functions() IS
	'functions that may be used on rows of protected tables. Some are used as they are, some as a total variant that is NULL instead of an error, and some with constants only. Some are aggregates for a subquery that groups by the privacy unit, and some were added by allow_function';

CREATE FUNCTION dp_cdp.allow_function(function regprocedure) RETURNS void
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_allow_function';
REVOKE ALL ON FUNCTION dp_cdp.allow_function(regprocedure) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.allow_function(regprocedure) IS
	'lets a function be used on rows of protected tables, for superusers. It runs on raw rows with the rights of the table''s owner. It must never raise an error, send a message or have an effect that depends on a row';

CREATE FUNCTION dp_cdp.disallow_function(function regprocedure) RETURNS void
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_disallow_function';
REVOKE ALL ON FUNCTION dp_cdp.disallow_function(regprocedure) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.disallow_function(regprocedure) IS
	'superusers: takes back what dp_cdp.allow_function allowed; prepared queries that use the function are refused from then on';

