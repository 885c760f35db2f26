"""Random inner queries of releases, as a superuser may write them: exact, with a seed that is told.

A Query is what is asked, a Plan how: settings, and where the rows are read.
Whatever the plan, a query has one answer.
"""
import dataclasses
import random

from bounding_tables import TYPES

SUM_TYPES = {'vi': ('int', -200, 800), 'v2': ('smallint', -1000, 2000), 'v8': ('bigint', 0, 100000), 'v4': ('real', 0, 150),
             'vf': ('float8', -20, 80), 'vn': ('numeric', 0, 140), 'vq': ('numeric', 0, 10000)}
BINS = 20
ALL_GROUPS = 30000     # no fewer than a table has rows
NO_LIMITS = (-2 ** 62, 2 ** 62)
NORM_UNIT = 2 ** 20     # limits of norms are multiples of it, up to 2^46


@dataclasses.dataclass
class Key:
    sql: str
    type: str
    exact: bool                 # equal keys are equal bytes
    short: bool                 # no row is left out because of it


@dataclasses.dataclass
class Value:
    kind: str
    sql: str
    grid: str = "dp_cdp_internal.make_grid(0, 4, 'int')"
    rows: int = 0               # of a scaled value: which value counts its rows
    bounds: tuple = None        # where the same can be had from plain SQL
    limits: tuple = NO_LIMITS   # of a row, in steps of the grid


@dataclasses.dataclass
class Norm:
    value: int                  # which it is of
    shift: int
    others: list                # values that it limits, too
    limits: list


@dataclasses.dataclass
class Query:
    form: str                   # together: as a release asks; apart: what each unit has; again: with other rows for each of four rows
    unit: list                  # columns
    told: bool                  # is the unit among the arguments of bound_unit
    keys: list
    values: list
    groups: int
    seed: tuple
    where: list
    join: str
    direct: bool                # grouped by keys rather than by their text, where that is the same
    norms: list = dataclasses.field(default_factory=list)
    firsts: bool = False        # are units counted by their first groups
    by_bins: bool = False       # are bins of norms apart
    counts_in: list = None      # in how many groups of a unit each value counts, where these differ

    def spec(self):
        more = ''
        if any(v.kind == 'scaled' for v in self.values):
            more += ", rows => '{%s}'" % ','.join(str(v.rows) for v in self.values)
        if any(v.limits != NO_LIMITS for v in self.values):
            more += ", limits => '{%s}'" % ','.join('%d,%d' % v.limits for v in self.values)
        spec = "dp_cdp_internal.make_bound_spec(%d, %d, '{%d,%d}', '{%s}', ARRAY[%s]%s)" % (
            len(self.keys), self.groups, *self.seed, ','.join(v.kind for v in self.values), ', '.join(v.grid for v in self.values), more)
        for n in self.norms:
            spec = "dp_cdp_internal.with_norm(%s, %d, %d, '{%s}', '{%s}')" % (
                spec, n.value, n.shift, ','.join(map(str, n.others)), ','.join(map(str, n.limits)))
        return "dp_cdp_internal.with_groups(%s, '{%s}')" % (spec, ','.join(map(str, self.counts_in))) if self.counts_in else spec

    def limited(self):
        """the values that have shares"""
        return sorted(i for n in self.norms for i in [n.value] + n.others)

    def source(self, place, more=()):
        where = self.where + list(more)
        return '%s t%s%s' % (place, self.join, ' WHERE ' + ' AND '.join(where) if where else '')


# ---------------------------------------------------------------------------
# What is read of a unit's groups, and how it is added up
# ---------------------------------------------------------------------------

