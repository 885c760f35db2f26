#!/usr/bin/env python3
"""Draws the pictures of README.md and docs/ from answers of a server: "make pictures" runs it.

    draw.py DIRECTORY      PGHOST and PGPORT: a server with dp_cdp whose superuser is PGUSER

It makes a database "pictures" and the roles picture_owner and picture_ana, asks, and writes one SVG for each picture.
Each has a card of its own in light and in dark, text as text, and a title and a description for those who do not see it.
Boxes and captions stand here; each number is an answer.  The picture of ARCHITECTURE.md has no numbers, and asks nothing.
"""
import math
import os
import subprocess
import sys

CLINIC = """
SET client_min_messages = error;
CREATE EXTENSION dp_cdp;
CREATE ROLE picture_owner LOGIN;
CREATE ROLE picture_ana LOGIN;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO picture_owner;
GRANT CREATE ON SCHEMA public TO picture_owner;
SET SESSION AUTHORIZATION picture_owner;
SET client_min_messages = error;
CREATE TABLE visits AS
SELECT i AS patient_id, (ARRAY['cardiology', 'neurology', 'surgery'])[1 + (i + v) % 3] AS dept, 10 + (i * v) % 400 AS cost
FROM generate_series(1, 4000) i, generate_series(1, 1 + floor(-3 * ln((i - 0.5) / 4000))::int) v;
ALTER TABLE visits ALTER dept SET NOT NULL;
CREATE TABLE cases AS
SELECT row_number() OVER () AS patient_id, d AS diagnosis
FROM (VALUES ('flu', 1400), ('asthma', 600), ('gout', 180), ('rabies', 3)) t (d, n), generate_series(1, n);
ALTER TABLE cases ALTER diagnosis SET NOT NULL;
SELECT dp_cdp.create_dataset('clinic', rho => 2, delta => 1e-5);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient_id');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 500);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['cardiology', 'neurology', 'surgery']);
SELECT dp_cdp.protect_table('cases', 'clinic', unit => 'patient_id');
SELECT dp_cdp.set_budget('clinic', 'picture_ana', rho => 0.2, delta => 1e-6);
"""

STYLE = """
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.s{font-size:12px;fill:var(--soft)}.b{font-weight:600}.h{font-size:20px;font-weight:700}.c{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:11.5px}
.m{text-anchor:middle}.e{text-anchor:end}.blue{fill:var(--blue)}.amber{fill:var(--amber)}.red{fill:var(--red)}
.card{fill:var(--card);stroke:var(--line)}.box{fill:none;stroke:var(--soft);stroke-width:1.5}.wash{fill:var(--wash);stroke:var(--blue);stroke-width:1.5}
.axis{stroke:var(--soft)}.l{fill:none;stroke-width:2}.lb{stroke:var(--blue)}.la{stroke:var(--amber)}.lr{stroke:var(--red)}.ls{stroke:var(--soft)}.li{stroke:var(--ink)}
.d{stroke-dasharray:4 3}.fb{fill:var(--blue)}.fs{fill:var(--soft)}.fa{fill:var(--amber)}.fr{fill:var(--red)}
"""
COLOURS = {"light": "--ink:#1b1f24;--soft:#59636e;--card:#fff;--line:#d7dce2;--blue:#1d5fbf;--wash:#dfe8f8;--amber:#a85f00;--red:#b3261e",
           "dark": "--ink:#e6e9ed;--soft:#a3adb8;--card:#161b22;--line:#343b45;--blue:#79aef5;--wash:#1f3350;--amber:#e3a34f;--red:#ff8a80"}
WIDTH = 660


def psql(role, database, sql, stop=True):
    """Runs SQL as a role and returns rows of cells, or the first error's message where it may not stop."""
    run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database], input=sql, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode and stop:
        sys.exit(run.stderr)
    if run.returncode:
        return run.stderr.split("ERROR:", 1)[1].strip().split("\n")[0]
    return [line.split("|") for line in run.stdout.split("\n") if line]


