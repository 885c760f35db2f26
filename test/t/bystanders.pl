# What statements that touch nothing protected pay for the guard, in instructions: how many these are does not depend on
# the machine, nor on what else it does.  A long run less a short one is free of what a backend takes to start.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'valgrind is not installed' if system('valgrind --version >/dev/null 2>&1') != 0;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\njit = off\nfsync = off\nautovacuum = off\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_cdp;
	CREATE TABLE people (id int PRIMARY KEY, age int);
	SELECT dp_cdp.create_dataset('clinic', rho => 1);
	SELECT dp_cdp.protect_table('people', 'clinic', unit => 'id');
	CREATE TABLE accounts (id int PRIMARY KEY, branch int, balance int);
	INSERT INTO accounts SELECT i, i % 10, 0 FROM generate_series(1, 1000) i;
	VACUUM ANALYZE;
});
$node->stop;

my @statements = (
	'SELECT balance FROM accounts WHERE id = %d',
	'SELECT a.balance, b.branch FROM accounts a JOIN accounts b ON b.id = a.branch + 1 WHERE a.id = %d AND b.balance >= 0 ORDER BY 1',
	'UPDATE accounts SET balance = balance + 1 WHERE id = - %d',
	'SELECT branch, count(*), max(abs(balance)) FROM accounts WHERE id < 9 AND branch <> %d GROUP BY branch');

# ... and prepared, where they are planned the first few times
my @prepare = map { my $statement = $statements[$_] =~ s/%d/\$1/r; "PREPARE s$_ AS $statement;\n" } 0 .. $#statements;
push @statements, map { "EXECUTE s$_(%d)" } 0 .. $#statements;

# the server of one process runs what it reads
sub instructions
{
	my ($preloaded, $times) = @_;
	my $out = "$PostgreSQL::Test::Utils::tmp_check/callgrind";
	my $input = join '', @prepare, map { my $n = 1 + 7 * $_ % 1000; map { sprintf "$_;\n", $n } @statements } 1 .. $times;
	my ($stdout, $stderr);

	IPC::Run::run([ 'valgrind', '--tool=callgrind', "--callgrind-out-file=$out", 'postgres', '--single', '-D', $node->data_dir,
			'-c', "shared_preload_libraries=$preloaded", 'postgres' ], '<', \$input, '>', \$stdout, '2>', \$stderr) or die $stderr;
	unlink $out;
	return $stderr =~ /Collected : (\d+)/ ? $1 : die $stderr;
}

my %each = map { my $preloaded = $_; $preloaded => instructions($preloaded, 120) - instructions($preloaded, 40) } ('', 'dp_cdp');

note sprintf '%d instructions of plain SQL, %d with dp_cdp', map { $each{$_} / 80 } ('', 'dp_cdp');
cmp_ok($each{dp_cdp} / $each{''}, '<', 1.005, 'less than half a percent more');
cmp_ok($each{dp_cdp} / $each{''}, '>', 1, '... and there are some, as the library is there');

done_testing();
