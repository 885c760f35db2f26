-- Who asks: session_user and current_user both count, for reading and for
-- paying.  Debits are measured in prices of one aggregate (rho 1e-6).

SET client_min_messages = error;
-- an exact aggregate shall be refused here, not taken for a private one
SET dp_cdp.standard_aggregates = off;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE stranger LOGIN;
CREATE ROLE writer LOGIN;
CREATE ROLE reader LOGIN;
CREATE ROLE lister LOGIN;
CREATE ROLE team1;
CREATE ROLE team2;
CREATE ROLE unbudgeted;
CREATE ROLE member LOGIN IN ROLE team1, team2, unbudgeted;
CREATE ROLE aloof LOGIN NOINHERIT IN ROLE team1, team2;
CREATE ROLE penniless LOGIN NOINHERIT IN ROLE team1;
GRANT CREATE ON SCHEMA public TO owner1, analyst1, member, stranger;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY DEFAULT 5001, patient int, dept text NOT NULL);
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1) FROM generate_series(1, 3000) i;
CREATE TABLE parts (id int, dept text) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200) PARTITION BY LIST (dept);
CREATE TABLE parts_2_a PARTITION OF parts_2 DEFAULT;
INSERT INTO parts SELECT i, 'a' FROM generate_series(1, 199) i;
CREATE TABLE base (id int, dept text);
CREATE TABLE child (more int) INHERITS (base);
INSERT INTO base SELECT i, 'a' FROM generate_series(1, 10) i;
INSERT INTO child SELECT i, 'b' FROM generate_series(1, 10) i;
CREATE TABLE refers (visit int REFERENCES visits);
CREATE TABLE later AS SELECT * FROM visits;
CREATE TABLE listed AS SELECT * FROM visits;
CREATE TABLE logged (n bigint);

SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6);
SELECT dp_cdp.protect_table(t, 'clinic', each_row => true) FROM unnest('{visits,parts,base,listed}'::regclass[]) t;
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_budget('clinic', r::regrole, rho => 1000) FROM unnest('{owner1,analyst1,team1,team2,member,aloof,lister,postgres}'::name[]) r;

CREATE VIEW raw_view AS SELECT * FROM visits;
CREATE VIEW count_view AS SELECT count(*) FROM visits;
CREATE VIEW release_view AS SELECT dp_count(*) FROM visits;
CREATE FUNCTION definer_raw() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
	'BEGIN RETURN (SELECT count(*) FROM visits); END';
