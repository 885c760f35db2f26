# Copies of the data directory, by whatever means: their balances are those of
# another place, and are not used before somebody says so.  The original goes on.

use strict;
use warnings;

use File::Basename;
use File::Copy;
use File::Find;
use File::Path 'make_path';
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $refused = qr/ZC003: the privacy ledger was copied, restored or promoted.*dp_cdp\.adopt_ledger\(\).*/s;
my $copied = qr/${refused}DETAIL:  The ledger was written in another data directory, of which this one is a copy\. The dataset's owner can adopt dataset "d" by itself: dp_cdp\.adopt_ledger\(dataset => 'd'\)\./;
my $ask = q{SELECT dp_cdp.debit('d', 1)};

my $node = ledger_node('main', init => { allows_streaming => 1, extra => [ '-k', '-g', '--wal-segsize=1' ] }, conf => "allow_in_place_tablespaces = on\nwal_keep_size = 256MB\n");
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN');
dataset($node, 'test', 'd');
budget($node, 'test', 'd', 'ana', 1000);
my $file = $node->data_dir . '/dp_cdp/ledger.' . value($node, 'test', 'SELECT oid FROM pg_database WHERE datname = current_database()');

# ---------------------------------------------------------------------------
# The file
# ---------------------------------------------------------------------------

ok(!-e $file, 'no file before the first debit');
is(debit_error($node, 'test', 'ana', $ask), '', 'the first debit');
ok(-e $file, 'makes it');
my ($token) = slurp_file($file) =~ /^dp_cdp ledger\n([0-9a-f]{32})\nThis file tells .*copy it by itself\.\n$/;
ok($token, 'it says what it is');
is(value($node, 'test', 'SELECT file FROM dp_cdp.ledger_stamp'), $token, 'the stamp names it');
like(value($node, 'test', 'SELECT place FROM dp_cdp.ledger_stamp'), qr/^inode \d+(, (born \d+\.\d{9}|generation \d+))?$/, 'and its place');
note('place: ', value($node, 'test', 'SELECT place FROM dp_cdp.ledger_stamp'));
is(sprintf('%o %o', (stat $file)[2] & 07777, (stat dirname($file))[2] & 07777), '640 750', 'readable as the data directory is');
is(value($node, 'test', 'SELECT dp_cdp.ledger_problem()'), '', 'no problem');
is(value($node, 'test', q{SELECT count(*) FROM dp_cdp.check_setup() WHERE object IN ('ledger', 'dp_cdp.notice_copies')}), '0', 'nothing to check');

# restarts, and a crash
$node->restart;
is(debit_error($node, 'test', 'ana', $ask), '', 'a restart is no copy');
$node->stop('immediate');
$node->start;
is(debit_error($node, 'test', 'ana', $ask), '', 'nor is a crash');

# a crash between the file and its stamp: the file stays, and is taken
ledger_database($node, 'early');
dataset($node, 'early', 'd');
budget($node, 'early', 'd', 'ana', 10);
my $early = $node->data_dir . '/dp_cdp/ledger.' . value($node, 'early', 'SELECT oid FROM pg_database WHERE datname = current_database()');
copy($file, $early);
is(debit_error($node, 'early', 'ana', $ask), '', 'a file without a stamp keeps nobody out');
is(value($node, 'early', 'SELECT file FROM dp_cdp.ledger_stamp'), $token, 'and is not made anew');

# a file that is not whole, where nothing was spent
ledger_database($node, 'torn');
dataset($node, 'torn', 'd');
budget($node, 'torn', 'd', 'ana', 10);
my $torn = $node->data_dir . '/dp_cdp/ledger.' . value($node, 'torn', 'SELECT oid FROM pg_database WHERE datname = current_database()');
append_to_file($torn, "dp_cdp ledger\n0123");
append_to_file("$torn.new", 'rubbish');
is(debit_error($node, 'torn', 'ana', $ask), '', 'one that is not whole is made anew');
like(slurp_file($torn), qr/^dp_cdp ledger\n[0-9a-f]{32}\nThis.*\n$/, 'whole');
ok(!-e "$torn.new", 'nothing is left beside it');

