/*-------------------------------------------------------------------------
 *
 * clamp.c
 *	  A unit's value in one group, within the bounds of the spec.
 *
 * Invariant: this is where a unit's values are clamped, to the bounds of the
 * spec's grids.
 *
 * Scaling.  A unit of n > m rows in a group counts as m rows: its count is m,
 * and its sum S of centered values becomes S m / n, rounded toward zero.
 * As |S| <= n (in units of DP_CENTERED_ONE), that is at most m, and |S| <= m
 * without scaling otherwise: what the grid's bounds, +-m, would clamp is
 * nothing, but they and not this argument are what sensitivity rests on.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "agg/bounding/state.h"
#include "agg/exact/grid.h"

/* Returns the sum of n rows, scaled to that of at most "most". */
static int64
scaled_value(const DpExactSum *sum, int64 n, int64 most, const DpGrid *grid)
{
	dp_i128		limit = (dp_i128) n * DP_CENTERED_ONE;
	dp_i128		scaled = dp_exact_sum_get(sum);

	/* rows that were not counted, or not centered, cannot make it more */
	scaled = Min(Max(scaled, -limit), limit);
	if (n > most)
		scaled = scaled * most / n;
	return dp_clamp_wide(scaled, grid);
}

/* Returns value i, clamped, of the entry at "from" of a state with this layout and of this spec. */
int64
dp_clamped_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i)
{
	const char *value = from + layout->value[i];
	const DpGrid *grid = &spec->value[i].grid;
	DpValueKind kind = spec->value[i].kind;
	uint32		count;

	if (dp_value_is_sum(spec, i))
	{
		const DpExactSum *sum = (const DpExactSum *) value;
		int			rows = spec->value[i].rows;

		if (dp_sum_is_none(sum))
			return 0;
		if (likely(kind != DP_VALUE_SCALED))
			return dp_clamp_wide(dp_exact_sum_get(sum), grid);
		return scaled_value(sum, *(const uint32 *) (from + layout->value[rows]),
							Max(spec->value[rows].grid.upper, 0), grid);
	}
	count = *(const uint32 *) value;
	if (kind == DP_VALUE_UNITS)
		return count > 0 ? 1 : 0;
	return Min((int64) count, Max(grid->upper, 0));
}
