/*-------------------------------------------------------------------------
 *
 * errors.h
 *	  SQLSTATEs of dp_cdp and the manners of its messages.
 *
 * Class ZC belongs to dp_cdp.  The remedy goes into the primary message,
 * because several clients show nothing else; the detail repeats nothing of it.
 * No message of any kind ever contains data.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ERRORS_H
#define DP_ERRORS_H

#include "utils/elog.h"

/* a budget does not hold what was asked */
#define ERRCODE_DP_BUDGET_EXHAUSTED MAKE_SQLSTATE('Z', 'C', '0', '0', '1')
/* the query is not of a form that can be released */
#define ERRCODE_DP_NOT_RELEASABLE	MAKE_SQLSTATE('Z', 'C', '0', '0', '2')
/* no debit can be made at the moment */
#define ERRCODE_DP_LEDGER_UNAVAILABLE MAKE_SQLSTATE('Z', 'C', '0', '0', '3')
/* a privacy parameter or policy is missing or invalid */
#define ERRCODE_DP_BAD_PARAMETER	MAKE_SQLSTATE('Z', 'C', '0', '0', '4')

/* Raises an error of one of them, such as BAD_PARAMETER; the other arguments are those of ereport. */
#define dp_raise(code, ...) ereport(ERROR, (errcode(ERRCODE_DP_##code), __VA_ARGS__))

#endif							/* DP_ERRORS_H */
