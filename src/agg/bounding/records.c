/*-------------------------------------------------------------------------
 *
 * records.c
 *	  Rows, and states of units, that are set aside: short records.
 *
 * A row's record has, in this order: bits of NULLs (bit 0: the unit; then keys
 * and fields), its size where records vary in it, the unit, keys, fields, and
 * the bytes of what is by reference, each aligned as the strictest of them asks.  A unit is a word of 4 or 8
 * bytes; or its hash, its salt where that is another, and its image or the
 * image's length.  A state's record is a StateRecord, the image and the state; or the bucket where values are in place.
 *
 * Invariants: a record holds all that the row gives to its unit, and nothing else
 * of it; keys that are too long for a state leave the row out before they are
 * fetched.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"

#include "agg/bounding/gather.h"

typedef struct StateRecord
{
	uint64		unit;			/* word or hash */
	uint32		image;			/* its bytes */
	bool		isnull;
} StateRecord;

/* ------------------------------------------------------------------------
 * The format
 * ------------------------------------------------------------------------
 */

/* Tells whether unit and keys are columns of a scanned table that are NOT NULL, in all processes that run this plan. */
static bool
has_no_nulls(const DpBounding *bounding)
{
	const DpInput *input = &bounding->input;
	const DpUnitFormat *unit = &bounding->unit;
	TupleDesc	desc;

	if (!IsA(input->outer, SeqScanState) || input->outer->ps_ProjInfo != NULL)
		return false;
	desc = RelationGetDescr(((ScanState *) input->outer)->ss_currentRelation);
	for (int i = 0; i < unit->ncolumns; i++)
		if (unit->attno[i] <= 0 || !dp_is_not_null_column(desc, unit->attno[i]))
			return false;
	for (int i = 0; i < bounding->shape.layout.nkeys; i++)
		if (input->key_attno[i] <= 0 || !dp_is_not_null_column(desc, input->key_attno[i]))
			return false;
	return true;
}

