/*-------------------------------------------------------------------------
 *
 * buckets.c
 *	  Points of time, or integers, that stand for a protected date, timestamp
 *	  or integer in the key query of a level.
 *
 * date_trunc('month', at) is known if it is known which months there are: those
 * of a range that conditions give (at >= '2024-01-01' AND at < now()), or that
 * the owner has declared.  Points of the range, so close that each stretch of time
 * on which keys and conditions are constant has one (time_cells.c), are a
 * list like any other: keys and conditions are evaluated on them.  What
 * depends on month, weekday and time of the day alone needs no range.
 *
 * Invariants:
 * - points depend on the text of the query, parameters, the clock and the
 *	 policy, never on rows,
 * - the ends of the range are points, and so are all moments at which a
 *	 condition that is asked of points becomes true or false.
 *
 * A column that is a date has a point for each day, on which all conditions
 * can be asked; an integer between two constants has all integers in between.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/facts/facts.h"
#include "guard/describe/key_query.h"
#include "guard/describe/time_cells.h"
#include "guard/describe/time_ranges.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* a list of more points, if it is known beforehand, takes longer than keys are worth that can be selected */
#define MAX_POINTS 100000

/* ------------------------------------------------------------------------
 * Parts of a date that come again
 * ------------------------------------------------------------------------
 */

/*
 * Sets a range that has every value of the keys: a week in which no clock is
 * set, where only weekdays and times count; a leap year of 53 weeks; or all
 * calendars that there are.
 */
static bool
use_period(const DpTimeCells *cells, Oid type, DpTimeRange *range)
{
	int			first = date2j(2024, 1, 8) - POSTGRES_EPOCH_JDATE;
	int			last = first + 8;

	if (cells->has_years)
		return false;
	if (cells->has_months)
	{
		bool		mixed = cells->fields > 1;

		first = date2j(mixed ? 2000 : 2020, 1, 1) - POSTGRES_EPOCH_JDATE;
		last = date2j(mixed ? 2028 : 2021, 1, 1) - POSTGRES_EPOCH_JDATE - 1;
	}
	range->first = type == DATEOID ? (Expr *) dp_time_const(type, first) : (Expr *) dp_time_const(type, first * USECS_PER_DAY);
	range->last = type == DATEOID ? (Expr *) dp_time_const(type, last) : (Expr *) dp_time_const(type, last * USECS_PER_DAY);
	return true;
}

/* ------------------------------------------------------------------------
 * Points
 * ------------------------------------------------------------------------
 */

/* Tells whether there are more points than are worth it, as far as that is known now. */
static bool
is_too_long(const DpTimeRange *range, Oid type, int64 step)
{
	Const	   *first;
	Const	   *last;
	double		length;

	if (dp_is_unfoldable((Node *) range->first, NULL) || dp_is_unfoldable((Node *) range->last, NULL))
		return false;
	first = dp_fold((Node *) range->first);
	last = dp_fold((Node *) range->last);
	if (first->constisnull || last->constisnull)
		return false;
	if (type == DATEOID)
	{
		/* of these no day is between two */
		if (DATE_NOT_FINITE(DatumGetDateADT(last->constvalue)) || DATE_NOT_FINITE(DatumGetDateADT(first->constvalue)))
			return true;
		length = (double) DatumGetDateADT(last->constvalue) - DatumGetDateADT(first->constvalue);
	}
	else
		length = ((double) DatumGetTimestamp(last->constvalue) - DatumGetTimestamp(first->constvalue)) / step;
	return length > MAX_POINTS;
}

/* Returns an array of moments or times. */
static Node *
array_of(Oid type, List *elements)
{
	if (elements == NIL)
		return (Node *) makeNullConst(get_array_type(type), -1, InvalidOid);
	return (Node *) dp_make(ArrayExpr, .array_typeid = get_array_type(type), .element_typeid = type,
							.elements = elements, .location = -1);
}

