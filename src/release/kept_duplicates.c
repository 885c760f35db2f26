/*-------------------------------------------------------------------------
 *
 * kept_duplicates.c
 *	  Columns of one statement that ask the same question.
 *
 * They are answered once, at the highest of their prices, and paid for once.
 * Two draws of one answer would tell more than it costs, and only one of them could be
 * kept.
 *
 * Counts that select keys are duplicates where one is kept that both are given.
 * Where they are bought, each is an answer of its own, paid for by itself: which keys it shows
 * is not known when the other is looked for.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "release/kept_int.h"

/* Raises the prices of a release's columns to those of the same questions of another. */
static void
agree_with(DpKept *kept, const DpKept *other)
{
	for (int i = 0; i < kept->ncolumns; i++)
	{
		for (int j = 0; j < other->ncolumns && i != kept->selection; j++)
		{
			if (memcmp(kept->columns[i].fingerprint, other->columns[j].fingerprint, DP_FINGERPRINT_BYTES) == 0)
				kept->columns[i].asked = Max(kept->columns[i].asked, other->columns[j].asked);
		}
	}
}

void
dp_kept_agree(List *all)
{
	foreach_ptr(DpKept, item, all)
	{
		foreach_ptr(const DpKept, one, all)
			agree_with(item, one);
	}
}

/* Returns the column among the first n of a release that shows the same answer; NULL: there is none. */
static DpKeptColumn *
find_duplicate(const DpKept *kept, int n, const DpKeptColumn *column)
{
	for (int i = 0; i < n; i++)
	{
		DpKeptColumn *other = &kept->columns[i];

		/* what is drawn now may be of a chain that begins now */
		if (memcmp(other->id.fingerprint, column->id.fingerprint, DP_FINGERPRINT_BYTES) == 0 &&
			other->id.rho == column->id.rho && other->id.delta == column->id.delta &&
			(other->id.began == column->id.began || (other->how != DP_KEPT_GIVEN && column->how != DP_KEPT_GIVEN)))
			return other->duplicate ? other->duplicate : other;
	}
	return NULL;
}

void
dp_kept_pair(const DpKept *kept, int i, List *before)
{
	DpKeptColumn *column = &kept->columns[i];
	DpKeptColumn *duplicate = NULL;

	/* each selection that is bought is another one */
	if (i == kept->selection && column->how != DP_KEPT_GIVEN)
		return;
	foreach_ptr(const DpKept, other, before)
	{
		if (duplicate == NULL)
			duplicate = find_duplicate(other, other->ncolumns, column);
	}
	column->duplicate = duplicate ? duplicate : find_duplicate(kept, i, column);
	if (column->duplicate == NULL || column->how == DP_KEPT_GIVEN)
		return;
	column->how = DP_KEPT_DUPLICATE;
	column->id = column->duplicate->id;
	column->duplicate->has_duplicate = true;
}
