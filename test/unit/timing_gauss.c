/*
 * timing_gauss.c
 *	  Does the time of a draw tell what was drawn?
 *
 * Times each draw by itself, sorts the draws by the size of their value and
 * compares the times of small and large values by Welch's t-test, in the
 * manner of dudect (Reparaz, Balasch, Verbauwhede, "Dude, is my code constant
 * time?", 2017): times above a percentile of all times are left out, for an
 * interrupt or a refill of the entropy block would hide a difference of
 * nanoseconds.  |t| above 4.5 means a difference.
 *
 * Two partitions: below against above the median, and below it against the
 * upper 5 %.  Two percentiles: 90, which leaves draws of one trial for most
 * sigmas, and 99, which leaves those of several.
 *
 * The straightforward algorithm is put to the same test, to show that the
 * test finds a difference where there is one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "straightforward.h"

#define DRAWS 1000000
#define DRAWS_STRAIGHTFORWARD 100000
#define LIMIT 4.5

typedef struct Sample
{
	double		size;			/* of the value */
	double		time;
} Sample;

static dp_entropy entropy;

static void
os_fill(void *ctx, void *buf, size_t len)
{
	(void) ctx;
	if (getrandom(buf, len, 0) != (ssize_t) len)
		abort();
}

/* in cycles, or nanoseconds; nothing before or after moves across */
static inline uint64_t
ticks(void)
{
#if defined(__x86_64__)
	uint32_t	low,
				high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t) high << 32 | low;
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000 + t.tv_nsec;
#endif
}

static int
by_size(const void *a, const void *b)
{
	double		x = ((const Sample *) a)->size,
				y = ((const Sample *) b)->size;

	return (x > y) - (x < y);
}

static int
by_value(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

typedef struct Moments
{
	double		n;
	double		mean;
	double		m2;
} Moments;

static void
add(Moments *m, double x)
{
	double		d = x - m->mean;

	m->n++;
	m->mean += d / m->n;
	m->m2 += d * (x - m->mean);
}

static double
welch(const Moments *a, const Moments *b)
{
	double		error = a->m2 / (a->n - 1) / a->n + b->m2 / (b->n - 1) / b->n;

	/* no difference, and nothing that varies */
	if (error == 0 && a->mean == b->mean)
		return 0;
	return (b->mean - a->mean) / sqrt(error);
}

/* prints a line; returns the largest |t| */
static double
judge(const char *name, const char *what, Sample *samples, int n)
{
	static double sorted[DRAWS];
	static const double percentiles[2] = {0.90, 0.99};
	double		median,
				upper,
				worst = 0;
	int			i,
				p;

	for (i = 0; i < n; i++)
		sorted[i] = samples[i].time;
	qsort(sorted, n, sizeof(double), by_value);
	qsort(samples, n, sizeof(Sample), by_size);
	median = samples[n / 2].size;
	upper = samples[n - n / 20].size;
	printf("%-10s %-16s %8.0f", name, what, sorted[n / 2]);
	for (p = 0; p < 2; p++)
	{
		double		crop = sorted[(int) (percentiles[p] * n)];
		Moments		small = {0},
					large = {0},
					largest = {0};
		double		t[2];

		for (i = 0; i < n; i++)
		{
			if (samples[i].time > crop)
				continue;
			/* the median itself may be a third of all draws of a small sigma */
			if (samples[i].size < median || (median == 0 && samples[i].size == 0))
				add(&small, samples[i].time);
			else
				add(&large, samples[i].time);
			if (samples[i].size >= upper && samples[i].size > median)
				add(&largest, samples[i].time);
		}
		t[0] = welch(&small, &large);
		t[1] = welch(&small, &largest);
		printf("   %8.2f %8.2f", t[0], t[1]);
		worst = fmax(worst, fmax(fabs(t[0]), fabs(t[1])));
	}
	printf("\n");
	fflush(stdout);
	return worst;
}

int
main(void)
{
	static const struct
	{
		const char *name;
		uint64_t	num;
		uint64_t	den;
		int			shift;
	}			cases[] = {
		{"0.5", 1, 4, 0}, {"1", 1, 1, 0}, {"7.3", 5329, 100, 0}, {"8", 64, 1, 0}, {"100", 10000, 1, 0},
		{"1000", 1000000, 1, 0}, {"2^20", 1, 1, 40}, {"2^32", 1, 1, 64}, {"2^40", 1, 1, 80},
	};
	static dp_gauss g;
	static Sample samples[DRAWS];
	double		worst = 0,
				found = 0;
	size_t		c;
	int			i;

	entropy.fill = os_fill;
	printf("%-10s %-16s %8s   %17s   %17s\n", "", "", "median", "t, below p90", "t, below p99");
	printf("%-10s %-16s %8s   %8s %8s   %8s %8s\n", "sigma", "", "ticks", "halves", "top 5 %", "halves", "top 5 %");
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
	{
		dp_variance v;
		dp_u128		root;

		v.num = (dp_u128) cases[c].num << cases[c].shift;
		v.den = cases[c].den;
		if (!dp_gauss_init(&g, &v))
			return 1;
		for (i = 0; i < DRAWS; i++)
		{
			uint64_t	start = ticks();
			dp_i128		z = dp_gauss_draw(&g, &entropy);
			uint64_t	end = ticks();

			samples[i].size = fabs((double) z);
			samples[i].time = (double) (end - start);
		}
		worst = fmax(worst, judge(cases[c].name, "sampler", samples, DRAWS));

		root = cks_root(&v);
		for (i = 0; i < DRAWS_STRAIGHTFORWARD; i++)
		{
			uint64_t	start = ticks();
			dp_i128		z = cks_gauss(&entropy, &v, root);
			uint64_t	end = ticks();

			samples[i].size = fabs((double) z);
			samples[i].time = (double) (end - start);
		}
		found = fmax(found, judge(cases[c].name, "straightforward", samples, DRAWS_STRAIGHTFORWARD));
	}
	printf("largest |t| of %d draws each: %.2f, limit %.1f; of the straightforward algorithm: %.0f\n",
		   DRAWS, worst, LIMIT, found);
	return worst < LIMIT && found > LIMIT ? 0 : 1;
}
