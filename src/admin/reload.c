/*-------------------------------------------------------------------------
 *
 * reload.c
 *	  replace_table, forget_name: what a reload by another table does to
 *	  policies and names.
 *
 * Invariants:
 *	- the new table gets the whole policy or none of it: everything is checked
 *	  before the first label is written, under locks that keep the columns of
 *	  both as they are.
 *	- the old table keeps its policy.  It holds the same people's rows, whether
 *	  it is dropped, kept as a backup or becomes the table again; its answers
 *	  are charged to the same dataset.
 *	- a name is released by an owner of the dataset that it is reserved for.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "admin/admin.h"
#include "base/compat.h"
#include "base/errors.h"

PG_FUNCTION_INFO_V1(dp_replace_table);
PG_FUNCTION_INFO_V1(dp_release_name);

/* ------------------------------------------------------------------------
 * May one table take the place of another
 * ------------------------------------------------------------------------
 */

/* Refuses column "name" of table "from" unless it is the same in table "to". */
static void
require_column(Oid from, Oid to, const char *name, Oid old, Oid new)
{
	AttrNumber	there = get_attnum(to, name);
	AttrNumber	here = get_attnum(from, name);
	Oid			type[2];
	int32		typmod[2];
	Oid			collation[2];

	if (there <= 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" has a column \"%s\", which table \"%s\" has not: make the columns of \"%s\" those of \"%s\" first",
						get_rel_name(from), name, get_rel_name(to), get_rel_name(new), get_rel_name(old)));
	get_atttypetypmodcoll(from, here, &type[0], &typmod[0], &collation[0]);
	get_atttypetypmodcoll(to, there, &type[1], &typmod[1], &collation[1]);
	if (type[0] != type[1] || typmod[0] != typmod[1])
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" has type %s in table \"%s\" and %s in table \"%s\": make the columns of \"%s\" those of \"%s\" first",
						name, format_type_with_typemod(type[0], typmod[0]), get_rel_name(from),
						format_type_with_typemod(type[1], typmod[1]), get_rel_name(to),
						get_rel_name(new), get_rel_name(old)));
	if (collation[0] != collation[1] ||
		dp_is_virtual_column(from, here) != dp_is_virtual_column(to, there))
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" of table \"%s\" has another collation or generation than in table \"%s\": make the columns of \"%s\" those of \"%s\" first",
						name, get_rel_name(from), get_rel_name(to), get_rel_name(new), get_rel_name(old)));
}

/* Refuses a table with other columns; their order does not matter. */
static void
require_same_columns(Oid old, Oid new)
{
	Oid			relids[] = {old, new};

	for (int i = 0; i < 2; i++)
	{
		Relation	rel = table_open(relids[i], NoLock);
		TupleDesc	desc = RelationGetDescr(rel);

		for (int column = 0; column < desc->natts; column++)
		{
			Form_pg_attribute att = TupleDescAttr(desc, column);

			if (!att->attisdropped)
				require_column(relids[i], relids[1 - i], NameStr(att->attname), old, new);
		}
		table_close(rel, NoLock);
	}
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/*
 * Returns the name of the column that bears the unit, "" for row units;
 * "through a, b" for columns that reference what does.
 */
static const char *
unit_name(Oid relid, const DpLabel *label)
{
	const char *name = "";
	int			nunits = 0;
	List	   *through = NIL;

	foreach_ptr(DpLabel, column, dp_label_list(relid))
	{
		if (column->attnum > 0 && column->unit)
		{
			name = get_attname(relid, column->attnum, false);
			nunits++;
		}
		if (column->attnum > 0 && column->through)
			through = lappend(through, get_attname(relid, column->attnum, false));
	}
	list_sort(through, compare_names);
	foreach_ptr(const char, item, through)
		name = psprintf("%s%s%s", foreach_current_index(item) > 0 ? name : "through ",
						foreach_current_index(item) > 0 ? ", " : "", quote_identifier(item));
	if (nunits != (label->unit ? 1 : 0) || list_length(through) != label->through)
		dp_raise(BAD_PARAMETER,
				 errmsg("the policy of table \"%s\" is damaged: call dp_cdp.unprotect_table and dp_cdp.protect_table for it",
						get_rel_name(relid)));
	return name;
}

/* Refuses a new table that has a policy of its own, but for one in the same dataset with the same unit. */
static void
require_no_other_policy(Oid new, const char *dataset, const char *unit)
{
	DpLabel    *label = dp_label_get(new, 0);

	if (label == NULL)
		return;
	if (strcmp(label->dataset, dataset) != 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" is already protected in dataset \"%s\": call dp_cdp.unprotect_table first",
						get_rel_name(new), label->dataset));
	if (strcmp(unit_name(new, label), unit) != 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" is already protected with another privacy unit: call dp_cdp.unprotect_table first",
						get_rel_name(new)));
}

