/*
 * test_moments.c
 *	  Statistics from noisy moments: recovered without noise, feasible
 *	  whatever comes, standard deviations against simulation, weights against
 *	  brute force over the textbook formulae.
 *
 * Simulations have a generator of their own with a fixed seed; were it a
 * random one, they would fail with a probability below 1e-9.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/moments.h"
#include "unit.h"

#define DRAWS		20000
#define MAX_PARTS	DP_MOMENTS
#define POINTS		3000

static uint64_t seed;

/* evenly in (0, 1) */
static double
even(void)
{
	uint64_t	z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double) ((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
}

static double
within(double low, double high)
{
	return low + (high - low) * even();
}

static double
normal(void)
{
	double		radius = sqrt(-2 * log(even()));

	return radius * cos(2 * 3.14159265358979323846 * even());
}

static const char *const names[DP_STATISTICS] = {
	"avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp", "covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept"
};

/* n rows with these means, variances and covariance */
typedef struct Law
{
	double		n,
				t,
				u,
				v,
				w,
				c;
} Law;

static void
sums_of(dp_statistic stat, const Law *law, double *sums)
{
	double		mean[DP_MOMENTS];
	int			nparts;
	const dp_moment_part *part = dp_moment_parts(stat, &nparts);
	int			i;

	mean[DP_MOMENT_N] = 1;
	mean[DP_MOMENT_T] = law->t;
	mean[DP_MOMENT_T2] = 2 * (law->v + law->t * law->t) - 1;
	mean[DP_MOMENT_U] = law->u;
	mean[DP_MOMENT_U2] = 2 * (law->w + law->u * law->u) - 1;
	mean[DP_MOMENT_TU] = law->c + law->t * law->u;
	for (i = 0; i < nparts; i++)
		sums[i] = law->n * mean[part[i].moment];
}

/* Sets the deviation of each part's noise, for a column's rho. */
static void
noise_of(dp_statistic stat, double rho, double *sigma)
{
	int			nparts,
				total = 0;
	const dp_moment_part *part = dp_moment_parts(stat, &nparts);
	int			i;

	for (i = 0; i < nparts; i++)
		total += part[i].weight;
	for (i = 0; i < nparts; i++)
		sigma[i] = sqrt(total / (2 * rho * part[i].weight));
}

static void
check_feasible(dp_statistic stat, dp_moment_range t, dp_moment_range u, double value, double stddev)
{
	double		half_t = t.upper / 2 - t.lower / 2,
				half_u = u.upper / 2 - u.lower / 2,
				more = 1 + 1e-14;
	bool		ok = isfinite(value) && isfinite(stddev) && stddev > 0 && !(value == 0 && signbit(value));

	switch (stat)
	{
		case DP_STAT_AVG:
			ok = ok && value >= t.lower && value <= t.upper && stddev <= fmax(half_t, DBL_MIN);
			break;
		case DP_STAT_VAR_POP:
			ok = ok && value >= 0 && value <= half_t * half_t * more + DBL_MIN;
			break;
		case DP_STAT_VAR_SAMP:
			ok = ok && value >= 0 && value <= half_t * half_t * 2 * more + DBL_MIN;
			break;
		case DP_STAT_STDDEV_POP:
			ok = ok && value >= 0 && value <= half_t && stddev <= fmax(half_t / 2, DBL_MIN);
			break;
		case DP_STAT_STDDEV_SAMP:
			ok = ok && value >= 0 && value <= sqrt(2) * half_t * more;
			break;
		case DP_STAT_COVAR_POP:
			ok = ok && fabs(value) <= half_t * half_u * more + DBL_MIN;
			break;
		case DP_STAT_COVAR_SAMP:
			ok = ok && fabs(value) <= half_t * half_u * 2 * more + DBL_MIN;
			break;
		case DP_STAT_CORR:
			ok = ok && fabs(value) <= 1 && stddev <= 1;
			break;
		default:
			break;
	}
	check(ok, "%s within %g .. %g and %g .. %g is %.17g +- %.17g", names[stat], t.lower, t.upper, u.lower, u.upper, value, stddev);
}

static void
test_parts(void)
{
	int			stat;

	for (stat = 0; stat < DP_STATISTICS; stat++)
	{
		int			nparts = 0;
		const dp_moment_part *part = dp_moment_parts((dp_statistic) stat, &nparts);
		int			i;

		check(part != NULL && nparts >= 2 && nparts <= MAX_PARTS && part[0].moment == DP_MOMENT_N, "%s begins with N", names[stat]);
		for (i = 0; i < nparts; i++)
			check(part[i].weight > 0 && (i == 0 || part[i].moment > part[i - 1].moment), "%s: part %d", names[stat], i);
	}
}

/* values in closed form: Y = 2, 3, 5, 7, 11 and X = 1 .. 5 */
static void
test_exact(void)
{
	static const double y[] = {2, 3, 5, 7, 11};
	static const double values[DP_STATISTICS] = {5.6, 10.24, 12.8, 3.2, 3.5777087639996635, 4.4, 5.5, 0.97227182413150281, 2.2, -1};
	static const dp_moment_range of_y[] = {{0, 16}, {2, 11}, {-1000, 300}, {-12, 12}};
	static const dp_moment_range of_x[] = {{-3, 13}, {1, 5}, {-7, 200}, {0, 500}};
	static const double none[MAX_PARTS];
	int			stat,
				k,
				i,
				row;

	for (k = 0; k < 4; k++)
	{
		dp_moment_range t = of_y[k],
					u = of_x[k];
		double		half_t = (t.upper - t.lower) / 2,
					half_u = (u.upper - u.lower) / 2;

		for (stat = 0; stat < DP_STATISTICS; stat++)
		{
			double		sums[MAX_PARTS] = {0};
			double		value,
						stddev;
			int			nparts;
			const dp_moment_part *part = dp_moment_parts((dp_statistic) stat, &nparts);

			for (row = 0; row < 5; row++)
			{
				double		a = (y[row] - (t.lower + half_t)) / half_t,
							b = (row + 1 - (u.lower + half_u)) / half_u;
				double		moment[DP_MOMENTS];

				moment[DP_MOMENT_N] = 1;
				moment[DP_MOMENT_T] = a;
				moment[DP_MOMENT_T2] = 2 * a * a - 1;
				moment[DP_MOMENT_U] = b;
				moment[DP_MOMENT_U2] = 2 * b * b - 1;
				moment[DP_MOMENT_TU] = a * b;
				for (i = 0; i < nparts; i++)
					sums[i] += moment[part[i].moment];
			}
			dp_moment_value((dp_statistic) stat, sums, none, t, u, &value, &stddev);
			check_feasible((dp_statistic) stat, t, u, value, stddev);
			/* bounds that are wider by 100 cost 4 digits */
			check(fabs(value - values[stat]) <= (k < 2 ? 1e-13 : 1e-9) * fmax(1, fabs(values[stat])),
				  "%s is %.17g, not %.17g, within bounds %d", names[stat], value, values[stat], k);
		}
	}
}

static void
test_extremes(void)
{
	static const double sum[] = {0, -5, 1, 0.4, 1e-300, -1e-320, 1e300, DBL_MAX, -DBL_MAX, 40};
	static const double noise[] = {0, 0.01, 1, 1e-310, 1e300, DBL_MAX};
	static const dp_moment_range range[] = {
		{0, 1}, {5, 5}, {0, 0}, {-1e308, 1e308}, {-DBL_MAX, DBL_MAX}, {1e308, DBL_MAX}, {-5e-324, 5e-324},
		{1e-300, 3e-300}, {1, 1 + DBL_EPSILON}, {-100, -99}
	};
	static const double none[MAX_PARTS];
	static const dp_moment_range unit = {-1, 1};
	static const dp_moment_range same = {3, 3};
	static const dp_moment_range wide = {10, 20};
	Law			one = {1, 0.3, -0.7, 0, 0, 0};
	double		sums[MAX_PARTS],
				sigma[MAX_PARTS];
	double		value,
				stddev;
	int			stat,
				i,
				j,
				k,
				l;

	for (stat = 0; stat < DP_STATISTICS; stat++)
		for (i = 0; i < 10; i++)
			for (j = 0; j < 6; j++)
				for (k = 0; k < 10; k++)
					for (l = 0; l < 40; l++)
					{
						int			part;

						for (part = 0; part < MAX_PARTS; part++)
						{
							sums[part] = part == 0 ? sum[i] : sum[pseudo() % 10];
							sigma[part] = part == 0 ? noise[j] : noise[pseudo() % 6];
						}
						dp_moment_value((dp_statistic) stat, sums, sigma, range[k], range[l % 10], &value, &stddev);
						check_feasible((dp_statistic) stat, range[k], range[l % 10], value, stddev);
					}

	/* one row; no row; bounds that leave one value */
	for (stat = 0; stat < DP_STATISTICS; stat++)
	{
		static const double of_one[DP_STATISTICS] = {0.3, 0, 0, 0, 0, 0, 0, 0, 0, 0.3};
		static const double of_none[DP_STATISTICS] = {15, 12.5, 12.5, 3.5355339059327378, 3.5355339059327378, 0, 0, 0, 0, 15};
		static const double of_same[DP_STATISTICS] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 3};
		int			n;

		sums_of((dp_statistic) stat, &one, sums);
		dp_moment_value((dp_statistic) stat, sums, none, unit, unit, &value, &stddev);
		check(fabs(value - of_one[stat]) < 1e-15, "%s of one row is %.17g", names[stat], value);

		noise_of((dp_statistic) stat, 0.01, sigma);
		for (n = 0; n > -300; n -= 50)
		{
			double		factor = n == -50 ? 2 : sigma[0] / (sigma[0] - 1);

			sums[0] = n;
			dp_moment_value((dp_statistic) stat, sums, n == -50 ? none : sigma, wide, unit, &value, &stddev);
			if (stat == DP_STAT_VAR_SAMP)
				value /= factor;
			else if (stat == DP_STAT_STDDEV_SAMP)
				value /= sqrt(factor);
			check(fabs(value - of_none[stat]) < 1e-14 * 15, "%s of %d rows is %.17g", names[stat], n, value);
		}

		one.n = 50;
		sums_of((dp_statistic) stat, &one, sums);
		dp_moment_value((dp_statistic) stat, sums, none, same, same, &value, &stddev);
		if (stat != DP_STAT_CORR)
			check(value == of_same[stat] && stddev > 0, "%s of one value is %.17g +- %g", names[stat], value, stddev);
	}
}

