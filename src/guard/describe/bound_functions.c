/*-------------------------------------------------------------------------
 *
 * bound_functions.c
 *	  Which operation on bounds a function is.
 *
 * Of a function that may run on rows (guard/vet/list.c), or its safe variant: of
 * what subqueries compute only that is left.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/vet/vet.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* those that have a safe variant, by its name */
static const struct
{
	const char *name;
	DpBoundOp	op;
}			safe_functions[] = {
	{"try_add", DP_BOUND_ADD}, {"try_subtract", DP_BOUND_SUBTRACT},
	{"try_multiply", DP_BOUND_MULTIPLY}, {"try_divide", DP_BOUND_DIVIDE}, {"try_mod", DP_BOUND_MOD},
	{"try_negate", DP_BOUND_NEGATE}, {"try_abs", DP_BOUND_ABS},
	{"try_sqrt", DP_BOUND_SQRT}, {"try_ln", DP_BOUND_LN}, {"try_log", DP_BOUND_LOG}, {"try_exp", DP_BOUND_EXP},
	{"try_power", DP_BOUND_POWER},
	{"try_ceil", DP_BOUND_CEIL}, {"try_floor", DP_BOUND_FLOOR}, {"try_round", DP_BOUND_ROUND},
	{"try_int2", DP_BOUND_SAME}, {"try_int4", DP_BOUND_SAME}, {"try_int8", DP_BOUND_SAME},
	{"try_float4", DP_BOUND_SAME}, {"try_float8", DP_BOUND_SAME}, {"try_numeric", DP_BOUND_SAME},
	{"try_summand", DP_BOUND_SAME}, {"try_summand_squared", DP_BOUND_SAME},
	{"try_timestamp", DP_BOUND_TIME}, {"try_timestamptz", DP_BOUND_TIME}, {"try_date", DP_BOUND_TIME}
};

/* those that run as they stand, or in words of double precision (guard/vet/calls.c) */
static const struct
{
	Oid			funcid;
	DpBoundOp	op;
}			plain_functions[] = {
	{F_INT2UP, DP_BOUND_SAME}, {F_INT4UP, DP_BOUND_SAME}, {F_INT8UP, DP_BOUND_SAME},
	{F_FLOAT4UP, DP_BOUND_SAME}, {F_FLOAT8UP, DP_BOUND_SAME}, {F_NUMERIC_UPLUS, DP_BOUND_SAME},
	{F_FLOAT4UM, DP_BOUND_NEGATE}, {F_FLOAT8UM, DP_BOUND_NEGATE}, {F_NUMERIC_UMINUS, DP_BOUND_NEGATE},
	{F_FLOAT4ABS, DP_BOUND_ABS}, {F_FLOAT8ABS, DP_BOUND_ABS}, {F_ABS_FLOAT4, DP_BOUND_ABS},
	{F_ABS_FLOAT8, DP_BOUND_ABS}, {F_NUMERIC_ABS, DP_BOUND_ABS}, {F_ABS_NUMERIC, DP_BOUND_ABS},
	{F_CEIL_FLOAT8, DP_BOUND_CEIL}, {F_CEILING_FLOAT8, DP_BOUND_CEIL}, {F_FLOOR_FLOAT8, DP_BOUND_FLOOR},
	{F_ROUND_FLOAT8, DP_BOUND_ROUND}, {F_TRUNC_FLOAT8, DP_BOUND_TRUNC},
	{F_TRUNC_NUMERIC, DP_BOUND_TRUNC}, {F_TRUNC_NUMERIC_INT4, DP_BOUND_TRUNC},
	{F_SIGN_FLOAT8, DP_BOUND_SIGN}, {F_SIGN_NUMERIC, DP_BOUND_SIGN},
	{F_LN_NUMERIC, DP_BOUND_LN}, {F_LOG_NUMERIC, DP_BOUND_LOG}, {F_LOG10_NUMERIC, DP_BOUND_LOG}, {F_EXP_NUMERIC, DP_BOUND_EXP},
	{F_POWER_NUMERIC_NUMERIC, DP_BOUND_POWER}, {F_POW_NUMERIC_NUMERIC, DP_BOUND_POWER}, {F_NUMERIC_POWER, DP_BOUND_POWER},
	{F_CBRT, DP_BOUND_CBRT}, {F_DCBRT, DP_BOUND_CBRT}, {F_TRIM_SCALE, DP_BOUND_SAME},
	{F_INT4_INT2, DP_BOUND_SAME}, {F_INT8_INT2, DP_BOUND_SAME}, {F_INT8_INT4, DP_BOUND_SAME},
	{F_FLOAT4_INT2, DP_BOUND_SAME}, {F_FLOAT4_INT4, DP_BOUND_SAME}, {F_FLOAT4_INT8, DP_BOUND_SAME},
	{F_FLOAT8_INT2, DP_BOUND_SAME}, {F_FLOAT8_INT4, DP_BOUND_SAME}, {F_FLOAT8_INT8, DP_BOUND_SAME},
	{F_FLOAT8_FLOAT4, DP_BOUND_SAME},
	{F_NUMERIC_INT2, DP_BOUND_SAME}, {F_NUMERIC_INT4, DP_BOUND_SAME}, {F_NUMERIC_INT8, DP_BOUND_SAME},
	{F_NUMERIC_FLOAT4, DP_BOUND_SAME}, {F_NUMERIC_FLOAT8, DP_BOUND_SAME},
	{F_DATE_TIMESTAMP, DP_BOUND_TIME}
};

