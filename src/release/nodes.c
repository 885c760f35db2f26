/*-------------------------------------------------------------------------
 *
 * nodes.c
 *	  DpRelease and its parts as extensible nodes.
 *
 * Copies are deep, because cached plans copy them.  The output functions
 * print nothing: debug_print_plan is any user's to set, and an inner plan
 * shows what the planner knows of the data.  Reading back is refused.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "release/release.h"
#include "release/release_int.h"

/* Copies the lists; what is the domain of a set is there once. */
static List *
copy_lists(const DpRelease *new, const DpRelease *old)
{
	List	   *lists = NIL;
	ListCell   *from,
			   *to;

	foreach_ptr(Const, list, old->lists)
	{
		Const	   *copy = NULL;

		forboth(from, old->key_sets, to, new->key_sets)
		{
			if (((DpKeySet *) lfirst(from))->domain == list)
				copy = ((DpKeySet *) lfirst(to))->domain;
		}
		lists = lappend(lists, copy != NULL ? copy : copyObject(list));
	}
	return lists;
}

static void
copy_release(ExtensibleNode *newnode, const ExtensibleNode *oldnode)
{
	DpRelease  *n = (DpRelease *) newnode;
	const DpRelease *o = (const DpRelease *) oldnode;

	n->name = pstrdup(o->name);
	n->dataset = pstrdup(o->dataset);
	n->relid = o->relid;
	n->relids = list_copy(o->relids);
	n->unique_keys = list_copy(o->unique_keys);
	n->one_group = o->one_group;
	n->most_rows = o->most_rows;
	n->most_groups = o->most_groups;
	n->has_unit = o->has_unit;
	n->together = o->together ? pstrdup(o->together) : NULL;
	n->axes = list_copy(o->axes);
	n->rest_of = o->rest_of ? pstrdup(o->rest_of) : NULL;
	n->rest_keys = o->rest_keys ? pstrdup(o->rest_keys) : NULL;
	n->rest_lists = o->rest_lists;
	n->keys = copyObject(o->keys);
	n->key_sets = copyObject(o->key_sets);
	n->ranges = copyObject(o->ranges);
	n->lists = copy_lists(n, o);
	n->key_memory = o->key_memory;
	n->columns = copyObject(o->columns);
	n->base_text = o->base_text ? pstrdup(o->base_text) : NULL;
	n->public_relids = list_copy(o->public_relids);
	n->public_inherit = list_copy(o->public_inherit);
	n->public_columns = copyObject(o->public_columns);
	n->expressions = copyObject(o->expressions);
	n->selection = o->selection;
	n->units = o->units;
	n->estimator = copyObject(o->estimator);
	n->is_estimator = o->is_estimator;
	n->norms = list_copy(o->norms);
	n->bins_apart = o->bins_apart;
	n->limiter = copyObject(o->limiter);
	n->wider = copyObject(o->wider);
	n->wider_tests = copyObject(o->wider_tests);
	n->wider_has_params = o->wider_has_params;
	n->first_param = o->first_param;
	n->prefetches = copyObject(o->prefetches);
	n->reads_clock = o->reads_clock;
	n->needs_params = o->needs_params;
	n->in_blocks = o->in_blocks;
	n->block_first = copyObject(o->block_first);
	n->block_last = copyObject(o->block_last);
	n->undated = o->undated ? pstrdup(o->undated) : NULL;
	n->undated_column = o->undated_column ? pstrdup(o->undated_column) : NULL;
	n->object_classes = list_copy(o->object_classes);
	n->object_ids = list_copy(o->object_ids);
	n->object_versions = list_copy(o->object_versions);
	n->policy_versions = list_copy(o->policy_versions);
	n->inner_query = copyObject(o->inner_query);
	n->inner = copyObject(o->inner);
	n->late_query = copyObject(o->late_query);
	n->pulls_rows = o->pulls_rows;
	n->counts_cells = o->counts_cells;
}

static void
copy_key(ExtensibleNode *newnode, const ExtensibleNode *oldnode)
{
	DpReleaseKey *n = (DpReleaseKey *) newnode;
	const DpReleaseKey *o = (const DpReleaseKey *) oldnode;

	n->type = o->type;
	n->typmod = o->typmod;
	n->collation = o->collation;
	n->label = pstrdup(o->label);
}

static void
copy_key_set(ExtensibleNode *newnode, const ExtensibleNode *oldnode)
{
	DpKeySet   *n = (DpKeySet *) newnode;
	const DpKeySet *o = (const DpKeySet *) oldnode;

	n->keys = list_copy(o->keys);
	n->domain = copyObject(o->domain);
	n->null_key = o->null_key;
	n->query = copyObject(o->query);
	n->plan = copyObject(o->plan);
}