static DpKeyQueryItem *
add_points(DpKeyQuery *s, Var *column, const DpTimeRange *range, const DpTimeCells *cells, int64 step)
{
	Oid			type = column->vartype;
	Oid			types[] = {type, type, INT8OID, BOOLOID, get_array_type(type), BOOLOID, TIMEARRAYOID};
	Var		   *var = dp_key_query_level_var(s, column);
	bool		with_null = !range->from_conditions &&
	(var == NULL || !dp_is_never_null(s->level->from.query, (Node *) var));
	DpKeyQueryItem *points;
	FuncExpr   *call;

	call = makeFuncExpr(dp_own_routine("time_points", lengthof(types), types), column->vartype,
						list_concat(list_make4(range->first, range->last,
											   dp_int8_const(step),
											   makeBoolConst(with_null, false)),
	/* of dates each day is a point */
									list_make3(array_of(type, type == DATEOID ? NIL : cells->cuts), makeBoolConst(cells->spread, false),
											   array_of(TIMEOID, type == DATEOID ? NIL : cells->times))),
						InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	call->funcretset = true;
	points = dp_key_query_add_list(s, (Node *) column, (Expr *) call);
	points->is_series = true;
	return points;
}

/* Makes a list of the days of a range that is known now, and not long: each of them is a point.  NULL: it is not made. */
static DpKeyQueryItem *
add_days(DpKeyQuery *s, Var *column, const DpTimeRange *range)
{
	Var		   *var = dp_key_query_level_var(s, column);
	bool		with_null = !range->from_conditions && (var == NULL || !dp_is_never_null(s->level->from.query, (Node *) var));
	Const	   *first;
	Const	   *last;
	Const	   *days;

	if (column->vartype != DATEOID || dp_is_unfoldable((Node *) range->first, NULL) || dp_is_unfoldable((Node *) range->last, NULL))
		return NULL;
	first = dp_fold((Node *) range->first);
	last = dp_fold((Node *) range->last);
	if (first->constisnull || last->constisnull)
		return NULL;
	days = dp_range_array(DATEOID, DatumGetDateADT(first->constvalue), DatumGetDateADT(last->constvalue), with_null);
	return days ? dp_key_query_add_list(s, (Node *) column, (Expr *) days) : NULL;
}

/* one column while its points are looked for */
typedef struct PointSearch
{
	DpKeyQuery *s;
	Var		   *column;
	DpTimeCells cells;			/* of keys, and of conditions that are asked */
	DpTimeRange range;
	bool		is_declared;	/* an end of it is the owner's */
	List	   *asked;			/* DpKeyQueryConditions to be asked of points */
	List	   *others;			/* those that read the column, too */
} PointSearch;

/* Adds a condition to those that are asked, if the cells remain known. */
static bool
ask_condition(PointSearch *p, DpKeyQueryCondition *condition)
{
	DpTimeCells more = p->cells;

	more.parts = list_copy(p->cells.parts);
	more.cuts = list_copy(p->cells.cuts);
	more.times = list_copy(p->cells.times);
	dp_time_cells_add(&more, condition->expr);
	if (p->column->vartype != DATEOID && (more.fails || dp_time_cells_step(&more) == 0))
		return false;
	p->cells = more;
	p->asked = lappend(p->asked, condition);
	return true;
}

/* Finds a range in the conditions, and which of them, and of outer joins' where these are asked, can be asked of its points. */
static void
find_range(PointSearch *p, bool asks_joins)
{
	foreach_ptr(DpKeyQueryCondition, condition, p->s->conditions)
	{
		if (!dp_has_equal(condition->expr, p->column))
			continue;
		if (bms_is_empty(condition->joins))
			(void) dp_narrow_time(&p->range, p->column, condition->expr);
		if ((!bms_is_empty(condition->joins) && !asks_joins) || !ask_condition(p, condition))
			p->others = lappend(p->others, condition);
	}
	p->is_declared = p->range.first == NULL || p->range.last == NULL;
	dp_use_declared_range(p->s, p->column, &p->range);
}

/* The same where no range is known: only what comes again can be asked. */
static bool
find_period(PointSearch *p, const DpTimeCells *of_keys)
{
	p->cells = *of_keys;
	p->asked = p->others = NIL;
	if (of_keys->fails || of_keys->has_years)
		return false;
	foreach_ptr(DpKeyQueryCondition, condition, p->s->conditions)
	{
		DpTimeCells own = {p->column};

		if (!dp_has_equal(condition->expr, p->column))
			continue;
		dp_time_cells_add(&own, condition->expr);
		if (!bms_is_empty(condition->joins) || own.fails || own.has_years || !ask_condition(p, condition))
			p->others = lappend(p->others, condition);
	}
	return use_period(&p->cells, p->column->vartype, &p->range);
}

/* Finds the points of one column for the keys that read it; is_asked: only where conditions give the range. */
static void
find_points(DpKeyQuery *s, Var *column, List *keys, bool is_asked)
{
	PointSearch p = {s, column, {column}};
	DpTimeCells of_keys;
	DpKeyQueryItem *points;
	Var		   *point;
	int64		step;

	foreach_ptr(Node, key, keys)
	{
		if (dp_has_equal(key, column))
			dp_time_cells_add(&p.cells, key);
	}
	if (p.cells.fails && column->vartype != DATEOID)
		return;
	of_keys = p.cells;
	of_keys.parts = list_copy(p.cells.parts);
	find_range(&p, is_asked);
	if (p.is_declared && is_asked)
		return;

	/*
	 * comparisons have groups on both sides, also beyond what is declared:
	 * value_cells.c knows them
	 */
	if (p.is_declared && !of_keys.fails && of_keys.parts == NIL && (of_keys.cuts != NIL || of_keys.times != NIL))
		return;
	if ((p.range.first == NULL || p.range.last == NULL) && !find_period(&p, &of_keys))
		return;
	step = column->vartype == DATEOID ? USECS_PER_DAY : dp_time_cells_step(&p.cells);
	if (step == 0 || is_too_long(&p.range, column->vartype, step))
		return;
	points = add_days(s, column, &p.range);
	if (points == NULL)
		points = add_points(s, column, &p.range, &p.cells, step);
	point = makeVar(points->number, 1, column->vartype, column->vartypmod, column->varcollid, 0);
	foreach_ptr(DpKeyQueryCondition, condition, p.asked)
	{
		/*
		 * points are asked even where the column is known to equal something
		 * else
		 */
		condition->expr = dp_put_equal(condition->expr, list_make1(column), list_make1(point), NULL);
	}
	foreach_ptr(DpKeyQueryCondition, other, p.others)
		other->splits_cells = true;
}

/* ------------------------------------------------------------------------
 * Entry point
 * ------------------------------------------------------------------------
 */

/* Returns the protected columns that keys read and of which nothing is known, by these lists, times or none. */
static List *
unknown_columns(DpKeyQuery *s, List *keys, bool times, DpKeyQueryLists lists)
{
	List	   *unknown = NIL;

	foreach_ptr(Var, column, pull_var_clause((Node *) keys, 0))
	{
		Bitmapset  *items = NULL;

		if (dp_is_time_expr((Expr *) column) == times && dp_key_query_item(s, column->varno)->is_private &&
			dp_key_query_resolve(s, (Node *) column, lists, &items) == NULL)
			unknown = list_append_unique(unknown, column);
	}
	return unknown;
}

void
dp_key_query_add_points(DpKeyQuery *s, List *keys)
{
	foreach_ptr(Var, column, unknown_columns(s, keys, true, DP_LISTS_KNOWN))
		find_points(s, column, keys, false);
}

void
dp_key_query_add_asked_points(DpKeyQuery *s, List *keys, List *others)
{
	List	   *all = list_concat_copy(keys, others);

	foreach_ptr(Var, column, unknown_columns(s, others, true, DP_LISTS_FOUND))
		find_points(s, column, all, true);
}

void
dp_key_query_add_integers(DpKeyQuery *s, List *keys, int most)
{
	foreach_ptr(Node, column, unknown_columns(s, keys, false, DP_LISTS_KNOWN))
		(void) dp_key_query_list_range(s, column, most);
}
