#!/usr/bin/env python3
"""Real tables: errors lie within four predicted standard deviations.

Reads adult.csv (32,561 people of a census, each row a unit) and
restaurant_week.csv (visits of a week, the visitor is the unit) from the
directory DP_CDP_DATA; skips what is not there.

The true values are computed by plain SQL, clamped and bounded as declared.
With k of a visitor's d days kept at random, a day's expectation and variance
have closed forms, and the prediction is the noise and that variance.

An honest value exceeds four standard deviations once in 16,000 times, too
often for a test.  So a value that does is released again, with fresh noise,
and fails when it never lies within four in so many releases that an honest
value would do that with probability FILE_ALARM / CHECKS at most.  The rate of
one release is the exact tail of the noise, or Chebyshev's 1/16 where groups
are kept at random.  How many lay within at once is reported, and the first
errors together must be as large as predicted: the 192 of adults by education and sex find noise of 3.4 times the
variance, or its inverse.
"""
import math
import os

from dpstat import (FILE_ALARM, Noise, Tap, check_mean, check_variance, execute, join, make_role, psql,
                    sensitivity2, variance_found)

ANALYST = "researcher"
CHECKS = 40
RHO = 0.1


def load(tap, name, columns):
    """Makes the table; False when its file is missing."""
    directory = os.environ.get("DP_CDP_DATA")
    path = directory and os.path.join(directory, name + ".csv")
    if not directory:
        tap.skip(name, "DP_CDP_DATA is not set: give the directory of %s.csv" % name)
        return False
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        tap.skip(name, str(error))
        return False
    psql("CREATE TABLE %s (%s);\nCOPY %s FROM STDIN WITH (FORMAT csv, HEADER);\n%s\n\\.\n"
         % (name, columns, name, text.rstrip("\n")))
    return True


class Prediction:
    """What one released value should be."""

    def __init__(self, exact, noise, extra=0.0):
        self.exact = exact
        self.sd = math.sqrt(noise.variance + extra)
        if extra:
            self.rate = 1 / 16
        else:
            # P(|noise| > 4 sd), in grid units
            self.rate = 2 * noise.tail(math.floor(4 * noise.sd / (noise.unit or 1)) + 1
                                       if noise.unit else 4 * noise.sd)


def release(query, keys, columns, settings):
    """{(group, column): value} of one execution."""
    (run,) = execute(query, ", ".join(["k%d text" % i for i in range(keys)]
                                      + ["v%d float8" % i for i in range(len(columns))]),
                     1, ANALYST, settings, parsed=False)
    return {(tuple(row[:keys]), column): float(value)
            for row in run for column, value in zip(columns, row[keys:])}


def check(tap, title, query, keys, columns, predictions, settings="", optional=()):
    """predictions: {(group, column): Prediction}.  optional: groups that may
    be missing.  Returns the first release."""
    alpha = tap.alpha() / max(len(predictions), 1)
    pending = set(predictions)
    first = None
    attempts = 0
    while pending and attempts < 100:
        values = release(query, keys, columns, settings)
        attempts += 1
        if first is None:
            first = values
            expected = {key for key in predictions if key[0] not in optional}
            if not tap.ok(expected <= set(values) <= set(predictions), title + ": the groups are those expected",
                          "missing %s, too many %s" % (sorted(expected - set(values), key=str)[:5],
                                                       sorted(set(values) - set(predictions), key=str)[:5])
                          if not expected <= set(values) <= set(predictions) else "%d groups" % len({k[0] for k in values})):
                return None
            pending &= set(values)
            total = len(pending)
        pending = {key for key in pending if key not in values
                   or abs(values[key] - predictions[key].exact) > 4 * predictions[key].sd}
        if attempts == 1:
            within = total - len(pending)
        # those that had their chances
        failed = [key for key in pending if predictions[key].rate ** attempts <= alpha]
        if failed:
            break
    tap.ok(not pending, title + ": within four standard deviations",
           "%d of %d at once, all after %d release(s)" % (within, total, attempts) if not pending
           else "\n".join("%s: %g, true %g, sd %g" % (key, values.get(key, math.nan), predictions[key].exact,
                                                        predictions[key].sd) for key in sorted(pending, key=str)[:5]))
    return first


def check_size(tap, title, first, predictions):
    """The errors of the first releases together, in units of their sd."""
    unit = Noise(1, unit=0)
    errors = [(first[key] - p.exact) / p.sd for key, p in predictions.items() if key in first]
    tap.note("%d errors find noise of %.2g times the variance" % (len(errors), variance_found(len(errors), FILE_ALARM / CHECKS)))
    tap.ok(*join(check_variance(unit, errors, tap.alpha()), title + ": errors are as large as predicted"))
    tap.ok(*join(check_mean(unit, errors, tap.alpha()), title + ": errors cancel out"))


