/*-------------------------------------------------------------------------
 *
 * list.c
 *	  The built-in functions that may run on raw rows.
 *
 * Curated by hand.  A function is listed as it stands only if, for every
 * value of every argument, it returns without error, without a message, in
 * time linear or nearly so in its input, and with a result of fixed length.
 * What reads strings to the end, or makes them, has a limit (safe.h).  Being immutable or leakproof is
 * neither necessary nor enough: immutable functions overflow and print values
 * they fail on, leakproof leaves out what people need.  A function with a
 * name in column "safe" is replaced by that function of schema dp_cdp_internal, which
 * has the same arguments and result and yields NULL instead of an error.
 *
 * sql/total.sql sweeps the whole list, as dp_cdp.allowed_functions()
 * shows it, over extreme values; what is added here is tested there.
 *
 * Not listed, on purpose: regular expressions (time, errors), anything that
 * formats by settings (to_char of numbers, casts through text), repeat
 * (memory), hash functions (slow when nested), what makes arrays, ranges and
 * json, xml, text search, and object identifiers.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "guard/vet/allow.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#define DP_ASIS(f) {F_##f, NULL, 0, DP_CHECK_NONE, false}
/* as they stand; bounds of the value follow from those of the arguments, or are known of whatever arguments */
#define DP_BOUNDED(f, op) {F_##f, .facts = {.bound = DP_BOUND_##op}}
#define DP_WITHIN(f, from, to) {F_##f, .facts = {.lowest = from, .highest = to}}
#define DP_TRY(f, safe) {F_##f, "try_" safe, 0, DP_CHECK_NONE, false}
/* argument mask constants may not read columns, and must pass check */
#define DP_TRY_CONST(f, safe, constants, check) {F_##f, "try_" safe, constants, DP_CHECK_##check, false}
#define DP_CONSTANTS_ONLY(f) {F_##f, NULL, 0, DP_CHECK_NONE, true}
#define DP_FOLD(f, safe) {F_##f, "try_" safe, 0, DP_CHECK_NONE, false, true}
#define DP_LIKE(f) {F_##f, "try_like", DP_ARG(1), DP_CHECK_LIKE, false, false}
#define DP_NOT_LIKE(f) {F_##f, "try_not_like", DP_ARG(1), DP_CHECK_LIKE, false, false, "try_like"}
#define DP_ILIKE(f) {F_##f, "try_ilike", DP_ARG(1), DP_CHECK_LIKE, false, true}
#define DP_NOT_ILIKE(f) {F_##f, "try_not_ilike", DP_ARG(1), DP_CHECK_LIKE, false, true, "try_ilike"}

#define DP_ARG(n) (1 << (n))

#define DP_HALF_PI "1.57079632679489661923"
#define DP_PI "3.14159265358979323846"

