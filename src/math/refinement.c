/*-------------------------------------------------------------------------
 *
 * refinement.c
 *	  Several answers of one question: better ones from increments, worse ones from
 *	  a better one, and those between two.
 *
 * Invariants: integers only, except in dp_refine_sigma, which nothing is drawn
 * by; extras and tolls are rounded against the caller, draws are exact.
 *
 * The mean of increments
 * ------------------
 * Increments y_i = x + N_Z(0, v_i) with v_i = sens2 / (2 rho_i) are independent, so
 * together they are sum(rho_i)-zCDP (composition), and so is whatever is
 * computed from them.  Their mean m, weighted by rho_i, has the variance
 * V = sens2 / (2 sum rho_i), that of one answer at sum(rho_i).  dp_refine_mean
 * rounds it to a grid point R, |R - m| <= 1/2, so that the root of R's mean
 * squared error is at most sqrt(V) + 1/2.  From V = 1 on that error is at most
 * V + 1/4, up to 4 pi V exp(-2 pi^2 V) < 1e-7: completing the square in
 * sum (y_i - x)^2 / (2 v_i) leaves (m - x)^2 / (2 V) and a form in the
 * differences of the y_i; given these, m - x is a discrete Gaussian on Z plus a
 * constant, R - m is a constant, and the mean of m - x is 0 up to half of that.  Where
 * weights have no small common denominator R - m is as good as uniform, and the
 * error V + 1/12.  R - x is symmetric around 0, as ties go to the even point.
 *
 * Where a link stands for the last increment, or variances were rounded up, weights
 * are not quite those of the least variance, V0 = 1 / sum(1 / v_i).  Then the mean
 * of m - x, given the differences, has a variance of V - V0 itself, so
 * its covariance with R - m is at most sqrt(V - V0) / 2, and the error at most
 * V + sqrt(V - V0) + 1/4.  dp_refine_sigma tells these bounds, rounded up.
 *
 * A sum of discrete Gaussians
 * ---------------------------
 * is none, but nearly.  g_v(z) = exp(-z^2 / (2 v)) / T(v, 0), where
 * T(v, c) = sum over integers x of exp(-(x - c)^2 / (2 v)).
 *
 * Lemma 1.  For w = s t / (s + t) and all integers a, b, with c = (a + b) s / (s + t),
 *
 *		g_s(a) g_t(b) = exp(-(a + b)^2 / (2 (s + t))) exp(-(a - c)^2 / (2 w)) / (T(s, 0) T(t, 0)),
 *		(g_s * g_t)(n) / g_(s+t)(n) = T(w, c) T(s + t, 0) / (T(s, 0) T(t, 0)).
 *
 * Only T(w, c) depends on n, through c.  By Poisson summation T(w, c) is
 * sqrt(2 pi w) (1 + 2 sum_(k >= 1) exp(-2 pi^2 w k^2) cos(2 pi k c)), largest at
 * c = 0 and least at c = 1/2.  As both laws sum to 1, their ratio is not always
 * above 1 nor always below, so for all n
 *
 *		|log (g_s * g_t)(n) / g_(s+t)(n)| <= lambda(w) = log T(w, 0) / T(w, 1/2),
 *
 * and with q = exp(-2 pi^2 w) <= 1/16,  lambda(w) <= log (1 + 2 q + 3 q^4) /
 * (1 - 2 q) <= 5 q;  lambda(2) < 2.87e-17.  (Compare Kairouz, Liu, Steinke, "The
 * Distributed Discrete Gaussian Mechanism for Federated Learning with Secure
 * Aggregation", ICML 2021, who bound sums of n of one variance; here they are of two.)
 *
 * Links
 * -----
 * Extras are *grid values*: 4, 8, 12 ... (DP_REFINE_GAP times integers of GRID_BITS
 * significant bits).  Imagine the whole chain: y, and then at each grid value the
 * one above it with a draw of its own, of the gap's variance.  Whatever is
 * below a link of it is post-processing of that link, whoever asks for what, in
 * which order and after having seen what.
 *
 * The links that are drawn have nearly the joint law of the imagined ones.
 *	- A link below all others is its neighbour and a draw of g_v, where the
 *	  imagined chain has the sum of the gaps' draws: by Lemma 1 that is
 *	  lambda(w) for each grid value between, with w >= 4 * 4 / (4 + 4) = 2.
 *	- A link between two, whose difference n is drawn already, is drawn from the
 *	  law of a given a + b = n, a ~ g_s, b ~ g_t: then
 *	  g_(s+t)(n) P[a | n] = g_s(a) g_t(b) (g_(s+t) / (g_s * g_t))(n),
 *	  as if both had been drawn one after the other but for a factor within
 *	  exp(+- lambda(w)), w >= 2.  s + t is exactly the variance that n was
 *	  drawn with: grid values are integers, so that this holds at all.
 * Each grid value comes between two others at most once, or never comes, so in each
 * coordinate all factors together, at any time and for any choice of links, are
 * within exp(+- S), where S is the sum of lambda over all grid values.  At the first
 * 511 of them, 4 apart, w >= 2; then come 256 that are 8 apart, 256 that are 16
 * apart, ..., and w is at least a third of that (where the distance doubles, half
 * elsewhere): S < 512 lambda(2).  Choices that depend on what was seen are the same
 * functions of it in both worlds.
 *
 * What is not told yet
 * --------------------
 * Who has paid r for a link may pay the rest later, up to the increment's price, or spend it
 * on something else, as he likes after having seen the link.  So of a link it is not enough
 * that it costs r: what it leaves untold has to be worth the rest, whatever was seen.
 *
 * Lemma 2.  A variable in proportion to exp(-(z - c)^2 / (2 w)) on the integers, w >= 1/10, has for any real c
 * a variance of at least w (1 - kappa(w)), kappa(w) = 8 pi^2 w exp(-2 pi^2 w).
 * Proof.  The variance is w + w^2 f''(c) for f = log T(w, .), by differentiating the sum twice.  By
 * Jacobi's triple product T(w, c) is a constant times the product over n >= 1 of 1 + 2 Q cos(2 pi c) + Q^2,
 * Q = q^(2n - 1), q = exp(-2 pi^2 w).  With u = cos(2 pi c) a factor adds
 * -8 pi^2 Q ((1 + Q^2) u + 2 Q) / (1 + 2 Q u + Q^2)^2 to f''.  That falls as u grows: its derivative has the
 * sign of 8 Q^2 + 2 Q (1 + Q^2) u - (1 + Q^2)^2 <= -(1 + Q^2 - 4 Q) (1 + Q^2 + 2 Q), and Q <= q < 0.14.
 * So f'' is least at c = 0, with -8 pi^2 times the sum of Q / (1 + Q)^2, which is at most
 * q - 2 q^2 + 3 q^3 + q^3 / (1 - q^2) <= q.
 *
 * Lemma 3.  For laws p_t(y) in proportion to exp(t y) b(y), whose b >= 0 may have tails like a Gaussian's and whose
 * variance is at least m for each real t, D_a(p_s | p_t) >= a m (s - t)^2 / 2 for all orders a > 1.
 * Proof.  With A(t) = log sum exp(t y) b(y), A'' the variance, and g(k) = A(t + k (s - t)),
 * (a - 1) D_a = g(a) - a g(1) + (a - 1) g(0), as the sum of p_s^a p_t^(1 - a) shows.  g(k) - k^2 m (s - t)^2 / 2 is
 * convex, and a convex h has h(1) <= h(a) / a + (1 - 1 / a) h(0); so
 * (a - 1) D_a is at least what k^2 m (s - t)^2 / 2 in the place of g makes of it.
 *
 * Take one coordinate, an increment y = x + N_Z(0, v), and links of it that were seen, the dearest of which is z, of
 * extra e.  Given y, they have the law g_e(z - y) h within exp(+- 2 S), where h does not depend on y: the
 * imagined chain has a sum of draws in the place of g_e, by which it differs as above.  No draw looks at x but the
 * increment's, so given what was seen the law of y is in proportion to exp(x y / v) b(y), with b the same for all
 * x.  For any real x it is within exp(+- 4 S) of the law in Lemma 2 with w = v e / (v + e); and
 * a variance, the least mean square around a point, is at least exp(-4 S) of that of the other.  So by Lemma 3 the
 * laws of y, given the same that was seen, for x and for x' that differ by k have for all orders
 *
 *		D_a >= a (1 - kappa') (k^2 / (2 v) - k^2 / (2 V)),		V = v + e, kappa' = kappa(w) + 4 S,		(*)
 *
 * and divergences of coordinates, whose draws are independent, add up; k^2 is then the squared length of the
 * difference.
 *
 * Theorem.  Let somebody buy as he likes, after having seen what, anything that given all that he has seen is
 * rho-zCDP for its price rho, by randomness of its own, and links and increments of chains for the difference to what he has paid for the
 * same increment.  Let links at r of an increment at p, of a part that neighbours change by at most sens2 in L2 squared,
 * satisfy
 *
 *		sens2 / (2 V) <= r - kappa' p.
 *
 * If he never pays more than R in all, what he sees is R-zCDP.
 *
 * Proof (a filter as in Feldman and Zrnic,
 * "Individual Privacy Accounting via a Renyi Filter", NeurIPS 2021, Theorem 3.1, where single steps of a chain
 * may tell more than their prices).  Fix neighbours, and an order a.  With c = a (a - 1), what has to be shown
 * is that E (P / Q)^a <= exp(c R), for the laws P and Q of all that is seen, under Q.  Of an increment whose x
 * changes by k let K = k^2 / (2 v) <= p, and left(r) = max(0, K - r), what is left of it after r > 0 was paid;
 * left(p) = 0.  For what was seen of it let m be E (P / Q)^a of y given that, 1 once y itself was
 * seen.  Then m >= exp(c left(r)): by (*) it suffices that K - r <= (1 - kappa') (K - k^2 / (2 V)), that is r >=
 * k^2 / (2 V) + kappa' (K - k^2 / (2 V)), and of all k it is the largest for which this says most.  Claim: who
 * may still pay s, and has paid r_i for those increments of which he has paid anything, has
 *
 *		E (P / Q)^a of all that he will see <= exp(c (s - sum of left(r_i))) times the product of m_i.
 *
 * By induction over his steps.  If he stops it says 1 <= that, by m_i >= exp(c left(r_i)).  If he buys something
 * else for rho, a factor of at most exp(c rho) comes, and s is less by rho.  If he pays r' - r for more of a
 * increment, and sees z', then E (P / Q)^a(z') m(z') = m, as z' is y with noise that does not depend on x; s is less
 * by r' - r, and left(r) - left(r') is at most that.  If it is the first that he pays for it, r', the same mean is
 * E (P / Q)^a of y, at most exp(c K), as x + N_Z(0, v) is K-zCDP (Canonne, Kamath, Steinke, Theorem 4); and
 * K - left(r') <= r'.  At the beginning nothing was paid, and s = R.
 *
 * It assumes that he knows of others' answers, and of what they chose to ask, nothing that he has not paid for.
 * Who puts answers together is one asker who has paid the largest price of them.  Parts of a column
 * share its price in fixed proportions; what rounding takes from a share is on the safe side.
 *
 * The *toll* is a bound of kappa' p, rounded up, the same for all links of an increment, so that a dearer one never
 * has a larger extra: w is at least 4 v / (4 + v).  It is one amount, 1e-12, for v >= 4 and p up to 4.  Nothing is made
 * of increments with v < 1: there kappa is large, and without it who chooses would get more than he pays: 3.4 % at
 * v = 0.1, p = 5, r = 0.126.
 *
 * Who knows several increments, and a link of one, has all of them composed: the
 * sum of their rho.
 *
 * A draw between two links
 * ------------------------
 * By Lemma 1 the law of a given a + b = n is exp(-(a - c)^2 / (2 w)) / T(w, c).
 * With the integer m nearest to c, and u = c - m, |u| <= 1/2: a = m + z, where z is
 * drawn from g_W, an integer W > w, and accepted with the probability
 *
 *		exp(-(z - u)^2 / (2 w) + z^2 / (2 W) - 1 / (8 (W - w))).
 *
 * Its exponent is at most 0: it is largest at z = u W / (W - w), where it is
 * (u^2 - 1/4) / (2 (W - w)).  What is accepted is in proportion to
 * exp(-(z - u)^2 / (2 w)), as it should be.  Of all trials the share
 *
 *		exp(-1 / (8 (W - w))) T(w, u) / T(W, 0)
 *
 * is accepted, which is sqrt(w / W) exp(-1 / (8 (W - w))) but for lambda(w): it depends
 * neither on n nor on u, and so does not tell them.  W = floor(w) + 1 + h for the power of two h
 * with h^2 <= 2 w, 2 h^2 >= w, so h < W - w <= h + 1.  That is never less than 0.6
 * (w = 2: h = 2, W = 5), and goes to 1 as w grows.
 *
 * With w = s t / N, N = s + t, the integers E = N (W - w) and r = N u, the exponent is
 *
 *		-(z E - r W)^2 / (2 s t W E) - (N^2 - 4 r^2) / (8 N E),
 *
 * a rational; uniform bits are compared with bounds around its exponential until
 * they decide, as in gauss.c.
 *
 * Running time.  How many trials there are tells nothing: see above.  A trial
 * that its first bits do not decide takes some microseconds more; of those with
 * an exponent of size x that is a share between x and 4 x, so that here, unlike in
 * gauss.c, the time depends a little on what is drawn.  It is one draw's share in
 * the time of a release, which answer_step hides.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "exp.h"
#include "refinement.h"
#include "limbs.h"

/* 1 / (2 rho) = HALF_RHO_ONE / (rho as an amount), as in calibrate.c */
#define HALF_RHO_ONE	((uint64_t) DP_RHO_ONE / 2)

