/*-------------------------------------------------------------------------
 *
 * spellings.c
 *	  Subqueries that group rows by values that are equal but written
 *	  differently (1.0 and 1.00), below expressions that tell these apart.
 *
 * A group of a subquery has its key in the canonical form (canonical.c), which
 * perhaps no row has: 1 where rows have 1.0.  Nothing sees that but what looks
 * at how a value is written: casts to text, scale(), LIKE of character.  So
 * - conditions on keys alone are asked of rows before they are grouped, which is what
 *	 PostgreSQL makes of them, too: a clause of HAVING without aggregates goes to
 *	 WHERE, and one of WHERE into the subquery that it reads;
 * - for all else a key is, of the values of the group's rows, the one that
 *	 comes first in their full order (agg/exact/full_order.c).  PostgreSQL has
 *	 that which came first.
 * Where nothing looks, keys stay canonical, which costs no aggregate.
 *
 * Invariants:
 * - A group's rows are one unit's, and what represents it is a function of
 *	 the multiset of their keys.
 * - Both go by the text of the query alone.
 *
 * Keys that are released: released_spellings.c.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "guard/spellings.h"
#include "guard/verify.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Who sees how a value is written
 * ------------------------------------------------------------------------
 */

/* Tells whether a call gives numeric without a fraction, so that it is written in one way. */
static bool
is_whole(Node *expr)
{
	static const char *const names[] = {"floor", "ceil", "ceiling", "round", "trunc"};
	static const char *const fields[] = {"year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute"};
	FuncExpr   *call = (FuncExpr *) expr;
	const char *name = IsA(expr, FuncExpr) ? dp_builtin_name(call) : NULL;
	Node	   *first = name != NULL && call->args != NIL ? linitial(call->args) : NULL;

	if (first == NULL || call->funcresulttype != NUMERICOID)
		return false;
	if (strcmp(name, "extract") == 0 && IsA(first, Const) && exprType(first) == TEXTOID && !((Const *) first)->constisnull)
	{
		char	   *field = TextDatumGetCString(((Const *) first)->constvalue);

		for (int i = 0; i < lengthof(fields); i++)
			if (pg_strcasecmp(fields[i], field) == 0)
				return true;
		return false;
	}
	if (list_length(call->args) != 1)
		return false;
	if (strcmp(name, "numeric") == 0)
		return exprType(first) == INT2OID || exprType(first) == INT4OID || exprType(first) == INT8OID;
	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool
dp_has_spellings(Node *expr)
{
	Node	   *form = dp_canonical_key(expr);

	if (is_whole(expr))
		return false;
	/* it may be canonical already */
	return form != expr && !(IsA(expr, FuncExpr) && ((FuncExpr *) expr)->funcid == ((FuncExpr *) form)->funcid);
}

/* Tells whether node is a column of a subquery, or a key of the query, that may be made canonical. */
static bool
is_canonical_value(Node *node, DpSpellings *s)
{
	Var		   *var = (Var *) node;
	RTEKind		kind;

	if (!s->of_rows && list_member(s->keys, node))
		return true;
	if (!IsA(node, Var) || var->varlevelsup > 0 || var->varattno <= 0)
		return false;
	kind = rt_fetch(var->varno, s->query->rtable)->rtekind;
	return (kind == RTE_SUBQUERY || kind == RTE_CTE) && dp_has_spellings(node);
}

/* Tells whether an operator compares by the order of the type of its first argument. */
static bool
compares(Oid opno, Node *first)
{
	Oid			opfamily = lookup_type_cache(getBaseType(exprType(first)), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			negator = get_negator(opno);

	return get_op_opfamily_strategy(opno, opfamily) != 0 ||
		(OidIsValid(negator) && get_op_opfamily_strategy(negator, opfamily) != 0);
}

static bool
reads_character(List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (exprType(lfirst(lc)) == BPCHAROID)
			return true;
	}
	return false;
}

bool
dp_tells_spellings_apart(Node *node)
{
	List	   *args = NIL;

	switch (nodeTag(node))
	{
		case T_NullTest:
		case T_DistinctExpr:
		case T_Aggref:
			return false;
		case T_OpExpr:
			args = ((OpExpr *) node)->args;
			if (compares(((OpExpr *) node)->opno, linitial(args)))
				return false;
			break;
		case T_ScalarArrayOpExpr:
			args = ((ScalarArrayOpExpr *) node)->args;
			if (compares(((ScalarArrayOpExpr *) node)->opno, linitial(args)))
				return false;
			break;
		case T_FuncExpr:
			{
				const char *name = dp_builtin_name((FuncExpr *) node);

				args = ((FuncExpr *) node)->args;
				if (name != NULL && strcmp(name, "scale") == 0)
					return true;
				/* they order rows, of which groups are one each */
				if (dp_is_image_function(((FuncExpr *) node)->funcid))
					return false;
				break;
			}
		default:
			break;
	}
	if (reads_character(args))
		return true;
	switch (TypeCategory(getBaseType(exprType(node))))
	{
		case TYPCATEGORY_NUMERIC:
		case TYPCATEGORY_BOOLEAN:
		case TYPCATEGORY_DATETIME:
		case TYPCATEGORY_TIMESPAN:
			return false;
		default:
			return true;
	}
}

static bool
want_walker(Node *node, DpSpellings *s)
{
	bool		was_in = s->of_rows;

	if (node == NULL)
		return false;
	if (!s->of_rows && list_member(s->keys, node))
		s->wanted_keys = list_append_unique(s->wanted_keys, node);
	if (IsA(node, Var) && is_canonical_value(node, s))
		s->wanted[((Var *) node)->varno] = bms_add_member(s->wanted[((Var *) node)->varno], ((Var *) node)->varattno);
	s->of_rows |= IsA(node, Aggref);
	(void) expression_tree_walker(node, want_walker, s);
	s->of_rows = was_in;
	return false;
}

/* Notes which keys and columns are looked at for how they are written. */
static bool
form_walker(Node *node, DpSpellings *s)
{
	bool		before = s->varies;
	bool		was_in = s->of_rows;
	bool		is_part;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (is_canonical_value(node, s))
	{
		s->varies = true;
		return false;
	}
	s->varies = false;
	s->of_rows |= IsA(node, Aggref);
	(void) expression_tree_walker(node, form_walker, s);
	s->of_rows = was_in;
	is_part = IsA(node, List) || IsA(node, TargetEntry) || IsA(node, CaseWhen) || IsA(node, FromExpr) || IsA(node, JoinExpr);
	if (s->varies && !is_part && !dp_has_spellings(node))
	{
		s->varies = false;
		if (dp_tells_spellings_apart(node))
		{
			s->seen = true;
			if (s->wanted != NULL)
				(void) want_walker(node, s);
		}
	}
	s->varies |= before;
	return false;
}

bool
dp_sees_spelling(Node *condition, const DpSpellings *s)
{
	DpSpellings one = {.query = s->query, .keys = s->keys};

	(void) form_walker(condition, &one);
	return one.seen;
}

/* ------------------------------------------------------------------------
 * Conditions that are asked before rows are grouped
 * ------------------------------------------------------------------------
 */

static bool
may_be_asked_of_rows(Node *condition)
{
	return !contain_aggs_of_level(condition, 0) && !contain_volatile_functions(condition) && !checkExprHasSubLink(condition);
}

void
dp_ask_rows_of_keys(DpSpellings *s)
{
	Query	   *query = s->query;
	List	   *stays = NIL;
	ListCell   *lc;

	if (s->keys == NIL || query->groupingSets != NIL)
		return;
	foreach(lc, dp_conjuncts(query->havingQual))
	{
		if (!may_be_asked_of_rows(lfirst(lc)) || !dp_sees_spelling(lfirst(lc), s))
			stays = lappend(stays, lfirst(lc));
		else
			dp_add_conjunct(query, lfirst(lc));
	}
	query->havingQual = stays == NIL ? NULL : (Node *) make_ands_explicit(stays);
}

/* Tells whether an entry is joined so that a condition on it may be asked before: by inner joins alone. */
static bool
is_inner(Node *node, Index rti)
{
	ListCell   *lc;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex == rti;
	if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		return (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT) &&
			(is_inner(join->larg, rti) || (join->jointype == JOIN_INNER && is_inner(join->rarg, rti)));
	}
	foreach(lc, castNode(FromExpr, node)->fromlist)
	{
		if (is_inner(lfirst(lc), rti))
			return true;
	}
	return false;
}

