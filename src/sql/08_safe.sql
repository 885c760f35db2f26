-- =========================================================================
-- 8. Variants of built-in functions that cannot fail (src/safe)
-- =========================================================================

-- Each try_f returns what the built-in f returns, or NULL where that would
-- raise an error.  Inside of a private query they take the place of the
-- built-ins, and run with the rights of the table's owner; PUBLIC keeps
-- EXECUTE, because they are harmless.

-- integers
FOR int2, int2 = int2 = int2; int4, int4 = int4 = int4; int8, int8 = int8 = int8; int2, int4 = int4 = int24; int4, int2 = int4 = int42; int2, int8 = int8 = int28; int8, int2 = int8 = int82; int4, int8 = int8 = int48; int8, int4 = int8 = int84
SAFE add($1) $2 add_$3
SAFE subtract($1) $2 subtract_$3
SAFE multiply($1) $2 multiply_$3
SAFE divide($1) $2 divide_$3
END
SAFE mod(int2, int2) int2 mod_int2
SAFE mod(int4, int4) int4 mod_int4
SAFE mod(int8, int8) int8 mod_int8
FOR int2; int4; int8
SAFE negate($1) $1 negate_$1
SAFE abs($1) $1 abs_$1
END

-- floating point
FOR float4, float4 = float4 = float4; float8, float8 = float8 = float8; float4, float8 = float8 = float48; float8, float4 = float8 = float84
SAFE add($1) $2 add_$3
SAFE subtract($1) $2 subtract_$3
SAFE multiply($1) $2 multiply_$3
SAFE divide($1) $2 divide_$3
END
SAFE sqrt(float8) float8 sqrt_float8
SAFE ln(float8) float8 ln_float8
SAFE log(float8) float8 log_float8
SAFE exp(float8) float8 exp_float8
SAFE power(float8, float8) float8 power_float8
SAFE width_bucket(float8, float8, float8, int4) int4 width_bucket_float8
FOR sin; cos; tan; cot; sind; cosd; tand; cotd; asin; acos; asind; acosd; acosh; atanh; radians; degrees
SAFE $1(float8) float8 $1
END

-- numeric
SAFE add(numeric, numeric) numeric add_numeric
SAFE subtract(numeric, numeric) numeric subtract_numeric
SAFE multiply(numeric, numeric) numeric multiply_numeric
SAFE divide(numeric, numeric) numeric divide_numeric
SAFE mod(numeric, numeric) numeric mod_numeric
SAFE ceil(numeric) numeric ceil_numeric
SAFE floor(numeric) numeric floor_numeric
SAFE sqrt(numeric) numeric sqrt_numeric
SAFE round(numeric) numeric round0_numeric
SAFE round(numeric, int4) numeric round_numeric
SAFE width_bucket(numeric, numeric, numeric, int4) int4 width_bucket_numeric

-- casts between numbers
SAFE int2(int4) int2 int2_int4
SAFE int2(int8) int2 int2_int8
SAFE int4(int8) int4 int4_int8
SAFE float4(float8) float4 float4_float8
SAFE int2(float4) int2 int2_float4
SAFE int4(float4) int4 int4_float4
SAFE int8(float4) int8 int8_float4
SAFE int2(float8) int2 int2_float8
SAFE int4(float8) int4 int4_float8
SAFE int8(float8) int8 int8_float8
SAFE int2(numeric) int2 int2_numeric
SAFE int4(numeric) int4 int4_numeric
SAFE int8(numeric) int8 int8_numeric
SAFE float4(numeric) float4 float4_numeric
SAFE float8(numeric) float8 float8_numeric
SAFE numeric(numeric, int4) numeric numeric_typmod

