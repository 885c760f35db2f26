/*-------------------------------------------------------------------------
 *
 * held.c
 *	  The policies that one planning reads: each is looked up once.
 *
 * A planning asks for the policy of a table some twenty times, and other
 * sessions may change it between any two of them: locks of readers do not
 * stop them.  So the first answer is given until the planning ends, also that
 * a table is not protected, and a dataset's settings with it.
 *
 * Invariants:
 *	- while policies are held, a relation has one policy, and a dataset one row
 *	  of settings.
 *	- what was held is compared with what holds when the planning ends
 *	  (dp_let_go_policies): a table that lost its entry in the cache meanwhile
 *	  counts as changed, whatever it says now.  So labels of columns, which are
 *	  read when they are asked for, are those of that policy, too.
 *	- nothing of a planning that saw a change is executed.  A later change
 *	  is found before the debit (release/objects.c).
 *	- a statement that code of the asker plans meanwhile holds its own.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "policy/policy_int.h"

typedef struct HeldTable
{
	Oid			relid;			/* hash key */
	const DpTable *table;		/* NULL: not protected */
	const DpTable *(*look_up) (Oid relid);
} HeldTable;

typedef struct HeldDataset
{
	DpDataset	dataset;
	bool		(*read) (const char *name, DpDataset *dataset);
} HeldDataset;

struct DpHeldPolicies
{
	MemoryContext context;
	HTAB	   *tables;
	List	   *datasets;		/* HeldDataset */
	bool		read_unwatched; /* dp_held_note_unwatched() */
};

/* NULL: each question is answered anew */
DpHeldPolicies *dp_held_policies = NULL;

DpHeldPolicies *
dp_hold_policies(void)
{
	DpHeldPolicies *before = dp_held_policies;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dp_cdp policies of a planning", ALLOCSET_SMALL_SIZES);
	HASHCTL		ctl = {0};
	DpHeldPolicies *now = MemoryContextAllocZero(context, sizeof(DpHeldPolicies));

	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(HeldTable);
	ctl.hcxt = context;
	now->context = context;
	now->tables = hash_create("dp_cdp policies of a planning", 16, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	dp_held_policies = now;
	return before;
}

DpHeldPolicies *
dp_suspend_policies(DpHeldPolicies *instead)
{
	DpHeldPolicies *before = dp_held_policies;

	dp_held_policies = instead;
	return before;
}

void
dp_held_note_unwatched(void)
{
	if (dp_held_policies != NULL)
		dp_held_policies->read_unwatched = true;
}

bool
dp_policies_read_unwatched(void)
{
	return dp_held_policies == NULL || dp_held_policies->read_unwatched;
}

const DpTable *
dp_held_table(Oid relid, const DpTable *(*look_up) (Oid relid))
{
	HeldTable  *entry = hash_search(dp_held_policies->tables, &relid, HASH_FIND, NULL);
	const DpTable *table;

	if (entry != NULL)
		return entry->table;
	/* which may hold those of ancestors, and move entries */
	table = look_up(relid);
	entry = hash_search(dp_held_policies->tables, &relid, HASH_ENTER, NULL);
	entry->table = table;
	entry->look_up = look_up;
	return table;
}

bool
dp_held_dataset(const char *name, bool (*read) (const char *name, DpDataset *dataset), DpDataset *dataset)
{
	MemoryContext caller;
	HeldDataset *now;

	foreach_ptr(HeldDataset, item, dp_held_policies->datasets)
	{
		now = item;
		if (strcmp(now->dataset.name, name) != 0)
			continue;
		memcpy(dataset, &now->dataset, sizeof(DpDataset));
		return true;
	}
	if (!read(name, dataset))
		return false;
	caller = MemoryContextSwitchTo(dp_held_policies->context);
	now = palloc(sizeof(HeldDataset));
	memcpy(&now->dataset, dataset, sizeof(DpDataset));
	now->read = read;
	dp_held_policies->datasets = lappend(dp_held_policies->datasets, now);
	MemoryContextSwitchTo(caller);
	return true;
}

/* Tells whether what was held holds no more. */
static bool
is_changed(DpHeldPolicies *then)
{
	HASH_SEQ_STATUS seq;
	HeldTable  *entry;
	bool		changed = false;

	AcceptInvalidationMessages();
	hash_seq_init(&seq, then->tables);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		/*
		 * an entry that was invalidated is kept, under its address, until the
		 * transaction ends
		 */
		if (entry->look_up(entry->relid) != entry->table)
			changed = true;
	}
	foreach_ptr(HeldDataset, dataset, then->datasets)
	{
		DpDataset	now;

		changed = changed || !dataset->read(dataset->dataset.name, &now) ||
			memcmp(&now, &dataset->dataset, sizeof(now)) != 0;
	}
	return changed;
}

bool
dp_let_go_policies(DpHeldPolicies *before)
{
	DpHeldPolicies *then = dp_suspend_policies(NULL);
	bool		changed = is_changed(then);

	dp_held_policies = before;
	MemoryContextDelete(then->context);
	return changed;
}
