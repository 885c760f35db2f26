/*-------------------------------------------------------------------------
 *
 * window_order.c
 *	  Orders and frames of windows over protected rows.
 *
 * Invariants:
 * - Rows are put in order by the orders of their types alone, and rows that
 *	 are equal by the images of what is read of them (vet/row_order.c).
 * - An order is completed only where the frame means the same then: CURRENT
 *	 ROW of RANGE and GROUPS is all rows that ORDER BY takes for equal.
 * - Offsets of frames are constants.  PostgreSQL evaluates them when a plan
 *	 starts, and raises errors for what is NULL or below 0.
 * - Sums of a date and an offset do not leave the range of their type, which
 *	 would be an error: dates before the year 1 and after 9999 are taken for
 *	 NULL where RANGE adds intervals to them.  Infinity stays what it is.
 *	 Numbers may overflow there; PostgreSQL takes the sum for infinity.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* the most that an offset of a frame adds up to, in each of its fields */
#define MOST_YEARS 1000
#define MOST_DAYS (MOST_YEARS * 366)

/* ------------------------------------------------------------------------
 * Orders
 * ------------------------------------------------------------------------
 */

List *
dp_rebuild_order(DpSplitContext *cxt, List *clauses, Query *new)
{
	List	   *result = NIL;

	foreach_node(SortGroupClause, clause, clauses)
	{
		/* from 18 on, it knows its direction, too */
		SortGroupClause *copy = copyObject(clause);
		Node	   *expr = get_sortgroupclause_expr(clause, new->targetList);
		Oid			less,
					equal_op,
					greater;

		get_sort_group_operators(exprType(expr), true, true, false, &less, &equal_op, &greater, &copy->hashable);
		if (clause->eqop != equal_op || (clause->sortop != less && clause->sortop != greater))
			dp_refuse_at(exprLocation(expr),
						 errmsg("windows and DISTINCT ON over protected rows cannot order by an operator that is not the type's own; "
								"leave ORDER BY ... USING out"));
		if (type_is_collatable(exprType(expr)) && !OidIsValid(exprCollation(expr)))
			dp_refuse_at(exprLocation(expr),
						 errmsg("windows and DISTINCT ON over protected rows cannot order by a string without a definite collation; "
								"add COLLATE \"C\""));
		result = lappend(result, copy);
	}
	return result;
}

List *
dp_complete_order(DpSplitContext *cxt, Query *new, List *values, List *partition, List *order)
{
	Expr	   *value;

	while ((value = dp_unordered_value(new, values, partition, order)) != NULL)
	{
		Expr	   *image = dp_row_image(value);

		if (image == NULL)
			dp_refuse_at(exprLocation((Node *) value),
						 errmsg("rows of protected tables cannot be put in order by values of type %s, which decides between equal ones; %s",
								format_type_be(exprType((Node *) value)),
								exprType((Node *) value) == JSONBOID ? "read a part of it as text, for example with ->> 'name'" :
								"leave the column out of the subquery"));
		order = dp_sort_by(order, &new->targetList, image);
	}
	return order;
}

/* ------------------------------------------------------------------------
 * Frames
 * ------------------------------------------------------------------------
 */

/* Returns the smallest and the largest date or timestamp that intervals are added to, and the two infinities. */
static void
limits_of(Oid type, Datum *limits)
{
	int64		first = date2j(1, 1, 1) - POSTGRES_EPOCH_JDATE;
	int64		last = date2j(9999, 12, 31) - POSTGRES_EPOCH_JDATE;

	limits[0] = type == DATEOID ? DateADTGetDatum(first) : TimestampGetDatum(first * USECS_PER_DAY);
	limits[1] = type == DATEOID ? DateADTGetDatum(last) : TimestampGetDatum(last * USECS_PER_DAY);
	limits[2] = type == DATEOID ? DateADTGetDatum(DATEVAL_NOBEGIN) : TimestampGetDatum(DT_NOBEGIN);
	limits[3] = type == DATEOID ? DateADTGetDatum(DATEVAL_NOEND) : TimestampGetDatum(DT_NOEND);
}

static Expr *
compare(Expr *time, int strategy, Datum limit)
{
	Oid			type = exprType((Node *) time);
	TypeCacheEntry *entry = lookup_type_cache(type, 0);
	Const	   *constant = makeConst(type, -1, InvalidOid, entry->typlen, limit, false, entry->typbyval);

	return (Expr *) dp_make_ordering(strategy, copyObject(time), (Expr *) constant, InvalidOid);
}

/* Returns a date or timestamp, NULL where an offset might lead out of its type. */
static Expr *
within_limits(Expr *time)
{
	Datum		limits[4];
	Expr	   *within;

	limits_of(exprType((Node *) time), limits);
	within = makeBoolExpr(AND_EXPR, list_make2(compare(time, BTGreaterEqualStrategyNumber, limits[0]),
											   compare(time, BTLessEqualStrategyNumber, limits[1])), -1);
	within = makeBoolExpr(OR_EXPR, list_make3(within, compare(time, BTEqualStrategyNumber, limits[2]),
											  compare(time, BTEqualStrategyNumber, limits[3])), -1);
	return dp_value_where(within, copyObject(time));
}

