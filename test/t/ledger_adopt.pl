# What adopting a ledger charges to whom, and the ways back to a ledger: from
# dumps, from an exported log, with roles that are gone or have other names.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $refused = qr/ZC003: the privacy ledger was copied, restored or promoted/;
my $dir = PostgreSQL::Test::Utils::tempdir();

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE lab; CREATE ROLE clinic; CREATE ROLE team; CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN IN ROLE team; CREATE ROLE eve LOGIN');
$node->safe_psql('test', q{
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO clinic, lab;
	GRANT CREATE ON SCHEMA public TO clinic;
	SET ROLE clinic;
	CREATE TABLE visits (patient int);
	INSERT INTO visits SELECT generate_series(1, 100);
	SELECT dp_cdp.create_dataset('d', rho => 10000);
	SELECT dp_cdp.protect_table('visits', 'd', 'patient');
	SELECT dp_cdp.set_budget('d', r, rho => 1000) FROM unnest('{ana,bob,team,eve}'::regrole[]) r;
	SET ROLE lab;
	SELECT dp_cdp.create_dataset('e');
	SELECT dp_cdp.set_budget('e', 'ana', rho => 1000);
});

sub spend
{
	my ($db, $role, $rho, $dataset) = @_;
	$dataset //= 'd';
	return debit_error($node, $db, $role, "SELECT dp_cdp.debit_budget('$dataset', $rho)");
}

sub spent
{
	my ($db, $role, $dataset) = @_;
	$dataset //= 'd';
	return value($node, $db, "SELECT rho_spent FROM dp_cdp.budgets WHERE dataset = '$dataset' AND role::text = '$role'");
}

# balances as they were when nothing was spent: what a restored state may have
sub forget
{
	my ($db) = @_;
	$node->safe_psql($db, "ALTER TABLE dp_cdp_internal.$_ DISABLE TRIGGER ledger_guard; UPDATE dp_cdp_internal.$_ SET rho_spent = 0;"
		. " ALTER TABLE dp_cdp_internal.$_ ENABLE ALWAYS TRIGGER ledger_guard") for qw(budget dataset);
	return;
}

# ---------------------------------------------------------------------------
# Who is charged
# ---------------------------------------------------------------------------

is(spend('test', 'ana', 5), '', 'ana spends, alone');
is(spend('test', 'bob', 3), '', 'bob spends, in a team');
$node->safe_psql('test', 'GRANT team TO ana; REVOKE team FROM bob');
is(spend('test', 'ana', 1), '', 'ana spends, in the team');
is(spend('test', 'bob', 2), '', 'bob spends, alone');
is(join(' ', map { spent('test', $_) } qw(ana bob team)), '6 5 4', 'so it was');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(join(' ', map { spent('test', $_) } qw(ana bob team)), '6 5 4', 'and stays, whoever came and went');
forget('test');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(join(' ', map { spent('test', $_) } qw(ana bob team)), '6 5 4', 'also by the log alone');
is(value($node, 'test', q{SELECT rho_spent FROM dp_cdp.datasets WHERE dataset = 'd'}), '11', 'each row once for the dataset');

# a budget that was dropped takes its spending along
is(spend('test', 'eve', 7), '', 'eve spends');
$node->safe_psql('test', q{SELECT dp_cdp.drop_budget('d', 'eve'); SELECT dp_cdp.set_budget('d', 'eve', rho => 1000)});
is(spent('test', 'eve'), '0', 'a new budget begins at 0');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(spent('test', 'eve'), '0', 'also for who adopts');
is(spend('test', 'eve', 2), '', 'eve spends of the new one');
forget('test');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(spent('test', 'eve'), '2', 'which is counted');
is(value($node, 'test', q{SELECT rho_spent FROM dp_cdp.datasets WHERE dataset = 'd'}), '20', 'the dataset forgets nothing');

