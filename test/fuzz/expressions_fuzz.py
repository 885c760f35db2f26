#!/usr/bin/env python3
"""Random expressions over a protected table full of extreme values.

Whatever the guard accepts must be answered: no row, and no parameter, may
make a query fail after it was charged, and nothing may crash.  Expressions
are built from dp_cdp.allowed_functions(), so that what is added to the list
is tested in combination with the rest.

Environment: PGHOST and so on, a superuser and a scratch database;
FUZZ_SECONDS (60), FUZZ_SEED (random).
"""
import os
import random
import re
import subprocess
import sys
import time

SECONDS = float(os.environ.get('FUZZ_SECONDS', '60'))
SEED = int(os.environ.get('FUZZ_SEED', random.randrange(2**32)))
rng = random.Random(SEED)

VALUES = {
    'boolean': ['true', 'false'],
    'smallint': ['0', '1', '-1', '7', '32767', '-32768'],
    'integer': ['0', '1', '-1', '7', '46341', '2147483647', '-2147483648'],
    'bigint': ['0', '1', '-1', '7', '3037000500', '9223372036854775807', '-9223372036854775808'],
    'real': ['0', '-0', '1.5', '-2.5', 'NaN', 'Infinity', '-Infinity', '3.4028235e38', '1e-45', '2147483648'],
    'double precision': ['0', '-0', '1.5', '-2.5', 'NaN', 'Infinity', '-Infinity', '1.7976931348623157e308',
                         '4.9e-324', '9223372036854775807', '709.79', '-745.14', '1e155'],
    'numeric': ['0', '1', '-2.5', 'NaN', 'Infinity', '-Infinity', '1e400', '1e-400', '9e131071', '1e-16383',
                '9223372036854775807.5', '32767.5', '9999.995'],
    'text': ['', ' ', 'a', 'a\\', '%', '_\\%', 'äöü€𝄞', '0', '-7', '99999999999999999999', '1e309', '2020-02-29',
             '2020-02-30', 'year', 'UTC', 'YYYY-MM', 'x' * 2000],
    'character varying': ['', 'a', 'b '],
    'character': ['', 'a', 'b '],
    'name': ['', 'a', 'ä'],
    '"char"': ['', 'a'],
    'bytea': ['', '\\x00ff'],
    'date': ['2000-01-01', '2020-02-29', 'infinity', '-infinity', '4714-11-24 BC', '5874897-12-31', '294277-01-01'],
    'time without time zone': ['00:00', '24:00', '12:34:56.789'],
    'timestamp without time zone': ['2000-01-01', 'infinity', '-infinity', '4714-11-24 BC', '4000-06-01 BC',
                                    '294276-12-31 23:59:59.999999', '2020-03-29 02:30'],
    'timestamp with time zone': ['2000-01-01 00:00+00', 'infinity', '-infinity', '4714-11-24 00:00+00 BC',
                                 '294276-12-31 23:59:59.999999+00', '1883-11-18 12:00+00'],
    'interval': ['0', '1 day', '-1 month', '178000000 years', '-178000000 years', '2147483647 days',
                 '-2147483648 months', '9223372036854775807 microseconds'],
    'uuid': ['00000000-0000-0000-0000-000000000000'],
    'inet': ['0.0.0.0/0', 'ff::/8'],
    'oid': ['0', '4294967295'],
    'money': ['0', '-92233720368547758.08'],
}
TYPES = list(VALUES)
COLUMN = {t: 'c%d' % n for n, t in enumerate(TYPES)}
# casts that go through text, of which no built-in function is listed
IO_CASTS = [(t, 'text') for t in ('smallint', 'integer', 'bigint', 'numeric', 'uuid', 'date',
                                  'timestamp without time zone')] + \
           [('text', t) for t in ('smallint', 'integer', 'bigint', 'double precision', 'numeric', 'date')]
GOOD = {
    'extract': ['year', 'epoch', 'hour', 'week', 'julian', 'isoyear', 'timezone'],
    'date_part': ['year', 'epoch', 'hour', 'week', 'julian', 'isoyear', 'timezone'],
    'date_trunc': ['year', 'month', 'week', 'day', 'millennium'],
    'timezone': ['UTC', 'Pacific/Kiritimati', 'America/New_York'],
    'to_char': ['YYYY-MM-DD HH24:MI:SS.US', 'IYYY-IW ID Q Mon Dy'],
    'like': ['a%', '%\\%', '_'],
}


def psql(sql, role=None, check=True):
    if role:
        sql = 'SET SESSION AUTHORIZATION %s;\n%s' % (role, sql)
    p = subprocess.run(['psql', '-X', '-q', '-A', '-t', '-v', 'VERBOSITY=verbose', '-f', '-'], input=sql,
                       capture_output=True, text=True)
    if check and (p.returncode != 0 or 'ERROR' in p.stderr):
        sys.exit('setup failed:\n' + p.stderr)
    return p


def quote(s):
    return "'" + s.replace("'", "''") + "'"


