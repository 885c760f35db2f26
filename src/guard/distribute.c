/*-------------------------------------------------------------------------
 *
 * distribute.c
 *	  Inner queries over tables whose rows are on other servers (Citus).
 *
 * Citus sends a level to the shards as a whole where it groups by what the
 * table is distributed by; above it, it knows how to add up PostgreSQL's own
 * aggregates and no others.  So a unit is bounded where its rows are, and its
 * clamped totals, which are bigint, are added up by sum(), which is as exact as
 * the sums of the extension: only totals of groups travel.  Where each row is a
 * unit, its clamped value is added up in this way.
 *
 * Histograms and quantiles have no such counterpart.  All that a row, or a
 * group of a unit, adds to them becomes rows of a cell and a number there
 * (agg/exact/cells.c), of which the servers make a sum for each group and cell;
 * so only totals of cells travel.
 *
 * Counts of distinct values have none either.  Where the owner of the dataset
 * allows it, what a unit has kept of its values is brought here and counted by an
 * aggregate that Citus cannot share among servers.
 *
 * Whatever cannot be had in this way is refused here, while the query is
 * planned.  What Citus itself refuses is known when the plan is made of the
 * query with its constants, before the debit (release/late.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "utils/lsyscache.h"

/* what an inner query reads, of all its levels */
typedef struct Sources
{
	Oid			distributed;	/* a table that Citus manages */
	Oid			local;			/* one that it does not */
	AttrNumber	column;			/* what a table is distributed by; 0: none is */
	Oid			by_column;		/* that table */
	bool		given;			/* rows that were computed before */
} Sources;

static DpWalk
note_source(Node *node, int levels, Sources *s)
{
	RangeTblEntry *rte = (RangeTblEntry *) node;
	AttrNumber	column;

	if (!IsA(node, RangeTblEntry))
		return DP_WALK_ON;
	s->given = s->given || rte->rtekind == RTE_NAMEDTUPLESTORE;
	/* of a view there are entries that nothing refers to */
	if (rte->rtekind != RTE_RELATION || rte->relkind == RELKIND_VIEW)
		return DP_WALK_ON;
	if (!dp_is_distributed(rte->relid, &column))
		s->local = rte->relid;
	else
	{
		s->distributed = rte->relid;
		if (column != InvalidAttrNumber && s->column != DP_SCATTERED)
		{
			s->column = column;
			s->by_column = rte->relid;
		}
	}
	return DP_WALK_ON;
}

bool
dp_reads_distributed(Query *query)
{
	Sources		s = {0};

	if (!dp_has_citus())
		return false;
	dp_walk_all(query, note_source, &s);
	return OidIsValid(s.distributed);
}

static void refuse(Sources *s, const char *what, const char *remedy) __attribute__((noreturn));

static void
refuse(Sources *s, const char *what, const char *remedy)
{
	dp_raise(NOT_RELEASABLE, errmsg("%s cannot be released from distributed table \"%s\"; %s", what,
									get_rel_name(s->distributed), remedy));
}

/* Tells whether an expression of a query is the column that a table is distributed by, maybe through subqueries. */
static bool
is_distribution_column(Query *query, Node *expr)
{
	RangeTblEntry *rte;
	AttrNumber	column;
	Var		   *var;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	if (expr == NULL || !IsA(expr, Var) || ((Var *) expr)->varlevelsup != 0 || ((Var *) expr)->varattno <= 0)
		return false;
	var = (Var *) expr;
	rte = list_nth(query->rtable, var->varno - 1);
	if (rte->rtekind == RTE_RELATION)
		return dp_is_distributed(rte->relid, &column) && column == var->varattno;
	if (rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations == NULL)
		return is_distribution_column(rte->subquery,
									  (Node *) ((TargetEntry *) list_nth(rte->subquery->targetList,
																		 var->varattno - 1))->expr);
	return false;
}