CREATE FUNCTION definer_sql() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM visits';
CREATE FUNCTION definer_dynamic(query text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS
	'DECLARE r text; BEGIN EXECUTE query INTO r; RETURN r; END';
CREATE FUNCTION definer_release() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
	'BEGIN RETURN (SELECT dp_count(*) FROM visits); END';
CREATE FUNCTION log_count() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
	'BEGIN NEW.n := (SELECT count(*) FROM visits); RETURN NEW; END';
CREATE TRIGGER t BEFORE INSERT ON logged FOR EACH ROW EXECUTE FUNCTION log_count();
GRANT SELECT ON raw_view, count_view, release_view TO PUBLIC;
GRANT INSERT ON refers, logged TO writer, analyst1;
GRANT SELECT ON logged TO writer, analyst1;
GRANT INSERT, UPDATE, DELETE, TRUNCATE ON visits TO writer;
GRANT INSERT ON base TO analyst1;
GRANT SELECT ON visits TO reader;
GRANT SELECT ON later, listed TO analyst1, lister, reader;
GRANT SELECT (dept) ON visits TO stranger;
RESET SESSION AUTHORIZATION;
CREATE FUNCTION super_raw() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
	'BEGIN RETURN (SELECT count(*) FROM visits); END';

-- what the budgets of these roles have spent, as 'role:n role:n', in prices
CREATE FUNCTION spent() RETURNS jsonb LANGUAGE sql VOLATILE
	AS $$ SELECT jsonb_object_agg(role::regrole, (rho_spent * 1e6)::int) FROM dp_cdp_internal.budget $$;
CREATE FUNCTION difference(before jsonb, after jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(key || ':' || (a.value::int - b.value::int), ' ' ORDER BY key), '')
	FROM jsonb_each_text(before) b JOIN jsonb_each_text(after) a USING (key) WHERE a.value <> b.value $$;

-- a statement as some role; other: SET ROLE before.  "result" is its single value
CREATE FUNCTION run_as(who name, other name, statement text, OUT outcome text, OUT message text, OUT result text, OUT paid text)
	LANGUAGE plpgsql AS $$
DECLARE
	before jsonb := spent();
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', who);
	IF other IS NOT NULL THEN EXECUTE format('SET ROLE %I', other); END IF;
	BEGIN
		outcome := 'answered';
		IF statement ~ '^ *(INSERT|UPDATE|DELETE)' AND statement !~ 'RETURNING' THEN
			EXECUTE statement;
		ELSE
			EXECUTE statement INTO result;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		outcome := SQLSTATE;
		message := SQLERRM;
	END;
	RESET ROLE;
	RESET SESSION AUTHORIZATION;
	paid := difference(before, spent());
END $$;

CREATE FUNCTION answers(who name, other name, statement text, wanted text, price text, description text) RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	r record := run_as(who, other, statement);
BEGIN
	RETURN is(r.outcome || ' ' || coalesce(CASE WHEN wanted = '*' THEN '*' ELSE r.result END, 'NULL') || ' ' || r.paid,
		'answered ' || coalesce(wanted, 'NULL') || ' ' || price, description)
		|| coalesce(E'\n' || diag(r.message), '');
END $$;

CREATE FUNCTION refused(who name, other name, statement text, state text, description text) RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	r record := run_as(who, other, statement);
BEGIN
	RETURN is(r.outcome || ' ' || r.paid, state || ' ', description)
		|| CASE WHEN r.outcome <> state THEN E'\n' || diag(coalesce(r.message, r.result)) ELSE '' END;
END $$;

CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY EXECUTE 'EXPLAIN ' || query; END $$;

SELECT no_plan();

-- --------------------------------------------------------------------------
-- Reading
-- --------------------------------------------------------------------------

SELECT ok(NOT has_table_privilege('analyst1', 'visits', 'SELECT'), 'the analyst holds no SELECT');
SELECT refused('analyst1', NULL, 'SELECT id FROM visits', 'ZC002', 'raw rows');
SELECT refused('analyst1', NULL, 'SELECT count(*) FROM visits', 'ZC002', 'exact aggregate');
SELECT refused('stranger', NULL, 'SELECT dept FROM visits', 'ZC002', 'SELECT on a column is no SELECT on the table');
SELECT refused('stranger', NULL, 'SELECT dp_count(*) FROM visits', 'ZC001', 'no budget, no answer');
SELECT answers('owner1', NULL, 'SELECT count(*) FROM visits', '3000', '', 'the owner keeps plain SQL');
SELECT answers('postgres', NULL, 'SELECT count(*) FROM visits', '3000', '', 'so does a superuser');
SELECT answers('reader', NULL, 'SELECT count(*) FROM visits', '3000', '', 'so does whoever holds SELECT');
SELECT answers('owner1', NULL, 'SELECT dp_count(*) FROM visits', '*', 'owner1:1', 'a private aggregate of the owner is paid for');
SELECT answers('postgres', NULL, 'SELECT dp_count(*) FROM visits', '*', 'postgres:1', 'that of a superuser, too');
SELECT refused('reader', NULL, 'SELECT dp_count(*) FROM visits', 'ZC001', 'and it needs a budget, even with SELECT');
SELECT answers('owner1', NULL, 'SELECT dp_count(*) <> 3000 OR dp_count(*) <> 3000 + 1 FROM visits', '*', 'owner1:1', 'it is noisy for the owner');

SELECT refused('postgres', 'analyst1', 'SELECT count(*) FROM visits', 'ZC002', 'current_user may not read');
SELECT answers('postgres', 'analyst1', 'SELECT dp_count(*) FROM visits', '*', 'analyst1:1 postgres:1', 'session_user and current_user pay');
SELECT answers('postgres', 'reader', 'SELECT count(*) FROM visits', '3000', '', 'both may read');
SELECT answers('postgres', 'owner1', 'SELECT dp_count(*) FROM visits', '*', 'owner1:1 postgres:1', 'both hold SELECT and pay');

-- functions with their owner's rights
SELECT answers('owner1', NULL, 'SELECT definer_raw()', '3000', '', 'SECURITY DEFINER function called by its owner');
SELECT answers('reader', NULL, 'SELECT definer_raw()', '3000', '', '... by somebody who may read');
SELECT refused('analyst1', NULL, 'SELECT definer_raw()', 'ZC002', '... by an analyst (its plan is cached by now)');
SELECT refused('analyst1', NULL, 'SELECT definer_sql()', 'ZC002', '... in SQL');
SELECT refused('analyst1', NULL, $$ SELECT definer_dynamic('SELECT count(*) FROM visits') $$, 'ZC002', '... of dynamic SQL');
SELECT refused('analyst1', NULL, 'SELECT super_raw()', 'ZC002', '... of a superuser');
SELECT refused('stranger', NULL, 'SELECT definer_raw()', 'ZC002', '... by a role without budget');
SELECT answers('analyst1', NULL, 'SELECT definer_release()', '*', 'analyst1:1 owner1:1', '... of a release: caller and owner pay');
SELECT answers('analyst1', NULL, $$ SELECT definer_dynamic('SELECT dp_count(*) FROM visits') $$, '*', 'analyst1:1 owner1:1', '... of a dynamic release');
SELECT answers('stranger', NULL, 'SELECT definer_release()', '*', 'owner1:1', 'a caller without budget: its owner pays');
SELECT refused('analyst1', NULL, 'INSERT INTO logged VALUES (0)', 'ZC002', 'trigger with the owner''s rights');
SELECT refused('analyst1', NULL, $$ SELECT query_to_xml('SELECT * FROM visits', true, true, '') $$, 'ZC002', 'query_to_xml');
SELECT refused('analyst1', NULL, $$ SELECT table_to_xml('visits', true, true, '') $$, 'ZC002', 'table_to_xml');

-- views: PostgreSQL would read as the view's owner
SELECT answers('owner1', NULL, 'SELECT count(*) FROM raw_view', '3000', '', 'a view of raw rows, for the owner');
SELECT refused('analyst1', NULL, 'SELECT count(*) FROM raw_view', 'ZC002', '... for an analyst who may select from it');
SELECT refused('analyst1', NULL, 'SELECT id FROM raw_view', 'ZC002', '... its rows');
SELECT refused('analyst1', NULL, 'SELECT * FROM count_view', 'ZC002', 'a view with an exact aggregate');
SELECT answers('analyst1', NULL, 'SELECT * FROM release_view', '*', 'analyst1:1', 'a view with a release');
SELECT answers('analyst1', NULL, 'SELECT dp_count(*) FROM raw_view', '*', 'analyst1:1', 'a release over a view');

-- --------------------------------------------------------------------------
-- Paying
-- --------------------------------------------------------------------------

SELECT answers('member', NULL, 'SELECT dp_count(*) FROM visits', '*', 'member:1 team1:1 team2:1', 'a member pays with its teams');
SELECT answers('member', 'team1', 'SELECT dp_count(*) FROM visits', '*', 'member:1 team1:1 team2:1', 'SET ROLE changes nothing');
SELECT answers('member', 'unbudgeted', 'SELECT dp_count(*) FROM visits', '*', 'member:1 team1:1 team2:1', 'nor does a role without budget');
SELECT answers('aloof', NULL, 'SELECT dp_count(*) FROM visits', '*', 'aloof:1', 'NOINHERIT pays alone');
SELECT answers('aloof', 'team1', 'SELECT dp_count(*) FROM visits', '*', 'aloof:1 team1:1', 'SET ROLE adds a payer');
SELECT refused('penniless', NULL, 'SELECT dp_count(*) FROM visits', 'ZC001', 'NOINHERIT without budget');
SELECT answers('penniless', 'team1', 'SELECT dp_count(*) FROM visits', '*', 'team1:1', '... uses the team''s by SET ROLE');

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('clinic', 'aloof', rho => 1e-6);
SELECT dp_cdp.set_budget('clinic', 'team2', rho => 1e-6);
RESET SESSION AUTHORIZATION;
SELECT refused('aloof', NULL, 'SELECT dp_count(*) FROM visits', 'ZC001', 'own budget exhausted');
SELECT refused('aloof', 'team1', 'SELECT dp_count(*) FROM visits', 'ZC001', 'SET ROLE does not dodge it');
SELECT refused('member', NULL, 'SELECT dp_count(*) FROM visits', 'ZC001', 'a team''s budget exhausted: none is debited');
SELECT refused('member', 'team1', 'SELECT dp_count(*) FROM visits', 'ZC001', 'SET ROLE to the other team');
SELECT refused('member', 'unbudgeted', 'SELECT dp_count(*) FROM visits', 'ZC001', 'SET ROLE to a role without budget');

-- --------------------------------------------------------------------------
-- Row-level security: SELECT, but nothing to see
-- --------------------------------------------------------------------------

SELECT answers('lister', NULL, 'SELECT count(*) FROM listed', '3000', '', 'SELECT granted, no row-level security');
ALTER TABLE listed ENABLE ROW LEVEL SECURITY;
SELECT refused('lister', NULL, 'SELECT count(*) FROM listed', 'ZC002', 'row-level security without policy');
SELECT answers('lister', NULL, 'SELECT dp_count(*) > 500 FROM listed', '*', 'lister:1', '... the release reads as the owner');
ALTER TABLE listed FORCE ROW LEVEL SECURITY;
SELECT answers('lister', NULL, 'SELECT dp_count(*) FROM listed', '*', 'lister:1', '... also when it is forced');
-- sigma is 707 at this price: 3000 rows are more than 0 rows with certainty
SELECT answers('lister', NULL, 'SELECT sum(n) > 15000 FROM (SELECT dp_count(*) AS n FROM listed UNION ALL SELECT dp_count(*) AS n FROM listed
	UNION ALL SELECT dp_count(*) AS n FROM listed UNION ALL SELECT dp_count(*) AS n FROM listed UNION ALL SELECT dp_count(*) AS n FROM listed
	UNION ALL SELECT dp_count(*) AS n FROM listed UNION ALL SELECT dp_count(*) AS n FROM listed UNION ALL SELECT dp_count(*) AS n FROM listed
	UNION ALL SELECT dp_count(*) AS n FROM listed UNION ALL SELECT dp_count(*) AS n FROM listed) s', 'true', 'lister:10', '... and sees the rows');
CREATE POLICY few ON listed TO lister USING (id <= 10);
SELECT answers('lister', NULL, 'SELECT count(*) FROM listed', '10', '', 'with a policy that applies plain SQL is back');
SELECT refused('analyst1', NULL, 'SELECT count(*) FROM listed', 'ZC002', '... for that role only');
DROP POLICY few ON listed;
CREATE POLICY few ON listed FOR UPDATE TO lister USING (id <= 10);
CREATE POLICY fewer ON listed AS RESTRICTIVE TO lister USING (id <= 5);
SELECT refused('lister', NULL, 'SELECT count(*) FROM listed', 'ZC002', 'policies for UPDATE, or restrictive ones, let nobody see rows');
SELECT answers('postgres', NULL, 'SELECT count(*) FROM listed', '3000', '', 'a superuser passes by');

-- --------------------------------------------------------------------------
-- Partitions and children
-- --------------------------------------------------------------------------

SELECT refused('analyst1', NULL, format('SELECT count(*) FROM %s', t), 'ZC002', t || ' is not read')
	FROM unnest('{parts,parts_1,parts_2,parts_2_a,base,child}'::text[]) t;
SELECT refused('analyst1', NULL, 'SELECT id FROM ONLY base', 'ZC002', 'nor is ONLY the parent');
SELECT answers('analyst1', NULL, format('SELECT dp_count(*) FROM %s', t), '*', 'analyst1:1', t || ' is released from')
	FROM unnest('{parts,parts_1,parts_2,parts_2_a,base,child,ONLY base}'::text[]) t;
SELECT answers('owner1', NULL, 'SELECT dp_count(*) BETWEEN 198 AND 200 FROM parts', '*', 'owner1:1', 'the whole partitioned table');
SET SESSION AUTHORIZATION owner1;
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (200) TO (300);
CREATE TABLE grandchild () INHERITS (child);
RESET SESSION AUTHORIZATION;
SELECT refused('analyst1', NULL, format('SELECT count(*) FROM %s', t), 'ZC002', t || ', made later, is not read')
	FROM unnest('{parts_3,grandchild}'::text[]) t;
-- children whose own privileges would allow it
GRANT SELECT ON parts_1, child TO analyst1;
SELECT answers('analyst1', NULL, 'SELECT count(*) FROM parts_1', '99', '', 'SELECT on a partition is SELECT on the partition');
SELECT refused('analyst1', NULL, 'SELECT count(*) FROM parts', 'ZC002', '... and not on the table');

-- --------------------------------------------------------------------------
-- Plans that were made for others, or before
-- --------------------------------------------------------------------------

SET plan_cache_mode = force_generic_plan;
PREPARE raw AS SELECT count(*) FROM visits;
PREPARE release AS SELECT dp_count(*) FROM visits;
EXECUTE raw \gset raw_
EXECUTE release \gset release_
SELECT spent() AS before \gset
\set ON_ERROR_STOP 0
\set VERBOSITY sqlstate
SET SESSION AUTHORIZATION analyst1;
EXECUTE raw \gset stolen_
\set state_raw :LAST_ERROR_SQLSTATE
EXECUTE release \gset release_
RESET SESSION AUTHORIZATION;
SET ROLE analyst1;
EXECUTE raw \gset stolen_
\set state_role :LAST_ERROR_SQLSTATE
RESET ROLE;
\set VERBOSITY default
\set ON_ERROR_STOP 1
SELECT is(:'state_raw'::text, 'ZC002', 'a plan made for a superuser is refused to an analyst');
SELECT is(:'state_role'::text, 'ZC002', '... also after SET ROLE');
SELECT is(difference(:'before', spent()), 'analyst1:1', 'a release planned for a superuser is paid for by who executes it');
EXECUTE raw \gset raw_
SELECT is(:'raw_count'::text, '3000', 'the superuser may again');
RESET plan_cache_mode;

-- prepared and cached while the table was not protected
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION f_later() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM later); END';
PREPARE later AS SELECT count(*) FROM later;
EXECUTE later \gset later_
SELECT f_later() \gset f_
RESET SESSION AUTHORIZATION;
SELECT is(:'later_count' || ' ' || :'f_f_later', '3000 3000', 'an unprotected table');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.protect_table('later', 'clinic', each_row => true);
REVOKE SELECT ON later FROM analyst1;
RESET SESSION AUTHORIZATION;
\set ON_ERROR_STOP 0
\set VERBOSITY sqlstate
SET SESSION AUTHORIZATION analyst1;
EXECUTE later \gset later_
\set state_later :LAST_ERROR_SQLSTATE
SELECT f_later() \gset f_
\set state_f :LAST_ERROR_SQLSTATE
RESET SESSION AUTHORIZATION;
SELECT is(:'state_later' || ' ' || :'state_f', 'ZC002 ZC002', 'statements prepared before protect_table');
-- now by who asks alone: SELECT was never revoked from reader
SET SESSION AUTHORIZATION reader;
PREPARE later_reader AS SELECT count(*) FROM later;
EXECUTE later_reader \gset later_
RESET SESSION AUTHORIZATION;
ALTER TABLE later ENABLE ROW LEVEL SECURITY;
SET SESSION AUTHORIZATION reader;
EXECUTE later_reader \gset later_
\set state_later :LAST_ERROR_SQLSTATE
RESET SESSION AUTHORIZATION;
SELECT is(:'state_later'::text, 'ZC001', 'a statement prepared before row-level security was enabled');
\set VERBOSITY default
\set ON_ERROR_STOP 1

