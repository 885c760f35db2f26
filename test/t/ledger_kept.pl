# Kept answers in the ledger: who owes what, what the log says of it, values
# that are durable before they are shown, their end, crashes, dumps.
# What releases ask is called by a module of test/kept/, which is not shipped.

use strict;
use warnings;

use IPC::Run;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

die "test/kept/kept_test.c was not built" unless $ENV{KEPT_TEST} && -f $ENV{KEPT_TEST};

my $R = 1_000_000_000_000;    # amounts of one rho
my $node = ledger_node('main', conf => "dp_cdp.reuse_max_answers = 1000\n");

sub api
{
	my ($db) = @_;

	$node->safe_psql($db, join('', map {
		my ($name, $args, $result) = @$_;
		"CREATE OR REPLACE FUNCTION public.$name($args) RETURNS $result LANGUAGE C STRICT AS '$ENV{KEPT_TEST}';\n"
	  } (
		[ 'kept_look', 'text, text, timestamptz', 'text' ],
		[ 'kept_debit', 'text, bigint, text, timestamptz, bigint, bigint, bigint[], bigint[]', 'void' ],
		[ 'kept_keep', 'text, text, timestamptz, bigint, bigint, bytea', 'void' ],
		[ 'kept_used', 'text, timestamptz', 'void' ],
		[ 'kept_balances', 'text', 'text' ],
		[ 'kept_lock', 'text', 'void' ],
		[ 'kept_unlock', 'text', 'void' ],
		[ 'kept_lookup', 'text, int', 'void' ])));
	return;
}

