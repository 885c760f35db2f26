/*-------------------------------------------------------------------------
 *
 * agg.h
 *	  Exact aggregate states: values on an integer grid, summed in 128 bits.
 *
 * Everything here is exact and private to the inner query of a release; none
 * of it may reach an analyst without noise.  All states are associative and
 * commutative: the result depends on the multiset of rows alone.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_AGG_H
#define DP_AGG_H

#include "math/wide.h"
#include "utils/numeric.h"

/*
 * SQL type dp_cdp_internal.exact_sum: fixed length 16, double alignment, by reference.
 * A dp_i128 in two halves, because palloc aligns to 8.
 */
typedef struct DpExactSum
{
	uint64		lo;
	int64		hi;
} DpExactSum;

/*
 * SQL type dp_cdp_internal.grid: fixed length 32, double alignment, by reference.
 * A value x stands on the grid as round(x / 2^exponent) steps, clamped to
 * lower .. upper (in steps, |.| <= 2^62).
 */
typedef struct DpGrid
{
	int64		lower;
	int64		upper;
	double		scale;			/* 2^-exponent, exactly, for float8 input */
	int32		exponent;
	int32		unused;
} DpGrid;

/*
 * Makes the grid for bounds lower < upper.  Floating and numeric input:
 * exponent such that the larger bound is about 2^32 steps.  Integer input: a
 * step is 1 unless the larger bound exceeds 2^32.  Errors: ZC004 for NaN,
 * infinity, lower >= upper, bounds too small or too large to represent.
 */
extern void dp_grid_from_numeric(Numeric lower, Numeric upper, Oid input_type, DpGrid *grid);

/* A row of a unit counts for at most so many steps: it has room in 64 bits, and the sum of any number of rows in 128. */
#define DP_UNIT_ROW_LIMIT ((int64) 1 << 62)

/* What a row of a unit counts for at least and at most, in steps of a grid. */
typedef struct DpRowLimits
{
	int64		lower;
	int64		upper;
} DpRowLimits;

/*
 * Sets the limits of a row with bounds lower < upper, which rounds as the grid of
 * the totals does; ZC004 where they leave nothing but 0.
 */
extern void dp_grid_row_limits(Numeric lower, Numeric upper, Oid input_type, const DpGrid *grid, DpRowLimits *limits);

/* Returns n steps as a Datum of result_type (int8, float4, float8 or numeric); never NaN, saturating for int8. */
extern Datum dp_grid_value(dp_i128 n, const DpGrid *grid, Oid result_type);

/* Returns the length of one step: 2^exponent. */
extern double dp_grid_step(const DpGrid *grid);

/* Makes the grid of a count (DP_VALUE_COUNT, DP_VALUE_UNITS) of at most "most" per unit and group. */
extern void dp_grid_for_count(int64 most, DpGrid *grid);

/* Returns a palloc'd copy, as a Datum of type dp_cdp_internal.grid. */
extern Datum dp_grid_datum(const DpGrid *grid);

static inline dp_i128
dp_exact_sum_get(const DpExactSum *s)
{
	return (dp_i128) (((dp_u128) (uint64) s->hi << 64) | s->lo);
}

static inline void
dp_exact_sum_set(DpExactSum *s, dp_i128 v)
{
	s->lo = (uint64) (dp_u128) v;
	s->hi = (int64) (v >> 64);
}

/* grid.c: the sum that an integer of type numeric is, as sum(bigint) has it; at most 2^94 in magnitude */
extern dp_i128 dp_sum_of_numeric(Datum sum);

/* the kind of a value that a unit contributes to a group */
typedef enum DpValueKind
{
	DP_VALUE_COUNT,				/* argument boolean: the row counts when true;
								 * clamped to grid.upper = max_rows */
	DP_VALUE_UNITS,				/* argument boolean: 1 when any row is true */
	DP_VALUE_SUM,				/* argument numeric type: sum of rows, each
								 * within the row limits, clamped to the
								 * grid's bounds; 0 when all are NULL */
	DP_VALUE_ROWS,				/* like DP_VALUE_COUNT; SCALED values name one */
	DP_VALUE_SCALED,			/* argument int4 within +-DP_CENTERED_ONE: the
								 * sum, times m / n when the unit has more
								 * than m rows: n is the count that "rows"
								 * names, m its grid.upper; then clamped to
								 * the grid's bounds */
	DP_VALUE_CODES,				/* argument int4 >= 0: at most grid.upper of
								 * them, a multiset */
	DP_VALUE_DISTINCT,			/* argument int8, any: at most grid.upper
								 * different ones, a set */
	DP_VALUE_CUT				/* like DP_VALUE_SUM; not the sum, but whether
								 * it is below, within or above the bounds */
} DpValueKind;

