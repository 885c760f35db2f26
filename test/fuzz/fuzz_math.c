/*
 * fuzz_math.c
 *	  libFuzzer over src/math: the sampler with any variance and any entropy,
 *	  calibration, thresholds, chains of answers, the conversions, statistics
 *	  and exact sums with any doubles.
 *
 * Besides what the sanitizers see, what must hold for every input is checked
 * and ends the run with abort().
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc/zcdp_bounds.h"
#include "math/calibrate.h"
#include "math/exact.h"
#include "math/gauss.h"
#include "math/refinement.h"
#include "math/moments.h"
#include "math/zcdp.h"

#define require(condition)	do { if (!(condition)) abort(); } while (0)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* the input, and zeros after its end */
typedef struct Input
{
	const uint8_t *data;
	size_t		size;
	uint64_t	state;
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

/* the input's bytes as entropy; then pseudorandom ones, so that draws end */
static void
fill(void *ctx, void *buf, size_t len)
{
	Input	   *in = ctx;
	size_t		n = len < in->size ? len : in->size;
	size_t		i;

	memcpy(buf, in->data, n);
	in->data += n;
	in->size -= n;
	for (i = n; i < len; i++)
	{
		in->state = in->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		((uint8_t *) buf)[i] = (uint8_t) (in->state >> 56);
	}
}

static void
fuzz_sampler(Input *in)
{
	static dp_entropy e;
	dp_variance v;
	dp_gauss	g;
	int			i;

	get(in, &v, sizeof(v));
	memset(&g, 0xee, sizeof(g));
	if (!dp_gauss_init(&g, &v))
		return;
	require(g.edge[DP_GAUSS_BINS + 1] > g.edge[DP_GAUSS_BINS]);
	memset(&e, 0, sizeof(e));
	e.fill = fill;
	e.ctx = in;
	for (i = 0; i < 20; i++)
	{
		dp_i128		z = dp_gauss_draw(&g, &e);

		/* the tail's geometric variable is the number of 1 bits in a row */
		require(z < (dp_i128) 1 << 76 && z > -((dp_i128) 1 << 76));
	}
	for (i = 0; i < 4; i++)
	{
		uint64_t	x,
					height;
		int			quick;

		get(in, &x, sizeof(x));
		get(in, &height, sizeof(height));
		/* dp_gauss_quick is for the first 64 bins */
		x &= ~UINT64_C(0) >> (58 - g.width_bits);
		quick = dp_gauss_quick(&g, x, height);
		require(quick < 0 || dp_gauss_exact(&g, &e, x, height, 0) == quick);
	}
}

static void
fuzz_calibrate(Input *in)
{
	dp_u128		sens2;
	int64_t		rho,
				k,
				delta,
				threshold = 0;
	dp_variance v;
	dp_gauss	g;
	double		sigma;

	get(in, &sens2, sizeof(sens2));
	get(in, &rho, sizeof(rho));
	get(in, &k, sizeof(k));
	get(in, &delta, sizeof(delta));
	if (!dp_calibrate(sens2, rho, &v))
		return;
	require(dp_gauss_init(&g, &v));
	sigma = dp_variance_sigma(&v);
	require(sigma >= 0.01 && sigma <= 0x1p60);
	require(sigma * (1 + 1e-12) >= sqrt((double) sens2 / (double) rho * DP_RHO_ONE / 2));
	if (dp_threshold(&v, k, delta, &threshold))
	{
		require(threshold >= 2);
		require(k >= 1 && delta >= 1 && delta < DP_DELTA_ONE);
	}
}

/* A mean lies between its increments; nothing else is asked of values that may be anything. */
static void
fuzz_mean(Input *in)
{
	dp_i128		y[6];
	int64_t		rho[6];
	dp_i128		least,
				most,
				mean;
	uint8_t		n;

	get(in, &n, 1);
	n = 1 + n % 6;
	get(in, y, n * sizeof(dp_i128));
	get(in, rho, n * sizeof(int64_t));
	least = most = y[0];
	for (int i = 0; i < n; i++)
	{
		rho[i] &= INT64_MAX;
		rho[i] += rho[i] == 0;
		least = y[i] < least ? y[i] : least;
		most = y[i] > most ? y[i] : most;
	}
	mean = dp_refine_mean(y, rho, n);
	require(mean >= least && mean <= most);
}

/* A chain of two links, or three: extras, and a draw between whatever two the bytes say. */
static void
fuzz_refinement(Input *in)
{
	static dp_entropy e;
	dp_u128		sens2,
				first,
				second,
				gap[2];
	int64_t		rho,
				wanted[2];
	dp_variance v,
				sum[2];
	dp_bridge	b;
	dp_i128		n;

	get(in, &sens2, sizeof(sens2));
	get(in, &rho, sizeof(rho));
	get(in, wanted, sizeof(wanted));
	get(in, &v, sizeof(v));
	if (dp_refine_extra(sens2, rho, &v, wanted[0], &first))
	{
		require(first <= (dp_u128) 1 << 120 && first % DP_REFINE_GAP == 0);
		dp_refine_variance(&v, first, &sum[0]);
		dp_refine_variance(&v, 0, &sum[1]);
		require(sum[0].den > 0 && sum[0].num / sum[0].den >= first);
		if (dp_refine_extra(sens2, rho, &v, wanted[1], &second))
			require(wanted[0] < wanted[1] ? first >= second : wanted[0] > wanted[1] || first == second);
		if (dp_calibrate(sens2, rho, &v))
			require(isfinite(dp_refine_sigma(sum, wanted, 2)) || wanted[0] < 1 || wanted[1] < 1);
	}
	get(in, gap, sizeof(gap));
	get(in, &n, sizeof(n));
	n >>= 1;
	if (!dp_bridge_init(&b, gap[0], gap[1]))
		return;
	memset(&e, 0, sizeof(e));
	e.fill = fill;
	e.ctx = in;
	for (int i = 0; i < 4; i++)
	{
		dp_i128		a = dp_bridge_draw(&b, n, &e);
		dp_i128		off = n < 0 ? -a : a;

		/* within 2^76 of what lies between 0 and n */
		require(off > -((dp_i128) 1 << 76) && off < (n < 0 ? -n : n) + ((dp_i128) 1 << 76));
	}
}

static void
fuzz_zcdp(Input *in)
{
	double		a,
				b,
				x;

	get(in, &a, sizeof(a));
	get(in, &b, sizeof(b));

	/* any bits at all must come back from these */
	x = dp_zcdp_delta_tight(a, b, 0) + dp_zcdp_epsilon_tight(a, b, 0) + dp_zcdp_rho_tight(a, b, 0) +
		dp_zcdp_epsilon_up(a, b) + dp_zcdp_rho_down(a, b);
	(void) x;
	if (!(isfinite(a) && isfinite(b) && a >= 0 && b >= 0))
		return;

	x = dp_zcdp_delta_tight(a, b, 0);
	require(x >= 0 && x <= 1);
	if (b > 1)
		return;
	x = dp_zcdp_epsilon_tight(a, b, 0);
	require(x >= 0 && dp_zcdp_epsilon_up(a, b) >= x);
	x = dp_zcdp_rho_tight(a, b, 0);
	require(x >= 0 && dp_zcdp_rho_down(a, b) >= 0 && dp_zcdp_rho_down(a, b) <= x);
}

static void
fuzz_moments(Input *in)
{
	double		sums[DP_MOMENTS],
				sigma[DP_MOMENTS],
				value,
				stddev;
	dp_moment_range t,
				u;
	uint8_t		which;
	dp_statistic stat;

	get(in, &which, 1);
	get(in, &t, sizeof(t));
	get(in, &u, sizeof(u));
	get(in, sums, sizeof(sums));
	get(in, sigma, sizeof(stddev));
	if (!(isfinite(t.lower) && isfinite(t.upper) && isfinite(u.lower) && isfinite(u.upper) &&
		  t.lower <= t.upper && u.lower <= u.upper))
		return;
	stat = (dp_statistic) (which % DP_STATISTICS);
	dp_moment_value(stat, sums, sigma, t, u, &value, &stddev);
	require(isfinite(value) && isfinite(stddev) && stddev > 0);
	switch (stat)
	{
		case DP_STAT_AVG:
			require(value >= t.lower && value <= t.upper);
			break;
		case DP_STAT_VAR_POP:
		case DP_STAT_VAR_SAMP:
		case DP_STAT_STDDEV_POP:
		case DP_STAT_STDDEV_SAMP:
			require(value >= 0);
			break;
		case DP_STAT_CORR:
			require(fabs(value) <= 1 && stddev <= 1);
			break;
		default:
			break;
	}
}

/* Adds x as the aggregate does: a value that does not fit is put into a state that is made for it. */
static dp_exact *
add_exact(dp_exact *state, bool squares, double x)
{
	dp_exact_shape shape;
	dp_exact   *wider;

	if (state && dp_exact_add(state, x))
		return state;
	dp_exact_shape_for(&shape, state, squares, x);
	wider = malloc(dp_exact_size(&shape));
	dp_exact_init(wider, &shape, state);
	free(state);
	require(dp_exact_add(wider, x));
	return wider;
}

static dp_exact *
merge_exact(dp_exact *state, dp_exact *other)
{
	dp_exact_shape shape;
	dp_exact   *wider;

	if (state == NULL || other == NULL)
		return state ? state : other;
	if (!dp_exact_merge(state, other))
	{
		dp_exact_shape_for_both(&shape, state, other);
		wider = malloc(dp_exact_size(&shape));
		dp_exact_init(wider, &shape, state);
		free(state);
		state = wider;
		require(dp_exact_merge(state, other));
	}
	free(other);
	return state;
}

/* forwards in one state, backwards in two, with carries moved now and then */
static void
fuzz_exact(Input *in)
{
	double		x[40];
	uint8_t		how[40];
	dp_exact   *one = NULL;
	dp_exact   *parts[2] = {NULL, NULL};
	uint8_t		n;

	get(in, &n, 1);
	n = 1 + n % 40;
	get(in, x, n * sizeof(double));
	get(in, how, n);
	for (int i = 0; i < n; i++)
		one = add_exact(one, true, x[i]);
	for (int i = n - 1; i >= 0; i--)
	{
		dp_exact  **part = &parts[how[i] & 1];

		*part = add_exact(*part, true, x[i]);
		if (how[i] & 2)
			(*part)->pending = DP_EXACT_MOST_PENDING;
	}
	parts[0] = merge_exact(parts[0], parts[1]);
	for (int what = 0; what < 12; what++)
	{
		double		a = 0;
		double		b = 0;
		bool		found = dp_exact_get(one, (dp_exact_result) (what / 2), what & 1, &a);

		require(dp_exact_get(parts[0], (dp_exact_result) (what / 2), what & 1, &b) == found);
		require(!found || memcmp(&a, &b, sizeof(a)) == 0);
		require(!found || a != 0 || !signbit(a));
	}
	free(one);
	free(parts[0]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		in = {data, size, 1};
	uint8_t		which;

	get(&in, &which, 1);
	switch (which % 7)
	{
		case 0:
			fuzz_sampler(&in);
			break;
		case 1:
			fuzz_calibrate(&in);
			break;
		case 2:
			fuzz_moments(&in);
			break;
		case 3:
			fuzz_exact(&in);
			break;
		case 4:
			fuzz_mean(&in);
			break;
		case 5:
			fuzz_refinement(&in);
			break;
		default:
			fuzz_zcdp(&in);
	}
	return 0;
}
