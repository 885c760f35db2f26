#!/usr/bin/env python3
"""Random joins, subqueries and pre-aggregations: what one privacy unit changes.

Each shape is a random query over small tables.  Keys are declared and rho is so
large that no value differs from the exact one by as much as 1 (see alarm()).
With every group kept (max_groups above all there are) a release is exact, and
is compared with

- the reference: plain SQL of the tables' owner, which groups by what the shape
  knows to be the unit, clamps, and sums over units;
- itself without one unit: the difference must be what that unit gives alone.
  A row that was made of two units, or was traced to the wrong one, breaks it.

With few groups kept, and one unit's rows in the tables, it must not exceed the
sensitivity that EXPLAIN's sigma tells: its squared L2 norm, the number of its
groups, and the unit's share of each.

Windows order rows by all of their columns, or look at peers together.  Some shapes read tables whose rows belong to people through foreign keys; the
reference joins what these lead to.  Some join protected rows on what is not
the unit, and leads to none.  All of these must be refused.

`make test` has 120 shapes, `make test-all` 300: a fault that shows in one shape of 40, or of 100, is missed by 5 % of such choices.

Some have at most one row, or two, of a unit, in all or in each group: by GROUP BY, DISTINCT or row_number().

Shapes are always the same: `make test` has the first 120 of the 300 of `make test-all`.
Environment: NEIGHBOURS_SEED, NEIGHBOURS_SHAPES, NEIGHBOURS_ONCE.
"""
import json
import math
import os
import random
import re

from dpstat import FILE_ALARM, Tap, psql, size

SEED = int(os.environ.get("NEIGHBOURS_SEED", "20"))
SHAPES = int(os.environ.get("NEIGHBOURS_SHAPES", size(120, 300)))
ONCE = "NEIGHBOURS_ONCE" in os.environ      # nothing but shapes with few rows of a unit
RHO = 10000
MAX_ROWS = 3
MAX_GROUPS = 2                   # where groups are few
LOWER, UPPER = -2, 3             # of units' totals
ROW_LOWER, ROW_UPPER = -1, 2     # of their rows
PER_ROLE = 2                     # shapes that one role's budget pays for
UNITS = list(range(1, 8))
VALUES = [-1, 0, 1, 2, 3]        # of columns; declared as keys
MOST_GROUPS = 4 * (len(VALUES) + 1)     # of a column, with NULL, and of what is computed

SET_UP = """
CREATE TABLE a (u int, g int, x int, ok boolean);
CREATE TABLE b (u int, k int, y int);
CREATE TABLE c (u bigint, g int, x int);
CREATE TABLE r (u int PRIMARY KEY, g int, x int);
CREATE TABLE p (u int PRIMARY KEY, g int);
CREATE TABLE pr (u int, g int, x int) PARTITION BY LIST (g);
CREATE TABLE pr_1 PARTITION OF pr FOR VALUES IN (0, 1);
CREATE TABLE pr_2 (x int, u int, g int);
ALTER TABLE pr ATTACH PARTITION pr_2 DEFAULT;
CREATE TABLE w (g int PRIMARY KEY, name text);
CREATE TABLE m (g int, name text);
INSERT INTO w VALUES (0, 'n'), (1, 's'), (2, 'n'), (4, 'e');
INSERT INTO m VALUES (0, 'n'), (0, 's'), (1, 's'), (1, 's'), (1, 'n'), (2, NULL), (NULL, 'n'), (9, 'e');
CREATE TABLE h (id int PRIMARY KEY, u int, g int);
CREATE TABLE kid (no int PRIMARY KEY, id int REFERENCES h ON DELETE CASCADE, x int);
CREATE TABLE grandkid (no int REFERENCES kid ON DELETE CASCADE, y int);
CREATE VIEW known_kid AS SELECT kid.*, u FROM kid JOIN h USING (id);
CREATE VIEW known_grandkid AS SELECT grandkid.*, u FROM grandkid JOIN kid USING (no) JOIN h USING (id);
CREATE VIEW va AS SELECT x AS u, u AS x, g, 1 AS one FROM a;
CREATE VIEW vb WITH (security_barrier) AS SELECT k, u, u AS u2, y FROM b WHERE y > 0;
CREATE VIEW vc AS SELECT u, count(*) AS n, max(x) AS x FROM c GROUP BY u;
SELECT dp_cdp.create_dataset('d', default_rho => %(rho)d, max_groups => 1000, max_rows => %(max_rows)d, neighbors => 'add_remove');
SELECT dp_cdp.protect_table(t, 'd', u, each_row => u IS NULL) FROM (VALUES ('a'::regclass, 'u'), ('b', 'u'), ('c', 'u'), ('r', NULL), ('pr', NULL), ('h', 'u'), ('p', 'u')) AS v (t, u);
SELECT dp_cdp.set_keys(t, c, '{%(values)s}'::int[]) FROM (VALUES ('a'::regclass, 'g'), ('b', 'k'), ('c', 'g'), ('p', 'g')) AS v (t, c);
SELECT dp_cdp.protect_table('kid', 'd', through => 'id'), dp_cdp.protect_table('grandkid', 'd', through => 'no');

CREATE FUNCTION ask(query text, who text, groups int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %%I', who);
	PERFORM set_config('dp_cdp.max_groups', groups::text, true);
	BEGIN
		IF query ~ '^EXPLAIN' THEN
			answer := '';
			DECLARE line text;
			BEGIN
				FOR line IN EXECUTE query LOOP answer := answer || line || ' '; END LOOP;
			END;
			answer := to_json(answer);
		ELSE
			EXECUTE format('SELECT json_agg(to_json(q)) FROM (%%s) q', query) INTO answer;
		END IF;
	EXCEPTION WHEN OTHERS THEN answer := to_json(SQLSTATE || ' ' || SQLERRM);
	END;
	EXECUTE 'SET LOCAL SESSION AUTHORIZATION postgres';
	RETURN coalesce(answer, '[]');
END $$;

-- the answer without the units that satisfy the condition
CREATE FUNCTION ask_without(query text, who text, groups int, gone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	t text;
BEGIN
	BEGIN
		FOREACH t IN ARRAY ARRAY['a', 'b', 'c', 'r', 'pr', 'h', 'p'] LOOP
			EXECUTE format('DELETE FROM %%I WHERE %%s', t, gone);
		END LOOP;
		answer := ask(query, who, groups);
		RAISE USING ERRCODE = 'ZZ999';
	EXCEPTION WHEN SQLSTATE 'ZZ999' THEN
		RETURN answer;
	END;
END $$;
""" % {"rho": RHO, "max_rows": MAX_ROWS, "values": ", ".join(map(str, VALUES))}


