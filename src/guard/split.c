/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Splits each level of a query that aggregates protected rows.
 *
 * Invariants:
 * - After dp_split_query no level of the query reads a protected table that
 *	 the calling roles may not read in plain SQL.
 * - What reaches the inner query is: one range table entry, and expressions
 *	 that the allow-list has passed.  Nothing of it refers to other levels.
 * - The outer query sees released keys and values as columns of one range
 *	 table entry; every other expression is post-processing of those.
 * - Whatever is not recognised raises ZC002 with its position.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "errors.h"
#include "guard/allow.h"
#include "guard/guard.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#define refuse_at(location, ...) \
	ereport(ERROR, \
			(errcode(ERRCODE_DP_NOT_RELEASABLE), \
			 __VA_ARGS__, \
			 dp_error_position(cxt->source_text, location)))

/* the level under work */
typedef struct Level
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
} Level;

/* ------------------------------------------------------------------------
 * Finding
 * ------------------------------------------------------------------------
 */

static bool
is_protected(RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW &&
		dp_policy_table(rte->relid) != NULL;
}

static bool
touches_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return is_protected((RangeTblEntry *) node);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, touches_walker, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, touches_walker, context);
}

/* most queries have no subquery below an expression: look at those only where there is one */
static bool
touches_quickly(Query *query, bool *undecided)
{
	ListCell   *lc;

	if (query->hasSubLinks || query->cteList != NIL || query->utilityStmt != NULL)
		*undecided = true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (is_protected(rte))
			return true;
		if (rte->rtekind == RTE_SUBQUERY)
			if (touches_quickly(rte->subquery, undecided))
				return true;
	}
	return false;
}

bool
dp_query_touches_protected(Query *query)
{
	bool		undecided = false;

	return touches_quickly(query, &undecided) ||
		(undecided && touches_walker((Node *) query, NULL));
}

/* ------------------------------------------------------------------------
 * Aggregates of one level
 * ------------------------------------------------------------------------
 */

typedef struct CollectContext
{
	DpSplitContext *cxt;
	int			sublevels;
	List	   *aggs;
	int			private_aggs;	/* how many are ours */
	Node	   *other;			/* the first that is not */
} CollectContext;

static bool
collect_walker(Node *node, CollectContext *c)
{
	DpSplitContext *cxt = c->cxt;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == c->sublevels)
	{
		Aggref	   *agg = copyObject((Aggref *) node);

		IncrementVarSublevelsUp((Node *) agg, -c->sublevels, 0);
		if (dp_aggregate_kind(agg->aggfnoid) != DP_AGG_NONE)
			c->private_aggs++;
		else if (c->other == NULL)
			c->other = node;
		if (!list_member(c->aggs, agg))
			c->aggs = lappend(c->aggs, agg);
		return false;
	}
	if (IsA(node, WindowFunc) && dp_aggregate_kind(((WindowFunc *) node)->winfnoid) != DP_AGG_NONE)
		refuse_at(((WindowFunc *) node)->location,
				  errmsg("private aggregates cannot be window functions; "
						 "release them with GROUP BY in a subquery and use a window over its rows"));
	if (IsA(node, Query))
	{
		bool		result;

		c->sublevels++;
		result = query_tree_walker((Query *) node, collect_walker, c, 0);
		c->sublevels--;
		return result;
	}
	return expression_tree_walker(node, collect_walker, c);
}

static void
collect_aggregates(Query *query, CollectContext *c)
{
	collect_walker((Node *) query->targetList, c);
	collect_walker(query->havingQual, c);
}

/* ------------------------------------------------------------------------
 * Shape of the level
 * ------------------------------------------------------------------------
 */

