#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# run.sh
#	  How far private answers are from the true ones, as tables.
#
# Reads adult.csv and restaurant_week.csv from the directory DP_CDP_DATA, and
# takes the demo's generated clinic where they are not there.  UTILITY_TIMES
# (200) is how often each answer is released.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"

bash "$DP_TOP/test/tools/deps.sh" test || exit 1
dp_server_tree || exit 1
dp_build "$DP_BUILD/utility-build.log" || { tail -n 40 "$DP_BUILD/utility-build.log"; exit 1; }

dir=$(dp_scratch utility) || exit 1
trap 'dp_stop "$dir" immediate; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
dp_copy_tree "$dir/tree" || exit 1
# the server's user may not reach the checkout or the data
mkdir "$dir/in" "$dir/in/data" && cp "$DP_TOP"/test/utility/utility.py "$DP_TOP"/test/stat/dpstat.py \
	"$DP_TOP"/test/demo/clinic.sql "$dir/in/" || exit 1
data=${DP_CDP_DATA:-$DP_TOP/../shared/data}
for name in adult restaurant_week
do
	[[ ! -r $data/$name.csv ]] || cp "$data/$name.csv" "$dir/in/data/"
done
give "$dir/in"

dp_initdb "$dir" "$DP_TOP/test/tools/temp.conf" && dp_start "$dir" || exit 1
(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres \
	PATH="$DP_BIN:$PATH" PYTHONDONTWRITEBYTECODE=1 UTILITY_TIMES="${UTILITY_TIMES:-200}" \
	python3 "$dir/in/utility.py" "$dir/in")
rc=$?
[[ $rc == 0 ]] || tail -n 20 "$dir/log"
exit $rc
