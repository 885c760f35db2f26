/*-------------------------------------------------------------------------
 *
 * key_values.c
 *	  A list of values that a key can have, while it is collected.
 *
 * Invariant: a value is in the list in its canonical form, which is that of
 * the rows' keys, and only if a row can have it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "guard/describe/key_values.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

void
dp_key_values_start(DpKeyValues *keys, DpReleaseKey *key, DpLevel *level)
{
	Node	   *probe = dp_canonical_key((Node *) makeNullConst(key->type, key->typmod, key->collation));

	memset(keys, 0, sizeof(DpKeyValues));
	keys->type = key->type;
	keys->typmod = key->typmod;
	keys->collation = key->collation;
	get_typlenbyval(key->type, &keys->typlen, &keys->typbyval);
	keys->level = level;
	keys->beyond = -1;
	keys->room = dp_allowed_memory(level->dataset) - level->cxt->key_memory;
	if (IsA(probe, FuncExpr))
	{
		keys->canonical = palloc(sizeof(FmgrInfo));
		fmgr_info(((FuncExpr *) probe)->funcid, keys->canonical);
	}
	keys->size = 16;
	keys->values = palloc(keys->size * sizeof(Datum));
}

void
dp_key_values_refuse(const DpKeyValues *keys, int64 n)
{
	dp_refuse_keys(keys->level->dataset, keys->level->cxt->keys + keys->n + n, true);
}

/*
 * Gives a value the form that it has with the typmod.  Returns false if there
 * is none, so that no row has the value.
 */
static bool
fit_typmod(const DpKeyValues *keys, Datum *value)
{
	Datum		fitted;

	if (keys->typmod < (int32) VARHDRSZ)
		return true;
	switch (keys->type)
	{
		case NUMERICOID:
			/* not numeric(), which fails for large values */
			fitted = DirectFunctionCall2(numeric_round, *value,
										 Int32GetDatum(dp_numeric_scale(keys->typmod)));
			if (!DatumGetBool(DirectFunctionCall2(numeric_eq, fitted, *value)))
				return false;
			break;
		case BPCHAROID:
			fitted = DirectFunctionCall3(bpchar, *value, Int32GetDatum(keys->typmod), BoolGetDatum(true));
			if (!DatumGetBool(DirectFunctionCall2Coll(bpchareq, keys->collation, fitted, *value)))
				return false;
			break;
		default:
			return true;
	}
	*value = fitted;
	return true;
}

void
dp_key_values_add(DpKeyValues *keys, Datum value)
{
	if (keys->canonical)
		value = FunctionCall1Coll(keys->canonical, keys->collation, value);
	else if (!fit_typmod(keys, &value))
		return;
	keys->memory += dp_key_memory(value, keys->typbyval, keys->typlen);
	if (keys->memory > keys->room)
		dp_key_values_refuse(keys, 0);
	if (keys->n >= keys->size)
		keys->values = repalloc_huge(keys->values, (Size) (keys->size *= 2) * sizeof(Datum));
	keys->values[keys->n++] = value;
}

void
dp_key_values_add_list(DpKeyValues *keys, const Datum *values, int n)
{
	/* those by value have one form, and take the same room each */
	bool		as_they_are = keys->canonical == NULL && keys->typbyval &&
	keys->memory + n * (int64) DP_KEY_MEMORY <= keys->room;

	if (as_they_are && keys->size < keys->n + n)
	{
		keys->size = keys->n + n;
		keys->values = repalloc_huge(keys->values, (Size) keys->size * sizeof(Datum));
	}
	for (int i = 0; i < n; i++)
	{
		if (as_they_are)
		{
			keys->values[keys->n++] = values[i];
			keys->memory += DP_KEY_MEMORY;
		}
		else
			dp_key_values_add(keys, values[i]);
	}
}

bool
dp_key_values_add_range(DpKeyValues *keys, int64 low, int64 high)
{
	/* the difference may not fit an int64 */
	if (low <= high && (uint64) high - (uint64) low >= DP_MAX_KEY_RANGE)
		return false;
	for (int64 i = low; i <= high; i++)
	{
		switch (keys->type)
		{
			case INT2OID:
				if (i >= PG_INT16_MIN && i <= PG_INT16_MAX)
					dp_key_values_add(keys, Int16GetDatum((int16) i));
				break;
			case INT4OID:
				if (i >= PG_INT32_MIN && i <= PG_INT32_MAX)
					dp_key_values_add(keys, Int32GetDatum((int32) i));
				break;
			case INT8OID:
				dp_key_values_add(keys, Int64GetDatum(i));
				break;
			case FLOAT8OID:
				dp_key_values_add(keys, Float8GetDatum((double) i));
				break;
			case NUMERICOID:
				dp_key_values_add(keys, NumericGetDatum(int64_to_numeric(i)));
				break;
			case DATEOID:
				if (i >= PG_INT32_MIN && i <= PG_INT32_MAX &&
					(IS_VALID_DATE((DateADT) i) || DATE_NOT_FINITE((DateADT) i)))
					dp_key_values_add(keys, DateADTGetDatum((DateADT) i));
				break;
			default:
				return false;
		}
		if (i == PG_INT64_MAX)
			break;
	}
	return true;
}

Const *
dp_constant_argument(FuncExpr *call, int n)
{
	Node	   *arg = list_nth(call->args, n);
	Const	   *constant = dp_is_unfoldable(arg, NULL) ? NULL : dp_fold(arg);

	return constant == NULL || constant->constisnull ? NULL : constant;
}
