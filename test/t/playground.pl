# docs/playground.html in a headless Chromium: its numbers beside a server's, by clients/playground.py.

use strict;
use warnings;

use DriverTest;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($chromium) = grep { can_run($_, '--version') } 'chromium', 'chromium-browser', 'google-chrome';
plan skip_all => 'chromium is not installed (Debian: chromium)' unless $chromium;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nlog_min_messages = warning\n");
$node->start;
$node->safe_psql('postgres', q{CREATE DATABASE clinic ENCODING 'UTF8' TEMPLATE template0});
$node->safe_psql('clinic', 'CREATE EXTENSION dp_cdp');
run_client($node, 'python3', clients() . '/playground.py', $chromium, PostgreSQL::Test::Utils::tempdir(), dirname(__FILE__) . '/../../docs/playground.html');

done_testing();