/* sens2 at most 2^100, variances at most 2^120 */
#define MAX_SENS2		((dp_u128) 1 << 100)
#define MAX_VARIANCE	((dp_u128) 1 << 120)

/* grid values, in units of DP_REFINE_GAP, have so many significant bits */
#define GRID_BITS		9

/* fraction bits with which the extra that is needed is computed */
#define EXTRA_BITS		16

/* 4 * 28.47, rounded down: exp(-2 pi^2 w) < 2^-(28.47 w) */
#define DECAY_OF_GAP	113

/* 8 pi^2 w < 2^9 for w <= 4: kappa(w) < 2^-(28.47 w - 9), and as 4 S < 6e-14, kappa' < 2^-(28.47 w - 10) or 2^-42 */
#define KAPPA_BITS		10
#define MOST_TOLL_BITS	42

static dp_u128
magnitude(dp_i128 a)
{
	return a < 0 ? -(dp_u128) a : (dp_u128) a;
}

/* Returns the bits of a number of n limbs up to the highest set one. */
static int
bit_length(const uint64_t *a, int n)
{
	while (n > 0 && a[n - 1] == 0)
		n--;
	return n == 0 ? 0 : 64 * (n - 1) + dp_bitlen64(a[n - 1]);
}

/* Returns q or q + 1, whichever is nearer to q + rem / den, the even one if neither is; rem < den < 2^127. */
static dp_u128
round_even(dp_u128 q, dp_u128 rem, dp_u128 den)
{
	if (2 * rem > den || (2 * rem == den && (q & 1) != 0))
		q++;
	return q;
}

