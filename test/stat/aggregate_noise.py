#!/usr/bin/env python3
"""Averages, variances, regression, histograms, distinct counts and quantiles:
is their noise what the charge allows and EXPLAIN shows, and are they right?

- Histograms and distinct counts are whole numbers with the discrete Gaussian.
- Averages and their kin are functions f of noisy sums s_i, here over so many
  rows that f is as good as linear: its variance is the sum of
  (df/ds_i sigma_i)^2, with derivatives taken numerically from the statistic's
  textbook formula, and sigma_i from the weights of the sums in
  math/moments.h.  What dp_noise_stddev says must agree, too.
- A quantile of even data has an error in ranks.  Each of the 16 top nodes is
  known from its own count and from the nodes below it with variance
  v = 15.06 / 16.06 sigma^2, independently; a quantile q at the edge of k nodes
  from the left has (1 - q)^2 k v + q^2 (16 - k) v.
- Random tables, all of them small: with so much rho that noise does not show,
  answers are those of plain SQL.

The limits of a linear statistic are widened by SLACK for what is not linear.

1,000 draws of a statistic find a variance of 1.8 times theory, or its inverse, 6,000 of a whole number one of 1.24
times, 300 of a quantile one of 3.5 times (but for one time in a thousand).  Draws are as many in `make test` and in
`make test-all`, which has both relations of each kind, rows and units.
"""
import math

from dpstat import (FILE_ALARM, Noise, Tap, check_distribution, check_mean, check_uncorrelated, check_variance, execute,
                    join, make_role, psql, sensitivity2, variance_found)

ANALYST = "averager"
RUNS = 1000
BATCH = 8
ROWS = 2048
RHO = 1.0
MAX_ROWS = 3
SLACK = 0.03

QUANTILE_RUNS = 300
LEAF = 20                       # rows for each of 4096 leaves

CHECKS = 300

# math/moments.h: sums and their weights
AVG = {"n": 1, "t": 2}
VARIANCE = {"n": 3, "t": 4, "t2": 2}
COVARIANCE = {"n": 1, "t": 1, "u": 1, "tu": 2}
CORRELATION = {"n": 2, "t": 2, "t2": 1, "u": 2, "u2": 1, "tu": 4}
REGRESSION = {"n": 2, "t": 1, "u": 2, "u2": 1, "tu": 3}

# bounds of x and y
X, Y = (2.0, 12.0), (-1.0, 3.0)


def half(bounds):
    return (bounds[1] - bounds[0]) / 2


def var(s, t="t", t2="t2"):
    return (s[t2] / s["n"] + 1) / 2 - (s[t] / s["n"]) ** 2


def cov(s):
    return s["tu"] / s["n"] - s["t"] * s["u"] / s["n"] ** 2


def sample(s):
    return s["n"] / (s["n"] - 1)


def mean(s, t, bounds):
    return (bounds[0] + bounds[1]) / 2 + half(bounds) * s[t] / s["n"]


def slope(s):
    return half(X) / half(Y) * cov(s) / var(s, "u", "u2")


STATISTICS = [
    ("dp_avg(x, 2, 12)", AVG, lambda s: mean(s, "t", X)),
    ("dp_var_pop(x, 2, 12)", VARIANCE, lambda s: half(X) ** 2 * var(s)),
    ("dp_variance(x, 2, 12)", VARIANCE, lambda s: half(X) ** 2 * var(s) * sample(s)),
    ("dp_stddev_pop(x, 2, 12)", VARIANCE, lambda s: half(X) * math.sqrt(var(s))),
    ("dp_stddev(x, 2, 12)", VARIANCE, lambda s: half(X) * math.sqrt(var(s) * sample(s))),
    ("dp_covar_pop(x, y, 2, 12, -1, 3)", COVARIANCE, lambda s: half(X) * half(Y) * cov(s)),
    ("dp_covariance(x, y, 2, 12, -1, 3)", COVARIANCE, lambda s: half(X) * half(Y) * cov(s) * sample(s)),
    ("dp_correlation(x, y, 2, 12, -1, 3)", CORRELATION, lambda s: cov(s) / math.sqrt(var(s) * var(s, "u", "u2"))),
    ("dp_regr_slope(x, y, 2, 12, -1, 3)", REGRESSION, slope),
    ("dp_regr_intercept(x, y, 2, 12, -1, 3)", REGRESSION, lambda s: mean(s, "t", X) - slope(s) * mean(s, "u", Y)),
]


def part_sigma(part, weights, m, groups, grouped, neighbors, rho):
    bounds = (0, m) if part == "n" else (-m, m)
    return math.sqrt(sensitivity2(*bounds, groups, grouped, neighbors) / 2 / (rho * weights[part] / sum(weights.values())))


