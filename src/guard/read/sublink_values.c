/*-------------------------------------------------------------------------
 *
 * sublink_values.c
 *	  Subqueries in conditions that are more than a subquery, as joins.
 *
 *	 t.x > (SELECT avg(x) FROM r)
 *	   FROM t, (SELECT avg(x) AS v FROM r) q WHERE t.x > q.v
 *	   where the subquery reads public rows, or is a release, which is made
 *	   beforehand
 *	 t.x > (SELECT avg(x) FROM r WHERE r.k = t.k)
 *	   FROM t LEFT JOIN (SELECT k, avg(x) AS v FROM r GROUP BY k) q ON t.k = q.k WHERE t.x > q.v
 *	 t.x = 1 OR EXISTS (SELECT FROM r WHERE r.k = t.k)
 *	   FROM t LEFT JOIN (SELECT k FROM r GROUP BY k) q ON t.k = q.k WHERE t.x = 1 OR q.k IS NOT NULL
 *	 t.x = 1 OR t.y IN (SELECT k FROM r)
 *	   as EXISTS with the condition k = t.y, where NULL means the same as false
 *
 * Invariants:
 * - A row of the level finds at most one row of the subquery, so that it is
 *	 neither lost nor repeated: all that is compared is what it groups by, by
 *	 the equality by which it groups.
 * - Rows of protected tables are grouped by what names their unit; values of
 *	 other people's rows are not selected in passing, which would be a release.
 * - What is not understood stays where it is, and is refused there (vet.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"

/* what a subquery is compared by */
typedef struct Comparison
{
	List	   *keys;			/* expressions of the subquery */
	List	   *equalities;		/* OpExprs of the level around it: of each key, whose place is ... */
	List	   *places;			/* ... this argument (int) */
	List	   *conditions;		/* of the level alone */
} Comparison;

/* a condition whose subqueries become columns */
typedef struct ValueContext
{
	DpSource   *s;
	DpScope    *scope;
	DpFrom	   *from;
	bool		truth;			/* what is looked at asks only whether it is true */
} ValueContext;

/* ------------------------------------------------------------------------
 * What is compared
 * ------------------------------------------------------------------------
 */

/* Adds an equality of key, its argument number place; false if it is none. */
static bool
add_key(Comparison *c, OpExpr *equality, int place, Node *key)
{
	if (list_length(equality->args) != 2 || !dp_groups_by(equality->opno, key) || checkExprHasSubLink(key))
		return false;
	c->keys = lappend(c->keys, key);
	c->equalities = lappend(c->equalities, equality);
	c->places = lappend_int(c->places, place);
	return true;
}

/* Takes a condition that names columns of the level around the subquery out of it; false if that cannot be. */
static bool
take_condition(Comparison *c, Node *condition)
{
	OpExpr	   *op = (OpExpr *) condition;

	if (checkExprHasSubLink(condition))
		return false;
	if (!contain_vars_of_level(condition, 0))
	{
		condition = copyObject(condition);
		IncrementVarSublevelsUp(condition, -1, 1);
		c->conditions = lappend(c->conditions, condition);
		return true;
	}
	if (!IsA(condition, OpExpr) || list_length(op->args) != 2)
		return false;
	for (int i = 0; i < 2; i++)
	{
		Node	   *key = list_nth(op->args, i);
		Node	   *other = list_nth(op->args, 1 - i);
		OpExpr	   *equality;

		if (contain_vars_of_level(key, 1) || contain_vars_of_level(other, 0))
			continue;
		/* the key's place will be taken */
		equality = copyObject(op);
		lfirst(list_nth_cell(equality->args, i)) = makeNullConst(exprType(key), -1, exprCollation(key));
		IncrementVarSublevelsUp((Node *) equality, -1, 1);
		return add_key(c, equality, i, key);
	}
	return false;
}

/* Leaves the subquery the conditions that are its own. */
static bool
take_conditions(Comparison *c, Query *sub)
{
	List	   *own = NIL;
	ListCell   *lc;

	foreach(lc, dp_conjuncts(sub->jointree->quals))
	{
		if (!contain_vars_of_level(lfirst(lc), 1))
			own = lappend(own, lfirst(lc));
		else if (!take_condition(c, lfirst(lc)))
			return false;
	}
	sub->jointree->quals = own ? (Node *) make_ands_explicit(own) : NULL;
	return true;
}

