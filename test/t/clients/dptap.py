"""What the clients in Python share: results as lines for DriverTest.pm, and
the statements of statements.sql."""
import math
import os
import re
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))


class Tap:
    """Prints one line for each check; asks audit() what the ledger holds.

    audit(sql) returns the first column of the first row, as a superuser.
    """

    def __init__(self, audit):
        self.audit = audit
        self.n = 0
        self.spent = self.balance()

    def balance(self):
        return [int(self.audit(f"SELECT {what}()")) for what in ("spent", "selections")]

    def ok(self, good, name, *diagnostics):
        self.n += 1
        print(f"{'ok' if good else 'not ok'} - {name}")
        if not good:
            for line in "\n".join(str(d) for d in diagnostics).split("\n"):
                print(f"# {line}")
        sys.stdout.flush()
        return good

    def equal(self, got, expected, name):
        return self.ok(got == expected, name, f"got {got!r}", f"expected {expected!r}")

    def like(self, got, pattern, name):
        return self.ok(re.search(pattern, str(got)) is not None, name, f"got {got!r}", f"expected /{pattern}/")

    def paid(self, rho, name, keys=0):
        """That this was debited, no more and no less, since the last time."""
        now = self.balance()
        cost = [now[0] - self.spent[0], now[1] - self.spent[1]]
        self.spent = now
        return self.equal(cost, [rho, keys], f"{name}: costs {rho}" + (f" and {keys} selections" if keys else ""))

    def paid_between(self, least, most, name):
        now = self.balance()
        cost = now[0] - self.spent[0]
        self.spent = now
        return self.ok(least <= cost <= most, f"{name}: costs {least} to {most}", f"cost {cost}")

    def wait_for(self, sql):
        for _ in range(6000):
            if int(self.audit(sql)) == 1:
                return
            time.sleep(0.01)
        raise RuntimeError("never came true: " + sql)

    def end(self):
        print(f"end {self.n}")


def statements():
    """(rho, keys, outcome, name, SQL) of each statement."""
    with open(os.path.join(HERE, "statements.sql"), encoding="utf-8") as f:
        text = f.read()
    found = re.findall(r"^-- (\d+) rho, (\d+) keys, (\w+) rows: (.*)\n([^;]*);", text, flags=re.M)
    if len(found) != text.count(";"):
        raise RuntimeError("statements.sql was not understood")
    return [(int(rho), int(keys), outcome, name, sql) for rho, keys, outcome, name, sql in found]


def ask_all(tap, kind, ask, but_not=None):
    """ask(sql) returns the rows, or an SQLSTATE."""
    for rho, keys, outcome, name, sql in statements():
        if name == but_not:
            continue
        got = ask(sql)
        if isinstance(got, list):
            got = str(len(got)) if outcome != "any" else "any"
        tap.equal(got, outcome, f"{kind}: {name}")
        tap.paid(rho, f"{kind}: {name}", keys)


def finite(value):
    return value is not None and math.isfinite(value)


def guarded(main):
    try:
        main()
    except Exception:  # the tests that are missing have a cause to show
        traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        sys.exit(1)
