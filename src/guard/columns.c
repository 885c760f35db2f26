/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  What a level releases: its keys and its private aggregates.
 *
 * Every expression over protected columns passes the allow-list here and
 * leaves in the form in which it is safe to run.  What is released is
 * described in the DpRelease, what is computed in the DpInnerParts; the two
 * have their keys and columns in the same order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "guard/level.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

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

/* text of an expression over what the level reads, for messages, the audit and EXPLAIN */
static char *
expression_text(DpLevel *level, Node *expr)
{
	PlannedStmt *names = makeNode(PlannedStmt);
	bool		several = bms_membership(level->from.leaves) == BMS_MULTIPLE;
	char	   *text;

	/* not releasable, and nothing that can be deparsed by itself */
	if (checkExprHasSubLink(expr) || outer_var_walker(expr, NULL))
		return IsA(expr, Aggref)
			? psprintf("%s(...)", get_func_name(((Aggref *) expr)->aggfnoid))
			: pstrdup("...");
	names->rtable = level->from.query->rtable;
	text = deparse_expression(without_implicit_casts(expr, NULL),
							  deparse_context_for_plan_tree(names, select_rtable_names_for_explain(names->rtable,
																								 level->from.leaves)),
							  several, false);
	if (strlen(text) > 200)
		strcpy(text + pg_mbcliplen(text, strlen(text), 196), "...");
	return text;
}

static bool
is_unit(DpLevel *level, Node *expr)
{
	return list_member(level->from.unit_vars, expr);
}

void
dp_add_keys(DpLevel *level)
{
	DpSplitContext *cxt = level->cxt;
	Query	   *query = level->query;
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(lfirst(lc), query->targetList);
		Node	   *expr = (Node *) tle->expr;
		DpReleaseKey *key = dp_make_release_key();

		if (list_member(level->key_exprs, expr))
			continue;
		dp_allow_group_key(expr, &level->allow);
		key->type = exprType(expr);
		/* the inner query would find out at its first row, if there is one */
		if (level->release->has_unit && !dp_bound_key_supported(key->type))
			dp_refuse_at(exprLocation(expr),
						 errmsg("values of type %s cannot be group keys of a private query over privacy units; group by another column",
								format_type_be(key->type)));
		key->typmod = exprTypmod(expr);
		key->collation = exprCollation(expr);
		key->label = expression_text(level, expr);
		dp_declare_domain(level, key, expr);
		if (key->domain == NULL && is_unit(level, expr))
			dp_refuse_at(exprLocation(expr),
						 errmsg("grouping by the privacy unit \"%s\" would show one person in each group; "
								"aggregate over such a subquery instead, as in "
								"SELECT dp_count(*) FROM (SELECT %s ... GROUP BY %s) q",
								key->label, key->label, key->label));
		level->key_exprs = lappend(level->key_exprs, expr);
		level->release->keys = lappend(level->release->keys, key);
		level->parts.keys = lappend(level->parts.keys,
									dp_canonical_key(dp_make_total(expr, &level->allow)));
	}
}

/* ------------------------------------------------------------------------
 * Aggregates
 * ------------------------------------------------------------------------
 */

static Expr *
bound_expression(DpLevel *level, DpReleaseColumn *column, Node *expr)
{
	DpSplitContext *cxt = level->cxt;

	if (contain_var_clause(expr) || contain_vars_of_level(expr, 0) ||
		checkExprHasSubLink(expr) || contain_aggs_of_level(expr, 0) ||
		contain_volatile_functions(expr) || contain_vars_of_level(expr, 1))
		dp_refuse_at(exprLocation(expr),
				  errmsg("the bounds of %s must be constants or parameters", column->label));
	return (Expr *) expression_planner((Expr *) copyObject(expr));
}

static Expr *
declared_bound(Numeric value)
{
	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(value), false, false);
}

static void
set_bounds(DpLevel *level, DpReleaseColumn *column, Aggref *agg, Node *summand)
{
	DpSplitContext *cxt = level->cxt;
	DpColumnOrigin origin;
	DpColumn   *policy;

	if (list_length(agg->args) == 3)
	{
		column->lower = bound_expression(level, column, (Node *) ((TargetEntry *) lsecond(agg->args))->expr);
		column->upper = bound_expression(level, column, (Node *) ((TargetEntry *) lthird(agg->args))->expr);
		return;
	}
	if (!dp_trace_column(level->from.query, NULL, summand, &origin) || !origin.is_protected)
		dp_refuse_at(agg->location,
				  errmsg("%s needs bounds: write dp_sum(%s, lower, upper)", column->label,
						 IsA(summand, Var) ? expression_text(level, summand) : "expression"));
	policy = dp_policy_bounds(origin.relid, origin.attnum);
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
add_column(DpLevel *level, DpReleaseColumn *column, Node *value, Node *filter)
{
	level->release->columns = lappend(level->release->columns, column);
	level->parts.values = lappend(level->parts.values, value);
	level->parts.filters = lappend(level->parts.filters, filter);
}

void
dp_add_aggregate(DpLevel *level, Aggref *agg)
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
		dp_refuse_at(agg->location, errmsg("ORDER BY inside %s is not possible; leave it out", column->label));

	if (agg->aggfilter)
		filter = dp_make_total((Node *) agg->aggfilter, &level->allow);
	switch (dp_aggregate_kind(agg->aggfnoid, true))
	{
		case DP_AGG_COUNT:
			column->kind = DP_VALUE_COUNT;
			if (agg->aggdistinct)
			{
				if (!is_unit(level, arg))
					dp_refuse_at(agg->location,
							  level->from.unit_vars
							  ? errmsg("dp_count(DISTINCT ...) counts privacy units only: write dp_count(DISTINCT %s)",
									   expression_text(level, linitial(level->from.unit_vars)))
							  : errmsg("dp_count(DISTINCT ...) counts privacy units only, and each row of \"%s\" is one: write dp_count(*)",
									   level->table));
				column->kind = DP_VALUE_UNITS;
			}
			else if (arg != NULL)
				value = dp_make_total(arg, &level->allow);
			break;
		case DP_AGG_SUM:
			if (agg->aggdistinct)
				dp_refuse_at(agg->location, errmsg("DISTINCT inside dp_sum is not releasable; leave it out"));
			value = dp_make_total(arg, &level->allow);
			column->kind = DP_VALUE_SUM;
			column->input_type = exprType(arg);
			set_bounds(level, column, agg, arg);
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
void
dp_add_key_selection(DpLevel *level)
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
