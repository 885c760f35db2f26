#!/usr/bin/env python3
"""Holds the calculators against calculator_values.csv, through SQL.  TAP.

The table was made by test/tools/calculator_values.py, which says what its
columns are and where the values come from.
"""
import csv
import os
import subprocess
import sys
from decimal import Decimal, getcontext

getcontext().prec = 40
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calculator_values.csv")
LEAST = Decimal("5e-324")

ANSWER = """
\\set QUIET on
SET extra_float_digits = 3;
-- budgets that buy little
SET client_min_messages = error;
CREATE FUNCTION pg_temp.answer(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE 'SELECT (' || sql || ')::float8::text' INTO answer;
    RETURN coalesce(answer, 'NULL');
EXCEPTION WHEN OTHERS THEN
    RETURN 'error ' || SQLSTATE || chr(9) || SQLERRM;
END $$;
-- the limit that a budget of (epsilon, delta) gets
\\o /dev/null
SELECT dp_cdp.create_dataset('calculators', delta => 0.5);
\\o
CREATE ROLE calculators_spender;
CREATE FUNCTION pg_temp.rho_of_budget(epsilon float8, delta float8) RETURNS float8 LANGUAGE sql AS $$
    SELECT dp_cdp.set_budget('calculators', 'calculators_spender', epsilon => epsilon, delta => delta);
    SELECT rho_limit::float8 FROM dp_cdp_internal.budget WHERE dataset = 'calculators' $$;
"""


def answers(expressions):
    script = ANSWER + "".join("SELECT pg_temp.answer($sql$%s$sql$);\n" % e for e in expressions)
    run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], input=script, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = run.stdout.split("\n")[:-1]
    if run.returncode != 0 or len(lines) != len(expressions):
        print("Bail out! psql: " + run.stdout[-2000:])
        sys.exit(1)
    return lines


def judge(expected, reltol, answer):
    """(right, remark)"""
    answer, _, message = answer.partition("\t")
    if expected.startswith("error") or answer.startswith("error") or "Infinity" in (expected, answer) \
            or answer in ("NULL", "NaN"):
        return answer == expected, "%s, not %s %s" % (answer, expected, message)
    want, got = Decimal(expected), Decimal(answer)
    difference = abs(got - want)
    sign = reltol[0] if reltol[0] in "+-" else ""
    # results below the smallest normal double have fewer digits
    right = difference <= Decimal(reltol.lstrip("+-")) * abs(want) + (LEAST if abs(want) < Decimal("1e-290") else 0)
    # expected is rounded, to 25 digits
    margin = abs(want) * Decimal("1e-24")
    right = right and not (sign == "+" and got < want - margin or sign == "-" and got > want + margin)
    return right, "%s, not %s (off by %.2e, allowed %s)" % (
        answer, expected, difference / abs(want) if want else difference, reltol)


def main():
    with open(TABLE, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    for i, (row, answer) in enumerate(zip(rows, answers([row["sql"] for row in rows])), 1):
        right, remark = judge(row["expected"], row["reltol"], answer)
        print("%s %d - %s" % ("ok" if right else "not ok", i, row["sql"].replace("#", "\\#")))
        if not right:
            print("# " + remark)
    print("1..%d" % len(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