def linear_sigma(statistic, sums, sigma):
    total = 0.0
    for part in sigma:
        step = 1e-4 * sums["n"]
        above, below = dict(sums), dict(sums)
        above[part] += step
        below[part] -= step
        total += ((statistic(above) - statistic(below)) / (2 * step) * sigma[part]) ** 2
    return math.sqrt(total)


def create(name, neighbors, unit, rows):
    """rows: SQL of (u, g, x, y)."""
    psql("""
        CREATE TABLE {t} (u int, g int NOT NULL, x float8, y float8);
        INSERT INTO {t} {rows};
        SELECT dp_cdp.create_dataset('{t}', neighbors => '{neighbors}', default_rho => {rho}, max_groups => 2, max_rows => {m});
        SELECT dp_cdp.protect_table('{t}', '{t}', {unit}, each_row => {unit} IS NULL);
        SELECT dp_cdp.set_keys('{t}', 'g', ARRAY[1, 2, 3]);
        SELECT dp_cdp.set_budget('{t}', '{analyst}', rho => 1e6);
        """.format(t=name, rows=rows, neighbors=neighbors, rho=RHO, m=MAX_ROWS, analyst=ANALYST, unit="'u'" if unit else "NULL"))


def widened(noise, residuals, alpha):
    """check_variance with limits a little further out."""
    n = len(residuals)
    ratio = math.fsum(x * x for x in residuals) / n / noise.proxy
    low, high = noise.square_limits(n, alpha)
    return low * (1 - SLACK) <= ratio <= high * (1 + SLACK), \
        "variance / theory %.4f of %d draws, limits %.4f .. %.4f" % (ratio, n, low * (1 - SLACK), high * (1 + SLACK))


def moments(tap, neighbors, unit, grouped):
    name = "moments_%s_%s_%s" % (neighbors, "units" if unit else "rows", "grouped" if grouped else "all")
    # two of three rows have y depend on x; every unit has two rows, both in group 1
    create(name, neighbors, unit, """
        SELECT (i + 1) / 2, 1, x, least(greatest(x / 5 - 1 + ((i * 7919) % 13) / 8.0 - 0.75, -1), 3)
        FROM (SELECT i, 3 + (i * 37 % 64) / 10.0 AS x FROM generate_series(1, {n}) i) s""".format(n=ROWS))
    # centred values as the extension has them, to 24 bits
    row = psql("SELECT count(*), sum(t), sum(2*t*t-1), sum(u), sum(2*u*u-1), sum(t*u) FROM"
               " (SELECT (x - 7) / 5 AS t, (y - 1) / 2 AS u FROM %s) s" % name)[0]
    sums = dict(zip(("n", "t", "t2", "u", "u2", "tu"), map(float, row)))
    m, groups = (MAX_ROWS, 2 if grouped else 1) if unit else (1, 1)
    runs = execute("SELECT " + ", ".join("%s AS a%d, dp_noise_stddev(%s) AS s%d" % (a, i, a, i)
                                         for i, (a, _, _) in enumerate(STATISTICS)) + " FROM " + name +
                   (" GROUP BY g HAVING g = 1" if grouped else ""),
                   ", ".join("a%d float8, s%d float8" % (i, i) for i in range(len(STATISTICS))), RUNS, ANALYST, "", BATCH)
    previous = None
    for i, (aggregate, weights, statistic) in enumerate(STATISTICS):
        sigma = {part: part_sigma(part, weights, m, groups, grouped, neighbors, RHO) for part in weights}
        expected = linear_sigma(statistic, sums, sigma)
        noise = Noise(expected ** 2, unit=0)
        residuals = [run[0][2 * i] - statistic(sums) for run in runs]
        title = "%s: %s" % (name, aggregate)
        # what is not linear has a mean: of the order of sigma / n of sigma
        bias = SLACK * noise.sd
        limit = bias + math.sqrt(2 * math.log(2 / tap.alpha()) * noise.proxy / len(residuals))
        average = math.fsum(residuals) / len(residuals)
        tap.ok(abs(average) <= limit, title + ": mean", "error %.3g of sigma %.3g, limit %.3g" % (average, noise.sd, limit))
        tap.ok(*join(widened(noise, residuals, tap.alpha()), title + ": variance"))
        told = sum(run[0][2 * i + 1] for run in runs) / len(runs)
        tap.ok(abs(told / expected - 1) < SLACK, title + ": dp_noise_stddev agrees", "%.5g, theory %.5g" % (told, expected))
        if previous is not None:
            tap.ok(*join(check_uncorrelated(Noise(noise.s2 * (1 + SLACK), unit=0), residuals, previous, tap.alpha()),
                         title + ": independent of the aggregate before"))
        previous = residuals


