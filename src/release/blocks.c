/*-------------------------------------------------------------------------
 *
 * blocks.c
 *	  Which blocks of time a release is charged to.
 *
 * The guard has found between which moments the rows are that a release reads.
 * They are known when it is priced, and widened to whole blocks: these are
 * debited, and the inner plan reads no row of others, because the guard has
 * given it a condition on each protected table that says so, with the first and
 * the last moment of these blocks as parameters.  So it does not matter
 * whether what was found is right, or what a function returned that was called
 * for it: rows of blocks that are not debited have no part in the answer.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "nodes/nodeFuncs.h"
#include "release/release.h"
#include "release/release_int.h"

/* Returns the least of the first days, or the greatest of the last ones, as the start or the end of a block. */
static DateADT
find_end(List *ends, bool is_last, const DpBlockLength *length, EState *estate)
{
	DateADT		result = is_last ? DATEVAL_NOBEGIN : DATEVAL_NOEND;

	foreach_ptr(Expr, end, ends)
	{
		bool		isnull;
		Datum		value = dp_evaluate(end, estate, &isnull);
		DateADT		day;

		/*
		 * a comparison with NULL, which no row satisfies; it costs as much as
		 * one that is not there
		 */
		if (isnull)
			return is_last ? DATEVAL_NOEND : DATEVAL_NOBEGIN;
		day = dp_day_of(value, exprType((Node *) end));
		result = is_last ? Max(result, dp_block_end(day, length)) : Min(result, dp_block_start(day, length));
	}
	return result;
}

void
dp_settle_blocks(DpPricedRelease *priced, EState *estate)
{
	const DpRelease *release = priced->release;
	const DpBlockLength *length = &priced->dataset->blocks;

	priced->has_days = dp_has_blocks(length);
	priced->days = DP_ALL_DAYS;
	if (!priced->has_days)
		return;
	if (release->block_first != NIL)
		priced->days.from = find_end(release->block_first, false, length, estate);
	if (release->block_last != NIL)
		priced->days.to = find_end(release->block_last, true, length, estate);
	/* no row is in between; some block has to pay */
	if (priced->days.from >= priced->days.to)
		priced->days.to = dp_block_end(priced->days.from, length);
	if (priced->days.from >= priced->days.to)
		priced->days = DP_ALL_DAYS;
}

void
dp_block_params(const DpPricedRelease *priced, ParamListInfo params)
{
	if (!dp_holds_to_blocks(priced->release))
		return;
	for (int i = 0; i < DP_BLOCK_TYPES; i++)
	{
		Oid			type = dp_block_type(i);

		dp_set_own_param(&params->params[dp_block_param(priced->release, type, false) - 1],
						 dp_first_of_day(priced->days.from, type), type);
		dp_set_own_param(&params->params[dp_block_param(priced->release, type, true) - 1],
						 dp_last_before_day(priced->days.to, type), type);
	}
}
