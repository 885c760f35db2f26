#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_core.sh
#	  PostgreSQL's own regression and isolation suites with dp_cdp in the
#	  server: who protects nothing must not notice it.
#
# Three passes of each suite, each on a cluster of its own: "without" dp_cdp,
# with the library "preloaded", and with the "extension" in the database of
# the tests, too.  A test that fails without dp_cdp (packages differ from what
# the suite expects) must fail with the same output with it.  Any other
# difference is a failure, but those in test/core/expected_differences.
#
# The suites come from the source package of the server's version, which apt
# fetches with a configuration of its own below build/.  CORE_SOURCE names an
# unpacked source tree instead.  CORE_SUITES ("regress isolation") and
# CORE_PASSES ("preloaded extension") choose.  Logs stay in build/core.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null

suites=${CORE_SUITES:-regress isolation}
passes=${CORE_PASSES:-preloaded extension}
timeout=${TEST_TIMEOUT:-1800}	# seconds for one pass of a suite

bash "$DP_TOP/test/tools/deps.sh" test || exit 1
dp_server_tree || exit 1
core=$DP_BUILD/core
mkdir -p "$core"
major=$(dp_pg_major)
server=$("$DP_BIN/postgres" --version)

give_up()
{
	echo "check_core.sh: $1" >&2
	exit 1
}

# --------------------------------------------------------------------------
# The source
# --------------------------------------------------------------------------

# apt's sources, asking for source packages; the system's lists stay as they are
private_apt()
{
	local list parts f

	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	rm -rf "$core/apt"
	mkdir -p "$core/apt/parts" "$core/apt/lists/partial" "$core/apt/cache/archives/partial"
	for f in "$list" "${parts%/}"/*.list
	do
		[[ -f $f ]] || continue
		sed -nE 's/^[[:space:]]*deb(-src)?([[:space:]])/deb-src\2/p' "$f" >"$core/apt/parts/${f##*/}"
	done
	for f in "${parts%/}"/*.sources
	do
		[[ -f $f ]] || continue
		sed 's/^[Tt]ypes:.*/Types: deb-src/' "$f" >"$core/apt/parts/${f##*/}"
	done
	apt=(-q -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$core/apt/parts"
		 -o "Dir::State::lists=$core/apt/lists" -o "Dir::Cache=$core/apt/cache" -o "APT::Get::List-Cleanup=false")
	apt-get "${apt[@]}" update
}