/*
 * The most values of a group, and its keys among them: bound_unit takes each as
 * an argument, beside its state, a spec and the unit, and PostgreSQL's functions
 * take no more than FUNC_MAX_ARGS.
 */
#define DP_MAX_VALUES 96
#define DP_MAX_KEYS 16

StaticAssertDecl(DP_MAX_VALUES + 3 <= FUNC_MAX_ARGS, "bound_unit has too many arguments");

/* Returns how many bytes the keys by reference of a row may take together, where a unit may be in so many groups. */
extern Size dp_most_key_bytes(int max_groups);

/* in the place of "rows": not the total is cut, but the unit's groups, of which it may have more than the value counts in */
#define DP_CUT_GROUPS 1

/* the most codes that a unit may have in a group: limit of grid.upper for CODES and DISTINCT */
#define DP_MAX_CODES 256

/* the most bins of a histogram */
#define DP_MAX_BINS (1 << 20)

/*
 * SQL type dp_cdp_internal.bound_spec: a varlena, so that it can be an execution-time
 * parameter of the inner plan (and travel to parallel workers).
 */
typedef struct DpBoundSpec
{
	int32		vl_len_;
	int32		nkeys;
	int32		nvalues;
	int32		max_groups;		/* >= 1; ignored when nkeys = 0 */
	int32		nnorms;
	int32		unused;
	uint64		seed[2];		/* fresh for every execution: keys the hash
								 * that picks groups */
	struct
	{
		int32		kind;		/* DpValueKind */
		int32		rows;		/* DP_VALUE_SCALED: index of the DP_VALUE_ROWS
								 * that counts its rows; DP_VALUE_CUT: 0 or
								 * DP_CUT_GROUPS; otherwise 0 */
		int32		norm;		/* index of the norm that limits it; -1: none
								 * does */
		int32		shift;		/* with a norm: steps are 2^-shift of the
								 * grid's */
		int32		groups;		/* in so many of the unit's groups it counts;
								 * <= max_groups */
		int32		unused;
		DpGrid		grid;
		DpRowLimits row;		/* DP_VALUE_SUM, DP_VALUE_CUT; else as wide as
								 * can be */
	}			value[FLEXIBLE_ARRAY_MEMBER];

	/* followed by nnorms of DpNormSpec: dp_spec_norms */
} DpBoundSpec;

/*
 * A unit's norm is the Euclidean norm of one value, "value", over all of its
 * groups.  It limits that value, and those that are no larger in any group
 * (bounding/norms.c).  limit: the norms that a unit may be held to, ascending
 * multiples of DP_NORM_UNIT up to DP_MOST_NORM.
 */
#define DP_NORM_BITS 20
#define DP_NORM_UNIT (INT64CONST(1) << DP_NORM_BITS)
#define DP_MOST_NORM (INT64CONST(1) << 48)
#define DP_MAX_NORM_LIMITS 104

typedef struct DpNormSpec
{
	int32		value;
	int32		nlimits;
	int64		limit[DP_MAX_NORM_LIMITS];
} DpNormSpec;

/* what value i has for its norms */
typedef struct DpValueNorm
{
	int32		norm;
	int32		shift;
} DpValueNorm;

static inline DpNormSpec *
dp_spec_norms(const DpBoundSpec *spec)
{
	return (DpNormSpec *) &spec->value[spec->nvalues];
}

/*
 * Makes a palloc'd spec, also a Datum of type dp_cdp_internal.bound_spec by
 * PointerGetDatum.  grids[i] must be a count's grid (dp_grid_for_count) for
 * all kinds but DP_VALUE_SUM, DP_VALUE_CUT and DP_VALUE_SCALED, and dp_grid_for_scaled for
 * the latter.  rows[i] is read for DP_VALUE_SCALED and DP_VALUE_CUT alone; NULL when there is
 * none.  limits[i] is read for DP_VALUE_SUM and DP_VALUE_CUT; NULL: no row is limited.
 * groups[i]; NULL: each counts in all groups.  norm_of[i] and norms; NULL: no norm limits any.
 */
extern DpBoundSpec *dp_bound_spec_make(int nkeys, int nvalues, int max_groups,
									   const uint64 seed[2],
									   const DpValueKind *kinds, const DpGrid *grids,
									   const int *rows, const DpRowLimits *limits, const int *groups,
									   const DpValueNorm *norm_of, int nnorms, const DpNormSpec *norms);

extern void dp_check_bound_spec(const DpBoundSpec *spec);

/*
 * Tells whether bound_unit can tell values of this type apart by hash.  A type
 * without a default hash operator class (money, bit, tsvector ...) cannot be a
 * group key under a privacy unit; refuse it before the inner query does.
 */
extern bool dp_bound_key_supported(Oid type);

/*
 * Tells whether the type has a hash of 64 bits, for code().  Otherwise refuse
 * to count its distinct values before the inner query does.
 */
