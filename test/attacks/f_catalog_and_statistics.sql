-- What PostgreSQL tells beside queries: statistics, counters, sizes, locks,
-- sequences, keys.  What only dp_cdp.harden() closes is asserted there.

--# statistics of columns
--@ absent: visit|patient
--@ attack
SELECT * FROM pg_stats WHERE tablename IN ('visit', 'patient', 'part', 'part_1', 'kid');
--> ok
SELECT * FROM pg_stats_ext; SELECT * FROM pg_stats_ext_exprs;
--> ok
SELECT * FROM pg_statistic;
--> 42501
SELECT * FROM pg_statistic_ext_data;
--> 42501
SET row_security = off;
SELECT tablename FROM pg_stats WHERE tablename IN ('visit', 'patient');
--> ok
SELECT lanname FROM pg_language LIMIT 1;
--> ok

--# statistics that the analyst would make
--@ attack
CREATE STATISTICS ana.s ON ward, age FROM visit;
--> 42501
ANALYZE visit;
--> standby: any; ok
VACUUM (VERBOSE, ANALYZE) visit;
--> standby: any; ok
REINDEX TABLE visit;
--> 42501
CLUSTER visit USING visit_patient;
--> 42501
CREATE INDEX ON visit ((age > 96));
--> 42501
CREATE VIEW ana.v AS SELECT cost FROM visit;
ANALYZE ana.v;
--> standby: any; ok
CREATE PUBLICATION p FOR TABLE visit;
--> 42501
CREATE RULE r AS ON INSERT TO visit DO ALSO NOTIFY x;
--> 42501
CREATE POLICY p ON visit USING (true);
--> 42501
ALTER TABLE visit DISABLE ROW LEVEL SECURITY;
--> 42501
ALTER TABLE visit ENABLE TRIGGER ALL;
--> 42501
CREATE TABLE ana.x (patient int); ALTER TABLE visit INHERIT ana.x;
--> 42501
ALTER TABLE ana.x INHERIT parent;
--> 42501
CREATE TABLE ana.y (patient int, y int, w text) PARTITION BY RANGE (y);
ALTER TABLE ana.y ATTACH PARTITION part_1 FOR VALUES FROM (0) TO (10);
--> coordinator: XX000; 42501
ALTER TABLE part ATTACH PARTITION ana.y DEFAULT;
--> 42501
COMMENT ON TABLE visit IS 'x';
--> 42501

--# counters of the transaction
--@ absent: ^(13|11|26)\||\|(13|11|26)(\||$)
--@ attack
SET enable_seqscan = off; SET enable_bitmapscan = off;
BEGIN;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ok 1
SELECT relname, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname IN ('visit', 'patient');
--> ok
ROLLBACK;
BEGIN;
SELECT dp_count(*) IS NULL FROM visit JOIN patient USING (patient) WHERE patient = 42;
--> ok 1 | ZC002
SELECT pg_stat_get_xact_tuples_fetched('visit'::regclass), pg_stat_get_xact_tuples_returned('visit_patient'::regclass), pg_stat_get_xact_numscans('visit_patient'::regclass);
--> ok
ROLLBACK;

