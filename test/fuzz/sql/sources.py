"""What a level reads: the fixture's tables, FROM clauses, and expressions over their rows."""
import re

# name: (type, literals for comparisons, largest absolute value of schema x,
#		 declared keys or None)
T = ['a', 'b', 'c', 'd']
TABLES = {
    'visits': ('person', 3, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'dept': ('text', ["'a'", "'b'", "'zz'"], 0, ["'a'", "'b'", "'c'", "'d'"]),
        'feel': ('pub.mood', ["'bad'", "'good'"], 0, ["'bad'::pub.mood", "'fair'", "'good'"]),
        'city': ('text', ["'city1'", "'city3'", "''"], 0, None),
        'flag': ('bool', ['true', 'false'], 0, ['false', 'true']),
        'n': ('int', ['0', '1', '2', '-1'], 3, None),
        'v': ('numeric(9,2)', ['1', '2.5', '0'], 4, None),
        'f': ('float8', ['1', '0.5', '2.25'], 3, None),
        'at': ('date', ["'2024-02-01'", "'2024-05-05'"], 0, None),
        'site': ('int', ['1', '2', '4'], 4, ['1', '2', '3', '4'])}),
    'people': ('person', 1, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'name': ('text', ["'name1'", "'name4'"], 0, None),
        'born': ('int', ['1950', '1980'], 2000, None),
        'zip': ('text', ["'101'", "'105'"], 0, None),
        'sex': ('bool', ['true', 'false'], 0, ['false', 'true'])}),
    'stays': ('person', 2, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'ward': ('text', ["'ward1'", "'ward2'"], 0, None),
        'days': ('int', ['0', '1', '3'], 4, None),
        'score': ('float8', ['1', '2.5'], 4, None)}),
    'logs': ('person', 2, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'day': ('date', ["'2024-02-01'", "'2024-06-01'", "'2024-07-01'"], 0, None),
        'code': ('int', ['0', '1', '-2'], 3, None),
        'w': ('real', ['1', '2.5'], 4, None)}),
    'trips': ('person', 2, {
        'trip': ('int', ['7', '30', '120'], 7772, None),
        'person': ('int', ['7', '30', '61'], 60, None),
        'mode': ('text', ["'bus'", "'car'"], 0, None)}),
    # whose unit is that of what they reference
    'legs': (None, 4, {
        'leg': ('int', ['7', '30', '120'], 7773, None),
        'trip': ('int', ['7', '30', '120'], 7772, None),
        'km': ('int', ['0', '2'], 4, None)}),
    'scans': (None, 4, {
        'leg': ('int', ['7', '30', '120'], 7773, None),
        'code': ('int', ['0', '2'], 4, None)}),
    # a domain as unit, behind a key of two columns, with declared times; units of text and uuid
    'events': ('person', 2, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'at': ('timestamp', ["'2024-02-03 12:00'", "'2024-05-01'"], 0, None),
        'ended': ('timestamp', ["'2024-02-03 12:00'", "'2024-05-01'"], 0, None),
        'kind': ('text', ["'kind1'", "'kind2'"], 0, None),
        'amount': ('numeric', ['1', '2.5'], 4, None),
        'size': ('int', ['0', '2', '5'], 5, None)}),
    'parts': (None, 2, {
        'label': ('text', ["'label1'", "'label3'"], 0, None),
        'grams': ('float8', ['1', '2.5'], 4, None)}),
    'cards': ('holder', 2, {
        'holder': ('text', ["'p7'", "'p30'", "'p61'"], 0, None),
        'issued': ('date', ["'2024-01-05'", "'2024-01-31'"], 0, None),
        'level': ('int', ['0', '1', '3'], 3, ['0', '1', '2', '3']),
        'points': ('float8', ['1', '2.5'], 4, None)}),
    'phones': ('owner', 2, {
        'owner': ('uuid', ["md5('p7')::uuid", "md5('p61')::uuid"], 0, None),
        'area': ('text', ["'area1'", "'area3'"], 0, None),
        'calls': ('int', ['0', '1', '3'], 4, None),
        'seen': ('timestamptz', ["'2024-03-31 01:30 UTC'", "'2024-04-04'"], 0, None)}),
    'v_parts': ('person', 2, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'kind': ('text', ["'kind1'", "'kind2'"], 0, None),
        'at': ('timestamp', ["'2024-02-03 12:00'", "'2024-05-01'"], 0, None),
        'label': ('text', ["'label1'", "'label3'"], 0, None),
        'grams': ('float8', ['1', '2.5'], 4, None)}),
    'samples': (None, 1, {
        'batch': ('text', ["'batch1'", "'batch5'"], 0, None),
        'level': ('int', ['0', '3'], 4, ['0', '1', '2', '3', '4', 'NULL']),
        'amount': ('numeric', ['1', '2.5'], 3, None)}),
    'v_visits': ('person', 3, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'dept': ('text', ["'a'", "'b'"], 0, ["'a'", "'b'", "'c'", "'d'"]),
        'feel': ('pub.mood', ["'bad'", "'good'"], 0, ["'bad'::pub.mood", "'fair'", "'good'"]),
        'city': ('text', ["'city1'", "'city3'"], 0, None),
        'flag': ('bool', ['true', 'false'], 0, ['false', 'true']),
        'n': ('int', ['0', '1', '2'], 3, None),
        'v': ('numeric(9,2)', ['1', '2.5'], 4, None),
        'site': ('int', ['1', '2', '4'], 4, ['1', '2', '3', '4'])}),
    'v_words': ('who', 3, {
        'who': ('int', ['7', '30', '61'], 60, None),
        'town': ('text', ["'CITY1'", "'CITY3'"], 0, None),
        'n1': ('int', ['0', '1', '2'], 4, None),
        'dept': ('text', ["'a'", "'b'"], 0, ["'a'", "'b'", "'c'", "'d'"])}),
    'v_pair': ('person', 2, {
        'person': ('int', ['7', '30', '61'], 60, None),
        'sex': ('bool', ['true', 'false'], 0, ['false', 'true']),
        'born': ('int', ['1950', '1980'], 2000, None),
        'ward': ('text', ["'ward1'", "'ward2'"], 0, None),
        'days': ('int', ['0', '1', '3'], 4, None)}),
}
PUBLIC = {
    'pub.sites': {'site': ('int', ['1', '2'], 4, None), 'region': ('text', ["'north'"], 0, None),
                  'beds': ('int', ['10', '20'], 30, None)},
    'pub.depts': {'dept': ('text', ["'a'", "'e'"], 0, None), 'floor': ('int', ['1', '2'], 5, None)},
}
# of tables whose rows are somebody's through foreign keys: the same with his number as column "unit"
OWNED = {'legs': '(SELECT l.*, t.person AS unit FROM legs l JOIN trips t ON t.trip = l.trip)',
         'scans': '(SELECT c.*, t.person AS unit FROM scans c JOIN legs l ON l.leg = c.leg JOIN trips t ON t.trip = l.trip)',
         'parts': '(SELECT p.*, e.person AS unit FROM parts p JOIN events e ON (e.event, e.part) = (p.event, p.part))'}
