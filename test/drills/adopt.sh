#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# adopt.sh
#	  Adopting a large ledger: 10,000 roles in 100 teams, 1,000,000 rows.
#
# ROLES and ROWS change that; NAMELESS of the rows (50,000) do not say who paid,
# as if they had been put back by hand.  Fails when it takes longer than 20
# seconds, or when balances are not the sums of the log.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/../tools/common.sh"
exec </dev/null

roles=${ROLES:-10000}
rows=${ROWS:-1000000}
nameless=${NAMELESS:-50000}
dp_server_tree && dp_build "$DP_BUILD/drills/adopt.build.log" || { cat "$DP_BUILD/drills/adopt.build.log"; exit 1; }
work=$(dp_scratch drill) || exit 1
trap 'dp_stop "$work" immediate; rm -rf "$work"' EXIT
dp_readable_tree "$work/tree" && dp_initdb "$work" "$DP_TOP/test/tools/temp.conf" && dp_start "$work" || exit 1

begin=$(date +%s)
dp_psql "$work" -d postgres -v roles="$roles" -v rows="$rows" -v nameless="$nameless" <<-'EOC' || exit 1
	CREATE EXTENSION dp_cdp;
	SELECT set_config('drill.roles', :'roles', false) \g /dev/null
	DO $$ BEGIN
		FOR i IN 0 .. 99 LOOP EXECUTE format('CREATE ROLE team_%s', i); END LOOP;
		FOR i IN 1 .. current_setting('drill.roles')::int LOOP
			EXECUTE format('CREATE ROLE r_%s IN ROLE team_%s', i, i % 100);
		END LOOP;
	END $$;
	SELECT dp_cdp.create_dataset('d', rho => 1e5) \g /dev/null
	SELECT dp_cdp.set_budget('d', r.oid::regrole, rho => 1000) FROM pg_roles r WHERE r.rolname ~ '^(r|team)_' \g /dev/null
	CREATE TEMP TABLE who AS
		SELECT row_number() OVER () - 1 AS n, b.role, b.role_name, ARRAY[b.ledger_id, t.ledger_id, d.ledger_id] AS paid_by
		FROM dp_cdp_internal.budget b JOIN dp_cdp_internal.budget t ON t.role_name = 'team_' || (substr(b.role_name, 3)::int % 100), dp_cdp_internal.dataset d
		WHERE b.role_name ~ '^r_';
	ANALYZE who;
	INSERT INTO dp_cdp_internal.release_log (id, dataset, role, session_role, aggregates, rho, delta, granted, released_at,
			kind, role_name, session_role_name, paid_by)
		OVERRIDING SYSTEM VALUE
		SELECT i, 'd', w.role, w.role, 'dp_count(*)', 0.01, 0, true, now() - interval '1 day' + i * interval '1 ms',
			'granted', w.role_name, w.role_name, CASE WHEN i > :nameless THEN w.paid_by END
		FROM generate_series(1, :rows) i JOIN who w ON w.n = i % :roles;
	ANALYZE;
EOC

echo "# $roles roles in 100 teams and $rows rows: made in $(($(date +%s) - begin)) s"
begin=$(date +%s%N)
dp_psql "$work" -d postgres -c 'SELECT dp_cdp.adopt_ledger()' >/dev/null || echo 'not ok - adopted'
ms=$((($(date +%s%N) - begin) / 1000000))
echo "# adopted in $ms ms"
if ((ms < 20000)); then echo 'ok - adopted in less than 20 s'; else echo 'not ok - adopted in less than 20 s'; fi

answer()
{
	dp_psql "$work" -d postgres -At -c "$1"
}

# what, query that gives t
check()
{
	[[ $(answer "$2") == t ]] && echo "ok - $1" || echo "not ok - $1"
}

check 'members have what they spent' "SELECT sum(rho_spent) = 0.01 * $rows AND max(rho_spent) - min(rho_spent) <= 0.01
	FROM dp_cdp.budgets WHERE role::text ~ '^r_'"
check 'teams what their members spent' "SELECT sum(rho_spent) = 0.01 * $rows FROM dp_cdp.budgets WHERE role::text ~ '^team_'"
check 'the dataset all of it' "SELECT rho_spent = 0.01 * $rows FROM dp_cdp.datasets"
check 'the log goes on after its last row' "SELECT last_value = $rows AND is_called FROM dp_cdp_internal.release_log_id_seq"
