#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# run.py
#	  Runs one file of attacks against its setups and prints TAP.
#
# usage: run.py FILE [setup ...]; PGHOST points to a scratch server that
# preloads dp_cdp and whose data directory is PGHOST/data; PATH has its programs.
# Without a setup it is those of one server and its standby.  "coordinator" and
# "worker" are asked for by name: PGHOST is then the coordinator of a cluster of
# Citus, whose other servers are beside it, and database "test" is there.
#
# A block of the file:
#
#	--# name, what is attempted
#	--@ only: noselect rls		not in the other setups
#	--@ but: coordinator		in all of them but this one
#	--@ absent: regex			must not be in the output (beside the canaries)
#	--@ absent: worker: nothing; regex	in that setup nothing else; in the others
#	--@ later: ...				what can be tightened when something else is done
#	--@ setup					SQL of a superuser, before
#	--@ attack [role]			SQL of the role, by default ana
#	--@ shell					the same in bash
#	--@ verify					SQL of a superuser; its output is searched, too
#	--@ teardown				SQL of a superuser, after
#
# After a statement of an attack:
#
#	--> ok						answered, for nothing
#	--> ok 1					answered, and ana paid the price of one aggregate
#	--> ok 1 bob:1				... and so did bob
#	--> ZC002					refused with this SQLSTATE, nothing paid
#	--> XX000 1					refused, but paid
#	--> ZC002 | ok 1			one or the other
#	--> hardened: 42501; ok		in that setup; in the others
#
# A shell attack is followed by one such line for all of it, "any 1..5" being
# its form: what it must have cost.  For every block is checked: each outcome,
# that no canary is in stdout, stderr and notices, and that the budgets moved
# by exactly what the outcomes ask for.
#
# On the standby nothing can be paid or written: what asks for a debit must
# end in an error, so must what is refused elsewhere, and no budget moves.
#
# The coordinator is hardened, and the fixture is distributed (citus.sql).  Citus
# cannot do all that one server does: what is refused there with a SQLSTATE of
# dp_cdp and for nothing is as good as what is wanted, and so is what follows in
# the transaction that ends with it.  The worker is the one that has patient 42:
# for who asks there all is as on a standby.  Both have the expectations of
# "hardened", the worker those of "standby", too.
#
#-------------------------------------------------------------------------
import os
import re
import subprocess
import sys

CANARIES = re.compile(r'87654\.32|zebra|Quux|\b4003\b|2024-02-29 12:34')
PRICE = 0.01
HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ['PGHOST'] + '/data'
STANDBY = os.environ['PGHOST'] + '/standby'
CLUSTER = 'test'
SETUPS = {'noselect': ('noselect', None), 'rls': ('rls', None), 'hardened': ('hardened', None),
          'standby': ('rls', STANDBY), 'coordinator': (CLUSTER, None), 'worker': (CLUSTER, 'found out later')}
# whose blocks and expectations are those of a setup, too
LIKE = {'coordinator': ['coordinator', 'hardened'], 'worker': ['worker', 'standby', 'hardened']}
ROLES = '''
SET client_min_messages = error;
CREATE ROLE boss LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE poor LOGIN;
CREATE ROLE wri LOGIN; CREATE ROLE rea LOGIN; CREATE ROLE nob LOGIN;
'''
CLEAN = 'DROP SCHEMA IF EXISTS ana CASCADE; CREATE SCHEMA ana AUTHORIZATION ana;'


def environment(database='postgres', host=None):
    env = dict(os.environ, PGDATABASE=database, PGOPTIONS='', PGAPPNAME='attack')
    # else a worker refuses to create anything, and much is not tried
    if host == SETUPS['worker'][1]:
        env['PGOPTIONS'] = '-c citus.enable_ddl_propagation=off'
    if host:
        env['PGHOST'] = host
    return env


def psql(role, sql, database='postgres', host=None, timeout=60, args=()):
    try:
        p = subprocess.run(['psql', '-X', '-q', '-A', '-t', '-U', role, *args, '-f', '-'], input=sql, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
                           env=environment(database, host))
    except subprocess.TimeoutExpired:
        return 'TIMEOUT'
    return p.stdout


def must(sql, database='postgres', host=None):
    out = psql('postgres', sql, database, host, args=('-v', 'ON_ERROR_STOP=1'))
    if re.search(r'^psql:.*(ERROR|error):', out, re.M):
        print('Bail out!  ' + out)
        sys.exit(1)
    return out


class Superuser:
    """one session that reads the ledger"""

    def __init__(self, database):
        self.p = subprocess.Popen(['psql', '-X', '-q', '-A', '-t', '-U', 'postgres'], text=True, bufsize=1,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=environment(database))

    def run(self, sql):
        self.p.stdin.write(sql + '\n\\echo @end@\n')
        lines = []
        for line in self.p.stdout:
            if line.strip() == '@end@':
                break
            lines.append(line.rstrip('\n'))
        return lines

    def spent(self):
        rows = self.run("SELECT role::regrole || ' ' || round(rho_spent / %s, 3) FROM dp_cdp.budget;" % PRICE)
        return {r.split()[0]: float(r.split()[1]) for r in rows if r}


