/*-------------------------------------------------------------------------
 *
 * group_sums_rows.c
 *	  The rows in which groups leave that were added up (group_sums.c).
 *
 * A row has the keys of its group, a bin of each norm, and what is in it.  A group has as
 * many rows as bins of the norm that has most, one after the other.
 *
 * Invariants:
 *	- each bin of a group leaves once, and what no norm limits with the group's first row;
 *	- a row has -1 for a norm of which the group has no further bin, and nothing of it.
 *	  Which bins of several norms are in one row says nothing.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "agg/bounding/group_sums.h"

/* Goes to the next bins that leave of the group; false where there are none. */
static bool
next_bins(DpGroupSums *sums)
{
	bool		any = false;

	for (DpLimitedNorm *norm = sums->limited; norm < sums->limited + sums->nlimited; norm++)
	{
		while (norm->bin < norm->past && ++norm->bin < norm->past)
		{
			norm->sum = dp_bin_sums(norm, sums->leaving, norm->bin);
			if (norm->sum != NULL && norm->sum[0] != 0)
				break;
		}
		any = any || norm->bin < norm->past;
	}
	return any;
}

/* Goes to the next group that leaves, and to its first bins; false where there is none. */
static bool
next_group(DpGroupSums *sums)
{
	sums->leaving = sums->leaving == NULL ? sums->first : sums->leaving->next;
	if (sums->leaving == NULL)
		return false;
	for (int l = 0; l < sums->nlimited; l++)
		sums->limited[l].bin = -1;
	next_bins(sums);
	return true;
}

/* Returns a column, which is no key, of the row that leaves; first: of its group. */
static inline int64
row_sum(const DpGroupSums *sums, DpRowColumn column, bool first)
{
	bool		is_norm = column.kind == DP_COLUMN_FIRST || column.kind == DP_COLUMN_BIN;
	int			l = is_norm ? sums->limited_of[column.i] : sums->place[column.i].limited;
	const DpLimitedNorm *norm = l >= 0 && sums->limited[l].bin < sums->limited[l].past ? &sums->limited[l] : NULL;

	switch (column.kind)
	{
		case DP_COLUMN_VALUE:
			if (l < 0)
				return first ? sums->leaving->sum[sums->place[column.i].sum] : 0;
			return norm != NULL ? norm->sum[sums->place[column.i].sum] : 0;
		case DP_COLUMN_SHARE:
			return norm != NULL ? norm->sum[sums->place[column.i].sum + 1] : 0;
		case DP_COLUMN_FIRST:
			if (sums->nlimited == 0)
				return sums->leaving->sum[sums->nsums - 1];
			return norm != NULL ? DP_FIRST_UNITS(norm->sum[0]) : 0;
		case DP_COLUMN_BIN:
			return norm != NULL ? norm->bin : -1;
		default:
			elog(ERROR, "unexpected column %d of groups that are added up", (int) column.kind);
	}
}

/*
 * Sets the columns of the next row, which lives until the next call.
 * Returns false when all have left; then others may be added.
 */
bool
dp_group_sums_next(DpGroupSums *sums, const DpRowColumn *columns, int ncolumns, Datum *values, bool *isnull)
{
	bool		first = sums->leaving == NULL || !next_bins(sums);

	if (first && !next_group(sums))
	{
		dp_group_sums_forget(sums);
		return false;
	}
	for (int c = 0; c < ncolumns; c++)
	{
		int			i = columns[c].i;
		uint64		word;

		isnull[c] = columns[c].kind == DP_COLUMN_KEY && (sums->leaving->nulls & (UINT64CONST(1) << i)) != 0;
		if (columns[c].kind != DP_COLUMN_KEY)
		{
			values[c] = Int64GetDatum(row_sum(sums, columns[c], first));
			continue;
		}
		word = dp_group_words(sums, sums->leaving)[i];
		values[c] = sums->shape->layout.by_reference & (1 << i) ?
			PointerGetDatum((const char *) sums->leaving + DP_KEYREF_OFFSET(word)) : (Datum) word;
	}
	return true;
}
