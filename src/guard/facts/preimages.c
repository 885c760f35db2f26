/*-------------------------------------------------------------------------
 *
 * preimages.c
 *	  Where a value is if what is made of it is between two constants.
 *
 *		started - interval '1 day' >= $1   is   started >= $1 + interval '1 day'
 *
 * Functions that rise or fall throughout are undone one after the other, from the
 * outside to the inside.  Constants are expressions without columns, which are
 * known when the query runs.
 *
 * Invariant: each value that is made into one between the constants is between the ends
 * that are found, or as far beyond them as spread says.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/facts.h"
#include "guard/level.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

/* numbers of days and seconds beyond these are let alone: no time is made of them */
#define MOST_DAYS 1000000
#define MOST_SECONDS 1e11
/* clocks are set back by no more */
#define LONGEST_SET_BACK (3 * USECS_PER_HOUR)

/* ------------------------------------------------------------------------
 * Constants
 * ------------------------------------------------------------------------
 */

static bool
is_constant(Node *node)
{
	return !dp_has_nodes(node, T_Var, T_SubLink, T_Aggref, T_WindowFunc, T_GroupingFunc, T_CaseTestExpr) &&
		!contain_volatile_functions(node);
}

/* Returns the value of an expression that is known now; NULL: it is not, or NULL. */
static Const *
value_of(Node *node)
{
	Const	   *constant = (Const *) dp_as_known((Expr *) node);

	return IsA(constant, Const) && !constant->constisnull ? constant : NULL;
}

static const char *
text_of(Node *node)
{
	Const	   *constant = value_of(node);

	return constant && constant->consttype == TEXTOID ? TextDatumGetCString(constant->constvalue) : NULL;
}

/* Returns a number of numeric or double precision as the latter. */
static bool
get_number(Expr *end, double *number)
{
	Const	   *constant = value_of((Node *) end);

	if (constant == NULL || (constant->consttype != NUMERICOID && constant->consttype != FLOAT8OID))
		return false;
	*number = constant->consttype == FLOAT8OID ? DatumGetFloat8(constant->constvalue)
		: DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, constant->constvalue));
	return !isnan(*number);
}

/* ------------------------------------------------------------------------
 * Times
 * ------------------------------------------------------------------------
 */

static void
may_be_off(DpPreimage *p, DpSpread spread)
{
	p->spread = Max(p->spread, spread);
}

/*
 * Returns the first moment, of the type, of a timestamp without time zone.  Where clocks are set back over it there are two, of which
 * PostgreSQL takes the second.
 */
static Expr *
first_moment(Expr *local, Oid type)
{
	if (type != TIMESTAMPTZOID)
		return dp_cast_to(local, type);
	return dp_extreme(list_make2(dp_cast_to(local, type), dp_moved_by(dp_cast_to(dp_moved_by(local, 0, 0, -1), type), 0, 0, 1)), IS_LEAST);
}

/* Ends that are moments become those of dates: midnights, of the session's zone, of which there may be two. */
static bool
as_dates(DpPreimage *p)
{
	bool		is_zoned = exprType((Node *) p->first) == TIMESTAMPTZOID;

	p->first = dp_moved_by(dp_cast_to(dp_moved_by(p->first, 0, 0, is_zoned ? -LONGEST_SET_BACK - 1 : -1), DATEOID), 0, 1, 0);
	p->last = dp_cast_to(p->last, DATEOID);
	return true;
}

static bool
cast_ends(DpPreimage *p, Oid type)
{
	p->first = dp_cast_to(p->first, type);
	p->last = dp_cast_to(p->last, type);
	return p->first != NULL && p->last != NULL;
}

/* date(x), also of a timestamp with time zone */
static bool
undo_date(DpPreimage *p, Oid type)
{
	p->first = first_moment(dp_cast_to(p->first, TIMESTAMPOID), type);
	p->last = dp_moved_by(dp_cast_to(dp_moved_by(p->last, 0, 1, 0), type), 0, 0, -1);
	return true;
}

