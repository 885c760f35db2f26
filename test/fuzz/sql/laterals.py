"""LATERAL: expressions of a row, what is made of rows of the same person, public rows, released ones.

A level reads a table and one subquery after the other, of which each may name
what stands before it.  What such a subquery shows of a person's row depends on
rows of this person, and on public ones, alone.
"""
from sources import NUMBERS, PUBLIC, TABLES, Column, Source, Sources

COUNT = ('int', ['0', '1', '2'], 4, None)


class Laterals(Sources):
    def source(self):
        return self.laterals() if self.chance(0.07) else super().source()

    def joined(self, inner=None):
        return super().joined(inner or (self.laterals() if self.chance(0.3) else None))

    def laterals(self):
        s = self.table(('visits', 'visits', 'people', 'stays', 'logs', 'trips'))[0]
        for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3])):
            self.add_lateral(s)
        return s

    def add_lateral(self, s):
        rng = self.rng
        name = self.name('l')
        make = rng.choice([self.of_row, self.of_row, self.one_row, self.one_row, self.one_row, self.groups_of_unit, self.first_rows, self.first_rows,
                           self.rows_of_row, self.rows_of_row, self.rows_of_unit, self.rows_of_unit, self.public_rows, self.public_rows, self.released_rows])
        # shown: (expression, column); rows: how many there may be for one row
        outputs, rest, rows = make(s)
        columns = [Column('%s.o%d' % (name, i) if rest is not None else outputs[i][0], column) for i, (_, column) in enumerate(outputs)]
        for c in columns:
            c.restricted, c.public = True, make == self.public_rows
        joins = [('CROSS JOIN', ''), ('CROSS JOIN', ''), (',', ''), ('JOIN', ' ON true'), ('LEFT JOIN', ' ON true'), ('LEFT JOIN', ' ON true'), ('JOIN', ' ON {}')]
        # of what always has a row, a condition of an outer join is refused
        if make not in (self.of_row, self.one_row) or self.chance(0.1):
            joins.append(('LEFT JOIN', ' ON {}'))
        join, on = rng.choice(joins) if ', LATERAL' not in s.text or self.chance(0.1) else (',', '')
        if make == self.public_rows and join != 'LEFT JOIN':
            # whether there is one decides which groups there are
            for c in s.columns:
                c.restricted = True
        text = '(SELECT %s%s) %s' % (', '.join('%s AS o%d' % (e, i) for i, (e, _) in enumerate(outputs)), rest, name) if rest is not None else self.made
        s.text = '%s%s LATERAL %s%s' % (
            s.text, ',' if join == ',' else ' ' + join, text,
            on.replace('{}', self.condition(Source('', columns, None, rows), 1)) if on else '')
        s.columns = s.columns + columns
        s.rows *= rows

    # ------------------------------------------------------------------
    # Each: what is shown, all from FROM on, how many rows
    # ------------------------------------------------------------------

    def of_row(self, s):
        """expressions of the row at hand"""
        outputs = []
        for c in self.rng.choices(s.columns, k=self.rng.randrange(1, 4)):
            same = (c.type, c.literals, c.most, None)
            forms = [('%s', (c.type, c.literals, c.most, c.keys)), ('coalesce(%%s, %s)' % c.literals[0], same), ('nullif(%%s, %s)' % c.literals[0], same)]
            if c.type == 'int' and c.most < 1e6:
                forms += [('%s + 1', ('int', c.literals, c.most + 1, None)), ('CASE WHEN %s > 1 THEN 1 ELSE 0 END', ('int', ['0', '1'], 1, None))]
            if c.type == 'text':
                forms.append(('upper(%s)', ('text', c.literals, 0, None)))
            form, column = self.rng.choice(forms)
            outputs.append((form.replace('%s', c.ref), column))
        if self.chance(0.2):
            outputs.append(('(%s)' % self.condition(s, 1), ('bool', ['true', 'false'], 0, None)))
        return outputs, self.rng.choice([''] * 12 + [' WHERE true', ' LIMIT 1']), 1

    def rows_of_row(self, s):
        """several rows of the row at hand: one column of it after the other, and a name of each"""
        rng = self.rng
        first = rng.choice([c for c in s.columns if c.type != 'bool'] or s.columns)
        strings = [c for c in s.columns if c.type == 'text']
        if strings and self.chance(0.3):
            return self.parts_of_string(rng.choice(strings))
        alike = [c for c in s.columns if c.type == first.type]
        values = [first] + rng.choices(alike, k=rng.randrange(1, 3))
        of = (first.type, first.literals, max(c.most for c in values), None)
        name = self.name('w')
        if self.chance(0.3):
            made = 'unnest(ARRAY[%s])' % ', '.join(c.ref for c in values) + ' WITH ORDINALITY %s (a, b)' % name
            second = ('int', ['1', '2'], 3, None)
        else:
            second = ('text', ["'a'", "'b'"], 0, ["'a'", "'b'", "'c'"][:len(values)])
            rows = ['%s, \'%s\'' % (c.ref, k) for c, k in zip(values, 'abc')]
            made = '(VALUES %s) %s (a, b)' % (', '.join('(%s)' % r for r in rows), name) if self.chance(0.7) else \
                '(%s) %s (a, b)' % (' UNION ALL '.join('SELECT ' + r for r in rows), name)
        self.made = made
        return [('%s.a' % name, of), ('%s.b' % name, second)], None, len(values)

    def parts_of_string(self, c):
        """the parts of a string, as many as it has"""
        name = self.name('w')
        self.made = self.rng.choice(['unnest(string_to_array(%s, %s)) WITH ORDINALITY', 'string_to_table(%s, %s) WITH ORDINALITY',
                                     'regexp_split_to_table(%s, %s) WITH ORDINALITY']) % (c.ref, self.rng.choice(["'a'", "'b'", "','", "'a*'"])) + ' %s (a, b)' % name
        return [('%s.a' % name, ('text', c.literals, 0, None)), ('%s.b' % name, ('int', ['1', '2'], 20, None))], None, 3

    def own(self, s, compared=0.04):
        """rows of the same person: their columns, the text from FROM on, how many there are for one row; compared: how many with other columns of the row"""
        rng = self.rng
        z = self.name('z')
        along = [(c, t, k, n) for t, k, n in [('legs', 'trip', 2), ('scans', 'leg', 1)] for c in s.columns if c.ref.endswith('.' + k)]
        if along and self.chance(0.6):
            c, table, key, rows = rng.choice(along)
            where = ['%s.%s = %s' % (z, key, c.ref)]
        else:
            table = rng.choice(['visits', 'people', 'stays', 'logs'])
            rows = TABLES[table][1]
            where = [rng.choice(['%s.person = %s', '%s.person = %s', '%s.person = %s AND {0} IS NOT NULL']).format(s.unit) % (z, s.unit)]
        columns = self.columns_of(table, z)
        if self.chance(0.4):
            where.append(self.condition(Source('', columns, None, rows), 1))
        pairs = [(a, b) for a in columns for b in s.columns if a.type == b.type and a.type in ('int', 'text', 'date')]
        if self.chance(compared) and pairs:
            a, b = rng.choice(pairs)
            where.append('%s %s %s' % (a.ref, rng.choice(['<>', '<', '>=', '=']), b.ref))
        rng.shuffle(where)
        return columns, ' FROM %s %s WHERE %s' % (table, z, ' AND '.join(where)), rows

    def shown(self, columns, most=3):
        return [(c.ref, (c.type, c.literals, c.most, c.keys)) for c in self.rng.sample(columns, self.rng.randrange(1, most + 1))]

    def aggregates(self, columns, rows):
        outputs = []
        for _ in range(self.rng.randrange(1, 3)):
            c = self.rng.choice([c for c in columns if c.type in NUMBERS])
            f, of = self.rng.choice([('count(*)', COUNT), ('count(*)', COUNT), ('count(%s)', COUNT), ('count(DISTINCT %s)', COUNT),
                                     ('max(%s)', (c.type, c.literals, c.most, None)), ('min(%s)', (c.type, c.literals, c.most, None)),
                                     ('sum(%s)', (c.type, c.literals, c.most * rows, None)), ('coalesce(max(%s), 0)', (c.type, c.literals, c.most, None))])
            outputs.append((f.replace('%s', c.ref), of))
        return outputs

    def one_row(self, s):
        """aggregates of all of them"""
        columns, rest, rows = self.own(s)
        s.totals = True
        return self.aggregates(columns, rows), rest, 1

    def groups_of_unit(self, s):
        columns, rest, rows = self.own(s)
        keys = self.shown([c for c in columns if c.type not in ('float8', 'real')], 2)
        if self.chance(0.3):
            keys = [('DISTINCT ' * (i == 0) + e, c) for i, (e, c) in enumerate(keys)]
            return keys, rest, rows
        s.totals = True
        rest += ' GROUP BY ' + ', '.join(e for e, _ in keys)
        if self.chance(0.2):
            rest += ' HAVING count(*) > 1'
        return keys + self.aggregates(columns, rows), rest, rows

    def limit(self):
        """which of the first rows there are, and how many"""
        n = self.rng.choice([1, 1, 1, 2, 3])
        return self.rng.choice([' LIMIT %d' % n] * 3 + [' FETCH FIRST %d ROWS ONLY' % n, ' LIMIT %d OFFSET 1' % n, ' OFFSET 2 LIMIT %d' % n]), n

    def first_rows(self, s):
        """the first of them, by an order that tells all apart that differ"""
        columns, rest, _ = self.own(s)
        order = self.rng.sample(columns, len(columns))
        limit, rows = self.limit()
        return self.shown(columns), '%s ORDER BY %s%s' % (
            rest, ', '.join(c.ref + self.rng.choice(['', ' DESC', ' NULLS FIRST']) for c in order), limit), rows

    def rows_of_unit(self, s):
        columns, rest, rows = self.own(s, 0.25)
        outputs = self.shown(columns)
        numbers = [[c for c in of if c.type == 'int' and c.most < 100] for of in (columns, s.columns)]
        if self.chance(0.25) and all(numbers):
            a, b = map(self.rng.choice, numbers)
            outputs.append(('%s - %s' % (a.ref, b.ref), ('int', ['0', '1'], a.most + b.most, None)))
        return outputs, rest + self.rng.choice(['', '', '', ' ORDER BY 1']), rows

    def public_rows(self, s):
        """rows of a public table, the first of them, or a count"""
        rng = self.rng
        z = self.name('z')
        table, key, rows = rng.choice([('pub.sites', 'site', 1), ('pub.depts', 'floor', 2)] + [('pub.depts', 'dept', 2)] * any(c.type == 'text' for c in s.columns))
        columns = [Column('%s.%s' % (z, n), c) for n, c in PUBLIC[table].items()]
        key = next(c for c in columns if c.ref.endswith('.' + key))
        fits = [c for c in s.columns if c.type == key.type]
        # where there is one, along the foreign key
        fits = [c for c in fits if c.ref.split('.')[1] == key.ref.split('.')[1]] or fits
        op = '=' if self.chance(0.8) else rng.choice(['<', '<>', '>='])
        where = ['%s %s %s' % (key.ref, op, rng.choice(fits).ref)]
        if self.chance(0.3):
            where.append(self.condition(Source('', columns, None, 1), 1))
        rest = ' FROM %s %s WHERE %s' % (table, z, ' AND '.join(where))
        if self.chance(0.2):
            s.totals = True
            return self.aggregates(columns, 5), rest, 1
        if self.chance(0.25):
            limit, n = self.limit()
            return self.shown(columns, 2), rest + ' ORDER BY ' + ', '.join(c.ref for c in rng.sample(columns, len(columns))) + limit, n
        return self.shown(columns, 2), rest, rows if op == '=' else 5

    def released_rows(self, s):
        """groups that are declared; noise decides nothing that is seen, so that prices are equal"""
        z = self.name('z')
        key, of = self.rng.choice([('site', ('int', ['1', '2', '4'], 4, None))] + [('dept', ('text', ["'a'", "'b'"], 0, None))] * any(c.type == 'text' for c in s.columns))
        fits = [c for c in s.columns if c.type == of[0]]
        s.sure, s.released = False, True
        outputs = [('%s.%s' % (z, key), of)]
        if self.chance(0.3):
            outputs.append(('%s.n > -1000000' % z, ('bool', ['true', 'false'], 0, None)))
        rest = ' FROM (SELECT %s, count(*) AS n FROM visits GROUP BY %s) %s' % (key, key, z)
        return outputs, '%s WHERE %s.%s = %s' % (rest, z, key, self.rng.choice(fits).ref), 1