/* Returns the column of the subquery that an argument of the test stands for; NULL if it is more than that. */
static Node *
tested_column(Node *arg, Query *sub)
{
	Param	   *param = (Param *) arg;
	TargetEntry *tle;
	RelabelType *copy;

	if (IsA(arg, RelabelType))
	{
		copy = copyObject((RelabelType *) arg);
		copy->arg = (Expr *) tested_column((Node *) copy->arg, sub);
		return copy->arg ? (Node *) copy : NULL;
	}
	if (!IsA(arg, Param) || param->paramkind != PARAM_SUBLINK)
		return NULL;
	tle = get_tle_by_resno(sub->targetList, param->paramid);
	return tle && !tle->resjunk ? (Node *) tle->expr : NULL;
}

/* Takes apart x IN (SELECT ...), of several columns also. */
static bool
take_test(Comparison *c, Node *test, Query *sub)
{
	ListCell   *lc;

	foreach(lc, make_ands_implicit((Expr *) test))
	{
		OpExpr	   *equality = lfirst(lc);
		Node	   *column;

		if (!IsA(equality, OpExpr) || list_length(equality->args) != 2 || checkExprHasSubLink(linitial(equality->args)))
			return false;
		column = tested_column(lsecond(equality->args), sub);
		if (column == NULL || !add_key(c, copyObject(equality), 1, column))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * The subquery
 * ------------------------------------------------------------------------
 */

const char *
dp_first_name(Query *sub)
{
	return sub->rtable ? linitial_node(RangeTblEntry, sub->rtable)->eref->aliasname : "subquery";
}

/* Tells whether a LIMIT leaves at least one row. */
static bool
is_positive(Node *limit)
{
	Const	   *constant = limit ? (Const *) eval_const_expressions(NULL, limit) : NULL;

	return limit == NULL || (IsA(constant, Const) && !constant->constisnull && DatumGetInt64(constant->constvalue) > 0);
}

bool
dp_only_reads(Query *sub, bool exists)
{
	return sub->commandType == CMD_SELECT && !sub->hasAggs && sub->groupClause == NIL && sub->groupingSets == NIL &&
		sub->havingQual == NULL && sub->setOperations == NULL && !sub->hasWindowFuncs && !sub->hasTargetSRFs &&
		!sub->hasDistinctOn && sub->limitOffset == NULL && (exists ? is_positive(sub->limitCount) : sub->limitCount == NULL) &&
		sub->rowMarks == NIL && !sub->hasModifyingCTE && !sub->hasRecursive && sub->jointree->fromlist != NIL;
}

/* Tells whether a subquery has one row, of one column, whatever there is to read. */
static bool
has_one_row(Query *sub)
{
	return sub->commandType == CMD_SELECT && sub->hasAggs && sub->groupClause == NIL && sub->groupingSets == NIL &&
		sub->havingQual == NULL && sub->setOperations == NULL && !sub->hasTargetSRFs && sub->limitOffset == NULL &&
		sub->limitCount == NULL && sub->rowMarks == NIL && !sub->hasModifyingCTE && !sub->hasRecursive &&
		list_length(sub->targetList) == 1;
}

/* Makes SELECT FROM (sub), and the tests of its columns those of the new level's. */
static Query *
wrap(Query *sub)
{
	Query	   *query = dp_new_select();
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *lc;

	IncrementVarSublevelsUp((Node *) sub, 1, 1);
	query->rtable = list_make1(dp_subquery_entry(sub, "rows"));
	ref->rtindex = 1;
	query->jointree = makeFromExpr(list_make1(ref), NULL);
	foreach(lc, sub->targetList)
	{
		TargetEntry *tle = lfirst(lc);

		if (!tle->resjunk)
			query->targetList = lappend(query->targetList,
										makeTargetEntry((Expr *) dp_output_var(1, tle->resno, (Node *) tle->expr),
														tle->resno, tle->resname, false));
	}
	return query;
}

/* Lets the subquery have one row for all rows with the same keys. */
static void
group_by_keys(Query *sub, List *keys)
{
	ListCell   *lc;

	sub->targetList = NIL;
	sub->distinctClause = NIL;
	sub->sortClause = NIL;
	sub->limitCount = NULL;
	foreach(lc, keys)
	{
		int			n = foreach_current_index(lc) + 1;
		TargetEntry *tle = makeTargetEntry(lfirst(lc), n, psprintf("k%d", n), false);

		sub->targetList = lappend(sub->targetList, tle);
		sub->groupClause = lappend(sub->groupClause, dp_group_clause(tle));
	}
}

/* ------------------------------------------------------------------------
 * The level
 * ------------------------------------------------------------------------
 */

/* Returns what compares entry rti, of these keys, with the level around it. */
static List *
join_conditions(Comparison *c, Index rti)
{
	List	   *conditions = list_copy(c->conditions);
	ListCell   *key,
			   *equality,
			   *place;

	forthree(key, c->keys, equality, c->equalities, place, c->places)
	{
		Var		   *column = dp_output_var(rti, foreach_current_index(key) + 1, lfirst(key));

		lfirst(list_nth_cell(((OpExpr *) lfirst(equality))->args, lfirst_int(place))) = column;
		conditions = lappend(conditions, lfirst(equality));
	}
	return conditions;
}

static void
join_inner(Query *query, Index rti)
{
	RangeTblRef *ref = makeNode(RangeTblRef);

	ref->rtindex = rti;
	query->jointree->fromlist = lappend(query->jointree->fromlist, ref);
}

/* Joins entry rti to all that the level reads; returns the number of the join. */
static int
join_left(Query *query, Index rti, List *conditions)
{
	RangeTblRef *ref = makeNode(RangeTblRef);
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	JoinExpr   *join = makeNode(JoinExpr);

	rte->rtekind = RTE_JOIN;
	rte->jointype = JOIN_LEFT;
	rte->eref = makeAlias("unnamed_join", NIL);
	rte->inFromCl = true;
	query->rtable = lappend(query->rtable, rte);
	ref->rtindex = rti;
	join->jointype = JOIN_LEFT;
	join->rtindex = list_length(query->rtable);
	join->larg = (Node *) query->jointree;
	join->rarg = (Node *) ref;
	join->quals = (Node *) make_ands_explicit(conditions);
	query->jointree = makeFromExpr(list_make1(join), NULL);
	return join->rtindex;
}

static bool
is_count(Node *expr)
{
	return IsA(expr, Aggref) && (((Aggref *) expr)->aggfnoid == F_COUNT_ || ((Aggref *) expr)->aggfnoid == F_COUNT_ANY);
}

/* Returns the expression with NULL for its aggregates but count, which is never NULL. */
static Node *
without_aggregates(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref) && !is_count(node))
		return (Node *) makeNullConst(exprType(node), exprTypmod(node), exprCollation(node));
	return expression_tree_mutator(node, without_aggregates, context);
}

