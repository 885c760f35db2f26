-- Who asks: session_user, current_user, owners of functions and views, roles
-- with attributes, and code of the analyst that others run.

--# functions and views of the owner
--@ setup
SET SESSION AUTHORIZATION boss;
CREATE FUNCTION public.raw(int) RETURNS SETOF numeric LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN QUERY SELECT cost FROM public.visit WHERE age = $1; END';
CREATE FUNCTION public.raw_sql(int) RETURNS SETOF numeric LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT cost FROM public.visit WHERE age = $1';
CREATE FUNCTION public.raw_atomic(int) RETURNS SETOF numeric LANGUAGE sql STABLE SECURITY DEFINER BEGIN ATOMIC SELECT cost FROM public.visit WHERE age = $1; END;
CREATE FUNCTION public.opened() RETURNS refcursor LANGUAGE plpgsql SECURITY DEFINER AS $$ DECLARE c refcursor := 'cc'; BEGIN OPEN c FOR SELECT cost FROM public.visit WHERE age = 97; RETURN c; END $$;
CREATE FUNCTION public.any_sql(text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ DECLARE r text; BEGIN EXECUTE $1 INTO r; RETURN r; END $$;
CREATE FUNCTION public.setter() RETURNS numeric LANGUAGE sql SECURITY DEFINER SET role = 'boss' AS 'SELECT percentile_disc(1.0) WITHIN GROUP (ORDER BY cost) FROM public.visit';
CREATE FUNCTION public.wiper() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$ DECLARE n bigint; BEGIN UPDATE public.visit SET cost = cost; GET DIAGNOSTICS n = ROW_COUNT; RETURN n; END $$;
CREATE VIEW public.owned AS SELECT * FROM visit; CREATE VIEW public.counted AS SELECT count(*) AS n, max(cost) AS m FROM visit; CREATE VIEW public.listed AS SELECT count(*) AS n, string_agg(cost::text, ',') AS m FROM visit;
CREATE FUNCTION public.fixed() RETURNS numeric LANGUAGE sql SECURITY DEFINER AS 'SELECT max(cost) FROM public.visit';
GRANT SELECT ON owned, counted, listed TO PUBLIC;
--@ attack
SELECT * FROM raw(97);
--> ZC002
SELECT * FROM raw_sql(97);
--> ZC002
SELECT * FROM raw_atomic(97);
--> ZC002
BEGIN; SELECT opened();
--> ZC002
ROLLBACK;
SELECT any_sql('SELECT mode() WITHIN GROUP (ORDER BY cost) FROM visit WHERE age = 97');
--> ZC002
SELECT any_sql('SELECT max(cost) FROM visit') IS NULL, fixed() IS NULL;
--> ok 2
SELECT any_sql('SELECT dp_count(*), max(ward) FROM visit');
--> ZC002
SELECT any_sql('COPY visit TO ''/tmp/nowhere''');
--> ZC002 | 42501
SELECT any_sql('SELECT dp_count(*) > 0 FROM visit');
--> ok 1
SELECT any_sql('SET ROLE boss');
--> 42501
SELECT any_sql('CREATE TABLE public.stolen AS SELECT * FROM visit');
--> ZC002
SELECT setter();
--> ZC002 | 42501
SELECT wiper();
--> ZC002
SELECT cost FROM owned WHERE age = 97;
--> ZC002
SELECT * FROM listed;
--> ZC002
SELECT n IS NULL, m IS NULL FROM counted;
--> ok 2
SELECT n IS NULL FROM counted;
--> ok 1..2
SELECT dp_count(*) IS NULL FROM owned;
--> ok 1
--@ attack nob
SELECT any_sql('SELECT max(cost) FROM visit'), fixed();
--> ZC001
SELECT * FROM counted;
--> ZC001
--@ attack boss
SELECT count(*) > 0 FROM raw(1); SELECT wiper() > 0;
--> standby: any; ok
SELECT fixed() IS NULL, n IS NULL, m IS NULL FROM counted;
--> ok
--@ teardown
DROP FUNCTION raw(int), raw_sql(int), raw_atomic(int), opened(), any_sql(text), setter(), wiper(), fixed(); DROP VIEW owned, counted, listed;

--# plans of one identity run by another
--@ setup
CREATE FUNCTION public.pooled() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$ DECLARE n bigint; BEGIN UPDATE public.visit SET cost = cost; GET DIAGNOSTICS n = ROW_COUNT; RETURN n; END $$; ALTER FUNCTION pooled() OWNER TO boss;
CREATE FUNCTION public.pooled_blind() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$ DECLARE n bigint; BEGIN DELETE FROM public.bed; DELETE FROM public.visit; GET DIAGNOSTICS n = ROW_COUNT; RETURN n; END $$; ALTER FUNCTION pooled_blind() OWNER TO boss;
--@ attack postgres
SET SESSION AUTHORIZATION boss;
PREPARE p AS SELECT name FROM patient WHERE patient = 42; PREPARE d AS DELETE FROM part;
EXECUTE p \g /dev/null
BEGIN; SELECT pooled() > 0; SELECT pooled_blind() > 0; ROLLBACK;
--> standby: any; ok
SET SESSION AUTHORIZATION ana;
EXECUTE p;
--> ZC002
EXECUTE d;
--> ZC002
EXPLAIN ANALYZE EXECUTE d;
--> ZC002
SELECT pooled();
--> ZC002
SELECT pooled_blind();
--> ZC002
RESET SESSION AUTHORIZATION;
SET ROLE ana;
EXECUTE p;
--> ZC002
SELECT cost FROM visit WHERE age = 97;
--> ZC002
RESET ROLE; SET SESSION AUTHORIZATION rea;
SET plan_cache_mode = force_generic_plan;
PREPARE r AS SELECT name FROM patient WHERE patient = 42;
EXECUTE r \g /dev/null
SET SESSION AUTHORIZATION ana;
EXECUTE r;
--> ZC002
PREPARE q AS SELECT dp_count(*) IS NULL FROM visit;
EXECUTE q;
--> ok 1
SET SESSION AUTHORIZATION bob;
EXECUTE q;
--> ok bob:1
SET SESSION AUTHORIZATION nob;
EXECUTE q;
--> ZC001
--@ teardown
DROP FUNCTION pooled(), pooled_blind();

--# a statement prepared before the table was protected
--@ only: noselect rls hardened
--@ setup
GRANT SELECT ON later TO ana;
--@ attack
SET plan_cache_mode = force_generic_plan;
PREPARE p AS SELECT cost > 1 FROM later WHERE age = 97 LIMIT 1;
EXECUTE p;
--> ok
\! psql -X -q -At -U boss -c "SELECT dp_cdp.protect_table('later', 'clinic', 'patient')" -c "REVOKE SELECT ON later FROM ana"
EXECUTE p;
--> ZC002
EXECUTE p;
--> ZC002
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('later');

--# code of the analyst that others run: indexes, maintenance
--@ only: noselect rls hardened
--@ attack
CREATE TABLE ana.loot (who text, session text, d text); CREATE TABLE ana.trap (x int); INSERT INTO ana.trap SELECT generate_series(1, 5);
CREATE FUNCTION ana.volatile(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ana.loot SELECT current_user, session_user, name FROM public.patient WHERE patient = 42; RETURN $1; EXCEPTION WHEN OTHERS THEN INSERT INTO ana.loot VALUES (current_user, session_user, SQLSTATE); RETURN $1; END $$;
CREATE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1; END $$;
CREATE INDEX trapped ON ana.trap (ana.idx(x)); CREATE STATISTICS ana.st ON (ana.idx(x)), x FROM ana.trap;
CREATE OR REPLACE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN ana.volatile($1); END $$;
CREATE MATERIALIZED VIEW ana.mv AS SELECT ana.volatile(1) AS v, name FROM public.patient WITH NO DATA;
CREATE MATERIALIZED VIEW ana.mv2 AS SELECT ana.volatile(1) AS v WITH NO DATA;
CREATE MATERIALIZED VIEW ana.paid AS SELECT dp_count(*) FROM public.visit WITH NO DATA;
--@ attack postgres
ANALYZE ana.trap; REINDEX TABLE ana.trap; VACUUM ANALYZE ana.trap; CLUSTER ana.trap USING trapped;
REFRESH MATERIALIZED VIEW ana.mv;
--> ZC002 | 42501
REFRESH MATERIALIZED VIEW ana.mv2;
--> ok
REFRESH MATERIALIZED VIEW ana.paid;
--> ok 1
--@ verify
SELECT DISTINCT * FROM ana.loot; SELECT * FROM ana.mv2;

--# autovacuum
--@ only: noselect
--@ setup
ALTER SYSTEM SET autovacuum_naptime = 1; SELECT pg_reload_conf();
--@ attack
CREATE TABLE ana.loot (d text); CREATE TABLE ana.trap (x int) WITH (autovacuum_analyze_threshold = 1, autovacuum_analyze_scale_factor = 0);
CREATE FUNCTION ana.volatile(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ana.loot SELECT name FROM public.patient WHERE patient = 42; RETURN $1; EXCEPTION WHEN OTHERS THEN INSERT INTO ana.loot VALUES (current_user || ' ' || session_user || ' ' || SQLSTATE); RETURN $1; END $$;
CREATE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1; END $$;
CREATE INDEX ON ana.trap (ana.idx(x));
CREATE FUNCTION ana.idx2(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN ana.volatile($1); END $$;
CREATE OR REPLACE FUNCTION ana.idx(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 + count(ana.volatile($1)) * 0; END $$;
\! psql -X -q -U ana -c "INSERT INTO ana.trap SELECT generate_series(1, 100)" -c "TRUNCATE ana.loot"
DO $$ BEGIN FOR i IN 1..80 LOOP EXIT WHEN EXISTS (SELECT FROM ana.loot); PERFORM pg_sleep(0.1); END LOOP; END $$;
--> ok
SELECT DISTINCT d FROM ana.loot;
--> ok
--@ verify
ALTER SYSTEM RESET autovacuum_naptime; SELECT pg_reload_conf();

--# a cascade runs triggers of the analyst's table inside of a foreign-key check
--@ but: coordinator worker
--@ absent: wrong
--@ only: noselect rls hardened
--@ setup
GRANT REFERENCES ON patient TO ana; GRANT pg_read_all_data TO ana; ALTER TABLE patient NO FORCE ROW LEVEL SECURITY;
INSERT INTO patient VALUES (1000, 'leaver', '1');
--@ attack
CREATE TABLE ana.loot (d text);
CREATE TABLE ana.trap (x int REFERENCES patient ON DELETE CASCADE);
CREATE FUNCTION ana.t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ana.loot SELECT format('%s %s %s', current_user, session_user, string_agg(cost::text, ',')) FROM public.visit WHERE age = 97; RETURN OLD; EXCEPTION WHEN OTHERS THEN INSERT INTO ana.loot VALUES (SQLSTATE); RETURN OLD; END $$;
CREATE FUNCTION ana.u() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ana.loot SELECT format('%s %s private', current_user, session_user) FROM (SELECT max(cost) AS m FROM public.visit) s WHERE m IS NOT NULL; RETURN OLD; END $$;
CREATE TRIGGER t BEFORE DELETE ON ana.trap FOR EACH ROW EXECUTE FUNCTION ana.t();
CREATE TRIGGER u BEFORE DELETE ON ana.trap FOR EACH ROW EXECUTE FUNCTION ana.u();
--@ attack postgres
SET session_replication_role = replica; INSERT INTO ana.trap VALUES (1000); RESET session_replication_role;
SET SESSION AUTHORIZATION boss;
DELETE FROM patient WHERE patient = 1000;
--> ok 1
--@ verify
SELECT 'caught ' || d FROM ana.loot;
SELECT 'wrong ' || count(*) FROM ana.loot WHERE d = 'ZC002' HAVING count(*) <> 1;
SELECT 'wrong ' || count(*) FROM ana.loot WHERE d = 'ana boss private' HAVING count(*) <> 1;
--@ teardown
REVOKE pg_read_all_data FROM ana; DROP SCHEMA ana CASCADE; CREATE SCHEMA ana AUTHORIZATION ana; REVOKE REFERENCES ON patient FROM ana;

--# ... where shards have the rows, and a trigger runs beside them
--@ only: coordinator
--@ absent: wrong
--@ setup
GRANT REFERENCES ON patient TO ana; GRANT pg_read_all_data TO ana;
INSERT INTO patient VALUES (1000, 'leaver', '1');
--@ attack
CREATE TABLE ana.trap (x int);
SELECT create_distributed_table('ana.trap', 'x', colocate_with => 'public.patient');
--> ok
ALTER TABLE ana.trap ADD FOREIGN KEY (x) REFERENCES patient ON DELETE CASCADE;
--> ZC002
CREATE FUNCTION ana.t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'wrong % %: %', current_user, session_user, (SELECT string_agg(cost::text, ',') FROM public.visit WHERE age = 97); RETURN OLD; END $$;
CREATE TRIGGER t BEFORE DELETE ON ana.trap FOR EACH ROW EXECUTE FUNCTION ana.t();
--> XX000
SET citus.enable_unsafe_triggers = on; CREATE TRIGGER t BEFORE DELETE ON ana.trap FOR EACH ROW EXECUTE FUNCTION ana.t();
--> ok
--@ attack postgres
ALTER TABLE ana.trap ADD FOREIGN KEY (x) REFERENCES patient ON DELETE CASCADE; INSERT INTO ana.trap VALUES (1000);
--> ok
SET SESSION AUTHORIZATION boss;
DELETE FROM patient WHERE patient = 1000;
--> ZC002 | ZC003
--@ teardown
DROP TABLE ana.trap; DELETE FROM patient WHERE patient = 1000;
REVOKE pg_read_all_data FROM ana; REVOKE REFERENCES ON patient FROM ana;

--# predefined roles and attributes
--@ setup
GRANT pg_read_all_data, pg_write_all_data TO ana;
--@ attack
SELECT cost FROM visit WHERE age = 97;
--> ZC002
COPY visit TO STDOUT;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit;
--> ok 1
UPDATE visit SET cost = 0;
--> ZC002
SELECT * FROM dp_cdp_internal.release_log LIMIT 0;
--> ok
UPDATE dp_cdp_internal.budget SET rho_spent = 0;
--> any
DELETE FROM dp_cdp_internal.release_log;
--> any
SELECT reltoastrelid::regclass AS t FROM pg_class WHERE oid = 'visit'::regclass \gset
SELECT * FROM :t LIMIT 1;
--> worker: ok; ZC002 | 42501
--@ teardown
REVOKE pg_read_all_data, pg_write_all_data FROM ana;

--# CREATEROLE makes no reader of an analyst
--@ setup
ALTER ROLE ana CREATEROLE;
--@ attack
GRANT pg_read_all_data TO ana;
--> standby: any; ok | 42501
SELECT cost FROM visit WHERE age = 97;
--> ZC002
CREATE ROLE puppet LOGIN;
GRANT bob TO puppet;
--@ teardown
REVOKE pg_read_all_data FROM ana; DROP ROLE IF EXISTS puppet; ALTER ROLE ana NOCREATEROLE;

--# triggers on the protected table
--@ setup
GRANT TRIGGER ON visit TO ana;
--@ attack
CREATE FUNCTION ana.t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', NEW; RETURN NEW; END $$;
CREATE TRIGGER t BEFORE INSERT ON visit FOR EACH ROW EXECUTE FUNCTION ana.t();
--> ZC002
CREATE CONSTRAINT TRIGGER t AFTER INSERT ON visit FOR EACH ROW EXECUTE FUNCTION ana.t();
--> ZC002
CREATE TRIGGER t AFTER INSERT ON visit REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION ana.t();
--> ZC002
CREATE OR REPLACE TRIGGER t BEFORE INSERT ON part_1 FOR EACH ROW EXECUTE FUNCTION ana.t();
--> ZC002 | 42501
CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION ana.t();
--> 42501 | 42P17
--@ teardown
REVOKE TRIGGER ON visit FROM ana;

--# tables move and change, protection stays
--@ setup
SET ROLE boss; ALTER TABLE visit RENAME TO encounter; ALTER TABLE encounter RENAME COLUMN patient TO pid; ALTER TABLE encounter RENAME COLUMN cost TO price;
--@ attack
SELECT price FROM encounter WHERE age = 97;
--> ZC002
SELECT dp_count(DISTINCT pid) IS NULL FROM encounter;
--> ok 1
SELECT dp_sum(price) IS NULL FROM encounter;
--> ok 1
--@ teardown
SET ROLE boss; ALTER TABLE encounter RENAME COLUMN price TO cost; ALTER TABLE encounter RENAME COLUMN pid TO patient; ALTER TABLE encounter RENAME TO visit;

--# administration is the owner's
--@ attack
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 1e6);
--> 42501
SELECT dp_cdp.drop_budget('clinic', 'bob');
--> 42501
SELECT dp_cdp.alter_dataset('clinic', max_rho => 1);
--> 42501
SELECT dp_cdp.drop_dataset('clinic', true);
--> 42501
SELECT dp_cdp.protect_table('ward', 'clinic', each_row => true);
--> 42501
SELECT dp_cdp.unprotect_table('visit');
--> 42501
SELECT dp_cdp.set_bounds('visit', 'cost', 0, 1);
--> 42501
SELECT dp_cdp.set_keys('visit', 'ward', ARRAY['x']);
--> 42501
SELECT dp_cdp.allow_function('pg_notify(text, text)');
--> 42501
SELECT * FROM dp_cdp.harden();
--> 42501
SELECT dp_cdp.debit_budget('clinic', -5);
--> 42501
SELECT dp_cdp.empty_ledger();
--> 42501
SELECT dp_cdp.adopt_ledger();
--> 42501
SECURITY LABEL FOR dp_cdp ON TABLE visit IS NULL;
--> 42501
CREATE TABLE ana.t (patient int, cost int);
SECURITY LABEL FOR dp_cdp ON TABLE ana.t IS '{"dataset": "clinic"}';
--> worker: ok; 42501
CREATE FUNCTION ana.f(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
SECURITY LABEL FOR dp_cdp ON FUNCTION ana.f(int) IS 'allowed';
--> 42501
SELECT dp_cdp_internal.make_grid(0, 1, 'int4');
--> 42501
SELECT dp_cdp_internal.unreleased_bigint(NULL);
--> 42501
CREATE AGGREGATE ana.a(*) (sfunc = dp_cdp_internal.unreleased_step, stype = dp_cdp_internal.unreleased);
--> 42501
DROP EXTENSION dp_cdp CASCADE;
--> 42501
ALTER EXTENSION dp_cdp SET SCHEMA ana;
--> 42501
DROP SCHEMA dp_cdp CASCADE;
--> 42501
CREATE OR REPLACE FUNCTION dp_cdp_internal.role_pays(oid, oid) RETURNS boolean LANGUAGE sql AS 'SELECT false';
--> 42501
ALTER FUNCTION dp_cdp_internal.role_pays(oid, oid) OWNER TO ana;
--> 42501

--# other sessions of the same person
--@ attack
SELECT dblink_connect('dbname=' || current_database() || ' user=boss');
--> 2F003 | 08001
SELECT * FROM dblink('dbname=postgres user=boss', 'SELECT 1') AS t (x int);
--> 2F003 | 08001
SELECT dblink_connect_u('dbname=postgres user=boss');
--> 42501
CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw;
--> 42501
SELECT lo_import('/etc/hostname');
--> 42501
COPY ward TO PROGRAM 'cat';
--> 42501
COPY ward FROM '/etc/hostname';
--> 42501
SELECT pg_read_file('PG_VERSION');
--> 42501
SELECT pg_ls_dir('base');
--> 42501
SELECT pg_create_logical_replication_slot('x', 'test_decoding');
--> 42501
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type ~ 'dp_cdp' OR backend_type = 'checkpointer';
--> ok | 42501
SELECT pg_log_backend_memory_contexts(pg_backend_pid());
--> 42501
SELECT * FROM pg_backend_memory_contexts;
--> 42501
SELECT pg_get_backend_memory_contexts();
--> 42501
CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p;
--> 42501

--# pg_dump as an analyst
--@ shell
pg_dump -U ana -t visit --data-only
pg_dump -U ana -t visit --data-only --enable-row-security
pg_dump -U ana -t visit --inserts --enable-row-security
--> any 0
