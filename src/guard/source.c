/*-------------------------------------------------------------------------
 *
 * source.c
 *	  What a level reads, made ready for the inner query.
 *
 * The level's range table and join tree are taken over as they stand.  Each
 * entry of the join tree becomes one of:
 *
 * - a protected table, read with its owner's rights;
 * - a public table that nobody but trusted roles can make run code;
 * - a subquery, view or WITH query over protected tables that filters,
 *	 projects and joins, or that aggregates the rows of each privacy unit by
 *	 itself: treated in the same way, level by level;
 * - anything else that reads nothing protected: rows that are computed
 *	 beforehand, with the rights of who asks (given.c).
 *
 * Invariants:
 * - Every expression of the result has passed the allow-list and is total.
 * - Each subquery over protected tables hands up what names the privacy unit
 *	 of its rows, whether it was asked to or not.
 * - The privileges that a view or a public table asks for are still checked,
 *	 as who asks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "guard/source.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* the reading of one level of the outer query */
typedef struct SourceContext
{
	DpSplitContext *cxt;
	DpLevel    *level;
	bool		always;
	Oid			dataset_owner;
	List	   *inlined;		/* CommonTableExpr, once for each copy */
} SourceContext;

/* a WITH query is copied to each of its references; these may double at every step */
#define DP_MAX_CTE_COPIES 200

static void read_level(SourceContext *s, DpScope *scope, DpFrom *from, DpAllowContext *allow,
					   Node *expressions);

/* ------------------------------------------------------------------------
 * Finding
 * ------------------------------------------------------------------------
 */

typedef struct RowSearch
{
	bool		always;
	RangeTblEntry *base;		/* the table that was found */
	List	   *seen;			/* WITH queries that were searched */
	List	   *yielding;		/* those of them that yield rows */
} RowSearch;

static bool query_yields_rows(DpScope *scope, RowSearch *search);

/* searched once, however many references lead to it */
static bool
cte_yields_rows(DpScope *scope, RangeTblEntry *rte, RowSearch *search)
{
	DpScope    *owner;
	CommonTableExpr *cte = dp_find_cte(scope, rte, &owner);

	if (cte == NULL)
		return false;
	if (!list_member_ptr(search->seen, cte))
	{
		DpScope		inner = {(Query *) cte->ctequery, owner};

		search->seen = lappend(search->seen, cte);
		if (query_yields_rows(&inner, search))
			search->yielding = lappend(search->yielding, cte);
	}
	return list_member_ptr(search->yielding, cte);
}

static bool
entry_yields_rows(DpScope *scope, RangeTblEntry *rte, RowSearch *search)
{
	if (rte->rtekind == RTE_RELATION)
	{
		if (!dp_is_protected(rte) || (!search->always && dp_may_read(rte->relid)))
			return false;
		search->base = rte;
		return true;
	}
	if (rte->rtekind == RTE_SUBQUERY)
	{
		DpScope		inner = {rte->subquery, scope};

		return query_yields_rows(&inner, search);
	}
	return rte->rtekind == RTE_CTE && cte_yields_rows(scope, rte, search);
}

static Index
join_tree_reads(DpScope *scope, Node *node, RowSearch *search)
{
	Index		found = 0;

	if (node == NULL)
		return 0;
	if (IsA(node, RangeTblRef))
	{
		Index		rti = ((RangeTblRef *) node)->rtindex;

		return rti != scope->query->resultRelation &&
			entry_yields_rows(scope, rt_fetch(rti, scope->query->rtable), search) ? rti : 0;
	}
	if (IsA(node, FromExpr))
	{
		ListCell   *lc;

		foreach(lc, ((FromExpr *) node)->fromlist)
			if ((found = join_tree_reads(scope, lfirst(lc), search)) != 0)
				break;
		return found;
	}
	found = join_tree_reads(scope, ((JoinExpr *) node)->larg, search);
	return found ? found : join_tree_reads(scope, ((JoinExpr *) node)->rarg, search);
}

Index
dp_reads_rows(DpScope *scope, bool always, RangeTblEntry **base)
{
	RowSearch	search = {.always = always};
	Index		found = join_tree_reads(scope, (Node *) scope->query->jointree, &search);

	*base = search.base;
	return found;
}

