#!/usr/bin/env python3
"""Print what check_fit tells: how far off a law has to be so that a test with n
draws fails with a probability of 1 - 1e-9, for the sizes of its samples.

The statistic, 2 n D, has under a law that is not far off nearly a noncentral
chi-square distribution, with 2 n D of the cells' probabilities as its
noncentrality.  Limits and cells are those of fit() in unit.c.  A row has the
sizes of all draws, of usual ones and of the sanitized program's.

Usage: python3 test/unit/tools/power.py
"""
from math import ceil, erfc, exp, inf, lgamma, log, sqrt

FALSE_ALARM = 1e-11, 1e-11, 1e-12      # of all draws, of usual ones, of the sanitized program's
MISSED = 1e-9


def solve(f, low, high):
    """where a falling f is 0"""
    while f(high) > 0:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return high


def limit(d, alarm):
    return 2 * solve(lambda x: -x + d * (1 + log(x / d)) - log(alarm), d, d + 1)


def chi_square_below(d, x):
    """by the series, which is short enough where x is not far beyond d"""
    a, x = d / 2, x / 2
    term = total = 1 / a
    while term > total * 1e-17:
        a += 1
        term *= x / a
        total += term
    return min(1, total * exp(-x + d / 2 * log(x) - lgamma(d / 2)))


def missed(d, alarm, noncentral):
    """the probability that the statistic is below its limit"""
    half, x = noncentral / 2, limit(d, alarm)
    near = 12 * sqrt(half) + 20
    return sum(exp(-half + j * log(half) - lgamma(j + 1)) * chi_square_below(d + 2 * j, x)
               for j in range(max(0, int(half - near)), int(half + near)))


def merge(p, q, n, least):
    """as fit(): cells that expect at least "least" """
    cells, a, b, left = [], 0, 0, 1
    for i, (x, y) in enumerate(zip(p, q)):
        a, b, left = a + x, b + y, left - x
        if i == len(p) - 1 or (a * n >= least and left * n >= least):
            cells.append((a, b))
            a = b = 0
    return cells


known = {}


def told(law, n, alarm, least=10):
    """the least x for which law(x) is told from law(0)"""
    p = law(0)
    cells = merge(p, p, n, least)
    d = len(cells) - 1
    if (d, alarm) not in known:
        known[d, alarm] = solve(lambda x: log(missed(d, alarm, x)) - log(MISSED), 1, 100)

    def short(x):
        return known[d, alarm] - 2 * n * sum(b * log(b / a) for a, b in merge(p, law(x), n, least) if b > 0)
    return d, solve(short, 0, 1e-3)


def mass(a, b):
    """of the normal law"""
    return (erfc(a / sqrt(2)) - erfc(b / sqrt(2))) / 2 if a + b >= 0 else mass(-b, -a)


def classes(edges, factor=1):
    edges = [-inf] + edges + [inf]
    return [mass(a / sqrt(factor), b / sqrt(factor)) for a, b in zip(edges, edges[1:])]


def variance_of(v):
    """a discrete Gaussian with a variance of 1 + x times v"""
    reach = ceil(9 * sqrt(v)) + 9

    def law(x):
        w = [exp(-z * z / (2 * v * (1 + x))) for z in range(-reach, reach + 1)]
        total = sum(w)
        return [y / total for y in w]
    return law


def mean_of(v):
    """a discrete Gaussian that is shifted by x deviations"""
    reach = ceil(9 * sqrt(v)) + 9

    def law(x):
        w = [exp(-(z - x * sqrt(v)) ** 2 / (2 * v)) for z in range(-reach, reach + 1)]
        total = sum(w)
        return [y / total for y in w]
    return law


def normal_variance(step, reach):
    edges = [i * step for i in range(-int(reach / step), int(reach / step) + 1)]
    return lambda x: classes(edges, 1 + x)


def correlated(edges, others=()):
    """two normal variables of correlation x in classes, and independent ones"""
    single = classes(edges)

    def law(x):
        # the second variable's class, by the midpoint rule over the first
        joint = []
        for a, b in zip([-9] + edges, edges + [9]):
            points = [a + (i + 0.5) * (b - a) / 400 for i in range(400)]
            weights = [exp(-t * t / 2) for t in points]
            scale = mass(a, b) / sum(weights)
            for c, d in zip([-inf] + edges, edges + [inf]):
                joint.append(scale * sum(w * mass((c - x * t) / sqrt(1 - x * x), (d - x * t) / sqrt(1 - x * x))
                                         for t, w in zip(points, weights)))
        for _ in others:
            joint = [a * b for a in joint for b in single]
        total = sum(joint)
        return [j / total for j in joint]
    return law


def tail(x):
    """beyond 45, of sigma 8"""
    w = [exp(-z * z / (2 * 64 * (1 + x))) for z in range(45, 400)]
    half = w[:30] + [sum(w[30:])]
    return [y / (2 * sum(half)) for y in half + half]


def coin(p):
    return lambda x: [1 - p - x, p + x]


def bit(x):
    """the lowest of six"""
    return [(1 + (x if i % 2 else -x)) / 64 for i in range(64)]


def main():
    fine = normal_variance(1 / 64, 7)
    rows = [
        ("law, sigma 0.3, variance", variance_of(0.09), (2000000, 500000, 20000)),
        ("law, sigma 1, variance", variance_of(1), (2000000, 500000, 20000)),
        ("law, sigma 4.1, variance", variance_of(50 / 3), (2000000, 500000, 20000)),
        ("law, sigma 8, variance", variance_of(64), (2000000, 500000, 20000)),
        ("law, sigma from 64, variance", fine, (2000000, 500000, 20000)),
        ("law, coarse, variance", fine, (2000000, 500000, 20000), 20),
        ("law, a bit's probability, relative", bit, (2000000, 500000, 20000)),
        ("serial, correlation", correlated([-1.2, -0.6, -0.2, 0, 0.2, 0.6, 1.2]), (1000000, 300000, 20000)),
        ("tail, variance", tail, (48000, 48000, 9600)),
        ("exact decision, probability", coin(0.5), (20000, 20000, 2000)),
        ("top-up and degraded, variance", variance_of(10), (300000, 300000, 20000)),
        ("small bridges, variance 2, variance", variance_of(2), (200000, 60000, 5000)),
        ("small bridges, variance 2, mean", mean_of(2), (200000, 60000, 5000)),
        ("small bridges, variance 21, variance", variance_of(21), (200000, 60000, 5000)),
        ("small bridges, variance 21, mean", mean_of(21), (200000, 60000, 5000)),
        ("large bridges, variance", normal_variance(1 / 8, 3.9), (200000, 100000, 20000)),
        ("chain, correlation of two steps", correlated([-0.6, 0.6], "34"), (200000, 100000, 10000)),
        ("chain, the same in 5 classes", correlated([-1, -0.3, 0.3, 1], "34"), (200000, 100000, 10000)),
        ("undecided bridge, probability", coin(0.3), (20000, 20000, 2000)),
    ]
    for name, law, sizes, *coarse in rows:
        print("%-40s" % name, *("n %8d, d %4d: %-8.3g" % (n, *told(law, n, alarm, n / coarse[0] if coarse else 10))
                                for n, alarm in zip(sizes, FALSE_ALARM)))


main()
