/*-------------------------------------------------------------------------
 *
 * normal.h
 *	  The quantiles of the standard normal law.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_NORMAL_H
#define DP_NORMAL_H

/*
 * Returns the x with P[N(0,1) > x] = q, 0 <= q <= 1, to a few units in the last
 * place: Infinity at 0, -Infinity at 1.  A quantile of probability p near 1 is
 * best asked for as dp_normal_tail_inverse(1 - p) with 1 - p known exactly;
 * N(0,1) is within +-x with probability p for x = dp_normal_tail_inverse((1 -
 * p) / 2).
 */
extern double dp_normal_tail_inverse(double q);

#endif							/* DP_NORMAL_H */
