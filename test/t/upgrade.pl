# An installation of this version, its budgets half spent, becomes one of the next: package over package, restart,
# ALTER EXTENSION UPDATE.  The next version is this one with another number, and with a step of its own before what
# every update runs again.  A database of each released version that has an install script is updated to this one.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $input = __FILE__ =~ s{/[^/]*$}{}r;
my $prefix = own_installation();
chomp(my $lib = `"$prefix/bin/pg_config" --pkglibdir`);
chomp(my $extension = `"$prefix/bin/pg_config" --sharedir`);
$extension .= '/extension';

# Puts bytes in a file's place, in the way of packagers: a new file beside the old, renamed.
sub put
{
	my ($path, $bytes) = @_;

	open(my $file, '>:raw', "$path.new") or die "$path.new: $!";
	print $file $bytes;
	close($file) or die "$path.new: $!";
	chmod(0755, "$path.new") or die "$path.new: $!";
	rename("$path.new", $path) or die "$path: $!";
	return;
}

sub fails
{
	my ($node, $role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('test', "\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION $role;\n$sql");

	return $err =~ s/^.*?ERROR: *//sr;
}

# Compares a database's objects, owners, privileges and comments with those of one where the extension is made anew.
sub is_as_fresh
{
	my ($node, $db, $what) = @_;

	$node->safe_psql('postgres', "DROP DATABASE IF EXISTS fresh");
	$node->safe_psql('postgres', 'CREATE DATABASE fresh');
	$node->safe_psql('fresh', 'CREATE EXTENSION dp_cdp');
	my ($updated, $fresh) = map { [ split /\n/, $node->safe_psql($_, slurp_file("$input/catalogue.sql")) ] } $db, 'fresh';
	cmp_ok(scalar @$fresh, '>', 1000, 'members are compared');
	is_deeply($updated, $fresh, "$what: objects, owners, privileges and comments as in a fresh database")
	  or do
	{
		my %other = map { $_ => 1 } @$fresh;
		diag("only in the updated: $_") for grep { !$other{$_} } @$updated;
		%other = map { $_ => 1 } @$updated;
		diag("only in the fresh: $_") for grep { !$other{$_} } @$fresh;
	};
	return;
}

my $node = PostgreSQL::Test::Cluster->new('updated', install_path => $prefix);
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nautovacuum = off\n");
$node->start;

my $control = slurp_file("$extension/dp_cdp.control");
my ($version) = $control =~ /^default_version = '(.*)'/m;
my $install = slurp_file("$extension/dp_cdp--$version.sql");

# ---------------------------------------------------------------------------
# From each released version to this one
# ---------------------------------------------------------------------------

for my $from (grep { $_ ne $version } map { /dp_cdp--([^-]+)\.sql$/ } glob("$input/../../sql/dp_cdp--*.sql"))
{
	$node->safe_psql('postgres', 'CREATE DATABASE released');
	$node->safe_psql('released', "CREATE EXTENSION dp_cdp VERSION '$from'; ALTER EXTENSION dp_cdp UPDATE");
	is_as_fresh($node, 'released', "from $from");
	$node->safe_psql('postgres', 'DROP DATABASE released');
}

# ---------------------------------------------------------------------------
# From this version to the next
# ---------------------------------------------------------------------------

my $next = $version =~ s/(\d)$/($1 + 1) % 10/er;
my $step = "ALTER TABLE dp_cdp_internal.dataset ADD COLUMN later int;\nCREATE TABLE dp_cdp.later (id int);\n";

$node->safe_psql('postgres', 'CREATE DATABASE test');
$node->safe_psql('test', <<EOC);
CREATE EXTENSION dp_cdp;
CREATE ROLE ana LOGIN;
CREATE ROLE bob LOGIN;
CREATE ROLE auditor;
CREATE ROLE dba;
-- an update takes away what these give on objects that it makes
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO ana;
GRANT CREATE ON SCHEMA public TO dba;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
SET SESSION AUTHORIZATION dba;
-- in the schema of the aggregates, what fits the script's statements more exactly than PostgreSQL's own
CREATE FUNCTION trap(oid, regrole) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''the script calls it as %'', current_user; END';
CREATE FUNCTION trap(oid, int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''the script calls it as %'', current_user; END';
CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = regrole, FUNCTION = trap);
CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = int, FUNCTION = trap);
CREATE TABLE visits (patient int, dept text NOT NULL, cost float8);
INSERT INTO visits SELECT i, 'a', 1 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 5, default_rho => 0.5, max_groups => 3);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10, 0, 20);
SELECT dp_cdp.set_keys('visits', 'dept', '{a,b}'::text[]);
CREATE TABLE readings (value float8);
SELECT dp_cdp.protect_table('readings', 'clinic', each_row => true);
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 2, period => '1 year');
SELECT dp_cdp.set_budget('clinic', 'bob', epsilon => 1, delta => 1e-6);
RESET SESSION AUTHORIZATION;
REVOKE EXECUTE ON FUNCTION dp_cdp.set_budget FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dp_cdp.set_budget TO dba WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION dp_cdp.harden TO auditor;
REVOKE EXECUTE ON FUNCTION dp_cdp.harden FROM pg_database_owner;
GRANT SELECT ON dp_cdp.metrics TO auditor;
GRANT SELECT ON dp_cdp_internal.budget TO bob;
EOC
my $ask = 'SELECT dp_count(*) FROM visits';
my %tables = (
	balances => 'SELECT dataset, role, rho_limit, rho_spent, delta_limit, delta_spent, period, renews_at FROM dp_cdp.budgets ORDER BY 1, 2',
	datasets => 'SELECT * FROM dp_cdp.datasets',
	audit => 'SELECT * FROM dp_cdp.audit WHERE granted ORDER BY id',
	policy => 'SELECT "table", dataset, unit, columns FROM dp_cdp.protected ORDER BY "table"::text',
	labels => q{SELECT objoid::regclass, objsubid, label FROM pg_seclabel WHERE provider = 'dp_cdp' ORDER BY objoid::regclass::text, objsubid});
