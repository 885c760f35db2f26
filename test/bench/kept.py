#!/usr/bin/env python3
"""What it takes to give a kept answer again, and to look for one that is not there.

The server is named by PGHOST and so on; superuser.  Round trips are pgbench's, one client's, on the same machine: its log
of each transaction.  Lines take turns with what they stand beside, in an order that is reversed from turn to turn.  Time on a
processor is the backend's (/proc/PID/schedstat), which other programs disturb less.

A lookup is measured by EXPLAIN, which looks for what is kept and buys nothing: with dp_cdp.reuse on and off, beside a
release with dp_cdp.reuse off.  What keeping an answer costs on top (a second write to disk by the worker, no processor of
the backend's) is a line of its own.

KEPT_TURNS (7), KEPT_SECONDS (2) and KEPT_ROWS (1e5, of the table that is counted) say how much.
"""
import glob
import os
import statistics
import subprocess
import sys
import tempfile

from session import Session

TURNS = int(os.environ.get("KEPT_TURNS") or 7)
SECONDS = int(os.environ.get("KEPT_SECONDS") or 2)
ROWS = int(float(os.environ.get("KEPT_ROWS") or 1e5))
MANY = 100000
DATABASE = "kept"
FEW_MS, MANY_RATIO, LOOKUP_PERCENT = 0.3, 1.5, 2

SETUP = f"""
CREATE EXTENSION dp_cdp;
CREATE ROLE kept_analyst LOGIN;
CREATE TABLE few (k int NOT NULL, x int);
INSERT INTO few SELECT i % 10, i % 100 FROM generate_series(1, {ROWS}) i;
CREATE TABLE many (k int NOT NULL, x int);
INSERT INTO many SELECT i % {MANY}, i % 100 FROM generate_series(1, {ROWS}) i;
CREATE TABLE plain AS SELECT i AS k, i::bigint AS n FROM generate_series(0, {MANY} - 1) i;
GRANT SELECT ON plain TO kept_analyst;
SELECT dp_cdp.create_dataset('kept', default_rho => 1e-6, reuse => '1 day');
SELECT dp_cdp.protect_table(t, 'kept', each_row => true) FROM unnest('{{few,many}}'::regclass[]) t;
SELECT dp_cdp.set_keys('few', 'k', (SELECT array_agg(i) FROM generate_series(0, 9) i));
SELECT dp_cdp.set_keys('many', 'k', (SELECT array_agg(i) FROM generate_series(0, {MANY} - 1) i));
SELECT dp_cdp.set_budget('kept', 'kept_analyst', rho => 1e6);
VACUUM (ANALYZE);
"""
EMPTY = "SELECT"
FEW = "SELECT k, count(*) AS n FROM few GROUP BY k"
ALL = "SELECT k, count(*) AS n FROM many GROUP BY k"
PLAIN = "SELECT k, n FROM plain"


def psql(sql, database=DATABASE):
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"], input=sql, text=True,
                   stdout=subprocess.DEVNULL, check=True)


