/*-------------------------------------------------------------------------
 *
 * whose_rows.c
 *	  Reads which person a row belongs to: a column names the person, a foreign
 *	  key leads to the person's rows, or each row is a person of its own.
 *
 * Invariant: nothing is guessed.  What looks like a mistake beside the
 * dataset's other tables is warned of, by names and types alone, as check_setup()
 * finds it (sql/09_hardening.sql, doubts_of_unit).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "base/errors.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "admin/admin.h"
#include "admin/whose_rows.h"
#include "policy/unit_types.h"

/* Returns the number of the column that argument 2 names; ZC004 when it cannot be a privacy unit. */
static AttrNumber
unit_column(FunctionCallInfo fcinfo, Oid relid)
{
	Oid			type;
	int32		typmod;
	Oid			collation;
	AttrNumber	unit = dp_admin_column(fcinfo, 2, "unit", relid, &type, &typmod, &collation);
	const char *problem;

	dp_check_comparable(type, collation, get_attname(relid, unit, false), "a privacy unit");
	problem = dp_unit_type_problem(type);
	if (problem != NULL)
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" of type %s cannot be a privacy unit, because %s: give it another type, such as text, or name another column",
						get_attname(relid, unit, false), format_type_be(type), problem));
	if (dp_is_virtual_column(relid, unit))
		dp_raise(BAD_PARAMETER, errmsg("virtual generated column \"%s\" cannot be a privacy unit; make it STORED",
									   get_attname(relid, unit, false)));
	return unit;
}

/* Refuses to guess whose the rows are: argument 2 is unit, 3 through, 6 each_row. */
static void
check_whose_rows(FunctionCallInfo fcinfo, Oid relid)
{
	bool		each_row = !PG_ARGISNULL(6) && PG_GETARG_BOOL(6);
	bool		has_unit = !PG_ARGISNULL(2) || !PG_ARGISNULL(3);

	if (each_row && has_unit)
		dp_raise(BAD_PARAMETER,
				 errmsg("each_row says that each row is a person of its own: leave it out where unit or through says whose the rows are"));
	if (!each_row && !has_unit)
		dp_raise(BAD_PARAMETER, errmsg("say whose the rows of table \"%s\" are, with unit, through or each_row => true",
									   get_rel_name(relid)),
				 errdetail("Give the column that names the person, such as unit => 'patient_id'. Or give a foreign key that leads to the person's rows, such as through => 'stay_id'. Or give each_row => true, if no person has two rows."));
}

/* Reads argument 3: columns of a foreign key. */
static void
read_through(FunctionCallInfo fcinfo, Oid relid, DpUnitArgument *argument)
{
	char	   *given = text_to_cstring(PG_GETARG_TEXT_PP(3));
	DpTable    *through = &argument->through;
	List	   *names;

	if (!PG_ARGISNULL(2))
		dp_raise(BAD_PARAMETER,
				 errmsg("unit and through exclude each other: give through where a foreign key leads to the person's rows"));
	if (!SplitIdentifierString(given, ',', &names) || names == NIL || list_length(names) > INDEX_MAX_KEYS)
		dp_raise(BAD_PARAMETER,
				 errmsg("\"through\" must name the columns of a foreign key, such as 'order_id' or 'order_id, line'"));
	foreach_ptr(char, item, names)
	{
		AttrNumber	attnum = get_attnum(relid, item);

		if (attnum <= 0)
			dp_raise(BAD_PARAMETER, errmsg("table \"%s\" has no column \"%s\": name one of its columns",
										   get_rel_name(relid), item));
		for (int i = 0; i < through->nthrough; i++)
			if (argument->columns[i] == attnum)
				dp_raise(BAD_PARAMETER, errmsg("\"through\" names column \"%s\" twice", item));
		argument->columns[through->nthrough] = attnum;
		strlcpy(through->through[through->nthrough++], item, NAMEDATALEN);
	}
}

void
dp_admin_read_unit(FunctionCallInfo fcinfo, Oid relid, DpUnitArgument *argument)
{
	check_whose_rows(fcinfo, relid);
	if (!PG_ARGISNULL(3))
		read_through(fcinfo, relid, argument);
	else if (!PG_ARGISNULL(2))
		argument->unit = unit_column(fcinfo, relid);
}

