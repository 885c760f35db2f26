# What the ledger's tests share: a server, datasets and budgets made with
# plain INSERT (so that these tests need no other part of the extension),
# debits by hand, sessions in the background.

package LedgerTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(ledger_node ledger_database dataset budget debit debit_error
  background finish wait_waiting value balance pgbench_run hold_row release_row);

# a cluster that is running, with settings of the caller's
sub ledger_node
{
	my ($name, %opt) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%{ $opt{init} || {} });
	$node->append_conf('postgresql.conf', <<EOC);
shared_preload_libraries = 'dp_cdp'
max_connections = 100
max_prepared_transactions = 5
restart_after_crash = on
autovacuum_naptime = 5s
log_min_messages = warning
EOC
	$node->append_conf('postgresql.conf', $opt{conf}) if $opt{conf};
	$node->start unless $opt{stopped};
	return $node;
}

sub ledger_database
{
	my ($node, $db) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, <<EOC);
CREATE EXTENSION dp_cdp;
GRANT EXECUTE ON FUNCTION dp_cdp.debit(text, numeric, numeric) TO PUBLIC;
EOC
	return;
}

sub dataset
{
	my ($node, $db, $name, $cap) = @_;

	$cap //= 'NULL';
	$node->safe_psql($db,
		    'INSERT INTO dp_cdp.dataset (name, owner, rho_limit, delta_limit, default_rho, default_delta,'
		  . ' max_groups, max_rows, neighbors)'
		  . " VALUES ('$name', current_user::regrole, $cap, 1e-6, 0.01, 1e-9, 5, 5, 'add_remove')");
	return;
}

sub budget
{
	my ($node, $db, $dataset, $role, $rho, $period, $renews_at) = @_;

	$period = defined $period ? "'$period'" : 'NULL';
	$renews_at = defined $renews_at ? $renews_at : 'NULL';
	$node->safe_psql($db,
		    'INSERT INTO dp_cdp.budget (dataset, role, rho_limit, delta_limit, report_delta, period, renews_at)'
		  . " VALUES ('$dataset', '$role'::regrole, $rho, 1e-6, 1e-6, $period, $renews_at)");
	return;
}

# runs SQL as a role; dies with the error if there is one
sub debit
{
	my ($node, $db, $role, $sql) = @_;

	return $node->safe_psql($db, "SET SESSION AUTHORIZATION $role;\n$sql");
}

# runs SQL as a role; the error's SQLSTATE and text
sub debit_error
{
	my ($node, $db, $role, $sql) = @_;
	my ($rc, $out, $err) =
	  $node->psql($db, "\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION $role;\n$sql",
		on_error_stop => 0);
	return $err;
}

# psql that goes on by itself
sub background
{
	my ($node, $db, $sql) = @_;
	my %run = (out => '', err => '');
	my $file = PostgreSQL::Test::Utils::tempdir() . '/background.sql';

	PostgreSQL::Test::Utils::append_to_file($file, "$sql\n");
	$run{handle} = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr($db), '-f', $file ],
		'<', \undef, '>', \$run{out}, '2>', \$run{err});
	return \%run;
}

# waits for its end; returns its errors
sub finish
{
	my ($run) = @_;

	eval { $run->{handle}->finish };
	return $run->{err};
}

# until n sessions wait for the ledger
sub wait_waiting
{
	my ($node, $db, $n) = @_;

	$node->poll_query_until('postgres',
		    "SELECT count(*) >= $n FROM pg_stat_activity WHERE datname = '$db'"
		  . " AND backend_type = 'client backend' AND wait_event_type = 'Extension'")
	  or die 'nobody waits for the ledger';
	return;
}

sub value
{
	my ($node, $db, $sql) = @_;

	return $node->safe_psql($db, $sql);
}

# rho_spent of a budget, trimmed
sub balance
{
	my ($node, $db, $dataset, $role) = @_;

	return $node->safe_psql($db,
		"SET statement_timeout = 0; SELECT trim_scale(rho_spent) FROM dp_cdp.budget WHERE dataset = '$dataset' AND role = '$role'::regrole");
}

# a session that holds a lock until release_row
sub hold_row
{
	my ($node, $db, $sql) = @_;
	my $run = background($node, $db, "SET application_name = 'holder'; BEGIN; $sql; SELECT pg_sleep(600);");

	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'")
	  or die 'no holder';
	return $run;
}

sub release_row
{
	my ($node, $run) = @_;

	$node->safe_psql('postgres',
		"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
	finish($run);
	return;
}

# pgbench with a one-line script: how many transactions were answered
sub pgbench_run
{
	my ($node, $db, $sql, @args) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/bench.sql';

	PostgreSQL::Test::Utils::append_to_file($file, "$sql\n");
	my ($out, $err) = ('', '');
	my $handle = IPC::Run::start(
		[ 'pgbench', '-n', '-M', 'prepared', '-f', $file, @args, $node->connstr($db) ],
		'<', \undef, '>', \$out, '2>', \$err);
	return sub {
		eval { $handle->finish };
		return $out =~ /number of transactions actually processed: (\d+)/ ? $1 : undef;
	};
}

1;
