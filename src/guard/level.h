/*-------------------------------------------------------------------------
 *
 * level.h
 *	  One level of a query while it is being split.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LEVEL_H
#define DP_LEVEL_H

#include "errors.h"
#include "guard/allow.h"
#include "guard/guard.h"

/* needs a DpSplitContext *cxt in scope */
#define dp_refuse_at(location, ...) \
	ereport(ERROR, \
			(errcode(ERRCODE_DP_NOT_RELEASABLE), \
			 __VA_ARGS__, \
			 dp_error_position(cxt->source_text, location)))

/* the level under work */
typedef struct DpLevel
{
	DpSplitContext *cxt;
	Query	   *query;
	Index		rti;			/* of the protected table */
	RangeTblEntry *rte;
	DpRelease  *release;
	DpInnerParts parts;
	List	   *key_exprs;		/* as the query has them */
	List	   *aggs;			/* distinct Aggrefs, at levelsup 0 */
	List	   *agg_columns;	/* int: their columns in release->columns */
	Index		new_rti;
} DpLevel;

/*
 * columns.c: what the level releases.  Both check expressions against the
 * allow-list and fill level->release and level->parts.
 */
extern void dp_add_keys(DpLevel *level, DpAllowContext *allow);
extern void dp_add_aggregate(DpLevel *level, Aggref *agg, DpAllowContext *allow);

/* adds, where keys are undeclared, the count of units that decides on them */
extern void dp_add_key_selection(DpLevel *level);

/* an allowed expression as it runs in the inner query */
extern Node *dp_inner_expression(DpLevel *level, Node *expr);

/* outer_query.c: replaces the level by one over released columns */
extern void dp_rewrite_outer(DpLevel *level);

#endif							/* DP_LEVEL_H */
