# A release that fails after it was paid for counts, durably, at every budget
# that paid; with max_failures of them in a day there are no more answers.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE dba;
CREATE ROLE team;
CREATE ROLE ana LOGIN;
CREATE ROLE bob LOGIN;
CREATE ROLE eve LOGIN;
CREATE ROLE nia LOGIN NOINHERIT;
GRANT team TO ana, bob, nia;
CREATE TABLE visits (patient int, cost int);
INSERT INTO visits SELECT i % 50, i FROM generate_series(1, 200) i;
ALTER TABLE visits OWNER TO dba;
CREATE FUNCTION slow(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN PERFORM pg_sleep(600); END IF; RETURN x; END $$;
CREATE FUNCTION fussy(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN RAISE EXCEPTION 'secret 77'; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('slow(int)'), dp_cdp.allow_function('fussy(int)');
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
SET SESSION AUTHORIZATION dba;
SELECT dp_cdp.create_dataset('d', default_rho => 0.01, max_failures => 5, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'd', 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 200);
SELECT dp_cdp.set_budget('d', 'team', rho => 1000), dp_cdp.set_budget('d', 'ana', rho => 1000),
	dp_cdp.set_budget('d', 'eve', rho => 1000);
EOC

my $fails = 'SELECT dp_count(*) FROM visits WHERE fussy(cost) > 0;';
my $sleeps = 'SELECT dp_count(*) FROM visits WHERE slow(cost) > 0;';
my $good = 'SELECT dp_count(*) IS NULL FROM visits;';

# failures of today by role, as the owner sees them
sub failures
{
	return value($node, 'test', <<'EOC');
SET SESSION AUTHORIZATION dba;
SELECT string_agg(role || ' ' || failures, ', ' ORDER BY role::text) FROM dp_cdp.budgets;
EOC
}

sub logged
{
	return value($node, 'test', q{SELECT count(*) FROM dp_cdp.releases WHERE failed AND NOT granted AND rho = 0});
}

sub reset_all
{
	$node->safe_psql('test',
		q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.reset_failures('d', role) FROM dp_cdp.budgets});
	return;
}

sub reading
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
	  or die 'nobody reads';
	return;
}

sub counted
{
	my ($expected, $what) = @_;

	# who is gone hears nothing, and the worker counts when it comes to it
	$node->poll_query_until('test', <<"EOC") or diag('not counted');
SELECT string_agg(role || ' ' || failures, ', ' ORDER BY role::text) = '$expected' FROM dp_cdp.budgets
EOC
	is(failures(), $expected, $what);
	return;
}

my $spent = 0;

sub charged
{
	my ($n, $what) = @_;

	$spent += $n;
	is(balance($node, 'test', 'd', 'team') * 100, $spent, "$what: charged");
	return;
}

# --------------------------------------------------------------------------
# What is a failure
# --------------------------------------------------------------------------

is(failures(), 'ana 0, eve 0, team 0', 'none yet');

like(debit_error($node, 'test', 'ana', $fails),
	qr/ZC002: private query failed while it read protected rows; what it was charged \(rho 0.01\) stays charged, and it counts as failure 1 of at most 5 in a day;/,
	'an error says what was charged, and counts');
is(failures(), 'ana 1, eve 0, team 1', 'at every budget that paid');
charged(1, 'an error');

like(debit_error($node, 'test', 'ana', "SET statement_timeout = '1s'; $sleeps"),
	qr/57014: canceling private query; what it was charged \(rho 0.01\) stays charged, and it counts as failure 2 of at most 5 in a day/,
	'so does a timeout');
is(failures(), 'ana 2, eve 0, team 2', 'counted');
charged(1, 'a timeout');

my $run = background($node, 'test', "SET SESSION AUTHORIZATION ana; $sleeps");
reading();
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
like(finish($run), qr/57014: canceling private query; .* counts as failure 3 of at most 5/, 'and a cancel');
charged(1, 'a cancel');

is(debit_error($node, 'test', 'ana',
		"BEGIN; SAVEPOINT s; DO 'BEGIN PERFORM dp_count(*) FROM visits WHERE fussy(cost) > 0; EXCEPTION WHEN OTHERS THEN NULL; END'; ROLLBACK TO s; ROLLBACK;"),
	'', 'an error that is caught, and all of it rolled back');
