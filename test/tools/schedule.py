#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# schedule.py
#	  Runs the chosen test files, longest first, and counts and reports what came of
#	  them: as many at a time as there are processors, and one more, as many wait at times.
#
# run_tests.sh calls it, test_files.py says which files are chosen, and
# run_file.sh runs one.  Environment, beside that of test_files.py:
#
#	TEST_TIMEOUT	seconds that one file may take (900)
#	DP_BEGUN		when run_tests.sh began, in seconds since 1970
#
# A file prints TAP.  The last line is "N passed, N failed[, N skipped]", where N
# counts named tests.  A plan that is not there or was not kept, a bail-out, an exit
# code that no failed test explains, and a file without a test count as one failure each.
#
#-------------------------------------------------------------------------
import collections
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from test_files import LOGS, RUN, SUITES, UNKNOWN, chosen, last_times, table  # noqa: E402

SLOW = 30                       # seconds from which on a file is named at the end
PERIOD = 20                     # seconds between signs of life where output is no terminal
TIMEOUT = int(os.environ.get('TEST_TIMEOUT') or 900)


class Result:
    """Counts of one file, and what failed in it."""

    def __init__(self, log, code):
        regress = re.match(r'.*/(regress|isolation)\.log$', log)
        self.passed = self.failed = self.skipped = 0
        self.why = None         # a failure that is no test's
        self.names = []         # of pg_regress: what failed, to be run again by itself
        sums, plans = None, []
        seen = 0
        bailed = False
        for line in open(log, errors='replace'):
            test = re.match(r'(not )?ok\b', line)
            # 16 and later print TAP
            of_regress = regress and re.match(r'(?:test|    ) +(?P<name>\S+) +\.\.\. (?P<end>ok|FAILED)|(?P<not>not ok|ok) \d+ +[-+] (?P<tap>\S+) +\d+ ms$', line)
            if of_regress:
                seen += 1
                if 'ok' in (of_regress['end'], of_regress['not']):
                    self.passed += 1
                else:
                    self.failed += 1
                    self.names.append(of_regress['name'] or of_regress['tap'])
            elif test:
                seen += 1
                if re.search(r'# *(skip|todo)' if not test[1] else r'# *todo', line, re.I):
                    self.skipped += 1
                elif test[1]:
                    self.failed += 1
                else:
                    self.passed += 1
            elif re.match(r'1\.\.\d+', line):
                plans.append(int(re.match(r'1\.\.(\d+)', line)[1]))
            elif line.startswith('Bail out!'):
                bailed = True
            elif re.match(r'\s*\d+ passed, \d+ failed', line):
                sums = [int(n) for n in re.findall(r'(\d+) (?:passed|failed|skipped)', line)]
        if not seen and sums:
            self.passed, self.failed, self.skipped = (sums + [0])[:3]
            seen = sum(sums)
            plans = [seen]
        elif not seen and plans == [0]:
            self.skipped = 1
        if bailed:
            self.why = 'it gave up'
        elif len(plans) == 1 and plans[0] != seen:
            self.why = '%d tests were planned, %d were run' % (plans[0], seen)
        elif code == 124:
            self.why = 'it was stopped after %d seconds' % TIMEOUT
        elif code and not self.failed:
            self.why = 'it ended with exit code %d' % code
        elif not seen and plans != [0]:
            self.why = 'it tested nothing'
        elif len(plans) != 1 and not regress:
            self.why = 'it has %d plans' % len(plans)
        self.failed += self.why is not None


def log_of(name):
    return '%s/%s.log' % (LOGS, name)


def source_of(line):
    """Returns the lines of a Perl program that a diagnostic points to."""
    at = re.match(r'#\s+at (\S+\.p[lm]) line (\d+)', line)
    if not at or not os.path.exists(at[1]):
        return []
    n = int(at[2])
    return ['#   ' + text.rstrip() for text in open(at[1]).readlines()[max(0, n - 2):n + 1]]


DIED = re.compile(r'was terminated by signal|^TRAP:|^not ok - (a process of the server died|an assertion failed)')


def failures(log, result, most=150):
    """
    Returns what a log says: who died, then of the failed tests the statement or source before each, and the diagnostics
    after it.  Its end, too, where more is wrong than tests that failed.
    """
    # tests are read from a copy, which is gone then
    copy = os.environ['DP_WORK'] + '/in/'
    lines = [line[:1000].replace(copy, '') for line in open(log, errors='replace').read().splitlines()]
    died = list(dict.fromkeys(line for line in lines if DIED.search(line)))[:5]
    # pg_regress shows all differences at the end
    first = next((i for i, line in enumerate(lines) if line.startswith('diff -')), -40)
    shown = lines[first:] if result.names else failed_tests(lines)
    rest = ['... %d lines more' % (len(shown) - most)] if len(shown) > most else []
    end = ['... at its end:'] + lines[-25:] if result.why and shown else []
    return died + (shown or lines[-40:])[:most] + rest + end