--# what rows have put into caches of the catalogues, counted by messages of when these grow
--@ only: noselect
--@ absent: rehashing
--@ setup
SET SESSION AUTHORIZATION boss;
CREATE TYPE state AS ENUM ('well', 'ill');
CREATE TABLE stay (patient int, state state, words text);
INSERT INTO stay SELECT i, 'well', 'x' FROM generate_series(1, 100) i;
SELECT dp_cdp.protect_table('stay', 'clinic', unit => 'patient');
RESET SESSION AUTHORIZATION;
--@ attack
CREATE TYPE ana.many AS ENUM ('1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', '20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30', '31', '32', '33', '34', '35', '36');
SET client_min_messages = debug1;
SELECT dp_count(*) IS NULL FROM stay WHERE patient = 42 AND state::text <> '';
--> ok 1
SELECT v::text FROM unnest(enum_range(NULL::ana.many)) v;
--> ok
BEGIN;
SET client_min_messages = debug5;
SELECT dp_count(*) IS NULL FROM stay WHERE patient = 42 AND to_tsvector('russian', words) @@ to_tsquery('russian', 'x');
--> ok 1
ROLLBACK;
SELECT ts_lexize(d.oid::regdictionary, 'x') FROM pg_ts_dict d WHERE dictname ~ '_stem$';
--> ok
DO $$ BEGIN PERFORM set_config('client_min_messages', 'debug2', false); END $$;
CREATE FUNCTION pg_temp.told() RETURNS bigint LANGUAGE sql SET client_min_messages = debug1 AS 'SELECT count(c.oid::regcollation::text) FROM pg_collation c';
SELECT pg_temp.told();
--> ok
-- nor by what ends a setting
BEGIN;
SAVEPOINT a;
SET LOCAL client_min_messages = error;
ROLLBACK TO a;
SELECT v::text FROM unnest(enum_range(NULL::state)) v;
--> ok
COMMIT;
SET client_min_messages = warning;
RESET ALL;
SET client_min_messages = debug3;
SELECT count(t.oid::regtype::text) FROM pg_type t;
--> ok
--@ teardown
DROP TYPE ana.many;
SELECT dp_cdp.unprotect_table('stay');
DROP TABLE stay;
DROP TYPE state;

--# locks of the transaction
--@ absent: SIReadLock\|(tuple|page|relation)\|(visit|patient)
--@ attack
SET enable_seqscan = off; SET enable_bitmapscan = off;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ZC002
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ZC002
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ok 1
SELECT mode, locktype, relation::regclass, page, tuple FROM pg_locks WHERE pid = pg_backend_pid();
--> standby: any; ok
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;
SELECT dp_count(*) IS NULL FROM visit JOIN patient USING (patient) WHERE age = 97 AND name <> 'x';
--> ok 1 | ZC002
SELECT mode, locktype, relation::regclass, page, tuple FROM pg_locks WHERE pid = pg_backend_pid();
--> standby: any; ok
ROLLBACK;
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;
SELECT dp_count(*) IS NULL FROM visit WHERE patient BETWEEN 42 AND 43;
--> ok 1
SELECT mode, locktype, relation::regclass, page, tuple FROM pg_locks WHERE mode = 'SIReadLock';
--> standby: any; ok
ROLLBACK;
SET plan_cache_mode = force_generic_plan;
PREPARE p (int) AS SELECT dp_count(*) IS NULL FROM visit WHERE patient = $1;
EXECUTE p (42);
--> ok 1
BEGIN ISOLATION LEVEL SERIALIZABLE;
EXECUTE p (42);
--> ZC002
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;
EXECUTE p (42);
--> ok 1
SELECT mode, locktype, relation::regclass, page, tuple FROM pg_locks WHERE pid = pg_backend_pid();
--> standby: any; ok
ROLLBACK;