extern bool dp_code_supported(Oid type);

/*
 * Offers the planner a node of its own for grouping with bound_unit by the unit
 * (bounding/plan.c, bounding/node.c).  When the library is preloaded.
 */
extern void dp_bounding_init(void);

/* ------------------------------------------------------------------------
 * Values relative to bounds, and codes
 * ------------------------------------------------------------------------
 */

typedef enum DpRangeKind
{
	DP_RANGE_LINEAR,			/* bins of equal width; centered() */
	DP_RANGE_LOGARITHMIC,		/* dp_log_bin(); lower, upper, bins unused */
	DP_RANGE_OUTSIDE			/* three bins: below, within, above the bounds */
} DpRangeKind;

/*
 * SQL type dp_cdp_internal.range: fixed length 32, double alignment, by reference.
 * lower < upper, both finite; bins from 1 to DP_MAX_BINS.
 */
typedef struct DpRange
{
	double		lower;
	double		upper;
	int32		bins;
	int32		kind;			/* DpRangeKind */
	double		scale;			/* DP_CENTERED_ONE by half of the width; 0
								 * where that, or the middle, is no normal
								 * double */
} DpRange;

/* Makes a range; ZC004 unless -infinity < lower < upper < infinity (linear, outside), elog for other bad arguments. */
extern void dp_range_make(double lower, double upper, int bins, DpRangeKind kind, DpRange *range);

/* Returns a palloc'd copy, as a Datum of type dp_cdp_internal.range. */
extern Datum dp_range_datum(const DpRange *range);

/* the number that centered() has for 1 */
#define DP_CENTERED_BITS 24
#define DP_CENTERED_ONE (1 << DP_CENTERED_BITS)

/*
 * Makes the grid for a unit's sum of centered values over at most "most" rows:
 * +-most * DP_CENTERED_ONE; most from 1 to DP_MAX_SCALED_ROWS, more than the
 * settings allow.
 */
#define DP_MAX_SCALED_ROWS ((int64) 1 << 38)
extern void dp_grid_for_scaled(int64 most, DpGrid *grid);

/*
 * SQL type dp_cdp_internal.exact_vector: a varlena, double alignment, storage plain.
 * A NULL of this type stands for zeros.  It begins as a table of those bins
 * that have a count, and becomes an array of all where that takes less.
 */
typedef struct DpExactVector
{
	int32		vl_len_;
	int32		bins;
	int32		room;			/* places in the table, a power of two; 0: an
								 * array */
	int32		used;			/* of these */
	int64		count[FLEXIBLE_ARRAY_MEMBER];	/* by bin, or by place: then
												 * the places' bins (int32)
												 * follow, -1 for free ones */
} DpExactVector;

/*
 * SQL type dp_cdp_internal.limited_sum: a varlena, double alignment, storage plain.  What units add to a group, by the bin of their
 * norm (bounding/norms.c): those bins that have units, ascending.  A NULL of this type stands for none.
 */
typedef struct DpLimitedBin
{
	DpExactSum	value;
	int64		share;
	int64		first;			/* how many of the units have this group first */
} DpLimitedBin;

typedef struct DpLimitedSum
{
	int32		vl_len_;
	int16		nbins;
	int16		room;			/* for so many */
	int8		bin[FLEXIBLE_ARRAY_MEMBER]; /* their numbers; then their sums
											 * follow, aligned */
} DpLimitedSum;

StaticAssertDecl(DP_MAX_NORM_LIMITS <= PG_INT8_MAX, "a bin of a norm has a number that does not fit");

static inline DpLimitedBin *
dp_limited_bins(const DpLimitedSum *sum)
{
	return (DpLimitedBin *) &sum->bin[MAXALIGN(sum->room)];
}

/* exact/limited.c: returns the sum of values of bins up to limit, and of factor times the shares of those above */
extern dp_i128 dp_limited_sum_get(const DpLimitedSum *sum, int limit, dp_i128 factor);

/* exact/vector.c: returns an array of zeros, palloc'd; adds factor times what the bins have to state[bins] */
extern DpExactVector *dp_vector_make(int bins);
extern void dp_vector_add_to(const DpExactVector *vector, dp_i128 factor, dp_i128 *state);

/* exact/inspect.c: vector_counts(exact_vector) -> bigint[] */
extern Datum dp_vector_counts(PG_FUNCTION_ARGS);

