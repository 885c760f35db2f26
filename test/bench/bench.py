#!/usr/bin/env python3
"""What a private answer costs in time, beside plain SQL on the same rows.

Two sessions stay open: the owner's, which runs the plain queries, and the
analyst's, which holds no SELECT and runs the private one.  They take turns,
in an order that is reversed each time, so that both see the same weather; the
first turn warms caches and is dropped.  A ratio is formed within each turn;
the tables show the least, the median and the largest, and the median decides.

Tables in Markdown go to standard output, progress to standard error.  See
README.md for the variables; data.py makes the tables, figures.py names what
is measured.
"""
import os
import re
import signal
import statistics
import subprocess
import sys
import time

import data
import figures
from data import short
from session import Session

ROWS = int(float(os.environ.get("BENCH_ROWS") or "1e7"))
TURNS = int(os.environ.get("BENCH_TURNS") or "7")
TURNS_ALONE = 3 * TURNS
FEWEST_TURNS = min(3, TURNS)
SECONDS = float(os.environ.get("BENCH_SECONDS") or "30")
ONLY = (os.environ.get("BENCH_ONLY") or "").replace("figures", "")
WORKERS = os.environ.get("BENCH_WORKERS") or ""
PROFILE = os.environ.get("BENCH_PROFILE") or ""
THEN = os.environ.get("BENCH_THEN") or ""       # the commit that the other server has
MOST_OF_THEN = 1.03
MB = 1024.0 * 1024.0


class Measured(Session):
    """What becomes of a statement beyond its time."""

    def __init__(self, user, settings, server=data.SERVERS[0]):
        super().__init__("bench", "-U", user, "-h", server, settings=settings)
        self.log = os.path.join(server, "log")
        self.idle = self.memory("RssAnon")

    def memory(self, name):
        with open("/proc/%d/status" % self.pid) as status:
            return int(re.search(r"^%s:\s+(\d+) kB" % name, status.read(), re.M).group(1)) * 1024

    def cpu(self):
        """Seconds on a processor; without those of workers."""
        with open("/proc/%d/schedstat" % self.pid) as stat:
            return int(stat.read().split()[0]) / 1e9

    def measure(self, sql):
        """Seconds on the clock and on a processor, temporary bytes, and peak memory beyond that of an idle backend.

        Shared memory is touched in the turn that is dropped, so that what is
        shared now was shared at the peak."""
        with open("/proc/%d/clear_refs" % self.pid, "w") as clear:
            clear.write("5\n")     # the peak starts anew
        before, log = self.cpu(), os.path.getsize(self.log)
        ms = self.run(sql)
        cpu = self.cpu() - before
        peak = self.memory("VmHWM") - self.memory("RssShmem") - self.memory("RssFile")
        with open(self.log, errors="replace") as file:
            file.seek(log)
            written = sum(int(n) for n in re.findall(r"LOG:  temporary file: .*, size (\d+)", file.read()))
        return ms / 1000, cpu, written, max(peak - self.idle, 0)


class Result:
    """A line beside one of its plain queries, or itself under other settings or as it was then."""

    def __init__(self, line, rows, beside, turns):
        self.line, self.rows, self.beside, self.turns = line, rows, beside, len(turns)
        self.target = {THEN: MOST_OF_THEN, figures.HARD: figures.MOST_OF_HARD}[beside] if beside in (THEN, figures.HARD) else line.target(beside)
        pairs = [(turn[beside], turn["private"]) for turn in turns]
        self.plain, self.private = (statistics.median(pair[i][0] for pair in pairs) * 1000 for i in (0, 1))
        self.ratios = sorted(b[0] / a[0] for a, b in pairs)
        self.median = statistics.median(self.ratios)
        self.cpu = statistics.median(b[1] / max(a[1], 1e-6) for a, b in pairs)
        self.judged = self.cpu if (line.by_cpu or beside in (THEN, figures.HARD)) and not line.workers else self.median
        self.written = [max(pair[i][2] for pair in pairs) for i in (0, 1)]
        self.peak = [max(pair[i][3] for pair in pairs) for i in (0, 1)]

    def verdict(self):
        if self.target is None:
            return "-", ""
        if self.line.table.rows < self.line.judged or self.rows < 10 ** 6:
            return "%.2f" % self.target, "-"
        return "%.2f" % self.target, "pass" if self.judged <= self.target else "MISS"

    def command(self):
        return "`BENCH_ONLY='%s' BENCH_ROWS=%s BENCH_WORKERS=%d make bench`" % (
            self.line.name, short(self.line.wanted_rows), self.line.workers)


