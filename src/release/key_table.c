/*-------------------------------------------------------------------------
 *
 * key_table.c
 *	  Declared keys: the product of a release's key sets.
 *
 * Positions run over the product, each set in its own, canonical order, the
 * last one fastest.  Values are looked up in a hash table of the type's own
 * equality, so 1.0 finds the declared 1.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/errors.h"
#include "base/key_index.h"
#include "base/sizes.h"
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
} KeyDomain;

struct DpKeyTable
{
	int			ndomains;
	int64		size;
	KeyDomain  *domains;
};

static void
build_domain(KeyDomain *domain, const DpKeySet *set, const DpReleaseKey *key)
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
	domain->index = dp_key_index_create(key->type, key->collation, domain->values, n, CurrentMemoryContext);
}

int64
dp_declared_groups(const DpRelease *release)
{
	int64		groups = 1;
	ListCell   *lc;

	foreach(lc, release->key_sets)
	{
		DpKeySet   *set = lfirst(lc);
		ArrayType  *domain = DatumGetArrayTypeP(set->domain->constvalue);
		int64		size = ArrayGetNItems(ARR_NDIM(domain), ARR_DIMS(domain)) + (set->null_key ? 1 : 0);

		if (size > DP_MAX_DECLARED_GROUPS / Max(groups, 1))
			ereport(ERROR,
					(errcode(ERRCODE_DP_NOT_RELEASABLE),
					 errmsg("the declared keys of the grouping columns span more than %lld groups; "
							"group by fewer columns", (long long) DP_MAX_DECLARED_GROUPS)));
		groups *= size;
	}
	return groups;
}

Size
dp_longest_keys(const DpRelease *release)
{
	Size		sum = 0;
	ListCell   *lc;

	foreach(lc, release->key_sets)
	{
		DpKeySet   *set = lfirst(lc);
		DpReleaseKey *key = list_nth(release->keys, linitial_int(set->keys));
		ArrayType  *domain = DatumGetArrayTypeP(set->domain->constvalue);
		Size		longest = 0;
		int16		typlen;
		bool		typbyval;
		char		typalign;
		Datum	   *values;
		int			n;

		get_typlenbyvalalign(key->type, &typlen, &typbyval, &typalign);
		if (typbyval)
			continue;
		if (typlen > 0)
		{
			sum += MAXALIGN(typlen);
			continue;
		}
		deconstruct_array(domain, key->type, typlen, typbyval, typalign, &values, NULL, &n);
		for (int i = 0; i < n; i++)
			longest = Max(longest, MAXALIGN(dp_value_bytes(values[i]) + VARHDRSZ));
		pfree(values);
		sum += longest;
	}
	return sum;
}

/* The groups have passed dp_declared_groups. */
DpKeyTable *
dp_key_table_create(const DpRelease *release)
{
	DpKeyTable *table = palloc0(sizeof(DpKeyTable));
	ListCell   *lc;
	int			i = 0;

	table->ndomains = list_length(release->key_sets);
	table->domains = palloc0(sizeof(KeyDomain) * Max(table->ndomains, 1));
	table->size = 1;
	foreach(lc, release->key_sets)
	{
		DpKeySet   *set = lfirst(lc);

		build_domain(&table->domains[i], set, list_nth(release->keys, linitial_int(set->keys)));
		table->size *= table->domains[i].size;
		i++;
	}
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
		int64		p;

		if (nulls[domain->key])
		{
			if (!domain->null_key)
				return -1;
			p = domain->size - 1;
		}
		else
		{
			p = dp_key_index_find(domain->index, values[domain->key]);
			if (p < 0)
				return -1;
		}
		position = position * domain->size + p;
	}
	return position;
}

void
dp_key_table_get(DpKeyTable *table, int64 position, Datum *values, bool *nulls)
{
	for (int i = table->ndomains - 1; i >= 0; i--)
	{
		KeyDomain  *domain = &table->domains[i];
		int64		p = position % domain->size;

		position /= domain->size;
		nulls[domain->key] = domain->null_key && p == domain->size - 1;
		values[domain->key] = nulls[domain->key] ? (Datum) 0 : domain->values[p];
	}
}