def ana(sql, stop=True):
    return psql("picture_ana", "pictures", sql, stop)


def owner(sql):
    return psql("picture_owner", "pictures", sql)


# ---------------------------------------------------------------------------
# drawing
# ---------------------------------------------------------------------------

def escaped(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def text(x, y, words, kind=""):
    return f'<text x="{x:g}" y="{y:g}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{escaped(words)}</text>'


def rect(x, y, w, h, kind, r=0):
    return f'<rect x="{x:.4g}" y="{y:.4g}" width="{w:.4g}" height="{h:.4g}" class="{kind}"{f" rx={chr(34)}{r}{chr(34)}" if r else ""}/>'


def path(d, kind):
    return f'<path d="{d}" class="{kind}"/>'


def line(x1, y1, x2, y2, kind):
    return path(f"M{x1:.4g} {y1:.4g}L{x2:.4g} {y2:.4g}", "l " + kind)


def arrow(x1, y1, x2, y2, colour):
    """a straight arrow, from left to right, right to left or upwards"""
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    head = f"M{x2} {y2}L{x2 - 9 * dx - 5 * dy} {y2 - 9 * dy - 5 * dx}L{x2 - 9 * dx + 5 * dy} {y2 - 9 * dy + 5 * dx}Z"
    return line(x1, y1, x2 - 6 * dx, y2 - 6 * dy, "l" + colour) + path(head, "f" + colour)


def error_bar(x1, x2, y):
    return path(f"M{x1:.1f} {y}H{x2:.1f}M{x1:.1f} {y - 5}V{y + 5}M{x2:.1f} {y - 5}V{y + 5}", "l li")


def number(value, decimals=0):
    return f"{float(value):,.{decimals}f}".replace("-", "\u2212")


def svg(name, height, title, description, body):
    frame = rect(0.5, 0.5, WIDTH - 1, height - 1, "card", 10)
    style = f":root{{{COLOURS['light']}}}@media (prefers-color-scheme:dark){{:root{{{COLOURS['dark']}}}}}{STYLE}".replace("\n", "")
    with open(os.path.join(sys.argv[1], name + ".svg"), "w", encoding="utf-8") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
                  f'aria-labelledby="t d">\n<title id="t">{escaped(title)}</title>\n<desc id="d">{escaped(description)}</desc>\n'
                  f"<style>{style}</style>\n{frame}\n" + "\n".join(body) + "\n</svg>\n")


# ---------------------------------------------------------------------------
# the pictures
# ---------------------------------------------------------------------------

def who_sees_what():
    (count, margin), = ana("SELECT count(*), round(dp_margin(count(*))) FROM visits")
    refused = ana("SELECT * FROM visits", stop=False).split(";")[0]
    answer = f"{number(count)} \u00b1 {margin}"
    box = lambda x, kind, title, *lines: [rect(x, 34, 150, 92, kind, 8), text(x + 75, 60, title, "b m")] + [
        text(x + 75, 84 + 18 * i, words, "s m") for i, words in enumerate(lines)]
    svg("who-sees-what", 216, "Who sees what",
        f"An analyst sends SQL to dp_cdp, which reads the table visits and gives back a noisy answer, {answer}. "
        f"The straight way from the analyst to the rows is closed: {refused}.",
        box(20, "box", "Ana, or her tool", "plain SQL,", "no SELECT on visits") + box(275, "wash", "dp_cdp", "limits, adds noise,", "pays from her budget")
        + box(490, "box", "visits", "a row for each visit,", "patient_id")
        + [arrow(170, 58, 275, 58, "b"), text(222, 50, "count(*)", "c m blue"), arrow(275, 104, 170, 104, "b"), text(222, 96, answer, "s m blue"),
           arrow(490, 80, 425, 80, "s"), text(457, 72, "rows", "s m"),
           path("M95 126V172H565V126", "l lr d"), text(330, 164, "SELECT * FROM visits", "c m red"), text(330, 194, refused, "s m red")])


