#!/usr/bin/env python3
"""What one privacy unit may contribute: at most max_rows rows (or a clamped
total) to a group, and to at most max_groups groups, kept at random.

The tables are made so that the bounded total over all groups does not depend
on which groups are kept: it must be met by the mean of the releases, and the
released total may not vary by more than its noise.  A group by itself varies
with the choice, too, but little as long as units choose independently.

Each case has 800 executions in `make test` and 1,600 in `make test-all`.  They find (but for one time in a thousand)
that the 24 units' total of 144 rows is off by 4.9 or 3.4, where units are exchanged by 6.9 or 4.9: less than or about
what one unit has.  Cases that are not said to be telling are left to `make test-all`.
"""
from dpstat import (ALL, Noise, Tap, check_mean, check_variance, execute, join, make_role, mean_found, mean_limit,
                    psql, sensitivity2, size)

ANALYST = "bounded"
UNITS = 24
GROUPS = 12
EXECUTIONS = 800, 1600          # of a case, in each size
BATCH = 40
RHO = 0.5

CHECKS = 200


def set_up(name, rows, neighbors, keys):
    """rows: SQL of (unit, group, x)."""
    psql("""
        CREATE TABLE {t} (u int, g int NOT NULL, x int);
        INSERT INTO {t} {rows};
        SELECT dp_cdp.create_dataset('{t}', neighbors => '{neighbors}', default_rho => {rho},
                                     max_groups => 3, max_rows => 2);
        SELECT dp_cdp.protect_table('{t}', '{t}', 'u');
        SELECT dp_cdp.set_keys('{t}', 'g', (SELECT array_agg(k) FROM generate_series(1, {keys}) k));
        SELECT dp_cdp.set_budget('{t}', '{analyst}', rho => 1e6);
        """.format(t=name, rows=rows, neighbors=neighbors, rho=RHO, keys=keys, analyst=ANALYST))


def squares_limit(proxy, n, alpha):
    """Limit for the mean square of n draws of anything with this variance proxy."""
    return proxy * Noise(1, unit=0).square_limits(n, alpha)[1]


class Table:
    """A table, and checks of what a query over it releases; those that are telling are made in `make test`, too."""

    def __init__(self, tap, name, neighbors, keys):
        self.tap, self.name, self.neighbors, self.keys = tap, name, neighbors, keys

    def noise(self, bounds, groups, grouped):
        return Noise(sensitivity2(*bounds, groups, grouped, self.neighbors) / (2 * RHO))

    def grouped(self, title, aggregate, bounds, max_groups, total, where="", settings="", each=None, keys=None, telling=False):
        """total: what all groups together must come to, whatever groups are
        kept.  each: (expectation of a group, largest contribution of a unit to
        it, how many units choose)."""
        if not (telling or ALL):
            return
        tap, title = self.tap, "%s: %s" % (self.name, title)
        runs = execute("SELECT g, %s AS n FROM %s %s GROUP BY g" % (aggregate, self.name, where),
                       "g int, n bigint", size(*EXECUTIONS), ANALYST, settings, BATCH)
        keys = keys or self.keys
        if not tap.ok(all(len(run) == keys for run in runs), title + ": every key"):
            return
        noise = self.noise(bounds, max_groups, True)
        # the sum of the groups' noise is as good as continuous
        pooled = Noise(noise.s2 * keys, unit=1)
        totals = [sum(row[1] for row in run) - total for run in runs]
        tap.ok(*join(check_mean(pooled, totals, tap.alpha()), title + ": mean total is %d" % total))
        tap.ok(*join(check_variance(pooled, totals, tap.alpha()),
                     title + ": the total varies by its noise only"))
        if each is None:
            return
        expected, most, choosing = each
        # a bounded random contribution of each unit (Hoeffding) beside the noise
        proxy = noise.proxy + choosing * most * most / 4
        bad = []
        for key in range(1, self.keys + 1):
            own = [row[1] - expected for run in runs for row in run if row[0] == key]
            mean, limit = sum(own) / len(own), mean_limit(proxy, len(own), tap.alpha())
            square = sum(x * x for x in own) / len(own)
            square_limit = squares_limit(proxy, len(own), tap.alpha())
            if abs(mean) > limit or square > square_limit:
                bad.append("group %d: mean error %.3f, limit %.3f; mean square %.1f, limit %.1f"
                           % (key, mean, limit, square, square_limit))
        tap.ok(not bad, title + ": each group has its share, units choose independently",
               "\n".join(bad[:3]))

    def ungrouped(self, title, aggregate, bounds, exact, where="", settings="", telling=False):
        if not (telling or ALL):
            return
        runs = execute("SELECT %s AS n FROM %s %s" % (aggregate, self.name, where), "n bigint",
                       size(*EXECUTIONS), ANALYST, settings, BATCH)
        noise = self.noise(bounds, 1, False)
        residuals = [run[0][0] - exact for run in runs]
        title = "%s: %s" % (self.name, title)
        self.tap.ok(*join(check_mean(noise, residuals, self.tap.alpha()), title + ": mean is %d" % exact))
        self.tap.ok(*join(check_variance(noise, residuals, self.tap.alpha()), title + ": variance"))


