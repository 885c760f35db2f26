/*-------------------------------------------------------------------------
 *
 * interval.c
 *	  Bounds of a value, as they follow from those of what it is made of.
 *
 * A value is described by what it is made of, down to columns and constants, and
 * its bounds are computed by interval arithmetic in numeric: once while the
 * query is planned, with what is known then, and again when it is priced.
 *
 * Invariant: nothing here depends on protected rows: what intervals are made of
 * is constants, parameters, the policy, public columns and max_rows.  One that is too narrow
 * clamps values and one that is too wide costs noise; neither costs privacy,
 * since values are clamped to whatever bounds come out.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "release/interval_int.h"
#include "release/release_int.h"
#include "utils/date.h"
#include "utils/timestamp.h"

/* nothing beyond is a bound */
#define LARGEST "1e300"
/* what rounding makes of one number, relatively */
#define MOST_ROUNDING "1e-11"
/* more decimal places are of no use */
#define MOST_PLACES 400

/* bounds that conditions leave to a unit of so many rows, and not to one of DP_MANY_ROWS, are too wide to be of use */
#define FEWER_ROWS 1000

/* ------------------------------------------------------------------------
 * What intervals begin with
 * ------------------------------------------------------------------------
 */

static Numeric
of_const(Expr *constant)
{
	return DatumGetNumeric(castNode(Const, constant)->constvalue);
}

static DpInterval
of_number(const DpBound *bound, Oid type, Datum value)
{
	Numeric		n;
	DpInterval	result;

	switch (type)
	{
		case INT2OID:
			n = num_of_int(DatumGetInt16(value));
			break;
		case INT4OID:
			n = num_of_int(DatumGetInt32(value));
			break;
		case INT8OID:
			n = num_of_int(DatumGetInt64(value));
			break;
		case FLOAT4OID:
			n = DatumGetNumeric(DirectFunctionCall1(float8_numeric, Float8GetDatum(DatumGetFloat4(value))));
			break;
		case FLOAT8OID:
			n = DatumGetNumeric(DirectFunctionCall1(float8_numeric, value));
			break;
		case DATEOID:
			if (DATE_NOT_FINITE(DatumGetDateADT(value)))
				return interval_none(bound);
			n = num_of_int(DatumGetDateADT(value));
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			if (TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
				return interval_none(bound);
			n = num_of_int(DatumGetTimestamp(value));
			break;
		default:
			n = DatumGetNumericCopy(value);
			break;
	}
	/* NaN counts as NULL */
	if (numeric_is_nan(n))
		return interval_of_state(DP_INTERVAL_EMPTY);
	if (numeric_is_inf(n))
		return interval_none(bound);
	result = interval_between(n, n);
	result.grain = type == NUMERICOID
		? num_grain(DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(n))))
		: type_is_integer(type) || num_sign(num_call2(numeric_sub, n, num_call(numeric_floor, n))) == 0 ? num_of_int(1) : NULL;
	result.never_null = true;
	/* numeric takes fifteen digits of it */
	if (type_is_float(type))
		dp_interval_widen(&result, DP_ROUNDING);
	return result;
}

static DpInterval
of_value(const DpBound *bound, const DpIntervalInputs *inputs)
{
	Const	   *constant = (Const *) bound->value;
	bool		isnull;
	Datum		value;

	if (IsA(constant, Const))
	{
		isnull = constant->constisnull;
		value = constant->constvalue;
	}
	else if (inputs == NULL || inputs->estate == NULL)
		return interval_of_state(DP_INTERVAL_LATER);
	else
		value = dp_evaluate(bound->value, inputs->estate, &isnull);
	return isnull ? interval_of_state(DP_INTERVAL_EMPTY) : of_number(bound, bound->type, value);
}

static Numeric
grain_of_column(const DpBound *bound)
{
	if (type_is_integer(bound->type))
		return num_of_int(1);
	if (bound->type == NUMERICOID && bound->typmod >= (int32) VARHDRSZ)
		return num_grain(dp_numeric_scale(bound->typmod));
	return NULL;
}

