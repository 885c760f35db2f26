/*
 * test_calc.c
 *	  Conversions, composition, groups and planning: known values, limits and
 *	  published numbers.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "calc/compose.h"
#include "calc/convert.h"
#include "calc/group.h"
#include "calc/planning.h"
#include "calc/rdp.h"
#include "calc/zcdp_bounds.h"
#include "unit.h"

#include "known_calc.h"

/* one of a pair */
static double first,
			second;

#define CASE(name, expression) \
	if (strcmp(function, name) == 0) \
		return expression
#define FIRST(call)		(call, first)
#define SECOND(call)	(call, second)

static double
call(const char *function, const double *a, int n)
{
	int64_t		k = n > 0 && fabs(a[n - 1]) < 0x1p62 ? (int64_t) a[n - 1] : 0;

	CASE("zcdp_epsilon_simple", dp_zcdp_epsilon_simple(a[0], a[1], a[2]));
	CASE("zcdp_epsilon_bs36", dp_zcdp_epsilon_bs36(a[0], a[1], a[2]));
	CASE("zcdp_epsilon_bs36_closed", dp_zcdp_epsilon_bs36_closed(a[0], a[1], a[2]));
	CASE("zcdp_epsilon_tight", dp_zcdp_epsilon_tight(a[0], a[1], a[2]));
	CASE("zcdp_delta_simple", dp_zcdp_delta_simple(a[0], a[1], a[2]));
	CASE("zcdp_delta_bs36", dp_zcdp_delta_bs36(a[0], a[1], a[2]));
	CASE("zcdp_delta_tight", dp_zcdp_delta_tight(a[0], a[1], a[2]));
	CASE("zcdp_rho_simple", dp_zcdp_rho_simple(a[0], a[1], a[2]));
	CASE("zcdp_rho_bs36", dp_zcdp_rho_bs36(a[0], a[1], a[2]));
	CASE("zcdp_rho_tight", dp_zcdp_rho_tight(a[0], a[1], a[2]));
	CASE("approx_zcdp_epsilon", dp_approx_zcdp_epsilon(a[0], a[1], a[2], a[3]));
	CASE("approx_zcdp_delta", dp_approx_zcdp_delta(a[0], a[1], a[2], a[3]));
	CASE("mcdp_to_zcdp.rho", FIRST(dp_mcdp_to_zcdp(a[0], a[1], &first, &second)));
	CASE("mcdp_to_zcdp.xi", SECOND(dp_mcdp_to_zcdp(a[0], a[1], &first, &second)));
	CASE("zcdp_to_mcdp.mu", FIRST(dp_zcdp_to_mcdp(a[0], a[1], &first, &second)));
	CASE("zcdp_to_mcdp.tau", SECOND(dp_zcdp_to_mcdp(a[0], a[1], &first, &second)));
	CASE("mcdp_delta", dp_mcdp_delta(a[0], a[1], a[2]));
	CASE("mcdp_epsilon", dp_mcdp_epsilon(a[0], a[1], a[2]));
	CASE("gaussian_mcdp.mu", FIRST(dp_gaussian_mcdp(a[0], a[1], &first, &second)));
	CASE("gaussian_mcdp.tau", SECOND(dp_gaussian_mcdp(a[0], a[1], &first, &second)));
	CASE("pure_to_zcdp", dp_pure_to_zcdp(a[0]));
	CASE("pure_to_zcdp_standard", dp_pure_to_zcdp_standard(a[0]));
	CASE("pure_to_mcdp.mu", FIRST(dp_pure_to_mcdp(a[0], &first, &second)));
	CASE("pure_to_mcdp_standard.mu", FIRST(dp_pure_to_mcdp_standard(a[0], &first, &second)));
	CASE("laplace_to_zcdp", dp_laplace_to_zcdp(a[0]));
	CASE("bounded_range_to_zcdp", dp_bounded_range_to_zcdp(a[0]));
	CASE("bounded_range_to_zcdp_kl", dp_bounded_range_to_zcdp_kl(a[0]));
	CASE("gaussian_rdp", dp_gaussian_rdp(a[0], a[1], a[2]));
	CASE("zcdp_to_rdp", dp_zcdp_to_rdp(a[0], a[1], a[2]));
	CASE("pure_to_rdp", dp_pure_to_rdp(a[0], a[1]));
	CASE("rdp_epsilon_improved", dp_rdp_epsilon_improved(a[0], a[1], a[2]));
	CASE("rdp_epsilon_simple", dp_rdp_epsilon_simple(a[0], a[1], a[2]));
	CASE("rdp_delta_improved", dp_rdp_delta_improved(a[0], a[1], a[2]));
	CASE("rdp_delta_simple", dp_rdp_delta_simple(a[0], a[1], a[2]));
	CASE("group_zcdp.rho", FIRST(dp_group_zcdp(a[0], (int64_t) a[1], a[2], &first, &second)));
	CASE("group_zcdp.xi", SECOND(dp_group_zcdp(a[0], (int64_t) a[1], a[2], &first, &second)));
	CASE("group_mcdp.mu", FIRST(dp_group_mcdp(a[0], a[1], k, &first, &second)));
	CASE("group_mcdp.tau", SECOND(dp_group_mcdp(a[0], a[1], k, &first, &second)));
	CASE("group_gaussian.mu", FIRST(dp_group_gaussian(a[0], a[1], k, &first, &second)));
	CASE("group_gaussian.tau", SECOND(dp_group_gaussian(a[0], a[1], k, &first, &second)));
	CASE("group_approx_delta", dp_group_approx_delta(a[0], a[1], k));
	CASE("group_approx_delta_standard", dp_group_approx_delta_standard(a[0], a[1], k));
	CASE("compose_advanced_kov", dp_compose_advanced_kov(a[0], a[1], k));
	CASE("compose_advanced_dr16", dp_compose_advanced_dr16(a[0], a[1], k));
	CASE("compose_advanced_drv10", dp_compose_advanced_drv10(a[0], a[1], k));
	CASE("compose_advanced_delta", dp_compose_advanced_delta(a[0], a[1], k));
	CASE("compose_advanced_list", dp_compose_advanced_list(a + 1, n - 1, a[0]));
	CASE("compose_delta_k", dp_compose_delta_k(a[0], k));
	CASE("compose_delta", dp_compose_delta(a, n));
	CASE("compose_gdp", dp_compose_gdp(a, n));
	CASE("compose_rdp", dp_compose_rdp(a, n));
	CASE("stddev_of", dp_stddev_of(a[0], a[1]));
	CASE("rho_for_stddev", dp_rho_for_stddev(a[0], a[1]));
	CASE("margin_of", dp_margin_of(a[0], a[1], a[2], a[3]));
	check(false, "no function %s", function);
	return 0;
}

