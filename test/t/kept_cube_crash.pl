# A CUBE that dies between its debit and the moment when its answers are kept: all of its sets are paid for then, and
# none is there.  Asked again they are drawn, for nothing, agree, and stay as they are.  One that lives is waited for.

use strict;
use warnings;

use IPC::Run;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;'
	  . ' CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN');
# reading stays where it is for as long as its session says
add_stays($node, 'test');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE v (a boolean NOT NULL, b int NOT NULL CHECK (b IN (0, 1, 2)), x int);
INSERT INTO v SELECT i % 2 = 0, i % 3, i % 100 FROM generate_series(1, 100) i;
SELECT dp_cdp.create_dataset('d', default_rho => 1e-6, reuse => '1 day', max_failures => 1000, consistent => true, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('v', 'd', each_row => true);
SELECT dp_cdp.set_keys('v', 'b', '{0,1,2}'::int[]);
SELECT dp_cdp.set_bounds('v', 'x', 0, 100);
SELECT dp_cdp.set_budget('d', 'ana', rho => 1000), dp_cdp.set_budget('d', 'bob', rho => 1000);
EOC

my $cube = 'SELECT a, b, GROUPING(a, b) AS gid, count(*) AS n, sum(x) AS s FROM v WHERE stays(x) >= 0 GROUP BY CUBE (a, b)';

# what has been debited so far, in prices of one aggregate: ana, bob, the cap
sub spent
{
	return value($node, 'test', "SELECT string_agg(round(rho_spent * 1e6)::text, ' ' ORDER BY who) FROM ("
		  . "SELECT role_name::text AS who, rho_spent FROM dp_cdp_internal.budget UNION ALL SELECT 'cap', rho_spent FROM dp_cdp_internal.dataset) s");
}

# answers that have not ended: those that are there, and those that were paid for and are not
sub answers
{
	return value($node, 'test', 'SELECT count(answer) || \' of \' || count(*) FROM dp_cdp_internal.kept_answer WHERE NOT ended');
}

# waits until the cube's debit has been made, and tells which backend asks; in one session, as there is little time
sub after_debit
{
	my ($then) = @_;

	return value($node, 'test', <<"EOC");
SET client_min_messages = error;
CREATE TEMP TABLE asker (pid int);
DO \$\$
BEGIN
	FOR i IN 1 .. 20000 LOOP
		INSERT INTO asker SELECT pid FROM pg_stat_activity WHERE usename = 'ana' AND backend_type = 'client backend' AND state = 'active'
			AND EXISTS (SELECT FROM dp_cdp_internal.kept_answer WHERE NOT ended AND answer IS NULL);
		IF FOUND THEN
			PERFORM $then FROM asker;
			RETURN;
		END IF;
		PERFORM pg_sleep(0.002);
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
END \$\$;
SELECT pid FROM asker;
EOC
}

# asks for the cube as a client of its own, which reads for some seconds
sub begin_cube
{
	my ($seconds) = @_;
	my %run = (out => '', err => '');

	$run{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('test') . ' user=ana', '-c', "SET test.stay = $seconds", '-c', $cube ], '<', \undef, '>', \$run{out}, '2>', \$run{err});
	return \%run;
}

# margins that are not the sum of the cells, of a cube as text
sub off_margins
{
	my %cells;
	my $off = 0;

	for (map { [ split /\|/, $_, -1 ] } split /\n/, $_[0])
	{
		my ($a, $b, $gid, $n, $s) = @$_;
		$cells{$gid}{"$a|$b"} = [ $n, $s ];
	}
	return 'no cube' unless keys %{ $cells{0} } == 6 && keys %{ $cells{1} } == 2 && keys %{ $cells{2} } == 3 && keys %{ $cells{3} } == 1;
	for my $gid (1 .. 3)
	{
		while (my ($key, $value) = each %{ $cells{$gid} })
		{
			my ($a, $b) = split /\|/, $key, -1;
			my @in = grep { my ($x, $y) = split /\|/; ($gid & 2 || $x eq $a) && ($gid & 1 || $y eq $b) } keys %{ $cells{0} };

			for my $i (0, 1)
			{
				my $sum = 0;
				$sum += $cells{0}{$_}[$i] for @in;
				$off++ if $sum != $value->[$i];
			}
		}
	}
	return $off;
}

