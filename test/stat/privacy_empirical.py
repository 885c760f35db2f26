#!/usr/bin/env python3
"""Can neighbouring tables be told apart better than the charge allows?

For each query shape two tables differ in one privacy unit (added, or
replaced), chosen so that the difference reaches the sensitivity.  Runs on each
give outputs, projected on the direction that tells the tables apart best (for
random groups: the likelihood ratio).  A threshold chosen on a quarter of the
runs is judged on the others: the lower confidence bound of

    delta seen(epsilon) = P(output on one > t) - e^epsilon P(output on the other > t)

must stay below the delta at which the charged (rho, delta) implies (epsilon,
delta)-DP, for several epsilon and both orders of the tables.

That the test has power is shown with the same runs: with 3,000 in `make test` they must refute an eighth of the
charge, with 14,000 in `make test-all` a quarter, which is what noise of 0.35 or 0.5 of its sigma would look like.
A loss of 4.3 or 2.7 times the charge is found (but for one time in a thousand); RHO is about what lets few runs tell
most.  Of the shapes `make test` has those that are marked as telling: each relation, rows and units, with groups and
without, counts and sums.

Where limits are found nobody has set any: the one that was found is in the report, and the output is judged in its
units.  By itself the limit must tell no more than its own price allows.
"""
import math

from dpstat import (AUDIT_BOUNDS, Noise, Tap, audit, claim, execute, loss_found, make_role, psql, refuted, sensitivity2,
                    size, spent, table)

ANALYST = "attacker"
RUNS = 3000, 14000              # on each table, in each size
SHARE = 1 / size(8, 4)          # of the charge, must be refuted
BATCH = 40
EPSILONS = (0, 0.25, 0.5, 1, 1.5, 2, 3)
RHO = 2.0
MAX_GROUPS = 4
MAX_ROWS = 3
KEYS = 9
CROWD = 30
HARD = "max_groups => %d, max_rows => %d" % (MAX_GROUPS, MAX_ROWS)

# threshold shapes, which have 20,016 runs: copies of the pair in one table, each a run of its own
COPIES = 1112
EXECUTIONS = 18
SELECTION_DELTA = 0.05
RHO_OF_LIMITS = size([(60, 0)], [(60, 0), (250, 1 / 4)])

# where limits are found: what each release of a statement found
NORMS = """UPDATE draws SET v = v || norm
    FROM (SELECT {first} + row_number() OVER (ORDER BY ordinality) - 1 AS n, norm FROM dp_cdp.last_release() WITH ORDINALITY WHERE norm IS NOT NULL) r
    WHERE execution = r.n AND execution BETWEEN {first} AND {first} + %d;""" % BATCH


def array(aggregate, source):
    return "SELECT ARRAY[(%s)::float8] AS v FROM %s" % (aggregate, source)


def by_group(aggregate, source):
    return "SELECT array_agg(n::float8 ORDER BY g) AS v FROM (SELECT g, %s AS n FROM %s GROUP BY g) r" \
        % (aggregate, source)


class Shape:
    """query has {t} in the place of the table.  common, first, second: rows
    (u, g, x) that both tables, or one of them, hold.  statistic: of an output,
    larger on the second table.  sharp: the difference reaches the sensitivity,
    so that SHARE of the charge must be refuted.  columns: aggregates, rho
    is divided among them.  telling: of those of `make test`.  runs: on each table.
    found: the limit is, and an output ends with it."""

    def __init__(self, name, relation, unit, query, common, first, second, statistic, sharp=True,
                 columns=1, telling=False, runs=size(*RUNS), found=False):
        self.name, self.relation, self.unit, self.query = name, relation, unit, query
        self.common, self.first, self.second = common, first, second
        self.statistic, self.sharp, self.columns, self.telling, self.runs = statistic, sharp, columns, telling, runs
        self.found = found


def weigh(*weights):
    return lambda v: math.fsum(w * x for w, x in zip(weights, v))


def groups_ratio(effect, noise, base):
    """The likelihood ratio of a unit that adds effect to MAX_GROUPS of KEYS
    groups at random: an elementary symmetric polynomial of the groups' ratios."""
    def statistic(v):
        sums = [1.0] + [0.0] * MAX_GROUPS
        for x, b in zip(v, base):
            ratio = math.exp(((x - b) * effect - effect * effect / 2) / noise.s2)
            for k in range(MAX_GROUPS, 0, -1):
                sums[k] += ratio * sums[k - 1]
        return sums[MAX_GROUPS]
    return statistic


