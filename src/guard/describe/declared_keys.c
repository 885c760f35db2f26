/*-------------------------------------------------------------------------
 *
 * declared_keys.c
 *	  Which values a key can have.
 *
 * Invariant: nothing here depends on rows of protected tables.  Values come
 * from the policy, from tables that are not protected and that who asks may
 * read, and from the text of the query.  The release shows every one of them,
 * with noise around 0 where no row has it, and shows no other; so which of
 * them the protected rows have is not told.
 *
 * A list that is too small costs rows, which are left out, and one that is
 * too large shows empty groups; neither costs privacy.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/collations.h"
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/key_values.h"
#include "guard/describe/time_cells.h"
#include "guard/read/read.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

/*
 * Returns the column of a table that is not protected, also if its rows are
 * prefetched or come from a subquery, which may leave some out.  Behind a view
 * the caller need not be able to read the table, so its values are not
 * declared; PostgreSQL checks the view's owner.
 */
static DpColumn *
public_column(DpLevel *level, Var *var, DpColumnOrigin *origin, int64 room)
{
	RangeTblEntry *rte;
	Oid			reader;

	if (!dp_trace_column(level->query, NULL, (Node *) var, origin) || origin->is_protected)
		return NULL;
	rte = rt_fetch(var->varno, level->query->rtable);
	if (rte->rtekind != RTE_RELATION && OidIsValid(origin->check_as_user))
		return NULL;
	reader = OidIsValid(origin->check_as_user) ? origin->check_as_user : GetUserId();
	return dp_policy_public_column(origin->relid, origin->attnum, origin->inherit, reader, room);
}

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

/* Adds the keys that are declared for a column of this type. */
static bool
add_policy(DpColumn *column, Oid type, DpKeyValues *keys)
{
	/* conditions may tell of fewer */
	if (column->too_large && column->keytype == type)
		keys->beyond = keys->n + column->nkeys;
	if (!column->has_keys || column->keytype != type)
		return false;
	dp_key_values_add_list(keys, column->keys, column->nkeys);
	keys->null_key |= column->null_key;
	return true;
}

/* Adds the values that a column, which comes from a set operation, has in one of its operands. */
static bool
add_operand(DpLevel *level, DpColumnSource *source, DpKeyValues *keys)
{
	DpColumnOrigin origin;
	DpColumn   *column;
	Const	   *constant;

	if (!dp_is_unfoldable(source->expr, NULL))
	{
		constant = dp_fold(source->expr);
		if (constant->constisnull)
			keys->null_key = true;
		else
			dp_key_values_add(keys, constant->constvalue);
	}
	else
	{
		if (!dp_trace_column(source->scope->query, source->scope, source->expr, &origin) || !origin.is_protected)
			return false;
		column = dp_level_policy(level, origin.relid, origin.attnum, keys->room - keys->memory);
		if (!add_policy(column, exprType(source->expr), keys))
			return false;
		keys->null_key |= origin.may_be_null;
	}
	keys->null_key |= source->may_be_null;
	return true;
}

static bool
add_operands(DpLevel *level, List *sources, Oid type, DpKeyValues *keys)
{
	foreach_ptr(DpColumnSource, source, sources)
	{
		if (exprType(source->expr) != type || !add_operand(level, source, keys))
			return false;
	}
	return sources != NIL;
}

static bool
add_column(DpLevel *level, Var *var, DpKeyValues *keys)
{
	List	   *sources = dp_column_sources(level->from.query, NULL, (Node *) var);
	DpColumnOrigin origin;
	DpColumn   *column;
	int64		room = keys->room - keys->memory;

	if (sources != NIL)
		return add_operands(level, sources, var->vartype, keys);
	if ((dp_trace_column(level->from.query, NULL, (Node *) var, &origin) || trace_taken(level->from.query, var, &origin)) &&
		origin.is_protected)

		/*
		 * who asks, not a view's owner: what the view shows is not what the
		 * key refers to
		 */
		column = dp_level_policy(level, origin.relid, origin.attnum, room);
	else
		column = public_column(level, var, &origin, room);
	if (column == NULL || !add_policy(column, var->vartype, keys))
		return false;
	if (origin.may_be_null)
		keys->null_key = true;
	return true;
}

