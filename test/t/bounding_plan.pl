# How the inner query of a release is planned where units are bounded: by the
# bounding node, in several processes where there are rows enough for them;
# and where its plan and what it took can be seen, and where not.

use strict;
use warnings;

use JSON::PP;
use LedgerTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('main');
ledger_database($node, 'test');
$node->safe_psql('test', <<'EOC');
CREATE ROLE ana LOGIN;
SELECT dp_cdp.create_dataset('d', max_groups => 2, max_rows => 2);
SELECT dp_cdp.set_budget('d', r, rho => 1000) FROM unnest('{ana,postgres}'::regrole[]) r;
CREATE TABLE visits AS SELECT p AS unit, 'p' || p AS named, k, v
	FROM generate_series(1, 500) p, generate_series(0, 9) k, generate_series(1, 10) v;
ALTER TABLE visits ALTER k SET NOT NULL;
CREATE TABLE crowd AS SELECT p AS unit, p % 7 AS k FROM generate_series(1, 30000) p, generate_series(1, 2);
CREATE TABLE persons AS SELECT p AS unit, p % 3 AS area FROM generate_series(1, 2000) p;
CREATE TABLE visits_named AS SELECT * FROM visits;
ALTER TABLE visits_named ALTER k SET NOT NULL;
SELECT dp_cdp.protect_table(t, 'd', 'unit') FROM unnest('{visits,persons,crowd}'::regclass[]) t;
SELECT dp_cdp.protect_table('visits_named', 'd', 'named');
SELECT dp_cdp.set_keys(t, 'k', ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) FROM unnest('{visits,visits_named}'::regclass[]) t;
ANALYZE;
ALTER ROLE ana SET dp_cdp.rho = 1;
LOAD 'auto_explain';
ALTER SYSTEM SET session_preload_libraries = auto_explain;
ALTER SYSTEM SET auto_explain.log_min_duration = 0;
ALTER SYSTEM SET auto_explain.log_nested_statements = on;
ALTER SYSTEM SET parallel_setup_cost = 0;
ALTER SYSTEM SET min_parallel_table_scan_size = 0;
SELECT pg_reload_conf();
EOC

# the plan of the last private query that the log has since $from
sub inner_plan
{
	my ($workers, $sql) = @_;
	my $from = -s $node->logfile;

	$node->safe_psql('test', "SET max_parallel_workers_per_gather = $workers; $sql", extra_params => [ '-U', 'ana' ]);
	my @plans = split /plan:/, substr(slurp_file($node->logfile), $from);
	my ($inner) = grep { /Query Text: private query/ } @plans;
	return $inner // 'no plan of a private query is in the log';
}

my $counts = 'SELECT k, dp_count(*) FROM visits GROUP BY k';
my $together = qr/Gather.*Workers Planned: 2.*Parallel Custom Scan \(DpBounding\)/s;
my $alone = inner_plan(0, $counts);
like($alone, qr/Custom Scan \(DpBounding\)/, 'no workers: the node');
unlike($alone, qr/Gather|Parallel/, 'in one process');
like(inner_plan(2, $counts), $together, 'two workers');
like(inner_plan(2, 'SELECT k, dp_count(*) FROM visits WHERE v < 3 GROUP BY k'), $together, 'a condition that few rows pass');
like(inner_plan(2, 'SELECT k, dp_count(*) FROM visits_named GROUP BY k'), $together, 'units of text');
like(inner_plan(0, 'SELECT k, dp_count(*) FROM visits WHERE k IN (3, 5) GROUP BY k'), qr/Seq Scan on visits .* rows=(9|10|11)\d{3} /,
	'a condition on a key, which the test whether it is declared does not repeat');
like(inner_plan(2, 'SELECT dp_count(*) FROM visits v JOIN persons p USING (unit) WHERE area = 1'), $together, 'a join');