def in_norms(crowd, *weights):
    """Weighs what a crowd of so many, each with a row in each of MAX_GROUPS groups, leaves unexplained, in units of the limit."""
    def statistic(v):
        *v, norm = v
        each = crowd * min(1, norm / math.sqrt(MAX_GROUPS))
        return math.fsum(w * (x - (each if g < MAX_GROUPS else 0)) for g, (w, x) in enumerate(zip(weights, v))) / norm
    return statistic


def shapes():
    few = [(u, u % 3 + 1, 2) for u in range(1, 7)]
    crowd = [(u, g, 1) for u in range(1, CROWD + 1) for g in range(1, MAX_GROUPS + 1)]
    heavy = [(99, g, 1000) for g in range(1, MAX_GROUPS + 1) for _ in range(10)]
    everywhere = [(99, g, 1000) for g in range(1, KEYS + 1) for _ in range(10)]
    elsewhere = [(99, g, 1000) for g in range(MAX_GROUPS + 1, 2 * MAX_GROUPS + 1) for _ in range(10)]
    minus = [(u, g, -x) for u, g, x in heavy]
    ones = [1] * MAX_GROUPS + [0] * (KEYS - MAX_GROUPS)
    moved = [-1] * MAX_GROUPS + [1] * MAX_GROUPS + [0] * (KEYS - 2 * MAX_GROUPS)
    base = [2 if g <= 3 else 0 for g in range(1, KEYS + 1)]
    add, replace = "add_remove", "replace_one"
    one = [(99, 1, 1000)]
    low = [(99, 1, -1000)]
    count_noise = Noise(sensitivity2(0, MAX_ROWS, MAX_GROUPS, True, add) / (2 * RHO))

    return [
        Shape("row count", add, False, array("dp_count(*)", "{t}"), few, [], one, weigh(1), telling=True),
        Shape("row sum", add, False, array("dp_sum(x, -3, 10)", "{t}"), few, [], one, weigh(1)),
        Shape("count of a heavy unit's rows in max_groups groups", add, True,
              by_group("dp_count(*)", "{t}"), few, [], heavy, weigh(*ones)),
        Shape("count of a heavy unit's rows in every group", add, True,
              by_group("dp_count(*)", "{t}"), few, [], everywhere,
              groups_ratio(MAX_ROWS, count_noise, base), sharp=False),
        Shape("sum of a heavy unit's totals in groups", add, True,
              by_group("dp_sum(x, -5, 10)", "{t}"), few, [], heavy, weigh(*ones)),
        Shape("sum of a heavy unit's totals, limited", add, True,
              by_group("dp_sum(x, -5, 10, -5, 15)", "{t}"), few, [], heavy, weigh(*ones), telling=True),
        Shape("count of units", add, True, array("dp_count(DISTINCT u)", "{t}"), few, [], heavy, weigh(1), telling=True),
        Shape("filtered count of a unit's rows", add, True,
              array("dp_count(*) FILTER (WHERE x > 3)", "{t} WHERE g < 9"), few, [], heavy, weigh(1)),
        Shape("sum of floats over units", add, True,
              array("dp_sum(x / 7.0::float8, -1.5, 0.7, -1.5, 0.7)", "{t}"), few, [],
              [(99, 1, -1000)], weigh(-1), telling=True),
        # two columns, each at half of rho: equally informative in units of their sigma
        Shape("count and sum together", add, True,
              "SELECT ARRAY[n::float8, s::float8] AS v FROM (SELECT dp_count(*) AS n,"
              " dp_sum(x, 0, 10) AS s FROM {t}) r", few, [], heavy,
              weigh(1 / MAX_ROWS, 1 / (10 * MAX_ROWS)), columns=2, telling=True),

        Shape("filtered row count", replace, False, array("dp_count(*)", "{t} WHERE x > 0"),
              few, low, one, weigh(1)),
        Shape("row sum", replace, False, array("dp_sum(x, -5, 10)", "{t}"), few, low, one, weigh(1), telling=True),
        Shape("row count by group", replace, False, by_group("dp_count(*)", "{t}"),
              few, one, [(99, 2, 1000)], weigh(-1, 1), telling=True),
        Shape("row sum by group, one group", replace, False, by_group("dp_sum(x, -10, 10)", "{t}"),
              few, low, one, weigh(1)),
        Shape("count of a unit's rows, other groups", replace, True, by_group("dp_count(*)", "{t}"),
              few, heavy, elsewhere, weigh(*moved), telling=True),
        Shape("sum of a unit's totals, same groups", replace, True, by_group("dp_sum(x, -10, 10)", "{t}"),
              few, minus, heavy, weigh(*ones), telling=True),
        Shape("sum of a unit's totals, other groups", replace, True, by_group("dp_sum(x, 0, 10)", "{t}"),
              few, heavy, elsewhere, weigh(*moved)),
        Shape("filtered count of units", replace, True,
              array("dp_count(DISTINCT u) FILTER (WHERE x < 0)", "{t}"), few, heavy, minus, weigh(1)),

        # a crowd of norm 2, and somebody of norm 20
        Shape("count within a limit that is found", add, True, by_group("dp_count(*)", "{t}"), crowd, [], heavy,
              in_norms(CROWD, *ones), telling=True, found=True),
        Shape("sum within a limit that is found", add, True, by_group("dp_sum(x, 0, 1)", "{t}"), crowd, [], heavy,
              in_norms(CROWD, *ones), found=True),
        Shape("count within a limit that is found, other groups", replace, True, by_group("dp_count(*)", "{t}"),
              crowd, heavy, elsewhere, in_norms(CROWD, *moved), found=True),
    ]


