#!/usr/bin/env python3
"""What bounding would take on more processors than there are: a model, not a measurement.

A count by groups over units, in p processes (the leader and p - 1 workers):

    T(p) = fixed + start (p - 1) + (row R + unit U) / p * share(p) * together + group G p

R rows, U units, G groups.  All costs are measured here:

row, unit   time on a processor of one process, less what a query of no rows takes: a table of R rows, and
            one of half of them by as many units
fixed       a query of no rows
start       what a worker more adds to it: its start, the barrier where all wait for the last one to have
            read, the end of shared memory (slope over 1, 2, 4 and 8 workers)
group       what a group more adds for each process: it leaves the node, and the leader adds it up
share(p)    partitions are taken whole: of 256, the process with the most takes ceil(256 / p)
together    what two processes take by the clock through what all of the above says (1 for one process): chunks in
            shared memory, states that are set aside, waiting for each other

Not in it: memory and caches that more than two processes share, slower clocks where more cores work, and units so
skewed that one partition is much larger than the others.
"""
import math
import os
import statistics
import sys
import time

import data
from session import Session

ROWS = int(float(os.environ.get("BENCH_ROWS") or "1e7")) // 4
TURNS = int(os.environ.get("BENCH_TURNS") or "7")
PARTITIONS = 256
ANYWAY = ("parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0", "work_mem = '256MB'")
COUNT = "SELECT %s, dp_count(*) FROM t GROUP BY 1"


class Asked(Session):
    def __init__(self, workers):
        super().__init__("bench", "-U", "analyst", settings=ANYWAY + ("max_parallel_workers_per_gather = %d" % workers,))

    def cpu(self):
        with open("/proc/%d/schedstat" % self.pid) as stat:
            return int(stat.read().split()[0]) / 1e6

    def milliseconds(self, sql):
        """Medians on a processor, without those of workers, and by the clock; the first run is dropped."""
        runs = []
        for _ in range(TURNS + 1):
            before = self.cpu()
            wall = self.run(sql)
            runs.append((self.cpu() - before, wall))
        return tuple(statistics.median(run[i] for run in runs[1:]) for i in (0, 1))


def make(rows, units):
    data.make(data.Table(rows, units))
    # as many as a session allows, whatever its size
    data.owner_sql("ALTER TABLE t SET (parallel_workers = 8)")
    data.protect(data.Table(rows, units), "unit")


def ask(keys="k100", workers=0):
    session = Asked(workers)
    try:
        return session.milliseconds(COUNT % keys)
    finally:
        session.close()


def slope(points):
    x, y = (statistics.mean(point[i] for point in points) for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def measure():
    """Costs in milliseconds."""
    cost = {}
    make(1000, 100)
    data.owner_sql("DELETE FROM t")
    cost["fixed"] = ask()[0]
    starts = [(workers, ask(workers=workers)[1]) for workers in (1, 2, 4, 8)]
    cost["start"] = max(slope(starts), 0)
    # enough rows for each process to have all groups
    make(100000, 10000)
    more = [(p * 900, ask("k1000", p - 1)[1] - ask("k100", p - 1)[1]) for p in (2, 4, 8)]
    cost["group"] = max(slope(more), 0)
    units = ROWS // 10
    make(ROWS // 2, units)
    half = ask()[0]
    make(ROWS, units)
    whole = ask()[0]
    cost["row"] = (whole - half) / (ROWS - ROWS // 2)
    cost["unit"] = (whole - cost["fixed"] - cost["row"] * ROWS) / units
    cost["together"] = 1
    alone = cost["fixed"] + cost["start"] + cost["group"] * 200
    cost["together"] = max((ask(workers=1)[1] - alone) / (modelled(cost, ROWS, units, 100, 2) - alone), 1)
    return cost


def modelled(cost, rows, units, groups, p):
    share = math.ceil(PARTITIONS / p) * p / PARTITIONS * (cost["together"] if p > 1 else 1)
    return (cost["fixed"] + cost["start"] * (p - 1) + (cost["row"] * rows + cost["unit"] * units) / p * share
            + cost["group"] * groups * p)


def main():
    begin = time.time()
    try:
        data.create_database()
    except RuntimeError:
        pass                    # the figures' is there
    cost = measure()
    print("\n### A model of bounding on more processors\n")
    print("Measured on %d processors, %s rows, %s units: a row %.0f ns, a unit %.0f ns, a group %.2f microseconds in each process, "
          "a query without rows %.1f ms, each worker %.1f ms; two processes take %.2f times as long as these say.\n" % (
              os.cpu_count(), data.short(ROWS), data.short(ROWS // 10), cost["row"] * 1e6, cost["unit"] * 1e6,
              cost["group"] * 1e3, cost["fixed"], cost["start"], cost["together"]))
    print("What p processes would take on as many processors, by the model that the head of `model.py` states:\n")
    print("| processes | 1e7 rows, 1e6 units: ms | times as fast | 1e8 rows, 1e7 units: ms | times as fast |")
    print("|---|---|---|---|---|")
    for p in (1, 2, 4, 8, 16, 32, 64):
        sizes = [(modelled(cost, rows, rows // 10, 100, 1), modelled(cost, rows, rows // 10, 100, p)) for rows in (10 ** 7, 10 ** 8)]
        print("| %d | %s |" % (p, " | ".join("%.0f | %.1f" % (ms, first / ms) for first, ms in sizes)))
    print("measured and modelled in %.0f s" % (time.time() - begin), file=sys.stderr)
    return 0


sys.exit(main())
