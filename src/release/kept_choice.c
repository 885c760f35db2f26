/*-------------------------------------------------------------------------
 *
 * kept_choice.c
 *	  How each column of a release is answered where answers are kept.
 *
 * A column is asked at a price r.  Its chain are the kept answers of its
 * question, by price; P is what a balance has paid, the price of the dearest answer that
 * it knows.
 *
 *	 all budgets of the payer have paid r or more:	the dearest answer that all of
 *													 them know, for nothing
 *	 there is an answer of price r:					this one; each balance owes r - P
 *	 the dearest costs less than r:					an increment for the difference is bought, if that is min_rho
 *													 or more; else the dearest
 *	 otherwise:										derived from the next dearer one
 *
 * Rows are never read for a second time for a question of now(): an answer of it is bought by itself, as a chain
 * that is younger.  Who has paid for an older one goes on with that.
 *
 * The cap has paid for the dearest answer, so it owes only where an increment is bought:
 * all roles together know what the dearest answer tells, and one more that is
 * derived from it tells them nothing.
 *
 * Counts that select keys are no chain: which keys passed is told by an answer of theirs,
 * and cannot be refined.  Each is bought by itself, given to who has paid for it
 * and to who asks at its price, and the questions of other columns are of its keys.  So are those of the rest of groups
 * that are not shown, which is another release (rest.c).
 *
 * Where bounds are found first, the answers that find them are kept by themselves, and the
 * questions of columns whose bounds follow from them are of these answers: of
 * the draw, not of what it told.  Otherwise who has not paid for it could try bounds until he meets
 * an answer that is kept.
 *
 * Invariants:
 * - What is chosen depends on questions, prices, payments and time; on no
 *	 protected row, and on no noisy value but the fact that it was kept.
 * - A question is locked from the look that decides until its answer is kept.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "base/clock.h"
#include "base/compat.h"
#include "base/settings.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "release/kept_int.h"
#include "release/fingerprint.h"
#include "utils/typcache.h"

/* a limit is looked for anew at so many times its price: below, its answers err by a fifth more at most on real data */
#define LIMIT_ANEW 10

/* up to this price the noise of a histogram of units has a variance of one squared step or more, so that another can be made of it */
#define MOST_DERIVED (DP_RHO_ONE / 2)

/* Tells whether keys that were shown can be looked up by their values. */
static bool
keys_can_be_found(const DpRelease *release)
{
	foreach_ptr(DpReleaseKey, key, release->keys)
	{
		Oid			type = key->type;

		if (!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_PROC)->hash_proc))
			return false;
	}
	return true;
}

bool
dp_keeps_answers(const DpPricedRelease *priced)
{
	/* a standby cannot keep any, nor tell who has paid for those there are */
	return dp_guc_reuse && !RecoveryInProgress() && priced->dataset->reuse > 0 && priced->ncolumns > 0 && keys_can_be_found(priced->release);
}

/*
 * Returns what keeps the answers of a release, or of one that is bought before it, and of what is bought before that; NULL if
 * their questions are not known.  run: NULL where nothing is executed.
 */
static DpKept *
make_kept(const DpRun *run, const DpPricedRelease *of, DpPricedRelease *priced, EState *estate)
{
	const DpFingerprint *fingerprints = run ? dp_fingerprints(run, priced, estate) : dp_fingerprints_early(of, priced, estate);
	DpKept	   *kept;

	if (fingerprints == NULL)
		return NULL;
	kept = palloc0(sizeof(DpKept));
	kept->priced = priced;
	for (DpBefore b = 0; b < DP_BEFORES; b++)
	{
		if (priced->before[b] == NULL)
			continue;
		kept->before[b] = make_kept(run, of, priced->before[b], estate);
		if (kept->before[b] == NULL)
			return NULL;
		if (b == DP_FINDS_LIMITS)
			kept->before[b]->owner = kept;
	}
	kept->ncolumns = priced->ncolumns;
	kept->selection = priced->release->selection;
	kept->columns = palloc0(kept->ncolumns * sizeof(DpKeptColumn));
	for (int i = 0; i < kept->ncolumns; i++)
	{
		memcpy(kept->columns[i].fingerprint, fingerprints[i].id, DP_FINGERPRINT_BYTES);
		kept->columns[i].asked = priced->columns[i].rho;
	}
	return kept;
}

DpKept *
dp_kept_create(const DpRun *run, DpPricedRelease *priced, EState *estate)
{
	return make_kept(run, priced, priced, estate);
}