def failed_tests(lines):
    shown, kept, say, over = [], [], 0, False
    for line in lines:
        if re.match(r'ok\b', line):
            # a statement may make several tests
            over, say = True, 0
        elif re.match(r'not ok\b', line):
            shown += ['...'] * (len(kept) > 15) + kept[-15:] + [line]
            kept, say = [], 15
        elif say:
            shown += [line] + source_of(line)
            say -= 1
        else:
            kept = ([] if over else kept) + [line]
            over = False
    return shown


class Runner:
    def __init__(self, names):
        usual = {name: seconds for name, (seconds, _) in table().items()}
        usual.update(last_times(RUN))
        self.within = names
        self.waiting = sorted(names, key=lambda name: (usual.get(name, UNKNOWN), name))
        self.running = {}       # name: (process, start)
        self.results = {}       # name: (Result, seconds)
        self.begun = self.said = time.monotonic()
        self.terminal = sys.stdout.isatty()

    def start(self, name):
        log = log_of(name)
        os.makedirs(os.path.dirname(log), exist_ok=True)
        with open(log, 'w') as out:
            process = subprocess.Popen(
                ['timeout', '-k', '20', str(TIMEOUT), 'bash', 'test/tools/run_file.sh', name, *self.within[name]],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        self.running[name] = (process, time.monotonic())

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
            ', '.join('%s %d s' % (name, now - start) for name, (_, start) in self.running.items()))
        if self.terminal:
            print('\r\033[K' + text[:os.get_terminal_size().columns - 1], end='', flush=True)
        else:
            self.say(text)

    def ended(self, name):
        process, start = self.running.pop(name)
        result = Result(log_of(name), process.returncode)
        self.results[name] = (result, time.monotonic() - start)
        if result.failed:
            self.say('--- %s: %d failed%s' % (name, result.failed, ': ' + result.why if result.why else ''))
            for line in failures(log_of(name), result):
                print('    ' + line)
            print('    its output: %s%s; again: %s' % (
                os.path.relpath(log_of(name)), ', and in %s/%s' % (os.path.relpath(LOGS), name) if result.names else '', self.again(name, result)), flush=True)

    def run(self):
        while self.waiting or self.running:
            while self.waiting and len(self.running) < (os.cpu_count() or 1) + 1:
                self.start(self.waiting.pop())
            for name in [name for name, (process, _) in self.running.items() if process.poll() is not None]:
                self.ended(name)
            self.sign_of_life()
            time.sleep(0.05)
        if self.terminal:
            print('\r\033[K', end='')

    def stop(self):
        for process, _ in self.running.values():
            process.send_signal(signal.SIGTERM)
        for process, _ in self.running.values():
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
                for line in open(log_of(name), errors='replace'):
                    if re.search(r'# *skip', line, re.I):
                        print('skipped in %s: %s' % (name, line.strip()))
                        break
        for name, (result, _) in self.results.items():
            if result.failed:
                print('failed: %s' % self.again(name, result))
        passed, failed, skipped = (sum(counts[i] for counts in suites.values()) for i in (1, 2, 3))
        whole = time.time() - float(os.environ.get('DP_BEGUN') or time.time())
        print('%s minutes, and with installing and building before it %d:%02d' % (self.clock(), whole // 60, whole % 60))
        print('%d passed, %d failed%s' % (passed, failed, ', %d skipped' % skipped if skipped else ''))
        return passed > 0 and failed == 0

    def again(self, name, result):
        """Returns the command that runs a file again, or what failed of it."""
        tests = result.names or self.within[name]
        name = '"%s"' % ' '.join('%s/%s' % (name.split('/')[0], test) for test in tests) if tests else name
        settings = ' '.join('%s=%s' % (v, os.environ[v]) for v in ('ASSERT', 'SANITIZE', 'PGMAJOR', 'PG_SOURCE') if os.environ.get(v))
        return 'make %s ONLY=%s%s' % (RUN, name, ' ' + settings if settings else '')

    def remember(self):
        """Leaves how long each file took that passed, for the next run's order."""
        times = last_times(RUN)
        times.update((name, seconds) for name, (result, seconds) in self.results.items() if not (self.within[name] or result.failed))
        with open('%s/times-%s' % (LOGS, RUN), 'w') as out:
            out.writelines('%s %.1f\n' % item for item in sorted(times.items()))


def main():
    runner = Runner(chosen())
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    try:
        runner.run()
    except (KeyboardInterrupt, SystemExit):
        runner.stop()
        runner.say('stopped at %d of %d files' % (len(runner.results), len(runner.within)))
        sys.exit(130)
    runner.remember()
    sys.exit(not runner.report())


if __name__ == '__main__':
    main()
