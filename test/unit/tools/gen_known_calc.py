#!/usr/bin/env python3
"""Generate test/unit/known_calc.h: conversions, compositions, group privacy
and planning, evaluated with python3-mpmath at 60 digits from the exact
binary64 arguments.

Every function is written here as the theorem defines it, without regard to
cancellation or overflow, and optima are found by minimising the definition
directly; nothing is shared with the C code's way of computing them.  Beside
each value stands its condition, the sum over the arguments of
|x f'(x) / f(x)| by central differences: how much a relative error of the
arguments grows.  The arguments are drawn with a fixed seed.

Usage: python3 test/unit/tools/gen_known_calc.py > test/unit/known_calc.h
"""
import random
from mpmath import mp, mpf, exp, log, sqrt, tanh, cosh, pi, erf, erfinv, inf, isinf

mp.dps = 60
GOLDEN = (sqrt(mpf(5)) - 1) / 2


def least(f, a, b):
    """the least value of a unimodal f between a and b"""
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    fc, fd = f(c), f(d)
    # the value is exact to the square of this
    while b - a > mpf(10)**-22:
        if fc < fd:
            b, d, fd = d, c, fc
            c = b - GOLDEN * (b - a)
            fc = f(c)
        else:
            a, c, fc = c, d, fd
            d = a + GOLDEN * (b - a)
            fd = f(d)
    return f((a + b) / 2)


def zero(f, lo, hi):
    """of a rising f"""
    if f(lo) >= 0:
        return lo
    for _ in range(170):
        mid = (lo + hi) / 2
        if f(mid) < 0:
            lo = mid
        else:
            hi = mid
    return (lo + hi) / 2


# zCDP; the order alpha = 1 + e^u
def epsilon_tight(rho, delta, xi):
    def f(u):
        a = 1 + exp(u)
        return xi + rho * a + log(1 / (a * delta)) / (a - 1) + log(1 - 1 / a)
    return max(mpf(0), least(f, mpf(-60), mpf(60)))


def delta_tight(rho, epsilon, xi):
    def f(u):
        a = 1 + exp(u)
        return (a - 1) * (xi + a * rho - epsilon) + (a - 1) * log(1 - 1 / a) - log(a)
    return min(mpf(1), exp(least(f, mpf(-60), mpf(60))))


def rho_tight(epsilon, delta, xi):
    def f(u):
        a = 1 + exp(u)
        return -(epsilon - xi - log(1 / (a * delta)) / (a - 1) - log(1 - 1 / a)) / a
    return -least(f, mpf(-60), mpf(60))


def delta_simple(rho, epsilon, xi):
    e = epsilon - xi
    return exp(-(e - rho)**2 / (4 * rho)) if e >= rho else mpf(1)


def delta_bs36(rho, epsilon, xi):
    e = epsilon - xi
    if e < rho:
        return mpf(1)
    y = 1 + (e - rho) / (2 * rho)
    return delta_simple(rho, epsilon, xi) * min(1, sqrt(pi * rho), 1 / y,
                                                2 / (y + sqrt(y**2 + 4 / (pi * rho))))


def epsilon_bs36(rho, delta, xi):
    top = rho + 2 * sqrt(rho * log(1 / delta))
    return xi + zero(lambda e: log(delta) - log(delta_bs36(rho, e, 0)), rho, top)


def epsilon_bs36_closed(rho, delta, xi):
    over = log(sqrt(pi * rho) / delta)
    return xi + rho + (sqrt(4 * rho * over) if over > 0 else 0)


def rho_simple(epsilon, delta, xi):
    l = log(1 / delta)
    return (sqrt(epsilon - xi + l) - sqrt(l))**2


def rho_bs36(epsilon, delta, xi):
    e = epsilon - xi
    if delta_bs36(e, e, 0) <= delta:
        return e
    return exp(zero(lambda v: log(delta_bs36(exp(v), e, 0)) - log(delta), log(e) - 60, log(e)))