DpKept *
dp_kept_create_early(DpPricedRelease *priced, EState *estate)
{
	return make_kept(NULL, priced, priced, estate);
}

void
dp_kept_set_groups(List *all)
{
	ListCell   *lc,
			   *other;

	foreach(lc, all)
	{
		DpKept	   *kept = lfirst(lc);

		if (kept == NULL || kept->priced->release->rest_of == NULL)
			continue;
		foreach(other, all)
			if (lfirst(other) != NULL && strcmp(((DpKept *) lfirst(other))->priced->release->name, kept->priced->release->rest_of) == 0)
			kept->groups = lfirst(other);
		if (kept->groups == NULL)
			lfirst(lc) = NULL;
	}
}

bool
dp_kept_has_before(const DpKept *kept)
{
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (kept->before[b] != NULL)
			return true;
	return false;
}

/* ------------------------------------------------------------------------
 * Chains
 * ------------------------------------------------------------------------
 */

static bool
knows(const DpKeptAnswer *answer, int64 balance)
{
	for (int i = 0; i < answer->npaid; i++)
	{
		if (answer->paid_by[i] == balance)
			return true;
	}
	return false;
}

int64
dp_paid_for(const List *chain, int64 balance)
{
	foreach_ptr(DpKeptAnswer, item, chain)
	{
		if (knows(item, balance))
			return item->id.rho;
	}
	return 0;
}

/* Returns the price of the dearest answer that all budgets of the payer have paid for; 0: none. */
static int64
paid_by_all(const DpKept *kept, const List *chain)
{
	int64		least = kept->nbudgets > 0 ? PG_INT64_MAX : 0;

	for (int i = 0; i < kept->nbudgets; i++)
		least = Min(least, dp_paid_for(chain, kept->balances[i]));
	return least;
}

/*
 * Returns the answer of this price that has been drawn; NULL: there is none.
 * Chains are sorted by price, the dearest first, and may be long; of one
 * price there may be several, of different deltas.
 */
static const DpKeptAnswer *
drawn_at(const List *chain, int64 rho)
{
	int			first = 0;
	int			past = list_length(chain);

	while (first < past)
	{
		int			middle = first + (past - first) / 2;

		if (((const DpKeptAnswer *) list_nth(chain, middle))->id.rho > rho)
			first = middle + 1;
		else
			past = middle;
	}
	for (; first < list_length(chain); first++)
	{
		const DpKeptAnswer *answer = list_nth(chain, first);

		if (answer->id.rho != rho)
			break;
		if (answer->values != NULL)
			return answer;
	}
	return NULL;
}

/* Counts the increments that an answer consists of, down to the foot of the chain; 0: one is missing. */
static int
count_increments(const List *chain, int64 below)
{
	int			n = 1;

	while (below > 0)
	{
		const DpKeptAnswer *increment = drawn_at(chain, below);

		if (increment == NULL || increment->id.below >= below)
			return 0;
		below = increment->id.below;
		n++;
	}
	return n;
}

/*
 * Tells whether the increment that an answer's own stands on is there.  Where this
 * is so for all drawn answers of a chain, none lacks an increment down to its foot.
 */
static bool
has_increment_below(const List *chain, const DpKeptAnswer *answer)
{
	const DpKeptAnswer *increment;

	if (answer->id.below == 0)
		return true;
	increment = drawn_at(chain, answer->id.below);
	return increment != NULL && increment->id.below < answer->id.below;
}

/* Takes the youngest chain off the front of answers; incomplete: a drawn answer of it lacks an increment. */
static List *
take_chain(List **answers, bool *incomplete)
{
	TimestampTz began = ((DpKeptAnswer *) linitial(*answers))->id.began;
	List	   *chain = NIL;

	*incomplete = false;
	foreach_ptr(DpKeptAnswer, item, *answers)
	{
		if (item->id.began != began)
			break;
		chain = lappend(chain, item);
	}
	*answers = list_delete_first_n(*answers, list_length(chain));
	foreach_ptr(DpKeptAnswer, answer, chain)
	{
		*incomplete |= answer->values != NULL && !has_increment_below(chain, answer);
	}
	return chain;
}

/* Tells whether a chain has what is asked for as much, drawn, and all budgets of the payer have paid for it. */
static bool
is_paid_for(const DpKept *kept, const List *chain, int64 asked)
{
	if (paid_by_all(kept, chain) < asked)
		return false;
	foreach_ptr(const DpKeptAnswer, answer, chain)
	{
		if (answer->values != NULL && answer->id.rho >= asked)
			return true;
	}
	return false;
}

