/*-------------------------------------------------------------------------
 *
 * exprs.c
 *	  Small expressions, made and taken apart, and entries of FROM.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/collations.h"
#include "base/compat.h"
#include "base/extension.h"
#include "base/input.h"
#include "base/walk.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/level.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "rewrite/rewriteManip.h"
#include "policy/unit_types.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

bool
dp_has_columns(Node *expr)
{
	return dp_has_nodes(expr, T_Var);
}

bool
dp_folds_to_constant(Node *expr)
{
	return !checkExprHasSubLink(expr) && IsA(eval_const_expressions(NULL, copyObject(expr)), Const);
}

Expr *
dp_make_param(int number, Oid type)
{
	return (Expr *) dp_make(Param, .paramkind = PARAM_EXTERN, .paramid = number, .paramtype = type, .paramtypmod = -1,
							.paramcollid = InvalidOid, .location = -1);
}

Expr *
dp_is_not_null(Expr *arg)
{
	return (Expr *) dp_make(NullTest, .arg = arg, .nulltesttype = IS_NOT_NULL, .argisrow = false, .location = -1);
}

Expr *
dp_is_null(Expr *arg)
{
	return (Expr *) dp_make(NullTest, .arg = arg, .nulltesttype = IS_NULL, .argisrow = false, .location = -1);
}

CaseExpr *
dp_make_case(Expr *otherwise)
{
	return dp_make(CaseExpr, .casetype = exprType((Node *) otherwise),
				   .casecollid = exprCollation((Node *) otherwise), .defresult = otherwise, .location = -1);
}

void
dp_add_when(CaseExpr *cases, Expr *condition, Expr *result)
{
	cases->args = lappend(cases->args, dp_make(CaseWhen, .expr = condition, .result = result, .location = -1));
}

Expr *
dp_value_where(Expr *condition, Expr *value)
{
	Node	   *like = (Node *) value;
	CaseExpr   *cases = dp_make_case((Expr *) makeNullConst(exprType(like), exprTypmod(like), exprCollation(like)));

	dp_add_when(cases, condition, value);
	return (Expr *) cases;
}

Const *
dp_const_of(Oid type, const char *text)
{
	Datum		value;

	if (!dp_try_input(text, getBaseType(type), -1, &value))
		elog(ERROR, "\"%s\" is no value of type %u", text, type);
	return makeConst(type, -1, get_typcollation(type), get_typlen(type), value, false, get_typbyval(type));
}

Expr *
dp_null_for(const char *text, Expr *value)
{
	Oid			type = exprType((Node *) value);
	Oid			op = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;

	return (Expr *) dp_make(NullIfExpr, .opno = op, .opfuncid = get_opcode(op), .opresulttype = type,
							.args = list_make2(value, dp_const_of(type, text)), .location = exprLocation((Node *) value));
}

Expr *
dp_nan_to_null(Expr *value)
{
	Oid			type = exprType((Node *) value);

	return type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID ? dp_null_for("NaN", value) : value;
}

List *
dp_conjuncts(Node *condition)
{
	List	   *list = NIL;

	check_stack_depth();
	foreach_ptr(Node, item, make_ands_implicit((Expr *) condition))
	{
		if (is_andclause(item))
			list = list_concat(list, dp_conjuncts(item));
		else
			list = lappend(list, item);
	}
	return list;
}

/* Returns what EXISTS or IN asks of the row around it alone: a row that fails it has no match. */
static List *
conditions_of_sublink(SubLink *sublink)
{
	Query	   *query = (Query *) sublink->subselect;
	List	   *conditions = NIL;

	if ((sublink->subLinkType != EXISTS_SUBLINK && sublink->subLinkType != ANY_SUBLINK) ||
		query->setOperations != NULL || (query->hasAggs && query->groupClause == NIL) || query->groupingSets != NIL)
		return NIL;
	foreach_ptr(Node, item, dp_conditions_of_all((Node *) query->jointree))
	{
		if (!contain_vars_of_level(item, 0))
		{
			conditions = lappend(conditions, copyObject(item));
			IncrementVarSublevelsUp(llast(conditions), -1, 1);
		}
	}
	return conditions;
}

