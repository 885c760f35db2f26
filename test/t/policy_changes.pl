# An owner who changes the policy while others ask: a planning sees one policy, and who is charged is answered.

use strict;
use warnings;

use IPC::Run;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE owner LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN;
GRANT CREATE ON SCHEMA public TO owner;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;
CREATE SCHEMA mine AUTHORIZATION ana;
SET ROLE owner;
CREATE TABLE visits (patient int NOT NULL, dept text NOT NULL, cost numeric);
INSERT INTO visits SELECT i % 200, (ARRAY['a', 'b', 'c'])[1 + i % 3], i % 400 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset(d, find_bounds => 0, default_rho => 0.001, max_failures => 1000, max_groups => 5, max_rows => 5) FROM unnest('{clinic,other}'::text[]) d;
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 500);
SELECT dp_cdp.set_keys('visits', 'dept', '{a,b,c}'::text[]);
SELECT dp_cdp.set_budget(d, r::regrole, rho => 1000) FROM unnest('{clinic,other}'::text[]) d, unnest('{ana,bob}'::text[]) r;
EOC

# ---------------------------------------------------------------------------
# At random moments
# ---------------------------------------------------------------------------

my $protect = q{SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');};
my $declare = q{SELECT dp_cdp.set_bounds('visits', 'cost', 0, 500), dp_cdp.set_keys('visits', 'dept', '{a,b,c}'::text[]);};
# an answer of one row, also where no group is there
my $query = q{SELECT 'answer', sum(n) IS NULL, sum(s) IS NULL FROM (SELECT dept, count(*) AS n, sum(cost) AS s FROM visits GROUP BY dept) g;};
my $free = qr/ZC00[23]: .*nothing was (?:charged|debited)/;

my @changes = (
	[ 'protection, at once', "BEGIN; SELECT dp_cdp.unprotect_table('visits'); $protect $declare COMMIT;", $free ],
	[ 'protection', "SELECT dp_cdp.unprotect_table('visits'); $protect", qr/42501|ZC004: .*bounds|ZC002: permission denied for rows|$free/ ],
	# and a pause, as only then it can be asked
	[ 'all of it', "SELECT dp_cdp.unprotect_table('visits'); $protect $declare SELECT pg_sleep(0.02);", qr/42501|ZC004: .*bounds|ZC002: permission denied for rows|$free/ ],
	[ 'bounds', q{SELECT dp_cdp.drop_bounds('visits', 'cost'); SELECT dp_cdp.set_bounds('visits', 'cost', 0, 500);}, qr/ZC004: .*bounds|$free/ ],
	[ 'keys', q{SELECT dp_cdp.drop_keys('visits', 'dept'); SELECT dp_cdp.set_keys('visits', 'dept', '{a,b,c}'::text[]);}, qr/$free/ ],
	[ 'the dataset of the table', "SELECT dp_cdp.protect_table('visits', 'other', unit => 'patient'); $protect", qr/$free/ ],
	[ 'settings of the dataset', q{SELECT dp_cdp.alter_dataset('clinic', max_groups => 4); SELECT dp_cdp.alter_dataset('clinic', max_groups => 5);}, qr/$free/ ],
	[ 'the table', "CREATE TABLE fresh (LIKE visits); INSERT INTO fresh TABLE visits; SELECT dp_cdp.replace_table('visits', 'fresh');"
		  . ' ALTER TABLE visits RENAME TO old; ALTER TABLE fresh RENAME TO visits; DROP TABLE old;', qr/42P01|42501|ZC002: "visits" has the name|ZC002: permission denied for rows|$free/ ]);

# how many releases were paid for, and failed; failures that are counted
sub account
{
	return value($node, 'test', q{SELECT count(*) FILTER (WHERE kind = 'granted') || ' ' || count(*) FILTER (WHERE kind = 'failed')
		|| ' ' || (SELECT sum(failures) FROM dp_cdp_internal.budget) FROM dp_cdp_internal.release_log});
}

for my $change (@changes)
{
	my ($what, $sql, $allowed) = @$change;
	my ($before) = split / /, account();
	# nobody reads what it is told, and a full pipe would stop it
	my $owner = background($node, 'test', "\\o /dev/null\nSET application_name = changes; SET SESSION AUTHORIZATION owner; SET client_min_messages = error;\n" . "$sql\n" x 20_000);
	my ($errors, $out) = ('', '');

	# On a busy machine all of a session's statements may fall into one moment without a policy: then it asks again.
	for (1 .. 50)
	{
		my @analysts = map { background($node, 'test', "SET SESSION AUTHORIZATION $_; SET client_min_messages = error;\n" . "$query\n" x by_run(60, 400)) } qw(ana bob);

		$errors .= finish($_) for @analysts;
		$out .= $_->{out} for @analysts;
		last if $what eq 'protection' || $out =~ /^answer/m;
	}
	$owner->{handle}->signal('TERM');
	finish($owner);
	ok($node->poll_query_until('test', q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'changes')}), "$what: the owner has ended");
	my $answers = () = $out =~ /^answer/mg;
	note "$what: ", scalar(() = $errors =~ /ERROR:  $free/g), ' refused for nothing, ', scalar(() = $errors =~ /ERROR:  /g), ' errors in all';
	my @other = grep { $_ !~ $allowed } $errors =~ /ERROR:  (.*)/g;
	is("@other[0 .. ($#other > 2 ? 2 : $#other)]", '', "$what: nothing else is said than that it is closed, or to ask again");
	# which has no bounds in between
	cmp_ok($answers, '>', 0, "$what: there are answers") unless $what eq 'protection';
	is(account(), join(' ', $before + $answers, 0, 0), "$what: $answers answers were paid for, nothing else, and none failed");
	$node->safe_psql('test', "SET SESSION AUTHORIZATION owner; SET client_min_messages = error; DO \$\$ BEGIN"
		  . q{ IF to_regclass('visits') IS NULL THEN ALTER TABLE fresh RENAME TO visits; END IF; DROP TABLE IF EXISTS old, fresh; END $$;} . $protect . $declare);
}
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/was terminated by signal/, 'the server lives');

