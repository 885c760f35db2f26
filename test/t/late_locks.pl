# A lock table that fills after the debit: answers that are to be kept, refusals that are to be audited, and parallel workers,
# which take locks of their own.

use strict;
use warnings;

use LedgerTest qw(:DEFAULT fill_locks empty_locks session ask add_waits wait_at_gate worker_errors);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = ledger_node('main', conf => "max_connections = 20\nautovacuum = off\nmax_worker_processes = 16\n");
ledger_database($node, 'test');
# a lock table that is soon full, which CREATE EXTENSION would not do with
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = 10');
$node->restart;
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;'
	  . ' CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE poor LOGIN');
add_waits($node, 'test');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE w (person int NOT NULL, x int);
INSERT INTO w SELECT i, i % 100 FROM generate_series(1, 100) i;
CREATE TABLE letters (person int NOT NULL, note text);
INSERT INTO letters SELECT i, CASE WHEN i IN (7, 17) THEN (SELECT string_agg(md5(j::text || i), '') FROM generate_series(1, 400) j) ELSE 'x' END FROM generate_series(1, 1000) i;
ANALYZE w, letters;
SELECT dp_cdp.create_dataset('k', default_rho => 1e-6, max_failures => 99, reuse => '1 day', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('w', 'k', unit => 'person');
SELECT dp_cdp.create_dataset('l', default_rho => 1e-6, max_failures => 99, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('letters', 'l', unit => 'person');
SELECT dp_cdp.set_budget(d, r::regrole, rho => 1) FROM unnest('{k,l}'::text[]) d, unnest('{ana,bob}'::text[]) r;
SELECT dp_cdp.set_budget('l', 'poor', rho => 1e-6);
EOC
my $hog = $node->background_psql('test', on_error_stop => 0);
my $gate = $node->background_psql('test');

# spent in millionths, and failures
sub balance_of
{
	my ($dataset, $role) = @_;

	return value($node, 'test', "SELECT round(rho_spent * 1e6) || ' ' || failures FROM dp_cdp_internal.budget WHERE dataset = '$dataset' AND role = '$role'::regrole");
}

sub counted
{
	my ($dataset, $role, $failures, $what) = @_;

	ok($node->poll_query_until('test', "SELECT failures = $failures FROM dp_cdp_internal.budget WHERE dataset = '$dataset' AND role = '$role'::regrole"), $what);
	return;
}

# ---------------------------------------------------------------------------
# Answers that are to be kept
# ---------------------------------------------------------------------------

my ($spent, $failures) = (0, 0);
for my $free (0 .. 3)
{
	my $query = "SELECT dp_count(*) IS NULL FROM w WHERE waits(x) >= $free";

	$gate->query_safe('SELECT pg_advisory_lock(1, 77)');
	my $ana = background($node, 'test', "SET SESSION AUTHORIZATION ana;\n$query;");
	wait_at_gate($node, 'test', 1);
	$spent++;
	fill_locks($hog, $free);
	$gate->query_safe('SELECT pg_advisory_unlock(1, 77)');
	my $error = finish($ana);
	empty_locks($hog);
	note $error;
	like($error, qr/^$|ERROR:  ZC003: the answer could not be kept and is not shown: .*; it counts as .*failure|ERROR:  ZC002: private query failed while it read protected rows; what it was charged .* stays charged, and it counts as .*failure/,
		"$free places when rows were read: the answer is kept, or not shown");
	$failures++ if $error ne '';
	counted('k', 'ana', $failures, "$free places: a failure is counted");
	is(debit($node, 'test', 'ana', $query), 'f', "$free places: asked again it is answered");
	is(balance_of('k', 'ana'), "$spent $failures", "$free places: and was paid for once");

	# answers that are kept need no debit
	my $again = session($node, 'test', 'ana', $query);
	fill_locks($hog, $free);
	$error = ask($again, $query);
	empty_locks($hog);
	note $error;
	like($error, qr/^$|^53200: out of shared memory|nothing was (?:debited|charged)/, "$free places: it is given again, or refused");
	is(balance_of('k', 'ana'), "$spent $failures", "$free places: for nothing");
	$again->quit;
}
cmp_ok($failures, '>', 0, 'some could not be kept');

# nor is there a worker, and none can start
$gate->query_safe('SELECT pg_advisory_lock(1, 77)');
my $ana = background($node, 'test', "SET SESSION AUTHORIZATION ana;\nSELECT dp_count(*) IS NULL FROM w WHERE waits(x) >= 7;");
wait_at_gate($node, 'test', 1);
my $worker = worker_of($node, 'test');
fill_locks($hog, 0);
kill 'TERM', $worker;
$gate->query_safe('SELECT pg_advisory_unlock(1, 77)');
my $error = finish($ana);
empty_locks($hog);
like($error, qr/ERROR:  ZC003: the answer could not be kept and is not shown: .*the charge stays.*; it counts as a failure$/m, 'without a worker it is not shown');
counted('k', 'ana', ++$failures, '... that is a failure');
is(balance_of('k', 'ana'), ++$spent . " $failures", '... and charged');

# ---------------------------------------------------------------------------
# Refusals
# ---------------------------------------------------------------------------

my $too_dear = 'SELECT dp_count(*) IS NULL FROM letters WHERE person > 5';
my $refused = q{SELECT coalesce(sum(repeats), 0) FROM dp_cdp_internal.release_log WHERE kind = '%s' AND role_name = 'poor'};
is(debit_error($node, 'test', 'poor', "$too_dear;"), '', 'a budget for one answer');
for my $free (0 .. 3)
{
	my $poor = session($node, 'test', 'poor', $too_dear);
	fill_locks($hog, $free);
	my $error = ask($poor, $too_dear);
	my $log = -s $node->logfile;
	my $since = time;

	# refused without a debit, which the worker is to write down when it can
	like(ask($poor, 'SELECT dp_count(*) FROM letters WHERE random() < 0.5'), qr/^(?:ZC002|53200): /, "$free places: what may not be asked");
	select undef, undef, undef, 0.5;
	my $errors = worker_errors($node, $log);
	empty_locks($hog);
	note "$error, $errors errors";
	like($error, qr/^ZC001: |^53200: |nothing was (?:debited|charged)/, "$free places: a debit is refused");
	cmp_ok($errors, '<', 4 + 4 * (time - $since), "$free places: the worker does not fill the log");
	is(ask($poor, $too_dear) =~ /^(\w+)/ && $1, 'ZC001', "$free places: and goes on");
	$poor->quit;
}
is(balance_of('l', 'poor'), '1 0', 'no refusal costs anything');
cmp_ok(value($node, 'test', sprintf($refused, 'refused')), '>', 0, 'refusals are in the audit');

# ---------------------------------------------------------------------------
# Parallel workers
# ---------------------------------------------------------------------------

# workers alone read rows
my $shared = join '; ', map { "SET $_" } 'max_parallel_workers_per_gather = 2', 'parallel_leader_participation = off', 'parallel_setup_cost = 0',
  'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0';

$gate->query_safe('SELECT pg_advisory_lock(1, 77)');
my $bob = background($node, 'test', "SET SESSION AUTHORIZATION bob; $shared;\nSELECT dp_count(*) IS NULL FROM letters WHERE waits(person) = 77;");
wait_at_gate($node, 'test', 1);
my $waiting = q{FROM pg_locks w JOIN pg_stat_activity a USING (pid) WHERE w.locktype = 'advisory' AND NOT w.granted};
is(value($node, 'test', "SELECT backend_type $waiting"), 'parallel worker', 'a parallel worker reads');
is(value($node, 'test', "SELECT count(*) FROM pg_locks l WHERE relation = (SELECT reltoastrelid FROM pg_class WHERE oid = 'letters'::regclass) AND pid = (SELECT pid $waiting)"),
	'1', 'and has locked what long values are in, of which it met none');
$gate->query_safe('SELECT pg_advisory_unlock(1, 77)');
is(finish($bob), '', 'it is answered');

# the table fills while the first of two releases is made, so that workers of the second find it full
$failures = 0;
for my $case (by_run([ [ 0, 7 ], [ 3, 7 ], [ 3, 8 ] ], [ map { ([ $_, 7 ], [ $_, 8 ]) } 0 .. 8 ])->@*)
{
	# 7 has a letter
	my ($free, $person) = @$case;
	my $letter = "SELECT dp_count(*) IS NULL FROM letters WHERE person = $person AND note LIKE '%zz%'";
	my $first = 'SELECT dp_count(*) IS NULL FROM letters WHERE waits(person) = 77';

	$gate->query_safe('SELECT pg_advisory_lock(1, 77)');
	$bob = background($node, 'test', "SET SESSION AUTHORIZATION bob; $shared;\n" . ($letter =~ s{= \d}{= 3}r) . ";\nSELECT ($first), ($letter);");
	wait_at_gate($node, 'test', 1);
	my ($paid) = split / /, balance_of('l', 'bob');
	fill_locks($hog, $free);
	$gate->query_safe('SELECT pg_advisory_unlock(1, 77)');
	my $error = finish($bob);
	empty_locks($hog);
	note "$free places, person $person: $error";
	like($error, qr/^$|ERROR:  ZC002: private query failed while it read protected rows; what it was charged \(rho 0\.000002\) stays charged, and it counts as (?:a failure|failure \d+ of at most 99 in a day); the cause is in the server's log\nLOCATION: .*\n$/,
		"$free places, person $person: workers that get no lock are a failure, and tell nothing else");
	$failures++ if $error ne '';
	counted('l', 'bob', $failures, '... which is counted');
	is(balance_of('l', 'bob'), "$paid $failures", '... once, and charged');
}
cmp_ok($failures, '>', 0, 'some got none');

is(value($node, 'test', q{SELECT string_agg(severity, ',') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'balances are the log\'s, and the chain holds');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/was terminated by signal/, 'no process died');

$_->quit for $hog, $gate;
$node->stop;
done_testing();