static Query *
only_subquery(Query *query)
{
	RangeTblEntry *rte = linitial_node(RangeTblEntry, query->rtable);

	if (rte->rtekind != RTE_SUBQUERY)
		elog(ERROR, "unexpected shape of an inner query");
	return rte->subquery;
}

/* Tells whether the table that decides where rows are has those of a unit on one server. */
static bool
is_by_unit(Sources *s)
{
	const DpTable *table = dp_policy_table(s->by_column);

	return table != NULL &&
		strcmp(table->has_unit ? table->unit : table->nthrough > 0 ? table->through[0] : "",
			   get_attname(s->by_column, s->column, false)) == 0;
}

/* Refuses where the rows of a unit may be on several servers: nobody could bound it there. */
static void
check_units_stay_together(Query *inner, Sources *s)
{
	Query	   *states = only_subquery(only_subquery(inner));

	if (s->column == InvalidAttrNumber)
		return;
	foreach_ptr(SortGroupClause, clause, states->groupClause)
	{
		if (is_distribution_column(states, get_sortgroupclause_expr(clause, states->targetList)))
			return;
	}
	if (s->column == DP_SCATTERED)
		dp_raise(NOT_RELEASABLE,
				 errmsg("table \"%s\" is distributed by ranges or appended to; have its owner distribute it by hash of its privacy unit, with create_distributed_table",
						get_rel_name(s->by_column)),
				 errdetail("The rows of one privacy unit may be on several servers."));
	if (is_by_unit(s))
		dp_raise(NOT_RELEASABLE,
				 errmsg("units of the query come not from distributed table \"%s\" alone; put it first in FROM, and ask for each SELECT of UNION ALL by itself",
						get_rel_name(s->by_column)),
				 errdetail("The rows of one privacy unit may be on several servers."));
	dp_raise(NOT_RELEASABLE,
			 errmsg("table \"%s\" is distributed by column \"%s\"; have its owner distribute it by its privacy unit, with create_distributed_table or alter_distributed_table",
					get_rel_name(s->by_column), get_attname(s->by_column, s->column, false)),
			 errdetail("The rows of one privacy unit may be on several servers."));
}

/* Puts an aggregate that Citus does not share among servers in the place of one that it would; returns false for what has none. */
static bool
use_gathered(TargetEntry *tle)
{
	Oid			rows[] = {INT4OID, INT4OID};
	Oid			units[] = {INT4ARRAYOID, INT4OID, INT8OID};
	Oid			distinct[] = {INT8ARRAYOID, INT8OID, dp_own_type("bound_spec"), INT4OID};
	Aggref	   *agg;

	if (!IsA(tle->expr, Aggref))
		return false;
	agg = (Aggref *) tle->expr;
	if (agg->aggfnoid == dp_own_routine("exact_histogram", 2, rows))
		agg->aggfnoid = dp_own_routine("gathered_histogram", 2, rows);
	else if (agg->aggfnoid == dp_own_routine("codes_histogram", 2, units))
		agg->aggfnoid = dp_own_routine("gathered_histogram", 2, units);
	else if (agg->aggfnoid == dp_own_routine("codes_shares", 3, units))
		agg->aggfnoid = dp_own_routine("gathered_shares", 3, units);
	else if (agg->aggfnoid == dp_own_routine("codes_distinct_shares", 4, distinct))
		agg->aggfnoid = dp_own_routine("gathered_distinct_shares", 4, distinct);
	else
		return agg->aggfnoid == dp_own_routine("codes_distinct", 1, distinct);

	/*
	 * a state has no text form, in which one server of the cluster might send
	 * it
	 */
	agg->aggtype = INT8ARRAYOID;
	return true;
}

