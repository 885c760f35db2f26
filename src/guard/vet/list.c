/*-------------------------------------------------------------------------
 *
 * list.c
 *	  The built-in functions that may run on raw rows, as functions.def has them.
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
 * Not listed, on purpose: anything that
 * formats by settings (to_char of numbers, casts through text), repeat
 * (memory), hash functions (slow when nested), what makes ranges and
 * json, xml, and object identifiers.  What makes arrays is looked into at once;
 * text search is one function, of a string and constants (search.c).
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

#define DP_HALF_PI "1.57079632679489661923"
#define DP_PI "3.14159265358979323846"

#define KIND(kind, ...) [DP_KIND_##kind] = {.variant = "try_" #kind, __VA_ARGS__},
#define BOUND(op) .bound = DP_BOUND_##op
#define WITHIN(from, to) .lowest = from, .highest = to
#define TIMES(number) .factor = number
#define FINDS .finds = true
#define OF_EQUALS .of_equals = true
#define RELEASED .released = true

static const DpFunctionFacts kinds[] = {
	[DP_KIND_NONE] = {.variant = NULL},
#include "guard/vet/functions.def"
};

#undef KIND

#define ARG(n) (1 << (n))
#define AS(f, kind) {F_##f, DP_KIND_##kind, NULL}
#define ASIS(f) AS(f, NONE)
#define TRY(f, kind) {F_##f, DP_KIND_##kind, "try_" #kind}
#define TRY_CONST(f, kind, constants, check) {F_##f, DP_KIND_##kind, "try_" #kind, constants, DP_CHECK_##check}
#define CONSTANTS_ONLY(f) {F_##f, .constants_only = true}
#define FOLD(f, kind) {F_##f, DP_KIND_##kind, "try_" #kind, .folds = true}
#define MATCH(f, kind, check, ...) {F_##f, DP_KIND_##kind, "try_" #kind, ARG(1), DP_CHECK_##check, __VA_ARGS__}
#define LIKE(f) MATCH(f, like, LIKE, .folds = false)
#define NOT_LIKE(f) MATCH(f, not_like, LIKE, .negates = "try_like")
#define ILIKE(f) MATCH(f, ilike, LIKE, .folds = true)
#define NOT_ILIKE(f) MATCH(f, not_ilike, LIKE, .folds = true, .negates = "try_ilike")
#define MATCHES(f) MATCH(f, matches, REGEX, .folds = false)
#define IMATCHES(f) MATCH(f, imatches, REGEX, .folds = true)

/* comparisons whose names follow one of the two customs */
#define COMPARE(t) ASIS(t##EQ), ASIS(t##NE), ASIS(t##LT), ASIS(t##LE), ASIS(t##GT), ASIS(t##GE)
#define COMPARE_(t) ASIS(t##_EQ), ASIS(t##_NE), ASIS(t##_LT), ASIS(t##_LE), ASIS(t##_GT), ASIS(t##_GE)
#define COMPARE_CROSS(t, u) \
	ASIS(t##_EQ_##u), ASIS(t##_NE_##u), ASIS(t##_LT_##u), ASIS(t##_LE_##u), ASIS(t##_GT_##u), ASIS(t##_GE_##u)

#define ARITHMETIC(t) TRY(t##PL, add), TRY(t##MI, subtract), TRY(t##MUL, multiply), TRY(t##DIV, divide)
#define ARITHMETIC_(t) TRY(t##_ADD, add), TRY(t##_SUB, subtract), TRY(t##_MUL, multiply), TRY(t##_DIV, divide)

static const DpAllowed dp_allowed[] = {
#include "guard/vet/functions.def"
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

DpFunctionKind
dp_function_kind(Oid funcid)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);
	Oid			instead = dp_double_function(funcid);
	const char *variant;

	if (allowed != NULL || OidIsValid(instead))
		return allowed ? allowed->kind : dp_function_kind(instead);
	if (!dp_is_own(ProcedureRelationId, funcid) || get_func_namespace(funcid) != dp_internal_schema())
		return DP_KIND_NONE;
	variant = get_func_name(funcid);
	for (int i = DP_KIND_NONE + 1; variant != NULL && i < lengthof(kinds); i++)
		if (strcmp(kinds[i].variant, variant) == 0)
			return i;
	return DP_KIND_NONE;
}

DpFunctionKind
dp_call_kind(Node *node, List **args)
{
	Oid			funcid;

	*args = IsA(node, ScalarArrayOpExpr) ? NIL : dp_call_args(node, &funcid);
	return *args != NIL ? dp_function_kind(funcid) : DP_KIND_NONE;
}

