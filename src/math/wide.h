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

#endif							/* DP_WIDE_H */