static void
use_builtins(DpRelease *release, Query *inner, Sources *s)
{
	bool		may_pull = dp_policy_dataset(dp_policy_table(release->relid)->dataset)->pull_rows;
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	int			target = list_length(release->keys) + list_length(release->norms);

	foreach_ptr(DpReleaseColumn, column, release->columns)
	{
		int			nparts = dp_column_parts(column, parts);

		for (int i = 0; i < nparts; i++)
		{
			/* what is added up of shares follows that of values */
			int			last = target + (dp_has_share(column, &parts[i]) ? 1 : 0);

			for (; target <= last; target++)
			{
				TargetEntry *tle = list_nth(inner->targetList, target);

				if (dp_use_builtin(tle, &parts[i]))
					continue;
				if (!may_pull || !use_gathered(tle))
					refuse(s, column->label,
						   may_pull ? "ask for other aggregates"
						   : "ask for other aggregates, or have the dataset's owner let the coordinator read rows, "
						   "with dp_cdp.alter_dataset(..., pull_rows => true)");
				release->pulls_rows = true;
			}
		}
	}
	/* how many units have the group first */
	if (release->norms != NIL && !dp_use_builtin(list_nth(inner->targetList, target), &parts[0]))
		elog(ERROR, "unexpected shape of an inner query with norms");
}

/* Returns the columns of an entry, as variables, and sets their numbers. */
static List *
entry_columns(Query *query, Index rti, List **numbers)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	List	   *vars = NIL;

	if (rte->rtekind == RTE_JOIN)
		vars = copyObject(rte->joinaliasvars);
	else if (rte->rtekind == RTE_SUBQUERY)
	{
		foreach_ptr(TargetEntry, tle, rte->subquery->targetList)
		{
			if (!tle->resjunk)
				vars = lappend(vars, makeVarFromTargetEntry(rti, tle));
		}
	}
	else
		vars = dp_entry_columns(rte, rti, false);
	*numbers = NIL;
	foreach_ptr(Node, var, vars)
		* numbers = lappend_int(*numbers, rte->rtekind == RTE_JOIN ? foreach_current_index(var) + 1
								: castNode(Var, var)->varattno);
	return vars;
}

/*
 * Gives joins the columns that a parser gives them: nothing refers to these, but who writes a join as SQL
 * counts them.  Returns the entry of a part of a join tree.
 */
static Index
complete_join(Query *query, Node *node, Sources *s)
{
	JoinExpr   *join;
	RangeTblEntry *rte;
	List	   *left;
	List	   *right;

	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex;
	join = (JoinExpr *) node;
	/* no SQL means these alone */
	if (!IsA(node, JoinExpr) || join->rtindex == 0 ||
		(join->jointype != JOIN_INNER && join->jointype != JOIN_LEFT && join->jointype != JOIN_RIGHT && join->jointype != JOIN_FULL))
		refuse(s, "a condition or value that asks whether there are other rows", "write it as a join along the privacy unit");
	rte = rt_fetch(join->rtindex, query->rtable);
	left = entry_columns(query, complete_join(query, join->larg, s), &rte->joinleftcols);
	right = entry_columns(query, complete_join(query, join->rarg, s), &rte->joinrightcols);
	rte->joinmergedcols = 0;
	rte->joinaliasvars = list_concat(left, right);
	rte->eref = makeAlias(rte->eref->aliasname, NIL);
	for (int i = 1; i <= list_length(rte->joinaliasvars); i++)
		rte->eref->colnames = lappend(rte->eref->colnames, makeString(psprintf("j%d", i)));
	return join->rtindex;
}

/*
 * Makes entries such as a parser makes of a FROM clause, since Citus writes the query as SQL: with names by
 * which columns are meant, and a mark without which an entry is not written.  A function that stands for that
 * of a cast is written as a call: as a cast it would be the function that fails.
 */
