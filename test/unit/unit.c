/*
 * unit.c
 *	  The frame of the unit tests, and main(), which prints TAP.
 *
 * Statistical tests draw from the operating system's entropy, so each run is
 * a new experiment; there are fewer than 60, each with a false alarm rate
 * below FALSE_ALARM, so that a sound sampler fails less than once in 1e9 runs
 * of both programs.  A failure is a finding: do not run again and forget it.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "unit.h"

/* one broken loop should not bury the rest */
#define MOST_SHOWN 50

/* of the test that runs */
unsigned long unit_cases;
static long failures;
static uint64_t pseudo_state;

/* of the program */
static int	tests = 0;
static int	failed = 0;
static int	fits = 0;

/* what the compiler said of wide.h when it had no 128-bit integers */
static const char *said = NULL;

void
check_failed(const char *file, int line, const char *expected, const char *format,...)
{
	va_list		args;
	char		came[500];
	char	   *end;

	unit_cases++;
	if (++failures > MOST_SHOWN)
		return;
	va_start(args, format);
	vsnprintf(came, sizeof(came), format, args);
	va_end(args);
	/* one line */
	while ((end = strchr(came, '\n')) != NULL)
		*end = ' ';
	printf("# %s:%d: %s\n", file, line, came);
	if (strcmp(expected, "false") != 0)
		printf("#     expected: %s\n", expected);
}

/* Prints a name without the "test_" before it and, of a file, the ".c" behind it. */
static void
print_name(const char *name)
{
	if (strncmp(name, "test_", 5) == 0)
		name += 5;
	printf("%.*s", (int) strcspn(name, "."), name);
}

void
run_test(const char *file, const char *function, void (*test) (void))
{
	clock_t		start = clock();

	unit_cases = failures = 0;
	pseudo_state = 20;
	test();
	if (unit_cases == 0)
		check(false, "the test has no case");
	if (failures > MOST_SHOWN)
		printf("# and %ld more\n", failures - MOST_SHOWN);
	printf("# %lu cases, %ld failed, %.2f s\n", unit_cases, failures, (double) (clock() - start) / CLOCKS_PER_SEC);
	failed += failures > 0;
	printf("%s %d - " PROGRAM " ", failures > 0 ? "not ok" : "ok", ++tests);
	print_name(file);
	printf("/");
	print_name(function);
	printf("\n");
}

long
sized(long all, long usual, long sanitized)
{
	const char *set = getenv("DP_TEST_ALL");

	if (set && strcmp(set, "1") == 0)
		return all;
	return SANITIZED ? sanitized : usual;
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

void
entropy_put_back(dp_entropy *e, uint64_t word)
{
	unsigned	i;

	/* of a block that is full the last bytes are lost */
	if (e->left > DP_ENTROPY_BLOCK - 8)
	{
		memmove(e->buf + 8, e->buf + DP_ENTROPY_BLOCK - e->left, DP_ENTROPY_BLOCK - 8);
		e->left = DP_ENTROPY_BLOCK - 8;
	}
	e->left += 8;
	for (i = 0; i < 8; i++)
		e->buf[DP_ENTROPY_BLOCK - e->left + i] = (unsigned char) (word >> (8 * i));
}

uint64_t
pseudo(void)
{
	uint64_t	z = (pseudo_state += UINT64_C(0x9e3779b97f4a7c15));

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

/* Tests counts after it has merged cells so that each expects at least "least". */
static void
fit(const char *what, const long *count, const long double *prob, int cells, long n, long double least)
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
		if (i == cells - 1 || (p * n >= least && p_left * n >= least))
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

void
check_fit(const char *what, const long *count, const long double *prob, int cells, long n)
{
	fit(what, count, prob, cells, n, 10);
}

void
check_coarse_fit(const char *what, const long *count, const long double *prob, int cells, long n)
{
	fit(what, count, prob, cells, n, n / 20.0L);
}

static void
test_narrow(void)
{
	const char *error = strstr(said, "error");

	check(error && strstr(error, "needs a compiler and a machine with 128-bit integers"),
		  "wide.h without 128-bit integers: the compiler says \"%s\"", said);
}

static void
test_false_alarms(void)
{
	check(fits < 60, "%d statistical tests", fits);
	printf("# %d statistical tests, each with a false alarm rate below %.0Le\n", fits, FALSE_ALARM);
}

int
main(int argc, char **argv)
{
	static void (*const files[]) (void) =
	{
		exp_tests, gauss_exact_tests, gauss_law_tests, calibrate_tests, refinement_tests, zcdp_tests, gaussian_tests,
		optimal_tests, calc_tests, calc_laws_tests, divergence_tests, planning_tests, moments_tests, quantile_tests, norm_limit_tests, bounds_tail_tests, exact_tests,
		marginals_tests
	};
	size_t		i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		files[i] ();
	RUN(test_false_alarms);
	if (argc > 1)
	{
		said = argv[1];
		RUN(test_narrow);
	}
	printf("1..%d\n", tests);
	return failed == 0 ? 0 : 1;
}
