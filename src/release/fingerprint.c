/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  The identity of what a release asks, one column at a time.
 *
 * It is the SHA-256 of what the guard has written down (guard/fingerprint.c) and of
 * what that leaves open, as it is when the release is priced: the policy, the
 * values of parameters, the rows of public inputs (public_content.c), declared keys, the time
 * zone, limits, bounds.  Prices and noise are not in it, nor is the protected
 * content of any table.
 *
 * Invariants:
 * - Each thing that is hashed is preceded by its length, so that two identities
 *	 are equal only if all of it is.
 * - Lengths, numbers and values are hashed as they lie in memory, so that a server
 *	 of another byte order asks other questions: the keys of kept answers
 *	 (kept_values.c) are tuples, which it must not read.
 * - What time functions (now(), current_date) and STABLE ones that were added return is not in it: such a
 *	 question is the same tomorrow, and never made better (kept_choice.c).  Bounds, keys and blocks of time that follow
 *	 from them are.
 * - There is nothing else by which an expression could mean something else in
 *	 another session: whatever is volatile, or depends on a role or a setting, is
 *	 not on the list of what may run on rows (guard/vet), and settings by which
 *	 values are written are pinned (sandbox.c).  So there is no question that has
 *	 no identity for that reason.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "common/cryptohash.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "release/fingerprint.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* what is hashed */
typedef struct Hasher
{
	pg_cryptohash_ctx *context;
	StringInfoData text;		/* is used again and again */
} Hasher;

static void
begin_hash(Hasher *h)
{
	h->context = pg_cryptohash_create(PG_SHA256);
	if (h->context == NULL || pg_cryptohash_init(h->context) < 0)
		elog(ERROR, "could not begin to compute a hash");
	initStringInfo(&h->text);
}

static void
put(Hasher *h, const void *bytes, Size length)
{
	uint64		size = length;

	if (pg_cryptohash_update(h->context, (const uint8 *) &size, sizeof(size)) < 0 ||
		pg_cryptohash_update(h->context, bytes, length) < 0)
		elog(ERROR, "could not compute a hash: %s", pg_cryptohash_error(h->context));
}

static void
end_hash(Hasher *h, DpFingerprint *fingerprint)
{
	if (pg_cryptohash_final(h->context, fingerprint->id, DP_FINGERPRINT_BYTES) < 0)
		elog(ERROR, "could not compute a hash: %s", pg_cryptohash_error(h->context));
	pg_cryptohash_free(h->context);
	pfree(h->text.data);
}

static void
put_string(Hasher *h, const char *string)
{
	put(h, string, strlen(string));
}

static void
put_number(Hasher *h, int64 number)
{
	put(h, &number, sizeof(number));
}

static void
put_value(Hasher *h, Oid type, Oid collation, Datum value, bool isnull)
{
	resetStringInfo(&h->text);
	dp_fingerprint_value(&h->text, type, collation, value, isnull);
	put(h, h->text.data, h->text.len);
}

static void
put_const(Hasher *h, const Const *value)
{
	if (value == NULL)
		put_string(h, "");
	else
		put_value(h, value->consttype, value->constcollid, value->constvalue, value->constisnull);
}

/* ------------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------------
 */

/* Writes the value of a parameter of the statement, or a bound next to it: number:type:collation:step, as the guard has left it. */
static bool
put_param(StringInfo text, const char *param, ParamListInfo params)
{
	ParamExternData workspace;
	ParamExternData *p;
	unsigned int type,
				collation;
	int			number,
				step;

	if (sscanf(param, "%d:%u:%u:%d", &number, &type, &collation, &step) != 4)
		elog(ERROR, "unexpected parameter of a question");
	if (params == NULL || number > params->numParams)
		return false;
	p = params->paramFetch ? params->paramFetch(params, number, false, &workspace) : &params->params[number - 1];
	if (p->ptype != type)
		return false;
	dp_fingerprint_bound(text, type, collation, p->value, p->isnull, step);
	return true;
}

