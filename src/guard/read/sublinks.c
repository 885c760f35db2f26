/*-------------------------------------------------------------------------
 *
 * sublinks.c
 *	  EXISTS, NOT EXISTS and IN over subqueries, as joins.
 *
 * Where a level's WHERE has such a condition as a conjunct by itself, it is
 * written as a join with a subquery, which is then read and judged as any
 * other (subquery.c, joins.c):
 *
 *	 EXISTS (SELECT FROM r WHERE r.k = t.k AND ...)
 *	   FROM t, (SELECT k FROM r WHERE ... GROUP BY k) q WHERE t.k = q.k
 *	 NOT EXISTS (...)
 *	   FROM t LEFT JOIN (...) q ON t.k = q.k WHERE q.k IS NULL
 *	 x IN (SELECT k FROM r WHERE ...)
 *	   as EXISTS with the condition k = x
 *	 t.x > (SELECT avg(x) FROM r)
 *	   FROM t, (SELECT avg(x) AS v FROM r) q WHERE t.x > q.v
 *	   where the subquery reads public rows, or is a release, which is made
 *	   beforehand
 *
 *	 x NOT IN (SELECT k FROM r WHERE ...), where k is never NULL
 *	   as NOT EXISTS, of rows whose x is not NULL
 *	 t.x > (SELECT avg(x) FROM r WHERE r.k = t.k)
 *	   FROM t LEFT JOIN (SELECT k, avg(x) AS v FROM r GROUP BY k) q ON t.k = q.k WHERE t.x > q.v
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

#include "access/stratnum.h"
#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* what a subquery is compared by */
typedef struct Comparison
{
	List	   *keys;			/* expressions of the subquery */
	List	   *equalities;		/* OpExprs of the level around it: of each key, whose place is ... */
	List	   *places;			/* ... this argument (int) */
	List	   *conditions;		/* of the level alone */
} Comparison;

/* what subqueries of one row have become */
typedef struct ScalarContext
{
	DpSource   *s;
	DpScope    *scope;
	DpFrom	   *from;
	List	   *added;			/* int: entries */
} ScalarContext;

/* ------------------------------------------------------------------------
 * What is compared
 * ------------------------------------------------------------------------
 */

/* Tells whether an operator is the equality by which values like key are grouped. */
static bool
groups_by(Oid opno, Node *key)
{
	Oid			opfamily = lookup_type_cache(getBaseType(exprType(key)), TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	return opno < FirstGenbkiObjectId && OidIsValid(opfamily) && op_volatile(opno) == PROVOLATILE_IMMUTABLE &&
		get_op_opfamily_strategy(opno, opfamily) == BTEqualStrategyNumber;
}

/* Adds an equality of key, its argument number place; false if it is none. */
static bool
add_key(Comparison *c, OpExpr *equality, int place, Node *key)
{
	if (list_length(equality->args) != 2 || !groups_by(equality->opno, key) || checkExprHasSubLink(key))
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

/* Tells whether a LIMIT leaves at least one row. */
static bool
is_positive(Node *limit)
{
	Const	   *constant = limit ? (Const *) eval_const_expressions(NULL, limit) : NULL;

	return limit == NULL || (IsA(constant, Const) && !constant->constisnull && DatumGetInt64(constant->constvalue) > 0);
}

/* Tells whether a subquery filters and joins rows and does nothing else; what orders them does not matter. */
static bool
only_reads(Query *sub, bool exists)
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
		Var		   *var = makeVar(1, tle->resno, exprType((Node *) tle->expr), exprTypmod((Node *) tle->expr),
								  exprCollation((Node *) tle->expr), 0);

		if (!tle->resjunk)
			query->targetList = lappend(query->targetList, makeTargetEntry((Expr *) var, tle->resno, tle->resname, false));
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
		SortGroupClause *clause = makeNode(SortGroupClause);

		tle->ressortgroupref = clause->tleSortGroupRef = n;
		get_sort_group_operators(exprType(lfirst(lc)), false, true, false, &clause->sortop, &clause->eqop, NULL,
								 &clause->hashable);
		sub->targetList = lappend(sub->targetList, tle);
		sub->groupClause = lappend(sub->groupClause, clause);
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
		Var		   *var = makeVar(rti, foreach_current_index(key) + 1, exprType(lfirst(key)), exprTypmod(lfirst(key)),
								  exprCollation(lfirst(key)), 0);

		lfirst(list_nth_cell(((OpExpr *) lfirst(equality))->args, lfirst_int(place))) = var;
		conditions = lappend(conditions, lfirst(equality));
	}
	return conditions;
}

