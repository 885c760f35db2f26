# A standby answers, and the primary pays: what is debited for whom, and that no
# answer is without a debit when the two lose each other, lag, or are promoted.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = ledger_node('first', init => { allows_streaming => 1 }, conf => "max_worker_processes = 20\nwal_receiver_status_interval = 1\n");
ledger_database($primary, 'test');
$primary->safe_psql('test', <<EOC);
CREATE ROLE team; CREATE ROLE ana LOGIN; CREATE ROLE bea LOGIN IN ROLE team; CREATE ROLE eve LOGIN; CREATE ROLE dora LOGIN;
CREATE ROLE payer LOGIN; CREATE ROLE boss LOGIN SUPERUSER;
CREATE FUNCTION stuck(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	'BEGIN IF x = 77 THEN PERFORM pg_sleep(600); END IF; RETURN x; END';
SELECT dp_cdp.allow_function('stuck(int)');
CREATE TABLE visits (patient int, dept text NOT NULL, cost numeric);
INSERT INTO visits SELECT i, 'd' || i % 3, i % 10 FROM generate_series(1, 1000) i;
CREATE TABLE days (patient int, day date, weight int);
INSERT INTO days SELECT i, '2025-01-01'::date + i % 300, i % 100 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('monthly', rho => 1000, default_rho => 1, find_bounds => 0.1, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('days', 'monthly', unit => 'patient', block => 'day', every => '1 month');
SELECT dp_cdp.set_budget('monthly', 'ana', rho => 20);
SELECT dp_cdp.create_dataset('clinic', rho => 1000, default_rho => 1, max_rho => 100, reuse => '1 hour', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
CREATE UNLOGGED TABLE passing (patient int);
SELECT dp_cdp.protect_table('passing', 'clinic', unit => 'patient');
CREATE TABLE parted (patient int) PARTITION BY LIST (patient);
CREATE UNLOGGED TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
SELECT dp_cdp.protect_table('parted', 'clinic', unit => 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10);
SELECT dp_cdp.set_keys('visits', 'dept', '{d0,d1,d2}'::text[]);
SELECT dp_cdp.set_budget('clinic', r, rho => 20) FROM unnest('{ana,team,dora}'::regrole[]) r;
EOC
my $standby = standby_of($primary, 'second', "max_standby_streaming_delay = -1\n");

my $count = 'SELECT dp_count(*) FROM visits';

# what a role is told on the standby: rows, or SQLSTATE and message
sub asked
{
	my ($role, $sql, $node) = @_;
	my ($rc, $out, $err) = ($node // $standby)->psql('test', "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', $role ]);
	return $err =~ /(?:ERROR|FATAL):  (.*)/ ? $1 : $out;
}

sub spent
{
	return balance($primary, 'test', 'clinic', $_[0]);
}

sub setting
{
	my ($node, $name, $value) = @_;
	$node->safe_psql('postgres', "ALTER SYSTEM SET $name = '" . $value =~ s/'/''/gr . "'");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT current_setting('$name') = '" . $value =~ s/'/''/gr . "'") or die $name;
	return;
}

# ---------------------------------------------------------------------------
# Without the setting, without a registration
# ---------------------------------------------------------------------------

like(asked('ana', $count), qr/ZC003: this server is a standby.*ask the primary.*dp_cdp\.primary_conninfo/, 'without the setting nothing is answered');
my $conninfo = $primary->connstr . ' user=payer';
setting($standby, 'dp_cdp.primary_conninfo', $conninfo);
like(asked('ana', $count), qr/ZC003: the primary does not let this standby's role debit; nothing was debited/, 'a role that was not registered may not call the functions');
like(asked('ana', 'SHOW dp_cdp.primary_conninfo'), qr/42501/, 'only superusers see it');
like(asked('ana', "SET dp_cdp.primary_conninfo = 'x'"), qr/55P02/, 'nobody sets it in a session');
like(asked('ana', "SELECT dp_cdp.register_standby('second', 'payer')", $primary), qr/42501/, 'who is no superuser registers nobody');
like(asked('ana', "SELECT dp_cdp_internal.standby_debit('{}', '{}', '{}')", $primary), qr/42501/, 'nor calls what standbys call');
like(asked('ana', 'SELECT dp_cdp_internal.standby_has_read(true)', $primary), qr/42501/, 'none of it');
like(debit_error($primary, 'test', 'postgres', "SELECT dp_cdp.register_standby('second', 'boss')"), qr/ZC004.*do nothing else/, 'a superuser is no role for a standby');
like(debit_error($primary, 'test', 'postgres', "SELECT dp_cdp.register_standby('second', 'bea')"), qr/ZC004.*member of others/, 'nor is a member of others');
like(debit_error($primary, 'test', 'postgres', "SELECT dp_cdp.register_standby('', 'payer')"), qr/ZC004.*cluster_name/, 'a name is needed');
$primary->safe_psql('test', "SELECT dp_cdp.register_standby('other', 'payer')");
catch_up($primary, $standby);
like(asked('ana', $count), qr/ZC003: the primary debits nothing for this standby, which is not registered there/, 'another name is not this one');
is(spent('ana'), 0, 'nothing was debited for any of these');
my $findings = q{SELECT severity, object, finding FROM dp_cdp.check_setup() WHERE object LIKE 'standby %'};
is(value($primary, 'test', $findings), '', 'check_setup finds nothing');
$primary->safe_psql('test', 'GRANT team TO payer');
like(value($primary, 'test', $findings), qr/^warning\|standby other\|its role payer can do more/, 'but that a role has become a member of another');
$primary->safe_psql('test', 'REVOKE team FROM payer; ALTER ROLE payer RENAME TO other');
like(value($primary, 'test', $findings), qr/^warning\|standby other\|its role payer does not exist any more, or has another name/, 'or has another name');
$primary->safe_psql('test', 'ALTER ROLE other RENAME TO payer');

# ---------------------------------------------------------------------------
# Answers and debits
# ---------------------------------------------------------------------------

$primary->safe_psql('test', "SELECT dp_cdp.register_standby('second', 'payer')");
like(asked('ana', $count), qr/^\d+$/, 'answered');
is(spent('ana'), 1, 'debited by the primary');
like(asked('ana', 'SELECT dept, dp_sum(cost), dp_count(*) FROM visits GROUP BY dept ORDER BY dept'), qr/^d0\|[\d.]+\|\d+\nd1\|/, 'groups');
is(spent('ana'), 3, 'two columns');
is(value($primary, 'test', q{SELECT trim_scale(rho_spent) FROM dp_cdp_internal.dataset WHERE name = 'clinic'}), 3, 'the cap, too');
like(value($primary, 'test', "SELECT role_name, session_role_name, client, tables, query FROM dp_cdp.audit ORDER BY id LIMIT 1"),
	qr/^ana\|ana\|\[local\] via second\|public\.visits\|\Q$count\E$/, 'the audit says who asked, where and what');
asked('ana', "BEGIN READ ONLY; $count; ROLLBACK");
is(spent('ana'), 4, 'a rollback gives nothing back');
like(asked('ana', "EXPLAIN $count"), qr/rho/, 'EXPLAIN');
is(asked('ana', "SELECT count(*) FROM dp_cdp.preview('$count') WHERE item = 'total'"), 1, 'and previews');
is(spent('ana'), 4, 'cost nothing');
like(asked('ana', "SELECT dp_count(*) FROM days WHERE day >= '2025-03-01' AND day < '2025-04-01'"), qr/^-?\d+$/, 'a dataset with blocks');
is(value($primary, 'test', q{SELECT block_from, block_to FROM dp_cdp_internal.release_log WHERE dataset = 'monthly'}), '2025-03-01|2025-04-01', 'is charged to these');
like(asked('ana', "SELECT dp_sum(weight) FROM days"), qr/^-?\d+$/, 'bounds are found first');
is(balance($primary, 'test', 'monthly', 'ana'), '2.1', 'and paid for together');
like(asked('ana', "SET dp_cdp.target_error = '20%'; SELECT dp_count(*) FROM days"), qr/^-?\d+$/, 'a pilot and what follows');
cmp_ok(value($primary, 'test', q{SELECT count(*) FROM dp_cdp_internal.release_log WHERE dataset = 'monthly' AND granted}), '>=', 5, 'are debits of their own');
like(asked('bea', $count), qr/^\d+$/, 'a member of a team');
is(spent('team'), 1, 'pays from the team\'s budget');
like(asked('eve', $count), qr/ZC001: role "eve" has no privacy budget/, 'no budget, no answer');
like(asked('ana', "SET dp_cdp.rho = 50; $count"), qr/ZC001: privacy budget exhausted for dataset "clinic": asked rho 50, remaining 16/, 'the primary refuses, in its words');
is(spent('ana'), 4, 'and debits nothing');
like(asked('ana', 'SELECT dp_count(*) FROM passing'), qr/ZC002: a standby lacks rows of table "passing", which is UNLOGGED.*send the query to the primary/, 'a standby has no rows of UNLOGGED tables');
like(asked('ana', 'SELECT dp_count(*) FROM parted'), qr/ZC002: a standby lacks rows of table "parted", which is UNLOGGED or has such partitions/, 'nor of such partitions');
my $twice = asked('ana', "$count; $count");
is(spent('ana'), 6, 'nothing is kept: each answer is bought');
like(asked('ana', "SELECT count(*) FROM dp_cdp.check_setup()"), qr/42501/, 'the standby is one for others, too');
like(asked('postgres', "SELECT finding FROM dp_cdp.check_setup() WHERE object = 'server'"), qr/answered here, and debited by the primary/, 'check_setup says who pays');
is(asked('ana', "SELECT dp_cdp.debit_budget('clinic', 0.5)"), '0.5', 'a debit by hand tells what was debited');
is(spent('ana'), '6.5', 'is the primary\'s, too');
like(asked('postgres', "SELECT dp_cdp.correct_spent('clinic', 'ana', 1, 'x')"), qr/ZC003/, 'administration is the primary\'s alone');
like(asked('postgres', "SELECT * FROM dp_cdp.suggest_limits('visits', 1)"), qr/ZC003/, 'and limits that its owner asks for');

# ---------------------------------------------------------------------------
# The standby's role by hand
# ---------------------------------------------------------------------------

my $before = spent('ana');
my $origin = value($primary, 'test', q{SELECT ARRAY['second', dp_cdp.library_version(), (SELECT system_identifier FROM pg_control_system())::text,
	(SELECT timeline_id FROM pg_control_checkpoint())::text, (SELECT oid FROM pg_database WHERE datname = 'test')::text]});
my $asker = value($primary, 'test', q{SELECT ARRAY[oid::text, 'ana', oid::text, 'ana', '', '', NULL] FROM pg_roles WHERE rolname = 'ana'});
my $by_hand = sub { asked('payer', "SELECT dp_cdp_internal.standby_debit('$origin', '$asker', '$_[0]')", $primary) };
like(asked('payer', $_, $primary), qr/42501|permission denied/, "it may not: $_") for 'SELECT * FROM dp_cdp_internal.budget', 'SELECT * FROM dp_cdp_internal.standby', 'SELECT * FROM visits LIMIT 1',
	q{SELECT dp_cdp.register_standby('x', 'payer')}, 'SELECT dp_cdp.adopt_ledger()';
like(asked('payer', q{SELECT dp_cdp_internal.standby_debit('{}', '{}', '{}')}, $primary), qr/ZC004: this function is for standbys/, 'arguments that no standby gives');
like($by_hand->("{clinic,$_,0,a,NULL,NULL,NULL,NULL,NULL,NULL}"), qr/ZC004: this function is for standbys/, "an amount of $_") for qw(-1 0 x 99999999999999999999 NULL);
like($by_hand->('{clinic,1,-1,a,NULL,NULL,NULL,NULL,NULL,NULL}'), qr/ZC004: this function is for standbys/, 'a delta below zero');
like($by_hand->('{nowhere,1,0,a,NULL,NULL,NULL,NULL,NULL,NULL}'), qr/ZC004: there is no dataset/, 'no dataset');
like($by_hand->('{clinic,1,0,a,NULL,NULL,NULL,NULL,NULL,1:00}'), qr/ZC003: the policy of dataset/, 'another policy');
is(spent('ana'), $before, 'debits nothing');
my $logged = q{SELECT count(*) FROM dp_cdp_internal.release_log WHERE dataset = 'monthly'};
my $rows = value($primary, 'test', $logged);
like($by_hand->("{monthly,1,0,a,NULL,NULL,NULL,$_,NULL}"), qr/ZC004: this function is for standbys/, "days that are none: $_")
	for '9132,9132', '9163,9132', '9132,NULL', 'NULL,9132', '4294967297,4294967300', '-2147483647,9132', '9132,2147483646';
is(value($primary, 'test', $logged), $rows, 'are not written into the audit, which could not be restored');
is($by_hand->('{clinic,1000000000000,0,a,NULL,NULL,NULL,NULL,NULL,NULL}'), '', 'it can waste budgets');
is(spent('ana'), $before + 1, 'and no more');

# ---------------------------------------------------------------------------
# What the primary knows and the standby does not
# ---------------------------------------------------------------------------

$standby->safe_psql('test', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('test', "SELECT pg_get_wal_replay_pause_state() = 'paused'");
$primary->safe_psql('test', 'REVOKE team FROM bea');
like(asked('bea', $count), qr/ZC001: role "bea" has no privacy budget/, 'memberships are those of the primary');
$primary->safe_psql('test', 'GRANT team TO ana');
asked('ana', $count);
is(spent('team'), 2, 'also those that make it dearer');
$primary->safe_psql('test', 'REVOKE team FROM ana');

$before = spent('ana');
for my $change ("set_bounds('visits', 'cost', 0, 20)", "alter_dataset('clinic', max_groups => 2)", "alter_dataset('clinic', default_rho => 2)")
{
	$primary->safe_psql('test', "SELECT dp_cdp.$change");
	like(asked('ana', $count), qr/ZC003: the policy of dataset "clinic" was changed on the primary, and the standby does not have it yet; nothing was debited/, "it has not replayed $change");
	$primary->safe_psql('test', "SELECT dp_cdp.$_") for "set_bounds('visits', 'cost', 0, 10)", "alter_dataset('clinic', max_groups => 5, default_rho => 1)";
}
$primary->safe_psql('test', "SELECT dp_cdp.unprotect_table('visits')");
like(asked('ana', $count), qr/ZC003: the policy of dataset/, 'nor that the table is not protected any more');
$primary->safe_psql('test', "SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient')");
$primary->safe_psql('test', 'ALTER ROLE dora RENAME TO dorothea');
like(asked('dora', $count), qr/ZC003: role "dora" was dropped or renamed on the primary/, 'nor who somebody is');
is(spent('ana'), $before, 'nothing was debited');
$standby->safe_psql('test', 'SELECT pg_wal_replay_resume()');
catch_up($primary, $standby);
$primary->safe_psql('test', "SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10); SELECT dp_cdp.set_keys('visits', 'dept', '{d0,d1,d2}'::text[])");
catch_up($primary, $standby);
like(asked('ana', $count), qr/^\d+$/, 'when it has, it answers');

# ---------------------------------------------------------------------------
# Failures
# ---------------------------------------------------------------------------

# reads rows until something is done to it; its errors
sub while_it_reads
{
	my ($function) = @_;
	my $run = background($standby, 'test', "SET SESSION AUTHORIZATION ana; $count WHERE stuck(patient) > 0;");

	$standby->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die 'nobody reads';
	$standby->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
	return finish($run);
}

my $failures = q{SELECT failures FROM dp_cdp_internal.budget WHERE role_name = 'ana' AND dataset = 'clinic'};
$before = spent('ana');
like(while_it_reads('pg_cancel_backend'), qr/57014.*stays charged.*counts as failure 1 of at most 20 in a day/, 'a release that fails is counted by the primary');
is(value($primary, 'test', $failures), 1, 'it has counted');
cmp_ok(spent('ana'), '>', $before, 'and it is paid for');
while_it_reads('pg_terminate_backend');
ok($primary->poll_query_until('test', "SELECT ($failures) = 2"), 'so is one whose session ends');
asked('ana', $count);
is(value($primary, 'test', $failures), 2, 'not one that is answered');

# ---------------------------------------------------------------------------
# Losing each other
# ---------------------------------------------------------------------------

$before = spent('ana');
my $go = PostgreSQL::Test::Utils::tempdir() . '/go';
my $session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;\n\\! until [ -e $go ]; do sleep 0.02; done\n$count;");
my $payer = q{FROM pg_stat_activity WHERE usename = 'payer'};
$primary->poll_query_until('test', "SELECT rho_spent > $before AND EXISTS (SELECT $payer AND state = 'idle') FROM dp_cdp_internal.budget WHERE role_name = 'ana' AND dataset = 'clinic'")
  or die 'no debit';
$primary->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $payer");
$primary->poll_query_until('postgres', "SELECT count(*) = 0 $payer") or die 'payer stays';
append_to_file($go, '');
is(finish($session), '', 'a connection that was lost meanwhile is made anew');
is(spent('ana'), $before + 2, 'each is debited once');

# its connection goes when it has been debited, before the primary knows that it reads, and no other is made
$before = spent('ana');
my $row = hold_row($primary, 'test', q{SELECT 1 FROM dp_cdp_internal.budget WHERE role_name = 'ana' FOR UPDATE});
$session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;");
wait_waiting($primary, 'test', 1);
my $asker = value($standby, 'postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND query ~ '^SELECT dp_count'});
kill 'STOP', $asker or die $!;
release_row($primary, $row);
$primary->poll_query_until('test', "SELECT rho_spent > $before AND EXISTS (SELECT $payer AND state = 'idle') FROM dp_cdp_internal.budget WHERE role_name = 'ana' AND dataset = 'clinic'")
  or die 'no debit';
$primary->safe_psql('postgres', 'ALTER ROLE payer NOLOGIN');
$primary->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $payer");
$primary->poll_query_until('postgres', "SELECT count(*) = 0 $payer") or die 'payer stays';
kill 'CONT', $asker or die $!;
like(finish($session), qr/ZC003: the primary was lost after the debit and before rows were read; what this query was charged stays charged: retry/,
	'what was debited is not told to be free');
is(spent('ana'), $before + 1, 'it was debited');
$primary->safe_psql('postgres', 'ALTER ROLE payer LOGIN');

# the debit waits for a lock; its connection goes
my $holder = hold_row($primary, 'test', q{SELECT 1 FROM dp_cdp_internal.budget WHERE role_name = 'ana' FOR UPDATE});
$session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;");
wait_waiting($primary, 'test', 1);
$primary->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $payer");
like(finish($session), qr/ZC003: the primary (?:was lost during the debit|failed while it debited); no rows were read/, 'a debit whose reply is lost may be spent');
$session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;");
wait_waiting($primary, 'test', 1);
$standby->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres' AND query ~ '^SELECT dp_count'});
like(finish($session), qr/57014: canceling private query while it was charged; no rows were read/, 'a cancel is heard');
setting($standby, 'dp_cdp.primary_timeout', '500ms');
$session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;");
like(finish($session), qr/ZC003: (?:the primary was lost during the debit; no rows were read|the privacy budget of dataset)/, 'nobody waits for longer than dp_cdp.primary_timeout');
setting($standby, 'dp_cdp.primary_timeout', '1min');
release_row($primary, $holder);
like(asked('ana', $count), qr/^\d+$/, 'then it goes on');

$primary->stop('immediate');
like(asked('ana', $count), qr/ZC003: the primary, which pays for this standby, could not be reached; nothing was debited/, 'without a primary there is no answer');
unlike(asked('ana', $count), qr/payer|first/, 'and nothing of the connection is told');
like(slurp_file($standby->logfile), qr/LOG:  dp_cdp could not connect to the primary: /, 'but in the log');
setting($standby, 'dp_cdp.primary_conninfo', $standby->connstr . ' user=postgres');
like(asked('ana', $count), qr/ZC003: the primary debits nothing for this standby, because it is a standby itself/, 'a standby does not pay');
setting($standby, 'dp_cdp.primary_conninfo', $conninfo);
$primary->start;
$primary->poll_query_until('postgres', 'SELECT 1', '1');
like(asked('ana', $count), qr/^\d+$/, 'it is back');

# ---------------------------------------------------------------------------
# Others
# ---------------------------------------------------------------------------

my $stranger = ledger_node('stranger', conf => "max_worker_processes = 20\n");
$stranger->safe_psql('postgres', 'CREATE DATABASE test');
$stranger->safe_psql('test', q{CREATE EXTENSION dp_cdp; CREATE ROLE payer LOGIN; SELECT dp_cdp.register_standby('second', 'payer')});
setting($standby, 'dp_cdp.primary_conninfo', $stranger->connstr . ' user=payer');
like(asked('ana', $count), qr/ZC003: the primary debits nothing for this standby, which is no copy of it/, 'another server pays nothing');
$stranger->stop;
setting($standby, 'dp_cdp.primary_conninfo', $conninfo);
is(value($primary, 'test', 'SELECT severity, finding FROM dp_cdp.check_ledger() WHERE severity <> $$info$$'), '', 'the ledger is whole');

my $copy = standby_of($primary, 'third');
$primary->safe_psql('test', q{SELECT dp_cdp.register_standby('third', 'payer')});
catch_up($primary, $copy);
$copy->promote;
$copy->safe_psql('test', "SELECT dp_cdp.adopt_ledger()");
setting($standby, 'dp_cdp.primary_conninfo', $copy->connstr . ' user=payer');
like(asked('ana', $count), qr/ZC003: the primary debits nothing for this standby, because the two follow different promotions/, 'nor does a copy that was promoted, for whom follows the original');
setting($standby, 'dp_cdp.primary_conninfo', $conninfo);
$primary->safe_psql('test', q{SELECT dp_cdp.drop_standby('second')});
like(asked('ana', $count), qr/ZC003: the primary debits nothing for this standby, which is not registered there/, 'nor for one that is registered no more');
$primary->safe_psql('test', q{SELECT dp_cdp.drop_standby('other'); SELECT dp_cdp.drop_standby('third')});
like(asked('ana', $count), qr/ZC003: the primary does not let this standby's role debit/, 'the last one takes the role\'s privileges along');

$standby->promote;
like(asked('ana', $count), qr/ZC003: the privacy ledger was copied, restored or promoted/, 'promoted, it has a ledger of its own, to be adopted');

$_->stop for $standby, $copy, $primary;
done_testing();
