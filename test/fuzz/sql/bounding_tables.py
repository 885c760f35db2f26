"""Random tables of privacy units: types, skew, storage.

A Table has the same rows in several places (sources), which differ in their
order, in partitions and in how they are stored; which rows there are is a
function of its number of rows and seeds alone.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Type:
    """How values of a type are made of a number {p}; equal ones are written in one of three ways, by {w}."""
    sql: str
    make: str
    same: str = '{x}::text'     # a text that equal values share
    distinct: int = 10 ** 9     # how many values there are, at most
    exact: bool = True          # equal values are equal bytes
    hashed: bool = True         # has a default hash function: may be a key, and told to bound_unit
    sorted: bool = True
    partitions: bool = True     # may be hashed into partitions

    def value(self, p, w):
        return 'CASE WHEN %s IS NOT NULL THEN %s END' % (p, self.make.format(p='(%s)' % p, w=w))

    def text(self, x):
        return '(%s) COLLATE "C"' % self.same.format(x=x)


TYPES = {
    'int2': Type('smallint', '({p} % 60000 - 30000)::smallint', distinct=60000),
    'int4': Type('int', '{p}::int'),
    'negative': Type('int', '(-{p})::int'),
    'int8': Type('bigint', '({p} * 10000000019)'),
    'date': Type('date', "(date '2000-01-01' + {p}::int)"),
    'enum': Type('shade', '(enum_range(NULL::shade))[1 + ({p} % 40)::int]', distinct=40),
    'domain': Type('small_number', '{p}::int::small_number'),
    'text domain': Type('word', "('w' || {p})::word"),
    'oid': Type('oid', '({p} * 65539 % 4294967296)::oid'),
    'bool': Type('boolean', '({p} % 2 = 0)', distinct=2),
    'char': Type('"char"', '({p} % 200 - 100)::int::"char"', same='{x}::int::text', distinct=200),
    'timestamp': Type('timestamp', "(timestamp '2000-01-01' + {p} * interval '61 seconds')"),
    'timestamptz': Type('timestamptz', "(timestamptz '2000-01-01' + {p} * interval '61 seconds')"),
    'time': Type('time', "(time '00:00' + {p} % 80000 * interval '1 second')", distinct=80000),
    'timetz': Type('timetz', "(time '00:00' + {p} % 80000 * interval '1 second')::timetz", distinct=80000),
    'pg_lsn': Type('pg_lsn', "('0/0'::pg_lsn + {p})"),
    'float4': Type('real', "(CASE WHEN {p} % 17 = 0 THEN CASE {w} WHEN 0 THEN '-0' ELSE '0' END WHEN {p} % 17 = 1 THEN 'NaN' ELSE ({p} % 9000)::text END)::real",
                   same='({x} + 0)::text', distinct=9000, exact=False),
    'float8': Type('float8', "(CASE WHEN {p} % 17 = 0 THEN CASE {w} WHEN 0 THEN '-0' ELSE '0' END WHEN {p} % 17 = 1 THEN 'NaN' ELSE ({p} / 7.0)::text END)::float8",
                   same='({x} + 0)::text', exact=False),
    'numeric': Type('numeric', "(CASE {p} % 19 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' ELSE {p} || (ARRAY['', '.0', '.00'])[1 + {w}] END)::numeric",
                    same='trim_scale({x})::text', exact=False),
    'uuid': Type('uuid', 'md5({p}::text)::uuid'),
    'text': Type('text', "('p' || {p})"),
    'long text': Type('text', "repeat(md5({p}::text), 3)"),
    'varchar': Type('varchar(20)', "('p' || {p})::varchar(20)"),
    'char(n)': Type('char(12)', "('p' || {p})::char(12)"),
    'bpchar': Type('bpchar', "('p' || {p} || repeat(' ', {w}))::bpchar", exact=False),
    'name': Type('name', "('n' || {p})::name"),
    'bytea': Type('bytea', "decode(md5({p}::text), 'hex')"),
    'any case': Type('text COLLATE any_case', "(CASE {w} WHEN 0 THEN 'Jürgen ' WHEN 1 THEN 'JÜRGEN ' ELSE 'jürgen ' END || {p})",
                     same='lower({x} COLLATE "und-x-icu")', exact=False, partitions=False),
    'pair': Type('pair', "ROW({p}::int, ({p} % 5 || (ARRAY['', '.0', '.00'])[1 + {w}])::numeric)::pair",
                 same="(({x}).a || ' ' || trim_scale(({x}).b))", exact=False, partitions=False),
    'int[]': Type('int[]', 'ARRAY[{p}::int, ({p} % 3)::int]'),
    'text[]': Type('text[]', "ARRAY['a', NULL, 'p' || {p}]"),
    'jsonb': Type('jsonb', """('{{"a": ' || {p} || (ARRAY['', '.0', '.00'])[1 + {w}] || '}}')::jsonb""",
                  same="trim_scale(({x} ->> 'a')::numeric)::text", exact=False),
    'interval': Type('interval', "(CASE WHEN {w} = 0 THEN justify_days({p} % 300 * interval '1 day') ELSE {p} % 300 * interval '1 day' END"
                     " + {p} / 300 * interval '1 second')", same='extract(epoch FROM {x})::text', exact=False),
    'inet': Type('inet', "('10.0.0.0'::inet + {p})"),
    'macaddr': Type('macaddr', "lpad(to_hex({p}), 12, '0')::macaddr"),
    'range': Type('int4range', 'int4range({p}::int, {p}::int + 3)'),
    # without a default hash function, or without an order
    'money': Type('money', '{p}::numeric::money', hashed=False, partitions=False),
    'bits': Type('varbit', '{p}::bit(40)::varbit', hashed=False, partitions=False),
    'xid': Type('xid', '{p}::text::xid', sorted=False, partitions=False),
}
# as keys: longer than what a page holds, a few of them longer than a key may be
LONG_KEY = Type('text', "repeat(md5({p}::text), CASE WHEN {p} = 3 THEN 2200 WHEN {p} % 4 = 0 THEN 90 ELSE 5 END)", partitions=False)

COMMON = """
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE shade AS ENUM (%s);
CREATE DOMAIN small_number AS int CHECK (VALUE < 1000000000);
CREATE DOMAIN word AS text;
CREATE TYPE pair AS (a int, b numeric);
""" % ', '.join("'shade %d'" % i for i in range(40))

# whose row it is: a number from 0, of h (a random number), g (the row's) and the number of units
SKEWS = {
    'uniform': 'h % {units}',
    'zipf': 'floor(exp(ln({units}::float8) * (h % 1000003) / 1000003.0))::bigint - 1',
    'half of one': 'CASE WHEN h % 1009 < 505 THEN {units} / 2 ELSE h / 2 % {units} END',
    'all distinct': 'g',
    'one': '7',
    'in order': 'g * {units} / {rows}',
}

VALUES = """vi int, v2 smallint, v8 bigint, v4 real, vf float8, vn numeric, vq numeric(12, 2), vb boolean"""
MAKE_VALUES = """
    nullif(h3 % 1000, 999)::int - 200, (h3 % 3000 - 1000)::smallint,
    CASE WHEN h3 % 500 = 0 THEN 9223372036854775807 WHEN h3 % 500 = 1 THEN -9223372036854775808 ELSE h3 % 100000 END,
    CASE h3 % 40 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN 3e38 ELSE h3 % 1000 / 7.0 END,
    CASE h3 % 40 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN 1.7e308 WHEN 5 THEN 5e-324
        WHEN 6 THEN '-0' ELSE (h3 % 100000 / 997.0 - 20)::float8 END,
    CASE h3 % 40 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN 1e1000 WHEN 5 THEN -1e-1000
        WHEN 6 THEN h3::numeric ^ 8 ELSE (h3 % 100000)::numeric / 700 END,
    (h3 % 1000000)::numeric / 100, CASE h3 % 7 WHEN 0 THEN NULL ELSE h3 % 3 = 0 END"""

# where the rows of t are, too
PLACES = {
    't_random': 'CREATE UNLOGGED TABLE t_random (LIKE t); INSERT INTO t_random SELECT * FROM t ORDER BY hashint4(g), g;',
    't_sorted': 'CREATE UNLOGGED TABLE t_sorted (LIKE t); INSERT INTO t_sorted SELECT * FROM t ORDER BY pid, g; CREATE INDEX ON t_sorted (pid);',
    't_dropped': """CREATE TABLE t_dropped AS SELECT g AS gone, * FROM t; ALTER TABLE t_dropped DROP COLUMN gone;
        ALTER TABLE t_dropped DROP COLUMN late; ALTER TABLE t_dropped ADD COLUMN late int DEFAULT 5;""",
    't_hash': """CREATE TABLE t_hash (LIKE t) PARTITION BY HASH (u);
        CREATE TABLE t_hash0 PARTITION OF t_hash FOR VALUES WITH (MODULUS 3, REMAINDER 0);
        CREATE TABLE t_hash1 PARTITION OF t_hash FOR VALUES WITH (MODULUS 3, REMAINDER 1);
        CREATE TABLE t_hash2 PARTITION OF t_hash FOR VALUES WITH (MODULUS 3, REMAINDER 2);
        INSERT INTO t_hash SELECT * FROM t; CREATE INDEX ON t_hash (pid);""",
    't_range': """CREATE TABLE t_range (LIKE t) PARTITION BY RANGE (g);
        CREATE TABLE t_range0 PARTITION OF t_range FOR VALUES FROM (MINVALUE) TO ({third});
        CREATE TABLE t_range1 AS SELECT 1 AS gone, * FROM t WHERE g >= {third}; ALTER TABLE t_range1 DROP COLUMN gone;
        ALTER TABLE t_range ATTACH PARTITION t_range1 FOR VALUES FROM ({third}) TO (MAXVALUE);
        INSERT INTO t_range SELECT * FROM t WHERE g < {third};""",
}
VIEWS = ['(SELECT * FROM t ORDER BY h DESC, g OFFSET 0)', '(SELECT * FROM t WHERE h < 300 UNION ALL SELECT * FROM t WHERE h >= 300)']


@dataclasses.dataclass
class Table:
    rows: int
    units: int
    skew: str
    nulls: int              # one row in so many is nobody's; 0: none
    seed: int
    unit: list              # names of types; two: the unit is two columns
    keys: list              # of (name of type or 'long', how many)
    places: list
    temporary: bool
    not_null: bool          # units and keys are, and said to be

    def key_type(self, i):
        return LONG_KEY if self.keys[i][0] == 'long' else TYPES[self.keys[i][0]]

    def sources(self):
        return ['t'] + self.places + VIEWS

    def script(self):
        """SQL that makes the tables anew"""
        nobody = 'CASE WHEN h / 7 %% %d = 0 THEN NULL ELSE {} END' % self.nulls if self.nulls and not self.not_null else '{}'
        key = '(h2 / %d) %% %d' if self.not_null else 'nullif((h2 / %d) %% %d, 1)'
        whose = nobody.format(SKEWS[self.skew].format(units=self.units, rows=max(self.rows, 1)))
        columns, made = [], []
        for i, name in enumerate(self.unit):
            columns.append('u%s %s' % (i or '', TYPES[name].sql))
            made.append(TYPES[name].value(('p', 'p / 3')[i], 'w'))
        for i, (_, many) in enumerate(self.keys):
            columns.append('k%d %s' % (i, self.key_type(i).sql))
            made.append(self.key_type(i).value(key % (97 ** i, many + 1), 'w'))
        random = '(hashint8extended(g, %d) & 1073741823)'
        statements = ['DROP TABLE IF EXISTS %s' % ', '.join(['t', 'person'] + list(PLACES)),
                      """CREATE %s TABLE t (g int, pid bigint, h int, %s, %s)""" % (
                          'TEMPORARY' if self.temporary else 'UNLOGGED', ', '.join(columns), VALUES),
                      """INSERT INTO t SELECT g, p, (h / 1000 %% 1000)::int, %s, %s FROM (SELECT *, (%s)::bigint AS p, (h / 3 %% 3)::int AS w FROM
    (SELECT g, %s AS h, %s AS h2, %s AS h3 FROM generate_series(1, %d) g) r) s""" % (
                          ', '.join(made), MAKE_VALUES, whose, *(random % (self.seed + i) for i in range(3)), self.rows),
                      'ALTER TABLE t ADD COLUMN late int DEFAULT 5',
                      'CREATE INDEX ON t (h)',
                      'CREATE TABLE person AS SELECT pid, (pid % 3)::int AS area FROM t WHERE pid IS NOT NULL GROUP BY pid',
                      'ALTER TABLE person ADD PRIMARY KEY (pid)']
        statements += [PLACES[p].format(third=self.rows // 3 + 1).strip().rstrip(';') for p in self.places]
        if self.not_null:
            statements += ['ALTER TABLE %s %s' % (t, ', '.join('ALTER %s SET NOT NULL' % c.split()[0] for c in columns)) for t in ['t'] + self.places]
        return ';\n'.join(statements + ['ANALYZE ' + ', '.join(['t', 'person'] + self.places)]) + ';\n'


def random_table(rng):
    types = list(TYPES)
    # many units by value, which have a way of their own
    unit = [rng.choice(['int4', 'int8', 'int2', 'date', 'oid', 'bool']) if rng.random() < 0.5 else rng.choice(types)]
    if rng.random() < 0.12:
        unit.append(rng.choice([t for t in types if TYPES[t].sorted]))
    if not TYPES[unit[0]].sorted:
        unit = unit[:1]
    keys = []
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        name = 'int4' if rng.random() < 0.3 else 'long' if rng.random() < 0.08 else rng.choice([t for t in types if TYPES[t].hashed and TYPES[t].sorted])
        keys.append((name, rng.choice([1, 2, 3, 7, 7, 30, 300])))
    rows = rng.choice([0, 1, 60, 700, 3000, 3000, 8000, 8000, 15000, 15000, 25000])
    if any(k == 'long' for k, _ in keys):
        rows = min(rows, 3000)
    skew = rng.choice(['uniform'] * 3 + list(SKEWS))
    places = rng.sample(list(PLACES), rng.choice([1, 2, 2]))
    if not TYPES[unit[0]].partitions and 't_hash' in places:
        places.remove('t_hash')
    return Table(rows, rng.choice([1, 2, 30, 300, 3000, 3000, 10000]), skew, rng.choice([0, 0, 2, 50]),
                 rng.randrange(10 ** 6), unit, keys, places, rng.random() < 0.08, rng.random() < 0.3)
