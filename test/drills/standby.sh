#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# standby.sh
#	  Clients ask a standby whose primary pays, while both are killed:
#	  test/t/standby_crash.pl for DRILL_SECONDS (600).
#
#-------------------------------------------------------------------------
set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export DRILL_SECONDS=${DRILL_SECONDS:-600}

TEST_TIMEOUT=$((DRILL_SECONDS + 300)) ONLY=t/standby_crash.pl bash "$top/test/tools/run_tests.sh"
result=$?
grep -E '^(ok|not ok|#)' "$top/build/test/t/standby_crash.pl.log"
exit $result
