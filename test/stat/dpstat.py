#!/usr/bin/env python3
"""What the statistical tests share: psql, TAP, sizes, theory and limits.

Theory: noise is the discrete Gaussian N_Z(0, s2) on a grid, s2 = sens2 / (2 rho)
in squared grid units.  Every limit here is a proven bound, so that a false
alarm is at most as likely as stated, whatever the sample size:

- N_Z(0, s2) is sub-Gaussian with variance proxy s2 (Canonne, Kamath, Steinke
  2020), and so are sums of independent draws: means and sums of products are
  limited by 2 exp(-t^2 / 2).
- sums of squares: relative entropy.  By Chernoff's bound n draws have the mean
  square of N_Z(0, r) or a more extreme one with probability at most exp(-n D),
  D the relative entropy of N_Z(0, r) to N_Z(0, s2).
- frequencies: Chernoff's bound for the binomial, inverted (a little wider than
  Clopper and Pearson's interval).
- distribution functions: Massart's constant in the inequality of Dvoretzky,
  Kiefer and Wolfowitz.

False alarms: each file may raise one with probability FILE_ALARM, divided
evenly among the checks it announces.  With eleven files that draw, and at most
6.6e-10 for the unit tests (unit.h), a run of all stays below 1e-9.

Sizes: `make test` has samples that find large errors, `make test-all` (DP_TEST_ALL
is set) such that find smaller ones.  size() chooses, ..._found() tell what n
draws find but for one time in 1 / MISS, and each file prints that of both.

Run by itself, this file tests its own statistics on simulated draws: what
fits theory passes, what does not fails, and as often as ..._found() say.
"""
import bisect
import functools
import math
import os
import random
import subprocess
import sys
import tempfile

FILE_ALARM = 3e-11
MISS = 1e-3                     # how often what a check is said to find is missed
ALL = bool(os.environ.get("DP_TEST_ALL"))


def size(small, large):
    """The one of `make test`, or of `make test-all`."""
    return large if ALL else small


# --------------------------------------------------------------------------
# TAP and psql
# --------------------------------------------------------------------------


class Tap:
    """Prints test lines; alpha is the false-alarm rate of each check."""

    def __init__(self, title, checks):
        self.count = 0
        self.failed = 0
        self.checks = checks
        self.used = 0
        self._alpha = FILE_ALARM / checks
        print("# %s: at most %d checks, each a false alarm with probability %.2g, together %.2g"
              % (title, checks, self._alpha, FILE_ALARM))

    def alpha(self):
        """The rate of one more check."""
        self.used += 1
        return self._alpha

    def ok(self, passed, name, note=""):
        self.count += 1
        if not passed:
            self.failed += 1
        print("%s %d - %s" % ("ok" if passed else "not ok", self.count, name))
        if note:
            print("#     " + str(note).replace("\n", "\n#     "))
        sys.stdout.flush()
        return passed

    def skip(self, name, why):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, why))

    def note(self, text):
        print("# " + text)

    def finds(self, what, figure, draws):
        """Prints what is found in each size; figure: of a number of draws and a rate of false alarms, draws: those of both sizes."""
        self.note(what + ": " + ", ".join("%.3g by %d draws of `make %s`" % (figure(n, self._alpha), n, run)
                                          for n, run in zip(draws, ("test", "test-all"))))

    def some(self, cases, few, what):
        """All cases in `make test-all`, the few that tell most in `make test`."""
        if not ALL:
            self.note("%d of %d %s; the others are left to `make test-all`" % (len(few), len(cases), what))
        return size(few, cases)

    def done(self):
        if self.used > self.checks:
            self.ok(False, "false alarms were planned for %d checks, but %d were made"
                    % (self.checks, self.used))
        print("1..%d" % self.count)
        sys.exit(1 if self.failed else 0)


class Session:
    """psql of one role, which stays for all scripts: starting it takes longer than most of them."""

    def __init__(self, user):
        env = dict(os.environ, PGAPPNAME="stat", PGOPTIONS="-c client_min_messages=warning")
        if user:
            env["PGUSER"] = user
        self.errors = tempfile.TemporaryFile("w+")
        self.psql = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-P", "null=\\N", "-v", "ON_ERROR_STOP=1"],
            env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def run(self, sql):
        """Lines of the output, None after an error, and what psql says beside it."""
        lines, at = [], self.errors.tell()
        with tempfile.NamedTemporaryFile("w") as script:
            script.write(sql)
            script.flush()
            print("DISCARD ALL;\n\\i %s\n\\echo @end" % script.name, file=self.psql.stdin, flush=True)
            for line in self.psql.stdout:
                if line == "@end\n":
                    break
                lines.append(line.rstrip("\n"))
            else:
                self.psql.wait()
                lines = None
        self.errors.seek(at)
        return lines, self.errors.read()


