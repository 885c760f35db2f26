#!/usr/bin/env python3
"""sqlsmith as an analyst, through a relay that looks at every answer.

sqlsmith knows nothing of protected tables, so most that it asks is refused;
what it is asked for is that nothing crashes and no canary comes out.

Environment: PGHOST and so on, a database with fixture.sql; FUZZ_SECONDS (300),
FUZZ_SEED (random).  See test/README.md.
"""
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from oracle import Findings, Ledger
from wire import Relay

SECONDS = float(os.environ.get('FUZZ_SECONDS', '300'))
SEED = int(os.environ.get('FUZZ_SEED') or random.randrange(2**32))
SLICE = int(os.environ.get('FUZZ_SLICE', '1500'))       # queries of one run


def main():
    print('sqlsmith: SEED=%d, %d s' % (SEED, SECONDS), flush=True)
    directory = tempfile.mkdtemp(prefix='dp_relay')
    relay = Relay(directory)
    relay.start()
    findings = Findings(SEED)
    ledger = Ledger(findings)
    until = time.time() + SECONDS
    run = 0
    while time.time() < until:
        command = ['sqlsmith', '--seed=%d' % (SEED % 2**31 + run), '--max-queries=%d' % SLICE,
                   '--target=host=%s port=5432 user=fuzz_analyst dbname=%s%s' % (
                       directory, os.environ['PGDATABASE'], " options='-c search_path=c,public'" if run % 4 < 2 else '')]
        # seed s of a run with and without the catalogs
        if run % 2 == 0:
            command.append('--exclude-catalog')
        before = relay.queries
        try:
            p = subprocess.run(command, capture_output=True, text=True, timeout=max(until - time.time(), 5))
            if p.returncode != 0:
                findings.add('sqlsmith', 'ended with %d: %s' % (p.returncode, p.stderr[-300:]), [' '.join(command), relay.last])
        except subprocess.TimeoutExpired:
            pass
        run += 1
        if relay.queries - before < 10:
            findings.add('sqlsmith', 'asked nothing', [' '.join(command)])
            break
    time.sleep(1)
    for what, kind, query in relay.leaks:
        findings.add('LEAK', '%s in message %s' % (what, kind), [query])
    for (code, message), (n, query, text) in relay.errors.items():
        # random arguments make all kinds of errors, which are judged by their text alone
        findings.error(code, text, query, allowed=(code,))
        findings.errors[(code, message[:90])] = [n, query]
    granted, refused, rho = ledger.check('at the end')
    print('ledger and audit agree on %s granted and %s refused debits, rho %s' % (granted, refused, rho)
          if not any(k[0] == 'ledger' for k in findings.found) else 'ledger: see above')
    findings.counts.update({'runs': run, 'asked': relay.queries, 'completed': relay.answered,
                            'errors': sum(e[0] for e in relay.errors.values())})
    findings.report()
    if os.environ.get('FUZZ_VERBOSE'):
        for (code, message), (count, sql, _) in sorted(relay.errors.items(), key=lambda e: -e[1][0]):
            print('%6d %s %s\n\t\t%s' % (count, code, message, sql[:200].replace('\n', ' ')))
    return 1 if findings.found else 0


sys.exit(main())
