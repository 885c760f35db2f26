/*-------------------------------------------------------------------------
 *
 * normal.h
 *	  The standard normal law in its tails: upper tail, quantile, Mills ratio.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_NORMAL_H
#define DP_NORMAL_H

/*
 * Density and upper tail Q(x) = P[N(0,1) > x], to a few units in the last
 * place wherever the result is a normal double.  x: any but NaN; infinities
 * give the limits.
 */
extern double dp_normal_density(double x);
extern double dp_normal_tail(double x);

/*
 * x with Q(x) = q, 0 <= q <= 1: Infinity at 0, -Infinity at 1.  A quantile of
 * probability p near 1 is best asked for as dp_normal_tail_inverse(1 - p)
 * with 1 - p known exactly; +-x holds with probability p for
 * x = dp_normal_tail_inverse((1 - p) / 2).
 */
extern double dp_normal_tail_inverse(double q);

/* the Mills ratio Q(x) / density(x), x >= -30: decreases from large to 1/x */
extern double dp_normal_mills(double x);

/*
 * M(a) - M(b) for the Mills ratio M, 0 <= a <= b: without the cancellation
 * of the two values, however near b is to a (width = b - a is the caller's,
 * who knows it better).
 */
extern double dp_normal_mills_drop(double a, double width);

#endif							/* DP_NORMAL_H */
