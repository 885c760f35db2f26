# Crashes while answers are bought, made better, derived and given again: of one
# price one question has one answer, whatever dies; who was shown it has paid; no balance
# has paid more than its dearest answers; no question stays locked.
#
# Then who asks again after a cancel while the worker commits, who is ended between reading and keeping, and answers that are too
# long to be kept.

use strict;
use warnings;

use IPC::Run;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $UNIT = 1e-6;
my $QUESTIONS = 12;
my @prices = (1, 2, 4, 8, 16);
my @roles = qw(ana bob eve);

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', "CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;"
	  . join('', map { "CREATE ROLE $_ LOGIN;" } @roles));
debit($node, 'test', 'owner', <<'EOC' . join('', map { "SELECT dp_cdp.set_budget('d', '$_', rho => 1000, delta => 1e-6);" } @roles));
CREATE TABLE v (id int PRIMARY KEY, g int, x int);
INSERT INTO v SELECT i, i % 12, i % 100 FROM generate_series(1, 12000) i;
SELECT dp_cdp.create_dataset('d', default_rho => 1e-6, reuse => '1 day', max_failures => 1000000, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('v', 'd', each_row => true);
SELECT dp_cdp.set_bounds('v', 'x', 0, 100);
EOC

# what has been spent, what was when a round began, and when that was
$node->safe_psql('test', <<'EOC');
CREATE VIEW public.spent AS
	SELECT role_name::text AS who, ledger_id, rho_spent FROM dp_cdp_internal.budget UNION ALL SELECT 'cap', ledger_id, rho_spent FROM dp_cdp_internal.dataset;
CREATE VIEW public.began AS SELECT coalesce(forgotten_at, '-infinity') AS forgotten_at FROM dp_cdp_internal.dataset;
CREATE TABLE public.before AS TABLE public.spent;
EOC

# ---------------------------------------------------------------------------
# Clients
# ---------------------------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir();
my $stop = "$dir/stop";

# statements of one connection, in an order of its own
sub script
{
	my ($client, $role) = @_;
	my $sql = "SET SESSION AUTHORIZATION $role;\nSET lock_timeout = '20s';\n";

	for (1 .. 60)
	{
		my $q = int(rand($QUESTIONS));
		my $rho = $prices[ int(rand(@prices)) ] * $UNIT;
		my $count = "SELECT count(*) AS n FROM v WHERE g = $q";
		my @ways = (
			"SELECT 'got $role $q ' || n FROM ($count) s",
			"SELECT 'got $role $q ' || n FROM ($count) s",
			"SELECT 'got $role $q ' || n FROM ($count UNION ALL $count) s");

		my $ask = $ways[ int(rand(@ways)) ];
		my $told = "SELECT DISTINCT 'with $role $q ' || stddev FROM dp_cdp.last_release()";

		# so that an answer whose price was not told is not taken for the next one's
		$sql .= "\\echo asks\nSET dp_cdp.rho = $rho;\n";
		if (rand() < 0.2)
		{
			$sql .= "BEGIN READ ONLY;\n$ask;\n$told;\nROLLBACK;\n";
		}
		elsif (rand() < 0.2)
		{
			$sql .= "BEGIN;\nSAVEPOINT s;\n$ask;\n$told;\nROLLBACK TO s;\nCOMMIT;\n";
		}
		else
		{
			$sql .= "$ask;\n$told;\n";
		}
	}
	return $sql;
}

sub start_clients
{
	my ($n) = @_;
	my @runs;

	unlink $stop;
	for my $client (1 .. $n)
	{
		my $file = "$dir/client$client.sql";
		my %r = (out => '', err => '');

		open my $handle, '>', $file or die;
		print $handle script($client, $roles[ $client % @roles ]);
		close $handle;
		$r{handle} = IPC::Run::start(
			[ 'bash', '-c', 'until [ -e "$0" ]; do psql -XAtq -d "$1" -f "$2"; sleep 0.05; done', $stop, $node->connstr('test'), $file ],
			'<', \undef, '>', \$r{out}, '2>', \$r{err});
		push @runs, \%r;
	}
	return @runs;
}

sub stop_clients
{
	open my $handle, '>', $stop or die;
	close $handle;
	eval { $_->{handle}->finish } for @_;
	return join('', map { $_->{out} } @_);
}

# ---------------------------------------------------------------------------
# What has to be true
# ---------------------------------------------------------------------------

my %answer;      # question and price => answer
my %knows;       # role and question => dearest price that was shown

sub price_of
{
	my ($stddev) = @_;
	my ($best) = sort { abs(log($a * $UNIT * 2 * $stddev**2)) <=> abs(log($b * $UNIT * 2 * $stddev**2)) } @prices;

	return $best;
}

sub read_answers
{
	my ($what, $out) = @_;
	my $seen = 0;
	my $others = 0;
	my %got;

	for my $line (split /\n/, $out)
	{
		$got{"$1 $2"}{$3} = 1 if $line =~ /^got (\w+) (\d+) (-?\d+)$/;
		if ($line =~ /^with (\w+) (\d+) ([\d.e+-]+)$/)
		{
			my ($role, $q, $price) = ($1, $2, price_of($3));
			my @values = keys %{ $got{"$role $q"} || {} };

			%got = ();
			next unless @values;
			$seen++;
			$answer{"$q $price"} //= $values[0];
			$others += grep { $_ ne $answer{"$q $price"} } @values;
			$knows{"$role $q"} = $price if $price > ($knows{"$role $q"} // 0);
		}
		# of a statement whose price was not told
		%got = () if $line !~ /^got/;
	}
	cmp_ok($seen, '>', 20, "$what: answers were shown");
	is($others, 0, "$what: a question has one answer at one price");
	return;
}

sub holds
{
	my ($what) = @_;

	is(value($node, 'test', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), '0', "$what: no question is locked");
	is(value($node, 'test', "SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'"), '0', "$what: balances are the log's");
	is(value($node, 'test', "SELECT count(*) FROM (SELECT FROM dp_cdp_internal.kept_answer WHERE began > (SELECT forgotten_at FROM public.began) GROUP BY fingerprint HAVING count(DISTINCT began) > 1) s"), '0',
		"$what: a question has one chain");
	# one column each: a balance has paid for the dearest answer of each question
	is(value($node, 'test', <<'EOC'), '', "$what: each balance has paid for the dearest it knows, and no more");
WITH b AS (SELECT s.who, s.ledger_id, s.rho_spent - (SELECT before.rho_spent FROM public.before WHERE before.who = s.who) AS rho_spent FROM public.spent s)
SELECT string_agg(who || ' ' || rho_spent || ' ' || knows, ', ') FROM (
	SELECT who, rho_spent, coalesce((SELECT sum(most) FROM (SELECT max(rho) AS most FROM dp_cdp_internal.kept_answer k WHERE b.ledger_id = ANY (paid_by) AND began > (SELECT forgotten_at FROM public.began) GROUP BY fingerprint) m), 0) AS knows FROM b) s
WHERE rho_spent <> knows
EOC
	my %paid = map { split /=/ } split /\n/, value($node, 'test', "SELECT b.role_name || '=' || count(DISTINCT k.fingerprint)"
		  . " FROM dp_cdp_internal.budget b JOIN dp_cdp_internal.kept_answer k ON b.ledger_id = ANY (k.paid_by) AND k.began > (SELECT forgotten_at FROM public.began) GROUP BY b.role_name");
	for my $role (@roles)
	{
		cmp_ok(scalar(grep { /^$role / } keys %knows), '<=', $paid{$role} // 0, "$what: $role has paid for what it was shown");
	}
	return;
}

# everybody asks everything once more, and nobody dies
sub calm
{
	my ($what) = @_;
	my $out = '';
	my %before = %knows;

	for my $role (@roles)
	{
		$out .= debit($node, 'test', $role, join('', map {
			my $rho = ($before{"$role $_"} // 1) * $UNIT;
			"SET dp_cdp.rho = $rho; SELECT 'got $role $_ ' || count(*) FROM v WHERE g = $_;"
			  . "SELECT 'with $role $_ ' || stddev FROM dp_cdp.last_release();" } 0 .. $QUESTIONS - 1)) . "\n";
	}
	read_answers($what, $out);
	holds($what);
	return;
}

sub signal_backend
{
	my ($function) = @_;

	$node->psql('postgres', "SELECT $function(pid) FROM pg_stat_activity"
		  . " WHERE datname = 'test' AND backend_type = 'client backend' AND state = 'active' ORDER BY random() LIMIT 1");
	return;
}

sub kill_one
{
	my ($where) = @_;
	my $pid = value($node, 'postgres', "SELECT pid FROM pg_stat_activity WHERE $where ORDER BY random() LIMIT 1");

	kill 'KILL', $pid if $pid;
	return $pid || 0;
}

# waits for a server that has noticed that a process was killed; 0: none was
sub wait_for_server
{
	my ($killed) = @_;

	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $killed)") or die 'server did not come back';
	return;
}

# ends all answers, for a round of its own
sub anew
{
	%answer = %knows = ();
	$node->safe_psql('test', "SELECT dp_cdp.forget_answers('d')");
	$node->safe_psql('test', 'DELETE FROM public.before; INSERT INTO public.before TABLE public.spent');
	return;
}

# A mistake in the order of debit, values and locks shows at most signals; three or ten of a kind find it, more what
# depends on a moment.
my @rounds = (
	[ 'backends terminated and cancelled', sub {
		for (1 .. by_run(10, 30))
		{
			signal_backend($_ % 3 ? 'pg_terminate_backend' : 'pg_cancel_backend');
			select undef, undef, undef, 0.05;
		}
	} ],
	[ 'the worker terminated and killed', sub {
		for (1 .. by_run(3, 6))
		{
			$node->psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'");
			select undef, undef, undef, 0.2;
		}
		wait_for_server(kill_one(q{backend_type = 'dp_cdp ledger'}));
		select undef, undef, undef, by_run(0.3, 1);
	} ],
	[ 'backends killed', sub {
		for (1 .. by_run(1, 2))
		{
			wait_for_server(kill_one(q{datname = 'test' AND backend_type = 'client backend'}));
			select undef, undef, undef, by_run(0.3, 0.7);
		}
	} ],
	[ 'the server stopped', sub {
		for (1 .. by_run(1, 2))
		{
			$node->stop('immediate');
			$node->start;
			select undef, undef, undef, by_run(0.3, 0.8);
		}
	} ]);

srand(17);
for my $round (@rounds)
{
	my ($what, $chaos) = @$round;
	my @clients = start_clients(6);

	my $shown = 0;

	for (1 .. 9000)
	{
		$_->{handle}->pump_nb for @clients;
		last if ($shown = () = join('', map { $_->{out} } @clients) =~ /^with /mg) > 20;
		select undef, undef, undef, 0.02;
	}
	die 'nothing happens' if $shown <= 20;
	$chaos->();
	my $out = stop_clients(@clients);
	wait_for_server(0);
	read_answers($what, $out);
	holds($what);
	calm("$what, afterwards");
	anew();
}

# ---------------------------------------------------------------------------
# Cancelled while the worker commits: who asks next looks when that is done
# ---------------------------------------------------------------------------

# a synchronous standby that is not there keeps the worker in its commit
sub wanted_standby
{
	my ($name) = @_;

	$node->append_conf('postgresql.conf', "synchronous_standby_names = '$name'\n");
	$node->reload;
	# the checkpointer tells others
	$node->poll_query_until('postgres', "SELECT pg_reload_conf() AND current_setting('synchronous_standby_names') = '$name'");
	return unless $name;
	my $commit = background($node, 'postgres', 'SET synchronous_commit = on; CREATE TABLE waits ()');
	waits_for_standby('client backend');
	return $commit;
}

sub waits_for_standby
{
	my ($type) = @_;

	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = '$type' AND wait_event = 'SyncRep'")
	  or die "$type does not wait for the standby";
	return;
}

my $asked = 'SET dp_cdp.rho = 1e-6; SELECT count(*) FROM v WHERE g = 100';

sub spent
{
	return value($node, 'test', "SELECT string_agg(round(rho_spent * 1000000)::text, ' ' ORDER BY who) FROM public.spent WHERE who IN ('ana', 'cap')");
}

$node->append_conf('postgresql.conf', "wal_level = replica\nmax_wal_senders = 2\n");
$node->restart;
# a worker that begins writes something itself
debit($node, 'test', 'ana', 'SET dp_cdp.rho = 1e-6; SELECT count(*) FROM v WHERE g = 1000');
my @spent = split / /, spent();
my $commit = wanted_standby('nobody');
my $first = background($node, 'test', "SET SESSION AUTHORIZATION ana; $asked");
wait_decided($node, 'test');
waits_for_standby('dp_cdp ledger');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = 'test' AND wait_event_type = 'Extension'");
like(finish($first), qr/while it was charged/, 'cancelled while it is charged');
my $again = background($node, 'test', "SET SESSION AUTHORIZATION ana; $asked");
wait_waiting($node, 'test', 1);
wanted_standby('');
is(finish($again) . finish($commit), '', 'asked again at once, it is answered');
is(spent(), join(' ', map { $_ + 1 } @spent), 'for what was charged');
is(debit($node, 'test', 'ana', $asked) . "\n", $again->{out}, 'and stays what it is');
anew();

# ---------------------------------------------------------------------------
# Ended between reading and keeping: asked again, rows are read for nothing, so that is a failure
# ---------------------------------------------------------------------------

# reading waits for whoever has this lock
$node->safe_psql('test', <<'EOC');
CREATE FUNCTION waits(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN PERFORM pg_advisory_lock_shared(77); PERFORM pg_advisory_unlock_shared(77); END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('waits(int)');
EOC

sub failures
{
	return value($node, 'test', q{SELECT failures FROM dp_cdp_internal.budget WHERE role = 'ana'::regrole});
}

my $gate = $node->background_psql('test');
my $lock = $node->background_psql('test');
foreach my $how ([ 'pg_cancel_backend', "g = 5 AND x < 101", 0 ], [ 'pg_terminate_backend', "g = 5 AND x < 102", 0 ], [ 'pg_cancel_backend', "g = 5 AND x < 103 AND now() > '2000-01-01'", 1 ])
{
	my ($function, $condition, $price) = @$how;
	my $query = "SET SESSION AUTHORIZATION ana; SET dp_cdp.rho = 1e-6; SELECT count(*) FROM v WHERE waits(id) > 0 AND $condition";
	my $failures = failures();

	$gate->query_safe('SELECT pg_advisory_lock(77)');
	my $reads = background($node, 'test', $query);
	$node->poll_query_until('test', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND NOT granted}) or die 'nobody reads';
	$lock->query_safe('BEGIN; LOCK TABLE dp_cdp_internal.kept_answer');
	$gate->query_safe('SELECT pg_advisory_unlock(77)');
	wait_waiting($node, 'test', 1);
	$node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE datname = 'test' AND wait_event_type = 'Extension'");
	select undef, undef, undef, 0.1;
	$lock->query_safe('ROLLBACK');
	like(finish($reads), $function eq 'pg_cancel_backend' ? qr/ERROR: .*the charge stays.*failure/ : qr/terminating connection/, "$condition: ended while its answer was kept");
	ok($node->poll_query_until('test', "SELECT failures = $failures + 1 FROM dp_cdp_internal.budget WHERE role = 'ana'::regrole"), '... which is a failure');
	my $before = value($node, 'test', 'SELECT rho_spent FROM dp_cdp_internal.dataset');
	debit($node, 'test', 'ana', $query);
	is(value($node, 'test', "SELECT trim_scale((rho_spent - $before) * 1000000) FROM dp_cdp_internal.dataset"), "$price", $price ? '... and asked at another time it is paid for' : '... and costs no more');
	is(failures(), $failures + 1, '... answered');
}
$gate->quit;
$lock->quit;
anew();

# ---------------------------------------------------------------------------
# Too long to be kept
# ---------------------------------------------------------------------------

sub paid
{
	my ($role, $sql) = @_;
	my $before = value($node, 'test', "SELECT sum(rho_spent) FROM dp_cdp_internal.dataset");
	my $out = debit($node, 'test', $role, "SET dp_cdp.rho = 1e-6; $sql");

	return (value($node, 'test', "SELECT trim_scale((sum(rho_spent) - $before) * 1000000) FROM dp_cdp_internal.dataset"), $out);
}

$node->append_conf('postgresql.conf', "dp_cdp.reuse_max_size = 1kB\n");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('dp_cdp.reuse_max_size') = '1kB'});
$node->safe_psql('test', "SELECT dp_cdp.set_keys('v', 'id', (SELECT array_agg(i) FROM generate_series(1, 2000) i))");
# ten draws of a deviation of hundreds: two of these answers are never equal
my $long = 'SELECT count(*) FROM v GROUP BY id ORDER BY id LIMIT 10;';
my ($cost, $shown) = paid('ana', $long);
is($cost, '1', 'an answer that is too long is paid for');
like($shown, qr/^(?:-?\d+\n){9}-?\d+$/, 'and shown');
is(value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL OR NOT ended'), '0', 'and not kept');
($cost, my $second) = paid('ana', $long);
is($cost, '1', 'asked again it is bought again');
isnt($second, $shown, 'as another answer');
($cost, my $both) = paid('ana', 'SELECT id, count(*) FROM v GROUP BY id UNION ALL SELECT id, count(*) FROM v GROUP BY id ORDER BY id LIMIT 2;');
is($cost, '1', 'twice in a statement it is one');
like($both, qr/^1\|(-?\d+)\n1\|\1$/, 'shown twice');

# a better answer whose last increment is too long, as it has more noise: whoever asks next is shown another
# draw, so that both together are not one answer of that price
$node->append_conf('postgresql.conf', "dp_cdp.reuse_max_size = 3kB\n");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('dp_cdp.reuse_max_size') = '3kB'});
my $known = "(SELECT rho FROM dp_cdp.spent_together('*', ARRAY['" . join("','", @roles) . "']::regrole[]))";
my $gap = "SELECT trim_scale($known - rho_spent) FROM dp_cdp_internal.dataset";
my $gap_before = value($node, 'test', $gap);
foreach my $asked ([0, '100'], [0, '100.000001'], [1, '100.000001'], [2, '100.000001'])
{
	my ($role, $rho) = ($roles[ $asked->[0] ], $asked->[1]);

	debit($node, 'test', $role, "SET dp_cdp.rho = $rho; SELECT count(*) FROM v GROUP BY id ORDER BY id LIMIT 1");
}
is(value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.kept_answer WHERE rho = 100.000001 AND below = 100 AND ended AND answer IS NULL'), '1',
	'a better answer whose last increment is too long is not kept');
is(value($node, 'test', $gap), $gap_before, 'and roles together are told to know as much more as the cap has paid');
is(value($node, 'test', "SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'"), '0', 'the ledger is sound');

$node->stop;
done_testing();
