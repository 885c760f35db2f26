#!/usr/bin/env python3
"""What a unit adds to all groups, held to a norm: against exact arithmetic, and never above the limit.

Random units are read as the inner query of a release reads them, by specs of several kinds:
counts, units, sums of both signs with limits of a row and of a total, moments, and codes.  One norm or several limit them.
This file computes the same in Python's integers, by the definition at the head of agg/bounding/norms.c:

- values, shares, bins and first groups are equal to the last bit, unit for unit, and so are their sums over units;
- held to each candidate C_k, the vector over all groups has a squared norm of at most C_k^2, an integer.  Below the
  unit's bin all such vectors are multiples of its shares, by C_k / 2^20: their squares add up to at most 2^40, or all break it;
- two units whose vectors have one sign differ by at most sqrt(2) C_k.

Among the units are zero vectors, norms exactly at a limit and one step above, values up to 2^62, counts that
saturate, units of one group and of 10,000.

Specs travel to servers of a cluster as text, which anybody may write: what is read back is the same spec, and
whatever else is read and not refused holds vectors to its limits, too.

Nothing is random from run to run.  `make test` has 9 specs of 1,200 units, `make test-all` 60 of 6,000: a unit has
1 to 4 vectors, each held to up to 85 candidates.  A fault that shows in one unit of 3,600, or of 120,000, is missed by
5 % of such choices at most, and one of a spec in 3, or in 20, too.
"""
import bisect
import math
import random

from dpstat import Tap, psql, size

SPECS = size(9, 60)
UNITS = size(1200, 6000)
MANY_GROUPS = 10000
LIKE_THESE = size(3, 6)         # specs that read the same units
U = 1 << 20
MOST_VALUE = 1 << 50
MOST_NORM = 1 << 48
ONE = 1 << 24
MOST_ROWS = (1 << 32) - 1
CODES, CUT = 5, 7                # DP_VALUE_CODES, DP_VALUE_CUT
WIDE = 1 << 32                  # steps to which the grid of a whole number may go


