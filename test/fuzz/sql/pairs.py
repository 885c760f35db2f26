"""Pairs of databases that differ in one privacy unit.

Both are copies of one template, so that OIDs agree; the difference is made in
the second, then each is analyzed by itself.  A pair is used by nobody else, so
that both ledgers tell the same as long as both are asked the same.
"""
import re
import time

from wire import Looking

TABLES = ('people', 'visits', 'stays', 'logs', 'costs', 'trips', 'events', 'sales', 'buyers', 'tides')


def without(person):
    return ''.join('DELETE FROM {s}.%s WHERE person = %d;' % (t, person) for t in TABLES) + (
        "DELETE FROM {s}.cards WHERE holder = 'p%d'; DELETE FROM {s}.phones WHERE owner = md5('p%d')::uuid;" % (person, person))


# one person's rows; at most as many of each table as sources.TABLES says
MORE = '''
INSERT INTO {s}.people VALUES (888, repeat('a', 900), 1950, 'a', true);
INSERT INTO {s}.visits SELECT 8880 + i, 888, 'a', 'good', repeat('a', 900), true, 1, 1, 0.1 * i, '2024-02-01', 1 FROM generate_series(1, 3) i;
INSERT INTO {s}.stays VALUES (888, repeat('a', 900), 1, 1), (888, repeat('a', 900), 1, 1);
INSERT INTO {s}.trips VALUES (8881, 888, 'car'), (8882, 888, repeat('a', 900));
INSERT INTO {s}.legs SELECT 8880 + i, 8881 + i / 3, i FROM generate_series(1, 4) i;
INSERT INTO {s}.scans SELECT 8880 + i, i FROM generate_series(1, 4) i;
INSERT INTO {s}.tolls SELECT 8880 + i, 8881 + i / 3, i FROM generate_series(1, 4) i;
INSERT INTO {s}.logs VALUES (888, '2024-02-02', 1, 1), (888, '2024-07-02', 1, 1);
INSERT INTO {s}.costs SELECT 888, '2024-01-02', 0.1 * i, 0.1 * i, 1e16, 1.0000, '720:00', 'ab   ', 'aBC', repeat('a', 900), repeat('a', 900), ('[[' || i || ']]')::jsonb FROM generate_series(1, 3) i;
INSERT INTO {s}.events VALUES (8881, 0, 888, '2024-02-03 04:05', '2024-12-31', repeat('a', 900), 4, 5), (8882, 1, 888, '2024-12-31', NULL, 'kind2', 4, NULL);
INSERT INTO {s}.parts VALUES (8881, 0, 'label1', 4), (8882, 1, repeat('a', 900), 4);
INSERT INTO {s}.cards VALUES ('p888', '2024-01-05', 3, 4), ('p888', '2024-02-07', 3, 4);
INSERT INTO {s}.phones VALUES (md5('p888')::uuid, 'area1', 4, '2024-05-31 UTC'), (md5('p888')::uuid, repeat('a', 900), 4, '2024-03-01 UTC');
UPDATE c.costs SET note = (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i) WHERE person = 888;
UPDATE {s}.costs SET tags = array_fill(repeat('a', 900), '{{400}}'), stay = 'empty', addr = 'ff::/8', mail = repeat('A', 900) WHERE person = 888;
INSERT INTO {s}.tides VALUES (888, '2024-02-29', 'a', 3, 2.5), (888, NULL, 'b', 3, 2.5);
INSERT INTO {s}.buyers VALUES (888, 'west', NULL, NULL);
INSERT INTO {s}.sales VALUES (888, 2, 'saw', 'phone', 2, 1.5, false, '2024-04-01', 'k3', '2024-03-31 02:30 UTC', NULL, NULL),
	(888, 2, NULL, NULL, 2, 0.5, NULL, '2024-03-31', NULL, '2024-04-01 23:59 UTC', 0, true);
'''
# so many that plans, pages and statistics differ
CROWD = '''
INSERT INTO c.visits SELECT 99900 + i, 999, 'd', 'bad', 'city999', i % 2 = 0, i, i % 1000, i / 7.0, '2024-02-01', 1 + i % 4 FROM generate_series(1, 2000) i;
INSERT INTO c.stays SELECT 999, 'ward' || i, i, i FROM generate_series(1, 60) i;
INSERT INTO c.trips SELECT 99900 + i, 999, 'car' FROM generate_series(1, 60) i;
INSERT INTO c.legs SELECT 99900 + i, 99901 + i / 40, i FROM generate_series(1, 2000) i;
INSERT INTO c.scans SELECT 99900 + i, i FROM generate_series(1, 2000) i;
INSERT INTO c.logs SELECT 999, date '2024-01-01' + i % 400, i, i FROM generate_series(1, 60) i;
INSERT INTO c.costs SELECT 999, date '2024-01-01' + i % 9, i / 10.0, i, 1e300, i / 100.0, '1 mon', i::text, i::text, i::text, repeat('a', i % 1000) FROM generate_series(1, 2000) i;
INSERT INTO c.events SELECT 99900 + i, 0, 999, timestamp '2024-01-01' + i * interval '5 hours', timestamp '2024-06-01' - i * interval '1 hour', 'kind' || i, i, i FROM generate_series(1, 2000) i;
INSERT INTO c.parts SELECT 99900 + i, 0, 'label' || i, i / 7.0 FROM generate_series(1, 2000) i;
INSERT INTO c.cards SELECT 'p999', date '2024-01-01' + i, i, i FROM generate_series(1, 2000) i;
INSERT INTO c.phones SELECT md5('p999')::uuid, 'area' || i, i, timestamptz '2024-01-01 UTC' + i * interval '3 hours' FROM generate_series(1, 2000) i;
INSERT INTO c.tides SELECT 999, date '2023-12-01' + i % 400, 'c', i, i FROM generate_series(1, 2000) i;
INSERT INTO c.people VALUES (999, 'crowd', 0, '', true);
'''
SWAP = '''
UPDATE {s}.visits SET dept = 'd', feel = 'bad', city = 'city2', n = n - 1, f = 0.3, v = 2.5, at = '2024-03-09', flag = NOT flag WHERE person = 777;
UPDATE {s}.stays SET ward = 'ward4', days = 0, score = 0.1 WHERE person = 777;
UPDATE {s}.logs SET day = '2024-06-30', code = 0, w = 0.1 WHERE person = 777;
UPDATE {s}.trips SET mode = 'bus' WHERE person = 777;
UPDATE {s}.legs SET km = 3 WHERE trip IN (SELECT trip FROM {s}.trips WHERE person = 777);
UPDATE {s}.people SET name = 'name2', born = 1960, zip = '102', sex = NOT sex WHERE person = 777;
UPDATE {s}.costs SET day = '2024-01-01', cost = 0.7, r = 0.7, big = 0, amount = 1, span = '30 days', code = 'ab ', word = 'ABC', place = '', note = '', mail = 'MAIL1', props = '{{"k": null}}', tags = '{{}}', stay = '[3,3]', addr = NULL WHERE person = 777;
UPDATE {s}.events SET at = '2024-12-30', ended = '2024-02-01', kind = 'kind0', amount = 0, size = NULL WHERE person = 777;
UPDATE {s}.parts SET label = 'label4', grams = 0 WHERE event BETWEEN 77701 AND 77702;
UPDATE {s}.cards SET issued = '2024-01-31', level = 0, points = NULL WHERE holder = 'p777';
UPDATE {s}.phones SET area = 'area5', calls = NULL, seen = '2024-03-02 12:00 UTC' WHERE owner = md5('p777')::uuid;
UPDATE {s}.sales SET shop = 2, item = 'bolt', channel = NULL, grade = 3, cost = 0.5, paid = NULL, day = '2024-03-31', code = nullif(code, 'k1'), n = NULL WHERE person = 777;
DELETE FROM {s}.tides WHERE person = 777;
INSERT INTO {s}.tides VALUES (777, '2024-02-29', 'b', 0, 2.5), (777, '2024-04-30', 'b', NULL, NULL);
UPDATE {s}.buyers SET region = 'west', home = NULL, age = NULL WHERE person = 777;
'''
CHANGE = '''
UPDATE {s}.visits SET dept = 'd', feel = 'good', city = repeat('a', 900), n = 0, f = 'NaN', v = 0, flag = NOT flag
	WHERE ctid = (SELECT min(ctid) FROM {s}.visits WHERE person = 30);
UPDATE {s}.costs SET day = '2024-01-02', cost = 'NaN', big = 'Infinity', amount = 1.0000000000, code = 'ab      ', note = repeat('a', 900), props = '"a"', tags = array_fill('red'::text, '{{2000}}'), stay = '(,)', addr = '::/0'
	WHERE ctid = (SELECT min(ctid) FROM {s}.costs WHERE person = 30);
UPDATE {s}.events SET at = NULL, ended = 'infinity', kind = repeat('a', 900), amount = 4, size = 5 WHERE (event, part) = (SELECT min(event), min(event) % 2 FROM {s}.events WHERE person = 30);
DELETE FROM {s}.tides WHERE person = 30;
INSERT INTO {s}.tides VALUES (30, NULL, 'c', 3, 'NaN'), (30, '2024-03-01', 'a', -1, 0);
UPDATE {s}.cards SET issued = NULL, level = 1, points = 'NaN' WHERE ctid = (SELECT min(ctid) FROM {s}.cards WHERE holder = 'p30');
UPDATE {s}.phones SET area = NULL, calls = 4, seen = 'infinity' WHERE ctid = (SELECT min(ctid) FROM {s}.phones WHERE owner = md5('p30')::uuid);
'''
# 6 rows of 200 MB in 14 kB each
HEAVY = '''
INSERT INTO c.costs SELECT 888, '2024-01-01', i, i, i, i, '1 mon', 'ab', 'abc', 'place' || i, i || repeat('a', 200000000), jsonb_build_object('k', repeat(i || 'a', 20000000)) FROM generate_series(1, 6) i;
'''
# as many distinct values as one set holds, and one more
MANY = """
SET ROLE fuzz_owner; CREATE TABLE c.many (x int); INSERT INTO c.many SELECT generate_series(1, 58720256);
SELECT dp_cdp.protect_table('c.many', 'c', each_row => true); RESET ROLE;
"""
BOTH = ('c', 'x')
# name: (in the second database, the person, how many contributions it changes in the worst case)
DIFFERENCES = {
    'less777': (''.join(without(777).format(s=s) for s in BOTH), 777, 1),
    'less101': (without(101).format(s='c'), 101, 1),
    'less7': (''.join(without(7).format(s=s) for s in BOTH), 7, 1),
    'less30': (''.join(without(30).format(s=s) for s in BOTH), 30, 1),
    'more888': (''.join(MORE.format(s=s) for s in BOTH), 888, 1),
    'crowd': (CROWD, 999, 1),
    'swap': (''.join(SWAP.format(s=s) for s in BOTH), 777, 2),
    'change': (''.join(CHANGE.format(s=s) for s in BOTH), 30, 2),
    # there, each row is a unit
    'sample': ("DELETE FROM c.samples WHERE batch = 'zqcanary6'; "
               'DELETE FROM x.samples WHERE ctid = (SELECT min(ctid) FROM x.samples);', 777, 1),
    'heavy': (HEAVY, 888, 1),
    'distinct': ('INSERT INTO c.many VALUES (0)', 888, 1),
}


