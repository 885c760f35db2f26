/*-------------------------------------------------------------------------
 *
 * suggest.c
 *	  Which limit on contributions serves best, for the owner of a dataset.
 *
 * The questions are counts that every analyst may ask, of all rows of a table and by each
 * of its columns with declared keys.  They are planned and priced as any query, but nothing of them is
 * bought except what finds the limit of each: a histogram of the units' norms.
 * The limit is chosen by it as it is for analysts (found_limits.c).
 *
 * Each unit is in one bin of each histogram, whose squared sensitivity is 1 if a unit is added or removed, and
 * 2 if one is replaced: a histogram is rho-zCDP for its share of rho, and all together for rho.
 *
 * Invariants:
 * - The dataset that pays is the one that the caller has asked the owner of; and the table's.
 * - rho is debited once, for all histograms, before any row is read; no error gives it back.
 * - What is planned is the text below and nothing that anybody has written,
 *	 without functions but dp_count, so that no code of others meets the cap that pays.
 * - What is returned follows from noisy counts that were paid for, and from the policy.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "base/amounts.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"
#include "executor/executor.h"
#include "policy/policy.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/*
 * Returns the columns, quoted, that questions go by: those with declared keys but for the unit's own, as a unit has one
 * group of that.
 */
static List *
columns_with_keys(Oid relid, const DpTable *table, const DpDataset *dataset)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *columns = NIL;

	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), i);

		if (column->attisdropped || strcmp(NameStr(column->attname), table->unit) == 0)
			continue;
		/* as those who ask see them */
		if (dp_policy_column(relid, column->attnum, GetUserId(), dp_allowed_memory(dataset))->has_keys)
			columns = lappend(columns, pstrdup(quote_identifier(NameStr(column->attname))));
	}
	table_close(rel, NoLock);
	return columns;
}

static const char *
table_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));
}

/* Returns one query of all counts. */
static char *
query_text(Oid relid, List *columns)
{
	char	   *count = psprintf("SELECT %s.dp_count(*) FROM %s",
								 quote_identifier(get_namespace_name(dp_public_schema())), table_name(relid));
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, count);
	foreach_ptr(char, column, columns)
		appendStringInfo(&text, " UNION ALL %s GROUP BY %s", count, column);
	return text.data;
}

