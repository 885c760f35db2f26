/*-------------------------------------------------------------------------
 *
 * make_node.h
 *	  New nodes with their fields, as an expression.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_MAKE_NODE_H
#define DP_MAKE_NODE_H

#include "nodes/nodes.h"

static inline void *
dp_new_node(const void *fields, Size size, NodeTag tag)
{
	Node	   *node = memcpy(palloc(size), fields, size);

	node->type = tag;
	return node;
}

/* Returns a new node of a type, as by dp_make(NullTest, .arg = arg, .location = -1); other fields are zero. */
#define dp_make(type, ...) ((type *) dp_new_node(&(type) {__VA_ARGS__}, sizeof(type), T_##type))

#endif							/* DP_MAKE_NODE_H */
