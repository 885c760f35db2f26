# A server that gives out no transaction ids, as its tables are too old (wraparound): nothing is debited, nothing is
# given back, no failure is lost, and the ledger goes on by itself when there are ids again.  A replication slot keeps the
# tables old: with a prepared transaction of before, the server would write gigabytes of pg_subtrans when it starts.

use strict;
use warnings;

use LedgerTest qw(:DEFAULT add_waits wait_at_gate worker_errors);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# autovacuum would be at work without a pause
my $node = ledger_node('main', init => { allows_streaming => 'logical' }, conf => "max_connections = 20\nautovacuum_naptime = 1h\n");
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;'
	  . ' CREATE ROLE team; CREATE ROLE ana LOGIN IN ROLE team; CREATE ROLE bob LOGIN IN ROLE team; CREATE ROLE cat LOGIN; CREATE ROLE reader LOGIN');
add_waits($node, 'test');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE v (person int NOT NULL, x int);
INSERT INTO v SELECT i, i % 100 FROM generate_series(1, 100) i;
SELECT dp_cdp.create_dataset('d', default_rho => 1e-6, max_failures => 9, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('v', 'd', unit => 'person');
CREATE TABLE w AS TABLE v;
SELECT dp_cdp.create_dataset('k', default_rho => 1e-6, max_failures => 9, reuse => '1 day', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('w', 'k', unit => 'person');
SELECT dp_cdp.set_budget('d', r::regrole, rho => 1000), dp_cdp.set_budget('k', r::regrole, rho => 1000) FROM unnest('{team,cat}'::text[]) r;
GRANT SELECT ON v TO reader;
EOC
my $query = 'SELECT dp_count(*) IS NULL FROM v WHERE waits(x) >= 0';
my $kept = 'SELECT dp_count(*) IS NULL FROM w WHERE waits(x) >= 0';
my $bought = 'SELECT dp_count(*) FROM w WHERE x < 10';

# spent in millionths, and failures
sub balances
{
	return value($node, 'test', q{SELECT string_agg(format('%s %s %s %s', dataset, role::regrole, round(rho_spent * 1e6), failures), ', ' ORDER BY dataset, role) FROM dp_cdp_internal.budget});
}

# seconds that a process has computed
sub computed
{
	my ($pid) = @_;
	my @stat = split ' ', PostgreSQL::Test::Utils::slurp_file("/proc/$pid/stat") =~ s/^.*\) //sr;

	return ($stat[11] + $stat[12]) / 100;
}

# ---------------------------------------------------------------------------
# Few ids are left
# ---------------------------------------------------------------------------

my $answer = debit($node, 'test', 'bob', $bought);
$node->safe_psql('test', q{SELECT pg_create_logical_replication_slot('holds', 'pgoutput')});
$node->safe_psql('postgres', 'ALTER DATABASE template0 ALLOW_CONNECTIONS true');
$node->stop;
my ($control) = PostgreSQL::Test::Utils::run_command([ 'pg_controldata', $node->data_dir ]);
my ($oldest) = $control =~ /oldestXID: +(\d+)/ or die $control;
my $next = $oldest + 2**31 - 1 - 3_000_000 - 100;
# where the outcome of these transactions goes
PostgreSQL::Test::Utils::append_to_file(sprintf('%s/pg_xact/%04X', $node->data_dir, $next / 2**20), "\0" x 262144);
PostgreSQL::Test::Utils::system_or_bail('pg_resetwal', '-x', $next, $node->data_dir);
$node->start;

is(debit_error($node, 'test', 'bob', "$query;"), '', 'with some ids left it is answered');
my $gate = $node->background_psql('test');
$gate->query_safe('SELECT pg_advisory_lock(1, 77)');
my $ana = background($node, 'test', "SET SESSION AUTHORIZATION ana;\n$query;");
my $cat = background($node, 'test', "SET SESSION AUTHORIZATION cat;\n$kept;");
wait_at_gate($node, 'test', 2);
my $balances = balances();
is($balances, 'd team 2 0, d cat 0 0, k team 1 0, k cat 1 0', 'two releases read rows, which were paid for');

# ---------------------------------------------------------------------------
# None is
# ---------------------------------------------------------------------------

my $worker = worker_of($node, 'test');
my ($log, $since, $computed) = (-s $node->logfile, time, computed($worker));
like(debit_error($node, 'test', 'postgres', 'DO $$ BEGIN LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$'),
	qr/ERROR:  54000: database is not accepting commands/, 'the server gives out no more');
my $refused = qr/ERROR:  ZC003: the privacy ledger failed; nothing was debited: .*SQLSTATE 54000: a limit of the server is reached, such as that of transactions before a VACUUM \(wraparound\)/s;
# it would wait, had it met a row
like(debit_error($node, 'test', 'bob', "$query;"), $refused, 'a release is refused before it reads a row, and the error says why');
like(debit_error($node, 'test', 'cat', "$query;"), $refused, 'so is one of another budget');
like(debit_error($node, 'test', 'bob', "$kept AND person < 50;"), $refused, 'and one that would be kept');
like(debit_error($node, 'test', 'bob', 'SELECT dp_count(*) FROM v WHERE random() < 0.5;'), qr/ERROR:  ZC002: /, 'what may not be asked is refused as ever');
is(debit($node, 'test', 'bob', $bought), $answer, 'an answer that is kept is given again');
is(debit($node, 'test', 'bob', q{SELECT dp_cdp.epsilon_spent(0.5, 1e-6) > 1}), 't', 'calculators work');
is(debit($node, 'test', 'bob', q{SELECT count(*) > 0 FROM dp_cdp.preview('SELECT dp_count(*) FROM v')}), 't', 'so do previews');
like(debit($node, 'test', 'bob', 'EXPLAIN SELECT dp_count(*) FROM v'), qr/DpRelease/, 'and EXPLAIN');
is(debit($node, 'test', 'reader', 'SELECT count(*) FROM v'), '100', 'and plain SQL of who may read');

$node->safe_psql('test', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM v %'});
like(finish($ana), qr/ERROR:  57014: canceling private query; what it was charged \(rho 0\.000001\) stays charged, and it counts as a failure$/m, 'a release fails');
$gate->query_safe('SELECT pg_advisory_unlock(1, 77)');
like(finish($cat), qr/ERROR:  ZC003: the answer could not be kept and is not shown: .*; it counts as a failure$/m, 'an answer that cannot be kept is not shown');
is(balances(), $balances, 'neither is counted yet, and nothing is given back');
like(debit_error($node, 'test', $_, 'SELECT dp_count(*) FROM v;'), $refused, "$_ gets nothing") for qw(bob cat);
sleep 2;

# each failure is tried once a second, and each refusal above has its error
my $seconds = time - $since;
my $errors = worker_errors($node, $log);
cmp_ok($errors, '<', 15 + 3 * $seconds, sprintf('the worker wrote %d errors in %.1f seconds', $errors, $seconds));
cmp_ok($errors, '>', 5, 'which are all that it met');
cmp_ok(computed($worker) - $computed, '<', 0.2 * $seconds, 'and slept meanwhile');
is(worker_of($node, 'test'), $worker, 'it is there still');
is(balances(), $balances, 'nothing was debited');

# ---------------------------------------------------------------------------
# There are ids again
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('holds')});
$node->safe_psql($_, 'VACUUM (FREEZE)') for qw(template0 template1 test postgres);
ok($node->poll_query_until('test', 'SELECT sum(failures) = 2 FROM dp_cdp_internal.budget'), 'failures are counted');
is(balances(), 'd team 2 1, d cat 0 0, k team 1 0, k cat 1 1', 'each at its budget, once');
is(debit_error($node, 'test', $_, "$query;"), '', "$_ is answered") for qw(bob cat);
is(debit_error($node, 'test', 'cat', "$kept;"), '', 'and the answer that could not be kept is given');
is(balances(), 'd team 3 1, d cat 1 0, k team 1 0, k cat 1 1', 'for what was paid');
is(value($node, 'test', q{SELECT string_agg(severity, ',') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'balances are the log\'s, and the chain holds');

$gate->quit;
$node->stop;
done_testing();