def round_trips(sql, mode):
    """Milliseconds of each execution by pgbench, without the first ones."""
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as room:
        with open(os.path.join(room, "script"), "w", encoding="utf-8") as script:
            script.write(sql + ";\n")
        subprocess.run(["pgbench", "-n", "-U", "kept_analyst", "-M", mode, "-c", "1", "-T", str(SECONDS), "-l",
                        "--log-prefix", os.path.join(room, "log"), "-f", script.name, DATABASE],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(glob.glob(os.path.join(room, "log.*"))[0], encoding="utf-8") as log:
            times = [int(line.split()[2]) / 1000 for line in log]
    return times[min(len(times) // 4, 10):]


class Backend(Session):
    opened = []

    def __init__(self, *settings):
        super().__init__(DATABASE, "-U", "kept_analyst", settings=settings)
        self.opened.append(self)

    def cpu(self):
        with open(f"/proc/{self.pid}/schedstat", encoding="ascii") as stat:
            return int(stat.read().split()[0]) / 1e6

    def each(self, statements):
        """Milliseconds on a processor of each of the statements, on average."""
        before = self.cpu()
        self.answer(";\n".join(statements))
        return (self.cpu() - before) / len(statements)


def spread(values):
    return "{:.3f} | {:.3f} | {:.3f}".format(min(values), statistics.median(values), max(values))


def verdict(value, target):
    return f"{target} | {'pass' if value <= target else 'MISS'}"


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def title(*cells):
    line(*cells)
    line(*["---"] * len(cells))


def in_turns(measures):
    """What each of the measures returns, by turn; the first turn is dropped."""
    results = {name: [] for name in measures}
    for turn in range(TURNS + 1):
        for name in list(measures) if turn % 2 else reversed(list(measures)):
            results[name].append(measures[name]())
    return {name: values[1:] for name, values in results.items()}


def cpu_of(sql, mode, times):
    """A function that returns milliseconds on a processor of an execution, in a session of its own."""
    backend = Backend()
    if mode == "prepared":
        backend.answer("PREPARE q AS " + sql)
        sql = "EXECUTE q"
    return lambda: backend.each([sql] * times)


def few_groups(mode):
    clock = in_turns({sql: lambda sql=sql: statistics.median(round_trips(sql, mode)) for sql in (EMPTY, FEW)})
    cpu = in_turns({sql: cpu_of(sql, mode, 500) for sql in (EMPTY, FEW)})
    line("10 groups", mode, f"{statistics.median(clock[EMPTY]):.3f}", spread(clock[FEW]), verdict(statistics.median(clock[FEW]), FEW_MS),
         "{:.3f}".format(statistics.median(cpu[EMPTY])), "{:.3f}".format(statistics.median(cpu[FEW])))


def many_groups(mode):
    clock = in_turns({sql: lambda sql=sql: statistics.median(round_trips(sql, mode)) for sql in (PLAIN, ALL)})
    cpu = in_turns({sql: cpu_of(sql, mode, 10) for sql in (PLAIN, ALL)})
    ratios = [b / a for a, b in zip(cpu[PLAIN], cpu[ALL])]
    by_clock = statistics.median(b / a for a, b in zip(clock[PLAIN], clock[ALL]))
    line(f"{MANY} groups", mode, f"{statistics.median(cpu[PLAIN]):.1f}", f"{statistics.median(cpu[ALL]):.1f}", f"{by_clock:.2f}",
         spread(ratios), verdict(statistics.median(ratios), MANY_RATIO))


def lookup():
    """Each statement asks another question: none is kept."""
    number = iter(range(10 ** 9))
    reuse = {name: Backend(f"dp_cdp.reuse = {name}") for name in ("on", "off")}

    def asked(prefix):
        return [f"{prefix} SELECT k, count(*) AS n FROM few WHERE x <> {1000 + next(number)} GROUP BY k" for _ in range(100)]

    cpu = in_turns({
        "looks": lambda: reuse["on"].each(asked("EXPLAIN")),
        "does not": lambda: reuse["off"].each(asked("EXPLAIN")),
        "release": lambda: reuse["off"].each(asked("")),
        "kept": lambda: reuse["on"].each(asked("")),
    })
    more = [a - b for a, b in zip(cpu["looks"], cpu["does not"])]
    release = statistics.median(cpu["release"])
    percent = 100 * statistics.median(more) / release
    line("lookup that finds nothing", f"{release:.3f}", f"{statistics.median(more):.3f}", f"{percent:.1f} %", f"{LOOKUP_PERCENT} %",
         "pass" if percent < LOOKUP_PERCENT else "MISS")
    kept = statistics.median(cpu["kept"]) - release
    line("the same, and the answer is kept", f"{release:.3f}", f"{kept:.3f}", f"{100 * kept / release:.1f} %", "", "")


def main():
    psql(f"CREATE DATABASE {DATABASE}", "postgres")
    psql(SETUP)
    backend = Backend()
    backend.answer(FEW)
    backend.answer(ALL)
    print(f"A kept answer, given again: a round trip in milliseconds (least, median and largest of the medians of {TURNS} turns; "
          f"load average {os.getloadavg()[0]:.1f}), and milliseconds on a processor.\n")
    title("kept answer", "statement", "empty SELECT", "least", "median", "largest", "target", "", "CPU of the empty SELECT", "CPU")
    for mode in ("prepared", "simple"):
        few_groups(mode)
    print("\nBeside SELECT of as many rows of a table, milliseconds on a processor, and ratios of it.\n")
    title("kept answer", "statement", "plain", "kept", "ratio by clock", "least", "median", "largest", "target", "")
    for mode in ("prepared", "simple"):
        many_groups(mode)
    print(f"\nBeside a release of {ROWS:,} rows by 10 groups that looks for nothing, milliseconds on a processor.\n")
    title("", "release", "more", "in percent", "target", "")
    lookup()
    print(f"\nload average {os.getloadavg()[0]:.1f} at the end", file=sys.stderr)
    for backend in Backend.opened:
        backend.close()
    psql(f"DROP DATABASE {DATABASE};", "postgres")
    psql("DROP ROLE kept_analyst", "postgres")


if __name__ == "__main__":
    main()
