/*-------------------------------------------------------------------------
 *
 * policy_rows.c
 *	  The rows that functions on tables and columns return: what is so, once
 *	  they have done their work.  Amounts of memory among their arguments.
 *
 * Invariants:
 *	- a row is made of labels as they are in the catalogue, and of privileges.
 *	  Nothing in it depends on rows of the table.
 *	- it is for the owner of the table or the dataset, who is who called.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "base/compat.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "admin/admin.h"

PG_FUNCTION_INFO_V1(dp_kilobytes_in);
PG_FUNCTION_INFO_V1(dp_kilobytes_out);

/* the columns of type dp_cdp.table_policy */
enum
{
	TABLE_DATASET,
	TABLE_TABLE,
	TABLE_UNIT,
	TABLE_THROUGH,
	TABLE_BLOCK,
	TABLE_BOUNDS,
	TABLE_KEYS,
	TABLE_READERS,
	TABLE_PROBLEM,
	TABLE_WARNINGS,
	TABLE_NCOLUMNS
};

/* the columns of type dp_cdp.column_policy */
enum
{
	COLUMN_DATASET,
	COLUMN_TABLE,
	COLUMN_COLUMN,
	COLUMN_LOWER,
	COLUMN_UPPER,
	COLUMN_TOTAL_LOWER,
	COLUMN_TOTAL_UPPER,
	COLUMN_KEYS,
	COLUMN_WARNINGS,
	COLUMN_NCOLUMNS
};

/* Makes the result of a function of a row. */
static Datum
row_of(FunctionCallInfo fcinfo, int ncolumns, Datum *values, bool *nulls)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != ncolumns)
		elog(ERROR, "the result of a function of dp_cdp is not of the type that it should be");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* Sets a column of a row; a NULL text stays NULL. */
static void
set_text(Datum *values, bool *nulls, int column, const char *value)
{
	nulls[column] = value == NULL;
	if (value != NULL)
		values[column] = CStringGetTextDatum(value);
}

static void
set_name(Datum *values, bool *nulls, int column, const char *name)
{
	nulls[column] = name == NULL;
	if (name != NULL)
		values[column] = DirectFunctionCall1(namein, CStringGetDatum(name));
}

static void
add_name(ArrayBuildState **names, const char *name)
{
	*names = accumArrayResult(*names, DirectFunctionCall1(namein, CStringGetDatum(name)), false, NAMEOID,
							  CurrentMemoryContext);
}

static void
set_names(Datum *values, bool *nulls, int column, ArrayBuildState *names)
{
	nulls[column] = false;
	values[column] = names == NULL ? PointerGetDatum(construct_empty_array(NAMEOID))
		: makeArrayResult(names, CurrentMemoryContext);
}

char *
dp_admin_readers(Oid relid)
{
	Oid			types[] = {OIDARRAYOID};
	Datum		values[1];
	List	   *relids = find_all_inheritors(relid, NoLock, NULL);
	Datum	   *elements = palloc(list_length(relids) * sizeof(Datum));
	int			n = 0;
	int			nholders;
	SPITupleTable *holders;
	List	   *readers = NIL;
	StringInfoData text;

	foreach_oid(item, relids)
		elements[n++] = ObjectIdGetDatum(item);
	values[0] = PointerGetDatum(construct_array(elements, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
	nholders = dp_admin_execute("SELECT DISTINCT oid, grantee,"
								" CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END"
								" FROM (SELECT oid, relowner, (aclexplode(relacl)).* FROM pg_class WHERE oid = ANY ($1)) a"
								" WHERE privilege_type = 'SELECT' AND grantee <> relowner ORDER BY 3",
								1, types, values, NULL, false);
	holders = SPI_tuptable;
	initStringInfo(&text);
	for (int i = 0; i < nholders; i++)
	{
		bool		isnull;
		Oid			held = DatumGetObjectId(SPI_getbinval(holders->vals[i], holders->tupdesc, 1, &isnull));
		Oid			holder = DatumGetObjectId(SPI_getbinval(holders->vals[i], holders->tupdesc, 2, &isnull));

		/*
		 * without a policy for him, a role sees no row: he asks for private
		 * answers
		 */
		if (list_member_oid(readers, holder) || !dp_policies_let_read(held, holder))
			continue;
		readers = lappend_oid(readers, holder);
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", SPI_getvalue(holders->vals[i], holders->tupdesc, 3));
	}
	return readers == NIL ? NULL : text.data;
}

char *
dp_admin_partial_readers(Oid relid)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relid)};

	(void) dp_admin_execute("WITH held AS (SELECT a.grantee, 'some columns' AS how FROM pg_attribute, aclexplode(attacl) a"
							" WHERE attrelid = $1 AND a.privilege_type = 'SELECT'"
							" UNION SELECT a.grantee, 'view ' || v.oid::regclass::text FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid"
							" JOIN pg_class v ON v.oid = r.ev_class AND v.relkind = 'v', aclexplode(v.relacl) a"
							" WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = $1"
							" AND a.privilege_type = 'SELECT' AND a.grantee <> v.relowner),"
							" roles AS (SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS name, string_agg(how, ', ' ORDER BY how) AS how"
							" FROM held h WHERE CASE grantee WHEN 0 THEN NOT EXISTS (SELECT FROM pg_class t, aclexplode(t.relacl) a"
							" WHERE t.oid = $1 AND a.privilege_type = 'SELECT' AND a.grantee = 0)"
							" ELSE NOT has_table_privilege(grantee, $1, 'SELECT') END GROUP BY grantee)"
							" SELECT string_agg(format('%s (%s)', name, how), ', ' ORDER BY name) FROM roles", 1, types, values, NULL, false);
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

