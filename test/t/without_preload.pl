# Without shared_preload_libraries nothing is answered, and what an analyst
# gets says what to add to postgresql.conf.

use strict;
use warnings;

use Client;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_cdp;
	CREATE ROLE owner1 LOGIN;
	CREATE ROLE analyst1 LOGIN;
	CREATE ROLE reader LOGIN;
	GRANT CREATE ON SCHEMA public TO owner1, analyst1;
	CREATE TABLE unprotected AS SELECT 1 AS x;
	GRANT SELECT ON unprotected TO PUBLIC;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
	SET SESSION AUTHORIZATION owner1;
	CREATE TABLE visits (id int, patient int, dept text, cost numeric);
	INSERT INTO visits SELECT i, i, 'secret', 4711 FROM generate_series(1, 100) i;
	SELECT dp_cdp.create_dataset('clinic');
	SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
	SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1);
	GRANT SELECT ON visits TO reader;
	CREATE VIEW release AS SELECT dp_count(*) FROM visits;
	GRANT SELECT ON release TO PUBLIC;
});
is($node->safe_psql('postgres', 'SELECT dp_count(*) IS NOT NULL FROM visits',
		extra_params => [ '-U', 'analyst1' ]), 't', 'preloaded: an answer');

# as a role: SQLSTATE and message
sub refusal
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql, extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	unlike($out . $err, qr/4711|secret/, "$role: $sql: no data");
	return $err =~ /ERROR:\s+(\S+): (.*)/ ? "$1 $2" : "answered: $out";
}

my $remedy = qr/^ZC003 .*add shared_preload_libraries = 'dp_cdp' to postgresql\.conf/;

# a library that a session loads is as good as none
for my $preload ('nowhere', 'in sessions')
{
	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
	$node->append_conf('postgresql.conf', "session_preload_libraries = 'dp_cdp'") if $preload eq 'in sessions';
	$node->restart;

	for my $role ('analyst1', 'reader', 'owner1', 'postgres')
	{
		my $as = $role eq 'postgres' ? $node->safe_psql('postgres', 'SELECT current_user') : $role;

		like(refusal($as, $_), $remedy, "$preload: $role: $_")
			for ('SELECT dp_count(*) FROM visits',
			'SELECT dept, dp_count(*), dp_sum(cost, 0, 10) FROM visits GROUP BY dept',
			'SELECT dp_count(DISTINCT patient) FROM visits',
			'SELECT dp_sum(id, 0, 10) FROM visits',
			'SELECT dp_count(*) FROM unprotected',
			'SELECT * FROM release',
			'EXPLAIN SELECT dp_count(*) FROM visits',
			'PREPARE p AS SELECT dp_count(*) FROM visits; EXECUTE p',
			'COPY (SELECT dp_count(*) FROM visits) TO STDOUT',
			'DO $$ BEGIN PERFORM dp_count(*) FROM visits; END $$');
	}
	like(refusal('analyst1', $_), qr/^42501 permission denied for table visits/, "$preload: analyst1: $_")
		for ('SELECT * FROM visits', 'SELECT count(*) FROM visits', 'TABLE visits', 'COPY visits TO STDOUT');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM visits', extra_params => [ '-U', 'reader' ]),
		'100', "$preload: who holds SELECT keeps plain SQL");
	is($node->safe_psql('postgres', q{SELECT severity FROM dp_cdp.check_setup() WHERE object = 'shared_preload_libraries'}), 'critical', "$preload: so does check_setup");
	$node->safe_psql('postgres', 'CREATE DATABASE another');
	my ($rc, $out, $err) = $node->psql('another', 'CREATE EXTENSION dp_cdp');
	is($rc, 0, "$preload: CREATE EXTENSION succeeds");
	like($err, qr/WARNING:\ \ dp_cdp\ is\ installed,\ but\ the\ server\ has\ not\ preloaded\ its\ library.*
			^DETAIL:\ .*^HINT:\ \ Write\ shared_preload_libraries\ =\ 'dp_cdp'\ to\ postgresql\.conf,\ and\ restart/msx, "$preload: and warns");
	$node->safe_psql('postgres', 'DROP DATABASE another');
	like(refusal('owner1', "SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 2)"), qr/shared_preload_libraries/,
		"$preload: administration says it, too");
}

# the balance is what it was
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'dp_cdp'");
$node->adjust_conf('postgresql.conf', 'session_preload_libraries', "''");
$node->restart;
is($node->safe_psql('postgres', 'SELECT rho_spent FROM dp_cdp.budgets', extra_params => [ '-U', 'analyst1' ]),
	'0.01', 'preloaded again: the balance is there');
is($node->safe_psql('postgres', 'SELECT dp_count(*) IS NOT NULL FROM visits', extra_params => [ '-U', 'analyst1' ]),
	't', 'and answers are');
my ($rc, $out, $err) = $node->psql('template1', 'CREATE EXTENSION dp_cdp; DROP EXTENSION dp_cdp');
is($err, '', 'CREATE EXTENSION has nothing to say');

done_testing();