static double
any_double(void)
{
	uint64_t	bits;
	double		x;

	switch (pseudo() % 4)
	{
		case 0:
			bits = pseudo();
			memcpy(&x, &bits, sizeof(x));
			return x;
		case 1:
			return within(-2, 2);
		case 2:
			return within(-1000, 1000);
		default:
			return (double) (pseudo() % 7) - 3;
	}
}

static dp_moment_range
any_range(void)
{
	dp_moment_range r;
	double		a,
				b;

	do
		a = any_double();
	while (!isfinite(a));
	do
		b = any_double();
	while (!isfinite(b));
	r.lower = fmin(a, b);
	r.upper = fmax(a, b);
	return r;
}

/*
 * Finds what one of 14,000 inputs shows with a probability of 1 - 1e-9
 * (all rounds: one of 48,000, sanitized: one of 4,800).
 */
static void
test_anything(void)
{
	const long	rounds = sized(1000000, 300000, 100000);
	long		k;

	seed = 1;
	for (k = 0; k < rounds; k++)
	{
		dp_statistic stat = (dp_statistic) (pseudo() % DP_STATISTICS);
		dp_moment_range t = any_range(),
					u = any_range();
		double		sums[MAX_PARTS],
					sigma[MAX_PARTS],
					value,
					stddev;
		int			i;

		for (i = 0; i < MAX_PARTS; i++)
		{
			sums[i] = any_double();
			sigma[i] = fabs(any_double());
		}
		dp_moment_value(stat, sums, sigma, t, u, &value, &stddev);
		check_feasible(stat, t, u, value, stddev);
	}
}

