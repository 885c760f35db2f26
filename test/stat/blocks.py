#!/usr/bin/env python3
"""Blocks of time: an answer depends on no row of a block that was not debited.

Random queries (conditions of many forms at random places, joins of all kinds, subqueries, groups) are
asked of a database, and again when all rows of one person in one block are gone, or others are there in their
place.  Where the release was not charged to that block, the answer must be the same, to the last digit but for
noise that is too small to be seen, as are errors, and the blocks that were charged; the price is always the same.
So that this says something: many queries are charged to some blocks alone, and queries charged to the block do differ.
Queries are always the same: `make test` has the first 300 of the 700 of `make test-all`.
A fault that shows in one query of 100, or of 233, is missed by 5 % of such choices.
"""
import random

from dpstat import Tap, make_role, psql, size

ANALYST = "blocks_analyst"
SEED = 20241125
QUERIES = size(300, 700)
MONTHS = ["2024-%02d-01" % m for m in range(1, 13)]

SET_UP = """
    SELECT dp_cdp.create_dataset('blocks', default_rho => 250, max_groups => 1, max_rows => 2);
    CREATE TABLE bv (id int PRIMARY KEY, p int NOT NULL, day date, x int NOT NULL, g text NOT NULL);
    CREATE TABLE bs (p int NOT NULL, at timestamp NOT NULL, y int NOT NULL);
    CREATE TABLE be (p int NOT NULL, at timestamptz NOT NULL, y int NOT NULL);
    CREATE TABLE bl (v int REFERENCES bv, z int NOT NULL);
    INSERT INTO bv SELECT i, i %% 9, date '2024-01-05' + (i * 37) %% 350, i %% 4, substr('abc', 1 + i %% 3, 1) FROM generate_series(1, 120) i;
    INSERT INTO bv SELECT 1000 + i, 100 + i / 3, NULL, 3, 'a' FROM generate_series(0, 8) i;
    INSERT INTO bs SELECT i %% 9, timestamp '2024-01-03' + (i * 53) %% 355 * interval '1 day' + i * interval '11 minutes', i %% 4 FROM generate_series(1, 120) i;
    INSERT INTO be SELECT i %% 9, timestamptz '2024-01-03 00:00+00' + (i * 41) %% 355 * interval '1 day', i %% 4 FROM generate_series(1, 120) i;
    INSERT INTO be SELECT 60, timestamptz '2024-03-01 00:00+00' + i * interval '7 hours', i %% 4 FROM generate_series(0, 80) i;
    INSERT INTO bl SELECT id, id %% 5 FROM bv, generate_series(1, 2);
    SELECT dp_cdp.protect_table('bv', 'blocks', 'p', block => 'day', every => '1 month');
    SELECT dp_cdp.protect_table('bs', 'blocks', 'p', block => 'at');
    SELECT dp_cdp.protect_table('be', 'blocks', 'p', block => 'at');
    SELECT dp_cdp.protect_table('bl', 'blocks', through => 'v');
    SELECT dp_cdp.set_keys('bv', 'g', ARRAY['a', 'b', 'c']);
    SELECT dp_cdp.set_bounds('bv', 'x', 0, 4), dp_cdp.set_bounds('bs', 'y', 0, 4), dp_cdp.set_bounds('be', 'y', 0, 4),
        dp_cdp.set_bounds('bl', 'z', 0, 5);
    SELECT dp_cdp.set_budget('blocks', '%(a)s', rho => 1000000);
    CREATE TABLE bq (id int PRIMARY KEY, query text NOT NULL);
    CREATE TABLE br (pass int, id int, answer text, blocks text, rho numeric);
    GRANT SELECT ON bq TO %(a)s;
    GRANT INSERT ON br TO %(a)s;
    """ % {"a": ANALYST}

ASK = """
    SET TimeZone = '%s';
    DO $$
    DECLARE
        q record; a text; b text; r numeric;
    BEGIN
        FOR q IN SELECT * FROM bq ORDER BY id LOOP
            a := NULL; b := NULL; r := NULL;
            BEGIN
                EXECUTE q.query INTO a;
                SELECT block_from || ' ' || block_to, rho INTO b, r FROM dp_cdp.releases WHERE granted ORDER BY id DESC LIMIT 1;
            EXCEPTION WHEN OTHERS THEN
                a := SQLSTATE || ' ' || SQLERRM;
            END;
            INSERT INTO br VALUES (%d, q.id, a, b, r);
        END LOOP;
    END $$;
    """

TABLES = {"bv": ("day", "x", "date"), "bs": ("at", "y", "timestamp"), "be": ("at", "y", "timestamptz")}


