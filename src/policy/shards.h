/*-------------------------------------------------------------------------
 *
 * shards.h
 *	  Shards of protected tables, on the servers of a cluster.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SHARDS_H
#define DP_SHARDS_H

#include "postgres.h"

/*
 * Returns the protected table that a relation, which current_user reads by no grant, is a shard of, or the TOAST table of
 * a shard; InvalidOid: it is none, or he may read it.
 */
extern Oid	dp_closed_shard(Oid relid);

#endif							/* DP_SHARDS_H */