static void
copy_column(ExtensibleNode *newnode, const ExtensibleNode *oldnode)
{
	DpReleaseColumn *n = (DpReleaseColumn *) newnode;
	const DpReleaseColumn *o = (const DpReleaseColumn *) oldnode;

	n->answer = o->answer;
	n->kind = o->kind;
	n->statistic = o->statistic;
	n->input_type = o->input_type;
	n->result_type = o->result_type;
	n->label = pstrdup(o->label);
	n->location = o->location;
	n->lower = copyObject(o->lower);
	n->upper = copyObject(o->upper);
	n->lower2 = copyObject(o->lower2);
	n->upper2 = copyObject(o->upper2);
	n->total_lower = copyObject(o->total_lower);
	n->total_upper = copyObject(o->total_upper);
	n->derived = copyObject(o->derived);
	n->derived2 = copyObject(o->derived2);
	n->shows_bounds = o->shows_bounds;
	n->has_usual = o->has_usual;
	n->detail = copyObject(o->detail);
	n->descending = o->descending;
	n->values = copyObject(o->values);
	n->norm = o->norm;
	n->first_param = o->first_param;
	n->companions = o->companions;
	n->hidden = o->hidden;
	n->weighs = o->weighs;
	n->fingerprint_text = o->fingerprint_text ? pstrdup(o->fingerprint_text) : NULL;
	n->public_columns = copyObject(o->public_columns);
}

static void
copy_bound(ExtensibleNode *newnode, const ExtensibleNode *oldnode)
{
	DpBound    *n = (DpBound *) newnode;
	const DpBound *o = (const DpBound *) oldnode;

	n->op = o->op;
	n->args = copyObject(o->args);
	n->type = o->type;
	n->typmod = o->typmod;
	n->value = copyObject(o->value);
	n->lower = copyObject(o->lower);
	n->upper = copyObject(o->upper);
	n->total_lower = copyObject(o->total_lower);
	n->total_upper = copyObject(o->total_upper);
	n->range = o->range;
	n->gap = o->gap;
	n->declarable = o->declarable;
	n->text = o->text ? pstrdup(o->text) : NULL;
}

static void
copy_prefetch(ExtensibleNode *newnode, const ExtensibleNode *oldnode)
{
	DpPrefetch *n = (DpPrefetch *) newnode;
	const DpPrefetch *o = (const DpPrefetch *) oldnode;

	n->name = pstrdup(o->name);
	n->query = copyObject(o->query);
	n->plan = copyObject(o->plan);
	n->releases = o->releases;
	n->is_filter = o->is_filter;
	n->tells_keys = o->tells_keys;
	n->is_pure = o->is_pure;
}

static bool
equal_never(const ExtensibleNode *a, const ExtensibleNode *b)
{
	return a == b;
}

static void
out_nothing(StringInfo str, const ExtensibleNode *node)
{
}

static void
read_refused(ExtensibleNode *node)
{
	elog(ERROR, "a release cannot be read from text");
}

#define RELEASE_NODE_METHODS(var, name, type, copy) \
	static const ExtensibleNodeMethods var = { \
		.extnodename = name, \
		.node_size = sizeof(type), \
		.nodeCopy = copy, \
		.nodeEqual = equal_never, \
		.nodeOut = out_nothing, \
		.nodeRead = read_refused \
	}

RELEASE_NODE_METHODS(release_methods, DP_RELEASE_NODE, DpRelease, copy_release);
RELEASE_NODE_METHODS(key_methods, DP_RELEASE_KEY_NODE, DpReleaseKey, copy_key);
RELEASE_NODE_METHODS(key_set_methods, DP_KEY_SET_NODE, DpKeySet, copy_key_set);
RELEASE_NODE_METHODS(column_methods, DP_RELEASE_COLUMN_NODE, DpReleaseColumn, copy_column);
RELEASE_NODE_METHODS(bound_methods, DP_BOUND_NODE, DpBound, copy_bound);
RELEASE_NODE_METHODS(prefetch_methods, DP_PREFETCH_NODE, DpPrefetch, copy_prefetch);

void
dp_release_register_nodes(void)
{
	RegisterExtensibleNodeMethods(&release_methods);
	RegisterExtensibleNodeMethods(&key_methods);
	RegisterExtensibleNodeMethods(&key_set_methods);
	RegisterExtensibleNodeMethods(&column_methods);
	RegisterExtensibleNodeMethods(&bound_methods);
	RegisterExtensibleNodeMethods(&prefetch_methods);
}

DpRelease *
dp_make_release(void)
{
	DpRelease  *r = (DpRelease *) newNode(sizeof(DpRelease), T_ExtensibleNode);

	r->node.extnodename = DP_RELEASE_NODE;
	r->selection = -1;
	r->units = -1;
	return r;
}

DpReleaseKey *
dp_make_release_key(void)
{
	DpReleaseKey *k = (DpReleaseKey *) newNode(sizeof(DpReleaseKey), T_ExtensibleNode);

	k->node.extnodename = DP_RELEASE_KEY_NODE;
	return k;
}

DpKeySet *
dp_make_key_set(void)
{
	DpKeySet   *s = (DpKeySet *) newNode(sizeof(DpKeySet), T_ExtensibleNode);

	s->node.extnodename = DP_KEY_SET_NODE;
	return s;
}

DpReleaseColumn *
dp_make_release_column(void)
{
	DpReleaseColumn *c = (DpReleaseColumn *) newNode(sizeof(DpReleaseColumn), T_ExtensibleNode);

	c->node.extnodename = DP_RELEASE_COLUMN_NODE;
	c->location = -1;
	c->norm = -1;
	return c;
}

DpPrefetch *
dp_make_release_prefetch(void)
{
	DpPrefetch *g = (DpPrefetch *) newNode(sizeof(DpPrefetch), T_ExtensibleNode);

	g->node.extnodename = DP_PREFETCH_NODE;
	return g;
}
