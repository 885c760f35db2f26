/*
 * test_exact.c
 *	  Exact sums of doubles: known answers, and that neither order nor
 *	  splitting nor shapes show.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/exact.h"
#include "unit.h"

#include "known_exact.h"

#define MOST 64
#define RESULTS 6

/* Adds x as the aggregate does: a value that does not fit is put into a state that is made for it. */
static dp_exact *
reshape(dp_exact *state, const dp_exact_shape *shape)
{
	dp_exact   *wider = malloc(dp_exact_size(shape));

	dp_exact_init(wider, shape, state);
	free(state);
	return wider;
}

static dp_exact *
add(dp_exact *state, bool squares, double x)
{
	dp_exact_shape shape;

	if (state && dp_exact_add(state, x))
		return state;
	dp_exact_shape_for(&shape, state, squares, x);
	state = reshape(state, &shape);
	check(dp_exact_add(state, x), "no room for %g", x);
	return state;
}

static dp_exact *
merge(dp_exact *state, dp_exact *other)
{
	if (state == NULL || other == NULL)
		return state ? state : other;
	if (!dp_exact_merge(state, other))
	{
		dp_exact_shape shape;

		dp_exact_shape_for_both(&shape, state, other);
		state = reshape(state, &shape);
		check(dp_exact_merge(state, other), "no room for a state");
	}
	free(other);
	return state;
}

/* in an order and partition of chance */
static dp_exact *
add_all(const double *values, int n, bool squares, bool shuffle)
{
	dp_exact   *part[3] = {NULL, NULL, NULL};
	double		x[MOST];

	memcpy(x, values, n * sizeof(double));
	for (int i = n - 1; shuffle && i > 0; i--)
	{
		int			k = pseudo() % (i + 1);
		double		t = x[i];

		x[i] = x[k];
		x[k] = t;
	}
	for (int i = 0; i < n; i++)
	{
		dp_exact  **to = &part[shuffle ? pseudo() % 3 : 0];

		*to = add(*to, squares, x[i]);
	}
	return merge(merge(part[0], part[1]), part[2]);
}

/* the bits of every result, and whether there is one */
typedef struct Results
{
	double		value[RESULTS + 1];
	bool		found[RESULTS + 1];
} Results;

static Results
results(const dp_exact *state)
{
	Results		r;

	memset(&r, 0, sizeof(r));
	for (int i = 0; i < RESULTS; i++)
		if (!(r.found[i] = dp_exact_get(state, (dp_exact_result) i, false, &r.value[i])))
			r.value[i] = 0;
	if (!(r.found[RESULTS] = dp_exact_get(state, DP_EXACT_SUM, true, &r.value[RESULTS])))
		r.value[RESULTS] = 0;
	return r;
}

static void
test_known(void)
{
	for (int i = 0; i < sizeof(known_exact) / sizeof(known_exact[0]); i++)
	{
		const KnownExact *known = &known_exact[i];

		for (int round = 0; round < 5; round++)
		{
			dp_exact   *state = add_all(known->value, known->n, true, round > 0);
			dp_exact   *plain = add_all(known->value, known->n, false, round > 0);
			Results		r = results(state);
			double		x = 0;

			for (int k = 0; k <= RESULTS; k++)
			{
				check(r.found[k] == known->found[k], "known_exact %d: result %d is there", i, k);
				check(memcmp(&r.value[k], &known->result[k], sizeof(double)) == 0, "known_exact %d: result %d is %a instead of %a",
					  i, k, r.value[k], known->result[k]);
			}
			check(dp_exact_get(plain, DP_EXACT_SUM, false, &x) == known->found[0] &&
				  (!known->found[0] || x == known->result[0]), "known_exact %d: sum without squares", i);
			check(!dp_exact_get(plain, DP_EXACT_VAR_POP, false, &x), "known_exact %d: variance without squares", i);
			free(state);
			free(plain);
		}
	}
}

static double
any_value(int kind)
{
	uint64_t	bits = pseudo();
	double		x;

	switch (kind)
	{
		case 0:
			return (double) (int64_t) (bits % 2001) / 100 - 10;
		case 1:
			return ldexp((double) (bits >> 11), -1074 - 40 + (int) (bits % 80));
		case 2:
			return ldexp((double) (bits >> 11), 971 - (int) (bits % 5));
		default:
			memcpy(&x, &bits, sizeof(x));
			return kind == 3 && !isfinite(x) ? 0 : x;
	}
}

static void
test_order(void)
{
	const int	rounds = sized(4000, 4000, 1000);

	for (int round = 0; round < rounds; round++)
	{
		double		x[MOST];
		int			n = 1 + pseudo() % MOST;
		int			kind = round % 5;
		dp_exact   *first;
		Results		expected;

		for (int i = 0; i < n; i++)
		{
			x[i] = any_value(kind);
			/* much of it cancels */
			if (i > 0 && pseudo() % 3 == 0)
				x[i] = -x[pseudo() % i];
			if (kind == 4 && pseudo() % 30 == 0)
				x[i] = pseudo() % 2 ? INFINITY : pseudo() % 2 ? -INFINITY : NAN;
		}
		first = add_all(x, n, true, false);
		expected = results(first);
		for (int again = 0; again < 4; again++)
		{
			dp_exact   *other = add_all(x, n, true, true);
			Results		r = results(other);

			check(memcmp(&r, &expected, sizeof(r)) == 0, "results of %d values depend on their order", n);
			free(other);
		}
		for (int i = 0; i < RESULTS; i++)
			check(expected.value[i] != 0 || !signbit(expected.value[i]),
				  "result %d of %d values is 0 with a sign", i, n);
		free(first);
	}
}

