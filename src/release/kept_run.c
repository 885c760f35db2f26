/*-------------------------------------------------------------------------
 *
 * kept_run.c
 *	  A statement's releases whose answers are kept: from the first look to the
 *	  moment when they may be shown.
 *
 *	 1. Look; if all is there, and paid for, nothing is locked or debited.  Where a
 *		release with more groups has it (kept_wider.c), it is given from there.
 *	 2. Else lock the questions, in the order of their bytes, wait for debits and values of who
 *		was cancelled while the worker wrote them, and look again.
 *	 3. The debit (exec.c) marks the answers as paid for.
 *	 4. Draw and derive (exec.c), hand the values to the ledger, and wait until they are
 *		durable.  Then unlock.
 *
 * Who fails between 3 and 4 has paid for answers that nobody has seen: asked
 * again they are drawn, at no price (but for questions of now()); if rows were read, it counts as a failure (buy.c).
 *
 * Invariant: no value leaves before it is kept, so no answer has two values.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "release/found_bounds.h"
#include "release/kept_int.h"

static int
compare_fingerprints(const ListCell *a, const ListCell *b)
{
	return memcmp(lfirst(a), lfirst(b), DP_FINGERPRINT_BYTES);
}

/* Returns questions (uint8 *) in the order in which they are locked, each once. */
static List *
in_order(List *fingerprints)
{
	List	   *ordered = NIL;

	list_sort(fingerprints, compare_fingerprints);
	foreach_ptr(Node, fingerprint, fingerprints)
	{
		if (ordered == NIL || memcmp(llast(ordered), fingerprint, DP_FINGERPRINT_BYTES) != 0)
			ordered = lappend(ordered, fingerprint);
	}
	return ordered;
}

/* Returns the answers that may have to be bought of an execution; NULL: none. */
static DpKept *
kept_to_buy(const DpRun *run)
{
	return run->kept != NULL && !run->kept->is_wider ? run->kept : NULL;
}

/* Returns the questions that a statement's releases lock. */
static List *
locks_of(List *runs)
{
	List	   *fingerprints = NIL;

	foreach_ptr(const DpRun, run, runs)
	{
		DpKept	   *kept = kept_to_buy(run);

		if (kept != NULL)
			fingerprints = list_concat(fingerprints, dp_kept_locks(kept));
	}
	return in_order(fingerprints);
}

/* Looks at what is kept for all releases; returns whether nothing is owed. */
static bool
look_at_all(List *runs, DpKeptMoment *moment)
{
	bool		is_free = true;
	List	   *before = NIL;	/* DpKept */

	foreach_ptr(const DpRun, run, runs)
	{
		DpKept	   *kept = kept_to_buy(run);

		if (kept == NULL)
			continue;
		dp_kept_look(kept, before, moment);
		before = lappend(before, kept);
		is_free = is_free && dp_kept_is_free(kept);
	}
	return is_free;
}

/*
 * Has releases that would cost something be answered from wider ones, or single columns of theirs, where these are there;
 * returns whether nothing is owed.
 */
static bool
look_at_wider(List *runs, List *releases, EState *root, DpKeptMoment *moment)
{
	bool		is_free = true;
	ListCell   *lc,
			   *priced;

	forboth(lc, runs, priced, releases)
	{
		DpRun	   *run = lfirst(lc);
		DpKept	   *wider;

		if (run->kept == NULL || dp_kept_is_free(run->kept))
			continue;
		wider = dp_kept_of_wider(run, run->kept, lfirst(priced), root, moment);
		is_free = is_free && (wider != NULL || dp_kept_is_free(run->kept));
		if (wider == NULL)
			continue;
		run->kept = wider;
		run->asked = lfirst(priced);
		lfirst(priced) = wider->priced;
	}
	return is_free;
}

void
dp_look_for_kept(List *runs, List *releases, EState *root)
{
	List	   *all = NIL;		/* DpKept */
	List	   *known = NIL;	/* those of them that there are */
	ListCell   *run,
			   *priced,
			   *lc;
	DpKeptMoment first = {0},
				locked = {0};
	bool		is_free;

	forboth(run, runs, priced, releases)
		all = lappend(all, dp_keeps_answers(lfirst(priced)) ? dp_kept_create(lfirst(run), lfirst(priced), root) : NULL);
	dp_kept_set_groups(all);
	forboth(run, runs, lc, all)
	{
		((DpRun *) lfirst(run))->kept = lfirst(lc);
		if (lfirst(lc) != NULL)
			known = lappend(known, lfirst(lc));
	}
	dp_kept_agree(known);
	is_free = look_at_all(runs, &first) || look_at_wider(runs, releases, root, &first);
	dp_kept_moment_end(&first);
	if (!is_free)
	{
		foreach_ptr(const uint8, item, locks_of(runs))
			dp_lock_fingerprint(item);
		dp_await_given_up();
		(void) look_at_all(runs, &locked);
		dp_kept_moment_end(&locked);
	}
	foreach_ptr(DpRun, item, runs)
	{
		DpKept	   *kept = item->kept;

		if (kept == NULL)
			continue;
		kept->is_locked = !is_free && !kept->is_wider;
		dp_kept_settle(kept);
		for (DpBefore b = 0; b < DP_BEFORES; b++)
			if (kept->before[b] != NULL)
				dp_kept_begin(kept->before[b], dp_estimator_desc(kept->before[b]->priced->release));
		/* bounds and limits that are yet to be found decide on noise */
		if (!dp_kept_has_before(kept))
			dp_kept_begin(kept, item->desc);
		else
			dp_kept_read_keys(kept, item->desc);
	}
}

/* Returns what keeps the answers of a run, or, of a run's, of what was bought before it. */
static DpKept *
kept_of(const DpRun *run, DpBefore which)
{
	if (run->kept == NULL)
		return NULL;
	return which < DP_BEFORES ? run->kept->before[which] : run->kept;
}

/* Hands what was drawn over to be kept and waits until it is; one call for each dataset.  DP_BEFORES: the runs' own. */
static void
keep_all(List *runs, DpBefore which)
{
	List	   *names = NIL;
	ListCell   *name;

	foreach_ptr(DpRun, run, runs)
	{
		if (kept_of(run, which) != NULL)
			names = list_append_unique(names, makeString(run->priced->dataset->name));
	}
	foreach(name, names)
	{
		List	   *values = NIL;

		foreach_ptr(DpRun, run, runs)
		{
			DpKept	   *kept = kept_of(run, which);

			if (kept != NULL && strcmp(kept->priced->dataset->name, strVal(lfirst(name))) == 0)
				values = list_concat(values, dp_kept_values(kept));
		}
		if (values != NIL)
			dp_keep_values(strVal(lfirst(name)), values);
	}
}

void
dp_keep_found(List *runs)
{
	keep_all(runs, DP_FINDS_BOUNDS);
}

void
dp_keep_drawn(List *runs)
{
	bool		is_locked = false;

	/* no answer is there without the limit that it follows from */
	keep_all(runs, DP_FINDS_LIMITS);
	keep_all(runs, DP_BEFORES);
	foreach_ptr(DpRun, run, runs)
	{
		DpKept	   *kept = run->kept;

		if (kept == NULL)
			continue;
		is_locked = is_locked || kept->is_locked;
		dp_kept_note_use(kept);
	}
	foreach_ptr(const uint8, item, is_locked ? locks_of(runs) : NIL)
		dp_unlock_fingerprint(item);
}