def alarm(values):
    """Bound for P(some noise is not 0): sigma^2 <= most groups * largest bound^2 / (2 rho)."""
    s2 = MOST_GROUPS * max(MAX_ROWS, -LOWER, UPPER) ** 2 / (2 * RHO)
    return values * 2 * math.exp(-1 / (2 * s2))


class Source:
    """Rows of an entry or a join.  unit: an expression; columns: expressions of
    integers.  row_unit: the table has no unit column.  known: the same rows
    with their unit, where sql does not show it."""

    def __init__(self, sql, unit, columns, row_unit=False, simple=False, known=None):
        self.sql, self.unit, self.columns, self.row_unit, self.simple = sql, unit, columns, row_unit, simple
        self.known = known

    def wrap(self, text):
        """joins something to the rows"""
        self.sql = text % self.sql
        if self.known:
            self.known = text % self.known


# what is read of h, kid and grandkid: of rows whose unit the text does not show, {u} stands for it
CHAINS = [
    ("kid c", "c.u", "c.id c.x"), ("grandkid g", "g.u", "g.no g.y"),
    ("kid c JOIN h ON h.id = c.id", "h.u", "c.x h.g"), ("h CROSS JOIN kid c CROSS JOIN grandkid g", "h.u", "h.g c.x g.y"),
    ("grandkid g JOIN kid c ON c.no = g.no", "g.u", "g.y c.x"),
    ("kid c LEFT JOIN h ON h.id = c.id", "c.u", "c.x h.g"), ("kid c LEFT JOIN h ON h.id = c.id AND h.g > 0", "c.u", "c.x h.g"),
    ("h RIGHT JOIN kid c ON c.id = h.id", "c.u", "c.x h.g"), ("h LEFT JOIN kid c ON h.id = c.id", "h.u", "c.x h.g"),
    ("grandkid g LEFT JOIN kid c ON c.no = g.no LEFT JOIN h ON h.id = c.id", "g.u", "g.y c.x h.g"),
    ("grandkid g LEFT JOIN kid c ON c.no = g.no AND c.x > 0 LEFT JOIN h ON h.id = c.id", "g.u", "g.y c.x h.g"),
    ("grandkid g LEFT JOIN kid c ON c.no = g.no JOIN h ON h.id = c.id AND h.g > 0", "g.u", "g.y c.x h.g"),
    ("h LEFT JOIN (kid c JOIN grandkid g ON c.no = g.no) ON h.id = c.id", "h.u", "g.y c.x h.g"),
    ("h LEFT JOIN (kid c LEFT JOIN grandkid g ON c.no = g.no) ON h.id = c.id AND g.y > 0", "h.u", "g.y c.x h.g"),
    ("kid c JOIN kid d ON c.id = d.id", "c.u", "c.x d.x"), ("kid c JOIN kid d ON c.id IS NOT DISTINCT FROM d.id", "c.u", "c.x d.x"),
    ("kid c LEFT JOIN kid d ON c.id = d.id AND c.x < d.x", "c.u", "c.x d.x"), ("kid c JOIN kid d ON c.no = d.no", "c.u", "c.x d.x"),
    ("kid c JOIN kid d ON c.id = d.id LEFT JOIN h ON h.id = d.id", "d.u", "c.x d.x h.g"),
    ("(SELECT id, count(*) AS n, max(x) AS x{u} FROM kid GROUP BY id{u}) q", "q.u", "q.n q.x"),
    ("(SELECT x, no, count(*) AS n{u} FROM kid GROUP BY no, x{u}) q", "q.u", "q.n q.x"),
    ("(SELECT DISTINCT id, x{u} FROM kid) q", "q.u", "q.id q.x"), ("(SELECT x AS y, x + 1 AS z{u} FROM kid WHERE x > 0) q", "q.u", "q.y q.z"),
    ("(SELECT g.y, c.x, c.id{u} FROM grandkid g JOIN (SELECT no, x, id FROM kid) c ON c.no = g.no) q JOIN h ON q.id = h.id", "h.u", "q.x q.y h.g"),
    ("h LEFT JOIN (SELECT id, count(*) AS n{u} FROM kid GROUP BY id{u}) q ON q.id = h.id AND q.n > 1", "h.u", "h.g q.n"),
    ("h p", "p.u", "p.g"), ("h q", "q.u", "q.g"), ("kid k", "k.u", "k.x k.id"), ("kid l", "l.u", "l.x"), ("a s", "s.u", "s.g s.x"), ("b t", "t.u", "t.k t.y"),
    ("kid m LEFT JOIN h o ON o.id = m.id", "m.u", "m.x o.g"), ("a v", "v.u", "v.g v.x"),
    ("(SELECT g, x{u} FROM a UNION ALL SELECT k, y{u} FROM b) q", "q.u", "q.g q.x"), ("(SELECT x{u} FROM a UNION ALL SELECT x{u} FROM a UNION ALL SELECT g{u} FROM h) q", "q.u", "q.x"),
    ("(SELECT id, x{u} FROM kid UNION ALL SELECT y, no{u} FROM grandkid) q", "q.u", "q.id q.x"), ("(SELECT x, 1 AS one{u} FROM kid WHERE x > 0 UNION ALL SELECT g, 2{u} FROM h) q", "q.u", "q.x q.one"),
    ("(SELECT u, g FROM a UNION SELECT u, k FROM b) q", "q.u", "q.g"), ("(SELECT u FROM a UNION (SELECT u FROM b EXCEPT SELECT u FROM h)) q", "q.u", "q.u"),
    ("(SELECT u, count(*)::int AS n FROM a GROUP BY u UNION ALL SELECT u, max(y) FROM b GROUP BY u) q", "q.u", "q.n"), ("(SELECT u FROM a INTERSECT SELECT u FROM b UNION ALL SELECT u FROM h) q", "q.u", "q.u"),
    ("(SELECT u, count(*) AS n FROM (SELECT u FROM a UNION ALL SELECT u FROM b) v GROUP BY u) q", "q.u", "q.n"), ("(SELECT id, x{u} FROM kid UNION ALL SELECT id, x{u} FROM kid) q JOIN h ON h.id = q.id", "h.u", "q.x h.g"),
    ("h LEFT JOIN (SELECT u, x FROM a UNION ALL SELECT u, y FROM b) q ON h.u = q.u", "h.u", "h.g q.x"),
    ("a CROSS JOIN h CROSS JOIN kid c", "h.u", "a.x c.x h.g"), ("b LEFT JOIN h ON b.u = h.u LEFT JOIN kid c ON c.id = h.id", "b.u", "b.y c.x h.g"),
]
# what belongs to WHERE of some of them
CHAIN_CONDITIONS = {"h CROSS JOIN kid c CROSS JOIN grandkid g": ["g.no = c.no", "c.id = h.id"],
                    "a CROSS JOIN h CROSS JOIN kid c": ["c.id = h.id", "a.u = h.u"],
                    "h p": ["EXISTS (SELECT FROM kid c WHERE c.id = p.id AND c.x > 0)", "(p.g > 1 OR NOT EXISTS (SELECT FROM kid c WHERE c.id = p.id))"],
                    "h q": ["NOT EXISTS (SELECT 1 FROM kid c LEFT JOIN grandkid g ON g.no = c.no WHERE q.id = c.id AND g.y > 0)", "q.id IN (SELECT id FROM kid)"],
                    "kid k": ["EXISTS (SELECT FROM grandkid g WHERE g.no = k.no AND k.x > 0)", "k.id NOT IN (0)"],
                    "kid l": ["l.id IN (SELECT id FROM kid GROUP BY id HAVING count(*) > 1)", "NOT EXISTS (SELECT FROM grandkid g WHERE g.no = l.no AND g.y < 1)"],
                    "a s": ["EXISTS (SELECT FROM b WHERE b.u = s.u AND b.y > s.x)", "(SELECT count(*) FROM b WHERE b.u = s.u GROUP BY b.u) > 1", "NOT EXISTS (SELECT FROM b WHERE b.u = s.u AND b.y < s.x)",
                            "CASE WHEN s.u IN (SELECT u FROM b WHERE y > 0) THEN s.x > 0 ELSE EXISTS (SELECT FROM w WHERE w.g = s.x) END", "NOT EXISTS (SELECT FROM w WHERE w.g = s.x AND w.name = 'n')"],
                    "b t": ["t.u IN (SELECT u FROM h WHERE EXISTS (SELECT FROM kid c WHERE c.id = h.id))", "t.y IN (SELECT g FROM m)"],
                    "kid m LEFT JOIN h o ON o.id = m.id": ["NOT EXISTS (SELECT FROM kid c WHERE c.id = o.id AND c.x > 1)"],
                    "a v": ["NOT EXISTS (SELECT FROM b WHERE b.u = v.u AND v.x > 0)", "(v.u, v.g) IN (SELECT u, g FROM a WHERE x > 0)"]}
