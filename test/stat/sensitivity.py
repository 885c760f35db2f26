#!/usr/bin/env python3
"""By how much one privacy unit changes the exact states of a release, at most.

Random small tables, with values at the bounds, beyond them and between, not a
number and NULL, are read as the inner query of a release reads them.  Units do
not influence each other, so that the squared L2 norm of what one unit adds to
all groups is the sensitivity under add_remove, and that of the difference of
two units' contributions, one in the place of the other, under replace_one.
Both are compared with the sensitivity that the release claims (dp_cdp.preview)
and must reach it, or at least half of its square where a pair of units in just
the right groups would be needed.

The same is asked of releases themselves: a histogram and a number of distinct
values with so much rho that noise rounds to 0, with a unit and without it; the
others have no more rows than they may, since it is drawn anew which are kept.

Tables are always the same.  `make test` has the first 100 of the 400 of `make test-all`, and releases of 20 instead
of 40; those that reach the sensitivity are among them.
A fault that shows in one table of 33, or of 133, is missed by 5 % of such choices.
"""
import math

from dpstat import Tap, make_role, psql, sensitivity2, size

ANALYST = "prober"
TABLES = size(100, 400)
RELEASED = size(20, 40)
ONE = 1 << 24
BINS = 4

# scaled parts by their place in the spec; 0 counts their rows
SCALED = {"t": 1, "2 t^2 - 1": 2, "u": 3, "t u": 4}
# limits of a unit's total that are tighter than those of its rows
TOTALS = (-0.5, 0.75)


def create(name, neighbors, rows, groups):
    """t, u, x: bounds -1 .. 1; every table id has units and groups of its own."""
    psql("""
        CREATE TABLE {n} (id int, unit int, k int NOT NULL, x float8, y float8, r int);
        INSERT INTO {n} SELECT id, unit, k, a, b, r FROM (
            SELECT id, unit, r, abs(hashint8extended(r, id + 1)) % 4 AS k,
                   ('{{-1,1,1,1,-7,7,0.5,-0.3,0,Infinity,-Infinity,NaN,NULL}}'::float8[])[1 + abs(hashint8extended(r * 7 + unit, id + 2)) % 13] AS a,
                   ('{{-1,1,-1,1,-7,7,0.5,-0.3,0,Infinity,-Infinity,NaN,NULL}}'::float8[])[1 + abs(hashint8extended(r * 7 + unit, id + 3)) % 13] AS b
            FROM generate_series(1, {tables}) id, generate_series(1, 4) unit, generate_series(1, 1 + (abs(hashint8extended(unit, id)) % 40)::int) r) s;
        -- units of one kind of rows, in every group
        INSERT INTO {n} SELECT 1, unit, k, x, x FROM (VALUES (11, 1), (12, -1)) v (unit, x), generate_series(0, 3) k, generate_series(1, 20);
        INSERT INTO {n} SELECT 1, unit, k, x, -x FROM (VALUES (13, 1), (14, 0)) v (unit, x), generate_series(0, 3) k, generate_series(1, 20);
        INSERT INTO {n} SELECT 1, 15, k, r / 20.0, 0 FROM generate_series(0, 3) k, generate_series(1, 20) r;
        INSERT INTO {n} SELECT 1, 16, k, -r / 20.0, 0 FROM generate_series(0, 3) k, generate_series(1, 20) r;
        SELECT dp_cdp.create_dataset('{n}', neighbors => '{neighbors}', default_rho => 0.5, max_groups => {groups}, max_rows => {rows});
        SELECT dp_cdp.protect_table('{n}', '{n}', 'unit');
        SELECT dp_cdp.set_keys('{n}', 'k', ARRAY[0, 1, 2, 3]);
        SELECT dp_cdp.set_budget('{n}', '{analyst}', rho => 1e6)
        """.format(n=name, tables=TABLES, neighbors=neighbors, rows=rows, groups=groups, analyst=ANALYST))


def claims(name, grouped):
    """Squared sensitivities that the release claims: of the rows of an average, a histogram, distinct values, sums, their totals."""
    rows = psql("SELECT sensitivity * sensitivity FROM dp_cdp.preview('SELECT dp_avg(x, -1, 1), dp_histogram(x, -1, 1, %d),"
                " dp_median(x, -1, 1), dp_count(DISTINCT x), dp_sum(x, -1, 1), dp_sum(x, -1, 1, %r, %r), dp_clipped_totals(x, -1, 1)"
                " FROM %s %s') WHERE item = 'aggregate'"
                % (BINS, *TOTALS, name, "GROUP BY k" if grouped else ""), ANALYST)
    return [float(row[0]) for row in rows]


