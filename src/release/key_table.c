/*-------------------------------------------------------------------------
 *
 * key_table.c
 *	  Declared keys: the product of a release's key sets.
 *
 * Positions run over the product, each set in its own, canonical order, the
 * last one fastest.  Values are looked up in a hash table of the type's own
 * equality, so 1.0 finds the declared 1.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/key_index.h"
#include "base/sizes.h"
#include "base/tuple_index.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

typedef struct KeyDomain
{
	int			key;			/* place among the release's keys */
	int64		size;			/* with the NULL key */
	bool		null_key;
	Datum	   *values;			/* without it */
	DpKeyIndex *index;
	/* of several keys, or found by a query: those above are not set, but size */
	const DpKeyTuples *tuples;
	int		   *keys;
	DpTupleIndex *tuple_index;
	Datum	   *sought;			/* room for one tuple */
	bool	   *sought_nulls;
} KeyDomain;

struct DpKeyTable
{
	int			ndomains;
	int64		size;
	KeyDomain  *domains;
};

static void
build_domain(KeyDomain *domain, const DpKeySet *set, const DpReleaseKey *key, bool is_sought)
{
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			n;

	get_typlenbyvalalign(key->type, &typlen, &typbyval, &typalign);
	deconstruct_array(DatumGetArrayTypeP(set->domain->constvalue), key->type,
					  typlen, typbyval, typalign, &domain->values, NULL, &n);
	domain->key = linitial_int(set->keys);
	domain->null_key = set->null_key;
	domain->size = n + (set->null_key ? 1 : 0);
	if (is_sought)
		domain->index = dp_key_index_create(key->type, key->collation, domain->values, n, CurrentMemoryContext);
}

/* keys: their places among those of the release, as ints */
static void
build_tuples(KeyDomain *domain, const List *keys, const DpRelease *release, const DpKeyTuples *tuples, bool is_sought)
{
	Oid		   *types = palloc(tuples->nkeys * sizeof(Oid));
	Oid		   *collations = palloc(tuples->nkeys * sizeof(Oid));

	domain->tuples = tuples;
	domain->size = tuples->n;
	domain->keys = palloc(tuples->nkeys * sizeof(int));
	domain->sought = palloc(tuples->nkeys * sizeof(Datum));
	domain->sought_nulls = palloc(tuples->nkeys * sizeof(bool));
	for (int i = 0; i < tuples->nkeys; i++)
	{
		const DpReleaseKey *key;

		domain->keys[i] = list_nth_int(keys, i);
		key = list_nth(release->keys, domain->keys[i]);
		types[i] = key->type;
		collations[i] = key->collation;
	}
	/* as many as dp_declared_groups allows */
	if (is_sought)
		domain->tuple_index = dp_tuple_index_create(tuples->nkeys, types, collations, tuples->values, tuples->nulls,
													(int) tuples->n);
}

/* Returns the place of the keys' values in a set, -1 if they are not in it. */
static int64
find_in_domain(KeyDomain *domain, Datum *values, bool *nulls)
{
	if (domain->tuples != NULL)
	{
		for (int i = 0; i < domain->tuples->nkeys; i++)
		{
			domain->sought[i] = values[domain->keys[i]];
			domain->sought_nulls[i] = nulls[domain->keys[i]];
		}
		return dp_tuple_index_find(domain->tuple_index, domain->sought, domain->sought_nulls);
	}
	if (nulls[domain->key])
		return domain->null_key ? domain->size - 1 : -1;
	return dp_key_index_find(domain->index, values[domain->key]);
}

/* Sets the keys' values to those at a place of a set. */
static void
get_of_domain(const KeyDomain *domain, int64 place, Datum *values, bool *nulls)
{
	if (domain->tuples != NULL)
	{
		for (int i = 0; i < domain->tuples->nkeys; i++)
		{
			values[domain->keys[i]] = domain->tuples->values[place * domain->tuples->nkeys + i];
			nulls[domain->keys[i]] = domain->tuples->nulls[place * domain->tuples->nkeys + i];
		}
		return;
	}
	nulls[domain->key] = domain->null_key && place == domain->size - 1;
	values[domain->key] = nulls[domain->key] ? (Datum) 0 : domain->values[place];
}

