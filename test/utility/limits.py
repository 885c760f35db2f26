#!/usr/bin/env python3
"""What it costs that nobody has set a limit: errors of answers beside those of the best limit in hindsight.

Each question of questions.py is asked by an analyst, through the extension, as often as README.md says.
The error is the root mean square over groups and repetitions of the answer less the plain one.  hindsight.py
tells the least error that a limit could have had at the rho that was charged.
"""
import math
import os
import sys
import time

from dpstat import execute, make_role, psql, spent
from hindsight import Distinct, Question
from questions import MADE, QUESTIONS, TABLES

TIMES = int(os.environ["UTILITY_TIMES"])
ONLY = os.environ.get("UTILITY_ONLY", "").replace("limits", "")
RHOS = (0.01, 0.1, 1)
HERE = sys.argv[1]
ANALYST = "researcher"
MANY_UNITS = 1000


class Line:
    """One question at one rho."""

    def __init__(self, question, rho, units, exact, errors2, held, best):
        self.question, self.rho, self.units, self.groups = question, rho, units, len(exact)
        self.mean = math.fsum(exact.values()) / len(exact)
        self.error = math.sqrt(math.fsum(errors2) / len(errors2))
        self.cells, self.held = len(held), sum(held)
        self.best = best
        self.ratio = {way: self.error / error for way, error in best.items()}


def load():
    for name in dict.fromkeys(question.table for question in QUESTIONS):
        table = TABLES[name]
        psql(f"CREATE TABLE {name} ({table.columns})")
        if name in MADE:
            psql(f"INSERT INTO {name} {MADE[name][1]}")
        else:
            with open(os.path.join(HERE, "data", name + ".csv"), encoding="utf-8") as file:
                text = file.read().rstrip("\n")
            psql(f"COPY {name} FROM STDIN WITH (FORMAT csv, HEADER);\n{text}\n\\.\n")
        # the same rows, of which nobody has declared keys
        psql(f"CREATE TABLE {name}_found AS TABLE {name}")
        for copy in (name, name + "_found"):
            unit = f"unit => '{table.unit}'" if table.unit else "each_row => true"
            psql(f"""VACUUM ANALYZE {copy};
                SELECT dp_cdp.create_dataset('{copy}');
                SELECT dp_cdp.protect_table('{copy}', '{copy}', {unit});
                SELECT dp_cdp.set_budget('{copy}', '{ANALYST}', rho => 1000000);""")
            for column, (lower, upper) in table.bounds.items():
                psql(f"SELECT dp_cdp.set_bounds('{copy}', '{column}', {lower}, {upper})")
        for column in table.keys:
            name_of = column if "." not in column else f'"{column}"'
            psql(f"""SELECT dp_cdp.set_keys('{name}', '{column}',
                (SELECT array_agg(DISTINCT {name_of}) FILTER (WHERE {name_of} IS NOT NULL) FROM {name}))""")


def where_of(question, more=""):
    conditions = [text for text in (question.where, more) if text]
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def is_distinct(question):
    return "DISTINCT" in question.ask


def cells_of(question):
    """What each unit adds to each group; amounts in units of the larger bound, values of averages centered."""
    table, by = TABLES[question.table], question.by
    unit = table.unit or "ctid"
    key = f"concat_ws('/', {by})" if by else "''"
    kind, column = question.ask.rstrip(")").split("(")
    if is_distinct(question):
        column = column.removeprefix("DISTINCT ")
        return psql(f"SELECT DISTINCT {unit}, {key}, {column} FROM {question.table}{where_of(question, f'{column} IS NOT NULL')}")
    if kind == "count":
        what, more = "count(*), NULL", ""
    else:
        lower, upper = table.bounds[column]
        more = f"{column} IS NOT NULL"
        what = (f"sum({column}) / {upper}::float8, NULL" if kind == "sum" else
                f"count(*), sum(({column} - {(lower + upper) / 2}) / {(upper - lower) / 2})")
    rows = psql(f"SELECT {unit}, {key}, {what} FROM {question.table}{where_of(question, more)} GROUP BY 1, 2")
    return [(unit, group, float(n), None if value == "\\N" else float(value)) for unit, group, n, value in rows]


def scale_of(question):
    """What an error of hindsight.py is times, to be in the answer's units."""
    kind, column = question.ask.rstrip(")").split("(")
    if kind == "count":
        return 1
    lower, upper = TABLES[question.table].bounds[column]
    return upper if kind == "sum" else (upper - lower) / 2


