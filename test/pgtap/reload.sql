-- Tables that take the place of others: dp_cdp.replace_table, protect_table
-- with another dataset, dp_cdp.forget_name, and the copies that
-- dp_cdp.check_setup() finds.  Scripts, sessions and dumps are in t/reload.pl,
-- messages in ../sql/admin_errors.sql.

SET client_min_messages = error;
SELECT no_plan();

ALTER SYSTEM SET fsync = on;
ALTER SYSTEM SET full_page_writes = on;
SELECT pg_reload_conf();

CREATE ROLE dba LOGIN;
CREATE ROLE other LOGIN;
CREATE ROLE ana LOGIN;
CREATE ROLE bob LOGIN;
CREATE SCHEMA lab AUTHORIZATION dba;
GRANT USAGE, CREATE ON SCHEMA lab TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO dba;
SELECT count(*) FROM dp_cdp.harden() \g /dev/null

-- what a role is told: the first value, or the error
CREATE FUNCTION as_role(role name, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	caller name := session_user;
BEGIN
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', role);
	BEGIN
		EXECUTE statement INTO answer;
	EXCEPTION WHEN OTHERS THEN
		EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', caller);
		RETURN SQLSTATE;
	END;
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', caller);
	RETURN coalesce(answer, 'NULL');
END $$;
GRANT EXECUTE ON FUNCTION as_role TO PUBLIC;

CREATE FUNCTION labels(t regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(coalesce(a.attname, '') || regexp_replace(l.label, ', "id": "[0-9a-f]{16}"', ''), ' ' ORDER BY a.attname NULLS FIRST)
	FROM pg_seclabel l LEFT JOIN pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
	WHERE l.objoid = t AND l.classoid = 'pg_class'::regclass
$$;

CREATE VIEW critical AS SELECT object, finding, remedy FROM dp_cdp.check_setup() WHERE severity = 'critical';

SET SESSION AUTHORIZATION dba;
SET client_min_messages = error;
SET search_path = lab, public;
CREATE TABLE visits (gone int, patient int NOT NULL, dept text, gone_too text, cost numeric(9,2), name text COLLATE "C");
ALTER TABLE visits DROP gone, DROP gone_too;
INSERT INTO visits SELECT i % 300, 'd' || i % 2, i % 100, 'n' FROM generate_series(1, 3000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 100, delta => 1e-5);
SELECT dp_cdp.create_dataset('second', rho => 100, delta => 1e-5);
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 50);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['d0', 'd1', NULL]);
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 50);
SELECT dp_cdp.set_budget('second', 'bob', rho => 50);
CREATE TEMP TABLE policy AS SELECT public.labels('visits') AS labels;
SELECT is(labels, '{"dataset": "clinic", "unit": true} cost{"lower": 0, "upper": 50} dept{"keys": ["d0", "d1", null]} patient{"unit": true}',
	'a policy with everything') FROM policy;

-- ------------------------------------------------------------------------
-- replace_table
-- ------------------------------------------------------------------------

-- refused, and nothing changed
CREATE TABLE few (patient int, dept text, cost numeric(9,2));
CREATE TABLE many (patient int, dept text, cost numeric(9,2), name text COLLATE "C", more int);
CREATE TABLE typed (patient bigint, dept text, cost numeric(9,2), name text COLLATE "C");
CREATE TABLE scaled (patient int, dept text, cost numeric(9,3), name text COLLATE "C");
CREATE TABLE collated (patient int, dept text, cost numeric(9,2), name text);
CREATE TABLE elsewhere (LIKE visits);
SELECT dp_cdp.protect_table('elsewhere', 'second', unit => 'patient');
CREATE TABLE by_row (LIKE visits);
SELECT dp_cdp.protect_table('by_row', 'clinic', each_row => true);
CREATE TABLE child () INHERITS (elsewhere);
CREATE TABLE above (LIKE visits);
CREATE TABLE below () INHERITS (above);
SELECT dp_cdp.protect_table('above', 'clinic', unit => 'patient');
CREATE VIEW seen AS SELECT * FROM visits;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM visits WITH NO DATA;
CREATE TEMP TABLE passing (LIKE visits);
CREATE TEMP TABLE all_labels AS SELECT * FROM pg_seclabel;
SELECT throws_ok(format('SELECT dp_cdp.replace_table(%L, %L)', o, n), 'ZC004', NULL, format('%s by %s', o, n))
FROM (VALUES ('visits', 'visits'), ('visits', NULL), (NULL, 'few'), ('visits', 'few'), ('visits', 'many'),
	('visits', 'typed'), ('visits', 'scaled'), ('visits', 'collated'), ('visits', 'elsewhere'), ('visits', 'by_row'),
	('visits', 'child'), ('visits', 'below'), ('visits', 'seen'), ('visits', 'kept'), ('visits', 'passing'),
	('few', 'visits'), ('child', 'few'), ('visits', '4000000000')) AS v(o, n);
