/*-------------------------------------------------------------------------
 *
 * parts.c
 *	  Which exact states an aggregate is made of.
 *
 * The guard builds the inner query by this, and the release node reads its
 * rows by it: a column's parts depend on the column alone, and their order is
 * that of the states.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "release/release.h"
#include "utils/array.h"

int
dp_column_parts(const DpReleaseColumn *column, DpPart *parts)
{
	const dp_moment_part *moments;
	int			n;

	memset(parts, 0, DP_MAX_COLUMN_PARTS * sizeof(DpPart));
	parts[0].weight = 1;
	switch (column->answer)
	{
		case DP_ANSWER_SUM:
			parts[0].kind = column->kind;
			return 1;
		case DP_ANSWER_MOMENTS:
			moments = dp_moment_parts(column->statistic, &n);
			for (int i = 0; i < n; i++)
			{
				parts[i].kind = moments[i].moment == DP_MOMENT_N ? DP_VALUE_ROWS : DP_VALUE_SCALED;
				parts[i].moment = moments[i].moment;
				parts[i].weight = moments[i].weight;
			}
			return n;
		case DP_ANSWER_QUANTILE:
		case DP_ANSWER_MIN:
		case DP_ANSWER_MAX:
		case DP_ANSWER_HISTOGRAM:
		case DP_ANSWER_BOUNDS:
		case DP_ANSWER_CLIPPED:
		case DP_ANSWER_MODE:
		case DP_ANSWER_NORM:
			parts[0].kind = DP_VALUE_CODES;
			return 1;
		case DP_ANSWER_CLIPPED_TOTALS:
		case DP_ANSWER_CLIPPED_GROUPS:
			parts[0].kind = DP_VALUE_CUT;
			return 1;
	}
	elog(ERROR, "unexpected answer %d", (int) column->answer);
}

int
dp_release_parts(const DpRelease *release)
{
	DpPart		parts[DP_MAX_COLUMN_PARTS];
	int			n = 0;

	foreach_ptr(const DpReleaseColumn, column, release->columns)
		n += dp_column_parts(column, parts);
	return n;
}

int
dp_list_size(const Const *list)
{
	ArrayType  *array = DatumGetArrayTypeP(list->constvalue);

	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

int
dp_list_param(const DpRelease *release, int list)
{
	return release->first_param + 1 + list_length(release->columns) * DP_COLUMN_PARAMS + list;
}

int
dp_release_params_count(const DpRelease *release)
{
	return 1 + list_length(release->columns) * DP_COLUMN_PARAMS + list_length(release->lists) +
		(dp_holds_to_blocks(release) ? 2 * DP_BLOCK_TYPES : 0);
}

bool
dp_holds_to_blocks(const DpRelease *release)
{
	return release->block_first != NIL || release->block_last != NIL;
}

Oid
dp_block_type(int i)
{
	static const Oid types[DP_BLOCK_TYPES] = {DATEOID, TIMESTAMPOID, TIMESTAMPTZOID};

	return types[i];
}

int
dp_block_param(const DpRelease *release, Oid type, bool last)
{
	int			i = 0;

	while (dp_block_type(i) != type)
		i++;
	return dp_list_param(release, list_length(release->lists)) + 2 * i + last;
}

List *
dp_public_sets(const DpRelease *release)
{
	return list_concat_copy(release->key_sets, release->ranges);
}

DpKeySet *
dp_key_set_of(const DpRelease *release, int key)
{
	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		if (list_member_int(set->keys, key))
			return set;
	}
	return NULL;
}