/* one of the group keys is, by its origin, a unit column of a protected table */
static bool
groups_by_unit(DpScope *scope)
{
	Query	   *query = scope->query;
	List	   *clauses = query->groupClause ? query->groupClause : query->distinctClause;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		DpColumnOrigin origin;
		const DpTable *table;

		if (!dp_trace_column(query, scope,
							 (Node *) get_sortgroupclause_tle(lfirst(lc), query->targetList)->expr,
							 &origin) ||
			!origin.is_protected)
			continue;
		table = dp_policy_table(origin.relid);
		if (table->has_unit && get_attnum(origin.relid, table->unit) == origin.attnum)
			return true;
	}
	return false;
}

/* rows of the query are rows of protected tables, or belong to one unit each */
static bool
query_yields_rows(DpScope *scope, RowSearch *search)
{
	Query	   *query = scope->query;
	ListCell   *lc;

	check_stack_depth();
	if (query->commandType != CMD_SELECT)
		return false;
	if (query->setOperations)
	{
		foreach(lc, query->rtable)
			if (((RangeTblEntry *) lfirst(lc))->rtekind == RTE_SUBQUERY &&
				entry_yields_rows(scope, lfirst(lc), search))
				return true;
		return false;
	}
	if (join_tree_reads(scope, (Node *) query->jointree, search) == 0)
		return false;
	if (query->hasAggs || query->groupClause || query->groupingSets || query->distinctClause)
		return !dp_aggregates_privately(query) && groups_by_unit(scope);
	return true;
}

/* ------------------------------------------------------------------------
 * Columns that are read
 * ------------------------------------------------------------------------
 */

typedef struct ColumnContext
{
	Index		rti;
	int			sublevels;
	Bitmapset  *columns;		/* offset by FirstLowInvalidHeapAttributeNumber */
} ColumnContext;

static bool
column_walker(Node *node, ColumnContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varno == c->rti && var->varlevelsup == c->sublevels)
			c->columns = bms_add_member(c->columns,
										var->varattno - FirstLowInvalidHeapAttributeNumber);
		return false;
	}
	if (IsA(node, Query))
	{
		c->sublevels++;
		query_tree_walker((Query *) node, column_walker, c, 0);
		c->sublevels--;
		return false;
	}
	return expression_tree_walker(node, column_walker, c);
}

static Bitmapset *
columns_read(Query *query, Index rti, Node *expressions)
{
	ColumnContext c = {rti, 0, NULL};
	Bitmapset  *columns = NULL;
	int			i = -1;

	column_walker(expressions, &c);
	column_walker((Node *) query->jointree, &c);
	while ((i = bms_next_member(c.columns, i)) >= 0)
		if (i + FirstLowInvalidHeapAttributeNumber > 0)
			columns = bms_add_member(columns, i + FirstLowInvalidHeapAttributeNumber);
	return columns;
}

/* ------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------
 */

void
dp_flatten_level(Query *query)
{
	dp_flatten_group_keys(query);
	query->targetList = (List *) dp_flatten_joins(query, (Node *) query->targetList);
	query->havingQual = dp_flatten_joins(query, query->havingQual);
	query->jointree = (FromExpr *) dp_flatten_joins(query, (Node *) query->jointree);
}

/* a reference to a WITH query becomes a subquery of its own; given: computed beforehand */
static void
inline_cte(SourceContext *s, DpScope *scope, RangeTblEntry *rte, bool given)
{
	DpSplitContext *cxt = s->cxt;
	DpScope    *owner;
	CommonTableExpr *cte = dp_find_cte(scope, rte, &owner);
	bool		again;

	if (cte == NULL)
		dp_refuse_at(s->level->where, errmsg("WITH query \"%s\" is recursive or changes data and cannot be joined with protected rows; "
								"store its rows in a temporary table first", rte->ctename));
	again = cte->cterefcount > 1 || list_member_ptr(s->inlined, cte);
	if (again && given && dp_query_touches_protected((Query *) cte->ctequery))
		dp_refuse_at(s->level->where, errmsg("WITH query \"%s\" would be released more than once, because it is joined with protected rows; "
								"store its rows in a temporary table first", rte->ctename));
	if (again && contain_volatile_functions(cte->ctequery))
		dp_refuse_at(s->level->where, errmsg("WITH query \"%s\" would be computed more than once, because it is joined with protected rows, and may have other rows each time; "
								"store its rows in a temporary table first", rte->ctename));
	if (list_length(s->inlined) >= DP_MAX_CTE_COPIES)
		dp_refuse_at(s->level->where, errmsg("WITH queries that are joined with protected rows are referenced more than %d times; "
								"store rows of some in a temporary table first", DP_MAX_CTE_COPIES));
	s->inlined = lappend(s->inlined, cte);
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = copyObject((Query *) cte->ctequery);
	IncrementVarSublevelsUp((Node *) rte->subquery, rte->ctelevelsup, 1);
	rte->ctename = NULL;
	rte->ctelevelsup = 0;
	rte->coltypes = rte->coltypmods = rte->colcollations = NIL;
}

