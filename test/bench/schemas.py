#!/usr/bin/env python3
"""Whole schemas and the queries that are asked of them, as written.

Each directory beside this file that has make.sql, protect.sql and queries.sql is one: make.sql makes the tables at
psql's variable scale, protect.sql protects what is people's (dataset bench, role analyst), and queries.sql has blocks

    @@ NAME KIND

followed by a query; KIND is A (is to be answered), T (the same, but its groups are those that enough people share, or that can
occur, and not all that plain SQL has), R (names single persons: is to be refused), P (reads no person) or E (either).  The owner asks each query plainly, the analyst privately: is it answered, with the same rows but for noise, and how
much longer does it take, with 0 workers and with 2?  What differs is explained by asking again (differences.py).

A query that takes the owner more than two minutes is measured privately alone: its line says what the plain one exceeds, and it has no ratio.

SCHEMA_SCALE (1), SCHEMA_TURNS (5) and SCHEMA_SECONDS (20, after which a query gets no more than 3 turns) say how much.
"""
import math
import os
import re
import statistics
import subprocess
import sys
import time

import differences
from session import Session

HERE = os.path.dirname(os.path.abspath(__file__))
SCALE = os.environ.get("SCHEMA_SCALE", "1")
TURNS = int(os.environ.get("SCHEMA_TURNS", "5"))
SECONDS = float(os.environ.get("SCHEMA_SECONDS", "20"))
WORKERS = (0, 2)
MEAN, MOST = 1.15, 1.5
PLAIN_LIMIT, NO_RATIO = 120, "plainly past its limit"
COLUMNS = ("plain ms", "private ms", "min", "median", "max", "turns")
WANTED = {"A": "answered", "T": "answered", "R": "refused", "P": "answered"}


def psql(database, *arguments, role=None):
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-d", database, *arguments]
    if role:
        command[1:1] = ["-U", role]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode == 0, done.stdout, done.stderr


def must(database, *arguments):
    good, out, err = psql(database, *arguments)
    if not good:
        raise RuntimeError(err)
    return out


def queries(schema):
    with open(os.path.join(HERE, schema, "queries.sql"), encoding="utf-8") as file:
        return re.findall(r"^@@ (\S+) ([ATREP])\n(.*?)(?=^@@ |\Z)", file.read(), re.S | re.M)


def make(schema):
    started = time.time()
    must("postgres", "-c", f"CREATE DATABASE {schema}")
    must(schema, "-v", f"scale={SCALE}", "-f", os.path.join(HERE, schema, "make.sql"))
    must(schema, "-c", "CREATE EXTENSION dp_cdp")
    if must("postgres", "-c", "SELECT count(*) FROM pg_roles WHERE rolname = 'analyst'").strip() == "0":
        must("postgres", "-c", "CREATE ROLE analyst LOGIN")
    must(schema, "-f", os.path.join(HERE, schema, "protect.sql"))
    print(f"{schema} at scale {SCALE}: made in {time.time() - started:.0f} s", file=sys.stderr, flush=True)


def rows_of(text):
    return text.split("\n")[:-1] if text else []


def is_number(cell):
    return re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", cell) is not None


def same_rows(plain, private):
    """Has each column the same values, or, where they are noisy, about the same sum?"""
    for a, b in zip(*(zip(*([cell.strip() for cell in row.split("|")] for row in rows)) for rows in (plain, private))):
        if sorted(a) == sorted(b):
            continue
        if not all(map(is_number, a + b)) or not math.isclose(sum(map(float, a)), sum(map(float, b)), rel_tol=0.02, abs_tol=2):
            return False
    return True


def explained(schema, query, plain, private):
    """Is the difference noise, or groups that are declared or shared by too few, and in which words?"""
    answers = [private]
    for _ in range(differences.TIMES - 1):
        good, out, err = psql(schema, "-c", query, "-c", "SELECT max(delta) > 0 FROM dp_cdp.last_release()", role="analyst")
        if not good:
            raise RuntimeError(err)
        *rows, has_delta = rows_of(out)
        answers.append(rows)
    return differences.explain(plain, answers, has_delta == "t")


