/*-------------------------------------------------------------------------
 *
 * read.h
 *	  What the files share that find out what a level reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SOURCE_H
#define DP_SOURCE_H

#include "guard/level.h"

/* one entry of the join tree, by its number in the range table */
typedef struct DpFromItem
{
	bool		is_private;
	List	   *units;			/* as in DpFrom */
	List	   *unit_vars;
	bool		one_row;		/* a unit has at most one row of the entry: unlike
								 * in DpFrom, whatever joins there are inside */
	bool		may_repeat;		/* joins inside may repeat rows */
	Oid			relid;			/* a public table that is read directly */
} DpFromItem;

/* lineage.c */
extern CommonTableExpr *dp_find_cte(DpScope *scope, RangeTblEntry *rte, DpScope **owner);

/*
 * joins.c: finds the privacy unit of the rows of from, whose leaves are in
 * an array by rtindex.  ZC002 for joins in which a row could belong to two
 * units, or to none.
 */
extern void dp_analyse_joins(DpSplitContext *cxt, DpFrom *from, DpFromItem *leaves, int where);

/* private_rows.c: the same of one entry of the level */
extern bool dp_entry_yields_rows(DpScope *scope, RangeTblEntry *rte, bool always);

/*
 * private_rows.c: the first entry of the level, if any, with rows of a
 * protected table that would have to be released; always: also of tables that
 * the calling roles may read.  base: the table.
 */
extern Index dp_reads_rows(DpScope *scope, bool always, RangeTblEntry **base);

/* ------------------------------------------------------------------------
 * source.c, subquery.c, with_query.c: reading one level of the outer query
 * ------------------------------------------------------------------------
 */

typedef struct DpSource
{
	DpSplitContext *cxt;
	DpLevel    *level;
	bool		always;
	List	   *inlined;		/* CommonTableExpr, once for each copy */
} DpSource;

/* fills level->from, allow, table and what the release knows about them */
extern void dp_read_source(DpLevel *level, DpScope *scope, bool always);

/* from->query, at any depth; expressions: what else the level computes from its entries */
extern void dp_read_level(DpSource *s, DpScope *scope, DpFrom *from, DpAllowContext *allow,
						  Node *expressions);

/* a subquery over protected tables, entry rti of query */
extern void dp_read_subquery(DpSource *s, DpScope *scope, Query *query, Index rti, Node *expressions,
							 DpFromItem *leaf);

/* rebuild.c: a SELECT without anything */
extern Query *dp_new_select(void);

/*
 * rebuild.c: new nodes in place of the range table's; leaves: the entries of
 * the join tree, each a table, a subquery or a tuplestore by now
 */
extern void dp_rebuild_entries(DpSource *s, Query *query, const Bitmapset *leaves);

/* rebuild.c: a new tree, its conditions vetted and total */
extern Node *dp_rebuild_join_tree(Node *node, const DpAllowContext *allow);

/* rebuild.c: a new query over the range table and join tree of sub; the rest vetted and total */
extern Query *dp_rebuild_subquery(DpSplitContext *cxt, Query *sub, const DpAllowContext *allow);

/* numbers of the columns of entry rti that the level reads */
extern Bitmapset *dp_columns_read(Query *query, Index rti, Node *expressions);

/* an entry that refers to its neighbours, or to levels around it */
extern bool dp_refers_outside(DpScope *scope, RangeTblEntry *rte);

/* ZC002; what: a noun phrase */
extern void dp_refuse_entry(DpSource *s, RangeTblEntry *rte, const char *what, const char *remedy);

/* in place: Vars of joins and of group keys become what they stand for */
extern void dp_flatten_level(Query *query);

/* a reference to a WITH query becomes a subquery of its own; given: computed beforehand */
extern void dp_inline_cte(DpSource *s, DpScope *scope, RangeTblEntry *rte, bool given);
extern void dp_inline_ctes_of(DpSource *s, DpScope *scope, Query *subquery);

/* clears WITH queries that nothing names any more; false if the CTE is one */
extern bool dp_keep_cte(Query *query, CommonTableExpr *cte);

#endif							/* DP_SOURCE_H */