/* A public column, as it is when the release is priced; NaN is its greatest value. */
static DpInterval
of_range(const DpBound *bound, const DpIntervalInputs *inputs)
{
	DpKeyTuples *found;
	DpInterval	result;
	DpInterval	greatest;

	if (inputs == NULL || inputs->ranges == NULL)
		return interval_of_state(DP_INTERVAL_LATER);
	found = inputs->ranges[bound->range];
	if (found->nulls[0])
		return interval_of_state(DP_INTERVAL_EMPTY);
	result = of_number(bound, bound->type, found->values[0]);
	greatest = of_number(bound, bound->type, found->values[1]);
	if (result.state != DP_INTERVAL_KNOWN || greatest.state != DP_INTERVAL_KNOWN)
		return interval_none(bound);
	dp_interval_include(&result, greatest.lower);
	dp_interval_include(&result, greatest.upper);
	result.grain = grain_of_column(bound);
	result.never_null = false;
	return result;
}

static DpInterval
of_many_rows(const DpBound *bound, int rows, bool beyond_types, const DpIntervalInputs *inputs)
{
	DpIntervalInputs many = {0};

	if (inputs != NULL)
		many = *inputs;
	many.max_rows = rows;
	many.beyond_types = beyond_types;
	return dp_interval(bound, &many);
}

bool
dp_interval_by_rows(const DpBound *bound, const DpIntervalInputs *inputs)
{
	DpInterval	many;
	DpInterval	fewer;

	if (!dp_bound_has(bound, DP_BOUND_ROWS) && !dp_bound_has(bound, DP_BOUND_TOTAL))
		return false;
	many = of_many_rows(bound, DP_MANY_ROWS, true, inputs);
	fewer = of_many_rows(bound, FEWER_ROWS, true, inputs);
	if (many.state != DP_INTERVAL_KNOWN || fewer.state != DP_INTERVAL_KNOWN)
		return many.state != DP_INTERVAL_EMPTY || fewer.state != DP_INTERVAL_EMPTY;
	return num_less(many.lower, fewer.lower) || num_less(fewer.upper, many.upper);
}

/*
 * Returns what was found, which is paid for (found_bounds.c).  An argument follows from how many rows of a unit count:
 * the result is within the argument's interval of very many rows.  Where nothing was found, that of as many rows as usual holds.
 */
static DpInterval
of_found(const DpBound *bound, const DpIntervalInputs *inputs)
{
	const DpBound *by_rows = bound->args != NIL ? linitial(bound->args) : NULL;
	DpInterval	result;
	DpInterval	known;

	if (inputs == NULL || inputs->found == NULL)
		return interval_of_state(DP_INTERVAL_LATER);
	result = inputs->found[bound->range];
	if (by_rows == NULL)
	{
		result.grain = grain_of_column(bound);
		return result;
	}
	if (result.state == DP_INTERVAL_KNOWN)
	{
		known = of_many_rows(by_rows, DP_MANY_ROWS, false, inputs);
		if (known.state != DP_INTERVAL_KNOWN)
		{
			result.grain = grain_of_column(bound);
			return result;
		}
		result.grain = known.grain;
		/* a unit may have few rows, whose total is near 0 */
		if (!num_less(known.lower, num_of_int(0)))
			result.lower = known.lower;
		if (!num_less(num_of_int(0), known.upper))
			result.upper = known.upper;
		dp_interval_intersect(&result, known.lower, known.upper);
		if (result.state == DP_INTERVAL_KNOWN)
			return result;
	}
	known = dp_interval(by_rows, inputs);
	return known.state == DP_INTERVAL_KNOWN ? known : interval_between(num_of_int(0), num_of_int(1));
}

bool
dp_lacks_found(const DpBound *bound, const DpInterval *found)
{
	check_stack_depth();
	if (bound->op == DP_BOUND_FOUND)
		return bound->args == NIL && found[bound->range].is_lacking;
	foreach_ptr(const DpBound, arg, bound->args)
	{
		if (dp_lacks_found(arg, found))
			return true;
	}
	return false;
}

bool
dp_none_found(const DpBound *bound, const DpInterval *found)
{
	return bound->op == DP_BOUND_FOUND && bound->args != NIL && found[bound->range].state != DP_INTERVAL_KNOWN;
}

static DpInterval
of_column(const DpBound *bound)
{
	DpInterval	result = interval_between(of_const(bound->lower), of_const(bound->upper));

	result.grain = grain_of_column(bound);
	if (bound->total_lower != NULL)
		dp_interval_set_totals(&result, of_const(bound->total_lower), of_const(bound->total_upper));
	return result;
}

/* ------------------------------------------------------------------------
 * One of several
 * ------------------------------------------------------------------------
 */

