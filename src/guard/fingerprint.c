/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  Writes down what a release asks.
 *
 * The text of a release has what it reads: FROM and WHERE of the inner query, whose
 * rows are whose, and its keys.  The text of each column has the expressions of
 * its exact states.  Two releases with one text compute the same of the same
 * content of the database; the release node adds what the text leaves
 * open (release/fingerprint.c).
 *
 * Entries are numbered as FROM has them; entries that are not read, names,
 * positions, and columns of subqueries that nobody reads are not in the text.
 * A subquery that only filters and projects is written as if its tables stood
 * in its place, where joins allow that: so views and wrappers of tools are the
 * same question as what they wrap.
 *
 * Tables without a policy are named, and it is noted which of their columns a
 * text depends on, so that the release node can add what is in them.
 *
 * Written before inner_query.c adds tests whether keys are declared, which follow
 * from the keys and their lists.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "guard/fingerprint.h"
#include "guard/read/read.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "release/fingerprint.h"

/* ------------------------------------------------------------------------
 * FROM and WHERE
 * ------------------------------------------------------------------------
 */

static void put_query(DpFingerprintWriter *w, DpFingerprintPlace *place);

static DpFingerprintPlace *
make_place(Query *query)
{
	DpFingerprintPlace *place = palloc0(sizeof(DpFingerprintPlace));

	place->query = query;
	place->numbers = palloc0((list_length(query->rtable) + 1) * sizeof(int));
	place->below = palloc0((list_length(query->rtable) + 1) * sizeof(DpFingerprintPlace *));
	return place;
}

/* Tells whether a query has a row for each that its FROM and WHERE have. */
static bool
is_plain(Query *query)
{
	return query->groupClause == NIL && query->groupingSets == NIL && query->havingQual == NULL && !query->hasAggs &&
		query->windowClause == NIL && !query->hasWindowFuncs && query->distinctClause == NIL && query->setOperations == NULL &&
		query->limitCount == NULL && query->limitOffset == NULL && !query->hasTargetSRFs && query->sortClause == NIL &&
		query->jointree->fromlist != NIL;
}

/* Writes which of the release's prefetches an entry is. */
static void
put_prefetch(DpFingerprintWriter *w, const char *name)
{
	foreach_ptr(DpPrefetch, prefetch, w->release->prefetches)
	{
		if (strcmp(prefetch->name, name) == 0)
		{
			PUT("rows%d", foreach_current_index(prefetch));
			return;
		}
	}
	w->is_unknown = true;
}

/* Writes a table; one without a policy may hold other rows tomorrow, which make another question. */
static void
put_table(DpFingerprintWriter *w, RangeTblEntry *rte)
{
	dp_fingerprint_object(&w->text, RelationRelationId, rte->relid);
	PUT(rte->inh ? "*" : "");
	if (dp_policy_table(rte->relid) != NULL)
		return;
	w->public_entries = lappend_int(w->public_entries, w->entries);
	w->release->public_relids = lappend_oid(w->release->public_relids, rte->relid);
	w->release->public_inherit = lappend_int(w->release->public_inherit, rte->inh);
}

static void put_items(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node, List **conditions);

/* Writes what rows are made of; the entries that they read come before them. */
static void
put_made_rows(DpFingerprintWriter *w, DpFingerprintPlace *place, RangeTblEntry *rte)
{
	PUT("rows%d(", (int) rte->funcordinality);
	foreach_ptr(RangeTblFunction, function, rte->functions)
	{
		dp_fingerprint_expr(w, place, function->funcexpr);
		appendStringInfoCharMacro(&w->text, ' ');
	}
	PUT(") ");
}

