/*-------------------------------------------------------------------------
 *
 * plan_statement.h
 *	  How a statement that names a protected table is planned.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_PLAN_STATEMENT_H
#define DP_PLAN_STATEMENT_H

#include "nodes/parsenodes.h"

/* Installs the planner hook. */
extern void dp_planner_init(void);

/* Tells whether an entry is one that the guard has put under its owner's rights. */
extern bool dp_is_inner_entry(RangeTblEntry *rte);

/* an EXPLAIN (MEMORY) is being executed, which versions from 17 on know */
extern bool dp_explain_shows_memory;

#endif							/* DP_PLAN_STATEMENT_H */
