/*-------------------------------------------------------------------------
 *
 * objects.c
 *	  What an inner plan is made of: types, collations, functions, operators
 *	  and relations, held while it runs.
 *
 * PostgreSQL looks most of these up when they are used, at the first row that
 * comes to them.  One that is gone by then raises an error that tells whether
 * such a row exists.  A lock keeps other sessions from dropping them, not
 * this one: the computing of prefetched rows (prefetch.c) and what runs between two releases
 * of a statement is the asker's code.
 *
 * Invariants:
 * - Each object has the version that the plan was made with, and an owner who
 *	 is trusted still, when its locks are held and the asker's code has run for
 *	 the last time before the debit.  Before each inner run it is there, and its
 *	 owner trusted: what is charged is not refused for a change that locks allow.
 * - From then on nothing changes them before the run ends.  The run completes in
 *	 one go and calls no code of an asker; other sessions wait for the locks to
 *	 drop any of them, or to change the labels of an enum.  What they may still
 *	 do (change an owner, a name, privileges) fails no look-up.
 * - PostgreSQL's own objects cannot be dropped, nor can members of this
 *	 extension while it exists; neither is looked at here.  A function that a
 *	 superuser has added is held itself; what it calls is its author's promise.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/errors.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "release/release.h"
#include "release/release_int.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* plans of this session may depend on objects of which PostgreSQL's plan cache hears nothing */
static bool has_planned = false;

bool
dp_owner_is_trusted(Oid owner, Oid run_as, Oid dataset_owner)
{
	return owner == run_as || owner == dataset_owner || superuser_arg(owner);
}

/* ------------------------------------------------------------------------
 * Versions
 * ------------------------------------------------------------------------
 */

static uint32
hash_more(uint32 hash, const void *bytes, Size length)
{
	return hash_combine(hash, hash_bytes(bytes, (int) length));
}

static int
compare_labels(const void *a, const void *b)
{
	Oid			x = ((Form_pg_enum) GETSTRUCT(*(const HeapTuple *) a))->oid;
	Oid			y = ((Form_pg_enum) GETSTRUCT(*(const HeapTuple *) b))->oid;

	return x < y ? -1 : x > y;
}

/* Adds what an enum compares and prints by to a hash. */
static uint32
hash_labels(uint32 hash, Oid type)
{
	CatCList   *list = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
	HeapTuple  *labels = palloc(Max(list->n_members, 1) * sizeof(HeapTuple));

	for (int i = 0; i < list->n_members; i++)
		labels[i] = &list->members[i]->tuple;
	qsort(labels, list->n_members, sizeof(HeapTuple), compare_labels);
	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_enum label = (Form_pg_enum) GETSTRUCT(labels[i]);

		hash = hash_more(hash, &label->oid, sizeof(Oid));
		hash = hash_more(hash, &label->enumsortorder, sizeof(label->enumsortorder));
		hash = hash_more(hash, NameStr(label->enumlabel), strlen(NameStr(label->enumlabel)));
	}
	pfree(labels);
	ReleaseSysCacheList(list);
	return hash;
}

/* Adds the foreign key through which a table's rows belong to people to a hash. */
static uint32
hash_parent(uint32 hash, Oid relid)
{
	DpParent	parent = {0};
	DpParentProblem problem = dp_policy_parent(relid, &parent);

	hash = hash_more(hash, &problem, sizeof(problem));
	hash = hash_more(hash, &parent.parent, sizeof(Oid));
	hash = hash_more(hash, &parent.index, sizeof(Oid));
	hash = hash_more(hash, parent.child, sizeof(parent.child));
	return hash_more(hash, parent.key, sizeof(parent.key));
}

/* Returns a version of the policy of a relation; 0: it has none. */
static uint32
policy_version(Oid relid)
{
	const DpTable *table = dp_policy_table(relid);
	uint8		digest[DP_POLICY_DIGEST_BYTES];
	uint32		hash;

	if (table == NULL)
		return 0;
	dp_policy_digest(table->labelled, digest);
	hash = hash_more(1, digest, sizeof(digest));
	/* of two parents the policies may contradict each other */
	hash = hash_more(hash, table->dataset, strlen(table->dataset));
	return table->nthrough > 0 ? hash_parent(hash, relid) : hash;
}

/* Hashes parts of the row of pg_class: ANALYZE and GRANT change the rest, too. */
static bool
relation_version(Oid relid, Oid *owner, uint32 *version)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	TupleDesc	desc;
	uint32		hash;

	if (rel == NULL)
		return false;
	desc = RelationGetDescr(rel);
	*owner = rel->rd_rel->relowner;
	hash = hash_more(0, &rel->rd_rel->relowner, sizeof(Oid));
	hash = hash_more(hash, &rel->rd_rel->relkind, sizeof(char));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Oid			type[] = {att->atttypid, (Oid) att->atttypmod, att->attcollation,
		att->attisdropped, att->attnotnull, (Oid) att->attgenerated};

		hash = hash_more(hash, type, sizeof(type));
	}
	relation_close(rel, NoLock);
	*version = hash;
	return true;
}

