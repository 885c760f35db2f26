# What the audit tells, to whom, and what becomes of floods.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main', init => { extra => [ '-E', 'UTF8' ] });
ledger_database($node, 'test');
$node->safe_psql('test', q{
	CREATE ROLE dba LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE stranger LOGIN;
	GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
	GRANT CREATE ON SCHEMA public TO dba;
	SET SESSION AUTHORIZATION dba;
	CREATE TABLE visits (patient int, dept text NOT NULL, cost numeric);
	INSERT INTO visits SELECT i, 'a', i FROM generate_series(1, 100) i;
	CREATE TABLE patients (patient int, sex text);
	SELECT dp_cdp.create_dataset('d', max_groups => 5, max_rows => 5);
	SELECT dp_cdp.protect_table('visits', 'd', unit => 'patient'), dp_cdp.protect_table('patients', 'd', unit => 'patient');
	SELECT dp_cdp.set_keys('visits', 'dept', '{a,b}'::text[]), dp_cdp.set_bounds('visits', 'cost', 0, 10);
	SELECT dp_cdp.set_budget('d', 'ana', rho => 100), dp_cdp.set_budget('d', 'bob', rho => 0.015);
});

# columns of the last row of a kind, as a role sees it
sub last_row
{
	my ($role, $kind, $columns) = @_;

	return value($node, 'test', "SET SESSION AUTHORIZATION $role; SELECT concat_ws('|', $columns) FROM dp_cdp.releases"
		  . " WHERE kind = '$kind' ORDER BY id DESC LIMIT 1");
}

# until the worker has written a row of that kind
sub wait_row
{
	my ($condition) = @_;

	return $node->poll_query_until('test', "SELECT EXISTS (SELECT FROM dp_cdp_internal.release_log WHERE $condition)");
}

my $query = q{SELECT dept, dp_count(*), dp_sum(cost) FROM visits JOIN patients USING (patient) GROUP BY dept};
debit($node, 'test', 'ana', "SET application_name = 'notebook'; $query; SELECT 1;");
is(last_row('ana', 'granted', 'role, application, query, tables, client, rho, repeats'),
	"ana|notebook|$query|public.visits, public.patients|[local]|0.02|1", 'statement, tables, client, application');
is(last_row('dba', 'granted', 'query'), $query, 'the owner reads it');
is(last_row('bob', 'granted', 'query'), '', 'nobody else does');

my $long = 'SELECT dp_count(*) AS "' . ("\xc3\xa9" x 31) . '" FROM visits WHERE dept IN (' . join(', ', ("'\xc3\xa9\xc3\xa9x'") x 400) . ')';
debit($node, 'test', 'ana', $long);
is(value($node, 'test', q{SELECT octet_length(query) BETWEEN 2040 AND 2048 AND query LIKE '%...' AND query LIKE 'SELECT dp\_count%' FROM dp_cdp.releases ORDER BY id DESC LIMIT 1}),
	't', 'a long statement is cut between characters');
value($node, 'test', "SET dp_cdp.log_query_bytes = 20; SET SESSION AUTHORIZATION ana; $query");
is(last_row('ana', 'granted', 'query'), substr($query, 0, 17) . '...', 'log_query_bytes');
value($node, 'test', "SET dp_cdp.log_query_bytes = 0; SET SESSION AUTHORIZATION ana; $query");
is(last_row('ana', 'granted', 'coalesce(query, $$none$$)'), 'none', 'is off');
like(debit_error($node, 'test', 'ana', 'SET dp_cdp.log_query_bytes = 0'), qr/42501/, 'not for analysts to set');