/* Returns them in the caller's memory. */
static char *
readers(Oid relid)
{
	MemoryContext caller = CurrentMemoryContext;
	DpAdminContext context;
	char	   *names;

	dp_admin_begin(&context);
	names = dp_admin_readers(relid);
	if (names != NULL)
		names = MemoryContextStrdup(caller, names);
	dp_admin_end(&context);
	return names;
}

/* Returns why nothing is released from a table whose rows belong to people through others; NULL: nothing is wrong. */
static const char *
chain_problem(Oid relid)
{
	int			length;
	Oid			at;
	DpParentProblem problem = dp_policy_chain(relid, &length, &at);

	return problem == DP_PARENT_OK ? NULL : dp_parent_complaint(problem, at);
}

Datum
dp_admin_table_row(FunctionCallInfo fcinfo, Oid relid)
{
	DpLabel    *table;
	ArrayBuildState *bounds = NULL;
	ArrayBuildState *keys = NULL;
	const char *unit = NULL;
	const char *block = NULL;
	char	   *through = NULL;
	Datum		values[TABLE_NCOLUMNS];
	bool		nulls[TABLE_NCOLUMNS] = {false};

	CommandCounterIncrement();	/* labels that were written just now */
	table = dp_label_get(relid, 0);
	foreach_ptr(DpLabel, label, table ? dp_label_list(relid) : NIL)
	{
		const char *name = label->attnum == 0 ? NULL : get_attname(relid, label->attnum, true);

		if (name == NULL)
			continue;
		if (label->unit)
			unit = name;
		if (label->block)
			block = name;
		if (label->through)
			through = psprintf("%s%s%s", through ? through : "", through ? ", " : "", quote_identifier(name));
		if (label->has_bounds || label->first != NULL)
			add_name(&bounds, name);
		if (label->has_keys)
			add_name(&keys, name);
	}
	set_text(values, nulls, TABLE_DATASET, table ? table->dataset : NULL);
	values[TABLE_TABLE] = ObjectIdGetDatum(relid);
	set_name(values, nulls, TABLE_UNIT, unit);
	set_text(values, nulls, TABLE_THROUGH, through);
	set_name(values, nulls, TABLE_BLOCK, block);
	set_names(values, nulls, TABLE_BOUNDS, bounds);
	set_names(values, nulls, TABLE_KEYS, keys);
	set_text(values, nulls, TABLE_READERS, readers(relid));
	set_text(values, nulls, TABLE_PROBLEM, through ? chain_problem(relid) : NULL);
	values[TABLE_WARNINGS] = dp_admin_warnings();
	return row_of(fcinfo, TABLE_NCOLUMNS, values, nulls);
}

Datum
dp_admin_column_row(FunctionCallInfo fcinfo, Oid relid, const DpLabel *label)
{
	Datum		values[COLUMN_NCOLUMNS] = {0};
	bool		nulls[COLUMN_NCOLUMNS] = {false};
	const char *lower = label->first;
	const char *upper = label->last;

	if (label->has_bounds)
	{
		lower = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(label->lower)));
		upper = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(label->upper)));
	}
	set_text(values, nulls, COLUMN_DATASET, dp_label_get(relid, 0)->dataset);
	values[COLUMN_TABLE] = ObjectIdGetDatum(relid);
	set_name(values, nulls, COLUMN_COLUMN, get_attname(relid, label->attnum, false));
	set_text(values, nulls, COLUMN_LOWER, lower);
	set_text(values, nulls, COLUMN_UPPER, upper);
	nulls[COLUMN_TOTAL_LOWER] = nulls[COLUMN_TOTAL_UPPER] = !label->has_totals;
	if (label->has_totals)
	{
		values[COLUMN_TOTAL_LOWER] = NumericGetDatum(label->total_lower);
		values[COLUMN_TOTAL_UPPER] = NumericGetDatum(label->total_upper);
	}
	nulls[COLUMN_KEYS] = !label->has_keys;
	values[COLUMN_KEYS] = Int32GetDatum(label->nkeys);
	values[COLUMN_WARNINGS] = dp_admin_warnings();
	return row_of(fcinfo, COLUMN_NCOLUMNS, values, nulls);
}

/* ------------------------------------------------------------------------
 * Type dp_cdp.memory: an int4, written like a setting of the server
 * ------------------------------------------------------------------------
 */

Datum
dp_kilobytes_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	const char *hint = NULL;
	int			kilobytes;

	/*
	 * an error of data, as of all types, so that a private query has NULL for
	 * it
	 */
	if (!parse_int(text, &kilobytes, GUC_UNIT_KB, &hint))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("\"%s\" is no amount of memory: write a number of kB, or a text with its unit, such as '64MB'", text),
				 hint ? errhint("%s", hint) : 0));
	PG_RETURN_INT32(kilobytes);
}

Datum
dp_kilobytes_out(PG_FUNCTION_ARGS)
{
	int32		kilobytes = PG_GETARG_INT32(0);

	if (kilobytes != 0 && kilobytes % (1024 * 1024) == 0)
		PG_RETURN_CSTRING(psprintf("%dGB", kilobytes / (1024 * 1024)));
	if (kilobytes != 0 && kilobytes % 1024 == 0)
		PG_RETURN_CSTRING(psprintf("%dMB", kilobytes / 1024));
	PG_RETURN_CSTRING(psprintf("%dkB", kilobytes));
}
