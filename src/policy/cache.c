/*-------------------------------------------------------------------------
 *
 * cache.c
 *	  Which relations are protected: a backend's cache over security labels.
 *
 * dp_policy_table is asked about every relation of every query of every role,
 * so that the answer for a relation that was asked for before costs one hash
 * lookup.
 *
 * Invariants:
 *	- an entry is derived from the labels of the relation, of its ancestors by
 *	  pg_inherits and, for a TOAST table, of the table that owns it, and from
 *	  nothing else.  Whatever changes one of these sends a relcache
 *	  invalidation for a relation that the entry was derived from: the label
 *	  provider does (label.c), and the object access hook for pg_inherits
 *	  (drop.c).
 *	- an entry that others were derived from is marked; its invalidation
 *	  empties the cache.
 *	- an entry of an unprotected relation says whether its name is reserved: that
 *	  follows from its name and from rows of dp_cdp_internal.reserved_name, whose changes
 *	  invalidate the relation (names.c).
 *	- what was computed while an invalidation arrived, or from a policy that a
 *	  planning holds and that holds no more, is not kept; neither is a digest of
 *	  labels, nor what is known of columns, which go with the entry of their
 *	  relation.
 *	- a DpTable handed out stays valid until the end of the transaction even
 *	  when it is invalidated before.
 *	- while a planning holds policies (held.c), it is given each of them as it was
 *	  found first.
 *	- a policy that contradicts itself protects all the same: its dataset is
 *	  "", which dp_policy_dataset refuses.  Nothing here raises an error for a
 *	  bad policy, because plain SQL of the owner passes through here too.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "common/cryptohash.h"
#include "lib/ilist.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/distributed.h"
#include "base/extension.h"
#include "policy/policy_int.h"

/* a DpTable with the link it needs once it is out of the cache */
typedef struct CachedTable
{
	DpTable		table;
	slist_node	link;
	bool		has_digest;		/* of the relation's own labels */
	uint8		digest[DP_POLICY_DIGEST_BYTES];
	DpKnownColumns columns;		/* the same */
} CachedTable;

typedef struct PolicyEntry
{
	Oid			relid;			/* hash key */
	bool		has_dependants; /* other entries were derived from this one */
	CachedTable *cached;		/* NULL: not protected */
	bool		held;			/* not protected, but a table of its name was */
} PolicyEntry;

static HTAB *policy_cache = NULL;

/* what every query of everybody asks for takes a comparison instead of a search in the hash table */
#define RECENT_PLACE(relid) ((relid) % lengthof(dp_recent_unprotected))
Oid			dp_recent_unprotected[DP_RECENT_UNPROTECTED];

/* handed out, invalidated, to be freed at the end of the transaction */
static slist_head buried = SLIST_STATIC_INIT(buried);

/* entries that were held, also forgotten ones: it only spares a search */
static uint64 held_entries = 0;

/* counts invalidations, so that a computation can tell whether one came in between */
static uint64 relcache_generation = 0;

/* ------------------------------------------------------------------------
 * Invalidation
 * ------------------------------------------------------------------------
 */

static void
bury(PolicyEntry *entry)
{
	if (entry->cached != NULL)
		slist_push_head(&buried, &entry->cached->link);
	if (dp_recent_unprotected[RECENT_PLACE(entry->relid)] == entry->relid)
		dp_recent_unprotected[RECENT_PLACE(entry->relid)] = InvalidOid;
	hash_search(policy_cache, &entry->relid, HASH_REMOVE, NULL);
}

static void
relcache_callback(Datum arg, Oid relid)
{
	PolicyEntry *entry = NULL;

	relcache_generation++;
	if (policy_cache == NULL)
		return;
	if (OidIsValid(relid))
	{
		entry = hash_search(policy_cache, &relid, HASH_FIND, NULL);
		if (entry == NULL)
			return;
	}

	if (entry != NULL && !entry->has_dependants)
		bury(entry);
	else
	{
		HASH_SEQ_STATUS seq;

		hash_seq_init(&seq, policy_cache);
		while ((entry = hash_seq_search(&seq)) != NULL)
			bury(entry);
	}
}

static void
xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT ||
		event == XACT_EVENT_PRE_PREPARE ||
		event == XACT_EVENT_PARALLEL_PRE_COMMIT)
		return;
	while (!slist_is_empty(&buried))
	{
		CachedTable *cached = slist_container(CachedTable, link, slist_pop_head_node(&buried));

		dp_forget_known_columns(&cached->columns);
		pfree(cached);
	}
}

/* ------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------
 */

