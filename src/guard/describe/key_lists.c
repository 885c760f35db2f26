/*-------------------------------------------------------------------------
 *
 * key_lists.c
 *	  Lists of the values that expressions of a level can have.
 *
 * They come from the policy, from conditions that compare an expression with
 * constants, and from what is known of functions that have few results.
 *
 * Invariants:
 * - A list depends on the text of the query and on the policy, never on rows.
 * - A row that satisfies the conditions has a value of the list, or one that is
 *	 not declared, of which there is no group.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "base/collations.h"
#include "base/compat.h"
#include "base/walk.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/forms.h"
#include "guard/describe/key_query.h"
#include "guard/describe/time_cells.h"
#include "guard/facts/facts.h"
#include "guard/facts/lists.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

/* ------------------------------------------------------------------------
 * Arrays and lists
 * ------------------------------------------------------------------------
 */

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

/* Returns an integer, or a day, as a value of a type; false: it has no such. */
static bool
whole_value(Oid type, int64 whole, Datum *value)
{
	switch (type)
	{
		case INT2OID:
			*value = Int16GetDatum((int16) whole);
			return whole >= PG_INT16_MIN && whole <= PG_INT16_MAX;
		case INT4OID:
			*value = Int32GetDatum((int32) whole);
			return whole >= PG_INT32_MIN && whole <= PG_INT32_MAX;
		case INT8OID:
			*value = Int64GetDatum(whole);
			return true;
		case FLOAT8OID:
			*value = Float8GetDatum((double) whole);
			return true;
		case NUMERICOID:
			*value = NumericGetDatum(int64_to_numeric(whole));
			return true;
		case DATEOID:
			*value = DateADTGetDatum((DateADT) whole);
			return whole >= PG_INT32_MIN && whole <= PG_INT32_MAX &&
				(IS_VALID_DATE((DateADT) whole) || DATE_NOT_FINITE((DateADT) whole));
		default:
			return false;
	}
}

Const *
dp_range_array(Oid type, int64 first, int64 last, bool with_null)
{
	Datum	   *values;
	bool	   *nulls;
	int			n = 0;

	/* the difference may not fit an int64 */
	if (first <= last && (uint64) last - (uint64) first >= DP_MAX_KEY_RANGE)
		return NULL;
	values = palloc((Max(last - first, 0) + 2) * sizeof(Datum));
	nulls = palloc0(Max(last - first, 0) + 2);
	for (int64 i = first; i <= last; i++)
	{
		n += whole_value(type, i, &values[n]);
		if (i == PG_INT64_MAX)
			break;
	}
	if (with_null)
	{
		values[n] = (Datum) 0;
		nulls[n++] = true;
	}
	return array_of(type, InvalidOid, values, nulls, n);
}

DpKeyQueryItem *
dp_key_query_add_list(DpKeyQuery *s, Node *expr, Expr *values)
{
	DpKeyQueryItem *item = dp_key_query_add_item(s);
	int			join = -1;

	item->values = values;
	if (!IsA(expr, Var))
	{
		item->column = makeVar(item->number, 1, exprType(expr), exprTypmod(expr), exprCollation(expr), 0);
		item->of = copyObject(expr);
		return item;
	}
	item->column = (Var *) expr;
	item->joins = dp_key_query_item(s, item->column->varno)->joins;
	while ((join = bms_next_member(item->joins, join)) >= 0)
	{
		DpKeyQueryJoin *j = list_nth(s->joins, join - 1);

		/* not every row has a match */
		j->items = bms_add_member(j->items, item->number);
		j->is_whole = false;
	}
	return item;
}

DpKeyQueryItem *
dp_key_query_find_list(DpKeyQuery *s, Node *expr)
{
	foreach_ptr(DpKeyQueryItem, item, s->items)
	{
		if (item->column != NULL && equal(item->of ? item->of : (Node *) item->column, expr))
			return item;
	}
	return NULL;
}

Node *
dp_key_query_list_var(const DpKeyQueryItem *item)
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
 * Declared values
 * ------------------------------------------------------------------------
 */

/*
 * Traces a column that has the value which another row of the unit has in a
 * table's column, or NULL: lag() of it, its first_value() and so on.
 */
