/*-------------------------------------------------------------------------
 *
 * norms.c
 *	  Columns to which a unit's contributions are limited by their norm.
 *
 * Counts, sums, statistics, histograms and numbers of distinct values of a level with units: each has a norm, that of
 * what it counts or adds up; two that count the same have one.  Another release
 * finds the limits (release/norms.c): it reads the rows of the level's and has a
 * column for each norm.  The selection of keys has a norm, too, but a fixed limit.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/facts/facts.h"
#include "parser/parsetree.h"

/* Tells whether the first part of a column is a count of rows, and the norm that of rows. */
static bool
counts_rows(const DpReleaseColumn *column)
{
	return column->answer == DP_ANSWER_MOMENTS || (column->answer == DP_ANSWER_SUM && column->kind == DP_VALUE_COUNT);
}

/* Tells whether what a row, or a total, adds to a part is a code. */
static bool
is_code(const DpPart *part)
{
	return part->kind == DP_VALUE_CODES || part->kind == DP_VALUE_DISTINCT || part->kind == DP_VALUE_CUT;
}

/* Tells whether a unit may add more to a column than 1; in one group it counts once. */
static bool
has_norm(const DpReleaseColumn *column, bool grouped)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];

	(void) dp_column_parts(column, parts);
	return counts_rows(column) || parts[0].kind == DP_VALUE_CODES || parts[0].kind == DP_VALUE_DISTINCT ||
		(grouped && column->answer == DP_ANSWER_CLIPPED_TOTALS) ||
		(column->answer == DP_ANSWER_SUM && (column->kind == DP_VALUE_SUM || (grouped && column->kind == DP_VALUE_UNITS)));
}

/* Returns the norm of an earlier column that counts the same; -1: none does. */
static int
norm_of_same(const DpLevel *level, int i)
{
	const DpReleaseColumn *column = list_nth(level->release->columns, i);

	for (int j = 0; j < i; j++)
	{
		const DpReleaseColumn *other = list_nth(level->release->columns, j);

		/* an average is best off with another limit than a count */
		if (other->norm >= 0 && other->answer == column->answer && counts_rows(column) && counts_rows(other) &&
			equal(linitial(list_nth(level->parts.values, i)), linitial(list_nth(level->parts.values, j))) &&
			equal(list_nth(level->parts.filters, i), list_nth(level->parts.filters, j)))
			return other->norm;
	}
	return -1;
}

bool
dp_has_norms(const DpLevel *level)
{
	return level->release->has_unit && dp_limits_norms(level->dataset, level->release);
}

/* Has a count of units that is there to select keys alone weigh them, by a limit that is no secret: its norm is the last one. */
static void
limit_selection(DpRelease *release)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	DpReleaseColumn *selection = release->selection >= 0 ? list_nth(release->columns, release->selection) : NULL;
	int			part = 0;

	if (selection == NULL || !selection->hidden)
		return;
	for (int i = 0; i < release->selection; i++)
		part += dp_column_parts(list_nth(release->columns, i), parts);
	selection->weighs = true;
	selection->norm = list_length(release->norms);
	release->norms = lappend_int(release->norms, part);
}

static bool
limits_codes(const DpRelease *release)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];

	foreach_ptr(DpReleaseColumn, column, release->columns)
	{
		(void) dp_column_parts(column, parts);
		if (column->norm >= 0 && is_code(&parts[0]))
			return true;
	}
	return false;
}

/* Returns how many rows with the same columns a unit has at most; 0: that is not known. */
static int
most_rows_of(DpLevel *level, const DpToldApart *told)
{
	TargetEntry *tle;
	int64		last;

	if (told->rank == 0)
		return 1;
	tle = get_tle_by_resno(castNode(Query, rt_fetch(told->rti, level->from.query->rtable)->subquery)->targetList, told->rank);
	if (tle == NULL || !dp_find_range(level->conditions, (Node *) dp_output_var(told->rti, told->rank, (Node *) tle->expr), NULL, &last))
		return 0;
	return (int) Max(Min(last, PG_INT32_MAX), 1);
}

/* Tells whether each of the columns that tell rows apart is a key of the level. */
static bool
are_keys(const DpLevel *level, const DpToldApart *told)
{
	foreach_int(column, told->columns)
	{
		bool		found = false;

		foreach_ptr(Node, key, level->key_exprs)
		{
			Var		   *var = (Var *) dp_strip_labels(key);

			found |= IsA(var, Var) && var->varno == told->rti && var->varattno == column && var->varlevelsup == 0;
		}
		if (!found)
			return false;
	}
	return true;
}

void
dp_limit_rows(DpLevel *level)
{
	DpRelease  *release = level->release;

	foreach_ptr(const DpToldApart, told, level->from.unit.may_repeat ? NIL : level->from.unit.told_apart)
	{
		int			rows = are_keys(level, told) ? most_rows_of(level, told) : 0;

		if (rows == 0)
			continue;
		release->most_rows = release->most_rows == 0 ? rows : Min(release->most_rows, rows);
		if (told->columns == NIL)
			release->most_groups = release->most_groups == 0 ? rows : Min(release->most_groups, rows);
	}
}

void
dp_limit_norms(DpLevel *level, bool is_distributed)
{
	DpRelease  *release = level->release;
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	int			part = 0;

	if (!dp_has_norms(level))
		return;
	foreach_ptr(DpReleaseColumn, column, release->columns)
	{
		int			first = part;

		part += dp_column_parts(column, parts);
		if (!has_norm(column, dp_has_groups(release)) || foreach_current_index(column) == release->selection)
			continue;
		column->norm = norm_of_same(level, foreach_current_index(column));
		if (column->norm < 0)
		{
			DpReleaseColumn *limit = dp_make_release_column();

			column->norm = list_length(release->norms);
			release->norms = lappend_int(release->norms, first);
			limit->answer = DP_ANSWER_NORM;
			limit->kind = column->kind;
			limit->input_type = limit->result_type = FLOAT8OID;
			limit->label = psprintf("limit of %s", column->label);
			limit->location = column->location;
			if (release->limiter == NULL)
				release->limiter = dp_make_hidden_release(release);
			release->limiter->columns = lappend(release->limiter->columns, limit);
		}
	}
	limit_selection(release);
	release->bins_apart = release->norms != NIL && (is_distributed || limits_codes(release));
}