/*
 * Joins a subquery, of one row for all rows with the same keys, to all that the
 * level reads.  Returns its value, or its first key, NULL where there is no
 * such row; NULL: it stays.
 */
static Var *
join_groups(ValueContext *v, Query *sub, Comparison *c, Expr *value)
{
	Query	   *query = v->from->query;
	DpScope		inner = {sub, v->scope};
	RangeTblEntry *base;
	bool		reads_rows = dp_reads_rows(&inner, v->s->even_if_readable, &base) != 0;
	RangeTblEntry *rte;
	TargetEntry *shown;
	Var		   *var;

	if (c->keys == NIL)
		return NULL;
	group_by_keys(sub, c->keys);
	shown = value ? makeTargetEntry(value, list_length(c->keys) + 1, pstrdup("value"), false) : linitial(sub->targetList);
	if (value)
		sub->targetList = lappend(sub->targetList, shown);
	rte = dp_subquery_entry(sub, dp_first_name(sub));
	if (contain_vars_of_level((Node *) sub, 1) || (reads_rows && !dp_entry_yields_rows(v->scope, rte, v->s->even_if_readable)))
		return NULL;
	query->rtable = lappend(query->rtable, rte);
	v->from->once = bms_add_member(v->from->once, list_length(query->rtable));
	var = dp_output_var(list_length(query->rtable), shown->resno, (Node *) shown->expr);
	dp_set_nulled_by(var, join_left(query, var->varno, join_conditions(c, var->varno)));
	return var;
}

/* Returns the aggregate of the rows that a row of the level is compared with, NULL or 0 where there are none; NULL: it stays. */
static Node *
join_aggregate(ValueContext *v, SubLink *link)
{
	Query	   *sub = copyObject((Query *) link->subselect);
	Node	   *value = (Node *) linitial_node(TargetEntry, sub->targetList)->expr;
	CoalesceExpr *count;
	Comparison	c = {0};
	Var		   *var;

	if (!is_count(value) && contain_nonstrict_functions(without_aggregates(value, NULL)))
		return NULL;
	dp_flatten_level(sub);
	value = (Node *) linitial_node(TargetEntry, sub->targetList)->expr;
	if (!take_conditions(&c, sub))
		return NULL;
	var = join_groups(v, sub, &c, (Expr *) value);
	if (var == NULL || !is_count(value))
		return (Node *) var;
	count = makeNode(CoalesceExpr);
	count->coalescetype = INT8OID;
	count->args = list_make2(var, makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL));
	count->location = link->location;
	return (Node *) count;
}

