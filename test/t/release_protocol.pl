# The extended protocol: Parse, Bind and Describe are free; the debit comes
# with the first row, once for each portal that is executed, in however many
# pieces it is fetched.

use strict;
use warnings;

use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\n");
$node->start;
plan skip_all => 'needs a unix socket' unless $node->host =~ m{^/};

# rho 1e-6: two draws for the same four groups practically never coincide
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_cdp;
	CREATE ROLE owner1 LOGIN;
	CREATE ROLE analyst1 LOGIN;
	GRANT CREATE ON SCHEMA public TO owner1;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
	SET SESSION AUTHORIZATION owner1;
	CREATE TABLE visits (id int, patient int, dept text NOT NULL, cost numeric);
	INSERT INTO visits SELECT i, i, substr('abc', 1 + i % 3, 1), i FROM generate_series(1, 100) i;
	SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6, max_groups => 5, max_rows => 5);
	SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true);
	SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c', 'd']);
	SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1);
});

my $spent = 0;

sub paid
{
	my ($price, $description) = @_;
	my $now = $node->safe_psql('postgres', 'SELECT (rho_spent * 1e6)::int FROM dp_cdp_internal.budget');

	is($now - $spent, $price, $description);
	$spent = $now;
	return;
}

# --------------------------------------------------------------------------
# A client of a few messages
# --------------------------------------------------------------------------

my $socket;

sub connect_to
{
	my ($user) = @_;
	my $body = pack('N', 3 << 16) . "user\0$user\0database\0postgres\0\0";

	$socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "no connection: $!";
	$socket->syswrite(pack('N', 4 + length $body) . $body);
	receive('Z');
	return;
}

sub message
{
	my ($type, $body) = @_;

	return $type . pack('N', 4 + length $body) . $body;
}

sub read_bytes
{
	my ($n) = @_;
	my $data = '';

	while (length $data < $n)
	{
		$socket->sysread($data, $n - length $data, length $data) or die 'the server closed the connection';
	}
	return $data;
}

# what came up to the first message of one of these types: rows as 'a,b',
# other messages as their letter, errors as 'E' and their SQLSTATE
sub receive
{
	my ($until) = @_;
	my @got;

	while (1)
	{
		my ($type, $length) = unpack('aN', read_bytes(5));
		my $body = read_bytes($length - 4);

		if ($type eq 'D')
		{
			my $n = unpack('n', $body);
			my $at = 2;
			my @values;

			for (1 .. $n)
			{
				my $size = unpack('l>', substr($body, $at, 4));
				push @values, $size < 0 ? 'NULL' : substr($body, $at + 4, $size);
				$at += 4 + ($size < 0 ? 0 : $size);
			}
			push @got, join(',', @values);
		}
		elsif ($type eq 'E')
		{
			push @got, 'E' . ($body =~ /\0C(.....)\0/)[0];
		}
		elsif ($type !~ /[SKN]/ || index($until, $type) >= 0)
		{
			push @got, $type;
		}
		return @got if index($until, $type) >= 0;
	}
}

