/*
 * unit.h
 *	  The frame of the unit tests: counting, entropy, one line per failure.
 */
#ifndef DP_UNIT_H
#define DP_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "math/gauss.h"

/* counts a check; prints it if it failed */
extern void check(bool ok, const char *format,...) __attribute__((format(printf, 2, 3)));

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

/* deterministic, for choosing test cases only: never judges a distribution */
extern uint64_t pseudo(void);
extern dp_u128 pseudo128(void);

/* a dp_u128 from halves */
extern dp_u128 u128(uint64_t high, uint64_t low);

/* P[N(0,1) in (a, b)] */
extern long double normal_mass(long double a, long double b);

/*
 * The likelihood-ratio test of counts against probabilities: fails with a
 * probability below FALSE_ALARM if they are right, whatever the counts.
 * Cells are merged so that each expects at least 10.
 */
#define FALSE_ALARM 1e-11L
extern void check_fit(const char *what, const long *count, const long double *prob,
					  int cells, long n);

/* one test file each */
extern void test_limbs(void);
extern void test_exp(void);
extern void test_entropy(void);
extern void test_byte_order(void);
extern void test_gauss_exact(void);
extern void test_gauss_law(void);
extern void test_calibrate(void);
extern void test_threshold(void);
extern void test_ladder(void);
extern void test_zcdp(void);
extern void test_gaussian(void);
extern void test_optimal(void);
extern void test_calc(void);
extern void test_calc_laws(void);
extern void test_planning(void);
extern void test_moments(void);
extern void test_quantile(void);
extern void test_exact_sums(void);
extern void test_marginals(void);

#endif							/* DP_UNIT_H */