# the rows that units are found in are looked up, where they lie in the order of those that ask for them, and these are few
$node->safe_psql('test', <<'EOC');
CREATE TABLE orders AS SELECT i AS id, i % 1000 AS unit, repeat('x', 100) AS note FROM generate_series(1, 100000) i;
ALTER TABLE orders ADD PRIMARY KEY (id);
CREATE TABLE items AS SELECT i / 2 + 1 AS id, i % 10 AS place, i * 7919 % 300007 AS code FROM generate_series(1, 190000) i;
CREATE TABLE codes AS SELECT i AS code FROM generate_series(1, 300000) i;
GRANT SELECT ON codes TO ana;
CREATE TABLE strewn AS SELECT * FROM items ORDER BY hashint4(id), place;
SELECT dp_cdp.protect_table('orders', 'd', 'unit');
DO $$ DECLARE t regclass; BEGIN
	FOREACH t IN ARRAY '{items,strewn}'::regclass[] LOOP
		EXECUTE format('ALTER TABLE %s ADD FOREIGN KEY (id) REFERENCES orders', t);
		PERFORM dp_cdp.protect_table(t, 'd', through => 'id');
	END LOOP;
END $$;
ANALYZE orders, items, strewn, codes;
EOC
my $looked_up = qr/Nested Loop.*Index Scan using orders_pkey on orders/s;
like(inner_plan(0, 'SELECT dp_count(*) FROM items WHERE place = 7'), $looked_up, 'lookups in order');
like(inner_plan(2, 'SELECT dp_count(*) FROM items WHERE place = 7'), qr/Parallel Custom Scan \(DpBounding\).*Nested Loop.*Index Scan using orders_pkey/s,
	'... in several processes');
my $by_key = qr/Custom Scan \(DpKeyJoin\)/;
like(inner_plan(0, 'SELECT dp_count(*) FROM items'), $by_key, 'too many lookups');
like(inner_plan(0, 'SELECT dp_count(*) FROM strewn WHERE place = 7'), qr/Hash Join/, 'lookups in no order');
unlike(inner_plan(0, 'SELECT dp_count(*) FROM items JOIN codes USING (code) WHERE place = 7'), qr/Nested Loop.*Seq Scan on codes.*Index Scan using orders_pkey/s,
	'none where another join has changed the order');

# the last row looked up is kept: where the key, which is no unit, is that of the row before, also NULL, and what else the lookup reads is, too
$node->safe_psql('test', <<'EOC');
SELECT dp_cdp.create_dataset('exact', max_rows => 20);
SELECT dp_cdp.set_budget('exact', r, rho => 1000000) FROM unnest('{ana,postgres}'::regrole[]) r;
CREATE TABLE parents (id int PRIMARY KEY, named text UNIQUE NOT NULL, least int, person int NOT NULL);
INSERT INTO parents SELECT i, 'p' || i, i % 5, i FROM generate_series(1, 20000) i;
CREATE TABLE children AS SELECT i, nullif(i / 3 % 20001, 0) AS parent, i % 5 AS amount FROM generate_series(1, 45000) i;
CREATE TABLE called AS SELECT 'p' || parent AS named, amount FROM children;
ALTER TABLE children ADD FOREIGN KEY (parent) REFERENCES parents;
ALTER TABLE called ADD FOREIGN KEY (named) REFERENCES parents (named);
SELECT dp_cdp.protect_table('parents', 'exact', 'person');
SELECT dp_cdp.protect_table('children', 'exact', through => 'parent');
SELECT dp_cdp.protect_table('called', 'exact', through => 'named');
ANALYZE parents, children, called;
EOC
my $loops = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET max_parallel_workers_per_gather = 0; SET dp_cdp.rho = 100000;';
foreach my $query (
	[ 'children c WHERE amount > 0', 'parent', 'one key, with NULL' ],
	[ 'children c WHERE i % 11 = 0', 'parent', 'no two rows of a key in turn' ],
	[ 'children c JOIN parents p ON c.parent = p.id WHERE c.amount > p.least', 'parent', 'a condition on both' ],
	[ 'children c LEFT JOIN parents p ON c.parent = p.id AND c.amount > p.least WHERE p.id IS NULL', 'parent', 'rows without a match' ])
{
	my ($from, $key, $name) = @$query;
	my $plan = $node->safe_psql('test', "$loops EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM $from");
	my $plain = $node->safe_psql('test', "SELECT count(*) FROM $from" . ($from =~ /c\.parent/ ? '' : ' AND parent IS NOT NULL'));

	like($plan, qr/Custom Scan \(DpLastLookup\).*Lookup Key: .*$key.*Repeats: \d+\n.*Index (Only )?Scan using parents_pkey/s, "$name: plan");
	$plain = $node->safe_psql('test', "SELECT count(*) FROM $from AND c.parent IS NOT NULL") if $from =~ /LEFT/;
	foreach my $kept ('on', 'off')
	{
		is($node->safe_psql('test', "$loops SET enable_memoize = $kept; SELECT round(dp_count(*)) FROM $from", extra_params => [ '-U', 'ana' ]),
			$plain, "$name: $kept");
	}
}
my $repeats = $node->safe_psql('test', "$loops EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM children");
like($repeats, qr/Repeats: 29999\n.*Index (Only )?Scan using parents_pkey on parents \(actual rows=\S+ loops=15001\)/s, 'three rows of a key are looked up once');
unlike($node->safe_psql('test', "$loops EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM called"), qr/DpLastLookup/, 'not where keys are not passed by value');

