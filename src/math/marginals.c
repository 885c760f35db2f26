/*-------------------------------------------------------------------------
 *
 * marginals.c
 *	  Noisy marginals: least squares, and how to share a price.
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
 * Least squares.  The x that minimises sum_A g_A |y_A - Q_A x|^2 solves M x = sum_A g_A Q_A' y_A with
 * M = sum_A g_A Q_A' Q_A, which is lambda_S on V_S.  From x0 = y_F, F the finest, the correction
 * c solves M c = sum_A g_A Q_A' (y_A - Q_A y_F), whose right side is noise alone: no digits are lost
 * to large answers.  An orthogonal transform along each axis (Helmert's: one constant vector, n - 1 of sum 0)
 * makes M diagonal.  No iteration and no tolerance; N d operations.
 *
 * Variance.  cov(x) = M^-1, so that the cells of the marginal B, which are all alike, have together
 *
 *	 trace(Q_B M^-1 Q_B') = sum over S in B of dim V_S prod_{i not in B} n_i / lambda_S.
 *
 * Never noisier.  By the theorem of Gauss and Markov no unbiased linear estimate of a cell has a smaller
 * variance, and y_A is one.  Here it is also seen directly: lambda_S >= g_B prod_{i not in B} n_i for S in B, so that the
 * trace is at most sum_S dim V_S / g_B, which is the number of cells / g_B.
 *
 * Integers.  c is not rounded, but its prefix sums C(j) = sum of c over all cells that are not behind j on any axis are.
 * The integer correction is what prefix sums come from (differences along each axis).  A cell of the marginal A is then
 * off by 2^|A| errors of rounding, since on the other axes C is taken at the end: at most 2^|A| / 2, with variance 2^|A| / 12
 * if errors are as those of numbers at random (axes of one value do not count).  Whatever C is, the finest table is of integers, and the others are
 * its sums, exactly.
 *
 * Sharing a price.  total(g) = sum_S m_S / lambda_S(g), m_S = dim V_S sum over B containing S of prod_{i not in B} n_i, is
 * convex in g and falls as 1 / t when g is multiplied by t.  Shares of the price are multiplied by the square root of how
 * fast the total falls with them, and made to add up to 1: the rule for A-optimal designs (Silvey, Titterington and
 * Torsney 1978), which never raises the total.  With h_A = -d total / d share_A, sum share_A h_A = total, and by convexity
 * the least total is at least 2 total - max h_A: that is the bound that is returned.
 *
 * The best mechanism.  With sensitivity 1 for each marginal, information L_S on V_S costs the diagonal of sum_S L_S P_S, which
 * is sum_S L_S dim V_S / N (a marginal: g_A).  The least sum_S m_S / L_S at cost 1 is (sum_S sqrt(m_S dim V_S))^2 / N, by Cauchy and
 * Schwarz, at L_S proportional to sqrt(m_S / dim V_S).  This is the optimum of ResidualPlanner (Xiao, He, Zhang and Kifer,
 * NeurIPS 2023) for the sum of variances.  It asks residuals, which no query in SQL is.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "math/marginals.h"

/* of dp_marginals_split: what is near enough to the least total, and work that is not exceeded for that */
#define NEAR_ENOUGH 1e-9
#define MOST_WORK 400000000.0

/* a smaller share is tried as 0 */
#define SMALL_SHARE 1e-4

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