static void
check_shape(Level *level)
{
	DpSplitContext *cxt = level->cxt;
	Query	   *query = level->query;
	FromExpr   *from = query->jointree;
	RangeTblEntry *rte = level->rte;

	if (query->commandType != CMD_SELECT)
		refuse_at(-1, errmsg("private aggregates can be used in SELECT only"));
	if (query->hasModifyingCTE || query->hasRecursive)
		refuse_at(-1, errmsg("a query of private aggregates cannot contain WITH RECURSIVE or a WITH clause that modifies data; "
							 "release in a query of its own"));
	if (query->rowMarks)
		refuse_at(-1, errmsg("FOR UPDATE and FOR SHARE are not possible on protected tables; leave the clause out"));
	if (query->setOperations)
		refuse_at(-1, errmsg("private aggregates cannot be at the level of a set operation; put each in a subquery"));
	if (query->groupingSets)
		refuse_at(-1, errmsg("GROUPING SETS, ROLLUP and CUBE are not releasable over protected tables; "
							 "send one query for each set of keys"));
	if (list_length(from->fromlist) != 1 || !IsA(linitial(from->fromlist), RangeTblRef))
		refuse_at(-1, errmsg("private aggregates read one protected table; "
							 "joins with \"%s\" are not releasable, join the released rows instead",
							 get_rel_name(rte->relid)));
	if (((RangeTblRef *) linitial(from->fromlist))->rtindex != level->rti)
		refuse_at(-1, errmsg("private aggregates must read the protected table \"%s\" directly",
							 get_rel_name(rte->relid)));
	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE)
		refuse_at(-1, errmsg("\"%s\" is neither a table nor a partitioned table", get_rel_name(rte->relid)));
	if (rte->tablesample)
		refuse_at(-1, errmsg("TABLESAMPLE is not releasable over protected tables; leave the clause out"));
}

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

static Const *
array_const(Oid element, Oid collation, Datum *values, int n)
{
	TypeCacheEntry *type = lookup_type_cache(element, 0);
	Oid			array_type = get_array_type(element);
	ArrayType  *array = construct_array(values, n, element, type->typlen, type->typbyval, type->typalign);

	return makeConst(array_type, -1, collation, -1, PointerGetDatum(array), false, false);
}

static void
declare_domain(Level *level, DpReleaseKey *key, Node *expr)
{
	Datum		booleans[2] = {BoolGetDatum(false), BoolGetDatum(true)};

	if (IsA(expr, Var))
	{
		DpColumn   *column = dp_policy_column(level->rte->relid, ((Var *) expr)->varattno);

		if (column->has_keys)
		{
			int			n = column->nkeys;

			if (n > 0 && column->key_nulls[n - 1])
			{
				key->null_key = true;
				n--;
			}
			key->domain = array_const(column->keytype, key->collation, column->keys, n);
		}
	}
	else if (key->type == BOOLOID)
	{
		key->domain = array_const(BOOLOID, InvalidOid, booleans, 2);
		key->null_key = true;
	}
}

static bool
outer_var_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup > 0;
	return expression_tree_walker(node, outer_var_walker, context);
}

/* casts that nobody wrote would be shown among the arguments of an aggregate */
static Node *
without_implicit_casts(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST)
		return without_implicit_casts(linitial(((FuncExpr *) node)->args), context);
	if (IsA(node, RelabelType) && ((RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST)
		return without_implicit_casts((Node *) ((RelabelType *) node)->arg, context);
	return expression_tree_mutator(node, without_implicit_casts, context);
}

/* text of an expression over the table, for messages, the audit and EXPLAIN */
static char *
expression_text(Level *level, Node *expr)
{
	Node	   *copy;
	char	   *text;

	/* not releasable, and nothing that can be deparsed against the table alone */
	if (checkExprHasSubLink(expr) || outer_var_walker(expr, NULL))
		return IsA(expr, Aggref)
			? psprintf("%s(...)", get_func_name(((Aggref *) expr)->aggfnoid))
			: pstrdup("...");
	copy = without_implicit_casts(expr, NULL);
	ChangeVarNodes(copy, level->rti, 1, 0);
	text = deparse_expression(copy, deparse_context_for(get_rel_name(level->rte->relid),
														level->rte->relid), false, false);
	if (strlen(text) > 200)
		strcpy(text + pg_mbcliplen(text, strlen(text), 196), "...");
	return text;
}

/* an allowed expression as it runs in the inner query */
static Node *
inner_expression(Level *level, Node *expr)
{
	Node	   *total = dp_make_total(expr);

	ChangeVarNodes(total, level->rti, 1, 0);
	return total;
}

static void
add_keys(Level *level, DpAllowContext *allow)
{
	Query	   *query = level->query;
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(lfirst(lc), query->targetList);
		Node	   *expr = (Node *) tle->expr;
		DpReleaseKey *key = dp_make_release_key();

		if (list_member(level->key_exprs, expr))
			continue;
		dp_allow_group_key(expr, allow);
		key->type = exprType(expr);
		key->typmod = exprTypmod(expr);
		key->collation = exprCollation(expr);
		key->label = expression_text(level, expr);
		declare_domain(level, key, expr);
		level->key_exprs = lappend(level->key_exprs, expr);
		level->release->keys = lappend(level->release->keys, key);
		level->parts.keys = lappend(level->parts.keys,
									dp_canonical_key(inner_expression(level, expr)));
	}
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

static bool
is_unit(Level *level, Node *expr)
{
	return level->parts.unit != 0 && IsA(expr, Var) &&
		((Var *) expr)->varno == level->rti &&
		((Var *) expr)->varlevelsup == 0 &&
		((Var *) expr)->varattno == level->parts.unit;
}

static Expr *
bound_expression(Level *level, DpReleaseColumn *column, Node *expr)
{
	DpSplitContext *cxt = level->cxt;

	if (contain_var_clause(expr) || contain_vars_of_level(expr, 0) ||
		checkExprHasSubLink(expr) || contain_aggs_of_level(expr, 0) ||
		contain_volatile_functions(expr) || contain_vars_of_level(expr, 1))
		refuse_at(exprLocation(expr),
				  errmsg("the bounds of %s must be constants or parameters", column->label));
	return (Expr *) expression_planner((Expr *) copyObject(expr));
}

static Expr *
declared_bound(Numeric value)
{
	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(value), false, false);
}

