#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# fuzz_sql.sh
#	  Random SQL: test/fuzz/sql, each program on a cluster of its own; as an
#	  analyst with test/fuzz/sql/fixture.sql.
#
# FUZZ_SECONDS (600) in total, FUZZ_SEED, ONLY="sqlsmith" or "grammar".
# ONLY="neighbours" compares databases that differ in one unit, with as many
# workers as there are processors (JOBS): FUZZ_STATEMENTS in total instead of
# FUZZ_SECONDS, FUZZ_PAIRS, FUZZ_HEAVY=1, FUZZ_SHAPES=1 (their share), FUZZ_ASKED=1, FUZZ_PARALLEL=1, FUZZ_WAYS="plain writer",
# FUZZ_KEPT=0.7 (the share of queries that are asked again where answers are kept).  ONLY="bounding" compares plans of
# what units contribute, and ONLY="excluded" two databases of which conditions leave out what differs, with as many workers.
# REMEDIES=1 also types in what refusals write out, as their asker would, and prints which of that is refused.
# ASSERT=1 runs a server with assertions, which is built from the
# distribution's source (build/assert-NN, once).  SANITIZE=1 does so, too, and
# builds the extension with AddressSanitizer and UBSan; the server itself is
# not instrumented.  (Debian's server, with libasan preloaded, was seen to hang
# in bindtextdomain before it does anything.)
#
#-------------------------------------------------------------------------
set -u

export DP_SEED=${FUZZ_SEED:-$((RANDOM * 32768 + RANDOM))}
seconds=${FUZZ_SECONDS:-600}
sanitize=${SANITIZE:-}
assert=${ASSERT:-$sanitize}
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
rc=0

what=fuzz-sql
[[ ${ONLY-} != @(neighbours|bounding|excluded) ]] || what=test
bash "$DP_TOP/test/tools/deps.sh" $what || exit 1
dp_server_tree || exit 1
work=$(dp_scratch fuzzsql) || exit 1
cleanup()
{
	local d

	trap - EXIT INT TERM
	for d in "$work"/c?*
	do
		dp_stop "$d" immediate
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

if [[ -n $assert ]]
then
	. "$DP_TOP/test/tools/assert_server.sh"
	dp_assert_server && dp_readable_tree "$work/tree" || exit 1
fi

# A build with other flags, or for another server, does not belong into the
# checkout: it is made in a copy.
if [[ -n $sanitize || -n $assert ]]
then
	top=$work/src
	mkdir -p "$top"
	cp -R "$DP_TOP"/{Makefile,dp_cdp.control,src,sql,docs} "$top/" && find "$top" -name '*.[od]' -delete -o -name '*.bc' -delete
	flags=()
	if [[ -n $sanitize ]]
	then
		# what the server leaves to the kernel at its exit is no leak
		flags=(COPT="-O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer")
		export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0:disable_coredump=0
		export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=0
	fi
	[[ -n $assert ]] || dp_copy_tree "$work/tree" || exit 1
	(cd "$top" && make -s -j"$(nproc)" PG_CONFIG="$DP_PG_CONFIG" with_llvm=no "${flags[@]}" all &&
		make -s install PG_CONFIG="$DP_PG_CONFIG" with_llvm=no "${flags[@]}") >"$work/build.log" 2>&1 ||
		{ tail -n 40 "$work/build.log"; exit 1; }
else
	dp_build "$DP_BUILD/fuzz-build.log" || { tail -n 40 "$DP_BUILD/fuzz-build.log"; exit 1; }
	dp_readable_tree "$work/tree" || exit 1
fi
cp -R "$DP_TOP/test" "$work/in"
[[ -z ${REMEDIES-} ]] || dp_golden "$work/in" || exit 1
give "$work/in"

# what the server's log must not contain; with neighbours, failures are compared
bad='PANIC|TRAP:|was terminated by signal|AddressSanitizer|runtime error:'
case ${ONLY-} in
	neighbours | excluded) ;;
	bounding) bad+='|WARNING:' ;;
	*) bad+='|private query (failed while it read|could not be planned)' ;;
esac

# name of the program, seconds, number of the worker and of all
run()
{
	local name=$1 dir=$work/c_$1$3 share=$2 rc=0

	[[ $3 != 0 ]] || echo "--- $name${sanitize:+, sanitized}${assert:+, with assertions}"
	dp_initdb "$dir" "$DP_TOP/test/tools/temp.conf" ${REMEDIES:+"$work/in/golden.conf"} || return 1
	# the sanitizer wants to be there first
	[[ -z $sanitize ]] || preload=$(readlink -f "$(gcc -print-file-name=libasan.so)")
	LD_PRELOAD=${preload:-} dp_start "$dir" &&
		dp_psql "$dir" -d postgres -c "CREATE DATABASE fuzz" || return 1
	[[ $name == @(neighbours|bounding|excluded) ]] || dp_psql "$dir" -d fuzz -f "$work/in/fuzz/sql/fixture.sql" || return 1
	(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=fuzz \
		FUZZ_SECONDS="$share" FUZZ_SEED="$DP_SEED" FUZZ_VERBOSE="${FUZZ_VERBOSE:-}" FUZZ_EPISODE="${FUZZ_EPISODE:-}" \
		FUZZ_STATEMENTS="${FUZZ_STATEMENTS:+$(((FUZZ_STATEMENTS + $4 - 1) / $4))}" FUZZ_WORKER="$3/$4" \
		FUZZ_PAIRS="${FUZZ_PAIRS:-}" FUZZ_HEAVY="${FUZZ_HEAVY:-}" FUZZ_SHAPES="${FUZZ_SHAPES:-}" FUZZ_ASKED="${FUZZ_ASKED:-}" FUZZ_PARALLEL="${FUZZ_PARALLEL:-}" FUZZ_WAYS="${FUZZ_WAYS:-}" FUZZ_KEPT="${FUZZ_KEPT:-}" \
		PATH="$DP_BIN:$PATH" PYTHONDONTWRITEBYTECODE=1 python3 "$work/in/fuzz/sql/${name}_fuzz.py") || rc=1
	dp_stop "$dir" fast
	if grep -qE "$bad" "$dir/log"
	then
		echo "the server's log:"
		grep -E -A 12 "$bad" "$dir/log" | cut -c1-400 | head -n 80
		rc=1
	fi
	return $rc
}

# as many at a time as there are processors; an episode needs one
run_workers()
{
	local workers=${JOBS:-$(nproc)} w pids=() p

	[[ -z ${FUZZ_EPISODE-} ]] || workers=1
	for ((w = 0; w < workers; w++))
	do
		run "$1" "$seconds" $w $workers &
		pids+=($!)
	done
	for p in "${pids[@]}"
	do
		wait "$p" || rc=1
	done
}

case ${ONLY-} in
	sqlsmith | grammar) run "$ONLY" "$seconds" 0 1 || rc=1 ;;
	neighbours | bounding | excluded) run_workers "$ONLY" ;;
	*)
		run sqlsmith $((seconds / 2)) 0 1 || rc=1
		run grammar $((seconds - seconds / 2)) 0 1 || rc=1
		;;
esac
[[ -z ${REMEDIES-} ]] || python3 "$DP_TOP/test/tools/golden.py" remedies "$work"/c_*/log || rc=1
name=fuzz-${ONLY:-sql}
[[ $rc == 0 ]] && echo "$name: nothing found, SEED=$DP_SEED" || echo "$name: FAILED, SEED=$DP_SEED"
exit $rc
