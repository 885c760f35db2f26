/*-------------------------------------------------------------------------
 *
 * cells.c
 *	  States of groups, of the totals of their cells.
 *
 * Where histograms are counted by the servers of a cluster, a row of the inner
 * plan has keys, a cell (agg/exact/cells.c) and the sum of what rows have added
 * to it, and a group has as many rows as it has cells.  With norms the bins of units come after the keys.
 * Cells are of the parts in their order, of values and, where a norm limits these, of shares; the last is of units that have the group first.
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

/* what the numbers of a cell are of */
typedef struct CellPlace
{
	const DpPricedColumn *column;
	const DpPricedPart *part;
	bool		is_share;
} CellPlace;

struct DpCells
{
	int			nkeys;
	CellKey    *keys;
	int			att;			/* where a row has its cell */
	int			nplaces;
	CellPlace  *places;
};

DpCells *
dp_cells_create(const DpPricedRelease *priced)
{
	DpCells    *cells = palloc0(sizeof(DpCells));

	cells->nkeys = priced->nkeys;
	cells->att = priced->nkeys + list_length(priced->release->norms);
	cells->keys = palloc0(Max(priced->nkeys, 1) * sizeof(CellKey));
	foreach_ptr(DpReleaseKey, key, priced->release->keys)
	{
		CellKey    *k = &cells->keys[foreach_current_index(key)];

		fmgr_info(lookup_type_cache(key->type, TYPECACHE_EQ_OPR_FINFO)->eq_opr_finfo.fn_oid, &k->eq);
		k->collation = key->collation;
		get_typlenbyval(key->type, &k->len, &k->byval);
	}
	cells->places = palloc(Max(2 * priced->nparts, 1) * sizeof(CellPlace));
	for (int i = 0; i < priced->ncolumns; i++)
	{
		const DpPricedColumn *column = &priced->columns[i];

		for (int j = 0; j < column->nparts; j++)
			for (int is_share = 0; is_share <= dp_has_share(column->desc, &column->parts[j].desc); is_share++)
				cells->places[cells->nplaces++] = (CellPlace)
			{
				column, &column->parts[j], is_share
			};
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

dp_i128
dp_cell_units(const DpCells *cells, TupleTableSlot *slot)
{
	int64		cell = DatumGetInt64(slot->tts_values[cells->att]);

	return DP_CELL_ARGUMENT(cell) == cells->nplaces ? dp_sum_of_numeric(slot->tts_values[cells->att + 1]) : 0;
}

void
dp_add_cell(const DpCells *cells, TupleTableSlot *slot, dp_i128 *state)
{
	int64		cell = DatumGetInt64(slot->tts_values[cells->att]);
	bool		has_norms = cells->att > cells->nkeys;
	const CellPlace *place;
	dp_i128		sum;
	int64		bin;
	int			code;

	if (cell == DP_NO_CELL || (has_norms && DP_CELL_ARGUMENT(cell) == cells->nplaces))
		return;
	if (DP_CELL_ARGUMENT(cell) < 0 || DP_CELL_ARGUMENT(cell) >= cells->nplaces)
		elog(ERROR, "cell " INT64_FORMAT " is of no part of a private query", cell);
	place = &cells->places[DP_CELL_ARGUMENT(cell)];
	sum = dp_sum_of_numeric(slot->tts_values[cells->att + 1]);
	if (place->column->desc->norm >= 0)
	{
		bin = DatumGetInt64(slot->tts_values[cells->nkeys + place->column->desc->norm]);
		if (place->column->nweights > 0 && !place->is_share)
			dp_count_weight(place->column, bin, sum, state);
		sum *= dp_norm_factor(place->column, place->part, bin, place->is_share);
	}
	/* as histograms count codes beyond them */
	code = DP_CELL_CODE(cell);
	code = code < 0 ? 0 : Min(code, place->part->width - 1);
	state[place->part->offset + code] += sum;
}
