/*-------------------------------------------------------------------------
 *
 * mask.h
 *	  What stands in queries for numbers of rows that dp_cdp.harden() closes.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_MASK_H
#define DP_MASK_H

#include "nodes/parsenodes.h"

/*
 * Changes a query in place, at all of its levels, so that it does not
 * read what current_user may not.  Returns whether it names anything of that
 * kind, and so whether its plan is that role's alone.
 */
extern bool dp_mask_query(Query *query);

/* Returns whether current_user may read pg_class.reltuples */
extern bool dp_may_know_rows(void);

#endif							/* DP_MASK_H */