static void
set_local(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* Sets what the session may have set, so that limits are found and no hard limits are in the way. */
static void
pin_settings(const DpDataset *dataset)
{
	set_local("dp_cdp.max_contribution", "auto");
	set_local("dp_cdp.max_groups", psprintf("%d", DP_MOST_UNIT_GROUPS));
	set_local("dp_cdp.max_rows", psprintf("%d", DP_MAX_CONTRIBUTION));
	set_local("dp_cdp.target_error", "");
	set_local("dp_cdp.rho", dp_amount_text(dataset->default_rho, DP_RHO_SCALE));
}

/* Plans the text for whom the dataset's cap pays. */
static PlannedStmt *
plan(char *text, const DpDataset *dataset)
{
	PlannedStmt *volatile result = NULL;
	const char *save_cap = dp_paying_cap;

	PG_TRY();
	{
		dp_paying_cap = dataset->name;
		result = dp_plan_text(text, "suggest_limits");
	}
	PG_FINALLY();
	{
		dp_paying_cap = save_cap;
	}
	PG_END_TRY();
	return result;
}

/* Splits rho into n parts, which add up to it and differ by a step at most; ZC004 below what a read may cost. */
static int64 *
split(int64 rho, int n, const DpDataset *dataset)
{
	int64	   *parts = palloc(n * sizeof(int64));

	if (rho / n < dataset->min_rho)
		dp_raise(BAD_PARAMETER,
				 errmsg("rho is too little for %d answers: each costs at least min_rho of dataset \"%s\", which is %s; give rho %s or more",
						n, dataset->name, dp_amount_text(dataset->min_rho, DP_RHO_SCALE),
						dp_amount_text((int128) dataset->min_rho * n, DP_RHO_SCALE)));
	for (int i = 0; i < n; i++)
		parts[i] = rho / n + (i < rho % n ? 1 : 0);
	return parts;
}

/* Buys the limits; an error says what was charged. */
static void
buy(List *runs, EState *root, const int64 *rho, Oid relid)
{
	MemoryContext caller = MemoryContextSwitchTo(root->es_query_cxt);

	PG_TRY();
	{
		if (!dp_buy_limits(runs, root, rho))
			dp_raise(BAD_PARAMETER,
					 errmsg("no privacy unit has two rows in table \"%s\": there is nothing to limit, and nothing was charged",
							get_rel_name(relid)));
	}
	PG_CATCH();
	{
		DpCharge	charged;

		(void) dp_charge_of(root, &charged);
		dp_charge_rethrow(caller, &charged);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
}

static DpSuggestion *
suggestion(const DpRun *run)
{
	const DpPricedColumn *column = dp_column_with_norm(run->priced, 0);
	List	   *keys = run->release->keys;
	DpSuggestion *result = palloc(sizeof(DpSuggestion));

	result->fingerprint = keys == NIL ? "count(*)" : psprintf("count(*) by %s", ((DpReleaseKey *) linitial(keys))->label);
	result->contribution = (double) column->limits[column->limit] / column->norm_unit;
	result->cut = column->cut;
	result->stddev = column->sigma;
	return result;
}

/* Refuses a table that belongs to a dataset of others by now. */
static void
check_dataset(const char *now, const char *name, Oid relid)
{
	if (now == NULL || strcmp(now, name) != 0)
		dp_raise(NOT_RELEASABLE,
				 errmsg("table \"%s\" has left dataset \"%s\" meanwhile; nothing was charged: ask again",
						get_rel_name(relid), name));
}

/* Runs the query of all counts for their limits; statement: what asks, for the audit. */
static List *
find(Oid relid, const DpDataset *dataset, PlannedStmt *stmt, const char *statement, int fingerprints, const int64 *rho)
{
	QueryDesc  *desc = CreateQueryDesc(stmt, statement, GetActiveSnapshot(), InvalidSnapshot,
									   None_Receiver, NULL, NULL, 0);
	List	   *found = NIL;
	List	   *runs;

	ExecutorStart(desc, 0);
	runs = dp_runs_of(desc->estate);
	if (list_length(runs) != fingerprints)
		elog(ERROR, "%d questions have %d releases", fingerprints, list_length(runs));
	foreach_ptr(DpRun, run, runs)
		check_dataset(run->release->dataset, dataset->name, relid);
	buy(runs, desc->estate, rho, relid);
	foreach_ptr(const DpRun, run, runs)
		found = lappend(found, suggestion(run));
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	return found;
}

List *
dp_suggest(Oid relid, const char *name, int64 rho)
{
	const DpTable *table = dp_policy_table(relid);
	DpDataset  *dataset = dp_policy_dataset(name);
	int			level = NewGUCNestLevel();
	List	   *columns;
	List	   *found;
	int			fingerprints;
	int64	   *parts;
	char	   *statement;

	check_dataset(table ? table->dataset : NULL, name, relid);
	pin_settings(dataset);
	PushActiveSnapshot(GetTransactionSnapshot());
	columns = columns_with_keys(relid, table, dataset);
	fingerprints = list_length(columns) + 1;
	parts = split(rho, fingerprints, dataset);
	statement = psprintf("SELECT * FROM dp_cdp.suggest_limits(%s, %s)",
						 quote_literal_cstr(table_name(relid)), dp_amount_text(rho, DP_RHO_SCALE));
	found = find(relid, dataset, plan(query_text(relid, columns), dataset), statement, fingerprints, parts);
	PopActiveSnapshot();
	AtEOXact_GUC(true, level);
	return found;
}