def setup():
    psql('''SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dp_cdp;
DROP TABLE IF EXISTS fuzzed;
DROP ROLE IF EXISTS fuzz_analyst;
CREATE ROLE fuzz_analyst;
CREATE TABLE fuzzed (person int, %s);
SELECT dp_cdp.create_dataset('fuzz', default_delta => 1e-12);
SELECT dp_cdp.protect_table('fuzzed', 'fuzz', unit => 'person');
SELECT dp_cdp.set_budget('fuzz', 'fuzz_analyst', rho => 1000000);
''' % ', '.join('%s %s' % (COLUMN[t], t) for t in TYPES))
    rows = []
    for person in range(400):
        rows.append('(%d, %s)' % (person, ', '.join(
            'NULL' if rng.random() < 0.05 else quote(rng.choice(VALUES[t])) for t in TYPES)))
    psql('INSERT INTO fuzzed VALUES %s;' % ', '.join(rows))
    functions = {}
    out = psql('''SELECT p.proname, format_type(p.prorettype, NULL), a.constant_arguments,
    (SELECT string_agg(format_type(t, NULL), ',' ORDER BY n) FROM unnest(p.proargtypes) WITH ORDINALITY AS u (t, n))
FROM dp_cdp.allowed_functions() a JOIN pg_proc p ON p.oid = a.function
WHERE a.treatment NOT IN ('constants only', 'per unit');''').stdout
    for line in out.splitlines():
        name, result, constants, args = line.split('|')
        args = args.split(',') if args else []
        if result in VALUES and all(a in VALUES for a in args) and (args or name == 'now'):
            functions.setdefault(result, []).append(
                (name, args, set(int(c) for c in re.findall(r'\d+', constants))))
    return functions


def literal(t, f=None, n=None):
    values = VALUES[t]
    if t == 'text' and f:
        key = 'like' if 'like' in f else f
        if key == 'date_trunc' and n == 3:
            key = 'timezone'
        values = GOOD.get(key, values)
    return '%s::%s' % (quote(rng.choice(values)), t)


def expression(functions, t, depth):
    r = rng.random()
    if depth <= 0 or r < 0.1:
        return COLUMN[t] if r < 0.9 else literal(t)
    if r < 0.16:
        return '(CASE WHEN %s THEN %s ELSE %s END)' % (expression(functions, 'boolean', depth - 1),
                                                      expression(functions, t, depth - 1),
                                                      expression(functions, t, depth - 1))
    if r < 0.2:
        return '%s(%s, %s)' % (rng.choice(['coalesce', 'greatest', 'least', 'nullif']),
                               expression(functions, t, depth - 1), expression(functions, t, depth - 1))
    if r < 0.3:
        froms = [a for a, b in IO_CASTS if b == t]
        if froms:
            return '(%s)::%s' % (expression(functions, rng.choice(froms), depth - 1), t)
    if t not in functions:
        return COLUMN[t]
    name, args, constants = rng.choice(functions[t])
    if name in ('varchar', 'bpchar'):
        return COLUMN[t]
    return 'pg_catalog."%s"(%s)' % (name, ', '.join(
        literal(a, name, n) if n in constants else expression(functions, a, depth - 1)
        for n, a in enumerate(args, 1)))


def main():
    print('seed %d' % SEED)
    functions = setup()
    until = time.time() + SECONDS
    counts = {'answered': 0, 'refused': 0}
    while time.time() < until:
        queries = []
        for _ in range(100):
            t = rng.choice(list(functions))
            e = expression(functions, t, rng.randrange(1, 6))
            shape = rng.random()
            if shape < 0.6:
                queries.append('SELECT dp_count(*) IS NOT NULL FROM fuzzed WHERE (%s) IS NOT NULL' % e)
            elif shape < 0.8:
                queries.append('SELECT dp_count(*) FILTER (WHERE (%s) IS NULL) IS NOT NULL FROM fuzzed' % e)
            elif t in ('integer', 'bigint', 'numeric', 'double precision', 'real', 'smallint'):
                queries.append('SELECT dp_sum(%s, -5, 10) IS NOT NULL FROM fuzzed' % e)
            else:
                queries.append('SELECT bool_and(n IS NOT NULL) IS NOT FALSE FROM '
                               '(SELECT (%s) AS k, dp_count(*) AS n FROM fuzzed GROUP BY 1) s' % e)
        script = ''.join("\\echo Q%d\n%s;\n" % (n, q) for n, q in enumerate(queries))
        # each answer or error behind the number of its query
        p = psql('\\o\n' + script.replace('\\echo', '\\warn'), 'fuzz_analyst', check=False)
        parts = re.split(r'^Q(\d+)$', p.stderr, flags=re.M)
        for n, text in zip(parts[1::2], parts[2::2]):
            query = queries[int(n)]
            error = re.search(r'ERROR:  (\w+): (.*)', text)
            if error is None and 'server closed' not in text and 'FATAL' not in text:
                counts['answered'] += 1
            elif error and (error[1] == 'ZC002' and 'failed while it read' not in error[2] or
                            # errors of constants, in which no row has a part: inside of a run they are ZC002
                            error[1].startswith(('22', '0A'))):
                counts['refused'] += 1
            else:
                print('FAILED with FUZZ_SEED=%d:\n%s;\n%s' % (SEED, query, text.strip()))
                return 1
        if p.stdout.count('t\n') != len(re.findall(r'^Q\d+$', p.stderr, flags=re.M)) - p.stderr.count('ERROR:'):
            print('FAILED with FUZZ_SEED=%d: not every query gave one answer' % SEED)
            return 1
    print('%(answered)d answered, %(refused)d refused' % counts)
    if counts['answered'] < counts['refused']:
        print('FAILED: most expressions are refused, so nothing is tested')
        return 1
    return 0


sys.exit(main())
