/*-------------------------------------------------------------------------
 *
 * dataset_row.c
 *	  A row of table dp_cdp_internal.dataset, read by the names of its columns.
 *
 * Policy, ledger and administration read the table in their own ways and
 * under their own locks; which column is which is decided here alone.  Names
 * and not numbers, because an upgrade may append what CREATE EXTENSION puts
 * elsewhere.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "common/int.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/amounts.h"
#include "base/dataset_row.h"
#include "base/settings.h"
#include "base/errors.h"
#include "base/role_names.h"

static const char *const column_names[DP_DATASET_NCOLUMNS] = {
	[DP_DATASET_NAME] = "name",
	[DP_DATASET_OWNER] = "owner",
	[DP_DATASET_RHO_LIMIT] = "rho_limit",
	[DP_DATASET_RHO_SPENT] = "rho_spent",
	[DP_DATASET_DELTA_LIMIT] = "delta_limit",
	[DP_DATASET_DELTA_SPENT] = "delta_spent",
	[DP_DATASET_DEFAULT_RHO] = "default_rho",
	[DP_DATASET_MAX_RHO] = "max_rho",
	[DP_DATASET_MIN_RHO] = "min_rho",
	[DP_DATASET_DEFAULT_DELTA] = "default_delta",
	[DP_DATASET_MAX_GROUPS] = "max_groups",
	[DP_DATASET_MAX_ROWS] = "max_rows",
	[DP_DATASET_NEIGHBORS] = "neighbors",
	[DP_DATASET_MAX_FAILURES] = "max_failures",
	[DP_DATASET_ANSWER_STEP] = "answer_step",
	[DP_DATASET_ADOPTED] = "adopted",
	[DP_DATASET_OWNER_NAME] = "owner_name",
	[DP_DATASET_LEDGER_ID] = "ledger_id",
	[DP_DATASET_RELEASE_MEMORY] = "release_memory",
	[DP_DATASET_FIND_BOUNDS] = "find_bounds",
	[DP_DATASET_BLOCK_EVERY] = "block_every",
	[DP_DATASET_REUSE] = "reuse",
	[DP_DATASET_FORGOTTEN_AT] = "forgotten_at",
	[DP_DATASET_REUSE_DUMPED] = "reuse_dumped",
	[DP_DATASET_CONSISTENT] = "consistent",
	[DP_DATASET_PULL_ROWS] = "pull_rows",
	[DP_DATASET_KEY_DELTA_SHARE] = "key_delta_share",
	[DP_DATASET_MAX_CONTRIBUTION] = "max_contribution",
	[DP_DATASET_MIN_UNITS] = "min_units",
};

AttrNumber
dp_dataset_attnum(TupleDesc desc, DpDatasetColumn column)
{
	/*
	 * where it was found last is where it is, as long as the name there is
	 * its name
	 */
	static AttrNumber last[DP_DATASET_NCOLUMNS];
	AttrNumber	attnum = last[column];

	if (attnum > 0 && attnum <= desc->natts && !TupleDescAttr(desc, attnum - 1)->attisdropped &&
		strcmp(NameStr(TupleDescAttr(desc, attnum - 1)->attname), column_names[column]) == 0)
		return attnum;
	attnum = SPI_fnumber(desc, column_names[column]);
	if (attnum <= 0)
		elog(ERROR, "table dp_cdp_internal.dataset lacks column \"%s\"", column_names[column]);
	last[column] = attnum;
	return attnum;
}

static Datum
get_column(HeapTuple tuple, TupleDesc desc, DpDatasetColumn column, bool *isnull)
{
	return heap_getattr(tuple, dp_dataset_attnum(desc, column), desc, isnull);
}

static Datum
get_not_null(HeapTuple tuple, TupleDesc desc, DpDatasetColumn column)
{
	bool		isnull;
	Datum		value = get_column(tuple, desc, column, &isnull);

	if (isnull)
		elog(ERROR, "column \"%s\" of dp_cdp_internal.dataset is null", column_names[column]);
	return value;
}

static int64
get_amount(HeapTuple tuple, TupleDesc desc, DpDatasetColumn column, int scale)
{
	return dp_numeric_amount(DatumGetNumeric(get_not_null(tuple, desc, column)), scale, true);
}

/* Returns an amount of rho, 0 where the column is NULL. */
static int64
get_optional_rho(HeapTuple tuple, TupleDesc desc, DpDatasetColumn column)
{
	bool		isnull;
	Datum		value = get_column(tuple, desc, column, &isnull);

	return isnull ? 0 : dp_numeric_amount(DatumGetNumeric(value), DP_RHO_SCALE, true);
}

static bool
is_positive(HeapTuple tuple, TupleDesc desc, DpDatasetColumn column)
{
	return DatumGetBool(DirectFunctionCall2(numeric_gt, get_not_null(tuple, desc, column),
											DirectFunctionCall1(int4_numeric, Int32GetDatum(0))));
}

Oid
dp_read_dataset_owner(HeapTuple tuple, TupleDesc desc)
{
	Oid			owner = DatumGetObjectId(get_not_null(tuple, desc, DP_DATASET_OWNER));
	bool		isnull;
	Datum		name = get_column(tuple, desc, DP_DATASET_OWNER_NAME, &isnull);

	/* not by an alias, which is for rows of the audit */
	return dp_known_role(owner, isnull ? NULL : TextDatumGetCString(name)) == owner ? owner : InvalidOid;
}

/* Reads how long blocks are; a row that was put in by hand may hold anything. */
static void
read_blocks(HeapTuple tuple, TupleDesc desc, DpDatasetRow *row)
{
	bool		isnull;
	Datum		every = get_column(tuple, desc, DP_DATASET_BLOCK_EVERY, &isnull);

	row->blocks = (DpBlockLength)
	{
		0, 0
	};
	if (!isnull && !dp_block_length(DatumGetIntervalP(every), &row->blocks))
		dp_raise(BAD_PARAMETER,
				 errmsg("block_every of a row of dp_cdp_internal.dataset must be of whole months or whole days, above 0: restore the row from a backup"));
}

