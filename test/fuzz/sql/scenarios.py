"""What is asked of both databases, and how the answers are compared.

A scenario is a list of steps that can be repeated on fresh connections.
"""
import re

from grammar_fuzz import AROUND
from meanwhile import Meanwhile
from steps import Step

EXPLAIN = ['EXPLAIN', 'EXPLAIN', 'EXPLAIN (VERBOSE)', 'EXPLAIN (VERBOSE, FORMAT JSON)', 'EXPLAIN (SETTINGS, FORMAT YAML)', 'EXPLAIN (COSTS OFF)',
           'EXPLAIN (ANALYZE)', 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS)', 'EXPLAIN (SUMMARY OFF, FORMAT XML)']
OWN = ["DROP TYPE IF EXISTS own.shade CASCADE", "DROP COLLATION IF EXISTS own.order1 CASCADE", "DROP DOMAIN IF EXISTS own.positive CASCADE",
       "CREATE TYPE own.shade AS ENUM ('a', 'b', 'c')",
       # enums compare values that were added later by their entries in the catalogues
       "ALTER TYPE own.shade ADD VALUE 'aa' BEFORE 'b'", "CREATE COLLATION own.order1 (provider = icu, locale = 'sv')",
       'CREATE DOMAIN own.positive AS int CHECK (VALUE > 0)']
