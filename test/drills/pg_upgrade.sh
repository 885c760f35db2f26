#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# pg_upgrade.sh
#	  A ledger goes through pg_upgrade: 15 to 17 and 17 to 18; files copied and
#	  linked; plain and hardened.  PAIRS="15-17" MODES="link" HARDENED="yes" choose.
#
# Both servers of a pair are in the chroot of the newer one, see chroots.sh;
# what happens there is in pg_upgrade_inside.sh.  Needs root, debootstrap and
# network; four minutes when the chroots are there.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
exec </dev/null
. "$DP_TOP/test/tools/chroots.sh"

read -ra pairs <<<"${PAIRS:-15-17 17-18}"

result=0
for pair in "${pairs[@]}"
do
	old=${pair%-*}
	new=${pair#*-}
	root=$(chroot_of "$new" "$chroots/$new.log") &&
		add_older_server "$old" "$root" >"$chroots/$pair.log" 2>&1 || { echo "not ok - no chroot with $old and $new"; result=1; continue; }
	copy_sources "$root" drills
	inside "$root" env MODES="${MODES-}" HARDENED="${HARDENED-}" bash /src/drills/test/drills/pg_upgrade_inside.sh "$old" "$new" || result=1
done
exit $result
