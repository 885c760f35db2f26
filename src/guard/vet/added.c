/*-------------------------------------------------------------------------
 *
 * added.c
 *	  Functions that a superuser has added to those that may run on raw rows:
 *	  dp_cdp.allow_function() and what is asked at each use.
 *
 * That such a function raises no error and has no effect that depends on a
 * row is its author's promise; it cannot be checked.  What is checked, when
 * it is added and again whenever a query is planned, is that nobody but a
 * superuser can have written it or change it, and that it is of a form to
 * which the promise can apply.
 *
 * Invariants:
 * - Arguments, defaults included, are vetted as those of any other call; only
 *	 the function itself is trusted.
 * - Whoever asks and whoever owns the table may both execute it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "base/compat.h"
#include "base/errors.h"
#include "catalog/dependency.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "policy/policy.h"
#include "release/release.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

static HeapTuple
get_function(Oid funcid)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("there is no function with OID %u: give a function's name and argument types", funcid)));
	return tuple;
}

static bool
is_procedural(Form_pg_proc proc)
{
	return proc->prolang != INTERNALlanguageId && proc->prolang != ClanguageId;
}

static const char *
problem_of(Form_pg_proc proc)
{
	int			i;

	/* labels of these are not dumped, and plans do not depend on them */
	if (proc->oid < FirstNormalObjectId)
		return "it is PostgreSQL's own: make a function that calls it";
	if (proc->prokind != PROKIND_FUNCTION)
		return "it is an aggregate, a window function or a procedure";
	if (!superuser_arg(proc->proowner))
		return "its owner, who can replace it, is no superuser";
	if (proc->prosecdef)
		return "it is SECURITY DEFINER";
	if (proc->proretset)
		return "it returns a set";
	if (proc->provolatile == PROVOLATILE_VOLATILE)
		return "it is VOLATILE: declare it IMMUTABLE or STABLE if that is true";
	if (is_procedural(proc) && proc->prolang != SQLlanguageId &&
		strcmp(get_language_name(proc->prolang, false), "plpgsql") != 0)
		return psprintf("its language is %s: write it in C, sql or plpgsql",
						get_language_name(proc->prolang, false));
	for (i = 0; i < proc->pronargs; i++)
	{
		if (!dp_type_is_allowed(proc->proargtypes.values[i]))
			return psprintf("it takes type %s: only built-in scalar types and enums can be read",
							format_type_be(proc->proargtypes.values[i]));
	}
	if (!dp_type_is_allowed(proc->prorettype))
		return psprintf("it returns type %s: only built-in scalar types and enums can be read",
						format_type_be(proc->prorettype));
	return NULL;
}

const char *
dp_added_problem(Oid funcid)
{
	HeapTuple	tuple = get_function(funcid);
	const char *problem = problem_of((Form_pg_proc) GETSTRUCT(tuple));

	ReleaseSysCache(tuple);
	return problem;
}

/* Returns why the function cannot be added; NULL if it can. */
static const char *
obstacle_of(Form_pg_proc proc)
{
	const char *problem = problem_of(proc);
	Oid			extension;

	if (problem)
		return problem;
	extension = getExtensionOfObject(ProcedureRelationId, proc->oid);
	if (OidIsValid(extension))
		return psprintf("it belongs to extension \"%s\", and a dump would not know: make a function that calls it",
						get_extension_name(extension));
	return NULL;
}

/* ------------------------------------------------------------------------
 * Use
 * ------------------------------------------------------------------------
 */

/* Requires EXECUTE of the owners of what is read, as whom the inner run calls the function. */
static void
check_owners(DpVet *vet, Node *node, Oid funcid)
{
	const DpAllowContext *cxt = vet->cxt;
	Index		rti = 0;

	if (cxt == NULL)
		return;
	if (OidIsValid(cxt->run_as))
	{
		if (!dp_may_execute(funcid, cxt->run_as))
			dp_refuse_function(vet, node, funcid,
							   psprintf("role \"%s\", as whom the protected tables are read, needs EXECUTE on it",
										GetUserNameFromId(cxt->run_as, false)));
		return;
	}
	foreach_ptr(RangeTblEntry, rte, cxt->rtable)
	{
		Oid			owner;

		rti++;
		if (rte->rtekind != RTE_RELATION || dp_policy_table(rte->relid) == NULL ||
			(cxt->rtindexes != NULL && !bms_is_member(rti, cxt->rtindexes)))
			continue;
		owner = dp_relation_owner(rte->relid);
		if (!dp_may_execute(funcid, owner))
			dp_refuse_function(vet, node, funcid,
							   psprintf("role \"%s\", as whom table \"%s\" is read, needs EXECUTE on it",
										GetUserNameFromId(owner, false), get_rel_name(rte->relid)));
	}
}

