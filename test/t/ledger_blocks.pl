# Balances by blocks of time: concurrent debits over overlapping ranges, crashes, a dump.

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
CREATE ROLE bob LOGIN;
SELECT dp_cdp.create_dataset('d', rho => 1000000, default_rho => 1, max_groups => 5, max_rows => 5);
CREATE TABLE visits (patient int NOT NULL, day date NOT NULL);
INSERT INTO visits SELECT i % 10, date '2024-01-01' + i FROM generate_series(0, 359) i;
SELECT dp_cdp.protect_table('visits', 'd', 'patient', block => 'day', every => '1 month');
ALTER TABLE visits ADD COLUMN id serial PRIMARY KEY;
CREATE TABLE bills (visit int NOT NULL REFERENCES visits);
INSERT INTO bills SELECT id FROM visits;
SELECT dp_cdp.protect_table('bills', 'd', through => 'visit');
SELECT dp_cdp.set_budget('d', 'ana', rho => 1000000);
SELECT dp_cdp.set_budget('d', 'bob', rho => 100);
ALTER SYSTEM SET dp_cdp.max_debits_per_second = 0;
SELECT pg_reload_conf();
EOC

sub consistent
{
	my ($what) = @_;

	is(value($node, 'test', "SELECT string_agg(object || ' ' || finding, E'\\n') FROM dp_cdp.check_ledger() WHERE severity <> 'info'"),
		'', "$what: blocks, balances and log agree");
	is(value($node, 'test', <<'EOC'), 't', "$what: balances are the maximum of their blocks");
SELECT bool_and(b.rho_spent = coalesce((SELECT max(k.rho_spent) FROM dp_cdp_internal.block_spent k WHERE k.ledger_id = b.ledger_id), 0))
FROM (SELECT ledger_id, rho_spent FROM dp_cdp_internal.budget UNION ALL SELECT ledger_id, rho_spent FROM dp_cdp_internal.dataset) b
EOC
	is(value($node, 'test', <<'EOC'), '0', "$what: steps of a balance do not overlap");
SELECT count(*) FROM dp_cdp_internal.block_spent a JOIN dp_cdp_internal.block_spent b USING (ledger_id)
WHERE a.block_from < b.block_from AND b.block_from < a.block_to
EOC
	return;
}

my $script = q{\set m random(1, 9)
\set n :m + random(0, 3)
SET SESSION AUTHORIZATION ana;
SELECT dp_count(*) FROM visits WHERE day >= make_date(2024, :m, 1) AND day < make_date(2024, :n, 28);};

# ranges of clients overlap
crash_under_load($node, 'test', 'immediate shutdown', $script, sub { $node->stop('immediate'); $node->start; });
consistent('immediate shutdown');
crash_under_load($node, 'test', 'kill -9 of the worker', $script,
	sub { kill 'KILL', value($node, 'postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger' AND datname = 'test'}); });
consistent('kill -9 of the worker');

# no block is overdrawn, whoever else is at it
my @bench = map {
	pgbench_run($node, 'test',
		"SET SESSION AUTHORIZATION bob; DO \$\$ BEGIN PERFORM dp_count(*) FROM visits WHERE day >= '2024-0$_-01' AND day < '2024-06-01'; EXCEPTION WHEN OTHERS THEN NULL; END \$\$;",
		'-c', 2, '-t', 60)
} 2 .. 5;
$_->() for @bench;
is(value($node, 'test', q{SELECT trim_scale(max(rho_spent)) FROM dp_cdp.blocks WHERE role_name = 'bob'}), 100, 'the block that all want is exhausted, not overdrawn');
is(value($node, 'test', q{SELECT trim_scale(rho_spent) FROM dp_cdp.blocks WHERE role_name = 'bob' AND block_from <= '2024-05-01' AND block_to > '2024-05-01'}), 100, 'it is the last one');
consistent('concurrent debits');
like(debit_error($node, 'test', 'bob', q{SELECT dp_count(*) FROM visits WHERE day = '2024-05-03'}), qr/ZC001.*in the blocks from 2024-05-01 to before 2024-06-01/, 'which the refusal names');
unlike(debit_error($node, 'test', 'bob', q{SELECT dp_count(*) FROM visits WHERE day = '2024-06-03'}), qr/ERROR/, 'the next month has new budget');

# a dump carries blocks along
$node->safe_psql('postgres', 'CREATE DATABASE restored');
my $file = PostgreSQL::Test::Utils::tempdir() . '/test.dump';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('test'), '-Fc', '-f', $file ], 'dumped');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('restored'), $file ], 'restored');
is(value($node, 'restored', 'SELECT count(*), sum(rho_spent) FROM dp_cdp_internal.block_spent'), value($node, 'test', 'SELECT count(*), sum(rho_spent) FROM dp_cdp_internal.block_spent'), 'with what was spent in blocks');
is(value($node, 'restored', 'SELECT block, unit FROM dp_cdp.protected WHERE unit IS NOT NULL'), 'day|patient', 'with the policy');
is(value($node, 'restored', q{SELECT string_agg(tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text, ', ' ORDER BY tgrelid::regclass::text, tgname) FROM pg_trigger WHERE tgname LIKE 'dp_cdp_keep%'}),
	'bills dp_cdp_keep_block A, visits dp_cdp_keep_block A, visits dp_cdp_keep_key A, visits dp_cdp_keep_referenced A', 'with the triggers');
is(value($node, 'restored', q{SELECT dp_cdp_internal.block_problem('bills') || dp_cdp_internal.block_problem('visits')}), '', 'as they are to be');
like(($node->psql('restored', 'UPDATE bills SET visit = visit + 31'))[2], qr/would move a row of protected table "bills"/, 'which hold rows');
$node->safe_psql('restored', 'SELECT dp_cdp.adopt_ledger()');
is(value($node, 'restored', q{SELECT string_agg(finding, E'\n') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'adopted: all agrees');
like(debit_error($node, 'restored', 'bob', q{SELECT dp_count(*) FROM visits WHERE day = '2024-05-03'}), qr/ZC001/, 'and is still exhausted');

# an old copy of the steps, of which the log knows more
$node->safe_psql('restored', q{SET session_replication_role = replica; ALTER TABLE dp_cdp_internal.block_spent DISABLE TRIGGER ALL;
	UPDATE dp_cdp_internal.block_spent SET rho_spent = 1 WHERE rho_spent = 100; DELETE FROM dp_cdp_internal.block_spent WHERE block_from = '2024-06-01';
	ALTER TABLE dp_cdp_internal.block_spent ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;});
cmp_ok(value($node, 'restored', q{SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'}), '>', 0, 'steps that are less than the log says are found');
$node->safe_psql('restored', 'SELECT dp_cdp.adopt_ledger()');
is(value($node, 'restored', q{SELECT string_agg(finding, E'\n') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'and raised to it');
is(value($node, 'restored', 'SELECT sum(rho_spent * (least(block_to, \'2100-01-01\') - greatest(block_from, \'1900-01-01\'))) FROM dp_cdp_internal.block_spent'),
	value($node, 'test', 'SELECT sum(rho_spent * (least(block_to, \'2100-01-01\') - greatest(block_from, \'1900-01-01\'))) FROM dp_cdp_internal.block_spent'), 'to what they were');
done_testing();
