# What the ledger's tests share: a server, datasets and budgets made with
# plain INSERT (so that these tests need no other part of the extension),
# debits by hand, sessions in the background.

package LedgerTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use File::Path 'make_path';
use Client;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(by_run ledger_node standby_of catch_up own_installation ledger_database dataset budget debit
  debit_error background finish wait_waiting wait_decided value balance pgbench_run crash_under_load
  hold_row release_row blocks worker_of wait_for_worker add_stays reader_of clinic_database set_clock start_with_clock);
our @EXPORT_OK = qw(fill_locks empty_locks session ask add_waits wait_at_gate worker_errors);

# The first in "make test", the second in "make test-all": rounds of what chance decides, sizes.
sub by_run
{
	my ($few, $all) = @_;

	return $ENV{DP_TEST_ALL} ? $all : $few;
}

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
jit = off
log_min_messages = warning
EOC
	$node->append_conf('postgresql.conf', $opt{conf}) if $opt{conf};
	$node->start unless $opt{stopped};
	return $node;
}

# a hot standby that has caught up, with settings of the caller's; the backup that it begins with is not copied again
sub standby_of
{
	my ($primary, $name, $conf) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name, install_path => $primary->install_path);

	$primary->backup("for_$name");
	{
		no warnings 'redefine';
		local *PostgreSQL::Test::RecursiveCopy::copypath = sub { rename($_[0], $_[1]) or die "$_[1]: $!" };
		$standby->init_from_backup($primary, "for_$name", has_streaming => 1);
	}
	$standby->append_conf('postgresql.conf', $conf // '');
	$standby->start;
	catch_up($primary, $standby);
	return $standby;
}

# Until the standby has replayed all that was committed.  (Where the next record would go may be behind the header of
# a page that nothing is in yet.)
sub catch_up
{
	my ($primary, $standby) = @_;

	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
	return;
}

# The installation whose libraries and scripts a test exchanges: its path, as "install_path" of a cluster.  All in it
# are links, but for programs, which look for the rest beside themselves.
sub own_installation
{
	my ($bin, $tree, $lib) = @ENV{qw(DP_BIN DP_TREE DP_LIB)};
	my $place = sub { return $_[0] =~ s{^\Q$tree\E}{$ENV{TESTDIR}/installation}r };
	my $prefix = $place->($bin) =~ s{/bin$}{}r;

	chomp(my $share = `"$bin/pg_config" --sharedir`);
	# what is there already stays, a directory of links
	for my $dir ("$share/extension", $share, $lib)
	{
		make_path($place->($dir));
		symlink $_, $place->($_) for glob "$dir/*";
	}
	make_path($prefix);
	PostgreSQL::Test::Utils::system_or_bail('cp', '-R', $bin, $prefix);
	# that of the suite comes next in the PATH
	unlink "$prefix/bin/initdb";
	return $prefix;
}

sub ledger_database
{
	my ($node, $db) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db STRATEGY file_copy");
	$node->safe_psql($db, <<EOC);
CREATE EXTENSION dp_cdp;
GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO PUBLIC;
EOC
	return;
}

sub dataset
{
	my ($node, $db, $name, $cap) = @_;

	$cap //= 'NULL';
	$node->safe_psql($db,
		    'INSERT INTO dp_cdp_internal.dataset (name, owner, rho_limit, delta_limit, default_rho, default_delta,'
		  . ' max_groups, max_rows, neighbors)'
		  . " VALUES ('$name', current_user::regrole, $cap, 1e-6, 0.01, 1e-9, 5, 5, 'add_remove')");
	return;
}

