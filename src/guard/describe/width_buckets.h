/*-------------------------------------------------------------------------
 *
 * width_buckets.h
 *	  Which results width_bucket has, and what conditions on a value tell of its
 *	  bucket.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_WIDTH_BUCKETS_H
#define DP_WIDTH_BUCKETS_H

#include "guard/level.h"

/* what a comparison tells of the bucket of the value that it compares */
typedef struct DpBucketBound
{
	Oid			opno;			/* of int4: <=, = or >= */
	Node	   *constant;		/* what the value is compared with, without
								 * columns; where it is NULL, nothing
								 * satisfies the comparison */
	FuncExpr   *bucket;			/* on the right of the operator */
} DpBucketBound;

/* Tells whether a node calls width_bucket with two bounds and a count. */
extern bool dp_is_width_bucket(Node *node);

/*
 * Finds the first and the last bucket: those below and above all others only if
 * the bounds of what is read reach them; returns false where the count is not
 * known now, or no count.
 */
extern bool dp_width_bucket_ends(DpLevel *level, FuncExpr *call, int64 *first, int64 *last);

/*
 * Tells whether a condition compares the value of a bucket with something without
 * columns; fills what follows for the bucket, where the buckets are numbered upwards.
 */
extern bool dp_bucket_bound(FuncExpr *bucket, Node *condition, DpBucketBound *bound);

/* Tells whether a condition says that the value of a bucket is not NULL. */
extern bool dp_bucket_not_null(FuncExpr *bucket, Node *condition);

#endif							/* DP_WIDTH_BUCKETS_H */
