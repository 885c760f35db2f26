#!/usr/bin/env python3
"""What a call of each calculator costs: CALLS rows of random arguments.

A figure is the time of a query that calls the function once for each row,
less that of the same query without the call, divided by the rows; the least
of TURNS.  Arguments are spread over many orders of magnitude.
"""
import os
import re
import subprocess
import sys

from session import Session

CALLS = int(os.environ.get("BENCH_CALLS", "1000000"))
TURNS = 3
TARGET = 2.0        # microseconds

# columns of the table, spread as they are used
COLUMNS = {
    "rho": "10 ^ (random() * 6 - 4)",
    "epsilon": "10 ^ (random() * 4 - 2.5)",
    "delta": "10 ^ (random() * -12 - 1)",
    "delta0": "10 ^ (random() * -6 - 14)",
    "xi": "random() * 0.001",
    "mu": "10 ^ (random() * 4 - 3)",
    "tau": "random() + 0.1",
    "sensitivity": "1 + random() * 10",
    "sigma": "10 ^ (random() * 2)",
    "alpha": "1 + 10 ^ (random() * 4 - 2)",
    "k": "(1 + random() * 1000)::bigint",
    "zero": "0::float8",            # makes a call of constants depend on the row
}

SCALARS = """
zcdp_epsilon(rho, delta)
zcdp_epsilon(rho, delta, xi)
zcdp_epsilon(rho, delta, xi, 'bs36')
zcdp_epsilon(rho, delta, xi, 'bs36_closed')
zcdp_epsilon(rho, delta, xi, 'simple')
zcdp_delta(rho, epsilon)
zcdp_delta(rho, epsilon, bound => 'bs36')
zcdp_delta(rho, epsilon, bound => 'simple')
zcdp_rho(epsilon, delta)
zcdp_rho(epsilon, delta, bound => 'bs36')
zcdp_rho(epsilon, delta, bound => 'simple')
approx_zcdp_epsilon(rho, delta0, delta)
approx_zcdp_delta(rho, delta0, epsilon)
gaussian_rho(sensitivity, sigma)
gaussian_stddev_zcdp(sensitivity, rho)
gaussian_gdp(sensitivity, sigma)
gaussian_mcdp(sensitivity, sigma)
gaussian_rdp(alpha, sensitivity, sigma)
gaussian_delta(sensitivity, sigma, epsilon)
gaussian_epsilon(sensitivity, sigma, delta)
gaussian_stddev(sensitivity, epsilon, delta)
gdp_delta(mu, epsilon)
gdp_epsilon(mu, delta)
gdp_mu(epsilon, delta)
gdp_to_zcdp(mu)
mcdp_to_zcdp(mu, tau)
zcdp_to_mcdp(rho, xi)
mcdp_delta(mu, tau, epsilon)
mcdp_epsilon(mu, tau, delta)
pure_to_zcdp(epsilon)
pure_to_mcdp(epsilon)
pure_to_rdp(alpha, epsilon)
zcdp_to_pure(rho, xi)
zcdp_to_rdp(alpha, rho, xi)
laplace_to_zcdp(epsilon)
bounded_range_to_zcdp(epsilon)
bounded_range_to_zcdp(epsilon, 'kl')
approx_to_zcdp(epsilon, delta)
rdp_epsilon(alpha, epsilon, delta)
rdp_delta(alpha, epsilon, epsilon)
compose_delta(delta, k)
compose_basic(epsilon, delta, k)
compose_advanced(epsilon, delta, k)
compose_advanced_delta(delta, delta0, k)
group_zcdp(rho, k, xi)
group_mcdp(mu, tau, k)
group_gaussian(sensitivity, sigma, k)
group_gdp(mu, k)
group_pure(epsilon, k)
group_approx_delta(epsilon, delta, k)
sensitivity(-1, sigma, k)
releases_within(rho, epsilon, delta)
stddev_of(rho)
rho_for_stddev(sigma)
split_budget(rho, k)
split_budget(sigma, delta, k)
compose_zcdp_agg(rho, xi)
compose_mcdp_agg(mu, tau)
compose_gdp_agg(mu)
compose_delta_agg(delta)
""".split("\n")[1:-1]

