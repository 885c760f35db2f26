/*-------------------------------------------------------------------------
 *
 * key_values.h
 *	  What the files share that find out which values a key can have.
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
} DpKeyValues;

/* integers are listed only if they are at most so many */
#define DP_MAX_KEY_RANGE 10000

/* Starts an empty list of values of key. */
extern void dp_key_values_start(DpKeyValues *keys, DpReleaseKey *key);

/* adds a value in its canonical form, unless no row can have it */
extern void dp_key_values_add(DpKeyValues *keys, Datum value);

/* adds integers as values of the list's type; false when they are too many */
extern bool dp_key_values_add_range(DpKeyValues *keys, int64 low, int64 high);

/*
 * key_conditions.c: adds the values that the key has in rows that satisfy the
 * conditions; false if those do not say.
 */
extern bool dp_key_values_from_conditions(DpKeyValues *keys, Node *key, List *conditions);

/*
 * key_conditions.c: removes the values whose rows do not satisfy those of the
 * level's conditions that read nothing but the key.
 */
extern void dp_key_values_restrict(DpKeyValues *keys, Node *key, DpLevel *level);

#endif							/* DP_KEY_VALUES_H */
