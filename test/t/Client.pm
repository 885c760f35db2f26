# Answers for psql(), safe_psql() and poll_query_until() of PostgreSQL's harness, which start a
# psql for each call: to begin a process takes longer than most of what tests ask.
#
# Each call is a session of its own, as there, over the node's Unix socket.  It sends the script
# statement by statement, and prints what "psql -XAtq -f -" prints, but for the line of SQL and
# the caret below an error that has a position.
#
# Calls that this module does not understand go to psql, and so do all that find no server, or one
# that wants a password.  It knows no backslash commands (but \set VERBOSITY verbose), no
# COPY, LISTEN and BEGIN ATOMIC, and of options the role and the verbosity.

package Client;

use strict;
use warnings;

use Errno;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use Test::More;
use Time::HiRes qw(usleep);

# Returns the statements of a script, each with the number of the line in which it ends; undef where psql has to say.
sub statements
{
	my ($sql) = @_;
	my ($depth, $begin, @found) = (0, 0);

	return if $sql =~ /\b(?:COPY|LISTEN|NOTIFY|BEGIN\s+ATOMIC)\b/i || grep { /^PG(?:CLIENTENCODING|DATESTYLE|TZ|GEQO|SERVICE)/ } keys %ENV;
	pos($sql) = 0;
	while (pos($sql) < length $sql)
	{
		if ($sql =~ m{\G/\*}gc)
		{
			for (my $comments = 1; $comments > 0;)
			{
				return unless $sql =~ m{\G.*?(/\*|\*/)}gcs;
				$comments += $1 eq '/*' ? 1 : -1;
			}
		}
		elsif ($sql =~ /\G(?:--[^\n]*|[eE]'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$(|[a-zA-Z_]\w*)\$.*?\$\g1\$|\w+)/gcs)
		{
		}
		elsif ($sql =~ /\G;/gc)
		{
			next if $depth > 0;
			push @found, [ substr($sql, $begin, pos($sql) - $begin), 1 + substr($sql, 0, pos $sql) =~ tr/\n// ];
			$begin = pos $sql;
		}
		else
		{
			$sql =~ /\G(.)/gcs;
			return if $1 =~ /['"\\]/ || $1 eq '$' && $sql =~ /\G\w*\$/;
			$depth += $1 eq '(' ? 1 : $1 eq ')' ? -1 : 0;
		}
	}
	my $rest = substr $sql, $begin;
	push @found, [ $rest, ($sql =~ tr/\n//) + ($sql !~ /\n\z/) ] if $rest =~ /\S/;
	$_->[0] =~ s/^\s+// for @found;
	return \@found;
}

# Returns a session, or undef where there is none.
sub connected
{
	my ($node, $db, $role) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or return;
	my %given = (user => $role // $ENV{PGUSER} // getpwuid($<) . '', database => $db, application_name => $ENV{PGAPPNAME} // 'psql');
	my $session = { socket => $socket, buffer => '' };

	$given{options} = $ENV{PGOPTIONS} if defined $ENV{PGOPTIONS};
	my $startup = pack 'N(Z*)*x', 196608, %given;
	syswrite $socket, pack('N', 4 + length $startup) . $startup;
	while (my ($type, $body) = message($session))
	{
		return $session if $type eq 'Z';
		return if $type eq 'E' || $type eq 'R' && unpack('N', $body) != 0;
	}
	return;
}

# Returns type and body of the next message; nothing where the server has gone.
sub message
{
	my ($session) = @_;

	while (length $session->{buffer} < 5 || length $session->{buffer} < 1 + unpack 'xN', $session->{buffer})
	{
		my $n = sysread $session->{socket}, $session->{buffer}, 65536, length $session->{buffer};

		return unless defined $n ? $n : $!{EINTR};
	}
	my ($type, $length) = unpack 'aN', $session->{buffer};
	my $body = substr $session->{buffer}, 5, $length - 4;

	substr($session->{buffer}, 0, 1 + $length) = '';
	return ($type, $body);
}

# Returns an error or a notice as psql prints it.
sub told
{
	my ($body, $verbose, $is_error) = @_;
	my %field = map { (substr($_, 0, 1) => substr $_, 1) } split /\0/, $body;
	my @more = ([ D => 'DETAIL' ], [ H => 'HINT' ], [ q => 'QUERY' ]);

	push @more, [ W => 'CONTEXT' ] if $is_error;
	push @more, [ s => 'SCHEMA NAME' ], [ t => 'TABLE NAME' ], [ c => 'COLUMN NAME' ], [ d => 'DATATYPE NAME' ], [ n => 'CONSTRAINT NAME' ]
	  if $verbose;
	return join '', "$field{S}:  ", $verbose ? "$field{C}: " : '', "$field{M}\n", (map { "$_->[1]:  $field{$_->[0]}\n" } grep { defined $field{ $_->[0] } } @more),
	  $verbose ? "LOCATION:  $field{R}, $field{F}:$field{L}\n" : '';
}

# Sends a statement; returns what was printed to stdout and stderr, and "ok", "error" or "gone".
sub answer
{
	my ($session, $sql, $line, %how) = @_;
	my ($out, $err, $end, $rows) = ('', '', 'ok', 0);
	my $at = "psql:<stdin>:$line: ";

	syswrite $session->{socket}, pack('aN', 'Q', 5 + length $sql) . "$sql\0";
	while (my ($type, $body) = message($session))
	{
		if ($type eq 'D')
		{
			my ($n, $place, @values) = (unpack('n', $body), 2);

			for (1 .. $n)
			{
				my $length = unpack 'l>', substr $body, $place, 4;

				push @values, $length < 0 ? '' : substr $body, $place + 4, $length;
				$place += 4 + ($length < 0 ? 0 : $length);
			}
			$out .= join('|', @values) . "\n" if @values;
		}
		elsif ($type eq 'T')
		{
			$rows = 1;
		}
		elsif ($type eq 'C' && $how{tags} && !$rows)
		{
			$out .= substr($body, 0, -1) . "\n";
		}
		elsif ($type eq 'N' || $type eq 'E')
		{
			$err .= $at . told($body, $how{verbose}, $type eq 'E');
			# rows that came before are not shown
			($out, $end) = ('', 'error') if $type eq 'E';
		}
		return ($out, $err, $end) if $type eq 'Z';
	}
	$err .= "${at}server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n"
	  . "\tbefore or while processing the request.\n${at}error: connection to server was lost\n";
	return ($out, $err, 'gone');
}

# Runs a script; returns psql's exit code, stdout and stderr, or nothing where psql has to be asked.
sub run
{
	my ($node, $db, $sql, %how) = @_;

	utf8::encode($sql) if utf8::is_utf8($sql);
	$how{verbose} = 1 if $sql =~ s/\A\\set VERBOSITY verbose\n/\n/;
	my $statements = statements($sql) or return;
	local $SIG{PIPE} = 'IGNORE';
	my $session = connected($node, $db, $how{role}) or return;
	my ($code, $out, $err) = (0, '', '');

	for my $statement (@$statements)
	{
		my ($printed, $told, $end) = answer($session, @$statement, %how);

		$out .= $printed;
		$err .= $told;
		$code = $end eq 'gone' ? 2 : $end eq 'error' && $how{stop} ? 3 : 0;
		last if $code;
	}
	syswrite $session->{socket}, pack('aN', 'X', 4);
	# A server whose statement_timeout ends just after a statement reports it when it reads this, which it then loses.
	shutdown $session->{socket}, 1;
	# until the server has ended it, so that the next statement of a test does not meet it
	1 while sysread $session->{socket}, $session->{buffer}, 65536;
	return ($code, $out, $err);
}

# The options of psql that it knows, as those of run; nothing if there are others.
sub options
{
	my (%params) = @_;
	my %how = (stop => $params{on_error_stop} // 1);
	my @extra = @{ delete $params{extra_params} // [] };

	while (my ($option, $value) = splice @extra, 0, 2)
	{
		if ($option eq '-U') { $how{role} = $value }
		elsif ($option eq '-v' && $value eq 'VERBOSITY=verbose') { $how{verbose} = 1 }
		else { return }
	}
	delete @params{qw(on_error_stop on_error_die stdout stderr)};
	return %params ? () : %how;
}

{
	no warnings 'redefine';
	my $psql = \&PostgreSQL::Test::Cluster::psql;

	*PostgreSQL::Test::Cluster::psql = sub {
		my ($self, $db, $sql, %params) = @_;
		my %how = options(%params);
		my ($code, $out, $err) = %how && defined $sql ? run($self, $db, $sql, %how) : ();

		goto &$psql unless defined $code;
		chomp($out, $err);
		${ $params{stdout} } = $out if $params{stdout};
		${ $params{stderr} } = $err if $params{stderr};
		die(($code == 3 ? 'error running SQL' : 'connection error') . ": '$err'\nwhile running '$sql'") if $code && $params{on_error_die};
		return ($code, $out, $err) if wantarray;
		print "$out\n" unless $params{stdout} || $out eq '';
		print STDERR "$err\n" unless $params{stderr} || $err eq '';
		return $code;
	};

	my $poll = \&PostgreSQL::Test::Cluster::poll_query_until;

	*PostgreSQL::Test::Cluster::poll_query_until = sub {
		my ($self, $db, $query, $expected) = @_;
		my ($out, $err);

		goto &$poll unless defined $query && statements($query);
		for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
		{
			(undef, $out, $err) = run($self, $db, $query, tags => 1);
			return 1 if defined $out && $out eq ($expected // 't') . "\n" && $err eq '';
			usleep(100_000);
		}
		diag("poll_query_until timed out executing this query:\n$query\nexpecting this output:\n" . ($expected // 't') . "\nlast: " . ($out // 'no server') . ($err // ''));
		return 0;
	};
}

1;
