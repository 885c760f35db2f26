/*
 * bench_gauss.c
 *	  Samples per second of the sampler, with the operating system's entropy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "math/gauss.h"

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

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
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
		{"0.01", 1, 10000, 0}, {"0.3", 9, 100, 0}, {"0.5", 1, 4, 0}, {"1", 1, 1, 0},
		{"7.3", 5329, 100, 0}, {"100", 10000, 1, 0}, {"1e6", UINT64_C(1000000000000), 1, 0},
		{"2^32 sqrt(50/3)", 50, 3, 64}, {"2^40", 1, 1, 80}, {"2^60", 1, 1, 120},
	};
	static dp_entropy e = {os_fill, NULL, 0, {0}};
	static dp_gauss g;
	const long	n = 5000000;
	dp_i128		sum = 0;
	size_t		c;

	printf("%-18s %14s %12s\n", "sigma", "samples/s", "init, us");
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		dp_variance v;
		double		start,
					init,
					draw;
		long		i;

		v.num = (dp_u128) cases[c].num << cases[c].shift;
		v.den = cases[c].den;
		start = now();
		for (i = 0; i < 1000; i++)
		{
			if (!dp_gauss_init(&g, &v))
				return 1;
		}
		init = (now() - start) / 1000;
		start = now();
		for (i = 0; i < n; i++)
			sum += dp_gauss_draw(&g, &e);
		draw = (now() - start) / n;
		printf("%-18s %14.0f %12.2f\n", cases[c].name, 1 / draw, 1e6 * init);
	}
	/* so that no draw can be optimised away */
	return sum == 1 ? 2 : 0;
}
