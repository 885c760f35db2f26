/*-------------------------------------------------------------------------
 *
 * release_int.h
 *	  What the files of release/ share among themselves.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_RELEASE_INT_H
#define DP_RELEASE_INT_H

#include "commands/explain.h"
#include "executor/execdesc.h"
#include "lib/ilist.h"
#include "math/calibrate.h"
#include "nodes/execnodes.h"
#include "policy/policy.h"
#include "release/release.h"
#include "release/rows.h"
#include "utils/queryenvironment.h"
#include "utils/tuplestore.h"

/* a part with its noise, fixed before the debit */
typedef struct DpPricedPart
{
	DpPart		desc;
	DpGrid		grid;			/* the range of a unit's sum; counts: lower 0,
								 * upper 1 or max_rows, exponent 0 */
	DpRowLimits row;			/* sums, totals: of a row, in steps of it */
	int			shift;			/* with a norm: steps are 2^-shift of those */
	int			width;			/* states in a group: 1, or how many bins */
	int			offset;			/* position among all states of a group */
	dp_u128		sens2;			/* squared L2 sensitivity, in steps */
	double		step;			/* length of a step; rows for counts, and at
								 * their bound for SCALED */
	dp_variance variance;
	dp_gauss	gauss;
	double		sigma;			/* sums: in the values' unit; counts: rows;
								 * SCALED: rows at their bound */
} DpPricedPart;

/* Tells whether a part is how many there are of each code, or place of a total. */
static inline bool
dp_is_histogram(const DpPricedPart *part)
{
	return part->desc.kind == DP_VALUE_CODES || part->desc.kind == DP_VALUE_CUT;
}

/* between which numbers something is held, as it was written, for EXPLAIN and reports */
typedef struct DpLimits
{
	bool		known;
	double		lower;
	double		upper;
} DpLimits;

/* a column with its bounds, price and noise, fixed before the debit */
typedef struct DpPricedColumn
{
	DpReleaseColumn *desc;
	int			nparts;
	DpPricedPart *parts;
	DpRange		range[2];		/* bounds of the arguments */
	DpLimits	rows;			/* of the first argument, unless it is a date */
	DpLimits	totals;			/* sums, totals: of a unit */
	bool		later;			/* bounds are known when it runs */
	bool		found_first;	/* that is, after they have been found */
	bool		is_lacking;		/* none have been: its answers are NULL */
	bool		tells_tail;		/* an estimator's: beside bounds, what is
								 * beyond them */
	double		left_out;		/* by how much found bounds may have an
								 * average off: the root of the mean square */
	bool		by_rows;		/* they follow from how many rows of a unit
								 * count */
	bool		totals_by_rows; /* they are max_rows times those of rows */
	int			nquantiles;
	double	   *quantiles;

	/*
	 * norms.c: what the norm of a unit may be held to, in steps; none: it is
	 * not
	 */
	int			nlimits;
	int64		limits[DP_MAX_NORM_LIMITS];
	int			limit;			/* the one that it is held to; -1: not known */
	bool		finds_limit;	/* the release's limiter finds it */
	double		cut;			/* which share of all norms is above it, by
								 * estimate */
	double		cut_doubt;		/* the root of the mean square of that share */
	double		norm_unit;		/* the steps of a row, for sums at the larger
								 * bound */

	/*
	 * min_units.c: what a unit weighs whose norm is in a bin, in steps, and
	 * where the states of a group begin that count units by these bins; none:
	 * they are not counted
	 */
	int			nweights;
	int64	   *weights;
	int			first_count;
	int64		rho;
	int64		charged;		/* kept answers: what of it who asks owes */
	bool		is_given;		/* no increment of it is bought: it is kept,
								 * or made of what is */
	bool		is_derived;		/* made of a dearer one */
	bool		is_wider;		/* a wider release's, unless all columns are */
	bool		is_duplicate;	/* the same as another of the statement, which
								 * pays */
	TimestampTz reused_since;	/* when the answer that is given, or made
								 * better, was bought; 0: it is not kept yet */
	double		sigma;			/* noise of the first part: sums in the
								 * result's unit, else in rows */
	struct DpAnswerWork *work;	/* answer.c */
	bool		is_agreed;		/* agree.c: sigma is that of what it becomes */
	dp_i128    *drawn;			/* and, until then, the noisy numbers of all
								 * groups */
	int64		ndrawn;
	int64		expected;		/* how many groups there are */
	int			decimals;		/* in which they agree; 0: in steps of the
								 * grid */
} DpPricedColumn;

/* what a release's price is paid for before it: each is a release of its own */
typedef enum DpBefore
{
	DP_FINDS_BOUNDS,			/* found_bounds.c */
	DP_FINDS_LIMITS,			/* found_limits.c: on norms */
	DP_BEFORES
} DpBefore;