/*
 * Returns the answers of a question that make one chain: the youngest that is paid for, at this price, else the
 * youngest.  There are several where others have bought a question of now() anew.
 */
static List *
read_chain(const DpKept *kept, const uint8 *fingerprint, int64 asked, DpKeptMoment *moment)
{
	List	   *answers = dp_kept_answers(kept->priced->dataset->name, fingerprint, kept->since, moment);
	List	   *youngest = NIL;

	for (bool first = true; answers != NIL; first = false)
	{
		bool		incomplete;
		List	   *chain = take_chain(&answers, &incomplete);

		if (!incomplete && is_paid_for(kept, chain, asked))
			return chain;
		if (first && !incomplete)
			youngest = chain;
	}
	return youngest;
}

/* ------------------------------------------------------------------------
 * Choosing
 * ------------------------------------------------------------------------
 */

/* Lists the increments that the answer of a column consists of. */
static void
set_increments(DpKeptColumn *column)
{
	int64		below = column->id.below;
	int			n = count_increments(column->chain, below);

	if (n == 0)
		elog(ERROR, "a kept answer lacks an increment");
	column->nincrements = n;
	column->increments = palloc0(n * sizeof(DpKeptIncrement));
	column->increments[n - 1].rho = column->id.rho - below;
	if (column->how == DP_KEPT_GIVEN)
		column->increments[n - 1].answer = drawn_at(column->chain, column->id.rho);
	for (int i = n - 2; i >= 0; i--)
	{
		const DpKeptAnswer *increment = drawn_at(column->chain, below);

		column->increments[i].answer = increment;
		column->increments[i].rho = increment->id.rho - increment->id.below;
		below = increment->id.below;
	}
	column->full = NULL;
	foreach_ptr(const DpKeptAnswer, answer, column->how == DP_KEPT_BOUGHT ? NIL : column->chain)
	{
		if (column->full == NULL && answer->values != NULL && answer->id.below == column->id.below)
			column->full = answer;
	}
}

/*
 * Settles what is bought beside the dearest answer that was drawn.  Rows are read for it, which has a least price: who asks for
 * less than that more is given the answer that is there, or, where a target of accuracy sets the price, pays as much.
 */
static void
choose_increment(const DpKept *kept, DpKeptColumn *column, const DpKeptAnswer *top)
{
	const DpDataset *dataset = kept->priced->dataset;
	int64		least = top->id.rho + dataset->min_rho;

	column->id.below = top->id.rho;

	/*
	 * what all have paid for, and nobody has drawn, is a reading that was
	 * paid for
	 */
	if (column->id.rho >= least || column->id.rho <= paid_by_all(kept, column->chain))
		return;
	if (dp_guc_target > 0 && (dataset->max_rho == 0 || least <= dataset->max_rho))
	{
		column->id.rho = least;
		return;
	}
	column->how = DP_KEPT_GIVEN;
	column->id.rho = top->id.rho;
	column->id.below = top->id.below;
}

/*
 * Has a question of now() bought by itself.  Rows are read for another time than before: an answer would be of two
 * windows of time, and who has paid for one that was never drawn would see another for nothing.
 */
static void
buy_anew(DpKeptColumn *column)
{
	column->id.rho = column->asked;
	column->id.began = Max(dp_now(), column->id.began + 1);
	column->id.below = 0;
	column->chain = NIL;
}

/*
 * Returns the price at which a column is looked for.  A limit is that of the dearest answer which costs no more, as
 * answers that follow from another would have to be bought anew.  One for much less would serve badly, and who pays so
 * much more loses little with the answers before.
 */
static int64
asked_price(const DpKept *kept, const DpKeptColumn *column)
{
	foreach_ptr(const DpKeptAnswer, answer, kept->owner != NULL ? column->chain : NIL)
	{
		if (answer->values != NULL && answer->id.rho <= column->asked)
			return answer->id.rho > column->asked / LIMIT_ANEW ? answer->id.rho : column->asked;
	}
	return column->asked;
}

/*
 * Tells whether an answer has to be derived from a dearer one, and cannot be, which nobody is to see who asks for what follows
 * from it: a limit, or bounds.
 */
static bool
cannot_be_derived(const DpKept *kept, const DpKeptColumn *column)
{
	return column->dearer != NULL && (kept->owner != NULL || kept->priced->release->is_estimator) && column->dearer->id.rho > MOST_DERIVED;
}