WRONG_CHAINS = [("kid c JOIN kid d ON c.x = d.x", "c.x d.x"), ("kid c JOIN h ON h.id = c.no", "c.x h.g"),
                ("kid c JOIN h ON h.g = c.id", "c.x h.g"), ("grandkid g JOIN h ON h.id = g.no", "g.y h.g"),
                ("kid c JOIN kid d ON c.id = d.no", "c.x d.x"), ("kid c JOIN a ON a.u = c.id", "a.x c.x"),
                ("kid c JOIN kid d ON c.id = d.id OR c.x = 1", "c.x d.x"), ("kid c LEFT JOIN h ON h.id > c.id", "c.x h.g"),
                ("(SELECT * FROM kid c WHERE EXISTS (SELECT FROM kid d WHERE d.x = c.id)) c", "c.x"),
                ("(SELECT * FROM h WHERE NOT EXISTS (SELECT FROM a WHERE a.x = h.g)) h", "h.g"),
                ("(SELECT * FROM h WHERE g IN (SELECT x FROM kid)) h", "h.g"), ("(SELECT * FROM h WHERE g IN (SELECT id FROM kid)) h", "h.g"),
                ("(SELECT g FROM a UNION SELECT k FROM b) q", "q.g"), ("(SELECT g, x FROM a EXCEPT SELECT k, y FROM b) q", "q.g q.x"), ("(SELECT x FROM a UNION ALL SELECT x FROM r) q", "q.x"),
                ("(SELECT x FROM a UNION ALL SELECT g FROM w) q", "q.x"), ("(SELECT x FROM kid UNION ALL SELECT 1) q", "q.x"), ("(SELECT u, x FROM a UNION SELECT y, u FROM b) q", "q.u q.x"),
                ("(SELECT x FROM a UNION ALL SELECT y FROM b LIMIT 3) q", "q.x"), ("(SELECT u, x FROM a UNION ALL SELECT y, k FROM b) q JOIN h ON h.u = q.u", "q.x h.g"),
                ("(SELECT x, count(*)::int AS n FROM a GROUP BY x UNION ALL SELECT y, k FROM b) q", "q.x q.n"), ("(SELECT x FROM a UNION ALL SELECT x FROM c) q", "q.x"),
                ("h LEFT JOIN kid c ON c.id = h.id JOIN grandkid g ON g.no IS NOT DISTINCT FROM c.no", "c.x h.g")]