def values(rows):
    return ", ".join("(%d, %d, %d)" % row for row in rows)


def check(tap, title, xs, ys, rho, delta, share, runs):
    """xs: statistics of the second table, ys: of the first; share: of the charge that they refute, or 0."""
    seen = audit(xs, ys, EPSILONS, tap.alpha() / AUDIT_BOUNDS / len(EPSILONS))
    tap.ok(len(xs) >= runs and len(ys) >= runs
           and all(d <= claim(rho, delta, e) for d, e in zip(seen, EPSILONS)),
           "%s: the tables cannot be told apart better than rho %g, delta %g allow" % (title, rho, delta),
           table(seen, EPSILONS, rho, delta))
    if share:
        tap.ok(any(d > claim(rho * share, delta * share, e) for d, e in zip(seen, EPSILONS)),
               title + ": but better than %g of that would allow" % share,
               table(seen, EPSILONS, rho * share, delta * share))


def create(name, relation, unit, rows, keys, limits=HARD):
    psql("""
        CREATE TABLE {t} (u int, g int NOT NULL, x int);
        INSERT INTO {t} VALUES {values};
        SELECT dp_cdp.create_dataset('{t}', neighbors => '{relation}', delta => 0.999,
                                     default_delta => 0.001, {limits});
        SELECT dp_cdp.protect_table('{t}', '{t}', {unit}, each_row => {unit} IS NULL);
        SELECT dp_cdp.set_budget('{t}', '{analyst}', rho => 1e6);
        """.format(t=name, relation=relation, values=values(rows), limits=limits,
                   unit="'u'" if unit else "NULL", analyst=ANALYST))
    if keys:
        psql("SELECT dp_cdp.set_keys('%s', 'g', (SELECT array_agg(k) FROM generate_series(1, %d) k))"
             % (name, KEYS))


