/*-------------------------------------------------------------------------
 *
 * whose_rows.h
 *	  Arguments of protect_table that say which person a row belongs to.
 *
 * Private to src/admin.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_WHOSE_ROWS_H
#define DP_WHOSE_ROWS_H

#include "access/attnum.h"
#include "admin/admin.h"
#include "policy/policy.h"

/* whose the rows of a table are to be */
typedef struct DpUnitArgument
{
	AttrNumber	unit;			/* the column that names the unit; 0: none */
	DpTable		through;		/* nthrough and through: columns that
								 * reference what has one */
	AttrNumber	columns[INDEX_MAX_KEYS];	/* these, by number */
	DpBlockArgument block;
} DpUnitArgument;

/* Reads arguments 2 unit, 3 through and 6 each_row, and refuses to guess: ZC004. */
extern void dp_admin_read_unit(FunctionCallInfo fcinfo, Oid relid, DpUnitArgument *argument);

/* Refuses columns that are no foreign key to rows of the dataset that belong to people. */
extern void dp_admin_check_through(Oid relid, const char *dataset, DpUnitArgument *argument);

/* Refuses to protect a table anew whose label names another unit. */
extern void dp_admin_check_same_unit(Oid relid, const DpLabel *old, const DpUnitArgument *argument);

/* Warns of a unit that does not look like those of the other tables of its dataset; between dp_admin_begin and dp_admin_end. */
extern void dp_admin_doubt_unit(Oid relid);

#endif							/* DP_WHOSE_ROWS_H */