THINGS = ['TYPE own.shade', 'COLLATION own.order1', 'DOMAIN own.positive', 'TYPE own.shade CASCADE']
# not the session's own relations
# a name without the quotes that a setting may ask for
OTHERS = " (SELECT nspname FROM pg_namespace n WHERE n.oid = relnamespace) !~ '^(own|pg_)'"
CATALOGS = [
    'SELECT relname, relnatts, relhasindex, relkind, relhassubclass FROM pg_class WHERE relnamespace = current_schema::regnamespace ORDER BY 1',
    # numbers of rows, which harden() hides; not of what the session itself makes, whose OIDs and counters are the server's and the clock's
    "SELECT relname, reltuples, relpages, relallvisible FROM pg_class WHERE" + OTHERS, "SELECT (c).reltuples, to_json(c) ->> 'relpages' FROM pg_class c WHERE" + OTHERS,
    "SELECT relname, pg_relation_size(oid), pg_table_size(oid), pg_indexes_size(oid), pg_stat_get_live_tuples(oid) FROM pg_class c WHERE" + OTHERS,
    "SELECT c.relname, i.relname, i.reltuples AS cardinality, i.relpages AS pages FROM pg_class c JOIN pg_index x ON x.indrelid = c.oid LEFT JOIN pg_class i ON i.oid = x.indexrelid WHERE c." + OTHERS.strip(),
    "EXPLAIN (VERBOSE) SELECT relname FROM pg_class WHERE reltuples > 100 OR pg_relation_size(oid) > 100",
    "SELECT own.safely('SELECT pg_relation_size(''visits'') FROM pg_class')", "SELECT count(*) FROM pg_class WHERE relname = 'visits' AND reltuples > 300",
    "SELECT * FROM pg_stats WHERE schemaname NOT IN ('pg_catalog', 'information_schema')", 'SELECT count(*) FROM pg_stats_ext',
    'SELECT count(*) FROM pg_stats_ext_exprs',
    "SELECT relname, n_live_tup, n_tup_ins, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_mod_since_analyze, last_analyze, analyze_count FROM pg_stat_user_tables WHERE schemaname !~ '^(own|pg_)'",
    "SELECT relname, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins FROM pg_stat_xact_user_tables WHERE schemaname !~ '^(own|pg_)'",
    "SELECT relname, heap_blks_read, heap_blks_hit, idx_blks_read, toast_blks_read FROM pg_statio_user_tables WHERE schemaname !~ '^(own|pg_)'",
    "SELECT indexrelname, idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes WHERE schemaname !~ '^(own|pg_)'",
    "SELECT pg_stat_get_live_tuples('visits'::regclass)", "SELECT pg_stat_get_xact_tuples_returned('visits'::regclass)",
    "SELECT pg_stat_get_xact_numscans('visits'::regclass)", "SELECT pg_relation_size('visits')", "SELECT pg_total_relation_size('costs')",
    "SELECT pg_stat_get_tuples_returned('costs'::regclass)", "SELECT pg_stat_get_mod_since_analyze('costs'::regclass)",
    'SELECT pg_database_size(current_database())', 'SELECT blks_read, blks_hit, tup_returned, tup_fetched, tup_inserted, temp_files, temp_bytes FROM pg_stat_database', 'SELECT wal_records, wal_bytes FROM pg_stat_wal', 'SELECT * FROM pg_replication_slots', 'SELECT funcname, calls FROM pg_stat_xact_user_functions ORDER BY 1',
    'SELECT dataset, role, rho_limit, rho_spent, rho_remaining, delta_spent, epsilon_spent FROM dp_cdp.budgets ORDER BY 1, 2',
    'SELECT * FROM dp_cdp.datasets ORDER BY 1', 'SELECT dataset, dp_cdp.spilled_bytes(dataset) FROM dp_cdp.datasets ORDER BY 1', 'SELECT * FROM dp_cdp.protected ORDER BY 1',
    "SELECT aggregates, groups, rho, delta, stddev, granted, kind, reason, query, tables, hash FROM dp_cdp.releases WHERE kind = 'granted' ORDER BY id DESC LIMIT 5",
    'SELECT dataset, role, rho_limit, rho_spent, percent_spent, rho_per_day, days_left FROM dp_cdp.overview ORDER BY 1, 2, ledger_id',
    'SELECT count(*) FROM left_behind', 'EXPLAIN SELECT * FROM left_behind', 'COPY left_behind TO STDOUT', 'SELECT * FROM dp_cdp.reserved_names',
    'SELECT pg_current_xact_id_if_assigned() IS NULL', 'SELECT state, wait_event, query FROM pg_stat_activity WHERE pid = pg_backend_pid()',
    'SELECT name, statement, generic_plans, custom_plans FROM pg_prepared_statements', 'SELECT name, statement, is_holdable FROM pg_cursors',
    'SELECT pg_is_in_recovery(), pg_trigger_depth()', 'SELECT * FROM pg_backend_memory_contexts', 'SELECT * FROM pg_shmem_allocations',
    "SELECT dp_cdp.declared_keys('visits', 'dept')", "SELECT dp_cdp.declared_keys('visits', 'site')", 'SELECT pg_ls_tmpdir()',
    "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE table_schema = current_schema ORDER BY 1, 2", 'SELECT grantee, table_name, column_name, privilege_type FROM information_schema.column_privileges WHERE table_schema = current_schema ORDER BY 1, 2, 3, 4',
    'SELECT aggregate, norm, limits, sensitivity, rho FROM dp_cdp.last_release() WHERE false', "SELECT own.safely('SELECT dp_cdp.certificate(''c'')')", "SELECT own.safely('SELECT dp_cdp.report(''c'')')", "SELECT own.safely('SELECT * FROM dp_cdp.check_data(''c'')')",
    "SELECT own.safely('SELECT * FROM dp_cdp.suggest_limits(''visits'', 0.01)')", "SELECT own.safely('CREATE TABLE own.refers (city text REFERENCES visits (city))')",
    "SELECT has_table_privilege('visits', 'SELECT')", "SELECT pg_get_viewdef('v_pair'::regclass)",
    "SELECT obj_description('visits'::regclass)", 'SELECT count(*) FROM pg_statistic', 'SELECT * FROM pg_stat_progress_analyze',
]
LOCKS = "SELECT locktype, relation::regclass, page, tuple, mode, granted FROM pg_locks WHERE pid = pg_backend_pid() AND relation NOT IN (SELECT oid FROM pg_class WHERE relnamespace IN ('dp_cdp'::regnamespace, 'dp_cdp_internal'::regnamespace))"
PREPARED = 'SELECT name, generic_plans, custom_plans FROM pg_prepared_statements'
# what is about the session, the server or the clock, or compared elsewhere
NEITHER = re.compile('ROLE|AUTHORIZATION|DISCARD|RESET|pg_locks|pg_stat_activity|releases|release_log|budgets|datasets|overview|PREPARE TRANS|ANALYZE|oid|'
                     'LISTEN|check_setup|BERNOULLI|SYSTEM|lo_get')

