/*-------------------------------------------------------------------------
 *
 * time_cells.c
 *	  On which stretches of time, cells, expressions over a date or timestamp
 *	  are constant.
 *
 * Boundaries are not computed: that would repeat all that PostgreSQL knows of
 * calendars and time zones.  What is found out is by which units the axis is
 * divided; time_steps.c tells from these how far apart points may be.
 *
 * Invariant: what is not understood fails.  Cells that are taken for finer
 * than they are cost time, never groups.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/time_cells.h"
#include "guard/facts/facts.h"
#include "guard/level.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* a moment is not written in more */
#define MOST_CHARACTERS 128
/* the most moments that come with many others, because clocks are set or months differ */
#define MOST_SPREAD_CUTS 20

/* ------------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------------
 */

static bool
is_call(Node *node, DpFunctionKind kind, int nargs)
{
	List	   *args;

	return dp_call_kind(node, &args) == kind && list_length(args) == nargs;
}

static Node *
argument(Node *call, int n)
{
	List	   *args;

	(void) dp_call_kind(call, &args);
	return list_nth(args, n);
}

static const char *
text_of(Node *node)
{
	Const	   *constant = dp_value_of(node);

	return constant != NULL && constant->consttype == TEXTOID ? TextDatumGetCString(constant->constvalue) : NULL;
}

/* ------------------------------------------------------------------------
 * The column, moved
 * ------------------------------------------------------------------------
 */

static bool
shift_by(DpCellPart *part, Node *by)
{
	Const	   *constant = dp_value_of(by);
	Interval   *interval;

	if (constant == NULL)
		return false;
	if (constant->consttype == INT4OID)
	{
		part->shifts_days = true;
		return true;
	}
	if (constant->consttype != INTERVALOID)
		return false;
	interval = DatumGetIntervalP(constant->constvalue);
	part->shifts_months |= interval->month != 0;
	part->shifts_days |= interval->day != 0 || interval->month != 0 || interval->time >= USECS_PER_DAY ||
		interval->time <= -USECS_PER_DAY;
	part->shift += interval->time % USECS_PER_DAY;
	return true;
}

/* Tells whether node is the column but for shifts, zones and casts that lose nothing. */
static bool
is_moved(Node *node, Var *column, DpCellPart *part)
{
	check_stack_depth();
	node = dp_strip_labels(node);
	if (IsA(node, Var))
		return equal(node, column);
	if (is_call(node, DP_KIND_timestamp, 1) || is_call(node, DP_KIND_timestamptz, 1))
		return is_moved(argument(node, 0), column, part);
	if (is_call(node, DP_KIND_add, 2))
		return (is_moved(argument(node, 0), column, part) && shift_by(part, argument(node, 1))) ||
			(is_moved(argument(node, 1), column, part) && shift_by(part, argument(node, 0)));
	if (is_call(node, DP_KIND_subtract, 2))
		return is_moved(argument(node, 0), column, part) && shift_by(part, argument(node, 1));
	if (is_call(node, DP_KIND_timezone, 2))
	{
		const char *zone = text_of(argument(node, 0));

		if (zone == NULL || part->zone != NULL)
			return false;
		part->zone = zone;
		return is_moved(argument(node, 1), column, part);
	}
	return false;
}

/* ------------------------------------------------------------------------
 * Units
 * ------------------------------------------------------------------------
 */

/* Adds a way in which the axis is divided if node is the column, moved; returns false, and adds nothing, if it is not. */
static bool
add_part(DpTimeCells *cells, DpCellPart part, Node *node, bool has_years)
{
	DpCellPart *copy;

	if (!is_moved(node, cells->column, &part))
		return false;
	copy = palloc(sizeof(DpCellPart));
	*copy = part;
	cells->parts = lappend(cells->parts, copy);
	cells->has_years |= has_years;
	return true;
}

static void
note_field(DpTimeCells *cells, const DpTimeField *field)
{
	if (field->unit < DP_UNIT_DAY)
		return;
	cells->fields++;
	cells->has_years |= field->has_years;
	cells->has_months |= field->field != DTK_DOW && field->field != DTK_ISODOW;
}

