/*-------------------------------------------------------------------------
 *
 * release_int.h
 *	  What the files of release/ share among themselves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_RELEASE_INT_H
#define DP_RELEASE_INT_H

#include "commands/explain.h"
#include "executor/execdesc.h"
#include "math/calibrate.h"
#include "nodes/execnodes.h"
#include "policy/policy.h"
#include "release/release.h"
#include "utils/queryenvironment.h"
#include "utils/tuplestore.h"

/* one part with everything that is fixed before the debit */
typedef struct DpPricedPart
{
	DpPart		part;
	DpGrid		grid;			/* of a unit's total; counts: lower 0, upper 1 or max_rows, exponent 0 */
	int			width;			/* states of one group: 1, or how many bins */
	int			offset;			/* of these among all states of a group */
	dp_u128		sens2;			/* squared L2 sensitivity, in grid units */
	dp_variance variance;
	dp_gauss	gauss;
	double		sigma;			/* in the part's unit: of the sum, a row, a row at its bound */
} DpPricedPart;

/* one column with everything that is fixed before the debit */
typedef struct DpPricedColumn
{
	DpReleaseColumn *column;
	int			nparts;
	DpPricedPart *parts;
	DpRange		range[2];		/* bounds of the arguments */
	int			nquantiles;
	double	   *quantiles;
	int64		rho;
	double		sigma;			/* of a total, in the result's unit; else of a count of rows */
	struct DpAnswerWork *work;	/* answer.c */
} DpPricedColumn;

/* price, bounds and noise of one release, fixed before its debit */
typedef struct DpPricedRelease
{
	DpRelease  *release;
	DpDataset  *dataset;
	int			nkeys;
	int			ncolumns;
	DpPricedColumn *columns;
	int			nparts;			/* of all columns together */
	int			width;			/* states of one group */
	int			max_groups;		/* 1 unless a unit may be in several groups */
	int			max_rows;
	int64		column_rho;		/* what a column costs without a target */
	int64		rho;			/* of all columns together */
	int64		delta;			/* 0 unless keys are selected */
	int64		threshold;		/* of the key selection */
	char	   *aggregates;		/* for the audit */
	char	   *groups;
	char	   *sigmas;
	uint64		report;			/* report.c: the statement whose report this is in */
} DpPricedRelease;

/*
 * One execution of one release.  It belongs to the root EState of its
 * statement: EvalPlanQual re-runs subplans in EStates of their own, and those
 * must find the answers that were already bought.
 */
typedef struct DpInner DpInner;

typedef struct DpRun
{
	EState	   *root;
	DpRelease  *release;
	DpPricedRelease   *frozen;
	bool		done;
	Oid			payer;			/* current_user of the debit; it may be another when rows are read */
	int64		rho_charged;	/* for the whole statement until it is read, its first looks too */
	int64		delta_charged;
	struct DpPilot *look;		/* what runs is a first look, whose answers are not shown */
	QueryEnvironment *given_rows;	/* for the inner plan; NULL: none, or not needed any more */
	MemoryContext given_context;
	DpInner    *inner;		/* started and not run yet */
	Tuplestorestate *rows;
	TupleDesc	desc;
} DpRun;

/* nodes.c */
extern void dp_release_register_nodes(void);

/* exec.c */
extern Node *dp_release_create_state(CustomScan *cscan);
extern DpRelease *dp_release_of_state(CustomScanState *node);
extern const CustomScanMethods dp_release_scan_methods;

/*
 * price.c: evaluates bounds with the statement's parameters and settles
 * price and noise.  prices: of each column, in units; NULL: by the settings.
 * Errors: ZC004.  Spends nothing.
 */
extern DpPricedRelease *dp_price_release(DpRelease *release, EState *estate, const int64 *prices);

/* the item to debit for it */
extern struct DpDebitItem *dp_priced_debit(DpPricedRelease *frozen);

/* prefetch.c: computes what the inner plan is given; frees it */
extern void dp_run_prefetches(DpRun *run);
extern void dp_end_prefetches(DpRun *run);

/*
 * objects.c: locks what the inner plan depends on.  ZC002 if any of it is gone
 * or changed; charged: after the debit.
 */
extern void dp_hold_objects(DpRelease *release, Oid dataset_owner, bool charged);
extern void dp_objects_init(void);

/*
 * inner.c: makes ready what reads rows at the price frozen, before it is
 * debited; nothing is read.  ZC002 and ZC004 for what cannot be started.
 */
extern void dp_start_inner(DpRun *run, DpPricedRelease *frozen, EState *estate);