# reasons
debit($node, 'test', 'bob', 'SELECT dp_count(*) FROM visits');
like(debit_error($node, 'test', 'bob', 'SELECT dp_count(*) FROM visits'), qr/ZC001/, 'bob has spent it');
is(last_row('bob', 'refused', 'reason, query'), 'ZC001 rho|SELECT dp_count(*) FROM visits', 'reason: rho');
like(debit_error($node, 'test', 'ana', 'SELECT cost FROM visits'), qr/ZC002/, 'rows are refused');
ok(wait_row(q{kind = 'guard' AND role_name = 'ana'}), 'refusals of the guard are in the log');
is(last_row('ana', 'guard', 'reason ~ $$^ZC002 .*visits$$, query, tables, client, rho'), 't|SELECT cost FROM visits|public.visits|[local]|0', 'with their reason');
is(last_row('bob', 'guard', 'reason'), '', 'for whom they concern');
like(debit_error($node, 'test', 'ana', 'COPY visits TO STDOUT'), qr/ZC002/, 'COPY');
ok(wait_row(q{kind = 'guard' AND role_name = 'ana' AND repeats = 2}), 'is counted with it');
like(debit_error($node, 'test', 'stranger', 'SELECT dp_count(*) FROM visits'), qr/ZC001/, 'a stranger');
ok(wait_row(q{kind = 'guard' AND role_name = 'stranger' AND reason LIKE 'ZC001 %no privacy budget%'}), 'is in the log');
is(value($node, 'test', q{SELECT string_agg(severity, ',') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'all of it is chained');

# ---------------------------------------------------------------------------
# Floods
# ---------------------------------------------------------------------------

my $rows = value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.release_log');
my $size = value($node, 'test', q{SELECT pg_total_relation_size('dp_cdp_internal.release_log')});
my $times = by_run(10, 40);
my $file = PostgreSQL::Test::Utils::tempdir() . '/flood.sql';
PostgreSQL::Test::Utils::append_to_file($file,
	"SET SESSION AUTHORIZATION stranger;\nDO \$\$ BEGIN FOR i IN 1..50 LOOP BEGIN PERFORM dp_cdp.debit_budget('d', 0.1); EXCEPTION WHEN OTHERS THEN NULL; END;"
	  . " BEGIN PERFORM cost FROM visits; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END \$\$;\n");
$node->command_ok([ 'pgbench', '-n', '-f', $file, '-c', 8, '-j', 2, '-t', $times, $node->connstr('test') ], 'a flood');
ok($node->poll_query_until('test', qq{SELECT sum(repeats) = $times * 400 FROM dp_cdp_internal.release_log WHERE role_name = 'stranger' AND kind = 'refused'}),
	'each refused debit is counted');
ok($node->poll_query_until('test', qq{SELECT sum(repeats) > $times * 375 FROM dp_cdp_internal.release_log WHERE role_name = 'stranger' AND kind = 'guard'}),
	'and those of the guard');
my $grown = value($node, 'test', 'SELECT count(*) FROM dp_cdp_internal.release_log') - $rows;
cmp_ok($grown, '<=', 6, "in $grown rows");
$grown = value($node, 'test', q{SELECT pg_total_relation_size('dp_cdp_internal.release_log')}) - $size;
cmp_ok($grown, '<', 1e6, "and $grown bytes");
is(value($node, 'test', q{SELECT bool_and(last_at - released_at <= interval '61 seconds') FROM dp_cdp_internal.release_log WHERE repeats > 1}), 't',
	'a row stands for a minute at most');
is(value($node, 'test', q{SELECT string_agg(severity, ',') FROM dp_cdp.check_ledger() WHERE severity <> 'info'}), '', 'the chain holds');

# of very many kinds
debit($node, 'test', 'dba', q{SELECT dp_cdp.create_dataset('many ' || i) FROM generate_series(1, 300) i});
$node->safe_psql('test', q{CREATE ROLE curious LOGIN});
debit($node, 'test', 'curious', q{DO $$ BEGIN FOR i IN 1..3000 LOOP BEGIN PERFORM dp_cdp.debit_budget('many ' || 1 + i % 300, 0.1);
	EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$});
ok($node->poll_query_until('test', q{SELECT sum(repeats) = 3000 FROM dp_cdp_internal.release_log WHERE role_name = 'curious'}), 'refused by 300 datasets, and counted');
cmp_ok(value($node, 'test', q{SELECT count(*) FROM dp_cdp_internal.release_log WHERE role_name = 'curious'}), '<=', 202, 'in a hundred rows a minute');
is(value($node, 'test', q{SELECT bool_or(repeats > 1000 AND reason LIKE 'ZC001 %; and others%') FROM dp_cdp_internal.release_log WHERE role_name = 'curious'}), 't',
	'of which one stands for the others');

# nothing that a function of ours runs as its owner finds operators of the caller's
$node->safe_psql('test', 'CREATE SCHEMA evil AUTHORIZATION curious');
debit($node, 'test', 'curious', join('', 'CREATE TABLE evil.seen (who name); GRANT INSERT ON evil.seen TO PUBLIC;', map { qq{
	CREATE FUNCTION evil.eq_$_($_, $_) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN INSERT INTO evil.seen VALUES (current_user); RETURN true; END';
	CREATE OPERATOR evil.= (LEFTARG = $_, RIGHTARG = $_, PROCEDURE = evil.eq_$_);
	CREATE OPERATOR evil.<> (LEFTARG = $_, RIGHTARG = $_, PROCEDURE = evil.eq_$_);} } qw(numeric oid text int8 name bool)));
debit($node, 'test', 'curious', q{SET search_path = evil, pg_catalog;
	DO $do$
	DECLARE
		f text;
	BEGIN
		FOR f IN SELECT format('%s.%I()', p.pronamespace::regnamespace, p.proname) FROM pg_catalog.pg_proc p
			WHERE p.pronamespace OPERATOR(pg_catalog.=) ANY ('{dp_cdp,dp_cdp_internal}'::regnamespace[]) AND p.pronargs OPERATOR(pg_catalog.=) 0
				AND has_function_privilege(p.oid, 'EXECUTE') AND p.prorettype OPERATOR(pg_catalog.<>) 'trigger'::regtype
			UNION ALL SELECT format('%s.%I', c.relnamespace::regnamespace, c.relname) FROM pg_catalog.pg_class c
			WHERE c.relnamespace OPERATOR(pg_catalog.=) ANY ('{dp_cdp,dp_cdp_internal}'::regnamespace[])
				AND c.relkind OPERATOR(pg_catalog.=) 'v' AND has_table_privilege(c.oid, 'SELECT')
		LOOP
			BEGIN
				EXECUTE format('SELECT count(*) FROM %s', f);
			EXCEPTION WHEN OTHERS THEN
				NULL;
			END;
		END LOOP;
	END $do$});
is(value($node, 'test', q{SELECT coalesce(string_agg(DISTINCT who, ', '), 'nobody') FROM evil.seen}), 'nobody', 'nobody runs what the caller has put in the way');

# rates
$node->append_conf('postgresql.conf', "dp_cdp.max_debits_per_second = 10\n");
$node->reload;
$node->poll_query_until('test', q{SELECT current_setting('dp_cdp.max_debits_per_second') = '10'});
like(debit_error($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.001) FROM generate_series(1, 100)}),
	qr/ZC003: role "ana" asks the privacy ledger more often than a role may in a second; nothing was debited/, 'more debits than a role may');