# another period changes nothing of what was spent
$node->safe_psql('test', q{SELECT dp_cdp.set_budget('d', 'eve', rho => 1000, period => '1 week')});
forget('test');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(spent('test', 'eve'), '2', 'of a budget that got a period');

# ---------------------------------------------------------------------------
# The owner of a dataset
# ---------------------------------------------------------------------------

is(spend('test', 'ana', 1, 'e'), '', 'another dataset');
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE test');
like(spend('copy', 'ana', 1, $_), $refused, "a copied database: $_ is refused") for qw(d e);
like(spend('copy', 'ana', 1),
	qr/DETAIL:  The ledger was written in another database of this server\. The dataset's owner can adopt dataset "d" by itself: dp_cdp\.adopt_ledger\(dataset => 'd'\)\./,
	'the message says who can do what');
like(debit_error($node, 'copy', 'clinic', 'SELECT dp_cdp.adopt_ledger()'), qr/42501/, 'all of it is not for the owner of a dataset');
like(debit_error($node, 'copy', 'lab', q{SELECT dp_cdp.adopt_ledger(dataset => 'd')}), qr/42501: must be owner of dataset "d"/, 'nor is that of another');
like(debit_error($node, 'copy', 'ana', q{SELECT dp_cdp.adopt_ledger(dataset => 'd')}), qr/42501: must be owner of dataset "d"/, 'nor for an analyst');
for my $bad (
	[ q{dataset => NULL}, 'the name of the dataset is NULL: give a name' ],
	[ q{dataset => 'nowhere'}, 'dataset "nowhere" does not exist' ],
	[ q{-1, dataset => 'd'}, 'surcharge_rho must be between 0 and 1000000' ],
	[ q{NULL, dataset => 'd'}, 'surcharge_rho must be between 0 and 1000000' ],
	[ q{0, 'NaN', 'd'}, 'surcharge_delta must be between 0 and 1' ],
	[ q{0, 'Infinity', 'd'}, 'surcharge_delta must be between 0 and 1' ],
	[ q{0, 1.1, 'd'}, 'surcharge_delta must be between 0 and 1' ])
{
	like(debit_error($node, 'copy', 'clinic', "SELECT dp_cdp.adopt_ledger($bad->[0])"), qr/ZC004: \Q$bad->[1]/, "adopt_ledger($bad->[0])");
}
like(debit_error($node, 'copy', 'postgres', "SELECT dp_cdp.adopt_ledger($_)"), qr/ZC004: surcharge_(rho|delta) must be between/, "adopt_ledger($_)")
  for 'NULL', '0, NULL', '-1';
is(value($node, 'copy', q{SELECT string_agg(rho_spent::text, ' ' ORDER BY dataset) FROM dp_cdp.datasets}), '20 1', 'nothing has changed');
like(spend('copy', 'ana', 1), $refused, 'nothing at all');

is(debit_error($node, 'copy', 'clinic', q{SELECT dp_cdp.adopt_ledger(0.5, dataset => 'd')}), '', 'the owner adopts his dataset');
is(spend('copy', 'ana', 1), '', 'which pays');
is(spent('copy', 'ana'), '7.5', 'from its balance and the surcharge');
is(spent('copy', 'ana', 'e'), '1', 'the other has none');
like(spend('copy', 'ana', 1, 'e'), $refused, 'and waits');
like(debit_error($node, 'copy', 'ana', q{SELECT dp_cdp.debit_budget('d', 1); SELECT dp_cdp.debit_budget('e', 1)}), $refused, 'whatever was asked before');
is(value($node, 'copy', 'SELECT dp_cdp_internal.ledger_problem() IS NULL'), 'f', 'the ledger waits');
$node->restart;
is(spend('copy', 'ana', 1), '', 'adopted is adopted, after a restart');
$node->safe_psql('postgres', 'CREATE DATABASE copy2 TEMPLATE copy');
like(spend('copy2', 'ana', 1), $refused, 'but not in a copy');
$node->safe_psql('copy', 'SELECT dp_cdp.adopt_ledger()');
is(spend('copy', 'ana', 1, $_), '', "the whole is adopted: $_ pays") for qw(d e);
is(spent('copy', 'ana'), '10.5', 'and nothing was charged again');
is(value($node, 'copy', 'SELECT count(*) FROM dp_cdp_internal.dataset WHERE adopted IS NOT NULL'), '0', 'no dataset is on its own any more');
is(debit_error($node, 'copy', 'clinic', q{SELECT dp_cdp.adopt_ledger(1, dataset => 'd')}), '', 'where the ledger is good, an owner may charge his dataset all the same');
is(value($node, 'copy', 'SELECT count(*) FROM dp_cdp_internal.dataset WHERE adopted IS NOT NULL'), '0', 'it does not leave the others');
is(spent('copy', 'ana'), '11.5', 'charged');

