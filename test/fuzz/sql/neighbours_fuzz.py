#!/usr/bin/env python3
"""Each statement on two databases that differ in one privacy unit.

All that an analyst can observe must be equal: errors with all their fields,
notices, tags, columns, rows that hold no noise, keys that are declared, locks,
prices.  Where rho is so large that noise vanishes (schema x), answers differ by
no more than a unit can contribute, and agree with what the owner gets from
plain SQL.

A difference is repeated on fresh connections: it is a finding if no outcome of
the one database is ever seen in the other.

Environment: PGHOST and so on, a cluster of its own, whose directory of
programs is in PATH; FUZZ_SECONDS (300) or FUZZ_STATEMENTS, FUZZ_SEED (random),
FUZZ_EPISODE, FUZZ_PAIRS, FUZZ_WAYS, FUZZ_WORKER ("0/2"), FUZZ_HEAVY.  See test/README.md.
"""
import collections
import math
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from grammar import Level
from grammar_fuzz import PLANNER, PRIVACY
from hostile import Hostile
from meanwhile import OWNER
from oracle import contradicts, differ, differ_softly, not_allowed, not_possible, number
from pairs import DIFFERENCES, Pair, plainly
from scenarios import LARGE, OWN, Scenarios
from sequences import Sequences
from shapes import RHO as RHO_OF_SHAPES, Shapes
from steps import Step, ask
from wire import Looking, Lost

SECONDS = float(os.environ.get('FUZZ_SECONDS') or 300)
STATEMENTS = int(os.environ.get('FUZZ_STATEMENTS') or 0)
SEED = int(os.environ.get('FUZZ_SEED') or random.randrange(2**32))
EPISODE = int(os.environ.get('FUZZ_EPISODE') or 0)
HEAVY = bool(os.environ.get('FUZZ_HEAVY'))
PAIRS = os.environ.get('FUZZ_PAIRS', '').split() or [p for p in DIFFERENCES if p not in LARGE]
WORKER, WORKERS = map(int, os.environ.get('FUZZ_WORKER', '0/1').split('/'))
SHAPES = float(os.environ.get('FUZZ_SHAPES') or 0.1)    # of the statements, whose groups are compared with plain SQL's
ASKED = float(os.environ.get('FUZZ_ASKED') or 0)        # of the others, which are whole queries of asked.py
SLOW = float(os.environ.get('FUZZ_SLOW') or 0)        # statements that take longer are shown
PARALLEL = bool(os.environ.get('FUZZ_PARALLEL'))        # forces parallel plans
WAYS = os.environ.get('FUZZ_WAYS', '').split()          # the only scenarios
KEPT = float(os.environ.get('FUZZ_KEPT') or 0)          # answers are kept; of the queries so many are asked again, by several roles at several prices
KINDS = ('asked', 'answered', 'distances', 'with plain SQL', 'keys selected')
SCENARIOS = 50                  # of an episode
RHO = 200000.0                  # of one aggregate, where answers are compared
REPEATS = 1 if HEAVY else 12
STDDEV = 5                      # among what pair.charges() tells
COUNTED = 'it counts as '       # says an error of a release that failed

# Settings that make plans differ where data may, and those that fit a session here
FORCED = ["work_mem = '64kB'; SET enable_hashagg = off", 'enable_hashagg = off; SET enable_hashjoin = off; SET enable_nestloop = off',
          'enable_sort = off', 'enable_hashjoin = off; SET enable_mergejoin = off', "work_mem = '64kB'; SET hash_mem_multiplier = 1",
          'parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET {force} = on',
          'parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET enable_sort = off',
          "plan_cache_mode = 'force_generic_plan'", "plan_cache_mode = 'force_generic_plan'", 'enable_seqscan = off; SET enable_hashagg = off']
SETTINGS = FORCED + [s for s in PLANNER if not re.search('jit|TimeZone|debug5|log_|debug_print|session_repl|lock_timeout|track_', s)]


def fields(message):
    return tuple(sorted((k, plainly(v)) for k, v in message.items()))


def error_of(step, a):
    """all fields; where noise decides the price, an exhausted budget's error names what nobody can foretell"""
    error = fields(a.error)
    if step.noisy_price and a.code() == 'ZC001':
        error = tuple((k, re.sub(r'\b(rho|remaining) \d+(\.\d+)?', r'\1 ?', v) if 'sked rho' in v else v) for k, v in error)
    return error