static void
test_special(void)
{
	static const struct
	{
		int			n;
		double		x[3];
		double		sum;
	}			cases[] = {
		{1, {INFINITY}, INFINITY}, {2, {-INFINITY, 1}, -INFINITY}, {2, {INFINITY, -INFINITY}, NAN},
		{2, {NAN, 1}, NAN}, {3, {INFINITY, NAN, INFINITY}, NAN}, {3, {INFINITY, 1.7e308, INFINITY}, INFINITY}
	};

	for (int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		dp_exact   *state = add_all(cases[i].x, cases[i].n, true, false);
		Results		r = results(state);

		for (int k = 0; k < 2; k++)
			check(r.found[k] && (r.value[k] == cases[i].sum || (isnan(r.value[k]) && isnan(cases[i].sum))),
				  "special %d: %g", i, r.value[k]);
		check(r.found[2] && isnan(r.value[2]) && r.found[4] && isnan(r.value[4]), "special %d: variance %g", i, r.value[2]);
		free(state);
	}
}

/* Pretends that there had been many additions, so that carries are moved on. */
static void
test_settling(void)
{
	for (int round = 0; round < 2000; round++)
	{
		double		x[MOST];
		int			n = 2 + pseudo() % (MOST - 2);
		dp_exact   *state = NULL;
		dp_exact   *plain;
		Results		a,
					b;

		for (int i = 0; i < n; i++)
			x[i] = any_value(round % 4);
		plain = add_all(x, n, true, false);
		for (int i = 0; i < n; i++)
		{
			state = add(state, true, x[i]);
			if (pseudo() % 4 == 0)
				state->pending = DP_EXACT_MOST_PENDING - pseudo() % 2;
			if (pseudo() % 8 == 0 && i + 1 < n)
			{
				dp_exact   *other = add(NULL, true, x[++i]);

				other->pending = DP_EXACT_MOST_PENDING;
				state = merge(state, other);
			}
			check(state->count[0] <= DP_EXACT_SUM_LANES && state->count[1] <= DP_EXACT_SQUARES_LANES,
				  "%d and %d lanes", (int) state->count[0], (int) state->count[1]);
		}
		a = results(plain);
		b = results(state);
		check(memcmp(&a, &b, sizeof(a)) == 0, "results of %d values depend on when carries are moved", n);
		free(plain);
		free(state);
	}
}

/* doubling a state by merging it with itself is as many additions */
static void
test_many(void)
{
	static const double values[] = {1.7976931348623157e308, -1.7976931348623157e308, 0.1, 5e-324, -2.5};

	for (int i = 0; i < 5; i++)
	{
		dp_exact   *state = add(NULL, true, values[i]);
		double		x = 0;

		for (int k = 0; k < 61; k++)
		{
			dp_exact_shape shape;
			dp_exact   *copy;

			memset(&shape, 0, sizeof(shape));
			memcpy(shape.first, state->first, sizeof(shape.first));
			memcpy(shape.count, state->count, sizeof(shape.count));
			shape.squares = 1;
			copy = malloc(dp_exact_size(&shape));
			memcpy(copy, state, dp_exact_size(&shape));
			state = merge(state, copy);
		}
		check(state->n == INT64_C(1) << 61, "number of values");
		check(dp_exact_get(state, DP_EXACT_AVG, false, &x) && x == values[i], "average of many: %g", x);
		check(dp_exact_get(state, DP_EXACT_VAR_SAMP, false, &x) && x == 0, "variance of many: %g", x);
		check(dp_exact_get(state, DP_EXACT_SUM, false, &x) == (fabs(values[i]) < 1e280), "sum of many");
		check(fabs(values[i]) > 1e280 || x == ldexp(values[i], 61), "sum of many: %g", x);
		free(state);
	}
}

/* of squares, of what stands beside them, and of numbers of any length */
static void
test_roots(void)
{
	for (int i = 0; i < 100000; i++)
	{
		uint64_t	r = i < 256 ? (uint64_t) i : pseudo() >> (pseudo() % 64);
		dp_u128		square = (dp_u128) r * r;
		dp_u128		x = ((dp_u128) pseudo() << 64 | pseudo()) >> (pseudo() % 128);
		uint64_t	root = dp_root(x);

		check(dp_root(square) == r && dp_root_up(square) == r, "root of the square of %lu", (unsigned long) r);
		check(dp_root(square + 2 * (dp_u128) r) == r, "root of the last before the next square, %lu", (unsigned long) r);
		check(r < 2 || (dp_root(square - 1) == r - 1 && dp_root_up(square - 1) == r), "root below the square of %lu", (unsigned long) r);
		check((dp_u128) root * root <= x && x - (dp_u128) root * root <= 2 * (dp_u128) root, "root %lu", (unsigned long) root);
	}
	check(dp_root(~(dp_u128) 0) == UINT64_MAX, "the largest root");
}

void
exact_tests(void)
{
	RUN(test_roots);
	RUN(test_known);
	RUN(test_order);
	RUN(test_special);
	RUN(test_settling);
	RUN(test_many);
}
