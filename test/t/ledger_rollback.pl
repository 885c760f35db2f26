# A debit is never undone: not by anything that the session which asked for
# it does or suffers.  And what was given up before it was made costs nothing.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN; CREATE ROLE definer');
dataset($node, 'test', 'd');
budget($node, 'test', 'd', 'ana,definer', 100);
dataset($node, 'test', 'own');
budget($node, 'test', 'own', 'ana', 100);

my $expected = 0;

sub spends
{
	my ($what, $sql) = @_;

	debit($node, 'test', 'ana', $sql);
	$expected++;
	is(balance($node, 'test', 'd', 'ana'), $expected, $what);
	return;
}

spends('plain', q{SELECT dp_cdp.debit_budget('d', 1);});
spends('rolled back', q{BEGIN; SELECT dp_cdp.debit_budget('d', 1); ROLLBACK;});
spends('savepoint',
	q{BEGIN; SAVEPOINT s; SELECT dp_cdp.debit_budget('d', 1); ROLLBACK TO s; COMMIT;});
spends('exception block', q{DO $$ BEGIN
	PERFORM dp_cdp.debit_budget('d', 1); RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN NULL; END $$;});
spends('read only', q{BEGIN READ ONLY; SELECT dp_cdp.debit_budget('d', 1); COMMIT;});
spends('repeatable read',
	q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT dp_cdp.debit_budget('d', 1); ROLLBACK;});
spends('serializable',
	q{BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1; SELECT dp_cdp.debit_budget('d', 1); ROLLBACK;});
spends('deferrable',
	q{BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE; SELECT dp_cdp.debit_budget('d', 1); COMMIT;});
spends('cursor, then an error',
	q{BEGIN; DECLARE c CURSOR FOR SELECT dp_cdp.debit_budget('d', 1); FETCH c; ROLLBACK;});
