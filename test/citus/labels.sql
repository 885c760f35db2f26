-- Labels of tables at the workers: they are there whether a table was distributed or protected first,
-- and go with the policy.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE auditor1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE people (id int PRIMARY KEY);
CREATE TABLE visits (patient int NOT NULL, cost int);
CREATE TABLE before (LIKE visits);
CREATE TABLE undone (LIKE visits);
CREATE TABLE everywhere (LIKE visits);
CREATE TABLE stays (person int NOT NULL, days int);
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.create_dataset('other', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table('before', 'clinic', 'patient');
SELECT dp_cdp.protect_table('undone', 'clinic', 'patient');
SELECT dp_cdp.protect_table('everywhere', 'clinic', 'patient');
SELECT create_distributed_table('before', 'patient');
SELECT create_distributed_table('undone', 'patient');
SELECT create_reference_table('everywhere');
SELECT create_distributed_table('visits', 'patient');
SELECT create_distributed_table('people', 'id', colocate_with => 'visits');
SELECT create_distributed_table('stays', 'person', colocate_with => 'people');
ALTER TABLE stays ADD FOREIGN KEY (person) REFERENCES people;
CREATE TABLE notes (patient int NOT NULL, note text);
SELECT create_distributed_table('notes', 'patient');
INSERT INTO notes SELECT i, repeat(md5(i::text), 10) FROM generate_series(1, 50) i;
SELECT dp_cdp.protect_table('notes', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;
GRANT pg_read_all_data, pg_write_all_data TO analyst1;
GRANT pg_read_all_data TO auditor1;
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE probes (x int);
SELECT create_distributed_table('probes', 'x');
INSERT INTO probes SELECT generate_series(1, 20);
-- reads the shards that are where it runs
CREATE FUNCTION spy(int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	shard text;
	result text;
BEGIN
	FOR shard IN SELECT relname FROM pg_class WHERE relname ~ '^notes_\d+$' AND relkind = 'r' LOOP
		EXECUTE format('SELECT count(*) FROM %I', shard) INTO result;
		RAISE WARNING '% has %', shard, result;
	END LOOP;
	RETURN result;
END $$;
RESET SESSION AUTHORIZATION;

\ir ask.psql
-- what labels a server has of a table and its shards, without the policies' own numbers
CREATE FUNCTION labels(node text, name text) RETURNS text LANGUAGE sql AS $$
	SELECT ask(node, format('SELECT string_agg(format(''%%s.%%s %%s'', regexp_replace(objoid::regclass::text, ''_\d+$'', '' shard''), objsubid, regexp_replace(label, '', "id": "\w+"'', '''')), E''\n'' ORDER BY objoid, objsubid)
		FROM pg_seclabel WHERE provider = ''dp_cdp'' AND objoid::regclass::text ~ ''^%s(_\d+)?$''', name), 'postgres')
$$;
CREATE FUNCTION owner(statement text) RETURNS text LANGUAGE sql AS $$ SELECT ask('coordinator', statement, 'owner1') $$;
SET citus.enable_ddl_propagation = off;
SELECT no_plan();

-- a table that is distributed when it is protected
SELECT is(labels('worker1', 'visits'), '', 'a table without a policy has no labels at a worker');
SELECT alike(ask('worker1', 'SELECT count(*) FROM visits'), '0%', 'and is open to who may read everything');
SELECT unalike(owner('SELECT dp_cdp.protect_table(''visits'', ''clinic'', ''patient'')'), '%ERROR%', 'it is protected');
SELECT is(labels(node, 'visits'), E'visits.0 {"dataset": "clinic", "unit": true}\nvisits.1 {"unit": true}', 'it has labels on ' || node) FROM unnest('{coordinator,worker1,worker2}'::text[]) node;
SELECT is(replace(labels('worker1', 'visits'), 'visits', 'before'), substr(labels('worker1', 'before'), strpos(labels('worker1', 'before'), 'before.0')), 'as one has that was protected before');
SELECT alike(ask('worker1', q), '%ERROR:  ZC00%', 'at a worker: ' || q) FROM unnest('{SELECT * FROM visits,SELECT * FROM before,COPY visits TO STDOUT}'::text[]) q;

-- shards, for who may read everything
SELECT name AS shard FROM ask('worker1', 'SELECT shard_name(''notes'', shardid) FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid) WHERE logicalrelid = ''notes''::regclass AND nodename LIKE ''%worker1'' LIMIT 1', 'postgres') name
\gset
-- Citus leaves shards out of what queries see of pg_class
SELECT ask('worker1', format('SET citus.override_table_visibility = off; SELECT reltoastrelid::regclass FROM pg_class WHERE oid = %L::regclass', :'shard'), 'postgres') AS toast
\gset
SELECT alike(ask('worker1', format(q, :'shard', :'toast')), 'ERROR:  ZC002: permission denied for rows of protected table "notes"%', 'at a worker: ' || q)
	FROM unnest('{SELECT * FROM %1$s,SELECT count(*) FROM %1$s,COPY %1$s TO STDOUT,SELECT * FROM %2$s,EXPLAIN SELECT FROM %1$s WHERE patient = 1,SELECT (SELECT max(note) FROM %1$s)}'::text[]) q;
SELECT alike(ask('coordinator', 'SELECT spy(x) FROM probes', 'analyst1'), '%ERROR:  ZC002: permission denied for rows of protected table "notes"%', 'nor in a function that Citus has run there');
SELECT alike(ask('coordinator', 'SELECT count(*) FROM notes', 'auditor1'), '%permission denied for rows of protected table "notes"%', 'for nobody without a grant');
SELECT owner('GRANT SELECT ON notes TO auditor1');
SELECT is(ask('coordinator', 'SELECT count(*) FROM notes', 'auditor1'), '50', 'who has one reads them');
SELECT is(ask('coordinator', 'SELECT count(*) FROM notes', 'owner1'), '50', 'and the owner does');
SELECT is(owner('SELECT dp_cdp.unprotect_table(''notes'')') ~ 'ERROR', false, 'without a policy');
SELECT is(ask('coordinator', 'SELECT count(*) FROM notes'), '50', 'who may read everything reads them');
SELECT unalike(owner('SELECT dp_cdp.protect_table(''people'', ''clinic'', ''id''); SELECT dp_cdp.protect_table(''stays'', ''clinic'', through => ''person'')'), '%ERROR%', 'units by a foreign key');
SELECT is(labels('worker2', 'stays'), E'stays.0 {"dataset": "clinic", "through": 1}\nstays.1 {"through": true}', 'have labels, too');
SELECT alike(ask('worker2', 'INSERT INTO stays VALUES (1, 1)'), '%ERROR:  ZC002: rows of table "stays" can be written only by roles that may read protected table "people"%', 'and do not tell who is there');

-- a transaction that is undone leaves nothing open
SELECT unalike(owner('SET client_min_messages = error; BEGIN; SELECT dp_cdp.unprotect_table(t) FROM unnest(''{undone,visits}''::regclass[]) t; ROLLBACK'), '%ERROR%', 'policies go, and come back');
SELECT is(regexp_replace(labels(node, t), '.* shard.*\n', '', 'gn'), format(E'%1$s.0 {"dataset": "clinic", "unit": true}\n%1$s.1 {"unit": true}', t), format('%s has its labels on %s', t, node))
	FROM unnest('{undone,visits}'::text[]) t, unnest('{coordinator,worker1,worker2}'::text[]) node;
SELECT alike(ask('worker1', q), '%ERROR:  ZC00%', 'and is closed: ' || q)
	FROM ask('worker1', 'SELECT shard_name(''undone'', shardid) FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid) WHERE logicalrelid = ''undone''::regclass AND nodename LIKE ''%worker1'' LIMIT 1', 'postgres') shard,
		unnest(ARRAY['SELECT * FROM undone', 'SELECT * FROM ' || shard]) q;

-- another dataset, and none
SELECT unalike(owner('SET client_min_messages = error; SELECT dp_cdp.protect_table(''visits'', ''other'', ''patient'')'), '%ERROR%', 'a table moves to another dataset');
SELECT is(labels(node, 'visits'), E'visits.0 {"dataset": "other", "unit": true}\nvisits.1 {"unit": true}', 'and its label on ' || node) FROM unnest('{coordinator,worker1,worker2}'::text[]) node;
SELECT matches(labels('worker1', name), 'shard', name || ' has labels on shards') FROM unnest('{before,everywhere}'::text[]) name;
SELECT matches(labels('coordinator', 'everywhere'), 'shard', 'on the coordinator, too');
SELECT unalike(owner(format('SET client_min_messages = error; SELECT dp_cdp.unprotect_table(%L)', name)), '%ERROR%', name || ' is not protected any more') FROM unnest('{visits,before,undone,everywhere,stays,people}'::text[]) name;
SELECT is(labels(node, name), '', 'and has no label on ' || node || ': ' || name) FROM unnest('{coordinator,worker1,worker2}'::text[]) node, unnest('{visits,before,undone,everywhere,stays,people}'::text[]) name;

-- what cannot be set everywhere is not set
SELECT matches(owner('BEGIN; CREATE TABLE late (patient int); SELECT create_distributed_table(''late'', ''patient''); SELECT dp_cdp.protect_table(''late'', ''clinic'', ''patient''); COMMIT'),
	'ERROR:  ZC004: the label of table public\.late cannot be set at all servers of the cluster: .*call this in a transaction after that', 'one that workers do not know yet');
COPY (SELECT) TO PROGRAM '$WORK/node stop worker2 immediate';
SELECT matches(owner('SELECT dp_cdp.protect_table(''visits'', ''clinic'', ''patient'')'), 'ERROR:  ZC004: the label of table public\.visits cannot be set at all servers of the cluster: .*worker2', 'one that does not answer');
SELECT is((SELECT count(*) FROM dp_cdp.protected), 0::bigint, 'is not protected');
COPY (SELECT) TO PROGRAM '$WORK/node start worker2';
SELECT unalike(owner('SELECT dp_cdp.protect_table(''visits'', ''clinic'', ''patient'')'), '%ERROR%', 'and is when it answers');
SELECT is(labels(node, 'visits'), E'visits.0 {"dataset": "clinic", "unit": true}\nvisits.1 {"unit": true}', 'with labels on ' || node) FROM unnest('{coordinator,worker1,worker2}'::text[]) node;
SELECT alike(ask('coordinator', 'SELECT dp_cdp_internal.relabel_workers(''visits'', ''{0}'')', who), 'ERROR:  42501%', who || ' does not set labels by hand') FROM unnest('{owner1,analyst1}'::text[]) who;
SELECT * FROM finish();
