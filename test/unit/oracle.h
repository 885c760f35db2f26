/*
 * oracle.h
 *	  The height of the sampler's curve to many digits, for its tests.
 */
#ifndef DP_ORACLE_H
#define DP_ORACLE_H

#include <string.h>

#include "math/exp.h"
#include "math/limbs.h"
#include "unit.h"

#define ORACLE_LIMBS 12
#define ORACLE_LEN (ORACLE_LIMBS + 2)

/*
 * lo <= f(x) 2^(64 ORACLE_LIMBS) <= hi with f(x) = scale exp(-x^2 / 2 sigma^2);
 * limb ORACLE_LIMBS is f's integer part.
 */
static inline void
oracle(const dp_gauss *g, dp_u128 x, uint64_t *lo, uint64_t *hi)
{
	uint64_t	limbs[2],
				x2[4],
				num[6],
				den[3],
				exp_lo[ORACLE_LIMBS + 1],
				exp_hi[ORACLE_LIMBS + 1];

	dp_limbs_set(limbs, 2, x);
	dp_limbs_mul(x2, limbs, 2, limbs, 2);
	dp_limbs_set(limbs, 2, g->variance.den);
	dp_limbs_mul(num, x2, 4, limbs, 2);
	dp_limbs_set(den, 3, g->variance.num);
	dp_limbs_add(den, den, den, 3);
	dp_exp_limbs(exp_lo, exp_hi, ORACLE_LIMBS, num, 6, den, 3);
	dp_limbs_mul(lo, exp_lo, ORACLE_LIMBS + 1, &g->scale, 1);
	dp_limbs_mul(hi, exp_hi, ORACLE_LIMBS + 1, &g->scale, 1);
}

/* height / 2^shift compared with f(x): -1 below, 1 above, 0 too close */
static inline int
oracle_side(const dp_gauss *g, dp_u128 x, dp_u128 height, unsigned shift)
{
	uint64_t	lo[ORACLE_LEN],
				hi[ORACLE_LEN],
				raw[ORACLE_LEN] = {0},
				point[ORACLE_LEN];

	oracle(g, x, lo, hi);
	raw[ORACLE_LIMBS] = (uint64_t) height;
	raw[ORACLE_LIMBS + 1] = (uint64_t) (height >> 64);
	dp_limbs_shr(point, raw, ORACLE_LEN, shift);
	if (dp_limbs_cmp(point, lo, ORACLE_LEN) < 0)
		return -1;
	return dp_limbs_cmp(point, hi, ORACLE_LEN) > 0 ? 1 : 0;
}

#endif							/* DP_ORACLE_H */
