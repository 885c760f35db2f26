#!/usr/bin/env python3
"""Asks visits by department with their margins, once, and draws them with error bars.

    visits_by_dept.py CONNECTION PICTURE      "host=/tmp dbname=clinic user=alice" visits_by_dept.svg

Needs psycopg, pandas and matplotlib (Debian: python3-psycopg, python3-pandas, python3-matplotlib). The tables are those of
docs/start.md. Each run pays for its counts again, so keep the frame.
"""
import sys

import matplotlib
import pandas as pd
import psycopg

matplotlib.use("svg")
import matplotlib.pyplot as plt

QUERY = """SELECT dept, count(*) AS visits, dp_margin(count(*)) AS give_or_take
FROM visits GROUP BY dept ORDER BY dept"""


def ask(connection):
    """the answer as a frame, and what is left of the budget"""
    with psycopg.connect(connection, autocommit=True) as server:
        answer = server.execute(QUERY)
        frame = pd.DataFrame(answer.fetchall(), columns=[column.name for column in answer.description])
        left, = server.execute("SELECT rho_remaining FROM dp_cdp.budgets WHERE dataset = 'clinic'").fetchone()
    return frame, left


def draw(frame, picture):
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "dp_cdp"})
    figure, axes = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
    axes.barh(frame["dept"], frame["visits"], xerr=frame["give_or_take"], color="#9dbdf0", edgecolor="#1d5fbf", capsize=4)
    axes.invert_yaxis()
    axes.set_xlabel("visits, with margins of 95 %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, metadata={"Title": "Visits by department", "Description": "Noisy counts with error bars", "Date": None})


def main():
    connection, picture = sys.argv[1:]
    frame, left = ask(connection)
    # a bar within its margin says nothing
    frame["seen"] = frame["visits"].abs() > frame["give_or_take"]
    print(frame.round(1).to_string(index=False))
    print(f"rho {left} is left")
    draw(frame, picture)


main()
