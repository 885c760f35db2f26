# An asker who fills the lock table: no failure is lost, and nothing is debited until each is counted.

use strict;
use warnings;

use LedgerTest qw(:DEFAULT fill_locks empty_locks session ask);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', conf => "max_connections = 20\nautovacuum = off\n");
ledger_database($node, 'test');
# a lock table that is soon full, which CREATE EXTENSION would not do with
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = 10');
$node->restart;
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;'
	  . ' CREATE ROLE team; CREATE ROLE ana LOGIN IN ROLE team; CREATE ROLE bob LOGIN IN ROLE team; CREATE ROLE cat LOGIN');
# reading stays where it is until it is cancelled
add_stays($node, 'test');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE v (person int NOT NULL, x int);
INSERT INTO v SELECT i, i % 100 FROM generate_series(1, 100) i;
SELECT dp_cdp.create_dataset('d', default_rho => 1e-6, max_failures => 4, max_groups => 5, max_rows => 5);
SELECT dp_cdp.create_dataset('k', default_rho => 1e-6, max_failures => 4, reuse => '1 day', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('v', 'd', unit => 'person');
CREATE TABLE w AS TABLE v;
SELECT dp_cdp.protect_table('w', 'k', unit => 'person');
SELECT dp_cdp.set_budget('d', r::regrole, rho => 1000), dp_cdp.set_budget('k', r::regrole, rho => 1000) FROM unnest('{team,cat}'::text[]) r;
EOC
my $query = 'SELECT dp_count(*) IS NULL FROM v WHERE stays(x) >= 0';

my $hog = $node->background_psql('test', on_error_stop => 0);

sub failures
{
	return value($node, 'test', q{SELECT failures || ' ' || (SELECT count(*) FROM dp_cdp_internal.release_log WHERE kind = 'failed' AND dataset = 'd') FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role = 'team'::regrole});
}

# ---------------------------------------------------------------------------
# Failures
# ---------------------------------------------------------------------------

for my $free (0 .. 3)
{
	my $bob = session($node, 'test', 'bob', $query);
	my $cat = session($node, 'test', 'cat', $query);
	my $ana = background($node, 'test', "SET SESSION AUTHORIZATION ana; SET test.stay = 600;\n$query;");
	my $pid = reader_of($node, 'test');
	fill_locks($hog, $free);
	kill 'INT', $pid;
	finish($ana);
	like($ana->{err}, qr/ERROR:  (?:57014|ZC002): .*charged/, "$free places: a release failed");
	my $error = ask($bob, $query);
	# the worker may have had what it needs
	like($error, qr/^(?:ZC003: .*nothing was debited.*|53200: .*|ZC002: .*nothing was charged.*|ZC001: 4 releases .*|)$/, "$free places: who pays from the same budget is refused for nothing, or answered");
	note $error;
	my $uncounted = $error =~ /could not count/;
	ok($uncounted || $error ne '' || failures() eq ($free + 1) . ' ' . ($free + 1), "$free places: an answer is given only where the failure is counted");
	empty_locks($hog);
	ok($node->poll_query_until('test', q{SELECT failures = } . ($free + 1) . q{ FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role = 'team'::regrole}), "$free places: it is counted as soon as that is possible");
	is(failures(), ($free + 1) . ' ' . ($free + 1), "$free places: once");
	is(ask($cat, $query), '', "$free places: others are answered");
	$_->quit for $bob, $cat;
}
like(debit_error($node, 'test', 'bob', "$query;"), qr/ZC001: 4 releases .* failed/, 'as many as are allowed were counted, and the budget is closed');

# ---------------------------------------------------------------------------
# Debits and kept answers
# ---------------------------------------------------------------------------

my $spent = q{SELECT round(rho_spent * 1e6) || ' ' || (SELECT count(*) FROM dp_cdp_internal.release_log WHERE dataset = b.dataset AND kind = 'granted' AND role_name = 'cat') FROM dp_cdp_internal.budget b WHERE dataset = '%s' AND role = 'cat'::regrole};
for my $free (0 .. 3)
{
	my $n = $free + 1;
	my $cat = session($node, 'test', 'cat', $query, "SELECT dp_count(*) IS NULL FROM w WHERE x < $n");
	my $kept = "SELECT dp_count(*) FROM w WHERE x < 10 * $n";
	my ($before, $before_kept) = map { value($node, 'test', sprintf($spent, $_)) } qw(d k);
	fill_locks($hog, $free);
	my $error = ask($cat, $query);
	my $error_kept = ask($cat, $kept);
	note $error, ' ', $error_kept;
	empty_locks($hog);
	my ($after, $after_kept) = map { value($node, 'test', sprintf($spent, $_)) } qw(d k);
	is($after, $error eq '' || $error !~ /nothing was debited|nothing was charged|53200/ ? join(' ', map { $_ + 1 } split / /, $before) : $before, "$free places: what an answer costs was debited, and is in the audit, or nothing was");
	is(ask($cat, $kept), '', "$free places: a kept answer is given afterwards");
	is(value($node, 'test', sprintf($spent, 'k')), join(' ', map { $_ + 1 } split / /, $before_kept), "$free places: and was paid once");
	$cat->quit;
}
is(value($node, 'test', q{SELECT string_agg(severity, ',') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'balances are the log\'s, and the chain holds');

$hog->quit;
$node->stop;
done_testing();
