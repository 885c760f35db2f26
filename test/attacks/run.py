#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# run.py
#	  Runs one file of attacks against its setups and prints TAP.
#
# usage: run.py fixture				makes the databases of all setups of one server
#		 run.py FILE [setup ...]	by default the setups of one server and its standby
#
# PGHOST points to a scratch server that preloads dp_cdp and pg_stat_statements;
# PATH has its programs.  It has the fixture, and PGHOST/standby/data is a copy
# of its data from before it was started, which becomes its standby.
# "coordinator" and "worker" are asked for by name: PGHOST is then the coordinator
# of a cluster of Citus, whose other servers are beside it, and database "test" is there.
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
# A setup before the first block is for all of them: it runs once in each database.
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
# that no canary is in stdout, stderr and notices, that the budgets moved by
# exactly what the outcomes ask for, and that the superuser's SQL has no errors (on
# a cluster of Citus, its setup).
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
import collections
import os
import re
import subprocess
import sys
import time

# a fraction of a second is none
CANARIES = re.compile(r'87654\.32|zebra|Quux|(?<!\.)\b4003\b|2024-02-29 12:34')
PRICE = 0.01
TIMEOUT = 300                   # seconds for a section of a block
HERE = os.path.dirname(os.path.abspath(__file__))
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
# psql 18 has no SQLSTATE after \gexec where a statement has failed
MARK = "\\echo '@@@' :SQLSTATE\n\\echo '@@!' :LAST_ERROR_SQLSTATE\n"

Block = collections.namedtuple('Block', 'name line options sections')
Section = collections.namedtuple('Section', 'kind role line lines')
Statement = collections.namedtuple('Statement', 'line text wanted state output')


def environment(database='postgres', host=None):
    env = dict(os.environ, PGDATABASE=database, PGOPTIONS='', PGAPPNAME='attack')
    # else a worker refuses to create anything, and much is not tried
    if host == SETUPS['worker'][1]:
        env['PGOPTIONS'] = '-c citus.enable_ddl_propagation=off'
    if host:
        env['PGHOST'] = host
    return env


def output_of(command, sql, database, host):
    """stdout and stderr of a command, which has SQL for stdin"""
    try:
        out = subprocess.run(command, input=sql.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             timeout=TIMEOUT, env=environment(database, host)).stdout
    except subprocess.TimeoutExpired as e:
        out = (e.stdout or b'') + b'\nTIMEOUT after %d seconds' % TIMEOUT
    return out.decode(errors='replace')


def psql(role, sql, database='postgres', host=None, args=()):
    return output_of(['psql', '-X', '-q', '-A', '-t', '-U', role, *args, '-f', '-'], sql, database, host)


def must(sql, database='postgres', host=None):
    out = psql('postgres', sql, database, host, args=('-v', 'ON_ERROR_STOP=1'))
    if re.search(r'^psql:.*(ERROR|error):', out, re.M):
        print('Bail out!  ' + out)
        sys.exit(1)
    return out


class Superuser:
    """one session that reads the ledger"""

    def __init__(self, database, host=None):
        self.p = subprocess.Popen(['psql', '-X', '-q', '-A', '-t', '-U', 'postgres'], text=True, bufsize=1,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=environment(database, host))
        self.run('SET client_min_messages = error;')

    def run(self, sql):
        self.p.stdin.write(sql + '\n\\echo @end@\n')
        lines = []
        for line in self.p.stdout:
            if line.strip() == '@end@':
                break
            lines.append(line.rstrip('\n'))
        return lines

    def spent(self):
        rows = self.run("SELECT role::regrole || ' ' || round(rho_spent / %s, 3) FROM dp_cdp_internal.budget;" % PRICE)
        return {r.split()[0]: float(r.split()[1]) for r in rows if r}


def parse(path):
    """the setup of all blocks, and the blocks"""
    blocks, section = [Block('setup', 1, {}, [])], None
    for number, line in enumerate(open(path), 1):
        head = re.match(r'--# (.*)', line)
        mark = re.match(r'--@ (setup|attack|shell|verify|teardown)\b ?(\w*)\s*$', line)
        option = re.match(r'--@ (only|but|absent|later): (.*)', line)
        if head:
            blocks.append(Block(head[1], number, {}, []))
            section = None
        elif mark:
            section = Section(mark[1], mark[2] or 'ana', number, [])
            blocks[-1].sections.append(section)
        elif option:
            blocks[-1].options[option[1]] = option[2].strip()
        elif section:
            section.lines.append(line)
    return blocks[0], blocks[1:]


