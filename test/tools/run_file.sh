#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# run_file.sh SUITE[/FILE] [NAME...]
#	  Runs one test file and prints TAP; NAMEs are tests within the suites
#	  regress and isolation, and pages within readme.
#
# schedule.py calls it, below run_tests.sh, which exports
#
#	DP_WORK		a scratch directory of the server's user, with a copy of the tests in
#				"in", and a cluster in "template" that has databases with the extension
#	DP_TREE, DP_PG_CONFIG, DP_BIN, DP_LIB, DP_PGXS		the private server
#	DP_LOGS		where results of pg_regress stay
#
# Each file has clusters of its own, so no file can disturb another: copies of
# the template, or those that PostgreSQL's harness makes.
#
#-------------------------------------------------------------------------
set -u
shopt -s extglob

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tools=$DP_TOP/test/tools
in=$DP_WORK/in
suite=${1%%/*}
file=${1#*/}
shift

# A failed assertion fails the file that met it, whatever its tests said; so does a process that died of a signal,
# where no test sends one: result, logs...
no_assertion_failed()
{
	local rc=$1

	shift
	if [[ $suite != t ]] && grep -h -A 3 'was terminated by signal' "$@" 2>/dev/null
	then
		echo "not ok - a process of the server died"
		rc=1
	fi
	if grep -h -A 12 '^TRAP:' "$@" 2>/dev/null
	then
		echo "not ok - an assertion failed"
		return 1
	fi
	return $rc
}

# One test, which is a command: name, command...
one_test()
{
	local name=$1

	shift
	echo '1..1'
	if "$@"
	then
		echo "ok 1 - $name"
	else
		echo "not ok 1 - $name"
		return 1
	fi
}

# A cluster for this file, a copy of a template; sets dir
own_cluster()
{
	dir=$DP_WORK/$suite.$file
	mkdir -p "$dir"
	cp -R "$DP_WORK/${1:-template}/data" "$dir/" && give "$dir" && chmod -R go-rwx "$dir/data" && dp_start "$dir"
}

# A program of the tests' copy, as the server's user, at the cluster in dir
at_cluster()
{
	(cd "$in" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=test \
		PYTHONDONTWRITEBYTECODE=1 "$@")
}

# $1: what the file's program returned; the rest are clusters. Shows the log of a failure, and stops them.
end_clusters()
{
	local rc=$1 d

	shift
	if [[ $rc != 0 ]]; then tail -n 20 "$1/log" | sed 's/^/# /'; fi
	for d in "$@"
	do
		dp_stop "$d" immediate
	done
	no_assertion_failed "$rc" "${@/%//log}"
	rc=$?
	[[ -z ${GOLDEN-} ]] || cp "$1/log" "$DP_LOGS/$suite/$file.server.log"
	rm -rf "$1"
	return $rc
}

# pg_regress or its kin: program, input directory, tests...
run_pg_regress()
{
	local program=$1 input=$2 rc out=$DP_WORK/$suite

	shift 2
	mkdir -p "$out"
	give "$out"
	# from 16 on, expected files are not looked for beside the input
	if "$program" --help | grep -q -e --expecteddir
	then
		set -- --expecteddir="$input" "$@"
	fi
	(cd "$out" && as_server env HOME="$out" "$program" \
		--inputdir="$input" --outputdir="$out" --bindir="$DP_BIN" \
		--temp-instance="$out/i" --temp-config="$in/test/tools/temp.conf" \
		--no-locale --encoding=UTF8 --dbname="dp_$suite" --load-extension=dp_cdp "$@")
	rc=$?
	if [[ $rc != 0 ]]
	then
		head -n 300 "$out/regression.diffs" 2>/dev/null || tail -n 40 "$out/log/postmaster.log"
	fi
	no_assertion_failed $rc "$out"/log/*.log
	rc=$?
	rm -rf "$DP_LOGS/$suite"
	mkdir -p "$DP_LOGS/$suite"
	cp -R "$out/results" "$out/regression.diffs" "$out/log" "$DP_LOGS/$suite/" 2>/dev/null
	rm -rf "$out"
	return $rc
}

# names of files without their endings
names()
{
	local f

	for f in "$@"
	do
		f=${f##*/}
		echo "${f%.*}"
	done
}

