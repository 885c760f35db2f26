# A dump carries the policy along: labels, datasets, budgets, audit log.

use strict;
use warnings;

use Client;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\n");
$node->start;

$node->safe_psql('postgres', 'CREATE ROLE dba; CREATE ROLE ana LOGIN; CREATE DATABASE clinic');
$node->safe_psql('clinic', q{
	CREATE EXTENSION dp_cdp;
	GRANT CREATE ON SCHEMA public TO dba;
	CREATE SCHEMA "the lab" AUTHORIZATION dba;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
	SET ROLE dba;
	CREATE TYPE public.sex AS ENUM ('f', 'm');
	CREATE TABLE public.depts (dept text PRIMARY KEY);
	INSERT INTO depts VALUES ('a'), ('b');
	CREATE TABLE "the lab"."visits, all" ("who's" int, dept text REFERENCES depts, cost numeric, sex sex, note text);
	INSERT INTO "the lab"."visits, all" SELECT i, 'a', i, 'f', 'x' FROM generate_series(1, 10) i;
	CREATE TABLE parts (patient int, year int) PARTITION BY LIST (year);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE courses (id int PRIMARY KEY, patient int, UNIQUE (id, patient));
	CREATE TABLE "course, days" (patient int, "id" int, day date, FOREIGN KEY ("id", patient) REFERENCES courses (id, patient));
	CREATE TABLE parent (id int);
	CREATE TABLE child (more int) INHERITS (parent);
	SELECT dp_cdp.create_dataset('it''s "clinic"', rho => 5, delta => 1e-7, default_rho => 0.03, max_rho => 0.5,
		max_groups => 2, max_rows => 3, neighbors => 'replace_one', release_memory => 1000, find_bounds => 0.25, pull_rows => true, key_delta_share => 0.3, max_contribution => '12.5', min_units => 7);
	SELECT dp_cdp.create_dataset('other'), dp_cdp.create_dataset('found', max_rows => 4, max_contribution => 'auto');
	SELECT dp_cdp.protect_table('"the lab"."visits, all"', 'it''s "clinic"', unit => 'who''s');
	SELECT dp_cdp.protect_table('parts', 'other', unit => 'patient');
	SELECT dp_cdp.protect_table('parent', 'other', each_row => true);
	SELECT dp_cdp.protect_table('courses', 'other', unit => 'patient');
	SELECT dp_cdp.protect_table('"course, days"', 'other', through => 'patient, id');
	SELECT dp_cdp.set_bounds('"the lab"."visits, all"', 'cost', -0.125, 1e9, -1, 2.50);
	SELECT dp_cdp.set_keys('"the lab"."visits, all"', 'note', ARRAY['it''s', 'a "b" \ c', NULL, '']);
	SELECT dp_cdp.set_budget('it''s "clinic"', 'ana', rho => 1);
	SELECT dp_cdp.set_budget('other', 'ana', epsilon => 2, delta => 1e-6, period => '1 month');
});
$node->safe_psql('clinic', q{
	GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO ana;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO ana;
	SET SESSION AUTHORIZATION ana;
	SELECT dp_cdp.debit_budget('other', 0.001);
});

# functions that a superuser has added to those that may be used on rows
$node->safe_psql('clinic', q{
	CREATE FUNCTION "the lab"."it's odd"(i int DEFAULT 1) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT i % 2 = 1';
	CREATE FUNCTION plain_c(text) RETURNS text LANGUAGE internal IMMUTABLE STRICT AS 'initcap';
	CREATE FUNCTION not_added(int) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'int4um';
});
my ($added_rc, $added_out, $added_err) = $node->psql('clinic', q{SELECT dp_cdp.allow_function('"the lab"."it''s odd"(int)')});
like($added_err, qr/WARNING:  function "the lab"."it's odd"\(integer\) will run on raw rows/, 'a function in SQL: a warning');
($added_rc, $added_out, $added_err) = $node->psql('clinic',
	q{SELECT dp_cdp.allow_function('plain_c(text)')});
is("$added_rc $added_err", '0 ', 'a built-in one by another name: none');

