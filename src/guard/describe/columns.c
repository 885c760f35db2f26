/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  What a level releases: its keys and its private aggregates.
 *
 * Every expression over protected columns passes the allow-list here and
 * leaves in the form in which it is safe to run.  What is released is
 * described in the DpRelease, what is computed in the DpInnerParts; the two
 * have their keys and columns in the same order.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/walk.h"
#include "guard/describe/describe.h"
#include "guard/read/read.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "policy/unit_types.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

bool
dp_is_unit(DpLevel *level, Node *expr)
{
	return dp_names_column(level->from.unit.vars, expr);
}

static DpWalk
is_undetermined(Node *node, int levels, const DpFrom *from)
{
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0 && !bms_is_member(((Var *) node)->varno, from->unit.determined);
}

static int
compare_sets(const ListCell *a, const ListCell *b)
{
	return linitial_int(((DpKeySet *) lfirst(a))->keys) - linitial_int(((DpKeySet *) lfirst(b))->keys);
}

/* Tells whether one of columns is among vars. */
static bool
any_among(List *vars, List *columns)
{
	foreach_ptr(Node, column, columns)
	{
		if (dp_names_column(vars, column))
			return true;
	}
	return false;
}

/* Returns a key of the level, and the columns that are equal to it in every row. */
static List *
equal_to_key(DpLevel *level, Node *expr)
{
	List	   *key = list_make1(expr);

	return list_concat(key, dp_equal_columns(level->from.query, level->conditions, key));
}

/* Refuses a key of the level; shown, grouped: how a count over such groups names it in SELECT and GROUP BY. */
static void
refuse_persons(DpLevel *level, Node *key, const char *label, const char *shown, const char *grouped)
{
	DpSplitContext *cxt = level->cxt;
	const char *from = dp_example_from(level->query);
	const char *example = from == NULL ? NULL :
	dp_example(psprintf("SELECT %s FROM (SELECT %s FROM %s GROUP BY %s) AS q", dp_example_count(), shown, from, grouped));

	dp_refuse_at(exprLocation(key),
				 errmsg("grouping by %s would show single persons; %s%s", label,
						example ? "aggregate over such a subquery, as in " : "group by something else, or aggregate over a subquery that groups by the privacy unit",
						example ? example : ""));
}

/* Finds the sets of all keys, by what the public inputs of the level allow. */
static void
declare_keys(DpLevel *level)
{
	DpRelease  *release = level->release;

	dp_key_query_keys(level);
	foreach_ptr(Node, expr, level->key_exprs)
	{
		DpReleaseKey *key = list_nth(release->keys, foreach_current_index(expr));

		if (dp_key_set_of(release, foreach_current_index(expr)) == NULL && any_among(level->from.unit.vars, equal_to_key(level, expr)))
			refuse_persons(level, expr, psprintf("the privacy unit \"%s\"", key->label), key->label, "1");
	}
	list_sort(release->key_sets, compare_sets);
}

/* Returns the keys of GROUP BY whose columns, a list for each, are among vars, as the query has them. */
static const char *
labels_among(DpLevel *level, List *columns, List *vars)
{
	StringInfoData text;
	ListCell   *lc,
			   *key;

	initStringInfo(&text);
	forboth(lc, columns, key, level->release->keys)
	{
		if (any_among(vars, lfirst(lc)))
			appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", ((DpReleaseKey *) lfirst(key))->label);
	}
	return text.data;
}

/* Refuses keys that together are a key of protected rows, or equal to one: each group would be one person's. */
static void
refuse_single_rows(DpLevel *level)
{
	List	   *columns = NIL;	/* for each key */
	List	   *all = NIL;
	ListCell   *expr,
			   *key,
			   *shown;

	foreach_ptr(Node, item, level->key_exprs)
	{
		columns = lappend(columns, equal_to_key(level, item));
		all = list_concat(all, llast(columns));
	}
	foreach_ptr(DpToken, token, level->from.unit.tokens)
	{
		List	   *vars = token->vars;

		if (!dp_columns_among(vars, all))
			continue;
		forthree(expr, level->key_exprs, key, level->release->keys, shown, columns)
		{
			const char *labels;

			if (!any_among(vars, lfirst(shown)) || dp_key_set_of(level->release, foreach_current_index(expr)) != NULL)
				continue;
			labels = labels_among(level, columns, vars);
			refuse_persons(level, lfirst(expr), psprintf("\"%s\"", ((DpReleaseKey *) lfirst(key))->label), labels, labels);
		}
	}
}