def approx_epsilon(rho, delta0, delta, xi):
    return epsilon_tight(rho, (delta - delta0) / (1 - delta0), xi)


def approx_delta(rho, delta0, epsilon, xi):
    return delta0 + (1 - delta0) * delta_tight(rho, epsilon, xi)


def zcdp_to_mcdp_tau(rho, xi):
    s = xi + 2 * rho
    square = 2 * (exp(s) - 1)
    return sqrt(min(square, 4 * (exp(mpf(1)) - 1) * s**2) if s >= 1 else square)


def pure(e):
    return e * tanh(e / 2)


def kl(eta):
    w = eta / (exp(eta) - 1)
    return w - 1 - log(w)


def pure_to_rdp(a, e):
    return log(cosh((a - mpf(1) / 2) * e) / cosh(e / 2)) / (a - 1)


def rdp_epsilon_improved(a, e, d):
    return max(mpf(0), e + log(1 - 1 / a) - log(a * d) / (a - 1))


def rdp_delta_improved(a, r, e):
    return min(mpf(1), exp((a - 1) * (r - e)) * (1 - 1 / a)**(a - 1) / a)


def harmonic(k):
    return mp.harmonic(k)


def advanced(e, slack, k, mean):
    return sqrt(2 * k * log(1 / slack)) * e + k * mean


def advanced_list(slack, *eps):
    mean = sum(pure(e) for e in eps)
    squares = sum(e**2 for e in eps)
    return min(sum(eps), mean + sqrt(2 * squares * log(exp(mpf(1)) + sqrt(squares) / slack)),
               mean + sqrt(2 * squares * log(1 / slack)))


def compose_delta(*d):
    p = mpf(1)
    for x in d:
        p *= 1 - x
    return 1 - p


def margin(rho, p, sens, step):
    """the smallest multiple of step, by summing the discrete Gaussian"""
    s = sens / sqrt(2 * rho)
    if step == 0:
        return sqrt(mpf(2)) * erfinv(p) * s
    s /= step
    top = int(40 * s) + 40
    f = [exp(-mpf(x)**2 / (2 * s * s)) for x in range(top)]
    norm = 2 * sum(f) - f[0]
    within, w = f[0], 0
    while within < p * norm:
        w += 1
        within += 2 * f[w]
    return w * step


rows = []


def row(name, f, *args, integers=(), conditioned=True):
    x = [mpf(a) for a in args]
    v = f(*x)
    cond = mpf(0)
    if conditioned and v != 0 and not isinf(v):
        for i, xi in enumerate(x):
            if i in integers or xi == 0:
                continue
            h = mpf(10)**-15
            up = f(*[y * (1 + h) if j == i else y for j, y in enumerate(x)])
            down = f(*[y * (1 - h) if j == i else y for j, y in enumerate(x)])
            cond += abs(up - down) / (2 * h * abs(v))
    if v != 0 and (v > mpf(2)**1000 or v < mpf(2)**-1000):
        return
    rows.append((name, [float(a) for a in args], float(v), float(cond)))


rnd = random.Random(22)


def decades(lo, hi):
    return 10**rnd.uniform(lo, hi)


def some(n, name, f, *draws, integers=(), conditioned=True):
    for _ in range(n):
        row(name, f, *[d() for d in draws], integers=integers, conditioned=conditioned)


def rho():
    return decades(-7, 2)


def delta():
    return decades(-15, -1)


def eps():
    return decades(-4, 2)


def xi():
    return rnd.choice([0.0, decades(-4, 0)])


def order():
    return 1 + decades(-4, 4)


def count():
    return float(rnd.choice([1, 2, 3, 10, 33, 100, 1000, 10**6, 10**9]))


def small_count():
    return float(rnd.choice([1, 2, 3, 10, 33, 100, 1000]))


