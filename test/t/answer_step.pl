# answer_step: what becomes of a release leaves at a multiple of it, and a
# cancel tells nothing of when the work was done.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE ana LOGIN;
CREATE TABLE visits (patient int, cost int);
INSERT INTO visits SELECT i % 50, i FROM generate_series(1, 200) i;
CREATE FUNCTION slow(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN PERFORM pg_sleep(0.5); END IF; RETURN x; END $$;
CREATE FUNCTION stuck(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN PERFORM pg_sleep(600); END IF; RETURN x; END $$;
CREATE FUNCTION fussy(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN RAISE EXCEPTION 'secret 77'; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function(f) FROM unnest('{slow(int),stuck(int),fussy(int)}'::regprocedure[]) f;
SELECT dp_cdp.create_dataset('d', default_rho => 0.01, answer_step => '400 ms', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'd', 'patient');
SELECT dp_cdp.set_budget('d', 'ana', rho => 1000);
EOC

# Error, and seconds of the last statement; only lower limits are asked for: a machine may be slow.  On one that is,
# a timeout may come before the debit: then it is asked again.
sub timed
{
	my ($sql) = @_;
	my ($rc, $out, $error);

	for (1 .. 20)
	{
		($rc, $out, $error) = $node->psql('test', "\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION ana;\n\\timing on\n$sql", on_error_stop => 0);
		last unless $error =~ /while it was charged|charge was not made/;
	}
	my ($ms) = $out =~ /Time: ([\d.]+) ms[^\n]*$/;
	return ($error, $ms / 1000);
}

sub reset_failures
{
	$node->safe_psql('test', q{SELECT dp_cdp.reset_failures('d', 'ana')});
	return;
}

my ($error, $seconds) = timed('SELECT dp_count(*) FROM visits;');
is($error, '', 'an answer');
cmp_ok($seconds, '>=', 0.4, '... at the first multiple');

($error, $seconds) = timed('SELECT dp_count(*) FROM visits WHERE slow(cost) > 0;');
is($error, '', 'an answer that took longer than a step');
cmp_ok($seconds, '>=', 0.8, '... at the second');

($error, $seconds) = timed('SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_count(patient) FROM visits);');
is($error, '', 'two releases of a statement');
cmp_ok($seconds, '>=', 0.8, '... each for itself');

($error, $seconds) = timed('SELECT dp_count(*) FROM visits WHERE fussy(cost) > 0;');
like($error, qr/ZC002: private query failed .* failure 1 of at most 20/, 'an error');
cmp_ok($seconds, '>=', 0.4, '... as well');
reset_failures();

# the asker has no say in when a step begins: at the statement's start one could sleep up to shortly before a multiple
($error, $seconds) = timed('DO $$ BEGIN PERFORM pg_sleep(0.3); PERFORM dp_count(*) FROM visits; END $$;');
is($error, '', 'an answer after other work of its statement');
cmp_ok($seconds, '>=', 0.7, '... a whole step after its own beginning');

# A timeout while rows are read, while the answer waits, and while the error waits: one and the same
my @errors;
foreach my $query ('visits WHERE stuck(cost) > 0', 'visits', 'visits WHERE fussy(cost) > 0')
{
	($error, $seconds) = timed("SET statement_timeout = 200; SELECT dp_count(*) FROM $query;");
	cmp_ok($seconds, '>=', 0.4, "a timeout, $query: at the multiple");
	$error =~ s/^psql:.*?(ERROR|LOCATION)/$1/mg;
	push @errors, $error;
	is(value($node, 'test', 'SELECT failures FROM dp_cdp.budgets'), 1, '... and a failure');
	reset_failures();
}
like($errors[0], qr/57014: canceling private query; .* counts as failure 1 of at most 20/, 'what it says');
is($errors[1], $errors[0], '... whether rows are read or the answer waits');
is($errors[2], $errors[0], '... or an error waits');
is(value($node, 'test', q{SELECT string_agg(DISTINCT (granted, failed, rho, aggregates)::text, ' ' ORDER BY (granted, failed, rho, aggregates)::text) FROM dp_cdp.releases WHERE id > (SELECT max(id) - 6 FROM dp_cdp.releases)}),
	'(f,t,0,"dp_count(*)") (t,f,0.01,"dp_count(*)")', 'and what the audit says');

# a cancel leaves nothing behind in the session
is(debit_error($node, 'test', 'ana', <<'EOC'), '', 'caught, the session goes on');
DO $$ BEGIN
	SET LOCAL statement_timeout = 0;
	PERFORM dp_count(*) FROM visits;
END $$;
SELECT pg_sleep(0.1);
EOC

# what is not a release does not wait, and who is told to go goes
$node->safe_psql('test', q{SELECT dp_cdp.alter_dataset('d', answer_step => '1 hour')});
is(debit_error($node, 'test', 'ana', 'EXPLAIN SELECT dp_count(*) FROM visits; SELECT * FROM dp_cdp.preview(\'SELECT dp_count(*) FROM visits\'); SELECT dp_count(*) FROM visits LIMIT 0'),
	'', 'EXPLAIN and preview come at once');
like(debit_error($node, 'test', 'ana', 'SET dp_cdp.rho = 1e-9; SELECT dp_count(*) FROM visits;'), qr/ZC004/, 'so does what is refused');

# from 17 on a session can have itself ended in the middle, which tells what the timeout does, and no more
if ($node->pg_version >= 17)
{
	foreach my $query ('visits WHERE stuck(cost) > 0', 'visits')
	{
		like(debit_error($node, 'test', 'ana', "SET transaction_timeout = 1000; SELECT dp_count(*) FROM $query;"),
			qr/terminating connection due to transaction timeout/, "transaction_timeout, $query");
		$node->poll_query_until('test', 'SELECT failures = 1 FROM dp_cdp.budgets') or diag('not counted');
		is(value($node, 'test', 'SELECT failures FROM dp_cdp.budgets'), 1, '... is a failure');
		reset_failures();
	}
}

my $spent = balance($node, 'test', 'd', 'ana');
my $run = background($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) FROM visits;');
$node->poll_query_until('test', "SELECT rho_spent > $spent FROM dp_cdp_internal.budget") or die 'nobody is charged';
is(value($node, 'test', q{SELECT failures FROM dp_cdp.budgets}), 0, 'an answer that waits has not failed');
# no lock of the ledger is held, and others go on
$node->safe_psql('test', q{SELECT dp_cdp.set_budget('d', 'ana', rho => 2000)});
is(value($node, 'postgres', q{SELECT coalesce(wait_event, 'none') FROM pg_stat_activity WHERE query LIKE 'SELECT dp_count%'}), 'none', '... and looks as if it was computed');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT dp_count%'});
like(finish($run), qr/terminating connection/, 'a session that is terminated does not wait');
$node->poll_query_until('test', 'SELECT failures = 1 FROM dp_cdp.budgets') or diag('not counted');
is(value($node, 'test', 'SELECT failures FROM dp_cdp.budgets'), 1, '... and has failed, as if it had still been reading');
reset_failures();

# Parallel workers of what has failed do not go on reading while its error waits; their own errors would come up instead.
$node->safe_psql('test', <<'EOC');
CREATE FUNCTION dawdle(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
	$$ BEGIN PERFORM pg_sleep(0.1); RETURN x; END $$;
SELECT dp_cdp.allow_function('dawdle(int)');
CREATE TABLE samples (cost int) WITH (parallel_workers = 2);
INSERT INTO samples SELECT generate_series(1, 20000);
ANALYZE samples;
SELECT dp_cdp.protect_table('samples', 'd', each_row => true);
EOC
$run = background($node, 'test', <<'EOC');
SET SESSION AUTHORIZATION ana;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT dp_count(*) FROM samples WHERE dawdle(cost) > 0;
EOC
my $workers = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'};
$node->poll_query_until('postgres', "SELECT ($workers) = 2") or die 'no workers';
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT dp_count%' AND backend_type = 'client backend'});
ok($node->poll_query_until('postgres', "SELECT ($workers) = 0"), 'workers end with what was cancelled');
is(value($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT dp_count%'}), 1, '... and its error waits');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT dp_count%'});
like(finish($run), qr/terminating connection/, '... until it is told to go');

$run = background($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) FROM visits;');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT dp_count%'})
  or die 'nobody waits';
$node->stop('fast');
like(finish($run), qr/terminating connection|server closed/, 'a shutdown does not wait either');
$node->start;

# limits for the dataset's owner wait, too; a crash meanwhile gives the cap nothing back
$spent = value($node, 'test', q{SELECT rho_spent FROM dp_cdp_internal.dataset});
my $charged = "SELECT trim_scale(rho_spent - $spent) FROM dp_cdp_internal.dataset";
$run = background($node, 'test', q{SELECT * FROM dp_cdp.suggest_limits('visits', 0.25)});
$node->poll_query_until('test', "SELECT ($charged) > 0") or die 'the cap is not charged';
$node->stop('immediate');
like(finish($run), qr/terminating connection|server closed/, 'a crash while limits wait');
$node->start;
is(value($node, 'test', $charged), '0.25', '... after which they are paid for');

$node->safe_psql('test', q{SELECT dp_cdp.alter_dataset('d', answer_step => '0')});
is(debit_error($node, 'test', 'ana', 'SELECT dp_count(*) FROM visits;'), '', 'no step');

done_testing();
