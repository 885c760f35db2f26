/*-------------------------------------------------------------------------
 *
 * sql_list.c
 *	  SQL functions of the calculators that take lists (float8[]).
 *
 * Invariants: a list has one dimension, at least one element and no NULL, and
 * each element is checked against the range of its argument; lists that
 * belong together have the same length.  No result is NaN.  The functions are
 * strict.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "base/errors.h"
#include "calc/compose.h"
#include "calc/divergence.h"
#include "calc/optimal.h"
#include "calc/planning.h"
#include "calc/rdp.h"
#include "calc/sql.h"

typedef struct List8
{
	const double *values;
	int			n;
	const char *name;
} List8;

/* Returns argument argno, checked. */
static List8
list_argument(FunctionCallInfo fcinfo, int argno, DpRange range, const char *name)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argno);
	List8		list;
	double	   *values;
	int			i;

	if (ARR_NDIM(array) != 1 || ARR_HASNULL(array))
	{
		/* a bitmap of NULLs may be there without one */
		if (ARR_NDIM(array) != 1 || array_contains_nulls(array))
			dp_raise(BAD_PARAMETER,
					 errmsg("%s must be an array of one dimension with at least one element and no NULL", name));
	}
	list.n = ARR_DIMS(array)[0];
	list.name = name;
	list.values = values = palloc(sizeof(double) * list.n);
	for (i = 0; i < list.n; i++)
	{
		/* 0 for -0 */
		values[i] = ((const double *) ARR_DATA_PTR(array))[i] + 0.0;
		if (!dp_in_range(values[i], range))
			dp_raise(BAD_PARAMETER, errmsg("each element of %s %s", name, dp_range_text(range)));
	}
	return list;
}

static void
require_same_length(const List8 *a, const List8 *b)
{
	if (a->n != b->n)
		dp_raise(BAD_PARAMETER, errmsg("%s and %s must have the same number of elements", a->name, b->name));
}

/* ------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_compose_zcdp);
PG_FUNCTION_INFO_V1(dp_calc_compose_mcdp);
PG_FUNCTION_INFO_V1(dp_calc_compose_gdp);
PG_FUNCTION_INFO_V1(dp_calc_compose_rdp);
PG_FUNCTION_INFO_V1(dp_calc_compose_delta_list);

/* compose_zcdp(rho) or (rho, xi), arrays. */
Datum
dp_calc_compose_zcdp(PG_FUNCTION_ARGS)
{
	List8		rho = list_argument(fcinfo, 0, DP_RANGE_NONNEGATIVE, "rho");
	List8		xi = {NULL};
	double		sum_rho;
	double		sum_xi;

	if (PG_NARGS() > 1)
	{
		xi = list_argument(fcinfo, 1, DP_RANGE_NONNEGATIVE, "xi");
		require_same_length(&rho, &xi);
	}
	dp_compose_zcdp(rho.values, xi.values, rho.n, &sum_rho, &sum_xi);
	PG_RETURN_DATUM(dp_calc_pair(fcinfo, sum_rho, sum_xi));
}

Datum
dp_calc_compose_mcdp(PG_FUNCTION_ARGS)
{
	List8		mu = list_argument(fcinfo, 0, DP_RANGE_NONNEGATIVE, "mu");
	List8		tau = list_argument(fcinfo, 1, DP_RANGE_NONNEGATIVE, "tau");
	double		sum_mu;
	double		norm_tau;

	require_same_length(&mu, &tau);
	dp_compose_mcdp(mu.values, tau.values, mu.n, &sum_mu, &norm_tau);
	PG_RETURN_DATUM(dp_calc_pair(fcinfo, sum_mu, norm_tau));
}

Datum
dp_calc_compose_gdp(PG_FUNCTION_ARGS)
{
	List8		mu = list_argument(fcinfo, 0, DP_RANGE_NONNEGATIVE, "mu");

	PG_RETURN_FLOAT8(dp_calc_result(dp_compose_gdp(mu.values, mu.n)));
}

Datum
dp_calc_compose_rdp(PG_FUNCTION_ARGS)
{
	List8		epsilon = list_argument(fcinfo, 1, DP_RANGE_NONNEGATIVE, "epsilon");

	(void) dp_calc_number(fcinfo, 0, DP_RANGE_ORDER, "alpha");
	PG_RETURN_FLOAT8(dp_calc_result(dp_compose_rdp(epsilon.values, epsilon.n)));
}