static bool
trace_taken(Query *query, Var *var, DpColumnOrigin *origin)
{
	RangeTblEntry *rte = rt_fetch(var->varno, query->rtable);
	TargetEntry *tle = rte->rtekind == RTE_SUBQUERY && var->varattno > 0 ? get_tle_by_resno(rte->subquery->targetList, var->varattno) : NULL;
	WindowFunc *function = tle ? (WindowFunc *) tle->expr : NULL;
	Var		   *column;

	check_stack_depth();
	if (function == NULL || tle->resjunk || rte->subquery->setOperations)
		return false;
	if (IsA(function, Var))
		return trace_taken(rte->subquery, (Var *) function, origin);
	/* a third argument is another value */
	if (!IsA(function, WindowFunc) || function->winagg || function->winfnoid == F_NTILE || function->args == NIL ||
		list_length(function->args) > 2 || !IsA(linitial(function->args), Var))
		return false;
	column = linitial(function->args);
	if (!dp_trace_column(rte->subquery, NULL, (Node *) column, origin) && !trace_taken(rte->subquery, column, origin))
		return false;
	origin->may_be_null = true;
	return origin->is_protected;
}

/* Makes a list of the values that the policy declares for a column, to be filled where it is used; NULL: there are none. */
static DpKeyQueryItem *
declared_list(DpKeyQuery *s, Var *column)
{
	Var		   *var = dp_key_query_level_var(s, column);
	Query	   *query = s->level->from.query;
	DpColumnOrigin origin;
	DpKeyQueryItem *item;
	DpColumn   *policy;

	if (var == NULL || (!dp_trace_column(query, NULL, (Node *) var, &origin) && !trace_taken(query, var, &origin)) ||
		!origin.is_protected)
		return NULL;
	policy = dp_level_policy(s->level, origin.relid, origin.attnum,
							 dp_allowed_memory(s->level->dataset) - s->level->cxt->key_memory);
	if (policy->too_large && policy->keytype == column->vartype)
	{
		s->beyond = column;
		s->nbeyond = policy->nkeys;
	}
	if (!policy->has_keys || policy->keytype != column->vartype || policy->nkeys > DP_MAX_DECLARED_KEYS)
		return NULL;
	item = dp_key_query_add_list(s, (Node *) column, NULL);
	item->policy = policy;
	item->listed = palloc0(sizeof(DpListedValue));
	item->listed->column = var;
	item->listed->null_listed = policy->null_key || origin.may_be_null;
	return item;
}

