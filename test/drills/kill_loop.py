"""Clients of a private clinic, and what kills their server; see kill_loop.sh.

After each phase, for each role: what it saw answered was debited, and what was
debited beyond that is no more than was under way when a signal came; and
check_ledger() finds nothing: balances are what the log adds up to, and no row is
missing from the chain of hashes.
"""
import decimal
import os
import random
import signal
import subprocess
import sys
import threading
import time

WORK, CLIENTS, PHASE = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

STATEMENTS = [
    "SELECT dp_count(*) FROM visits",
    "SELECT dp_count(*) AS n, dp_sum(cost) AS cost FROM visits WHERE cost > 10",
    "SELECT * FROM (SELECT dp_avg(cost) AS cost FROM visits) x ORDER BY cost",
    "SELECT dp_cdp.debit_budget('clinic', 0.0005)",
]
ROLES = ["ana", "bob", "carl", "ana", "bob", "carl", "ana", "stranger"]

# name; what is killed, how often on the average, in seconds
PHASES = [
    ("worker", [("worker", "TERM", 0.5), ("worker", "KILL", 6)]),
    ("backends", [("backend", "INT", 0.1), ("backend", "TERM", 0.1), ("backend", "KILL", 8)]),
    ("postmaster", [("postmaster", "KILL", 7), ("postmaster", "INT", 20), ("postmaster", "QUIT", 20)]),
    ("all of them", [("worker", "TERM", 2), ("worker", "KILL", 15), ("backend", "INT", 0.3), ("backend", "TERM", 0.3),
                     ("backend", "KILL", 15), ("postmaster", "KILL", 20)]),
]

checks = {True: 0, False: 0}


def check(good, what):
    checks[bool(good)] += 1
    print("%s - %s" % ("ok" if good else "not ok", what), flush=True)


def psql(sql, user="postgres"):
    """What it prints; None when it fails."""
    done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-U", user, "-c", sql],
                          capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