# no target: fewer calls, at sizes that stand beside the figure
OTHERS = [
    ("margin_of(rho, 0.95)", 10000),
    ("rho_for_margin(sigma, 0.95)", 10000),
    ("discrete_gaussian_delta(1, sigma, epsilon)", 10000),
    ("discrete_gaussian_delta(10, 1000, epsilon / 100)", 10000),
    ("compose_optimal_delta(zero + 0.1, 1e-9, 100, 2)", 1000),
    ("compose_optimal_delta(zero + 0.001, 1e-12, 1000000, 1)", 20),
    ("compose_optimal_epsilon(zero + 0.1, 1e-9, 100, 1e-6)", 1000),
    ("compose_optimal_epsilon(zero + 0.001, 1e-12, 1000000, 1e-5)", 20),
    ("compose_optimal_delta(list10, array_fill(zero, ARRAY[10]), 2)", 100),
    ("compose_optimal_delta(list20, array_fill(zero, ARRAY[20]), 1)", 10),
    ("compose_optimal_delta(list36, array_fill(zero, ARRAY[36]), 1)", 2),
    ("compose_optimal_epsilon(list10, array_fill(zero, ARRAY[10]), 1e-6)", 100),
    ("compose_optimal_epsilon(list20, array_fill(zero, ARRAY[20]), 1e-6)", 10),
    ("compose_optimal_epsilon(list36, array_fill(zero, ARRAY[36]), 1e-6)", 2),
]

# in their calls: n different epsilons
LISTS = {"list%d" % n: "(SELECT array_agg(0.01 * sqrt(i)) FROM generate_series(1, %d) i)" % n for n in (10, 20, 36)}


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def per_call(session, call, calls):
    columns = sorted(c for c in COLUMNS if re.search(r"\b%s\b" % c, call[call.index("("):]))
    rows = "(SELECT * FROM t LIMIT %d) t" % calls
    without = "SELECT count(%s) FROM %s" % (" + ".join(columns), rows)
    if call.split("(")[0].endswith("_agg"):
        with_call = "SELECT dp_cdp.%s FROM %s" % (call, rows)
    else:
        for name, sql in LISTS.items():
            call = call.replace(name, sql)
        with_call = "SELECT count(dp_cdp.%s) FROM %s" % (call, rows)
    a = min(session.run(with_call) for _ in range(TURNS))
    b = min(session.run(without) for _ in range(TURNS))
    return (a - b) / calls * 1000


def main():
    subprocess.run(["psql", "-X", "-q", "-d", "postgres", "-c", "CREATE DATABASE calculators"], check=True)
    session = Session("calculators", settings=("max_parallel_workers_per_gather = 0",))
    session.run("CREATE EXTENSION dp_cdp")
    session.run("SELECT setseed(0.5)")
    session.run("CREATE UNLOGGED TABLE t AS SELECT %s FROM generate_series(1, %d)"
                % (", ".join("%s AS %s" % (v, k) for k, v in COLUMNS.items()), CALLS))
    session.run("VACUUM (FREEZE, ANALYZE) t")
    print("\n### Calculators: microseconds per call, the least of %d turns of %d calls\n" % (TURNS, CALLS))
    row("call", "microseconds", "target", "")
    row("---", "---", "---", "---")
    for call in SCALARS:
        us = per_call(session, call, CALLS)
        row("`%s`" % call, "%.3f" % us, "%g" % TARGET, "pass" if us < TARGET else "MISS")
    for call, calls in OTHERS:
        us = per_call(session, call, min(calls, CALLS))
        row("`%s`, %d calls" % (call, min(calls, CALLS)), "%.3f" % us, "-", "")


if __name__ == "__main__":
    main()
