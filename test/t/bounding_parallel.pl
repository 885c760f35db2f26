# Bounding by several processes together: the same answers whatever their number and
# memory, and nothing that is lost or left when one of them fails, is stopped or never starts.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->append_conf('postgresql.conf', <<'EOC');
max_parallel_workers = 16
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
hash_mem_multiplier = 1
EOC
$node->reload;

# Units with a row or several; one that has half of all rows, from where the first tables are full on.  8,000 units are
# enough for files and for tables that are merged; 30,000 fill them several times.
my $rows = by_run(45_000, 240_000);
my $mask = by_run(8191, 32767);
$node->safe_psql('test', <<"EOC");
CREATE TABLE crowd AS SELECT unit, 'unit ' || unit AS named, g % 12 AS k, g AS x
	FROM (SELECT g, CASE WHEN g > $rows / 4 AND g % 3 < 2 THEN 77 ELSE hashint4(g) & $mask END AS unit FROM generate_series(1, $rows) g) s;
CREATE TABLE crowd_by_k (LIKE crowd) PARTITION BY LIST (k);
CREATE TABLE crowd_low PARTITION OF crowd_by_k FOR VALUES IN (0, 1, 2, 3, 4);
CREATE TABLE crowd_high PARTITION OF crowd_by_k DEFAULT;
INSERT INTO crowd_by_k TABLE crowd;
ANALYZE;
EOC

# an inner query with a fixed seed: what each group has of a count and a sum
sub inner_query
{
	my ($from, $unit, $sum) = @_;
	my $spec = "dp_cdp_internal.make_bound_spec(1, 3, '{11,12}', '{count,sum}', ARRAY[dp_cdp_internal.make_grid(0, 4, 'int'), dp_cdp_internal.make_grid(0, 500000, 'int')])";
	my $call = "dp_cdp_internal.bound_unit($spec, $unit, k, true, $sum)";

	return "SELECT k, dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(n), dp_cdp_internal.make_grid(0, 4, 'int')) AS n,"
	  . " dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(s), dp_cdp_internal.make_grid(0, 500000, 'int')) AS s"
	  . " FROM (SELECT dp_cdp_internal.bound_key(0, state, NULL::int) AS k, dp_cdp_internal.bound_value(0, state, $spec) AS n,"
	  . " dp_cdp_internal.bound_value(1, state, $spec) AS s FROM (SELECT $call AS state FROM $from GROUP BY $unit) units) kept GROUP BY k ORDER BY k";
}

# the rows of units by themselves
sub rows_of_units
{
	my $spec = "dp_cdp_internal.make_bound_spec(1, 3, '{11,12}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 4, 'int')])";

	return "SELECT dp_cdp_internal.bound_value(0, state, $spec) FROM (SELECT dp_cdp_internal.bound_unit($spec, unit, k, true) AS state FROM crowd GROUP BY unit) units";
}

sub settings
{
	my (%set) = @_;

	return join '', map { "SET $_ = $set{$_}; " } sort keys %set;
}

my %parallel = (max_parallel_workers_per_gather => 2, work_mem => "'64kB'");
my $counts = inner_query('crowd', 'unit', 'x');

