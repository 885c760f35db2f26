/*-------------------------------------------------------------------------
 *
 * distributed.h
 *	  What Citus' catalogues tell of this database.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_DISTRIBUTED_H
#define DP_DISTRIBUTED_H

#include "access/attnum.h"

/* it is known that this database has no catalogue of Citus; for dp_has_citus alone */
extern bool dp_citus_is_absent;
extern bool dp_look_for_citus(void);

/* Tells whether the database has Citus, in a few instructions: each query of each role asks. */
static inline bool
dp_has_citus(void)
{
	return !dp_citus_is_absent && dp_look_for_citus();
}

/* Tells whether this server is a worker of a cluster, which has no say in releases. */
extern bool dp_is_citus_worker(void);

/* the column of a table whose rows are not distributed by hash, so that those of one value may be anywhere */
#define DP_SCATTERED (-1)

/*
 * Tells whether rows of a table are on other servers.  column: what they are
 * distributed by, DP_SCATTERED, or InvalidAttrNumber: there is none, as of reference and
 * single-shard tables.
 */
extern bool dp_is_distributed(Oid relid, AttrNumber *column);

/*
 * Tells whether a relation is a shard: a part of a table that Citus manages, which it alone reads.  It may bear the
 * labels of its table, but has no policy.
 */
extern bool dp_is_shard(Oid relid);

/* Returns the table that it is a shard of, InvalidOid: it is none. */
extern Oid	dp_table_of_shard(Oid relid);

#endif							/* DP_DISTRIBUTED_H */
