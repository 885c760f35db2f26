# Crashes: an answer that was seen is paid for.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# fsync is off in the harness: what is tested is what the operating system
# has been given when processes die
my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN');
dataset($node, 'test', 'd');
budget($node, 'test', 'd', 'postgres', 1000000);
budget($node, 'test', 'd', 'ana', 1000000);

sub consistent
{
	my ($what) = @_;

	is(value($node, 'test', <<'EOC'), 't', "$what: budget, dataset and log agree");
SELECT b.rho = d.rho_spent AND d.rho_spent = l.rho
FROM (SELECT sum(rho_spent) AS rho FROM dp_cdp_internal.budget) b, dp_cdp_internal.dataset d,
	(SELECT coalesce(sum(rho), 0) AS rho FROM dp_cdp_internal.release_log WHERE granted) l
EOC
	return;
}

my $script = q{SELECT dp_cdp.debit_budget('d', 1);};

sub crash
{
	my ($what, $crash) = @_;

	crash_under_load($node, 'test', $what, $script, $crash);
	consistent($what);
	is(debit_error($node, 'test', 'postgres', $script), '', "$what: goes on");
	return;
}

sub pid_of
{
	my ($where) = @_;

	return value($node, 'postgres', "SELECT pid FROM pg_stat_activity WHERE $where LIMIT 1");
}

crash('immediate shutdown', sub { $node->stop('immediate'); $node->start; });
crash('kill -9 of a backend',
	sub { kill 'KILL', pid_of(q{datname = 'test' AND backend_type = 'client backend'}); });
crash('kill -9 of the worker', sub { kill 'KILL', pid_of(q{backend_type = 'dp_cdp ledger'}); });
crash('fast shutdown', sub { $node->restart; });

# the worker alone is told to go, again and again: everybody goes on
my $before = balance($node, 'test', 'd', 'postgres');
my $bench = pgbench_run($node, 'test', $script, '-c', 8, '-j', 2, '-T', by_run(2, 3));
my $rounds = by_run(4, 10);
for (1 .. $rounds)
{
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid), pg_sleep(0.15) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'});
}
my $answered = $bench->();
my $spent = balance($node, 'test', 'd', 'postgres') - $before;
cmp_ok($answered, '<=', $spent, 'worker terminated: answered <= ledger');
cmp_ok($spent, '<=', $answered + 8 * $rounds, 'worker terminated: no more than a batch each is lost');
cmp_ok($answered, '>', 100, 'worker terminated: others replace it');
consistent('worker terminated');

# backends that are terminated and cancelled under load
$before = balance($node, 'test', 'd', 'postgres');
my @bench = map { pgbench_run($node, 'test', $script, '-c', 1, '-T', by_run(1, 3)) } 1 .. 6;
for (1 .. 6)
{
	$node->safe_psql('postgres',
		($_ % 2 ? 'SELECT pg_terminate_backend(pid)' : 'SELECT pg_cancel_backend(pid)')
		  . q{ FROM pg_stat_activity WHERE datname = 'test' AND backend_type = 'client backend' LIMIT 1});
	select undef, undef, undef, 0.1;
}
$answered = 0;
$answered += $_->() // 0 for @bench;
$spent = balance($node, 'test', 'd', 'postgres') - $before;
cmp_ok($answered, '<=', $spent, 'terminated and cancelled: answered <= ledger');
cmp_ok($spent, '<=', $answered + 6, 'terminated and cancelled: ledger <= answered + clients');
consistent('terminated and cancelled');

# the analyst's synchronous_commit does not matter, nor the server's
$node->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = 10s\n");
$node->restart;
$before = balance($node, 'test', 'd', 'ana') // 0;
debit($node, 'test', 'ana', q{SET synchronous_commit = off; SELECT dp_cdp.debit_budget('d', 1) FROM generate_series(1, 7);});
$node->stop('immediate');
$node->start;
is(balance($node, 'test', 'd', 'ana') - $before, 7, 'synchronous_commit = off, then a crash');

# prepared transactions and crashes do not bring anything back
debit($node, 'test', 'ana', q{BEGIN; SELECT dp_cdp.debit_budget('d', 1); PREPARE TRANSACTION 'p';});
$node->stop('immediate');
$node->start;
$node->safe_psql('test', q{ROLLBACK PREPARED 'p'});
is(balance($node, 'test', 'd', 'ana') - $before, 8, 'prepared, crashed, rolled back');
consistent('at the end');
is(value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.ledger_stamp'), 1, 'crash recovery keeps the timeline: no adoption');

# ---------------------------------------------------------------------------
# A synchronous standby that is not there: the worker waits, and nobody is answered
# ---------------------------------------------------------------------------

sub waits_for_standby
{
	my ($type) = @_;

	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = '$type' AND wait_event = 'SyncRep'")
	  or die "$type does not wait for the standby";
	return;
}

$before = balance($node, 'test', 'd', 'ana');
$node->append_conf('postgresql.conf',
	"wal_level = replica\nmax_wal_senders = 2\nsynchronous_standby_names = 'nobody'\n");
$node->restart;
my $commit = background($node, 'postgres', 'SET synchronous_commit = on; CREATE TABLE waits ()');
waits_for_standby('client backend');
my $debit = background($node, 'test',
	q{SET SESSION AUTHORIZATION ana; SET synchronous_commit = off; SELECT dp_cdp.debit_budget('d', 1)});
waits_for_standby('dp_cdp ledger');
wait_waiting($node, 'test', 1);
pass('no answer without the standby');
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$node->reload;
is(finish($commit) . finish($debit), '', 'answered when it is not wanted any more');
is(balance($node, 'test', 'd', 'ana') - $before, 1, 'and debited');

# ---------------------------------------------------------------------------
# Not preloaded
# ---------------------------------------------------------------------------

$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
like(debit_error($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}),
	qr/add shared_preload_libraries = 'dp_cdp' to postgresql\.conf and restart|shared_preload_libraries/,
	'not preloaded');

$node->stop;
done_testing();