def parse(path):
    blocks, block, section = [], None, None
    for number, line in enumerate(open(path), 1):
        head = re.match(r'--# (.*)', line)
        if head:
            block = {'name': head[1], 'line': number, 'sections': []}
            blocks.append(block)
            section = None
            continue
        if block is None:
            continue
        mark = re.match(r'--@ (setup|attack|shell|verify|teardown)\b ?(\w*)\s*$', line)
        if mark:
            section = [mark[1], mark[2] or 'ana', '']
            block['sections'].append(section)
            continue
        option = re.match(r'--@ (only|but|absent|later): (.*)', line)
        if option:
            block[option[1]] = option[2].strip()
        elif section:
            section[2] += line
    return blocks


def for_setup(text, setup):
    """what is said for a setup, of parts of which those before the last may be for some alone"""
    names = LIKE.get(setup, [setup])
    parts = text.split(';')
    for i, part in enumerate(parts):
        named = re.match(r'\s*((?:(?:%s) ?)+): (.*)' % '|'.join(SETUPS), part)
        if not named:
            return ';'.join(parts[i:])
        if set(names) & set(named[1].split()):
            return named[2]
    raise ValueError('nothing for %s in: %s' % (setup, text))


def expectation(text, setup):
    """[(outcome, {role: price or (least, most)})] of the line after -->"""
    wanted = []
    for alternative in for_setup(text, setup).split('|'):
        words = alternative.split()
        prices = {}
        for word in words[1:]:
            role, price = word.split(':') if ':' in word else ('ana', word)
            low, _, high = price.partition('..')
            prices[role] = (float(low), float(high or low))
        wanted.append((words[0], prices))
    return wanted


def run_sql(section, setup, database, host):
    """output, [(expectation, SQLSTATE or None, statement)]"""
    script, expected, statement = '', [], ''
    for line in section[2].splitlines():
        if line.startswith('-->'):
            # psql 18 has none after \gexec where a statement has failed
            script += "\\echo '@@@' :SQLSTATE\n\\echo '@@!' :LAST_ERROR_SQLSTATE\n"
            expected.append((expectation(line[3:], setup), line, statement.strip()))
            statement = ''
        else:
            script += line + '\n'
            statement += line + '\n'
    out = psql(section[1], script, database, host)
    states = [state or last for state, last in re.findall(r'^@@@ (\w*)\n@@! (\w+)$', out, re.M)]
    states += [None] * (len(expected) - len(states))
    return out, [(e, s, l, t) for (e, l, t), s in zip(expected, states)]


def add(total, prices):
    for role, (low, high) in prices.items():
        least, most = total.get(role, (0, 0))
        total[role] = (least + low, most + high)


def refusal(state):
    return (state or '').startswith('ZC')


def free(prices):
    """these prices, or nothing"""
    return {role: (0, high) for role, (low, high) in prices.items()}


def run_block(block, setup, superuser):
    database, host = SETUPS[setup]
    problems, output, wanted = [], '', {}
    if 'ana.' in str(block['sections']):
        superuser.run(CLEAN)
    for section in block['sections']:
        if section[0] == 'setup':
            for line in superuser.run(section[2] + '\nRESET ROLE; RESET SESSION AUTHORIZATION;'):
                if 'ERROR' in line:
                    problems.append('setup: ' + line)
    if setup == 'standby':
        wait_for_standby(superuser, database)
    before = superuser.spent()
    for kind, role, text in block['sections']:
        if kind == 'attack':
            out, results = run_sql((kind, role, text), setup, database, host)
            refused = False
            for alternatives, state, line, statement in results:
                got = 'ok' if state == '00000' else state
                if host:
                    must_fail = all(a != 'any' and (a != 'ok' or any(high > 0 for low, high in p.values())) for a, p in alternatives)
                    if got == 'ok' and must_fail:
                        problems.append('answered on a standby: ' + statement)
                    continue
                for outcome, prices in alternatives:
                    if got == outcome or outcome == 'any':
                        add(wanted, free(prices) if setup == 'coordinator' and refusal(got) else prices)
                        break
                else:
                    if setup == 'coordinator' and refusal(got) or refused and got == '25P02':
                        refused = True
                        continue
                    problems.append('wanted "%s", got %s: %s' % (line, got, statement))
        elif kind == 'shell':
            body, _, expected = text.rpartition('-->')
            p = subprocess.run(['bash', '-c', body], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, text=True, timeout=100, env=environment(database, host))
            out = p.stdout
            if not host:
                prices = expectation(expected, setup)[0][1]
                add(wanted, free(prices) if setup == 'coordinator' else prices)
        else:
            continue
        output += out
        if re.search('TIMEOUT|server closed the connection|terminated abnormally', out):
            problems.append('connection lost')
    after = superuser.spent()
    if not host:
        for kind, role, text in block['sections']:
            if kind == 'verify':
                output += '\n'.join(superuser.run(text + '\nRESET ROLE; RESET SESSION AUTHORIZATION;')) + '\n'
    for kind, role, text in block['sections']:
        if kind == 'teardown':
            superuser.run(text + '\nRESET ROLE; RESET SESSION AUTHORIZATION;')
    if 'ana.' in str(block['sections']):
        superuser.run(CLEAN)

    # psql's quotation of the statement is no answer
    shown = re.sub(r'^(LINE \d+:.*|\s*\^)$', '', output, flags=re.M)
    absent = for_setup(block.get('absent', 'nothing'), setup).strip()
    found = CANARIES.search(shown) or (absent != 'nothing' and re.search(absent, shown, re.M))
    if found:
        problems.append('in the output: "%s"' % found[0])
    for role in sorted(set(before) | set(wanted)):
        paid = after.get(role, 0) - before.get(role, 0)
        least, most = wanted.get(role, (0, 0))
        if not least - 1e-6 <= paid <= most + 1e-6:
            problems.append('%s paid %g, wanted %g..%g' % (role, paid, least, most))
    return problems, output