/* Does dp_refine_mean where 128 bits hold the weighted sum. */
static bool
mean_narrow(const dp_i128 *y, const int64_t *rho, int n, dp_u128 total, dp_i128 *mean)
{
	dp_i128		sum = 0;
	dp_u128		size;

	for (int i = 0; i < n; i++)
	{
		dp_i128		product;

		if (__builtin_mul_overflow((dp_i128) y[i], (dp_i128) rho[i], &product) ||
			__builtin_add_overflow((dp_i128) sum, product, &sum))
			return false;
	}
	size = magnitude(sum);
	size = round_even(size / total, size % total, total);
	*mean = (dp_i128) (sum < 0 ? -size : size);
	return true;
}

/*
 * A value's magnitude is at most 2^127 and a weight below 2^63, so sums of
 * 2^31 products have less than 222 bits.  The mean lies between the least and
 * the largest value, and so does its nearest integer.
 */
dp_i128
dp_refine_mean(const dp_i128 *y, const int64_t *rho, int n)
{
	dp_u128		total = 0;
	uint64_t	sum[2][4] = {{0}};
	uint64_t	den[2];
	uint64_t	rem[3];
	dp_i128		mean;
	dp_u128		size;
	int			less;

	if (n == 1)
		return y[0];
	for (int i = 0; i < n; i++)
		total += (uint64_t) rho[i];
	if (mean_narrow(y, rho, n, total, &mean))
		return mean;

	for (int i = 0; i < n; i++)
	{
		uint64_t   *side = sum[y[i] < 0];
		uint64_t	weight = (uint64_t) rho[i];
		uint64_t	value[2];
		uint64_t	product[4] = {0};

		dp_limbs_set(value, 2, magnitude(y[i]));
		dp_limbs_mul(product, value, 2, &weight, 1);
		dp_limbs_add(side, side, product, 4);
	}
	less = dp_limbs_cmp(sum[0], sum[1], 4) < 0;
	dp_limbs_sub(sum[less], sum[less], sum[!less], 4);
	dp_limbs_set(den, 2, total);
	dp_limbs_divide(sum[less], 4, den, 2, rem);
	size = round_even((dp_u128) sum[less][1] << 64 | sum[less][0], (dp_u128) rem[1] << 64 | rem[0], total);
	return (dp_i128) (less ? -size : size);
}

