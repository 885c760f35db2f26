# The ledger can be checked: what somebody with a superuser's rights changes
# behind its back is found, corrections are rows, and pruning keeps the proof.

use strict;
use warnings;

use LedgerTest;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', q{
	CREATE ROLE dba LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE stranger LOGIN; CREATE ROLE auditor LOGIN;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
	SET SESSION AUTHORIZATION dba;
	SELECT dp_cdp.create_dataset('d', rho => 100), dp_cdp.create_dataset('e');
	SELECT dp_cdp.set_budget('d', 'ana', rho => 10), dp_cdp.set_budget('d', 'bob', rho => 10, period => '1 hour'),
		dp_cdp.set_budget('e', 'ana', rho => 10);
});

# severities and objects but for the first row, which sums up
sub findings
{
	return value($node, 'test', q{
		SELECT coalesce(string_agg(severity || ' ' || object, ', ' ORDER BY n), 'none')
		FROM (SELECT *, row_number() OVER () AS n FROM dp_cdp.check_ledger()) f WHERE n > 1});
}

# does something unseen, with triggers disabled; they are enabled again
sub tamper
{
	my (@sql) = @_;

	$node->safe_psql('test', join(';', 'ALTER TABLE dp_cdp_internal.release_log DISABLE TRIGGER ALL',
		'ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ALL', @sql,
		(map { "ALTER TABLE dp_cdp_internal.$_ ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate" } qw(release_log budget))));
	return;
}

is(findings(), 'none', 'a fresh ledger');
debit($node, 'test', 'ana', qq{SET application_name = 'a "quoted" name'; SELECT dp_cdp.debit_budget('d', 0.125, 1e-9) FROM generate_series(1, 20); SELECT dp_cdp.debit_budget('e', 1)});
debit($node, 'test', 'bob', q{SELECT dp_cdp.debit_budget('d', 0.25) FROM generate_series(1, 20)});
like(debit_error($node, 'test', 'stranger', q{SELECT dp_cdp.debit_budget('d', 1)}), qr/ZC001/, 'a refusal');
is(findings(), 'none', 'debits and refusals');
is(value($node, 'test', q{SELECT count(*) FILTER (WHERE hash IS NULL) || ' ' || count(*) FROM dp_cdp_internal.release_log}), '0 42', 'each row has a hash');
is(value($node, 'test', q{SELECT count(hash) FROM dp_cdp.releases}) . ' ' . value($node, 'test', q{SET SESSION AUTHORIZATION ana; SELECT count(hash) || ' of ' || count(*) FROM dp_cdp.releases}),
	'42 0 of 21', 'shown to owners alone');

# the hash can be computed by anybody
is(value($node, 'test', q{
	SELECT bool_and(hash = sha256(coalesce(before, decode(repeat('00', 32), 'hex')) || convert_to(concat(
		f(id::text), f((extract(epoch FROM released_at - '2000-01-01 00:00:00+00') * 1000000)::bigint::text), f(dataset),
		f(role_name), f(session_role_name), f(application), f(aggregates), f(groups), f(rho::text), f(delta::text), f(stddev),
		f(CASE WHEN granted THEN 't' ELSE 'f' END), f(CASE WHEN failed THEN 't' ELSE 'f' END), f(kind), f(reason), f(query),
		f(tables), f(client), f(array_to_string(paid_by, ','))), 'UTF8')))
	FROM (SELECT *, lag(hash) OVER (ORDER BY id) AS before FROM dp_cdp_internal.release_log) l
	}) , 't', 'as documented') if $node->safe_psql('test', q{CREATE FUNCTION f(t text) RETURNS text LANGUAGE sql AS
	$$ SELECT coalesce(octet_length(t) || ':' || t, '-') $$; SELECT 1});

# ---------------------------------------------------------------------------
# What is found
# ---------------------------------------------------------------------------