# rows that a key names are joined by arrays: by number or hash, of any width, without what has no key or no match;
# of twenty pairs of tables five have each spread of numbers and each pair of types
my @pairs = by_run([ 1, 5, 7, 13, 19 ], [ 1 .. 20 ])->@*;
my $pairs = join ',', @pairs;
$node->safe_psql('test', <<"EOC");
SELECT dp_cdp.create_dataset('keyed', max_rows => 3);
SELECT dp_cdp.set_budget('keyed', r, rho => 1000000) FROM unnest('{ana,postgres}'::regrole[]) r;
CREATE TABLE owners AS SELECT i AS unit FROM generate_series(1, 2000) i;
SELECT dp_cdp.protect_table('owners', 'keyed', 'unit');
DO \$\$ DECLARE spread text; type text; name text; n int := 0; BEGIN
	FOREACH spread IN ARRAY '{i,i * 15 - 30000,(i - 1000) * 9,-i}'::text[] LOOP
		FOREACH type IN ARRAY '{smallint/int,int/smallint,bigint/int,int/bigint,bigint/bigint}'::text[] LOOP
			n := n + 1;
			CONTINUE WHEN n NOT IN ($pairs);
			EXECUTE format('CREATE TABLE k%s_owned AS SELECT (%s)::%s AS id, nullif(i, 7) AS unit, i %% 3 = 0 AS thrice, nullif(i %% 5, 0) AS maybe FROM generate_series(1, 2000) i', n, spread, split_part(type, '/', 1));
			EXECUTE format('ALTER TABLE k%s_owned ADD PRIMARY KEY (id)', n);
			EXECUTE format('CREATE TABLE k%s_parts AS SELECT nullif(%s, %s)::%s AS id, j, ''part '' || j AS named FROM generate_series(1, 2000) i, generate_series(1, 3) j', n, spread,
				replace(spread, 'i', '11'), split_part(type, '/', 2));
			EXECUTE format('ALTER TABLE k%1\$s_parts ADD FOREIGN KEY (id) REFERENCES k%1\$s_owned', n);
			EXECUTE format('ANALYZE k%1\$s_owned, k%1\$s_parts', n);
			PERFORM dp_cdp.protect_table(format('k%s_owned', n)::regclass, 'keyed', 'unit'), dp_cdp.protect_table(format('k%s_parts', n)::regclass, 'keyed', through => 'id');
		END LOOP;
	END LOOP;
