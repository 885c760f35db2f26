/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Splits each level of a query that aggregates protected rows.
 *
 * Invariants:
 * - After dp_split_query no level of the query reads a protected table that
 *	 the calling roles may not read in plain SQL.
 * - What reaches the inner query is: what source.c has read, and expressions
 *	 that the allow-list has passed.  Nothing of it refers to other levels.
 * - The outer query sees released keys and values as columns of one range
 *	 table entry; every other expression is post-processing of those.
 * - Whatever is not recognised raises ZC002 with its position.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/attempt.h"
#include "base/compat.h"
#include "base/settings.h"
#include "base/walk.h"
#include "guard/describe/describe.h"
#include "guard/facts/facts.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------------
 * Shape of the level
 * ------------------------------------------------------------------------
 */

static DpWalk
find_location(Node *node, int levels, Var *found)
{
	if (!IsA(node, Var) || ((Var *) node)->varno != found->varno || ((Var *) node)->varlevelsup != 0 || ((Var *) node)->location < 0)
		return DP_WALK_ON;
	found->location = ((Var *) node)->location;
	return DP_WALK_STOP;
}

/* Returns where the level names the table, as well as parsed queries know it. */
static int
level_location(Query *query, Index rti)
{
	Var			found = {.varno = rti, .location = -1};

	if (dp_walk(query->targetList, find_location, &found) ||
		(query->jointree && dp_walk(query->jointree->quals, find_location, &found)))
		return found.location;
	return exprLocation((Node *) query->targetList);
}

static void
check_shape(DpSplitContext *cxt, Query *query, int where)
{
	if (query->hasModifyingCTE || query->hasRecursive)
		dp_refuse_at(where, errmsg("a query of private aggregates cannot contain WITH RECURSIVE or a WITH clause that modifies data; "
								   "release in a query of its own"));
	if (query->rowMarks)
		dp_refuse_at(where, errmsg("FOR UPDATE and FOR SHARE are not possible on protected tables; leave the clause out"));
	if (query->groupingSets && !query->hasAggs)
		dp_refuse_at(((GroupingSet *) linitial(query->groupingSets))->location,
					 errmsg("GROUPING SETS, ROLLUP and CUBE over protected tables need an aggregate; add dp_count(*)"));
}

/* ------------------------------------------------------------------------
 * One level
 * ------------------------------------------------------------------------
 */

/* Builds the query that finds bounds first, over the same rows; the level's own has not been built yet. */
static void
build_estimator(DpLevel *level)
{
	DpLevel    *estimator = level->estimator;
	DpRelease  *release;

	if (estimator == NULL)
		return;
	release = estimator->release;
	estimator->from = level->from;
	estimator->from.query = copyObject(level->from.query);
	/* it reads what the level has prefetched */
	release->prefetches = level->release->prefetches;
	release->inner_query = dp_build_inner_query(release, &estimator->from, &estimator->parts);
	dp_verify_inner(estimator);
	dp_check_trusted(estimator);
	release->prefetches = NIL;
	level->release->estimator = release;
}

/* a level that is asked for; its grouping sets have all of it in common */
typedef struct Asked
{
	DpSplitContext *cxt;
	int			where;
	DpCollected *collected;
	const DpFrom *read;
	bool		even_if_readable;
} Asked;

static DpLevel *release_level(const Asked *a, Query *query, const DpLevel *finest, const DpLevel *rest_of);

/* a level that is described once more, in another way in which it may not be releasable */
typedef struct Widening
{
	Asked		asked;
	DpSplitContext cxt;
	DpCollected collected;
	Query	   *query;
	DpLevel    *level;
} Widening;

static void
widen(void *context)
{
	Widening   *w = context;

	w->level = release_level(&w->asked, w->query, NULL, NULL);
}