SELECT throws_ok($$SELECT dp_cdp.replace_table('visits', 'nowhere')$$, '42P01');
RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
SET search_path = lab, public;
CREATE TABLE theirs (LIKE visits);
ALTER TABLE theirs OWNER TO other;
GRANT ALL ON theirs, visits TO dba, other;
SELECT is(as_role('dba', $$SELECT dp_cdp.replace_table('lab.visits', 'lab.theirs')$$), '42501', 'somebody else''s table');
SELECT is(as_role('other', $$SELECT dp_cdp.replace_table('lab.visits', 'lab.theirs')$$), '42501', 'for somebody else''s table');
SELECT dp_cdp.alter_dataset('clinic', new_owner => 'other');
SET SESSION AUTHORIZATION dba;
SET client_min_messages = error;
SET search_path = lab, public;
CREATE TABLE good (LIKE visits);
SELECT is(as_role('dba', $$SELECT dp_cdp.replace_table('lab.visits', 'lab.good')$$), '42501', 'in somebody else''s dataset');
RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
SET search_path = lab, public;
SELECT dp_cdp.alter_dataset('clinic', new_owner => 'dba');
REVOKE ALL ON visits FROM other;
SET SESSION AUTHORIZATION dba;
SET client_min_messages = error;
SET search_path = lab, public;
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
SELECT throws_ok($$SELECT dp_cdp.replace_table('visits', 'good')$$, 'ZC004', NULL, 'row-level security is lost');
ALTER TABLE visits DISABLE ROW LEVEL SECURITY;
SELECT set_eq('SELECT * FROM pg_seclabel', 'SELECT * FROM all_labels', 'nothing changed');
SELECT is_empty('SELECT * FROM dp_cdp.reserved_names', 'no name is held');

-- columns in another order, with others that were dropped; an older policy in the same dataset
CREATE TABLE fresh (name text COLLATE "C" NOT NULL, x int, cost numeric(9,2), dept text, y int, patient int);
ALTER TABLE fresh DROP x, DROP y;
INSERT INTO fresh (patient, dept, cost, name) SELECT i % 300, 'd' || i % 2, i % 100, 'n' FROM generate_series(1, 6000) i;
SELECT dp_cdp.protect_table('fresh', 'clinic', unit => 'patient');
SELECT dp_cdp.set_keys('fresh', 'name', ARRAY['n']);
SELECT lives_ok($$SELECT dp_cdp.replace_table('visits', 'fresh')$$, 'a table with the same columns');
SELECT is(public.labels('fresh'), labels, 'has the whole policy, and no other') FROM policy;
SELECT is(public.labels('visits'), labels, 'and the old one keeps it') FROM policy;
SELECT is(as_role('ana', 'SELECT count(*) FROM (SELECT dept, sum(cost) FROM lab.fresh GROUP BY dept) q'), '3', 'declared keys');
SELECT cmp_ok(as_role('ana', 'SELECT dp_count(*) FROM lab.fresh')::int, '>', 1000, 'private answers of the new table');
SELECT is(as_role('ana', 'SELECT cost FROM lab.' || t), 'ZC002', 'no rows of ' || t) FROM unnest(ARRAY['fresh', 'visits']) t;
SELECT lives_ok($$SELECT dp_cdp.replace_table('visits', 'fresh')$$, 'again');
SELECT lives_ok($$SELECT dp_cdp.replace_table('fresh', 'visits')$$, 'and back');
SELECT is(public.labels('visits'), labels, 'the same policy') FROM policy;
SELECT is(public.labels('fresh'), labels, 'on both') FROM policy;

