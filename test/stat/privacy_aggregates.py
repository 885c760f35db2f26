#!/usr/bin/env python3
"""privacy_empirical.py's question, asked of averages, regression, quantiles,
histograms and distinct counts.

Where the answer shows all of what was released (bins, distinct counts, an
average together with dp_noise_stddev, from which both of its noisy sums can
be computed) the difference is made to reach the sensitivity, and for one of each
kind an eighth of the charge, in `make test-all` a quarter, must be refuted. The rest has fewer runs: 2,000 find a loss
of 5.2 times the charge, 1,500 of a tree one of 6.3 times. Answers that show less, such as a quantile, must
merely not tell more than was charged for, and few runs could not tell less;
that a tree has the noise it should is for aggregate_noise.py to find.
"""
import math

from dpstat import Tap, sensitivity2
from privacy_empirical import KEYS, MAX_GROUPS, MAX_ROWS, RHO, Shape, array, audited, by_group, weigh

RUNS = 2000
TREE_RUNS = 1500                # a tree takes 4368 draws
# beside those that refute something
TELLING = "bins of a heavy unit by group", "dp_variance(x, -10, 10)", "share outside of bounds", "dp_median(x, -10, 10)"


def vector(aggregate, source):
    return "SELECT %s::float8[] AS v FROM %s" % (aggregate, source)


def two(a, b, source):
    return "SELECT ARRAY[(%s)::float8, (%s)::float8] AS v FROM %s" % (a, b, source)


def average_sums(unit, relation, signs):
    """From avg(x, -10, 10) and its standard deviation back to the noisy number of rows and sum, weighed by signs."""
    m = MAX_ROWS if unit else 1
    # a third of the price is for the number, two thirds are for the sum
    s_n, s_t = (math.sqrt(sensitivity2(lower, m, 1, False, relation) / (2 * RHO * share)) for lower, share in ((0, 1 / 3), (-m, 2 / 3)))

    def statistic(v):
        t = v[0] / 10
        n = 10 / v[1] * math.sqrt(s_t ** 2 + t * t * s_n ** 2)
        # the sums, each in units of its noise, and as telling as the unit changes them
        return (signs[0] * n / s_n ** 2 + signs[1] * n * t / s_t ** 2) * min(s_n, s_t)
    return statistic


def shapes():
    add, replace = "add_remove", "replace_one"
    many = [(u, u % 3 + 1, (-5, 0, 5)[u % 3]) for u in range(1, 61)]
    few = [(u, u % 3 + 1, 2) for u in range(1, 7)]
    high = [(99, 1, 1000)] * 10
    low = [(99, 1, -1000)] * 10
    row_high, row_low = high[:1], low[:1]
    # as many different values, in one group or in all
    values = [(99, 1, 100 + i) for i in range(10)]
    everywhere = [(99, g, x) for g in range(1, MAX_GROUPS + 1) for _, _, x in values]
    others = [(99, g, x) for g in range(MAX_GROUPS + 1, 2 * MAX_GROUPS + 1) for _, _, x in values]
    ones = [1] * MAX_GROUPS + [0] * (KEYS - MAX_GROUPS)
    moved = [-1] * MAX_GROUPS + [1] * MAX_GROUPS + [0] * (KEYS - 2 * MAX_GROUPS)
    average = two("dp_avg(x, -10, 10)", "dp_noise_stddev(dp_avg(x, -10, 10))", "{t}")
    all_bins = vector("dp_histogram(x, -10, 10, 4)", "{t}")
    by_bins = ("SELECT array_agg(h[4]::float8 ORDER BY g) AS v FROM"
               " (SELECT g, dp_histogram(x, -10, 10, 4) AS h FROM {t} GROUP BY g) r")
    result = [
        Shape("average, a row", add, False, average, many, [], row_high, average_sums(False, add, (1, 1)), sharp=False),
        Shape("average, a heavy unit", add, True, average, many, [], high, average_sums(True, add, (1, 1))),
        Shape("average, a unit replaced", replace, True, average, many, low, high, average_sums(True, replace, (0, 1)), sharp=False),
        Shape("bin of a row", add, False, all_bins, few, [], row_high, weigh(0, 0, 0, 1), sharp=False),
        Shape("bin of a heavy unit", add, True, all_bins, few, [], high, weigh(0, 0, 0, 1), sharp=False),
        Shape("bins of a unit replaced", replace, True, all_bins, few, low, high, weigh(-1, 0, 0, 1)),
        Shape("bins of a heavy unit by group", add, True, by_bins, few, [],
              [(99, g, 1000) for g in range(1, MAX_GROUPS + 1) for _ in range(10)], weigh(*ones), sharp=False),
        Shape("distinct values of rows", add, False, array("dp_count(DISTINCT x)", "{t}"), few, [], row_high, weigh(1), sharp=False),
        Shape("distinct values of a heavy unit", add, True, array("dp_count(DISTINCT x)", "{t}"), few, [], values, weigh(1)),
        Shape("distinct values, a unit replaced", replace, True, array("dp_count(DISTINCT x)", "{t}"), few,
              [(99, 1, 2)] * 10, values, weigh(1), sharp=False),
        Shape("distinct values by group", add, True, by_group("dp_count(DISTINCT x)", "{t}"), few, [], everywhere, weigh(*ones), sharp=False),
        Shape("distinct values in other groups", replace, True, by_group("dp_count(DISTINCT x)", "{t}"), few, everywhere, others,
              weigh(*moved)),
        Shape("share outside of bounds", add, True, two("dp_clipped(x, -10, 10)", "dp_noise_stddev(dp_clipped(x, -10, 10))", "{t}"),
              many[:12], [], high, weigh(1, 0), sharp=False),
        Shape("upper bound", add, True, "SELECT coalesce(dp_bounds(x), '{{0,0}}'::float8[]) AS v FROM {t}", few, [], high,
              lambda v: math.log(abs(v[1]) + 1), sharp=False),
    ]
    for aggregate, statistic in (("dp_variance(x, -10, 10)", weigh(1)), ("dp_stddev_pop(x, -10, 10)", weigh(1)),
                                 ("dp_covariance(x, x, -10, 10, -10, 10)", weigh(1)),
                                 ("dp_correlation(x, g, -10, 10, 1, 5)", weigh(-1)),
                                 ("dp_regr_slope(x, g, -10, 10, 1, 5)", weigh(-1)),
                                 ("dp_regr_intercept(x, g, -10, 10, 1, 5)", weigh(1))):
        result.append(Shape(aggregate, add, True, array(aggregate, "{t}"), few, [], high, statistic, sharp=False))
    for relation, first in ((add, []), (replace, low)):
        for aggregate in ("dp_median(x, -10, 10)", "dp_max(x, -10, 10)"):
            result.append(Shape(aggregate, relation, True, array(aggregate, "{t}"), few, first, high, weigh(1), sharp=False,
                                runs=TREE_RUNS))
    result.append(Shape("several quantiles", add, True, vector("dp_quantile(x, ARRAY[0.3, 0.5, 0.7, 0.9], -10, 10)", "{t}"), few, [],
                        high, weigh(1, 1, 1, 1), sharp=False, runs=TREE_RUNS))
    for shape in result:
        shape.runs = shape.runs if shape.sharp else min(shape.runs, RUNS)
        shape.telling = shape.sharp or shape.name in TELLING
    return result


def main():
    tap = Tap("privacy_aggregates.py", len(shapes()))
    audited(tap, shapes())
    tap.done()


if __name__ == "__main__":
    main()
