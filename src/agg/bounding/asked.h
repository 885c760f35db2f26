/*-------------------------------------------------------------------------
 *
 * asked.h
 *	  What a query asks of bound_unit.
 *
 * Private to src/agg.  See asked.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ASKED_H
#define DP_ASKED_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "agg/bounding/gather.h"

/* rows of the groups that units keep, as one level asks for them of the one below it */
typedef struct DpAskedRows
{
	PlannerInfo *units;			/* the level that groups by the unit */
	Index		rti;			/* of it in the level above */
	bool		adds_up;		/* may rows of equal keys leave as one */
	List	   *exprs;			/* the rows' columns: calls of functions of
								 * its state, and columns of the unit */
	Aggref	   *aggref;			/* bound_unit */
	List	   *columns;		/* kind and number of each call, in turn */
} DpAskedRows;

/* Tells whether a level groups rows by their unit with bound_unit. */
extern bool dp_bounds_units(const Query *query);

extern bool dp_read_asked_rows(const PathTarget *target, DpAskedRows *rows);
extern bool dp_asked_rows_add_up(const PlannerInfo *root, const DpAskedRows *rows);
extern FuncExpr *dp_call_of_state(const FuncExpr *call, void *state);

/* lookups.c; called by dp_bounding_init */
extern void dp_lookups_init(void);

/* child_plans.c: has a scan return its table's columns as they are; adds a column to what a node's expressions are made of */
extern void dp_omit_projection(PlannerInfo *root, Plan *plan);
extern void dp_add_scan_column(CustomScan *scan, void *expr);

/* key_join.c: offers a join with the one row that a key of whole numbers names */
extern void dp_add_key_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
							JoinType jointype, JoinPathExtraData *extra);

/* key_join.c: returns the path whose rows such a join returns in their order, or NULL */
extern const Path *dp_key_join_outer(const Path *path);
extern const CustomScanMethods dp_key_join_methods;

/* last_lookup.c */
extern Path *dp_last_lookup_path(IndexPath *lookup);
extern const CustomScanMethods dp_last_lookup_methods;

/* Returns an argument of bound_unit, from 0: the spec, the unit or not, keys, values. */
static inline Node *
dp_asked_argument(const Aggref *aggref, int i)
{
	return (Node *) list_nth_node(TargetEntry, aggref->args, i)->expr;
}

#endif							/* DP_ASKED_H */