static Oid
table_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* Returns the names of tables that foreign keys on these columns reference; NULL: there is no such key. */
static char *
unprotected_parents(Oid relid, const DpUnitArgument *argument)
{
	Oid			types[] = {OIDOID, INT2ARRAYOID};
	Datum		columns[INDEX_MAX_KEYS];
	Datum		values[] = {ObjectIdGetDatum(relid), 0};

	for (int i = 0; i < argument->through.nthrough; i++)
		columns[i] = Int16GetDatum(argument->columns[i]);
	values[1] = PointerGetDatum(construct_array(columns, argument->through.nthrough, INT2OID, sizeof(int16), true, TYPALIGN_SHORT));
	dp_admin_execute("SELECT string_agg(DISTINCT confrelid::regclass::text, ', ') FROM pg_catalog.pg_constraint"
					 " WHERE conrelid = $1 AND contype = 'f' AND conkey @> $2 AND conkey <@ $2",
					 lengthof(types), types, values, NULL, false);
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

void
dp_admin_check_through(Oid relid, const char *dataset, DpUnitArgument *argument)
{
	DpParent	parent;
	DpParentProblem problem = dp_find_parent(relid, dataset, argument->through.nthrough, argument->through.through, &parent);
	Oid			at = relid;
	char	   *parents = problem == DP_PARENT_UNPROTECTED ? unprotected_parents(relid, argument) : NULL;
	int			length;

	if (problem == DP_PARENT_OK)
	{
		if (table_owner(parent.parent) != table_owner(relid))
			dp_raise(BAD_PARAMETER,
					 errmsg("tables \"%s\" and \"%s\" belong to different owners; give them one owner with ALTER TABLE ... OWNER TO",
							get_rel_name(relid), get_rel_name(parent.parent)));
		problem = dp_policy_chain(parent.parent, &length, &at);
		if (problem == DP_PARENT_OK && length >= DP_MAX_PARENTS)
			problem = DP_PARENT_CIRCLE;
	}
	if (problem != DP_PARENT_OK)
		dp_raise(BAD_PARAMETER,
				 errmsg("rows of table \"%s\" cannot belong to people through (%s), because %s: reference a protected table of dataset \"%s\" by a validated foreign key on just these columns",
						get_rel_name(relid), dp_policy_through(&argument->through), dp_parent_complaint(problem, at), dataset),
				 parents != NULL ? errhint("The key references %s: first protect that table, in the same dataset.", parents) : 0);
}

void
dp_admin_check_same_unit(Oid relid, const DpLabel *old, const DpUnitArgument *argument)
{
	AttrNumber	unit = argument->unit;
	bool		has_unit = unit != InvalidAttrNumber;
	DpLabel    *label = has_unit ? dp_label_get(relid, unit) : NULL;
	bool		same = old->unit == has_unit && (!has_unit || (label && label->unit)) &&
	old->through == argument->through.nthrough;

	for (int i = 0; same && i < argument->through.nthrough; i++)
	{
		label = dp_label_get(relid, argument->columns[i]);
		same = label && label->through;
	}
	if (same)
	{
		label = argument->block.column ? dp_label_get(relid, argument->block.column) : NULL;
		if (old->block != (argument->block.column != InvalidAttrNumber) || (old->block && !(label && label->block)))
			dp_raise(BAD_PARAMETER,
					 errmsg("table \"%s\" is already protected in dataset \"%s\" with another block column, or without one: call dp_cdp.unprotect_table first",
							get_rel_name(relid), old->dataset));
	}
	if (!same)
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" is already protected in dataset \"%s\" with another privacy unit: call dp_cdp.unprotect_table first",
						get_rel_name(relid), old->dataset));
}

void
dp_admin_doubt_unit(Oid relid)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relid)};
	SPITupleTable *doubts;

	dp_admin_execute("SELECT finding, remedy FROM dp_cdp_internal.doubts_of_unit($1::regclass) ORDER BY other IS NOT NULL, finding",
					 lengthof(types), types, values, NULL, false);
	doubts = SPI_tuptable;
	for (uint64 i = 0; i < doubts->numvals; i++)
		dp_admin_warn(WARNING,
					  errmsg("table \"%s\": %s", get_rel_name(relid), SPI_getvalue(doubts->vals[i], doubts->tupdesc, 1)),
					  errhint("Unless that is meant: %s", SPI_getvalue(doubts->vals[i], doubts->tupdesc, 2)));
}
