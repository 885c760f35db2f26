# Whoever asked is told, by every error, whether it was charged; before that,
# by EXPLAIN and preview, whether he could be answered at all; and those who run
# the server, by its log, what it lacked.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', conf => "max_worker_processes = 20\nwork_mem = '64kB'\n");
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE ana LOGIN;
CREATE ROLE bea LOGIN;
CREATE ROLE dba LOGIN;
CREATE TABLE visits (patient int, dept text NOT NULL, cost int);
INSERT INTO visits SELECT i, 'd' || i % 3, i FROM generate_series(1, 2000) i;
CREATE TABLE depts (dept text);
INSERT INTO depts VALUES ('d0'), ('d1'), ('d2');
CREATE TABLE numbers AS SELECT i AS n FROM generate_series(1, 100000) i;
GRANT SELECT ON depts, numbers TO PUBLIC;
CREATE FUNCTION lock_it() RETURNS int LANGUAGE sql AS 'SELECT pg_advisory_lock(1); SELECT 1';
CREATE VIEW slow AS SELECT dept, pg_sleep(100)::text AS slept FROM depts;
CREATE VIEW locked AS SELECT dept, lock_it() AS one FROM depts;
GRANT SELECT ON slow, locked TO PUBLIC;
CREATE FUNCTION lacks(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN RAISE EXCEPTION 'secret 77' USING ERRCODE = 'disk_full'; END IF; RETURN x; END $$;
CREATE FUNCTION fussy(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN RAISE EXCEPTION 'secret 77'; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function(f) FROM unnest('{lacks(int),fussy(int)}'::regprocedure[]) f;
ALTER TABLE visits OWNER TO dba;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
SET ROLE dba;
SELECT dp_cdp.create_dataset('d', default_rho => 0.01, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'd', 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', '{d0,d1,d2}'::text[]);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 3000);
SELECT dp_cdp.set_budget('d', 'ana', rho => 1000);
SELECT dp_cdp.set_budget('d', 'bea', rho => 0.012);
EOC

my $nothing = qr/; nothing was charged for the private query$/m;
my $charged = qr/; the private query failed, and what it was charged \(rho [0-9.]+\) stays charged$/m;

# the error of a query, and what ana was charged while it was asked
sub told
{
	my ($sql, $role) = @_;
	my $before = balance($node, 'test', 'd', $role // 'ana');
	my $error = debit_error($node, 'test', $role // 'ana', $sql);
	return ($error, balance($node, 'test', 'd', $role // 'ana') - $before);
}

sub tells
{
	my ($name, $sql, $error, $message, $rho, $role) = @_;
	my ($text, $spent) = told($sql, $role);
	# on a busy machine a timeout may come earlier than it is meant to, for which there are other messages, as true
	for (1 .. 5)
	{
		last if $text !~ /57014|55P03/ || $text =~ $message && $spent == $rho;
		$sql =~ s/(\d+)(?=ms')/2 * $1/e;
		($text, $spent) = told($sql, $role);
	}
	like($text, $error, "$name: the error");
	like($text, $message, '... says what was charged');
	is(sprintf('%.3g', $spent), $rho, '... and that is true');
	return;
}

# ---------------------------------------------------------------------------
# Before the debit
# ---------------------------------------------------------------------------

tells('a timeout while public rows are read', q{SET statement_timeout = '300ms'; SELECT dp_count(*) FROM visits JOIN slow USING (dept)},
	qr/57014: canceling statement due to statement timeout/, $nothing, 0);
my $holder = hold_row($node, 'test', 'SELECT pg_advisory_lock(1)');
tells('a lock timeout', q{SET lock_timeout = '300ms'; SELECT dp_count(*) FROM visits JOIN locked USING (dept)},
	qr/55P03: canceling statement due to lock timeout/, $nothing, 0);
release_row($node, $holder);
tells('an error before the first row is asked for', q{SELECT setseed(2 - n), (SELECT dp_count(*) FROM visits) FROM generate_series(0, 1) n},
	qr/22023: setseed/, $nothing, 0);
$holder = hold_row($node, 'test', q{SELECT FROM dp_cdp_internal.budget WHERE role = 'ana'::regrole FOR UPDATE});
for (q{SET statement_timeout = '300ms'; SELECT dp_count(*) FROM visits}, q{SET statement_timeout = '300ms'; SELECT dp_cdp.debit_budget('d', 1)})
{
	tells('a timeout while the debit waits', $_, qr/57014: canceling private query/, qr/this charge was not made$/m, 0);
}
release_row($node, $holder);

# ---------------------------------------------------------------------------
# After it
# ---------------------------------------------------------------------------

tells('an error in what is done with answers', q{SELECT setseed(2 + dp_count(*) * 0) FROM visits}, qr/22023: setseed/, $charged, 0.01);
tells('a timeout in it', q{SET statement_timeout = '500ms'; SELECT dp_count(*), pg_sleep(100) FROM visits},
	qr/57014: canceling statement due to statement timeout/, $charged, 0.01);
tells('an error of a function over answers', <<'EOC', qr/P0001: mine/, $charged, 0.02);
CREATE FUNCTION pg_temp.mine(bigint) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'mine'; END $$;
SELECT pg_temp.mine(dp_count(*)), dp_sum(cost) FROM visits;
EOC
tells('the second FETCH of a cursor', <<'EOC', qr/22023: setseed/, $charged, 0.01);
BEGIN;
DECLARE c CURSOR FOR SELECT CASE dept WHEN 'd1' THEN setseed(2 + n * 0) IS NULL END FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) x ORDER BY dept;
FETCH c;
FETCH c;
EOC
tells('a function that asks', <<'EOC', qr/22023: setseed/, $charged, 0.01);
CREATE FUNCTION pg_temp.ask() RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT (setseed(2 + dp_count(*) * 0) IS NULL)::int FROM visits); END $$;
SELECT pg_temp.ask();
EOC
tells('an error while rows are read says it once', 'SELECT dp_sum(fussy(cost), 0, 10) FROM visits',
	qr/ZC002: private query failed while it read protected rows; what it was charged \(rho 0.01\) stays charged, and it counts as failure 1 of at most 20 in a day; the cause is in the server's log$/m,
	qr/^(?!.*charged.*charged.*charged)/, 0.01);
tells('a pilot that was charged, before a refusal', q{SET dp_cdp.target_error = '0.1%'; SELECT dp_avg(cost, 0, 3000) FROM visits},
	qr/ZC001: privacy budget exhausted/, $charged, 0.001, 'bea');

# nothing is added where no private query is
unlike(debit_error($node, 'test', 'ana', 'SELECT 1 / n FROM generate_series(0, 1) n'), qr/charged/, 'other statements say what they always said');
my ($error, $spent) = told(<<'EOC');
DO $$ BEGIN
	PERFORM setseed(2 + dp_count(*) * 0) FROM visits;
EXCEPTION WHEN invalid_parameter_value THEN
	RAISE NOTICE 'caught: %', SQLERRM;
END $$;
EOC
like($error, qr/NOTICE:  00000: caught: setseed .*; the private query failed, and/, 'whoever catches it can read it');
is($spent, 0.01, '... and has paid');

# ---------------------------------------------------------------------------
# What the server lacked
# ---------------------------------------------------------------------------

tells('the server lacks disk', 'SELECT dp_sum(lacks(cost), 0, 10) FROM visits', qr/ZC002: private query failed while it read protected rows/,
	qr/what it was charged \(rho 0.01\) stays charged/, 0.01);
unlike(debit_error($node, 'test', 'ana', 'SELECT dp_sum(lacks(cost), 0, 10) FROM visits'), qr/secret|disk|53100/, 'whoever asked is not told');
like(slurp_file($node->logfile), qr/private query failed while it read protected rows, for want of space on a disk \(SQLSTATE 53100\): secret 77/, 'the log is');
like(slurp_file($node->logfile), qr/private query failed while it read protected rows: secret 77/, 'other causes stand there as they were');
$node->safe_psql('test', q{ALTER ROLE ana SET temp_file_limit = '64kB'});
is($node->psql('test', 'SELECT dp_count(*) FROM (SELECT patient FROM visits ORDER BY cost, patient) x', extra_params => [ '-U', 'ana' ]), 0,
	'temp_file_limit does not hold while rows are read');
my (undef, undef, $stderr) = $node->psql('test', q{SELECT n FROM numbers ORDER BY n * (SELECT dp_count(*) FROM visits) DESC},
	extra_params => [ '-U', 'ana' ]);
like($stderr, qr/temporary file size exceeds "?temp_file_limit"? \(64kB\); the private query failed, and what it was charged/,
	'in the rest of the query it does, and is named');
$node->safe_psql('test', q{ALTER ROLE ana RESET temp_file_limit});

# ---------------------------------------------------------------------------
# Before asking
# ---------------------------------------------------------------------------

sub explained
{
	my ($role, $sql) = @_;
	return $node->safe_psql('test', "SET SESSION AUTHORIZATION $role; EXPLAIN $sql");
}
sub noticed
{
	my ($role, $sql) = @_;
	return debit_error($node, 'test', $role, "SELECT FROM dp_cdp.preview('$sql')");
}

my $count = 'SELECT dp_count(*) FROM visits';
like(explained('ana', $count), qr/^ *Budget: ana: [0-9.]+ of rho 1000 remain$/m, 'EXPLAIN shows the budget');
like(explained('dba', $count), qr/^ *Budget: none: role "dba" has no privacy budget for dataset "d", and the query would be refused$/m, 'or that there is none');
like(noticed('dba', $count), qr/NOTICE:  00000: role "dba" has no privacy budget for dataset "d", and the query would be refused/, 'so does preview');
is(noticed('ana', $count), '', 'preview says nothing where there is one');
$node->safe_psql('test', q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.alter_dataset('d', max_failures => 2)});
like(explained('ana', $count), qr/^ *Budget: ana: .* remain; closed by failures \(3 of today\) until .*, or until the owner of the dataset calls dp_cdp.reset_failures$/m,
	'EXPLAIN says that failures have closed it');
like(noticed('ana', $count), qr/NOTICE:  00000: the budget of role "ana" for dataset "d" is closed by 3 failures/, 'so does preview');
like(debit_error($node, 'test', 'ana', $count), qr/ZC001: 3 releases from dataset "d" failed or were cancelled within a day, and nothing more is released to role "ana"/, 'and that is true');
$node->safe_psql('test', q{SET SESSION AUTHORIZATION dba; SELECT dp_cdp.reset_failures('d', 'ana'), dp_cdp.alter_dataset('d', max_failures => 0)});
like(debit_error($node, 'test', 'ana', 'SELECT dp_sum(fussy(cost), 0, 10) FROM visits'), qr/counts as failure 1 in a day, of which none is allowed; the cause/,
	'where no failure is allowed');
like(debit_error($node, 'test', 'ana', $count), qr/ZC001: 1 release from dataset "d" failed or was cancelled within a day, and nothing more is released to role "ana"/, 'one is one');

$node->stop;
done_testing();
