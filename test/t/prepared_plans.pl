# A prepared release is planned once.  It is planned again where keys came of what no invalidation tells of: labels of
# an enum, rows of a referenced table, settings; and where a policy has changed.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE owner LOGIN; CREATE ROLE ana LOGIN;
GRANT CREATE ON SCHEMA public TO owner;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner;
SET ROLE owner;
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE wards (ward text PRIMARY KEY);
INSERT INTO wards VALUES ('east'), ('west');
GRANT SELECT ON wards TO ana;
CREATE TABLE visits (patient int NOT NULL, dept text NOT NULL, mood mood NOT NULL, ward text NOT NULL REFERENCES wards, urgent boolean NOT NULL,
	stage int NOT NULL CHECK (stage IN (1, 2)), day date NOT NULL);
INSERT INTO visits SELECT i, 'a', 'glad', 'east', true, 1, '2024-01-01' FROM generate_series(1, 100) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.001, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', '{a,b}'::text[]);
SELECT dp_cdp.set_bounds('visits', 'day', '2024-01-01', '2024-02-29');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 1000);
EOC

# Groups of a query of ana's that is prepared, and how often it is planned, each time that it is executed twice: at first, and after each change.
sub executed
{
	my ($query, @changes) = @_;
	my ($out, $err) = ('', '');
	# some transaction ends in between
	my $once = "SET SESSION AUTHORIZATION ana;\nEXECUTE q;\nRESET SESSION AUTHORIZATION;\nCOMMENT ON ROLE ana IS 'asks';\n";
	my $script = "SET log_planner_stats = on; SET client_min_messages = log;\nSET SESSION AUTHORIZATION ana;\nPREPARE q AS $query;\n"
	  . join '', map { "RESET SESSION AUTHORIZATION;\n$_\n\\echo step\n\\warn step\n$once$once\\echo step\n\\warn step\n" } '', @changes;

	$node->psql('test', $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @out = split /^step$/m, $out;
	my @err = split /step$/m, $err;
	return join ' | ', map {
		my %groups = map { $_ => 1 } grep { /\S/ } split /\n/, $out[ 2 * $_ + 1 ];
		join(' ', sort keys %groups) . ': ' . scalar(() = $err[ 2 * $_ + 1 ] =~ /PLANNER STATISTICS/g)
	} 0 .. @changes;
}

sub groups_by
{
	my ($key, @changes) = @_;

	return executed("SELECT k FROM (SELECT $key AS k, count(*) AS n FROM visits GROUP BY 1) g", @changes);
}

is(executed('SELECT count(*) > -1e6 FROM visits', q{SELECT dp_cdp.alter_dataset('clinic', max_groups => 4);}), 't: 1 | t: 1', 'without keys, and where limits have changed');
is(groups_by('dept'), 'a b: 1', 'keys that the owner has set');
is(groups_by('dept', q{SELECT dp_cdp.set_keys('visits', 'dept', '{a,c}'::text[]);}), 'a b: 1 | a c: 1', '... and sets anew');
is(groups_by('urgent'), 'f t: 1', 'keys of a type');
is(groups_by('stage', 'ALTER TABLE visits DROP CONSTRAINT visits_stage_check, ADD CONSTRAINT visits_stage_check CHECK (stage IN (1, 3));'),
	groups_by('stage', 'ALTER TABLE visits DROP CONSTRAINT visits_stage_check, ADD CONSTRAINT visits_stage_check CHECK (stage IN (1, 3));') =~ s/2/3/r, 'what a constraint says');
is(groups_by("date_trunc('month', day)::date"), '2024-01-01 2024-02-01: 1', 'months within declared bounds');
is(groups_by(q{CASE WHEN urgent THEN date '2024-02-01'::text ELSE 'no' END}, q{SET DateStyle = 'German';}), '2024-02-01 no: 2 | 01.02.2024 no: 2', 'a date as text, which depends on a setting');
is(groups_by('mood', q{ALTER TYPE mood ADD VALUE 'wild';}), 'glad sad: 2 | glad sad wild: 2', 'labels of an enum');
is(groups_by('mood::text', q{ALTER TYPE mood ADD VALUE 'mild';}), 'glad sad wild: 2 | glad mild sad wild: 2', '... as texts');
is(executed(q{SELECT k FROM (SELECT day AS k, count(*) AS n FROM visits WHERE day >= current_date - 1 AND day <= current_date GROUP BY 1) g WHERE k = current_date AND false}), ': 1', 'days until today');
is(groups_by('ward', q{INSERT INTO wards VALUES ('north');}), 'east west: 2 | east north west: 2', 'rows of a referenced table');
is(groups_by('upper(ward)', q{DELETE FROM wards WHERE ward = 'north';}), 'EAST NORTH WEST: 2 | EAST WEST: 2', '... of which a function is the key');

done_testing();