def notices_of(step, a):
    """
    all fields; where noise decides which groups are shown, whether there is one, or whether bounds are found (NULL without),
    and what is read, numbers of groups are its choice, and so whether these are many.  Where it decides the price, it decides
    whether a kept answer serves, of which nothing is charged that there is a notice of.
    """
    fragile = step.q and step.q.fragile
    notices = tuple(fields(n) for n in a.notices if n.get('R') not in ('notice_no_group', 'tell_of_found') and not (step.noisy_price and n.get('R') == 'notice_undated') and 'with values of at most' not in n['M'] and not (fragile and n.get('R') == 'notice_limits'))
    if fragile:
        notices = tuple(tuple((k, re.sub(r'\d+', '?', v)) for k, v in n) for n in notices)
    return notices


def without_planning(rows):
    """
    EXPLAIN's rows but for the blocks that planning read: pages of catalogues,
    among them some that were left by what sessions made and dropped, at a time
    that differs.  What is planned of protected tables is not counted there
    (release/sandbox.c).
    """
    return [r for before, r in zip([('',)] + rows, rows) if r[0] != 'Planning:' and before[0] != 'Planning:']


def observed(step, a, newest, declared):
    """all that an analyst sees of an answer, but for noise"""
    if step.how == 'raced' or step.how == 'room' and (not a.error or COUNTED not in a.text()):
        return ()
    counted = step.how in ('exact', 'bag') or step.how == 'keys' and declared and step.q.plain
    # where rows are fetched in pieces, their number decides whether it is complete
    tags = tuple(a.tags if counted and not step.fetch else [] if step.fetch else [re.sub(r'\d+', '?', t) for t in a.tags])
    types = tuple(t if t[0] <= newest else ('new',) + t[1:] for t in a.types)
    rows = None
    if step.how == 'exact' and 'ANALYZE' in step.sql:
        rows = tuple(tuple(re.sub(r'\d+\.\d+', '?', v) for v in r) for r in without_planning(a.rows))
    elif step.how == 'exact':
        rows = tuple(tuple(plainly(v) if v else v for v in r) for r in a.rows)
    elif step.how == 'bag':
        rows = tuple(sorted(plainly(str(r)) for r in a.rows))
    elif counted and step.q and not step.sql.startswith('COPY'):
        rows = tuple(sorted(str([r[i] for i in step.q.keys]) for r in a.rows))
    elif counted:
        rows = len(a.rows)
    return (error_of(step, a) if a.error else None, notices_of(step, a), tags, tuple(a.columns), types, a.status, rows)


def own_reads_left_out(o):
    """
    without the predicate locks on tables that the asker reads himself: what
    the outer query reads depends on the groups that were released
    """
    error, notices, _, columns, types, status, rows = o
    return error, notices, (), columns, types, status, rows and tuple(r for r in rows if not ('SIReadLock' in r and 'pub' in r))


def told(o):
    if not o:
        return 'nothing that is compared'
    error, notices, tags, columns, _, status, rows = o
    text = 'error %s ' % {k: v for k, v in error} if error else ''
    return text + 'notices %s, ' % (notices,) * bool(notices) + 'tags %s, columns %s, status %s, rows %s' % (tags, columns, status, str(rows)[:1500])


def numbers(text):
    """of a column, or of an array's elements"""
    if text and text[0] == '{':
        return [number(v) for v in text[1:-1].split(',')]
    return None if number(text) is None else [number(text)]


def too_many(q, a, b, factor):
    """None, or how many more rows differ than one unit can change, where noise decides which there are"""
    x, y = (collections.Counter(tuple(r[k] for k in q.keys) for r in rows) for rows in (a, b))
    other = (x - y) + (y - x)
    if sum(other.values()) > factor * q.flips:
        return '%d rows are in one answer only: %s' % (sum(other.values()), sorted(other, key=str)[:8])
    return None


def too_far(q, a, b, factor, declared):
    """None, or how answers differ by more than one unit can change them"""
    def values(rows, i):
        return {tuple(r[k] for k in q.keys): numbers(r[i]) for r in rows}
    for i, change in q.changes.items():
        if change is None:
            continue
        change, most_of_row = change if isinstance(change, tuple) else (change, change)
        x, y = values(a, i), values(b, i)
        if len(x) < len(a) or len(y) < len(b):
            return None             # keys that are not all shown
        missing = len(set(x) ^ set(y))
        if missing > (0 if declared else factor * q.kept * q.sets):
            return '%d groups are in one answer only: %s' % (missing, sorted(set(x) ^ set(y), key=str)[:8])
        common = [(k, v, w) for k in x if k in y and x[k] is not None and y[k] is not None for v, w in zip(x[k], y[k]) if v is not None and w is not None]
        distance = math.sqrt(sum((v - w) ** 2 for _, v, w in common))
        # what one row may be is at most what the aggregate's bounds say, and these are times max_rows
        sigma = most_of_row * q.rows * math.sqrt(q.kept / (2 * RHO))
        noise = 0 if sigma < 0.05 and q.columns[i][0] == 'int' else sigma * (math.sqrt(2 * len(common)) + 12)
        limit = factor * math.sqrt(q.kept * q.sets) * change + noise
        if distance > limit * (1 + 1e-9):
            return 'column %d differs by %.6g in L2, one unit contributes at most %.6g: %s' % (
                i, distance, limit, [c for c in common if c[1] != c[2]][:8])
    return None