static void
join_inner(Query *query, Index rti, List *conditions)
{
	RangeTblRef *ref = makeNode(RangeTblRef);
	FromExpr   *from = query->jointree;

	ref->rtindex = rti;
	from->fromlist = lappend(from->fromlist, ref);
	conditions = list_concat(dp_conjuncts(from->quals), conditions);
	from->quals = conditions ? (Node *) make_ands_explicit(conditions) : NULL;
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

static Var *
column_of(Index rti, int n, Node *expr)
{
	return makeVar(rti, n, exprType(expr), exprTypmod(expr), exprCollation(expr), 0);
}

static Node *
null_test(Expr *arg, NullTestType type)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = arg;
	test->nulltesttype = type;
	test->location = -1;
	return (Node *) test;
}

static void
add_conjunct(Query *query, Node *conjunct)
{
	query->jointree->quals = (Node *) make_ands_explicit(lappend(dp_conjuncts(query->jointree->quals), conjunct));
}

/* Tells whether a column of a subquery is never NULL, by its table or by a condition. */
static bool
is_never_null(Query *sub, Node *expr)
{
	ListCell   *lc;

	foreach(lc, dp_conjuncts(sub->jointree->quals))
	{
		NullTest   *test = lfirst(lc);

		if (IsA(test, NullTest) && test->nulltesttype == IS_NOT_NULL && equal(test->arg, expr))
			return true;
	}
	return IsA(expr, Var) && dp_is_never_null(sub, expr);
}

/* Puts a join in the place of a conjunct of from->query; false if it stays. */
static bool
join_sublink(DpSource *s, DpScope *scope, DpFrom *from, SubLink *link, bool negated)
{
	Query	   *query = from->query;
	bool		exists = link->subLinkType == EXISTS_SUBLINK;
	Query	   *sub = copyObject((Query *) link->subselect);
	Comparison	c = {0};
	RangeTblEntry *rte;
	RangeTblEntry *base;
	DpScope		inner = {sub, scope};
	bool		reads_rows;
	List	   *conditions;
	Index		rti;

	if ((!exists && link->subLinkType != ANY_SUBLINK) || contain_volatile_functions((Node *) sub))
		return false;
	reads_rows = only_reads(sub, exists) && dp_reads_rows(&inner, s->even_if_readable, &base) != 0;
	if (!only_reads(sub, exists))
	{
		if (exists || sub->commandType != CMD_SELECT || contain_vars_of_level((Node *) sub, 1))
			return false;
		sub = wrap(sub);
	}
	dp_flatten_level(sub);
	if (!exists && !take_test(&c, link->testexpr, sub))
		return false;
	/* a NULL among many would leave nothing */
	if (!exists && negated && (list_length(c.keys) != 1 || !is_never_null(sub, linitial(c.keys))))
		return false;
	if (!take_conditions(&c, sub) || c.keys == NIL)
		return false;
	group_by_keys(sub, c.keys);
	if (contain_vars_of_level((Node *) sub, 1))
		return false;
	rte = dp_subquery_entry(sub, exists ? "exists" : "in");
	if (reads_rows && !dp_entry_yields_rows(scope, rte, s->even_if_readable))
		return false;
	query->rtable = lappend(query->rtable, rte);
	rti = list_length(query->rtable);
	from->once = bms_add_member(from->once, rti);
	conditions = join_conditions(&c, rti);
	if (!negated)
		join_inner(query, rti, conditions);
	else
	{
		Var		   *key = column_of(rti, 1, linitial(c.keys));

		dp_set_nulled_by(key, join_left(query, rti, conditions));
		add_conjunct(query, null_test((Expr *) key, IS_NULL));
		if (!exists)
			add_conjunct(query, null_test(copyObject(linitial(((OpExpr *) linitial(c.equalities))->args)), IS_NOT_NULL));
	}
	return true;
}

