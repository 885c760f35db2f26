/*-------------------------------------------------------------------------
 *
 * known_values.c
 *	  What protected columns, and expressions over them, can be in the shadow
 *	  of a level.
 *
 * In rows that satisfy its conditions a protected column is
 * - a public expression that an equality of WHERE or of an inner join names,
 * - one of the values that the policy declares; rows of other values are left
 *	 out,
 * - one of the values of a list that it is compared with,
 * - an expression without columns that it is equal to.
 *
 * Invariant: where values that are equal may be written differently (1.0,
 * 1.00), what would tell the spellings apart is not known.  A value that
 * stands for a column has the form that the column's type gives it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_values.h"
#include "guard/describe/shadow.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * What an expression reads
 * ------------------------------------------------------------------------
 */

static DpWalk
is_private(Node *node, int levels, const DpShadow *s)
{
	return IsA(node, Var) && dp_shadow_item(s, ((Var *) node)->varno)->is_private;
}

/* Tells whether an expression reads protected columns. */
static bool
reads_private(DpShadow *s, Node *node)
{
	return dp_walk(node, is_private, s);
}

/* ------------------------------------------------------------------------
 * Equalities
 * ------------------------------------------------------------------------
 */

static DpShadowClass *
class_of(DpShadow *s, Node *expr)
{
	foreach_ptr(DpShadowClass, class, s->classes)
	{
		if (list_member(class->members, expr))
			return class;
	}
	return NULL;
}

static DpShadowClass *
make_class(DpShadow *s, Node *expr)
{
	DpShadowClass *class = class_of(s, expr);

	if (class == NULL)
	{
		class = palloc0(sizeof(DpShadowClass));
		class->members = list_make1(expr);
		s->classes = lappend(s->classes, class);
	}
	return class;
}

/*
 * Adds an equality once more for cells of what a cast is left out of: in
 * WHERE n = 1.0 the class knows of n::numeric only.
 */
static void
keep_for_cells(DpShadow *s, const DpShadowCondition *condition, Node *left, Node *right)
{
	DpCellTest	test;
	DpShadowCondition *kept;

	if (!dp_get_cell_test(condition->expr, &test) || equal(test.expr, left) || equal(test.expr, right))
		return;
	kept = dp_shadow_add_condition(s, condition->expr);
	kept->is_below = condition->is_below;
	kept->follows = true;
	kept->by_cells = true;
}

void
dp_shadow_equate(DpShadow *s)
{
	foreach_ptr(DpShadowCondition, condition, list_copy(s->conditions))
	{
		DpShadowClass *a,
				   *b;
		Node	   *left,
				   *right;

		/* rows without a match do not satisfy an outer join's */
		if (!bms_is_empty(condition->joins) || !dp_is_equality(condition->expr, &left, &right))
			continue;
		keep_for_cells(s, condition, left, right);
		a = make_class(s, left);
		b = make_class(s, right);
		if (a == b)
			continue;
		a->members = list_concat(a->members, b->members);
		s->classes = list_delete_ptr(s->classes, b);
	}
}

/* ------------------------------------------------------------------------
 * Forms of a value
 * ------------------------------------------------------------------------
 */

/* Tells whether equal values of the expression may be different bytes. */
static bool
has_forms(Node *expr)
{
	return IsA(dp_canonical_key((Node *) makeNullConst(exprType(expr), exprTypmod(expr), exprCollation(expr))),
			   FuncExpr);
}

/*
 * Returns value as a column with this typmod has it.  Other values are equal
 * to none of the column's: *fits, unless it is NULL, is the condition that it
 * is not such a one.
 */