class Generator:
    def __init__(self, rng):
        self.rng, self.count, self.ctes, self.wrong = rng, 0, [], False

    def name(self):
        self.count += 1
        return "t%d" % self.count

    def table(self, row_unit):
        rng, n = self.rng, self.name()
        if row_unit:
            # u is unique there
            t = rng.choice(["r", "pr"])
            return Source("%s %s" % (t, n), n + ".u", [n + ".g", n + ".x"], True, True)
        t, unit, columns = rng.choice([
            ("a", "u", ["g", "x"]), ("a", "u", ["g", "x"]), ("b", "u", ["k", "y"]), ("c", "u", ["g", "x"]),
            ("va", "x", ["u", "g", "one"]), ("vb", "u2", ["k", "y"]), ("vb", "u", ["k", "y"]), ("vc", "u", ["n", "x"])])
        return Source("%s %s" % (t, n), "%s.%s" % (n, unit), ["%s.%s" % (n, c) for c in columns], simple=True)

    def condition(self, source):
        rng, column = self.rng, self.rng.choice(source.columns)
        return rng.choice(["%s > %d" % (column, rng.randint(-1, 2)), "%s IS NULL" % column,
                           "%s IS NOT NULL" % column, "%s <> %d" % (column, rng.randint(0, 3)),
                           "coalesce(%s, 1) < 3" % column, "(%s = 1) IS NOT TRUE" % column,
                           "%s IN (0, 1, 2)" % column])

    def where(self, source, extra=()):
        conditions = list(extra) + [self.condition(source) for _ in range(self.rng.choice([0, 0, 1, 2]))]
        return " WHERE " + " AND ".join(conditions) if conditions else ""

    def subquery(self, depth, row_unit):
        """A subquery that projects, groups, or makes its rows distinct."""
        rng = self.rng
        inner, extra = self.join(depth - 1, row_unit)
        n = self.name()
        kind = rng.choice(["project", "project", "distinct", "group", "group", "window", "window", "first"])
        if row_unit:
            kind = "project"
        names = ["u", "x", "g", "k", "z"]
        rng.shuffle(names)
        unit, names = names[0], names[1:]
        outputs = [(inner.unit, unit)]
        columns = []
        group = ""
        if kind == "group":
            by = [inner.unit]
            if rng.random() < .4:
                by.append(rng.choice(inner.columns))
                outputs.append((by[1], names[-1]))
                columns.append(names[-1])
            aggregates = ["count(*)", "max(%s)", "min(%s)", "count(DISTINCT %s)", "count(%s)",
                          "count(*) FILTER (WHERE %s > 0)", "sum(%s)::int", "coalesce(max(%s), 0) + 1"]
            for output in names[:2]:
                text = rng.choice(aggregates)
                outputs.append((text % rng.choice(inner.columns) if "%s" in text else text, output))
                columns.append(output)
            group = " GROUP BY " + ", ".join(by)
            if rng.random() < .3:
                group += " HAVING count(*) > %d" % rng.randint(0, 2)
            if rng.random() < .3:
                outputs = outputs[1:] + [(inner.unit, unit)]
        else:
            for output in names[:2]:
                column = rng.choice(inner.columns)
                outputs.append((self.window(inner) if kind == "window" and rng.random() < .7 else
                                rng.choice([column, column, column + " + 1", "5", "greatest(%s, 1)" % column]), output))
                columns.append(output)
            if rng.random() < .3:
                outputs.append((inner.unit, names[3]))
            rng.shuffle(outputs)
        if kind == "first":
            by = [inner.unit] + [c for c in inner.columns if rng.random() < .2]
            group = " ORDER BY %s" % ", ".join(by + inner.columns)
        sql = "SELECT %s%s FROM %s%s%s" % ("DISTINCT " if kind == "distinct" else
                                           "DISTINCT ON (%s) " % ", ".join(by) if kind == "first" else "",
                                           ", ".join("%s AS %s" % o for o in outputs), inner.sql,
                                           self.where(inner, extra), group)
        if rng.random() < .3:
            cte = self.name()
            self.ctes.append("%s AS %s(%s)" % (cte, rng.choice(["", "MATERIALIZED ", "NOT MATERIALIZED "]), sql))
            sql = cte
        else:
            sql = "(%s)" % sql
        source = Source("%s %s" % (sql, n), "%s.%s" % (n, unit), ["%s.%s" % (n, c) for c in columns],
                        inner.row_unit, True)
        source.cte = sql if not sql.startswith("(") else None
        return source

    def window(self, inner):
        """A window function over the rows of one unit; rows that its order takes for equal are the same."""
        rng = self.rng
        one, two = rng.choice(inner.columns), rng.choice(inner.columns)
        part = ", ".join([inner.unit] + ([rng.choice(inner.columns)] if rng.random() < .2 else []))
        order = ", ".join(rng.sample(inner.columns, len(inner.columns)) if rng.random() < .5 else inner.columns)
        form = rng.choice(["row_number() OVER ({rows})", "lag({one}) OVER ({rows})", "lead({one}, 2, 0) OVER ({rows})", "ntile(2) OVER ({rows})",
                           "first_value({one}) OVER ({rows})", "last_value({one}) OVER ({rows} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
                           "sum({one}) OVER ({rows} ROWS 1 PRECEDING)", "count(*) OVER ({rows} ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)",
                           "rank() OVER ({peers})", "dense_rank() OVER ({peers})", "sum({one}) OVER ({peers})", "max({one}) OVER ({part})",
                           "count({one}) FILTER (WHERE {two} > 0) OVER ({peers} DESC)", "count(*) OVER ({peers} GROUPS 1 PRECEDING)",
                           "min({one}) OVER ({peers} RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW)"])
        part = "PARTITION BY " + part
        return "(%s)::int" % form.format(one=one, part=part, two=two, rows="%s ORDER BY %s" % (part, order), peers="%s ORDER BY %s" % (part, two))

    def once(self):
        """At most one row, or k, of a unit: in all, or in each group of the column, which has declared keys."""
        rng, n, k = self.rng, self.name(), self.rng.randint(1, 2)
        rows, key, other = rng.choice([("a", "g", "x"), ("b", "k", "y"), ("c", "g", "x"), ("a JOIN p USING (u)", "p.g", "x"), ("c JOIN p USING (u)", "p.g", "c.g")])
        table = Source(rows, "u", [key, other])
        sql = rng.choice(["SELECT u, {key} AS g, count(*)::int AS n FROM {rows} GROUP BY u, {key}", "SELECT u, max({other}) AS n, {key} AS g FROM {rows} GROUP BY 1, 3",
                          "SELECT DISTINCT u, {key} AS g, 1 AS n FROM {rows}", "SELECT DISTINCT u, {key} AS g, {other} AS n FROM {rows}",
                          "SELECT DISTINCT ON (u) u, {key} AS g, {other} AS n FROM {rows} ORDER BY u, {other}, {key}",
                          "SELECT DISTINCT ON (u, {key}) u, {key} AS g, {other} AS n FROM {rows} ORDER BY u, {key}, {other}",
                          "SELECT * FROM (SELECT u, {key} AS g, {other} AS n, row_number() OVER (PARTITION BY u ORDER BY {other}, {key}) AS r FROM {rows}) w WHERE r <= {k}",
                          "SELECT * FROM (SELECT u, {key} AS g, {other} AS n, row_number() OVER (PARTITION BY u, {key} ORDER BY {other}) AS r FROM {rows}) w WHERE r = 1",
                          "SELECT u, g, sum(n)::int AS n FROM (SELECT u, {key} AS g, {other} AS o, count(*)::int AS n FROM {rows} GROUP BY 1, 2, 3) w GROUP BY u, g"])
        if " WHERE " not in sql and "(SELECT" not in sql and rng.random() < .4:
            sql = sql.replace("{rows}", "{rows}" + self.where(table))
        source = Source("(%s) %s" % (sql.format(rows=rows, key=key, other=other, k=k), n), n + ".u", [n + ".g", n + ".n"])
        source.key = n + ".g"
        return source

    def union(self, row_unit):
        """Rows of two tables, or of one table twice, under other names."""
        rng, n = self.rng, self.name()
        # rows of several tables may have the same u, and are units of their own
        first = rng.choice(["r", "pr"]) if row_unit else None
        arms = []
        for _ in range(rng.choice([2, 2, 3])):
            t, unit, columns = (first, "u", ["g", "x"]) if row_unit else rng.choice(
                [("a", "u", ["g", "x"]), ("b", "u", ["k", "y"]), ("va", "x", ["u", "g"]), ("vb", "u2", ["k", "y"]), ("h", "u", ["g", "id"])])
            rng.shuffle(columns)
            arm = Source(t, unit, columns)
            arms.append("SELECT %s AS u, %s AS g, %s AS x FROM %s%s" % (
                unit, columns[0], rng.choice([columns[1], columns[1] + " + 1", "3"]), t, self.where(arm)))
        sql = (" UNION " if not row_unit and rng.random() < .3 else " UNION ALL ").join(arms)
        return Source("(%s) %s" % (sql, n), n + ".u", [n + ".g", n + ".x"], row_unit, True)

    def entry(self, depth, row_unit):
        if self.rng.random() < .12:
            return self.union(row_unit)
        if depth > 0 and self.rng.random() < .55:
            return self.subquery(depth, row_unit)
        return self.table(row_unit)

    def join(self, depth, row_unit):
        """A source, and conditions that belong to WHERE."""
        rng = self.rng
        left = self.entry(depth, row_unit)
        extra = []
        # conditions of WHERE join nothing below an outer join
        while not extra and rng.random() < (.35 if depth < 2 else .5) and len(left.columns) < 10:
            if row_unit or rng.random() < .4:
                self.join_public(left, extra)
            else:
                left = self.join_private(left, self.entry(depth - 1, False), extra)
            left.simple = False
        return left, extra

    def chain(self):
        """rows that belong to people through foreign keys, and conditions that belong to WHERE"""
        rng = self.rng
        if rng.random() < .15:
            self.wrong = True
            sql, columns = rng.choice(WRONG_CHAINS)
            return Source(sql, columns.split()[0], columns.split()), []
        sql, unit, columns = rng.choice(CHAINS)
        source = Source(sql.replace("{u}", ""), unit, columns.split(),
                        known=re.sub(r"\b(grandkid|kid)\b", r"known_\1", sql).replace("{u}", ", u"))
        extra = list(CHAIN_CONDITIONS.get(sql, []))
        rng.shuffle(extra)
        if not extra and rng.random() < .3:
            self.join_public(source, extra)
        return source, extra

    def join_public(self, left, extra):
        rng, n = self.rng, self.name()
        rows, columns = rng.choice([("w", ["g"]), ("m", ["g"]), ("(SELECT g + 1 AS g, 2 AS two FROM m) ", ["g", "two"]),
                                    ("(VALUES (0), (1), (1), (3)) ", ["column1"])])
        column = rng.choice(left.columns)
        on = "%s.%s = %s" % (n, columns[0], column)
        kind = rng.choice(["JOIN", "JOIN", "LEFT JOIN", ","])
        if kind == ",":
            left.wrap("%%s CROSS JOIN %s %s" % (rows, n))
            extra.append(on)
        else:
            left.wrap("%%s %s %s %s ON %s" % (kind, rows, n, on))
        left.columns = left.columns + ["%s.%s" % (n, c) for c in columns]

    def join_private(self, left, right, extra):
        rng = self.rng
        columns = left.columns + right.columns
        on = rng.choice(["%s = %s", "%s = %s", "%s IS NOT DISTINCT FROM %s", "%s::bigint = %s::bigint AND %%s = %%s"]) % (left.unit, right.unit)
        on = on % (right.unit, left.unit) if "%s" in on else on
        if rng.random() < .15:
            on = rng.choice(["%s = %s" % (left.unit, rng.choice(right.columns)),
                             "%s = %s" % (rng.choice(left.columns), right.unit),
                             "%s + 0 = %s" % (left.unit, right.unit), "%s <= %s" % (left.unit, right.unit),
                             "(%s = %s OR %s IS NULL)" % (left.unit, right.unit, rng.choice(right.columns))])
            self.wrong = True
        kind = rng.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", ","])
        if rng.random() < .3:
            on += " AND %s IS DISTINCT FROM %s" % (rng.choice(left.columns), rng.choice(right.columns))
        left_name, right_name = left.unit.split("."), right.unit.split(".")
        if kind == ",":
            extra.append(on)
            return Source("%s CROSS JOIN %s" % (left.sql, right.sql), rng.choice([left.unit, right.unit]), columns)
        join = "%s (%s)" % (kind, right.sql) if not right.simple else "%s %s" % (kind, right.sql)
        if left.simple and right.simple and left_name[1] == right_name[1] and not self.wrong and rng.random() < .5:
            using = "%s %s USING (%s)" % (left.sql, join, left_name[1])
            return Source(using, right.unit if kind == "RIGHT JOIN" else left.unit, columns)
        return Source("%s %s ON %s" % (left.sql, join, on),
                      right.unit if kind == "RIGHT JOIN" else left.unit, columns)