case $suite in
	layers)
		one_test 'who includes and calls whom in src/' bash "$tools/check_layers.sh"
		;;
	docs)
		one_test 'what the documentation names is there' bash "$tools/check_docs.sh"
		;;
	symbols)
		one_test 'exported names bear the prefix' bash "$tools/check_symbols.sh" "$DP_LIB/dp_cdp.so" "$DP_LIB/dp_cdp_primary.so"
		;;
	unit)
		make -s -C "$DP_TOP/test/unit" "check-$file"
		;;
	dist)
		bash "$tools/check_dist.sh"
		;;
	verify)
		bash "$tools/check_verify.sh"
		;;
	demo)
		one_test "the demo's sessions" bash "$DP_TOP/test/demo/demo.sh" check
		;;
	citus)
		if [[ -n ${CITUS_SOURCE-} ]]
		then
			bash "$tools/check_citus.sh"
		else
			echo '1..0 # skip CITUS_SOURCE names no source tree of Citus (make check-citus)'
		fi
		;;
	regress)
		[[ $# -gt 0 ]] || set -- $(names "$DP_TOP"/sql/!(dp_cdp--*).sql)
		run_pg_regress "$DP_PGXS/src/test/regress/pg_regress" "$in" "$@"
		;;
	isolation)
		[[ $# -gt 0 ]] || set -- $(names "$DP_TOP"/test/isolation/specs/*.spec)
		run_pg_regress "$DP_PGXS/src/test/isolation/pg_isolation_regress" "$in/test/isolation" "$@"
		;;
	pgtap)
		# statements are shown, so that a failure is read with its own
		own_cluster || exit 1
		at_cluster "$DP_BIN/psql" -X -q -e -A -t -v ON_ERROR_STOP=1 -f "test/pgtap/$file" 2>&1
		end_clusters $? "$dir"
		;;
	attacks)
		own_cluster attacks || exit 1
		# another copy is its standby, if it is started
		mkdir "$dir/standby" && cp -R "$DP_WORK/attacks/data" "$dir/standby/" && give "$dir/standby" || exit 1
		at_cluster python3 test/attacks/run.py "test/attacks/$file"
		end_clusters $? "$dir" "$dir/standby"
		;;
	t)
		# PostgreSQL's own harness, which makes clusters as it needs them
		out=$DP_WORK/t.$file
		mkdir -p "$out"
		give "$out"
		(cd "$out" && as_server env HOME="$out" TMPDIR="$out" TESTDIR="$out" PATH="$in/test/t/bin:$PATH" TESTDATADIR="$out/tmp_check" \
			TESTLOGDIR="$out/tmp_check/log" PG_REGRESS="$DP_PGXS/src/test/regress/pg_regress" \
			PERL5LIB="$DP_PGXS/src/test/perl:$in/test/t" perl "$in/test/t/$file")
		rc=$?
		# the last of it is what the program said as it ended
		if [[ $rc != 0 ]]
		then
			tail -n 20 "$out"/tmp_check/log/*.log 2>/dev/null | sed 's/^/# /'
			tail -q -n 20 "$out"/tmp_check/log/regress_log_* 2>/dev/null | sed 's/^/# /'
		fi
		as_server bash -c 'for d in "$1"/tmp_check/*/pgdata; do [[ ! -f $d/postmaster.pid ]] || pg_ctl -s -D "$d" -m immediate stop; done' - "$out" >/dev/null 2>&1
		no_assertion_failed $rc "$out"/tmp_check/log/*.log
		rc=$?
		rm -rf "$out"
		exit $rc
		;;
	stat)
		own_cluster || exit 1
		at_cluster python3 "test/stat/$file"
		end_clusters $? "$dir"
		;;
	reference)
		# REFERENCE=write makes docs/reference/ anew (make reference)
		own_cluster || exit 1
		one_test 'docs/reference/ is what the catalogue says' env PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=test \
			PATH="$DP_BIN:$PATH" python3 "$tools/reference.py" "${REFERENCE:-check}"
		end_clusters $? "$dir"
		;;
	readme)
		# README.md and docs/: the SQL examples of a part
		own_cluster plain || exit 1
		at_cluster python3 test/tools/readme_test.py "$file" "$@"
		end_clusters $? "$dir"
		;;
	*)
		echo "run_file.sh: there is no suite \"$suite\"" >&2
		exit 2
		;;
esac