class Entries:
    """SQL of the levels that group by the unit and take states apart, and of what the level above reads: columns k0 ... and v0 ...,
    with norms b0 ... and s0 ..., and f0 ..."""

    def level(self, q, spec, place, with_unit=False, more=()):
        unit = ['t.' + u for u in q.unit]
        call = 'dp_cdp_internal.bound_unit(%s)' % ', '.join([spec] + unit[-1:] * q.told + [k.sql for k in q.keys] + [v.sql for v in q.values])
        kept = ['unit%d' % i for i in range(len(unit) * with_unit)]
        kept += ['dp_cdp_internal.bound_key(%d, state, NULL::%s) AS k%d' % (i, k.type, i) for i, k in enumerate(q.keys)]
        for i, v in enumerate(q.values):
            kept.append('dp_cdp_internal.bound_%s(%d, state, %s) AS v%d' % (
                {'cut': 'cut', 'codes': 'codes', 'distinct': 'distinct_codes'}.get(v.kind, 'value'), i, spec, i))
        told = spec.replace('%', '%%')
        kept += ['dp_cdp_internal.bound_bin(%d, state, %s) AS b%d' % (i, told, i) for i in range(len(q.norms))]
        kept += ['dp_cdp_internal.bound_share(%d, state, %s) AS s%d' % (i, told, i) for i in q.limited()]
        kept += ['dp_cdp_internal.bound_first(%d, state) AS f%d' % (i, i) for i in range(max(len(q.norms), 1)) if q.firsts]
        return 'SELECT %s FROM (SELECT %s%s AS state FROM %s GROUP BY %s) states' % (
            ', '.join(kept), ''.join('%s AS unit%d, ' % (u, i) for i, u in enumerate(unit)) * with_unit, call, q.source(place, more), ', '.join(unit))

    def key(self, q, i):
        return 'k%d' % i

    def bins(self, q):
        return ['b%d' % i for i in range(len(q.norms))]

    def shares(self, q):
        return ['s%d' % i for i in q.limited()] + ['f0'] * q.firsts

    def value(self, q, i):
        return 'v%d' % i

    def steps(self, column):
        return "dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(%s), dp_cdp_internal.make_grid(0, 1000, 'int'))" % column

    def total_share(self, q, column, spec):
        if column != 'f0' and q.values[int(column[1:])].kind == 'distinct':
            return 'dp_cdp_internal.vector_counts(dp_cdp_internal.codes_distinct_shares(v%s, %s, %s, %s))' % (column[1:], column, spec, column[1:])
        if column != 'f0' and q.values[int(column[1:])].kind == 'codes':
            return 'dp_cdp_internal.vector_counts(dp_cdp_internal.codes_shares(v%s, %d, %s))' % (column[1:], BINS, column)
        return self.steps(column)

    def norm(self, q, i):
        return next((n for n, norm in enumerate(q.norms) if i in [norm.value] + norm.others), None)

    def limited(self, q, i):
        return 'dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b%d, v%d, s%d, %s))' % (self.norm(q, i), i, i, 'f%d' % self.norm(q, i) if q.firsts else '0')

    def total(self, q, i):
        kind = q.values[i].kind
        if kind in ('codes', 'cut'):
            return 'dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(v%d, %d))' % (i, BINS)
        if kind == 'distinct' and i in q.limited():
            return 'NULL'
        if kind == 'distinct':
            return 'dp_cdp_internal.codes_distinct(v%d)' % i
        return self.steps('v%d' % i)


def statement(q, place, units, entries, spec=None):
    """SQL of a query whose rows are its answer, in any order; units: how a unit is written, by column."""
    spec = spec or q.spec()
    keys = [entries.key(q, i) for i in range(len(q.keys))]
    # equal keys may be written differently by different units: these stay apart, so that the answer is one
    groups = [k if q.direct and q.keys[i].exact else k + '::text COLLATE "C"' for i, k in enumerate(keys)]
    if q.form == 'together':
        by_bins = q.by_bins or any(q.values[n.value].kind in ('codes', 'distinct') for n in q.norms)
        groups += entries.bins(q) * by_bins
        columns = groups + [entries.total_share(q, c, spec) for c in entries.shares(q) if by_bins or not q.norms] + \
            [entries.total(q, i) if by_bins or entries.norm(q, i) is None else entries.limited(q, i) for i in range(len(q.values))]
        return 'SELECT %s FROM (%s) units%s' % (', '.join(columns), entries.level(q, spec, place), ' GROUP BY ' + ', '.join(groups) if groups else '')
    columns = [u.replace('{u}', 'unit%d' % i) for i, u in enumerate(units)] + \
        [k + '::text COLLATE "C"' for k in keys] + entries.bins(q) + entries.shares(q) + [entries.value(q, i) for i in range(len(q.values))]
    if q.form == 'apart':
        return 'SELECT %s FROM (%s) units' % (', '.join(columns), entries.level(q, spec, place, True))
    return """SELECT i, n, rows FROM generate_series(1, 3) i, LATERAL (SELECT count(*) AS n, md5(string_agg(r::text, ',' ORDER BY r::text COLLATE "C")) AS rows FROM
    (SELECT %s FROM (%s) units) r) l""" % (', '.join(columns), entries.level(q, spec, place, True, ['t.h % 2 = i % 2']))


