# Who pays, from which budgets, and when they renew.

use strict;
use warnings;

use LedgerTest;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE team;
CREATE ROLE grandteam;
GRANT grandteam TO team;
CREATE ROLE ana LOGIN IN ROLE team;
CREATE ROLE bob LOGIN IN ROLE team;
CREATE ROLE loner LOGIN NOINHERIT IN ROLE team;
CREATE ROLE stranger LOGIN;
CREATE ROLE root LOGIN SUPERUSER;
CREATE ROLE root2 LOGIN SUPERUSER IN ROLE team;
EOC

# role, amount, what is expected of the error (nothing: none)
sub try_debit
{
	my ($what, $dataset, $role, $sql, $like) = @_;
	my $err = debit_error($node, 'test', $role, $sql);

	if ($like)
	{
		like($err, $like, $what);
	}
	else
	{
		is($err, '', $what);
	}
	return;
}

sub balances
{
	my ($dataset, $expected, $what) = @_;

	is(value($node, 'test',
			qq{SELECT string_agg(role::regrole || ' ' || trim_scale(rho_spent), ', ' ORDER BY role::regrole::text COLLATE "C")}
		  . " FROM dp_cdp_internal.budget WHERE dataset = '$dataset'"), $expected, $what);
	return;
}

# ---------------------------------------------------------------------------
# Groups, members, all or none
# ---------------------------------------------------------------------------

dataset($node, 'test', 'd', 10);
budget($node, 'test', 'd', 'ana', 1);
budget($node, 'test', 'd', 'team', 1.5);

try_debit('within both', 'd', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.75)});
balances('d', 'ana 0.75, team 0.75', 'both pay');
try_debit('beyond her own', 'd', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.5)},
	qr/ZC001: privacy budget exhausted for dataset "d": asked rho 0\.5, remaining 0\.25 \(role "ana"\).*dp_cdp\.set_budget(?!.*DETAIL:.*0\.5)/s);
balances('d', 'ana 0.75, team 0.75', 'none pays');
try_debit('the group pays for members without a budget', 'd', 'bob', q{SELECT dp_cdp.debit_budget('d', 0.5)});
balances('d', 'ana 0.75, team 1.25', 'the group alone');
try_debit('beyond the group\'s', 'd', 'bob', q{SELECT dp_cdp.debit_budget('d', 0.375)}, qr/ZC001.*remaining 0\.25 \(role "team"\)/);
try_debit('to the last unit', 'd', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.249999999999)});
try_debit('one unit too much', 'd', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.000000000002)}, qr/asked rho 0\.000000000002, remaining 0\.000000000001/);
try_debit('the last unit', 'd', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.000000000001)});
try_debit('nothing is left', 'd', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.000000000001)}, qr/ZC001.*remaining 0 /);
balances('d', 'ana 1, team 1.5', 'exactly spent');
try_debit('rounded up to a unit', 'd', 'root', q{SELECT dp_cdp.debit_budget('d', 0.0000000000001)}, qr/asked|has no privacy budget/);