def declared(tap, number, shape):
    title = "%s, %s" % (shape.relation, shape.name)
    outputs = []
    for side, rows in (("first", shape.first), ("second", shape.second)):
        name = "shape_%d_%s" % (number, side)
        create(name, shape.relation, shape.unit, shape.common + rows, True, "max_contribution => 'auto'" if shape.found else HARD)
        runs = execute(shape.query.format(t=name), "v float8[]", shape.runs, ANALYST,
                       "SET dp_cdp.rho = %r" % (RHO / shape.columns), BATCH // 2 if shape.found else BATCH, after=NORMS if shape.found else "")
        outputs.append([shape.statistic(run[0][0]) for run in runs])
    # what is claimed is what was charged
    rho, delta = spent(name, ANALYST)
    check(tap, title, outputs[1], outputs[0], rho / len(runs), delta / len(runs), shape.sharp and SHARE, shape.runs)


def limits(tap):
    """
    The limit that is found, by itself: it may tell no more than it costs.  At the lower price one person of norm 2 is hardly ever
    seen, and nearly always if the histogram counts it once in each of its groups; at the higher one it is seen as it is.
    """
    somebody = [(99, g, 1) for g in range(1, MAX_GROUPS + 1)]
    for rho, share in RHO_OF_LIMITS:
        outputs = []
        for side, rows in (("first", []), ("second", somebody)):
            t = "limits_%d_%s" % (rho, side)
            # the other one is in no group that is asked for; where nobody is seen the limit is 4
            create(t, "add_remove", True, rows + [(1, 0, 1)], True, "max_contribution => 'auto'")
            runs = execute(by_group("dp_count(*)", t), "v float8[]", RUNS[0], ANALYST, "SET dp_cdp.rho = %d" % rho, BATCH // 2, after=NORMS)
            outputs.append([run[0][0][-1] < 4 for run in runs])
        charged = float(psql("SELECT sum(rho) FROM dp_cdp_internal.release_log WHERE dataset = '%s' AND aggregates = 'limit of dp_count(*)'" % t)[0][0])
        check(tap, "add_remove, a limit that is found for %d" % rho, outputs[1], outputs[0], charged / len(runs), 0, share, RUNS[0])


def audited(tap, todo):
    """Audits the shapes; says what runs tell of noise that is as good as continuous."""
    make_role(ANALYST)
    each = AUDIT_BOUNDS * len(EPSILONS)
    tap.finds("a loss of so many times the charge is found", lambda n, alpha: loss_found(RHO, EPSILONS, n, alpha / each), RUNS)
    tap.finds("so much of the charge is refuted where the difference reaches the sensitivity",
              lambda n, alpha: refuted(Noise(1 / (2 * RHO), unit=0), 1, EPSILONS, n, alpha / each), RUNS)
    for number, shape in enumerate(tap.some(todo, [shape for shape in todo if shape.telling], "shapes")):
        declared(tap, number, shape)


def undeclared(tap, name, relation, rho, groups, first, second, statistic, sharp):
    """first, second: rows (u, key, x) of one copy; statistic: of a dict from
    key to count.  Noise and units of the copies are independent, so that each
    copy is a run, and what is charged for the whole covers each of them."""
    title = "%s, %s" % (relation, name)
    outputs = []
    for side, rows in (("first", first), ("second", second)):
        t = name.replace(" ", "_") + "_" + relation + "_" + side
        create(t, relation, True, [(c * 100 + u, c * 10 + g, x) for c in range(COPIES) for u, g, x in rows]
               or [(None, 0, 0)], False)
        runs = execute("SELECT g, dp_count(DISTINCT u) AS n FROM %s GROUP BY g" % t, "g int, n float8",
                       EXECUTIONS, ANALYST, "SET dp_cdp.rho = %r; SET dp_cdp.delta = %r;"
                       "SET dp_cdp.max_groups = %d" % (rho, SELECTION_DELTA, groups))
        statistics = []
        for run in runs:
            copies = [{} for _ in range(COPIES)]
            for g, n in run:
                copies[g // 10][g % 10] = n
            statistics += [statistic(copy) for copy in copies]
        outputs.append(statistics)
    charged_rho, charged_delta = spent(t, ANALYST)
    check(tap, title, outputs[1], outputs[0], charged_rho / EXECUTIONS, charged_delta / EXECUTIONS, sharp and 1 / 4, EXECUTIONS * COPIES)


def thresholds(tap):
    visible = [(u, 1, 1) for u in range(1, 31)]
    # rho is small enough not to matter: what tells is delta
    undeclared(tap, "a hidden key", "add_remove", 1e-4, 1, visible, visible + [(99, 2, 1)],
               lambda copy: 2 in copy, True)
    undeclared(tap, "a hidden key for another", "replace_one", 1e-4, 1, visible + [(99, 2, 1)],
               visible + [(99, 3, 1)], lambda copy: (3 in copy) - (2 in copy), True)
    # the unit is in a group that is seen, too
    undeclared(tap, "a hidden and a visible key", "add_remove", 1.0, 2, visible,
               visible + [(99, 1, 1), (99, 2, 1)], lambda copy: copy.get(1, 0) + 100 * (2 in copy), False)
    undeclared(tap, "a visible key", "add_remove", 1.0, 1, visible, visible + [(99, 1, 1)],
               lambda copy: copy.get(1, 0), True)


def main():
    tap = Tap("privacy_empirical.py", len(shapes()) + 4 + len(RHO_OF_LIMITS))
    audited(tap, shapes())
    thresholds(tap)
    limits(tap)
    tap.done()


if __name__ == "__main__":
    main()
