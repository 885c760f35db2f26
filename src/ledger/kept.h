/*-------------------------------------------------------------------------
 *
 * kept.h
 *	  Answers that are kept, and given again: what was paid for once is not
 *	  bought twice.
 *
 * A *question* is a column of a release, identified by all that its exact
 * states and their sensitivity follow from, price apart (release/fingerprint.c).
 * An *answer* is what was drawn for a question at a price.  Answers of one
 * question that are kept at the same time form a *refinement chain*, by their price: who
 * has paid for one knows it and all that are below it, and nothing more.  So a
 * balance owes the difference to the dearest answer that it has paid for, and
 * all balances together know what the dearest answer tells.
 *
 * A chain is made of *increments*, each bought with fresh noise: the increment from
 * "below" to the next one's.  An answer within an increment is the increment with more
 * noise (math/refinement.h).
 *
 * Values are written and read by release/; the ledger stores their bytes.
 *
 * What is PGDLLEXPORT is called by test/kept: from PostgreSQL 16 on a library
 * shows nothing else to others.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_KEPT_H
#define DP_KEPT_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/snapshot.h"

#define DP_FINGERPRINT_BYTES 32

/* an answer of a chain, as a debit and what keeps values name it */
typedef struct DpKeptId
{
	uint8		fingerprint[DP_FINGERPRINT_BYTES];
	int64		rho;			/* what a balance has paid that knows it and
								 * nothing dearer; an amount */
	int64		delta;			/* of a selection of keys; with rho it tells
								 * the answers of a chain apart */
	int64		below;			/* the price of the increment's foot; 0: the
								 * first increment */
	TimestampTz began;			/* of the chain: when its first increment was
								 * bought */
} DpKeptId;

/* an answer, as it is read */
typedef struct DpKeptAnswer
{
	DpKeptId	id;
	struct varlena *values;		/* bytea; NULL: paid for, and never drawn (its
								 * statement failed, or the server) */
	int			npaid;
	int64	   *paid_by;		/* numbers of the balances (ledger_id) that
								 * know it */
} DpKeptAnswer;

/* what a balance has paid already for what an item of a debit asks */
typedef struct DpCredit
{
	int64		ledger_id;
	int64		rho;
	int64		delta;
} DpCredit;

/*
 * The moment at which a statement looks at what is kept, which is one for all of its questions: otherwise two columns
 * that ask the same could show two answers, one of which was kept in between.  Zeroed by the caller, set by the first
 * look, and ended by dp_kept_moment_end.
 */
typedef struct DpKeptMoment
{
	Snapshot	snapshot;
	TimestampTz now;
} DpKeptMoment;

extern PGDLLEXPORT void dp_kept_moment_end(DpKeptMoment *moment);

/*
 * Returns the answers of a question in a dataset that have not ended and are
 * not older than since, as a List of DpKeptAnswer: the youngest chain first,
 * and of each the dearest answer first; palloc'd.  It sees what is committed at the moment, whatever
 * the transaction's snapshot is, and locks nothing but the table.  None where
 * nothing can be debited: on a standby, and while the ledger waits for its
 * adoption.  Privileges are the caller's business.
 */
extern PGDLLEXPORT List *dp_kept_answers(const char *dataset, const uint8 *fingerprint, TimestampTz since, DpKeptMoment *moment);

/*
 * Returns the numbers (ledger_id) of the balances of a dataset that a debit of
 * the calling roles would touch: of their budgets, *n of them, and behind these
 * the cap's; palloc'd.
 */
extern PGDLLEXPORT int64 *dp_payer_balances(const char *dataset, int *n, DpKeptMoment *moment);

/*
 * Hands values over to be kept, a List of DpKeptValues, and returns when they
 * are durable: only then may any of them be shown.  The answers have been paid
 * for (DpDebitItem.answers).  What has ended meanwhile, or has gone with its
 * dataset, is not kept, and may be shown this once.  An error, ZC003 or 57014,
 * if that cannot be had: then none of them may be shown, and who paid looks
 * again, and draws where there are no values.
 */
typedef struct DpKeptValues
{
	DpKeptId	id;
	struct varlena *values;		/* bytea; NULL: too long to be kept.  The
								 * answer ends, and is shown this once */
} DpKeptValues;

extern PGDLLEXPORT void dp_keep_values(const char *dataset, List *values);

/* Notes that an answer was given again, so that others are forgotten before it; waits for nothing. */
extern PGDLLEXPORT void dp_kept_used(const DpKeptId *id);

/*
 * Locks a question of this database until dp_unlock_fingerprint, or the end of the
 * (sub)transaction, so that one process at a time buys answers of it.  Waits,
 * with interrupts, and is seen by the detector of deadlocks.  It is let go
 * under the resource owner that it was taken under, in the same run of a plan.
 */
extern PGDLLEXPORT void dp_lock_fingerprint(const uint8 *fingerprint);
extern PGDLLEXPORT void dp_unlock_fingerprint(const uint8 *fingerprint);

/*
 * Waits, with interrupts, until the worker is done with what others have given up while it was
 * at work for them: a debit, or values, of a question that they have unlocked since.  What is looked
 * at before that may miss what they have paid for.  Who is about to debit loses no
 * time by it, as the worker serves one after the other.
 */
extern void dp_await_given_up(void);

#endif							/* DP_KEPT_H */
