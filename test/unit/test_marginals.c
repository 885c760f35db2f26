/*
 * test_marginals.c
 *	  Noisy marginals against dense least squares, and laws that hold for any.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/marginals.h"
#include "unit.h"

#define MOST_CELLS 64

typedef struct known_marginals
{
	const char *name;
	int			naxes;
	int64_t		size[4];
	int			n;
	uint32_t	axes[8];
	double		information[8];
	double		variance[8];
	int			has_tables;		/* all marginals were asked */
	int			values[MOST_CELLS];
	double		estimate[MOST_CELLS];
} known_marginals;

#include "known_marginals.h"

static dp_marginals
of_known(const known_marginals *k)
{
	dp_marginals m = {.naxes = k->naxes,.n = k->n};

	memcpy(m.size, k->size, k->naxes * sizeof(int64_t));
	memcpy(m.axes, k->axes, k->n * sizeof(uint32_t));
	memcpy(m.information, k->information, k->n * sizeof(double));
	return m;
}

static bool
near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b);
}

/* tables, one after the other, each of the marginal's cells */
static void
set_tables(const dp_marginals *m, dp_i128 *all, dp_i128 **values)
{
	for (int a = 0; a < m->n; a++)
	{
		values[a] = all;
		all += (int64_t) dp_marginal_cells(m, m->axes[a]);
	}
}

static void
test_known_tables(const known_marginals *k)
{
	dp_marginals m = of_known(k);
	dp_i128		all[MOST_CELLS];
	dp_i128    *values[8];
	dp_i128		agreed[MOST_CELLS];
	double		work[MOST_CELLS];
	int			i = 0;

	set_tables(&m, all, values);
	for (int a = 0; a < m.n; a++)
		for (int j = 0; j < (int) dp_marginal_cells(&m, m.axes[a]); j++, i++)
			all[i] = k->values[i];
	dp_marginals_agree(&m, values, agreed, work);
	i = 0;
	for (int a = 0; a < m.n; a++)
		for (int j = 0; j < (int) dp_marginal_cells(&m, m.axes[a]); j++, i++)
			check(fabs((double) all[i] - k->estimate[i]) <= pow(2, __builtin_popcount(m.axes[a])) / 2 + 1e-9,
				  "%s: %g is not near the least squares estimate %.17g", k->name, (double) all[i], k->estimate[i]);
}

static void
test_known(void)
{
	for (int c = 0; c < (int) (sizeof(known) / sizeof(*known)); c++)
	{
		const known_marginals *k = &known[c];
		dp_marginals m = of_known(k);

		for (int a = 0; a < m.n; a++)
		{
			double		v = dp_marginal_variance(&m, m.axes[a]);

			check(near(v, k->variance[a], 1e-12), "%s: variance %d is %.17g", k->name, a, v);
			check(v * m.information[a] <= 1 + 1e-14, "%s: marginal %d is noisier", k->name, a);
		}
		if (k->has_tables)
			test_known_tables(k);
	}
}

/* a random set of marginals, half of them with a finest */
static dp_marginals
random_marginals(void)
{
	dp_marginals m = {.naxes = 1 + (int) (pseudo() % 4)};

	for (int i = 0; i < m.naxes; i++)
		m.size[i] = 1 + (int64_t) (pseudo() % 6);
	m.n = 1 + (int) (pseudo() % 8);
	for (int a = 0; a < m.n; a++)
	{
		m.axes[a] = (uint32_t) (pseudo() % (1u << m.naxes));
		m.information[a] = exp((double) (pseudo() % 1000) / 100 - 5);
	}
	if (pseudo() % 2)
		m.axes[m.n - 1] = (1u << m.naxes) - 1;
	return m;
}

/* Returns the sums of a table by some of its marginal's axes. */
static dp_i128 *
sums_by(const dp_marginals *m, int marginal, const dp_i128 *values, uint32_t by)
{
	int64_t		cells = (int64_t) dp_marginal_cells(m, m->axes[marginal]);
	dp_i128    *sum = calloc((size_t) dp_marginal_cells(m, by), sizeof(dp_i128));

	for (int64_t c = 0; c < cells; c++)
	{
		int64_t		rest = c;
		int64_t		place = 0;
		int64_t		step = 1;

		for (int i = m->naxes - 1; i >= 0; i--)
		{
			int64_t		at;

			if (!(m->axes[marginal] & (1u << i)))
				continue;
			at = rest % m->size[i];
			rest /= m->size[i];
			if (by & (1u << i))
			{
				place += at * step;
				step *= m->size[i];
			}
		}
		sum[place] += values[c];
	}
	return sum;
}

/* Returns whether any two tables have the same sums by the axes that both have. */
static bool
tables_agree(const dp_marginals *m, dp_i128 **values)
{
	for (int a = 0; a < m->n; a++)
		for (int b = 0; b < a; b++)
		{
			uint32_t	by = m->axes[a] & m->axes[b];
			dp_i128    *one = sums_by(m, a, values[a], by);
			dp_i128    *other = sums_by(m, b, values[b], by);
			bool		same = memcmp(one, other, (size_t) dp_marginal_cells(m, by) * sizeof(dp_i128)) == 0;

			free(one);
			free(other);
			if (!same)
				return false;
		}
	return true;
}