static SubLink *
sublink_of(Node *conjunct, bool *negated)
{
	*negated = is_notclause(conjunct);
	if (*negated)
		conjunct = (Node *) get_notclausearg((Expr *) conjunct);
	return IsA(conjunct, SubLink) ? (SubLink *) conjunct : NULL;
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

/* Returns the aggregate of the rows that a row of the level is compared with, NULL or 0 where there are none; NULL: it stays. */
static Node *
join_aggregate(ScalarContext *sc, SubLink *link)
{
	Query	   *query = sc->from->query;
	Query	   *sub = copyObject((Query *) link->subselect);
	Expr	   *value = linitial_node(TargetEntry, sub->targetList)->expr;
	DpScope		inner = {sub, sc->scope};
	Comparison	c = {0};
	RangeTblEntry *base;
	RangeTblEntry *rte;
	bool		reads_rows;
	Var		   *var;

	if ((!is_count((Node *) value) && contain_nonstrict_functions(without_aggregates((Node *) value, NULL))) ||
		contain_volatile_functions((Node *) sub))
		return NULL;
	reads_rows = dp_reads_rows(&inner, sc->s->even_if_readable, &base) != 0;
	dp_flatten_level(sub);
	value = linitial_node(TargetEntry, sub->targetList)->expr;
	if (!take_conditions(&c, sub) || c.keys == NIL)
		return NULL;
	group_by_keys(sub, c.keys);
	sub->targetList = lappend(sub->targetList, makeTargetEntry(value, list_length(c.keys) + 1, pstrdup("value"), false));
	rte = dp_subquery_entry(sub, "aggregate");
	if (contain_vars_of_level((Node *) sub, 1) || (reads_rows && !dp_entry_yields_rows(sc->scope, rte, sc->s->even_if_readable)))
		return NULL;
	query->rtable = lappend(query->rtable, rte);
	sc->from->once = bms_add_member(sc->from->once, list_length(query->rtable));
	var = column_of(list_length(query->rtable), list_length(c.keys) + 1, (Node *) value);
	dp_set_nulled_by(var, join_left(query, var->varno, join_conditions(&c, var->varno)));
	if (is_count((Node *) value))
	{
		CoalesceExpr *count = makeNode(CoalesceExpr);

		count->coalescetype = INT8OID;
		count->args = list_make2(var, makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL));
		count->location = link->location;
		return (Node *) count;
	}
	return (Node *) var;
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

/* A sublink whose value is that of a subquery of one row, which is computed beforehand. */
static Node *
scalar_mutator(Node *node, ScalarContext *c)
{
	SubLink    *link = (SubLink *) node;
	TargetEntry *tle;
	Query	   *sub;

	if (node == NULL)
		return NULL;
	if (!IsA(node, SubLink))
		return expression_tree_mutator(node, scalar_mutator, c);
	sub = (Query *) link->subselect;
	if (link->subLinkType != EXPR_SUBLINK)
		return node;
	if (contain_vars_of_level((Node *) sub, 1))
	{
		Node	   *value = has_one_row(sub) ? join_aggregate(c, link) : NULL;

		return value != NULL ? value : node;
	}
	sub = has_one_row(sub) ? copyObject(sub) : one_row_of(link);
	tle = linitial(sub->targetList);
	c->from->query->rtable = lappend(c->from->query->rtable, dp_subquery_entry(sub, "scalar"));
	c->added = lappend_int(c->added, list_length(c->from->query->rtable));
	return (Node *) makeVar(llast_int(c->added), 1, exprType((Node *) tle->expr), exprTypmod((Node *) tle->expr),
							exprCollation((Node *) tle->expr), 0);
}

/* Returns a conjunct with columns of joined subqueries in the place of those that have one row. */
static Node *
join_scalars(DpSource *s, DpScope *scope, DpFrom *from, Node *conjunct)
{
	ScalarContext c = {s, scope, from, NIL};
	ListCell   *lc;

	/* of a condition that names no row the subquery would be joined with nothing */
	if (!checkExprHasSubLink(conjunct) || !contain_vars_of_level(conjunct, 0))
		return conjunct;
	conjunct = scalar_mutator(conjunct, &c);
	foreach(lc, c.added)
	{
		join_inner(from->query, lfirst_int(lc), NIL);
		from->once = bms_add_member(from->once, lfirst_int(lc));
	}
	return conjunct;
}

void
dp_join_sublinks(DpSource *s, DpScope *scope, DpFrom *from)
{
	Query	   *query = from->query;
	List	   *conjuncts;
	ListCell   *lc;
	bool		negated;

	if (query->jointree == NULL || query->jointree->quals == NULL || !checkExprHasSubLink(query->jointree->quals))
		return;
	conjuncts = dp_conjuncts(query->jointree->quals);
	query->jointree->quals = NULL;
	/* those that stay, then those by which rows are found, and last those by which none is */
	foreach(lc, conjuncts)
		if (sublink_of(lfirst(lc), &negated) == NULL)
		add_conjunct(query, join_scalars(s, scope, from, lfirst(lc)));
	for (int turn = 0; turn < 2; turn++)
		foreach(lc, conjuncts)
		{
			SubLink    *link = sublink_of(lfirst(lc), &negated);

			if (link != NULL && negated == (turn == 1) && !join_sublink(s, scope, from, link, negated))
				add_conjunct(query, lfirst(lc));
		}
}
