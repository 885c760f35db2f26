#!/usr/bin/env python3
"""What a debit costs beside a commit, and what a release costs that reads nothing.

The server is named by PGHOST and so on; superuser.  The floor is commits of a
single-row INSERT by as many clients.  Floor and debit take turns of a second,
the order swapped each turn; times come from pgbench's log of each transaction,
of which the first part is dropped: connections, caches, the worker's start.  A
ratio is formed within each turn, and the medians are held against the targets.

LEDGER_TURNS (25) and LEDGER_SECONDS (1) say how long, LEDGER_BUDGETS (10000)
over how many budgets debits are spread, LEDGER_ONLY names a part of a figure.
"""
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

TURNS = int(os.environ.get("LEDGER_TURNS", "25"))
SECONDS = int(os.environ.get("LEDGER_SECONDS", "1"))
BUDGETS = int(os.environ.get("LEDGER_BUDGETS", "10000"))
ONLY = os.environ.get("LEDGER_ONLY", "")
STARTS = max(3, TURNS // 2)
WARM_UP = 0.25
DATABASE = "dp_ledger_bench"
COMMAND = "BENCH_ONLY=ledger make bench"

# one transaction each: the worker sees what is committed
SETUP = [
    "CREATE EXTENSION dp_cdp",
    """CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       at timestamptz NOT NULL DEFAULT now(), who name NOT NULL DEFAULT current_user, what text)""",
    "CREATE TABLE empty (x int)",
    "CREATE ROLE dp_ledger_bench LOGIN",
    """SELECT dp_cdp.create_dataset('bench'),
       dp_cdp.set_budget('bench', current_user::regrole, rho => 1000000),
       dp_cdp.set_budget('bench', 'dp_ledger_bench', rho => 1000000),
       dp_cdp.protect_table('empty', 'bench')""",
    """SELECT count(dp_cdp.create_dataset('d' || i)) FROM generate_series(1, %d) i""" % BUDGETS,
    """SELECT count(dp_cdp.set_budget('d' || i, current_user::regrole, rho => 1000000))
       FROM generate_series(1, %d) i""" % BUDGETS,
    "SELECT dp_cdp.debit('bench', 0.000000000001)",
    "VACUUM (ANALYZE)",
    "CHECKPOINT",
]
SCRIPTS = {
    "insert": "INSERT INTO plain (what) VALUES ('dp_count(*)');",
    "hot": "SELECT dp_cdp.debit('bench', 0.000000000001);",
    "spread": "\\set d random(1, %d)\nSELECT dp_cdp.debit('d' || :d, 0.000000000001);" % BUDGETS,
    "release": "SELECT dp_count(*) FROM empty;",
}

# name, script, clients, target of the ratio to INSERT
RATIOS = [
    ("debit, one budget, 32 clients", "hot", 32, 1.3),
    ("debit, %d budgets, 32 clients" % BUDGETS, "spread", 32, 0.9),
    ("debit, one budget, 1 client", "hot", 1, 0.65),
]


def psql(database, *commands):
    arguments = ["psql", "-Xqt", "-v", "ON_ERROR_STOP=1", "-d", database]
    for command in commands:
        arguments += ["-c", command]
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Bench:
    def __init__(self, directory):
        self.directory = directory
        for name, text in SCRIPTS.items():
            with open(os.path.join(directory, name + ".sql"), "w") as f:
                f.write(text + "\n")

    def pgbench(self, script, clients, protocol="prepared", user=None):
        """Latencies in ms of the transactions after the warm-up, and their number per second."""
        prefix = os.path.join(self.directory, "log")
        done = subprocess.run(
            ["pgbench", "-n", "-M", protocol, "-f", os.path.join(self.directory, script + ".sql"),
             "-c", str(clients), "-j", str(min(clients, 2)), "-T", str(SECONDS),
             "-l", "--log-prefix=" + prefix] + (["-U", user] if user else []) + [DATABASE],
            capture_output=True, text=True)
        rows = []
        for path in glob.glob(prefix + ".*"):
            with open(path) as f:
                for line in f:
                    # client, transaction, latency, script, end: seconds, microseconds
                    field = line.split()
                    rows.append((int(field[4]) + int(field[5]) / 1e6, int(field[2]) / 1e3))
            os.remove(path)
        if done.returncode != 0 or not rows or "aborted" in done.stderr:
            raise RuntimeError("pgbench: " + done.stderr)
        start = min(end - ms / 1e3 for end, ms in rows) + WARM_UP
        span = max(end for end, _ in rows) - start
        times = [ms for end, ms in rows if end >= start]
        return times, len(times) / span


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def spread_of(values):
    return min(values), statistics.median(values), max(values)


HEAD = "%-44s %9s %9s %9s %9s  %-4s  %s" % ("figure", "min", "median", "max", "target", "", "repeat")
MISSED = []


def line(name, values, target=None, most=False):
    """most: the target is an upper limit."""
    least, median, largest = spread_of(values)
    verdict = ""
    if target is not None:
        verdict = "pass" if (median < target if most else median >= target) else "MISS"
    if verdict == "MISS":
        MISSED.append(name)
    print("%-44s %9.3f %9.3f %9.3f %9s  %-4s  %s" % (
        name, least, median, largest,
        "" if target is None else ("< " if most else ">= ") + "%g" % target, verdict, COMMAND), flush=True)


def measure_ratio(bench, name, script, clients, target):
    speeds = {"insert": [], script: []}
    times = {"insert": [], script: []}
    ratios = []
    for turn in range(TURNS + 1):
        now = {}
        for which in (("insert", script), (script, "insert"))[turn % 2]:
            latencies, now[which] = bench.pgbench(which, clients)
            if turn > 0:
                times[which].append(latencies)
                speeds[which].append(now[which])
        if turn > 0:
            ratios.append(now[script] / now["insert"])
    line(name + ": ratio to INSERT", ratios, target)
    line("  debits per second", speeds[script])
    line("  INSERTs per second", speeds["insert"])
    line("  p99 of a debit, ms", [percentile(t, 0.99) for t in times[script]])
    line("  p99 of an INSERT, ms", [percentile(t, 0.99) for t in times["insert"]])


def measure_release(bench, protocol):
    medians, tails = [], []
    for turn in range(TURNS + 1):
        latencies, _ = bench.pgbench("release", 1, protocol, "dp_ledger_bench")
        if turn > 0:
            medians.append(statistics.median(latencies))
            tails.append(percentile(latencies, 0.99))
    line("release of an empty table, %s, ms" % protocol, medians, 1, True)
    line("  p99, ms", tails)


def measure_start():
    """The first debit after the worker has left, in a session that has debited before."""
    session = subprocess.Popen(["psql", "-XqAt", "-d", DATABASE], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
    session.stdin.write("\\timing on\n")
    times = []
    for turn in range(STARTS + 1):
        while turn > 0 and psql("postgres", "SELECT count(*) FROM pg_stat_activity"
                                " WHERE backend_type = 'dp_cdp ledger' AND datname = '%s'" % DATABASE) != "0":
            time.sleep(0.2)
        session.stdin.write(SCRIPTS["hot"] + "\n")
        session.stdin.flush()
        ms = None
        while ms is None:
            text = session.stdout.readline()
            if not text or "ERROR" in text:
                raise RuntimeError("psql: " + text)
            ms = re.match(r"Time: ([0-9.]+) ms", text)
        if turn > 0:
            times.append(float(ms.group(1)))
    session.stdin.close()
    session.wait()
    line("first debit after the worker's idle exit, ms", times, 10, True)


def main():
    psql("postgres", "SET client_min_messages = warning", "DROP DATABASE IF EXISTS " + DATABASE,
         "DROP ROLE IF EXISTS dp_ledger_bench", "CREATE DATABASE " + DATABASE)
    psql(DATABASE, *SETUP)
    print("%d turns of %d s, the first %g s of each dropped; load %.1f\n" %
          (TURNS, SECONDS, WARM_UP, os.getloadavg()[0]))
    print(HEAD)
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory)
        for name, script, clients, target in RATIOS:
            if ONLY in name:
                measure_ratio(bench, name, script, clients, target)
        for protocol in ("simple", "prepared"):
            if ONLY in "release, " + protocol:
                measure_release(bench, protocol)
    if ONLY in "start":
        measure_start()
    psql("postgres", "DROP DATABASE " + DATABASE, "DROP ROLE dp_ledger_bench")
    return 1 if MISSED else 0


if __name__ == "__main__":
    sys.exit(main())