Node *
dp_in_terms_of_subquery(Query *query, Node *condition, Query **sub)
{
	Bitmapset  *entries = pull_varnos(NULL, condition);
	Index		rti;
	RangeTblEntry *rte;
	Node	   *result;

	if (bms_membership(entries) != BMS_SINGLETON || !may_be_asked_of_rows(condition))
		return NULL;
	rti = bms_singleton_member(entries);
	rte = rt_fetch(rti, query->rtable);
	if (rte->rtekind != RTE_SUBQUERY || !is_inner((Node *) query->jointree, rti))
		return NULL;
	*sub = rte->subquery;
	if ((*sub)->setOperations || (*sub)->hasWindowFuncs || (*sub)->distinctClause || (*sub)->groupingSets ||
		(*sub)->limitCount || (*sub)->limitOffset || (*sub)->hasTargetSRFs ||
		((*sub)->groupClause == NIL && ((*sub)->hasAggs || (*sub)->havingQual)))
		return NULL;
	result = dp_replace_vars(copyObject(condition), rti, rte, (*sub)->targetList);
	return may_be_asked_of_rows(result) ? result : NULL;
}

/* Puts what WHERE asks of how the columns of a subquery are written into that. */
static void
ask_below(DpSpellings *s)
{
	Query	   *query = s->query;
	List	   *stays = NIL;
	ListCell   *lc;

	foreach(lc, dp_conjuncts(query->jointree->quals))
	{
		Query	   *sub;
		Node	   *below = dp_sees_spelling(lfirst(lc), s) ? dp_in_terms_of_subquery(query, lfirst(lc), &sub) : NULL;

		if (below != NULL)
			dp_add_conjunct(sub, below);
		else
			stays = lappend(stays, lfirst(lc));
	}
	query->jointree->quals = stays == NIL ? NULL : (Node *) make_ands_explicit(stays);
}

