#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# kill_loop.sh
#	  Clients ask and are charged for minutes, while what serves them is killed.
#
# Makes a server with a clinic, and a script that starts it again;
# kill_loop.py does the rest.  CLIENTS (24) ask in each of its phases, which
# take PHASE (105) seconds.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
exec </dev/null

dp_server_tree && dp_build "$DP_BUILD/drills/kill_loop.build.log" || { cat "$DP_BUILD/drills/kill_loop.build.log"; exit 1; }
work=$(dp_scratch drill) || exit 1
trap 'dp_stop "$work" immediate; rm -rf "$work"' EXIT
dp_readable_tree "$work/tree" && dp_initdb "$work" "$DP_TOP/test/tools/temp.conf" && dp_start "$work" || exit 1

dp_psql "$work" -d postgres >/dev/null <<-'EOC' || exit 1
	CREATE EXTENSION dp_cdp;
	CREATE ROLE team;
	CREATE ROLE ana LOGIN IN ROLE team;
	CREATE ROLE bob LOGIN IN ROLE team;
	CREATE ROLE carl LOGIN;
	CREATE ROLE stranger LOGIN;
	GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO PUBLIC;
	CREATE TABLE visits (patient int NOT NULL, dept text, cost numeric);
	INSERT INTO visits SELECT i % 1000, 'dept ' || i % 5, i % 90 FROM generate_series(1, 20000) i;
	SELECT dp_cdp.create_dataset('clinic', rho => 1e6, default_rho => 0.001, max_failures => 1000000000);
	SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
	SELECT dp_cdp.set_bounds('visits', 'cost', 0, 90);
	SELECT dp_cdp.set_budget('clinic', r, rho => 1e6) FROM unnest('{team,ana,carl}'::regrole[]) r;
	ANALYZE;
EOC

cat >"$work/restart" <<-EOC
	#!/usr/bin/env bash
	. "$DP_TOP/test/tools/common.sh"
	dp_use_tree "$DP_TREE" "${DP_PG_CONFIG#"$DP_TREE"}"
	dp_start "$work"
EOC
PGHOST=$work PGPORT=5432 PGDATABASE=postgres PATH=$DP_BIN:$PATH \
	python3 "$DP_TOP/test/drills/kill_loop.py" "$work" "${CLIENTS:-24}" "${PHASE:-105}"
