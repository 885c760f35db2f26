"""What must hold of every answer, error and charge.

Findings are printed with what repeats them, and counted; a run fails if
there is one.
"""
import collections
import math
import re

from wire import Connection

# words of PostgreSQL about itself, whatever SQLSTATE they come with
INTERNAL = re.compile(r'cache lookup failed|unrecognized node type|variable not found|unexpected (type|node|opclass|rtekind)|'
                      r'could not (find|open) (relation|plan|attribute|pathkey|memoizable|rte)|no relation entry|'
                      r'unrecognized .* (type|tag)|bogus |improper |plan should not|failed to (find|build)|'
                      r'corrupt|out of (memory|range attribute)|invalid (attnum|memory|page|varno|varattno)|bad levelsup|'
                      r'attribute \d+ of type|wrong (element|number)|cannot (copy|read) .* node|could not devise|'
                      r'unexpected (outer|plan|non)|target lists? .* (mismatch|differ)|failed while it read|could not be planned|could not be verified')
# PostgreSQL's own, seen without the extension
KNOWN = re.compile('failed to find conversion function from unknown to|invalid INTERVAL typmod|unrecognized interval typmod|unrecognized privilege type|'
                   'could not (find|determine) .*(collation|polymorphic|pg_toast)')
# the same of one function: what it says, in a statement that calls it
KNOWN_OF = {'amvalidate': 'cache lookup failed for operator class 0'}
# of what the generator writes, or of the settings that it makes
EXPECTED = {
    'ZC002': 'refused', 'ZC004': 'refused', '42501': 'refused',
    '57014': 'canceled', '25P02': 'in failed transaction', '25006': 'read only', '53400': 'limit', '54001': 'limit',
    '0A000': 'refused', '22023': 'bad setting', '25001': 'in transaction', '34000': 'no cursor', '26000': 'no statement',
    '55000': 'object state', '3B001': 'no savepoint', '25P01': 'no transaction', '40001': 'serialization', '55P03': 'locked',
}


class Findings:
    def __init__(self, seed):
        self.seed = seed
        self.found = collections.OrderedDict()
        self.errors = {}
        self.counts = collections.Counter()

    def add(self, kind, message, statements):
        """one for each kind of message; the first is shown"""
        key = (kind, re.sub(r'\d+|"[^"]*"', '*', message)[:120])
        if key in self.found:
            self.found[key] += 1
            return
        self.found[key] = 1
        print('FOUND %s: %s\n  with SEED=%s\n  %s\n' % (kind, message, self.seed, '\n  '.join(statements)), flush=True)

    def error(self, code, message, sql, where='', allowed=()):
        """judge an error by its code and text"""
        key = (code, re.sub(r'"[^"]*"|\d+', '*', message)[:90])
        self.errors.setdefault(key, [0, sql])[0] += 1
        known = KNOWN.search(message) or any(name in sql and message == says for name, says in KNOWN_OF.items())
        if (code.startswith('XX') or INTERNAL.search(message)) and not known:
            self.add('internal error', '%s: %s' % (code, message), [where, sql])
        elif code.startswith(('42', 'ZC00')) or code in EXPECTED or code in allowed:
            if code in ('ZC003', 'ZC001') and code not in allowed:
                self.add('ledger', '%s: %s' % (code, message), [where, sql])
        elif code.startswith('22'):
            self.add('data error', '%s: %s' % (code, message), [where, sql])
        else:
            self.add('unexpected error', '%s: %s' % (code, message), [where, sql])

    def report(self):
        print('%s' % ', '.join('%s %d' % c for c in sorted(self.counts.items())))
        codes = collections.Counter()
        for (code, _), (n, _) in self.errors.items():
            codes[code] += n
        print('errors by SQLSTATE: %s' % ', '.join('%s %d' % c for c in codes.most_common()))
        for (kind, message), n in self.found.items():
            print('FOUND %d times: %s: %s' % (n, kind, message))


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def row_key(row, columns):
    """rows in an order that noise within the tolerances does not change, as far as there is one"""
    exact, rough = [], []
    for value, (kind, tolerance) in zip(row, columns):
        n = number(value)
        (rough if tolerance > 0 else exact).append((value is None, n is None, n or 0.0, '' if n is not None else value or ''))
    return exact, rough