/* conditions: where those of the query go that the entry is a part of; NULL: it cannot be joined with that */
static void
put_entry(DpFingerprintWriter *w, DpFingerprintPlace *place, Index rti, List **conditions)
{
	RangeTblEntry *rte = rt_fetch(rti, place->query->rtable);

	if (rte->rtekind == RTE_SUBQUERY)
	{
		DpFingerprintPlace *below = make_place(rte->subquery);

		place->below[rti] = below;
		if (conditions != NULL && is_plain(rte->subquery))
		{
			below->is_joined = true;
			put_items(w, below, (Node *) rte->subquery->jointree, conditions);
			return;
		}
		place->numbers[rti] = ++w->entries;
		PUT("q%d{", w->entries);
		put_query(w, below);
		PUT("} ");
		return;
	}
	place->numbers[rti] = ++w->entries;
	PUT("t%d(", w->entries);
	if (rte->rtekind == RTE_RELATION)
		put_table(w, rte);
	else if (rte->rtekind == RTE_NAMEDTUPLESTORE)
		put_prefetch(w, rte->enrname);
	else if (rte->rtekind == RTE_FUNCTION)
		put_made_rows(w, place, rte);
	else
		w->is_unknown = true;
	PUT(") ");
}

static void put_from(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node);

/* Writes a join that may leave out rows of one side, or add NULLs to it; conditions on the other may be tested above. */
static void
put_join(DpFingerprintWriter *w, DpFingerprintPlace *place, JoinExpr *join, List **conditions)
{
	bool		keeps_left = join->jointype == JOIN_LEFT || join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI;

	PUT("join%d(", (int) join->jointype);
	put_items(w, place, join->larg, keeps_left ? conditions : NULL);
	appendStringInfoCharMacro(&w->text, '/');
	put_items(w, place, join->rarg, join->jointype == JOIN_RIGHT ? conditions : NULL);
	PUT("on{");
	dp_fingerprint_sorted(w, dp_fingerprint_conjuncts(w, place, join->quals, NIL));
	PUT("}) ");
}

static void
put_items(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node, List **conditions)
{
	JoinExpr   *join = (JoinExpr *) node;

	check_stack_depth();
	if (IsA(node, FromExpr) && conditions == NULL)
		put_from(w, place, node);
	else if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
			put_items(w, place, item, conditions);
		*conditions = dp_fingerprint_conjuncts(w, place, ((FromExpr *) node)->quals, *conditions);
	}
	else if (IsA(node, RangeTblRef))
		put_entry(w, place, ((RangeTblRef *) node)->rtindex, conditions);
	else if (join->jointype != JOIN_INNER || conditions == NULL)
		put_join(w, place, join, conditions);
	else
	{
		put_items(w, place, join->larg, conditions);
		put_items(w, place, join->rarg, conditions);
		*conditions = dp_fingerprint_conjuncts(w, place, join->quals, *conditions);
	}
}

/* Writes items of FROM, and the conditions that are tested of what they are together. */
static void
put_from(DpFingerprintWriter *w, DpFingerprintPlace *place, Node *node)
{
	List	   *conditions = NIL;

	PUT("from{");
	put_items(w, place, node, &conditions);
	PUT("}where{");
	dp_fingerprint_sorted(w, conditions);
	PUT("}");
}

/* ------------------------------------------------------------------------
 * Subqueries
 * ------------------------------------------------------------------------
 */

/* Writes which rows a query chooses of those that are equal in something, and how. */
static void
put_choice(DpFingerprintWriter *w, DpFingerprintPlace *place)
{
	Query	   *query = place->query;

	w->is_unknown |= !query->hasDistinctOn;
	PUT("first{");
	dp_fingerprint_clauses(w, place, query->distinctClause, query->targetList);
	PUT("}order{");
	dp_fingerprint_in_order(w, place, query->sortClause, query->targetList, true);
	PUT("}");
}

static void
put_groups(DpFingerprintWriter *w, DpFingerprintPlace *place)
{
	PUT("group{");
	dp_fingerprint_clauses(w, place, place->query->groupClause, place->query->targetList);
	PUT("}having{");
	dp_fingerprint_sorted(w, dp_fingerprint_conjuncts(w, place, place->query->havingQual, NIL));
	PUT("}");
}

