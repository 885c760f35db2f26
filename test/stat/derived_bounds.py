#!/usr/bin/env python3
"""Whether bounds that follow from an expression hold all of its values.

Random expressions over columns whose values are within declared bounds, at
them and near them, and over aggregates of each unit's rows, none of which has
more than max_rows: dp_cdp.preview tells the bounds of each, plain SQL its value
in each row.  A value that plain SQL fails for is NULL on protected rows.  What
a unit's rows add up to must be within the limits of its total.

Environment: BOUNDS_SEED (1 in `make test`, random in `make test-all`), BOUNDS_EXPRESSIONS (400 and 1,200).
"""
import os
import random

from dpstat import Tap, make_role, psql, size

ANALYST = "prober"
EXPRESSIONS = int(os.environ.get("BOUNDS_EXPRESSIONS", size(400, 1200)))
SEED = int(os.environ.get("BOUNDS_SEED", size(1, random.randrange(2 ** 32))))
UNITS, ROWS = 10, 4
rng = random.Random(SEED)

# name -> type, bounds, declared limits of totals, values
COLUMNS = {
    "s": ("smallint", -7, 7, None, [-7, 7, 0, 1, -1, 3]),
    "i": ("int", -100, 2000000000, None, [-100, 2000000000, 0, 1, -1, 77, 65536]),
    "p": ("int", 0, 12, None, [0, 12, 1, 5]),
    "b": ("bigint", -5, 9000000000000000000, None, [-5, 9000000000000000000, 0, 1, 3037000500]),
    "n": ("numeric", -2.5, 1000, None, [-2.5, 1000, 0, 0.001, 999.9999, -0.0000001]),
    "m": ("numeric(10,2)", 0, 99.99, None, [0, 99.99, 0.01, 50]),
    "f": ("float8", -1.5, 1e6, None, [-1.5, 1e6, 0, 0.1, -1e-9, 333333.333]),
    "g": ("float8", 0.25, 8, None, [0.25, 8, 1, 7.77]),
    "r": ("real", -3, 3, None, [-3, 3, 0, 0.1, 2.999999]),
    "x": ("numeric(8,2)", 0, 60, (0, 100), None),
    "y": ("int", -20, 20, (-30, 50), None),
}
UNIT_COLUMNS = {
    "c": "count(*)", "d": "count(m)", "e": "count(*) FILTER (WHERE p > 3)", "sx": "sum(x)", "sy": "sum(y)", "sp": "sum(p)", "sm": "sum(m * 1.5)",
    "sf": "sum(g)", "ap": "avg(p)", "am": "avg(n)", "af": "avg(f)", "lo": "min(m)", "hi": "max(s)", "sd": "stddev(p)", "vg": "var_pop(g)",
    "ux": "count(DISTINCT p)",
}
UNIT_TYPES = {"c": "bigint", "d": "bigint", "e": "bigint", "ux": "bigint", "hi": "smallint", "sy": "bigint", "sp": "bigint",
              "sf": "float8", "af": "float8", "vg": "float8"}
CONSTANTS = {"int": ["0", "1", "-1", "2", "7", "-100", "2147483647"], "numeric": ["0.5", "-1.19", "100.0", "1e-7", "3.00"],
             "float8": ["0.1::float8", "-2.5::float8", "1e8::float8"], "bigint": ["4000000000", "-1::bigint"],
             "smallint": ["2::smallint"], "real": ["1.5::real"]}
TYPES = list(CONSTANTS)


def base(t):
    return "numeric" if t.startswith("numeric") else t


