/*
 * test_calc_laws.c
 *	  What must hold whatever the arguments: order of the bounds, monotonicity,
 *	  round trips, composition of parts, groups of one, directed rounding; and
 *	  no NaN, for all magnitudes.
 */
#include <float.h>
#include <math.h>

#include "calc/compose.h"
#include "calc/convert.h"
#include "calc/group.h"
#include "calc/rdp.h"
#include "math/zcdp.h"
#include "calc/zcdp_bounds.h"
#include "unit.h"

#define ULP DBL_EPSILON

/* 10^low .. 10^high, evenly in the exponent */
static double
decades(double low, double high)
{
	return pow(10, low + (high - low) * (double) (pseudo() >> 11) * 0x1p-53);
}

/* functions of rho or epsilon, delta and xi, as they are */
typedef double (*three) (double a, double b, double c);

/* Returns the factor by which f magnifies a relative error of an argument, by a difference. */
static double
condition(three f, double a, double b, double c, int which)
{
	const double h = 1e-5;
	double		up = f(which == 0 ? a * (1 + h) : a, which == 1 ? b * (1 + h) : b, c),
				down = f(which == 0 ? a * (1 - h) : a, which == 1 ? b * (1 - h) : b, c);

	return fabs(up - down) / (2 * h * f(a, b, c));
}

/* a = inverse(f(a, b, c), b, c), within 8 units of what that can mean */
static void
round_trip(const char *what, three f, three inverse, double a, double b, double c)
{
	double		y = f(a, b, c);
	double		back = inverse(y, b, c);
	double		allowed = 8 * ULP * (1 + condition(inverse, y, b, c, 0) + condition(inverse, y, b, c, 1)
									 * (1 + condition(f, a, b, c, 1)));

	check(fabs(back - a) <= allowed * a, "%s: %.17g becomes %.17g and then %.17g (%.17g, %.17g)", what, a, y, back, b, c);
}

static double
delta_of_rho(double delta, double epsilon, double rho)
{
	(void) delta;
	return dp_zcdp_delta_tight(rho, epsilon, 0);
}

static void
test_round_trips(void)
{
	int			i;

	for (i = 0; i < 1500; i++)
	{
		double		epsilon = decades(-3, 2),
					delta = decades(-15, -1),
					rho = decades(-7, 2),
					d;

		round_trip("simple", dp_zcdp_rho_simple, dp_zcdp_epsilon_simple, epsilon, delta, 0);
		round_trip("tight", dp_zcdp_rho_tight, dp_zcdp_epsilon_tight, epsilon, delta, 0);
		round_trip("simple back", dp_zcdp_epsilon_simple, dp_zcdp_rho_simple, rho, delta, 0);
		if (dp_zcdp_epsilon_tight(rho, delta, 0) > 0)
			round_trip("tight back", dp_zcdp_epsilon_tight, dp_zcdp_rho_tight, rho, delta, 0);
		/* bs36 is cut off at rho = epsilon */
		if (dp_zcdp_rho_bs36(epsilon, delta, 0) < epsilon)
			round_trip("bs36", dp_zcdp_rho_bs36, dp_zcdp_epsilon_bs36, epsilon, delta, 0);
		if (dp_zcdp_epsilon_bs36(rho, delta, 0) > rho)
			round_trip("bs36 back", dp_zcdp_epsilon_bs36, dp_zcdp_rho_bs36, rho, delta, 0);

		/* delta, whose relative error is its exponent's error */
		epsilon = dp_zcdp_epsilon_tight(rho, delta, 0);
		d = dp_zcdp_delta_tight(rho, epsilon, 0);
		if (epsilon > 0)
			check(fabs(log(d / delta)) <= 8 * ULP * (1 - log(delta) + condition(delta_of_rho, 1, epsilon, rho, 1)),
				  "delta(%.17g, %.17g) = %.17g, not %.17g", rho, epsilon, d, delta);
	}
}

