# A snapshot that somebody keeps open keeps every dead version of the rows that
# debits update.  Whoever prices, explains or debits must not walk them.

use strict;
use warnings;

use LedgerTest;
use Test::More;

my $node = ledger_node('main', conf => "max_worker_processes = 20\nautovacuum = off\n");
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE team;
CREATE ROLE ana LOGIN IN ROLE team;
CREATE TABLE visits (patient int);
INSERT INTO visits SELECT i FROM generate_series(1, 100) i;
SELECT dp_cdp.create_dataset('d', rho => 1000000, max_groups => 5, max_rows => 5);
SELECT dp_cdp.create_dataset('e', rho => 1000000, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'd', 'patient');
SELECT dp_cdp.set_budget('d', 'team', rho => 1000000);
SELECT dp_cdp.set_budget('d', 'ana', rho => 1000000);
SELECT dp_cdp.set_budget('e', 'ana', rho => 1000000);
EOC

# blocks of the two tables and their indexes that are visited for each EXPLAIN
sub explain_cost
{
	my ($n) = (20);
	my $blocks = q{SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) FROM pg_statio_user_tables
		WHERE schemaname = 'dp_cdp_internal' AND relname IN ('dataset', 'budget')};
	my $explain = 'EXPLAIN SELECT dp_count(*) FROM visits;';
	my $before = value($node, 'test', $blocks);
	$node->safe_psql('test', "SET SESSION AUTHORIZATION ana;\n" . $explain x ($n + 1));
	return (value($node, 'test', $blocks) - $before) / $n;
}

sub debits
{
	my ($dataset, $n) = @_;
	return pgbench_run($node, 'test', "SET SESSION AUTHORIZATION ana;\nSELECT dp_cdp.debit_budget('$dataset', 0.000001);",
		'-c', 8, '-j', 2, '-t', $n / 8, '-M', 'simple')->();
}

debits('d', 800);
my $few = explain_cost();
note sprintf('%.0f blocks for each EXPLAIN', $few);

my $holder = hold_row($node, 'test', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM visits');
my $n = $ENV{LONG_SNAPSHOT_DEBITS} || by_run(6000, 24000);
is(debits('d', $n), $n, 'debits under a long snapshot');
is(debits('e', $n / 3), $n / 3, 'and of another dataset');
cmp_ok(value($node, 'test', q{SELECT pg_relation_size('dp_cdp_internal.budget') / 8192}), '>', $n / 250, 'their dead versions are kept');
# statistics may come late on a busy machine: $few may be nothing, and $many have the worker's visits of debits that
# are over, which are not there when it is asked again; the dead ones are in hundreds of blocks
my $most = 2 * ($few > 33 ? $few : 33) + 20;
my $many;
for (1 .. 5)
{
	$many = explain_cost();
	note sprintf('%.0f blocks for each EXPLAIN', $many);
	last if $many < $most;
}
cmp_ok($many, '<', $most, 'EXPLAIN visits hardly more of them');

is(value($node, 'test', q{SET SESSION AUTHORIZATION ana; SELECT sum(rho_spent) FROM dp_cdp.budgets}), sprintf('%g', 0.000001 * (2 * (800 + $n) + $n / 3)), 'nothing is lost');

# a hint that is wrong: the tables are rewritten
$node->safe_psql('test', $_) for 'VACUUM FULL dp_cdp_internal.budget', 'CLUSTER dp_cdp_internal.dataset USING dataset_pkey';
my $explained = $node->safe_psql('test', 'SET SESSION AUTHORIZATION ana; EXPLAIN SELECT dp_count(*) FROM visits');
my $spent = 0.000001 * (800 + $n);
like($explained, qr/Budget: ana: @{[ 1000000 - $spent ]} of rho 1000000 remain/, 'EXPLAIN reads the balance where it is');
like($explained, qr/Budget: team: @{[ 1000000 - $spent ]} of rho 1000000 remain/, "the team's, too");
is(debits('d', 800), 800, 'debits go on');
release_row($node, $holder);
$node->safe_psql('test', 'VACUUM dp_cdp_internal.budget, dp_cdp_internal.dataset');
is(debits('d', 800), 800, 'and when places are used again');
$spent += 0.0016;
like($node->safe_psql('test', 'SET SESSION AUTHORIZATION ana; EXPLAIN SELECT dp_count(*) FROM visits'),
	qr/Budget: ana: @{[ 1000000 - $spent ]} of rho 1000000 remain/, 'each change is seen at once');

# settings are read as they are, in old transactions, too
my $connect = $node->connstr('test');
is($node->safe_psql('test', <<EOC), "0.01\n0.02", 'settings are those of the moment');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT rho FROM dp_cdp.preview('SELECT dp_count(*) FROM visits') WHERE item = 'aggregate';
\\! psql -XAtq -d "$connect" -c "SELECT dp_cdp.alter_dataset('d', default_rho => 0.02)" >/dev/null
SELECT rho FROM dp_cdp.preview('SELECT dp_count(*) FROM visits') WHERE item = 'aggregate';
EOC

$node->stop;
done_testing();
