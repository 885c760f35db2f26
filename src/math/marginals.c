/*-------------------------------------------------------------------------
 *
 * marginals.c
 *	  Noisy marginals: least squares.
 *
 * Let x be the table by all d axes, N cells, n_i values of axis i, and Q_A the matrix that
 * adds it up to the marginal by the axes A.  The noisy marginal is y_A = Q_A x + e_A, where
 * e_A is independent with variance 1 / g_A.
 *
 * One basis for all.  Q_A' Q_A is a Kronecker product of the identity for the axes in A and of
 * the matrix of ones, J, for the others.  Both have the constant vectors and those with sum 0
 * as eigenspaces: 1 and 1, n and 0.  So the spaces
 *
 *	 V_S = product of (sum 0 for axes in S, constant for the others),  dim V_S = prod_S (n_i - 1)
 *
 * are eigenspaces of all Q_A' Q_A at once, with eigenvalue prod_{i not in A} n_i where S is a
 * part of A, and 0 elsewhere.  What the asked marginals tell of V_S is
 *
 *	 lambda_S = sum over A containing S of g_A prod_{i not in A} n_i.
 *
 * Least squares.  The x that minimise sum_A g_A |y_A - Q_A x|^2 solve M x = sum_A g_A Q_A' y_A with
 * M = sum_A g_A Q_A' Q_A, which is lambda_S on V_S.  An orthogonal transform along each axis (Helmert's: one constant
 * vector, n - 1 of sum 0) makes M diagonal.  Where lambda_S = 0, no marginal has S, and what x is there no marginal shows.
 * So x itself is never made, which has as many cells as all axes together span: Q_A has on V_S, in these bases, the one number
 * s_A = sqrt(prod_{i not in A} n_i) for S in A.  Transforms of the y_A are made, each of its own size; the coefficient of S
 * becomes sum_A g_A s_A y_A,S / lambda_S, and s_A times that for each A is transformed back.  No iteration to a
 * tolerance, and whether a finest marginal is among them does not matter.  It is done twice, from 0 and from what that gave: the second
 * time the right side is noise, so that no digits are lost to large answers.
 *
 * Variance.  cov(x) = M^-1 on what is asked, so that the cells of the marginal B, which are all alike, have together
 *
 *	 trace(Q_B M^-1 Q_B') = sum over S in B of dim V_S prod_{i not in B} n_i / lambda_S.
 *
 * Never noisier.  By the theorem of Gauss and Markov no unbiased linear estimate of a cell has a smaller
 * variance, and y_A is one.  Here it is also seen directly: lambda_S >= g_B prod_{i not in B} n_i for S in B, so that the
 * trace is at most sum_S dim V_S / g_B, which is the number of cells / g_B.
 *
 * Integers.  What is added to the marginal A is not rounded, but its prefix sums C_A(j) = sum over all cells that are not
 * behind j on any axis are; the integers are what these come from (differences along each axis).  At the end of an axis C_A is that of the
 * marginal without this axis.  So each prefix sum belongs to the set of axes on which it is not at the end, is rounded once, in the first marginal that
 * has these axes, and is the same number in all others: marginals agree exactly where they have axes in common.  A cell of
 * the marginal A is off by 2^|A| errors of rounding: at most 2^|A| / 2, with variance 2^|A| / 12
 * if errors are as those of numbers at random (axes of one value do not count).  A table of integers with these marginals exists: its prefix
 * sums are those, and any where no marginal has the axes.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stddef.h>

#include "math/marginals.h"

/* prefix sums beyond are taken for this, so that differences along all axes fit in 128 bits */
#define MOST_SUM 0x1p112

static uint32_t
all_axes(const dp_marginals *m)
{
	return (1u << m->naxes) - 1;
}

double
dp_marginal_cells(const dp_marginals *m, uint32_t axes)
{
	double		cells = 1;

	for (int i = 0; i < m->naxes; i++)
		if (axes & (1u << i))
			cells *= (double) m->size[i];
	return cells;
}

/* Returns dim V_S. */
static double
dimensions(const dp_marginals *m, uint32_t s)
{
	double		dim = 1;

	for (int i = 0; i < m->naxes; i++)
		if (s & (1u << i))
			dim *= (double) (m->size[i] - 1);
	return dim;
}

/* Returns what a cell of the marginal is the sum of: how many cells of the table by all axes. */
static double
cells_of_one(const dp_marginals *m, uint32_t axes)
{
	return dp_marginal_cells(m, all_axes(m) & ~axes);
}

/* Returns lambda_S. */
static double
known_of(const dp_marginals *m, uint32_t s)
{
	double		known = 0;

	for (int a = 0; a < m->n; a++)
		if ((s & ~m->axes[a]) == 0 && m->information[a] > 0)
			known += m->information[a] * cells_of_one(m, m->axes[a]);
	return known;
}