static void
set_bounds(Level *level, DpReleaseColumn *column, Aggref *agg, Node *summand)
{
	DpSplitContext *cxt = level->cxt;
	DpColumn   *policy;

	if (list_length(agg->args) == 3)
	{
		column->lower = bound_expression(level, column, (Node *) ((TargetEntry *) lsecond(agg->args))->expr);
		column->upper = bound_expression(level, column, (Node *) ((TargetEntry *) lthird(agg->args))->expr);
		return;
	}
	if (!IsA(summand, Var))
		refuse_at(agg->location,
				  errmsg("%s needs bounds: write dp_sum(expression, lower, upper)", column->label));
	policy = dp_policy_bounds(level->rte->relid, ((Var *) summand)->varattno);
	if (!policy->has_bounds)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s needs bounds: write dp_sum(%s, lower, upper), "
						"or let the owner declare them with dp_cdp.set_bounds",
						column->label, expression_text(level, summand)),
				 dp_error_position(cxt->source_text, agg->location)));
	column->lower = declared_bound(policy->lower);
	column->upper = declared_bound(policy->upper);
}

static void
add_column(Level *level, DpReleaseColumn *column, Node *value, Node *filter)
{
	level->release->columns = lappend(level->release->columns, column);
	level->parts.values = lappend(level->parts.values, value);
	level->parts.filters = lappend(level->parts.filters, filter);
}

static void
add_aggregate(Level *level, Aggref *agg, DpAllowContext *allow)
{
	DpSplitContext *cxt = level->cxt;
	DpReleaseColumn *column = dp_make_release_column();
	Node	   *arg = agg->args ? (Node *) ((TargetEntry *) linitial(agg->args))->expr : NULL;
	Node	   *value = NULL;
	Node	   *filter = NULL;

	column->label = expression_text(level, (Node *) agg);
	column->location = agg->location;
	column->result_type = agg->aggtype;
	if (agg->aggorder)
		refuse_at(agg->location, errmsg("ORDER BY inside %s is not possible; leave it out", column->label));

	if (agg->aggfilter)
	{
		dp_allow_expr((Node *) agg->aggfilter, allow);
		filter = inner_expression(level, (Node *) agg->aggfilter);
	}
	switch (dp_aggregate_kind(agg->aggfnoid))
	{
		case DP_AGG_COUNT:
			column->kind = DP_VALUE_COUNT;
			if (agg->aggdistinct)
			{
				if (!is_unit(level, arg))
					refuse_at(agg->location,
							  level->parts.unit
							  ? errmsg("dp_count(DISTINCT ...) counts privacy units only: write dp_count(DISTINCT %s)",
									   quote_identifier(get_attname(level->rte->relid, level->parts.unit, false)))
							  : errmsg("dp_count(DISTINCT ...) counts privacy units only, and each row of \"%s\" is one: write dp_count(*)",
									   get_rel_name(level->rte->relid)));
				column->kind = DP_VALUE_UNITS;
			}
			else if (arg != NULL)
			{
				dp_allow_expr(arg, allow);
				value = inner_expression(level, arg);
			}
			break;
		case DP_AGG_SUM:
			if (agg->aggdistinct)
				refuse_at(agg->location, errmsg("DISTINCT inside dp_sum is not releasable; leave it out"));
			dp_allow_expr(arg, allow);
			column->kind = DP_VALUE_SUM;
			column->input_type = exprType(arg);
			set_bounds(level, column, agg, arg);
			value = inner_expression(level, arg);
			break;
		default:
			elog(ERROR, "unexpected aggregate %u", agg->aggfnoid);
	}
	add_column(level, column, value, filter);
}

