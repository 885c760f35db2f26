"""Random releases of one analyst, whose noise and choices are pinned: the analyst's road of bounding_fuzz.py.

The server draws its random bits from pinned_entropy.c, which is told a number for
each connection.  So a statement has one answer, bit for bit, noise and all, whatever
the plan of its inner query.  Roles differ in dp_cdp.bounding_node alone, which an
analyst may not set.
"""
import os
import shutil
import subprocess

from bounding_queries import SUM_TYPES, random_plan
from wire import Connection

HERE = os.path.dirname(os.path.abspath(__file__))
KEYS = ['int2', 'int4', 'negative', 'int8', 'date', 'oid', 'bool', 'timestamp', 'text', 'varchar', 'uuid', 'char(n)', 'numeric', 'float8', 'enum']
CONDITIONS = ['vb', 'NOT vb', 'vi > 300', 't.h < 500', 't.h BETWEEN 100 AND 600', 'vq < 5000 AND vi > 0', 't.g % 3 = 0', 'vi IS NOT NULL']
SETUP = """
CREATE ROLE releases_node LOGIN; CREATE ROLE releases_agg LOGIN; ALTER ROLE releases_agg SET dp_cdp.bounding_node = off;
SELECT dp_cdp.create_dataset('releases', default_rho => 0.01, delta => 1e-3, default_delta => 1e-9, max_groups => 100, max_rows => 100, max_failures => 1000000000);
SET log_min_messages = error;
SELECT dp_cdp.set_budget('releases', r, rho => 1000000, delta => 0.001) FROM unnest('{releases_node,releases_agg,postgres}'::regrole[]) r;
RESET log_min_messages;
"""


def pin_server():
    """Restarts the server of PGHOST with pinned_entropy.c; returns the directory of its numbers, or None where that cannot be."""
    home = os.environ.get('PGHOST', '')
    data, numbers, library = (os.path.join(home, name) for name in ('data', 'pinned', 'pinned_entropy.so'))
    compiler = shutil.which('gcc') or shutil.which('cc')
    if compiler is None or shutil.which('pg_ctl') is None or not os.path.exists(os.path.join(data, 'postmaster.pid')):
        return None
    subprocess.run([compiler, '-O2', '-shared', '-fPIC', '-o', library, os.path.join(HERE, 'pinned_entropy.c')], check=True)
    os.makedirs(numbers, exist_ok=True)
    with open(os.path.join(data, 'postmaster.pid')) as f:
        pid = f.readline().strip()
    # what is preloaded already, as the sanitizer is, wants to be first
    with open('/proc/%s/environ' % pid, 'rb') as f:
        before = [v[len(b'LD_PRELOAD='):].decode() for v in f.read().split(b'\0') if v.startswith(b'LD_PRELOAD=')]
    preload = ':'.join([p for p in before if p] + [library])
    subprocess.run(['pg_ctl', '-s', '-w', '-D', data, '-l', os.path.join(home, 'log'), '-m', 'fast', 'restart'], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, LD_PRELOAD=preload, DP_PINNED_ENTROPY=numbers))
    return numbers


def random_aggregate(rng):
    column = rng.choice(list(SUM_TYPES))
    low, high = SUM_TYPES[column][1:]
    bounds = '%d, %d' % (low, high)
    totals = '%s, %d, %d' % (bounds, min(low, 0) * rng.choice([1, 2, 50]), high * rng.choice([1, 3, 50]))
    sql = rng.choice(['dp_count(*)', 'dp_count(*)', 'dp_count(%s)', 'dp_sum(%s, {b})', 'dp_sum(%s, {t})', 'dp_clipped_totals(%s, {b})', 'dp_clipped_totals(%s, {t})', 'dp_avg(%s, {b})', 'dp_var_pop(%s, {b})',
                      'dp_count(DISTINCT %s)', 'dp_median(%s, {b})', 'dp_histogram(%s, {b}, 8)', 'dp_count(DISTINCT t.u)'])
    if rng.random() < 0.1:
        sql = 'dp_sum(vq * (1 - t.h::numeric / 2000), 0, 10000)'
    if rng.random() < 0.05:
        sql = ', '.join('dp_sum(vi, %d, %d)' % (-i, 900 + i) for i in range(30))
    elif rng.random() < 0.2:
        sql += ' FILTER (WHERE %s)' % rng.choice(CONDITIONS)
    return sql.replace('%s', column).replace('{b}', bounds).replace('{t}', totals)