for name in "simple", "bs36", "tight":
    f = globals().get("epsilon_" + name) or (lambda r, d, x: x + r + 2 * sqrt(r * log(1 / d)))
    some(8, "zcdp_epsilon_" + name, f, rho, delta, xi)
    for _ in range(8):
        r, x = rho(), xi()
        e = x + r + rnd.uniform(0.01, 12) * r**0.5
        row("zcdp_delta_" + name, globals()["delta_" + name], r, e, x)
        e, d = eps(), delta()
        row("zcdp_rho_" + name, globals()["rho_" + name], e, d, rnd.choice([0.0, e * rnd.random()]))
some(8, "zcdp_epsilon_bs36_closed", epsilon_bs36_closed, rho, delta, xi)
# the tight bound below xi
for e, d, x in [(0.5, 0.3, 0.75), (0.0, 0.01, 0.009), (1.0, 0.9, 3.0)]:
    row("zcdp_rho_tight", rho_tight, e, d, x)
    row("zcdp_delta_tight", delta_tight, d, e, x)
for _ in range(6):
    d0 = delta()
    row("approx_zcdp_epsilon", approx_epsilon, rho(), d0, d0 * rnd.uniform(1.1, 5), xi())
    r, x = rho(), xi()
    row("approx_zcdp_delta", approx_delta, r, delta(), x + r + rnd.uniform(0.01, 9) * r**0.5, x)

for _ in range(4):
    e, r, x, t = eps(), rho(), xi(), decades(-3, 1)
    row("mcdp_to_zcdp.rho", lambda m, t: t**2 / 2, e, t)
    row("mcdp_to_zcdp.xi", lambda m, t: m - t**2 / 2, e, t)
    row("zcdp_to_mcdp.mu", lambda r, x: x + r, r, x)
    row("zcdp_to_mcdp.tau", zcdp_to_mcdp_tau, r, x)
    row("mcdp_delta", lambda m, t, e: exp(-(e - m)**2 / (2 * t**2)), e, t, e + t * rnd.uniform(0, 8))
    row("mcdp_epsilon", lambda m, t, d: m + t * sqrt(2 * log(1 / d)), e, t, delta())
    row("gaussian_mcdp.mu", lambda s, t: (s / t)**2 / 2, e, t)
    row("gaussian_mcdp.tau", lambda s, t: s / t, e, t)
some(6, "pure_to_zcdp", pure, eps)
some(3, "pure_to_zcdp_standard", lambda e: e**2 / 2, eps)
some(6, "pure_to_mcdp.mu", pure, eps)
some(6, "pure_to_mcdp_standard.mu", lambda e: e * (exp(e) - 1) / 2, eps)
some(8, "laplace_to_zcdp", lambda e: e + exp(-e) - 1, eps)
some(8, "bounded_range_to_zcdp", lambda e: min(e**2 / 8, pure(e)), eps)
some(10, "bounded_range_to_zcdp_kl", kl, eps)
row("laplace_to_zcdp", lambda e: e + exp(-e) - 1, 1.0)
for eta in 3.9999, 4.0, 39.9, 40.0:
    row("bounded_range_to_zcdp_kl", kl, eta)

some(4, "gaussian_rdp", lambda a, s, t: a * (s / t)**2 / 2, order, eps, eps)
some(4, "zcdp_to_rdp", lambda a, r, x: x + r * a, order, rho, xi)
some(14, "pure_to_rdp", pure_to_rdp, order, eps)
some(12, "rdp_epsilon_improved", rdp_epsilon_improved, order, eps, delta)
some(4, "rdp_epsilon_simple", lambda a, e, d: e + log(1 / d) / (a - 1), order, eps, delta)
for _ in range(12):
    a, r = order(), eps()
    e = r + rnd.uniform(0, 20) / (a - 1)
    row("rdp_delta_improved", rdp_delta_improved, a, r, e)
    row("rdp_delta_simple", lambda a, r, e: exp((a - 1) * (r - e)), a, r, e)