static DpWalk
has_stored_rows(Node *node, int levels, void *context)
{
	return IsA(node, RangeTblEntry) &&
		(((RangeTblEntry *) node)->rtekind == RTE_RELATION || ((RangeTblEntry *) node)->rtekind == RTE_NAMEDTUPLESTORE);
}

/* Tells whether keys or bounds of a release follow from rows of public tables. */
static bool
has_public_inputs(DpRelease *release)
{
	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		if (dp_walk_all(set->query, has_stored_rows, NULL))
			return true;
	}
	return release->prefetches != NIL || release->ranges != NIL;
}

/* Tells whether a node is a parameter with a lower number than those of the release. */
static DpWalk
is_param_before(Node *node, int levels, int *first)
{
	return IsA(node, Param) && ((Param *) node)->paramid < *first;
}

/* Describes another release than the level's; returns false if it cannot be released. */
static bool
is_widened(Widening *w)
{
	ErrorData  *error;

	w->cxt = *w->asked.cxt;
	w->cxt.releases = NIL;
	w->collected = *w->asked.collected;
	w->collected.cxt = w->asked.cxt = &w->cxt;
	w->asked.collected = &w->collected;
	error = dp_attempt(widen, w);
	if (error != NULL && error->sqlerrcode != ERRCODE_DP_NOT_RELEASABLE && error->sqlerrcode != ERRCODE_DP_BAD_PARAMETER)
		ThrowErrorData(error);
	return error == NULL;
}

/* Tells whether a level may have conditions on its keys alone, and whether anything could be kept of it without them. */
static bool
may_be_widened(Query *query)
{
	return dp_guc_reuse && query->groupClause != NIL && query->jointree->quals != NULL && !IsInParallelMode();
}

/*
 * Describes the release that a level would be without conditions on its keys,
 * whose kept answers may be those that it asks for.  query: the level's, as it was before it was read.
 */
static void
add_wider(DpLevel *level, Query *query, const Asked *a)
{
	DpRelease  *release = level->release;
	Widening	w = {.asked = *a, .query = query};
	List	   *tests = NIL;
	DpRelease  *wider;

	if (level->dataset->reuse > 0 && release->selection < 0 && release->estimator == NULL && release->prefetches == NIL)
		tests = dp_take_key_tests(level, query);
	if (tests == NIL)
		return;
	if (!is_widened(&w))
		return;
	wider = w.level->release;
	/* nothing is read for what is only looked for */
	if (wider->selection >= 0 || wider->estimator != NULL || has_public_inputs(wider))
		return;
	wider->inner_query = NULL;
	wider->key_memory = w.cxt.key_memory;
	release->wider = wider;
	release->wider_tests = tests;
	release->wider_has_params = dp_walk(tests, is_param_before, &release->first_param);
}

/*
 * Makes the answers of a level agree with those of the finest grouping set (or of what that would be),
 * where they are over the same rows: every key is declared as a list of values.
 */
static void
put_together(DpLevel *level, const DpLevel *finest)
{
	if (!dp_hold_keys(level, finest->query->groupClause))
		return;
	foreach_ptr(Node, expr, level->key_exprs)
	{
		for (int i = 0; i < list_length(finest->key_exprs); i++)
			if (equal(list_nth(finest->key_exprs, i), expr))
				level->release->axes = lappend_int(level->release->axes, i);
	}
	level->release->together = pstrdup(finest->release->name);
}

/*
 * Describes and builds the release of a level without grouping sets; query itself stays as it is.
 * finest: the level of the set with which this one is to agree, by all keys; NULL: none.
 * rest_of: the level of which this one has the rest (rest.c); NULL: none.
 */
