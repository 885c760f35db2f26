/*-------------------------------------------------------------------------
 *
 * planned_keys.c
 *	  The values of a key of which all is known while the query is planned.
 *
 * Lists are put together in all ways; of these the conditions leave some, for
 * each of which the key is evaluated.  Conditions that read anything else are
 * left out, as those that wait for the execution.
 *
 * Invariant: what is evaluated has the form in which it runs on rows, of
 * values in their canonical form.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "guard/describe/describe.h"
#include "guard/describe/forms.h"
#include "guard/describe/key_query.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* a list while its values are put together with those of others */
typedef struct PlannedList
{
	DpKeyQueryItem *item;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int			at;
} PlannedList;

/* the values of a key */
typedef struct PlannedValues
{
	DpKeyQuery *s;
	PlannedList *lists;
	int			nlists;
	Oid			type;
	int16		typlen;
	bool		typbyval;
	Datum	   *values;
	int			n;
	int			size;
	bool		has_null;
	int64		memory;
	int64		room;
} PlannedValues;

/* ------------------------------------------------------------------------
 * Expressions that may be evaluated
 * ------------------------------------------------------------------------
 */

/* Tells whether a function reads or writes times as text, which settings say how to, or is one that a superuser has added. */
static bool
is_of_session(Oid funcid, void *context)
{
	Oid		   *types;
	int			n = 0;
	bool		has_times = false;
	bool		has_strings = false;

	if (funcid < FirstGenbkiObjectId)
		return false;
	if (!dp_is_own(ProcedureRelationId, funcid))
		return true;
	for (int i = -1; i < n; i++)
	{
		TYPCATEGORY category = TypeCategory(i < 0 ? get_func_signature(funcid, &types, &n) : types[i]);

		has_times |= category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN;
		has_strings |= category == TYPCATEGORY_STRING;
	}
	return has_times && has_strings;
}

static DpWalk
calls_of_session(Node *node, int levels, void *context)
{
	return check_functions_in_node(node, is_of_session, context);
}

bool
dp_is_of_execution(Node *node)
{
	return dp_reads_param(node) || contain_mutable_functions(node) || dp_walk(node, calls_of_session, NULL);
}

/* Puts parameters in the place of lists. */
static Node *
put_params(Node *node, int levels, const PlannedValues *p)
{
	const Var  *var = (Var *) node;

	if (!IsA(node, Var))
		return NULL;
	for (int i = 0; i < p->nlists; i++)
		if (p->lists[i].item->number == var->varno)
			return (Node *) dp_make(Param, .paramkind = PARAM_EXTERN, .paramid = i + 1, .paramtype = var->vartype,
									.paramtypmod = var->vartypmod, .paramcollid = var->varcollid, .location = -1);
	elog(ERROR, "a key reads what is no list");
}

/* Reads the lists of a part; returns false if it has anything else, or is long: a query leaves out equal keys as it finds them. */
static bool
read_lists(PlannedValues *p, int part)
{
	double		tuples = 1;

	p->lists = palloc0(list_length(p->s->items) * sizeof(PlannedList));
	foreach_ptr(DpKeyQueryItem, item, p->s->items)
	{
		PlannedList *list = &p->lists[p->nlists];
		Const	   *array;
		int16		typlen;
		bool		typbyval;
		char		typalign;
		Oid			type;

		if (!item->is_included || item->part != part)
			continue;
		if (item->rte == NULL)
			dp_key_query_fill_list(p->s, item);
		if (item->rte != NULL || item->is_series || dp_is_of_execution((Node *) item->values) ||
			(!IsA(item->values, Const) && dp_is_unfoldable((Node *) item->values, NULL)))
			return false;
		array = IsA(item->values, Const) ? (Const *) item->values : dp_fold((Node *) item->values);
		if (!array->constisnull)
		{
			type = get_element_type(array->consttype);
			get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
			deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, typlen, typbyval, typalign, &list->values,
							  &list->nulls, &list->n);
		}
		/* a row of an outer join may be missing */
		if (!bms_is_empty(item->joins))
		{
			list->values = list->n == 0 ? palloc(sizeof(Datum)) : repalloc_huge(list->values, (list->n + 1) * sizeof(Datum));
			list->nulls = list->n == 0 ? palloc(1) : repalloc(list->nulls, list->n + 1);
			list->values[list->n] = (Datum) 0;
			list->nulls[list->n++] = true;
		}
		list->item = item;
		tuples *= list->n;
		p->nlists++;
	}
	/* declared keys, and NULL */
	return tuples <= (p->nlists > 1 ? DP_MAX_KEY_RANGE : DP_MAX_DECLARED_KEYS + 1);
}