for _ in range(8):
    r, x, k = rho(), decades(-4, 0), count()
    row("group_zcdp.rho", lambda r, k, x: k**2 * r, r, k, x, integers=(1,))
    row("group_zcdp.xi", lambda r, k, x: x * k * harmonic(k), r, k, x, integers=(1,))
    row("group_mcdp.mu", lambda m, t, k: k**2 * m, r, x, k, integers=(2,))
    row("group_mcdp.tau", lambda m, t, k: k * t, r, x, k, integers=(2,))
    row("group_gaussian.mu", lambda s, t, k: (k * s / t)**2 / 2, r, x, k, integers=(2,))
    row("group_gaussian.tau", lambda s, t, k: k * s / t, r, x, k, integers=(2,))
    e, d, k = decades(-6, 1), decades(-300, -3), small_count()
    row("group_approx_delta", lambda e, d, k: min(mpf(1), d * (exp(k * e) - 1) / (exp(e) - 1)), e, d, k,
        integers=(2,))
    row("group_approx_delta_standard", lambda e, d, k: min(mpf(1), k * exp((k - 1) * e) * d), e, d, k,
        integers=(2,))

for _ in range(6):
    e, d, k = decades(-5, 0.5), delta(), count()
    row("compose_advanced_kov", lambda e, d, k: min(
        k * e, advanced(e, d, k, pure(e)), advanced(e, 1 / (exp(mpf(1)) + sqrt(k) * e / d), k, pure(e))), e, d, k, integers=(2,))
    row("compose_advanced_dr16", lambda e, d, k: advanced(e, d, k, e * (exp(e) - 1) / 2), e, d, k, integers=(2,))
    row("compose_advanced_drv10", lambda e, d, k: advanced(e, d, k, e * (exp(e) - 1)), e, d, k, integers=(2,))
    row("compose_advanced_delta", lambda d, s, k: 1 - (1 - s) * (1 - d)**k, d, delta(), k, integers=(2,))
    row("compose_delta_k", lambda d, k: 1 - (1 - d)**k, d, k, integers=(1,))
    row("compose_advanced_list", advanced_list, d, *[decades(-5, 0.5) for _ in range(4)])
    row("compose_delta", compose_delta, *[decades(-17, -0.01) for _ in range(5)])
    row("compose_gdp", lambda *m: sqrt(sum(x**2 for x in m)), *[decades(-200, 200) for _ in range(5)])
    row("compose_gdp", lambda *m: sqrt(sum(x**2 for x in m)), *[decades(-3, 0) for _ in range(5)])
    row("compose_rdp", lambda *m: sum(m), *[decades(-20, 0) for _ in range(5)])

for _ in range(6):
    row("stddev_of", lambda r, s: s / sqrt(2 * r), rho(), eps())
    row("rho_for_stddev", lambda t, s: s**2 / (2 * t**2), rho(), eps())
    row("margin_of", margin, rho(), rnd.choice([0.01, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9]), eps(), 0.0)
# both sums and the bound beyond; margins at the same value whatever the rounding
for sigma in 0.2, 0.5, 1.0, 2.7, 9.0, 31.0:
    for p in 0.05, 0.5, 0.95, 0.999, 1 - 1e-9:
        row("margin_of", margin, 0.5 / sigma**2, p, 1.0, 1.0, conditioned=False)
row("margin_of", margin, 0.5 / 14**2, 0.95, 3.0, 0.25, conditioned=False)

print("""/* Generated by test/unit/tools/gen_known_calc.py (mpmath); do not edit. */

/* a function of n arguments, its value, and how it magnifies relative errors */
typedef struct KnownCalc
{
	const char *function;
	int			n;
	double		args[6];
	double		value;
	double		condition;
} KnownCalc;

static const KnownCalc known_calc[] =
{""")
for name, args, value, cond in rows:
    print('\t{"%s", %d, {%s}, %r, %.3g},' % (name, len(args), ", ".join(repr(a) for a in args), value, cond))
print("};")
