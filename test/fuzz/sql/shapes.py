"""Queries whose groups their own public inputs tell: joins with public tables,
conditions over keys, parameters, lists, released rows, zones.

Each is written three times: as an analyst writes it; as the owner asks the
same rows in plain SQL; and as the owner asks schema y, which has every row
that can be.  The answer must have all rows of the second, and beside them no
group that the third has not.  Conditions that read what is neither a key nor
public are left out of the third: they may tell nothing about groups.
"""
import re

from grammar import tagged
from level import Level

RHO = 1e6                       # noise is hardly ever 1
TEXT, INT, NUM, BOOL, DAY = 'text', 'int', 'numeric', 'boolean', 'date'
SHOPS = {'shop': (INT, ['1', '2', '3']), 'town': (TEXT, ["'north'", "'south'"]), 'size': (INT, ['1', '2']),
         'opened': (DAY, ["'2024-03-30'", "'2024-03-31'", "'2024-04-01'"])}
ITEMS = {'item': (TEXT, ["'nut'", "'bolt'", "'saw'"]), 'kind': (TEXT, ["'small'"]), 'price': (NUM, ['0.5', '1.5', '2.250']),
         'parent': (TEXT, ["'nut'"])}
DATES = {'day': (DAY, ["'2024-03-30'", "'2024-04-01'", "'2024-04-02'"]), 'month': (INT, ['3', '4']), 'name': (TEXT, ["'Mar'", "'Apr'"]),
         'weekend': (BOOL, ['true', 'false'])}
OFFERS = {'shop': (INT, ['1', '2', '3']), 'item': (TEXT, ["'nut'", "'saw'"]), 'note': (TEXT, ["'p'", "'q'", "'r'"])}
PUBLIC = {'pub.shops': SHOPS, 'pub.items': ITEMS, 'pub.dates': DATES, 'pub.offers': OFFERS}
SALES = {'shop': SHOPS['shop'], 'item': ITEMS['item'], 'channel': (TEXT, ["'web'", "'shop'", "'phone'"]), 'grade': (INT, ['1', '2', '3']),
         'cost': (NUM, ['0.5', '1.50']), 'paid': (BOOL, ['true', 'false']), 'day': DATES['day'], 'code': (TEXT, ["'k1'", "'k2'", "'k3'"])}
BUYERS = {'region': (TEXT, ["'east'", "'west'"]), 'home': SHOPS['shop']}
# which columns of a protected table may be those of a public one
JOINS = [('shop', 'pub.shops', 'shop'), ('shop', 'pub.shops', 'shop'), ('item', 'pub.items', 'item'), ('day', 'pub.dates', 'day'),
         ('shop', 'pub.offers', 'shop'), ('item', 'pub.offers', 'item'), ('item', 'pub.items', 'parent'), ('day', 'pub.shops', 'opened'),
         ('cost', 'pub.items', 'price'), ('grade', 'pub.shops', 'size'), ('home', 'pub.shops', 'shop'), ('seen', 'pub.dates', 'day'),
         # values that the column's own key does not have
         ('item', 'pub.items', 'kind'), ('item', 'pub.shops', 'town'), ('shop', 'pub.dates', 'month')]
TIMES = {'hour': ["'2024-03-30 22:00'", "'2024-03-31 01:30'", "'2024-03-31 12:15'"], 'day': ["'2024-03-28'", "'2024-03-30 12:00'", "'2024-04-02'", "'2024-04-04 23:59'"]}
BUCKETS = {'hour': ["date_trunc('hour', {})", "date_trunc('hour', {}) + interval '15 minutes' * floor(extract(minute FROM {}) / 15)", 'floor(extract(epoch FROM {}) / 1800) * 1800', 'to_timestamp(floor(extract(epoch FROM {}) / 7200) * 7200)', "to_char({}, 'YYYY-MM-DD HH24')", "date_bin('2 hours', {}, '2024-01-01 00:30')", 'floor(extract(epoch FROM {}) / 5400)',
                    "date_trunc('hour', {} AT TIME ZONE 'Asia/Kolkata')", "extract(hour FROM {})", "date_trunc('hour', {}) - interval '1 day'"],
           'day': ["date_trunc('day', {})", '{}::date', "date_trunc('week', {} + interval '1 day') + interval '5 days'", 'floor(extract(epoch FROM {}) / 86400) * 86400', "(date_trunc('month', {}) + interval '1 month - 1 day')::date", "to_char({}, 'YYYY-MM-DD')", "to_char({}, 'FMDD.mm.yyyy')", "date_trunc('week', {} + interval '1 day') - interval '1 day'", "date_trunc('month', {})",
                   '{}::date - extract(dow FROM {})::int', "date_trunc('day', {}, 'America/New_York')", "({} AT TIME ZONE 'Asia/Kolkata')::date",
                   "extract(day FROM {})", "CASE WHEN extract(isodow FROM {}) > 5 THEN 'off' ELSE to_char({}, 'Dy') END", "date_trunc('day', {} - interval '6 hours')", "extract(month FROM {}) || '/' || extract(day FROM {})"]}
ZONES = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Kiritimati', 'Europe/Berlin']


def several(table, other):
    """whether two rows of the public table may have one value there"""
    return table == 'pub.offers' or other in ('parent', 'size', 'kind', 'town', 'month')


class Col:
    def __init__(self, ref, of, known=False, nullable=True):
        self.ref, (self.type, self.literals) = ref, of
        self.known = known              # public, or equal to what is
        self.nullable = nullable
        self.made = False               # an expression of other columns