-- --------------------------------------------------------------------------
-- Tables that only the planner meets
-- --------------------------------------------------------------------------

CREATE FUNCTION inlined() RETURNS SETOF int LANGUAGE sql STABLE AS 'SELECT id FROM public.visits WHERE dept = ''a''';
SELECT refused('analyst1', NULL, 'SELECT * FROM inlined()', 'ZC002', 'an inlined function');
SELECT refused('analyst1', NULL, 'EXPLAIN SELECT * FROM inlined()', 'ZC002', '... is not even planned');
SELECT answers('owner1', NULL, 'SELECT count(*) FROM inlined()', '1000', '', '... but for the owner');

GRANT SELECT ON parts, base TO analyst1;
SELECT answers('analyst1', NULL, 'SELECT count(*) FROM parts', '199', '', 'partitions are read with SELECT on the table they belong to');
SELECT answers('analyst1', NULL, 'SELECT count(*) FROM base', '20', '', '... and children');
REVOKE SELECT ON parts, base FROM analyst1;

-- a function that a parallel worker calls is planned there
CREATE TABLE many AS SELECT i FROM generate_series(1, 10000) i;
GRANT SELECT ON many TO analyst1;
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION through_view(i int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE
	AS 'DECLARE n int; BEGIN SELECT v.id INTO n FROM raw_view v LIMIT 1; RETURN n; END';
RESET SESSION AUTHORIZATION;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT ok(EXISTS (SELECT FROM explained('SELECT max(through_view(i)) FROM many') line WHERE line ~ 'Workers Planned'),
	'workers are to call the function');
SELECT refused('analyst1', NULL, 'SELECT max(through_view(i)) FROM many', 'ZC002', 'a view read by a parallel worker');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;

GRANT pg_read_all_data TO analyst1, stranger;
SELECT refused('analyst1', NULL, 'SELECT id FROM visits', 'ZC002', 'pg_read_all_data does not make a reader of an analyst');
SELECT refused('analyst1', NULL, 'SELECT chunk_id FROM ' || (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'visits'::regclass),
	'ZC002', '... not of the TOAST table either');
SELECT answers('stranger', NULL, 'SELECT count(*) FROM visits', '3000', '', '... but of a role without budget');
REVOKE pg_read_all_data FROM analyst1, stranger;

SET SESSION AUTHORIZATION owner1;
CREATE TABLE numbered (id serial, more int GENERATED ALWAYS AS IDENTITY);
CREATE SEQUENCE free_sequence;
SELECT dp_cdp.protect_table('numbered', 'clinic', each_row => true);
GRANT ALL ON SEQUENCE numbered_id_seq, numbered_more_seq, free_sequence TO analyst1;
GRANT TRIGGER ON visits TO analyst1;
RESET SESSION AUTHORIZATION;
SELECT refused('analyst1', NULL, 'SELECT last_value FROM numbered_id_seq', 'ZC002', 'the sequence of a protected table');
SELECT refused('analyst1', NULL, 'SELECT (SELECT last_value FROM numbered_more_seq)', 'ZC002', '... of an identity column');
SELECT answers('analyst1', NULL, 'SELECT last_value FROM free_sequence', '1', '', 'another sequence');
SELECT answers('owner1', NULL, 'SELECT last_value FROM numbered_id_seq', '1', '', '... and for the owner');
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
RESET SESSION AUTHORIZATION;
SELECT refused('analyst1', NULL, 'CREATE TRIGGER spy BEFORE INSERT ON visits FOR EACH ROW EXECUTE FUNCTION spy()', 'ZC002',
	'a trigger of an analyst');
REVOKE TRIGGER ON visits FROM analyst1;

-- --------------------------------------------------------------------------
-- Writing
-- --------------------------------------------------------------------------

SELECT answers('writer', NULL, $$ INSERT INTO visits (patient, dept) VALUES (1, 'a') $$, NULL, '', 'INSERT needs INSERT only');
SELECT refused('writer', NULL, $$ INSERT INTO visits VALUES (5001, 1, 'a') $$, 'ZC002', '... if it does not choose keys');
SELECT refused('writer', NULL, $$ INSERT INTO visits SELECT 1, 1, 'a' $$, 'ZC002', '... from a query neither');
SELECT refused('writer', NULL, $$ INSERT INTO visits VALUES (5002, 1, 'a') RETURNING id $$, 'ZC002', 'INSERT ... RETURNING');
SELECT refused('writer', NULL, $$ INSERT INTO visits VALUES (5001, 1, 'a') ON CONFLICT DO NOTHING $$, 'ZC002', 'INSERT ... ON CONFLICT');
SELECT refused('writer', NULL, $$ UPDATE visits SET dept = 'a' $$, 'ZC002', 'UPDATE, whose tag counts rows');
SELECT refused('writer', NULL, 'DELETE FROM visits', 'ZC002', 'DELETE');
SELECT refused('writer', NULL, $$ WITH d AS (DELETE FROM visits) SELECT 1 $$, 'ZC002', 'DELETE in a WITH clause');
SELECT answers('owner1', NULL, 'UPDATE visits SET dept = dept WHERE id = 5001', NULL, '', 'the owner may update');
SELECT answers('owner1', NULL, 'DELETE FROM visits WHERE id = 5001', NULL, '', 'and delete');
-- the key check runs as the owner of the table that refers
SELECT answers('writer', NULL, 'INSERT INTO refers VALUES (1)', NULL, '', 'a foreign key check of an application');
SELECT refused('writer', NULL, 'INSERT INTO refers VALUES (-1)', '23503', '... that fails');
SELECT refused('analyst1', NULL, 'INSERT INTO refers VALUES (1)', 'ZC002', 'a foreign key check of an analyst is an oracle');

SELECT * FROM finish();
