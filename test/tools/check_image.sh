#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_image.sh
#	  The image of the Dockerfile: built, run and asked by the commands of
#	  docs/howto/run-in-a-container.md, which must print what the page shows.
#
# Where no container engine runs, chroot_docker.sh takes the same steps in chroots.  Needs root there, debootstrap and network.
# Ends with the line "N passed, N failed".
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null

out=$DP_BUILD/image
mkdir -p "$out/bin"
rm -f "$out/bin/docker"
if ! docker info >/dev/null 2>&1
then
	echo "no container engine runs here: the steps are taken in chroots"
	printf '#!/bin/sh\nexec bash %s "$@"\n' "$DP_TOP/test/tools/chroot_docker.sh" >"$out/bin/docker"
	chmod a+x "$out/bin/docker"
fi
cd "$DP_TOP" && PATH=$out/bin:$PATH PYTHONDONTWRITEBYTECODE=1 timeout -k 10 3600 python3 test/tools/readme_test.py commands docs/howto/run-in-a-container.md >"$out/log" 2>&1
PATH=$out/bin:$PATH docker stop clinic >/dev/null 2>&1
grep -A 30 '^not ok ' "$out/log"
passed=$(grep -c '^ok ' "$out/log")
failed=$(grep -c '^not ok ' "$out/log")
echo "$passed passed, $failed failed; what was said is in ${out#"$DP_TOP"/}/log"
[[ $failed == 0 ]] && grep -q '^1\.\.' "$out/log"
