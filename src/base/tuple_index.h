/*-------------------------------------------------------------------------
 *
 * tuple_index.h
 *	  Tuples of values, found by the equality of their types.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_TUPLE_INDEX_H
#define DP_TUPLE_INDEX_H

typedef struct DpTupleIndex DpTupleIndex;

/*
 * Makes an index, in the current context, of n tuples of width values of these
 * types, one after the other, which have to stay.  NULL equals NULL.  The
 * types can be hashed, or it is an internal error.
 */
extern DpTupleIndex *dp_tuple_index_create(int width, const Oid *types, const Oid *collations,
										   const Datum *values, const bool *nulls, int n);

/* returns the place of a tuple among those, from 0 on; -1: it is none of them */
extern int64 dp_tuple_index_find(DpTupleIndex *index, const Datum *values, const bool *nulls);

#endif							/* DP_TUPLE_INDEX_H */
