# An installation of a released version, its budgets half spent, becomes one of
# this version: package over package, restart, ALTER EXTENSION UPDATE.

use strict;
use warnings;

use File::Copy;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the history of the repository is not here'
  unless $ENV{FORMER_VERSIONS};

my $input = __FILE__ =~ s{/[^/]*$}{}r;
my $same = qr/ZC004: dp_cdp has version 0\.1\.0 in this database, and the server's library has version (\S+): run ALTER EXTENSION dp_cdp UPDATE/;

# where an installation has its library, and its control file and scripts
sub places
{
	my ($prefix) = @_;
	my $config = "$prefix/bin/pg_config";

	chomp(my $lib = `"$config" --pkglibdir`);
	chomp(my $share = `"$config" --sharedir`);
	return ($lib, "$share/extension");
}

# Puts the extension's files that are in directories $lib and $extension into
# the installation, in the way of packagers: a new file beside the old, renamed.
sub put
{
	my ($prefix, $lib, $extension) = @_;
	my ($to_lib, $to_extension) = places($prefix);

	for my $pair ([ $to_lib, "$lib/dp_cdp.so" ], map { [ $to_extension, $_ ] } glob("$extension/dp_cdp--*.sql"), "$extension/dp_cdp.control")
	{
		my ($dir, $file) = @$pair;
		my $name = $file =~ s{.*/}{}r;
		copy($file, "$dir/$name.new") or die "$file: $!";
		rename("$dir/$name.new", "$dir/$name") or die "$dir/$name: $!";
	}
	return;
}

