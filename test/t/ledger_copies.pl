# Copies of the data directory, by whatever means: their balances are those of
# another place, and are not used before somebody says so.  The original goes on.

use strict;
use warnings;

use File::Basename;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $refused = qr/ZC003: the privacy ledger was copied, restored or promoted.*dp_cdp\.adopt_ledger\(\).*/s;
my $copied = qr/${refused}DETAIL:  The ledger was written in another data directory, of which this one is a copy, or a former state of this one was put back\. The dataset's owner can adopt dataset "d" by itself: dp_cdp\.adopt_ledger\(dataset => 'd'\)\./;
my $ask = q{SELECT dp_cdp.debit_budget('d', 1)};

my $node = ledger_node('main', init => { allows_streaming => 1, extra => [ '-k', '-g', '--wal-segsize=1' ] }, conf => "allow_in_place_tablespaces = on\nwal_keep_size = 256MB\n");
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN');
dataset($node, 'test', 'd');
budget($node, 'test', 'd', 'ana', 1000);

# files of a database, and the one that its stamp names
sub files
{
	my ($db) = @_;
	return glob $node->data_dir . '/dp_cdp/ledger.' . value($node, $db, 'SELECT oid FROM pg_database WHERE datname = current_database()') . '.*';
}

sub file_of
{
	my ($db) = @_;
	return $node->data_dir . '/dp_cdp/' . value($node, $db, q{SELECT format('ledger.%s.%s', d.oid, s.file) FROM pg_database d, dp_cdp_internal.ledger_stamp s WHERE datname = current_database()});
}

# ---------------------------------------------------------------------------
# The file
# ---------------------------------------------------------------------------

is_deeply([ files('test') ], [], 'no file before the first debit');
is(debit_error($node, 'test', 'ana', $ask), '', 'the first debit');
my $file = file_of('test');
is_deeply([ files('test') ], [$file], 'makes the one that the stamp names');
my ($token) = slurp_file($file) =~ /^dp_cdp ledger\n([0-9a-f]{32})\nThis file tells .*copy it by itself\.\n$/;
ok($token, 'it says what it is');
is(value($node, 'test', 'SELECT file FROM dp_cdp_internal.ledger_stamp'), $token, 'and which');
like(value($node, 'test', 'SELECT place FROM dp_cdp_internal.ledger_stamp'), qr/^inode \d+(, (born \d+\.\d{9}|generation \d+))?$/, 'and its place');
note('place: ', value($node, 'test', 'SELECT place FROM dp_cdp_internal.ledger_stamp'));
is(sprintf('%o %o', (stat $file)[2] & 07777, (stat dirname($file))[2] & 07777), '640 750', 'readable as the data directory is');
is(value($node, 'test', 'SELECT dp_cdp_internal.ledger_problem()'), '', 'no problem');
is(value($node, 'test', q{SELECT count(*) FROM dp_cdp.check_setup() WHERE object IN ('ledger', 'dp_cdp.notice_copies')}), '0', 'nothing to check');

# restarts, and a crash
$node->restart;
is(debit_error($node, 'test', 'ana', $ask), '', 'a restart is no copy');
$node->stop('immediate');
$node->start;
is(debit_error($node, 'test', 'ana', $ask), '', 'nor is a crash');

# a crash between the file and its stamp leaves one that nobody names, whole or not
ledger_database($node, 'early');
dataset($node, 'early', 'd');
budget($node, 'early', 'd', 'ana', 10);
my $litter = $node->data_dir . '/dp_cdp/ledger.' . value($node, 'early', 'SELECT oid FROM pg_database WHERE datname = current_database()') . '.';
append_to_file("$litter$_", "dp_cdp ledger\n0123") for '0' x 32, 'x';
is(debit_error($node, 'early', 'ana', $ask), '', 'files that no stamp names keep nobody out');
ok(-e file_of('early'), 'another one is made');
$node->restart;
is(debit_error($node, 'early', 'ana', $ask), '', 'after a restart');
is_deeply([ files('early') ], [ file_of('early') ], 'it is the only one');
$file = file_of('test');

# a stamp that names no file
$node->safe_psql('early', 'ALTER TABLE dp_cdp_internal.ledger_stamp DISABLE TRIGGER ledger_guard;'
	. ' UPDATE dp_cdp_internal.ledger_stamp SET file = NULL, place = NULL;'
	. ' ALTER TABLE dp_cdp_internal.ledger_stamp ENABLE ALWAYS TRIGGER ledger_guard');
