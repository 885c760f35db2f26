# The library that a server has loaded, the module dp_cdp_primary that it loads
# later, and the objects in a database may be of different versions, where a
# package was put over that of a running server: then nothing is answered, and
# nothing debited.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $prefix = own_installation();
chomp(my $lib = `"$prefix/bin/pg_config" --pkglibdir`);
chomp(my $share = `"$prefix/bin/pg_config" --sharedir`);
my $module = "$lib/dp_cdp_primary.so";

# puts bytes in the module's place, in the way of packagers: a new file, renamed
sub put
{
	my ($bytes) = @_;

	open(my $file, '>:raw', "$module.new") or die "$module.new: $!";
	print $file $bytes;
	close($file) or die "$module.new: $!";
	chmod(0755, "$module.new") or die "$module.new: $!";
	rename("$module.new", $module) or die "$module: $!";
	return;
}

# ---------------------------------------------------------------------------
# Another module
# ---------------------------------------------------------------------------

my $primary = PostgreSQL::Test::Cluster->new('first', install_path => $prefix);
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\n");
$primary->start;
ledger_database($primary, 'test');
$primary->safe_psql('test', <<EOC);
CREATE ROLE ana LOGIN;
CREATE ROLE payer LOGIN;
CREATE TABLE visits (patient int);
INSERT INTO visits SELECT generate_series(1, 1000);
SELECT dp_cdp.create_dataset('clinic', rho => 10, default_rho => 1);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 5);
SELECT dp_cdp.register_standby('second', 'payer');
EOC
my $standby = standby_of($primary, 'second', "cluster_name = 'second'\ndp_cdp.primary_conninfo = '" . $primary->connstr =~ s/'/''/gr . " user=payer'\n");

# what ana is told on the standby: a count, or SQLSTATE and message
sub asked
{
	my ($rc, $out, $err) = $standby->psql('test', "\\set VERBOSITY verbose\nSELECT dp_count(*) FROM visits", extra_params => [ '-U', 'ana' ]);

	return $err =~ /ERROR:  (.*)/ ? $1 : $out;
}

my $good = slurp_file($module);
my $version = $primary->safe_psql('test', 'SELECT dp_cdp.library_version()');
my $other = $version =~ s/(\d)$/($1 + 1) % 10/er;
my $bad = $good;
cmp_ok($bad =~ s/\Q$version\E\0/$other\0/g, '>=', 1, 'the module has its version');

put($bad);
like(asked(), qr/^ZC004: module dp_cdp_primary has version \Q$other\E, and the server's library version \Q$version\E; nothing was debited: restart this standby/,
	'a module of another version is not called');
is(balance($primary, 'test', 'clinic', 'ana'), 0, 'nothing was debited');
put($good);
like(asked(), qr/^\d+$/, 'the module of the same version is');
is(balance($primary, 'test', 'clinic', 'ana'), 1, 'and the primary has debited');

# ---------------------------------------------------------------------------
# Newer objects: an update that needs no new function, before the restart
# ---------------------------------------------------------------------------

for my $script ("dp_cdp--$version--$version.9", "dp_cdp--$version.9--$version")
{
	append_to_file("$share/extension/$script.sql", "-- nothing has changed\n");
}
my $apart = qr/ZC004: dp_cdp has version \Q$version\E\.9 in this database, and the server's library has version \Q$version\E: .*restart the server with the former library/;
my $count = 'SELECT dp_count(*) FROM visits';
my $as_ana = sub { "SET SESSION AUTHORIZATION ana; $_[0]; RESET SESSION AUTHORIZATION;\n" };

# in one session, which has asked before and remembers that versions agreed
my ($rc, $out, $err) = $primary->psql('test', "\\set VERBOSITY verbose\n" . $as_ana->($count)
	. "ALTER EXTENSION dp_cdp UPDATE TO '$version.9';\n" . $as_ana->($count), on_error_stop => 0);
like($out, qr/^-?\d+$/, 'answered once');
like($err, $apart, 'and refused after the update');
for my $sql ($count, "EXPLAIN $count", "SELECT dp_cdp.preview('$count')")
{
	($rc, $out, $err) = $primary->psql('test', "\\set VERBOSITY verbose\n" . $as_ana->($sql));
	like($err, $apart, "a new session: $sql");
}
for my $sql ("SELECT dp_cdp.create_dataset('other')", "SELECT dp_cdp.set_budget('clinic', 'ana', rho => 6)", 'SELECT dp_cdp.adopt_ledger()')
{
	($rc, $out, $err) = $primary->psql('test', "\\set VERBOSITY verbose\n$sql");
	like($err, $apart, "administration: $sql");
}
is($primary->safe_psql('test', 'SELECT count(*) FROM visits'), 1000, 'the owner reads his rows');
$primary->safe_psql('test', "ALTER EXTENSION dp_cdp UPDATE TO '$version'");
is(balance($primary, 'test', 'clinic', 'ana'), 2, 'nothing was debited meanwhile');
like($primary->safe_psql('test', $as_ana->($count)), qr/^-?\d+$/, 'versions agree again');

done_testing();