sub fails
{
	my ($node, $role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('test', "\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION $role;\n$sql");

	return $err =~ s/^.*?ERROR: *//sr;
}

# what of the catalogues must be as in a fresh database
sub catalogue
{
	my ($node, $db) = @_;

	return [ split /\n/, $node->safe_psql($db, slurp_file("$input/catalogue.sql")) ];
}

my $prefix = own_installation();
my @new = places($ENV{DP_BIN} =~ s{/bin$}{}r);

for my $version (map { s{.*/}{}r } glob("$ENV{FORMER_VERSIONS}/*"))
{
	my $former = "$ENV{FORMER_VERSIONS}/$version";
	my $node = PostgreSQL::Test::Cluster->new("from_$version", install_path => $prefix);

	put($prefix, $former, $former);
	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nautovacuum = off\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE test');
	$node->safe_psql('test', <<EOC);
CREATE ROLE ana LOGIN;
-- what former versions did not take away
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO ana;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO ana;
CREATE EXTENSION dp_cdp VERSION '$version';
CREATE ROLE dba;
GRANT CREATE ON SCHEMA public TO dba;
CREATE ROLE bob LOGIN;
SET SESSION AUTHORIZATION dba;
CREATE TABLE visits (patient int, dept text NOT NULL, cost float8);
INSERT INTO visits SELECT i, 'a', 1 FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 5, default_rho => 0.5);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10);
SELECT dp_cdp.set_keys('visits', 'dept', '{a,b}'::text[]);
CREATE TABLE readings (value float8);
SELECT dp_cdp.protect_table('readings', 'clinic');
SELECT dp_cdp.set_bounds('readings', 'value', 0, 1);
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 2, period => '1 year');
SELECT dp_cdp.set_budget('clinic', 'bob', epsilon => 1, delta => 1e-6);
RESET SESSION AUTHORIZATION;
REVOKE EXECUTE ON FUNCTION dp_cdp.set_budget FROM PUBLIC, ana;
GRANT EXECUTE ON FUNCTION dp_cdp.set_budget TO dba WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION dp_cdp.set_budget TO bob;
REVOKE EXECUTE ON FUNCTION dp_cdp.set_keys FROM PUBLIC, ana;
GRANT EXECUTE ON FUNCTION dp_cdp.set_keys TO dba;
EOC
	my $ask = 'SELECT dp_count(*) FROM visits';
	$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; $ask; $ask");
	my $budgets = 'SELECT dataset, role, rho_limit, rho_spent, delta_limit, delta_spent, period, renews_at FROM dp_cdp.budgets ORDER BY 1, 2';
	my $releases = 'SELECT id, released_at, dataset, role, session_role, aggregates, rho, delta, sigma, granted, failed FROM dp_cdp.releases WHERE aggregates <> $$checkpoint$$ AND length(aggregates) > 0 ORDER BY 1';
	my $policy = 'SELECT "table", dataset, unit, columns FROM dp_cdp.protected';
	my @before = map { $node->safe_psql('test', $_) } $budgets, $releases, $policy;

	like($before[0], qr/^clinic\|ana\|2\|1\|/, "$version: spent");

	# the new package is there, the server still has the old library
	put($prefix, @new);
	my ($rc, $out, $err) = $node->psql('test', 'ALTER EXTENSION dp_cdp UPDATE');
	isnt($rc, 0, "$version: no update before the restart");
	like($err, qr/could not find function "dp_library_version"/, 'which the message tells');
	$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; $ask");
	pass('the old version goes on');
	$before[0] = $node->safe_psql('test', $budgets);
	$before[1] = $node->safe_psql('test', $releases);

	$node->restart;
	like(fails($node, 'ana', $ask), $same, "$version: a private query of the new library is refused");
	like(fails($node, 'dba', "SELECT dp_cdp.set_budget('clinic', 'ana', rho => 3)"), $same, 'administration, too');
	like(fails($node, 'dba', "SELECT dp_cdp.create_dataset('other')"), $same, 'of whatever arguments');
	like(fails($node, 'dba', "SELECT dp_cdp.protect_table('visits', 'clinic', 'patient')"), $same, 'of tables, too');
	like(fails($node, 'postgres', 'SELECT dp_cdp.adopt_ledger()'), $same, 'and adopting');
	is($node->safe_psql('test', 'SET SESSION AUTHORIZATION dba; SELECT count(*) FROM visits'), 1000, 'the owner reads his rows');

	# a dump of the former version goes into its objects, which the new library can make
	my $dump = "$ENV{TESTDIR}/$version.sql";
	$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('test') ], "$version: a dump");
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->safe_psql('restored', "CREATE EXTENSION dp_cdp VERSION '$version'");
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'is restored');
	$node->safe_psql('restored', 'ALTER EXTENSION dp_cdp UPDATE');
	$node->safe_psql('restored', 'SELECT dp_cdp.adopt_ledger()');
	is($node->safe_psql('restored', $budgets), $before[0], 'updated, and adopted');
	is($node->safe_psql('restored', $releases =~ s/sigma/stddev/r), $before[1], 'with its audit');
	is($node->safe_psql('test', $budgets), $before[0], 'nothing was spent');

	# somebody else's schema of that name
	$node->safe_psql('test', 'CREATE SCHEMA dp_cdp_internal');
	(undef, undef, $err) = $node->psql('test', 'ALTER EXTENSION dp_cdp UPDATE');
	like($err, qr/schema "dp_cdp_internal" already exists/, 'a schema that the update makes is in the way');
	like(fails($node, 'ana', $ask), $same, 'and changes nothing of what is refused');
	$node->safe_psql('test', 'DROP SCHEMA dp_cdp_internal');

	my ($updated_rc, $updated_out, $notices) = $node->psql('test', "ALTER EXTENSION dp_cdp UPDATE");
	is($updated_rc, 0, "$version: the update");
	# of a table of which each row is a unit bounds have meant a row all along
	like($notices, qr/\A\S+ WARNING:  bounds 0 \.\. 10 of column cost of visits limit the value of a row now, [^\n]*\nHINT:  [^\n]*set_bounds\('visits', 'cost', lower, upper, 0, 10\) with the bounds of a row\.\s*\z/,
		'names columns whose bounds mean something else');
	is($node->safe_psql('test', 'SELECT dp_cdp.library_version() = extversion FROM pg_extension WHERE extname = $$dp_cdp$$'),
		't', "$version: updated");
	is($node->safe_psql('test', $budgets), $before[0], 'the same balances');
	is($node->safe_psql('test', $releases =~ s/sigma/stddev/r), $before[1], 'the same audit');
	is($node->safe_psql('test', $policy), $before[2], 'the same policy');
	$node->safe_psql('test', "SET SESSION AUTHORIZATION ana; $ask");
	like($node->safe_psql('test', $budgets), qr/^clinic\|ana\|2\|2\|/, 'debits go on where they were');
	like(fails($node, 'ana', $ask), qr/^ZC001/, 'to the end of the budget');
	is($node->safe_psql('test', q{SELECT sum((d ->> 'rho')::numeric) = 2 FROM jsonb_array_elements(dp_cdp.report_data('clinic') -> 'days') d}), 't',
		'a report has the days before the update, too');
	is($node->safe_psql('test', q{SELECT string_agg(severity || ' ' || finding, '; ') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '',
		'the ledger adds up from here on');
	$node->safe_psql('test', "GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba; SET SESSION AUTHORIZATION dba;"
		. " SELECT dp_cdp.create_dataset('other'); RESET SESSION AUTHORIZATION; REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM dba");

	is($node->safe_psql('test', "SELECT string_agg(grantee::regrole || ' ' || is_grantable, ', ' ORDER BY grantee::regrole::text) FROM pg_proc, aclexplode(proacl) WHERE oid = 'dp_cdp.set_budget'::regproc"),
		'bob false, dba true, postgres false', "$version: who may call a function that has another result now");
	is($node->safe_psql('test', "SELECT string_agg(grantee::regrole || ' ' || is_grantable, ', ' ORDER BY grantee::regrole::text) FROM pg_proc, aclexplode(proacl) WHERE oid = 'dp_cdp.set_keys'::regproc"),
		'dba false, postgres false', '... or another');
	is($node->safe_psql('test', 'SELECT DISTINCT key_delta_share FROM dp_cdp.datasets'), '0.1', 'datasets have the default of a new setting');
	is($node->safe_psql('test', 'SELECT dataset, max_groups, max_rows, max_contribution FROM dp_cdp.datasets ORDER BY dataset'), "clinic|5|5|\nother|||auto",
		'those that there were keep their limits, others find them');
	is($node->safe_psql('test', "SET SESSION AUTHORIZATION dba; SELECT rho || ' ' || aggregates FROM dp_cdp.set_budget('clinic', 'ana', rho => 2, period => '1 year')"),
		'2 4', 'and budgets tell what they allow');
	$node->safe_psql('test', 'REVOKE EXECUTE ON FUNCTION dp_cdp.set_budget FROM dba, bob CASCADE; GRANT EXECUTE ON FUNCTION dp_cdp.set_budget TO PUBLIC;'
		. ' REVOKE EXECUTE ON FUNCTION dp_cdp.set_keys FROM dba; GRANT EXECUTE ON FUNCTION dp_cdp.set_keys TO PUBLIC');

	is($node->safe_psql('test', "SELECT string_agg(severity, ' ') FROM dp_cdp.check_setup() WHERE object = 'public.readings' AND finding ~ 'person of its own'"), 'info',
		'a table that was protected without a unit stays so, and is named');

	$node->safe_psql('postgres', 'CREATE DATABASE fresh');
	$node->safe_psql('fresh', 'CREATE EXTENSION dp_cdp');
	my ($updated, $fresh) = (catalogue($node, 'test'), catalogue($node, 'fresh'));
	cmp_ok(scalar @$fresh, '>', 1000, 'members are compared');
	is_deeply($updated, $fresh, "$version: objects, owners, privileges and comments as in a fresh database")
	  or do
	{
		my %other = map { $_ => 1 } @$fresh;
		diag("only in the updated: $_") for grep { !$other{$_} } @$updated;
		%other = map { $_ => 1 } @$updated;
		diag("only in the fresh: $_") for grep { !$other{$_} } @$fresh;
	};
	$node->stop;
}

done_testing();
