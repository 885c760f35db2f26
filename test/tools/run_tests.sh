#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# run_tests.sh
#	  Builds dp_cdp, runs every test there is, goes on after failures, and
#	  ends with the line "N passed, N failed[, N skipped]".
#
# Suites: layers docs symbols dist unit regress isolation pgtap attacks t stat
# readme verify demo.
# ONLY="regress t/crash.pl" runs these alone: whole suites, or single files.
# ASSERT=1 runs them on a server with assertions (assert_server.sh), PG_SOURCE=dir
# on one that is built of these sources, with assertions.
# Logs stay in build/test.  See test/README.md.
#
#-------------------------------------------------------------------------
set -u
shopt -s extglob

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tools=$DP_TOP/test/tools
exec </dev/null

passed=0
failed=0
skipped=0
jobs=$(nproc)
timeout=${TEST_TIMEOUT:-900}	# seconds that one file may take

bash "$tools/deps.sh" test || exit 1
dp_server_tree || exit 1
if [[ -n ${ASSERT-} ]]
then
	. "$tools/assert_server.sh"
	dp_assert_server || exit 1
fi

echo "on $("$DP_BIN/postgres" --version)"
work=$(dp_scratch) || exit 1
logs=$DP_BUILD/test
mkdir -p "$logs"
cleanup()
{
	local d

	trap - EXIT INT TERM
	for d in $(find "$work" -name postmaster.pid 2>/dev/null)
	do
		dp_stop "$(dirname "$(dirname "$d")")" immediate
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# is the suite, or one of its files, asked for?
wanted()
{
	local w

	[[ -n ${ONLY-} ]] || return 0
	for w in $ONLY
	do
		[[ $w == "$1" || $w == "$1"/* ]] && return 0
	done
	return 1
}

# the files of a suite that are asked for: suite, files...
chosen()
{
	local suite=$1 f w

	shift
	for f in "$@"
	do
		[[ -e $f ]] || continue
		for w in ${ONLY:-$suite}
		do
			if [[ $w == "$suite" || $w == "$suite/${f##*/}" || "$w.${f##*.}" == "$suite/${f##*/}" ]]
			then
				echo "$f"
				break
			fi
		done
	done
}

# suite, passed, failed, skipped
tally()
{
	passed=$((passed + $2))
	failed=$((failed + $3))
	skipped=$((skipped + $4))
	printf '%-10s %5d passed %5d failed' "$1" "$2" "$3"
	[[ $4 == 0 ]] || printf ' %5d skipped' "$4"
	printf '\n'
}

heading()
{
	printf -- '--- %s\n' "$1"
}

# one checking script: suite, command...
run_check()
{
	local suite=$1

	shift
	wanted "$suite" || return 0
	heading "$suite"
	if "$@" >"$logs/$suite.log" 2>&1
	then
		tally "$suite" 1 0 0
	else
		cat "$logs/$suite.log"
		tally "$suite" 0 1 0
	fi
}

# --------------------------------------------------------------------------
# build
# --------------------------------------------------------------------------

if ! dp_build "$logs/build.log"
then
	tail -n 60 "$logs/build.log"
	built=no
else
	grep -i 'warning' "$logs/build.log"
	built=yes
fi
# what only the test of updates needs; without it, too
former=
if [[ -n $(chosen t "$DP_TOP/test/t/upgrade.pl") ]]
then
	former=$(DP_TREE=$DP_TREE DP_PG_CONFIG=$DP_PG_CONFIG bash "$tools/former_versions.sh")
fi

dp_readable_tree "$work/tree" || exit 1

# what only the tests of client drivers need; without it they are skipped
modules=
if [[ -n $(chosen t "$DP_TOP"/test/t/driver_*.pl) ]]
then
	bash "$tools/deps.sh" drivers
	modules=$(bash "$tools/node_modules.sh")
fi

# what only the test of pages needs; without it they are read, not shown
[[ -z $(chosen t "$DP_TOP/test/t/report.pl") ]] || bash "$tools/deps.sh" browser

# what only the test of poolers needs; without it it is skipped
[[ -z $(chosen t "$DP_TOP/test/t/poolers.pl") ]] || bash "$tools/deps.sh" pooler

# The server's user reads tests from a copy.
mkdir -p "$work/in"
[[ -z $former ]] || { cp -R "$former" "$work/in/former" && export FORMER_VERSIONS=$work/in/former; }
[[ -z $modules ]] || { cp -R "$modules" "$work/in/node_modules" && export NODE_PATH=$work/in/node_modules; }
cp -R "$DP_TOP/sql" "$DP_TOP/expected" "$DP_TOP/test" "$DP_TOP/docs" "$DP_TOP/README.md" "$work/in/" 2>/dev/null
mkdir -p "$work/in/sql" "$work/in/expected"
# what lets a test call the ledger's C functions from SQL
if [[ -n $(chosen t "$DP_TOP/test/t/ledger_kept.pl") ]]
then
	"${CC:-cc}" -shared -fPIC -O1 -Wall -Werror -I"$DP_TOP/src" -I"$("$DP_PG_CONFIG" --includedir-server)" \
		-o "$work/in/kept_test.so" "$DP_TOP/test/kept/kept_test.c" && export KEPT_TEST=$work/in/kept_test.so
fi
give "$work/in"

export DP_TOP DP_BIN DP_TREE
export PATH=$DP_BIN:$PATH
export HOME=$work
data=${DP_CDP_DATA:-$DP_TOP/../shared/data}
if [[ -r $data/adult.csv ]]
then
	export DP_CDP_DATA=$data
else
	unset DP_CDP_DATA
fi

run_check layers bash "$tools/check_layers.sh"
run_check docs bash "$tools/check_docs.sh"

if [[ $built == no ]]
then
	echo "the extension could not be built; tests that need a server were not run"
	failed=$((failed + 1))
else
	run_check symbols bash "$tools/check_symbols.sh" "$DP_LIB/dp_cdp.so" "$DP_LIB/dp_cdp_primary.so"
fi

# A failed assertion fails the file that met it, whatever its tests said: result, logs...
no_assertion_failed()
{
	local rc=$1

	shift
	if grep -h -A 12 '^TRAP:' "$@" 2>/dev/null
	then
		echo "not ok - an assertion failed"
		return 1
	fi
	return $rc
}

# --------------------------------------------------------------------------
# TAP programs, a few at a time: each leaves "passed failed skipped" in a file
# --------------------------------------------------------------------------

# suite, counter, log: adds to the suite's sums and shows what failed
declare -i s_passed s_failed s_skipped
collect()
{
	local name=$1 log=$2 p f s

	read -r p f s <"$log.count" 2>/dev/null || { p=0; f=1; s=0; }
	s_passed+=$p; s_failed+=$f; s_skipped+=$s
	if [[ $f != 0 ]]
	then
		printf '%s: %d failed; its output is in %s\n' "$name" "$f" "${log#"$DP_TOP"/}"
		# what a program found stands before its "not ok", and pgTAP's diagnostics after it
		awk '/^ok/ { say = n = 0 } /^not ok/ { for (i = n > 30 ? n - 30 : 0; i < n; i++) print kept[i]; say = 15; n = 0 }
			say-- > 0 { print; next } !/^ok/ { kept[n++] = $0 }' "$log" | cut -c1-1000 | head -n 120 | sed 's/^/    /'
		grep -q '^not ok' "$log" || tail -n 30 "$log" | sed 's/^/    /'
	elif [[ $s != 0 ]]
	then
		grep -i '# *skip' "$log" | head -n 3 | sed "s|^|    $name: |"
	fi
}

# name of the runner function, suite, files...
run_files()
{
	local runner=$1 suite=$2 f
	local -a files

	shift 2
	wanted "$suite" || return 0
	mapfile -t files < <(chosen "$suite" "$@")
	[[ ${#files[@]} -gt 0 ]] || return 0
	heading "$suite"
	mkdir -p "$logs/$suite"
	s_passed=0; s_failed=0; s_skipped=0
	for f in "${files[@]}"
	do
		while [[ $(jobs -rp | wc -l) -ge $jobs ]]
		do
			wait -n
		done
		(
			log=$logs/$suite/${f##*/}.log
			"$runner" "$suite" "$f" >"$log" 2>&1
			rc=$?
			[[ $rc != 124 ]] || echo "stopped after $timeout seconds" >>"$log"
			awk -v rc=$rc -f "$tools/tap_count.awk" "$log" >"$log.count"
		) &
	done
	wait
	for f in "${files[@]}"
	do
		collect "$suite/${f##*/}" "$logs/$suite/${f##*/}.log"
	done
	tally "$suite" $s_passed $s_failed $s_skipped
}

# a cluster of its own for one file, copied from a template; sets dir
own_cluster()
{
	dir=$work/$1
	mkdir -p "$dir"
	cp -R "$work/template/data" "$dir/" && give "$dir" && chmod -R go-rwx "$dir/data" &&
		dp_start "$dir" && dp_psql "$dir" -d postgres -c "CREATE DATABASE test"
}

template()
{
	[[ -d $work/template/data ]] || dp_initdb "$work/template" "$tools/temp.conf"
}

run_pgtap()
{
	local dir rc

	own_cluster "pgtap.${2##*/}" || return 1
	dp_psql "$dir" -d test -c "SET client_min_messages = warning" -c "CREATE EXTENSION pgtap" \
		-c "CREATE EXTENSION dp_cdp" || return 1
	(cd "$work/in" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres \
		timeout -k 10 "$timeout" "$DP_BIN/psql" -X -q -A -t -v ON_ERROR_STOP=1 -d test -f "test/pgtap/${2##*/}")
	rc=$?
	if [[ $rc != 0 ]]; then tail -n 20 "$dir/log" | sed 's/^/# /'; fi
	dp_stop "$dir" immediate
	no_assertion_failed $rc "$dir/log"
	rc=$?
	rm -rf "$dir"
	return $rc
}

# test/attacks: a cluster and its standby for each file
run_attacks()
{
	local dir rc

	own_cluster "attacks.${2##*/}" || return 1
	dp_psql "$dir" -d postgres -c "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements', 'dp_cdp'" &&
		dp_stop "$dir" && dp_start "$dir" || return 1
	(cd "$work/in" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres \
		PYTHONDONTWRITEBYTECODE=1 timeout -k 10 "$timeout" python3 test/attacks/run.py "test/attacks/${2##*/}")
	rc=$?
	if [[ $rc != 0 ]]; then tail -n 20 "$dir/log" | sed 's/^/# /'; fi
	dp_stop "$dir/standby" immediate
	dp_stop "$dir" immediate
	no_assertion_failed $rc "$dir/log" "$dir"/standby/log
	rc=$?
	rm -rf "$dir"
	return $rc
}

# test/t: PostgreSQL's own harness, which makes clusters as it needs them
run_perl()
{
	local rc out=$work/t.${2##*/}

	mkdir -p "$out"
	give "$out"
	(cd "$out" && as_server env HOME="$out" TMPDIR="$out" TESTDIR="$out" TESTDATADIR="$out/tmp_check" \
		TESTLOGDIR="$out/tmp_check/log" PG_REGRESS="$DP_PGXS/src/test/regress/pg_regress" \
		PERL5LIB="$DP_PGXS/src/test/perl:$work/in/test/t" \
		timeout -k 10 "$timeout" perl "$work/in/test/t/${2##*/}")
	rc=$?
	if [[ $rc != 0 ]]; then tail -n 20 "$out"/tmp_check/log/*.log 2>/dev/null | sed 's/^/# /'; fi
	as_server bash -c 'for d in "$1"/tmp_check/*/pgdata; do [[ ! -f $d/postmaster.pid ]] || pg_ctl -s -D "$d" -m immediate stop; done' - "$out" >/dev/null 2>&1
	no_assertion_failed $rc "$out"/tmp_check/log/*.log
	rc=$?
	rm -rf "$out"
	return $rc
}

# test/stat: Python programs on a cluster of their own
run_stat()
{
	local dir rc

	own_cluster "stat.${2##*/}" || return 1
	dp_psql "$dir" -d test -c "CREATE EXTENSION dp_cdp" || return 1
	(cd "$work/in" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=test \
		PYTHONDONTWRITEBYTECODE=1 timeout -k 10 "$timeout" python3 "test/stat/${2##*/}")
	rc=$?
	dp_stop "$dir" immediate
	no_assertion_failed $rc "$dir/log"
	rc=$?
	rm -rf "$dir"
	return $rc
}

# README.md and docs/: every SQL example, in one database
run_readme()
{
	local dir rc

	own_cluster readme || return 1
	(cd "$work/in" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres PGDATABASE=test \
		PYTHONDONTWRITEBYTECODE=1 timeout -k 10 "$timeout" python3 test/tools/readme_test.py)
	rc=$?
	dp_stop "$dir" immediate
	no_assertion_failed $rc "$dir/log"
}

run_unit()
{
	timeout -k 10 "$timeout" make -s -C "$DP_TOP/test/unit" check
}

run_files run_unit unit "$DP_TOP/test/unit/Makefile"

# the archive for PGXN; without pgxn it is looked at, not installed
run_dist()
{
	timeout -k 10 "$timeout" bash "$tools/check_dist.sh"
}

if wanted dist
then
	bash "$tools/deps.sh" dist
	export DP_PG_CONFIG DP_LIB DP_PGXS
	run_files run_dist dist "$tools/dist.sh"
fi

# --------------------------------------------------------------------------
# pg_regress and isolation tests
# --------------------------------------------------------------------------

# suite, program, input directory, names of tests...
run_pg_regress()
{
	local suite=$1 program=$2 input=$3 rc log=$logs/$1.log p f
	local out=$work/$1

	shift 3
	heading "$suite"
	mkdir -p "$out"
	give "$out"
	# from 16 on, expected files are not looked for beside the input
	if "$program" --help | grep -q -e --expecteddir
	then
		set -- --expecteddir="$input" "$@"
	fi
	(cd "$out" && as_server env HOME="$out" timeout -k 10 $((timeout * 2)) "$program" \
		--inputdir="$input" --outputdir="$out" --bindir="$DP_BIN" \
		--temp-instance="$out/i" --temp-config="$work/in/test/tools/temp.conf" \
		--no-locale --encoding=UTF8 --dbname="dp_$suite" --load-extension=dp_cdp "$@") >"$log" 2>&1
	rc=$?
	p=$(grep -cE '^(ok [0-9]+|test .* \.\.\. ok|     .* \.\.\. ok)' "$log")
	f=$(grep -cE '^(not ok [0-9]+|test .* \.\.\. FAILED|     .* \.\.\. FAILED)' "$log")
	if [[ $f == 0 && $rc != 0 ]]
	then
		f=1
		tail -n 40 "$log"
		tail -n 40 "$out/log/postmaster.log" 2>/dev/null
	elif [[ $f != 0 ]]
	then
		grep -E '^(not ok|test .*FAILED|     .*FAILED)' "$log"
		head -n 300 "$out/regression.diffs" 2>/dev/null
	fi
	no_assertion_failed 0 "$out"/log/*.log || f=$((f + 1))
	rm -rf "$logs/$suite"
	mkdir -p "$logs/$suite"
	cp -R "$out/results" "$out/regression.diffs" "$out/log" "$logs/$suite/" 2>/dev/null
	rm -rf "$out"
	tally "$suite" "$p" "$f" 0
}

names()
{
	local f

	for f in $(chosen "$@")
	do
		f=${f##*/}
		echo "${f%.*}"
	done
}

if [[ $built == yes ]]
then
	if wanted regress
	then
		tests=$(names regress "$DP_TOP"/sql/!(dp_cdp--*).sql)
		[[ -z $tests ]] || run_pg_regress regress "$DP_PGXS/src/test/regress/pg_regress" "$work/in" $tests
	fi
	if wanted isolation
	then
		tests=$(names isolation "$DP_TOP"/test/isolation/specs/*.spec)
		[[ -z $tests ]] || run_pg_regress isolation "$DP_PGXS/src/test/isolation/pg_isolation_regress" \
			"$work/in/test/isolation" $tests
	fi
	template || exit 1
	run_files run_pgtap pgtap "$DP_TOP"/test/pgtap/*.sql
	run_files run_attacks attacks "$DP_TOP"/test/attacks/?_*.sql
	run_files run_perl t "$DP_TOP"/test/t/*.pl
	run_files run_stat stat "$DP_TOP"/test/stat/*.py
	run_files run_readme readme "$DP_TOP/README.md"
	run_check verify bash "$tools/check_verify.sh"
	run_check demo bash "$DP_TOP/test/demo/demo.sh" check
fi
# builds Citus, which is no part of this repository
if wanted citus
then
	heading citus
	if [[ -n ${CITUS_SOURCE-} ]]
	then
		bash "$tools/check_citus.sh" >"$logs/citus.log" 2>&1
		ended=$?
		tail -n 40 "$logs/citus.log"
		read -r ok bad <<<"$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$logs/citus.log" | tail -n 1)"
		[[ $ended == 0 || ${bad:-0} != 0 ]] || bad=1
		tally citus "${ok:-0}" "${bad:-0}" 0
	else
		echo "skipped: CITUS_SOURCE names no source tree of Citus (make check-citus)"
		tally citus 0 0 1
	fi
fi

# --------------------------------------------------------------------------

if [[ $skipped == 0 ]]
then
	echo "$passed passed, $failed failed"
else
	echo "$passed passed, $failed failed, $skipped skipped"
fi
[[ $failed == 0 && $passed -gt 0 ]]
