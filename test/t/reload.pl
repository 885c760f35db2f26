# Tables that are loaded anew: the commonest script (CREATE TABLE ... LIKE,
# load, rename twice), without and with dp_cdp.replace_table, with and without
# SELECT that is granted again; by renaming schemas; while analysts go on
# asking; through a dump; and check_setup() among many relations.

use strict;
use warnings;

use IPC::Run;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE etl LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE poor LOGIN; CREATE DATABASE clinic');
$node->safe_psql('clinic', q{
	CREATE EXTENSION dp_cdp;
	CREATE SCHEMA app AUTHORIZATION etl;
	GRANT USAGE ON SCHEMA app TO PUBLIC;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO etl;
	SELECT count(*) FROM dp_cdp.harden();
	SET ROLE etl;
	CREATE TABLE app.visits (patient int NOT NULL, dept text NOT NULL, cost numeric(9,2));
	INSERT INTO app.visits SELECT i % 500, 'd' || i % 3, i % 100 FROM generate_series(1, 5000) i;
	SELECT dp_cdp.create_dataset('clinic', rho => 1000, delta => 1e-5, max_groups => 5, max_rows => 5);
	SELECT dp_cdp.protect_table('app.visits', 'clinic', unit => 'patient');
	SELECT dp_cdp.set_bounds('app.visits', 'cost', 0, 100);
	SELECT dp_cdp.set_keys('app.visits', 'dept', ARRAY['d0', 'd1', 'd2']);
	SELECT dp_cdp.set_budget('clinic', 'ana', rho => 900);
});

# a database with that clinic whose table ana may ask
sub clinic
{
	my ($db) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE clinic STRATEGY file_copy");
	return;
}