@functools.lru_cache(maxsize=None)
def session(user, database):
    return Session(user)


def psql(sql, user=None):
    """Rows of all the script's queries, as lists of text; '\\N' is NULL."""
    lines, errors = session(user, os.environ.get("PGDATABASE")).run(sql)
    if lines is None:
        session.cache_clear()
        raise RuntimeError("%s\n%s" % (sql[:2000], errors))
    if errors:
        print("# " + errors.strip().replace("\n", "\n# "))
    return [line.split("\t") for line in lines]


def parse(text):
    """A value of COPY's text format: number, array of numbers or None."""
    if text == "\\N":
        return None
    if text.startswith("{"):
        return [parse("\\N" if item == "NULL" else item) for item in text[1:-1].split(",")]
    try:
        return int(text)
    except ValueError:
        return float(text)


def execute(query, columns, times, user, settings="", batch=1, parsed=True, after=""):
    """Executes a query so many times in one session: each execution's rows.

    columns: the query's columns with types, "n bigint, s float8".  batch:
    that many copies, each a release of its own, stand in one statement
    (UNION ALL), which saves round trips to the ledger; times counts copies.
    parsed: numbers instead of text.  after: what follows each statement, whose
    rows are in the table draws from execution {first} on.
    """
    rounds = -(-times // batch)
    copies = " UNION ALL ".join("SELECT execution_number * %d + %d, q%d.* FROM (%s) q%d"
                                % (batch, k, k, query, k) for k in range(batch))
    rows = psql("""
        %s;
        CREATE TEMP TABLE draws (execution int, %s);
        CREATE INDEX ON draws (execution);
        DO $$ BEGIN FOR execution_number IN 0..%d LOOP INSERT INTO draws %s; %s END LOOP; END $$;
        COPY draws TO STDOUT;""" % (settings, columns, rounds - 1, copies, after.format(first="execution_number * %d" % batch)), user)
    result = [[] for _ in range(rounds * batch)]
    for row in rows:
        result[int(row[0])].append([parse(value) for value in row[1:]] if parsed else row[1:])
    return result


def make_role(name):
    psql("DROP ROLE IF EXISTS %s; CREATE ROLE %s LOGIN" % (name, name))


def spent(dataset, role):
    """(rho, delta) that the budget says is spent, as floats."""
    rows = psql("SELECT rho_spent, delta_spent FROM dp_cdp.budgets WHERE dataset = '%s'"
                " AND role = '%s'::regrole" % (dataset, role))
    return float(rows[0][0]), float(rows[0][1])


# --------------------------------------------------------------------------
# Theory
# --------------------------------------------------------------------------


def sensitivity2(lower, upper, groups, grouped, neighbors):
    """Squared L2 sensitivity of a column over all groups; groups: per unit."""
    m2 = max(lower * lower, upper * upper)
    span2 = (max(upper, 0) - min(lower, 0)) ** 2
    if neighbors == "add_remove":
        return groups * m2
    return groups * max(2 * m2, span2) if grouped else span2


def theta(s2):
    """Sum of exp(-x^2 / (2 s2)) over the integers."""
    if s2 < 0.5:
        return 1 + 2 * sum(math.exp(-x * x / (2 * s2)) for x in range(1, 60))
    # Poisson's summation formula
    return math.sqrt(2 * math.pi * s2) * (
        1 + 2 * sum(math.exp(-2 * (math.pi * k) ** 2 * s2) for k in range(1, 12)))


def variance(s2):
    """The variance of N_Z(0, s2)."""
    if s2 > 100:
        return float(s2)
    r = range(1, int(12 * math.sqrt(s2)) + 3)
    return 2 * math.fsum(x * x * math.exp(-x * x / (2 * s2)) for x in r) / theta(s2)


class Noise:
    """The discrete Gaussian with parameter s2 (squared grid units).

    unit: the length of a grid unit, 0 for a grid too fine to be seen: then s2
    is in squared units of the value.
    """

    def __init__(self, s2, unit=1):
        self.s2 = s2
        self.unit = unit
        self.proxy = s2 * (unit or 1) ** 2
        self.variance = (variance(s2) if unit else s2) * (unit or 1) ** 2
        self.sd = math.sqrt(self.variance)

    def tail(self, m):
        """P(noise >= m), m in grid units and > 0."""
        if self.unit == 0 or self.s2 > 1e6:
            return 0.5 * math.erfc((m - (0.5 if self.unit else 0)) / math.sqrt(2 * self.s2))
        x = math.ceil(m - 1e-9)
        total = 0.0
        while True:
            term = math.exp(-x * x / (2 * self.s2))
            total += term
            if term <= 1e-17 * total or term == 0:
                return total / theta(self.s2)
            x += 1

    def cdf(self, x):
        """P(noise <= x), x in the value's units."""
        if self.unit == 0:
            return 0.5 * math.erfc(-x / math.sqrt(2 * self.s2))
        m = math.floor(x / self.unit + 1e-9)
        return 1 - self.tail(m + 1) if m >= 0 else self.tail(-m)

    def square_limits(self, n, alpha):
        """Limits for the mean of n squared draws, as multiples of s2 unit^2."""
        return _square_limits(self.s2 if self.unit and self.s2 <= 100 else None, n, alpha)


def edge(inside, outside, holds):
    """Where a condition that holds inside ends, from the outside."""
    for _ in range(60):
        middle = (inside + outside) / 2
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return outside


@functools.lru_cache(maxsize=None)
def _square_limits(s2, n, alpha):
    need = math.log(2 / alpha) / n

    def mean(r):
        """The mean square of N_Z(0, r s2), as a multiple of s2."""
        return r if s2 is None else variance(r * s2) / s2

    def near(r):
        """Whether N_Z(0, r s2) is no further from N_Z(0, s2) than n draws may be."""
        ratio = math.log(r) / 2 if s2 is None else math.log(theta(r * s2) / theta(s2))
        return (1 - 1 / r) / 2 * mean(r) - ratio < need

    return [mean(edge(1.0, end, near)) for end in (1e-9, 64.0)]


def mean_limit(proxy, n, alpha):
    """How far the mean of n draws may lie from its expectation."""
    return math.sqrt(2 * math.log(2 / alpha) * proxy / n)


def kl(a, b):
    """Relative entropy of coins."""
    result = 0.0
    if a > 0:
        result += a * math.log(a / b) if b > 0 else math.inf
    if a < 1:
        result += (1 - a) * math.log((1 - a) / (1 - b)) if b < 1 else math.inf
    return result


def frequency_limit(hits, n, alpha, upper):
    """One-sided confidence bound for the probability behind hits of n."""
    p = hits / n
    return edge(p, 1.0 if upper else 0.0, lambda q: kl(p, q) < math.log(1 / alpha) / n)


def zcdp_delta(rho, epsilon):
    """The smallest known delta with (epsilon, delta)-DP for rho-zCDP."""
    low, high = 1e-12, 1e12
    for _ in range(100):
        t = math.sqrt(low * high)
        if (2 * t + 1) * rho - epsilon > math.log1p(1 / t):
            high = t
        else:
            low = t
    return min(1.0, math.exp(high * ((1 + high) * rho - epsilon) - high * math.log1p(1 / high)
                             - math.log1p(high)))


def claim(rho, delta, epsilon):
    """What (rho, delta) charged promises at epsilon."""
    return delta + (1 - delta) * zcdp_delta(rho, epsilon)


# --------------------------------------------------------------------------
# Checks on samples
# --------------------------------------------------------------------------


def check_mean(noise, residuals, alpha):
    n = len(residuals)
    mean = math.fsum(residuals) / n
    limit = mean_limit(noise.proxy, n, alpha)
    return abs(mean) <= limit, "mean error %.4g of %d draws, limit %.4g" % (mean, n, limit)


def check_variance(noise, residuals, alpha):
    n = len(residuals)
    ratio = math.fsum(x * x for x in residuals) / n / noise.proxy
    low, high = noise.square_limits(n, alpha)
    exact = noise.variance / noise.proxy
    return low <= ratio <= high, \
        "variance / theory %.4f of %d draws, limits %.4f .. %.4f (theory %.6g, grid unit %g)" % (
            ratio / exact, n, low / exact, high / exact, noise.variance, noise.unit)


def check_distribution(noise, residuals, alpha):
    n = len(residuals)
    limit = math.sqrt(math.log(2 / alpha) / (2 * n))
    half = 0.5 * noise.unit         # between the points of the grid
    xs = sorted(residuals)
    worst = 0.0
    at = 0
    while at < n:
        end = bisect.bisect_right(xs, xs[at] + half)
        worst = max(worst, abs(at / n - noise.cdf(xs[at] - half)),
                    abs(end / n - noise.cdf(xs[at] + half)))
        at = end
    return worst <= limit, "distance of distribution functions %.4f, limit %.4f" % (worst, limit)


def check_uncorrelated(noise, xs, ys, alpha):
    """xs: draws of noise; ys: anything they should be independent of."""
    product = math.fsum(x * y for x, y in zip(xs, ys))
    squares = math.fsum(y * y for y in ys)
    limit = math.sqrt(2 * math.log(2 / alpha) * noise.proxy * squares)
    return abs(product) <= limit, "sum of %d products is %.2f of its limit" % (
        len(xs), abs(product) / limit if limit else math.inf)


def best_threshold(xs, ys, epsilon):
    """t that maximizes P(x >= t) - e^epsilon P(y >= t) in these samples."""
    factor = math.exp(epsilon)
    xs, ys = sorted(xs), sorted(ys)
    best, at = 0.0, math.inf
    for t in sorted(set(xs)):
        value = (len(xs) - bisect.bisect_left(xs, t)) / len(xs) \
            - factor * (len(ys) - bisect.bisect_left(ys, t)) / len(ys)
        if value > best:
            best, at = value, t
    return at


# sides of a pair of tables and confidence bounds on each
AUDIT_BOUNDS = 4


def audit(xs, ys, epsilons, alpha):
    """Lower confidence bounds for the delta at each epsilon that outputs show.

    xs, ys: a statistic of the output on two neighbouring tables.  Thresholds
    are chosen on a quarter of the runs and judged on the others.  Each of the
    len(epsilons) * AUDIT_BOUNDS confidence bounds fails with probability alpha.
    """
    result = []
    for epsilon in epsilons:
        worst = -math.inf
        for a, b in ((xs, ys), ([-y for y in ys], [-x for x in xs])):
            some_a, some_b = len(a) // 4, len(b) // 4
            t = best_threshold(a[:some_a], b[:some_b], epsilon)
            p = frequency_limit(sum(x >= t for x in a[some_a:]), len(a) - some_a, alpha, False)
            q = frequency_limit(sum(y >= t for y in b[some_b:]), len(b) - some_b, alpha, True)
            worst = max(worst, p - math.exp(epsilon) * q)
        result.append(worst)
    return result


# --------------------------------------------------------------------------
# What checks find, but for one time in 1 / MISS
# --------------------------------------------------------------------------


def mean_found(n, alpha):
    """How far off a mean of n draws must be, in units of sigma."""
    return math.sqrt(2 * math.log(2 / alpha) / n) + math.sqrt(2 * math.log(1 / MISS) / n)


def variance_found(n, alpha):
    """c where s2 of n draws is c times theory or a c-th of it, for any s2 from 0.2 on."""
    (low, high), (least, most) = (_square_limits(None, n, rate) for rate in (alpha, 2 * MISS))
    return max(high / least, most / low)


def frequency_found(p, n, alpha):
    """The least frequency, in n trials, whose lower limit is above p."""
    def missed(q):
        seen = edge(q, 0.0, lambda x: kl(x, q) < math.log(1 / MISS) / n)
        return frequency_limit(seen * n, n, alpha, False) <= p
    return edge(1.0, p, lambda q: not missed(q))


def by_chance(p, q, n, alpha):
    """At most how likely the frequency of p in n trials is within the limits of q."""
    if kl(p, q) <= math.log(1 / alpha) / n:
        return 1.0
    return math.exp(-n * kl(edge(q, p, lambda x: kl(x, q) < math.log(1 / alpha) / n), p))


def audit_shows(noise, shift, epsilons, runs, alpha, miss=MISS):
    """The least that audit() shows of the delta at each epsilon, of noise on two tables that differ by shift; runs on each."""
    n = runs - runs // 4
    step, sigma = noise.unit or noise.sd / 10, math.sqrt(noise.proxy)
    thresholds = [i * step for i in range(-int(2 * sigma / step), int((shift + 4 * sigma) / step) + 2)]

    def tail(m):
        return noise.tail(m) if m > 0 else 1 - noise.tail(noise.unit - m)

    def limit(p, upper):
        """of a frequency that is unlucky"""
        unlucky = edge(p, float(upper), lambda x: kl(x, p) < math.log(2 / miss) / n)
        return frequency_limit(unlucky * n, n, alpha, upper)

    tails = [(tail(t - shift), tail(t)) for t in thresholds]
    best = [(max(tails, key=lambda pq: pq[0] - math.exp(epsilon) * pq[1]), epsilon) for epsilon in epsilons]
    return [limit(p, False) - math.exp(epsilon) * limit(q, True) for (p, q), epsilon in best]


def refuted(noise, shift, epsilons, runs, alpha, miss=MISS):
    """The largest share of rho that audit() refutes, of such noise."""
    deltas = audit_shows(noise, shift, epsilons, runs, alpha, miss)
    rho = shift * shift / (2 * noise.proxy)
    return edge(1.0, 0.0, lambda share: all(d <= claim(share * rho, 0, e) for d, e in zip(deltas, epsilons)))


def loss_found(rho, epsilons, runs, alpha):
    """c where audit() shows that c rho is more than rho, of noise that is as good as continuous."""
    claims = [claim(rho, 0, e) for e in epsilons]
    return edge(1.0, 16.0, lambda c: all(d <= most for d, most in zip(
        audit_shows(Noise(1 / (2 * c * rho), unit=0), 1, epsilons, runs, alpha), claims)))


# --------------------------------------------------------------------------
# Self-test on simulated draws
# --------------------------------------------------------------------------


class Simulator:
    """Draws from N_Z(0, s2) by inversion of its table; small s2 only."""

    def __init__(self, s2, seed):
        self.random = random.Random(seed)
        reach = int(12 * math.sqrt(s2)) + 4
        self.values = list(range(-reach, reach + 1))
        self.table = []
        total = 0.0
        for x in self.values:
            total += math.exp(-x * x / (2 * s2))
            self.table.append(total)

    def draw(self):
        return self.values[bisect.bisect(self.table, self.random.random() * self.table[-1])]

    def draws(self, n):
        return [self.draw() for _ in range(n)]


def self_test():
    tap = Tap("self-test on simulated draws", 100)
    n = 20000
    known = ((0.03125, 0, 0.1508457845622862), (0.5, 0, 0.5588356393474351),
             (0.1, 1, 8.933245771818364e-3), (1e-4, 0.1, 1.063698476883740e-14))
    tap.ok(all(abs(zcdp_delta(rho, epsilon) / delta - 1) < 1e-9 for rho, epsilon, delta in known),
           "zcdp_delta has known values")
    # Bun and Steinke's bound is above, the Gaussian's own curve below
    tap.ok(all(zcdp_delta(r, e) <= math.exp(-(e - r) ** 2 / (4 * r))
               and zcdp_delta(r, e) >= gauss_delta(math.sqrt(2 * r), e)
               for r in (0.01, 0.1, 0.5, 1) for e in (1, 1.5, 2, 4)),
           "zcdp_delta lies between the Gaussian's and the simple bound")
    tap.ok(frequency_limit(0, 1000, 1e-3, True) > 1 - 1e-3 ** (1 / 1000) - 1e-12
           and frequency_limit(10, 1000, 1e-3, False) < 0.01 < frequency_limit(10, 1000, 1e-3, True),
           "frequency_limit holds its level")
    low, high = Noise(1, unit=0).square_limits(n, 1e-12)
    tap.ok(0.9 < low < 0.95 and 1.05 < high < 1.1, "limits of variances are useful",
           "%.4f .. %.4f" % (low, high))
    tap.ok(all(abs(Noise(s2).tail(m) - sum(math.exp(-x * x / 2 / s2) for x in range(m, m + 200))
                   / sum(math.exp(-x * x / 2 / s2) for x in range(-300, 301))) < 1e-12
               for s2 in (0.25, 1.7, 50) for m in (1, 2, 5)), "tails of the discrete Gaussian")

    for s2 in (0.25, 5 / 3, 40.0):
        noise = Noise(s2)
        good = Simulator(s2, 1).draws(n)
        for name, check in (("mean", check_mean), ("variance", check_variance),
                            ("distribution", check_distribution)):
            tap.ok(*join(check(noise, good, tap.alpha()), "s2 = %.3g: %s of true draws passes" % (s2, name)))
        tap.ok(check_uncorrelated(noise, good, good[1:] + good[:1], tap.alpha())[0],
               "s2 = %.3g: neighbours are uncorrelated" % s2)
        tap.ok(not check_uncorrelated(noise, good, [x + y for x, y in zip(good, Simulator(4 * s2, 2).draws(n))],
                                      tap.alpha())[0], "s2 = %.3g: correlation is found" % s2)
        tap.ok(not check_mean(noise, [x + 0.08 * noise.sd for x in good], tap.alpha())[0],
               "s2 = %.3g: a mean off by 8%% of sigma is found" % s2)
        for wrong in (0.25, 0.8, 1.25, 4):
            bad = Simulator(s2 * wrong, 3).draws(n)
            tap.ok(not check_variance(noise, bad, tap.alpha())[0],
                   "s2 = %.3g: %g times the variance is found" % (s2, wrong))
        tap.ok(not check_distribution(noise, Simulator(s2 / 4, 4).draws(n), tap.alpha())[0],
               "s2 = %.3g: another distribution is found" % s2)
    # rounded continuous noise is not the discrete Gaussian
    rnd = random.Random(5)
    tap.ok(not check_variance(Noise(0.25), [round(rnd.gauss(0, 0.5)) for _ in range(n)], tap.alpha())[0],
           "rounded Gaussian noise is told from the discrete Gaussian")

    epsilons = (0, 0.25, 0.5, 1, 1.5, 2)
    for s2, sens, seed in ((0.5, 1, 6), (18.0, 6, 8)):
        rho = sens * sens / (2 * s2)
        xs = [x + sens for x in Simulator(s2, seed).draws(n)]
        ys = Simulator(s2, seed + 1).draws(n)
        seen = audit(xs, ys, epsilons, tap.alpha() / AUDIT_BOUNDS / len(epsilons))
        tap.ok(all(d <= claim(rho, 0, e) for d, e in zip(seen, epsilons)),
               "s2 = %.3g: the audit agrees to the true rho" % s2, table(seen, epsilons, rho, 0))
        tap.ok(any(d > claim(rho / 4, 0, e) for d, e in zip(seen, epsilons)),
               "s2 = %.3g: the audit refutes a quarter of it" % s2)
    # how often what ..._found() say is found
    n, times, alpha = 500, 300, 1e-12
    for s2 in (0.25, 5 / 3, 40.0):
        noise, c = Noise(s2), variance_found(n, alpha)
        for what, law, shift, check in (("variance", c * s2, 0, check_variance), ("smaller variance", s2 / c, 0, check_variance),
                                        ("mean", s2, mean_found(n, alpha) * math.sqrt(s2), check_mean)):
            simulator = Simulator(law, 10)
            found = sum(not check(noise, [x + shift for x in simulator.draws(n)], alpha)[0] for _ in range(times))
            tap.ok(found >= times - 2, "s2 = %.3g: the %s that is said to be found is found" % (s2, what), "%d of %d" % (found, times))
    p = frequency_found(0.01, n, alpha)
    found = sum(frequency_limit(sum(rnd.random() < p for _ in range(n)), n, alpha, False) > 0.01 for _ in range(times))
    tap.ok(found >= times - 2, "the frequency that is said to be found is found", "%.4f, %d of %d" % (p, found, times))
    n = 3000
    c = loss_found(1, epsilons, n, alpha)
    for s2, sens, share in [(18 / c, 6, 1 / c)] + [(s2, sens, refuted(Noise(s2), sens, epsilons, n, alpha)) for s2, sens in ((0.5, 1), (18.0, 6))]:
        simulator, rho = Simulator(s2, 11), sens * sens / (2 * s2)
        found = sum(any(d > claim(share * rho, 0, e) for d, e in zip(
            audit([x + sens for x in simulator.draws(n)], simulator.draws(n), epsilons, alpha), epsilons)) for _ in range(20))
        tap.ok(found == 20, "s2 = %.3g: the share of rho that is said to be refuted is refuted" % s2, "%.3f, %d of 20" % (share, found))
    tap.done()


def gauss_delta(mu, epsilon):
    a = epsilon / mu
    return 0.5 * (math.erfc((a - mu / 2) / math.sqrt(2))
                  - math.exp(epsilon) * math.erfc((a + mu / 2) / math.sqrt(2)))


def join(result, name):
    """(passed, note) as the arguments of Tap.ok."""
    return result[0], name, result[1]


def table(seen, epsilons, rho, delta):
    return "epsilon: delta seen <= delta claimed: " + ", ".join(
        "%g: %.3f <= %.3f" % (e, d, claim(rho, delta, e)) for d, e in zip(seen, epsilons))


if __name__ == "__main__":
    self_test()