/* Tells whether an offset is one that PostgreSQL takes, whatever it is added to. */
static bool
is_offset(Const *offset)
{
	Interval   *interval;

	if (!IsA(offset, Const) || offset->constisnull)
		return false;
	switch (offset->consttype)
	{
		case INT2OID:
			return DatumGetInt16(offset->constvalue) >= 0;
		case INT4OID:
			return DatumGetInt32(offset->constvalue) >= 0;
		case INT8OID:
			return DatumGetInt64(offset->constvalue) >= 0 && DatumGetInt64(offset->constvalue) <= PG_INT32_MAX;
		case FLOAT8OID:
			return DatumGetFloat8(offset->constvalue) >= 0;
		case NUMERICOID:
			return !numeric_is_nan(DatumGetNumeric(offset->constvalue)) && !numeric_is_inf(DatumGetNumeric(offset->constvalue)) &&
				DatumGetBool(DirectFunctionCall2(numeric_ge, offset->constvalue, NumericGetDatum(int64_to_numeric(0))));
		case INTERVALOID:
			interval = DatumGetIntervalP(offset->constvalue);
			return interval->month >= 0 && interval->month <= MOST_YEARS * MONTHS_PER_YEAR &&
				interval->day >= 0 && interval->day <= MOST_DAYS &&
				interval->time >= 0 && interval->time <= MOST_DAYS * USECS_PER_DAY;
		default:
			return false;
	}
}

static Node *
rebuild_offset(DpSplitContext *cxt, Node *offset, const DpAllowContext *allow)
{
	DpAllowContext constants = *allow;
	Node	   *safe;

	if (offset == NULL)
		return NULL;
	constants.windows = constants.unit_aggregates = false;
	safe = dp_make_safe(offset, &constants);
	if (!is_offset((Const *) safe))
		dp_refuse_at(exprLocation(offset),
					 errmsg("a window's frame over protected rows must be a constant; write a number of at least 0, or an interval of at most %d years", MOST_YEARS));
	return safe;
}

void
dp_rebuild_frame(DpSplitContext *cxt, Query *new, WindowClause *window, WindowClause *copy, const DpAllowContext *allow)
{
	SortGroupClause *by;
	Expr	   *measure;
	Oid			type;

	copy->frameOptions = window->frameOptions;
	copy->startOffset = rebuild_offset(cxt, window->startOffset, allow);
	copy->endOffset = rebuild_offset(cxt, window->endOffset, allow);
	if (!(copy->frameOptions & FRAMEOPTION_RANGE) || (copy->startOffset == NULL && copy->endOffset == NULL))
		return;
	copy->startInRangeFunc = window->startInRangeFunc;
	copy->endInRangeFunc = window->endInRangeFunc;
	copy->inRangeColl = window->inRangeColl;
	copy->inRangeAsc = window->inRangeAsc;
	copy->inRangeNullsFirst = window->inRangeNullsFirst;
	by = linitial(copy->orderClause);
	measure = get_sortgroupclause_tle(by, new->targetList)->expr;
	type = exprType((Node *) measure);
	if (type == TIMEOID || type == TIMETZOID || type == INTERVALOID)
		dp_refuse_at(exprLocation((Node *) measure),
					 errmsg("a window's frame over protected rows cannot be measured in values of type %s; "
							"order by extract(epoch FROM ...), and write seconds", format_type_be(type)));
	if (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID)
	{
		SortGroupClause *guarded = llast(dp_sort_by(NIL, &new->targetList, within_limits(measure)));

		by->tleSortGroupRef = guarded->tleSortGroupRef;
	}
}

int
dp_frame_of_rows(DpSplitContext *cxt, WindowFunc *function, WindowClause *window)
{
	int			options = window->frameOptions;
	bool		from_first = (options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0;
	bool		to_last = (options & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) != 0;
	bool		same;

	if (dp_window_kind(function) == DP_WINDOW_OF_ROWS)
		return FRAMEOPTION_DEFAULTS;
	if (options & (FRAMEOPTION_EXCLUDE_GROUP | FRAMEOPTION_EXCLUDE_TIES))
		dp_refuse_at(function->location, errmsg("this function of a window over protected rows cannot leave out equal rows; "
												"write EXCLUDE CURRENT ROW, or no EXCLUDE"));
	if (options & FRAMEOPTION_ROWS)
		return options;
	/* without an order all rows are equal */
	if (window->orderClause == NIL)
		from_first = to_last = true;
	same = function->winfnoid == F_FIRST_VALUE ? from_first && (to_last || (options & FRAMEOPTION_END_CURRENT_ROW)) :
		function->winfnoid == F_LAST_VALUE ? to_last && (from_first || (options & FRAMEOPTION_START_CURRENT_ROW)) :
		from_first && to_last;

	/*
	 * whether there is a row between the borders depends on those that are
	 * left out
	 */
	if (!same || ((options & FRAMEOPTION_EXCLUDE_CURRENT_ROW) && !(from_first && to_last)))
		dp_refuse_at(function->location,
					 errmsg("a value of one row is not defined in a frame that begins or ends among equal rows; write ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING, or ROWS in place of RANGE or GROUPS"));
	options &= ~(FRAMEOPTION_RANGE | FRAMEOPTION_GROUPS);
	if (from_first && to_last)
	{
		options &= ~(FRAMEOPTION_START_CURRENT_ROW | FRAMEOPTION_END_CURRENT_ROW);
		options |= FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_UNBOUNDED_FOLLOWING;
	}
	return options | FRAMEOPTION_ROWS | FRAMEOPTION_NONDEFAULT | FRAMEOPTION_BETWEEN;
}