def noise_of(bounds, groups, grouped, unit=1, rho=RHO, neighbors="add_remove"):
    return Noise(sensitivity2(*bounds, groups, grouped, neighbors) / (2 * rho), unit)


def truths(sql, keys, columns):
    """{(group, column): true value}"""
    return {(tuple(row[:keys]), column): float(value)
            for row in psql(sql) for column, value in zip(columns, row[keys:])}


def adult(tap):
    if not load(tap, "adult", """
            id int, age int, workclass text, fnlwgt int, education text NOT NULL, education_num int,
            marital_status text, occupation text, relationship text, race text, sex text NOT NULL,
            capital_gain int, capital_loss int, hours_per_week int, native_country text, income text"""):
        return
    psql("""
        SELECT dp_cdp.create_dataset('census', default_rho => %r, default_delta => 1e-7);
        SELECT dp_cdp.protect_table('adult', 'census', each_row => true);
        SELECT dp_cdp.set_keys('adult', 'education', (SELECT array_agg(DISTINCT education) FROM adult));
        SELECT dp_cdp.set_keys('adult', 'sex', ARRAY['Female', 'Male']);
        SELECT dp_cdp.set_bounds('adult', 'age', 17, 90);
        SELECT dp_cdp.set_bounds('adult', 'hours_per_week', 0, 99);
        SELECT dp_cdp.set_budget('census', '%s', rho => 1000);
        """ % (RHO, ANALYST))

    columns = ("count", "age", "hours", "hours clamped", "gain clamped", "older")
    noises = [noise_of(bounds, 1, True, unit) for bounds, unit in
              (((0, 1), 1), ((17, 90), 1), ((0, 99), 1), ((20, 60), 1), ((0, 5000), 1), ((-1.5, 1.5), 0))]
    exact = truths("""
        SELECT education, sex, count(*), sum(age), sum(hours_per_week),
            sum(least(greatest(hours_per_week, 20), 60)), sum(least(capital_gain, 5000)),
            sum(least(greatest((age - 40) / 16.0, -1.5), 1.5))
        FROM adult GROUP BY education, sex""", 2, columns)
    predictions = {key: Prediction(value, noises[columns.index(key[1])]) for key, value in exact.items()}
    query = """
        SELECT education, sex, dp_count(*), dp_sum(age), dp_sum(hours_per_week),
            dp_sum(hours_per_week, 20, 60), dp_sum(capital_gain, 0, 5000),
            dp_sum((age - 40) / 16.0, -1.5, 1.5)
        FROM adult GROUP BY education, sex"""
    first = check(tap, "adult by education and sex", query, 2, columns, predictions)
    if first:
        check_size(tap, "adult by education and sex", first, predictions)

    # a filter that leaves few rows: groups that have none are released as well
    exact = truths("""
        SELECT e, s, count(a.id), coalesce(sum(age), 0)
        FROM (SELECT DISTINCT education AS e FROM adult) x CROSS JOIN (VALUES ('Female'), ('Male')) y (s)
            LEFT JOIN adult a ON education = e AND sex = s AND age > 80 GROUP BY e, s""",
                   2, columns[:2])
    predictions = {key: Prediction(value, noises[columns.index(key[1])]) for key, value in exact.items()}
    first = check(tap, "adults over 80", """
        SELECT education, sex, dp_count(*), dp_sum(age) FROM adult WHERE age > 80 GROUP BY education, sex""",
                  2, columns[:2], predictions)
    if first:
        check_size(tap, "adults over 80", first, predictions)

    # keys that nobody declared: small groups may stay hidden, none is made up
    exact = truths("SELECT occupation, count(*), sum(age) FROM adult GROUP BY occupation", 1, columns[:2])
    predictions = {key: Prediction(value, noises[columns.index(key[1])]) for key, value in exact.items()}
    small = {group for (group, column), value in exact.items() if column == "count" and value < 40}
    check(tap, "adult by occupation, keys not declared", """
        SELECT occupation, dp_count(*), dp_sum(age) FROM adult GROUP BY occupation""",
          1, columns[:2], predictions, optional=small)

    exact = truths("SELECT count(*), sum(age), sum(hours_per_week) FROM adult", 0, columns[:3])
    predictions = {key: Prediction(value, noises[columns.index(key[1])]) for key, value in exact.items()}
    check(tap, "all adults", "SELECT dp_count(*), dp_sum(age), dp_sum(hours_per_week) FROM adult",
          0, columns[:3], predictions)