static bool
add_extract(DpTimeCells *cells, FuncExpr *call)
{
	const DpTimeField *field = dp_time_field_of_name(text_of(linitial(call->args)));

	if (field == NULL || !add_part(cells, (DpCellPart) {field->unit}, lsecond(call->args), false))
		return false;
	note_field(cells, field);
	return true;
}

static bool
add_trunc(DpTimeCells *cells, FuncExpr *call)
{
	DpCellPart	part = {0};
	const char *name = text_of(linitial(call->args));
	const DpTimeField *field = dp_time_field_of_name(name);

	if (list_length(call->args) == 3 && (part.zone = text_of(lthird(call->args))) == NULL)
		return false;
	if (name != NULL && pg_strcasecmp(name, "second") == 0)
		part.unit = DP_UNIT_SECOND;
	else if (field != NULL)
		part.unit = field->unit;
	else
		return false;
	return add_part(cells, part, lsecond(call->args), true);
}

/* what a template of to_char may have; others are text */
static const struct
{
	const char *name;
	DpTimeUnit	unit;
	bool		has_years;
	bool		is_weekday;
}			template_units[] = {
	{"A.D.", DP_UNIT_YEAR, true}, {"A.M.", DP_UNIT_HOUR}, {"AD", DP_UNIT_YEAR, true}, {"AM", DP_UNIT_HOUR},
	{"B.C.", DP_UNIT_YEAR, true}, {"BC", DP_UNIT_YEAR, true}, {"CC", DP_UNIT_YEAR, true},
	{"DAY", DP_UNIT_DAY, false, true}, {"DDD", DP_UNIT_DAY}, {"DD", DP_UNIT_DAY}, {"DY", DP_UNIT_DAY, false, true},
	{"D", DP_UNIT_DAY, false, true}, {"FF", DP_UNIT_BIN}, {"FM", DP_UNIT_YEAR, false, true}, {"FX", DP_UNIT_YEAR, false, true},
	{"HH24", DP_UNIT_HOUR}, {"HH12", DP_UNIT_HOUR}, {"HH", DP_UNIT_HOUR}, {"IDDD", DP_UNIT_DAY}, {"ID", DP_UNIT_DAY, false, true},
	{"IW", DP_UNIT_WEEK}, {"I", DP_UNIT_WEEK, true}, {"J", DP_UNIT_DAY, true}, {"MI", DP_UNIT_MINUTE}, {"MM", DP_UNIT_MONTH},
	{"MONTH", DP_UNIT_MONTH}, {"MON", DP_UNIT_MONTH}, {"MS", DP_UNIT_BIN}, {"OF", DP_UNIT_HOUR}, {"P.M.", DP_UNIT_HOUR},
	{"PM", DP_UNIT_HOUR}, {"Q", DP_UNIT_QUARTER}, {"RM", DP_UNIT_MONTH}, {"SS", DP_UNIT_SECOND}, {"TH", DP_UNIT_YEAR, false, true},
	{"TM", DP_UNIT_YEAR, false, true}, {"TZ", DP_UNIT_HOUR}, {"US", DP_UNIT_BIN}, {"WW", DP_UNIT_DAY}, {"W", DP_UNIT_DAY},
	{"Y", DP_UNIT_YEAR, true}
};

/* Returns the number of what a template begins with: the longest; -1: text. */
static int
template_unit(const char *format)
{
	int			found = -1;

	for (int i = 0; i < lengthof(template_units); i++)
	{
		const char *name = template_units[i].name;

		if (pg_strncasecmp(format, name, strlen(name)) == 0 &&
			(found < 0 || strlen(name) > strlen(template_units[found].name)))
			found = i;
	}
	return found;
}

