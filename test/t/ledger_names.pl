# Rows of the ledger belong to the roles that they name: whatever becomes of
# roles and OIDs, here, in other databases and on other servers.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', q{
	CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carl LOGIN; CREATE ROLE stranger LOGIN;
	CREATE ROLE dba LOGIN; CREATE ROLE boss LOGIN;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba, boss;
	SET SESSION AUTHORIZATION dba;
	SELECT dp_cdp.create_dataset('d');
	SELECT dp_cdp.set_budget('d', r::regrole, rho => 10) FROM unnest('{ana,bob,carl}'::text[]) r;
	SET SESSION AUTHORIZATION boss;
	SELECT dp_cdp.create_dataset('left behind');
	RESET SESSION AUTHORIZATION;
	CREATE TABLE visits (patient int); ALTER TABLE visits OWNER TO dba;
	SELECT dp_cdp.protect_table('visits', 'd', 'patient');
	REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM boss;		-- would keep it from being dropped elsewhere
});
debit($node, 'test', $_, q{SELECT dp_cdp.debit_budget('d', 1)}) for qw(ana bob carl);
like(debit_error($node, 'test', 'stranger', q{SELECT dp_cdp.debit_budget('d', 1)}), qr/ZC001: role "stranger" has no privacy budget/, 'a stranger');

sub budgets
{
	my ($n, $role) = @_;
	my $as = $role ? "SET SESSION AUTHORIZATION $role;" : '';

	return $n->safe_psql('test', $as . q{
		SELECT coalesce(string_agg(concat_ws(' ', role_name, role, rho_spent, CASE WHEN role_missing THEN 'missing' END), ', '
			ORDER BY role_name COLLATE "C", ledger_id), 'none') FROM dp_cdp.budgets WHERE dataset = 'd'});
}

sub releases
{
	my ($n, $role) = @_;
	my $as = $role ? "SET SESSION AUTHORIZATION $role;" : '';

	return $n->safe_psql('test', $as . q{
		SELECT coalesce(string_agg(concat_ws(' ', role_name, role, rho), ', ' ORDER BY id), 'none')
		FROM dp_cdp.releases WHERE dataset = 'd'});
}

is(budgets($node), 'ana ana 1, bob bob 1, carl carl 1', 'names and roles');

# ---------------------------------------------------------------------------
# Dropped roles
# ---------------------------------------------------------------------------

like(debit_error($node, 'test', 'postgres', 'DROP ROLE ana'), qr/2BP01: role "ana" cannot be dropped because it has a privacy budget/,
	'a role with a budget is not dropped here');
$node->safe_psql('test', 'DROP ROLE stranger');
is(releases($node), 'ana ana 1, bob bob 1, carl carl 1, stranger 1', 'a dropped role keeps its audit');

my $oid = $node->safe_psql('test', q{SELECT 'ana'::regrole::oid});
my $boss = $node->safe_psql('test', q{SELECT 'boss'::regrole::oid});
$node->safe_psql('postgres', 'DROP ROLE ana; DROP ROLE boss');
is(budgets($node), 'ana 1 missing, bob bob 1, carl carl 1', 'dropped in another database: missing');
is(value($node, 'test', q{SELECT concat_ws(' ', owner_name, owner) FROM dp_cdp.datasets WHERE dataset = 'left behind'}), 'boss',
	'so is an owner');
$node->safe_psql('postgres', qq{
	CREATE ROLE heir LOGIN; CREATE ROLE heir2 LOGIN; SET allow_system_table_mods = on;
	UPDATE pg_authid SET oid = $oid WHERE rolname = 'heir'; UPDATE pg_authid SET oid = $boss WHERE rolname = 'heir2'});
is(value($node, 'test', q{SELECT 'heir'::regrole::oid}), $oid, 'another role has its OID now');
like(debit_error($node, 'test', 'heir', q{SELECT dp_cdp.debit_budget('d', 1)}), qr/ZC001: role "heir" has no privacy budget/, 'and not its budget');
is(budgets($node, 'heir'), 'none', 'sees no budget');
is(releases($node, 'heir'), 'heir heir 1', 'and of the audit its own refusal alone');
is(budgets($node), 'ana 1 missing, bob bob 1, carl carl 1', 'for the owner nothing has changed');
like(debit_error($node, 'test', 'heir2', q{SELECT dp_cdp.set_budget('left behind', 'heir2', rho => 1)}),
	qr/42501: must be owner of dataset "left behind"/, 'nor does a dataset pass on');
