#!/usr/bin/env python3
"""dp_mode: each value is the answer as often as noise makes its count the largest.

The answer is the value with the largest noisy count, of equal ones the first
in its order.  The counts are known here, and the noise of each is an
independent discrete Gaussian, so that the probability of each value is a sum
over the integers.  It is beside the frequency that is seen, whose limits are
Chernoff's (dpstat.frequency_limit).  Noise is small enough for ties to
be common, and large enough for each value to be an answer.

Other laws must not fit: that with a quarter of the variance in `make test` (3,000 answers of
each kind), with half of it in `make test-all` (16,000), and where so many answers tell, that of another
order of equal counts.  Each would by chance with probability CHANCE at most.
"""
import math

from dpstat import Noise, Tap, by_chance, execute, frequency_limit, make_role, psql, size, spent

ANALYST = "modal"
EXECUTIONS = size(3000, 16000)
SHARE = size(4, 2)              # of the variance, must not fit
CHANCE = 1e-9
RHO = 0.25
COUNTS = [6, 9, 9, 4, 0, 8]
MAX_ROWS = 2
MAX_GROUPS = 2
CASES = [(neighbors, unit, grouped) for neighbors in ("add_remove", "replace_one") for unit in (False, True) for grouped in (False, True)]
TELLING = [case for case in CASES if case[2] == ((case[0] == "add_remove") == case[1])]
# of two orders each: both limits of each value
CHECKS = len(CASES) * 2 * 2 * len(COUNTS)


def probabilities(noise, counts, last):
    """That each value has the largest noisy count; last: of equal counts the last one is the answer."""
    reach = math.ceil(14 * noise.sd) + max(counts) + 1
    points = range(-reach, reach + 1)
    weight = {x: math.exp(-x * x / (2 * noise.s2)) for x in range(-3 * reach, 3 * reach + 1)}
    total = math.fsum(weight.values())
    below, running = {}, 0.0        # P(noise < x)
    for x in sorted(weight):
        below[x] = running / total
        running += weight[x]
    result = []
    for i, count in enumerate(counts):
        terms = []
        for x in points:
            p = weight[x - count] / total
            for j, other in enumerate(counts):
                if j != i:
                    # an equal count loses to what comes before it
                    loses = (j < i) == last
                    p *= below[x - other + (1 if loses else 0)]
            terms.append(p)
        result.append(math.fsum(terms))
    return result


def create(name, neighbors, unit, grouped):
    """g = 1 has COUNTS rows of each value, all of a unit in one group and of one value; declared are all values."""
    psql("""
        CREATE TABLE {n} (u int, g int NOT NULL, v text NOT NULL);
        INSERT INTO {n} SELECT row_number() OVER () / {rows}, 1, chr(96 + i::int) FROM unnest(ARRAY{counts}) WITH ORDINALITY c (n, i), generate_series(1, n);
        -- so many units more that each has rows in one bin only
        UPDATE {n} SET u = ascii(v) * 1000 + u;
        INSERT INTO {n} SELECT 1000000 + i, 2, 'a' FROM generate_series(1, {others}) i;
        SELECT dp_cdp.create_dataset('{n}', neighbors => '{neighbors}', default_rho => {rho}, max_groups => {groups}, max_rows => {rows});
        SELECT dp_cdp.protect_table('{n}', '{n}', {column}, each_row => {column} IS NULL);
        SELECT dp_cdp.set_keys('{n}', 'g', ARRAY[1, 2]);
        SELECT dp_cdp.set_keys('{n}', 'v', ARRAY{values});
        SELECT dp_cdp.set_budget('{n}', '{analyst}', rho => 1e6);
        """.format(n=name, counts=COUNTS, neighbors=neighbors, rho=RHO, rows=MAX_ROWS, groups=MAX_GROUPS, others=5 if grouped else 0,
                   column="'u'" if unit else "NULL", values=[chr(97 + i) for i in range(len(COUNTS))], analyst=ANALYST))


def fits(seen, law, alpha):
    """Whether the frequency of each value may be its probability; alpha: of each limit."""
    n = sum(seen)
    return all(frequency_limit(hits, n, alpha, False) <= p <= frequency_limit(hits, n, alpha, True) for hits, p in zip(seen, law))


def fit_by_chance(law, other, alpha):
    """At most how likely the answers of one law fit another: by the value that tells most."""
    return min(by_chance(p, q, EXECUTIONS, alpha) for p, q in zip(law, other))


def check(tap, neighbors, unit, grouped):
    name = "mode_%s_%s_%s" % (neighbors, "units" if unit else "rows", "grouped" if grouped else "all")
    create(name, neighbors, unit, grouped)
    k = (MAX_GROUPS if grouped else 1) * MAX_ROWS ** 2 if unit else 1
    s2 = k * (1 if neighbors == "add_remove" else 2) / (2 * RHO)
    executed = 0
    for descending in (False, True):
        answer = "mode() WITHIN GROUP (ORDER BY v DESC)" if descending else "dp_mode(v)"
        runs = execute("SELECT %s AS m FROM %s%s" % (answer, name, " GROUP BY g HAVING g = 1" if grouped else ""), "m text",
                       EXECUTIONS, ANALYST, "", 40, parsed=False)
        executed += EXECUTIONS
        answers = [run[0][0] for run in runs]
        seen = [answers.count(chr(97 + i)) for i in range(len(COUNTS))]
        law = probabilities(Noise(s2), COUNTS, descending)
        alphas = [tap.alpha() for _ in range(2 * len(COUNTS))]
        note = ", ".join("%s %d, theory %.1f" % (chr(97 + i), hits, EXECUTIONS * p) for i, (hits, p) in enumerate(zip(seen, law)))
        tap.ok(sum(seen) == EXECUTIONS and abs(math.fsum(law) - 1) < 1e-9 and fits(seen, law, alphas[0]), "%s: %s" % (name, answer), note)
        less = probabilities(Noise(s2 / SHARE), COUNTS, descending)
        chance = fit_by_chance(law, less, alphas[0])
        tap.ok(chance <= CHANCE and not fits(seen, less, alphas[0]),
               "%s: %s has more than %g of the variance" % (name, answer, 1 / SHARE), "by chance with %.1g" % chance)
        last = probabilities(Noise(s2), COUNTS, not descending)
        chance = fit_by_chance(law, last, alphas[0])
        if chance <= CHANCE:
            tap.ok(not fits(seen, last, alphas[0]), "%s: %s takes the first of equal counts" % (name, answer), "by chance with %.1g" % chance)
    rho, delta = spent(name, ANALYST)
    tap.ok(abs(rho - RHO * executed) < 1e-6 and delta == 0, "%s: rho of one column is charged" % name, "%.6g for %d" % (rho, executed))


def main():
    tap = Tap("mode.py", CHECKS)
    make_role(ANALYST)
    for case in tap.some(CASES, TELLING, "kinds of tables"):
        check(tap, *case)
    tap.done()


if __name__ == "__main__":
    main()