my @deaths = (
	[ 'cancelled', sub { after_debit('pg_cancel_backend(pid)') } ],
	[ 'terminated', sub { after_debit('pg_terminate_backend(pid)') } ],
	[ 'the worker killed', sub {
		my $pid = after_debit("pg_terminate_backend((SELECT min(pid) FROM pg_stat_activity WHERE backend_type = 'dp_cdp ledger'))");
		return $pid;
	} ],
	[ 'killed', sub {
		my $pid = after_debit('1');
		kill 'KILL', $pid if $pid;
		return $pid;
	} ],
	[ 'the server stopped', sub {
		my $pid = after_debit('1');
		$node->stop('immediate');
		$node->start;
		return $pid;
	} ]);

for my $death (@deaths)
{
	my ($what, $kill) = @$death;
	my ($ana, $bob, $cap) = split / /, spent();
	# who lives on without a worker waits for the next one
	my $lives_on = $what eq 'the worker killed';
	my $run = begin_cube($lives_on ? 0.5 : 600);
	my $pid = $kill->();
	my $first;

	eval { $run->{handle}->finish };
	chomp($first = $run->{out});
	$node->poll_query_until('postgres', 'SELECT true') or die 'server did not come back';
	cmp_ok($pid, '>', 0, "$what: the debit had been made, and answers were not kept");
	is(spent(), join(' ', $ana + 8, $bob, $cap + 8), "$what: four sets of two columns were paid for");
	if ($lives_on)
	{
		like(answers(), qr/^[08] of 8$/, "$what: all of them are there, or none");
	}
	else
	{
		is($first, '', "$what: nothing was shown");
		is(answers(), '0 of 8', "$what: none of them is there");
	}
	my $again = debit($node, 'test', 'ana', "$cube;");
	is(spent(), join(' ', $ana + 8, $bob, $cap + 8), "$what: asked again it costs nothing");
	is(answers(), '8 of 8', "$what: and all of them are kept");
	is(off_margins($again), 0, "$what: they agree");
	ok($first eq '' || $first eq $again, "$what: what was shown is what is kept");
	is(debit($node, 'test', 'ana', "$cube;"), $again, "$what: and stays");
	my $alone = debit($node, 'test', 'ana', 'SELECT count(*), sum(x) FROM v WHERE stays(x) >= 0; SELECT a, count(*), sum(x) FROM v WHERE stays(x) >= 0 GROUP BY a;');
	isnt($alone, '', "$what: a set alone, which was drawn then, is given");
	is(debit($node, 'test', 'bob', "$cube;"), $again, "$what: somebody else is shown the same");
	is(spent(), join(' ', $ana + 8, $bob + 8, $cap + 8), "$what: and pays for it, and the cap does not");
	is(value($node, 'test', "SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'"), '0', "$what: balances are the log's");
	is(value($node, 'test', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), '0', "$what: no question is locked");
	$node->safe_psql('test', "SELECT dp_cdp.forget_answers('d')");
}

# who asks while the answers that somebody has paid for are read waits for them
my ($ana, $bob, $cap) = split / /, spent();
my $run = begin_cube(1);
cmp_ok(after_debit('1'), '>', 0, 'at once: the debit had been made, and answers were not kept');
my $second = debit($node, 'test', 'bob', "$cube;");
$run->{handle}->finish;
chomp(my $first = $run->{out});
is(off_margins($first), 0, 'at once: an answer that agrees');
is($second, $first, 'at once: who asked meanwhile is shown the same');
is(spent(), join(' ', $ana + 8, $bob + 8, $cap + 8), 'at once: and pays for it, and the cap does not');

$node->stop;
done_testing();