HEAD = ("figure", "beside", "rows", "groups", "units", "workers", "work_mem", "plain ms", "private ms",
        "min", "median", "max", "CPU", "turns", "target", "", "command")


def table_row(result):
    line, table = result.line, result.line.table
    units = short(table.units) + (", " + table.skew if table.skew != "uniform" else "") if line.unit else "rows"
    return (line.name, result.beside, short(result.rows), short(line.groups), units, line.workers, line.work_mem,
            "%.4g" % result.plain, "%.4g" % result.private, "%.2f" % result.ratios[0], "%.2f" % result.median,
            "%.2f" % result.ratios[-1], "-" if line.workers else "%.2f" % result.cpu, result.turns,
            *result.verdict(), result.command())


MEMORY_HEAD = ("figure", "beside", "rows", "units", "work_mem", "plain MB", "private MB", "target", "",
               "plain temp MB", "private temp MB", "ratio", "command")


def memory_row(result, hash_memory):
    """A hash table may have work_mem times the multiplier; plain queries have two of them, or a sort, too."""
    line = result.line
    limit = int(line.work_mem[:-2]) * MB * hash_memory
    a, b = result.peak
    return (line.name, result.beside, short(result.rows), short(line.table.units), line.work_mem, "%.1f" % (a / MB),
            "%.1f" % (b / MB), "%.1f" % (limit / MB), "pass" if b <= limit else "MISS",
            "%.1f" % (result.written[0] / MB), "%.1f" % (result.written[1] / MB),
            "%.2f" % (result.written[1] / result.written[0]) if result.written[0] else "-", result.command())


