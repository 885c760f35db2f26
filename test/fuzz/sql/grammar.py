"""Random statements around private aggregates, each with its exact twin.

A Level is one aggregating level: a source, conditions, keys, aggregates.  It
is written twice: as an analyst writes it, and as the owner of the tables gets
the same from plain SQL.  Wrappers put more SQL around one or two levels, in
both forms alike.  Nothing depends on a form being answered: whatever the
guard refuses is not compared.

"sure" means that the exact twin is known to say what a private answer means;
"fragile" that a little noise may change the answer's shape.
"""
import functools
import itertools
import math
import re

from asked import Asked
from level import RHO, Level
from sources import NUMBERS, TABLES

SITES = 4                       # rows of pub.sites


class Grammar(Asked):
    conditions = 0.4        # how many levels have one
    compares = 0
    asks = 0.15             # how many queries are whole ones of asked.py

    # ------------------------------------------------------------------
    # Aggregates
    # ------------------------------------------------------------------

    def aggregate(self, source, groups):
        """(private, exact, type, tolerance, sure, by how much a unit changes one group: None, or that and what a row may be)"""
        rows = source.rows
        r = self.rng.random()
        c = self.rng.choice(source.columns)
        noise = change = most_of_row = rows
        if r < 0.3:
            private = exact = self.rng.choice(['dp_count', 'dp_count', 'count']) + '(*)'
            exact, t = 'count(*)', 'int'
        elif r < 0.4:
            private = '%s(%s)' % (self.rng.choice(['dp_count', 'count']), c.ref)
            exact, t = 'count(%s)' % c.ref, 'int'
        elif r < 0.52 and source.unit:
            private = '%s(DISTINCT %s)' % (self.rng.choice(['dp_count', 'count']), source.unit)
            exact, t, noise, change = 'count(DISTINCT %s)' % source.unit, 'int', 1, 1
        elif r < 0.54:
            exact, t = 'count(DISTINCT (%s, %s))' % (c.ref, self.rng.choice(source.columns).ref), 'int'
            private = exact
        else:
            numbers = [c for c in source.columns if c.type in NUMBERS and c.most < 100 and c.ref != source.unit]
            if not numbers:
                private, exact, t = 'dp_count(*)', 'count(*)', 'int'
            else:
                c = self.rng.choice(numbers)
                # bounds that are declared are within -60 and 60, and so are public values; those of d0 + 1 follow
                what, most, widest = c.ref, c.most, 61
                other = self.rng.choice([o for o in numbers if o.type == 'int'] or [c])
                if r > 0.75:
                    what, most, widest = self.rng.choice([
                        ('{0} + 1', most + 1, 62), ('{0} * 2', most * 2, 122), ('pub.twice({0})', most * 2, 122), ('-{0}', most, 61), ('coalesce({0}, 1)', max(most, 1), 61),
                        ('CASE WHEN {0} > 1 THEN 1 ELSE 0 END', 1, 1), ('nullif({0}, 1)', most, 61),
                        ('{0} - 1', most + 1, 62), ('{0} * {1}', most * other.most, 61 * 61), ('{0} / 2', most, 61), ('abs({0} - {1})', most + other.most, 122),
                        ('{0} / nullif({1}, 0)', most, 61), ('greatest({0}, {1}, 1)', max(most, other.most, 1), 61), ('least({0}, 2)', max(most, 2), 61),
                        ('CASE WHEN {0} > 1 THEN {0} * 3 ELSE {1} END', max(most * 3, other.most), 183)] +
                        ([('CASE WHEN %s THEN {0} ELSE 1 END' % self.sublink(source.unit), max(most, 1), 61)] if source.has_person() else []))
                    if '{1}' in what and other.type != 'int':
                        what, most, widest = '-{0}', c.most, 61
                    what = what.format(c.ref, other.ref)
                t = 'int' if c.type == 'int' or what.startswith('CASE WHEN {0} > 1 THEN 1'.format(c.ref)) else 'float'
                if ' / ' in what:
                    t = 'float' if c.type != 'int' or other.type != 'int' else 'int'
                bound = most * rows
                noise = change = most_of_row = bound
                if self.chance(0.25 if what == c.ref else 0.4):
                    private = '%s(%s)' % (self.rng.choice(['dp_sum', 'sum']), what)
                    # the bounds that are declared, or follow, are wider
                    noise, most_of_row = max(bound, widest * rows), max(bound, widest)
                    # of an aggregate of a unit they are max_rows times those of a row
                    if max(c.most, other.most) > 20 or source.per_unit or source.totals:
                        t = 'unsure'
                else:
                    private = 'dp_sum(%s, %s, %s%s)' % (what, -most, most, self.rng.choice(['', '', ', %s, %s' % (-bound, bound)]))
                exact = 'sum(%s)' % what
        if self.chance(0.18):
            f = ' FILTER (WHERE %s)' % (self.sublink(source.unit) if source.has_person() and self.chance(0.25) else self.condition(source, 1))
            private, exact = private + f, exact + f
        sigma = noise * math.sqrt((groups if groups else 1) / (2 * RHO))
        tolerance = 8 * sigma + 1e-6
        if t == 'int':
            # integers come out exact where noise is practically never 1
            tolerance = 0 if sigma < 0.11 else math.ceil(tolerance)
        return private, exact, 'int' if t == 'unsure' else t, tolerance, t != 'unsure', (change, most_of_row)

    def sublink(self, unit):
        """a condition on other rows of the same unit, or on public ones"""
        z = self.name('z')
        table = self.rng.choice(['people', 'visits', 'stays', 'logs'])
        name, column = self.rng.choice(sorted((n, c) for n, c in TABLES[table][2].items() if c[1]))
        inner = '%s.%s %s %s' % (z, name, self.rng.choice(['=', '<>']), self.rng.choice(column[1]))
        form = self.rng.choice([
            '{u} IN (SELECT {z}.person FROM {t} {z} WHERE {c})', 'EXISTS (SELECT 1 FROM {t} {z} WHERE {z}.person = {u} AND {c})',
            'EXISTS (SELECT FROM {t} {z} WHERE {c} AND {u} = {z}.person LIMIT 1)', 'NOT EXISTS (SELECT * FROM {t} {z} WHERE {z}.person = {u} AND {c})',
            '{u} NOT IN (SELECT {z}.person FROM {t} {z} WHERE {c} AND {z}.person IS NOT NULL)',
            '{u} NOT IN (SELECT nullif({z}.person, 7) FROM {t} {z} WHERE {z}.person = {u} AND {c})', '{k} NOT IN (SELECT {z}.{n} FROM {t} {z} WHERE {z}.person = {u})',
            '{u} NOT IN (SELECT nullif({z}.site, 2) FROM pub.sites {z} WHERE {z}.site > {v})',
            'EXISTS (SELECT FROM {t} {z} WHERE {z}.person = {u} AND {z}.person + 1 > {u} AND {c})',
            '(SELECT count(*) FROM {t} {z} WHERE {z}.person = {u} AND {z}.person < {u} + 1 AND {c}) > 1',
            '(SELECT max({z}.site) FROM pub.sites {z} WHERE {z}.site <= {u}) > 2',
            'NOT EXISTS (SELECT FROM {t} {z}, pub.sites {z}b WHERE {z}.person = {u} AND {z}b.site > {u} AND {c})',
            '({u} > 30 OR EXISTS (SELECT FROM {t} {z} WHERE {z}.person = {u} AND {c}))',
            'NOT ({u} > 30 AND NOT EXISTS (SELECT FROM {t} {z} WHERE {z}.person = {u} AND {c}))',
            '({u} < 10 OR {u} IN (SELECT {z}.person FROM {t} {z} WHERE {c}))',
            'CASE WHEN {u} IN (SELECT {z}.site FROM pub.sites {z}) THEN {u} > 3 ELSE EXISTS (SELECT FROM {t} {z} WHERE {z}.person = {u}) END',
            '(SELECT count(*) FROM {t} {z} WHERE {z}.person = {u} AND {c}) %s' % self.rng.choice(['> 1', '= 0', '<= 2']),
            '{u} IN (SELECT {z}.person FROM {t} {z} WHERE {c} GROUP BY 1 HAVING count(*) > 1)',
            '{u} NOT IN (SELECT {z}.person FROM {t} {z} WHERE {c} AND {z}.person IS NOT NULL GROUP BY 1 HAVING count(*) > 1)',
            'EXISTS (SELECT FROM {t} {z} WHERE {z}.person = {u} AND {c} GROUP BY {z}.{n} HAVING count(*) > 1)', 'EXISTS (SELECT FROM {t} {z} WHERE {u} = {z}.person HAVING count(*) < 2)',
            '(SELECT count(*) FROM {t} {z} WHERE {z}.person = {u} AND EXISTS (SELECT FROM people {z}b WHERE {z}b.person = {u} AND {z}b.born > 1960)) > 0',
            '(SELECT {z}.{n} FROM {t} {z} WHERE {z}.person = {u} ORDER BY {z}.{n} LIMIT 1) IS NOT NULL',
            '(SELECT {z}.born FROM people {z} WHERE {z}.person = {u}) > 1960', '(SELECT {z}.region FROM pub.sites {z} WHERE {z}.site = {u}) IS NOT NULL',
            '{u} > (SELECT 3)',
            '{u} > (SELECT min({z}.site) FROM pub.sites {z})', '{u} NOT IN (SELECT {z}.site FROM pub.sites {z})'])
        return form.format(u=unit, z=z, t=table, c=inner, n=name, k=self.rng.choice(column[1]), v=self.rng.randrange(1, 5))

    def sublink_along(self, s):
        """conditions on rows that a row's own key, or the one that it references, leads to"""
        keys = [(c, t, k) for t, k in [('legs', 'trip'), ('scans', 'leg'), ('trips', 'trip'), ('legs', 'leg')] for c in s.columns if c.ref.endswith('.' + k)]
        if not keys:
            return []
        return [self.along(*self.rng.choice(keys))]

    def along(self, c, table, key):
        z = self.name('z')
        own = self.table((table,))[0]
        own.columns = self.columns_of(table, z)
        form = self.rng.choice(['EXISTS (SELECT FROM {t} {z} WHERE {z}.{k} = {c} AND {w})', 'NOT EXISTS (SELECT 1 FROM {t} {z} WHERE {c} = {z}.{k} AND {w})',
                                '{c} IN (SELECT {z}.{k} FROM {t} {z} WHERE {w})', '(SELECT count(*) FROM {t} {z} WHERE {z}.{k} = {c} AND {w}) {n}',
                                'EXISTS (SELECT FROM {t} {z} WHERE {z}.{k} = {c} HAVING count(*) > 1)'])
        return form.format(t=table, z=z, k=key, c=c.ref, w=self.condition(own, 1), n=self.rng.choice(['> 1', '= 0', '< 2']))

    def sublink_key(self, unit):
        """a key that is made of other rows of the same unit"""
        return self.rng.choice(['(%s)', "CASE WHEN %s THEN 'in' ELSE 'out' END", '(%s)::int']) % self.sublink(unit), None, False, 'text'

    def bad_aggregate(self, source):
        c = self.rng.choice(source.columns)
        return self.rng.choice([
            'avg(%s)', 'max(%s)', 'array_agg(%s)', 'dp_sum(%s)', 'dp_sum(%s, 5, 1)', 'dp_sum(%s, NULL, 1)',
            "dp_sum(%s, 0, 'Infinity')", "dp_sum(%s, 'NaN', 1)", 'dp_count(DISTINCT %s)', 'sum(DISTINCT %s)',
            'dp_sum(%s, 0, 1e300)', 'dp_sum(%s, 0, 1e-300)', 'dp_count(%s ORDER BY 1)', 'dp_count(%s) OVER ()',
            'dp_sum(%s, 0, 1) WITHIN GROUP (ORDER BY 1)', 'dp_count(dp_count(%s))', 'string_agg(%s::text, chr(44))',
            'count(DISTINCT %s)', 'dp_sum(%s, random(), 9)', 'dp_sum(%s, (SELECT 1), 9)', 'dp_count(md5(%s::text))',
            'bool_or(%s IS NULL)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY %s)', 'mode() WITHIN GROUP (ORDER BY %s)', 'regr_r2(%s, 1)', 'dp_cdp_internal.exact_sum(%s, NULL)']) % c.ref

    # ------------------------------------------------------------------
    # A level
    # ------------------------------------------------------------------

    def level(self):
        rng = self.rng
        s = self.source()
        out = Level()
        out.sure, out.near_miss, out.may_be_free = s.sure, s.public, s.post
        out.header = s.header
        out.rows = min(s.rows, 24)
        if s.rows > 24:
            out.sure = False
        where = list(s.where)
        if self.chance(self.conditions):
            where.append(self.condition(s, 2))
        if s.has_person() and self.chance(0.08):
            where.append(self.sublink(s.unit))
        if self.chance(0.15):
            where += self.sublink_along(s)
        of_groups = [self.of_group(s) for _ in range(2) if self.chance(self.compares)]
        for c in s.columns:
            # conditions of joins are in the text
            c.restrict(where + [s.text])
        keys = []
        for _ in range(rng.choice([0, 0, 0, 1, 1, 1, 1, 2, 2, 3])):
            if of_groups and self.chance(0.2):
                keys.append(('(%s)' % of_groups.pop(), ['false', 'true', 'NULL::bool'], False, 'bool'))
                continue
            k = self.sublink_key(s.unit) if s.has_person() and self.chance(0.05) else self.key(s)
            if k[0] not in [x[0] for x in keys]:
                keys.append(k)
        aggregates = []
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            a = self.aggregate(s, out.rows if keys else 0)
            if a[1] not in [x[1] for x in aggregates]:
                aggregates.append(a)
        if of_groups and self.chance(0.3):
            aggregates.append(('dp_count(*) FILTER (WHERE %s)' % of_groups.pop(), 'count(*)', 'int', 1, False, None))
        where += of_groups
        out.sure = out.sure and all(a[4] for a in aggregates)
        # plain aggregates over plain aggregates may be post-processing
        if s.per_unit and not all(a[0].startswith('dp_') for a in aggregates):
            out.sure = False
        # so may a level of one row for each unit be
        if s.unit in [k[0] for k in keys]:
            out.sure = False
        # without rows by its text there are no groups, of declared keys neither
        if keys and 'NOT true' in ' '.join(where + [s.text, s.header]):
            out.sure, out.may_be_free = False, True
        # noise decides which rows are compared with a release
        if s.released:
            out.sure = False
        soft = out.sure and bool(keys)
        out.sure = out.sure and all(k[2] for k in keys) and not (keys and any(c.public and c.is_named_in(where) for c in s.columns))

        if self.chance(0.07):
            out.near_miss, out.sure, soft = True, False, False
            if self.chance(0.5):
                where.append(self.bad_condition(s))
            else:
                aggregates.append((self.bad_aggregate(s), 'count(*)', 'int', 0, False, None))

        sets = ''
        if keys and self.chance(0.08):
            out.sure = out.single = False
            sets = rng.choice(['ROLLUP (%s)', 'CUBE (%s)', 'GROUPING SETS ((%s), ())', 'DISTINCT ROLLUP (%s)'])

        # what is selected: keys and aggregates, and arithmetic of them
        outputs = [('{g}', 'key', 0)] if sets and self.chance(0.8) else []
        for i, k in enumerate(keys):
            outputs.append(('{k%d}' % i, 'key', 0))
        for i, a in enumerate(aggregates):
            outputs.append(self.post('{a%d}' % i, a, out, [('{a%d}' % j, b) for j, b in enumerate(aggregates)]))
        if self.chance(0.05) and keys and not sets:
            outputs = outputs[len(keys):]
        if self.chance(0.04):
            outputs.append(('{a0}', aggregates[0][2], aggregates[0][3]))
        if out.sure and self.chance(0.06):
            outputs.append(('rank() OVER (ORDER BY {a0})', 'int', 0))
            out.fragile = out.fragile or aggregates[0][3] > 0
        elif out.sure and self.chance(0.05):
            outputs.append(('sum({a0}) OVER ()', aggregates[0][2], aggregates[0][3] * 100))
        having = ''
        if self.chance(0.15):
            a = rng.randrange(len(aggregates))
            having = '{a%d} %s %s' % (a, rng.choice(['>', '<=', '<>']), rng.choice(['0', '3', '10']))
            out.fragile = out.fragile or aggregates[a][3] > 0

        # the private form
        grouping = 'grouping(%s)' % ', '.join(k[0] for k in keys)

        def fill(text, key_texts, aggregate_texts):
            text = text.replace('{g}', grouping)
            for i, k in enumerate(key_texts):
                text = text.replace('{k%d}' % i, k)
            for i, a in enumerate(aggregate_texts):
                text = text.replace('{a%d}' % i, a)
            return text
        private = [k[0] for k in keys], [a[0] for a in aggregates]
        distinct = 'DISTINCT ' if not soft and self.chance(0.06) else ''
        select = ', '.join('%s AS c%d' % (fill(o[0], *private), i) for i, o in enumerate(outputs))
        group = ''
        if keys:
            terms = list(private[0])
            r = rng.random()
            if r < 0.15 and outputs[0][1] == 'key':
                terms = [str(i + 1) for i in range(len(keys))]
            elif r < 0.2:
                terms.reverse()
            elif r < 0.22:
                terms.append(terms[0])
            group = ' GROUP BY ' + ', '.join(terms)
            if sets:
                group = ' GROUP BY ' + sets % ', '.join(private[0])
        elif self.chance(0.02):
            group, out.sure = ' GROUP BY ()', False
        condition = ' WHERE ' + ' AND '.join(where) if where else ''
        out.private = 'SELECT %s%s FROM %s%s%s%s' % (
            distinct, select, s.text, condition, group, ' HAVING ' + fill(having, *private) if having else '')

        # the exact form
        grouped = ['%s AS g' % grouping] if sets else []
        grouping = 'x.g'
        names = ['x.k%d' % i for i in range(len(keys))], ['x.a%d' % i for i in range(len(aggregates))]
        unit = s.exact_unit or s.unit
        units = 'count(DISTINCT %s)' % unit if unit else 'count(*)'
        if unit:
            where.append('%s IS NOT NULL' % unit)
        # schema x has no values that are not declared: rows with them would belong to no group
        inner = 'SELECT %s FROM %s%s%s' % (
            # of equal numbers one form is released
            ', '.join([('trim_scale(%s) AS k%d' if k[3] == 'numeric' else '%s AS k%d') % (k[0], i) for i, k in enumerate(keys)] +
                      ['%s AS a%d' % (a[1] if a[1].startswith('count') else 'coalesce(%s, 0)' % a[1], i)
                       for i, a in enumerate(aggregates)] + [units + ' AS u'] + grouped),
            s.exact_text or s.text, ' WHERE ' + ' AND '.join(where) if where else '',
            ' GROUP BY ' + (sets or '%s') % ', '.join(k[0] for k in keys) if keys else '')
        if soft and not out.sure and not out.fragile and outputs[0][0] == ('{g}' if sets else '{k0}'):
            # each group that one unit made up may be missing, empty groups may be there
            out.soft = ('SELECT %s, x.u FROM (%s) x%s' % (
                ', '.join(fill(o[0], *names) for o in outputs), inner, ' WHERE ' + fill(having, *names) if having else ''),
                'SELECT %s' % ', '.join(fill(o[0], ['NULL'] * len(keys), ['0'] * len(aggregates)) for o in outputs).replace('x.g', '0'),
                len(keys) + bool(sets))
        if keys and all(k[1] is not None for k in keys):
            domain = ', '.join('(%s)' % ', '.join(v) for v in itertools.product(*[k[1] for k in keys]))
            ks = ', '.join('k%d' % i for i in range(len(keys)))
            inner = 'SELECT %s FROM (VALUES %s) g (%s) LEFT JOIN (%s) e ON %s' % (
                ', '.join(['g.k%d' % i for i in range(len(keys))] +
                          ['coalesce(e.a%d, 0) AS a%d' % (i, i) for i in range(len(aggregates))]),
                domain, ks, inner, ' AND '.join('g.k%d IS NOT DISTINCT FROM e.k%d' % (i, i) for i in range(len(keys))))
        elif keys:
            inner = 'SELECT * FROM (%s) e WHERE u >= 2' % inner
            # whoever is in n groups may weigh 1 / sqrt(n) in each, where keys are selected
            out.sure = out.sure and out.rows <= 3
        out.exact = 'SELECT %s%s FROM (%s) x%s' % (
            distinct, ', '.join('%s AS c%d' % (fill(o[0], *names), i) for i, o in enumerate(outputs)), inner,
            ' WHERE ' + fill(having, *names) if having else '')
        if s.dimension and not sets and all(k[0] in s.dimension[1] for k in keys):
            # no group but those of rows that satisfy the conditions on the dimension
            own = [c for c in where if not re.search(r'\b%s\.' % re.escape(s.unit.split('.')[0] if s.unit else '-'), c)]
            out.allowed = 'SELECT DISTINCT %s FROM %s%s' % (
                ', '.join(s.dimension[1][k[0]] for k in keys), s.dimension[0], ' WHERE ' + ' AND '.join(own) if own else '') if keys else None
        out.columns = [(o[1], o[2]) for o in outputs]
        # keys of a release are noisy
        out.plain = not having and not distinct and not s.post
        out.keys = [i for i, o in enumerate(outputs) if o[0] == '{g}' or o[0].startswith('{k')]
        out.changes = {i: aggregates[int(o[0][2:-1])][5] for i, o in enumerate(outputs) if re.fullmatch(r'\{a\d+\}', o[0])}
        out.sets = 2 ** len(keys) if sets else 1
        out.kept = out.rows if keys else 1
        out.fragile = out.fragile or bool(distinct) and any(c[1] for c in out.columns)

        # its price: distinct aggregates, and the hidden count of units that selects keys
        used = [i for i in range(len(aggregates))
                if any('{a%d}' % i in t for t in [o[0] for o in outputs] + [having])]
        out.charged = (len(used),)
        if keys and any(k[1] is None for k in keys):
            # no column names the unit: rows are units, or there is no writing their count
            selects = units if s.unit else 'count(*)' if s.rows == 1 else None
            if not any(aggregates[i][1] == selects for i in used):
                out.charged = (len(used) + 1,)
                # where no unit can have a second row, a count of rows is one of units
                if s.unit and s.rows == 1 and any(aggregates[i][1] == 'count(*)' for i in used):
                    out.charged += (len(used),)
        if not out.sure or s.released:
            out.charged = ()
        return out

    def post(self, a, aggregate, out, others):
        """arithmetic over a released column: (text, type, tolerance)"""
        private, _, t, tolerance = aggregate[:4]
        r = self.rng.random()
        if r < 0.75:
            return a, t, tolerance
        if r < 0.8:
            return 'greatest(0, %s)' % a, t, tolerance
        # noise that goes with 1e300 ends at a bigint's limits; twice that is beyond
        if r < 0.85 and '1e300' not in private:
            return '%s * 2 + 1' % a, t, tolerance * 2
        if r < 0.9:
            out.fragile = out.fragile or tolerance > 0
            return "CASE WHEN %s > 3 THEN 'many' ELSE 'few' END" % a, 'key', 0
        if r < 0.95:
            other, b = self.rng.choice(others)
            out.fragile = out.fragile or tolerance > 0 or b[3] > 0
            return '(%s::numeric / nullif(%s::numeric, 0))' % (a, other), 'float', 1e-6
        return '(%s)::text' % a, 'text' if tolerance else 'key', tolerance

    # ------------------------------------------------------------------
    # Around levels
    # ------------------------------------------------------------------

    def for_each(self):
        """a release for each public row"""
        rng, out = self.rng, Level()
        z, s = self.name('z'), self.name('s')
        column, of = rng.choice(sorted((n, c) for n, c in TABLES['visits'][2].items() if n != 'site'))
        aggregate = rng.choice(['count(*)', 'dp_count(*)', 'count(DISTINCT %s.person)' % z, 'count(%s.%s)' % (z, column)])
        # more than equality: a person counts for several public rows
        several = self.chance(0.4)
        where = [rng.choice(['{z}.site <= {s}.site', '{s}.site < {z}.site', '{z}.site <> {s}.site', '{s}.site BETWEEN {z}.site - 1 AND {z}.site + 1', '({z}.site = {s}.site OR {z}.site + 1 = {s}.site)']
                            if several else ['{z}.site = {s}.site', '{s}.site = {z}.site', '{z}.site = {s}.site + 1']).format(z=z, s=s)]
        if self.chance(0.5):
            where.append('%s.%s %s %s' % (z, column, rng.choice(['=', '<>']), rng.choice(of[1])))
        if self.chance(0.2):
            where.append('%s.beds > 10' % s)
        rng.shuffle(where)
        form = rng.choice(['SELECT {s}.site AS c0, (SELECT {{0}} FROM visits {z} WHERE {{1}}) AS c1 FROM pub.sites {s}',
                           'SELECT {s}.site AS c0, (EXISTS (SELECT FROM visits {z} WHERE {{1}}))::int AS c1 FROM pub.sites {s}',
                           'SELECT {s}.site AS c0, (EXISTS (SELECT FROM visits {z} WHERE {{1}} GROUP BY {z}.site HAVING count(*) %s))::int AS c1 FROM pub.sites {s}' % rng.choice(['> 1', '> 20', '< 20', '> {s}.beds']),
                           'SELECT {s}.site AS c0, {l}.n AS c1 FROM pub.sites {s} CROSS JOIN LATERAL (SELECT {{0}} AS n FROM visits {z} WHERE {{1}}) {l}',
                           'SELECT {s}.site AS c0, {l}.n AS c1 FROM pub.sites {s} LEFT JOIN LATERAL (SELECT {{0}} AS n FROM visits {z} WHERE {{1}}) {l} ON true'])
        form = form.format(s=s, z=z, l=self.name('l')) + rng.choice(['', '', ' WHERE %s.beds > 10' % s])
        out.private = form.format(aggregate, ' AND '.join(where))
        out.exact = form.format(aggregate.replace('dp_', ''), ' AND '.join(where + ['%s.person IS NOT NULL' % z]))
        out.rows, out.kept = (12, 4) if several else (3, 3)
        out.columns, out.charged = [('key', 0), ('int', 0)], (1,)
        most = 1 if 'EXISTS' in form or 'DISTINCT' in aggregate else 3
        out.plain, out.keys, out.changes = True, [0], {1: (most, most)}
        return out

    def query(self, depth=2):
        rng = self.rng
        if self.chance(0.03):
            return self.ordered(self.for_each())
        if self.chance(self.asks):
            return self.ordered(self.asked())
        r = rng.random()
        if r < 0.5 or depth == 0:
            out = self.level()
            if out.header:
                out.private, out.exact = ['WITH %s %s' % (out.header, q) for q in (out.private, out.exact)]
                if out.soft:
                    out.soft = ('WITH %s %s' % (out.header, out.soft[0]),) + out.soft[1:]
                out.header = ''
            return self.ordered(out)
        a = self.query(depth - 1)
        a.single, a.soft, a.allowed, a.free, a.total = False, None, None, False, False
        name = self.name('q')
        # a name for each output column, in both forms alike
        cols = ['c%d' % i for i in range(len(a.columns))]
        numbers = [i for i, c in enumerate(a.columns) if c[0] in ('int', 'float')]
        if r < 0.6:
            i = rng.choice(range(len(cols)))
            form = 'SELECT * FROM ({0}) %s%s' % (name, rng.choice(['', ' WHERE c%d IS NOT NULL' % i]))
            columns = a.columns
        elif r < 0.7:
            i = rng.choice(numbers) if numbers else None
            form = 'SELECT count(*) AS c0%s FROM ({0}) %s' % (', sum(c%d) AS c1, max(c%d) AS c2' % (i, i) if numbers else '', name)
            columns = [('int', 0)] + ([(a.columns[i][0], a.columns[i][1] * 200)] * 2 if numbers else [])
            # what is not read is not charged
            a.charged, a.may_be_free = (), True
        elif r < 0.78:
            hint = rng.choice(['', 'MATERIALIZED ', 'NOT MATERIALIZED '])
            if rng.random() < 0.5:
                form = 'WITH %s AS %s({0}) SELECT * FROM %s' % (name, hint, name)
                columns = a.columns
            else:
                form = rng.choice(['WITH {n} AS {h}({{0}}) SELECT count(*) AS c0 FROM {n} l JOIN {n} r ON l.c0 IS NOT DISTINCT FROM r.c0',
                                   'WITH {n} AS {h}({{0}}) SELECT c0 FROM {n} UNION ALL SELECT c0 FROM {n}']).format(n=name, h=hint)
                columns = [('int', 0)] if 'count' in form else a.columns[:1]
                a.sure = False if hint == 'NOT MATERIALIZED ' else a.sure
                a.fragile = a.fragile or a.columns[0][1] > 0
                a.may_be_free = True
            a.charged = ()
        elif r < 0.86:
            b = self.query(depth - 1)
            op = rng.choice(['UNION ALL', 'UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT ALL'])
            a.fragile = a.fragile or b.fragile or op != 'UNION ALL' and (a.columns[0][1] > 0 or b.columns[0][1] > 0)
            # limits are set for a statement
            a.sure = a.sure and b.sure and a.rows == b.rows
            a.declared, a.finds = a.declared or b.declared, a.finds or b.finds
            a.rows = max(a.rows, b.rows)
            a.near_miss = a.near_miss or b.near_miss
            a.may_be_free = True
            # PostgreSQL's own error, where a key is neither text nor a number
            form = 'SELECT c0::text AS c0 FROM ({0}) l %s SELECT c0::text FROM ({1}) r' % op
            a.private, a.exact = form.format(a.private, b.private), form.format(a.exact, b.exact)
            a.columns = [('text', max(a.columns[0][1], b.columns[0][1]))]
            # rows of both are compared as text
            a.charged, a.plain, a.flips = (), False, None
            return self.ordered(a)
        elif r < 0.9:
            form = rng.choice(['SELECT (SELECT count(c0) FROM ({0}) %s) AS c0', 'SELECT EXISTS ({0}) AS c0',
                               'SELECT s.site AS c0 FROM pub.sites s WHERE s.site::text IN (SELECT c0::text FROM ({0}) %s)'])
            form = form.replace('%s', name)
            columns = [('int' if 'count' in form else 'key', 0)]
            a.fragile = a.fragile or a.columns[0][1] > 0
            a.charged, a.may_be_free = (), True
        elif r < 0.95:
            form = 'SELECT s.region AS c0, %s.* FROM pub.sites s %s ({0}) %s ON true' % (name, rng.choice(['JOIN', 'LEFT JOIN', 'LEFT JOIN LATERAL']), name)
            # the released row's names come after one of the same name
            form = 'SELECT * FROM (SELECT s.region AS c0, %s FROM pub.sites s %s ({0}) %s ON true) %s' % (
                ', '.join('%s.c%d AS c%d' % (name, i, i + 1) for i in range(len(cols))),
                rng.choice(['JOIN', 'LEFT JOIN', 'LEFT JOIN LATERAL']), name, self.name('q'))
            columns = [('key', 0)] + a.columns
            if a.flips:
                a.flips *= SITES
        else:
            w = rng.choice(['rank() OVER (ORDER BY c0)', 'count(*) OVER ()', 'dense_rank() OVER (ORDER BY c%d DESC)' % (len(cols) - 1)])
            form = 'SELECT %s.*, %s AS c%d FROM ({0}) %s' % (name, w, len(cols), name)
            columns = a.columns + [('int', 0)]
            a.fragile = a.fragile or a.columns[0][1] > 0 or a.columns[-1][1] > 0
        a.private, a.exact = form.format(a.private), form.format(a.exact)
        a.columns, a.plain = columns, False
        if depth < 2:
            a.charged = ()
        return self.ordered(a)

    def ordered(self, a):
        rng = self.rng
        n = len(a.columns)
        tail = ''
        if rng.random() < 0.25:
            tail = ' ORDER BY ' + ', '.join('%d%s' % (i + 1, rng.choice(['', ' DESC', ' NULLS FIRST'])) for i in range(n))
        if rng.random() < 0.1:
            if not tail:
                # which rows is not determined
                a.fragile = True
            a.fragile = a.fragile or any(c[1] for c in a.columns)
            a.charged, a.soft, a.plain = (), None, False
            # a row that comes or goes makes another go or come
            a.flips = a.flips and 2 * a.flips
            tail += rng.choice([' LIMIT 3', ' LIMIT 2 OFFSET 1', ' LIMIT 0', ' OFFSET 1', ' FETCH FIRST 2 ROWS ONLY'])
        a.private += tail
        a.exact += tail
        return a


def tagged(method):
    """the method, which writes down that it was called"""
    @functools.wraps(method)
    def call(self, *arguments):
        self.tags.add(method.__name__)
        return method(self, *arguments)
    return call


for name in ('derived', 'union', 'joined', 'repeated', 'per_unit', 'windowed', 'through', 'join_protected', 'join_public', 'with_dimension', 'other_units', 'inlined',
             'in_time', 'along', 'union_through', 'of_row', 'one_row', 'groups_of_unit', 'first_rows', 'rows_of_row', 'rows_of_unit', 'public_rows', 'released_rows', 'sublink', 'sublink_key', 'for_each'):
    setattr(Grammar, name, tagged(getattr(Grammar, name)))
