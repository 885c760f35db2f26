/*-------------------------------------------------------------------------
 *
 * norms.c
 *	  A unit's contributions: clamped in each group, and scaled to a norm over all of them.
 *
 * Rows.  A unit of n > m rows in a group counts as m rows: its count is m,
 * and its sum S of centered values becomes S m / n, rounded toward zero.
 * As |S| <= n (in units of DP_CENTERED_ONE), that is at most m, and |S| <= m
 * without scaling otherwise: what the grid's bounds, +-m, would clamp is
 * nothing, but they and not this argument are what sensitivity rests on.
 *
 * Norms.  A unit adds a vector to the groups of a released column: its rows, or its
 * sum, in each of them.  Held to a norm of C, the vector v counts as it is if
 * its Euclidean norm is at most C, else as v C / norm.  Nothing is drawn at
 * random, and a unit may be in as many groups as there are.
 *
 * C is not known when rows are read: it is one of the norm's limits, chosen
 * afterwards (release/norms.c).  So a value leaves in two forms.  With N the
 * norm, rounded up, and U = DP_NORM_UNIT:
 *	 value v	 in steps, and
 *	 share u	 the integer part of v U / N.
 * Both leave beside the bin b of the norm: of the limits C_0 < C_1 < ...,
 * all multiples of U, C_b is the first that is not below N (b = nlimits where
 * none is, and -1 where N is 0 or there are no limits).  Held to C_k the unit adds v where b <= k, and u C_k / U, which is
 * an integer, where b > k.
 *
 * Theorem.  For each k, the vector that a unit adds, over all groups, has a
 * Euclidean norm of at most C_k, and so has the vector of each other value w
 * that the norm limits, if |w| <= |v| in every group.
 * Proof.  b <= k: the sum of w^2 is at most that of v^2, and N <= C_b <= C_k.
 * b > k: |u| <= |w| U / N in each group, so the sum of u^2 is at most U^2 (sum of v^2) / N^2
 * <= U^2, as N^2 is no less than the sum of v^2; times (C_k / U)^2 that is at most C_k^2.
 * All of this is integers, so that no rounding adds to it.  []
 *
 * Where a value is codes, v is how many there are in a group; the place of a total (DP_VALUE_CUT) is one code.  Each code counts 1 or, where b > k,
 * its own share times C_k / U.  Corollary.  The vector of all groups' histograms has a norm of at most C_k, and so
 * has any vector that is made of it by adding up bins of one group.  Proof.  In one group the
 * Euclidean norm of bins, or of their sums, is at most the sum of all bins, which is at most v, or v C_k / N.  []
 *
 * Sets.  Where a value is a set of codes, v is how many there are in a group, too, and a unit has a credit in each of its codes:
 * 1, or C_k / N where b > k.  A code of a group counts the sum of all units' credits in it, but
 * at most 1: the number of different codes, of which those that heavy units alone have count less.
 * Theorem.  What a unit adds to the counts of all groups is a vector without negative numbers whose norm is at most C_k.
 * Proof.  The smaller one of 1 and a sum grows by at most what is added to the sum.  So a group's count grows by at most
 * v times the credit, that is v, or v C_k / N.  []
 * In integers a credit is 2^shift steps, or share C_k / U as that of a code above; a sum of credits needs for all k but the least bin of
 * the units that have the code, and the sum of their shares: from that bin on the count is 1, and below it
 * every unit has its share (agg/exact/distinct.c).
 *
 * Invariants:
 *	- values are clamped to the bounds of the spec's grids here, and nowhere else;
 *	- |v| <= DP_MOST_VALUE, before anything else, by shifted_value alone; w is held to
 *	  |v| of its group in norm_value, and not taken to be;
 *	- w counts in no more groups than v (dp_check_bound_spec);
 *	- what cannot be asked for is 0: shares of the first bin, which no limit
 *	  cuts, and values of the last, which every limit does.
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

static inline int64
within(int64 value, int64 most)
{
	return value > most ? most : value < -most ? -most : value;
}

/* Returns value i of an entry in steps, before it is held to a norm. */
static inline int64
shifted_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i)
{
	int			shift = spec->value[i].shift;

	if (dp_value_is_count(spec, i))
		return dp_count_in_steps(layout, from, spec, i, dp_most_of_count(spec, i));
	return within(dp_clamped_value(layout, from, spec, i), DP_MOST_VALUE >> shift) * (INT64CONST(1) << shift);
}