/* Tells of keys that are declared by a foreign key, which CREATE TABLE ... LIKE does not copy. */
static void
report_lost_keys(Oid old, Oid new)
{
	Oid			types[] = {OIDOID, OIDOID};
	Datum		values[] = {ObjectIdGetDatum(old), ObjectIdGetDatum(new)};
	char	   *columns;

	dp_admin_execute("SELECT string_agg(format('%I (%s)', a.attname, f.confrelid::regclass), ', ' ORDER BY a.attnum)"
					 " FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]"
					 " WHERE f.conrelid = $1 AND f.contype = 'f' AND f.convalidated AND cardinality(f.conkey) = 1"
					 " AND NOT EXISTS (SELECT FROM pg_seclabel s WHERE s.provider = 'dp_cdp'"
					 " AND s.classoid = 'pg_class'::regclass AND s.objoid IN ($1, f.confrelid)"
					 " AND s.objsubid = CASE WHEN s.objoid = $1 THEN a.attnum ELSE 0 END"
					 " AND (s.objoid <> $1 OR s.label LIKE '%\"keys\":%'))"
					 " AND NOT EXISTS (SELECT FROM pg_constraint g"
					 " JOIN pg_attribute b ON b.attrelid = g.conrelid AND b.attnum = g.conkey[1]"
					 " WHERE g.conrelid = $2 AND g.contype = 'f' AND g.convalidated AND cardinality(g.conkey) = 1"
					 " AND g.confrelid = f.confrelid AND b.attname = a.attname)",
					 2, types, values, NULL, false);
	columns = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (columns != NULL)
		dp_admin_warn(NOTICE,
					  errmsg("table \"%s\" lacks foreign keys that declare keys of columns of table \"%s\", which queries select privately without them: %s",
							 get_rel_name(new), get_rel_name(old), columns));
}

/* Tells what becomes of foreign keys through which rows belong to people. */
static void
report_through(Oid old, Oid new, char *dataset)
{
	const DpTable *table = dp_policy_table(old);
	List	   *children = dp_policy_children(old, dataset);
	DpParent	parent;

	if (table != NULL && table->nthrough > 0)
	{
		DpTable		copy = *table;
		DpParentProblem problem = dp_find_parent(new, dataset, copy.nthrough, copy.through, &parent);

		if (problem != DP_PARENT_OK)
			dp_admin_warn(WARNING,
						  errmsg("rows of table \"%s\" are to belong to people through (%s), but %s: nothing is released from it until that is mended",
								 get_rel_name(new), dp_policy_through(&copy), dp_parent_complaint(problem, new)));
	}
	foreach_oid(item, children)
		dp_admin_warn(NOTICE,
					  errmsg("rows of table \"%s\" belong to people through table \"%s\", not through \"%s\": let their foreign key reference \"%s\" before \"%s\" is dropped",
							 get_rel_name(item), get_rel_name(old), get_rel_name(new), get_rel_name(new), get_rel_name(old)));
}

/* ------------------------------------------------------------------------
 * replace_table
 * ------------------------------------------------------------------------
 */