Datum
dp_calc_compose_delta_list(PG_FUNCTION_ARGS)
{
	List8		delta = list_argument(fcinfo, 0, DP_RANGE_PROBABILITY, "delta");

	PG_RETURN_FLOAT8(dp_calc_result(dp_compose_delta(delta.values, delta.n)));
}

/* ------------------------------------------------------------------------
 * Renyi DP at several orders
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_rdp_epsilon_list);
PG_FUNCTION_INFO_V1(dp_calc_rdp_delta_list);

/* Converts a curve by the bound that the last argument names, to what target is not: by the best of its orders. */
static Datum
convert_curve(FunctionCallInfo fcinfo, double target, dp_rdp_bound tight, dp_rdp_bound improved, dp_rdp_bound simple)
{
	List8		alpha = list_argument(fcinfo, 0, DP_RANGE_ORDER, "alpha");
	List8		epsilon = list_argument(fcinfo, 1, DP_RANGE_NONNEGATIVE, "epsilon");
	const text *name = PG_GETARG_TEXT_PP(3);
	dp_rdp_bound bound = tight;
	double		best = HUGE_VAL;

	if (dp_calc_text_is(name, "improved"))
		bound = improved;
	else if (dp_calc_text_is(name, "simple"))
		bound = simple;
	else if (!dp_calc_text_is(name, "tight"))
		dp_calc_no_bound("\"tight\", \"improved\", \"simple\"");
	require_same_length(&alpha, &epsilon);
	for (int i = 0; i < alpha.n; i++)
	{
		/* a tight one takes up to a millisecond */
		CHECK_FOR_INTERRUPTS();
		best = fmin(best, bound(alpha.values[i], epsilon.values[i], target));
	}
	PG_RETURN_FLOAT8(dp_calc_result(best));
}

Datum
dp_calc_rdp_epsilon_list(PG_FUNCTION_ARGS)
{
	return convert_curve(fcinfo, dp_calc_number(fcinfo, 2, DP_RANGE_PROBABILITY, "delta"),
						 dp_rdp_epsilon, dp_rdp_epsilon_improved, dp_rdp_epsilon_simple);
}

Datum
dp_calc_rdp_delta_list(PG_FUNCTION_ARGS)
{
	return convert_curve(fcinfo, dp_calc_number(fcinfo, 2, DP_RANGE_NONNEGATIVE, "target_epsilon"),
						 dp_rdp_delta, dp_rdp_delta_improved, dp_rdp_delta_simple);
}

/* ------------------------------------------------------------------------
 * Two distributions
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_kl_divergence);
PG_FUNCTION_INFO_V1(dp_calc_max_divergence);
PG_FUNCTION_INFO_V1(dp_calc_renyi_divergence);
PG_FUNCTION_INFO_V1(dp_calc_privacy_loss);

/* Returns argument argno, the probabilities of a distribution. */
static List8
distribution(FunctionCallInfo fcinfo, int argno, const char *name)
{
	List8		list = list_argument(fcinfo, argno, DP_RANGE_PROBABILITY, name);

	if (!dp_is_distribution(list.values, list.n))
		dp_raise(BAD_PARAMETER, errmsg("the elements of %s must add up to 1: divide each of them by their sum", name));
	return list;
}

/* Returns the distributions p and q, the first of which is argument argno. */
static List8
two_distributions(FunctionCallInfo fcinfo, int argno, List8 *q)
{
	List8		p = distribution(fcinfo, argno, "p");

	*q = distribution(fcinfo, argno + 1, "q");
	require_same_length(&p, q);
	return p;
}

Datum
dp_calc_kl_divergence(PG_FUNCTION_ARGS)
{
	List8		q;
	List8		p = two_distributions(fcinfo, 0, &q);

	PG_RETURN_FLOAT8(dp_calc_result(dp_kl_divergence(p.values, q.values, p.n)));
}

Datum
dp_calc_max_divergence(PG_FUNCTION_ARGS)
{
	List8		q;
	List8		p = two_distributions(fcinfo, 0, &q);

	PG_RETURN_FLOAT8(dp_calc_result(dp_max_divergence(p.values, q.values, p.n)));
}

Datum
dp_calc_renyi_divergence(PG_FUNCTION_ARGS)
{
	double		alpha = dp_calc_number(fcinfo, 0, DP_RANGE_ORDER, "alpha");
	List8		q;
	List8		p = two_distributions(fcinfo, 1, &q);

	PG_RETURN_FLOAT8(dp_calc_result(dp_renyi_divergence(alpha, p.values, q.values, p.n)));
}

