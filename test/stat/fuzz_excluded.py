#!/usr/bin/env python3
"""Some statements of "make fuzz-excluded", always the same ones: 300 in `make test`, 3,000 in `make test-all`.

A person whom conditions leave out changes no bit of what an analyst sees, where random bits are the same.  A fault that
shows in one statement of 100, or of 1,000, is missed by 5 % of such choices.
"""
import os
import sys

from dpstat import size

os.environ.update(FUZZ_SEED=os.environ.get('EXCLUDED_SEED', '3'), FUZZ_STATEMENTS=size('300', '3000'), FUZZ_PAIRS=size('more888', 'more888 crowd'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fuzz', 'sql'))
import excluded_fuzz

print('1..1')
failed = excluded_fuzz.main()
print('%sok 1 - who is left out changes nothing' % ('not ' if failed else ''))
sys.exit(failed)