# PostgreSQL's own, whose results depend on the order of rows and may so be keys of their own
FLOATS = re.compile(r'\b(sum|avg|var_pop|var_samp|variance|stddev_pop|stddev_samp|stddev)'
                    r'(?=\((?:DISTINCT )?(?:\w+\.)?(?:f|cost|r|big|score|w)\b)')


def exactly(sql):
    return FLOATS.sub(lambda m: 'dp_cdp_internal.unit_' + {'variance': 'var_samp', 'stddev': 'stddev_samp'}.get(m[1], m[1]), sql)


def without_bounds(rng, private):
    """the query with sums, and other aggregates in their place, whose bounds are to be found"""
    at = 0
    while (at := private.find('dp_sum(', at)) >= 0:
        end, depth = at + len('dp_sum'), 0
        while end < len(private):
            depth += {'(': 1, ')': -1}.get(private[end], 0)
            end += 1
            if depth == 0:
                break
        name = rng.choice(['dp_sum', 'dp_sum', 'dp_avg', 'dp_median', 'dp_max', 'dp_stddev'])
        bare = re.sub(r'(, *-?[\d.]+){2,4}\)$', ')', private[at + len('dp_sum'):end])
        private = private[:at] + name + bare + private[end:]
        at += len(name)
    return private


def of_meaning(settings):
    """those that plain SQL needs to mean the same"""
    return settings[:2] + [s for s in settings[2:] if re.match(r'SET (xmloption|array_nulls|transform_null_equals)\b', s.sql)]


