#!/usr/bin/env python3
"""Rows that conditions leave out change nothing, to the last bit.

One of two databases has a person more.  The analyst asks views that leave this
person out, of both at once, and the server's random bits are pinned
(pinned_entropy.c).  So all that there is must be the same: noisy values, which groups
are shown, bounds and limits that are found, messages.  A difference tells that something
was read beside the conditions, or that what was drawn follows from a plan.

Environment: PGHOST and so on, a cluster of its own, which is restarted; FUZZ_SECONDS (300) or FUZZ_STATEMENTS,
FUZZ_SEED (random), FUZZ_EPISODE, FUZZ_PAIRS ("more888 crowd"), FUZZ_WORKER.
"""
import collections
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bounding_releases import pin_server
from grammar_fuzz import PLANNER
from hostile import Hostile
from neighbours_fuzz import EPISODE, SECONDS, SEED, STATEMENTS, WORKER, WORKERS, without_bounds
from pairs import Pair, plainly
from wire import Looking

OF_EPISODE = 40                 # statements
# the person, and between which numbers the keys of the person's rows are
PERSONS = {'more888': (888, 8880, 8899), 'crowd': (999, 99900, 102000)}
PAIRS = os.environ.get('FUZZ_PAIRS', '').split() or list(PERSONS)
PEOPLE = 'people visits stays logs costs trips tides sales buyers events v_visits v_pair v_parts v_sales v_paid'.split()
THROUGH = {'legs': 'leg', 'scans': 'leg', 'tolls': 'leg', 'parts': 'event'}
SETTINGS = ['dp_cdp.rho = 0.05', 'dp_cdp.consistent = on', 'dp_cdp.rest = on', "dp_cdp.target_error = '50'", "dp_cdp.target_error = '20%'",
            'dp_cdp.max_groups = 5; SET dp_cdp.max_rows = 5', 'dp_cdp.max_contribution = 3', 'dp_cdp.find_bounds = 0.5', 'dp_cdp.find_bounds = off', 'dp_cdp.empty_previews = on']


def views(person, first, last):
    """each table without the person's rows, under its name"""
    of = [(t, 'person <> %d' % person) for t in PEOPLE] + [(t, '%s NOT BETWEEN %d AND %d' % (key, first, last)) for t, key in THROUGH.items()]
    of += [('v_words', 'who <> %d' % person), ('samples', 'true'), ('cards', "holder <> 'p%d'" % person), ('phones', "owner <> md5('p%d')::uuid" % person)]
    return 'CREATE SCHEMA cv AUTHORIZATION fuzz_owner; GRANT USAGE ON SCHEMA cv TO PUBLIC; SET ROLE fuzz_owner;' + ''.join(
        'CREATE VIEW cv.{0} AS SELECT * FROM c.{0} WHERE {1}; GRANT SELECT ON cv.{0} TO fuzz_analyst;'.format(t, w) for t, w in of) + 'RESET ROLE'


def observed(a):
    """all of an answer, and in which order"""
    notices = [{k: plainly(v) for k, v in n.items()} for n in a.notices]
    return {k: plainly(v) for k, v in a.error.items()} if a.error else None, notices, a.tags, a.columns, a.rows