/*
 * The delta method's standard deviation is that of 20,000 simulated values
 * within 5 %, ten times the sampling error, and they have no bias beyond 6.2
 * times theirs and the terms of third order in sigma / n.  (The estimate is
 * itself a mean over the draws.)
 */
static void
test_simulation(void)
{
	static const Law laws[] = {
		{3000, 0.3, -0.2, 0.1, 0.1, 0.05},
		{3000, -0.5, 0.4, 0.3, 0.25, -0.2},
		{3000, 0.6, 0.6, 0.2, 0.15, 0.16},
		{5000, 0, 0, 0.33, 0.33, 0},
		{60000, 0.9, -0.8, 0.02, 0.05, 0.01}
	};
	static const dp_moment_range t = {-3, 9};
	static const double none[MAX_PARTS];
	const int	draws = sized(20000, 20000, 5000);
	int			stat,
				k,
				i,
				j;

	seed = 2;
	for (stat = 0; stat < DP_STATISTICS; stat++)
		for (k = 0; k < 5; k++)
		{
			/* an intercept is at an end, or in the middle */
			dp_moment_range u = {k % 2 ? -50 : 0, 50};
			double		truth[MAX_PARTS],
						sums[MAX_PARTS],
						sigma[MAX_PARTS],
						value,
						stddev,
						exact,
						sum = 0,
						squares = 0,
						told = 0;
			int			nparts;

			dp_moment_parts((dp_statistic) stat, &nparts);
			sums_of((dp_statistic) stat, &laws[k], truth);
			noise_of((dp_statistic) stat, 0.05, sigma);
			dp_moment_value((dp_statistic) stat, truth, none, t, u, &exact, &stddev);
			for (j = 0; j < draws; j++)
			{
				for (i = 0; i < nparts; i++)
					sums[i] = truth[i] + sigma[i] * normal();
				dp_moment_value((dp_statistic) stat, sums, sigma, t, u, &value, &stddev);
				sum += value - exact;
				squares += (value - exact) * (value - exact);
				told += stddev;
			}
			sum /= draws;
			squares = sqrt(squares / draws - sum * sum);
			told /= draws;
			check(fabs(told / squares - 1) < 0.05, "%s, law %d: told a standard deviation of %g, found %g", names[stat], k, told, squares);
			check(fabs(sum) < squares * (6.2 / sqrt(draws) + 0.02),
				  "%s, law %d: a bias of %g, standard deviation %g", names[stat], k, sum, squares);
		}
}