/* Text that is taken for a unit makes cells finer than they need be. */
static bool
add_to_char(DpTimeCells *cells, FuncExpr *call)
{
	DpCellPart	part = {DP_UNIT_YEAR};
	const char *format = text_of(lsecond(call->args));

	if (format == NULL || !is_moved(linitial(call->args), cells->column, &(DpCellPart) {0}))
		return false;
	while (*format)
	{
		int			i = template_unit(format);

		if (i < 0)
		{
			format++;
			continue;
		}
		/* fractions of a second */
		if (template_units[i].unit == DP_UNIT_BIN)
			return false;
		part.unit = Min(part.unit, template_units[i].unit);
		cells->has_years |= template_units[i].has_years;
		if (template_units[i].unit >= DP_UNIT_DAY && !(template_units[i].is_weekday && template_units[i].unit == DP_UNIT_YEAR))
		{
			cells->has_months |= !template_units[i].is_weekday;
			cells->fields++;
		}
		format += strlen(template_units[i].name);
	}
	return add_part(cells, part, linitial(call->args), false);
}

static bool
add_bin(DpTimeCells *cells, FuncExpr *call)
{
	DpCellPart	part = {DP_UNIT_BIN};
	Const	   *width = dp_value_of(linitial(call->args));
	Const	   *origin = dp_value_of(lthird(call->args));
	Interval   *interval;

	if (width == NULL || origin == NULL)
		return false;
	interval = DatumGetIntervalP(width->constvalue);
	part.width = interval->day * USECS_PER_DAY + interval->time;
	if (interval->month != 0 || part.width <= 0 || TIMESTAMP_NOT_FINITE(DatumGetTimestamp(origin->constvalue)))
		return false;
	part.shift = DatumGetTimestamp(origin->constvalue) % part.width;
	return add_part(cells, part, lsecond(call->args), true);
}

/* Returns what a field of a time, of this name, is taken of; NULL: node is none, but for casts. */
static Node *
time_of_field(Node *node, const char *name)
{
	const char *field;

	node = dp_strip_labels(node);
	while (is_call(node, DP_KIND_int8, 1) || is_call(node, DP_KIND_int4, 1) || is_call(node, DP_KIND_numeric, 1) || is_call(node, DP_KIND_float8, 1) ||
		   is_call(node, DP_KIND_floor, 1) || is_call(node, DP_KIND_trunc, 1))
		node = dp_strip_labels(argument(node, 0));
	if (!is_call(node, DP_KIND_extract, 2) && !is_call(node, DP_KIND_date_part, 2))
		return NULL;
	field = text_of(argument(node, 0));
	return field != NULL && pg_strcasecmp(field, name) == 0 ? argument(node, 1) : NULL;
}

/* Returns a whole number of seconds; 0: it is none. */
static int64
seconds_of(Node *node)
{
	Const	   *constant = dp_value_of(node);
	Oid			output;
	bool		varlena;
	char	   *text;
	char	   *end;
	long		seconds;

	if (constant == NULL || (constant->consttype != INT4OID && constant->consttype != INT8OID &&
							 constant->consttype != NUMERICOID && constant->consttype != FLOAT8OID))
		return 0;
	getTypeOutputInfo(constant->consttype, &output, &varlena);
	text = OidOutputFunctionCall(output, constant->constvalue);

	seconds = strtol(text, &end, 10);
	while (*end == '.' || *end == '0')
		end++;
	return *end == '\0' && seconds > 0 && seconds <= 100 * (long) SECS_PER_DAY * 365 ? seconds : 0;
}

/* floor(epoch / n), or a division of whole numbers; floor(minute / n), of bins of which an hour has a whole number: they lie on the grid in every zone */
static bool
add_division(DpTimeCells *cells, Node *node)
{
	DpCellPart	part = {DP_UNIT_BIN};
	bool		is_floor = is_call(node, DP_KIND_floor, 1) || is_call(node, DP_KIND_trunc, 1);
	Node	   *division = is_floor ? dp_strip_labels(argument(node, 0)) : node;
	bool		is_whole = exprType(division) == INT8OID || exprType(division) == INT4OID;
	Node	   *time;
	int64		width;

	if (!is_call(division, DP_KIND_divide, 2) || !(is_floor || is_whole))
		return false;
	width = seconds_of(argument(division, 1));
	time = time_of_field(argument(division, 0), "minute");
	if (time != NULL && is_floor)
	{
		part.width = width * USECS_PER_MINUTE;
		return width != 0 && MINS_PER_HOUR % width == 0 && add_part(cells, part, time, false);
	}
	time = time_of_field(argument(division, 0), "epoch");
	part.width = width * USECS_PER_SEC;
	/* casts to whole numbers round */
	part.shift = is_whole ? USECS_PER_SEC / 2 : 0;
	return time != NULL && width != 0 && add_part(cells, part, time, true);
}

