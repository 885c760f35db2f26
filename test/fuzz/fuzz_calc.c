/*
 * fuzz_calc.c
 *	  libFuzzer over the calculators: any bit patterns as arguments, checked as
 *	  the SQL functions check them, by the same table.
 *
 * No result may be NaN, a probability must be one, and no call may hang (the
 * Makefile gives -timeout).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/calculators.h"
#include "calc/compose.h"
#include "calc/optimal.h"
#include "calc/planning.h"
#include "calc/rdp.h"

#define require(condition)	do { if (!(condition)) abort(); } while (0)
#define MAX_LIST	12

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* the input, and zeros after its end */
typedef struct Input
{
	const uint8_t *data;
	size_t		size;
} Input;

static void
get(Input *in, void *value, size_t len)
{
	size_t		n = len < in->size ? len : in->size;

	memset(value, 0, len);
	memcpy(value, in->data, n);
	in->data += n;
	in->size -= n;
}

/*
 * Any bits that are in range.  What is not is brought nearer, so that most
 * inputs get as far as a calculation.
 */
static bool
get_number(Input *in, DpRange range, double *x)
{
	get(in, x, sizeof(*x));
	*x += 0.0;					/* no -0 */
	if (dp_in_range(*x, range))
		return true;
	*x = fabs(*x);
	if (range == DP_RANGE_WHOLE)
		*x = floor(*x);
	else if (range == DP_RANGE_ORDER)
		*x = 1 + *x;
	else if (!dp_in_range(*x, range))
		*x = 1 / *x;
	return dp_in_range(*x, range);
}

static int64_t
get_count(Input *in)
{
	uint64_t	bits;
	uint8_t		shift;

	get(in, &bits, sizeof(bits));
	get(in, &shift, 1);
	return 1 + (int64_t) ((bits >> (shift % 64)) % DP_MAX_COUNT);
}

static int
get_list(Input *in, DpRange range, int n, double *values)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!get_number(in, range, &values[i]))
			return 0;
	}
	return n;
}

static bool
is_probability(double x)
{
	return x >= 0 && x <= 1;
}

/* says what was called, and ends the run */
static void
fail(const DpCalculator *c, const DpArgument *args, const double *results)
{
	int			i;

	fprintf(stderr, "%s %s:", c->name, c->bound);
	for (i = 0; i < c->nargs; i++)
	{
		if (c->args[i].range == DP_RANGE_COUNT)
			fprintf(stderr, " %s %lld", c->args[i].name, (long long) args[i].i);
		else
			fprintf(stderr, " %s %a (%.17g)", c->args[i].name, args[i].d, args[i].d);
	}
	fprintf(stderr, " = %.17g %.17g\n", results[0], results[1]);
	abort();
}

/* an entry of the table */
static void
fuzz_scalar(Input *in, int which)
{
	const DpCalculator *c;
	DpArgument	args[DP_MAX_ARGUMENTS];
	double		results[2] = {0, 0};
	int			entries = 0;
	int			i;

	for (c = dp_calculators; c->name != NULL; c++)
		entries++;
	c = &dp_calculators[which % entries];
	for (i = 0; i < c->nargs; i++)
	{
		if (c->args[i].range == DP_RANGE_COUNT)
			args[i].i = get_count(in);
		else if (!get_number(in, c->args[i].range, &args[i].d))
			return;
	}
	if (!c->compute(args, results))
	{
		if (c->refusal == NULL)
			fail(c, args, results);
	}
	else if (isnan(results[0]) || isnan(results[1]) ||
			 (strstr(c->name, "_delta") != NULL && !is_probability(results[0])))
		fail(c, args, results);
}