/*
 * Tests the parts that are not linear.  Draws come in pairs of opposite noise, which leaves the
 * bias to second order alone: of the statistics that are rid of it nothing
 * may remain, where the textbook formulae have t e^2 or more (e = sigma / n).
 */
static void
test_second_order(void)
{
	static const dp_statistic stats[] = {DP_STAT_AVG, DP_STAT_VAR_POP, DP_STAT_COVAR_POP, DP_STAT_REGR_SLOPE};

	static const Law law = {1e4, 0.7, 0.6, 0.4, 0.5, 0.3};
	static const Law narrow = {1e4, 0, 0, 0.001, 0.3, 0.03};
	static const Law constant = {1000, 0.5, 0.5, 0, 0, 0};
	static const dp_moment_range unit = {-1, 1};
	static const double none[MAX_PARTS];
	const double e = 0.01;
	double		truth[MAX_PARTS],
				sums[MAX_PARTS],
				sigma[MAX_PARTS],
				noise[MAX_PARTS],
				exact,
				value,
				stddev,
				sum,
				squares,
				told;
	int			k,
				i,
				j;

	seed = 6;
	for (k = 0; k < 4; k++)
	{
		sums_of(stats[k], &law, truth);
		dp_moment_value(stats[k], truth, none, unit, unit, &exact, &stddev);
		sum = 0;
		for (j = 0; j < DRAWS; j++)
		{
			int			sign;

			for (i = 0; i < MAX_PARTS; i++)
			{
				sigma[i] = e * law.n;
				noise[i] = sigma[i] * normal();
			}
			for (sign = -1; sign <= 1; sign += 2)
			{
				for (i = 0; i < MAX_PARTS; i++)
					sums[i] = truth[i] + sign * noise[i];
				dp_moment_value(stats[k], sums, sigma, unit, unit, &value, &stddev);
				sum += value - exact;
			}
		}
		sum /= 2 * DRAWS * e * e;
		check(fabs(sum) < 0.12, "%s has a bias of %.3f e^2", names[stats[k]], sum);
	}

	/* a mean near 0, whose noise is squared */
	sums_of(DP_STAT_VAR_POP, &narrow, truth);
	truth[2] += 0.4 * narrow.n;
	sigma[0] = 1;
	sigma[1] = 0.2 * narrow.n;
	sigma[2] = 0.02 * narrow.n;
	sum = squares = 0;
	for (j = 0; j < DRAWS; j++)
	{
		for (i = 0; i < 3; i++)
			sums[i] = truth[i] + sigma[i] * normal();
		dp_moment_value(DP_STAT_VAR_POP, sums, sigma, unit, unit, &value, &stddev);
		sum += value / DRAWS;
		squares += value * value / DRAWS;
	}
	dp_moment_value(DP_STAT_VAR_POP, truth, sigma, unit, unit, &value, &stddev);
	/* less is found, because a mean's square is not taken below 0 */
	told = stddev / sqrt(squares - sum * sum);
	check(told > 0.9 && told < 1.5, "a mean of 0: told %g times what was found", told);

	/* a root near 0 */
	sums_of(DP_STAT_STDDEV_POP, &constant, truth);
	sum = squares = told = 0;
	for (j = 0; j < DRAWS; j++)
	{
		for (i = 0; i < 3; i++)
		{
			sigma[i] = 5;
			sums[i] = truth[i] + sigma[i] * normal();
		}
		dp_moment_value(DP_STAT_STDDEV_POP, sums, sigma, unit, unit, &value, &stddev);
		sum += value / DRAWS;
		squares += value * value / DRAWS;
		told += stddev / DRAWS;
	}
	check(fabs(told / sqrt(squares - sum * sum) - 1) < 0.3, "a root of 0: told %g, found %g", told, sqrt(squares - sum * sum));

	/* a variance below its noise says nothing of a correlation or a slope */
	for (i = 0; i < MAX_PARTS; i++)
		sigma[i] = 0.05 * narrow.n;
	sums_of(DP_STAT_CORR, &narrow, truth);
	dp_moment_value(DP_STAT_CORR, truth, sigma, unit, unit, &value, &stddev);
	check(fabs(value) < 0.5 && stddev > 0.2, "a correlation of %g +- %g", value, stddev);

	/* less than a row, told exactly: 0 rows */
	sums[0] = 0.02;
	sums[1] = 0.01;
	sigma[0] = sigma[1] = 0.01;
	dp_moment_value(DP_STAT_AVG, sums, sigma, unit, unit, &value, &stddev);
	check(fabs(value) < 0.001, "a mean of no row is %g", value);
}

