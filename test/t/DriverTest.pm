# Real client drivers at a server with dp_cdp.  A driver's program is in
# clients/; it asks as analyst1, reads the ledger as auditor, and prints
#
#	ok - name			not ok - name			todo not ok - name # reason
#	# what was seen instead
#	end N				at its end: how many checks there were (or 1..N, where they are numbered)
#
# and each line becomes a test here.

package DriverTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(clients can_run driver_node run_client run_page with_tables);

# the directory of the programs
sub clients
{
	return dirname(__FILE__) . '/clients';
}

# whether a command succeeds
sub can_run
{
	my (@command) = @_;
	my $output = '';

	return eval { IPC::Run::run(\@command, '<', \undef, '>&', \$output) } ? 1 : 0;
}

# a server with the database "clinic", as clients/setup.sql makes it
sub driver_node
{
	my $node = PostgreSQL::Test::Cluster->new('main');

	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nlog_min_messages = warning\n");
	$node->start;
	plan skip_all => 'needs a unix socket' unless $node->host =~ m{^/};
	$node->safe_psql('postgres', q{CREATE DATABASE clinic ENCODING 'UTF8' TEMPLATE template0});
	$node->safe_psql('clinic', slurp_file(clients() . '/setup.sql'));
	return $node;
}

# Runs a program; its checks become tests.  (No word of the environment but
# the server's address: drivers read PGUSER and the like.)
sub run_client
{
	my ($node, @command) = @_;
	my ($output, $ended) = ('', undef);
	my @checks;

	{
		local %ENV = %ENV;
		delete @ENV{ grep { /^PG/ } keys %ENV };
		@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'clinic');
		# standard error goes to the log of the test
		IPC::Run::run(\@command, '<', \undef, '>', \$output);
	}
	my $status = $? >> 8;

	for my $line (split /\n/, $output)
	{
		if ($line =~ /^(todo )?(not )?ok (?:\d+ )?- (.*?)(?: # (.*))?$/)
		{
			push @checks, { good => !$2, name => $3, todo => $1 ? $4 : undef, seen => [] };
		}
		elsif ($line =~ /^(?:end |1\.\.)(\d+)$/)
		{
			$ended = $1;
		}
		elsif (@checks)
		{
			push @{ $checks[-1]{seen} }, $line =~ s/^# ?//r;
		}
		else
		{
			diag($line);
		}
	}
	for my $check (@checks)
	{
		local our $TODO = $check->{todo};
		ok($check->{good}, $check->{name});
		diag(@{ $check->{seen} } ? join("\n", @{ $check->{seen} }) : 'nothing was said') if !$check->{good} && !$check->{todo};
	}
	is($status, 0, 'the program ended well');
	is($ended, scalar @checks, 'and all its checks are here')
		or diag(map { "$_\n" } @checks ? @{ $checks[-1]{seen} } : ());
	return;
}

# the tables of docs/howto, in a database of the name that its pages have
sub with_tables
{
	my ($node) = @_;
	my $page = slurp_file(clients() . '/../../../docs/howto/README.md');

	$node->safe_psql('postgres', q{CREATE DATABASE clinic ENCODING 'UTF8' TEMPLATE template0});
	$node->safe_psql('clinic', join('', $page =~ /^```sql\n(.*?)^```$/gms));
	return;
}

# Runs what a page of docs/howto shows as commands, or for Python; its checks become tests.  where: the node of each host.
sub run_page
{
	my ($python, $how, $page, $node, %where) = @_;
	my $top = clients() . '/../../..';

	run_client($node, 'bash', '-c', 'cd "$0" && exec "$@"', $top, $python, 'test/tools/readme_test.py', $how, "docs/howto/$page.md",
		map { "$_=" . $where{$_}->host . ':' . $where{$_}->port } sort keys %where);
	return;
}

1;