my $is_same = sub {
	my ($db, $before, $what) = @_;

	is($node->safe_psql($db, $tables{$_}), $before->{$_}, "$what: the same $_") for sort keys %$before;
};

$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; $ask; $ask");
like($node->safe_psql('test', $tables{balances}), qr/^clinic\|ana\|2\|1\|/, 'spent');

for my $name ('dp_cdp.so', 'dp_cdp_primary.so')
{
	my $bytes = slurp_file("$lib/$name");
	cmp_ok($bytes =~ s/\Q$version\E\0/$next\0/g, '>=', 1, "$name has its version");
	put("$lib/$name", $bytes);
}
put("$extension/dp_cdp.control", $control =~ s/\Q$version\E/$next/r);
put("$extension/dp_cdp--$version--$next.sql", $step . slurp_file($ENV{UPDATE_SCRIPT}));
cmp_ok($install =~ s/^(?=-- =+\n-- 20\. )/$step/m, '==', 1, 'an install script with the step');
put("$extension/dp_cdp--$next.sql", $install);

# the new package is there, the server still has the old library
$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; $ask");
pass('the old version goes on');
my %before = map { $_ => $node->safe_psql('test', $tables{$_}) } keys %tables;

$node->restart;
my $apart = qr/ZC004: dp_cdp has version \Q$version\E in this database, and the server's library has version \Q$next\E: run ALTER EXTENSION dp_cdp UPDATE/;
like(fails($node, 'ana', $ask), $apart, 'a private query of the new library is refused');
like(fails($node, 'dba', "SELECT dp_cdp.set_budget('clinic', 'ana', rho => 3)"), $apart, 'administration, too');
like(fails($node, 'dba', "SELECT dp_cdp.create_dataset('other')"), $apart, 'of whatever arguments');
like(fails($node, 'dba', "SELECT dp_cdp.protect_table('visits', 'clinic', 'patient')"), $apart, 'of tables, too');
like(fails($node, 'postgres', 'SELECT dp_cdp.adopt_ledger()'), $apart, 'and adopting');
is($node->safe_psql('test', 'SET SESSION AUTHORIZATION dba; SELECT count(*) FROM visits'), 1000, 'the owner reads his rows');
is($node->safe_psql('test', $tables{balances}), $before{balances}, 'nothing was spent');

