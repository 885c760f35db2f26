/*-------------------------------------------------------------------------
 *
 * key_values.h
 *	  What the files share that find out which values a key can have.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_KEY_VALUES_H
#define DP_KEY_VALUES_H

#include "guard/level.h"

/* values of a key while they are being collected */
typedef struct DpKeyValues
{
	Oid			type;
	int32		typmod;
	Oid			collation;
	FmgrInfo   *canonical;		/* NULL: equal values are the same bytes */
	Datum	   *values;
	int			n;
	int			size;
	bool		null_key;
	bool		typbyval;
	int16		typlen;
	DpLevel    *level;
	int64		memory;			/* what they take, in bytes */
	int64		room;			/* what they may take */
	int64		beyond;			/* a column has more than so many, for which
								 * there is no room; -1: none */
} DpKeyValues;

/* the most integers that a range is listed as */
#define DP_MAX_KEY_RANGE 10000

/* Starts an empty list of values of key. */
extern void dp_key_values_start(DpKeyValues *keys, DpReleaseKey *key, DpLevel *level);

/* Refuses, ZC002, the list and n more values, which take more memory than is allowed. */
extern void dp_key_values_refuse(const DpKeyValues *keys, int64 n) __attribute__((noreturn));

/* Adds a value in its canonical form, unless no row can have it; ZC002 where there is no room for it. */
extern void dp_key_values_add(DpKeyValues *keys, Datum value);

/* Adds values, in their order. */
extern void dp_key_values_add_list(DpKeyValues *keys, const Datum *values, int n);

/* Adds the integers from low to high as values of the list's type; returns false when they are too many. */
extern bool dp_key_values_add_range(DpKeyValues *keys, int64 low, int64 high);

/*
 * key_conditions.c: adds the values that the key has in rows that satisfy the
 * conditions; returns false if the conditions do not tell.
 */
extern bool dp_key_values_from_conditions(DpKeyValues *keys, Node *key, List *conditions);

/* key_conditions.c: finds between which integers, or days, conditions hold a value; false: that is not known now.  first may be NULL */
extern bool dp_find_range(List *conditions, Node *value, int64 *first, int64 *last);

/*
 * key_conditions.c: removes the values that do not satisfy the conditions of
 * the level that read nothing but the key.
 */
extern void dp_key_values_restrict(DpKeyValues *keys, Node *key, DpLevel *level);

/* forms.c: tells whether an expression reads a parameter */
extern bool dp_reads_param(Node *node);

/*
 * forms.c: tells whether the value of a condition may depend on the form of a
 * key of this type, which stands in it as a Param, or on settings, which are
 * others when rows are read; has_forms: equal keys may be different bytes
 */
extern bool dp_sees_form(Node *test, Oid type, bool has_forms);

/* Returns an argument of a call that is known, and not NULL; else NULL. */
extern Const *dp_constant_argument(FuncExpr *call, int n);

/* width_buckets.c: adds the results of width_bucket; returns false where they are not known, or too many */
extern bool dp_add_width_buckets(DpLevel *level, FuncExpr *call, DpKeyValues *keys);

/* width_buckets.c: adds to the level's conditions what they tell of a key that is a width_bucket */
extern void dp_imply_bucket_conditions(DpLevel *level, Node *key);

/*
 * forms.c: returns the arguments, numbers, of a call whose results are equal
 * numbers where its arguments are; NIL: it may be another
 */
extern List *dp_numbers_of_call(Node *node);

#endif							/* DP_KEY_VALUES_H */