double
dp_refine_sigma(const dp_variance *v, const int64_t *rho, int n)
{
	double		total = 0,
				sum = 0,
				inverse = 0,
				excess;

	if (n == 1)
		return dp_variance_sigma(v);
	for (int i = 0; i < n; i++)
		total += (double) rho[i];
	for (int i = 0; i < n; i++)
	{
		double		sigma = dp_variance_sigma(&v[i]);
		double		part = (double) rho[i] / total * sigma;

		sum += part * part;
		inverse += 1 / (sigma * sigma);
	}
	if (sum < 1)
		return (sqrt(sum) + 0.5) * (1 + 1e-12);
	/* more than what so many roundings can do */
	excess = fmax(sum - 1 / inverse, 0) + 1e-14 * sum;
	return sqrt(sum + sqrt(excess) + 0.25) * (1 + 1e-12);
}

/* Returns a lower bound of 28.47 w, for w = v gap / (v + gap). */
static int
decay_beside(const dp_variance *v)
{
	dp_u128		num = v->num,
				den = v->den;
	int			shift = dp_bitlen128(den) - 64;

	/* w grows with v: v counts as 2^20 where it is more */
	if (num / den >= 1 << 20)
	{
		num = 1 << 20;
		den = 1;
	}
	else if (shift > 0)
	{
		num >>= shift;
		den = (den >> shift) + 1;
	}
	return (int) (DECAY_OF_GAP * num / (num + DP_REFINE_GAP * den));
}