Datum
dp_calc_privacy_loss(PG_FUNCTION_ARGS)
{
	List8		q;
	List8		p = two_distributions(fcinfo, 0, &q);
	double		mu;
	double		tau;

	if (p.n > DP_MOST_OUTCOMES)
		dp_raise(BAD_PARAMETER,
				 errmsg("p must have at most %d elements here: join outcomes of nearly one ratio", DP_MOST_OUTCOMES));
	dp_privacy_loss(p.values, q.values, p.n, &mu, &tau);
	PG_RETURN_DATUM(dp_calc_pair(fcinfo, mu, tau));
}

/* ------------------------------------------------------------------------
 * Composition of (epsilon, delta)-DP mechanisms that differ
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_compose_advanced_list);
PG_FUNCTION_INFO_V1(dp_calc_compose_advanced_delta_list);
PG_FUNCTION_INFO_V1(dp_calc_compose_optimal_delta_list);
PG_FUNCTION_INFO_V1(dp_calc_compose_optimal_epsilon_list);

Datum
dp_calc_compose_advanced_list(PG_FUNCTION_ARGS)
{
	List8		epsilon = list_argument(fcinfo, 0, DP_RANGE_NONNEGATIVE, "epsilon");
	double		slack = dp_calc_number(fcinfo, 1, DP_RANGE_PROBABILITY, "delta_slack");

	PG_RETURN_FLOAT8(dp_calc_result(dp_compose_advanced_list(epsilon.values, epsilon.n, slack)));
}

Datum
dp_calc_compose_advanced_delta_list(PG_FUNCTION_ARGS)
{
	List8		delta = list_argument(fcinfo, 0, DP_RANGE_PROBABILITY, "delta");
	double		slack = dp_calc_number(fcinfo, 1, DP_RANGE_PROBABILITY, "delta_slack");

	PG_RETURN_FLOAT8(dp_calc_result(dp_compose_advanced_delta_list(delta.values, delta.n, slack)));
}

static Datum
compose_optimal(FunctionCallInfo fcinfo, DpRange range, const char *name,
				bool (*compose) (const double *, const double *, int, double, void *, double *))
{
	List8		epsilon = list_argument(fcinfo, 0, DP_RANGE_NONNEGATIVE, "epsilon");
	List8		delta = list_argument(fcinfo, 1, DP_RANGE_PROBABILITY, "delta");
	double global = dp_calc_number(fcinfo, 2, range, name);
	size_t		size;
	double		result;

	require_same_length(&epsilon, &delta);
	size = dp_compose_optimal_scratch(epsilon.values, epsilon.n);
	if (size == SIZE_MAX ||
		!compose(epsilon.values, delta.values, epsilon.n, global, size > 0 ? palloc(size) : NULL, &result))
		dp_raise(BAD_PARAMETER,
				 errmsg("optimal composition takes up to 36 different elements of epsilon: round them up to fewer, use compose_advanced, or convert to zCDP"));
	PG_RETURN_FLOAT8(dp_calc_result(result));
}

Datum
dp_calc_compose_optimal_delta_list(PG_FUNCTION_ARGS)
{
	return compose_optimal(fcinfo, DP_RANGE_NONNEGATIVE, "epsilon_g", dp_compose_optimal_delta_list);
}

Datum
dp_calc_compose_optimal_epsilon_list(PG_FUNCTION_ARGS)
{
	return compose_optimal(fcinfo, DP_RANGE_PROBABILITY, "delta_g", dp_compose_optimal_epsilon_list);
}

/* ------------------------------------------------------------------------
 * Planning
 * ------------------------------------------------------------------------
 */

PG_FUNCTION_INFO_V1(dp_calc_split_budget_weighted);

Datum
dp_calc_split_budget_weighted(PG_FUNCTION_ARGS)
{
	double		rho = dp_calc_number(fcinfo, 0, DP_RANGE_NONNEGATIVE, "rho");
	List8		weights = list_argument(fcinfo, 1, DP_RANGE_NONNEGATIVE, "weights");
	double	   *parts = palloc(sizeof(double) * weights.n);
	Datum	   *elements = palloc(sizeof(Datum) * weights.n);
	int			i;

	if (!dp_split_weighted(rho, weights.values, weights.n, parts))
		dp_raise(BAD_PARAMETER,
				 errmsg("weights must have a positive sum, and rho must be large enough for a part of 1e-12"),
				 errdetail("Nothing less can be charged."));
	for (i = 0; i < weights.n; i++)
		elements[i] = Float8GetDatum(dp_calc_result(parts[i]));
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, weights.n, FLOAT8OID,
										  sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