def whole_numbers(tap, neighbors, unit, grouped):
    name = "counts_%s_%s_%s" % (neighbors, "units" if unit else "rows", "grouped" if grouped else "all")
    create(name, neighbors, unit, "SELECT i / 2, 1, i % 11, 0 FROM generate_series(0, 59) i")
    m, groups = (MAX_ROWS, 2 if grouped else 1) if unit else (1, 1)
    runs = execute("SELECT dp_histogram(x, 0, 10, 4) AS h, dp_count(DISTINCT x) AS d FROM " + name
                   + (" GROUP BY g HAVING g = 1" if grouped else ""), "h bigint[], d bigint", 6 * RUNS, ANALYST, "", 40)
    bins = [int(row[0]) for row in psql("SELECT count(*) FROM %s GROUP BY least(floor(x / 2.5), 3) ORDER BY least(floor(x / 2.5), 3)" % name)]
    k = groups if grouped or unit else 1
    vector2 = (1 if neighbors == "add_remove" else 2) * k * m * m
    columns = [("bin %d" % i, vector2, [run[0][0][i] - bins[i] for run in runs]) for i in range(4)]
    columns.append(("distinct values", sensitivity2(0, m, k, grouped, neighbors), [run[0][1] - 11 for run in runs]))
    previous = None
    for what, sens2, residuals in columns:
        noise = Noise(sens2 / (2 * RHO))
        for check in (check_mean, check_variance, check_distribution):
            tap.ok(*join(check(noise, residuals, tap.alpha()), "%s: %s: %s" % (name, what, check.__name__[6:])))
        if previous is not None:
            tap.ok(*join(check_uncorrelated(noise, residuals, previous, tap.alpha()), "%s: %s: independent" % (name, what)))
        previous = residuals


def quantiles(tap, neighbors):
    name = "even_" + neighbors
    n = 4096 * LEAF
    create(name, neighbors, False, "SELECT NULL, 1, (i + 0.5) / %d, 0 FROM generate_series(0, %d) i" % (n, n - 1))
    level = RHO / 3
    sigma2 = (1 if neighbors == "add_remove" else 2) / (2 * level)
    v = 16 * 16 / 17 / (1 + 16 * 16 / 17) * sigma2
    qs = [1 / 16, 4 / 16, 8 / 16, 13 / 16]
    runs = execute("SELECT dp_quantile(x, ARRAY[%s], 0, 1) AS q, dp_noise_stddev(dp_quantile(x, ARRAY[%s], 0, 1)) AS s FROM %s"
                   % (", ".join(map(str, qs)), ", ".join(map(str, qs)), name), "q float8[], s float8", QUANTILE_RUNS, ANALYST)
    for i, q in enumerate(qs):
        residuals = [(run[0][0][i] - q) * n for run in runs]
        left = round(16 * q)
        noise = Noise(((1 - q) ** 2 * left + q * q * (16 - left)) * v, unit=0)
        # noise in the leaf that the answer is in: its share is what of it lies between
        inside = 2 * noise.sd / LEAF
        average = math.fsum(residuals) / len(residuals)
        limit = math.sqrt(2 * math.log(2 / tap.alpha()) * noise.proxy * (1 + inside) / len(residuals))
        tap.ok(abs(average) <= limit, "%s: quantile %.4f: mean rank" % (name, q), "error %.3f, limit %.3f" % (average, limit))
        low, high = noise.square_limits(len(residuals), tap.alpha())
        ratio = math.fsum(x * x for x in residuals) / len(residuals) / noise.proxy
        tap.ok(low * (1 - SLACK) <= ratio <= high * (1 + inside), "%s: quantile %.4f: variance of the rank" % (name, q),
               "variance / theory %.3f, limits %.3f .. %.3f" % (ratio, low * (1 - SLACK), high * (1 + inside)))
    # of several, the greatest; it counts that rows may be anywhere in a leaf
    told = sum(run[0][1] for run in runs) / len(runs) * n
    true = math.sqrt(max((1 - q) ** 2 * round(16 * q) + q * q * (16 - round(16 * q)) for q in qs) * v + LEAF * LEAF / 12)
    tap.ok(0.8 < told / true < 1.25, "%s: dp_noise_stddev is of that size" % name, "%.3f ranks, theory %.3f" % (told, true))