/* a cast to a timestamp, with or without time zone */
static bool
undo_timestamp(DpPreimage *p, Oid type)
{
	if (type == DATEOID)
		return as_dates(p);
	may_be_off(p, DP_SPREAD_CLOCK);
	return cast_ends(p, type);
}

static bool
undo_zone(DpPreimage *p, Node *zone, Oid type)
{
	Oid			function = type == TIMESTAMPTZOID ? F_TIMEZONE_TEXT_TIMESTAMP : F_TIMEZONE_TEXT_TIMESTAMPTZ;

	if (exprType(zone) != TEXTOID || !is_constant(zone))
		return false;
	p->first = dp_safe_call(function, type, list_make2(copyObject(zone), p->first));
	p->last = dp_safe_call(function, type, list_make2(copyObject(zone), p->last));
	may_be_off(p, DP_SPREAD_CLOCK);
	return true;
}

/* Tells how long a unit of date_trunc is. */
static bool
length_of_unit(const char *unit, int *months, int *days, int64 *microseconds)
{
	static const struct
	{
		const char *name;
		int			months;
		int			days;
		int64		microseconds;
	}			units[] = {{"second", 0, 0, USECS_PER_SEC}, {"minute", 0, 0, USECS_PER_MINUTE}, {"hour", 0, 0, USECS_PER_HOUR},
	{"day", 0, 1, 0}, {"week", 0, 7, 0}, {"month", 1, 0, 0}, {"quarter", 3, 0, 0}, {"year", 12, 0, 0}};

	for (int i = 0; unit != NULL && i < lengthof(units); i++)
		if (pg_strcasecmp(units[i].name, unit) == 0)
		{
			*months = units[i].months;
			*days = units[i].days;
			*microseconds = units[i].microseconds;
			return true;
		}
	return false;
}

/* date_trunc(unit, x): what is less than a start of a unit is of a unit before */
static bool
undo_trunc(DpPreimage *p, Node *unit)
{
	Oid			type = exprType((Node *) p->first);
	Oid			function = type == TIMESTAMPOID ? F_DATE_TRUNC_TEXT_TIMESTAMP : F_DATE_TRUNC_TEXT_TIMESTAMPTZ;
	int			months;
	int			days;
	int64		microseconds;
	Expr	   *before;

	if ((type != TIMESTAMPOID && type != TIMESTAMPTZOID) || !length_of_unit(text_of(unit), &months, &days, &microseconds))
		return false;
	if (type == TIMESTAMPTZOID && microseconds == 0)
	{
		/*
		 * starts of days and longer units are local times, of which there may
		 * be two
		 */
		p->first = dp_cast_to(dp_moved_by(p->first, 0, 0, -LONGEST_SET_BACK), TIMESTAMPOID);
		p->last = dp_cast_to(p->last, TIMESTAMPOID);
		if (!undo_trunc(p, unit))
			return false;
		p->first = first_moment(p->first, type);
		p->last = dp_cast_to(p->last, type);
		return true;
	}
	before = dp_moved_by(p->first, 0, 0, -1);
	before = dp_safe_call(function, type, list_make2(copyObject(unit), before));
	p->last = dp_safe_call(function, type, list_make2(copyObject(unit), p->last));
	p->first = dp_moved_by(before, months, days, microseconds);
	p->last = dp_moved_by(dp_moved_by(p->last, months, days, microseconds), 0, 0, -1);
	return true;
}

/* Makes the first or last moment, of the type, whose year is, as a number, at an end. */
static Expr *
of_year(double year, Oid type, bool is_first)
{
	DateADT		day;

	if (year < 1 || year > 9998)
		return NULL;
	day = date2j((int) (is_first ? ceil(year) : floor(year) + 1), 1, 1) - POSTGRES_EPOCH_JDATE;
	if (type == DATEOID)
		return (Expr *) makeConst(DATEOID, -1, InvalidOid, sizeof(DateADT), DateADTGetDatum(is_first ? day : day - 1), false, true);
	return dp_moved_by(dp_cast_to((Expr *) makeConst(DATEOID, -1, InvalidOid, sizeof(DateADT), DateADTGetDatum(day), false, true), type),
					   0, 0, is_first ? 0 : -1);
}