/* Returns by how much rho has to be lowered for a link of an increment that was bought at rho, of variance v >= 1. */
static int64_t
toll(int64_t rho, const dp_variance *v)
{
	int			bits = decay_beside(v) - KAPPA_BITS;

	return (rho >> (bits < MOST_TOLL_BITS ? bits : MOST_TOLL_BITS)) + 1;
}

/*
 * Sets the smallest grid value, in units of the gap, of at least sens2 / (2 rho) -
 * v, and of at least 1.  False if it is beyond MAX_VARIANCE.
 */
static bool
grid_value_for(dp_u128 sens2, int64_t rho, const dp_variance *v, dp_u128 *nearest)
{
	uint64_t	sens_limbs[2];
	uint64_t	mult = HALF_RHO_ONE << EXTRA_BITS;
	uint64_t	need[3],
				have[3] = {0},
				v_limbs[3],
				den[2],
				rem[3];
	dp_u128		q;
	int			bits;

	if (rho < 1)
		return false;
	/* rounded up; the variance that is there, down */
	dp_limbs_set(sens_limbs, 2, sens2);
	dp_limbs_mul(need, sens_limbs, 2, &mult, 1);
	have[0] = dp_limbs_div_small(need, 3, (uint64_t) rho) != 0;
	dp_limbs_add(need, need, have, 3);
	dp_limbs_set(v_limbs, 3, v->num);
	dp_limbs_shl(have, v_limbs, 3, EXTRA_BITS);
	dp_limbs_set(den, 2, v->den);
	dp_limbs_divide(have, 3, den, 2, rem);
	if (dp_limbs_cmp(need, have, 3) < 0)
		memset(need, 0, sizeof(need));
	else
		dp_limbs_sub(need, need, have, 3);
	if (bit_length(need, 3) > 121 + EXTRA_BITS)
		return false;
	bits = dp_limbs_div_small(need, 3, (uint64_t) DP_REFINE_GAP << EXTRA_BITS) != 0;
	q = ((dp_u128) need[1] << 64 | need[0]) + bits;
	if (q == 0)
		q = 1;
	bits = dp_bitlen128(q) - GRID_BITS;
	if (bits > 0)
		q = (q + ((dp_u128) 1 << bits) - 1) >> bits << bits;
	*nearest = q;
	return q <= MAX_VARIANCE / DP_REFINE_GAP;
}