static DpLevel *
release_level(const Asked *a, Query *query, const DpLevel *finest, const DpLevel *rest_of)
{
	DpSplitContext *cxt = a->cxt;
	DpLevel    *level = palloc0(sizeof(DpLevel));
	DpRelease  *release = dp_make_release();
	DpScope		scope = {query, cxt->scope->outer};
	List	   *aggs;
	bool		is_distributed;

	/*
	 * sets that agree are over the same rows, which those of a wider release
	 * need not be
	 */
	Query	   *unread = finest == NULL && may_be_widened(query) ? copyObject(query) : NULL;

	level->cxt = cxt;
	level->query = query;
	level->where = a->where;
	level->from.once = bms_copy(a->read->once);
	level->from.repeating = bms_copy(a->read->repeating);
	level->from.written = a->read->written;
	level->release = release;
	release->name = dp_release_new_name();
	release->first_param = cxt->next_param;
	dp_read_source(level, &scope, a->even_if_readable);
	release->one_group = true;
	if (a->collected->other != NULL)
		dp_refuse_exact(level, a->collected->other);

	dp_add_keys(level);
	if (rest_of != NULL)
		dp_leave_out_shown(level, rest_of);
	if (finest != NULL)
		put_together(level, finest);
	aggs = dp_aggregates_of_level(query);
	foreach_ptr(Aggref, agg, aggs)
		dp_add_aggregate(level, agg);
	dp_check_outer_groups(level, aggs);
	dp_number_outputs(level, aggs, dp_collect_error_functions(query));
	dp_describe_expressions(cxt, level, a->collected->take_standard);
	is_distributed = dp_reads_distributed(level->from.query);
	dp_limit_rows(level);
	dp_add_key_selection(level, dp_has_norms(level));
	dp_add_count_of_units(level);
	dp_limit_norms(level, is_distributed);
	if (list_length(release->keys) > DP_MAX_KEYS || list_length(release->keys) + dp_release_parts(release) > DP_MAX_VALUES)
		dp_refuse_at(-1, errmsg("a query releases at most %d private aggregates and keys, and at most %d keys; split it",
								DP_MAX_VALUES, DP_MAX_KEYS));
	build_estimator(level);
	release->inner_query = dp_build_inner_query(release, &level->from, &level->parts);
	/* limits are found in the rows that it reads */
	if (release->limiter != NULL)
	{
		release->limiter->block_first = release->block_first;
		release->limiter->block_last = release->block_last;
	}
	cxt->next_param += dp_release_params_count(release);
	dp_verify_inner(level);
	dp_check_trusted(level);
	cxt->releases = lappend(cxt->releases, release);
	if (unread != NULL)
		add_wider(level, unread, a);
	return level;
}

/* Returns which of the sets has all keys of the others; -1: none, or it is alone. */
static int
finest_set(List *sets)
{
	foreach_ptr(const List, finest, sets)
	{
		bool		all = list_length(sets) > 1;

		foreach_ptr(const List, set, sets)
			all &= list_difference_int(set, finest) == NIL;
		if (all)
			return foreach_current_index(finest);
	}
	return -1;
}

/* Tells whether the answers of other sets are to agree with a level's, and says so in its release. */
static bool
begin_together(DpLevel *level)
{
	DpRelease  *release = level->release;

	if (!dp_wants_consistent(level->dataset) || release->selection >= 0)
		return false;
	foreach_ptr(DpKeySet, set, release->key_sets)
		if (set->domain == NULL)
		return false;
	release->together = pstrdup(release->name);
	/* no groups of others are shown among those that agree */
	release->wider = NULL;
	release->wider_tests = NIL;
	release->wider_has_params = false;
	for (int i = 0; i < list_length(release->keys); i++)
		release->axes = lappend_int(release->axes, i);
	return true;
}

/*
 * Describes the set that has the keys of all others, where it is not among them, and is never released.
 * NULL: it could not be released, so that there are no rows that all sets could be over.
 */
static DpLevel *
describe_finest(const Asked *a, Query *query, List *sets)
{
	Widening	w = {.asked = *a};
	List	   *all = NIL;

	if (list_length(sets) < 2 || IsInParallelMode())
		return NULL;
	foreach_ptr(const List, set, sets)
		all = list_concat_unique_int(all, set);
	w.query = dp_with_grouping_set(query, all);
	return is_widened(&w) && begin_together(w.level) ? w.level : NULL;
}