# a dump of the former version goes into its objects, which the new library can make
my $dump = "$ENV{TESTDIR}/dump.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('test') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->safe_psql('restored', "CREATE EXTENSION dp_cdp VERSION '$version'");
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'is restored');
$node->safe_psql('restored', 'ALTER EXTENSION dp_cdp UPDATE');
$node->safe_psql('restored', 'SELECT dp_cdp.adopt_ledger()');
$is_same->('restored', \%before, 'updated, and adopted');

my ($rc, $out, $notices) = $node->psql('test', 'ALTER EXTENSION dp_cdp UPDATE');
is($rc, 0, 'the update');
is($notices, '', 'without a warning');
is($node->safe_psql('test', 'SELECT dp_cdp.library_version() = extversion FROM pg_extension WHERE extname = $$dp_cdp$$'), 't', 'versions agree');
$is_same->('test', \%before, 'updated');
$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; $ask");
like($node->safe_psql('test', $tables{balances}), qr/^clinic\|ana\|2\|2\|/, 'debits go on where they were');
like(fails($node, 'ana', $ask), qr/^ZC001/, 'to the end of the budget');
is($node->safe_psql('test', q{SELECT sum((d ->> 'rho')::numeric) = 2 FROM jsonb_array_elements(dp_cdp.report_data('clinic') -> 'days') d}), 't',
	'a report has the days before the update, too');
is($node->safe_psql('test', q{SELECT string_agg(severity || ' ' || finding, '; ') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'the ledger adds up');
is($node->safe_psql('test', "SET SESSION AUTHORIZATION dba; SELECT rho || ' ' || aggregates FROM dp_cdp.set_budget('clinic', 'ana', rho => 2, period => '1 year')"),
	'2 4', 'budgets are set');

# what an administrator has granted is his still, and what nobody may have is taken
is($node->safe_psql('test', q{SELECT string_agg(format('%s %s', grantee::regrole, object), ', ' ORDER BY grantee::regrole::text, object)
	FROM dp_cdp_internal.member_grants() WHERE NOT given}) =~ s/\([^)]*\)//gr,
	'auditor dp_cdp.harden, auditor dp_cdp.metrics, dba dp_cdp.create_dataset, dba dp_cdp.set_budget', 'grants');
$node->command_ok([ 'pg_dump', '-s', '-f', $dump, $node->connstr('test') ], 'a dump after the update');
my $granted = join(' ', sort map { /^GRANT (.*);$/ ? $1 =~ s/\(.*\)//r : () } split /\n/, slurp_file($dump));
like($granted, qr/ALL ON FUNCTION dp_cdp.$_/, "has grants: $_") for 'harden TO auditor', 'set_budget TO dba WITH GRANT OPTION';
like($granted, qr/SELECT ON TABLE dp_cdp.metrics TO auditor/, '... on views');
like(slurp_file($dump), qr/^REVOKE ALL ON FUNCTION dp_cdp\.harden\(.*\) FROM pg_database_owner;$/m, '... and what was taken from the owner of the database');
unlike($granted, qr/dp_cdp\S* TO ana/, 'and nothing that default privileges gave');

$node->safe_psql('test', <<EOC);
REVOKE EXECUTE ON FUNCTION dp_cdp.set_budget FROM dba;
GRANT EXECUTE ON FUNCTION dp_cdp.set_budget TO PUBLIC;
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM dba;
REVOKE EXECUTE ON FUNCTION dp_cdp.harden FROM auditor;
GRANT EXECUTE ON FUNCTION dp_cdp.harden TO pg_database_owner;
REVOKE SELECT ON dp_cdp.metrics FROM auditor;
EOC
is_as_fresh($node, 'test', 'updated');

done_testing();
