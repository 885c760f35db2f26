# Old balances come back: standbys, promotion, dumps, copies.  The ledger
# notices and waits until its owner adopts it.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $refused = qr/ZC003: the privacy ledger was copied, restored or promoted.*dp_cdp\.adopt_ledger\(\)/;

my $node = ledger_node('main', init => { allows_streaming => 1 });
ledger_database($node, 'test');
ledger_database($node, 'fresh');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN; CREATE ROLE team; CREATE ROLE bob LOGIN IN ROLE team; CREATE ROLE meddler LOGIN');
for my $db (qw(test fresh))
{
	dataset($node, $db, 'd');
	budget($node, $db, 'd', 'ana', 100);
}
budget($node, 'test', 'd', 'team', 100);
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1);});

# ---------------------------------------------------------------------------
# A standby, and its promotion
# ---------------------------------------------------------------------------

my $standby = standby_of($node, 'standby');
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 2);});
catch_up($node, $standby);
like(debit_error($standby, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}),
	qr/ZC003: this server is a standby.*ask the primary/, 'a standby refuses');
like(debit_error($standby, 'test', 'postgres', q{SELECT dp_cdp.adopt_ledger()}), qr/ZC003.*standby/, 'and cannot adopt');

$standby->promote;
like(debit_error($standby, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), $refused, 'promoted: refuses');
is(value($standby, 'test', 'SELECT count(*) FROM dp_cdp_internal.release_log'), 2, 'without a row in the log');
like(debit_error($standby, 'test', 'meddler', 'SELECT dp_cdp.adopt_ledger()'), qr/42501/, 'only the owner adopts');
$standby->safe_psql('test', 'GRANT EXECUTE ON FUNCTION dp_cdp.adopt_ledger TO meddler');
like(debit_error($standby, 'test', 'meddler', 'SELECT dp_cdp.adopt_ledger()'),
	qr/42501: only the owner of extension dp_cdp may call dp_cdp\.adopt_ledger/, 'whoever may execute it');
$standby->safe_psql('test', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => 0.5)');
is(balance($standby, 'test', 'd', 'ana'), '3.5', 'adopted with a surcharge');
is(balance($standby, 'test', 'd', 'team'), '0.5', 'on every budget');
debit($standby, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1);});
is(balance($standby, 'test', 'd', 'ana'), '4.5', 'goes on');
is(debit_error($standby, 'fresh', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), '', 'a ledger never used needs no adoption');
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1);});
pass('the old primary goes on too, nobody can help that');
$standby->stop;

# ---------------------------------------------------------------------------
# Adoption believes the log more than a balance
# ---------------------------------------------------------------------------

my $now = 4;
is(balance($node, 'test', 'd', 'ana'), $now, 'the primary');
debit($node, 'test', 'bob', q{SELECT dp_cdp.debit_budget('d', 5);});
$node->safe_psql('test', q{INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, aggregates, rho, delta, granted, released_at) VALUES
	('d', 'ana'::regrole, 'ana'::regrole, 'from an exported log', 10, 1e-7, true, now()),
	('d', 'ana'::regrole, 'ana'::regrole, 'refused', 1000, 0, false, now()),
	('d', 'team'::regrole, 'bob'::regrole, 'team and bob', 7, 0, true, now())});
# budgets with periods count the log of their current period
$node->safe_psql('test', 'CREATE ROLE per1; CREATE ROLE per2; CREATE ROLE per3');
budget($node, 'test', 'd', 'per1', 100, '1 day', q{now() + interval '1 hour'});
budget($node, 'test', 'd', 'per2', 100, '1 day', q{now() - interval '1 hour'});
budget($node, 'test', 'd', 'per3', 100, '-1 day', q{now() - interval '1 hour'});
$node->safe_psql('test', qq{INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, aggregates, rho, delta, granted, released_at)
	SELECT 'd', r::regrole, r::regrole, 'x', rho, 0, true, now() - ago FROM unnest('{per1,per2,per3}'::text[]) r,
	(VALUES (1, interval '22 hours'), (2, interval '24 hours'), (4, interval '30 minutes')) v(rho, ago)});
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(balance($node, 'test', 'd', 'ana'), 17 - 0 - 3, 'sum of the log');
is(balance($node, 'test', 'd', 'team'), '12', 'of all whom the budget serves, each row once');
is(balance($node, 'test', 'd', 'per1'), '5', 'of the current period');
is(balance($node, 'test', 'd', 'per2'), '4', 'of the period after a renewal that was due');
is(balance($node, 'test', 'd', 'per3'), '7', 'of all time if the period is unsound');
is(value($node, 'test', 'SELECT trim_scale(rho_spent) FROM dp_cdp_internal.dataset'), 14 + 12 + 21, 'of all for the dataset');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(balance($node, 'test', 'd', 'ana'), '14', 'again: unchanged');
like(debit_error($node, 'test', 'postgres', "SELECT dp_cdp.adopt_ledger($_)"), qr/ZC004: surcharge_rho must be between 0/, "surcharge $_")
  for '-1', q{'NaN'}, '1e300';