/* Returns how many characters a pattern of LIKE asks of the beginning of a text, if of nothing else; 0: it asks of more. */
static int
length_of_pattern(Node *node)
{
	const char *pattern = text_of(node);
	int			length = pattern ? strcspn(pattern, "%\\") : 0;

	return pattern && strcmp(pattern + length, "%") == 0 ? length : 0;
}

/*
 * Returns what reads just the first characters of a text, and how many: LIKE,
 * left, substring; NULL: it reads more.
 */
static Node *
beginning_of(Node *node, int *length)
{
	Const	   *first;
	Const	   *count;

	if (is_call(node, DP_KIND_like, 2) || is_call(node, DP_KIND_not_like, 2))
	{
		*length = length_of_pattern(argument(node, 1));
		return argument(node, 0);
	}
	if (is_call(node, DP_KIND_left, 2))
	{
		count = dp_value_of(argument(node, 1));
		*length = count ? DatumGetInt32(count->constvalue) : 0;
		return argument(node, 0);
	}
	if (!is_call(node, DP_KIND_substring, 3))
		return NULL;
	first = dp_value_of(argument(node, 1));
	count = dp_value_of(argument(node, 2));
	*length = first == NULL || count == NULL || first->consttype != INT4OID || DatumGetInt32(first->constvalue) < 1 ||
		DatumGetInt32(first->constvalue) > MOST_CHARACTERS || DatumGetInt32(count->constvalue) > MOST_CHARACTERS
		? 0 : DatumGetInt32(first->constvalue) + DatumGetInt32(count->constvalue) - 1;
	return argument(node, 0);
}

/* Returns what is written as a text; NULL: node is no such cast. */
static Node *
written(Node *node)
{
	node = dp_strip_labels(node);
	if (is_call(node, DP_KIND_text, 1))
		return dp_strip_labels(argument(node, 0));
	return IsA(node, CoerceViaIO) ? dp_strip_labels((Node *) ((CoerceViaIO *) node)->arg) : NULL;
}

/*
 * The first characters of a timestamp as it is written, YYYY-MM-DD HH:MI:SS: years of more digits only
 * make them tell less.
 */
static bool
add_beginning(DpTimeCells *cells, Node *node)
{
	static const struct
	{
		int			length;
		DpTimeUnit	unit;
	}			units[] = {{4, DP_UNIT_YEAR}, {7, DP_UNIT_MONTH}, {10, DP_UNIT_DAY}, {13, DP_UNIT_HOUR}, {16, DP_UNIT_MINUTE},
	{19, DP_UNIT_SECOND}};
	int			length = 0;
	Node	   *text = beginning_of(node, &length);
	Node	   *time = text ? written(text) : NULL;

	if (time == NULL || (exprType(time) != TIMESTAMPOID && exprType(time) != TIMESTAMPTZOID))
		return false;
	for (int i = 0; i < lengthof(units); i++)
		if (length > 0 && length <= units[i].length)
			return add_part(cells, (DpCellPart) {units[i].unit}, time, true);
	return false;
}

static bool
add_call(DpTimeCells *cells, Node *node)
{
	if (add_beginning(cells, node))
		return true;
	if (!IsA(node, FuncExpr))
		return false;
	if (is_call(node, DP_KIND_extract, 2) || is_call(node, DP_KIND_date_part, 2))
		return add_extract(cells, (FuncExpr *) node);
	if (is_call(node, DP_KIND_date_trunc, 2) || is_call(node, DP_KIND_date_trunc, 3))
		return add_trunc(cells, (FuncExpr *) node);
	if (is_call(node, DP_KIND_to_char, 2))
		return add_to_char(cells, (FuncExpr *) node);
	if (is_call(node, DP_KIND_date_bin, 3))
		return add_bin(cells, (FuncExpr *) node);
	return (is_call(node, DP_KIND_date, 1) && add_part(cells, (DpCellPart) {DP_UNIT_DAY}, argument(node, 0), true)) || add_division(cells, node);
}