def make_cluster():
    """the fixture on a hardened cluster; finds the worker that has patient 42"""
    must(ROLES, CLUSTER)
    for name in ('fixture', 'citus', 'rls'):
        must(open(HERE + '/%s.sql' % name).read(), CLUSTER)
    nodes = must('SELECT nodename FROM pg_dist_node ORDER BY groupid', CLUSTER).split()
    for node in nodes:
        must('SELECT count(*) FROM dp_cdp.harden()', CLUSTER, host=node)
    SETUPS['worker'] = (CLUSTER, must("SELECT nodename FROM pg_dist_placement JOIN pg_dist_node USING (groupid)"
                                      " WHERE shardid = get_shard_id_for_distribution_column('visit', 42)", CLUSTER).strip())


def wait_for_standby(superuser, database):
    lsn = superuser.run('SELECT pg_current_wal_flush_lsn();')[0]
    psql('postgres', "DO $$ BEGIN FOR i IN 1..600 LOOP EXIT WHEN pg_last_wal_replay_lsn() >= '%s'; "
         "PERFORM pg_sleep(0.05); END LOOP; END $$" % lsn, database, STANDBY)


def start_standby():
    os.mkdir(STANDBY, 0o700)
    subprocess.run(['pg_basebackup', '-U', 'postgres', '-D', STANDBY + '/data', '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
                   check=True, stdout=subprocess.DEVNULL, env=environment())
    control('start', STANDBY, '-o', "-c unix_socket_directories='%s' -c listen_addresses='' -c port=5432" % STANDBY)


def control(action, directory, *more):
    subprocess.run(['pg_ctl', '-s', '-w', '-D', directory + '/data', '-l', directory + '/log', *more, action],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def main():
    path = sys.argv[1]
    setups = sys.argv[2:] or [s for s in SETUPS if SETUPS[s][0] != CLUSTER]
    databases = {SETUPS[s][0] for s in setups}
    if CLUSTER in databases:
        databases.remove(CLUSTER)
        make_cluster()
    if databases:
        must(ROLES)
        must('CREATE DATABASE fixture')
        must(open(HERE + '/fixture.sql').read(), 'fixture')
    for setup in sorted(databases):
        must('CREATE DATABASE %s TEMPLATE fixture' % setup)
        if setup != 'noselect':
            must(open(HERE + '/rls.sql').read(), setup)
        if setup == 'hardened':
            must('SELECT count(*) FROM dp_cdp.harden()', setup)
    if 'standby' in setups:
        start_standby()
    failed = number = 0
    try:
        for setup in setups:
            superuser = Superuser(SETUPS[setup][0])
            superuser.run('SET client_min_messages = error;')
            for block in parse(path):
                if 'only' in block and not {setup, LIKE.get(setup, [setup])[-1]} & set(block['only'].split()):
                    continue
                if setup in block.get('but', '').split():
                    continue
                number += 1
                problems, output = run_block(block, setup, superuser)
                print('%s %d - %s: %s' % ('not ok' if problems else 'ok', number, setup, block['name']))
                if problems:
                    failed += 1
                    for line in ['line %d' % block['line']] + problems + output.splitlines()[:60]:
                        print('# ' + line)
                sys.stdout.flush()
    finally:
        if 'standby' in setups:
            control('stop', STANDBY, '-m', 'immediate')
    print('1..%d' % number)
    sys.exit(failed > 0)


main()
