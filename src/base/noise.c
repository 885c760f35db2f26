/*-------------------------------------------------------------------------
 *
 * noise.c
 *	  Random bits and discrete Gaussian draws for the backend.
 *
 * Invariants: the only caller of the operating system's entropy, and the only
 * place where noise gets its random bits; no seed, no generator of our own,
 * no setting.  Bits that one process fetched are never used by another.  A
 * byte is overwritten as it is handed out, and what is left at the end of a
 * release by dp_noise_wipe.
 *
 * The source is getrandom(2), in blocks.  One call per draw would cost more
 * than the draw; in blocks of 4 kB the kernel gives some 400 MB/s, enough for
 * 10 to 20 million draws a second.  pg_strong_random() is what remains where
 * there is no getrandom(): it is as good a source, but it is OpenSSL's
 * generator in this process's memory, whose state would outlive our wiping
 * and tell the noise to come.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <errno.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/random.h>
#endif

#include "miscadmin.h"

#include "base/noise.h"

static void noise_fill(void *ctx, void *buf, size_t len);

/*
 * This process's unused random bytes, and whose they are.  They belong to a
 * process, not to a query or memory context: dp_noise_wipe empties them.
 */
static dp_entropy noise_source = {noise_fill, NULL, 0, {0}};
static int	noise_pid = 0;

/* Fills buf with len bytes from the operating system; an error if there are none. */
static void
noise_fill(void *ctx, void *buf, size_t len)
{
	unsigned char *p = buf;

	noise_pid = (int) getpid();

#ifdef __linux__
	while (len > 0)
	{
		ssize_t		got = getrandom(p, len, 0);

		if (got > 0)
		{
			p += got;
			len -= got;
		}
		else if (got == 0 || errno != EINTR)
			break;
		/* a signal: whoever waits for it is served after this block */
	}
	/* ENOSYS: a kernel or a seccomp filter without the call */
	if (len > 0 && errno == ENOSYS && pg_strong_random(p, len))
		len = 0;
#else
	if (pg_strong_random(p, len))
		len = 0;
#endif

	if (len > 0)
	{
		explicit_bzero(buf, p - (unsigned char *) buf);
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not obtain random bits from the operating system; check that getrandom is permitted to the server"),
				 errdetail("Noise is drawn from these bits.")));
	}
}

/*
 * Forgets bytes of the process that this one was forked from: both must not use them.
 * PostgreSQL sets MyProcPid in every child it starts; the call getpid() would
 * cost as much as a draw.
 */
static inline void
noise_check_owner(void)
{
	if (unlikely(noise_pid != MyProcPid))
	{
		dp_noise_wipe();
		noise_pid = MyProcPid;
	}
}

void
dp_noise_bytes(void *buf, size_t len)
{
	unsigned char *p = buf;

	noise_check_owner();
	while (len > 0)
	{
		unsigned	n = len < 8 ? (unsigned) len : 8;
		uint64_t	word = dp_entropy_take(&noise_source, n);

		while (n-- > 0)
		{
			*p++ = (unsigned char) word;
			word >>= 8;
			len--;
		}
	}
}

bool
dp_noise_prepare(dp_gauss *g, const dp_variance *v)
{
	static dp_gauss last[8];	/* den 0: none */
	static int	next = 0;

	for (int i = 0; i < lengthof(last); i++)
	{
		if (last[i].variance.den != 0 && last[i].variance.num == v->num && last[i].variance.den == v->den)
		{
			*g = last[i];
			return true;
		}
	}
	if (!dp_gauss_init(g, v))
		return false;
	last[next] = *g;
	next = (next + 1) % lengthof(last);
	return true;
}

dp_i128
dp_noise_gauss(const dp_gauss *g)
{
	noise_check_owner();
	return dp_gauss_draw(g, &noise_source);
}

dp_i128
dp_noise_bridge(const dp_bridge *b, dp_i128 n)
{
	noise_check_owner();
	return dp_bridge_draw(b, n, &noise_source);
}

void
dp_noise_wipe(void)
{
	noise_source.left = 0;
	explicit_bzero(noise_source.buf, sizeof(noise_source.buf));
}
