#!/usr/bin/env python3
"""Debits per second beside commits of a single-row INSERT.

The server is named by PGHOST and so on; superuser.  Every debit hits the same
budget and the same dataset.  INSERT and debit take turns; a ratio is formed
within each turn, and the medians are printed and held against the targets.

LEDGER_TURNS (7) and LEDGER_SECONDS (3) say how long.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

TURNS = int(os.environ.get("LEDGER_TURNS", "7"))
SECONDS = int(os.environ.get("LEDGER_SECONDS", "3"))
TARGETS = {1: 0.6, 32: 1.0}
DATABASE = "dp_ledger_bench"

# one transaction each: the worker sees what is committed
SETUP = """
CREATE EXTENSION dp_cdp;
CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(), who name NOT NULL DEFAULT current_user, what text);
SELECT dp_cdp.create_dataset('bench');
SELECT dp_cdp.set_budget('bench', current_user::regrole, rho => 1000);
SELECT dp_cdp.debit('bench', 0.000000001)
"""
SCRIPTS = {
    "insert": "INSERT INTO plain (what) VALUES ('dp_count(*)');",
    "debit": "SELECT dp_cdp.debit('bench', 0.000000000001);",
}


def psql(database, *commands):
    arguments = ["psql", "-Xqt", "-v", "ON_ERROR_STOP=1", "-d", database]
    for command in commands:
        arguments += ["-c", command]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def pgbench(script, clients):
    """Transactions per second."""
    out = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", "-f", script, "-c", str(clients),
         "-j", str(min(clients, 2)), "-T", str(SECONDS), DATABASE],
        check=True, capture_output=True, text=True).stdout
    return float(re.search(r"^tps = ([0-9.]+)", out, re.M).group(1))


def main():
    psql("postgres", "SET client_min_messages = warning", "DROP DATABASE IF EXISTS " + DATABASE, "CREATE DATABASE " + DATABASE)
    psql(DATABASE, *SETUP.split(";"))
    met = True
    with tempfile.TemporaryDirectory() as directory:
        files = {}
        for name, text in SCRIPTS.items():
            files[name] = os.path.join(directory, name + ".sql")
            with open(files[name], "w") as f:
                f.write(text + "\n")

        print("clients   INSERT/s   debits/s   ratio: least  median    most   target")
        for clients, target in TARGETS.items():
            speeds = {name: [] for name in SCRIPTS}
            ratios = []
            for turn in range(TURNS + 1):
                now = {name: pgbench(files[name], clients) for name in SCRIPTS}
                if turn == 0:
                    continue
                for name in SCRIPTS:
                    speeds[name].append(now[name])
                ratios.append(now["debit"] / now["insert"])
            median = statistics.median(ratios)
            met = met and median >= target
            print("%7d %10.0f %10.0f %14.2f %7.2f %7.2f   %4.1f %s" % (
                clients, statistics.median(speeds["insert"]), statistics.median(speeds["debit"]),
                min(ratios), median, max(ratios), target, "met" if median >= target else "MISSED"),
                flush=True)
    psql("postgres", "DROP DATABASE " + DATABASE)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