# sets source to a tree with src/test, fetched at the first time
find_source()
{
	local own versions version log=$core/source.log tar

	source=${CORE_SOURCE-}
	if [[ -n $source ]]
	then
		[[ -f $source/src/test/regress/parallel_schedule ]] || give_up "\"$source\" is no source tree of PostgreSQL"
		return
	fi
	source=$core/source-$major
	[[ ! -f $source/.complete || $(cat "$source/.server") != "$server" ]] || return 0
	command -v apt-get >/dev/null || give_up "no apt-get here; unpack the sources of PostgreSQL $major and set CORE_SOURCE"
	private_apt >"$log" 2>&1 || give_up "apt cannot list source packages; see ${log#"$DP_TOP"/}"

	# the server's own version first, then its minor version, then the newest
	own=$(sed 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/' <<<"$server")
	versions=$(apt-cache "${apt[@]}" showsrc "postgresql-$major" 2>>"$log" | sed -n 's/^Version: *//p' | sort -ruV)
	[[ -n $versions ]] || give_up "apt knows no source package postgresql-$major; unpack its sources and set CORE_SOURCE"
	versions=$(awk -v server="$server" -v own="$own-" '
		{ rank = index(server, $0) ? 0 : index($0, own) == 1 ? 1 : 2; print rank, NR, $0 }' <<<"$versions" |
		sort -n -k1,1 -k2,2 | cut -d' ' -f3)
	rm -rf "$source"
	mkdir -p "$source"
	for version in $versions
	do
		rm -f "$core"/apt/postgresql-"$major"_*
		(cd "$core/apt" && apt-get "${apt[@]}" source --download-only "postgresql-$major=$version") >>"$log" 2>&1 || continue
		tar=$(ls "$core"/apt/postgresql-"$major"_*.orig.tar.* 2>/dev/null | grep -v '\.asc$' | head -n 1)
		[[ -n $tar ]] || continue
		tar -C "$source" --strip-components=1 --wildcards --no-same-owner -xf "$tar" \
			'*/src/test/regress' '*/src/test/isolation' >>"$log" 2>&1 || continue
		chmod -R a+rX "$source"
		echo "$server" >"$source/.server"
		echo "$version" >"$source/.complete"
		return
	done
	give_up "no source package of PostgreSQL $major could be fetched; see ${log#"$DP_TOP"/}, or set CORE_SOURCE"
}

# A minor version may change what psql does.  Sets client to a directory with
# the psql of the suite's version, if apt has it, else to that of the server.
find_client()
{
	local version dir=$core/client-$major

	client=$DP_BIN
	version=$(cat "$source/.complete" 2>/dev/null) || return 0
	[[ $server != *" ${version%-*}"* ]] || return 0
	if [[ $(cat "$dir/.complete" 2>/dev/null) != "$version" ]]
	then
		rm -rf "$dir"
		mkdir -p "$dir"
		(cd "$dir" && apt-get -q download "postgresql-client-$major=$version" && dpkg-deb -x ./*.deb .) \
			>>"$core/source.log" 2>&1 && echo "$version" >"$dir/.complete"
	fi
	if [[ -f $dir/.complete ]]
	then
		mkdir -p "$work/in/client"
		cp "$dir/usr/lib/postgresql/$major/bin/psql" "$work/in/client/" && client=$work/in/client
	fi
}

# --------------------------------------------------------------------------
# One pass
# --------------------------------------------------------------------------

# "name ok" or "name FAILED" for each test that a log of pg_regress reports, in any version's manner
read_log()
{
	awk '
		/^(not )?ok [0-9]+ +[-+] / { state = /^not/ ? "FAILED" : "ok"; sub(/^[^-+]*[-+] +/, ""); print $1, state }
		/^(test |     )[^ ]+ +\.\.\. / { print $(NF > 1 && $1 == "test" ? 2 : 1), / \.\.\. ok/ ? "ok" : "FAILED" }' "$1"
}

# suite, pass: leaves results, diffs and logs in $core/suite.pass
run_pass()
{
	local suite=$1 pass=$2 dir=$work/$1.$2 out=$core/$1.$2 input=$work/in/$1 program rc loaded
	local -a arguments

	dp_initdb "$dir" "$work/$pass.conf" && dp_start "$dir" || return 1
	mkdir -p "$dir/out"
	give "$dir/out"
	if [[ $suite == regress ]]
	then
		program=$DP_PGXS/src/test/regress/pg_regress
		arguments=(--schedule="$input/parallel_schedule" --dlpath="$work/in/lib" --max-concurrent-tests=20)
	else
		program=$DP_PGXS/src/test/isolation/pg_isolation_regress
		arguments=(--schedule="$input/isolation_schedule" --dbname=isolation_regression)
	fi
	[[ $pass != extension ]] || arguments+=(--load-extension=dp_cdp)
	# up to 15, expected files are looked for beside the input
	! "$program" --help | grep -q -e --expecteddir || arguments+=(--expecteddir="$input")
	# 14 has tablespaces outside the cluster
	! "$program" --help | grep -q -e --make-testtablespace-dir || arguments+=(--make-testtablespace-dir)

	(cd "$dir/out" && as_server env HOME="$dir" timeout -k 10 "$timeout" "$program" --inputdir="$input" \
		--outputdir="$dir/out" --bindir="$client" --host="$dir" --port=5432 --user=postgres \
		--encoding=UTF8 "${arguments[@]}") >"$dir/out/log" 2>&1
	rc=$?
	dp_psql "$dir" -d postgres -c "SHOW dp_cdp.rho" >/dev/null 2>&1
	loaded=$?
	dp_stop "$dir" || echo "the server did not stop" >>"$dir/log"
	rm -rf "$out"
	mkdir -p "$out"
	cp -R "$dir/out/." "$out/"
	cp "$dir/log" "$out/server.log"
	read_log "$out/log" >"$out/tests"
	rm -rf "$dir"
	[[ $rc == 0 || $rc == 1 ]] && [[ -s $out/tests ]] || { tail -n 20 "$out/log"; return 1; }
	if [[ $loaded == 0 && $pass == without || $loaded != 0 && $pass != without ]]
	then
		echo "dp_cdp is loaded, or not, against what the pass is for"
		return 1
	fi
	if grep -E 'terminated by signal|PANIC:|TRAP:' "$out/server.log"
	then
		return 1
	fi
}


# --------------------------------------------------------------------------
# Comparison
# --------------------------------------------------------------------------

# pass, test: is the output of the test with dp_cdp what test/core/expected_differences allows?
# 0: yes, 1: no, 2: nothing is said about this test
as_expected()
{
	local pass=$1 name=$2 rules

	rules=$(awk -v pass="$pass" -v name="$name" '
		$1 == pass && $2 == name { sub(/^[^ ]+ [^ ]+ /, ""); print "^" $0 "$" }' "$DP_TOP/test/core/expected_differences")
	[[ -n $rules ]] || return 2
	diff "$core/regress.without/results/$name.out" "$core/regress.$pass/results/$name.out" | grep '^[<>]' |
		sed -E 's/[0-9]+/N/g; s/-+/-/g; s/[[:space:]]+/ /g; s/ $//' >"$core/differences.$name"
	[[ -s $core/differences.$name ]] && ! grep -v -q -E -f <(echo "$rules") "$core/differences.$name"
}

# suite, pass: prints a line of counts, and every test that dp_cdp changed
compare()
{
	local suite=$1 pass=$2 base=$core/$1.without out=$core/$1.$2
	local name state before expected bad=0 passed=0 explained=0 alike=0

	while read -r name before
	do
		state=$(awk -v name="$name" '$1 == name { print $2 }' "$out/tests")
		expected=2
		if [[ $suite == regress ]]
		then
			as_expected "$pass" "$name"
			expected=$?
		fi
		if [[ $state == FAILED && $expected == 0 ]]
		then
			explained=$((explained + 1))
		elif [[ $state == ok && $expected == 2 ]]
		then
			passed=$((passed + 1))
		elif [[ $state == FAILED && $before == FAILED && $expected == 2 ]] &&
			cmp -s "$base/results/$name.out" "$out/results/$name.out"
		then
			alike=$((alike + 1))
		else
			echo "    $suite/$name: $before without dp_cdp, ${state:-missing} $pass; see ${out#"$DP_TOP"/}/regression.diffs"
			[[ $expected == 2 ]] || echo "        not the difference that test/core/expected_differences tells of"
			bad=$((bad + 1))
		fi
	done <"$base/tests"
	printf '%-9s %-9s %4d passed, %d failed because of dp_cdp, %d differ as expected, %d fail alike without; %d s\n' \
		"$suite" "$pass" $passed $bad $explained $alike $((SECONDS - start))
	failed=$((failed + bad))
}

# --------------------------------------------------------------------------

find_source
dp_build "$core/build.log" || { tail -n 40 "$core/build.log"; exit 1; }

work=$(dp_scratch core) || exit 1
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
dp_readable_tree "$work/tree" || exit 1

# the same settings in every pass, but for the library
sed -n '/^shared_preload_libraries/d; p' "$DP_TOP/test/tools/temp.conf" >"$work/without.conf"
sed -i '/^\(log_\)\?timezone\|^autovacuum_naptime/d' "$work/without.conf"
cp "$work/without.conf" "$work/preloaded.conf"
echo "shared_preload_libraries = 'dp_cdp'" >>"$work/preloaded.conf"
cp "$work/preloaded.conf" "$work/extension.conf"

mkdir -p "$work/in/lib"
cp -R "$source/src/test/regress" "$source/src/test/isolation" "$work/in/"
cp "$DP_LIB"/{autoinc,refint}.so "$work/in/lib/" 2>/dev/null
${CC:-gcc} -O1 -fPIC -shared -fwrapv -fno-strict-aliasing -I"$("$DP_PG_CONFIG" --includedir-server)" \
	-o "$work/in/lib/regress.so" "$source/src/test/regress/regress.c" >"$core/regress-build.log" 2>&1 ||
	{ tail -n 20 "$core/regress-build.log"; give_up "regress.so cannot be built"; }
find_client
give "$work/in"

echo "$server; suites of $(cat "$source/.complete" 2>/dev/null || echo "$source"); $("$client/psql" --version)"
failed=0
for suite in $suites
do
	for pass in without $passes
	do
		start=$SECONDS
		run_pass "$suite" "$pass" || give_up "$suite: the pass \"$pass\" came to no end; see ${core#"$DP_TOP"/}/$suite.$pass"
		if [[ $pass == without ]]
		then
			printf '%-9s %-9s %4d passed, %d failed; %d s\n' "$suite" "$pass" \
				$(grep -c ' ok$' "$core/$suite.$pass/tests") $(grep -c ' FAILED$' "$core/$suite.$pass/tests") $((SECONDS - start))
		else
			compare "$suite" "$pass"
		fi
	done
done
exit $((failed > 0))
