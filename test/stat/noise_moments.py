#!/usr/bin/env python3
"""Mean, variance, distribution and independence of many releases.

Counts, sums of integers, floats and numerics, and counts of units; row and
unit mode; both neighbouring relations; grouped by declared keys and not.  The
expected value is the true clamped one, computed here from the rows; the
expected variance that of the discrete Gaussian with s2 = sens2 / (2 rho).
Limits: dpstat.py.  `make test` has 5,000 draws of each column and finds noise of 1.27 times the variance,
or its inverse, and a mean off by 17% of sigma; `make test-all` has 20,000 and finds 1.13 times and 8%
(but for one time in a thousand).
"""
import math
import random
from fractions import Fraction

from dpstat import (Noise, Tap, check_distribution, check_mean, check_uncorrelated, check_variance,
                    execute, join, make_role, mean_found, psql, sensitivity2, size, spent, variance_found)

ANALYST = "moments"
DRAWS = 5000, 20000             # of a column, in each size; a quarter of them without rows and groups
BATCH = 40, 10                  # executions in a statement, without groups and by group
KEYS = 20
MAX_GROUPS = 2
MAX_ROWS = 3
UNITS = 12

# column, its SQL, bounds of a row, grid unit (0: too fine to be seen), type
INT_BOUNDS = (-3, 10)
FLOAT_BOUNDS = (-2.5, 1.5)
NUMERIC_BOUNDS = (1, 4)         # a unit that is absent contributes 0 all the same
COLUMNS = [
    ("count", "dp_count(*)", None, 1, "bigint"),
    ("count of a column", "dp_count(i)", None, 1, "bigint"),
    ("sum of integers", "dp_sum(i)", INT_BOUNDS, 1, "bigint"),
    ("sum of floats", "dp_sum(f, -2.5, 1.5)", FLOAT_BOUNDS, 0, "float8"),
    ("sum of numerics", "dp_sum(n, 1, 4, 0, 7)", NUMERIC_BOUNDS, 0, "numeric"),
]
# of a unit; the others' are max_rows times those of its rows, and 0
TOTALS = {NUMERIC_BOUNDS: (0, 7)}
UNIT_COUNT = ("count of units", "dp_count(DISTINCT u)", None, 1, "bigint")

# four tables, with rows and without, by group and not: each column's moments, each group's mean, correlations
CHECKS = 4 * 2 * (6 * (3 + 3 + KEYS) + 2 * 4 * 6)


def make_rows():
    """(unit, key, integer, float, numeric): units are in one or two groups each."""
    rnd = random.Random(1)
    rows = []
    for unit in range(1, UNITS + 1):
        groups = rnd.sample(range(1, KEYS - 2), 1 + unit % 2)       # some keys stay empty
        for group in groups:
            for _ in range(rnd.choice((1, 2, 5))):
                rows.append((unit, group,
                             rnd.choice((None, -100, -2, 0, 1, 3, 7, 10, 1000)),
                             rnd.choice((None, "NaN", "-Infinity", "Infinity", -1.25, 0.5, 0.125, 99.0)),
                             rnd.choice((None, "NaN", -7, 0.25, 1.5, 2, 1000))))
    # a unit without any value contributes 0, even where 0 is below the bounds
    rows.append((UNITS + 1, 5, None, "NaN", None))
    return rows


def literal(value):
    return "NULL" if value is None else "'%s'" % value


def number(value):
    """Exact; an infinity is a number that is larger than any other."""
    if value is None or value == "NaN":
        return None
    if isinstance(value, str):
        return Fraction(-2 ** 60 if value[0] == "-" else 2 ** 60)
    return Fraction(value)


def clamp(value, bounds):
    return min(max(value, bounds[0]), bounds[1])


def total_bounds(bounds, unit_mode):
    """What a unit adds up to."""
    return TOTALS.get(bounds, (min(bounds[0], 0) * MAX_ROWS, max(bounds[1], 0) * MAX_ROWS)) if unit_mode else bounds


