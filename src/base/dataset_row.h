/*-------------------------------------------------------------------------
 *
 * dataset_row.h
 *	  A row of table dp_cdp_internal.dataset, read by the names of its columns.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_DATASET_ROW_H
#define DP_DATASET_ROW_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "datatype/timestamp.h"

#include "base/blocks.h"

typedef enum DpDatasetColumn
{
	DP_DATASET_NAME,
	DP_DATASET_OWNER,
	DP_DATASET_RHO_LIMIT,
	DP_DATASET_RHO_SPENT,
	DP_DATASET_DELTA_LIMIT,
	DP_DATASET_DELTA_SPENT,
	DP_DATASET_DEFAULT_RHO,
	DP_DATASET_MAX_RHO,
	DP_DATASET_MIN_RHO,
	DP_DATASET_DEFAULT_DELTA,
	DP_DATASET_MAX_GROUPS,
	DP_DATASET_MAX_ROWS,
	DP_DATASET_NEIGHBORS,
	DP_DATASET_MAX_FAILURES,
	DP_DATASET_ANSWER_STEP,
	DP_DATASET_ADOPTED,
	DP_DATASET_OWNER_NAME,
	DP_DATASET_LEDGER_ID,
	DP_DATASET_RELEASE_MEMORY,
	DP_DATASET_FIND_BOUNDS,
	DP_DATASET_BLOCK_EVERY,
	DP_DATASET_REUSE,
	DP_DATASET_FORGOTTEN_AT,
	DP_DATASET_REUSE_DUMPED,
	DP_DATASET_CONSISTENT,
	DP_DATASET_PULL_ROWS,
	DP_DATASET_KEY_DELTA_SHARE,
	DP_DATASET_MAX_CONTRIBUTION,
	DP_DATASET_MIN_UNITS,
	DP_DATASET_NCOLUMNS
} DpDatasetColumn;

/* rho and delta as amounts */
typedef struct DpDatasetRow
{
	char		name[NAMEDATALEN];
	int64		ledger_id;		/* of the cap */
	Oid			owner;			/* InvalidOid: a role that there is no more */
	int64		default_rho;
	int64		max_rho;		/* 0: none */
	int64		min_rho;		/* 0: a share of default_rho */
	int64		default_delta;
	int			max_groups;		/* 0: none */
	int			max_rows;		/* 0: none */
	double		max_contribution;	/* rows; DP_FOUND_CONTRIBUTION; 0: none */
	char	   *neighbors;
	int			max_failures;
	Interval   *answer_step;	/* NULL: none */
	int			release_memory; /* kB; 0: the server's */
	double		find_bounds;	/* share of an aggregate's price; 0: they are
								 * not found */
	DpBlockLength blocks;		/* without blocks: 0 */
	int64		reuse;			/* microseconds; 0: answers are not kept */
	TimestampTz forgotten_at;	/* -infinity: never */
	bool		reuse_dumped;
	bool		consistent;		/* grouping sets are made to add up */
	bool		pull_rows;		/* of distributed tables */
	double		key_delta_share;	/* of the delta of an (epsilon, delta)
									 * budget, for key selections */
	int			min_units;		/* that a group has which is shown, >= 1 */
	/* dp_read_dataset_limits */
	bool		has_rho_limit;
	int64		rho_limit;
	int64		delta_limit;
	bool		spent;			/* rho_spent or delta_spent > 0 */
} DpDatasetRow;

/* microseconds of an interval, a month as 30 days; false when it is infinite, or more than an int64 holds */
extern bool dp_interval_microseconds(const Interval *interval, int64 *microseconds);

/* number of a column; internal error when the table lacks it */
extern AttrNumber dp_dataset_attnum(TupleDesc desc, DpDatasetColumn column);

/*
 * Fill in a row from a tuple of the table, or of SELECT * from it: all but
 * the limits, and these alone.  What the fields point to is palloc'd.
 */
extern void dp_read_dataset_settings(HeapTuple tuple, TupleDesc desc, DpDatasetRow *row);
extern void dp_read_dataset_limits(HeapTuple tuple, TupleDesc desc, DpDatasetRow *row);

/* the owner alone; InvalidOid: a role that there is no more */
extern Oid	dp_read_dataset_owner(HeapTuple tuple, TupleDesc desc);

#endif							/* DP_DATASET_ROW_H */
