#!/usr/bin/env python3
"""Random release queries, near misses, and everything around them.

An episode is one connection of the analyst with random settings, either to
the canaries (schema c) or to tables whose noise is turned down by a large
rho (schema x); there answers are compared with those that the owner gets
from plain SQL, and charges with what the query should cost.

Environment: PGHOST and so on, a database with fixture.sql; FUZZ_SECONDS (300),
FUZZ_SEED (random).  See test/README.md.
"""
import os
import random
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grammar import RHO, Grammar
from oracle import Findings, Ledger, differ, differ_softly, not_allowed
from wire import Connection, Leak, Lost

SECONDS = float(os.environ.get('FUZZ_SECONDS', '300'))
SEED = int(os.environ.get('FUZZ_SEED') or random.randrange(2**32))

PLANNER = [
    'enable_hashagg = off', 'enable_sort = off', 'enable_nestloop = off', 'enable_hashjoin = off', 'enable_mergejoin = off',
    'enable_material = off', 'enable_memoize = off', 'enable_indexscan = off', 'enable_seqscan = off',
    'enable_partitionwise_aggregate = on', 'enable_partitionwise_join = on', "work_mem = '64kB'", 'hash_mem_multiplier = 1',
    'max_parallel_workers_per_gather = 0', 'parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0',
    '{force} = on', '{force} = regress', 'jit = on; SET jit_above_cost = 0', 'from_collapse_limit = 1', 'join_collapse_limit = 1',
    'geqo_threshold = 2', "plan_cache_mode = 'force_generic_plan'", "plan_cache_mode = 'force_custom_plan'",
    'cursor_tuple_fraction = 1e-6', 'constraint_exclusion = on', "default_transaction_isolation = 'serializable'",
    'default_transaction_read_only = on', 'transform_null_equals = on', "TimeZone = 'Pacific/Kiritimati'", 'row_security = off',
    "client_min_messages = 'debug5'", 'debug_print_plan = on', 'log_statement_stats = on', 'default_statistics_target = 1000',
    "backslash_quote = 'off'", 'quote_all_identifiers = on', "session_replication_role = 'replica'", 'synchronous_commit = off',
    "track_functions = 'all'", 'lock_timeout = 5000', 'array_nulls = off', 'xmloption = document',
]
PRIVACY = [
    'dp_cdp.rho = 0.05', 'dp_cdp.rho = 0.001', 'dp_cdp.rho = 1e-11', 'dp_cdp.rho = 0', 'dp_cdp.rho = -1', "dp_cdp.rho = 'NaN'",
    'dp_cdp.rho = 1e9', 'dp_cdp.rho = 100', "dp_cdp.rho = 'x'", 'dp_cdp.delta = 1e-12', 'dp_cdp.delta = 1e-18', 'dp_cdp.delta = 2',
    'dp_cdp.delta = -1', 'dp_cdp.max_groups = 1', 'dp_cdp.max_groups = 2147483647', 'dp_cdp.max_groups = 100', 'dp_cdp.max_groups = -1',
    'dp_cdp.max_rows = 1', 'dp_cdp.max_rows = 1000000', 'dp_cdp.max_rows = 99999999999', 'dp_cdp.standard_aggregates = off',
    'dp_cdp.nonsense = 1', 'dp_cdp.rho TO DEFAULT', 'dp_cdp.max_groups TO DEFAULT',
    'dp_cdp.empty_previews = on', 'dp_cdp.empty_previews = on',
    'dp_cdp.rest = on', "dp_cdp.rest_label = '(rest)'", 'dp_cdp.rest TO DEFAULT',
    'dp_cdp.find_bounds = on', 'dp_cdp.find_bounds = 1', 'dp_cdp.find_bounds = 1e-9', 'dp_cdp.find_bounds = 2', 'dp_cdp.find_bounds TO DEFAULT',
]
# beside queries of private aggregates; {q} is one, {t} a protected table, {c} a column that each has
AROUND = [
    'SELECT * FROM {t}', 'SELECT {c} FROM {t} LIMIT 1', 'SELECT a.{c}, rank() OVER (ORDER BY a.{c}) FROM {t} a JOIN {t} b USING (person) ORDER BY 1 FETCH FIRST 3 ROWS WITH TIES',
    'SET dp_cdp.empty_previews = on; SELECT * FROM {t}', 'SET dp_cdp.empty_previews = on; SELECT {c} FROM {t} LIMIT 3', 'SET dp_cdp.empty_previews = on; CREATE TEMP TABLE previewed AS SELECT * FROM {t}', 'SELECT DISTINCT {c} FROM {t}', 'SELECT {c} FROM {t} GROUP BY {c}',
    'TABLE {t}', 'SELECT count(*) FROM {t}', 'COPY {t} TO STDOUT', 'COPY (SELECT * FROM {t}) TO STDOUT', 'COPY ({q}) TO STDOUT',
    'EXPLAIN SELECT * FROM {t}', 'EXPLAIN (ANALYZE) {q}', 'EXPLAIN (VERBOSE, COSTS) {q}', 'EXPLAIN (FORMAT JSON) {q}',
    'EXPLAIN (SETTINGS, FORMAT YAML) {q}', 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT XML) SELECT * FROM ({q}) z',
    'EXPLAIN (ANALYZE) CREATE TABLE own.ea AS {q}', 'EXPLAIN EXECUTE nothing',
    'CREATE TABLE own.copy AS SELECT * FROM {t}', 'CREATE TEMP TABLE copy AS TABLE {t}', 'SELECT * INTO own.copy2 FROM {t}',
    'CREATE MATERIALIZED VIEW own.m AS SELECT * FROM {t}', 'CREATE MATERIALIZED VIEW own.m AS {q}', 'REFRESH MATERIALIZED VIEW own.m',
    'SELECT * FROM own.m', 'DROP MATERIALIZED VIEW IF EXISTS own.m',
    'CREATE OR REPLACE VIEW own.raw AS SELECT * FROM {t}', 'SELECT * FROM own.raw', 'SELECT dp_count(*) FROM own.raw', 'DROP VIEW IF EXISTS own.raw',
    'INSERT INTO own.notes SELECT 1, {c}::text FROM {t}', "INSERT INTO own.notes SELECT 1, z.c0::text FROM ({q}) z",
    "WITH w AS (INSERT INTO own.notes VALUES (99, 'x') RETURNING id) SELECT dp_count(*) FROM {t}, w",
    "UPDATE own.notes SET note = (SELECT max({c}::text) FROM {t})", 'UPDATE own.notes SET n = (SELECT dp_count(*) FROM {t}) WHERE id = 1',
    'DELETE FROM own.notes USING {t} WHERE id > 50', 'DELETE FROM {t}', 'UPDATE {t} SET {c} = {c}', 'INSERT INTO {t} DEFAULT VALUES',
    'INSERT INTO {t} SELECT * FROM {t} RETURNING *', 'TRUNCATE {t}', 'LOCK TABLE {t}', 'ANALYZE {t}', 'VACUUM {t}',
    'SELECT {c} FROM {t} FOR UPDATE', 'SELECT dp_count(*) FROM {t} FOR SHARE', 'SELECT dp_count(*) FROM {t} TABLESAMPLE SYSTEM (50)',
    'SELECT dp_count(*) FROM {t} TABLESAMPLE BERNOULLI (50) REPEATABLE (1)', 'SELECT ctid FROM {t}', 'SELECT dp_count(ctid) FROM {t}',
    'SELECT tableoid::regclass, dp_count(*) FROM {t} GROUP BY 1', 'SELECT dp_count(z) FROM {t} z', 'SELECT z::text, dp_count(*) FROM {t} z GROUP BY 1',
    'WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3) SELECT dp_count(*) FROM {t}, r',
    'WITH RECURSIVE r AS (({q}) UNION ALL SELECT * FROM r WHERE false) SELECT * FROM r',
    'SELECT (SELECT {c} FROM {t} LIMIT 1)', 'SELECT dp_count(*) FROM vault.vault', "SELECT dp_count(*), dp_sum(n, 0, 5) FROM vault.swaps GROUP BY kind",
    'SELECT kind, dp_count(DISTINCT person) FROM vault.swaps GROUP BY kind', 'SELECT count(*) FROM vault.vault WHERE secret IS NOT NULL',
    'SELECT row_to_json(z) FROM {t} z', "SELECT query_to_xml('SELECT * FROM {t}', true, true, '')", "SELECT table_to_xml('{t}', true, true, '')",
    "SELECT ts_stat('SELECT to_tsvector({c}::text) FROM {t}')", "SELECT pg_relation_size('{t}')", "SELECT pg_table_size('vault.vault')",
    "SELECT reltuples FROM pg_class WHERE relname = '{t}'", 'SELECT * FROM pg_stat_user_tables', 'SELECT * FROM pg_stats', 'SELECT * FROM pg_stats_ext',
    'SELECT attname, n_distinct FROM pg_stats', 'SELECT * FROM pg_sequences', 'SELECT * FROM pg_locks', 'SELECT * FROM pg_stat_activity',
    'SELECT * FROM dp_cdp.budgets', 'SELECT * FROM dp_cdp.releases ORDER BY id DESC LIMIT 5', 'SELECT * FROM dp_cdp_internal.release_log LIMIT 1',
    'SELECT * FROM dp_cdp.protected', 'SELECT * FROM dp_cdp.datasets', 'SELECT * FROM dp_cdp.check_setup()',
    "SELECT dp_cdp.set_budget('c', 'fuzz_analyst', rho => 9)", "SELECT dp_cdp.unprotect_table('{t}')", 'SELECT dp_cdp.empty_ledger()',
    "SELECT dp_cdp.declared_keys('{t}', '{c}')", 'DELETE FROM dp_cdp_internal.release_log', 'UPDATE dp_cdp_internal.budget SET rho_spent = 0',
    "SECURITY LABEL FOR dp_cdp ON TABLE {t} IS NULL", 'ALTER TABLE {t} OWNER TO fuzz_analyst', 'GRANT SELECT ON {t} TO fuzz_analyst',
    'CREATE INDEX ON {t} ({c})', 'CREATE TABLE own.child () INHERITS ({t})', 'CREATE TABLE own.likeness (LIKE {t} INCLUDING ALL)',
    'CREATE STATISTICS own.st ON {c}, person FROM {t}', 'CREATE RULE r AS ON INSERT TO own.notes DO ALSO SELECT * FROM {t}',
    "CREATE OR REPLACE FUNCTION own.f() RETURNS SETOF text LANGUAGE sql AS 'SELECT {c}::text FROM {t}'", 'SELECT own.f()', 'SELECT * FROM own.f()',
    "CREATE OR REPLACE FUNCTION own.g() RETURNS SETOF text LANGUAGE sql STABLE BEGIN ATOMIC SELECT {c}::text FROM {t}; END", 'SELECT * FROM own.g()',
    "CREATE OR REPLACE FUNCTION own.h(a anyelement) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS 'BEGIN RAISE NOTICE ''%'', a; RETURN true; END'",
    'SELECT dp_count(*) FROM {t} WHERE own.h({c})', 'SELECT dp_count(*) FROM {t} z WHERE own.h(z)', 'SELECT * FROM {t} WHERE own.h({c})',
    'SELECT * FROM v_visits WHERE own.h(city)', "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM {t} LOOP RAISE NOTICE '%', r; END LOOP; END $$",
    "DO $$ DECLARE r text; BEGIN SELECT {c} INTO r FROM {t} LIMIT 1; RAISE NOTICE '%', r; EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLERRM; END $$",
    "DO $$ DECLARE n bigint; BEGIN FOR i IN 1..7 LOOP SELECT dp_count(*) INTO n FROM {t}; BEGIN SELECT 1 / (n - n) INTO n; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$",
    'DECLARE cc CURSOR FOR SELECT * FROM {t}', 'SET ROLE fuzz_team', 'RESET ROLE', 'SET ROLE fuzz_owner', 'SET SESSION AUTHORIZATION fuzz_owner',
    'DISCARD PLANS', 'DISCARD ALL', 'RESET ALL', "LISTEN a", 'SELECT * FROM c.logs_old', 'SELECT dp_count(*) FROM c.logs_new', 'SELECT dp_count(*) FROM c.logs_new1 WHERE code > 0',
    "SELECT {c}, dp_count(*), grouping({c}) FROM {t} GROUP BY ROLLUP ({c})", 'SELECT {c} FROM {t} WHERE false', 'SELECT {c} FROM {t} LIMIT 0',
    'SELECT * FROM {t} WHERE 0 = 1', 'SELECT currtid2(\'{t}\', \'(0,1)\')', "SELECT pg_get_viewdef('v_visits')", "SELECT lo_get(1)",
    'SELECT dp_count(*) FROM {t} NATURAL JOIN {t} z', 'SELECT dp_count(*) FROM {t} a, {t} b', 'MERGE INTO own.notes USING {t} ON false WHEN NOT MATCHED THEN INSERT VALUES (1)',
    'MERGE INTO {t} USING own.notes ON true WHEN MATCHED THEN DO NOTHING', 'SELECT * FROM v_private', 'SELECT count(*), sum(visits) FROM v_private',
    'SELECT * FROM v_words', 'SELECT * FROM v_pair', 'SELECT dp_count(*) FROM v_private', 'PREPARE TRANSACTION \'x\'',
]


