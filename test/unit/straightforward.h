/*
 * straightforward.h
 *	  The discrete Gaussian as it is written down in the paper: Canonne, Kamath,
 *	  Steinke, "The Discrete Gaussian for Differential Privacy" (NeurIPS 2020),
 *	  algorithms 1 to 3.  The benchmarks compare the sampler with it.
 *
 * Rational arithmetic throughout, with numbers as long as the variance needs
 * and no longer.
 */
#ifndef DP_STRAIGHTFORWARD_H
#define DP_STRAIGHTFORWARD_H

#include <stdlib.h>
#include <string.h>

#include "math/gauss.h"
#include "math/limbs.h"

/* numerators and denominators: (|y| t den + num)^2 for sigma up to 2^60 */
#define CKS_LIMBS 10

typedef struct cks_number
{
	int			n;				/* limbs that count */
	uint64_t	limb[CKS_LIMBS];
} cks_number;

static inline void
cks_trim(cks_number *a)
{
	while (a->n > 1 && a->limb[a->n - 1] == 0)
		a->n--;
}

static inline cks_number
cks_from(dp_u128 v)
{
	cks_number	r = {2, {(uint64_t) v, (uint64_t) (v >> 64)}};

	cks_trim(&r);
	return r;
}

static inline cks_number
cks_mul(const cks_number *a, const cks_number *b)
{
	cks_number	r;

	if (a->n + b->n > CKS_LIMBS)
		abort();
	r.n = a->n + b->n;
	dp_limbs_mul(r.limb, a->limb, a->n, b->limb, b->n);
	cks_trim(&r);
	return r;
}

static inline int
cks_cmp(const cks_number *a, const cks_number *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return dp_limbs_cmp(a->limb, b->limb, a->n);
}

/* uniform on 0 .. bound - 1 */
static inline cks_number
cks_uniform(dp_entropy *e, const cks_number *bound)
{
	int			top_bits = dp_bitlen64(bound->limb[bound->n - 1]);
	uint64_t	mask = ~UINT64_C(0) >> (64 - top_bits);
	cks_number	r;
	int			i;

	do
	{
		r.n = bound->n;
		for (i = 0; i < r.n - 1; i++)
			r.limb[i] = dp_entropy_take(e, 8);
		r.limb[i] = dp_entropy_take(e, (top_bits + 7) / 8) & mask;
		cks_trim(&r);
	} while (cks_cmp(&r, bound) >= 0);
	return r;
}

static inline bool
cks_bernoulli(dp_entropy *e, const cks_number *num, const cks_number *den)
{
	cks_number	u = cks_uniform(e, den);

	return cks_cmp(&u, num) < 0;
}

/* algorithm 1, exp(-num / den) for num <= den */
static inline bool
cks_bernoulli_exp1(dp_entropy *e, const cks_number *num, const cks_number *den)
{
	uint64_t	k = 1;

	for (;; k++)
	{
		cks_number	factor = cks_from(k);
		cks_number	product = cks_mul(den, &factor);

		if (!cks_bernoulli(e, num, &product))
			return k % 2 == 1;
	}
}

/* algorithm 1, any num / den */
static inline bool
cks_bernoulli_exp(dp_entropy *e, cks_number num, const cks_number *den)
{
	cks_number	one = cks_from(1);

	while (cks_cmp(&num, den) > 0)
	{
		cks_number	less = {num.n, {0}};

		if (!cks_bernoulli_exp1(e, &one, &one))
			return false;
		memcpy(less.limb, den->limb, den->n * sizeof(uint64_t));
		dp_limbs_sub(num.limb, num.limb, less.limb, num.n);
		cks_trim(&num);
	}
	return cks_bernoulli_exp1(e, &num, den);
}

/* algorithm 2: the discrete Laplace of scale t; *minus is its sign */
static inline dp_u128
cks_laplace(dp_entropy *e, dp_u128 t, bool *minus)
{
	cks_number	scale = cks_from(t);
	cks_number	one = cks_from(1);

	for (;;)
	{
		cks_number	u = cks_uniform(e, &scale);
		dp_u128		y;
		uint64_t	v = 0;

		if (!cks_bernoulli_exp(e, u, &scale))
			continue;
		while (cks_bernoulli_exp1(e, &one, &one))
			v++;
		y = u.limb[0] + (u.n > 1 ? (dp_u128) u.limb[1] << 64 : 0) + t * v;
		*minus = dp_entropy_take(e, 1) & 1;
		if (y != 0 || !*minus)
			return y;
	}
}

/* algorithm 3; root is the floor of sigma */
static inline dp_i128
cks_gauss(dp_entropy *e, const dp_variance *v, dp_u128 root)
{
	dp_u128		t = root + 1;
	cks_number	p = cks_from(v->num);
	cks_number	q = cks_from(v->den);
	cks_number	scale = cks_from(t);
	cks_number	two = cks_from(2);
	cks_number	tq = cks_mul(&scale, &q);
	cks_number	bound;

	/* (y - p / (q t))^2 / (2 p / q) = (y t q - p)^2 / (2 p q t^2) */
	bound = cks_mul(&tq, &scale);
	bound = cks_mul(&bound, &p);
	bound = cks_mul(&bound, &two);
	for (;;)
	{
		bool		minus;
		dp_u128		y = cks_laplace(e, t, &minus);
		cks_number	y_limbs = cks_from(y);
		cks_number	a = cks_mul(&y_limbs, &tq);
		cks_number	b = p;
		cks_number	distance;

		if (cks_cmp(&a, &b) < 0)
		{
			cks_number	swap = a;

			a = b;
			b = swap;
		}
		memset(b.limb + b.n, 0, (CKS_LIMBS - b.n) * sizeof(uint64_t));
		distance = a;
		dp_limbs_sub(distance.limb, a.limb, b.limb, a.n);
		cks_trim(&distance);
		if (cks_bernoulli_exp(e, cks_mul(&distance, &distance), &bound))
			return minus ? -(dp_i128) y : (dp_i128) y;
	}
}

/* the floor of the square root of num / den */
static inline dp_u128
cks_root(const dp_variance *v)
{
	dp_u128		whole = v->num / v->den;
	dp_u128		root = 0;
	int			bit;

	for (bit = 60; bit >= 0; bit--)
	{
		dp_u128		next = root + ((dp_u128) 1 << bit);

		if (next * next <= whole)
			root = next;
	}
	return root;
}

#endif							/* DP_STRAIGHTFORWARD_H */