/* the sum of squares that least squares makes least */
static double
distance(const dp_marginals *m, dp_i128 **noisy, dp_i128 **agreed)
{
	double		sum = 0;

	for (int a = 0; a < m->n; a++)
		for (int64_t i = (int64_t) dp_marginal_cells(m, m->axes[a]) - 1; i >= 0; i--)
		{
			double		d = (double) (noisy[a][i] - agreed[a][i]);

			sum += m->information[a] * d * d;
		}
	return sum;
}

/* Moves one cell of the table by all axes, which need not be one of them, and all its sums. */
static void
move_cell(const dp_marginals *m, dp_i128 **values, int64_t cell, dp_i128 by)
{
	for (int a = 0; a < m->n; a++)
	{
		int64_t		rest = cell;
		int64_t		place = 0;
		int64_t		step = 1;

		for (int i = m->naxes - 1; i >= 0; i--)
		{
			if (m->axes[a] & (1u << i))
			{
				place += rest % m->size[i] * step;
				step *= m->size[i];
			}
			rest /= m->size[i];
		}
		values[a][place] += by;
	}
}

static void
test_laws(void)
{
	for (int round = 0; round < 400; round++)
	{
		dp_marginals m = random_marginals();
		double		cells = 0;
		dp_i128    *noisy[DP_MAX_MARGINALS];
		dp_i128    *agreed[DP_MAX_MARGINALS];
		dp_i128    *all;
		double	   *work;
		int64_t		all_cells = (int64_t) dp_marginal_cells(&m, (1u << m.naxes) - 1);
		dp_i128    *room;
		double		least;
		dp_i128		unit = (dp_i128) 1 << (pseudo() % 60);

		for (int a = 0; a < m.n; a++)
		{
			cells += dp_marginal_cells(&m, m.axes[a]);
			check(dp_marginal_variance(&m, m.axes[a]) * m.information[a] <= 1 + 1e-12,
				  "law: marginal %d is noisier, round %d", a, round);
		}

		all = calloc(2 * (size_t) cells, sizeof(dp_i128));
		work = calloc((size_t) cells, sizeof(double));
		room = calloc((size_t) cells, sizeof(dp_i128));
		set_tables(&m, all, noisy);
		set_tables(&m, all + (int64_t) cells, agreed);
		for (int64_t i = 0; i < (int64_t) cells; i++)
			all[i] = all[(int64_t) cells + i] = (dp_i128) (int64_t) (pseudo() % 100000) * unit - ((dp_i128) 1 << 70) * (int64_t) (pseudo() % 3);
		dp_marginals_agree(&m, agreed, room, work);
		check(tables_agree(&m, agreed), "law: sums differ between marginals, round %d", round);

		/* what agrees stays */
		memcpy(all, all + (int64_t) cells, (size_t) cells * sizeof(dp_i128));
		dp_marginals_agree(&m, agreed, room, work);
		check(memcmp(all, all + (int64_t) cells, (size_t) cells * sizeof(dp_i128)) == 0,
			  "law: what agreed was changed, round %d", round);

		/* nothing near is better, where rounding does not count */
		for (int64_t i = 0; i < (int64_t) cells; i++)
			all[i] = all[(int64_t) cells + i] = (dp_i128) (int64_t) (pseudo() % 100000) << 30;
		dp_marginals_agree(&m, agreed, room, work);
		least = distance(&m, noisy, agreed);
		for (int64_t i = 0; i < all_cells; i++)
			for (int sign = -1; sign <= 1; sign += 2)
			{
				move_cell(&m, agreed, i, sign * ((dp_i128) 1 << 24));
				check(distance(&m, noisy, agreed) >= least * (1 - 1e-9),
					  "law: there is something nearer: %.17g after %.17g, round %d",
					  distance(&m, noisy, agreed), least, round);
				move_cell(&m, agreed, i, -sign * ((dp_i128) 1 << 24));
			}
		free(room);
		free(work);
		free(all);
	}
}

/* the variance that rounding adds is what is said */
static void
test_rounding(void)
{
	dp_marginals m = {.naxes = 2,.size = {5, 4},.n = 3,.axes = {0, 1, 3},.information = {1, 0.3, 0.2}};
	double		sum[3] = {0};
	double		count[3] = {0};

	for (int round = 0; round < 4000; round++)
	{
		dp_i128		fine[2][26];
		dp_i128    *values[2][3];
		dp_i128		room[26];
		double		work[26];

		for (int k = 0; k < 2; k++)
			set_tables(&m, fine[k], values[k]);
		for (int i = 0; i < 26; i++)
		{
			fine[0][i] = (dp_i128) (pseudo() % 1000);
			fine[1][i] = fine[0][i] << 30;
		}
		dp_marginals_agree(&m, values[0], room, work);
		dp_marginals_agree(&m, values[1], room, work);
		for (int a = 0; a < 3; a++)
			for (int i = 0; i < (int) dp_marginal_cells(&m, m.axes[a]); i++)
			{
				double		d = (double) (values[1][a][i] - values[0][a][i] * ((dp_i128) 1 << 30)) * 0x1p-30;

				sum[a] += d * d;
				count[a]++;
			}
	}
	for (int a = 0; a < 3; a++)
		check(sum[a] / count[a] <= dp_marginal_rounding(&m, m.axes[a]) * 1.1, "rounding adds %g to marginal %d, and %g is said",
			  sum[a] / count[a], a, dp_marginal_rounding(&m, m.axes[a]));
}

void
marginals_tests(void)
{
	RUN(test_known);
	RUN(test_laws);
	RUN(test_rounding);
}