-- a transaction that is rolled back
BEGIN;
SELECT dp_cdp.replace_table('visits', 'good');
ALTER TABLE visits RENAME TO visits_old;
ALTER TABLE good RENAME TO visits;
SELECT is(dp_cdp.dataset_of('visits'), 'clinic', 'within the transaction');
ROLLBACK;
SELECT is(public.labels('good'), NULL, 'nothing after its rollback');
SELECT is(public.labels('visits'), labels, 'nor is anything lost') FROM policy;
SELECT is(string_agg(name, ' '), 'fresh', 'nor held') FROM dp_cdp.reserved_names;

-- from a table to a partitioned one
CREATE TABLE parted (LIKE visits) PARTITION BY LIST (dept);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN ('d0');
CREATE TABLE parted_1 (LIKE parted);
SELECT lives_ok($$SELECT dp_cdp.replace_table('visits', 'parted')$$, 'a partitioned table');
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN ('d1');
SELECT is(dp_cdp.dataset_of(t::regclass), 'clinic', t || ' is covered') FROM unnest(ARRAY['parted', 'parted_0', 'parted_1']) t;
SELECT throws_ok($$SELECT dp_cdp.replace_table('visits', 'parted_0')$$, 'ZC004', NULL, 'a partition');
DROP TABLE parted;

-- ------------------------------------------------------------------------
-- another dataset
-- ------------------------------------------------------------------------

SELECT is(as_role('bob', 'SELECT dp_count(*) FROM lab.visits'), 'ZC001', 'bob has no budget in clinic');
SELECT lives_ok($$SELECT dp_cdp.protect_table('visits', 'second', unit => 'patient')$$, 'a table moves to another dataset');
SELECT is(public.labels('visits'), replace(labels, 'clinic', 'second'), 'bounds and keys stay') FROM policy;
SELECT is(as_role('ana', 'SELECT dp_count(*) FROM lab.visits'), 'ZC001', 'budgets are those of the new one');
SELECT cmp_ok(as_role('bob', 'SELECT dp_sum(cost) FROM lab.visits')::numeric, '>', 0::numeric, 'bounds hold');
SELECT throws_ok($$SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true)$$, 'ZC004', NULL, 'with another unit it does not move');
SELECT throws_ok($$SELECT dp_cdp.protect_table('visits', 'third', unit => 'patient')$$, 'ZC004', NULL, 'nor to nowhere');
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('second', new_owner => 'other');
SELECT is(as_role('dba', $$SELECT dp_cdp.protect_table('lab.visits', 'clinic', unit => 'patient')$$), '42501', 'nor out of somebody else''s');
SELECT is(labels('lab.visits'), replace(labels, 'clinic', 'second'), 'nothing changed') FROM policy;
SELECT dp_cdp.alter_dataset('second', new_owner => 'dba');
SET SESSION AUTHORIZATION dba;
SELECT lives_ok($$SELECT dp_cdp.protect_table('lab.visits', 'clinic', unit => 'patient')$$, 'back');
SELECT is(public.labels('lab.visits'), labels, 'the same policy') FROM policy;
RESET SESSION AUTHORIZATION;
REVOKE ALL ON lab.theirs FROM dba;

-- ------------------------------------------------------------------------
-- copies
-- ------------------------------------------------------------------------

SELECT is_empty('SELECT * FROM critical', 'copies that no analyst may read are no finding');

-- Provokes a finding, and sees that it goes with what is given, or with its remedy.
CREATE FUNCTION provoked(provocation text, expected_object text, expected_finding text, given text DEFAULT NULL)
	RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	cure text;
	hits int;
BEGIN
	EXECUTE provocation;
	SELECT coalesce(given, string_agg(c.remedy, '; ')), count(*) INTO cure, hits FROM critical c
	WHERE c.object = expected_object AND c.finding ~ expected_finding;
	RETURN NEXT cmp_ok(hits, '>', 0, provocation);
	RETURN NEXT is((SELECT count(*) FROM critical c WHERE c.finding !~ expected_finding), 0::bigint, 'nothing else');
	EXECUTE coalesce(cure, 'SELECT');
	RETURN NEXT is((SELECT string_agg(c::text, E'\n') FROM critical c), NULL, 'remedied by ' || coalesce(cure, 'nothing'));