/* Returns the conditions of a part that are known by now, over parameters. */
static List *
known_tests(const PlannedValues *p, int part)
{
	List	   *tests = NIL;

	foreach_ptr(DpKeyQueryCondition, condition, p->s->conditions)
	{
		int			first = bms_next_member(condition->items, -1);

		if (condition->is_included && bms_is_empty(condition->joins) &&
			(first < 0 || dp_key_query_item(p->s, first)->part == part) && !dp_is_of_execution(condition->resolved))
			tests = lappend(tests, dp_put(condition->resolved, put_params, p));
	}
	return tests;
}

/* ------------------------------------------------------------------------
 * Evaluation
 * ------------------------------------------------------------------------
 */

/* Goes on to the next values of the lists, which params are; returns false where there are no more. */
static bool
next_values(PlannedValues *p, ParamListInfo params)
{
	int			i = 0;

	while (i < p->nlists && ++p->lists[i].at >= p->lists[i].n)
		p->lists[i++].at = 0;
	for (int j = 0; j < p->nlists; j++)
	{
		params->params[j].value = p->lists[j].values[p->lists[j].at];
		params->params[j].isnull = p->lists[j].nulls[p->lists[j].at];
	}
	return i < p->nlists;
}

/* Adds a value of the key; ZC002 where there is no room for it. */
static void
add_value(PlannedValues *p, Datum value, bool isnull, MemoryContext context)
{
	MemoryContext old;

	if (isnull)
	{
		p->has_null = true;
		return;
	}
	p->memory += dp_key_memory(value, p->typbyval, p->typlen);
	if (p->memory > p->room)
		dp_refuse_keys(p->s->level->dataset, p->s->level->cxt->keys + p->n, true);
	old = MemoryContextSwitchTo(context);
	if (p->n >= p->size)
	{
		p->size = Max(16, 2 * p->size);
		p->values = p->values ? repalloc_huge(p->values, p->size * sizeof(Datum)) : palloc(p->size * sizeof(Datum));
	}
	p->values[p->n++] = datumCopy(value, p->typbyval, p->typlen);
	MemoryContextSwitchTo(old);
}

/* Evaluates the key where all tests are true. */
static void
evaluate(PlannedValues *p, Node *key, List *tests)
{
	MemoryContext context = CurrentMemoryContext;
	EState	   *estate;
	ExprContext *econtext;
	ParamListInfo params;
	ExprState  *qual;
	ExprState  *value;

	/* as most keys are: a list */
	if (tests == NIL && p->nlists == 1 && IsA(key, Param))
	{
		for (int i = 0; i < p->lists[0].n; i++)
			add_value(p, p->lists[0].values[i], p->lists[0].nulls[i], context);
		return;
	}
	estate = CreateExecutorState();
	econtext = GetPerTupleExprContext(estate);
	params = makeParamList(p->nlists);
	for (int i = 0; i < p->nlists; i++)
	{
		if (p->lists[i].n == 0)
			return;
		params->params[i].ptype = get_element_type(exprType((Node *) p->lists[i].item->values));
		params->params[i].value = p->lists[i].values[0];
		params->params[i].isnull = p->lists[i].nulls[0];
	}
	econtext->ecxt_param_list_info = params;
	qual = ExecPrepareQual(tests, estate);
	value = ExecPrepareExpr((Expr *) key, estate);
	do
	{
		Datum		datum;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		if (!ExecQual(qual, econtext))
			continue;
		datum = ExecEvalExprSwitchContext(value, econtext, &isnull);
		add_value(p, datum, isnull, context);
	} while (next_values(p, params));
	FreeExecutorState(estate);
}

Const *
dp_key_query_values(DpKeyQuery *s, Node *expr, int part, bool *null_key)
{
	PlannedValues p = {.s = s, .type = exprType(expr)};
	DpSplitContext *cxt = s->level->cxt;
	TypeCacheEntry *type = lookup_type_cache(p.type, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC);
	int64		keys = cxt->keys;
	int64		memory = cxt->key_memory;
	Const	   *array = NULL;

	/* release/ looks values up by their hash */
	if (!OidIsValid(type->eq_opr) || !OidIsValid(type->cmp_proc) || !OidIsValid(type->hash_proc) || dp_is_of_execution(expr))
		return NULL;
	if (read_lists(&p, part))
	{
		get_typlenbyval(p.type, &p.typlen, &p.typbyval);
		p.room = dp_allowed_memory(s->level->dataset) - memory;
		evaluate(&p, dp_put(expr, put_params, &p), known_tests(&p, part));
		p.n = dp_sort_keys(p.type, exprCollation(expr), p.values, p.n);
		if (p.n <= DP_MAX_DECLARED_KEYS)
			array = makeConst(get_array_type(p.type), -1, exprCollation(expr), -1,
							  PointerGetDatum(construct_array(p.values, p.n, p.type, p.typlen, p.typbyval, type->typalign)), false, false);
	}
	cxt->keys = keys;
	cxt->key_memory = memory;
	*null_key = p.has_null;
	for (int i = 0; i < p.n && array != NULL; i++)
	{
		cxt->keys++;
		cxt->key_memory += dp_key_memory(p.values[i], p.typbyval, p.typlen);
	}
	return array;
}