typedef struct InlineContext
{
	SourceContext *s;
	DpScope    *scope;			/* of the level that is walked */
	int			depth;			/* of that level below the entry's own */
} InlineContext;

static bool
inline_walker(Node *node, InlineContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup >= c->depth)
			inline_cte(c->s, c->scope, rte, true);
		return false;
	}
	if (IsA(node, Query))
	{
		DpScope		inner = {(Query *) node, c->scope};
		InlineContext deeper = {c->s, &inner, c->depth + 1};

		check_stack_depth();
		return query_tree_walker((Query *) node, inline_walker, &deeper, QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, inline_walker, c);
}

/* an entry that refers to its neighbours, or to levels around it */
static bool
refers_outside(DpScope *scope, RangeTblEntry *rte)
{
	Index		up = 0;

	if (rte->lateral)
		return true;
	if (rte->rtekind == RTE_VALUES)
	{
		for (; scope != NULL; scope = scope->outer)
			if (contain_vars_of_level((Node *) rte->values_lists, up++))
				return true;
		return false;
	}
	for (; scope != NULL; scope = scope->outer)
		if (contain_vars_of_level((Node *) rte->subquery, ++up))
			return true;
	return false;
}

static void
refuse_entry(SourceContext *s, RangeTblEntry *rte, const char *what, const char *remedy)
{
	DpSplitContext *cxt = s->cxt;

	dp_refuse_at(s->level->where, errmsg("%s \"%s\" cannot be joined with protected rows; %s",
							what, rte->eref->aliasname, remedy));
}

/* something public, computed beforehand */
static void
make_given(SourceContext *s, DpScope *scope, Query *query, Index rti, Node *expressions)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	InlineContext c = {s, scope, 0};

	switch (rte->rtekind)
	{
		case RTE_RELATION:
			if (rte->tablesample)
				refuse_entry(s, rte, "a sample of", "leave TABLESAMPLE out");
			break;
		case RTE_CTE:
			inline_cte(s, scope, rte, true);
			break;
		case RTE_SUBQUERY:
		case RTE_VALUES:
			break;
		case RTE_FUNCTION:
		case RTE_TABLEFUNC:
			refuse_entry(s, rte, "function", "store its rows in a temporary table first");
			break;
		default:
			refuse_entry(s, rte, "transition table", "store its rows in a temporary table first");
	}
	if (rte->rtekind != RTE_RELATION)
	{
		if (refers_outside(scope, rte))
			refuse_entry(s, rte, "LATERAL or correlated subquery", "write a join condition instead");
		if (rte->rtekind == RTE_SUBQUERY)
			inline_walker((Node *) rte->subquery, &c);
	}
	dp_make_given(s->level->release, query, rti, columns_read(query, rti, expressions));
}

static void
check_protected(SourceContext *s, RangeTblEntry *rte)
{
	DpSplitContext *cxt = s->cxt;
	int			where = s->level->where;
	DpRelease  *release = s->level->release;
	const DpTable *table = dp_policy_table(rte->relid);
	const char *name = get_rel_name(rte->relid);

	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE)
		dp_refuse_at(where, errmsg("\"%s\" is neither a table nor a partitioned table", name));
	if (rte->tablesample)
		dp_refuse_at(where, errmsg("TABLESAMPLE is not releasable over protected tables; leave the clause out"));
	if (release->relids == NIL)
	{
		release->dataset = pstrdup(table->dataset);
		release->relid = rte->relid;
		s->level->table = name;
		s->level->allow.run_as = dp_relation_owner(rte->relid);
		s->dataset_owner = dp_policy_dataset(table->dataset)->owner;
	}
	else
	{
		Oid			owner = dp_relation_owner(rte->relid);

		if (strcmp(release->dataset, table->dataset) != 0)
			dp_refuse_at(where, errmsg("tables \"%s\" and \"%s\" belong to different datasets; ask for private aggregates of each, and join the released rows",
									   s->level->table, name));
		/* the inner query runs as the owner; whose code it could run must not depend on the order */
		if (owner != s->level->allow.run_as)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("protected tables \"%s\" and \"%s\" belong to different owners and cannot be joined; "
							"give them one owner with ALTER TABLE ... OWNER TO",
							s->level->table, name),
					 dp_error_position(cxt->source_text, where)));
	}
	release->relids = list_append_unique_oid(release->relids, rte->relid);
}