def the_promise():
    body = [path("M24 24H46", "l lb"), text(54, 28, "answers without Ana\u2019s rows", "blue"), path("M264 24H286", "l la"), text(294, 28, "answers with them", "amber"),
            text(WIDTH - 20, 28, "a coin is right 50 %", "s e")]
    said = []
    for k, (rho, words) in enumerate([("0.01", "answer: rho 0.01"), ("0.5", "budget: rho 0.5"), ("2", "budget: rho 2"), ("20", "budget: rho 20")]):
        (guess,), = owner(f"SET client_min_messages = error; SELECT best_guess FROM dp_cdp.create_dataset('rho {rho}', rho => {rho})")
        # two normal laws of standard deviation 1, sqrt(2 rho) apart, drawn to the width that there is
        apart, left, width, base = math.sqrt(2 * float(rho)), 20 + 157 * k, 149, 138
        scale = width / (apart + 6.4)
        for centre, colour in ((-apart / 2, "lb"), (apart / 2, "la")):
            xs = [i / 20 * (apart + 6.4) / 2 for i in range(-20, 21)] if apart < 4 else \
                sorted([i / 20 * (apart + 6.4) / 2 for i in range(-20, 21)] + [centre + i / 4 for i in range(-10, 11)])
            body.append(path("M" + "L".join(f"{left + width / 2 + x * scale:.1f} {base - 86 * math.exp(-(x - centre) ** 2 / 2):.1f}" for x in xs), "l " + colour))
        percent = number(100 * float(guess), 0 if float(guess) < 0.995 else 1) + " %"
        said.append(f"{percent} at rho {rho}")
        body += [line(left, base, left + width, base, "axis"), text(left + width / 2, 160, words, "b m"),
                 text(left + width / 2, 186, percent, "h m" + (" red" if float(rho) > 1 else "")), text(left + width / 2, 205, "of guesses are right", "s m")]
    svg("with-and-without-ana", 220, "With Ana or without her, answers look nearly the same",
        "Pairs of bells: how likely each answer is without the rows of one person, and with them. The bells overlap at a small rho, and part at a large one. "
        "Who knows everybody else's rows, and guesses by all answers whether hers are there, is right: " + ", ".join(said) + ". A coin is right 50 %.", body)


def limits():
    (rows,), = owner("SELECT count(*) FROM visits")
    answers = []
    for limit in ("2", "auto", "50"):
        found = ana(f"SET dp_cdp.max_contribution = {limit}; SELECT count(*), dp_margin(count(*)), coalesce(dp_cut(count(*))::text, '') FROM visits;"
                    "SELECT norm FROM dp_cdp.last_release() WHERE norm IS NOT NULL")
        answers.append((limit, *map(float, found[0][:2]), found[0][2], float(found[1][0])))
    found = answers[1][4]
    body = [text(626, 30, "blue counts, red does not", "s e"), text(104, 30, "visits of some patients", "s")]
    # heavy patients count with less weight
    for i, visits in enumerate([1, 3, 5, 2, 8, 4, 1, 11, 6, 2, 27, 3, 7, 1, 34, 4]):
        x, scale, counts = 110 + 32 * i, 74 / 34, min(visits, found)
        body.append(rect(x, 122 - counts * scale, 20, counts * scale, "fb"))
        if visits > found:
            body.append(rect(x, 122 - visits * scale, 20, (visits - found) * scale, "l lr d"))
    y = 122 - found * 74 / 34
    body += [line(104, 122, 626, 122, "axis"), line(104, y, 626, y, "lr"), text(98, 126, "0", "s e"), text(98, y + 4, f"limit {number(found)}", "e red")]
    scale = 300 / float(rows)
    for i, (limit, count, margin, cut, _) in enumerate(answers):
        y = 148 + 40 * i
        told = f"dp_cut: {number(100 * float(cut), 1)} % is cut" if cut else "nothing tells what is cut"
        body += [text(110, y + 19, f"set to {limit}" if limit != "auto" else "found (auto)", "e" + (" b" if limit == "auto" else "")),
                 rect(120, y + 4, count * scale, 22, "fb" if limit == "auto" else "wash"), rect(120, y + 4, 300, 22, "l ls d"),
                 error_bar(120 + (count - margin) * scale, 120 + (count + margin) * scale, y + 15),
                 text(450, y + 12, f"{number(count)} \u00b1 {number(margin)}", "b"), text(450, y + 28, told, "s" + ("" if limit == "auto" else " red"))]
    body.append(text(120, 284, f"dashed: the true count, {number(rows)}, which nobody is told", "s"))
    svg("limits", 300, "A patient counts up to a limit",
        f"Patients with few visits count in full; those above the limit of {number(found)} count with less weight. Below, three counts of {rows} visits: "
        + "; ".join(f"limit {l}: {number(c)} \u00b1 {number(m)}" for l, c, m, _, _ in answers) + ". Only where the limit is found does the answer tell what it cuts.", body)


