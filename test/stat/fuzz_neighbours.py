#!/usr/bin/env python3
"""Some statements of "make fuzz-neighbours", always the same ones: 400 in `make test`, 3,000 in `make test-all`.

Whatever an analyst can observe is equal on two databases that differ in one
privacy unit, and noisy answers differ by no more than one unit contributes.
Answers are kept, and some queries are asked again by several roles.
"""
import os
import sys

from dpstat import size

os.environ.update(FUZZ_SEED=os.environ.get('NEIGHBOURS_SEED', '12'), FUZZ_STATEMENTS=size('400', '3000'), FUZZ_KEPT=size('0.15', '0.33'),
                  FUZZ_PAIRS=size('less777 more888', 'less777 more888 crowd'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fuzz', 'sql'))
import neighbours_fuzz

print('1..1')
found = neighbours_fuzz.main()
print('%sok 1 - neighbouring databases cannot be told apart' % ('not ' if found else ''))
sys.exit(found)