/* ------------------------------------------------------------------------
 * Keys that are seen
 * ------------------------------------------------------------------------
 */

/* Returns, of the values that a key has in the rows of a group, one that goes by no order of rows. */
static Node *
one_of_group(Node *key)
{
	Oid			type = exprType(key);
	Node	   *value = copyObject(key);
	Aggref	   *agg = makeNode(Aggref);
	CoalesceExpr *or_canonical;

	if (type == BPCHAROID)
		value = (Node *) makeFuncExpr(dp_own_function("try_summand", 1, &type, type), type, list_make1(value),
									  exprCollation(key), InvalidOid, COERCE_EXPLICIT_CALL);
	agg->aggfnoid = dp_own_aggregate("unit_min", 1, &type, type);
	agg->aggtype = type;
	agg->aggcollid = agg->inputcollid = exprCollation(key);
	agg->aggargtypes = list_make1_oid(type);
	agg->args = list_make1(makeTargetEntry((Expr *) value, 1, NULL, false));
	agg->aggkind = AGGKIND_NORMAL;
	agg->aggsplit = AGGSPLIT_SIMPLE;
	agg->aggno = agg->aggtransno = -1;
	agg->location = exprLocation(key);
	if (type != BPCHAROID)
		return (Node *) agg;
	/* a string may be too long to be kept */
	or_canonical = makeNode(CoalesceExpr);
	or_canonical->coalescetype = type;
	or_canonical->coalescecollid = exprCollation(key);
	or_canonical->args = list_make2(agg, copyObject(key));
	or_canonical->location = exprLocation(key);
	return (Node *) or_canonical;
}

static Node *
represent_mutator(Node *node, List *keys)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
		return (Node *) copyObject(node);
	if (!IsA(node, List) && !IsA(node, TargetEntry) && list_member(keys, node))
		return one_of_group(node);
	return expression_tree_mutator(node, represent_mutator, keys);
}