/* Sets owner and version of an object; returns false if there is no such object (any more). */
static bool
object_version(Oid classid, Oid objid, Oid *owner, uint32 *version)
{
	HeapTuple	tuple;
	bool		isnull;

	if (classid == RelationRelationId)
		return relation_version(objid, owner, version);
	tuple = SearchSysCache1(get_object_catcache_oid(classid), ObjectIdGetDatum(objid));
	if (!HeapTupleIsValid(tuple))
		return false;
	*owner = DatumGetObjectId(SysCacheGetAttr(get_object_catcache_oid(classid), tuple,
											  get_object_attnum_owner(classid), &isnull));
	/* where the row is stored does not matter: VACUUM FULL moves it */
	*version = hash_more(0, (char *) tuple->t_data + tuple->t_data->t_hoff,
						 tuple->t_len - tuple->t_data->t_hoff);
	if (classid == TypeRelationId && ((Form_pg_type) GETSTRUCT(tuple))->typtype == TYPTYPE_ENUM)
		*version = hash_labels(*version, objid);
	ReleaseSysCache(tuple);
	return true;
}

Oid
dp_object_owner(Oid classid, Oid objid)
{
	Oid			owner = InvalidOid;
	uint32		version;

	(void) object_version(classid, objid, &owner, &version);
	return owner;
}

/* ------------------------------------------------------------------------
 * When a release is planned
 * ------------------------------------------------------------------------
 */

void
dp_record_object(DpRelease *release, Oid classid, Oid objid)
{
	ListCell   *class,
			   *id;
	Oid			owner;
	uint32		version;

	/* relations may be thousands of partitions, and hardly any of them twice */
	if (classid != RelationRelationId)
		forboth(class, release->object_classes, id, release->object_ids)
	{
		if (lfirst_oid(class) == classid && lfirst_oid(id) == objid)
			return;
	}
	if (!object_version(classid, objid, &owner, &version))
		dp_raise(NOT_RELEASABLE, errmsg("something that the private query uses was dropped while it was planned; "
										"nothing was charged for it: ask again"));
	release->object_classes = lappend_oid(release->object_classes, classid);
	release->object_ids = lappend_oid(release->object_ids, objid);
	release->object_versions = lappend_int(release->object_versions, (int) version);
	release->policy_versions = lappend_int(release->policy_versions,
										   classid == RelationRelationId ? (int) policy_version(objid) : 0);
}

static void
watch_object(PlannedStmt *plan, int cacheid, Oid objid)
{
	PlanInvalItem *item = makeNode(PlanInvalItem);

	item->cacheId = cacheid;
	item->hashValue = GetSysCacheHashValue1(cacheid, ObjectIdGetDatum(objid));
	plan->invalItems = lappend(plan->invalItems, item);
}

/*
 * Records the relations of the plan, also partitions, which the query does not
 * name.  Objects that can no longer be dropped without a trace make cached
 * plans be made again.
 */
void
dp_record_plan(DpRelease *release)
{
	ListCell   *lc,
			   *id;

	has_planned = true;
	forboth(lc, release->object_classes, id, release->object_ids)
	{
		if (lfirst_oid(lc) == TypeRelationId)
			watch_object(release->inner, TYPEOID, lfirst_oid(id));
		else if (lfirst_oid(lc) == ProcedureRelationId)
			watch_object(release->inner, PROCOID, lfirst_oid(id));
	}
	foreach_ptr(RangeTblEntry, rte, release->inner->rtable)
	{
		if (rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW)
			dp_record_object(release, RelationRelationId, rte->relid);
	}
}

/* ------------------------------------------------------------------------
 * When it is executed
 * ------------------------------------------------------------------------
 */

/*
 * Locks the table of a relation's long values and its indexes, and has them looked up: PostgreSQL opens them for the first
 * row that has such a value, which takes room in the lock table that an asker may have filled.
 */