const char *
dp_bound_function_name(Oid funcid)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	if (allowed != NULL)
		return allowed->safe;
	if (dp_is_own(ProcedureRelationId, funcid) && get_func_namespace(funcid) == dp_internal_schema())
		return get_func_name(funcid);
	return NULL;
}

bool
dp_bound_function(Oid funcid, DpBoundOp *op)
{
	const char *name = dp_bound_function_name(funcid);

	for (int i = 0; name != NULL && i < lengthof(safe_functions); i++)
		if (strcmp(safe_functions[i].name, name) == 0)
		{
			*op = safe_functions[i].op;
			return true;
		}
	for (int i = 0; name == NULL && i < lengthof(plain_functions); i++)
		if (plain_functions[i].funcid == funcid)
		{
			*op = plain_functions[i].op;
			return true;
		}
	return false;
}

#define DP_HALF_PI "1.57079632679489661923"
#define DP_PI "3.14159265358979323846"

/* those whose values are in a range, whatever the arguments are */
static const struct
{
	Oid			funcid;
	const char *lowest;
	const char *highest;
}			ranges[] = {
	{F_SIN, "-1", "1"}, {F_COS, "-1", "1"}, {F_SIND, "-1", "1"}, {F_COSD, "-1", "1"}, {F_TANH, "-1", "1"},
	{F_ASIN, "-" DP_HALF_PI, DP_HALF_PI}, {F_ACOS, "0", DP_PI}, {F_ATAN, "-" DP_HALF_PI, DP_HALF_PI}, {F_ATAN2, "-" DP_PI, DP_PI},
	{F_ASIND, "-90", "90"}, {F_ACOSD, "0", "180"}, {F_ATAND, "-90", "90"}, {F_ATAN2D, "-180", "180"},
	{F_FAMILY, "4", "6"}, {F_MASKLEN, "0", "128"}, {F_INT4_BOOL, "0", "1"}
};

bool
dp_bound_value_range(Oid funcid, const char **lowest, const char **highest)
{
	const char *name = dp_bound_function_name(funcid);

	for (int i = 0; i < lengthof(ranges); i++)
	{
		const char *safe = dp_allowed_function(ranges[i].funcid)->safe;

		if (ranges[i].funcid == funcid || (name != NULL && safe != NULL && strcmp(name, safe) == 0))
		{
			*lowest = ranges[i].lowest;
			*highest = ranges[i].highest;
			return true;
		}
	}
	return false;
}

/* between what a field of a date or time is, with a scale that says what it is a multiple of */
static const struct
{
	int			field;
	const char *lowest;
	const char *highest;
}			field_ranges[] = {
	{DTK_MICROSEC, "0", "60000000"}, {DTK_MILLISEC, "0.000", "60000.000"}, {DTK_SECOND, "0.000000", "60.000000"},
	{DTK_MINUTE, "0", "59"}, {DTK_HOUR, "0", "24"}, {DTK_DAY, "1", "31"}, {DTK_MONTH, "1", "12"}, {DTK_QUARTER, "1", "4"},
	{DTK_WEEK, "1", "53"}, {DTK_DOW, "0", "6"}, {DTK_ISODOW, "1", "7"}, {DTK_DOY, "1", "366"}
};

bool
dp_bound_field_range(int field, const char **lowest, const char **highest)
{
	for (int i = 0; i < lengthof(field_ranges); i++)
		if (field_ranges[i].field == field)
		{
			*lowest = field_ranges[i].lowest;
			*highest = field_ranges[i].highest;
			return true;
		}
	return false;
}

int
dp_bound_field(Const *name)
{
	char	   *word;
	int			kind;
	int			field;

	if (!IsA(name, Const) || name->constisnull || name->consttype != TEXTOID)
		return -1;
	word = TextDatumGetCString(name->constvalue);
	word = downcase_identifier(word, strlen(word), false, true);
	kind = DecodeUnits(0, word, &field);
	if (kind == UNKNOWN_FIELD)
		kind = DecodeSpecial(0, word, &field);
	return kind == UNITS || (kind == RESERV && field == DTK_EPOCH) ? field : -1;
}