sub parse    { my ($name, $sql, @types) = @_; return message('P', "$name\0$sql\0" . pack('n/N*', @types)); }
sub describe { my ($kind, $name) = @_; return message('D', "$kind$name\0"); }
sub execute  { my ($portal, $rows) = @_; return message('E', "$portal\0" . pack('N', $rows // 0)); }

sub bind_to
{
	my ($portal, $statement, @values) = @_;
	my $body = "$portal\0$statement\0" . pack('nn', 0, scalar @values);

	$body .= pack('N/a*', $_) for @values;
	return message('B', $body . pack('n', 0));
}

sub exchange
{
	$socket->syswrite(join('', @_) . message('S', ''));
	return receive('Z');
}

my $by_dept = 'SELECT dept, dp_count(*) FROM visits GROUP BY dept';

# --------------------------------------------------------------------------

connect_to('analyst1');
is(join(' ', exchange(parse('s', $by_dept), describe('S', 's'))), '1 t T Z', 'Parse and Describe');
paid(0, 'are free');
is(join(' ', exchange(bind_to('', 's'), describe('P', ''))), '2 T Z', 'Bind and Describe');
paid(0, 'are free');
is(scalar(grep { /,/ } exchange(bind_to('', 's'), execute(''))), 4, 'Execute');
paid(1, 'pays');

# in pieces: one row each, in one transaction
exchange(message('Q', "BEGIN\0"));
receive('Z');
my @rows;
exchange(bind_to('p', 's'));
paid(0, 'a portal that is not executed is free');
for my $i (1 .. 4)
{
	my @got = exchange(execute('p', 1));
	push @rows, $got[0];
	is($got[1], 's', "row $i: the portal is suspended");
	paid($i == 1 ? 1 : 0, $i == 1 ? 'the first row pays' : 'and no other');
}
is(join(' ', exchange(execute('p', 1))), 'C Z', 'no more rows');
is(join(' ', map { (split ',')[0] } @rows), 'a b c d', 'each group once');
# a second portal for the same statement is another execution
my @other = grep { /,/ } exchange(bind_to('p2', 's'), execute('p2'));
paid(1, 'a second portal pays');
isnt("@other", "@rows", 'and draws afresh');
# two portals in turns
exchange(bind_to('x', 's'), bind_to('y', 's'));
my (@x, @y);
for (1 .. 4)
{
	push @x, (exchange(execute('x', 1)))[0];
	push @y, (exchange(execute('y', 1)))[0];
}
paid(2, 'two portals in turns pay twice');
isnt("@x", "@y", 'and do not share noise');
# closed before the end
exchange(bind_to('z', 's'), execute('z', 1), message('C', "Pz\0"));
paid(1, 'a portal closed after its first row was paid in full');
exchange(message('Q', "ROLLBACK\0"));
receive('Z');
paid(0, 'ROLLBACK does not refund');

# parameters: typed as text, numeric, int; unknown; many executions
my $sum = 'SELECT dp_sum(cost, $1, $2) FROM visits WHERE id > $3';
my %types = ('unknown' => [ 0, 0, 0 ], 'text' => [ 25, 25, 23 ], 'numeric' => [ 1700, 1700, 20 ],
	'int' => [ 23, 23, 23 ], 'double' => [ 701, 701, 21 ]);
for my $type (sort keys %types)
{
	my @got = exchange(parse("t$type", $sum, @{ $types{$type} }));

	is("@got", '1 Z', "parameters of type $type");
	for (1 .. 7)
	{
		@got = exchange(bind_to('', "t$type", '0', '10', '5'), execute(''));
		like("@got", qr/^2 -?[0-9.]+ C Z$/, "$type: an answer");
	}
	paid(7, "$type: seven executions");
	@got = exchange(bind_to('', "t$type", '10', '0', '5'), execute(''));
	is("@got", '2 EZC004 Z', "$type: bad bounds");
	paid(0, "$type: are free");
}

# an error after the first rows, in the same portal
exchange(message('Q', "BEGIN\0"));
receive('Z');
@rows = exchange(parse('', "SELECT setseed(CASE dept WHEN 'c' THEN 2 ELSE 1 END), n FROM ($by_dept) r (dept, n)"),
	bind_to('e', ''), execute('e', 2), execute('e', 2));
like("@rows", qr/E22023/, 'an error in the middle');
paid(1, 'does not refund');
exchange(message('Q', "ROLLBACK\0"));
receive('Z');

# a pipeline without Sync between its queries
@rows = exchange((parse('', $by_dept), bind_to('', ''), execute('')) x 3);
is(scalar(grep { /^[a-d],/ } @rows), 12, 'three queries in a pipeline');
paid(3, 'pay three times');
@rows = exchange(parse('', $by_dept), bind_to('', ''), execute(''), parse('', 'SELECT 1/0'), bind_to('', ''), execute(''));
like("@rows", qr/E22012/, 'a pipeline that fails later');
paid(1, 'does not refund');

# WITH HOLD, and what is left of it after the transaction
exchange(message('Q', "BEGIN; DECLARE h CURSOR WITH HOLD FOR $by_dept\0"));
receive('Z');
paid(0, 'a cursor WITH HOLD that is not fetched');
exchange(message('Q', "COMMIT\0"));
receive('Z');
paid(1, 'pays at COMMIT');
exchange(parse('', 'FETCH 2 FROM h'), bind_to('', ''), execute(''));
paid(0, 'and not when it is fetched');
$socket->close;

# pgbench, as many drivers do it
for my $mode ('simple', 'extended', 'prepared')
{
	my $script = $node->basedir . "/$mode.sql";
	append_to_file($script, "$by_dept;\nBEGIN;\n$by_dept;\nROLLBACK;\n");
	$node->command_ok([ 'pgbench', '-n', '-U', 'analyst1', '-c', '3', '-t', '10', '-M', $mode, '-f', $script, 'postgres' ],
		"pgbench -M $mode");
	paid(60, "pgbench -M $mode: each execution pays");
}

done_testing();
