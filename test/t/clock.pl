# The server's clock is set ahead and back.  Budgets renew by time that has passed, or that somebody has accepted; nothing
# hangs until the clock catches up; what was written while it was ahead is found, and there is a remedy.

use strict;
use warnings;

use LedgerTest;
use Test::More;

my $day = 86400;
my $node = ledger_node('main', stopped => 1, conf => "timezone = UTC\n");

# what check_setup says about times to come
sub findings
{
	return value($node, 'test', q{SELECT string_agg(format('%s: %s -> %s', object, finding, remedy), E'\n') FROM dp_cdp.check_setup()}
		  . q{ WHERE finding ~ 'clock|to come'});
}

# changes a row of the ledger past its triggers
sub by_hand
{
	my ($table, $change) = @_;

	$node->safe_psql('test', "ALTER TABLE dp_cdp_internal.$table DISABLE TRIGGER ledger_guard; UPDATE dp_cdp_internal.$table SET $change;"
		  . " ALTER TABLE dp_cdp_internal.$table ENABLE ALWAYS TRIGGER ledger_guard");
	return;
}

start_with_clock($node);
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN');
clinic_database($node, 'test');
$node->safe_psql('test', q{SELECT dp_cdp.alter_dataset('clinic', reuse => '1 day')});
dataset($node, 'test', 'd');
budget($node, 'test', 'd', 'ana', 2, '1 month', q{now() + '1 month'});
budget($node, 'test', 'd', 'bob', 1, '1 hour', q{now() + '20 minutes'});

my $ask = q{SELECT dp_cdp.debit_budget('d', 1)};
my $spent_up = qr/ZC001: privacy budget exhausted for dataset "d": asked rho 1, remaining 0 \(role "ana"\); it renews at/;
is(debit_error($node, 'test', 'ana', "$ask; $ask"), '', 'a budget is spent');
is(debit_error($node, 'test', 'bob', $ask), '', 'and another');
is(findings(), '', 'nothing to find');

# ---------------------------------------------------------------------------
# Ahead, while the server runs
# ---------------------------------------------------------------------------

set_clock(1800);
is(debit_error($node, 'test', 'bob', $ask), '', 'a clock that is corrected by half an hour is believed');
set_clock(40 * $day);
like(debit_error($node, 'test', 'ana', $ask), $spent_up, '40 days that have not passed renew nothing');
like(debit_error($node, 'test', 'ana', $ask),
	qr/it renews at \S+ \S+, once the owner of the extension has accepted the server's clock, which was set ahead, with dp_cdp\.accept_clock\(\)/,
	'the refusal says what it waits for');
is(value($node, 'test', q{SELECT rho_remaining FROM dp_cdp.budgets WHERE dataset = 'd' AND role_name = 'ana'}), '0', 'the view says the same');
like(findings(), qr/^clock: it was set ahead by (39 days 23|40 days|959|960)\S*.* while the server ran: .* -> set the clock right; where it is right, SELECT dp_cdp\.accept_clock\(\)$/m, 'so does check_setup');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(balance($node, 'test', 'd', 'ana'), '2', 'an adoption renews nothing, either');
my $worker = worker_of($node, 'test');
$node->safe_psql('test', "SELECT pg_terminate_backend($worker)");
wait_for_worker($node, 'test', $worker);
like(debit_error($node, 'test', 'ana', $ask), $spent_up, 'nor does another worker');
$worker = worker_of($node, 'test');
kill 'KILL', $worker;
wait_for_worker($node, 'test', $worker) or die 'server did not come back';
like(debit_error($node, 'test', 'ana', $ask), $spent_up, 'nor a restart after a crash');
like(debit_error($node, 'test', 'ana', 'SELECT dp_cdp.accept_clock()'), qr/42501/, 'not everybody accepts a clock');

# failures of a day
by_hand('budget', q{failures = 20, failures_since = now() - interval '40 days'});
like(debit_error($node, 'test', 'ana', $ask), qr/ZC001: 20 releases/, 'a day does not end by it, either');
by_hand('budget', 'failures = 0, failures_since = NULL');

