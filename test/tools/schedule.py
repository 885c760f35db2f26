#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# schedule.py
#	  Chooses test files, runs as many at a time as there are processors,
#	  longest first, and counts and reports what came of them.
#
# usage: schedule.py list		the chosen files, "suite/file" a line
#		 schedule.py run		runs them; exit code 0 if none failed
#		 schedule.py check		test/files.txt, test/README.md and test/ name the same files, and
#								"make test" has a test of each promise of docs/privacy.md
#		 schedule.py record		writes the times of the last whole run into test/files.txt
#
# run_tests.sh calls it, and run_file.sh runs one file.  Environment:
#
#	ONLY			suites and files, else all files of the run
#	DP_TEST_ALL		set: the run is "make test-all", else "make test"
#	TEST_TIMEOUT	seconds that one file may take (900)
#	DP_LOGS			where logs and times stay
#	DP_BEGUN		when run_tests.sh began, in seconds since 1970
#
# A file prints TAP.  The last line is "N passed, N failed[, N skipped]", where N
# counts named tests.  A plan that was not kept, a bail-out, an exit code that no
# failed test explains, and a file without a test count as one failure each.
#
#-------------------------------------------------------------------------
import collections
import glob
import os
import re
import signal
import subprocess
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
TABLE = 'test/files.txt'
SLOW = 30                       # seconds from which on a file is named at the end
PERIOD = 20                     # seconds between signs of life where output is no terminal

# suite: its files; a suite of one program is a file by itself
SUITES = {
    'layers': None, 'docs': None, 'symbols': None, 'unit': ['unit/plain', 'unit/sanitized'], 'dist': None,
    'regress': None, 'isolation': None, 'pgtap': 'test/pgtap/*.sql', 'attacks': 'test/attacks/?_*.sql', 't': 'test/t/*.pl',
    'stat': 'test/stat/*.py', 'readme': None, 'verify': None, 'demo': None, 'citus': None}
# files that pg_regress runs in one server; they can be asked for singly
OF_PG_REGRESS = {'regress': 'sql/*.sql', 'isolation': 'test/isolation/specs/*.spec'}

ALL = bool(os.environ.get('DP_TEST_ALL'))
RUN = 'test-all' if ALL else 'test'


def files():
    """Returns all files that there are, as suite/file."""
    found = []
    for suite, names in SUITES.items():
        if isinstance(names, str):
            names = ['%s/%s' % (suite, os.path.basename(path)) for path in sorted(glob.glob(names))]
        found += names or [suite]
    return found


def table():
    """Returns {suite/file: (seconds, run)} of test/files.txt."""
    rows = {}
    for line in open(TABLE):
        if line.strip() and not line.startswith('#'):
            name, seconds, run = line.split()
            rows[name] = (float(seconds), run)
    return rows


def chosen():
    """Returns {suite/file: names within it}, of the files of this run, or of those that ONLY names."""
    if not os.environ.get('ONLY', '').split():
        return {name: [] for name, (_, run) in table().items() if ALL or run == 'test'}
    result = {}
    known = files()
    for word in os.environ['ONLY'].split():
        suite, _, part = word.partition('/')
        names = [name for name in known if word in (name, name.split('/')[0], os.path.splitext(name)[0])]
        if part and suite in OF_PG_REGRESS and part.split('.')[0] in \
                [os.path.splitext(os.path.basename(path))[0] for path in glob.glob(OF_PG_REGRESS[suite])]:
            result.setdefault(suite, []).append(part.split('.')[0])
        elif names:
            result.update((name, []) for name in names)
        else:
            sys.exit('ONLY: there is no suite and no test "%s"; suites are: %s' % (word, ' '.join(SUITES)))
    return result


def last_times(run):
    path = '%s/times-%s' % (os.environ.get('DP_LOGS', 'build/test'), run)
    if not os.path.exists(path):
        return {}
    return {name: float(seconds) for name, seconds in (line.split() for line in open(path))}