/* price, bounds and noise of one release, fixed before its debit */
typedef struct DpPricedRelease
{
	DpRelease  *release;
	DpDataset  *dataset;
	int			nkeys;
	int			ncolumns;
	DpPricedColumn *columns;
	int			nparts;			/* in all columns together */
	int			width;			/* states in a group */
	struct DpKeyTuples **tuples;	/* by key set; NULL: not known yet, or
									 * none */
	struct DpKeyTuples **ranges;	/* in their order; NULL: not known yet, or
									 * none */
	struct DpPricedRelease *before[DP_BEFORES]; /* NULL: nothing is to be
												 * found */
	const DpInterval *found;	/* by columns of what finds bounds; NULL: not
								 * known yet */
	const int  *limits;			/* by those of what finds limits: which; NULL:
								 * not known yet */
	const struct DpPricedRelease *limits_of;	/* of what finds limits */
	bool		limits_alone;	/* its limits are bought, and nothing else is
								 * drawn (suggest.c) */
	Datum	   *shown;			/* of the rest: lists of the groups that have
								 * been shown, by key; NULL: none has */
	double		groups_guess;	/* how many groups there are */
	int64		declared;		/* the same, where it is public; 0: it is not */
	int			key_groups;		/* in which a unit has a weight for selecting
								 * keys */
	int64		memory;			/* that groups of declared keys take, in bytes */
	int			max_groups;		/* in so many of its groups a unit counts; 1
								 * unless it may be in several */
	int			max_rows;
	int			unit_rows;		/* that count of a unit where it is more than
								 * a row */
	int64		column_rho;		/* price of a column without a target */
	int64		rho;			/* for all columns together */
	int64		delta;			/* 0 unless keys are selected */
	int64		charged_delta;	/* kept answers: what of it who asks owes */
	bool		is_wider;		/* kept answers of it are given to who asks
								 * for some of its groups */
	bool		reads_too_much; /* fingerprint.c: of tables without a policy,
								 * so that its answers are not kept */
	int64		threshold;		/* threshold of the key selection */
	bool		has_days;		/* of a dataset with blocks: it is charged to
								 * those of these days */
	DpDays		days;
	char	   *aggregates;		/* for the audit */
	char	   *groups;
	char	   *sigmas;
	uint64		report;			/* report.c: the statement whose report this
								 * is in */
	struct DpAgreement *agreement;	/* agree.c; NULL: it is by itself */
	const char *apart;			/* why it is, where it was to agree; NULL */
} DpPricedRelease;

/*
 * One execution of one release.  It belongs to the root EState of its
 * statement: EvalPlanQual re-runs subplans in EStates of their own, and those
 * must find the answers that were already bought.
 */
typedef struct DpInner DpInner;

/* What a statement was charged, as amounts. */
typedef struct DpCharge
{
	int64		rho;
	int64		delta;
} DpCharge;

/* charged.c: a clause for an error message, on what a statement was charged */
extern char *dp_charge_clause(const DpCharge *charged);

/* charged.c: a clause on a failure, which is the most-th of a day at most; both 0: that is not known */
extern char *dp_failure_clause(int failures, int most);

/*
 * charged.c: called where an error is being handled, raises it again, with
 * such a clause unless it has one.
 */
extern void dp_charge_rethrow(MemoryContext context, const DpCharge *charged) __attribute__((noreturn));

typedef struct DpRun
{
	EState	   *root;
	DpRelease  *release;
	DpPricedRelease *priced;	/* NULL: not paid yet */
	bool		done;
	bool		is_told;		/* that groups are missing */
	Oid			payer;			/* current_user of the debit */
	DpCharge	charged;		/* for the whole statement until it is read,
								 * its pilots too */
	bool		is_hidden;		/* its answers are not shown */
	struct DpPilot *pilot;		/* set: a pilot runs, which is hidden */
	struct DpRun *estimator;	/* hidden: finds bounds first; NULL: none */
	struct DpKept *kept;		/* its answers are kept; NULL: they are not */
	const DpPricedRelease *asked;	/* kept answers of a wider release are
									 * given, which priced is: what was asked
									 * for; NULL: none */
	QueryEnvironment *prefetched;	/* for the inner plan, while it runs */
	MemoryContext prefetch_context;
	struct DpKeyTuples **tuples;	/* key_sets.c; NULL: none */
	const char *timezone;		/* the asker's when it was priced */
	DpInner    *inner;			/* started and not run yet, or kept for
								 * EXPLAIN */
	DpPricedRelease *foreseen;	/* EXPLAIN: as it is asked for, ... */
	DpPricedRelease *foreseen_given;	/* ... and as it would be answered */
	List	   *foreseen_before;	/* what its prefetches would release
									 * before */
	DpRows	   *rows;
	TupleDesc	desc;
} DpRun;

/* nodes.c */
extern void dp_release_register_nodes(void);

/* payer.c: ZC001 for a query of whoever may act as a dataset's owner and has no budget, who may plan it, as he may read */
extern void dp_check_owner_asks(const char *dataset);

/* payer.c: the dataset whose cap pays for what is planned now; NULL: none */
extern const char *dp_paying_cap;

/*
 * buy.c: prices runs of a statement that have not been paid for, debits them
 * together, and runs those whose answers are kept, or that find bounds for
 * others.  In the context of the statement.
 */
extern void dp_buy(List *runs, EState *root);

/*
 * buy.c: buys what finds the limits of runs, and finds them; for rho[i] each, which the cap of their dataset pays
 * alone.  No other answer is drawn, and none is kept.  False, and nothing is debited, where nothing is to be found.
 */
extern bool dp_buy_limits(List *runs, EState *root, const int64 *rho);

/*
 * live_runs.c: dp_enter_run returns the execution of a release in a statement, which is new for its first node;
 * dp_runs_of those of all of its releases (DpRun), in the order in which they are bought.  Under EXPLAIN, too,
 * where none is.
 */
