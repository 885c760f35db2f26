#!/usr/bin/env python3
"""What a debit costs beside a commit, and what a release costs that reads nothing.

The server is named by PGHOST and so on; superuser.  The floor is commits of a
single-row INSERT by as many clients.  Floor and debit take turns,
the order swapped each turn; times come from pgbench's log of each transaction,
of which the first part is dropped, until each session has had an answer:
connections, caches, the worker's start.  A
ratio is formed within each turn, and the medians are held against the targets.

Whoever else computes on the machine makes each step of a debit wait for a
processor.  So only that half of the turns counts in which others computed
least; how much they did is printed (share of all processors, user time).

LEDGER_TURNS (15) and LEDGER_SECONDS (2) say how long, LEDGER_BUDGETS (10000)
over how many budgets debits are spread, LEDGER_ONLY names a part of a figure.
"""
import glob
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time

TURNS = int(os.environ.get("LEDGER_TURNS", "15"))
SECONDS = int(os.environ.get("LEDGER_SECONDS", "2"))
BUDGETS = int(os.environ.get("LEDGER_BUDGETS", "10000"))
ONLY = os.environ.get("LEDGER_ONLY", "")
STARTS = max(3, TURNS // 2)
WARM_UP = 0.25
DATABASE = "dp_ledger_bench"

# one transaction each: the worker sees what is committed
SETUP = [
    "CREATE EXTENSION dp_cdp",
    """CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       at timestamptz NOT NULL DEFAULT now(), who name NOT NULL DEFAULT current_user, what text)""",
    "CREATE TABLE empty (x int)",
    "CREATE TABLE tiny AS SELECT i AS person, i % 10 AS k FROM generate_series(1, 100) i",
    "CREATE ROLE dp_ledger_bench LOGIN",
    """SELECT dp_cdp.create_dataset('bench'),
       dp_cdp.set_budget('bench', current_user::regrole, rho => 1000000),
       dp_cdp.set_budget('bench', 'dp_ledger_bench', rho => 1000000),
       dp_cdp.protect_table('empty', 'bench', each_row => true),
       dp_cdp.protect_table('tiny', 'bench', unit => 'person'),
       dp_cdp.set_keys('tiny', 'k', ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])""",
    """SELECT count(dp_cdp.create_dataset('d' || i)) FROM generate_series(1, %d) i""" % BUDGETS,
    """SELECT count(dp_cdp.set_budget('d' || i, current_user::regrole, rho => 1000000))
       FROM generate_series(1, %d) i""" % BUDGETS,
    "SELECT dp_cdp.debit_budget('bench', 0.000000000001)",
    "VACUUM (ANALYZE)",
    "CHECKPOINT",
]
SCRIPTS = {
    "insert": "INSERT INTO plain (what) VALUES ('dp_count(*)');",
    "hot": "SELECT dp_cdp.debit_budget('bench', 0.000000000001);",
    "spread": "\\set d random(1, %d)\nSELECT dp_cdp.debit_budget('d' || :d, 0.000000000001);" % BUDGETS,
    "release": "SELECT dp_count(*) FROM empty;",
    "keys": "SELECT k, dp_count(*) FROM tiny GROUP BY k;",
}

ANALYST = "dp_ledger_bench"

# name, script, its user, clients, target of the ratio to INSERT
RATIOS = [
    ("debit, one budget, 32 clients", "hot", None, 32, 1.3),
    ("debit, %d budgets, 32 clients" % BUDGETS, "spread", None, 32, 0.9),
    ("debit, one budget, 1 client", "hot", None, 1, 0.65),
    ("release of an empty table, 1 client", "release", ANALYST, 1, 0.7),
    ("release of an empty table, 32 clients", "release", ANALYST, 32, 0.8),
    ("release by 10 keys, 1 client", "keys", ANALYST, 1, 0.6),
    ("release by 10 keys, 32 clients", "keys", ANALYST, 32, 0.6),
]


def psql(database, *commands):
    arguments = ["psql", "-Xqt", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", "SET client_min_messages = error"]
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
                    rows.append((int(field[4]) + int(field[5]) / 1e6, int(field[2]) / 1e3, field[0]))
            os.remove(path)
        if done.returncode != 0 or not rows or "aborted" in done.stderr:
            raise RuntimeError("pgbench: " + done.stderr)
        # each session loads what it needs in its first transaction
        first = {}
        for end, _, client in rows:
            first[client] = min(end, first.get(client, end))
        start = max(first.values()) + WARM_UP
        span = max(end for end, _, _ in rows) - start
        times = [ms for end, ms, _ in rows if end >= start]
        if span < SECONDS / 4:
            raise RuntimeError("the sessions took too long to begin: set LEDGER_SECONDS to more than %d" % SECONDS)
        return times, len(times) / span


class Others:
    """How much processor time others use than the server and pgbench; None where /proc does not say."""

    def __init__(self):
        self.postmaster = None
        try:
            with open(os.path.join(psql("postgres", "SHOW data_directory"), "postmaster.pid")) as f:
                self.postmaster = int(f.readline())
            self.start()
        except (OSError, ValueError, IndexError):
            self.postmaster = None

    def now(self):
        """User time of all, and of ours, in ticks."""
        def times(pid, fields):
            with open("/proc/%d/stat" % pid) as f:
                field = f.read().rsplit(")", 1)[1].split()
            return sum(int(field[i]) for i in fields)

        with open("/proc/stat") as f:
            field = f.readline().split()
        ours = times(self.postmaster, (11, 13))         # its own, and of children that have ended
        with open("/proc/%d/task/%d/children" % (self.postmaster, self.postmaster)) as f:
            children = f.read().split()
        for pid in children:
            try:
                ours += times(int(pid), (11,))
            except OSError:
                pass
        usage = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime + resource.getrusage(resource.RUSAGE_SELF).ru_utime
        return int(field[1]) + int(field[2]), ours + usage * os.sysconf("SC_CLK_TCK")

    def start(self):
        if self.postmaster:
            self.since = time.monotonic(), self.now()

    def share(self):
        """Since start, of all processors."""
        if not self.postmaster:
            return 0
        at, (all_then, ours_then) = self.since
        all_now, ours_now = self.now()
        ticks = (time.monotonic() - at) * os.sysconf("SC_CLK_TCK") * os.cpu_count()
        return max(0, (all_now - all_then) - (ours_now - ours_then)) / ticks


def quiet_half(turns, shares):
    """The turns with the smallest shares."""
    order = sorted(range(len(turns)), key=lambda i: shares[i])
    return [turns[i] for i in sorted(order[:(len(turns) + 1) // 2])]


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


ROW = "| %s | %s | %s | %s | %s | %s |"


def figure(value):
    return "%.*f" % (0 if value >= 100 else 1 if value >= 10 else 3, value)


def line(name, values, target=None, most=False):
    """most: the target is an upper limit."""
    median = statistics.median(values)
    verdict = ""
    if target is not None:
        verdict = "pass" if (median < target if most else median >= target) else "MISS"
    print(ROW % (name, figure(min(values)), figure(median), figure(max(values)),
                 "" if target is None else ("less than " if most else "at least ") + "%g" % target, verdict), flush=True)


def keep_worker():
    """A session that debits once a second, so that the worker stays during the turns of INSERT."""
    session = subprocess.Popen(["psql", "-Xqt", "-d", DATABASE], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    session.stdin.write(SCRIPTS["hot"].rstrip(";") + "\n\\watch 1\n")
    session.stdin.flush()
    return session


def measure_ratio(bench, others, name, script, user, clients, target):
    turns, shares = [], []
    for turn in range(TURNS + 1):
        now = {}
        others.start()
        for which in (("insert", script), (script, "insert"))[turn % 2]:
            times, speed = bench.pgbench(which, clients, user=None if which == "insert" else user)
            now[which] = speed, percentile(times, 0.99)
        if turn > 0:
            turns.append((now[script], now["insert"]))
            shares.append(others.share())
    turns = quiet_half(turns, shares)
    line(name + ": ratio to INSERT", [debit[0] / insert[0] for debit, insert in turns], target)
    what = "debit" if user is None else "release"
    line(what + "s per second", [debit[0] for debit, _ in turns])
    line("INSERTs per second", [insert[0] for _, insert in turns])
    line("p99 of a %s, ms" % what, [debit[1] for debit, _ in turns])
    line("p99 of an INSERT, ms", [insert[1] for _, insert in turns])
    line("share of processors that others used", quiet_half(shares, shares))


def measure_release(bench, others, protocol):
    turns, shares = [], []
    for turn in range(TURNS + 1):
        others.start()
        times, _ = bench.pgbench("release", 1, protocol, ANALYST)
        if turn > 0:
            turns.append((statistics.median(times), percentile(times, 0.99)))
            shares.append(others.share())
    turns = quiet_half(turns, shares)
    line("release of an empty table, %s, ms" % protocol, [median for median, _ in turns], 1, True)
    line("p99, ms", [tail for _, tail in turns])
    line("share of processors that others used", quiet_half(shares, shares))


def measure_start():
    """The first debit after the worker has left, in a session that has debited before."""
    psql("postgres", "ALTER SYSTEM SET dp_cdp.worker_idle_timeout = '1s'", "SELECT pg_reload_conf()")
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
    psql("postgres", "ALTER SYSTEM RESET dp_cdp.worker_idle_timeout", "SELECT pg_reload_conf()")
    line("first debit after the worker's idle exit, ms", times, 10, True)


def main():
    psql("postgres", "DROP DATABASE IF EXISTS " + DATABASE,
         "DROP ROLE IF EXISTS dp_ledger_bench", "CREATE DATABASE " + DATABASE)
    psql(DATABASE, *SETUP)
    print("### The ledger: the quieter half of %d turns of %d s, dropped until %g s after each session had an answer; load %.1f\n" %
          (TURNS, SECONDS, WARM_UP, os.getloadavg()[0]))
    print("One line: `LEDGER_ONLY=\'one budget, 32\' BENCH_ONLY=ledger make bench`\n")
    print(ROW % ("figure", "min", "median", "max", "target", ""))
    print(ROW % (("---",) * 6))
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory)
        others = Others()
        keeper = keep_worker()
        try:
            for figure_of in RATIOS:
                if ONLY in figure_of[0]:
                    measure_ratio(bench, others, *figure_of)
            for protocol in ("simple", "prepared"):
                if ONLY in "release, " + protocol:
                    measure_release(bench, others, protocol)
        finally:
            keeper.kill()
            keeper.wait()
    if ONLY in "start":
        measure_start()
    psql("postgres", "DROP DATABASE " + DATABASE, "DROP ROLE dp_ledger_bench")


if __name__ == "__main__":
    main()
