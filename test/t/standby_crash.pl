# A drill: clients ask a standby, while it, the primary and what serves them on
# either are killed at random.  What was answered was debited, and what was debited
# beyond that is no more than what clients were told may be spent.
#
# "make test" takes 5 seconds, which servers do not survive each; "make test-all" 20; DRILL_SECONDS=600 (make drills
# ONLY=standby) ten minutes.  DRILL_SEED repeats the order of signals, though not their moments.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = $ENV{DRILL_SECONDS} || by_run(5, 20);
my $clients = $ENV{DRILL_CLIENTS} || 8;
my $seed = $ENV{DRILL_SEED} || time & 0xFFFF;
my $dir = PostgreSQL::Test::Utils::tempdir();
srand($seed);

my $conf = "max_worker_processes = 20\nlog_statement = none\nwal_retrieve_retry_interval = 100ms\n";
my $primary = ledger_node('first', init => { allows_streaming => 1 }, conf => $conf);
ledger_database($primary, 'test');
$primary->safe_psql('test', <<EOC);
CREATE ROLE team; CREATE ROLE ana LOGIN; CREATE ROLE bea LOGIN IN ROLE team; CREATE ROLE payer LOGIN;
CREATE TABLE visits (patient int, cost numeric);
INSERT INTO visits SELECT i, i % 10 FROM generate_series(1, 2000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 1e6, default_rho => 0.001, max_failures => 1000000000, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_budget('clinic', r, rho => 1e6) FROM unnest('{ana,team}'::regrole[]) r;
SELECT dp_cdp.register_standby('second', 'payer');
EOC
my $standby = standby_of($primary, 'second',
	"dp_cdp.primary_conninfo = '" . $primary->connstr =~ s/'/''/gr . " user=payer'\ndp_cdp.primary_timeout = '3s'\n");

my $script = "$dir/ask.sql";
append_to_file($script, "SELECT 'answer', dp_count(*) FROM visits;\n" x 40);

# asks until the end, over as many sessions as it takes: answers, and what may have been debited without one.
# A slow machine gets a minute more, without signals, for as many answers as the test wants of each client.
sub client
{
	my ($number, $role, $end) = @_;
	my ($answers, $errors, $sessions) = (0, 0, 0);

	while (time < $end || ($answers <= 4 * $seconds / $clients && time < $end + 60))
	{
		my $out = qx(psql -XAtq -U $role -d '@{[ $standby->connstr('test') ]}' -f $script 2>&1);

		$answers += () = $out =~ /^answer\|-?\d+$/mg;
		# whoever was told that nothing was debited can rely on it
		$errors += grep { /ERROR:  |FATAL:  |connection to server was lost|server closed the connection/
			  && !/nothing was debited|charge was not made|connection to server .* failed:/ } split /\n/, $out;
		$sessions++;
		sleep(0.1);
	}
	append_to_file("$dir/client.$number", "$answers $errors $sessions\n");
	return;
}

# a process that is chosen by a query
sub signal_one
{
	my ($node, $signal, $who) = @_;
	my ($rc, $pid) = $node->psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $who ORDER BY random() LIMIT 1");

	kill $signal, $pid if defined $rc && $rc == 0 && $pid =~ /^\d+$/;
	return;
}

# by hand, as the harness gives up where a server does not come up at once
sub pg_ctl
{
	my ($node, @arguments) = @_;
	return system('pg_ctl -s -w -t 60 -D ' . $node->data_dir . ' -l ' . $node->logfile . ' ' . join(' ', @arguments) . ' >/dev/null 2>&1') == 0;
}

sub restart
{
	my ($node, $how) = @_;

	if ($how eq 'kill')
	{
		kill 'KILL', (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	}
	else
	{
		pg_ctl($node, '-m', $how, 'stop');
	}
	# what is left of it goes first
	for (1 .. 300)
	{
		return if pg_ctl($node, '-o', '--cluster-name=' . $node->name, 'start');
		sleep(0.1);
	}
	die $node->name . ' does not come back';
}

my @weapons = (
	[ 'a session of the standby is cancelled', 4, sub { signal_one($standby, 'INT', "usename IN ('ana', 'bea')") } ],
	[ 'a session of the standby is terminated', 4, sub { signal_one($standby, 'TERM', "usename IN ('ana', 'bea')") } ],
	[ 'a connection of the standby is terminated', 4, sub { signal_one($primary, 'TERM', "usename = 'payer'") } ],
	[ 'a debit of the standby is cancelled', 2, sub { signal_one($primary, 'INT', "usename = 'payer'") } ],
	[ 'the worker is terminated', 2, sub { signal_one($primary, 'TERM', "backend_type = 'dp_cdp ledger'") } ],
	[ 'a session of the standby is killed', 1, sub { signal_one($standby, 'KILL', "usename IN ('ana', 'bea')") } ],
	[ 'a connection of the standby is killed', 1, sub { signal_one($primary, 'KILL', "usename = 'payer'") } ],
	[ 'the worker is killed', 1, sub { signal_one($primary, 'KILL', "backend_type = 'dp_cdp ledger'") } ],
	[ 'the primary stops', 1, sub { restart($primary, 'immediate') } ],
	[ 'the primary is killed', 1, sub { restart($primary, 'kill') } ],
	[ 'the standby stops', 1, sub { restart($standby, 'fast') } ],
	[ 'the standby is killed', 1, sub { restart($standby, 'kill') } ],
);
my @bag = map { my $w = $_; ($w) x $w->[1] } @weapons;
my %used;

my $end = time + $seconds;
my @children;
for my $number (1 .. $clients)
{
	my $pid = fork // die;
	if ($pid == 0)
	{
		client($number, $number % 2 ? 'ana' : 'bea', $end);
		# without the parent's ends
		require POSIX;
		POSIX::_exit(0);
	}
	push @children, $pid;
}
# at most one in two seconds takes a server along, so that something is answered
while (time < $end - 1)
{
	my $weapon = $bag[ rand @bag ];

	$used{ $weapon->[0] }++;
	$weapon->[2]->();
	sleep(0.05 + rand(2 * $seconds < 100 ? 0.4 : 1.0));
}
waitpid($_, 0) for @children;
$_->_update_pid(1) for $primary, $standby;
$primary->poll_query_until('test', 'SELECT true') or die 'the primary does not come back';
$standby->poll_query_until('test', 'SELECT true') or die 'the standby does not come back';

my %seen = map { $_ => [ 0, 0, 0 ] } qw(ana team);
for my $number (1 .. $clients)
{
	my @counts = split ' ', slurp_file("$dir/client.$number");
	$seen{ $number % 2 ? 'ana' : 'team' }[$_] += $counts[$_] for 0 .. 2;
}
note("seed $seed, $seconds s, $clients clients; " . join(', ', map { "$_: $used{$_}" } sort keys %used));
my $whole = 0;
for my $role (qw(ana team))
{
	my ($answers, $errors, $sessions) = @{ $seen{$role} };
	my $debits = balance($primary, 'test', 'clinic', $role) * 1000;

	note("$role: $answers answers, $debits debits, $errors errors in $sessions sessions");
	$whole += $debits;
	cmp_ok($answers, '>', 2 * $seconds, "$role is answered");
	cmp_ok($answers, '<=', $debits + 1e-6, "$role: answers <= debits");
	cmp_ok($debits, '<=', $answers + $errors + 1e-6, "$role: debits <= answers and what may be spent");
}
is(0 + value($primary, 'test', 'SELECT rho_spent * 1000 FROM dp_cdp_internal.dataset'), 0 + sprintf('%.0f', $whole), 'the dataset has spent what they have');
is(value($primary, 'test', 'SELECT severity, object, finding FROM dp_cdp.check_ledger() WHERE severity <> $$info$$'), '', 'the ledger is whole');
is(value($primary, 'test', q{SELECT count(*) FROM dp_cdp_internal.release_log WHERE kind = 'granted' AND client NOT LIKE '% via second'}), 0, 'all of it by the standby');
ok($standby->psql('test', 'SELECT dp_count(*) FROM visits', extra_params => [ '-U', 'ana' ]) == 0, 'and it answers still');

$standby->stop;
$primary->stop;
done_testing();
