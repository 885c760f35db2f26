#!/usr/bin/env python3
"""Random ranges of two analysts with different rights, over the orders of TPC-H: how many are answered before budgets end?

The workload is the one that DProvDB (Zhang and He, SIGMOD 2024) was measured with, as its authors publish it: two analysts
of privilege 1 and 4, who take turns; 4000 counts each of orders within a range of o_orderkey, o_custkey or o_totalprice (1, 10
and 1 of 12); the lower end of a range is normal about a third of the column's domain (a fifteenth of it as deviation), its length
about an eighth (a fortieth); and the i-th query may have a variance of 3000 - i, but at least 1 is not asked for less.  Each
row is a unit there and here.  What is refused is passed over.  The epsilon of all, 0.4 to 6.4 with delta 1e-5, is the cap; the weaker analyst
has a fourth of it, in rho, where both share answers, and where they do not the two have a fifth and four fifths.  Ranges end
at hundredths of the domain.

Each query is asked of the server in turn, as four kinds of analysts would:

    each paid               SELECT count(*) ... WHERE column >= a AND column < b, with dp_cdp.reuse off
    the same, kept          the same, with reuse: only a range that comes again is free or costs the difference
    buckets, each his own   the sum of the buckets of a histogram, SELECT width_bucket(...), count(*) ... GROUP BY 1,
                            which is kept; the analysts have different TimeZones, so that they share no question
    buckets, shared         the same in one TimeZone

A sum of n buckets with variance v asks for buckets of rho n / 2v, a count for rho 1 / 2v.  DProvDB's authors compare with systems that
pay for each query (Chorus, 1 here) and without sharing (3 here).

RANGES_QUERIES (4000 of each analyst), RANGES_EPSILONS (0.4 1.6 6.4) and RANGES_SCALE (0.01 of TPC-H; what is answered depends on no row)
say how much.
"""
import os
import random
import subprocess
import sys
import time

from session import Session

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = int(os.environ.get("RANGES_QUERIES") or 4000)
EPSILONS = (os.environ.get("RANGES_EPSILONS") or "0.4 1.6 6.4").split()
SCALE = os.environ.get("RANGES_SCALE") or "0.01"
DATABASE, BUCKETS, TARGET = "ranges", 100, 4
PRIVILEGES = {"ranges_low": 1, "ranges_high": 4}
SEEDS = {"ranges_low": 1, "ranges_high": 2}
FIRST_VARIANCE = 3000