static Var *
table_var(Index rti, Oid relid, AttrNumber attnum)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	return makeVar(rti, attnum, type, typmod, collation, 0);
}

/* no two rows of the table have the same unit */
static bool
is_unique(Oid relid, Var *unit)
{
	Oid			eq = lookup_type_cache(unit->vartype, TYPECACHE_EQ_OPR)->eq_opr;
	Oid			left,
				right;
	Expr	   *column = (Expr *) copyObject(unit);
	Expr	   *same;

	if (!OidIsValid(eq))
		return false;
	op_input_types(eq, &left, &right);
	if (left != unit->vartype)
		column = (Expr *) makeRelabelType(column, left, -1, unit->varcollid, COERCE_IMPLICIT_CAST);
	same = make_opclause(eq, BOOLOID, false, column, (Expr *) makeNullConst(right, -1, unit->varcollid),
						 InvalidOid, unit->varcollid);
	set_opfuncid((OpExpr *) same);
	return dp_at_most_one_row(relid, unit->varno, list_make1(same), NULL);
}

static void
read_protected(SourceContext *s, Query *query, Index rti, DpLeaf *leaf)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	const DpTable *table;

	check_protected(s, rte);
	table = dp_policy_table(rte->relid);
	leaf->is_private = true;
	if (table->has_unit)
	{
		AttrNumber	unit = get_attnum(rte->relid, table->unit);

		if (unit <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("the privacy unit of table \"%s\" is missing; "
							"its owner must protect it anew with dp_cdp.protect_table",
							get_rel_name(rte->relid))));
		leaf->units = list_make1(table_var(rti, rte->relid, unit));
		leaf->unit_vars = leaf->units;
		leaf->one_row = is_unique(rte->relid, linitial(leaf->units));
	}
	else
	{
		leaf->one_row = true;
		leaf->units = list_make2(makeVar(rti, TableOidAttributeNumber, OIDOID, -1, InvalidOid, 0),
								 makeVar(rti, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0));
	}
	rte->securityQuals = NIL;
	rte->lateral = false;
	rte->enrname = pstrdup(DP_INNER_MARK);
	dp_set_read_permission(query, rte, dp_relation_owner(rte->relid));
}

/* ------------------------------------------------------------------------
 * Subqueries
 * ------------------------------------------------------------------------
 */

static void
check_subquery(DpSplitContext *cxt, Query *sub)
{
	int			where = exprLocation((Node *) sub->targetList);

	if (sub->setOperations)
		dp_refuse_at(where, errmsg("UNION, INTERSECT and EXCEPT of protected rows are not releasable; "
								   "release each side and combine the released rows"));
	if (sub->limitCount || sub->limitOffset)
		dp_refuse_at(where, errmsg("LIMIT and OFFSET on protected rows are not releasable: which rows remain depends on all others; "
								   "filter with WHERE"));
	if (sub->hasWindowFuncs)
		dp_refuse_at(where, errmsg("window functions over protected rows are not releasable; "
								   "apply them to released rows"));
	if (sub->hasDistinctOn)
		dp_refuse_at(where, errmsg("DISTINCT ON over protected rows is not releasable; "
								   "group by the privacy unit and use min or max"));
	if (sub->hasTargetSRFs)
		dp_refuse_at(where, errmsg("functions that return sets are not releasable over protected rows; "
								   "join a table instead"));
	if (sub->groupingSets)
		dp_refuse_at(where, errmsg("GROUPING SETS, ROLLUP and CUBE are possible at the level of private aggregates only"));
	if (sub->rowMarks)
		dp_refuse_at(where, errmsg("FOR UPDATE and FOR SHARE are not possible on protected tables; leave the clause out"));
	if (sub->hasModifyingCTE || sub->hasRecursive)
		dp_refuse_at(where, errmsg("a subquery over protected rows cannot contain WITH RECURSIVE or a WITH clause that modifies data"));
	if (sub->distinctClause && (sub->groupClause || sub->hasAggs))
		dp_refuse_at(where, errmsg("DISTINCT and aggregates together are not releasable in a subquery over protected rows; leave DISTINCT out"));
}