is(failures(), 'ana 4, eve 0, team 4', 'counted');
charged(1, 'rolled back');
is(logged(), 4, 'each has its row in the audit');

reset_all();
is(failures(), 'ana 0, eve 0, team 0', 'the owner forgets them');
is(debit_error($node, 'test', 'ana', $good), '', 'no failure: an answer');
like(debit_error($node, 'test', 'ana', q{SELECT setseed(2 + 0 * dp_count(*)) FROM visits;}), qr/22023/, 'an error of what is done with the answer');
like(debit_error($node, 'test', 'ana', q{SET statement_timeout = '1s'; SELECT dp_count(*) IS NULL, pg_sleep(600) FROM visits;}),
	qr/57014: canceling statement due to statement timeout/, 'a timeout after the answer');
is(debit_error($node, 'test', 'ana', 'SET client_min_messages = warning; BEGIN; DECLARE c CURSOR FOR SELECT patient % 2, dp_count(*) FROM visits GROUP BY 1; FETCH 1 FROM c; CLOSE c; SELECT dp_count(*) FROM visits LIMIT 0;'),
	'', 'a cursor that is closed, a limit');
like(debit_error($node, 'test', 'ana', 'SELECT dp_sum(cost, 5, 1) FROM visits;'), qr/ZC004/, 'an error before the debit');
like(debit_error($node, 'test', 'nobody', 'SELECT 1'), qr/role "nobody" does not exist/, 'somebody else');
is(failures(), 'ana 0, eve 0, team 0', '... are no failures');
charged(5, 'they');

# two releases of one statement: one failure, and both are charged
like(debit_error($node, 'test', 'ana', 'SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_count(*) FROM visits WHERE fussy(cost) > 0);'),
	qr/charged \(rho 0.02\) .* failure 1 of at most 5/, 'one of two releases');
charged(2, 'both');

# who paid is who asked, whoever that is when rows are read
reset_all();
like(debit_error($node, 'test', 'nia', <<'EOC'), qr/failure 1 of at most 5/, 'another role by then');
SET ROLE team;
SELECT (SELECT dp_count(*) FROM visits) IS NOT NULL AND set_config('role', 'none', false) IS NOT NULL
	AND (SELECT dp_count(*) FROM visits WHERE fussy(cost) > 0) > 0;
EOC
is(failures(), 'ana 0, eve 0, team 1', '... and still counted where it was paid');
charged(2, 'by the team');
$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; DO 'BEGIN PERFORM dp_count(*) FROM visits WHERE fussy(cost) > 0; EXCEPTION WHEN OTHERS THEN NULL; END'");
charged(1, 'by ana');

# a look that nobody sees
like(debit_error($node, 'test', 'ana', "SET dp_cdp.target_error = '5%'; $fails"), qr/charged \(rho 0.001\) .* failure 3 of at most 5/, 'a pilot');
$spent += 0.1;
like(value($node, 'test', 'SELECT aggregates FROM dp_cdp.releases WHERE failed ORDER BY id DESC LIMIT 1'),
	qr/^pilot: dp_count/, '... is called so in the audit');

# --------------------------------------------------------------------------
# What ends a session, a worker, a server
# --------------------------------------------------------------------------