/*
 * Undeclared keys are released by a noisy count of units.  An aggregate of
 * the query that is just that serves, too; else one is added and charged.
 */
static void
add_key_selection(Level *level)
{
	DpRelease  *release = level->release;
	DpReleaseColumn *column;
	ListCell   *lc,
			   *value,
			   *filter;
	bool		undeclared = false;
	int			i = 0;

	foreach(lc, release->keys)
		if (((DpReleaseKey *) lfirst(lc))->domain == NULL)
			undeclared = true;
	if (!undeclared)
		return;
	forthree(lc, release->columns, value, level->parts.values, filter, level->parts.filters)
	{
		column = lfirst(lc);
		if (column->kind == (release->has_unit ? DP_VALUE_UNITS : DP_VALUE_COUNT) &&
			lfirst(value) == NULL && lfirst(filter) == NULL)
		{
			release->selection = i;
			return;
		}
		i++;
	}
	column = dp_make_release_column();
	column->kind = DP_VALUE_UNITS;
	column->result_type = INT8OID;
	column->label = pstrdup("key selection");
	column->hidden = true;
	release->selection = i;
	add_column(level, column, NULL, NULL);
}

/* ------------------------------------------------------------------------
 * The outer query
 * ------------------------------------------------------------------------
 */

typedef struct ReplaceContext
{
	Level	   *level;
	int			sublevels;
} ReplaceContext;

static Var *
released_var(Level *level, int column, int sublevels)
{
	RangeTblEntry *rte = rt_fetch(level->new_rti, level->query->rtable);

	return makeVar(level->new_rti, column,
				   list_nth_oid(rte->coltypes, column - 1),
				   list_nth_int(rte->coltypmods, column - 1),
				   list_nth_oid(rte->colcollations, column - 1),
				   sublevels);
}

static Node *
replace_mutator(Node *node, ReplaceContext *c)
{
	Level	   *level = c->level;
	DpSplitContext *cxt = level->cxt;
	ListCell   *lc;
	int			i = 0;

	if (node == NULL)
		return NULL;

	foreach(lc, level->key_exprs)
	{
		Node	   *key = lfirst(lc);

		i++;
		if (nodeTag(key) != nodeTag(node))
			continue;
		if (c->sublevels > 0)
		{
			key = copyObject(key);
			IncrementVarSublevelsUp(key, c->sublevels, 0);
		}
		if (equal(key, node))
			return (Node *) released_var(level, i, c->sublevels);
	}

	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == c->sublevels)
	{
		Aggref	   *agg = copyObject((Aggref *) node);
		ListCell   *column;

		IncrementVarSublevelsUp((Node *) agg, -c->sublevels, 0);
		forboth(lc, level->aggs, column, level->agg_columns)
			if (equal(lfirst(lc), agg))
				return (Node *) released_var(level, lfirst_int(column), c->sublevels);
		elog(ERROR, "an aggregate was not collected");
	}
	/* there are no grouping sets: every key is grouped by */
	if (IsA(node, GroupingFunc) && ((GroupingFunc *) node)->agglevelsup == c->sublevels)
		return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == c->sublevels &&
		((Var *) node)->varno == level->rti)
	{
		Var		   *var = (Var *) node;

		refuse_at(var->location,
				  errmsg("a column of protected table \"%s\" is used outside of a private aggregate; "
						 "group by it or aggregate it", get_rel_name(level->rte->relid)));
	}
	if (IsA(node, Query))
	{
		Query	   *query;

		c->sublevels++;
		query = query_tree_mutator((Query *) node, replace_mutator, c, 0);
		c->sublevels--;
		return (Node *) query;
	}
	return expression_tree_mutator(node, replace_mutator, c);
}

