# A long audit and many datasets: what a look at them visits, in blocks.  How long
# adopting takes "make drills ONLY=adopt" tells.

use strict;
use warnings;

use LedgerTest;
use Test::More;

my $node = ledger_node('main', conf => "shared_buffers = 256MB\n");
ledger_database($node, 'test');
$node->safe_psql('test', q{
	CREATE ROLE dba LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE busy LOGIN; CREATE ROLE team; CREATE ROLE member LOGIN IN ROLE team;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
	SET SESSION AUTHORIZATION dba;
	SELECT dp_cdp.create_dataset('d');
	SELECT dp_cdp.set_budget('d', r::regrole, rho => 100000) FROM unnest('{ana,busy,team}'::text[]) r;
});
my $rows = 1_000_000;
# what an export would bring back: of busy, and every 50,000th of ana
$node->safe_psql('test', qq{
	INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, application, aggregates, groups, rho, delta, stddev, granted,
		kind, query, tables, client, released_at, paid_by, role_name, session_role_name)
	SELECT 'd', r.role, r.role, 'notebook', 'dp_count(*), dp_sum(cost)', 'dept', 0.01, 0, '7.08, 1234.5', true, 'granted',
		'SELECT dept, dp_count(*), dp_sum(cost) FROM visits JOIN patients USING (patient_id) WHERE visited_on > now() - interval ''1 year'' GROUP BY dept ORDER BY dept',
		'public.visits, public.patients', '10.0.0.7', now() - interval '1 day' * 365 * (1 - i / $rows.0), ARRAY[r.id, d.ledger_id], r.role_name, r.role_name
	FROM generate_series(1, $rows) i
		JOIN LATERAL (SELECT role, role_name, ledger_id AS id FROM dp_cdp_internal.budget WHERE role = CASE WHEN i % 50000 = 0 THEN 'ana'::regrole ELSE 'busy'::regrole END) r ON true
		JOIN dp_cdp_internal.dataset d ON d.name = 'd'});
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.01)});
$node->safe_psql('test', 'VACUUM ANALYZE dp_cdp_internal.release_log');
is(value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.release_log'), $rows + 1, "$rows rows");

for ([ 'dba', 'the owner' ], [ 'ana', 'an analyst with few rows' ], [ 'busy', 'an analyst with nearly all' ], [ 'member', 'an analyst with none' ],
	[ 'postgres', 'a superuser' ])
{
	my ($role, $who) = @$_;

	cmp_ok(blocks($node, 'test', 'SELECT * FROM dp_cdp.releases ORDER BY id DESC LIMIT 10', $role), '<', 200, "blocks of the last ten rows, for $who");
}
my $days = 'SELECT released_at::date, sum(rho) FROM %s WHERE granted GROUP BY 1 ORDER BY 1';
my $plain = blocks($node, 'test', sprintf($days, 'dp_cdp_internal.release_log'));
for ([ 'dba', 'the owner' ], [ 'busy', 'an analyst with nearly all' ])
{
	my ($role, $who) = @$_;

	cmp_ok(blocks($node, 'test', sprintf($days, 'dp_cdp.releases'), $role), '<', 1.5 * $plain, "blocks of spending by day, of $plain of the bare table, for $who");
}
is(value($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT count(*) FROM dp_cdp.releases'), $rows / 50000 + 1, 'of all rows, his');
is(value($node, 'test', q{SELECT severity FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'the ledger adds up');
cmp_ok(value($node, 'test', q{SELECT dp_cdp.prune_releases(now() - interval '1 month')}), '>', 0.9 * $rows, 'eleven months are pruned');
is(value($node, 'test', q{SELECT severity FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'and it adds up still');

# many datasets: what looks at each pair of them, or at all for each
$node->safe_psql('test', q{SELECT dp_cdp.empty_ledger()});

# makes datasets, every tenth of them with a budget; blocks of a look by role, for each of them
sub blocks_of_datasets
{
	my ($from, $to) = @_;

	$node->safe_psql('test', qq{SET SESSION AUTHORIZATION dba;
		SELECT count(dp_cdp.create_dataset('many ' || i, rho => 10)) FROM generate_series($from, $to) i;
		SELECT count(dp_cdp.set_budget('many ' || i, 'ana', rho => 1)) FROM generate_series($from, $to, 10) i});
	$node->safe_psql('test', 'VACUUM ANALYZE');
	return (map({ blocks($node, 'test', 'SELECT count(*) FROM dp_cdp.check_setup()', $_) / $to } qw(postgres dba)),
		blocks($node, 'test', 'SELECT count(*) FROM dp_cdp.datasets', 'ana') / $to);
}

my @few = blocks_of_datasets(1, 500);
my @many = blocks_of_datasets(501, 20_000);
for my $i (0 .. 2)
{
	cmp_ok($many[$i], '<', 2 * $few[$i], 'blocks for each of 20,000 datasets, of 500: ' . ('check_setup of a superuser', 'of their owner', "an analyst's datasets")[$i]);
}
is(value($node, 'test', 'SET SESSION AUTHORIZATION ana; SELECT count(*) FROM dp_cdp.datasets'), 2001, 'datasets of an analyst');

$node->stop;
done_testing();
