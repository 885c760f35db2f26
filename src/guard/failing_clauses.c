/*-------------------------------------------------------------------------
 *
 * failing_clauses.c
 *	  Clauses of statements that release and would fail for some values.
 *
 * What is computed in them is NULL where it fails (failing_calls.c), and so
 * that no answer is lost that was paid for:
 * - a subquery as a value is NULL where it has several rows;
 * - arguments of ntile and nth_value and offsets of frames that are not allowed
 *	 are NULL or the nearest that is allowed, keys of JSON objects that are NULL
 *	 are left out;
 * - LIMIT and OFFSET that are computed are not below 0.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

/* Passes by casts that an INSERT makes by itself: it must not store NULL for what its column cannot hold. */
static Node *
below_assignment(Node *node)
{
	for (;;)
	{
		if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST)
			node = linitial(((FuncExpr *) node)->args);
		else if (IsA(node, CoerceViaIO) && ((CoerceViaIO *) node)->coerceformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((CoerceViaIO *) node)->arg;
		else if (IsA(node, CoerceToDomain) && ((CoerceToDomain *) node)->coercionformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((CoerceToDomain *) node)->arg;
		else if (IsA(node, RelabelType) && ((RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST)
			node = (Node *) ((RelabelType *) node)->arg;
		else
			return node;
	}
}

/* Tells whether a query has one row at most. */
static bool
has_one_row(Query *query)
{
	Const	   *limit = (Const *) query->limitCount;

	if (limit != NULL && IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) <= 1 &&
		query->limitOption == LIMIT_OPTION_COUNT)
		return true;
	if (query->hasTargetSRFs || query->setOperations != NULL)
		return false;
	return (query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL) ||
		(query->jointree->fromlist == NIL && query->groupClause == NIL && query->groupingSets == NIL);
}

/* Has a subquery as a value return NULL where it has several rows: one row, with the value where it is alone. */
static void
take_one_row(SubLink *link)
{
	Query	   *several = (Query *) link->subselect;
	TargetEntry *column;
	Query	   *one;
	RangeTblEntry *rte;
	WindowFunc *count;
	WindowClause *window;
	CaseExpr   *value;
	CaseWhen   *when;
	Var		   *var;

	if (link->subLinkType != EXPR_SUBLINK || has_one_row(several))
		return;
	column = linitial_node(TargetEntry, several->targetList);
	IncrementVarSublevelsUp((Node *) several, 1, 1);
	rte = makeNode(RangeTblEntry);
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = several;
	rte->eref = makeAlias("rows", list_make1(makeString(pstrdup(column->resname ? column->resname : "value"))));
	rte->alias = copyObject(rte->eref);
	rte->inFromCl = true;
	count = makeNode(WindowFunc);
	count->winfnoid = F_COUNT_;
	count->wintype = INT8OID;
	count->winref = 1;
	count->winstar = true;
	count->winagg = true;
	count->location = -1;
	window = makeNode(WindowClause);
	window->frameOptions = FRAMEOPTION_DEFAULTS;
	window->winref = 1;
	var = makeVar(1, column->resno, exprType((Node *) column->expr), exprTypmod((Node *) column->expr),
				  exprCollation((Node *) column->expr), 0);
	when = makeNode(CaseWhen);
	when->expr = (Expr *) make_opclause(lookup_type_cache(INT8OID, TYPECACHE_EQ_OPR)->eq_opr, BOOLOID, false, (Expr *) count,
										(Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, FLOAT8PASSBYVAL),
										InvalidOid, InvalidOid);
	when->result = (Expr *) var;
	when->location = -1;
	value = makeNode(CaseExpr);
	value->casetype = var->vartype;
	value->casecollid = var->varcollid;
	value->args = list_make1(when);
	value->defresult = (Expr *) makeNullConst(var->vartype, var->vartypmod, var->varcollid);
	value->location = -1;
	one = makeNode(Query);
	one->commandType = CMD_SELECT;
	one->querySource = QSRC_ORIGINAL;
	one->canSetTag = true;
	one->hasWindowFuncs = true;
	one->rtable = list_make1(rte);
	one->jointree = makeFromExpr(list_make1(makeNode(RangeTblRef)), NULL);
	((RangeTblRef *) linitial(one->jointree->fromlist))->rtindex = 1;
	one->targetList = list_make1(makeTargetEntry((Expr *) value, 1, rte->eref->aliasname, false));
	one->windowClause = list_make1(window);
	one->limitCount = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, FLOAT8PASSBYVAL);
	link->subselect = (Node *) one;
}

/* Has buckets and places of a window that are not above 0 as NULL. */
static void
place_safely(WindowFunc *function)
{
	if (function->winfnoid == F_NTILE)
		linitial(function->args) = dp_null_unless_positive(linitial(function->args));
	else if (function->winfnoid == F_NTH_VALUE)
		lsecond(function->args) = dp_null_unless_positive(lsecond(function->args));
}

/* Leaves keys that are NULL out of a JSON object. */
static void
collect_safely(Aggref *agg)
{
	NullTest   *test;

	if (agg->aggfnoid != F_JSON_OBJECT_AGG && agg->aggfnoid != F_JSONB_OBJECT_AGG)
		return;
	test = makeNode(NullTest);
	test->arg = copyObject(linitial_node(TargetEntry, agg->args)->expr);
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	agg->aggfilter = agg->aggfilter == NULL ? (Expr *) test
		: makeBoolExpr(AND_EXPR, list_make2(agg->aggfilter, test), -1);
}

/* Returns a number of rows, 0 where it is less; NULL, which is no limit, stays. */
static Node *
number_of_rows(Node *number)
{
	if (number == NULL || dp_folds_to_constant(number))
		return number;
	/* strict, other than GREATEST */
	return (Node *) makeFuncExpr(F_INT8LARGER, INT8OID, list_make2(number, dp_zero(INT8OID)), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Has offsets of a frame's rows that are below 0 or NULL as 0. */
static void
frame_safely(WindowClause *window)
{
	Node	  **offsets[] = {&window->startOffset, &window->endOffset};

	if ((window->frameOptions & FRAMEOPTION_RANGE) != 0)
		return;
	for (int i = 0; i < lengthof(offsets); i++)
	{
		MinMaxExpr *greatest;

		if (*offsets[i] == NULL || dp_folds_to_constant(*offsets[i]))
			continue;
		greatest = makeNode(MinMaxExpr);
		greatest->minmaxtype = INT8OID;
		greatest->op = IS_GREATEST;
		greatest->args = list_make2(*offsets[i], dp_zero(INT8OID));
		greatest->location = -1;
		*offsets[i] = (Node *) greatest;
	}
}

static bool call_walker(Node *node, void *context);

static bool
walk_query(Query *query, void *context)
{
	ListCell   *lc;

	query->limitCount = number_of_rows(query->limitCount);
	query->limitOffset = number_of_rows(query->limitOffset);
	foreach(lc, query->windowClause)
		frame_safely(lfirst_node(WindowClause, lc));
	if (query->commandType != CMD_INSERT)
		return query_tree_walker(query, call_walker, context, 0);
	foreach(lc, query->targetList)
		call_walker(below_assignment((Node *) lfirst_node(TargetEntry, lc)->expr), context);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		ListCell   *row;
		ListCell   *value;

		if (rte->rtekind == RTE_SUBQUERY)
			walk_query(rte->subquery, context);
		foreach(row, rte->values_lists)
		{
			foreach(value, lfirst_node(List, row))
				call_walker(below_assignment(lfirst(value)), context);
		}
	}
	foreach(lc, query->cteList)
		call_walker(lfirst_node(CommonTableExpr, lc)->ctequery, context);
	return false;
}

static bool
call_walker(Node *node, void *context)
{
	bool		result;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, Query))
		return walk_query((Query *) node, context);
	if (IsA(node, RangeTblFunction))
	{
		/* which columns a function in FROM has follows from what it is */
		node = ((RangeTblFunction *) node)->funcexpr;
		if (node != NULL && IsA(node, FuncExpr))
		{
			call_walker((Node *) ((FuncExpr *) node)->args, context);
			dp_step_safely((FuncExpr *) node);
			return false;
		}
		return call_walker(node, context);
	}
	/* what is called first, as what is called with it is tried as it was written */
	result = expression_tree_walker(node, call_walker, context);
	switch (nodeTag(node))
	{
		case T_SubLink:
			take_one_row((SubLink *) node);
			break;
		case T_WindowFunc:
			place_safely((WindowFunc *) node);
			break;
		case T_Aggref:
			collect_safely((Aggref *) node);
			break;
		default:
			dp_compute_safely(node);
			break;
	}
	return result;
}

void
dp_null_failing_calls(Query *query)
{
	if (query->commandType == CMD_SELECT || query->commandType == CMD_INSERT)
		call_walker((Node *) query, NULL);
}