/* the released rows as a range table entry of the outer query */
static void
add_released_rte(Level *level)
{
	DpRelease  *release = level->release;
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	List	   *names = NIL;
	ListCell   *lc;

	rte->rtekind = RTE_NAMEDTUPLESTORE;
	rte->enrname = release->name;
	rte->enrtuples = 100;
	rte->inFromCl = true;
	foreach(lc, release->keys)
	{
		DpReleaseKey *key = lfirst(lc);

		rte->coltypes = lappend_oid(rte->coltypes, key->type);
		rte->coltypmods = lappend_int(rte->coltypmods, key->typmod);
		rte->colcollations = lappend_oid(rte->colcollations, key->collation);
		names = lappend(names, makeString(pstrdup(key->label)));
	}
	foreach(lc, release->columns)
	{
		DpReleaseColumn *column = lfirst(lc);

		if (column->hidden)
			continue;
		rte->coltypes = lappend_oid(rte->coltypes, column->result_type);
		rte->coltypmods = lappend_int(rte->coltypmods, -1);
		rte->colcollations = lappend_oid(rte->colcollations, InvalidOid);
		names = lappend(names, makeString(pstrdup(column->label)));
	}
	rte->eref = makeAlias("release", names);
	level->query->rtable = lappend(level->query->rtable, rte);
	level->new_rti = list_length(level->query->rtable);
}

static void
rewrite_outer(Level *level)
{
	Query	   *query = level->query;
	ReplaceContext c = {level, 0};
	RangeTblRef *ref = makeNode(RangeTblRef);

	add_released_rte(level);
	query->targetList = (List *) replace_mutator((Node *) query->targetList, &c);
	ref->rtindex = level->new_rti;
	query->jointree = makeFromExpr(list_make1(ref), replace_mutator(query->havingQual, &c));
	query->havingQual = NULL;
	query->groupClause = NIL;
	query->groupDistinct = false;
	query->hasAggs = false;
	dp_clear_relation_rte(query, level->rte);

	/* keeps the level from being pulled up, or conditions from being pushed down */
	if (query->limitOffset == NULL)
		query->limitOffset = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
												Int64GetDatum(0), false, FLOAT8PASSBYVAL);
}

/* ------------------------------------------------------------------------
 * One level
 * ------------------------------------------------------------------------
 */

static void
split_level(DpSplitContext *cxt, Query *query, Index rti, CollectContext *collected)
{
	Level		level = {.cxt = cxt,.query = query,.rti = rti};
	DpAllowContext allow = {0};
	const DpTable *table;
	ListCell   *lc;

	level.rte = rt_fetch(rti, query->rtable);
	table = dp_policy_table(level.rte->relid);
	check_shape(&level);
	dp_flatten_group_keys(query);
	if (collected->other != NULL)
	{
		Aggref	   *other = (Aggref *) collected->other;

		refuse_at(other->location,
				  errmsg("%s is exact and cannot be released over protected table \"%s\"; use dp_count or dp_sum",
						 get_func_name(other->aggfnoid), get_rel_name(level.rte->relid)));
	}

	level.release = dp_make_release();
	level.release->name = dp_release_new_name();
	level.release->dataset = pstrdup(table->dataset);
	level.release->relid = level.rte->relid;
	level.release->has_unit = table->has_unit;
	level.release->first_param = cxt->next_param;
	if (table->has_unit)
	{
		level.parts.unit = get_attnum(level.rte->relid, table->unit);
		if (level.parts.unit <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("the privacy unit of table \"%s\" is missing; "
							"its owner must protect it anew with dp_cdp.protect_table",
							get_rel_name(level.rte->relid))));
	}

	allow.rtindexes = bms_make_singleton(rti);
	allow.rtable = query->rtable;
	allow.source_text = cxt->source_text;

	add_keys(&level, &allow);
	level.aggs = collected->aggs;
	foreach(lc, level.aggs)
	{
		level.agg_columns = lappend_int(level.agg_columns,
										list_length(level.release->keys) +
										list_length(level.release->columns) + 1);
		add_aggregate(&level, lfirst(lc), &allow);
	}
	add_key_selection(&level);
	if (list_length(level.release->keys) > DP_MAX_KEYS ||
		list_length(level.release->columns) > DP_MAX_VALUES)
		refuse_at(-1, errmsg("a query releases at most %d private aggregates by %d keys; split it",
							 DP_MAX_VALUES, DP_MAX_KEYS));
	if (query->jointree->quals)
	{
		dp_allow_expr(query->jointree->quals, &allow);
		level.parts.quals = inner_expression(&level, query->jointree->quals);
	}
	cxt->next_param += table->has_unit ? 1 : list_length(level.release->columns);

	level.parts.rte = copyObject(level.rte);
	level.parts.rte->securityQuals = NIL;
	level.parts.rte->lateral = false;
	level.parts.rte->enrname = pstrdup(DP_INNER_MARK);
	level.release->inner_query = dp_build_inner_query(level.release, &level.parts);
	rewrite_outer(&level);
	cxt->releases = lappend(cxt->releases, level.release);
}