const DpFunctionFacts *
dp_function_facts(DpFunctionKind kind)
{
	return &kinds[kind];
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

#define DP_OUTSIDE "use it on the released value, outside of the aggregate"
#define DP_SAMPLE "leave the sample out: all rows cost no more than some of them, and tell more"
#define DP_SEARCH "write to_tsvector('english', column) @@ to_tsquery('english', 'word')"
#define DP_PATH "compare a part of it, for example (column ->> 'name')::numeric > 50"

/* Functions that people reach for first, and the remedies that messages name instead. */
static const struct
{
	Oid			funcid;
	const char *instead;
}			dp_instead[] = {
	{F_JSONB_CONTAINS, "write a constant object of strings, numbers, booleans and such objects, or compare a part of it, for example column ->> 'name' = 'value'"},
	{F_JSONB_EQ, "compare parts, for example column ->> 'name' = 'value'"},
	{F_TO_CHAR_NUMERIC_TEXT, "format the released value outside of the aggregate, or cast to text"},
	{F_TO_CHAR_INT4_TEXT, "format the released value outside of the aggregate, or cast to text"},
	{F_TO_CHAR_FLOAT8_TEXT, "format the released value outside of the aggregate"},
	{F_TO_CHAR_FLOAT4_TEXT, "format the released value outside of the aggregate"},
	{F_TO_CHAR_INTERVAL_TEXT, "format the released value outside of the aggregate, or use extract(epoch FROM ...)"},
	{F_JUSTIFY_HOURS, DP_OUTSIDE}, {F_JUSTIFY_DAYS, DP_OUTSIDE}, {F_JUSTIFY_INTERVAL, DP_OUTSIDE},
	{F_ARRAY_UPPER, "use array_length(column, 1) or cardinality(column)"}, {F_ARRAY_NDIMS, "use cardinality(column)"},
	{F_LENGTH_BYTEA, "use octet_length(column)"},
	{F_INTERVAL_DIV, "multiply it, for example by 0.5"},
	{F_REGEXP_COUNT_TEXT_TEXT, "use string ~ pattern, or array_length(string_to_array(string, part), 1) - 1"},
	{F_BIT_LENGTH_TEXT, "write 8 * octet_length(column)"},
	{F_TO_CHAR_INT8_TEXT, "format the released value outside of the aggregate, or cast to text"},
	{F_CLOCK_TIMESTAMP, "use now()"},
	{F_OVERLAPS_TIMESTAMP_INTERVAL_TIMESTAMP_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMP_TIMESTAMP_TIMESTAMP_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMP_INTERVAL_TIMESTAMP_TIMESTAMP, DP_ENDS},
	{F_OVERLAPS_TIMESTAMPTZ_INTERVAL_TIMESTAMPTZ_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL, DP_ENDS}, {F_OVERLAPS_TIMESTAMPTZ_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, DP_ENDS},
	{F_TSRANGE_TIMESTAMP_TIMESTAMP, DP_RANGE}, {F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ, DP_RANGE}, {F_DATERANGE_DATE_DATE, DP_RANGE},
	{F_INT4RANGE_INT4_INT4, DP_RANGE}, {F_NUMRANGE_NUMERIC_NUMERIC, DP_RANGE},
	{F_MAKE_INTERVAL, "add a number of days to a date, for example day + n, or compute in seconds with extract(epoch FROM ...)"},
	{F_INT4_JSONB, "cast the part as text, for example (column ->> 'name')::integer"},
	{F_INT8_JSONB, "cast the part as text, for example (column ->> 'name')::bigint"},
	{F_NUMERIC_JSONB, "cast the part as text, for example (column ->> 'name')::numeric"},
	{F_FLOAT8_JSONB, "cast the part as text, for example (column ->> 'name')::double precision"},
	{F_BOOL_JSONB, "compare the part as text, for example column ->> 'name' = 'true'"},
	{F_REGEXP_LIKE_TEXT_TEXT_TEXT, "use text ~ pattern, or text ~* pattern"},
	{F_REGEXP_MATCH_TEXT_TEXT, "use substring(string FROM pattern)"},
	{F_TO_NUMBER, "cast it to numeric"},
	{F_FORMAT_TEXT_ANY, "use concat or ||"},
	{F_ARRAY_TO_STRING_ANYARRAY_TEXT_TEXT, "write array_to_string(column, ',')"},
	{F_TS_RANK_TSVECTOR_TSQUERY, DP_SEARCH}, {F_TO_TSVECTOR_TEXT, DP_SEARCH}, {F_TO_TSVECTOR_REGCONFIG_TEXT, DP_SEARCH},
	{F_JSONB_PATH_EXISTS_OPR, DP_PATH}, {F_JSONB_PATH_MATCH_OPR, DP_PATH},
	{F_RANDOM, DP_SAMPLE}, {F_HASHTEXT, DP_SAMPLE}, {F_HASHINT4, DP_SAMPLE}, {F_HASHINT8, DP_SAMPLE},
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