KEYS = ["{0} > 1", "{0} > 0 AND {1} > 0", "CASE WHEN {0} < 1 THEN 'lo' WHEN {0} < 3 THEN 'mid' ELSE 'hi' END",
        "width_bucket({0}::float8, 0, 4, 1)", "coalesce({0} = {1}, false)"]


# integers that are made of other rows of the unit {u}, or of public ones
SUBQUERIES = ["(SELECT count(*)::int FROM b z WHERE z.u = {u} AND z.y > 0)", "(SELECT max(z.x) FROM a z WHERE z.u = {u})",
              "(CASE WHEN EXISTS (SELECT FROM b z WHERE z.u = {u} AND z.k > 0) THEN 1 ELSE 0 END)", "(CASE WHEN {u} IN (SELECT u FROM a z WHERE z.x > 0) THEN 2 END)",
              "(SELECT coalesce(sum(z.y), -1)::int FROM b z WHERE z.u = {u})", "(SELECT min(z.g) FROM w z)::int", "(SELECT count(*)::int FROM m z WHERE z.g = {u})",
              "(CASE WHEN NOT EXISTS (SELECT FROM c z WHERE z.u = {u} AND EXISTS (SELECT FROM a y WHERE y.u = z.u AND y.x > 0)) THEN 3 END)",
              "(SELECT z.x FROM a z WHERE z.u = {u} ORDER BY z.x NULLS FIRST LIMIT 1)", "(SELECT z.x FROM a z WHERE z.u = {u} ORDER BY z.x OFFSET 1 LIMIT 1)", "(CASE WHEN EXISTS (SELECT FROM b z WHERE z.u = {u} GROUP BY z.k HAVING count(*) > 1) THEN 1 END)",
              "(CASE WHEN EXISTS (SELECT FROM b z WHERE z.u = {u} AND z.y > (SELECT min(y.x) FROM a y WHERE y.u = z.u)) THEN 2 ELSE 0 END)",
              "(CASE WHEN EXISTS (SELECT FROM b z WHERE z.u = {u} HAVING count(*) <> 1) THEN 1 ELSE 3 END)", "(CASE WHEN {u} NOT IN (SELECT y.u FROM a y WHERE y.u IS NOT NULL GROUP BY 1 HAVING max(y.x) > 1) THEN 1 END)",
              "(CASE WHEN EXISTS (SELECT FROM w z WHERE z.name = 'n') THEN 1 END)", "(SELECT max(z.n) FROM vc z WHERE z.u = {u})::int"]


