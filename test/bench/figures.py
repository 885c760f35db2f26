"""What is measured: each line is a private query beside plain ones."""
import dataclasses

from data import Table, short

# what a unit may contribute where no norm limits it: beside itself a line has these as max_groups and max_rows
K = M = 5
HARD = "hard limits"
MOST_OF_HARD = 1.10
TWO_LEVELS = "two levels"
WINDOW = "row_number()"


@dataclasses.dataclass
class Line:
    name: str
    theme: str
    table: Table
    plain: dict             # what it stands beside: (query, largest ratio or None)
    private: str            # asked by the analyst
    unit: str = None        # the column that names the unit
    groups: int = 1
    workers: int = 0
    work_mem: str = "256MB"
    settings: tuple = ()    # of the analyst
    memory: bool = False    # memory and temporary files have lines of their own
    sweep: bool = False     # measured at each size
    also: str = ""          # a second theme that shows it
    itself: dict = dataclasses.field(default_factory=dict)  # beside itself: (other settings, largest ratio or None)
    by_cpu: bool = False    # judged by time on a processor where there are no workers
    judged: int = 10 ** 7   # with fewer rows the debit's write to disk is not small beside a query

    def beside(self):
        return list(self.plain) + list(self.itself)

    def target(self, beside):
        return (self.plain.get(beside) or self.itself[beside])[1]


# themes in the order in which they are printed, and what is said of them
THEMES = {
    "rows": "Rows as units, beside the plain aggregate",
    "groups": "Groups, rows as units",
    "units": "Units of 10 rows: bounding beside plain SQL",
    "plain": "Units of 10 rows beside the plain aggregate, which knows no units",
    "bounding": "Bounding by types of units, workers, skew and many columns",
    "sweep": "Units, 1e3 to 1e7",
    "other": "Other aggregates by unit, beside the same bounds by hand",
    "unique": "Units with one row each, by a unique index: nothing to bound",
    "adult": "Adult, replicated",
    "sizes": "Sizes",
}


def two_levels(value="least(count(*), %d)" % M, keys="k100", unit="unit"):
    """Grouped by unit and keys, then by keys: what SQL needs to bound a unit within a group."""
    return (f"SELECT {keys}, sum(v) FROM (SELECT {unit}, {keys}, {value} v FROM t GROUP BY {unit}, {keys}) s GROUP BY {keys}"
            if keys else f"SELECT sum(v) FROM (SELECT {unit}, {value} v FROM t GROUP BY {unit}) s")


def window(value="least(count(*), %d)" % M, keys="k100", unit="unit"):
    """The same, and K groups of each unit at random: what other systems generate."""
    return (f"SELECT {keys}, sum(v) FROM (SELECT {keys}, {value} v, row_number() OVER (PARTITION BY {unit} ORDER BY random()) r"
            f" FROM t GROUP BY {unit}, {keys}) s WHERE r <= {K} GROUP BY {keys}")