extern DpRun *dp_enter_run(EState *root, DpRelease *release);
extern List *dp_runs_of(EState *estate);

/* live_runs.c: tells whether some statement of this backend is a private query that has begun and not ended */
extern dlist_head dp_live_runs;

static inline bool
dp_release_is_live(void)
{
	return !dlist_is_empty(&dp_live_runs);
}


/* live_runs.c: tells whether a statement has releases, and sets what it was charged for them so far */
extern bool dp_charge_of(EState *root, DpCharge *charged);

/* exec.c: the node's state */
typedef struct DpReleaseState
{
	CustomScanState css;
	DpRelease  *release;
	DpRun	   *run;			/* NULL under EXPLAIN without ANALYZE */
	DpRowsReader reader;		/* of run->rows */
} DpReleaseState;

static inline DpRelease *
dp_release_of_state(CustomScanState *node)
{
	return ((DpReleaseState *) node)->release;
}

static inline DpRun *
dp_run_of_state(CustomScanState *node)
{
	return ((DpReleaseState *) node)->run;
}

extern const CustomScanMethods dp_release_scan_methods;
extern void dp_release_exec_init(void);

/*
 * arguments.c: dp_settle_arguments evaluates the arguments of an aggregate with
 * the statement's parameters; ZC004 for bad ones.  The parts of the column are
 * there already.
 */
extern void dp_settle_arguments(DpPricedColumn *column, const DpPricedRelease *priced, EState *estate);

/*
 * arguments.c: returns a copy of a column whose arguments are constants, of
 * values that they have now, so that settling it again evaluates nothing.
 */
extern DpReleaseColumn *dp_fix_arguments(const DpReleaseColumn *column, EState *estate);

/* arguments.c: tells whether bounds of a column are to be found first. */
extern bool dp_finds_bounds(const DpReleaseColumn *column);

/* arguments.c: tells whether bounds of a column follow from those that column i of the estimator finds. */
extern bool dp_relies_on(const DpReleaseColumn *column, int i);

/* arguments.c: evaluates an expression without columns */
extern Datum dp_evaluate(Expr *expr, EState *estate, bool *isnull);

/*
 * price.c: evaluates bounds with the statement's parameters and settles
 * price and noise.  prices: an amount of rho for each column; NULL: by the
 * settings.  ZC004 for bad arguments and settings, ZC002 for too many states.
 * tuples: of key sets; NULL: not known.
 * Spends nothing.  dp_priced_debit makes the item that the ledger debits.
 */
extern DpPricedRelease *dp_price_release(DpRelease *release, EState *estate, const int64 *prices,
										 struct DpKeyTuples **tuples);

extern struct DpDebitItem *dp_priced_debit(DpPricedRelease *priced);

/* price.c: returns how many groups the state of a unit holds: one more than count, where it is asked who has more */
extern int	dp_held_groups(const DpPricedRelease *priced);

/*
 * price.c: prices a release of which the limit alone is bought, for rho; its columns have the dataset's default_rho,
 * at which the limit is to serve.  NULL where no limit is to be found.
 */
extern DpPricedRelease *dp_price_limits(DpRelease *release, EState *estate, int64 rho, struct DpKeyTuples **tuples);

/*
 * price.c: settles anew what follows from priced->found; no price, and nothing
 * of the asker's is evaluated.
 */
extern void dp_settle_found(DpPricedRelease *priced, EState *estate);

/*
 * price.c: settles a release by what a pilot of it, which is paid for, has found: bounds, limits (NULL: none), which are not
 * found again.
 */
extern void dp_settle_by_pilot(DpPricedRelease *priced, const DpPricedRelease *pilot, EState *estate);

/*
 * price.c: dp_part_share returns what of a column's price a part of it gets.
 * dp_price_again sets price and noise of one column of a priced release anew.
 * dp_set_sigma sets what is known better of the noise of a part, in steps.
 * dp_price_increment makes a column with the noise of a price of its own, which
 * shares all else with the other; ZC004 where that is not representable.
 */
extern int64 dp_part_share(const DpPricedColumn *column, int part, int64 rho);
extern void dp_price_again(DpPricedRelease *priced, int i, int64 rho);
extern void dp_set_sigma(DpPricedColumn *column, int part, double steps);
extern void dp_price_increment(DpPricedColumn *increment, const DpPricedColumn *column, int64 rho);

/* price.c: returns what a release costs together with the finding of bounds. */
extern int64 dp_total_rho(const DpPricedRelease *priced);

/*
 * min_units.c: dp_min_units returns how many units a group of a release has at least that is shown, or has answers, 1 where there is no such limit.
 * dp_check_min_units refuses, ZC004, a release that was planned when there was none.
 * dp_has_few_units tells whether a declared group has fewer, by what was drawn for the release's count of units.
 * dp_norm_of_groups returns the norm of a unit that counts in so many groups, in steps.
 * dp_settle_weights settles by which weights a column of a release counts units, when its norm is settled, and takes states for
 * that; dp_count_weight adds units of a bin to them, value being steps of units that count 1 each.
 * dp_raise_threshold settles the threshold for what is drawn; false where it is not representable.  dp_least_units returns about how many
 * units have a group shown.  dp_has_min_units tells whether a group has as many as it needs, and makes
 * the state that selects it what it is selected by.
 */
