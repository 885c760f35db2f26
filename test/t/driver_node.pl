# node's pg and pg-cursor, and through them what knex, sequelize, Cube, Evidence
# and SQLPad send: see clients/node_pg.js.

use strict;
use warnings;

use DriverTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'node is not installed (Debian: nodejs)' unless can_run('node', '--version');

# put into NODE_PATH by test/tools/node_modules.sh, or Debian's package node-pg
plan skip_all => 'pg and pg-cursor are not installed, and npm could not fetch them (or Debian: node-pg)'
  unless can_run('node', '-e', 'require("pg"); require("pg-cursor")');

my $node = driver_node();
run_client($node, 'node', clients() . '/node_pg.js');

done_testing();
