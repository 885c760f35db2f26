"""Sequences of questions whose answers are kept.

The same question by several roles at several prices: bought, given again, made better, derived, in
transactions that fail and cursors.  What each role sees, what each balance pays and
which answers are kept afterwards do not depend on one unit's rows.  Keys that are selected
are noise's choice, and so are prices that follow from a pilot, or from released values that a query reads.
Where a target of the error has a kept pilot, errors of an exhausted budget name such a price.
"""
from steps import Step

# all but values and times: which answers there are, for whom, at which prices
KEPT_ROWS = '''SELECT dataset, rho, delta, below, paid_by, ended, dumped, answer IS NULL, count(*)
    FROM dp_cdp_internal.kept_answer GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8'''


class Sequences:
    """of neighbours_fuzz.py"""

    def again(self, rng, pair, others, q, settings, usual, where):
        """one question by several roles at several prices, in sessions of their own; tells whether all was equal"""
        before = [s for s in settings if s.sql.startswith('SET search_path')]
        good = True
        for _ in range(rng.choice([1, 2, 3, 5])):
            role = rng.choices(['fuzz_analyst', 'fuzz_second', 'fuzz_third', 'fuzz_poor', 'fuzz_nobody'], [30, 30, 30, 5, 5])[0]
            if role not in others:
                others[role] = self.begin(pair, role, before)
            steps = [Step('SET dp_cdp.rho = %s' % (usual * rng.choice([0.25, 0.5, 1, 1, 2, 3])))]
            if self.exact:
                steps.append(Step('SET dp_cdp.max_rows = %d; SET dp_cdp.max_groups = %d' % (q.rows, q.rows)))
            target = not self.exact and rng.random() < 0.1
            if target:
                steps.append(Step('SET dp_cdp.target_error = \'%s\'' % rng.choice(['50', '500', '20%'])))
            # noisy values are part of the question, too, where they decide on rows
            noisy = target or not q.plain
            ask = Step(q.private, 'shape', q)
            way = rng.choice(['plain', 'plain', 'explain', 'read only', 'rolled back', 'savepoint', 'cursor', 'prepared', 'twice', 'fresh', 'fails', 'preview'])
            self.counts['asked again'] += 1
            if way == 'explain':
                explain = Step('EXPLAIN ' + q.private, 'shape' if noisy else 'exact', q)
                steps += [explain, ask, explain]
            elif way == 'preview':
                steps += [Step('SELECT * FROM dp_cdp.preview($p$%s$p$)' % q.private, 'shape' if noisy else 'exact', q), ask]
            elif way == 'read only':
                steps += [Step('BEGIN READ ONLY'), ask, Step('COMMIT')]
            elif way == 'rolled back':
                steps += [Step('BEGIN ISOLATION LEVEL %s' % rng.choice(['SERIALIZABLE', 'REPEATABLE READ', 'READ COMMITTED'])), ask, ask, Step('ROLLBACK')]
            elif way == 'savepoint':
                steps += [Step('BEGIN'), Step('SAVEPOINT s'), ask, Step('ROLLBACK TO s'), ask, Step('COMMIT')]
            elif way == 'cursor':
                steps += [Step('BEGIN'), Step('DECLARE again CURSOR FOR ' + q.private, 'shape'), Step('FETCH 1 FROM again', 'shape'), ask,
                          Step('FETCH ALL FROM again', 'shape'), Step('ROLLBACK')]
            elif way == 'prepared':
                steps += [Step('SET plan_cache_mode = force_generic_plan'), Step('PREPARE again AS ' + q.private), Step('EXECUTE again', 'shape', q),
                          Step('EXECUTE again', 'shape', q), Step('DEALLOCATE again'), Step('RESET plan_cache_mode')]
            elif way == 'twice':
                steps += [Step('(%s) UNION ALL (%s)' % (q.private, q.private), 'shape', q)]
            elif way == 'fresh':
                steps += [Step('SET dp_cdp.reuse = off'), ask, Step('RESET dp_cdp.reuse')]
            elif way == 'fails':
                # after it was paid for, above the release
                steps += [Step('SELECT 1 / (count(*) - count(*)) FROM (%s) q' % q.private, 'shape'), ask]
            else:
                steps += [ask]
            # what it told; of single groups there is an error only where noise decides which
            steps.append(Step('SELECT aggregate, dataset, rho, delta, reused_since IS NOT NULL AS kept FROM dp_cdp.last_release() WHERE "group" IS NULL', 'shape' if noisy else 'exact'))
            steps.append(Step('ROLLBACK; RESET dp_cdp.target_error'))
            for s in steps:
                s.noisy_price = target
            answers, charges = self.once(pair, others[role], steps)
            if noisy:
                charges = [[], []]
            results = self.compare(pair, steps, answers, charges)
            if any(r[1] for r in results):
                good = not self.confirm(pair, role, before, steps, results, where) and good
            if noisy or any(r[1] for r in results):
                return good, True
            kept = [ledger.query(KEPT_ROWS).rows for ledger in pair.ledgers]
            if kept[0] != kept[1]:
                self.find('kept', 'A: %s\n    B: %s' % tuple([r for r in k if r not in kept[1 - i]][:5] for i, k in enumerate(kept)), pair, before, steps, where)
                return False, True
            self.counts['ledgers of kept answers compared'] += 1
        return good, False
