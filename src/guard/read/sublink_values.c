/*-------------------------------------------------------------------------
 *
 * sublink_values.c
 *	  Subqueries in expressions that are computed of rows, as joins.
 *	  Where those stand is in sublink_places.c.
 *
 *	 t.x > (SELECT avg(x) FROM r)
 *	   FROM t, (SELECT avg(x) AS v FROM r) q WHERE t.x > q.v
 *	   where the subquery reads public rows, or is a release, which is made
 *	   beforehand
 *	 t.x > (SELECT avg(x) FROM r WHERE r.k = t.k)
 *	   FROM t LEFT JOIN (SELECT k, avg(x) AS v FROM r GROUP BY k) q ON t.k = q.k WHERE t.x > q.v
 *	   where (SELECT count(*) FROM r WHERE r.k = t.k GROUP BY r.k) is the same, but NULL instead of 0
 *	 t.x = 1 OR EXISTS (SELECT FROM r WHERE r.k = t.k)
 *	   FROM t LEFT JOIN (SELECT k FROM r GROUP BY k) q ON t.k = q.k WHERE t.x = 1 OR q.k IS NOT NULL
 *	 t.x = 1 OR t.y IN (SELECT k FROM r)
 *	   as EXISTS with the condition k = t.y, where NULL means the same as false
 *	 count(*) FILTER (WHERE EXISTS (...)), sum((SELECT ...)), GROUP BY EXISTS (...)
 *	   in the same ways
 *	 s.k of public rows: EXISTS (SELECT FROM t WHERE t.k = s.k), s.k IN (SELECT k FROM t), of protected rows
 *	   FROM s LEFT JOIN (SELECT k, count(*) AS n, dp_margin(count(*)) AS m FROM t GROUP BY k) q ON s.k = q.k WHERE m < n
 *	 EXISTS (SELECT FROM t WHERE t.k = s.k GROUP BY t.k HAVING sum(x) > 5)
 *	   FROM s LEFT JOIN (SELECT k, sum(x) AS x FROM t GROUP BY k) q ON s.k = q.k WHERE q.x > 5
 *
 * Invariants:
 * - A row of the level finds at most one row of the subquery (correlations.c).
 * - Rows of protected tables are grouped by what names their unit.  Aggregates of
 *	 other people's rows are a release, which is joined and paid for; values of
 *	 these are not selected in passing.
 * - Where there is no row, aggregates are what they are of no rows, and the
 *	 expression around them is computed of that.
 * - What is not understood stays where it is, and is refused there (vet.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

/* a subquery that has become a column */
typedef struct KnownValue
{
	SubLink    *link;
	bool		truth;
	Node	   *value;
} KnownValue;