def truth(rows, column, unit_mode, grouped):
    """The true clamped values: by key, or at key None."""
    position = {"dp_sum(i)": 2, "dp_count(i)": 2, "dp_sum(f, -2.5, 1.5)": 3, "dp_sum(n, 1, 4, 0, 7)": 4}
    name, sql, bounds, _, _ = column
    parts = {}
    for index, row in enumerate(rows):
        value = number(row[position[sql]]) if sql in position else 1
        if value is None:
            continue
        value = 1 if bounds is None else clamp(value, bounds)
        key = (row[1] if grouped else None, row[0] if unit_mode else index)
        parts[key] = parts.get(key, 0) + value
    result = dict.fromkeys(range(1, KEYS + 1) if grouped else [None], 0.0)
    for (group, _), value in parts.items():
        if bounds is None:
            value = min(value, 1 if name == UNIT_COUNT[0] else MAX_ROWS if unit_mode else 1)
        else:
            value = clamp(value, total_bounds(bounds, unit_mode))
        result[group] += float(value)
    return result


def noise_of(column, rho, unit_mode, grouped, neighbors):
    name, _, bounds, unit, _ = column
    if bounds is None:
        bounds = (0, MAX_ROWS if unit_mode and name != UNIT_COUNT[0] else 1)
    else:
        bounds = total_bounds(bounds, unit_mode)
    groups = MAX_GROUPS if unit_mode and grouped else 1
    return Noise(sensitivity2(*bounds, groups, grouped, neighbors) / (2 * rho), unit)


def set_up(dataset, rows, unit_mode, neighbors):
    values = ",\n".join("(%d, %d, %s, %s, %s)" % (u, g, literal(i), literal(f), literal(n))
                        for u, g, i, f, n in rows)
    psql("""
        CREATE TABLE {t} (u int, g int NOT NULL, i int, f float8, n numeric);
        INSERT INTO {t} VALUES {values};
        SELECT dp_cdp.create_dataset('{t}', default_rho => 0.5, neighbors => '{neighbors}',
                                     max_groups => {groups}, max_rows => {rows});
        SELECT dp_cdp.protect_table('{t}', '{t}', {unit}, each_row => {unit} IS NULL);
        SELECT dp_cdp.set_keys('{t}', 'g', (SELECT array_agg(k) FROM generate_series(1, {keys}) k));
        SELECT dp_cdp.set_bounds('{t}', 'i', {lower}, {upper});
        SELECT dp_cdp.set_budget('{t}', '{analyst}', rho => 1e6);
        """.format(t=dataset, values=values, neighbors=neighbors, groups=MAX_GROUPS, rows=MAX_ROWS,
                   unit="'u'" if unit_mode else "NULL", keys=KEYS, lower=INT_BOUNDS[0],
                   upper=INT_BOUNDS[1], analyst=ANALYST))


def check_charge(tap, title, dataset, before, executions, columns, rho, noises):
    """what the ledger and the audit say about these executions"""
    charged = spent(dataset, ANALYST)[0] - before
    due = executions * columns * rho
    tap.ok(abs(charged - due) < 1e-6 * due, title + ": the charge is rho for each column and execution",
           "%.9g, due %.9g" % (charged, due))
    sigma = psql("SELECT stddev FROM dp_cdp.releases WHERE dataset = '%s' ORDER BY id DESC LIMIT 1"
                 % dataset)[0][0]
    said = [float(s) for s in sigma.split(",")]
    tap.ok(len(said) == columns and all(abs(s / math.sqrt(n.proxy) - 1) < 1e-5
                                        for s, n in zip(said, noises)),
           title + ": the audit states sigma", sigma)