List *
dp_conditions_of_all(Node *jointree)
{
	JoinExpr   *join = (JoinExpr *) jointree;
	List	   *conditions = NIL;
	Node	   *quals = NULL;

	check_stack_depth();
	if (IsA(jointree, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) jointree)->fromlist)
			conditions = list_concat(conditions, dp_conditions_of_all(item));
		quals = ((FromExpr *) jointree)->quals;
	}
	else if (IsA(jointree, JoinExpr) && (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT))
	{
		conditions = dp_conditions_of_all(join->larg);
		if (join->jointype == JOIN_INNER)
		{
			conditions = list_concat(conditions, dp_conditions_of_all(join->rarg));
			quals = join->quals;
		}
	}
	foreach_ptr(Node, conjunct, dp_conjuncts(quals))
	{
		if (IsA(conjunct, SubLink))
			conditions = list_concat(conditions, conditions_of_sublink((SubLink *) conjunct));
		else if (!checkExprHasSubLink(conjunct))
			conditions = lappend(conditions, conjunct);
	}
	return conditions;
}

/* Returns the column that expr is, as itself or as one of its domain's base type: compared by its own equality. */
static Var *
own_column(Node *expr)
{
	RelabelType *relabel = (RelabelType *) expr;

	if (IsA(expr, RelabelType) && relabel->resulttype == getBaseType(exprType((Node *) relabel->arg)) &&
		relabel->resultcollid == exprCollation((Node *) relabel->arg))
		expr = (Node *) relabel->arg;
	return IsA(expr, Var) && ((Var *) expr)->varlevelsup == 0 ? (Var *) expr : NULL;
}

bool
dp_names_column(List *vars, Node *expr)
{
	Var		   *column = own_column(expr);

	if (column == NULL)
		return false;
	foreach_node(Var, var, vars)
	{
		if (var->varno == column->varno && var->varattno == column->varattno)
			return true;
	}
	return false;
}

bool
dp_columns_among(List *vars, List *exprs)
{
	foreach_ptr(Node, var, vars)
	{
		bool		found = false;

		foreach_ptr(Node, expr, exprs)
			found |= dp_names_column(list_make1(var), expr);
		if (!found)
			return false;
	}
	return true;
}

Node *
dp_strip_labels(Node *node)
{
	for (;;)
	{
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, CollateExpr))
			node = (Node *) ((CollateExpr *) node)->arg;
		else
			return node;
	}
}

/* Tells whether equal values of the types, one of which may be varchar, are the same bytes or the same type's. */
static bool
is_one_type(Oid a, Oid b)
{
	return a == b || ((a == TEXTOID || a == VARCHAROID) && (b == TEXTOID || b == VARCHAROID));
}

bool
dp_is_equality(Node *condition, Node **left, Node **right)
{
	DpComparison c;

	if (!dp_read_operator(condition, &c) || c.opno >= FirstGenbkiObjectId || op_volatile(c.opno) != PROVOLATILE_IMMUTABLE ||
		!dp_is_deterministic(c.collation))
		return false;
	*left = dp_strip_labels(c.left);
	*right = dp_strip_labels(c.right);
	return is_one_type(exprType(*left), exprType(*right)) && dp_strategy_of(c.opno, exprType(*left)) == BTEqualStrategyNumber;
}

bool
dp_read_list(Node *condition, Node *expr, DpComparison *in)
{
	return dp_read_comparison(condition, in) && in->is_array && in->is_any && dp_is_deterministic(in->collation) &&
		dp_strategy_of(in->opno, exprType(expr)) == BTEqualStrategyNumber && equal(dp_strip_labels(in->left), expr);
}

int
dp_position_of(List *list, Node *node)
{
	foreach_ptr(Node, item, list)
	{
		if (equal(item, node))
			return foreach_current_index(item);
	}
	return -1;
}

Node *
dp_entry_ref(Index rti)
{
	return (Node *) dp_make(RangeTblRef, .rtindex = rti);
}

static DpWalk
note_entry(Node *node, int levels, List **entries)
{
	if (IsA(node, RangeTblRef))
		*entries = lappend_int(*entries, ((RangeTblRef *) node)->rtindex);
	return DP_WALK_ON;
}

List *
dp_entries_of(void *jointree)
{
	List	   *entries = NIL;

	dp_walk(jointree, note_entry, &entries);
	return entries;
}

Index
dp_add_to_from(Query *query, RangeTblEntry *rte)
{
	query->rtable = lappend(query->rtable, rte);
	query->jointree->fromlist = lappend(query->jointree->fromlist, dp_entry_ref(list_length(query->rtable)));
	return list_length(query->rtable);
}

Node *
dp_exists(Query *query)
{
	return (Node *) dp_make(SubLink, .subLinkType = EXISTS_SUBLINK, .subselect = (Node *) query, .location = -1);
}