like(value($node, 'test', 'SELECT finding || remedy FROM dp_cdp.check_setup()'),
	qr/budget of role ana, which does not exist any more.*dp_cdp\.drop_missing_budget\('d', 'ana'\)/, 'check_setup says so');

# the heir gets a budget of his own, beside the old one, and may be dropped without it
debit($node, 'test', 'dba', q{SELECT dp_cdp.set_budget('d', 'heir', rho => 2)});
debit($node, 'test', 'heir', q{SELECT dp_cdp.debit_budget('d', 0.5)});
is(budgets($node), 'ana 1 missing, bob bob 1, carl carl 1, heir heir 0.5', 'two rows of one OID');
debit($node, 'test', 'dba', q{SELECT dp_cdp.drop_budget('d', 'heir')});
is(budgets($node), 'ana 1 missing, bob bob 1, carl carl 1', 'each is dropped by itself');
$node->safe_psql('test', 'DROP ROLE heir; DROP ROLE heir2');
debit($node, 'test', 'dba', q{SELECT dp_cdp.drop_missing_budget('d', 'ana')});
is(budgets($node), 'bob bob 1, carl carl 1', 'drop_missing_budget');
like(debit_error($node, 'test', 'dba', q{SELECT dp_cdp.drop_missing_budget('d', 'bob')}), qr/ZC004: a missing role "bob" has no budget/, 'not of a role that there is');
like(debit_error($node, 'test', 'dba', q{SELECT dp_cdp.drop_missing_budget('d', NULL)}), qr/ZC004: a missing role "" has no budget/, 'nor of NULL');
$node->safe_psql('test', q{SELECT dp_cdp.alter_dataset('left behind', new_owner => 'dba')});
is(value($node, 'test', q{SELECT concat_ws(' ', owner_name, owner) FROM dp_cdp.datasets WHERE dataset = 'left behind'}), 'dba dba',
	'a superuser gives the dataset away');

# ---------------------------------------------------------------------------
# Renamed roles
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', 'ALTER ROLE bob RENAME TO robert');
is(budgets($node, 'robert'), 'robert robert 1', 'renamed in another database: the same budget');
debit($node, 'test', 'robert', q{SELECT dp_cdp.debit_budget('d', 1)});
is(releases($node, 'robert'), 'bob robert 1, robert robert 1', 'and the same rows, by the names of then');
debit($node, 'test', 'dba', q{SELECT dp_cdp.set_budget('d', 'robert', rho => 20)});
is(budgets($node), 'carl carl 1, robert robert 2', 'set_budget changes that budget');
$node->safe_psql('postgres', 'CREATE ROLE bob LOGIN');
is(budgets($node, 'bob') . releases($node, 'bob'), 'nonenone', 'who takes the old name gets nothing');
like(debit_error($node, 'test', 'robert', q{SECURITY LABEL FOR dp_cdp ON ROLE robert IS '{carl}'}), qr/42501/, 'former names are for superusers');
like(debit_error($node, 'test', 'postgres', q{SECURITY LABEL FOR dp_cdp ON ROLE robert IS 'carl'}),
	qr/ZC004: "carl" is not a security label/, 'and are names');

# ---------------------------------------------------------------------------
# Another server, where roles are missing or have other OIDs
# ---------------------------------------------------------------------------

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('test') ], 'dump');
my $other = ledger_node('other');
$other->safe_psql('postgres', 'CREATE ROLE filler; CREATE ROLE karl LOGIN; CREATE ROLE dba LOGIN; CREATE ROLE heir LOGIN; CREATE ROLE robert LOGIN;'
	. ' CREATE ROLE stranger LOGIN; CREATE DATABASE test');
# everybody has the OID of somebody else
$other->safe_psql('postgres', q{SET allow_system_table_mods = on; UPDATE pg_authid SET oid = } . $node->safe_psql('test', q{SELECT 'carl'::regrole::oid})
	. q{ WHERE rolname = 'stranger'});