bool
dp_interval_microseconds(const Interval *interval, int64 *microseconds)
{
	int64		days = (int64) interval->month * DAYS_PER_MONTH + interval->day;
	int64		sum;

#ifdef INTERVAL_NOT_FINITE
	if (INTERVAL_NOT_FINITE(interval))
		return false;
#endif
	return !pg_mul_s64_overflow(days, USECS_PER_DAY, &sum) &&
		!pg_add_s64_overflow(sum, interval->time, microseconds);
}

/* Reads for how long answers are given again. */
static void
read_reuse(HeapTuple tuple, TupleDesc desc, DpDatasetRow *row)
{
	bool		isnull;
	Datum		value = get_column(tuple, desc, DP_DATASET_REUSE, &isnull);

	/* a row that was put in by hand may hold anything */
	if (isnull || !dp_interval_microseconds(DatumGetIntervalP(value), &row->reuse) || row->reuse < 0)
		row->reuse = 0;
	value = get_column(tuple, desc, DP_DATASET_FORGOTTEN_AT, &isnull);
	row->forgotten_at = isnull ? DT_NOBEGIN : DatumGetTimestampTz(value);
	row->reuse_dumped = DatumGetBool(get_not_null(tuple, desc, DP_DATASET_REUSE_DUMPED));
}

/* Reads to what contributions of a unit are limited. */
static void
read_contribution(HeapTuple tuple, TupleDesc desc, DpDatasetRow *row)
{
	bool		isnull;
	Datum		value = get_column(tuple, desc, DP_DATASET_MAX_GROUPS, &isnull);

	row->max_groups = isnull ? 0 : DatumGetInt32(value);
	value = get_column(tuple, desc, DP_DATASET_MAX_ROWS, &isnull);
	row->max_rows = isnull ? 0 : DatumGetInt32(value);
	value = get_column(tuple, desc, DP_DATASET_MAX_CONTRIBUTION, &isnull);
	/* a row that was put in by hand may hold anything */
	if (isnull || !dp_contribution_of_text(TextDatumGetCString(value), &row->max_contribution))
		row->max_contribution = 0;
}

void
dp_read_dataset_settings(HeapTuple tuple, TupleDesc desc, DpDatasetRow *row)
{
	bool		isnull;
	bool		no_limit;
	Datum		step = get_column(tuple, desc, DP_DATASET_ANSWER_STEP, &isnull);
	Datum		memory = get_column(tuple, desc, DP_DATASET_RELEASE_MEMORY, &no_limit);
	bool		not_found;
	Datum		share = get_column(tuple, desc, DP_DATASET_FIND_BOUNDS, &not_found);

	row->release_memory = no_limit ? 0 : DatumGetInt32(memory);
	row->find_bounds = not_found ? 0 : DatumGetFloat8(share);
	read_blocks(tuple, desc, row);
	read_reuse(tuple, desc, row);
	row->consistent = DatumGetBool(get_not_null(tuple, desc, DP_DATASET_CONSISTENT));
	row->pull_rows = DatumGetBool(get_not_null(tuple, desc, DP_DATASET_PULL_ROWS));
	row->key_delta_share = DatumGetFloat8(get_not_null(tuple, desc, DP_DATASET_KEY_DELTA_SHARE));
	row->answer_step = NULL;
	if (!isnull)
	{
		row->answer_step = palloc(sizeof(Interval));
		*row->answer_step = *DatumGetIntervalP(step);
	}
	strlcpy(row->name, TextDatumGetCString(get_not_null(tuple, desc, DP_DATASET_NAME)), NAMEDATALEN);
	row->ledger_id = DatumGetInt64(get_not_null(tuple, desc, DP_DATASET_LEDGER_ID));
	row->owner = dp_read_dataset_owner(tuple, desc);
	row->default_rho = get_amount(tuple, desc, DP_DATASET_DEFAULT_RHO, DP_RHO_SCALE);
	row->max_rho = get_optional_rho(tuple, desc, DP_DATASET_MAX_RHO);
	row->min_rho = get_optional_rho(tuple, desc, DP_DATASET_MIN_RHO);
	row->default_delta = get_amount(tuple, desc, DP_DATASET_DEFAULT_DELTA, DP_DELTA_SCALE);
	read_contribution(tuple, desc, row);
	row->neighbors = TextDatumGetCString(get_not_null(tuple, desc, DP_DATASET_NEIGHBORS));
	row->max_failures = DatumGetInt32(get_not_null(tuple, desc, DP_DATASET_MAX_FAILURES));
	/* a row that was put in by hand may hold anything */
	row->min_units = Min(Max(DatumGetInt32(get_not_null(tuple, desc, DP_DATASET_MIN_UNITS)), 1), DP_MAX_MIN_UNITS);
}

void
dp_read_dataset_limits(HeapTuple tuple, TupleDesc desc, DpDatasetRow *row)
{
	bool		isnull;

	(void) get_column(tuple, desc, DP_DATASET_RHO_LIMIT, &isnull);
	row->has_rho_limit = !isnull;
	row->rho_limit = get_optional_rho(tuple, desc, DP_DATASET_RHO_LIMIT);
	row->delta_limit = get_amount(tuple, desc, DP_DATASET_DELTA_LIMIT, DP_DELTA_SCALE);
	row->spent = is_positive(tuple, desc, DP_DATASET_RHO_SPENT) ||
		is_positive(tuple, desc, DP_DATASET_DELTA_SPENT);
}
