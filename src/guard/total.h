/*-------------------------------------------------------------------------
 *
 * total.h
 *	  What the total variants of functions on strings share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_TOTAL_H
#define DP_TOTAL_H

#include "access/detoast.h"
#include "access/htup_details.h"
#include "utils/memutils.h"

/*
 * The longest string, in bytes, that a function makes or copies on raw rows:
 * what is longer is NULL.  So short that a tuple of as many columns as there
 * can be is still less than what PostgreSQL allocates.
 */
#define DP_MAX_TEXT (512 * 1024)

StaticAssertDecl((int64) DP_MAX_TEXT * MaxTupleAttributeNumber < (int64) MaxAllocSize * 9 / 10,
				 "a tuple of values that functions made must fit");

/* The longest string that is searched, or measured: a copy goes at once. */
#define DP_MAX_READ (16 * 1024 * 1024)

/* The most comparisons of bytes in a search without a check for interrupts. */
#define DP_MAX_WORK ((int64) 1 << 30)

/* length in bytes of a string (text, bpchar, varchar, bytea), which is not read for it */
static inline int64
dp_text_bytes(Datum value)
{
	struct varlena *p = (struct varlena *) DatumGetPointer(value);

	if (!VARATT_IS_EXTENDED(p))
		return VARSIZE(p) - VARHDRSZ;
	if (VARATT_IS_SHORT(p))
		return VARSIZE_SHORT(p) - VARHDRSZ_SHORT;
	return (int64) toast_raw_datum_size(value) - VARHDRSZ;
}

static inline bool
dp_text_is_wide(Datum value)
{
	return dp_text_bytes(value) > DP_MAX_TEXT;
}

#endif							/* DP_TOTAL_H */