static DpInterval
hull(const DpInterval *args, int n, const DpIntervalInputs *inputs)
{
	DpInterval	result = interval_of_state(DP_INTERVAL_EMPTY);
	DpInterval	total = interval_between(num_of_int(0), num_of_int(0));
	bool		has_totals = false;

	for (int i = 0; i < n; i++)
	{
		Numeric		grain = result.state == DP_INTERVAL_EMPTY ? args[i].grain : dp_interval_common_grain(&result, &args[i]);

		if (args[i].state != DP_INTERVAL_KNOWN)
			continue;
		dp_interval_include(&result, args[i].lower);
		dp_interval_include(&result, args[i].upper);
		result.grain = grain;
		has_totals |= args[i].has_totals;
		if (inputs != NULL)
		{
			DpInterval	t = dp_interval_totals_of(&args[i], inputs);

			total = interval_between(num_call2(numeric_add, total.lower, num_least(t.lower, num_of_int(0))),
									 num_call2(numeric_add, total.upper, num_greatest(t.upper, num_of_int(0))));
		}
	}
	if (has_totals && inputs != NULL)
		dp_interval_set_totals(&result, total.lower, total.upper);
	return result;
}

/* What conditions hold between two limits, of which one is NULL where they hold of no row. */
static DpInterval
within(const DpBound *bound, const DpInterval *args, const DpIntervalInputs *inputs)
{
	DpInterval	result = hull(args, 2, inputs);

	result.grain = grain_of_column(bound);
	result.never_null = false;
	return result;
}

static Numeric
clamped(Numeric value, const DpInterval *interval)
{
	return num_least(num_greatest(value, interval->lower), interval->upper);
}

/*
 * A value that is held between bounds, and that something else leaves no lower, or no higher, than limit.  What lies outside of the
 * bounds counts as the nearer of them before and after, so that no contribution changes.
 */
static DpInterval
narrowed(const DpInterval *value, const DpInterval *limit, bool low, bool high)
{
	DpInterval	result = *value;

	if (value->state != DP_INTERVAL_KNOWN || limit->state != DP_INTERVAL_KNOWN)
		return result;
	if (low)
		result.lower = clamped(limit->lower, value);
	if (high)
		result.upper = clamped(limit->upper, value);
	return result;
}

/* The least, or the greatest, of those that are not NULL. */
static DpInterval
extreme(const DpInterval *args, int n, bool is_least, const DpIntervalInputs *inputs)
{
	DpInterval	result = hull(args, n, inputs);

	for (int i = 0; i < n; i++)
		if (args[i].state == DP_INTERVAL_KNOWN && args[i].never_null)
		{
			dp_interval_intersect(&result, is_least ? NULL : args[i].lower, is_least ? args[i].upper : NULL);
			result.never_null = true;
		}
	return result;
}

/* ------------------------------------------------------------------------
 * Types
 * ------------------------------------------------------------------------
 */

static Numeric
short_of_places(Numeric value)
{
	int32		scale = DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(value)));

	return scale > MOST_PLACES ? num_to_places(numeric_round, value, MOST_PLACES) : value;
}

/* What is outside of an integer type is NULL. */
static void
hold_to_type(DpInterval *interval, Oid type)
{
	int64		most = type == INT2OID ? PG_INT16_MAX : type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;

	if (type_is_integer(type))
		dp_interval_intersect(interval, num_of_int(-most - 1), num_of_int(most));
}

/* The argument in another type: what has no place in it is NULL. */
static DpInterval
in_type(const DpBound *bound, const DpInterval *a)
{
	Oid			from = ((DpBound *) linitial(bound->args))->type;
	DpInterval	result = *a;

	if (type_is_integer(bound->type) && !type_is_integer(from))
	{
		result = dp_interval_rounded(a);
		result.never_null = false;
	}
	else if (bound->type == NUMERICOID && bound->typmod >= (int32) VARHDRSZ && a->state == DP_INTERVAL_KNOWN)
	{
		int			places = dp_numeric_scale(bound->typmod);

		result.lower = num_to_places(numeric_round, a->lower, places);
		result.upper = num_to_places(numeric_round, a->upper, places);
		result.grain = num_grain(places);
	}
	else if (type_is_float(bound->type) && a->grain != NULL && num_less(a->grain, num_of_int(1)))
		result.grain = NULL;
	/* numeric takes fifteen digits of floating point */
	if (type_is_float(from) && bound->type == NUMERICOID)
		dp_interval_widen(&result, DP_ROUNDING);
	return result;
}

