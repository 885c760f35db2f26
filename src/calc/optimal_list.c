/*-------------------------------------------------------------------------
 *
 * optimal_list.c
 *	  Optimal composition of mechanisms that differ.
 *
 * The losses of n mechanisms are all sums of +-epsilon_i: 2^n of them, fewer
 * where some epsilon are alike.  D is computed without listing them.  The
 * mechanisms are put into two halves, and each half's losses a_1 <= a_2 ...
 * and b_1 <= b_2 ... are listed with their probabilities v and w.  For one a,
 * with j the first b_j > e - a,
 *
 *		Sum over i >= j of w_i (1 - e^(e - a - b_i)) =
 *			(1 - e^-g) S_j + e^-g T_j, g = a + b_j - e > 0
 *		S_j = Sum over i >= j of w_i
 *		T_j = Sum over i >= j of w_i (1 - e^(b_j - b_i))
 *
 * and j falls as a rises, so that one walk over both halves gives D(e) and
 * P[loss > e], which has its derivative: D' = D - P[loss > e].
 *
 * A half has at most 2^18 losses (36 distinct epsilon), for which the caller
 * gives the memory, 19 MB at most.  What exceeds that is refused, not
 * approximated.
 *
 * Invariants: losses are kept as two doubles, because g may be far smaller
 * than they are; apart from g everything is a sum of positive terms.  Halves
 * are built sorted, by merging; nothing is allocated.
 *
 * Part of calc/: no PostgreSQL header may be included here.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "calc/optimal.h"
#include "calc/optimal_core.h"

/* more distinct epsilon make more than DP_OPTIMAL_HALF_MAX losses in a half */
#define DISTINCT_MAX	36

/* two doubles cannot hold a loss near the end of the range */
#define LOSS_MAX		1e290

#define STEPS_MAX		200

/* the distinct epsilon > 0, and how often each is in either half */
typedef struct Split
{
	int			distinct;
	double		epsilon[DISTINCT_MAX];
	int			copies[DISTINCT_MAX];
	int			in_half[2][DISTINCT_MAX];
	double		size[2];		/* losses in the half, size[0] <= size[1] */
} Split;

typedef struct loss_point
{
	dp_twofold	loss;
	double		weight;
} loss_point;

typedef struct Enumeration
{
	const loss_point *a;
	const loss_point *b;
	int			a_size;
	int			b_size;
	const double *s;			/* of b */
	const double *t;
	double		largest;		/* the largest loss */
} Enumeration;

/* Returns false if there are too many distinct epsilon, or their sum is too large. */
static bool
find_distinct(const double *epsilon, int n, Split *result)
{
	double		sum = 0;
	int			i,
				j;

	result->distinct = 0;
	for (i = 0; i < n; i++)
	{
		if (epsilon[i] <= 0)
			continue;
		for (j = 0; j < result->distinct; j++)
			if (result->epsilon[j] == epsilon[i])
				break;
		if (j == DISTINCT_MAX)
			return false;
		if (j == result->distinct)
		{
			result->epsilon[j] = epsilon[i];
			result->copies[j] = 0;
			result->distinct++;
		}
		result->copies[j]++;
		sum += epsilon[i];
	}
	return result->distinct <= 1 || sum <= LOSS_MAX;
}

static void
swap_halves(Split *s)
{
	int			copies[DISTINCT_MAX];
	double		size = s->size[0];

	memcpy(copies, s->in_half[0], sizeof(copies));
	memcpy(s->in_half[0], s->in_half[1], sizeof(copies));
	memcpy(s->in_half[1], copies, sizeof(copies));
	s->size[0] = s->size[1];
	s->size[1] = size;
}

/*
 * Makes two halves as even as is easy: the epsilon with most copies first,
 * each to the smaller half; then one of the larger half is divided between
 * both.  The same for the same list, wherever it is called from.
 */
