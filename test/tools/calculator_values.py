#!/usr/bin/env python3
"""Makes test/stat/calculator_values.csv: what the calculators must answer.

usage: calculator_values.py >test/stat/calculator_values.csv

Needs python3-mpmath; running the tests does not.  Every value is computed
from the definition or theorem, by brute force rather than by the methods of
src/math: minima over orders by golden section, inverses by bisection, optimal
composition by enumerating outcomes, discrete Gaussians by summing their
masses.  Each is computed with 80 and again with 130 digits, from the exact
binary64 arguments, and both must agree to 30 digits.

The columns: sql is an expression, expected its value with 25 digits, or
"Infinity", or "error ZC004"; reltol is how far a double may be off: 8 ulp,
and 8 ulp of each argument times what the result gains or loses by it.  After
a sign the answer may be off in that direction alone.
"""
import csv
import itertools
import random
import sys

from mpmath import mp, mpf

INF = mp.inf
DIGITS = (80, 130)


# ---- numerical tools ------------------------------------------------------

def golden(f, low, high):
    """The least value of f over [low, high], a function with one minimum."""
    ratio = (mp.sqrt(5) - 1) / 2
    a, b = mpf(low), mpf(high)
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    fc, fd = f(c), f(d)
    while b - a > mpf(10) ** (-mp.dps // 2) * (1 + abs(a)):
        if fc < fd:
            b, d, fd = d, c, fc
            c = b - ratio * (b - a)
            fc = f(c)
        else:
            a, c, fc = c, d, fd
            d = a + ratio * (b - a)
            fd = f(d)
    return min(fc, fd, f((a + b) / 2))


def over_orders(f):
    """The least f(t) over t = alpha - 1 > 0."""
    grid = [mpf(i) for i in range(-80, 60)]
    best = min(grid, key=lambda s: f(mp.exp(s)))
    return golden(lambda s: f(mp.exp(s)), best - 1, best + 1)


def bisect(f, low, high):
    """Where the rising function f passes 0."""
    low, high = mpf(low), mpf(high)
    for _ in range(int(mp.dps * 3.4) + 60):
        mid = (low + high) / 2
        if f(mid) < 0:
            low = mid
        else:
            high = mid
    return (low + high) / 2


def smallest(f, start=1):
    """Where the rising function f passes 0, in [0, infinity)."""
    high = mpf(start)
    while f(high) < 0:
        high *= 2
    low = high
    while low > mpf(2) ** -1200 and f(low) >= 0:
        low /= 2
    return bisect(f, low, high)


# ---- definitions ----------------------------------------------------------

def log1m(x):
    return mp.log1p(-x)


def zcdp_epsilon(rho, delta, xi=0):
    """Canonne, Kamath, Steinke 2020, Proposition 12"""
    f = lambda t: (1 + t) * rho - mp.log((1 + t) * delta) / t + mp.log(t / (1 + t))
    return max(mpf(0), xi + over_orders(f))


def zcdp_delta(rho, epsilon, xi=0):
    e = epsilon - xi
    f = lambda t: t * ((1 + t) * rho - e) + t * mp.log(t / (1 + t)) - mp.log(1 + t)
    return min(mpf(1), mp.exp(over_orders(f)))


def zcdp_rho(epsilon, delta, xi=0):
    e = epsilon - xi
    f = lambda t: -(e + mp.log((1 + t) * delta) / t + mp.log((1 + t) / t)) / (1 + t)
    return max(mpf(0), -over_orders(f))


def simple_epsilon(rho, delta, xi=0):
    """Bun, Steinke 2016, Lemma 3.5"""
    return xi + rho + mp.sqrt(4 * rho * mp.log(1 / delta))


def simple_delta(rho, epsilon, xi=0):
    e = epsilon - xi
    return mp.exp(-(e - rho) ** 2 / (4 * rho)) if e >= rho else mpf(1)


def simple_rho(epsilon, delta, xi=0):
    e, log = epsilon - xi, mp.log(1 / delta)
    return (mp.sqrt(e + log) - mp.sqrt(log)) ** 2


def bs36_delta(rho, epsilon, xi=0):
    """Bun, Steinke 2016, Lemma 3.6"""
    e = epsilon - xi
    if e < rho:
        return mpf(1)
    x = (e - rho) / (2 * rho)
    return simple_delta(rho, epsilon, xi) * min(
        mpf(1), mp.sqrt(mp.pi * rho), 1 / (1 + x),
        2 / (1 + x + mp.sqrt((1 + x) ** 2 + 4 / (mp.pi * rho))))


def bs36_epsilon(rho, delta, xi=0):
    least = xi + rho
    if bs36_delta(rho, least, xi) <= delta:
        return least
    return least + smallest(lambda s: delta - bs36_delta(rho, least + s, xi))


def bs36_rho(epsilon, delta, xi=0):
    e = epsilon - xi
    if bs36_delta(e, e) <= delta:
        return e
    return bisect(lambda rho: bs36_delta(rho, e) - delta, mpf(10) ** -400, e)


def tail(x):
    """Upper tail of the normal distribution."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def gdp_delta(mu, epsilon):
    """Balle, Wang 2018, Theorem 8"""
    return tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * tail(epsilon / mu + mu / 2)


def gdp_epsilon(mu, delta):
    if gdp_delta(mu, mpf(0)) <= delta:
        return mpf(0)
    return smallest(lambda e: delta - gdp_delta(mu, e))


def gdp_mu(epsilon, delta):
    return smallest(lambda mu: gdp_delta(mu, epsilon) - delta)


def discrete_gaussian_delta(sensitivity, sigma, epsilon):
    """Canonne, Kamath, Steinke 2020, Theorem 7"""
    n = int(sigma * 30) + int(sensitivity) + 40
    weight = [mp.exp(-mpf(x) ** 2 / (2 * sigma ** 2)) for x in range(n + 1)]
    total = weight[0] + 2 * mp.fsum(weight[1:])

    def above(x):
        first = int(mp.floor(x)) + 1
        return mp.fsum(weight[abs(i)] for i in range(first, n + 1)) / total

    middle = epsilon * sigma ** 2 / sensitivity
    return above(middle - sensitivity / 2) - mp.exp(epsilon) * above(middle + sensitivity / 2)


def optimal_delta(epsilons, deltas, epsilon_g):
    """Murtagh, Vadhan 2016, Theorem 1.5: every outcome of randomised response"""
    norm = mp.fprod(1 + mp.exp(e) for e in epsilons)
    parts = []
    for signs in itertools.product((0, 1), repeat=len(epsilons)):
        here = mp.exp(mp.fsum(e for e, s in zip(epsilons, signs) if s))
        there = mp.exp(mp.fsum(e for e, s in zip(epsilons, signs) if not s))
        parts.append(max(mpf(0), here - mp.exp(epsilon_g) * there))
    clean = mp.fprod(1 - d for d in deltas)
    return 1 - clean * (1 - mp.fsum(parts) / norm)


def optimal_delta_k(epsilon, delta, k, epsilon_g):
    """Kairouz, Oh, Viswanath 2015, Theorem 3.3"""
    parts = [mp.binomial(k, i) * max(mpf(0), mp.exp(epsilon * (k - i)) - mp.exp(epsilon_g + epsilon * i))
             for i in range(k + 1)]
    return 1 - (1 - delta) ** k * (1 - mp.fsum(parts) / (1 + mp.exp(epsilon)) ** k)


def optimal_epsilon(delta_of, delta_g, most):
    if delta_of(mpf(0)) <= delta_g:
        return mpf(0)
    if delta_of(most) > delta_g:
        return INF
    return bisect(lambda e: delta_g - delta_of(e), 0, most)


def advanced(mean):
    return lambda epsilon, slack, k: mp.sqrt(2 * k * mp.log(1 / slack)) * epsilon + k * mean(epsilon)


def tanh_mean(epsilon):
    return epsilon * mp.tanh(epsilon / 2)


def advanced_list(epsilons, slack):
    """Kairouz, Oh, Viswanath 2015, Theorem 3.5"""
    squares = mp.fsum(e ** 2 for e in epsilons)
    means = mp.fsum(tanh_mean(e) for e in epsilons)
    return min(mp.fsum(epsilons),
               means + mp.sqrt(2 * squares * mp.log(mp.e + mp.sqrt(squares) / slack)),
               means + mp.sqrt(2 * squares * mp.log(1 / slack)))


def advanced_k(epsilon, slack, k):
    """Kairouz, Oh, Viswanath 2015, Theorem 3.4: Theorem 3.5 of k alike"""
    return advanced_list([epsilon] * k, slack) if k <= 100 else min(
        k * epsilon, *(k * tanh_mean(epsilon) + epsilon * mp.sqrt(2 * k * mp.log(inside))
                       for inside in (mp.e + mp.sqrt(k) * epsilon / slack, 1 / slack)))


def boundary(p, alpha, k):
    """The least q for which a pair of two outcomes, p and q, has p^alpha q^(1 - alpha) + ... = k"""
    t = alpha - 1
    f = lambda s: p ** alpha * mp.exp(-t * s) + (1 - p) ** alpha * (1 - mp.exp(s)) ** -t - k
    high = mp.log(p)
    low = high - 1
    while f(low) < 0:
        low -= high - low
    for _ in range(30):
        mid = (low + high) / 2
        low, high = (mid, high) if f(mid) > 0 else (low, mid)
    return mp.exp(mp.findroot(f, (low, high), solver="secant", tol=mpf(10) ** (8 - 2 * mp.dps), verify=False, maxsteps=40))


def rdp_epsilon_pairs(alpha, epsilon, delta):
    """The worst (p - delta) / q of all pairs of two outcomes of that divergence"""
    k = mp.exp((alpha - 1) * epsilon)

    def f(s):
        p = (delta + mp.exp(s)) / (1 + mp.exp(s))
        return mp.log(boundary(p, alpha, k)) - mp.log(p - delta)
    best = min((mpf(i) for i in range(-60, 30, 3)), key=f)
    return max(mpf(0), -golden(f, best - 3, best + 3))


def rdp_delta_pairs(alpha, epsilon, target):
    k = mp.exp((alpha - 1) * epsilon)

    def f(s):
        p = 1 / (1 + mp.exp(-s))
        return mp.exp(target) * boundary(p, alpha, k) - p
    best = min((mpf(i) for i in range(-60, 30, 3)), key=f)
    return -golden(f, best - 3, best + 3)


def rdp_epsilon(alpha, epsilon, delta):
    return max(mpf(0), epsilon + mp.log(1 - 1 / alpha) - mp.log(alpha * delta) / (alpha - 1))


def rdp_delta(alpha, epsilon, target):
    return min(mpf(1), mp.exp((alpha - 1) * (epsilon - target)) * (1 - 1 / alpha) ** (alpha - 1) / alpha)


def shares(p):
    return [x / mp.fsum(p) for x in p]


def kl_divergence(p, q):
    return mp.fsum(x * mp.log(x / y) for x, y in zip(shares(p), shares(q)) if x > 0)


def max_divergence(p, q):
    return max(mp.log(x / y) for x, y in zip(shares(p), shares(q)) if x > 0)


def renyi_divergence(alpha, p, q):
    return mp.log(mp.fsum(x ** alpha * y ** (1 - alpha) for x, y in zip(shares(p), shares(q)) if x > 0)) / (alpha - 1)


def loss_tau(p, q):
    """The root of the largest 2 ln E exp(l X) / l^2, by a grid of l and golden section around its best"""
    law = [(x, mp.log(x / y)) for x, y in zip(shares(p), shares(q)) if x > 0]
    mean = mp.fsum(x * z for x, z in law)

    def f(l):
        return -2 * mp.log(mp.fsum(x * mp.exp(l * (z - mean)) for x, z in law)) / l ** 2
    points = [sign * mp.exp(mpf(i) / 4) for sign in (1, -1) for i in range(-60, 28)]
    best = min(points, key=f)
    variance = mp.fsum(x * (z - mean) ** 2 for x, z in law)
    return mp.sqrt(max(variance, -golden(f, min(best / 2, 2 * best), max(best / 2, 2 * best))))


def zcdp_tau(rho, xi):
    s = xi + 2 * rho
    tau2 = 2 * mp.expm1(s)
    return mp.sqrt(min(tau2, 4 * (mp.e - 1) * s ** 2) if s >= 1 else tau2)


def sensitivity(lower, upper, k, replace, grouped):
    m, span = max(abs(lower), abs(upper)), max(upper, 0) - min(lower, 0)
    if not replace:
        return mp.sqrt(k) * m
    return mp.sqrt(k * max(2 * m ** 2, span ** 2)) if grouped or k > 1 else span


def margin(rho, p):
    """Smallest w with P[|X| <= w] >= p for a count's discrete Gaussian."""
    sigma = 1 / mp.sqrt(2 * rho)
    weight = [mp.exp(-mpf(x) ** 2 / (2 * sigma ** 2)) for x in range(int(sigma * 40) + 40)]
    total = weight[0] + 2 * mp.fsum(weight[1:])
    inside, w = weight[0] / total, 0
    while inside < p:
        w += 1
        inside += 2 * weight[w] / total
    return mpf(w)


# ---- rows -----------------------------------------------------------------

def number(x):
    return "'%r'::float8" % x


def literal(x):
    if isinstance(x, (list, tuple)):
        return "ARRAY[%s]::float8[]" % ", ".join(repr(float(v)) for v in x)
    if isinstance(x, str):
        return "'%s'" % x
    if isinstance(x, int) and not isinstance(x, bool):
        return "%d" % x if abs(x) < 2 ** 31 else "%d::bigint" % x
    return number(float(x))


def exact(x):
    if isinstance(x, (list, tuple)):
        return [mpf(v) for v in x]
    return mpf(x) if isinstance(x, float) else x


def perturbations(args):
    """The arguments, each float of them in turn moved by 2^-53."""
    step = 1 + mpf(2) ** -53
    for i, a in enumerate(args):
        if isinstance(a, list):
            for j in range(len(a)):
                yield args[:i] + [a[:j] + [a[j] * step] + a[j + 1:]] + args[i + 1:]
        elif isinstance(a, mpf):
            yield args[:i] + [a * step] + args[i + 1:]


def value(sql, f, args, base):
    """Expected value and tolerance of f(*args)."""
    results = []
    for digits in DIGITS:
        mp.dps = digits
        results.append(f(*[exact(a) for a in args]))
    a, b = results
    if mp.isinf(b):
        return "Infinity", 0
    if abs(a - b) > abs(b) * mpf(10) ** -30:
        raise SystemExit("%s: %s and %s" % (sql, a, b))
    mp.dps = DIGITS[0]
    if b == 0:
        return "0", 0
    moved = [f(*p) for p in perturbations([exact(a) for a in args])]
    gain = mp.fsum(abs(m - a) / abs(a) for m in moved)
    return mp.nstr(b, 25, min_fixed=0, max_fixed=0), float(base + 8 * gain)


ULP = 2.0 ** -53
rows = []


def row(sql, f, *args, base=8 * ULP, sign=""):
    """sql: a template with one {} for each argument"""
    text = sql.format(*[literal(a) for a in args])
    expected, reltol = value(text, f, list(args), base)
    rows.append((text, expected, "%s%.3g" % (sign, max(reltol, 4e-15 if expected != "0" else 0))))


def error(sql):
    rows.append((sql, "error ZC004", "0"))


def infinite(sql):
    rows.append((sql, "Infinity", "0"))


def zero(sql):
    rows.append((sql, "0", "0"))


def around(exponent_low, exponent_high):
    return float("%.3e" % 10 ** random.uniform(exponent_low, exponent_high))


def scalar_rows():
    for delta in (0.1, 1e-6, 1e-10, 1e-100):
        for rho in (1e-12, 1e-4, 0.02, 0.5, 2.5, 40.0):
            row("dp_cdp.zcdp_epsilon({}, {})", zcdp_epsilon, rho, delta)
    for _ in range(10):
        rho, delta, xi = around(-8, 2), around(-15, -1), around(-4, 0)
        row("dp_cdp.zcdp_epsilon({}, {}, {}, 'simple')", simple_epsilon, rho, delta, xi)
        row("dp_cdp.zcdp_epsilon({}, {}, {}, 'bs36')", bs36_epsilon, rho, delta, xi)
        row("dp_cdp.zcdp_epsilon({}, {}, xi => {})", zcdp_epsilon, rho, delta, xi)
    for _ in range(10):
        rho, xi = around(-5, 1), around(-4, 0)
        epsilon = float("%.4g" % (xi + rho + random.uniform(0.1, 8) * rho ** 0.5))
        row("dp_cdp.zcdp_delta({}, {}, {})", zcdp_delta, rho, epsilon, xi)
        row("dp_cdp.zcdp_delta({}, {}, {}, 'simple')", simple_delta, rho, epsilon, xi)
        row("dp_cdp.zcdp_delta({}, {}, {}, bound => 'bs36')", bs36_delta, rho, epsilon, xi)
    for _ in range(10):
        epsilon, delta = around(-4, 2), around(-15, -1)
        row("dp_cdp.zcdp_rho({}, {})", zcdp_rho, epsilon, delta)
        row("dp_cdp.zcdp_rho({}, {}, bound => 'simple')", simple_rho, epsilon, delta)
        row("dp_cdp.zcdp_rho({}, {}, bound => 'bs36')", bs36_rho, epsilon, delta)
    for rho, delta0, delta in ((0.1, 1e-9, 1e-6), (2.0, 1e-7, 1e-5), (1e-3, 1e-3, 0.1)):
        row("dp_cdp.approx_zcdp_epsilon({}, {}, {})",
            lambda r, z, d: zcdp_epsilon(r, (d - z) / (1 - z)), rho, delta0, delta)
        row("dp_cdp.approx_zcdp_epsilon({}, {}, {}, bound => 'simple')",
            lambda r, z, d: simple_epsilon(r, (d - z) / (1 - z)), rho, delta0, delta)
        row("dp_cdp.approx_zcdp_delta({}, {}, {}, {})",
            lambda r, z, e, x: z + (1 - z) * zcdp_delta(r, e, x), rho, delta0, 4.0, 0.25)


def gaussian_rows():
    for _ in range(5):
        d, sigma = around(-2, 3), around(-2, 4)
        row("dp_cdp.gaussian_rho({}, {})", lambda d, s: d ** 2 / (2 * s ** 2), d, sigma)
        row("dp_cdp.gaussian_gdp({}, {})", lambda d, s: d / s, d, sigma)
        row("(dp_cdp.gaussian_mcdp({}, {})).mu", lambda d, s: d ** 2 / (2 * s ** 2), d, sigma)
        row("(dp_cdp.gaussian_mcdp({}, {})).tau", lambda d, s: d / s, d, sigma)
        row("dp_cdp.gaussian_rdp({}, {}, {})", lambda a, d, s: a * d ** 2 / (2 * s ** 2), 1.25, d, sigma)
        row("dp_cdp.gaussian_stddev_zcdp({}, {})", lambda d, r: d / mp.sqrt(2 * r), d, around(-6, 2))
        row("dp_cdp.gdp_to_zcdp({})", lambda m: m ** 2 / 2, around(-6, 3))
    for mu in (1e-12, 1e-3, 0.3, 1.0, 5.0):
        for epsilon in (0.0, 1e-3, 0.7, 6.0):
            if epsilon / mu < 30:
                row("dp_cdp.gdp_delta({}, {})", gdp_delta, mu, epsilon, base=1e-14)
        for delta in (1e-3, 1e-12, 1e-80):
            row("dp_cdp.gdp_epsilon({}, {})", gdp_epsilon, mu, delta, base=1e-14)
    for epsilon in (0.0, 1e-4, 1.0, 30.0):
        for delta in (0.2, 1e-6, 1e-50):
            row("dp_cdp.gdp_mu({}, {})", gdp_mu, epsilon, delta, base=1e-14)
    for d, s, e in ((1.0, 4.0, 0.5), (3.0, 1.5, 2.0), (0.1, 0.02, 9.0)):
        row("dp_cdp.gaussian_delta({}, {}, {})", lambda d, s, e: gdp_delta(d / s, e), d, s, e, base=1e-14)
        row("dp_cdp.gaussian_epsilon({}, {}, {})", lambda d, s, e: gdp_epsilon(d / s, e), d, s, 1e-7, base=1e-14)
        row("dp_cdp.gaussian_stddev({}, {}, {})", lambda d, e, x: d / gdp_mu(e, x), d, e, 1e-7, base=1e-14)
    row("dp_cdp.gaussian_stddev({}, {}, {}, 'classic')",
        lambda d, e, x: mp.sqrt(2 * mp.log(mpf("1.25") / x)) * d / e, 2.0, 0.5, 1e-6)
    for d, s, e in ((1, 0.3, 0.1), (1, 1.0, 1.0), (1, 7.5, 0.25), (2, 3.0, 0.0), (5, 20.0, 0.3), (10, 4.0, 8.0)):
        row("dp_cdp.discrete_gaussian_delta({}, {}, {})",
            lambda d, s, e: discrete_gaussian_delta(mpf(d), s, e), d, s, e, base=1e-13)


def conversion_rows():
    for epsilon in (1e-9, 1e-3, 0.3, 2.0, 15.0):
        row("dp_cdp.pure_to_zcdp({})", tanh_mean, epsilon)
        row("dp_cdp.pure_to_zcdp({}, 'standard')", lambda e: e ** 2 / 2, epsilon)
        row("dp_cdp.approx_to_zcdp({}, {})", lambda e, d: tanh_mean(e), epsilon, 1e-6)
        row("dp_cdp.approx_to_zcdp({}, {}, 'standard')", lambda e, d: e ** 2 / 2, epsilon, 1e-6)
        row("(dp_cdp.pure_to_mcdp({})).mu", tanh_mean, epsilon)
        row("(dp_cdp.pure_to_mcdp({}, 'standard')).mu", lambda e: e * mp.expm1(e) / 2, epsilon)
        row("(dp_cdp.pure_to_mcdp({})).tau", lambda e: e, epsilon)
        row("dp_cdp.laplace_to_zcdp({})", lambda e: e + mp.expm1(-e), epsilon)
        row("dp_cdp.bounded_range_to_zcdp({})", lambda e: min(e ** 2 / 8, tanh_mean(e)), epsilon)
        row("dp_cdp.bounded_range_to_zcdp({}, 'standard')", lambda e: e ** 2 / 8, epsilon)
        row("dp_cdp.bounded_range_to_zcdp({}, 'kl')",
            lambda e: e / mp.expm1(e) - 1 - mp.log(e / mp.expm1(e)), epsilon, base=1e-14)
        for alpha in (1.0009765625, 2.0, 64.0):
            row("dp_cdp.pure_to_rdp({}, {})",
                lambda a, e: mp.log(mp.cosh((a - mpf(1) / 2) * e) / mp.cosh(e / 2)) / (a - 1), alpha, epsilon)
    for rho, xi in ((1e-6, 0.0), (0.05, 0.01), (0.4, 0.7), (3.0, 2.0)):
        row("(dp_cdp.zcdp_to_mcdp({}, {})).mu", lambda r, x: x + r, rho, xi)
        row("(dp_cdp.zcdp_to_mcdp({}, {})).tau", zcdp_tau, rho, xi)
        row("dp_cdp.zcdp_to_rdp({}, {}, {})", lambda a, r, x: x + r * a, 3.5, rho, xi)
        row("(dp_cdp.mcdp_to_zcdp({}, {})).rho", lambda m, t: t ** 2 / 2, rho, xi)
        row("(dp_cdp.mcdp_to_zcdp({}, {})).xi", lambda m, t: m - t ** 2 / 2, rho, xi)
        row("dp_cdp.mcdp_epsilon({}, {}, {})",
            lambda m, t, d: m + t * mp.sqrt(2 * mp.log(1 / d)), rho, 0.6, 1e-7)
        row("dp_cdp.mcdp_delta({}, {}, {})",
            lambda m, t, e: mp.exp(-(e - m) ** 2 / (2 * t ** 2)) if e > m else mpf(1), rho, 0.6, 2.5)
    row("dp_cdp.zcdp_to_pure({}, {})", lambda r, x: x, 0.0, 0.75)
    for alpha, epsilon, delta in ((1.5, 0.1, 1e-3), (8.0, 0.7, 1e-6), (200.0, 3.0, 1e-30)):
        row("dp_cdp.rdp_epsilon({}, {}, {}, 'improved')", rdp_epsilon, alpha, epsilon, delta)
        row("dp_cdp.rdp_epsilon({}, {}, {}, 'simple')",
            lambda a, e, d: e + mp.log(1 / d) / (a - 1), alpha, epsilon, delta)
        row("dp_cdp.rdp_delta({}, {}, {}, 'improved')", rdp_delta, alpha, epsilon, epsilon + 1.5)
        row("dp_cdp.rdp_delta({}, {}, {}, bound => 'simple')",
            lambda a, e, t: min(mpf(1), mp.exp((a - 1) * (e - t))), alpha, epsilon, epsilon + 1.5)
    orders = [1.5, 2.0, 4.0, 8.0, 16.0, 32.0]
    curve = [0.3 * a for a in orders]
    row("dp_cdp.rdp_epsilon({}, {}, {}, 'improved')",
        lambda a, e, d: min(rdp_epsilon(x, y, d) for x, y in zip(a, e)), orders, curve, 1e-5)
    for alpha, epsilon, delta in ((2.0, 0.01, 1e-3), (5.0, 0.01, 1e-5), (10.0, 0.05, 1e-6), (32.0, 1.0, 1e-6),
                                  (1.25, 0.3, 1e-9), (64.0, 1e-3, 1e-4)):
        row("dp_cdp.rdp_epsilon({}, {}, {})", rdp_epsilon_pairs, alpha, epsilon, delta, base=1e-12, sign="+")
    for alpha, epsilon, target in ((2.0, 0.01, 1.0), (5.0, 0.01, 2.0), (10.0, 0.5, 0.75)):
        row("dp_cdp.rdp_delta({}, {}, {})", rdp_delta_pairs, alpha, epsilon, target, base=1e-12, sign="+")
    # at one point: total variation, whose pairs of one chi-squared divergence are symmetric; delta above 1 / alpha
    row("dp_cdp.rdp_delta({}, 0.25, {})", lambda a, e: mp.sqrt(mp.expm1(mpf("0.25"))) / 2, 2.0, 0.0, base=1e-12, sign="+")
    row("dp_cdp.rdp_epsilon({}, {}, {})", lambda a, e, d: e + log1m(d), 4.0, 3.0, 0.3, base=1e-12, sign="+")
    row("dp_cdp.rdp_delta({}, {}, {}, 'improved')",
        lambda a, e, t: min(rdp_delta(x, y, t) for x, y in zip(a, e)), orders, curve, 4.0)


def composition_rows():
    rho = [0.1 * i for i in range(1, 30)]
    mixed = [1e9, 1e-9, 0.3, 7.25, 1e-300]
    for values in (rho, mixed):
        row("(dp_cdp.compose_zcdp({})).rho", mp.fsum, values)
        row("(dp_cdp.compose_zcdp({}, {})).xi", lambda r, x: mp.fsum(x), values, values[::-1])
        row("(dp_cdp.compose_mcdp({}, {})).mu", lambda m, t: mp.fsum(m), values, values)
        row("(dp_cdp.compose_mcdp({}, {})).tau",
            lambda m, t: mp.sqrt(mp.fsum(x ** 2 for x in t)), values, values)
        row("dp_cdp.compose_gdp({})", lambda m: mp.sqrt(mp.fsum(x ** 2 for x in m)), values)
        row("dp_cdp.compose_rdp({}, {})", lambda a, e: mp.fsum(e), 2.0, values)
    row("dp_cdp.compose_gdp({})", lambda m: mp.sqrt(mp.fsum(x ** 2 for x in m)), [1e200, 2e200])
    row("dp_cdp.compose_gdp({})", lambda m: mp.sqrt(mp.fsum(x ** 2 for x in m)), [1e-200, 2e-200])
    for deltas in ([1e-18, 1e-12, 1e-6], [0.5, 0.25, 1e-9]):
        row("dp_cdp.compose_delta({})", lambda d: 1 - mp.fprod(1 - x for x in d), deltas)
        row("dp_cdp.compose_advanced_delta({}, {})",
            lambda d, s: 1 - (1 - s) * mp.fprod(1 - x for x in d), deltas, 1e-7)
    for delta, k in ((1e-12, 3), (1e-9, 1000000), (0.1, 50)):
        row("dp_cdp.compose_delta({}, {})", lambda d, k: -mp.expm1(k * log1m(d)), delta, k)
        row("dp_cdp.compose_advanced_delta({}, {}, {})",
            lambda d, s, k: 1 - (1 - s) * (1 - d) ** k, delta, 1e-6, k)
        row("(dp_cdp.compose_basic({}, {}, {})).epsilon", lambda e, d, k: k * e, 0.3, delta, k)
        row("(dp_cdp.compose_basic({}, {}, {})).delta", lambda e, d, k: min(mpf(1), k * d), 0.3, delta, k)
    # each of the three bounds is the least somewhere: basic, ln(e + ...), ln(1 / slack)
    for epsilon, slack, k in ((0.01, 1e-10, 37), (0.01, 1e-6, 10000), (1.0, 1e-9, 5), (5.0, 0.1, 2), (1.0, 0.3, 400),
                              (1e-4, 1e-3, 1000000)):
        row("dp_cdp.compose_advanced({}, {}, {})", advanced_k, epsilon, slack, k)
        row("dp_cdp.compose_advanced({}, {}, {}, 'dr16')",
            advanced(lambda e: e * mp.expm1(e) / 2), epsilon, slack, k)
        row("dp_cdp.compose_advanced({}, {}, {}, 'drv10')",
            advanced(lambda e: e * mp.expm1(e)), epsilon, slack, k)
    for epsilons in ([0.01] * 40 + [0.1], [0.5, 1.0, 2.0]):
        row("dp_cdp.compose_advanced({}, {})", advanced_list, epsilons, 1e-6)
    for epsilon, delta, k in ((0.1, 1e-8, 30), (1.0, 0.0, 7), (0.01, 1e-9, 200), (3.0, 1e-3, 4)):
        for part in (0.0, 0.15, 0.5):
            row("dp_cdp.compose_optimal_delta({}, {}, {}, {})", optimal_delta_k,
                epsilon, delta, k, part * epsilon * k, base=1e-13)
        for target in (0.01, 1e-6):
            row("dp_cdp.compose_optimal_epsilon({}, {}, {}, {})",
                lambda e, d, k, g: optimal_epsilon(lambda x: optimal_delta_k(e, d, k, x), g, k * e),
                epsilon, delta, k, target, base=1e-13)
    for epsilons in ([0.3, 1.0], [0.1, 0.2, 0.4, 0.8, 1.6], [0.05 * i for i in range(1, 8)]):
        deltas = [1e-9 * i for i in range(len(epsilons))]
        row("dp_cdp.compose_optimal_delta({}, {}, {})", optimal_delta,
            epsilons, deltas, 0.4 * sum(epsilons), base=1e-13)
        row("dp_cdp.compose_optimal_epsilon({}, {}, {})",
            lambda e, d, g: optimal_epsilon(lambda x: optimal_delta(e, d, x), g, mp.fsum(e)),
            epsilons, deltas, 1e-3, base=1e-13)
    harmonic = lambda k: mp.fsum(mpf(1) / i for i in range(1, k + 1))
    for k in (1, 4, 1000):
        row("(dp_cdp.group_zcdp({}, {}, {})).rho", lambda r, k, x: k ** 2 * r, 0.3, k, 0.2)
        row("(dp_cdp.group_zcdp({}, {}, {})).xi", lambda r, k, x: k * x * harmonic(k), 0.3, k, 0.2)
        row("(dp_cdp.group_mcdp({}, {}, {})).mu", lambda m, t, k: k ** 2 * m, 0.3, 0.2, k)
        row("(dp_cdp.group_mcdp({}, {}, {})).tau", lambda m, t, k: k * t, 0.3, 0.2, k)
        row("(dp_cdp.group_gaussian({}, {}, {})).mu", lambda d, s, k: (k * d / s) ** 2 / 2, 3.0, 7.0, k)
        row("(dp_cdp.group_gaussian({}, {}, {})).tau", lambda d, s, k: k * d / s, 3.0, 7.0, k)
        row("dp_cdp.group_gdp({}, {})", lambda m, k: k * m, 0.3, k)
        row("dp_cdp.group_pure({}, {})", lambda e, k: k * e, 0.3, k)
        row("dp_cdp.group_approx_delta({}, {}, {})",
            lambda e, d, k: min(mpf(1), d * mp.expm1(k * e) / mp.expm1(e)), 0.01, 1e-12, k)
        row("dp_cdp.group_approx_delta({}, {}, {}, 'standard')",
            lambda e, d, k: min(mpf(1), k * mp.exp((k - 1) * e) * d), 0.01, 1e-12, k)
    row("(dp_cdp.group_zcdp({}, {}, {})).xi", lambda r, k, x: k * x, 0.0, 6, 0.2)


def group_mean(mu, tau, k):
    mu = min(mu, tau ** 2 / 2)
    return k * mu + (k - 1) * tau * mp.sqrt(2 * mu) + (k - 1) * (k - 2) * tau ** 2 / 2


def steps_tau(s):
    """The theorem of src/calc/group.c: each piece of h between two kinks is searched."""
    g = s ** 2 / 2
    u = lambda x: g * x * (x + 1) if x > 0 or x < -1 else mpf(0)
    e = lambda x, h: (u(x + h) + u(x - h)) / 2

    def least_near(w):
        kinks = sorted([-mp.log1p(g) - 2, mp.log(w), mpf(0), mp.log1p(w), 3 + mp.log1p(1 / mp.sqrt(g))])
        near = lambda y: (2 * mp.expm1(e(0, mp.exp(y))) + mp.expm1(e(w, mp.exp(y)))) / 3 * 2 * mp.exp(-2 * y)
        return min(golden(near, low, high) for low, high in zip(kinks, kinks[1:]) if low < high)
    high = 1 + mp.log1p(mp.root(1 / g, 4))
    y = mp.findroot(lambda y: mp.log(least_near(mp.exp(y)) / (2 * g * (1 + mp.exp(-y)))), (-mp.log1p(g), high), solver="anderson", tol=mpf(10) ** -66)
    return mp.sqrt(2 * g * (1 + mp.exp(-y)))


def divergence_rows():
    pairs = (([0.3, 0.7], [0.5, 0.5]), ([0.2, 0.3, 0.5], [0.25, 0.35, 0.4]), ([0.25] * 4, [0.1, 0.4, 0.15, 0.35]),
             ([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]), ([1e-9, 0.125, 0.875 - 1e-9], [0.5, 0.25, 0.25]),
             ([0.5, 0.5], [0.500001, 0.499999]), ([1e-6, 0.9, 0.1 - 1e-6], [1e-3, 0.1, 0.899]), ([0.1] * 10, [0.05] * 5 + [0.15] * 5))
    for p, q in pairs:
        # near distributions: an argument's last place counts more than its own
        row("dp_cdp.kl_divergence({}, {})", kl_divergence, p, q, base=1e-13, sign="+")
        row("dp_cdp.max_divergence({}, {})", max_divergence, p, q, base=1e-13, sign="+")
        for alpha in (1.125, 2.0, 30.0):
            row("dp_cdp.renyi_divergence({}, {}, {})", renyi_divergence, alpha, p, q, base=2e-13, sign="+")
        row("(dp_cdp.privacy_loss({}, {})).mu", kl_divergence, p, q, base=1e-13, sign="+")
        if len(set(x / y for x, y in zip(p, q) if x > 0)) > 1:
            row("(dp_cdp.privacy_loss({}, {})).tau", loss_tau, p, q, base=1e-12, sign="+")
    harmonic = lambda n: mp.fsum(mpf(1) / i for i in range(1, n + 1))
    for n in (1, 12, 100000):
        row("dp_cdp.mutual_information({}, {}, {})", lambda r, n, x: r * n ** 2 + x * n * harmonic(n), 0.02, n, 0.3, base=3e-14, sign="+")
        row("dp_cdp.mutual_information_product({}, {}, {})", lambda r, n, x: (r + x) * n, 0.02, n, 0.3, sign="+")
        row("dp_cdp.mutual_information({}, {})", lambda r, n: r * n ** 2, 0.02, n, base=3e-14, sign="+")
    for alpha, k, pq, qr in ((2.0, 2.0, 0.25, 0.5), (1.0009765625, 1.5, 1e-6, 3.0), (64.0, 1.0625, 0.1, 0.7)):
        row("dp_cdp.renyi_triangle({}, {}, {}, {})", lambda a, k, x, y: k * a / (k * a - 1) * x + y, alpha, k, pq, qr, sign="+")
    for xi, rho in ((0.25, 0.0625), (1.0, 1.0), (0.01, 1e-8), (0.5, 0.0)):
        row("(dp_cdp.approx_curve_to_zcdp({}, {})).rho", lambda x, r: r / 4, xi, rho)
        row("(dp_cdp.approx_curve_to_zcdp({}, {})).xi", lambda x, r: x - r / 4 + 5 * mp.root(r, 4), xi, rho, sign="+")
    for mu, tau, k in ((0.02, 0.2, 3), (0.3, 0.2, 3), (0.01, 0.3, 5), (0.5, 1.0, 4), (1e-6, 0.001, 1000), (0.25, 0.5, 1), (3.0, 7.0, 60)):
        row("(dp_cdp.group_mcdp_general({}, {}, {})).mu", group_mean, mu, tau, k, base=1e-14, sign="+")
        row("(dp_cdp.group_mcdp_general({}, {}, {})).tau", lambda m, t, k: steps_tau(k * t) if k > 1 else t, mu, tau, k, base=1e-13, sign="+")
    for steps in ((0.02, 0.2, 0.03, 0.3), (5.0, 0.01, 1e-5, 1.5), (0.5, 0.25, 0.0, 0.0)):
        row("(dp_cdp.mcdp_triangle({}, {}, {}, {})).mu", lambda m, t, n, u: (lambda m, n: m + n + u * mp.sqrt(2 * m))(min(m, t ** 2 / 2), min(n, u ** 2 / 2)),
            *steps, base=1e-14, sign="+")
        row("(dp_cdp.mcdp_triangle({}, {}, {}, {})).tau", lambda m, t, n, u: steps_tau(t + u) if t * u > 0 else t + u, *steps, base=1e-13, sign="+")
    for call in ("kl_divergence('{0.5,0.5}', '{0.5,0.4}')", "kl_divergence('{1}', '{0.5,0.5}')", "max_divergence('{1.5,-0.5}', '{0.5,0.5}')",
                 "renyi_divergence(1, '{0.5,0.5}', '{0.5,0.5}')", "kl_divergence('{0.5,NULL}', '{0.5,0.5}')", "renyi_triangle(2, 1, 1, 1)", "mutual_information(1, 0)"):
        error("dp_cdp." + call)
    for call in ("(dp_cdp.privacy_loss('{0.5,0.5}', '{0.5,0.4}')).mu", "(dp_cdp.approx_curve_to_zcdp(1.5, 0.5)).rho", "(dp_cdp.approx_curve_to_zcdp(0.5, 2)).xi"):
        error(call)
    infinite("dp_cdp.kl_divergence('{0.5,0.5}', '{0,1}')")
    infinite("(dp_cdp.privacy_loss('{0.5,0.5}', '{0,1}')).tau")
    zero("dp_cdp.kl_divergence('{0.5,0.5}', '{0.5,0.5}')")
    zero("(dp_cdp.privacy_loss('{1,0}', '{0.5,0.5}')).tau")


def planning_rows():
    for lower, upper, k in ((0.0, 1.0, 1), (-50.0, 200.0, 3), (-7.0, -2.0, 10)):
        columns = "lower => {}, upper => {}, max_groups => {}"
        row("dp_cdp.sensitivity(%s)" % columns, lambda l, u, k: sensitivity(l, u, k, False, False), lower, upper, k)
        row("dp_cdp.sensitivity(%s, neighbors => 'replace_one', grouped => true)" % columns,
            lambda l, u, k: sensitivity(l, u, k, True, True), lower, upper, k)
        row("dp_cdp.stddev_of({}, %s)" % columns,
            lambda r, l, u, k: sensitivity(l, u, k, False, False) / mp.sqrt(2 * r), 0.02, lower, upper, k)
        row("dp_cdp.rho_for_stddev({}, %s)" % columns,
            lambda s, l, u, k: sensitivity(l, u, k, False, False) ** 2 / (2 * s ** 2), 25.0, lower, upper, k)
    for rho, p in ((0.01, 0.95), (0.5, 0.99), (0.001, 0.5), (3.0, 0.999)):
        row("dp_cdp.margin_of({}, {})", margin, rho, p)
        row("dp_cdp.margin_of({}, {}, step => 0)",
            lambda r, p: mp.erfinv(p) / mp.sqrt(r), rho, p)
    for rho, epsilon, delta in ((0.01, 3.0, 1e-6), (0.0001, 1.0, 1e-9), (5.0, 1.0, 1e-6)):
        row("dp_cdp.releases_within({}, {}, {})",
            lambda r, e, d: mp.floor(zcdp_rho(e, d) / (mp.ceil(r * 10 ** 12 - mpf(10) ** -3) / 10 ** 12)),
            rho, epsilon, delta)
    row("dp_cdp.split_budget({}, {})", lambda r, k: mp.floor(r * 10 ** 12 / k) / 10 ** 12, 0.5, 7)
    row("dp_cdp.split_budget({}, {}, {})",
        lambda e, d, k: mp.floor(zcdp_rho(e, d) * 10 ** 12 / k) / 10 ** 12, 3.0, 1e-6, 2080)


def edge_rows():
    infinite("dp_cdp.zcdp_epsilon(0.5, 0)")
    infinite("dp_cdp.zcdp_epsilon(0.5, 0, bound => 'simple')")
    infinite("dp_cdp.zcdp_rho(1, 1)")
    infinite("dp_cdp.approx_zcdp_epsilon(0.5, 1e-6, 1e-6)")
    infinite("dp_cdp.gaussian_stddev_zcdp(1, 0)")
    infinite("dp_cdp.gaussian_stddev(1, 1, 0)")
    infinite("dp_cdp.gdp_mu(1, 1)")
    infinite("dp_cdp.gdp_epsilon(1, 0)")
    infinite("dp_cdp.zcdp_to_pure(1e-300)")
    infinite("dp_cdp.mcdp_epsilon(1, 1, 0)")
    infinite("dp_cdp.rdp_epsilon(2, 1, 0)")
    infinite("dp_cdp.compose_advanced(0.1, 0, 10, 'dr16')")
    infinite("dp_cdp.compose_optimal_epsilon(0.1, 1e-6, 10, 1e-6)")
    infinite("dp_cdp.group_gdp(1e308, 100)")
    zero("dp_cdp.zcdp_epsilon(0, 0)")
    zero("dp_cdp.zcdp_epsilon(0, 1e-6)")
    zero("dp_cdp.zcdp_epsilon(3, 1)")
    zero("dp_cdp.zcdp_delta(0, 0)")
    zero("dp_cdp.zcdp_rho(1, 0)")
    zero("dp_cdp.gdp_delta(0, 0)")
    zero("dp_cdp.gaussian_delta(0, 1, 0)")
    zero("dp_cdp.pure_to_zcdp(0)")
    zero("dp_cdp.laplace_to_zcdp(0)")
    zero("dp_cdp.compose_delta(ARRAY[0.0]::float8[])")
    rows.append(("dp_cdp.zcdp_epsilon(3, 1, bound => 'simple')", "3", "0"))
    rows.append(("dp_cdp.zcdp_delta(5, 1, bound => 'simple')", "1", "0"))
    rows.append(("dp_cdp.compose_delta(ARRAY[0.5, 1]::float8[])", "1", "0"))
    rows.append(("dp_cdp.compose_advanced(0.5, 0, 10)", "5", "0"))
    for bad in ("'NaN'", "'Infinity'", "'-Infinity'", "-1e-300"):
        for call in ("zcdp_epsilon({}, 0.1)", "zcdp_epsilon(0.1, {})", "zcdp_delta(0.1, {})",
                     "zcdp_rho({}, 0.1)", "gaussian_rho(1, {})", "gdp_delta(1, {})", "pure_to_zcdp({})",
                     "compose_gdp(ARRAY[1, {}]::float8[])", "rdp_epsilon({}, 1, 0.1)",
                     "compose_optimal_delta(0.1, {}, 3, 0.2)", "group_pure({}, 2)", "stddev_of({})"):
            error("dp_cdp." + call.format(bad))
    for call in ("zcdp_epsilon(1, 1.0000000000000002)", "gaussian_rho(1, 0)", "rdp_epsilon(1, 1, 0.1)",
                 "pure_to_rdp(1, 1)", "group_pure(1, 0)", "group_pure(1, -1)", "group_gdp(1, 0)",
                 "zcdp_rho(1, 1e-6, 2)", "zcdp_rho(1, 0.1, 1.01, bound => 'simple')",
                 "zcdp_epsilon(1, 0.1, bound => 'loose')", "gaussian_stddev(1, 1.5, 0.1, 'classic')",
                 "discrete_gaussian_delta(1.5, 1, 1)", "compose_gdp('{}')", "compose_gdp('{1,NULL}')",
                 "compose_gdp('{{1},{2}}')", "compose_optimal_delta('{1}', '{0,0}', 1)",
                 "compose_optimal_delta('{1,2}', '{0}', 1)", "rdp_delta('{2,3}'::float8[], '{1}'::float8[], 1)",
                 "sensitivity(2, 1)", "sensitivity(neighbors => 'other')", "margin_of(1, 1)",
                 "split_budget(1e-12, 2)", "releases_within(0, 1, 0.1)"):
        error("dp_cdp." + call)


def directed_rows():
    """What a budget hangs on is rounded against the spender."""
    def directed(sql, sign, f, reltol):
        results = []
        for digits in DIGITS:
            mp.dps = digits
            results.append(f())
        if abs(results[0] - results[1]) > abs(results[1]) * mpf(10) ** -30:
            raise SystemExit("%s: %s and %s" % (sql, *results))
        rows.append((sql, mp.nstr(results[1], 25, min_fixed=0, max_fixed=0),
                     "%s%.3g" % (sign, reltol(results[1]))))

    # exact decimals, as the ledger keeps them
    for rho in ("0.000000000001", "0.01", "0.123456789012", "3", "977.5"):
        for delta in ("0.1", "0.000001", "0.000000000000000001"):
            directed("dp_cdp.epsilon_spent(%s, %s)" % (rho, delta), "+",
                     lambda: zcdp_epsilon(mpf(rho), mpf(delta)), lambda x: 1e-12 if x < 1e-3 else 2e-13)
    # rho_of_budget is in calculators.py: set_budget, which keeps a tenth of delta
    for epsilon in (0.1, 0.5, 1.0, 3.0, 17.25):
        for delta in ("1e-3", "1e-6", "1e-12"):
            directed("pg_temp.rho_of_budget(%r, %s)" % (epsilon, delta), "-",
                     lambda: zcdp_rho(mpf(epsilon), mpf(delta) * 9 / 10), lambda x: 2e-12 / x + 1e-13)


def published_rows():
    """2020 Census redistricting data, as published: epsilon at delta 1e-10"""
    for rho, printed in (("(542 / 339.0) ^ 2", "17.143551"), ("3379 / 12343.0 * (3379 / 12343.0)", "2.474671")):
        rows.append(("round(dp_cdp.zcdp_epsilon(%s, 1e-10)::numeric, 6)" % rho, printed, "0"))
    rows.append(("round(((542 / 339.0) ^ 2)::numeric, 6)", "2.556226", "0"))
    rows.append(("round((3379 / 12343.0 * (3379 / 12343.0))::numeric, 7)", "0.0749437", "0"))


def main():
    random.seed(20160506)
    for part in (scalar_rows, gaussian_rows, conversion_rows, composition_rows, divergence_rows, planning_rows, edge_rows,
                 directed_rows, published_rows):
        part()
        print(part.__name__, len(rows), file=sys.stderr)
    print("# Made by test/tools/calculator_values.py with mpmath: brute force from the definitions, with %d and"
          % DIGITS[0])
    print("# %d digits from the exact binary64 arguments.  Do not edit; see there for the columns." % DIGITS[1])
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("sql", "expected", "reltol"))
    writer.writerows(rows)


if __name__ == "__main__":
    main()