def is_for(block, setup):
    only = block.options.get('only')
    return setup not in block.options.get('but', '').split() and \
        (not only or bool({setup, LIKE.get(setup, [setup])[-1]} & set(only.split())))


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


def statements(section, database, host):
    """the statements of an attack, with what came of each; the last is what follows the last expectation"""
    asked, lines, first = [], [], section.line + 1
    for number, line in enumerate(section.lines, section.line + 1):
        lines.append(line)
        if line.startswith('-->'):
            asked.append((first, ''.join(lines[:-1]).strip(), line[3:].strip()))
            lines, first = [], number + 1
    asked.append((first, ''.join(lines).strip(), 'any'))
    if section.kind == 'shell':
        states, outputs = ['00000'], [output_of(['bash', '-c', asked[0][1]], '', database, host)]
    else:
        out = psql(section.role, '\n'.join(text + '\n' + MARK for _, text, _ in asked), database, host)
        parts = re.split(r'^@@@ (\w*)\n@@! (\w+)\n', out, flags=re.M)
        outputs, states = parts[::3], [state or last for state, last in zip(parts[1::3], parts[2::3])]
    # none for who has lost the connection
    states += [None] * (len(asked) - len(states))
    outputs += [''] * (len(asked) - len(outputs))
    return [Statement(*a, state, output) for a, state, output in zip(asked, states, outputs)]


def add(total, prices):
    for role, (low, high) in prices.items():
        least, most = total.get(role, (0, 0))
        total[role] = (least + low, most + high)


def refusal(state):
    return (state or '').startswith('ZC')


def free(prices):
    """these prices, or nothing"""
    return {role: (0, high) for role, (low, high) in prices.items()}


class Run:
    """one block in one setup"""

    def __init__(self, block, setup, superuser, standby):
        self.block, self.setup, self.superuser, self.standby = block, setup, superuser, standby
        self.database, self.host = SETUPS[setup]
        self.problems, self.wanted, self.story = [], {}, []
        absent = for_setup(block.options.get('absent', 'nothing'), setup).strip()
        self.absent = None if absent == 'nothing' else re.compile(absent, re.M)

    def problem(self, line, what, text='', output=''):
        self.problems.append('line %d: %s' % (line, what))
        self.problems += ['    ' + shown for shown in text.splitlines()[:5] + output.splitlines()[:5]]

    def search(self, line, text, output):
        # psql's quotation of the statement is no answer
        shown = re.sub(r'^(LINE \d+:.*|\s*\^)$', '', output, flags=re.M)
        found = CANARIES.search(shown) or (self.absent and self.absent.search(shown))
        if found:
            self.problem(line, 'in the output: "%s"' % found[0], text, output)
        if re.search('TIMEOUT|server closed the connection|terminated abnormally', output):
            self.problem(line, 'connection lost', text, output)

    def as_superuser(self, kind):
        for section in self.block.sections:
            if section.kind == kind:
                text = ''.join(section.lines)
                output = '\n'.join(self.superuser.run(text + '\nRESET ROLE; RESET SESSION AUTHORIZATION;'))
                if kind == 'verify':
                    self.search(section.line, text, output)
                if 'ERROR:' in output and (kind == 'setup' or self.setup not in LIKE):
                    self.problem(section.line, kind, '', output)

    def clean(self):
        if any('ana.' in line for section in self.block.sections for line in section.lines):
            self.superuser.run(CLEAN)

    def attack(self, section):
        refused = False
        for s in statements(section, self.database, self.host):
            self.search(s.line, s.text, s.output)
            got = 'ok' if s.state == '00000' else s.state
            alternatives = expectation(s.wanted, self.setup)
            if s.text:
                self.story.append('line %d: %s, wanted %s: %s' % (s.line, got, s.wanted, ' '.join(s.text.split())[:300]))
                self.story += ['    ' + line for line in s.output.splitlines()[:10] if section.kind == 'shell']
            if self.host:
                must_fail = all(a != 'any' and (a != 'ok' or any(high > 0 for low, high in p.values())) for a, p in alternatives)
                if section.kind == 'attack' and got == 'ok' and must_fail:
                    self.problem(s.line, 'answered on a standby', s.text, s.output)
                continue
            prices = [p for outcome, p in alternatives if outcome in (got, 'any')]
            cannot = self.setup == 'coordinator' and (refusal(got) or section.kind == 'shell')
            if prices:
                add(self.wanted, free(prices[0]) if cannot else prices[0])
            elif cannot or refused and got == '25P02':
                refused = True
            else:
                self.problem(s.line, 'wanted %s, got %s' % (s.wanted, got), s.text, s.output)

    def run(self):
        """returns what is wrong"""
        self.clean()
        self.as_superuser('setup')
        if self.host == STANDBY:
            wait_for_standby(self.superuser, self.standby)
        before = self.superuser.spent()
        for section in self.block.sections:
            if section.kind in ('attack', 'shell'):
                self.attack(section)
        after = self.superuser.spent()
        if not self.host:
            self.as_superuser('verify')
        self.as_superuser('teardown')
        self.clean()
        for role in sorted(set(before) | set(self.wanted)):
            paid = after.get(role, 0) - before.get(role, 0)
            least, most = self.wanted.get(role, (0, 0))
            if not least - 1e-6 <= paid <= most + 1e-6:
                self.problems += ['%s paid %g, wanted %g..%g' % (role, paid, least, most)] + self.story
        return self.problems


