/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  Settings under the prefix dp_cdp.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_SETTINGS_H
#define DP_SETTINGS_H

#include "utils/numeric.h"

/* the largest max_groups and max_rows */
#define DP_MAX_CONTRIBUTION 1000000

/* 0 means: the dataset's default */
extern double dp_guc_rho;
extern double dp_guc_delta;
extern int	dp_guc_max_groups;
extern int	dp_guc_max_rows;

/* wanted half of a 95 % interval; 0: none.  Relative: a share of the answer */
extern double dp_guc_target;
extern bool dp_guc_target_is_relative;

/* a superuser's: count and sum are taken for dp_count and dp_sum */
extern bool dp_guc_standard_aggregates;

/* from _PG_init */
extern void dp_guc_init(void);

/*
 * A rho (delta) in accounting units, through its shortest decimal form, so
 * that 0.01 is exactly 1e10 units; what lies between two units is rounded
 * up.  ZC004, naming the parameter, when not finite, not positive (delta: not
 * in 0 .. 1) or too large.
 */
extern int64 dp_rho_units(double rho, const char *parameter);
extern int64 dp_delta_units(double delta, const char *parameter);

/* the same for limits of what may be spent: rounded down */
extern int64 dp_rho_limit_units(double rho, const char *parameter);
extern int64 dp_delta_limit_units(double delta, const char *parameter);

/* value * 10^scale, rounded up or down; the result must fit */
extern int64 dp_numeric_units(Numeric value, int scale, bool up);

/* units / 10^scale, exact, without trailing zeros; units >= 0 */
extern Numeric dp_numeric_from_units(int64 units, int scale);

/* the same of a rho, as palloc'd text */
extern char *dp_rho_text(int64 units);

#endif							/* DP_SETTINGS_H */
