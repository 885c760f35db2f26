#!/usr/bin/env python3
"""Generate test/unit/known_marginals.h: noisy marginals, by dense matrices of 30 digits.

Nothing of src/math/marginals.c is used: marginals are matrices of zeros and ones, least
squares are normal equations that are solved as such, variances are taken from the inverse, the best
split is found by moving price between pairs of marginals (golden section) until nothing is won, and
the best of all Gaussian mechanisms is the bound by singular values (Li and Miklau 2013), (their sum)^2 / cells, which is
met for marginals.

Usage: python3 test/unit/tools/gen_known_marginals.py > test/unit/known_marginals.h
"""
import itertools
import random

from mpmath import eigsy, inf, matrix, mp, mpf, sqrt

mp.dps = 30
GOLDEN = (sqrt(mpf(5)) - 1) / 2


def marginal(sizes, axes):
    cells = list(itertools.product(*[range(n) for n in sizes]))
    groups = list(itertools.product(*[range(n) for i, n in enumerate(sizes) if axes >> i & 1]))
    place = {g: k for k, g in enumerate(groups)}
    q = matrix(len(groups), len(cells))
    for j, cell in enumerate(cells):
        q[place[tuple(v for i, v in enumerate(cell) if axes >> i & 1)], j] = 1
    return q


def normal(qs, g):
    m = matrix(qs[0].cols, qs[0].cols)
    for q, weight in zip(qs, g):
        m += weight * (q.T * q)
    return m


def trace(a):
    return sum(a[i, i] for i in range(a.rows))


def variances(sizes, sets, qs, g):
    """of a cell of each marginal; the table is known on what was asked, so a ridge that counts nothing keeps M regular"""
    asked = normal(qs, g)
    scale = max(asked[i, i] for i in range(asked.rows))
    ridge = mpf(10) ** -18 * scale
    for i in range(asked.rows):
        asked[i, i] += ridge
    inverse = asked ** -1
    return [trace(q * inverse * q.T) / q.rows for q in qs]


def least_squares(qs, g, y):
    """the table; where nothing was asked of it the ridge keeps it at about 0, which no marginal that was asked shows"""
    m = normal(qs, [mpf(w) for w in g])
    scale = max(m[i, i] for i in range(m.rows))
    for i in range(m.rows):
        m[i, i] += mpf(10) ** -18 * scale
    right = matrix(qs[0].cols, 1)
    for q, w, t in zip(qs, g, y):
        right += mpf(w) * (q.T * matrix(t))
    return m ** -1 * right


def float_inverse(a):
    """Gauss and Jordan, for a positive definite matrix of floats"""
    n = len(a)
    a = [row[:] + [float(i == j) for j in range(n)] for i, row in enumerate(a)]
    for i in range(n):
        pivot = a[i][i]
        row = a[i] = [x / pivot for x in a[i]]
        for k in range(n):
            if k != i and a[k][i] != 0:
                f = a[k][i]
                a[k] = [x - f * y for x, y in zip(a[k], row)]
    return [row[n:] for row in a]


def total(grams, wanted, share, cost):
    """the sum of all variances, trace(W inverse(M)), with floats"""
    n = len(wanted)
    g = [s / c for s, c in zip(share, cost)]
    m = [[sum(w * q[i][j] for w, q in zip(g, grams)) for j in range(n)] for i in range(n)]
    ridge = 1e-11 * max(m[i][i] for i in range(n))
    for i in range(n):
        m[i][i] += ridge
    inverse = float_inverse(m)
    return sum(inverse[i][j] * wanted[i][j] for i in range(n) for j in range(n))


