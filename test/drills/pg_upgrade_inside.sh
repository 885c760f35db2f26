#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# pg_upgrade_inside.sh OLD NEW
#	  The part of pg_upgrade.sh that runs where both versions are installed.
#
# A clinic with two owners' datasets, spent budgets and an added function is
# made on the old version.  After pg_upgrade nothing is answered until one step,
# after.sql, was done; then balances, audit and policies are what they were, and
# what was closed is closed.  MODES="link" HARDENED="yes" choose.
#
#-------------------------------------------------------------------------
set -u

old=$1
new=$2
. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"

work=$(dp_scratch drill) || exit 1
declare -A tree config
failed=0

# what, command...
check()
{
	local what=$1

	shift
	if "$@"
	then
		echo "ok - $label: $what"
	else
		echo "not ok - $label: $what"
		failed=1
	fi
}

is()
{
	[[ $1 == "$2" ]] || { diff <(echo "$1") <(echo "$2"); false; }
}

like()
{
	[[ $1 =~ $2 ]] || { echo "$1 is not like $2"; false; }
}

use()
{
	dp_use_tree "${tree[$1]}" "${config[$1]}"
}

# role, SQL: its output or its error, SQLSTATE first
as()
{
	dp_psql "$cluster" -d "${3:-clinic}" -At -v VERBOSITY=verbose -v ON_ERROR_STOP=0 \
		-c "SET SESSION AUTHORIZATION $1" -c "$2" 2>&1 | grep -Ev '^(LOCATION|HINT|DETAIL)'
}

# what must come through
state()
{
	local database

	for database in clinic other
	do
		dp_psql "$cluster" -d $database -At -c 'SELECT * FROM dp_cdp.datasets ORDER BY 1' \
			-c 'SELECT * FROM dp_cdp.budgets ORDER BY 1, 2::text' \
			-c 'SELECT * FROM dp_cdp.releases ORDER BY id' \
			-c 'SELECT * FROM dp_cdp.protected ORDER BY 1::text' \
			-c "SELECT function FROM dp_cdp.allowed_functions() WHERE treatment = 'added'"
	done
}

# what is closed, by name, as an analyst meets it
closed()
{
	as ana "SELECT p.proname, has_function_privilege(p.oid, 'EXECUTE') FROM pg_proc p
			WHERE p.proname IN ('pg_stat_get_live_tuples', 'pg_relation_size', 'lo_create', 'pg_current_wal_lsn') ORDER BY 1, p.oid;
			SELECT has_column_privilege('pg_class', 'reltuples', 'SELECT'), has_column_privilege('pg_class', 'relname', 'SELECT')"
}

make_old()
{
	cluster=$work/old
	rm -rf "$cluster"
	dp_initdb "$cluster" "$DP_TOP/test/tools/temp.conf" && dp_start "$cluster" || return 1
	dp_psql "$cluster" -d postgres -c 'CREATE ROLE dba; CREATE ROLE lab; CREATE ROLE team; CREATE ROLE "Ana B" LOGIN IN ROLE team; CREATE ROLE ana LOGIN' \
		-c 'CREATE DATABASE clinic' -c 'CREATE DATABASE other'
	dp_psql "$cluster" -d clinic <<-'EOC'
		CREATE EXTENSION dp_cdp;
		GRANT CREATE ON SCHEMA public TO dba, lab;
		GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba, lab;
		SET ROLE dba;
		CREATE TABLE visits (patient int, dept text NOT NULL, cost numeric);
		INSERT INTO visits SELECT i, 'a', 1 FROM generate_series(1, 1000) i;
		CREATE VIEW answers AS SELECT dept, dp_count(*) FROM visits GROUP BY dept;
		GRANT SELECT ON answers TO team;
		SELECT dp_cdp.create_dataset('clinic', rho => 50, default_rho => 0.5);
		SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
		SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10);
		SELECT dp_cdp.set_keys('visits', 'dept', '{a,b}'::text[]);
		SELECT dp_cdp.set_budget('clinic', 'ana', rho => 2, period => '1 year');
		SELECT dp_cdp.set_budget('clinic', 'team', epsilon => 20, delta => 1e-6);
		RESET ROLE;
		SET ROLE lab;
		CREATE TABLE samples (donor int);
		SELECT dp_cdp.create_dataset('lab');
		SELECT dp_cdp.protect_table('samples', 'lab', 'donor');
		SELECT dp_cdp.set_budget('lab', 'ana', rho => 1);
		RESET ROLE;
		CREATE FUNCTION odd(i int) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN i % 2 = 1;
		SELECT dp_cdp.allow_function('odd(int)');
		SET SESSION AUTHORIZATION ana;
		SELECT dp_count(*) FROM visits;
		SELECT dp_count(*) FROM samples;
		SET SESSION AUTHORIZATION "Ana B";
		SELECT * FROM answers;
		SELECT dept, dp_sum(cost) FROM visits WHERE odd(patient) GROUP BY dept;
	EOC
	dp_psql "$cluster" -d other -c 'CREATE EXTENSION dp_cdp' -c "SELECT dp_cdp.create_dataset('empty')"
}

