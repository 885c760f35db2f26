-- What the coordinator has and a worker has not, or not for the tables' owner, is found before the debit.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int NOT NULL, visit int, dept text, cost int);
CREATE TABLE rows_of (LIKE visits);
SELECT create_distributed_table(t, 'patient') FROM unnest('{visits,rows_of}'::regclass[]) t;
INSERT INTO visits SELECT i % 50, i, substr('abc', 1 + i % 3, 1), i % 100 FROM generate_series(1, 300) i;
INSERT INTO rows_of SELECT * FROM visits;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4, max_rho => 1e5);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.protect_table('rows_of', 'clinic', each_row => true);
SELECT dp_cdp.set_bounds(t, 'cost', 0, 100) FROM unnest('{visits,rows_of}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

\ir ../pgtap/analyst.psql
SET citus.enable_ddl_propagation = off;
CREATE SCHEMA closed;
CREATE COLLATION of_here FROM "C";
CREATE COLLATION closed.coll FROM "C";
CREATE TYPE size AS ENUM ('s', 'l');
CREATE FUNCTION plain(int) RETURNS int LANGUAGE internal STRICT IMMUTABLE AS 'int4abs';
GRANT USAGE ON SCHEMA closed TO analyst1;
SELECT dp_cdp.allow_function('plain(int)');
SELECT run_as_analyst('PREPARE s(size) AS SELECT dp_count(*) FROM visits WHERE CASE WHEN cost = 7 THEN $1 < ''l'' ELSE true END');
CREATE TABLE named (query text, lacking text);
INSERT INTO named VALUES
	('SELECT dp_count(*) FROM visits WHERE CASE WHEN cost = 7 THEN dept < ''b'' COLLATE of_here ELSE true END', 'collation "public.of_here" for encoding%does not exist'),
	('EXECUTE s(''s'')', 'type "public.size" does not exist'),
	('SELECT dp_sum(cost) FROM visits WHERE plain(visit) > 7', 'function public.plain(integer) does not exist'),
	('SELECT dp_sum(cost) FROM rows_of WHERE plain(visit) > 7', 'function public.plain(integer) does not exist'),
	('SELECT dp_median(cost) FROM visits WHERE plain(visit) > 7', 'function public.plain(integer) does not exist');
CREATE FUNCTION is_refused(query text, words text, description text) RETURNS text LANGUAGE sql AS $$
	SELECT alike(failure || ', cost ' || cost, 'ZC002 a server of the cluster cannot compute the private query: ' || words || '; nothing was charged%, cost 0', description || ': ' || query)
	FROM run_as_analyst(query)
$$;
CREATE FUNCTION is_answered(query text, price bigint, description text) RETURNS text LANGUAGE sql AS $$
	SELECT is((failure, cost)::text, format('(,%s)', price), description || ': ' || query) FROM run_as_analyst(query)
$$;
\! for c in "SET citus.enable_ddl_propagation = off;" "CREATE COLLATION of_here FROM \"C\";" "CREATE TYPE size AS ENUM ('s', 'l');" "CREATE FUNCTION plain(int) RETURNS int LANGUAGE internal STRICT IMMUTABLE AS 'int4abs';"; do echo "$c"; done >$WORK/objects
SELECT no_plan();

SELECT is_refused(query, lacking, 'what no worker has') FROM named;
\! psql -X -q -h $WORK/worker1 -d test -f $WORK/objects
SELECT is_refused(query, lacking, 'what one worker has') FROM named;
\! psql -X -q -h $WORK/worker2 -d test -f $WORK/objects
SELECT is_answered(query, 10000000000, 'what all have') FROM named;
\! psql -X -q -h $WORK/worker2 -d test -c "SET citus.enable_ddl_propagation = off" -c "REVOKE EXECUTE ON FUNCTION plain(int) FROM PUBLIC" -c "CREATE SCHEMA closed"
SELECT is_refused(query, 'permission denied for function plain', 'what the owner may not run') FROM named WHERE query LIKE '%plain%';
SELECT is_refused('SELECT dp_count(*) FROM visits WHERE CASE WHEN cost = 7 THEN dept < ''b'' COLLATE closed.coll ELSE true END', '%schema%closed%', 'what the owner may not name');

-- in a transaction of several, of which one part is undone
SELECT is_answered('DO $d$ BEGIN BEGIN PERFORM dp_count(*) FROM visits; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END; PERFORM dp_sum(cost), (SELECT dp_count(*) FROM visits) FROM visits; END $d$',
	30000000000, 'several, of which a part is undone');
SELECT is_answered('DO $d$ BEGIN BEGIN PERFORM dp_sum(cost) FROM visits WHERE plain(visit) > 7; EXCEPTION WHEN OTHERS THEN NULL; END; PERFORM dp_count(*) FROM visits; END $d$',
	10000000000, 'one that is refused does not fail the transaction');

-- columns whose types the owner cannot name are none of his query
CREATE SCHEMA apart;
CREATE TYPE apart.mood AS ENUM ('a', 'b');
\! for n in worker1 worker2; do psql -X -q -h $WORK/$n -d test -c "SET citus.enable_ddl_propagation = off" -c "CREATE SCHEMA apart" -c "CREATE TYPE apart.mood AS ENUM ('a', 'b')"; done
RESET citus.enable_ddl_propagation;
CREATE TABLE moods (patient int, m apart.mood, t text COLLATE "C");
SELECT create_distributed_table('moods', 'patient');
INSERT INTO moods SELECT i, NULL, 'x' FROM generate_series(1, 20) i;
ALTER TABLE moods OWNER TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.protect_table('moods', 'clinic', 'patient');
RESET SESSION AUTHORIZATION;
SELECT is_answered('SELECT dp_count(*) FROM moods WHERE m IS NULL AND t < ''y''', 10000000000, 'a column of a type in a schema that is closed');
SELECT * FROM finish();