/* Returns value i of an entry in steps, at most as large as the value that its norm is of. */
static inline int64
norm_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i)
{
	int			of = dp_spec_norms(spec)[spec->value[i].norm].value;
	int64		value = shifted_value(layout, from, spec, i);
	int64		most;

	if (of == i)
		return value;
	most = shifted_value(layout, from, spec, of);
	return within(value, most < 0 ? -most : most);
}

/* Returns how many codes i an entry has, in steps; a total is in one place, if there is any. */
static inline int64
codes_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, int i)
{
	const char *value = from + layout->value[i];
	int64		codes = spec->value[i].kind == DP_VALUE_CUT ? !dp_sum_is_none((const DpExactSum *) value)
	: dp_codes_count(value, layout->codes[i]);

	return codes << spec->value[i].shift;
}

/* Returns the bin of a norm above 0: the first limit that is not below it. */
static inline int
bin_of_norm(const DpNormSpec *spec, uint64 norm)
{
	int			first = 0;
	int			past = spec->nlimits;

	while (first < past)
	{
		int			middle = (first + past) / 2;

		if ((uint64) spec->limit[middle] < norm)
			first = middle + 1;
		else
			past = middle;
	}
	return first;
}

/* Returns the sum of squares of a count in each of so many entries. */
static dp_u128
squares_of_counts(const DpLayout *layout, const char *from, int nentries, const DpBoundSpec *spec, int i)
{
	int64		most = dp_most_of_count(spec, i);
	dp_u128		squares = 0;

	for (int n = 0; n < nentries; n++, from += layout->entry_size)
	{
		uint64		value = dp_count_in_steps(layout, from, spec, i, most);

		squares += (dp_u128) value * value;
	}
	return squares;
}

/* Sets the norms of a unit, and their bins: 0 and -1 where it contributes nothing, or where there are no limits. */
void
dp_unit_norms(const DpBoundState *state, const DpLayout *layout, const DpBoundSpec *spec, DpNorms *norms)
{
	for (int l = 0; l < spec->nnorms; l++)
	{
		const DpNormSpec *norm = &dp_spec_norms(spec)[l];
		const char *from = dp_state_entries(state);
		dp_u128		squares = 0;
		int			nentries;

		norms->norm[l] = 0;
		norms->bin[l] = -1;
		if (norm->nlimits == 0)
			continue;
		nentries = Min(state->nentries, spec->value[norm->value].groups);
		if (likely(dp_value_is_count(spec, norm->value)))
			squares = squares_of_counts(layout, from, nentries, spec, norm->value);
		else
			for (int n = 0; n < nentries; n++, from += layout->entry_size)
			{
				int64		value = dp_value_is_code(spec, norm->value) ? codes_value(layout, from, spec, norm->value)
				: shifted_value(layout, from, spec, norm->value);

				if (l == 0 && n < DP_NORM_VALUES)
					norms->value[n] = value;
				squares += (dp_u128) ((dp_i128) value * value);
			}
		if (squares == 0)
			continue;
		norms->norm[l] = dp_root_up(squares);
		norms->bin[l] = bin_of_norm(norm, norms->norm[l]);
	}
}

/*
 * Sets value i of an entry, in steps, and its share; of codes the share of each, and no value.  The value is 0 in the last bin
 * of its norm, the share in the first one, and where the norm is 0.  Where no norm limits it, it is the clamped one, without share.
 */
void
dp_limit_value(const DpLayout *layout, const char *from, const DpBoundSpec *spec, const DpNorms *norms, int i, DpLimitedValue *limited)
{
	int			l = spec->value[i].norm;
	int			nlimits = l < 0 ? 0 : dp_spec_norms(spec)[l].nlimits;
	int64		value;

	limited->value = limited->share = 0;
	if (dp_value_is_code(spec, i))
		value = INT64CONST(1) << spec->value[i].shift;
	else
	{
		value = nlimits == 0 ? dp_clamped_value(layout, from, spec, i) : norm_value(layout, from, spec, i);
		if (nlimits == 0 || norms->bin[l] < nlimits)
			limited->value = value;
	}
	if (nlimits > 0 && norms->bin[l] > 0)
		limited->share = dp_share_of_norm(value, norms->norm[l]);
	if (spec->value[i].kind == DP_VALUE_DISTINCT && limited->share > 0)
		limited->share = DP_SET_SHARE(limited->share, norms->bin[l]);
}