class Neighbours(Sequences):
    def __init__(self):
        self.admin = Looking('postgres', 'postgres')
        self.template = 'n_template'
        self.counts, self.ways, self.found = collections.Counter(), collections.Counter(), collections.OrderedDict()
        self.kinds = {}                 # of each tag
        self.errors = {}
        self.pairs = {}
        self.version = int(self.admin.query('SHOW server_version_num').rows[0][0])
        self.force = 'debug_parallel_query' if self.version >= 160000 else 'force_parallel_mode'
        Pair.must(self.admin, 'DROP DATABASE IF EXISTS n_template')
        Pair.must(self.admin, 'CREATE DATABASE n_template')
        for f in ('fixture.sql', 'neighbours.sql', 'shapes.sql') + ('kept.sql',) * bool(KEPT):
            subprocess.run(['psql', '-X', '-q', '-d', self.template, '-f', os.path.join(HERE, f)], check=True, stdout=subprocess.DEVNULL)

    def pair(self, name):
        if name not in self.pairs:
            self.pairs[name] = Pair(name, self.template, self.admin)
        return self.pairs[name]

    # ------------------------------------------------------------------
    # Asking both
    # ------------------------------------------------------------------

    def compare(self, pair, steps, answers, charges):
        """[(step, what is wrong or None, observed in the first, in the second)]"""
        out = []
        declared = not any(float(c[5 - 1]) for side in charges for c in side)
        loose = not declared or any(s.q and not s.q.plain for s in steps)
        for s, a, b in zip(steps, *answers):
            # noise decided on a price that one budget holds and the other does not: all that follows differs
            if s.noisy_price and (a.code() == 'ZC001') != (b.code() == 'ZC001'):
                break
            x, y = (observed(s, v, pair.newest, declared) for v in (a, b))
            if loose and x and 'pg_locks' in s.sql:
                x, y = own_reads_left_out(x), own_reads_left_out(y)
            wrong = 'observed' if x != y else None
            if wrong is None and s.how == 'keys' and s.q and s.q.flips and not s.q.plain and self.exact and not a.error and not b.error:
                wrong = too_many(s.q, a.rows, b.rows, pair.factor)
                self.tally(s.q, 'distances')
            if wrong is None and s.how == 'keys' and s.q and s.q.plain and self.exact and not a.error:
                wrong = too_far(s.q, a.rows, b.rows, pair.factor, declared)
                if a.rows:
                    measured = any(c is not None for c in s.q.changes.values())
                    self.counts['distances'] += measured
                    self.tally(s.q, 'distances', measured)
            out.append((s, wrong, x, y))
        if any(s.q and s.q.fragile for s in steps):
            # noise decides what is read, so how many groups there are, and so the deviation
            charges = [[c[:STDDEV] + c[STDDEV + 1:] for c in side] for side in charges]
        if charges[0] != charges[1] and not any(s.how in ('raced', 'room') and s.who != OWNER for s in steps):
            out.append((Step('-- charges'), 'charged', tuple(charges[0]), tuple(charges[1])))
        return out

    def once(self, pair, both, steps):
        t = time.time()
        answers = ask(both, steps)
        if SLOW and time.time() - t > SLOW:
            print('%.2f s: %s' % (time.time() - t, ' ;; '.join(s.sql[:400] for s in steps)), flush=True)
        return answers, pair.charges()

    def begin(self, pair, role, settings):
        both = pair.open(role)
        ask(both, settings)
        pair.charges()
        return both

    # ------------------------------------------------------------------
    # Findings
    # ------------------------------------------------------------------

    def find(self, kind, message, pair, settings, steps, where, about=None):
        key = (kind, re.sub(r"\d+|'[^']*'", '*', about or message)[:150])
        self.found[key] = self.found.get(key, 0) + 1
        if self.found[key] > 1:
            return
        print('FOUND %s: %s\n  %s\n  %s\n  settings: %s\n  statements:\n    %s\n' % (
            kind, message, where, 'pair %s' % pair.name, '; '.join(s.sql for s in settings),
            ';\n    '.join(s.sql if len(s.sql) < 4000 else s.sql[:4000] + ' ...' for s in steps)), flush=True)

    def confirm(self, pair, role, settings, steps, first, where):
        """a difference, again on fresh connections: is it one of noise?"""
        seen = [[(r[2], r[3]) for r in first]]
        wrong = [[r[1] for r in first]]
        for _ in range(REPEATS):
            both = self.begin(pair, role, settings)
            results = self.compare(pair, steps, *self.once(pair, both, steps))
            for c in both:
                c.close()
            # a step for charges is there only if they differ
            results += [(Step('-- charges'), None, None, None)] * (len(first) - len(results))
            seen.append([(r[2], r[3]) for r in results])
            wrong.append([r[1] for r in results])
        for i, (s, what, x, y) in enumerate(first):
            if what is None:
                continue
            if what in ('observed', 'charged'):
                # the repetitions alone: what a session had cached may matter, and is then seen there, too
                a, b = ({o[i][side] for o in seen[1:]} for side in (0, 1))
                if not a & b and None not in a | b:
                    told_of = told if what == 'observed' else str
                    self.find(what, '%s\n    A: %s\n    B: %s' % (s.sql[:300].replace('\n', ' '), told_of(x), told_of(y)),
                              pair, settings, self.minimal(pair, role, settings, steps, i), where,
                              # one for each kind of statement and pair of errors
                              '%s: %s, %s' % ((re.match(r'\S+( own\.\w+)?', s.sql)[0],) + tuple(
                                  dict(o[0]).get('M', '')[:60] if what == 'observed' and o and o[0] else 'answered' for o in (x, y))))
                    return True
            elif sum(w[i] is not None and w[i] not in ('observed', 'charged') for w in wrong) >= max(3, 0.6 * len(wrong)):
                self.find('distance', what, pair, settings, steps, where, 'answers are too far apart' if 'differs by' in what else 'groups are in one answer only')
                return True
        self.counts['differed, but not again'] += 1
        if os.environ.get('FUZZ_VERBOSE'):
            i = next(i for i, r in enumerate(first) if r[1])
            print('once: %s %s\n  %s\n  %s' % (first[i][0].sql[:500], first[i][1], str(first[i][2])[:600], str(first[i][3])[:600]), flush=True)
        return False

    def minimal(self, pair, role, settings, steps, i):
        """without the steps that the difference does not need"""
        if i >= len(steps):
            return steps
        keep = steps[:i + 1]
        at = 0
        while at < len(keep) - 1 and len(keep) < 40:
            fewer = keep[:at] + keep[at + 1:]
            try:
                both = self.begin(pair, role, settings)
                last = self.compare(pair, fewer, *self.once(pair, both, fewer))[len(fewer) - 1]
                for c in both:
                    c.close()
            except Lost:
                return keep
            if last[1]:
                keep = fewer
            else:
                at += 1
        return keep

    # ------------------------------------------------------------------
    # Episodes
    # ------------------------------------------------------------------

    @staticmethod
    def question(grammar, way, tiny, hostility):
        special = way in Scenarios.STACK + Scenarios.VANISHING
        grammar.tiny = tiny or way in Scenarios.STACK
        grammar.planning, grammar.vanishing = way == 'deep', way in Scenarios.VANISHING
        # one level with something in it that the way is for
        grammar.hostility, grammar.conditions = (0.6, 0.8) if special else (hostility, 0.4)
        for _ in range(9):
            grammar.of_owner, grammar.tags = True, set()
            q = grammar.written() if way == 'written' else grammar.query(0 if special else 2)
            q.tags = grammar.tags
            if not (special and grammar.of_owner):
                break
        return q

    def contribution(self, rng):
        """to what a unit's norm is held from now on; None: as before"""
        if self.exact:
            # far above what a unit has: one that is found cuts whoever is in the upper part of the last bin, at whatever price
            return rng.choice(['TO DEFAULT', 'TO DEFAULT', '= 100000', '= 100000', '= 2000.5'])
        if rng.random() < 0.6:
            return None
        return rng.choice(['TO DEFAULT', 'TO DEFAULT', '= auto', '= auto', '= 0.5', '= 1', '= 3', '= 40', '= 1000', "= ''", '= 0', '= -1', "= 'NaN'", '= 1e300', "= 'none'"])

    def episode(self, n):
        rng = random.Random('%d/%d' % (SEED, n))
        where = 'SEED=%d EPISODE=%d' % (SEED, n)
        pair = self.pair(rng.choice(PAIRS))
        self.exact = rng.random() < 0.45
        role = 'fuzz_analyst' if self.exact else rng.choices(['fuzz_analyst', 'fuzz_poor', 'fuzz_nobody'], [85, 5, 10])[0]
        settings = [Step('SET search_path = %s, public' % ('x' if self.exact else 'c')), Step('SET statement_timeout = 60000'),
                    # what is turned off makes plans dear, and these are compiled
                    Step('SET jit = off' if rng.random() < 0.99 else 'SET jit_above_cost = 0')]
        for s in rng.sample(SETTINGS, rng.choice([0, 1, 2, 4])):
            settings.append(Step('SET ' + s.format(force=self.force)))
        tiny = rng.random() < 0.35
        if tiny:
            settings.append(Step('SET max_stack_depth = %d' % rng.choice([100, 100, 110, 130, 200])))
        if self.exact:
            settings.append(Step('SET dp_cdp.rho = %s' % RHO))
        elif rng.random() < 0.3:
            settings.append(Step('SET ' + rng.choice(PRIVACY)))
        # beside rng, so that seeds go on finding what they found
        finds = random.Random('bounds %d/%d' % (SEED, n))
        finding = 'off'
        if self.exact or finds.random() < 0.7:
            finds = None
        else:
            finding = finds.choice(['on', 'on', '0.5'])
            settings.append(Step('SET dp_cdp.find_bounds = %s' % finding))
        # numbers that agree with one another, of whatever has grouping sets
        if not self.exact and random.Random('agree %d/%d' % (SEED, n)).random() < 0.3:
            settings.append(Step('SET dp_cdp.consistent = on'))
        # a row for what is not shown
        if not self.exact and random.Random('rest %d/%d' % (SEED, n)).random() < 0.3:
            settings.append(Step('SET dp_cdp.rest = on'))
        # what one unit adds; half of what is noisy has limits that are found
        norms = random.Random('norms %d/%d' % (SEED, n))
        if not self.exact and norms.random() < 0.5:
            settings.append(Step('SET dp_cdp.max_groups = 5; SET dp_cdp.max_rows = 5'))
        # groups of few units; where answers are compared with plain SQL, all groups have some
        least = random.Random('least %d/%d' % (SEED, n))
        pair.hold_to(1 if self.exact or least.random() < 0.6 else least.choice([2, 4, 4, 30, 200]))
        if PARALLEL:
            settings.append(Step('SET ' + FORCED[5].format(force=self.force)))
        if role == 'fuzz_analyst' and rng.random() < 0.3:
            settings += [Step(s) for s in OWN]
        grammar = Hostile(rng, pair.person, tiny, HEAVY)
        hostility = grammar.hostility
        grammar.asks = ASKED or grammar.asks
        scenarios = Scenarios(rng, pair.person, 'x' if self.exact else 'c')
        owner = None
        others, asks = {}, random.Random('again %d/%d' % (SEED, n))
        both = self.begin(pair, role, settings)
        try:
            for _ in range(SCENARIOS):
                way, compare = scenarios.choose(WAYS), rng.random() < 0.7
                shaped = rng.random() < SHAPES
                if shaped:
                    way = 'shape' if self.exact or way in Scenarios.STACK + Scenarios.VANISHING else way
                    q, grammar.of_owner = Shapes(rng, 'x' if self.exact else 'c').shape(), True
                else:
                    q = self.question(grammar, way, tiny, hostility)
                    if finds and finds.random() < 0.7:
                        q.private = without_bounds(finds, q.private)
                steps = getattr(scenarios, way)(q)
                contribution = self.contribution(norms)
                if contribution:
                    steps = [Step('SET dp_cdp.max_contribution %s' % contribution)] + steps
                if self.exact:
                    steps = [Step('RESET TimeZone; SET dp_cdp.max_rows = %d; SET dp_cdp.max_groups = %d; SET dp_cdp.rho = %s; SET dp_cdp.find_bounds = %s; SET dp_cdp.consistent = %s' % (
                        q.rows, q.rows, RHO_OF_SHAPES if shaped else RHO, 'on' if q.finds else 'off', 'on' if q.agrees else 'off'))] + steps
                elif q.finds:
                    steps = [Step('SET dp_cdp.find_bounds = on')] + steps + [Step('SET dp_cdp.find_bounds = %s' % finding)]
                failures = pair.failures() if way in Scenarios.RACED else None
                answers, charges = self.once(pair, both, steps)
                if failures:
                    self.counted(pair, settings, steps, answers, charges, failures, where)
                self.count(way, steps, answers[0], q)
                self.paid_for(pair, way, settings, steps, answers, charges, where)
                if not failures and any(a.code() == '57014' for side in answers for a in side):
                    self.counts['timed out'] += 1
                    pair.make()
                    return
                results = self.compare(pair, steps, answers, charges)
                if KEPT and not any(r[1] for r in results) and q.private and way in ('plain', 'explain', 'shape') and asks.random() < KEPT:
                    _, uneven = self.again(asks, pair, others, q, settings, RHO if self.exact else 0.01, where)
                    if uneven:
                        for c in sum(others.values(), []):
                            c.close()
                        others = {}
                        # what is kept may be of one of them alone
                        if pair.even():
                            pair.make()
                        both, owner = self.begin(pair, role, settings), None
                        continue
                if any(r[1] for r in results):
                    self.confirm(pair, role, settings, steps, results, where)
                    if not pair.even():
                        both, owner, others = self.begin(pair, role, settings), None, {}
                elif way in Scenarios.UNEVEN and not pair.even(later=bool(failures)):
                    both, owner, others = self.begin(pair, role, settings), None, {}
                elif self.exact and shaped and not answers[0][-1].error:
                    owner = owner or self.begin(pair, 'fuzz_owner', of_meaning(settings))[0]
                    self.groups(pair, both, owner, settings, steps, answers[0][-1], any(float(c[4]) for c in charges[0]), where)
                    pair.charges()
                    if not pair.even():
                        both, owner, others = self.begin(pair, role, settings), None, {}
                elif (self.exact and way == 'plain' and (q.sure or q.soft) and not q.fragile and grammar.of_owner and not answers[0][-1].error
                        and compare):
                    owner = owner or self.begin(pair, 'fuzz_owner', of_meaning(settings))[0]
                    self.twin(pair, both, owner, settings, steps, answers[0][-1], any(float(c[4]) for c in charges[0]), where)
                    pair.charges()
                    if not pair.even():
                        both, owner, others = self.begin(pair, role, settings), None, {}
        except Lost as e:
            self.find('lost connection', str(e), pair, settings, steps, where)
            time.sleep(3)
            self.admin = Looking('postgres', 'postgres')
            for p in self.pairs.values():
                p.admin = self.admin
            self.pairs.pop(pair.name)
            # a server that restarted has lost all connections
            for p in self.pairs.values():
                p.make()
            return
        for c in both + [owner] * (owner is not None) + sum(others.values(), []):
            c.close()

    def large(self, name):
        """statements that need memory, each by itself"""
        preparations, statements = LARGE[name]
        pair = self.pair(name)
        settings = [Step(s) for s in ['SET search_path = c, public', 'SET jit = off'] + preparations]
        self.exact = False
        both = self.begin(pair, 'fuzz_analyst', settings)
        for s in statements:
            started = time.time()
            steps = [Step(s, 'shape' if 'EXPLAIN' not in s else 'exact', Level())]
            try:
                answers, charges = self.once(pair, both, steps)
                results = self.compare(pair, steps, answers, charges)
            except Lost as e:
                self.find('lost connection', str(e), pair, settings, steps, 'HEAVY=1')
                return
            self.count(name, steps, answers[0], steps[0].q)
            print('%5.1f s, %s: %s' % (time.time() - started, ' and '.join(side[0].text()[:60] or 'answered' for side in answers), s), flush=True)
            if any(r[1] for r in results):
                self.confirm(pair, 'fuzz_analyst', settings, steps, results, 'HEAVY=1')
        for c in both:
            c.close()
        pair.drop()
        self.pairs.pop(name)

    def paid_for(self, pair, way, settings, steps, answers, charges, where):
        """what is free costs nothing, and what was paid for does not fail"""
        q = steps[-1].q
        if way not in ('plain', 'written') or not q:
            return
        failed = next((a.text() for side in answers for s, a in zip(steps, side) if a.error and s.q), None)
        if q.free and any(charges):
            self.find('charged', 'what is free: %s' % charges[0], pair, settings, steps, where)
        if q.total and any(charges) and failed:
            self.find('paid for', 'what failed: ' + failed, pair, settings, steps, where)

    def counted(self, pair, settings, steps, answers, charges, before, where):
        """whatever others do: what is refused is free, what is answered is debited, and what fails after that is a failure"""
        for side, (given, charged) in enumerate(zip(answers, charges)):
            asked = [a for s, a in zip(steps, given) if s.q]
            said = [' '.join(a.error.values()) for a in asked if a.error]
            failed = sum(COUNTED in e for e in said)
            wrong = [e for a, e in zip([a for a in asked if a.error], said) if a.code().startswith('XX') or 'stays charged' in e and COUNTED not in e]
            # beside the limit that it finds
            debits = sum(not c[1].startswith('limit of ') for c in charged)
            if wrong or debits != len(asked) - len(said) + failed:
                self.find('raced', '%d answers, %d debits, %d failures: %s' % (len(asked) - len(said), debits, failed, wrong[:1]), pair, settings, steps, where,
                          wrong[0][:60] if wrong else 'answers are not what was debited')
            # that may take a moment where something kept it from being counted
            for _ in range(40):
                if pair.failures()[side] >= before[side] + failed:
                    break
                time.sleep(0.25)
            else:
                self.find('uncounted', '%d failures were told, of which the ledger does not know: %s' % (failed, said), pair, settings, steps, where, 'failures')
            # whoever changes the policy while a query fails is no fault of the asker's
            if failed and any(s.who == OWNER for s in steps):
                self.find('raced', said[-1], pair, settings, steps, where)

    def twin(self, pair, both, owner, settings, steps, answer, selected, where):
        """the first database's answer, and what the owner gets from plain SQL"""
        q = steps[-1].q
        # groups without rows are told for nothing only
        if q.declared and selected:
            self.tally(q, 'keys selected')
            return
        # plain SQL shows any one of several equal values
        if re.search(r'\b(code|span|word|amount|mail)\b', q.private):
            return
        asked = [exactly(sql) for sql in (q.soft[:2] if q.soft else [q.exact])]
        exact = [owner.query(sql) for sql in asked]
        if any(e.error for e in exact):
            self.counts['twin failed'] += 1
            if os.environ.get('FUZZ_VERBOSE') and exact[0].error:
                print('twin: %s\n  %s' % (exact[0].error['M'], asked[0]), flush=True)
            return
        self.counts['compared with plain SQL'] += 1
        self.tally(q, 'with plain SQL')
        other = not_allowed(answer.rows, q, owner)
        if other:
            self.find('a group that is not allowed', other, pair, settings, steps + [Step('-- allowed: ' + q.allowed)], where,
                      'conditions exclude it')
        for _ in range(3):
            difference = (differ_softly(answer.rows, exact[0].rows, exact[1].rows[0], q) if q.soft
                          else differ(answer.rows, exact[0].rows, q.columns))
            # conditions that no row of a subquery can meet leave no group, declared or not, as plain SQL has none
            if difference and not answer.rows and contradicts(q.private):
                return
            if difference is None:
                return
            # both, so that both ledgers tell the same
            answer = ask(both, steps)[0][-1]
        self.find('different from plain SQL', difference, pair, settings, steps + [Step('-- exact: ' + asked[0])], where,
                  'plain SQL says something else')

    def groups(self, pair, both, owner, settings, steps, answer, selected, where):
        """the first database's rows, and what plain SQL says that they are and can be"""
        q = steps[-1].q
        asked = [s for s in ('SET TimeZone = \'%s\'' % (q.zone or 'UTC'), 'SET search_path = x, public', q.exact,
                             'SET search_path = y, public', q.possible) if s]
        exact = owner.query('; '.join(asked[:3]))
        possible = owner.query('; '.join(asked[3:])) if q.possible and not selected else None
        owner.query('SET search_path = x, public; RESET TimeZone')
        if exact.error or possible and possible.error:
            self.counts['twin failed'] += 1
            if os.environ.get('FUZZ_VERBOSE'):
                print('twin: %s\n  %s' % ((exact.error or possible.error)['M'], q.exact), flush=True)
            return
        self.counts['compared with plain SQL'] += 1
        self.counts['groups compared'] += 1
        self.tally(q, 'with plain SQL')
        self.counts['keys selected'] += selected
        for _ in range(3):
            wrong = not_possible(answer.rows, exact.rows, possible and possible.rows, q, selected, RHO_OF_SHAPES)
            if wrong is None:
                return
            answer = ask(both, steps)[0][-1]
        self.find('groups', wrong, pair, settings, steps + [Step('-- exact: ' + q.exact), Step('-- possible: ' + q.possible)], where,
                  wrong.split(':')[0] + re.sub(r'\w+', '', q.private)[:8])

    def compare_refusals(self):
        """
        the audits of the pairs that are left.  A note of a refusal comes some milliseconds later, a second later where
        writing it failed once, on a busy machine much later
        """
        for pause in [1.5] + [3] * 10:
            time.sleep(pause)
            both = [(pair, *pair.refusals()) for pair in self.pairs.values()]
            if all(a == b for _, a, b in both):
                return
        for pair, a, b in both:
            if a != b:
                self.find('different audits', 'refusals: %s, and %s' % (
                    [r for r in a if r not in b], [r for r in b if r not in a]), pair, [], [], 'at the end')

    def tally(self, q, what, n=1):
        for tag in q.tags:
            self.kinds.setdefault(tag, collections.Counter())[what] += n

    def count(self, way, steps, answers, q):
        if way not in Scenarios.STACK + Scenarios.VANISHING:
            self.tally(q, 'asked')
            self.tally(q, 'answered', all(not a.error for s, a in zip(steps, answers) if s.q))
        asked = [(s, a) for s, a in zip(steps, answers) if s.q]
        self.counts['statements'] += sum(not s.sql.startswith(('SET', 'DROP', 'DEALLOCATE', 'BEGIN', 'COMMIT', 'ROLLBACK')) for s in steps)
        self.ways[way] += len(asked)
        for s, a in asked:
            if a.error:
                self.counts['refused'] += 1
                key = (a.code(), re.sub(r'"[^"]*"|\d+', '*', a.text())[:90])
                self.errors.setdefault(key, [0, s.sql])[0] += 1
            else:
                self.counts['answered'] += 1

    def report(self, seconds):
        c = self.counts
        print('%d statements in %d s (%d a second): %d answered, %d refused (%d %% answered); distances checked %d, compared with plain SQL %d, '
              'groups %d, of which selected %d; '
              'differed, but not again %d, timed out %d' % (
                  c['statements'], seconds, c['statements'] / max(seconds, 1), c['answered'], c['refused'],
                  100 * c['answered'] / max(c['answered'] + c['refused'], 1), c['distances'], c['compared with plain SQL'],
                  c['groups compared'], c['keys selected'],
                  c['differed, but not again'], c['timed out']), flush=True)


