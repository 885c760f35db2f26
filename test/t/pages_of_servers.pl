# Pages of docs/howto whose commands are for several servers: each block runs as it stands there, but for the hosts, and
# prints what the page shows.

use strict;
use warnings;

use DriverTest;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# what a server has by default, and those of tests have not: check_setup() warns of it
my $DEFAULTS = "fsync = on\nfull_page_writes = on\nmax_worker_processes = 32\nlisten_addresses = ''\n";

# ---------------------------------------------------------------------------
# A standby, whose answers the primary pays for
# ---------------------------------------------------------------------------

my $primary = ledger_node('db1', init => { allows_streaming => 1 }, conf => $DEFAULTS);
my $page = slurp_file(clients() . '/../../../docs/howto/run-on-replicas.md');
my ($register) = $page =~ /^```sql\n([^`]*register_standby.*?)^```$/ms;
my ($conf) = $page =~ /^```conf\n(.*?)^```$/ms;
my ($host, $port) = ($primary->host, $primary->port);

with_tables($primary);
$primary->safe_psql('clinic', "SELECT dp_cdp.harden(); $register");
# what trusts a socket takes neither
$conf =~ s/ sslmode=verify-full passfile=\S+(?=')// or die 'another page';
$conf =~ s/host=db1/host=$host port=$port/ or die 'another page';
my $standby = standby_of($primary, 'reports', $conf);
run_page('python3', 'commands', 'run-on-replicas', $standby, standby => $standby);
is(value($primary, 'clinic', q{SELECT count(*) > 0 FROM dp_cdp.audit WHERE client LIKE '% via reports'}), 't', 'the audit has the answer');
$standby->stop;
$primary->stop;

# ---------------------------------------------------------------------------
# A subscriber
# ---------------------------------------------------------------------------

my $publisher = ledger_node('publisher', init => { allows_streaming => 'logical' }, conf => $DEFAULTS);
my $subscriber = ledger_node('subscriber', init => { allows_streaming => 'logical' }, conf => $DEFAULTS);

with_tables($publisher);
$publisher->safe_psql('clinic', 'CREATE ROLE replicator LOGIN REPLICATION; GRANT SELECT ON clinic.visits TO replicator; GRANT USAGE ON SCHEMA clinic TO replicator;'
	  . ' CREATE PUBLICATION clinic FOR TABLES IN SCHEMA clinic');
$subscriber->safe_psql('postgres', $_) for q{CREATE DATABASE clinic ENCODING 'UTF8' TEMPLATE template0}, 'CREATE ROLE clinic_owner LOGIN';
run_page('python3', 'commands', 'replicate-logically', $subscriber, publisher => $publisher, subscriber => $subscriber);
$subscriber->wait_for_subscription_sync($publisher, 'clinic', 'clinic');
is(value($subscriber, 'clinic', 'SELECT count(*) FROM clinic.visits'), 20000, 'rows arrive');

$subscriber->stop;
$publisher->stop;
done_testing();