/* inner.c: runs what was started, after the debit, and fills run->rows with released rows */
extern void dp_run_inner(DpRun *run, EState *estate);

/* inner.c: ends what was started and not run, because nobody asked for its rows */
extern void dp_end_inner(DpRun *run);

/* inner.c: is one running, so that what is executed now serves it */
extern bool dp_inner_is_running(void);

/*
 * answer.c: noise is added, and what is left is post-processing.  state: of
 * one group.  The exact states that these read must not be used again.
 */
typedef struct DpAnswerError
{
	bool		isnull;			/* there is no answer */
	double		value;			/* the answer as a number; NaN if it is not one; of a histogram the greatest */
	double		stddev;			/* of the noise in it */
} DpAnswerError;

extern void dp_prepare_answer(DpPricedColumn *column);
extern Datum dp_release_answer(DpPricedColumn *column, const dp_i128 *state, DpAnswerError *error);

/* the same for a count that has been drawn already */
extern dp_i128 dp_noisy_total(DpPricedColumn *column, const dp_i128 *state);
extern Datum dp_total_answer(DpPricedColumn *column, dp_i128 noisy, DpAnswerError *error);

/* the number of draws that one group takes */
extern int dp_answer_draws(const DpPricedColumn *column);

/* predicate.c: the plan to run, whose predicate locks in a serializable transaction do not depend on rows */
extern PlannedStmt *dp_lock_predicates(PlannedStmt *plan, Snapshot snapshot);

/* inner_params.c: sets the parameters of the inner plan that are the release's own */
extern void dp_release_params_init(void);
extern void dp_release_params(DpPricedRelease *frozen, ParamListInfo params);

/* the most quantiles of one aggregate, and the most bins of dp_histogram */
#define DP_MAX_QUANTILES 1000
#define DP_MAX_HISTOGRAM 10000

/* the most states of all groups of declared keys: 1 GB */
#define DP_MAX_STATES (INT64CONST(1) << 26)

/* key_table.c: declared keys as a table of slots */
typedef struct DpKeyTable DpKeyTable;

/* ZC002 when they span more groups than a release may have; all must be declared */
extern int64 dp_declared_groups(List *keys);

extern DpKeyTable *dp_key_table_create(List *keys);
extern int64 dp_key_table_size(DpKeyTable *table);

/* position of a group in canonical order, -1 when a key is not declared */
extern int64 dp_key_table_find(DpKeyTable *table, Datum *values, bool *nulls);

/* the keys at a position */
extern void dp_key_table_get(DpKeyTable *table, int64 position, Datum *values, bool *nulls);

/* the largest number of groups that declared keys may span */
#define DP_MAX_DECLARED_GROUPS INT64CONST(10000000)

/* pilot.c */
typedef struct DpPilot DpPilot;

/* the error of an answer depends on the answer, or on others in the column */
extern double dp_column_sensitivity(const DpPricedColumn *column);
extern bool dp_error_varies(const DpReleaseColumn *column);

extern bool dp_target_needs_pilot(const DpRelease *release);
extern int64 dp_target_price(const DpPricedRelease *frozen, const DpReleaseColumn *column, dp_u128 sens2,
							 double unit, int64 usual);
extern DpPilot *dp_pilot_create(const DpRelease *release, const DpPricedRelease *usual);

/* how the audit calls a look at these aggregates */
extern char *dp_pilot_label(const char *aggregates);
extern const int64 *dp_pilot_prices(const DpPilot *look);
extern const int64 *dp_pilot_floors(const DpPilot *look);
extern void dp_pilot_add(DpPilot *look, int i, double value, double stddev);
extern const int64 *dp_pilot_settle(DpPilot *look, const DpPricedRelease *usual);

/* report.c: what dp_cdp.last_release() tells; first: of its statement */
extern void dp_report_release(DpPricedRelease *frozen, bool first);
extern void dp_report_group(const DpPricedRelease *frozen, int column, const Datum *keys, const bool *nulls,
							double stddev);

/* report.c: it failed, so that what was told of groups is forgotten */
extern void dp_report_failure(const DpPricedRelease *frozen);

/* step.c: waits for the next multiple of step; true if it was cancelled meanwhile */
extern bool dp_wait_for_step(int64 step, TimestampTz start);

/* report.c: DpPricedRelease of the releases that what a release is given would make; nothing is executed */
extern List *dp_price_prefetches(const DpRelease *release, EState *estate);

/* explain.c: can it be frozen where nothing is executed */
extern bool dp_parameters_known(const DpRelease *release, EState *estate);
extern void dp_release_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* DP_RELEASE_INT_H */