try_debit('a stranger', 'd', 'stranger', q{SELECT dp_cdp.debit_budget('d', 0.1)},
	qr/ZC001: role "stranger" has no privacy budget for dataset "d"; the dataset's owner can give one with dp_cdp\.set_budget/);
try_debit('no such dataset', 'd', 'ana', q{SELECT dp_cdp.debit_budget('nowhere', 0.1)}, qr/ZC004: there is no dataset "nowhere"/);
try_debit($_, 'd', 'ana', "SELECT dp_cdp.debit_budget('d', $_)", qr/ZC004: rho must be greater than 0/)
  for '0', '-1', q{'NaN'}, q{'Infinity'}, '1e7';
try_debit("delta $_", 'd', 'ana', "SELECT dp_cdp.debit_budget('d', 0.1, $_)", qr/ZC004: delta must be/)
  for '-1', '2', q{'NaN'};

# a new budget counts at once, though the worker is warm
budget($node, 'test', 'd', 'stranger', 1);
try_debit('a new budget', 'd', 'stranger', q{SELECT dp_cdp.debit_budget('d', 0.5)});
$node->safe_psql('test', 'GRANT team TO stranger');
try_debit('a new membership', 'd', 'stranger', q{SELECT dp_cdp.debit_budget('d', 0.25)}, qr/ZC001.*remaining 0 \(role "team"\)/);
$node->safe_psql('test', 'REVOKE team FROM stranger');
try_debit('a membership that ended', 'd', 'stranger', q{SELECT dp_cdp.debit_budget('d', 0.25)});

# ---------------------------------------------------------------------------
# SET ROLE does not pool budgets; NOINHERIT; superusers
# ---------------------------------------------------------------------------

dataset($node, 'test', 'e');
budget($node, 'test', 'e', $_, 10) for qw(ana team grandteam root loner);
try_debit('inherited over two levels', 'e', 'ana', q{SELECT dp_cdp.debit_budget('e', 1)});
balances('e', 'ana 1, grandteam 1, loner 0, root 0, team 1', 'over two levels');
try_debit('SET ROLE', 'e', 'ana', q{SET ROLE team; SELECT dp_cdp.debit_budget('e', 1)});
balances('e', 'ana 2, grandteam 2, loner 0, root 0, team 2', 'session_user still pays');
try_debit('NOINHERIT', 'e', 'loner', q{SELECT dp_cdp.debit_budget('e', 1)});
balances('e', 'ana 2, grandteam 2, loner 1, root 0, team 2', 'what is not inherited does not pay');
try_debit('NOINHERIT with SET ROLE', 'e', 'loner', q{SET ROLE team; SELECT dp_cdp.debit_budget('e', 1)});
balances('e', 'ana 2, grandteam 3, loner 2, root 0, team 3', 'with SET ROLE it does');
try_debit('a superuser', 'e', 'root', q{SELECT dp_cdp.debit_budget('e', 1)});
balances('e', 'ana 2, grandteam 3, loner 2, root 1, team 3', 'a superuser pays from his own');
try_debit('a superuser in a group', 'e', 'root2', q{SELECT dp_cdp.debit_budget('e', 1)});
balances('e', 'ana 2, grandteam 4, loner 2, root 1, team 4', 'and from his groups\'');
try_debit('a superuser without a budget', 'e', 'postgres', q{SELECT dp_cdp.debit_budget('e', 1)}, qr/ZC001: role "postgres" has no privacy budget/);

# ---------------------------------------------------------------------------
# The dataset's cap; delta
# ---------------------------------------------------------------------------

dataset($node, 'test', 'capped', 1);
budget($node, 'test', 'capped', $_, 10) for qw(ana stranger);
try_debit('within the cap', 'capped', 'ana', q{SELECT dp_cdp.debit_budget('capped', 0.75)});
try_debit('beyond the cap', 'capped', 'stranger', q{SELECT dp_cdp.debit_budget('capped', 0.5)},
	qr/ZC001: privacy budget exhausted for dataset "capped": asked rho 0\.5, more than its lifetime cap (?!.*remain).*dp_cdp\.alter_dataset/s);
balances('capped', 'ana 0.75, stranger 0', 'none pays');
try_debit('delta', 'capped', 'ana', q{SELECT dp_cdp.debit_budget('capped', 0.01, 9e-7)});
try_debit('too much delta', 'capped', 'ana', q{SELECT dp_cdp.debit_budget('capped', 0.01, 2e-7)},
	qr/ZC001.*asked delta 0\.0000002, remaining 0\.0000001 \(role "ana"\)/);
try_debit('delta of the dataset', 'capped', 'stranger', q{SELECT dp_cdp.debit_budget('capped', 0.01, 2e-7)},
	qr/ZC001.*asked delta 0\.0000002, more than its lifetime cap (?!.*remain)/s);
is(value($node, 'test', q{SELECT trim_scale(rho_spent) || ' ' || delta_spent::float8 FROM dp_cdp_internal.dataset WHERE name = 'capped'}),
	'0.76 9e-07', 'the dataset\'s totals');

# ---------------------------------------------------------------------------
# Periods
# ---------------------------------------------------------------------------

dataset($node, 'test', 'p');

# a period, when it renews from now; the role spends 1 of 1.5, then is asked for 1 again
my @periods = (
	[ 'due', '1 day', q{now() - interval '3 hours'}, 'yes' ],
	[ 'long overdue', '1 microsecond', q{'2000-01-01'}, 'yes' ],
	[ 'months', '1 month', q{'2001-01-31'}, 'yes' ],
	[ 'mixed', '1 year 2 mons 3 days 04:05:06', q{'1999-12-31'}, 'yes' ],
	[ 'huge', '290000 years', q{now() - interval '1 hour'}, 'yes' ],
	[ 'not due', '1 day', q{now() + interval '1 hour'}, 'no' ],
	[ 'zero', '0', q{now() - interval '1 hour'}, 'no' ],
	[ 'negative', '-1 day', q{now() - interval '1 hour'}, 'no' ],
	[ 'back and forth', '1 month -30 days', q{now() - interval '1 hour'}, 'no' ],
	[ 'never', '1 day', q{'infinity'}, 'no' ],
	[ 'always', '1 day', q{'-infinity'}, 'no' ],
	[ 'no date', '1 day', undef, 'no' ],
	[ 'no period', undef, q{now() - interval '1 hour'}, 'no' ]);
my $n = 0;

for my $p (@periods)
{
	my ($what, $period, $renews_at, $renews) = @$p;
	my $role = 'p' . $n++;

	$node->safe_psql('test', "CREATE ROLE $role");
	budget($node, 'test', 'p', $role, 1.5, $period, $renews_at);
	# as if spent in the period before
	$node->safe_psql('test', 'ALTER TABLE dp_cdp_internal.budget DISABLE TRIGGER ledger_guard;'
		. " UPDATE dp_cdp_internal.budget SET rho_spent = 1.25 WHERE role = '$role'::regrole;"
		. ' ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard;');
	my $before = value($node, 'test', "SELECT coalesce(renews_at::text, 'null') FROM dp_cdp_internal.budget WHERE role = '$role'::regrole");
	my $err = debit_error($node, 'test', $role, q{SELECT dp_cdp.debit_budget('p', 1)});

	if ($renews eq 'yes')
	{
		is($err, '', "$what: granted");
		is(balance($node, 'test', 'p', $role), '1', "$what: spent starts at 0");
		is(value($node, 'test', "SELECT renews_at > (SELECT max(released_at) FROM dp_cdp_internal.release_log) FROM dp_cdp_internal.budget WHERE role = '$role'::regrole"),
			't', "$what: renews in the future");
	}
	else
	{
		like($err, qr/ZC001.*remaining 0\.25/, "$what: refused");
		is(value($node, 'test', "SELECT coalesce(renews_at::text, 'null') FROM dp_cdp_internal.budget WHERE role = '$role'::regrole"),
			$before, "$what: renews when it did");
	}
}
is(value($node, 'test', q{SELECT renews_at - '2001-01-31'::timestamptz > '20 years' AND extract(day FROM renews_at) IN (28, 29, 30, 31) FROM dp_cdp_internal.budget WHERE role = 'p2'::regrole}),
	't', 'whole months from the first date');
is(value($node, 'test', q{SELECT renews_at::text FROM dp_cdp_internal.budget WHERE role = 'p4'::regrole}), 'infinity', 'beyond the calendar');
like(debit_error($node, 'test', 'p5', q{SELECT dp_cdp.debit_budget('p', 1)}),
	qr/asked rho 1, remaining 0\.25 .*it renews at 20\d\d-(?!.*DETAIL)/s, 'the error says when it renews');

# ---------------------------------------------------------------------------
# One statement, two datasets: all or none
# ---------------------------------------------------------------------------

$node->safe_psql('test', <<'EOC');
CREATE TABLE left_table (id int, x int);
CREATE TABLE right_table (id int, x int);
SELECT dp_cdp.create_dataset('left', default_rho => 0.25, max_groups => 5, max_rows => 5), dp_cdp.create_dataset('right', default_rho => 0.25, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('left_table', 'left', 'id'), dp_cdp.protect_table('right_table', 'right', 'id');
SELECT dp_cdp.set_budget('left', 'ana', rho => 10), dp_cdp.set_budget('right', 'ana', rho => 0.5);
EOC
my $both = 'SELECT (SELECT dp_count(*) FROM left_table), (SELECT dp_count(*) FROM right_table);';
try_debit("two datasets, $_", 'left', 'ana', $both) for 1, 2;
try_debit('one of the two is spent', 'left', 'ana', $both, qr/ZC001.*dataset "right": asked rho 0\.25, remaining 0 /);
balances('left', 'ana 0.5', 'the other is not debited');
is(value($node, 'test', q{SELECT string_agg(dataset || ' ' || granted, ', ' ORDER BY id) FROM dp_cdp_internal.release_log WHERE dataset IN ('left', 'right')}),
	join(', ', ('left true, right true') x 2, 'left false, right false'), 'the log has a row for each release');

# more releases than fit one request
my $many = 'SELECT ' . join(', ', ('(SELECT dp_count(*) FROM left_table)') x 129) . ';';
$node->safe_psql('test', q{SELECT dp_cdp.set_budget('left', 'ana', rho => 1000)});
try_debit('too many releases', 'left', 'ana', $many, qr/ZC002: the statement makes 129 releases at once, at most 128 are possible; split it.*DETAIL:  Each query and subquery that aggregates protected rows is a release/s);
$many =~ s/, \(SELECT dp_count\(\*\) FROM left_table\);/;/;
try_debit('just enough', 'left', 'ana', $many);
balances('left', 'ana 32.5', 'all are paid for');

# strings that are too long for the audit are cut, not the debit
my $long = 'SELECT ' . join(', ', map { "dp_sum(x, 0, $_)" } 1 .. 60) . ' FROM left_table;';
try_debit('long lists', 'left', 'ana', $long);
is(value($node, 'test', q{SELECT length(aggregates) BETWEEN 500 AND 6144 FROM dp_cdp_internal.release_log ORDER BY id DESC LIMIT 1}), 't', 'kept for the audit');

# ---------------------------------------------------------------------------
# The audit
# ---------------------------------------------------------------------------

debit_error($node, 'test', 'ana', q{SET application_name = 'tableau'; SET ROLE team; SELECT dp_cdp.debit_budget('capped', 100, 1e-9)});
is(value($node, 'test', q{SELECT concat_ws('|', dataset, role::regrole, session_role::regrole, application, aggregates, groups, rho, delta::float8, stddev, granted) FROM dp_cdp_internal.release_log ORDER BY id DESC LIMIT 1}),
	'capped|team|ana|tableau|debit by hand|100|1e-09|f', 'a refusal in the log');
is(value($node, 'test', <<'EOC'), 't', 'balances are the sums of the log');
SELECT bool_and(d.rho_spent = l.rho AND d.delta_spent = l.delta)
FROM dp_cdp_internal.dataset d, LATERAL (SELECT sum(rho) AS rho, sum(delta) AS delta
	FROM dp_cdp_internal.release_log WHERE dataset = d.name AND granted) l
EOC

$node->stop;
done_testing();
