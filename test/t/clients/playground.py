"""docs/playground.html in a headless Chromium, beside what a server answers.

    playground.py CHROMIUM WORK PAGE

Prints what DriverTest.pm reads. The page as it is tells what it shows, and asks the network for nothing. A copy with a script
at its end tells what its functions return; its people become a table of the server.
"""
import html
import itertools
import json
import os
import re
import subprocess
import sys

import report_page as browser
from dptap import Tap


class Playground(Tap):
    def __init__(self):
        self.n = 0


tap = Playground()
program, work, page = sys.argv[1:4]
RHOS = ["0.0001", "0.003", "0.01", "0.1", "0.5", "1", "2", "7", "20"]
DELTAS = ["1e-12", "1e-9", "1e-6", "1e-3"]
LIMITS = [1, 2.5, 8, 100]


def sql(query):
    """rows of numbers"""
    run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], input="SET client_min_messages = error;\n" + query, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode:
        print(f"not ok - the server answers\n# {query[-300:]}\n# {run.stderr}")
        sys.exit(1)
    return [[float(cell) for cell in line.split("|") if cell] for line in run.stdout.split("\n") if re.match(r"[-\d]", line)]


def near(seen, wanted, error, name):
    seen, wanted = list(seen), list(wanted)
    wrong = [(a, b) for a, b in itertools.zip_longest(seen, wanted, fillvalue=float("nan")) if not abs(a - b) <= error * abs(b)]
    tap.ok(len(seen) > 0 and not wrong, f"{name}: {len(seen)} numbers", f"page and server: {wrong[:5]}")


def asked_of(script):
    """what a script at the end of the page makes of the page's functions"""
    copy = os.path.join(work, "playground-asked.html")
    source = open(page, encoding="utf-8").read()
    assert "</body>" in source
    with open(copy, "w", encoding="utf-8") as out:
        out.write(source.replace("</body>", f"<pre id='told'></pre><script>document.getElementById('told').textContent = "
                                            f"JSON.stringify((function () {{ {script} }})());</script></body>"))
    told = re.search(r"<pre id=\"told\">(.*?)</pre>", browser.chromium(program, work, "--dump-dom", "file://" + copy), re.S)
    return json.loads(html.unescape(told[1]))


def shown(state):
    dom = browser.chromium(program, work, "--dump-dom", f"file://{page}#{state}")
    return {name: float(value) for name, value in re.findall(r'<data id="(\w+)" value="([^"]+)"', dom)}, dom


