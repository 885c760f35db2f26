/*-------------------------------------------------------------------------
 *
 * collations.h
 *	  What equality of a collation means.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_COLLATIONS_H
#define DP_COLLATIONS_H

#include "postgres.h"

#include "utils/lsyscache.h"

/* Tells whether values that are equal have the same bytes as far as the collation goes; InvalidOid: their type has none. */
static inline bool
dp_is_deterministic(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

#endif							/* DP_COLLATIONS_H */