def alike(private, exact, columns):
    """two rows, within the tolerances"""
    for a, b, (kind, tolerance) in zip(private, exact, columns):
        if a == b:
            continue
        x, y = number(a), number(b)
        # keys that are equal may be written differently: 1 and 1.00
        if x is None or y is None or abs(x - y) > tolerance * (1 + 1e-9) + 1e-9 * abs(y):
            return False
    return True


def differ(private, exact, columns):
    """None, or how two sets of rows differ"""
    if len(private) != len(exact):
        return '%d rows instead of %d' % (len(private), len(exact))
    private = sorted(private, key=lambda r: row_key(r, columns))
    exact = sorted(exact, key=lambda r: row_key(r, columns))
    partner = [None] * len(exact)       # the private row of each exact one

    def match(p, seen):
        # noise orders rows that are otherwise equal: others may have to make room
        places = sorted(range(len(exact)), key=lambda e: abs(e - p))
        for e in places:
            if e not in seen and alike(private[p], exact[e], columns):
                seen.add(e)
                if partner[e] is None or match(partner[e], seen):
                    partner[e] = p
                    return True
        return False

    for p in range(len(private)):
        if alike(private[p], exact[p], columns) and partner[p] is None:
            partner[p] = p
        elif not match(p, set()):
            return '%s instead of %s' % (private[p], exact[p])
    return None


def contradicts(sql):
    """whether a comparison of a column with an integer, joined by AND, excludes an equality of it"""
    for column, value in re.findall(r'([\w.]+) = (-?\d+)\b', sql):
        for limit in re.finditer(r'(?<![\w.])%s (<=|>=|<|>|=) (-?\d+)\b' % re.escape(column), sql):
            a, b = int(value), int(limit[2])
            if not {'<=': a <= b, '>=': a >= b, '<': a < b, '>': a > b, '=': a == b}[limit[1]]:
                return True
    return False


def differ_softly(private, exact, empty, q):
    """
    as differ(), but groups of one unit may be missing and empty ones may be
    there; exact and empty are the answers to q.soft
    """
    n = q.soft[2]

    def key(row):
        return tuple(number(v) if number(v) is not None else v for v in row[:n])
    # the same key may be there more than once: GROUP BY ROLLUP (a, a)
    wanted = {}
    for r in exact:
        wanted.setdefault(key(r), []).append(r)
    for row in private:
        e = wanted[key(row)].pop() if wanted.get(key(row)) else None
        difference = differ([row[n:]], [e[n:-1] if e else empty[n:]], q.columns[n:])
        if difference:
            return 'group %s: %s' % (row[:n], difference)
    # who is in n groups may weigh 1 / sqrt(n) in each, where keys are selected
    missing = [r for rows in wanted.values() for r in rows if int(r[-1]) ** 2 > max(q.kept, 1)]
    return 'missing group %s' % missing[0] if missing else None


def not_allowed(rows, q, owner):
    """None, or a group whose keys the conditions on a joined dimension exclude"""
    if not (q.allowed and q.keys and q.plain):
        return None
    allowed = owner.query(q.allowed)
    if allowed.error or any(len(r) != len(q.keys) for r in allowed.rows):
        return None
    tuples = {tuple(r) for r in allowed.rows}
    return next((str(r) for r in rows if tuple(r[i] for i in q.keys) not in tuples), None)


def plain_key(row, n):
    """equal numbers may be written differently"""
    return tuple(number(v) if number(v) is not None else v for v in row[:n])