static List *
release_sets(const Asked *a, Query *query, List *sets, Oid table)
{
	int			first = finest_set(sets);
	int			before = list_length(a->cxt->releases);
	DpLevel    *finest = NULL;
	DpLevel    *agree_with = NULL;
	List	   *levels = NIL;
	List	   *releases;

	if (first >= 0)
	{
		finest = release_level(a, dp_with_grouping_set(query, list_nth(sets, first)), NULL, NULL);
		agree_with = begin_together(finest) ? finest : NULL;
	}
	else if (dp_policy_table(table) != NULL && dp_wants_consistent(dp_policy_dataset(dp_policy_table(table)->dataset)))
		agree_with = describe_finest(a, query, sets);
	foreach_ptr(List, set, sets)
	{
		DpLevel    *level = NULL;

		/* a set that is written twice is released once, and shown twice */
		for (int i = 0; i < foreach_current_index(set) && level == NULL; i++)
			if (equal(list_nth(sets, i), set))
				level = list_nth(levels, i);
		if (level == NULL && first >= 0 && equal(list_nth(sets, first), set))
			level = finest;
		if (level == NULL)
			level = release_level(a, dp_with_grouping_set(query, set), agree_with, NULL);
		levels = lappend(levels, level);
	}
	/* in the order of the sets */
	releases = list_copy_head(a->cxt->releases, before);
	foreach_ptr(DpLevel, level, levels)
		releases = list_append_unique_ptr(releases, level->release);
	a->cxt->releases = releases;
	return levels;
}

/* Releases the rest of those levels that select keys, and adds it behind each; rests: whether, for each (ints). */
static List *
release_rests(const Asked *a, Query *query, List *levels, List *rests)
{
	List	   *all = NIL;
	ListCell   *lc,
			   *wanted;

	forboth(lc, levels, wanted, rests)
	{
		DpLevel    *level = lfirst(lc);

		all = lappend(all, level);
		if (lfirst_int(wanted) && level->release->selection >= 0)
			all = lappend(all, release_level(a, dp_with_grouping_set(query, NIL), NULL, level));
	}
	return all;
}

/* Takes dp_cdp.rest() out of grouping sets; returns which of them have had it, as ints. */
static List *
take_rest_of_sets(List *sets, List *refs, bool is_wanted)
{
	List	   *rests = NIL;
	ListCell   *lc;

	foreach(lc, sets)
	{
		int			n = list_length(lfirst(lc));

		lfirst(lc) = list_difference_int(lfirst(lc), refs);
		rests = lappend_int(rests, is_wanted || list_length(lfirst(lc)) < n);
	}
	return rests;
}

