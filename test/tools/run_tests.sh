#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# run_tests.sh
#	  Installs what is lacking, builds dp_cdp into a private server, and runs test
#	  files: those of "make test", with DP_TEST_ALL=1 all that there are.  The last
#	  line is "N passed, N failed[, N skipped]".
#
# ONLY="regress t/upgrade.pl" runs these alone: whole suites, or single files.
# ASSERT=1 runs them on a server with assertions (assert_server.sh), PG_SOURCE=dir
# on one that is built of these sources, with assertions.
# test_files.py has the suites, schedule.py runs the files and says what else is
# asked of it, and run_file.sh runs one.  Logs stay in build/test.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tools=$DP_TOP/test/tools
exec </dev/null
DP_BEGUN=$(date +%s)

bash "$tools/deps.sh" test || exit 1
chosen=$(python3 "$tools/test_files.py" list) || exit 1
dp_server_tree || exit 1
if [[ -n ${ASSERT-} ]]
then
	. "$tools/assert_server.sh"
	dp_assert_server || exit 1
fi

echo "on $("$DP_BIN/postgres" --version)"
# In memory, where there is room for it: thousands of files come and go.
memory=
if [[ $(df --output=avail -B1G /dev/shm 2>/dev/null | tail -n 1) -ge 8 &&
	  $(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) -ge 12000000 ]] && ! findmnt -n -o OPTIONS -T /dev/shm | grep -q noexec
then
	memory=/dev/shm
fi
DP_WORK=$(dp_scratch test $memory) || exit 1
DP_LOGS=$DP_BUILD/test
mkdir -p "$DP_LOGS"
cleanup()
{
	local d

	trap - EXIT INT TERM
	for d in $(find "$DP_WORK" -name postmaster.pid 2>/dev/null)
	do
		as_server "$DP_BIN/pg_ctl" -s -D "$(dirname "$d")" -m immediate stop >/dev/null 2>&1
	done
	rm -rf "$DP_WORK"
}
trap cleanup EXIT
runner=
trap '[[ -z $runner ]] || { kill -TERM "$runner"; wait "$runner"; }; exit 130' INT TERM HUP

# is a file run that matches the pattern?
chosen()
{
	grep -qE "^($1)$" <<<"$chosen"
}

# --------------------------------------------------------------------------
# build
# --------------------------------------------------------------------------

echo "building: a minute or two the first time"
begun=$SECONDS
# a sleep that is left behind holds no pipe open
( while sleep 20 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null
do
	echo "building: $(find "$DP_TOP/src" -name '*.o' | wc -l) of $(find "$DP_TOP/src" -name '*.c' | wc -l) files"
done ) &
life=$!
dp_build "$DP_LOGS/build.log"
rc=$?
kill "$life" 2>/dev/null
if [[ $rc != 0 ]]
then
	tail -n 60 "$DP_LOGS/build.log"
	echo "the extension could not be built; all that the compiler said: ${DP_LOGS#"$DP_TOP"/}/build.log"
	echo "0 passed, 1 failed"
	exit 1
fi
grep -i 'warning' "$DP_LOGS/build.log"
echo "built in $((SECONDS - begun)) seconds"
dp_readable_tree "$DP_WORK/tree" || exit 1

# --------------------------------------------------------------------------
# what some files need, and are skipped without
# --------------------------------------------------------------------------

# The server's user reads tests from a copy.
in=$DP_WORK/in
mkdir -p "$in"
cp -R "$DP_TOP/sql" "$DP_TOP/expected" "$DP_TOP/test" "$DP_TOP/docs" "$DP_TOP/README.md" "$in/"

# what all updates run
! chosen 't/upgrade.pl' || { sh "$DP_TOP/src/sql/compose.sh" update >"$in/update.sql" && export UPDATE_SCRIPT=$in/update.sql; }
if chosen 't/driver_.*'
then
	bash "$tools/deps.sh" drivers
	modules=$(bash "$tools/node_modules.sh")
	[[ -z $modules ]] || { cp -R "$modules" "$in/node_modules" && export NODE_PATH=$in/node_modules; }
fi
! chosen 't/example.pl' || bash "$tools/deps.sh" example
# without it pages are read, not shown
[[ -z ${DP_TEST_ALL-} ]] || ! chosen 't/(report|playground).pl' || bash "$tools/deps.sh" browser
! chosen 't/poolers.pl' || bash "$tools/deps.sh" pooler
[[ -z ${DP_TEST_ALL-} ]] || ! chosen 'dist' || bash "$tools/deps.sh" dist
# lets a test call the ledger's C functions from SQL
if chosen 't/ledger_kept.pl'
then
	"${CC:-cc}" -shared -fPIC -O1 -Wall -Werror -I"$DP_TOP/src" -I"$("$DP_PG_CONFIG" --includedir-server)" \
		-o "$in/kept_test.so" "$DP_TOP/test/kept/kept_test.c" && export KEPT_TEST=$in/kept_test.so
fi
# logs what becomes of every statement: make golden
[[ -z ${GOLDEN-} ]] || dp_golden "$in" || exit 1
give "$in"
data=${DP_CDP_DATA-}
if [[ -r $data/adult.csv ]]
then
	export DP_CDP_DATA=$data
else
	unset DP_CDP_DATA
fi

# --------------------------------------------------------------------------
# clusters to copy: with a database "test" as it is new, and with extensions in it
# --------------------------------------------------------------------------

# to copy large segments of WAL takes longer than many a test
DP_INITDB_OPTIONS=--wal-segsize=1
if chosen '(pgtap|attacks|stat|readme)/.*|reference'
then
	dp_initdb "$DP_WORK/plain" "$tools/temp.conf" ${GOLDEN:+"$in/golden.conf"} && dp_start "$DP_WORK/plain" &&
		dp_psql "$DP_WORK/plain" -d postgres -c "CREATE DATABASE test" && dp_stop "$DP_WORK/plain" || exit 1
	cp -R "$DP_WORK/plain" "$DP_WORK/template" && give "$DP_WORK/template" && chmod -R go-rwx "$DP_WORK/template/data" &&
		dp_start "$DP_WORK/template" &&
		dp_psql "$DP_WORK/template" -d test -c "SET client_min_messages = warning" -c "CREATE EXTENSION pgtap" -c "CREATE EXTENSION dp_cdp" &&
		dp_stop "$DP_WORK/template" || exit 1
fi
# with the fixture of attacks
if chosen 'attacks/.*'
then
	mkdir "$DP_WORK/attacks" && cp -R "$DP_WORK/plain/data" "$DP_WORK/attacks/" && give "$DP_WORK/attacks" &&
		echo "shared_preload_libraries = 'pg_stat_statements, dp_cdp'" >>"$DP_WORK/attacks/data/postgresql.conf" && dp_start "$DP_WORK/attacks" &&
		(cd "$in" && as_server env PATH="$DP_BIN:$PATH" PGHOST="$DP_WORK/attacks" PGUSER=postgres python3 test/attacks/run.py fixture) &&
		dp_stop "$DP_WORK/attacks" || exit 1
fi

export DP_BUILT=yes DP_TOP DP_BIN DP_TREE DP_LIB DP_PG_CONFIG DP_PGXS DP_WORK DP_LOGS DP_BEGUN
export PATH=$DP_BIN:$PATH
export HOME=$DP_WORK
# in the background, since bash runs no trap while it waits for what is not
python3 "$tools/schedule.py" &
runner=$!
wait "$runner"