/* Tells whether x IN (SELECT k ...) is true or false, never NULL. */
static bool
is_two_valued(ValueContext *v, Comparison *c, Query *sub)
{
	OpExpr	   *equality = linitial(c->equalities);
	Node	   *x = linitial(equality->args);

	return list_length(c->keys) == 1 && dp_shows_no_null(sub, linitial(c->keys)) && IsA(x, Var) &&
		dp_is_never_null(v->from->query, x);
}

/* Returns whether there is a row that a row of the level is compared with; NULL: it stays. */
static Node *
join_test(ValueContext *v, SubLink *link)
{
	bool		exists = link->subLinkType == EXISTS_SUBLINK;
	Query	   *sub = copyObject((Query *) link->subselect);
	Comparison	c = {0};
	Var		   *var;

	if (!exists && link->subLinkType != ANY_SUBLINK)
		return NULL;
	if (!dp_only_reads(sub, exists))
	{
		if (exists || sub->commandType != CMD_SELECT || contain_vars_of_level((Node *) sub, 1))
			return NULL;
		sub = wrap(sub);
	}
	dp_flatten_level(sub);
	if (!exists && (!take_test(&c, link->testexpr, sub) || !(v->truth || is_two_valued(v, &c, sub))))
		return NULL;
	if (!take_conditions(&c, sub))
		return NULL;
	var = join_groups(v, sub, &c, NULL);
	return var ? (Node *) dp_is_not_null((Expr *) var) : NULL;
}

/* Returns SELECT of a sublink's value: one row, and an error where there are more. */
static Query *
one_row_of(SubLink *link)
{
	Query	   *row = dp_new_select();

	link = copyObject(link);
	IncrementVarSublevelsUp(link->subselect, 1, 1);
	row->jointree = makeFromExpr(NIL, NULL);
	row->hasSubLinks = true;
	row->targetList = list_make1(makeTargetEntry((Expr *) link, 1, pstrdup("value"), false));
	return row;
}

/* Returns the one value of a subquery that does not depend on the level; it is joined without a condition. */
static Node *
join_value(ValueContext *v, SubLink *link)
{
	Query	   *sub = (Query *) link->subselect;
	TargetEntry *tle;
	Index		rti = list_length(v->from->query->rtable) + 1;

	sub = has_one_row(sub) ? copyObject(sub) : one_row_of(link);
	tle = linitial(sub->targetList);
	v->from->query->rtable = lappend(v->from->query->rtable, dp_subquery_entry(sub, "scalar"));
	v->from->once = bms_add_member(v->from->once, rti);
	join_inner(v->from->query, rti);
	return (Node *) dp_output_var(rti, 1, (Node *) tle->expr);
}

static Node *
join_sublink(ValueContext *v, SubLink *link)
{
	Query	   *sub = (Query *) link->subselect;

	if (contain_volatile_functions((Node *) sub))
		return NULL;
	if (link->subLinkType != EXPR_SUBLINK)
		return join_test(v, link);
	if (contain_vars_of_level((Node *) sub, 1))
		return has_one_row(sub) ? join_aggregate(v, link) : NULL;
	return join_value(v, link);
}

static Node *
value_mutator(Node *node, ValueContext *v)
{
	bool		truth = v->truth;
	Node	   *result;

	if (node == NULL)
		return NULL;
	if (IsA(node, SubLink))
	{
		result = join_sublink(v, (SubLink *) node);
		return result ? result : node;
	}
	if (IsA(node, CaseWhen))
	{
		CaseWhen   *when = copyObject((CaseWhen *) node);

		v->truth = true;
		when->expr = (Expr *) value_mutator((Node *) when->expr, v);
		v->truth = false;
		when->result = (Expr *) value_mutator((Node *) when->result, v);
		result = (Node *) when;
	}
	else
	{
		v->truth = truth && (IsA(node, List) || (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop != NOT_EXPR));
		result = expression_tree_mutator(node, value_mutator, v);
	}
	v->truth = truth;
	return result;
}

Node *
dp_join_sublink_values(DpSource *s, DpScope *scope, DpFrom *from, Node *condition)
{
	ValueContext v = {s, scope, from, true};

	/* of a condition that names no row the subquery would be joined with nothing */
	if (!contain_vars_of_level(condition, 0))
		return condition;
	return value_mutator(condition, &v);
}