static Node *
fit_value(Node *value, Node *column, Node **fits)
{
	int32		typmod = exprTypmod(column);
	Oid			type = exprType(column);
	Oid			equality;
	Node	   *fitted;

	*fits = NULL;
	if (typmod < (int32) VARHDRSZ || exprTypmod(value) == typmod)
		return value;
	if (type == NUMERICOID)
	{
		fitted = (Node *) makeFuncExpr(F_ROUND_NUMERIC_INT4, type,
									   list_make2(value, dp_int4_const(dp_numeric_scale(typmod))),
									   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		equality = F_NUMERIC_EQ;
	}
	else if (type == BPCHAROID)
	{
		fitted = (Node *) makeFuncExpr(F_BPCHAR_BPCHAR_INT4_BOOL, type,
									   list_make3(value,
												  dp_int4_const(typmod),
												  makeBoolConst(true, false)),
									   exprCollation(value), exprCollation(value), COERCE_EXPLICIT_CALL);
		equality = F_BPCHAREQ;
	}
	else if (type == VARCHAROID)
	{
		fitted = (Node *) makeFuncExpr(F_VARCHAR_VARCHAR_INT4_BOOL, type,
									   list_make3(value,
												  dp_int4_const(typmod),
												  makeBoolConst(true, false)),
									   exprCollation(value), exprCollation(value), COERCE_EXPLICIT_CALL);
		equality = F_TEXTEQ;
	}
	else
		return value;
	*fits = (Node *) makeFuncExpr(equality, BOOLOID, list_make2(copyObject(fitted), copyObject(value)),
								  InvalidOid, exprCollation(value), COERCE_EXPLICIT_CALL);
	return fitted;
}

/* ------------------------------------------------------------------------
 * Lists
 * ------------------------------------------------------------------------
 */

static DpShadowItem *
find_list(DpShadow *s, Node *column)
{
	foreach_ptr(DpShadowItem, item, s->items)
	{
		if (item->column != NULL && equal(item->column, column))
			return item;
	}
	return NULL;
}

DpShadowItem *
dp_shadow_add_list(DpShadow *s, Var *column, Expr *values)
{
	DpShadowItem *item = dp_shadow_add_item(s);
	int			join = -1;

	item->column = column;
	item->values = values;
	item->joins = dp_shadow_item(s, column->varno)->joins;
	while ((join = bms_next_member(item->joins, join)) >= 0)
	{
		DpShadowJoin *j = list_nth(s->joins, join - 1);

		/* not every row has a match */
		j->items = bms_add_member(j->items, item->number);
		j->is_whole = false;
	}
	return item;
}

static Const *
array_of(Oid type, Oid collation, Datum *values, bool *nulls, int n)
{
	int			lower = 1;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	return makeConst(get_array_type(type), -1, collation, -1,
					 PointerGetDatum(n == 0 ? construct_empty_array(type)
									 : construct_md_array(values, nulls, 1, &n, &lower, type, typlen, typbyval, typalign)),
					 false, false);
}

/* Makes a list of the values that the policy declares for a column, to be filled where it is used; NULL: there are none. */
static DpShadowItem *
declared_list(DpShadow *s, Var *column)
{
	Var		   *var = dp_shadow_level_var(s, column);
	DpSplitContext *cxt = s->level->cxt;
	DpColumnOrigin origin;
	DpShadowItem *item;
	DpColumn   *policy;

	if (var == NULL || !dp_trace_column(s->level->from.query, NULL, (Node *) var, &origin) || !origin.is_protected)
		return NULL;
	policy = dp_level_policy(s->level, origin.relid, origin.attnum,
							 dp_allowed_memory(s->level->dataset) - cxt->key_memory);
	if (!policy->has_keys || policy->keytype != column->vartype || policy->nkeys > DP_MAX_DECLARED_KEYS)
		return NULL;
	item = dp_shadow_add_list(s, column, NULL);
	item->policy = policy;
	item->listed = palloc0(sizeof(DpListedValue));
	item->listed->column = var;
	item->listed->null_listed = policy->null_key || origin.may_be_null;
	return item;
}

void
dp_shadow_fill_list(DpShadow *s, DpShadowItem *item)
{
	DpColumn   *policy = item->policy;
	DpSplitContext *cxt = s->level->cxt;
	Oid			type = item->column->vartype;
	Oid			collation = item->column->varcollid;
	int			n;
	bool		with_null;
	Datum	   *values;
	bool	   *nulls;

	if (item->values != NULL)
		return;
	n = policy->nkeys;
	with_null = policy->null_key && dp_shadow_may_be_null(s, (Node *) item->column);
	values = palloc_extended((n + 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	nulls = palloc0(n + 1);
	memcpy(values, policy->keys, n * sizeof(Datum));
	values[n] = (Datum) 0;
	nulls[n] = true;
	item->listed->list = array_of(type, collation, values, nulls, n);
	item->values = (Expr *) array_of(type, collation, values, nulls, n + with_null);
	cxt->keys += n;
	for (int i = 0; i < n; i++)
		cxt->key_memory += dp_key_memory(values[i], get_typbyval(type), get_typlen(type));
	if (cxt->key_memory > dp_allowed_memory(s->level->dataset))
		dp_refuse_keys(s->level->dataset, cxt->keys, true);
	pfree(values);
	pfree(nulls);
}

/* Makes a list of the array that a column is compared with by = ANY, in whose type its values are. */
static DpShadowItem *
compared_list(DpShadow *s, Var *column)
{
	foreach_ptr(DpShadowCondition, condition, s->conditions)
	{
		Node	   *array = bms_is_empty(condition->joins) ? dp_listed_in(condition->expr, column) : NULL;

		/* of numbers it is known what depends on their form */
		if (array == NULL || dp_has_columns(array = dp_strip_relabel(array)) || (has_forms((Node *) column) && column->vartype == BPCHAROID) ||
			getBaseType(get_element_type(exprType(array))) != exprType(linitial(((ScalarArrayOpExpr *) condition->expr)->args)))
			continue;
		return dp_shadow_add_list(s, column, (Expr *) array);
	}
	return NULL;
}

static Node *
list_var(DpShadowItem *item)
{
	Oid			type = item->policy || item->is_series ? item->column->vartype : get_element_type(exprType((Node *) item->values));
	Node	   *var = (Node *) makeVar(item->number, 1, type, -1, item->column->varcollid, 0);

	/* a varchar column's list may be of text */
	if (type != item->column->vartype)
		return (Node *) makeRelabelType((Expr *) var, item->column->vartype, -1, item->column->varcollid,
										COERCE_IMPLICIT_CAST);
	return var;
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

typedef struct ResolveContext
{
	DpShadow   *s;
	bool		with_lists;
	bool		unknown;
	Bitmapset  *items;			/* what is read */
	bool		form_matters;	/* an argument of what may tell spellings
								 * apart */
} ResolveContext;

/* Returns the member of its class that expr is known by: a public one, or else, constant, one without columns. */
static Node *
known_member(DpShadow *s, Node *expr, bool constant)
{
	DpShadowClass *class = class_of(s, expr);

	foreach_ptr(Node, member, class ? class->members : NIL)
	{
		if (!reads_private(s, member) && dp_has_columns(member) != constant)
			return member;
	}
	return NULL;
}

Node *
dp_shadow_known_by(DpShadow *s, Node *expr)
{
	return known_member(s, expr, false);
}

Node *
dp_shadow_constant(DpShadow *s, Node *expr)
{
	return known_member(s, expr, true);
}

/* Returns what a protected expression is known to be, but for its form; NULL: it is not known as a whole. */
static Node *
known_value(DpShadow *s, Node *expr, bool with_lists)
{
	Node	   *value = known_member(s, expr, false);
	Node	   *fits = NULL;
	DpShadowItem *list;

	if (value == NULL && IsA(expr, Var))
	{
		list = find_list(s, expr);
		if (list == NULL && with_lists)
			list = declared_list(s, (Var *) expr);
		if (list == NULL && with_lists && known_member(s, expr, true) == NULL)
			list = compared_list(s, (Var *) expr);
		if (list != NULL)
			return list_var(list);
	}
	if (value == NULL)
		value = known_member(s, expr, true);
	if (value == NULL)
		return NULL;
	value = copyObject(value);
	if (exprType(value) != exprType(expr))
		value = (Node *) makeRelabelType((Expr *) value, exprType(expr), -1, exprCollation(expr), COERCE_IMPLICIT_CAST);
	value = fit_value(value, expr, &fits);
	if (fits != NULL && !list_member(s->fits, fits))
	{
		s->fits = lappend(s->fits, fits);
		dp_shadow_add_condition(s, fits);
	}
	return value;
}

/*
 * Tells whether the form of an expression, labels aside, is all that may not be
 * known of it: it is known as a whole, or a number computed of such.
 */
static bool
is_formed(ResolveContext *c, Node *arg)
{
	List	   *numbers;

	check_stack_depth();
	arg = dp_strip_labels(arg);
	if (!reads_private(c->s, arg))
		return true;
	if (has_forms(arg) && known_value(c->s, arg, c->with_lists) != NULL)
		return true;
	numbers = dp_numbers_of_call(arg);
	foreach_ptr(Node, number, numbers)
	{
		if (has_forms(number) && !is_formed(c, number))
			return false;
	}
	return numbers != NIL;
}

static Node *resolve_parts(Node *node, ResolveContext *c);

/* Resolves an expression as a whole: what the conditions say that it is; NULL: nothing. */
static Node *
resolve_whole(Node *node, ResolveContext *c)
{
	Node	   *value = known_value(c->s, node, c->with_lists);

	if (value == NULL)
		return NULL;
	c->unknown |= c->form_matters && has_forms(node);
	c->items = bms_add_members(c->items, pull_varnos(NULL, value));
	return value;
}

static Node *
resolve_mutator(Node *node, ResolveContext *c)
{
	ResolveContext parts = *c;
	Node	   *value;

	if (node == NULL)
		return NULL;
	check_stack_depth();
	if (IsA(node, Var))
	{
		if (!dp_shadow_item(c->s, ((Var *) node)->varno)->is_private)
		{
			c->items = bms_add_member(c->items, ((Var *) node)->varno);
			return copyObject(node);
		}
		value = resolve_whole(node, c);
		if (value == NULL)
			value = dp_shadow_tell_cells(c->s, node, &c->items);
		c->unknown |= value == NULL;
		return value ? value : node;
	}

	/*
	 * an equality would say nothing of itself if both sides were taken for
	 * one another
	 */
	parts.unknown = false;
	value = resolve_parts(node, &parts);
	if (parts.unknown)
	{
		/* walkers do not know of CaseWhen by itself */
		Node	   *whole = IsA(node, CaseWhen) || IsA(node, List) || !reads_private(c->s, node) ? NULL
		: resolve_whole(node, c);

		if (whole == NULL)
			whole = dp_shadow_tell_cells(c->s, node, &c->items);
		c->unknown |= whole == NULL;
		return whole ? whole : value;
	}
	c->items = bms_add_members(c->items, parts.items);
	return value;
}

static Node *
resolve_parts(Node *node, ResolveContext *c)
{
	Node	   *result;
	bool		outer = c->form_matters;
	DpComparison compared;

	c->form_matters = !IsA(node, RelabelType) && !IsA(node, CollateExpr) && !IsA(node, BoolExpr);

	/*
	 * what compares takes all forms for the same, if both sides are such, or
	 * do not read what has forms
	 */
	if (IsA(node, NullTest))
		c->form_matters = !is_formed(c, (Node *) ((NullTest *) node)->arg);
	else if (dp_read_comparison(node, &compared))
		c->form_matters = !dp_compares_by_order(compared.opno, exprType(dp_strip_labels(compared.left))) || !is_formed(c, compared.left) ||
			(!compared.is_array && !is_formed(c, compared.right));

	/*
	 * a list of arguments is as what it is the list of; equal numbers make
	 * equal ones
	 */
	if (IsA(node, List) || dp_numbers_of_call(node) != NIL)
		c->form_matters = outer;
	result = expression_tree_mutator(node, resolve_mutator, c);
	c->form_matters = outer;
	return result;
}

Node *
dp_shadow_resolve(DpShadow *s, Node *expr, bool with_lists, Bitmapset **items)
{
	ResolveContext c = {.s = s, .with_lists = with_lists};
	Node	   *resolved = resolve_mutator(expr, &c);

	if (c.unknown)
		return NULL;
	*items = bms_add_members(*items, c.items);
	return resolved;
}

Node *
dp_shadow_resolve_condition(DpShadow *s, const DpShadowCondition *condition, Node *part, Bitmapset **items)
{
	return condition->by_cells ? dp_shadow_tell_cells(s, part, items) : dp_shadow_resolve(s, part, false, items);
}
