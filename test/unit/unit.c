/*
 * unit.c
 *	  The frame of the unit tests, and main().
 *
 * Statistical tests draw from the operating system's entropy, so each run is
 * a new experiment; there are fewer than 60, each with a false alarm rate
 * below FALSE_ALARM = 1e-11, so that a sound sampler fails less than once in
 * 1e9 runs.  A failure is a finding: do not run again and forget it.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "unit.h"

static long passed = 0;
static long failed = 0;
static int	shown = 0;
static int	fits = 0;

void
check(bool ok, const char *format,...)
{
	va_list		args;

	if (ok)
	{
		passed++;
		return;
	}
	failed++;
	/* one broken loop should not bury the rest */
	if (shown++ > 50)
		return;
	printf("not ok - ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static void
os_fill(void *ctx, void *buf, size_t len)
{
	(void) ctx;
	if (getrandom(buf, len, 0) != (ssize_t) len)
		abort();
}

void
entropy_os(dp_entropy *e)
{
	memset(e, 0, sizeof(*e));
	e->fill = os_fill;
}

/*
 * Scripted bytes are put where the next byte is taken from.  The random ones
 * behind them move up and the last are lost.
 */
void
entropy_script(dp_entropy *e)
{
	entropy_os(e);
	os_fill(NULL, e->buf, DP_ENTROPY_BLOCK);
	e->left = DP_ENTROPY_BLOCK;
	/* how much of it is script is noted in ctx */
	e->ctx = NULL;
}

void
entropy_word(dp_entropy *e, uint64_t word, unsigned bytes)
{
	size_t		at = (size_t) (uintptr_t) e->ctx;
	unsigned	i;

	if (at + bytes > DP_ENTROPY_BLOCK)
		abort();
	for (i = 0; i < bytes; i++)
		e->buf[at + i] = (unsigned char) (word >> (8 * i));
	e->ctx = (void *) (uintptr_t) (at + bytes);
}

uint64_t
pseudo(void)
{
	static uint64_t state = 20;
	uint64_t	z = (state += UINT64_C(0x9e3779b97f4a7c15));

	/* splitmix64 */
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

dp_u128
pseudo128(void)
{
	uint64_t	high = pseudo();

	return u128(high, pseudo());
}

dp_u128
u128(uint64_t high, uint64_t low)
{
	return ((dp_u128) high << 64) | low;
}

long double
normal_mass(long double a, long double b)
{
	/* on the side where the tails are small */
	if (a > 0)
		return 0.5L * (erfcl(a / sqrtl(2)) - erfcl(b / sqrtl(2)));
	if (b < 0)
		return 0.5L * (erfcl(-b / sqrtl(2)) - erfcl(-a / sqrtl(2)));
	return 1 - 0.5L * (erfcl(-a / sqrtl(2)) + erfcl(b / sqrtl(2)));
}

/*
 * With D the relative entropy of the counts to the law, P[n D >= x] <=
 * exp(-x) (e x / d)^d for d = cells - 1 and x > d, for every n and every law
 * (Agrawal 2020, "Finite-sample concentration of the multinomial in relative
 * entropy").  2 n D is the likelihood-ratio chi-square.
 */
static long double
fit_limit(int d)
{
	long double low = d,
				high = d + 1;
	int			i;

	while (-high + d * (1 + logl(high / d)) > logl(FALSE_ALARM))
		high *= 2;
	for (i = 0; i < 100; i++)
	{
		long double mid = (low + high) / 2;

		if (-mid + d * (1 + logl(mid / d)) > logl(FALSE_ALARM))
			low = mid;
		else
			high = mid;
	}
	return high;
}

void
check_fit(const char *what, const long *count, const long double *prob, int cells, long n)
{
	long double stat = 0,
				p = 0,
				p_left = 0;
	long		c = 0,
				left = 0;
	int			i,
				d = -1;

	fits++;
	for (i = 0; i < cells; i++)
	{
		p_left += prob[i];
		left += count[i];
	}
	if (left != n || fabsl(p_left - 1) > 1e-9L)
	{
		check(false, "%s: cells hold %ld of %ld draws, probability %.12Lf", what, left, n, p_left);
		return;
	}

	for (i = 0; i < cells; i++)
	{
		p += prob[i];
		c += count[i];
		p_left -= prob[i];
		/* close a cell, unless what follows would be too small for one */
		if (i == cells - 1 || (p * n >= 10 && p_left * n >= 10))
		{
			if (c > 0)
				stat += c * logl(c / (n * p));
			p = 0;
			c = 0;
			d++;
		}
	}
	/* one possible value: no law to test */
	if (d == 0)
		check(fabsl(stat) < 1e-6L, "%s: not the only possible value", what);
	else
		check(stat < fit_limit(d), "%s: chi-square %.1Lf, %d degrees of freedom, limit %.1Lf",
			  what, 2 * stat, d, 2 * fit_limit(d));
}

int
main(void)
{
	static void (*const tests[]) (void) =
	{
		test_limbs, test_exp, test_entropy, test_byte_order, test_gauss_exact, test_gauss_law,
		test_calibrate, test_threshold, test_ladder, test_zcdp, test_gaussian, test_optimal,
		test_calc, test_calc_laws, test_planning, test_moments, test_quantile, test_exact_sums, test_marginals
	};
	size_t		i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
	{
		shown = 0;
		tests[i] ();
	}
	check(fits < 60, "%d statistical tests: the stated false alarm rate holds for 60", fits);
	printf("# %d statistical tests, each with a false alarm rate below %.0Le\n", fits, FALSE_ALARM);
	printf("%ld passed, %ld failed\n", passed, failed);
	return failed == 0 ? 0 : 1;
}
