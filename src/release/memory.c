/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  What a private query may hold, and refusals of more.
 *
 * Counted is what is known before rows are read, as dp_cdp.release_memory or
 * its dataset allows: the declared keys of all releases of a statement, with
 * the tables in which they are looked up, while they are collected
 * (guard/describe/planned_keys.c); and the states of all groups of declared
 * keys, when the release is priced.  So a query that would hold more is
 * refused by EXPLAIN, too, and before its debit.
 *
 * Groups of other keys are as many as there are, which nobody is to know;
 * they come one after the other, from nodes that spill to files beyond
 * work_mem.
 *
 * Invariant: figures here come from the query, the policy, and public tables
 * that who asks may read.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/errors.h"
#include "base/settings.h"
#include "policy/policy.h"
#include "release/release.h"
#include "release/release_int.h"

#define MEGABYTE (INT64CONST(1024) * 1024)

static bool
limited_by_dataset(const DpDataset *dataset)
{
	return dataset->release_memory > 0 && dataset->release_memory < dp_guc_release_memory;
}

int64
dp_allowed_memory(const DpDataset *dataset)
{
	return (int64) (limited_by_dataset(dataset) ? dataset->release_memory : dp_guc_release_memory) * 1024;
}

char *
dp_memory_text(int64 bytes)
{
	int64		unit = bytes < MEGABYTE ? 1024 : MEGABYTE;

	return psprintf(INT64_FORMAT " %s", bytes / unit + (bytes % unit > 0), unit == MEGABYTE ? "MB" : "kB");
}

/* Returns who allows how much, and whom to ask, around what is to be done first. */
static char *
what_is_allowed(const DpDataset *dataset, const char *instead)
{
	bool		by_dataset = limited_by_dataset(dataset);

	return psprintf("%s allows %s; %s, or ask %s",
					by_dataset ? psprintf("dataset \"%s\"", dataset->name) : "dp_cdp.release_memory",
					dp_memory_text(dp_allowed_memory(dataset)), instead,
					by_dataset ? "the dataset's owner to raise release_memory" : "the administrator to raise it");
}

void
dp_refuse_keys(const DpDataset *dataset, int64 keys, bool free)
{
	dp_raise(NOT_RELEASABLE,
			 errmsg("this query holds more than " INT64_FORMAT " declared keys, which take more than %s, and %s",
					keys, dp_memory_text(dp_allowed_memory(dataset)),
					what_is_allowed(dataset, "group by columns of fewer keys, or list fewer")),
			 free ? errdetail("Nothing was charged.") : 0);
}

void
dp_settle_memory(DpPricedRelease *priced, int64 declared)
{
	/* at most 10 million groups of 64 columns of 10,000 states: no overflow */
	priced->memory = declared * priced->width * (int64) sizeof(dp_i128) + priced->release->key_memory;
	for (int i = 0; priced->tuples && i < list_length(priced->release->key_sets); i++)
		priced->memory += priced->tuples[i] ? priced->tuples[i]->memory : 0;
	if (priced->memory > dp_allowed_memory(priced->dataset))
		dp_raise(NOT_RELEASABLE,
				 errmsg("this query holds " INT64_FORMAT " declared groups with %d numbers in each, which takes %s, and %s",
						declared, priced->width, dp_memory_text(priced->memory),
						what_is_allowed(priced->dataset, "group by fewer keys, ask for fewer aggregates at once")),
				 errdetail("Nothing was charged."));
}