def noise():
    keys = ["flu", "asthma", "gout", "rabies"]
    owner("SELECT dp_cdp.set_keys('cases', 'diagnosis', ARRAY['asthma', 'flu', 'gout', 'plague', 'rabies'])")
    rows = {name: (float(count), float(margin)) for name, count, margin in
            ana("SELECT diagnosis, count(*), round(dp_margin(count(*))) FROM cases WHERE diagnosis <> 'plague' GROUP BY diagnosis")}
    body, scale, left = [], 380 / 1400, 110
    for i, name in enumerate(keys):
        count, margin = rows[name]
        y, nothing = 22 + 40 * i, abs(count) <= margin
        body += [text(left - 12, y + 16, name, "e"), rect(left, y, max(count, 0) * scale, 22, "wash"),
                 error_bar(left + (count - margin) * scale, left + (count + margin) * scale, y + 11),
                 text(left + max(count + margin, 0) * scale + 14, y + 16, f"{number(count)} \u00b1 {number(margin)}" + (": 0 is within it" if nothing else ""), "red" if nothing else "")]
    body += [line(left, 14, left, 178, "axis"), text(left, 200, "The noise is the same for all bars. It hides a person, not a hospital.", "s")]
    svg("noise", 216, "Noise is the same for large groups and small ones",
        "Counts by diagnosis, each with its margin of 95 %: " + ", ".join(f"{name} {number(rows[name][0])} \u00b1 {number(rows[name][1])}" for name in keys) + ".", body)


