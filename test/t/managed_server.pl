# A server on which the owner of a database is no superuser, as with a provider: who makes the extension, what he finds
# in the database when he does, settings and copies of the database, dumps, and what is said where the library is not
# loaded.  What the owner may do inside is in pgtap/database_owner.sql.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $prefix = own_installation();
my $node = PostgreSQL::Test::Cluster->new('provider', install_path => $prefix);
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nmax_worker_processes = 20\n");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE dba LOGIN CREATEDB; CREATE ROLE other LOGIN; CREATE ROLE ana LOGIN');

# what a role is told: rows and messages, with their SQLSTATE
sub told
{
	my ($db, $role, $sql, %options) = @_;
	my (undef, $out, $err) = $node->psql($db, $sql, extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ], %options);

	return "$out$err";
}

# without messages of PL/pgSQL's, LOCATION and CONTEXT
sub error_of
{
	return told(@_) =~ /ERROR:\s+(\S+: .*)/ ? $1 : 'none';
}

# ---------------------------------------------------------------------------
# CREATE EXTENSION in a database that its owner has prepared
# ---------------------------------------------------------------------------

# In his schema public are operators, functions and relations that fit the script's statements more exactly than
# PostgreSQL's own.
my $traps = <<'EOC';
CREATE TABLE seen (who text, what text);
GRANT ALL ON seen TO PUBLIC;
CREATE FUNCTION see(what text) RETURNS boolean LANGUAGE plpgsql SET search_path = public AS $$ BEGIN INSERT INTO seen VALUES (session_user, what); RETURN true; END $$;
DO $$
DECLARE
	one record;
BEGIN
	FOR one IN SELECT format('op_%s', row_number() OVER ()) AS f, l, r, o
		FROM unnest('{oid,regrole,regclass,regproc,regnamespace,name,text,bigint,integer,smallint,"char",aclitem[]}'::text[]) l,
			unnest('{oid,regrole,regclass,regproc,regnamespace,name,text,bigint,integer,smallint,"char",aclitem[]}'::text[]) r, unnest('{=,<>}'::text[]) o
	LOOP
		EXECUTE format('CREATE FUNCTION public.%s(%s, %s) RETURNS boolean LANGUAGE plpgsql AS %L', one.f, one.l, one.r,
			format('BEGIN RETURN public.see(%L); END', one.l || one.o || one.r));
		EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.%s)', one.o, one.l, one.r, one.f);
	END LOOP;