# what is joined for each row of the unit {u}, with its columns
LATERALS = [("CROSS JOIN LATERAL (SELECT count(*)::int AS n, max(z.y) AS m FROM b z WHERE z.u = {u}) l", "l.n l.m"),
            ("CROSS JOIN LATERAL (SELECT {c} + 1 AS n, coalesce({c}, 2) AS m) l", "l.n l.m"),
            ("CROSS JOIN LATERAL (SELECT z.k, z.y FROM b z WHERE z.u = {u} AND z.y > 0) l", "l.k l.y"),
            ("CROSS JOIN LATERAL (SELECT z.k, z.y FROM b z WHERE z.u = {u} ORDER BY z.y, z.k LIMIT 1) l", "l.k l.y"),
            ("CROSS JOIN LATERAL (SELECT z.k, z.y FROM b z WHERE z.u = {u} ORDER BY z.y, z.k LIMIT 2) l", "l.k l.y"),
            ("CROSS JOIN LATERAL (VALUES (1, {c}), (2, {c} + 1)) l (n, m)", "l.n l.m"),
            ("CROSS JOIN LATERAL unnest(ARRAY[{c}, {u}::int]) l (m)", "l.m"),
            ("CROSS JOIN LATERAL (SELECT z.k, count(*)::int AS n FROM b z WHERE z.u = {u} GROUP BY z.k) l", "l.k l.n"),
            ("LEFT JOIN LATERAL (SELECT DISTINCT z.k FROM b z WHERE z.u = {u}) l ON l.k > 0", "l.k"),
            ("LEFT JOIN LATERAL (SELECT z.g, z.x FROM a z WHERE z.u = {u} ORDER BY z.x DESC, z.g LIMIT 1) l ON true", "l.g l.x"),
            ("LEFT JOIN LATERAL (SELECT z.k, z.y FROM b z WHERE z.u = {u} ORDER BY z.y DESC, z.k LIMIT 3 OFFSET 1) l ON true", "l.k l.y"),
            ("LEFT JOIN LATERAL (SELECT count(*)::int AS n FROM a z WHERE z.u = {u} AND z.x > 0) l ON true", "l.n")]


