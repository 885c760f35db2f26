/*-------------------------------------------------------------------------
 *
 * existence.c
 *	  Questions whether there is a row: EXISTS (SELECT ...), and SELECT 1 FROM
 *	  ... LIMIT 1, which is what some tools write for it.
 *
 * Whether there is a row at all may hang on one person.  What can be told is
 * whether there are more rows than noise explains: the level becomes
 *		SELECT 1 FROM ... HAVING dp_margin(count(*)) < count(*)
 * which is a count, is charged as one, and says yes of no rows in one case of
 * forty.  Without a condition it is no question of rows, but a probe of tools
 * whether the table can be read, and refused as such.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

static Expr *
count_rows(int location)
{
	Aggref	   *agg = makeNode(Aggref);

	agg->aggfnoid = F_COUNT_;
	agg->aggtype = INT8OID;
	agg->aggstar = true;
	agg->aggkind = AGGKIND_NORMAL;
	agg->aggsplit = AGGSPLIT_SIMPLE;
	agg->aggno = agg->aggtransno = -1;
	agg->location = location;
	return (Expr *) agg;
}

/* Makes dp_margin(count(*)) < count(*). */
static Expr *
make_condition(int location)
{
	Oid			types[] = {ANYOID, FLOAT8OID};
	List	   *name = list_make2(makeString(get_namespace_name(dp_public_schema())), makeString("dp_margin"));
	Expr	   *margin = (Expr *) makeFuncExpr(LookupFuncName(name, 2, types, false), FLOAT8OID,
											   list_make2(count_rows(location),
														  makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
																	Float8GetDatum(0.95), false, FLOAT8PASSBYVAL)),
											   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	Expr	   *count = (Expr *) makeFuncExpr(F_FLOAT8_INT8, FLOAT8OID, list_make1(count_rows(location)),
											  InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
	Expr	   *condition = make_opclause(Float8LessOperator, BOOLOID, false, margin, count, InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) condition);
	return condition;
}

/* Tells whether LIMIT leaves one row of all. */
static bool
is_limited_to_one(Query *query)
{
	Const	   *limit;

	if (query->limitCount == NULL || query->limitOffset != NULL || checkExprHasSubLink(query->limitCount))
		return false;
	limit = (Const *) eval_const_expressions(NULL, copyObject(query->limitCount));
	return IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) == 1;
}

static bool
shows_constants(Query *query)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		if (!IsA(eval_const_expressions(NULL, copyObject((Node *) ((TargetEntry *) lfirst(lc))->expr)), Const))
			return false;
	}
	return query->targetList != NIL;
}

bool
dp_ask_whether_rows(Query *query, bool below_exists)
{
	int			location = exprLocation((Node *) query->targetList);

	if (query->commandType != CMD_SELECT || query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->distinctClause != NIL || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->setOperations != NULL || query->rowMarks != NIL || query->jointree->quals == NULL)
		return false;
	if (below_exists)
	{
		if (query->limitOffset != NULL || (query->limitCount != NULL && !is_limited_to_one(query)))
			return false;
		query->targetList = list_make1(makeTargetEntry((Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
																		  Int32GetDatum(1), false, true),
													   1, pstrdup("one"), false));
		query->sortClause = NIL;
	}
	else if (!is_limited_to_one(query) || !shows_constants(query))
		return false;
	query->havingQual = (Node *) make_condition(location);
	query->hasAggs = true;
	return true;
}