def derived(tap, name, grouped):
    """Bounds that follow from those of columns claim what the same bounds, written, do; limits of totals go through factors."""
    pairs = [("dp_sum(x * 3)", "dp_sum(x * 3, -3, 3)"), ("dp_sum(x - y)", "dp_sum(x - y, -2, 2)"), ("dp_sum(-x / 2)", "dp_sum(-x / 2, -0.5, 0.5)"),
             ("dp_sum(abs(x))", "dp_sum(abs(x), 0, 1)"), ("dp_sum(r * 2)", "dp_sum(r * 2, 0, 80, 0, 100)"),
             ("dp_histogram(x * y, 4)", "dp_histogram(x * y, -1, 1, 4)"), ("dp_clipped_totals(x * 3)", "dp_clipped_totals(x * 3, -3, 3)"),
             ("dp_clipped_rows(*)", "dp_clipped_totals(x, -1, 1)")] + [("dp_clipped_groups(*)", "dp_clipped_totals(x, -1, 1)")] * grouped
    for mine, written in pairs:
        claimed = [float(row[0]) for row in psql("SELECT sensitivity FROM dp_cdp.preview('SELECT %s, %s FROM %s %s') WHERE item = 'aggregate'"
                                                 % (mine, written, name, "GROUP BY k" if grouped else ""), ANALYST)]
        tap.ok(abs(claimed[0] - claimed[1]) <= 1e-6 * claimed[1], "%s claims what %s does" % (mine, written), claimed)


