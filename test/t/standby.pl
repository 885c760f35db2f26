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
CREATE TABLE visits (patient int, dept text, cost numeric);
INSERT INTO visits SELECT i, 'd' || i % 3, i % 10 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 1000, default_rho => 1, max_rho => 100, reuse => '1 hour');
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10);
SELECT dp_cdp.set_keys('visits', 'dept', '{d0,d1,d2}'::text[]);
SELECT dp_cdp.set_budget('clinic', r, rho => 20) FROM unnest('{ana,team,dora}'::regrole[]) r;
EOC
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('second');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', "dp_cdp.primary_timeout = '3s'\n");
$standby->start;

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

sub catch_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
	return;
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

like(asked('ana', $count), qr/ZC003: this server is a standby.*send the query to the primary.*dp_cdp\.primary_conninfo/, 'without the setting nothing is answered');
my $conninfo = $primary->connstr . ' user=payer connect_timeout=2';
setting($standby, 'dp_cdp.primary_conninfo', $conninfo);
like(asked('ana', $count), qr/ZC003: the primary does not let this standby's role debit; nothing was debited/, 'a role that was not registered may not call the functions');
like(asked('ana', 'SHOW dp_cdp.primary_conninfo'), qr/42501/, 'only superusers see it');
like(asked('ana', "SET dp_cdp.primary_conninfo = 'x'"), qr/55P02/, 'nobody sets it in a session');
like(asked('ana', "SELECT dp_cdp.register_standby('second', 'payer')", $primary), qr/42501/, 'who is no superuser registers nobody');
like(asked('ana', "SELECT dp_cdp.standby_debit('{}', '{}', '{}')", $primary), qr/42501/, 'nor calls what standbys call');
like(asked('ana', 'SELECT dp_cdp.standby_has_read(true)', $primary), qr/42501/, 'none of it');
like(debit_error($primary, 'test', 'postgres', "SELECT dp_cdp.register_standby('second', 'boss')"), qr/ZC004.*do nothing else/, 'a superuser is no role for a standby');
like(debit_error($primary, 'test', 'postgres', "SELECT dp_cdp.register_standby('second', 'bea')"), qr/ZC004.*member of others/, 'nor is a member of others');
like(debit_error($primary, 'test', 'postgres', "SELECT dp_cdp.register_standby('', 'payer')"), qr/ZC004.*cluster_name/, 'a name is needed');
$primary->safe_psql('test', "SELECT dp_cdp.register_standby('other', 'payer')");
catch_up();
like(asked('ana', $count), qr/ZC003: the primary debits nothing for this standby, which is not registered there/, 'another name is not this one');
is(spent('ana'), 0, 'nothing was debited for any of these');

# ---------------------------------------------------------------------------
# Answers and debits
# ---------------------------------------------------------------------------

$primary->safe_psql('test', "SELECT dp_cdp.register_standby('second', 'payer')");
like(asked('ana', $count), qr/^\d+$/, 'answered');
is(spent('ana'), 1, 'debited by the primary');
like(asked('ana', 'SELECT dept, dp_sum(cost), dp_count(*) FROM visits GROUP BY dept ORDER BY dept'), qr/^d0\|[\d.]+\|\d+\nd1\|/, 'groups');
is(spent('ana'), 3, 'two columns');
is(value($primary, 'test', 'SELECT trim_scale(rho_spent) FROM dp_cdp.dataset'), 3, 'the cap, too');
like(value($primary, 'test', "SELECT role_name, session_role_name, client, tables, query FROM dp_cdp.audit ORDER BY id LIMIT 1"),
	qr/^ana\|ana\|\[local\] via second\|public\.visits\|\Q$count\E$/, 'the audit says who asked, where and what');
asked('ana', "BEGIN READ ONLY; $count; ROLLBACK");
is(spent('ana'), 4, 'a rollback gives nothing back');
like(asked('bea', $count), qr/^\d+$/, 'a member of a team');
is(spent('team'), 1, 'pays from the team\'s budget');
like(asked('eve', $count), qr/ZC001: role "eve" has no privacy budget/, 'no budget, no answer');
like(asked('ana', "SET dp_cdp.rho = 50; $count"), qr/ZC001: privacy budget exhausted for dataset "clinic": asked rho 50, remaining 16/, 'the primary refuses, in its words');
is(spent('ana'), 4, 'and debits nothing');
my $twice = asked('ana', "$count; $count");
is(spent('ana'), 6, 'nothing is kept: each answer is bought');
like(asked('ana', "SELECT count(*) FROM dp_cdp.check_setup()"), qr/42501/, 'the standby is one for others, too');
like(asked('postgres', "SELECT finding FROM dp_cdp.check_setup() WHERE object = 'server'"), qr/answered here, and debited by the primary/, 'check_setup says who pays');
is(asked('ana', "SELECT dp_cdp.debit('clinic', 0.5)"), '', 'a debit by hand');
is(spent('ana'), '6.5', 'is the primary\'s, too');
like(asked('postgres', "SELECT dp_cdp.correct('clinic', 'ana', 1, 'x')"), qr/ZC003/, 'administration is the primary\'s alone');

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

my $before = spent('ana');
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
catch_up();
$primary->safe_psql('test', "SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10); SELECT dp_cdp.set_keys('visits', 'dept', '{d0,d1,d2}'::text[])");
catch_up();
like(asked('ana', $count), qr/^\d+$/, 'when it has, it answers');

# ---------------------------------------------------------------------------
# Failures
# ---------------------------------------------------------------------------

$primary->safe_psql('test', q{SELECT dp_cdp.alter_dataset('clinic', answer_step => '20 s')});
catch_up();
my $failures = q{SELECT failures FROM dp_cdp.budget WHERE role_name = 'ana'};
$before = spent('ana');
like(asked('ana', "SET statement_timeout = '1s'; $count"), qr/57014.*stays charged.*counts as failure 1 of at most 20 in a day/, 'a release that fails is counted by the primary');
is(value($primary, 'test', $failures), 1, 'it has counted');
cmp_ok(spent('ana'), '>', $before, 'and it is paid for');
my $run = background($standby, 'test', "SET SESSION AUTHORIZATION ana; SET application_name = 'slow'; $count;");
$standby->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'slow' AND query ~ 'dp_count'});
$primary->poll_query_until('postgres', q{SELECT count(*) >= 1 FROM pg_stat_activity WHERE usename = 'payer' AND query ~ 'standby_reads'}) or die 'no reader';
$standby->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'slow'});
finish($run);
ok($primary->poll_query_until('test', "SELECT ($failures) = 2"), 'so is one whose session ends');
$primary->safe_psql('test', q{SELECT dp_cdp.alter_dataset('clinic', answer_step => '0')});
catch_up();
asked('ana', $count);
is(value($primary, 'test', $failures), 2, 'not one that is answered');

