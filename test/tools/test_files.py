#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# test_files.py
#	  Which test files there are, and which of them a run has.
#
# usage: test_files.py list		the chosen files, "suite/file" a line
#		 test_files.py check	test/files.txt, test/README.md and test/ name the same files, and
#								"make test" has a test of each promise of docs/privacy.md,
#								which says against whom it is kept, and on what it rests
#		 test_files.py record	puts new files into test/files.txt, as those of "make test",
#								and takes out those that are gone
#		 test_files.py times	the same, and writes the times of the last runs
#
# Environment:
#
#	ONLY			suites and files, else all files of the run
#	DP_TEST_ALL		set: the run is "make test-all", else "make test"
#	DP_LOGS			where logs and times stay (build/test)
#
#-------------------------------------------------------------------------
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
from readme_test import PARTS  # noqa: E402

TABLE = 'test/files.txt'
UNKNOWN = 10                    # seconds of a file that has not been run yet

# suite: its files; a suite of one program is a file by itself
SUITES = {
    'layers': None, 'docs': None, 'symbols': None, 'unit': ['unit/plain', 'unit/sanitized'], 'dist': None,
    'regress': None, 'isolation': None, 'pgtap': 'test/pgtap/*.sql', 'attacks': 'test/attacks/?_*.sql', 't': 'test/t/*.pl',
    'stat': 'test/stat/*.py', 'reference': None, 'readme': ['readme/' + part for part in PARTS], 'verify': None, 'demo': None, 'citus': None}
# files that pg_regress runs in one server; they can be asked for singly
OF_PG_REGRESS = {'regress': 'sql/*.sql', 'isolation': 'test/isolation/specs/*.spec'}

ALL = bool(os.environ.get('DP_TEST_ALL'))
RUN = 'test-all' if ALL else 'test'
LOGS = os.environ.get('DP_LOGS', 'build/test')


def found(suite, pattern):
    """Returns the files of a pattern, as suite/file."""
    return ['%s/%s' % (suite, os.path.basename(path)) for path in sorted(glob.glob(pattern))]


def files():
    """Returns all files that there are, as suite/file."""
    return [name for suite, names in SUITES.items()
            for name in (found(suite, names) if isinstance(names, str) else names or [suite])]


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
    for word in re.split(r'[\s,]+', os.environ['ONLY'].strip()):
        # the path of a file will do, too
        word = re.sub(r'^sql/', 'regress/', re.sub(r'^test/(?:(isolation/)specs/)?', r'\1', word))
        suite, _, part = word.partition('/')
        names = [name for name in known if word in (name, name.split('/')[0], os.path.splitext(name)[0])]
        if part and any(word in (name, os.path.splitext(name)[0]) for name in found(suite, OF_PG_REGRESS.get(suite, ''))):
            result.setdefault(suite, []).append(os.path.splitext(part)[0])
        elif suite == 'readme' and any(part in pages for pages in PARTS.values()):
            # a page
            result.setdefault('readme/' + next(name for name, pages in PARTS.items() if part in pages), []).append(part)
        elif names:
            result.update((name, []) for name in names)
        else:
            sys.exit('ONLY: there is no suite and no test "%s"; suites are: %s' % (word, ' '.join(SUITES)))
    return result


def last_times(run):
    """Returns {suite/file: seconds} of the last runs of that name here."""
    path = '%s/times-%s' % (LOGS, run)
    if not os.path.exists(path):
        return {}
    return {name: float(seconds) for name, seconds in (line.split() for line in open(path))}


def long_alone():
    """Returns problems of the table of suites in test/README.md, whose last column names what only "make test-all" runs."""
    rows = table()
    problems = []
    text = open('test/README.md').read()
    for suite, names in SUITES.items():
        alone = {os.path.basename(name) for name, (_, run) in rows.items() if name.split('/')[0] == suite and run == 'test-all'}
        row = re.search(r'^\| %s \|.*\|([^|]*)\|$' % suite, text, re.M)
        # of many the table of files tells
        wanted = '%d of its files' % len(alone) if len(alone) > 3 else ', '.join('`%s`' % name for name in sorted(alone))
        if suite == 'citus':
            wanted = 'citus'
        if not row or row[1].strip() != wanted:
            problems.append('test/README.md: in the row of "%s", what only "make test-all" runs is: %s' % (suite, wanted or 'nothing'))
    return problems


def file_of(path):
    """Returns the test file that runs what docs/privacy.md names by its path."""
    suite, _, name = path.removeprefix('test/').partition('/')
    if path.startswith('sql/'):
        return 'regress'
    return {'unit': 'unit/plain', 'verify': 'verify', 'isolation': 'isolation'}.get(suite, '%s/%s' % (suite, name))


def unproven():
    """Returns the promises of docs/privacy.md (numbered headings, and rows of their tables) without a test that "make test" runs, and
    rows that lack another cell: against whom a promise is kept, by what, on which assumptions."""
    rows = table()
    text = open('docs/privacy.md').read()
    promised = text[text.index('## The promises'):text.index('## What it does not promise')]
    promises = {part.split('\n')[0]: part for part in promised.split('\n### ')[1:]}
    promises.update((row.split('|')[1].strip(), row) for row in re.findall(r'^\|.*\|$', promised, re.M)
                    if not re.match(r'\| what \||\|---', row))
    return ['docs/privacy.md: "make test" runs no test of "%s"' % promise for promise, part in promises.items()
            if not any(rows.get(file_of(path), (0, ''))[1] == 'test' for path in re.findall(r'`((?:test|sql)/[\w./-]+)`', part))] \
        + ['docs/privacy.md: "%s" does not say against whom, by what, on which assumptions, by which test' % promise
           for promise, part in promises.items() if part.startswith('|') and [cell.strip() != '' for cell in part.split('|')[1:-1]] != [True] * 5]


def check():
    rows = table()
    problems = ['%s has no line for %s: "python3 test/tools/test_files.py record" adds it' % (TABLE, name)
                for name in files() if name not in rows]
    problems += ['%s: there is no %s' % (TABLE, name) for name in rows if name not in files()]
    problems += ['%s: %s is run by "%s", which is neither test nor test-all' % (TABLE, name, run)
                 for name, (_, run) in rows.items() if run not in ('test', 'test-all')]
    problems += long_alone() + unproven()
    print('\n'.join(problems) or '%d test files' % len(rows))
    sys.exit(bool(problems))


def times():
    record(last_times('test'), last_times('test-all'))


def record(short={}, full={}):
    """Makes the table one of the files that there are; a new one becomes one of "make test"."""
    rows = table()
    head = [line for line in open(TABLE) if line.startswith('#')]
    names = files()
    with open(TABLE, 'w') as out:
        out.writelines(head)
        for name in names:
            seconds, run = rows.get(name, (UNKNOWN, 'test'))
            seconds = short.get(name, full.get(name, seconds)) if run == 'test' else full.get(name, seconds)
            out.write('%-42s %5.0f  %s\n' % (name, max(1, seconds), run))


if __name__ == '__main__':
    command = sys.argv[1] if len(sys.argv) == 2 else ''
    if command == 'list':
        print('\n'.join(chosen()))
    elif command in ('check', 'record', 'times'):
        globals()[command]()
    else:
        sys.exit('usage: test_files.py list | check | record | times')