static DpInterval
of_unit_rows(const DpBound *bound, const DpInterval *args, const DpIntervalInputs *inputs)
{
	DpInterval	result;

	if (inputs == NULL)
		return interval_of_state(DP_INTERVAL_LATER);
	if (bound->op == DP_BOUND_ROWS)
	{
		result = interval_between(num_of_int(0), num_of_int(inputs->max_rows));
		result.grain = num_of_int(1);
		result.never_null = true;
		return result;
	}
	result = dp_interval_totals_of(&args[0], inputs);
	result.grain = args[0].grain;
	return result;
}

/* ------------------------------------------------------------------------
 * Entry points
 * ------------------------------------------------------------------------
 */

static DpInterval
apply(const DpBound *bound, const DpInterval *args, int n, const DpIntervalInputs *inputs)
{
	switch (bound->op)
	{
		case DP_BOUND_NONE:
			return interval_none(bound);
		case DP_BOUND_VALUE:
			return of_value(bound, inputs);
		case DP_BOUND_DECLARED:
			return of_column(bound);
		case DP_BOUND_RANGE:
			return of_range(bound, inputs);
		case DP_BOUND_FOUND:
			return of_found(bound, inputs);
		case DP_BOUND_ROWS:
		case DP_BOUND_TOTAL:
			return of_unit_rows(bound, args, inputs);
		case DP_BOUND_SAME:
			return in_type(bound, &args[0]);
		case DP_BOUND_HULL:
			return hull(args, n, inputs);
		case DP_BOUND_WITHIN:
			return within(bound, args, inputs);
		case DP_BOUND_AT_LEAST:
		case DP_BOUND_AT_MOST:
		case DP_BOUND_MEET:
			return narrowed(&args[0], &args[1], bound->op != DP_BOUND_AT_MOST, bound->op != DP_BOUND_AT_LEAST);
		case DP_BOUND_LEAST:
		case DP_BOUND_GREATEST:
			return extreme(args, n, bound->op == DP_BOUND_LEAST, inputs);
		case DP_BOUND_TIME:
		case DP_BOUND_EPOCH:
		case DP_BOUND_DAYS:
		case DP_BOUND_YEAR:
		case DP_BOUND_AGE:
			return dp_interval_of_time(bound, &args[0]);
		default:
			return dp_interval_compute(bound, args, n, inputs);
	}
}

static bool
only_narrows(const DpBound *bound)
{
	return bound->op == DP_BOUND_AT_LEAST || bound->op == DP_BOUND_AT_MOST || bound->op == DP_BOUND_MEET;
}

/* Tells whether an argument that has no value leaves one to the others. */
static bool
skips_nulls(const DpBound *bound, int argument)
{
	if (only_narrows(bound))
		return argument == 1;
	return bound->op == DP_BOUND_HULL || bound->op == DP_BOUND_LEAST || bound->op == DP_BOUND_GREATEST ||
		(bound->op == DP_BOUND_NULLIF && argument == 1);
}

/* Rounds away what is of no use, and refuses what is too large. */
static void
finish(DpInterval *result, const DpBound *bound, const DpIntervalInputs *inputs)
{
	if (result->state != DP_INTERVAL_KNOWN)
		return;
	result->lower = short_of_places(result->lower);
	result->upper = short_of_places(result->upper);
	if (bound->op != DP_BOUND_VALUE && bound->op != DP_BOUND_DECLARED && bound->op != DP_BOUND_FOUND && !only_narrows(bound))
		dp_interval_widen_for(result, bound->type, bound->op == DP_BOUND_SAME);
	if (inputs == NULL || !inputs->beyond_types)
		hold_to_type(result, bound->type);
	if (type_is_float(bound->type) && result->grain != NULL && num_less(result->grain, num_of_int(1)))
		result->grain = NULL;
	if (num_less(num_of_text(LARGEST), num_greatest(num_call(numeric_abs, result->lower), num_call(numeric_abs, result->upper))))
		*result = interval_none(bound);
}