def not_possible(rows, exact, possible, q, selected, rho):
    """
    None, or what is wrong with the groups of an answer that cost rho: exact are
    plain SQL's rows, the number of units behind them; possible all keys that can
    be, or None; selected: groups of few units are left out
    """
    # 7 standard deviations, where a unit has q.rows rows in as many groups
    noise = 7 * q.rows ** 1.5 / math.sqrt(2 * rho)
    n = len(q.keys)
    wanted = {plain_key(r, n): r for r in exact}
    found = {plain_key(r, n): r for r in rows}
    # grouping sets of keys that are one have their groups more than once
    if len(found) < len(rows) and len(wanted) == len(exact):
        return 'a group twice: %s' % rows
    for key, r in wanted.items():
        if key not in found and not (selected and int(r[-1]) < 3):
            return 'missing group: %s of %s' % (r, sorted(found.values(), key=str)[:20])
        if key in found and not q.distinct and abs(number(found[key][n]) - number(r[n])) > noise:
            return 'another count: %s instead of %s' % (found[key], r)
    extra = [found[k] for k in found if k not in wanted]
    if selected and extra:
        return 'selected group: %s, which plain SQL does not have' % extra[0]
    if not q.distinct:
        for r in extra:
            if abs(number(r[n])) > noise:
                return 'a count of an empty group: %s' % r
    if possible is None:
        return None
    can = {plain_key(r, n) for r in possible}
    return next(('impossible group: %s' % found[k] for k in found if k not in can and not (q.loose_nulls and None in k)), None)


class Ledger:
    """balances against the audit"""

    def __init__(self, findings):
        self.findings = findings
        self.admin = Connection('postgres')
        self.last = self.value('SELECT coalesce(max(id), 0) FROM dp_cdp_internal.release_log')

    def value(self, sql):
        return self.admin.query(sql).rows[0][0]

    def since(self):
        """what was granted since the last call: (rho, number of noisy columns, columns times price)"""
        rows = self.admin.query(
            'SELECT id, rho, array_length(string_to_array(stddev, \', \'), 1), delta FROM dp_cdp_internal.release_log '
            'WHERE granted AND id > %s ORDER BY id' % self.last).rows
        if rows:
            self.last = rows[-1][0]
        return [(float(r[1]), int(r[2]), float(r[3])) for r in rows]

    def check(self, what):
        # each budget and dataset; a team's budget pays for its members, too
        rows = self.admin.query('''
SELECT b.dataset, b.role, b.rho_spent, b.delta_spent, coalesce(sum(l.rho), 0), coalesce(sum(l.delta), 0)
FROM dp_cdp_internal.budget b LEFT JOIN dp_cdp_internal.release_log l ON l.dataset = b.dataset AND l.granted
	AND (pg_has_role(l.role::oid, b.role::oid, 'USAGE') AND NOT (SELECT rolsuper FROM pg_roles WHERE oid = l.role)
		OR pg_has_role(l.session_role::oid, b.role::oid, 'USAGE') AND NOT (SELECT rolsuper FROM pg_roles WHERE oid = l.session_role))
GROUP BY b.dataset, b.role HAVING b.rho_spent <> coalesce(sum(l.rho), 0) OR b.delta_spent <> coalesce(sum(l.delta), 0)
UNION ALL
SELECT d.name, NULL, d.rho_spent, d.delta_spent, coalesce(sum(l.rho), 0), coalesce(sum(l.delta), 0)
FROM dp_cdp_internal.dataset d LEFT JOIN dp_cdp_internal.release_log l ON l.dataset = d.name AND l.granted
GROUP BY d.name HAVING d.rho_spent <> coalesce(sum(l.rho), 0) OR d.delta_spent <> coalesce(sum(l.delta), 0)''').rows
        for r in rows:
            self.findings.add('ledger', 'spent and audit of %s, %s differ: rho %s and %s, delta %s and %s' % (
                r[0], r[1], r[2], r[4], r[3], r[5]), [what])
        over = self.admin.query('SELECT dataset, role FROM dp_cdp_internal.budget WHERE rho_spent > rho_limit OR delta_spent > delta_limit').rows
        for r in over:
            self.findings.add('ledger', 'budget of %s, %s overdrawn' % (r[0], r[1]), [what])
        return self.admin.query('SELECT count(*) FILTER (WHERE granted), count(*) FILTER (WHERE NOT granted), '
                                'trim_scale(coalesce(sum(rho) FILTER (WHERE granted), 0)) FROM dp_cdp_internal.release_log').rows[0]