/*
 * With few rows for the noise.  The best that can be said of a mean by one
 * who knows nothing is the middle; the noise's error must be less than what
 * S / max(N, 1) has, and come down to half the bounds' distance or so.
 */
static void
test_few_rows(void)
{
	static const double rows[] = {0, 1, 3, 10};
	static const dp_moment_range unit = {-1, 1};
	double		sigma[MAX_PARTS];
	int			k,
				j;

	seed = 3;
	noise_of(DP_STAT_AVG, 0.1, sigma);
	for (k = 0; k < 4; k++)
	{
		double		ours = 0,
					plain = 0,
					told = 0;

		for (j = 0; j < DRAWS; j++)
		{
			double		sums[2],
						value,
						stddev;

			sums[0] = rows[k] + sigma[0] * normal();
			sums[1] = 0.3 * rows[k] + sigma[1] * normal();
			dp_moment_value(DP_STAT_AVG, sums, sigma, unit, unit, &value, &stddev);
			ours += pow(value - 0.3, 2);
			plain += pow(fmin(fmax(sums[1] / fmax(sums[0], 1), -1), 1) - 0.3, 2);
			told += stddev * stddev;
		}
		check(ours < 0.8 * plain && sqrt(ours / DRAWS) < 0.5 && told > ours, "%g rows: errors of %g, plain ones of %g, told %g", rows[k],
			  sqrt(ours / DRAWS), sqrt(plain / DRAWS), sqrt(told / DRAWS));
	}
}