--# cumulative counters
--@ only: hardened
--@ absent: \b400\d\b|found
--@ attack
SELECT relname, n_live_tup, n_tup_ins, seq_tup_read, idx_tup_fetch FROM pg_stat_user_tables WHERE relname <> 'ward';
--> ok
SELECT * FROM pg_stat_all_indexes WHERE relname ~ '^(visit|patient|part|kid)';
--> ok
SELECT * FROM pg_statio_all_tables WHERE relname ~ '^(visit|patient|part|kid)';
--> ok
SELECT 'found' FROM pg_stat_all_tables WHERE relname = 'visit' AND num_nonnulls(n_live_tup, n_tup_ins, seq_scan, seq_tup_read, idx_scan, n_mod_since_analyze, last_analyze, analyze_count) > 0;
--> ok
SELECT 'found' FROM pg_stat_database WHERE num_nonnulls(tup_returned, tup_fetched, blks_hit, temp_files, temp_bytes) > 0;
--> ok
SELECT 'found' FROM pg_stat_bgwriter WHERE buffers_alloc IS NOT NULL;
--> ok
SELECT 'found' FROM pg_stat_wal WHERE wal_records IS NOT NULL;
--> ok
SELECT 'found' FROM pg_stat_slru;
--> ok
SELECT 'found' FROM (SELECT pg_stat_get_live_tuples('visit'::regclass) AS a, pg_stat_get_mod_since_analyze('visit'::regclass) AS b) s WHERE num_nonnulls(a, b) > 0;
--> ok
SELECT * FROM pg_stat_progress_vacuum;
--> ok
SELECT rows, shared_blks_hit FROM stats.pg_stat_statements;
--> 42501
SELECT * FROM stats.pg_stat_statements(true);
--> 42501

--# an index of a public table, looked up for each protected row
--@ only: hardened
--@ absent: ^[1-9]|\|[1-9]
--@ attack
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;
SELECT dp_count(*) IS NULL FROM visit JOIN ward USING (ward);
--> ok 1
SELECT idx_scan, idx_tup_fetch, seq_scan, seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'ward';
--> ok
SELECT sum(idx_scan), sum(idx_tup_read) FROM pg_stat_user_indexes;
--> ok

--# sizes and positions, by every road
--@ only: hardened
--@ absent: found|\b400\d\b
--@ attack
SELECT 'found' FROM pg_class WHERE relname ~ '^(visit|patient|part|kid|budget)' AND (reltuples <> -1 OR relpages <> 0 OR relallvisible <> 0);
--> ok
SELECT reltuples, relpages FROM pg_class WHERE relname = 'visit';
--> ok
SELECT c FROM pg_class c WHERE relname = 'visit';
--> ok
SELECT to_jsonb(c), c.*, c.ctid IS NULL FROM pg_class c WHERE relname = 'visit';
--> 42501
COPY (SELECT * FROM pg_class WHERE relname = 'visit') TO STDOUT;
--> ok
DO $$ DECLARE size bigint := pg_relation_size('visit'); r record; BEGIN SELECT * INTO r FROM pg_class WHERE relname = 'visit'; RAISE NOTICE '% %', coalesce(size::text, 'none'), r.reltuples; IF size IS NOT NULL THEN RAISE NOTICE 'found'; END IF; END $$;
--> ok
BEGIN;
DECLARE c CURSOR FOR SELECT reltuples, pg_table_size(oid) FROM pg_class WHERE relname = 'visit';
FETCH ALL FROM c;
--> ok
ROLLBACK;
PREPARE p (bigint) AS SELECT 'found' FROM pg_class WHERE relname = 'visit' AND (reltuples > $1 OR pg_relation_size(oid) > $1);
EXECUTE p (0);
--> ok
EXECUTE p (pg_relation_size('visit'));
--> 42501
EXPLAIN (VERBOSE) SELECT * FROM pg_class WHERE reltuples = 17;
--> ok
EXPLAIN ANALYZE SELECT 'x' FROM pg_class WHERE relname = 'visit' AND reltuples > 0;
--> ok
SELECT 'found' FROM pg_class WHERE relname = 'visit' AND 1 / (CASE WHEN reltuples > 0 THEN 0 ELSE 1 END) = 0;
--> ok
CREATE FUNCTION ana.cheap(real) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN IF $1 > 1000 THEN RAISE NOTICE 'found %', $1; END IF; RETURN true; END $$;
SELECT count(*) FROM pg_class WHERE ana.cheap(reltuples);
--> ok
CREATE VIEW ana.all_of_it AS SELECT * FROM pg_class;
SELECT 'found' FROM ana.all_of_it WHERE relname = 'visit' AND (ana.cheap(reltuples) IS NULL OR reltuples > 0);
--> ok
CREATE FUNCTION ana.inlined() RETURNS SETOF real LANGUAGE sql STABLE AS $$ SELECT reltuples FROM pg_class WHERE relname = 'visit' $$;
SELECT * FROM ana.inlined();
--> 42501
CREATE TABLE ana.d (x int, size bigint DEFAULT pg_relation_size('visit'));
INSERT INTO ana.d VALUES (1) RETURNING coalesce(size::text, 'none');
--> ok
COPY ana.d (x) FROM STDIN;
1
\.
--> 42501
CREATE PROCEDURE ana.p(bigint) LANGUAGE plpgsql AS $$ BEGIN END $$;
CALL ana.p(pg_relation_size('visit'));
--> 42501
CREATE TABLE ana.c AS SELECT * FROM pg_class; SELECT 'found' FROM ana.c WHERE relname = 'visit' AND reltuples > 0;
--> ok
SELECT 'found' WHERE pg_relation_size('visit') > 0 OR pg_total_relation_size('visit') > 0 OR pg_table_size('visit') > 0 OR pg_indexes_size('visit') > 0;
--> ok
SELECT 'found' WHERE pg_database_size(current_database()) > 0 OR pg_tablespace_size('pg_default') > 0;
--> ok
SELECT 'found' WHERE num_nonnulls(pg_current_wal_lsn(), pg_current_wal_insert_lsn(), pg_last_wal_replay_lsn(), pg_last_wal_receive_lsn()) > 0;
--> ok
SELECT 'found' FROM pg_control_checkpoint() WHERE checkpoint_lsn IS NOT NULL;
--> ok
SELECT * FROM pg_replication_slots;
--> ok
SELECT 'found' FROM pg_sequences WHERE last_value IS NOT NULL;
--> ok
SELECT dp_cdp_internal.visible_reltuples('visit'::regclass, 1), dp_cdp_internal.visible_relation_size('visit');
--> ok
SELECT reltuples FROM pg_class WHERE relname = 'visit' FOR UPDATE;
--> 42501
SELECT pg_prewarm('visit');
--> 42501
SELECT * FROM pgrowlocks('visit');
--> 42501
SELECT currtid2('visit', '(0,1)');
--> 42501
SELECT pg_stat_file(pg_relation_filepath('visit'));
--> 42501
SELECT pg_logical_emit_message(false, 'x', 'y');
--> 42501
SELECT lo_from_bytea(0, 'x'), lo_create(0);
--> 42501