class Shape:
    """what a query reads"""

    def __init__(self):
        self.items = []                 # of FROM: (text before, text) with {t: ...} for conditions
        self.text = ''
        self.columns = []
        self.raw = []                   # columns that nothing is known of
        self.person = None
        self.rows = 2
        self.where = []                 # (text, columns)
        self.header = []
        self.outer = False              # a public side without matches
        self.loose = False              # a subquery's conditions may be left out
        self.unit_of_time = None        # of buckets, of a range that conditions give
        self.by_time = self.by_clock = False
        self.loose_nulls = False        # NULL may be a group where each row has a match
        self.by_cell = False            # a key compares what nothing is known of with constants
        self.by_day = False             # joined by the day of a time, of which other keys may be
        self.told = []                  # columns that conditions of operands read
        self.fragile = False            # released rows, whose order noise decides where they are equal


class Shapes:
    def __init__(self, rng, schema):
        self.rng, self.schema, self.serial = rng, schema, 0
        self.parameters = []            # (type, value)
        self.tags = set()

    def chance(self, p):
        return self.rng.random() < p

    def name(self, prefix):
        self.serial += 1
        return '%s%d' % (prefix, self.serial)

    # ------------------------------------------------------------------
    # Literals and conditions
    # ------------------------------------------------------------------

    def lit(self, col, value=None):
        value = value or self.rng.choice(col.literals)
        if not self.with_parameters or not self.chance(0.4):
            return value if self.chance(0.9) or col.type == NUM else '%s::%s' % (value, col.type)
        self.parameters.append((col.type, value if self.chance(0.95) else 'NULL'))
        return '{p%d}' % (len(self.parameters) - 1)

    def simple(self, c):
        """a condition on one column"""
        rng, ref = self.rng, c.ref
        r = rng.random()
        if c.type == BOOL and r < 0.5:
            return rng.choice(['%s', 'NOT %s', '%s IS TRUE', '%s IS NOT FALSE', '%s IS UNKNOWN', 'coalesce(%s, false)', '(%s) = true']) % ref
        if r < 0.3:
            return '%s %s %s' % (ref, rng.choice(['=', '=', '<>']), self.lit(c))
        if r < 0.42:
            return '%s %s %s' % (ref, rng.choice(['<', '<=', '>', '>=']), self.lit(c))
        if r < 0.54:
            return '%s %s (%s)' % (ref, rng.choice(['IN', 'NOT IN']), ', '.join(self.lit(c) for _ in range(rng.randrange(1, 4))))
        if r < 0.6:
            return '%s %s (ARRAY[%s]::%s[])' % (ref, rng.choice(['= ANY', '<> ALL', '= ALL', '< ANY']),
                                                ', '.join(rng.sample(c.literals, rng.randrange(1, len(c.literals) + 1)) + (['NULL'] if self.chance(0.2) else [])), c.type)
        if r < 0.68:
            return '%s IS %sNULL' % (ref, rng.choice(['', 'NOT ']))
        if r < 0.76:
            return '%s IS %sDISTINCT FROM %s' % (ref, rng.choice(['', 'NOT ']), rng.choice([self.lit(c), 'NULL']))
        if r < 0.82:
            return '%s %sBETWEEN %s AND %s' % (ref, rng.choice(['', 'NOT ']), self.lit(c), self.lit(c))
        if r < 0.88:
            return 'coalesce(%s, %s) = %s' % (ref, self.lit(c), self.lit(c))
        if r < 0.93:
            return 'CASE WHEN %s = %s THEN %s ELSE %s END' % (ref, self.lit(c), rng.choice(['true', 'false', 'NULL']), rng.choice(['true', '%s IS NULL' % ref]))
        if c.type == TEXT:
            return rng.choice(["%s LIKE '%%%%o%%%%'", "upper(%s) > 'N'", 'length(%s) > 3', "%s || 'x' <> 'webx'", "left(%s, 1) = 's'", "%s NOT LIKE 'n%%%%'", "%s ~ '^[n-s]\\w+h'", "%s !~* 'O(U|R)'", "regexp_replace(%s, '([aeiou])[^o]', '\\1', 'g') < 'so'", "substring(%s FROM '^.(.*)[ht]') > 'o'"]) % ref
        if c.type in (INT, NUM):
            return rng.choice(['%s + 1 > 2', '%s * 2 = 2', '-%s < -1', 'abs(%s) <> 2', '%s::numeric > 1.2', 'nullif(%s, 1) IS NULL', "%s::text = '1'"]) % ref
        if c.type == DAY:
            return rng.choice(["%s::text = '2024-04-01'", "left(%s::text, 7) = '2024-04'", "%s::text NOT LIKE '2024-03%%%%'", 'extract(day FROM %s) < 3', "%s + 1 > '2024-04-01'", "date_trunc('month', %s) = '2024-04-01'", "%s - '2024-03-30' < 2"]) % ref
        return '%s IS NOT NULL' % ref

    def condition(self, columns, depth=2):
        """(text, columns that it reads)"""
        rng = self.rng
        r = rng.random()
        if depth and r < 0.34:
            a, b = self.condition(columns, depth - 1), self.condition(columns, depth - 1)
            return '(%s %s %s)' % (a[0], rng.choice(['AND', 'OR', 'OR']), b[0]), a[1] + b[1]
        if depth and r < 0.42:
            a = self.condition(columns, depth - 1)
            return 'NOT (%s)' % a[0], a[1]
        c = rng.choice(columns)
        others = [o for o in columns if o.type == c.type and o.ref != c.ref]
        if others and r < 0.52:
            o = rng.choice(others)
            return '%s %s %s' % (c.ref, rng.choice(['=', '=', '<>', '<', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM']), o.ref), [c, o]
        if len(columns) > 1 and r < 0.6:
            a, b = rng.sample(columns, 2)
            pairs = ['(%s, %s)' % (self.lit(a), self.lit(b)) for _ in range(rng.randrange(1, 3))]
            return '(%s, %s) %s' % (a.ref, b.ref, rng.choice(['IN (%s)' % ', '.join(pairs), '= ' + pairs[0], '<> ' + pairs[0]])), [a, b]
        return self.simple(c), [c]

    def sublink(self, columns):
        """a condition on public rows; (text, columns that it reads)"""
        rng, z = self.rng, self.name('z')
        pairs = [(c, table, key) for table, key in [('pub.shops', 'shop'), ('pub.items', 'item'), ('pub.dates', 'day'), ('pub.offers', 'shop'), ('pub.shops', 'size')]
                 for c in columns if c.type == PUBLIC[table][key][0] and c.ref.split('.')[-1] in ('shop', 'item', 'day', 'home', 'grade')]
        if not pairs:
            return None
        c, table, key = rng.choice(pairs)
        read = [c]
        inner = self.condition([Col('%s.%s' % (z, n), of) for n, of in PUBLIC[table].items()], 1)[0]
        forms = ['EXISTS (SELECT FROM {t} {z} WHERE {z}.{k} = {c} AND {i})', 'NOT EXISTS (SELECT FROM {t} {z} WHERE {i} AND {c} = {z}.{k})',
                 'NOT EXISTS (SELECT FROM {t} {z} WHERE {i} AND {c} > {z}.{k})', '{c} IN (SELECT {z}.{k} FROM {t} {z} WHERE {i})',
                 "({c} IS NULL OR EXISTS (SELECT FROM {t} {z} WHERE {z}.{k} = {c} AND {i}))"]
        forms.append('{c} NOT IN (SELECT {z}.{k} FROM {t} {z} WHERE {i}%s)' % ('' if key not in ('size',) and table != 'pub.offers' else ' AND {z}.{k} IS NOT NULL'))
        if self.chance(0.3):
            more = self.condition(columns, 1)
            inner, read = '%s AND %s' % (inner, more[0]), read + more[1]
        return rng.choice(forms).format(t=table, z=z, k=key, c=c.ref, i=inner), read

    # ------------------------------------------------------------------
    # FROM
    # ------------------------------------------------------------------

    def base(self):
        rng = self.rng
        s = Shape()
        r = rng.random()
        table = 'sales' if r < 0.5 else 'buyers' if r < 0.56 else 'both' if r < 0.72 else 'v_sales' if r < 0.78 else 'v_paid' if r < 0.82 else 'sub'
        if table == 'sub':
            return self.subquery() if self.chance(0.7) else self.union()
        if table == 'both':
            a, b = self.name('s'), self.name('b')
            kind = rng.choice(['JOIN', 'JOIN', 'LEFT JOIN'])
            s.text = rng.choice(['sales {a} {k} buyers {b} ON {b}.person = {a}.person', 'sales {a} {k} buyers {b} USING (person)',
                                 'buyers {b} JOIN sales {a} ON {a}.person = {b}.person', 'sales {a} CROSS JOIN buyers {b}']).format(a=a, b=b, k=kind)
            if 'CROSS' in s.text:
                s.where.append(('%s.person = %s.person' % (a, b), None))
            s.columns = [Col('%s.%s' % (a, n), c) for n, c in SALES.items()] + [Col('%s.%s' % (b, n), c) for n, c in BUYERS.items()]
        else:
            a = self.name('s')
            s.text = '%s %s' % (table, a)
            s.columns = [Col('%s.%s' % (a, n), c) for n, c in (BUYERS if table == 'buyers' else SALES).items()]
            if table == 'v_sales':
                s.columns += [Col('%s.%s' % (a, n), SHOPS[n], True) for n in ('town', 'size')]
                next(c for c in s.columns if c.ref == a + '.shop').known = True
        s.person = a + '.person'
        s.raw = [Col(a + '.age', (INT, ['20', '40']))] if table == 'buyers' else [Col(a + '.n', (INT, ['0', '1', '2']))]
        s.seen = None if table == 'buyers' else a + '.seen'
        s.coin = None if table == 'buyers' else a + '.coin'
        return s

    def union(self):
        """operands with conditions and constants of their own"""
        rng, name = self.rng, self.name('q')
        names = rng.sample(sorted(SALES), rng.randrange(2, 4))
        s = Shape()
        operands = []
        for mark in 'uvw'[:rng.choice([2, 2, 3])]:
            a = self.name('s')
            where = ''
            if self.chance(0.7):
                text, read = self.condition([Col('%s.%s' % (a, n), SALES[n]) for n in names], 1)
                where = ' WHERE ' + text
                s.told += [name + c.ref[len(a):] for c in read]
            operands.append("SELECT %s.person, %s, '%s' AS o, %s.n FROM sales %s%s" % (a, ', '.join('%s.%s' % (a, n) for n in names), mark, a, a, where))
        s.columns = [Col('%s.%s' % (name, n), SALES[n]) for n in names] + [Col(name + '.o', (TEXT, ["'u'", "'v'"]))]
        s.raw = [Col(name + '.n', (INT, ['0', '1', '2']))]
        s.seen = s.coin = None
        s.person, s.rows = name + '.person', 2 * len(operands)
        text = ' UNION ALL '.join(operands)
        if self.chance(0.3):
            s.header, s.text = ['%s AS (%s)' % (name, text)], name
        else:
            s.text = '(%s) %s' % (text, name)
        return s

    def subquery(self):
        """one that filters, or one row for each unit and key"""
        rng = self.rng
        inner = self.base()
        if self.chance(0.5):
            inner = self.join(inner)
        name = self.name('q')
        keep = rng.sample(inner.columns, min(len(inner.columns), rng.randrange(2, 5)))
        by_unit = self.chance(0.35)
        where = list(inner.where)
        if self.chance(0.4):
            where.append(self.condition(keep, 1))
        s = Shape()
        s.header, s.by_day, s.loose_nulls = inner.header, inner.by_day, inner.loose_nulls
        outputs = ['%s AS person' % inner.person]
        for i, c in enumerate(keep):
            expr = c.ref
            # values that are the subquery's own
            if c.type == TEXT and self.chance(0.1):
                s.loose = True
                expr = rng.choice(["coalesce(%s, 'none')", 'upper(%s)', "CASE WHEN %s = 'web' THEN 'x' END"]) % c.ref
            outputs.append('%s AS d%d' % (expr, i))
            s.columns.append(Col('%s.d%d' % (name, i), (c.type, c.literals), c.known))
        s.seen = s.coin = None
        if by_unit:
            # y has one row of each person, which is the least and the greatest
            made = 'count(*)' if self.chance(0.5) else '%s(%s)' % (rng.choice(['min', 'max']), inner.raw[0].ref)
            outputs.append('%s AS n' % made)
            s.raw = [Col(name + '.n', (INT, ['1', '2'] if made == 'count(*)' else inner.raw[0].literals))]
        else:
            s.raw = [Col(name + '.' + inner.raw[0].ref.split('.')[1], (INT, inner.raw[0].literals))]
            outputs.append('%s AS %s' % (inner.raw[0].ref, inner.raw[0].ref.split('.')[1]))
            if inner.seen:
                outputs.append('%s AS seen' % inner.seen)
                s.seen = name + '.seen'
            if inner.coin:
                outputs.append('%s AS coin' % inner.coin)
                s.coin = name + '.coin'
        text = 'SELECT %s FROM %s' % (', '.join(outputs), inner.text)
        # what the subquery's conditions read that is no key stays in: y has all rows
        if where:
            text += ' WHERE ' + ' AND '.join(w[0] for w in where)
        if by_unit:
            text += ' GROUP BY ' + ', '.join([inner.person] + [c.ref if o.startswith(c.ref) else str(i + 2) for i, (c, o) in enumerate(zip(keep, outputs[1:]))])
            if self.chance(0.3):
                text += ' HAVING count(*) > 0'
            elif made != 'count(*)' and self.chance(0.2):
                text += ' HAVING %s > 0' % made
        s.rows = inner.rows
        s.person = name + '.person'
        s.loose |= inner.loose or inner.told != [] or any(c.made for c in keep) or any(w[1] and not all(c.known for c in w[1]) for w in where)
        if self.chance(0.4):
            s.header = s.header + ['%s AS %s(%s)' % (name, rng.choice(['', '', 'MATERIALIZED ']), text)]
            s.text = name
        else:
            s.text = '(%s) %s' % (text, name)
        return s

    def public(self, table):
        """an entry of a public table: text, its name, its columns, how many of them are joined"""
        rng = self.rng
        name = self.name('p')
        columns = PUBLIC[table]
        r = rng.random()
        if r < 0.6:
            return '%s %s' % (table, name), name, columns, None
        where = ''
        if self.chance(0.7):
            where = ' WHERE ' + self.condition([Col(n, c) for n, c in columns.items()], 1)[0]
        text = 'SELECT %s FROM %s%s' % (rng.choice(['*', ', '.join(columns)]), table, where)
        if r < 0.8:
            return '(%s) %s' % (text, name), name, columns, None
        return name, name, columns, '%s AS (%s)' % (name, text)

    def join(self, s):
        """a public table, a list, or released rows, on the right"""
        rng = self.rng
        r = rng.random()
        fits = [j for j in JOINS if any(c.ref.endswith('.' + j[0]) for c in s.columns) or j[0] == 'seen' and s.seen]
        if r < 0.1:
            return self.released(s)
        if r < 0.18:
            return self.values(s)
        if r < 0.3 and self.person_of(s):
            return self.lateral(s)
        if not fits or r < 0.36:
            return self.theta(s)
        column, table, other = rng.choice(fits)
        text, name, columns, header = self.public(table)
        if header:
            s.header = s.header + [header]
        key = None if column == 'seen' else next(c for c in s.columns if c.ref.endswith('.' + column))
        ref = s.seen + '::date' if key is None else key.ref
        on, flip = ref, self.chance(0.3)
        on = '%s.%s = %s' % (name, other, on) if flip else '%s = %s.%s' % (on, name, other)
        if self.chance(0.1):
            on = '%s IS NOT DISTINCT FROM %s.%s' % (ref, name, other)
            s.loose = True
        public = [Col('%s.%s' % (name, n), c, True) for n, c in columns.items()]
        kind = rng.choice(['JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT', 'FULL'])
        if several(table, other):
            s.rows *= 2
        more = ''
        if self.chance(0.35):
            # of a LEFT JOIN, what nothing is known of may hold or not
            if kind == 'LEFT JOIN' and s.coin and self.chance(0.4):
                more = ' AND {u:%s:%s}' % (self.simple(rng.choice(s.raw)), s.coin)
            else:
                more = ' AND ' + self.condition(public + ([key] if key is not None and kind == 'JOIN' else []), 1)[0]
        if kind == 'JOIN' and key is not None and 'DISTINCT' not in on:
            key.known = True
        alone = re.fullmatch(r'\w+ \w+', s.text)
        if kind == 'RIGHT':
            s.text = ('%s RIGHT JOIN %s ON %s%s' % (text, s.text, on, more) if alone
                      else '%s LEFT JOIN %s ON %s%s' % (s.text, text, on, more))
        elif kind == 'FULL' and alone and not s.where:
            # rows of the public side without a match are groups without rows
            s.text = '%s LEFT JOIN %s ON %s%s' % (text, s.text, on, more)
            s.outer = True
            s.columns = public
            s.seen = None
            return s
        elif kind == 'JOIN' and self.chance(0.2):
            s.text = ('%s, %s' % (text, s.text)) if alone else '%s CROSS JOIN %s' % (s.text, text)
            s.where.append((on, None))
            if more:
                s.where.append((more[5:], None))
        else:
            s.text = '%s %s %s ON %s%s' % (s.text, 'LEFT JOIN' if kind == 'FULL' else kind, text, on, more)
        s.columns = s.columns + public
        s.by_day |= column == 'seen'
        # that rows which are computed beforehand are all of a table is not known
        s.loose_nulls |= kind != 'JOIN' and (not text.startswith(table) or more != '')
        return s

    def theta(self, s):
        """a join on no equality"""
        text, name, columns, header = self.public(self.rng.choice(['pub.shops', 'pub.items', 'pub.dates']))
        if header:
            s.header = s.header + [header]
        public = [Col('%s.%s' % (name, n), c, True) for n, c in columns.items()]
        s.rows *= 4
        a, b = self.rng.choice([(a, b) for a in s.columns for b in public if a.type == b.type] or [(s.columns[0], public[0])])
        on = '%s %s %s' % (a.ref, self.rng.choice(['<=', '<>', '>']), b.ref) if a.type == b.type else 'true'
        s.text = '%s JOIN %s ON true' % (s.text, text)
        s.where.append((on, [a, b]))
        s.columns = s.columns + public
        return s

    def values(self, s):
        rng = self.rng
        name = self.name('v')
        c = rng.choice(s.columns)
        rows = rng.sample(c.literals, rng.randrange(1, len(c.literals) + 1))
        text = "(VALUES %s) %s (a, b)" % (', '.join("(%s::%s, '%s')" % (v, c.type, 'uvw'[i]) for i, v in enumerate(rows)), name)
        kind = rng.choice(['JOIN', 'JOIN', 'LEFT JOIN'])
        s.text = '%s %s %s ON %s = %s.a' % (s.text, kind, text, c.ref, name)
        if kind == 'JOIN':
            c.known = True
        # that a list has all values there are, so that each row has a match, is not known
        s.loose_nulls |= kind != 'JOIN' and len(rows) == len(c.literals)
        s.columns = s.columns + [Col(name + '.a', (c.type, c.literals), True), Col(name + '.b', (TEXT, ["'u'", "'v'"]), True)]
        return s

    @staticmethod
    def person_of(s):
        """whether a row is always somebody's"""
        return s.person and not s.outer

    def lateral(self, s):
        """expressions of the row, rows of the same person, or public ones"""
        rng, name, z = self.rng, self.name('l'), self.name('z')
        c, d = rng.choice(s.columns), rng.choice(s.columns)
        kind = rng.choice(['row', 'row', 'buyer', 'buyer', 'first', 'rows', 'distinct', 'groups', 'count', 'public', 'public', 'first public', 'released'])
        shown, rest, join = [], '', rng.choice(['CROSS JOIN LATERAL %s', 'JOIN LATERAL %s ON true', 'LEFT JOIN LATERAL %s ON true'])
        if kind == 'row':
            shown = [(c.ref, c), ('coalesce(%s, %s)' % (d.ref, self.lit(d, d.literals[-1])), d)]
        elif kind == 'released' and c.ref.split('.')[1] in SALES and c.type != NUM:
            column = c.ref.split('.')[1]
            shown = [('%s.k' % z, c)]
            rest = ' FROM (SELECT %s AS k, count(*) AS n FROM {s}.sales GROUP BY 1) %s WHERE %s.k = %s' % (column, z, z, c.ref)
            s.fragile = s.loose = True
        elif kind in ('buyer', 'released') or not self.chance(0.7) and kind != 'count' and 'public' not in kind:
            # one row of each person, of whom there is always one; y has all of them
            shown = [('%s.%s' % (z, n), Col('', of)) for n, of in rng.sample(sorted(BUYERS.items()), rng.randrange(1, 3))]
            first = self.chance(0.3)
            # that two references are to one row is not known, nor that there always is one
            s.loose |= join.startswith('LEFT') or any('buyers ' in text for text in [s.text] + s.header)
            rest = ' FROM buyers %s WHERE %s.person = %s' % (z, z, s.person) + (' ORDER BY 1, %s.home LIMIT 1' % z) * first
        elif 'public' in kind:
            column, table, other = rng.choice([j for j in JOINS if any(c.ref.endswith('.' + j[0]) for c in s.columns)] or [('grade', 'pub.shops', 'size')])
            key = next((c for c in s.columns if c.ref.endswith('.' + column)), None)
            shown = [('%s.%s' % (z, n), Col('', of)) for n, of in rng.sample(sorted(PUBLIC[table].items()), rng.randrange(1, 3))]
            rest = ' FROM %s %s WHERE %s' % (table, z, '%s.%s = %s' % (z, other, key.ref) if key else 'true')
            if self.chance(0.3):
                rest += ' AND ' + self.condition([Col('%s.%s' % (z, n), of) for n, of in PUBLIC[table].items()], 1)[0]
            s.rows *= 1 if key or kind == 'first public' else 5
            if kind == 'first public':
                rest += ' ORDER BY %s LIMIT 1' % ', '.join('%s.%s' % (z, n) for n in rng.sample(sorted(PUBLIC[table]), len(PUBLIC[table])))
                # which of several is the first is not told by the shape
                s.loose = True
            elif several(table, other):
                s.rows *= 2
            s.loose_nulls = True
        else:
            # y has one row of each person
            s.loose = True
            columns = {n: of for n, of in SALES.items() if n not in ('cost',)}
            shown = [('%s.%s' % (z, n), Col('', of)) for n, of in rng.sample(sorted(columns.items()), rng.randrange(1, 3))]
            where = ['%s.person = %s' % (z, s.person)]
            if self.chance(0.4):
                where.append(self.simple(rng.choice([Col('%s.%s' % (z, n), of) for n, of in columns.items()])))
            rest = ' FROM sales %s WHERE %s' % (z, ' AND '.join(where))
            if kind == 'count':
                shown = [(rng.choice(['count(*)', 'count(%s)', 'coalesce(max(%s), 1)', 'max(%s)']).replace('%s', z + '.grade'), Col('', (INT, ['0', '1', '2'])))]
            elif kind == 'first':
                rest += ' ORDER BY %s LIMIT 1' % ', '.join('%s.%s%s' % (z, n, rng.choice(['', ' DESC'])) for n in rng.sample(sorted(SALES) + ['seen', 'n', 'coin'], len(SALES) + 3))
            elif kind == 'groups':
                rest += ' GROUP BY ' + ', '.join(e for e, _ in shown)
                s.rows *= 2
            else:
                shown = [('DISTINCT ' * (kind == 'distinct' and i == 0) + e, of) for i, (e, of) in enumerate(shown)]
                s.rows *= 2
        s.text = '%s %s' % (s.text, join % '(SELECT %s%s) %s' % (', '.join('%s AS d%d' % (e, i) for i, (e, _) in enumerate(shown)), rest, name))
        s.columns = s.columns + [Col('%s.d%d' % (name, i), (of.type, of.literals), of.known and kind == 'row') for i, (_, of) in enumerate(shown)]
        s.columns[-1].made = kind == 'row'
        return s

    def released(self, s):
        """the first of released rows"""
        rng = self.rng
        name = self.name('t')
        c = rng.choice(s.columns)
        column = c.ref.split('.')[1]
        if column not in SALES:
            return self.theta(s)
        # where noise decides which are the first, it decides what comes of them
        order = rng.choice(['1', '1 DESC'] + ['n DESC, 1', 'n, 1 DESC'] * (self.schema == 'x'))
        text = "(SELECT %s AS k, count(*) AS n FROM {s}.sales%s GROUP BY 1 ORDER BY %s LIMIT %d) %s" % (
            column, ' WHERE %s' % self.simple(Col(column, SALES[column])) if self.chance(0.3) else '', order, rng.randrange(1, 3), name)
        on = '%s = %s.k' if self.chance(0.7) else '%s IS NOT DISTINCT FROM %s.k'
        kind = rng.choice(['JOIN', 'JOIN', 'JOIN', 'LEFT JOIN'])
        s.text = '%s %s %s ON %s' % (s.text, kind, text, on % (c.ref, name))
        if kind == 'JOIN' and ' = ' in on:
            c.known = True
        s.columns = s.columns + [Col(name + '.k', (c.type, c.literals), True)]
        # that two lists of released rows have nothing in common is not known
        s.loose |= s.fragile
        s.fragile = True
        return s

    # ------------------------------------------------------------------
    # Keys
    # ------------------------------------------------------------------

    def key(self, s):
        """(expression, columns)"""
        rng = self.rng
        c = rng.choice(s.columns)
        r = rng.random()
        if s.seen and s.unit_of_time and r < 0.5:
            s.by_time = True
            return rng.choice(BUCKETS[s.unit_of_time]).replace('{}', s.seen), [Col(s.seen, (INT, []))]
        if s.seen and r < 0.06:
            # on a day on which the clock is set, y has not all hours
            s.loose |= s.by_clock
            s.by_clock = True
            return rng.choice(['extract(hour FROM %s)', 'extract(dow FROM %s)', "date_part('isodow', %s)", 'extract(dow FROM %s)::int']) % s.seen, [Col(s.seen, (INT, []))]
        if r < 0.66:
            return c.ref, [c]
        if r < 0.72:
            return 'coalesce(%s, %s)' % (c.ref, self.lit(c, c.literals[-1])), [c]
        if r < 0.78:
            return rng.choice(['%s IS NULL', '%s = {0}', 'CASE WHEN %s = {0} THEN 1 ELSE 2 END', 'CASE %s WHEN {0} THEN NULL ELSE true END']).format(
                rng.choice(c.literals)) % c.ref, [c]
        if c.type == TEXT:
            o = rng.choice([o for o in s.columns if o.type == TEXT])
            return rng.choice([("upper(%s)" % c.ref, [c]), ('left(%s, 1)' % c.ref, [c]), ("%s || '/' || %s" % (c.ref, o.ref), [c, o]),
                               ('nullif(%s, %s)' % (c.ref, rng.choice(c.literals)), [c]), ('coalesce(%s, %s)' % (c.ref, o.ref), [c, o]),
                               ('concat(%s, %s)' % (c.ref, o.ref), [c, o])])
        if c.type in (INT, NUM):
            return rng.choice(['%s + 1', '-%s', 'greatest(%s, 2)', '%s::int', 'width_bucket(%s, 1, 3, 2)']) % c.ref, [c]
        if c.type == DAY:
            return rng.choice(['extract(month FROM %s)', '%s + 1', "date_trunc('month', %s)", "to_char(%s, 'Mon')", "to_char(%s, 'FMMonth')"]) % c.ref, [c]
        return 'NOT %s' % c.ref, [c]

    def compared(self, s, ref, literals):
        """a comparison of an undeclared column with constants"""
        rng = self.rng
        if literals is None:
            return rng.choice(['%s', 'NOT %s', '%s IS TRUE', '%s IS NOT FALSE', '%s IS NULL', '%s = false', '%s <> true']) % ref
        if literals[0].startswith("'"):
            return rng.choice(['%s < %s', '%s >= %s', '%s < %s::timestamp', '%s >= %s::date']) % (ref, self.lit(Col(ref, ('timestamptz', literals))))
        c = Col(ref, (INT, literals))
        r = rng.random()
        if r < 0.5:
            return '%s %s %s' % (ref, rng.choice(['<', '<=', '>', '>=', '=', '<>', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM']), self.lit(c))
        if r < 0.6:
            return '%s %sBETWEEN %s AND %s' % (ref, rng.choice(['', 'NOT ']), self.lit(c), self.lit(c))
        if r < 0.75:
            return '%s %s (%s)' % (ref, rng.choice(['IN', 'NOT IN']), ', '.join([self.lit(c) for _ in range(rng.randrange(1, 4))] + ['NULL'] * self.chance(0.1)))
        if r < 0.85:
            return '%s IS %sNULL' % (ref, rng.choice(['', 'NOT ']))
        return rng.choice(['%s::numeric < %s.5', '%s::bigint >= %s', '%s::numeric = %s.5', '%s > %s', '%s < ANY (ARRAY[%s, 2])', '%s > ALL (ARRAY[0, %s])']) % (ref, rng.choice(literals))

    def undeclared(self, s):
        """(column, literals) of which nothing is known; None: there is none"""
        raw = [(c.ref, c.literals) for c in s.raw if c.ref.endswith(('.n', '.age')) and 'count(*) AS n' not in s.text + ' '.join(s.header)]
        return self.rng.choice(raw + ([(s.coin, None)] if s.coin else []) + ([(s.seen, TIMES['day'])] if s.seen and not s.unit_of_time else []) or [None])

    def cells(self, s, of):
        """a key that is known by the constants that it compares an undeclared column with"""
        rng = self.rng
        s.by_cell = True
        form = rng.choice(['CASE WHEN {} THEN 0 WHEN {} THEN 1 ELSE 2 END', "CASE WHEN {} THEN 'low' WHEN {} THEN 'high' END", '{}', 'coalesce({}, false)', '({}) IS TRUE',
                           "CASE WHEN {} OR {} THEN 'a' ELSE 'b' END", "CASE WHEN NOT ({} AND {}) THEN 'a' WHEN {} THEN 'b' ELSE 'c' END", '({}) = ({})', 'NOT ({})',
                           'CASE WHEN ({}) IS NULL THEN 0 WHEN {} THEN 1 END', 'CASE WHEN {} THEN 1 ELSE 0 END + CASE WHEN {} THEN 1 ELSE 0 END'])
        while '{}' in form:
            form = form.replace('{}', self.compared(s, *of), 1)
        if of[1] and of[1][0].isdigit() and self.chance(0.15):
            form = "CASE %s WHEN %s THEN 'a' WHEN %s THEN 'b'%s END" % (of[0], rng.choice(of[1]), rng.choice(of[1]), rng.choice(['', " ELSE 'c'"]))
        return form, [Col(' ' + of[0], (INT, []))]

    def add_range(self, s):
        """conditions between which moments a time is"""
        rng = self.rng
        s.unit_of_time = rng.choice(['hour', 'day'])
        a, b = sorted(rng.sample(TIMES[s.unit_of_time], 2))
        col = Col(s.seen, ('timestamptz', [a, b]))
        form = rng.choice(['{0} >= {1} AND {0} < {2}', '{0} BETWEEN {1} AND {2}', '{1} < {0} AND {0} <= {2}', '{0}::date >= {1} AND {0} <= {2}',
                           '{0} > {1} AND {0}::date <= {2}', "date_trunc('day', {0}) BETWEEN {1} AND {2}", '{0}::date = {1}'])
        if '::date' in form:
            a, b = a[:11] + "'", b[:11] + "'"
            col = Col(s.seen, ('date', [a, b]))
        s.where.append((form.format(s.seen, self.lit(col, a), self.lit(col, b)), [col]))
        # of the last moment alone there are not all rows
        s.loose |= s.by_day or '<= {2}' in form and '::date <=' not in form or form.startswith('{0} BETWEEN')
        if self.chance(0.3):
            s.where.append((rng.choice(['extract(isodow FROM {}) < 6', 'extract(hour FROM {}) BETWEEN 6 AND 20', "{}::date <> '2024-03-31'", "date_trunc('hour', {}) < '2024-03-31 06:00'"]).format(s.seen), [col]))

    # ------------------------------------------------------------------
    # The query
    # ------------------------------------------------------------------

    def shape(self):
        rng = self.rng
        self.parameters = []
        self.with_parameters = self.chance(0.3)
        s = self.base()
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2])):
            if not s.outer:
                s = self.join(s)
        if s.seen and not s.outer and self.chance(0.3):
            self.add_range(s)
        keys = []
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
            k = self.key(s)
            if k[0] not in [x[0] for x in keys]:
                keys.append(k)
        of = self.undeclared(s) if not s.outer and self.chance(0.3) else None
        if of:
            for _ in range(rng.choice([1, 1, 2])):
                keys.append(self.cells(s, of))
            # a bucket and a comparison of one time are told each by itself
            s.loose |= of[0] == s.seen and (s.by_day or s.by_clock)
            if len({k[0] for k in keys}) < len(keys):
                keys = list({k[0]: k for k in keys}.values())
            if self.chance(0.4):
                s.where.append((self.compared(s, *of), None))
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            mixed = s.columns + (s.raw if self.chance(0.15) and not s.outer else [])
            focus = [c for k in keys for c in k[1] if c.literals] if self.chance(0.6) else mixed
            s.where.append((self.sublink(focus or mixed) if self.chance(0.15) and not s.outer else None) or self.condition(focus or mixed, 2))
        return self.written(s, keys)

    def written(self, s, keys):
        rng = self.rng
        s.loose |= not set(s.told) <= {c.ref for k in keys for c in k[1]}
        known = {c.ref for k in keys for c in k[1]} | {c.ref for c in s.columns if c.known}
        told = [w for w in s.where if w[1] is None or all(c.ref in known for c in w[1])]
        out = Level()
        out.sure, out.near_miss, out.single = False, False, True
        out.rows, out.kept = s.rows, s.rows
        count = 'count(%s)' % s.person if s.outer else 'count(*)'
        aggregate = rng.choice([count, count, count, 'count(DISTINCT %s)' % s.person])
        if self.chance(0.1):
            aggregate += ' FILTER (WHERE %s)' % self.condition(s.columns, 1)[0]
        texts = [k[0] for k in keys]
        grouped = ', '.join(texts)
        extra = []
        # a cast of an integer to itself is the same key, and a set with it the same as one without
        if len(keys) > 1 and len({t.replace('::int', '') for t in texts}) == len(texts) and self.chance(0.1):
            grouped = rng.choice(['ROLLUP (%s)', 'CUBE (%s)', 'GROUPING SETS ((%s), ())']) % grouped
            extra = ['grouping(%s)' % ', '.join(texts)]
        having = ' HAVING %s > 1.5' % count if self.chance(0.06) else ''
        out.plain = not having and not s.fragile
        distinct = self.chance(0.06) and not extra and not having and not s.outer
        header = 'WITH %s ' % ', '.join(s.header) if s.header else ''

        def query(outputs, where, grouping):
            return '%sSELECT %s FROM %s%s%s' % (header, outputs, s.text, ' WHERE ' + ' AND '.join(w[0] for w in where) if where else '', grouping)
        if extra:
            # in a set of some keys the others are columns like any
            told = [w for w in s.where if w[1] is None or all(c.known for c in w[1])]
            # a column that equals a public one has its values, which y need not have
            s.loose |= any(w not in told and any(c.known for c in w[1]) for w in s.where)
        names = ', '.join('%s AS c%d' % (t, i) for i, t in enumerate(texts + extra))
        group = ' GROUP BY ' + grouped
        n = len(texts) + len(extra)
        if distinct:
            private = query('DISTINCT ' + names, s.where, '')
            exact = query('%s, count(DISTINCT %s) AS u' % (names, s.person), s.where, group)
        else:
            private = query('%s, %s AS n' % (names, aggregate), s.where, group + having)
            exact = query('%s, %s AS n, count(DISTINCT %s) AS u' % (names, aggregate, s.person), s.where, group + having)
        # rows of all that can be are some two for each half hour, shop and value of another column
        fine = len(texts) > 1 and any('/ 1800)' in t or '/ 15)' in t for t in texts)
        possible = '' if s.loose or fine or s.by_day and any('.seen' in t for t in texts) or s.by_time and (s.rows > 2 or len(keys) > 2) or s.by_cell and (s.rows > 2 or len(keys) > 3 or extra) or s.loose_nulls and any(k[0] != k[1][0].ref for k in keys) else query(names, told, group)
        self.finish(out, private, exact, possible)
        out.fragile, out.distinct, out.loose_nulls = s.fragile, distinct, s.loose_nulls
        out.keys = list(range(n))
        out.columns = [('key', 0)] * n + ([] if distinct else [('int', 0)])
        # in each set of a grouping
        out.sets = 2 ** len(keys) if extra else 1
        out.changes = {} if distinct else {n: (s.rows, 1)}
        out.tags = {'shape: ' + t for t in self.tags | {'written'}}
        out.zone = rng.choice(ZONES) if '.seen' in private or 'date_trunc' in private else None
        return out

    def finish(self, out, private, exact, possible):
        def fill(text, parameters, coin):
            text = text.replace('{s}', self.schema)
            text = re.sub(r'\{u:(.*?):([\w.]+)\}', (lambda m: m[2]) if coin else (lambda m: m[1]), text)
            for i, p in reversed(list(enumerate(parameters))):
                text = text.replace('{p%d}' % i, p)
            return text
        literal = ['%s::%s' % (value, kind) for kind, value in self.parameters]
        out.exact = fill(exact, literal, False)
        out.possible = fill(possible, literal, True)
        out.private = fill(private, literal, False)
        out.prepared = None
        if self.parameters:
            out.prepared = ('PREPARE shaped (%s) AS %s' % (', '.join(t for t, _ in self.parameters), fill(private, ['$%d' % (i + 1) for i in range(len(self.parameters))], False)),
                            'EXECUTE shaped (%s)' % ', '.join(v for _, v in self.parameters))


for name in ('subquery', 'join', 'theta', 'values', 'lateral', 'released', 'sublink', 'cells', 'add_range'):
    setattr(Shapes, name, tagged(getattr(Shapes, name)))