def released(tap, dataset, rows, columns, rho, unit_mode, neighbors, by_key):
    """Checks releases of the columns, by group or of all rows, of a table that may be empty."""
    title = "%s%s, %s" % (dataset, "" if rows else " without rows", "grouped" if by_key else "ungrouped")
    keys, batch = (KEYS, BATCH[1]) if by_key else (1, BATCH[0])
    executions = size(*DRAWS) // (1 if rows or by_key else 4) // keys
    before = spent(dataset, ANALYST)[0]
    names = ["c%d" % i for i in range(len(columns))]
    query = "SELECT %s%s FROM %s%s" % ("g, " if by_key else "", ", ".join(c[1] + " AS " + name for name, c in zip(names, columns)),
                                       dataset, " GROUP BY g" if by_key else "")
    types = ("g int, " if by_key else "") + ", ".join(name + " " + c[4] for name, c in zip(names, columns))
    # the last one by itself: of many copies in a statement the audit has less room for each
    runs = [run for times in (executions - 1, 1) for run in execute(query, types, times, ANALYST, "SET dp_cdp.rho = %r" % rho, min(batch, times))]
    executions = len(runs)
    draws = [[row if by_key else [None] + row for row in sorted(run)] for run in runs]
    wanted = list(range(1, KEYS + 1)) if by_key else [None]
    tap.ok(all([row[0] for row in run] == wanted and None not in row[1:] for run in draws for row in run),
           title + ": every declared key each time, empty ones too, never NULL")
    noises, all_residuals = [], []
    for i, column in enumerate(columns, 1):
        noise = noise_of(column, rho, unit_mode, by_key, neighbors)
        exact = truth(rows, column, unit_mode, by_key)
        residuals = [row[i] - exact[row[0]] for run in draws for row in run]
        for check in (check_mean, check_variance, check_distribution):
            tap.ok(*join(check(noise, residuals, tap.alpha()), "%s, %s: %s" % (title, column[0], check.__name__[6:])))
        if by_key:
            # errors that cancel out over the groups
            bad = []
            for at, key in enumerate(wanted):
                passed, note = check_mean(noise, residuals[at::keys], tap.alpha())
                if not passed:
                    bad.append("group %d: %s" % (key, note))
            tap.ok(not bad, "%s, %s: mean of each group" % (title, column[0]), "\n".join(bad))
        noises.append(noise)
        all_residuals.append(residuals)
    # columns; groups, executions and statements that follow each other
    bad = []
    for i, (column, noise, xs) in enumerate(zip(columns, noises, all_residuals)):
        others = [("the column before", xs, all_residuals[i - 1])] if i else []
        others += [("what is %d later" % lag, xs[lag:], xs[:-lag]) for lag in sorted({1, keys, keys * batch})]
        for name, mine, other in others:
            passed, note = check_uncorrelated(noise, mine, other, tap.alpha())
            if not passed:
                bad.append("%s and %s: %s" % (column[0], name, note))
    tap.ok(not bad, title + ": columns, groups and executions are uncorrelated", "\n".join(bad))
    check_charge(tap, title, dataset, before, executions, len(columns), rho, noises)


def main():
    tap = Tap("noise_moments.py", CHECKS)
    tap.finds("noise of so many times the variance, or its inverse, is found", variance_found, DRAWS)
    tap.finds("a mean off by so many sigmas is found", mean_found, DRAWS)
    make_role(ANALYST)
    rows = make_rows()
    # with rho = 2 the noise of a count is so small that it is far from a rounded Gaussian
    for mode, neighbors, rho in (("row", "add_remove", 2.0), ("row", "replace_one", 0.7),
                                 ("unit", "add_remove", 0.3), ("unit", "replace_one", 1.3)):
        unit_mode = mode == "unit"
        dataset = mode + "_" + neighbors
        columns = COLUMNS + ([UNIT_COUNT] if unit_mode else [])
        set_up(dataset, rows, unit_mode, neighbors)
        for by_key in (False, True):
            released(tap, dataset, rows, columns, rho, unit_mode, neighbors, by_key)
        # a table without rows answers with noise around 0
        psql("TRUNCATE " + dataset)
        for by_key in (False, True):
            released(tap, dataset, [], [COLUMNS[0], COLUMNS[2]], rho, unit_mode, neighbors, by_key)
    tap.done()


if __name__ == "__main__":
    main()