def contributions(name, grouped, m, groups, seed):
    """(id, unit) -> (group -> (scaled, counts of bins, counts of upper nodes of the tree), group -> set of codes)"""
    bound = """dp_cdp_internal.bound_unit($1, unit, {k} t IS NOT NULL AND u IS NOT NULL,
                         CASE WHEN u IS NOT NULL THEN t END, CASE WHEN u IS NOT NULL THEN dp_cdp_internal.chebyshev(t) END,
                         CASE WHEN t IS NOT NULL THEN u END, dp_cdp_internal.product(t, u),
                         dp_cdp_internal.bin(x, $3), dp_cdp_internal.bin(x, $4), dp_cdp_internal.code(x), x, x, x)""".format(k="k," if grouped else "")
    columns = (["dp_cdp_internal.bound_key(0, state, NULL::int) AS k0"] if grouped else []) + \
        ["dp_cdp_internal.bound_value(%d, state, $1) AS v%d" % (i, i) for i in range(5)] + \
        ["dp_cdp_internal.bound_codes(%d, state, $1) AS v%d" % (i, i) for i in (5, 6)] + ["dp_cdp_internal.bound_distinct_codes(7, state, $1) AS v7"] + \
        ["dp_cdp_internal.bound_value(%d, state, $1) AS v%d" % (i, i) for i in (8, 9)] + ["dp_cdp_internal.bound_cut(10, state, $1) AS v10"]
    grid = "dp_cdp_internal.make_grid(-%d, %d, 'float8')" % (m, m)
    total_grid = "dp_cdp_internal.make_grid(%r, %r, 'float8')" % TOTALS
    # a row is within -1 .. 1
    limits, total_limits = ("ARRAY[-%d, %d]::bigint[]" % (2 ** -int(row[0]), 2 ** -int(row[0]))
                            for row in psql("SELECT (dp_cdp_internal.grid_parts(g)).exponent FROM unnest(ARRAY[%s, %s]) g" % (grid, total_grid)))
    rows = psql("""
        PREPARE entries(dp_cdp_internal.bound_spec, dp_cdp_internal.range, dp_cdp_internal.range, dp_cdp_internal.range, dp_cdp_internal.grid, dp_cdp_internal.grid) AS
            SELECT id, unit, {key}, array_to_string(ARRAY[v0, v1, v2, v3, v4], ','), array_to_string(v5, ','),
                   array_to_string(v6, ','), array_to_string(v7, ','), v8 * 2::float8 ^ (dp_cdp_internal.grid_parts($5)).exponent,
                   v9 * 2::float8 ^ (dp_cdp_internal.grid_parts($6)).exponent, array_to_string(v10, ',')
            FROM (SELECT id, unit, {columns}
                  FROM (SELECT id, unit, {bound} AS state
                        FROM (SELECT *, dp_cdp_internal.centered(x, $2) AS t, dp_cdp_internal.centered(y, $2) AS u FROM {n}) s GROUP BY id, unit) s) s;
        EXECUTE entries(
            dp_cdp_internal.make_bound_spec({nkeys}, {groups}, ARRAY[{seed}, 4711], '{{rows,scaled,scaled,scaled,scaled,codes,codes,distinct,sum,sum,cut}}',
                ARRAY[dp_cdp_internal.make_grid(0, {m}, 'int')] || array_fill(dp_cdp_internal.make_scaled_grid({m}), ARRAY[4])
                || array_fill(dp_cdp_internal.make_grid(0, {codes}, 'int'), ARRAY[3])
                || ARRAY[{grid}, {total_grid}, {grid}], '{{0,0,0,0,0,0,0,0,0,0,0}}',
                array_fill(0::bigint, ARRAY[16]) || {limits} || {total_limits} || {limits}),
            dp_cdp_internal.make_range(-1, 1, 1, 0), dp_cdp_internal.make_range(-1, 1, {bins}, 0), dp_cdp_internal.make_range(-1, 1, 4096, 0), {grid}, {total_grid})
        """.format(n=name, key="k0" if grouped else "0", columns=", ".join(columns), bound=bound,
                   nkeys=int(grouped), groups=groups, seed=seed, m=m, codes=min(m, 256), bins=BINS,
                   grid=grid, total_grid=total_grid, limits=limits, total_limits=total_limits))
    result = {}

    def codes(text):
        return [int(c) for c in text.split(",")] if text not in ("", "\\N") else []

    def counts(values):
        vector = {}
        for value in values:
            vector[value] = vector.get(value, 0) + 1
        return vector

    for table, unit, key, values, bins, leaves, distinct, total, limited, cut in rows:
        leaves = codes(leaves)
        parts = {"rows": {0: 0}}
        for i, value in enumerate(values.split(",")):
            parts[("rows", *SCALED)[i]] = {0: int(value) / (ONE if i else 1)}
        parts["histogram"] = counts(codes(bins))
        parts["sum"], parts["limited sum"], parts["cut"] = {0: float(total)}, {0: float(limited)}, counts(codes(cut))
        for level, width in (("leaves", 1), ("middle nodes", 16), ("upper nodes", 256)):
            parts[level] = counts(leaf // width for leaf in leaves)
        result.setdefault((table, unit), {})[key] = (parts, set(codes(distinct)))
    return result


def squared(a, b):
    return sum((a.get(i, 0) - b.get(i, 0)) ** 2 for i in set(a) | set(b))


def difference(first, second, part):
    """Squared distance of two units' contributions (first, second: group -> parts)."""
    keys = set(first) | set(second)
    return sum(squared(first[k][0][part] if k in first else {}, second[k][0][part] if k in second else {}) for k in keys)


def distinct(units, without, instead=None):
    """How the numbers of distinct values of all groups change."""
    total = 0
    for key in {k for u in units.values() for k in u}:
        def count(chosen):
            return len(set().union(*(u[key][1] for name, u in chosen if key in u)))
        everybody = [(name, u) for name, u in units.items() if name != instead]
        others = [(name, u) for name, u in units.items() if name != without]
        total += (count(everybody) - count(others)) ** 2
    return total


def states(tap, name, neighbors, grouped, m, groups):
    k = groups if grouped else 1
    where = "%s, %s, %d rows of a unit in %d groups" % (neighbors, "grouped" if grouped else "not grouped", m, k)
    rows, histogram, tree, values, total, limited, cut = claims(name, grouped)
    scaled = sensitivity2(-m, m, k, grouped, neighbors)
    limits = {"rows": rows, "histogram": histogram, "leaves": tree, "middle nodes": tree, "upper nodes": tree, "distinct": values,
              "sum": total, "limited sum": limited, "cut": cut}
    limits.update((part, scaled) for part in SCALED)
    tap.ok(abs(rows - sensitivity2(0, m, k, grouped, neighbors)) < 1e-6 * rows, where + ": what is claimed for a count")
    most = dict.fromkeys(limits, 0.0)
    for seed in (1, 2):
        tables = {}
        for (table, unit), groups_of in contributions(name, grouped, m, groups, seed).items():
            tables.setdefault(table, {})[unit] = groups_of
        for units in tables.values():
            names = sorted(units)
            for a in names:
                if neighbors == "add_remove":
                    for part in limits:
                        if part != "distinct":
                            most[part] = max(most[part], difference(units[a], {}, part))
                    most["distinct"] = max(most["distinct"], distinct(units, a))
                    continue
                # a in the place of b
                for b in names:
                    if a < b:
                        for part in limits:
                            if part != "distinct":
                                most[part] = max(most[part], difference(units[a], units[b], part))
                        most["distinct"] = max(most["distinct"], distinct(units, a, b))
                # a in the place of somebody who has no rows here
                for part in limits:
                    if part != "distinct":
                        most[part] = max(most[part], difference(units[a], {}, part))
    for part, limit in limits.items():
        tap.ok(most[part] <= limit * (1 + 1e-9), "%s: %s changes by at most the sensitivity" % (where, part),
               "%.6g, claimed %.6g" % (math.sqrt(most[part]), math.sqrt(limit)))
    # where the tables have the extremes
    for part in ("rows", "t", "2 t^2 - 1", "u", "t u", "histogram", "upper nodes", "distinct", "sum", "limited sum", "cut"):
        share = most[part] / limits[part]
        # of two units in other groups, or both in the same: not both are in the tables
        enough = 0.49 if neighbors == "replace_one" and grouped else 0.999
        tap.ok(share > enough, "%s: %s comes to it" % (where, part), "%.3f of it" % share)


def releases(tap, name, neighbors, m):
    """The guard's own inner query, without groups."""
    psql("""
        CREATE FUNCTION probe() RETURNS TABLE (id int, without int, added int, h bigint[], d bigint) LANGUAGE plpgsql AS $$
        BEGIN
            FOR i IN 1..{tables} LOOP
                id := i;
                added := 0;
                FOREACH without IN ARRAY '{{0,1,2,3,4}}'::int[] LOOP
                    SELECT dp_histogram(t.x, -1, 1, {bins}), dp_count(DISTINCT t.x) INTO h, d FROM {n} t
                        WHERE t.id = probe.id AND t.r <= {m} AND t.unit <> probe.without AND t.unit < 10;
                    RETURN NEXT;
                END LOOP;
                without := 0;
                FOREACH added IN ARRAY '{{11,12,13,14,15,16}}'::int[] LOOP
                    SELECT dp_histogram(t.x, -1, 1, {bins}), dp_count(DISTINCT t.x) INTO h, d FROM {n} t
                        WHERE t.id IN (1, probe.id) AND (t.id = probe.id AND t.r <= {m} AND t.unit < 10 OR t.unit = probe.added);
                    RETURN NEXT;
                END LOOP;
            END LOOP;
        END $$""".format(n=name, m=m, bins=BINS, tables=RELEASED))
    rows = psql("SET dp_cdp.rho = %r; SELECT id, without, added, array_to_string(h, ','), d FROM probe()" % (100.0 * m * m), ANALYST)
    psql("DROP FUNCTION probe()")
    seen = {}
    for table, without, added, h, d in rows:
        seen.setdefault(table, {})[without, added] = ([int(x) for x in h.split(",")], int(d))
    most = [0, 0]
    for runs in seen.values():
        usual = runs["0", "0"]
        for h, d in runs.values():
            most = [max(most[0], sum((x - y) ** 2 for x, y in zip(h, usual[0]))), max(most[1], (d - usual[1]) ** 2)]
    for what, seen_most in zip(("histogram", "number of distinct values"), most):
        tap.ok(seen_most <= m * m, "%s, %d rows: a released %s changes by at most that" % (neighbors, m, what),
               "%.6g" % math.sqrt(seen_most))
        tap.ok(seen_most == m * m, "%s, %d rows: a released %s comes to it" % (neighbors, m, what))


def main():
    tap = Tap("sensitivity.py", 1)
    make_role(ANALYST)
    for neighbors in ("add_remove", "replace_one"):
        for m, groups in ((1, 1), (3, 2), (7, 3)):
            name = "small_%s_%d" % (neighbors, m)
            create(name, neighbors, m, groups)
            for column, bounds in (("x", "-1, 1"), ("y", "-1, 1"), ("r", "0, 40, 0, 50")):
                psql("SELECT dp_cdp.set_bounds('%s', '%s', %s)" % (name, column, bounds))
            for grouped in (False, True):
                derived(tap, name, grouped)
                states(tap, name, neighbors, grouped, m, groups)
            if m == 3:
                releases(tap, name, neighbors, m)
    tap.done()


if __name__ == "__main__":
    main()
