/*-------------------------------------------------------------------------
 *
 * proof.c
 *	  From which policy a price follows, in a text that another copy of the
 *	  database can compare with its own.
 *
 * A standby computes prices from the policy that it has replayed; the primary,
 * which is to debit them, may have another by then.  The text names the
 * protected tables by OID, which both have in common, and ends with a digest of
 * the dataset's settings, as the price was computed from them, and of all labels
 * of these tables, of those they inherit them from, and of those that say whose
 * their rows are.
 *
 * What is not in it: rows, public tables, functions that were added, and all else
 * that a standby has as it was when its last record of the log was written.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "policy/policy_int.h"

/* Appends settings that prices and noise follow from, or what may be seen of an answer. */
static void
add_settings(StringInfo text, const DpDataset *dataset)
{
	appendStringInfo(text, "%s|%u|" INT64_FORMAT "|" INT64_FORMAT "|" INT64_FORMAT "|" INT64_FORMAT "|%d|%d|%.17g|%d|"
					 INT64_FORMAT "|%d|%.17g|%d|%d|%d",
					 dataset->name, dataset->owner, dataset->default_rho, dataset->max_rho, dataset->min_rho,
					 dataset->default_delta, dataset->max_groups, dataset->max_rows, dataset->max_contribution, (int) dataset->neighbors,
					 dataset->answer_step, dataset->max_failures, dataset->find_bounds,
					 dataset->blocks.months, dataset->blocks.days, dataset->min_units);
}

static void
add_labels(StringInfo text, Oid relid)
{
	uint8		digest[DP_POLICY_DIGEST_BYTES];

	dp_policy_digest(relid, digest);
	appendStringInfo(text, "|%u:", relid);
	for (int i = 0; i < DP_POLICY_DIGEST_BYTES; i++)
		appendStringInfo(text, "%02x", digest[i]);
}

/* Appends the policy of a table, and of those that its rows belong to people through. */
static void
add_table(StringInfo text, Oid relid)
{
	for (int i = 0; i <= DP_MAX_PARENTS; i++)
	{
		const DpTable *table = dp_policy_table(relid);
		DpParent	parent;

		appendStringInfo(text, "|%u", relid);
		if (table == NULL)
			return;
		add_labels(text, table->labelled);
		if (table->labelled != relid)
			add_labels(text, relid);
		if (table->nthrough == 0)
			return;
		appendStringInfo(text, "|%d", (int) dp_policy_parent(relid, &parent));
		if (dp_policy_parent(relid, &parent) != DP_PARENT_OK)
			return;
		for (int c = 0; c < parent.n; c++)
			appendStringInfo(text, "|%d-%d", parent.child[c], parent.key[c]);
		relid = parent.parent;
	}
}

/* Returns the digest of a text in hexadecimal digits. */
static char *
digest_of(StringInfo text)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	char	   *digits = palloc(2 * PG_SHA256_DIGEST_LENGTH + 1);

	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) text->data, text->len) < 0 ||
		pg_cryptohash_final(context, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not compute a digest");
	pg_cryptohash_free(context);
	for (int i = 0; i < PG_SHA256_DIGEST_LENGTH; i++)
		snprintf(digits + 2 * i, 3, "%02x", digest[i]);
	return digits;
}

char *
dp_policy_proof(const DpDataset *dataset, List *relids)
{
	StringInfoData text ,
				proof;

	initStringInfo(&text);
	initStringInfo(&proof);
	add_settings(&text, dataset);
	foreach_oid(relid, relids)
	{
		add_table(&text, relid);
		appendStringInfo(&proof, "%s%u", proof.len > 0 ? "," : "", relid);
	}
	appendStringInfo(&proof, ":%s", digest_of(&text));
	return proof.data;
}

bool
dp_policy_is_proved(const char *dataset, const char *proof)
{
	List	   *relids = NIL;
	const char *at = proof;

	while (*at >= '0' && *at <= '9')
	{
		char	   *end;

		relids = lappend_oid(relids, (Oid) strtoul(at, &end, 10));
		at = *end == ',' ? end + 1 : end;
	}
	return strcmp(dp_policy_proof(dp_policy_dataset(dataset), relids), proof) == 0;
}