def rows_as_units(rows):
    """Beside the aggregate that PostgreSQL has."""
    table = Table(rows, rows, order="clustered")

    def line(name, plain, private, target, workers=(0, 2), groups=1, theme="rows", **more):
        for n in workers:
            yield Line(name, theme, table, {"plain": (plain, target)}, private,
                       groups=groups, workers=n, **more)

    for name, mine, theirs, target, workers in (
            ("count", "dp_count(*)", "count(*)", 1.05, (0, 1, 2)),
            ("sum integer", "dp_sum(x)", "sum(x)", 1.05, (0, 1, 2)),
            ("sum float8", "dp_sum(y)", "sum(y)", 1.05, (0, 1, 2)),
            ("avg integer", "dp_avg(x)", "avg(x)", 1.15, (0, 2)),
            ("avg float8", "dp_avg(y)", "avg(y)", 1.15, (0, 2)),
            ("var_pop integer", "dp_var_pop(x)", "var_pop(x)", 1.15, (0, 2)),
            ("var_pop float8", "dp_var_pop(y)", "var_pop(y)", 1.15, (0, 2))):
        yield from line(name, f"SELECT {theirs} FROM t", f"SELECT {mine} FROM t", target, workers,
                        sweep=name in ("count", "sum integer"), also="groups" if name == "count" else "")
    for name, mine, theirs, target, workers in (
            ("count", "dp_count(*)", "count(*)", 1.10, (0, 2)),
            ("sum integer", "dp_sum(x)", "sum(x)", 1.10, (0, 2)),
            ("sum float8", "dp_sum(y)", "sum(y)", 1.10, (0, 2)),
            ("stddev float8", "dp_stddev(y)", "stddev(y)", None, (0,))):
        yield from line(name + " by 1000 groups", f"SELECT k1000, {theirs} FROM t GROUP BY 1",
                        f"SELECT k1000, {mine} FROM t GROUP BY 1", target, workers, 1000,
                        sweep=name == "sum integer")
    yield from line("median", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY y) FROM t",
                    "SELECT dp_median(y) FROM t", 0.5)
    yield from line("3 quantiles", "SELECT percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY y) FROM t",
                    "SELECT dp_quantile(y, ARRAY[0.1, 0.5, 0.9]) FROM t", 0.5, (0,))
    yield from line("histogram of 20 bins", "SELECT width_bucket(y, 0, 100, 20), count(*) FROM t GROUP BY 1",
                    "SELECT dp_histogram(y, 20) FROM t", None, (0,))
    yield from line("count distinct", "SELECT count(DISTINCT wide) FROM t",
                    "SELECT dp_count(DISTINCT wide) FROM t", None, (0,))

    for groups, target in ((100, 1.10), (10000, 1.10)):
        yield from line(f"count by {short(groups)} groups", f"SELECT k{groups}, count(*) FROM t GROUP BY 1",
                        f"SELECT k{groups}, dp_count(*) FROM t GROUP BY 1", target, (0,), groups, theme="groups")
    for n in (0, 2):
        yield from line(f"{short(table.wide)} released groups", "SELECT wide, count(*) FROM t GROUP BY 1",
                        "SELECT wide, dp_count(*) FROM t GROUP BY 1", 1.20, (n,), table.wide, theme="groups",
                        settings=("dp_cdp.rho = 1000", "dp_cdp.delta = 1e-9"))


