#!/usr/bin/env python3
"""What units contribute is the same, bit for bit, however it is computed.

Each episode makes a table of random types, skew and storage. Queries as the
inner ones of releases, with a seed that is told, are answered by PostgreSQL's own
aggregation in one process, and then by random plans: the node that bounds, workers,
little memory, other places and orders of the rows, joins, settings. All answers
must be equal; where nothing is left out, to plain SQL as well. A plan that is
cancelled or out of temporary space may fail, and must leave nothing.

What differs is made smaller, and printed as a script.

Then an analyst asks for releases of the same tables, by the guard, the price and the
noise, whose random bits are pinned (bounding_releases.py): their answers must be
equal, too.

Environment: PGHOST and so on, a superuser and a scratch database; FUZZ_SECONDS
(60) or FUZZ_EPISODES, FUZZ_SEED (random), FUZZ_EPISODE (this one alone), FUZZ_WORKER ("0/2").
"""
import collections
import copy
import os
import random
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bounding_queries import REFERENCE, Entries, Plan, random_plan, random_query, statement, twin
from bounding_releases import SETUP, Releases, pin_server
from bounding_tables import COMMON, TYPES, random_table
from wire import Connection, Lost

SECONDS = float(os.environ.get('FUZZ_SECONDS') or 60)
EPISODES = int(os.environ.get('FUZZ_EPISODES') or 0)
SEED = int(os.environ.get('FUZZ_SEED') or random.randrange(2**32))
EPISODE = int(os.environ.get('FUZZ_EPISODE') or 0)
WORKER, WORKERS = map(int, os.environ.get('FUZZ_WORKER', '0/1').split('/'))
VERBOSE = bool(os.environ.get('FUZZ_VERBOSE'))
QUERIES, PLANS = 6, 6           # of an episode, of a query
RELEASES = 3                    # of an episode
SHRINK_SECONDS = 60
FINDINGS = 3                    # after so many it ends


def digest(sql):
    return """SELECT md5(string_agg(r::text, ',' ORDER BY r::text COLLATE "C")), count(*) FROM (%s) r""" % sql


