#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_citus.sh
#	  Releases from distributed tables, on a coordinator and two workers.
#
# CITUS_SOURCE names an unpacked source tree of Citus (13 for PostgreSQL 15).
# It is copied and built below build/citus, against the private server, and
# installed into a copy of that, so that no other test has it.  The files of test/citus run, those of
# test/attacks on a coordinator and on a worker, and the commands of docs/howto/run-on-citus.md.  Each has a cluster of its own,
# which is thrown away.  CITUS_ONLY="releases a_raw_rows" runs test/citus/releases.sql and test/attacks/a_raw_rows.sql alone.
# CITUS_BENCH=1000000 measures instead (test/bench/distributed.py), on tables of so
# many rows over 1, 2, 4 ... of CITUS_WORKERS workers.
# Ends with the line "N passed, N failed".
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null

source=${CITUS_SOURCE-}
workers=${CITUS_WORKERS:-2}
if [[ ! -d $source/src/backend/distributed ]]
then
	echo "check_citus.sh: CITUS_SOURCE=\"$source\" is no source tree of Citus; set it to one" >&2
	exit 1
fi
source=$(cd "$source" && pwd -P)

bash "$DP_TOP/test/tools/deps.sh" test || exit 1
bash "$DP_TOP/test/tools/deps.sh" citus || exit 1
dp_server_tree || exit 1
citus=$DP_BUILD/citus
mkdir -p "$citus"

# --------------------------------------------------------------------------
# Citus
# --------------------------------------------------------------------------

# Its header for PostgreSQL 15 defines a function that 15 has since a minor version of it.
guard_header()
{
	local header=src/include/pg_version_compat.h

	awk '/^static inline bool$/ { held = $0; next }
		 held != "" { if (/^have_createdb_privilege\(void\)/) { print "#if PG_VERSION_NUM < 150015"; inside = 1 }
					  print held; held = "" }
		 { print }
		 inside && /^}/ { print "#endif"; inside = 0 }' $header >$header.new && mv $header.new $header
}

build_citus()
{
	if [[ $(cat "$citus/.from" 2>/dev/null) != "$source" ]]
	then
		echo "building Citus in ${citus#"$DP_TOP"/} (some minutes)"
		rm -rf "$citus/source" && mkdir -p "$citus/source" && cp -R "$source"/. "$citus/source/" || return 1
		(
			# a copy has the order of files for times, and make would ask for autoconf
			cd "$citus/source" && touch configure &&
				if "$DP_PG_CONFIG" --version | grep -q ' 15'; then guard_header; fi &&
				./configure PG_CONFIG="$DP_PG_CONFIG" --without-libcurl --without-lz4 --without-zstd
		) >"$citus/build.log" 2>&1 || return 1
		echo "$source" >"$citus/.from"
	fi
	# of a tree without a repository git says what it does not know
	(
		cd "$citus/source" && nice make -s -j2 -C src/backend/columnar CFLAGS=-O2 with_llvm=no &&
			nice make -s -j2 -C src/backend/distributed CFLAGS=-O2 with_llvm=no
	) >>"$citus/build.log" 2>&1
}

# into the tree that the servers run from
install_citus()
{
	(
		cd "$citus/source" && make -s -C src/backend/columnar install PG_CONFIG="$DP_PG_CONFIG" with_llvm=no &&
			make -s -C src/backend/distributed install PG_CONFIG="$DP_PG_CONFIG" with_llvm=no
	) >"$citus/install.log" 2>&1
}