END \$\$;
EOC
my $keyed = 'SET enable_nestloop = off; SET enable_mergejoin = off; SET max_parallel_workers_per_gather = 0; SET dp_cdp.rho = 10000;';
foreach my $n (@pairs)
{
	my $from = "k${n}_parts p WHERE j < 3";
	my $plain = $node->safe_psql('test', "SELECT count(*), count(DISTINCT unit) FROM k${n}_parts p JOIN k${n}_owned o USING (id) WHERE j < 3 AND unit IS NOT NULL");

	like($node->safe_psql('test', "$keyed EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM $from"),
		qr/Custom Scan \(DpKeyJoin\).*Key Cond: .*id = .*id.*Memory Usage: \d+ kB.*Seq Scan on k${n}_parts.*Seq Scan on k${n}_owned/s, "keys $n: plan");
	is($node->safe_psql('test', "$keyed SELECT round(dp_count(*)), round(dp_count(DISTINCT o.unit)) FROM k${n}_parts p JOIN k${n}_owned o USING (id) WHERE j < 3", extra_params => [ '-U', 'ana' ]),
		$plain, "keys $n: rows");
	is($node->safe_psql('test', "$keyed SELECT round(dp_count(*)) FROM k${n}_parts p JOIN k${n}_owned o USING (id) WHERE j = 3 AND thrice AND named LIKE 'part%'", extra_params => [ '-U', 'ana' ]),
		$node->safe_psql('test', "SELECT count(*) FROM k${n}_parts p JOIN k${n}_owned o USING (id) WHERE j = 3 AND thrice AND unit IS NOT NULL"), "keys $n: columns of both");
}
# what was read of the inner side stays when the join is run again: a table that is long to read is the outer side
$node->safe_psql('test', "CREATE TABLE lengths (x int, filler text); ALTER TABLE lengths ALTER filler SET STORAGE PLAIN;"
	  . " INSERT INTO lengths SELECT i, repeat('x', 5000) FROM generate_series(0, 2999) i; ANALYZE lengths; GRANT SELECT ON lengths TO ana");
my $again = 'FROM lengths v JOIN (k5_parts p JOIN k5_owned o USING (id)) ON p.j > v.x WHERE v.x < 3';
my $over = 'SET enable_material = off; SET enable_mergejoin = off; SET max_parallel_workers_per_gather = 0; SET join_collapse_limit = 1; SET dp_cdp.rho = 10000;';
like($node->safe_psql('test', "$over EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) $again"), qr/Nested Loop.*DpKeyJoin\) \(actual rows=\S+ loops=3\).*Seq Scan on k5_owned o \(actual rows=1999(\.00)? loops=1\)/s, 'run three times');
is($node->safe_psql('test', "$over SELECT round(dp_count(*)) $again", extra_params => [ '-U', 'ana' ]), $node->safe_psql('test',
	"SELECT sum(least(n, 3)) FROM (SELECT o.unit, count(*) AS n $again AND o.unit IS NOT NULL GROUP BY 1) q"), 'with the same rows');

# by several processes, which read the inner side together; and by a leader alone, whose workers do not start
my $together = 'SET enable_nestloop = off; SET enable_mergejoin = off; SET max_parallel_workers_per_gather = 3; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
  . ' SET min_parallel_table_scan_size = 0; SET dp_cdp.rho = 1000;';
foreach my $n (by_run(\@pairs, [ 1, 5, 6, 8, 10, 13, 15, 20 ])->@*)
{
	my $from = "FROM k${n}_parts p JOIN k${n}_owned o USING (id) WHERE j < 3";
	my $plain = $node->safe_psql('test', "SELECT count(*), count(DISTINCT unit), count(maybe) $from AND unit IS NOT NULL");

	like($node->safe_psql('test', "$together EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM k${n}_parts WHERE j < 3"),
		qr/Parallel Custom Scan \(DpKeyJoin\).*Parallel Seq Scan on k${n}_parts.*Parallel Seq Scan on k${n}_owned/s, "keys $n: plan of several processes");
	foreach my $how ('', 'SET parallel_leader_participation = off;', 'SET max_parallel_workers = 0;', 'SET max_parallel_workers = 1;')
	{
		is($node->safe_psql('test', "$together $how SELECT round(dp_count(*)), round(dp_count(DISTINCT o.unit)), round(dp_count(o.maybe)) $from", extra_params => [ '-U', 'ana' ]), $plain, "keys $n: rows of several processes $how");
	}
}
unlike($node->safe_psql('test', "$together SET enable_parallel_hash = off; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM k1_parts"), qr/Parallel Custom Scan \(DpKeyJoin\)/, 'not where processes may share no table');
unlike($node->safe_psql('test', "$keyed EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM k1_parts p JOIN k1_owned o ON p.id = o.id AND p.j < o.unit"), $by_key, 'not where more is asked of a pair');
unlike($node->safe_psql('test', "$keyed EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM called"), $by_key, 'not by text');
unlike($node->safe_psql('test', "$keyed SET enable_hashjoin = off; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM k1_parts"), $by_key, 'not without hash joins');
unlike($node->safe_psql('test', "$keyed SET work_mem = '64kB'; SET hash_mem_multiplier = 1; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT dp_count(*) FROM k1_parts"), $by_key, 'not where memory is short');