END $$;
CREATE FUNCTION format(text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN public.see('format'); END $$;
CREATE FUNCTION format(text, text, text, text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN public.see('format'); END $$;
CREATE FUNCTION quote_ident(name) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN public.see('quote_ident'); END $$;
CREATE FUNCTION coalesced(anyelement) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN public.see('coalesced'); END $$;
CREATE VIEW pg_extension AS SELECT e.* FROM pg_catalog.pg_extension e WHERE public.see('pg_extension');
-- rows for what the script compares
ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO ana;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
EOC
my $members_of_others = q{
	SELECT count(*) FROM pg_depend d JOIN pg_depend m ON (m.classid, m.objid) = (d.classid, d.objid) AND m.deptype = 'e'
		JOIN pg_extension e ON e.oid = m.refobjid AND e.extname = 'dp_cdp'
		JOIN pg_proc p ON p.oid = d.refobjid AND d.refclassid = 'pg_proc'::regclass AND p.proowner <> 10
	WHERE d.deptype <> 'e'};

$node->safe_psql('postgres', 'CREATE DATABASE saas OWNER dba');
is(told('saas', 'dba', $traps), '', 'traps are laid');
is(error_of('saas', 'dba', 'CREATE EXTENSION dp_cdp'), '42501: permission denied to create extension "dp_cdp"', 'the owner of the database makes no extension');
is(told('saas', 'postgres', 'CREATE EXTENSION dp_cdp'), '', 'a superuser does');
is($node->safe_psql('saas', 'SELECT DISTINCT who, what FROM seen'), '', 'and runs nothing of what is in schema public');
is($node->safe_psql('saas', "SET search_path = pg_catalog; $members_of_others"), '0', 'nor does anything of the extension');
like($node->safe_psql('saas', 'SELECT public.see($$it$$), (SELECT count(*) FROM seen)'), qr/^t\|/, 'the traps are good ones');
# his default privileges are his own
is(told('saas', 'dba', 'SET search_path = pg_catalog; SELECT object, grantee FROM dp_cdp_internal.member_grants() WHERE NOT given'), '', 'members are as elsewhere');
$node->safe_psql('saas', 'DROP EXTENSION dp_cdp');
told('saas', 'dba', 'CREATE SCHEMA dp_cdp; CREATE TABLE dp_cdp.dataset (name text)');
like(error_of('saas', 'postgres', 'CREATE EXTENSION dp_cdp'), qr/^42P06: schema "dp_cdp" already exists/, 'nothing is made in a schema of his');
$node->safe_psql('postgres', 'DROP DATABASE saas');

# ---------------------------------------------------------------------------
# An extension that would belong to him
# ---------------------------------------------------------------------------

chomp(my $share = `"$prefix/bin/pg_config" --sharedir`);
my $file = "$share/extension/dp_cdp.control";
my $control = slurp_file($file);
unlink $file or die "$file: $!";
append_to_file($file, $control =~ s/^trusted = false/trusted = true/mr);
$node->safe_psql('postgres', 'CREATE DATABASE saas OWNER dba');
like(told('saas', 'dba', 'CREATE EXTENSION dp_cdp'),
	qr/ERROR:\s+42501: extension dp_cdp must belong to a superuser, and dba is none: let a superuser run CREATE EXTENSION dp_cdp, and do not set trusted in dp_cdp\.control/,
	'with "trusted" in the control file it is refused');
unlink $file or die "$file: $!";
append_to_file($file, $control);

# ---------------------------------------------------------------------------
# Datasets of two owners
# ---------------------------------------------------------------------------

$node->safe_psql('saas', 'CREATE EXTENSION dp_cdp');
is(told('saas', 'dba', q{
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO other;
	CREATE SCHEMA clinic;
	GRANT ALL ON SCHEMA clinic TO other;
	GRANT USAGE ON SCHEMA clinic TO ana;
	CREATE TABLE visits (patient int NOT NULL);
	INSERT INTO visits SELECT i FROM generate_series(1, 1000) i;
	SELECT FROM dp_cdp.create_dataset('saas', rho => 1);
	SELECT FROM dp_cdp.protect_table('visits', 'saas', unit => 'patient');
	SELECT FROM dp_cdp.set_budget('saas', 'ana', rho => 0.1);}), '', 'the owner of the database');
unlike(told('saas', 'other', q{
	CREATE TABLE clinic.stays (patient int NOT NULL, days int);
	INSERT INTO clinic.stays SELECT i, 4711 FROM generate_series(1, 1000) i;
	CREATE VIEW clinic.seen AS SELECT * FROM clinic.stays;
	GRANT SELECT ON clinic.seen TO ana;
	SELECT FROM dp_cdp.create_dataset('clinic', rho => 1);
	SELECT FROM dp_cdp.protect_table('clinic.stays', 'clinic', unit => 'patient');
	SELECT FROM dp_cdp.set_budget('clinic', 'ana', rho => 0.1);}), qr/ERROR/, 'another, whom he has let make datasets');

# Nothing is spent yet: the extension could be dropped.  Without it the view would show rows, as views do.
for my $preloaded (1, 0)
{
	my $where = $preloaded ? 'with the library' : 'without the library';

	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', $preloaded ? "'dp_cdp'" : "''");
	$node->restart;
	like(error_of('saas', 'dba', 'DROP SCHEMA public CASCADE'), qr/^42501: extension dp_cdp would be dropped, too, which is for its owner to do/, "$where: with CASCADE");
	is(error_of('saas', 'dba', 'DROP SCHEMA public'), '2BP01: cannot drop schema public because other objects depend on it', "$where: without CASCADE");
	if ($preloaded)
	{
		like(error_of('saas', 'ana', 'SELECT * FROM clinic.seen'), qr/^ZC002/, 'rows stay closed');
	}
	else
	{
		is(told('saas', 'dba', q{SELECT severity, object, remedy, by_superuser FROM dp_cdp.check_setup() WHERE object = 'shared_preload_libraries'}),
			'critical|shared_preload_libraries|add dp_cdp to shared_preload_libraries and restart the server|t', 'the owner is told what the provider has to preload');
		like(error_of('saas', 'dba', q{SELECT dp_cdp.set_budget('saas', 'ana', rho => 0.2)}), qr/^ZC004: dp_cdp must be loaded when the server starts: add it to shared_preload_libraries and restart/, 'and administers nothing');
	}
}
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'dp_cdp'");
$node->restart;

# ---------------------------------------------------------------------------
# Settings of the database, which are its owner's
# ---------------------------------------------------------------------------

my @settings = (
	'synchronous_commit = off', 'default_transaction_read_only = on', 'transform_null_equals = on', "search_path = 'nowhere'", "role = 'dba'",
	'statement_timeout = 1', 'lock_timeout = 1', "IntervalStyle = 'sql_standard'", "DateStyle = 'German'", "bytea_output = 'escape'",
	'extra_float_digits = -10', 'row_security = off', 'check_function_bodies = off', "plan_cache_mode = 'force_generic_plan'", 'array_nulls = off',
	'dp_cdp.rho = 0.02');
is(told('saas', 'dba', join('', map { "ALTER DATABASE saas SET $_;\n" } @settings)), '', 'the owner sets what he may');
$node->safe_psql('postgres', 'ALTER DATABASE saas RESET statement_timeout; ALTER DATABASE saas RESET lock_timeout');
is($node->safe_psql('postgres', q{SELECT cardinality(setconfig) >= 14 FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = 'saas')}), 't', 'they are set');
$node->restart;
my $ask = 'SELECT public.dp_count(*) BETWEEN 0 AND 2000 FROM public.visits';
like(told('saas', 'ana', $ask), qr/^t/, 'an analyst is answered') for 1 .. 5;
like(error_of('saas', 'ana', $ask), qr/^ZC001: privacy budget exhausted/, 'as often as he pays for');
$node->safe_psql('postgres', 'ALTER DATABASE saas RESET ALL');
is($node->safe_psql('saas', q{SELECT trim_scale(rho_spent), (SELECT trim_scale(sum(rho)) FROM dp_cdp.releases WHERE granted) FROM dp_cdp_internal.budget WHERE dataset = 'saas'}), '0.1|0.1', 'each answer was paid for');
is($node->safe_psql('saas', q{SELECT * FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'and the ledger adds up');

# What a superuser's check_setup() finds, he cannot hide so.
$node->safe_psql('saas', q{
	GRANT EXECUTE ON FUNCTION dp_cdp.empty_ledger() TO ana;
	GRANT INSERT ON dp_cdp_internal.budget TO ana;
	CREATE TABLE clinic."stays+more" (patient int);
	CREATE FUNCTION clinic."a+b"() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM clinic."stays+more"';
	SELECT dp_cdp.protect_table('clinic."stays+more"', 'clinic', unit => 'patient')});
my $find = 'SELECT severity, object, finding, remedy, by_superuser FROM dp_cdp.check_setup() ORDER BY 1, 2, 3';
my $found = $node->safe_psql('saas', $find);
like($found, qr/^critical\|dp_cdp_internal\.budget\|.*\|t$/m, 'a grant on the ledger is found');
like($found, qr/^info\|function clinic\."a\+b"\(\)\|.*clinic\."stays\+more", which it mentions/m, 'and a function that mentions a table');
is(told('saas', 'dba', "ALTER DATABASE saas SET standard_conforming_strings = off; ALTER DATABASE saas SET quote_all_identifiers = on;"), '', 'the owner says how strings are read and names written');
is($node->safe_psql('saas', $find), $found, 'which changes nothing of it');
$node->safe_psql('postgres', 'ALTER DATABASE saas RESET ALL');
$node->safe_psql('saas', q{
	REVOKE EXECUTE ON FUNCTION dp_cdp.empty_ledger() FROM ana;
	REVOKE INSERT ON dp_cdp_internal.budget FROM ana;
	SELECT dp_cdp.unprotect_table('clinic."stays+more"');
	DROP FUNCTION clinic."a+b"();
	DROP TABLE clinic."stays+more"});

# ---------------------------------------------------------------------------
# A copy of the database, which is his
# ---------------------------------------------------------------------------

is(told('postgres', 'dba', 'CREATE DATABASE copied TEMPLATE saas'), '', 'the owner copies his database');
is(told('copied', 'postgres', 'SELECT datdba::regrole FROM pg_database WHERE datname = current_database()'), 'dba', 'and owns the copy');
like(error_of('copied', 'ana', 'SELECT count(*) FROM clinic.stays'), qr/^ZC003/, 'which answers nothing');
like(error_of('copied', 'dba', 'SELECT dp_cdp.adopt_ledger()'), qr/^42501: only the owner of extension dp_cdp may call dp_cdp\.adopt_ledger/, 'he does not adopt its ledger');
like(told('copied', 'dba', q{SELECT severity, object, remedy, by_superuser FROM dp_cdp.check_setup() WHERE object = 'ledger'}),
	qr/^warning\|ledger\|SELECT dp_cdp\.adopt_ledger\(surcharge_rho => \.\.\.\)\|t$/, 'but is told who does');
is(told('copied', 'other', 'SELECT rho_spent FROM dp_cdp.budgets'), '0', 'a dataset of another is as it was');
$node->safe_psql('copied', 'SELECT dp_cdp.adopt_ledger()');
like(told('copied', 'ana', 'SELECT count(*) > 0 FROM clinic.stays'), qr/^t/, 'after a superuser has adopted it, it answers');
$node->safe_psql('postgres', 'DROP DATABASE copied');

# ---------------------------------------------------------------------------
# Dumps
# ---------------------------------------------------------------------------

my $dump = "$ENV{TESTDIR}/dump.sql";
$node->command_fails_like([ 'pg_dump', '-U', 'dba', '-f', $dump, $node->connstr('saas') ], qr/permission denied for/, 'the ledger is in no dump of his');
told('saas', 'dba', 'CREATE SCHEMA shop; ALTER TABLE visits SET SCHEMA shop');
$node->command_ok([ 'pg_dump', '-U', 'dba', '-n', 'shop', '-f', $dump, $node->connstr('saas') ], 'one of his schema has his tables');
$node->safe_psql('postgres', 'CREATE DATABASE restored OWNER dba');
$node->safe_psql('restored', 'CREATE EXTENSION dp_cdp');
$node->command_fails_like([ 'psql', '-Xq', '-U', 'dba', '-1', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], qr/dataset "saas" does not exist/, 'without its dataset it is not restored');
told('restored', 'dba', q{SELECT dp_cdp.create_dataset('saas', rho => 1)});
$node->command_ok([ 'psql', '-Xq', '-U', 'dba', '-1', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'with it he restores it');
is(told('restored', 'dba', 'SELECT "table", dataset, unit FROM dp_cdp.protected'), 'shop.visits|saas|patient', 'with the policy');
$node->safe_psql('postgres', 'DROP DATABASE restored');
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('saas') ], 'a superuser dumps all');
$node->safe_psql('postgres', 'CREATE DATABASE restored OWNER dba');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'and restores it');
my $grants = q{SELECT p.proname, x.grantee::regrole, x.grantor::regrole, x.is_grantable FROM pg_proc p, aclexplode(p.proacl) x
	WHERE p.proname IN ('create_dataset', 'harden') AND x.grantee <> p.proowner ORDER BY 1, 2};
is($node->safe_psql('restored', $grants), $node->safe_psql('saas', $grants), 'what he has granted comes along');
like($node->safe_psql('restored', $grants), qr/^create_dataset\|pg_database_owner\|\w+\|t\ncreate_dataset\|other\|pg_database_owner\|f\nharden\|pg_database_owner\|\w+\|f$/m, 'beside what the extension gives');
$node->safe_psql('postgres', 'DROP DATABASE restored');

# what a superuser takes from him is taken in a restored database, too
$node->safe_psql('saas', 'REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM pg_database_owner CASCADE; REVOKE EXECUTE ON FUNCTION dp_cdp.harden FROM pg_database_owner');
is(error_of('saas', 'dba', q{SELECT dp_cdp.create_dataset('more')}), '42501: permission denied for function create_dataset', 'a superuser can take it from him');
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('saas') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored OWNER dba');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'restored');
is($node->safe_psql('restored', $grants), '', 'he has not got it back');
like(told('saas', 'dba', q{SELECT count(*) FROM dp_cdp.check_setup()}), qr/^[0-9]+$/, 'check_setup() is his still');

# ---------------------------------------------------------------------------
# Another owner of the database
# ---------------------------------------------------------------------------

$node->safe_psql('postgres', 'ALTER DATABASE saas OWNER TO other');
$node->safe_psql('saas', q{SELECT dp_cdp.alter_dataset('saas', new_owner => 'other')});
is(error_of('saas', 'dba', 'SELECT * FROM dp_cdp.check_setup()'), '42501: only superusers, the owner of the database and owners of datasets may call dp_cdp.check_setup', 'who owned it is told nothing');
like(told('saas', 'other', q{SELECT count(*) FROM dp_cdp.check_setup()}), qr/^[0-9]+$/, 'who owns it is');
$node->stop;

done_testing();