-- strings
SAFE lower(text) text lower
SAFE upper(text) text upper
SAFE initcap(text) text initcap
SAFE concat(text, text) text concat
SAFE length(text) int4 length_text
SAFE length(bpchar) int4 length_bpchar
SAFE btrim(text) text btrim
SAFE ltrim(text) text ltrim
SAFE rtrim(text) text rtrim
SAFE btrim(text, text) text btrim_set
SAFE ltrim(text, text) text ltrim_set
SAFE rtrim(text, text) text rtrim_set
SAFE left(text, int4) text left
SAFE right(text, int4) text right
SAFE reverse(text) text reverse
SAFE substring(text, int4) text substring_from
SAFE substring(text, int4, int4) text substring
SAFE replace(text, text, text) text replace
SAFE split_part(text, text, int4) text split_part
SAFE translate(text, text, text) text translate
SAFE ascii(text) int4 ascii
SAFE starts_with(text, text) boolean starts_with SUPPORT text_starts_with_support
SAFE strpos(text, text) int4 strpos
SAFE like(text, text) boolean like_text SUPPORT textlike_support
SAFE like(bpchar, text) boolean like_text SUPPORT textlike_support
SAFE like(name, text) boolean like_name SUPPORT textlike_support
SAFE not_like(text, text) boolean not_like_text
SAFE not_like(bpchar, text) boolean not_like_text
SAFE not_like(name, text) boolean not_like_name
SAFE ilike(text, text) boolean ilike_text SUPPORT texticlike_support
SAFE ilike(bpchar, text) boolean ilike_text SUPPORT texticlike_support
SAFE ilike(name, text) boolean ilike_name SUPPORT texticlike_support
SAFE not_ilike(text, text) boolean not_ilike_text
SAFE not_ilike(bpchar, text) boolean not_ilike_text
SAFE not_ilike(name, text) boolean not_ilike_name
SAFE matches(text, text) boolean matches SUPPORT textregexeq_support
SAFE matches(bpchar, text) boolean matches SUPPORT textregexeq_support
SAFE imatches(text, text) boolean imatches SUPPORT texticregexeq_support
SAFE imatches(bpchar, text) boolean imatches SUPPORT texticregexeq_support
SAFE regexp_substr(text, text) text regexp_substr
SAFE regexp_replace(text, text, text) text regexp_replace
SAFE regexp_replace(text, text, text, text) text regexp_replace
SAFE text_search(text, text, text) boolean text_search
SAFE lpad(text, int4) text lpad
SAFE lpad(text, int4, text) text lpad_fill
SAFE rpad(text, int4) text rpad
SAFE rpad(text, int4, text) text rpad_fill

-- casts to and from text
SAFE text(int2) text text_int2
SAFE text(int4) text text_int4
SAFE text(int8) text text_int8
SAFE text(numeric) text text_numeric
SAFE text(uuid) text text_uuid
SAFE text(date) text text_date
SAFE text(timestamp) text text_timestamp
SAFE text(timestamptz) text text_timestamptz STABLE
SAFE text(anyenum) text text_enum STABLE
SAFE text(bpchar) text text_bpchar
SAFE name(text) name name_text
SAFE varchar(varchar, int4, boolean) varchar varchar
SAFE bpchar(bpchar, int4, boolean) bpchar bpchar
SAFE int2(text) int2 int2_text
SAFE int4(text) int4 int4_text
SAFE int8(text) int8 int8_text
SAFE float8(text) float8 float8_text
SAFE numeric(text) numeric numeric_text
SAFE date(text) date date_text
SAFE bool(text) boolean bool_text
SAFE time(text) time time_text
SAFE timestamp(text) timestamp timestamp_text
SAFE timestamptz(text) timestamptz timestamptz_text STABLE
SAFE interval(text) interval interval_text STABLE
SAFE uuid(text) uuid uuid_text

-- dates and times
SAFE timestamp(date) timestamp timestamp_date
SAFE timestamptz(date) timestamptz timestamptz_date STABLE
SAFE timestamptz(timestamp) timestamptz timestamptz_timestamp STABLE
SAFE timestamp(timestamptz) timestamp timestamp_timestamptz STABLE
SAFE date(timestamptz) date date_timestamptz STABLE
SAFE time(timestamptz) time time_timestamptz STABLE
SAFE timestamp(timestamp, int4) timestamp timestamp_typmod
SAFE timestamptz(timestamptz, int4) timestamptz timestamp_typmod
SAFE subtract(date, date) int4 subtract_date
SAFE add(date, int4) date add_date_int4
SAFE add(int4, date) date add_int4_date
SAFE subtract(date, int4) date subtract_date_int4
SAFE add(date, interval) timestamp add_date_interval
SAFE add(interval, date) timestamp add_interval_date
SAFE subtract(date, interval) timestamp subtract_date_interval
SAFE clock_add(time, interval) time clock_add
SAFE clock_add(interval, time) time clock_add_to
SAFE clock_subtract(time, interval) time clock_subtract
SAFE add(timestamp, interval) timestamp add_timestamp_interval
SAFE add(interval, timestamp) timestamp add_interval_timestamp
SAFE subtract(timestamp, interval) timestamp subtract_timestamp_interval
SAFE add(timestamptz, interval) timestamptz add_timestamptz_interval STABLE
SAFE add(interval, timestamptz) timestamptz add_interval_timestamptz STABLE
SAFE subtract(timestamptz, interval) timestamptz subtract_timestamptz_interval STABLE
SAFE subtract(timestamp, timestamp) interval subtract_timestamp
SAFE age(timestamp, timestamp) interval age_timestamp
SAFE subtract(timestamptz, timestamptz) interval subtract_timestamp
SAFE age(timestamptz, timestamptz) interval age_timestamptz
SAFE age(timestamp) interval age_of_timestamp STABLE
SAFE age(timestamptz) interval age_of_timestamptz STABLE
SAFE make_date(year int, month int, day int) date make_date
SAFE to_timestamp(float8) timestamptz to_timestamp
SAFE date_bin(interval, timestamp, timestamp) timestamp date_bin_timestamp
SAFE date_bin(interval, timestamptz, timestamptz) timestamptz date_bin_timestamptz
SAFE extract(text, date) numeric extract_date
SAFE date_part(text, date) float8 date_part_date
SAFE extract(text, time) numeric extract_time
SAFE date_part(text, time) float8 date_part_time
SAFE extract(text, timestamp) numeric extract_timestamp
SAFE date_part(text, timestamp) float8 date_part_timestamp
SAFE extract(text, timestamptz) numeric extract_timestamptz STABLE
SAFE date_part(text, timestamptz) float8 date_part_timestamptz STABLE
SAFE extract(text, interval) numeric extract_interval
SAFE date_part(text, interval) float8 date_part_interval
SAFE date_trunc(text, timestamp) timestamp date_trunc_timestamp
SAFE date_trunc(text, timestamptz) timestamptz date_trunc_timestamptz STABLE
SAFE date_trunc(text, timestamptz, text) timestamptz date_trunc_zone STABLE
SAFE multiply(interval, float8) interval multiply_interval_float8
SAFE multiply(float8, interval) interval multiply_float8_interval
SAFE timezone(text, timestamp) timestamptz timezone_timestamp
SAFE timezone(text, timestamptz) timestamp timezone_timestamptz
SAFE to_char(timestamp, text) text to_char_timestamp STABLE
SAFE to_char(timestamptz, text) text to_char_timestamptz STABLE