spends('prepared transaction',
	q{BEGIN; SELECT dp_cdp.debit_budget('d', 1); PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p';});
spends('synchronous_commit off', q{SET synchronous_commit = off; SELECT dp_cdp.debit_budget('d', 1);});
spends('statement_timeout that is not reached', q{SET statement_timeout = '10s'; SELECT dp_cdp.debit_budget('d', 1);});

# on a parallel leader
my $force = value($node, 'test', q{SELECT current_setting('server_version_num')::int}) >= 160000
  ? 'debug_parallel_query' : 'force_parallel_mode';
$node->safe_psql('test', 'CREATE TABLE big AS SELECT 1 AS i; GRANT SELECT ON big TO ana');
spends('parallel leader',
	"SET $force = on; SET parallel_setup_cost = 0; SELECT dp_cdp.debit_budget('d', max(i)) FROM big;");

# a function with its owner's rights pays from both purses
$node->safe_psql('test', <<'EOC');
CREATE FUNCTION as_definer() RETURNS void LANGUAGE sql SECURITY DEFINER
	AS $$ SELECT dp_cdp.debit_budget('d', 1) $$;
ALTER FUNCTION as_definer() OWNER TO definer;
EOC
spends('security definer', 'SELECT as_definer();');
is(balance($node, 'test', 'd', 'definer'), 1, 'the definer pays too');

# several in one transaction
debit($node, 'test', 'ana',
	q{BEGIN; SELECT dp_cdp.debit_budget('d', 1) FROM generate_series(1, 5); ROLLBACK;});
$expected += 5;
is(balance($node, 'test', 'd', 'ana'), $expected, 'five in one statement');

# ---------------------------------------------------------------------------
# Given up while the budget was locked: nothing is spent
# ---------------------------------------------------------------------------

my $lock = q{SELECT FROM dp_cdp_internal.budget WHERE dataset = 'd' FOR UPDATE};
my $holder = hold_row($node, 'test', $lock);
my $run = background($node, 'test',
	q{SET SESSION AUTHORIZATION ana; SET statement_timeout = '300ms'; SELECT dp_cdp.debit_budget('d', 1);});
like(finish($run), qr/57014: canceling private query; this charge was not made/, 'statement_timeout while waiting');

$run = background($node, 'test',
	q{SET application_name = 'victim'; SET SESSION AUTHORIZATION ana; SELECT dp_cdp.debit_budget('d', 1); SELECT dp_cdp.debit_budget('d', 2);});
wait_waiting($node, 'test', 1);
$node->safe_psql('test', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'});

# the second statement, and not the first that has yet to hear of its end
$node->poll_query_until('test',
	q{SELECT query LIKE '%debit_budget(''d'', 2)%' FROM pg_stat_activity WHERE application_name = 'victim'});
wait_waiting($node, 'test', 1);
$node->safe_psql('test', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'});
like(finish($run), qr/57014: canceling private query(?:; this charge was not made| while it was charged).*57P01.*terminating/s, 'cancelled, asked again, terminated');

# five seconds, both at once: one's own uncommitted change is not waited for in vain for ever, either
$run = background($node, 'test', q{SET SESSION AUTHORIZATION ana; SELECT dp_cdp.debit_budget('d', 1);});
like(debit_error($node, 'test', 'postgres',
	q{BEGIN; SELECT FROM dp_cdp_internal.budget WHERE dataset = 'own' FOR UPDATE; SET SESSION AUTHORIZATION ana; SELECT dp_cdp.debit_budget('own', 1);}),
	qr/ZC003.*HINT:  If this transaction itself changed budgets, commit it first/s,
	'budget locked by the same transaction');
like(finish($run), qr/ZC003.*being changed; nothing was debited/, 'not for ever');
release_row($node, $holder);
is(balance($node, 'test', 'd', 'ana'), $expected, 'none of these was spent');
spends('the slot works afterwards', q{SELECT dp_cdp.debit_budget('d', 1);});

# tables, and the sequence, that are locked as a whole
for my $sql ('LOCK TABLE dp_cdp_internal.release_log IN ACCESS EXCLUSIVE MODE',
	'LOCK TABLE dp_cdp_internal.ledger_stamp IN SHARE MODE',
	'ALTER SEQUENCE dp_cdp_internal.release_log_id_seq CACHE 1')
{
	$holder = hold_row($node, 'test', $sql);
	$run = background($node, 'test', q{SET SESSION AUTHORIZATION ana; SELECT dp_cdp.debit_budget('d', 1);});
	wait_waiting($node, 'test', 1);
	release_row($node, $holder);
	is(finish($run), '', "waits for: $sql");
	$expected++;
	is(balance($node, 'test', 'd', 'ana'), $expected, 'and is debited then');
}

# the worker told to go: the next debit starts another
$node->safe_psql('test', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'});
spends('after the worker was terminated', q{SELECT dp_cdp.debit_budget('d', 1);});

# told to go while somebody waits
$holder = hold_row($node, 'test', $lock);
$run = background($node, 'test', q{SET SESSION AUTHORIZATION ana; SELECT dp_cdp.debit_budget('d', 1);});
wait_waiting($node, 'test', 1);
$node->safe_psql('test', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'});
release_row($node, $holder);
is(finish($run), '', 'a waiter outlives its worker');
$expected++;
is(balance($node, 'test', 'd', 'ana'), $expected, 'and is debited once');

is(value($node, 'test', q{SELECT count(*) FROM dp_cdp_internal.release_log WHERE granted AND role = 'ana'::regrole}),
	$expected - 1, 'one row of the log for each, the definer\'s under his own name');

# ---------------------------------------------------------------------------
# Settings of the database do not matter to the worker
# ---------------------------------------------------------------------------

$node->safe_psql('test', $_) for
	'ALTER DATABASE test SET default_transaction_read_only = on',
	'SET default_transaction_read_only = off; ALTER DATABASE test SET synchronous_commit = off',
	'SET default_transaction_read_only = off; ALTER DATABASE test SET default_transaction_isolation = serializable',
	'SET default_transaction_read_only = off; ALTER DATABASE test SET session_replication_role = replica',
	q{SET default_transaction_read_only = off; ALTER DATABASE test SET search_path = 'nowhere'},
	q{SET default_transaction_read_only = off; ALTER DATABASE test SET statement_timeout = '1ms'};
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'});
{
	# from the start: to set it may take longer than that
	local $ENV{PGOPTIONS} = '-c statement_timeout=0';
	spends('settings of the database', q{SELECT dp_cdp.debit_budget('d', 1);});
}
$node->safe_psql('postgres', 'ALTER DATABASE test RESET ALL');

# ---------------------------------------------------------------------------
# Balances and the log cannot be changed by hand, not even by a superuser
# ---------------------------------------------------------------------------

for my $sql (
	'UPDATE dp_cdp_internal.budget SET rho_spent = 0',
	'UPDATE dp_cdp_internal.dataset SET rho_spent = 0',
	'UPDATE dp_cdp_internal.ledger_stamp SET timeline = 7',
	'DELETE FROM dp_cdp_internal.budget',
	'DELETE FROM dp_cdp_internal.release_log',
	'DELETE FROM dp_cdp_internal.ledger_stamp',
	'TRUNCATE dp_cdp_internal.release_log',
	'TRUNCATE dp_cdp_internal.dataset CASCADE',
	'SET session_replication_role = replica; UPDATE dp_cdp_internal.budget SET rho_spent = 0')
{
	like(debit_error($node, 'test', 'postgres', $sql),
		qr/42501: table dp_cdp_internal\.\w+ cannot be changed directly; .*dp_cdp\./, $sql);
}
like(debit_error($node, 'test', 'ana', 'SELECT * FROM dp_cdp_internal.budget'), qr/42501/, 'analysts cannot read the tables');
like(debit_error($node, 'test', 'ana', 'SELECT dp_cdp.adopt_ledger()'), qr/42501/, 'nor adopt');
like(debit_error($node, 'test', 'ana', 'SELECT dp_cdp.empty_ledger()'), qr/42501/, 'nor empty');
is(balance($node, 'test', 'd', 'ana'), $expected, 'unchanged');

# the explicit way
$node->safe_psql('test', 'SELECT dp_cdp.empty_ledger()');
is(value($node, 'test', 'SELECT concat_ws(\' \', (SELECT sum(rho_spent) FROM dp_cdp_internal.budget),'
	. ' (SELECT sum(rho_spent) FROM dp_cdp_internal.dataset), (SELECT count(*) FROM dp_cdp_internal.release_log))'), '0 0 0', 'empty_ledger');
$expected = 0;
spends('after emptying', q{SELECT dp_cdp.debit_budget('d', 1);});

$node->stop;
done_testing();
