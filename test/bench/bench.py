#!/usr/bin/env python3
"""What a private answer costs in time, beside plain SQL on the same rows.

Two sessions stay open: the owner's, which runs the plain query, and the
analyst's, which holds no SELECT and runs the private one. They take turns,
so that both see the same weather; the first turn warms caches and is dropped.
A ratio is formed within each turn; the table shows the least, the median and
the largest, and the median decides.
"""
import os
import re
import statistics
import subprocess
import sys

ROWS = int(os.environ.get("BENCH_ROWS", "10000000"))
TURNS = int(os.environ.get("BENCH_TURNS", "7"))
ONLY = os.environ.get("BENCH_ONLY", "")
PER_UNIT = 10
UNITS = max(ROWS // PER_UNIT, 1)
WIDE = max(ROWS // 10, 1)       # groups of the widest grouping


class Session:
    """A psql that is told one statement at a time and says how long it took."""

    def __init__(self, user):
        self.psql = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-d", "bench", "-U", user],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.psql.stdin.write("\\timing on\n\\o /dev/null\n")

    def run(self, sql):
        """Milliseconds of the statement; rows are fetched and thrown away."""
        self.psql.stdin.write(sql + ";\n\\echo == done\n")
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line.startswith("== done"):
                break
            lines.append(line)
        text = "".join(lines)
        times = re.findall(r"^Time: ([0-9.]+) ms", text, re.M)
        if "ERROR:" in text or not times:
            raise RuntimeError(sql + "\n" + text)
        return float(times[-1])


def owner_sql(sql, database="bench"):
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database,
                    "-o", os.devnull, "-c", sql], check=True)


def generate():
    """t: ROWS rows, PER_UNIT of each unit, scattered."""
    print(f"generating {ROWS} rows of {UNITS} units", flush=True)
    for sql in ("CREATE ROLE analyst LOGIN", "CREATE DATABASE bench"):
        owner_sql(sql, "postgres")
    owner_sql(f"""
        CREATE UNLOGGED TABLE t (id int NOT NULL, unit int NOT NULL, k100 int NOT NULL,
                                 k1000 int NOT NULL, wide int NOT NULL, x int, y float8)""")
    owner_sql(f"""
        SELECT setseed(0.1);
        INSERT INTO t
        SELECT i, i % {UNITS}, (random() * 100)::int % 100, (random() * 1000)::int % 1000,
               (i::int8 * 7919) % {WIDE}, (random() * 100)::int, random() * 100
        FROM generate_series(1, {ROWS}) i""")
    owner_sql("VACUUM (FREEZE, ANALYZE) t")
    owner_sql("CREATE EXTENSION dp_cdp")
    owner_sql("""
        SELECT dp_cdp.create_dataset('bench', delta => 0.9, default_rho => 0.01,
                                     max_groups => 5, max_rows => 5);
        SELECT dp_cdp.set_budget('bench', 'analyst', rho => 1000000, delta => 0.9)""")


def protect(unit):
    """Protects t afresh: protect_table(unit => ...), bounds and keys."""
    owner_sql("""SELECT dp_cdp.unprotect_table('t')
                 WHERE EXISTS (SELECT FROM pg_seclabel WHERE objoid = 't'::regclass
                               AND provider = 'dp_cdp')""")
    owner_sql("SELECT dp_cdp.protect_table('t', 'bench'%s)"
              % (f", unit => '{unit}'" if unit else ""))
    owner_sql("""
        SELECT dp_cdp.set_bounds('t', 'x', 0, 100), dp_cdp.set_bounds('t', 'y', 0, 100);
        SELECT dp_cdp.set_keys('t', 'k100', (SELECT array_agg(i) FROM generate_series(0, 99) i)),
               dp_cdp.set_keys('t', 'k1000', (SELECT array_agg(i) FROM generate_series(0, 999) i))""")


HAND = """SELECT k100, sum(c) FROM
 (SELECT unit, k100, least(count(*), 5) c, row_number() OVER (PARTITION BY unit ORDER BY random()) rn
  FROM t GROUP BY unit, k100) s WHERE rn <= 5 GROUP BY k100"""
# an average over units whose rows are scaled to 5, and 5 rows or values of each unit
HAND_AVG = """SELECT sum(s * least(1, 5.0 / c)) / sum(least(c, 5)) FROM
 (SELECT unit, sum(y) s, count(*) c FROM t GROUP BY unit) q"""
HAND_ROWS = "(SELECT y, row_number() OVER (PARTITION BY unit ORDER BY random()) rn FROM t) s WHERE rn <= 5"
HAND_DISTINCT = """SELECT count(DISTINCT wide) FROM
 (SELECT wide, row_number() OVER (PARTITION BY unit ORDER BY random()) rn FROM
  (SELECT DISTINCT unit, wide FROM t) d) s WHERE rn <= 5"""