# Memory, asked of pairs that are made for it: (settings and preparations, statements).  Person 888 has 6 notes of 200 MB,
# and of table many, where each row is a unit, one more row passes what one set of distinct values holds.
LARGE = {
    'heavy': (['SET dp_cdp.max_groups = 100000', 'SET dp_cdp.max_rows = 10', "SET work_mem = '64kB'",
               'CREATE TEMP TABLE steps AS SELECT generate_series(1, 40000) AS g', 'ANALYZE steps'], [
        'SELECT note, dp_count(*) FROM costs WHERE person = 888 GROUP BY note',
        'SELECT note, dp_sum(cost, 0, 1) FROM costs WHERE person IN (7, 888) GROUP BY note',
        'SELECT s.g + 1, dp_median(t.cost, 0, 5) FROM costs t JOIN steps s ON s.g >= t.person WHERE t.person = 888 GROUP BY 1',
        'SELECT s.g, dp_histogram(t.cost, 0, 5, 1000) FROM costs t JOIN steps s ON s.g >= t.person WHERE t.person = 888 GROUP BY s.g',
        'SELECT dp_count(*) FROM costs WHERE length(note || note) > 5', 'SELECT dp_count(*) FROM costs WHERE length(note || note || note || note || note || note) > 5',
        "SELECT dp_count(*) FROM costs WHERE length(replace(note, 'a', 'abcdefgh')) > 5", "SELECT dp_count(*) FROM costs WHERE upper(note) > 'A'",
        "SELECT dp_count(*) FROM costs WHERE note LIKE '%a%a%b'", "SELECT dp_count(*) FROM costs WHERE note ILIKE '%a%b'", "SELECT dp_count(*) FROM costs WHERE initcap(note) > 'A'",
        'SELECT dp_count(DISTINCT note) FROM costs', 'SELECT dp_count(*) FROM (SELECT person, max(note) AS m FROM costs GROUP BY person) q WHERE length(m) > 5',
        'SELECT dp_count(*) FROM (SELECT person, count(DISTINCT note) AS m FROM costs GROUP BY person) q WHERE m > 1',
        'SELECT dp_count(*) FROM (SELECT person, note FROM costs GROUP BY person, note) q', 'SELECT dp_count(*) FROM (SELECT DISTINCT person, note FROM costs) q',
        'EXPLAIN SELECT note, dp_count(*) FROM costs GROUP BY note', "SELECT left(reverse(note), 5), dp_count(*) FROM costs GROUP BY 1"]),
    'distinct': (['SET max_parallel_workers_per_gather = 0'], ['SELECT dp_count(DISTINCT x) FROM many']),
}


