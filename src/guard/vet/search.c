/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Full-text search, in words of one function that does not fail.
 *
 *	 to_tsvector('english', x) @@ to_tsquery('english', 'crash')
 *	   try_text_search('pg_catalog.english', x, '''crash''')
 *
 * Configurations are PostgreSQL's own: parsers, templates and files of others
 * would run where rows are read.  Without one, it is the one that the session
 * has set when the query is planned.  A query is a constant, and is made here,
 * so that its dictionaries are read, and its errors raised, before any row is.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "miscadmin.h"
#include "tsearch/ts_cache.h"
#include "tsearch/ts_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* the evaluation of a query recurses */
#define MOST_NODES 200

/* functions without a configuration, and with one */
static const struct
{
	Oid			without;
	Oid			with;
}			configured[] = {
	{F_TO_TSVECTOR_TEXT, F_TO_TSVECTOR_REGCONFIG_TEXT}, {F_TO_TSQUERY_TEXT, F_TO_TSQUERY_REGCONFIG_TEXT},
	{F_PLAINTO_TSQUERY_TEXT, F_PLAINTO_TSQUERY_REGCONFIG_TEXT}, {F_PHRASETO_TSQUERY_TEXT, F_PHRASETO_TSQUERY_REGCONFIG_TEXT},
	{F_WEBSEARCH_TO_TSQUERY_TEXT, F_WEBSEARCH_TO_TSQUERY_REGCONFIG_TEXT}
};

static Node *
put_configuration(Node *node, int levels, void *context)
{
	FuncExpr   *call = (FuncExpr *) node;

	for (int i = 0; IsA(node, FuncExpr) && i < lengthof(configured); i++)
	{
		Oid			configuration;

		if (call->funcid != configured[i].without)
			continue;
		configuration = getTSCurrentConfig(true);
		call = copyObject(call);
		call->funcid = configured[i].with;
		call->args = lcons(makeConst(REGCONFIGOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(configuration), false, true), call->args);
		return (Node *) call;
	}
	return NULL;
}

/* Tells whether PostgreSQL can compute an expression at once: a configuration, or a query. */
static bool
is_constant(Node *node)
{
	List	   *args;
	Oid			funcid;

	check_stack_depth();
	if (IsA(node, Const))
		return true;
	args = dp_call_args(node, &funcid);
	if (!OidIsValid(funcid) || IsA(node, ScalarArrayOpExpr))
		return !dp_is_unfoldable(node, NULL);
	if (funcid >= FirstGenbkiObjectId || func_volatile(funcid) != PROVOLATILE_IMMUTABLE || get_func_retset(funcid))
		return false;
	foreach_ptr(Node, arg, args)
	{
		if (!is_constant(arg))
			return false;
	}
	return true;
}

static Node *
call_without(Oid funcid, Oid type, Node *text)
{
	return (Node *) makeFuncExpr(funcid, type, list_make1(text), InvalidOid, DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
}

/* Returns the name of a configuration that may be run; refuses others. */
static Const *
configuration_name(DpVet *vet, Node *node, Node *configuration)
{
	Oid			oid;
	char	   *name;

	if (!is_constant(configuration) || ((Const *) (configuration = (Node *) dp_fold(configuration)))->constisnull ||
		(oid = DatumGetObjectId(((Const *) configuration)->constvalue)) >= FirstNormalObjectId)
		dp_refuse(vet, node, "a full-text search by this configuration",
				  "name one of PostgreSQL's, as in to_tsvector('english', column) @@ to_tsquery('english', 'word')");
	name = DatumGetCString(DirectFunctionCall1(regconfigout, ObjectIdGetDatum(oid)));
	if (strchr(name, '.') == NULL)
		name = psprintf("pg_catalog.%s", name);
	return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(name), false, false);
}

/* Returns a query as text, NULL where it is that; refuses one that is not constant. */
static Const *
query_text(DpVet *vet, Node *node, Node *query)
{
	Const	   *value;

	if (!is_constant(query))
		dp_refuse(vet, node, "a full-text search for something that is not constant",
				  "write the words out, as in to_tsvector('english', column) @@ to_tsquery('english', 'word')");
	value = dp_fold(query);
	if (value->constisnull)
		return makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID);
	if (DatumGetTSQuery(value->constvalue)->size > MOST_NODES)
		dp_refuse(vet, node, psprintf("a full-text search for more than %d words", MOST_NODES / 2), "write fewer words");
	return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
					 CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(tsqueryout, value->constvalue))), false, false);
}

Node *
dp_in_words_of_search(DpVet *vet, Node *node, Oid funcid, List *args)
{
	Oid			types[] = {TEXTOID, TEXTOID, TEXTOID};
	Node	   *document;
	Node	   *query;
	FuncExpr   *call;

	if (funcid != F_TS_MATCH_VQ && funcid != F_TS_MATCH_QV && funcid != F_TS_MATCH_TT && funcid != F_TS_MATCH_TQ)
		return NULL;
	document = funcid == F_TS_MATCH_QV ? lsecond(args) : linitial(args);
	query = funcid == F_TS_MATCH_QV ? linitial(args) : lsecond(args);
	if (exprType(document) == TEXTOID)
		document = call_without(F_TO_TSVECTOR_TEXT, TSVECTOROID, document);
	if (exprType(query) == TEXTOID)
		query = call_without(F_PLAINTO_TSQUERY_TEXT, TSQUERYOID, query);
	document = dp_put(document, put_configuration, NULL);
	query = dp_put(query, put_configuration, NULL);
	call = (FuncExpr *) document;
	if (!IsA(call, FuncExpr) || call->funcid != F_TO_TSVECTOR_REGCONFIG_TEXT)
		dp_refuse(vet, node, "a full-text search of something else than a string",
				  "write to_tsvector('english', column) @@ to_tsquery('english', 'word')");
	call = dp_call(dp_own_function("try_text_search", lengthof(types), types, BOOLOID), BOOLOID,
				   list_make3(configuration_name(vet, node, linitial(call->args)), lsecond(call->args), query_text(vet, node, query)));
	call->location = exprLocation(node);
	return (Node *) call;
}
