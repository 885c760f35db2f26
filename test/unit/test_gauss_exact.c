/*
 * test_gauss_exact.c
 *	  What must hold for every draw of the sampler: the range of variances, the
 *	  staircase above the curve, and each decision, also those that chance
 *	  would bring up once in 2^53 draws.
 */
#include "math/calibrate.h"
#include "oracle.h"

static bool
accepts(dp_u128 num, dp_u128 den)
{
	dp_variance v = {num, den};
	dp_gauss	g;

	return dp_gauss_init(&g, &v);
}

static void
test_range(void)
{
	dp_u128		top = (dp_u128) 1 << 120;
	dp_u128		max = ~(dp_u128) 0;

	check(!accepts(0, 1) && !accepts(1, 0) && !accepts(0, 0), "no terms of 0");
	check(accepts(1, 10000), "sigma = 0.01");
	check(!accepts(1, 10001), "sigma just below 0.01");
	check(accepts(max / 10000, max / 10000 * 10000), "sigma = 0.01 with large terms");
	check(!accepts(max / 10000, max), "sigma just below 0.01 with large terms");
	check(!accepts(1, max), "a tiny variance");
	check(accepts(top, 1) && accepts(top * 255, 255), "sigma = 2^60");
	check(!accepts(top + 1, 1) && !accepts(top * 255 + 1, 255), "sigma just above 2^60");
	check(!accepts(max, 1), "a huge variance");
	check(accepts(max, 256) && accepts(max, max) && accepts(max, max - 1), "large terms");
}

/* some variance: any length of numerator and denominator that is allowed */
static void
pseudo_sampler(dp_gauss *g)
{
	dp_variance v;

	do
	{
		v.num = pseudo128() >> (pseudo() % 128);
		v.den = pseudo128() >> (pseudo() % 128);
	} while (!dp_gauss_init(g, &v));
}

/* in a sampler with bins of width 1, a stretch holds both signs, but for 0 */
static int
signs(const dp_gauss *g, int s)
{
	return g->width_bits == 0 && s > 0 ? 2 : 1;
}

static void
check_staircase(const dp_gauss *g, const char *name)
{
	uint64_t	w = UINT64_C(1) << g->width_bits;
	dp_u128		sigma2 = g->variance.num / g->variance.den;
	uint64_t	end = g->edge[DP_GAUSS_BINS + 1];
	uint64_t	tail = (end - g->edge[DP_GAUSS_BINS]) / 2 / signs(g, DP_GAUSS_BINS);
	int			s,
				i;

	check(sigma2 < (dp_u128) 64 * w * w, "%s: bins too narrow for the tail", name);
	check(w == 1 || (dp_u128) 16 * w * w <= sigma2, "%s: bins too wide", name);
	check(end > ~UINT64_C(0) - (UINT64_C(1) << 14), "%s: many trials fail", name);
	check(g->kappa >> 63 == 1, "%s: kappa", name);
	check(g->edge[0] == 0 && g->edge[DP_GAUSS_BINS + 2] == ~UINT64_C(0), "%s: ends of the table", name);

	for (s = 0; s < DP_GAUSS_BINS; s++)
	{
		uint64_t	stretch = g->edge[s + 1] - g->edge[s];
		uint64_t	height = stretch / signs(g, s);
		uint64_t	left = w * s;

		check(g->edge[s + 1] > g->edge[s], "%s: bin %d is empty", name, s);
		check(w > 1 || g->edge[s + 1] % 2 == 0, "%s: edge %d is odd", name, s + 1);
		check(oracle_side(g, left, height, 0) >= 0, "%s: step %d is below the curve", name, s);
		/* no more than rounding above it, or trials fail for nothing */
		check(height <= 64 || oracle_side(g, left, height - 64, 0) < 0, "%s: step %d is high", name, s);
		/* the highest point that is accepted unseen, and all of t */
		if (w == 1 && stretch > DP_GAUSS_DOUBT)
			check(oracle_side(g, left, (stretch - DP_GAUSS_DOUBT - 1) / signs(g, s) + 1, 0) <= 0,
				  "%s: bin %d accepts above the curve", name, s);
	}
	check(end - g->edge[DP_GAUSS_BINS] == 2 * tail * signs(g, DP_GAUSS_BINS), "%s: tail", name);
	for (i = 0; i < 60; i++)
		check(oracle_side(g, (dp_u128) w * (DP_GAUSS_BINS + i), tail, i) >= 0,
			  "%s: tail step %d is below the curve", name, i);
}