class Result:
    """Counts of one file, and what failed in it."""

    def __init__(self, log, code):
        self.passed = self.failed = self.skipped = 0
        self.why = None         # a failure that is no test's
        sums = plan = None
        seen = 0
        bailed = False
        for line in open(log, errors='replace'):
            test = re.match(r'(not )?ok\b', line)
            regress = re.match(r'(?:test|    ) +\S+ +\.\.\. (ok|FAILED)', line)
            if regress:
                seen += 1
                self.passed += regress[1] == 'ok'
                self.failed += regress[1] != 'ok'
            elif test:
                seen += 1
                if re.search(r'# *(skip|todo)' if not test[1] else r'# *todo', line, re.I):
                    self.skipped += 1
                elif test[1]:
                    self.failed += 1
                else:
                    self.passed += 1
            elif re.match(r'1\.\.\d+', line):
                plan = int(re.match(r'1\.\.(\d+)', line)[1])
                self.skipped += plan == 0
            elif line.startswith('Bail out!'):
                bailed = True
            elif re.match(r'\s*\d+ passed, \d+ failed', line):
                sums = [int(n) for n in re.findall(r'(\d+) (?:passed|failed|skipped)', line)]
        if not seen and sums:
            self.passed, self.failed, self.skipped = (sums + [0])[:3]
            seen = sum(sums)
        if bailed:
            self.why = 'it gave up'
        elif plan and plan != seen:
            self.why = '%d tests were planned, %d were run' % (plan, seen)
        elif code == 124:
            self.why = 'it was stopped after %d seconds' % timeout()
        elif code and not self.failed:
            self.why = 'it ended with exit code %d' % code
        elif not seen and plan != 0:
            self.why = 'it tested nothing'
        self.failed += self.why is not None


def timeout():
    return int(os.environ.get('TEST_TIMEOUT') or 900)


def source_of(line):
    """Returns the lines of a Perl program that a diagnostic points to."""
    at = re.match(r'#\s+at (\S+\.p[lm]) line (\d+)', line)
    if not at or not os.path.exists(at[1]):
        return []
    n = int(at[2])
    return ['#   ' + text.rstrip() for text in open(at[1]).readlines()[max(0, n - 2):n + 1]]


def failures(log, most=150):
    """Returns what a log says of its failed tests: the statement or source before each, and the diagnostics after it."""
    shown, kept, say, over = [], [], 0, False
    for line in open(log, errors='replace'):
        line = line.rstrip('\n')[:1000]
        if re.match(r'ok\b', line):
            # a statement may make several tests
            over, say = True, 0
        elif re.match(r'not ok\b', line) or 'FAILED' in line:
            shown += kept[-15:] + [line]
            kept, say = [], 15
        elif say:
            shown += [line] + source_of(line)
            say -= 1
        else:
            kept = ([] if over else kept) + [line]
            over = False
    if not shown:
        shown = kept[-40:]
    return shown[:most]


