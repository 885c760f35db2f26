/*-------------------------------------------------------------------------
 *
 * zcdp_core.h
 *	  What zcdp.c shares with the calculators' conversions of zCDP: the search
 *	  for the best order, and the bounds at it before they are rounded.
 *
 * Notation as at the head of zcdp.c.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ZCDP_CORE_H
#define DP_ZCDP_CORE_H

#include <math.h>

/* ln t of no search is above: e^t is finite */
#define DP_ZCDP_HIGH_T	709.0

/* arguments of a conversion, for the functions whose zero is looked for */
typedef struct dp_zcdp_conversion
{
	double		rho;
	double		epsilon;
	double		log_inv_delta;	/* ln(1/delta) >= 0 */
} dp_zcdp_conversion;

/* returns the function's value at t, and its derivative by ln t in *slope */
typedef double (*dp_zcdp_rising) (double t, const dp_zcdp_conversion *c, double *slope);

/*
 * Returns nearly the t > 0 at which f, which rises up to there, is zero,
 * looking from start on; not below exp(-745) nor above exp(high).  Without a
 * zero it returns one of those ends.  At most 200 evaluations.
 */
extern double dp_zcdp_find_t(dp_zcdp_rising f, const dp_zcdp_conversion *c, double start, double high);

/*
 * Return the smallest epsilon (rho > 0, maybe negative) and the largest rho
 * (maybe negative by rounding), for 0 < delta < 1, and in *error by how much
 * they may be off.  epsilon may be negative for dp_zcdp_rho_at_best, as long
 * as it is at least ln(1 - delta).
 */
extern double dp_zcdp_epsilon_at_best(double rho, double delta, double *error);
extern double dp_zcdp_rho_at_best(double epsilon, double delta, double *error);

/* Returns ln((1+t) / t), for any t > 0. */
static inline double
dp_zcdp_log_ratio(double t)
{
	return t < 1 ? log1p(t) - log(t) : log1p(1 / t);
}

#endif							/* DP_ZCDP_CORE_H */