static void
test_known(void)
{
	size_t		i;

	for (i = 0; i < sizeof(known_calc) / sizeof(known_calc[0]); i++)
	{
		const KnownCalc *row = &known_calc[i];
		double		value = call(row->function, row->args, row->n);
		double		allowed = 4 * DBL_EPSILON * (1 + row->condition) * row->value;

		check(fabs(value - row->value) <= allowed,
			  "%s(%.17g, %.17g, %.17g, %.17g) = %.17g, not %.17g", row->function,
			  row->args[0], row->args[1], row->args[2], row->args[3], value, row->value);
	}
}

static void
test_bound_limits(void)
{
	const double inf = HUGE_VAL;

	/* rho = 0 is xi-DP */
	check(dp_zcdp_epsilon_simple(0, 0, 0.5) == 0.5 && dp_zcdp_epsilon_bs36(0, 0, 0.5) == 0.5 &&
		  dp_zcdp_epsilon_bs36_closed(0, 1, 0.5) == 0.5, "epsilon at rho 0");
	check(dp_zcdp_epsilon_tight(0, 0, 0.5) == 0.5 && dp_zcdp_epsilon_tight(0, 1, 0.5) == 0, "tight epsilon at rho 0");
	check(dp_zcdp_delta_simple(0, 0.5, 0.5) == 0 && dp_zcdp_delta_bs36(0, 0.5, 0.5) == 0 &&
		  dp_zcdp_delta_tight(0, 0.5, 0.5) == 0, "delta at rho 0");
	check(dp_zcdp_delta_simple(0, 0.4, 0.5) == 1 && dp_zcdp_delta_bs36(0, 0.4, 0.5) == 1, "delta below xi");

	check(dp_zcdp_epsilon_simple(1, 0, 0) == inf && dp_zcdp_epsilon_bs36(1, 0, 0) == inf &&
		  dp_zcdp_epsilon_bs36_closed(1, 0, 0) == inf && dp_zcdp_epsilon_tight(1, 0, 0) == inf, "epsilon at delta 0");
	check(dp_zcdp_epsilon_simple(1, 1, 0.25) == 1.25 && dp_zcdp_epsilon_bs36(1, 1, 0.25) == 1.25 &&
		  dp_zcdp_epsilon_tight(1, 1, 0.25) == 0, "epsilon at delta 1");
	check(dp_zcdp_epsilon_bs36_closed(0.001, 0.1, 0.25) == 0.251, "bs36_closed outside its range");
	check(dp_zcdp_delta_simple(1, 1.25, 0.25) == 1 && dp_zcdp_delta_simple(1, 0, 0) == 1, "simple delta at epsilon = xi + rho");
	/* 0.6 - 0.1 rounds to 0.5, but is less */
	check(dp_zcdp_delta_bs36(0.5, 0.6, 0.1) == 1 && dp_zcdp_delta_bs36(0.5, 0.625, 0.125) < 1, "bs36 from xi + rho on");

	check(dp_zcdp_rho_simple(0.5, 0.1, 1) == DP_NO_ANSWER && dp_zcdp_rho_bs36(0.5, 0.1, 1) == DP_NO_ANSWER, "no rho");
	check(dp_zcdp_rho_tight(0.5, 0.1, 1) == DP_NO_ANSWER && dp_zcdp_rho_tight(0.5, 0.5, 1) > 0, "no tight rho");
	check(dp_zcdp_rho_tight(1, 1, 2) == inf && dp_zcdp_rho_tight(1, 0, 0) == 0 &&
		  dp_zcdp_rho_tight(1, 0, 2) == DP_NO_ANSWER, "tight rho at delta 0 and 1");
	check(dp_zcdp_rho_simple(1, 1, 0) == 1 && dp_zcdp_rho_bs36(1, 1, 0) == 1 &&
		  dp_zcdp_rho_simple(0, 1, 0) == 0 && dp_zcdp_rho_simple(0, 0, 0) == 0 &&
		  dp_zcdp_rho_bs36(1, 0, 0) == 0 && dp_zcdp_rho_bs36(1, 0.5, 1) == 0, "rho at the limits");

	check(dp_approx_zcdp_epsilon(0.5, 1e-6, 1e-9, 0) == inf && dp_approx_zcdp_epsilon(0.5, 1e-6, 1e-6, 0) == inf &&
		  dp_approx_zcdp_epsilon(0, 1e-6, 1e-6, 0.5) == 0.5 && dp_approx_zcdp_epsilon(0.5, 1, 1, 0) == 0, "approximate, epsilon");
	check(dp_approx_zcdp_delta(0, 0.25, 1, 0) == 0.25 && dp_approx_zcdp_delta(5, 1, 1, 0) == 1, "approximate, delta");

	/*
	 * US Census 2020, redistricting; together by composition, not by adding
	 * epsilons
	 */
	check(fabs(dp_zcdp_epsilon_tight((542.0 / 339) * (542.0 / 339), 1e-10, 0) - 17.143551) < 5e-7, "census, persons");
	check(fabs(dp_zcdp_epsilon_tight((3379.0 / 12343) * (3379.0 / 12343), 1e-10, 0) - 2.474671) < 5e-7, "census, housing units");
	check(fabs(dp_zcdp_epsilon_tight((542.0 / 339) * (542.0 / 339) + (3379.0 / 12343) * (3379.0 / 12343), 1e-10, 0)
			   - 17.44) < 5e-3, "census, both");
}