static void
lock_long_values(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			toast = HeapTupleIsValid(tuple) ? ((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid : InvalidOid;
	Relation	rel;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (!OidIsValid(toast))
		return;
	rel = table_open(toast, AccessShareLock);
	foreach_oid(item, RelationGetIndexList(rel))
		index_close(index_open(item, AccessShareLock), NoLock);
	table_close(rel, NoLock);
}

void
dp_hold_long_values(EState *estate)
{
	for (int i = 0; i < estate->es_range_table_size; i++)
	{
		if (estate->es_relations[i] != NULL)
			lock_long_values(RelationGetRelid(estate->es_relations[i]));
	}
}

static void
lock_object(Oid classid, Oid objid)
{
	if (classid == RelationRelationId)
	{
		LockRelationOid(objid, AccessShareLock);
		lock_long_values(objid);
	}
	else

		/*
		 * with ALTER TYPE ... ADD VALUE and RENAME VALUE, AccessShareLock is
		 * compatible
		 */
		LockDatabaseObject(classid, objid, 0,
						   classid == TypeRelationId ? RowShareLock : AccessShareLock);
}

/*
 * Tells whether an object is as it was planned with.  Once the release is charged, its locks keep it usable, and
 * what is changed in it, policies among that, comes after the release: this session alone could have dropped it.
 */
static bool
is_unchanged(DpRelease *release, int i, Oid run_as, Oid dataset_owner, bool charged)
{
	Oid			classid = list_nth_oid(release->object_classes, i);
	Oid			objid = list_nth_oid(release->object_ids, i);
	Oid			owner;
	uint32		version;

	if (!object_version(classid, objid, &owner, &version))
		return false;
	if (classid != RelationRelationId && !dp_owner_is_trusted(owner, run_as, dataset_owner))
		return false;
	if (charged)
		return true;
	return version == (uint32) list_nth_int(release->object_versions, i) &&
		(classid != RelationRelationId || policy_version(objid) == (uint32) list_nth_int(release->policy_versions, i));
}

/* Tells whether all objects are, by what holds now. */
static bool
all_unchanged(DpRelease *release, Oid dataset_owner, bool charged)
{
	DpHeldPolicies *held = dp_suspend_policies(NULL);
	Oid			run_as = dp_object_owner(RelationRelationId, release->relid);
	volatile bool unchanged = OidIsValid(run_as);

	PG_TRY();
	{
		for (int i = 0; unchanged && i < list_length(release->object_ids); i++)
			unchanged = is_unchanged(release, i, run_as, dataset_owner, charged);
	}
	PG_FINALLY();
	{
		(void) dp_suspend_policies(held);
	}
	PG_END_TRY();
	return unchanged;
}

void
dp_hold_objects(DpRelease *release, Oid dataset_owner, bool charged)
{
	ListCell   *class,
			   *id;

	forboth(class, release->object_classes, id, release->object_ids)
		lock_object(lfirst_oid(class), lfirst_oid(id));
	AcceptInvalidationMessages();
	if (all_unchanged(release, dataset_owner, charged))
		return;
	/* whoever asks again shall not find the same plan */
	ResetPlanCache();
	dp_raise(NOT_RELEASABLE,
			 charged
			 ? errmsg("an object of the private query was dropped or got another owner; the charge stays, and no more rows were read: ask again")
			 : errmsg("an object of the private query was dropped or changed since it was planned; nothing was charged: ask again"),
			 errdetail("Objects are tables, types, collations and functions."));
}

/* ------------------------------------------------------------------------
 * Unique keys
 * ------------------------------------------------------------------------
 */

/*
 * Tells whether snapshot sees what the maker of a catalogue row saw: rows that
 * were deleted before are gone for it, too.
 */
static bool
is_seen(HeapTuple tuple, Snapshot snapshot)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	if (!TransactionIdIsNormal(xmin))
		return true;
	if (TransactionIdIsCurrentTransactionId(xmin))
		return !IsolationUsesXactSnapshot() && HeapTupleHeaderGetCmin(tuple->t_data) < snapshot->curcid;
	return !XidInMVCCSnapshot(xmin, snapshot);
}

/* Tells so of an index, as a part of a partitioned one, too. */
static bool
index_is_seen(Oid indexid, Snapshot snapshot)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(indexid));
	Relation	inherits;
	ScanKeyData key;
	SysScanDesc scan;
	bool		seen = HeapTupleIsValid(tuple) && is_seen(tuple, snapshot);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	inherits = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(indexid));
	scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		seen = seen && is_seen(tuple, snapshot);
	systable_endscan(scan);
	table_close(inherits, AccessShareLock);
	return seen;
}

/*
 * A unique index says nothing of rows that were deleted so that it could be
 * made, and which an older snapshot still sees: two of them may have the same
 * key and belong to different units.
 */
void
dp_check_unique_keys(DpRelease *release, Snapshot snapshot)
{
	foreach_oid(item, release->unique_keys)
		foreach_oid(part, find_all_inheritors(item, NoLock, NULL))
	{
		if (!index_is_seen(part, snapshot))
			dp_raise(NOT_RELEASABLE,
					 errmsg("the unique key that says whose rows are whose is newer than this transaction; nothing was charged: ask again in a new one"));
	}
}

/*
 * Resets plans when an object changes: PostgreSQL does so for types and
 * functions that they name, but not for these.
 */
static void
object_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	if (has_planned)
		ResetPlanCache();
}

void
dp_objects_init(void)
{
	static const int caches[] = {COLLOID, ENUMOID, CLAOID, OPFAMILYOID};

	for (int i = 0; i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], object_changed, (Datum) 0);
}
