/*-------------------------------------------------------------------------
 *
 * limbs.c
 *	  Natural numbers of any length: schoolbook arithmetic.
 *
 * Invariants: see limbs.h.  Every loop bound depends on lengths only, never
 * on values, so nothing here can run past an array or fail to end.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "limbs.h"

void
dp_limbs_set(uint64_t *r, int n, dp_u128 a)
{
	int			i;

	r[0] = (uint64_t) a;
	r[1] = (uint64_t) (a >> 64);
	for (i = 2; i < n; i++)
		r[i] = 0;
}

int
dp_limbs_cmp(const uint64_t *a, const uint64_t *b, int n)
{
	int			i;

	for (i = n - 1; i >= 0; i--)
	{
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

void
dp_limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
	uint64_t	borrow = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		dp_u128		d = (dp_u128) a[i] - b[i] - borrow;

		r[i] = (uint64_t) d;
		borrow = (uint64_t) (d >> 64) & 1;
	}
}

void
dp_limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
	uint64_t	carry = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		dp_u128		s = (dp_u128) a[i] + b[i] + carry;

		r[i] = (uint64_t) s;
		carry = (uint64_t) (s >> 64);
	}
}

void
dp_limbs_mul(uint64_t *r, const uint64_t *a, int na, const uint64_t *b, int nb)
{
	int			i,
				j;

	for (i = 0; i < na + nb; i++)
		r[i] = 0;
	for (i = 0; i < na; i++)
	{
		uint64_t	carry = 0;

		for (j = 0; j < nb; j++)
		{
			/* at most (2^64-1)^2 + 2 (2^64-1) = 2^128 - 1: no overflow */
			dp_u128		p = (dp_u128) a[i] * b[j] + r[i + j] + carry;

			r[i + j] = (uint64_t) p;
			carry = (uint64_t) (p >> 64);
		}
		r[i + nb] = carry;
	}
}

uint64_t
dp_limbs_div_small(uint64_t *a, int n, uint64_t d)
{
	uint64_t	rem = 0;
	int			i;

	for (i = n - 1; i >= 0; i--)
	{
		dp_u128		cur = ((dp_u128) rem << 64) | a[i];

		a[i] = (uint64_t) (cur / d);
		rem = (uint64_t) (cur % d);
	}
	return rem;
}

void
dp_limbs_shl(uint64_t *r, const uint64_t *a, int n, uint64_t bits)
{
	uint64_t	skip = bits / 64;
	int			part = (int) (bits % 64);
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64_t	v = 0;

		if ((uint64_t) i >= skip)
		{
			v = a[i - (int) skip] << part;
			if (part > 0 && (uint64_t) i > skip)
				v |= a[i - (int) skip - 1] >> (64 - part);
		}
		r[i] = v;
	}
}

void
dp_limbs_shr(uint64_t *r, const uint64_t *a, int n, uint64_t bits)
{
	uint64_t	skip = bits / 64;
	int			part = (int) (bits % 64);
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64_t	v = 0;

		if (skip < (uint64_t) (n - i))
		{
			v = a[i + (int) skip] >> part;
			if (part > 0 && skip + 1 < (uint64_t) (n - i))
				v |= a[i + (int) skip + 1] << (64 - part);
		}
		r[i] = v;
	}
}

/*
 * Divides bit by bit: shift the next bit of a into the remainder, subtract b
 * if it fits.  The quotient's bits take the place of the bits of a already
 * used.
 */
void
dp_limbs_divide(uint64_t *a, int na, const uint64_t *b, int nb, uint64_t *rem)
{
	int			bit,
				i;

	for (i = 0; i <= nb; i++)
		rem[i] = 0;

	for (bit = 64 * na - 1; bit >= 0; bit--)
	{
		uint64_t	next = (a[bit / 64] >> (bit % 64)) & 1;

		/* rem < b before, so 2 rem + 1 fits in nb + 1 limbs */
		for (i = 0; i <= nb; i++)
		{
			uint64_t	out = rem[i] >> 63;

			rem[i] = (rem[i] << 1) | next;
			next = out;
		}
		a[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
		if (rem[nb] != 0 || dp_limbs_cmp(rem, b, nb) >= 0)
		{
			uint64_t	borrow = 0;

			for (i = 0; i < nb; i++)
			{
				dp_u128		d = (dp_u128) rem[i] - b[i] - borrow;

				rem[i] = (uint64_t) d;
				borrow = (uint64_t) (d >> 64) & 1;
			}
			rem[nb] -= borrow;
			a[bit / 64] |= UINT64_C(1) << (bit % 64);
		}
	}
}
