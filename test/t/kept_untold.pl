# What was drawn is told when it is kept, and not before: whoever ends a query in between asks the same again for
# nothing, and what he sees then is drawn anew.

use strict;
use warnings;

use LedgerTest qw(:DEFAULT add_waits wait_at_gate);
use PostgreSQL::Test::Cluster;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN; CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE v (id int, g int NOT NULL, x int);
INSERT INTO v SELECT i % 150, i % 10, 100 FROM generate_series(1, 3000) i;
SELECT dp_cdp.create_dataset('d', reuse => '1 day');
SELECT dp_cdp.protect_table('v', 'd', unit => 'id');
SELECT dp_cdp.set_keys('v', 'g', ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
SELECT dp_cdp.set_budget('d', 'ana', rho => 10);
EOC
add_waits($node, 'test');
my $gate = $node->background_psql('test');
my $lock = $node->background_psql('test');

# Asks what waits while it reads rows, and ends that: there, or while answers are kept.  Returns what was told until then, and what the report has.
sub ended
{
	my ($query, $where) = @_;

	$gate->query_safe('SELECT pg_advisory_lock(1, 77)');
	my $asks = background($node, 'test', "SET SESSION AUTHORIZATION ana;\n$query;\nSELECT count(*) || ' lines' FROM dp_cdp.last_release();");
	wait_at_gate($node, 'test', 1);
	$asks->{handle}->pump_nb;
	my $told = $asks->{err};
	if ($where eq 'keeps')
	{
		$lock->query_safe('BEGIN; LOCK TABLE dp_cdp_internal.kept_answer');
		$gate->query_safe('SELECT pg_advisory_unlock(1, 77)');
		wait_waiting($node, 'test', 1);
	}
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = 'test' AND backend_type = 'client backend' AND state = 'active'});
	if ($where eq 'keeps')
	{
		select undef, undef, undef, 0.1;
		$lock->query_safe('ROLLBACK');
	}
	like(finish($asks), qr/ERROR:  57014: .*failure/, "ended while it $where");
	$gate->query_safe('SELECT pg_advisory_unlock(1, 77)') if $where eq 'reads';
	return ($told, $asks->{out});
}

# 19 people are too few
my ($told, $report) = ended('SELECT avg(x) FROM v WHERE id < 20 UNION ALL SELECT avg(x + 1) FROM v WHERE waits(id) > 0', 'reads');
is($told, '', 'whether bounds were found is not told before it is kept');
is($report, "0 lines\n", '... nor reported');
(undef, $report) = ended('SELECT g, count(*) FROM v GROUP BY g UNION ALL SELECT 0, count(*) FROM v WHERE waits(id) > 0', 'reads');
is($report, "0 lines\n", 'nor is which limit was found reported');
(undef, $report) = ended('SELECT g, dp_avg(x, 0, 100) FROM v WHERE waits(id) > 1 GROUP BY g', 'keeps');
is($report, "0 lines\n", '... nor errors of groups, which follow from noisy counts of theirs');

my $spent = balance($node, 'test', 'd', 'ana');
my $again = background($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT avg(x) FROM v WHERE id < 20 UNION ALL SELECT avg(x + 1) FROM v WHERE waits(id) > 0');
like(finish($again), qr/^[^\n]*WARNING: [^\n]*avg\(x\) is NULL, as too few people/, 'asked again, it is');
is(balance($node, 'test', 'd', 'ana'), $spent, '... for nothing');

# each is told once
for my $case ([ '', 'SELECT g, avg(x) FROM v WHERE id < 19 GROUP BY ROLLUP (g)', 'by several groupings' ], [ "SET dp_cdp.target_error = '10%';", 'SELECT avg(x) FROM v WHERE id < 18', 'by a pilot and its release' ])
{
	my ($setting, $query, $how) = @$case;

	is(scalar(() = finish(background($node, 'test', "SET SESSION AUTHORIZATION ana; $setting $query")) =~ /is NULL, as too few people/g), 1, "what is lacking is told once, $how");
}
$_->quit for $gate, $lock;

done_testing();
