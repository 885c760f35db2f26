# docs/examples, and the notebook of docs/howto/connect-a-tool.md: the program asks once, pays once, and draws what it was told.

use strict;
use warnings;

use DriverTest;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Debian's packages are for Debian's Python
my ($python) = grep { can_run($_, '-c', 'import matplotlib, pandas, psycopg') } 'python3', '/usr/bin/python3';
plan skip_all => 'psycopg 3, pandas and matplotlib are not installed (Debian: python3-psycopg, python3-pandas, python3-matplotlib)' unless $python;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nlog_min_messages = warning\n");
$node->start;
$node->safe_psql('postgres', q{CREATE DATABASE example ENCODING 'UTF8' TEMPLATE template0});
$node->safe_psql('example', <<'EOC');
CREATE EXTENSION dp_cdp;
CREATE ROLE alice LOGIN;
CREATE TABLE visits AS
SELECT i % 5000 AS patient_id, (ARRAY['cardiology', 'neurology', 'surgery'])[1 + i % 3] AS dept FROM generate_series(1, 20000) i;
ALTER TABLE visits ALTER dept SET NOT NULL;
SELECT dp_cdp.create_dataset('clinic', rho => 1);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient_id');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['cardiology', 'neurology', 'radiology', 'surgery']);
SELECT dp_cdp.set_budget('clinic', 'alice', rho => 0.1);
EOC

my $picture = $ENV{EXAMPLE_KEEP} // PostgreSQL::Test::Utils::tempdir() . '/visits_by_dept.svg';
my ($out, $err);
{
	local %ENV = (%ENV, MPLCONFIGDIR => PostgreSQL::Test::Utils::tempdir());
	IPC::Run::run([ $python, dirname(__FILE__) . '/../../docs/examples/visits_by_dept.py', $node->connstr('example') . ' user=alice', $picture ],
		'>', \$out, '2>', \$err);
}
is($? >> 8, 0, 'the example runs') or diag($err);
my %visits = $out =~ /^ *(\w+) +(-?\d+) +[\d.]+ +(?:True|False)$/mg;
is_deeply([ sort keys %visits ], [qw(cardiology neurology radiology surgery)], 'a row of each department') or diag($out);
# noise is some 30
ok(abs($visits{surgery} - 6667) < 500 && abs($visits{radiology}) < 500, 'near the truth') or diag($out);
my ($margin) = $out =~ /surgery +\d+ +([\d.]+)/;
cmp_ok($margin, '>', 1, 'with a margin');
like($out, qr/^rho 0\.09 is left$/m, 'it has paid once');
my $svg = slurp_file($picture);
like($svg, qr/<text [^>]*>\Q$_\E</, "the plot has \"$_\" as text") for 'radiology', 'visits, with margins of 95 %';
cmp_ok(() = $svg =~ /LineCollection/g, '>=', 1, 'and error bars');
is($node->safe_psql('example', q{SELECT sum(rho) = 0.01 FROM dp_cdp.releases WHERE granted}), 't', 'nothing else was paid for');

# the notebook, in a database of its own
$node->safe_psql('postgres', 'DROP DATABASE example');
$node->safe_psql('postgres', 'DROP ROLE alice');
with_tables($node);
$node->safe_psql('clinic', q{CREATE ROLE dashboard LOGIN; SELECT dp_cdp.set_budget('clinic', 'dashboard', rho => 0.1)});
run_page($python, 'python', 'connect-a-tool', $node);

done_testing();