static void
divide(Split *s)
{
	bool		placed[DISTINCT_MAX] = {false};
	double		best;
	int			best_index = -1,
				best_copies = 0;
	int			i,
				j;

	memset(s->in_half, 0, sizeof(s->in_half));
	s->size[0] = s->size[1] = 1;
	for (i = 0; i < s->distinct; i++)
	{
		int			most = -1;

		for (j = 0; j < s->distinct; j++)
			if (!placed[j] && (most < 0 || s->copies[j] > s->copies[most]))
				most = j;
		placed[most] = true;
		s->in_half[0][most] = s->copies[most];
		s->size[0] *= s->copies[most] + 1.0;
		if (s->size[0] > s->size[1])
			swap_halves(s);
	}

	best = s->size[1];
	for (i = 0; i < s->distinct; i++)
	{
		double		all = s->in_half[1][i];
		double		rest = s->size[1] / (all + 1);

		/* moving c leaves rest (all - c + 1) and makes size[0] (c + 1) */
		double		c = floor((rest * (all + 1) - s->size[0]) / (rest + s->size[0]));

		for (j = 0; j < 2; j++, c++)
		{
			double		larger = fmax(rest * (all - c + 1), s->size[0] * (c + 1));

			if (c >= 0 && c <= all && larger < best)
			{
				best = larger;
				best_index = i;
				best_copies = (int) c;
			}
		}
	}
	if (best_index >= 0)
	{
		double		all = s->in_half[1][best_index];

		s->size[1] = s->size[1] / (all + 1) * (all - best_copies + 1);
		s->size[0] *= best_copies + 1.0;
		s->in_half[1][best_index] -= best_copies;
		s->in_half[0][best_index] += best_copies;
		if (s->size[0] > s->size[1])
			swap_halves(s);
	}
	/* products of small integers, but for the quotient */
	s->size[0] = rint(s->size[0]);
	s->size[1] = rint(s->size[1]);
}

size_t
dp_compose_optimal_scratch(const double *epsilon, int n)
{
	Split		s;

	if (!find_distinct(epsilon, n, &s))
		return SIZE_MAX;
	if (s.distinct <= 1)
		return 0;
	divide(&s);
	if (s.size[1] > DP_OPTIMAL_HALF_MAX)
		return SIZE_MAX;
	/* two halves, and room to build the larger one */
	return (size_t) (s.size[0] + 2 * s.size[1]) * sizeof(loss_point);
}

static bool
less(const loss_point *a, const loss_point *b)
{
	return a->loss.high < b->loss.high ||
		(a->loss.high == b->loss.high && a->loss.low < b->loss.low);
}

/* Merges sorted runs of a given length, pairwise, from one array to the other. */
static void
merge_runs(const loss_point *from, loss_point *to, int size, int run)
{
	int			start;

	for (start = 0; start < size; start += 2 * run)
	{
		int			middle = start + run < size ? start + run : size;
		int			end = middle + run < size ? middle + run : size;
		int			left = start,
					right = middle,
					k;

		for (k = start; k < end; k++)
		{
			if (left < middle && (right >= end || !less(&from[right], &from[left])))
				to[k] = from[left++];
			else
				to[k] = from[right++];
		}
	}
}

/*
 * Lists all losses of one half with their probabilities, sorted, in out; spare
 * is as large.  Each epsilon turns the list into one shifted copy for every
 * number of its positive losses; the copies are sorted runs.
 */
static int
enumerate_half(const Split *s, int half, loss_point *out, loss_point *spare)
{
	int			size = 1;
	int			g;

	memset(&out[0].loss, 0, sizeof(out[0].loss));
	out[0].weight = 1;
	for (g = 0; g < s->distinct; g++)
	{
		int			copies = s->in_half[half][g];
		loss_point *from = spare,
				   *to = out;
		int			whole = size * (copies + 1);
		int			run,
					i,
					j;

		if (copies == 0)
			continue;
		for (i = 0; i <= copies; i++)
		{
			dp_twofold	shift = dp_two_product(2.0 * i - copies, s->epsilon[g]);
			double		weight = (double) expl(dp_binomial_log(s->epsilon[g], copies, i));

			for (j = 0; j < size; j++)
			{
				spare[i * size + j].loss = dp_twofold_add(out[j].loss, shift);
				spare[i * size + j].weight = out[j].weight * weight;
			}
		}
		for (run = size; run < whole; run *= 2)
		{
			loss_point *merged = to;

			merge_runs(from, to, whole, run);
			to = from;
			from = merged;
		}
		if (from != out)
			memcpy(out, from, whole * sizeof(loss_point));
		size = whole;
	}
	return size;
}

/* Returns a + b - at. */
static double
gap(const dp_twofold *a, const dp_twofold *b, double at)
{
	dp_twofold	sum = dp_two_sum(a->high, b->high);
	dp_twofold	left = dp_two_sum(sum.high, -at);

	return left.high + (left.low + (sum.low + (a->low + b->low)));
}

static void
enumerate(Split *s, void *scratch, Enumeration *result)
{
	loss_point *larger = scratch;
	loss_point *spare = larger + (size_t) s->size[1];
	loss_point *smaller = spare + (size_t) s->size[1];
	double	   *sums;
	long double sum = 0,
				part = 0;
	int			i;

	result->b_size = enumerate_half(s, 1, larger, spare);
	result->a_size = enumerate_half(s, 0, smaller, spare);
	result->b = larger;
	result->a = smaller;
	result->largest = gap(&smaller[result->a_size - 1].loss,
						  &larger[result->b_size - 1].loss, 0);

	/* from here on the spare list holds the sums */
	sums = (double *) spare;
	result->s = sums;
	result->t = sums + result->b_size;
	for (i = result->b_size - 1; i >= 0; i--)
	{
		if (i < result->b_size - 1)
		{
			dp_twofold	back = {-larger[i].loss.high, -larger[i].loss.low};
			long double fall = -expm1(-gap(&larger[i + 1].loss, &back, 0));

			part = fall * sum + (1 - fall) * part;
		}
		sum += larger[i].weight;
		sums[i] = (double) sum;
		sums[result->b_size + i] = (double) part;
	}
}