/* ------------------------------------------------------------------------
 * Functions of few values
 * ------------------------------------------------------------------------
 */

/* Adds the results of a function that has few. */
static bool
add_results(DpLevel *level, FuncExpr *call, DpKeyValues *keys)
{
	Const	   *constant;
	const DpTimeField *field;
	int			last_hour = HOURS_PER_DAY - 1;

	switch (call->funcid)
	{
		case F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4:
		case F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4:
			return dp_add_width_buckets(level, call, keys);
		case F_EXTRACT_TEXT_TIME:
		case F_DATE_PART_TEXT_TIME:
			/* 24:00 is a time of the day */
			last_hour = HOURS_PER_DAY;
			break;
		case F_EXTRACT_TEXT_DATE:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_DATE:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
			break;
		default:
			return false;
	}
	constant = dp_constant_argument(call, 0);
	if (constant == NULL)
		return false;
	field = dp_time_field_of_name(TextDatumGetCString(constant->constvalue));
	if (field == NULL || field->lowest == NULL)
		return false;
	keys->null_key |= !dp_expression_never_null(level, (Node *) call);
	return dp_key_values_add_range(keys, atoi(field->lowest), field->field == DTK_HOUR ? last_hour : atoi(field->highest));
}

/* ------------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------------
 */

static bool add_values(DpLevel *level, Node *expr, DpKeyValues *keys);

/* Adds the values of a part that the key may be equal to, without those that conditions exclude. */
static bool
add_part(DpLevel *level, Node *part, DpKeyValues *keys)
{
	bool		null_before = keys->null_key;
	int			before = keys->n;
	DpKeyValues added;

	keys->null_key = false;
	if (!add_values(level, part, keys))
		return false;
	added = *keys;
	added.values += before;
	added.n -= before;
	dp_key_values_restrict(&added, part, level);
	keys->n = before + added.n;
	keys->null_key = null_before || added.null_key;
	return true;
}

static bool
add_cases(DpLevel *level, CaseExpr *cases, DpKeyValues *keys)
{
	foreach_node(CaseWhen, when, cases->args)
	{
		if (!add_part(level, (Node *) when->result, keys))
			return false;
	}
	if (cases->defresult == NULL)
	{
		keys->null_key = true;
		return true;
	}
	return add_part(level, (Node *) cases->defresult, keys);
}

/* Adds the values of arguments up to one that is never NULL: a column whose declared keys are without NULL may still have NULLs. */
static bool
add_coalesced(DpLevel *level, CoalesceExpr *coalesce, DpKeyValues *keys)
{
	bool		null_before = keys->null_key;
	bool		null_everywhere = true;

	foreach_ptr(Node, arg, coalesce->args)
	{
		keys->null_key = false;
		if (!add_part(level, arg, keys))
			return false;
		null_everywhere &= keys->null_key;
		if (dp_expression_never_null(level, arg))
			break;
	}
	keys->null_key = null_before || null_everywhere;
	return true;
}

/* Adds the values of expr, which is of the list's type but for a relabelling. */
static bool
add_values(DpLevel *level, Node *expr, DpKeyValues *keys)
{
	bool		known = false;

	check_stack_depth();
	if (!dp_is_unfoldable(expr, NULL))
	{
		Const	   *constant = dp_fold(expr);

		if (constant->constisnull)
			keys->null_key = true;
		else
			dp_key_values_add(keys, constant->constvalue);
		return true;
	}
	switch (nodeTag(expr))
	{
		case T_Var:
			known = add_column(level, (Var *) expr, keys);
			break;
		case T_RelabelType:
			known = add_values(level, (Node *) ((RelabelType *) expr)->arg, keys);
			break;
		case T_CollateExpr:
			known = add_values(level, (Node *) ((CollateExpr *) expr)->arg, keys);
			break;
		case T_CaseExpr:
			known = add_cases(level, (CaseExpr *) expr, keys);
			break;
		case T_CoalesceExpr:
			known = add_coalesced(level, (CoalesceExpr *) expr, keys);
			break;
		case T_FuncExpr:
			known = add_results(level, (FuncExpr *) expr, keys);
			break;
		default:
			break;
	}
	if (!known && exprType(expr) == BOOLOID)
	{
		dp_key_values_add(keys, BoolGetDatum(false));
		dp_key_values_add(keys, BoolGetDatum(true));
		keys->null_key |= !dp_expression_never_null(level, expr);
		known = true;
	}
	return known;
}

