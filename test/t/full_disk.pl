# A full disk: no answer without its debit, no failure that is lost, and the ledger goes on when there is room again.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', conf => "max_connections = 20\nautovacuum = off\n");
ledger_database($node, 'test');
my $ana = 'ana' x 20;
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;'
	  . ' CREATE ROLE team; CREATE ROLE bob LOGIN IN ROLE team; CREATE ROLE cat LOGIN;'
	  # whose rows in the audit are longer than others
	  . " CREATE ROLE $ana LOGIN IN ROLE team");
# reading stays where it is until it is cancelled
add_stays($node, 'test');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE v (person int NOT NULL, x int);
INSERT INTO v SELECT i, i % 100 FROM generate_series(1, 100) i;
SELECT dp_cdp.create_dataset('d', default_rho => 1e-6, max_failures => 9, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('v', 'd', unit => 'person');
CREATE TABLE w AS TABLE v;
SELECT dp_cdp.create_dataset('k', default_rho => 1e-6, max_failures => 4, reuse => '1 day', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('w', 'k', unit => 'person');
SELECT dp_cdp.set_budget('d', 'team', rho => 1000), dp_cdp.set_budget('d', 'cat', rho => 1000), dp_cdp.set_budget('k', 'team', rho => 1000);
EOC
my $query = 'SELECT dp_count(*) IS NULL FROM v WHERE stays(x) >= 0';
my $free = qr/ERROR:  (?:ZC003|ZC002): .*nothing was (?:debited|charged)/m;

# debits and failures that the audit has, and those of the balance
sub audit
{
	my ($dataset) = @_;

	return value($node, 'test', qq{SELECT count(*) FILTER (WHERE kind = 'granted') || ' ' || count(*) FILTER (WHERE kind = 'failed') FROM dp_cdp_internal.release_log WHERE dataset = '$dataset' AND role_name <> 'cat'});
}

sub balance_of
{
	my ($dataset) = @_;

	return value($node, 'test', qq{SELECT round(rho_spent * 1e6) || ' ' || failures FROM dp_cdp_internal.budget WHERE dataset = '$dataset' AND role = 'team'::regrole});
}

# a release that is cancelled while it reads rows, after something was done; its error
sub cancelled
{
	my ($meanwhile) = @_;
	my $run = background($node, 'test', "SET SESSION AUTHORIZATION $ana; SET test.stay = 600;\n$query;");
	my $pid = reader_of($node, 'test');

	$meanwhile->();
	kill 'INT', $pid;
	return finish($run);
}

# The worker may not make files longer than one segment of WAL, and those of the ledger are.
sub disk
{
	my ($full) = @_;
	my $pid = worker_of($node, 'test');

	system_or_bail('prlimit', '--pid', $pid, '--fsize=' . ($full ? 1048576 : 'unlimited') . ':');
	return;
}

is(debit_error($node, 'test', 'bob', "$query;"), '', 'a worker is there');
disk(1);
# until the last page has no room for the shortest of rows
my $fill = 'DO $$ BEGIN FOR i IN 1 .. 10000 LOOP EXECUTE \'SELECT dp_count(*) FROM v\'; END LOOP; END $$';
like(debit_error($node, 'test', 'bob', $fill),
	qr/$free.*SQLSTATE \w{5}/s, 'the disk is full: a release is refused for nothing, and the error says why');
my ($given) = split / /, audit('d');
note "$given answers";
is(balance_of('d'), "$given 0", 'each that is in the audit was debited');
my $kept = audit('k');
like(debit_error($node, 'test', 'bob', "SELECT dp_count(*) IS NULL FROM w WHERE person < 3000;"), $free, 'one that would be kept, too');
is(audit('k'), $kept, 'nothing of it is in the audit');
disk(0);
is(debit_error($node, 'test', 'bob', "$query;"), '', 'there is room again: it is answered');
is(audit('d'), ++$given . ' 0', 'and debited');

like(cancelled(sub { disk(1); debit_error($node, 'test', 'cat', $fill) }), qr/ERROR:  57014: .*stays charged, and it counts as (?:a )?fa/, 'a release fails, and the disk is full');
($given) = split / /, audit('d');
like(debit_error($node, 'test', 'bob', "$query;"), qr/ERROR:  ZC003: .*could not count.*nothing was debited/m, 'its budget pays for nothing until that is counted');
is(balance_of('d'), "$given 0", 'it is not counted yet');
like(debit_error($node, 'test', 'cat', 'SELECT dp_count(*) FROM v;'), $free, 'nor is a row of others written');
disk(0);
ok($node->poll_query_until('test', q{SELECT failures = 1 FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role = 'team'::regrole}), 'there is room again: it is counted');
is(audit('d'), "$given 1", 'once');
is(debit_error($node, 'test', 'bob', "$query;"), '', 'and its budget pays');

is(value($node, 'test', q{SELECT string_agg(severity, ',') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'balances are the log\'s, and the chain holds');

$node->stop;
done_testing();
