# psycopg 3, and through it what SQLAlchemy and pandas do: see clients/psycopg3.py.

use strict;
use warnings;

use DriverTest;
use PostgreSQL::Test::Utils;
use Test::More;

# Debian's package is for Debian's Python
my ($python) = grep { can_run($_, '-c', 'import psycopg') } 'python3', '/usr/bin/python3';
plan skip_all => 'psycopg 3 is not installed (Debian: python3-psycopg)' unless $python;

my $node = driver_node();
run_client($node, $python, clients() . '/psycopg3.py');

# the same two tables where the library is not loaded
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
my @as_analyst = (extra_params => [ '-U', 'analyst1' ]);
is($node->safe_psql('clinic', 'SELECT count(*) FROM admissions', @as_analyst), '0', 'without the library: row-level security shows no rows');
like(($node->psql('clinic', 'SELECT count(*) FROM visits', @as_analyst))[2], qr/permission denied for table visits/, '... and no privilege means no access');

done_testing();
