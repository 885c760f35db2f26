#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# other_versions.sh [version...]
#	  Builds and tests dp_cdp on other versions of PostgreSQL: on packages (16
#	  to 19, unless told otherwise), each in a release of Debian or Ubuntu that
#	  ships it; and on each source tree of PostgreSQL that PG_SOURCE names, built with
#	  assertions, here.
#
# With PG_SOURCE alone there are no chroots.  Chroots need root, debootstrap and
# network, hence this is not part of "make test"; see chroots.sh.  ASSERT=1
# builds the packaged versions of the chroots with assertions, too.  ONLY works
# as for "make test", which is run; DP_TEST_ALL=1 runs "make test-all".  Fails if
# a test fails or the compiler warns.
#
# At the end there is a row of a table for each version: what it was, what ran,
# and how many tests passed.
#
#-------------------------------------------------------------------------
set -u

sources=${PG_SOURCE-}
unset PG_SOURCE
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null

versions=("$@")
[[ ${#versions[@]} -gt 0 || -n $sources ]] || versions=(16 17 18 19)
[[ ${#versions[@]} == 0 ]] || . "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"
suites=${ONLY-}
run=test${DP_TEST_ALL:+-all}
mkdir -p "$DP_BUILD"
log=$(mktemp "$DP_BUILD/versions.XXXXXX")
trap 'rm -f "$log"' EXIT

result=0
rows=()

# $1: what was run on, $2: root of its build, $3: rc; after its tests, whose output is in the log
account()
{
	local server counts

	[[ $3 == 0 ]] || result=1
	if grep -i warning "$2/build/test/build.log"
	then
		echo "the compiler warns"
		result=1
	fi
	server=$(sed -n 's/^on postgres (PostgreSQL) \([^ ]*\).*/\1/p' "$log" | tail -n 1)
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
	rows+=("| ${server:-?} | $1 | ${suites:-make $run} | ${counts:-did not come to an end} |")
}

for version in ${versions[@]+"${versions[@]}"}
do
	echo "--- PostgreSQL $version"
	root=$(chroot_of "$version" "$chroots/$version.log") || { result=1; continue; }
	copy_sources "$root" dp_cdp

	inside "$root" env ONLY="$suites" ${DP_TEST_ALL:+DP_TEST_ALL=1} TEST_TIMEOUT="${TEST_TIMEOUT:-900}" PGMAJOR="$version" ${ASSERT:+ASSERT="$ASSERT"} \
		bash /src/dp_cdp/test/tools/run_tests.sh | tee "$log"
	rc=${PIPESTATUS[0]}
	account "$(distribution_of "$version")'s package${ASSERT:+, with assertions} ($(archive_of "$version"))" "$root/src/dp_cdp" "$rc"
done

for source in $sources
do
	echo "--- PostgreSQL in $source"
	PG_SOURCE=$source ONLY="$suites" bash "$DP_TOP/test/tools/run_tests.sh" | tee "$log"
	rc=${PIPESTATUS[0]}
	account "source, with assertions" "$DP_TOP" "$rc"
done

echo "| version | built from | run | tests |"
echo "|---|---|---|---|"
printf '%s\n' ${rows[@]+"${rows[@]}"}
exit $result
