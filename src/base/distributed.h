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

/* Tells whether the database has Citus; cheap. */
extern bool dp_has_citus(void);

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
