# Bytes that a release writes to temporary files: one line in the server's log, a
# number for owners and monitors, and nothing for an analyst, hardened or not.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', conf => "hash_mem_multiplier = 1\nlog_temp_files = 0\nmin_parallel_table_scan_size = 0\nparallel_setup_cost = 0\n");
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE dba LOGIN;
CREATE ROLE ana LOGIN;
CREATE ROLE monitor LOGIN;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
GRANT SELECT ON dp_cdp.metrics TO monitor;
GRANT CREATE ON SCHEMA public TO dba;
SET SESSION AUTHORIZATION dba;
SELECT dp_cdp.create_dataset(d, max_groups => 2, max_rows => 2) FROM unnest('{many,few}'::text[]) d;
CREATE TABLE many AS SELECT p AS unit, p % 7 AS k FROM generate_series(1, 30000) p, generate_series(1, 2);
CREATE TABLE few AS SELECT * FROM many WHERE unit <= 100;
SELECT dp_cdp.protect_table('many', 'many', 'unit'), dp_cdp.protect_table('few', 'few', 'unit');
SELECT dp_cdp.set_keys(t, 'k', ARRAY[0, 1, 2, 3, 4, 5, 6]), dp_cdp.set_budget(t::text, 'ana', rho => 1000) FROM unnest('{many,few}'::regclass[]) t;
ANALYZE;
EOC

my $little = "SET work_mem = '64kB'; SET client_min_messages = log;";

# what an analyst sees before and after: counters of the database, his views, and what he may call
my $seen = <<'EOC';
SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = current_database();
SELECT dp_cdp.spilled_bytes('many') IS NULL, dp_cdp.spilled_bytes('few') IS NULL;
SELECT dataset, rho_limit, rho_remaining IS NULL, owner FROM dp_cdp.datasets ORDER BY dataset;
EOC

sub as
{
	my ($role, $sql) = @_;
	my ($status, $out, $err) = $node->psql('test', $sql, extra_params => [ '-U', $role ]);

	is($status, 0, "$role is answered") or diag($err);
	unlike($err, qr/temporary|bytes/, '... and told nothing of files');
	return $out;
}

# the lines about temporary files that a query of an analyst leaves in the log
sub lines
{
	my ($workers, $table, $how) = @_;
	my $from = -s $node->logfile;

	as('ana', "$little SET max_parallel_workers_per_gather = $workers; " . ($how // '') . "SELECT k, dp_count(*) FROM $table GROUP BY k");
	return [ slurp_file($node->logfile, $from) =~ /LOG:  (.*temporary file.*)/g ];
}

sub spilled
{
	return as('monitor', q{SELECT string_agg(dataset || ' ' || role || ' ' || (spilled_bytes > 0), ', ' ORDER BY dataset, role) FROM dp_cdp.metrics});
}

# the server is not hardened
$node->safe_psql('test', 'SELECT pg_stat_reset()');
my $before = as('ana', $seen);
like($before, qr/^0\|0\nt\|t\n/, 'nothing was written yet, and an analyst is not told');
is(spilled(), 'few  false, few ana false, many  false, many ana false', '... nor a monitor of anything');

my $sum = 0;
foreach my $workers (0, 2)
{
	my $said = lines($workers, 'many');

	is(scalar(@$said), 1, "$workers workers: one line") or diag("@$said");
	like($said->[0], qr/^private query wrote \d+ bytes to temporary files$/, '... of all files');
	$sum += $said->[0] =~ /(\d+)/ ? $1 : 0;
	is(as('dba', q{SELECT dp_cdp.spilled_bytes('many'), dp_cdp.spilled_bytes('few')}), "$sum|0", '... and the owner sees the sum');
}
cmp_ok($sum, '>', 1_000_000, 'of which each row is a part');
is_deeply(lines(0, 'few', q{SET work_mem = '4MB'; }), [], 'rows that memory holds leave no line');
is(spilled(), 'few  false, few ana false, many  true, many ana false', 'a monitor sees the sum of the dataset');

# log_temp_files means the sum
my $one = ($sum / 2 / 1024) >> 0;
my $least = int($one / 2);
$node->safe_psql('test', "ALTER ROLE ana SET log_temp_files = $least");
is(scalar(@{ lines(0, 'many') }), 1, 'a sum above log_temp_files is told');
$node->safe_psql('test', 'ALTER ROLE ana SET log_temp_files = ' . 2 * $one);
is_deeply(lines(0, 'many'), [], '... one below it is not');
$node->safe_psql('test', 'ALTER ROLE ana SET log_temp_files = -1');
is_deeply(lines(0, 'many'), [], '... nor any where it is off');
$node->safe_psql('test', 'ALTER ROLE ana RESET log_temp_files');
is(as('ana', "$little SELECT dp_count(*) > 0 FROM many; SHOW log_temp_files"), "t\n0", 'the setting is as it was');

# PostgreSQL's own nodes have no other line, and the query's own ones keep theirs
is(scalar(@{ lines(0, 'many', 'SET enable_hashagg = off; ') }), 1, 'sorts of the run are in its line');
my $from = -s $node->logfile;
as('ana', "SET work_mem = '64kB'; SELECT count(*) FROM (SELECT i FROM generate_series(1, 100000) i ORDER BY -i OFFSET 1) s");
like(slurp_file($node->logfile, $from), qr/LOG:  temporary file: path/, 'files of other queries are told as ever');

# the analyst's counters hold what he has just written himself, and nothing of the releases
my $theirs = value($node, 'test', q{SELECT pg_stat_force_next_flush(); SELECT temp_files, temp_bytes < 1e7 FROM pg_stat_database WHERE datname = current_database()});
like($theirs, qr/^[12]\|t$/m, 'pg_stat_database counts the files of that query alone');
unlike(as('ana', $seen), qr/\|f$/m, 'an analyst is not told of any sum');
is((split /\n/, as('ana', $seen), 2)[1], (split /\n/, $before, 2)[1], 'and sees what he saw');
my ($status, $out, $err) = $node->psql('test', 'SELECT spilled_bytes FROM dp_cdp.metrics', extra_params => [ '-U', 'ana' ]);
like($err, qr/permission denied for view metrics/, 'nor may he read metrics');

# what a dataset of that name is that is made anew
$node->safe_psql('test', <<'EOC');
SELECT dp_cdp.unprotect_table('many');
SELECT dp_cdp.drop_budget('many', 'ana');
SELECT dp_cdp.drop_dataset('many', erase_spent => true);
SELECT dp_cdp.create_dataset('many');
EOC
is(value($node, 'test', q{SELECT dp_cdp.spilled_bytes('many')}), '0', 'begins with nothing');

done_testing();