def right(tap, unit):
    """The guard's query, with much rho, against plain SQL; as many rows of a unit as it has."""
    name = "right_" + ("units" if unit else "rows")
    create(name, "add_remove", unit, """
        SELECT abs(hashint8extended(i, 1)) % 60, 1 + abs(hashint8extended(i, 2)) % 3, (abs(hashint8extended(i, 3)) % 641) / 64.0, (abs(hashint8extended(i, 4)) % 257) / 64.0 - 1 + (i % 3) / 8.0
        FROM generate_series(1, 900) i
        UNION ALL SELECT i, 1, NULL, 1 FROM generate_series(1, 5) i UNION ALL SELECT i, 1, 'NaN', 1 FROM generate_series(1, 5) i""")
    exact = {
        "dp_avg(x, 0, 10)": ("avg(x)", .02), "dp_var_pop(x, 0, 10)": ("var_pop(x)", .1), "dp_variance(x, 0, 10)": ("variance(x)", .1),
        "dp_stddev_pop(x, 0, 10)": ("stddev_pop(x)", .03), "dp_stddev(x, 0, 10)": ("stddev_samp(x)", .03),
        "dp_covar_pop(x, y, 0, 10, -1, 4)": ("covar_pop(x, y)", .1), "dp_covariance(x, y, 0, 10, -1, 4)": ("covar_samp(x, y)", .1),
        "dp_correlation(x, y, 0, 10, -1, 4)": ("corr(x, y)", .05), "dp_regr_slope(x, y, 0, 10, -1, 4)": ("regr_slope(x, y)", .1),
        "dp_regr_intercept(x, y, 0, 10, -1, 4)": ("regr_intercept(x, y)", .2),
        "dp_avg(x * y, -10, 40)": ("avg(x * y)", .1), "dp_avg(x, 3, 6)": ("avg(CASE WHEN x < 3 THEN 3 WHEN x > 6 THEN 6 ELSE x END)", .02),
        "dp_var_pop(x, 3, 6)": ("var_pop(CASE WHEN x < 3 THEN 3 WHEN x > 6 THEN 6 ELSE x END)", .1), "dp_avg(x, 0, 10) FILTER (WHERE y > 2)": ("avg(x) FILTER (WHERE y > 2)", .05),
        "dp_median(x, 0, 10)": ("percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", .05),
        "dp_quantile(x, 0.1, 0, 10)": ("percentile_cont(0.1) WITHIN GROUP (ORDER BY x)", .1),
        "dp_quantile(y, 0.95, -1, 5)": ("percentile_cont(0.95) WITHIN GROUP (ORDER BY y)", .1),
        "dp_min(x, 0, 10)": ("min(x)", .1), "dp_max(y, -1, 3.25)": ("max(y)", .1), "dp_clipped(x, 3, 6)": ("avg((x < 3 OR x > 6)::int)", .01),
        "dp_count(DISTINCT x)": ("count(DISTINCT x)", 0), "dp_count(DISTINCT (y * 4)::int)": ("count(DISTINCT (y * 4)::int)", 0),
        "(dp_histogram(x, 0, 10, 7))[3]": ("count(*) FILTER (WHERE x >= 20 / 7.0::float8 AND x < 30 / 7.0::float8)", 0),
        "(dp_histogram(x, 3, 6, 2))[2]": ("count(*) FILTER (WHERE x >= 4.5)", 0),
    }
    # units have at most 40 rows; with that a price that 24 aggregates still find in the budget
    settings = "SET dp_cdp.rho = %d; SET dp_cdp.max_rows = 40" % (40000 if unit else 3000)
    for where in ("y > 0",) if unit else ("g = 1", "y > 0 AND g < 3"):
        # NaN counts as NULL
        got = psql("%s; SELECT %s FROM %s WHERE %s" % (settings, ", ".join(exact), name, where), ANALYST)[0]
        want = psql("SELECT %s FROM (SELECT u, g, nullif(x, 'NaN') AS x, y FROM %s) s WHERE %s"
                    % (", ".join(e for e, _ in exact.values()), name, where))[0]
        for aggregate, private, true in zip(exact, got, want):
            # whole numbers have noise of 40 / sqrt(80000), but a tree has that of a third of the price
            tolerance = exact[aggregate][1] * (4 if unit else 1) + (2 if unit and exact[aggregate][1] == 0 else 0)
            tap.ok(abs(float(private) - float(true)) <= tolerance, "%s, %s: %s" % (name, where, aggregate),
                   "%s, plain SQL %s" % (private, true))


def main():
    tap = Tap("aggregate_noise.py", CHECKS)
    for what, draws in (("a statistic", RUNS), ("a whole number", 6 * RUNS), ("a quantile", QUANTILE_RUNS)):
        tap.note("%d draws of %s find %.3g times the variance, before limits are widened" % (draws, what, variance_found(draws, FILE_ALARM / CHECKS)))
    make_role(ANALYST)
    add, replace = "add_remove", "replace_one"
    todo = [(moments, add, True, True), (moments, replace, True, False), (whole_numbers, add, False, False),
            (whole_numbers, replace, True, True), (quantiles, add)]
    more = [(moments, add, False, False), (whole_numbers, add, True, True), (whole_numbers, replace, False, False), (quantiles, replace)]
    for check, *case in tap.some(todo + more, todo, "kinds of tables"):
        check(tap, *case)
    right(tap, False)
    right(tap, True)
    tap.done()


if __name__ == "__main__":
    main()