/*
 * Points at all distances from the curve: quick must be right or undecided,
 * exact must be right, and undecided may be only what is within 32 of it.
 */
static void
check_decisions(const dp_gauss *g, const char *name)
{
	dp_entropy	e;
	int			i;

	entropy_os(&e);
	for (i = 0; i < 60; i++)
	{
		uint64_t	x = (pseudo() % DP_GAUSS_BINS << g->width_bits) +
		(pseudo() & ((UINT64_C(1) << g->width_bits) - 1));
		uint64_t	lo[ORACLE_LEN],
					hi[ORACLE_LEN],
					height,
					delta = pseudo() >> (pseudo() % 64);
		bool		plus = pseudo() & 1;
		int			quick,
					side;

		oracle(g, x, lo, hi);
		height = plus ? lo[ORACLE_LIMBS] + delta : lo[ORACLE_LIMBS] - delta;
		/* where the curve is flat, an exponential is 1 to the last bit */
		if (i % 4 == 3)
		{
			x = i % 8 == 3;
			height = g->scale - 1 - pseudo() % 40;
			delta = 0;
			plus = true;
		}
		/* wrapped round */
		if (plus ? height < delta : height > lo[ORACLE_LIMBS])
			continue;

		/* all of [height, height + 1) below the curve, or all above? */
		side = oracle_side(g, x, (dp_u128) height + 1, 0) <= 0 ? 1 :
			oracle_side(g, x, height, 0) >= 0 ? 0 : -1;
		quick = dp_gauss_quick(g, x, height);
		check(quick == side || quick < 0, "%s: quick says %d, truth %d", name, quick, side);
		check(quick >= 0 || delta <= 38, "%s: quick is unsure at a distance of %d",
			  name, (int) delta);
		if (side >= 0)
			check(dp_gauss_exact(g, &e, x, height, 0) == (side == 1),
				  "%s: exact against truth %d", name, side);
	}
}

/*
 * A point whose bits agree with the curve for "depth" words and then part from
 * it by one, downwards or upwards.  0 if the curve's word cannot be parted
 * from in that direction.
 */
static int
script_near_curve(const dp_gauss *g, dp_u128 x, int depth, bool above, dp_entropy *e)
{
	uint64_t	lo[ORACLE_LEN],
				hi[ORACLE_LEN];
	int			i;

	oracle(g, x, lo, hi);
	for (i = 1; i < depth; i++)
		entropy_word(e, lo[ORACLE_LIMBS - i], 8);
	if (lo[ORACLE_LIMBS - depth] == (above ? ~UINT64_C(0) : 0))
		return 0;
	entropy_word(e, lo[ORACLE_LIMBS - depth] + (above ? 1 : -1), 8);
	return 1;
}

/* the bytes that a trial reads to come to this point */
static void
draw_words(dp_entropy *e, const dp_gauss *g, int s, uint64_t height, uint64_t offset, bool minus)
{
	if (g->width_bits == 0)
		entropy_word(e, g->edge[s] + signs(g, s) * height + (minus ? 1 : 0), 8);
	else
	{
		entropy_word(e, g->edge[s] + height, 8);
		entropy_word(e, (offset << 1) | (minus ? 1 : 0), g->width_bits / 8 + 1);
	}
}

static void
check_ambiguous(const dp_gauss *g, const char *name)
{
	dp_entropy	e;
	int			i,
				depth,
				above;

	for (i = 0; i < 4; i++)
	{
		int			s = 1 + pseudo() % 15;
		uint64_t	offset = pseudo() & ((UINT64_C(1) << g->width_bits) - 1);
		uint64_t	x = ((uint64_t) s << g->width_bits) + offset;
		uint64_t	lo[ORACLE_LEN],
					hi[ORACLE_LEN];

		oracle(g, x, lo, hi);
		check(dp_gauss_quick(g, x, lo[ORACLE_LIMBS]) == -1, "%s: nothing to decide", name);

		for (depth = 1; depth <= 9; depth++)
		{
			for (above = 0; above <= 1; above++)
			{
				dp_i128		drawn;

				entropy_script(&e);
				if (!script_near_curve(g, x, depth, above, &e))
					continue;
				check(dp_gauss_exact(g, &e, x, lo[ORACLE_LIMBS], 0) == !above,
					  "%s: decision at word %d, above %d", name, depth, above);
				check(DP_ENTROPY_BLOCK - e.left <= 8 * 16, "%s: words drawn", name);

				/*
				 * Again, through dp_gauss_draw, negative.  After a
				 * rejection the next trial, all random, will not give the
				 * same x but once in a blue moon; for small sigma, a scripted
				 * bin 0 stands for it, behind all words that may be drawn.
				 */
				if (depth != 9)
					continue;
				entropy_script(&e);
				draw_words(&e, g, s, lo[ORACLE_LIMBS], offset, true);
				script_near_curve(g, x, depth, above, &e);
				/* rounds of 2, 4, 8, 16 words */
				for (int rest = depth; rest < 16; rest++)
					entropy_word(&e, 0, 8);
				draw_words(&e, g, 0, 0, 0, false);
				drawn = dp_gauss_draw(g, &e);
				check(drawn == (above ? 0 : -(dp_i128) x), "%s: draw decided at word %d, above %d",
					  name, depth, above);
			}
		}
	}
}

