"""The grammar, with what tries to let the rows of one person decide.

Expressions that fail, or take stack or memory without bound, only if a
person's row reaches them; inexact sums and equal values that are written
differently in subqueries of one row for each unit; types, collations and
functions of the analyst's own.  Most is harmless, or refused; nothing here
says which.
"""
import re

from grammar import Grammar
from sources import NUMBERS, TABLES, Column, Source

COSTS = ('person', 3, {
    'person': ('int', ['7', '30', '61'], 240, None),
    'day': ('date', ["'2024-01-01'", "'2024-01-02'"], 0, None),
    'cost': ('float8', ['0.1', '0.2', '0.3'], 0.7, None),
    'r': ('real', ['0.1', '0.2', '0.3'], 0.7, None),
    'big': ('float8', ['1', '1e16', '-1e16'], 1e17, None),
    'amount': ('numeric', ['1', '1.00'], 1, None),
    'span': ('interval', ["'1 mon'", "'720:00'"], 0, None),
    'code': ('bpchar', ["'ab'", "'ab  '"], 0, None),
    'word': ('text', ["'abc'", "'ABC'"], 0, None),
    'place': ('text', ["'place1'", "'place3'"], 0, None),
    'mail': ('citext', ["'MAIL1'", "'Mail3'"], 0, None),
    'note': ('text', ["'note1'", "'note7'"], 0, None)})
TABLES['costs'] = COSTS
BOOL = ('bool', ['true', 'false'], 0, None)
# parts of columns of table costs that have parts
PROPS = [("(%s.props ->> 'k')", ('text', ["'v1'", "'v2'"], 0, None)), ("(%s.props -> 'n' ->> 0)", ('text', ["'0'", "'1'"], 0, None)),
         ("(%s.props #>> '{o,a}')::int", ('int', ['1', '2'], 1e9, None)), ("(%s.props -> 'n' -> 1 ->> 'a')", ('text', ["'a'"], 0, None)),
         ("(%s.props #> '{o}' ->> 'a')", ('text', ["'3'"], 0, None)), ("length(%s.props ->> 'o')", ('int', ['8'], 1e9, None)),
         ("jsonb_array_length(%s.props -> 'n')", ('int', ['0', '2'], 1e9, None)), ("(%s.props ?| ARRAY['k', 'none'])", BOOL), ("(%s.props ?& ARRAY['o', 'n'])", BOOL),
         ('cardinality(%s.tags)', ('int', ['0', '2'], 1e9, None)), ('array_length(%s.tags, 1)', ('int', ['1', '2'], 1e9, None)), ('(%s.tags)[1]', ('text', ["'red'", "'a'"], 0, None)),
         ("array_position(%s.tags, 'blue')", ('int', ['1', '2'], 1e9, None)), ("('red' = ANY (%s.tags))", BOOL), ("(%s.tags @> ARRAY['red', 'blue'])", BOOL),
         ("(%s.tags && ARRAY['green', NULL])", BOOL), ("(%s.tags <@ ARRAY['red'])", BOOL), ('lower(%s.stay)', ('int', ['1', '2'], 1e10, None)), ('upper(%s.stay)', ('int', ['4'], 1e10, None)),
         ('(%s.stay @> 2)', BOOL), ('isempty(%s.stay)', BOOL), ('upper_inf(%s.stay)', BOOL), ("(%s.stay && int4range(3, 9))", BOOL), ('host(%s.addr)', ('text', ["'10.0.0.1'"], 0, None)),
         ('masklen(%s.addr)', ('int', ['16', '32'], 1e9, None)), ("(%s.addr << '10.0.0.0/8')", BOOL), ('family(%s.addr)', ('int', ['4', '6'], 1e9, None))]
# persons have higher numbers here than the grammar's sums allow for
for _, _, columns in TABLES.values():
    for name in ('person', 'who'):
        if name in columns:
            columns[name] = columns[name][:2] + (1e9, None)

