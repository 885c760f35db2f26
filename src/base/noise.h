/*-------------------------------------------------------------------------
 *
 * noise.h
 *	  Random bits and discrete Gaussian draws for the backend.
 *
 * noise.c is the only caller of the operating system's entropy.  Its buffer
 * belongs to one process: it is refilled when getpid() changes and each byte
 * is wiped as it is handed out.  There is no way to seed it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_NOISE_H
#define DP_NOISE_H

#include "math/gauss.h"
#include "math/refinement.h"

/* fills buf with operating system entropy; ereport(ERROR) if there is none */
extern void dp_noise_bytes(void *buf, size_t len);

/*
 * Prepares a sampler as dp_gauss_init does, false as there.  Some that were prepared last are kept: a sampler follows
 * from its variance alone, and a variance from prices, bounds and limits, which are public or were paid for.
 */
extern bool dp_noise_prepare(dp_gauss *g, const dp_variance *v);

/* one draw; g was prepared by the function above, or by dp_gauss_init */
extern dp_i128 dp_noise_gauss(const dp_gauss *g);

/* one draw of a link between two that differ by n; b was prepared by dp_bridge_init */
extern dp_i128 dp_noise_bridge(const dp_bridge *b, dp_i128 n);

/* wipes what the buffer still holds (end of a release, error) */
extern void dp_noise_wipe(void);

#endif							/* DP_NOISE_H */