/* comparisons whose names follow one of the two customs */
#define DP_COMPARE(t) \
	DP_ASIS(t##EQ), DP_ASIS(t##NE), DP_ASIS(t##LT), DP_ASIS(t##LE), DP_ASIS(t##GT), DP_ASIS(t##GE)
#define DP_COMPARE_(t) \
	DP_ASIS(t##_EQ), DP_ASIS(t##_NE), DP_ASIS(t##_LT), DP_ASIS(t##_LE), DP_ASIS(t##_GT), DP_ASIS(t##_GE)
#define DP_COMPARE_CROSS(t, u) \
	DP_ASIS(t##_EQ_##u), DP_ASIS(t##_NE_##u), DP_ASIS(t##_LT_##u), \
	DP_ASIS(t##_LE_##u), DP_ASIS(t##_GT_##u), DP_ASIS(t##_GE_##u)

#define DP_ARITHMETIC(t) \
	DP_TRY(t##PL, "add"), DP_TRY(t##MI, "subtract"), DP_TRY(t##MUL, "multiply"), DP_TRY(t##DIV, "divide")
#define DP_ARITHMETIC_(t) \
	DP_TRY(t##_ADD, "add"), DP_TRY(t##_SUB, "subtract"), DP_TRY(t##_MUL, "multiply"), DP_TRY(t##_DIV, "divide")

static const DpAllowed dp_allowed[] = {
	/* comparisons */
	DP_COMPARE(BOOL),
	DP_COMPARE(INT2), DP_COMPARE(INT4), DP_COMPARE(INT8),
	DP_COMPARE(INT24), DP_COMPARE(INT42), DP_COMPARE(INT28),
	DP_COMPARE(INT82), DP_COMPARE(INT48), DP_COMPARE(INT84),
	DP_COMPARE(FLOAT4), DP_COMPARE(FLOAT8), DP_COMPARE(FLOAT48), DP_COMPARE(FLOAT84),
	DP_COMPARE_(NUMERIC),
	DP_COMPARE_(CASH),
	DP_ASIS(TEXTEQ), DP_ASIS(TEXTNE),
	DP_ASIS(TEXT_LT), DP_ASIS(TEXT_LE), DP_ASIS(TEXT_GT), DP_ASIS(TEXT_GE),
	DP_COMPARE(BPCHAR), DP_COMPARE(NAME), DP_COMPARE(CHAR), DP_COMPARE(BYTEA),
	DP_ASIS(NAMEEQTEXT), DP_ASIS(NAMENETEXT), DP_ASIS(NAMELTTEXT),
	DP_ASIS(NAMELETEXT), DP_ASIS(NAMEGTTEXT), DP_ASIS(NAMEGETEXT),
	DP_ASIS(TEXTEQNAME), DP_ASIS(TEXTNENAME), DP_ASIS(TEXTLTNAME),
	DP_ASIS(TEXTLENAME), DP_ASIS(TEXTGTNAME), DP_ASIS(TEXTGENAME),
	DP_COMPARE_(DATE), DP_COMPARE_(TIME), DP_COMPARE_(TIMETZ),
	DP_COMPARE_(TIMESTAMP), DP_COMPARE_(TIMESTAMPTZ), DP_COMPARE_(INTERVAL),
	DP_COMPARE_CROSS(DATE, TIMESTAMP), DP_COMPARE_CROSS(TIMESTAMP, DATE),
	DP_COMPARE_CROSS(DATE, TIMESTAMPTZ), DP_COMPARE_CROSS(TIMESTAMPTZ, DATE),
	DP_COMPARE_CROSS(TIMESTAMP, TIMESTAMPTZ), DP_COMPARE_CROSS(TIMESTAMPTZ, TIMESTAMP),
	DP_COMPARE_(UUID), DP_COMPARE_(NETWORK), DP_COMPARE_(MACADDR), DP_COMPARE_(MACADDR8),
	DP_COMPARE(OID), DP_COMPARE(BIT), DP_COMPARE(VARBIT),
	DP_COMPARE_(ENUM),

	/* integers */
	DP_ARITHMETIC(INT2), DP_ARITHMETIC(INT4), DP_ARITHMETIC(INT8),
	DP_ARITHMETIC(INT24), DP_ARITHMETIC(INT42), DP_ARITHMETIC(INT28),
	DP_ARITHMETIC(INT82), DP_ARITHMETIC(INT48), DP_ARITHMETIC(INT84),
	DP_TRY(INT2MOD, "mod"), DP_TRY(INT4MOD, "mod"), DP_TRY(INT8MOD, "mod"),
	DP_TRY(MOD_INT2_INT2, "mod"), DP_TRY(MOD_INT4_INT4, "mod"), DP_TRY(MOD_INT8_INT8, "mod"),
	DP_TRY(INT2UM, "negate"), DP_TRY(INT4UM, "negate"), DP_TRY(INT8UM, "negate"),
	DP_BOUNDED(INT2UP, SAME), DP_BOUNDED(INT4UP, SAME), DP_BOUNDED(INT8UP, SAME),
	DP_TRY(INT2ABS, "abs"), DP_TRY(INT4ABS, "abs"), DP_TRY(INT8ABS, "abs"),
	DP_TRY(ABS_INT2, "abs"), DP_TRY(ABS_INT4, "abs"), DP_TRY(ABS_INT8, "abs"),
	DP_ASIS(INT2AND), DP_ASIS(INT4AND), DP_ASIS(INT8AND),
	DP_ASIS(INT2OR), DP_ASIS(INT4OR), DP_ASIS(INT8OR),
	DP_ASIS(INT2XOR), DP_ASIS(INT4XOR), DP_ASIS(INT8XOR),
	DP_ASIS(INT2NOT), DP_ASIS(INT4NOT), DP_ASIS(INT8NOT),

	/* floating point */
	DP_ARITHMETIC(FLOAT4), DP_ARITHMETIC(FLOAT8), DP_ARITHMETIC(FLOAT48), DP_ARITHMETIC(FLOAT84),
	DP_BOUNDED(FLOAT4UM, NEGATE), DP_BOUNDED(FLOAT8UM, NEGATE), DP_BOUNDED(FLOAT4UP, SAME), DP_BOUNDED(FLOAT8UP, SAME),
	DP_BOUNDED(FLOAT4ABS, ABS), DP_BOUNDED(FLOAT8ABS, ABS), DP_BOUNDED(ABS_FLOAT4, ABS), DP_BOUNDED(ABS_FLOAT8, ABS),
	DP_BOUNDED(CEIL_FLOAT8, CEIL), DP_BOUNDED(CEILING_FLOAT8, CEIL), DP_BOUNDED(FLOOR_FLOAT8, FLOOR),
	DP_BOUNDED(ROUND_FLOAT8, ROUND), DP_BOUNDED(TRUNC_FLOAT8, TRUNC), DP_BOUNDED(SIGN_FLOAT8, SIGN),
	DP_BOUNDED(CBRT, CBRT), DP_BOUNDED(DCBRT, CBRT), DP_ASIS(PI),
	DP_TRY(SQRT_FLOAT8, "sqrt"), DP_TRY(DSQRT, "sqrt"),
	DP_TRY(LN_FLOAT8, "ln"), DP_TRY(DLOG1, "ln"),
	DP_TRY(LOG_FLOAT8, "log"), DP_TRY(LOG10_FLOAT8, "log"), DP_TRY(DLOG10, "log"),
	DP_TRY(EXP_FLOAT8, "exp"), DP_TRY(DEXP, "exp"),
	DP_TRY(POWER_FLOAT8_FLOAT8, "power"), DP_TRY(POW_FLOAT8_FLOAT8, "power"), DP_TRY(DPOW, "power"),
	DP_TRY(WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4, "width_bucket"),
	DP_TRY(SIN, "sin"), DP_TRY(COS, "cos"), DP_TRY(TAN, "tan"), DP_TRY(COT, "cot"), DP_TRY(ASIN, "asin"), DP_TRY(ACOS, "acos"),
	DP_TRY(SIND, "sind"), DP_TRY(COSD, "cosd"), DP_TRY(TAND, "tand"), DP_TRY(COTD, "cotd"), DP_TRY(ASIND, "asind"), DP_TRY(ACOSD, "acosd"),
	DP_TRY(ACOSH, "acosh"), DP_TRY(ATANH, "atanh"), DP_TRY(RADIANS, "radians"), DP_TRY(DEGREES, "degrees"),
	DP_WITHIN(ATAN, "-" DP_HALF_PI, DP_HALF_PI), DP_WITHIN(ATAN2, "-" DP_PI, DP_PI), DP_WITHIN(ATAND, "-90", "90"), DP_WITHIN(ATAN2D, "-180", "180"), DP_ASIS(SINH), DP_ASIS(COSH), DP_WITHIN(TANH, "-1", "1"), DP_ASIS(ASINH),

	/* numeric */
	DP_ARITHMETIC_(NUMERIC),
	DP_TRY(NUMERIC_MOD, "mod"), DP_TRY(MOD_NUMERIC_NUMERIC, "mod"),
	DP_BOUNDED(NUMERIC_UMINUS, NEGATE), DP_BOUNDED(NUMERIC_UPLUS, SAME), DP_BOUNDED(NUMERIC_ABS, ABS), DP_BOUNDED(ABS_NUMERIC, ABS),
	DP_BOUNDED(SIGN_NUMERIC, SIGN), DP_BOUNDED(TRUNC_NUMERIC, TRUNC), DP_BOUNDED(TRUNC_NUMERIC_INT4, TRUNC),
	DP_BOUNDED(TRIM_SCALE, SAME), DP_ASIS(SCALE), DP_ASIS(MIN_SCALE),
	DP_TRY(CEIL_NUMERIC, "ceil"), DP_TRY(CEILING_NUMERIC, "ceil"), DP_TRY(FLOOR_NUMERIC, "floor"),
	DP_TRY(ROUND_NUMERIC, "round"), DP_TRY(ROUND_NUMERIC_INT4, "round"),
	DP_TRY(SQRT_NUMERIC, "sqrt"), DP_TRY(NUMERIC_SQRT, "sqrt"),
	DP_TRY(WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4, "width_bucket"),

	/* casts between numbers */
	DP_BOUNDED(INT4_INT2, SAME), DP_BOUNDED(INT8_INT2, SAME), DP_BOUNDED(INT8_INT4, SAME),
	DP_TRY(INT2_INT4, "int2"), DP_TRY(INT2_INT8, "int2"), DP_TRY(INT4_INT8, "int4"),
	DP_BOUNDED(FLOAT4_INT2, SAME), DP_BOUNDED(FLOAT4_INT4, SAME), DP_BOUNDED(FLOAT4_INT8, SAME),
	DP_BOUNDED(FLOAT8_INT2, SAME), DP_BOUNDED(FLOAT8_INT4, SAME), DP_BOUNDED(FLOAT8_INT8, SAME), DP_BOUNDED(FLOAT8_FLOAT4, SAME),
	DP_TRY(FLOAT4_FLOAT8, "float4"),
	DP_TRY(INT2_FLOAT4, "int2"), DP_TRY(INT4_FLOAT4, "int4"), DP_TRY(INT8_FLOAT4, "int8"),
	DP_TRY(INT2_FLOAT8, "int2"), DP_TRY(INT4_FLOAT8, "int4"), DP_TRY(INT8_FLOAT8, "int8"),
	DP_BOUNDED(NUMERIC_INT2, SAME), DP_BOUNDED(NUMERIC_INT4, SAME), DP_BOUNDED(NUMERIC_INT8, SAME),
	DP_BOUNDED(NUMERIC_FLOAT4, SAME), DP_BOUNDED(NUMERIC_FLOAT8, SAME),
	DP_TRY(INT2_NUMERIC, "int2"), DP_TRY(INT4_NUMERIC, "int4"), DP_TRY(INT8_NUMERIC, "int8"),
	DP_TRY(FLOAT4_NUMERIC, "float4"), DP_TRY(FLOAT8_NUMERIC, "float8"),
	DP_TRY_CONST(NUMERIC_NUMERIC_INT4, "numeric", DP_ARG(1), NONE),
	DP_ASIS(BOOL_INT4), DP_WITHIN(INT4_BOOL, "0", "1"), DP_ASIS(INT4_CHAR),

	/* strings */
	DP_TRY(LENGTH_TEXT, "length"), DP_TRY(LENGTH_BPCHAR, "length"),
	DP_TRY(CHAR_LENGTH_TEXT, "length"), DP_TRY(CHAR_LENGTH_BPCHAR, "length"),
	DP_TRY(CHARACTER_LENGTH_TEXT, "length"), DP_TRY(CHARACTER_LENGTH_BPCHAR, "length"), DP_TRY(TEXTLEN, "length"),
	DP_ASIS(OCTET_LENGTH_TEXT), DP_ASIS(OCTET_LENGTH_BPCHAR), DP_ASIS(OCTET_LENGTH_BYTEA),
	DP_FOLD(LOWER_TEXT, "lower"), DP_FOLD(UPPER_TEXT, "upper"), DP_FOLD(INITCAP, "initcap"),
	DP_TRY(BTRIM_TEXT, "btrim"), DP_TRY(LTRIM_TEXT, "ltrim"), DP_TRY(RTRIM_TEXT, "rtrim"),
	DP_TRY_CONST(BTRIM_TEXT_TEXT, "btrim", DP_ARG(1), NONE),
	DP_TRY_CONST(LTRIM_TEXT_TEXT, "ltrim", DP_ARG(1), NONE),
	DP_TRY_CONST(RTRIM_TEXT_TEXT, "rtrim", DP_ARG(1), NONE),
	DP_TRY(LEFT, "left"), DP_TRY(RIGHT, "right"), DP_TRY(REVERSE_TEXT, "reverse"),
	DP_TRY(SUBSTR_TEXT_INT4, "substring"), DP_TRY(SUBSTRING_TEXT_INT4, "substring"),
	DP_TRY(SUBSTR_TEXT_INT4_INT4, "substring"), DP_TRY(SUBSTRING_TEXT_INT4_INT4, "substring"),
	DP_TRY(STARTS_WITH, "starts_with"), DP_TRY(STRPOS, "strpos"), DP_TRY(POSITION_TEXT_TEXT, "strpos"),
	DP_TRY(TEXTCAT, "concat"),
	DP_TRY(LPAD_TEXT_INT4, "lpad"), DP_TRY(RPAD_TEXT_INT4, "rpad"),
	DP_TRY(LPAD_TEXT_INT4_TEXT, "lpad"), DP_TRY(RPAD_TEXT_INT4_TEXT, "rpad"),
	DP_TRY_CONST(REPLACE, "replace", DP_ARG(1) | DP_ARG(2), NONE),
	DP_TRY_CONST(SPLIT_PART, "split_part", DP_ARG(1) | DP_ARG(2), NONE),
	DP_LIKE(TEXTLIKE), DP_NOT_LIKE(TEXTNLIKE),
	DP_LIKE(LIKE_TEXT_TEXT),
	DP_NOT_LIKE(NOTLIKE_TEXT_TEXT),
	DP_LIKE(BPCHARLIKE), DP_NOT_LIKE(BPCHARNLIKE),
	DP_LIKE(NAMELIKE), DP_NOT_LIKE(NAMENLIKE),
	DP_ILIKE(TEXTICLIKE), DP_NOT_ILIKE(TEXTICNLIKE),
	DP_ILIKE(BPCHARICLIKE),
	DP_NOT_ILIKE(BPCHARICNLIKE),
	DP_ILIKE(NAMEICLIKE), DP_NOT_ILIKE(NAMEICNLIKE),
	DP_TRY(TEXT_BPCHAR, "text"), DP_ASIS(TEXT_NAME), DP_ASIS(TEXT_CHAR), DP_ASIS(TEXT_BOOL), DP_TRY(NAME_TEXT, "name"),
	DP_TRY_CONST(VARCHAR_VARCHAR_INT4_BOOL, "varchar", DP_ARG(1) | DP_ARG(2), LENGTH),
	DP_TRY_CONST(BPCHAR_BPCHAR_INT4_BOOL, "bpchar", DP_ARG(1) | DP_ARG(2), LENGTH),

	/* dates and times */
	DP_ASIS(ISFINITE_DATE), DP_ASIS(ISFINITE_TIMESTAMP), DP_ASIS(ISFINITE_TIMESTAMPTZ),
	DP_ASIS(ISFINITE_INTERVAL),
	DP_ASIS(NOW), DP_ASIS(TRANSACTION_TIMESTAMP), DP_ASIS(STATEMENT_TIMESTAMP),
	DP_BOUNDED(DATE_TIMESTAMP, TIME), DP_ASIS(TIME_TIMESTAMP),
	DP_TRY(TIMESTAMP_DATE, "timestamp"), DP_TRY(TIMESTAMPTZ_DATE, "timestamptz"),
	DP_TRY(TIMESTAMPTZ_TIMESTAMP, "timestamptz"), DP_TRY(TIMESTAMP_TIMESTAMPTZ, "timestamp"),
	DP_TRY(DATE_TIMESTAMPTZ, "date"), DP_TRY(TIME_TIMESTAMPTZ, "time"),
	DP_TRY_CONST(TIMESTAMP_TIMESTAMP_INT4, "timestamp", DP_ARG(1), NONE),
	DP_TRY_CONST(TIMESTAMPTZ_TIMESTAMPTZ_INT4, "timestamptz", DP_ARG(1), NONE),
	DP_TRY(DATE_MI, "subtract"), DP_TRY(DATE_PLI, "add"), DP_TRY(DATE_MII, "subtract"),
	DP_TRY(INTEGER_PL_DATE, "add"),
	DP_TRY(DATE_PL_INTERVAL, "add"), DP_TRY(DATE_MI_INTERVAL, "subtract"), DP_TRY(INTERVAL_PL_DATE, "add"),
	DP_TRY(TIMESTAMP_MI, "subtract"), DP_TRY(TIMESTAMPTZ_MI, "subtract"),
	DP_TRY(TIMESTAMP_PL_INTERVAL, "add"), DP_TRY(TIMESTAMP_MI_INTERVAL, "subtract"),
	DP_TRY(INTERVAL_PL_TIMESTAMP, "add"),
	DP_TRY(TIMESTAMPTZ_PL_INTERVAL, "add"), DP_TRY(TIMESTAMPTZ_MI_INTERVAL, "subtract"),
	DP_TRY(INTERVAL_PL_TIMESTAMPTZ, "add"),
	DP_TRY(INTERVAL_MUL, "multiply"), DP_TRY(MUL_D_INTERVAL, "multiply"),
	DP_TRY(AGE_TIMESTAMP_TIMESTAMP, "age"), DP_TRY(AGE_TIMESTAMPTZ_TIMESTAMPTZ, "age"),
	DP_TRY(AGE_TIMESTAMP, "age"), DP_TRY(AGE_TIMESTAMPTZ, "age"),
	DP_ASIS(OVERLAPS_TIMESTAMP_TIMESTAMP_TIMESTAMP_TIMESTAMP), DP_ASIS(OVERLAPS_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ),
	DP_TRY(MAKE_DATE, "make_date"), DP_TRY(TO_TIMESTAMP_FLOAT8, "to_timestamp"),
	DP_TRY_CONST(DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP, "date_bin", DP_ARG(0) | DP_ARG(2), STRIDE),
	DP_TRY_CONST(DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, "date_bin", DP_ARG(0) | DP_ARG(2), STRIDE),
	DP_TRY_CONST(EXTRACT_TEXT_DATE, "extract", DP_ARG(0), FIELD),
	DP_TRY_CONST(EXTRACT_TEXT_TIME, "extract", DP_ARG(0), FIELD),
	DP_TRY_CONST(EXTRACT_TEXT_TIMESTAMP, "extract", DP_ARG(0), FIELD),
	DP_TRY_CONST(EXTRACT_TEXT_TIMESTAMPTZ, "extract", DP_ARG(0), FIELD),
	DP_TRY_CONST(EXTRACT_TEXT_INTERVAL, "extract", DP_ARG(0), FIELD),
	DP_TRY_CONST(DATE_PART_TEXT_DATE, "date_part", DP_ARG(0), FIELD),
	DP_TRY_CONST(DATE_PART_TEXT_TIME, "date_part", DP_ARG(0), FIELD),
	DP_TRY_CONST(DATE_PART_TEXT_TIMESTAMP, "date_part", DP_ARG(0), FIELD),
	DP_TRY_CONST(DATE_PART_TEXT_TIMESTAMPTZ, "date_part", DP_ARG(0), FIELD),
	DP_TRY_CONST(DATE_PART_TEXT_INTERVAL, "date_part", DP_ARG(0), FIELD),
	DP_TRY_CONST(DATE_TRUNC_TEXT_TIMESTAMP, "date_trunc", DP_ARG(0), TRUNC),
	DP_TRY_CONST(DATE_TRUNC_TEXT_TIMESTAMPTZ, "date_trunc", DP_ARG(0), TRUNC),
	DP_TRY_CONST(DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, "date_trunc", DP_ARG(0) | DP_ARG(2), TRUNC),
	DP_TRY_CONST(TIMEZONE_TEXT_TIMESTAMP, "timezone", DP_ARG(0), ZONE),
	DP_TRY_CONST(TIMEZONE_TEXT_TIMESTAMPTZ, "timezone", DP_ARG(0), ZONE),
	DP_TRY_CONST(TO_CHAR_TIMESTAMP_TEXT, "to_char", DP_ARG(1), FORMAT),
	DP_TRY_CONST(TO_CHAR_TIMESTAMPTZ_TEXT, "to_char", DP_ARG(1), FORMAT),

	/* jsonb: a column of it is read so, and in no other way */
	DP_TRY_CONST(JSONB_OBJECT_FIELD, "json", DP_ARG(1), NONE), DP_TRY_CONST(JSONB_OBJECT_FIELD_TEXT, "json_text", DP_ARG(1), NONE),
	DP_TRY_CONST(JSONB_ARRAY_ELEMENT, "json", DP_ARG(1), NONE), DP_TRY_CONST(JSONB_ARRAY_ELEMENT_TEXT, "json_text", DP_ARG(1), NONE),
	DP_TRY_CONST(JSONB_EXTRACT_PATH, "json", DP_ARG(1), NONE), DP_TRY_CONST(JSONB_EXTRACT_PATH_TEXT, "json_text", DP_ARG(1), NONE),

	/* addresses */
	DP_ASIS(NETWORK_SUB), DP_ASIS(NETWORK_SUBEQ), DP_ASIS(NETWORK_SUP), DP_ASIS(NETWORK_SUPEQ), DP_ASIS(NETWORK_OVERLAP),
	DP_WITHIN(FAMILY, "4", "6"), DP_WITHIN(MASKLEN, "0", "128"), DP_ASIS(HOST), DP_ASIS(NETWORK), DP_ASIS(BROADCAST), DP_ASIS(NETMASK), DP_ASIS(HOSTMASK),
	DP_ASIS(INET_SAME_FAMILY), DP_ASIS(ABBREV_INET), DP_ASIS(ABBREV_CIDR), DP_ASIS(TEXT_INET), DP_ASIS(CIDR),
	DP_TRY(SET_MASKLEN_INET_INT4, "set_masklen"), DP_TRY(SET_MASKLEN_CIDR_INT4, "set_masklen"),

	/* arrays and ranges: a column of one is read so, by = ANY (vet.c), or for NULL, and in no other way */
	DP_TRY(ARRAYCONTAINS, "contains"), DP_TRY(ARRAYCONTAINED, "contained"), DP_TRY(ARRAYOVERLAP, "overlap"),
	DP_TRY(CARDINALITY, "cardinality"), DP_TRY(ARRAY_LENGTH, "array_length"),
	DP_TRY(ARRAY_POSITION_ANYCOMPATIBLEARRAY_ANYCOMPATIBLE, "array_position"),
	DP_ASIS(RANGE_CONTAINS_ELEM), DP_ASIS(ELEM_CONTAINED_BY_RANGE), DP_ASIS(RANGE_CONTAINS), DP_ASIS(RANGE_CONTAINED_BY),
	DP_ASIS(RANGE_OVERLAPS), DP_ASIS(RANGE_BEFORE), DP_ASIS(RANGE_AFTER), DP_ASIS(RANGE_OVERLEFT), DP_ASIS(RANGE_OVERRIGHT),
	DP_ASIS(RANGE_EQ), DP_ASIS(RANGE_NE), DP_ASIS(LOWER_ANYRANGE), DP_ASIS(UPPER_ANYRANGE), DP_ASIS(ISEMPTY_ANYRANGE),
	DP_ASIS(LOWER_INC_ANYRANGE), DP_ASIS(UPPER_INC_ANYRANGE), DP_ASIS(LOWER_INF_ANYRANGE), DP_ASIS(UPPER_INF_ANYRANGE),

	/*
	 * of constants: how tools write dates; evaluated when the query is
	 * checked
	 */
	DP_CONSTANTS_ONLY(TO_DATE), DP_CONSTANTS_ONLY(TO_TIMESTAMP_TEXT_TEXT)
};

#define DP_VARIANT(name, op) {"try_" name, DP_BOUND_##op}
/* stands for its built-in on released values, too, where noise makes that fail (guard/failing_calls.c) */
#define DP_RELEASED(name, op) {"try_" name, DP_BOUND_##op, true}
#define DP_VARIANT_WITHIN(name, from, to) {"try_" name, .lowest = from, .highest = to}
#define DP_VARIANT_TIMES(name, number) {"try_" name, .factor = number}

/* what is known of all functions that a safe variant stands for */
static const DpFunctionFacts dp_variants[] = {
	DP_RELEASED("add", ADD), DP_RELEASED("subtract", SUBTRACT), DP_RELEASED("multiply", MULTIPLY), DP_RELEASED("divide", DIVIDE),
	DP_RELEASED("mod", MOD), DP_RELEASED("negate", NEGATE), DP_RELEASED("abs", ABS), DP_RELEASED("sqrt", SQRT), DP_RELEASED("ln", LN),
	DP_RELEASED("log", LOG), DP_RELEASED("exp", EXP), DP_RELEASED("power", POWER), DP_RELEASED("ceil", CEIL), DP_RELEASED("floor", FLOOR),
	DP_RELEASED("round", ROUND), DP_RELEASED("int2", SAME), DP_RELEASED("int4", SAME), DP_RELEASED("int8", SAME),
	DP_RELEASED("float4", SAME), DP_RELEASED("numeric", SAME), DP_RELEASED("width_bucket", NONE), DP_RELEASED("make_date", NONE),
	DP_VARIANT("float8", SAME), DP_VARIANT("summand", SAME), DP_VARIANT("summand_squared", SAME),
	DP_VARIANT("timestamp", TIME), DP_VARIANT("timestamptz", TIME), DP_VARIANT("date", TIME),
	DP_VARIANT_WITHIN("sin", "-1", "1"), DP_VARIANT_WITHIN("cos", "-1", "1"), DP_VARIANT_WITHIN("sind", "-1", "1"), DP_VARIANT_WITHIN("cosd", "-1", "1"),
	DP_VARIANT_WITHIN("asin", "-" DP_HALF_PI, DP_HALF_PI), DP_VARIANT_WITHIN("acos", "0", DP_PI), DP_VARIANT_WITHIN("asind", "-90", "90"),
	DP_VARIANT_WITHIN("acosd", "0", "180"), DP_VARIANT_TIMES("radians", "0.0174532925199432957692"), DP_VARIANT_TIMES("degrees", "57.2957795130823208768")
};

const DpAllowed *
dp_allowed_functions(int *count)
{
	*count = lengthof(dp_allowed);
	return dp_allowed;
}

static int
by_oid(const void *a, const void *b)
{
	Oid			x = (*(const DpAllowed *const *) a)->funcid;
	Oid			y = (*(const DpAllowed *const *) b)->funcid;

	return x < y ? -1 : x > y;
}

const DpAllowed *
dp_allowed_function(Oid funcid)
{
	static const DpAllowed *sorted[lengthof(dp_allowed)];
	static bool is_sorted = false;
	DpAllowed	key;
	const DpAllowed *wanted = &key;
	const DpAllowed **found;

	if (!is_sorted)
	{
		int			i;

		for (i = 0; i < lengthof(dp_allowed); i++)
			sorted[i] = &dp_allowed[i];
		qsort(sorted, lengthof(dp_allowed), sizeof(sorted[0]), by_oid);
		is_sorted = true;
	}
	key.funcid = funcid;
	found = bsearch(&wanted, sorted, lengthof(dp_allowed), sizeof(sorted[0]), by_oid);
	return found ? *found : NULL;
}

/* functions that are computed in double precision: in numeric, time and memory would follow from the values */
static const struct
{
	Oid			funcid;
	Oid			instead;
}			dp_in_double[] = {
	{F_LN_NUMERIC, F_LN_FLOAT8}, {F_LOG_NUMERIC, F_LOG_FLOAT8}, {F_LOG10_NUMERIC, F_LOG10_FLOAT8}, {F_EXP_NUMERIC, F_EXP_FLOAT8},
	{F_POWER_NUMERIC_NUMERIC, F_POWER_FLOAT8_FLOAT8}, {F_POW_NUMERIC_NUMERIC, F_POW_FLOAT8_FLOAT8},
	{F_NUMERIC_POWER, F_POWER_FLOAT8_FLOAT8}
};

Oid
dp_double_function(Oid funcid)
{
	for (int i = 0; i < lengthof(dp_in_double); i++)
		if (dp_in_double[i].funcid == funcid)
			return dp_in_double[i].instead;
	return InvalidOid;
}

const char *
dp_safe_name(Oid funcid)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	if (allowed != NULL)
		return allowed->safe;
	if (dp_is_own(ProcedureRelationId, funcid) && get_func_namespace(funcid) == dp_internal_schema())
		return get_func_name(funcid);
	return NULL;
}

const DpFunctionFacts *
dp_function_facts(Oid funcid)
{
	static const DpFunctionFacts nothing = {0};
	const DpAllowed *allowed = dp_allowed_function(funcid);
	const char *safe = dp_safe_name(funcid);
	Oid			instead = dp_double_function(funcid);

	for (int i = 0; safe != NULL && i < lengthof(dp_variants); i++)
		if (strcmp(dp_variants[i].safe, safe) == 0)
			return &dp_variants[i];
	if (safe == NULL && allowed != NULL)
		return &allowed->facts;
	return OidIsValid(instead) ? dp_function_facts(instead) : &nothing;
}

static Oid
named_variant(const DpAllowed *allowed, const char *name)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	Oid			funcid;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(allowed->funcid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", allowed->funcid);
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	funcid = dp_own_function(name, proc->pronargs, proc->proargtypes.values, proc->prorettype);
	ReleaseSysCache(tuple);
	return funcid;
}

Oid
dp_safe_variant(const DpAllowed *allowed)
{
	return named_variant(allowed, allowed->safe);
}

Oid
dp_negated_variant(const DpAllowed *allowed)
{
	return named_variant(allowed, allowed->negates);
}

/* ranges that are made of columns, or of the time */
#define DP_RANGE "write a range of constants, or compare its ends, for example lower(column) < a AND upper(column) > b"
/* OVERLAPS with intervals */
#define DP_ENDS "write the end instead of the length, for example (day, day + interval '2 days') OVERLAPS (...)"

/* Functions that people reach for first, and the remedies that messages name instead. */
static const struct
{
	Oid			funcid;
	const char *instead;
}			dp_instead[] = {
	{F_TEXTREGEXEQ, "use a constant of plain characters, ^, $, ., .* and (a|b), or LIKE"},
	{F_TEXTREGEXNE, "use a constant of plain characters, ^, $, ., .* and (a|b), or NOT LIKE"},
	{F_TEXTICREGEXEQ, "use ILIKE with a constant pattern"},
	{F_TEXTICREGEXNE, "use NOT ILIKE with a constant pattern"},
	{F_BPCHARREGEXEQ, "use LIKE with a constant pattern"},
	{F_BPCHARICREGEXEQ, "use ILIKE with a constant pattern"},
	{F_REGEXP_REPLACE_TEXT_TEXT_TEXT, "use replace(string, from, to), or split_part"},
	{F_REGEXP_REPLACE_TEXT_TEXT_TEXT_TEXT, "use replace(string, from, to), or split_part"},
	{F_SUBSTRING_TEXT_TEXT, "use substring(string, start, length) or split_part, or a pattern such as '@(.*)$', '^[^@]+' or 'id=([^&]*)'"},
	{F_JSONB_CONTAINS, "compare a part of it, for example column ->> 'name' = 'value'"},
	{F_JSONB_EXISTS, "write column ->> 'name' IS NOT NULL"},
	{F_JSONB_EQ, "compare parts, for example column ->> 'name' = 'value'"},
	{F_TO_CHAR_NUMERIC_TEXT, "format the released value outside of the aggregate, or cast to text"},
	{F_TO_CHAR_INT4_TEXT, "format the released value outside of the aggregate, or cast to text"},
	{F_TO_CHAR_INT8_TEXT, "format the released value outside of the aggregate, or cast to text"},
	{F_CLOCK_TIMESTAMP, "use now()"},
	{F_OVERLAPS_TIMESTAMP_INTERVAL_TIMESTAMP_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMP_TIMESTAMP_TIMESTAMP_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMP_INTERVAL_TIMESTAMP_TIMESTAMP, DP_ENDS},
	{F_OVERLAPS_TIMESTAMPTZ_INTERVAL_TIMESTAMPTZ_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMPTZ_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, DP_ENDS},
	{F_TSRANGE_TIMESTAMP_TIMESTAMP, DP_RANGE}, {F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ, DP_RANGE}, {F_DATERANGE_DATE_DATE, DP_RANGE},
	{F_INT4RANGE_INT4_INT4, DP_RANGE}, {F_NUMRANGE_NUMERIC_NUMERIC, DP_RANGE},
	{F_ARRAY_TO_STRING_ANYARRAY_TEXT, "write CASE WHEN 'a' = ANY (column) THEN ... END, or column[1]"},
	{F_ARRAY_EQ, "write column @> '{a,b}' AND cardinality(column) = 2"},
	{F_MAKE_INTERVAL, "add a number of days to a date, for example day + n, or compute in seconds with extract(epoch FROM ...)"},
	{F_INT4_JSONB, "cast the part as text, for example (column ->> 'name')::integer"},
	{F_INT8_JSONB, "cast the part as text, for example (column ->> 'name')::bigint"},
	{F_NUMERIC_JSONB, "cast the part as text, for example (column ->> 'name')::numeric"},
	{F_FLOAT8_JSONB, "cast the part as text, for example (column ->> 'name')::double precision"},
	{F_BOOL_JSONB, "compare the part as text, for example column ->> 'name' = 'true'"},
	{F_TS_MATCH_VQ, "use LIKE or ILIKE with a constant pattern"},
	{F_TO_TSVECTOR_TEXT, "use LIKE or ILIKE with a constant pattern"},
	{F_REGEXP_LIKE_TEXT_TEXT, "use LIKE with a constant pattern"},
	{F_REGEXP_MATCH_TEXT_TEXT, "use LIKE, substring(string, start, length) or split_part"},
	{F_STRING_TO_ARRAY_TEXT_TEXT, "use split_part(string, delimiter, n)"},
	{F_TO_NUMBER, "cast it to numeric"},
	{F_TRANSLATE, "use replace(string, from, to)"},
	{F_FORMAT_TEXT_ANY, "use concat or ||"},
	{F_NUM_NULLS, "write IS NULL"},
	{F_NUM_NONNULLS, "write IS NOT NULL"},
	{F_SHA256, "group by the column itself or by left(column, n)"},
	{F_MD5_TEXT, "group by the column itself or by left(column, n)"},
	{F_TIMEZONE_INTERVAL_TIMESTAMP, "write a full time zone name such as 'Europe/Berlin'"},
	{F_TIMEZONE_INTERVAL_TIMESTAMPTZ, "write a full time zone name such as 'Europe/Berlin'"}
};

const char *
dp_nearest_allowed(Oid funcid)
{
	int			i;

	for (i = 0; i < lengthof(dp_instead); i++)
	{
		if (dp_instead[i].funcid == funcid)
			return dp_instead[i].instead;
	}
	return NULL;
}