def twin(q):
    """The same from plain SQL, where no group and no row is left out and values are whole numbers; else None."""
    if q.form != 'together' or q.norms or q.firsts or q.counts_in or q.groups < ALL_GROUPS or any(v.bounds is None for v in q.values) or any(not k.exact or not k.short for k in q.keys):
        return None
    inner = ', '.join(['%s AS k%d' % (k.sql, i) for i, k in enumerate(q.keys)] +
                      [('sum(CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END)' if v.kind == 'sum' else 'count(*) FILTER (WHERE {0})').format(
                          '(%s)' % v.sql, *v.limits) + ' AS v%d' % i for i, v in enumerate(q.values)])
    keys = ['k%d' % i for i in range(len(q.keys))]
    unit = ', '.join('t.' + u for u in q.unit)
    outer = [k if q.direct else k + '::text' for k in keys] + [
        'coalesce(sum(CASE WHEN v%d IS NULL THEN 0 ELSE least(greatest(v%d, %d), %d) END), 0)' % (i, i, *v.bounds) for i, v in enumerate(q.values)]
    return 'SELECT %s FROM (SELECT %s FROM %s GROUP BY %s) units%s' % (
        ', '.join(outer), inner, q.source('t'), ', '.join([unit] + [k.sql for k in q.keys]), ' GROUP BY ' + ', '.join(keys) if keys else '')


# ---------------------------------------------------------------------------
# Queries
# ---------------------------------------------------------------------------

def filtered(rng, sql):
    return 'CASE WHEN %s THEN %s END' % (rng.choice(['vb', 'h < 500', 'vi > 100 AND vb', 'late = 5']), sql) if rng.random() < 0.25 else sql


def random_condition(rng):
    return rng.choice(['true', 'true', 'vb', 'vi IS NOT NULL', 'h < 200', 'vb AND vi > 100', "vf <> 'NaN'", 'late > h % 10'])


def random_sum(rng):
    column = rng.choice(list(SUM_TYPES))
    kind, low, high = SUM_TYPES[column]
    sql = column
    if rng.random() < 0.4:
        sql = rng.choice({'vi': ['vi + 1', 'vi * 2 - h', '-vi'], 'v2': ['v2::int * 3', 'v2 + 1::smallint'], 'v8': ['v8 / 2', 'vi::bigint + h'],
                          'v4': ['v4 / 2'], 'vf': ['-vf', 'abs(vf)'], 'vn': ['vn * 1.5', 'abs(vn)'],
                          'vq': ['vq * (1 - h::numeric / 2000)', 'vq * (1 - h::numeric / 2000) * (1 + late::numeric / 100)', 'vq + vi']}[column])
        kind = {'v2::int * 3': 'int', 'v2 + 1::smallint': 'smallint', 'vi::bigint + h': 'bigint', 'vq + vi': 'numeric'}.get(sql, kind)
    shape = rng.random()
    if shape < 0.15:
        low, high = high // 3, high
    elif shape < 0.3:
        low, high = low * 3, 0 if low < 0 else high * 10
    elif shape < 0.35:
        high = 10 ** rng.choice([9, 12, 15])
    whole = kind in ('int', 'smallint', 'bigint') and high <= 2 ** 31
    # steps of whole numbers are 1, of others what the grid has
    limits = NO_LIMITS if rng.random() < 0.3 else rng.choice([(0, 100), (-50, 50), (10, 300), (-3000000000, -1), (3000000000, 4000000000)]) if whole else \
        rng.choice([(0, 2 ** 31), (-2 ** 20, 2 ** 28), (5, 2 ** 30), (-2 ** 40, 0)])
    value = Value('sum', filtered(rng, sql), "dp_cdp_internal.make_grid(%d, %d, '%s')" % (low, high, kind), bounds=(low, high) if whole else None, limits=limits)
    return dataclasses.replace(value, kind='cut', bounds=None) if rng.random() < 0.15 else value