def make_fixture():
    """the setups of one server, where "test" is empty; what autovacuum would do while they are attacked is done"""
    must(ROLES)
    must('ALTER DATABASE test RENAME TO noselect')
    must(open(HERE + '/fixture.sql').read(), 'noselect')
    must('CREATE DATABASE rls TEMPLATE noselect')
    must(open(HERE + '/rls.sql').read(), 'rls')
    must('CREATE DATABASE hardened TEMPLATE rls')
    must('SELECT count(*) FROM dp_cdp.harden()', 'hardened')
    for database in ('noselect', 'rls', 'hardened'):
        must('VACUUM (ANALYZE)', database)


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


def start_standby():
    with open(STANDBY + '/data/standby.signal', 'w'):
        pass
    subprocess.run(['pg_ctl', '-s', '-w', '-D', STANDBY + '/data', '-l', STANDBY + '/log', '-o',
                    "-c unix_socket_directories='%s' -c listen_addresses='' -c port=5432" % STANDBY +
                    " -c primary_conninfo='host=%s user=postgres'" % os.environ['PGHOST'], 'start'],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def wait_for_standby(superuser, standby):
    lsn = superuser.run('SELECT pg_current_wal_flush_lsn();')[0]
    give_up = time.monotonic() + TIMEOUT
    while standby.run("SELECT pg_last_wal_replay_lsn() >= '%s';" % lsn) != ['t']:
        if time.monotonic() > give_up:
            sys.exit('the standby does not follow')
        time.sleep(0.005)


def main():
    if sys.argv[1:] == ['fixture']:
        return make_fixture()
    setup_of_all, blocks = parse(sys.argv[1])
    setups = sys.argv[2:] or [s for s in SETUPS if SETUPS[s][0] != CLUSTER]
    if CLUSTER in [SETUPS[s][0] for s in setups]:
        make_cluster()
    superusers, standby = {}, None
    failed = number = 0
    for setup in setups:
        database, host = SETUPS[setup]
        chosen = [block for block in blocks if is_for(block, setup)]
        if database not in superusers:
            superusers[database] = Superuser(database)
            for section in setup_of_all.sections:
                must(''.join(section.lines), database)
        if chosen and host == STANDBY:
            start_standby()
            standby = Superuser(database, STANDBY)
        for block in chosen:
            number += 1
            problems = Run(block, setup, superusers[database], standby).run()
            print('%s %d - %s: %s' % ('not ok' if problems else 'ok', number, setup, block.name))
            for line in ['%s:%d' % (sys.argv[1], block.line)] + problems if problems else []:
                print('# ' + line)
            failed += bool(problems)
            sys.stdout.flush()
    print('1..%d' % number)
    return failed > 0


sys.exit(main())