def best_split(qs, cost):
    n = len(qs)
    share = [1 / n] * n
    grams = [[[float(x) for x in row] for row in (q.T * q).tolist()] for q in qs]
    wanted = [[sum(q[i][j] for q in grams) for j in range(qs[0].cols)] for i in range(qs[0].cols)]
    value = total(grams, wanted, share, cost)
    golden = float(GOLDEN)
    while True:
        before = value
        for i, j in itertools.combinations(range(n), 2):
            both = share[i] + share[j]

            def f(x):
                moved = list(share)
                moved[i], moved[j] = both * x, both * (1 - x)
                return total(grams, wanted, moved, cost)
            a, b = 1e-7, 1 - 1e-7
            c, d = b - golden * (b - a), a + golden * (b - a)
            fc, fd = f(c), f(d)
            for _ in range(24):
                if fc < fd:
                    b, d, fd = d, c, fc
                    c = b - golden * (b - a)
                    fc = f(c)
                else:
                    a, c, fc = c, d, fd
                    d = a + golden * (b - a)
                    fd = f(d)
            x = (a + b) / 2
            if f(x) < value:
                share[i], share[j] = both * x, both * (1 - x)
                value = f(x)
        if before - value < before * 1e-8:
            return value


def optimum(qs):
    w = eigsy(normal(qs, [1] * len(qs)), eigvals_only=True)
    return sum(sqrt(x) for x in w if x > mpf(10) ** -20) ** 2 / qs[0].cols


def case(name, sizes, sets, g, cost, rng, share=True):
    """share: the best split is asked, too; floats are too coarse for it where the table is not known"""
    qs = [marginal(sizes, a) for a in sets]
    v = variances(sizes, sets, qs, [mpf(x) for x in g])
    split = best_split(qs, [float(c) for c in cost]) if share else 0
    y = [[rng.randrange(-1000, 5000) for _ in range(q.rows)] for q in qs]
    values = [t for table in y for t in table]
    estimate = []
    if all(g):
        x = least_squares(qs, g, y)
        estimate = [e for q in qs for e in q * x]

    def numbers(xs):
        return "{" + ", ".join(mp.nstr(mpf(x), 17) if x != inf else "HUGE_VAL" for x in xs) + "}"
    print("\t{" + f'"{name}", {len(sizes)}, {{{", ".join(map(str, sizes))}}}, {len(sets)}, {{{", ".join(map(str, sets))}}}, {numbers(g)},')
    print(f"\t\t{numbers(v)}, {numbers(cost)}, {split:.9g}, {mp.nstr(optimum(qs), 17)}, {int(all(g))},")
    print(f'\t\t{{{", ".join(map(str, values)) or 0}}},')
    print("\t\t" + numbers(estimate or [0]) + "},")


def main():
    rng = random.Random(20231)
    print("/* generated by tools/gen_known_marginals.py; do not edit */")
    print("static const known_marginals known[] =\n{")
    case("a total and its parts", [4], [0, 1], [1, 1], [1, 1], rng)
    case("a cube of two", [2, 3], [0, 1, 2, 3], [0.02, 0.02, 0.02, 0.02], [1, 1, 1, 1], rng)
    case("a cube of two at prices", [2, 3], [0, 1, 2, 3], [0.02, 0.5, 0.001, 0.1], [1, 2, 0.5, 3], rng)
    case("a cube of three", [3, 2, 2], [0, 1, 2, 4, 3, 5, 6, 7], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [1] * 8, rng)
    case("a rollup of three", [2, 3, 2], [0, 1, 3, 7], [1, 1, 1, 1], [1, 1, 1, 1], rng)
    case("no finest", [2, 3, 2], [3, 6, 2], [1, 0.5, 2], [1, 1, 1], rng)
    case("two margins and a total", [3, 4], [1, 2, 0], [0.02, 0.02, 0.02], [1, 1, 1], rng, share=False)
    case("a cube without its top", [3, 2, 2], [3, 5, 6, 1, 2, 4, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [1] * 7, rng, share=False)
    case("apart but for the total", [2, 2, 3], [3, 4], [1, 0.3], [1, 2], rng, share=False)
    case("an axis of one value", [1, 3], [0, 3, 1], [1, 0.25, 1], [1, 1, 1], rng)
    case("one that is not asked", [2, 4], [0, 1, 3], [0, 2, 1], [1, 1, 1], rng)
    case("one alone", [5], [1], [0.5], [2], rng)
    print("};")


main()
