#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_layers.sh
#	  Who may include and call whom in src/, and how long a file may be.
#
#	  guard -> safe, policy, release, agg	release -> ledger, agg, policy
#	  admin -> policy, ledger, calc		ledger, agg, policy -> base
#	  calc, base -> math				math -> the C library alone
#	  safe -> base
#
# calc/ is the C library's and math's too, but for sql_*.c, which hand its
# functions to SQL.  dp_cdp.c calls every layer's init function and may include
# any header.  In guard/ there is an order of floors, too:
#
#	  hooks > mask > split > rewrite > describe/ > read/ > facts/ > level > vet/
#
# and no files call each other in a circle but in two recursions.  The rules
# themselves are the tables at the head of graph.py; "make graph" prints what
# they are applied to.
#
#-------------------------------------------------------------------------
exec python3 "$(dirname "${BASH_SOURCE[0]}")/graph.py" --check