def random_values(rng):
    """one to seven of them as a rule, seldom as many as there may be"""
    if rng.random() < 0.06:
        many = rng.choice([20, 31, 32, 40, 64, 65, 92])
        column = rng.choice(['vi', 'vq', 'vf', 'v8'])
        kind, low, high = SUM_TYPES[column]
        return [Value('sum', column + rng.choice(['', ' / %d' if column == 'v8' else ' + %d']).replace('%d', str(i + 1)), "dp_cdp_internal.make_grid(%d, %d, '%s')" % (low, high, kind),
                      bounds=(low, high) if column == 'vi' else None) for i in range(many)]
    values = []
    most = rng.choice([1, 2, 5, 300])
    kinds = rng.choice([['count'], ['count', 'sum'], ['sum', 'sum', 'count', 'units'], ['sum', 'scaled', 'count', 'codes', 'distinct']])
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        kind = rng.choice(kinds)
        if kind == 'count':
            values.append(Value('count', random_condition(rng), "dp_cdp_internal.make_grid(0, %d, 'int')" % most, bounds=(0, most)))
        elif kind == 'units':
            values.append(Value('units', random_condition(rng), "dp_cdp_internal.make_grid(0, 1, 'int')", bounds=(0, 1)))
        elif kind == 'sum':
            values.append(random_sum(rng))
            if rng.random() < 0.3:
                # the same expression again, with other bounds
                values.append(dataclasses.replace(values[-1]))
        elif kind == 'scaled':
            column = rng.choice(list(SUM_TYPES))
            centered = filtered(rng, 'dp_cdp_internal.centered(%s, dp_cdp_internal.make_range(%d, %d, 1, 0))' % (column, *SUM_TYPES[column][1:]))
            at = len(values)
            values += [Value('rows', '(%s) IS NOT NULL' % centered, "dp_cdp_internal.make_grid(0, %d, 'int')" % most),
                       Value('scaled', centered, 'dp_cdp_internal.make_scaled_grid(%d)' % most, at),
                       Value('scaled', 'dp_cdp_internal.chebyshev(%s)' % centered, 'dp_cdp_internal.make_scaled_grid(%d)' % most, at)]
        elif kind == 'codes':
            code = rng.choice(['abs(vi) % 25', 'dp_cdp_internal.bin(vf, dp_cdp_internal.make_range(0, 80, 20, 0))', 'dp_cdp_internal.bin(vq, dp_cdp_internal.make_range(0, 9000, 20, 0))'])
            values.append(Value('codes', filtered(rng, code), "dp_cdp_internal.make_grid(0, %d, 'int')" % min(most, 256)))
        else:
            code = rng.choice(['v8', 'dp_cdp_internal.code(vq)', 'dp_cdp_internal.code(vi % 10)', 'dp_cdp_internal.code(k0)', 'dp_cdp_internal.code(vf)'])
            values.append(Value('distinct', filtered(rng, code), "dp_cdp_internal.make_grid(0, %d, 'int')" % min(most, 256)))
    return values


