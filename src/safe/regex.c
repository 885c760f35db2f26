/*-------------------------------------------------------------------------
 *
 * regex.c
 *	  Tests of regular expressions on raw rows.
 *
 * Invariant: for every argument the result is that of the built-in operator,
 * or NULL where that would raise an error, where the collation is
 * nondeterministic, where the expression has a back reference or looks ahead
 * or behind, where it is longer than MAX_REGEX, or where the string is longer than DP_MAX_READ.
 *
 * The matcher is PostgreSQL's own.  Asked for a match and not for its place, it
 * reads the string once, as an automaton, in memory that the expression alone
 * decides.  A back reference makes it try one place after the other, and to look
 * ahead makes it read from each character on: such expressions are not taken.
 *
 * All are strict, and harmless to call by hand: they take time in the order
 * of the product of both lengths, look for interrupts, and constant stack.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "regex/regex.h"

#include "base/compat.h"
#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "safe/constants.h"
#include "safe/safe.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* The longest expression, in bytes: to compile a long one takes minutes. */
#define MAX_REGEX 4096

/* a regular expression as a call compiled it last; NULL: it is none that can be taken */
typedef struct DpRegex
{
	MemoryContext context;		/* of what follows */
	text	   *source;
	Oid			collation;
	regex_t    *compiled;
} DpRegex;

/* Compiles; returns what is wrong, or NULL. */
static const char *
compile(regex_t *regex, const char *source, int len, int flags, Oid collation)
{
	pg_wchar	wide[MAX_REGEX + 1];
	char		message[100];
	int			code;

	if (len > MAX_REGEX)
		return psprintf("write a regular expression of at most %d bytes", MAX_REGEX);
	code = pg_regcomp(regex, wide, pg_mb2wchar_with_len(source, wide, len), REG_ADVANCED | REG_NOSUB | flags, collation);
	if (code != REG_OKAY)
	{
		pg_regerror(code, regex, message, sizeof(message));
		return psprintf("correct the regular expression: %s", message);
	}
	if ((regex->re_info & (REG_UBACKREF | REG_ULOOKAROUND)) == 0)
		return NULL;
	pg_regfree(regex);
	return "write the regular expression without back references (\\1), (?=, (?!, (?<= and (?<!";
}

const char *
dp_regex_problem(const char *source, int len)
{
	regex_t		regex;
	const char *problem = compile(&regex, source, len, 0, C_COLLATION_OID);

	if (problem == NULL)
		pg_regfree(&regex);
	return problem;
}

static void
free_compiled(void *regex)
{
	pg_regfree(regex);
}

/* Returns what the second argument of a call means; it is mostly that of the call before. */
static regex_t *
compiled_argument(FunctionCallInfo fcinfo, int flags)
{
	DpRegex    *last = fcinfo->flinfo->fn_extra;
	text	   *source = PG_GETARG_TEXT_PP(1);
	int			len = VARSIZE_ANY_EXHDR(source);
	MemoryContext caller;
	regex_t    *regex;

	if (last == NULL)
	{
		last = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(DpRegex));
		last->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "dp_cdp regular expression", ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = last;
	}
	else if (last->source != NULL && last->collation == PG_GET_COLLATION() && VARSIZE_ANY_EXHDR(last->source) == len &&
			 memcmp(VARDATA_ANY(last->source), VARDATA_ANY(source), len) == 0)
		return last->compiled;

	last->source = NULL;
	MemoryContextReset(last->context);
	caller = MemoryContextSwitchTo(last->context);
	last->collation = PG_GET_COLLATION();
	last->compiled = NULL;
	regex = palloc0(sizeof(regex_t));
	if (compile(regex, VARDATA_ANY(source), len, flags, last->collation) == NULL)
	{
		/* version 15 has it in memory of malloc() */
		MemoryContextCallback *callback = palloc0(sizeof(MemoryContextCallback));

		callback->func = free_compiled;
		callback->arg = regex;
		MemoryContextRegisterResetCallback(last->context, callback);
		last->compiled = regex;
	}
	last->source = cstring_to_text_with_len(VARDATA_ANY(source), len);
	MemoryContextSwitchTo(caller);
	return last->compiled;
}

static Datum
test(FunctionCallInfo fcinfo, int flags)
{
	regex_t    *regex;
	text	   *arg;
	pg_wchar   *wide;
	int			code;

	if (dp_value_bytes(PG_GETARG_DATUM(0)) > DP_MAX_READ || dp_value_bytes(PG_GETARG_DATUM(1)) > MAX_REGEX ||
		!dp_collation_has_like(PG_GET_COLLATION()))
		PG_RETURN_NULL();
	regex = compiled_argument(fcinfo, flags);
	if (regex == NULL)
		PG_RETURN_NULL();
	arg = PG_GETARG_TEXT_PP(0);
	wide = palloc((VARSIZE_ANY_EXHDR(arg) + 1) * sizeof(pg_wchar));
	code = pg_regexec(regex, wide, pg_mb2wchar_with_len(VARDATA_ANY(arg), wide, VARSIZE_ANY_EXHDR(arg)), 0, NULL, 0, NULL, 0);
	if (code != REG_OKAY && code != REG_NOMATCH)
	{
		/* a cancel in version 15, or else there is no memory */
		CHECK_FOR_INTERRUPTS();
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	}
	pfree(wide);
	PG_FREE_IF_COPY(arg, 0);
	PG_RETURN_BOOL(code == REG_OKAY);
}

PG_FUNCTION_INFO_V1(dp_try_matches);
Datum
dp_try_matches(PG_FUNCTION_ARGS)
{
	return test(fcinfo, 0);
}

PG_FUNCTION_INFO_V1(dp_try_imatches);
Datum
dp_try_imatches(PG_FUNCTION_ARGS)
{
	return test(fcinfo, REG_ICASE);
}