def restaurant(tap):
    if not load(tap, "restaurant_week", """
            "VisitorId" int, "Time entered" text, "Time spent (minutes)" int,
            "Money spent (euros)" int, "Day" int NOT NULL"""):
        return
    psql("""
        SELECT dp_cdp.create_dataset('restaurant', default_rho => %r, max_groups => 7, max_rows => 1);
        SELECT dp_cdp.protect_table('restaurant_week', 'restaurant', 'VisitorId');
        SELECT dp_cdp.set_keys('restaurant_week', 'Day', ARRAY[1, 2, 3, 4, 5, 6, 7]);
        SELECT dp_cdp.set_bounds('restaurant_week', 'Money spent (euros)', 0, 30);
        SELECT dp_cdp.set_bounds('restaurant_week', 'Time spent (minutes)', 0, 45);
        SELECT dp_cdp.set_budget('restaurant', '%s', rho => 1000);
        """ % (RHO, ANALYST))
    columns = ("visits", "visitors", "money", "minutes")
    bounds = ((0, 1), (0, 1), (0, 30), (0, 45))
    query = """
        SELECT "Day", dp_count(*), dp_count(DISTINCT "VisitorId"), dp_sum("Money spent (euros)"),
            dp_sum("Time spent (minutes)")
        FROM restaurant_week GROUP BY "Day\""""
    for groups in (7, 2, 1):
        # what each visitor has on a day, and how likely that day is kept
        exact = {}
        extra = {}
        for row in psql("""
                SELECT day, {0}
                FROM (SELECT day, least(1, {1}.0 / count(*) OVER (PARTITION BY visitor)) AS p,
                          array[least(visits, 1), 1, least(money, 30), least(minutes, 45)] AS v
                      FROM (SELECT "VisitorId" AS visitor, "Day" AS day, count(*)::int AS visits,
                                sum("Money spent (euros)")::int AS money,
                                sum("Time spent (minutes)")::int AS minutes
                            FROM restaurant_week GROUP BY 1, 2) days) kept
                GROUP BY day""".format(", ".join("sum(p * v[%d]), sum(p * (1 - p) * v[%d] ^ 2)" % (i, i)
                                                 for i in (1, 2, 3, 4)), groups)):
            for i, column in enumerate(columns):
                exact[(row[0],), column] = float(row[1 + 2 * i])
                extra[(row[0],), column] = float(row[2 + 2 * i])
        noises = [noise_of(b, groups, True) for b in bounds]
        predictions = {key: Prediction(value, noises[columns.index(key[1])], extra[key])
                       for key, value in exact.items()}
        title = "restaurant by day, at most %d days" % groups
        first = check(tap, title, query, 1, columns, predictions, "SET dp_cdp.max_groups = %d" % groups)
        # the days together: each visitor is on so many of them, whichever are kept
        total = int(psql("SELECT sum(least(d, %d)) FROM (SELECT count(DISTINCT \"Day\") AS d"
                         " FROM restaurant_week GROUP BY \"VisitorId\") x" % groups)[0][0])
        for i, column in enumerate(columns[:2]):
            noise = Noise(7 * noises[i].s2)
            check(tap, "%s, %s of all days are %d" % (title, column, total),
                  "SELECT sum(n) FROM (SELECT %s AS n FROM restaurant_week GROUP BY \"Day\") r"
                  % ("dp_count(*)", 'dp_count(DISTINCT "VisitorId")')[i],
                  0, (column,), {((), column): Prediction(total, noise)}, "SET dp_cdp.max_groups = %d" % groups)
        if first and groups == 7:
            check_size(tap, title, first, predictions)

    columns = ("visits", "visitors", "money")
    exact = truths("""
        SELECT sum(least(visits, 2)), count(*), sum(least(money, 60))
        FROM (SELECT count(*) AS visits, sum(least("Money spent (euros)", 30)) AS money
              FROM restaurant_week GROUP BY "VisitorId") x""", 0, columns)
    predictions = {key: Prediction(value, noise_of(((0, 2), (0, 1), (0, 60))[columns.index(key[1])], 1, False))
                   for key, value in exact.items()}
    check(tap, "restaurant, whole week, at most two visits", """
        SELECT dp_count(*), dp_count(DISTINCT "VisitorId"), dp_sum("Money spent (euros)")
        FROM restaurant_week""", 0, columns, predictions, "SET dp_cdp.max_rows = 2")


def main():
    tap = Tap("real_data.py", CHECKS)
    make_role(ANALYST)
    adult(tap)
    restaurant(tap)
    tap.done()


if __name__ == "__main__":
    main()
