# What a release holds has a limit: declared keys while they are read, and
# groups of declared keys times numbers when the release is priced, are
# refused with the figure before anything is charged; what nobody is to know
# before, the number of groups of other keys, goes to files.  Memory is that of
# the backend's own pages.  With a tenth of groups and limits the same roads are
# refused; a million tells what a group takes from what a session does.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $groups = by_run(100_000, 1_000_000);
# limits in MB
my ($server, $less) = by_run([ 25, 6 ], [ 256, 64 ])->@*;
my $node = ledger_node('main', conf => <<EOC);
dp_cdp.release_memory = '${server}MB'
max_worker_processes = 20
work_mem = '4MB'
hash_mem_multiplier = 1
shared_buffers = '32MB'
max_parallel_workers_per_gather = 0
EOC
ledger_database($node, 'test');
$node->safe_psql('test', <<EOC);
CREATE ROLE ana LOGIN;
CREATE TABLE shops (shop int PRIMARY KEY);
INSERT INTO shops SELECT i FROM generate_series(1, $groups) i;
CREATE TABLE secrets (secret int PRIMARY KEY);
INSERT INTO secrets SELECT i FROM generate_series(1, 1000) i;
CREATE TABLE days (day date, kind text);
INSERT INTO days SELECT DATE '2000-01-01' + i, 'kind ' || i % 3 FROM generate_series(1, $groups / 5) i;
GRANT SELECT ON shops, days TO ana;
CREATE TABLE visits (patient int, shop int NOT NULL, place int, secret int REFERENCES secrets, day date, name text NOT NULL);
INSERT INTO visits SELECT i, i, i, i % 1000 + 1, DATE '2000-01-01' + i % 1000, 'name ' || i % 1000 FROM generate_series(1, $groups) i;
ALTER TABLE visits ADD FOREIGN KEY (shop) REFERENCES shops;
CREATE TABLE parts (patient int, shop int) PARTITION BY HASH (patient);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES WITH (MODULUS 40, REMAINDER %s)', i, i) FROM generate_series(0, 39) i \\gexec
INSERT INTO parts SELECT i, i FROM generate_series(1, 10000) i;
ALTER TABLE parts ADD FOREIGN KEY (shop) REFERENCES shops;
VACUUM ANALYZE;
SELECT dp_cdp.create_dataset('d', default_rho => 1, max_groups => 1, max_rows => 1, delta => 0.1, default_delta => 0.01);
SELECT dp_cdp.protect_table(t, 'd', 'patient') FROM unnest('{visits,parts}'::regclass[]) t;
SELECT dp_cdp.set_keys('visits', 'name', (SELECT array_agg('name ' || i) FROM generate_series(0, 998) i));
SELECT dp_cdp.set_budget('d', 'ana', rho => 1e6, delta => 0.1);
EOC

my $sixty = join(', ', map { "dp_sum(patient + $_, 0, 1000)" } 1 .. 60);
my $one = 'dp_count(*)';
my @as_ana = (extra_params => [ '-U', 'ana' ], on_error_stop => 0);