/* Writes the labels of old to the columns of new that have their names. */
static void
copy_labels(Oid old, Oid new)
{
	foreach_ptr(DpLabel, item, dp_label_list(new))
	{
		AttrNumber	attnum = item->attnum;

		if (attnum != 0)
			dp_label_put(new, attnum, NULL);
	}
	CommandCounterIncrement();	/* a label can be written once in a command */
	foreach_ptr(DpLabel, label, dp_label_list(old))
	{
		char	   *column = label->attnum == 0 ? NULL : get_attname(old, label->attnum, true);

		if (label->attnum == 0)
			dp_label_put(new, 0, label);
		else if (column != NULL)
			dp_label_put(new, get_attnum(new, column), label);
	}
}

/* replace_table(old, new) */
Datum
dp_replace_table(PG_FUNCTION_ARGS)
{
	Oid			old = dp_admin_table_argument(fcinfo, 0, "old");
	Oid			new = dp_admin_table_argument(fcinfo, 1, "new");
	Oid			user = GetUserId();
	DpAdminContext context;
	DpLabel    *label;

	if (old == new)
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" cannot replace itself: give the table that is to take its place as \"new\"",
						get_rel_name(old)));
	dp_admin_require_table_owner(old);
	dp_admin_require_table_owner(new);
	/* in one order, lest two calls wait for each other */
	dp_admin_lock_table(Min(old, new));
	dp_admin_lock_table(Max(old, new));
	dp_admin_require_table_owner(old);
	dp_admin_require_table_owner(new);
	label = dp_admin_table_label(old);

	dp_admin_begin(&context);
	(void) dp_admin_dataset(label->dataset, user, DP_LOCK_REFERENCE);
	require_no_other_policy(new, label->dataset, unit_name(old, label));
	dp_check_protectable(new);
	require_same_columns(old, new);
	if (dp_has_row_security(old) && !dp_has_row_security(new))
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" has row-level security and table \"%s\" has not: ALTER TABLE ... ENABLE ROW LEVEL SECURITY first",
						get_rel_name(old), get_rel_name(new)),
				 errdetail("Roles that hold SELECT to list the table would see its rows."));

	copy_labels(old, new);
	CommandCounterIncrement();
	dp_admin_keep_blocks(new, old);
	dp_policy_name_settled(new, label->dataset);
	dp_policy_name_passes(old, new, label->dataset);
	report_lost_keys(old, new);
	report_through(old, new, label->dataset);
	dp_admin_report_readers(new);
	dp_admin_end(&context);
	PG_RETURN_DATUM(dp_admin_table_row(fcinfo, new));
}

/* ------------------------------------------------------------------------
 * forget_name
 * ------------------------------------------------------------------------
 */

/* what forget_name was called for; parameters $1 to $4 of its statements */
typedef struct ReleasedName
{
	Oid			types[4];
	Datum		values[4];		/* schema, name, dataset, who calls */
	char		nulls[4];
	char	   *text;			/* as it was given */
	char	   *schema;			/* NULL: not given */
	char	   *name;
} ReleasedName;

static void
read_name(FunctionCallInfo fcinfo, ReleasedName *r)
{
	List	   *names = NIL;

	r->text = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (r->text[0] != '\0')
		names = textToQualifiedNameList(PG_GETARG_TEXT_PP(0));
	if (list_length(names) < 1 || list_length(names) > 2)
		dp_raise(BAD_PARAMETER, errmsg("\"name\" must be the name of a table, such as 'public.visits'"));
	r->name = strVal(llast(names));
	r->schema = list_length(names) == 2 ? strVal(linitial(names)) : NULL;

	r->types[0] = r->types[1] = NAMEOID;
	r->types[2] = TEXTOID;
	r->types[3] = OIDOID;
	memset(r->nulls, ' ', sizeof(r->nulls));
	r->values[1] = DirectFunctionCall1(namein, CStringGetDatum(r->name));
	if (PG_ARGISNULL(1))
		r->nulls[2] = 'n';
	else
		r->values[2] = CStringGetTextDatum(dp_admin_dataset_name(fcinfo, 1));
	r->values[3] = ObjectIdGetDatum(GetUserId());
}

