#!/usr/bin/env python3
"""What the guard costs those who protect nothing, and what planning a release costs.

Two clusters of its own, one with dp_cdp preloaded and installed, one without.
Queries that touch nothing protected run on both:

- in turns (pgbench, the order swapped each time), of which ratios are formed;
- under valgrind, where a backend's instructions are counted: the difference
  between a long and a short run, so that starting up does not count.  That
  number hardly depends on the machine and decides.

Planning of a release is EXPLAIN by the analyst, beside EXPLAIN of the plain
query by the owner; all that the first takes is held against the target.

GUARD_TURNS (5), GUARD_SECONDS (3) and GUARD_PLANS (200) say how long.
"""
import glob
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

from session import Session

TURNS = int(os.environ.get("GUARD_TURNS", "5"))
SECONDS = int(os.environ.get("GUARD_SECONDS", "3"))
PLANS = int(os.environ.get("GUARD_PLANS", "200"))
CLIENTS = max(1, (os.cpu_count() or 2) // 2)
TARGET = 1.005
TABLES = 10
HOME = os.getcwd()
PORTS = {"without": 5501, "with": 5502}
CONF = """
shared_buffers = 256MB
autovacuum = off
fsync = off
jit = off
listen_addresses = ''
unix_socket_directories = '%s'
timezone = 'UTC'
lc_messages = 'C'
"""

JOIN = ("SELECT count(*) FROM " + ", ".join("j%d" % i for i in range(TABLES)) + " WHERE " +
        " AND ".join("j%d.r = j%d.id" % (i - 1, i) for i in range(1, TABLES)))

# name, pgbench's options, transactions of a short and of a long run under valgrind
WORKLOADS = [
    ("select, simple protocol", ["-S", "-M", "simple"], 200, 1200),
    ("select, prepared", ["-S", "-M", "prepared"], 200, 1200),
    ("EXPLAIN, %d tables" % TABLES, ["-f", os.path.join(HOME, "explain.sql")], 5, 25),
]


def quietly(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(" ".join(command) + "\n" + done.stdout)
    return done.stdout


def data(which):
    return os.path.join(HOME, "guard_" + which)


def sql(which, *commands):
    arguments = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", HOME,
                 "-p", str(PORTS[which]), "-d", "postgres"]
    for command in commands:
        arguments += ["-c", command]
    return quietly(arguments)


def start(which):
    quietly(["pg_ctl", "-s", "-w", "-D", data(which), "-l", data(which) + ".log",
             "-o", "-c port=%d" % PORTS[which], "start"], stdin=subprocess.DEVNULL)


def stop(which):
    subprocess.run(["pg_ctl", "-s", "-w", "-m", "fast", "-D", data(which), "stop"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pgbench(which, options):
    return quietly(["pgbench", "-n", "-h", HOME, "-p", str(PORTS[which]), *options, "postgres"])


def create(which):
    quietly(["initdb", "-D", data(which), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"])
    with open(os.path.join(data(which), "postgresql.conf"), "a") as conf:
        conf.write(CONF % HOME)
        if which == "with":
            conf.write("shared_preload_libraries = 'dp_cdp'\n")
    start(which)
    quietly(["pgbench", "-i", "-q", "-s", "5", "-h", HOME, "-p", str(PORTS[which]), "postgres"])
    for i in range(TABLES):
        sql(which, "CREATE TABLE j%d AS SELECT i AS id, i %% 1000 AS r, i %% 10 AS x FROM generate_series(1, 1000) i" % i,
            "ALTER TABLE j%d ADD PRIMARY KEY (id)" % i)
    if which == "with":
        sql(which, "CREATE EXTENSION dp_cdp", "CREATE ROLE analyst LOGIN",
            "CREATE TABLE p AS SELECT i AS id, i AS unit, i % 1000 AS r, i % 10 AS x FROM generate_series(1, 1000) i",
            "SELECT dp_cdp.create_dataset('bench', delta => 0.1), dp_cdp.set_budget('bench', 'analyst', rho => 1000)",
            "SELECT dp_cdp.protect_table('p', 'bench', unit => 'unit')",
            "GRANT SELECT ON %s TO analyst" % ", ".join("j%d" % i for i in range(TABLES)))
    sql(which, "VACUUM (FREEZE, ANALYZE)", "CHECKPOINT")


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def markdown(*head):
    row(*head)
    print("|" + "---|" * len(head))


# ---------------------------------------------------------------------------
# Turns
# ---------------------------------------------------------------------------

def tps(which, options):
    out = pgbench(which, options + ["-T", str(SECONDS), "-c", str(CLIENTS), "-j", str(CLIENTS)])
    return float(re.search(r"^tps = ([0-9.]+)", out, re.M).group(1))


def turns():
    print("\n### The guard: time, %d turns of %d s, %d client(s); says nothing about one percent\n" % (TURNS, SECONDS, CLIENTS))
    markdown("query", "without /s", "with /s", "min", "median", "max")
    for name, options, *_ in WORKLOADS:
        speeds = {"without": [], "with": []}
        for turn in range(TURNS + 1):
            for which in (("without", "with"), ("with", "without"))[turn % 2]:
                speed = tps(which, options)
                if turn > 0:
                    speeds[which].append(speed)
        ratios = [a / b for a, b in zip(speeds["without"], speeds["with"])]
        row(name, "%.0f" % statistics.median(speeds["without"]), "%.0f" % statistics.median(speeds["with"]),
            "%.3f" % min(ratios), "%.3f" % statistics.median(ratios), "%.3f" % max(ratios))


# ---------------------------------------------------------------------------
# Instructions
# ---------------------------------------------------------------------------

def total(path):
    with open(path) as f:
        return max(int(n) for n in re.findall(r"^(?:totals|summary): (\d+)", f.read(), re.M))


def counted(which, options, transactions):
    """Instructions of the backend that did the most, of those that ended meanwhile."""
    before = set(glob.glob(os.path.join(HOME, "callgrind.*")))
    pgbench(which, options + ["-t", str(transactions), "-c", "1", "--random-seed=1"])
    for _ in range(600):
        # the file of a backend is written after its client has gone
        active = sql(which, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'").strip()
        if active == "0":
            break
        time.sleep(0.1)
    time.sleep(1)
    after = set(glob.glob(os.path.join(HOME, "callgrind.*")))
    return max(total(path) for path in after - before)


def instructions():
    """Are instructions per query within the target?  Skipped without valgrind."""
    if shutil.which("valgrind") is None:
        print("\ninstructions: skipped, valgrind is not installed")
        return True
    per_query = {}
    for which in PORTS:
        stop(which)
        with open(data(which) + ".valgrind.log", "w") as log:
            server = subprocess.Popen(
                ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(HOME, "callgrind.%p"),
                 shutil.which("postgres"), "-D", data(which), "-c", "port=%d" % PORTS[which]],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            for _ in range(120):
                if subprocess.run(["pg_isready", "-q", "-h", HOME, "-p", str(PORTS[which])]).returncode == 0:
                    break
                time.sleep(0.5)
            for name, options, short, long in WORKLOADS:
                # waiting for the client sometimes takes a few instructions more
                per_query[name, which] = (min(counted(which, options, long) for _ in range(3)) -
                                          min(counted(which, options, short) for _ in range(3))) / (long - short)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
            start(which)
    print("\n### The guard: instructions of the backend per query that touches nothing protected (callgrind)\n")
    markdown("query", "without", "with", "ratio", "target", "")
    for name, *_ in WORKLOADS:
        ratio = per_query[name, "with"] / per_query[name, "without"]
        row(name, "%.0f" % per_query[name, "without"], "%.0f" % per_query[name, "with"], "%.4f" % ratio,
            "%.3f" % TARGET, "pass" if ratio <= TARGET else "MISS")


# ---------------------------------------------------------------------------
# Planning of releases
# ---------------------------------------------------------------------------

def many(aggregate, n):
    return "SELECT %s FROM p" % ", ".join(aggregate.replace("#", str(i)) for i in range(n))


def release_planning():
    plain = "SELECT count(*) FROM p WHERE x < 5"
    joined = JOIN.replace("j0.", "p.").replace("j0,", "p,")
    cases = [("1 table", plain, plain.replace("count(*)", "dp_count(*)"), 1.0),
             ("%d tables" % TABLES, joined, joined.replace("count(*)", "dp_count(*)"), 2.0),
             ("8 averages", many("avg(x + #)", 8), many("dp_avg(x + #, 0, 10)", 8), 1.0),
             ("60 sums", many("sum(x + #)", 60), many("dp_sum(x + #, 0, 10)", 60), 6.0)]
    print("\n### Planning of a release: %d times EXPLAIN by analyst and owner in turn, medians in ms\n" % PLANS)
    markdown("query", "plain", "private", "min", "ratio", "max", "more", "target", "")
    for name, query, private, target in cases:
        owner, analyst = (Session("postgres", "-h", HOME, "-p", str(PORTS["with"]), "-U", user) for user in ("postgres", "analyst"))
        times = []
        try:
            for _ in range(PLANS + 1):
                times.append((owner.run("EXPLAIN " + query), analyst.run("EXPLAIN " + private)))
        except RuntimeError as e:
            if "ZC002" not in str(e):
                raise
            row(name, "skipped: " + str(e).strip().splitlines()[0])
            continue
        a = statistics.median(t for t, _ in times[1:])
        b = statistics.median(t for _, t in times[1:])
        more = statistics.median(y - x for x, y in times[1:])
        ratios = [y / x for x, y in times[1:]]
        row(name, "%.2f" % a, "%.2f" % b, "%.2f" % min(ratios), "%.2f" % statistics.median(ratios), "%.2f" % max(ratios),
            "%.2f" % more, "%.1f" % target, "pass" if b < target else "MISS")
        for session in (owner, analyst):
            session.close()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    os.environ["PGUSER"] = "postgres"
    with open(WORKLOADS[-1][1][1], "w") as script:
        script.write("EXPLAIN " + JOIN + ";\n")
    try:
        for which in PORTS:
            create(which)
        turns()
        instructions()
        release_planning()
    finally:
        for which in PORTS:
            stop(which)


if __name__ == "__main__":
    main()