$node->restart;
like(debit_error($node, 'early', 'ana', $ask), qr/ZC003: .*DETAIL:  The ledger's file in the directory dp_cdp of the data directory is missing or damaged\./s, 'a stamp that names no file is not good');

# no room for it
ledger_database($node, 'stuck');
dataset($node, 'stuck', 'd');
budget($node, 'stuck', 'd', 'ana', 10);
my $dir = dirname($file);
rename($dir, "$dir.away") or die $!;
append_to_file($dir, '');
like(debit_error($node, 'stuck', 'ana', $ask), qr/ZC003: the privacy ledger failed; nothing was debited/, 'a file that cannot be made: no debit');
is(value($node, 'stuck', 'SELECT count(*) FROM dp_cdp_internal.release_log'), '0', 'none at all');
unlink($dir);
rename("$dir.away", $dir) or die $!;
is(debit_error($node, 'stuck', 'ana', $ask), '', 'once it can be made: a debit');

# ---------------------------------------------------------------------------
# PostgreSQL's own tools
# ---------------------------------------------------------------------------

$node->backup('base');
$node->command_ok([ 'pg_verifybackup', $node->backup_dir . '/base' ], 'pg_verifybackup takes the file along');
is(scalar(glob $node->backup_dir . '/base/dp_cdp/' . basename(file_of('test'))), $node->backup_dir . '/base/dp_cdp/' . basename(file_of('test')), 'which is in the backup');
my $spent = balance($node, 'test', 'd', 'ana');

my $copy = PostgreSQL::Test::Cluster->new('base');
$copy->init_from_backup($node, 'base');
$copy->start;
like(debit_error($copy, 'test', 'ana', $ask), $copied, 'a base backup that is started as if it were the original: refused');
is(balance($copy, 'test', 'd', 'ana'), $spent, 'nothing is debited');
like(value($copy, 'test', 'SELECT finding || $$ -> $$ || remedy FROM dp_cdp.check_setup() WHERE object = $$ledger$$'),
	qr/no release until it is adopted\. The ledger was written in another data directory.*-> SELECT dp_cdp\.adopt_ledger/, 'check_setup says so');
is(debit_error($node, 'test', 'ana', $ask), '', 'the original goes on');
$copy->safe_psql('test', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => 1)');
is(debit_error($copy, 'test', 'ana', $ask), '', 'adopted, the copy does, too');
is(balance($copy, 'test', 'd', 'ana'), $spent + 2, 'from its balance and the surcharge');
$copy->restart;
is(debit_error($copy, 'test', 'ana', $ask), '', 'for good');
$copy->stop;

# the server may be told not to look at the place; not at what is in the file
my $loose = PostgreSQL::Test::Cluster->new('loose');
$loose->init_from_backup($node, 'base');
$loose->append_conf('postgresql.conf', 'dp_cdp.notice_copies = off');
$loose->start;
is(debit_error($loose, 'test', 'ana', $ask), '', 'with notice_copies off a copy is not noticed');
like(value($loose, 'test', 'SELECT finding FROM dp_cdp.check_setup() WHERE object = $$dp_cdp.notice_copies$$'), qr/^is off/, 'which check_setup says');
like(debit_error($loose, 'test', 'ana', 'SET dp_cdp.notice_copies = off'), qr/55P02/, 'nobody sets it in a session');
$loose->adjust_conf('postgresql.conf', 'dp_cdp.notice_copies', undef);
$loose->restart;
like(debit_error($loose, 'test', 'ana', $ask), $copied, 'on again: noticed');
$loose->stop;

$node->stop;
$node->command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'pg_checksums is content');

# ---------------------------------------------------------------------------
# Copies of a stopped server
# ---------------------------------------------------------------------------

my $data = $node->data_dir;
my $kept = $node->backup_dir . '/cold';

sub cp
{
	my ($from, $to) = @_;
	system('cp', '-a', $from, $to) == 0 or die "cp -a $from $to";
	return;
}

cp($data, $kept);
my $cold = PostgreSQL::Test::Cluster->new('cold');
$cold->init_from_backup($node, 'cold');
$cold->start;
like(debit_error($cold, 'test', 'ana', $ask), $copied, 'a copy of the stopped server: refused');
$cold->stop;