def random_keys(rng, table):
    keys = []
    for i in rng.sample(range(len(table.keys)), min(len(table.keys), rng.choice([0, 1, 1, 1, 2, 2, 3, 4]))):
        kind = table.key_type(i)
        name, sql = table.keys[i][0], 'k%d' % i
        if name == 'int4' and rng.random() < 0.3:
            sql = rng.choice(['(%s / 2)', '(%s + h %% 2)', 'coalesce(%s, -1)', 'CASE WHEN vb THEN %s END']) % sql
        elif name == 'text' and rng.random() < 0.3:
            sql = rng.choice(["(%s || 'x')", 'upper(%s)', "coalesce(%s, '')"]) % sql
        keys.append(Key(sql, kind.sql, kind.exact, name != 'long'))
    return keys


def random_where(rng, table, keys):
    where = []
    if rng.random() < 0.15:
        where.append(' AND '.join('t.u%s IS NOT NULL' % (i or '') for i in range(len(table.unit))))
    if rng.random() < 0.4:
        where.append(rng.choice(['t.h < 30', 't.h BETWEEN 100 AND 600', 't.h >= 990', 'vb', 'NOT vb', 'vi > 300', 't.pid > 20', 'vq < 5000 AND vi > 0', 't.g % 3 = 0',
                                 "vn > 100", 't.late = 5']))
    if rng.random() < 0.3 and keys:
        # declared keys
        sql = keys[0].sql
        if keys[0].type == 'int':
            listed = ', '.join(str(i) for i in (range(5) if rng.random() < 0.5 else range(0, 220, 2)))
            where.append(f'({sql} IN ({listed}){rng.choice(["", f" OR {sql} IS NULL"])})')
        else:
            where.append('%s IS NOT NULL' % sql)
    return where