# what it took: to who may read the rows and to the server's log, not to others
my $asked = 'SELECT k, dp_count(*) FROM crowd GROUP BY k';
sub explained
{
	my ($options) = @_;

	return $node->safe_psql('test', "SET max_parallel_workers_per_gather = 0; SET work_mem = '64kB'; SET hash_mem_multiplier = 1;"
		  . " SET log_temp_files = 0; EXPLAIN ($options) $asked");
}
my $from = -s $node->logfile;
like(explained('ANALYZE, COSTS OFF, TIMING OFF'),
	qr/Inner Plan:.*Custom Scan \(DpBounding\) \(actual rows=\d+(\.00)? loops=1\)\n\s+Group Key: (crowd\.)?unit\n\s+Units: 30000  Batches: \d\d+  Memory Usage: \d+kB  Disk Usage: \d+kB\n.*Seq Scan on crowd \(actual rows=60000/s,
	'EXPLAIN ANALYZE by who may read the table');
like(substr(slurp_file($node->logfile), $from), qr/LOG:  private query wrote \d+ bytes to temporary files/, 'log_temp_files');
unlike(explained('COSTS OFF'), qr/DpBounding|crowd/, 'EXPLAIN without ANALYZE has no inner plan');
my $json = decode_json(explained('ANALYZE, FORMAT json'));
my $inner = find_key($json, 'Inner Plan');
my $bounding = find_node($inner, 'DpBounding');
ok($bounding && $bounding->{'Units'} == 30000 && $bounding->{'Peak Memory Usage'} <= 256 && $bounding->{'Disk Usage'} > 0,
	'the same as JSON; buckets, chunks and files of four partitions take the least, in kB: ' . ($bounding ? $bounding->{'Peak Memory Usage'} : '?'));
my ($status, $out, $err) = $node->psql('test', "EXPLAIN ANALYZE $asked", extra_params => [ '-U', 'ana' ]);
like($err, qr/needs SELECT on the protected table/, 'not to an analyst');
unlike($node->safe_psql('test', "EXPLAIN VERBOSE $asked", extra_params => [ '-U', 'ana' ]), qr/DpBounding|crowd/, 'nor without ANALYZE');
$node->append_conf('postgresql.conf', 'auto_explain.log_analyze = on');
$node->reload;
like(inner_plan(0, $asked), qr/Custom Scan \(DpBounding\).*rows=.*Units: 30000  Batches: \d+/s, 'auto_explain with log_analyze');

# EXPLAIN ANALYZE of releases that share a statement, with a public table that is prefetched, and more than once
like($node->safe_psql('test', "CREATE TABLE public_area AS SELECT generate_series(0, 2) AS area, 'a' AS name;"
		  . " EXPLAIN (ANALYZE, COSTS OFF) SELECT (SELECT dp_count(*) FROM persons JOIN (SELECT DISTINCT area FROM public_area) a USING (area)), (SELECT dp_count(*) FROM crowd)"),
	qr/(Inner Plan:.*){2}/s, 'two releases, one with a prefetch');

# the value of a key, or the plan node with a custom plan provider, wherever it is
sub find_key
{
	my ($tree, $key) = @_;

	return $tree->{$key} if ref $tree eq 'HASH' && exists $tree->{$key};
	foreach my $child (ref $tree eq 'HASH' ? values %$tree : ref $tree eq 'ARRAY' ? @$tree : ())
	{
		my $found = find_key($child, $key);
		return $found if defined $found;
	}
	return undef;
}

sub find_node
{
	my ($tree, $name) = @_;

	return $tree if ref $tree eq 'HASH' && ($tree->{'Custom Plan Provider'} // '') eq $name;
	foreach my $child (ref $tree eq 'HASH' ? values %$tree : ref $tree eq 'ARRAY' ? @$tree : ())
	{
		my $found = find_node($child, $name);
		return $found if $found;
	}
	return undef;
}

done_testing();
