/*-------------------------------------------------------------------------
 *
 * unit_key.c
 *	  Units of any type: their hash, and the image by which they are told apart.
 *
 * A unit of one column that is told apart by the bits of a word (an integer, a
 * date, an enum) is that word.  Any other has one hash of 64 bits, computed once for each row,
 * and an image of bytes, which is compared where hashes are equal:
 *
 *		one column that is equal when its bytes are (uuid, text): these bytes;
 *		otherwise for each column its length (NO_VALUE: NULL), and its bytes:
 *		words, bytes, or the value as it is where an operator says what is equal.
 *
 * Invariant: units are one if and only if GROUP BY says so (DpKeyInfo): the
 * hash never decides alone.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"

#include "agg/bounding/gather.h"

#define NO_VALUE PG_UINT32_MAX

/* Sets the row's hash and salt from unit_key and the keyed hash of each column. */
static inline void
finish_hash(DpBounding *bounding, const uint64 *hash)
{
	const DpUnitFormat *unit = &bounding->unit;
	DpRow	   *row = &bounding->row;
	uint64		all = hash[0];

	for (int i = 1; i < unit->ncolumns; i++)
		all = dp_mix(all) ^ hash[i];
	row->hash = row->unit = dp_unit_hash(all, bounding->spec);
	row->salt = unit->salt < 0 ? bounding->no_salt
		: dp_unit_salt(dp_unit_hash(hash[unit->salt], bounding->spec), bounding->spec);
}

/* Reads the unit of a row of the input, of which the columns have been fetched. */
void
dp_read_unit_key(DpBounding *bounding, const TupleTableSlot *slot)
{
	const DpUnitFormat *unit = &bounding->unit;
	DpRow	   *row = &bounding->row;
	uint64	   *hash = row->unit_hash;

	row->unit_isnull = false;
	for (int i = 0; i < unit->ncolumns; i++)
	{
		int			at = unit->attno[i] - 1;

		if (slot->tts_isnull[at])
		{
			row->unit_key[i].isnull = true;
			hash[i] = DP_NO_UNIT;
		}
		else
			hash[i] = dp_key_hash(&unit->info[i], slot->tts_values[at], &row->unit_key[i], bounding->spec->seed[1]);
	}
	if (unlikely(unit->ncolumns == 1 && row->unit_key[0].isnull))
		row->unit_isnull = true;
	finish_hash(bounding, hash);
}

/* Returns the bytes of a column in an image, and where they are. */
static inline uint32
column_bytes(const DpKeyInfo *info, const DpKey *key, const char **data)
{
	if (info->typbyval)
	{
		*data = (const char *) &key->word;
		return sizeof(key->word);
	}
	if (info->class != DP_KEY_GENERIC)
	{
		*data = key->data;
		return key->len;
	}
	*data = DatumGetPointer(key->datum);
	return datumGetSize(key->datum, false, info->typlen);
}

/* Returns the bytes of the image of the row's unit, which is not a word. */
Size
dp_unit_image_size(const DpBounding *bounding)
{
	const DpUnitFormat *unit = &bounding->unit;
	const DpKey *key = bounding->row.unit_key;
	Size		size = 0;

	if (unit->is_plain)
		return key->isnull ? 0 : key->len;
	for (int i = 0; i < unit->ncolumns; i++, key++)
	{
		const char *data;

		size += sizeof(uint64);
		if (!key->isnull)
			size += MAXALIGN(column_bytes(&unit->info[i], key, &data));
	}
	/* a value has at most 1 GB; records tell lengths in 32 bits */
	if (unlikely(size > 2 * MaxAllocSize))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a privacy unit has too many bytes; let it have fewer columns")));
	return size;
}

/* Writes the image of the row's unit; aligned unless it is plain. */
void
dp_write_unit_image(const DpBounding *bounding, char *image)
{
	const DpUnitFormat *unit = &bounding->unit;
	const DpKey *key = bounding->row.unit_key;

	if (unit->is_plain)
	{
		if (!key->isnull)
			memcpy(image, key->data, key->len);
		return;
	}
	for (int i = 0; i < unit->ncolumns; i++, key++)
	{
		const char *data = NULL;
		uint64		len = key->isnull ? NO_VALUE : column_bytes(&unit->info[i], key, &data);

		memcpy(image, &len, sizeof(len));
		image += sizeof(len);
		if (key->isnull)
			continue;
		memcpy(image, data, len);
		memset(image + len, 0, MAXALIGN(len) - len);
		image += MAXALIGN(len);
	}
}