DpInterval
dp_interval(const DpBound *bound, const DpIntervalInputs *inputs)
{
	/* an argument of what was found is of other numbers of rows */
	List	   *args_of = bound->op == DP_BOUND_FOUND ? NIL : bound->args;
	int			n = list_length(args_of);
	DpInterval *args = palloc(Max(n, 1) * sizeof(DpInterval));
	bool		is_later = false;
	DpInterval	result;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	foreach_ptr(const DpBound, item, args_of)
	{
		DpInterval *arg = &args[foreach_current_index(item)];

		*arg = dp_interval(item, inputs);
		if (arg->state == DP_INTERVAL_NONE && only_narrows(bound) && arg > args)
			arg->state = DP_INTERVAL_EMPTY;
		if (arg->state == DP_INTERVAL_NONE)
			return *arg;
		is_later |= arg->state == DP_INTERVAL_LATER;
	}
	if (is_later)
		return interval_of_state(DP_INTERVAL_LATER);
	for (int i = 0; i < n; i++)
		if (args[i].state == DP_INTERVAL_EMPTY && !skips_nulls(bound, i))
			return args[i];
	result = apply(bound, args, n, inputs);
	finish(&result, bound, inputs);
	pfree(args);
	return result;
}

/* Tells whether there is one number in an interval, or rounding has made several of one. */
static bool
is_one_number(const DpInterval *interval)
{
	Numeric		width = num_call2(numeric_sub, interval->upper, interval->lower);
	Numeric		size = num_greatest(num_call(numeric_abs, interval->lower), num_call(numeric_abs, interval->upper));

	return !num_less(num_times(size, num_of_text(MOST_ROUNDING)), width);
}

void
dp_interval_open(DpInterval *interval)
{
	if (interval->state == DP_INTERVAL_EMPTY)
		*interval = interval_between(num_of_int(0), num_of_int(1));
	if (interval->state != DP_INTERVAL_KNOWN || !is_one_number(interval))
		return;
	dp_interval_include(interval, num_of_int(0));
	if (!num_less(interval->lower, interval->upper))
		interval->upper = num_of_int(1);
}

bool
dp_bound_has(const DpBound *bound, DpBoundOp op)
{
	check_stack_depth();
	if (bound->op == op)
		return true;
	foreach_ptr(const DpBound, arg, bound->args)
	{
		if (dp_bound_has(arg, op))
			return true;
	}
	return false;
}

bool
dp_bound_finds(const DpBound *bound, int i)
{
	check_stack_depth();
	if (bound->op == DP_BOUND_FOUND && bound->range == i)
		return true;
	foreach_ptr(const DpBound, arg, bound->args)
	{
		if (dp_bound_finds(arg, i))
			return true;
	}
	return false;
}

bool
dp_bound_has_totals(const DpBound *bound)
{
	check_stack_depth();
	if (bound->total_lower != NULL)
		return true;
	foreach_ptr(const DpBound, arg, bound->args)
	{
		if (dp_bound_has_totals(arg))
			return true;
	}
	return false;
}

bool
dp_bound_has_params(const DpBound *bound)
{
	check_stack_depth();
	if (bound->value != NULL && !IsA(bound->value, Const))
		return true;
	foreach_ptr(const DpBound, arg, bound->args)
	{
		if (dp_bound_has_params(arg))
			return true;
	}
	return false;
}

DpBound *
dp_make_bound(DpBoundOp op, List *args, Oid type, int32 typmod)
{
	DpBound    *bound = (DpBound *) newNode(sizeof(DpBound), T_ExtensibleNode);

	bound->node.extnodename = DP_BOUND_NODE;
	bound->op = op;
	bound->args = args;
	bound->type = type;
	bound->typmod = typmod;
	bound->gap = DP_GAP_SIZE;
	return bound;
}

char *
dp_bound_problem(const DpBound *why)
{
	switch (why->gap)
	{
		case DP_GAP_UNDECLARED:
			return psprintf(", and column %s has none", why->text);
		case DP_GAP_DENOMINATOR:
			return why->text == NULL
				? pstrdup(", as a denominator may be 0 or as near to it as can be: divide by the greatest() of it and its least value")
				: psprintf(", as %s may be 0 or as near to it as can be: divide by greatest(%s, its least value)",
						   why->text, why->text);
		case DP_GAP_SIZE:
			return pstrdup(", as what follows from its parts is too large, or not finite");
		case DP_GAP_EXPRESSION:
			break;
	}
	return why->text == NULL ? pstrdup(", and its parts tell none") : psprintf(", and none follow from %s", why->text);
}
