/*
 * bench_gauss.c
 *	  Draws per second and core of the sampler, with the operating system's
 *	  entropy, beside the straightforward algorithm.
 *
 * Counted is the processor's time, also the kernel's for entropy.  The two
 * take turns; the medians of the turns are printed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "straightforward.h"

#define TURNS 7
#define DRAWS 400000
#define DRAWS_STRAIGHTFORWARD 40000

static dp_entropy entropy;

/* so that no draw can be optimised away */
static volatile double sink;

static void
os_fill(void *ctx, void *buf, size_t len)
{
	(void) ctx;
	if (getrandom(buf, len, 0) != (ssize_t) len)
		abort();
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
median(double *values)
{
	qsort(values, TURNS, sizeof(double), compare);
	return values[TURNS / 2];
}

int
main(void)
{
	static const struct
	{
		const char *name;
		uint64_t	num;
		uint64_t	den;
		int			shift;		/* num is shifted left by this */
	}			cases[] = {
		{"0.01", 1, 10000, 0}, {"0.5", 1, 4, 0}, {"0.7", 49, 100, 0}, {"1", 1, 1, 0}, {"2", 4, 1, 0},
		{"7.3", 5329, 100, 0}, {"7.99", 638401, 10000, 0}, {"8", 64, 1, 0}, {"15.9", 25281, 100, 0},
		{"100", 10000, 1, 0}, {"1000", 1000000, 1, 0}, {"2^16", 1, 1, 32}, {"1e6", UINT64_C(1000000000000), 1, 0},
		{"2^24", 1, 1, 48}, {"2^32", 1, 1, 64}, {"2^32 sqrt(50/3)", 50, 3, 64}, {"2^40", 1, 1, 80},
		{"2^60", 1, 1, 120},
	};
	static dp_gauss g;
	size_t		c;

	entropy.fill = os_fill;
	printf("%-16s %10s %10s %16s %6s %10s\n", "sigma", "draws/s", "(least)", "straightforward", "ratio",
		   "init, us");
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		dp_variance v;
		dp_u128		root;
		double		init,
					draw[TURNS],
					straightforward[TURNS],
					sum2 = 0,
					cks_sum2 = 0,
					variance;
		int			turn,
					i;

		v.num = (dp_u128) cases[c].num << cases[c].shift;
		v.den = cases[c].den;
		variance = (double) v.num / (double) v.den;
		root = cks_root(&v);
		init = now();
		for (i = 0; i < 1000; i++)
		{
			if (!dp_gauss_init(&g, &v))
				return 1;
		}
		init = (now() - init) / 1000;
		for (turn = 0; turn < TURNS; turn++)
		{
			double		start = now();

			for (i = 0; i < DRAWS; i++)
			{
				double		z = (double) dp_gauss_draw(&g, &entropy);

				sum2 += z * z;
			}
			draw[turn] = (now() - start) / DRAWS;
			start = now();
			for (i = 0; i < DRAWS_STRAIGHTFORWARD; i++)
			{
				double		z = (double) cks_gauss(&entropy, &v, root);

				cks_sum2 += z * z;
			}
			straightforward[turn] = (now() - start) / DRAWS_STRAIGHTFORWARD;
		}
		sink = sum2 + cks_sum2;
		/* both samplers must draw from one law */
		if (variance >= 1 && (fabs(sum2 / (TURNS * (double) DRAWS) / variance - 1) > 0.02 ||
							  fabs(cks_sum2 / (TURNS * (double) DRAWS_STRAIGHTFORWARD) / variance - 1) > 0.05))
		{
			printf("%s: a sample's variance is wrong\n", cases[c].name);
			return 1;
		}
		printf("%-16s %10.0f ", cases[c].name, 1 / median(draw));
		printf("%10.0f %16.0f %6.1f %10.2f\n", 1 / draw[TURNS - 1], 1 / median(straightforward),
			   straightforward[TURNS / 2] / draw[TURNS / 2], 1e6 * init);
	}
	return 0;
}
