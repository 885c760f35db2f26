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

static Const *
array_const(Oid element, Oid collation, Datum *values, int n)
{
	TypeCacheEntry *type = lookup_type_cache(element, 0);
	Oid			array_type = get_array_type(element);
	ArrayType  *array = construct_array(values, n, element, type->typlen, type->typbyval, type->typalign);

	return makeConst(array_type, -1, collation, -1, PointerGetDatum(array), false, false);
}

static void
declare_domain(DpLevel *level, DpReleaseKey *key, Node *expr)
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
expression_text(DpLevel *level, Node *expr)
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
Node *
dp_inner_expression(DpLevel *level, Node *expr)
{
	Node	   *total = dp_make_total(expr, NULL);

	ChangeVarNodes(total, level->rti, 1, 0);
	return total;
}

void
dp_add_keys(DpLevel *level, DpAllowContext *allow)
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
		dp_allow_group_key(expr, allow);
		key->type = exprType(expr);
		/* the inner query would find out at its first row, if there is one */
		if (level->parts.unit != 0 && !dp_bound_key_supported(key->type))
			dp_refuse_at(exprLocation(expr),
						 errmsg("values of type %s cannot be group keys of a private query over privacy units; group by another column",
								format_type_be(key->type)));
		key->typmod = exprTypmod(expr);
		key->collation = exprCollation(expr);
		key->label = expression_text(level, expr);
		declare_domain(level, key, expr);
		level->key_exprs = lappend(level->key_exprs, expr);
		level->release->keys = lappend(level->release->keys, key);
		level->parts.keys = lappend(level->parts.keys,
									dp_canonical_key(dp_inner_expression(level, expr)));
	}
}

/* ------------------------------------------------------------------------
 * Aggregates
 * ------------------------------------------------------------------------
 */

static bool
is_unit(DpLevel *level, Node *expr)
{
	return level->parts.unit != 0 && IsA(expr, Var) &&
		((Var *) expr)->varno == level->rti &&
		((Var *) expr)->varlevelsup == 0 &&
		((Var *) expr)->varattno == level->parts.unit;
}

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
	DpColumn   *policy;

	if (list_length(agg->args) == 3)
	{
		column->lower = bound_expression(level, column, (Node *) ((TargetEntry *) lsecond(agg->args))->expr);
		column->upper = bound_expression(level, column, (Node *) ((TargetEntry *) lthird(agg->args))->expr);
		return;
	}
	if (!IsA(summand, Var))
		dp_refuse_at(agg->location,
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
add_column(DpLevel *level, DpReleaseColumn *column, Node *value, Node *filter)
{
	level->release->columns = lappend(level->release->columns, column);
	level->parts.values = lappend(level->parts.values, value);
	level->parts.filters = lappend(level->parts.filters, filter);
}

void
dp_add_aggregate(DpLevel *level, Aggref *agg, DpAllowContext *allow)
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
	{
		dp_allow_expr((Node *) agg->aggfilter, allow);
		filter = dp_inner_expression(level, (Node *) agg->aggfilter);
	}
	switch (dp_aggregate_kind(agg->aggfnoid, true))
	{
		case DP_AGG_COUNT:
			column->kind = DP_VALUE_COUNT;
			if (agg->aggdistinct)
			{
				if (!is_unit(level, arg))
					dp_refuse_at(agg->location,
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
				value = dp_inner_expression(level, arg);
			}
			break;
		case DP_AGG_SUM:
			if (agg->aggdistinct)
				dp_refuse_at(agg->location, errmsg("DISTINCT inside dp_sum is not releasable; leave it out"));
			dp_allow_expr(arg, allow);
			column->kind = DP_VALUE_SUM;
			column->input_type = exprType(arg);
			set_bounds(level, column, agg, arg);
			value = dp_inner_expression(level, arg);
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