def formulas():
    js = json.dumps
    told = asked_of(f"""var rhos = {js([float(r) for r in RHOS])}, deltas = {js([float(d) for d in DELTAS])}, limits = {js(LIMITS)}, a = {{}};
        function each(f, g) {{ return [].concat.apply([], rhos.map(function (r) {{ return g.map(function (x) {{ return f(r, x); }}); }})); }}
        a.epsilon = each(dp.epsilon, deltas); a.stddev = each(dp.stddev, limits); a.margin = each(dp.margin, limits);
        a.guess = rhos.map(dp.guess); a.answers = each(function (b, r) {{ return dp.answers(b, r); }}, rhos);
        a.sample = []; for (var i = 0; i < 40000; i++) a.sample.push(dp.noise(i % 2 ? 0.7 : 25.5));
        return a;""")
    grid = lambda f, xs: "SELECT " + f + f" FROM unnest(ARRAY[{','.join(RHOS)}]::float8[]) WITH ORDINALITY r (rho, i), unnest(ARRAY[{','.join(map(str, xs))}]::float8[]) WITH ORDINALITY x (x, j) ORDER BY i, j"
    column = lambda f, xs: [row[0] for row in sql(grid(f, xs))]
    near(told["epsilon"], column("dp_cdp.zcdp_epsilon(rho, x)", DELTAS), 1e-9, "epsilon is dp_cdp.zcdp_epsilon's")
    near(told["stddev"], column("dp_cdp.stddev_of(rho, upper => x)", LIMITS), 1e-12, "the noise is dp_cdp.stddev_of's")
    near(told["margin"], column("dp_cdp.margin_of(rho, 0.95, upper => x, step => 0)", LIMITS), 1e-9, "the margin is dp_cdp.margin_of's")
    granted = sql("".join(f"SELECT best_guess, aggregates FROM dp_cdp.create_dataset('{b} {r}', rho => {b}, default_rho => {r}, min_rho => {r});\n"
                          for b in RHOS for r in RHOS if float(r) <= float(b)))
    pairs = [(guess, n) for guess, row in zip(told["guess"], [told["answers"][i:i + len(RHOS)] for i in range(0, len(RHOS) ** 2, len(RHOS))])
             for n, r in zip(row, RHOS) if float(r) <= float(RHOS[told["guess"].index(guess)])]
    # the server rounds upwards, to four digits
    tap.ok(len(pairs) == len(granted) and all(-1e-9 <= there[0] - here[0] <= 1.0001e-4 for here, there in zip(pairs, granted)),
           "the guess is best_guess of dp_cdp.create_dataset", list(zip(pairs, granted))[:5])
    near([n for _, n in pairs], [row[1] for row in granted], 0, "as many answers fit as create_dataset says")
    # 20,000 of each: 7 % are seven standard deviations
    for sigma, sample in ((25.5, told["sample"][::2]), (0.7, told["sample"][1::2])):
        # the variance of the discrete law, which is less than sigma^2 where sigma is small
        weight = {x: pow(2.718281828459045, -x * x / (2 * sigma * sigma)) for x in range(-400, 401)}
        variance = sum(x * x * w for x, w in weight.items()) / sum(weight.values())
        near([sum(x * x for x in sample) / len(sample)], [variance], 0.07, f"noise of {sigma} has its variance")
        tap.ok(abs(sum(sample) / len(sample)) < 7 * sigma / len(sample) ** 0.5, f"noise of {sigma} has a mean of 0")


def counts():
    """people of the page, on the server"""
    many, rows, groups = 4000, 4, 5
    told = asked_of(f"""var all = dp.people({many}, {rows}, {groups}), limits = {LIMITS}, rhos = [0.003, 0.01, 0.1];
        return {{ all: all, bounded: limits.map(function (l) {{ return dp.counted(all, {groups}, l).bounded; }}), truth: dp.counted(all, {groups}, 1).truth,
            best: rhos.map(function (r) {{ return dp.best(all, {groups}, r); }}), noise: rhos.map(function (r) {{ return dp.stddev(dp.left(r, {groups}, true), 1); }}),
            limits: dp.limits() }};""")
    values = ",".join(f"({i},{j},{c})" for i, person in enumerate(told["all"]) for j, c in enumerate(person) if c)
    # the superuser's own answers would have no noise: a role asks
    sql(f"""CREATE TABLE play AS SELECT i AS person, j AS place FROM (VALUES {values}) v (i, j, n), generate_series(1, n);
        SELECT dp_cdp.create_dataset('play', rho => 1e6, delta => 0.1); SELECT dp_cdp.protect_table('play', 'play', unit => 'person');
        ALTER TABLE play ALTER place SET NOT NULL;
        SELECT dp_cdp.set_keys('play', 'place', ARRAY[{','.join(map(str, range(groups)))}]);
        CREATE ROLE player; SELECT dp_cdp.set_budget('play', 'player', rho => 1e6);""")
    near(told["truth"], [row[1] for row in sql("SELECT place, count(*) FROM play GROUP BY 1 ORDER BY 1")], 0, "true counts")
    for limit, bounded in zip(LIMITS, told["bounded"]):
        # next to no noise: a count is rounded, and so is what each person adds
        seen = sql(f"SET ROLE player; SET dp_cdp.max_contribution = {limit}; SET dp_cdp.rho = 5e4; SELECT place, count(*) FROM play GROUP BY 1 ORDER BY 1")
        tap.ok(len(seen) == groups and all(abs(row[1] - b) <= 2 for row, b in zip(seen, bounded)), f"what a limit of {limit} leaves", f"{bounded} {seen}")
        near([row[0] for row in sql(f"SET ROLE player; SET dp_cdp.max_contribution = {limit}; SET dp_cdp.rho = 0.01;"
                                    "SELECT place, dp_noise_stddev(count(*)) FROM play GROUP BY 1; SELECT stddev FROM dp_cdp.last_release() WHERE norm IS NOT NULL")[-1:]],
             [limit / 0.02 ** 0.5], 1e-6, f"its noise, at a limit of {limit}")
    for rho, best, noise in zip((0.003, 0.01, 0.1), told["best"], told["noise"]):
        (norm, stddev), = sql(f"SET ROLE player; SET dp_cdp.max_contribution = auto; SET dp_cdp.rho = {rho}; CREATE TEMP TABLE t AS SELECT place, count(*) FROM play GROUP BY 1;"
                              "SELECT norm, stddev FROM dp_cdp.last_release() WHERE norm IS NOT NULL")
        near([norm * noise], [stddev], 1e-6, f"the noise at the limit that is found, rho {rho}")
        tap.ok(any(abs(norm - one) < 1e-3 * norm for one in told["limits"]), f"the limit that is found is one of the page's, rho {rho}", norm)
        # noise decides between neighbours, four of which are a factor of 2 apart
        tap.ok(best / 2.5 < norm < best * 2.5, f"it is about the page's best, rho {rho}", f"{norm} {best}")