def busy_units(tap, neighbors):
    """Each unit has three rows of x = 4 in each of twelve groups; rows without
    a unit are many."""
    name = "busy_" + neighbors
    set_up(name, """
        SELECT u, g, 4 FROM generate_series(1, %d) u, generate_series(1, %d) g, generate_series(1, 3)
        UNION ALL SELECT NULL, g, 4 FROM generate_series(1, %d) g, generate_series(1, 50)"""
           % (UNITS, GROUPS, GROUPS), neighbors, GROUPS)
    t = Table(tap, name, neighbors, GROUPS)

    t.grouped("count", "dp_count(*)", (0, 2), 3, UNITS * 3 * 2,
              each=(UNITS * 2 * 3 / GROUPS, 2, UNITS), telling=True)
    t.grouped("count of units", "dp_count(DISTINCT u)", (0, 1), 3, UNITS * 3,
              each=(UNITS * 3 / GROUPS, 1, UNITS))
    t.grouped("sum, clamped", "dp_sum(x, -5, 11, -5, 11)", (-5, 11), 3, UNITS * 3 * 11,
              each=(UNITS * 11 * 3 / GROUPS, 11, UNITS), telling=True)
    t.grouped("sum, clamped from below", "dp_sum(-x, -7, 3, -7, 3)", (-7, 3), 3, UNITS * 3 * -7)
    t.grouped("sum within its bounds", "dp_sum(x, 0, 100)", (0, 200), 3, UNITS * 3 * 12)
    t.grouped("sum of as many rows as max_rows, at their bound", "dp_sum(x, 0, 3)", (0, 6), 3, UNITS * 3 * 6, telling=True)
    t.grouped("sum of clamped rows", "dp_sum(x, 1, 3)", (0, 12), 3, UNITS * 3 * 9, settings="SET dp_cdp.max_rows = 4")
    t.grouped("sum of rows clamped from below", "dp_sum(x, 5, 7)", (0, 28), 3, UNITS * 3 * 15, settings="SET dp_cdp.max_rows = 4")
    t.grouped("one group", "dp_count(*)", (0, 2), 1, UNITS * 2, settings="SET dp_cdp.max_groups = 1",
              each=(UNITS * 2 / GROUPS, 2, UNITS), telling=True)
    t.grouped("ten groups, four rows", "dp_count(*)", (0, 4), 10, UNITS * 10 * 3,
              settings="SET dp_cdp.max_groups = 10; SET dp_cdp.max_rows = 4")
    t.grouped("more groups than there are", "dp_count(*)", (0, 2), GROUPS, UNITS * GROUPS * 2,
              settings="SET dp_cdp.max_groups = 50")
    # what a filter leaves out does not use up a unit's groups, and is no key
    t.grouped("filter", "dp_count(*)", (0, 2), 3, UNITS * 3 * 2, where="WHERE g <= 3", keys=3, telling=True)

    t.ungrouped("count", "dp_count(*)", (0, 2), UNITS * 2, telling=True)
    t.ungrouped("count of units", "dp_count(DISTINCT u)", (0, 1), UNITS)
    t.ungrouped("sum, clamped", "dp_sum(x, -5, 11)", (-10, 22), UNITS * 22)
    t.ungrouped("sum, clamped to totals", "dp_sum(x, -5, 11, -5, 11)", (-5, 11), UNITS * 11, telling=True)
    t.ungrouped("many rows", "dp_count(*)", (0, 100), UNITS * 3 * GROUPS,
                settings="SET dp_cdp.max_rows = 100")


def mixed_units(tap, neighbors):
    """Unit 1 has two hundred rows in every group, the others one row in one
    group; half of the groups are not declared and do not use up groups."""
    name = "mixed_" + neighbors
    set_up(name, """
        SELECT 1, g, 1000000 FROM generate_series(1, %d) g, generate_series(1, 200)
        UNION ALL SELECT u, u %% 6 + 1, 1 FROM generate_series(2, %d) u""" % (GROUPS, UNITS + 1),
           neighbors, GROUPS // 2)
    t = Table(tap, name, neighbors, GROUPS // 2)

    t.grouped("count", "dp_count(*)", (0, 2), 3, UNITS + 3 * 2, each=(UNITS / 6 + 1, 2, 1), telling=True)
    t.grouped("count of units", "dp_count(DISTINCT u)", (0, 1), 3, UNITS + 3, each=(UNITS / 6 + .5, 1, 1))
    t.grouped("sum", "dp_sum(x, 0, 50)", (0, 100), 3, UNITS + 3 * 100)
    t.grouped("sum, totals", "dp_sum(x, 0, 50, 0, 60)", (0, 60), 3, UNITS + 3 * 60, telling=True)
    t.ungrouped("count", "dp_count(*)", (0, 2), UNITS + 2)
    t.ungrouped("sum", "dp_sum(x, 0, 50)", (0, 100), UNITS + 100, telling=True)


def main():
    tap = Tap("bounding.py", CHECKS * 2)
    tap.note("what is not said to be telling is left to `make test-all`")
    make_role(ANALYST)
    for neighbors in ("add_remove", "replace_one"):
        sigma = Noise(sensitivity2(0, 2, 3, True, neighbors) / (2 * RHO) * GROUPS).sd
        tap.finds("%s: a total of %d rows is found to be off by" % (neighbors, UNITS * 6), lambda n, alpha: sigma * mean_found(n, alpha), EXECUTIONS)
        busy_units(tap, neighbors)
        mixed_units(tap, neighbors)
    tap.done()


if __name__ == "__main__":
    main()
