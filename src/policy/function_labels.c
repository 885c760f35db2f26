/*-------------------------------------------------------------------------
 *
 * function_labels.c
 *	  Security labels on functions: {"allowed": true}.
 *
 * A function that bears the label may be used on rows of protected tables, in
 * addition to the built-in ones; what else is asked of it is the guard's
 * business, each time that it is used.  A label follows renames, goes with
 * its function, and is dumped for functions that are not PostgreSQL's own.
 *
 * Invariants:
 *	- nobody but a superuser sets or removes the label.  Its form alone is
 *	  checked here, so that a dump can always be restored.
 *	- every change invalidates the function: plans that call it are made anew.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_seclabel.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/jsonb.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/errors.h"
#include "policy/policy_int.h"

#define ALLOWED_LABEL "{\"allowed\": true}"

static bool
is_allowed_label(const char *text)
{
	Datum		given = DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
	Datum		wanted = DirectFunctionCall1(jsonb_in, CStringGetDatum(ALLOWED_LABEL));

	return DatumGetBool(DirectFunctionCall2(jsonb_eq, given, wanted));
}

/* Makes sessions forget the function, and the plans and inlined bodies made of it. */
static void
invalidate_function(Oid funcid)
{
	Relation	rel = table_open(ProcedureRelationId, AccessShareLock);
	HeapTuple	tuple = SearchSysCacheCopy1(PROCOID, ObjectIdGetDatum(funcid));

	if (HeapTupleIsValid(tuple))
	{
		CacheInvalidateHeapTuple(rel, tuple, NULL);
		heap_freetuple(tuple);
	}
	table_close(rel, AccessShareLock);
}

void
dp_function_relabel(Oid funcid, const char *text)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only superusers may say which functions can be used on rows of protected tables")));
	if (text !=NULL && !is_allowed_label(text))
		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" is not a security label of dp_cdp for a function: use dp_cdp.allow_function and dp_cdp.disallow_function",
						text));
	invalidate_function(funcid);
}

void
dp_function_add(Oid funcid, bool add)
{
	ObjectAddress object = {ProcedureRelationId, funcid, 0};
	const char *text = add ? ALLOWED_LABEL : NULL;

	dp_function_relabel(funcid, text);
	SetSecurityLabel(&object, DP_LABEL_PROVIDER, text);
}

bool
dp_function_is_added(Oid funcid)
{
	ObjectAddress object = {ProcedureRelationId, funcid, 0};
	char	   *text = GetSecurityLabel(&object, DP_LABEL_PROVIDER);

	return text !=NULL && is_allowed_label(text);
}

List *
dp_added_functions(void)
{
	List	   *result = NIL;
	Relation	rel = table_open(SecLabelRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		FormData_pg_seclabel *form = (FormData_pg_seclabel *) GETSTRUCT(tuple);
		bool		isnull;

		if (form->classoid == ProcedureRelationId &&
			strcmp(TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_provider,
													RelationGetDescr(rel), &isnull)),
				   DP_LABEL_PROVIDER) == 0)
			result = lappend_oid(result, form->objoid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}