def random_release(rng, table):
    """a statement; {place} is where it reads t"""
    keys = [i for i in range(len(table.keys)) if table.keys[i][0] in KEYS]
    keys = rng.sample(keys, min(len(keys), rng.choice([0, 1, 1, 2, 3])))
    where = [rng.choice(CONDITIONS)] if rng.random() < 0.4 else []
    for i in keys:
        # declared by a condition, or decided by delta
        if table.key_type(i).sql == 'int' and rng.random() < 0.6:
            where.append('k%d IN (%s)' % (i, ', '.join(str(n) for n in range(-40, 40))))
    aggregates = [random_aggregate(rng) for _ in range(rng.choice([1, 1, 2, 3, 8]))]
    names = ['k%d' % i for i in keys]
    return 'SELECT %s FROM {place} t%s%s' % (', '.join(names + aggregates), ' WHERE ' + ' AND '.join(where) if where else '',
                                             ' GROUP BY ' + ', '.join(names) if names else '')


class Releases:
    def __init__(self, connection, counts, numbers):
        self.connection, self.counts, self.numbers = connection, counts, numbers
        a = connection.query(SETUP)
        if a.error and 'already exists' not in a.text():
            raise RuntimeError(a.text())

    def protect(self, table):
        """Protects the rows of a table, wherever they are; False where an analyst could not ask for them."""
        if self.numbers is None or table.temporary or len(table.unit) > 1:
            return False
        for place in ['t'] + table.places:
            if self.connection.query("SELECT dp_cdp.protect_table('%s', 'releases', unit => 'u')" % place).error:
                return False
        return True

    def unprotect(self, table):
        for place in ['t'] + table.places:
            self.connection.query("SELECT dp_cdp.unprotect_table('%s')" % place)

    def ask(self, role, settings, number, sql):
        """what the role is answered on a connection of its own"""
        c = Connection(role)
        c.look = lambda kind, body: None        # digits of noise may be those of a canary of the other fuzzers
        path = None
        try:
            path = os.path.join(self.numbers, c.query('SELECT pg_backend_pid()').rows[0][0])
            c.query('; '.join("SET %s = '%s'" % s for s in settings.items()))
            with open(path + '.new', 'w') as f:
                f.write(str(number))
            os.rename(path + '.new', path)
            a = c.query(sql)
            return 'error %s: %s' % (a.code(), a.text()) if a.error else sorted(map(str, a.rows))
        finally:
            c.close()
            if path and os.path.exists(path):
                os.unlink(path)

    def settings(self, rng, table):
        """a plan's place and settings, without what an analyst may not set"""
        plan = random_plan(rng, table, 'jit')
        own = {k: v for k, v in plan.settings.items() if not k.startswith(('dp_cdp.', 'auto_explain.', 'temp_file', 'statement_timeout', 'jit'))}
        place = plan.place if plan.place in table.places else 't'
        return place, dict(own, max_parallel_workers_per_gather=min(3, own.get('max_parallel_workers_per_gather', 0)))

    def placed(self, answer, place):
        """messages name the place"""
        return answer.replace(place, 't') if isinstance(answer, str) else answer

    def release(self, rng, table, plans):
        """Asks one statement in several ways; returns what differed, or None."""
        sql = random_release(rng, table)
        common = {'dp_cdp.max_groups': rng.choice([1, 2, 5, 20]), 'dp_cdp.max_rows': rng.choice([1, 3, 100]),
                  'dp_cdp.max_contribution': rng.choice(['', 'auto', 'auto', '0.5', '3', '1000'])}
        number = rng.randrange(2 ** 63)
        first = ('t', dict(common, max_parallel_workers_per_gather=0, enable_hashagg='off', work_mem='64MB'), 'releases_agg')
        expected = None
        for way in [first] + [self.settings(rng, table) + (rng.choice(['releases_node'] * 4 + ['releases_agg']),) for _ in range(plans)]:
            place, settings, role = way[0], dict(way[1], **common), way[2]
            asked = sql.format(place=place)
            answer = self.ask(role, settings, number, asked)
            if expected is None:
                expected = answer
                self.counts['releases'] += 1
                self.counts['refused releases'] += isinstance(answer, str)
                continue
            self.counts['plans of releases'] += 1
            if self.counts['plans of releases'] % 8 == 1 and role == 'releases_node' and not isinstance(answer, str):
                self.look(asked, settings)
            # where a policy seemed to change meanwhile it is planned again, which takes more of the pinned bytes: not twice
            if self.placed(answer, place) != expected:
                self.counts['releases asked again'] += 1
                answer = self.ask(role, settings, number, asked)
            if self.placed(answer, place) != expected:
                return '%s as %s with %s and %d: %s instead of %s' % (asked, role, settings, number, str(answer)[:400], str(expected)[:400])
        return None

    def look(self, sql, settings):
        """what the inner plan is, told to a superuser"""
        self.connection.query('BEGIN; ' + '; '.join("SET LOCAL %s = '%s'" % s for s in settings.items()))
        text = '\n'.join(r[0] for r in self.connection.query('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' + sql).rows)
        self.connection.query('ROLLBACK')
        self.counts['explained releases'] += 1
        self.counts['releases by the node'] += 'DpBounding' in text
        self.counts['releases by workers'] += 'Gather' in text