/* what nobody reads need not pass the allow-list */
static void
prune_targets(Query *sub, const Bitmapset *columns)
{
	List	   *kept = NIL;
	ListCell   *lc;

	sub->sortClause = NIL;
	/* frame offsets would be evaluated when the inner query is planned, with its owner's rights */
	sub->windowClause = NIL;
	foreach(lc, sub->targetList)
	{
		TargetEntry *tle = lfirst(lc);
		bool		is_key = get_sortgroupref_clause_noerr(tle->ressortgroupref, sub->groupClause) != NULL;

		if (!is_key)
		{
			if (tle->resjunk)
				continue;
			tle->ressortgroupref = 0;
			if (!bms_is_member(tle->resno, columns))
				tle->expr = (Expr *) makeNullConst(exprType((Node *) tle->expr),
												   exprTypmod((Node *) tle->expr),
												   exprCollation((Node *) tle->expr));
		}
		kept = lappend(kept, tle);
	}
	sub->targetList = kept;
}

static Var *
output_var(Index rti, TargetEntry *tle)
{
	return makeVar(rti, tle->resno, exprType((Node *) tle->expr), exprTypmod((Node *) tle->expr),
				   exprCollation((Node *) tle->expr), 0);
}

/* columns of their own for what names the unit, before those that are hidden */
static void
hand_up_units(DpSplitContext *cxt, RangeTblEntry *rte, Index rti, DpFrom *from, DpLeaf *leaf)
{
	Query	   *sub = rte->subquery;
	List	   *shown = NIL;
	List	   *hidden = NIL;
	ListCell   *lc;

	foreach(lc, sub->targetList)
	{
		TargetEntry *tle = lfirst(lc);

		if (tle->resjunk)
			hidden = lappend(hidden, tle);
		else
		{
			shown = lappend(shown, tle);
			if (list_member(from->unit_vars, tle->expr))
				leaf->unit_vars = lappend(leaf->unit_vars, output_var(rti, tle));
		}
	}
	/* named as the table's column, for messages */
	foreach(lc, from->units)
	{
		Var		   *unit = lfirst_node(Var, lc);
		char	   *name = get_rte_attribute_name(rt_fetch(unit->varno, sub->rtable), unit->varattno);
		TargetEntry *tle = makeTargetEntry((Expr *) copyObject(unit), list_length(shown) + 1,
										   pstrdup(name), false);

		shown = lappend(shown, tle);
		rte->eref->colnames = lappend(rte->eref->colnames, makeString(tle->resname));
		leaf->units = lappend(leaf->units, output_var(rti, tle));
		if (from->unit_vars != NIL)
			leaf->unit_vars = lappend(leaf->unit_vars, output_var(rti, tle));
	}
	foreach(lc, hidden)
	{
		TargetEntry *tle = lfirst(lc);

		tle->resno = list_length(shown) + 1;
		shown = lappend(shown, tle);
	}
	sub->targetList = shown;
}

static void
check_grouping(DpSplitContext *cxt, Query *sub, DpFrom *from)
{
	ListCell   *lc;

	foreach(lc, sub->groupClause)
	{
		SortGroupClause *clause = lfirst(lc);

		/* another equality might take several units for one */
		if (clause->eqop < FirstGenbkiObjectId &&
			list_member(from->unit_vars, get_sortgroupclause_tle(clause, sub->targetList)->expr))
			return;
	}
	dp_refuse_at(exprLocation((Node *) sub->targetList),
				 errmsg("a subquery below private aggregates can aggregate protected rows only by privacy unit; "
						"add the unit to its GROUP BY"));
}

static bool
groups_by_nothing_else(Query *sub, DpFrom *from)
{
	ListCell   *lc;

	foreach(lc, sub->groupClause)
		if (!list_member(from->unit_vars, get_sortgroupclause_tle(lfirst(lc), sub->targetList)->expr))
			return false;
	return true;
}

