/*-------------------------------------------------------------------------
 *
 * pick.h
 *	  An entry of a table, chosen without telling which.
 *
 * All entries are read and all but one masked out: neither the addresses read
 * nor the time depends on the index.  (An index into one cache line would
 * still show, by a fraction of a nanosecond: `make -C test/unit timing` told.)
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_PICK_H
#define DP_PICK_H

#include <stdint.h>
#include <string.h>

/* the compiler's vectors: what every processor has, or ordinary words */
typedef uint32_t dp_lanes __attribute__((vector_size(16)));
typedef uint64_t dp_words __attribute__((vector_size(16)));

/* Loads two elements of a table. */
static inline dp_lanes
dp_lanes_load(const uint64_t *pair)
{
	dp_lanes	v;

	memcpy(&v, pair, sizeof(v));
	return v;
}

/* Returns row[index], index below 8. */
static inline uint64_t
dp_pick8(const uint64_t *row, uint32_t index)
{
	dp_lanes	wanted = {index, index, index, index};
	dp_lanes	found;

	found = dp_lanes_load(row) & (dp_lanes) (wanted == (dp_lanes) {0, 0, 1, 1});
	found |= dp_lanes_load(row + 2) & (dp_lanes) (wanted == (dp_lanes) {2, 2, 3, 3});
	found |= dp_lanes_load(row + 4) & (dp_lanes) (wanted == (dp_lanes) {4, 4, 5, 5});
	found |= dp_lanes_load(row + 6) & (dp_lanes) (wanted == (dp_lanes) {6, 6, 7, 7});
	return ((dp_words) found)[0] | ((dp_words) found)[1];
}

/* Copies the index-th of n rows of 8 elements. */
static inline void
dp_pick_row(uint64_t *row, const uint64_t *rows, uint32_t n, uint32_t index)
{
	dp_lanes	wanted = {index, index, index, index};
	dp_lanes	found[4] = {{0}};

	for (uint32_t i = 0; i < n; i++)
	{
		dp_lanes	mask = (dp_lanes) (wanted == (dp_lanes) {i, i, i, i});

		for (int j = 0; j < 4; j++)
			found[j] |= dp_lanes_load(rows + 8 * i + 2 * j) & mask;
	}
	memcpy(row, found, sizeof(found));
}

#endif							/* DP_PICK_H */