static void
test_other_limits(void)
{
	const double inf = HUGE_VAL;
	const double zeros[] = {0, 0};
	const double whole[] = {0.5, 1};
	double		parts[3];

	check(dp_mcdp_delta(0.5, 0, 0.5) == 0 && dp_mcdp_delta(0.5, 0, 0.4) == 1 && dp_mcdp_delta(0.5, 1, 0.5) == 1, "mcdp_delta");
	check(dp_mcdp_epsilon(0.5, 0, 0) == 0.5 && dp_mcdp_epsilon(0.5, 1, 0) == inf && dp_mcdp_epsilon(0.5, 1, 1) == 0.5, "mcdp_epsilon");
	check(dp_zcdp_to_pure(0, 0.5) == 0.5 && dp_zcdp_to_pure(1e-300, 0.5) == inf, "zcdp_to_pure");
	dp_mcdp_to_zcdp(1, 1e200, &parts[0], &parts[1]);
	check(parts[0] == inf && parts[1] == -inf, "mcdp_to_zcdp beyond doubles");
	/* the part of tau^2 / 2 that rounding lost, and nothing else */
	dp_mcdp_to_zcdp(0.5 * 0.1 * 0.1, 0.1, &parts[0], &parts[1]);
	check(parts[1] == 4.163336342344337e-19, "mcdp_to_zcdp where all but rounding cancels: %.17g", parts[1]);
	check(dp_pure_to_zcdp(0) == 0 && dp_pure_to_zcdp(1e300) == 1e300 && dp_laplace_to_zcdp(0) == 0 &&
		  dp_laplace_to_zcdp(1e300) == 1e300, "pure and Laplace at the limits");
	check(dp_bounded_range_to_zcdp(0) == 0 && dp_bounded_range_to_zcdp(1e300) == 1e300 &&
		  dp_bounded_range_to_zcdp_kl(0) == 0 && dp_bounded_range_to_zcdp_kl(1e300) == 1e300, "bounded range at the limits");

	check(dp_pure_to_rdp(2, 0) == 0 && dp_pure_to_rdp(1e300, 1e300) == 1e300 && dp_pure_to_rdp(1e300, 0.5) == 0.5, "pure_to_rdp");
	check(dp_rdp_epsilon(2, 1, 0) == inf && dp_rdp_epsilon(2, 0, 1) == 0 && dp_rdp_epsilon_simple(2, 1, 1) == 1 &&
		  dp_rdp_epsilon(2, 0, 0) == 0 && dp_rdp_epsilon(2, 1e-9, 1) == 0, "rdp_epsilon");
	check(dp_rdp_delta(2, 100, 0) == 1 && dp_rdp_delta_simple(2, 0.5, 0.5) == 1 && dp_rdp_delta(2, 0, 1e300) == 0 &&
		  dp_rdp_delta(2, 1, 1e300) == 0x1p-1074, "rdp_delta");
	/* orders next to 1, upwards: by mpmath, as the largest (P - delta) / Q over all pairs of two outcomes */
	{
		static const double known[][4] = {{1.000001, 0.01, 1e-5, 992.592578293898954}, {1.000001, 3, 0.3, 7.5085571992525606},
		{1.000001, 1e-4, 1e-5, 7.69731394935694551}, {1.01, 0.5, 0.3, 0.656439168438146399}, {1.01, 0.01, 0.01, 0.524949808083704346}};

		for (int i = 0; i < 5; i++)
		{
			double		off = dp_rdp_epsilon(known[i][0], known[i][1], known[i][2]) / known[i][3] - 1;

			check(off >= 0 && off < 5e-13, "order %g: off by %g", known[i][0], off);
		}
	}
	/* the corner, where alpha delta >= 1; chi-squared divergence and total variation */
	check(fabs(dp_rdp_epsilon(2, 3, 0.75) - 3 - log(0.25)) < 1e-14 && fabs(dp_rdp_epsilon(2, 3, 0.5) - 3 - log(0.5)) < 1e-14, "corner");
	check(fabs(dp_rdp_delta(2, log1p(4e-2), 0) - 0.1) < 1e-13, "from chi-squared to total variation");

	check(dp_group_approx_delta(0, 0.25, 3) == 0.75 && dp_group_approx_delta(1e300, 0, 1000) == 0 &&
		  dp_group_approx_delta(1e300, 1e-300, 1000) == 1 && dp_group_approx_delta(1000, 5e-324, 2) == 1, "group_approx_delta");
	dp_group_zcdp(0, 3, 1, &parts[0], &parts[1]);
	check(parts[0] == 0 && parts[1] == 3, "group of a pure mechanism");

	check(dp_compose_gdp(NULL, 0) == 0 && dp_compose_delta(NULL, 0) == 0 && !signbit(dp_compose_delta(NULL, 0)), "nothing composed");
	check(dp_compose_delta(whole, 2) == 1 && dp_compose_delta_k(1, 0) == 0 && dp_compose_delta_k(1, 3) == 1, "delta 1");
	check(dp_compose_advanced_kov(0, 0, 3) == 0 && dp_compose_advanced_kov(1, 0, 0) == 0 &&
		  dp_compose_advanced_kov(1, 0, 3) == 3 && dp_compose_advanced_dr16(1, 0, 1) == inf && dp_compose_advanced_kov(1, 1, 1) == dp_pure_to_zcdp(1), "advanced");
	check(dp_compose_advanced_list(zeros, 2, 0) == 0 && dp_compose_advanced_list(whole, 2, 0) == 1.5, "advanced, lists");
	check(fabs(dp_compose_advanced_kov(0.01, 1e-10, 37) - 0.37) < 1e-15, "advanced is not worse than basic");
	check(dp_compose_advanced_delta(0.5, 0.5, 3) == 0.9375 && dp_compose_advanced_delta(1, 0, 3) == 1 &&
		  dp_compose_advanced_delta(1, 0, 0) == 0 && fabs(dp_compose_advanced_delta_list(zeros, 2, 0.25) - 0.25) < 1e-16, "advanced, delta");
}

void
calc_tests(void)
{
	RUN(test_known);
	RUN(test_bound_limits);
	RUN(test_other_limits);
}