class Shape:
    def __init__(self, rng):
        self.rng = rng

    def month(self):
        m = self.rng.randrange(12)
        return MONTHS[m], MONTHS[m + 1] if m < 11 else "2025-01-01"

    def condition(self, column, kind):
        """A condition on a block column, of a random form."""
        rng = self.rng
        first, last = self.month()
        if rng.random() < 0.3:
            last = max(last, self.month()[1])
        lit = kind + " '%s'"
        forms = [
            "%(c)s >= %(f)s AND %(c)s < %(l)s",
            "%(c)s >= %(f)s AND %(c)s <= %(l)s",
            "%(l)s > %(c)s AND %(f)s <= %(c)s",
            "%(c)s > %(f)s AND %(c)s < %(l)s",
            "%(c)s BETWEEN %(f)s AND %(l)s",
            "date_trunc('month', %(c)s) = %(f)s",
            "date_trunc('month', %(c)s) >= %(f)s AND date_trunc('week', %(c)s) < %(l)s",
            "date_trunc('quarter', %(c)s) <= %(f)s AND %(c)s > timestamp '2024-02-10'",
            "%(c)s::date = date '%(rf)s' + 10",
            "%(c)s::date >= '%(rf)s' AND %(c)s::date < '%(rl)s'",
            "extract(year FROM %(c)s) = 2024",
            "extract(month FROM %(c)s) = 3",
            "%(c)s IN (%(f)s, %(l)s)",
            "(%(c)s = %(f)s OR (%(c)s > %(f)s AND %(c)s < %(l)s))",
            "NOT (%(c)s < %(f)s OR %(c)s >= %(l)s)",
            "%(c)s >= %(f)s", "%(c)s < %(l)s", "%(c)s IS NOT NULL", "%(c)s > %(l)s AND %(c)s < %(f)s",
            "CASE WHEN %(c)s >= %(f)s THEN %(c)s < %(l)s END",
            "coalesce(%(c)s, %(f)s) >= %(f)s AND %(c)s < %(l)s",
        ]
        weights = [4] * 6 + [1] * (len(forms) - 6)
        return rng.choices(forms, weights)[0] % {"c": column, "f": lit % first, "l": lit % last, "rf": first, "rl": last}

    def source(self, alias):
        """(FROM item, its block column, a value, kind of the column)"""
        rng = self.rng
        name = rng.choice(list(TABLES))
        column, value, kind = TABLES[name]
        form = rng.random()
        if form < 0.6:
            return "%s %s" % (name, alias), "%s.%s" % (alias, column), "%s.%s" % (alias, value), kind
        if form < 0.75:
            inner = " WHERE " + self.condition(column, kind) if rng.random() < 0.5 else ""
            return ("(SELECT p, %s AS t, %s AS v FROM %s%s) %s" % (column, value, name, inner, alias),
                    alias + ".t", alias + ".v", kind)
        if form < 0.85:
            inner = " WHERE " + self.condition(column, kind) if rng.random() < 0.5 else ""
            return ("(SELECT p, %s AS t, sum(%s)::int AS v FROM %s%s GROUP BY p, %s) %s" % (column, value, name, inner, column, alias),
                    alias + ".t", alias + ".v", kind)
        other = rng.choice(list(TABLES))
        second = TABLES[other]
        inner = " WHERE " + self.condition(second[0], second[2]) if rng.random() < 0.5 else ""
        return ("(SELECT p, %s::date AS t, %s AS v FROM %s UNION ALL SELECT p, %s::date, %s FROM %s%s) %s"
                % (column, value, name, second[0], second[1], other, inner, alias), alias + ".t", alias + ".v", "date")

    def query(self):
        rng = self.rng
        a, time_a, value, kind_a = self.source("a")
        where = [self.condition(time_a, kind_a)] if rng.random() < 0.9 else []
        if rng.random() < 0.2:
            where.append(value + " > 0")
        source = a
        form = rng.random()
        if form < 0.4:
            b, time_b, _, kind_b = self.source("b")
            on = ["a.p = b.p"]
            for place in (on, where):
                if rng.random() < 0.6:
                    place.append(self.condition(time_b, kind_b))
            if rng.random() < 0.3:
                on.append(self.condition(time_a, kind_a))
            source = "%s %s JOIN %s ON %s" % (a, rng.choice(["", "", "LEFT", "RIGHT", "FULL"]), b, " AND ".join(on))
        elif form < 0.6:
            b, time_b, _, kind_b = self.source("b")
            inner = ["b.p = a.p"] + ([self.condition(time_b, kind_b)] if rng.random() < 0.8 else [])
            where.append("%sEXISTS (SELECT FROM %s WHERE %s)" % (rng.choice(["", "NOT "]), b, " AND ".join(inner)))
        elif form < 0.7:
            source, value = "bl JOIN bv a ON a.id = bl.v", "bl.z"
            where = [self.condition("a.day", "date")] if rng.random() < 0.9 else []
        answer = rng.choice(["dp_count(*)", "dp_count(*)", "dp_count(CASE WHEN %s > 1 THEN 1 END)" % value])
        return "SELECT round(%s) FROM %s%s" % (answer, source, " WHERE " + " AND ".join(where) if where else "")