/* Makes a moment, of the type, of seconds since 1970, moved by microseconds, which are what the conversion may be off by. */
static Expr *
of_epoch(Expr *seconds, Oid type, int microseconds)
{
	Expr	   *moment = dp_safe_call(F_TO_TIMESTAMP_FLOAT8, TIMESTAMPTZOID, list_make1(dp_cast_to(seconds, FLOAT8OID)));
	Const	   *utc = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum("UTC"), false, false);

	if (type != TIMESTAMPTZOID)
		moment = dp_safe_call(F_TIMEZONE_TEXT_TIMESTAMPTZ, TIMESTAMPOID, list_make2(utc, moment));
	return dp_moved_by(moment, 0, 0, microseconds);
}

static bool
undo_field(DpPreimage *p, Node *field, Oid type)
{
	const char *name = text_of(field);
	double		first;
	double		last;

	if (name == NULL || !dp_type_is_time(type) || !get_number(p->first, &first) || !get_number(p->last, &last))
		return false;
	if (pg_strcasecmp(name, "year") == 0)
	{
		p->first = of_year(first, type, true);
		p->last = of_year(last, type, false);
		return p->first != NULL && p->last != NULL;
	}
	if (pg_strcasecmp(name, "epoch") != 0 || fabs(first) > MOST_SECONDS || fabs(last) > MOST_SECONDS)
		return false;
	p->first = of_epoch(p->first, type == DATEOID ? TIMESTAMPOID : type, -1);
	p->last = of_epoch(p->last, type == DATEOID ? TIMESTAMPOID : type, 1);
	may_be_off(p, DP_SPREAD_CLOCK);
	return type != DATEOID || as_dates(p);
}

/* x + by, or x - by, of a time and an interval, or of a date and days */
static bool
undo_move(DpPreimage *p, const char *inverse, Node *by, Oid type)
{
	Const	   *interval = value_of(by);

	if (exprType(by) == INTERVALOID)
	{
		if (interval == NULL || DatumGetIntervalP(interval->constvalue)->month != 0)
			may_be_off(p, DP_SPREAD_DAYS);
		else if (type == TIMESTAMPTZOID && DatumGetIntervalP(interval->constvalue)->day != 0)
			may_be_off(p, DP_SPREAD_CLOCK);
	}
	else if (exprType(by) != INT4OID || type != DATEOID)
		return false;
	p->first = dp_combined(inverse, (Node *) p->first, by);
	p->last = dp_combined(inverse, (Node *) p->last, by);
	if (p->first == NULL || p->last == NULL)
		return false;
	return type != DATEOID || exprType(by) == INT4OID || as_dates(p);
}

/* Returns an end, which is a difference of two times, as what it is added to one of them as; NULL: that is not known. */
static Node *
difference_of(Expr *end, Oid type, bool by_calendar, bool up)
{
	double		days;
	Const	   *interval = value_of((Node *) end);
	int128		span;
	Interval   *i;

	if (type == DATEOID)
		return get_number(end, &days) && fabs(days) <= MOST_DAYS ? (Node *) dp_int4_const((int) (up ? ceil(days) : floor(days))) : NULL;
	if (interval == NULL || interval->consttype != INTERVALOID)
		return NULL;
	i = DatumGetIntervalP(interval->constvalue);
	span = (int128) i->time + ((int128) i->month * DAYS_PER_MONTH + i->day) * USECS_PER_DAY;
	if (span > (int128) MOST_DAYS * USECS_PER_DAY || span < -(int128) MOST_DAYS * USECS_PER_DAY)
		return NULL;
	/* intervals are compared as if each month had 30 days */
	return by_calendar ? (Node *) dp_interval_const((int) (span / USECS_PER_DAY / DAYS_PER_MONTH),
													(int) (span / USECS_PER_DAY % DAYS_PER_MONTH), (int64) (span % USECS_PER_DAY))
		: (Node *) dp_interval_const(0, 0, (int64) span);
}