class Fuzz:
    def __init__(self):
        self.counts = collections.Counter()
        self.found = 0
        self.entries = Entries()
        pinned = pin_server()
        self.connect()
        self.connection.query('CREATE EXTENSION IF NOT EXISTS dp_cdp')
        self.releases = Releases(self.connection, self.counts, pinned)
        self.connection.query(COMMON)       # which may be there from an earlier run
        names = self.connection.query("SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')").rows
        self.force = names[0][0]

    def connect(self):
        self.connection = Connection(os.environ.get('PGUSER', 'postgres'), timeout=120)
        self.connection.query("LOAD 'auto_explain'; SET TimeZone = 'UTC'; SET jit = off; SET statement_timeout = '60s'")

    def make(self, table):
        a = self.connection.query(table.script())
        if a.error:
            raise RuntimeError('%s\n%s' % (a.text(), table.script()))

    # ------------------------------------------------------------------
    # Answers
    # ------------------------------------------------------------------

    def sql(self, table, q, plan, form=digest):
        """what goes before, the query, and what comes after it"""
        units = [TYPES[name].text('{u}') for name in table.unit]
        if not plan.parameter:
            return plan.begin(), form(statement(q, plan.place, units, self.entries)), 'ROLLBACK'
        prepared = form(statement(q, plan.place, units, self.entries, '$1'))
        return ("%s; SET LOCAL plan_cache_mode = 'force_generic_plan'; PREPARE inner_query (dp_cdp_internal.bound_spec) AS %s" % (plan.begin(), prepared),
                'EXECUTE inner_query (%s)' % q.spec(), 'ROLLBACK; DEALLOCATE ALL')

    def answer(self, table, q, plan, explain=False):
        """the answer's hash and number of rows, or the error"""
        before, sql, _ = self.sql(table, q, plan)
        a = self.connection.query(before)
        if not a.error and explain and not plan.may_fail:
            self.look(self.connection.query('EXPLAIN (COSTS OFF) ' + sql), q)
        if not a.error:
            a = self.connection.query(sql)
        self.leave(plan)
        warnings = [n['M'] for n in a.notices if n.get('S') == 'WARNING']
        if warnings:
            return 'warnings: ' + '; '.join(warnings)
        if a.error:
            return 'error %s: %s' % (a.code(), a.text())
        return ' '.join(str(v) for v in a.rows[0])

    def leave(self, plan):
        # a time limit may cut off this one, too
        while self.connection.query('ROLLBACK').status != 'I':
            pass
        if plan.parameter:
            self.connection.query('DEALLOCATE ALL')

    def look(self, a, q):
        """counts what kinds of plans there were"""
        text = '\n'.join(r[0] for r in a.rows)
        node = 'DpBounding' in text
        gather = re.search(r'Gather', text) is not None
        seen = {'node': node, 'workers': gather, 'node in workers': gather and re.search(r'Gather.*DpBounding', text, re.S) is not None,
                'partial states': re.search(r'Partial (Hash|Group)Aggregate', text) is not None, 'several nodes': text.count('DpBounding') > 1,
                'joins': 'Join' in text or 'Nested Loop' in text, 'index scans': 'Index' in text, 'Append': 'Append' in text}
        for name, is_so in seen.items():
            self.counts[name] += is_so
        if node and q.norms:
            self.counts['node with norms'] += 1
        if node and self.counts['node'] % 8 == 1:
            self.measured = True

    def spills(self, table, q, plan):
        """EXPLAIN ANALYZE of a plan with the node: how many needed several passes"""
        before, sql, _ = self.sql(table, q, plan)
        self.connection.query(before)
        a = self.connection.query('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' + sql)
        self.leave(plan)
        text = '\n'.join(r[0] for r in a.rows)
        self.counts['explained'] += 1
        self.counts['in batches'] += any(int(n) > 1 for n in re.findall(r'Batches: (\d+)', text))
        self.counts['on disk'] += any(int(n) > 0 for n in re.findall(r'Units: .*Disk Usage: (\d+)', text))

    # ------------------------------------------------------------------
    # Episodes
    # ------------------------------------------------------------------

    def episode(self, n):
        self.rng = rng = random.Random('%d %d' % (SEED, n))
        table = random_table(rng)
        self.make(table)
        for _ in range(QUERIES):
            q = random_query(rng, table)
            plans = [random_plan(rng, table, self.force) for _ in range(PLANS)]
            begin = time.time()
            self.query(n, table, q, plans)
            if self.found >= FINDINGS:
                return
            if VERBOSE:
                print('%d: %.2f s %s %s' % (n, time.time() - begin, table, q))
        self.release(n, table)
        left = self.connection.query("SELECT count(*) FROM pg_ls_tmpdir()").rows[0][0]
        if left != '0':
            self.finding(n, '%s temporary files are left' % left, table, None, None)
        self.counts['episodes'] += 1

    def release(self, n, table):
        # a sequence of their own: with releases or without, an episode has the same queries
        rng = random.Random('%d %d releases' % (SEED, n))
        if self.releases.protect(table):
            for _ in range(RELEASES):
                differs = self.releases.release(rng, table, PLANS)
                if differs:
                    self.finding(n, 'releases differ: ' + differs, table, None, None)
                    break
        self.releases.unprotect(table)

    def query(self, n, table, q, plans):
        try:
            expected = self.answer(table, q, REFERENCE)
        except Lost as e:
            self.lost(n, e, table, q, REFERENCE)
        self.counts['queries'] += 1
        self.counts['with norms'] += bool(q.norms)
        if expected.startswith('error') or expected.startswith('warnings'):
            self.finding(n, 'no query may fail: ' + expected, table, q, REFERENCE)
            return
        plain = twin(q)
        if plain:
            a = self.connection.query(digest(plain))
            self.counts['beside plain SQL'] += 1
            if a.error or ' '.join(str(v) for v in a.rows[0]) != expected:
                self.finding(n, 'plain SQL has another answer: %s' % (a.text() or a.rows[0]), table, q, REFERENCE, plain)
        for plan in plans:
            self.measured = False
            try:
                answer = self.answer(table, q, plan, explain=True)
                if self.measured and not plan.may_fail:
                    self.spills(table, q, plan)
            except Lost as e:
                self.lost(n, e, table, q, plan)
            self.counts['plans'] += 1
            if answer[6:11] in plan.may_fail and answer.startswith('error'):
                self.counts['cut off'] += 1
            elif self.is_slow_anyway(table, q, plan, answer):
                self.counts['slow without the node'] += 1
            elif answer != expected:
                self.differs(n, table, q, plan, expected, answer)
                return

    def is_slow_anyway(self, table, q, plan, answer):
        """whether a plan takes too long for what PostgreSQL has below the node: workers started for each row of a nested loop"""
        if not answer.startswith('error 57014'):
            return False
        without = Plan(plan.place, {**plan.settings, 'dp_cdp.bounding_node': 'off'}, plan.parameter)
        return self.answer(table, q, without).startswith('error 57014')

    # ------------------------------------------------------------------
    # Findings
    # ------------------------------------------------------------------

    def is_wrong(self, table, q, plan, made):
        """whether the plan's answer is not the reference's, in one of three times"""
        try:
            if table is not made:
                self.make(table)
            expected = self.answer(table, q, REFERENCE)
            if expected.startswith('error'):
                return False
            for _ in range(3):
                answer = self.answer(table, q, plan)
                if answer != expected and not (answer.startswith('error') and answer[6:11] in plan.may_fail):
                    return True
        except RuntimeError:
            pass
        return False

    def smaller(self, table, q, plan):
        """tables, queries and plans with a little less in them"""
        for name in plan.settings:
            if name not in ('dp_cdp.bounding_node', 'work_mem'):
                yield table, q, Plan(plan.place, {k: v for k, v in plan.settings.items() if k != name}, plan.parameter, plan.may_fail)
        if plan.parameter:
            yield table, q, Plan(plan.place, plan.settings, False, plan.may_fail)
        if plan.place != 't':
            yield table, q, Plan('t', plan.settings, plan.parameter, plan.may_fail)
        if q.counts_in:
            yield table, with_(q, 'counts_in', None), plan
        for i in range(len(q.norms)):
            yield table, with_(q, 'norms', q.norms[:i] + q.norms[i + 1:]), plan
        for name in ('where', 'keys', 'values'):
            items = getattr(q, name)
            # values have numbers where others name them
            if name == 'values' and (len(items) < 2 or q.norms or q.counts_in or any(v.kind == 'scaled' for v in items)):
                continue
            if len(items) > 4:
                for half in (items[:len(items) // 2], items[len(items) // 2:]):
                    yield table, with_(q, name, half), plan
            for i in range(len(items)):
                yield table, with_(q, name, items[:i] + items[i + 1:]), plan
        if q.join:
            yield table, with_(q, 'join', ''), plan
        for rows in (table.rows // 8, table.rows // 2, table.rows * 3 // 4):
            if 0 < rows < table.rows:
                yield with_(table, 'rows', rows), q, plan
        for units in (1, table.units // 2):
            if 0 < units < table.units:
                yield with_(table, 'units', units), q, plan
        if table.nulls:
            yield with_(table, 'nulls', 0), q, plan
        for place in table.places:
            if place != plan.place:
                yield with_(table, 'places', [p for p in table.places if p != place]), q, plan

    def shrink(self, table, q, plan):
        """the smallest that is still wrong, as far as time allows; its table is made"""
        end = time.time() + SHRINK_SECONDS
        made = table
        again = True
        while again:
            again = False
            for t, smaller_q, p in self.smaller(table, q, plan):
                if time.time() > end:
                    break
                wrong = self.is_wrong(t, smaller_q, p, made)
                made = t
                if wrong:
                    table, q, plan, again = t, smaller_q, p, True
                    break
        self.make(table)
        return table, q, plan

    def differs(self, n, table, q, plan, expected, answer):
        self.found += 1
        print('FOUND in episode %d of SEED=%d: %s instead of %s' % (n, SEED, answer, expected), flush=True)
        if not self.is_wrong(table, q, plan, table):
            print('but not again, in three times:')
            self.show(table, q, plan)
            return
        smaller = self.shrink(table, q, plan)
        self.show(*smaller)
        rows = [self.rows(smaller[0], smaller[1], p) for p in (REFERENCE, smaller[2])]
        for name, mine, other in (('missing', *rows), ('instead', *reversed(rows))):
            for row in sorted(set(mine) - set(other))[:5]:
                print('-- %s: %s' % (name, row[:300]))
        self.make(table)

    def rows(self, table, q, plan):
        before, sql, _ = self.sql(table, q, plan, lambda sql: 'SELECT r::text FROM (%s) r' % sql)
        self.connection.query(before)
        a = self.connection.query(sql)
        self.leave(plan)
        return [a.text()] if a.error else [r[0] for r in a.rows]

    def show(self, table, q, plan, plain=None):
        """the case as a script for psql, in an empty database"""
        print("-- the two answers of this script must be equal\nCREATE EXTENSION dp_cdp;\nSET client_min_messages = error;\nLOAD 'auto_explain';\nSET jit = off;"
              + COMMON + table.script())
        for p in (REFERENCE, plan):
            if q and p:
                print(';\n'.join(self.sql(table, q, p)) + ';')
        if plain:
            print(digest(plain) + ';')
        sys.stdout.flush()

    def finding(self, n, what, table, q, plan, plain=None):
        self.found += 1
        print('FOUND in episode %d of SEED=%d: %s' % (n, SEED, what))
        self.show(table, q, None if plan is REFERENCE else plan, plain)

    def lost(self, n, e, table, q, plan):
        self.finding(n, 'the server: %s' % e, table, q, plan)
        raise e

    def report(self, seconds):
        print('%d s: %s' % (seconds, ', '.join('%d %s' % (k, name) for name, k in self.counts.items() if k)), flush=True)

    def too_little(self):
        """what was hardly tried at all"""
        c = self.counts
        wanted = {'node': 0.3, 'node in workers': 0.08, 'workers': 0.2, 'partial states': 0.05, 'node with norms': 0.05, 'Append': 0.05, 'joins': 0.03}
        return [name for name, share in wanted.items() if c['plans'] >= 300 and c[name] < share * c['plans']] + \
            (['in batches'] if c['explained'] >= 40 and c['in batches'] == 0 else []) + \
            [name for name in ('releases by the node', 'releases by workers') if c['explained releases'] >= 40 and c[name] < 0.1 * c['explained releases']] + \
            (['answered releases'] if c['releases'] >= 40 and c['refused releases'] > 0.5 * c['releases'] else [])


def with_(item, name, value):
    item = copy.copy(item)
    setattr(item, name, value)
    return item


def main():
    print('bounding: SEED=%d, worker %d of %d' % (SEED, WORKER + 1, WORKERS), flush=True)
    fuzz = Fuzz()
    start = said = time.time()
    n = EPISODE or WORKER + 1
    while True:
        try:
            fuzz.episode(n)
        except Lost:
            break
        n += WORKERS
        now = time.time()
        if EPISODE or fuzz.found >= FINDINGS or (n > EPISODES if EPISODES else now > start + SECONDS):
            break
        if now > said + 60:
            fuzz.report(now - start)
            said = now
    fuzz.report(time.time() - start)
    little = [] if EPISODE else fuzz.too_little()
    if little:
        print('FAILED: hardly tried: %s' % ', '.join(little))
    return 1 if fuzz.found or little else 0


if __name__ == '__main__':
    sys.exit(main())