-- What aggregates of numeric add up in a subquery over one privacy unit: the argument,
-- or NULL where it is so large that the aggregate might overflow.
SAFE summand(numeric) numeric summand_numeric
SAFE summand(text) text summand_text
SAFE summand(bpchar) bpchar summand_text
SAFE summand_squared(numeric) numeric summand_squared_numeric

-- looking into jsonb
SAFE json_type(jsonb) text json_type
SAFE json_exists(jsonb, text) boolean json_exists
SAFE json_exists_any(jsonb, text[]) boolean json_exists_any
SAFE json_exists_all(jsonb, text[]) boolean json_exists_all
SAFE json_array_length(jsonb) int4 json_array_length
SAFE json(jsonb, text) jsonb json_field
SAFE json_text(jsonb, text) text json_field_text
SAFE json(jsonb, int) jsonb json_element
SAFE json_text(jsonb, int) text json_element_text
SAFE json(jsonb, text[]) jsonb json_path
SAFE json_text(jsonb, text[]) text json_path_text
SAFE json_keys(jsonb) text[] json_keys
SAFE json_values(jsonb) text[] json_values
SAFE json_elements(jsonb) text[] json_elements

-- looking into arrays
SAFE array(anyarray) anyarray array
SAFE element(anyarray, int4) anyelement element
SAFE contains(anyarray, anyarray) boolean array_contains
SAFE contained(anyarray, anyarray) boolean array_contained
SAFE overlap(anyarray, anyarray) boolean array_overlap
SAFE cardinality(anyarray) int4 cardinality
SAFE array_length(anyarray, int4) int4 array_length
SAFE equal(anyarray, anyarray) boolean array_eq
SAFE unequal(anyarray, anyarray) boolean array_ne
SAFE array_to_string(anyarray, text) text array_to_string
SAFE string_to_array(text, text) text[] string_to_array
SAFE regexp_split_to_array(text, text) text[] regexp_split_to_array
SAFE array_position(anycompatiblearray, anycompatible) int4 array_position

-- addresses
SAFE set_masklen(inet, int4) inet set_masklen_inet
SAFE set_masklen(cidr, int4) cidr set_masklen_cidr

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

CREATE FUNCTION dp_cdp.allow_function(function regprocedure) RETURNS regprocedure
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_allow_function';
REVOKE ALL ON FUNCTION dp_cdp.allow_function(regprocedure) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.allow_function(regprocedure) IS
	'lets a function be used on rows of protected tables, for superusers. It runs on raw rows with the rights of the table''s owner. It must never raise an error, send a message or have an effect that depends on a row. It returns the function';

CREATE FUNCTION dp_cdp.disallow_function(function regprocedure) RETURNS regprocedure
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_disallow_function';
REVOKE ALL ON FUNCTION dp_cdp.disallow_function(regprocedure) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.disallow_function(regprocedure) IS
	'takes back what dp_cdp.allow_function allowed, for superusers. Prepared queries that use the function are refused from then on. It returns the function';