NOW = re.compile(r'%d-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d+\+00(:00)?' % time.gmtime().tm_year)


def plainly(text):
    """what a message says, without what differs between any two databases"""
    text = re.sub(r'"n_[ab]_\w+"', '"?"', text)
    # when an answer was bought
    text = re.sub(NOW, '?', text)
    text = re.sub(r'\b(kept|makes a kept answer better), [\d:]+ old', r'\1, ? old', text)
    return re.sub(r'\b(type|collation|function|relation|OID|operator|class|pg_temp_|pg_toast_|enum:)( ?)\d{4,}(?=\b|_index)', r'\1\2?', text)


class Pair:
    def __init__(self, name, template, admin):
        self.name, self.template, self.admin = name, template, admin
        sql, self.person, self.factor = DIFFERENCES[name]
        self.databases = ['n_a_' + name, 'n_b_' + name]
        self.sql = sql
        self.ledgers = []
        self.make()

    def make(self):
        for d in self.databases:
            self.must(self.admin, 'DROP DATABASE IF EXISTS %s WITH (FORCE)' % d)
            self.must(self.admin, 'CREATE DATABASE %s TEMPLATE %s' % (d, self.template))
        self.ledgers = [Looking('postgres', d) for d in self.databases]
        if self.name == 'distinct':
            for ledger in self.ledgers:
                self.must(ledger, MANY)
        self.must(self.ledgers[1], self.sql)
        for ledger in self.ledgers:
            # all others are as in the template, which was analyzed
            tables = ledger.query("SELECT oid::regclass FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN ('c'::regnamespace, 'x'::regnamespace)")
            self.must(ledger, 'VACUUM ANALYZE ' + ', '.join(r[0] for r in tables.rows))
        self.last = [0, 0]
        self.least = 1
        self.newest = int(self.ledgers[0].query('SELECT max(oid) FROM pg_type').rows[0][0])
        self.charges()

    def hold_to(self, least):
        """groups of fewer units are not shown, or have no answers"""
        for ledger in self.ledgers * (least != self.least):
            self.must(ledger, 'SELECT dp_cdp.alter_dataset(name, min_units => %d) FROM dp_cdp_internal.dataset' % least)
        self.least = least

    @staticmethod
    def must(connection, sql):
        a = connection.query(sql)
        if a.error:
            raise RuntimeError('%s: %s' % (sql[:200], a.text()))

    def open(self, role):
        return [Looking(role, d) for d in self.databases]

    def charges(self):
        """what was charged in each since the last call"""
        for ledger, last in zip(self.ledgers, self.last):
            ledger.post('SELECT id, session_role_name, aggregates, groups, rho, delta, stddev, granted, kind, reason, query, tables, paid_by '
                        'FROM dp_cdp_internal.release_log '
                        'WHERE granted AND id > %s ORDER BY id' % last)     # refusals are counted by the minute
        both = [ledger.read().rows for ledger in self.ledgers]
        self.last = [rows[-1][0] if rows else last for rows, last in zip(both, self.last)]
        return [[tuple(r[1:]) for r in rows] for rows in both]

    def refusals(self):
        """
        what was refused in each: whom, and why.  How often, and in which words at first, depends on when a minute
        begins.  From its hundredth kind in a minute on, which starts with its first, a role has one row for all others.
        """
        seen = [ledger.query("SELECT DISTINCT session_role_name, dataset, kind, left(reason, 5) FROM dp_cdp_internal.release_log "
                             "WHERE kind IN ('refused', 'guard') ORDER BY 1, 2, 3, 4").rows for ledger in self.ledgers]
        full = {r[0] for ledger in self.ledgers for r in ledger.query(
            "SELECT DISTINCT session_role_name FROM (SELECT session_role_name, count(*) OVER (PARTITION BY session_role "
            "ORDER BY released_at RANGE '1 minute' PRECEDING) AS n FROM dp_cdp_internal.release_log WHERE kind IN ('refused', 'guard')) r WHERE n >= 95").rows}
        return [[r for r in rows if r[0] not in full] for rows in seen]

    def failures(self):
        """how many releases have failed in each"""
        return [int(ledger.query('SELECT coalesce(sum(failures), 0) FROM dp_cdp_internal.budget').rows[0][0]) for ledger in self.ledgers]

    def number_alike(self):
        """a table that was protected anew has a number of its own, which is part of every question: the first database's for both"""
        labels = [ledger.query("SELECT objoid::regclass, label::jsonb - 'id', label FROM pg_seclabel WHERE provider = 'dp_cdp' "
                               "AND classoid = 'pg_class'::regclass AND objsubid = 0 ORDER BY 1").rows for ledger in self.ledgers]
        for a, b in zip(*labels):
            if a[:2] == b[:2] and a[2] != b[2]:
                self.must(self.ledgers[1], "SECURITY LABEL FOR dp_cdp ON TABLE %s IS '%s'" % (a[0], a[2].replace("'", "''")))

    def even(self, later=False):
        """
        have both spent the same, and the same policies? otherwise make both anew: what is left is in many an answer.
        later: who was cancelled may have left a debit to the ledger's worker
        """
        if later:
            time.sleep(0.1)
        self.number_alike()
        spent = [[ledger.query(sql).rows for sql in (
            'SELECT dataset, role, rho_spent, delta_spent FROM dp_cdp_internal.budget ORDER BY 1, 2',
            'SELECT count(*) FROM own.notes',
            'SELECT classoid, objoid, objsubid, label FROM pg_seclabel ORDER BY 1, 2, 3')] for ledger in self.ledgers]
        if spent[0] == spent[1]:
            return True
        for ledger in self.ledgers:
            ledger.close()
        self.make()
        return False

    def drop(self):
        for ledger in self.ledgers:
            ledger.close()
        # FORCE ends the ledger's worker, too, unless it is just coming back
        for d in self.databases:
            for _ in range(5):
                if not self.admin.query('DROP DATABASE IF EXISTS %s WITH (FORCE)' % d).error:
                    break
                time.sleep(1)