class Runner:
    def __init__(self, names):
        usual = {name: seconds for name, (seconds, _) in table().items()}
        usual.update(last_times(RUN))
        self.within = names
        self.waiting = sorted(names, key=lambda name: (usual.get(name, SLOW), name))
        self.running = {}       # name: (process, log, start)
        self.results = {}       # name: (Result, seconds)
        self.begun = self.said = time.monotonic()
        self.terminal = sys.stdout.isatty()

    def start(self, name):
        log = '%s/%s.log' % (os.environ['DP_LOGS'], name)
        os.makedirs(os.path.dirname(log), exist_ok=True)
        with open(log, 'w') as out:
            process = subprocess.Popen(
                ['timeout', '-k', '20', str(timeout()), 'bash', os.path.join(TOP, 'test/tools/run_file.sh'), name, *self.within[name]],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        self.running[name] = (process, log, time.monotonic())

    def clock(self):
        return '%d:%02d' % divmod(time.monotonic() - self.begun, 60)

    def say(self, text):
        print(('\r\033[K' if self.terminal else '') + text, flush=True)

    def sign_of_life(self):
        now = time.monotonic()
        if now - self.said < (0.5 if self.terminal else PERIOD):
            return
        self.said = now
        failed = sum(1 for result, _ in self.results.values() if result.failed)
        text = '%s  %d of %d files%s; at work: %s' % (
            self.clock(), len(self.results), len(self.within), ', %d failed' % failed if failed else '',
            ', '.join('%s %d s' % (name, now - start) for name, (_, _, start) in self.running.items()))
        if self.terminal:
            print('\r\033[K' + text[:os.get_terminal_size().columns - 1], end='', flush=True)
        else:
            self.say(text)

    def ended(self, name):
        process, log, start = self.running.pop(name)
        result = Result(log, process.returncode)
        self.results[name] = (result, time.monotonic() - start)
        if result.failed:
            self.say('--- %s: %d failed%s' % (name, result.failed, ': ' + result.why if result.why else ''))
            for line in failures(log):
                print('    ' + line)
            print('    its output: %s; again: %s' % (os.path.relpath(log), again(name)), flush=True)

    def run(self):
        while self.waiting or self.running:
            while self.waiting and len(self.running) < (os.cpu_count() or 1):
                self.start(self.waiting.pop())
            for name in [name for name, (process, _, _) in self.running.items() if process.poll() is not None]:
                self.ended(name)
            self.sign_of_life()
            time.sleep(0.05)
        if self.terminal:
            print('\r\033[K', end='')

    def stop(self):
        for process, _, _ in self.running.values():
            process.send_signal(signal.SIGTERM)
        for process, _, _ in self.running.values():
            process.wait()

    def report(self):
        """Prints suites, slow files, what failed, and the last line."""
        suites = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
        for name, (result, seconds) in self.results.items():
            for i, n in enumerate((1, result.passed, result.failed, result.skipped, seconds)):
                suites[name.split('/')[0]][i] += n
        print('%-10s %6s %8s %8s %8s %9s' % ('suite', 'files', 'passed', 'failed', 'skipped', 'seconds'))
        for suite in SUITES:
            if suite in suites:
                print('%-10s %6d %8d %8d %8d %9.0f' % (suite, *suites[suite]))
        for name, (_, seconds) in sorted(self.results.items(), key=lambda item: -item[1][1]):
            if seconds > SLOW:
                print('%s took %.0f seconds' % (name, seconds))
        for name, (result, _) in self.results.items():
            if result.skipped:
                for line in open('%s/%s.log' % (os.environ['DP_LOGS'], name), errors='replace'):
                    if re.search(r'# *skip', line, re.I):
                        print('skipped in %s: %s' % (name, line.strip()))
                        break
        for name, (result, _) in self.results.items():
            if result.failed:
                print('failed: %s' % again(name))
        passed, failed, skipped = (sum(counts[i] for counts in suites.values()) for i in (1, 2, 3))
        whole = time.time() - float(os.environ.get('DP_BEGUN') or time.time())
        print('%s minutes, and with installing and building before it %d:%02d' % (self.clock(), whole // 60, whole % 60))
        print('%d passed, %d failed%s' % (passed, failed, ', %d skipped' % skipped if skipped else ''))
        return passed > 0 and failed == 0

    def remember(self):
        """Leaves how long each file took, for the next run's order."""
        times = last_times(RUN)
        times.update((name, seconds) for name, (_, seconds) in self.results.items() if not self.within[name])
        with open('%s/times-%s' % (os.environ['DP_LOGS'], RUN), 'w') as out:
            out.writelines('%s %.1f\n' % item for item in sorted(times.items()))


def again(name):
    """Returns the command that runs a file again."""
    settings = ' '.join('%s=%s' % (v, os.environ[v]) for v in ('ASSERT', 'SANITIZE', 'PGMAJOR', 'PG_SOURCE') if os.environ.get(v))
    return 'make %s ONLY=%s%s' % (RUN, name, ' ' + settings if settings else '')


def run():
    runner = Runner(chosen())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        runner.run()
    except (KeyboardInterrupt, SystemExit):
        runner.stop()
        sys.exit(130)
    runner.remember()
    sys.exit(not runner.report())


def long_alone():
    """Returns problems of the table of suites in test/README.md, whose last column names what only "make test-all" runs."""
    rows = table()
    problems = []
    text = open('test/README.md').read()
    for suite, names in SUITES.items():
        alone = {name.split('/')[-1] for name, (_, run) in rows.items() if name.split('/')[0] == suite and run == 'test-all'}
        row = re.search(r'^\| %s \|.*\|([^|]*)\|$' % suite, text, re.M)
        if not row or set(re.findall(r'[\w./-]+', row[1].replace('`', ''))) != alone:
            problems.append('test/README.md: in the row of "%s", what only "make test-all" runs is: %s'
                            % (suite, ', '.join('`%s`' % name for name in sorted(alone)) or 'nothing'))
    return problems


def file_of(path):
    """Returns the test file that runs what docs/privacy.md names by its path."""
    suite, _, name = path.removeprefix('test/').partition('/')
    if path.startswith('sql/'):
        return 'regress'
    return {'unit': 'unit/plain', 'verify': 'verify', 'isolation': 'isolation'}.get(suite, '%s/%s' % (suite, name))


def unproven():
    """Returns the promises of docs/privacy.md without a test that "make test" runs: numbered headings, and rows of their tables."""
    rows = table()
    text = open('docs/privacy.md').read()
    promised = text[text.index('## The promises'):text.index('## What it does not promise')]
    promises = {part.split('\n')[0]: part for part in promised.split('\n### ')[1:]}
    promises.update((row.split('|')[1].strip(), row) for row in re.findall(r'^\|.*\|$', promised, re.M)
                    if not re.match(r'\| what \||\|---', row))
    return ['docs/privacy.md: "make test" runs no test of "%s"' % promise for promise, part in promises.items()
            if not any(rows.get(file_of(path), (0, ''))[1] == 'test' for path in re.findall(r'`((?:test|sql)/[\w./-]+)`', part))]


def check():
    rows = table()
    problems = ['%s has no line for %s: "python3 test/tools/schedule.py record" adds it' % (TABLE, name)
                for name in files() if name not in rows]
    problems += ['%s: there is no %s' % (TABLE, name) for name in rows if name not in files()]
    problems += ['%s: %s is run by "%s", which is neither test nor test-all' % (TABLE, name, run)
                 for name, (_, run) in rows.items() if run not in ('test', 'test-all')]
    problems += long_alone() + unproven()
    print('\n'.join(problems) or '%d test files' % len(rows))
    sys.exit(bool(problems))


def record():
    """Takes over the times of the last runs; a new file becomes one of "make test"."""
    rows, short, full = table(), last_times('test'), last_times('test-all')
    head = [line for line in open(TABLE) if line.startswith('#')]
    with open(TABLE, 'w') as out:
        out.writelines(head)
        for name in files():
            seconds, run = rows.get(name, (SLOW, 'test'))
            seconds = short.get(name, full.get(name, seconds)) if run == 'test' else full.get(name, seconds)
            out.write('%-42s %5.0f  %s\n' % (name, max(1, seconds), run))


if __name__ == '__main__':
    os.chdir(TOP)
    command = sys.argv[1] if len(sys.argv) == 2 else ''
    if command == 'list':
        print('\n'.join(chosen()))
    elif command in ('run', 'check', 'record'):
        globals()[command]()
    else:
        sys.exit(__doc__ or 'usage: schedule.py list | run | check | record')