double
dp_marginal_variance(const dp_marginals *m, uint32_t axes)
{
	double		sum = 0;

	/* all parts of axes, the empty one last */
	for (uint32_t s = axes;; s = (s - 1) & axes)
	{
		double		dim = dimensions(m, s);

		if (dim > 0)
			sum += dim / known_of(m, s);
		if (s == 0)
			break;
	}
	return sum * cells_of_one(m, axes) / dp_marginal_cells(m, axes);
}

/* ------------------------------------------------------------------------
 * Agreeing
 * ------------------------------------------------------------------------
 */

/* the tables of all marginals, and which of them has what several tell */
typedef struct Tables
{
	const dp_marginals *m;
	int64_t		cells[DP_MAX_MARGINALS];
	int64_t		stride[DP_MAX_MARGINALS][DP_MAX_AXES];
	dp_i128    *noisy[DP_MAX_MARGINALS];
	dp_i128    *agreed[DP_MAX_MARGINALS];
	double	   *work[DP_MAX_MARGINALS];
	double		factor[DP_MAX_MARGINALS];	/* of a constant along the axes
											 * that it does not have */
	signed char first[1 << DP_MAX_AXES];	/* the first that has these axes;
											 * -1: none */
	double		known[1 << DP_MAX_AXES];	/* lambda */
} Tables;

static void
begin_tables(Tables *t, const dp_marginals *m, dp_i128 **values, dp_i128 *agreed, double *work)
{
	t->m = m;
	for (int a = 0; a < m->n; a++)
	{
		int64_t		cells = 1;

		for (int i = m->naxes - 1; i >= 0; i--)
		{
			if (!(m->axes[a] & (1u << i)))
				continue;
			t->stride[a][i] = cells;
			cells *= m->size[i];
		}
		t->cells[a] = cells;
		t->noisy[a] = values[a];
		t->agreed[a] = agreed;
		t->work[a] = work;
		t->factor[a] = sqrt(cells_of_one(m, m->axes[a]));
		for (int64_t i = 0; i < cells; i++)
			agreed[i] = 0;
		agreed += cells;
		work += cells;
	}
	for (uint32_t s = 0; s <= all_axes(m); s++)
	{
		t->first[s] = -1;
		for (int a = m->n - 1; a >= 0; a--)
			if ((s & ~m->axes[a]) == 0)
				t->first[s] = (signed char) a;
		t->known[s] = known_of(m, s);
	}
}

/* Goes on to the next cell of a marginal's table. */
static void
next_cell(const dp_marginals *m, uint32_t axes, int64_t *at)
{
	for (int i = m->naxes - 1; i >= 0; i--)
	{
		if (!(axes & (1u << i)))
			continue;
		if (++at[i] < m->size[i])
			return;
		at[i] = 0;
	}
}

/* Returns the axes on which the cell is not the first one, or not the last one. */
static uint32_t
axes_off_end(const dp_marginals *m, uint32_t axes, const int64_t *at, bool last)
{
	uint32_t	off = 0;

	for (int i = 0; i < m->naxes; i++)
		if ((axes & (1u << i)) && (last ? at[i] < m->size[i] - 1 : at[i] > 0))
			off |= 1u << i;
	return off;
}

/* Returns where a marginal has the cell that is the same along some axes, and the first or last one along its others. */
static int64_t
place_in(const Tables *t, int a, uint32_t along, const int64_t *at, bool last)
{
	int64_t		place = 0;

	for (int i = 0; i < t->m->naxes; i++)
	{
		if (along & (1u << i))
			place += at[i] * t->stride[a][i];
		else if (last && (t->m->axes[a] & (1u << i)))
			place += (t->m->size[i] - 1) * t->stride[a][i];
	}
	return place;
}

/* Helmert's transform of n numbers that are stride apart; the first becomes the constant part. */
static void
transform(void *numbers, int64_t n, int64_t stride)
{
	double	   *x = numbers;
	double		before = x[0];

	for (int64_t k = 1; k < n; k++)
	{
		double		value = x[k * stride];

		x[k * stride] = (before - (double) k * value) / sqrt((double) k * (double) (k + 1));
		before += value;
	}
	x[0] = before / sqrt((double) n);
}

static void
transform_back(void *numbers, int64_t n, int64_t stride)
{
	double	   *x = numbers;
	double		rest = x[0] / sqrt((double) n);

	for (int64_t k = n - 1; k >= 1; k--)
	{
		double		value = x[k * stride] / sqrt((double) k * (double) (k + 1));

		x[k * stride] = rest - (double) k * value;
		rest += value;
	}
	x[0] = rest;
}

static void
add_up(void *numbers, int64_t n, int64_t stride)
{
	double	   *x = numbers;

	for (int64_t k = 1; k < n; k++)
		x[k * stride] += x[(k - 1) * stride];
}

