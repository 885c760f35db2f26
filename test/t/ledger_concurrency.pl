# Many at once: exact to the unit, whatever is done to rows and tables meanwhile, and
# several databases.

use strict;
use warnings;

use LedgerTest;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN');

# ---------------------------------------------------------------------------
# 64 clients, some thousand units: each gets some of the last
# ---------------------------------------------------------------------------

dataset($node, 'test', 'd');
my $units = by_run(5_000, 20_000);
budget($node, 'test', 'd', 'postgres', "$units * 1e-12");
my $answered = pgbench_run($node, 'test', q{SELECT dp_cdp.debit_budget('d', 0.000000000001);},
	'-c', 64, '-j', 2, '-t', 1000)->();
is($answered, $units, "64 clients get exactly $units units");
is(value($node, 'test', 'SELECT rho_limit = rho_spent FROM dp_cdp_internal.budget'), 't', 'the budget is spent exactly');
is(value($node, 'test', q{SELECT (rho_spent * 1e12)::int FROM dp_cdp_internal.dataset}), $units, 'the dataset agrees');
is(value($node, 'test', 'SELECT count(*) FILTER (WHERE granted) FROM dp_cdp_internal.release_log'), $units, 'the log agrees');
ok($node->poll_query_until('test', 'SELECT sum(repeats) FILTER (WHERE NOT granted) = 64 FROM dp_cdp_internal.release_log'), 'every client was refused once');
is(value($node, 'test', 'SELECT count(*) FILTER (WHERE NOT granted) FROM dp_cdp_internal.release_log'), '1', 'in one row');

# budgets of many roles, one cap
$node->safe_psql('test', <<'EOC');
SELECT dp_cdp.empty_ledger();
DO $$ BEGIN FOR i IN 1..20 LOOP EXECUTE 'CREATE ROLE r' || i; END LOOP; END $$;
EOC
dataset($node, 'test', 'm', '0.000000001');
budget($node, 'test', 'm', join(',', map { "r$_" } 1 .. 20), '0.0000000001');
$answered = pgbench_run($node, 'test',
	"\\set i random(1, 20)\nSET SESSION AUTHORIZATION r:i;\nSELECT dp_cdp.debit_budget('m', 0.000000000001);",
	'-c', 16, '-j', 2, '-t', 5000, '--max-tries=1', '-M', 'simple')->();
is(value($node, 'test', q{SELECT count(*) FROM dp_cdp_internal.budget WHERE rho_spent > rho_limit}), '0', 'no budget is overdrawn');
is(value($node, 'test', q{SELECT bool_and(b.rho_spent = coalesce(l.rho, 0)) FROM dp_cdp_internal.budget b LEFT JOIN
	(SELECT dataset, role, sum(rho) AS rho FROM dp_cdp_internal.release_log WHERE granted GROUP BY 1, 2) l USING (dataset, role)
	WHERE dataset = 'm'}), 't', 'each is what the log says');
is(value($node, 'test', q{SELECT sum(b.rho_spent) = max(d.rho_spent) FROM dp_cdp_internal.budget b JOIN dp_cdp_internal.dataset d ON d.name = b.dataset WHERE b.dataset = 'm'}),
	't', 'together they are what the dataset spent');

# ---------------------------------------------------------------------------
# Budgets that are changed meanwhile
# ---------------------------------------------------------------------------

dataset($node, 'test', 'busy');
budget($node, 'test', 'busy', 'postgres', 1000);
my $bench = pgbench_run($node, 'test', q{SELECT dp_cdp.debit_budget('busy', 0.000001);}, '-c', 8, '-j', 2, '-T', by_run(2, 4));
for (1 .. by_run(4, 15))
{
	# as set_budget would; and maintenance that moves rows
	$node->safe_psql('test', $_) for
		q{BEGIN; SELECT FROM dp_cdp_internal.budget WHERE dataset = 'busy' FOR UPDATE; SELECT pg_sleep(0.05); COMMIT},
		'VACUUM dp_cdp_internal.budget', 'VACUUM FULL dp_cdp_internal.budget', 'CLUSTER dp_cdp_internal.dataset USING dataset_pkey',
		'REINDEX TABLE dp_cdp_internal.release_log';
}
$answered = $bench->();
ok($answered > 100, 'debits go on while rows are locked and tables rewritten');
is(value($node, 'test', q{SELECT round(rho_spent / 0.000001) FROM dp_cdp_internal.budget WHERE dataset = 'busy'}), $answered, 'none is lost');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/^(?!.*(?:too many clients|privacy budget)).*(?:PANIC|FATAL|could not)/m, 'nothing odd in the log');

# another dataset does not wait for a locked one
dataset($node, 'test', 'other');
budget($node, 'test', 'other', 'postgres', 1000);
my $holder = hold_row($node, 'test', q{SELECT FROM dp_cdp_internal.budget WHERE dataset = 'busy' FOR UPDATE});
my $run = background($node, 'test', q{SELECT dp_cdp.debit_budget('busy', 1);});
wait_waiting($node, 'test', 1);
is(debit_error($node, 'test', 'postgres', q{SELECT dp_cdp.debit_budget('other', 1) FROM generate_series(1, 3)}), '', 'other datasets go on');
wait_waiting($node, 'test', 1);
release_row($node, $holder);
is(finish($run), '', 'and the one that was locked too, once it is free');

# ---------------------------------------------------------------------------
# Several databases
# ---------------------------------------------------------------------------

for my $db (qw(db1 db2))
{
	ledger_database($node, $db);
	dataset($node, $db, 'd');
	budget($node, $db, 'd', 'postgres', 1000);
}
my @bench = map { pgbench_run($node, $_, q{SELECT dp_cdp.debit_budget('d', 1);}, '-c', 4, '-t', 100) } qw(db1 db2);
is(join(' ', map { $_->() } @bench), '400 400', 'two databases at once');
is(join(' ', map { balance($node, $_, 'd', 'postgres') } qw(db1 db2)), '400 400', 'each in its own ledger');
is(value($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'}) >= 2, 1, 'with workers that idle');

$node->stop;
done_testing();