/* A mean grows with its sum. */
static void
test_monotone(void)
{
	static const dp_moment_range t = {-3, 9};
	double		sums[2],
				sigma[2];
	double		value,
				next,
				stddev;
	int			k;

	seed = 4;
	for (k = 0; k < 10000; k++)
	{
		sums[0] = 1 + pseudo() % 6000;
		sums[1] = sums[0] * within(-1, 1);
		sigma[0] = pow(10, within(-2, 2));
		sigma[1] = pow(10, within(-2, 2));
		dp_moment_value(DP_STAT_AVG, sums, sigma, t, t, &value, &stddev);
		sums[1] += fabs(sums[1]) * even();
		dp_moment_value(DP_STAT_AVG, sums, sigma, t, t, &next, &stddev);
		check(next >= value, "a mean falls from %.17g to %.17g", value, next);
	}
}

/*
 * Weights.  A statistic's slopes are found here by differences of its textbook
 * formula over the sums of one row.
 */
static double
textbook(dp_statistic stat, const double *m)
{
	double		n = m[DP_MOMENT_N],
				t = m[DP_MOMENT_T] / n,
				u = m[DP_MOMENT_U] / n,
				v = (m[DP_MOMENT_T2] / n + 1) / 2 - t * t,
				w = (m[DP_MOMENT_U2] / n + 1) / 2 - u * u,
				c = m[DP_MOMENT_TU] / n - t * u;

	switch (stat)
	{
		case DP_STAT_AVG:
			return t;
		case DP_STAT_VAR_POP:
			return v;
		case DP_STAT_STDDEV_POP:
			return sqrt(v);
		case DP_STAT_COVAR_POP:
			return c;
		case DP_STAT_CORR:
			return c / sqrt(v * w);
		case DP_STAT_REGR_SLOPE:
			return c / w;
		case DP_STAT_REGR_INTERCEPT:
			/* 0 at an end of the bounds */
			return t - c / w * (u + 1);
		default:
			return 0;
	}
}

static void
slopes_at(dp_statistic stat, const Law *law, double *slope)
{
	double		m[DP_MOMENTS],
				sums[MAX_PARTS];
	int			nparts;
	const dp_moment_part *part = dp_moment_parts(stat, &nparts);
	int			i;

	for (i = 0; i < DP_MOMENTS; i++)
		m[i] = -0.5;
	sums_of(stat, law, sums);
	for (i = 0; i < nparts; i++)
		m[part[i].moment] = sums[i];
	for (i = 0; i < nparts; i++)
	{
		double		h = 1e-5,
					at = m[part[i].moment],
					above;

		m[part[i].moment] = at + h;
		above = textbook(stat, m);
		m[part[i].moment] = at - h;
		slope[i] = (above - textbook(stat, m)) / (2 * h);
		m[part[i].moment] = at;
	}
}

/* squares of slopes at many points, and on average */
typedef struct Losses
{
	int			nparts;
	int			points;
	double		square[POINTS][MAX_PARTS];
	double		average[MAX_PARTS];
} Losses;

static double
loss(const double *square, const int *weight, int nparts)
{
	double		sum = 0,
				total = 0;
	int			i;

	for (i = 0; i < nparts; i++)
	{
		sum += square[i] / weight[i];
		total += weight[i];
	}
	return sum * total;
}

static double
worst_loss(const Losses *l, const int *weight)
{
	double		worst = 0;
	int			i;

	for (i = 0; i < l->points; i++)
		worst = fmax(worst, loss(l->square[i], weight, l->nparts));
	return worst;
}

/* the least worst loss over all weights with this sum */
static double
least(const Losses *l, int part, int left, int *weight)
{
	double		best = HUGE_VAL;

	if (part == l->nparts - 1)
	{
		weight[part] = left;
		return worst_loss(l, weight);
	}
	for (weight[part] = 1; weight[part] <= left - (l->nparts - 1 - part); weight[part]++)
		best = fmin(best, least(l, part + 1, left - weight[part], weight));
	return best;
}