def setup():
    columns = ", ".join("%s %s" % (name, c[0]) for name, c in COLUMNS.items())
    rows = []
    for unit in range(1, UNITS + 1):
        left, low, high = 100.0, -30, 50
        for _ in range(ROWS):
            values = []
            for name, c in COLUMNS.items():
                if name == "x":
                    value = round(min(rng.choice([0, 60, 10, 33.33]), left), 2)
                    left = round(left - value, 2)
                elif name == "y":
                    value = rng.choice([-20, 20, 5, -1])
                    # what rows add up to, each sign by itself
                    value = max(value, low) if value < 0 else min(value, high)
                    low, high = (low - value, high) if value < 0 else (low, high - value)
                else:
                    value = rng.choice(c[4]) if rng.random() > 0.07 else "NULL"
                values.append(str(value))
            rows.append("(%d, %d, %s)" % (len(rows) + 1, unit, ", ".join(values)))
    declare = []
    for name, c in COLUMNS.items():
        totals = ", %s, %s" % c[3] if c[3] else ""
        declare.append("SELECT dp_cdp.set_bounds('t', '%s', %r, %r%s);" % (name, c[1], c[2], totals))
    psql("""
        CREATE TABLE t (id int, unit int, %s);
        INSERT INTO t VALUES %s;
        SELECT dp_cdp.create_dataset('bounds', find_bounds => 0, max_groups => 5, max_rows => %d);
        SELECT dp_cdp.protect_table('t', 'bounds', 'unit');
        SELECT dp_cdp.set_budget('bounds', '%s', rho => 1);
        %s
        """ % (columns, ", ".join(rows), ROWS, ANALYST, "\n".join(declare)))
    psql("""
        -- NULL: refused; else what is not within, '' for nothing
        CREATE FUNCTION outside(expr text, source text, ids int, unit_is_id boolean) RETURNS text LANGUAGE plpgsql AS $$
        DECLARE
            bound record;
            value float8;
            seen float8[] := '{}';
            totals float8[] := array_fill(NULL::float8, ARRAY[100]);
            slack float8;
            result text := '';
        BEGIN
            SET SESSION AUTHORIZATION %s;
            BEGIN
                SELECT row_lower, row_upper, total_lower, total_upper INTO bound
                    FROM dp_cdp.preview(format('SELECT dp_sum(%%s) FROM %%s', expr, source)) WHERE item = 'aggregate';
            EXCEPTION WHEN OTHERS THEN
                RESET SESSION AUTHORIZATION;
                IF SQLSTATE NOT IN ('ZC002', 'ZC004') AND SQLSTATE NOT LIKE '22%%' THEN
                    RETURN 'failed: ' || SQLSTATE || ' ' || SQLERRM;
                END IF;
                RETURN NULL;
            END;
            RESET SESSION AUTHORIZATION;
            FOR i IN 1..ids LOOP
                BEGIN
                    EXECUTE format('SELECT (%%s)::float8 FROM %%s WHERE id = $1', expr, source) INTO value USING i;
                EXCEPTION WHEN OTHERS THEN
                    value := NULL;
                END;
                CONTINUE WHEN value IS NULL OR value = 'NaN';
                slack := 1e-9 * greatest(abs(bound.row_lower), abs(bound.row_upper));
                IF value < bound.row_lower - slack OR value > bound.row_upper + slack THEN
                    result := format('row %%s: %%s is not within %%s .. %%s', i, value, bound.row_lower, bound.row_upper);
                END IF;
                totals[CASE WHEN unit_is_id THEN i ELSE (i + 3) / 4 END] := coalesce(totals[CASE WHEN unit_is_id THEN i ELSE (i + 3) / 4 END], 0) + value;
            END LOOP;
            FOR i IN 1..ids LOOP
                CONTINUE WHEN bound.total_lower IS NULL;
                slack := 1e-9 * greatest(abs(bound.total_lower), abs(bound.total_upper), abs(bound.row_lower), abs(bound.row_upper));
                IF totals[i] < bound.total_lower - slack OR totals[i] > bound.total_upper + slack THEN
                    result := format('unit %%s: a total of %%s is not within %%s .. %%s', i, totals[i], bound.total_lower, bound.total_upper);
                END IF;
            END LOOP;
            RETURN result;
        END $$;
        """ % ANALYST)


