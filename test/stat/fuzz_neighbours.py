#!/usr/bin/env python3
"""Some statements of "make fuzz-neighbours", always the same ones: 400 in `make test`, 3,000 in `make test-all`.

Whatever an analyst can observe is equal on two databases that differ in one
privacy unit, and noisy answers differ by no more than one unit contributes.
Answers are kept, and some queries are asked again by several roles: 15 % in `make test`, 33 % in `make test-all`, which
alone has the pair of a person with thousands of rows.  A fault that shows in one statement of 133, or of 1,000, is missed by 5 %
of such choices.
"""
import os
import sys

from dpstat import size

os.environ.update(FUZZ_SEED=os.environ.get('NEIGHBOURS_SEED', '16'), FUZZ_STATEMENTS=size('400', '3000'), FUZZ_KEPT=size('0.15', '0.33'),
                  FUZZ_PAIRS=size('less777 more888', 'less777 more888 crowd'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fuzz', 'sql'))
import neighbours_fuzz

print('1..1')
found = neighbours_fuzz.main()
print('%sok 1 - neighbouring databases cannot be told apart' % ('not ' if found else ''))
sys.exit(found)