DpReleaseKey *
dp_make_key(DpLevel *level, Node *expr)
{
	DpReleaseKey *key = dp_make_release_key();

	dp_allow_group_key(expr, &level->allow);
	key->typmod = exprTypmod(expr);
	key->type = dp_type_as_read(exprType(expr), &key->typmod);
	key->collation = exprCollation(expr);
	key->label = dp_expression_text(level, expr);
	return key;
}

/* Returns a key's expression as the inner query has it. */
static Node *
inner_key(DpLevel *level, Node *expr)
{
	return dp_canonical_key(dp_make_safe(expr, &level->allow));
}

bool
dp_hold_keys(DpLevel *level, List *clauses)
{
	foreach_ptr(SortGroupClause, clause, clauses)
	{
		Node	   *expr = (Node *) get_sortgroupclause_tle(clause, level->query->targetList)->expr;
		DpHeldKey  *held;
		DpKeySet   *set;

		if (list_member(level->key_exprs, expr))
			continue;
		(void) dp_make_key(level, expr);
		set = dp_planned_values(level, expr);
		if (set == NULL)
			return false;
		if (dp_keys_cover(level, expr, set))
			continue;
		held = palloc(sizeof(DpHeldKey));
		held->value = (Expr *) inner_key(level, expr);
		held->domain = set->domain;
		held->null_key = set->null_key;
		level->parts.held = lappend(level->parts.held, held);
	}
	return true;
}

void
dp_leave_out_shown(DpLevel *level, const DpLevel *of)
{
	DpSplitContext *cxt = level->cxt;
	StringInfoData labels;
	ListCell   *expr,
			   *lc;

	initStringInfo(&labels);
	forboth(expr, of->key_exprs, lc, of->release->keys)
	{
		DpReleaseKey *key = lfirst(lc);

		if (!OidIsValid(lookup_type_cache(key->type, TYPECACHE_HASH_PROC)->hash_proc) || !OidIsValid(get_array_type(key->type)))
			dp_refuse_at(exprLocation(lfirst(expr)),
						 errmsg("the rest of groups of type %s is not known; SET dp_cdp.rest = off, and leave out dp_cdp.rest()",
								format_type_be(key->type)));
		level->parts.rest = lappend(level->parts.rest, inner_key(level, lfirst(expr)));
		level->parts.rest_keys = lappend(level->parts.rest_keys, key);
		appendStringInfo(&labels, "%s%s", labels.len > 0 ? ", " : "", key->label);
	}
	level->rest_of = of;
	level->release->rest_of = pstrdup(of->release->name);
	level->release->rest_keys = labels.data;
}