/* a subquery that was joined */
typedef struct Groups
{
	Query	   *sub;			/* as it was, but for what it shows */
	DpCorrelation compared;
	List	   *columns;		/* what it shows beside its keys */
	Index		rti;
	int			join;
} Groups;

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
take_test(DpCorrelation *c, Node *test, Query *sub)
{
	foreach_ptr(Node, equality, make_ands_implicit((Expr *) test))
	{
		DpComparison compared;
		Node	   *column;

		if (!dp_read_operator(equality, &compared) || checkExprHasSubLink(compared.left))
			return false;
		column = tested_column(compared.right, sub);
		if (column == NULL || !dp_add_key(c, copyObject(equality), 1, column))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * The subquery
 * ------------------------------------------------------------------------
 */

/* Tells whether it shows one column. */
static bool
has_one_row(Query *sub)
{
	return dp_has_one_row(sub) && list_length(sub->targetList) == 1;
}

/* Tells whether it shows one value of each group. */
static bool
has_one_group(Query *sub)
{
	return dp_groups_rows(sub) && sub->hasAggs && sub->havingQual == NULL && count_nonjunk_tlist_entries(sub->targetList) == 1;
}

/* ------------------------------------------------------------------------
 * The level
 * ------------------------------------------------------------------------
 */

/* Returns what of a subquery says which rows there are. */
static Query *
rows_of(Query *sub)
{
	Query	   *rows = copyObject(sub);

	dp_forget_order(rows);
	rows->targetList = NIL;
	rows->hasAggs = false;

	/*
	 * columns of protected tables are read as their owner; those of others
	 * keep telling what is to be checked
	 */
	foreach_ptr(RangeTblEntry, rte, rows->rtable)
	{
		if (rte->rtekind == RTE_RELATION && dp_is_protected(rte))
			dp_forget_columns(rows, rte);
	}
	return rows;
}

static bool
take_conditions(DpSublinks *v, DpCorrelation *c, Query *sub)
{
	return dp_take_all_conditions(c, sub, v->scope, v->releases ? NULL : v->s);
}

/* Returns the groups of the same rows, by the same keys, that were joined before; NULL: none were. */
static Groups *
joined_before(DpSublinks *v, Query *rows, const DpCorrelation *c)
{
	foreach_ptr(Groups, groups, v->groups)
	{
		if (equal(groups->sub, rows) && equal(groups->compared.keys, c->keys) &&
			equal(groups->compared.equalities, c->equalities) &&
			equal(groups->compared.places, c->places) && equal(groups->compared.conditions, c->conditions))
			return groups;
	}
	return NULL;
}

/* Lets groups that were joined show more columns. */
static void
add_columns(DpSublinks *v, Groups *groups, List *columns)
{
	RangeTblEntry *rte = rt_fetch(groups->rti, v->from->query->rtable);

	foreach_ptr(Expr, column, columns)
	{
		if (list_member(groups->columns, column))
			continue;
		groups->columns = lappend(groups->columns, column);
		(void) dp_show_in_entry(rte, column, "value");
		rte->subquery->hasAggs = true;
	}
}

/*
 * Tells whether the groups of rows may be joined: those of protected rows are
 * one unit's each, or a release, of aggregates that are written, or where the level is public.
 */
static bool
may_be_joined(DpSublinks *v, Query *rows, RangeTblEntry *rte, bool aggregates)
{
	DpScope		inner = {rows, v->scope};
	RangeTblEntry *base;

	if (contain_vars_of_level((Node *) rte->subquery, 1))
		return false;
	if (v->releases)
		return dp_reads_rows(&inner, dp_aggregates_privately(rte->subquery), &base) != 0 &&
			!dp_entry_yields_rows(v->scope, rte, true);
	return aggregates || dp_reads_rows(&inner, v->s->even_if_readable, &base) == 0 ||
		dp_entry_yields_rows(v->scope, rte, v->s->even_if_readable);
}

/* Joins an entry, of one row for all rows with the same keys, the first of which has this number, to all that the level reads. */
static void
join_entry(DpSublinks *v, RangeTblEntry *rte, DpCorrelation *c, int first, Index *rti, int *join)
{
	Query	   *query = v->from->query;

	query->rtable = lappend(query->rtable, rte);
	*rti = list_length(query->rtable);
	v->from->once = bms_add_member(v->from->once, *rti);
	*join = dp_join_compared(query, *rti, first, c);
}

/*
 * Joins a subquery, of one row for all rows with the same keys, to all that the
 * level reads; columns: what it shows beside them.  NULL: it stays.
 */
static Groups *
join_groups(DpSublinks *v, Query *sub, DpCorrelation *c, List *columns)
{
	Query	   *rows = rows_of(sub);
	Groups	   *groups = joined_before(v, rows, c);
	RangeTblEntry *rte;

	if (groups != NULL)
	{
		add_columns(v, groups, columns);
		return groups;
	}
	if (c->keys == NIL)
		return NULL;
	dp_group_by_keys(sub, c, columns);
	rte = dp_subquery_entry(sub, dp_first_name(sub));
	if (!may_be_joined(v, rows, rte, columns != NIL))
		return NULL;
	groups = palloc(sizeof(Groups));
	groups->sub = rows;
	groups->compared = *c;
	groups->columns = list_copy(columns);
	join_entry(v, rte, c, 1, &groups->rti, &groups->join);
	v->groups = lappend(v->groups, groups);
	return groups;
}

/* Tells whether an expression names columns of the subquery outside of its aggregates. */
static DpWalk
names_column(Node *node, int levels, void *context)
{
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0)
		return DP_WALK_PAST;
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0;
}

/* Tells whether all that a subquery groups by is what it compares, or the same for all of its rows. */
static bool
groups_by_compared(Query *sub, const DpCorrelation *c)
{
	foreach_ptr(SortGroupClause, clause, sub->groupClause)
	{
		Node	   *key = get_sortgroupclause_expr(clause, sub->targetList);

		if (!list_member(c->keys, key) && (contain_vars_of_level(key, 0) || checkExprHasSubLink(key)))
			return false;
	}
	return true;
}

/* Returns value where a row of the level has found a group of its own, NULL elsewhere. */
static Node *
where_found(Node *value, const DpCorrelation *c, const Groups *groups)
{
	CaseExpr   *cases;
	Var		   *key = dp_output_var(groups->rti, 1, linitial(c->keys));

	dp_set_nulled_by(key, groups->join);
	cases = castNode(CaseExpr, dp_value_where(dp_is_not_null((Expr *) key), (Expr *) value));
	cases->location = exprLocation(value);
	return (Node *) cases;
}

/*
 * Returns the aggregates of the rows that a row of the level is compared with, in
 * their expression; NULL: it stays.  grouped: they are one group, and NULL where there are no rows.
 */
static Node *
join_aggregate(DpSublinks *v, SubLink *link, bool grouped)
{
	Query	   *sub = copyObject((Query *) link->subselect);
	DpCorrelation c = {0};
	List	   *columns;
	Node	   *value;
	Groups	   *groups;

	dp_bring_near(sub);
	if (!take_conditions(v, &c, sub))
		return NULL;
	value = (Node *) linitial_node(TargetEntry, sub->targetList)->expr;
	if (!dp_compared_columns(value, &columns))
		return NULL;
	if (grouped && (dp_walk(value, names_column, NULL) || !groups_by_compared(sub, &c)))
		return NULL;
	sub->groupClause = NIL;
	groups = join_groups(v, sub, &c, columns);
	if (groups == NULL)
		return NULL;
	value = dp_compared_value(value, &c, groups->columns, groups->rti, groups->join, v->releases);
	if (grouped)
		v->or_null = bms_add_member(v->or_null, groups->rti);
	return grouped ? where_found(value, &c, groups) : value;
}

static Node *
is_true(Node *value, int location)
{
	return (Node *) dp_make(BooleanTest, .arg = (Expr *) value, .booltesttype = IS_TRUE, .location = location);
}

/* Puts what aggregates are of no rows in their place; sets unknown where that is not known. */
static Node *
put_no_rows(Node *node, int levels, bool *unknown)
{
	*unknown |= IsA(node, Var) || IsA(node, SubLink) || IsA(node, Param);
	if (!IsA(node, Aggref))
		return NULL;
	return (Node *) (dp_is_count(node) ? dp_int8_const(0) : makeNullConst(exprType(node), -1, exprCollation(node)));
}

/* Tells whether HAVING may be true of no rows. */
static bool
may_have_no_rows(Node *having)
{
	bool		unknown = false;
	Const	   *value = (Const *) eval_const_expressions(NULL, dp_put(having, put_no_rows, &unknown));

	return unknown || !IsA(value, Const) || (!value->constisnull && DatumGetBool(value->constvalue));
}

/* Returns the targets that a subquery groups by, behind a first one that it shows. */
static List *
grouped_by(Query *sub)
{
	List	   *targets = NIL;

	foreach_ptr(SortGroupClause, clause, sub->groupClause)
	{
		TargetEntry *tle = copyObject(get_sortgroupclause_tle(clause, sub->targetList));

		tle->resno = list_length(targets) + 2;
		tle->resjunk = true;
		targets = lappend(targets, tle);
	}
	return targets;
}

/*
 * Returns whether aggregates of the rows that a row of the level is compared with
 * satisfy HAVING; NULL: it stays.  grouped: there are none where there are no
 * rows, which of a release is told by more of them than noise explains.
 */
static Node *
join_having(DpSublinks *v, SubLink *link, bool grouped)
{
	Query	   *sub = copyObject((Query *) link->subselect);
	Node	   *having = sub->havingQual;
	Node	   *value;

	link = copyObject(link);
	link->subLinkType = EXPR_SUBLINK;
	link->subselect = (Node *) sub;
	if (grouped && may_have_no_rows(having))
		having = make_and_qual(having, (Node *) dp_more_rows_than_noise(link->location, NULL));
	dp_forget_order(sub);
	sub->havingQual = NULL;
	sub->targetList = lcons(makeTargetEntry((Expr *) having, 1, pstrdup("having"), false), grouped_by(sub));
	sub->hasAggs = contain_aggs_of_level((Node *) sub->targetList, 0);
	value = grouped ? (has_one_group(sub) ? join_aggregate(v, link, true) : NULL)
		: has_one_row(sub) ? join_aggregate(v, link, false) : NULL;
	return value ? is_true(value, link->location) : NULL;
}

/* Returns what the first of the rows shows that a row of the level is compared with, NULL if there is none; NULL: it stays. */
static Node *
join_first(DpSublinks *v, SubLink *link, const DpTaken *taken)
{
	Query	   *sub = copyObject((Query *) link->subselect);
	DpCorrelation c = {0};
	RangeTblEntry *rte;
	Query	   *rows;
	TargetEntry *shown;
	List	   *keys;
	Var		   *value;
	Index		rti;
	int			join;

	dp_bring_near(sub);
	if (!take_conditions(v, &c, sub) || c.keys == NIL)
		return NULL;
	rows = rows_of(sub);
	keys = dp_first_of_keys(sub, c.keys, taken);
	shown = linitial(sub->targetList);
	rte = dp_subquery_entry(sub, dp_first_name(sub));
	if (!may_be_joined(v, rows, rte, false))
		return NULL;
	join_entry(v, rte, &c, linitial_node(TargetEntry, keys)->resno, &rti, &join);
	value = dp_output_var(rti, shown->resno, (Node *) shown->expr);
	dp_set_nulled_by(value, join);
	return (Node *) value;
}

/* Tells whether x IN (SELECT k ...) is true or false, never NULL. */
static bool
is_two_valued(DpSublinks *v, DpCorrelation *c, Query *sub)
{
	Node	   *k = linitial(c->keys);
	DpScope		inner = {sub, v->scope};
	DpComparison compared;
	Node	   *x;

	(void) dp_read_operator(linitial(c->equalities), &compared);
	x = compared.left;

	/* rows whose unit is NULL are nobody's */
	return list_length(c->keys) == 1 && (dp_shows_no_null(sub, k) || dp_is_unit_origin(&inner, k, true)) && IsA(x, Var) &&
		(dp_is_never_null(v->from->query, x) || dp_is_unit_origin(v->scope, x, true));
}

/* Takes out of EXISTS or IN what compares its rows with one of the level; false if that cannot be. */
static bool
take_comparisons(DpSublinks *v, DpCorrelation *c, SubLink *link, Query *sub)
{
	dp_bring_near(sub);
	return (link->subLinkType == EXISTS_SUBLINK || (take_test(c, link->testexpr, sub) && (v->truth || is_two_valued(v, c, sub)))) &&
		take_conditions(v, c, sub);
}

/* Returns whether there is a row that a row of the level is compared with; NULL: it stays. */
static Node *
join_test(DpSublinks *v, SubLink *link)
{
	bool		exists = link->subLinkType == EXISTS_SUBLINK;
	Query	   *sub = copyObject((Query *) link->subselect);
	DpCorrelation c = {0};
	Var		   *key;
	Groups	   *groups;

	if (!exists && link->subLinkType != ANY_SUBLINK)
		return NULL;
	if (!dp_only_reads(sub, exists))
	{
		if (sub->commandType != CMD_SELECT)
			return NULL;
		sub = dp_lifted(sub, v->scope, v->releases ? NULL : v->s);
		if (sub == NULL)
			return NULL;
	}
	if (!take_comparisons(v, &c, link, sub))
		return NULL;
	groups = join_groups(v, sub, &c, NIL);
	if (groups == NULL)
		return NULL;
	key = dp_output_var(groups->rti, 1, linitial(c.keys));
	dp_set_nulled_by(key, groups->join);
	return (Node *) dp_is_not_null((Expr *) key);
}

/* Returns whether there are more rows, which are released, than noise explains that a public row is compared with; NULL: it stays. */
static Node *
join_released_test(DpSublinks *v, SubLink *link)
{
	bool		exists = link->subLinkType == EXISTS_SUBLINK;
	Query	   *sub = copyObject((Query *) link->subselect);
	DpScope		inner = {sub, v->scope};
	DpCorrelation c = {0};
	Node	   *condition;
	List	   *columns;
	Groups	   *groups;
	RangeTblEntry *base;

	/* distinct values are released as they stand */
	if (!dp_only_reads(sub, exists) || (!exists && sub->distinctClause != NIL) || dp_reads_rows(&inner, false, &base) == 0)
		return NULL;
	condition = (Node *) dp_more_rows_than_noise(link->location, NULL);
	if (!take_comparisons(v, &c, link, sub) || !dp_compared_columns(condition, &columns))
		return NULL;
	sub->hasAggs = true;
	groups = join_groups(v, sub, &c, columns);
	return groups ? is_true(dp_compared_value(condition, &c, groups->columns, groups->rti, groups->join, false), link->location) : NULL;
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

/* Returns the one value of a subquery, or of EXISTS, that does not depend on the level; it is joined without a condition. */
static Node *
join_value(DpSublinks *v, SubLink *link)
{
	Query	   *sub = (Query *) link->subselect;
	TargetEntry *tle;
	Index		rti;

	sub = link->subLinkType == EXPR_SUBLINK && has_one_row(sub) ? copyObject(sub) : one_row_of(link);
	tle = linitial(sub->targetList);
	rti = dp_add_to_from(v->from->query, dp_subquery_entry(sub, "scalar"));
	v->from->once = bms_add_member(v->from->once, rti);
	return (Node *) dp_output_var(rti, 1, (Node *) tle->expr);
}

/* Puts a value in the place of the one column of a subquery in a test. */
static Node *
put_column(Node *node, int levels, Node *value)
{
	return IsA(node, Param) && ((Param *) node)->paramkind == PARAM_SUBLINK ? copyObject(value) : NULL;
}

/* Returns x = v for x IN (SELECT v), where there is one v; NULL: it stays. */
static Node *
join_compared_aggregate(DpSublinks *v, SubLink *link)
{
	Node	   *value = checkExprHasSubLink(link->testexpr) ? NULL : join_aggregate(v, link, false);

	return value ? dp_put(link->testexpr, put_column, value) : NULL;
}

static Node *
join_sublink(DpSublinks *v, SubLink *link)
{
	Query	   *sub = (Query *) link->subselect;
	DpScope		inner = {sub, v->scope};
	static const DpTaken the_only_one = {.skipped = 0, .count = 1};
	DpTaken		taken;
	RangeTblEntry *base;

	if (contain_volatile_functions((Node *) sub))
		return NULL;
	if (v->releases && (link->subLinkType == EXISTS_SUBLINK || link->subLinkType == ANY_SUBLINK) && sub->havingQual == NULL)
		return link->subLinkType == ANY_SUBLINK || contain_vars_of_level((Node *) sub, 1) ? join_released_test(v, link) : NULL;
	/* what names no column of the level is released as it stands */
	if (v->releases && !contain_vars_of_level((Node *) sub, 1))
		return NULL;
	if (v->releases && link->subLinkType == EXPR_SUBLINK)
		return has_one_row(sub) || has_one_group(sub) ? join_aggregate(v, link, sub->groupClause != NIL) : NULL;
	if (v->releases && sub->groupClause != NIL && link->subLinkType == EXISTS_SUBLINK && sub->havingQual != NULL &&
		sub->groupingSets == NIL)
		return dp_leaves_a_row(sub->limitCount) ? join_having(v, link, true) : NULL;
	if (v->releases && (link->subLinkType != EXISTS_SUBLINK || sub->groupClause != NIL || sub->groupingSets != NIL))
		return NULL;
	if (link->subLinkType == EXISTS_SUBLINK && !contain_vars_of_level((Node *) sub, 1) &&
		dp_reads_rows(&inner, v->s->even_if_readable, &base) == 0)
		return join_value(v, link);
	if (link->subLinkType == ANY_SUBLINK && has_one_row(sub) && contain_vars_of_level((Node *) sub, 1))
		return join_compared_aggregate(v, link);
	if (link->subLinkType == EXISTS_SUBLINK && sub->havingQual != NULL && sub->groupClause == NIL &&
		sub->groupingSets == NIL)
		return dp_leaves_a_row(sub->limitCount) ? join_having(v, link, false) : NULL;
	if (link->subLinkType != EXPR_SUBLINK)
		return join_test(v, link);
	if (!contain_vars_of_level((Node *) sub, 1))
		return join_value(v, link);
	if (has_one_row(sub) || has_one_group(sub))
		return join_aggregate(v, link, sub->groupClause != NIL);
	if (dp_takes_first(sub, &taken) && taken.count == 1)
		return join_first(v, link, &taken);
	return dp_finds_one_row(sub) ? join_first(v, link, &the_only_one) : NULL;
}

/* Returns what a subquery that was met before has become; NULL: none was. */
static Node *
known_value(DpSublinks *v, SubLink *link)
{
	foreach_ptr(KnownValue, known, v->known)
	{
		if (known->truth == v->truth && equal(known->link, link))
			return copyObject(known->value);
	}
	return NULL;
}

/* Returns what becomes of a subquery, which is itself where it stays. */
static Node *
replace_sublink(DpSublinks *v, SubLink *link)
{
	Node	   *value = known_value(v, link);
	KnownValue *known;

	if (value != NULL)
		return value;
	value = join_sublink(v, link);
	if (value == NULL)
		return (Node *) link;
	known = palloc(sizeof(KnownValue));
	known->link = link;
	known->truth = v->truth;
	known->value = value;
	v->known = lappend(v->known, known);
	dp_note_written(v->from, value, (Node *) link);
	return copyObject(value);
}

Node *
dp_replace_sublinks(Node *node, DpSublinks *v)
{
	bool		truth = v->truth;
	Node	   *result;

	if (node == NULL)
		return NULL;
	if (IsA(node, SubLink))
		return replace_sublink(v, (SubLink *) node);
	if (IsA(node, CaseWhen))
	{
		CaseWhen   *when = copyObject((CaseWhen *) node);

		v->truth = true;
		when->expr = (Expr *) dp_replace_sublinks((Node *) when->expr, v);
		v->truth = false;
		when->result = (Expr *) dp_replace_sublinks((Node *) when->result, v);
		result = (Node *) when;
	}
	else
	{
		v->truth = truth && (IsA(node, List) || (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop != NOT_EXPR));
		result = expression_tree_mutator(node, dp_replace_sublinks, v);
	}
	v->truth = truth;
	return result;
}
