/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Full-text search of a string: to_tsvector(configuration, string) @@ query.
 *
 * Invariants:
 * - The configuration is one of PostgreSQL's, whose parser and dictionaries
 *	 are C of the server and of who administers it (guard/vet/search.c).  A
 *	 session that plans the query has read their files by then.
 * - A string is so short that what its words are made into fits into a
 *	 tsvector, whose length is the only error that to_tsvector raises for a
 *	 value: words, parts of words and their places are at most 8 times as long.
 *	 Longer strings are NULL, as errors would be.
 * - A query has few nodes, so that its evaluation, which recurses, needs no
 *	 more stack than any string makes it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "safe/safe.h"
#include "tsearch/ts_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

/*
 * Bytes of a string.  A tsvector has a megabyte; the parser looks ahead at each
 * character of some strings, to the end, and for no interrupts: half a second.
 */
#define MAX_DOCUMENT (8 * 1024)

/* the configuration and the query, which are the same in all calls */
typedef struct Search
{
	Oid			configuration;
	Datum		query;
} Search;

PG_FUNCTION_INFO_V1(dp_try_text_search);
Datum
dp_try_text_search(PG_FUNCTION_ARGS)
{
	Search	   *search = fcinfo->flinfo->fn_extra;
	Datum		document;

	CHECK_FOR_INTERRUPTS();
	if (dp_value_bytes(PG_GETARG_DATUM(1)) > MAX_DOCUMENT)
		PG_RETURN_NULL();
	if (search == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		search = palloc(sizeof(Search));
		search->configuration = DatumGetObjectId(DirectFunctionCall1(regconfigin, CStringGetDatum(text_to_cstring(PG_GETARG_TEXT_PP(0)))));
		search->query = DirectFunctionCall1(tsqueryin, CStringGetDatum(text_to_cstring(PG_GETARG_TEXT_PP(2))));
		fcinfo->flinfo->fn_extra = search;
		MemoryContextSwitchTo(caller);
	}
	document = DirectFunctionCall2(to_tsvector_byid, ObjectIdGetDatum(search->configuration), PG_GETARG_DATUM(1));
	return DirectFunctionCall2(ts_match_vq, document, search->query);
}