/* x - from, or from - x, of two times; by the calendar, if it is age() */
static bool
undo_difference(DpPreimage *p, Node *from, Oid type, bool falls, bool by_calendar)
{
	Node	   *least = difference_of(p->first, type, by_calendar, true);
	Node	   *most = difference_of(p->last, type, by_calendar, false);

	if (least == NULL || most == NULL || exprType(from) != type)
		return false;
	p->first = dp_combined(falls ? "-" : "+", from, falls ? most : least);
	p->last = dp_combined(falls ? "-" : "+", from, falls ? least : most);
	p->falls ^= falls;
	if (by_calendar)
		may_be_off(p, DP_SPREAD_DAYS);
	return p->first != NULL && p->last != NULL;
}

/* ------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------
 */

/* Tells whether two numbers are known, and equal. */
static bool
is_same_number(Expr *a, Expr *b)
{
	Const	   *equality = (Const *) dp_combined("=", (Node *) a, (Node *) b);

	return equality != NULL && IsA(equality, Const) && !equality->constisnull && DatumGetBool(equality->constvalue);
}

static void
turn_around(DpPreimage *p)
{
	Expr	   *first = p->first;

	p->first = p->last;
	p->last = first;
	p->falls = !p->falls;
}

static bool
is_nan(Expr *end)
{
	Const	   *constant = value_of((Node *) end);

	return constant && constant->consttype == NUMERICOID && numeric_is_nan(DatumGetNumeric(constant->constvalue));
}

/* Replaces both ends by what they are with a constant, of their type, at their right or at their left. */
static bool
combine_ends(DpPreimage *p, const char *operator, Node *with, bool at_left)
{
	Node	   *constant = (Node *) dp_cast_to((Expr *) with, exprType((Node *) p->first));

	if (constant == NULL)
		return false;
	p->first = at_left ? dp_combined(operator, constant, (Node *) p->first) : dp_combined(operator, (Node *) p->first, constant);
	p->last = at_left ? dp_combined(operator, constant, (Node *) p->last) : dp_combined(operator, (Node *) p->last, constant);
	return p->first != NULL && p->last != NULL && !is_nan(p->first) && !is_nan(p->last);
}

/* Divides both ends by a constant.  A quotient is rounded where its digits do not end, so that it may be off. */
static bool
divide_ends(DpPreimage *p, Node *by)
{
	Expr	   *first = p->first;
	Expr	   *last = p->last;
	DpPreimage	product;

	if (!combine_ends(p, "/", by, false))
		return false;
	product = *p;
	if (!combine_ends(&product, "*", by, false) || !is_same_number(first, product.first) || !is_same_number(last, product.last))
		may_be_off(p, DP_SPREAD_CLOCK);
	return true;
}

static bool
undo_arithmetic(DpPreimage *p, DpFunctionKind kind, Node *with, bool at_left)
{
	double		factor;

	/* what is rounded may have been any of several numbers */
	if (exprType((Node *) p->first) == FLOAT8OID)
		return false;
	if (kind == DP_KIND_add)
		return combine_ends(p, "-", with, false);
	if (kind == DP_KIND_subtract && at_left)
	{
		turn_around(p);
		return combine_ends(p, "-", with, true);
	}
	if (kind == DP_KIND_subtract)
		return combine_ends(p, "+", with, false);
	if (kind != DP_KIND_multiply ||
		!get_number(dp_cast_to((Expr *) with, exprType((Node *) p->first)), &factor) || factor == 0 || isinf(factor))
		return false;
	if (factor < 0)
		turn_around(p);
	return divide_ends(p, with);
}