/* table: a protected one that the level reads */
static void
split_level(DpSplitContext *cxt, Index rti, Oid table, DpCollected *collected, bool even_if_readable)
{
	Query	   *query = cxt->scope->query;
	int			where = level_location(query, rti);
	DpSource	source = {.cxt = cxt, .even_if_readable = even_if_readable};
	DpFrom		read = {.query = query};
	Asked		a = {cxt, where, collected, &read, even_if_readable};
	RangeTblEntry *released;
	List	   *from;
	List	   *columns;
	bool		is_marked;
	List	   *asked = dp_take_rest_calls(cxt, query, &is_marked);
	bool		aggregates = collected->first != NULL || collected->other != NULL;
	bool		is_wanted = dp_rest_is_wanted(cxt) && aggregates;
	List	   *levels;
	List	   *rests;

	if (asked != NIL && !aggregates)
		dp_refuse_at(where, errmsg("dp_cdp.rest() needs an aggregate of rows; add %s", dp_example_count()));
	check_shape(cxt, query, where);
	dp_flatten_level(query);
	dp_pull_up_unmatched(&source, cxt->scope);
	dp_write_out_sets(query);
	dp_write_out_full_joins(cxt->scope, &read, &source);
	dp_write_out_laterals(cxt->scope, &read, &source);
	dp_join_sublinks_of_values(&source, cxt->scope, &read);
	dp_expand_error_functions(cxt, query, collected->take_standard);
	if (query->groupingSets)
	{
		List	   *sets = dp_grouping_sets(cxt, query);

		rests = take_rest_of_sets(sets, asked, is_wanted);
		levels = release_sets(&a, query, sets, table);
	}
	else
	{
		rests = list_make1_int(asked != NIL || is_wanted);
		levels = list_make1(release_level(&a, query, NULL, NULL));
	}
	if (list_member_int(rests, true))
		levels = release_rests(&a, query, levels, rests);
	if (query->groupingSets || is_marked || list_length(levels) > 1)
		released = dp_union_of_sets(query, levels, &from, &columns);
	else
	{
		DpLevel    *level = linitial(levels);

		released = dp_released_rows(level->release);
		from = level->outputs;
		columns = level->output_columns;
	}
	dp_rewrite_outer(cxt, query, released, from, columns);
}

/* Tells whether a level stands in a WITH clause of queries that read themselves. */
static bool
is_in_recursion(DpScope *scope)
{
	for (; scope != NULL; scope = scope->outer)
	{
		foreach_node(CommonTableExpr, cte, scope->query->cteList)
			if (cte->cterecursive)
			return true;
	}
	return false;
}

/* Refuses what reads rows where it stands and would read released values elsewhere; table: that of entry rti. */
static void
refuse_construct(DpSplitContext *cxt, Query *query, Index rti, int where, Oid table)
{
	const char *name = get_rel_name(table);
	const char *example;

	dp_refuse_error_functions((Node *) query->targetList, cxt);
	if (query->hasWindowFuncs)
	{
		example = dp_example_of_groups(cxt->scope, rti, table, true);
		dp_refuse_at(where,
					 errmsg("window functions cannot be used on rows of protected table \"%s\"; use them on released values of a subquery", name),
					 example ? errhint("Such as: %s", example) : 0);
	}
	if (is_in_recursion(cxt->scope))
	{
		example = dp_example_of_groups(cxt->scope, rti, table, false);
		dp_refuse_at(where,
					 errmsg("WITH RECURSIVE cannot read rows of protected table \"%s\"; let it read released values%s",
							name, example ? psprintf(": CREATE TEMPORARY TABLE q AS %s", example) : ""));
	}
}

static void
refuse_raw(DpSplitContext *cxt, Index rti, RangeTblEntry *base)
{
	Query	   *query = cxt->scope->query;
	const char *name = get_rel_name(base->relid);
	RangeTblEntry *named = rt_fetch(rti, query->rtable);
	const char *from = dp_example_from(query);
	const DpTable *table = dp_policy_table(base->relid);

	/*
	 * who may not use the view has that to hear first, as from PostgreSQL;
	 * the rewriter has left its entry at one of two places
	 */
	if (named->rtekind == RTE_SUBQUERY)
	{
		dp_check_view_permissions(query);
		dp_check_view_permissions(named->subquery);
	}
	dp_refuse_login(base->relid);
	if (dp_preview_without_rows(cxt->scope, base->relid))
		return;
	refuse_construct(cxt, query, rti, level_location(query, rti), base->relid);

	if (named->rtekind != RTE_RELATION && query->commandType == CMD_SELECT)
	{
		const char *example = from ? dp_example(psprintf("SELECT %s FROM %s", dp_example_count(), from)) : NULL;

		dp_refuse_at(level_location(query, rti),
					 errmsg("permission denied for rows of protected table \"%s\", which \"%s\" reads; "
							"ask for private aggregates over \"%s\", such as %s", name,
							named->eref->aliasname, named->eref->aliasname, example ? example : dp_example_count()));
	}
	if (get_rel_relkind(base->relid) == RELKIND_TOASTVALUE)
		dp_refuse_at(level_location(query, rti), errmsg("permission denied for rows of protected table \"%s\"; ask for private aggregates of the table whose values it holds", name));
	dp_refuse_at(level_location(query, rti),
				 errmsg("permission denied for rows of protected table \"%s\"; "
						"ask for private aggregates, such as SELECT %s FROM %s", name,
						dp_example_count(), dp_relation_text(base->relid)),
				 table != NULL && dp_lacks_budget(table->dataset) ?
				 errdetail("For these, too, %s has no privacy budget for dataset \"%s\": the dataset's owner can give one with dp_cdp.set_budget.",
						   dp_asking_role(), table->dataset) : 0,
	/* as tools ask that learn columns */
				 dp_rows_of_limit(query->limitCount, PG_INT64_MAX) == 1 ? errhint("LIMIT 0, or WHERE false, shows names and types of columns for nothing. SET dp_cdp.empty_previews = on has this statement show them, with no row.") : 0);
}