static void
add_up_integers(void *numbers, int64_t n, int64_t stride)
{
	dp_i128    *x = numbers;

	for (int64_t k = 1; k < n; k++)
		x[k * stride] += x[(k - 1) * stride];
}

static void
take_apart_integers(void *numbers, int64_t n, int64_t stride)
{
	dp_i128    *x = numbers;

	for (int64_t k = n - 1; k >= 1; k--)
		x[k * stride] -= x[(k - 1) * stride];
}

/* Does so along each axis of a marginal's table of numbers of a width. */
static void
along_axes(const Tables *t, int a, void *table, size_t width, void (*step) (void *x, int64_t n, int64_t stride))
{
	for (int i = 0; i < t->m->naxes; i++)
	{
		int64_t		stride = t->stride[a][i];

		if (!(t->m->axes[a] & (1u << i)))
			continue;
		for (int64_t first = 0; first < t->cells[a]; first += stride * t->m->size[i])
			for (int64_t j = 0; j < stride; j++)
				step((char *) table + (first + j) * width, t->m->size[i], stride);
	}
}

/* Sets work to what least squares adds to the agreed tables, whose differences from the noisy ones it looks at. */
static void
least_squares(Tables *t)
{
	const dp_marginals *m = t->m;

	for (int a = 0; a < m->n; a++)
	{
		for (int64_t i = 0; i < t->cells[a]; i++)
			t->work[a][i] = m->information[a] * t->factor[a] * (double) (t->noisy[a][i] - t->agreed[a][i]);
		along_axes(t, a, t->work[a], sizeof(double), transform);
	}

	/*
	 * what all of them tell of V_S, in the table of the first that has S;
	 * which comes before the others
	 */
	for (int a = 0; a < m->n; a++)
	{
		int64_t		at[DP_MAX_AXES] = {0};

		for (int64_t i = 0; i < t->cells[a]; i++, next_cell(m, m->axes[a], at))
		{
			uint32_t	s = axes_off_end(m, m->axes[a], at, false);

			if (t->first[s] != a)
				t->work[(int) t->first[s]][place_in(t, t->first[s], s, at, false)] += t->work[a][i];
		}
	}
	for (int a = 0; a < m->n; a++)
	{
		int64_t		at[DP_MAX_AXES] = {0};

		for (int64_t i = 0; i < t->cells[a]; i++, next_cell(m, m->axes[a], at))
		{
			uint32_t	s = axes_off_end(m, m->axes[a], at, false);

			if (t->first[s] == a)
				t->work[a][i] /= t->known[s];
			else
				t->work[a][i] = t->work[(int) t->first[s]][place_in(t, t->first[s], s, at, false)];
		}
	}
	for (int a = 0; a < m->n; a++)
	{
		for (int64_t i = 0; i < t->cells[a]; i++)
			t->work[a][i] *= t->factor[a];
		along_axes(t, a, t->work[a], sizeof(double), transform_back);
	}
}

/* Adds work to the agreed tables, in integers whose prefix sums are rounded. */
static void
add_rounded(Tables *t)
{
	const dp_marginals *m = t->m;

	for (int a = 0; a < m->n; a++)
	{
		int64_t		at[DP_MAX_AXES] = {0};

		along_axes(t, a, t->work[a], sizeof(double), add_up);
		along_axes(t, a, t->agreed[a], sizeof(dp_i128), add_up_integers);
		for (int64_t i = 0; i < t->cells[a]; i++, next_cell(m, m->axes[a], at))
		{
			uint32_t	s = axes_off_end(m, m->axes[a], at, true);

			/* the same sum of cells is one number, and rounded once */
			if (t->first[s] == a)
				t->work[a][i] = rint(fmin(fmax(t->work[a][i], -MOST_SUM), MOST_SUM));
			else
				t->work[a][i] = t->work[(int) t->first[s]][place_in(t, t->first[s], s, at, true)];
			t->agreed[a][i] += (dp_i128) t->work[a][i];
		}
		along_axes(t, a, t->agreed[a], sizeof(dp_i128), take_apart_integers);
	}
}

void
dp_marginals_agree(const dp_marginals *m, dp_i128 **values, dp_i128 *agreed, double *work)
{
	Tables		t;

	begin_tables(&t, m, values, agreed, work);

	/*
	 * the first time to 53 bits of the answers; then what is left, which is
	 * noise
	 */
	for (int round = 0; round < 2; round++)
	{
		least_squares(&t);
		add_rounded(&t);
	}
	for (int a = 0; a < m->n; a++)
		for (int64_t i = 0; i < t.cells[a]; i++)
			values[a][i] = t.agreed[a][i];
}

double
dp_marginal_rounding(const dp_marginals *m, uint32_t axes)
{
	double		variance = 1.0 / 12;

	for (int i = 0; i < m->naxes; i++)
		if ((axes & (1u << i)) && m->size[i] > 1)
			variance *= 2;
	return variance;
}