# ---------------------------------------------------------------------------
# pg_dump, restored elsewhere and in place
# ---------------------------------------------------------------------------

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('test') ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'restore');
is(balance($node, 'restored', 'd', 'ana'), '14', 'balances are in the dump');
like(debit_error($node, 'restored', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), $refused, 'restored: refuses');
is(value($node, 'restored', 'SELECT count(*) FROM dp_cdp_internal.release_log'),
	value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.release_log'), 'the log is in the dump');
$node->safe_psql('restored', 'SELECT dp_cdp.adopt_ledger()');
$node->safe_psql('restored', 'GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO PUBLIC');
is(debit_error($node, 'restored', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), '', 'adopted: goes on');
is(balance($node, 'restored', 'd', 'ana'), '15', 'from the balance it had');
is(value($node, 'restored', 'SELECT max(id) = count(*) FROM dp_cdp_internal.release_log'), 't', 'the numbers of the log go on');

# dumped tables without the stamp: not taken for fresh
my $partial = "$dump.partial";
$node->command_ok([ 'pg_dump', '-f', $partial, '--exclude-table-data=dp_cdp_internal.ledger_stamp',
	'--exclude-table-data=dp_cdp_internal.release_log', $node->connstr('test') ], 'partial dump');
$node->safe_psql('postgres', 'CREATE DATABASE partial');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $partial, $node->connstr('partial') ], 'restore');
like(debit_error($node, 'partial', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), $refused, 'no stamp, but spent: refuses');

# in two steps, while somebody asks: the ledger that is empty for a while does not become this server's
$node->command_ok([ 'pg_dump', '-f', "$dump.schema", '--schema-only', $node->connstr('test') ], 'dump of the schema');
$node->command_ok([ 'pg_dump', '-f', "$dump.data", '--data-only', $node->connstr('test') ], 'and of the data');
$node->safe_psql('postgres', 'CREATE DATABASE steps');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.schema", $node->connstr('steps') ], 'restore of the schema');
$node->safe_psql('steps', q{GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO PUBLIC;
	CREATE TABLE visits (patient int); SECURITY LABEL FOR dp_cdp ON TABLE visits IS '{"dataset": "d"}'});
like(debit_error($node, 'steps', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), qr/ZC004: there is no dataset "d"/, 'a debit in between');
like(debit_error($node, 'steps', 'ana', q{SELECT dp_count(*) FROM visits}), qr/ZC004|ZC001/, 'a query in between');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.data", $node->connstr('steps') ], 'restore of the data');
like(debit_error($node, 'steps', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), $refused, 'refused');
is(value($node, 'steps', 'SELECT count(*) FROM dp_cdp_internal.release_log'),
	value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.release_log'), 'the log is there');

# of a ledger that was never used
my $unused = "$dump.unused";
$node->command_ok([ 'pg_dump', '-f', $unused, $node->connstr('fresh') ], 'dump of a ledger never used');
$node->safe_psql('postgres', 'CREATE DATABASE unused');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $unused, $node->connstr('unused') ], 'restore');
is(debit_error($node, 'unused', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), '', 'needs no adoption');

# in place: same system, same database, same timeline, but another CREATE EXTENSION
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1);});
$node->safe_psql('test', 'SELECT dp_cdp.empty_ledger()');
$node->safe_psql('test', 'DROP EXTENSION dp_cdp CASCADE; DROP SCHEMA IF EXISTS dp_cdp CASCADE');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('test') ], 'restore in place');
like(debit_error($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 1)}), $refused, 'restored in place: refuses');

# ---------------------------------------------------------------------------
# Fakes
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE fake');
$node->safe_psql('fake', <<'EOC');
CREATE SCHEMA dp_cdp;
CREATE SCHEMA dp_cdp_internal;
CREATE FUNCTION dp_cdp.debit_budget(text, numeric, numeric) RETURNS void LANGUAGE c AS '$libdir/dp_cdp', 'dp_ledger_debit_by_hand';
CREATE TABLE dp_cdp_internal.dataset AS SELECT 'd'::text AS name, 10::regrole AS owner, NULL::numeric AS rho_limit;
CREATE TABLE dp_cdp_internal.budget AS SELECT 'd'::text AS dataset, 10::regrole AS role, 10::numeric AS rho_limit;
CREATE TABLE dp_cdp_internal.release_log (id int);
CREATE TABLE dp_cdp_internal.ledger_stamp (id int);
EOC
like(debit_error($node, 'fake', 'postgres', q{SELECT dp_cdp.debit_budget('d', 1, 0)}),
	qr/ZC003: this database has no privacy ledger/, 'a schema of the same name is no ledger');

$node->stop;
done_testing();
