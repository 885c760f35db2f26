# Behind a pooler, pgbouncer: what a client leaves to the next one, which budgets
# a pool's role pays from, and prepared statements.  Each pool has one connection to
# the server, so that all clients of a role share it.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my ($pgbouncer) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), qw(/usr/sbin /usr/local/sbin);
plan skip_all => 'pgbouncer is not installed' unless $pgbouncer;

my $node = ledger_node('served', init => { allows_streaming => 1 }, conf => "max_worker_processes = 20\n");
ledger_database($node, 'test');
my $sixteen = value($node, 'test', 'SHOW server_version_num') >= 160000;
my $without = $sixteen ? 'WITH INHERIT FALSE' : '';
$node->safe_psql('test', <<EOC);
CREATE ROLE ana LOGIN; CREATE ROLE bea LOGIN;
CREATE ROLE pool LOGIN NOINHERIT; CREATE ROLE heir LOGIN;
GRANT ana, bea TO pool $without;
GRANT ana, bea TO heir;
CREATE TABLE visits (patient int, cost numeric);
INSERT INTO visits SELECT i, i % 10 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1, max_rho => 10, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_budget('clinic', r, rho => 100) FROM unnest('{ana,bea}'::regrole[]) r;
EOC

# ---------------------------------------------------------------------------
# The pooler
# ---------------------------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir_short();
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $count = 'SELECT dp_count(*) FROM visits;';
my $running;

sub start_pooler
{
	my (@settings) = @_;

	stop_pooler() if $running;
	unlink "$dir/pgbouncer.ini", "$dir/users";
	append_to_file("$dir/users", join('', map { qq{"$_" ""\n} } qw(ana bea pool heir payer postgres)));
	append_to_file("$dir/pgbouncer.ini", join("\n",
			'[databases]', "test = host='" . $node->host . "' port=" . $node->port,
			'[pgbouncer]', "unix_socket_dir = $dir", "listen_port = $port", 'listen_addr =',
			'auth_type = trust', "auth_file = $dir/users", "logfile = $dir/pgbouncer.log", 'default_pool_size = 1',
			'ignore_startup_parameters = extra_float_digits,options', @settings, ''));
	$running = IPC::Run::start([ $pgbouncer, '-q', "$dir/pgbouncer.ini" ], '<', \undef, '>', "$dir/out", '2>', "$dir/err");
	for (1 .. 1000)
	{
		return if -S "$dir/.s.PGSQL.$port";
		select undef, undef, undef, 0.1;
	}
	die 'pgbouncer does not start: ' . slurp_file("$dir/err");
}

sub stop_pooler
{
	$running->signal('TERM');
	eval { $running->finish };
	$running = undef;
	return;
}

# one client's session: what it prints, and its errors
sub client
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-h', $dir, '-p', $port, '-U', $role, '-d', 'test', '-f', '-' ],
		'<', \$sql, '>', \$out, '2>', \$err);
	chomp $out;
	return $err =~ /ERROR:  (.*)/ ? $1 : $out;
}

sub spent
{
	return balance($node, 'test', 'clinic', $_[0]);
}

# ---------------------------------------------------------------------------
# Settings
# ---------------------------------------------------------------------------

start_pooler('pool_mode = transaction');
like(client('ana', $count), qr/^\d+$/, 'answered through a pooler');
is(spent('ana'), 1, 'at the default price');
client('ana', 'SET dp_cdp.rho = 5');
is(client('ana', 'SHOW dp_cdp.rho'), 5, 'SET is left to the next client');
client('ana', $count);
is(spent('ana'), 6, 'who pays that price');
client('ana', 'RESET dp_cdp.rho');
client('ana', "BEGIN; SET LOCAL dp_cdp.rho = 5; $count COMMIT");
is(spent('ana'), 11, 'SET LOCAL is good for its transaction');
is(client('ana', 'SHOW dp_cdp.rho'), '', 'and is not left to anybody');
client('ana', $count);
is(spent('ana'), 12, 'who pays the default price');
client('ana', "SET dp_cdp.max_groups = 7; SET dp_cdp.reuse = off; SET dp_cdp.target_error = '5%'");
is(client('ana', "SELECT concat_ws(' ', current_setting('dp_cdp.max_groups'), current_setting('dp_cdp.reuse'), current_setting('dp_cdp.target_error'))"),
	'7 off 5%', 'so it is with all settings');
start_pooler('pool_mode = transaction', 'server_reset_query = DISCARD ALL', 'server_reset_query_always = 1');
client('ana', 'SET dp_cdp.rho = 5');
is(client('ana', 'SHOW dp_cdp.rho'), '', 'DISCARD ALL after each transaction takes it back');
start_pooler('pool_mode = session', 'server_reset_query = DISCARD ALL');
is(client('ana', 'SET dp_cdp.rho = 5; SHOW dp_cdp.rho'), 5, 'in session mode SET is the client\'s');
is(client('ana', 'SHOW dp_cdp.rho'), '', 'and DISCARD ALL resets it at its end');

