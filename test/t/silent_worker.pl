# A worker that does not answer, and one that fails: who waits is told in time, what it is, and that nothing was debited.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', stopped => 1, init => { allows_streaming => 1 });
my $ask = q{SELECT dp_cdp.debit_budget('d', 1)};
my $as_ana = "SET SESSION AUTHORIZATION ana; $ask;";

start_with_clock($node);
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN');
dataset($node, 'test', 'd');
budget($node, 'test', 'd', 'ana', 1000);
is(debit_error($node, 'test', 'ana', $ask), '', 'a debit');

sub silent
{
	my ($pid) = @_;
	return qr/ZC003: the ledger's background worker \(process $pid\) has not answered for 30 seconds; nothing was debited: retry, or ask the administrator to look at it.*HINT:  It is stopped, or waits/s;
}

# ---------------------------------------------------------------------------
# Stopped
# ---------------------------------------------------------------------------

my $worker = worker_of($node, 'test');
kill 'STOP', $worker or die $!;
my @waiting = map { background($node, 'test', $as_ana) } 1 .. 3;
wait_waiting($node, 'test', 3);
set_clock(0, 25);
select(undef, undef, undef, 1.5);
is(join('', map { $_->{err} } @waiting), '', 'for 30 seconds they wait');
set_clock(0, 60);
like(finish($_), silent($worker), 'a request that a stopped worker has not taken is given up') for @waiting;
is(balance($node, 'test', 'd', 'ana'), 1, 'nothing is debited');
my $one = background($node, 'test', $as_ana);
wait_waiting($node, 'test', 1);
kill 'CONT', $worker or die $!;
is(finish($one), '', 'when it goes on, it answers who waits');
is(debit_error($node, 'test', 'ana', $ask), '', 'and others');
is(balance($node, 'test', 'd', 'ana'), 3, 'those that had given up were not debited');

# one that waits for its commit: what it has taken may be spent, what it has not is given up
$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'; SELECT pg_reload_conf()});
$node->poll_query_until('postgres', q{SELECT current_setting('synchronous_standby_names') = 'nobody'}) or die;
my $taken = background($node, 'test', $as_ana);
wait_decided($node, 'test');
$node->poll_query_until('postgres', qq{SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $worker}) or die 'no commit waits';
wait_waiting($node, 'test', 1);
my $pending = background($node, 'test', $as_ana);
wait_waiting($node, 'test', 2);
set_clock(0, 120);
like(finish($pending), silent($worker), 'a request behind a commit that hangs is given up');
is($taken->{err}, '', 'the one that is being committed is waited for');
$node->safe_psql('postgres', 'SET synchronous_commit = local; ALTER SYSTEM RESET synchronous_standby_names');
$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
is(finish($taken), '', 'and answered');
is(balance($node, 'test', 'd', 'ana'), 4, 'debited once');

# ---------------------------------------------------------------------------
# Failing
# ---------------------------------------------------------------------------

for (
	[ 'a sequence that is used up', 'ALTER SEQUENCE dp_cdp_internal.release_log_id_seq MAXVALUE 4', 'ALTER SEQUENCE dp_cdp_internal.release_log_id_seq NO MAXVALUE',
		'2200H: a sequence of the ledger is used up' ],
	[ 'a column that was renamed', 'ALTER TABLE dp_cdp_internal.budget RENAME rho_spent TO rho_gone', 'ALTER TABLE dp_cdp_internal.budget RENAME rho_gone TO rho_spent',
		'42703: a table, column or sequence of the ledger was dropped or renamed' ],
	[ 'one of the audit', 'ALTER TABLE dp_cdp_internal.release_log RENAME hash TO ash', 'ALTER TABLE dp_cdp_internal.release_log RENAME ash TO hash',
		'42703: a table, column or sequence of the ledger was dropped or renamed' ],
	[ 'a row in the way', 'CREATE UNIQUE INDEX in_the_way ON dp_cdp_internal.release_log (dataset) WHERE id > LAST', 'DROP INDEX dp_cdp_internal.in_the_way',
		'23505: a row of the ledger is in the way, dp_cdp.check_ledger() may tell which' ])
{
	my ($name, $break, $mend, $detail) = @$_;
	my $last = value($node, 'test', 'SELECT max(id) FROM dp_cdp_internal.release_log') - 1;

	$break =~ s/LAST/$last/;
	$node->safe_psql('test', $break);
	my $before = value($node, 'test', 'SELECT max(id) FROM dp_cdp_internal.release_log');
	like(debit_error($node, 'test', 'ana', $ask),
		qr/ZC003: the privacy ledger failed; nothing was debited: retry, the server log has the cause\nDETAIL:  The ledger's background worker met SQLSTATE \Q$detail\E\.\n/, "$name is told");
	is(value($node, 'test', 'SELECT max(id) FROM dp_cdp_internal.release_log'), $before, "$name: nothing is debited");
	$node->safe_psql('test', $mend);
	is(debit_error($node, 'test', 'ana', $ask), '', "$name: mended, it goes on");
}
is(value($node, 'test', q{SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'}), '0', 'the ledger is whole');
$node->stop;

done_testing();
