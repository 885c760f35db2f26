/*-------------------------------------------------------------------------
 *
 * sql.h
 *	  What the SQL functions of the calculators share.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SQL_H
#define DP_SQL_H

#include "fmgr.h"

#include "calc/calculators.h"

/* Refuses (ZC004) a value that is not in range; name is the argument's. */
extern void dp_calc_check(double value, DpRange range, const char *name);

/* Returns the float8 argument argno, checked in the same way; 0 for -0. */
extern double dp_calc_number(FunctionCallInfo fcinfo, int argno, DpRange range, const char *name);

/* Raises ZC004: the argument bound has a value that is not among those listed. */
extern void dp_calc_no_bound(const char *valid) __attribute__((noreturn));

/* Tells whether the text is this name. */
extern bool dp_calc_text_is(const text *value, const char *name);

/* Returns result, which is a number and not NaN: that would be a defect of math/ or calc/. */
extern double dp_calc_result(double result);

/* Returns a pair as the composite type that the SQL function returns. */
extern Datum dp_calc_pair(FunctionCallInfo fcinfo, double first, double second);

#endif							/* DP_SQL_H */