static void
add_point(Losses *l, dp_statistic stat, const Law *law)
{
	double		slope[MAX_PARTS];
	int			i;

	slopes_at(stat, law, slope);
	for (i = 0; i < l->nparts; i++)
	{
		l->square[l->points][i] = slope[i] * slope[i];
		l->average[i] += slope[i] * slope[i];
	}
	l->points++;
}

/*
 * A grid of means in [-reach, reach], and of variance (for var), covariance
 * (covar), correlation or slope
 */
static void
tabulate(Losses *l, dp_statistic stat, double reach)
{
	double		a,
				b,
				r;

	memset(l, 0, sizeof(*l));
	dp_moment_parts(stat, &l->nparts);
	for (a = -1; a < 1.01; a += 0.25)
		for (b = -1; b < 1.01; b += 0.25)
			for (r = -1; r < 1.01; r += 0.25)
			{
				Law			law = {1, a * reach, b * reach, 1, 1, r};

				switch (stat)
				{
					case DP_STAT_VAR_POP:
						/* up to what there can be */
						law.v = (1 - law.t * law.t) * (r + 1) / 2;
						break;
					case DP_STAT_COVAR_POP:
						law.c = r / 4;
						if (law.c > fmin((1 - law.t) * (1 + law.u), (1 + law.t) * (1 - law.u)) ||
							-law.c > fmin((1 - law.t) * (1 - law.u), (1 + law.t) * (1 + law.u)))
							continue;
						break;
					case DP_STAT_REGR_INTERCEPT:
						law.w = 1.0 / 3;
						law.c = r / 3;
						break;
					default:
						break;
				}
				add_point(l, stat, &law);
			}
}

static void
check_weights(dp_statistic stat, double reach, int most, double worse, double worse_on_average)
{
	static Losses l;
	const dp_moment_part *part;
	int			nparts,
				i,
				total,
				weight[MAX_PARTS],
				trial[MAX_PARTS];
	double		best = HUGE_VAL,
				sum = 0,
				ours;

	tabulate(&l, stat, reach);
	part = dp_moment_parts(stat, &nparts);
	for (i = 0; i < nparts; i++)
	{
		weight[i] = part[i].weight;
		sum += sqrt(l.average[i]);
	}
	for (total = nparts; total <= most; total++)
		best = fmin(best, least(&l, 0, total, trial));
	ours = worst_loss(&l, weight);
	check(ours <= best * worse * (1 + 1e-8), "%s: weights lose %.4f within %g, others %.4f", names[stat], ours, reach, best);
	ours = loss(l.average, weight, nparts);
	check(ours <= sum * sum * worse_on_average, "%s: weights are %.4f of the best on average within %g", names[stat], ours / (sum * sum), reach);
}

static void
test_weights(void)
{
	int			k;

	/* close to the minimax over all means */
	check_weights(DP_STAT_AVG, 1, 20, 1.125, 1.1);
	check_weights(DP_STAT_VAR_POP, 1, 24, 1.055, 1.1);
	check_weights(DP_STAT_COVAR_POP, 1, 16, 1.094, 1.1);

	/* and in the middle half */
	check_weights(DP_STAT_AVG, 0.5, 20, 1, 1.04);
	check_weights(DP_STAT_VAR_POP, 0.5, 24, 1, 1.1);
	check_weights(DP_STAT_COVAR_POP, 0.5, 20, 1, 1.11);
	check_weights(DP_STAT_CORR, 0.5, 13, 1.1112, 1.06);
	check_weights(DP_STAT_REGR_SLOPE, 0.5, 18, 1.093, 1.07);
	check_weights(DP_STAT_REGR_INTERCEPT, 0.5, 18, 1.125, 1.07);

	/* no rotation of (N, T) has a worst variance below 9/4 / (2 rho) there */
	seed = 5;
	for (k = 0; k < 100000; k++)
	{
		double		a = pow(10, within(-1, 1)),
					d = pow(10, within(-1, 1)),
					b = within(-1, 1) * sqrt(a * d),
					det = a * d - b * b,
					asked,
					worst;

		/* contributions (1, +-1), gradients (-+1/2, 1) */
		asked = (a + d + 2 * fabs(b)) / det;
		worst = a / 4 + d + fabs(b);
		check(asked * worst >= 2.25 * (1 - 1e-12), "a rotation with %.17g", asked * worst);
	}
}

