#!/usr/bin/env python3
"""How far private answers are from the true ones: tables in Markdown.

true: plain SQL over all rows.  released: one of the answers.  predicted: what
dp_noise_stddev says beside each answer (root mean square over the answers).
observed: the root mean square of released less true, over all
answers.  It holds what bounding leaves out, too; the prediction is of noise
alone.

Census and restaurant are public data, see README.md.  The quantiles' data are generated.
"""
import math
import os
import sys

from dpstat import execute, make_role, psql

TIMES = int(os.environ["UTILITY_TIMES"])
RHOS = (0.01, 0.1)
HERE = sys.argv[1]
ANALYST = "researcher"


def number(x):
    """Four digits, or all before the point."""
    if x == 0:
        return "0"
    digits = max(0, 3 - math.floor(math.log10(abs(x))))
    text = f"{x:,.{min(digits, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rms(values):
    return math.sqrt(math.fsum(v * v for v in values) / len(values))


def load(name, columns):
    with open(os.path.join(HERE, "data", name + ".csv"), encoding="utf-8") as file:
        text = file.read().rstrip("\n")
    psql(f"CREATE TABLE {name} ({columns});\nCOPY {name} FROM STDIN WITH (FORMAT csv, HEADER);\n{text}\n\\.\n")


def rows_of(table, answers):
    """For each answer and rho: exact, one released, predicted, observed.

    answers: (label, private expression, the aggregate in it, exact expression)
    """
    exact = [float(x) for x in psql("SELECT " + ", ".join(f"({a[3]})::float8" for a in answers) + f" FROM {table}")[0]]
    result = {}
    for rho in RHOS:
        query = "SELECT " + ", ".join(f"({a[1]})::float8, dp_noise_stddev({a[2]})" for a in answers) + f" FROM {table}"
        runs = execute(query, ", ".join(f"v{i} float8, s{i} float8" for i in range(len(answers))), TIMES, ANALYST,
                       f"SET dp_cdp.rho = {rho}")
        for i, answer in enumerate(answers):
            values = [float(run[0][2 * i]) for run in runs]
            result[answer[0], rho] = (exact[i], values[0], rms([float(run[0][2 * i + 1]) for run in runs]),
                                      rms([v - exact[i] for v in values]))
    return result


def table_of(title, table, answers):
    print(f"\n{title}\n")
    print("| answer | true | " + " | ".join(f"released, rho {r} | predicted | observed" for r in RHOS) + " |")
    print("|---|" + "---:|" * (1 + 3 * len(RHOS)))
    result = rows_of(table, answers)
    for answer in answers:
        cells = [number(result[answer[0], RHOS[0]][0])]
        for rho in RHOS:
            cells += [number(x) for x in result[answer[0], rho][1:]]
        print(f"| {answer[0]} | " + " | ".join(cells) + " |", flush=True)


def simple(call, exact):
    """An answer that is its aggregate."""
    return (f"`{call}`", call, call, exact)


def bin_of(call, i, exact):
    return (f"`({call})[{i}]`", f"({call})[{i}]", call, exact)


def quantile(column, q):
    return f"percentile_cont({q}) WITHIN GROUP (ORDER BY {column}::float8)"


def adult():
    load("adult", """
            id int, age int, workclass text, fnlwgt int, education text, education_num int,
            marital_status text, occupation text, relationship text, race text, sex text,
            capital_gain int, capital_loss int, hours_per_week int, native_country text, income text""")
    psql(f"""
        SELECT dp_cdp.create_dataset('census');
        SELECT dp_cdp.protect_table('adult', 'census', each_row => true);
        SELECT dp_cdp.set_bounds('adult', 'age', 17, 90);
        SELECT dp_cdp.set_budget('census', '{ANALYST}', rho => 1000000);""")
    table_of("Census (Adult): 32,561 people, each row a unit; ages from 17 to 90", "adult", [
        simple("dp_count(*)", "count(*)"),
        simple("dp_sum(age)", "sum(age)"),
        simple("dp_avg(age)", "avg(age)"),
        simple("dp_variance(age)", "variance(age)"),
        simple("dp_stddev(age)", "stddev(age)"),
        simple("dp_median(age::float8, 17, 90)", quantile("age", 0.5)),
        simple("dp_quantile(age::float8, 0.9, 17, 90)", quantile("age", 0.9)),
        simple("dp_count(DISTINCT age)", "count(DISTINCT age)"),
        bin_of("dp_histogram(age, 10, 90, 8)", 3, "count(*) FILTER (WHERE age >= 30 AND age < 40)"),
    ])
    cube()