/* a law that holds but for rounding */
#define ORDERED(smaller, larger, slack) \
	do { \
		double s_ = (smaller), l_ = (larger); \
		check(s_ <= l_ * (1 + (slack)), #smaller " = %.17g > " #larger " = %.17g", s_, l_); \
	} while (0)

static void
test_order(void)
{
	int			i;

	for (i = 0; i < 1500; i++)
	{
		double		rho = decades(-9, 3),
					delta = decades(-18, -0.01),
					xi = pseudo() % 2 ? decades(-4, 1) : 0,
					epsilon = xi + rho + decades(-3, 1.2) * sqrt(rho),
					slack = 64 * ULP,
					steep = slack * (1 - log(fmax(dp_zcdp_delta_simple(rho, epsilon, xi), 1e-300))) * (1 + xi / (epsilon - xi));

		/* steep: of an exponential */
		ORDERED(dp_zcdp_epsilon_tight(rho, delta, xi), dp_zcdp_epsilon_bs36(rho, delta, xi), slack);
		ORDERED(dp_zcdp_epsilon_bs36(rho, delta, xi), dp_zcdp_epsilon_simple(rho, delta, xi), slack);
		ORDERED(dp_zcdp_epsilon_bs36(rho, delta, xi), dp_zcdp_epsilon_bs36_closed(rho, delta, xi), slack);
		ORDERED(dp_zcdp_delta_tight(rho, epsilon, xi), dp_zcdp_delta_bs36(rho, epsilon, xi), steep);
		ORDERED(dp_zcdp_delta_bs36(rho, epsilon, xi), dp_zcdp_delta_simple(rho, epsilon, xi), steep);
		ORDERED(dp_zcdp_rho_simple(epsilon, delta, 0), dp_zcdp_rho_bs36(epsilon, delta, 0), slack);
		ORDERED(dp_zcdp_rho_bs36(epsilon, delta, 0), dp_zcdp_rho_tight(epsilon, delta, 0), slack);

		ORDERED(dp_pure_to_zcdp(epsilon), dp_pure_to_zcdp_standard(epsilon), slack);
		ORDERED(dp_laplace_to_zcdp(epsilon), dp_pure_to_zcdp(epsilon), slack);
		ORDERED(dp_bounded_range_to_zcdp_kl(epsilon), dp_bounded_range_to_zcdp(epsilon), slack);
		ORDERED(dp_group_approx_delta(xi, delta, 7), dp_group_approx_delta_standard(xi, delta, 7), slack * (1 + 7 * xi));
		ORDERED(dp_compose_advanced_kov(rho, delta, 9), dp_compose_advanced_dr16(rho, delta, 9), slack);
		ORDERED(dp_compose_advanced_kov(rho, delta, 9), 9 * rho, slack);
		ORDERED(dp_compose_advanced_kov(rho, delta, 5), dp_compose_advanced_list((double[]) {rho, rho, rho, rho, rho}, 5, delta), slack);
		ORDERED(dp_compose_advanced_list((double[]) {rho, rho, rho, rho, rho}, 5, delta), dp_compose_advanced_kov(rho, delta, 5), slack);
		ORDERED(dp_compose_advanced_delta(fmin(xi, 1), delta, 9), fmin(1, 9 * xi + delta), slack);
		ORDERED(dp_compose_advanced_dr16(rho, delta, 9), dp_compose_advanced_drv10(rho, delta, 9), slack);
		ORDERED(dp_rdp_epsilon(1 + rho, xi, delta), dp_rdp_epsilon_improved(1 + rho, xi, delta), slack * (1 + 1 / rho));
		ORDERED(dp_rdp_epsilon_improved(1 + rho, xi, delta), dp_rdp_epsilon_simple(1 + rho, xi, delta), slack);
		ORDERED(dp_rdp_delta(1 + rho, xi, epsilon), dp_rdp_delta_improved(1 + rho, xi, epsilon) + DBL_MIN, 1e-11);
		ORDERED(dp_rdp_delta_improved(1 + rho, xi, epsilon), dp_rdp_delta_simple(1 + rho, xi, epsilon), 1e-11);
		/* and back */
		if (xi > 0 && dp_rdp_epsilon(1 + rho, xi, delta) > 0)
			ORDERED(dp_rdp_delta(1 + rho, xi, dp_rdp_epsilon(1 + rho, xi, delta)), delta, 1e-9 * (1 + 1 / rho));

		/* the tight bound is the best order of the curve */
		ORDERED(dp_zcdp_epsilon_tight(rho, delta, xi),
				dp_rdp_epsilon_improved(1 + rho, dp_zcdp_to_rdp(1 + rho, rho, xi), delta), 1e-13 * (1 + 1 / rho));
		/* pure privacy is below its zCDP at every order */
		ORDERED(dp_pure_to_rdp(1 + rho, xi), dp_zcdp_to_rdp(1 + rho, dp_pure_to_zcdp(xi), 0), slack);
	}
}

/* No pair of two outcomes of this order is worse than the tight conversions say, and the worst of a scan nearly is as bad. */
static void
test_pairs(void)
{
	for (int i = 0; i < sized(300, 100, 30); i++)
	{
		double		alpha = 1 + decades(-1, 1.5),
					epsilon = decades(-4, 0.5),
					delta = decades(-6, -0.5) / alpha,
					told = dp_rdp_epsilon(alpha, epsilon, delta),
					told_delta = dp_rdp_delta(alpha, epsilon, told),
					worst = 0;

		for (int j = 1; j < 400; j++)
		{
			double		p = delta + (1 - delta) * pow(10, -8 * j / 400.0),
						low = log(p) - epsilon - 60 / (alpha - 1) - 3,
						high = log(p);

			/* the least q whose divergence is epsilon at most */
			for (int k = 0; k < 50; k++)
			{
				double		log_q = 0.5 * (low + high),
							other = p < 1 ? exp(alpha * log1p(-p) - (alpha - 1) * log1p(-exp(log_q))) : 0;

				if (log(exp(alpha * log(p) - (alpha - 1) * log_q) + other) > (alpha - 1) * epsilon)
					low = log_q;
				else
					high = log_q;
			}
			worst = fmax(worst, log(p - delta) - high);
			check(told_delta >= (p - exp(told + high)) * (1 - 1e-9) - 1e-12, "order %.17g, epsilon %.17g: at %.17g delta %.17g of p %.17g",
				  alpha, epsilon, told, p - exp(told + high), p);
		}
		check(worst <= told + 1e-9 * (1 + told), "order %.17g, epsilon %.17g, delta %.17g: %.17g, a pair has %.17g", alpha, epsilon, delta, told, worst);
		check(worst >= told - 0.01 * (1 + told), "order %.17g, epsilon %.17g, delta %.17g: %.17g, the worst pair has %.17g", alpha, epsilon, delta, told, worst);
	}
}

/* f rises (sign 1) or falls (sign -1) with its argument number which */
static void
monotone(const char *what, three f, double a, double b, double c, int which, int sign)
{
	double		factor = 1 + decades(-6, 0);
	double		low = f(a, b, c);
	double		high = f(which == 0 ? a * factor : a, which == 1 ? fmin(b * factor, 1e300) : b, which == 2 ? c * factor : c);
	double		slack = 1e-13 * (1 + (low > 0 && low < 1 ? -log(low) : 0)) * (1 + c);

	if (low < 0 || high < 0 || (low < 1e-300 && high < 1e-300))
		return;
	check(sign * (high - low) >= -slack * fmax(low, high), "%s(%.17g, %.17g, %.17g) = %.17g, then %.17g with argument %d times %.17g",
		  what, a, b, c, low, high, which + 1, factor);
}

static double
mcdp_epsilon(double a, double b, double c)
{
	return dp_mcdp_epsilon(a, c, b);
}

static double
advanced(double a, double b, double c)
{
	return dp_compose_advanced_kov(a, b, 1 + (int64_t) c);
}

static double
group_delta(double a, double b, double c)
{
	return dp_group_approx_delta(a, b, 1 + (int64_t) c);
}

static double
pure_rdp(double a, double b, double c)
{
	(void) c;
	return dp_pure_to_rdp(1 + a, b);
}

static double
rdp_epsilon(double a, double b, double c)
{
	return dp_rdp_epsilon(1 + c, a, b);
}

static double
one_argument(double a, double b, double c)
{
	(void) c;
	return b < 1e-9 ? dp_pure_to_zcdp(a) : b < 1e-6 ? dp_laplace_to_zcdp(a) :
		b < 1e-3 ? dp_bounded_range_to_zcdp(a) : dp_bounded_range_to_zcdp_kl(a);
}

static void
test_monotone(void)
{
	static const struct
	{
		const char *what;
		three		f;
		int			sign[3];
	}			laws[] =
	{
		{"epsilon_simple", dp_zcdp_epsilon_simple, {1, -1, 1}},
		{"epsilon_bs36", dp_zcdp_epsilon_bs36, {1, -1, 1}},
		{"epsilon_bs36_closed", dp_zcdp_epsilon_bs36_closed, {1, -1, 1}},
		{"epsilon_tight", dp_zcdp_epsilon_tight, {1, -1, 1}},
		{"rho_simple", dp_zcdp_rho_simple, {1, 1, -1}},
		{"rho_bs36", dp_zcdp_rho_bs36, {1, 1, -1}},
		{"rho_tight", dp_zcdp_rho_tight, {1, 1, -1}},
		{"mcdp_epsilon", mcdp_epsilon, {1, -1, 1}},
		{"advanced", advanced, {1, -1, 1}},
		{"group_approx_delta", group_delta, {1, 1, 1}},
		{"pure_to_rdp", pure_rdp, {1, 1, 0}},
		{"rdp_epsilon", rdp_epsilon, {1, -1, 0}},
		{"one argument", one_argument, {1, 0, 0}},
	};
	int			i;
	size_t		l;

	for (i = 0; i < 1000; i++)
	{
		double		a = decades(-6, 2),
					b = decades(-15, -0.5),
					c = decades(-4, 1);

		for (l = 0; l < sizeof(laws) / sizeof(laws[0]); l++)
		{
			int			which;

			for (which = 0; which < 3; which++)
				if (laws[l].sign[which] != 0)
					monotone(laws[l].what, laws[l].f, a, b, c, which, laws[l].sign[which]);
		}
		/* functions whose second argument is an epsilon, not a delta */
		b = c + a + decades(-3, 1) * sqrt(a);
		monotone("delta_simple", dp_zcdp_delta_simple, a, b, c, 0, 1);
		monotone("delta_simple", dp_zcdp_delta_simple, a, b, c, 1, -1);
		monotone("delta_bs36", dp_zcdp_delta_bs36, a, b, c, 0, 1);
		monotone("delta_bs36", dp_zcdp_delta_bs36, a, b, c, 1, -1);
		monotone("delta_bs36", dp_zcdp_delta_bs36, a, b, c, 2, 1);
		monotone("delta_tight", dp_zcdp_delta_tight, a, b, c, 0, 1);
		monotone("delta_tight", dp_zcdp_delta_tight, a, b, c, 1, -1);
		monotone("delta_tight", dp_zcdp_delta_tight, a, b, c, 2, 1);
	}
}

static void
check_near(double a, double b, double ulps, const char *what)
{
	check(fabs(a - b) <= ulps * ULP * fabs(b), "%s: %.17g, not %.17g", what, a, b);
}

static void
test_parts(void)
{
	enum
	{
		MOST = 40
	};
	double		x[MOST],
				y[MOST],
				deltas[MOST];
	int			round;

	for (round = 0; round < 300; round++)
	{
		int			n = 2 + (int) (pseudo() % (MOST - 1));
		int			half = (int) (pseudo() % (n + 1));
		DpNorm		left = {0},
					right = {0};
		DpSum		sum_left = {0},
					sum_right = {0};
		double		part[4],
					sum[2],
					k;
		int			i;

		for (i = 0; i < n; i++)
		{
			x[i] = decades(-12, 3);
			y[i] = decades(-4, 4);
			deltas[i] = decades(-17, -0.1);
			dp_norm_add(i < half ? &left : &right, y[i]);
			dp_sum_add(i < half ? &sum_left : &sum_right, dp_delta_log(deltas[i]));
		}
		/* halves, as lists and as merged states */
		dp_compose_zcdp(x, y, half, &part[0], &part[1]);
		dp_compose_zcdp(x + half, y + half, n - half, &part[2], &part[3]);
		dp_compose_zcdp(x, y, n, &sum[0], &sum[1]);
		check_near(part[0] + part[2], sum[0], 3, "rho of halves");
		check_near(part[1] + part[3], sum[1], 3, "xi of halves");
		dp_compose_mcdp(x, y, half, &part[0], &part[1]);
		dp_compose_mcdp(x + half, y + half, n - half, &part[2], &part[3]);
		dp_compose_mcdp(x, y, n, &sum[0], &sum[1]);
		check_near(part[0] + part[2], sum[0], 3, "mu of halves");
		check_near(hypot(part[1], part[3]), sum[1], 4, "tau of halves");
		part[0] = dp_compose_gdp(y, half);
		part[1] = dp_compose_gdp(y + half, n - half);
		check_near(dp_compose_gdp(part, 2), dp_compose_gdp(y, n), 4, "GDP of halves");
		dp_norm_merge(&left, &right);
		check_near(dp_norm_total(&left), dp_compose_gdp(y, n), 2, "GDP of merged halves");
		part[0] = dp_compose_delta(deltas, half);
		part[1] = dp_compose_delta(deltas + half, n - half);
		check_near(1 - dp_compose_delta(part, 2), 1 - dp_compose_delta(deltas, n), 8 / (1 - dp_compose_delta(deltas, n)), "delta of halves");
		dp_sum_merge(&sum_left, &sum_right);
		check_near(dp_delta_total(&sum_left), dp_compose_delta(deltas, n), 4, "delta of merged halves");

		/* equal ones */
		for (i = 0; i < n; i++)
			deltas[i] = deltas[0];
		check_near(dp_compose_delta_k(deltas[0], n), dp_compose_delta(deltas, n), 4, "n times delta");

		/* groups of groups, and of one */
		dp_group_mcdp(x[0], y[0], n, &part[0], &part[1]);
		dp_group_mcdp(part[0], part[1], half + 1, &part[2], &part[3]);
		dp_group_mcdp(x[0], y[0], (int64_t) n * (half + 1), &sum[0], &sum[1]);
		check_near(part[2], sum[0], 4, "mu of a group of groups");
		check_near(part[3], sum[1], 2, "tau of a group of groups");
		dp_group_zcdp(x[0], 1, y[0], &part[0], &part[1]);
		check(part[0] == x[0] && part[1] == y[0], "zCDP of a group of one");
		dp_group_mcdp(x[0], y[0], 1, &part[0], &part[1]);
		check(part[0] == x[0] && part[1] == y[0], "mCDP of a group of one");
		dp_gaussian_mcdp(x[0], y[0], &part[0], &part[1]);
		dp_group_gaussian(x[0], y[0], 1, &part[2], &part[3]);
		check(part[0] == part[2] && part[1] == part[3], "Gaussian noise and a group of one");
		check(dp_group_gdp(x[0], 1) == x[0] && dp_group_pure(x[0], 1) == x[0], "a group of one");
		check(dp_group_approx_delta(x[0], deltas[0], 1) == deltas[0] &&
			  dp_group_approx_delta_standard(x[0], deltas[0], 1) == deltas[0], "delta of a group of one");
		/* the series of harmonic numbers continues their sum */
		k = 30 + round;
		dp_group_zcdp(1, (int64_t) k, 1, &part[0], &part[1]);
		dp_group_zcdp(1, (int64_t) k + 1, 1, &part[2], &part[3]);
		check(fabs(part[3] / (k + 1) - part[1] / k - 1 / (k + 1)) < 8 * 7 * ULP, "harmonic number of %g", k);
	}

	/* a list of one is itself, at any magnitude */
	x[0] = DBL_MAX;
	y[0] = 5e-324;
	check(dp_compose_gdp(x, 1) == DBL_MAX && dp_compose_gdp(y, 1) == 5e-324, "GDP of one");
	x[1] = DBL_MAX;
	check(dp_compose_gdp(x, 2) == HUGE_VAL && dp_compose_rdp(x, 2) == HUGE_VAL, "sums beyond doubles");
	/* terms that a plain sum would lose */
	x[0] = 1;
	for (round = 1; round < MOST; round++)
		x[round] = 0.5 * ULP;
	check(dp_compose_rdp(x, MOST) == 1 + 20 * ULP, "small terms");
}

/* the least ln delta over all orders, in long double: to some 1e-18 of its terms */
static long double
long_log_delta(long double rho, long double epsilon)
{
	const long double golden = 0.61803398874989484820L;
	long double a = -60,
				b = 60,
				value[2],
				u[2];
	int			i;

	for (i = 0; i < 110; i++)
	{
		int			j;

		u[0] = b - golden * (b - a);
		u[1] = a + golden * (b - a);
		for (j = 0; j < 2; j++)
		{
			long double t = expl(u[j]);

			value[j] = t * ((1 + t) * rho - epsilon) - t * log1pl(1 / t) - log1pl(t);
		}
		if (value[0] < value[1])
			b = u[1];
		else
			a = u[0];
	}
	return value[0];
}

/*
 * What a budget hangs on: the rho derived from (epsilon, delta) satisfies it,
 * and so does the epsilon reported for a rho.
 */
static void
test_directed(void)
{
	int			i;

	for (i = 0; i < 400; i++)
	{
		double		epsilon = decades(-3, 2),
					delta = decades(-17, -0.5),
					rho = decades(-7, 2),
					x;
		long double slack = 1e-17L * (1 - logl(delta) + rho + epsilon);

		x = dp_zcdp_rho_down(epsilon, delta);
		check(long_log_delta(x, epsilon) <= logl(delta) + slack, "rho_down(%.17g, %.17g) = %.17g is too large", epsilon, delta, x);
		check(x >= dp_zcdp_rho_tight(epsilon, delta, 0) * (1 - 1e-13 * (1 - log(delta))), "rho_down(%.17g, %.17g) is far below", epsilon, delta);
		x = dp_zcdp_epsilon_up(rho, delta);
		check(long_log_delta(rho, x) <= logl(delta) + slack, "epsilon_up(%.17g, %.17g) = %.17g is too small", rho, delta, x);
	}
}

/* every function at every magnitude: never NaN, never below 0 */
static void
test_sweep(void)
{
	static const double v[] = {0, 5e-324, DBL_MIN, 1e-300, 1e-155, 1e-100, 1e-18, 1e-6, 0.1, 0.5, 1 - DBL_EPSILON / 2, 1,
	1 + DBL_EPSILON, 2, 36, 700, 745, 1e6, 1e16, 1e100, 1e155, 1e300, DBL_MAX};
	static const int64_t ks[] = {1, 2, 1000, INT64_MAX};
	const int	n = sizeof(v) / sizeof(v[0]);
	int			i,
				j,
				l;

#define SOUND(f, expression) \
	do { \
		double r_ = (expression); \
		check(r_ >= 0, f "(%g, %g, %g) = %g", a, b, c, r_); \
	} while (0)
#define PAIR(f, call) \
	do { \
		double p_, q_; \
		call; \
		check(p_ >= 0 && q_ >= 0, f "(%g, %g, %g) = %g, %g", a, b, c, p_, q_); \
	} while (0)
#define NO_NAN(f, expression) \
	do { \
		double r_ = (expression); \
		check(r_ >= 0 || r_ == DP_NO_ANSWER, f "(%g, %g, %g) = %g", a, b, c, r_); \
	} while (0)

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (l = 0; l < n; l++)
			{
				double		a = v[i],
							b = v[j],
							c = v[l];
				int64_t		k = ks[l % 4];

				SOUND("delta_simple", dp_zcdp_delta_simple(a, b, c));
				SOUND("delta_bs36", dp_zcdp_delta_bs36(a, b, c));
				SOUND("delta_tight", dp_zcdp_delta_tight(a, b, c));
				SOUND("mcdp_delta", dp_mcdp_delta(a, b, c));
				PAIR("zcdp_to_mcdp", dp_zcdp_to_mcdp(a, b, &p_, &q_));
				PAIR("group_zcdp", dp_group_zcdp(a, k, b, &p_, &q_));
				PAIR("group_mcdp", dp_group_mcdp(a, b, k, &p_, &q_));
				if (b <= 1)
				{
					SOUND("epsilon_simple", dp_zcdp_epsilon_simple(a, b, c));
					SOUND("epsilon_bs36", dp_zcdp_epsilon_bs36(a, b, c));
					SOUND("epsilon_bs36_closed", dp_zcdp_epsilon_bs36_closed(a, b, c));
					SOUND("epsilon_tight", dp_zcdp_epsilon_tight(a, b, c));
					NO_NAN("rho_simple", dp_zcdp_rho_simple(a, b, c));
					NO_NAN("rho_bs36", dp_zcdp_rho_bs36(a, b, c));
					NO_NAN("rho_tight", dp_zcdp_rho_tight(a, b, c));
					SOUND("mcdp_epsilon", dp_mcdp_epsilon(a, c, b));
					SOUND("approx_delta", dp_approx_zcdp_delta(a, b, c, 0));
					SOUND("group_approx_delta", dp_group_approx_delta(a, b, k));
					SOUND("group_approx_delta_standard", dp_group_approx_delta_standard(a, b, k));
					SOUND("compose_delta_k", dp_compose_delta_k(b, k));
					SOUND("advanced_kov", dp_compose_advanced_kov(a, b, k));
					SOUND("advanced_dr16", dp_compose_advanced_dr16(a, b, k));
					SOUND("advanced_drv10", dp_compose_advanced_drv10(a, b, k));
					SOUND("advanced_list", dp_compose_advanced_list(&a, 1, b));
					if (c <= 1)
						SOUND("approx_epsilon", dp_approx_zcdp_epsilon(a, b, c, 0));
				}
				if (a > 1)
				{
					SOUND("pure_to_rdp", dp_pure_to_rdp(a, b));
					SOUND("zcdp_to_rdp", dp_zcdp_to_rdp(a, b, c));
					SOUND("rdp_delta", dp_rdp_delta(a, b, c));
					SOUND("rdp_delta_improved", dp_rdp_delta_improved(a, b, c));
					SOUND("rdp_delta_simple", dp_rdp_delta_simple(a, b, c));
					if (c <= 1)
					{
						SOUND("rdp_epsilon", dp_rdp_epsilon(a, b, c));
						SOUND("rdp_epsilon_improved", dp_rdp_epsilon_improved(a, b, c));
						SOUND("rdp_epsilon_simple", dp_rdp_epsilon_simple(a, b, c));
					}
					if (c > 0)
						SOUND("gaussian_rdp", dp_gaussian_rdp(a, b, c));
				}
				if (b > 0)
					PAIR("group_gaussian", dp_group_gaussian(a, b, k, &p_, &q_));
			}
	for (i = 0; i < n; i++)
	{
		double		a = v[i],
					b = 0,
					c = 0;

		SOUND("pure_to_zcdp", dp_pure_to_zcdp(a));
		SOUND("laplace_to_zcdp", dp_laplace_to_zcdp(a));
		SOUND("bounded_range_to_zcdp", dp_bounded_range_to_zcdp(a));
		SOUND("bounded_range_to_zcdp_kl", dp_bounded_range_to_zcdp_kl(a));
		PAIR("pure_to_mcdp", dp_pure_to_mcdp_standard(a, &p_, &q_));
	}
}

void
calc_laws_tests(void)
{
	RUN(test_round_trips);
	RUN(test_order);
	RUN(test_pairs);
	RUN(test_monotone);
	RUN(test_parts);
	RUN(test_directed);
	RUN(test_sweep);
}