bool
dp_refine_extra(dp_u128 sens2, int64_t rho, const dp_variance *v, int64_t wanted, dp_u128 *extra)
{
	if (sens2 == 0 || sens2 > MAX_SENS2 || rho > DP_RHO_MAX || wanted < 1 || wanted > rho ||
		v->den == 0 || v->num / v->den > MAX_VARIANCE)
		return false;
	*extra = 0;
	if (wanted == rho)
		return true;
	if (v->num < v->den || !grid_value_for(sens2, wanted - toll(rho, v), v, extra))
		return false;
	*extra *= DP_REFINE_GAP;
	return true;
}

void
dp_refine_variance(const dp_variance *v, dp_u128 extra, dp_variance *result)
{
	dp_u128		num;

	result->den = v->den;
	if (!__builtin_mul_overflow((dp_u128) v->den, (dp_u128) extra, &num) &&
		!__builtin_add_overflow((dp_u128) v->num, num, &result->num))
		return;
	result->num = v->num / v->den + (v->num % v->den != 0) + extra;
	result->den = 1;
}

bool
dp_bridge_init(dp_bridge *b, dp_u128 above, dp_u128 below)
{
	uint64_t	above_limbs[2],
				below_limbs[2],
				total[2],
				wide[2];
	uint64_t	product[4],
				whole[4],
				excess[4],
				rem[3],
				eight_total[2],
				scaled[8];
	dp_u128		floor_inner;
	dp_variance v;

	if (above < DP_REFINE_GAP || below < DP_REFINE_GAP || above > MAX_VARIANCE ||
		below > MAX_VARIANCE - above)
		return false;
	memset(b, 0, sizeof(*b));
	b->above = above;
	b->total = above + below;

	/* wide = floor(w) + 1 + 2^(half the bits of w), w = above below / total */
	dp_limbs_set(above_limbs, 2, above);
	dp_limbs_set(below_limbs, 2, below);
	dp_limbs_set(total, 2, b->total);
	dp_limbs_mul(product, above_limbs, 2, below_limbs, 2);
	memcpy(whole, product, sizeof(whole));
	dp_limbs_divide(whole, 4, total, 2, rem);
	floor_inner = (dp_u128) whole[1] << 64 | whole[0];
	b->wide = floor_inner + 1 + ((dp_u128) 1 << dp_bitlen128(floor_inner) / 2);
	v.num = b->wide;
	v.den = 1;
	if (!dp_gauss_init(&b->gauss, &v))
		return false;

	dp_limbs_set(wide, 2, b->wide);
	dp_limbs_mul(excess, wide, 2, total, 2);
	dp_limbs_sub(excess, excess, product, 4);
	memcpy(b->excess, excess, sizeof(b->excess));
	dp_limbs_mul(b->product, product, 4, wide, 2);
	dp_limbs_set(eight_total, 2, 8 * b->total);
	dp_limbs_mul(scaled, b->product, 6, eight_total, 2);
	dp_limbs_mul(b->den, scaled, 8, b->excess, 3);
	return true;
}