ledger_database($node, 'test');
api('test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE team;
CREATE ROLE ana LOGIN IN ROLE team;
CREATE ROLE bob LOGIN;
CREATE ROLE owner LOGIN;
CREATE ROLE stranger LOGIN;
GRANT ALL ON SCHEMA public TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO PUBLIC;
SET SESSION AUTHORIZATION owner;
SELECT dp_cdp.create_dataset('d', rho => 10, reuse => '1 day');
SELECT dp_cdp.set_budget('d', 'ana', rho => 1);
SELECT dp_cdp.set_budget('d', 'team', rho => 1);
SELECT dp_cdp.set_budget('d', 'bob', rho => 1);
EOC

my %id = map { split /=/ } split /\n/, value($node, 'test',
	    "SELECT b.role_name || '=' || b.ledger_id FROM dp_cdp_internal.budget b"
	  . " UNION ALL SELECT 'cap=' || ledger_id FROM dp_cdp_internal.dataset WHERE name = 'd'");
my $began = '2030-01-02 03:04:05.678901+00';

# a debit of rho with one answer at $rho of a question, credits as name => rho
sub buy
{
	my ($role, $question, $rho, %opt) = @_;
	my %credits = %{ $opt{credits} || {} };
	my @names = sort keys %credits;

	return debit_error($node, 'test', $role, sprintf(
			"SELECT kept_debit('%s', %d, '%s', '%s', %d, %d, ARRAY[%s]::bigint[], ARRAY[%s]::bigint[])",
			$opt{dataset} // 'd', ($opt{price} // $rho) * $R, $question, $opt{began} // $began, $rho * $R, ($opt{below} // 0) * $R,
			join(',', map { $id{$_} } @names), join(',', map { $credits{$_} * $R } @names)));
}

sub keep
{
	my ($role, $question, $rho, $value, %opt) = @_;

	return debit_error($node, 'test', $role, sprintf(
			"SELECT kept_keep('%s', '%s', '%s', %d, %d, %s)", $opt{dataset} // 'd', $question, $opt{began} // $began, $rho * $R, ($opt{below} // 0) * $R,
			$opt{raw} ? $value : "'$value'"));
}

sub look
{
	my ($question, $since) = @_;
	my $found = value($node, 'test', "SELECT kept_look('d', '$question', '" . ($since // '-infinity') . "')");

	for my $name (keys %id)
	{
		$found =~ s/(?<=[{,])$id{$name}(?=[,}])/$name/g;
	}
	$found =~ s/(\d{6,})/$1 \/ $R/ge;
	return $found;
}

sub spent
{
	return value($node, 'test', <<'EOC');
SELECT string_agg(x.name || ' ' || trim_scale(x.rho), ', ' ORDER BY x.name)
	FROM (SELECT role_name AS name, rho_spent AS rho FROM dp_cdp_internal.budget WHERE dataset = 'd'
		UNION ALL SELECT 'cap', rho_spent FROM dp_cdp_internal.dataset WHERE name = 'd') x
EOC
}

sub last_rows
{
	my ($n) = @_;
	my $rows = value($node, 'test',
		    "SELECT string_agg(trim_scale(l.rho) || ' ' || coalesce(trim_scale(l.reuse_rho)::text, '-') || ' ' || l.paid_by::text, '; ' ORDER BY l.id)"
		  . " FROM (SELECT * FROM dp_cdp_internal.release_log WHERE granted ORDER BY id DESC LIMIT $n) l");

	for my $name (keys %id)
	{
		$rows =~ s/(?<=[{,])$id{$name}(?=[,}])/$name/g;
	}
	return $rows;
}

sub agrees
{
	my ($what) = @_;

	is(value($node, 'test', "SELECT string_agg(severity || ' ' || object || ': ' || finding, '; ') FROM dp_cdp.check_ledger() WHERE severity <> 'info'"),
		'', "balances, log and chain agree: $what");
	return;
}

# ---------------------------------------------------------------------------
# Who pays what
# ---------------------------------------------------------------------------

is(value($node, 'test', "SET SESSION AUTHORIZATION ana; SELECT kept_balances('d')") =~ s/\d+/x/gr, 'x,x|x', 'balances of ana');
is(value($node, 'test', "SET SESSION AUTHORIZATION bob; SELECT kept_balances('d')"), "$id{bob}|$id{cap}", 'balances of bob');
is(value($node, 'test', "SET SESSION AUTHORIZATION stranger; SELECT kept_balances('d')"), "|$id{cap}", 'balances of a stranger');
is(look('q1'), '', 'nothing is kept');

is(buy('ana', 'q1', 0.05), '', 'ana buys');
is(look('q1'), '0.05 0 {team,ana,cap} -' =~ s/team,ana/look('q1') =~ m"team,ana" ? 'team,ana' : 'ana,team'/er, 'paid and not drawn');
is(keep('ana', 'q1', 0.05, 'answer one'), '', 'its answer is kept');
like(look('q1'), qr/^0\.05 0 \{(team,ana|ana,team),cap\} answer one$/, 'and read');
is(spent(), 'ana 0.05, bob 0, cap 0.05, team 0.05', 'all have paid');
like(last_rows(1), qr/^0\.05 0\.05 \{(team,ana|ana,team),cap\}$/, 'one row of the log');

is(buy('bob', 'q1', 0.05, credits => { cap => 0.05 }), '', 'bob buys what the cap has paid for');
is(spent(), 'ana 0.05, bob 0.05, cap 0.05, team 0.05', 'bob alone pays');
is(last_rows(1), '0.05 0.05 {bob}', 'the log says so');
like(look('q1'), qr/,cap,bob\} answer one$/, 'bob is noted');

is(buy('ana', 'q1', 0.08, credits => { ana => 0.05, team => 0.05, cap => 0.05 }, below => 0.05), '', 'a better one');
is(spent(), 'ana 0.08, bob 0.05, cap 0.08, team 0.08', 'costs the difference');
is(keep('ana', 'q1', 0.08, 'answer two', below => 0.05), '', 'it is kept');
like(look('q1'), qr/^0\.08 0\.05 \{(team,ana|ana,team),cap\} answer two; 0\.05 0 \{.*\} answer one$/, 'the dearest comes first');

is(buy('bob', 'q1', 0.07, credits => { bob => 0.05, cap => 0.07 }), '', 'bob buys one in between');
is(spent(), 'ana 0.08, bob 0.07, cap 0.08, team 0.08', 'bob pays the difference, the cap nothing');
is(buy('bob', 'q1', 0.07, credits => { bob => 0.07, cap => 0.07 }), '', 'nobody owes anything');
is(last_rows(1), '0.02 0.02 {bob}', 'and there is no row of the log');
is(buy('ana', 'q2', 0.01, price => 0.03), '', 'a release of which a part is kept');
like(last_rows(1), qr/^0\.03 0\.01 /, 'the log tells both');
is(buy('ana', 'q3', 0.02, credits => { cap => 0.005 }, price => 0.025), '', 'two amounts');
like(last_rows(2), qr/^0\.025 0\.02 \{(team,ana|ana,team)\}; 0\.02 0\.02 \{cap\}$/, 'have two rows');
agrees('after debits with credits');

# ---------------------------------------------------------------------------
# What roles know together
# ---------------------------------------------------------------------------

# rho and the sum without sharing
sub together
{
	my ($role, $roles) = @_;

	return value($node, 'test',
		"SET SESSION AUTHORIZATION $role; SELECT dataset || ' ' || rho || ' of ' || rho_sum FROM dp_cdp.spent_together('*', '$roles')");
}

is(together('owner', '{ana}'), 'd 0.135 of 0.135', 'what ana knows');
is(together('owner', '{bob}'), 'd 0.07 of 0.07', 'what bob knows');
is(together('owner', '{ana,bob}'), 'd 0.135 of 0.205', 'together they know what ana knows');
is(value($node, 'test', q{SET SESSION AUTHORIZATION owner; SELECT rho FROM dp_cdp.spent_together('d', '{ana,bob}')}), '0.135', 'the same of one dataset by name');
like(debit_error($node, 'test', 'owner', q{SELECT * FROM dp_cdp.spent_together('other', '{ana}')}), qr/42501: only owners of datasets/, 'a dataset of others');
is(together('postgres', '{ana,bob,ana}'), 'd 0.135 of 0.205', 'asked by a superuser');
is(together('ana', '{ana}'), 'd 0.135 of 0.135', 'ana asks about herself');
is(together('stranger', '{stranger}'), '', 'a stranger knows nothing');
like(debit_error($node, 'test', 'ana', "SELECT * FROM dp_cdp.spent_together('*', '{ana,bob}')"), qr/42501: only owners of datasets/, 'others are not for ana to ask about');
like(debit_error($node, 'test', 'owner', "SELECT * FROM dp_cdp.spent_together('*', '{ana,NULL}')"), qr/ZC004: roles must not be NULL/, 'nobody');
is(value($node, 'test', "SET SESSION AUTHORIZATION owner; SELECT paid_by_roles = (SELECT sum(rho_spent) FROM dp_cdp.budgets) FROM dp_cdp.overview WHERE role IS NULL"),
	't', 'overview shows what roles have paid beside what they know');
is(value($node, 'test', "SELECT sum(repeats) FROM dp_cdp_internal.release_log WHERE granted"), '6', 'each release is one');

my $before = spent();
like(buy('ana', 'q4', 0.02, credits => { cap => 0.01 }), qr/ZC003/, 'credit for what nobody has paid is refused');
like(buy('ana', 'q4', 0.95), qr/ZC001.*asked rho 0\.95, remaining/s, 'more than a budget holds');
like(buy('stranger', 'q4', 0.01), qr/ZC001: role "stranger" has no privacy budget/, 'no budget');
is(spent(), $before, 'nothing of it was debited');
is(look('q4'), '', 'nor marked');
is(buy('bob', 'q5', 0.9), '', 'bob spends most');
like(buy('bob', 'q6', 0.5, credits => {}), qr/ZC001/, 'what a balance owes has to fit');
is(buy('ana', 'q5', 0.5, credits => { cap => 0.5 }), '', 'the cap owes nothing');
is(buy('bob', 'q5', 0.9, credits => { bob => 0.9, cap => 0.9 }), '', 'an empty budget owes nothing');
$node->safe_psql('test', "SELECT dp_cdp.correct_spent('d', 'bob', 0.5, 'test')");
is(buy('bob', 'q5', 0.9, credits => { bob => 0.9, cap => 0.9 }), '', 'nor one that is below nothing');
agrees('after refusals');

# ---------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------

is(keep('ana', 'q1', 0.05, 'answer one'), '', 'the same values again');
like(keep('ana', 'q1', 0.05, 'another'), qr/ZC003: the answer could not be kept and is not shown: .*costs no more/, 'other values are refused');
like(look('q1'), qr/answer one$/, 'what was given stays');
is(buy('ana', 'large', 0.001), '', 'a large answer');
is(keep('ana', 'large', 0.001, q{convert_to(repeat('0123456789', 500000), 'UTF8')}, raw => 1), '', 'is kept');
like(look('large'), qr/5e-06 bytes|5000000 bytes/, 'and read whole');
is(keep('ana', 'nowhere', 0.001, 'x'), '', 'the answer of a dataset that has gone is nobody\'s');
is(look('nowhere'), '', 'and is not kept');
is(look('q1', '2031-01-01'), '', 'not when it is too old');
like(value($node, 'test', "SET SESSION AUTHORIZATION bob; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT kept_look('d', 'q1', '-infinity')"),
	qr/answer one/, 'a read only snapshot is no hindrance');
{
	my ($rc, $out, $err) = $node->psql('test', 'TABLE dp_cdp_internal.kept_answer', extra_params => [ '-U', 'ana' ]);
	like($err, qr/permission denied/, 'nobody reads the table');
}
for my $sql ('DELETE FROM dp_cdp_internal.kept_answer', "UPDATE dp_cdp_internal.kept_answer SET answer = 'x'", 'TRUNCATE dp_cdp_internal.kept_answer')
{
	my ($rc, $out, $err) = $node->psql('test', $sql);
	like($err, qr/table dp_cdp_internal\.kept_answer cannot be changed directly; use dp_cdp\.forget_answers/, $sql);
}

# ---------------------------------------------------------------------------
# Locks of questions
# ---------------------------------------------------------------------------

my $holder = hold_row($node, 'test', "SELECT kept_lock('q1')");
like(debit_error($node, 'test', 'ana', "SET lock_timeout = '200ms'; SELECT kept_lock('q1')"), qr/55P03/, 'one at a time');
is(debit_error($node, 'test', 'ana', "SELECT kept_lock('q2'), kept_unlock('q2')"), '', 'other questions are free');
is(value($node, 'test', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 3"), '1', 'of a class of its own');
release_row($node, $holder);
is(debit_error($node, 'test', 'ana', "BEGIN; SAVEPOINT a; SELECT kept_lock('q1'); ROLLBACK TO a; COMMIT"), '', 'let go');
is(value($node, 'test', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), '0', 'with the subtransaction');

# ---------------------------------------------------------------------------
# Others' locks on answers
# ---------------------------------------------------------------------------

$holder = hold_row($node, 'test', "SELECT FROM dp_cdp_internal.kept_answer WHERE rho = 0.08 FOR UPDATE");
my $run = background($node, 'test', "SET SESSION AUTHORIZATION bob; SELECT kept_debit('d', 80000000000, 'q1', '$began', 80000000000, 0, ARRAY[$id{bob},$id{cap}], ARRAY[80000000000,80000000000]::bigint[])");
wait_waiting($node, 'test', 1);
is(buy('ana', 'q7', 0.001), '', 'others are not held up');
release_row($node, $holder);
like(finish($run), qr/ZC003/, 'goes on, and is refused, as bob has not paid so much');

is(buy('ana', 'held', 0.001), '', 'bought');
my %ends = (
	pg_cancel_backend => qr/57014: canceling private query while its answer was kept; the charge stays, and the same question costs no more/,
	pg_terminate_backend => qr/57P01|server closed the connection/);
for my $end (sort keys %ends)
{
	$holder = hold_row($node, 'test', "SELECT FROM dp_cdp_internal.kept_answer WHERE rho = 0.001 FOR UPDATE");
	$run = background($node, 'test', "SET SESSION AUTHORIZATION ana; SELECT kept_keep('d', 'held', '$began', 1000000000, 0, '$end')");
	wait_waiting($node, 'test', 1);
	$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE query LIKE '%kept_keep%' AND wait_event_type = 'Extension'");
	like(finish($run), $ends{$end}, "$end while an answer is kept");
	release_row($node, $holder);
	like(look('held'), qr/^0\.001 0 \{.*\} -$/, 'it was not kept');
}
$holder = hold_row($node, 'test', 'SELECT FROM dp_cdp_internal.kept_answer WHERE rho = 0.001 FOR UPDATE');
# for five seconds
$run = background($node, 'test', "SET SESSION AUTHORIZATION ana; SELECT kept_keep('d', 'held', '$began', 1000000000, 0, 'held')");
for my $bad ("'-1 day'", "'infinity'", "'200 years'", "'1 month -40 days'")
{
	# before 17 no interval is infinite
	like(debit_error($node, 'test', 'postgres', "SELECT dp_cdp.alter_dataset('d', reuse => $bad)"), qr/ZC004: reuse must be between 0 and 36525 days|22007/, "reuse $bad");
}
like(debit_error($node, 'test', 'bob', "SELECT dp_cdp.forget_answers('d')"), qr/42501: must be owner of dataset "d"/, 'refresh is the owner\'s');
like(debit_error($node, 'test', 'owner', "SELECT dp_cdp.forget_answers('nowhere')"), qr/ZC004: dataset "nowhere" does not exist/, 'of a dataset');
like(finish($run), qr/ZC003: the answer could not be kept and is not shown: the kept answers are being changed by somebody else; the charge stays/,
	'locks of others are not waited for forever');
release_row($node, $holder);
is(keep('ana', 'held', 0.001, 'held'), '', 'drawn again');
like(look('held'), qr/ held$/, 'and kept');

like(value($node, 'test', "SELECT dp_cdp.alter_dataset('d', reuse => '30 days 36 hours'); SELECT reuse FROM dp_cdp.datasets"),
	qr/\n31 days 12:00:00$/, 'hours are days where they can be');

# ---------------------------------------------------------------------------
# Kills: of the worker, of the asker, of the server
# ---------------------------------------------------------------------------

my $now = value($node, 'test', 'SELECT clock_timestamp()');
sub worker_pid { return value($node, 'postgres', "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE backend_type LIKE 'dp_cdp%' AND datname = 'test'"); }

is(buy('ana', 'k1', 0.001, began => $now), '', 'bought');
ok(worker_pid() > 0, 'there is a worker');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . worker_pid() . ')');
is(keep('ana', 'k1', 0.001, 'after the worker', began => $now), '', 'kept by the next worker');
like(look('k1'), qr/after the worker/, 'and read');
is(buy('ana', 'k2', 0.001, began => $now), '', 'bought');
$node->stop('immediate');
$node->start;
like(look('k2'), qr/^0\.001 0 \{.*\} -$/, 'a crash between debit and answer: paid, not drawn');
like(look('k1'), qr/after the worker/, 'what was kept is there');
is(keep('ana', 'k2', 0.001, 'after the crash', began => $now), '', 'drawn then');
$node->stop('immediate');
$node->start;
like(look('k2'), qr/after the crash/, 'and durable');
agrees('after crashes');

# clients that buy and keep, killed at any moment: what was shown is what is there
{
	my %shown;
	my @runs;
	for my $client (1 .. 4)
	{
		my $sql = "SET SESSION AUTHORIZATION ana;\n";
		for my $i (1 .. 40)
		{
			$sql .= "SELECT kept_debit('d', 1000000, 'c$client-$i', '$now', 1000000, 0, '{}', '{}');\n"
			  . "SELECT kept_keep('d', 'c$client-$i', '$now', 1000000, 0, 'v$client-$i');\nSELECT 'shown c$client-$i';\n";
		}
		# each in a file of its own
		my $file = PostgreSQL::Test::Utils::tempdir() . "/client$client.sql";
		PostgreSQL::Test::Utils::append_to_file($file, $sql);
		my %r = (out => '', err => '');
		$r{handle} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('test'), '-f', $file ],
			'<', \undef, '>', \$r{out}, '2>', \$r{err});
		push @runs, \%r;
	}
	$node->poll_query_until('test', "SELECT count(*) >= 10 FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL AND rho = 0.000001")
	  or die 'nothing happens';
	$node->stop('immediate');
	for my $r (@runs)
	{
		eval { $r->{handle}->finish };
		$shown{$_} = 1 for $r->{out} =~ /^shown (\S+)$/mg;
	}
	$node->start;
	cmp_ok(scalar(keys %shown), '>=', 1, 'some answers were shown');
	is(value($node, 'test', "SELECT count(*) FROM unnest('{" . join(',', keys %shown) . "}'::text[]) q"
			. " WHERE coalesce(kept_look('d', q, '-infinity'), '') NOT LIKE '% v' || substr(q, 2)"), 0, 'what was shown before the crash is kept');
	is(value($node, 'test', "SELECT count(*) FROM dp_cdp_internal.kept_answer WHERE paid_by = '{}'"), '0', 'none that nobody paid for');
	agrees('after a crash of many');
}

# ---------------------------------------------------------------------------
# Eviction: whole chains, least recently used first
# ---------------------------------------------------------------------------

$node->safe_psql('test', "SELECT dp_cdp.forget_answers('d')");
is(look('q1'), '', 'refresh ends all');
is(value($node, 'test', "SELECT count(*) FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL OR NOT ended"), '0', 'values are gone');
cmp_ok(value($node, 'test', "SELECT count(*) FROM dp_cdp_internal.kept_answer"), '>', 10, 'who paid stays');
$now = value($node, 'test', 'SELECT clock_timestamp()');
$node->append_conf('postgresql.conf', "dp_cdp.reuse_max_answers = 4\n");
$node->reload;
for my $i (1 .. 4)
{
	is(buy('ana', "e$i", 0.0001, began => $now) . keep('ana', "e$i", 0.0001, "e$i", began => $now), '', "answer $i");
}
$node->safe_psql('test', "SELECT kept_used('e1', '$now')");
is(buy('ana', 'e5', 0.0001, began => $now) . keep('ana', 'e5', 0.0001, 'e5', began => $now), '', 'one too many');
ok($node->poll_query_until('test', "SELECT count(*) = 4 FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL"), 'four are left');
is(value($node, 'test', "SELECT string_agg(convert_from(answer, 'UTF8'), ' ' ORDER BY answer) FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL"),
	'e1 e3 e4 e5', 'the least recently used has gone');
is(look('e2'), '', 'and is not given');
$node->append_conf('postgresql.conf', "dp_cdp.reuse_max_answers = 1000\ndp_cdp.reuse_max_size = 20kB\n");
$node->reload;
for my $i (1 .. 3)
{
	is(buy('ana', "s$i", 0.0001, began => $now)
		  . keep('ana', "s$i", 0.0001, "convert_to(repeat('x', 8000), 'UTF8')", began => $now, raw => 1), '', "large answer $i");
}
ok($node->poll_query_until('test', "SELECT sum(octet_length(answer)) <= 20480 FROM dp_cdp_internal.kept_answer"), 'bytes are limited, too');
like(look('s3'), qr/8000 bytes/, 'the last one is kept');

# by time; the worker looks for that five seconds after an answer, so it is asked for below
$node->safe_psql('test', "SELECT dp_cdp.create_dataset('brief', reuse => '1 second'); SELECT dp_cdp.set_budget('brief', 'ana', rho => 1)");
$now = value($node, 'test', 'SELECT clock_timestamp()');
is(buy('ana', 't1', 0.0001, dataset => 'brief', began => $now) . keep('ana', 't1', 0.0001, 't1', dataset => 'brief', began => $now), '', 'an answer of a second');

# ---------------------------------------------------------------------------
# Drawn above another answer than there was when it was bought
# ---------------------------------------------------------------------------

$now = value($node, 'test', 'SELECT clock_timestamp()');
is(buy('ana', 'increment', 0.0008, began => $now), '', 'a dear one is bought, and not drawn');
is(buy('ana', 'increment', 0.0005, began => $now, credits => { ana => 0.0005, team => 0.0005, cap => 0.0005 }) . keep('ana', 'increment', 0.0005, 'one', began => $now), '', 'a cheap one meanwhile, which is');
is(keep('ana', 'increment', 0.0008, 'two', below => 0.0005, began => $now), '', 'then the dear one is drawn as an increment above it');
like(look('increment'), qr/^0\.0008 0\.0005 \{.*\} two; 0\.0005 0 \{.*\} one$/, 'and read as that');

# ---------------------------------------------------------------------------
# Backups
# ---------------------------------------------------------------------------

$now = value($node, 'test', 'SELECT clock_timestamp()');
is(buy('ana', 'b1', 0.0001, began => $now) . keep('ana', 'b1', 0.0001, 'b1', began => $now), '', 'an answer');
is(buy('ana', 'b2', 0.0001, began => $now), '', 'and one that was not drawn');

sub restored
{
	my ($db) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . "/$db.sql";

	command_ok([ 'pg_dump', '-f', $file, '-d', $node->connstr('test') ], "dump for $db");
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db), '-f', $file ], "restored as $db");
	return;
}

