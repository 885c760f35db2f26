-- Tables that are distributed otherwise, by their owner: policies go with them,
-- and what was planned before is planned anew or refused before the debit.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE owner2 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, owner2, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1, owner2;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int NOT NULL, visit int, dept text NOT NULL, cost int);
SELECT create_distributed_table('visits', 'patient');
INSERT INTO visits SELECT i % 611, i, substr('abc', 1 + (i % 500) % 3, 1), i % 100 FROM generate_series(1, 2003) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
\ir ask.psql
CREATE TABLE answer (value text);
GRANT ALL ON answer TO analyst1;

-- what the owner says to the coordinator, and what it says to him
CREATE FUNCTION owner(statement text) RETURNS text LANGUAGE sql AS $$ SELECT ask('coordinator', statement, 'owner1') $$;
CREATE FUNCTION is_moved(statement text, description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	before text := (SELECT string_agg(p::text, ' ') FROM dp_cdp.protected p);
	said text := owner(statement);
	n bigint;
BEGIN
	SELECT count(*) INTO n FROM visits;
	RETURN NEXT unalike(said, '%ERROR%', description);
	RETURN NEXT is((SELECT string_agg(p::text, ' ') FROM dp_cdp.protected p), before, description || ': policies stay');
	RETURN NEXT is(n, 2003::bigint, description || ': and rows');
	RETURN NEXT alike((run_as_analyst('SELECT * FROM visits')).failure, '%', description || ', and closed');
END $$;
-- the prepared statement, and a new one
CREATE FUNCTION is_answered(description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q text;
	r record;
BEGIN
	FOREACH q IN ARRAY ARRAY['EXECUTE p', 'INSERT INTO answer SELECT ((dp_sum(cost) + 500) / 1000)::text FROM visits'] LOOP
		TRUNCATE answer;
		r := run_as_analyst(q);
		RETURN NEXT is((r.failure, r.cost, (SELECT string_agg(value, ' ') FROM answer))::text, '(,10000000000,99)', description || ': ' || q);
	END LOOP;
END $$;
CREATE FUNCTION is_refused(words text, description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	q text;
	r record;
BEGIN
	FOREACH q IN ARRAY ARRAY['EXECUTE p', 'SELECT dp_sum(cost) FROM visits'] LOOP
		r := run_as_analyst(q);
		RETURN NEXT is((r.failure LIKE 'ZC002%' || words || '%', r.cost)::text, '(t,0)', description || ': ' || q || ': ' || coalesce(r.failure, 'answered'));
	END LOOP;
END $$;
SELECT no_plan();

SELECT run_as_analyst('PREPARE p AS INSERT INTO answer SELECT ((dp_sum(cost) + 500) / 1000)::text FROM visits');
SELECT is_answered('distributed by the unit');
SELECT is_moved('SELECT undistribute_table(''visits'')', 'a table that is distributed no more');
SELECT is_answered('it is one of the coordinator');
SELECT is_moved('SELECT create_distributed_table(''visits'', ''patient'')', 'a protected table that is distributed');
SELECT is_answered('it is distributed by the unit');
SELECT is_moved('SELECT alter_distributed_table(''visits'', shard_count => 6)', 'with more shards');
SELECT is_answered('it has more shards');
SELECT is_moved('SELECT alter_distributed_table(''visits'', distribution_column => ''visit'')', 'by another column');
SELECT is_refused('distribute it by its privacy unit', 'it is distributed by another column');
SELECT is_moved('SELECT undistribute_table(''visits'')', 'from there it is distributed no more');
SELECT is_answered('it is one of the coordinator again');
SELECT is_moved('SELECT create_distributed_table(''visits'', ''visit'')', 'and distributed by another column');
SELECT is_refused('distribute it by its privacy unit', 'it is');
SELECT is_moved('SELECT alter_distributed_table(''visits'', distribution_column => ''patient'')', 'by the unit again');
SELECT is_answered('it is distributed by the unit again');
SELECT is_moved('SELECT undistribute_table(''visits''); SELECT create_reference_table(''visits'')', 'as a reference table');
SELECT is_answered('it is a reference table');
SELECT is_moved('SELECT undistribute_table(''visits''); SELECT create_distributed_table(''visits'', NULL, colocate_with => ''none'')', 'as one of a single shard');
SELECT is_answered('it has a single shard');
SELECT is_moved('SELECT undistribute_table(''visits''); SELECT create_distributed_table(''visits'', ''patient'')', 'and back');

-- shards that move to another server
\! for n in coordinator worker1 worker2; do psql -X -q -A -t -h $WORK/$n -d test -c "ALTER SYSTEM SET citus.local_hostname = '$WORK/$n'" -c "SELECT pg_reload_conf()" >/dev/null; done
SELECT citus_move_shard_placement(shardid, from_node.nodename, 5432, to_node.nodename, 5432, shard_transfer_mode => 'block_writes')
	FROM (SELECT min(shardid) AS shardid FROM pg_dist_shard WHERE logicalrelid = 'visits'::regclass) s JOIN pg_dist_placement USING (shardid)
	JOIN pg_dist_node from_node USING (groupid) JOIN pg_dist_node to_node ON to_node.groupid <> 0 AND to_node.groupid <> from_node.groupid;
SELECT is_answered('a shard has moved');

-- labels on shards say what the coordinator's do; nobody is served by them
SELECT is(string_agg(DISTINCT result, ' '), '{"dataset": "clinic", "unit": true, "id": "x"}', 'shards bear the policy')
	FROM run_command_on_placements('visits', 'SELECT regexp_replace(label, ''"id": "\w+"'', ''"id": "x"'') FROM pg_seclabel WHERE objoid = ''%s''::regclass AND objsubid = 0');
SELECT alike(ask('worker1', q, who), '%ERROR%' || words || '%', who || ' at a worker: ' || q) FROM (VALUES
	('owner1', 'SELECT dp_count(*) FROM visits', ''),
	('analyst1', 'SELECT dp_count(*) FROM visits', ''),
	('analyst1', 'SECURITY LABEL FOR dp_cdp ON TABLE visits IS NULL', 'must be owner'),
	('owner2', 'SECURITY LABEL FOR dp_cdp ON TABLE visits IS NULL', 'must be owner')) v(who, q, words);

-- a shard on the coordinator has no policy of its own, and is closed
SELECT is_moved('SELECT undistribute_table(''visits''); SELECT create_reference_table(''visits'')', 'as a reference table again');
SELECT 'visits_' || shardid AS shard FROM pg_dist_shard WHERE logicalrelid = 'visits'::regclass
\gset
SELECT is((SELECT count(*) FROM pg_seclabel WHERE objoid = :'shard'::regclass AND objsubid = 0), 1::bigint, 'its shard on the coordinator has a label');
SELECT is((SELECT string_agg("table"::text, ' ') FROM dp_cdp.protected), 'visits', 'but is no table of the dataset');
SELECT matches((run_as_analyst(format(q, :'shard'))).failure, '^(42501|ZC002)', 'an analyst does not read it: ' || q)
	FROM unnest('{SELECT * FROM %s,SELECT dp_count(*) FROM %s,CREATE TABLE x AS TABLE %s,EXPLAIN ANALYZE SELECT * FROM %s}'::text[]) q;
SELECT is_answered('a release reads it');
-- what is only called like a shard is protected as any other
SELECT owner(format('CREATE TABLE others_%s AS SELECT 1 AS patient; SELECT dp_cdp.protect_table(''others_%s'', ''clinic'', ''patient'')', 1, 1));
SELECT matches((run_as_analyst('SELECT * FROM others_1')).failure, '^ZC002', 'a table with a number in its name');
SELECT alike(owner('SELECT dp_cdp.unprotect_table(''visits''); SELECT dp_cdp.unprotect_table(''others_1''); SELECT dp_cdp.drop_dataset(''clinic'')'), '%was spent%', 'a dataset without tables, but with what was spent');
SELECT is((SELECT count(*) FROM dp_cdp.protected), 0::bigint, 'has no tables, whatever labels are left on shards');
SELECT * FROM finish();