$other->command_ok([ 'psql', '-Xq', '-f', $dump, $other->connstr('test') ], 'restore where roles are missing');
is(value($other, 'test', q{SELECT count(*) FROM dp_cdp_internal.release_log}), value($node, 'test', q{SELECT count(*) FROM dp_cdp_internal.release_log}), 'no row is lost');
like(budgets($other), qr/^(carl 1 missing, (robert|bob) 2 missing)|(bob 2 missing, carl 1 missing)$/, 'names are told, roles are missing');
is(budgets($other, 'stranger') . releases($other, 'stranger'), 'nonenone', 'nobody gets what has his OID');
like(debit_error($other, 'test', 'heir', 'SELECT dp_count(*) FROM visits'),
	qr/ZC001: role "heir" has no privacy budget for dataset "d" in a ledger that was not adopted; first call dp_cdp\.adopt_ledger\(\), which may bring it back/,
	'who has no budget yet hears that it may come back');
$other->safe_psql('test', q{SELECT dp_cdp.adopt_ledger()});
like(debit_error($other, 'test', 'heir', 'SELECT dp_count(*) FROM visits'), qr/ZC001: role "heir" has no privacy budget for dataset "d"; the dataset's owner/,
	'and afterwards that he has none');
like(budgets($other), qr/carl 1 missing/, 'adopted: carl is still missing');
$other->safe_psql('test', 'GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO PUBLIC');
like(debit_error($other, 'test', 'karl', q{SELECT dp_cdp.debit_budget('d', 1)}), qr/ZC001: role "karl" has no privacy budget/, 'until somebody says who he is');
# in one session, as the worker believes for a second what it has read
is(debit_error($other, 'test', 'postgres', q{SELECT dp_cdp.adopt_role('carl', 'karl'); SET SESSION AUTHORIZATION karl; SELECT dp_cdp.debit_budget('d', 1)}),
	'', 'adopt_role, and a debit at once');
$other->safe_psql('test', q{SELECT dp_cdp.adopt_role('bob', 'robert')});
is(budgets($other), 'karl karl 2, robert robert 2', 'adopt_role says who it is');
is(releases($other, 'karl'), 'carl karl 1, karl karl 1, karl karl 1', 'and he has his audit');
like(releases($other, 'stranger'), qr/^stranger stranger 1$/, 'of the same name: by adopt_ledger');
debit($other, 'test', 'karl', q{SELECT dp_cdp.debit_budget('d', 1)});
is(budgets($other, 'karl'), 'karl karl 3', 'who goes on from there');
like(debit_error($other, 'test', 'postgres', "SELECT dp_cdp.adopt_role($_)"), qr/ZC004/, "adopt_role($_)")
  for q{NULL, 'karl'}, q{'carl', NULL}, q{'nobody', 'karl'}, q{'carl', '0'};
like(debit_error($other, 'test', 'karl', q{SELECT dp_cdp.adopt_role('bob', 'karl')}), qr/42501/, 'adopt_role is not for everybody');

# a budget that was adopted beside one's own is nobody's, and can be dropped
$other->safe_psql('test', q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.set_budget('d', 'heir', rho => 1); RESET SESSION AUTHORIZATION;
	INSERT INTO dp_cdp_internal.budget (dataset, role, role_name, rho_limit, delta_limit, report_delta) VALUES ('d', 4711, 'heir', 7, 0, 0);
	INSERT INTO dp_cdp_internal.release_log (dataset, role, role_name, session_role, session_role_name, aggregates, rho, delta, granted, paid_by)
	VALUES ('d', 4711, 'heir', 4711, 'heir', '', 0, 0, false, '{}'); SELECT dp_cdp.adopt_role('heir', 'heir')});
is(budgets($other), 'heir heir 0, heir 0 missing, karl karl 3, robert robert 2', 'adopted beside one of the same role: still nobody\'s');
is(budgets($other, 'heir'), 'heir heir 0', 'and not shown to the role');
debit($other, 'test', 'dba', q{SELECT dp_cdp.drop_missing_budget('d', 'heir')});
is(budgets($other), 'heir heir 0, karl karl 3, robert robert 2', 'and dropped as such');

# ---------------------------------------------------------------------------
# An owner who adopts his dataset decides nothing about others
# ---------------------------------------------------------------------------

$node->safe_psql('test', q{CREATE ROLE lost LOGIN; CREATE ROLE lost_owner; SELECT dp_cdp.create_dataset('far'), dp_cdp.create_dataset('away');
	SELECT dp_cdp.set_budget(n, 'lost', rho => 10) FROM unnest('{d,far}'::text[]) n;
	SELECT dp_cdp.alter_dataset('away', new_owner => 'lost_owner');
	SELECT dp_cdp.debit_budget('d', 1, 0, 'lost'); SET SESSION AUTHORIZATION lost; SELECT dp_cdp.debit_budget('d', 1); SELECT dp_cdp.debit_budget('far', 1)});