static void
read_subquery(SourceContext *s, DpScope *scope, Query *query, Index rti, Node *expressions, DpLeaf *leaf)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	Bitmapset  *columns = columns_read(query, rti, expressions);
	Query	   *sub;
	DpFrom		from = {0};
	DpAllowContext allow = {0};
	List	   *read;
	ListCell   *lc;
	DpScope		inner;

	if (rte->rtekind == RTE_CTE)
		inline_cte(s, scope, rte, false);
	if (refers_outside(scope, rte))
		refuse_entry(s, rte, "LATERAL or correlated subquery", "write a join condition instead");
	sub = rte->subquery;
	inner.query = sub;
	inner.outer = scope;
	dp_flatten_level(sub);
	check_subquery(s->cxt, sub);
	if (sub->distinctClause)
	{
		sub->groupClause = sub->distinctClause;
		sub->distinctClause = NIL;
	}
	prune_targets(sub, columns);

	allow.unit_aggregates = sub->groupClause != NIL || sub->hasAggs || sub->havingQual != NULL;
	from.query = sub;
	read = list_make2(sub->targetList, sub->havingQual);
	read_level(s, &inner, &from, &allow, (Node *) read);
	if (allow.unit_aggregates)
		check_grouping(s->cxt, sub, &from);
	foreach(lc, sub->targetList)
	{
		TargetEntry *tle = lfirst(lc);

		/* what was pruned may be of any type */
		if (!IsA(tle->expr, Const) || !((Const *) tle->expr)->constisnull)
			tle->expr = (Expr *) dp_make_total((Node *) tle->expr, &allow);
	}
	if (sub->havingQual)
		sub->havingQual = dp_make_total(sub->havingQual, &allow);
	sub->hasSubLinks = false;
	sub->cteList = NIL;
	hand_up_units(s->cxt, rte, rti, &from, leaf);
	leaf->is_private = true;
	/* of a unit's rows, an aggregation by the unit alone makes one */
	leaf->one_row = allow.unit_aggregates ? groups_by_nothing_else(sub, &from) : from.one_row;
	leaf->may_repeat = !allow.unit_aggregates && from.may_repeat;
}

/* ------------------------------------------------------------------------
 * One level
 * ------------------------------------------------------------------------
 */

static void
read_join_tree(SourceContext *s, DpScope *scope, DpFrom *from, Node *node, Node *expressions, DpLeaf *leaves)
{
	if (IsA(node, FromExpr))
	{
		ListCell   *lc;

		foreach(lc, ((FromExpr *) node)->fromlist)
			read_join_tree(s, scope, from, lfirst(lc), expressions, leaves);
	}
	else if (IsA(node, JoinExpr))
	{
		read_join_tree(s, scope, from, ((JoinExpr *) node)->larg, expressions, leaves);
		read_join_tree(s, scope, from, ((JoinExpr *) node)->rarg, expressions, leaves);
	}
	else
	{
		Index		rti = castNode(RangeTblRef, node)->rtindex;
		RangeTblEntry *rte = rt_fetch(rti, from->query->rtable);
		RowSearch	search = {.always = s->always};

		from->leaves = bms_add_member(from->leaves, rti);
		if (rte->rtekind == RTE_RELATION && dp_is_protected(rte))
			read_protected(s, from->query, rti, &leaves[rti]);
		else if (entry_yields_rows(scope, rte, &search))
			read_subquery(s, scope, from->query, rti, expressions, &leaves[rti]);
	}
}

/* after the protected ones, because it depends on their owners what is trusted */
static void
read_public(SourceContext *s, DpScope *scope, DpFrom *from, Node *expressions, DpLeaf *leaves)
{
	int			rti = -1;

	while ((rti = bms_next_member(from->leaves, rti)) >= 0)
	{
		RangeTblEntry *rte = rt_fetch(rti, from->query->rtable);

		if (leaves[rti].is_private)
			continue;
		if (rte->rtekind == RTE_RELATION &&
			dp_is_trusted_table(rte, s->level->allow.run_as, s->dataset_owner))
			leaves[rti].relid = rte->relid;
		else
			make_given(s, scope, from->query, rti, expressions);
	}
}

static void
vet_join_conditions(Node *node, DpAllowContext *allow)
{
	if (IsA(node, FromExpr))
	{
		FromExpr   *join = (FromExpr *) node;
		ListCell   *lc;

		foreach(lc, join->fromlist)
			vet_join_conditions(lfirst(lc), allow);
		if (join->quals)
			join->quals = dp_make_total(join->quals, allow);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		vet_join_conditions(join->larg, allow);
		vet_join_conditions(join->rarg, allow);
		if (join->quals)
			join->quals = dp_make_total(join->quals, allow);
	}
}

