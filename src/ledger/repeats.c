/*-------------------------------------------------------------------------
 *
 * repeats.c
 *	  Refusals that are counted in a row of the log that is there.
 *
 * Whoever is refused can ask again ten thousand times in a second, and a row
 * for each would fill the disk.  The first refusal of a role, by a dataset,
 * for a reason, has a row of its own at once; those that are like it within a
 * minute are counted, and their number is written into that row (repeats,
 * last_at) a few times a second, when the worker finds time, and before it leaves.
 * A role that is refused by very many datasets gets no more rows for it: from
 * its hundredth kind of refusal on, all others are counted in one row.
 *
 * Invariants:
 *	- a key has one row a minute at most, and a role some hundred;
 *	- what is counted and not yet written is lost with an error in a batch, or
 *	  with the worker: less than FLUSH_MS of it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "base/clock.h"
#include "ledger/tables.h"

/* how long a row stands for what is like it */
#define REPEAT_MS 60000
/* how long a number may be ahead of its row */
#define FLUSH_MS 200
/* how soon what nobody waits for is tried again after an error, which the server's log has */
#define RETRY_MS 1000
/* kinds of refusals that a role has rows for within REPEAT_MS */
#define MAX_KINDS 100
/* with so many keys, all are forgotten */
#define MAX_KEYS 100000

typedef struct Repeat
{
	DpRepeatKey key;
	int64		id;				/* of its row */
	TimestampTz first_at;
	TimestampTz last_at;
	int			number;
	int			written;
} Repeat;

static HTAB *repeats = NULL;

/* a session's role: rows that it was given since then */
typedef struct Kinds
{
	Oid			role;			/* hash key */
	TimestampTz since;
	int			number;
} Kinds;

static HTAB *kinds = NULL;

/* some number is ahead of its row, since then */
static bool dirty = false;
static int64 dirty_since = 0;	/* dp_uptime() */

/* when the last batch ended in an error, dp_uptime() */
static int64 failed_at = 0;