int
dp_left_join(List **rtable, Node **tree, Index rti, List *conditions)
{
	*rtable = lappend(*rtable, dp_make(RangeTblEntry, .rtekind = RTE_JOIN, .jointype = JOIN_LEFT,
									   .eref = makeAlias("unnamed_join", NIL), .inFromCl = true));
	*tree = (Node *) dp_make(JoinExpr, .jointype = JOIN_LEFT, .larg = *tree, .rarg = dp_entry_ref(rti),
							 .quals = (Node *) make_ands_explicit(conditions), .rtindex = list_length(*rtable));
	return list_length(*rtable);
}

RangeTblEntry *
dp_subquery_entry(Query *query, const char *name)
{
	RangeTblEntry *rte;
	List	   *names = NIL;

	foreach_node(TargetEntry, tle, query->targetList)
	{
		if (!tle->resjunk)
			names = lappend(names, makeString(pstrdup(tle->resname)));
	}
	rte = dp_make(RangeTblEntry, .rtekind = RTE_SUBQUERY, .subquery = query, .eref = makeAlias(name, names));
	/* nobody wrote it, which messages ask (read/joins.c) */
	rte->inFromCl = false;
	return rte;
}

Var *
dp_output_var(Index rti, AttrNumber attno, Node *shown)
{
	return makeVar(rti, attno, exprType(shown), exprTypmod(shown), exprCollation(shown), 0);
}

void
dp_add_conjunct(Query *query, Node *condition)
{
	query->jointree->quals = (Node *) make_ands_explicit(lappend(dp_conjuncts(query->jointree->quals), condition));
}

SortGroupClause *
dp_group_clause(TargetEntry *tle)
{
	tle->ressortgroupref = tle->resno;
	return dp_clause_of(tle, false);
}

bool
dp_groups_by(Oid opno, Node *key)
{
	return dp_is_unit_operator(opno) && op_volatile(opno) == PROVOLATILE_IMMUTABLE &&
		dp_strategy_of(opno, getBaseType(exprType(key))) == BTEqualStrategyNumber;
}

bool
dp_compares_groups(const DpComparison *c, Node *key)
{
	return dp_groups_by(c->opno, key) && c->collation == exprCollation(key);
}

Expr *
dp_as_argument(Var *var, Oid type)
{
	if (type == var->vartype || IsPolymorphicType(type))
		return copyObject((Expr *) var);
	return (Expr *) makeRelabelType(copyObject((Expr *) var), type, -1, var->varcollid, COERCE_IMPLICIT_CAST);
}

Expr *
dp_count_rows(int location)
{
	Aggref	   *agg = dp_make(Aggref, .aggfnoid = F_COUNT_, .aggtype = INT8OID, .aggstar = true,
							  .aggkind = AGGKIND_NORMAL, .aggsplit = AGGSPLIT_SIMPLE);

	agg->aggno = agg->aggtransno = -1;
	agg->location = location;
	return (Expr *) agg;
}

Expr *
dp_more_rows_than_noise(int location, Node *filter)
{
	Aggref	   *rows = castNode(Aggref, dp_count_rows(location));
	Aggref	   *again = castNode(Aggref, dp_count_rows(location));
	Oid			types[] = {ANYOID};
	List	   *name = list_make2(makeString(get_namespace_name(dp_public_schema())), makeString("dp_noise_stddev"));
	Expr	   *stddev = (Expr *) dp_call(LookupFuncName(name, 1, types, false), FLOAT8OID, list_make1(rows));

	/*
	 * what a limit cuts makes counts smaller, and none larger: noise alone
	 * shows rows that are not there
	 */
	Expr	   *most = (Expr *) dp_float8_const(1.96);
	Expr	   *margin = (Expr *) dp_call(F_FLOAT8MUL, FLOAT8OID, list_make2(most, stddev));
	Expr	   *count = (Expr *) makeFuncExpr(F_FLOAT8_INT8, FLOAT8OID, list_make1(again),
											  InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);

	/* noise is whole: of a continuous margin, half a row is the next number's */
	Expr	   *half = (Expr *) dp_float8_const(0.5);
	Expr	   *least = (Expr *) dp_call(F_FLOAT8PL, FLOAT8OID, list_make2(margin, half));
	Expr	   *condition = (Expr *) dp_make_comparison(Float8LessOperator, least, count, InvalidOid);

	rows->aggfilter = (Expr *) filter;
	again->aggfilter = (Expr *) copyObject(filter);
	return condition;
}
