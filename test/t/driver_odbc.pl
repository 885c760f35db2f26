# psqlODBC, through pyodbc (see clients/odbc.py) and through unixODBC's isql.

use strict;
use warnings;

use DriverTest;
use PostgreSQL::Test::Utils;
use Test::More;

# Debian's package is for Debian's Python
my ($python) = grep { can_run($_, '-c', q{import pyodbc; 'PostgreSQL Unicode' in pyodbc.drivers() or exit(1)}) } 'python3', '/usr/bin/python3';
plan skip_all => 'pyodbc or psqlODBC is not installed (Debian: python3-pyodbc, odbc-postgresql)' unless $python;

my $node = driver_node();
run_client($node, $python, clients() . '/odbc.py');

SKIP:
{
	skip 'isql is not installed (Debian: unixodbc)', 3 unless can_run('isql', '--version');

	my $to = 'DRIVER={PostgreSQL Unicode};Servername=' . $node->host . ';Port=' . $node->port . ';Database=clinic;UID=analyst1';
	my $before = $node->safe_psql('clinic', 'SELECT spent()');
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'isql', '-k', $to, '-b', '-v', '-d,' ], '<', \"SELECT dept, dp_count(*) FROM visits GROUP BY dept\nSELECT * FROM visits\n", '>', \$out, '2>', \$err);
	is(join(' ', $out =~ /^([a-d]),-?\d+$/mg), 'a b c d', 'isql: rows');
	like("$out$err", qr/\[ZC002\].*ask for private aggregates/, 'isql: a refusal');
	is($node->safe_psql('clinic', "SELECT spent() - $before"), 1, 'isql: costs 1');
}

done_testing();