# Error, answer, and memory beyond that of a session that has asked something
# small, in MB, of a query, or of EXPLAIN of it.
sub ask
{
	my ($sql, %opt) = @_;
	my $what = $opt{explain} ? "EXPLAIN $sql" : "SELECT count(x) FROM ($sql) x";
	my ($rc, $out, $err) = $node->psql('test', <<EOC, @as_ana);
\\set VERBOSITY verbose
SET client_min_messages = warning;
@{[ $opt{settings} // '' ]}
SELECT pg_backend_pid() AS pid \\gset
\\setenv DP_PID :pid
SELECT dp_count(*) FROM visits WHERE patient < 0 \\g /dev/null
\\! grep -h RssAnon /proc/\$DP_PID/status
$what
;
\\! grep -h -E 'VmHWM|RssFile|RssShmem' /proc/\$DP_PID/status
EOC
	my %kb = $out =~ /^(\w+):\s+(\d+) kB/mg;
	my ($answer) = $out =~ /^(\d+)$/m;
	my $used = ($kb{VmHWM} - $kb{RssFile} - $kb{RssShmem} - $kb{RssAnon}) / 1024;
	return ($err, $used, $answer);
}

# most MB for so many with a million groups; a session takes some itself
sub most
{
	my ($mb) = @_;

	return by_run(20 + $mb / 10, $mb);
}

# the error of EXPLAIN and of a query, which must be the same; nothing is spent but what ask() does
sub refused
{
	my ($sql, $like, $name, $most) = @_;
	my $before = balance($node, 'test', 'd', 'ana');

	for my $explain (0, 1)
	{
		my ($err, $used) = ask($sql, explain => $explain);
		my $how = ($explain ? 'EXPLAIN of ' : '') . $name;

		like($err, $like, $how);
		cmp_ok($used, '<', $most, sprintf('... takes %d MB', $used)) if $most;
	}
	is(balance($node, 'test', 'd', 'ana') - $before, 2, '... and nothing is charged (two small queries are)');
	return;
}

sub allow
{
	my ($kilobytes) = @_;

	$node->safe_psql('test', "SELECT dp_cdp.alter_dataset('d', release_memory => $kilobytes)");
	return;
}

# ---------------------------------------------------------------------------
# Groups of declared keys
# ---------------------------------------------------------------------------

my ($error, $used, $answer);
refused("SELECT shop, $sixty FROM visits GROUP BY shop",
	qr/ZC002: this query holds $groups declared groups with 60 numbers in each, which takes @{[ by_run(103, 1030) ]} MB, and dp_cdp\.release_memory allows $server MB; group by fewer keys, ask for fewer aggregates at once, or ask the administrator to raise it\nDETAIL:  Nothing was charged/,
	"60 sums of $groups declared groups", most(80));
($error, $used) = ask("SELECT shop, $one FROM visits GROUP BY shop", explain => 1);
is($error, '', 'EXPLAIN of one count');
cmp_ok($used, '<', most(80), sprintf('... takes %d MB', $used));
like($node->safe_psql('test', "SET SESSION AUTHORIZATION ana; EXPLAIN SELECT shop, $one FROM visits GROUP BY shop"),
	qr/^ *Memory: @{[ by_run(13, 130) ]} MB for declared groups$/m, '... and says what the query takes');
($error, $used, $answer) = ask("SELECT shop, $one FROM visits GROUP BY shop");
is("$error$answer", $groups, 'it is answered, every group');
cmp_ok($used, '<', most(200), sprintf('... in %d MB', $used));

($error, $used) = ask("SELECT shop, $one FROM parts GROUP BY shop", explain => 1);
is($error, '', 'as many keys of a table of 40 partitions');
cmp_ok($used, '<', most(100), sprintf('... are planned with in %d MB', $used));
($error, $used, $answer) = ask("SELECT shop, $one FROM parts GROUP BY shop");
is("$error$answer", $groups + 1, '... and answered, with the group of NULL');
cmp_ok($used, '<', most(250), sprintf('... in %d MB', $used));

# all releases of a statement hold their keys at once
my $set = '(shop), (shop, patient < 0), (shop, patient < 1)';
my $too_many = qr/ZC002: this query holds more than @{[ by_run('21', '22') ]}\d+ declared keys, which take more than $server MB, and dp_cdp\.release_memory allows $server MB; group by columns of fewer keys, or list fewer, or ask the administrator to raise it\nDETAIL:  Nothing was charged/;
refused("SELECT shop, $one FROM visits GROUP BY GROUPING SETS ($set)", $too_many, 'three grouping sets of all keys', most(100));
my $release = "SELECT shop, $one AS n FROM visits GROUP BY shop";
refused("$release UNION ALL $release UNION ALL $release", $too_many, 'three releases of all keys', most(100));
refused("SELECT v.shop, $one FROM visits v JOIN ($release) a ON a.shop = v.shop + 1 JOIN ($release) b ON b.shop = v.shop + 1 GROUP BY v.shop",
	$too_many, 'a release of all keys joined with two others', most(100));

# ---------------------------------------------------------------------------
# Less, by the dataset
# ---------------------------------------------------------------------------

allow($less * 1024);
my $keys = int($less * 1024**2 / 120);
refused("SELECT shop, $one FROM visits GROUP BY shop",
	qr/ZC002: this query holds more than $keys declared keys, which take more than $less MB, and dataset "d" allows $less MB; .* or ask the dataset's owner to raise release_memory\nDETAIL:  Nothing was charged/,
	'keys of a foreign key, where the dataset allows less', most(60));
($error, undef, $answer) = ask("SELECT shop, $one FROM visits WHERE shop IN (1, 2, 3) GROUP BY shop");
is("$error$answer", 3, '... unless the query lists those that it wants');
allow(512 * 1024);
like((ask("SELECT shop, $sixty FROM visits GROUP BY shop"))[0], qr/dp_cdp\.release_memory allows $server MB/, 'a dataset cannot allow more than the server');
like((ask("SELECT shop, $one FROM visits GROUP BY shop", settings => "SET dp_cdp.release_memory = '1GB';"))[0],
	qr/42501: permission denied to set parameter "dp_cdp.release_memory"/, 'nor can who asks');

allow(64);
my $small = qr/ZC002: this query holds more than \d+ declared keys, which take more than 64 kB, and dataset "d" allows 64 kB/;
refused("SELECT name, $one FROM visits GROUP BY name", $small, 'declared keys');
refused("SELECT place, $one FROM visits WHERE place BETWEEN 1 AND 9000 GROUP BY place", $small, 'a range of keys');
refused("SELECT place, $one FROM visits WHERE place = ANY ('{" . join(',', 1 .. 1000) . "}') GROUP BY place", $small, 'a list of keys');
refused("SELECT d.day, $one FROM visits JOIN days d USING (day) GROUP BY d.day", $small, 'keys of a table that is joined');
($error, undef, $answer) = ask("SELECT d.kind, $one FROM visits JOIN days d USING (day) GROUP BY d.kind");
is("$error$answer", 3, 'values that are equal are one key');
refused("SELECT place, dp_median(patient, 0, 10) FROM visits WHERE place IN (1, 2) GROUP BY place",
	qr/ZC002: this query holds 2 declared groups with 4096 numbers in each, which takes 129 kB, and dataset "d" allows 64 kB/, 'quantiles');
# who asks may not read the keys: they are not declared for him, and no figure tells of them
($error) = ask("SELECT secret, $one FROM visits GROUP BY secret", explain => 1);
is($error, '', 'keys that the asker may not read are not counted');
like($node->safe_psql('test', "SET SESSION AUTHORIZATION ana; EXPLAIN SELECT secret, $one FROM visits GROUP BY secret"),
	qr/selects keys/, '... nor declared');
allow(0);
my @keys = map { "k$_" } 1 .. 4;
refused("SELECT " . join(', ', @keys, $one) . " FROM (SELECT patient, " . join(', ', map { "place * patient + $_ AS k$_" } 1 .. 4) . " FROM visits) v"
	. " WHERE " . join(' AND ', map { "$_ BETWEEN 0 AND 9998" } @keys) . " GROUP BY " . join(', ', @keys),
	qr/ZC002: the declared keys of the grouping columns span more than 10000000 groups/, 'a product of keys');

# keys that are too long together for bounding, which would leave their rows out
$node->safe_psql('test', q{
	CREATE TABLE letters (person int, a text NOT NULL, b text NOT NULL);
	INSERT INTO letters SELECT i, repeat('a', 40000), repeat('b', 40000) FROM generate_series(1, 100) i;
	SELECT dp_cdp.protect_table('letters', 'd', 'person');
	SELECT dp_cdp.set_keys('letters', 'a', ARRAY[repeat('a', 40000)]), dp_cdp.set_keys('letters', 'b', ARRAY[repeat('b', 40000)])});
like((ask("SELECT a, b, $one FROM letters GROUP BY a, b"))[0],
	qr/ZC002: the declared keys of a group take up to 80016 bytes, more than 65536; group by fewer or shorter keys/,
	'declared keys that are too long together');
is((ask("SELECT a, $one FROM letters GROUP BY a"))[0], '', '... by themselves they are not');

# parameters are copied for each release
my $length = $groups * 30;
my ($rc, $out, $err) = $node->psql('test', <<"EOC" =~ s/#/\$/gr, @as_ana);
\\set VERBOSITY verbose
PREPARE p(int[]) AS SELECT dp_count(*) FROM visits WHERE place = ANY (#1)
	UNION ALL SELECT dp_count(*) FROM visits WHERE place = ANY (#1)
	UNION ALL SELECT dp_count(*) FROM visits WHERE place = ANY (#1);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(array_fill(1, ARRAY[$length]));
EOC
like($err, qr/ZC002: the parameters of this query take @{[ by_run(12, 115) ]} MB, times 3 for its releases, and dp_cdp\.release_memory allows $server MB/, 'long parameters of several releases');

# ---------------------------------------------------------------------------
# Lists that are long are looked up otherwise than short ones
# ---------------------------------------------------------------------------

for my $workers (0, 2)
{
	my $settings = "SET dp_cdp.rho = 1e4; SET max_parallel_workers_per_gather = $workers; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;";
	my $sum = sub { $node->safe_psql('test', "SET SESSION AUTHORIZATION ana; $settings SELECT count(*), sum(n) FROM ($_[0]) x") };

	is($sum->("SELECT name, $one AS n FROM visits GROUP BY name"), '999|' . 999 * $groups / 1000,
		"rows of keys that are not declared are left out ($workers workers)");
	is($sum->("SELECT shop, $one AS n FROM parts WHERE shop <= 20000 GROUP BY shop"), '20000|10000', '... in partitions, none is');
}

# ---------------------------------------------------------------------------
# Keys that are selected
# ---------------------------------------------------------------------------

for ([ 1, $one, $groups ], [ 60, $sixty, $groups / 10 ])
{
	my ($n, $aggregates, $most) = @$_;
	($error, $used, $answer) = ask("SELECT place, $aggregates FROM visits WHERE place <= $most GROUP BY place", settings => "SET dp_cdp.max_groups = 1;");
	is($error, '', "$n aggregates of $most groups that nobody has declared");
	note "$answer groups are shown";
	cmp_ok($used, '<', most(80), sprintf('... take %d MB', $used));
}

# ---------------------------------------------------------------------------
# Rows of one person that a string makes, joined by the unit
# ---------------------------------------------------------------------------

$node->safe_psql('test', q{
	CREATE TABLE notes (patient int NOT NULL, words text NOT NULL);
	INSERT INTO notes SELECT i, 'b' FROM generate_series(1, 1000) i;
	INSERT INTO notes VALUES (42, repeat('a ', 2000));
	ANALYZE notes;
	SELECT dp_cdp.protect_table('notes', 'd', 'patient')});
($error, $used, $answer) = ask("SELECT count(v.patient) FROM visits v LEFT JOIN (SELECT n.patient FROM notes n, string_to_table(n.words, ' ') a, string_to_table(n.words, ' ') b"
	. " WHERE a = 'a' AND b = 'a') q ON q.patient = v.patient");
is($error, '', 'millions of rows that a string makes');
cmp_ok($used, '<', 40, sprintf('... go to files: they take %d MB', $used));

$node->stop;
done_testing();
