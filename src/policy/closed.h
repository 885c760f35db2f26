/*-------------------------------------------------------------------------
 *
 * closed.h
 *	  Functions of PostgreSQL's that dp_cdp.harden() closes, and relations of
 *	  which they may be answered all the same.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CLOSED_H
#define DP_CLOSED_H

/* what stands for a function in queries of those who may not execute it */
typedef enum DpMask
{
	DP_MASK_NONE,				/* nothing: it is not closed, or is refused */
	DP_MASK_NULL,				/* NULL, or no rows */
	DP_MASK_TOLD				/* a function of ours with the same arguments,
								 * which answers for some relations */
} DpMask;

/* closed.c: told is set for DP_MASK_TOLD, to the name of that function in schema dp_cdp_internal */
extern DpMask dp_mask_of(Oid funcid, const char **told);

/*
 * told.c: tells whether current_user may know how large a relation is, since
 * he could count its rows.  False for a relation that does not exist.
 */
extern bool dp_may_be_told(Oid relid);

#endif							/* DP_CLOSED_H */