def units_of_ten(rows):
    """Bounding: units in order and not, within work_mem and not."""
    units = max(rows // 10, 1)
    for skew, order in (("uniform", "random"), ("uniform", "clustered"), ("zipf", "random")):
        table = Table(rows, units, skew, order)
        which = "zipf" if skew == "zipf" else order
        for work_mem, workers in (("4MB", 0), ("256MB", 0), ("256MB", 2)):
            if skew == "zipf" and workers:
                continue
            plain = {TWO_LEVELS: (two_levels(), 0.70)}
            if rows <= 10 ** 7 and skew == "uniform" and not workers:
                plain[WINDOW] = (window(), 0.25)
            simplest = order == "random" and skew == "uniform" and not workers and work_mem == "256MB"
            yield Line(f"count by 100 groups, {which} units, {work_mem}", "units", table, plain,
                       "SELECT k100, dp_count(*) FROM t GROUP BY 1", "unit", 100, workers, work_mem,
                       memory=workers == 0, sweep=simplest, also="sweep" if simplest else "")
    table = Table(rows, units)
    # without keys the second level adds up numbers, and there is little that bounding could save
    yield Line("count, random units", "units", table, {TWO_LEVELS: (two_levels(keys=None), None)},
               "SELECT dp_count(*) FROM t", "unit", memory=True)
    yield Line("sum integer by 100 groups, random units", "units", table,
               {TWO_LEVELS: (two_levels("greatest(0, least(100, sum(x)))"), 0.70)},
               "SELECT k100, dp_sum(x) FROM t GROUP BY 1", "unit", 100, memory=True)
    yield Line(f"{short(table.wide)} released groups, random units", "units", table,
               {TWO_LEVELS: (two_levels(keys="wide"), None)}, "SELECT wide, dp_count(*) FROM t GROUP BY 1", "unit",
               table.wide, settings=("dp_cdp.rho = 1000", "dp_cdp.delta = 1e-9"), memory=True)

    # beside the plain aggregate, which knows no units
    for name, mine, theirs in (("count", "dp_count(*)", "count(*)"), ("sum integer", "dp_sum(x)", "sum(x)"), ("avg integer", "dp_avg(x)", "avg(x)")):
        for keys, by, targets in ((0, "", {0: 1.40, 2: 1.30}), (100, "k100, ", {0: 1.25, 2: 1.25})):
            for workers, target in targets.items():
                yield Line(f"beside plain: {name}" + (f" by {keys} groups" if keys else ""), "plain", table,
                           {"plain": (f"SELECT {by}{theirs} FROM t" + (" GROUP BY 1" if keys else ""), target)},
                           f"SELECT {by}{mine} FROM t" + (" GROUP BY 1" if keys else ""), "unit", keys or 1, workers, by_cpu=True, judged=10 ** 6)

    # an average over units whose rows are scaled to M; M rows or values of each unit
    sample = f"(SELECT y, row_number() OVER (PARTITION BY unit ORDER BY random()) r FROM t) s WHERE r <= {M}"
    by_hand = (
        ("avg float8", f"SELECT sum(s * least(1, {M}.0 / c)) / sum(least(c, {M})) FROM"
         " (SELECT unit, sum(y) s, count(*) c FROM t GROUP BY unit) q", "dp_avg(y)"),
        ("median", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY y) FROM " + sample, "dp_median(y)"),
        ("histogram of 20 bins", f"SELECT width_bucket(y, 0, 100, 20), count(*) FROM {sample} GROUP BY 1", "dp_histogram(y, 20)"),
        ("count distinct", "SELECT count(DISTINCT wide) FROM"
         " (SELECT wide, row_number() OVER (PARTITION BY unit ORDER BY random()) r FROM"
         f" (SELECT DISTINCT unit, wide FROM t) d) s WHERE r <= {M}", "dp_count(DISTINCT wide)"))
    for name, plain, private in by_hand:
        yield Line(name + ", random units", "other", table, {"by hand": (plain, None)}, f"SELECT {private} FROM t", "unit")

    # exact, where PostgreSQL's own round at each row
    for name, value in (("sum", "sum(y)"), ("variance", "variance(y)")):
        of_units = f"(SELECT unit, {value} v FROM t GROUP BY unit) s"
        yield Line(f"{name} float8 of each unit", "other", table,
                   {"plain": (f"SELECT sum(least(greatest(v, 0), 1000)) FROM {of_units}", None)},
                   f"SELECT dp_sum(v, 0, 1000) FROM {of_units}", "unit")


def bounding(rows):
    """Bounding on one processor and on several, judged by time on a processor without workers and by the clock with them."""
    units = max(rows // 10, 1)
    without = {"without workers": (("max_parallel_workers_per_gather = 0",), None)}

    def count(name, table, target, workers, itself=None):
        itself = {beside: (settings, itself) for beside, (settings, _) in without.items()} if itself else {}
        return Line(f"bounding: count by 100 groups, {name}", "bounding", table, {TWO_LEVELS: (two_levels(), target)},
                    "SELECT k100, dp_count(*) FROM t GROUP BY 1", "unit", 100, workers, itself=itself, by_cpu=True)

    for kind, target in (("int", 0.22), ("uuid", 0.35), ("text", 0.45)):
        table = Table(rows, units, unit_type=kind)
        yield count(f"{kind} units", table, target, 0)
        yield count(f"{kind} units", table, 0.30, 2, 0.60)
    for skew, name in (("zipf", "zipf units"), ("half", "half of one unit")):
        yield count(name, Table(rows, units, skew), None, 0)
        yield count(name, Table(rows, units, skew), None, 2, 0.70)

    # TPC-H's first and sixth query, bounds in place of what a unit is known to have
    items = Table(max(rows * 3 // 10, 1), max(rows * 3 // 400, 1), items=True)
    first = (("sum(quantity{0})", 2000), ("sum(price{0})", 4000000), ("sum(price * (1 - discount){0})", 4000000),
             ("sum(price * (1 - discount) * (1 + tax){0})", 4400000), ("avg(quantity)", 0), ("avg(price)", 0), ("avg(discount)", 0), ("count(*)", 0))
    of_year = "shipped >= date '1994-01-01' AND shipped < date '1995-01-01' AND discount BETWEEN 0.05 AND 0.07 AND quantity < 24"

    def q1(private):
        asked = ", ".join(("dp_" if private else "") + item.format(f", 0, {most}" if private else "") for item, most in first)
        return f"SELECT flag, {asked} FROM t WHERE shipped <= date '1998-09-02' GROUP BY 1"

    for workers, q1_target, q6_target in ((0, 1.15, 1.10), (2, 1.15, 1.15)):
        yield Line("bounding: eight aggregates of numeric by 4 keys", "bounding", items, {"plain": (q1(False), q1_target)}, q1(True), "unit", 4,
                   workers, itself=without if workers else {}, by_cpu=True, judged=3 * 10 ** 6)
        yield Line("bounding: sum of a product of a year", "bounding", items, {"plain": (f"SELECT sum(price * discount) FROM t WHERE {of_year}", q6_target)},
                   f"SELECT dp_sum(price * discount, 0, 50000) FROM t WHERE {of_year}", "unit", 1,
                   workers, itself=without if workers else {}, by_cpu=True, judged=3 * 10 ** 6)


def units_sweep(rows):
    """1 to 1,000 rows of each unit; fewer rows where that many units do not have as many.

    Groups alone, whoever's rows they are: what bounding comes on top of."""
    for units in (10 ** e for e in range(3, 8)):
        if units > rows or units == rows // 10:
            continue
        for workers in (0, 1, 2) if units == 10 ** 4 else (0,):
            yield Line(f"count by 100 groups, {short(units)} units", "sweep", Table(min(rows, units * 1000), units),
                       {TWO_LEVELS: (two_levels(), 0.70), WINDOW: (window(), 0.25),
                        "no units": ("SELECT k100, count(*) FROM t GROUP BY 1", None)},
                       "SELECT k100, dp_count(*) FROM t GROUP BY 1", "unit", 100, workers, memory=workers == 0, judged=10 ** 6)


def unique_units(rows):
    table = Table(rows, rows, order="clustered", unique=True)
    for name, plain, private, target, groups in (
            ("count, unique units", "SELECT count(*) FROM t", "SELECT dp_count(*) FROM t", 1.05, 1),
            ("sum integer, unique units", "SELECT sum(x) FROM t", "SELECT dp_sum(x) FROM t", 1.05, 1),
            ("count by 1000 groups, unique units", "SELECT k1000, count(*) FROM t GROUP BY 1",
             "SELECT k1000, dp_count(*) FROM t GROUP BY 1", 1.10, 1000)):
        yield Line(name, "unique", table, {"plain": (plain, target)}, private, "unit", groups)


def adult(rows):
    """People of a census over and over: rows as units, then the person."""
    table = Table(rows, 32561, order="copies", adult=True)
    for name, plain, private, target, groups in (
            ("adult: count", "SELECT count(*) FROM t", "SELECT dp_count(*) FROM t", 1.05, 1),
            ("adult: sum of ages", "SELECT sum(age) FROM t", "SELECT dp_sum(age) FROM t", 1.05, 1),
            ("adult: avg of ages by education and sex", "SELECT education, sex, avg(age) FROM t GROUP BY 1, 2",
             "SELECT education, sex, dp_avg(age) FROM t GROUP BY 1, 2", 1.15, 32),
            ("adult: median of hours", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week) FROM t",
             "SELECT dp_median(hours_per_week) FROM t", 0.5, 1)):
        yield Line(name, "adult", table, {"plain": (plain, target)}, private, groups=groups)
    yield Line("adult: count by education, units", "adult", table,
               {TWO_LEVELS: (two_levels(keys="education", unit="id"), 0.70)},
               "SELECT education, dp_count(*) FROM t GROUP BY 1", "id", 16)


def lines(rows):
    for part in (rows_as_units, units_of_ten, bounding, units_sweep, unique_units, adult):
        yield from part(rows)
