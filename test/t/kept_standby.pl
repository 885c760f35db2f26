# Kept answers on a hot standby, which gives none, and after its promotion, where they are what they were.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', init => { allows_streaming => 1 });
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; CREATE ROLE ana LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner');
$node->safe_psql('test', <<'EOC');
SET SESSION AUTHORIZATION owner;
CREATE TABLE v (id int PRIMARY KEY, x int);
INSERT INTO v SELECT i, i % 100 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('d', default_rho => 1e-6, reuse => '1 day', max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('v', 'd', each_row => true);
SELECT dp_cdp.set_budget('d', 'ana', rho => 1);
EOC

my $ask = 'SELECT count(*) FROM v';
my $other = 'SELECT count(*) FROM v WHERE x > 3';
my $as_ana = 'SET SESSION AUTHORIZATION ana;';

# what a query of ana's answers, or how it fails
sub asks
{
	my ($server, $sql) = @_;
	my ($rc, $out, $err) = $server->psql('test', $as_ana . $sql);

	return $err eq '' ? $out : $err;
}

sub spent
{
	my ($server) = @_;

	return value($server, 'test', 'SELECT round(rho_spent * 1e6)::text FROM dp_cdp_internal.budget');
}

my $answer = asks($node, $ask);
like($answer, qr/^-?\d+$/, 'an answer');
is(asks($node, $ask), $answer, 'is kept');
is(spent($node), '1', 'and paid for once');

my $standby = standby_of($node, 'standby');

is(value($standby, 'test', 'SELECT count(*) FROM dp_cdp_internal.kept_answer WHERE answer IS NOT NULL'), '1', 'the standby has it');
like(asks($standby, $ask), qr/ERROR:.*standby/, 'and gives it to nobody');
is(asks($standby, $ask) =~ s/LINE.*//sr, asks($standby, $other) =~ s/LINE.*//sr, 'as if there was none');
like(asks($standby, "EXPLAIN $ask"), qr/Release: count\(\*\)  \(stddev=[^)]*\)\n/, 'EXPLAIN there shows what it costs elsewhere');
is(asks($standby, "SELECT reused_since FROM dp_cdp.preview('$ask') WHERE item = 'aggregate'"), '', 'and so does preview');
is(asks($standby, 'SELECT rho::float8 FROM dp_cdp.spent_together(\'*\', \'{ana}\')'), '1e-06', 'what ana knows is told there, too');
is(asks($standby, "SELECT fingerprint FROM dp_cdp.query_fingerprint('$ask')"), asks($node, "SELECT fingerprint FROM dp_cdp.query_fingerprint('$ask')"), 'a fingerprint is the same there');

$node->stop;
$standby->promote;
like(asks($standby, $ask), qr/ZC003|adopt_ledger/, 'until the ledger is adopted nothing is given after a promotion');
$standby->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(asks($standby, $ask), $answer, 'then it is what it was');
is(spent($standby), '1', 'and paid for');
like(asks($standby, $other), qr/^-?\d+$/, 'another question');
is(spent($standby), '2', 'is bought');
$standby->stop;

done_testing();