--# functions that open the table themselves, where SELECT is denied
--@ only: noselect
--@ attack
SELECT pg_prewarm('visit');
--> 42501
SELECT * FROM pgrowlocks('visit');
--> 42501
SELECT currtid2('visit', '(0,1)');
--> 42501
SELECT has_table_privilege('visit', 'SELECT'), has_any_column_privilege('visit', 'SELECT');
--> ok

--# sequences
--@ setup
GRANT SELECT, USAGE ON SEQUENCE visit_id_seq TO ana;
--@ attack
SELECT last_value FROM visit_id_seq;
--> ZC002
SELECT * FROM visit_id_seq;
--> ZC002
COPY visit_id_seq TO STDOUT;
--> 42809 | ZC002
CREATE VIEW ana.s AS SELECT last_value FROM visit_id_seq;
SELECT * FROM ana.s;
--> ZC002
SELECT currval('visit_id_seq');
--> 55000
--@ teardown
REVOKE ALL ON SEQUENCE visit_id_seq FROM ana;

--# foreign keys ask whether a key exists
--@ setup
GRANT INSERT ON bed TO ana; GRANT REFERENCES ON patient TO ana; GRANT INSERT ON bed TO nob;
--@ attack
INSERT INTO bed (patient) VALUES (42);
--> ZC002
INSERT INTO bed (patient) VALUES (99999);
--> ZC002
INSERT INTO bed (patient) SELECT g FROM generate_series(1, 500) g ON CONFLICT DO NOTHING;
--> ZC002
COPY bed (patient) FROM STDIN;
42
\.
--> ZC002
CREATE TABLE ana.f (x int REFERENCES patient);
--> ok
INSERT INTO ana.f VALUES (42);
--> ZC002
CREATE TABLE ana.g (x int); INSERT INTO ana.g VALUES (42), (99999);
ALTER TABLE ana.g ADD FOREIGN KEY (x) REFERENCES patient;
--> ZC002
ALTER TABLE ana.g ADD CONSTRAINT later FOREIGN KEY (x) REFERENCES patient NOT VALID;
--> ok
ALTER TABLE ana.g VALIDATE CONSTRAINT later;
--> ZC002
BEGIN; CREATE TABLE ana.h (x int REFERENCES patient DEFERRABLE INITIALLY DEFERRED); INSERT INTO ana.h VALUES (42), (99999); SET CONSTRAINTS ALL IMMEDIATE;
--> ZC002
ROLLBACK;
--@ attack nob
INSERT INTO bed (patient) VALUES (42);
--> ok
--@ teardown
REVOKE ALL ON bed FROM ana; REVOKE ALL ON patient FROM nob; DELETE FROM bed; DROP SCHEMA ana CASCADE; CREATE SCHEMA ana AUTHORIZATION ana; REVOKE REFERENCES ON patient FROM ana;