static int64
set_size(const DpKeySet *set)
{
	ArrayType  *domain = DatumGetArrayTypeP(set->domain->constvalue);

	return ArrayGetNItems(ARR_NDIM(domain), ARR_DIMS(domain)) + (set->null_key ? 1 : 0);
}

int64
dp_declared_groups(const DpRelease *release, DpKeyTuples **tuples)
{
	int64		groups = 1;

	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		int64		size;

		if (set->domain == NULL && tuples == NULL)
			return -1;
		size = set->domain ? set_size(set) : tuples[foreach_current_index(set)]->n;
		if (size > DP_MAX_DECLARED_GROUPS / Max(groups, 1))
			dp_raise(NOT_RELEASABLE, errmsg("the declared keys of the grouping columns span more than %lld groups; "
											"group by fewer columns", (long long) DP_MAX_DECLARED_GROUPS));
		groups *= size;
	}
	return groups;
}

Size
dp_longest_keys(const DpRelease *release, DpKeyTuples **tuples)
{
	Size		sum = 0;

	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		DpReleaseKey *key = list_nth(release->keys, linitial_int(set->keys));
		Size		longest = 0;
		int16		typlen;
		bool		typbyval;
		char		typalign;
		Datum	   *values;
		int			n;

		if (set->domain == NULL)
		{
			sum += tuples[foreach_current_index(set)]->longest;
			continue;
		}
		get_typlenbyvalalign(key->type, &typlen, &typbyval, &typalign);
		if (typbyval)
			continue;
		if (typlen > 0)
		{
			sum += MAXALIGN(typlen);
			continue;
		}
		deconstruct_array(DatumGetArrayTypeP(set->domain->constvalue), key->type, typlen, typbyval, typalign, &values, NULL, &n);
		for (int i = 0; i < n; i++)
			longest = Max(longest, MAXALIGN(dp_value_bytes(values[i]) + VARHDRSZ));
		pfree(values);
		sum += longest;
	}
	return sum;
}

/* The groups have passed dp_declared_groups. */
DpKeyTable *
dp_key_table_create(const DpRelease *release, DpKeyTuples **tuples, bool is_sought)
{
	DpKeyTable *table = palloc0(sizeof(DpKeyTable));
	int			i = 0;

	table->ndomains = list_length(release->key_sets);
	table->domains = palloc0(sizeof(KeyDomain) * Max(table->ndomains, 1));
	table->size = 1;
	foreach_ptr(DpKeySet, set, release->key_sets)
	{
		if (set->domain != NULL)
			build_domain(&table->domains[i], set, list_nth(release->keys, linitial_int(set->keys)), is_sought);
		else
			build_tuples(&table->domains[i], set->keys, release, tuples[i], is_sought);
		table->size *= table->domains[i].size;
		i++;
	}
	return table;
}

DpKeyTable *
dp_key_table_of(const DpRelease *release, const DpKeyTuples *tuples, bool is_sought)
{
	DpKeyTable *table = palloc0(sizeof(DpKeyTable));
	List	   *keys = NIL;

	for (int i = 0; i < tuples->nkeys; i++)
		keys = lappend_int(keys, i);
	table->ndomains = 1;
	table->domains = palloc0(sizeof(KeyDomain));
	build_tuples(&table->domains[0], keys, release, tuples, is_sought);
	table->size = tuples->n;
	return table;
}

int64
dp_key_table_size(DpKeyTable *table)
{
	return table->size;
}

int64
dp_key_table_find(DpKeyTable *table, Datum *values, bool *nulls)
{
	int64		position = 0;

	for (int i = 0; i < table->ndomains; i++)
	{
		KeyDomain  *domain = &table->domains[i];
		int64		p = find_in_domain(domain, values, nulls);

		if (p < 0)
			return -1;
		position = position * domain->size + p;
	}
	return position;
}

void
dp_key_table_get(DpKeyTable *table, int64 position, Datum *values, bool *nulls)
{
	/* dividing takes longer than all the rest */
	if (table->ndomains == 1)
	{
		get_of_domain(&table->domains[0], position, values, nulls);
		return;
	}
	for (int i = table->ndomains - 1; i >= 0; i--)
	{
		KeyDomain  *domain = &table->domains[i];

		get_of_domain(domain, position % domain->size, values, nulls);
		position /= domain->size;
	}
}