/* Decides where things are in a record, for the units, keys and fields that are known by now. */
void
dp_plan_records(DpBounding *bounding)
{
	DpRecordFormat *format = &bounding->record;
	const DpUnitFormat *unit = &bounding->unit;
	const DpShape *shape = &bounding->shape;
	DpFields   *fields = &bounding->fields;
	Size		at;

	format->nulls = (1 + shape->layout.nkeys + fields->nfields + 31) / 32;
	/* rows without unit are never set aside */
	if (fields->nfields == 0 && ((shape->layout.nkeys == 0 && unit->is_word) || has_no_nulls(bounding)))
		format->nulls = 0;
	format->unit_width = unit->is_word && unit->info[0].typlen <= (int) sizeof(int32) ? sizeof(int32) : sizeof(int64);
	format->image_width = unit->is_plain && unit->info[0].class == DP_KEY_FIXED ? unit->info[0].typlen : 0;
	format->varies = !unit->is_word && format->image_width == 0;
	format->align = format->varies ? MAXIMUM_ALIGNOF : ALIGNOF_INT;
	for (int i = 0; i < shape->layout.nkeys; i++)
	{
		format->varies |= !shape->key[i].typbyval;
		if (!shape->key[i].typbyval && shape->key[i].typalign == TYPALIGN_DOUBLE)
			format->align = MAXIMUM_ALIGNOF;
	}

	at = format->nulls * sizeof(uint32) + (format->varies ? sizeof(uint32) : 0);
	format->unit = at;
	at += format->unit_width;
	if (!unit->is_word)
	{
		if (unit->ncolumns > 1 && unit->salt >= 0)
			at += sizeof(uint64);
		format->image = at;
		at += format->image_width > 0 ? format->image_width : sizeof(uint32);
	}
	for (int i = 0; i < shape->layout.nkeys; i++)
	{
		const DpKeyInfo *key = &shape->key[i];

		format->key_width[i] = key->typbyval && key->typlen > (int) sizeof(int32) ? sizeof(int64) : sizeof(int32);
		format->key[i] = at;
		at += format->key_width[i];
	}
	for (int i = 0; i < fields->nfields; i++)
	{
		fields->field[i].at = at;
		at += fields->field[i].width;
	}
	format->size = TYPEALIGN(format->align, at);
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

/* Returns the size of the record for the row; fetches keys by reference.  0: the row is left out. */
static inline Size
record_size(DpBounding *bounding)
{
	DpRow	   *row = &bounding->row;
	Size		size = bounding->record.size;

	if (!bounding->record.varies)
		return size;
	if (!bounding->unit.is_word && bounding->record.image_width == 0)
		size += TYPEALIGN(bounding->record.align, dp_unit_image_size(bounding));
	if (bounding->shape.layout.by_reference == 0)
		return size;
	/* the rank fetches keys, and knows whether they are too long */
	if (!row->has_rank && !dp_rank_row(bounding))
		return 0;
	for (int i = 0; i < bounding->shape.layout.nkeys; i++)
	{
		const DpKeyInfo *info = &bounding->shape.key[i];

		if (info->typbyval || row->key[i].isnull)
			continue;
		row->key[i].value = row->ranked[i].datum;
		size += TYPEALIGN(bounding->record.align, datumGetSize(row->key[i].value, false, info->typlen));
	}
	return size;
}

static inline void
put_word(char *to, int64 word, int width)
{
	int32		narrow = (int32) word;

	if (width > (int) sizeof(int32))
		memcpy(to, &word, sizeof(word));
	else
		memcpy(to, &narrow, sizeof(narrow));
}

static inline int64
get_word(const char *from, int width)
{
	int64		word;
	int32		narrow;

	if (width > (int) sizeof(int32))
	{
		memcpy(&word, from, sizeof(word));
		return word;
	}
	memcpy(&narrow, from, sizeof(narrow));
	return narrow;
}

/* Writes the unit; returns where the bytes after its own go. */
static inline char *
write_unit(const DpBounding *bounding, char *record, char *bytes)
{
	const DpRecordFormat *format = &bounding->record;
	const DpRow *row = &bounding->row;
	uint32		len;

	put_word(record + format->unit, (int64) row->unit, format->unit_width);
	if (bounding->unit.is_word)
		return bytes;
	if (bounding->unit.ncolumns > 1 && bounding->unit.salt >= 0)
		memcpy(record + format->unit + sizeof(uint64), &row->salt, sizeof(uint64));
	if (format->image_width > 0)
	{
		dp_write_unit_image(bounding, record + format->image);
		return bytes;
	}
	len = dp_unit_image_size(bounding);
	memcpy(record + format->image, &len, sizeof(len));
	dp_write_unit_image(bounding, bytes);
	return bytes + TYPEALIGN(format->align, len);
}

/* Returns false, with a part of the record written, where the row has a NULL, and records have no place for it. */
static inline bool
write_record(const DpBounding *bounding, char *record, Size size)
{
	const DpRecordFormat *format = &bounding->record;
	const DpLayout *layout = &bounding->shape.layout;
	const DpFields *fields = &bounding->fields;
	const DpRow *row = &bounding->row;
	uint32	   *nulls = (uint32 *) record;
	char	   *bytes = record + format->size;
	int			bit = 1;

	for (int i = 0; i < format->nulls; i++)
		nulls[i] = i == 0 && row->unit_isnull;
	if (format->varies)
		nulls[format->nulls] = (uint32) size;
	bytes = write_unit(bounding, record, bytes);
	for (int i = 0; i < layout->nkeys; i++, bit++)
	{
		Datum		value = row->key[i].value;

		if (row->key[i].isnull)
		{
			if (unlikely(format->nulls == 0))
				return false;
			nulls[bit / 32] |= UINT32_C(1) << (bit % 32);
		}
		else if (layout->by_reference & (1 << i))
		{
			uint32		len = datumGetSize(value, false, bounding->shape.key[i].typlen);

			memcpy(record + format->key[i], &len, sizeof(len));
			memcpy(bytes, DatumGetPointer(value), len);
			bytes += TYPEALIGN(format->align, len);
		}
		else
			put_word(record + format->key[i], (int64) value, format->key_width[i]);
	}
	for (int i = 0; i < fields->nfields; i++, bit++)
	{
		if (row->isnull[i])
			nulls[bit / 32] |= UINT32_C(1) << (bit % 32);
		else if (fields->field[i].width > 0)
			put_word(record + fields->field[i].at, row->field[i], fields->field[i].width);
	}
	return true;
}

static void
set_state_aside(DpBounding *bounding, const StateRecord *head, uint64 hash, const char *image, const DpBoundState *state)
{
	DpPartition *p = dp_partition_of(bounding, hash);
	char	   *record = dp_state_room(bounding, p,
									   MAXALIGN(sizeof(StateRecord)) + MAXALIGN(head->image) + MAXALIGN(VARSIZE(state)));

	memcpy(record, head, sizeof(StateRecord));
	record += MAXALIGN(sizeof(StateRecord));
	if (head->image > 0)
		memcpy(record, image, head->image);
	memcpy(record + MAXALIGN(head->image), state, VARSIZE(state));
}

/*
 * Sets the row at hand aside as what its unit's state would be, had it no other: it has a NULL where records
 * have no place for one.
 */
static pg_noinline void
set_row_aside_as_state(DpBounding *bounding)
{
	DpRow	   *row = &bounding->row;
	StateRecord head = {.unit = row->unit};
	DpBoundState *state = dp_bound_state_new(&bounding->shape, bounding->spec->max_groups, row->salt);
	char	   *image = NULL;
	char	   *entry;

	if (!row->has_rank && !dp_rank_row(bounding))
		return;
	entry = dp_bound_state_entry(&state, &bounding->shape, row->rank, row->ranked);
	dp_take_fields(&bounding->fields, row->field, row->isnull, state, entry);
	if (!bounding->unit.is_word)
	{
		head.image = dp_unit_image_size(bounding);
		image = palloc(head.image);
		dp_write_unit_image(bounding, image);
	}
	set_state_aside(bounding, &head, row->hash, image, state);
	/* a long key has it grow, among those that stay */
	pfree(state);
}

/* Sets the row at hand aside, in its unit's partition. */
void
dp_set_aside(DpBounding *bounding, DpPartition *p)
{
	Size		size = record_size(bounding);
	char	   *record;

	if (size == 0)
		return;

	/*
	 * a partition's room is beside what else is known of it: its last chunk
	 * lies elsewhere, in no cache
	 */
	if (unlikely((Size) (p->room_end - p->room) < size))
		dp_add_row_chunk(bounding, p, size);
	record = p->room;
	p->room += size;
	if (unlikely(!write_record(bounding, record, size)))
	{
		p->room = record;
		set_row_aside_as_state(bounding);
		return;
	}

	/*
	 * the partition's next record, many rows of others later, is written to
	 * memory that no cache has
	 */
	__builtin_prefetch(record + size + PG_CACHE_LINE_SIZE / 2, 1);
}

static inline void
read_unit(DpBounding *bounding, char *record, char **bytes)
{
	const DpRecordFormat *format = &bounding->record;
	DpRow	   *row = &bounding->row;
	uint32		len;

	row->unit = (uint64) get_word(record + format->unit, format->unit_width);
	if (bounding->unit.is_word)
	{
		row->hash = dp_unit_hash(row->unit, bounding->spec);
		row->salt = bounding->unit.salt < 0 ? bounding->no_salt : dp_unit_salt(row->hash, bounding->spec);
		return;
	}
	row->hash = row->unit;
	if (bounding->unit.salt < 0)
		row->salt = bounding->no_salt;
	else if (bounding->unit.ncolumns > 1)
		memcpy(&row->salt, record + format->unit + sizeof(uint64), sizeof(uint64));
	else
		row->salt = dp_unit_salt(row->hash, bounding->spec);
	if (format->image_width > 0)
	{
		dp_read_unit_image(bounding, record + format->image, format->image_width);
		return;
	}
	memcpy(&len, record + format->image, sizeof(len));
	dp_read_unit_image(bounding, *bytes, len);
	*bytes += TYPEALIGN(format->align, len);
}

/* Sets the row at hand from a record, of which it goes on pointing to the bytes; returns the record's size. */
Size
dp_read_record(DpBounding *bounding, char *record)
{
	const DpRecordFormat *format = &bounding->record;
	const DpLayout *layout = &bounding->shape.layout;
	const DpFields *fields = &bounding->fields;
	DpRow	   *row = &bounding->row;
	const uint32 *nulls = (const uint32 *) record;
	char	   *bytes = record + format->size;
	int			bit = 1;

	row->unit_isnull = format->nulls > 0 && (nulls[0] & 1) != 0;
	row->has_rank = false;
	read_unit(bounding, record, &bytes);
	for (int i = 0; i < layout->nkeys; i++, bit++)
	{
		row->key[i].isnull = format->nulls > 0 && (nulls[bit / 32] & (UINT32_C(1) << (bit % 32))) != 0;
		if (row->key[i].isnull)
			continue;
		if (layout->by_reference & (1 << i))
		{
			uint32		len;

			memcpy(&len, record + format->key[i], sizeof(len));
			row->key[i].value = PointerGetDatum(bytes);
			bytes += TYPEALIGN(format->align, len);
		}
		else
			row->key[i].value = (Datum) get_word(record + format->key[i], format->key_width[i]);
	}
	for (int i = 0; i < fields->nfields; i++, bit++)
	{
		row->isnull[i] = (nulls[bit / 32] & (UINT32_C(1) << (bit % 32))) != 0;
		if (!row->isnull[i] && fields->field[i].width > 0)
			row->field[i] = get_word(record + fields->field[i].at, fields->field[i].width);
	}
	return format->varies ? nulls[format->nulls] : format->size;
}

/* ------------------------------------------------------------------------
 * States
 * ------------------------------------------------------------------------
 */

/* Sets a bucket with values in place aside, as it is. */
void
dp_set_bucket_aside(DpBounding *bounding, const char *bucket, uint64 hash)
{
	memcpy(dp_state_room(bounding, dp_partition_of(bounding, hash), bounding->table.stride), bucket, bounding->table.stride);
}

/* Sets the state of a bucket aside, to be merged with what other rows of the unit come to. */
void
dp_set_state_aside(DpBounding *bounding, uint64 bucket)
{
	const DpUnitTable *table = &bounding->table;
	const DpUnitImage *image = bounding->unit.is_word ? NULL : table->image_of[bucket];
	char	   *at = dp_bucket(table, bucket);
	StateRecord head = {.unit = dp_bucket_unit(at), .isnull = bucket == table->nbuckets};
	uint64		hash = head.isnull ? 0 : dp_bucket_hash(bounding, at);

	if (table->in_place)
	{
		dp_set_bucket_aside(bounding, at, hash);
		return;
	}
	if (image != NULL)
		head.image = image->len;
	set_state_aside(bounding, &head, hash,
					image != NULL ? image->data : NULL, table->state_of[bucket]);
}

/*
 * Sets the row's unit and *state from a state's record, which they go on
 * pointing to; returns the record's size.
 */
Size
dp_read_state_record(DpBounding *bounding, char *record, const DpBoundState **state)
{
	StateRecord head;
	DpRow	   *row = &bounding->row;
	char	   *image = record + MAXALIGN(sizeof(StateRecord));

	memcpy(&head, record, sizeof(head));
	row->unit = head.unit;
	row->unit_isnull = head.isnull;
	row->hash = bounding->unit.is_word ? dp_unit_hash(head.unit, bounding->spec) : head.unit;
	if (!bounding->unit.is_word)
		dp_read_unit_image(bounding, image, head.image);
	*state = (const DpBoundState *) (image + MAXALIGN(head.image));
	return MAXALIGN(sizeof(StateRecord)) + MAXALIGN(head.image) + MAXALIGN(VARSIZE(*state));
}

/* Sets a state that came in a record aside again: its unit is the row's. */
void
dp_pass_state_on(DpBounding *bounding, const char *record, const DpBoundState *state)
{
	StateRecord head;

	memcpy(&head, record, sizeof(head));
	set_state_aside(bounding, &head, bounding->row.hash, record + MAXALIGN(sizeof(StateRecord)), state);
}
