/*-------------------------------------------------------------------------
 *
 * limbs.h
 *	  Natural numbers of any length, for the few places where 128 bits end.
 *
 * A number is an array of 64-bit limbs, least significant first, with a
 * length fixed by the caller; no function allocates.  The schoolbook methods
 * used here are slow on purpose: what runs through them runs once per
 * prepared sampler or once in 2^50 draws, and being obviously right is worth
 * more there than speed.
 *
 * Unless said otherwise an output must not overlap an input.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LIMBS_H
#define DP_LIMBS_H

#include <stdint.h>

#include "wide.h"

/* Returns the upper half of a product: floor(a b / 2^64). */
static inline uint64_t
dp_mulhi(uint64_t a, uint64_t b)
{
	return (uint64_t) (((dp_u128) a * b) >> 64);
}

/* Returns the number of bits up to the highest set one; 0 for 0. */
static inline int
dp_bitlen64(uint64_t a)
{
	return a == 0 ? 0 : 64 - __builtin_clzll(a);
}

static inline int
dp_bitlen128(dp_u128 a)
{
	uint64_t	high = (uint64_t) (a >> 64);

	return high != 0 ? 64 + dp_bitlen64(high) : dp_bitlen64((uint64_t) a);
}

/* Sets r[0 .. n-1] = a; n >= 2. */
extern void dp_limbs_set(uint64_t *r, int n, dp_u128 a);

/* Returns -1, 0, 1 as a <, =, > b, both of n limbs. */
extern int	dp_limbs_cmp(const uint64_t *a, const uint64_t *b, int n);

/* Sets r = a - b, all of n limbs, modulo 2^(64 n); r may be a or b. */
extern void dp_limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, int n);

/* Sets r = a + b, all of n limbs, modulo 2^(64 n); r may be a or b. */
extern void dp_limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, int n);

/* Sets r[0 .. na+nb-1] = a b. */
extern void dp_limbs_mul(uint64_t *r, const uint64_t *a, int na, const uint64_t *b, int nb);

/* Sets a = floor(a / d) in place, d > 0; returns the remainder. */
extern uint64_t dp_limbs_div_small(uint64_t *a, int n, uint64_t d);

/* Set r = a 2^bits or floor(a / 2^bits), both of n limbs; bits that leave are lost. */
extern void dp_limbs_shl(uint64_t *r, const uint64_t *a, int n, uint64_t bits);
extern void dp_limbs_shr(uint64_t *r, const uint64_t *a, int n, uint64_t bits);

/*
 * Divides a by b: a[0 .. na-1] becomes the quotient floor(a / b), rem[0 .. nb]
 * the remainder.  b has nb limbs and is not 0; rem has nb + 1.
 */
extern void dp_limbs_divide(uint64_t *a, int na, const uint64_t *b, int nb, uint64_t *rem);

#endif							/* DP_LIMBS_H */