void
dp_key_query_fill_list(DpKeyQuery *s, DpKeyQueryItem *item)
{
	DpColumn   *policy = item->policy;
	DpSplitContext *cxt = s->level->cxt;
	Oid			type = item->column->vartype;
	Oid			collation = item->column->varcollid;
	int			n;
	int16		typlen;
	bool		typbyval;
	bool		with_null;
	Datum	   *values;
	bool	   *nulls;

	if (item->values != NULL)
		return;
	n = policy->nkeys;
	with_null = (policy->null_key || (bms_is_empty(item->joins) && item->listed->null_listed)) &&
		dp_key_query_may_be_null(s, (Node *) item->column);
	values = palloc_extended((n + 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	nulls = palloc0(n + 1);
	memcpy(values, policy->keys, n * sizeof(Datum));
	values[n] = (Datum) 0;
	nulls[n] = true;
	item->listed->list = array_of(getBaseType(type), collation, values, nulls, n);
	item->values = (Expr *) (with_null || type != getBaseType(type) ? array_of(type, collation, values, nulls, n + with_null) : item->listed->list);
	get_typlenbyval(type, &typlen, &typbyval);
	cxt->keys += n;
	for (int i = 0; i < n; i++)
		cxt->key_memory += dp_key_memory(values[i], typbyval, typlen);
	if (cxt->key_memory > dp_allowed_memory(s->level->dataset))
		dp_refuse_keys(s->level->dataset, cxt->keys, true);
	pfree(values);
	pfree(nulls);
}

/*
 * Its rows may be prefetched or come from a subquery, which may leave some out.
 * Behind a view the caller need not be able to read the table, so that its
 * values are not told; PostgreSQL checks the view's owner.
 */
DpKeyQueryItem *
dp_key_query_list_public(DpKeyQuery *s, Var *column)
{
	Query	   *query = s->level->query;
	DpKeyQueryItem *item = dp_key_query_find_list(s, (Node *) column);
	Var		   *var = item == NULL ? dp_key_query_level_var(s, column) : NULL;
	DpColumnOrigin origin;
	DpColumn   *policy;

	if (var == NULL || !dp_trace_column(query, NULL, (Node *) var, &origin) || origin.is_protected ||
		(rt_fetch(var->varno, query->rtable)->rtekind != RTE_RELATION && OidIsValid(origin.check_as_user)))
		return item;
	policy = dp_policy_public_column(origin.relid, origin.attnum, origin.inherit,
									 OidIsValid(origin.check_as_user) ? origin.check_as_user : GetUserId(),
									 dp_allowed_memory(s->level->dataset) - s->level->cxt->key_memory);
	if (!policy->has_keys || policy->keytype != column->vartype || policy->nkeys > DP_MAX_DECLARED_KEYS)
		return NULL;
	item = dp_key_query_add_list(s, (Node *) column, NULL);
	item->policy = policy;
	item->listed = palloc0(sizeof(DpListedValue));
	return item;
}

/* ------------------------------------------------------------------------
 * Values that conditions list
 * ------------------------------------------------------------------------
 */

/* Adds a constant as one of the type of an expression that it is compared with, if any of that is equal; returns false if that is not known. */
static bool
add_compared(List **values, Node *constant, Oid type)
{
	Oid			from = exprType(constant);
	Const	   *known = dp_is_unfoldable(constant, NULL) ? NULL : dp_fold(constant);
	int64		whole;
	Datum		value;

	if (known != NULL && known->constisnull)
		return true;
	if (from == type)
	{
		*values = lappend(*values, known ? (Node *) known : constant);
		return true;
	}
	if (known == NULL)
		return false;
	if (from != DATEOID && dp_get_whole(known->constvalue, from, &whole))
	{
		if (!whole_value(type, whole, &value))
			return true;
	}
	else if (from == FLOAT8OID && type == FLOAT4OID)
	{
		float8		wide = DatumGetFloat8(known->constvalue);

		/* no row has what float4 cannot hold */
		if ((float8) (float4) wide != wide && !isnan(wide))
			return true;
		value = Float4GetDatum((float4) wide);
	}
	else if (from == FLOAT4OID && type == FLOAT8OID)
		value = Float8GetDatum((float8) DatumGetFloat4(known->constvalue));
	else
		return false;
	*values = lappend(*values, makeConst(type, -1, InvalidOid, get_typlen(type), value, false, get_typbyval(type)));
	return true;
}

/* Adds to values those with which expr can satisfy a comparison; returns false if they are not known. */
static bool
compared_values(Node *node, Node *expr, List **values)
{
	DpComparison c;
	List	   *elements;

	if (!dp_read_comparison(node, &c) || c.is_distinct || !c.is_any || !dp_is_deterministic(c.collation))
		return false;
	if (!equal(dp_strip_labels(c.left), expr))
		dp_turn_comparison(&c);
	if (!equal(dp_strip_labels(c.left), expr) || dp_strategy_of(c.opno, exprType(expr)) != BTEqualStrategyNumber ||
		dp_has_columns(c.right) || contain_volatile_functions(c.right))
		return false;
	if (!c.is_array)
		elements = list_make1(c.right);
	else if (!dp_list_elements(dp_is_unfoldable(c.right, NULL) ? c.right : (Node *) dp_fold(c.right), INT_MAX, &elements))
		return false;
	foreach_ptr(Node, element, elements)
	{
		if (!add_compared(values, element, exprType(c.left)))
			return false;
	}
	return true;
}

/* Adds the values that one condition names; IS NULL names NULL. */
static bool
find_values(Node *condition, Node *expr, List **values)
{
	NullTest   *test = (NullTest *) condition;
	List	   *found = NIL;

	check_stack_depth();
	if (IsA(condition, NullTest) && test->nulltesttype == IS_NULL && !test->argisrow && equal(dp_strip_labels((Node *) test->arg), expr))
	{
		*values = lappend(*values, makeNullConst(exprType((Node *) test->arg), -1, exprCollation((Node *) test->arg)));
		return true;
	}
	if (!is_andclause(condition) && !is_orclause(condition))
		return compared_values(condition, expr, values);
	foreach_ptr(Node, arg, ((BoolExpr *) condition)->args)
	{
		bool		is_known = find_values(arg, expr, &found);

		if (is_known == is_andclause(condition))
		{
			*values = is_known ? list_concat(*values, found) : *values;
			return is_known;
		}
	}
	*values = list_concat(*values, found);
	return is_orclause(condition);
}

/* The list is of the type in which it is compared. */
DpKeyQueryItem *
dp_key_query_list_asked(DpKeyQuery *s, Node *expr)
{
	/* of numbers it is known what depends on how they are written */
	if (exprType(expr) == BPCHAROID && exprTypmod(expr) < (int32) VARHDRSZ)
		return NULL;
	foreach_ptr(DpKeyQueryCondition, condition, s->conditions)
	{
		List	   *values = NIL;
		DpComparison in;
		Node	   *array;
		Oid			type;

		if (!bms_is_empty(condition->joins) || condition->splits_cells)
			continue;
		/* what is known when the query runs */
		if (dp_read_list(condition->expr, expr, &in) && !dp_has_columns(array = dp_strip_relabel(in.right)) &&
			!contain_volatile_functions(array) && getBaseType(get_element_type(exprType(array))) == exprType(in.left))
			;
		else if (find_values(condition->expr, expr, &values))
		{
			type = values ? exprType(linitial(values)) : exprType(expr);
			foreach_ptr(Node, value, values)
				if (exprType(value) != type)
				type = InvalidOid;
			if (!OidIsValid(get_array_type(type)))
				continue;
			array = (Node *) dp_make(ArrayExpr, .array_typeid = get_array_type(type), .array_collid = exprCollation(expr),
									 .element_typeid = type, .elements = values, .location = -1);
			if (!dp_is_unfoldable(array, NULL))
				array = (Node *) dp_fold(array);
		}
		else
			continue;
		return dp_key_query_add_list(s, expr, (Expr *) array);
	}
	return NULL;
}

DpKeyQueryItem *
dp_key_query_make_list(DpKeyQuery *s, Node *expr, bool is_asked)
{
	DpKeyQueryItem *list = IsA(expr, Var) ? declared_list(s, (Var *) expr) : NULL;

	return list == NULL && is_asked ? dp_key_query_list_asked(s, expr) : list;
}

/* ------------------------------------------------------------------------
 * Expressions of few results
 * ------------------------------------------------------------------------
 */

/* Finds the values of a field of a time, extract(hour FROM t); false: node is another, or these are many. */
static bool
field_ends(Node *node, int64 *first, int64 *last)
{
	List	   *args;
	DpFunctionKind kind = dp_call_kind(node, &args);
	Const	   *name = kind == DP_KIND_extract || kind == DP_KIND_date_part ? (Const *) linitial(args) : NULL;
	Oid			type = name ? exprType(lsecond(args)) : InvalidOid;
	const DpTimeField *field;

	if (name == NULL || dp_is_unfoldable((Node *) name, NULL) || (type != TIMEOID && type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID))
		return false;
	name = dp_fold((Node *) name);
	field = name->constisnull ? NULL : dp_time_field_of_name(TextDatumGetCString(name->constvalue));
	if (field == NULL || field->lowest == NULL)
		return false;
	*first = atoi(field->lowest);
	/* 24:00 is a time of the day */
	*last = field->field == DTK_HOUR && type != TIMEOID ? HOURS_PER_DAY - 1 : atoi(field->highest);
	return true;
}

DpKeyQueryItem *
dp_key_query_list_range(DpKeyQuery *s, Node *expr, int most)
{
	Oid			type = exprType(expr);
	int64		first;
	int64		last;

	if (type != INT2OID && type != INT4OID && type != INT8OID && type != DATEOID)
		return NULL;
	if (!dp_find_range(dp_key_query_where(s), dp_strip_labels(expr), &first, &last) || (last >= first && (uint64) last - (uint64) first >= most))
		return NULL;
	return dp_key_query_add_list(s, expr, (Expr *) dp_range_array(type, first, last, false));
}

DpKeyQueryItem *
dp_key_query_list_results(DpKeyQuery *s, Node *expr)
{
	Oid			type = exprType(expr);
	bool		with_null = dp_key_query_may_be_null(s, expr);
	Datum		truth[] = {BoolGetDatum(false), BoolGetDatum(true), (Datum) 0};
	bool		nulls[] = {false, false, true};
	int64		first;
	int64		last;

	if (bms_is_empty(pull_varnos(NULL, expr)) || contain_volatile_functions(expr) || dp_reads_case(expr))
		return NULL;
	if (type == BOOLOID)
		return dp_key_query_add_list(s, expr, (Expr *) array_of(type, InvalidOid, truth, nulls, with_null ? 3 : 2));
	if (field_ends(expr, &first, &last))
		return dp_key_query_add_list(s, expr, (Expr *) dp_range_array(type, first, last, with_null));
	return dp_key_query_list_range(s, expr, DP_MAX_KEY_RANGE);
}
