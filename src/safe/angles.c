/*-------------------------------------------------------------------------
 *
 * angles.c
 *	  Safe variants of trigonometric functions, and of inet's set_masklen.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error: where there is no angle, where an
 * angle is infinite, and where a result is too large or too small.
 *
 * All are strict, and harmless to call by hand.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/socket.h>

#include "base/compat.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inet.h"

#define DP_RADIANS_PER_DEGREE 0.0174532925199432957692

#define DP_TRY_ANGLE(name, builtin, fails) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	float8		arg = PG_GETARG_FLOAT8(0); \
	if (fails) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

/* they raise no error for NaN, and a comparison with it is false */
DP_TRY_ANGLE(sin, dsin, isinf(arg));
DP_TRY_ANGLE(cos, dcos, isinf(arg));
DP_TRY_ANGLE(tan, dtan, isinf(arg));
DP_TRY_ANGLE(cot, dcot, isinf(arg));
DP_TRY_ANGLE(sind, dsind, isinf(arg));
DP_TRY_ANGLE(cosd, dcosd, isinf(arg));
DP_TRY_ANGLE(tand, dtand, isinf(arg));
DP_TRY_ANGLE(cotd, dcotd, isinf(arg));
DP_TRY_ANGLE(asin, dasin, arg < -1 || arg > 1);
DP_TRY_ANGLE(acos, dacos, arg < -1 || arg > 1);
DP_TRY_ANGLE(asind, dasind, arg < -1 || arg > 1);
DP_TRY_ANGLE(acosd, dacosd, arg < -1 || arg > 1);
DP_TRY_ANGLE(acosh, dacosh, arg < 1);
DP_TRY_ANGLE(atanh, datanh, arg < -1 || arg > 1);
DP_TRY_ANGLE(radians, radians, arg != 0 && arg * DP_RADIANS_PER_DEGREE == 0);
DP_TRY_ANGLE(degrees, degrees, !isinf(arg) && isinf(arg / DP_RADIANS_PER_DEGREE));

#define DP_TRY_MASKLEN(type, builtin) \
PG_FUNCTION_INFO_V1(dp_try_set_masklen_##type); \
Datum \
dp_try_set_masklen_##type(PG_FUNCTION_ARGS) \
{ \
	int			bits = PG_GETARG_INT32(1); \
	if (bits < -1 || bits > ip_maxbits(PG_GETARG_INET_PP(0))) \
		PG_RETURN_NULL(); \
	return builtin(fcinfo); \
} \
StaticAssertDecl(true, "")

DP_TRY_MASKLEN(inet, inet_set_masklen);
DP_TRY_MASKLEN(cidr, cidr_set_masklen);