CHANGES = [
    ("somebody is missing in March", "2024-03-01", "2024-04-01",
     "DELETE FROM bl USING bv WHERE bv.id = v AND %(bv)s; DELETE FROM bv WHERE %(bv)s; DELETE FROM bs WHERE %(bs)s; DELETE FROM be WHERE %(bs)s"),
    ("somebody is there in August", "2024-08-01", "2024-09-01",
     "INSERT INTO bv SELECT 5000 + i, 4, date '2024-08-01' + i, 3, 'c' FROM generate_series(0, 30) i;"
     "INSERT INTO bl SELECT id, 4 FROM bv WHERE id >= 5000;"
     "INSERT INTO bs SELECT 4, timestamp '2024-08-01' + i * interval '1 day', 3 FROM generate_series(0, 30) i;"
     "INSERT INTO be SELECT 4, timestamptz '2024-08-01 00:00+00' + i * interval '1 day', 3 FROM generate_series(0, 30) i"),
    ("rows without a date", "-infinity", "1900-01-01", "DELETE FROM bl USING bv WHERE bv.id = v AND day IS NULL AND p = 101; DELETE FROM bv WHERE day IS NULL AND p = 101"),
]


def ask(zone, run):
    """Asks all queries, with a budget of which nothing is spent."""
    psql("SELECT dp_cdp.drop_budget('blocks', '%s'); SELECT dp_cdp.set_budget('blocks', '%s', rho => 1000000)" % (ANALYST, ANALYST))
    psql(ASK % (zone, run), ANALYST)


def overlaps(blocks, first, last):
    if blocks is None:
        return True
    begin, end = blocks.split(" ")
    low = lambda day: "" if day == "-infinity" else "~" if day == "infinity" else day
    return low(begin) < low(last) and low(first) < low(end)


def main():
    tap = Tap("blocks of time", 1)
    rng = random.Random(SEED)
    make_role(ANALYST)
    psql(SET_UP)
    queries = [Shape(rng).query() for _ in range(QUERIES)]
    psql("INSERT INTO bq VALUES %s" % ", ".join("(%d, $q$%s$q$)" % item for item in enumerate(queries)))
    zone = "UTC"
    ask(zone, 0)
    for number, (_, first, last, change) in enumerate(CHANGES, 1):
        where = {"bv": "p = 4 AND day >= '%s' AND day < '%s'" % (first, last), "bs": "p = 4 AND at >= '%s' AND at < '%s'" % (first, last)}
        psql("CREATE TABLE saved_bv AS TABLE bv; CREATE TABLE saved_bs AS TABLE bs; CREATE TABLE saved_be AS TABLE be; CREATE TABLE saved_bl AS TABLE bl;"
             "SET TimeZone = 'UTC';" + change % where)
        ask(zone, number)
        psql("DELETE FROM bl; DELETE FROM bv; DELETE FROM bs; DELETE FROM be; INSERT INTO bv TABLE saved_bv; INSERT INTO bs TABLE saved_bs;"
             "INSERT INTO be TABLE saved_be; INSERT INTO bl TABLE saved_bl; DROP TABLE saved_bv, saved_bs, saved_be, saved_bl")
    # in another zone blocks are still those of UTC
    ask("Pacific/Auckland", 100)
    psql("SET TimeZone = 'UTC'; DELETE FROM be WHERE p = 60 AND at >= '2024-03-01' AND at < '2024-04-01'")
    ask("Pacific/Auckland", 101)

    rows = {}
    for run, query, answer, blocks, rho in psql("SELECT * FROM br"):
        rows[int(run), int(query)] = (answer, None if blocks == "\\N" else blocks, rho)
    answered = [q for q in range(QUERIES) if rows[0, q][1] is not None]
    some = [q for q in answered if "infinity" not in rows[0, q][1]]
    tap.note("%d queries, seed %d: %d answered, %d of them charged to some blocks alone" % (QUERIES, SEED, len(answered), len(some)))
    internal = [queries[q] for q in range(QUERIES) if rows[0, q][1] is None and rows[0, q][0][:2] in ("XX", "22")]
    tap.ok(not internal, "no internal errors", "\n".join(internal[:3]))
    tap.ok(len(answered) > QUERIES * 0.5, "most are answered")
    tap.ok(len(some) > QUERIES * 0.25, "many of them are charged to some blocks alone")
    cases = [(change[0], 0, number, change[1], change[2]) for number, change in enumerate(CHANGES, 1)]
    cases.append(("another time zone", 100, 101, "2024-03-01", "2024-04-01"))
    for name, before, after, first, last in cases:
        wrong = []
        seen = 0
        for q in range(QUERIES):
            a, b = rows[before, q], rows[after, q]
            if a[1:] != b[1:] or (a[0] != b[0] and (a[1] is None or not overlaps(a[1], first, last))):
                wrong.append("%s\n%s\n%s" % (queries[q], a, b))
            seen += a[0] != b[0] and a[1] is not None
        tap.ok(not wrong, "%s: nothing differs but what was charged to the block" % name, "\n".join(wrong[:3]))
        tap.ok(seen > 5, "%s: and that does differ" % name, "%d queries" % seen)
    tap.done()


if __name__ == "__main__":
    main()