def budget():
    left = lambda: float(ana("SELECT rho_remaining FROM dp_cdp.budgets WHERE dataset = 'clinic'")[0][0])
    # as if she had asked nothing yet
    (spent,), = ana("SELECT rho_spent FROM dp_cdp.budgets WHERE dataset = 'clinic'")
    owner(f"SELECT dp_cdp.set_budget('clinic', 'picture_ana', rho => {spent} + 0.2)")
    by_dept = "SELECT dept, count(*) FROM visits GROUP BY dept"
    # as one query, which is paid or refused as a whole
    charts = "SELECT " + ", ".join(f"count(*) FILTER (WHERE cost > {30 * i})" for i in range(12)) + " FROM visits"
    steps = [("count", by_dept), ("avg(cost)", "SELECT avg(cost) FROM visits"), ("count", "BEGIN; " + by_dept), ("ROLLBACK", "ROLLBACK"),
             ("EXPLAIN", "EXPLAIN " + by_dept), ("12 charts", charts), ("refused", charts)]
    at, x, y0, wide, tall = left(), 60, 176, 82, 640
    high = lambda rho: y0 - tall * rho
    full, d, body = at, f"M{x} {high(at):.1f}", []
    for name, sql in steps:
        # a session that ends in a transaction has rolled it back
        answer = ana(sql, stop=name != "refused")
        assert isinstance(answer, str) == (name == "refused"), answer
        now = left()
        d += f"H{x + wide}V{high(now):.1f}"
        body.append(text(x + wide / 2, high(at) - 8, name, "s m " + ("red" if name == "refused" else "amber b" if now == at else "")))
        if now < at:
            body.append(text(x + wide + 5, max(high(now) + 15, (high(at) + high(now)) / 2 + 4) if at - now < 0.05 else (high(at) + high(now)) / 2, f"\u2212{at - now:.2f}", "s blue"))
        at, x = now, x + wide
    body = [path(d + f"V{y0}H60Z", "wash"), path(d, "l lb"), line(60, y0, 634, y0, "axis"), text(52, high(full) + 5, f"{full:.2f}", "s e"), text(52, y0 + 4, "0", "s e"),
            text(52, high(full) - 14, "rho left", "s e")] + body
    body.append(text(60, 200, f"ROLLBACK gives nothing back, EXPLAIN is free, and {at:.2f} does not pay for 12 more.", "s"))
    svg("budget", 216, "A budget only goes down",
        f"Ana's budget of rho {full:.2f} as a staircase. Each aggregate takes 0.01, twelve charts 0.12. ROLLBACK and EXPLAIN are flat. "
        f"A query that the remaining {at:.2f} does not pay for is refused, which is flat, too.", body)


def groups():
    declared = {name: float(count) for name, count in ana("SELECT diagnosis, count(*) FROM cases GROUP BY diagnosis")}
    owner("SELECT dp_cdp.drop_keys('cases', 'diagnosis')")
    plan = ana("EXPLAIN SELECT diagnosis, count(*) FROM cases GROUP BY diagnosis")
    threshold = next(float(row[0].split(":")[1]) for row in plan if "Threshold:" in row[0])
    found = {name: float(count) for name, count in ana("SELECT diagnosis, count(*) FROM cases GROUP BY diagnosis")}
    base, tall, most, body = 160, 100, 300, []
    height = lambda count: min(abs(count), most) / most * tall

    def bar(x, name, count):
        shown = name in found or x > 330
        h = max(height(count), 2)
        top = base if shown and count < 0 else base - h
        parts = [rect(x, top, 38, h, "fb" if shown else "l lr d"), text(x + 19, base + 20, name, "m" + ("" if shown else " red"))]
        if not shown:
            return parts + [text(x + 19, base - height(threshold) - 6, "no bar", "s m red")]
        if count > most:
            parts.append(path(f"M{x - 3} {top + 14}l44 -8", "l la"))
        return parts + [text(x + 19, min(top, base) - 6, number(count), "s m")]

    for i, name in enumerate(["flu", "asthma", "gout", "rabies"]):
        body += bar(40 + 66 * i, name, found.get(name, 3))
    for i, name in enumerate(["flu", "asthma", "gout", "rabies", "plague"]):
        body += bar(352 + 58 * i, name, declared[name])
    y = base - height(threshold)
    body += [line(28, base, 310, base, "axis"), line(342, base, 636, base, "axis"), line(28, y, 310, y, "lr"), 
             text(169, 28, "found: what enough people have", "b m"), text(489, 28, "declared: each key, also an empty one", "b m"),
             text(169, 202, f"red line: {number(threshold)} people; fewer are not shown", "s m red"), text(489, 202, "costs no delta; set_keys names them", "s m")]
    svg("groups", 218, "Groups are found, or known",
        f"Left: groups that nobody has declared. Those of about {number(threshold)} people or more are shown, rabies with 3 is not. "
        "Right: all declared groups are shown, with noise around 0 for those without people. Bars of flu and asthma are cut off.",
        body)