# what psql prints and says, in one string
sub said
{
	my ($db, $role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($db, $sql, extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);

	# the policy of a table is what functions on tables return
	$out =~ s/^\(clinic,app\.\S*\)$\n?//mg;
	return "$out$err";
}

sub criticals
{
	my ($db) = @_;

	return $node->safe_psql($db, q{SELECT string_agg(object || ': ' || finding, E'\n' ORDER BY object, finding)
		FROM dp_cdp.check_setup() WHERE severity = 'critical'});
}

my $policy = q{SELECT dataset, unit, columns FROM dp_cdp.protected WHERE "table" = 'app.visits'::regclass};
my $asks = 'SELECT count(*), sum(cost) FROM app.visits GROUP BY dept ORDER BY dept';
my $load = q{
	DROP TABLE IF EXISTS app.visits_old;
	CREATE TABLE app.visits_new (LIKE app.visits INCLUDING ALL);
	INSERT INTO app.visits_new SELECT i % 500, 'd' || i % 3, i % 100 FROM generate_series(1, 6000) i;
};
my $renames = q{
	ALTER TABLE app.visits RENAME TO visits_old;
	ALTER TABLE app.visits_new RENAME TO visits;
};
my $rows = qr/^3\|d0\|3\.00$/m;

# ------------------------------------------------------------------------
# the script as it is everywhere
# ------------------------------------------------------------------------

for my $grants ('none', 'again', 'default')
{
	my $db = "naive_$grants";
	my $regrant = $grants eq 'again' ? 'GRANT SELECT ON app.visits TO ana;' : '';
	my $said;

	clinic($db);
	$node->safe_psql($db, 'ALTER DEFAULT PRIVILEGES FOR ROLE etl IN SCHEMA app GRANT SELECT ON TABLES TO ana')
	  if $grants eq 'default';
	is(criticals($db), '', "$db: nothing critical before");
	like(said($db, 'ana', $asks), qr/^-?\d+\|-?[\d.]+$/m, "$db: ana is answered before");

	$said = said($db, 'etl', "$load $renames $regrant");
	like($said, qr/WARNING: .* protected table app\.visits is now app\.visits_old, with its policy: .*replace_table\('app\.visits_old', 'app\.visits'\)/,
		"$db: renaming the protected table warns and names it");
	like($said, qr/WARNING: .* app\.visits has the name of a table that was protected: call/,
		"$db: so does taking its name");
	like(criticals($db), qr/^app\.visits: has the name of a table that was protected in dataset clinic/m,
		"$db: check_setup() calls the name critical");

	if ($grants eq 'none')
	{
		like(said($db, 'ana', $asks), qr/ERROR:  ZC002: "visits" has the name of a table that was protected/,
			"$db: ana is told why");
		like(said($db, 'ana', 'COPY app.visits TO STDOUT'), qr/ERROR:  ZC002: "visits" has the name/, "$db: COPY, too");
		like(said($db, 'ana', 'WITH v AS (SELECT 1 WHERE EXISTS (SELECT FROM app.visits)) SELECT * FROM v'),
			qr/ERROR:  ZC002: "visits" has the name/, "$db: at any depth");
		like(said($db, 'poor', $asks), qr/ERROR:  42501: permission denied for table visits/,
			"$db: who has no budget is told nothing");
	}
	else
	{
		like(said($db, 'ana', 'SELECT * FROM app.visits WHERE cost = 3'), $rows, "$db: who holds SELECT reads rows");
		like(criticals($db), qr/^app\.visits: has the columns of protected table app\.visits_old, but is not protected, and ana may read it/m,
			"$db: check_setup() names who");
	}

	# put right afterwards
	$said = said($db, 'etl', q{SELECT dp_cdp.replace_table('app.visits_old', 'app.visits')});
	like($said, $grants eq 'none' ? qr/^$/ : qr/NOTICE: .* these roles hold SELECT on table "visits".*: ana/, "$db: replace_table afterwards");
	is($node->safe_psql($db, $policy), 'clinic|patient|{"cost": {"lower": 0, "upper": 100}, "dept": {"keys": ["d0", "d1", "d2"]}}',
		"$db: the policy has moved");
	if ($grants eq 'none')
	{
		is(criticals($db), '', "$db: nothing critical after");
		like(said($db, 'ana', $asks), qr/^-?\d+\|-?[\d.]+$/m, "$db: ana is answered after");
		like(said($db, 'ana', 'SELECT * FROM app.visits_old'), qr/ERROR:  ZC002/, "$db: the old table stays protected");
	}
	else
	{
		like(criticals($db), qr/^app\.visits: SELECT on protected rows is granted to ana/m, "$db: the grant is critical after");
	}
}

# released instead
{
	my $db = 'naive_none';

	said($db, 'etl', 'DROP TABLE app.visits; CREATE TABLE app.visits (public text)');
	like(criticals($db), qr/^app\.visits: has the name/m, 'dropped and made anew: held');
	like(said($db, 'poor', q{SELECT dp_cdp.forget_name('app.visits')}), qr/ERROR:  42501: must be owner of dataset "clinic"/,
		'not everybody releases');
	is(said($db, 'etl', q{SELECT dp_cdp.forget_name('visits')}), '1', 'its owner does');
	is(criticals($db), '', 'released: nothing critical');
	like(said($db, 'ana', 'SELECT * FROM app.visits'), qr/ERROR:  42501: permission denied for table visits/, 'released: the usual refusal');
	is($node->safe_psql($db, 'SELECT schema, name, dataset, released, relation FROM dp_cdp.reserved_names WHERE name = $$visits$$'),
		'app|visits|clinic|t|app.visits', 'released: kept in mind');
}

# ------------------------------------------------------------------------
# the script with replace_table, one statement at a time
# ------------------------------------------------------------------------

for my $how ('in steps', 'in one transaction')
{
	my $db = $how eq 'in steps' ? 'steps' : 'transaction';

	clinic($db);
	for my $night (1 .. by_run(2, 3))
	{
		my $said;

		if ($how eq 'in steps')
		{
			for my $sql (split /;/, "$load; SELECT dp_cdp.replace_table('app.visits', 'app.visits_new'); $renames")
			{
				next unless $sql =~ /\S/;
				$said .= said($db, 'etl', "SET client_min_messages = warning; $sql");
				like(said($db, 'ana', $asks), qr/^-?\d+\|-?[\d.]+$|ERROR:  42P01/m, "$how, night $night: private answers, or no table")
				  if $sql =~ /replace|RENAME/;
			}
		}
		else
		{
			$said = said($db, 'etl', "SET client_min_messages = warning; BEGIN; $load SELECT dp_cdp.replace_table('app.visits', 'app.visits_new'); $renames COMMIT");
		}
		is($said, '', "$how, night $night: no warning");
		is(criticals($db), '', "$how, night $night: nothing critical");
		is($node->safe_psql($db, $policy), 'clinic|patient|{"cost": {"lower": 0, "upper": 100}, "dept": {"keys": ["d0", "d1", "d2"]}}',
			"$how, night $night: the policy");
		like(said($db, 'ana', $asks), qr/^-?\d+\|-?[\d.]+$/m, "$how, night $night: ana is answered");
	}
	is($node->safe_psql($db, 'SELECT name FROM dp_cdp.reserved_names'), '', "$how: no name is held, nor that to work under");
}

# once without it, after nights with it
like(said('steps', 'etl', "$load $renames"), qr/WARNING: .* protected table app\.visits is now/, 'forgotten once: a warning');
like(criticals('steps'), qr/^app\.visits: has the name/m, 'forgotten once: critical');

# ------------------------------------------------------------------------
# other roads that lead away from a name
# ------------------------------------------------------------------------

clinic('roads');
my %roads = (
	'SET SCHEMA' => q{CREATE SCHEMA old; ALTER TABLE app.visits SET SCHEMA old},
	'DROP' => q{DROP TABLE app.visits},
	'DROP SCHEMA' => q{DROP SCHEMA app CASCADE; CREATE SCHEMA app},
	'ALTER SCHEMA' => q{ALTER SCHEMA app RENAME TO app_old; CREATE SCHEMA app},
);
for my $road (sort keys %roads)
{
	my $said = said('roads', 'postgres', qq{BEGIN; SET client_min_messages = warning; $roads{$road}; SELECT 'here';
		CREATE TABLE app.visits AS SELECT 1 AS patient; SELECT 'there';
		SELECT relation FROM dp_cdp.reserved_names WHERE NOT released; ROLLBACK});

	like($said, $road =~ /DROP/ ? qr/^here\n/ : qr/WARNING: .* protected table app\.visits is now .*\.visits, with its policy: /s, "$road: tells where it goes");
	like($said, qr/^here\nthere\napp\.visits/, "$road: the name is held");
	like($said, qr/WARNING: .* app\.visits has the name of a table/, "$road: who takes it is warned");
}
like(said('roads', 'postgres', q{CREATE SCHEMA next; CREATE TABLE next.visits (LIKE app.visits);
	ALTER SCHEMA app RENAME TO app_old; ALTER SCHEMA next RENAME TO app}),
	qr/WARNING: .* app\.visits has the name of a table that was protected/, 'schemas that change places');
$node->safe_psql('roads', 'GRANT USAGE ON SCHEMA app TO ana');
like(said('roads', 'ana', $asks), qr/ERROR:  ZC002: "visits" has the name/, 'the refusal says so');
like(said('roads', 'postgres', 'ALTER SCHEMA app RENAME TO next; ALTER SCHEMA app_old RENAME TO app'), qr/WARNING/, 'and back');
like(said('roads', 'ana', $asks), qr/^-?\d+\|-?[\d.]+$/m, 'answered again');

# partitions
my $detached = said('roads', 'postgres', q{
	CREATE TABLE app.parts (patient int, year int) PARTITION BY LIST (year);
	CREATE TABLE app.parts_1 PARTITION OF app.parts FOR VALUES IN (1);
	CREATE TABLE app.parts_2 PARTITION OF app.parts FOR VALUES IN (2);
	CREATE TABLE app.heir () INHERITS (app.visits);
	SELECT dp_cdp.protect_table('app.parts', 'clinic', 'patient');
	ALTER TABLE app.parts DETACH PARTITION app.parts_1;
	ALTER TABLE app.parts DETACH PARTITION app.parts_2 CONCURRENTLY;
	ALTER TABLE app.heir NO INHERIT app.visits;});
like($detached, qr/WARNING: .* table app\.parts_1 is no part of protected table app\.parts any more: call/, 'DETACH warns');
like($detached, qr/WARNING: .* table app\.parts_2 is no part of protected table app\.parts any more/, 'DETACH CONCURRENTLY warns');
like($detached, qr/WARNING: .* table app\.heir is no part of protected table app\.visits any more/, 'NO INHERIT warns');
is(() = criticals('roads') =~ /^app\.(parts_1|parts_2|heir): has the name/mg, 3, 'what was detached is held');
like(said('roads', 'postgres', q{ALTER TABLE app.parts ATTACH PARTITION app.parts_1 FOR VALUES IN (1);
	SELECT dp_cdp.protect_table('app.parts_2', 'clinic', 'patient'); SELECT dp_cdp.forget_name('app.heir')}), qr/^\s*1\s*$/,
	'attached, protected, released');
is(criticals('roads'), '', 'nothing is critical then');

# a partition that changes places with one loaded beside it, twice
for my $month (1, 2)
{
	my $said = said('roads', 'postgres', q{CREATE TABLE app.parts_1_new (LIKE app.parts_1 INCLUDING ALL);
		INSERT INTO app.parts_1_new VALUES (1, 1);
		BEGIN;
		ALTER TABLE app.parts DETACH PARTITION app.parts_1;
		DROP TABLE app.parts_1;
		ALTER TABLE app.parts ATTACH PARTITION app.parts_1_new FOR VALUES IN (1);
		ALTER TABLE app.parts_1_new RENAME TO parts_1;
		COMMIT;});

	unlike($said, qr/ERROR|parts_1_new/, "a partition is exchanged, month $month: only the one that left is warned of");
	is(criticals('roads'), '', "a partition is exchanged, month $month: nothing critical");
}

# ------------------------------------------------------------------------
# analysts go on asking
# ------------------------------------------------------------------------

clinic('busy');
{
	my $script = $node->basedir . '/ask.sql';
	my $heard = $node->basedir . '/ask.out';
	my $nights = by_run(10, 40);

	append_to_file($script, "SELECT dp_count(*) FROM app.visits;\n\\set ON_ERROR_STOP 0\nSELECT 'raw', * FROM app.visits LIMIT 1;\n");
	my @asking = map {
		IPC::Run::start([ 'bash', '-c', 'while [ -e "$0" ]; do psql -XqAt -d "$1" -f "$0" >>"$2" 2>&1; done', $script,
			$node->connstr('busy') . ' user=ana', $heard ])
	} 1 .. 2;
	my $said = '';
	for (1 .. $nights)
	{
		$said .= said('busy', 'etl', "SET client_min_messages = warning; BEGIN; $load SELECT dp_cdp.replace_table('app.visits', 'app.visits_new'); $renames COMMIT");
	}
	unlink $script;
	$_->finish for @asking;
	my $out = slurp_file($heard);
	is($said, '', "$nights reloads under way");
	my $answers = () = $out =~ /^-?\d+$/mg;
	my $refusals = () = $out =~ /permission denied for rows of protected table/g;
	cmp_ok($answers, '>', $nights / 2, "$answers answers while tables changed places");
	cmp_ok($refusals, '>', $nights / 2, "$refusals refusals");
	unlike($out, qr/^raw/m, 'no row was seen');
	note($out =~ s/^-?\d+\n|.*permission denied for rows.*\n//gmr);
}

# a session that has met the table before it is held, and after
{
	my $in = '';
	my ($out, $err) = ('', '');
	my $session = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('busy') . ' user=ana' ], '<', \$in, '>', \$out, '2>', \$err,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	my $ask = sub {
		my $end = 'end' . int(1e9 * rand);

		($out, $err) = ('', '');
		$in .= "SELECT dp_count(*) > -1000 FROM app.visits;\n\\echo $end\n\\warn $end\n";
		$session->pump until $out =~ /$end/ && $err =~ /$end/;
		return $out . $err;
	};

	like($ask->(), qr/^t$/m, 'one session: answered');
	said('busy', 'etl', "$load $renames");
	like($ask->(), qr/has the name of a table that was protected/, 'held');
	said('busy', 'etl', q{SELECT dp_cdp.forget_name('app.visits')});
	like($ask->(), qr/private aggregates work on protected tables only/, 'released');
	said('busy', 'etl', q{SELECT dp_cdp.replace_table('app.visits_old', 'app.visits')});
	like($ask->(), qr/^t$/m, 'protected');
	$in .= "\\q\n";
	$session->finish;
}

# ------------------------------------------------------------------------
# a dump
# ------------------------------------------------------------------------

{
	my $dump = $node->basedir . '/dump';

	clinic('dumped');
	said('dumped', 'etl', 'DROP TABLE app.visits');
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('dumped') ], 'dump');
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('restored'), $dump ], 'restore');
	like(said('restored', 'etl', 'CREATE TABLE app.visits (patient int)'), qr/WARNING: .* app\.visits has the name of a table/,
		'a name that was held is held in the restored database');
	like(criticals('restored'), qr/^app\.visits: has the name/m, 'and critical');
	# a name that was left here, too
	said('dumped', 'postgres', 'ALTER TABLE dp_cdp_internal.reserved_name DISABLE TRIGGER ALL; UPDATE dp_cdp_internal.reserved_name SET since = now()');
	$node->command_ok([ 'pg_restore', '-a', '-t', 'reserved_name', '-d', $node->connstr('dumped'), $dump ], 'restored over others: no conflict');
	said('dumped', 'etl', q{SELECT dp_cdp.forget_name('app.visits')});
	is($node->safe_psql('dumped', q{SELECT string_agg(released::text, ' ') FROM dp_cdp.reserved_names}), 'true true', 'released, both');
}