build_citus || { tail -n 20 "$citus/build.log" >&2; exit 1; }
dp_build "$citus/dp_cdp.log" || { tail -n 20 "$citus/dp_cdp.log" >&2; exit 1; }
work=$(dp_scratch citus) || exit 1
cleanup()
{
	local d

	trap - EXIT INT TERM
	for d in "$work"/*/
	do
		dp_stop "${d%/}" immediate
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
dp_copy_tree "$work/tree" || exit 1
install_citus || { tail -n 20 "$citus/install.log" >&2; exit 1; }

# --------------------------------------------------------------------------
# The cluster
# --------------------------------------------------------------------------

sed "s/^shared_preload_libraries.*/shared_preload_libraries = 'citus,pg_stat_statements,dp_cdp'/" \
	"$DP_TOP/test/tools/temp.conf" >"$work/conf"
cat >>"$work/conf" <<'EOF'
citus.node_conninfo = 'sslmode=disable'
citus.enable_statistics_collection = off
citus.shard_count = 4
max_worker_processes = 32
EOF
chmod a+r "$work/conf"

nodes=coordinator
for ((i = 1; i <= workers; i++)); do nodes+=" worker$i"; done

# what tests run from SQL, as the server's user: $WORK/node start worker1, $WORK/node stop worker1 immediate, $WORK/node kill worker1
cat >"$work/node" <<EOF
#!/bin/sh
case \$1 in
start) pid=\$(head -n 1 "$work/\$2/data/postmaster.pid" 2>/dev/null)
	# who was killed may be waited for by somebody
	while [ -n "\$pid" ] && kill -0 \$pid 2>/dev/null; do sleep 0.1; done
	exec "$DP_BIN/pg_ctl" -s -w -D "$work/\$2/data" -l "$work/\$2/log" -o "-c unix_socket_directories='$work/\$2' -c listen_addresses='' -c port=5432" start </dev/null >/dev/null 2>&1 ;;
stop) exec "$DP_BIN/pg_ctl" -s -w -D "$work/\$2/data" -m "\${3:-fast}" stop ;;
kill) pid=\$(head -n 1 "$work/\$2/data/postmaster.pid") && kill -9 \$pid \$(ps -o pid= --ppid \$pid) ;;
esac
EOF
chmod a+rx "$work/node"

new_cluster()
{
	local node

	for node in $nodes
	do
		dp_initdb "$work/$node" "$work/conf" && dp_start "$work/$node" || return 1
		dp_psql "$work/$node" -d postgres -c "CREATE DATABASE test" || return 1
		dp_psql "$work/$node" -d test -c "CREATE EXTENSION citus" || return 1
	done
	dp_psql "$work/coordinator" -d test -c "SELECT citus_set_coordinator_host('$work/coordinator', 5432)" >/dev/null || return 1
	for node in $nodes
	do
		[[ $node == coordinator ]] ||
			dp_psql "$work/coordinator" -d test -c "SELECT citus_add_node('$work/$node', 5432)" >/dev/null || return 1
	done
	mkdir "$work/new"
	for node in $nodes
	do
		dp_stop "$work/$node" && mv "$work/$node" "$work/new/" || return 1
	done
}

# a copy of the first one, at the same places; with the environment that tests run programs in from SQL
make_cluster()
{
	local node

	[[ -d $work/new ]] || new_cluster || return 1
	for node in $nodes
	do
		rm -rf "${work:?}/$node" && cp -a "$work/new/$node" "$work/" || return 1
	done
	for node in $nodes
	do
		WORK=$work PATH=$DP_BIN:$PATH dp_start "$work/$node" || return 1
	done
}

# what docs/howto/run-on-citus.md begins with: the roles and the table of its other pages, not yet distributed, and servers that are closed
make_clinic()
{
	local node

	for node in $nodes
	do
		# what a server has by default, and the third step of the page
		dp_psql "$work/$node" -d postgres -c "ALTER SYSTEM SET fsync = on" -c "ALTER SYSTEM SET full_page_writes = on" \
			-c "ALTER SYSTEM SET log_statement = 'none'" -c "ALTER SYSTEM SET log_min_duration_statement = -1" \
			-c "ALTER SYSTEM SET log_min_error_statement = panic" -c "SELECT pg_reload_conf()" >/dev/null &&
			dp_psql "$work/$node" -d postgres -c "CREATE DATABASE clinic" &&
			dp_psql "$work/$node" -d clinic -c "CREATE EXTENSION citus" || return 1
	done
	dp_psql "$work/coordinator" -d clinic -c "SELECT citus_set_coordinator_host('$work/coordinator', 5432)" >/dev/null || return 1
	for node in $nodes
	do
		[[ $node == coordinator ]] ||
			dp_psql "$work/coordinator" -d clinic -c "SELECT citus_add_node('$work/$node', 5432)" >/dev/null || return 1
	done
	dp_psql "$work/coordinator" -d clinic -f "$DP_TOP/test/citus/clinic.psql"
}