/* deep in the tail, where the height is divided by 2^shift */
static void
check_tail_decisions(const dp_gauss *g, const char *name)
{
	dp_entropy	e;
	uint64_t	length = (g->edge[DP_GAUSS_BINS + 1] - g->edge[DP_GAUSS_BINS]) / signs(g, DP_GAUSS_BINS);
	const int	points = sized(200, 200, 50);
	int			i;

	for (i = 0; i < points; i++)
	{
		unsigned	j = pseudo() % 4 == 0 ? pseudo() % 300 : pseudo() % 6;
		uint64_t	offset = pseudo() & ((UINT64_C(1) << g->width_bits) - 1);
		uint64_t	height = pseudo() % length;
		dp_u128		x = (((dp_u128) DP_GAUSS_BINS + j) << g->width_bits) + offset;
		unsigned	flip;
		dp_i128		drawn;
		int			side;

		side = oracle_side(g, x, (dp_u128) height + 1, j + 1) <= 0 ? 1 :
			oracle_side(g, x, height, j + 1) >= 0 ? 0 : -1;
		if (side < 0)
			continue;
		entropy_script(&e);
		draw_words(&e, g, DP_GAUSS_BINS, height, offset, false);
		for (flip = 0; flip < j; flip++)
			entropy_word(&e, 0xff, 1);
		entropy_word(&e, 0xfe, 1);
		drawn = dp_gauss_draw(g, &e);
		if (side == 1)
			check(drawn == (dp_i128) x, "%s: tail bin %u not accepted", name, j);
		else
			check(drawn != (dp_i128) x, "%s: tail bin %u accepted above the curve", name, j);
	}
}

