/*-------------------------------------------------------------------------
 *
 * tail_pair.c
 *	  The difference of two normal tails that privacy is made of.
 *
 * Invariants: no difference of two nearly equal numbers is ever taken.  Near 0
 * the drop comes from Hermite polynomials; from DP_TAYLOR_FROM on from the
 * Taylor coefficients z_n of the Mills ratio M (head of math/normal.c), with
 * which M(c - h) - M(c + h) is 2 (z_1 h + z_3 h^3 + ...), a sum of positive
 * terms.  delta is right to some 10 units in the last place from 1e-300 to 1.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "calc/tail_pair.h"
#include "math/normal_core.h"

/* Returns the density at high + low. */
static double
density(double high, double low)
{
	double		tail;
	double		head;

	if (fabs(high) > DP_NORMAL_FAR)
		return 0;
	head = dp_half_square(high, low, &tail);
	return DP_INV_SQRT_2PI * exp(-head) * (1 - tail);
}

double
dp_normal_density(double x)
{
	return density(x, 0);
}

double
dp_normal_tail(double x)
{
	return dp_normal_tail_of_sum(x, 0);
}

/*
 * Returns the drop for centre < DP_TAYLOR_FROM and width <= 1, as P[a < N(0,1)
 * < b] - (e^(centre width) - 1) Q(b).  The difference is at least a sixth of
 * its parts.  The first is the Taylor series around the centre, with Hermite
 * polynomials.
 */
static double
drop_near(double centre, double width, double *second)
{
	double		h = 0.5 * width;
	double		tail_b = dp_normal_tail_of_sum(centre + h, 0);
	double		gain = expm1(centre * width);
	double		hermite = 1,
				hermite_next = centre,
				term = 1,
				sum = 1;
	int			n;

	for (n = 1; n <= 12; n++)
	{
		int			m;

		/* He_(m+1) = x He_m - m He_(m-1), twice */
		for (m = 2 * n - 1; m <= 2 * n; m++)
		{
			double		next = centre * hermite_next - m * hermite;

			hermite = hermite_next;
			hermite_next = next;
		}
		term *= h * h / ((2 * n) * (2 * n + 1));
		sum += term * hermite;
		if (fabs(term) < 1e-21)
			break;
	}
	*second = (1 + gain) * tail_b;
	return width * density(centre, 0) * sum - gain * tail_b;
}

/* Returns M(a) - M(b), and M(b) in *mills_b, for centre >= DP_TAYLOR_FROM and width <= 1. */
static double
mills_drop(double centre, double width, double *mills_b)
{
	double		z[DP_MILLS_TERMS];
	int			terms = dp_normal_mills_terms(centre, z);
	double		h = 0.5 * width;
	double		h2 = h * h;
	double		odd = 0,
				even = 0;
	int			i;

	for (i = (terms - 1) / 2; i >= 0; i--)
	{
		odd = odd * h2 + z[2 * i + 1];
		even = even * h2 + z[2 * i];
	}
	*mills_b = even - h * odd;
	return width * odd;
}

void
dp_normal_tail_pair(double centre, double centre_low, double width, dp_tail_pair *pair)
{
	double		h = 0.5 * width;
	double		a = centre - h;
	double		b = centre + h;
	double		a_low = (centre - (a + (centre - a))) + ((centre - a) - h) + centre_low;

	pair->a = a;
	pair->density = density(a, a_low);
	if (width <= 1 && centre < DP_TAYLOR_FROM)
	{
		pair->drop = drop_near(centre, width, &pair->second);
		pair->log_drop = log(pair->drop);
	}
	else if (a >= DP_MILLS_FROM || (width <= 1 && centre >= DP_TAYLOR_FROM))
	{
		double		mills_b;
		double		drop;

		if (a > 1e150)
		{
			pair->drop = pair->second = 0;
			pair->rest = 1;
			pair->log_drop = -HUGE_VAL;
			return;
		}
		if (centre >= 1e8)
		{
			/* M is 1/x by now */
			mills_b = 1 / b;
			drop = width / a / b;
		}
		else if (width <= 1)
			drop = mills_drop(centre, width, &mills_b);
		else
		{
			mills_b = dp_normal_mills(b);
			drop = dp_normal_mills(a) - mills_b;
		}
		pair->drop = pair->density * drop;
		pair->second = pair->density * mills_b;
		if (pair->drop >= 1e-290)
			pair->log_drop = log(pair->drop);
		else
		{
			double		tail;
			double		head = dp_half_square(a, a_low, &tail);

			pair->log_drop = log(drop) - DP_LOG_SQRT_2PI - tail - head;
		}
	}
	else
	{
		if (b < DP_MILLS_FROM)
			pair->second = exp(centre * width) * dp_normal_tail_of_sum(b, 0);
		else
			pair->second = pair->density * dp_normal_mills(b);
		pair->drop = dp_normal_tail_of_sum(a, a_low) - pair->second;
		if (pair->drop < 0)
			pair->drop = 0;
		pair->log_drop = log(pair->drop);
	}
	if (pair->drop > 1)
		pair->drop = 1;
	pair->rest = pair->drop > 0.5 ? dp_normal_tail_of_sum(-a, -a_low) + pair->second : 1 - pair->drop;
}