extern int	dp_min_units(const DpPricedRelease *priced);
extern void dp_check_min_units(const DpPricedRelease *priced);
extern bool dp_has_few_units(const DpPricedRelease *priced, const dp_i128 *drawn);
extern int64 dp_norm_of_groups(const DpPricedColumn *column, int groups);
extern void dp_settle_weights(DpPricedColumn *column, DpPricedRelease *priced);
extern void dp_count_weight(const DpPricedColumn *column, int64 bin, dp_i128 value, dp_i128 *state);
extern bool dp_raise_threshold(DpPricedRelease *priced);
extern double dp_least_units(const DpPricedRelease *priced);
extern bool dp_has_min_units(const DpPricedRelease *priced, dp_i128 *state);

/*
 * norms.c: dp_settle_norm settles the limits among which a column's norm is
 * held, and its steps, when its arguments are settled.  dp_norm_sensitivity
 * returns the squared sensitivity of a part under the limit that is chosen.
 * dp_limit_price returns what of an aggregate's price finding the limit costs;
 * dp_price_by_limit about what is left of a price of which rho finds the limit, and depends on nothing else;
 * dp_is_weighted tells whether an answer is one of weights, of which heavy units may have less;
 * dp_norm_bins how many bins a histogram of norms has at most, dp_first_norm where those of a column begin, as a power of
 * two of norm_unit, and how many they are; dp_norm_bin in which of them a bin of the norm's limits is.  dp_column_with_norm returns a column that a norm limits, dp_finds_limits tells
 * whether a column's norm has a limit that is to be found, for who asks.
 * dp_has_probes tells whether the limiter has numbers of distinct values beside a column's histogram.
 * They stand from the bin on that dp_first_probe returns.  dp_probe_limit returns under which of the column's limits each is.
 */
#define DP_PROBES 3
#define DP_PROBE_SHIFT 20

static inline bool
dp_waits_for_limit(const DpPricedColumn *column)
{
	return column->finds_limit && column->limit < 0;
}

extern void dp_settle_norm(DpPricedColumn *column, const DpPricedRelease *priced);
extern dp_u128 dp_norm_sensitivity(const DpPricedColumn *column, const DpPricedPart *part, DpNeighbors neighbors, bool grouped);
extern int64 dp_limit_price(const DpPricedColumn *column, const DpPricedRelease *priced);
extern int64 dp_price_by_limit(const DpPricedColumn *column, const DpPricedRelease *priced, int64 rho);
extern bool dp_is_weighted(const DpReleaseColumn *column);
extern int	dp_norm_bins(void);
extern int	dp_norm_bin(const DpPricedColumn *column, int64 bin);
extern int	dp_first_norm(const DpPricedColumn *column, int *bins);
extern bool dp_finds_limits(const DpReleaseColumn *column, const DpDataset *dataset, const DpRelease *release);
extern bool dp_has_probes(const DpPricedColumn *column);
extern int	dp_first_probe(void);
extern int	dp_probe_limit(const DpPricedColumn *column, int probe);
extern DpPricedColumn *dp_column_with_norm(const DpPricedRelease *priced, int norm);

/*
 * price.c: dp_cuts_groups tells whether a unit counts in fewer groups of a column than there are, as far as that is public;
 * dp_limits_rows whether no more than max_rows of its rows count.  dp_knows_cut tells whether a limit that is found is all that cuts
 * what a unit adds.  dp_bounds_by_rows tells whether bounds of a column's values follow from max_rows, as of a subquery that counts
 * a unit's rows; dp_has_usual_bounds whether nobody has set that.
 */
extern bool dp_cuts_groups(const DpPricedRelease *priced, const DpPricedColumn *column);
extern bool dp_knows_cut(const DpPricedRelease *priced, const DpPricedColumn *column);
extern bool dp_limits_rows(const DpPricedRelease *priced, const DpPricedColumn *column);
extern bool dp_bounds_by_rows(const DpPricedColumn *column);
extern bool dp_has_usual_bounds(const DpPricedRelease *priced, const DpPricedColumn *column);

/* the most groups of a unit that count where its norm is limited, and nobody has set max_groups */
#define DP_MOST_UNIT_GROUPS 10000

/*
 * Which rule chooses limits by noisy counts.  It has to change with what the limiter counts, with the limits among which is
 * chosen and with anything in math/norm_limit.c: answers that are kept are of the limit that the rule makes of kept counts.
 */
#define DP_LIMIT_RULE 2

/*
 * found_limits.c: draws the histogram of norms for a run whose rows have been read, from exact counts by norm and bin,
 * and returns which limits follow, by norm.
 */
extern const int *dp_find_limits(DpRun *run, const dp_i128 *counts);

/* price.c: settles anew what follows from priced->limits; no price */
extern void dp_settle_limits(DpPricedRelease *priced);

/*
 * states.c: dp_add_state adds the state that a row has of a part to those of its group, dp_add_counts that of a histogram, so many
 * times.  dp_gathered_counts returns the n counts of an array that servers of a cluster sent.
 */
extern void dp_add_state(const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 *state);
extern void dp_add_counts(const DpPricedPart *part, TupleTableSlot *slot, int att, dp_i128 factor, dp_i128 *state);
extern const int64 *dp_gathered_counts(Datum value, int n);

