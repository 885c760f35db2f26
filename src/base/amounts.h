/*-------------------------------------------------------------------------
 *
 * amounts.h
 *	  Amounts of rho and delta: from what people write, and back.
 *
 * An amount is an integer, in steps of 10^-scale: DP_RHO_SCALE or
 * DP_DELTA_SCALE (math/wide.h).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_AMOUNTS_H
#define DP_AMOUNTS_H

#include "utils/numeric.h"

#include "math/wide.h"

/*
 * The amount of a parameter, rounded up, through the shortest decimal form of
 * the double: 0.01 of rho is exactly 1e10.  ZC004, naming the parameter, when
 * not finite, not positive (delta: not in 0 .. 1) or too large.
 */
extern int64 dp_rho_amount(double rho, const char *parameter);
extern int64 dp_delta_amount(double delta, const char *parameter);

/*
 * The amount of a parameter that limits what may be spent: rounded down,
 * because a limit must not promise more than was written.  ZC004 as above;
 * for rho also when nothing is left.
 */
extern int64 dp_rho_limit_amount(double rho, const char *parameter);
extern int64 dp_delta_limit_amount(double delta, const char *parameter);

/*
 * The amount of an argument, rounded up; ZC004, naming it, when not positive
 * (zero_allowed: negative) or above the most that one debit may be.
 */
extern int64 dp_debit_amount(Numeric value, int scale, bool zero_allowed, const char *parameter);

/* value * 10^scale, rounded up or down; an error when it does not fit */
extern int64 dp_numeric_amount(Numeric value, int scale, bool up);

/* floor(value * 10^scale), held within +-10^36; NaN is the least */
extern int128 dp_amount_floor(Numeric value, int scale);

/* exact, without trailing zeros; the text is palloc'd */
extern Numeric dp_amount_numeric(int128 amount, int scale);
extern char *dp_amount_text(int128 amount, int scale);

#endif							/* DP_AMOUNTS_H */
