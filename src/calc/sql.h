/*-------------------------------------------------------------------------
 *
 * sql.h
 *	  What the SQL functions of the calculators share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CALC_H
#define DP_CALC_H

#include "fmgr.h"

#include "calc/calculators.h"

/* ZC004 unless value is in range; name is the argument's */
extern void dp_calc_check(double value, DpRange range, const char *name);

/* the float8 argument argno, checked in the same way; 0 for -0 */
extern double dp_calc_number(FunctionCallInfo fcinfo, int argno, DpRange range, const char *name);

/* ZC004: the argument bound has a value that is not among those listed */
extern void dp_calc_no_bound(const char *valid) __attribute__((noreturn));

/* is the text this name? */
extern bool dp_calc_text_is(const text *value, const char *name);

/* result is a number and not NaN, which would be a defect of math/ */
extern double dp_calc_result(double result);

/* a pair as the composite type that the SQL function returns */
extern Datum dp_calc_pair(FunctionCallInfo fcinfo, double first, double second);

#endif							/* DP_CALC_H */