--# TOAST
--@ attack
SELECT reltoastrelid::regclass AS t FROM pg_class WHERE oid = 'visit'::regclass \gset
SELECT * FROM :t LIMIT 1;
--> 42501 | ZC002
COPY :t TO STDOUT;
--> 42501 | ZC002

--# the dictionary shows policies, not rows
--@ attack
SELECT provider, label FROM pg_seclabels WHERE provider = 'dp_cdp' AND objtype = 'table';
--> ok
SELECT attname, attmissingval FROM pg_attribute WHERE attrelid = 'visit'::regclass;
--> ok
SELECT pg_get_expr(relpartbound, oid), pg_get_partkeydef(oid) FROM pg_class WHERE relname ~ '^part';
--> ok
SELECT * FROM dp_cdp.protected; SELECT * FROM dp_cdp.datasets;
--> ok
SELECT count(*), count(DISTINCT role) <= 1 FROM dp_cdp.releases;
--> ok
SELECT role FROM dp_cdp.budgets WHERE role::text NOT IN ('ana', 'bob');
--> ok
SELECT * FROM pg_stat_activity WHERE query ~ ('zeb' || 'ra') AND pid <> pg_backend_pid();
--> ok

--# own statements in pg_stat_statements
--@ only: noselect rls
--@ absent: ^(4\d{3}|13)\|
--@ attack
SET enable_seqscan = off;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ok 1
SELECT rows, calls, left(query, 40) FROM stats.pg_stat_statements WHERE userid = 'ana'::regrole;
--> ok
SELECT count(DISTINCT shared_blks_hit) FROM stats.pg_stat_statements WHERE query ~ 'private query';
--> ok

--# foreign keys that a distributed table gets when it has rows
--@ only: coordinator
--@ setup
GRANT REFERENCES ON patient TO ana;
--@ attack
CREATE TABLE ana.later (x int); SELECT create_distributed_table('ana.later', 'x') IS NULL \g /dev/null
--> ok
INSERT INTO ana.later VALUES (42), (99999);
--> ok
ALTER TABLE ana.later ADD FOREIGN KEY (x) REFERENCES patient;
--> ZC002
ALTER TABLE ana.later ADD CONSTRAINT checked FOREIGN KEY (x) REFERENCES patient NOT VALID;
--> ZC002
ALTER TABLE ana.later ADD COLUMN y int, ADD COLUMN z int REFERENCES patient;
--> ZC002
--@ teardown
DROP TABLE ana.later; REVOKE REFERENCES ON patient FROM ana;