NUMBERS = ('int', 'numeric', 'numeric(9,2)', 'float8', 'real')


# the same condition in other words, as far as rows are concerned that satisfy it
SPELLINGS = ['NOT (NOT (%s))', 'coalesce(%s, false)', '(%s) IS TRUE', 'CASE WHEN %s THEN true ELSE false END', 'CASE WHEN %s THEN true END', '(%s) IS NOT DISTINCT FROM true',
             'NOT coalesce(NOT (%s), true)']


class Column:
    def __init__(self, ref, column):
        self.ref = ref
        self.type, self.literals, self.most, self.keys = column
        self.restricted = False         # something else than keys may tell which values there are
        self.public = False             # of a public table, so that conditions on it may leave no group at all

    def is_named_in(self, conditions):
        return any(re.search(re.escape(self.ref) + r'\b', c) for c in conditions)

    def restrict(self, conditions):
        if self.is_named_in(conditions):
            self.restricted = True


class Source:
    """FROM: its text, columns, unit, and how many rows a unit may have in it"""

    def __init__(self, text, columns, unit, rows):
        self.text, self.columns, self.unit, self.rows = text, columns, unit, rows
        self.sure, self.where, self.header, self.public = True, [], '', False
        self.per_unit = False
        self.totals = False             # some columns are aggregates, whose bounds max_rows decides
        self.released = False           # some columns are
        self.post = False               # all are, so that what is asked of them may need no release
        self.dimension = None           # of an inner join with a public table: its text, and what its columns are called
        self.preferred = None           # columns that most keys are of
        self.exact_text = self.exact_unit = None    # the same in plain SQL, where the unit is not a column

    def has_person(self):
        """is the unit the number of a person, by which tables are joined"""
        return any(c.ref == self.unit and c.type == 'int' for c in self.columns)