/* Returns the sum over marginals that contain S of how many cells one of theirs is the sum of: m_S / dim V_S. */
static double
wanted_of(const dp_marginals *m, uint32_t s)
{
	double		wanted = 0;

	for (int b = 0; b < m->n; b++)
		if ((s & ~m->axes[b]) == 0)
			wanted += cells_of_one(m, m->axes[b]);
	return wanted;
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

double
dp_marginals_total(const dp_marginals *m)
{
	double		total = 0;

	for (int b = 0; b < m->n; b++)
		total += dp_marginal_cells(m, m->axes[b]) * dp_marginal_variance(m, m->axes[b]);
	return total;
}

/* ------------------------------------------------------------------------
 * Sharing a price
 * ------------------------------------------------------------------------
 */

/* Returns the total, and sets how fast it falls with each information. */
static double
total_and_slopes(const dp_marginals *m, double *slope)
{
	double		total = 0;

	for (int a = 0; a < m->n; a++)
		slope[a] = 0;
	for (uint32_t s = 0; s <= all_axes(m); s++)
	{
		double		wanted = wanted_of(m, s) * dimensions(m, s);
		double		known;

		if (wanted <= 0)
			continue;
		known = known_of(m, s);
		total += wanted / known;
		for (int a = 0; a < m->n; a++)
			if ((s & ~m->axes[a]) == 0)
				slope[a] += wanted / known / known * cells_of_one(m, m->axes[a]);
	}
	return total;
}

/* Takes the marginal out if what it costs buys more elsewhere. */
static void
try_without(dp_marginals *m, int a, const double *cost, double total)
{
	dp_marginals without = *m;
	double		rest = 1 - m->information[a] * cost[a];

	if (rest <= 0)
		return;
	without.information[a] = 0;
	for (int i = 0; i < m->n; i++)
		without.information[i] /= rest;
	if (dp_marginals_total(&without) <= total)
		*m = without;
}

double
dp_marginals_split(dp_marginals *m, const double *cost)
{
	double		slope[DP_MAX_MARGINALS];
	double		total = 0;
	double		steepest = 0;
	int			most = (int) fmin(20000, 100 + MOST_WORK / ((double) (all_axes(m) + 1) * m->n * m->n));

	for (int a = 0; a < m->n; a++)
		m->information[a] = 1.0 / m->n / cost[a];
	for (int round = 0; round <= most; round++)
	{
		double		sum = 0;

		total = total_and_slopes(m, slope);
		steepest = 0;
		for (int a = 0; a < m->n; a++)
		{
			slope[a] /= cost[a];
			steepest = fmax(steepest, slope[a]);
			sum += m->information[a] * cost[a] * sqrt(slope[a]);
		}
		if (steepest <= total * (1 + NEAR_ENOUGH) || round == most)
			break;
		for (int a = 0; a < m->n; a++)
			m->information[a] *= sqrt(slope[a]) / sum;
	}
	for (int a = 0; a < m->n; a++)
	{
		double		share = m->information[a] * cost[a];

		if (share > 0 && share < SMALL_SHARE)
			try_without(m, a, cost, dp_marginals_total(m));
	}
	total = total_and_slopes(m, slope);
	steepest = 0;
	for (int a = 0; a < m->n; a++)
		steepest = fmax(steepest, slope[a] / cost[a]);
	return fmax(steepest / total - 1, 0);
}

double
dp_marginals_optimum(const dp_marginals *m, double *variance)
{
	double		all = dp_marginal_cells(m, all_axes(m));
	double		sum = 0;
	double		total = 0;

	for (uint32_t s = 0; s <= all_axes(m); s++)
		sum += dimensions(m, s) * sqrt(wanted_of(m, s));
	for (int b = 0; b < m->n; b++)
	{
		uint32_t	axes = m->axes[b];

		variance[b] = 0;
		for (uint32_t s = axes;; s = (s - 1) & axes)
		{
			/* dim V_S / L_S, L_S = sqrt(wanted) N / sum */
			variance[b] += dimensions(m, s) * sum / all / sqrt(wanted_of(m, s));
			if (s == 0)
				break;
		}
		variance[b] *= cells_of_one(m, axes) / dp_marginal_cells(m, axes);
		total += variance[b] * dp_marginal_cells(m, axes);
	}
	return total;
}

/* ------------------------------------------------------------------------
 * Agreeing
 * ------------------------------------------------------------------------
 */

/* a walk through the table by the axes of the finest, which knows its place in the table of a marginal */
typedef struct Walk
{
	int			n;				/* axes of the finest, the last first */
	int64_t		size[DP_MAX_AXES];
	int64_t		at[DP_MAX_AXES];
	int64_t		step[DP_MAX_AXES];	/* in the marginal's table; 0: not its axis */
	int64_t		place;
} Walk;

static void
walk_begin(Walk *w, const dp_marginals *m, uint32_t finest, uint32_t axes)
{
	int64_t		step = 1;

	w->n = 0;
	w->place = 0;
	for (int i = m->naxes - 1; i >= 0; i--)
	{
		if (!(finest & (1u << i)))
			continue;
		w->size[w->n] = m->size[i];
		w->at[w->n] = 0;
		w->step[w->n] = axes & (1u << i) ? step : 0;
		if (axes & (1u << i))
			step *= m->size[i];
		w->n++;
	}
}

static void
walk_on(Walk *w)
{
	for (int i = 0; i < w->n; i++)
	{
		w->place += w->step[i];
		if (++w->at[i] < w->size[i])
			return;
		w->place -= w->step[i] * w->size[i];
		w->at[i] = 0;
	}
}

/* Helmert's transform of n numbers that are stride apart; the first becomes the constant part. */
static void
transform(double *x, int64_t n, int64_t stride)
{
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
transform_back(double *x, int64_t n, int64_t stride)
{
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
add_up(double *x, int64_t n, int64_t stride)
{
	for (int64_t k = 1; k < n; k++)
		x[k * stride] += x[(k - 1) * stride];
}

static void
take_apart(double *x, int64_t n, int64_t stride)
{
	for (int64_t k = n - 1; k >= 1; k--)
		x[k * stride] -= x[(k - 1) * stride];
}

/* Does so along each axis of the finest table. */
static void
along_axes(const dp_marginals *m, uint32_t finest, double *x, void (*step) (double *x, int64_t n, int64_t stride))
{
	int64_t		cells = (int64_t) dp_marginal_cells(m, finest);
	int64_t		stride = 1;

	for (int i = m->naxes - 1; i >= 0; i--)
	{
		if (!(finest & (1u << i)))
			continue;
		for (int64_t first = 0; first < cells; first += stride * m->size[i])
			for (int64_t j = 0; j < stride; j++)
				step(x + first + j, m->size[i], stride);
		stride *= m->size[i];
	}
}

/* Adds up the finest table to that of a marginal. */
static void
sum_to(const dp_marginals *m, uint32_t finest, const dp_i128 *from, uint32_t axes, dp_i128 *to, int sign)
{
	int64_t		cells = (int64_t) dp_marginal_cells(m, finest);
	Walk		w;

	walk_begin(&w, m, finest, axes);
	for (int64_t i = 0; i < cells; i++)
	{
		to[w.place] += sign > 0 ? from[i] : -from[i];
		walk_on(&w);
	}
}

/* Divides the transform by lambda. */
static void
divide(const dp_marginals *m, uint32_t finest, double *x)
{
	int64_t		cells = (int64_t) dp_marginal_cells(m, finest);
	double		known[1 << DP_MAX_AXES];
	Walk		w;

	for (uint32_t s = 0; s <= all_axes(m); s++)
		known[s] = known_of(m, s);
	walk_begin(&w, m, finest, finest);
	for (int64_t i = 0; i < cells; i++)
	{
		uint32_t	s = 0;
		int			j = 0;

		for (int axis = m->naxes - 1; axis >= 0; axis--)
		{
			if (finest & (1u << axis))
				s |= w.at[j++] > 0 ? 1u << axis : 0;
		}
		x[i] /= known[s];
		walk_on(&w);
	}
}

void
dp_marginals_agree(const dp_marginals *m, int finest, dp_i128 **values, double *work)
{
	uint32_t	all = m->axes[finest];
	int64_t		cells = (int64_t) dp_marginal_cells(m, all);
	dp_i128    *table = values[finest];

	for (int64_t i = 0; i < cells; i++)
		work[i] = 0;
	for (int a = 0; a < m->n; a++)
	{
		Walk		w;

		if (a == finest || m->information[a] <= 0)
			continue;
		/* what the marginal differs by, as noise does */
		sum_to(m, all, table, m->axes[a], values[a], -1);
		walk_begin(&w, m, all, m->axes[a]);
		for (int64_t i = 0; i < cells; i++)
		{
			work[i] += m->information[a] * (double) values[a][w.place];
			walk_on(&w);
		}
	}
	along_axes(m, all, work, transform);
	divide(m, all, work);
	along_axes(m, all, work, transform_back);

	along_axes(m, all, work, add_up);
	for (int64_t i = 0; i < cells; i++)
		work[i] = rint(work[i]);
	along_axes(m, all, work, take_apart);
	for (int64_t i = 0; i < cells; i++)
		table[i] += (dp_i128) work[i];
	for (int a = 0; a < m->n; a++)
	{
		if (a == finest)
			continue;
		for (int64_t i = (int64_t) dp_marginal_cells(m, m->axes[a]) - 1; i >= 0; i--)
			values[a][i] = 0;
		sum_to(m, all, table, m->axes[a], values[a], 1);
	}
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