def data_flow():
    alice, dp_cdp, others, wide = 16, 233, 450, 194

    def box(x, y, height, kind, title, *words, width=wide):
        return [rect(x, y, width, height, kind, 8), text(x + width / 2, y + 22, title, "b m")] + [
            text(x + width / 2, y + 42 + 18 * i, w, "s m") for i, w in enumerate(words)]

    body = [text(x + wide / 2, 30, words, "s m") for x, words in ((alice, "as alice"), (dp_cdp, "dp_cdp"), (others, "out of her reach"))]
    body += [rect(alice, 42, wide, 112, "box", 8), text(alice + wide / 2, 64, "her query", "b m")] + [
        text(alice + 10, 86 + 18 * i, words, "c") for i, words in enumerate(["SELECT dept, dp_sum(cost)", "FROM visits", "WHERE cost > 10", "GROUP BY dept"])]
    body += box(dp_cdp, 42, 112, "wash", "split, in guard/", "before PostgreSQL plans it;", "each function on rows is", "listed, or made safe,", "or the query is refused")
    body += box(others, 42, 112, "box", "inner query", "exact, bounded sums", "for each dept, planned", "as the owner of visits,", "in a sandbox")
    body += box(alice, 206, 112, "box", "outer query", "reads released rows alone;", "HAVING, ORDER BY,", "arithmetic, as PostgreSQL", "runs any other query")
    body += [rect(dp_cdp, 206, wide, 292, "wash", 8), text(dp_cdp + wide / 2, 228, "DpRelease, in release/", "b m"),
             text(dp_cdp + wide / 2, 246, "one node of the outer plan", "s m")]
    for i, (name, words) in enumerate([("1 price", "from bounds; reads no row"), ("2 prefetch", "public rows, as alice"), ("3 debit", "before any row is read"),
                                       ("4 inner plan", "rows become integers"), ("5 noise", "discrete Gaussian, in math/"), ("6 released rows", "kept for rescans")]):
        body += [text(dp_cdp + 14, 272 + 38 * i, name, "b"), text(dp_cdp + 14, 288 + 38 * i, words, "s")]
    body += box(others, 310, 64, "box", "ledger/", "a worker commits it", width=162) + box(others, 398, 100, "box", "rows of visits", "bounded and added up", "in agg/, as their owner,", "in the sandbox")
    body += [arrow(210, 98, 233, 98, "b"), arrow(427, 98, 450, 98, "b"),
             # the outer query
             path("M262 154V180H180", "l lb"), arrow(180, 180, 180, 206, "b"), text(222, 174, "the rest", "s m"),
             # the inner query
             line(630, 154, 630, 390, "lb d"), path("M630 398L625 389L635 389Z", "fb"), text(622, 280, "its plan", "s e"),
             arrow(427, 336, 450, 336, "b"), arrow(450, 356, 427, 356, "b"),
             arrow(450, 416, 427, 416, "a"),
             path("M233 472H113V326", "l lb"), path("M113 318L108 327L118 327Z", "fb"), text(173, 464, "noisy sums", "s m blue"),
             arrow(70, 206, 70, 154, "b"), text(78, 185, "answer", "s blue"),
             text(WIDTH / 2, 524, "Up to the debit nothing is spent, whatever fails. From then on it is spent, whatever follows.", "s m")]
    svg("data-flow", 540, "The way of a query and of its answer",
        "Three columns: what runs as alice, dp_cdp, and what is out of her reach. dp_cdp splits her query before it is planned. The inner query computes "
        "exact, bounded sums as the owner of the table. The outer query is the rest. The node DpRelease stands between them: it sets the price, fetches "
        "public rows, has the ledger's worker commit the debit, runs the inner plan, adds noise and hands out released rows. The outer query makes her answer of these.",
        body)


def main():
    data_flow()
    psql(os.environ["PGUSER"], "postgres", "CREATE DATABASE pictures")
    psql(os.environ["PGUSER"], "pictures", CLINIC)
    for draw in (who_sees_what, the_promise, limits, noise, budget, groups):
        draw()


main()
