/*-------------------------------------------------------------------------
 *
 * exp.h
 *	  Integer bounds around exp(-a) for a rational a >= 0.
 *
 * Two of them: one in 64-bit fixed point that takes a few nanoseconds, and
 * one of any length, for the rare cases that the first cannot decide.  Both
 * are enclosures: the true value lies between the bounds, always.  No
 * floating point.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_EXP_H
#define DP_EXP_H

#include <stdbool.h>

#include "wide.h"

/* from here on exp(-a) 2^64 is below 1 and dp_exp64 returns 0 */
#define DP_EXP64_LIMIT	45

/*
 * The most by which dp_exp64's result differs from exp(-a) 2^64, provided that
 * its argument was not above a and a minus it at most
 * 2^-64 + a 2^-61.
 */
#define DP_EXP64_ERROR	UINT64_C(18)

/*
 * Returns exp(-a) 2^64, within DP_EXP64_ERROR.  a is in fixed point with 64
 * fraction bits, so the integer part is a >> 64.  Takes the same time whatever
 * a is.
 */
extern uint64_t dp_exp64(dp_u128 a);

/*
 * Sets lo and hi such that lo / 2^(64 n) <= exp(-a / b) < hi / 2^(64 n), with
 * hi - lo <= 3.
 *
 * a has na limbs, b has nb and is not 0.  lo and hi have n + 1 limbs, n >= 1;
 * n is limited by the stack (the temporary numbers live there, some 16 of
 * n + na + 2 limbs).
 */
extern void dp_exp_limbs(uint64_t *lo, uint64_t *hi, int n,
						 const uint64_t *a, int na, const uint64_t *b, int nb);

#endif							/* DP_EXP_H */