/* Adds a text of the guard's, with values in the place of parameters; false if they are not known. */
static bool
put_text(Hasher *h, const char *text, ParamListInfo params)
{
	const char *param;

	resetStringInfo(&h->text);
	while ((param = strchr(text, DP_FINGERPRINT_PARAM)) != NULL)
	{
		appendBinaryStringInfo(&h->text, text, param - text);
		if (!put_param(&h->text, param + 1, params))
			return false;
		text = strchr(param, DP_FINGERPRINT_PARAM_END) + 1;
	}
	appendStringInfoString(&h->text, text);
	put(h, h->text.data, h->text.len);
	return true;
}

/* ------------------------------------------------------------------------
 * What columns have in common
 * ------------------------------------------------------------------------
 */

/* Adds the labels of a table and of its columns, as their digest. */
static void
put_labels(Hasher *h, Oid relid)
{
	uint8		digest[DP_POLICY_DIGEST_BYTES];

	dp_policy_digest(relid, digest);
	put(h, digest, sizeof(digest));
}

/* Adds the policy, as it is written: a change ends what was asked before. */
static void
put_policy(Hasher *h, const DpRelease *release, const DpDataset *dataset)
{
	put_string(h, dataset->name);
	put_number(h, dataset->neighbors);
	foreach_oid(relid, release->relids)
	{
		const DpTable *table = dp_policy_table(relid);
		Oid			labelled = table ? table->labelled : InvalidOid;

		put_string(h, "table");
		put_labels(h, relid);
		if (OidIsValid(labelled) && labelled != relid)
			put_labels(h, labelled);
	}
}

/* Adds the rows of a prefetch. */
static void
put_rows(Hasher *h, EphemeralNamedRelation rows)
{
	uint8		digest[DP_FINGERPRINT_BYTES];

	dp_stored_content(rows->reldata, rows->md.tupdesc, digest);
	put(h, digest, sizeof(digest));
}

/*
 * Adds what is in tables without a policy that the inner plan reads, of columns, as the release has them; more: of a column
 * of the release, which adds to them, and only of tables of which it has any; NIL: none does.  False where a table has too many rows.
 */
static bool
put_public(Hasher *h, DpPricedRelease *priced, List *more, Snapshot snapshot)
{
	const DpRelease *release = priced->release;
	bool		known = true;

	for (int i = 0; known && i < list_length(release->public_relids); i++)
	{
		List	   *columns = list_copy(list_nth(release->public_columns, i));
		List	   *added = more ? list_difference_int(list_nth(more, i), columns) : NIL;
		uint8		digest[DP_FINGERPRINT_BYTES];

		if (more != NIL && added == NIL)
			continue;
		columns = list_concat_unique_int(columns, added);
		list_sort(columns, list_int_cmp);
		known = dp_public_content(list_nth_oid(release->public_relids, i), list_nth_int(release->public_inherit, i) != 0,
								  columns, snapshot, digest);
		put_number(h, i);
		put(h, digest, sizeof(digest));
	}
	priced->reads_too_much |= !known;
	return known;
}

/* Adds the tuples of a set of keys, or a range, of these types. */
static void
put_tuples(Hasher *h, const DpKeyTuples *tuples, const DpRelease *release, const DpKeySet *set)
{
	put_number(h, tuples->n);
	for (int64 i = 0; i < tuples->n * tuples->nkeys; i++)
	{
		DpReleaseKey *key;

		CHECK_FOR_INTERRUPTS();
		key = list_nth(release->keys, list_nth_int(set->keys, i % tuples->nkeys));
		put_value(h, key->type, key->collation, tuples->values[i], tuples->nulls[i]);
	}
}

/* Adds the values of one key, in the same way. */
static void
put_domain(Hasher *h, const DpKeySet *set, const DpReleaseKey *key)
{
	ArrayType  *array = DatumGetArrayTypeP(set->domain->constvalue);
	Datum	   *values;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign, &values, NULL, &n);
	put_number(h, n + set->null_key);
	for (int i = 0; i < n; i++)
		put_value(h, key->type, key->collation, values[i], false);
	if (set->null_key)
		put_value(h, key->type, key->collation, (Datum) 0, true);
}