$node->safe_psql('postgres', 'DROP ROLE lost; DROP ROLE lost_owner; CREATE ROLE lost LOGIN; CREATE ROLE lost_owner');
debit($node, 'test', 'dba', q{SELECT dp_cdp.adopt_ledger(dataset => 'd')});
is(value($node, 'test', q{SELECT string_agg(dataset || CASE WHEN role_missing THEN ' missing' ELSE ' ' || role END, ', ' ORDER BY dataset)
	FROM dp_cdp.budgets WHERE role_name = 'lost'}), 'd lost, far missing', 'who has the name gets the budget of that dataset');
like(debit_error($node, 'test', 'lost', q{SELECT dp_cdp.debit_budget('far', 1)}), qr/ZC001: role "lost" has no privacy budget/, 'not that of another');
like(debit_error($node, 'test', 'lost_owner', q{SELECT dp_cdp.set_budget('away', 'lost', rho => 1)}), qr/42501: must be owner/, 'nor another dataset');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(debit_error($node, 'test', 'lost', q{SELECT dp_cdp.debit_budget('far', 1)}), '', 'whoever adopts all decides about all');
is(value($node, 'test', q{SELECT owner FROM dp_cdp.datasets WHERE dataset = 'away'}), 'lost_owner', 'of datasets, too');
$node->safe_psql('test', q{SELECT dp_cdp.drop_budget(n, 'lost') FROM unnest('{d,far}'::text[]) n});

# ---------------------------------------------------------------------------
# Renamed roles on another server
# ---------------------------------------------------------------------------

# paul is piet now; anna is anja, and there is another anna; emil was dropped, and there is another, with a budget of his own
$node->safe_psql('test', q{CREATE ROLE paul LOGIN; CREATE ROLE anna LOGIN; CREATE ROLE emil LOGIN});
debit($node, 'test', 'dba', qq{SELECT dp_cdp.set_budget('d', '$_', rho => 10)}) for qw(paul anna emil);
debit($node, 'test', $_, q{SELECT dp_cdp.debit_budget('d', 1)}) for qw(paul anna emil);
$node->safe_psql('postgres', q{ALTER ROLE paul RENAME TO piet; ALTER ROLE anna RENAME TO anja; CREATE ROLE anna LOGIN; DROP ROLE emil; CREATE ROLE emil LOGIN});
debit($node, 'test', 'dba', q{SELECT dp_cdp.set_budget('d', 'emil', rho => 5)});
debit($node, 'test', 'emil', q{SELECT dp_cdp.debit_budget('d', 2)});
$node->command_ok([ 'pg_dump', '-f', "$dump.2", $node->connstr('test') ], 'dump');
$node->command_ok([ 'pg_dumpall', '-g', '-f', "$dump.globals", '-d', $node->connstr('postgres') ], 'dump of roles');
my $third = ledger_node('third');
$third->safe_psql('postgres', 'CREATE DATABASE test; CREATE ROLE filler1; CREATE ROLE filler2; CREATE ROLE filler3; CREATE ROLE filler4');
$third->command_ok([ 'psql', '-Xq', '-f', "$dump.globals", $third->connstr('postgres') ], 'roles restored');
$third->command_ok([ 'psql', '-Xq', '-f', "$dump.2", $third->connstr('test') ], 'restored');
$third->safe_psql('test', q{SELECT dp_cdp.adopt_ledger()});
is(budgets($third), 'anna 1 missing, carl carl 1, emil 1 missing, emil emil 2, piet piet 1, robert robert 2',
	'who was renamed has his budget; a name that means two is nobody\'s; of two of one name the latest');
is(budgets($third, 'anna'), 'none', 'who took the name of a renamed role gets nothing');
is(releases($third, 'piet'), 'paul piet 1', 'and the audit says who he was');
$third->safe_psql('test', q{SELECT dp_cdp.adopt_role('anna', 'anja')});
is(budgets($third, 'anja'), 'anja anja 1', 'adopt_role decides');
$third->stop;

$other->stop;
$node->stop;
done_testing();