def expression(columns, t, depth):
    """An expression of type t."""
    def sub(u=None):
        return expression(columns, u or t, depth - 1)

    r = rng.random()
    own = [c for c, u in columns.items() if u == t]
    if depth <= 0 or r < 0.12:
        if own and rng.random() < 0.85:
            return rng.choice(own)
        return rng.choice(CONSTANTS[t])
    if r < 0.5:
        a, b = sub(), sub()
        op = rng.choice(["+", "-", "*", "/", "*", "/"])
        if op == "/" and rng.random() < 0.4:
            b = rng.choice(["nullif(%s, 0)", "greatest(%s, 1)", "least(%s, -1)", "(abs(%s) + 1)"]) % b
        return "(%s %s %s)::%s" % (a, op, b, t)
    if r < 0.62:
        return "(%s)::%s" % (sub(rng.choice(TYPES)), t)
    if r < 0.72:
        return rng.choice(["coalesce(%s, %s)", "greatest(%s, %s)", "least(%s, %s)", "nullif(%s, %s)",
                           "CASE WHEN " + rng.choice(list(columns)) + " > 1 THEN %s ELSE %s END"]) % (sub(), sub())
    if r < 0.76 and t in ("int", "bigint", "numeric", "smallint"):
        return "(%s %% %s)::%s" % (sub(), sub(), t)
    if r < 0.85:
        return rng.choice(["(- %s)", "(+ %s)", "abs(%s)", "(@ %s)"]) % sub()
    if t == "numeric":
        return rng.choice(["round(%s)", "round(%s, 1)", "round(%s, -1)", "trunc(%s)", "trunc(%s, 2)", "floor(%s)", "ceil(%s)", "sign(%s)", "sqrt(%s)",
                           "(%s)::numeric(9,3)"]) % sub()
    if t == "float8":
        return rng.choice(["round(%s)", "trunc(%s)", "floor(%s)", "ceil(%s)", "sign(%s)", "sqrt(%s)", "cbrt(%s)", "exp(%s)", "ln(%s)", "log(%s)",
                           "power(%s, 2)", "power(%s, 3)", "power(%s, 0.5)", "power(%s, 0)"]) % sub()
    if t == "int":
        return rng.choice(["width_bucket(%s::numeric, -3, 100, 5)", "((%s) > 1)::int"]) % sub()
    return "(%s)::%s" % (sub("int"), t)


def main():
    tap = Tap("derived_bounds.py", 1)
    tap.note("BOUNDS_SEED=%d" % SEED)
    make_role(ANALYST)
    setup()
    sources = [({name: base(c[0]) for name, c in COLUMNS.items()}, "t", UNITS * ROWS, "false"),
               ({name: UNIT_TYPES.get(name, "numeric") for name in UNIT_COLUMNS},
                "(SELECT unit AS id, %s FROM t GROUP BY unit) q" % ", ".join("%s AS %s" % (e, n) for n, e in UNIT_COLUMNS.items()),
                UNITS, "true")]
    for columns, source, ids, unit_is_id in sources:
        held = refused = 0
        wrong = []
        for _ in range(EXPRESSIONS // 2 // 100):
            exprs = [expression(columns, rng.choice(TYPES), rng.randrange(1, 5)) for _ in range(100)]
            found = psql("SELECT n, outside(e, $s$%s$s$, %d, %s) FROM (VALUES %s) v (n, e) ORDER BY n"
                         % (source, ids, unit_is_id, ", ".join("(%d, $e$%s$e$)" % (n, e) for n, e in enumerate(exprs))))
            for n, text in found:
                if text == "\\N":
                    refused += 1
                elif text:
                    wrong.append("%s: %s" % (exprs[int(n)], text))
                else:
                    held += 1
        what = "expressions over " + ("columns" if source == "t" else "aggregates of units")
        tap.ok(not wrong, "%d %s are within their bounds" % (held, what), "\n".join(wrong[:5]))
        tap.ok(held > refused, "most of the %s have bounds" % what, "%d of %d" % (held, held + refused))
    tap.done()


if __name__ == "__main__":
    main()