def main():
    print('neighbours: SEED=%d, worker %d of %d' % (SEED, WORKER + 1, WORKERS), flush=True)
    fuzz = Neighbours()
    start = said = time.time()
    if HEAVY and WORKER == 0:
        for name in [p for p in LARGE if p in PAIRS] or ['heavy']:
            fuzz.large(name)
    n = EPISODE or WORKER + 1
    while not HEAVY:
        try:
            fuzz.episode(n)
        except Lost as e:
            print('FOUND no server: %s' % e)
            fuzz.found['no server', str(e)] = 1
            break
        n += WORKERS
        now = time.time()
        if EPISODE or (fuzz.counts['statements'] >= STATEMENTS if STATEMENTS else now > start + SECONDS):
            break
        if now > said + 60:
            fuzz.report(now - start)
            said = now
    fuzz.compare_refusals()
    fuzz.report(time.time() - start)
    if KEPT:
        print('asked again %d times, ledgers of kept answers compared %d times' % (
            fuzz.counts['asked again'], fuzz.counts['ledgers of kept answers compared']))
    print('by way: %s' % ', '.join('%s %d' % w for w in fuzz.ways.most_common()))
    codes = collections.Counter()
    for (code, _), (k, _) in fuzz.errors.items():
        codes[code] += k
    print('refused by SQLSTATE: %s' % ', '.join('%s %d' % c for c in codes.most_common()))
    for i, ((code, message), (k, sql)) in enumerate(sorted(fuzz.errors.items(), key=lambda e: -e[1][0])):
        if code.startswith('XX') or os.environ.get('FUZZ_VERBOSE') and i < 60:
            print('%6d %s %s\n\t\t%s' % (k, code, message, sql[:300]))
    if os.environ.get('FUZZ_VERBOSE'):
        print('%-36s %9s %9s %9s %9s %9s' % ('by what makes them', *KINDS))
        for tag, counts in sorted(fuzz.kinds.items()):
            print('%-36s %9d %9d %9d %9d %9d' % (tag, *(counts[k] for k in KINDS)))
    for (kind, message), k in fuzz.found.items():
        print('FOUND %d times: %s: %s' % (k, kind, message.split('\n')[0]))
    if not EPISODE and fuzz.counts['statements'] > 5000 and fuzz.counts['answered'] < 0.4 * (fuzz.counts['answered'] + fuzz.counts['refused']):
        print('FAILED: too few statements were answered')
        return 1
    never = [tag for tag, counts in sorted(fuzz.kinds.items()) if counts['asked'] >= 50 and not counts['answered']]
    if never:
        print('FAILED: never answered: %s' % ', '.join(never))
        return 1
    return 1 if fuzz.found else 0


if __name__ == '__main__':
    sys.exit(main())