def cube():
    """CUBE of three columns of the census: independent sets, and those that agree."""
    keys = ("sex", "race", "education")
    rho = RHOS[0]
    for key in keys:
        psql(f"ALTER TABLE adult ALTER {key} SET NOT NULL; SELECT dp_cdp.set_keys('adult', '{key}', (SELECT array_agg(DISTINCT {key} ORDER BY {key}) FROM adult))")
    names = ", ".join(keys)
    group = f"concat_ws('/', {names}), GROUPING({names})"
    exact = {tuple(row[:2]): float(row[2]) for row in psql(f"SELECT {group}, count(*) FROM adult GROUP BY CUBE ({names})")}
    sets = [[key for i, key in enumerate(keys) if not g >> (len(keys) - 1 - i) & 1] for g in range(2 ** len(keys))]
    values = {key: int(psql(f"SELECT count(DISTINCT {key}) FROM adult")[0][0]) for key in keys}
    cells_of = [math.prod(values[key] for key in s) for s in sets]
    errors = {}
    predicted = {}
    for setting in ("off", "on"):
        runs = execute(f"SELECT {group}, dp_count(*)::float8, dp_noise_stddev(dp_count(*)) FROM adult GROUP BY CUBE ({names})",
                       "k text, g int, n float8, s float8", TIMES, ANALYST,
                       f"SET dp_cdp.rho = {rho}; SET dp_cdp.consistent = {setting}", parsed=False)
        for run in runs:
            for cell, g, n, s in run:
                errors.setdefault((setting, int(g)), []).append(float(n) - exact.get((cell, g), 0))
                errors.setdefault((setting, "all"), []).append(float(n) - exact.get((cell, g), 0))
                predicted[setting, int(g)] = float(s)
    print(f"\nCensus: dp_count(*) by CUBE ({names}), rho {rho} for each of {len(sets)} sets; root mean square errors of cells. Consistent: dp_cdp.consistent.\n")
    print("| set | cells | independent | consistent, predicted | consistent, observed |")
    print("|---|" + "---:|" * 4)
    for g, columns in list(enumerate(sets)) + [("all", None)]:
        told = predicted["on", g] if g != "all" else math.sqrt(
            sum(n * predicted["on", i] ** 2 for i, n in enumerate(cells_of)) / sum(cells_of))
        cells = [number(rms(errors["off", g])), number(told), number(rms(errors["on", g]))]
        name = "all cells" if g == "all" else ", ".join(columns) or "total"
        print(f"| {name} | {cells_of[g] if g != 'all' else sum(cells_of)} | " + " | ".join(cells) + " |", flush=True)


def restaurant():
    load("restaurant_week", "visitor int, entered text, minutes int, euros int, day int")
    psql(f"""
        SELECT dp_cdp.create_dataset('restaurant', max_rows => 6);
        SELECT dp_cdp.protect_table('restaurant_week', 'restaurant', unit => 'visitor');
        SELECT dp_cdp.set_budget('restaurant', '{ANALYST}', rho => 1000000);""")
    table_of("Restaurant: 2,850 visits of 1,360 visitors in a week, the visitor is the unit, max_rows = 6", "restaurant_week", [
        simple("dp_count(*)", "count(*)"),
        simple("dp_sum(euros, 0, 120, 0, 300)", "sum(euros)"),
        simple("dp_avg(euros, 0, 120)", "avg(euros)"),
        simple("dp_variance(euros, 0, 120)", "variance(euros)"),
        simple("dp_stddev(euros, 0, 120)", "stddev(euros)"),
        simple("dp_median(minutes::float8, 0, 120)", quantile("minutes", 0.5)),
        simple("dp_quantile(minutes::float8, 0.9, 0, 120)", quantile("minutes", 0.9)),
        simple("dp_count(DISTINCT euros)", "count(DISTINCT euros)"),
        bin_of("dp_histogram(euros, 0, 120, 12)", 3, "count(*) FILTER (WHERE euros >= 20 AND euros < 30)"),
    ])


def shapes():
    psql(f"""
        SELECT setseed(0.5) \\g /dev/null
        CREATE TABLE shapes AS
        SELECT 100 * u AS even, least(exp(1 + 1.2 * z), 100) AS skewed, 1 + floor(5 * u ^ 2) AS discrete, 40.0::float8 AS constant
        FROM (SELECT random() AS u, sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS z
              FROM generate_series(1, 10000)) s;
        SELECT dp_cdp.create_dataset('shapes');
        SELECT dp_cdp.protect_table('shapes', 'shapes', each_row => true);
        SELECT dp_cdp.set_budget('shapes', '{ANALYST}', rho => 1000000);""")
    answers = []
    for column in ("even", "skewed", "discrete", "constant"):
        answers.append(simple(f"dp_min({column}, 0, 100)", f"min({column})"))
        for q in (0.1, 0.5, 0.9):
            answers.append(simple(f"dp_quantile({column}, {q}, 0, 100)", quantile(column, q)))
        answers.append(simple(f"dp_max({column}, 0, 100)", f"max({column})"))
    table_of("Quantiles of 10,000 generated rows, each a unit, in bounds of 0 to 100: evenly spread; skewed (lognormal);"
             "\ndiscrete (1 to 5); constant (40)", "shapes", answers)


def main():
    psql("CREATE DATABASE utility")
    os.environ["PGDATABASE"] = "utility"
    psql("CREATE EXTENSION dp_cdp")
    make_role(ANALYST)
    print(f"Each answer was released {TIMES} times at each rho.")
    adult()
    restaurant()
    shapes()


if __name__ == "__main__":
    main()