reset_all();
$run = background($node, 'test', "SET SESSION AUTHORIZATION ana; $sleeps");
reading();
# ana may do that to her own sessions
$node->safe_psql('test', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
like(finish($run), qr/terminating connection/, 'a session that is terminated while rows are read');
counted('ana 1, eve 0, team 1', '... has failed');
charged(1, 'terminated');

# the worker has left since, or is made to
$node->safe_psql('test', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'});
$run = background($node, 'test', "SET SESSION AUTHORIZATION ana; $sleeps");
reading();
$node->safe_psql('test', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'});
$node->safe_psql('test', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
finish($run);
counted('ana 2, eve 0, team 2', 'without a worker at the moment: counted all the same');

# reported, so it is on disk
like(debit_error($node, 'test', 'ana', $fails), qr/failure 3 of at most 5/, 'a failure');
$node->stop('immediate');
$node->start;
is(failures(), 'ana 3, eve 0, team 3', '... survives a crash');
$spent += 2;

# somebody holds the budget: the failure waits for him, the analyst not for long
my $reader = background($node, 'test', "SET SESSION AUTHORIZATION eve; $sleeps");
reading();
$run = hold_row($node, 'test', q{SELECT * FROM dp_cdp_internal.budget WHERE role = 'eve'::regrole FOR UPDATE});
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%slow(cost)%' AND pid <> pg_backend_pid()});
like(finish($reader), qr/57014: canceling private query; .* stays charged, and it counts as a failure$/m, 'not counted yet, but it will be');
$node->safe_psql('test', q{SET SESSION AUTHORIZATION ana; SELECT dp_cdp.debit_budget('d', 0.01)});
$spent++;
is(failures(), 'ana 3, eve 0, team 3', 'others go on');
release_row($node, $run);
counted('ana 3, eve 1, team 3', 'it is counted when the budget is free');
reset_all();
$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; DO 'BEGIN PERFORM dp_count(*) FROM visits WHERE fussy(cost) > 0; EXCEPTION WHEN OTHERS THEN NULL; END'")
  for 1 .. 3;
$spent += 3;

# several at once
my @runs = map { background($node, 'test', "SET SESSION AUTHORIZATION eve; $fails") } 1 .. 4;
my @numbers = sort map { finish($_) =~ /failure (\d+) of at most 5/ ? $1 : '?' } @runs;
is(failures(), 'ana 3, eve 4, team 3', 'several at once');
is($numbers[-1], 4, '... and the last is told so') or diag("@numbers");

# --------------------------------------------------------------------------
# Enough
# --------------------------------------------------------------------------

like(debit_error($node, 'test', 'ana', $fails), qr/failure 4 of at most 5/, 'one before the last');
like(debit_error($node, 'test', 'ana', $fails), qr/failure 5 of at most 5/, 'the last');
my $refusal = qr/ZC001: 5 releases from dataset "d" failed or were cancelled within a day, and nothing more is released to role "(ana|team)" until .*; the dataset's owner can call dp_cdp.reset_failures\('d', '(ana|team)'\)/;
$spent += 2;
like(debit_error($node, 'test', 'ana', $_), $refusal, "refused: $_") for $good, "BEGIN; $fails", "SET dp_cdp.target_error = '5%'; $good";
charged(0, 'refused');
like(debit_error($node, 'test', 'ana', "SET ROLE team; $good"), $refusal, 'SET ROLE makes no difference');
like(debit_error($node, 'test', 'bob', $good), $refusal, 'who shares the budget shares its failures');
is(debit_error($node, 'test', 'eve', $good), '', 'others do not');
is(value($node, 'test', q{SET SESSION AUTHORIZATION bob; SELECT role, failures, max_failures, failures_end - now() BETWEEN '23 hours' AND '24 hours' FROM dp_cdp.budgets}),
	'team|5|5|t', 'a view tells when it ends');
like(debit_error($node, 'test', 'ana', q{SELECT dp_cdp.reset_failures('d', 'ana')}), qr/42501/, 'she may not end it');
like(debit_error($node, 'test', 'dba', q{SELECT dp_cdp.reset_failures('d', 'bob')}), qr/ZC004: role "bob" has no budget/, 'nor can it be ended where there is no budget');
$node->restart;
like(debit_error($node, 'test', 'ana', $good), $refusal, 'a restart does not end it');
like(debit_error($node, 'test', 'postgres', 'UPDATE dp_cdp_internal.budget SET failures = 0'), qr/42501: table dp_cdp_internal.budget cannot be changed directly/, 'nor does a superuser by accident');
$node->safe_psql('test', q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.reset_failures('d', 'ana')});
like(debit_error($node, 'test', 'ana', $good), qr/role "team"/, 'the owner does, for one budget');
$node->safe_psql('test', q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.reset_failures('d', 'team')});
is(debit_error($node, 'test', 'ana', $good), '', 'and the other');

# a day that has passed
sub set_since
{
	my ($when) = @_;

	$node->safe_psql('test', <<"EOC");
ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ledger_guard;
UPDATE dp_cdp_internal.budget SET failures = 5, failures_since = now() - interval '$when' WHERE role = 'eve'::regrole;
ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard;
EOC
	return;
}
set_since('23:59');
like(debit_error($node, 'test', 'eve', $good), qr/ZC001: 5 releases .* role "eve"/, 'a day is not over before it is');
set_since('24:00:01');
like(failures(), qr/eve 0/, 'a day that has passed is forgotten by the view');
is(debit_error($node, 'test', 'eve', $good), '', '... and by the worker');
like(debit_error($node, 'test', 'eve', $fails), qr/failure 1 of at most 5/, 'the next begins with its first failure');

# none
$node->safe_psql('test', q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.reset_failures('d', 'eve'), dp_cdp.alter_dataset('d', max_failures => 0)});
is(debit_error($node, 'test', 'eve', $good), '', 'max_failures 0: answers');
like(debit_error($node, 'test', 'eve', $fails), qr/failure 1 in a day, of which none is allowed/, '... until the first failure');
like(debit_error($node, 'test', 'eve', $good), qr/ZC001: 1 release from dataset "\w+" failed or was cancelled within a day, and nothing more is released to role "\w+"/, '... and then no more');
$node->safe_psql('test', q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.alter_dataset('d', max_failures => 20)});
is(debit_error($node, 'test', 'eve', $good), '', 'a larger limit holds at once');