# ---------------------------------------------------------------------------
# Losing each other
# ---------------------------------------------------------------------------

$before = spent('ana');
my $session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;\n\\! sleep 2\n$count;");
sleep 1;
$primary->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'payer'});
is(finish($session), '', 'a connection that was lost meanwhile is made anew');
is(spent('ana'), $before + 2, 'each is debited once');

# the debit waits for a lock; its connection goes
my $holder = hold_row($primary, 'test', q{SELECT 1 FROM dp_cdp.budget WHERE role_name = 'ana' FOR UPDATE});
$session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;");
wait_waiting($primary, 'test', 1);
$primary->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'payer'});
like(finish($session), qr/ZC003: the primary (?:was lost during the debit|failed while it debited), which may be spent; no rows were read/, 'a debit whose reply is lost may be spent');
$session = background($standby, 'test', "SET SESSION AUTHORIZATION ana;\n$count;");
wait_waiting($primary, 'test', 1);
like(finish($session), qr/ZC003: (?:the primary was lost during the debit, which may be spent|the privacy budget of dataset)/, 'nobody waits for longer than dp_cdp.primary_timeout');
like(asked('ana', "SET statement_timeout = '1s'; $count"), qr/57014: canceling private query while it was charged; no rows were read/, 'a cancel is heard');
release_row($primary, $holder);
like(asked('ana', $count), qr/^\d+$/, 'then it goes on');

$primary->stop('immediate');
like(asked('ana', $count), qr/ZC003: the primary, which pays for what this standby answers, could not be reached; nothing was debited/, 'without a primary there is no answer');
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

my $copy = PostgreSQL::Test::Cluster->new('third');
$copy->init_from_backup($primary, 'copy', has_streaming => 1);
$copy->start;
$primary->safe_psql('test', q{SELECT dp_cdp.register_standby('third', 'payer')});
$primary->wait_for_catchup($copy, 'replay', $primary->lsn('flush'));
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