static HTAB *
make_table(const char *name, Size keysize, Size entrysize)
{
	HASHCTL		ctl;

	memset(&ctl, 0, sizeof(ctl));
	ctl.keysize = keysize;
	ctl.entrysize = entrysize;
	ctl.hcxt = TopMemoryContext;
	return hash_create(name, 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Returns how many rows a session's role was given within the minute; a new minute begins when one is over. */
static Kinds *
get_kinds(Oid role, TimestampTz now)
{
	Kinds	   *entry;
	bool		found;

	if (kinds == NULL)
		kinds = make_table("dp_cdp kinds of refusals", sizeof(Oid), sizeof(Kinds));
	entry = hash_search(kinds, &role, HASH_ENTER, &found);
	if (!found || now < entry->since || TimestampDifferenceExceeds(entry->since, now, REPEAT_MS))
	{
		entry->since = now;
		entry->number = 0;
	}
	return entry;
}

void
dp_repeat_key(DpRepeatKey *key, Oid role, Oid session_role, const char *dataset, const char *reason, TimestampTz now)
{
	memset(key, 0, sizeof(*key));
	key->role = role;
	key->session_role = session_role;
	strlcpy(key->dataset, dataset, sizeof(key->dataset));
	/* the words after SQLSTATE and first word may quote the query */
	strlcpy(key->reason, reason, sizeof(key->reason));

	if ((repeats != NULL && hash_search(repeats, key, HASH_FIND, NULL) != NULL) ||
		get_kinds(session_role, now)->number < MAX_KINDS)
		return;
	memset(key, 0, sizeof(*key));
	key->session_role = session_role;
}

bool
dp_repeat_is_of_others(const DpRepeatKey *key)
{
	return key->dataset[0] == '\0';
}

/* Counts refusals in a row of the last minute; false when there is none. */
bool
dp_repeat_count(const DpRepeatKey *key, int number, TimestampTz now)
{
	Repeat	   *repeat = repeats ? hash_search(repeats, key, HASH_FIND, NULL) : NULL;

	if (repeat == NULL || now < repeat->first_at ||
		TimestampDifferenceExceeds(repeat->first_at, now, REPEAT_MS))
		return false;
	repeat->number = repeat->number > INT_MAX - number ? INT_MAX : repeat->number + number;
	repeat->last_at = now;
	if (!dirty)
		dirty_since = dp_uptime();
	dirty = true;
	return true;
}

/* A row was made, which stands for what is like it from now on. */
void
dp_repeat_begin(const DpRepeatKey *key, int64 id, TimestampTz now)
{
	Repeat	   *repeat;

	if (repeats == NULL)
		repeats = make_table("dp_cdp repeated refusals", sizeof(DpRepeatKey), sizeof(Repeat));
	get_kinds(key->session_role, now)->number++;
	repeat = hash_search(repeats, key, HASH_ENTER, NULL);
	repeat->id = id;
	repeat->first_at = repeat->last_at = now;
	repeat->number = repeat->written = 1;
}

void
dp_repeats_forget(void)
{
	if (repeats)
		hash_destroy(repeats);
	repeats = NULL;
	if (kinds)
		hash_destroy(kinds);
	kinds = NULL;
	dirty = false;
}

bool
dp_repeats_due(void)
{
	return dirty && dp_ms_since(dirty_since) > FLUSH_MS;
}

void
dp_audit_failed(void)
{
	dp_repeats_forget();
	failed_at = dp_uptime();
}

bool
dp_audit_due(void)
{
	return dp_ms_since(failed_at) >= RETRY_MS && (dp_repeats_due() || dp_notes_posted());
}

/* Returns how long the worker may sleep before it has to write numbers; a little when it could not. */
long
dp_audit_timeout(void)
{
	int64		least = Max(RETRY_MS - dp_ms_since(failed_at), DP_BUSY_RETRY_MS);

	if (dp_notes_posted())
		return least;
	if (!dirty)
		return LONG_MAX;
	return Max(FLUSH_MS + 1 - dp_ms_since(dirty_since), least);
}

/* Writes a number into its row; false when that is not there, or not seen yet. */
static bool
write_number(DpOpenTable *log, EState *estate, Snapshot snapshot, Repeat *repeat)
{
	ScanKeyData key;
	IndexScanDesc scan;
	TupleTableSlot *old = table_slot_create(log->rel, NULL);
	TupleTableSlot *new = table_slot_create(log->rel, NULL);
	int			natts = RelationGetDescr(log->rel)->natts;
	Relation	index;
	bool		found = false;

	RelationGetIndexList(log->rel); /* sets rd_pkindex */
	if (OidIsValid(log->rel->rd_pkindex))
	{
		index = index_open(log->rel->rd_pkindex, AccessShareLock);
		ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(repeat->id));
		scan = dp_index_beginscan(log->rel, index, snapshot, 1);
		index_rescan(scan, &key, 1, NULL, 0);
		found = index_getnext_slot(scan, ForwardScanDirection, old);
		if (found)
		{
			slot_getallattrs(old);
			ExecClearTuple(new);
			memcpy(new->tts_values, old->tts_values, natts * sizeof(Datum));
			memcpy(new->tts_isnull, old->tts_isnull, natts * sizeof(bool));
			dp_set_column(log, new, DP_LOG_REPEATS, Int32GetDatum(repeat->number));
			dp_set_column(log, new, DP_LOG_LAST_AT, TimestampTzGetDatum(repeat->last_at));
			ExecStoreVirtualTuple(new);
			dp_update_locked_row(log->rri, estate, snapshot, &old->tts_tid, new);
		}
		index_endscan(scan);
		index_close(index, NoLock);
	}
	ExecDropSingleTupleTableSlot(old);
	ExecDropSingleTupleTableSlot(new);
	return found;
}

/* Writes numbers that are ahead of their rows, and forgets rows of which the minute is over. */
void
dp_repeats_write(DpOpenTable *log, EState *estate, Snapshot snapshot, TimestampTz now)
{
	HASH_SEQ_STATUS seq;
	Repeat	   *repeat;
	bool		more = false;

	if (!dp_repeats_due())
		return;
	hash_seq_init(&seq, repeats);
	while ((repeat = hash_seq_search(&seq)) != NULL)
	{
		if (repeat->number > repeat->written)
		{
			/* a row of this very batch is seen by the next */
			if (write_number(log, estate, snapshot, repeat))
				repeat->written = repeat->number;
			else
				more = true;
		}
		if (TimestampDifferenceExceeds(repeat->first_at, now, REPEAT_MS))
			hash_search(repeats, &repeat->key, HASH_REMOVE, NULL);
	}
	dirty = more;
	dirty_since = dp_uptime();
	if (hash_get_num_entries(repeats) > MAX_KEYS)
		dp_repeats_forget();
}