/* Refuses windows that put groups in order by all that is read of them: of a key, that would be two values. */
static void
check_orders(Query *query)
{
	ListCell   *lc;

	foreach(lc, query->hasWindowFuncs ? dp_window_functions((Node *) query->targetList) : NIL)
	{
		WindowFunc *function = lfirst(lc);

		if (dp_window_needs_order(function, dp_window_of(query->windowClause, function->winref)))
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("a group of a subquery with windows does not keep how its key was written (1.0, 1.00); compute the windows in a subquery above")));
	}
}

/* Tells whether a key names the privacy unit, by which rows above are joined and bounded. */
static bool
is_unit(Query *query, Expr *key)
{
	Node	   *column = dp_strip_labels((Node *) key);

	return IsA(column, Var) && dp_is_unit_column(query, (Var *) column);
}

/* Has a grouped query show values of rows in the place of keys; it groups by the keys as ever. */
static void
represent(Query *query, List *keys)
{
	List	   *grouped = NIL;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);
		Expr	   *shown = (Expr *) represent_mutator((Node *) tle->expr, keys);

		if (is_unit(query, tle->expr))
			continue;
		if (tle->ressortgroupref != 0 && !equal(shown, tle->expr))
		{
			TargetEntry *group = copyObject(tle);

			group->resno = list_length(query->targetList) + list_length(grouped) + 1;
			group->resjunk = true;
			grouped = lappend(grouped, group);
			tle->ressortgroupref = 0;
		}
		tle->expr = shown;
	}
	query->targetList = list_concat(query->targetList, grouped);
	query->havingQual = represent_mutator(query->havingQual, keys);
	query->hasAggs = true;
}

/* Returns what an expression of a query is in the subquery that shows it as a column. */
static Node *
shown_below(Query *query, Node *expr)
{
	Var		   *var = (Var *) expr;
	RangeTblEntry *rte;
	TargetEntry *shown;

	check_stack_depth();
	if (!IsA(expr, Var) || var->varlevelsup > 0 || var->varattno <= 0)
		return expr;
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind != RTE_SUBQUERY || rte->subquery->setOperations)
		return expr;
	shown = get_tle_by_resno(rte->subquery->targetList, var->varattno);
	return shown == NULL ? expr : shown_below(rte->subquery, (Node *) shown->expr);
}

List *
dp_canonical_keys(Query *query)
{
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, get_sortgrouplist_exprs(query->groupClause, query->targetList))
	{
		Node	   *key = lfirst(lc);

		if (dp_has_spellings(key) && !is_whole(shown_below(query, key)))
			keys = lappend(keys, key);
	}
	return keys;
}


/* Looks through a query, of whose columns these are seen. */
static void
keep_spellings(Query *query, List *keys, const Bitmapset *columns)
{
	DpSpellings s = {.query = query, .keys = keys};
	ListCell   *lc;

	check_stack_depth();
	dp_ask_rows_of_keys(&s);
	ask_below(&s);
	s.wanted = palloc0(sizeof(Bitmapset *) * (list_length(query->rtable) + 1));
	(void) form_walker((Node *) query->targetList, &s);
	(void) form_walker(query->havingQual, &s);
	s.of_rows = true;
	(void) form_walker((Node *) query->jointree, &s);
	s.of_rows = false;
	foreach(lc, query->targetList)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		if (!bms_is_member(tle->resno, columns))
			continue;
		if (list_member(keys, tle->expr) && is_unit(query, tle->expr))
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("groups of a subquery do not keep how their privacy unit was written (1.0, 1.00); look at it in WHERE, or in another column")));
		(void) want_walker((Node *) tle->expr, &s);
	}
	if (s.wanted_keys != NIL)
	{
		check_orders(query);
		represent(query, s.wanted_keys);
	}
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		int			rti = foreach_current_index(lc) + 1;

		/* columns of a UNION ALL are those of its operands */
		if (rte->rtekind == RTE_SUBQUERY)
			keep_spellings(rte->subquery, dp_canonical_keys(rte->subquery),
						   query->setOperations ? columns : s.wanted[rti]);
	}
}

void
dp_keep_spellings(Query *query)
{
	keep_spellings(query, NIL, NULL);
}
