/*-------------------------------------------------------------------------
 *
 * entropy.h
 *	  Where random bits come from, a few bytes at a time.
 *
 * A dp_entropy holds bytes that were fetched and not used yet.  Each byte is
 * handed out once and overwritten in the same step, so that the memory of a
 * process never tells the noise it has released.  A struct that is all zero
 * apart from fill and ctx is a valid, empty source.
 *
 * Tests replay known bytes by giving a fill() of their own: it is always
 * asked for DP_ENTROPY_BLOCK bytes, which are used from the first to the
 * last; a block's last 7 bytes or fewer may be thrown away.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ENTROPY_H
#define DP_ENTROPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* large enough that a system call's fixed cost is a tenth of the whole */
#define DP_ENTROPY_BLOCK 4096

/*
 * fill() writes len bytes or does not return (the backend's version raises an
 * error).
 */
typedef struct dp_entropy
{
	void		(*fill) (void *ctx, void *buf, size_t len);
	void	   *ctx;
	/* unused bytes: the last "left" of buf.  All others are zero. */
	size_t		left;
	unsigned char buf[DP_ENTROPY_BLOCK];
} dp_entropy;

/*
 * Returns the next "bytes" (1 .. 8) bytes as a number, least significant byte
 * first, whatever the machine's byte order: uniform on 0 .. 2^(8 bytes) - 1.
 */
static inline uint64_t
dp_entropy_take(dp_entropy *e, unsigned bytes)
{
	unsigned char *p;
	uint64_t	v;
	uint64_t	keep = ~UINT64_C(0) >> (64 - 8 * bytes);

	if (__builtin_expect(e->left < 8, 0))
	{
		/* while fill runs, or if it leaves by an error, nothing is on offer */
		e->left = 0;
		e->fill(e->ctx, e->buf, DP_ENTROPY_BLOCK);
		e->left = DP_ENTROPY_BLOCK;
	}
	p = e->buf + (DP_ENTROPY_BLOCK - e->left);
	e->left -= bytes;

	/* tests define DP_ENTROPY_BYTEWISE, to have what other machines run */
#if !defined(DP_ENTROPY_BYTEWISE) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	{
		uint64_t	rest;

		memcpy(&v, p, 8);
		rest = v & ~keep;
		memcpy(p, &rest, 8);
		v &= keep;
	}
#else
	{
		unsigned	i;

		v = 0;
		for (i = 0; i < bytes; i++)
		{
			v |= (uint64_t) p[i] << (8 * i);
			p[i] = 0;
		}
		(void) keep;
	}
#endif
	return v;
}

#endif							/* DP_ENTROPY_H */