# ---------------------------------------------------------------------------
# Roles
# ---------------------------------------------------------------------------

start_pooler('pool_mode = transaction');
my %before = map { $_ => spent($_) } qw(ana bea);

sub charged
{
	my $now = join(' ', map { spent($_) - $before{$_} } qw(ana bea));

	%before = map { $_ => spent($_) } qw(ana bea);
	return $now;
}

like(client('pool', $count), qr/ZC001: role "pool" has no privacy budget/, 'a pool\'s role that inherits nothing has no budget of its own');
client('pool', "BEGIN; SET LOCAL ROLE ana; $count COMMIT");
is(charged(), '1 0', 'SET LOCAL ROLE pays from that role\'s budget');
client('pool', "BEGIN; SET LOCAL ROLE bea; $count COMMIT");
is(charged(), '0 1', 'and another one from another\'s');
client('pool', 'SET ROLE ana');
is(client('pool', 'SELECT current_user'), 'ana', 'SET ROLE is left to the next client');
client('pool', $count);
is(charged(), '1 0', 'whose query the other one pays');
client('pool', "BEGIN; SET LOCAL ROLE bea; $count COMMIT; RESET ROLE");
is(charged(), '0 1', 'SET LOCAL ROLE overrides it');
client('heir', "BEGIN; SET LOCAL ROLE ana; $count COMMIT");
is(charged(), '1 1', 'a pool\'s role that inherits pays from all budgets, whatever SET ROLE says');
my $findings = q{SELECT severity, object, remedy FROM dp_cdp.check_setup() WHERE finding ~ 'at once'};
like(value($node, 'test', $findings), qr/^warning\|role heir\|(?:ALTER ROLE heir NOINHERIT|GRANT ana, bea TO heir WITH INHERIT FALSE)/, 'check_setup says so, and of no other role');
$node->safe_psql('test', $sixteen ? 'GRANT ana, bea TO heir WITH INHERIT FALSE' : 'ALTER ROLE heir NOINHERIT');
is(value($node, 'test', $findings), '', 'until it is mended');

# what a session remembers of a release is told to the role that asked alone
client('pool', "BEGIN; SET LOCAL ROLE ana; $count COMMIT");
is(client('pool', 'BEGIN; SET LOCAL ROLE bea; SELECT count(*) FROM dp_cdp.last_release(); COMMIT'), 0, 'last_release() tells another role nothing');
is(client('pool', 'BEGIN; SET LOCAL ROLE ana; SELECT count(*) FROM dp_cdp.last_release(); COMMIT'), 1, 'but the next client of the same role');
charged();

# ---------------------------------------------------------------------------
# Prepared statements
# ---------------------------------------------------------------------------

client('pool', 'BEGIN; SET LOCAL ROLE ana; PREPARE q AS ' . $count . ' COMMIT');
like(client('pool', 'BEGIN; SET LOCAL ROLE bea; EXECUTE q; COMMIT'), qr/^\d+$/, 'a statement that another client has prepared is there');
is(charged(), '0 1', 'who executes it pays');
like(client('pool', 'EXECUTE q'), qr/ZC001: role "pool" has no privacy budget/, 'nobody else\'s budget');
client('pool', 'DEALLOCATE ALL');
my $bench = "$dir/bench.sql";
append_to_file($bench, "$count\n");
my ($out, $err) = ('', '');
IPC::Run::run([ 'pgbench', '-n', '-M', 'extended', '-c', '3', '-t', '5', '-f', $bench, '-h', $dir, '-p', $port, '-U', 'ana', 'test' ], '>', \$out, '2>', \$err);
like($out, qr{actually processed: 15/15}, 'statements without a name go through');
is(charged(), '15 0', 'each is debited');

# ---------------------------------------------------------------------------
# Between a standby and the primary that pays for it
# ---------------------------------------------------------------------------

$node->safe_psql('test', "CREATE ROLE payer LOGIN; SELECT dp_cdp.register_standby('second', 'payer')");
my $standby = standby_of($node, 'second', "dp_cdp.primary_conninfo = 'host=$dir port=$port user=payer'\n");

# what ana is told on the standby
sub told
{
	my ($rc, $answer, $error) = $standby->psql('test', "\\set VERBOSITY verbose\n$count", extra_params => [ '-U', 'ana' ]);

	return $error =~ /ERROR:  (.*)/ ? $1 : $answer;
}

like(told(), qr/ZC003: this standby comes to its primary through a pooler.*nothing was debited/, 'a standby does not let a pooler mix up what its sessions read');
is(charged(), '0 0', 'nothing was debited');
$standby->safe_psql('postgres', q{ALTER SYSTEM SET dp_cdp.primary_conninfo = '} . $node->connstr =~ s/'/''/gr . q{ user=payer'});
$standby->restart;
like(told(), qr/^\d+$/, 'without one it answers');
is(charged(), '1 0', 'and the primary debits');
$standby->stop;

stop_pooler();
$node->stop;
done_testing();
