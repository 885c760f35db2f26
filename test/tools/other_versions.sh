#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# other_versions.sh [version...]
#	  Builds and tests dp_cdp on other versions of PostgreSQL (17 and 18,
#	  unless told otherwise), each in a Debian release that ships it.
#
# Needs root, debootstrap and network, hence is not part of "make test"; see
# chroots.sh.  ONLY works as for "make test".  Fails if a test fails or the
# compiler warns.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null

. "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

versions=("$@")
[[ ${#versions[@]} -gt 0 ]] || versions=(17 18)
suites=${ONLY:-symbols unit regress isolation pgtap attacks t stat readme demo}

result=0
for version in "${versions[@]}"
do
	echo "--- PostgreSQL $version"
	root=$(chroot_of "$version" "$chroots/$version.log") || { result=1; continue; }
	copy_sources "$root" dp_cdp

	inside "$root" env ONLY="$suites" TEST_TIMEOUT="${TEST_TIMEOUT:-900}" PGMAJOR="$version" \
		bash /src/dp_cdp/test/tools/run_tests.sh || result=1
	if grep -qi warning "$root/src/dp_cdp/build/test/build.log"
	then
		echo "the compiler warns"
		result=1
	fi
done
exit $result
