#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# fuzz.sh
#	  Runs what test/fuzz has: "make -C test/fuzz run" for targets that need
#	  no server, then every *.sh and *.py on a cluster of its own (PGHOST and
#	  so on point to its database "fuzz").  FUZZ_SECONDS (60) is for each.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
fuzz=$DP_TOP/test/fuzz
export FUZZ_SECONDS=${FUZZ_SECONDS:-60}
rc=0

bash "$DP_TOP/test/tools/deps.sh" test || exit 1
if [[ -f $fuzz/Makefile ]]
then
	make -s -C "$fuzz" run || rc=1
fi
shopt -s nullglob
programs=("$fuzz"/*.sh "$fuzz"/*.py)
[[ ${#programs[@]} -gt 0 ]] || exit $rc

dp_server_tree || exit 1
dp_build "$DP_BUILD/fuzz-build.log" || { tail -n 40 "$DP_BUILD/fuzz-build.log"; exit 1; }
work=$(dp_scratch fuzz) || exit 1
trap 'for d in "$work"/c?*; do dp_stop "$d" immediate; done; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
dp_readable_tree "$work/tree" || exit 1
cp -R "$DP_TOP/test" "$work/in" && give "$work/in"

n=0
for program in "${programs[@]}"
do
	n=$((n + 1))
	dir=$work/c$n
	name=${program##*/}
	echo "--- $name"
	dp_initdb "$dir" "$DP_TOP/test/tools/temp.conf" && dp_start "$dir" &&
		dp_psql "$dir" -d postgres -c "CREATE DATABASE fuzz" || exit 1
	interpreter=bash
	[[ $name == *.sh ]] || interpreter=python3
	(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=fuzz \
		PATH="$DP_BIN:$PATH" PYTHONDONTWRITEBYTECODE=1 "$interpreter" "$work/in/fuzz/$name") || rc=1
	if grep -E 'PANIC|TRAP|was terminated by signal (4|6|7|8|11)' "$dir/log"
	then
		rc=1
	fi
	dp_stop "$dir" immediate
done
exit $rc
