/*-------------------------------------------------------------------------
 *
 * kept_int.h
 *	  Answers of a release that are kept, and given again (ledger/kept.h has
 *	  the terms): what the files of release/ share about them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_KEPT_INT_H
#define DP_KEPT_INT_H

#include "ledger/kept.h"
#include "ledger/ledger.h"
#include "release/kept_values.h"
#include "release/release_int.h"

typedef enum DpKeptHow
{
	DP_KEPT_GIVEN,				/* it is there */
	DP_KEPT_BOUGHT,				/* an increment is drawn: all of it, or what a
								 * better answer needs more */
	DP_KEPT_DERIVED,			/* made of a dearer one, with more noise */
	DP_KEPT_DUPLICATE			/* bought or derived for another column of the
								 * statement, which asks the same */
} DpKeptHow;

/* an increment that an answer is the mean of */
typedef struct DpKeptIncrement
{
	int64		rho;			/* what it cost */
	const DpKeptAnswer *answer; /* NULL: the one that is drawn, or derived,
								 * now */
	DpValueReader reader;
} DpKeptIncrement;

/* a column of a release whose answers are kept */
typedef struct DpKeptColumn
{
	uint8		fingerprint[DP_FINGERPRINT_BYTES];
	int64		asked;			/* price at which it is asked; an amount */
	List	   *chain;			/* DpKeptAnswer, the dearest first */
	DpKeptHow	how;
	DpKeptId	id;				/* the answer that is shown */
	const DpKeptAnswer *dearer; /* DERIVED: from this one */
	const DpKeptAnswer *cheaper;	/* DERIVED: nested above this one; NULL:
									 * none */
	const DpKeptAnswer *full;	/* the increment that the answer is of,
								 * itself; NULL: it is bought */
	struct DpKeptStep *steps;	/* DERIVED: for each part */
	struct DpKeptColumn *duplicate; /* of this release, or one that runs
									 * before it: shows the same answer, pays
									 * for it, and has a DUPLICATE's draws;
									 * NULL: none */
	bool		has_duplicate;	/* is a DUPLICATE's */
	bool		is_wider;		/* GIVEN, and paid for: the answer of a wider
								 * release, of which the increments hold the
								 * groups that are asked for */
	int			nincrements;
	DpKeptIncrement *increments;	/* the first one at the foot of the chain */

	/* kept_draws.c */
	int			draws;
	DpPricedColumn increment;	/* BOUGHT: the column at the price of the
								 * increment */
	DpValueWriter writer;		/* BOUGHT, DERIVED: what is to be kept, or has
								 * a duplicate */
	dp_i128    *drawn;			/* BOUGHT: of this group */
	dp_i128    *shown;			/* of this group */
	dp_i128    *of_increments;	/* room for one value of each increment */
	int64	   *shares;			/* of each part and increment */
} DpKeptColumn;

/* a release whose answers are kept */
typedef struct DpKept
{
	DpPricedRelease *priced;
	TimestampTz since;			/* older answers have ended */
	int			nbudgets;
	int64	   *balances;		/* numbers of the payer's budgets, then of the
								 * cap */
	int			ncolumns;
	DpKeptColumn *columns;
	int			selection;		/* column that selects keys, -1: none */
	DpKeyTuples *keys;			/* that a kept selection has shown; NULL */
	TupleDesc	keys_desc;
	struct DpKept *before[DP_BEFORES];	/* of what finds its bounds and limits
										 * first; NULL: nothing does */
	const struct DpKept *owner; /* of what finds limits: whose */
	const struct DpKept *groups;	/* of the rest: of the groups of which it
									 * is the rest */
	bool		is_locked;		/* its questions are, by this process */
	bool		is_wider;		/* its answers are given to who asks for some
								 * of its groups: all are there, and it is not
								 * looked at again */
} DpKept;

/* kept_choice.c */

/*
 * Tells whether answers of a release are to be kept, and given again where
 * they are.
 */
extern bool dp_keeps_answers(const DpPricedRelease *priced);