is(last_row('ana', 'refused', 'reason'), 'ZC003 rate', 'the reason');
sleep 1;
debit($node, 'test', 'ana', q{SELECT dp_cdp.debit_budget('d', 0.001)});
pass('a second later it may again');
$node->append_conf('postgresql.conf', "dp_cdp.max_debits_per_second = 0\ndp_cdp.max_refusals_per_second = 3\n");
$node->reload;
$node->poll_query_until('test', q{SELECT current_setting('dp_cdp.max_refusals_per_second') = '3'});
my $err = debit_error($node, 'test', 'bob', join('', (q{SELECT dp_cdp.debit_budget('d', 1);} . "\n") x 40));
like($err, qr/ZC001.*ZC003: role "bob" asks/s, 'refusals have a limit, too');

# datasets are not for everybody to create
like(debit_error($node, 'test', 'ana', q{SELECT dp_cdp.create_dataset('mine')}), qr/42501: permission denied for function create_dataset/,
	'create_dataset needs a grant');

# the name of a dataset that was dropped, and its audit
$node->safe_psql('test', q{CREATE ROLE other LOGIN; GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO other;
	SET SESSION AUTHORIZATION dba; SELECT dp_cdp.unprotect_table(t) FROM unnest('{visits,patients}'::regclass[]) t;
	SELECT dp_cdp.drop_dataset('d', erase_spent => true)});
like(debit_error($node, 'test', 'other', q{SELECT dp_cdp.create_dataset('d')}),
	qr/42501: the audit has rows of a former dataset "d": choose another name/, 'the next owner of that name gets no audit');
is(value($node, 'test', q{SET SESSION AUTHORIZATION other; SELECT (dp_cdp.create_dataset('d2')).rho; SELECT count(*) FROM dp_cdp.releases}), "Infinity\n0", 'another name is free');
is(value($node, 'test', q{SELECT (dp_cdp.create_dataset('d')).rho; SELECT (dp_cdp.alter_dataset('d', new_owner => 'dba')).rho}), "Infinity\nInfinity", 'a superuser may give it');
like(debit_error($node, 'test', 'other', q{SELECT dp_cdp.create_dataset('d')}), qr/ZC004: dataset "d" exists already/, 'of one that exists its owner hears that');

$node->stop;
done_testing();
