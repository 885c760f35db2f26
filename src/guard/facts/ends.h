/*-------------------------------------------------------------------------
 *
 * ends.h
 *	  Ends of ranges: expressions without columns, which are known when the query runs.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ENDS_H
#define DP_ENDS_H

#include "nodes/primnodes.h"

/* Returns an expression as its value, if that is the same whenever the query runs. */
extern Expr *dp_as_known(Expr *expr);

/* Returns a call, NULL where it fails: beyond the first or last moment there is nothing. */
extern Expr *dp_safe_call(Oid function, Oid type, List *args);

/* Returns a value in another type; NULL: there is no such cast. */
extern Expr *dp_cast_to(Expr *value, Oid type);

/* Applies PostgreSQL's operator of this name to two values; NULL: their types have none. */
extern Expr *dp_combined(const char *operator, Node *a, Node *b);

/* Returns the value of several that is least, or greatest; those that are NULL do not count.  NULL: there is none. */
extern Expr *dp_extreme(List *values, MinMaxOp op);

/* Makes an interval. */
extern Const *dp_interval_const(int months, int days, int64 microseconds);

/* Returns a date or a timestamp moved by a time; a date, by months and days. */
extern Expr *dp_moved_by(Expr *value, int months, int days, int64 microseconds);

#endif							/* DP_ENDS_H */
