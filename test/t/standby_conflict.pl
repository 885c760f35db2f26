# Private queries on a standby whose answers wait: the primary ends idle sessions; it removes rows
# that the query's snapshot sees, or locks the table, and the standby has to replay that.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = ledger_node('first', init => { allows_streaming => 1 }, conf => "max_worker_processes = 20\nautovacuum = off\n");
ledger_database($primary, 'test');
$primary->safe_psql('test', <<EOC);
CREATE ROLE ana LOGIN; CREATE ROLE payer LOGIN;
CREATE TABLE visits (patient int);
INSERT INTO visits SELECT i FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1, answer_step => '1200 ms', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 20);
SELECT dp_cdp.register_standby('second', 'payer');
EOC
my $standby = standby_of($primary, 'second', "max_standby_streaming_delay = '100ms'\nlog_min_messages = warning\ndp_cdp.primary_timeout = '60s'\ndp_cdp.primary_conninfo = '"
	  . $primary->connstr =~ s/'/''/gr . " user=payer'\n");

my $count = 'SELECT dp_count(*) FROM visits';
my $run;
my $reads = q{SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'payer' AND query ~ 'standby_reads'};

# the primary ends idle sessions: not that of a standby which reads
my $failures = q{SELECT failures FROM dp_cdp_internal.budget};
$primary->safe_psql('test', q{ALTER ROLE payer SET idle_session_timeout = '800ms'});
$run = background($standby, 'test', "SET SESSION AUTHORIZATION ana; $count; SELECT pg_sleep(1.2); $count;");
is(finish($run), '', 'answers come while the session on the primary is idle for longer than it may');
like($run->{out}, qr/^\d+\n\n\d+\n$/, 'and after it was ended');
$primary->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'payer'}) or die 'payer stays';
is(value($primary, 'test', $failures), 0, 'and count as no failures');
$primary->safe_psql('test', 'ALTER ROLE payer RESET idle_session_timeout');

# Tells whether the session was ended with its query.  The standby signals every 5 ms until a query in conflict has ended, and
# a signal between the error and the end of its transaction ends the session: PostgreSQL's own, up to 15.
sub ended_by_a_late_signal
{
	return $run->{err} =~ /FATAL:.*terminating connection due to conflict with recovery/;
}

# the answer waits, long enough for a busy machine, and its query is in conflict
$primary->safe_psql('test', q{SELECT dp_cdp.alter_dataset('clinic', answer_step => '4 s')});
my $charged = 2;
for my $patient (1 .. 5)
{
	catch_up($primary, $standby);
	$run = background($standby, 'test', "SET SESSION AUTHORIZATION ana; $count; SELECT 'goes on'; SELECT 'and on';");
	$primary->poll_query_until('postgres', $reads) or die 'nobody reads';
	$primary->safe_psql('test', "DELETE FROM visits WHERE patient = $patient; VACUUM visits");
	finish($run);
	$charged++;
	last unless ended_by_a_late_signal();
}
like($run->{err}, qr/ERROR:  (?:57014|40001): canceling.*stays charged/, 'the query ends, and is told what it was charged');
is($run->{out}, "goes on\nand on\n", 'its session goes on');
is(balance($primary, 'test', 'clinic', 'ana'), $charged, 'it stays charged');

# the debit waits, as the worker is held up
for (1 .. 5)
{
	catch_up($primary, $standby);
	my $worker = value($primary, 'postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type ~ 'ledger'});
	kill 'STOP', $worker;
	$run = background($standby, 'test', "SET SESSION AUTHORIZATION ana; $count; SELECT 'goes on'; SELECT 'and on';");
	wait_waiting($primary, 'test', 1);
	$primary->safe_psql('test', 'BEGIN; LOCK visits; COMMIT');
	finish($run);
	kill 'CONT', $worker;
	last unless ended_by_a_late_signal();
}
like($run->{err}, qr/ERROR:  57014: canceling private query while it was charged; no rows were read/, 'one that waits for its debit ends');
is($run->{out}, "goes on\nand on\n", 'its session goes on, too');

# check_setup() asks for what spares queries that
my $finding = q{SELECT severity FROM dp_cdp.check_setup() WHERE object = 'hot_standby_feedback'};
is(value($standby, 'test', $finding), 'warning', 'check_setup warns of it');
$standby->safe_psql('postgres', 'ALTER SYSTEM SET hot_standby_feedback = on');
$standby->reload;
$standby->poll_query_until('postgres', q{SELECT current_setting('hot_standby_feedback') = 'on'}) or die 'no reload';
is(value($standby, 'test', $finding), '', 'until it is on');

$_->stop for $standby, $primary;
done_testing();
