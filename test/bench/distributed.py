"""What releases from tables that Citus distributes take beside plain SQL, and
a model of larger clusters.

check_citus.sh calls it (CITUS_BENCH=rows), with the cluster's folder.  Tables of 1, 2, 4
... workers are made side by side, so that all is measured in one
run: each round asks every query once.  Beside the time on the clock stands the
time on processors of all servers, which others on the machine disturb less.
Prints Markdown.
"""
import glob
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__))))
from session import Session

WORK = os.environ["WORK"]
ROWS = int(os.environ.get("CITUS_BENCH", "1000000"))
ROUNDS = int(os.environ.get("CITUS_ROUNDS", "5"))
UNITS = max(ROWS // 10, 1)
SHARDS = 4
GROUPS = 10000  # of the table that has many
TICK = os.sysconf("SC_CLK_TCK")


def cpu():
    """Seconds on processors of all servers so far: postmasters, what they have waited for, and what runs."""
    tops = {int(open(f).readline()) for f in glob.glob(WORK + "/*/data/postmaster.pid")}
    total = 0
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            fields = open(folder + "/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        pid, parent = int(folder[6:]), int(fields[1])
        if pid in tops:
            total += sum(int(x) for x in fields[11:15])
        elif parent in tops:
            total += int(fields[11]) + int(fields[12])
    return total / TICK


def two_levels(table):
    """What is bounded, without bounding: a total of each unit and group, which is clamped."""
    return ("SELECT dept, sum(greatest(least(s, 500), 0)) FROM (SELECT patient, dept, sum(cost) AS s"
            f" FROM {table} GROUP BY patient, dept) q GROUP BY dept")


# name, what is asked privately and plainly, of a table with units or without
QUERIES = [
    ("sum, units bounded", "SELECT dept, dp_sum(cost) FROM {} GROUP BY dept", two_levels, "units", 1.0),
    ("count, rows as units", "SELECT dept, dp_count(*) FROM {} GROUP BY dept",
     "SELECT dept, count(*) FROM {} GROUP BY dept", "rows", 1.2),
    ("sum, rows as units", "SELECT dept, dp_sum(cost) FROM {} GROUP BY dept",
     "SELECT dept, sum(cost) FROM {} GROUP BY dept", "rows", 1.2),
    ("histogram, units bounded", "SELECT dept, dp_histogram(cost, 0, 1000, 10) FROM {} GROUP BY dept",
     "SELECT dept, width_bucket(cost, 0, 1000, 10), count(*) FROM {} GROUP BY 1, 2", "units", 3.0),
    ("histogram, rows as units", "SELECT dept, dp_histogram(cost, 0, 1000, 10) FROM {} GROUP BY dept",
     "SELECT dept, width_bucket(cost, 0, 1000, 10), count(*) FROM {} GROUP BY 1, 2", "rows", 3.0),
]


def make(admin, owner, workers):
    """Tables over so many of the workers: visits in units and as rows, few rows of many groups, one without rows, one of many shards."""
    nodes = sorted(glob.glob(WORK + "/worker*/"))
    for i, node in enumerate(nodes):
        admin.answer(f"SELECT citus_set_node_property('{node.rstrip('/')}', 5432, 'shouldhaveshards', {i < workers})")
    for name, shards in (("units", SHARDS), ("rows", SHARDS), ("wide", SHARDS), ("none", SHARDS), ("many", 16 * SHARDS)):
        rows = {"units": ROWS, "rows": ROWS, "wide": 10 * GROUPS}.get(name, 0)
        table = f"{name}_{workers}"
        owner.answer(f"CREATE TABLE {table} (patient int NOT NULL, dept int NOT NULL, wide int, cost int)")
        owner.answer(f"SELECT create_distributed_table('{table}', 'patient', colocate_with => 'none', shard_count => {shards})")
        if rows > 0:
            owner.answer(f"INSERT INTO {table} SELECT abs(hashint4(i)::bigint) % {UNITS}, i % 10, i % {GROUPS}, i % 100"
                         f" FROM generate_series(1, {rows}) i")
        owner.answer(f"SELECT dp_cdp.protect_table('{table}', 'bench', {'each_row => true' if name in ('rows', 'wide') else repr('patient')})")
        owner.answer(f"SELECT dp_cdp.set_keys('{table}', 'dept', ARRAY(SELECT generate_series(0, 9)))")
        owner.answer(f"SELECT dp_cdp.set_bounds('{table}', 'cost', 0, 100)")
        owner.answer(f"ANALYZE {table}")


class Clock:
    """Asks a statement and keeps its times."""

    def __init__(self, session):
        self.session = session
        self.wall = []
        self.cpu = []

    def ask(self, sql):
        before, began = cpu(), time.monotonic()
        self.session.answer(sql)
        self.wall.append(time.monotonic() - began)
        # a worker's backend counts when it has ended its part
        time.sleep(0.02)
        self.cpu.append(cpu() - before)


def figures(sizes, analyst, owner):
    clocks = {}
    for _ in range(ROUNDS + 1):
        for n in sizes:
            for name, private, plain, kind, _target in QUERIES:
                table = f"{kind}_{n}"
                clocks.setdefault((n, name, "private"), Clock(analyst)).ask(private.format(table))
                clocks.setdefault((n, name, "plain"), Clock(owner)).ask(
                    plain(table) if callable(plain) else plain.format(table))
    print(f"\n{ROWS} rows, {UNITS} units, {SHARDS} shards, 10 groups; medians of {ROUNDS} interleaved rounds,"
          f" {os.cpu_count()} processors for all servers.\n")
    print("| workers | query | plain, s | private, s | ratio | ratio of processor time | target |")
    print("|---|---|---|---|---|---|---|")
    for n in sizes:
        for name, _private, _plain, _kind, target in QUERIES:
            # the first round warms up connections and caches
            a, b = clocks[n, name, "private"], clocks[n, name, "plain"]
            pairs = list(zip(a.wall[1:], b.wall[1:]))
            used = list(zip(a.cpu[1:], b.cpu[1:]))
            print(f"| {n} | {name} | {statistics.median(p[1] for p in pairs):.2f} | {statistics.median(p[0] for p in pairs):.2f}"
                  f" | {statistics.median(p[0] / p[1] for p in pairs):.2f}"
                  f" | {statistics.median(p[0] / max(p[1], 1 / TICK) for p in used):.2f} | {target} |")
    return {key: statistics.median(clock.cpu[1:]) for key, clock in clocks.items()}


def mean_cpu(analyst, sql, times=10):
    """Seconds on processors and on the clock, of one of several."""
    analyst.answer(sql)
    before, began = cpu(), time.monotonic()
    for _ in range(times):
        analyst.answer(sql)
    wall = time.monotonic() - began
    time.sleep(0.1)
    return (cpu() - before) / times, wall / times


def model(used, n, analyst):
    """Costs of a row, of a group that travels, and of a shard that is asked; then what they add up to."""
    none, _ = mean_cpu(analyst, f"SELECT dept, dp_sum(cost) FROM none_{n} GROUP BY dept")
    many, _ = mean_cpu(analyst, f"SELECT dept, dp_sum(cost) FROM many_{n} GROUP BY dept")
    few_groups, _ = mean_cpu(analyst, f"SELECT dept, dp_sum(cost) FROM wide_{n} GROUP BY dept")
    many_groups, _ = mean_cpu(analyst, f"SELECT wide, dp_sum(cost) FROM wide_{n} GROUP BY wide")
    row = {"bounded sum": (used[n, "sum, units bounded", "private"] - none) / ROWS,
           "count of rows": (used[n, "count, rows as units", "private"] - none) / ROWS}
    shard = max(many - none, 0) / (15 * SHARDS)
    group = max(many_groups - few_groups, 0) / (GROUPS * SHARDS)
    print(f"\nMeasured with {n} workers, in processor time: a row of a bounded sum {row['bounded sum'] * 1e9:.0f} ns, of a count"
          f" {row['count of rows'] * 1e9:.0f} ns; a group of a shard {group * 1e6:.1f} us; a shard that is asked {shard * 1e3:.2f} ms;"
          f" a release from empty shards {none * 1e3:.1f} ms.\n")
    print("A model, not a measurement: workers of 16 processors, a shard for each of these; rows are read in parallel, and whatever a shard"
          " or a group of a shard costs is added up, as if the coordinator did all of it alone.\n")
    print("| rows | groups | query | 16 workers, s | 64 workers, s | 256 workers, s |")
    print("|---|---|---|---|---|---|")
    for rows in (1e9, 1e10, 1e11, 1e12):
        for groups in (10, GROUPS):
            for name, cost in row.items():
                cells = []
                for nodes in (16, 64, 256):
                    shards = nodes * 16
                    cells.append(f"{none + rows * cost / shards + shards * (shard + groups * group):.1f}")
                print(f"| {rows:.0e} | {groups} | {name} | {' | '.join(cells)} |")


def main():
    sizes = [n for n in (1, 2, 4, 8) if n <= len(glob.glob(WORK + "/worker*/"))]
    admin = Session("test")
    admin.answer("CREATE ROLE bench_owner LOGIN; CREATE ROLE bench_analyst LOGIN;"
                 "GRANT CREATE ON SCHEMA public TO bench_owner;"
                 "GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO bench_owner")
    owner = Session("test", "-U", "bench_owner")
    owner.answer("SELECT dp_cdp.create_dataset('bench', default_rho => 1, max_rho => 10, delta => 0.5)")
    owner.answer("SELECT dp_cdp.set_budget('bench', 'bench_analyst', rho => 1e6, delta => 0.4)")
    for n in sizes:
        make(admin, owner, n)
        print(f"tables of {n} workers are made", file=sys.stderr)
    analyst = Session("test", "-U", "bench_analyst")
    used = figures(sizes, analyst, owner)
    model(used, sizes[-1], analyst)


main()