List *
dp_parents(Oid relid)
{
	List	   *result = NIL;
	Relation	rel = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(rel, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
		result = lappend_oid(result, ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

List *
dp_labelled_ancestors(Oid relid)
{
	List	   *seen = dp_parents(relid);
	List	   *result = NIL;

	for (int i = 0; i < list_length(seen); i++)
	{
		Oid			parent = list_nth_oid(seen, i);

		if (dp_label_get(parent, 0) != NULL)
			result = list_append_unique_oid(result, parent);
		seen = list_concat_unique_oid(seen, dp_parents(parent));
	}
	return result;
}

/* Returns the table that a TOAST table belongs to. */
Oid
dp_toast_owner(Oid relid)
{
	Oid			result = InvalidOid;
	Relation	rel = table_open(DependRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(rel, DependDependerIndexId, true, NULL, 2, key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->refclassid == RelationRelationId &&
			form->deptype == DEPENDENCY_INTERNAL)
			result = form->refobjid;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

/* Makes the policy one from which nothing is released. */
static void
contradict(DpTable *table)
{
	table->dataset[0] = '\0';
	table->unit[0] = '\0';
	table->nthrough = 0;
	table->block[0] = '\0';
}

/* Fills in the policy that relid's own labels declare; false if they declare none. */
static bool
policy_from_labels(Oid relid, DpTable *table)
{
	List	   *labels = dp_label_list(relid);
	DpLabel    *own;
	ListCell   *lc;
	int			nunits = 0;
	int			nthrough = 0;
	int			nblocks = 0;

	if (labels == NIL)
		return false;
	own = linitial(labels);
	if (own->attnum != 0)
		return false;			/* remains of a label removed by hand */

	table->is_protected = true;
	table->labelled = relid;
	table->has_unit = own->unit;
	strlcpy(table->dataset, own->dataset, NAMEDATALEN);
	for_each_from(lc, labels, 1)
	{
		DpLabel    *label = lfirst(lc);

		if (label->unit || label->through || label->block)
		{
			char	   *name = get_attname(relid, label->attnum, true);

			if (name == NULL)
				continue;
			if (label->block)
			{
				nblocks++;
				strlcpy(table->block, name, NAMEDATALEN);
			}
			if (label->unit)
				nunits++;
			else if (label->through && nthrough < INDEX_MAX_KEYS)
				strlcpy(table->through[nthrough++], name, NAMEDATALEN);
			if (label->unit)
				strlcpy(table->unit, name, NAMEDATALEN);
		}
	}

	table->nthrough = nthrough;
	if (nunits != (own->unit ? 1 : 0) || nthrough != own->through || nblocks != (own->block ? 1 : 0))
		contradict(table);
	return true;
}

static PolicyEntry *
find_entry(Oid relid)
{
	return hash_search(policy_cache, &relid, HASH_FIND, NULL);
}

/* Derives the policy of relid from that of another relation. */
static void
policy_from_other(Oid relid, Oid other, DpTable *table)
{
	const DpTable *source = dp_policy_table(other);
	PolicyEntry *entry = find_entry(other);

	/*
	 * no entry, or one of another policy than a planning holds: an
	 * invalidation has come, and the result is not kept
	 */
	if (entry != NULL && source == (entry->cached ? &entry->cached->table : NULL))
		entry->has_dependants = true;
	else
		relcache_generation++;
	if (source == NULL)
		return;
	if (!table->is_protected)
	{
		*table = *source;
		table->relid = relid;
	}
	else if (table->labelled != source->labelled)
		/* two policies contradict each other */
		contradict(table);
}

static void
load_policy(Oid relid, DpTable *table)
{
	HeapTuple	tuple;
	char		relkind;

	memset(table, 0, sizeof(DpTable));
	table->relid = relid;

	/*
	 * a release that Citus computes on this server reads shards of it: the
	 * policy is that of the table they are of
	 */
	if (dp_is_shard(relid) || policy_from_labels(relid, table))
		return;

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return;
	relkind = ((Form_pg_class) GETSTRUCT(tuple))->relkind;
	ReleaseSysCache(tuple);

	switch (relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
			{
				List	   *parents = dp_parents(relid);

				foreach_oid(parent, parents)
					policy_from_other(relid, parent, table);
			}
			break;
		case RELKIND_TOASTVALUE:
			{
				Oid			owner = dp_toast_owner(relid);

				if (OidIsValid(owner))
					policy_from_other(relid, owner, table);
			}
			break;
		default:
			break;
	}
}

static void
create_cache(void)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(PolicyEntry);
	ctl.hcxt = CacheMemoryContext;
	policy_cache = hash_create("dp_cdp policy", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Derives the policy of relid anew, and remembers it unless an invalidation came meanwhile. */
static const DpTable *
compute_policy(Oid relid)
{
	DpTable		table;
	CachedTable *cached = NULL;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_cdp policy lookup",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(scratch);
	uint64		generation;
	int			attempts = 0;
	bool		held;

	do
	{
		DpRelationName name;

		generation = relcache_generation;
		load_policy(relid, &table);
		held = !table.is_protected && dp_extension_installed() &&
			dp_relation_name(relid, false, &name) && dp_name_is_reserved(&name);
	} while (generation != relcache_generation && ++attempts < 3);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(scratch);

	if (table.is_protected)
	{
		static bool registered = false;

		/* transactions of sessions that meet no protected table do not ask */
		if (!registered)
			RegisterXactCallback(xact_callback, NULL);
		registered = true;
		cached = MemoryContextAlloc(CacheMemoryContext, sizeof(CachedTable));
		cached->table = table;
		cached->has_digest = false;
		memset(&cached->columns, 0, sizeof(cached->columns));
	}

	if (generation == relcache_generation)
	{
		/* no invalidation can come between here and the end of the block */
		PolicyEntry *entry = hash_search(policy_cache, &relid, HASH_ENTER, NULL);

		entry->has_dependants = false;
		entry->cached = cached;
		entry->held = held;
		held_entries += held;
	}
	else if (cached != NULL)
		slist_push_head(&buried, &cached->link);

	return cached ? &cached->table : NULL;
}

/* Returns the policy that holds now. */
static const DpTable *
look_up(Oid relid)
{
	PolicyEntry *entry;

	if (policy_cache == NULL)
		create_cache();
	entry = find_entry(relid);
	if (entry != NULL && entry->cached == NULL)
	{
		if (!entry->held)
			dp_recent_unprotected[RECENT_PLACE(relid)] = relid;
		return NULL;
	}

	if (!IsTransactionState())
		elog(ERROR, "policy of relation %u was asked for outside a transaction", relid);

	/*
	 * Policies change under locks that do not wait for readers, and a
	 * transaction that has locked the table before might not hear of it.  A
	 * protected table is worth the look; an unprotected one can at worst end
	 * in "permission denied".
	 */
	if (entry != NULL)
	{
		AcceptInvalidationMessages();
		entry = find_entry(relid);
		if (entry != NULL)
			return entry->cached ? &entry->cached->table : NULL;
	}

	return compute_policy(relid);
}

const DpTable *
dp_policy_table(Oid relid)
{
	/* catalogs are never protected */
	if (relid < FirstNormalObjectId)
		return NULL;
	if (unlikely(dp_held_policies != NULL))
		return dp_held_table(relid, look_up);
	if (likely(dp_recent_unprotected[RECENT_PLACE(relid)] == relid))
		return NULL;
	return look_up(relid);
}

/* the digest of a relation's labels while it is computed */
typedef struct LabelDigest
{
	Oid			relid;
	pg_cryptohash_ctx *context;
} LabelDigest;

static void
digest_text(pg_cryptohash_ctx *context, const char *text)
{
	uint64		size = strlen(text);

	if (pg_cryptohash_update(context, (const uint8 *) &size, sizeof(size)) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) text, size) < 0)
		elog(ERROR, "could not compute a digest: %s", pg_cryptohash_error(context));
}

static void
digest_label(AttrNumber attnum, const char *text, void *arg)
{
	LabelDigest *d = arg;

	digest_text(d->context, attnum == 0 ? "" : get_attname(d->relid, attnum, false));
	digest_text(d->context, text);
}

static void
compute_digest(Oid relid, uint8 *digest)
{
	LabelDigest d = {relid, pg_cryptohash_create(PG_SHA256)};

	if (d.context == NULL || pg_cryptohash_init(d.context) < 0)
		elog(ERROR, "could not begin to compute a digest");
	dp_label_visit(relid, digest_label, &d);
	if (pg_cryptohash_final(d.context, digest, DP_POLICY_DIGEST_BYTES) < 0)
		elog(ERROR, "could not compute a digest: %s", pg_cryptohash_error(d.context));
	pg_cryptohash_free(d.context);
}

/*
 * Labels may be long lists of keys, and each release that looks for a kept
 * answer asks.  A digest is remembered as long as the table's policy, whose
 * invalidations come with each change of a label and of a column's name.
 */
void
dp_policy_digest(Oid relid, uint8 *digest)
{
	/* the table is the first member */
	CachedTable *cached = (CachedTable *) dp_policy_table(relid);
	uint64		generation = relcache_generation;

	if (cached != NULL && cached->has_digest)
	{
		memcpy(digest, cached->digest, DP_POLICY_DIGEST_BYTES);
		return;
	}
	compute_digest(relid, digest);
	if (cached == NULL || generation != relcache_generation)
		return;
	memcpy(cached->digest, digest, DP_POLICY_DIGEST_BYTES);
	cached->has_digest = true;
}

DpKnownColumns *
dp_known_columns(Oid relid)
{
	/* the table is the first member */
	CachedTable *cached = (CachedTable *) dp_policy_table(relid);

	return cached ? &cached->columns : NULL;
}

uint64
dp_policy_generation(void)
{
	return relcache_generation;
}

bool
dp_policy_is_reserved(Oid relid)
{
	PolicyEntry *entry;

	if (relid < FirstNormalObjectId || dp_policy_table(relid) != NULL)
		return false;
	entry = find_entry(relid);
	return entry != NULL && entry->held;
}

bool
dp_policy_any_held(void)
{
	return held_entries > 0;
}

void
dp_cache_init(void)
{
	CacheRegisterRelcacheCallback(relcache_callback, (Datum) 0);
}
