#!/usr/bin/env python3
"""dp_cdp.find_bounds: how often bounds hold a bin is what the noise that was paid for says.

n units have a value in a bin far from all others.  It is found if n and the
noise of its count are above the threshold, so how often that happens tells the
noise, which must be that of the price, and how much each unit counts, which must
be 1, however many rows it has and with whatever values, also where
exchanging units is what is hidden, for sums, quantiles and dates, and with groups.
Where there is nothing, nothing is found.

600 runs find noise of half the sigma (but for one time in a thousand); `make test` has n of one size in each
case, `make test-all` two.
"""
import math

from dpstat import MISS, Noise, Tap, by_chance, edge, frequency_limit, make_role, psql, size

ANALYST = "estimator"
RUNS = 600
COPIES = 20                     # in a statement
SHIFTS = size([-0.8], [-0.8, 0.3])      # of n from the threshold, in sigmas
RHO = 0.05                      # of an aggregate; a tenth of it finds bounds
FALSE_POSITIVES = 1e-6
BINS = {"number": 257, "date": 4800}

SET_UP = """
    SELECT dp_cdp.create_dataset('add', default_rho => %(rho)g, max_rows => 10, max_groups => 3);
    SELECT dp_cdp.create_dataset('swap', default_rho => %(rho)g, max_rows => 10, max_groups => 5, neighbors => 'replace_one');
    CREATE TABLE add (unit int, g int NOT NULL, x int, d date);
    CREATE TABLE swap (LIKE add);
    SELECT dp_cdp.protect_table(t::regclass, t, 'unit'), dp_cdp.set_keys(t::regclass, 'g', ARRAY[0, 1, 2]) FROM unnest('{add,swap}'::text[]) t;
    CREATE FUNCTION label(query text, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
    BEGIN
        query := query || repeat(' UNION ALL ' || query, %(copies)d - 1);
        FOR i IN 1..n / %(copies)d LOOP
            EXECUTE query;
            RETURN QUERY SELECT aggregate || coalesce(' ' || row_upper, '') FROM dp_cdp.last_release() WHERE aggregate LIKE 'bounds of%%';
        END LOOP;
    END $$;
    """ % {"rho": RHO, "copies": COPIES}


def normal_quantile(p):
    """x with P(normal > x) = p."""
    low, high = 0.0, 40.0
    for _ in range(200):
        mid = (low + high) / 2
        low, high = (mid, high) if 0.5 * math.erfc(mid / math.sqrt(2)) > p else (low, mid)
    return low


def threshold(noise, kind):
    return 0.5 + math.sqrt(noise.s2) * normal_quantile(FALSE_POSITIVES / BINS[kind])


def fill(table, n, rows):
    """n units, each with so many rows in the same far bin; and many units nearer to 0, of which each counts once, too."""
    psql("""
        TRUNCATE {t};
        INSERT INTO {t} SELECT u, r % 3, 3, date '2020-06-15' FROM generate_series(1001, 1400) u, generate_series(1, 2) r;
        INSERT INTO {t} SELECT u, r % 3, 700 + r % 100, date '2023-03-15' FROM generate_series(1, {n}) u, generate_series(1, {rows}) r;
        """.format(t=table, n=n, rows=rows))


def labels(query, n):
    return [row[0] for row in psql("SET dp_cdp.find_bounds = on; SELECT label($$%s$$, %d)" % (query, n), ANALYST)]


def rarely(tap, found, n, expected, name):
    """Noise alone is found no more often than a search may find it."""
    tap.ok(n == expected and frequency_limit(found, n, tap.alpha(), False) <= FALSE_POSITIVES, name, "%d of %d" % (found, n))


def main():
    tap = Tap("found bounds", 40)
    tap.finds("noise is found that has so much of its sigma", lambda n, alpha: edge(1.0, 0.01, lambda share: by_chance(
        *(0.5 * math.erfc(-SHIFTS[0] / s / math.sqrt(2)) for s in (share, 1)), n, alpha) > MISS), (RUNS, RUNS))
    make_role(ANALYST)
    psql(SET_UP + "".join("SELECT dp_cdp.set_budget('%s', '%s', rho => 1e6);" % (d, ANALYST) for d in ("add", "swap")))
    noises = {"add": Noise(1 / (2 * RHO / 10)), "swap": Noise(2 / (2 * RHO / 10))}
    cases = [
        ("a sum", "add", "SELECT dp_sum(x) FROM {t}", "number", 1),
        ("a sum, of units with many rows", "add", "SELECT dp_sum(x) FROM {t}", "number", 40),
        ("averages by groups", "add", "SELECT g, dp_avg(x) FROM {t} GROUP BY g", "number", 12),
        ("units exchanged", "swap", "SELECT dp_median(x) FROM {t}", "number", 5),
        ("the last date", "add", "SELECT dp_max(d) FROM {t}", "date", 7),
    ]
    for name, dataset, query, kind, rows in cases:
        noise = noises[dataset]
        line = threshold(noise, kind)
        for shift in SHIFTS:
            n = round(line + shift * math.sqrt(noise.s2))
            # a count above the threshold: n + noise > line
            least = math.floor(line) + 1 - n
            expected = noise.tail(least) if least > 0 else 1 - noise.tail(1 - least)
            fill(dataset, n, rows)
            far = "1024" if kind == "number" else "2023-0"
            hits = sum(far in text for text in labels(query.format(t=dataset), RUNS))
            low = frequency_limit(hits, RUNS, tap.alpha(), False)
            high = frequency_limit(hits, RUNS, tap.alpha(), True)
            tap.ok(low <= expected <= high, "%s: %d units are seen as often as the price says" % (name, n),
                   "%d of %d, %.3f expected" % (hits, RUNS, expected))
    fill("add", 0, 1)
    seen = labels("SELECT dp_sum(x), dp_max(d) FROM add WHERE unit < 0", RUNS)
    rarely(tap, sum("none found" not in text for text in seen), len(seen), 2 * RUNS, "where there is nothing, nothing is found")
    seen = labels("SELECT dp_sum(x) FROM add", RUNS)
    rarely(tap, sum(text != "bounds of x 4" for text in seen), len(seen), RUNS, "of what is, nothing else")
    tap.done()


if __name__ == "__main__":
    main()