restored('without');
is(value($node, 'without', 'SELECT count(*) FROM dp_cdp_internal.kept_answer'), '0', 'answers are not dumped');
$node->safe_psql('test', "SELECT dp_cdp.alter_dataset('d', reuse_dumped => true)");
is(buy('ana', 'b3', 0.0001, began => $now) . keep('ana', 'b3', 0.0001, 'b3', began => $now), '', 'one more');
restored('dumped');
my $look = sub { return value($node, 'dumped', "SELECT kept_look('d', '$_[0]', '-infinity')") };
is($look->('b1'), '', 'a ledger that waits for its adoption gives none');
$node->safe_psql('dumped', 'SELECT dp_cdp.adopt_ledger()');
like($look->('b1'), qr/ b1$/, 'adopted, it does');
like($look->('b3'), qr/ b3$/, 'one that was kept later, too');
is($look->('b2'), '', 'but none that may have been drawn elsewhere');
is(value($node, 'dumped', "SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'"), '0', 'and the ledger is sound');
is(value($node, 'dumped', "SELECT nextval('dp_cdp_internal.ledger_id_seq') > max(p.id) FROM dp_cdp_internal.kept_answer k, unnest(k.paid_by) AS p(id)"), 't',
	'no balance gets a number that has paid');

# a dump that is restored over a database that is used sets the sequence back, whatever else of it fails
my $number = value($node, 'dumped', "SELECT last_value FROM dp_cdp_internal.ledger_id_seq");
$node->safe_psql('postgres', 'CREATE ROLE dora; CREATE ROLE carl');
$node->safe_psql('dumped', <<EOC);
SELECT dp_cdp.set_budget('d', 'dora', rho => 1);
INSERT INTO dp_cdp_internal.kept_answer (dataset, ledger_id, fingerprint, began, rho, delta, below, paid_by, answer)
	SELECT d.name, d.ledger_id, sha256('dora'), now(), 0.0001, 0, 0, ARRAY[b.ledger_id, d.ledger_id], 'x'
	FROM dp_cdp_internal.dataset d JOIN dp_cdp_internal.budget b ON b.dataset = d.name AND b.role_name = 'dora';