# ------------------------------------------------------------------------
# many relations: check_setup() reads more of the catalogues, as there is more of them, and not more than that
# ------------------------------------------------------------------------

clinic('many');

# makes copies, and other tables beside them; blocks that check_setup() visits for each
sub blocks_among
{
	my ($from, $to) = @_;

	$node->safe_psql('many', qq{
		DO \$\$
		BEGIN
			FOR i IN $from .. $to LOOP
				EXECUTE format('CREATE TABLE app.t%s (patient int NOT NULL, dept text, cost numeric(9,2), c%s text)', i, i % 10);
				EXECUTE format('GRANT SELECT ON app.t%s TO ana', i);
				EXECUTE format('CREATE TABLE app.u%s (id bigint, a text, b text, c date, d numeric, e int, f int)', i);
				EXECUTE format('GRANT SELECT ON app.u%s TO PUBLIC', i);
				IF i % 500 = 0 THEN COMMIT; END IF;
			END LOOP;
		END \$\$;
		VACUUM ANALYZE});
	is($node->safe_psql('many', q{SELECT count(*) FROM dp_cdp.check_setup() WHERE severity = 'critical' AND finding LIKE 'has the columns of%'}),
		$to, "all $to copies are found");
	return blocks($node, 'many', 'SELECT count(*) FROM dp_cdp.check_setup()') / $to;
}

my $few = blocks_among(1, by_run(50, 500));
cmp_ok(blocks_among(by_run(51, 501), by_run(200, 5000)), '<', 2 * $few, 'many relations take no more blocks each');

done_testing();