END $$;
SET search_path = lab, public;

SELECT provoked('GRANT SELECT ON good TO ana', 'lab.good', 'has the columns of protected table lab\.\w+, but is not protected, and ana may read it \(ana\)');
SELECT provoked('GRANT SELECT ON good TO PUBLIC', 'lab.good', 'PUBLIC may read it \(every analyst\)');
SELECT provoked('GRANT SELECT ON many TO ana', 'lab.many', 'has the columns');
SELECT provoked('CREATE TABLE copy AS SELECT name, dept, cost, patient, now() AS at FROM visits; GRANT SELECT ON copy TO ana',
	'lab.copy', 'ana may read it', 'DROP TABLE copy');
SELECT provoked('CREATE MATERIALIZED VIEW m AS SELECT * FROM good; GRANT SELECT ON m TO ana', 'lab.m', 'ana may read it', 'DROP MATERIALIZED VIEW m');
SELECT provoked('CREATE VIEW v AS SELECT * FROM good; GRANT SELECT ON v TO ana', 'lab.v', 'ana may read it', 'DROP VIEW v');
SELECT provoked('CREATE UNLOGGED TABLE u (LIKE good); GRANT SELECT (cost) ON u TO ana', 'lab.u', 'ana may read it', 'DROP TABLE u');
SELECT provoked('CREATE TABLE own (LIKE good); ALTER TABLE own OWNER TO ana', 'lab.own', 'ana may read it', 'DROP TABLE own');
CREATE VIEW own AS SELECT * FROM visits;
ALTER VIEW own OWNER TO ana;
SELECT is_empty('SELECT * FROM critical', 'a view of an analyst''s own shows what he may read');
DROP VIEW own;
SELECT provoked('GRANT SELECT ON good TO ana', 'lab.good', 'ana may read it', $$SELECT dp_cdp.replace_table('visits', 'good'); REVOKE SELECT ON good FROM ana$$);
SELECT provoked('CREATE TABLE synthetic (LIKE good); GRANT SELECT ON synthetic TO ana, bob', 'lab.synthetic', 'may read it',
	$$SELECT dp_cdp.forget_name('lab.synthetic', 'clinic'), dp_cdp.forget_name('lab.synthetic', 'second')$$);
GRANT SELECT ON few, scaled, typed TO ana;
SELECT is(string_agg(object, ', ' ORDER BY object), 'lab.scaled', 'columns of other types, or fewer, are no copy; precision does not matter') FROM critical;
REVOKE SELECT ON few, scaled, typed FROM ana;
ALTER TABLE scaled ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON scaled TO ana;
SELECT is_empty('SELECT * FROM critical', 'nor what row-level security hides');
GRANT SELECT ON seen TO ana;
SELECT is_empty('SELECT * FROM critical', 'nor views on protected tables');
SELECT provoked('GRANT SELECT ON kept TO ana', 'lab.kept', 'copy of rows of protected table lab.visits');

-- ------------------------------------------------------------------------
-- names
-- ------------------------------------------------------------------------

SELECT is(as_role('other', $$SELECT dp_cdp.forget_name('lab.good', 'clinic')$$), 'ZC004', 'a protected table has no name to release');
SELECT is(as_role('other', $$SELECT dp_cdp.forget_name('lab.few', 'clinic')$$), '42501', 'for a dataset of its owner''s');
SELECT is(as_role('other', 'SELECT * FROM dp_cdp.reserved_names LIMIT 1'), 'NULL', 'names are the owner''s to see');
SELECT is(as_role('ana', 'SELECT * FROM dp_cdp.reserved_names LIMIT 1'), 'NULL', 'not an analyst''s');
SELECT is(as_role('ana', 'SELECT name FROM dp_cdp_internal.reserved_name LIMIT 1'), '42501', 'nor the table');
SELECT throws_ok($$DELETE FROM dp_cdp_internal.reserved_name$$, '42501', NULL, 'not changed by hand');
SELECT throws_ok($$TRUNCATE dp_cdp_internal.reserved_name$$, '42501', NULL, 'nor emptied');