# what is said of the charge is what the statement paid, not the release that failed
like(debit_error($node, 'test', 'eve', 'SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_sum(cost) FROM visits), (SELECT dp_count(*) FROM visits WHERE fussy(cost) > 0);'),
	qr/what it was charged \(rho 0.03\) stays charged/, 'three releases of a statement');
like(debit_error($node, 'test', 'eve', q{SET dp_cdp.target_error = '5%'; SELECT (SELECT dp_count(*) FROM visits), (SELECT dp_count(*) FROM visits WHERE fussy(cost) > 0);}),
	qr/what it was charged \(rho 0.002\) stays charged/, 'two looks of a statement');

# what a run that failed has left is removed, of which the server tells by its size who hears messages of level LOG
my $spills = q{SET work_mem = '64kB'; SET enable_hashagg = off; SET client_min_messages = log; }
  . q{SELECT dp_count(*) FROM (SELECT patient FROM visits JOIN generate_series(1, 500) g ON g <> -patient GROUP BY patient, cost, g HAVING fussy(76 + count(*)::int) > 0) s};
my $superuser = 'RESET SESSION AUTHORIZATION; SET log_temp_files = 0; SET SESSION AUTHORIZATION eve;';
my $log = -s $node->logfile;
my $counters = 'SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = current_database()';
my $counted = value($node, 'test', $counters);
foreach my $statement ("$spills;", "BEGIN; SAVEPOINT s; $spills; ROLLBACK TO s; COMMIT;", "DO \$\$ BEGIN $spills; EXCEPTION WHEN OTHERS THEN RAISE WARNING '%', SQLERRM; END \$\$;")
{
	my $said = debit_error($node, 'test', 'eve', "$superuser $statement");

	like($said, qr/counts as failure/, 'a run that has written to disk failed');
	unlike($said, qr/temporary file/, '... and tells nothing of that');
}
my $spilled = PostgreSQL::Test::Utils::slurp_file($node->logfile, $log);
is(scalar(() = $spilled =~ /private query wrote \d+ bytes to temporary files/g), 3, '... but to the log, once for each run');
unlike($spilled, qr/temporary file: path/, '... and not of each file');
is(value($node, 'test', $counters), $counted, '... nor to counters that everybody sees');
cmp_ok(value($node, 'test', q{SELECT dp_cdp.spilled_bytes('d')}), '>', 0, '... and to the owner');

is(value($node, 'test', <<'EOC'), 't', 'balances and audit agree');
SELECT d.rho_spent = sum(l.rho) FROM dp_cdp_internal.dataset d, dp_cdp_internal.release_log l WHERE l.granted GROUP BY d.rho_spent
EOC

# the extension goes, with failures or without
$node->safe_psql('test', 'SELECT dp_cdp.empty_ledger()');
is(value($node, 'test', q{SELECT sum(failures) FROM dp_cdp_internal.budget}), 0, 'an empty ledger has no failures');

done_testing();
