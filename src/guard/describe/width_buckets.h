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

#include "guard/facts/facts.h"
#include "guard/level.h"

/* operators of int4 */
#define DP_INT4_LESS_EQUAL 523
#define DP_INT4_GREATER_EQUAL 525

/* Tells whether a node calls width_bucket with two bounds and a count. */
extern bool dp_is_width_bucket(Node *node);

/*
 * Finds the first and the last bucket: those below and above all others only if
 * the bounds of what is read reach them; returns false where the count is not
 * known now, or no count.
 */
extern bool dp_width_bucket_ends(DpLevel *level, FuncExpr *call, int64 *first, int64 *last);

/*
 * Finds the first and the last value that a comparison leaves what a bucket is of, as expressions without columns;
 * NULL: there is none.  One that is NULL satisfies no comparison.
 */
extern void dp_find_value_of_bucket(FuncExpr *bucket, DpCondition *comparison, Expr **first, Expr **last);

/* Returns the bucket of another value; NULL: it has none. */
extern FuncExpr *dp_bucket_of(FuncExpr *bucket, Expr *value);

/* Tells whether a condition says that the value of a bucket is not NULL. */
extern bool dp_bucket_not_null(FuncExpr *bucket, Node *condition);

#endif							/* DP_WIDTH_BUCKETS_H */