SET SESSION AUTHORIZATION dba;
SET client_min_messages = error;
SET search_path = lab, public;
SELECT dp_cdp.unprotect_table('fresh');
SELECT is(count(*), 0::bigint, 'unprotected on purpose: not held') FROM dp_cdp.reserved_names WHERE relation = 'fresh'::regclass;
CREATE TABLE gone (patient int);
SELECT dp_cdp.protect_table('gone', 'clinic', unit => 'patient');
DROP TABLE gone;
CREATE VIEW gone AS SELECT 1 AS patient;
SELECT is(as_role('ana', 'SELECT * FROM lab.gone'), 'ZC002', 'a view that takes the name');
DROP VIEW gone;
CREATE MATERIALIZED VIEW gone AS SELECT 1 AS patient;
SELECT is(as_role('ana', 'SELECT * FROM lab.gone'), 'ZC002', 'a materialized view');
SELECT is(as_role('ana', 'SELECT sum(patient) OVER () FROM (SELECT * FROM lab.gone UNION SELECT 1) g'), 'ZC002', 'in a subquery');
SELECT is(as_role('ana', 'SELECT dp_count(*) FROM lab.visits NATURAL JOIN lab.gone'), 'ZC002', 'joined with a protected table');
DROP MATERIALIZED VIEW gone;
CREATE TABLE gone (patient int);
GRANT INSERT ON gone TO ana;
SELECT is(as_role('ana', 'INSERT INTO lab.gone VALUES (1) RETURNING 1'), '1', 'INSERT is not reading');
GRANT SELECT (patient) ON gone TO ana;
SELECT is(as_role('ana', 'SELECT patient FROM lab.gone'), '1', 'who was granted SELECT by its owner reads');
REVOKE ALL ON gone FROM ana;
SELECT is(as_role('ana', 'SELECT patient FROM lab.gone'), 'ZC002', 'and no longer, without');
SELECT dp_cdp.protect_table('gone', 'clinic', unit => 'patient');
SELECT is(count(*), 0::bigint, 'protected: forgotten') FROM dp_cdp.reserved_names WHERE name = 'gone';
DROP TABLE gone;
SELECT is(string_agg(dataset, ', '), 'clinic', 'dropped: held again') FROM dp_cdp.reserved_names WHERE name = 'gone';
CREATE TABLE gone_too (patient int);
SELECT dp_cdp.protect_table('gone_too', 'clinic', unit => 'patient');
ALTER TABLE gone_too RENAME TO gone_three;
CREATE TABLE gone_too (patient int);
CREATE FUNCTION reads_gone() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM lab.gone_too';
SELECT is(as_role('ana', 'SELECT lab.reads_gone()'), '0', 'with its owner''s rights it is read');
RESET SESSION AUTHORIZATION;

-- a dataset that goes takes its names along
SELECT dp_cdp.create_dataset('short');
CREATE TABLE lab.short (patient int);
SELECT dp_cdp.protect_table('lab.short', 'short', each_row => true);
DROP TABLE lab.short;
SELECT is(count(*), 1::bigint, 'held') FROM dp_cdp.reserved_names WHERE dataset = 'short';
SELECT dp_cdp.drop_dataset('short');
SELECT is(count(*), 0::bigint, 'forgotten with its dataset') FROM dp_cdp.reserved_names WHERE dataset = 'short';

-- who loads need not read: indexes are built anew by TRUNCATE, for the toast table, too
CREATE ROLE loader LOGIN;
CREATE TABLE lab.loaded (patient int, note text);
CREATE INDEX ON lab.loaded (patient);
INSERT INTO lab.loaded SELECT i, i FROM generate_series(1, 100) i;
SELECT dp_cdp.protect_table('lab.loaded', 'clinic', unit => 'patient');
GRANT USAGE ON SCHEMA lab TO loader;
GRANT INSERT, TRUNCATE ON lab.loaded TO loader;
SET SESSION AUTHORIZATION loader;
SELECT lives_ok('TRUNCATE lab.loaded', 'who may truncate does, without SELECT');
SELECT lives_ok($$INSERT INTO lab.loaded VALUES (1, 'a')$$, '... and loads');
SELECT throws_ok('SELECT * FROM lab.loaded', 'ZC002', NULL, '... and reads nothing');
RESET SESSION AUTHORIZATION;
SELECT is(count(*), 1::bigint, 'what was loaded is there') FROM lab.loaded;

SELECT * FROM finish();