# mode: copy or link; hardened: yes or no
drill()
{
	local mode=$1 hardened=$2 before closed_before flags=() begin

	label="$old to $new, $mode$([[ $hardened == no ]] || echo ', hardened')"
	begin=$(date +%s)
	use "$old"
	make_old >/dev/null 2>"$work/make.err" || { cat "$work/make.err"; check 'the old server is made' false; return; }
	if [[ $hardened == yes ]]
	then
		dp_psql "$cluster" -d clinic -c 'SELECT dp_cdp.harden()' >/dev/null
	fi
	before=$(state)
	closed_before=$(closed)
	check 'budget was spent' like "$before" 'clinic\|ana\|2\|0.5\|'
	dp_stop "$cluster"
	# from 18 on a new cluster has checksums
	as_server "$DP_BIN/pg_checksums" --enable -D "$cluster/data" >/dev/null

	use "$new"
	rm -rf "$work/new"
	dp_initdb "$work/new" "$DP_TOP/test/tools/temp.conf" || return
	as_server "$DP_BIN/pg_checksums" --enable -D "$work/new/data" >/dev/null 2>&1
	[[ $mode == copy ]] || flags=(--link)
	mkdir -p "$work/run" && give "$work/run"
	(cd "$work/run" && as_server env HOME="$work" "$DP_BIN/pg_upgrade" -U postgres -b "${bin[$old]}" -B "${bin[$new]}" \
		-d "$work/old/data" -D "$work/new/data" "${flags[@]}") >"$work/pg_upgrade.log" 2>&1
	if [[ $? != 0 ]]
	then
		tail -n 40 "$work/pg_upgrade.log"
		find "$work/new/data/pg_upgrade_output.d" -name '*.log' -exec grep -lE 'ERROR|error:' {} + | while read -r log; do echo "$log"; grep -E -A 3 'ERROR|error:' "$log" | head -n 20; done
		check 'pg_upgrade' false
		return
	fi
	check 'pg_upgrade' true

	cluster=$work/new
	dp_start "$cluster"
	check 'nothing is answered before the step' like "$(as ana 'SELECT dp_count(*) FROM visits')" 'ZC003'
	check 'nor are rows' like "$(as ana 'SELECT * FROM visits')" 'ERROR'
	dp_psql "$cluster" -d clinic -c 'SELECT dp_cdp.adopt_ledger()' >/dev/null
	[[ $hardened == no ]] || dp_psql "$cluster" -d clinic -c 'SELECT dp_cdp.harden()' >/dev/null
	check 'balances, audit, policies and functions are what they were' is "$(state)" "$before"
	check 'what was closed is closed, what was open is open' is "$(closed)" "$closed_before"
	check 'an answer' like "$(as ana 'SELECT dp_count(*) FROM visits')" '^-?[0-9]+$'
	check 'it is charged' is "$(as ana "SELECT rho_spent FROM dp_cdp.budgets WHERE dataset = 'clinic'")" 1
	check 'a view answers' like "$(as '"Ana B"' 'SELECT * FROM answers')" 'a\|'
	check 'rows are refused' like "$(as ana 'SELECT * FROM visits')" 'ZC002'
	check 'nothing critical' is "$(as postgres "SELECT * FROM dp_cdp.check_setup() WHERE severity = 'critical'")" ''
	if [[ $hardened == yes ]]
	then
		check 'nothing that harden() would close is open' is "$(as postgres "SELECT * FROM dp_cdp.harden(apply => false)")" ''
	fi
	check 'a ledger that was never used asks for nothing' is "$(as postgres 'SELECT dp_cdp_internal.ledger_problem()' other)" ''
	dp_stop "$cluster"
	echo "# $label: $(($(date +%s) - begin)) s"
}

declare -A bin
for version in "$old" "$new"
do
	PGMAJOR=$version
	dp_server_tree || exit 1
	dp_build "$work/build.log" || { cat "$work/build.log"; echo "not ok - dp_cdp is not built for $version"; exit 1; }
	tree[$version]=$DP_TREE
	config[$version]=${DP_PG_CONFIG#"$DP_TREE"}
	bin[$version]=$DP_BIN
done

for mode in ${MODES:-copy link}
do
	for hardened in ${HARDENED:-no yes}
	do
		drill $mode $hardened
		dp_stop "$work/old" immediate
		dp_stop "$work/new" immediate
	done
done
rm -rf "$work"
exit $failed