# name, privacy unit, plain query, private query, target or None, settings of the analyst
FIGURES = [
    ("count", None, "SELECT count(*) FROM t", "SELECT dp_count(*) FROM t", 1.10, ()),
    ("sum integer", None, "SELECT sum(x) FROM t", "SELECT dp_sum(x) FROM t", 1.20, ()),
    ("sum float8", None, "SELECT sum(y) FROM t", "SELECT dp_sum(y) FROM t", 1.20, ()),
    ("count, 1000 groups", None, "SELECT k1000, count(*) FROM t GROUP BY 1",
     "SELECT k1000, dp_count(*) FROM t GROUP BY 1", 1.20, ()),
    ("sum integer, 1000 groups", None, "SELECT k1000, sum(x) FROM t GROUP BY 1",
     "SELECT k1000, dp_sum(x) FROM t GROUP BY 1", 1.20, ()),
    ("sum float8, 1000 groups", None, "SELECT k1000, sum(y) FROM t GROUP BY 1",
     "SELECT k1000, dp_sum(y) FROM t GROUP BY 1", 1.20, ()),
    (f"{WIDE} released groups", None, "SELECT wide, count(*) FROM t GROUP BY 1",
     "SELECT wide, dp_count(*) FROM t GROUP BY 1", 1.5,
     ("SET dp_cdp.rho = 1000", "SET dp_cdp.delta = 1e-9")),
    ("avg integer", None, "SELECT avg(x) FROM t", "SELECT dp_avg(x) FROM t", 1.3, ()),
    ("avg float8", None, "SELECT avg(y) FROM t", "SELECT dp_avg(y) FROM t", 1.3, ()),
    ("var_pop integer", None, "SELECT var_pop(x) FROM t", "SELECT dp_var_pop(x) FROM t", 1.3, ()),
    ("var_pop float8", None, "SELECT var_pop(y) FROM t", "SELECT dp_var_pop(y) FROM t", 1.3, ()),
    ("stddev float8, 1000 groups", None, "SELECT k1000, stddev(y) FROM t GROUP BY 1",
     "SELECT k1000, dp_stddev(y) FROM t GROUP BY 1", None, ()),
    ("median", None, "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY y) FROM t",
     "SELECT dp_median(y) FROM t", 0.5, ()),
    ("3 quantiles", None, "SELECT percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY y) FROM t",
     "SELECT dp_quantile(y, ARRAY[0.1, 0.5, 0.9]) FROM t", 0.5, ()),
    ("histogram of 20 bins", None, "SELECT width_bucket(y, 0, 100, 20), count(*) FROM t GROUP BY 1",
     "SELECT dp_histogram(y, 20) FROM t", None, ()),
    ("count(DISTINCT)", None, "SELECT count(DISTINCT wide) FROM t",
     "SELECT dp_count(DISTINCT wide) FROM t", None, ()),
    ("count by 100 groups, units", "unit", HAND,
     "SELECT k100, dp_count(*) FROM t GROUP BY 1", 0.4, ()),
    ("avg float8, units", "unit", HAND_AVG, "SELECT dp_avg(y) FROM t", None, ()),
    ("median, units", "unit", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY y) FROM " + HAND_ROWS,
     "SELECT dp_median(y) FROM t", None, ()),
    ("histogram of 20 bins, units", "unit",
     "SELECT width_bucket(y, 0, 100, 20), count(*) FROM %s GROUP BY 1" % HAND_ROWS,
     "SELECT dp_histogram(y, 20) FROM t", None, ()),
    ("count(DISTINCT), units", "unit", HAND_DISTINCT, "SELECT dp_count(DISTINCT wide) FROM t", None, ()),
]


def measure(figure, workers):
    name, _, plain, private, target, settings = figure
    owner, analyst = Session("postgres"), Session("analyst")
    for session in (owner, analyst):
        session.run(f"SET max_parallel_workers_per_gather = {workers}")
    for setting in settings:
        analyst.run(setting)
    turns = []
    for turn in range(TURNS + 1):
        a = owner.run(plain)
        b = analyst.run(private)
        if turn > 0:
            turns.append((a, b))
    for session in (owner, analyst):
        session.psql.stdin.close()
        session.psql.wait()
    ratios = sorted(b / a for a, b in turns)
    return (name, workers, statistics.median(a for a, _ in turns),
            statistics.median(b for _, b in turns), ratios, target, plain, private)


def main():
    figures = [f for f in FIGURES if ONLY in f[0]]
    if not figures:
        return 0
    generate()
    results = []
    failed = False
    unit = "none yet"
    for figure in figures:
        try:
            if figure[1] != unit:
                unit = figure[1]
                protect(unit)
            for workers in (0, 2):
                results.append(measure(figure, workers))
                print(".", end="", flush=True)
        except (RuntimeError, subprocess.CalledProcessError) as e:
            failed = True
            print(f"\n{figure[0]}: {e}", flush=True)

    seen = set()
    print("\n\nqueries:")
    for name, *_, plain, private in results:
        if name not in seen:
            seen.add(name)
            print("  %s\n    plain    %s\n    private  %s" % (name, " ".join(plain.split()), private))
    print(f"\n{ROWS} rows, {TURNS} turns after one that is dropped; ratio: private / plain\n")
    head = "%-28s %7s %10s %10s   %6s %6s %6s %7s"
    print(head % ("figure", "workers", "plain ms", "private ms", "min", "median", "max", "target"))
    for name, workers, a, b, ratios, target, *_ in results:
        median = statistics.median(ratios)
        print("%-28s %7d %10.1f %10.1f   %6.2f %6.2f %6.2f %s" % (
            name, workers, a, b, ratios[0], median, ratios[-1],
            "      -" if target is None
            else "%7.2f  %s" % (target, "pass" if median <= target else "MISS")))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