/*
 * cells.c: rows of keys, a cell and its total, of which states are made.  dp_cell_has_keys tells whether a row's
 * keys are these, which dp_copy_cell_keys has copied; dp_add_cell adds a row's total to a state.  dp_cell_units returns how many units
 * have the row's group first, where its cell is of them.
 */
typedef struct DpCells DpCells;

extern DpCells *dp_cells_create(const DpPricedRelease *priced);
extern bool dp_cell_has_keys(const DpCells *cells, TupleTableSlot *slot, const Datum *values, const bool *nulls);
extern void dp_copy_cell_keys(const DpCells *cells, TupleTableSlot *slot, Datum *values, bool *nulls, MemoryContext context);
extern void dp_add_cell(const DpCells *cells, TupleTableSlot *slot, dp_i128 *state);
extern dp_i128 dp_cell_units(const DpCells *cells, TupleTableSlot *slot);

/*
 * norm_rows.c: rows of the inner plan of a release with norms.  dp_norm_row_add adds what a row has to the states of
 * its group; dp_norm_factor returns how many times sums of values, or of shares, count of units in a bin: one of the two is 0.
 * Where the limits are not known, rows wait: dp_norm_rows_put takes one, dp_norm_rows_counts
 * returns the limiter's states when all have been put: how many units are in which bin of which norm, and its probes.
 * dp_norm_rows_next gives the rows again.
 */
typedef struct DpNormRows DpNormRows;

extern dp_i128 dp_norm_factor(const DpPricedColumn *column, const DpPricedPart *part, int64 bin, bool is_share);
extern void dp_norm_row_add(const DpPricedRelease *priced, TupleTableSlot *slot, dp_i128 *state);
extern DpNormRows *dp_norm_rows_create(const DpPricedRelease *priced, const DpCells *cells, TupleDesc desc);
extern void dp_norm_rows_put(DpNormRows *rows, TupleTableSlot *slot);
extern const dp_i128 *dp_norm_rows_counts(DpNormRows *rows);
extern TupleTableSlot *dp_norm_rows_next(DpNormRows *rows);
extern void dp_norm_rows_end(DpNormRows *rows);

/*
 * fingerprint.c: returns the identity of each column's question, when a release is priced
 * and run has its prefetches; NULL where what they depend on is not known.
 * Columns whose bounds are to be found first have one of the finding before
 * priced->found is set, and of what was found after.  Sets priced->reads_too_much.
 */
extern struct DpFingerprint *dp_fingerprints(const DpRun *run, DpPricedRelease *priced, EState *estate);

/*
 * fingerprint.c: does so where nothing is executed but what EXPLAIN may run; part:
 * priced, or its estimator
 */
extern struct DpFingerprint *dp_fingerprints_early(const DpPricedRelease *priced, DpPricedRelease *part, EState *estate);

/* fingerprint.c: returns an identity in hexadecimal digits */
extern char *dp_fingerprint_text(const struct DpFingerprint *fingerprint);

/*
 * prefetch.c: dp_run_prefetches computes the rows that the inner plan joins with, or just those that keys may follow
 * from; dp_end_prefetches frees them
 */
extern void dp_run_prefetches(DpRun *run, bool keys_only);
extern void dp_end_prefetches(DpRun *run);

/* prefetch.c: tells whether what runs now is read by another release, and seen by nobody */
extern bool dp_is_prefetching(void);

/*
 * objects.c: dp_hold_objects locks what the inner plan depends on.  ZC002 if
 * any of it is gone or changed; charged says that the debit has been made.
 */
extern void dp_hold_objects(DpRelease *release, Oid dataset_owner, bool charged);

/* objects.c: locks, in a parallel worker before it reads a row, tables of long values of relations that were opened */
extern void dp_hold_long_values(EState *estate);

/* ZC002 if what makes rows of one key one row is younger than a snapshot. */
extern void dp_check_unique_keys(DpRelease *release, Snapshot snapshot);
extern void dp_objects_init(void);

/*
 * inner.c: dp_start_inner starts the executor of the inner plan for a priced
 * release, before it is debited; nothing is read.  ZC002 and ZC004 for what
 * cannot be started.
 */
extern void dp_start_inner(DpRun *run, DpPricedRelease *priced, EState *estate);

/* inner.c: dp_run_inner runs what was started, after the debit, and fills run->rows with released rows */
extern void dp_run_inner(DpRun *run, EState *estate);

struct DpLedgerWatch;

/* inner.c: dp_ledger_watch_prepare for a run that is paid for */
extern void dp_prepare_watch(const DpRun *run, struct DpLedgerWatch *watch);

/*
 * inner.c: gives up what failed reading holds and the end of the transaction would release, before its error waits:
 * locks, and parallel workers, which would go on reading, and whose own errors would come up instead of ours.
 */
extern void dp_stop_reading(void);

/*
 * kept_run.c: dp_look_for_kept settles for priced releases which of their
 * answers are given again (run->kept), under locks of their questions where any is
 * bought; dp_keep_drawn keeps what they have drawn, and gives the locks up.
 */
extern void dp_look_for_kept(List *runs, List *releases, EState *root);
extern void dp_keep_drawn(List *runs);

