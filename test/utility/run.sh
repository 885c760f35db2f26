#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# run.sh
#	  How far private answers are from the true ones, as tables.
#
# See README.md for the tables, the data that DP_CDP_DATA must hold, and
# UTILITY_ONLY and REPEAT.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"

names="insteval pbcseq flchain restaurant_week adult"
missing=
for name in $names
do
	[[ -r ${DP_CDP_DATA-}/$name.csv ]] || missing+=" $name.csv"
done
if [[ -z ${DP_CDP_DATA-} || -n $missing ]]
then
	echo "make utility: public data are missing:$missing. Put them into a directory, as test/utility/README.md says, and run" \
		"DP_CDP_DATA=directory make utility" >&2
	exit 1
fi

bash "$DP_TOP/test/tools/deps.sh" test || exit 1
dp_server_tree || exit 1
dp_build "$DP_BUILD/utility-build.log" || { tail -n 40 "$DP_BUILD/utility-build.log"; exit 1; }

dir=$(dp_scratch utility) || exit 1
trap 'dp_stop "$dir" immediate; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
dp_copy_tree "$dir/tree" || exit 1
# the server's user may not reach the checkout or the data
mkdir "$dir/in" "$dir/in/data" && cp "$DP_TOP"/test/utility/*.py "$DP_TOP"/test/stat/dpstat.py "$dir/in/" || exit 1
for name in $names
do
	cp "$DP_CDP_DATA/$name.csv" "$dir/in/data/" || exit 1
done
give "$dir/in"

dp_initdb "$dir" "$DP_TOP/test/tools/temp.conf" && dp_start "$dir" || exit 1
scripts="limits answers"
[[ " $scripts " != *" ${UTILITY_ONLY:-none} "* ]] || scripts=$UTILITY_ONLY
# a part of a question
[[ -z ${UTILITY_ONLY-} || $UTILITY_ONLY == answers ]] || scripts=limits
rc=0
for script in $scripts
do
	times=${REPEAT:-20}
	[[ $script != answers ]] || times=${REPEAT:-200}
	(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres \
		PATH="$DP_BIN:$PATH" PYTHONDONTWRITEBYTECODE=1 UTILITY_TIMES="$times" \
		python3 "$dir/in/$script.py" "$dir/in") || rc=1
done
[[ $rc == 0 ]] || tail -n 20 "$dir/log"
exit $rc