/* Sets key to a column of an image, of which it goes on pointing to the bytes; returns what follows. */
static inline char *
read_column(const DpKeyInfo *info, char *image, DpKey *key)
{
	uint64		len;

	memcpy(&len, image, sizeof(len));
	image += sizeof(len);
	key->isnull = len == NO_VALUE;
	key->word = 0;
	key->data = NULL;
	key->len = 0;
	if (key->isnull)
		return image;
	if (info->typbyval)
	{
		memcpy(&key->word, image, sizeof(key->word));
		key->datum = (Datum) key->word;
	}
	else
	{
		key->datum = PointerGetDatum(image);
		key->data = image;
		key->len = len;
	}
	return image + MAXALIGN(len);
}

/* Sets the row's unit_key from an image; the hash is known otherwise. */
void
dp_read_unit_image(DpBounding *bounding, char *image, uint32 len)
{
	const DpUnitFormat *unit = &bounding->unit;
	DpKey	   *key = bounding->row.unit_key;

	if (unit->is_plain)
	{
		key->isnull = bounding->row.unit_isnull;
		key->data = image;
		key->len = len;
		return;
	}
	for (int i = 0; i < unit->ncolumns; i++)
		image = read_column(&unit->info[i], image, &key[i]);
}

static bool
same_column(DpKeyInfo *info, const DpKey *a, const DpKey *b)
{
	const char *data = NULL;
	uint32		len;

	if (a->isnull || b->isnull)
		return a->isnull && b->isnull;
	if (info->class == DP_KEY_WORD)
		return a->word == b->word;
	if (info->class != DP_KEY_GENERIC)
	{
		len = column_bytes(info, a, &data);
		return len == b->len && memcmp(data, b->data, len) == 0;
	}
	if (info->has_order)
		return DatumGetInt32(FunctionCall2Coll(&info->compare, info->collation, a->datum, b->datum)) == 0;
	return DatumGetBool(FunctionCall2Coll(&info->compare, info->collation, a->datum, b->datum));
}

/* Tells whether the row's unit is that of the image; their hashes are equal. */
bool
dp_is_image_of_row(const DpBounding *bounding, DpUnitImage *image)
{
	const DpUnitFormat *unit = &bounding->unit;
	const DpKey *key = bounding->row.unit_key;
	char	   *data = image->data;

	if (likely(unit->is_plain))
		return image->len == key->len && memcmp(data, key->data, image->len) == 0;
	for (int i = 0; i < unit->ncolumns; i++)
	{
		DpKey		other;

		data = read_column(&unit->info[i], data, &other);
		if (!same_column(&unit->info[i], &key[i], &other))
			return false;
	}
	return true;
}

/* Returns the value of a plain image. */
static Datum
plain_value(const DpKeyInfo *info, const DpUnitImage *image)
{
	struct varlena *value;

	if (info->typlen > 0)
		return PointerGetDatum(image->data);
	value = palloc(VARHDRSZ + image->len);
	SET_VARSIZE(value, VARHDRSZ + image->len);
	memcpy(VARDATA(value), image->data, image->len);
	return PointerGetDatum(value);
}

/*
 * Returns the unit of a bucket in values and isnull, by the columns of the input; in
 * CurrentMemoryContext, or pointing into the table.
 */
void
dp_unit_values(const DpBounding *bounding, uint64 bucket, Datum *values, bool *isnull)
{
	const DpUnitFormat *unit = &bounding->unit;
	const DpUnitTable *table = &bounding->table;
	char	   *data;

	/* the one that is NULL */
	if (bucket == table->nbuckets)
		return;
	data = unit->is_word ? NULL : table->image_of[bucket]->data;
	for (int i = 0; i < unit->ncolumns; i++)
	{
		int			at = unit->attno[i] - 1;
		DpKey		key = {0};

		if (unit->is_word)
			values[at] = (Datum) dp_bucket_unit(dp_bucket(table, bucket));
		else if (unit->is_plain)
			values[at] = plain_value(&unit->info[i], table->image_of[bucket]);
		else
		{
			data = read_column(&unit->info[i], data, &key);
			if (!key.isnull && unit->info[i].class == DP_KEY_BYTES)
				key.datum = PointerGetDatum(cstring_to_text_with_len(key.data, key.len));
			values[at] = key.datum;
		}
		isnull[at] = key.isnull;
	}
}