/* Settles which answer of a chain is shown, and how it comes about. */
static void
choose(const DpKept *kept, DpKeptColumn *column)
{
	const DpKeptAnswer *top = NULL;
	const DpKeptAnswer *there;

	memcpy(column->id.fingerprint, column->fingerprint, DP_FINGERPRINT_BYTES);
	column->id.rho = Max(asked_price(kept, column), paid_by_all(kept, column->chain));
	column->id.delta = 0;
	column->id.began = column->chain ? ((DpKeptAnswer *) linitial(column->chain))->id.began : dp_now();
	column->dearer = column->cheaper = NULL;
	there = drawn_at(column->chain, column->id.rho);
	if (there != NULL)
	{
		column->how = DP_KEPT_GIVEN;
		column->id.below = there->id.below;
		return;
	}
	foreach_ptr(const DpKeptAnswer, answer, column->chain)
	{
		if (answer->values == NULL)
			continue;
		if (top == NULL)
			top = answer;
		if (answer->id.rho > column->id.rho)
			column->dearer = answer;
		else if (column->cheaper == NULL && column->dearer != NULL && answer->id.below == column->dearer->id.below)
			column->cheaper = answer;
	}
	column->how = column->dearer ? DP_KEPT_DERIVED : DP_KEPT_BOUGHT;
	if (cannot_be_derived(kept, column))
	{
		column->how = DP_KEPT_BOUGHT;
		column->dearer = column->cheaper = NULL;
		buy_anew(column);
	}
	else if (column->dearer)
		column->id.below = column->dearer->id.below;
	else if (kept->priced->release->reads_clock && column->chain != NIL)
		buy_anew(column);
	else if (top != NULL)
		choose_increment(kept, column, top);
	else
		column->id.below = 0;
}

/* Tells whether a release that runs before buys this answer of a selection. */
static bool
is_bought_before(List *before, const DpKeptId *id)
{
	foreach_ptr(const DpKept, kept, before)
	{
		const DpKeptColumn *selection = kept->selection >= 0 ? &kept->columns[kept->selection] : NULL;

		if (selection != NULL && selection->how == DP_KEPT_BOUGHT && selection->id.began == id->began &&
			memcmp(selection->id.fingerprint, id->fingerprint, DP_FINGERPRINT_BYTES) == 0)
			return true;
	}
	return false;
}

/* Has a count that selects keys bought, apart from those that are bought before. */
static void
buy_selection(const DpKept *kept, DpKeptColumn *column, List *before)
{
	column->chain = NIL;
	memcpy(column->id.fingerprint, column->fingerprint, DP_FINGERPRINT_BYTES);
	column->id.rho = column->asked;
	column->id.delta = kept->priced->delta;
	column->id.below = 0;
	column->id.began = dp_now();
	while (is_bought_before(before, &column->id))
		column->id.began++;
}

/* Settles which answer of a count that selects keys is shown. */
static void
choose_selection(const DpKept *kept, DpKeptColumn *column, List *answers, List *before)
{
	int64		delta = kept->priced->delta;
	DpKeptAnswer *mine = NULL;	/* paid for */
	DpKeptAnswer *alike = NULL; /* of this price */

	foreach_ptr(DpKeptAnswer, answer, answers)
	{
		bool		paid = kept->nbudgets > 0;

		for (int i = 0; i < kept->nbudgets; i++)
			paid = paid && knows(answer, kept->balances[i]);
		/* one that was never drawn would be of another time now */
		if (answer->values == NULL && (answer->id.rho != column->asked || answer->id.delta != delta ||
									   kept->priced->release->reads_clock))
			continue;
		if (paid && (mine == NULL || (mine->values == NULL && answer->values != NULL)))
			mine = answer;
		if (answer->values != NULL && answer->id.rho == column->asked && answer->id.delta == delta)
			alike = answer;
	}
	if (mine == NULL)
		mine = alike;
	/* what was paid for and never drawn is drawn once */
	if (mine != NULL && mine->values == NULL && is_bought_before(before, &mine->id))
		mine = NULL;
	column->dearer = column->cheaper = NULL;
	if (mine != NULL)
	{
		column->id = mine->id;
		column->chain = list_make1(mine);
	}
	else
		buy_selection(kept, column, before);
	column->how = mine != NULL && mine->values != NULL ? DP_KEPT_GIVEN : DP_KEPT_BOUGHT;
}