my $state = q{
	SELECT * FROM dp_cdp.datasets ORDER BY dataset;
	SELECT * FROM dp_cdp.budgets ORDER BY dataset, role::text;
	SELECT * FROM dp_cdp.protected ORDER BY "table"::text;
	SELECT * FROM dp_cdp.releases ORDER BY id;
	SELECT dp_cdp_internal.through_problem('"course, days"');
	SELECT c, dp_cdp.dataset_of(c::regclass) FROM unnest(ARRAY['"the lab"."visits, all"', 'parts', 'parts_1', 'parent', 'child']) c;
	SELECT a, dp_cdp.declared_keys('"the lab"."visits, all"', a) FROM unnest(ARRAY['dept', 'sex', 'note', 'cost']) a;
	SELECT count(*) FROM "the lab"."visits, all";
	SELECT function FROM dp_cdp.allowed_functions() WHERE treatment = 'added' ORDER BY function::text;
};
my $before = $node->safe_psql('clinic', $state);
like($before, qr/it's "clinic"\|dba\|5\|/, 'there is something to dump');
like($before, qr/\|2\|3\|replace_one\|.*\|12.5\|7\nother\|.*\|\|\|add_remove\|.*\|auto\|1\n/s, 'limits, set and found');
like($before, qr/\n"the lab"."it's odd"\(integer\)\nplain_c\(text\)$/, 'functions, too');

my $dir = $node->backup_dir;
mkdir $dir;

sub restored
{
	my ($database, $what, @command) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->command_ok([ @command ], "$what: restore");
	is($node->safe_psql($database, $state), $before, "$what: the same policy and ledger");
}

$node->command_ok([ 'pg_dump', '-f', "$dir/plain.sql", 'clinic' ], 'pg_dump, plain');
restored('plain', 'plain', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'plain', '-f', "$dir/plain.sql");

$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/custom", 'clinic' ], 'pg_dump, custom format');
restored('custom', 'custom format', 'pg_restore', '-e', '-d', 'custom', "$dir/custom");
restored('parallel', 'custom format in parallel', 'pg_restore', '-e', '-j', '2', '-d', 'parallel', "$dir/custom");

# who owns table and dataset restores the table with its policy
$node->command_ok([ 'pg_dump', '-Fc', '-t', '"the lab"."visits, all"', '-f', "$dir/table", 'clinic' ], 'pg_dump of one table');
$node->safe_psql('custom', q{CREATE ROLE loader LOGIN IN ROLE dba});
$node->command_ok([ 'pg_restore', '-e', '-U', 'loader', '--role', 'dba', '--clean', '-d', 'custom', "$dir/table" ], 'a table restored by its owner');
my $policies = 'SELECT "table"::text, dataset, unit, columns FROM dp_cdp.protected ORDER BY 1';
is($node->safe_psql('custom', $policies), $node->safe_psql('clinic', $policies), '... has its policy');

# a table that comes without its dataset is protected and answers nobody
$node->command_ok([ 'pg_dump', '-s', '-f', "$dir/schema.sql", 'clinic' ], 'pg_dump, schema only');
$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'bare', '-f', "$dir/schema.sql" ],
	'schema only: restore');
my ($rc, $out, $err) = $node->psql('bare', q{SELECT dp_cdp.dataset_of('parts')});
like($err, qr/dataset "other" does not exist/, 'schema only: protected, without a dataset');
($rc, $out, $err) = $node->psql('bare', q{SET SESSION AUTHORIZATION ana; SELECT dp_cdp.create_dataset('other')});
like($err, qr/has a table of somebody else's/, 'schema only: no dataset for strangers to make up');

# nor is a table whose label was left out of the dump readable
$node->command_ok([ 'pg_dump', '--no-security-labels', '-f', "$dir/unlabelled.sql", 'clinic' ],
	'pg_dump --no-security-labels');
$node->safe_psql('postgres', 'CREATE DATABASE unlabelled');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'unlabelled', '-f', "$dir/unlabelled.sql" ],
	'without labels: restore');
($rc, $out, $err) = $node->psql('unlabelled', q{SET SESSION AUTHORIZATION ana; SELECT count(*) FROM parts});
like($err, qr/permission denied/, 'without labels: permission denied');

done_testing();
