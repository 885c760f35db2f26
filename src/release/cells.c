/*-------------------------------------------------------------------------
 *
 * cells.c
 *	  States of groups, of the totals of their cells.
 *
 * Where histograms are counted by the servers of a cluster, a row of the inner
 * plan has keys, a cell (agg/exact/cells.c) and the sum of what rows have added
 * to it, and a group has as many rows as it has cells.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "agg/agg.h"
#include "base/compat.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

typedef struct CellKey
{
	FmgrInfo	eq;
	Oid			collation;
	int16		len;
	bool		byval;
} CellKey;

struct DpCells
{
	int			nkeys;
	CellKey    *keys;
	int			nparts;
	const DpPricedPart **parts; /* of all columns */
};

DpCells *
dp_cells_create(const DpPricedRelease *priced)
{
	DpCells    *cells = palloc0(sizeof(DpCells));

	cells->nkeys = priced->nkeys;
	cells->keys = palloc0(Max(priced->nkeys, 1) * sizeof(CellKey));
	foreach_ptr(DpReleaseKey, key, priced->release->keys)
	{
		CellKey    *k = &cells->keys[foreach_current_index(key)];

		fmgr_info(lookup_type_cache(key->type, TYPECACHE_EQ_OPR_FINFO)->eq_opr_finfo.fn_oid, &k->eq);
		k->collation = key->collation;
		get_typlenbyval(key->type, &k->len, &k->byval);
	}
	for (int i = 0; i < priced->ncolumns; i++)
		cells->nparts += priced->columns[i].nparts;
	cells->parts = palloc(Max(cells->nparts, 1) * sizeof(DpPricedPart *));
	for (int i = 0, n = 0; i < priced->ncolumns; i++)
	{
		for (int j = 0; j < priced->columns[i].nparts; j++)
			cells->parts[n++] = &priced->columns[i].parts[j];
	}
	return cells;
}

bool
dp_cell_has_keys(const DpCells *cells, TupleTableSlot *slot, const Datum *values, const bool *nulls)
{
	for (int i = 0; i < cells->nkeys; i++)
	{
		CellKey    *k = &cells->keys[i];

		if (slot->tts_isnull[i] != nulls[i])
			return false;
		if (!nulls[i] && !DatumGetBool(FunctionCall2Coll(&k->eq, k->collation, slot->tts_values[i], values[i])))
			return false;
	}
	return true;
}

void
dp_copy_cell_keys(const DpCells *cells, TupleTableSlot *slot, Datum *values, bool *nulls, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	for (int i = 0; i < cells->nkeys; i++)
	{
		nulls[i] = slot->tts_isnull[i];
		values[i] = nulls[i] ? (Datum) 0 : datumCopy(slot->tts_values[i], cells->keys[i].byval, cells->keys[i].len);
	}
	MemoryContextSwitchTo(old);
}

void
dp_add_cell(const DpCells *cells, TupleTableSlot *slot, dp_i128 *state)
{
	int64		cell = DatumGetInt64(slot->tts_values[cells->nkeys]);
	const DpPricedPart *part;
	int			code;

	if (cell == DP_NO_CELL)
		return;
	if (DP_CELL_ARGUMENT(cell) < 0 || DP_CELL_ARGUMENT(cell) >= cells->nparts)
		elog(ERROR, "cell " INT64_FORMAT " is of no part of a private query", cell);
	part = cells->parts[DP_CELL_ARGUMENT(cell)];
	/* as histograms count codes beyond them */
	code = DP_CELL_CODE(cell);
	code = code < 0 ? 0 : Min(code, part->width - 1);
	state[part->offset + code] += dp_sum_of_numeric(slot->tts_values[cells->nkeys + 1]);
}