for my $column ("rho = rho / 2", "application = 'another'", "role_name = 'bob'", "query = 'none'", "granted = false",
	"released_at = released_at + interval '1 us'", 'paid_by = NULL')
{
	$node->safe_psql('test', 'CREATE TABLE keep AS SELECT * FROM dp_cdp_internal.release_log WHERE id = 7');
	tamper("UPDATE dp_cdp_internal.release_log SET $column WHERE id = 7");
	like(findings(), qr/critical row 7 of the audit/, "changed: $column");
	tamper('DELETE FROM dp_cdp_internal.release_log WHERE id = 7', 'INSERT INTO dp_cdp_internal.release_log OVERRIDING SYSTEM VALUE SELECT * FROM keep');
	$node->safe_psql('test', 'DROP TABLE keep');
}
is(findings(), 'none', 'as it was');
for my $id (1, 9, 42)
{
	$node->safe_psql('test', "CREATE TABLE keep AS SELECT * FROM dp_cdp_internal.release_log WHERE id = $id");
	tamper("DELETE FROM dp_cdp_internal.release_log WHERE id = $id");
	my $next = $id + 1;
	my $found = findings();
	like($found, $id == 42 ? qr/critical audit/ : qr/critical row $next of the audit/, "deleted: row $id");
	like($found, qr/critical audit/, 'at a glance, too') if $id == 42;
	like(value($node, 'test', q{SELECT string_agg(severity || object, ' ') FROM dp_cdp.check_setup()}), qr/criticalaudit/, 'and by check_setup')
	  if $id == 42;
	tamper('INSERT INTO dp_cdp_internal.release_log OVERRIDING SYSTEM VALUE SELECT * FROM keep');
	$node->safe_psql('test', 'DROP TABLE keep');
}
is(findings(), 'none', 'as it was');

tamper(q{UPDATE dp_cdp_internal.budget SET rho_spent = rho_spent - 1 WHERE dataset = 'd' AND role = 'ana'::regrole});
is(findings(), 'critical budget of role ana, dataset d', 'a balance that was lowered');
tamper(q{UPDATE dp_cdp_internal.budget SET rho_spent = rho_spent + 2 WHERE dataset = 'd' AND role = 'ana'::regrole});
is(findings(), 'warning budget of role ana, dataset d', 'or raised');
tamper(q{UPDATE dp_cdp_internal.budget SET rho_spent = rho_spent - 1 WHERE dataset = 'd' AND role = 'ana'::regrole});

$node->safe_psql('test', 'ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ledger_guard');
is(findings(), 'critical trigger ledger_guard on dp_cdp_internal.budget', 'a disabled trigger');
$node->safe_psql('test', 'ALTER TABLE dp_cdp_internal.budget ENABLE TRIGGER ledger_guard');
is(findings(), 'critical trigger ledger_guard on dp_cdp_internal.budget', 'not enabled always');
$node->safe_psql('test', 'ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard');
for my $other ('DROP TRIGGER ledger_guard ON dp_cdp_internal.budget',
	'CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR DELETE ON dp_cdp_internal.budget FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard()',
	'CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR DELETE OR UPDATE OF period ON dp_cdp_internal.budget FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard()')
{
	$node->safe_psql('test', $other);
	is(findings(), 'critical trigger ledger_guard on dp_cdp_internal.budget', $other);
	$node->safe_psql('test', value($node, 'test', q{SELECT remedy FROM dp_cdp.check_ledger() WHERE object LIKE 'trigger%'}));
	is(findings(), 'none', 'the remedy works');
}
$node->safe_psql('test', 'ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard; ALTER TABLE dp_cdp_internal.release_log SET UNLOGGED');
is(findings(), 'critical dp_cdp_internal.release_log', 'an unlogged table');
$node->safe_psql('test', 'ALTER TABLE dp_cdp_internal.release_log SET LOGGED');

$node->safe_psql('test', q{INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, aggregates, rho, delta, granted)
	VALUES ('d', 'ana'::regrole, 'ana'::regrole, 'by hand', 1, 0, true)});
is(findings(), 'warning audit', 'a row that was put in');
tamper(q{DELETE FROM dp_cdp_internal.release_log WHERE aggregates = 'by hand'});
for my $bad (q{'NaN', 0}, q{0, 'Infinity'}, q{'-Infinity', 0})
{
	like(debit_error($node, 'test', 'postgres', qq{INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, aggregates, rho, delta, granted)
		VALUES ('d', 'ana'::regrole, 'ana'::regrole, 'by hand', $bad, true)}), qr/ZC004: (rho|delta) of a row of dp_cdp_internal\.release_log must be a finite number: /,
		"no row of $bad");
}
like(debit_error($node, 'test', 'postgres', qq{INSERT INTO dp_cdp_internal.budget (dataset, role, rho_limit, rho_spent, delta_limit, report_delta)
	VALUES ('d', 'stranger'::regrole, 1, $_, 0, 0)}), qr/ZC004: rho_spent of a row of dp_cdp_internal\.budget must be a finite number and not negative/, "nor a balance of $_")
  for q{'NaN'}, -1;

# ---------------------------------------------------------------------------
# Corrections, and debits on behalf of others
# ---------------------------------------------------------------------------