static void
fuzz_lists(Input *in)
{
	double		a[MAX_LIST],
				b[MAX_LIST],
				delta[MAX_LIST],
				alpha[MAX_LIST],
				x,
				y,
				p;
	uint8_t		length;
	int			n;
	size_t		size;

	get(in, &length, 1);
	n = 1 + length % MAX_LIST;
	if (!get_number(in, DP_RANGE_NONNEGATIVE, &x) || !get_number(in, DP_RANGE_PROBABILITY, &p) ||
		!get_list(in, DP_RANGE_NONNEGATIVE, n, a) || !get_list(in, DP_RANGE_NONNEGATIVE, n, b) ||
		!get_list(in, DP_RANGE_PROBABILITY, n, delta) || !get_list(in, DP_RANGE_ORDER, n, alpha))
		return;

	dp_compose_zcdp(a, b, n, &x, &y);
	require(x >= 0 && y >= 0);
	dp_compose_mcdp(a, b, n, &x, &y);
	require(x >= 0 && y >= 0);
	require(dp_compose_gdp(a, n) >= 0 && dp_compose_rdp(a, n) >= 0);
	require(is_probability(dp_compose_delta(delta, n)));
	for (int i = 0; i < n; i++)
	{
		require(dp_rdp_epsilon(alpha[i], a[i], p) >= 0 && dp_rdp_epsilon(alpha[i], a[i], p) <= dp_rdp_epsilon_simple(alpha[i], a[i], p) * (1 + 1e-9) + 1e-9);
		require(is_probability(dp_rdp_delta(alpha[i], a[i], b[i])) && is_probability(dp_rdp_delta_simple(alpha[i], a[i], b[i])));
	}
	require(dp_compose_advanced_list(a, n, p) >= 0);
	require(is_probability(dp_compose_advanced_delta_list(delta, n, p)));

	size = dp_compose_optimal_scratch(a, n);
	if (size != SIZE_MAX)
	{
		void	   *scratch = malloc(size);

		if (dp_compose_optimal_delta_list(a, delta, n, b[0], scratch, &y))
			require(is_probability(y));
		if (dp_compose_optimal_epsilon_list(a, delta, n, p, scratch, &y))
			require(y >= 0);
		free(scratch);
	}
	if (dp_split_weighted(b[0], a, n, b))
		require(b[0] >= 0 && b[n - 1] >= 0);
}

/* an aggregate whose rows were divided among two workers */
static void
fuzz_totals(Input *in)
{
	DpSum		sum[2] = {{0}, {0}};
	DpSum		log[2] = {{0}, {0}};
	DpNorm		norm[2] = {{0}, {0}};
	double		x,
				p;
	int			i;

	for (i = 0; i < 20; i++)
	{
		if (!get_number(in, DP_RANGE_NONNEGATIVE, &x) || !get_number(in, DP_RANGE_PROBABILITY, &p))
			break;
		dp_sum_add(&sum[i % 2], x);
		dp_norm_add(&norm[i % 2], x);
		dp_sum_add(&log[i % 2], dp_delta_log(p));
	}
	dp_sum_merge(&sum[0], &sum[1]);
	dp_norm_merge(&norm[0], &norm[1]);
	dp_sum_merge(&log[0], &log[1]);
	require(dp_sum_total(&sum[0]) >= 0);
	require(dp_norm_total(&norm[0]) >= 0);
	require(is_probability(dp_delta_total(&log[0])));
}

static void
fuzz_planning(Input *in)
{
	double		lower,
				upper,
				rho,
				x,
				p,
				step,
				sensitivity,
				y;
	uint8_t		flags;
	int64_t		k = get_count(in);

	get(in, &flags, 1);
	if (!get_number(in, DP_RANGE_FINITE, &lower) || !get_number(in, DP_RANGE_FINITE, &upper) ||
		!get_number(in, DP_RANGE_NONNEGATIVE, &rho) || !get_number(in, DP_RANGE_NONNEGATIVE, &x) ||
		!get_number(in, DP_RANGE_INSIDE, &p) || !get_number(in, DP_RANGE_NONNEGATIVE, &step))
		return;
	if (lower > upper)
	{
		y = lower;
		lower = upper;
		upper = y;
	}
	if (flags & 4)
		step = flags & 8 ? 1 : 0;
	sensitivity = dp_sensitivity(lower, upper, k, flags & 1, flags & 2);
	require(sensitivity >= 0);
	/* which the SQL functions refuse */
	if (isinf(sensitivity))
		return;
	require(dp_stddev_of(rho, sensitivity) >= 0);
	require(dp_rho_for_stddev(x, sensitivity) >= 0);
	require(dp_margin_of(rho, p, sensitivity, step) >= 0);
	require(dp_rho_for_margin(x, p, sensitivity, step) >= 0);
	if (rho > 0)
		require(dp_releases_within(rho, x, p) >= 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		in = {data, size};
	uint8_t		which;

	get(&in, &which, 1);
	if (which < 8)
		fuzz_lists(&in);
	else if (which < 12)
		fuzz_totals(&in);
	else if (which < 20)
		fuzz_planning(&in);
	else
		fuzz_scalar(&in, which - 20);
	return 0;
}