/*
 * Tells whether a level asks for the distinct values of columns, by GROUP BY
 * without an aggregate or by DISTINCT, which is a private selection of keys.
 * Puts DISTINCT into the form of GROUP BY.
 */
static bool
selects_keys(Query *query)
{
	if (query->commandType != CMD_SELECT || query->hasAggs)
		return false;
	if (query->groupClause != NIL)
		return true;
	if (query->distinctClause == NIL || query->hasDistinctOn || query->hasWindowFuncs ||
		query->havingQual != NULL)
		return false;
	query->groupClause = query->distinctClause;
	query->distinctClause = NIL;
	return true;
}

static void
check_sequences(DpSplitContext *cxt, Query *query)
{
	Index		rti = 0;

	foreach_ptr(RangeTblEntry, rte, query->rtable)
	{
		Oid			table = dp_table_of_sequence(rte);

		rti++;
		if (OidIsValid(table) && !dp_may_read(table))
			dp_refuse_at(level_location(query, rti),
						 errmsg("permission denied for sequence \"%s\" of protected table \"%s\"; "
								"ask for private aggregates, such as dp_count(*)",
								get_rel_name(rte->relid), get_rel_name(table)));
	}
}

static DpCollected
look_for_aggregates(DpSplitContext *cxt, Query *query, bool take_standard)
{
	DpCollected collected = {.cxt = cxt, .take_standard = take_standard};

	dp_look_for_aggregates(query, &collected);
	return collected;
}

/* Splits a level that aggregates protected rows, and refuses one that reads them otherwise. */
static void
process_level(DpSplitContext *cxt)
{
	Query	   *query = cxt->scope->query;
	DpCollected collected;
	RangeTblEntry *base;
	RangeTblEntry *other;
	Index		unreadable;
	Index		rti;
	bool		even_if_readable;

	dp_check_change(cxt, query);
	check_sequences(cxt, query);
	collected = look_for_aggregates(cxt, query, false);
	even_if_readable = collected.first != NULL;
	rti = dp_reads_rows(cxt->scope, even_if_readable, &base);
	if (rti == 0)
	{
		if (even_if_readable)
			dp_refuse_at(collected.first->location,
						 errmsg("private aggregates need rows of a protected table, or of a subquery of its rows; use standard aggregates for other tables and for released rows"),
						 errdetail("Such a subquery keeps the rows, or groups them by the privacy unit."));
		return;
	}
	if (dp_name_values_once(cxt->scope))
		collected = look_for_aggregates(cxt, query, false);
	unreadable = even_if_readable ? dp_reads_rows(cxt->scope, false, &other) : rti;
	if (unreadable != 0 && dp_guc_standard_aggregates)
	{
		dp_reword_aggregates(cxt->scope, true);
		dp_write_out_composed(query);
		collected = look_for_aggregates(cxt, query, true);
	}
	/* its parts are levels of their own */
	if (collected.take_standard && dp_take_of_groups(cxt->scope))
		return;
	if (query->commandType != CMD_SELECT)
	{
		if (collected.first != NULL)
			dp_refuse_at(collected.first->location, errmsg("private aggregates can be used in SELECT only"));
		refuse_raw(cxt, rti, base);
	}
	if (collected.first == NULL && collected.other == NULL && collected.take_standard &&
		dp_ask_whether_rows(query, (Node *) query == cxt->below_exists))
		collected = look_for_aggregates(cxt, query, true);
	if (collected.first != NULL || collected.other != NULL || (unreadable != 0 && selects_keys(query)))
	{
		dp_group_by_determined(query);
		split_level(cxt, rti, base->relid, &collected, even_if_readable);
	}
	else
		refuse_raw(cxt, rti, base);
}