/* hand-made bytes and what they mean */
static void
test_known_answers(void)
{
	dp_variance one = {1, 1},
				wide = {(dp_u128) 1 << 40, 1};
	dp_gauss	g;
	dp_entropy	e;
	uint64_t	digest[2] = {0};
	int			i;

	/* sigma = 1: bins of width 1, the lowest bit is the sign */
	dp_gauss_init(&g, &one);
	check(g.width_bits == 0, "width for sigma 1");
	for (i = 0; i < 6; i++)
	{
		entropy_script(&e);
		entropy_word(&e, g.edge[i], 8);
		check(dp_gauss_draw(&g, &e) == i, "sigma 1, bin %d, plus", i);
		entropy_script(&e);
		entropy_word(&e, g.edge[i] + 1, 8);
		check(dp_gauss_draw(&g, &e) == -i, "sigma 1, bin %d, minus", i);
		entropy_script(&e);
		entropy_word(&e, g.edge[i + 1] - DP_GAUSS_DOUBT - 1, 8);
		check(dp_gauss_draw(&g, &e) == -i && e.left == DP_ENTROPY_BLOCK - 8, "sigma 1, end of bin %d", i);
	}

	/* a number beyond the staircase is drawn again */
	entropy_script(&e);
	entropy_word(&e, ~UINT64_C(0), 8);
	entropy_word(&e, g.edge[DP_GAUSS_BINS + 1], 8);
	entropy_word(&e, g.edge[3] + 1, 8);
	check(dp_gauss_draw(&g, &e) == -3, "beyond the staircase, sigma 1");

	/* sigma = 2^20: bins of 2^18, the offset in bits 1 .. 18 */
	dp_gauss_init(&g, &wide);
	check(g.width_bits == 18, "width for sigma 2^20");
	entropy_script(&e);
	entropy_word(&e, g.edge[5], 8);
	entropy_word(&e, 0xf80000 | (12345 << 1) | 1, 3);
	check(dp_gauss_draw(&g, &e) == -((5 << 18) + 12345), "sigma 2^20, bin 5");

	/* and so is minus 0 */
	entropy_script(&e);
	entropy_word(&e, 0, 8);
	entropy_word(&e, 1, 3);
	entropy_word(&e, ~UINT64_C(0), 8);
	entropy_word(&e, g.edge[7], 8);
	entropy_word(&e, 1, 3);
	check(dp_gauss_draw(&g, &e) == -(7 << 18), "minus 0 and beyond the staircase, sigma 2^20");

	/* every bin's first point, and the words that it takes */
	for (i = 0; i < DP_GAUSS_BINS; i++)
	{
		/* far out, a step is too low to hold a point that is sure */
		if (g.edge[i + 1] - g.edge[i] < 4 * DP_GAUSS_DOUBT)
			continue;
		entropy_script(&e);
		draw_words(&e, &g, i, 0, 1, true);
		check(dp_gauss_draw(&g, &e) == -((i << 18) + 1) && e.left == DP_ENTROPY_BLOCK - 11, "sigma 2^20, bin %d", i);
	}

	/*
	 * A stream of pseudorandom words through several samplers, of bins of
	 * width 1 and of wider ones.  The constants were taken from this code:
	 * they tell when draws change, on any machine.
	 */
	for (i = 0; i < 4000; i++)
	{
		static const int sigma_bits[] = {0, 3, 20, 50};
		dp_variance v = {50, 3};
		uint64_t	state = i;
		int			k;

		v.num <<= 2 * sigma_bits[i % 4];
		if (i < 4 || i % 4 != (i - 1) % 4)
			dp_gauss_init(&g, &v);
		entropy_script(&e);
		for (k = 0; k < 40; k++)
		{
			uint64_t	z = (state += UINT64_C(0x9e3779b97f4a7c15));

			z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
			z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
			entropy_word(&e, z ^ (z >> 31), 8);
		}
		k = sigma_bits[i % 4] > 0;
		digest[k] = digest[k] * UINT64_C(0x100000001b3) + (uint64_t) dp_gauss_draw(&g, &e);
	}
	check(digest[0] == UINT64_C(0x13f5e24de154c0e0), "digest of known narrow draws is %016llx", (unsigned long long) digest[0]);
	check(digest[1] == UINT64_C(0x38983035e9a340d7), "digest of known wide draws is %016llx", (unsigned long long) digest[1]);
}

/* Checks samplers of known variances from the "first" on, then "others" of any variance. */
static void
each_sampler(void (*check_sampler) (const dp_gauss *g, const char *name), int first, int others)
{
	static const struct
	{
		const char *name;
		uint64_t	num;
		uint64_t	den;
		int			shift;
	}			known[] = {
		{"sigma 0.01", 1, 10000, 0}, {"sigma 0.3", 9, 100, 0}, {"sigma 1", 1, 1, 0},
		{"sigma 7.3", 5329, 100, 0}, {"sigma just below 8", 6399999, 100000, 0},
		{"sigma 8", 64, 1, 0}, {"sigma just below 16", 255999, 1000, 0}, {"sigma 1000", 1000000, 1, 0},
		{"sigma 2^32 sqrt(50/3)", 50, 3, 64}, {"sigma 2^60", 1, 1, 120},
	};
	dp_gauss	g;
	int			i;

	for (i = first; i < (int) (sizeof(known) / sizeof(known[0])); i++)
	{
		dp_variance v;

		v.num = (dp_u128) known[i].num << known[i].shift;
		v.den = known[i].den;
		check(dp_gauss_init(&g, &v), "%s is refused", known[i].name);
		check_sampler(&g, known[i].name);
	}
	for (i = 0; i < others; i++)
	{
		char		name[80];

		pseudo_sampler(&g);
		snprintf(name, sizeof(name), "sigma %.17g", dp_variance_sigma(&g.variance));
		check_sampler(&g, name);
	}
}

static void
test_staircase(void)
{
	each_sampler(check_staircase, 0, sized(60, 60, 10));
}

static void
test_decisions(void)
{
	each_sampler(check_decisions, 0, sized(60, 60, 10));
}

/* for tiny sigma nothing is to be seen beyond 0 */
static void
test_ambiguous(void)
{
	each_sampler(check_ambiguous, 2, 0);
}

static void
test_tail_decisions(void)
{
	each_sampler(check_tail_decisions, 0, 0);
}

void
gauss_exact_tests(void)
{
	RUN(test_range);
	RUN(test_known_answers);
	RUN(test_staircase);
	RUN(test_decisions);
	RUN(test_ambiguous);
	RUN(test_tail_decisions);
}