class Shape:
    def __init__(self, rng):
        generator = Generator(rng)
        row_unit = not ONCE and rng.random() < .25
        if not ONCE and not row_unit and rng.random() < .3:
            source, extra = generator.chain()
        elif ONCE or (not row_unit and rng.random() < .25):
            source, extra = generator.once(), []
        else:
            source, extra = generator.join(rng.choice([0, 1, 2, 3]), row_unit)
        self.wrong = generator.wrong
        if not (row_unit or source.known or self.wrong or source.simple) and rng.random() < .15:
            text, columns = rng.choice(LATERALS[:-4] if extra else LATERALS)
            source.wrap("%s " + text.format(u=source.unit, c=rng.choice(source.columns)))
            source.columns = source.columns + columns.split()
        # a WITH query once more
        again = [c.split(" AS ")[0] for c in generator.ctes]
        self.again = bool(again) and not row_unit and rng.random() < .3 and hasattr(source, "cte") and source.cte
        if self.again:
            n = generator.name()
            unit = source.unit.split(".")[1]
            source = Source("%s JOIN %s %s ON %s = %s.%s" % (source.sql, source.cte, n, source.unit, n, unit),
                            source.unit, source.columns)
        own = [] if row_unit or source.known or self.wrong else [s.format(u=source.unit) for s in SUBQUERIES]
        pick = lambda: rng.choice(own if own and rng.random() < .12 else source.columns)
        self.keys = [source.key] if hasattr(source, "key") else []
        for _ in range(rng.choice([0, 1, 1, 2])):
            key = rng.choice(KEYS).format(pick(), pick())
            if key not in self.keys:
                self.keys.append(key)
        where = generator.where(source, extra)
        with_text = "WITH " + ", ".join(generator.ctes) + " " if generator.ctes else ""
        where_unit = where + (" AND " if where else " WHERE ") + source.unit + " IS NOT NULL"
        summand = pick()
        filtered = pick()
        aggregates = [("dp_count(*)", "least(count(*), %d)" % MAX_ROWS),
                      # rows are clamped, and what a unit adds up to
                      ("dp_sum(%s, %d, %d, %d, %d)" % (summand, ROW_LOWER, ROW_UPPER, LOWER, UPPER),
                       "greatest(%d, least(%d, coalesce(sum(greatest(%d, least(%d, %s))) FILTER (WHERE %s IS NOT NULL), 0)))"
                       % (LOWER, UPPER, ROW_LOWER, ROW_UPPER, summand, summand)),
                      ("dp_count(%s) FILTER (WHERE %s > 0)" % (summand, filtered),
                       "least(count(%s) FILTER (WHERE %s > 0), %d)" % (summand, filtered, MAX_ROWS))]
        if not row_unit and not source.known and not self.wrong:
            aggregates.append(("dp_count(DISTINCT %s)" % source.unit, "1"))
        rng.shuffle(aggregates)
        aggregates = aggregates[:rng.choice([1, 2])]
        if rng.random() < .2:
            aggregates.append(rng.choice(aggregates))
        self.n = len(aggregates)
        self.sets = len(self.keys) == 2 and rng.random() < .4
        grouping = ""
        outer = [] if not self.sets else ["GROUPING(%s) AS s" % ", ".join(self.keys)]
        if self.keys:
            grouping = " GROUP BY " + ("CUBE (%s)" if self.sets else "%s") % ", ".join(self.keys)
        outer += ["%s AS k%d" % (key, i) for i, key in enumerate(self.keys)]
        self.query = "%sSELECT %s FROM %s%s%s" % (
            with_text, ", ".join(outer + ["%s AS v%d" % (a[0], i) for i, a in enumerate(aggregates)]),
            source.sql, where, grouping)
        # the unit's share of each group, then the sum over units
        inner = outer + ["%s AS v%d" % (a[1], i) for i, a in enumerate(aggregates)]
        by = ", ".join(self.keys + [source.unit])
        if self.sets:
            by = "GROUPING SETS (%s)" % ", ".join(
                "(%s)" % ", ".join(keys + [source.unit])
                for keys in (self.keys, self.keys[:1], self.keys[1:], []))
        names = (["s"] if self.sets else []) + ["k%d" % i for i in range(len(self.keys))]
        self.reference = "%sSELECT %s FROM (SELECT %s FROM %s%s GROUP BY %s) q%s" % (
            with_text, ", ".join(names + ["sum(v%d) AS v%d" % (i, i) for i in range(self.n)]),
            ", ".join(inner), source.known or source.sql, where_unit, by,
            " GROUP BY " + ", ".join(names) if names else "")
        self.grouped = bool(self.keys)


def vector(rows):
    """{(key, column): value}, without zeros."""
    result = {}
    for row in rows:
        key = tuple((k, json.dumps(v)) for k, v in sorted(row.items()) if k[0] != "v")
        for k, v in row.items():
            if k[0] == "v" and v:
                result[key, k] = result.get((key, k), 0) + v
    return result


def minus(x, y):
    result = dict(x)
    for key, value in y.items():
        result[key] = result.get(key, 0) - value
    return {key: value for key, value in result.items() if value}


def fill(rng):
    """Rows of all tables; some without a unit."""
    def value():
        return rng.choice([0, 0, 1, 1, 1, 2, 2, 3, -1, None])      # all of VALUES
    inserts = []
    for t, columns in (("a", "u, g, x"), ("b", "u, k, y"), ("c", "u, g, x")):
        rows = [(u, value(), value()) for u in UNITS + [None] for _ in range(rng.choice([0, 1, 3, 4]))]
        inserts.append("INSERT INTO %s (%s) VALUES %s;" % (
            t, columns, ", ".join("(%s)" % ", ".join("NULL" if v is None else str(v) for v in row) for row in rows)))
    for t in "r", "pr":
        inserts.append("INSERT INTO %s (u, g, x) VALUES %s;" % (
            t, ", ".join("(%d, %s)" % (u, ", ".join("NULL" if v is None else str(v) for v in (value(), value())))
                         for u in UNITS + [8, 9, 10])))
    inserts.append("INSERT INTO p VALUES %s;" % ", ".join("(%d, %s)" % (u, "NULL" if v is None else v) for u, v in ((u, value()) for u in UNITS)))
    ids = [(i, u) for i, u in enumerate(u for u in UNITS + [None] for _ in range(rng.choice([0, 1, 2])))]
    kids = [(no, i) for no, i in enumerate(i for i in [i for i, _ in ids] + [None] for _ in range(rng.choice([0, 1, 2, 3])))]
    for t, rows in (("h", [(i, u, value()) for i, u in ids]), ("kid", [(no, i, value()) for no, i in kids]),
                    ("grandkid", [(no, value()) for no in [no for no, _ in kids] + [None] for _ in range(rng.choice([0, 1, 2]))])):
        inserts += ["INSERT INTO %s VALUES (%s);" % (t, ", ".join("NULL" if v is None else str(v) for v in row)) for row in rows]
    return "TRUNCATE a, b, c, r, pr, h, p, kid, grandkid;\n" + "\n".join(inserts)


