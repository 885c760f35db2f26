-- What makes a kept answer one of another question: the content of public tables
-- that are read where protected rows are; tables and columns that are not those
-- that were there, whatever they are called.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int, dept text NOT NULL, cost int, ward int);
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), i % 100, i % 7 FROM generate_series(1, 3000) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6, reuse => '1 day');
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c', 'z']);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000, delta => 1e-6);
CREATE TABLE depts (dept text PRIMARY KEY, floor int, name text);
INSERT INTO depts VALUES ('a', 1, 'x'), ('b', 2, 'y'), ('c', 3, 'z');
GRANT SELECT (dept, floor) ON depts TO analyst1;
CREATE TABLE wings (ward int NOT NULL, wing text) PARTITION BY LIST (ward);
CREATE TABLE wings_1 (wing text, unread int, ward int NOT NULL);
ALTER TABLE wings_1 DROP COLUMN unread;
ALTER TABLE wings ATTACH PARTITION wings_1 FOR VALUES IN (0, 1, 2, 3);
CREATE TABLE wings_2 PARTITION OF wings FOR VALUES IN (4, 5, 6, 7);
INSERT INTO wings SELECT i, CASE WHEN i % 2 = 0 THEN 'east' ELSE 'west' END FROM generate_series(0, 6) i;
CREATE MATERIALIZED VIEW floors AS SELECT dept, floor FROM depts;
CREATE VIEW high_visits AS SELECT v.* FROM visits v JOIN depts USING (dept) WHERE floor > 1;
GRANT SELECT ON wings, wings_1, wings_2, floors, high_visits TO analyst1;
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE mine (dept text, floor int);
INSERT INTO mine VALUES ('a', 1), ('b', 2);
RESET SESSION AUTHORIZATION;
CREATE FUNCTION dear(x int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x > 50; END';
SELECT dp_cdp.allow_function('dear(int)');

\ir analyst.psql

-- how often a query of analyst1 is paid for
CREATE FUNCTION paid(query text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT concat_ws(' ', failure, cost) FROM run_as_analyst(query) $$;
-- runs a statement as owner1
CREATE FUNCTION changed(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION owner1';
	EXECUTE statement;
	EXECUTE 'RESET SESSION AUTHORIZATION';
END $$;
-- a query is bought, free, bought again after a change, and again what it was when that is undone: free
CREATE FUNCTION ends(query text, change text, undo text, what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT is(paid(query), '1', what || ': bought');
	RETURN NEXT is(paid(query), '0', what || ': kept');
	PERFORM changed(change);
	RETURN NEXT is(paid(query), '1', what || ': another question after ' || change);
	RETURN NEXT is(paid(query), '0', what || ': which is kept');
	PERFORM changed(undo);
	RETURN NEXT is(paid(query), '0', what || ': as it was before');
END $$;
CREATE FUNCTION stays(query text, change text, what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM paid(query);
	PERFORM changed(change);
	RETURN NEXT is(paid(query), '0', what || ': kept after ' || change);
END $$;

SELECT no_plan();

-- ------------------------------------------------------------------
-- Public tables
-- ------------------------------------------------------------------

SELECT ends('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor = 1', 'UPDATE depts SET floor = 1 WHERE dept = ''b''',
	'UPDATE depts SET floor = 2 WHERE dept = ''b''', 'a condition on a joined table');
SELECT ends('SELECT dept, count(*) FROM visits JOIN depts USING (dept) GROUP BY dept', 'DELETE FROM depts WHERE dept = ''c''',
	'INSERT INTO depts VALUES (''c'', 3, ''other'')', 'a row that is joined');
SELECT ends('SELECT sum(floor) FROM visits JOIN depts USING (dept)', 'UPDATE depts SET floor = CASE dept WHEN ''a'' THEN 2 WHEN ''b'' THEN 1 ELSE floor END',
	'UPDATE depts SET floor = CASE dept WHEN ''a'' THEN 1 WHEN ''b'' THEN 2 ELSE floor END', 'which value belongs to which row');
SELECT ends('SELECT count(*) FROM visits WHERE dept IN (SELECT dept FROM depts WHERE floor > 2)', 'UPDATE depts SET floor = 5 WHERE dept = ''a''',
	'UPDATE depts SET floor = 1 WHERE dept = ''a''', 'a subquery');
SELECT ends('SELECT count(*) FROM visits v WHERE NOT EXISTS (SELECT FROM depts d WHERE d.dept = v.dept AND floor > 2)', 'UPDATE depts SET floor = 6 WHERE dept = ''a''',
	'UPDATE depts SET floor = 1 WHERE dept = ''a''', 'another one');
SELECT ends('SELECT count(*) FROM high_visits', 'UPDATE depts SET floor = 7 WHERE dept = ''a''',
	'UPDATE depts SET floor = 1 WHERE dept = ''a''', 'a view of tables that the asker may not read');
SELECT ends('SELECT count(*) FROM (SELECT dept AS d, cost, patient FROM visits JOIN depts USING (dept) WHERE floor < 3) q WHERE cost > 10',
	'UPDATE depts SET floor = 8 WHERE dept = ''a''', 'UPDATE depts SET floor = 1 WHERE dept = ''a''', 'a table of a subquery');
SELECT ends('SELECT count(*) FROM visits LEFT JOIN depts ON depts.dept = visits.dept AND floor = 3', 'INSERT INTO depts VALUES (''d'', 3)',
	'DELETE FROM depts WHERE dept = ''d''', 'an outer join');
SELECT ends('SELECT count(*) FILTER (WHERE floor = 1) FROM visits JOIN depts USING (dept)', 'UPDATE depts SET floor = 1 WHERE dept = ''c''',
	'UPDATE depts SET floor = 3 WHERE dept = ''c''', 'a FILTER');
SELECT ends('SELECT sum(floor + cost) FROM visits JOIN depts USING (dept)', 'UPDATE depts SET floor = NULL WHERE dept = ''c''',
	'UPDATE depts SET floor = 3 WHERE dept = ''c''', 'a value that is NULL');
SELECT ends('SELECT count(*) FROM visits JOIN wings USING (ward) WHERE wing = ''east''', 'UPDATE wings SET wing = ''east'' WHERE ward = 1',
	'UPDATE wings SET wing = ''west'' WHERE ward = 1', 'a partitioned table');
SELECT ends('SELECT count(*) FROM visits JOIN wings_2 USING (ward) WHERE wing = ''east''', 'UPDATE wings SET wing = ''east'' WHERE ward = 5',
	'UPDATE wings SET wing = ''west'' WHERE ward = 5', 'a partition');
SELECT ends('SELECT count(*) FROM visits JOIN wings_1 USING (ward) WHERE wing = ''east''', 'UPDATE wings SET wing = ''east'' WHERE ward = 3',
	'UPDATE wings SET wing = ''west'' WHERE ward = 3', 'another one');
SELECT stays('SELECT count(*) FROM visits JOIN wings_1 USING (ward) WHERE wing = ''east''', 'UPDATE wings SET wing = ''north'' WHERE ward = 5', 'its sister');
SELECT changed('UPDATE depts SET floor = 9 WHERE dept = ''a''');
SELECT ends('SELECT count(*) FROM visits JOIN floors USING (dept) WHERE floor > 2', 'REFRESH MATERIALIZED VIEW floors',
	'UPDATE depts SET floor = 1 WHERE dept = ''a''; REFRESH MATERIALIZED VIEW floors', 'a materialized view');
SELECT ends('SELECT count(*) FROM visits JOIN mine USING (dept)', 'RESET SESSION AUTHORIZATION; INSERT INTO mine VALUES (''c'', 1)',
	'RESET SESSION AUTHORIZATION; DELETE FROM mine WHERE dept = ''c''', 'a table of the asker''s');
SELECT ends('SELECT count(*) FROM visits WHERE dear(cost)', $$RESET SESSION AUTHORIZATION;
	CREATE OR REPLACE FUNCTION dear(x int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x > 60; END'$$,
	$$RESET SESSION AUTHORIZATION; SELECT dp_cdp.disallow_function('dear(int)'); DROP FUNCTION dear;
	CREATE FUNCTION dear(x int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x > 50; END';
	SELECT dp_cdp.allow_function('dear(int)')$$, 'what a function that was allowed does');

-- what does not make it another
SELECT stays('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor = 1', 'UPDATE depts SET name = ''new''', 'a column that is not read');
SELECT stays('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor = 1', 'DELETE FROM depts; INSERT INTO depts VALUES (''c'', 3), (''b'', 2), (''a'', 1)', 'rows in another order');
SELECT stays('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor = 1', 'TRUNCATE depts; INSERT INTO depts VALUES (''c'', 3), (''b'', 2), (''a'', 1)', 'a load of the same rows');
SELECT stays('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor = 1', 'ALTER TABLE depts ADD COLUMN more int DEFAULT 7', 'a new column');
SELECT is(paid('SELECT count(*) FROM visits WHERE ward IN (1, 2)'), '1', 'without a public table');
SELECT stays('SELECT count(*) FROM visits WHERE ward IN (1, 2)', 'UPDATE depts SET floor = 4 WHERE dept = ''b''', 'without it');

-- column by column
SELECT is(paid('SELECT dept, count(*) FROM visits JOIN depts USING (dept) GROUP BY dept'), '0', 'a count beside what is to come');
SELECT is(paid('SELECT dept, count(*), sum(floor) FROM visits JOIN depts USING (dept) GROUP BY dept'), '1', 'a sum of a public column is bought alone');
SELECT changed('UPDATE depts SET floor = 5 WHERE dept = ''b''');
SELECT is(paid('SELECT dept, count(*), sum(floor) FROM visits JOIN depts USING (dept) GROUP BY dept'), '1', 'and another one when that changes, alone');
SELECT is(paid('SELECT dept, count(*), sum(floor) FROM visits JOIN depts USING (dept) GROUP BY dept'), '0', 'both are kept');

-- as the statement sees it
BEGIN;
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4'), '1', 'in a transaction');
UPDATE depts SET floor = 2 WHERE dept = 'b';
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4'), '1', 'its own changes make it another question');
SAVEPOINT a;
UPDATE depts SET floor = 3 WHERE dept = 'b';
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4'), '1', 'in a subtransaction, too');
ROLLBACK TO a;
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4'), '0', 'until that is rolled back');
ROLLBACK;
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4'), '0', 'or all of it');

-- what is foreseen
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE before AS SELECT fingerprint FROM dp_cdp.query_fingerprint('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4');
SELECT isnt(reused_since, NULL, 'preview finds it') FROM dp_cdp.preview('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4') WHERE item = 'aggregate';
RESET SESSION AUTHORIZATION;
UPDATE depts SET floor = 6 WHERE dept = 'b';
SET SESSION AUTHORIZATION analyst1;
SELECT isnt(b.fingerprint, q.fingerprint, 'the fingerprint is another one') FROM before b, dp_cdp.query_fingerprint('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4') q;
SELECT is(reused_since, NULL, 'preview finds nothing') FROM dp_cdp.preview('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 4') WHERE item = 'aggregate';
RESET SESSION AUTHORIZATION;

-- tables that are too large to be compared
CREATE FUNCTION reuse_line(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		result := coalesce(result, substring(line from 'Reuse: (.*)'));
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN result;
END $$;
SELECT paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 5');
SET dp_cdp.max_public_rows = 2;
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 5'), '1', 'where a table is too large nothing is given again');
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 5'), '1', 'nor kept');
SELECT is(reuse_line('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 5'), 'none: what it asks depends on a table of more than 2 rows (dp_cdp.max_public_rows)', 'EXPLAIN says so');
SET dp_cdp.max_public_rows = 3;
SELECT is(paid('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 5'), '0', 'where it is not, what was kept before is given');
SELECT is(reuse_line('SELECT count(*) FROM visits JOIN depts USING (dept) WHERE floor > 5'), NULL, 'and EXPLAIN says nothing');
RESET dp_cdp.max_public_rows;

-- ------------------------------------------------------------------
-- Policies
-- ------------------------------------------------------------------

CREATE FUNCTION made(name text) RETURNS text LANGUAGE sql AS $$
	SELECT format('CREATE TABLE %1$I (patient int, kind text, cost int, more int);
		INSERT INTO %1$I SELECT i, ''k'' || i %% 2, i, i FROM generate_series(1, 50) i;
		SELECT dp_cdp.protect_table(%1$L, ''clinic'', ''patient'');
		SELECT dp_cdp.set_bounds(%1$L, ''cost'', 0, 100);
		SELECT dp_cdp.set_keys(%1$L, ''kind'', ARRAY[''k0'', ''k1''])', name) $$;
SELECT changed(made('stays'));
CREATE FUNCTION asks_stays() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT paid('SELECT kind, sum(cost) FROM stays WHERE more > 3 GROUP BY kind') $$;
SELECT is(asks_stays(), '1', 'a table');
SELECT is(asks_stays(), '0', 'is kept');
CREATE TEMP TABLE others AS SELECT paid('SELECT count(*) FROM visits WHERE ward = 6');

SELECT changed('DROP TABLE stays;' || made('stays'));
SELECT is(asks_stays(), '1', 'one that is dropped, and made anew as it was, is another');
SELECT is(asks_stays(), '0', 'and kept');
SELECT changed('ALTER TABLE stays RENAME TO old_stays;' || made('stays'));
SELECT is(asks_stays(), '1', 'so is one that takes the name');
SELECT changed('DROP TABLE stays; ALTER TABLE old_stays RENAME TO stays');
SELECT is(asks_stays(), '0', 'the first one is still there');
SELECT changed('ALTER TABLE stays DROP COLUMN more; ALTER TABLE stays ADD COLUMN more int DEFAULT 5');
SELECT is(asks_stays(), '1', 'a column that comes again is another');
SELECT is(asks_stays(), '0', 'kept with it');
SELECT changed('ALTER TABLE stays DROP COLUMN cost, DROP COLUMN more, ADD COLUMN cost int DEFAULT 5, ADD COLUMN more int DEFAULT 5;
	SELECT dp_cdp.set_bounds(''stays'', ''cost'', 0, 100)');
SELECT is(asks_stays(), '1', 'with its policy, too');
SELECT is(asks_stays(), '0', 'two of them at once');
SELECT changed('ALTER TABLE stays ADD COLUMN further int');
SELECT is(asks_stays(), '0', 'one that comes changes nothing');
BEGIN;
SELECT changed('ALTER TABLE stays DROP COLUMN further');
SELECT is(asks_stays(), '1', 'one that goes');
ROLLBACK;
SELECT is(asks_stays(), '0', 'unless it stays');
SELECT changed('ALTER TABLE stays ALTER COLUMN more TYPE bigint');
SELECT is(asks_stays(), '1', 'another type is another question');
SELECT changed('SELECT dp_cdp.set_bounds(''stays'', ''cost'', 0, 90)');
SELECT is(asks_stays(), '1', 'as are other bounds');
SELECT is(paid('SELECT count(*) FROM visits WHERE ward = 6'), '0', 'other tables of the dataset are as they were');

-- a reload keeps the policy
SELECT changed('CREATE TABLE new_stays (LIKE stays); INSERT INTO new_stays SELECT * FROM stays;
	SELECT dp_cdp.replace_table(''stays'', ''new_stays''); DROP TABLE stays; ALTER TABLE new_stays RENAME TO stays');
SELECT is(asks_stays(), '0', 'a table that replaces another is asked the same');

-- columns of partitions
SELECT changed('CREATE TABLE parts (patient int, cost int, more int) PARTITION BY LIST (more); CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
	CREATE TABLE parted (patient int, cost int, more int); CREATE TABLE parted_1 (special int) INHERITS (parted);
	SELECT dp_cdp.protect_table(t, ''clinic'', ''patient'') FROM unnest(''{parts,parted}''::regclass[]) t');
SELECT is(paid('SELECT count(*) FROM parts WHERE cost > 1'), '1', 'a partitioned table');
SELECT is(paid('SELECT count(*) FROM parts_1 WHERE cost > 1'), '1', 'a partition');
SELECT is(paid('SELECT count(*) FROM parted_1 WHERE special > 1'), '1', 'a child');
SELECT changed('ALTER TABLE parts DROP COLUMN cost; ALTER TABLE parts ADD COLUMN cost int; ALTER TABLE parted_1 DROP COLUMN special; ALTER TABLE parted_1 ADD COLUMN special int');
SELECT is(paid('SELECT count(*) FROM parts WHERE cost > 1'), '1', 'a column of a partitioned table is another');
SELECT is(paid('SELECT count(*) FROM parts_1 WHERE cost > 1'), '1', 'and so is the partition''s');
SELECT is(paid('SELECT count(*) FROM parted_1 WHERE special > 1'), '1', 'a child''s own column');
CREATE TYPE mood AS ENUM ('calm', 'glad');
SELECT changed('CREATE TABLE moods (patient int, a mood, b mood); SELECT dp_cdp.protect_table(''moods'', ''clinic'', ''patient'')');
SELECT is(paid('SELECT count(*) FROM moods'), '1', 'a table with columns of a type');
DROP TYPE mood CASCADE;
SELECT is(paid('SELECT count(*) FROM moods'), '1', 'which go with the type, at once');

-- a dataset of the same name
SELECT changed('SELECT dp_cdp.create_dataset(''other'', default_rho => 1e-6, reuse => ''1 day''); CREATE TABLE few (patient int);
	SELECT dp_cdp.protect_table(''few'', ''other'', ''patient''); SELECT dp_cdp.set_budget(''other'', ''analyst1'', rho => 1)');
SELECT is(paid('SELECT count(*) FROM few'), '1', 'a dataset');
SELECT is(paid('SELECT count(*) FROM few'), '0', 'keeps its answers');
SELECT changed('DROP TABLE few; SELECT dp_cdp.drop_dataset(''other'', erase_spent => true)');
SELECT dp_cdp.create_dataset('other', default_rho => 1e-6, reuse => '1 day');
SELECT dp_cdp.alter_dataset('other', new_owner => 'owner1');
SELECT changed('CREATE TABLE few (patient int);
	SELECT dp_cdp.protect_table(''few'', ''other'', ''patient''); SELECT dp_cdp.set_budget(''other'', ''analyst1'', rho => 1)');
SELECT is(paid('SELECT count(*) FROM few'), '1', 'another one of the same name does not');

-- labels
CREATE FUNCTION policy_id(relation regclass) RETURNS text LANGUAGE sql AS $$
	SELECT label::jsonb ->> 'id' FROM pg_seclabel WHERE objoid = relation AND provider = 'dp_cdp' AND classoid = 'pg_class'::regclass AND objsubid = 0 $$;
SELECT matches(policy_id('few'), '^[0-9a-f]{16}$', 'a policy has an identity');
SELECT isnt(policy_id('few'), policy_id('moods'), 'of its own');
CREATE TEMP TABLE ids AS SELECT policy_id('few') AS id;
SELECT changed('SELECT dp_cdp.protect_table(''few'', ''other'', ''patient'')');
SELECT is(policy_id('few'), id, 'protecting again what is protected changes nothing') FROM ids;
SELECT throws_ok($$SECURITY LABEL FOR dp_cdp ON TABLE few IS '{"dataset": "other", "unit": true, "id": "0"}'$$, 'ZC004', NULL, 'no other text is one');
SELECT throws_ok($$SECURITY LABEL FOR dp_cdp ON TABLE few IS '{"dataset": "other", "unit": true, "id": 1234567890123456}'$$, 'ZC004', NULL, 'nor a number');
SELECT throws_ok($$SECURITY LABEL FOR dp_cdp ON COLUMN few.patient IS '{"unit": true, "id": "0123456789abcdef"}'$$, 'ZC004', NULL, 'columns have none');

SELECT * FROM finish();
