/*-------------------------------------------------------------------------
 *
 * through.c
 *	  Tables whose rows belong to people through a foreign key.
 *
 * The label of such a table says which of its columns reference whom its rows
 * belong to.  The foreign key itself is found in the catalogue each time: it
 * may be dropped, be made anew or lose its table's policy at any time.
 *
 * Invariants:
 *	- The key is a validated one, over just these columns, to a protected table
 *	  of the same dataset, whose key a btree index makes unique; and no other
 *	  foreign key over these columns leads to another protected row.
 *	- Two values that are equal by the equality of either column's type are
 *	  equal by that of the index: whoever finds two rows with equal values has
 *	  found two rows of one parent.
 *	- Neither table has children by INHERITS: neither index nor key says
 *	  anything of their rows.
 *	- What is not as it should be is told as a problem; nothing here raises
 *	  an error because of it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/collations.h"
#include "base/compat.h"
#include "policy/policy_int.h"
#include "policy/unit_types.h"

/* the columns that a foreign key is looked for on, and what was found */
typedef struct KeySearch
{
	const char *dataset;
	int			n;
	char		(*columns)[NAMEDATALEN];
	DpParentProblem problem;
	DpParent   *parent;
} KeySearch;

/* ------------------------------------------------------------------------
 * One foreign key
 * ------------------------------------------------------------------------
 */

/* Tells whether the foreign key is on just the columns that are looked for. */
static bool
is_on_columns(const ForeignKeyCacheInfo *fk, KeySearch *s)
{
	if (fk->nkeys != s->n)
		return false;
	for (int i = 0; i < s->n; i++)
	{
		AttrNumber	attnum = get_attnum(fk->conrelid, s->columns[i]);
		bool		found = false;

		for (int j = 0; j < fk->nkeys; j++)
			found |= fk->conkey[j] == attnum;
		if (!found)
			return false;
	}
	return true;
}

/*
 * Looks at the foreign key's row.  Beside one to a partitioned table stands
 * one for each of its partitions, which is not looked at: false.
 */
static bool
read_constraint(const ForeignKeyCacheInfo *fk, bool *valid, Oid *index)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(fk->conoid));
	Form_pg_constraint form;
	Oid			parent;
	Oid			parent_relid = InvalidOid;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	*valid = form->convalidated && dp_is_enforced_constraint(form);
	*index = form->conindid;
	parent = form->conparentid;
	ReleaseSysCache(tuple);
	if (!OidIsValid(parent))
		return true;
	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(parent));
	if (HeapTupleIsValid(tuple))
	{
		parent_relid = ((Form_pg_constraint) GETSTRUCT(tuple))->conrelid;
		ReleaseSysCache(tuple);
	}
	return parent_relid != fk->conrelid;
}

/* Tells whether values of two columns are equal in one sense only, which the index has, too. */
static bool
same_equality(Oid child, AttrNumber column, Relation index, int i)
{
	Oid			type[2];
	int32		typmod;
	Oid			collation[2];
	TypeCacheEntry *entry[2];
	Oid			eq;
	Oid			both;

	get_atttypetypmodcoll(child, column, &type[0], &typmod, &collation[0]);
	get_atttypetypmodcoll(index->rd_index->indrelid, index->rd_index->indkey.values[i], &type[1], &typmod, &collation[1]);
	for (int j = 0; j < 2; j++)
	{
		entry[j] = lookup_type_cache(getBaseType(type[j]), TYPECACHE_BTREE_OPFAMILY | TYPECACHE_EQ_OPR);
		if (!dp_is_deterministic(collation[j]))
			return false;
	}
	eq = get_opfamily_member(index->rd_opfamily[i], index->rd_opcintype[i], index->rd_opcintype[i], BTEqualStrategyNumber);
	if (!OidIsValid(entry[0]->btree_opf) || entry[0]->btree_opf != entry[1]->btree_opf ||
		!OidIsValid(eq) || eq != entry[1]->eq_opr || op_volatile(eq) != PROVOLATILE_IMMUTABLE)
		return false;
	/* whose a date's row is must not depend on a session's time zone */
	both = get_opfamily_member(entry[0]->btree_opf, entry[0]->btree_opintype, entry[1]->btree_opintype, BTEqualStrategyNumber);
	return OidIsValid(both) && op_volatile(both) == PROVOLATILE_IMMUTABLE;
}

