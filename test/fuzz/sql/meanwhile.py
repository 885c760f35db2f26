"""Others who do something while a query is asked.

An application writes what is read, in serializable transactions.  The asker himself fills the
lock table.  The owner changes the policy.  Then come later statements of the
release's transaction, and failures that are to be counted, whatever is full.
"""
from grammar import Level
from grammar_fuzz import AROUND
from steps import Step

OWNER = 'fuzz_owner'
LOCKS = 40                      # tables of the asker's own; a process has sixteen places of its own for locks
# what the owner does in a loop, and undoes
CHANGES = [
    ["SELECT dp_cdp.unprotect_table('{s}.costs')", "SELECT dp_cdp.protect_table('{s}.costs', '{s}', unit => 'person')", "SELECT dp_cdp.set_bounds('{s}.costs', 'cost', 0, 60)"],
    ["SELECT dp_cdp.drop_bounds('{s}.costs', 'cost')", "SELECT dp_cdp.set_bounds('{s}.costs', 'cost', 0, 60)"],
    ["SELECT dp_cdp.protect_table('{s}.costs', '{s}b', unit => 'person')", "SELECT dp_cdp.protect_table('{s}.costs', '{s}', unit => 'person')", "SELECT dp_cdp.set_bounds('{s}.costs', 'cost', 0, 60)"],
    ["SELECT dp_cdp.set_keys('{s}.costs', 'place', ARRAY['place1', 'place2'])", "SELECT dp_cdp.drop_keys('{s}.costs', 'place')"],
    ["ALTER TABLE {s}.costs RENAME COLUMN place TO spot", "ALTER TABLE {s}.costs RENAME COLUMN spot TO place"],
    ["SELECT dp_cdp.set_budget('{s}', 'fuzz_nobody', rho => 1)", "SELECT dp_cdp.drop_budget('{s}', 'fuzz_nobody')"],
    ["BEGIN", "SELECT dp_cdp.unprotect_table('{s}.costs')", "ROLLBACK"],
]
# one release each, of what the owner changes; undeclared keys would be dear
OF_COSTS = ['SELECT dp_count(*) FROM costs', 'SELECT dp_sum(cost, 0, 60) FROM costs', 'SELECT dp_sum(cost) FROM costs WHERE place IS NOT NULL',
            'SELECT dp_count(*) FROM costs c JOIN people p USING (person)', 'SELECT dp_sum(cost, 0, 60) FROM (SELECT person, sum(cost) AS cost FROM costs GROUP BY person) q']
# rows that are whose their trip is, which legs name by their key, tolls by theirs into legs, and scans do not; and one release each of what follows it
UNIT = "SELECT dp_cdp.unprotect_table('{s}.trips'), dp_cdp.protect_table('{s}.trips', '{s}', unit => '%s')"
OF_TRIPS = ['SELECT dp_count(*) FROM legs', 'SELECT dp_count(*) FROM scans', 'SELECT dp_count(*) FROM scans s JOIN legs l USING (leg)', 'SELECT dp_count(*) FROM legs l JOIN trips t USING (trip)',
            'SELECT dp_count(*) FROM scans WHERE leg > 0', 'SELECT dp_count(*) FROM scans s JOIN legs l USING (leg) JOIN trips t USING (trip)', 'SELECT dp_count(*) FROM trips', 'SELECT dp_count(*) FROM tolls', 'SELECT dp_count(*) FROM tolls WHERE leg > 0', 'SELECT dp_count(*) FROM tolls t JOIN legs l USING (leg, trip)']
# protected table, key into a public one, that one and its column, the next value of the key, and how many there are
REFERENCES = [('sales', 'shop', 'pub.shops', 'shop', 'shop % 3 + 1', 3), ('buyers', 'home', 'pub.shops', 'shop', 'home % 3 + 1', 3),
              ('sales', 'item', 'pub.items', 'item', "CASE item WHEN 'nut' THEN 'bolt' WHEN 'bolt' THEN 'saw' WHEN 'saw' THEN 'nut' END", 3),
              ('sales', 'day', 'pub.dates', 'day', "date '2024-03-30' + (day - date '2024-03-30' + 1) % 4", 4), ('visits', 'site', 'pub.sites', 'site', 'site % 4 + 1', 4)]