static void
refuse_raw(DpSplitContext *cxt, Query *query, Index rti, CollectContext *collected)
{
	const char *name = get_rel_name(rt_fetch(rti, query->rtable)->relid);

	if (collected->other != NULL)
		refuse_at(((Aggref *) collected->other)->location,
				  errmsg("%s is exact and cannot be released over protected table \"%s\"; use dp_count or dp_sum",
						 get_func_name(((Aggref *) collected->other)->aggfnoid), name));
	refuse_at(-1,
			  errmsg("permission denied for rows of protected table \"%s\"; "
					 "ask for private aggregates, such as SELECT dp_count(*) FROM %s", name,
					 quote_identifier(name)));
}

/* UPDATE, DELETE and MERGE tell by their command tag how many rows match */
static void
check_target_of_change(DpSplitContext *cxt, Query *query)
{
	RangeTblEntry *rte;

	if (query->resultRelation == 0)
		return;
	rte = rt_fetch(query->resultRelation, query->rtable);
	if (!is_protected(rte) || dp_may_read(rte->relid))
		return;
	if (query->commandType == CMD_INSERT && query->onConflict == NULL && query->returningList == NIL)
		return;
	refuse_at(-1,
			  errmsg("rows of protected table \"%s\" can be changed only by roles that may read them; "
					 "plain INSERT is possible with INSERT privilege", get_rel_name(rte->relid)));
}

static void
process_level(DpSplitContext *cxt, Query *query)
{
	CollectContext collected = {.cxt = cxt};
	Index		rti = 0;
	Index		i = 0;
	ListCell   *lc;

	if (query->commandType == CMD_UTILITY)
		return;
	check_target_of_change(cxt, query);
	foreach(lc, query->rtable)
	{
		i++;
		if (is_protected(lfirst(lc)) && i != query->resultRelation)
		{
			rti = i;
			if (!dp_may_read(((RangeTblEntry *) lfirst(lc))->relid))
				break;
		}
	}
	collect_aggregates(query, &collected);
	if (rti == 0)
	{
		if (collected.private_aggs > 0)
			foreach(lc, collected.aggs)
				if (dp_aggregate_kind(((Aggref *) lfirst(lc))->aggfnoid) != DP_AGG_NONE)
					refuse_at(((Aggref *) lfirst(lc))->location,
							  errmsg("private aggregates must read a protected table directly, not a subquery or an unprotected table"));
		return;
	}
	if (collected.private_aggs > 0)
		split_level(cxt, query, rti, &collected);
	else if (!dp_may_read(rt_fetch(rti, query->rtable)->relid))
		refuse_raw(cxt, query, rti, &collected);
}

static bool
split_walker(Node *node, void *context)
{
	DpSplitContext *cxt = context;

	if (node == NULL)
		return false;
	if (IsA(node, CommonTableExpr))
	{
		CommonTableExpr *cte = (CommonTableExpr *) node;
		int			before = list_length(cxt->releases);

		split_walker(cte->ctequery, context);
		/* one release, however often the CTE is referenced */
		if (list_length(cxt->releases) > before)
			cte->ctematerialized = CTEMaterializeAlways;
		return false;
	}
	if (IsA(node, Query))
	{
		check_stack_depth();
		query_tree_walker((Query *) node, split_walker, context, 0);
		process_level(cxt, (Query *) node);
		return false;
	}
	return expression_tree_walker(node, split_walker, context);
}

void
dp_split_query(Query *query, DpSplitContext *cxt)
{
	split_walker((Node *) query, cxt);
}