/* kept_run.c: keeps the bounds that estimators of runs have found, before anybody is told. */
extern void dp_keep_found(List *runs);

/*
 * kept_wider.c: settles for the priced releases of a statement that is not executed (NULL: one that is not known yet), in the
 * order in which they would be bought, what would be given again, as far as that is known before; returns those whose
 * prices and noise are shown.  before: what is bought before (DpKept), to which theirs are added.
 */
extern List *dp_foresee_kept(List *releases, EState *estate, List **before);

/*
 * rest.c: dp_run_of_groups returns the execution of the groups of which a run has the rest, NULL where it is no rest; a release
 * of a statement has that of the groups (dp_priced_groups).  dp_take_shown sets priced->shown; the groups have been released.
 */
extern DpRun *dp_run_of_groups(const DpRun *run);
extern DpPricedRelease *dp_priced_groups(const DpPricedRelease *priced, List *releases);
extern void dp_take_shown(DpRun *run);

/* inner.c: dp_end_inner ends what was started and not run, because nobody asked for its rows */
extern void dp_end_inner(DpRun *run);

/* returns the inner plan, which has run, where EXPLAIN ANALYZE may show it; otherwise NULL */
extern QueryDesc *dp_explained_plan(DpRun *run);

/* inner.c: dp_inner_is_running tells whether an inner plan is running, so that what is executed now serves it */
extern bool dp_inner_is_running(void);

/*
 * answer.c: dp_draw adds noise to the exact states of a column in one group,
 * the numbers from state on, and returns dp_answer_draws noisy integers, until
 * it is called again.  Exact states must not be used twice.  What dp_answer_of_draws
 * makes of noisy integers is post-processing.  dp_part_of_draw returns the part
 * whose noise a draw has.
 */
typedef struct DpAnswerError
{
	bool		isnull;			/* there is no answer */
	double		value;			/* the answer as a number; NaN if it is not
								 * one; the greatest bin of a histogram */
	double		stddev;			/* standard deviation of its noise */
} DpAnswerError;

extern void dp_prepare_answer(DpPricedColumn *column);
extern int	dp_answer_draws(const DpPricedColumn *column);
extern dp_i128 *dp_draw(const DpPricedColumn *column, const dp_i128 *state);
extern const DpPricedPart *dp_part_of_draw(const DpPricedColumn *column, int draw);
extern Datum dp_answer_of_draws(DpPricedColumn *column, const dp_i128 *drawn, DpAnswerError *error);

/* answer.c: returns a companion of an answer */
extern double dp_companion_value(const DpPricedColumn *column, DpCompanion kind, const DpAnswerError *error);

/*
 * agree.c: dp_agree settles which counts and sums of a statement's releases are
 * made to agree, and their sigma; dp_foresee_agreement settles which releases do, and no more, for
 * EXPLAIN, which shows the noise that is drawn, and returns their agreements.  dp_agree_run says what runs a release.
 * dp_agree_begin returns the DpRuns that agree with a run, which are all to be
 * run then; dp_agree_drawn takes what was drawn for a group, in the order of
 * keys; dp_agree_end replaces the released rows, and returns the DpPricedReleases whose noise is known only then, for
 * dp_report_limits.  Both do nothing a second time, or for a run that is by itself.  dp_agrees_with_kept tells whether answers of any
 * of them are kept.
 */
extern void dp_agree(List *releases);
extern List *dp_foresee_agreement(List *releases);
extern void dp_agree_run(DpPricedRelease *priced, DpRun *run);
extern void dp_agree_drawn(DpPricedColumn *column, dp_i128 noisy);
extern bool dp_agrees_with_kept(const DpRun *run);
extern List *dp_agree_begin(DpRun *run);
extern List *dp_agree_end(DpRun *run);

/*
 * late.c: dp_check_distribution refuses, ZC002, a release that was planned when its rows were elsewhere;
 * dp_plan_late plans its late_query with parameters as constants, and what is run before the debit, whose errors
 * dp_refuse_touched replaces.
 */
extern void dp_check_distribution(DpRelease *release);
extern PlannedStmt *dp_plan_late(DpRelease *release, ParamListInfo params, List **touches);
extern void dp_refuse_touched(ErrorData *error) __attribute__((noreturn));

/*
 * receiver.c: what turns the rows of an inner plan into released rows.  dp_receiver_create makes it for rows of desc,
 * dp_receiver_begin lets it write run->rows (has_plan: rows of a plan will come), dp_receiver_end, after the last row,
 * releases what only then is known to be whole.
 */
typedef struct DpReceiver DpReceiver;

extern DpReceiver *dp_receiver_create(DpRun *run, const DpPricedRelease *priced, TupleDesc desc);
extern DestReceiver *dp_receiver_dest(DpReceiver *receiver);
extern void dp_receiver_begin(DpReceiver *receiver, DpRun *run, bool has_plan);
extern void dp_receiver_end(DpReceiver *receiver);

/*
 * worker_settings.c: sends the sandbox's settings, and what dp_worker_probe has made, to the servers that will read
 * rows; ZC002 where the asker has sent settings, or a server is not there or cannot do what it is asked for.
 * worker_probe.c: makes a statement that fails where a query cannot be computed.
 */
extern void dp_send_settings(const char *probe);
extern char *dp_worker_probe(Query *query);

