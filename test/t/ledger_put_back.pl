# A former state of the data directory is put back over a newer one, by tools that leave files as they are where these
# seem to be the same, or write over them.  What was debited since then is not forgotten unseen.  A crash is no such thing.

use strict;
use warnings;

use File::Copy;
use File::Find;
use File::Path 'make_path';
use File::Basename;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(stat usleep utime);

my $refused = qr/ZC003: the privacy ledger was copied, restored or promoted.*DETAIL:  The ledger was written in another data directory, of which this one is a copy, or a former state of this one was put back\./s;
my $ask = q{SELECT dp_cdp.debit_budget('d', 1)};

my $node = ledger_node('main', init => { allows_streaming => 1, extra => ['--wal-segsize=1'] });
my $data = $node->data_dir;
ledger_database($node, 'test');
$node->safe_psql('test', 'CREATE ROLE ana LOGIN');
for my $name ('d', 'e')
{
	dataset($node, 'test', $name);
	budget($node, 'test', $name, 'ana', 10000);
}
is(debit_error($node, 'test', 'ana', "$ask; SELECT dp_cdp.debit_budget('e', 1)"), '', 'the first debits');

sub token { return value($node, 'test', 'SELECT file FROM dp_cdp_internal.ledger_stamp'); }

sub files { return map { s/.*\.//r } glob "$data/dp_cdp/ledger.*"; }

# ---------------------------------------------------------------------------
# Ways to put a state back
# ---------------------------------------------------------------------------

sub run { system(@_) == 0 or die "@_"; return; }

# As rsync does: files for which "same" holds are left alone, others made anew, or written over; what is not there is deleted.
sub like_rsync
{
	my ($from, $to, $same, $in_place) = @_;

	find(
		{
			no_chdir => 1,
			wanted => sub {
				my $other = $to . substr($_, length $from);
				my @times = (stat $_)[ 8, 9 ];
				my $made = $in_place && -e $other ? $other : "$other.rsync";

				return if !-f $_ || (-e $other && $same->($_, $other));
				make_path(dirname($other));
				copy($_, $made) or die "$made: $!";
				utime @times, $made;
				rename($made, $other) if $made ne $other;
			}
		},
		$from);
	find({ no_chdir => 1, wanted => sub { unlink $_ if -f $_ && !-e $from . substr($_, length $to) } }, $to);
	return;
}

my $by_time = sub { return join(' ', (stat $_[0])[ 7, 9 ]) eq join(' ', (stat $_[1])[ 7, 9 ]); };
my $by_content = sub { return -s $_[0] == -s $_[1] && slurp_file($_[0]) eq slurp_file($_[1]); };

my @ways = (
	[ 'rsync -a --delete --checksum', sub { like_rsync(@_, $by_content) } ],
	[ 'rsync -a --delete --inplace', sub { like_rsync(@_, $by_time, 1) } ],
	[ 'cp -a', sub { run('cp', '-a', "$_[0]/.", $_[1]) } ],
	[ 'tar --overwrite', sub { run("tar -C '$_[0]' -cf - . | tar -C '$_[1]' --overwrite -xf -") } ],
	[ 'rsync -a --delete', sub { like_rsync(@_, $by_time) } ],
	[ 'rsync -a --delete --checksum --inplace', sub { like_rsync(@_, $by_content, 1) } ],
	[ 'tar', sub { run("tar -C '$_[0]' -cf - . | tar -C '$_[1]' -xf -") } ],);

my $kept = $node->backup_dir . '/kept';

mkdir $node->backup_dir;
for my $way (@ways[ 0 .. by_run(3, $#ways) ])
{
	my ($name, $put_back) = @$way;
	my $spent = balance($node, 'test', 'd', 'ana');

	$node->stop;
	run('rm', '-rf', $kept);
	run('cp', '-a', $data, $kept);
	$node->start;
	is(debit_error($node, 'test', 'ana', "$ask;" x 20), '', "$name: twenty debits");
	$node->stop;
	$put_back->($kept, $data);
	$node->start;
	is(balance($node, 'test', 'd', 'ana'), $spent, "$name: they are forgotten");
	like(debit_error($node, 'test', 'ana', $ask), $refused, "$name: so the ledger waits");
	$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => 20)');
	is(debit_error($node, 'test', 'ana', $ask), '', "$name: until it is adopted");
}
$node->stop;

# ---------------------------------------------------------------------------
# While the server runs
# ---------------------------------------------------------------------------

# a worker that has just begun may have the stamp name another file meanwhile, so this asks after the backup
$node->start;
$node->backup('hot');
my $hot = token();
my $begun = time;
my $times = 0;
until (token() ne $hot)
{
	die 'always the same file' if time > $begun + 60;
	debit($node, 'test', 'ana', $ask);
	$times++;
	usleep(200_000);
}
is_deeply([ files() ], [ token() ], 'where there are debits the stamp names another file soon, and the one before is deleted');
$node->stop;
unlink $node->backup_dir . '/hot/' . $_ for 'backup_manifest', 'standby.signal', 'recovery.signal';
like_rsync($node->backup_dir . '/hot', $data, $by_content, 1);
$node->start;
# which may hold a stamp, but not yet the file that it names
my $waits = qr/$refused|ZC003.*file in the directory dp_cdp of the data directory is missing/s;
like(debit_error($node, 'test', 'ana', $ask), $waits, 'a base backup of the running server is noticed, too');

# ---------------------------------------------------------------------------
# One dataset that was adopted by itself
# ---------------------------------------------------------------------------

$node->safe_psql('test', q{SELECT dp_cdp.adopt_ledger(dataset => 'd', surcharge_rho => 100)});
is(debit_error($node, 'test', 'ana', $ask), '', 'one dataset is adopted by itself');
$node->restart;
is(debit_error($node, 'test', 'ana', $ask), '', 'for good');
like(debit_error($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('e', 1)}), $waits, 'the other one waits');
$node->stop;
run('rm', '-rf', $kept);
run('cp', '-a', $data, $kept);
$node->start;
is(debit_error($node, 'test', 'ana', "$ask;" x 20), '', 'twenty debits');
$node->stop;
run('cp', '-a', "$kept/.", $data);
$node->start;
like(debit_error($node, 'test', 'ana', $ask), $waits, 'are not forgotten unseen');
$node->safe_psql('test', 'SELECT dp_cdp.adopt_ledger(surcharge_rho => 20)');

# ---------------------------------------------------------------------------
# Crashes, at any moment
# ---------------------------------------------------------------------------

my $problems = '';
for my $round (1 .. by_run(5, 60))
{
	# in the worker's first moments, and when it renews the stamp
	usleep(rand 30_000);
	$problems .= debit_error($node, 'test', 'ana', $ask) if $round % 2;
	$node->stop('immediate');
	$node->start;
	$problems .= debit_error($node, 'test', 'ana', $ask);
}
is($problems, '', 'no crash keeps a ledger out');
is(value($node, 'test', 'SELECT dp_cdp_internal.ledger_problem()'), '', 'nor does it have a problem');
$node->restart;
is(debit_error($node, 'test', 'ana', $ask), '', 'a clean restart');
is_deeply([ files() ], [ token() ], 'leaves one file');
is(value($node, 'test', q{SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'}), '0', 'and a whole ledger');
$node->stop;

done_testing();