/* Makes a question, in place, one that follows from an answer. */
static void
ask_of_answer(uint8 *fingerprint, const DpKeptId *answer)
{
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);

	StaticAssertStmt(DP_FINGERPRINT_BYTES == PG_SHA256_DIGEST_LENGTH, "a question is a SHA-256 digest");
	if (hash == NULL || pg_cryptohash_init(hash) < 0 ||
		pg_cryptohash_update(hash, fingerprint, DP_FINGERPRINT_BYTES) < 0 ||
		pg_cryptohash_update(hash, answer->fingerprint, DP_FINGERPRINT_BYTES) < 0 ||
		pg_cryptohash_update(hash, (const uint8 *) &answer->rho, sizeof(answer->rho)) < 0 ||
		pg_cryptohash_update(hash, (const uint8 *) &answer->began, sizeof(answer->began)) < 0 ||
		pg_cryptohash_final(hash, fingerprint, DP_FINGERPRINT_BYTES) < 0)
		elog(ERROR, "could not compute a digest");
	pg_cryptohash_free(hash);
}

/*
 * Completes the question of a column by the answers that it follows from: which keys were
 * shown, which bounds, which limits were found.  Returns whether all of these have been paid for, so that it may have been, too.
 */
static bool
ask_of_answers(const DpKept *kept, int i, uint8 *fingerprint)
{
	const DpKept *shown = kept->owner && kept->owner->groups ? kept->owner->groups : kept->groups ? kept->groups : kept;
	const DpKeptColumn *selection = shown->selection >= 0 ? &shown->columns[shown->selection] : NULL;
	const DpKept *bounds = (kept->owner ? kept->owner : kept)->before[DP_FINDS_BOUNDS];
	const DpKept *limits = kept->before[DP_FINDS_LIMITS];
	const DpReleaseColumn *desc = kept->owner ? dp_column_with_norm(kept->owner->priced, i)->desc : kept->priced->columns[i].desc;
	bool		are_there = true;

	memcpy(fingerprint, kept->columns[i].fingerprint, DP_FINGERPRINT_BYTES);
	if (selection != NULL)
	{
		ask_of_answer(fingerprint, &selection->id);
		are_there = selection->chain != NIL;
	}
	for (int j = 0; bounds != NULL && j < bounds->ncolumns; j++)
	{
		if (!dp_relies_on(desc, j))
			continue;
		ask_of_answer(fingerprint, &bounds->columns[j].id);
		are_there = are_there && bounds->columns[j].chain != NIL;
	}
	if (limits != NULL && desc->norm >= 0)
	{
		ask_of_answer(fingerprint, &limits->columns[desc->norm].id);
		are_there = are_there && limits->columns[desc->norm].chain != NIL;
	}
	return are_there;
}

/* Returns what is bought before releases (DpKept), for one purpose. */
static List *
all_before(List *releases, DpBefore which)
{
	List	   *all = NIL;

	foreach_ptr(DpKept, release, releases)
	{
		DpKept	   *kept = release->before[which];

		if (kept != NULL)
			all = lappend(all, kept);
	}
	return all;
}

void
dp_kept_look(DpKept *kept, List *before, DpKeptMoment *moment)
{
	const DpDataset *dataset = kept->priced->dataset;
	DpKeptColumn *selection = kept->selection >= 0 ? &kept->columns[kept->selection] : NULL;

	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (kept->before[b] != NULL)
			dp_kept_look(kept->before[b], all_before(before, b), moment);
	if (moment->now == 0)
		moment->now = dp_now();
	kept->since = Max(moment->now - dataset->reuse, dataset->forgotten_at);
	kept->balances = dp_payer_balances(dataset->name, &kept->nbudgets, moment);
	if (selection != NULL)
	{
		choose_selection(kept, selection, dp_kept_answers(dataset->name, selection->fingerprint, kept->since, moment), before);
		set_increments(selection);
		selection->duplicate = NULL;
		dp_kept_pair(kept, kept->selection, before);
	}
	for (int i = 0; i < kept->ncolumns; i++)
	{
		DpKeptColumn *column = &kept->columns[i];
		uint8		fingerprint[DP_FINGERPRINT_BYTES];

		column->has_duplicate = false;
		if (column == selection || column->is_wider)
			continue;
		column->duplicate = NULL;
		column->chain = ask_of_answers(kept, i, fingerprint) ? read_chain(kept, fingerprint, column->asked, moment) : NIL;
		choose(kept, column);
		memcpy(column->id.fingerprint, fingerprint, DP_FINGERPRINT_BYTES);
		set_increments(column);
		dp_kept_pair(kept, i, before);
	}
}
