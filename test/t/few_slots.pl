# Fewer slots for background workers than ledgers, and workers that leave when they
# are idle.

use strict;
use warnings;

use LedgerTest;
use Test::More;

my $workers = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'};
my $node = ledger_node('main', conf => "max_logical_replication_workers = 0\nmax_worker_processes = 12\n");
$node->safe_psql('postgres', 'CREATE ROLE ana LOGIN');
for my $db (qw(test other))
{
	ledger_database($node, $db);
	clinic_database($node, $db);
}
my @many = map { "many$_" } 1 .. 5;
$node->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE other") for @many;

# ---------------------------------------------------------------------------
# Too few slots
# ---------------------------------------------------------------------------

debit($node, $_, 'ana', q{SELECT dp_cdp.debit_budget('clinic', 0.01)}) for qw(test other);
is(value($node, 'test', q{SELECT finding FROM dp_cdp.check_setup() WHERE object = 'max_worker_processes'}), '', 'check_setup says nothing of slots where there are enough');

$node->safe_psql('postgres', 'ALTER SYSTEM SET max_worker_processes = 2');
$node->restart;
ok($node->poll_query_until('postgres', "SELECT ($workers) = 1"), 'one slot for two ledgers');
$node->psql($_, q{SELECT dp_count(*) > 0 FROM visits}, extra_params => [ '-U', 'ana' ]) for qw(test other);
is(join(' ', map { balance($node, $_, 'clinic', 'ana') } qw(test other)), '0.02 0.02', 'serves one after the other');
like(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/WARNING:  there is no free background worker for a privacy ledger/, 'the log says that they are short');

is(value($node, 'test', q{SELECT needed FROM dp_cdp.worker_slots()}),
	value($node, 'test', q{SELECT 1 + count(*) + current_setting('max_parallel_workers')::int FROM pg_database WHERE datallowconn AND NOT datistemplate}),
	'worker_slots() counts each database where there may be more ledgers than it knows');

my $bench = pgbench_run($node, 'other', q{SET SESSION AUTHORIZATION ana; SELECT dp_count(*) > 0 FROM visits;}, '-c', 1, '-T', 120);
$node->poll_query_until('other', q{SELECT rho_spent > 0.02 FROM dp_cdp_internal.budget});
is(value($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) > 0 FROM visits'), 't', 'while one is busy the other gets its turn');
my $then = balance($node, 'other', 'clinic', 'ana');
ok($node->poll_query_until('other', "SELECT rho_spent > $then FROM dp_cdp_internal.budget"), 'and so does the busy one');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'other' AND backend_type = 'client backend'});
$bench->();

# each waits for the only slot with all others, and is served within 2.5 s
my @asked = map { background($node, $_, 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) > 0 FROM visits') } @many;
finish($_) for @asked;
is(join(' ', map { balance($node, $_, 'clinic', 'ana') } @many), join(' ', ('0.01') x @many), 'five databases that ask at once are served in turn');

# a failure that no worker could come for is counted when there is a slot, without a debit
add_stays($node, 'test');
$node->safe_psql('postgres', "DROP DATABASE $_ WITH (FORCE)") for @many;
my $ana = background($node, 'test', 'SET SESSION AUTHORIZATION ana; SET test.stay = 600; SELECT dp_count(*) FROM visits WHERE stays(patient) > 0;');
my $reader = reader_of($node, 'test');
is(value($node, 'other', 'SET SESSION AUTHORIZATION ana; SELECT dp_count(*) > 0 FROM visits'), 't', 'another ledger has the only slot');
kill 'INT', $reader;
like(finish($ana), qr/ERROR:  57014: .*charged/, 'meanwhile a release fails');
is(value($node, 'test', 'SELECT sum(failures) FROM dp_cdp_internal.budget'), 0, 'which nobody counts');
$node->safe_psql('postgres', 'DROP DATABASE other WITH (FORCE)');
ok($node->poll_query_until('test', 'SELECT sum(failures) = 1 FROM dp_cdp_internal.budget'), 'until the slot is free');

$node->safe_psql('postgres', 'ALTER SYSTEM SET max_worker_processes = 1');
$node->restart;
like(debit_error($node, 'test', 'ana', 'SELECT dp_count(*) FROM visits'),
	qr/ZC003: the privacy ledger found no free background worker; nothing was debited.*"max_worker_processes"/, 'none where the launcher has the only one');
is(balance($node, 'test', 'clinic', 'ana'), '0.04', 'nothing debited');

# ---------------------------------------------------------------------------
# Leaving when idle
# ---------------------------------------------------------------------------

$node->append_conf('postgresql.conf', "dp_cdp.worker_idle_timeout = '500ms'");
$node->restart;
is(value($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'dp_cdp%'}), 0,
	'with worker_idle_timeout none is started with the server');
$node->psql('test', q{SELECT dp_count(*) > 0 FROM visits}, extra_params => [ '-U', 'ana' ]);
is(balance($node, 'test', 'clinic', 'ana'), '0.05', 'a debit starts one');
ok($node->poll_query_until('postgres', "SELECT ($workers) = 0"), 'which leaves');

$node->stop;
done_testing();