/*
 * Runs one round of under_exp, as exact_round in gauss.c: u has been drawn to
 * "have" limbs, the most significant first, and is compared to n limbs.
 */
static bool
under_exp_round(dp_entropy *e, const uint64_t *num, int nnum, const uint64_t *den, int nden,
				int n, const uint64_t *old, int have)
{
	uint64_t   *drawn = __builtin_alloca(n * sizeof(uint64_t));
	uint64_t   *point = __builtin_alloca((n + 1) * sizeof(uint64_t));
	uint64_t   *one = __builtin_alloca((n + 1) * sizeof(uint64_t));
	uint64_t   *low = __builtin_alloca((n + 1) * sizeof(uint64_t));
	uint64_t   *high = __builtin_alloca((n + 1) * sizeof(uint64_t));

	for (int i = 0; i < n; i++)
	{
		drawn[i] = i < have ? old[i] : dp_entropy_take(e, 8);
		point[n - 1 - i] = drawn[i];
	}
	point[n] = 0;
	dp_exp_limbs(low, high, n, num, nnum, den, nden);
	/* exp is not below a high that is not above u */
	if (dp_limbs_cmp(point, high, n + 1) >= 0)
		return false;
	memset(one, 0, (n + 1) * sizeof(uint64_t));
	one[0] = 1;
	dp_limbs_add(point, point, one, n + 1);
	if (dp_limbs_cmp(point, low, n + 1) <= 0)
		return true;

	/*
	 * ends, and within the stack, for the reason in gauss.c: exp is
	 * irrational
	 */
	return under_exp_round(e, num, nnum, den, nden, 2 * n, drawn, n);
}

/* Returns true with the probability exp(-num / den), exactly; num has 12 limbs and den 11, and is not 0. */
static bool
under_exp(dp_entropy *e, const uint64_t *num, const uint64_t *den)
{
	int			num_bits = bit_length(num, 12);
	int			den_bits = bit_length(den, 11);
	int			bits = den_bits - num_bits - 1;
	uint64_t	u = dp_entropy_take(e, 8);

	if (num_bits == 0)
		return true;

	/*
	 * num / den < 2^-bits, so exp > 1 - 2^-bits: u is below unless its first
	 * "bits" bits are all 1
	 */
	if (bits > 64)
		bits = 64;
	if (bits > 0 && u >> (64 - bits) != ~UINT64_C(0) >> (64 - bits))
		return true;
	return under_exp_round(e, num, (num_bits + 63) / 64, den, (den_bits + 63) / 64, 2, &u, 1);
}