def verdict(schema, query, explain=False):
    """Whether a query is answered or refused, what is to be said of that, and whether its rows are as they should be."""
    good, private, err = psql(schema, "-c", query, role="analyst")
    if not good:
        state = re.search(r"ERROR:  (\w{5}):", err)
        if state is None or not state[1].startswith("ZC"):
            return "ERROR: " + err.split("\n")[0], err, False
        return "refused", err.split("\n")[0], True
    good, plain, err = psql(schema, "-c", f"SET statement_timeout = '{PLAIN_LIMIT}s'", "-c", query)
    if not good:
        if "57014" in err:
            return "answered", f"{NO_RATIO} of {PLAIN_LIMIT} s", True
        raise RuntimeError(err)
    plain, private = rows_of(plain), rows_of(private)
    if len(plain) == len(private) and same_rows(plain, private):
        return "answered", "", True
    remark = "values differ" if len(plain) == len(private) else f"{len(private)} rows, plainly {len(plain)}"
    if not explain:
        return "answered", remark, False
    good, why = explained(schema, query, plain, private)
    return "answered", f"{remark}: {why}", good


def measure(schema, query, workers):
    """Cells of a line: milliseconds plainly and privately, the least, median and largest ratio of turns in either order, turns."""
    settings = (f"max_parallel_workers_per_gather = {workers}", "statement_timeout = '10min'")
    both = [Session(schema, settings=settings), Session(schema, "-U", "analyst", settings=settings)]
    times, began = [], time.time()
    for turn in range(TURNS + 1):
        one = {}
        for i in ((0, 1) if turn % 2 else (1, 0)):
            one[i] = both[i].run(query)
        if turn > 0:
            times.append(one)
        if len(times) >= 3 and time.time() - began > SECONDS:
            break
    for session in both:
        session.close()
    plain, private = (statistics.median(t[i] for t in times) for i in (0, 1))
    ratios = sorted(t[1] / t[0] for t in times)
    cells = [f"{plain:.4g}", f"{private:.4g}", *[f"{r:.2f}" for r in (ratios[0], statistics.median(ratios), ratios[-1])], str(len(ratios))]
    return cells, statistics.median(ratios)


def measure_alone(schema, query, workers):
    """The same of a query that takes the owner too long: it is asked privately, once."""
    session = Session(schema, "-U", "analyst", settings=(f"max_parallel_workers_per_gather = {workers}", "statement_timeout = '10min'"))
    private = session.run(query)
    session.close()
    return [f"over {PLAIN_LIMIT * 1000}", f"{private:.4g}", "-", "-", "-", "1"], None


def table(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def report(schema):
    make(schema)
    print(f"\n### {schema} at scale {SCALE}, private beside plain\n")
    table(["query", "kind", "verdict", *[f"{what}, {w} workers" for w in WORKERS for what in COLUMNS], "remark"])
    table(["---"] * (4 + len(COLUMNS) * len(WORKERS)))
    ratios, right, wanted = {w: [] for w in WORKERS}, 0, 0
    for name, kind, query in queries(schema):
        query = query.strip()
        is_so, remark, is_right = verdict(schema, query, explain=True)
        cells = []
        for workers in WORKERS:
            if is_so != "answered" or kind == "P":
                cells += ["-"] * len(COLUMNS)
                continue
            more, ratio = (measure_alone if remark.startswith(NO_RATIO) else measure)(schema, query, workers)
            cells += more
            if ratio is not None:
                ratios[workers].append(ratio)
        if kind in WANTED:
            wanted += 1
            right += is_so == WANTED[kind] and (kind == "T" or is_right)
        print(f"  {name} ({kind}): {is_so} {cells} {remark}", file=sys.stderr, flush=True)
        table([name, kind, is_so, *cells, remark.replace("|", "/")])
    print(f"\n{right} of {wanted} queries are answered or refused as they should be.\n")
    for workers in WORKERS:
        if ratios[workers]:
            mean, most = geometric_mean(ratios[workers]), max(ratios[workers])
            print(f"{workers} workers, {len(ratios[workers])} queries: geometric mean {mean:.2f} (at most {MEAN}: {'pass' if mean <= MEAN else 'MISS'}), "
                  f"largest {most:.2f} (at most {MOST}: {'pass' if most <= MOST else 'MISS'})")
    must("postgres", "-c", f"DROP DATABASE {schema}")


def main():
    only = os.environ.get("BENCH_ONLY", "")
    for schema in sorted(os.listdir(HERE)):
        if os.path.exists(os.path.join(HERE, schema, "queries.sql")) and only in ("", "schemas", schema):
            report(schema)


if __name__ == "__main__":
    main()