class Value:
    """kind, column, bounds of the total in steps, limits of a row, index of the value that counts its rows"""

    def __init__(self, kind, column, lower, upper, row=(-(1 << 62), 1 << 62), rows=0):
        self.kind, self.column, self.lower, self.upper, self.row, self.rows = kind, column, lower, upper, row, rows
        self.norm, self.shift = None, 0

    def is_codes(self):
        return self.kind in ("codes", "cut")

    def grid(self):
        if self.kind == "scaled":
            return "dp_cdp_internal.make_scaled_grid(%d)" % (self.upper // ONE)
        return "dp_cdp_internal.make_grid(%d, %d, 'bigint')" % (self.lower, self.upper)

    def argument(self):
        if self.kind == "codes":
            return "x%d & 7" % self.column
        return "x%d" % self.column if self.kind in ("sum", "scaled", "cut") else "x%d > 0" % self.column


def toward_zero(a, b):
    return a // b if a >= 0 else -(-a // b)


def within(x, most):
    return max(-most, min(most, x))


def random_values(rng):
    """values of one spec, and norms: (value, shift, others, limits)"""
    values, norms = [], []

    def add_norm(value, others, shift, rows_are):
        base = rows_are << shift
        count = rng.choice([1, 1, 2, 5, 20, 85])
        factor = rng.choice([2 ** 0.25, 2 ** 0.25, 1.5, 3])
        first = base * rng.choice([0.01, 0.5, 1, 1, 4, 50])
        limits = sorted({min(max(round(first * factor ** i / U), 1), MOST_NORM // U) * U for i in range(count)})
        for i in [value] + others:
            values[i].norm, values[i].shift = len(norms), shift
        norms.append((value, shift, others, limits))

    for _ in range(rng.choice([1, 1, 2, 3])):
        kind = rng.choice(["count", "sum", "sum", "units", "moments", "codes", "cut"])
        at = len(values)
        if kind == "moments":
            most = rng.choice([MOST_ROWS, MOST_ROWS, 3])
            values += [Value("rows", 0, 0, most)] + [Value("scaled", c, -most * ONE, most * ONE, rows=at) for c in (1, 2)]
            add_norm(at, [at + 1, at + 2], 24, 1)
        elif kind == "codes":
            values.append(Value("codes", 1, 0, rng.choice([1, 3, 64, 256])))
            if rng.random() < 0.8:
                add_norm(at, [], rng.choice([20, 28, 28, 32]), 1)
        elif kind == "cut":
            bound = rng.choice([1, 100, 5000])
            values.append(Value("cut", rng.choice([0, 3]), -bound, 2 * bound))
            if rng.random() < 0.8:
                add_norm(at, [], rng.choice([20, 28, 28, 32]), 1)
        elif kind == "sum":
            bound = rng.choice([1, 100, 5000, WIDE])
            row = rng.choice([(-(1 << 62), 1 << 62), (-bound, bound), (0, bound), (-bound, 0), (-3, 2 * bound)])
            total = rng.choice([(-WIDE, WIDE), (0, WIDE), (-WIDE, 0), (-bound, bound), (-7 * bound, 2 * bound)])
            values.append(Value("sum", rng.choice([0, 1, 2, 3]), max(total[0], -WIDE), min(total[1], WIDE), row))
            if rng.random() < 0.8:
                add_norm(at, [], rng.choice([0, 0, 4, 14, 20, 31]), bound)
        else:
            most = 1 if kind == "units" else rng.choice([1, 5, MOST_ROWS, MOST_ROWS])
            values.append(Value(kind, rng.choice([0, 1, 3]), 0, most))
            if rng.random() < 0.8:
                # another one, no matter of what, is held to this
                others = [at + 1] if rng.random() < 0.4 else []
                values += [Value("sum", 3, -WIDE, WIDE)] * len(others)
                add_norm(at, others, rng.choice([20, 24, 24, 32]), 1)
    return values, norms


def spec(values, norms, groups):
    text = "dp_cdp_internal.make_bound_spec(1, %d, '{5,7}', '{%s}', ARRAY[%s], '{%s}', '{%s}')" % (
        groups, ",".join(v.kind for v in values), ", ".join(v.grid() for v in values), ",".join(str(v.rows) for v in values),
        ",".join("%d,%d" % v.row for v in values))
    for value, shift, others, limits in norms:
        text = "dp_cdp_internal.with_norm(%s, %d, %d, '{%s}', '{%s}')" % (text, value, shift, ",".join(map(str, others)), ",".join(map(str, limits)))
    return text


# ---------------------------------------------------------------------------
# Units: group -> rows, each (x0, x1, x2, x3)
# ---------------------------------------------------------------------------

def random_row(rng, scale):
    return (rng.choice([0, 1, 1, 1, scale]), rng.choice([ONE, -ONE, 0, rng.randint(-ONE, ONE), rng.randint(-2 ** 31, 2 ** 31 - 1)]),
            rng.randint(-ONE, ONE), rng.choice([0, scale, -scale, rng.randint(-scale, scale), 1 << 50, -(1 << 62), 1 << 62, None]))


def random_unit(rng):
    shape = rng.random()
    scale = rng.choice([1, 10, 1000, 1 << 20, 1 << 31])
    if shape < 0.05:
        return {k: [(0, 0, 0, None)] for k in range(rng.choice([1, 3]))}
    if shape < 0.1:
        # 3, 4 and 5, and one step more
        m = rng.choice([1, 2, U // 5, U, 3 * U])
        return {1: [(3 * m, 3, 3, 3 * m)], 2: [(4 * m, 4, 4, rng.choice([4 * m, -4 * m]))], 3: [(0, 0, 0, rng.choice([0, 1]))]}
    if shape < 0.5:
        return {rng.randrange(20): [random_row(rng, scale) for _ in range(rng.choice([1, 1, 2, 30]))]}
    return {k: [random_row(rng, scale) for _ in range(rng.choice([1, 1, 2, 5]))] for k in rng.sample(range(40), rng.choice([2, 2, 3, 5, 20]))}


def special_units(rng):
    """of very many groups, and of many rows"""
    yield {k: [(1, ONE, -ONE, 1)] for k in range(MANY_GROUPS)}
    yield {k: [random_row(rng, 1 << 31)] for k in range(MANY_GROUPS)}
    yield {1: [(1, ONE, ONE, 1 << 62)] * 1000, 2: [(1, -ONE, ONE, -(1 << 62))]}


# ---------------------------------------------------------------------------
# The definition
# ---------------------------------------------------------------------------

def clamped(values, i, rows):
    """value i of a group, in steps of its grid"""
    v = values[i]
    column = [r[v.column] for r in rows]
    if v.kind in ("count", "rows", "units"):
        n = min(sum(1 for x in column if x is not None and x > 0), MOST_ROWS)
        return min(n, 1) if v.kind == "units" else min(n, v.upper)
    if v.kind == "codes":
        return min(len(column), v.upper)
    column = [x for x in column if x is not None]
    if v.kind == "cut":
        # a total is in one place, if there is any
        return 1 if column else 0
    if not column:
        return 0
    if v.kind == "sum":
        return max(v.lower, min(v.upper, sum(max(v.row[0], min(v.row[1], x)) for x in column)))
    n = sum(1 for r in rows if r[values[v.rows].column] > 0)
    total = within(sum(column), n * ONE)
    most = values[v.rows].upper
    return max(v.lower, min(v.upper, toward_zero(total * most, n) if n > most else total))


def expected(values, norms, unit):
    """bins; of each group values and shares, and what both add; of codes, how many there are, and what each adds"""
    plain = {k: [clamped(values, i, rows) for i in range(len(values))] for k, rows in unit.items()}
    held = {k: [within(x, MOST_VALUE >> v.shift) << v.shift if v.norm is not None else x for x, v in zip(xs, values)] for k, xs in plain.items()}
    bins, lengths = [], []
    for value, _, others, limits in norms:
        square = sum(xs[value] ** 2 for xs in held.values())
        length = math.isqrt(square)
        length += length * length < square
        lengths.append(length)
        bins.append(bisect.bisect_left(limits, length) if length else -1)
        for xs in held.values():
            for i in others:
                xs[i] = within(xs[i], abs(xs[value]))
    groups = {}
    for k, xs in held.items():
        told, kept, shares = [], [], []
        for i, (x, v) in enumerate(zip(xs, values)):
            if v.norm is None:
                kept.append(plain[k][i])
                shares.append(0)
                told += [plain[k][i], 0]
                continue
            kept.append(0 if bins[v.norm] == len(norms[v.norm][3]) else x)
            if v.is_codes():
                told += [plain[k][i], (U << v.shift) // lengths[v.norm] if bins[v.norm] > 0 else 0]
                shares.append(told[-1] * plain[k][i])
                continue
            shares.append(toward_zero(x * U, lengths[v.norm]) if bins[v.norm] > 0 else 0)
            told += [kept[-1], shares[-1]]
        groups[k] = (kept, shares, told)
    return bins, groups


# ---------------------------------------------------------------------------
# What the server has
# ---------------------------------------------------------------------------

def load(units):
    lines = []
    for number, unit in enumerate(units):
        for k, rows in unit.items():
            lines += ["%d\t%d\t%s" % (number, k, "\t".join("\\N" if x is None else str(x) for x in row)) for row in rows]
    psql("DROP TABLE IF EXISTS held; CREATE UNLOGGED TABLE held (unit int, k int, x0 bigint, x1 int, x2 int, x3 bigint);\n"
         "COPY held FROM stdin;\n%s\n\\.\nANALYZE held" % "\n".join(lines))


def query(values, norms):
    columns = ["dp_cdp_internal.bound_key(0, state, NULL::int) AS k", "dp_cdp_internal.bound_first(0, state) AS f"] + \
        ["dp_cdp_internal.bound_first(%d, state) AS f%d" % (i, i) for i in range(len(norms))] + \
        ["dp_cdp_internal.bound_bin(%d, state, $1) AS b%d" % (i, i) for i in range(len(norms))] + \
        ["dp_cdp_internal.bound_%s(%d, state, $1) AS %s%d" % (what if what == "share" or not v.is_codes() else v.kind, i, what[0], i)
         for i, v in enumerate(values) for what in ("value", "share")]
    arguments = ", ".join(v.argument() if v.kind != "scaled" else "x%d" % v.column for v in values)
    return "SELECT %%s%s FROM (SELECT unit, dp_cdp_internal.bound_unit($1, unit, k, %s) AS state FROM held GROUP BY unit) s" % (", ".join(columns), arguments)


def each(values, norms):
    """of codes, how many there are"""
    return "SELECT unit, k, f, %s FROM (%s) s" % (", ".join(
        ["b%d" % i for i in range(len(norms))] + ["%s, s%d" % ("cardinality(v%d)" % i if v.is_codes() else "v%d" % i, i) for i, v in enumerate(values)]),
        query(values, norms) % "unit, ")


def total(column):
    return "dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(%s), dp_cdp_internal.make_grid(0, 1, 'int'))" % column


def answers(values, norms, sql):
    """unit by unit, and their sums by groups and bins, as by_norm has them"""
    apart = psql("SET plan_cache_mode = force_generic_plan; PREPARE apart(dp_cdp_internal.bound_spec) AS %s; EXECUTE apart(%s)" % (each(values, norms), sql))
    has_codes = any(v.is_codes() for v in values)
    keys, columns = ["k"], []
    if has_codes:
        # rows do not leave added up
        keys += ["b%d" % i for i in range(len(norms))]
        columns = [total("f%d" % i) for i in range(len(norms))]
    for i, v in enumerate(values):
        if v.is_codes():
            # each code counts once, or its share
            columns += ["(SELECT sum(n) FROM unnest(dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(v%d, 8))) n)" % i,
                        "(SELECT sum(n) FROM unnest(dp_cdp_internal.vector_counts(dp_cdp_internal.codes_shares(v%d, 8, s%d))) n)" % (i, i)]
        elif has_codes or v.norm is None:
            columns += [total("v%d" % i), total("s%d" % i)]
        else:
            columns.append("array_to_string(dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b%d, v%d, s%d, f%d)), ' ')" % (v.norm, i, i, v.norm))
    rows = psql("SET plan_cache_mode = force_generic_plan; PREPARE together(dp_cdp_internal.bound_spec) AS SELECT %s FROM (%s) s GROUP BY %s; EXECUTE together(%s)" % (
        ", ".join(keys + columns), query(values, norms) % "", ", ".join(keys), sql))
    if has_codes:
        return apart, by_norm(values, norms, {tuple(int(x) for x in row[:len(keys)]): [int(x) for x in row[len(keys):]] for row in rows})
    out = {}
    for k, *row in rows:
        row = iter(row)
        for i, v in enumerate(values):
            if v.norm is None:
                add(out, (int(k), -1, -1), "v%d" % i, int(next(row)))
                add(out, (int(k), -1, -1), "s%d" % i, int(next(row)))
                continue
            parts = next(row)
            parts = [] if parts == "\\N" else [int(x) for x in parts.split()]
            for bin_, value, share, first in zip(*[iter(parts)] * 4):
                key = (int(k), v.norm, bin_)
                add(out, key, "v%d" % i, value)
                add(out, key, "s%d" % i, share)
                if i == norms[v.norm][0]:
                    add(out, key, "f", first)
    return apart, without_zeros(out)


def add(out, key, name, x):
    at = out.setdefault(key, {})
    at[name] = at.get(name, 0) + x


def without_zeros(out):
    """rows of nothing need not be there"""
    out = {key: {name: x for name, x in at.items() if x} for key, at in out.items()}
    return {key: at for key, at in out.items() if at}


def by_norm(values, norms, sums):
    """what each norm limits, by group and bin, and what none does, by group"""
    out = {}
    for (k, *bins), row in sums.items():
        for l in range(len(norms)):
            if bins[l] >= 0:
                add(out, (k, l, bins[l]), "f", row[l])
        for i, v in enumerate(values):
            key = (k, -1, -1) if v.norm is None else (k, v.norm, bins[v.norm])
            add(out, key, "v%d" % i, row[len(norms) + 2 * i])
            add(out, key, "s%d" % i, row[len(norms) + 2 * i + 1])
    return without_zeros(out)


# ---------------------------------------------------------------------------
# Tests
# ---------------------------------------------------------------------------

class Limits:
    """Checks of vectors held to candidates."""

    def __init__(self):
        self.vectors, self.reached, self.above = 0, 0, []

    def vector(self, norm, bin_, kept, shares):
        limits = norm[3]
        if not limits:
            return
        self.vectors += len(limits)
        if bin_ > 0 and sum(s * s for s in shares) > U * U:
            self.above.append("shares %s" % shares[:5])
        if bin_ < len(limits):
            # all limits from its bin on have the same vector
            square = sum(v * v for v in kept)
            if square > limits[max(bin_, 0)] ** 2:
                self.above.append("values %s" % kept[:5])
            self.reached += square == limits[max(bin_, 0)] ** 2

    def pair(self, norm, one, other):
        """two units, each (bin, group -> (value, share)), whose vectors have one sign, by one limit"""
        limits = norm[3]
        if not limits:
            return
        k = len(limits) // 2
        a, b = ({g: v if bin_ <= k else s * (limits[k] // U) for g, (v, s) in groups.items()} for bin_, groups in (one, other))
        entries = list(a.values()) + list(b.values())
        if min(entries) < 0 < max(entries):
            return
        if sum((a.get(g, 0) - b.get(g, 0)) ** 2 for g in set(a) | set(b)) > 2 * limits[k] ** 2:
            self.above.append("a pair")
        self.vectors += 1


def one_spec(rng, n, units, limits):
    """how many rows differ from the definition, unit by unit and added up"""
    values, norms = random_values(rng)
    apart, added = answers(values, norms, spec(values, norms, 20000))
    got = {}
    for row in apart:
        got[int(row[0]), int(row[1])] = [int(x) for x in row[2:]]
    wrong, firsts, sums = [], 0, {}
    before = [None] * len(norms)
    for number, unit in enumerate(units):
        bins, groups = expected(values, norms, unit)
        first = 0
        for k, (_, shares, told) in groups.items():
            row = got.pop((number, k), None)
            told = bins + told
            if row is None or row[1:] != told:
                wrong.append((number, k, row, told))
                continue
            first += row[0]
            sum_of = sums.setdefault((k, *bins), [0] * (len(row) - 1))
            for l in range(len(norms)):
                sum_of[l] += row[0]
            for i, x in enumerate(row[1 + len(norms):]):
                # of codes, each has the share
                sum_of[len(norms) + i] += x if i % 2 == 0 else shares[i // 2]
        firsts += first == 1
        for l, norm in enumerate(norms):
            for i in [norm[0]] + norm[2]:
                limits.vector(norm, bins[l], [g[0][i] for g in groups.values()], [g[1][i] for g in groups.values()])
            this = bins[l], {k: (g[0][norm[0]], g[1][norm[0]]) for k, g in groups.items()}
            if before[l]:
                limits.pair(norm, before[l], this)
            before[l] = this
    wrong += list(got)
    sums = by_norm(values, norms, sums)
    return "; ".join("%s%s" % (v.kind, "" if v.norm is None else " of norm %d" % v.norm) for v in values), wrong, firsts, [
        (key, added.get(key), sums.get(key)) for key in sorted(set(added) | set(sums)) if added.get(key) != sums.get(key)]


def specs(tap):
    rng = random.Random(44)
    limits = Limits()
    for n in range(SPECS):
        if n % LIKE_THESE == 0:
            units = [random_unit(rng) for _ in range(UNITS)] + (list(special_units(rng)) if n == 0 else [])
            load(units)
        what, wrong, firsts, added = one_spec(rng, n, units, limits)
        tap.ok(not wrong, "spec %d, %s: values, shares and bins are those of exact arithmetic" % (n, what), wrong[:3] if wrong else "")
        tap.ok(firsts == len(units), "spec %d: each unit has one first group" % n, "%d of %d" % (firsts, len(units)) if firsts != len(units) else "")
        tap.ok(not added, "spec %d: so are their sums over units" % n, added[:3] if added else "")
    tap.ok(not limits.above, "%d vectors held to limits are within them" % limits.vectors, limits.above[:3] if limits.above else "")
    tap.ok(limits.reached > 0, "some come to a limit exactly", "%d" % limits.reached)


def mutated(rng, words):
    """a text in which a few numbers are others, missing or there twice"""
    words = list(words)
    for _ in range(rng.choice([1, 1, 2, 3])):
        i = rng.randrange(len(words))
        kind = rng.random()
        if kind < 0.1:
            del words[i]
        elif kind < 0.15:
            words.insert(i, words[i])
        elif kind < 0.4:
            words[i] = rng.choice(words)
        elif kind < 0.6:
            words[i] = str(int(words[i]) + rng.choice([-1, 1]))
        else:
            words[i] = str(rng.choice([0, -1, 1, 2, 7, 32, 33, U, -U, U + 1, 3 * U, MOST_NORM, 1 << 50, 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63)]))
        if len(words) < 2:
            break
    return words


def read_text(words):
    """norm, shift and whether it is codes, of each value, and the limits of each norm"""
    numbers = [int(w) for w in words]
    count, at = numbers[4], 5
    norm_of = [(numbers[at + 10 * i + 8], numbers[at + 10 * i + 9], numbers[at + 10 * i] in (CODES, CUT)) for i in range(count)]
    at += 10 * count
    norms = []
    for _ in range(numbers[at]):
        nlimits = numbers[at + 2]
        norms.append(numbers[at + 3:at + 3 + nlimits])
        at += 2 + nlimits
    return norm_of, norms


def breaks(rows, norm_of, norms):
    """which unit's vector is above a limit"""
    units = {}
    for row in rows:
        units.setdefault(row[0], []).append([int(x) for x in row[3:]])
    for unit, groups in units.items():
        for i, (norm, shift, is_codes) in enumerate(norm_of):
            if norm < 0 or not norms[norm]:
                continue
            at = len(norms) + 2 * i
            bin_ = groups[0][norm]
            values, shares = [g[at] for g in groups], [g[at + 1] for g in groups]
            if is_codes:
                shares = [n * s for n, s in zip(values, shares)]
                values = [n << shift if bin_ < len(norms[norm]) else 0 for n in values]
            if any(g[norm] != bin_ for g in groups) or sum(x * x for x in shares) > (U * U if bin_ > 0 else 0) or \
                    sum(x * x for x in values) > (norms[norm][max(bin_, 0)] ** 2 if bin_ < len(norms[norm]) else 0):
                return unit, i, bin_
    return None


def written(tap):
    """Specs as text; there is one where there is Citus, or a catalogue of its name."""
    rng = random.Random(45)
    psql("SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass)")
    units = [random_unit(rng) for _ in range(size(100, 400))]
    load(units)
    same, refused, read, wrong = True, 0, 0, []
    for _ in range(size(4, 20)):
        values, norms = random_values(rng)
        made = spec(values, norms, 100)
        text = psql("SELECT s, s::text::dp_cdp_internal.bound_spec::text = s::text FROM (SELECT %s AS s) s" % made)[0]
        same = same and text[1] == "t" and answers(values, norms, made) == answers(values, norms, "'%s'" % text[0])
        for _ in range(size(15, 100)):
            words = mutated(rng, text[0].split(" "))
            try:
                rows = psql("PREPARE apart(dp_cdp_internal.bound_spec) AS %s; EXECUTE apart('%s')" % (each(values, norms), " ".join(words)))
            except RuntimeError as error:
                refused += 1
                message = str(error).split("ERROR:")[-1]
                if not any(known in message for known in ("bound_spec", "bound_state", "bound_unit", "have no text form")):
                    wrong.append(message)
                continue
            read += 1
            above = breaks(rows, *read_text(words))
            if above:
                wrong.append((above, " ".join(words)))
    psql("SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_partition")
    tap.ok(same, "what is read of a spec's text is that spec")
    tap.ok(not wrong, "%d texts that are none are refused, and %d others hold vectors to their limits" % (refused, read), wrong[:3] if wrong else "")
    tap.ok(refused > 0 and read > 0, "there are both")


def saturated(tap):
    """Counts beyond what a value may be: 2^18 rows of 2^32 steps are 2^50."""
    rows = psql("""
        SET plan_cache_mode = force_generic_plan;
        PREPARE many(dp_cdp_internal.bound_spec) AS
            SELECT dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1), dp_cdp_internal.bound_value(0, state, $1), dp_cdp_internal.bound_share(0, state, $1)
            FROM (SELECT dp_cdp_internal.bound_unit($1, 1, i / 300000, true) AS state FROM generate_series(0, 599999) i WHERE i < 250000 OR i >= 300000) s;
        EXECUTE many(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 2, '{1,2}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, %d, 'bigint')]), 0, 32, '{}', '{%d}'))
        """ % (MOST_ROWS, MOST_NORM))
    length = math.isqrt((250000 << 32) ** 2 + MOST_VALUE ** 2 - 1) + 1
    tap.ok(sorted([int(x) for x in row] for row in rows) == [[k, 1, 0, (v * U) // length] for k, v in ((0, 250000 << 32), (1, MOST_VALUE))],
           "counts of more than 2^50 steps are that", rows)


def large_sums(tap):
    """More units than are added up before rows leave, each with the largest norm there is."""
    units = 70000
    rows = psql("""
        SET plan_cache_mode = force_generic_plan;
        PREPARE largest(dp_cdp_internal.bound_spec) AS
            SELECT k, array_to_string(dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b, v, s, f)), ' ')
            FROM (SELECT dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_bin(0, state, $1) AS b, dp_cdp_internal.bound_value(0, state, $1) AS v,
                         dp_cdp_internal.bound_share(0, state, $1) AS s, dp_cdp_internal.bound_first(0, state) AS f
                  FROM (SELECT dp_cdp_internal.bound_unit($1, unit, k, x) AS state
                        FROM (SELECT unit, unit %% 2 AS k, CASE WHEN unit %% 2 = 0 THEN %d ELSE -%d END::bigint AS x FROM generate_series(1, %d) unit) r GROUP BY unit) s) s GROUP BY k;
        EXECUTE largest(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 1, '{1,2}', '{sum}', ARRAY[dp_cdp_internal.make_grid(-%d, %d, 'bigint')]), 0, 16, '{}', '{%d,%d}'))
        """ % (WIDE, WIDE, units, WIDE, WIDE, U, MOST_NORM))
    half = units // 2
    tap.ok(sorted([int(x) for x in " ".join(row).split()] for row in rows) == [[0, 1, half * MOST_NORM, half * U, half], [1, 1, -half * MOST_NORM, -half * U, half]],
           "%d units of the largest norm add up" % units, rows)


def main():
    tap = Tap("norms.py", 1)
    specs(tap)
    written(tap)
    saturated(tap)
    large_sums(tap)
    tap.done()


if __name__ == "__main__":
    main()