/* Sets centre to the nearest integer to n above / total, n >= 0, and rest to n above - centre total. */
static void
find_centre(const dp_bridge *b, dp_u128 n, dp_u128 *centre, dp_i128 *rest)
{
	dp_u128		product;
	dp_u128		rem;

	if (!__builtin_mul_overflow((dp_u128) n, (dp_u128) b->above, &product))
	{
		*centre = product / b->total;
		rem = product % b->total;
	}
	else
	{
		uint64_t	n_limbs[2],
					above[2],
					total[2],
					quot[4],
					left[3];

		dp_limbs_set(n_limbs, 2, n);
		dp_limbs_set(above, 2, b->above);
		dp_limbs_set(total, 2, b->total);
		dp_limbs_mul(quot, n_limbs, 2, above, 2);
		dp_limbs_divide(quot, 4, total, 2, left);
		*centre = (dp_u128) quot[1] << 64 | quot[0];
		rem = (dp_u128) left[1] << 64 | left[0];
	}
	*rest = (dp_i128) rem;
	if (2 * rem > b->total)
	{
		++*centre;
		*rest -= (dp_i128) b->total;
	}
}

/*
 * Decides whether z, drawn around a centre that is rest / total too small, is
 * accepted: the exponent is
 *
 *	(4 total (z excess - rest wide)^2 + above below wide (total^2 - 4 rest^2))
 *	/ (8 above below wide total excess).
 *
 * Of z 128 bits count, so the square has less than 2 (128 + 182) and the first
 * product less than 744.
 */
static bool
accept(const dp_bridge *b, dp_i128 z, dp_i128 rest, dp_entropy *e)
{
	uint64_t	limbs[2],
				wide[2],
				left[5],
				right[5] = {0},
				square[10],
				four_total[2],
				num[12],
				total2[4],
				rest2[4],
				more[10],
				spread[12] = {0};

	dp_limbs_set(limbs, 2, magnitude(z));
	dp_limbs_mul(left, limbs, 2, b->excess, 3);
	dp_limbs_set(limbs, 2, magnitude(rest));
	dp_limbs_set(wide, 2, b->wide);
	dp_limbs_mul(right, limbs, 2, wide, 2);
	if ((z < 0) != (rest < 0))
		dp_limbs_add(left, left, right, 5);
	else if (dp_limbs_cmp(left, right, 5) >= 0)
		dp_limbs_sub(left, left, right, 5);
	else
		dp_limbs_sub(left, right, left, 5);
	dp_limbs_mul(square, left, 5, left, 5);
	dp_limbs_set(four_total, 2, 4 * b->total);
	dp_limbs_mul(num, square, 10, four_total, 2);

	dp_limbs_set(limbs, 2, 2 * magnitude(rest));
	dp_limbs_mul(rest2, limbs, 2, limbs, 2);
	dp_limbs_set(limbs, 2, b->total);
	dp_limbs_mul(total2, limbs, 2, limbs, 2);
	dp_limbs_sub(total2, total2, rest2, 4);
	dp_limbs_mul(more, b->product, 6, total2, 4);
	memcpy(spread, more, sizeof(more));
	dp_limbs_add(num, num, spread, 12);
	return under_exp(e, num, b->den);
}

dp_i128
dp_bridge_draw(const dp_bridge *b, dp_i128 n, dp_entropy *e)
{
	dp_u128		centre;
	dp_i128		rest;
	dp_i128		z;

	find_centre(b, magnitude(n), &centre, &rest);
	do
		z = dp_gauss_draw(&b->gauss, e);
	while (!accept(b, z, rest, e));
	z += (dp_i128) centre;
	return n < 0 ? -z : z;
}