class Scenarios(Meanwhile):
    """each method returns a list of steps"""

    catalogs, locks, neither = CATALOGS, LOCKS, NEITHER

    def __init__(self, rng, person, schema):
        self.rng, self.person, self.schema = rng, person, schema

    def plain(self, q):
        return [Step(q.private, 'keys', q)]

    def written(self, q):
        """what is there after it was written"""
        return [Step(s, 'shape', q) for s in q.before] + [Step(q.private, 'shape', q)]

    def shape(self, q):
        """with its parameters and zone"""
        out = [Step("SET TimeZone = '%s'; DEALLOCATE ALL" % (q.zone or 'UTC'))]
        if q.prepared and self.rng.random() < 0.7:
            out.append(Step("SET plan_cache_mode = '%s'" % self.rng.choice(['force_generic_plan', 'force_custom_plan'])))
            return out + [Step(q.prepared[0], 'exact', q), Step(q.prepared[1], 'keys', q)]
        return out + [Step(q.private, 'keys', q)]

    def explain(self, q):
        rng = self.rng
        if rng.random() < 0.2:
            return [Step('SELECT * FROM dp_cdp.preview($p$%s$p$)' % q.private, 'exact', q)]
        out = [Step('%s %s' % (rng.choice(EXPLAIN), q.private), 'exact', q)]
        return out if rng.random() < 0.5 else out + self.plain(q)

    def prepared(self, q):
        rng = self.rng
        private, types, values = q.private, '', ''
        long = list(dict.fromkeys(re.findall(r"\(?(?:'%' \|\| )?repeat\('[%a-zA-Z_]+', \d+\)(?: \|\| '[%bc]+'\))?\)?", private)))
        if long and rng.random() < 0.5:
            # where constants may not be as long; more, so that the usual stack does not do
            long = [c for c in long if c.count('(') == c.count(')')][:3]
            for i, c in enumerate(long):
                private = private.replace(c, '$%d' % (i + 1))
            types = '(%s)' % ', '.join(['text'] * len(long)) if long else ''
            factor = rng.choice([1, 1, 20])
            values = '(%s)' % ', '.join(re.sub(r'\d+(?=\))', lambda m: str(int(m[0]) * factor + factor // 20), c) for c in long) if long else ''
        constants = [] if types else re.findall(r" = (\d+|'[a-z]+\d')(?![\d.:'])", private)
        compared = [] if types else re.findall(r"( >= | < | <= | > )(\d+(?:\.\d+)?)(?![\d.:'])", private)
        if compared and rng.random() < 0.4:
            operator, constant = rng.choice(compared)
            private = re.sub(r"%s%s(?![\d.:'])" % (operator, re.escape(constant)), operator + '$1', private)
            types, values = '(numeric)', '(%s)' % rng.choice([constant, constant, constant, 'NULL'])
        elif constants and rng.random() < 0.6:
            constant = rng.choice(constants)
            private = private.replace(' = ' + constant, ' = $1')
            types, values = '(%s)' % ('text' if constant[0] == "'" else 'int'), '(%s)' % constant
        out = [Step('PREPARE p%s AS %s' % (types, private), 'exact', q)]
        if rng.random() < 0.3:
            out.append(Step('EXPLAIN EXECUTE p' + values, 'exact', q))
        for _ in range(rng.choice([2, 3, 7, 7])):
            out.append(Step('EXECUTE p' + values, 'keys', q))
        if rng.random() < 0.3:
            out.append(Step('EXPLAIN (VERBOSE) EXECUTE p' + values, 'exact', q))
        return out + [Step(PREPARED), Step('DEALLOCATE ALL')]

    def cursor(self, q):
        rng = self.rng
        out = [Step('BEGIN'), Step('DECLARE k %sCURSOR FOR %s' % (rng.choice(['', 'SCROLL ', 'NO SCROLL ']), q.private), 'exact', q),
               Step('FETCH 1 FROM k', 'shape', q)]
        if rng.random() < 0.5:
            out.append(Step('FETCH ALL FROM k', 'shape', q))
        if rng.random() < 0.3:
            out.append(Step(LOCKS, 'bag'))
        return out + [Step('SELECT name, is_scrollable FROM pg_cursors'), Step(rng.choice(['COMMIT', 'ROLLBACK']))]

    def table(self, q):
        kind = self.rng.choice(['TABLE', 'TEMP TABLE', 'MATERIALIZED VIEW'])
        name = 'made' if kind.startswith('TEMP') else 'own.made'
        return [Step('CREATE %s %s AS %s' % (kind, name, q.private), 'keys', q), Step('TABLE ' + name, 'keys', q),
                Step('DROP %s %s' % (kind.replace('TEMP ', ''), name))]

    def view(self, q):
        return [Step('CREATE VIEW own.v AS ' + q.private, 'exact', q), Step('SELECT * FROM own.v', 'keys', q), Step('DROP VIEW own.v')]

    def block(self, q):
        return [Step("DO $do$ DECLARE r record; BEGIN FOR r IN %s LOOP NULL; END LOOP; EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%% %%', SQLSTATE, SQLERRM; END $do$"
                     % q.private, 'exact', q),
                Step('SELECT own.safely($p$%s$p$)' % q.private, 'exact', q)]

    def savepoint(self, q):
        return [Step('BEGIN'), Step('SAVEPOINT s'), Step(q.private, 'keys', q), Step('ROLLBACK TO s'), Step(q.private, 'keys', q),
                Step(self.rng.choice(['COMMIT', 'ROLLBACK']))]

    def copy(self, q):
        return [Step('COPY (%s) TO STDOUT' % q.private, 'keys', q)]

    def extended(self, q):
        parameters, fetch = [], self.rng.choice([0, 0, 1, 2])

        def parameter(m):
            parameters.append(m[1].strip("'"))
            return ' = $%d' % len(parameters)
        private = re.sub(r" = (\d+|'[a-z]+\d')(?![\d.:'])", parameter, q.private, count=2)
        return [Step(private, 'shape' if fetch else 'keys', q, parameters, fetch) for _ in range(self.rng.choice([1, 2]))]

    def serializable(self, q):
        level = self.rng.choice(['SERIALIZABLE', 'SERIALIZABLE, READ ONLY', 'SERIALIZABLE, READ ONLY, DEFERRABLE', 'SERIALIZABLE, READ ONLY, DEFERRABLE', 'REPEATABLE READ'])
        return [Step('BEGIN ISOLATION LEVEL ' + level), Step(q.private, 'keys', q), Step(LOCKS, 'bag'), Step('COMMIT')]

    def deep(self, q):
        what = self.rng.choice(['%s', 'EXPLAIN %s', 'EXPLAIN %s', 'EXPLAIN (VERBOSE) %s', 'CREATE TEMP TABLE deep AS %s', 'PREPARE deep AS %s']) % q.private
        out = [Step('SET max_stack_depth = 100')]
        for _ in range(3):
            out += [Step('SELECT own.deep(%d, $p$%s$p$)' % (self.rng.randrange(8, 34), what), 'exact', q),
                    Step('DEALLOCATE ALL'), Step('DROP TABLE IF EXISTS deep')]
        return out + [Step('RESET max_stack_depth')]

    def shallow(self, q):
        """near the limit of the stack"""
        out = [Step('SET max_stack_depth = %d' % self.rng.randrange(100, 180))]
        out += self.rng.choice([self.plain, self.explain, self.explain, self.block])(q)
        return out + [Step('RESET max_stack_depth')]

    def vanish(self, q):
        """something of the analyst's is gone, or another, when a plan is used"""
        rng = self.rng
        thing = rng.choice(THINGS)
        out = [Step(s) for s in OWN]
        out += [Step('PREPARE p AS ' + q.private, 'exact', q)]
        if rng.random() < 0.5:
            out.append(Step(rng.choice(['EXPLAIN EXECUTE p', 'EXECUTE p']), 'shape', q))
        out.append(Step('DROP ' + thing))
        if rng.random() < 0.3:
            out += [Step(s) for s in OWN[3:]]
        out += [Step('EXECUTE p', 'keys', q)] * 2
        return out + [Step('DEALLOCATE ALL')] + [Step(s) for s in OWN]

    def while_it_runs(self, q):
        """the same, by a function that is called in the middle of a statement"""
        at = re.search(r' FROM (visits|people|stays|logs|costs) (t\d+)\b', q.private)
        if not at:
            return self.vanish(q)
        thing = self.rng.choice(THINGS[:3])
        private = q.private[:at.end()] + " JOIN (SELECT own.dropper('%s') AS one OFFSET 0) gone ON true" % thing + q.private[at.end():]
        return [Step(s) for s in OWN] + [Step(private, 'shape', q)] + [Step(s) for s in OWN]

    def catalog(self, q):
        out = [Step('BEGIN')] if self.rng.random() < 0.3 else []
        if self.rng.random() < 0.5:
            out += self.plain(q)
        for _ in range(3):
            sql = self.rng.choice(CATALOGS)
            # where rows of pg_statistic lie is ANALYZE's doing
            out.append(Step(sql, 'exact' if 'ORDER BY' in sql else 'bag'))
        return out + [Step('ROLLBACK')]

    def around(self, q):
        table, column = self.rng.choice([('visits', 'city'), ('people', 'name'), ('stays', 'ward'), ('logs', 'code'),
                                         ('samples', 'batch'), ('v_visits', 'city'), ('visits', 'f')])
        out = []
        for _ in range(4):
            template = self.rng.choice(AROUND)
            if NEITHER.search(template):
                continue
            statement = template.replace('{t}', table).replace('{c}', column).replace('{q}', q.private)
            out.append(Step(statement, 'shape'))
        return out + [Step('ROLLBACK'), Step('DROP VIEW IF EXISTS own.raw'), Step('DROP MATERIALIZED VIEW IF EXISTS own.m'),
                      Step('DELETE FROM own.notes WHERE id NOT BETWEEN 1 AND 20', 'shape')]

    STACK = ('deep', 'shallow')
    VANISHING = ('vanish', 'while_it_runs')
    # how often
    WAYS = [('plain', 40), ('written', 3), ('explain', 14), ('prepared', 16), ('cursor', 3), ('table', 1), ('view', 2), ('block', 4), ('savepoint', 3), ('copy', 2), ('extended', 6),
            ('serializable', 2), ('deep', 4), ('shallow', 4), ('vanish', 3), ('while_it_runs', 1), ('catalog', 3), ('around', 2),
            ('after', 3), ('writer', 2), ('marks', 1), ('full', 1), ('policy', 1), ('other_unit', 1), ('uncounted', 0.1)]

    def choose(self, only=()):
        ways = [w for w in self.WAYS if not only or w[0] in only]
        return self.rng.choices([w for w, _ in ways], [n for _, n in ways])[0]
