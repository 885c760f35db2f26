/*-------------------------------------------------------------------------
 *
 * instead.c
 *	  What to write instead of an aggregate that is refused.
 *
 * Invariants:
 * - What a message writes out can be typed in as it stands, and is answered
 *	 where the policy has what the aggregates in it need.
 * - It follows from the query's text, the catalogue and the policy alone.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_aggregate_d.h"
#include "catalog/pg_type.h"
#include "guard/describe/describe.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

/* a longer expression is not repeated */
#define LONGEST_VALUE 100

/*
 * PostgreSQL's aggregates, and queries of the same meaning.  %v is the argument, %f what the query reads.  The query's keys are
 * %k in SELECT, %a with the names by which %o shows them outside; %b and %n are what follows GROUP BY for the first, and after 1, of
 * the second; %d are these names; %g follows FROM outside.
 */
static const struct
{
	const char *name;
	const char *query;
}			instead_of[] =

{
#define GROUPS "FROM (SELECT %a%v AS k, count(*) AS n FROM %f GROUP BY 1%n) AS q%g"
	{"min", "SELECT %omin(k) " GROUPS},
	{"max", "SELECT %omax(k) " GROUPS},
	{"any_value", "SELECT %oany_value(k) " GROUPS},
	{"array_agg", "SELECT %oarray_agg(k ORDER BY k) " GROUPS},
	{"string_agg", "SELECT %ostring_agg(k, ', ' ORDER BY k) " GROUPS},
	{"json_agg", "SELECT %ojson_agg(k ORDER BY k) " GROUPS},
	{"jsonb_agg", "SELECT %ojsonb_agg(k ORDER BY k) " GROUPS}
};

/* ------------------------------------------------------------------------
 * Aggregates
 * ------------------------------------------------------------------------
 */

static bool
may_be_key(Oid type)
{
	char		category = get_element_type(type) ? TYPCATEGORY_ARRAY : TYPCATEGORY_INVALID;
	bool		preferred;

	type = getBaseType(type);
	get_type_category_preferred(type, &category, &preferred);
	return type != CASHOID && type != TIMETZOID &&
		(category == TYPCATEGORY_NUMERIC || category == TYPCATEGORY_STRING || category == TYPCATEGORY_DATETIME ||
		 category == TYPCATEGORY_BOOLEAN || category == TYPCATEGORY_ENUM || type == UUIDOID);
}

bool
dp_names_one_person(DpLevel *level, Node *expr)
{
	if (dp_is_unit(level, expr))
		return true;
	foreach_ptr(DpToken, token, level->from.unit.tokens)
	{
		if (dp_columns_among(token->vars, list_make1(expr)))
			return true;
	}
	return false;
}

/* Returns how a message writes an argument; NULL: it would not be what the query has. */
static const char *
argument_text(DpLevel *level, Node *value)
{
	const char *text = dp_expression_text(level, value);

	return strlen(text) <= LONGEST_VALUE && strcmp(text, "...") != 0 ? text : NULL;
}

/* Returns the keys of a query that is written out: the level's, or none where one of them could not be written. */
static List *
written_keys(DpLevel *level)
{
	List	   *keys = get_sortgrouplist_exprs(level->query->groupClause, level->query->targetList);

	foreach_ptr(Node, key, keys)
		if (argument_text(level, key) == NULL)
		return NIL;
	return keys;
}

/* Returns what a query that is written out has for one of its places, which letters name. */
static char *
place_text(DpLevel *level, char place)
{
	StringInfoData text;
	List	   *keys = written_keys(level);
	int			n = list_length(keys);
	const char *outside = n > 1 ? "g%d" : "g";

	initStringInfo(&text);
	if (n > 0 && (place == 'b' || place == 'g'))
		appendStringInfoString(&text, " GROUP BY ");
	for (int i = 1; i <= n; i++)
	{
		const char *key = dp_expression_text(level, list_nth(keys, i - 1));

		switch (place)
		{
			case 'k':
				appendStringInfo(&text, "%s, ", key);
				break;
			case 'a':
				appendStringInfo(&text, "%s AS ", key);
				/* FALLTHROUGH */
			case 'o':
				appendStringInfo(&text, outside, i);
				appendStringInfoString(&text, ", ");
				break;
			case 'd':
				appendStringInfoString(&text, i > 1 ? ", " : "");
				appendStringInfo(&text, outside, i);
				break;
			case 'n':
				appendStringInfo(&text, ", %d", i + 1);
				break;
			case 'b':
			case 'g':
				appendStringInfo(&text, i > 1 ? ", %d" : "%d", i);
				break;
		}
	}
	return text.data;
}