/* Settles the schema; without one, the only in which the name is reserved. */
static void
find_schema(ReleasedName *r)
{
	if (r->schema == NULL)
	{
		uint64		found = dp_admin_execute("SELECT DISTINCT schema FROM dp_cdp_internal.reserved_name"
											 " WHERE name = $1 AND NOT released AND ($2 IS NULL OR dataset = $2)",
											 2, &r->types[1], &r->values[1], &r->nulls[1], false);

		if (found == 0)
			dp_raise(BAD_PARAMETER,
					 errmsg("the name \"%s\" is not reserved, see dp_cdp.reserved_names: for a finding of check_setup(), give its schema and the dataset, too", r->text));
		if (found > 1)
			dp_raise(BAD_PARAMETER,
					 errmsg("\"%s\" is reserved in several schemas: give its schema, too, such as 'public.visits' (dp_cdp.reserved_names lists names that are reserved)",
							r->text));
		r->schema = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	}
	r->values[0] = DirectFunctionCall1(namein, CStringGetDatum(r->schema));
}

/* Notes that an unprotected relation, whose name is not reserved, may resemble a dataset's tables. */
static void
release_look_alike(ReleasedName *r, Oid relid, Oid user)
{
	if (r->nulls[2] == 'n')
		dp_raise(BAD_PARAMETER,
				 errmsg("the name \"%s\" is not reserved, see dp_cdp.reserved_names: for a finding of check_setup(), give the dataset, too",
						r->text));
	if (!OidIsValid(relid))
		dp_raise(BAD_PARAMETER, errmsg("there is no table \"%s\", and its name is not reserved", r->text));
	if (dp_policy_table(relid) != NULL)
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" is protected: call dp_cdp.unprotect_table if everybody who holds SELECT may read its rows",
						r->text));
	(void) dp_admin_dataset(TextDatumGetCString(r->values[2]), user, DP_LOCK_REFERENCE);
	dp_admin_execute("INSERT INTO dp_cdp_internal.reserved_name (schema, name, dataset, released) SELECT $1, $2, $3, true"
					 " WHERE NOT EXISTS (SELECT FROM dp_cdp_internal.reserved_name h"
					 " WHERE h.schema = $1 AND h.name = $2 AND h.dataset = $3)",
					 3, r->types, r->values, r->nulls, false);
}

/* forget_name(name, dataset) */
Datum
dp_release_name(PG_FUNCTION_ARGS)
{
	ReleasedName r = {{0}};
	Oid			user = GetUserId();
	Oid			schema;
	Oid			relid = InvalidOid;
	int64		names = 1;
	DpAdminContext context;

	read_name(fcinfo, &r);
	dp_admin_require_primary();
	dp_admin_begin(&context);
	find_schema(&r);
	schema = get_namespace_oid(r.schema, true);
	if (OidIsValid(schema))
		relid = get_relname_relid(NameStr(*DatumGetName(r.values[1])), schema);

	if (dp_admin_execute("SELECT h.dataset FROM dp_cdp_internal.reserved_name h WHERE h.schema = $1 AND h.name = $2"
						 " AND NOT h.released AND ($3 IS NULL OR h.dataset = $3) ORDER BY h.dataset LIMIT 1",
						 3, r.types, r.values, r.nulls, false) == 0)
		release_look_alike(&r, relid, user);
	else
	{
		char	   *dataset = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);

		names = dp_admin_execute("UPDATE dp_cdp_internal.reserved_name h SET released = true, successor = 0"
								 " WHERE h.schema = $1 AND h.name = $2"
								 " AND NOT h.released AND ($3 IS NULL OR h.dataset = $3)"
								 " AND ((SELECT r.rolsuper FROM pg_roles r WHERE r.oid = $4)"
								 " OR EXISTS (SELECT FROM dp_cdp_internal.dataset d"
								 " WHERE d.name = h.dataset AND pg_has_role($4, d.owner::oid, 'USAGE')))",
								 4, r.types, r.values, r.nulls, true);
		if (names == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("must be owner of dataset \"%s\" to release the name \"%s\"", dataset, r.text)));
	}
	if (OidIsValid(relid))
	{
		dp_policy_invalidate(relid);
		dp_admin_report_readers(relid);
	}
	dp_admin_end(&context);
	PG_RETURN_INT64(names);
}
