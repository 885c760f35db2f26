#!/usr/bin/env python3
"""What kept answers save: twenty analysts look at forty charts every hour.

The server is named by PGHOST and so on; superuser.  A simulated day is asked in full: 24 hours, each analyst each chart, the
analysts in another order every hour; 16 at the dataset's usual price, 4 at four times of it.  dp_cdp.forget_answers is the end of a
day, as `reuse` is too long to be waited for: it ends the same answers, those of the day.  With dp_cdp.reuse off two hours
are asked, as all hours of a day are alike then.

A year is 365 such days.  That is held, not assumed: prices depend on no row and on no noise, all answers end with the day,
and balances must have risen by exactly the same amounts after a second day, and after the second hour without reuse.

REPLAY_ROWS (2e4), REPLAY_HOURS (24, the hours of the day) and REPLAY_DAYS (365) say how much.
"""
import os
import random
import subprocess
import sys
import time
from decimal import Decimal

from session import Session

ROWS = int(float(os.environ.get("REPLAY_ROWS") or 2e4))
HOURS = int(os.environ.get("REPLAY_HOURS") or 24)
DAYS = int(os.environ.get("REPLAY_DAYS") or 365)
DATABASE = "replay"
ANALYSTS = [f"replay_{i:02}" for i in range(1, 21)]
LEADS = ANALYSTS[-4:]
RHO, LEADS_RHO = "0.0001", "0.0004"
TARGET = 20

SETUP = f"""
CREATE EXTENSION dp_cdp;
CREATE TABLE visits (patient int, dept text NOT NULL, ward int NOT NULL, visited_on date, cost numeric(8,2), minutes int);
INSERT INTO visits SELECT i % ({ROWS} / 4), (ARRAY['surgery', 'cardiology', 'neurology', 'orthopedics', 'pediatrics'])[1 + i % 5], 1 + i % 12,
	date '2025-01-01' + i % 365, i % 500, i % 240 FROM generate_series(1, {ROWS}) i;
ANALYZE visits;
SELECT dp_cdp.create_dataset('replay', default_rho => {RHO}, reuse => '1 day');
SELECT dp_cdp.protect_table('visits', 'replay', unit => 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['surgery', 'cardiology', 'neurology', 'orthopedics', 'pediatrics']);
SELECT dp_cdp.set_keys('visits', 'ward', (SELECT array_agg(i) FROM generate_series(1, 12) i));
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 500), dp_cdp.set_bounds('visits', 'minutes', 0, 240),
	dp_cdp.set_bounds('visits', 'visited_on', '2025-01-01', '2025-12-31');
"""

MEASURES = ["count(*)", "sum(cost)", "avg(cost)", "count(*), avg(minutes)", "sum(cost), sum(minutes)"]
GROUPINGS = ["", "dept", "ward", "date_trunc('month', visited_on)"]
CONDITIONS = ["", "WHERE cost > 100"]
CHARTS = [f"SELECT {by + ', ' if by else ''}{measure} FROM visits {which} {'GROUP BY ' + by if by else ''}"
          for which in CONDITIONS for by in GROUPINGS for measure in MEASURES]


def psql(sql, database=DATABASE):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"], input=sql, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def balances():
    """What has been spent, by whom."""
    return {who: Decimal(rho) for who, rho in (row.split("|") for row in psql(
        "SELECT role::regrole::text, rho_spent FROM dp_cdp_internal.budget UNION ALL SELECT 'cap', rho_spent FROM dp_cdp_internal.dataset").split())}


def rise(before, after):
    return {who: after[who] - before[who] for who in after}


class Day:
    def __init__(self):
        self.sessions = {who: Session(DATABASE, "-U", who, settings=["dp_cdp.rho = " + (LEADS_RHO if who in LEADS else RHO)])
                         for who in ANALYSTS}
        self.order = random.Random(17)

    def set(self, setting):
        for session in self.sessions.values():
            session.answer("SET " + setting)

    def hour(self):
        for who in self.order.sample(ANALYSTS, len(ANALYSTS)):
            self.sessions[who].answer(";\n".join(CHARTS))

    def run(self, name, asked=HOURS):
        """What each hour added to the balances."""
        hours = []
        for hour in range(asked):
            before, started = balances(), time.time()
            self.hour()
            hours.append(rise(before, balances()))
            print(f"  {name}, hour {hour + 1}: {time.time() - started:.1f} s", file=sys.stderr, flush=True)
        return hours


def total(hours):
    return {who: sum(hour[who] for hour in hours) for who in hours[0]}


def one_of(day, who):
    """What each of these spent; they must agree."""
    spent = {day[w] for w in who}
    if len(spent) != 1:
        raise RuntimeError(f"analysts spent different amounts: {spent}")
    return spent.pop()


def report(reused, fresh):
    print(f"{len(ANALYSTS)} analysts, {len(CHARTS)} charts, each {HOURS} times a day for {DAYS} days: "
          f"{len(ANALYSTS) * len(CHARTS) * HOURS * DAYS:,} charts shown. Rho of a year:\n")
    print("| | without reuse | reuse of a day | as many refreshes for the same budget | target | |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, who in ((f"each of {len(ANALYSTS) - len(LEADS)} analysts (rho {RHO})", ANALYSTS[:-len(LEADS)]),
                      (f"each of {len(LEADS)} analysts (rho {LEADS_RHO})", LEADS), ("all together: the cap", ["cap"])):
        was, now = one_of(fresh, who), one_of(reused, who)
        print(f"| {name} | {was * DAYS:.3f} | {now * DAYS:.3f} | {was / now:.1f} | {TARGET} | {'pass' if was / now >= TARGET else 'MISS'} |")


def main():
    for who in ANALYSTS:
        psql(f"CREATE ROLE {who} LOGIN", "postgres")
    psql(f"CREATE DATABASE {DATABASE}", "postgres")
    psql(SETUP + "".join(f"SELECT dp_cdp.set_budget('replay', '{who}', rho => 1e6);\n" for who in ANALYSTS))
    day = Day()
    days = []
    for name in ("first day", "second day"):
        days.append(total(day.run(name)))
        psql("SELECT dp_cdp.forget_answers('replay')")
    if days[0] != days[1]:
        raise RuntimeError(f"the second day cost something else than the first: {days}")
    day.set("dp_cdp.reuse = off")
    hours = day.run("without reuse", 2)
    if hours[0] != hours[1]:
        raise RuntimeError(f"the hours without reuse cost different amounts: {hours}")
    report(days[0], {who: rho * HOURS for who, rho in hours[0].items()})
    for session in day.sessions.values():
        session.close()
    psql(f"DROP DATABASE {DATABASE}", "postgres")
    psql("".join(f"DROP ROLE {who};" for who in ANALYSTS), "postgres")


if __name__ == "__main__":
    main()
