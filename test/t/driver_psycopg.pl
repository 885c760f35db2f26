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

done_testing();