/* blocks.c: settles which blocks a release is charged to; and sets the parameters that hold its rows to these */
extern void dp_settle_blocks(DpPricedRelease *priced, EState *estate);
extern void dp_block_params(const DpPricedRelease *priced, ParamListInfo params);

/* inner_params.c: dp_release_params sets the parameters of the inner plan that are the release's own */
extern void dp_release_params_init(void);
extern void dp_release_params(DpPricedRelease *priced, ParamListInfo params);
extern void dp_set_own_param(ParamExternData *param, Datum value, Oid type);

/* below, within and above the limits of a unit's total */
#define DP_CUT_BINS 3

/* the most quantiles of one aggregate */
#define DP_MAX_QUANTILES 1000

/* the keys of a set, as a query has found them */
typedef struct DpKeyTuples
{
	int			nkeys;
	int64		n;
	Datum	   *values;			/* n times nkeys */
	bool	   *nulls;
	int64		memory;			/* what they take, in bytes */
	Size		longest;		/* bytes by reference of the longest tuple */
} DpKeyTuples;

/*
 * key_sets.c: dp_find_key_tuples runs the queries of a release's key sets, env
 * being what was prefetched, and returns their tuples by set (NULL for one with
 * a domain); NULL if no set has a query.  dp_find_key_tuples_early does so where
 * nothing is executed, NULL if that would take more than reading.
 * dp_has_key_tuples tells whether there is such a set, dp_has_public_queries
 * whether there is one or a range; tuples of ranges are behind those of key sets.  dp_tuples_later stands
 * for tuples that are yet to be found, for a price that says what would fail
 * for any of them.
 */
extern DpKeyTuples **dp_find_key_tuples(const DpRelease *release, EState *estate, QueryEnvironment *env,
										const char *timezone);
extern DpKeyTuples *dp_tuples_later[];
extern DpKeyTuples **dp_find_key_tuples_early(DpRelease *release, EState *estate);
extern bool dp_has_key_tuples(const DpRelease *release);
extern bool dp_has_public_queries(const DpRelease *release);

/*
 * public_input.c: runs the plan of a public input, whose rows go to dest, and
 * returns their columns; timed: in at most dp_cdp.max_public_time; counted: at
 * most dp_cdp.max_public_rows of them.
 */
extern TupleDesc dp_run_public_input(PlannedStmt *plan, EState *estate, QueryEnvironment *env, DestReceiver *dest,
									 bool timed, bool counted);

/* sandbox.c: sets, in a nested level of settings, those by which values are written and times are split as where rows are read */
extern void dp_pin_meanings(const char *timezone);

/* debug_messages.c: sends nothing below LOG to the client of this session from now on */
extern void dp_debug_messages_init(void);
extern void dp_withhold_debug_messages(void);

/* key_table.c: declared keys as a table of groups, by position in canonical order */
typedef struct DpKeyTable DpKeyTable;

/*
 * dp_declared_groups returns how many groups declared keys span, -1 where that
 * is not known; ZC002 for more than DP_MAX_DECLARED_GROUPS
 */
extern int64 dp_declared_groups(const DpRelease *release, DpKeyTuples **tuples);

/* dp_longest_keys returns the bytes that the longest declared keys by reference take together, as bounding counts them */
extern Size dp_longest_keys(const DpRelease *release, DpKeyTuples **tuples);

/*
 * dp_key_table_create makes the table of all groups of a release whose keys are all
 * declared; dp_key_table_of makes one of tuples of all keys.  is_sought: groups
 * are to be found by their keys.
 */
extern DpKeyTable *dp_key_table_create(const DpRelease *release, DpKeyTuples **tuples, bool is_sought);
extern DpKeyTable *dp_key_table_of(const DpRelease *release, const DpKeyTuples *tuples, bool is_sought);
extern int64 dp_key_table_size(DpKeyTable *table);

/* dp_key_table_find returns the position of a group, -1 when a key is not declared */
extern int64 dp_key_table_find(DpKeyTable *table, Datum *values, bool *nulls);

/* dp_key_table_get sets the keys at a position */
extern void dp_key_table_get(DpKeyTable *table, int64 position, Datum *values, bool *nulls);

/*
 * memory.c: dp_settle_memory settles what the release will hold for so many
 * groups of declared keys; ZC002 where that is more than is allowed.
 * dp_memory_text returns a number of bytes as text.
 */
extern void dp_settle_memory(DpPricedRelease *priced, int64 declared);
extern char *dp_memory_text(int64 bytes);

/* the largest number of groups that declared keys may span */
#define DP_MAX_DECLARED_GROUPS INT64CONST(10000000)

/* pilot.c */
typedef struct DpPilot DpPilot;

/* dp_error_varies tells whether an answer's error depends on the answer, or on other answers of the column */
extern bool dp_error_varies(const DpReleaseColumn *column);

/* dp_target_needs_pilot tells whether dp_cdp.target_error asks for a pilot of this release */
extern bool dp_target_needs_pilot(const DpRelease *release);

/*
 * dp_target_price returns the amount of rho at which a column with squared
 * sensitivity sens2, in steps of length step, meets an absolute target; 0
 * without one, or where it takes a pilot.  ZC004 beyond the greatest price.
 */
extern int64 dp_target_price(const DpPricedRelease *priced, const DpReleaseColumn *column, dp_u128 sens2,
							 double step, int64 usual);

