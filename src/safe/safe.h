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
#include "fmgr.h"
#include "lib/stringinfo.h"

/* The longest string that is searched, or measured: a copy goes at once. */
#define DP_MAX_READ (16 * 1024 * 1024)

/* The most comparisons of bytes in a search without a check for interrupts. */
#define DP_MAX_WORK ((int64) 1 << 30)

static inline bool
dp_text_is_wide(Datum value)
{
	return dp_value_bytes(value) > DP_MAX_TEXT;
}

/* arrays.c: how long a numeric is when it is written; a few bytes may be 131072 digits and more */
extern int	dp_numeric_length(Datum numeric);

/* An array of strings under work: its elements, as an array has them. */
typedef struct DpTextArray
{
	StringInfoData elements;
	StringInfoData bitmap;		/* as of an array: a bit for each element that
								 * is not NULL */
	int			count;
	bool		has_nulls;
} DpTextArray;

/* Begins an array; adds an element, NULL being that, false where the array gets too long; returns the array, SQL's NULL where it is. */
extern void dp_begin_texts(DpTextArray *texts);
extern bool dp_add_text(DpTextArray *texts, const char *text, int len);
extern Datum dp_end_texts(DpTextArray *texts, FunctionCallInfo fcinfo);

/* Tells whether a collation has LIKE and regular expressions as they are here: nondeterministic ones have none, or others. */
extern bool dp_collation_has_like(Oid collation);

#endif							/* DP_SAFE_H */
