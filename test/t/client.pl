# Client.pm answers what psql answers: exit codes, rows, errors and notices, of the same scripts.

use strict;
use warnings;

use Client;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
my @scripts = (
	'SELECT 1', "SELECT 1;\n", '', " \n\n", ';', ';;', "SELECT 1; SELECT 2\n;\nSELECT 3", 'SELECT', 'SELECT FROM generate_series(1, 2)',
	"SELECT NULL, '', 'a b', E'x\\ny', true, 1.50", "SELECT 'a;b', \"c;d\" FROM (SELECT 1 AS \"c;d\") q; SELECT 'it''s'", q{SELECT E'\\' ; \\''; SELECT 2},
	'SELECT $$ a; b $$, $t$ $$; $t$; SELECT $1', "SELECT 1 -- no; not here\n;SELECT 2 -- nor here", "SELECT 1 /* ; /* ; */ ; */ + 1; SELECT 4 /* x */",
	'SELECT (1; 2)', "CREATE TABLE t (i int PRIMARY KEY, s text NOT NULL);\nINSERT INTO t VALUES (1, 'a'), (2, 'b') RETURNING i, s", 'TABLE t; UPDATE t SET s = s; DELETE FROM t WHERE i = 2',
	"SELECT 1;\nSELECT 1/0;\nSELECT 2", "\n\nSELECT 1\n/\n0\n;\n", "INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (3, NULL)",
	"DO \$\$ BEGIN RAISE NOTICE 'a %', 1 USING DETAIL = 'b', HINT = E'c\\nd'; RAISE WARNING 'w'; END \$\$; SELECT 3",
	"DO \$\$ BEGIN RAISE EXCEPTION 'a' USING DETAIL = 'b', HINT = 'c', ERRCODE = 'ZC001'; END \$\$", "DO \$\$ BEGIN PERFORM 1 / (SELECT 0); END \$\$",
	'BEGIN; SELECT 1; SELECT 1/0; SELECT 2; COMMIT', 'BEGIN; CREATE TABLE u (); ROLLBACK; SELECT 5', 'SET statement_timeout = 20; SELECT pg_sleep(20)', 'DROP TABLE IF EXISTS nothing; SELECT 6',
	'SET client_min_messages = log; SET log_min_error_statement = debug5; SELECT 7', 'SHOW application_name; SELECT current_user = session_user; SHOW client_encoding', "EXPLAIN (COSTS off) SELECT FROM t",
	"PREPARE p AS SELECT \$1::int; EXECUTE p(3); DEALLOCATE p", "BEGIN; DECLARE c CURSOR FOR SELECT i FROM generate_series(1, 3) i; FETCH 2 FROM c; FETCH ALL FROM c", 'VALUES (1, 2), (3, NULL)',
	"SELECT 'ä', chr(228)", "SELECT ARRAY[1, 2], ROW(1, 'a'), '{\"a\": 1}'::jsonb, '12:30'::time", 'SELECT (ARRAY[1, 2, 3])[1:2]', 'LOCK TABLE t', 'SELECT pg_terminate_backend(pg_backend_pid())',
	'SELECT repeat(i::text, 3000) FROM generate_series(1, 100) i', 'VACUUM t; CREATE DATABASE other; DROP DATABASE other',
	# those that only psql understands
	'\\echo a', "\\set x 3\nSELECT :x", "SELECT 'a", 'SELECT $$a', 'SELECT 1 /* a', 'SELECT "a', 'COPY (SELECT 1) TO STDOUT', "SELECT 1 \\gset\nSELECT 2",
	"CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC; SELECT 1; END; SELECT f()");
my $understood = 0;

sub without_line
{
	return $_[0] =~ s/^LINE \d+: .*\n *\^(?:\n|\z)//mgr =~ s/\n\z//r;
}

# psql's own answer, without the line of SQL and the caret below an error that has a position
sub of_psql
{
	my ($db, $sql, @options) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr($db), '-f', '-', @options ], '<', \$sql, '>', \$out, '2>', \$err);
	my $code = $? >> 8;
	chomp($out, $err);
	return [ $code, $out, without_line($err) ];
}

sub same
{
	my ($name, $db, $sql, %params) = @_;
	my @options = ((($params{on_error_stop} // 1) ? ('-v', 'ON_ERROR_STOP=1') : ()), @{ $params{extra_params} // [] });
	# what it makes or takes away is there for both
	my $before = "DROP TABLE IF EXISTS t; CREATE TABLE t (i int PRIMARY KEY, s text NOT NULL); INSERT INTO t VALUES (1, 'a'), (2, 'b')";
	my @answers;

	for my $ask (\&of_psql, sub { my ($c, $o, $e) = $node->psql($_[0], $sql, %params); return [ $c, $o, without_line($e) ] })
	{
		Client::run($node, 'postgres', $sql =~ /CREATE TABLE t/ ? 'DROP TABLE IF EXISTS t' : $before);
		push @answers, $ask->($db, $sql, @options);
	}
	is_deeply($answers[1], $answers[0], $name =~ s/\s+/ /gr);
	return;
}

for my $sql (@scripts)
{
	same($sql, 'postgres', $sql);
	$understood += defined Client::statements($sql);
}
is($understood, @scripts - 9, 'and psql is asked nine of them');
same('errors do not stop: ' . $_, 'postgres', $_, on_error_stop => 0) for "SELECT 1/0;\nSELECT 2", 'BEGIN; SELECT 1/0; SELECT 3; COMMIT; SELECT 4';
same('verbose: ' . $_, 'postgres', "\\set VERBOSITY verbose\n$_", on_error_stop => 0) for 'SELECT 1/0', "INSERT INTO t VALUES (1, 'a')", 'SELECT x', 'DROP TABLE IF EXISTS nothing';
same('another role', 'postgres', 'SELECT current_user', extra_params => [ '-U', getpwuid($<) . '' ]);
same('no such role', 'postgres', 'SELECT 1', extra_params => [ '-U', 'nobody' ]);
same('no such database', 'none', 'SELECT 1');
same('another option', 'postgres', 'SELECT 1, 2', extra_params => [ '-F', '+' ]);
{
	local $ENV{PGOPTIONS} = '-c work_mem=123kB';
	local $ENV{PGAPPNAME} = 'me';
	same('settings of the environment', 'postgres', 'SHOW work_mem; SHOW application_name');
}
is(eval { $node->safe_psql('postgres', 'SELECT 1/0'); 1 }, undef, 'safe_psql dies');
like($@, qr/^error running SQL: 'psql:<stdin>:1: ERROR:  division by zero'/, 'and says why');
ok($node->poll_query_until('postgres', 'SET work_mem = 100; SHOW work_mem', "SET\n100kB"), 'what is waited for comes');
$node->stop;
same('no server', 'postgres', 'SELECT 1');
done_testing();