/* ------------------------------------------------------------------------
 * Columns that are equal to the key
 * ------------------------------------------------------------------------
 */

/*
 * Returns the other side of a condition that holds only where key has exactly
 * the value of another column, else NULL.
 */
static Node *
equated_with(Node *condition, Node *key)
{
	Node	   *left,
			   *right;

	if (!dp_is_equality(condition, &left, &right) || exprType(left) != exprType(right) || !IsA(left, Var) || !IsA(right, Var))
		return NULL;
	return equal(left, key) ? right : equal(right, key) ? left : NULL;
}

/* Adds the values of a column that the key is joined on; NULL is equal to none. */
static bool
add_equated(DpLevel *level, Node *key, DpKeyValues *keys)
{
	key = dp_strip_relabel(key);
	foreach_ptr(Node, condition, level->conditions)
	{
		Node	   *other = equated_with(condition, key);

		if (other != NULL && add_values(level, other, keys))
		{
			keys->null_key = false;
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------------
 * Entry point
 * ------------------------------------------------------------------------
 */

static Const *
array_const(DpKeyValues *keys)
{
	TypeCacheEntry *type = lookup_type_cache(keys->type, 0);
	ArrayType  *array = construct_array(keys->values, keys->n, keys->type,
										type->typlen, type->typbyval, type->typalign);

	return makeConst(get_array_type(keys->type), -1, keys->collation, -1,
					 PointerGetDatum(array), false, false);
}

/* Collects the values of a key, in canonical order; returns false if they are not known. */
static bool
collect_values(DpLevel *level, DpReleaseKey *key, Node *expr, DpKeyValues *keys)
{
	dp_key_values_start(keys, key, level);
	if (!add_values(level, expr, keys) && !add_equated(level, expr, keys))
	{
		keys->n = 0;
		keys->memory = 0;
		keys->null_key = false;
		if (!dp_key_values_from_conditions(keys, expr, level->conditions))
		{
			if (keys->beyond >= 0)
				dp_key_values_refuse(keys, keys->beyond);
			return false;
		}
	}
	keys->n = dp_sort_keys(keys->type, keys->collation, keys->values, keys->n);
	return keys->n <= DP_MAX_DECLARED_KEYS;
}

/* Counts the values of a key among what the statement holds. */
static void
count_values(const DpKeyValues *keys)
{
	DpSplitContext *cxt = keys->level->cxt;

	cxt->keys += keys->n;
	for (int i = 0; i < keys->n; i++)
		cxt->key_memory += dp_key_memory(keys->values[i], keys->typbyval, keys->typlen);
}

DpKeySet *
dp_declare_key_values(DpLevel *level, DpReleaseKey *key, Node *expr)
{
	TypeCacheEntry *type = lookup_type_cache(key->type, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC |
											 TYPECACHE_HASH_PROC);
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext scratch;
	DpKeyValues keys;
	DpKeySet   *set = NULL;
	bool		known;

	dp_imply_bucket_conditions(level, expr);
	/* release/ looks values up by their hash */
	if (!OidIsValid(type->eq_opr) || !OidIsValid(type->cmp_proc) || !OidIsValid(type->hash_proc))
		return NULL;
	scratch = AllocSetContextCreate(caller, "dp_cdp declared keys", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(scratch);
	known = collect_values(level, key, expr, &keys);
	MemoryContextSwitchTo(caller);
	if (known)
	{
		dp_key_values_restrict(&keys, expr, level);
		set = dp_make_key_set();
		set->domain = array_const(&keys);
		set->null_key = keys.null_key && !dp_expression_never_null(level, expr);
		count_values(&keys);
	}
	MemoryContextDelete(scratch);
	return set;
}
