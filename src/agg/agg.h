/*-------------------------------------------------------------------------
 *
 * agg.h
 *	  Exact aggregate states: values on an integer grid, summed in 128 bits.
 *
 * Everything here is exact and private to the inner query of a release; none
 * of it may reach an analyst without noise.  All states are associative and
 * commutative: the result depends on the multiset of rows alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_AGG_H
#define DP_AGG_H

#include "math/wide.h"
#include "utils/numeric.h"

/*
 * SQL type dp_cdp.exact_sum: fixed length 16, double alignment, by reference.
 * A dp_i128 in two halves, because palloc aligns to 8.
 */
typedef struct DpExactSum
{
	uint64		lo;
	int64		hi;
} DpExactSum;

/*
 * SQL type dp_cdp.grid: fixed length 32, double alignment, by reference.
 * A value x stands on the grid as round(x / 2^exponent), clamped to
 * lower .. upper (in grid units, |.| <= 2^62).
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
 * The grid for bounds lower < upper.  Floating and numeric input: exponent
 * such that the larger bound is about 2^32 grid units.  Integer input: 1
 * grid unit = 1 unless the larger bound exceeds 2^32.  Errors: ZC004 for NaN,
 * infinity, lower >= upper, bounds too small or too large to represent.
 */
extern void dp_grid_from_numeric(Numeric lower, Numeric upper, Oid input_type, DpGrid *grid);

/* n grid units as a Datum of result_type (int8, float4, float8 or numeric); never NaN, saturating for int8 */
extern Datum dp_grid_value(dp_i128 n, const DpGrid *grid, Oid result_type);

/* a double with the length of one grid unit: 2^exponent */
extern double dp_grid_unit(const DpGrid *grid);

/* the grid of a count (DP_VALUE_COUNT, DP_VALUE_UNITS) of at most "most" per unit and group */
extern void dp_grid_for_count(int64 most, DpGrid *grid);

/* a palloc'd copy, as a Datum of type dp_cdp.grid */
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

/* what one aggregate column of a unit's contribution is */
typedef enum DpValueKind
{
	DP_VALUE_COUNT,				/* argument boolean: the row counts when true;
								 * clamped to grid.upper = max_rows */
	DP_VALUE_UNITS,				/* argument boolean: 1 when any row is true */
	DP_VALUE_SUM				/* argument numeric type: total clamped to the
								 * grid's bounds; 0 when all are NULL */
} DpValueKind;

#define DP_MAX_VALUES 64
#define DP_MAX_KEYS 16

/*
 * SQL type dp_cdp.bound_spec: a varlena, so that it can be an execution-time
 * parameter of the inner plan (and travel to parallel workers).
 */
typedef struct DpBoundSpec
{
	int32		vl_len_;
	int32		nkeys;
	int32		nvalues;
	int32		max_groups;		/* >= 1; ignored when nkeys = 0 */
	uint64		seed[2];		/* fresh for every execution: keys the hash
								 * that picks groups */
	struct
	{
		int32		kind;		/* DpValueKind */
		int32		unused;
		DpGrid		grid;
	}			value[FLEXIBLE_ARRAY_MEMBER];
} DpBoundSpec;

/*
 * A palloc'd spec, also a Datum of type dp_cdp.bound_spec by PointerGetDatum.
 * grids[i] must be a count's grid for DP_VALUE_COUNT and DP_VALUE_UNITS.
 */
extern DpBoundSpec *dp_bound_spec_make(int nkeys, int nvalues, int max_groups,
									   const uint64 seed[2],
									   const DpValueKind *kinds, const DpGrid *grids);

/*
 * Can bound_unit tell values of this type apart by hash?  A type without a
 * default hash operator class (money, bit, tsvector ...) cannot be a group key
 * under a privacy unit; refuse it before the inner query does.
 */
extern bool dp_bound_key_supported(Oid type);

/*
 * SQL, all in schema dp_cdp, EXECUTE revoked from PUBLIC, PARALLEL SAFE:
 *
 *	 exact_sum(x, grid) -> exact_sum            aggregate; x: int2, int4, int8, float4, float8, numeric.
 *			each row clamped to the grid's bounds. Empty or all-NULL input: 0, not NULL.
 *	 bound_unit(bound_spec, VARIADIC "any") -> bound_state     aggregate, one per unit;
 *			arguments after the spec: the privacy unit, nkeys keys, nvalues values.
 *			Keeps the max_groups keys with the smallest keyed hash.  The unit
 *			(what is grouped by) is mixed into the hash, so that units choose
 *			independently; it may be left out (told by the number of
 *			arguments), but then all units prefer the same groups, and the
 *			others lose far more than at random.
 *	 bound_entries(bound_state, bound_spec) -> SETOF bound_entry   one per kept group
 *	 entry_key(bound_entry, int, anyelement) -> anyelement   key i (from 0); 3rd argument: typed NULL
 *	 entry_sum(bound_entry, int) -> exact_sum               aggregate: sum of the clamped value i
 */

#endif							/* DP_AGG_H */