# ---------------------------------------------------------------------------
# In the middle of a planning, and between the planning and the debit
# ---------------------------------------------------------------------------

$node->safe_psql('test', <<'EOC');
SET ROLE ana;
CREATE FUNCTION mine.waits() RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN PERFORM pg_advisory_lock(7), pg_advisory_unlock(7); RETURN 0; END $$;
EOC

# asks while somebody holds what planning waits for, changes something, and lets it go on
my $last;
sub while_planned
{
	my ($asks, $change) = @_;
	my $holder = $node->background_psql('test', on_error_die => 1);
	my $run;

	$holder->query_safe('SELECT pg_advisory_lock(7)');
	$run = background($node, 'test', "SET SESSION AUTHORIZATION ana; SET client_min_messages = error;\n$asks");
	$node->poll_query_until('test', q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)}) or die 'nobody waits';
	$node->safe_psql('test', "SET SESSION AUTHORIZATION owner; SET client_min_messages = error; $change");
	$holder->quit;
	finish($run);
	$last = $run;
	return $run->{err} =~ /ERROR:  (.*)/ ? $1 : $run->{out};
}

my $asks = 'SELECT dept, count(*) * 0 + mine.waits() FROM visits GROUP BY dept ORDER BY dept;';
is(while_planned($asks, q{SELECT dp_cdp.set_keys('visits', 'dept', '{a,d}'::text[]);}), "a|0\nd|0\n", 'the answer has the keys that are declared when the planning ends');
like(while_planned($asks, q{SELECT dp_cdp.unprotect_table('visits');}), qr/^42501/, 'a table that is no more protected answers nothing');
$node->safe_psql('test', "SET SESSION AUTHORIZATION owner; $protect $declare");
like(while_planned('SELECT sum(cost) * mine.waits() FROM visits;', q{SELECT dp_cdp.drop_bounds('visits', 'cost');}), qr/^ZC004: .*bounds/, 'bounds that are gone are missed');
$node->safe_psql('test', "SET SESSION AUTHORIZATION owner; $declare");

