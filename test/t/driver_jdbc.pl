# PostgreSQL's JDBC driver: see clients/Jdbc.java.

use strict;
use warnings;

use DriverTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $jar = '/usr/share/java/postgresql.jar';
plan skip_all => 'the JDBC driver is not installed (Debian: libpostgresql-jdbc-java)' unless -f $jar;
plan skip_all => 'there is no Java compiler (Debian: default-jdk-headless)' unless can_run('javac', '-version');

my $classes = PostgreSQL::Test::Utils::tempdir() . '/classes';
mkdir $classes;
system_or_bail('javac', '-nowarn', '-d', $classes, '-cp', $jar, glob(clients() . '/*.java'));

my $node = driver_node();
run_client($node, 'java', '-XX:TieredStopAtLevel=1', '-cp', "$classes:$jar", 'Jdbc', clients());

done_testing();
