/*-------------------------------------------------------------------------
 *
 * row.h
 *	  What one row does to its unit's state: the rank of its keys, and sums and
 *	  counts that grow.
 *
 * Private to src/agg.  unit.c, the aggregate, and gather.c, the plan node, do
 * this to rows that they read differently; so it is here, once.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ROW_H
#define DP_ROW_H

#include "catalog/pg_type_d.h"

#include "agg/bounding/state.h"
#include "agg/exact/grid.h"

/* where ranks start when the unit is not among the arguments, or NULL */
#define DP_NO_UNIT UINT64CONST(0x9e3779b97f4a7c15)

static inline int64
dp_limited_row(dp_i128 n, const DpRowLimits *limits)
{
	return (int64) Min(Max(n, (dp_i128) limits->lower), (dp_i128) limits->upper);
}

/* Sets *n to the steps of a value of this base type, within the limits; returns false for NaN. */
static inline bool
dp_row_steps(Oid type, Datum x, const DpGrid *grid, const DpRowLimits *limits, int64 *n)
{
	dp_i128		wide;

	switch (type)
	{
		case INT2OID:
			wide = dp_steps_int(DatumGetInt16(x), grid);
			break;
		case INT4OID:
			wide = dp_steps_int(DatumGetInt32(x), grid);
			break;
		case INT8OID:
			wide = dp_steps_int(DatumGetInt64(x), grid);
			break;
		case FLOAT4OID:
			if (!dp_steps_float8(DatumGetFloat4(x), grid, &wide))
				return false;
			break;
		case FLOAT8OID:
			if (!dp_steps_float8(DatumGetFloat8(x), grid, &wide))
				return false;
			break;
		default:
			if (!dp_steps_numeric(x, grid->exponent, &wide))
				return false;
			break;
	}
	*n = dp_limited_row(wide, limits);
	return true;
}

/* Adds n to a state's sum; 2^62 rows fit, and nobody reads as many. */
static inline void
dp_add_to_sum(char *value, dp_i128 n)
{
	DpExactSum *sum = (DpExactSum *) value;

	dp_exact_sum_set(sum, dp_sum_is_none(sum) ? n : dp_exact_sum_get(sum) + n);
}

static inline void
dp_add_to_count(char *value, uint32 n)
{
	uint32	   *count = (uint32 *) value;

	if (unlikely(__builtin_add_overflow(*count, n, count)))
		*count = PG_UINT32_MAX;
}

/* Adds the values of an entry to those of another of the same keys. */
static inline void
dp_merge_values(const DpLayout *layout, char *to, const char *from)
{
	for (int i = 0; i < layout->nvalues; i++)
	{
		int			at = layout->value[i];

		if (dp_is_sum(layout->sums, i))
		{
			const DpExactSum *sum = (const DpExactSum *) (from + at);

			if (!dp_sum_is_none(sum))
				dp_add_to_sum(to + at, dp_exact_sum_get(sum));
		}
		else if (layout->codes[i] != 0)
			dp_codes_merge(to + at, from + at, layout->codes[i]);
		else
			dp_add_to_count(to + at, *(const uint32 *) (from + at));
	}
}

/*
 * Fills in keys from their values and *rank, which starts from the unit's salt.
 * Returns false where keys by reference take more than key_bytes: such a row is
 * in no group (see state.c), and is not fetched.
 */
static inline bool
dp_rank_keys(DpShape *shape, const NullableDatum *value, uint64 salt, Size key_bytes, uint64 seed,
			 DpKey *keys, uint64 *rank)
{
	uint64		hash = salt;
	uint64		nulls = 0;
	Size		bytes = 0;

	for (int i = 0; i < shape->layout.nkeys; i++, value++)
	{
		DpKeyInfo  *info = &shape->key[i];

		if (value->isnull)
		{
			keys[i].isnull = true;
			nulls |= UINT64CONST(1) << i;
			hash = dp_rank_null(hash);
		}
		else if (likely(info->class == DP_KEY_WORD))
		{
			keys[i].isnull = false;
			keys[i].word = dp_key_word(value->value, info->typlen);
			hash = dp_rank_word(hash, keys[i].word);
		}
		else
		{
			if (!info->typbyval && (bytes += dp_key_bytes(value->value, info->typlen)) > key_bytes)
				return false;
			hash = dp_rank_word(hash, dp_key_hash(info, value->value, &keys[i], seed));
		}
	}
	*rank = dp_rank_finish(hash, nulls);
	return true;
}

/* unit.c: fails unless the spec is sound, and for so many arguments after it (with the unit or without) */
extern void dp_check_bound_call(const DpBoundSpec *spec, int narguments);

/* unit.c: makes the layout of the spec's states; shape->key is filled in already. */
extern void dp_unit_shape(DpShape *shape, const DpBoundSpec *spec);
extern bool dp_unit_takes(const DpBoundSpec *spec, int i, Oid type);
DP_NORETURN extern void dp_refuse_key_type(Oid type);

#endif							/* DP_ROW_H */