# of a condition on public rows (asked.py: filtered), which plain SQL cannot compute either
FAILS_ON_PUBLIC_ROWS = re.compile(r'100 / \(s\d+\.site - 1\)')


class Episode:
    def __init__(self, rng, findings, ledger, owner):
        self.rng, self.findings, self.ledger, self.owner = rng, findings, ledger, owner
        self.exact = rng.random() < 0.65
        role = 'fuzz_analyst' if self.exact or rng.random() < 0.95 else 'fuzz_poor'
        self.poor = role == 'fuzz_poor'
        self.fails_on_public_rows = False
        self.grammar = Grammar(rng)
        self.settings = []
        self.analyst = Connection(role)
        self.force = 'debug_parallel_query' if ledger.version >= 160000 else 'force_parallel_mode'
        self.begin()

    def set(self, setting, both=False):
        setting = 'SET ' + setting.format(force=self.force)
        a = self.analyst.query(setting)
        if a.error:
            self.findings.error(a.code(), a.text(), setting, allowed=('22023', '22P02', '42704', '22003'))
        else:
            self.settings.append(setting)
            if both:
                self.owner.query(setting)

    def begin(self):
        self.owner.query('RESET ALL; SET search_path = x, public; SET statement_timeout = 30000')
        self.set('search_path = %s, public' % ('x' if self.exact else 'c'))
        self.set('statement_timeout = 20000')
        for setting in self.rng.sample(PLANNER, self.rng.choice([0, 1, 3, 6])):
            # rows are read with TimeZone UTC whatever the session's is
            if not (self.exact and setting.startswith('TimeZone')):
                self.set(setting, both=setting.startswith('transform'))
        if self.exact:
            self.set('dp_cdp.rho = %s' % RHO)

    def context(self):
        return '; '.join(self.settings)

    def run(self, statement, wrap=None):
        """one statement, its errors judged"""
        a = self.analyst.query(statement)
        if a.error:
            allowed = ('ZC001',) if self.poor else ()
            if self.fails_on_public_rows:
                allowed += ('22012',)
            self.findings.error(a.code(), a.text(), statement, self.context(), allowed)
        return a

    # ------------------------------------------------------------------
    # Ways to ask; each returns the rows to compare, or None
    # ------------------------------------------------------------------

    def plain(self, q):
        a = self.run(q)
        return None if a.error else a.rows

    def prepared(self, q):
        rows = None
        if not self.run('PREPARE p AS ' + q).error:
            for _ in range(self.rng.choice([1, 2, 7])):
                a = self.run('EXECUTE p')
                rows = None if a.error else a.rows
            self.run('DEALLOCATE p')
        return rows

    def cursor(self, q):
        self.run('BEGIN')
        rows = None
        scroll = self.rng.choice(['', 'SCROLL ', 'NO SCROLL ', 'BINARY '])
        hold = self.rng.choice(['', '', ' WITH HOLD'])
        if not self.run('DECLARE k %sCURSOR%s FOR %s' % (scroll, hold, q)).error:
            a = self.run('FETCH %d FROM k' % self.rng.choice([0, 1, 2]))
            if not a.error:
                if hold and self.rng.random() < 0.5:
                    self.run('COMMIT')
                    self.run('BEGIN')
                b = self.run('FETCH ALL FROM k')
                rows = None if b.error or scroll.startswith('BINARY') else a.rows + b.rows
                if scroll == 'SCROLL ' and rows is not None:
                    self.run('MOVE ABSOLUTE 0 IN k')
                    c = self.run('FETCH ALL FROM k')
                    if not c.error and c.rows != rows and not a.error and 'FETCH 0' not in a.tags:
                        self.findings.add('rewound', 'a rewound cursor gave other rows', [self.context(), q, str(rows), str(c.rows)])
        self.run(self.rng.choice(['COMMIT', 'ROLLBACK']))
        if hold:
            self.analyst.query('CLOSE ALL')
        return rows

    def table(self, q):
        name = 'own.t%d' % self.rng.randrange(10**9)
        kind = self.rng.choice(['TABLE', 'TABLE', 'TEMP TABLE', 'MATERIALIZED VIEW'])
        if kind.startswith('TEMP'):
            name = name[4:]
        a = self.run('CREATE %s %s AS %s' % (kind, name, q))
        if a.error:
            return None
        rows = self.run('TABLE ' + name).rows
        self.run('DROP %s %s' % (kind.replace('TEMP ', ''), name))
        return rows

    def view(self, q):
        if self.run('CREATE VIEW own.v AS ' + q).error:
            return None
        a = self.run('SELECT * FROM own.v')
        self.run('DROP VIEW own.v')
        return None if a.error else a.rows

    def block(self, q):
        self.run('DO $do$ DECLARE r record; BEGIN FOR r IN %s LOOP RAISE NOTICE \'%%\', r; END LOOP; %s EXCEPTION WHEN OTHERS THEN '
                 'RAISE NOTICE \'% %\', SQLSTATE, SQLERRM; END $do$'.replace('%s', '%(q)s', 1).replace('%s', '%(x)s', 1).replace('%%', '%')
                 .replace('%(q)s', q).replace('%(x)s', self.rng.choice(['', "RAISE EXCEPTION 'undo';"])))

    def savepoint(self, q):
        self.run('BEGIN')
        self.run('SAVEPOINT s')
        a = self.run(q)
        self.run('ROLLBACK TO s')
        b = self.run(q)
        self.run(self.rng.choice(['COMMIT', 'ROLLBACK']))
        return None if a.error or b.error else b.rows

    def extended(self, q):
        parameters = []

        def bound(m):
            parameters.extend([m[2], m[3]])
            return '%s $%d, $%d%s)' % (m[1], len(parameters) - 1, len(parameters), m[4])
        asked = re.sub(r'(dp_sum\([a-z0-9.+* ()]+,) (-\d+), (\d+)(|, -\d+, \d+)\)', bound, q) if self.rng.random() < 0.5 else q
        a = self.analyst.extended(asked, parameters, self.rng.choice([0, 0, 1, 2]))
        if a.error:
            self.findings.error(a.code(), a.text(), asked, self.context(), ('ZC001',) if self.poor else ())
            return None
        return a.rows if any(t.startswith('SELECT') for t in a.tags) else None

    def copy(self, q):
        a = self.run('COPY (%s) TO STDOUT WITH (NULL \'\\N\')' % q)
        return None

    def function(self, q):
        body = 'SELECT count(*) FROM (%s) z' % q
        if not self.run('CREATE OR REPLACE FUNCTION own.fn() RETURNS bigint LANGUAGE %s' % self.rng.choice([
                'sql AS $f$%s$f$' % body, 'plpgsql AS $f$BEGIN RETURN (%s); END$f$' % body,
                'sql STABLE BEGIN ATOMIC %s; END' % body])).error:
            self.run('SELECT own.fn(), own.fn()')
            self.run('DROP FUNCTION own.fn()')

    def around(self, _):
        table, column = self.rng.choice([('visits', 'city'), ('people', 'name'), ('stays', 'ward'), ('logs', 'code'),
                                         ('samples', 'batch'), ('v_visits', 'city'), ('visits', 'f')])
        for _ in range(4):
            template = self.rng.choice(AROUND)
            statement = template.replace('{t}', table).replace('{c}', column)
            if '{q}' in statement:
                statement = statement.replace('{q}', self.grammar.query(1).private)
            a = self.analyst.query(statement)
            if a.error:
                # a table of the analyst's own may lack or hold anything by now
                self.findings.error(a.code(), a.text(), statement, self.context(), ('ZC001', '22P02', '2BP01', '22000', '23502', '25P02', '2200H'))
            self.findings.counts['around'] += 1
            if statement.startswith(('DISCARD ALL', 'RESET ALL')) or 'ROLE' in statement:
                self.analyst.query('ROLLBACK; RESET ROLE; SET statement_timeout = 20000; SET search_path = %s, public%s' % (
                    'x' if self.exact else 'c', '; SET dp_cdp.rho = %s' % RHO if self.exact else ''))
                self.settings.append(statement)
        self.analyst.query('ROLLBACK')
        self.analyst.query('DROP VIEW IF EXISTS own.raw; DROP MATERIALIZED VIEW IF EXISTS own.m; DELETE FROM own.notes WHERE id NOT BETWEEN 1 AND 20')

    def soft_difference(self, rows, q):
        exact, empty = self.owner.query(q.soft[0]), self.owner.query(q.soft[1])
        if exact.error or empty.error:
            self.findings.counts['twin failed %s' % (exact if exact.error else empty).code()] += 1
            return None
        return differ_softly(rows, exact.rows, empty.rows[0], q)

    # ------------------------------------------------------------------

    def step(self):
        rng, f = self.rng, self.findings
        if not self.exact and rng.random() < 0.3:
            self.set(rng.choice(PRIVACY))
        how = rng.choices([self.plain, self.prepared, self.cursor, self.table, self.view, self.block, self.savepoint,
                           self.extended, self.copy, self.function, self.around],
                          [50, 6, 9, 5, 3, 5, 5, 8, 3, 3, 8])[0]
        if how == self.around:
            self.around(None)
            self.ledger.since()
            return
        self.grammar.tags = set()
        q = self.grammar.query()
        if self.exact:
            self.analyst.query('SET dp_cdp.max_rows = %d; SET dp_cdp.max_groups = %d; SET dp_cdp.rest = off; SET dp_cdp.find_bounds = %s; SET dp_cdp.consistent = %s' % (
                q.rows, q.rows, 'on' if q.finds else 'off', 'on' if q.agrees else 'off'))
        self.ledger.since()
        self.fails_on_public_rows = FAILS_ON_PUBLIC_ROWS.search(q.private) is not None
        errors = sum(n for n, _ in f.errors.values())
        rows = how(q.private)
        failed = sum(n for n, _ in f.errors.values()) > errors
        f.counts['asked'] += 1
        charges = self.ledger.since()
        if failed:
            f.counts['refused'] += 1
        if charges and how == self.plain and (q.free or q.total and failed):
            f.add('price', 'what is free was charged' if q.free else 'what was paid for failed', [self.context(), q.private])
        if q.declared and any(c[2] for c in charges):
            # groups without rows are told for nothing only
            q.sure = False
            f.counts['keys selected that could be known'] += 1
        if rows is None:
            return
        f.counts['answered'] += 1
        statement = [self.context(), 'max_rows %d' % q.rows, q.private]
        if rows and not charges and not q.near_miss and not q.may_be_free and not re.search(r'EXISTS|LIMIT 0', q.private):
            f.add('price', 'answered without a charge (%s)' % how.__name__, statement + [str(rows)[:300]])
        if not self.exact:
            return
        for rho, columns, _ in charges if not q.finds else ():
            if abs(rho - columns * RHO) > 1e-6:
                f.add('price', '%d noisy columns cost %s' % (columns, rho), statement)
        if how == self.plain and q.charged and rows:
            f.counts['prices checked'] += 1
            if sum(c[1] for c in charges) not in q.charged:
                f.add('price', 'charged %d aggregates instead of %s' % (
                    sum(c[1] for c in charges), ' or '.join(map(str, q.charged))), statement)
        if q.fragile:
            return
        f.counts['with a dimension'] += bool(q.allowed)
        other = not_allowed(rows, q, self.owner)
        if other:
            f.add('a group that is not allowed', other, statement + ['-- allowed:', q.allowed])
        if q.soft:
            f.counts['compared softly'] += 1
            if self.soft_difference(rows, q) and not any(
                    again.error or self.soft_difference(again.rows, q) is None
                    for again in [self.analyst.query(q.private) for _ in range(2)]):
                f.add('different', self.soft_difference(rows, q), statement + ['-- exact:', q.soft[0]])
            return
        exact = self.owner.query(q.exact)
        if exact.error:
            f.counts['twin failed %s' % exact.code()] += 1
            if exact.code().startswith('42'):
                f.twin_failures.append((exact.text(), q.private, q.exact))
            return
        difference = differ(rows, exact.rows, q.columns)
        kind = 'compared' if q.sure else 'compared, not sure'
        f.counts[kind] += 1
        if difference is None:
            return
        # noise does not repeat itself
        for _ in range(2):
            again = self.analyst.query(q.private)
            if again.error or differ(again.rows, exact.rows, q.columns) is None:
                f.counts['differed once'] += 1
                return
        if q.sure:
            f.add('different', difference, statement + ['-- exact:', q.exact])
        else:
            f.counts['different, not sure'] += 1
            f.unsure.append((difference, q.private, q.exact))