/* Writes a query without its columns: those that are read are written where that is. */
static void
put_query(DpFingerprintWriter *w, DpFingerprintPlace *place)
{
	Query	   *query = place->query;

	check_stack_depth();
	w->is_unknown |= query->groupingSets != NIL || query->limitCount != NULL || query->limitOffset != NULL || query->hasTargetSRFs;
	if (query->setOperations)
	{
		PUT("all{");
		foreach_int(operand, dp_operands(query))
			put_entry(w, place, operand, NULL);
		PUT("}");
		return;
	}
	put_from(w, place, (Node *) query->jointree);
	if (query->groupClause != NIL || query->hasAggs || query->havingQual != NULL)
		put_groups(w, place);
	if (query->distinctClause != NIL)
		put_choice(w, place);
}

/* ------------------------------------------------------------------------
 * The release
 * ------------------------------------------------------------------------
 */

/* Writes which keys of other grouping sets rows are held to: nothing where there are none, in whatever order they are. */
static void
put_held(DpFingerprintWriter *w, DpFingerprintPlace *place, DpInnerParts *parts)
{
	List	   *texts = NIL;

	if (parts->held == NIL)
		return;
	foreach_ptr(DpHeldKey, held, parts->held)
	{
		int			start = w->text.len;

		dp_fingerprint_expr(w, place, (Node *) held->value);
		dp_fingerprint_value(&w->text, held->domain->consttype, held->domain->constcollid,
							 held->domain->constvalue, held->domain->constisnull);
		PUT(" %d", held->null_key);
		texts = lappend(texts, dp_fingerprint_cut(w, start));
	}
	PUT("held{");
	dp_fingerprint_sorted(w, texts);
	PUT("}");
}

static void
put_keys(DpFingerprintWriter *w, DpFingerprintPlace *place, DpInnerParts *parts)
{
	PUT("keys{");
	foreach_ptr(Node, item, parts->keys)
	{
		DpReleaseKey *key = list_nth(w->release->keys, foreach_current_index(item));

		dp_fingerprint_object(&w->text, TypeRelationId, key->type);
		PUT(" %d ", key->typmod);
		dp_fingerprint_object(&w->text, CollationRelationId, key->collation);
		PUT(" ");
		dp_fingerprint_expr(w, place, item);
		PUT(",");
	}
	PUT("}listed{");
	foreach_ptr(DpListedValue, listed, parts->listed)
	{
		dp_fingerprint_expr(w, place, (Node *) listed->column);
		dp_fingerprint_value(&w->text, listed->list->consttype, listed->list->constcollid,
							 listed->list->constvalue, listed->list->constisnull);
		PUT(" %d,", listed->null_listed);
	}
	PUT("}");
	put_held(w, place, parts);
	if (parts->rest == NIL)
		return;
	/* which of the groups are shown is an answer (release/kept_choice.c) */
	PUT("rest{");
	dp_fingerprint_list(w, place, parts->rest);
	PUT("}");
}

/* Writes whose rows are whose, and what that was concluded from. */
static void
put_unit(DpFingerprintWriter *w, DpFingerprintPlace *place, DpFrom *from)
{
	DpRelease  *release = w->release;
	List	   *tables = NIL;

	PUT("unit{%d %d ", release->has_unit, release->one_group);
	dp_fingerprint_list(w, place, from->unit.exprs);
	foreach_oid(key, release->unique_keys)
	{
		int			start = w->text.len;

		dp_fingerprint_object(&w->text, RelationRelationId, IndexGetRelation(key, false));
		tables = lappend(tables, dp_fingerprint_cut(w, start));
	}
	PUT("}unique{");
	dp_fingerprint_sorted(w, tables);
	PUT("}");
}

/* Returns which answers can be made of the same noisy states, if these are of the same expressions. */
static char
family(const DpReleaseColumn *column)
{
	switch (column->answer)
	{
		case DP_ANSWER_SUM:
			return 's';
		case DP_ANSWER_MOMENTS:
			return 'm';
		case DP_ANSWER_QUANTILE:
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
			return 't';
		case DP_ANSWER_HISTOGRAM:
		case DP_ANSWER_BOUNDS:
		case DP_ANSWER_CLIPPED:
		case DP_ANSWER_CLIPPED_TOTALS:
		case DP_ANSWER_MODE:
		case DP_ANSWER_NORM:
			return 'c';
		case DP_ANSWER_CLIPPED_GROUPS:
			return 'g';
	}
	elog(ERROR, "unexpected answer %d", (int) column->answer);
}