void
dp_add_keys(DpLevel *level)
{
	DpSplitContext *cxt = level->cxt;
	Query	   *query = level->query;

	foreach_ptr(SortGroupClause, clause, query->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(clause, query->targetList);
		Node	   *expr = (Node *) tle->expr;
		DpReleaseKey *key;

		if (list_member(level->key_exprs, expr))
			continue;
		key = dp_make_key(level, expr);
		/* the inner query would find out at its first row, if there is one */
		if (level->release->has_unit && !dp_bound_key_supported(key->type))
			dp_refuse_at(exprLocation(expr),
						 errmsg("values of type %s cannot be group keys of a private query over privacy units; group by another column",
								format_type_be(key->type)));
		level->key_exprs = lappend(level->key_exprs, expr);
		level->release->keys = lappend(level->release->keys, key);
		level->parts.keys = lappend(level->parts.keys, inner_key(level, expr));
		level->release->one_group &= !dp_walk(expr, is_undetermined, &level->from);
	}
	declare_keys(level);
	refuse_single_rows(level);
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

void
dp_add_column(DpLevel *level, DpReleaseColumn *column, List *values, Node *filter)
{
	column->first_param = level->release->first_param + 1 +
		list_length(level->release->columns) * DP_COLUMN_PARAMS;
	level->release->columns = lappend(level->release->columns, column);
	level->parts.values = lappend(level->parts.values, values);
	level->parts.filters = lappend(level->parts.filters, filter);
}

/* Returns the number of a column that counts all units of a group; -1: there is none.  is_units: rows are no more than units. */
static int
column_of_units(const DpLevel *level, bool is_units)
{
	ListCell   *lc,
			   *value,
			   *filter;
	int			i = 0;

	forthree(lc, level->release->columns, value, level->parts.values, filter, level->parts.filters)
	{
		const DpReleaseColumn *column = lfirst(lc);

		if (column->answer == DP_ANSWER_SUM && (column->kind == DP_VALUE_UNITS || (column->kind == DP_VALUE_COUNT && is_units)) &&
			linitial(lfirst(value)) == NULL && lfirst(filter) == NULL)
			return i;
		i++;
	}
	return -1;
}

/* Returns the number of a count of units that is not in the output. */
static int
add_hidden_count(DpLevel *level, const char *label)
{
	DpReleaseColumn *column = dp_make_release_column();

	column->kind = DP_VALUE_UNITS;
	column->result_type = INT8OID;
	column->label = pstrdup(label);
	column->hidden = true;
	dp_add_column(level, column, list_make1(NULL), NULL);
	return list_length(level->release->columns) - 1;
}

/*
 * Finds the noisy count of units by which undeclared keys are released: an aggregate of the query that is just that, where
 * a unit is in few groups, else one that is added and charged.  The threshold of an answer is for units in few groups.
 */
void
dp_add_key_selection(DpLevel *level, bool has_norms)
{
	DpRelease  *release = level->release;
	bool		undeclared = false;

	for (int i = 0; i < list_length(release->keys); i++)
		undeclared |= dp_key_set_of(release, i) == NULL;
	if (!undeclared)
		return;
	if (!release->has_unit || release->most_groups == 1 || !has_norms)
		release->selection = column_of_units(level, !release->has_unit);
	if (release->selection < 0)
		release->selection = add_hidden_count(level, "key selection");
}

/*
 * Finds the same count for min_units.  A group without aggregates shows no number, and a
 * query without groups asks for all rows: neither needs it.  The rest of groups that are not shown is a group.
 */
void
dp_add_count_of_units(DpLevel *level)
{
	DpRelease  *release = level->release;

	if (dp_asks_limits_alone())
		release->units = DP_NO_UNITS;
	if (level->dataset->min_units == 1 || (release->keys == NIL && release->rest_of == NULL) || release->selection >= 0 || release->columns == NIL ||
		release->units == DP_NO_UNITS)
		return;
	release->units = column_of_units(level, !release->has_unit || release->most_rows == 1);
	if (release->units < 0)
		release->units = add_hidden_count(level, "count of units");
}

int
dp_column_of(DpLevel *level, Node *agg)
{
	foreach_ptr(Node, output, level->outputs)
	{
		if (equal(output, agg))
			return foreach_current_index(output) - list_length(level->key_exprs);
	}
	elog(ERROR, "an aggregate was not collected");
}

/* Returns the call of a companion of an aggregate; NULL: there is none. */
static FuncExpr *
companion_call(List *calls, Node *agg, DpCompanion kind)
{
	static const DpErrorFunction functions[DP_COMPANIONS] = {
		[DP_COMPANION_NOISE] = DP_ERROR_FUNCTION_STDDEV,[DP_COMPANION_ERROR] = DP_ERROR_FUNCTION_ERROR,
		[DP_COMPANION_CUT] = DP_ERROR_FUNCTION_CUT
	};

	foreach_ptr(FuncExpr, call, calls)
	{
		if (dp_find_error_function(call->funcid) == functions[kind] && equal(linitial(call->args), agg))
			return call;
	}
	return NULL;
}

/* Numbers keys first, then aggregates, then those of the companions that each has. */
void
dp_number_outputs(DpLevel *level, List *aggs, List *companions)
{
	int			n = 0;

	level->outputs = list_concat_copy(level->key_exprs, aggs);
	for (n = 1; n <= list_length(level->outputs); n++)
		level->output_columns = lappend_int(level->output_columns, n);
	foreach_ptr(Node, agg, aggs)
	{
		for (int kind = 0; kind < DP_COMPANIONS; kind++)
		{
			FuncExpr   *call = companion_call(companions, agg, kind);

			if (call == NULL)
				continue;
			((DpReleaseColumn *) list_nth(level->release->columns, foreach_current_index(agg)))->companions |= 1 << kind;
			level->outputs = lappend(level->outputs, call);
			level->output_columns = lappend_int(level->output_columns, n++);
		}
	}
}