$node->start;
is(debit_error($node, 'test', 'ana', $ask), '', 'the original goes on, five more');
debit($node, 'test', 'ana', $ask) for 1 .. 4;
$spent = balance($node, 'test', 'd', 'ana');
$node->stop;

# moved within its file system
rename($data, "$data.moved");
symlink("$data.moved", $data);
$node->start;
is(debit_error($node, 'test', 'ana', $ask), '', 'a data directory that was moved is no copy');
$node->stop;
unlink($data);
rename("$data.moved", $data);

# deleted and restored: the file system may give the same inodes again
system('rm', '-rf', $data);
cp($kept, $data);
$node->start;
like(debit_error($node, 'test', 'ana', $ask), $copied, 'a former state in the place of the original: refused');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => 6)');
is(debit_error($node, 'test', 'ana', $ask), '', 'adopted: goes on');
is(balance($node, 'test', 'd', 'ana'), $spent + 2, 'from a balance that makes up for what it had forgotten');

# ---------------------------------------------------------------------------
# The file is lost or another's
# ---------------------------------------------------------------------------

$file = file_of('test');
$node->stop;
my $text = slurp_file($file);
unlink($file);
$node->start;
like(debit_error($node, 'test', 'ana', $ask), qr/${refused}DETAIL:  The ledger's file .* is missing or damaged\./, 'the file is lost: refused');
ok(!-e $file, 'and not made by a refusal');
append_to_file($file, $text =~ s/[0-9a-f]{32}/0123456789abcdef0123456789abcdef/r);
like(debit_error($node, 'test', 'ana', $ask), qr/${refused}DETAIL:  The ledger's file .* is missing or damaged\./, 'of another ledger: refused');
unlink($file);
$node->safe_psql('test', 'BEGIN; SELECT dp_cdp.adopt_ledger(); ROLLBACK');
like(debit_error($node, 'test', 'ana', $ask), $refused, 'an adoption that was rolled back: refused');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(debit_error($node, 'test', 'ana', $ask), '', 'adopted: goes on');
$node->safe_psql('test', 'BEGIN; SELECT dp_cdp.adopt_ledger(); ROLLBACK');
is(debit_error($node, 'test', 'ana', $ask), '', 'a good ledger stays good when its adoption is rolled back');

# ---------------------------------------------------------------------------
# pg_rewind
# ---------------------------------------------------------------------------

my $standby = standby_of($node, 'standby');
$standby->promote;
$standby->safe_psql('test', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => 0.5)');
is(debit_error($standby, 'test', 'ana', $ask), '', 'a promoted and adopted standby goes on');
is(debit_error($node, 'test', 'ana', $ask), '', 'its old primary debits once more, and is rewound');
$node->stop;
$standby->safe_psql('postgres', 'CHECKPOINT');
my $conf = slurp_file("$data/postgresql.conf");
PostgreSQL::Test::Utils::system_or_bail('pg_rewind', '--no-sync', '--target-pgdata', $data, '--source-server', $standby->connstr('postgres'));
unlink("$data/postgresql.conf");
append_to_file("$data/postgresql.conf", $conf);
$node->enable_streaming($standby);
$node->set_standby_mode;
$node->start;
catch_up($standby, $node);
is(balance($node, 'test', 'd', 'ana'), balance($standby, 'test', 'd', 'ana'), 'it follows the new one');
is(value($node, 'test', 'SELECT dp_cdp_internal.ledger_problem()'), '', 'on a standby there is no problem: it never debits');
$standby->stop;
$node->promote;
like(debit_error($node, 'test', 'ana', $ask), qr/${refused}DETAIL:  The ledger was written before a promotion or a recovery\./, 'promoted in turn: refused');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger()');
is(debit_error($node, 'test', 'ana', $ask), '', 'adopted: goes on');

# ---------------------------------------------------------------------------
# What is no copy
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', q{CREATE TABLESPACE elsewhere LOCATION ''});
$node->safe_psql('postgres', 'ALTER DATABASE test SET TABLESPACE elsewhere');
is(debit_error($node, 'test', 'ana', $ask), '', 'a database that went to another tablespace');
$node->safe_psql('postgres', 'ALTER DATABASE test RENAME TO other');
is(debit_error($node, 'other', 'ana', $ask), '', 'or has another name');
$node->stop;

done_testing();