def markdown(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


# ---------------------------------------------------------------------------
# Measuring
# ---------------------------------------------------------------------------

def profile(session, name, sql):
    """The symbols that most samples of the CPU's clock hit while the query runs again and again."""
    path = os.path.join(os.getcwd(), "perf.data")
    perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o", path, "-p", str(session.pid)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    end, runs = time.time() + 10, 0
    while runs < 3 or time.time() < end:
        session.run(sql)
        runs += 1
    perf.send_signal(signal.SIGINT)
    perf.wait()
    report = subprocess.run(["perf", "report", "--stdio", "-i", path, "--no-children", "--sort", "dso,symbol", "--percent-limit", "1"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    print("\n%s, %d runs: %s" % (name, runs, sql))
    print("\n".join(text for text in report.splitlines() if text.strip() and not text.startswith("#"))
          or "no samples: is perf allowed to (kernel.perf_event_paranoid)?", flush=True)


def measure(line, rows):
    settings = ("max_parallel_workers_per_gather = %d" % line.workers, "work_mem = '%s'" % line.work_mem)
    owner, analyst = Measured("postgres", settings), Measured("analyst", settings + line.settings)
    queries = [(beside, owner, sql) for beside, (sql, _) in line.plain.items()]
    queries += [(beside, Measured("analyst", settings + line.settings + other), line.private) for beside, (other, _) in line.itself.items()]
    if line.unit:
        hard = ("dp_cdp.max_groups = %d" % figures.K, "dp_cdp.max_rows = %d" % figures.M)
        queries.append((figures.HARD, Measured("analyst", settings + line.settings + hard), line.private))
    if THEN and line.unit:
        queries.append((THEN, Measured("analyst", settings + line.settings, data.SERVERS[-1]), line.private))
    queries.append(("private", analyst, line.private))
    try:
        if PROFILE:
            for name, session, sql in queries:
                session.run(sql)
                profile(session, name, sql)
            return []
        turns, begin = [], time.time()
        while len(turns) <= TURNS and (len(turns) <= FEWEST_TURNS or time.time() - begin < SECONDS):
            turns.append({name: session.measure(sql) for name, session, sql in queries})
            queries.reverse()
        # a private query beside itself gets the turns for which the plain one, far slower, has left no time
        alone, begin = [query for query in queries if query[0] not in line.plain], time.time()
        while 1 < len(alone) < len(queries) and len(turns) <= TURNS_ALONE and time.time() - begin < SECONDS:
            turns.append({name: session.measure(sql) for name, session, sql in alone})
            alone.reverse()
    finally:
        for session in dict.fromkeys(session for _, session, _ in [("", owner, "")] + queries):
            session.close()
    return [Result(line, rows, beside, [turn for turn in turns[1:] if beside in turn]) for beside in line.beside() + [figures.HARD, THEN] if beside in turns[0]]


def selected():
    """The lines to measure, those of one table side by side."""
    sizes = [ROWS]
    if os.environ.get("BENCH_SIZES"):
        sizes += [int(float(size)) for size in os.environ["BENCH_SIZES"].split(",")]
    elif not ONLY:
        sizes += [10 ** e for e in range(5, 10) if 10 ** e < ROWS]
    lines = []
    for rows in dict.fromkeys(sizes):
        for line in figures.lines(rows):
            line.wanted_rows = rows
            if (rows == ROWS or line.sweep and not line.workers) and WORKERS in ("", str(line.workers)):
                lines.append(line)
    if any(line.name == ONLY for line in lines):
        lines = [line for line in lines if line.name == ONLY]
    else:
        lines = [line for line in lines if ONLY in line.name]
    tables = list(dict.fromkeys(line.table for line in lines))
    return sorted(lines, key=lambda line: (line.table.rows, tables.index(line.table), line.unit or ""))


def measure_all(lines, results, notes):
    table = unit = None
    made = False
    for line in lines:
        try:
            if line.table != table:
                table, unit, made, begin = line.table, "none yet", False, time.time()
                try:
                    rows = data.make(table)
                    made = True
                    print("%s: made in %.0f s" % (table, time.time() - begin), file=sys.stderr, flush=True)
                except data.Skipped as skipped:
                    names = dict.fromkeys(other.name for other in lines if other.table == table)
                    notes.append("skipped: %s: %s. Without it: %s" % (table, skipped, "; ".join(names)))
            if not made:
                continue
            if line.unit != unit:
                unit = line.unit
                data.protect(table, unit)
            begin = time.time()
            for result in measure(line, rows):
                results.append(result)
                print("  %-45s %-12s workers %d: %6.3f  %5s %s  (%.0f s)" % (
                    line.name, result.beside, line.workers, result.median, *result.verdict(), time.time() - begin),
                    file=sys.stderr, flush=True)
        except RuntimeError as e:
            notes.append("failed: %s, %d workers (%s): %s" % (line.name, line.workers, table, " ".join(str(e).split())))
            print("  " + notes[-1], file=sys.stderr, flush=True)


def report(results, notes, load, seconds):
    hash_memory = float(data.owner_sql("SELECT current_setting('hash_mem_multiplier')", take=True))
    version = data.owner_sql("SELECT current_setting('server_version')", take=True)
    print("PostgreSQL %s, %d cores, load average %.1f before and %.1f after, %.0f minutes until %s" % (
        version.split()[0], os.cpu_count(), load, os.getloadavg()[0], seconds / 60,
        time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())))
    for theme, title in figures.THEMES.items():
        chosen = [r for r in results if r.line.wanted_rows == ROWS and theme in (r.line.theme, r.line.also)]
        if theme == "groups":
            chosen.sort(key=lambda r: (r.line.groups, r.line.workers))
        elif theme == "sweep":
            chosen.sort(key=lambda r: (r.line.table.units, (r.line.beside() + [figures.HARD, THEN]).index(r.beside)))
        elif theme == "sizes":
            chosen = sorted((r for r in results if r.line.sweep and not r.line.workers),
                            key=lambda r: (r.line.name, r.beside, r.rows))
            if len({r.line.wanted_rows for r in chosen}) < 2:
                continue
        if any(r.line.theme == theme or theme == "sizes" for r in chosen):
            print("\n### %s\n" % title)
            markdown(HEAD, [table_row(r) for r in chosen])
    chosen = [r for r in results if r.line.memory and r.line.wanted_rows == ROWS]
    if chosen:
        print("\n### Memory beyond that of an idle backend, and temporary files\n")
        markdown(MEMORY_HEAD, [memory_row(r, hash_memory) for r in chosen])
    judged = [r.verdict()[1] for r in results]
    print("\n%d lines: %d pass, %d miss, %d without a verdict" % (
        len(judged), judged.count("pass"), judged.count("MISS"), len(judged) - judged.count("pass") - judged.count("MISS")))
    for note in notes:
        print("- " + note)
    if ONLY and results:
        print("\nqueries:\n")
        for line in dict.fromkeys(r.line.name for r in results):
            r = next(r for r in results if r.line.name == line)
            print("- %s%s" % (line, "".join("\n  - %s: `%s`" % pair for pair in
                                            [(k, v[0]) for k, v in r.line.plain.items()] + [("private", r.line.private)] +
                                            [(k, "SET " + "; SET ".join(v[0])) for k, v in r.line.itself.items()])))


def main():
    lines = selected()
    if not lines:
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    results, notes, load, begin = [], [], os.getloadavg()[0], time.time()
    data.create_database()
    try:
        measure_all(lines, results, notes)
    finally:
        if not PROFILE or notes:
            report(results, notes, load, time.time() - begin)
    return 1 if any(note.startswith("failed") for note in notes) else 0


if __name__ == "__main__":
    sys.exit(main())
