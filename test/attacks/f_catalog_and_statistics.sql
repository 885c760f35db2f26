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
--> 42501
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
--> hardened: 42501; ok
ROLLBACK;
BEGIN;
SELECT dp_count(*) IS NULL FROM visit JOIN patient USING (patient) WHERE patient = 42;
--> ok 1 | ZC002
SELECT pg_stat_get_xact_tuples_fetched('visit'::regclass), pg_stat_get_xact_tuples_returned('visit_patient'::regclass), pg_stat_get_xact_numscans('visit_patient'::regclass);
--> hardened: 42501; ok
ROLLBACK;

--# locks of the transaction
--@ absent: SIReadLock\|(tuple|page)\|(visit|patient)
--@ attack
SET enable_seqscan = off; SET enable_bitmapscan = off;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ok 1
SELECT mode, locktype, relation::regclass, page, tuple FROM pg_locks WHERE pid = pg_backend_pid();
--> standby: any; ok
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT dp_count(*) IS NULL FROM visit JOIN patient USING (patient) WHERE age = 97 AND name <> 'x';
--> ok 1 | ZC002
SELECT mode, locktype, relation::regclass, page, tuple FROM pg_locks WHERE pid = pg_backend_pid();
--> standby: any; ok
ROLLBACK;
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;
BEGIN ISOLATION LEVEL SERIALIZABLE;
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
--> ok 1
SELECT mode, locktype, relation::regclass, page, tuple FROM pg_locks WHERE pid = pg_backend_pid();
--> standby: any; ok
ROLLBACK;

--# cumulative counters
--@ only: hardened
--@ absent: \b400\d\b
--@ attack
SELECT relname, n_live_tup, n_tup_ins, seq_tup_read, idx_tup_fetch FROM pg_stat_user_tables;
--> 42501
SELECT * FROM pg_stat_all_indexes;
--> 42501
SELECT * FROM pg_statio_all_tables;
--> 42501
SELECT tup_returned, tup_fetched, blks_hit, temp_files FROM pg_stat_database;
--> 42501
SELECT buffers_alloc FROM pg_stat_bgwriter;
--> 42501
SELECT * FROM pg_stat_wal;
--> 42501
SELECT * FROM pg_stat_slru;
--> 42501
SELECT pg_stat_get_live_tuples('visit'::regclass), pg_stat_get_mod_since_analyze('visit'::regclass);
--> 42501
SELECT * FROM pg_stat_progress_vacuum;
--> 42501
SELECT rows, shared_blks_hit FROM stats.pg_stat_statements;
--> 42501
SELECT * FROM stats.pg_stat_statements(true);
--> 42501

--# sizes and positions
--@ only: hardened
--@ attack
SELECT reltuples FROM pg_class WHERE relname = 'visit';
--> 42501
SELECT relpages, relallvisible FROM pg_class;
--> 42501
SELECT c FROM pg_class c;
--> 42501
SELECT pg_relation_size('visit');
--> 42501
SELECT pg_total_relation_size('visit'), pg_table_size('visit'), pg_indexes_size('visit');
--> 42501
SELECT pg_database_size(current_database());
--> 42501
SELECT pg_current_wal_lsn();
--> 42501
SELECT pg_current_wal_insert_lsn();
--> 42501
SELECT pg_last_wal_replay_lsn();
--> 42501
SELECT pg_last_wal_receive_lsn();
--> 42501
SELECT * FROM pg_control_checkpoint();
--> 42501
SELECT * FROM pg_replication_slots;
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