# of a role, or of several, "ana,bob"
sub budget
{
	my ($node, $db, $dataset, $roles, $rho, $period, $renews_at) = @_;

	$period = defined $period ? "'$period'" : 'NULL';
	$renews_at = defined $renews_at ? $renews_at : 'NULL';
	$node->safe_psql($db,
		    'INSERT INTO dp_cdp_internal.budget (dataset, role, rho_limit, delta_limit, report_delta, period, renews_at)'
		  . " SELECT '$dataset', r, $rho, 1e-6, 1e-6, $period, $renews_at FROM unnest('{$roles}'::regrole[]) r");
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

# until the worker has written a debit that it has not committed yet: it may also wait for something that it wrote before
sub wait_decided
{
	my ($node, $db) = @_;

	$node->poll_query_until($db,
		q{SELECT count(*) > 0 FROM dp_cdp_internal.budget WHERE xmax::text <> '0' AND pg_xact_status(xmax::text::xid8) = 'in progress'})
	  or die 'no debit is decided';
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
		"SET statement_timeout = 0; SELECT trim_scale(rho_spent) FROM dp_cdp_internal.budget WHERE dataset = '$dataset' AND role = '$role'::regrole");
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

# How many blocks a statement visits, of tables, indexes and catalogues, where others may be at work on the machine.
# It is run once before, so that what is remembered is.
sub blocks
{
	my ($node, $db, $sql, $role) = @_;
	my $as = defined $role ? "SET SESSION AUTHORIZATION $role;" : '';
	my ($hit, $read) = value($node, $db, "$as$sql; EXPLAIN (ANALYZE, BUFFERS, TIMING off) $sql") =~ /^ +Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/m;

	return ($hit // 0) + ($read // 0);
}

# the pid of the database's worker
sub worker_of
{
	my ($node, $db) = @_;
	return value($node, 'postgres', qq{SELECT pid FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger' AND datname = '$db'});
}

# A function that may run on rows, and stays where x is 77 for as many seconds as test.stay says.
sub add_stays
{
	my ($node, $db) = @_;

	$node->safe_psql($db, <<'EOC');
CREATE FUNCTION stays(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN PERFORM pg_sleep(nullif(current_setting('test.stay', true), '')::float8); END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('stays(int)');
EOC
	return;
}

# the pid of who stays there, as soon as somebody does
sub reader_of
{
	my ($node, $db) = @_;

	$node->poll_query_until($db, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')}) or die 'nobody reads';
	return value($node, $db, q{SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
}

# until the database has a worker that is not the one of that pid
sub wait_for_worker
{
	my ($node, $db, $not) = @_;
	return $node->poll_query_until('postgres',
		    q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'}
		  . qq{ AND datname = '$db' AND pid <> } . ($not || 0));
}

# A function that may run on rows, also in parallel workers, and waits where x is 77 for who holds the advisory lock (1, 77).
sub add_waits
{
	my ($node, $db) = @_;

	$node->safe_psql($db, <<'EOC');
CREATE FUNCTION waits(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
	$$ BEGIN IF x = 77 THEN PERFORM pg_advisory_lock_shared(1, 77); PERFORM pg_advisory_unlock_shared(1, 77); END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('waits(int)');
EOC
	return;
}

# until n processes wait there
sub wait_at_gate
{
	my ($node, $db, $n) = @_;

	$node->poll_query_until($db, "SELECT count(*) = $n FROM pg_locks WHERE locktype = 'advisory' AND classid = 1 AND objid = 77 AND NOT granted")
	  or die 'nobody reads';
	return;
}

# has a session fill the lock table but for so many places
sub fill_locks
{
	my ($hog, $free) = @_;

	$hog->query('SELECT count(pg_advisory_lock(i)) FROM generate_series(1, 100000) i;');
	$hog->{stderr} = '';
	$hog->query("SELECT count(pg_advisory_unlock(i)) FROM generate_series(1, $free) i;");
	return;
}

sub empty_locks
{
	my ($hog) = @_;

	$hog->query('SELECT pg_advisory_unlock_all();');
	return;
}

# a session that knows all that it needs before the lock table is full
sub session
{
	my ($node, $db, $role, @before) = @_;
	my $session = $node->background_psql($db, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	$session->query("$_;") for "SET SESSION AUTHORIZATION $role", @before;
	return $session;
}

# asks in a session; '': answered, else the error
sub ask
{
	my ($session, $sql) = @_;

	$session->{stderr} = '';
	$session->query("$sql;");
	my $error = $session->{stderr} =~ /ERROR:  (.*)/ ? $1 : '';
	$session->{stderr} = '';
	return $error;
}

# how many errors the server's own processes have written into its log, from some place of it on
sub worker_errors
{
	my ($node, $from) = @_;

	return scalar(() = PostgreSQL::Test::Utils::slurp_file($node->logfile, $from) =~ /\[\d+\] ERROR:/g);
}

# gives a database a table that ana may ask for 500 rho
sub clinic_database
{
	my ($node, $db) = @_;

	$node->safe_psql($db, <<EOC);
CREATE TABLE visits (patient int, dept text);
INSERT INTO visits SELECT i, 'd' || i % 3 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 1000);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 500);
EOC
	return;
}

my $clock_dir;

# Sets the clock of servers that start_with_clock has started ahead, and the time since the machine was started, by seconds.
# The file is written in place, as they have it mapped.
sub set_clock
{
	my ($seconds, $uptime) = @_;
	my $file = ($clock_dir //= PostgreSQL::Test::Utils::tempdir()) . '/clock';

	open my $out, -e $file ? '+<' : '>', $file or die "$file: $!";
	print $out pack('qq', $seconds, $uptime // 0);
	close $out or die $!;
	return;
}

sub start_with_clock
{
	my ($node) = @_;

	set_clock(0) if !defined $clock_dir;
	if (!-e "$clock_dir/stepped_clock.so")
	{
		PostgreSQL::Test::Utils::system_or_bail($ENV{CC} // 'cc', '-shared', '-fPIC', '-o', "$clock_dir/stepped_clock.so", dirname(__FILE__) . '/stepped_clock.c');
	}
	local $ENV{LD_PRELOAD} = "$clock_dir/stepped_clock.so";
	local $ENV{STEPPED_CLOCK} = "$clock_dir/clock";
	$node->start;
	return;
}

# pgbench with a one-line script: how many transactions were answered
sub pgbench_run
{
	my ($node, $db, $sql, @args) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/bench.sql';

	PostgreSQL::Test::Utils::append_to_file($file, "$sql\n");
	my ($out, $err) = ('', '');
	# the harness logs all statements, which takes longer than they do
	local $ENV{PGOPTIONS} = '-c log_statement=none';
	my $handle = IPC::Run::start(
		[ 'pgbench', '-n', '-M', 'prepared', '-f', $file, @args, $node->connstr($db) ],
		'<', \undef, '>', \$out, '2>', \$err);
	return sub {
		eval { $handle->finish };
		return $out =~ /number of transactions actually processed: (\d+)/ ? $1 : undef;
	};
}

# Eight clients ask, one release in each transaction; then something happens.  What they have been given is paid for:
#
#	answered <= ledger <= answered + clients
sub crash_under_load
{
	my ($node, $db, $what, $sql, $crash) = @_;
	my $granted = 'SELECT count(*) FROM dp_cdp_internal.release_log WHERE granted';
	my $before = value($node, $db, $granted);
	my $bench = pgbench_run($node, $db, $sql, '-c', 8, '-j', 2, '-T', 60);

	$node->poll_query_until($db, "SELECT ($granted) > $before + 308") or die 'no load';
	$crash->();
	my $answered = $bench->();
	$node->poll_query_until('postgres', 'SELECT true') or die 'server did not come back';
	my $spent = value($node, $db, $granted) - $before;

	cmp_ok($answered // -1, '>=', 300, "$what: load");
	cmp_ok($answered, '<=', $spent, "$what: answered <= ledger");
	cmp_ok($spent, '<=', $answered + 8, "$what: ledger <= answered + clients");
	return;
}

1;
