/*-------------------------------------------------------------------------
 *
 * safe.h
 *	  What the safe variants of functions on strings share.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SAFE_H
#define DP_SAFE_H

#include "base/sizes.h"

/* The longest string that is searched, or measured: a copy goes at once. */
#define DP_MAX_READ (16 * 1024 * 1024)

/* The most comparisons of bytes in a search without a check for interrupts. */
#define DP_MAX_WORK ((int64) 1 << 30)

static inline bool
dp_text_is_wide(Datum value)
{
	return dp_value_bytes(value) > DP_MAX_TEXT;
}

/* Tells whether a collation has LIKE and regular expressions as they are here: nondeterministic ones have none, or others. */
extern bool dp_collation_has_like(Oid collation);

#endif							/* DP_SAFE_H */