def main():
    rng = random.Random(SEED)
    print('grammar: SEED=%d, %d s' % (SEED, SECONDS), flush=True)
    findings = Findings(SEED)
    findings.unsure, findings.twin_failures = [], []
    ledger = Ledger(findings)
    ledger.version = int(ledger.value('SHOW server_version_num'))
    owner = Connection('fuzz_owner')
    until = time.time() + SECONDS
    n = 0
    while time.time() < until:
        n += 1
        # each episode can be repeated without those before it
        episode = None
        start = int(os.environ.get('FUZZ_EPISODE') or n)
        try:
            episode = Episode(random.Random('%d/%d' % (SEED, start)), findings, ledger, owner)
            findings.seed = '%d FUZZ_EPISODE=%d' % (SEED, start)
            for _ in range(25):
                episode.step()
                if time.time() > until:
                    break
        except Leak as e:
            findings.add('LEAK', str(e), [episode.context()] + episode.analyst.history[-3:])
        except Lost as e:
            findings.add('lost connection', str(e), [episode.context()] + episode.analyst.history[-2:] if episode else [])
            time.sleep(3)
            try:
                ledger.admin = Connection('postgres')
                owner = Connection('fuzz_owner')
            except Lost as e:
                findings.add('no server', str(e), [])
                break
        if episode:
            episode.analyst.close()
        if n % 10 == 0:
            ledger.check('after episode %d' % n)
        if start != n:
            break
    ledger.admin.query("SELECT pg_sleep(0.5)")
    granted, refused, rho = ledger.check('at the end')
    print('ledger and audit agree on %s granted and %s refused debits, rho %s' % (granted, refused, rho)
          if not any(k[0] == 'ledger' for k in findings.found) else 'ledger: see above')
    findings.counts['episodes'] = n
    findings.report()
    if os.environ.get('FUZZ_VERBOSE'):
        for (code, message), (count, sql) in sorted(findings.errors.items(), key=lambda e: -e[1][0]):
            print('%6d %s %s\n\t\t%s' % (count, code, message, sql[:300]))
        for difference, private, exact in findings.unsure[:15]:
            print('NOT SURE: %s\n\t%s\n\t%s' % (difference, private, exact))
        for message, private, exact in {t[0]: t for t in findings.twin_failures}.values():
            print('TWIN: %s\n\t%s\n\t%s' % (message, private, exact))
    # a generator that is refused, or not compared, tests nothing
    if SECONDS >= 60 and not (findings.counts['answered'] * 5 > findings.counts['asked'] and findings.counts['compared'] > 50):
        print('FAILED: too few queries were answered or compared')
        return 1
    return 1 if findings.found else 0


if __name__ == '__main__':
    sys.exit(main())