/* Fills parent; false where values of the key are not told apart as the index does. */
static bool
describe_key(const ForeignKeyCacheInfo *fk, Oid indexid, DpParent *parent)
{
	Relation	index = index_open(indexid, AccessShareLock);
	bool		same = index->rd_rel->relam == BTREE_AM_OID && index->rd_index->indnkeyatts == fk->nkeys &&
	index->rd_index->indisunique && index->rd_index->indimmediate;

	parent->parent = fk->confrelid;
	parent->index = indexid;
	parent->n = fk->nkeys;
	for (int i = 0; i < fk->nkeys; i++)
	{
		int			place = 0;

		for (int j = 0; j < fk->nkeys; j++)
			place += fk->confkey[j] < fk->confkey[i];
		parent->key[place] = fk->confkey[i];
		parent->child[place] = fk->conkey[i];
	}
	for (int i = 0; same && i < fk->nkeys; i++)
	{
		AttrNumber	child = InvalidAttrNumber;

		for (int j = 0; j < fk->nkeys; j++)
			if (fk->confkey[j] == index->rd_index->indkey.values[i])
				child = fk->conkey[j];
		same = child != InvalidAttrNumber && same_equality(fk->conrelid, child, index, i);
	}
	index_close(index, NoLock);
	return same;
}

/* Tells whether a table has children that are no partitions. */
static bool
has_other_children(Oid relid)
{
	return get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE &&
		find_inheritance_children(relid, NoLock) != NIL;
}

static DpParentProblem
judge_key(const ForeignKeyCacheInfo *fk, KeySearch *s, bool valid, Oid index, DpParent *parent)
{
	const DpTable *table = dp_policy_table(fk->confrelid);

	if (table == NULL)
		return DP_PARENT_UNPROTECTED;
	if (strcmp(table->dataset, s->dataset) != 0)
		return DP_PARENT_OTHER_DATASET;
	if (!valid)
		return DP_PARENT_NOT_VALID;
	if (fk->confrelid == fk->conrelid)
		return DP_PARENT_CIRCLE;
	if (has_other_children(fk->confrelid) || has_other_children(fk->conrelid))
		return DP_PARENT_INHERITED;
	return describe_key(fk, index, parent) ? DP_PARENT_OK : DP_PARENT_TYPES;
}

/* Takes over what one foreign key is: the best there is, but never one of two that lead to different rows. */
static void
consider_key(KeySearch *s, DpParentProblem problem, const DpParent *parent)
{
	if (s->problem == DP_PARENT_AMBIGUOUS)
		return;
	if (problem != DP_PARENT_OK)
	{
		if (s->problem == DP_PARENT_NO_KEY)
			s->problem = problem;
		return;
	}
	if (s->problem != DP_PARENT_OK)
	{
		s->problem = DP_PARENT_OK;
		*s->parent = *parent;
		return;
	}
	if (s->parent->parent != parent->parent ||
		memcmp(s->parent->key, parent->key, parent->n * sizeof(AttrNumber)) != 0 ||
		memcmp(s->parent->child, parent->child, parent->n * sizeof(AttrNumber)) != 0)
		s->problem = DP_PARENT_AMBIGUOUS;
}

static void
search_table(Oid relid, KeySearch *s)
{
	Relation	rel = table_open(relid, AccessShareLock);

	/* valid while nothing is invalidated: the list belongs to the relcache */
	foreach_ptr(ForeignKeyCacheInfo, fk, copyObject(RelationGetFKeyList(rel)))
	{
		DpParent	parent = {0};
		bool		valid;
		Oid			index;

		if (is_on_columns(fk, s) && read_constraint(fk, &valid, &index))
			consider_key(s, judge_key(fk, s, valid, index, &parent), &parent);
	}
	table_close(rel, NoLock);
}

/* ------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------
 */

/* Looks for one foreign key on each partition instead of one on the whole. */
static void
search_partitions(Oid relid, KeySearch *s)
{
	DpParent	first = {0};
	bool		found = false;

	foreach_oid(leaf, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		DpParent	parent = {0};
		KeySearch	part = {s->dataset, s->n, s->columns, DP_PARENT_NO_KEY, &parent};

		if (get_rel_relkind(leaf) == RELKIND_PARTITIONED_TABLE)
			continue;
		search_table(leaf, &part);
		for (int i = 0; part.problem == DP_PARENT_OK && i < parent.n; i++)
			parent.child[i] = get_attnum(relid, get_attname(leaf, parent.child[i], false));
		if (part.problem == DP_PARENT_OK && found &&
			(parent.parent != first.parent || memcmp(parent.key, first.key, sizeof(first.key)) != 0 ||
			 memcmp(parent.child, first.child, sizeof(first.child)) != 0))
			part.problem = DP_PARENT_AMBIGUOUS;
		s->problem = part.problem;
		if (part.problem != DP_PARENT_OK)
			return;
		first = parent;
		found = true;
	}
	*s->parent = first;
}

