# Long values while the lock table is full: nothing fails for a row that has one, as its table's locks are taken before the debit.

use strict;
use warnings;

use LedgerTest qw(:DEFAULT fill_locks empty_locks session ask);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', conf => "max_connections = 20\nautovacuum = off\n");
ledger_database($node, 'test');
# a lock table that is soon full, which CREATE EXTENSION would not do with
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = 10');
$node->restart;
$node->safe_psql('test', 'CREATE ROLE owner LOGIN; GRANT ALL ON SCHEMA public TO owner; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner; CREATE ROLE cat LOGIN');
debit($node, 'test', 'owner', <<'EOC');
CREATE TABLE letters (person int NOT NULL, note text);
INSERT INTO letters SELECT i, CASE WHEN i IN (7, 17) THEN (SELECT string_agg(md5(j::text || i), '') FROM generate_series(1, 400) j) ELSE 'x' END FROM generate_series(1, 1000) i;
CREATE INDEX ON letters (person);
SELECT dp_cdp.create_dataset('l', default_rho => 1e-6, max_failures => 1000, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('letters', 'l', unit => 'person');
SELECT dp_cdp.set_budget('l', 'cat', rho => 1000);
EOC
$node->safe_psql('test', 'ANALYZE letters; CREATE SCHEMA locks; GRANT USAGE ON SCHEMA locks TO cat;' . join '', map { "CREATE TABLE locks.l$_ (); GRANT ALL ON locks.l$_ TO cat;" } 1 .. 40);
my $hog = $node->background_psql('test', on_error_stop => 0);
my $letter = q{SELECT dp_count(*) IS NULL FROM letters WHERE person = 7 AND note LIKE '%zz%'};
my %said = (answered => 0, refused => 0);
for my $free (by_run([ 2, 3, 4, 8 ], [ 0 .. 8 ])->@*)
{
	# a process has places of its own for sixteen relations
	my $cat = session($node, 'test', 'cat', 'SET enable_seqscan = off', 'BEGIN', $letter =~ s{= 7}{= 3}r,
		map { "LOCK TABLE locks.l$_ IN ACCESS SHARE MODE" } 1 .. 40);
	fill_locks($hog, $free);
	my $error = ask($cat, $letter);
	empty_locks($hog);
	$cat->quit;
	$said{ $error eq '' ? 'answered' : 'refused' }++;
	like($error, qr/^$|^53200: out of shared memory$|nothing was (?:debited|charged)/, "$free places: a person with a letter is answered, or refused for nothing");
}
cmp_ok($said{$_}, '>', 0, "some were $_") for qw(answered refused);
is(value($node, 'test', q{SELECT sum(failures) FROM dp_cdp_internal.budget WHERE dataset = 'l'}), '0', 'and none failed while rows were read');

$hog->quit;
$node->stop;
done_testing();
