/*-------------------------------------------------------------------------
 *
 * places.h
 *	  Reads rows that are updated all the time, without walking their past.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_PLACES_H
#define DP_PLACES_H

#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* makes room in shared memory, from _PG_init while shared_preload_libraries is processed */
extern void dp_places_init(void);

/*
 * Tables are those whose primary key begins with a name, and goes on with the
 * OID and the name of a role, if with anything; or is a number and a day, where the
 * name is the number's text.  Snapshots are of the latest kind.
 *
 * dp_read_newest reads the row of a key that is a name alone into slot; false:
 * there is none.  dp_scan_newest calls row for each row whose key begins with
 * name (NULL: for all rows), until that returns false.
 */
extern bool dp_read_newest(Relation rel, const char *name, Snapshot snapshot, TupleTableSlot *slot);
extern void dp_scan_newest(Relation rel, const char *name, Snapshot snapshot,
						   bool (*row) (TupleTableSlot *slot, void *arg), void *arg);

/* the index of a table's primary key, whose lack is an error */
extern Oid	dp_primary_key(Relation rel);

/* tells everybody where a row was at last, committed; role: InvalidOid in tables whose key is a name alone */
extern void dp_place_set(Relation rel, const char *name, Oid role, ItemPointer tid);

#endif							/* DP_PLACES_H */