/* Does so with a level that is a subquery; one with filters that cannot be released with them is released without them. */
static void
process_filtered(DpSplitContext *cxt)
{
	Query	   *query = cxt->scope->query;
	Query	   *unfiltered = dp_without_filters(query);
	DpSplitContext before = *cxt;
	ErrorData  *error;

	if (unfiltered == NULL)
	{
		process_level(cxt);
		return;
	}
	before.releases = list_copy(cxt->releases);
	error = dp_attempt((DpAttempt) process_level, cxt);
	if (error == NULL)
		return;
	if (error->sqlerrcode != ERRCODE_DP_NOT_RELEASABLE && error->sqlerrcode != ERRCODE_DP_BAD_PARAMETER)
		ThrowErrorData(error);
	*cxt = before;
	*query = *unfiltered;
	process_level(cxt);
}

static bool split_walker(Node *node, void *context);

/* Splits the WITH queries, the last first: a later one may be all that refers to an earlier one. */
static void
process_ctes(DpSplitContext *cxt, Query *query)
{
	for (int i = list_length(query->cteList) - 1; i >= 0; i--)
	{
		CommonTableExpr *cte = list_nth(query->cteList, i);
		int			before = list_length(cxt->releases);

		if (!dp_keep_cte(query, cte))
			continue;
		dp_leave_out_unread_of_cte(cxt->scope, cte);
		split_walker(cte->ctequery, cxt);
		/* one release, however often the CTE is referenced */
		if (list_length(cxt->releases) > before)
			cte->ctematerialized = CTEMaterializeAlways;
	}
}

static bool
split_walker(Node *node, void *context)
{
	DpSplitContext *cxt = context;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		DpScope		scope = {query, cxt->scope};

		check_stack_depth();
		if (query->commandType == CMD_UTILITY)
			return false;
		cxt->scope = &scope;
		dp_answer_without_rows(&scope);
		dp_filter_releases(cxt, &scope, dp_join_released_values(cxt, &scope));
		process_filtered(cxt);
		dp_leave_out_unread(&scope);
		query_tree_walker(query, split_walker, context, QTW_IGNORE_CTE_SUBQUERIES);
		process_ctes(cxt, query);
		cxt->scope = scope.outer;
		return false;
	}
	if (IsA(node, SubLink) && ((SubLink *) node)->subLinkType == EXISTS_SUBLINK)
		cxt->below_exists = ((SubLink *) node)->subselect;
	return expression_tree_walker(node, split_walker, context);
}

void
dp_split_query(Query *query, DpSplitContext *cxt)
{
	dp_normalise_conditions(query);
	split_walker((Node *) query, cxt);
	if (cxt->releases != NIL)
	{
		dp_null_failing_calls(query, cxt);
		dp_refuse_error_functions((Node *) query, cxt);
		dp_refuse_rest_calls(query, cxt);
	}
}