bool
dp_vet_added(DpVet *vet, FuncExpr *call, List **args)
{
	const char *problem;
	HeapTuple	tuple;
	List	   *vetted = NIL;

	if (call->funcid < FirstNormalObjectId || call->funcretset || call->funcvariadic)
		return false;
	if (!dp_function_is_added(call->funcid))
	{
		tuple = get_function(call->funcid);
		if (obstacle_of((Form_pg_proc) GETSTRUCT(tuple)) == NULL)
			dp_refuse_function(vet, (Node *) call, call->funcid,
							   "a superuser can add it with dp_cdp.allow_function");
		if (is_procedural((Form_pg_proc) GETSTRUCT(tuple)))
			dp_refuse_function(vet, (Node *) call, call->funcid,
							   "write its expression into the query, or make it a function LANGUAGE sql IMMUTABLE of one expression");
		ReleaseSysCache(tuple);
		return false;
	}
	problem = dp_added_problem(call->funcid);
	if (problem)
		dp_refuse_function(vet, (Node *) call, call->funcid,
						   psprintf("it was added with dp_cdp.allow_function, but %s", problem));
	if (!dp_may_execute(call->funcid, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(call->funcid));
	check_owners(vet, (Node *) call, call->funcid);

	/* in their places, with defaults: the planner would add these later */
	tuple = get_function(call->funcid);
	*args = expand_function_arguments(*args, false, call->funcresulttype, tuple);
	ReleaseSysCache(tuple);
	dp_vet_input_collation(vet, (Node *) call, *args, call->inputcollid);
	foreach_ptr(Node, arg, *args)
		vetted = lappend(vetted, dp_vet(arg, vet));
	*args = vetted;
	return true;
}

/* ------------------------------------------------------------------------
 * SQL functions
 * ------------------------------------------------------------------------
 */

static void
require_superuser(const char *function)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only superusers may call dp_cdp.%s", function)));
}

/* dp_cdp.allow_function(function regprocedure) */
PG_FUNCTION_INFO_V1(dp_allow_function);
Datum
dp_allow_function(PG_FUNCTION_ARGS)
{
	Oid			funcid = PG_GETARG_OID(0);
	HeapTuple	tuple;
	Form_pg_proc proc;
	const char *problem;

	require_superuser("allow_function");
	/* neither dropped nor altered meanwhile */
	LockDatabaseObject(ProcedureRelationId, funcid, 0, ShareUpdateExclusiveLock);
	tuple = get_function(funcid);
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (dp_allowed_function(funcid) != NULL)
		dp_raise(BAD_PARAMETER,
				 errmsg("function %s can be used on rows of protected tables already: see dp_cdp.allowed_functions()",
						format_procedure(funcid)));
	problem = obstacle_of(proc);
	if (problem)
		dp_raise(BAD_PARAMETER, errmsg("function %s cannot be allowed on rows of protected tables, because %s",
									   format_procedure(funcid), problem));
	if (is_procedural(proc))
		ereport(WARNING,
				(errmsg("function %s will run on raw rows with the rights of their table's owner: make sure that nothing of it depends on its arguments",
						format_procedure(funcid)),
				 errdetail("It must never raise an error or a message, nor have an effect, that depends on them. Every name in it must be qualified. "
						   "Nothing looks into a function of language %s, or into what it calls.",
						   get_language_name(proc->prolang, false))));
	ReleaseSysCache(tuple);
	dp_function_add(funcid, true);
	PG_RETURN_OID(funcid);
}

/* dp_cdp.disallow_function(function regprocedure) */
PG_FUNCTION_INFO_V1(dp_disallow_function);
Datum
dp_disallow_function(PG_FUNCTION_ARGS)
{
	Oid			funcid = PG_GETARG_OID(0);

	require_superuser("disallow_function");
	LockDatabaseObject(ProcedureRelationId, funcid, 0, ShareUpdateExclusiveLock);
	ReleaseSysCache(get_function(funcid));
	if (!dp_function_is_added(funcid))
		dp_raise(BAD_PARAMETER,
				 errmsg("function %s was not added with dp_cdp.allow_function", format_procedure(funcid)));
	dp_function_add(funcid, false);
	PG_RETURN_OID(funcid);
}
