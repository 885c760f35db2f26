/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  Settings under the prefix dp_cdp, and exact units for parameters.
 *
 * Invariants:
 *	- a setting here that any role may set makes answers noisier or dearer,
 *	  never less private.  There is no setting that turns noise or
 *	  accounting off, and none may be added, not even for tests.
 *	- a double becomes accounting units through its shortest decimal form, so
 *	  that what the user typed is what is charged; 0.01 is exactly 1e10 units
 *	  although no double equals 0.01.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/settings.h"
#include "math/wide.h"

/* the most that can be asked of one release, in whole rho */
#define MAX_RHO			((double) (DP_RHO_MAX / DP_RHO_ONE))

double		dp_guc_rho = 0.0;
double		dp_guc_delta = 0.0;
int			dp_guc_max_groups = 0;
int			dp_guc_max_rows = 0;
bool		dp_guc_standard_aggregates = true;
double		dp_guc_target = 0;
bool		dp_guc_target_is_relative = false;
static char *target_text = NULL;

/* 0, the dataset's default, is what nobody asked for: only RESET gives it */
static bool
check_amount(double value, GucSource source, double least, double most, const char *unit)
{
	if (value == 0.0 && source == PGC_S_DEFAULT)
		return true;
	if (value >= least && value <= most)
		return true;
	GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
	GUC_check_errmsg("%s must be between %g and %g; RESET it for the dataset's default", unit, least, most);
	return false;
}

static bool
check_rho_setting(double *newval, void **extra, GucSource source)
{
	return check_amount(*newval, source, 1.0 / DP_RHO_ONE, MAX_RHO, "dp_cdp.rho");
}

static bool
check_delta_setting(double *newval, void **extra, GucSource source)
{
	return check_amount(*newval, source, 1.0 / DP_DELTA_ONE, 0.5, "dp_cdp.delta");
}

/* what a check hook hands to its assign hook */
static bool
keep_extra(const void *value, size_t size, void **extra)
{
	*extra = DP_GUC_MALLOC(size);
	if (*extra == NULL)
		return false;
	memcpy(*extra, value, size);
	return true;
}

/* a positive number, or one and a percent sign; empty: none */
static bool
check_target_setting(char **newval, void **extra, GucSource source)
{
	char	   *end;
	double		value;
	double		parsed[2] = {0, 0};

	if (**newval == '\0')
		return keep_extra(parsed, sizeof(parsed), extra);
	errno = 0;
	value = strtod(*newval, &end);
	while (*end == ' ')
		end++;
	if (*end == '%')
	{
		parsed[1] = 1;
		value /= 100;
		end++;
	}
	while (*end == ' ')
		end++;
	if (end == *newval || *end != '\0' || errno == ERANGE || !(value >= 1e-300 && value <= 1e300))
	{
		GUC_check_errcode(ERRCODE_DP_BAD_PARAMETER);
		GUC_check_errmsg("dp_cdp.target_error must be a number greater than 0, such as 25, or a share of the answer, such as 5%%");
		return false;
	}
	parsed[0] = value;
	return keep_extra(parsed, sizeof(parsed), extra);
}

static void
assign_target_setting(const char *newval, void *extra)
{
	dp_guc_target = ((double *) extra)[0];
	dp_guc_target_is_relative = ((double *) extra)[1] != 0;
}