# ---------------------------------------------------------------------------
# A dump, and the log that was exported since
# ---------------------------------------------------------------------------

# runs psql with a file; must succeed
sub script
{
	my ($db, $sql, $name) = @_;
	my $file = "$dir/script.sql";
	unlink $file;
	append_to_file($file, $sql);
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr($db) ], $name);
	return;
}

$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/test.dump", $node->connstr('test') ], 'dump');
my $last = value($node, 'test', 'SELECT max(id) FROM dp_cdp_internal.release_log');
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.01) FROM generate_series(1, 200)});
is(spend('test', 'bob', 4), '', 'bob, after the dump');
my @now = map { spent('test', $_) } qw(ana bob team eve);
script('test', qq{\\copy (SELECT * FROM dp_cdp_internal.release_log WHERE id > $last) TO '$dir/log.csv' CSV HEADER}, 'the log since is exported');

$node->safe_psql('postgres', 'CREATE DATABASE back');
$node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('back'), "$dir/test.dump" ], 'the dump is restored');
like(spend('back', 'ana', 1), $refused, 'refused');
script('back', <<EOC, 'the log is put back');
CREATE TEMP TABLE exported (LIKE dp_cdp_internal.release_log);
\\copy exported FROM '$dir/log.csv' CSV HEADER
INSERT INTO dp_cdp_internal.release_log OVERRIDING SYSTEM VALUE SELECT * FROM exported ORDER BY id;
EOC
$node->safe_psql('back', 'SELECT dp_cdp.adopt_ledger()');
is(join(' ', map { spent('back', $_) } qw(ana bob team eve)), join(' ', @now), 'balances are what they were at last');
is(debit_error($node, 'back', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.01) FROM generate_series(1, 200)}), '', '200 more debits, without one that fails');
is(value($node, 'back', 'SELECT count(*) = max(id) FROM dp_cdp_internal.release_log'), 't', 'their numbers go on');

# ---------------------------------------------------------------------------
# pg_restore --clean: the ledger that is there is newer, and stays
# ---------------------------------------------------------------------------

my @before = map { spent('test', $_) } qw(ana bob team eve);
$node->safe_psql('test', 'DELETE FROM visits WHERE patient > 50');
$node->command_ok([ 'sh', '-c', "pg_restore -l $dir/test.dump | grep -v ' dp_cdp[a-z_]* ' >$dir/list" ], 'a list without what is ours');
$node->command_ok([ 'pg_restore', '-e', '--clean', '--if-exists', '-L', "$dir/list", '-d', $node->connstr('test'), "$dir/test.dump" ],
	'by which all else is restored');
is(value($node, 'test', q{SELECT count(*) || ' ' || dp_cdp.dataset_of('visits') FROM visits}), '100 d', 'tables and their policies');
is(join(' ', map { spent('test', $_) } qw(ana bob team eve)), join(' ', @before), 'balances stay as they are');
is(spend('test', 'ana', 1), '', 'debits go on');
$before[$_]++ for 0, 2;		# he is in the team

