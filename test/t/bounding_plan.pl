# How the inner query of a release is planned where units are bounded: for one
# process, unless workers are many or the bounding node could not run it anyway.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE ana LOGIN;
SELECT dp_cdp.create_dataset('d', max_groups => 2, max_rows => 2);
SELECT dp_cdp.set_budget('d', 'ana', rho => 1000);
CREATE TABLE visits AS SELECT p AS unit, 'p' || p AS named, k, v
	FROM generate_series(1, 500) p, generate_series(0, 9) k, generate_series(1, 10) v;
CREATE TABLE persons AS SELECT p AS unit, p % 3 AS area FROM generate_series(1, 2000) p;
CREATE TABLE visits_named AS SELECT * FROM visits;
SELECT dp_cdp.protect_table(t, 'd', 'unit') FROM unnest('{visits,persons}'::regclass[]) t;
SELECT dp_cdp.protect_table('visits_named', 'd', 'named');
SELECT dp_cdp.set_keys(t, 'k', ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) FROM unnest('{visits,visits_named}'::regclass[]) t;
ANALYZE;
ALTER ROLE ana SET dp_cdp.rho = 1;
LOAD 'auto_explain';
ALTER SYSTEM SET session_preload_libraries = auto_explain;
ALTER SYSTEM SET auto_explain.log_min_duration = 0;
ALTER SYSTEM SET auto_explain.log_nested_statements = on;
ALTER SYSTEM SET parallel_setup_cost = 0;
ALTER SYSTEM SET min_parallel_table_scan_size = 0;
SELECT pg_reload_conf();
EOC

# the plan of the last private query that the log has since $from
sub inner_plan
{
	my ($workers, $sql) = @_;
	my $from = -s $node->logfile;

	$node->safe_psql('test', "SET max_parallel_workers_per_gather = $workers; $sql", extra_params => [ '-U', 'ana' ]);
	my @plans = split /plan:/, substr(slurp_file($node->logfile), $from);
	my ($inner) = grep { /Query Text: private query/ } @plans;
	return $inner // 'no plan of a private query is in the log';
}

my $counts = 'SELECT k, dp_count(*) FROM visits GROUP BY k';
my $plan = inner_plan(2, $counts);
like($plan, qr/Custom Scan \(DpBounding\)/, 'two workers: the node');
unlike($plan, qr/Gather|Workers Planned/, 'two workers: one process');
like(inner_plan(2, 'SELECT k, dp_count(*) FROM visits WHERE v < 3 GROUP BY k'),
	qr/Workers Planned: [12]/, 'a condition that few rows pass');
like(inner_plan(3, $counts), qr/Workers Planned: 3/, 'three workers');
like(inner_plan(2, 'SELECT k, dp_count(*) FROM visits_named GROUP BY k'),
	qr/Workers Planned: 2/, 'units of a type that the executor has to gather');
like(inner_plan(2, 'SELECT dp_count(*) FROM visits v JOIN persons p USING (unit) WHERE area = 1'),
	qr/Workers Planned: [12]/, 'a join');

done_testing();