def quote(text):
    return "'" + text.replace("'", "''") + "'"


class Checker:
    def __init__(self, tap, shapes):
        self.tap, self.shapes = tap, shapes
        self.bad = {}
        self.answered = self.values = self.wrong = 0

    def complain(self, shape, what):
        self.bad.setdefault(what, []).append(shape.query)

    def ask(self, seed):
        rng = random.Random(seed)
        script = []
        for i, shape in enumerate(self.shapes):
            who = quote("analyst%d" % (i // PER_ROLE))
            query, unit = quote(shape.query), rng.choice(UNITS)
            if i % 10 == 0:
                script.append(fill(rng))
            script.append("SELECT ask(%s, %s, 1000);" % (query, who))
            script.append("SELECT coalesce(json_agg(to_json(q)), '[]') FROM (%s) q;" % shape.reference)
            script.append("SELECT ask_without(%s, %s, 1000, 'u = %d');" % (query, who, unit))
            script.append("SELECT ask_without(%s, %s, 1000, 'u IS DISTINCT FROM %d');" % (query, who, unit))
            script.append("SELECT ask_without(%s, %s, %d, 'u IS DISTINCT FROM %d');" % (query, who, MAX_GROUPS, unit))
            script.append("SELECT ask(%s, %s, %d);" % (quote("EXPLAIN (COSTS OFF) " + shape.query), who, MAX_GROUPS))
        lines = [json.loads(line[0]) for line in psql("\n".join(script))]
        assert len(lines) == 6 * len(self.shapes)
        return [lines[i:i + 6] for i in range(0, len(lines), 6)]

    def check(self, shape, answers):
        whole, reference, without, alone, few, explained = answers
        if shape.wrong:
            self.wrong += 1
            if not isinstance(whole, str) or not re.search("can be joined only on|join that table, too|a subquery cannot be used|UNION|LIMIT and OFFSET|privacy units", whole):
                self.complain(shape, "answered")
            return
        for answer in answers[:5]:
            if isinstance(answer, str):
                self.complain(shape, "refused: " + answer)
                return
        self.answered += 1
        whole, reference, without, alone, few = map(vector, (whole, reference, without, alone, few))
        self.values += len(whole) + len(without) + len(alone) + len(few)
        if whole != reference:
            self.complain(shape, "not the reference")
        if minus(whole, without) != alone:
            self.complain(shape, "the difference is not what the unit gives")
        sigmas = [float(s) for s in re.findall(r"stddev=([0-9.e+-]+)", explained)]
        if not sigmas:
            self.complain(shape, "no stddev in EXPLAIN: " + explained)
            return
        most = max(2 * RHO * s * s for s in sigmas) * (1 + 1e-4)
        for column in range(shape.n):
            for s in {dict(key).get("s") for (key, _) in few}:
                own = [v for (key, c), v in few.items() if c == "v%d" % column and dict(key).get("s") == s]
                if sum(v * v for v in own) > most:
                    self.complain(shape, "more than the sensitivity")
                if len(own) > (MAX_GROUPS if shape.grouped else 1):
                    self.complain(shape, "more groups than max_groups")
        if any(abs(v) > max(MAX_ROWS, -LOWER, UPPER) for v in few.values()):
            self.complain(shape, "more than a unit may give to a group")

    def report(self, what, good):
        found = self.bad.get(what, [])
        self.tap.ok(not found, good, "\n".join(found[:3]))


def main():
    tap = Tap("neighbours.py", 1)
    rng = random.Random(SEED)
    shapes = [Shape(rng) for _ in range(SHAPES)]
    psql(SET_UP)
    psql("\n".join("CREATE ROLE analyst%d LOGIN; GRANT SELECT ON w, m, va, vb, vc TO analyst%d;"
                   " SELECT dp_cdp.set_budget('d', 'analyst%d', rho => 1000000);" % (i, i, i) for i in range(-(-SHAPES // PER_ROLE))))
    checker = Checker(tap, shapes)
    for shape, answers in zip(shapes, checker.ask(SEED)):
        checker.check(shape, answers)
    for what in sorted(checker.bad):
        if what.startswith(("refused", "no sigma")):
            checker.report(what, what)
    tap.note("%d shapes, seed %d, %d answered, %d values"
             % (SHAPES, SEED, checker.answered, checker.values))
    checker.report("not the reference", "answers are those of plain SQL")
    checker.report("the difference is not what the unit gives", "a unit changes an answer by what it gives alone")
    checker.report("more than the sensitivity", "what one unit gives is within the sensitivity")
    checker.report("more groups than max_groups", "one unit is in at most max_groups groups")
    checker.report("more than a unit may give to a group", "one unit's share of a group is bounded")
    checker.report("answered", "joins on what is not the unit are refused")
    tap.ok(ONCE or checker.wrong >= SHAPES / 30, "there were such", "%d" % checker.wrong)
    tap.ok(checker.answered == SHAPES - checker.wrong, "all others are answered")
    tap.ok(alarm(checker.values) < FILE_ALARM, "noise is too small to be seen", "%.2g" % alarm(checker.values))
    tap.done()


if __name__ == "__main__":
    main()