/* Writes the expressions of a column's states.  What is made of the noisy ones is not in the text. */
static void
put_column(DpFingerprintWriter *w, DpFingerprintPlace *place, DpInnerParts *parts, int i)
{
	DpReleaseColumn *column = list_nth(w->release->columns, i);
	DpPart		part_of[DP_MAX_COLUMN_PARTS];
	int			n = dp_column_parts(column, part_of);
	List	   *values = list_nth(parts->values, i);

	w->own_param = column->first_param;
	PUT("%c", family(column));
	if (column->answer == DP_ANSWER_SUM)
	{
		PUT(" ");
		dp_fingerprint_object(&w->text, TypeRelationId, column->input_type);
	}
	for (int j = 0; j < n; j++)
	{
		PUT(" part(%d %d %d ", (int) part_of[j].kind, (int) part_of[j].moment, part_of[j].weight);
		dp_fingerprint_expr(w, place, list_nth(values, j));
		PUT(")");
	}
	PUT(" where{");
	dp_fingerprint_sorted(w, dp_fingerprint_conjuncts(w, place, list_nth(parts->filters, i), NIL));
	PUT("}");
}

/* Adds to names the references of a text, and those of what they refer to. */
static List *
references_of(DpFingerprintWriter *w, const char *text, List *names)
{
	const char *at = text;

	check_stack_depth();
	while ((at = strchr(at, DP_FINGERPRINT_REFERENCE)) != NULL)
	{
		char	   *name = pnstrdup(++at, 2 * DP_FINGERPRINT_BYTES);
		bool		known = false;

		foreach_ptr(const char, item, names)
			known |= strcmp(item, name) == 0;
		if (!known)
			names = references_of(w, dp_fingerprint_defined(w, name), lappend(names, name));
	}
	return names;
}

/* Returns, of each table without a policy, the columns that a text depends on, ascending: a List of Lists of ints. */
static List *
public_columns_of(DpFingerprintWriter *w, const char *text)
{
	List	   *columns = NIL;

	for (int i = 0; i < list_length(w->public_entries); i++)
	{
		List	   *of_table = NIL;

		foreach_ptr(DpFingerprintColumn, column, w->public_columns)
		{
			if (column->entry == i && strstr(text, column->text) != NULL)
				of_table = list_append_unique_int(of_table, column->column);
		}
		list_sort(of_table, list_int_cmp);
		columns = lappend(columns, of_table);
	}
	return columns;
}

/* Ends a text: puts behind it what it refers to, and returns it. */
static char *
end_text(DpFingerprintWriter *w)
{
	List	   *names = references_of(w, w->text.data, NIL);

	list_sort(names, dp_compare_texts);
	foreach_ptr(char, name, names)
		PUT(";%s is %s", name, dp_fingerprint_defined(w, name));
	return dp_fingerprint_cut(w, 0);
}

void
dp_write_fingerprint(DpRelease *release, DpFrom *from, DpInnerParts *parts)
{
	DpFingerprintWriter writer = {.release = release, .own_param = INT_MAX - DP_COLUMN_PARAMS};
	DpFingerprintWriter *w = &writer;
	DpFingerprintPlace *place = make_place(from->query);
	char	   *base;

	initStringInfo(&w->text);
	put_from(w, place, (Node *) from->query->jointree);
	put_unit(w, place, from);
	put_keys(w, place, parts);
	PUT("selects %d", release->selection >= 0);
	base = end_text(w);
	release->public_columns = public_columns_of(w, base);
	foreach_ptr(DpReleaseColumn, column, release->columns)
	{
		put_column(w, place, parts, foreach_current_index(column));
		column->fingerprint_text = end_text(w);
		column->public_columns = public_columns_of(w, column->fingerprint_text);
	}
	if (!w->is_unknown)
		release->base_text = base;
	if (w->definitions != NULL)
		hash_destroy(w->definitions);
}
