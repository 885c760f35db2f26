# Pages of dp_cdp.report of several datasets: what is in them, and in "make test-all"
# what a headless Chromium shows of them (clients/report_page.py), of a long log; and
# the queries and names of docs/monitoring, as a role with no other privilege.

use strict;
use warnings;

use DriverTest;
use File::Basename;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $here = dirname(__FILE__);
my $rows = $ENV{REPORT_ROWS} // by_run(4_000, 200_000);
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nlog_min_messages = warning\n");
$node->start;
$node->safe_psql('postgres', q{CREATE DATABASE clinic ENCODING 'UTF8' TEMPLATE template0});
$node->safe_psql('clinic', 'CREATE EXTENSION dp_cdp');

# Fills a log by hand, and balances from it.
sub history
{
	my ($sql) = @_;

	$node->safe_psql('clinic', "SET client_min_messages = error;\n$sql\nSELECT dp_cdp.adopt_ledger();");
	return;
}

# A page as a file.
my %pages;

sub page
{
	my ($name, $dataset, $function) = @_;
	my $html = $node->safe_psql('clinic', sprintf("SELECT dp_cdp.%s('%s')", $function // 'report', $dataset));
	my $file = PostgreSQL::Test::Utils::tempdir() . "/$name.html";

	open(my $out, '>', $file) or die "$file: $!";
	print $out $html, "\n";
	close($out);
	$pages{$name} = $file;
	note(sprintf('%s: %d kB', $name, length($html) / 1024));
	return;
}

$node->safe_psql('clinic', slurp_file("$here/../demo/history.sql"));
page('registry', 'registry');
page('certificate', 'registry', 'certificate');

$node->safe_psql('clinic', q{SELECT dp_cdp.create_dataset('empty', rho => 1)});
page('empty', 'empty');

# names that would be markup, run scripts or call home
my $call = 'http://evil.example/';
my @hostile = ('"><img src=' . $call . '1>', "'><script>alert(1)</script>", '</title><svg onload=alert(2)>', "\x{202e}evil\x{200b}",
	"]]><!--", '<link rel=stylesheet href=' . $call . '2>', 'a' x 63);
{
	my $sql = qq{SELECT dp_cdp.create_dataset('"><img src=${call}0>', rho => 5);\n};
	for my $role (@hostile)
	{
		utf8::encode(my $bytes = $role);
		my ($name, $literal) = ('"' . $bytes =~ s/"/""/gr . '"', "'" . $bytes =~ s/'/''/gr . "'");
		$sql .= qq{CREATE ROLE $name;\nSELECT dp_cdp.set_budget('"><img src=${call}0>', (SELECT oid FROM pg_roles WHERE rolname = $literal)::regrole, rho => 1);\n}
		  . qq{INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, application, aggregates, groups, rho, delta, granted)
SELECT '"><img src=${call}0>', oid, oid, $literal, $literal, $literal, 0.01, 0, g FROM pg_roles, (VALUES (true), (false)) v(g) WHERE rolname = $literal;\n};
	}
	history($sql);
}
page('hostile', qq{"><img src=${call}0>});

# 500 roles, three years of days, first of a fourth of the rows
history(<<EOC);
SELECT dp_cdp.create_dataset('many', rho => 100000);
DO \$\$ BEGIN FOR i IN 1..500 LOOP EXECUTE format('CREATE ROLE role_%s', i);
	PERFORM dp_cdp.set_budget('many', format('role_%s', i)::regrole, rho => 1000 + i, period => CASE WHEN i % 5 = 0 THEN interval '1 month' END); END LOOP; END \$\$;
CREATE PROCEDURE fill(first int) LANGUAGE sql AS \$\$
INSERT INTO dp_cdp_internal.release_log (released_at, dataset, role, session_role, application, aggregates, rho, delta, granted)
SELECT now() - make_interval(mins => i::int * 1576 / ($rows / 1000)), 'many', r.oid, r.oid, 'tool ' || i % 40, 'dp_count(*)', 0.01 * (i % 7), 0, i % 50 <> 0
FROM generate_series(first, $rows, 4) i JOIN pg_roles r ON r.rolname = 'role_' || (i::bigint * 7919) % 500 + 1
\$\$;
CALL fill(1);
EOC
my $overview = "SELECT count(*), count(o::text) FROM dp_cdp.overview o WHERE dataset = 'many'";
my @looks = ("SELECT length(dp_cdp.report('many'))", $overview);
$node->safe_psql('clinic', 'VACUUM ANALYZE dp_cdp_internal.release_log');
my @few = map { blocks($node, 'clinic', $_) } @looks;
history('CALL fill(2); CALL fill(3); CALL fill(4);');
$node->safe_psql('clinic', 'VACUUM ANALYZE dp_cdp_internal.release_log');
cmp_ok(blocks($node, 'clinic', $looks[$_]), '<', 5 * $few[$_], "blocks grow no faster than rows: $looks[$_]") for 0, 1;
page('many', 'many');
is($node->safe_psql('clinic', $overview), '501|501', 'an overview of 500 roles');
is($node->safe_psql('clinic', "SELECT (dp_cdp.report_data('many') #>> '{totals,rho}')::numeric = (SELECT sum(rho) FROM dp_cdp_internal.release_log WHERE dataset = 'many' AND granted)"),
	't', 'its sum is the log\'s');

my ($python) = grep { can_run($_, '-c', 'import xml.etree.ElementTree') } 'python3', '/usr/bin/python3';
SKIP:
{
	skip 'there is no python3', 1 unless $python;
	my $shown = by_run(0, 1);
	my ($chromium) = grep { $shown && can_run($_, '--version') } 'chromium', 'chromium-browser', 'google-chrome';
	my $work = $ENV{REPORT_KEEP} // PostgreSQL::Test::Utils::tempdir();

	run_client($node, $python, clients() . '/report_page.py', $chromium // '', $work, map { "$_=$pages{$_}" } sort keys %pages);
	skip 'chromium is not installed (Debian: chromium): pages were read, not shown', 1 if $shown && !$chromium;
}

# docs/monitoring
($python) = grep { can_run($_, '-c', 'import yaml') } 'python3', '/usr/bin/python3';
SKIP:
{
	skip 'PyYAML is not installed (Debian: python3-yaml)', 1 unless $python;
	$node->safe_psql('clinic', <<'EOC');
CREATE ROLE monitor LOGIN;
GRANT SELECT ON dp_cdp.metrics, dp_cdp.metrics_hour TO monitor;
GRANT EXECUTE ON FUNCTION dp_cdp.setup_metrics() TO monitor;
EOC
	run_client($node, $python, clients() . '/monitoring.py', "$here/../../docs/monitoring");
}

done_testing();