/* ------------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------------
 */

static bool add_preimage(DpTimeCells *cells, const DpCellTest *test, Node *constant);

/* Adds where greatest(), least() or coalesce() of the column and others is between two values: what of it is so is one of them. */
static bool
add_preimage_of_any(DpTimeCells *cells, const DpCellTest *test, const DpPreimage *p)
{
	List	   *args = IsA(p->expr, MinMaxExpr) ? ((MinMaxExpr *) p->expr)->args
	: IsA(p->expr, CoalesceExpr) ? ((CoalesceExpr *) p->expr)->args : NIL;

	cells->spread |= p->spread != DP_SPREAD_NONE;
	foreach_ptr(Node, arg, args)
	{
		DpCellTest	one = *test;

		one.expr = arg;
		if (dp_has_equal(arg, cells->column) &&
			(!add_preimage(cells, &one, (Node *) p->first) || !add_preimage(cells, &one, (Node *) p->last)))
			return false;
	}
	return args != NIL;
}

/* Adds the values of the column at which a comparison with a constant may become true or false. */
static bool
add_preimage(DpTimeCells *cells, const DpCellTest *test, Node *constant)
{
	DpPreimage	p;

	check_stack_depth();
	if (!dp_find_preimage(test, constant, (Node *) cells->column, &p))
		return p.expr != NULL && add_preimage_of_any(cells, test, &p);
	cells->cuts = list_append_unique(cells->cuts, p.first);
	cells->cuts = list_append_unique(cells->cuts, p.last);
	cells->spread |= p.spread != DP_SPREAD_NONE;
	cells->has_years = true;
	return list_length(cells->cuts) <= (cells->spread ? MOST_SPREAD_CUTS : DP_MAX_CELL_CONSTANTS);
}

/* Adds what divides the axis where a comparison with constants reads the column; returns false if that is not known. */
static bool
add_comparison(DpTimeCells *cells, Node *node)
{
	DpCellTest	test;

	if (!dp_get_cell_test(node, &test))
		return false;
	if (test.type == TIMEOID && is_call(test.expr, DP_KIND_time, 1) && equal(dp_strip_labels(argument(test.expr, 0)), cells->column))
	{
		cells->times = list_concat_unique(cells->times, test.constants);
		return list_length(cells->times) <= MOST_SPREAD_CUTS;
	}
	foreach_ptr(Node, constant, test.constants)
	{
		if (!add_preimage(cells, &test, constant))
			return false;
	}
	return true;
}

static bool cells_walker(Node *node, DpTimeCells *cells);

/* Takes a comparison for what divides the axis at single moments; or, where these would be many, by units of the calendar. */
static bool
add_condition(DpTimeCells *cells, Node *node)
{
	DpTimeCells by_cuts = *cells;
	DpTimeCells by_units = *cells;
	bool		is_cut;

	by_cuts.cuts = list_copy(cells->cuts);
	by_cuts.times = list_copy(cells->times);
	by_units.parts = list_copy(cells->parts);
	is_cut = add_comparison(&by_cuts, node);
	if (is_cut && !by_cuts.spread)
	{
		*cells = by_cuts;
		return true;
	}
	(void) expression_tree_walker(node, cells_walker, &by_units);
	if (by_units.fails && !is_cut)
		return false;
	*cells = by_units.fails ? by_cuts : by_units;
	return true;
}

static bool
cells_walker(Node *node, DpTimeCells *cells)
{
	DpComparison c;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (!dp_has_equal(node, cells->column))
		return false;
	if (IsA(node, NullTest) && IsA(dp_strip_labels((Node *) ((NullTest *) node)->arg), Var))
		return false;
	if (dp_read_comparison(node, &c) && add_condition(cells, node))
		return false;
	if (IsA(node, Var))
		cells->fails = true;
	else if (!add_call(cells, node))
		return expression_tree_walker(node, cells_walker, cells);
	return cells->fails;
}

void
dp_time_cells_add(DpTimeCells *cells, Node *expr)
{
	cells_walker(expr, cells);
}
