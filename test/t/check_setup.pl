# What dp_cdp.check_setup() says of the server: standby, promotion.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nmax_worker_processes = 20\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_cdp;
	CREATE ROLE analyst1 LOGIN;
	CREATE TABLE visits (patient int NOT NULL);
	INSERT INTO visits SELECT i FROM generate_series(1, 100) i;
	SELECT dp_cdp.create_dataset('clinic', rho => 5);
	SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
	SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1);
	SELECT dp_cdp.harden();
});
$node->safe_psql('postgres', 'SELECT dp_count(*) FROM visits', extra_params => [ '-U', 'analyst1' ]);

# severities and objects of what is found, but for fsync, which is off in the harness
sub found
{
	my ($server) = @_;

	return $server->safe_psql('postgres',
		q{SELECT string_agg(severity || ' ' || object, ', ' ORDER BY object) FROM dp_cdp.check_setup() WHERE object NOT LIKE 'database %' AND object <> 'fsync'});
}

is(found($node), '', 'a primary in order');

my $standby = standby_of($node, 'standby');
is(found($standby), 'info server', 'a standby says what it is');
for my $call (q{create_dataset('second')}, q{set_budget('clinic', 'analyst1', rho => 2)}, q{protect_table('visits', 'clinic', 'patient')},
	q{forget_name('visits', 'clinic')})
{
	my ($rc, $out, $err) = $standby->psql('postgres', "SELECT dp_cdp.$call");

	like($err, qr/policies and budgets cannot be changed on a standby; call the function on the primary/, "$call on a standby");
}

$standby->promote;
is(found($standby), 'warning ledger', 'a promoted standby waits for its ledger to be adopted');
$standby->safe_psql('postgres', 'SELECT dp_cdp.adopt_ledger()');
is(found($standby), '', 'adopted');
$standby->stop;
$node->stop;

done_testing();
