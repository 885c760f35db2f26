# The ledger's worker is there before it is needed: it is started with the
# server, keeps its slot while parallel queries take all others, comes back when
# it was killed or had to go, and stands in nobody's way.

use strict;
use warnings;

use LedgerTest;
use Test::More;
use Time::HiRes qw(usleep);

my $workers = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'};
my $node = ledger_node('main', conf => <<EOC);
max_logical_replication_workers = 0
max_worker_processes = 6
max_parallel_workers = 6
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
EOC
for my $db (qw(test other empty bare))
{
	ledger_database($node, $db) unless $db eq 'bare';
}
$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->safe_psql('postgres', 'CREATE ROLE ana LOGIN');
# or a look at pg_stat_activity takes a slot for a moment, the very one that is missing then
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET max_parallel_workers_per_gather = 0');
clinic_database($node, $_) for qw(test other);
$node->safe_psql('empty', q{SELECT dp_cdp.create_dataset('nobody')});

# ---------------------------------------------------------------------------
# Started with the server
# ---------------------------------------------------------------------------

is(value($node, 'postgres', $workers), 0, 'no worker where nothing was debited yet');
$node->restart;
ok(wait_for_worker($node, $_), "the worker of $_ comes with the server") for qw(test other);
# the launcher has looked into all databases when no other worker has come for a while
my $quiet = 0;
for (1 .. 600)
{
	$quiet = value($node, 'postgres', $workers) == 2 ? $quiet + 1 : 0;
	last if $quiet == 5;
	usleep(100_000);
}
is(value($node, 'postgres', $workers), 2, 'databases without a ledger, or without a budget, have none');
is(value($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_cdp launcher'}), 1, 'nor is the launcher one');
my $pid = worker_of($node, 'test');

# ---------------------------------------------------------------------------
# Parallel queries take all slots
# ---------------------------------------------------------------------------

# with this an analyst alone can do so
my $long = q{SET max_parallel_workers = 100; SET max_parallel_workers_per_gather = 6;
	SELECT count(*) FROM visits WHERE pg_sleep(600) IS NULL;};
$node->safe_psql('postgres', q{CREATE TABLE visits AS SELECT i AS patient FROM generate_series(1, 5000) i; ALTER TABLE visits SET (parallel_workers = 6); ANALYZE visits});
my @long = map { background($node, 'postgres', $long) } 1 .. 2;
my $taken = 0;
# a slot that was not free when they began goes to the next
for (1 .. 600)
{
	$taken = value($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
	last if $taken == 3;
	push @long, background($node, 'postgres', $long) if $_ % 20 == 0;
	usleep(100_000);
}
is($taken, 3, 'parallel queries take the three slots that are left')
  or diag(value($node, 'postgres', q{SELECT string_agg(backend_type, ', ') FROM pg_stat_activity}));
is($node->psql('test', q{SELECT dp_count(*) > 0 FROM visits}, extra_params => [ '-U', 'ana' ]), 0, 'a private query is answered all the same');
is($node->psql('other', q{SELECT dp_count(*) > 0 FROM visits}, extra_params => [ '-U', 'ana' ]), 0, 'in each database');
is(worker_of($node, 'test'), $pid, 'by the worker that was there');

# who may not drop it does not send the worker away; it would look for that once in a second
$node->psql('postgres', $_, extra_params => [ '-U', 'ana' ]) for ('DROP DATABASE test', 'CREATE DATABASE mine TEMPLATE test');

# a database that is asked for the first time has to find a slot; one that is idle for two seconds gives way
usleep(2_100_000);
is(worker_of($node, 'test'), $pid, 'attempts of others do not send it away');
$node->safe_psql('empty', q{SELECT dp_cdp.set_budget('nobody', 'postgres', rho => 1)});
$node->safe_psql('empty', q{SELECT dp_cdp.debit_budget('nobody', 0.1)});
is(balance($node, 'empty', 'nobody', 'postgres'), '0.1', 'an idle worker gives way to another');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()});
finish($_) for @long;
$node->restart;
ok(wait_for_worker($node, $_), "after a restart all three are there: $_") for qw(test other empty);

# ---------------------------------------------------------------------------
# Who wants the database for himself
# ---------------------------------------------------------------------------

my @alone = (
	[ 'CREATE DATABASE copy TEMPLATE test', 'test' ],
	[ 'DROP DATABASE empty', undef ],
	[ 'DROP DATABASE copy WITH (FORCE)', undef ]);
my $space = PostgreSQL::Test::Utils::tempdir_short();
$node->safe_psql('postgres', "CREATE TABLESPACE space LOCATION '$space'");
# a worker looks for locks, not for statements, and takes a second for each of these
my @others = (
	[ 'ALTER DATABASE other RENAME TO moved', 'moved' ],
	[ 'ALTER DATABASE moved RENAME TO other', 'other' ],
	[ 'ALTER DATABASE other SET TABLESPACE space', 'other' ]);
for (@alone, by_run([], \@others)->@*)
{
	my ($sql, $db) = @$_;
	my ($rc, undef, $err) = $node->psql('postgres', $sql);
	# PostgreSQL itself waits for five seconds, then gives up
	is("$rc $err", '0 ', "$sql: the worker leaves");
	ok(wait_for_worker($node, $db), 'and comes back') if defined $db;
}
is(value($node, 'postgres', $workers), 2, 'what was dropped has no worker');

# ---------------------------------------------------------------------------
# Killed
# ---------------------------------------------------------------------------

$pid = worker_of($node, 'test');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok(wait_for_worker($node, 'test', $pid), 'a worker that was terminated comes back');
my $launcher = value($node, 'postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'dp_cdp launcher'});
if (by_run(0, 1))
{
	# after five seconds
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($launcher)");
	ok($node->poll_query_until('postgres', qq{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'dp_cdp launcher' AND pid <> $launcher}),
		'so does the launcher');
}
$pid = worker_of($node, 'test');
kill 'KILL', $pid;
ok(wait_for_worker($node, $_, $pid), "after a crash of the server they are there: $_") for qw(test other);
is($node->psql('test', q{SELECT dp_count(*) > 0 FROM visits}, extra_params => [ '-U', 'ana' ]), 0, 'and answer');
like(value($node, 'test', q{SELECT finding FROM dp_cdp.check_setup() WHERE object = 'max_worker_processes'}), qr/^6, and 9 are needed/,
	'check_setup says how many are needed');


unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/FATAL:  (?!the database system|database \d+ does not exist|terminating (connection|autovacuum process|background worker "parallel worker)|sorry)/,
	'nobody dies');

$node->stop;
done_testing();