/*
 * dp_kept_create makes the questions of a priced release; the rows that it joins with and the
 * tuples of its keys are known (run).  It returns NULL where the questions are not known.  dp_kept_look reads what is kept and settles how
 * each column is answered, whose prices and noise dp_kept_settle (kept_owed.c) then sets.
 */
extern DpKept *dp_kept_create(const DpRun *run, DpPricedRelease *priced, EState *estate);
extern void dp_kept_look(DpKept *kept, List *before, DpKeptMoment *moment);

/* Tells each rest (DpKept, or NULL) whose it is; what is the rest of groups that are not kept becomes NULL. */
extern void dp_kept_set_groups(List *all);

/* Tells whether something is bought before the release. */
extern bool dp_kept_has_before(const DpKept *kept);

/* Returns the price of the dearest answer of a chain that a balance has paid for; 0: none. */
extern int64 dp_paid_for(const List *chain, int64 balance);

/* kept_owed.c */

extern void dp_kept_settle(DpKept *kept);

/* Tells whether all that is shown is there, and paid for by all budgets of who asks: nothing is debited. */
extern bool dp_kept_is_free(const DpKept *kept);

/* Tells so of one column. */
extern bool dp_kept_column_is_free(const DpKept *kept, int i);

/* Tells whether protected rows have to be read. */
extern bool dp_kept_needs_rows(const DpKept *kept);

/* Returns the questions (uint8 *) under which no other process may buy meanwhile. */
extern List *dp_kept_locks(const DpKept *kept);

/* Completes the item of a debit: who has paid what of it, and for which answers it pays. */
extern void dp_kept_add_credits(const DpKept *kept, DpDebitItem *item);

/* Notes that answers were given again; kept may be NULL. */
extern void dp_kept_note_use(const DpKept *kept);

/* Returns what is owed by the budget of who asks that owes most. */
extern DpCharge dp_kept_owed(const DpKept *kept);

/* kept_duplicates.c */

/*
 * dp_kept_agree has columns of a statement's releases (DpKept) that ask one question ask it at one price, the highest.
 * dp_kept_pair makes a column of a release the duplicate of one that shows the same
 * answer, of those in front of it and of the releases that run before.
 */
extern void dp_kept_agree(List *all);
extern void dp_kept_pair(const DpKept *kept, int i, List *before);

/*
 * kept_choice.c: does what dp_kept_create does for a release that is not executed.
 */
extern DpKept *dp_kept_create_early(DpPricedRelease *priced, EState *estate);

/*
 * kept_wider.c: looks whether what a release asks for is kept as answers of the release
 * without the conditions on its keys, and paid for by all budgets of who asks.  Returns these, if all of it is;
 * else NULL: then kept, which has been looked at, has taken those of single columns.
 */
extern DpKept *dp_kept_of_wider(const DpRun *run, DpKept *kept, DpPricedRelease *priced, EState *estate, DpKeptMoment *moment);

/* kept_draws.c */

/* Sets the noise of what is shown, whose bounds are known; ZC004 where no noise makes it of what is kept. */
extern void dp_kept_set_noise(DpKept *kept);

/* Reads the keys that a kept selection has shown; XX001 for kept bytes that cannot be read. */
extern void dp_kept_read_keys(DpKept *kept, TupleDesc desc);

/* Prepares what dp_kept_group and the like do, before the debit, or when all that noise follows from is known; XX001 for kept bytes that cannot be read. */
extern void dp_kept_begin(DpKept *kept, TupleDesc desc);

/* Makes the answers that are made of dearer ones, after the debit. */
extern void dp_kept_derive(DpKept *kept);

/*
 * For each group, in canonical order: dp_kept_group returns the noisy integers
 * of a column that are shown, from its exact states where an increment is bought;
 * dp_kept_end_group keeps what was drawn for the group, whose row (keys first) has been
 * released.
 */
extern const dp_i128 *dp_kept_group(DpKept *kept, int column, const dp_i128 *state);
extern void dp_kept_end_group(DpKept *kept, Datum *values, bool *nulls);

/* Returns what was drawn or derived, for dp_keep_values; what is too long ends there. */
extern List *dp_kept_values(DpKept *kept);

#endif							/* DP_KEPT_INT_H */
