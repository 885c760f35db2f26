#!/usr/bin/env python3
"""The first episodes of "make fuzz-bounding" with a fixed seed.

What units contribute is the same, bit for bit, whatever the plan, the memory,
the workers and the order of rows.
"""
import os
import sys

os.environ.update(FUZZ_SEED=os.environ.get('BOUNDING_SEED', '1'), FUZZ_EPISODES='30')
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fuzz', 'sql'))
import bounding_fuzz

print('1..1')
failed = bounding_fuzz.main()
print('%sok 1 - all plans come to the same' % ('not ' if failed else ''))
sys.exit(failed)