static bool
is_number(Oid type)
{
	return type == NUMERICOID || type == FLOAT8OID;
}

/* ------------------------------------------------------------------------
 * One step
 * ------------------------------------------------------------------------
 */

/* Undoes the outermost function of two arguments, one of which is constant. */
static bool
undo_binary(DpPreimage *p, DpFunctionKind kind, Node *left, Node *right)
{
	bool		at_left = is_constant(left);
	Node	   *inner = at_left ? right : left;
	Node	   *with = at_left ? left : right;
	Oid			type = exprType(inner);

	if (!is_constant(with))
		return false;
	p->expr = inner;
	if (kind == DP_KIND_timezone)
		return at_left && dp_type_is_time(type) && type != DATEOID && undo_zone(p, with, type);
	if (kind == DP_KIND_date_trunc)
		return at_left && undo_trunc(p, with) && cast_ends(p, exprType((Node *) p->first));
	if (kind == DP_KIND_extract || kind == DP_KIND_date_part)
		return at_left && undo_field(p, with, type);
	if (kind == DP_KIND_age)
		return dp_type_is_time(type) && undo_difference(p, with, type, at_left, true);
	if (!dp_type_is_time(type))
		return is_number(exprType((Node *) p->first)) && undo_arithmetic(p, kind, with, at_left);
	if (kind == DP_KIND_add)
		return undo_move(p, "-", with, type);
	if (kind != DP_KIND_subtract)
		return false;
	if (dp_type_is_time(exprType(with)))
		return undo_difference(p, with, type, at_left, false);
	return !at_left && undo_move(p, "+", with, type);
}

static bool
undo_outermost(DpPreimage *p)
{
	List	   *args;
	DpFunctionKind kind = dp_call_kind(p->expr, &args);
	Node	   *inner;

	if (list_length(args) == 2)
		return undo_binary(p, kind, linitial(args), lsecond(args));
	if (list_length(args) != 1)
		return false;
	p->expr = inner = linitial(args);
	if (kind == DP_KIND_negate && is_number(exprType((Node *) p->first)))
	{
		turn_around(p);
		return combine_ends(p, "-", (Node *) dp_int4_const(0), true);
	}
	if (!dp_type_is_time(exprType(inner)))
		return false;
	if (kind == DP_KIND_date)
		return undo_date(p, exprType(inner));
	return (kind == DP_KIND_timestamp || kind == DP_KIND_timestamptz) && undo_timestamp(p, exprType(inner));
}

/* ------------------------------------------------------------------------
 * Entry point
 * ------------------------------------------------------------------------
 */

/* Turns ends of the type by which sides of a comparison are compared into ends of the left side's. */
static bool
meet_type(DpPreimage *p, Oid type)
{
	Oid			compared = exprType((Node *) p->first);

	if (!dp_type_is_time(type) || type == compared)
		return true;
	return type == DATEOID ? as_dates(p) : type == TIMESTAMPOID && compared == TIMESTAMPTZOID ? undo_timestamp(p, type) : false;
}

bool
dp_find_preimage(const DpCellTest *test, Node *constant, Node *target, DpPreimage *preimage)
{
	bool		is_of_number = is_number(test->type);
	Node	   *outer;

	memset(preimage, 0, sizeof(DpPreimage));
	preimage->expr = test->expr;
	preimage->first = preimage->last = (Expr *) constant;
	target = is_of_number ? dp_strip_casts(target) : dp_strip_labels(target);
	if (!is_constant(constant) || !meet_type(preimage, getBaseType(exprType(test->expr))))
		return false;
	for (;;)
	{
		check_stack_depth();
		preimage->expr = is_of_number ? dp_strip_casts(preimage->expr) : dp_strip_labels(preimage->expr);
		if (equal(preimage->expr, target))
			return true;
		outer = preimage->expr;
		if (!undo_outermost(preimage))
		{
			preimage->expr = outer;
			return false;
		}
	}
}