/* Returns D(at), and in the last argument P[loss > at]. */
static double
expectation(const Enumeration *e, double at, double *beyond)
{
	long double sum = 0,
				mass = 0;
	int			j = e->b_size;
	double		nearest = 0;
	int			i;

	for (i = 0; i < e->a_size; i++)
	{
		const loss_point *a = &e->a[i];
		double		fall;

		if (j < e->b_size)
			nearest = gap(&a->loss, &e->b[j].loss, at);
		while (j > 0)
		{
			double		next = gap(&a->loss, &e->b[j - 1].loss, at);

			if (next <= 0)
				break;
			nearest = next;
			j--;
		}
		if (j == e->b_size)
			continue;
		fall = -expm1(-nearest);
		sum += a->weight * (fall * e->s[j] + (1 - fall) * e->t[j]);
		mass += (long double) a->weight * e->s[j];
	}
	*beyond = (double) mass;
	return (double) sum;
}

/*
 * Returns the least e >= 0 with D(e) <= wanted.  ln D falls ever faster, so
 * Newton's method on it comes from the right; where that leaves the bracket,
 * the step that would be exact if no loss were passed comes from the left.
 * Each evaluation narrows the bracket, and steps are limited.
 */
static double
inverse(const Enumeration *e, double wanted)
{
	double		low = 0,
				high = e->largest;
	double		at = 0;
	int			i;

	if (wanted <= 0)
		return high;
	for (i = 0; i < STEPS_MAX; i++)
	{
		double		beyond;
		double		d = expectation(e, at, &beyond);
		double		rate = beyond - d;	/* -D' > 0 */
		double		exact,
					newton,
					next;

		if (d == wanted || (at == 0 && d < wanted))
			return at;
		if (d > wanted)
			low = at;
		else
			high = at;

		exact = at + log1p((d - wanted) / rate);
		newton = at + log(d / wanted) * d / rate;
		if (newton > low && newton < high)
			next = newton;
		else if (exact > low && exact < high)
			next = exact;
		else
			next = low + 0.5 * (high - low);

		/* passes none, or as near as can be */
		if (fabs(next - at) <= 1e-9 * at && exact >= low && exact <= high)
			return exact;
		if (!(next > low && next < high))
			return at;
		at = next;
	}
	return at;
}

/* Sets the parts that depend on delta alone. */
static void
add_failures(const double *delta, int n, dp_failure *f)
{
	int			i;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < n; i++)
		dp_failure_add(f, delta[i], 1);
}

bool
dp_compose_optimal_delta_list(const double *epsilon, const double *delta, int n,
							  double epsilon_g, void *scratch, double *result)
{
	Split		s;
	Enumeration e;
	dp_failure	f;
	double		d = 0,
				beyond;

	if (!find_distinct(epsilon, n, &s))
		return false;
	if (s.distinct == 1)
		d = dp_optimal_alike(s.epsilon[0], s.copies[0], epsilon_g);
	else if (s.distinct > 1)
	{
		divide(&s);
		if (s.size[1] > DP_OPTIMAL_HALF_MAX)
			return false;
		enumerate(&s, scratch, &e);
		d = fmin(1, expectation(&e, epsilon_g, &beyond));
	}
	add_failures(delta, n, &f);
	*result = dp_failure_delta(&f, d);
	return true;
}

bool
dp_compose_optimal_epsilon_list(const double *epsilon, const double *delta, int n,
								double delta_g, void *scratch, double *result)
{
	Split		s;
	Enumeration e;
	dp_failure	f;
	double		wanted;

	if (!find_distinct(epsilon, n, &s))
		return false;
	if (s.distinct > 1)
	{
		divide(&s);
		if (s.size[1] > DP_OPTIMAL_HALF_MAX)
			return false;
	}
	add_failures(delta, n, &f);
	wanted = dp_failure_wanted(&f, delta_g);
	if (delta_g >= 1)
		*result = 0;
	else if (wanted < 0)
		*result = HUGE_VAL;
	else if (s.distinct == 0)
		*result = 0;
	else if (s.distinct == 1)
		*result = dp_optimal_alike_inverse(s.epsilon[0], s.copies[0], wanted);
	else
	{
		enumerate(&s, scratch, &e);
		*result = inverse(&e, wanted);
	}
	return true;
}