class Excluded:
    def __init__(self):
        self.numbers = pin_server()
        self.admin = Looking('postgres', 'postgres')
        self.counts, self.found, self.pairs = collections.Counter(), 0, {}
        Pair.must(self.admin, 'CREATE DATABASE n_template')
        for f in ('fixture.sql', 'neighbours.sql', 'shapes.sql'):
            subprocess.run(['psql', '-X', '-q', '-d', 'n_template', '-f', os.path.join(HERE, f)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pair(self, name):
        if name not in self.pairs:
            pair = self.pairs[name] = Pair(name, 'n_template', self.admin)
            for ledger in pair.ledgers:
                Pair.must(ledger, views(*PERSONS[name]))
        return self.pairs[name]

    def open(self, pair, settings, number):
        """a session with each, that draw the same"""
        both = pair.open('fuzz_analyst')
        for c in both:
            path = os.path.join(self.numbers, c.query('SELECT pg_backend_pid()').rows[0][0])
            with open(path, 'w') as f:
                f.write(str(number))
            for s in settings:
                Pair.must(c, s)
        return both

    @staticmethod
    def ask(both, sql):
        for c in both:
            c.post(sql)
        return [c.read() for c in both]

    def episode(self, n):
        rng = random.Random('%d/%d' % (SEED, n))
        pair = self.pair(rng.choice(PAIRS))
        # workers have bits of their own
        settings = ['SET search_path = cv, public', 'SET jit = off', 'SET max_parallel_workers_per_gather = 0', 'SET statement_timeout = 60000']
        settings += ['SET ' + s for s in rng.sample([s for s in PLANNER if re.match('enable_|work_mem|plan_cache|join_coll|from_coll', s)], rng.choice([0, 1, 3]))]
        settings += ['SET ' + s for s in rng.sample(SETTINGS, rng.choice([0, 1, 2, 3]))]
        pair.hold_to(rng.choice([1, 1, 1, 4, 30]))
        number = rng.randrange(2**60)
        both = self.open(pair, settings, number)
        grammar = Hostile(rng, pair.person)
        grammar.hostility, grammar.asks = 0.05, 0.3
        if not self.counts['asked']:
            # where the person is in the rows, noise that is the same shows it; and so would a price that follows from them
            plain = self.open(pair, settings[:4], number)
            a, b = self.ask(plain, 'SELECT dp_count(*), dp_sum(days, 0, 60) FROM c.stays')
            if a.rows == b.rows:
                self.find('nothing is told apart', 'SELECT dp_count(*), dp_sum(days, 0, 60) FROM c.stays', settings, a, b, n)
            for c in plain:
                c.close()
        for _ in range(OF_EPISODE):
            grammar.of_owner, grammar.tags = True, set()
            sql = grammar.query(2).private
            if re.search(r'\b(c|x|vault)\.', sql):
                continue
            sql = without_bounds(rng, sql) if rng.random() < 0.4 else sql
            a, b = self.ask(both, sql)
            self.counts['asked'] += 1
            self.counts['answered'] += not a.error
            if observed(a) != observed(b):
                self.find('what differs', sql, settings, a, b, n)
                for c in both:
                    c.close()
                both = self.open(pair, settings, number)
        charges = pair.charges()
        if charges[0] != charges[1]:
            self.find('charges', str([c for c in zip(*charges) if c[0] != c[1]][:1]), settings, None, None, n)
        for c in both:
            c.close()

    def find(self, what, sql, settings, a, b, n):
        self.found += 1
        if self.found <= 10:
            print('FOUND %s: SEED=%d EPISODE=%d\n  %s\n  settings: %s\n%s' % (what, SEED, n, sql[:3000], '; '.join(settings), ''.join(
                '  %s: %s\n' % (name, str(observed(x))[:2000]) for name, x in (('A', a), ('B', b)) if x)), flush=True)


def main():
    print('excluded: SEED=%d, worker %d of %d' % (SEED, WORKER + 1, WORKERS), flush=True)
    fuzz = Excluded()
    start = time.time()
    n = EPISODE or WORKER + 1
    while True:
        fuzz.episode(n)
        n += WORKERS
        if EPISODE or (fuzz.counts['asked'] >= STATEMENTS if STATEMENTS else time.time() > start + SECONDS):
            break
    asked, answered = fuzz.counts['asked'], fuzz.counts['answered']
    print('%d statements in %d s: %d answered, %d differed' % (asked, time.time() - start, answered, fuzz.found), flush=True)
    if not EPISODE and answered < 0.5 * asked:
        print('FAILED: too few statements were answered')
        return 1
    return 1 if fuzz.found else 0


if __name__ == '__main__':
    sys.exit(main())