/* Adds which keys are declared; false where that is not known yet.  What is selected needs no list that is found when the query runs. */
static bool
put_key_sets(Hasher *h, const DpRelease *release, DpKeyTuples **tuples)
{
	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		put_string(h, "set");
		foreach_int(key, set->keys)
			put_number(h, key);
		if (set->domain != NULL)
			put_domain(h, set, list_nth(release->keys, linitial_int(set->keys)));
		else if (release->selection >= 0)
			continue;
		else if (tuples == NULL || tuples[foreach_current_index(set)] == NULL)
			return false;
		else
			put_tuples(h, tuples[foreach_current_index(set)], release, set);
	}
	return true;
}

/* Adds the rows that the inner plan joins with; false where they are not known. */
static bool
put_prefetched(Hasher *h, const DpRun *run)
{
	if (run->release->prefetches != NIL && run->prefetched == NULL)
		return false;
	foreach_ptr(DpPrefetch, prefetch, run->release->prefetches)
		put_rows(h, get_ENR(run->prefetched, prefetch->name));
	return true;
}

/* Computes what the questions of all columns have in common; false where it is not known. */
static bool
common_part(const DpRun *run, DpPricedRelease *priced, EState *estate, DpFingerprint *common)
{
	const DpRelease *release = priced->release;

	Hasher		h;
	bool		known;

	begin_hash(&h);
	put_string(&h, DP_VERSION);
	put_policy(&h, release, priced->dataset);
	put_string(&h, run->timezone ? run->timezone : GetConfigOption("TimeZone", false, false));
	put_number(&h, priced->max_groups);
	put_number(&h, priced->max_rows);
	/* keys that were shown are shown again, of which others would have been */
	if (release->selection >= 0 && dp_min_units(priced) > 1)
	{
		put_string(&h, "min_units");
		put_number(&h, dp_min_units(priced));
	}
	/* who pays for a kept answer pays for the blocks that it was made of */
	put_number(&h, priced->has_days);
	put_number(&h, priced->days.from);
	put_number(&h, priced->days.to);
	known = put_text(&h, release->base_text, estate->es_param_list_info) &&
		put_key_sets(&h, release, priced->tuples) && put_prefetched(&h, run) &&
		put_public(&h, priced, NIL, estate->es_snapshot);
	end_hash(&h, common);
	return known;
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------
 */

static void
put_range(Hasher *h, const DpRange *range)
{
	put(h, &range->lower, sizeof(range->lower));
	put(h, &range->upper, sizeof(range->upper));
	put_number(h, range->bins);
	put_number(h, range->kind);
}

/* Adds what the norm of a column is limited to, or what it may be found to be. */
static void
put_norm(Hasher *h, const DpPricedColumn *column)
{
	put_number(h, column->nlimits);
	for (int i = 0; i < column->nlimits; i++)
		put_number(h, column->limits[i]);
}

/* Adds the bounds of a column, as they are enforced. */
static void
put_bounds(Hasher *h, const DpPricedColumn *column)
{
	put_range(h, &column->range[0]);
	put_range(h, &column->range[1]);
	for (int i = 0; i < column->nparts; i++)
	{
		const DpPricedPart *part = &column->parts[i];

		put_number(h, part->grid.lower);
		put_number(h, part->grid.upper);
		put_number(h, part->grid.exponent);
		put_number(h, part->row.lower);
		put_number(h, part->row.upper);
		put_number(h, part->width);
		put_number(h, part->shift);
	}
	put_norm(h, column);
}

/* Adds, for bounds of a column that are to be found first, what they follow from. */
static bool
put_finding(Hasher *h, const DpPricedColumn *column, const DpRun *run, DpPricedRelease *priced, EState *estate)
{
	DpPricedRelease *bounds = priced->before[DP_FINDS_BOUNDS];
	DpFingerprint *fingerprints = bounds ? dp_fingerprints(run, bounds, estate) : NULL;

	if (fingerprints == NULL)
		return false;
	put_string(h, "found");
	for (int i = 0; i < bounds->ncolumns; i++)
	{
		/* which expression each is of is in its question, wherever it stands */
		if (dp_relies_on(column->desc, i))
			put(h, &fingerprints[i], sizeof(DpFingerprint));
	}
	put_number(h, priced->unit_rows);

	/*
	 * at any one width of bounds: what follows from those that are found is
	 * in proportion
	 */
	put_norm(h, column);
	foreach_ptr(DpKeySet, item, priced->release->ranges)
	{
		const DpKeyTuples *range = priced->ranges ? priced->ranges[foreach_current_index(item)] : NULL;
		List	   *columns = item->plan->planTree->targetlist;

		if (range == NULL)
			return false;
		for (int i = 0; i < range->n * range->nkeys; i++)
			put_value(h, exprType((Node *) list_nth_node(TargetEntry, columns, i % range->nkeys)->expr), InvalidOid,
					  range->values[i], range->nulls[i]);
	}
	return true;
}

/* Returns the questions of limits: of the columns whose norms they are of, as these are before they are found. */
static DpFingerprint *
fingerprints_of_limits(const DpRun *run, DpPricedRelease *limiter, EState *estate)
{
	DpPricedRelease *priced = (DpPricedRelease *) limiter->limits_of;
	DpFingerprint *of_columns = dp_fingerprints(run, priced, estate);
	DpFingerprint *fingerprints = palloc0(limiter->ncolumns * sizeof(DpFingerprint));

	if (of_columns == NULL)
		return NULL;
	for (int l = 0; l < limiter->ncolumns; l++)
	{
		Hasher		h;

		begin_hash(&h);
		put_string(&h, "limit");
		put_number(&h, DP_LIMIT_RULE);
		put(&h, &of_columns[dp_column_with_norm(priced, l) - priced->columns], sizeof(DpFingerprint));
		end_hash(&h, &fingerprints[l]);
	}
	return fingerprints;
}

DpFingerprint *
dp_fingerprints(const DpRun *run, DpPricedRelease *priced, EState *estate)
{
	DpFingerprint *fingerprints;
	DpFingerprint common;

	if (priced->limits_of != NULL)
		return fingerprints_of_limits(run, priced, estate);

	if (priced->release->base_text == NULL || !common_part(run, priced, estate, &common))
		return NULL;
	fingerprints = palloc0(Max(priced->ncolumns, 1) * sizeof(DpFingerprint));
	for (int i = 0; i < priced->ncolumns; i++)
	{
		const DpPricedColumn *column = &priced->columns[i];
		Hasher		h;
		bool		known;

		begin_hash(&h);
		put(&h, &common, sizeof(common));
		known = put_text(&h, column->desc->fingerprint_text, estate->es_param_list_info) &&
			put_public(&h, priced, column->desc->public_columns, estate->es_snapshot);
		put_const(&h, column->desc->values);
		if (column->found_first && priced->found == NULL)
			known &= put_finding(&h, column, run, priced, estate);
		else
		{
			known &= !column->later;
			put_bounds(&h, column);
		}
		end_hash(&h, &fingerprints[i]);
		if (!known)
			return NULL;
	}
	return fingerprints;
}

DpFingerprint *
dp_fingerprints_early(const DpPricedRelease *priced, DpPricedRelease *part, EState *estate)
{
	DpRun		run = {.root = estate, .release = priced->release};
	DpFingerprint *fingerprints;

	foreach_ptr(DpPrefetch, prefetch, run.release->prefetches)
	{
		if (!prefetch->is_pure)
			return NULL;
	}
	if (estate->es_param_list_info == NULL && run.release->needs_params)
		return NULL;
	dp_run_prefetches(&run, false);
	fingerprints = dp_fingerprints(&run, part, estate);
	dp_end_prefetches(&run);
	return fingerprints;
}

char *
dp_fingerprint_text(const DpFingerprint *fingerprint)
{
	char	   *text = palloc0(2 * DP_FINGERPRINT_BYTES + 1);

	hex_encode((const char *) fingerprint->id, DP_FINGERPRINT_BYTES, text);
	return text;
}