make_extensions()
{
	dp_psql "$work/coordinator" -d test -c "CREATE EXTENSION dp_cdp" \
		-c "SET citus.enable_ddl_propagation = off" -c "CREATE EXTENSION pgtap"
}

if [[ -n ${CITUS_BENCH-} ]]
then
	make_cluster && make_extensions || exit 1
	as_server env HOME="$work" PGHOST="$work/coordinator" PGPORT=5432 PGUSER=postgres WORK="$work" PATH="$DP_BIN:$PATH" \
		CITUS_BENCH="$CITUS_BENCH" CITUS_ROUNDS="${CITUS_ROUNDS:-5}" python3 "$DP_TOP/test/bench/distributed.py" | tee "$citus/bench.md"
	exit "${PIPESTATUS[0]}"
fi

# --------------------------------------------------------------------------
# Tests
# --------------------------------------------------------------------------

passed=0
failed=0
for file in "$DP_TOP"/test/citus/*.sql "$DP_TOP"/test/attacks/?_*.sql "$DP_TOP"/docs/howto/run-on-citus.md
do
	name=$(basename "${file%.*}")
	[[ -z ${CITUS_ONLY-} || " $CITUS_ONLY " == *" $name "* ]] || continue
	log=$citus/$name.log
	make_cluster || exit 1
	if [[ $file == *.md ]]
	then
		make_clinic || exit 1
		run=(python3 test/tools/readme_test.py commands "${file#"$DP_TOP"/}")
		for node in $nodes; do run+=("$node=$work/$node:5432"); done
	elif [[ $file == */citus/* ]]
	then
		make_extensions || exit 1
		run=("$DP_BIN/psql" -X -q -A -t -v ON_ERROR_STOP=1 -d test -f "${file#"$DP_TOP"/}")
	else
		run=(python3 test/attacks/run.py "${file#"$DP_TOP"/}" coordinator worker)
	fi
	(cd "$DP_TOP" && as_server env HOME="$work" PGHOST="$work/coordinator" PGPORT=5432 PGUSER=postgres WORK="$work" PATH="$DP_BIN:$PATH" \
		PYTHONDONTWRITEBYTECODE=1 timeout -k 10 "${TEST_TIMEOUT:-900}" "${run[@]}") >"$log" 2>&1
	ended=$?
	ok=$(grep -c '^ok ' "$log")
	bad=$(grep -c '^not ok ' "$log")
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log")
	if [[ ($ended != 0 && $bad == 0) || -z $planned || $((ok + bad)) != "$planned" ]]
	then
		bad=$((bad + 1))
		tail -n 20 "$log"
	fi
	grep -A 8 '^not ok ' "$log"
	echo "${file#"$DP_TOP"/test/}: $ok passed, $bad failed"
	passed=$((passed + ok))
	failed=$((failed + bad))
	for node in $nodes
	do
		if grep -E 'PANIC|TRAP|terminated by signal' "$work/$node/log" 2>/dev/null
		then
			echo "the log of $node has the above"
			failed=$((failed + 1))
		fi
		cp "$work/$node/log" "$citus/$name.$node.log"
		dp_stop "$work/$node" immediate
	done
done
echo "$passed passed, $failed failed"
[[ $failed == 0 && $passed != 0 ]]
