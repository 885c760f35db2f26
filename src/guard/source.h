/*-------------------------------------------------------------------------
 *
 * source.h
 *	  What the files share that find out what a level reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SOURCE_H
#define DP_SOURCE_H

#include "guard/level.h"

/* one entry of the join tree, by its number in the range table */
typedef struct DpLeaf
{
	bool		is_private;
	List	   *units;			/* as in DpFrom */
	List	   *unit_vars;
	bool		one_row;
	bool		may_repeat;
	Oid			relid;			/* a public table that is read directly */
} DpLeaf;

/* lineage.c */
extern CommonTableExpr *dp_find_cte(DpScope *scope, RangeTblEntry *rte, DpScope **owner);

/*
 * joins.c: finds the privacy unit of the rows of from, whose leaves are in
 * an array by rtindex.  ZC002 for joins in which a row could belong to two
 * units, or to none.
 */
extern void dp_analyse_joins(DpSplitContext *cxt, DpFrom *from, DpLeaf *leaves, int where);

/*
 * source.c: the first entry of the level, if any, with rows of a protected
 * table that would have to be released; always: also of tables that the
 * calling roles may read.  base: the table.
 */
extern Index dp_reads_rows(DpScope *scope, bool always, RangeTblEntry **base);

/* fills level->from, allow, table and what the release knows about them */
extern void dp_read_source(DpLevel *level, DpScope *scope, bool always);

/* in place: Vars of joins and of group keys become what they stand for */
extern void dp_flatten_level(Query *query);

/* clears WITH queries that nothing names any more; false if the CTE is one */
extern bool dp_keep_cte(Query *query, CommonTableExpr *cte);

#endif							/* DP_SOURCE_H */