/* Returns how messages write out a query that has places for the argument, keys, and what is read; empty where that cannot be typed in. */
static const char *
fill_in(DpLevel *level, const char *query, const char *value)
{
	const char *from = dp_example_from(level->query);
	StringInfoData text;

	if (from == NULL)
		return "";
	initStringInfo(&text);
	for (const char *p = query; *p; p++)
	{
		if (*p != '%')
		{
			appendStringInfoChar(&text, *p);
			continue;
		}
		p++;
		appendStringInfoString(&text, *p == 'v' ? value : *p == 'f' ? from : place_text(level, *p));
	}
	return dp_example(text.data) != NULL ? psprintf(", for example %s", text.data) : "";
}

const char *
dp_largest_groups(DpLevel *level, const char *value)
{
	return fill_in(level, written_keys(level) == NIL ? "SELECT %v, count(*) FROM %f GROUP BY 1 ORDER BY 2 DESC LIMIT 1"
				   : "SELECT DISTINCT ON (%d) %ok FROM (SELECT %a%v AS k, count(*) AS n FROM %f GROUP BY 1%n) AS q ORDER BY %d, n DESC", value);
}

const char *
dp_count_of_values(DpLevel *level, const char *value)
{
	return fill_in(level, "SELECT count(DISTINCT %v) FROM %f", value);
}

/* Returns the first argument of an aggregate, among those that are no more than its order; NULL: it has none. */
static Node *
first_argument(Aggref *agg)
{
	List	   *args = get_tlist_exprs(agg->args, false);

	return args != NIL ? linitial(args) : NULL;
}

/* Returns what to write instead of an aggregate that cannot be released. */
static const char *
instead_of_exact(DpLevel *level, Aggref *agg)
{
	const char *name = get_func_name(agg->aggfnoid);
	Node	   *value = first_argument(agg);
	const char *text = value ? argument_text(level, value) : NULL;

	for (int i = 0; text &&agg->aggfnoid < FirstNormalObjectId && i < lengthof(instead_of); i++)
	{
		if (strcmp(instead_of[i].name, name) != 0 || !may_be_key(exprType(value)))
			continue;
		/* what may not run on rows is refused for that */
		(void) dp_make_safe(value, &level->allow);
		if (dp_names_one_person(level, value))
			return psprintf("count persons, or values%s", dp_count_of_values(level, text));
		return psprintf("take it of released groups%s", fill_in(level, instead_of[i].query, text));
	}

	/* asked for a part of it that does not follow from seconds: read/reworded.c */
	if (text &&agg->aggkind == AGGKIND_NORMAL && exprType(value) == INTERVALOID)
		return psprintf("take the seconds of it, and divide them%s", fill_in(level, psprintf("SELECT %%kextract(epoch FROM %s(%%v)) / 3600 FROM %%f%%b", name), text));
	return psprintf("use dp_count, dp_sum, dp_avg or another private aggregate%s",
					fill_in(level, psprintf("SELECT %s FROM %%f", dp_example_count()), NULL));
}

void
dp_refuse_exact(DpLevel *level, Aggref *agg)
{
	DpSplitContext *cxt = level->cxt;
	const char *instead = instead_of_exact(level, agg);

	dp_refuse_at(agg->location,
				 errmsg("%s is exact and cannot be released over protected table \"%s\"; %s",
						get_func_name(agg->aggfnoid), level->table, instead));
}

/* Returns the standard aggregate of one argument that a call is, or stands for, with k as its argument; NULL: it is another. */
static const char *
of_distinct(const char *name)
{
	static const char *const same[] = {"sum", "avg", "variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop"};

	if (strncmp(name, "dp_", 3) == 0)
		name += 3;
	for (int i = 0; i < lengthof(same); i++)
		if (strcmp(name, same[i]) == 0)
			return psprintf("%s(k)", name);
	return strcmp(name, "median") == 0 ? "percentile_cont(0.5) WITHIN GROUP (ORDER BY k)" : NULL;
}

void
dp_refuse_distinct(DpLevel *level, Aggref *agg)
{
	DpSplitContext *cxt = level->cxt;
	const char *name = get_func_name(agg->aggfnoid);
	const char *instead = of_distinct(name);
	Node	   *value = first_argument(agg);
	const char *text = argument_text(level, value);

	if (instead == NULL || text == NULL || !may_be_key(exprType(value)))
		dp_refuse_at(agg->location, errmsg("DISTINCT inside %s is not releasable; leave it out", name));
	(void) dp_make_safe(value, &level->allow);
	if (dp_names_one_person(level, value))
	{
		instead = dp_count_of_values(level, text);
		dp_refuse_at(agg->location, errmsg("DISTINCT inside %s would take each person's value; count them%s", name, instead));
	}
	instead = fill_in(level, psprintf("SELECT %%o%s %s", instead, GROUPS), text);
	dp_refuse_at(agg->location,
				 errmsg("DISTINCT inside %s is not releasable; aggregate the values of released groups%s", name, instead));
}
