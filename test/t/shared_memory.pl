# Dynamic shared memory that runs out: before the debit the query is refused for nothing; after it that is a failure, which is
# charged, is counted, and tells one constant message.  A process may make no file that is longer than its limit, and segments
# are files.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', conf => "max_connections = 20\nautovacuum = off\nmax_worker_processes = 16\n");
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner; CREATE ROLE ana LOGIN;'
	  . join '', map { "ALTER ROLE ana SET $_;" } 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'min_parallel_table_scan_size = 0', 'enable_mergejoin = off', 'enable_nestloop = off');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE v (person int NOT NULL, x int NOT NULL);
INSERT INTO v SELECT i, i % 2000 FROM generate_series(1, 60000) i;
CREATE TABLE b AS SELECT person, x, md5(person::text) AS name FROM v;
CREATE TABLE w AS SELECT * FROM v WHERE person <= 5000;
ALTER TABLE w ALTER x SET NOT NULL;
CREATE TABLE places (x int, y int);
INSERT INTO places SELECT i, i FROM generate_series(1, 20000) i;
GRANT SELECT ON places TO ana;
ANALYZE v, b, w, places;
SELECT dp_cdp.create_dataset('d', default_rho => 1e-6, max_failures => 99, max_groups => 5, max_rows => 5);
SELECT dp_cdp.create_dataset('k', default_rho => 1e-6, max_failures => 99, reuse => '1 day', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('v', 'd', unit => 'person'), dp_cdp.protect_table('b', 'd', unit => 'person');
SELECT dp_cdp.protect_table('w', 'k', unit => 'person');
SELECT dp_cdp.set_keys('w', 'x', (SELECT array_agg(i) FROM generate_series(1, 2000) i));
SELECT dp_cdp.set_budget('d', 'ana', rho => 1), dp_cdp.set_budget('k', 'ana', rho => 1);
EOC

# the error of a query of a session that knows all that it needs, and may make no longer file from then on
sub limited
{
	my ($bytes, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('test', <<"EOC", extra_params => [ '-U', 'ana' ], on_error_stop => 0);
\\set VERBOSITY verbose
SET client_min_messages = warning;
SELECT pg_backend_pid() AS pid \\gset
\\setenv DP_PID :pid
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT dp_count(*) FROM v WHERE person < 0;
SELECT dp_count(*) FROM w WHERE person < 0;
COMMIT;
\\! prlimit --pid \$DP_PID --fsize=$bytes:
$sql;
EOC
	return $err;
}

# spent in millionths, and failures
sub balance_of
{
	my ($dataset) = @_;

	return value($node, 'test', "SELECT round(rho_spent * 1e6) || ' ' || failures FROM dp_cdp_internal.budget WHERE dataset = '$dataset'");
}

is(limited('unlimited', 'SELECT dp_count(*) FROM v'), '', 'without a limit it is answered');
is(balance_of('d') . ', ' . balance_of('k'), '2 0, 1 0', 'and so is what each session asks before');
my $spent = 2;
my $spent_kept = 1;

# ---------------------------------------------------------------------------
# Before the debit
# ---------------------------------------------------------------------------

my $pages = 'SELECT dp_count(*) FROM v JOIN (SELECT x FROM places GROUP BY x HAVING count(y) > 0) p USING (x)';
is(limited('unlimited', $pages), '', 'rows of others that are joined are computed by parallel workers');
$spent += 2;
like(limited(16384, $pages), qr/ERROR:  53200: could not resize shared memory segment .*; nothing was charged for the private query$/m,
	'without memory for them it is refused');
$spent++;
is(balance_of('d'), "$spent 0", 'for nothing');

# of so many answers the debit needs a segment of its own
my $sums = 'SELECT ' . join(', ', map { "dp_sum(x + $_, 0, 3000)" } 1 .. 75) . ' FROM w';
my $many = "$sums WHERE x > 5 UNION ALL $sums WHERE x > 6";
like(limited(8192, "SET max_parallel_workers_per_gather = 0; $many"), qr/ERROR:  53200: could not resize shared memory segment .*; nothing was charged for the private query$/m,
	'a debit that needs more than a place in the ledger has is refused without memory');
is(balance_of('k'), "$spent_kept 0", 'for nothing');
$spent++;
is(limited('unlimited', $many), '', 'with memory it is answered');
$spent_kept += 150;
$spent++;

# ---------------------------------------------------------------------------
# After it
# ---------------------------------------------------------------------------

my $failures = 0;
my $constant = qr/ERROR:  ZC002: private query failed while it read protected rows; what it was charged \(rho (\S+)\) stays charged, and it counts as failure (\d+) of at most 99 in a day; the cause is in the server's log$/m;

# fails with the message that all do, is charged and counted
sub fails
{
	my ($bytes, $sql, $what) = @_;
	my $said = limited($bytes, $sql);

	$spent += 2;
	$failures++;
	like($said, $constant, "$what: a failure, and nothing else");
	unlike($said =~ s/$constant//r, qr/DETAIL|CONTEXT|segment|bytes/, "$what: without a detail");
	is(balance_of('d'), "$spent $failures", "$what: it is charged and counted");
	return;
}

fails(16384, 'SELECT dp_count(*) FROM v WHERE x >= 0', 'no memory for parallel workers');

# what workers share grows with the rows that they keep; the limit is the session's own, so that no worker may come in time
my $join = 'SET max_parallel_workers = 0; SELECT dp_count(*) FROM v JOIN b USING (person) WHERE b.name';
fails(1536 * 1024, "$join > ''", 'no memory for what workers have read');
is(limited(1536 * 1024, "$join = ''"), '', 'few rows have room');
$spent += 2;
is(balance_of('d'), "$spent $failures", 'and are paid for');

# an answer that was drawn, and that the ledger's worker does not get, is shown to nobody, nor how long it is
my $long = 'SELECT count(n) FROM (SELECT dp_count(*) + ' . join(' + ', map { "dp_sum(x + $_, 0, 3000)" } 1 .. 4) . ' AS n FROM w GROUP BY x) s';
like(limited(8192, "SET max_parallel_workers_per_gather = 0; $long"), $constant, 'no memory in which an answer is kept: a failure, and nothing else');
$spent_kept += 5;
is(balance_of('k'), "$spent_kept 1", 'it is charged and counted');
is(limited('unlimited', $long), '', 'asked again it is answered');
is(balance_of('k'), "$spent_kept 1", 'for what was paid');

my $log = PostgreSQL::Test::Utils::slurp_file($node->logfile);
unlike($log, qr/was terminated by signal/, 'no process died');
is(value($node, 'test', q{SELECT string_agg(severity, ',') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'balances are the log\'s, and the chain holds');

$node->stop;
done_testing();