class Client(threading.Thread):
    """One role that asks until the end, over as many connections as it takes."""

    def __init__(self, role, prices, end):
        super().__init__()
        self.role, self.prices, self.end = role, prices, end
        self.rho, self.answers, self.refused, self.lost, self.errors = decimal.Decimal(0), 0, 0, 0, 0
        self.rng = random.Random()

    def run(self):
        while time.time() < self.end:
            self.connection()
            time.sleep(0.1)

    def connection(self):
        process = subprocess.Popen(["psql", "-XqAt", "-U", self.role], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        try:
            while time.time() < self.end and self.ask(process):
                pass
            process.stdin.close()
        except BrokenPipeError:
            self.lost += 1
        process.wait()

    def ask(self, process):
        """One statement; False when the connection is gone."""
        sql = self.rng.choice(STATEMENTS)
        process.stdin.write(sql + ";\n\\echo == :ERROR\n")
        process.stdin.flush()
        text = ""
        for line in process.stdout:
            if line.startswith("== "):
                break
            text += line
        else:
            self.lost += 1
            return False
        if line == "== false\n":
            self.answers += 1
            self.rho += self.prices[sql]
        elif "has no privacy budget" in text:
            self.refused += 1
        else:
            self.errors += 1
        return True


class Server:
    def __init__(self):
        self.signals, self.interrupted = 0, 0

    def pid(self, kind):
        if kind == "postmaster":
            try:
                with open(os.path.join(WORK, "data/postmaster.pid")) as f:
                    return f.readline().strip()
            except OSError:
                return None
        return psql("SELECT pid FROM pg_stat_activity WHERE " + (
            "backend_type = 'dp_cdp ledger'" if kind == "worker" else "usename <> 'postgres'") + " ORDER BY random() LIMIT 1")

    def send(self, kind, name):
        pid = self.pid(kind)
        if not pid:
            return
        try:
            os.kill(int(pid), getattr(signal, "SIG" + name))
        except ProcessLookupError:
            return
        self.signals += 1
        # what ends the worker or takes the server along interrupts everybody
        self.interrupted += 1 if kind == "backend" and name != "KILL" else CLIENTS
        if kind == "postmaster":
            self.start()

    def start(self):
        """Starts it, as soon as what is left of the former one has gone."""
        for _ in range(300):
            if psql("SELECT 1") == "1":
                return
            subprocess.run(["bash", os.path.join(WORK, "restart")], capture_output=True)
            time.sleep(0.2)
        raise SystemExit("not ok - the server does not come back")

    def wait(self):
        for _ in range(600):
            if psql("SELECT 1") == "1":
                return
            time.sleep(0.2)
        self.start()


def balances():
    rows = psql("SELECT role_name, rho_spent FROM dp_cdp.budgets UNION ALL SELECT '', rho_spent FROM dp_cdp.datasets")
    return {name: decimal.Decimal(rho) for name, rho in (row.split("|") for row in rows.split("\n"))}


def measure_prices():
    prices = {}
    for sql in STATEMENTS:
        before = balances()["carl"]
        if psql(sql, "carl") is None:
            raise SystemExit("not ok - cannot ask: " + sql)
        prices[sql] = balances()["carl"] - before
    return prices


def kill_until(end, server, kinds):
    """Kills; meanwhile an administrator corrects and prunes.  Returns what he was told that he has corrected."""
    due = {i: time.time() + random.expovariate(1 / kind[2]) for i, kind in enumerate(kinds)}
    administer = time.time() + 1
    corrected = decimal.Decimal(0)
    while time.time() < end:
        time.sleep(0.02)
        for i, (kind, name, every) in enumerate(kinds):
            if time.time() >= due[i]:
                server.send(kind, name)
                due[i] = time.time() + random.expovariate(1 / every)
        if time.time() >= administer:
            if psql("SELECT dp_cdp.correct_spent('clinic', 'carl', 0.25, 'drill')") is not None:
                corrected += decimal.Decimal("0.25")
            psql("SELECT dp_cdp.prune_releases(now() - interval '20 s')")
            administer = time.time() + 3
    return corrected


def phase(name, kinds, prices):
    before = balances()
    end = time.time() + PHASE
    clients = [Client(ROLES[i % len(ROLES)], prices, end) for i in range(CLIENTS)]
    server = Server()
    for client in clients:
        client.start()
    corrected = kill_until(end, server, kinds)
    for client in clients:
        client.join()
    server.wait()
    after = balances()

    def answered(*roles):
        return sum((c.rho for c in clients if c.role in roles), decimal.Decimal(0))

    seen = {"ana": answered("ana"), "carl": answered("carl") + corrected, "team": answered("ana", "bob"),
            "": answered("ana", "bob", "carl") + corrected}
    most = max(prices.values()) * server.interrupted + decimal.Decimal("0.25") * (PHASE // 3 + 1)
    for role in seen:
        spent = after[role] - before[role]
        check(seen[role] <= spent <= seen[role] + most, "%s: %s: answered %s, debited %s" % (
            name, "role " + role if role else "the dataset", seen[role], spent))
    check(answered("stranger") == 0, "%s: who has no budget is answered nothing" % name)
    report = psql("SELECT severity, object, finding FROM dp_cdp.check_ledger()")
    findings = [line for line in report.split("\n") if not line.startswith("info|")]
    check(not findings, "%s: check_ledger: %s" % (name, "; ".join(findings) or report))
    answers = sum(c.answers for c in clients)
    check(answers > 50 * PHASE / 10, "%s: clients were served" % name)
    print("# %s: %d answers, %d refusals, %d errors, %d connections lost, %d signals in %d s" % (
        name, answers, sum(c.refused for c in clients), sum(c.errors for c in clients),
        sum(c.lost for c in clients), server.signals, PHASE), flush=True)


def main():
    prices = measure_prices()
    for name, kinds in PHASES:
        phase(name, kinds, prices)
    sys.exit(0 if not checks[False] else 1)


main()