void
dp_guc_init(void)
{
	DefineCustomRealVariable("dp_cdp.rho",
							 "Privacy cost (rho of zCDP) of each aggregate column of a query.",
							 "RESET takes the default of the dataset. More rho means less noise and a higher charge.",
							 &dp_guc_rho,
							 0.0, -INFINITY, INFINITY,
							 PGC_USERSET, 0,
							 check_rho_setting, NULL, NULL);

	DefineCustomRealVariable("dp_cdp.delta",
							 "Delta spent by each private selection of group keys.",
							 "RESET takes the default of the dataset. It is charged only when a query groups by a column without declared keys.",
							 &dp_guc_delta,
							 0.0, -INFINITY, INFINITY,
							 PGC_USERSET, 0,
							 check_delta_setting, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.max_groups",
							"Number of groups of a query that one privacy unit may contribute to.",
							"0 takes the default of the dataset. More groups lose fewer rows and need more noise.",
							&dp_guc_max_groups,
							0, 0, DP_MAX_CONTRIBUTION,
							PGC_USERSET, 0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("dp_cdp.max_rows",
							"Number of rows that one privacy unit may contribute to a count within a group.",
							"0 takes the default of the dataset. More rows lose fewer rows and need more noise.",
							&dp_guc_max_rows,
							0, 0, DP_MAX_CONTRIBUTION,
							PGC_USERSET, 0,
							NULL, NULL, NULL);

	DefineCustomStringVariable("dp_cdp.target_error",
							   "Wanted accuracy of answers: half the width of a 95 % interval, absolute (25) or relative (5%).",
							   "The smallest rho that meets it is charged, at most the dataset's max_rho. Relative targets, and averages and quantiles, need a first look that is charged, too.",
							   &target_text,
							   "",
							   PGC_USERSET, 0,
							   check_target_setting, assign_target_setting, NULL);

	DefineCustomBoolVariable("dp_cdp.standard_aggregates",
							 "Takes count and sum over protected tables for dp_count and dp_sum.",
							 "Only for roles that may not read the table; others get what they ask for.",
							 &dp_guc_standard_aggregates,
							 true,
							 PGC_SUSET, 0,
							 NULL, NULL, NULL);

	dp_reserve_setting_prefix("dp_cdp");
}

/* ------------------------------------------------------------------------
 * Units
 * ------------------------------------------------------------------------
 */

static Numeric
numeric_from_cstring(const char *s)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in,
											   CStringGetDatum(s),
											   ObjectIdGetDatum(InvalidOid),
											   Int32GetDatum(-1)));
}

/*
 * value * 10^scale as an integer, rounded up or down.  The caller has made
 * sure that it fits.
 */
int64
dp_numeric_units(Numeric value, int scale, bool up)
{
	char		one[32];
	Datum		d;

	snprintf(one, sizeof(one), "1e%d", scale);
	d = DirectFunctionCall2(numeric_mul, NumericGetDatum(value),
							NumericGetDatum(numeric_from_cstring(one)));
	d = DirectFunctionCall1(up ? numeric_ceil : numeric_floor, d);
	return DatumGetInt64(DirectFunctionCall1(numeric_int8, d));
}

/* The inverse: units / 10^scale, exactly, without trailing zeros. */
Numeric
dp_numeric_from_units(int64 units, int scale)
{
	char		buf[64];
	int64		one = 1;

	for (int i = 0; i < scale; i++)
		one *= 10;
	Assert(units >= 0);
	snprintf(buf, sizeof(buf), INT64_FORMAT ".%0*lld",
			 units / one, scale, (long long) (units % one));
	return DatumGetNumeric(DirectFunctionCall1(numeric_trim_scale,
											   NumericGetDatum(numeric_from_cstring(buf))));
}

char *
dp_rho_text(int64 units)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out,
											   NumericGetDatum(dp_numeric_from_units(units, DP_RHO_SCALE))));
}

static int64
double_units(double value, int scale, bool up)
{
	char		buf[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(value, buf);
	return dp_numeric_units(numeric_from_cstring(buf), scale, up);
}

static void
check_rho(double rho, const char *parameter)
{
	if (isnan(rho) || isinf(rho) || rho <= 0.0 || rho > MAX_RHO)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s must be a number greater than 0 and at most %.0f",
						parameter, MAX_RHO)));
}

int64
dp_rho_units(double rho, const char *parameter)
{
	check_rho(rho, parameter);
	return double_units(rho, DP_RHO_SCALE, true);
}

/*
 * A rho that limits what may be spent: rounded down, because a limit must not
 * promise more than was written.
 */
int64
dp_rho_limit_units(double rho, const char *parameter)
{
	int64		units;

	check_rho(rho, parameter);
	units = double_units(rho, DP_RHO_SCALE, false);
	if (units == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s is below the smallest amount that can be accounted for: give at least 1e-%d",
						parameter, DP_RHO_SCALE)));
	return units;
}

static int64
delta_units(double delta, const char *parameter, bool up)
{
	if (isnan(delta) || delta < 0.0 || delta > 1.0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("%s must be a number between 0 and 1", parameter)));
	return double_units(delta, DP_DELTA_SCALE, up);
}

int64
dp_delta_units(double delta, const char *parameter)
{
	return delta_units(delta, parameter, true);
}

int64
dp_delta_limit_units(double delta, const char *parameter)
{
	return delta_units(delta, parameter, false);
}