/*
 * Tests what is said of noise before there are answers: against the textbook formulae at the stated values,
 * against what is said of such an answer, and how far other values are from it.
 */
static void
test_noise_before(void)
{
	static const dp_moment_range whole = {-1, 1},
				t = {-3, 9},
				u = {0, 50};
	static const dp_statistic linear[] = {DP_STAT_AVG, DP_STAT_VAR_POP, DP_STAT_COVAR_POP};
	static const double low[] = {0.81, 0.43, 0.65},
				high[] = {1.42, 2.1, 1.9};
	Law			law = {1, -0.5, -0.5, 0.25, 0.25, 0};
	double		sigma[MAX_PARTS],
				sums[MAX_PARTS],
				slope[MAX_PARTS],
				value,
				stddev;
	int			stat,
				nparts,
				i;

	for (stat = 0; stat < DP_STATISTICS; stat++)
	{
		/* y = u + 1 */
		dp_moment_range range = stat == DP_STAT_REGR_INTERCEPT ? (dp_moment_range) {0, 2} : whole;
		double		sum = 0;

		dp_moment_parts((dp_statistic) stat, &nparts);
		noise_of((dp_statistic) stat, 0.01, sigma);
		law.n = 1;
		if (stat != DP_STAT_VAR_SAMP && stat != DP_STAT_STDDEV_SAMP && stat != DP_STAT_COVAR_SAMP)
		{
			slopes_at((dp_statistic) stat, &law, slope);
			for (i = 0; i < nparts; i++)
				sum += pow(slope[i] * sigma[i], 2);
			value = dp_moment_noise((dp_statistic) stat, sigma, whole, range);
			check(fabs(value / sqrt(sum) - 1) < 1e-6, "%s: noise of %g / n, not %g", names[stat], value, sqrt(sum));
		}
		law.n = 1e9;
		sums_of((dp_statistic) stat, &law, sums);
		dp_moment_value((dp_statistic) stat, sums, sigma, t, u, &value, &stddev);
		value = dp_moment_noise((dp_statistic) stat, sigma, t, u);
		check(fabs(value / (stddev * law.n) - 1) < 1e-3, "%s: noise of %g / n before, %g after", names[stat], value, stddev * law.n);
		for (i = 0; i < nparts; i++)
			sigma[i] = DBL_MAX;
		value = dp_moment_noise((dp_statistic) stat, sigma, (dp_moment_range) {5, 5}, (dp_moment_range) {-DBL_MAX, DBL_MAX});
		check(isfinite(value) && value > 0, "%s: noise of %g / n for bounds of all kinds", names[stat], value);
	}

	/* the ends of what a mean, variance or covariance may have */
	law.n = 1e9;
	for (i = 0; i < 3; i++)
	{
		double		least = HUGE_VAL,
					most = 0;

		noise_of(linear[i], 0.01, sigma);
		for (law.t = -1; law.t < 1.01; law.t += 0.125)
			for (law.u = -1; law.u < 1.01; law.u += 0.125)
			{
				law.v = (1 - law.t * law.t) / 2;
				law.w = (1 - law.u * law.u) / 2;
				sums_of(linear[i], &law, sums);
				dp_moment_value(linear[i], sums, sigma, whole, whole, &value, &stddev);
				least = fmin(least, stddev * law.n);
				most = fmax(most, stddev * law.n);
			}
		value = dp_moment_noise(linear[i], sigma, whole, whole);
		check(least / value > low[i] && most / value < high[i], "%s: noise of %g / n, but %g to %g", names[linear[i]], value, least, most);
	}
}

void
moments_tests(void)
{
	RUN(test_parts);
	RUN(test_exact);
	RUN(test_extremes);
	RUN(test_anything);
	RUN(test_simulation);
	RUN(test_second_order);
	RUN(test_few_rows);
	RUN(test_monotone);
	RUN(test_noise_before);
	/* arithmetic of the test's own */
	if (!SANITIZED)
		RUN(test_weights);
}
