#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# demo.sh [stop | check]
#	  A clinic, its administrator and three analysts on a throw-away server,
#	  and reports of its privacy budget as pages.
#
# Installs what the machine lacks, builds the extension, and shows the
# sessions below sessions/ as psql would.  The server stays up until
# "make demo-stop"; running the demo again replaces it.  "check" is for the
# tests: a smaller clinic, and the server is gone at the end.
#
# A statement that must fail is preceded by a comment line "-- Refused: ...";
# the demo fails when the errors are not exactly those.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
here=$DP_TOP/test/demo
record=$DP_BUILD/demo.dir
mode=${1:-show}

stop_demo()
{
	local dir

	dir=$(cat "$record" 2>/dev/null) || return 1
	if [[ $dir == /*/dp_demo.?????? && -d $dir ]]
	then
		"$dir"/stop
	fi
	rm -f "$record"
}

if [[ $mode == stop ]]
then
	if stop_demo
	then
		echo "The demo's server is stopped and its files are removed."
	else
		echo "There is no demo running."
	fi
	exit 0
fi

bash "$DP_TOP/test/tools/deps.sh" build || exit 1
dp_server_tree || exit 1
if [[ -n ${ASSERT-} ]]
then
	. "$DP_TOP/test/tools/assert_server.sh"
	dp_assert_server || exit 1
fi
mkdir -p "$DP_BUILD"
log=$DP_BUILD/demo-$mode.log
[[ $mode == check ]] || echo "building dp_cdp"
dp_build "$log" || { tail -n 40 "$log"; exit 1; }

[[ $mode == check ]] || stop_demo >/dev/null
dir=$(dp_scratch demo) || exit 1
trap 'dp_stop "$dir" immediate; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# The demo's server must outlive "make clean" and later builds: it gets its own copy.
if [[ $mode == check ]]; then dp_readable_tree "$dir/tree"; else dp_copy_tree "$dir/tree"; fi || exit 1
dp_initdb "$dir" "$here/demo.conf" && dp_start "$dir" || exit 1

visits=100000
patients=20000
[[ $mode != check ]] || { visits=20000; patients=4000; }
[[ $mode == check ]] || echo "generating a clinic: $visits visits of $patients patients"
dp_psql "$dir" -d postgres -v visits=$visits -v patients=$patients <"$here/clinic.sql" || exit 1

# as psql shows a session: role, file
session()
{
	printf '\n======== psql -U %s clinic ========\n\n' "$1"
	(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGUSER="$1" PGDATABASE=clinic PGAPPNAME=demo \
		PAGER= "$DP_BIN/psql" -X -a <"$here/sessions/$2" 2>&1) |
		awk '/^-- / && last != "" && last !~ /^-- / { print "" } { print; last = $0 }' 
}

transcript=$DP_BUILD/demo-$mode.txt
{
	session administrator 1_owner.sql
	session analyst 2_analyst.sql
	session partner 3_partner.sql
	session trainee 4_trainee.sql
	session administrator 5_audit.sql
} | tee "$transcript"

wanted=$(grep -c '^-- Refused' "$transcript")
seen=$(grep -c '^ERROR:' "$transcript")
# every refusal must follow its announcement
order=$(grep -E '^(-- Refused|ERROR:)' "$transcript" | cut -c1-2 | paste -sd ' ')
if [[ $seen != "$wanted" || $order =~ (ER ER|-- --) ]]
then
	echo
	echo "The demo did not go as planned: $wanted statements should have been refused, $seen were." >&2
	grep -E '(LOG|FATAL|PANIC):' "$dir/log" | sort -u -k5 | tail -n 10 >&2
	exit 1
fi

# Pages: of the clinic, and of a registry that has months behind it.
dp_psql "$dir" -d clinic -c "SET client_min_messages = error" -f - <"$here/history.sql" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
page()
{
	(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGUSER="$1" PGDATABASE=clinic \
		"$DP_BIN/psql" -AtXq -v ON_ERROR_STOP=1 -c "SELECT dp_cdp.report('$2')") >"$DP_BUILD/demo-$2.html" &&
		grep -q '^</html>\|</html>$' "$DP_BUILD/demo-$2.html" || { echo "no report of $2" >&2; exit 1; }
}
page administrator clinic
page registry_owner registry
[[ $mode == show ]] || exit 0

# leave the server up
cat >"$dir/stop" <<END
#!/bin/sh
# stops the server in this directory and removes the directory
cd / && $([[ $(id -u) != 0 ]] || echo runuser -u $DP_OS_USER --) $DP_BIN/pg_ctl -s -D $dir/data -m immediate stop
rm -rf $dir
END
chmod 755 "$dir/stop"
echo "$dir" >"$record"
psql=psql
command -v psql >/dev/null || psql=$DP_BIN/psql
trap - EXIT
cat <<END

The server is still running. To go on yourself:

    $psql -h $dir -U analyst clinic         (or administrator, partner, trainee)

Reports of privacy budgets, to be opened in a browser: the clinic's, and that of
a registry whose three months of questions are made up:

    $DP_BUILD/demo-clinic.html
    $DP_BUILD/demo-registry.html

To stop the server and remove everything it wrote:

    make demo-stop

To paste the examples of README.md or of docs/, make a database of your own on this
server. This is psql of its superuser there:

    $psql -h $dir -U postgres -c "CREATE DATABASE own"
    $psql -h $dir -U postgres own
END
