/*
 * fuzz_math.c
 *	  libFuzzer over src/math: the sampler with any variance and any entropy,
 *	  calibration, thresholds, the conversions and statistics with any doubles.
 *
 * Besides what the sanitizers see, what must hold for every input is checked
 * and ends the run with abort().
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/calibrate.h"
#include "math/gauss.h"
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

static void
fuzz_zcdp(Input *in)
{
	double		a,
				b,
				x;

	get(in, &a, sizeof(a));
	get(in, &b, sizeof(b));

	/* any bits at all must come back from these */
	x = dp_zcdp_delta(a, b) + dp_zcdp_epsilon(a, b) + dp_zcdp_rho(a, b) +
		dp_zcdp_delta_up(a, b) + dp_zcdp_epsilon_up(a, b) + dp_zcdp_rho_down(a, b);
	(void) x;
	if (!(isfinite(a) && isfinite(b) && a >= 0 && b >= 0))
		return;

	x = dp_zcdp_delta(a, b);
	require(x >= 0 && x <= 1 && dp_zcdp_delta_up(a, b) >= x && dp_zcdp_delta_up(a, b) <= 1);
	if (b > 1)
		return;
	x = dp_zcdp_epsilon(a, b);
	require(x >= 0 && dp_zcdp_epsilon_up(a, b) >= x);
	x = dp_zcdp_rho(a, b);
	require(x >= 0 && dp_zcdp_rho_down(a, b) >= 0 && dp_zcdp_rho_down(a, b) <= x);
}

static void
fuzz_moments(Input *in)
{
	double		sums[DP_MOMENTS],
				sigma[DP_MOMENTS],
				n,
				value,
				stddev;
	dp_moment_range t,
				u;
	uint8_t		which;
	dp_statistic stat;

	get(in, &which, 1);
	get(in, &t, sizeof(t));
	get(in, &u, sizeof(u));
	get(in, &n, sizeof(n));
	get(in, sums, sizeof(sums));
	get(in, sigma, sizeof(sigma));
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
	stddev = dp_moment_worst_stddev(stat, sigma, n, t, u);
	require(isfinite(stddev) && stddev > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		in = {data, size, 1};
	uint8_t		which;

	get(&in, &which, 1);
	switch (which % 4)
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
		default:
			fuzz_zcdp(&in);
	}
	return 0;
}
