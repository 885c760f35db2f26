# What dp_cdp.check_setup() is there to report does not stop it: an owner who is no
# superuser any more, keys, tables, sequences and names that are not as they were.
# And without the library the ledger is not dropped.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nmax_worker_processes = 20\n");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE dba SUPERUSER LOGIN; CREATE ROLE analyst1 LOGIN; CREATE ROLE owner1 LOGIN');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_cdp;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
	CREATE TABLE visits (patient int NOT NULL);
	INSERT INTO visits SELECT i FROM generate_series(1, 100) i;
	ALTER TABLE visits OWNER TO owner1;
	SET ROLE owner1;
	SELECT dp_cdp.create_dataset('clinic', rho => 5);
	SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
	SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1);
	RESET ROLE;
	SELECT dp_cdp.harden();
}, extra_params => [ '-U', 'dba' ]);
my $query = 'SELECT dp_count(*) IS NOT NULL FROM visits';
$node->safe_psql('postgres', $query, extra_params => [ '-U', 'analyst1' ]);

# severities, objects and findings, but for fsync, which is off in the harness; or the error
sub found
{
	my ($role, $schema) = @_;
	my (undef, $out, $err) = $node->psql('postgres', sprintf(
			q{SELECT severity || ' ' || object || ' ' || finding FROM %s.check_setup() WHERE object NOT LIKE 'database %%' AND object <> 'fsync'}, $schema // 'dp_cdp'),
		extra_params => $role ? [ '-U', $role ] : []);
	return $out . $err;
}

# Damages something, looks for the finding, and applies its remedy, or the one given.
sub damaged
{
	my ($damage, $expected, $remedy) = @_;

	$node->safe_psql('postgres', $damage);
	like(found(), $expected, $damage);
	$remedy //= $node->safe_psql('postgres', q{SELECT string_agg(remedy, '; ') FROM dp_cdp.check_setup() WHERE severity = 'critical'});
	$node->safe_psql('postgres', $remedy);
	is(found(), '', "remedied by $remedy");
}

is(found(), '', 'in order');

# the owner of the extension
$node->safe_psql('postgres', 'ALTER ROLE dba NOSUPERUSER');
for my $role (undef, 'owner1')
{
	like(found($role), qr/^critical extension dp_cdp \d+ of its objects belong to dba, who is no superuser/, 'an owner who is no superuser any more, told to ' . ($role // 'a superuser'));
}
like($node->safe_psql('postgres', q{SELECT left(dp_cdp.report('clinic'), 30)}, extra_params => [ '-U', 'owner1' ]), qr/<!DOCTYPE html>/i, 'and reports are made');
$node->safe_psql('postgres', 'ALTER ROLE dba SUPERUSER');
is(found(), '', 'a superuser again');
$node->safe_psql('postgres', 'CREATE ROLE plain');
my (undef, undef, $err) = $node->psql('postgres', 'REASSIGN OWNED BY dba TO plain');
like($err, qr/owner of an event trigger must be a superuser/, 'the extension is given to superusers alone');
$node->safe_psql('postgres', 'ALTER TABLE dp_cdp_internal.budget OWNER TO plain');
like(found(), qr/^critical extension dp_cdp 1 of its objects belong to plain/m, 'one table of another role');
$node->safe_psql('postgres', 'ALTER TABLE dp_cdp_internal.budget OWNER TO dba');

# keys, sequences, tables, names
damaged('ALTER TABLE dp_cdp_internal.budget DROP CONSTRAINT budget_pkey', qr/^critical dp_cdp_internal\.budget has lost its primary key/);
damaged('ALTER TABLE dp_cdp_internal.release_log DROP CONSTRAINT release_log_pkey', qr/^critical dp_cdp_internal\.release_log has lost its primary key/);
damaged(q{SELECT setval('dp_cdp_internal.release_log_id_seq', 9223372036854775807)}, qr/^critical dp_cdp_internal\.release_log_id_seq stands at 9223372036854775807/);
like($node->safe_psql('postgres', $query, extra_params => [ '-U', 'analyst1' ]), qr/t/, 'and debits go on');
damaged(q{SELECT setval('dp_cdp_internal.release_log_id_seq', 1, false)}, qr/^critical dp_cdp_internal\.release_log_id_seq stands at 1,/);
damaged(q{SELECT setval('dp_cdp_internal.ledger_id_seq', 9223372036854775807)}, qr/^critical dp_cdp_internal\.ledger_id_seq stands at/);
damaged('ALTER SEQUENCE dp_cdp_internal.release_log_id_seq MAXVALUE 1000', qr/^critical dp_cdp_internal\.release_log_id_seq was altered, and counts from 1 to 1000 by 1: debits/);
damaged('ALTER SEQUENCE dp_cdp_internal.ledger_id_seq INCREMENT BY 2 CYCLE', qr/^critical dp_cdp_internal\.ledger_id_seq was altered, .* by 2, in cycles/);
damaged('ALTER EVENT TRIGGER dp_cdp_keep_ledger DISABLE', qr/^critical event trigger dp_cdp_keep_ledger is missing, disabled/);
damaged('ALTER TABLE dp_cdp_internal.ledger_chain RENAME TO chain', qr/critical dp_cdp_internal\.ledger_chain is missing/, 'ALTER TABLE dp_cdp_internal.chain RENAME TO ledger_chain');
damaged('ALTER TABLE dp_cdp_internal.pruned RENAME COLUMN last_id TO id', qr/^critical ledger cannot be looked at: .*last_id/, 'ALTER TABLE dp_cdp_internal.pruned RENAME COLUMN id TO last_id');
$node->safe_psql('postgres', 'ALTER SCHEMA dp_cdp RENAME TO dp2');
like(found(undef, 'dp2'), qr/^critical extension dp_cdp its schemas or tables have other names/, 'a schema with another name');
$node->safe_psql('postgres', 'ALTER SCHEMA dp2 RENAME TO dp_cdp');
damaged('ALTER SCHEMA dp_cdp_internal RENAME TO dp2', qr/^critical extension dp_cdp its schemas or tables have other names/, 'ALTER SCHEMA dp2 RENAME TO dp_cdp_internal');
$node->safe_psql('postgres', 'ALTER TABLE dp_cdp_internal.dataset RENAME TO datasets2');
like(found(), qr/^critical extension dp_cdp its schemas or tables have other names/, 'a table with another name');
$node->safe_psql('postgres', 'ALTER TABLE dp_cdp_internal.datasets2 RENAME TO dataset');

# a worker that is stopped
# it may have ended when a table of its had another name
my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'};
$node->safe_psql('postgres', $query, extra_params => [ '-U', 'analyst1' ]);
ok($node->poll_query_until('postgres', "SELECT EXISTS ($worker)"), 'the worker is there');
my $pid = $node->safe_psql('postgres', $worker);
kill 'STOP', $pid;
is(found(), '', 'while the worker is stopped there is an answer');
kill 'CONT', $pid;

# budgets without tables, as after pg_restore --no-security-labels
$node->command_ok([ 'pg_dump', '-Fc', '-f', $node->backup_dir . '.dump', '-d', $node->connstr('postgres') ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--no-security-labels', '-d', $node->connstr('restored'), $node->backup_dir . '.dump' ], 'restore without labels');
is($node->safe_psql('restored', q{SELECT severity FROM dp_cdp.check_setup() WHERE object = 'dataset clinic' AND finding ~ 'has budgets and protects no table'}),
	'warning', 'a dataset that has budgets and no table');
$node->safe_psql('restored', q{SELECT dp_cdp.protect_table('visits', 'clinic', 'patient')});
is($node->safe_psql('restored', q{SELECT count(*) FROM dp_cdp.check_setup() WHERE object = 'dataset clinic'}), '0', 'protected again');
$node->safe_psql('restored', q{SELECT dp_cdp.create_dataset('empty', rho => 1)});
is($node->safe_psql('restored', q{SELECT count(*) FROM dp_cdp.check_setup() WHERE object = 'dataset empty'}), '0', 'a dataset without budgets is no finding');

# without the library
$node->safe_psql('postgres', 'CREATE DATABASE unspent');
$node->safe_psql('unspent', 'CREATE EXTENSION dp_cdp');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
for my $drop ('DROP EXTENSION dp_cdp CASCADE', 'DROP SCHEMA public CASCADE', 'DROP OWNED BY dba CASCADE', 'BEGIN; DROP EXTENSION dp_cdp CASCADE; COMMIT')
{
	(undef, undef, $err) = $node->psql('postgres', $drop);
	like($err, qr/ERROR:  dropping extension dp_cdp would erase a ledger in which privacy budget was spent/, "without the library: $drop");
}
is($node->safe_psql('postgres', 'SELECT rho_spent > 0 FROM dp_cdp_internal.budget'), 't', 'the ledger is there');
$node->safe_psql('unspent', 'DROP EXTENSION dp_cdp CASCADE; CREATE SCHEMA s; DROP SCHEMA s');
is($node->safe_psql('unspent', 'SELECT count(*) FROM pg_event_trigger'), '0', 'one in which nothing was spent goes, with its event triggers');
$node->stop;

done_testing();