# what tells of the marks and locks in public rows
LOOKS = ['SELECT {k}, xmax = 0 FROM {t} ORDER BY 1', "SELECT {k} FROM {t} WHERE xmax::text <> '0' ORDER BY 1", 'SELECT count(*) FROM (SELECT xmax AS x FROM {t}) q WHERE x <> 0',
         'SELECT count(nullif(t.xmax::text, $$0$$)) FROM {t} t', 'SELECT {k} FROM {t} ORDER BY 1 FOR UPDATE NOWAIT', 'SELECT {k} FROM {t} ORDER BY 1 FOR NO KEY UPDATE SKIP LOCKED',
         'SELECT {k} FROM {t} ORDER BY 1 FOR UPDATE SKIP LOCKED', "SELECT own.safely('SELECT FROM {t} FOR UPDATE NOWAIT')", 'SELECT {k} FROM {t} ORDER BY 1',
         'UPDATE own.notes SET n = n FROM {t} t WHERE t.xmax <> 0', 'SELECT {k}, (SELECT count(*) FROM {t} u WHERE u.xmax::text = $$0$$) FROM {t} ORDER BY 1',
         'SELECT {k}, t::text FROM {t} t ORDER BY 1', 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT FROM {t} WHERE xmax <> 0']


class Meanwhile:
    """of scenarios.Scenarios: each method returns a list of steps"""

    def of_person(self):
        """one release of one person's rows, some of which have values out of line"""
        q = Level()
        person = self.rng.choice([self.person, self.person, self.person, 5])
        q.private = 'SELECT %s FROM costs WHERE person = %d' % (self.rng.choice([
            'dp_count(*)', 'dp_sum(length(note), 0, 9)', "dp_count(*) FILTER (WHERE note LIKE '%zz%')", 'dp_count(DISTINCT note)', 'dp_sum(cost, 0, 60)']), person)
        q.private += self.rng.choice(['', '', " AND note LIKE '%zz%'", ' AND length(note) > 1000', ' AND cost < 0.25'])
        return q

    def writer(self, q):
        """rows that were met are remembered as conflicts with who writes them"""
        rng = self.rng
        if rng.random() < 0.7:
            q = self.of_person()
        level = rng.choice(['SERIALIZABLE'] * 4 + ['SERIALIZABLE, READ ONLY', 'SERIALIZABLE, READ ONLY, DEFERRABLE', 'REPEATABLE READ', 'READ COMMITTED'])
        table, column = rng.choice([('costs', 'cost'), ('costs', 'day'), ('visits', 'flag'), ('people', 'sex')])
        write = "UPDATE %s.%s SET %s = %s WHERE person = %d" % (self.schema, table, column, column, rng.choice([self.person, self.person, 5]))
        between = rng.choice([[], [Step('SAVEPOINT s')]])
        own = rng.choice(['UPDATE own.notes SET n = n + 1 WHERE id = 5', 'DELETE FROM own.notes WHERE id = 5', 'UPDATE own.notes SET note = note WHERE id BETWEEN 1 AND 20'])
        return [Step('SET enable_seqscan = %s' % rng.choice(['on', 'off', 'off'])),
                Step('BEGIN ISOLATION LEVEL ' + level), Step('SELECT 1'),
                Step('BEGIN ISOLATION LEVEL SERIALIZABLE', who='again'), Step('SELECT n FROM own.notes WHERE id = 5', who='again'),
                Step('BEGIN ISOLATION LEVEL SERIALIZABLE', 'raced', who=OWNER), Step(write, 'raced', who=OWNER), Step('COMMIT', 'raced', who=OWNER),
                *between, Step(q.private, 'shape', q), *[Step('ROLLBACK TO s') for _ in between],
                Step(own), Step(rng.choice(['COMMIT', 'ROLLBACK'])), Step(own, who='again'), Step('ROLLBACK', who='again'),
                Step("INSERT INTO own.notes SELECT 5, 'note5', 5 / 3.0 WHERE NOT EXISTS (SELECT FROM own.notes WHERE id = 5)"), Step('RESET enable_seqscan')]

    def marks(self, q):
        """new rows of the person mark the public rows that they reference"""
        rng = self.rng
        table, key, public, column, following, n = rng.choice(REFERENCES)
        write = Step('UPDATE %s.%s SET %s = %s WHERE person = %d' % (self.schema, table, key, following, rng.choice([self.person, self.person, 5])), 'raced', who=OWNER)
        out = [Step('BEGIN', 'raced', who=OWNER)]
        # at the end each row is as before
        out += [write] * n + [Step('COMMIT', 'raced', who=OWNER)] if rng.random() < 0.4 else [write]
        out += [Step('BEGIN ISOLATION LEVEL ' + rng.choice(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']))]
        for look in rng.sample(LOOKS, 3):
            out += [Step('SAVEPOINT s'), Step(look.format(t=public, k=column)), Step('ROLLBACK TO s')]
        return out + [Step('ROLLBACK'), Step('ROLLBACK', 'raced', who=OWNER)]

    def full(self, q):
        """the lock table has room for some locks more, and a new session has yet to look up much"""
        rng = self.rng
        q = self.of_person()
        out = ['SET search_path = %s, public; SET jit = off; SET enable_seqscan = %s; SET dp_cdp.rho = 0.01; SET dp_cdp.reuse = off' % (self.schema, rng.choice(['on', 'off', 'off'])), 'BEGIN']
        if rng.random() < 0.8:
            # what it looks up once, of somebody else
            out.append(Step(q.private.replace('person = %d' % self.person, 'person = 5'), 'room', q, who='anew'))
        if rng.random() < 0.8:
            out.append('LOCK TABLE %s IN ACCESS SHARE MODE' % ', '.join('own.l%d' % i for i in range(1, LOCKS + 1)))
        out += self.fill(rng.choice([0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 8, 12])) + [Step(q.private, 'room', q, who='anew')]
        out += [Step('SELECT pg_advisory_unlock_all()', who='again'), 'ROLLBACK', Step(q.private, 'room', q, who='anew')]
        return [s if isinstance(s, Step) else Step(s, who='anew') for s in out]

    @staticmethod
    def fill(free):
        return [Step('SELECT count(pg_advisory_lock(i)) FROM generate_series(1, 300000) i', 'raced', who='again'),
                Step('SELECT count(pg_advisory_unlock(i)) FROM generate_series(1, %d) i' % free, who='again')]

    def uncounted(self, q):
        """a release that fails while the lock table is full"""
        long = Level()
        long.private = 'SELECT dp_count(*) FROM costs t JOIN generate_series(1, 20000) a ON a > t.person JOIN generate_series(1, 20000) b ON b > a WHERE t.person > 0'
        # it begins, the table fills, and it fails well before that is emptied
        return [Step('SET statement_timeout = 1200; SET dp_cdp.reuse = off'), Step(long.private, 'raced', long, later=True), Step('SELECT pg_sleep(0.5)', who='again'),
                *self.fill(self.rng.randrange(0, 4)), Step('SELECT pg_sleep(1.5)', who='again'),
                Step('SELECT pg_advisory_unlock_all()', who='again'), Step('SET statement_timeout = 60000; RESET dp_cdp.reuse')]

    def policy(self, q):
        """the owner changes what the asker reads, all the time"""
        rng = self.rng
        changed, asked = rng.choice([(c, OF_COSTS) for c in CHANGES] + [([UNIT % 'trip', UNIT % 'person'], OF_TRIPS)])
        changes = [Step(c.format(s=self.schema), 'raced', who=OWNER, later=True) for c in changed]
        # a pilot's debit, and that of an estimator, are not answers
        out = [Step('SET dp_cdp.reuse = off; SET dp_cdp.find_bounds = off')] + changes * rng.choice([3, 10, 30])
        for _ in range(rng.choice([3, 10, 20])):
            one = Level()
            one.private = rng.choice(asked)
            out.append(Step(one.private, 'raced', one))
        return out + [Step('RESET dp_cdp.reuse')]

    def other_unit(self, q):
        """the owner chooses another unit, as many as two keys up from what is read, beside a plan or a cursor of before"""
        rng = self.rng
        q = Level()
        q.private, q.plain, q.columns, q.changes = rng.choice(OF_TRIPS), True, [('int', 0)], {0: 1}

        def unit(column):
            return Step((UNIT % column).format(s=self.schema), 'raced', who=OWNER)
        # what is told while a trip is the unit may differ by more than a person
        if rng.random() < 0.7:
            before, after = [Step('PREPARE p AS ' + q.private)] + [Step('EXECUTE p', 'shape', q)] * rng.choice([0, 1, 6]), [Step('EXECUTE p', 'keys', q)] * 2
        else:
            before = [Step('BEGIN'), Step('DECLARE k CURSOR FOR ' + q.private)] + [Step('FETCH 1 FROM k', 'shape', q)] * rng.choice([0, 0, 1])
            after = [Step('FETCH ALL FROM k', 'keys', q)]
        # where answers are compared, one row of each
        limits = [Step('SET dp_cdp.max_rows = 1; SET dp_cdp.max_groups = 1')] * (self.schema == 'x')
        return limits + [unit('trip')] + before + [unit('person')] + after + [Step('ROLLBACK'), Step('DEALLOCATE ALL')]

    def after(self, q):
        """statements after a release, in its transaction"""
        rng = self.rng
        level = rng.choice(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE', 'SERIALIZABLE, READ ONLY, DEFERRABLE'])
        out = [Step('BEGIN ISOLATION LEVEL ' + level), Step(q.private, 'keys', q)]
        for _ in range(rng.choice([1, 3])):
            what = rng.choice(['own', 'catalog', 'around', 'again', 'locks'])
            if what == 'own':
                out.append(Step(rng.choice(['UPDATE own.notes SET n = n + 1', 'SELECT * FROM own.marks ORDER BY id', 'CREATE TEMP TABLE t AS SELECT 1 AS i', 'SELECT count(*) FROM own.notes'])))
            elif what == 'catalog':
                sql = rng.choice(self.catalogs)
                out.append(Step(sql, 'exact' if 'ORDER BY' in sql else 'bag'))
            elif what == 'around':
                sql = rng.choice(AROUND)
                if not self.neither.search(sql):
                    out.append(Step(sql.replace('{t}', 'costs').replace('{c}', 'note').replace('{q}', q.private), 'shape'))
            elif what == 'again':
                out.append(Step(q.private, 'keys', q))
            else:
                out.append(Step(self.locks, 'bag'))
        return out + [Step('ROLLBACK')]

    # others decide whether there is an answer, and so do the ledger's own locks
    RACED = ('full', 'policy', 'uncounted')
    # after which both have to be made alike
    UNEVEN = RACED + ('other_unit',)