def measure(question):
    """A line for each rho."""
    table = question.table + ("_found" if question.found else "")
    key = f"concat_ws('/', {question.by})" if question.by else "''"
    group_by = f" GROUP BY {question.by}" if question.by else ""
    exact = {group: float(value) for group, value in
             psql(f"SELECT {key}, {question.ask}::float8 FROM {question.table}{where_of(question)}{group_by}")}
    hindsight, scale = (Distinct if is_distinct(question) else Question)(cells_of(question)), scale_of(question)
    times = max(TIMES, math.ceil(10 * TIMES / len(exact)))
    lines = []
    for rho in RHOS:
        before = spent(table, ANALYST)[0]
        runs = execute(f"SELECT {key}, {question.ask}::float8, dp_margin({question.ask}) FROM {table}{where_of(question)}{group_by}",
                       "k text, answer float8, margin float8", times, ANALYST, f"SET dp_cdp.rho = {rho}", parsed=False)
        charged = (spent(table, ANALYST)[0] - before) / times
        errors2, held = [], []
        for run in runs:
            answers = {group: (float(answer), float(margin)) for group, answer, margin in run}
            for group, true in exact.items():
                # a group that is not shown has no margin
                answer, margin = answers.get(group, (0, 0))
                errors2.append((answer - true) ** 2)
                if group in answers:
                    held.append(abs(answer - true) <= margin)
        best = {way: error * scale for way, error in hindsight.best(charged).items()}
        lines.append(Line(question, rho, hindsight.units, exact, errors2, held, best))
    return lines


def number(x):
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


def text_of(question):
    return question.ask + (f" by {question.by}" if question.by else "") + (f" where {question.where}" if question.where else "")


def show(line):
    print(f"| {line.question.table} | `{text_of(line.question)}` | {line.units:,} | {line.groups:,} | {number(line.mean)} | {line.rho} | {number(line.error)} | "
          + " | ".join(f"{line.ratio[way]:.2f}" for way in ("truncated", "L1", "L2"))
          + f" | {100 * line.held / max(line.cells, 1):.0f} % |", flush=True)


def table(title, questions):
    lines = []
    if not questions:
        return lines
    print(f"\n{title}\n")
    print("| table | question | units | groups | true | rho | error | beside (groups, rows) | L1 | L2 | in the margin |")
    print("|---|---|" + "---:|" * 9)
    for question in questions:
        begin = time.time()
        measured = measure(question)
        print(f"{question.table}: {text_of(question)}: {time.time() - begin:.1f} s", file=sys.stderr, flush=True)
        for line in measured:
            show(line)
        lines += measured
    return lines


def geometric(lines, way="truncated"):
    return math.exp(math.fsum(math.log(line.ratio[way]) for line in lines) / len(lines))


def many(lines):
    return [line for line in lines if line.units > MANY_UNITS]


def worst(lines):
    return max(lines, key=lambda line: line.ratio["truncated"])


def told_worst(lines):
    if not lines:
        return "-"
    line = worst(lines)
    return f"{line.ratio['truncated']:.2f} ({line.question.table}, `{text_of(line.question)}`, rho {line.rho})"


def in_margin(lines):
    """Percent of the cells."""
    return 100 * sum(line.held for line in lines) / max(sum(line.cells for line in lines), 1)


def targets(lines):
    """What README.md says of all questions together."""
    print("\n| beside (groups, rows) | measured | target | |")
    print("|---|---:|---:|---|")
    for name, measured, most in (("geometric mean", geometric(lines), 0.85),
                                 ("worst of more than 1,000 units", worst(many(lines)).ratio["truncated"], 1.3),
                                 ("worst", worst(lines).ratio["truncated"], 3)):
        print(f"| {name} | {measured:.3f} | at most {most} | {'pass' if measured <= most else 'MISS'} |")
    held = in_margin(lines)
    print(f"| cells in their margin | {held:.1f} % | at least 90 % | {'pass' if held >= 90 else 'MISS'} |")


def summary(lines):
    kinds = [("all", lines)] + [(f"rho {rho}", [line for line in lines if line.rho == rho]) for rho in RHOS]
    kinds += [(kind, [line for line in lines if line.question.ask.startswith(kind)]) for kind in ("count", "sum", "avg")]
    kinds += [(name, [line for line in lines if line.question.table == name]) for name in TABLES]
    print("\n| questions | lines | beside (groups, rows) | L1 | L2 | worst of more than 1,000 units | worst | cells in their margin |")
    print("|---|---:|---:|---:|---:|---|---|---:|")
    for name, some in kinds:
        if some:
            print(f"| {name} | {len(some)} | " + " | ".join(f"{geometric(some, way):.3f}" for way in ("truncated", "L1", "L2"))
                  + f" | {told_worst(many(some))} | {told_worst(some)} | {in_margin(some):.1f} % |")


def main():
    psql("CREATE DATABASE limits")
    os.environ["PGDATABASE"] = "limits"
    psql("CREATE EXTENSION dp_cdp")
    make_role(ANALYST)
    load()
    asked = [question for question in QUESTIONS if ONLY in f"{question.table}: {text_of(question)}"]
    lines = table("Errors of answers for which nobody has set a limit, and how many times those of the best limit in hindsight they are",
                  [question for question in asked if not (question.found or is_distinct(question) or question.table in MADE)])
    if lines:
        summary(lines)
    if not ONLY:
        targets(lines)
    lines = table("Heavy tails: rows of a person fall as a power of the person's rank", [question for question in asked if question.table in MADE])
    if lines:
        summary(lines)
    lines = table("Different values, beside the best limit on how many of them a unit may show",
                  [question for question in asked if is_distinct(question)])
    if lines:
        summary(lines)
    lines = table("Keys that nobody has declared: a group that is not shown counts as an answer of 0. In hindsight all of the price is for the count",
                  [question for question in asked if question.found])
    if lines:
        summary(lines)


if __name__ == "__main__":
    main()