# Partitions are looked up when the inner query is planned, after what it joins with, where it waits.
$node->safe_psql('test', <<'EOC');
SET ROLE owner;
CREATE TABLE parts (patient int NOT NULL, dept text) PARTITION BY LIST (dept);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a') PARTITION BY RANGE (patient);
CREATE TABLE parts_a_all PARTITION OF parts_a DEFAULT;
INSERT INTO parts SELECT i, 'a' FROM generate_series(1, 100) i;
SELECT dp_cdp.protect_table('parts', 'clinic', unit => 'patient');
CREATE TABLE more (patient int NOT NULL) PARTITION BY RANGE (patient);
CREATE TABLE more_all PARTITION OF more DEFAULT;
GRANT SELECT ON more TO ana;
EOC
my $spent = q{SELECT rho_spent FROM dp_cdp_internal.budget WHERE dataset = 'clinic' AND role = 'ana'::regrole};
for my $part (qw(parts_a parts_a_all))
{
	$node->safe_psql('test', q{SET SESSION AUTHORIZATION owner; SELECT dp_cdp.protect_table('parts', 'clinic', unit => 'patient');});
	my $paid = value($node, 'test', $spent);
	is(while_planned("SELECT dp_count(*) IS NULL FROM parts p, (SELECT mine.waits() AS n) m WHERE p.patient > m.n; SELECT dp_count(*) IS NULL FROM $part;",
		q{SELECT dp_cdp.protect_table('parts', 'other', unit => 'patient');}), "f\nf\n", "$part is asked while its table goes to another dataset");
	is(value($node, 'test', $spent), $paid, 'whose budget pays, also for the partition');
}
while_planned('SELECT dp_count(*) FROM visits v JOIN (SELECT patient FROM more WHERE patient > mine.waits()) m ON m.patient = v.patient; SELECT dp_count(*) IS NULL FROM more_all;',
	q{SELECT dp_cdp.protect_table('more', 'clinic', unit => 'patient');});
is($last->{out}, "f\n", 'a partition is protected whose table came to be so meanwhile');

# What code of the asker plans meanwhile is a statement of its own, and sees the policy of its own moment.
$node->safe_psql('test', <<'EOC');
SET ROLE ana;
CREATE FUNCTION mine.asks() RETURNS int LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN PERFORM pg_advisory_lock(7), pg_advisory_unlock(7); PERFORM dp_count(*) FROM visits; RETURN 0; END $$;
EOC
is(while_planned('SELECT dp_count(*) IS NULL FROM visits v, (SELECT mine.asks() AS n) m WHERE v.patient > m.n;', q{SELECT dp_cdp.protect_table('visits', 'other', unit => 'patient');}),
	"f\n", 'a statement that is run while a prefetch is planned is planned by itself');
$node->safe_psql('test', "SET SESSION AUTHORIZATION owner; SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');");

my $cursor = q{BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) > -1e6 FROM visits; SELECT pg_advisory_xact_lock(7); FETCH c;};
my $before = value($node, 'test', 'SELECT sum(rho_spent) FROM dp_cdp_internal.budget');
like(while_planned($cursor, q{SELECT dp_cdp.set_keys('visits', 'dept', '{a,e}'::text[]);}), $free, 'a policy that changed before the debit is refused for nothing');
is(value($node, 'test', 'SELECT sum(rho_spent) FROM dp_cdp_internal.budget'), $before, 'and nothing was debited');

# Between two releases of a statement, which were charged together, in a transaction that has written.
$node->safe_psql('test', <<'EOC');
CREATE TYPE mood AS ENUM ('x', 'y'); ALTER TYPE mood OWNER TO owner;
CREATE DOMAIN grade AS int; ALTER DOMAIN grade OWNER TO owner;
SET ROLE owner;
CREATE TABLE feelings (patient int NOT NULL, m mood NOT NULL, g grade);
SELECT dp_cdp.protect_table('feelings', 'clinic', unit => 'patient');
SET ROLE ana;
CREATE TABLE mine.written (n int);
CREATE FUNCTION mine.naps() RETURNS int LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_advisory_lock(7), pg_advisory_unlock(7); RETURN 0; END $$;
EOC
my $twice = q{BEGIN; INSERT INTO mine.written VALUES (1); SELECT (SELECT count(*) FROM feelings WHERE m = 'x' OR g = 1) * 0 + mine.naps()
	+ (SELECT count(*) FROM feelings WHERE m = 'y' OR g = 2) * 0; COMMIT;};
for my $change ('GRANT USAGE ON TYPE mood TO bob', 'ALTER TYPE mood SET SCHEMA public; REVOKE USAGE ON DOMAIN grade FROM PUBLIC', 'ALTER DOMAIN grade RENAME TO note',
	q{SELECT dp_cdp.set_keys('feelings', 'm', '{x}'::text[])})
{
	is(while_planned($twice, $change), "0\n", "what was charged is answered: $change");
}

$node->stop;
done_testing();
