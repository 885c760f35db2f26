# Logical replication of a whole database, FOR ALL TABLES, with the extension on
# both sides: data arrive, the ledger of each server stays its own, and nothing
# stops.

use strict;
use warnings;

use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my %node = map { $_ => ledger_node($_, init => { allows_streaming => 'logical' }, conf => "max_worker_processes = 20\n") } qw(publisher subscriber);
my ($publisher, $subscriber) = @node{qw(publisher subscriber)};

for my $node ($publisher, $subscriber)
{
	ledger_database($node, 'test');
	$node->safe_psql('postgres', 'CREATE ROLE ana LOGIN; CREATE ROLE bea LOGIN');
	$node->safe_psql('test', 'CREATE TABLE visits (id int PRIMARY KEY, patient int)');
}

# the same names on both sides, and more on one of them; releases before the first copy
sub protect
{
	my ($node) = @_;
	$node->safe_psql('test', <<EOC);
SELECT dp_cdp.create_dataset('clinic', rho => 100);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 10);
SELECT count(*) FROM dp_cdp.harden();
EOC
	return;
}
protect($_) for $publisher, $subscriber;
$publisher->safe_psql('test', <<EOC);
SELECT dp_cdp.create_dataset('more', rho => 100);
SELECT dp_cdp.set_budget('more', 'bea', rho => 10);
INSERT INTO visits SELECT i, i FROM generate_series(1, 1000) i;
EOC
debit($publisher, 'test', 'ana', q{SELECT dp_cdp.debit_budget('clinic', 1)}) for 1 .. 3;
debit($subscriber, 'test', 'ana', q{SELECT dp_cdp.debit_budget('clinic', 0.5)});

# the worker names another file in its stamp every few seconds in which there are debits
my $ledger = q{SELECT string_agg(t::text, ' ' ORDER BY t::text COLLATE "C") FROM (
	SELECT d::text AS t FROM dp_cdp_internal.dataset d UNION ALL SELECT b::text FROM dp_cdp_internal.budget b UNION ALL
	SELECT l::text FROM dp_cdp_internal.release_log l UNION ALL
	SELECT (to_jsonb(s) - 'file' - 'place')::text FROM dp_cdp_internal.ledger_stamp s UNION ALL
	SELECT h::text FROM dp_cdp_internal.hardened h) x};
my $before = value($subscriber, 'test', $ledger);

# ---------------------------------------------------------------------------
# First copy, then changes
# ---------------------------------------------------------------------------

my $from = $publisher->connstr . ' dbname=test';
$publisher->safe_psql('test', 'CREATE PUBLICATION everything FOR ALL TABLES');
$subscriber->safe_psql('test', "CREATE SUBSCRIPTION everything CONNECTION '$from' PUBLICATION everything");
ok($subscriber->poll_query_until('test', q{SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel}),
	'the first copy ends, of all tables');
is(value($subscriber, 'test', 'SELECT count(*) FROM visits'), 1000, 'data arrive');
is(value($subscriber, 'test', $ledger), $before, "the subscriber's ledger is as it was");

debit($publisher, 'test', 'ana', q{SELECT dp_cdp.debit_budget('clinic', 1)}) for 1 .. 3;
$publisher->safe_psql('test', <<EOC);
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 9);
SELECT dp_cdp.set_budget('clinic', 'bea', rho => 9);
SELECT dp_cdp.drop_budget('more', 'bea');
SELECT dp_cdp.alter_dataset('clinic', rho => 1000);
SELECT dp_cdp.drop_dataset('more');
SELECT count(*) FROM dp_cdp.unharden();
SELECT count(*) FROM dp_cdp.harden();
SELECT dp_cdp.adopt_ledger();
SELECT dp_cdp.empty_ledger();
INSERT INTO visits SELECT i, i FROM generate_series(1001, 2000) i;
EOC
debit($publisher, 'test', 'ana', q{SELECT dp_cdp.debit_budget('clinic', 1)});
$publisher->safe_psql('test', 'DELETE FROM visits WHERE id > 1500');
$publisher->wait_for_catchup('everything');
is(value($subscriber, 'test', 'SELECT count(*) FROM visits'), 1500, 'changes go on to arrive, after every function that writes to the ledger');
is(value($subscriber, 'test', $ledger), $before, "the subscriber's ledger is as it was");
is(value($subscriber, 'test', q{SELECT count(*) FROM pg_subscription WHERE subenabled}), 1, 'the subscription is enabled');

# ---------------------------------------------------------------------------
# Each goes on by itself
# ---------------------------------------------------------------------------

debit($subscriber, 'test', 'ana', q{SELECT dp_cdp.debit_budget('clinic', 0.25)});
is(balance($subscriber, 'test', 'clinic', 'ana'), '0.75', 'the subscriber debits its own');
is(balance($publisher, 'test', 'clinic', 'ana'), '1', 'the publisher its own');
is($subscriber->psql('test', 'SELECT dp_count(*) FROM visits', extra_params => [ '-U', 'ana' ]), 0, 'private queries are answered from replicated rows');