/*
 * SQL, all in schema dp_cdp_internal, EXECUTE revoked from PUBLIC, PARALLEL SAFE:
 *
 *	 exact_sum(x, grid) -> exact_sum            aggregate; x: int2, int4, int8, float4, float8, numeric.
 *			each row clamped to the grid's bounds.  Empty or all-NULL input: 0, not NULL.
 *	 bound_unit(bound_spec, VARIADIC "any") -> bound_state     aggregate, one per unit;
 *			arguments after the spec: the privacy unit, nkeys keys, nvalues values.
 *			Keeps the max_groups keys with the smallest keyed hash.  The unit
 *			(what is grouped by) is mixed into the hash, so that units choose
 *			independently; it may be left out (told by the number of
 *			arguments), but then all units prefer the same groups, and the
 *			others lose far more than at random.
 *	 bound_key(i int, bound_state, anyelement) -> SETOF anyelement    functions of a unit's
 *	 bound_value(i int, bound_state, bound_spec) -> SETOF bigint      state, with one result
 *	 bound_codes(i int, bound_state, bound_spec) -> SETOF integer[]   for each kept group, in
 *	 bound_distinct_codes(i int, bound_state, bound_spec) -> SETOF bigint[]    the same order: key i (from
 *	 bound_cut(i int, bound_state, bound_spec) -> SETOF integer[]
 *			0; the 3rd argument is a NULL of its type), the clamped value i in steps, codes i, and
 *			where the total i is: {0} below its bounds, {1} within, {2} above, {} without a value.
 *	 bound_share(i int, bound_state, bound_spec) -> SETOF bigint
 *	 bound_bin(i int, bound_state, bound_spec) -> SETOF bigint
 *	 bound_first(i int, bound_state) -> SETOF bigint
 *			which share of the norm that limits it value i is, by DP_NORM_UNIT; the bin of norm i; 1 in a
 *			unit's first group, 0 in the others, for counts of units by bins of norm i (bounding/norms.c).  Where a norm limits a set, each group has
 *			two results (bounding/entry.c).
 *			In one target list over the same bound_unit they are the columns of its rows.
 *	 steps_sum(bigint) -> exact_sum               aggregate: sum of clamped values.  No input: 0.
 *	 limited_sum(bin, value, share, first) -> limited_sum     aggregate, of bigint: values and shares by bins.  No input: NULL.
 *	 codes_histogram(integer[], bins int) -> exact_vector   aggregate: how many
 *			of the codes are 0 .. bins - 1; codes beyond count for the last
 *			bin, negative ones for the first.  No input: NULL.
 *	 codes_shares(integer[], bins int, share bigint) -> exact_vector   aggregate: the same, each code counting its share
 *	 codes_distinct(bigint[]) -> bigint           aggregate: how many different codes.  No input: NULL.
 *	 codes_distinct_shares(bigint[], share bigint, bound_spec, i int) -> exact_vector   aggregate: the same of the set i, by
 *			limits of its norm, each code counting the sum of its shares, at most 1 in all
 *	 moment_n(x, range) -> exact_sum        aggregates: how many rows have a value (not NaN); the
 *	 moment_t(x, range), moment_t2(...)     sums of t = centered(x, range) and of chebyshev(t)
 *	 moment_n(t int, u int) ... moment_tu   sums over rows that have both centered values,
 *			with moment_u, moment_u2 and the sum of product(t, u)
 *	 exact_histogram(code int, bins int) -> exact_vector     aggregate, like codes_histogram but of rows; NULL counts for
 *			nothing, no input or nothing but NULL: NULL
 *
 *	 entry_cells(VARIADIC "any") -> SETOF bigint    functions of what a row adds to totals (bigint) and histograms
 *	 entry_totals(VARIADIC "any") -> SETOF bigint   (integer, integer[]: codes; bigint[]: what each code counts, and
 *			codes), with a result for each, NULL being
 *			none: its cell, DP_CELL, and the number that it adds; nothing at all: DP_NO_CELL, 0.
 *
 * IMMUTABLE, STRICT; no value raises an error, NaN gives NULL, infinities
 * count as values beyond the bounds:
 *
 *	 centered(x, range) -> int           x: int2, int4, int8, float4, float8, numeric:
 *			(x - mid) / half, within +-DP_CENTERED_ONE
 *	 chebyshev(int) -> int               2 t^2 - 1 for t = centered(...)
 *	 product(int, int) -> int            t u
 *	 bin(x, range) -> int                x: those types, and date (days since 2000-01-01),
 *			timestamp, timestamptz (microseconds since then): 0 .. bins - 1
 *	 code(anyelement) -> bigint          a hash of the value; equal values (default equality
 *			of the type and the call's collation) have equal codes
 */

/* the cell of argument i, and of a code; what a row that adds nothing has */
#define DP_CELL(i, code) ((int64) (((uint64) (i) << 32) | (uint32) (code)))
#define DP_CELL_ARGUMENT(cell) ((int) ((cell) >> 32))
#define DP_CELL_CODE(cell) ((int32) (uint32) (cell))
#define DP_NO_CELL INT64CONST(-1)

#endif							/* DP_AGG_H */
