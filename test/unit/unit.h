/*
 * unit.h
 *	  The frame of the unit tests: named tests and their cases, entropy, laws.
 */
#ifndef DP_UNIT_H
#define DP_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "math/gauss.h"

/*
 * Counts a case of the test that runs.  The line of a case that failed says
 * what came, by the format, whose arguments are evaluated only then, and what
 * was expected, which is the condition's text.
 */
#define check(ok, ...) \
	((ok) ? (void) unit_cases++ : check_failed(__FILE__, __LINE__, #ok, __VA_ARGS__))
extern unsigned long unit_cases;
extern void check_failed(const char *file, int line, const char *expected, const char *format,...)
			__attribute__((format(printf, 4, 5)));

/* Runs a function as one named test: "exp/limbs" is test_limbs of test_exp.c. */
#define RUN(test) run_test(__FILE__, #test, test)
extern void run_test(const char *file, const char *function, void (*test) (void));

/*
 * Returns how many draws or cases a test has: "all" with DP_TEST_ALL=1 (make
 * test-all), without it "usual", or "sanitized" in the sanitized program.
 *
 * That program looks for errors in memory and undefined behaviour, which few
 * cases show.  Its smaller samples have the same false alarm rate, but tell
 * only laws that are further off.  How far a law is off that a sample tells
 * with a probability of 1 - 1e-9 stands at the test, by tools/power.py.
 */
#ifndef SANITIZED
#define SANITIZED false
#endif
extern long sized(long all, long usual, long sanitized);

/* dp_entropy_take of a machine of another byte order */
extern uint64_t bytewise_take(dp_entropy *e, unsigned bytes);

/* a source of the operating system's entropy */
extern void entropy_os(dp_entropy *e);

/*
 * A source that first gives the bytes put in by entropy_word (least
 * significant first), then those of the operating system.
 */
extern void entropy_script(dp_entropy *e);
extern void entropy_word(dp_entropy *e, uint64_t word, unsigned bytes);

/* Puts a number of 8 bytes before what a source gives next. */
extern void entropy_put_back(dp_entropy *e, uint64_t word);

/* the same in each run of a test, for choosing test cases only: never judges a distribution */
extern uint64_t pseudo(void);
extern dp_u128 pseudo128(void);

/* a dp_u128 from halves */
extern dp_u128 u128(uint64_t high, uint64_t low);

/* P[N(0,1) in (a, b)] */
extern long double normal_mass(long double a, long double b);

/*
 * The likelihood-ratio test of counts against probabilities: fails with a
 * probability below FALSE_ALARM if they are right, whatever the counts.
 * Cells are merged so that each expects at least 10.  At most 60 such tests
 * in each of the two programs raise one with probability 6.6e-10 together.
 */
#define FALSE_ALARM (SANITIZED ? 1e-12L : 1e-11L)
extern void check_fit(const char *what, const long *count, const long double *prob,
					  int cells, long n);

/* check_fit with some 16 cells: tells a wrong variance or mean with fewer draws, and nothing of single values */
extern void check_coarse_fit(const char *what, const long *count, const long double *prob,
							 int cells, long n);

/* run the tests of one file each */
extern void exp_tests(void);
extern void gauss_exact_tests(void);
extern void gauss_law_tests(void);
extern void calibrate_tests(void);
extern void refinement_tests(void);
extern void zcdp_tests(void);
extern void gaussian_tests(void);
extern void optimal_tests(void);
extern void calc_tests(void);
extern void calc_laws_tests(void);
extern void divergence_tests(void);
extern void planning_tests(void);
extern void moments_tests(void);
extern void quantile_tests(void);
extern void norm_limit_tests(void);
extern void bounds_tail_tests(void);
extern void exact_tests(void);
extern void marginals_tests(void);

#endif							/* DP_UNIT_H */