my $log = slurp_file($subscriber->logfile);
is(scalar(() = $log =~ /LOG:  rows of dp_cdp_internal\.\w+, and of other tables of the ledger, are not replicated/g), 1, 'it is said once');
unlike($log, qr/ERROR/, 'nothing failed');
unlike(slurp_file($publisher->logfile), qr/not applied/, 'and not by the publisher');

# ---------------------------------------------------------------------------
# No table is forgotten; no door is open
# ---------------------------------------------------------------------------

is(value($publisher, 'test', <<EOC), '', 'each table of the schema has a trigger that leaves out what is replicated');
SELECT string_agg(c.relname, ' ') FROM pg_class c
WHERE c.relnamespace IN ('dp_cdp'::regnamespace, 'dp_cdp_internal'::regnamespace) AND c.relkind IN ('r', 'p') AND NOT EXISTS (
	SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgenabled = 'A' AND t.tgtype & 7 = 7
		AND t.tgfoid IN ('dp_cdp_internal.ledger_guard'::regproc, 'dp_cdp_internal.not_replicated'::regproc))
EOC
like(debit_error($subscriber, 'test', 'postgres', q{SET session_replication_role = replica; UPDATE dp_cdp_internal.budget SET rho_spent = 0}),
	qr/42501: table dp_cdp_internal\.budget cannot be changed directly/, 'a session in the role of a replica may not write, as ever');

# ---------------------------------------------------------------------------
# What a subscription tells, and whose code it runs
# ---------------------------------------------------------------------------

my $failed = 'SELECT subname, apply_error_count FROM pg_stat_subscription_stats';
is($subscriber->safe_psql('test', $failed), 'everything|0', 'how often a row could not be applied');
is($subscriber->safe_psql('test', $failed, extra_params => [ '-U', 'ana' ]), 'everything|', 'which is not for analysts');

my $critical = q{SELECT string_agg(object || ': ' || finding, E'\n' ORDER BY finding) FROM dp_cdp.check_setup() WHERE severity = 'critical'};
$publisher->safe_psql('test', 'CREATE TABLE notes (id int PRIMARY KEY)');
$subscriber->safe_psql('test', <<'EOC');
CREATE SCHEMA ana AUTHORIZATION ana;
SET SESSION AUTHORIZATION ana;
CREATE TABLE ana.seen (t text);
CREATE FUNCTION ana.look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ana.seen SELECT v::text FROM public.visits v ORDER BY id LIMIT 1;
	RETURN NEW;
END $$;
RESET SESSION AUTHORIZATION;
CREATE TABLE notes (id int PRIMARY KEY);
ALTER TABLE notes OWNER TO ana;
SET SESSION AUTHORIZATION ana;
CREATE TRIGGER look BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION ana.look();
ALTER TABLE notes ENABLE ALWAYS TRIGGER look;
EOC
is(value($subscriber, 'test', $critical), '', "an analyst's table is his own affair");
$subscriber->safe_psql('test', 'ALTER SUBSCRIPTION everything REFRESH PUBLICATION');
if ($subscriber->safe_psql('test', 'SHOW server_version_num') >= 160000)
{
	is(value($subscriber, 'test', $critical), '', 'also where rows are written with his rights');
	$subscriber->safe_psql('test', 'ALTER SUBSCRIPTION everything SET (run_as_owner = true)');
}
$publisher->safe_psql('test', 'INSERT INTO notes VALUES (1)');
ok($subscriber->poll_query_until('test', 'SELECT count(*) > 0 FROM notes'), 'a row is written with the rights of a superuser');
is(value($subscriber, 'test', 'SELECT t FROM ana.seen'), '(1,1)', 'whose trigger reads protected rows, without a debit');
my ($super) = $subscriber->safe_psql('test', q{SELECT quote_ident(current_user)});
is(value($subscriber, 'test', $critical), <<EOC =~ s/\n$//r, 'which is critical');
public.notes: function ana.look(), which belongs to ana (ana), runs on its rows, with the rights of the owner of subscription everything
public.notes: subscription everything writes here with the rights of $super, which has triggers that ana makes (ana) read all tables
EOC
$subscriber->safe_psql('test', "DROP FUNCTION ana.look CASCADE; ALTER TABLE notes OWNER TO $super; GRANT TRIGGER ON notes TO PUBLIC");
is(value($subscriber, 'test', $critical),
	"public.notes: subscription everything writes here with the rights of $super, which has triggers that PUBLIC makes (every analyst) read all tables",
	'whoever owns the table');
$subscriber->safe_psql('test', 'REVOKE TRIGGER ON notes FROM PUBLIC');
is(value($subscriber, 'test', $critical), '', 'remedied');

$subscriber->stop;
$publisher->stop;
done_testing();