/*
 * A pilot of a release: dp_pilot_prices and dp_pilot_floors return an amount of
 * rho for each column, what the pilot costs and the least that may follow;
 * dp_pilot_add takes an answer of it, dp_pilot_settle returns the final prices.
 * dp_pilot_set_price says what a column's answer costs where it is a kept one.
 * dp_pilot_label returns the audit's text for a pilot of these aggregates.
 */
extern DpPilot *dp_pilot_create(const DpRelease *release, const DpPricedRelease *usual);
extern char *dp_pilot_label(const char *aggregates);
extern const int64 *dp_pilot_prices(const DpPilot *pilot);
extern void dp_pilot_set_price(DpPilot *pilot, int i, int64 rho);
extern const int64 *dp_pilot_floors(const DpPilot *pilot);
extern void dp_pilot_add(DpPilot *pilot, int i, double value, double stddev);
extern const int64 *dp_pilot_settle(DpPilot *pilot, const DpPricedRelease *usual);

/*
 * report.c: dp_report_release and dp_report_group write down what
 * dp_cdp.last_release() shows; first says that the release is the first of its
 * statement.  dp_report_failure forgets the groups of a release that failed; NULL: all that was reported, for a statement's.
 */
extern void dp_report_release(DpPricedRelease *priced, bool first);
extern void dp_report_group(const DpPricedRelease *priced, int column, const Datum *keys, const bool *nulls,
							double stddev);

extern void dp_report_failure(const DpPricedRelease *priced);

/* report.c: tells what follows from limits that have been found since, or from answers that agree then */
extern void dp_report_limits(const DpPricedRelease *priced);

/*
 * report.c: dp_column_sensitivity returns the L2 sensitivity of a column's
 * first part over all groups, in the unit of its sigma.
 */
extern double dp_column_sensitivity(const DpPricedColumn *column);

/* report.c: plans a query that a function of dp_cdp was given, as the caller; ZC004, in its name, unless it is one SELECT */
extern PlannedStmt *dp_plan_text(char *text, const char *function);

/*
 * step.c: dp_wait_for_step waits for the next multiple of step (microseconds)
 * after start; true if it was cancelled meanwhile.
 */
extern bool dp_wait_for_step(int64 step, int64 start);

/*
 * report.c: dp_price_prefetches returns the DpPricedReleases that the
 * prefetches of a release would make; nothing is executed.
 */
extern List *dp_price_prefetches(const DpRelease *release, EState *estate, List **before);

/* what is known of a column's noise before it is released */
typedef enum DpNoiseKind
{
	DP_NOISE_LATER,				/* nothing, as bounds are known when it runs */
	DP_NOISE_KNOWN,				/* its standard deviation; of a histogram, in
								 * each bin */
	DP_NOISE_BY_NUMBER,			/* about what its standard deviation is, times
								 * the number of rows or totals */
	DP_NOISE_RANK,				/* about by how many rows a quantile's rank is
								 * off, as a standard deviation */
	DP_NOISE_BEYOND,			/* about how many rows lie beyond an extreme */
	DP_NOISE_COUNTS,			/* the standard deviation of counts of which
								 * it is the largest */
	DP_NOISE_BINS				/* how many rows or units a bin must have to
								 * be seen */
} DpNoiseKind;

typedef struct DpNoise
{
	DpNoiseKind kind;
	double		figure;			/* LATER: 0 */
	const char *of;				/* what is counted: rows, totals or units */
} DpNoise;

/*
 * noise_before.c: dp_noise_before returns it; dp_noise_text as words of a line of EXPLAIN that the price follows,
 * dp_noise_formula as those of half of a 95 % interval, of what waits for a limit in terms of C, the norm that is found; NULL where a number
 * says it or nothing is known;
 * dp_noise_label names the figure where each stands by itself, NULL without one.
 */
extern DpNoise dp_noise_before(const DpPricedRelease *priced, const DpPricedColumn *column);
extern char *dp_noise_text(const DpNoise *noise);
extern char *dp_noise_formula(const DpPricedRelease *priced, const DpPricedColumn *column);
extern const char *dp_noise_label(const DpNoise *noise);

/* explain.c: dp_limits_told returns what a unit may add to a column, in words; can it be priced where nothing is executed */
extern char *dp_limits_told(const DpPricedRelease *priced, const DpPricedColumn *column);
extern bool dp_parameters_known(const DpRelease *release, EState *estate);
extern void dp_release_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/*
 * explain_figures.c: dp_explain_number shows a number that has so many digits, dp_explain_amount one of rho or delta.
 * In the text format they are as they are in messages, in the others numbers.
 */
extern void dp_explain_number(const char *label, double value, int digits, ExplainState *es);
extern void dp_explain_amount(const char *label, int64 amount, int64 one, ExplainState *es);
extern char *dp_format_amount(int64 amount, int64 one);

/*
 * explain_figures.c: shows the budgets that a debit of rho would touch, all of which the asking roles may see.
 */
extern void dp_explain_budgets(const DpDataset *dataset, const DpDays *days, int64 rho, ExplainState *es);

/* explain_figures.c: tells, as a notice, why a query that was only previewed would be refused whatever it costs */
extern void dp_notice_no_budget(const DpDataset *dataset);

#endif							/* DP_RELEASE_INT_H */