DpParentProblem
dp_find_parent(Oid relid, const char *dataset, int n, char (*columns)[NAMEDATALEN], DpParent *parent)
{
	KeySearch	s = {dataset, n, columns, DP_PARENT_NO_KEY, parent};

	memset(parent, 0, sizeof(DpParent));
	search_table(relid, &s);
	if (s.problem == DP_PARENT_NO_KEY && get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		search_partitions(relid, &s);
	return s.problem;
}

DpParentProblem
dp_policy_parent(Oid relid, DpParent *parent)
{
	const DpTable *table = dp_policy_table(relid);
	DpTable		copy;

	if (table == NULL || table->nthrough == 0)
		return DP_PARENT_UNPROTECTED;
	copy = *table;
	return dp_find_parent(relid, copy.dataset, copy.nthrough, copy.through, parent);
}

DpParentProblem
dp_policy_chain(Oid relid, int *length, Oid *at)
{
	*length = 0;
	for (;;)
	{
		const DpTable *table = dp_policy_table(relid);
		DpParent	parent;
		DpParentProblem problem;

		*at = relid;
		if (table == NULL)
			return DP_PARENT_UNPROTECTED;
		if (table->nthrough == 0)
			return DP_PARENT_OK;
		if (++*length > DP_MAX_PARENTS)
			return DP_PARENT_CIRCLE;
		problem = dp_policy_parent(relid, &parent);
		if (problem != DP_PARENT_OK)
			return problem;
		relid = parent.parent;
	}
}

AttrNumber
dp_policy_unit_column(Oid relid)
{
	const DpTable *table = dp_policy_table(relid);
	DpParent	parent;
	AttrNumber	unit;
	Oid			types[2],
				collations[2];
	int32		typmod;

	if (table != NULL && table->has_unit)
		return Max(get_attnum(relid, table->unit), InvalidAttrNumber);
	if (table == NULL || table->nthrough == 0 || dp_policy_parent(relid, &parent) != DP_PARENT_OK)
		return InvalidAttrNumber;
	table = dp_policy_table(parent.parent);
	if (table == NULL || !table->has_unit)
		return InvalidAttrNumber;
	unit = get_attnum(parent.parent, table->unit);
	for (int i = 0; unit > 0 && i < parent.n; i++)
	{
		if (parent.key[i] != unit)
			continue;
		get_atttypetypmodcoll(parent.parent, unit, &types[0], &typmod, &collations[0]);
		get_atttypetypmodcoll(relid, parent.child[i], &types[1], &typmod, &collations[1]);
		/* long values of citext are nobody's */
		return types[0] == types[1] && collations[0] == collations[1] && !dp_is_citext(types[0]) ? parent.child[i] : InvalidAttrNumber;
	}
	return InvalidAttrNumber;
}

char *
dp_parent_complaint(DpParentProblem problem, Oid at)
{
	char	   *name = get_rel_name(at);

	switch (problem)
	{
		case DP_PARENT_OK:
			break;
		case DP_PARENT_NO_KEY:
			return psprintf("table \"%s\" has no foreign key on just these columns", name);
		case DP_PARENT_NOT_VALID:
			return psprintf("the foreign key of table \"%s\" is not validated", name);
		case DP_PARENT_UNPROTECTED:
			return psprintf("the foreign key of table \"%s\" references a table that is not protected", name);
		case DP_PARENT_OTHER_DATASET:
			return psprintf("the foreign key of table \"%s\" references a table of another dataset", name);
		case DP_PARENT_AMBIGUOUS:
			return psprintf("table \"%s\" has several foreign keys on them, to different protected rows", name);
		case DP_PARENT_TYPES:
			return psprintf("the foreign key of table \"%s\" and what it references have types, collations or an index that take different values for equal", name);
		case DP_PARENT_INHERITED:
			return psprintf("table \"%s\", or what it references, has children by INHERITS, whose rows no key covers", name);
		case DP_PARENT_CIRCLE:
			return psprintf("the foreign keys from table \"%s\" on lead in a circle, or through more than %d tables", name, DP_MAX_PARENTS);
	}
	return pstrdup("it has none");
}

char *
dp_policy_through(const DpTable *table)
{
	StringInfoData s;

	initStringInfo(&s);
	for (int i = 0; i < table->nthrough; i++)
		appendStringInfo(&s, "%s%s", i > 0 ? ", " : "", quote_identifier(table->through[i]));
	return s.data;
}

List *
dp_policy_children(Oid relid, const char *dataset)
{
	List	   *result = NIL;

	foreach_oid(item, dp_label_tables(dataset))
	{
		const DpTable *table = dp_policy_table(item);
		DpParent	parent;

		CHECK_FOR_INTERRUPTS();
		if (table != NULL && table->nthrough > 0 &&
			dp_policy_parent(item, &parent) == DP_PARENT_OK && parent.parent == relid)
			result = lappend_oid(result, item);
	}
	return result;
}