def random_norms(rng, values):
    """one to three norms; of codes they limit these alone"""
    free = [i for i, v in enumerate(values) if v.kind != 'cut']
    rng.shuffle(free)
    norms = []
    while free and len(norms) < 3 and rng.random() < 0.8:
        value = free.pop()
        alone = ('codes', 'distinct')
        others = [i for i in free if values[i].kind not in alone][:rng.choice([0, 0, 1, 2]) if values[value].kind not in alone else 0]
        free = [i for i in free if i not in others]
        # rows of counts are small, steps of sums are not
        shift = rng.choice([0, 18, 20, 24, 24, 32]) if values[value].kind != 'sum' else rng.choice([0, 0, 4, 10, 20])
        first, apart = 2 ** rng.choice([20, 20, 22, 24, 28]), rng.choice([1.19, 1.5, 2, 8])
        limits = sorted({min(int(first * apart ** i) // NORM_UNIT, 2 ** 26) * NORM_UNIT for i in range(rng.choice([0, 1, 1, 3, 10, 85]))})
        norms.append(Norm(value, shift, others, limits))
    return norms


def random_counts_in(rng, q):
    """what a norm limits counts in no more groups than what it is of"""
    counts_in = [rng.choice([1, 2, 3, q.groups]) for _ in q.values]
    for n in q.norms:
        for i in n.others:
            counts_in[i] = min(counts_in[i], counts_in[n.value])
    return counts_in


def random_query(rng, table):
    keys = random_keys(rng, table)
    told = TYPES[table.unit[-1]].hashed and rng.random() < 0.85
    join = ''
    if rng.random() < 0.2:
        join = ' JOIN person p ON p.pid = t.pid' + rng.choice(['', ' AND p.area < 2', ' AND p.area = 1 AND t.h < 500'])
    where = random_where(rng, table, keys)
    if rng.random() < 0.08:
        where.append('t.pid IN (SELECT pid FROM person WHERE area <> 0)')
    q = Query(rng.choice(['together'] * 5 + ['apart'] * 3 + ['again']), ['u', 'u1'][:len(table.unit)], told, keys, random_values(rng),
              rng.choice([1, 1, 2, 3, 5, 5, 20, ALL_GROUPS]), (rng.randrange(2 ** 62), rng.randrange(2 ** 62)), where, join, rng.random() < 0.7)
    whole = [v for v in q.values if v.bounds]
    if rng.random() < 0.25 and whole and not any(v.kind == 'scaled' for v in q.values):
        # that plain SQL can answer, too
        q.form, q.values, q.groups = 'together', whole, ALL_GROUPS
        q.keys = [k for k in keys if k.exact and k.short]
    # choices of their own: with norms or without, an episode has the same queries
    own = random.Random(q.seed[0])
    if own.random() < 0.4:
        q.norms = random_norms(own, q.values)
    q.firsts = bool(q.norms) or own.random() < 0.1
    if own.random() < 0.15:
        q.counts_in = random_counts_in(own, q)
    q.by_bins = own.random() < 0.3
    return q


# ---------------------------------------------------------------------------
# Plans
# ---------------------------------------------------------------------------

@dataclasses.dataclass
class Plan:
    place: str
    settings: dict
    parameter: bool = False     # the spec is one, in a generic plan
    may_fail: tuple = ()        # SQLSTATEs that are an answer, too

    def begin(self):
        return 'BEGIN' + ''.join("; SET LOCAL %s = '%s'" % s for s in self.settings.items())


# PostgreSQL's own aggregation in one process, which sorts
REFERENCE = Plan('t', {'dp_cdp.bounding_node': 'off', 'max_parallel_workers_per_gather': 0, 'enable_hashagg': 'off', 'work_mem': '64MB'})

SWITCHES = {'enable_hashagg': 0.06, 'enable_sort': 0.06, 'enable_seqscan': 0.15, 'enable_indexscan': 0.1, 'enable_bitmapscan': 0.15,
            'enable_parallel_append': 0.15, 'enable_parallel_hash': 0.15,
            'enable_material': 0.15, 'enable_gathermerge': 0.2}


def random_plan(rng, table, force):
    """force: the name of the setting that has any plan run in a worker"""
    settings = {'dp_cdp.bounding_node': 'on' if rng.random() < 0.8 else 'off',
                'max_parallel_workers_per_gather': rng.choice([0, 0, 0, 1, 2, 2, 3, 4]),
                'work_mem': rng.choice(['64kB', '64kB', '100kB', '256kB', '1MB', '4MB', '64MB']),
                'hash_mem_multiplier': rng.choice([1, 1, 1.5, 2, 8])}
    if settings['max_parallel_workers_per_gather']:
        settings.update({'min_parallel_table_scan_size': 0, 'min_parallel_index_scan_size': 0, 'parallel_tuple_cost': rng.choice([0, 0, 0.01]),
                         'parallel_setup_cost': rng.choice([0, 0, 0, 100])})
        if rng.random() < 0.25:
            settings['parallel_leader_participation'] = 'off'
        if rng.random() < 0.1:
            settings['max_parallel_workers'] = rng.choice([0, 1])
    # what is turned off costs so much that the planner no longer sees what the rest costs
    often = rng.choice([0, 0, 1, 2])
    settings.update({name: 'off' for name, share in SWITCHES.items() if rng.random() < share * often})
    # one of them: what is left for a large join may take minutes
    if rng.random() < 0.25:
        settings[rng.choice(['enable_hashjoin', 'enable_mergejoin', 'enable_nestloop'])] = 'off'
    for name in ('enable_partitionwise_aggregate', 'enable_partitionwise_join'):
        if rng.random() < 0.5:
            settings[name] = 'on'
    if rng.random() < 0.35:
        # what is done with rows costs nothing, or much
        settings['cpu_operator_cost'] = rng.choice([0, 1, 1])
    if rng.random() < 0.06:
        settings[force] = 'on'
    if rng.random() < 0.02:
        settings.update({'jit': 'on', 'jit_above_cost': 0})
    if rng.random() < 0.05:
        # as one who explains every query sees it
        settings.update({'auto_explain.log_min_duration': 0, 'auto_explain.log_analyze': 'on', 'auto_explain.log_level': 'debug5'})
    plan = Plan(rng.choice(table.sources()), settings, rng.random() < 0.3)
    if rng.random() < 0.04:
        settings['statement_timeout'] = rng.choice([1, 2, 4, 8, 16, 32])
        plan.may_fail = ('57014',)
    elif rng.random() < 0.03:
        settings['temp_file_limit'] = rng.choice(['0', '64kB', '300kB'])
        plan.may_fail = ('53400',)
    return plan