class Sources:
    def __init__(self, rng):
        self.rng = rng
        self.serial = 0
        self.tags = set()               # of the methods that were called

    def chance(self, p):
        return self.rng.random() < p

    def name(self, prefix):
        self.serial += 1
        return '%s%d' % (prefix, self.serial)

    # ------------------------------------------------------------------
    # Sources
    # ------------------------------------------------------------------

    def columns_of(self, table, alias):
        columns = [Column('%s.%s' % (alias, n), c) for n, c in TABLES[table][2].items()]
        for c in columns:
            # by the view's own condition
            c.restricted = table == 'v_visits' and c.ref.endswith('.n')
        return columns

    def table(self, among=('visits', 'visits', 'visits', 'people', 'stays', 'logs', 'samples')):
        table = self.rng.choice(among)
        unit, rows, columns = TABLES[table]
        alias = self.name('t')
        s = Source('%s%s %s' % ('ONLY ' if self.chance(0.02) else '', table, alias),
                   self.columns_of(table, alias), unit and '%s.%s' % (alias, unit), rows)
        if table in OWNED:
            s.exact_text, s.exact_unit = '%s %s' % (OWNED[table], alias), alias + '.unit'
        return s, table, alias

    def source(self):
        r = self.rng.random()
        if r < 0.45:
            return self.table()[0]
        if r < 0.5:
            return self.other_units()
        if r < 0.6:
            return self.table(('v_visits', 'v_words', 'v_pair'))[0]
        if r < 0.65:
            return self.union()
        if r < 0.75:
            return self.derived()
        if r < 0.78:
            return self.per_unit()
        if r < 0.8:
            return self.windowed()
        if r < 0.82:
            return self.joined()
        if r < 0.85:
            return self.through() if self.chance(0.7) else self.union_through()
        if r < 0.86:
            return self.inlined()
        if r < 0.9:
            return self.join_protected()
        if r < 0.95:
            return self.join_public()
        if r < 0.995:
            return self.with_dimension()
        alias = self.name('p')
        table = self.rng.choice(list(PUBLIC))
        s = Source('%s %s' % (table, alias), [Column('%s.%s' % (alias, n), c) for n, c in PUBLIC[table].items()], None, 1)
        s.sure, s.public = False, True
        return s

    def derived(self):
        """a subquery or a WITH query that filters and projects"""
        inner, table, alias = self.table()
        name = self.name('s')
        keep = [c for c in inner.columns if self.chance(0.8) or c.ref == inner.unit] or inner.columns[:1]
        outputs, columns = [], []
        for i, c in enumerate(keep):
            expr = c.ref
            column = (c.type, c.literals, c.most, c.keys)
            if c.ref != inner.unit and c.type == 'int' and self.chance(0.2):
                expr, column = '%s + 1' % c.ref, (c.type, c.literals, c.most + 1, None)
            outputs.append('%s AS d%d' % (expr, i))
            columns.append(Column('%s.d%d' % (name, i), column))
        unit = next((columns[i].ref for i, c in enumerate(keep) if c.ref == inner.unit), None)
        query = 'SELECT %s FROM %s' % (', '.join(outputs), inner.text)
        if self.chance(0.5):
            condition = self.condition(inner, 1)
            query += ' WHERE ' + condition
            for c, outer in zip(keep, columns):
                c.restrict([condition])
                outer.restricted = c.restricted
        sure = True
        if self.chance(0.05):
            query += self.rng.choice([' ORDER BY 1', ' LIMIT 5', ' OFFSET 3', ' FOR UPDATE'])
            sure = False
        elif self.chance(0.1):
            query += self.rng.choice([' OFFSET 0', ' LIMIT ALL', ' ORDER BY 1 OFFSET 0', ' LIMIT ALL OFFSET 0'])
        if self.chance(0.4):
            s = Source(name, columns, unit, inner.rows)
            s.header = '%s AS %s(%s)' % (name, self.rng.choice(['', 'MATERIALIZED ', 'NOT MATERIALIZED ']), query)
            if sure and self.chance(0.1):
                # released on the way, and read beside that
                first = self.name('s')
                s.header = s.header.replace(name, first, 1) + ', %s AS (SELECT * FROM %s WHERE (SELECT count(*) FROM %s) > -1e9)' % (name, first, first)
                sure = False
        else:
            s = Source('%s(%s) %s' % ('LATERAL ' if self.chance(0.1) else '', query, name), columns, unit, inner.rows)
        s.sure = sure
        return s

    def other_units(self):
        """tables whose unit is of a domain, text or uuid, or what a key of two columns references"""
        r = self.rng.random()
        if r < 0.75:
            return self.table(('events', 'events', 'parts', 'cards', 'phones', 'v_parts'))[0]
        (e, _, event), (p, _, part) = self.table(('events',)), self.table(('parts',))
        on = '%s.event = %s.event AND %s.part = %s.part' % (event, part, part, event)
        kind = self.rng.choice(['JOIN', 'JOIN', 'LEFT JOIN'])
        s = Source('%s %s %s ON %s' % (e.text, kind, p.text, on), e.columns + p.columns, e.unit, 2)
        if r > 0.9:
            # a domain and its type
            v, _, _ = self.table(('people', 'stays'))
            s = Source('%s JOIN %s ON %s = %s' % (s.text, v.text, v.unit, e.unit), s.columns + v.columns, e.unit, 2 * v.rows)
        for c in p.columns:
            c.restricted = kind == 'LEFT JOIN'
        return s

    def union_through(self):
        """rows of tables that reference, of what they reference, and of a table with a unit"""
        name = self.name('u')
        arms = self.rng.sample([('legs', 'km', 4), ('scans', 'code', 4), ('trips', 'person % 5', 2), ('parts', 'grams::int', 2), ('events', 'size', 2), ('visits', 'n', 3)], self.rng.choice([2, 2, 3]))
        query = ' UNION ALL '.join("SELECT %s AS x, '%s' AS label FROM %s%s" % (
            e, label, t, ' WHERE %s > 0' % e if self.chance(0.3) else '') for (t, e, _), label in zip(arms, ('one', 'two', 'three')))
        s = Source('(%s) %s' % (query, name), [Column(name + '.x', ('int', ['0', '2'], 5, None)), Column(name + '.label', ('text', ["'one'", "'two'"], 0, None))],
                   None, sum(rows for _, _, rows in arms))
        s.sure = False
        s.columns[0].restricted = s.columns[1].restricted = True
        return s

    def inlined(self):
        """a function of the analyst that returns rows"""
        alias = self.name('f')
        names = ('person', 'dept', 'flag', 'n', 'v', 'f', 'at', 'site')
        s = Source("own.visits_of('a') %s" % alias, [Column('%s.%s' % (alias, n), TABLES['visits'][2][n]) for n in names], alias + '.person', 3)
        for c in s.columns:
            c.restricted = True
        return s

    def union(self):
        """rows of two tables, or of one twice, as one"""
        rng = self.rng
        (a, _, _), (b, _, _) = (self.table(('visits', 'people', 'stays', 'logs')) for _ in range(2))
        name = self.name('u')
        pairs = [(x, y) for x in a.columns for y in b.columns if x.type == y.type and a.unit != x.ref and b.unit != y.ref]
        pairs = rng.sample(pairs, min(len(pairs), rng.choice([1, 2, 3])))
        first, second, columns = ['%s AS person' % a.unit], [b.unit], [Column(name + '.person', TABLES['people'][2]['person'])]
        for i, (x, y) in enumerate(pairs):
            first.append('%s AS e%d' % (x.ref, i))
            second.append(y.ref)
            keys = x.keys + [k for k in y.keys if k not in x.keys] if x.keys and y.keys else None
            columns.append(Column('%s.e%d' % (name, i), (x.type, x.literals, max(x.most, y.most), keys)))
        if self.chance(0.4):
            first.append("'one' AS label")
            second.append("'two'")
            columns.append(Column(name + '.label', ('text', ["'one'", "'two'", "'three'"], 0, ["'one'", "'two'"])))
        r = rng.random()
        hidden = r < 0.2
        if hidden:
            first, second, columns = first[1:] or ['1 AS one'], second[1:] or ['2'], columns[1:] or [
                Column(name + '.one', ('int', ['1', '2'], 2, ['1', '2']))]
        arms = []
        for source, outputs in ((a, first), (b, second)):
            arms.append('SELECT %s FROM %s%s' % (', '.join(outputs), source.text,
                                                 ' WHERE ' + self.condition(source, 1) if self.chance(0.3) else ''))
        op = 'UNION ALL' if r < 0.75 else rng.choice(['UNION', 'UNION', 'EXCEPT', 'INTERSECT', 'EXCEPT ALL'])
        s = Source('(%s %s %s) %s' % (arms[0], op, arms[1], name), columns, None if hidden else name + '.person', a.rows + b.rows)
        for c in columns:
            # which rows there are is told by conditions, and by what is left out
            c.restricted = True
        s.sure = op in ('UNION ALL', 'UNION') and not hidden
        return s

    def joined(self, inner=None):
        """a join inside of a subquery, which repeats rows of a table that has one for each unit"""
        r = self.rng.random()
        inner = inner or (self.join_protected() if r < 0.25 else self.join_public(('people', 'visits', 'stays')) if r < 0.6
                 else self.repeated())
        name = self.name('j')
        # what a join finds nothing for is NULL, the unit, too
        keep = [c for c in inner.columns if self.chance(0.7) or c.ref == inner.unit] or inner.columns[:1]
        columns = []
        for i, c in enumerate(keep):
            columns.append(Column('%s.d%d' % (name, i), (c.type, c.literals, c.most, c.keys)))
            columns[-1].restricted = True
        query = 'SELECT %s FROM %s%s' % (', '.join('%s AS d%d' % (c.ref, i) for i, c in enumerate(keep)), inner.text,
                                         ' WHERE ' + ' AND '.join(inner.where) if inner.where else '')
        unit = next((columns[i].ref for i, c in enumerate(keep) if c.ref == inner.unit), None)
        s = Source('(%s) %s' % (query, name), columns, unit, inner.rows)
        s.sure, s.totals, s.released = inner.sure, inner.totals, inner.released
        return s

    def repeated(self):
        """a table of one row for each unit, with each row of a public one"""
        a, _, _ = self.table(('people',))
        alias = self.name('p')
        item, columns, rows = self.rng.choice([
            ('pub.depts ' + alias, PUBLIC['pub.depts'], 5), ('pub.sites ' + alias, PUBLIC['pub.sites'], 4),
            ('(SELECT id AS k FROM own.marks WHERE id < 3) ' + alias, {'k': ('int', ['1', '2'], 3, None)}, 2)])
        public = [Column('%s.%s' % (alias, n), c) for n, c in columns.items()]
        for c in public:
            c.restricted = True
        born = next(c.ref for c in a.columns if c.ref.endswith('.born'))
        number = next(c.ref for c in public if c.type == 'int')
        return Source('%s JOIN %s ON %s > %s' % (a.text, item, born, number), a.columns + public, a.unit, rows)

    def per_unit(self):
        """one row for each unit, made by plain aggregates"""
        inner, _, _ = self.table(('visits', 'people', 'stays', 'logs'))
        name = self.name('u')
        numbers = [c for c in inner.columns if c.type in NUMBERS and c.ref != inner.unit]
        outputs, columns = ['%s AS person' % inner.unit], [Column(name + '.person', TABLES['people'][2]['person'])]
        for i in range(self.rng.randrange(1, 3)):
            c = self.rng.choice(numbers)
            f = self.rng.choice(['max', 'min', 'sum', 'count', 'avg'])
            t = 'int' if f == 'count' else c.type
            if f in ('sum', 'avg') and t == 'int':
                t = 'numeric' if f == 'avg' else 'int'
            outputs.append('%s(%s) AS g%d' % (f, c.ref, i))
            columns.append(Column('%s.g%d' % (name, i), (t, ['0', '1', '2'], (c.most or 1) * inner.rows, None)))
            columns[-1].restricted = True
        query = 'SELECT %s FROM %s%s GROUP BY %s' % (
            ', '.join(outputs), inner.text, ' WHERE ' + self.condition(inner, 1) if self.chance(0.3) else '', inner.unit)
        if self.chance(0.2):
            query += ' HAVING count(*) > 1'
        s = Source('(%s) %s' % (query, name), columns, name + '.person', 1)
        s.per_unit = True
        return s

    def windowed(self):
        """a window over the rows of each unit, or the first of them; rows that the order takes for equal are the same"""
        inner, _, _ = self.table(('visits', 'people', 'stays', 'logs'))
        name = self.name('w')
        c, d = self.rng.choice(inner.columns), self.rng.choice([c for c in inner.columns if c.type == 'int'])
        part = 'PARTITION BY %s' % inner.unit + (', ' + self.rng.choice(inner.columns).ref if self.chance(0.2) else '')
        rows = '%s ORDER BY %s' % (part, ', '.join(o.ref for o in self.rng.sample(inner.columns, len(inner.columns))))
        peers = '%s ORDER BY %s' % (part, c.ref)
        number = ('int', ['0', '1', '2'], max(inner.rows, d.most), None)
        outputs, columns = ['%s AS person' % inner.unit], [Column(name + '.person', TABLES['people'][2]['person'])]
        ties = False
        for i in range(self.rng.randrange(1, 4)):
            form, column = self.rng.choice([
                ('row_number() OVER ({rows})', number), ('rank() OVER ({peers})', number), ('ntile(2) OVER ({rows})', number),
                ('count(*) OVER ({peers})', number), ('sum({d}) OVER ({rows} ROWS 1 PRECEDING)', ('int', ['0', '1'], 2 * d.most, None)),
                ('lag({c}) OVER ({rows})', None), ('first_value({c}) OVER ({rows})', None), ('lead({c}, 2) OVER ({rows} DESC)', None),
                ('last_value({c}) OVER ({rows} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)', None), ('{c}', None),
                ('dense_rank() OVER ({peers})', number), ('(percent_rank() OVER ({peers}) * 2)::int', number), ('(cume_dist() OVER ({rows}) * 2)::int', number),
                ('nth_value({c}, 2) OVER ({rows} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)', None),
                ('count(*) OVER (%s ORDER BY {d} RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)' % part, number),
                ('max({d}) OVER (%s)' % part, ('int', ['0', '1'], d.most, None)), ('{d} - lag({d}) OVER ({rows})', ('int', ['0', '1'], 2 * d.most, None)),
                # equal rows are told apart here, and not by plain SQL
                ('lag({c}) OVER ({peers})', None), ('first_value({c}) OVER (%s)' % part, None), ('row_number() OVER ({peers})', number)])
            ties = ties or 'lag({c}) OVER ({peers}' in form or form.startswith(('row_number() OVER ({p', 'first_value({c}) OVER (%s)' % part))
            outputs.append('%s AS g%d' % (form.format(c=c.ref, d=d.ref, rows=rows, peers=peers), i))
            columns.append(Column('%s.g%d' % (name, i), column or (c.type, c.literals, c.most, None)))
            columns[-1].restricted = True
        where = ' WHERE ' + self.condition(inner, 1) if self.chance(0.3) else ''
        query = 'SELECT %s FROM %s%s' % (', '.join(outputs), inner.text, where)
        most = inner.rows
        if self.chance(0.2):
            query = 'SELECT DISTINCT ON (%s) %s ORDER BY %s' % (inner.unit, query[len('SELECT '):], ', '.join(
                [inner.unit] + [o.ref for o in inner.columns] + [str(i + 1) for i in range(1, len(outputs))]))
            most = 1
        s = Source('(%s) %s' % (query, name), columns, name + '.person', most)
        s.per_unit, s.sure = True, not ties
        return s

    def join_protected(self):
        a, ta, aa = self.table(('visits', 'people', 'stays', 'logs', 'v_visits'))
        b, tb, ab = self.table(('visits', 'people', 'stays', 'logs', 'samples'))
        on_unit = b.unit and self.chance(0.8)
        if on_unit:
            on = '%s = %s' % (a.unit, b.unit)
            if self.chance(0.2):
                on += ' AND ' + self.condition(b, 1)
            number = next((c.ref for c in b.columns if c.type == 'int' and c.ref != b.unit), None)
            if number and self.chance(0.15):
                on += ' AND %s %s (SELECT %s FROM pub.sites)' % (number, self.rng.choice(['<', '>=', '<>']), self.rng.choice(['min(site)', 'avg(site)', 'max(nullif(site, 4))']))
        else:
            on = self.rng.choice(['%s = %s' % (a.columns[-1].ref, b.columns[-1].ref), 'true',
                                  '%s < %s' % (a.columns[0].ref, b.columns[0].ref)])
        columns = a.columns + b.columns
        shape = self.rng.random()
        kind = self.rng.choice(['JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'])
        text, where = None, []
        if shape < 0.2 and on_unit:
            text = '%s, %s' % (a.text, b.text)
            where, kind = [on], 'JOIN'
        elif shape < 0.35 and on_unit:
            text = '%s %s %s USING (person)' % (a.text, kind, b.text)
        elif shape < 0.4:
            text, kind = '%s NATURAL JOIN %s' % (a.text, b.text), 'NATURAL'
        elif shape < 0.45:
            text, kind = '%s CROSS JOIN %s' % (a.text, b.text), 'CROSS'
        elif shape < 0.5 and on_unit:
            name = self.name('l')
            text = '%s, LATERAL (SELECT * FROM %s WHERE %s) %s' % (a.text, b.text, on, name)
            columns = a.columns + [Column(name + '.' + c.ref.split('.')[1], (c.type, c.literals, c.most, c.keys))
                                   for c in b.columns]
            kind = 'JOIN'
        else:
            text = '%s %s %s ON %s' % (a.text, kind, b.text, on)
        unit = b.unit if on_unit and kind == 'RIGHT JOIN' else a.unit
        s = Source(text, columns, unit, a.rows * b.rows if on_unit else 60)
        s.where = where
        for c in columns:
            c.restrict([on])
        s.sure = bool(on_unit) and kind in ('JOIN', 'LEFT JOIN', 'RIGHT JOIN')
        for c in {'LEFT JOIN': b.columns, 'RIGHT JOIN': a.columns, 'FULL JOIN': columns}.get(kind, []):
            c.restricted = True
        if s.sure and self.chance(0.15):
            # a third one, on the same unit
            c, _, _ = self.table(('people', 'stays', 'logs'))
            s.text += ' JOIN %s ON %s = %s' % (c.text, c.unit, self.rng.choice([a.unit, b.unit]))
            s.columns += c.columns
            s.rows *= c.rows
            s.sure = kind == 'JOIN'
        return s

    def through(self):
        """tables whose rows belong to people through foreign keys, with what they reference or without"""
        (t, _, trip), (l, _, leg), (c, _, scan), (p, _, person) = (
            self.table((n,)) for n in ('trips', 'legs', 'scans', 'people'))
        keys = ['%s.trip = %s.trip' % (trip, leg), '%s.leg = %s.leg' % (scan, leg), '%s = %s' % (p.unit, t.unit)]
        kind = self.rng.choice(['JOIN', 'JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN'])
        r = self.rng.random()
        if r < 0.3:
            s = self.table(('legs', 'legs', 'scans'))[0]
        elif r < 0.4:
            # two of the same parent, or one row twice
            other, _, alias = self.table(('legs',))
            key = self.rng.choice(['trip', 'leg', 'km'])
            s = Source('%s %s %s ON %s.%s %s %s.%s' % (l.text, kind, other.text, leg, key, self.rng.choice(
                ['=', '=', '=', 'IS NOT DISTINCT FROM', '<']), alias, key), l.columns + other.columns, None, 8)
        elif r < 0.5:
            s = Source('%s, %s, %s' % (l.text, c.text, t.text), l.columns + c.columns + t.columns, t.unit, 4)
            s.where = keys[:2] if self.chance(0.9) else keys[:1]
        elif r < 0.6:
            s = Source('%s %s %s ON %s' % (t.text, kind, l.text, keys[0]), t.columns + l.columns, t.unit, 4)
        elif r < 0.7:
            s = Source('%s %s %s ON %s' % (c.text, kind, l.text, self.rng.choice([keys[1], keys[1] + ' AND %s.km > 0' % leg])),
                       c.columns + l.columns, None, 4)
        elif r < 0.85:
            # as tools write them
            s = Source('%s LEFT JOIN %s ON %s LEFT JOIN %s ON %s %s %s ON %s' % (
                c.text, l.text, keys[1], t.text, keys[0], kind, p.text, keys[2]),
                c.columns + l.columns + t.columns + p.columns, None, 4)
        else:
            name = self.name('q')
            by = self.rng.choice(['trip', 'leg', 'trip, km', 'km'])
            s = Source('(SELECT %s, count(*) AS n, sum(km) AS total FROM legs GROUP BY %s) %s' % (by, by, name),
                       [Column('%s.n' % name, ('int', ['1', '2'], 4, None)), Column('%s.total' % name, ('int', ['1', '4'], 16, None))],
                       None, 4)
            # where each row is a group, conditions on counts are asked of released ones
            s.post = 'trip' not in by and 'leg' not in by
            if 'trip' in by and self.chance(0.4):
                s = Source('%s JOIN %s ON %s.trip = %s.trip' % (s.text, t.text, trip, name), s.columns + t.columns, t.unit, 4)
        s.sure = s.exact_text is not None
        for column in s.columns:
            column.restricted = True
        return s

    def join_public(self, among=('visits', 'v_visits', 'samples', 'stays')):
        table = self.rng.choice(list(PUBLIC) + ['VALUES', 'series', 'own.marks'])
        alias = self.name('p')
        a, _, _ = self.table(among)
        key = next((c for c in a.columns if c.ref.endswith('.site' if table == 'pub.sites' else '.dept')), None)
        if table in PUBLIC:
            item = '%s %s' % (table, alias)
            public = [Column('%s.%s' % (alias, n), c) for n, c in PUBLIC[table].items()]
            most = 2 if table == 'pub.depts' else 1
        else:
            item = {'VALUES': "(VALUES (1, 'a'), (2, 'b')) %s (k, w)", 'series': 'generate_series(1, 2) %s (k)',
                    'own.marks': '(SELECT id AS k FROM own.marks WHERE id < 3) %s'}[table] % alias
            public = [Column(alias + '.k', ('int', ['1', '2'], 3, None))]
            most, key = (1, None)
        if key is not None and self.chance(0.9):
            on = '%s = %s' % (key.ref, public[0].ref)
        elif self.chance(0.7):
            number = next((c for c in a.columns if c.type == 'int' and c.ref != a.unit), a.columns[0])
            on = '%s = %s' % (number.ref, public[0].ref) if number.type == public[0].type else 'true'
        else:
            on = 'true'
        most = most if on != 'true' else 20
        kind = self.rng.choice(['JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'])
        if self.chance(0.15):
            text, where, kind = '%s, %s' % (a.text, item), [on], 'JOIN'
        elif self.chance(0.3):
            flipped = {'LEFT JOIN': 'RIGHT JOIN', 'RIGHT JOIN': 'LEFT JOIN'}.get(kind, kind)
            text, where = '%s %s %s ON %s' % (item, flipped, a.text, on), []
        else:
            text, where = '%s %s %s ON %s' % (a.text, kind, item, on), []
        for c in public + (a.columns if kind in ('RIGHT JOIN', 'FULL JOIN') else []):
            c.restricted = True
        for c in public:
            c.public = True
        for c in a.columns:
            c.restrict([on])
        s = Source(text, a.columns + public, a.unit, a.rows * most)
        s.where = where
        s.sure = kind in ('JOIN', 'LEFT JOIN') and a.unit is not None
        if kind == 'JOIN' and table in PUBLIC:
            s.dimension = item, {c.ref: c.ref for c in public}
            if key is not None and on == '%s = %s' % (key.ref, public[0].ref):
                s.dimension[1][key.ref] = public[0].ref
        return s

    def with_dimension(self):
        """an inner join along a key, most groups of which are the public table's, or a left join of its rows"""
        a, _, _ = self.table(('visits', 'v_visits'))
        table, column = self.rng.choice([('pub.sites', '.site'), ('pub.depts', '.dept')])
        alias = self.name('p')
        item = '%s %s' % (table, alias)
        public = [Column('%s.%s' % (alias, n), c) for n, c in PUBLIC[table].items()]
        key = next(c for c in a.columns if c.ref.endswith(column))
        for c in public + [key]:
            c.restricted = True
        for c in public:
            c.public = True
        on = '%s = %s' % (key.ref, public[0].ref)
        kind = self.rng.choice(['JOIN', 'JOIN', 'JOIN', 'LEFT JOIN'])
        s = Source('%s %s %s ON %s' % (item, kind, a.text, on), a.columns + public, a.unit, a.rows * (2 if table == 'pub.depts' else 1))
        s.preferred = public + [key] if kind == 'JOIN' else public
        s.where = [self.condition(Source('', public, None, 1), 1) for _ in range(self.rng.randrange(3))]
        s.sure = kind == 'JOIN'
        if kind == 'JOIN':
            s.dimension = item, dict([(c.ref, c.ref) for c in public] + [(key.ref, public[0].ref)])
        return s

    # ------------------------------------------------------------------
    # Expressions over protected rows
    # ------------------------------------------------------------------

    def in_time(self, source, c):
        """a condition on when something was, and how long"""
        rng = self.rng
        other = rng.choice([o for o in source.columns if o.type == c.type])
        length = rng.choice([o.ref for o in source.columns if o.type == 'int' and o.most < 1000] or ['2'])
        return rng.choice([
            "(%(c)s, %(o)s) OVERLAPS (%(a)s, %(b)s)", "(%(c)s, %(c)s + interval '36 hours') OVERLAPS (%(t)s %(a)s, %(t)s %(b)s)", "NOT (%(t)s %(a)s, %(t)s %(b)s) OVERLAPS (%(o)s, %(c)s)",
            "%(c)s + interval '1 day' * %(n)s > %(a)s", "%(c)s - 1.5 * interval '10 days' <= %(b)s", "extract(year FROM age(%(c)s, '2020-02-29')) > 3",
            "%(c)s > make_date(2024, 3, 1 + abs(%(n)s) %% 20)", "date_bin('7 days', %(c)s::timestamp, '2024-01-01') = '2024-02-05'", "own.later(%(c)s::date, 3) > %(a)s::date"]) % {
                'c': c.ref, 'o': other.ref, 'a': rng.choice(c.literals), 'b': rng.choice(c.literals), 'n': length, 't': c.type}

    def condition(self, source, depth):
        text = self.plain_condition(source, depth)
        return self.rng.choice(SPELLINGS) % text if depth > 0 and self.chance(0.15) else text

    def plain_condition(self, source, depth):
        c = self.rng.choice(source.columns)
        r = self.rng.random()
        if c.type in ('date', 'timestamp', 'timestamptz') and self.chance(0.3):
            return self.in_time(source, c)
        if depth > 0 and r < 0.3:
            return '(%s %s %s)' % (self.condition(source, depth - 1), self.rng.choice(['AND', 'OR']),
                                   self.condition(source, depth - 1))
        if r < 0.37:
            return 'NOT ' + self.condition(source, 0) if depth > 0 else 'true'
        if r < 0.45:
            return '%s IS %sNULL' % (c.ref, self.rng.choice(['', 'NOT ']))
        if r < 0.52 and c.type != 'bool':
            return '%s IN (%s)' % (c.ref, ', '.join(c.literals))
        if r < 0.57 and c.type in ('text', 'citext'):
            return self.rng.choice(["%s LIKE '%%1'", "upper(%s) <> 'X'", "length(%s) > 3", "%s || 'x' > 'b'", "concat(%s, 1, NULL) < 'd'", '%s || 7 > \'a\'', "%s ~ '^(city|name|b).*1'", "%s ~* '^[B-D]\\D*\\d$'"]) % c.ref
        if r < 0.62 and c.type in NUMBERS:
            return self.rng.choice(['%s + 1 > 2', '%s * 2 <= 3', '%s BETWEEN 0 AND 2', '%s::numeric < 2',
                                    'abs(%s) = 1', '10 / nullif(%s, 0) > 3', 'pub.twice(%s) > 2', '%s - 1 BETWEEN 0 AND 1', '3 - %s >= 1', '-%s > -2',
                                    '%s BETWEEN SYMMETRIC 2 AND 0', '%s IS NOT DISTINCT FROM 1', '2 * %s - 1 IN (1, 3)', '2 > %s']) % c.ref
        if r < 0.65 and c.type == 'date':
            return self.rng.choice(['extract(month FROM %s) = 3', "date_trunc('month', %s) > '2024-02-01'", "%s BETWEEN SYMMETRIC '2024-06-01' AND date '2024-03-01'",
                                    '%s + 1 > \'2024-03-01\'', "date '2024-07-01' - %s > 60", "age(timestamp '2024-07-01', %s) < interval '2 months'"]) % c.ref
        if r < 0.7 and c.type in ('timestamp', 'timestamptz'):
            return self.rng.choice(["%s - interval '1 day' >= '2024-03-01'", "%s + interval '1 month' < '2024-07-01'", "%s::time < '12:00'", "%s::date <> '2024-03-01'",
                                    "extract(epoch FROM %s) > 1709251200", "greatest(%s, '2024-02-01') < '2024-05-01'", "%s NOT BETWEEN '2024-02-01' AND '2024-05-01'"]) % c.ref
        if c.type == 'bool':
            return self.rng.choice(['%s', 'NOT %s', '%s IS TRUE', '%s = true']) % c.ref
        return '%s %s %s' % (c.ref, self.rng.choice(['=', '<>', '<', '<=', '>', '>=']), self.rng.choice(c.literals))

    def bad_condition(self, source):
        c = self.rng.choice(source.columns)
        return self.rng.choice([
            "md5(%s::text) < 'a'", '(%s)::text::int > 0', '%s IN (SELECT site::text FROM pub.sites)',
            'EXISTS (SELECT FROM pub.sites WHERE site::text = %s::text)', '1 / (%s::text::numeric) > 0', 'random() > %s',
            '%s::text ~ \'a\'', '(SELECT dp_count(*) FROM visits) > 0 AND %s IS NULL', 'pg_sleep(0) IS NULL AND %s IS NULL',
            "dp_count(%s) > 0", "set_config('dp_cdp.rho', '1', false) > %s::text", 'ROW(%s) IS NULL',
            '%s = ANY (ARRAY(SELECT 1))', "pg_notify('a', %s::text) IS NULL"]) % c.ref

    def key(self, source):
        """
        (expression, declared keys or None, sure, type); of expressions it is
        not known here whether they count as declared
        """
        c = self.rng.choice(source.preferred if source.preferred and self.chance(0.85) else source.columns)
        r = self.rng.random()
        if r < 0.72:
            return c.ref, c.keys, not c.restricted, c.type
        if r < 0.75:
            return self.rng.choice(["'all'::text", 'NULL::int', '1 + 1', "'2024-02-02'::date", 'current_date', '1.5']), None, False, ''
        exact = c.type == 'int' or c.type.startswith('numeric')
        if exact and self.chance(0.7):
            return self.rng.choice(['%s + 1', '%s %% 2', '-%s']) % c.ref, None, False, c.type[:7]
        if exact:
            return self.rng.choice(['CASE WHEN %s > 1 THEN 1 ELSE 0 END', '%s::text']) % c.ref, None, False, 'text'
        if c.type == 'text':
            return self.rng.choice(['upper(%s)', 'left(%s, 3)', "coalesce(%s, 'none')", "%s || 'x'"]) % c.ref, None, False, c.type
        if c.type == 'date':
            return self.rng.choice(['extract(month FROM %s)', "date_trunc('quarter', %s)", '%s + 1']) % c.ref, None, False, ''
        if r < 0.9:
            return '(%s)' % self.condition(source, 0), ['false', 'true', 'NULL::bool'], False, 'bool'
        return c.ref, c.keys, not c.restricted, c.type