is(balance($node, 'test', 'd', 'ana'), '2.5', 'before');
debit($node, 'test', 'dba', q{SELECT dp_cdp.correct_spent('d', 'ana', 1.5, 'a table on paper'); ROLLBACK});
is(balance($node, 'test', 'd', 'ana'), '4', 'the owner corrects upwards');
like(debit_error($node, 'test', 'dba', q{SELECT dp_cdp.correct_spent('d', 'ana', -1, 'a mistake')}), qr/42501: only superusers may lower/, 'not downwards');
debit($node, 'test', 'postgres', q{SELECT dp_cdp.correct_spent('d', 'ana', -1.25, 'a mistake')});
is(balance($node, 'test', 'd', 'ana'), '2.75', 'superusers do');
debit($node, 'test', 'postgres', q{SELECT dp_cdp.correct_spent('d', NULL, 2, 'another list'); SELECT dp_cdp.correct_spent('d', NULL, -2, 'was the same')});
is(value($node, 'test', q{SELECT trim_scale(rho_spent) FROM dp_cdp_internal.dataset WHERE name = 'd'}), '7.75', 'the cap follows, or is corrected alone');
like(debit_error($node, 'test', 'postgres', q{SELECT dp_cdp.correct_spent('d', 'ana', -2.76, 'x')}),
	qr/ZC004: role "ana" has spent rho 2\.75 of dataset "d"; give a smaller amount/, 'never below nothing');
debit($node, 'test', 'dba', q{SELECT dp_cdp.debit_budget('d', 0.25, 0, role => 'bob')});
is(balance($node, 'test', 'd', 'bob'), '5.25', 'a debit on behalf of bob');
is(value($node, 'test', q{SELECT string_agg(concat_ws(' ', kind, role, session_role, rho, reason), ', ' ORDER BY id) FROM dp_cdp.releases WHERE id > 43}),
	'correction ana dba 1.5 a table on paper, correction ana postgres -1.25 a mistake, correction postgres 2 another list, '
	  . 'correction postgres -2 was the same, granted bob dba 0.25', 'each is a row with a reason');
is(findings(), 'none', 'and the ledger adds up');
like(debit_error($node, 'test', $_->[0], "SELECT dp_cdp.$_->[1]"), $_->[2], "$_->[0]: $_->[1]")
  for ([ 'ana', q{correct_spent('d', 'ana', 1, 'x')}, qr/42501: must be owner of dataset "d"/ ],
	[ 'dba', q{correct_spent('d', 'stranger', 1, 'x')}, qr/ZC001: role "stranger" has no privacy budget/ ],
	[ 'dba', q{correct_spent('nowhere', 'ana', 1, 'x')}, qr/ZC004: dataset "nowhere" does not exist/ ],
	[ 'dba', q{correct_spent(NULL, 'ana', 1, 'x')}, qr/ZC004/ ],
	[ 'dba', q{correct_spent('d', 'ana', NULL, 'x')}, qr/ZC004: rho must be given/ ],
	[ 'dba', q{correct_spent('d', 'ana', 0, 'x')}, qr/ZC004: rho must be greater than 0/ ],
	[ 'dba', q{correct_spent('d', 'ana', 'NaN', 'x')}, qr/ZC004/ ],
	[ 'postgres', q{correct_spent('d', 'ana', '-Infinity', 'x')}, qr/ZC004/ ],
	[ 'dba', q{correct_spent('d', 'ana', 1e9, 'x')}, qr/ZC004/ ],
	[ 'dba', q{correct_spent('d', 'ana', 1, NULL)}, qr/ZC004: a correction needs a reason/ ],
	[ 'dba', q{correct_spent('d', 'ana', 1, '  ')}, qr/ZC004: a correction needs a reason/ ],
	[ 'dba', q{correct_spent('d', '0', 1, 'x')}, qr/ZC004: role is (?:no role|NULL)/ ],
	[ 'ana', q{debit_budget('d', 1, 0, 'bob')}, qr/42501: must be owner of dataset "d"/ ],
	[ 'dba', q{debit_budget('d', 1, 0, NULL::regrole)}, qr/ZC004: role is (?:no role|NULL)/ ],
	[ 'dba', q{debit_budget('d', -1, 0, 'bob')}, qr/ZC004: rho must be/ ],
	[ 'dba', q{debit_budget('d', 100, 0, 'bob')}, qr/ZC001: privacy budget exhausted.*role "bob"/ ]);
is(findings(), 'none', 'nothing of that has changed anything');

# a cap that is spent, of which budgets show nothing
debit($node, 'test', 'dba', q{SELECT dp_cdp.alter_dataset('d', rho => 7)});
is(findings(), 'warning cap of dataset d', 'a spent cap');
debit($node, 'test', 'dba', q{SELECT dp_cdp.alter_dataset('d', rho => 100)});

# ---------------------------------------------------------------------------
# Pruning
# ---------------------------------------------------------------------------

