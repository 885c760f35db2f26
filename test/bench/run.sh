#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# run.sh
#	  What privacy costs in time: dp_cdp beside plain SQL on one server.
#
# See README.md for the figures, and for BENCH_ROWS and the other variables.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
bench=$DP_TOP/test/bench

bash "$DP_TOP/test/tools/deps.sh" test || exit 1
dp_server_tree || exit 1
dp_build "$DP_BUILD/bench-build.log" || { tail -n 40 "$DP_BUILD/bench-build.log"; exit 1; }

# Commits must reach a disk: /var/tmp is one more often than /tmp.
dir=$(dp_scratch bench "${BENCH_DIR:-/var/tmp}") || exit 1
trap 'dp_stop "$dir" immediate; dp_stop "$dir/then" immediate; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
# a second server, with the extension as a commit has it
if [[ -n ${BENCH_THEN-} ]]
then
	(
		BENCH_THEN=$(git -C "$DP_TOP" rev-parse --short "$BENCH_THEN") && dp_copy_tree "$dir/then/tree" && mkdir "$dir/then/src" &&
			git -C "$DP_TOP" archive "$BENCH_THEN" | tar -x -C "$dir/then/src" && DP_TOP=$dir/then/src DP_BUILD=$dir/then &&
			dp_build "$dir/then/build.log" && dp_initdb "$dir/then" "$bench/bench.conf" && dp_start "$dir/then"
	) || { tail -n 40 "$dir/then/build.log"; exit 1; }
	export BENCH_THEN_HOST=$dir/then
fi
dp_copy_tree "$dir/tree" || exit 1
mkdir "$dir/in" && cp -R "$bench/." "$dir/in/"
data=${DP_CDP_DATA-}
[[ ! -r $data/adult.csv ]] || { mkdir "$dir/in/data" && cp "$data/adult.csv" "$dir/in/data/"; }
give "$dir/in"

# tables also go to BENCH_OUT
[[ -z ${BENCH_OUT-} ]] || exec > >(tee "$BENCH_OUT")

dp_initdb "$dir" "$bench/bench.conf" && dp_start "$dir" || exit 1
(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres \
	PATH="$DP_BIN:$PATH" PYTHONDONTWRITEBYTECODE=1 python3 "$dir/in/bench.py")
rc=$?
[[ $rc == 0 ]] || grep -E 'LOG:|FATAL:|PANIC:' "$dir/log" | grep -v 'temporary file:' | sort -u -k4 | tail -n 10

# debits per second, kept answers, calls of calculators, the guard, more processors, whole schemas: scripts of their own
for script in ledger.sh ledger.py kept.py replay.py ranges.py calculators.py guard.py model.py schemas.py
do
	name=${script%.*}
	only=${BENCH_ONLY:-$name}
	# a schema by its own name
	[[ $name != schemas || ! -f $bench/$only/queries.sql ]] || only=$name
	[[ -f $bench/$script && $only == *$name* ]] || continue
	echo
	echo "\`BENCH_ONLY=$name make bench\`:"
	interpreter=bash
	[[ $script == *.sh ]] || interpreter=python3
	(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres \
		PATH="$DP_BIN:$PATH" "$interpreter" "$dir/in/$script") || rc=1
done
exit $rc
