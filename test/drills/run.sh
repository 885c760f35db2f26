#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# run.sh
#	  The drills that take minutes: each program beside this one, in turn.
#
# A drill prints lines of TAP and how long it took, and fails if one of them is
# "not ok".  ONLY="pg_upgrade" runs some.  Output stays in build/drills/.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
exec </dev/null

logs=$DP_BUILD/drills
mkdir -p "$logs"
result=0
for drill in "$DP_TOP"/test/drills/*.sh
do
	name=$(basename "$drill" .sh)
	[[ $name != run && $name != *_inside ]] || continue
	[[ -z ${ONLY-} || " $ONLY " == *" $name "* ]] || continue
	echo "--- $name"
	begin=$(date +%s)
	bash "$drill" >"$logs/$name.log" 2>&1
	rc=$?
	grep -E '^(ok|not ok|#)' "$logs/$name.log"
	failed=$(grep -c '^not ok' "$logs/$name.log")
	passed=$(grep -c '^ok' "$logs/$name.log")
	echo "$name: $passed passed, $failed failed, $(($(date +%s) - begin)) s"
	if [[ $rc != 0 || $failed != 0 || $passed == 0 ]]
	then
		echo "its output is in ${logs#"$DP_TOP"/}/$name.log"
		result=1
	fi
done
exit $result