/* expressions: what else the level computes from its entries */
static void
read_level(SourceContext *s, DpScope *scope, DpFrom *from, DpAllowContext *allow, Node *expressions)
{
	DpLeaf	   *leaves = palloc0(sizeof(DpLeaf) * (list_length(from->query->rtable) + 1));
	DpAllowContext conditions;

	check_stack_depth();
	/* the inner query runs as the protected table's owner */
	dp_check_permissions_as(from->query, GetUserId());
	dp_check_view_permissions(from->query);
	read_join_tree(s, scope, from, (Node *) from->query->jointree, expressions, leaves);
	read_public(s, scope, from, expressions, leaves);

	allow->rtindexes = from->leaves;
	allow->rtable = from->query->rtable;
	allow->source_text = s->cxt->source_text;
	allow->run_as = s->level->allow.run_as;
	conditions = *allow;
	conditions.unit_aggregates = false;
	vet_join_conditions((Node *) from->query->jointree, &conditions);
	dp_analyse_joins(s->cxt, from, leaves, s->level->where);
}

/* rows of foreign tables need not have a ctid of their own, by which repeated rows are known again */
static void
check_row_units(DpLevel *level)
{
	DpSplitContext *cxt = level->cxt;
	ListCell   *lc;

	if (level->from.unit_vars != NIL || !level->from.may_repeat)
		return;
	foreach(lc, find_all_inheritors(level->release->relid, AccessShareLock, NULL))
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			dp_refuse_at(level->where,
						 errmsg("rows of protected table \"%s\" are partly in foreign table \"%s\" and cannot be joined with what may repeat them; "
								"join on all columns of a unique key of the other table",
								level->table, get_rel_name(lfirst_oid(lc))));
}

void
dp_read_source(DpLevel *level, DpScope *scope, bool always)
{
	SourceContext s = {.cxt = level->cxt,.level = level,.always = always};
	Query	   *outer = level->query;
	Query	   *query = makeNode(Query);
	DpScope		inner = {query, scope->outer};
	List	   *read = list_make2(outer->targetList, outer->havingQual);

	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->rtable = copyObject(outer->rtable);
	dp_copy_permissions(query, outer);
	query->jointree = copyObject(outer->jointree);
	query->cteList = outer->cteList;
	level->from.query = query;
	level->conditions = make_ands_implicit((Expr *) outer->jointree->quals);
	read_level(&s, &inner, &level->from, &level->allow, (Node *) read);
	query->cteList = NIL;
	check_row_units(level);
	level->release->has_unit = !level->from.one_row || level->from.may_repeat;
}

/* ------------------------------------------------------------------------
 * WITH queries that are left
 * ------------------------------------------------------------------------
 */

typedef struct ReferenceContext
{
	const char *name;
	Index		sublevels;
} ReferenceContext;

static bool
reference_walker(Node *node, ReferenceContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_CTE &&
			((RangeTblEntry *) node)->ctelevelsup == c->sublevels &&
			strcmp(((RangeTblEntry *) node)->ctename, c->name) == 0;
	if (IsA(node, Query))
	{
		bool		found;

		c->sublevels++;
		found = query_tree_walker((Query *) node, reference_walker, c, QTW_EXAMINE_RTES_BEFORE);
		c->sublevels--;
		return found;
	}
	return expression_tree_walker(node, reference_walker, c);
}

bool
dp_keep_cte(Query *query, CommonTableExpr *cte)
{
	ReferenceContext c = {cte->ctename, 0};
	ListCell   *lc;

	if (cte->cterefcount == 0 ||
		query_tree_walker(query, reference_walker, &c,
						  QTW_EXAMINE_RTES_BEFORE | QTW_IGNORE_CTE_SUBQUERIES))
		return true;
	foreach(lc, query->cteList)
	{
		CommonTableExpr *other = lfirst(lc);

		if (other != cte && other->cterefcount > 0 &&
			reference_walker(other->ctequery, &c))
			return true;
	}
	if (((Query *) cte->ctequery)->commandType == CMD_SELECT)
		cte->cterefcount = 0;
	return cte->cterefcount > 0;
}