SELECT dp_cdp.drop_budget('d', 'dora');
SELECT setval('dp_cdp_internal.ledger_id_seq', $number);
SELECT dp_cdp.set_budget('d', 'carl', rho => 1);
EOC
is(value($node, 'dumped', q{SELECT b.ledger_id > max(p.id) FROM dp_cdp_internal.budget b, dp_cdp_internal.kept_answer k, unnest(k.paid_by) AS p(id)
	WHERE b.role_name = 'carl' GROUP BY b.ledger_id}), 't', 'nor after the sequence was set back, where who has paid has no budget any more');

# ---------------------------------------------------------------------------
# Pruning, emptying, dropping
# ---------------------------------------------------------------------------

# of the answer of a second, too
ok($node->poll_query_until('test', "SELECT count(*) = 0 FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL AND dataset = 'brief'"), 'an answer ends with its time');
$node->safe_psql('test', "SELECT dp_cdp.drop_dataset('brief', erase_spent => true)");
my ($knew) = together('owner', '{ana,bob}') =~ /^d (\S+) of/;
is(value($node, 'test', 'SELECT dp_cdp.prune_releases(clock_timestamp()) > 0'), 't', 'pruned');
my ($knows, $sum) = together('owner', '{ana,bob}') =~ /^d (\S+) of (\S+)$/;
cmp_ok($knows, '>=', $knew, 'pruning makes what they know no less');
cmp_ok($knows, '<=', $sum, 'nor more than what they have paid');
agrees('after pruning');
like(look('b1'), qr/ b1$/, 'what has not ended is there');
is(value($node, 'test', "SELECT count(*) FROM dp_cdp_internal.kept_answer WHERE ended AND began < now()"), '0', 'who paid for what has ended is forgotten');
$node->safe_psql('dumped', 'SELECT dp_cdp.empty_ledger()');
is(value($node, 'dumped', 'SELECT count(*) FROM dp_cdp_internal.kept_answer'), '0', 'an emptied ledger has no answers');
debit($node, 'test', 'owner', "SELECT dp_cdp.drop_dataset('d', erase_spent => true)");
is(value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.kept_answer'), '0', 'a dataset that is dropped takes its answers along');

# A lookup that finds nothing reads a few blocks, however many answers there are
$node->safe_psql('test', "SELECT dp_cdp.create_dataset('d', reuse => '1 day');"
	  . " INSERT INTO dp_cdp_internal.kept_answer (dataset, ledger_id, fingerprint, began, rho, delta, below, paid_by, answer)"
	  . " SELECT 'd', 1, sha256(i::text::bytea), now(), 0.01, 0, 0, '{1}', 'x' FROM generate_series(1, 5000) i; VACUUM ANALYZE dp_cdp_internal.kept_answer");
cmp_ok(blocks($node, 'test', q{SELECT kept_lookup('d', 100)}) / 100, '<', 10, 'a lookup that finds nothing is no scan');

$node->stop;
done_testing();
