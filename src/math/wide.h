/*-------------------------------------------------------------------------
 *
 * wide.h
 *	  128-bit integers and the amounts of the accounting.
 *
 * Rho is counted in steps of 1e-12 and delta in steps of 1e-18, both as
 * int64: sums are exact and the ledger never sees a rounded double.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_WIDE_H
#define DP_WIDE_H

#include <math.h>
#include <stdint.h>

#ifndef __SIZEOF_INT128__
#error "dp_cdp needs a compiler and a machine with 128-bit integers (__int128: gcc or clang for a 64-bit machine): budgets are counted in them"
#endif

/* palloc aligns to 8 bytes only */
typedef __int128 dp_i128 __attribute__((aligned(8)));
typedef unsigned __int128 dp_u128 __attribute__((aligned(8)));

/* the amount of rho 1, and how many decimals that is */
#define DP_RHO_ONE		INT64_C(1000000000000)
#define DP_RHO_SCALE	12
/* the amount of delta 1, and how many decimals that is */
#define DP_DELTA_ONE	INT64_C(1000000000000000000)
#define DP_DELTA_SCALE	18

/* the most rho one release may cost: 1e6 */
#define DP_RHO_MAX		(DP_RHO_ONE * INT64_C(1000000))

/* Returns the greatest integer whose square is not above x. */
static inline uint64_t
dp_root(dp_u128 x)
{
	double		estimate = sqrt((double) x);
	dp_u128		r = estimate < 0x1p64 ? (uint64_t) estimate : UINT64_MAX;

	/* right to 50 bits; one step of Newton's makes it right to a unit or two */
	if (x >> 100 != 0)
	{
		r = (r + x / r) >> 1;
		if (r > UINT64_MAX)
			r = UINT64_MAX;
	}
	while (r * r > x)
		r--;
	while (r < UINT64_MAX && (r + 1) * (r + 1) <= x)
		r++;
	return (uint64_t) r;
}

/* Returns the least integer whose square is not below x, which is at most (2^64 - 1)^2. */
static inline uint64_t
dp_root_up(dp_u128 x)
{
	uint64_t	r = dp_root(x);

	return r + ((dp_u128) r * r < x);
}

#endif							/* DP_WIDE_H */