# of a row's own values, inside of a subquery that groups by the unit: (text, type of the result, literals)
OF_UNIT = [
    ('sum(cost)', 'float8', ['0.6', '0.6000000000000001', '0.3']), ('sum(r)', 'real', ['0.6', '0.3']),
    ('sum(big)', 'float8', ['1', '0', '1e16']), ('avg(cost)', 'float8', ['0.2', '0.20000000000000004']),
    ('avg(big)', 'float8', ['0', '0.3333333333333333']), ('avg(r)', 'float8', ['0.2', '0.20000000298023224']),
    ('stddev(cost)', 'float8', ['0.1', '0.09999999999999998']), ('variance(cost)', 'float8', ['0.01', '0.009999999999999998']),
    ('stddev_pop(big)', 'float8', ['0', '1']), ('var_pop(r)', 'float8', ['0.006666667', '0.00666666666666667']),
    ('sum(cost * 3)', 'float8', ['1.8', '1.8000000000000003']), ('sum(cost) FILTER (WHERE r > 0.15)', 'float8', ['0.5', '0.3']),
    ('sum(DISTINCT cost)', 'float8', ['0.6', '0.6000000000000001']), ('sum(DISTINCT big)', 'float8', ['1', '0']),
    ('scale(max(amount))', 'int', ['1', '2', '3']), ('scale(min(amount))', 'int', ['1', '2', '3']),
    ('scale(sum(amount))', 'int', ['1', '3']), ('scale(sum(DISTINCT amount))', 'int', ['1', '2', '3']),
    ('scale(avg(amount))', 'int', ['16', '3']), ('length(max(code)::text)', 'int', ['2', '3', '4']),
    ('octet_length(max(code))', 'int', ['2', '3', '4']), ('octet_length(min(code))', 'int', ['2', '3', '4']),
    ('extract(day FROM max(span))', 'numeric', ['0', '30']), ('extract(month FROM min(span))', 'numeric', ['0', '1']),
    ('extract(hour FROM max(span))', 'numeric', ['0', '720']), ('count(DISTINCT amount)', 'int', ['1', '2']),
    ('count(DISTINCT code)', 'int', ['1', '2']), ('count(DISTINCT word)', 'int', ['1', '2']),
    ("max(word)", 'text', ["'abc'", "'ABC'"]), ("max(word COLLATE \"C\")", 'text', ["'abc'", "'ABC'"]),
    ("max(place)", 'text', ["'place1'", "'place2'"]), ('max(cost)', 'float8', ['0.3', '0.7']), ('count(*)', 'int', ['1', '2', '3']),
    ('max(note)', 'text', ["'note1'", "'note2'"]), ('sum(amount)', 'numeric', ['3', '2']), ('min(span)', 'interval', ["'1 mon'"]),
    ('sum(span)', 'interval', ["'1 mon'"]), ('extract(epoch FROM avg(span))', 'numeric', ['0', '2592000']), ("bool_or(big > 0)", 'bool', ['true']), ("max(day)", 'date', ["'2024-01-01'"]), ('sum(-big)', 'float8', ['-1', '0']),
    # of rows in an order, which ties leave open
    ("string_agg(amount::text, ',' ORDER BY day)", 'text', ["'1'", "'1.0,1'", "'1,1.0'"]), ("string_agg(code::text, word ORDER BY amount DESC)", 'text', ["'a'"]),
    ("string_agg(DISTINCT word, ',')", 'text', ["'abc'", "'ABC,abc'"]), ("string_agg(word, ',')", 'text', ["'abc'", "'ABC,abc'"]),
    ('scale((array_agg(amount ORDER BY day))[1])', 'int', ['1', '2', '3']), ('octet_length((array_agg(code ORDER BY amount DESC))[2])', 'int', ['2', '3', '4']),
    ('(array_agg(cost ORDER BY big))[array_length(array_agg(cost), 1)]', 'float8', ['0.3', '0.7']), ('(array_agg(span))[1]', 'interval', ["'1 mon'"]),
    ('percentile_disc(0.4) WITHIN GROUP (ORDER BY amount DESC)', 'numeric', ['1', '2']), ('scale(percentile_disc(1) WITHIN GROUP (ORDER BY amount))', 'int', ['1', '2', '3']),
    ('percentile_cont(0.5) WITHIN GROUP (ORDER BY cost)', 'float8', ['0.3', '0.7']), ('percentile_cont(0.9) WITHIN GROUP (ORDER BY big) FILTER (WHERE cost < 1)', 'float8', ['-1', '0']),
    ("array_to_string(array_agg(DISTINCT amount), ',')", 'text', ["'1'", "'1,2'"]), ('cardinality(array_agg(r) FILTER (WHERE big > 0))', 'int', ['1', '2']),
]
# columns whose equal values are written differently
KEYS_OF_UNIT = [('amount', 'scale(%s)', 'int', ['1', '2', '3']), ('code', 'octet_length(%s)', 'int', ['2', '3', '4']),
                ('span', 'extract(day FROM %s)', 'numeric', ['0', '30']), ('word', "%s COLLATE \"C\"", 'text', ["'abc'", "'ABC'"]),
                ('big', 'sign(%s)', 'float8', ['1', '-1'])]