# without the list
my ($out, $err) = ('', '');
my $ok = IPC::Run::run([ 'pg_restore', '--clean', '--if-exists', '-d', $node->connstr('test'), "$dir/test.dump" ], '>', \$out, '2>', \$err);
ok(!$ok, 'pg_restore --clean tells of errors');
like($err, qr/dropping extension dp_cdp would erase a ledger/, 'it cannot take the extension away');
is(join(' ', map { spent('test', $_) } qw(ana bob team eve)), join(' ', @before), 'balances stay as they are');
# which has also set the log's sequence back: a worker that meets that mends it
my $first = spend('test', 'ana', 1);
like($first, qr/^$|ZC003: the privacy ledger failed; nothing was debited: retry/, 'one debit may fail');
is(spend('test', 'ana', 1), '', 'debits go on');
is(spent('test', 'ana'), $before[0] + ($first eq '' ? 2 : 1), 'from there');
# and that of the balances
debit($node, 'test', 'clinic', q{SELECT dp_cdp.set_budget('d', 'lab', rho => 1)});
debit($node, 'test', 'lab', q{SELECT dp_cdp.create_dataset('f')});
is(value($node, 'test', q{SELECT count(*) - count(DISTINCT id) FROM (SELECT ledger_id FROM dp_cdp_internal.budget UNION ALL SELECT ledger_id FROM dp_cdp_internal.dataset) x(id)}),
	'0', 'no number of a balance is given twice');
is(value($node, 'test', q{SELECT string_agg(severity || ' ' || object, ', ') FROM dp_cdp.check_ledger() WHERE severity = 'critical'}), '', 'the ledger adds up');

# an owner's surcharge on a ledger that was never used
$node->safe_psql('postgres', 'CREATE DATABASE first');
$node->safe_psql('first', q{CREATE EXTENSION dp_cdp; GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO PUBLIC;
	SELECT dp_cdp.create_dataset('d'), dp_cdp.create_dataset('e');
	SELECT dp_cdp.set_budget(n, 'ana', rho => 10) FROM unnest('{d,e}'::text[]) n; SELECT dp_cdp.alter_dataset('d', new_owner => 'clinic');
	SET SESSION AUTHORIZATION clinic; SELECT dp_cdp.adopt_ledger(0.5, dataset => 'd')});
is(spend('first', 'ana', 1, $_), '', "closes neither his dataset nor another: $_") for qw(d e);
is(join(' ', map { spent('first', 'ana', $_) } qw(d e)), '1.5 1', 'and is charged to his');

# ---------------------------------------------------------------------------
# Pruned before it is adopted
# ---------------------------------------------------------------------------

# rows that were put in and do not say who paid are not pruned before that is found out
my $before = spent('test', 'bob');
$node->safe_psql('test', q{INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, aggregates, rho, delta, granted)
	VALUES ('d', 'bob'::regrole, 'bob'::regrole, 'from an export', 3, 0, true);
	SELECT dp_cdp.prune_releases(clock_timestamp()); SELECT dp_cdp.adopt_ledger()});
is(spent('test', 'bob'), $before + 3, 'put in, pruned, adopted: charged');

# a checkpoint of the period before does not count in the next
$node->safe_psql('test', q{ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ledger_guard;
	UPDATE dp_cdp_internal.budget SET renews_at = clock_timestamp() WHERE role = 'eve'::regrole;
	ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard});
$node->safe_psql('test', q{SELECT dp_cdp.prune_releases(clock_timestamp()); SELECT dp_cdp.adopt_ledger(0.25)});
is(spent('test', 'eve'), '0.25', 'pruned after a period, and adopted: a new period');
is(value($node, 'test', q{SELECT string_agg(proname, ',') FROM pg_proc WHERE proname IN ('adopt_ledger', 'prune_releases') AND NOT 'jit=off' = ANY (proconfig)}),
	'', 'nothing is compiled while debits wait');

$node->stop;
done_testing();