def psql(sql, database=DATABASE, **variables):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database,
                           *(f"-v{name}={value}" for name, value in variables.items()), "-f", "-"], input=sql, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def domains():
    orders = int(1500000 * float(SCALE))
    return {"o_orderkey": (0, 4 * orders), "o_custkey": (0, orders // 10), "o_totalprice": (0, 600000)}


def workload(who):
    """Column, first bucket, number of buckets and largest variance of each query."""
    rng = random.Random(SEEDS[who])
    columns = [name for name, weight in zip(domains(), (1, 10, 1)) for _ in range(weight)]
    queries = []
    for i in range(QUERIES):
        low = min(max(rng.gauss(1 / 3, 1 / 15), 0), 1)
        length = abs(rng.gauss(1 / 8, 1 / 40))
        first = min(int(low * BUCKETS), BUCKETS - 1)
        last = min(max(round((low + length) * BUCKETS), first + 1), BUCKETS)
        queries.append((rng.choice(columns), first, last - first, max(FIRST_VARIANCE - i, 1)))
    return queries


def as_count(table, query):
    column, first, n, variance = query
    low, high = domains()[column]
    width = (high - low) / BUCKETS
    return f"SET dp_cdp.rho = {0.5 / variance}", (f"SELECT count(*) FROM {table} WHERE {column} >= {low + first * width:g} "
                                                   f"AND {column} < {low + (first + n) * width:g}")


def as_buckets(table, query):
    column, first, n, variance = query
    low, high = domains()[column]
    return f"SET dp_cdp.rho = {0.5 * n / variance}", (
        f"SELECT sum(n) FROM (SELECT width_bucket({column}, {low}, {high}, {BUCKETS}) AS b, count(*) AS n FROM {table} GROUP BY 1) h "
        f"WHERE b BETWEEN {first + 1} AND {first + n}")


KINDS = {
    "each paid": (as_count, False, ("dp_cdp.reuse = off",), {}),
    "the same, kept": (as_count, True, (), {}),
    "buckets, each his own": (as_buckets, False, (), {"ranges_low": "UTC", "ranges_high": "Etc/GMT"}),
    "buckets, shared": (as_buckets, True, (), {}),
}


def protect(table, epsilon, shared):
    """A copy of the orders, in a dataset of its own whose cap is epsilon."""
    most, parts = max(PRIVILEGES.values()), sum(PRIVILEGES.values())
    rho = float(psql(f"SELECT dp_cdp.zcdp_rho({epsilon}, 1e-5)"))
    psql(f"CREATE TABLE {table} AS SELECT o_orderkey, o_custkey, o_totalprice FROM orders; ANALYZE {table};"
         f"SELECT dp_cdp.create_dataset('{table}', rho => {rho}, default_rho => 1e-3, min_rho => 1e-9, reuse => '1 day');"
         f"SELECT dp_cdp.protect_table('{table}', '{table}', each_row => true);"
         + "".join(f"SELECT dp_cdp.set_bounds('{table}', '{column}', {low}, {high});" for column, (low, high) in domains().items())
         + "".join(f"SELECT dp_cdp.set_budget('{table}', '{who}', rho => {rho * own / (most if shared else parts)});"
                   for who, own in PRIVILEGES.items()))
    return rho


def is_answered(session, statements):
    """Whether the last of these is; only a budget may refuse it."""
    try:
        session.answer(";\n".join(statements))
    except RuntimeError as error:
        if "ZC001" not in str(error):
            raise
        return False
    return True


def ask(kind, epsilon, table):
    """How many queries of each analyst are answered, and what all cost."""
    write, shared, settings, zones = KINDS[kind]
    protect(table, epsilon, shared)
    sessions = {who: Session(DATABASE, "-U", who, settings=[*settings, *([f"TimeZone = '{zones[who]}'"] if who in zones else [])])
                for who in PRIVILEGES}
    answered = dict.fromkeys(PRIVILEGES, 0)
    started = time.time()
    for turn in zip(*(workload(who) for who in PRIVILEGES)):
        for who, query in zip(PRIVILEGES, turn):
            answered[who] += is_answered(sessions[who], write(table, query))
    for session in sessions.values():
        session.close()
    print(f"  epsilon {epsilon}, {kind}: {answered}, {time.time() - started:.0f} s", file=sys.stderr, flush=True)
    return answered, psql(f"SELECT round(rho_spent, 6) FROM dp_cdp_internal.dataset WHERE name = '{table}'")


def main():
    psql("".join(f"CREATE ROLE {who} LOGIN;" for who in PRIVILEGES), "postgres")
    psql(f"CREATE DATABASE {DATABASE}", "postgres")
    with open(os.path.join(HERE, "tpch", "make.sql"), encoding="utf-8") as file:
        psql(file.read(), scale=SCALE)
    psql("CREATE EXTENSION dp_cdp")
    print(f"Of {QUERIES} queries of each of two analysts, so many are answered:\n")
    print("| epsilon | asked as | by the weaker | by the stronger | together | as many as each paid | rho that the cap paid | target | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for i, epsilon in enumerate(EPSILONS):
        base = 0
        for j, kind in enumerate(KINDS):
            answered, cap = ask(kind, epsilon, f"orders_{i}_{j}")
            total = sum(answered.values())
            base = base or total
            cells = [epsilon, kind, *(answered[who] for who in PRIVILEGES), total, f"{total / max(base, 1):.1f}", cap]
            if kind == "buckets, shared":
                cells += [TARGET, "pass" if total >= TARGET * base else "MISS"]
            else:
                cells += ["", ""]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    psql(f"DROP DATABASE {DATABASE}", "postgres")
    psql("".join(f"DROP ROLE {who};" for who in PRIVILEGES), "postgres")


if __name__ == "__main__":
    main()