# kept answers
my $question = q{SELECT dp_count(*) > -100000 FROM visits};
set_clock(400 * $day);
$node->safe_psql('test', q{SELECT dp_cdp.forget_answers('clinic')});
set_clock(0);
debit($node, 'test', 'ana', $question);
my $spent = balance($node, 'test', 'clinic', 'ana');
debit($node, 'test', 'ana', $question);
is(balance($node, 'test', 'clinic', 'ana'), $spent, 'a refresh() by such a clock does not stop that answers are given again');
is(findings(), '', 'nothing is left behind when it is set back');

# ---------------------------------------------------------------------------
# Accepted
# ---------------------------------------------------------------------------

set_clock(40 * $day);
$node->safe_psql('test', 'SELECT dp_cdp.accept_clock()');
is(findings(), '', 'a clock that was accepted is right');
is(debit_error($node, 'test', 'ana', $ask), '', 'and renews');
my $renews_at = value($node, 'test', q{SELECT renews_at FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role_name = 'ana'});

set_clock(0);
is(debit_error($node, 'test', 'ana', $ask), '', 'set back, it goes on with what was renewed');
like(debit_error($node, 'test', 'ana', $ask), $spent_up, 'and does not renew twice');
is(value($node, 'test', q{SELECT renews_at FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role_name = 'ana'}), $renews_at, 'until the next date');
by_hand('budget', q{failures_since = now() + '2 days'});
by_hand('dataset', q{forgotten_at = now() + '2 days'});
my $all = findings();
like($all, qr/^budget of role ana, dataset d: renews on .*, later than after a period.* -> repeat dp_cdp\.set_budget as it was/m, 'renewals too far away are found');
like($all, qr/^budget of role ana, dataset d: counts failures of the day that begins on .* -> SELECT dp_cdp\.reset_failures\('d', 'ana'\)$/m, 'and days of failures');
like($all, qr/^dataset clinic: answers were forgotten on .* -> SELECT dp_cdp\.forget_answers\('clinic'\)$/m, 'and datasets whose answers were forgotten');
like($all, qr/^audit: \d+ rows are of times to come/m, 'and rows of the audit');
$node->safe_psql('test', q{SELECT dp_cdp.forget_answers(name) FROM dp_cdp_internal.dataset});
$node->safe_psql('test', q{SELECT dp_cdp.reset_failures(dataset, role) FROM dp_cdp_internal.budget});
$node->safe_psql('test', q{SELECT dp_cdp.set_budget('d', 'ana', rho => 2, period => '1 month'), dp_cdp.set_budget('d', 'bob', rho => 1, period => '1 hour')});
unlike(findings(), qr/^(budget|dataset)/m, 'the remedies help');
is(value($node, 'test', q{SELECT renews_at <= now() + '1 month' FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role_name = 'ana'}), 't', 'a budget that is given again renews after a period');
$renews_at = value($node, 'test', q{SELECT renews_at FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role_name = 'ana'});
$node->safe_psql('test', q{SELECT dp_cdp.set_budget('d', 'ana', rho => 2, period => '1 month')});
is(value($node, 'test', q{SELECT renews_at FROM dp_cdp_internal.budget WHERE dataset = 'd' AND role_name = 'ana'}), $renews_at, 'and not later for being given once more');

# ---------------------------------------------------------------------------
# Nobody waits for the clock
# ---------------------------------------------------------------------------

ledger_database($node, 'gone');
dataset($node, 'gone', 'd');
budget($node, 'gone', 'd', 'ana', 10);
is(debit_error($node, 'gone', 'ana', $ask), '', 'another database');
# so that its worker has looked around
$node->safe_psql('postgres', 'SELECT pg_sleep(1.1)');
set_clock(-$day);
is(($node->psql('postgres', 'DROP DATABASE gone'))[2], '', 'is dropped after the clock was set back');

# ---------------------------------------------------------------------------
# While the server is off
# ---------------------------------------------------------------------------

set_clock(0);
like(debit_error($node, 'test', 'ana', $ask), $spent_up, 'a budget is spent');
$node->stop;
set_clock(40 * $day);
start_with_clock($node);
is(debit_error($node, 'test', 'ana', $ask), '', 'a server that was off for 40 days renews');
is(findings(), '', 'and finds nothing');
$node->stop;

done_testing();
