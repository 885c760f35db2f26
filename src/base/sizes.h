/*-------------------------------------------------------------------------
 *
 * sizes.h
 *	  How long values may be where protected rows are read.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SIZES_H
#define DP_SIZES_H

#include "access/detoast.h"
#include "access/htup_details.h"
#include "base/compat.h"
#include "utils/memutils.h"

/*
 * The longest value, in bytes, that a function makes or copies on raw rows,
 * that a parameter has, or a row that is given to an inner query.  So short
 * that a tuple of as many columns as there can be is less than what PostgreSQL
 * allocates at once.
 */
#define DP_MAX_TEXT (512 * 1024)

StaticAssertDecl((int64) DP_MAX_TEXT * MaxTupleAttributeNumber < (int64) MaxAllocSize * 9 / 10,
				 "a tuple of such values must fit");

/* bytes of a row's keys by reference, all together: beyond this the row is in no group */
#define DP_MOST_KEY_BYTES ((Size) 64 * 1024)

/* length in bytes of a value of variable length, which is not read for it */
static inline int64
dp_value_bytes(Datum value)
{
	struct varlena *p = (struct varlena *) DatumGetPointer(value);

	if (!VARATT_IS_EXTENDED(p))
		return VARSIZE(p) - VARHDRSZ;
	/* a pointer to what is stored elsewhere passes for a short value, too */
	if (VARATT_IS_SHORT(p) && !VARATT_IS_EXTERNAL(p))
		return VARSIZE_SHORT(p) - VARHDRSZ_SHORT;
	return (int64) toast_raw_datum_size(value) - VARHDRSZ;
}

#endif							/* DP_SIZES_H */
