/*-------------------------------------------------------------------------
 *
 * exp.c
 *	  Integer bounds around exp(-a) for a rational a >= 0.
 *
 * Invariants: no floating point; no table, rounding or truncation without a
 * bound on its error in a comment beside it; the bounds returned contain all
 * of those errors.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "exp.h"
#include "exp_table.h"
#include "limbs.h"
#include "pick.h"

/*
 * Write a = 8 h + i + j/8 + k/64 + l/512 + m/4096 + r with digits below 8 and
 * r < 2^-12; then exp(-a) is the product of six table entries and of exp(-r),
 * which is
 *
 *		1 - r (1 - r/2 (1 - r/3 (1 - r/4))) - (less than r^5/120 < 2^-66).
 *
 * Errors, in units of 2^-64; every factor is at most 1, so errors add:
 *	 - series: each floor costs below 1; those inside are multiplied by
 *	   r < 2^-12, the outermost is halved; with the remainder below 1 in all.
 *	   Writing 2^64 - 1 for 1 costs 1 more: below 2.
 *	 - each of six entries at most 1, and each of six products below 1: below
 *	   12.
 *	 - the argument is below a by at most 2^-64 + a 2^-61: at most
 *	   (1 + 8 a) exp(-a) < 3.4.
 * Together below 18.  Beyond DP_EXP64_LIMIT the true value is below 1 and 0 is
 * near enough.
 *
 * No branch and no address depends on a.
 */
uint64_t
dp_exp64(dp_u128 a)
{
	uint64_t	whole = (uint64_t) (a >> 64);
	uint64_t	frac = (uint64_t) a;
	uint64_t	within = -(uint64_t) (whole < DP_EXP64_LIMIT);
	uint64_t	r = frac & ((UINT64_C(1) << 52) - 1);
	uint64_t	t,
				x,
				y;

	t = r - dp_mulhi(r, r >> 2);
	t = r - dp_mulhi(r, t) / 3;
	t = r - dp_mulhi(r, t) / 2;

	/* as a tree: factors that need not wait for the series do not */
	x = dp_mulhi(dp_pick8(dp_exp_table[0], whole >> 3 & 7), dp_pick8(dp_exp_table[1], whole & 7));
	y = dp_mulhi(dp_pick8(dp_exp_table[2], frac >> 61), dp_pick8(dp_exp_table[3], frac >> 58 & 7));
	x = dp_mulhi(x, y);
	y = dp_mulhi(dp_pick8(dp_exp_table[4], frac >> 55 & 7), dp_pick8(dp_exp_table[5], frac >> 52 & 7));
	x = dp_mulhi(x, y);
	return dp_mulhi(x, ~t) & within;
}

/* Sets r = floor(a b / 2^(64 f)) for a, b, r of f + 1 limbs; r may be a or b. */
static void
fixed_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, int f, uint64_t *scratch)
{
	dp_limbs_mul(scratch, a, f + 1, b, f + 1);
	memcpy(r, scratch + f, (f + 1) * sizeof(uint64_t));
}

/*
 * In fixed point with f = n + 1 fraction limbs (one to absorb errors), unit
 * u = 2^(-64 f):
 *
 * 1. y = a / 2^k, truncated twice, with k such that y < 2^-8.  The truth is
 *	  at most 2 u above.
 * 2. exp(-y) by its Taylor series, positive and negative terms apart.  Each
 *	  term is computed from the one before with two floors and lies less than
 *	  2 u below the truth: the error it inherits is first multiplied by
 *	  y < 2^-8.  There are at most 8 f terms before they vanish, and what
 *	  follows is below 2 u.  With 1., the sum is wrong by less than 16 f + 4 u.
 * 3. k squarings, each of which at most doubles the error and adds 2 u.  The
 *	  result is wrong by less than 2^k (16 f + 6) u.
 *
 * As a < 45 n, 2^k <= 2^8 * 90 n, and for n <= 2^22 that error is below
 * 2^64 u = 2^(-64 n), one unit of the result.  So if z is the result cut to n
 * limbs, the truth lies above z - 1 and below z + 2.
 */
void
dp_exp_limbs(uint64_t *lo, uint64_t *hi, int n,
			 const uint64_t *a, int na, const uint64_t *b, int nb)
{
	int			f = n + 1;
	int			len = f + 1;
	uint64_t   *quot = __builtin_alloca((na + len) * sizeof(uint64_t));
	uint64_t   *rem = __builtin_alloca((nb + 1) * sizeof(uint64_t));
	uint64_t   *y = __builtin_alloca(len * sizeof(uint64_t));
	uint64_t   *term = __builtin_alloca(len * sizeof(uint64_t));
	uint64_t   *sum = __builtin_alloca(len * sizeof(uint64_t));
	uint64_t   *minus = __builtin_alloca(len * sizeof(uint64_t));
	uint64_t   *scratch = __builtin_alloca(2 * len * sizeof(uint64_t));
	uint64_t	i;
	int			k,
				j;
	bool		large;

	/* quot = floor(2^(64 f) a / b), with a zero limb on top */
	memset(quot, 0, (na + len) * sizeof(uint64_t));
	memcpy(quot + f, a, na * sizeof(uint64_t));
	dp_limbs_divide(quot, na + len, b, nb, rem);

	/* exp(-45 n) < 2^(-64 n) */
	large = quot[f] >= (uint64_t) DP_EXP64_LIMIT * n;
	for (j = 1; j <= na; j++)
		large |= quot[f + j] != 0;
	if (large)
	{
		memset(lo, 0, (n + 1) * sizeof(uint64_t));
		memset(hi, 0, (n + 1) * sizeof(uint64_t));
		hi[0] = 1;
		return;
	}

	k = 8 + dp_bitlen64((uint64_t) DP_EXP64_LIMIT * n);
	dp_limbs_shr(y, quot, len, k);

	memset(term, 0, len * sizeof(uint64_t));
	term[f] = 1;
	memcpy(sum, term, len * sizeof(uint64_t));
	memset(minus, 0, len * sizeof(uint64_t));
	for (i = 1; i <= (uint64_t) 8 * f + 1; i++)
	{
		fixed_mul(term, term, y, f, scratch);
		dp_limbs_div_small(term, len, i);
		if (i % 2 == 1)
			dp_limbs_add(minus, minus, term, len);
		else
			dp_limbs_add(sum, sum, term, len);
	}
	dp_limbs_sub(sum, sum, minus, len);

	while (k-- > 0)
		fixed_mul(sum, sum, sum, f, scratch);

	/* cut to n limbs; then [z - 1, z + 2), but not below 0 */
	memset(scratch, 0, len * sizeof(uint64_t));
	scratch[0] = 2;
	dp_limbs_add(hi, sum + 1, scratch, n + 1);
	scratch[0] = 1;
	if (dp_limbs_cmp(sum + 1, scratch, n + 1) >= 0)
		dp_limbs_sub(lo, sum + 1, scratch, n + 1);
	else
		memset(lo, 0, (n + 1) * sizeof(uint64_t));
}
