/*-------------------------------------------------------------------------
 *
 * former.c
 *	  Functions that only former versions of the extension have in SQL.
 *
 * Until ALTER EXTENSION UPDATE, and while a dump of such a version is restored,
 * declarations name them, so the library must have them.  Each says what is to
 * be done.
 *
 * 0.1.0 had a state's groups as values of a type, bound_entry, and functions of these.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "base/extension.h"

#define FORMER_FUNCTION(name) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	dp_check_version(); \
	elog(ERROR, "a function of a former version of dp_cdp was called"); \
}

FORMER_FUNCTION(dp_bound_entries)
FORMER_FUNCTION(dp_entry_key)
FORMER_FUNCTION(dp_entry_value)
FORMER_FUNCTION(dp_entry_code_array)
FORMER_FUNCTION(dp_entry_sum)
FORMER_FUNCTION(dp_entry_histogram)
FORMER_FUNCTION(dp_entry_distinct)