# a stamp of a version that named no file
$node->safe_psql('early', 'ALTER TABLE dp_cdp.ledger_stamp DISABLE TRIGGER ledger_guard;'
	. ' UPDATE dp_cdp.ledger_stamp SET file = NULL, place = NULL;'
	. ' ALTER TABLE dp_cdp.ledger_stamp ENABLE ALWAYS TRIGGER ledger_guard');
is(value($node, 'early', 'SELECT dp_cdp.ledger_problem()'), '', 'a stamp of version 0.1.0 names no file');
is(debit_error($node, 'early', 'ana', $ask), '', 'which the next debit adds');
is(value($node, 'early', 'SELECT count(*) FROM dp_cdp.ledger_stamp WHERE file IS NOT NULL AND place IS NOT NULL'), '1', 'to it');

# no room for it
ledger_database($node, 'stuck');
dataset($node, 'stuck', 'd');
budget($node, 'stuck', 'd', 'ana', 10);
my $stuck = $node->data_dir . '/dp_cdp/ledger.' . value($node, 'stuck', 'SELECT oid FROM pg_database WHERE datname = current_database()');
mkdir "$stuck.new";
like(debit_error($node, 'stuck', 'ana', $ask), qr/ZC003: the privacy ledger failed; nothing was debited/, 'a file that cannot be made: no debit');
is(value($node, 'stuck', 'SELECT count(*) FROM dp_cdp.release_log'), '0', 'none at all');
rmdir "$stuck.new";
is(debit_error($node, 'stuck', 'ana', $ask), '', 'once it can be made: a debit');

# ---------------------------------------------------------------------------
# PostgreSQL's own tools
# ---------------------------------------------------------------------------

$node->backup('base');
$node->command_ok([ 'pg_verifybackup', $node->backup_dir . '/base' ], 'pg_verifybackup takes the file along');
ok(-e $node->backup_dir . '/base/dp_cdp/' . basename($file), 'which is in the backup');
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

# put back in the place of the original, by rsync: it leaves files whose size and time are the same
my $inode = (stat $file)[1];

sub like_rsync
{
	my ($from, $to) = @_;

	find(
		{
			no_chdir => 1,
			wanted => sub {
				my $other = $to . substr($_, length $from);
				my @old = stat $_;
				my @new = lstat $other;

				return if !-f $_;
				return if @new && $old[7] == $new[7] && $old[9] == $new[9];
				make_path(dirname($other));
				copy($_, "$other.rsync");
				utime @old[ 8, 9 ], "$other.rsync";
				rename("$other.rsync", $other) or die "$other: $!";
			}
		},
		$from);
	find(
		{
			no_chdir => 1,
			wanted => sub { unlink $_ if -f $_ && !-e $from . substr($_, length $to) }
		},
		$to);
	return;
}

like_rsync($kept, $data);
isnt((stat $file)[1], $inode, 'rsync of a former state back puts the file there anew');
$node->start;
like(debit_error($node, 'test', 'ana', $ask), $copied, 'so it is refused');
$node->stop;

# deleted and restored: the file system may give the same inodes again
system('rm', '-rf', $data);
cp($kept, $data);
note((stat $file)[1] == $inode ? 'the same inode' : 'another inode');
$node->start;
like(debit_error($node, 'test', 'ana', $ask), $copied, 'a former state in the place of the original: refused');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => 6)');
is(debit_error($node, 'test', 'ana', $ask), '', 'adopted: goes on');
is(balance($node, 'test', 'd', 'ana'), $spent + 2, 'from a balance that makes up for what it had forgotten');

# ---------------------------------------------------------------------------
# The file is lost or another's
# ---------------------------------------------------------------------------

$node->stop;
my $text = slurp_file($file);
unlink($file);
$node->start;
like(debit_error($node, 'test', 'ana', $ask), qr/${refused}DETAIL:  The ledger's file .* is missing or damaged\./, 'the file is lost: refused');
ok(!-e $file, 'and not made by a refusal');
append_to_file($file, $text =~ s/[0-9a-f]{32}/0123456789abcdef0123456789abcdef/r);
like(debit_error($node, 'test', 'ana', $ask), qr/${refused}DETAIL:  The ledger's file .* is that of another ledger\./, 'of another ledger: refused');
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
is(value($node, 'test', 'SELECT dp_cdp.ledger_problem()'), '', 'on a standby there is no problem: it never debits');
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