like(debit_error($node, 'test', $_->[0], "SELECT dp_cdp.prune_releases($_->[1])"), $_->[2], "$_->[0]: prune_releases($_->[1])")
  for ([ 'dba', q{now() + interval '1 hour'}, qr/ZC004: before lies in the future/ ],
	[ 'dba', 'NULL', qr/ZC004: before must be given/ ],
	[ 'dba', q{'infinity'}, qr/ZC004: before must be given, and finite/ ],
	[ 'dba', q{now() - interval '29 days'}, qr/ZC004: rows of the audit of the last 30 days are for the owner of extension dp_cdp to prune/ ],
	[ 'ana', 'now()', qr/42501: only owners of datasets and of extension dp_cdp/ ]);
my $spent = value($node, 'test', q{SELECT string_agg(concat_ws(' ', dataset, role_name, rho_spent, rho_logged), ', ' ORDER BY ledger_id) FROM dp_cdp_internal.logged_balances()});
is(value($node, 'test', q{SELECT dp_cdp.prune_releases('2001-01-01')}), 0, 'nothing is that old');
$node->safe_psql('test', q{SELECT dp_cdp.alter_dataset('e', new_owner => 'stranger')});
# 'e' has one row in the middle: the chain loses two stretches
is(value($node, 'test', q{SET dp_cdp.keep_audit_days = 0; SET SESSION AUTHORIZATION dba; SELECT dp_cdp.prune_releases((SELECT released_at FROM dp_cdp.releases WHERE id = 42))}), 40, 'an owner prunes his dataset');
is(value($node, 'test', q{SELECT string_agg(concat_ws(' ', dataset, role_name, rho_spent, rho_logged), ', ' ORDER BY ledger_id) FROM dp_cdp_internal.logged_balances()}),
	$spent, 'balances and what proves them are the same');
is(value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.pruned'), 2, 'two stretches are gone');
is(findings(), 'none', 'and the chain holds');
is(value($node, 'test', q{SELECT dp_cdp.prune_releases(now())}), value($node, 'test', q{SELECT 0}) + 11, 'the owner of the extension prunes all');
is(value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.pruned'), 1, 'one stretch');
is(findings(), 'none', 'the chain holds');
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.125)});
debit($node, 'test', 'bob', q{SELECT dp_cdp.debit_budget('d', 0.125)});
is(findings(), 'none', 'and goes on');
is(value($node, 'test', q{SELECT dp_cdp.prune_releases(now()) > 0 AND dp_cdp.prune_releases('2001-01-01') = 0}), 't', 'again');
is(findings(), 'none', 'checkpoints of checkpoints');
$node->safe_psql('test', 'ALTER TABLE dp_cdp_internal.ledger_chain DISABLE TRIGGER ALL; DELETE FROM dp_cdp_internal.ledger_chain;'
	. ' ALTER TABLE dp_cdp_internal.ledger_chain ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate');
like(findings(), qr/critical audit/, 'the end of the chain is missing');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(findings(), 'none', 'and written again by adopt_ledger()');
tamper('DELETE FROM dp_cdp_internal.release_log WHERE id = (SELECT min(id) FROM dp_cdp_internal.release_log)');
like(findings(), qr/critical/, 'a checkpoint that is missing');

# a renewal begins anew, and so does the sum
$node->safe_psql('test', 'SELECT dp_cdp.empty_ledger()');
is(findings(), 'none', 'an empty ledger');
debit($node, 'test', 'bob', q{SELECT dp_cdp.debit_budget('d', 1)});
tamper(q{UPDATE dp_cdp_internal.budget SET renews_at = now() - interval '1 minute' WHERE role = 'bob'::regrole});
debit($node, 'test', 'bob', q{SELECT dp_cdp.debit_budget('d', 0.5)});
is(balance($node, 'test', 'd', 'bob'), '0.5', 'renewed');
is(findings(), 'none', 'the sum begins with the period');
$node->safe_psql('test', 'SELECT dp_cdp.prune_releases(now())');
is(findings(), 'none', 'also when it is pruned');

# ---------------------------------------------------------------------------
# Auditors
# ---------------------------------------------------------------------------

like(debit_error($node, 'test', 'auditor', $_), qr/42501/, "not for everybody: $_")
  for 'SELECT FROM dp_cdp.audit', 'SELECT FROM dp_cdp.check_ledger()', 'SELECT FROM dp_cdp_internal.check_chain()', 'SELECT FROM dp_cdp_internal.logged_balances()';
$node->safe_psql('test', 'GRANT SELECT ON dp_cdp.audit TO auditor; GRANT EXECUTE ON FUNCTION dp_cdp.check_ledger() TO auditor');
is(value($node, 'test', 'SET SESSION AUTHORIZATION auditor; SELECT count(*) > 0 FROM dp_cdp.audit, dp_cdp.check_ledger()'), 't', 'for whom it is granted');

$node->stop;
done_testing();