class Hostile(Grammar):
    compares = 0.08         # how many levels compare rows with a release of their group

    def __init__(self, rng, person, tiny=False, heavy=False):
        super().__init__(rng)
        self.person, self.tiny, self.heavy = person, tiny, heavy
        self.hostility = rng.choice([0.05, 0.2, 0.5])
        self.planning = False           # is it about what the planner evaluates
        self.vanishing = False          # is it about what is the analyst's own
        self.of_owner = True            # can the owner ask the same

    # ------------------------------------------------------------------
    # Rows that count
    # ------------------------------------------------------------------

    def reach(self, source):
        """a condition that few rows satisfy, most of them the person's"""
        unit = source.unit
        if unit and self.chance(0.8):
            return '%s = %s' % (unit, {'holder': "'p%d'", 'owner': "md5('p%d')::uuid"}.get(unit.split('.')[-1], '%d') % self.person)
        c = self.rng.choice(source.columns)
        return '%s %s %s' % (c.ref, self.rng.choice(['=', '>', '<']), self.rng.choice(c.literals))

    def text_of(self, source):
        texts = [c.ref for c in source.columns if c.type in ('text', 'bpchar')]
        # where a person's values may be long
        texts += [c for c in texts if re.search('note|city|place|ward|name', c)] * 2
        return self.rng.choice(texts) if texts else "'a'"

    def number_of(self, source):
        numbers = [c.ref for c in source.columns if c.type in NUMBERS]
        return self.rng.choice(numbers) if numbers else '1'

    def pattern(self):
        """(text, pattern) that a matcher which recurses needs much stack for"""
        n = self.rng.choice([600, 890, 895, 899, 899, 2000, 4900, 4900] if self.tiny else [600, 3000, 4900])
        return self.rng.choice([
            ("repeat('a', %d)" % n, "repeat('%%a', %d) || '%%b'" % (n - 1)),
            ("repeat('a', %d)" % n, "repeat('%%a', %d)" % (n + 1)),
            ("repeat('ab', %d)" % n, "repeat('%%a_', %d) || 'c'" % (n - 1)),
            ("repeat('A', %d)" % n, "'%%' || repeat('a%%', %d) || 'b'" % (n - 1)),
            ("repeat('a', %d)" % n, self.rng.choice(["'^(a+)+$'", "'(a|aa)*b'", "'(a*)(a*)(a*)b$'", "'(.*)\\1b'", "'^(?=a*b)'", "'a{200}b'", "'('"]))])

    def hot(self, source):
        """a condition that may fail, or take more than there is, where a row reaches it"""
        rng = self.rng
        reach, text, number = self.reach(source), self.text_of(source), self.number_of(source)
        r = 0.75 if self.vanishing else rng.random()
        if r < (0.7 if self.tiny or self.vanishing else 0.3):
            value, pattern = self.pattern()
            like = rng.choice(['LIKE', 'LIKE', '~~'] if self.planning else ['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE', '~~', '!~~*', '~', '!~*', 'SIMILAR TO'])
            templates = ['CASE WHEN %(reach)s THEN %(value)s END %(like)s %(pattern)s',
                         '(%(reach)s AND %(value)s %(like)s %(pattern)s)',
                         "coalesce(CASE WHEN %(reach)s THEN %(value)s END, 'x') %(like)s %(pattern)s",
                         '%(text)s %(like)s %(pattern)s', '%(text)s %(like)s %(pattern)s',
                         '(%(text)s || CASE WHEN %(reach)s THEN %(value)s END) %(like)s %(pattern)s',
                         "replace(%(text)s, '1', %(value)s) %(like)s %(pattern)s"]
            # statistics know columns only
            return ('%(text)s %(like)s %(pattern)s' if self.planning and self.chance(0.7) else rng.choice(templates)) % {
                'reach': reach, 'value': value, 'like': like, 'pattern': '(%s)' % pattern.replace('%%', '%'), 'text': text}
        if r < (0.8 if self.tiny or self.vanishing else 0.42):
            # of the analyst's own; a domain is refused
            return rng.choice([
                "substring(CASE WHEN %(reach)s THEN repeat('a', 4000) END FROM 'a*(a)a*b') IS NULL",
                "(regexp_match(CASE WHEN %(reach)s THEN repeat('a', 4000) ELSE %(text)s END, 'a*(a)a*b|e(.)'))[1] > '1'",
                "regexp_replace(CASE WHEN %(reach)s THEN repeat('a', 4096) END, '(a)', repeat('\\\\1', 500), 'g') IS NULL",
                "CASE WHEN %(reach)s THEN 'b'::own.shade END > 'aa'::own.shade",
                "CASE WHEN %(reach)s THEN 'aa'::own.shade ELSE 'b' END IN ('a', 'aa')",
                "CASE WHEN %(reach)s THEN %(text)s END COLLATE own.order1 < 'm'",
                "(%(text)s COLLATE own.order1) > 'place2' AND %(reach)s",
                "upper(CASE WHEN %(reach)s THEN %(text)s END COLLATE own.order1) < 'M'",
                "%(reach)s AND lower('Ab' COLLATE own.order1) < %(text)s",
            ] + self.chance(0.1) * [
                'CASE WHEN %(reach)s THEN 5::own.positive END > 4', "CASE WHEN %(reach)s THEN '7'::own.positive ELSE 1 END = 7",
                "%(reach)s AND %(number)s > '0'::own.positive"]) % {'reach': reach, 'text': text, 'number': number}
        big = [10, 1000, 100000] + ([30000000] if self.heavy else [])
        n = rng.choice(big)
        return rng.choice([
            # results that grow
            "length(CASE WHEN %(reach)s THEN repeat('x', %(n)d) END || %(text)s) > 5",
            "length(replace(CASE WHEN %(reach)s THEN repeat('a', %(n)d) END, 'a', repeat('b', %(m)d))) > 5",
            "replace(%(text)s, 'a', repeat('b', %(n)d)) > 'b'", "length(%(text)s || repeat('x', %(n)d)) > 5",
            "upper(CASE WHEN %(reach)s THEN repeat('\u00df', %(n)d) END) > 'a'", "initcap(repeat(%(text)s, %(k)d)) > 'b'",
            "CASE WHEN %(reach)s THEN to_char(timestamp '2024-02-01', repeat('Month', 900)) END > 'a'",
            "translate(CASE WHEN %(reach)s THEN repeat('a', %(n)d) END, 'a', '\U0001d11e') > 'b'", "translate(%(text)s, repeat('a', %(k)d), 'b') > 'a'", "ascii(%(text)s) > 97",
            "to_hex(%(number)s::int4) > 'a'", "%(number)s::int4 << CASE WHEN %(reach)s THEN 99 ELSE 1 END > 0", "time '23:00' + CASE WHEN %(reach)s THEN interval '178000000 years' ELSE '2 hours' END > '01:00'",
            "reverse(CASE WHEN %(reach)s THEN repeat('x', %(n)d) END) = ''", "lpad(%(text)s, %(n)d) > 'a'",
            "split_part(CASE WHEN %(reach)s THEN repeat('a,', %(n)d) END, ',', -%(k)d) = 'a'",
            "strpos(CASE WHEN %(reach)s THEN repeat('a', %(n)d) END, repeat('a', 99) || 'b') > 0",
            "CASE WHEN %(reach)s THEN repeat('x', %(n)d)::char(5) END = 'x'", "%(text)s::varchar(3) = 'a'", "%(text)s::char(1000) > 'b'",
            # numbers and times at their limits
            "%(number)s * CASE WHEN %(reach)s THEN 1e308 ELSE 1 END > 5", "%(number)s::float8 * 1e308 * 1e10 > 0",
            "exp(%(number)s::float8 * 300) > 1", "power(%(number)s::float8, 1000) > 1", "power(-1.5, %(number)s::float8) > 0",
            "ln(%(number)s::float8) > 0", "sqrt(%(number)s::float8) > 0", "(%(number)s::numeric * 1e100000)::float8 > 1",
            "CASE WHEN %(reach)s THEN 1e100000 ELSE 1 END * 1e100000 * %(number)s::numeric > 1", "1 / %(number)s > 0", "%(number)s %% 0 = 0",
            "CASE WHEN %(reach)s THEN -9223372036854775808 ELSE 1 END / -1 > 0", "CASE WHEN %(reach)s THEN 2147483647 ELSE 0 END + 1 > 0",
            "%(number)s::int2 > 0", "%(number)s::int4::char > 'a'", "round(%(number)s::numeric, %(k)d) > 1", "%(number)s::real > 1",
            "width_bucket(%(number)s::float8, 0, CASE WHEN %(reach)s THEN 0 ELSE 1 END, 5) > 1", "%(number)s::numeric(3,2) > 1",
            "date '2024-01-01' + CASE WHEN %(reach)s THEN 2147483647 ELSE 1 END > '2024-01-01'",
            "timestamp '2024-01-01' + CASE WHEN %(reach)s THEN interval '178000000 years' ELSE '1 day' END > '2024-01-01'",
            "extract(epoch FROM CASE WHEN %(reach)s THEN timestamp 'infinity' ELSE '2024-01-01' END) > 0",
            "date_trunc('month', CASE WHEN %(reach)s THEN timestamp '294276-12-31' ELSE '2024-01-01' END + interval '1 month') > '2024-01-01'",
            "(CASE WHEN %(reach)s THEN timestamp '294276-12-31 23:00' ELSE '2024-01-01' END AT TIME ZONE 'America/New_York') > '2024-01-01'",
            "%(text)s::int > 0", "%(text)s::own.shade = 'a'", "%(number)s = ANY (ARRAY[1, 2, NULL])",
        ]) % {'reach': reach, 'text': text, 'number': number, 'n': n, 'm': min(rng.choice(big), 10**9 if self.heavy else 10**7 // n), 'k': rng.choice([1, 2, 30000])}

    # ------------------------------------------------------------------
    # The grammar, where it differs
    # ------------------------------------------------------------------

    def table(self, among=('visits', 'visits', 'visits', 'people', 'stays', 'logs', 'samples', 'costs', 'costs')):
        source, table, alias = super().table(among)
        if table == 'costs' and self.chance(0.4):
            # the column itself is refused, but in a subquery that hands it up
            parts = [(e % alias, c) for e, c in self.rng.sample(PROPS, 2)] + [(alias + '.props', ('json', ['NULL'], 0, None))] * self.chance(0.1)
            source.columns += [Column(e, c) for e, c in parts]
            source.sure = False
        return source, table, alias

    def source(self):
        if self.chance(0.2):
            return self.rounded()
        if self.chance(0.05):
            return self.joined()
        return super().source()

    def condition(self, source, depth):
        if self.chance(self.hostility * 0.6):
            self.of_owner = False
            return self.hot(source)
        if self.chance(0.1):
            return self.reach(source)
        return super().condition(source, depth)

    def of_group(self, source):
        """a comparison with an aggregate of the row's group, which is a release of other people's rows"""
        rng, z = self.rng, self.name('z')
        table = rng.choice(['visits', 'visits', 'stays', 'logs', 'events', 'cards', 'legs', 'samples', 'costs'])
        inner = Source(table, [Column('%s.%s' % (z, n), c) for n, c in TABLES[table][2].items()], None, 3)
        pairs = [(c, i) for c in source.columns for i in inner.columns if c.type == i.type or c.type in NUMBERS and i.type in NUMBERS]
        if not pairs:
            return self.reach(source)
        # equality that is not that of a group, and a person of another, are refused
        c, i = rng.choice([x for x in pairs if x[0].ref.split('.')[-1] == x[1].ref.split('.')[-1]] or pairs if self.chance(0.7) else pairs)
        numbers = [n for n in inner.columns if n.type in NUMBERS] or [None]
        n, own = rng.choice(numbers), rng.choice([o.ref for o in source.columns if o.type in NUMBERS] or ['1'])
        bounds = rng.choice([', 0, 5', ', -3, 3', ''])
        aggregates = ['count(*)', 'dp_count(*)', 'count(%s)' % i.ref] + ([] if n is None else [
            a % n.ref for a in ('dp_avg(%%s%s)' % bounds, 'dp_sum(%%s%s)' % bounds, 'dp_median(%s, 0, 5)', 'dp_max(%s, 0, 5)', 'avg(%s)', 'sum(%s)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY %s)')])
        where = ['%s = %s' % (rng.choice([(c.ref, i.ref), (i.ref, c.ref)]))]
        if self.chance(0.3):
            where.append(Grammar.condition(self, inner, 1))
        if self.chance(0.15):
            where.append('%s > %s' % (own, rng.choice(['0', '1'])))
        source.released, source.post, source.sure = True, True, False
        value = '(SELECT %s FROM %s %s WHERE %s%s)' % (
            rng.choice(['{0}', '{0}', '{0} + 1', 'coalesce({0}, 0)', '{0} * {1}']).format(*rng.sample(aggregates, 2)), table, z, ' AND '.join(where),
            ' GROUP BY ' + i.ref if self.chance(0.15) else '')
        self.tags.add('of_group')
        return rng.choice(['%(own)s > %(value)s', '%(own)s < %(value)s + 0.5', 'coalesce(%(own)s - %(value)s, 1) > 0', 'CASE WHEN %(own)s > 1 THEN %(value)s > 3 ELSE %(value)s IS NULL END',
                           'EXISTS (SELECT FROM %(table)s %(z)s WHERE %(where)s GROUP BY %(key)s HAVING %(aggregate)s > %(own)s)', '%(own)s IN %(value)s', '%(value)s > 5']) % {
            'own': own, 'value': value, 'table': table, 'z': z, 'where': ' AND '.join(where), 'key': i.ref, 'aggregate': rng.choice(aggregates)}

    def rounded(self):
        """one row for each unit (and representative), of what may depend on the order of its rows"""
        rng = self.rng
        name = self.name('u')
        outputs, columns = [], []
        group = ['person']
        # what is refused: once in a while
        of_unit = OF_UNIT if self.chance(0.1) else [o for o in OF_UNIT if not re.search(r'\(word\)|DISTINCT word|^min\(span', o[0])]
        key = rng.choice(KEYS_OF_UNIT if self.chance(0.1) else [k for k in KEYS_OF_UNIT if k[0] != 'word']) if self.chance(0.25) else None
        if key:
            group.append(key[0])
            outputs.append('%s AS k' % (key[1] % key[0] if self.chance(0.5) else key[0]))
            columns.append(Column(name + '.k', (key[2] if outputs[-1] != key[0] + ' AS k' else 'other', key[3], 1e9, None)))
            if outputs[-1] == key[0] + ' AS k':
                columns.pop()
                columns.append(Column('(%s)' % (key[1] % (name + '.k')), (key[2], key[3], 1e9, None)))
        chosen = rng.sample(of_unit, rng.choice([1, 1, 2, 3]))
        for i, (text, t, literals) in enumerate(chosen):
            outputs.append('%s AS g%d' % (text, i))
            columns.append(Column('%s.g%d' % (name, i), (t, literals, 1e9 if t not in ('int',) else 4, None)))
        for c in columns:
            c.restricted = True
        having = []
        if self.chance(0.6):
            text, t, literals = rng.choice(of_unit)
            having.append('%s %s %s' % (text, rng.choice(['>', '>=', '=', '<', '<=']), rng.choice(literals)))
        if self.chance(0.6):
            having.append('count(DISTINCT day) > %d' % rng.choice([0, 1]))
        where = ''
        if self.chance(0.3):
            inner = Source('costs', [Column(n, c) for n, c in COSTS[2].items()], 'person', 3)
            where = ' WHERE ' + self.condition(inner, 1)
        rows = 3 if key else 1
        if self.chance(0.1):
            # of a subquery that says each value once
            query = 'SELECT DISTINCT person, %s FROM costs%s' % (key[0] if key else 'amount', where)
            columns = [Column(name + '.' + (key[0] if key else 'amount'), ('other', ['1'], 1e9, None))]
            e = KEYS_OF_UNIT[0] if not key else key
            columns[0] = Column('(%s)' % (e[1] % columns[0].ref), (e[2], e[3], 1e9, None))
            columns[0].restricted, rows = True, 3
        else:
            query = 'SELECT person, %s FROM costs%s GROUP BY %s%s' % (
                ', '.join(outputs), where, ', '.join(group), ' HAVING ' + ' AND '.join(having) if having else '')
        if self.chance(0.3):
            columns.append(Column(name + '.person', COSTS[2]['person']))
        s = Source('(%s) %s' % (query, name), columns, name + '.person', rows)
        s.per_unit, s.sure = True, False
        return s

    def key(self, source):
        if self.chance(self.hostility * 0.15):
            self.of_owner = False
            return '(%s)' % self.hot(source), ['false', 'true', 'NULL::bool'], False, 'bool'
        k = super().key(source)
        # a level that shows one person in each group is refused
        while source.unit and re.search(re.escape(source.unit) + r'\b', k[0]) and self.chance(0.9):
            k = super().key(source)
        # of equal values that are written differently, which one plain SQL shows depends on the order of rows
        return k if k[3] not in ('bpchar', 'interval') and not re.search(r'\b(word|code|span|amount|mail|d\d+|g\d+)\b', k[0]) else k[:2] + (False,) + k[3:]

    def aggregate(self, source, groups):
        r = self.rng.random()
        times = [c for c in source.columns if c.type in ('date', 'timestamp', 'timestamptz')]
        if times and self.chance(0.1):
            # with declared bounds, with those of the query, or refused
            c = self.rng.choice(times)
            text = self.rng.choice(['min(%s)', 'max(%s)', 'dp_median(%s)', 'percentile_disc(0.9) WITHIN GROUP (ORDER BY %s)', "dp_max(%s, '2024-01-01', '2024-12-31')",
                                    "dp_quantile(%s, 0.25, '2024-01-01', '2024-12-31')", "dp_histogram(%s, '2024-01-01', '2024-12-31', 4)", 'dp_bounds(%s)', 'count(DISTINCT %s::date)',
                                    "avg(timestamp '2024-07-01' - %s)", "percentile_cont(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY timestamptz '2024-07-01' - %s)",
                                    "max(CASE WHEN %s IS NULL THEN interval '1 month' END)"]) % c.ref
            return text, 'count(*)', 'other', 1, False, source.rows if 'hist' in text or 'DISTINCT' in text else None
        if r < 0.15:
            # by how much a unit changes these is not compared
            c = self.rng.choice([c for c in source.columns if c.type in NUMBERS] or source.columns)
            text = self.rng.choice(['dp_avg(%s, 0, 5)', 'dp_median(%s, 0, 5)', 'dp_min(%s, 0, 5)', 'dp_max(%s, 0, 5)', 'dp_variance(%s, 0, 5)',
                                    'dp_stddev(%s, -1, 1)', 'dp_histogram(%s, 0, 5, 3)', 'dp_count(DISTINCT %s)', 'dp_quantile(%s, 0.1, 0, 5)',
                                    'dp_sum(%s, -1e16, 1e16)', 'dp_sum(%s, 0, 1, 0, 3)', 'dp_sum(%s, -1e-9, 1e9, -1e300, 1e300)', 'dp_clipped_totals(%s, 0, 5)', 'dp_clipped_totals(%s, -1, 5, -1, 9)', 'dp_sum(%s, 0, 1)', 'avg(%s)', 'count(DISTINCT %s)',
                                    'percentile_disc(0.3) WITHIN GROUP (ORDER BY %s DESC)', 'percentile_disc(ARRAY[0, 1]) WITHIN GROUP (ORDER BY %s)',
                                    'mode() WITHIN GROUP (ORDER BY %s)', 'mode() WITHIN GROUP (ORDER BY %s > 1 DESC)', 'dp_mode(%s)',
                                    'count(DISTINCT (%s, 1))', 'count(DISTINCT ROW(NULL::text, %s))', 'dp_clipped_rows(*) FILTER (WHERE %s IS NOT NULL)',
                                    'dp_clipped_groups(*) FILTER (WHERE %s IS NOT NULL)', 'dp_margin(dp_sum(%s, 0, 5))', 'dp_cut(dp_sum(%s, 0, 5))', 'dp_noise_stddev(dp_avg(%s, 0, 5))', 'corr(%s, 1 - %s)', 'regr_slope(%s, -%s)'])
            text = text.replace('%s', c.ref)
            # bins, and how many values there are, change by no more than rows do
            counted = text.endswith(', 0, 1)') or re.match(r'dp_histogram|(dp_)?count\(DISTINCT', text)
            return text, 'count(*)', 'other', 1, False, source.rows if counted else None
        if r < 0.2 and source.columns:
            e = self.hot(source)
            self.of_owner = False
            return 'dp_count(*) FILTER (WHERE %s)' % e, 'count(*)', 'int', 1, False, source.rows
        if r < 0.23:
            e = self.hot(source)
            return 'dp_sum(CASE WHEN %s THEN 1 ELSE 0 END, 0, 1)' % e, 'count(*)', 'int', 1, False, source.rows
        return super().aggregate(source, groups)