static DpWalk
name_entries(Node *node, int levels, Sources *s)
{
	RangeTblEntry *rte = (RangeTblEntry *) node;

	if (IsA(node, FuncExpr) &&
		(((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CAST || exprIsLengthCoercion(node, NULL)))
		((FuncExpr *) node)->funcformat = COERCE_EXPLICIT_CALL;
	foreach_ptr(Node, item, IsA(node, Query) ? ((Query *) node)->jointree->fromlist : NIL)
		(void) complete_join((Query *) node, item, s);
	if (!IsA(node, RangeTblEntry))
		return DP_WALK_ON;
	rte->inFromCl = true;
	if (rte->rtekind == RTE_SUBQUERY && rte->alias == NULL)
		rte->alias = makeAlias(rte->eref->aliasname, NIL);
	return DP_WALK_ON;
}

/* what an outer query reads or changes */
typedef struct Managed
{
	Oid			relid;			/* a table that Citus manages */
	RangeTblEntry *filled;		/* what is not looked at: Citus has a query's
								 * rows written into it */
} Managed;

/* Leaves out WITH queries that nothing refers to, since they became part of releases: Citus would look at them. */
static void
leave_out_unused(Query *query)
{
	foreach_ptr(CommonTableExpr, cte, query->cteList)
	{
		if (cte->cterefcount == 0 && castNode(Query, cte->ctequery)->commandType == CMD_SELECT)
			query->cteList = foreach_delete_current(query->cteList, cte);
	}
}

static DpWalk
find_managed(Node *node, int levels, Managed *m)
{
	RangeTblEntry *rte = (RangeTblEntry *) node;
	AttrNumber	column;

	if (IsA(node, Query))
		leave_out_unused((Query *) node);
	else if (IsA(node, RangeTblEntry) && rte != m->filled && rte->rtekind == RTE_RELATION && dp_is_distributed(rte->relid, &column))
		m->relid = rte->relid;
	return OidIsValid(m->relid);
}

void
dp_refuse_managed(Query *outer)
{
	Managed		m = {0};

	if (!dp_has_citus())
		return;
	if (outer->commandType == CMD_INSERT)
		m.filled = rt_fetch(outer->resultRelation, outer->rtable);
	if (dp_walk_all(outer, find_managed, &m))
		dp_raise(NOT_RELEASABLE,
				 errmsg("private answers cannot be put together with table \"%s\", which Citus manages; "
						"keep them with CREATE TEMP TABLE ... AS, and use those rows in another query",
						get_rel_name(m.relid)));
}

bool
dp_distribute(DpRelease *release)
{
	Sources		s = {0};
	Query	   *query = release->inner_query;
	Query	   *cells;

	if (!dp_has_citus())
		return false;
	dp_walk_all(query, note_source, &s);
	if (!OidIsValid(s.distributed))
		return false;
	if (OidIsValid(s.local))
		dp_raise(NOT_RELEASABLE,
				 errmsg("distributed table \"%s\" cannot be joined with table \"%s\", which is on one server; "
						"have its owner distribute it with create_reference_table",
						get_rel_name(s.distributed), get_rel_name(s.local)));
	if (s.given)
		refuse(&s, "a join with rows that are not protected", "join with reference tables of the protected table's owner, or list the values");
	if (release->rest_of != NULL)
		refuse(&s, "the rest of groups that are not shown", "SET dp_cdp.rest = off, and leave out dp_cdp.rest()");
	if (release->lists != NIL)
		refuse(&s, "keys from a list of more than a hundred values", "declare or list fewer keys");
	/* settings by which they are computed would be those of the other servers */
	if (contain_mutable_functions((Node *) query))
		refuse(&s, "an expression that depends on settings, such as the time zone,", "use types and functions that do not");
	query = copyObject(query);
	if (release->has_unit)
		check_units_stay_together(query, &s);
	cells = dp_make_cells_query(release, query);
	release->counts_cells = cells != NULL;
	if (release->counts_cells)
		query = cells;
	else
		use_builtins(release, query, &s);
	dp_walk_all(query, name_entries, &s);
	release->inner_query = query;
	release->late_query = copyObject(query);
	return true;
}