sub plan_of
{
	my ($sql, %set) = @_;

	return $node->safe_psql('test', settings(%set) . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $sql");
}

sub files
{
	return $node->safe_psql('test', 'SELECT count(*) FROM pg_ls_tmpdir()');
}

# ---------------------------------------------------------------------------
# the same answers
# ---------------------------------------------------------------------------

foreach my $query ([ 'integers', $counts ], [ 'text', inner_query('crowd', 'named', 'x') ],
	[ 'partitions', inner_query('crowd_by_k', 'unit', 'x') ],
	[ 'a join', inner_query('crowd JOIN (SELECT DISTINCT k AS j FROM crowd) d ON j = k', 'unit', 'x') ])
{
	my ($what, $sql) = @$query;
	my $expected = $node->safe_psql('test', settings(max_parallel_workers_per_gather => 0, 'dp_cdp.bounding_node' => 'off') . $sql);

	foreach my $workers (0, 1, 2, 4)
	{
		foreach my $memory ('64kB', '64MB')
		{
			my %set = (max_parallel_workers_per_gather => $workers, work_mem => "'$memory'",
				parallel_leader_participation => $workers == 4 ? 'off' : 'on');

			is($node->safe_psql('test', settings(%set) . $sql), $expected, "$what, $workers workers, $memory");
		}
	}
}
my $plan = plan_of($counts, %parallel);
like($plan, qr/Parallel Custom Scan \(DpBounding\)/, 'workers bound together');
like($plan, qr/Workers Launched: 2/, 'and are there');
like($plan, qr/Units: (\d+)  Batches: \d+  Memory Usage: \d+kB  Disk Usage: \d+kB/, 'what they took');
my ($units) = $plan =~ /Units: (\d+)/;
is($units, $node->safe_psql('test', 'SELECT count(DISTINCT unit) FROM crowd'), 'each unit once');
like(plan_of('SELECT * FROM (' . rows_of_units() . ') r LIMIT 1', %parallel, parallel_leader_participation => 'off'),
	qr/Limit .*Gather.*Workers Launched: [12]\n.*DpBounding.*Units: \d+  Batches: [1-9]/s, 'what workers took that a LIMIT has stopped');
is($node->safe_psql('test', settings(%parallel, max_parallel_workers => 0) . $counts),
	$node->safe_psql('test', settings(max_parallel_workers_per_gather => 0) . $counts), 'no worker is to be had');
like(plan_of($counts, %parallel, max_parallel_workers => 0), qr/Workers Launched: 0/, 'really none');

# run again and again, with other rows: what is shared is made empty in between
my $again = "SELECT i, count(*), sum(n), sum(s) FROM generate_series(0, 3) i LEFT JOIN ("
  . inner_query('crowd', 'unit', 'x') . ") q ON q.k > i GROUP BY i ORDER BY i";
my %nested = (%parallel, enable_material => 'off', enable_hashjoin => 'off', enable_mergejoin => 'off', enable_memoize => 'off');
like(plan_of($again, %nested), qr/Nested Loop.*Gather.*Workers Launched.*DpBounding\) \(actual rows=\S+ loops=1[02]/s, 'Gather is run four times');
is($node->safe_psql('test', settings(%nested) . $again),
	$node->safe_psql('test', settings(max_parallel_workers_per_gather => 0) . $again), 'with the same answers');
is(files(), 0, 'no files are left');

# ---------------------------------------------------------------------------
# errors
# ---------------------------------------------------------------------------

my $bad = inner_query('crowd', 'unit', 'x / (x - 41000)');
my ($status, $out, $err) = $node->psql('test', settings(%parallel) . $bad);
like($err, qr/division by zero/, 'an error while rows are read');
is(files(), 0, 'leaves no files');
($status, $out, $err) = $node->psql('test', settings(%parallel, temp_file_limit => "'100kB'", parallel_leader_participation => 'off') . $counts);
like($err, qr/temporary file size exceeds/, 'temp_file_limit');
is(files(), 0, 'leaves no files, either');

# at every stage
my $stopped = 0;
my $expected = $node->safe_psql('test', $counts);
for (my $ms = 1; $ms <= by_run(100, 400); $ms = int($ms * 1.25) + 1)
{
	($status, $out, $err) = $node->psql('test', settings(%parallel) . "SET statement_timeout = $ms; $counts");
	if ($err ne '')
	{
		$stopped++;
		like($err, qr/^psql:<stdin>:\d+: ERROR:  canceling statement due to statement timeout/, "stopped after $ms ms");
	}
	else
	{
		is($out, $expected, "not stopped after $ms ms");
	}
}
cmp_ok($stopped, '>=', 5, "stopped $stopped times");
is(files(), 0, 'no files are left');

# a worker that is terminated while others wait for it, and while it waits for the leader
$node->safe_psql('test', <<'EOC');
CREATE FUNCTION dawdle(x int, leader int, leaders boolean) RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
	IF (pg_backend_pid() = leader) = leaders THEN PERFORM pg_sleep(0.05);
	-- or it reads all rows before there are workers
	ELSIF NOT leaders THEN PERFORM pg_sleep(0.001);
	END IF;
	RETURN x;
END $$;
EOC
my $workers = "FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND query LIKE '%dawdle%'";
foreach my $leaders ('false', 'true')
{
	my $query = inner_query('crowd', 'unit', "dawdle(x, :pid, $leaders)");
	my $run = background($node, 'test', settings(%parallel) . "SELECT pg_backend_pid() AS pid \\gset\n$query;");

	ok($node->poll_query_until('test', "SELECT count(*) = 2 $workers"), "two workers, the leader is slow: $leaders");
	ok($node->poll_query_until('test', "SELECT count(*) = 2 $workers AND wait_event_type = 'Extension'"), 'they wait for it') if $leaders eq 'true';
	$node->safe_psql('test', "SELECT pg_terminate_backend(pid) $workers LIMIT 1");
	like(finish($run), qr/terminating (connection|background worker)|lost connection to parallel worker/, 'the query ends with it');
	ok($node->poll_query_until('test', "SELECT count(*) = 0 $workers"), 'the other worker, too');
	is(files(), 0, 'no files are left');
}

# ---------------------------------------------------------------------------
# an analyst's query
# ---------------------------------------------------------------------------

$node->safe_psql('test', <<'EOC');
CREATE ROLE ana LOGIN;
CREATE FUNCTION slow_worker(x int, ms int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	-- the leader takes its time, too, or it has read all rows before a busy machine has started a worker
	PERFORM pg_sleep(CASE backend_type WHEN 'parallel worker' THEN ms / 1000.0 ELSE 0.001 END) FROM pg_stat_activity WHERE pid = pg_backend_pid();
	RETURN x;
END $$;
SELECT dp_cdp.create_dataset('d', max_groups => 3, max_rows => 5, max_failures => 100), dp_cdp.set_budget('d', 'ana', rho => 10);
CREATE TABLE few AS SELECT * FROM crowd WHERE x <= 1000;
ANALYZE few;
SELECT dp_cdp.protect_table('few', 'd', 'unit'), dp_cdp.allow_function('slow_worker(int, int)');
ALTER SYSTEM SET max_parallel_workers_per_gather = 2;
SELECT pg_reload_conf();
EOC

# Is cancelled while it waits for workers that still read, in a condition variable in their memory.  A page takes a worker
# half a minute, so that the leader still waits when a busy machine has seen that it does.
my $started = value($node, 'test', 'SELECT pg_postmaster_start_time()');
my $asked = background($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) FROM few WHERE slow_worker(x, 200) > 0;');
# it waits for its debit as well, but has no workers then
my $waits = "FROM pg_stat_activity a WHERE EXISTS (SELECT FROM pg_stat_activity w WHERE w.leader_pid = a.pid) AND backend_type = 'client backend' AND wait_event_type = 'Extension' AND query LIKE '%slow_worker%' AND pid <> pg_backend_pid()";
ok($node->poll_query_until('test', "SELECT count(*) = 1 $waits"), 'the leader of a private query waits for workers');
$node->safe_psql('test', "SELECT pg_cancel_backend(pid) $waits");
like(finish($asked), qr/canceling private query; what it was charged \(rho \S+\) stays charged/, 'and is cancelled');
is(value($node, 'test', 'SELECT pg_postmaster_start_time()'), $started, 'the server stands');
ok($node->poll_query_until('test', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'"), 'workers have ended');
unlike(slurp_file($node->logfile), qr/was terminated by signal/, 'no process crashed');
is(value($node, 'test', "SELECT count(*) FROM dp_cdp.releases WHERE failed"), 1, 'charged as a failure, once');
is(files(), 0, 'no files are left');

# Its leader or a worker is terminated at many moments: before workers start, while they read, while the leader waits for
# them, while groups leave.  Each costs what it was debited, once; the server stands.
my $private = "FROM pg_stat_activity WHERE (query LIKE '%slow_worker%' OR backend_type = 'parallel worker') AND pid <> pg_backend_pid()";
# Ten moments find what goes wrong at most of them.
my %ended = (leader => 0, worker => 0);
my $rounds = by_run(10, 24);
for (my ($ms, $i) = (1, 0); $i < $rounds; $ms = int($ms * by_run(1.8, 1.3)) + 1, $i++)
{
	my $whom = $i % 2 ? 'worker' : 'leader';
	my $type = $i % 2 ? 'parallel worker' : 'client backend';
	my $run = background($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) FROM few WHERE slow_worker(x, 10) > 0 AND x < 500;');

	# it may have ended before it is seen
	foreach (1 .. 20)
	{
		last if value($node, 'test', "SELECT count(*) $private AND backend_type = '$type'") > 0;
	}
	Time::HiRes::usleep(1000 * $ms);
	$node->safe_psql('test', "SELECT pg_terminate_backend(pid) $private AND backend_type = '$type' ORDER BY pid LIMIT 1");
	my $error = finish($run);
	next if $error eq '';
	$ended{$whom}++;
	like($error, qr/terminating connection due to administrator command|server closed the connection|private query failed|parallel worker/,
		"a $whom is terminated after $ms ms");
}
cmp_ok($ended{$_}, '>=', $rounds / 6, "${_}s that were terminated: $ended{$_}") foreach sort keys %ended;
ok($node->poll_query_until('test', "SELECT count(*) = 0 $private"), 'all have ended');
is(value($node, 'test', 'SELECT pg_postmaster_start_time()'), $started, 'the server stands');
unlike(slurp_file($node->logfile), qr/was terminated by signal/, 'no process crashed');
is(files(), 0, 'no files are left');
is(value($node, 'test', "SELECT (SELECT rho_spent FROM dp_cdp.budgets) = (SELECT sum(rho) FROM dp_cdp.releases WHERE kind = 'granted')"), 't', 'what was granted is what was charged');
is(value($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) BETWEEN -1e6 AND 1e6 FROM few'), 't', 'the next query is answered');

done_testing();
