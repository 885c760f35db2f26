/*-------------------------------------------------------------------------
 *
 * normal.h
 *	  The standard normal law in its tails: upper tail, quantile, Mills
 *	  ratio, and the difference of tails that privacy is made of.
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
 * with 1 - p known exactly; N(0,1) is within +-x with probability p for
 * x = dp_normal_tail_inverse((1 - p) / 2).
 */
extern double dp_normal_tail_inverse(double q);

/*
 * The Mills ratio M(x) = Q(x) / density(x), from about 1/x for large x to
 * Infinity for x below -38.
 */
extern double dp_normal_mills(double x);

/*
 * Two normal laws a distance of width apart, told apart at the point whose
 * distance from the middle between the two is centre:
 *
 *		drop = Q(a) - e^(centre width) Q(b)
 *		a = centre - width / 2, b = centre + width / 2
 *
 * and what its derivatives need.  e^(centre width) Q(b) = density(a) M(b).
 */
typedef struct dp_tail_pair
{
	double		a;
	double		density;		/* at a */
	double		drop;			/* 0 .. 1 */
	double		rest;			/* 1 - drop, without cancellation */
	double		log_drop;		/* ln(drop), also where drop underflows;
								 * -Infinity for a > 1e150 */
	double		second;			/* e^(centre width) Q(b) */
} dp_tail_pair;

/*
 * centre >= 0 as the unevaluated sum centre + centre_low, with centre_low
 * below an ulp of centre; width > 0.  Both finite.
 */
extern void dp_normal_tail_pair(double centre, double centre_low, double width,
								dp_tail_pair *pair);

#endif							/* DP_NORMAL_H */