def page_itself():
    values, dom = shown("people=3000&rows=4&groups=4&limit=3&auto=0&rho=0.01&budget=0.5&delta=1e-6")
    (epsilon, guess, n, margin), = sql("SELECT dp_cdp.zcdp_epsilon(0.5, 1e-6), best_guess, aggregates, dp_cdp.margin_of(0.01, 0.95, upper => 3, step => 0) "
                                       "FROM dp_cdp.create_dataset('shown', rho => 0.5)")
    near([values.get(k, -1) for k in ("epsilon", "guess", "answers", "margin")], [epsilon, guess, n, margin], 1e-4, "the page shows what SQL says")
    bars = re.search(r'<svg id="bars".*?</svg>', dom, re.S)[0]
    tap.equal([bars.count(f'class="{kind}"') for kind in ("noisy", "true", "margin")], [4, 4, 4], "the page draws a bar of each group")
    tap.ok(0 < values.get("cut", 0) < 1 and 'class="cut"' in bars, "the page shows what is cut")
    tap.equal(shown("people=3000&rows=1&groups=1&limit=1&auto=0")[0].get("cut"), 0, "nothing is cut of people with one row")
    tap.ok(not re.search(r"NaN|Infinity|undefined", re.sub(r"<script>.*?</script>", "", dom, flags=re.S)), "all that is shown are numbers")
    for state in ("people=10&rows=40&groups=12&rho=0.0001&budget=0.01", "people=50000&rows=40&groups=12&rho=1&budget=20", "people=none&rho=-1&limit=1e9&auto=0"):
        _, there = shown(state)
        there = re.sub(r"<script>.*?</script>", "", there, flags=re.S)
        tap.ok(there.count('class="noisy"') >= 5 and not re.search(r"NaN|Infinity|undefined", there), f"an end of the sliders: {state}")
    for width in (360, 1280):
        seen = browser.measured(program, work, "playground", page, width)
        tap.ok(seen is not None and seen["over"] <= 0 and not seen["wide"], f"{width} pixels wide, nothing hangs over", seen)
    tap.equal(browser.asked(), [], "no network request")


browser.listen()
formulas()
counts()
page_itself()
print(f"end {tap.n}")
