-- Policies: which relations they cover, what becomes of them under DDL, who
-- sees them, and what budgets are worth.

SET client_min_messages = warning;
SELECT no_plan();

CREATE ROLE dba LOGIN;
CREATE ROLE team;
CREATE ROLE ana LOGIN IN ROLE team;
CREATE ROLE bob LOGIN;
CREATE ROLE eve LOGIN;
CREATE SCHEMA lab AUTHORIZATION dba;
GRANT USAGE ON SCHEMA lab TO PUBLIC;

-- what a role, as session_user and as current_user, reads in one column
CREATE FUNCTION seen_by(role name, query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	result text[];
BEGIN
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', role);
	EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || query || ') q(x)' INTO result;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;

SET search_path = lab, public;

-- ------------------------------------------------------------------------
-- coverage
-- ------------------------------------------------------------------------

CREATE TABLE visits (patient int, dept text NOT NULL, cost numeric, born date);
CREATE TABLE parts (patient int, year int) PARTITION BY LIST (year);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parent (patient int);
CREATE TABLE child (extra int) INHERITS (parent);
CREATE TABLE grandchild () INHERITS (child);
CREATE TABLE plain (x int);

SELECT is(dp_cdp.dataset_of('visits'), NULL, 'nothing is protected at first');
SELECT is(dp_cdp.dataset_of('grandchild'), NULL, 'nor is a grandchild');
SELECT lives_ok($$SELECT dp_cdp.create_dataset('clinic', rho => 10)$$, 'create a dataset');
SELECT lives_ok($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient')$$, 'protect a table');
SELECT is(dp_cdp.dataset_of('visits'), 'clinic', 'it is protected at once');
SELECT lives_ok($$SELECT dp_cdp.protect_table('parts', 'clinic', unit => 'patient')$$, 'protect a partitioned table');
SELECT lives_ok($$SELECT dp_cdp.protect_table('parent', 'clinic', unit => 'patient')$$, 'protect a parent');
SELECT is(dp_cdp.dataset_of('parts_1'), 'clinic', 'a partition is covered');
SELECT is(dp_cdp.dataset_of('child'), 'clinic', 'a child is covered');
SELECT is(dp_cdp.dataset_of('grandchild'), 'clinic', 'a grandchild is covered');
SELECT is(dp_cdp.dataset_of('plain'), NULL, 'another table is not');
SELECT is(dp_cdp.dataset_of(reltoastrelid), 'clinic', 'the TOAST table is covered')
	FROM pg_class WHERE oid = 'visits'::regclass;
SELECT is(dp_cdp.dataset_of('pg_class'), NULL, 'a catalog is not');

CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
CREATE TABLE parts_3 (patient int, year int);
CREATE TABLE orphan (extra int, patient int);
CREATE TABLE orphan_child () INHERITS (orphan);
SELECT is(dp_cdp.dataset_of('parts_2'), 'clinic', 'a new partition is covered');
SELECT is(dp_cdp.dataset_of('parts_3'), NULL, 'a table is not before it is attached');
SELECT is(dp_cdp.dataset_of('orphan_child'), NULL, 'nor below a plain one');
ALTER TABLE parts ATTACH PARTITION parts_3 FOR VALUES IN (3);
ALTER TABLE orphan INHERIT child;
SELECT is(dp_cdp.dataset_of('parts_3'), 'clinic', 'an attached partition is covered');
SELECT is(dp_cdp.dataset_of('orphan_child'), 'clinic', 'so is what hangs below an attached table');
ALTER TABLE parts DETACH PARTITION parts_3;
ALTER TABLE orphan NO INHERIT child;
SELECT is(dp_cdp.dataset_of('parts_3'), NULL, 'a detached partition is not');
SELECT is(dp_cdp.dataset_of('orphan_child'), NULL, 'nor what hangs below a detached table');
BEGIN;
ALTER TABLE parts ATTACH PARTITION parts_3 FOR VALUES IN (3);
SELECT is(dp_cdp.dataset_of('parts_3'), 'clinic', 'covered within the transaction');
ROLLBACK;
SELECT is(dp_cdp.dataset_of('parts_3'), NULL, 'not after its rollback');
BEGIN;
SELECT dp_cdp.unprotect_table('parent');
SELECT is(dp_cdp.dataset_of('grandchild'), NULL, 'unprotected within the transaction');
ROLLBACK;
SELECT is(dp_cdp.dataset_of('grandchild'), 'clinic', 'protected after its rollback');

-- ------------------------------------------------------------------------
-- DDL
-- ------------------------------------------------------------------------

SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1000);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b']);
CREATE SCHEMA lab2;

CREATE VIEW policy AS SELECT "table"::text, dataset, unit, columns FROM dp_cdp.protected;
ALTER TABLE visits RENAME TO encounters;
ALTER TABLE encounters RENAME patient TO person;
ALTER TABLE encounters RENAME cost TO price;
ALTER TABLE encounters SET SCHEMA lab2;
SELECT is(dp_cdp.dataset_of('lab2.encounters'), 'clinic', 'a policy follows RENAME and SET SCHEMA');
SELECT results_eq($$SELECT * FROM policy WHERE "table" = 'lab2.encounters'$$,
	$$VALUES ('lab2.encounters', 'clinic', 'person'::name, '{"dept": {"keys": ["a", "b"]}, "price": {"lower": 0, "upper": 1000}}'::jsonb)$$,
	'so do unit, bounds and keys, by column');
ALTER TABLE lab2.encounters ALTER person TYPE bigint, ALTER price TYPE float8;
VACUUM FULL lab2.encounters;
SELECT is(dp_cdp.dataset_of('lab2.encounters'), 'clinic', 'and stays when the table is rewritten');
ALTER TABLE lab2.encounters DROP COLUMN dept;
SELECT is(columns, '{"price": {"lower": 0, "upper": 1000}}', 'a dropped column takes its policy along')
	FROM policy WHERE "table" = 'lab2.encounters';
SELECT throws_ok('ALTER TABLE lab2.encounters DROP COLUMN person', '2BP01', NULL, 'the unit column cannot be dropped');
CREATE DOMAIN person_id AS int;
CREATE TABLE by_domain (id person_id, x int);
SELECT dp_cdp.protect_table('by_domain', 'clinic', unit => 'id');
SELECT throws_ok('DROP DOMAIN person_id CASCADE', '2BP01', NULL, 'not by way of its type either');
SELECT lives_ok('DROP TABLE by_domain', 'the whole table can');
DROP DOMAIN person_id;
SELECT lives_ok('DROP SCHEMA lab2 CASCADE', 'dropping a schema drops its tables and their policies');
SELECT is_empty($$SELECT * FROM pg_seclabel s WHERE provider = 'dp_cdp'
	AND NOT EXISTS (SELECT FROM pg_class WHERE oid = objoid)$$, 'no label is left over');

CREATE TABLE visits (patient int, dept text NOT NULL, cost numeric, born date);
SELECT is(dp_cdp.dataset_of('visits'), NULL, 'a new table of an old name is not protected');
CREATE TABLE copy (LIKE parent INCLUDING ALL);
SELECT is(dp_cdp.dataset_of('copy'), NULL, 'nor is a copy');
ALTER TABLE parent RENAME patient TO person;
SELECT is(unit, 'person', 'renaming a unit in the parent') FROM policy WHERE "table" = 'parent';

-- a column whose type was changed under its keys
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['surgery', '1']);
ALTER TABLE visits ALTER dept TYPE int USING 1;
SELECT throws_ok($$SELECT dp_cdp.declared_keys('visits', 'dept')$$, 'ZC004',
	'declared keys of column "dept" of table "visits" do not have its type integer any more; the owner has to call dp_cdp.set_keys or dp_cdp.drop_keys',
	'keys of another type are named as what they are');
SELECT lives_ok($$SELECT dp_cdp.set_keys('visits', 'dept', ARRAY[1, 2])$$, 'new keys mend that');
ALTER TABLE visits ALTER dept TYPE text;
SELECT dp_cdp.unprotect_table('visits');

-- a policy that lost its unit, or has two, releases nothing
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
SECURITY LABEL FOR dp_cdp ON COLUMN visits.patient IS NULL;
SELECT throws_ok($$SELECT dp_cdp.dataset_of('visits')$$, 'ZC004', NULL, 'no unit column left');
SECURITY LABEL FOR dp_cdp ON COLUMN visits.patient IS '{"unit": true}';
SELECT is(dp_cdp.dataset_of('visits'), 'clinic', 'repaired');
SECURITY LABEL FOR dp_cdp ON COLUMN visits.born IS '{"unit": true}';
SELECT throws_ok($$SELECT dp_cdp.dataset_of('visits')$$, 'ZC004', NULL, 'two unit columns');
SECURITY LABEL FOR dp_cdp ON TABLE visits IS NULL;
SELECT is(dp_cdp.dataset_of('visits'), NULL, 'labels of columns alone protect nothing');
SELECT lives_ok($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'dept')$$, 'protect it anew');
SELECT is(unit, 'dept', 'remains are swept away') FROM policy WHERE "table" = 'visits';
SELECT dp_cdp.unprotect_table('visits');
CREATE TABLE stepmother (patient int);
SELECT dp_cdp.protect_table('stepmother', 'clinic', unit => 'patient');
ALTER TABLE parent RENAME person TO patient;
CREATE TABLE heir () INHERITS (parent, stepmother);
SELECT throws_ok($$SELECT dp_cdp.dataset_of('heir')$$, 'ZC004', NULL, 'two policies above one table');
DROP TABLE heir, stepmother;

-- units of any type that can be compared
CREATE TABLE units (a uuid, b text, c timestamptz, d int[], e bytea, f json, g point, h xml, i int4range, j varchar(3));
SELECT lives_ok(format($$SELECT dp_cdp.protect_table('units', 'clinic', unit => %L), dp_cdp.unprotect_table('units')$$, u),
	u || ' as unit') FROM unnest('{a,b,c,d,e,i,j}'::text[]) u;
SELECT throws_ok(format($$SELECT dp_cdp.protect_table('units', 'clinic', unit => %L)$$, u), 'ZC004', NULL,
	u || ' not as unit') FROM unnest('{f,g,h}'::text[]) u;
SELECT collname IS NOT NULL AS has_icu FROM pg_collation WHERE collname = 'und-x-icu' \gset
\if :{?has_icu}
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE TABLE loosely (name text COLLATE loose);
SELECT throws_ok($$SELECT dp_cdp.protect_table('loosely', 'clinic', unit => 'name')$$, 'ZC004', NULL,
	'no unit in a collation that takes different strings for equal');
\else
SELECT skip('no ICU');
\endif

-- ------------------------------------------------------------------------
-- keys
-- ------------------------------------------------------------------------

CREATE TABLE codes (code text PRIMARY KEY) PARTITION BY LIST (code);
CREATE TABLE codes_a PARTITION OF codes FOR VALUES IN ('a');
CREATE TABLE codes_b PARTITION OF codes FOR VALUES IN ('b', 'c');
INSERT INTO codes VALUES ('c'), ('a'), ('b');
CREATE TABLE numbers (id int PRIMARY KEY, big bigint UNIQUE, half smallint, UNIQUE (id, half));
INSERT INTO numbers VALUES (3, 30), (1, 10), (2, 20);
CREATE TABLE facts (person int, code text REFERENCES codes NOT NULL, id int REFERENCES numbers,
	cross_type bigint REFERENCES numbers (id), big bigint REFERENCES numbers (big), half smallint,
	FOREIGN KEY (id, half) REFERENCES numbers (id, half));
SELECT dp_cdp.protect_table('facts', 'clinic', unit => 'person');
SELECT is(dp_cdp.declared_keys('facts', 'code'), '{a,b,c}', 'foreign key to a partitioned table');
SELECT is(dp_cdp.declared_keys('facts', 'id'), '{1,2,3,NULL}', 'foreign key, nullable');
SELECT is(dp_cdp.declared_keys('facts', 'big'), '{10,20,30,NULL}', 'foreign key to another column');
SELECT is(dp_cdp.declared_keys('facts', 'cross_type'), NULL, 'foreign key across types declares nothing');
SELECT is(dp_cdp.declared_keys('facts', 'half'), NULL, 'nor does part of a foreign key');
ALTER TABLE facts ALTER id SET NOT NULL;
SELECT is(dp_cdp.declared_keys('facts', 'id'), '{1,2,3}', 'no NULL group where there are no NULLs');
ALTER TABLE facts OWNER TO dba;
SELECT is(dp_cdp.declared_keys('facts', 'id'), NULL, 'the table''s owner must be able to read the keys');
GRANT SELECT (id) ON numbers TO dba;
SELECT is(dp_cdp.declared_keys('facts', 'id'), '{1,2,3}', 'the column at least');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM numbers;
INSERT INTO numbers VALUES (4, 40);
SELECT is(dp_cdp.declared_keys('facts', 'id'), '{1,2,3,4}', 'read as of now');
ROLLBACK;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN mood_domain AS mood;
ALTER TABLE facts ADD mood mood_domain, ADD ok boolean NOT NULL, ADD moods mood[];
ALTER TYPE mood ADD VALUE 'indifferent' BEFORE 'glad';
SELECT is(dp_cdp.declared_keys('facts', 'mood'), '{sad,indifferent,glad,NULL}', 'an enum, through a domain, in its order');
SELECT is(dp_cdp.declared_keys('facts', 'ok'), '{f,t}', 'a boolean');
SELECT is(dp_cdp.declared_keys('facts', 'moods'), NULL, 'not an array of an enum');
SELECT dp_cdp.set_keys('facts', 'big', ARRAY[10, 5]);
SELECT is(dp_cdp.declared_keys('facts', 'big'), '{5,10,NULL}', 'set_keys comes first, with NULL where the column can be NULL');
SELECT dp_cdp.set_keys('facts', 'big', ARRAY['7', NULL, '07']);
SELECT is(dp_cdp.declared_keys('facts', 'big'), '{7,NULL}', 'keys as text, sorted, each once');
ALTER TABLE facts ADD words text;
SELECT throws_ok($$SELECT dp_cdp.set_keys('facts', 'words', ARRAY['a', repeat('b', 65533)])$$, 'ZC004',
	'key 2 of column "words" is too long: give keys of at most 65532 bytes', 'no key that no row is counted for');
SELECT lives_ok($$SELECT dp_cdp.set_keys('facts', 'words', ARRAY['a', repeat('b', 65532)])$$, 'the longest that rows are counted for');
ALTER TABLE facts ADD at timestamptz NOT NULL, ADD ival interval NOT NULL, ADD f float8 NOT NULL, ADD b bytea NOT NULL, ADD span daterange NOT NULL;
SET TimeZone = 'Asia/Tokyo';
SET IntervalStyle = 'sql_standard';
SET extra_float_digits = -10;
SET DateStyle = 'SQL, DMY';
SELECT dp_cdp.set_keys('facts', 'at', ARRAY[timestamptz '2024-01-02 03:04:05.678+00']);
SELECT dp_cdp.set_keys('facts', 'ival', ARRAY[interval '-1 day -2 hours', '1 month']);
SELECT dp_cdp.set_keys('facts', 'f', ARRAY[0.1::float8, 1/3::float8, 'NaN']);
SELECT dp_cdp.set_keys('facts', 'b', ARRAY['\xdeadbeef'::bytea]);
SELECT dp_cdp.set_keys('facts', 'span', ARRAY[daterange('2024-02-01', '2024-03-02')]);
RESET TimeZone; RESET IntervalStyle; RESET extra_float_digits; RESET DateStyle;
SET bytea_output = escape;
SELECT is(dp_cdp.declared_keys('facts', 'at')::timestamptz[], ARRAY[timestamptz '2024-01-02 03:04:05.678+00'], 'timestamps survive settings');
SELECT is(dp_cdp.declared_keys('facts', 'ival')::interval[], ARRAY[interval '-1 day -2 hours', '1 month'], 'intervals do');
SELECT is(dp_cdp.declared_keys('facts', 'f')::float8[], ARRAY[0.1::float8, 1/3::float8, 'NaN'], 'doubles do');
SELECT is(dp_cdp.declared_keys('facts', 'b')::bytea[], ARRAY['\xdeadbeef'::bytea], 'bytea does');
SELECT is(dp_cdp.declared_keys('facts', 'span')::daterange[], ARRAY[daterange('2024-02-01', '2024-03-02')], 'ranges do');
RESET bytea_output;

-- ------------------------------------------------------------------------
-- who sees what
-- ------------------------------------------------------------------------

ALTER TABLE parent OWNER TO dba;
SELECT dp_cdp.alter_dataset('clinic', new_owner => 'dba');
SELECT dp_cdp.create_dataset('secret');
CREATE TABLE hidden (x int);
SELECT dp_cdp.protect_table('hidden', 'secret', each_row => true);
SELECT dp_cdp.set_budget('clinic', 'team', rho => 1);
SELECT dp_cdp.set_budget('clinic', 'bob', rho => 2);
SELECT dp_cdp.set_budget('secret', 'bob', rho => 3);
SELECT is(seen_by('dba', 'SELECT dataset || '' '' || role FROM dp_cdp.budgets'), '{"clinic bob","clinic team"}', 'an owner sees the budgets of the dataset');
SELECT is(seen_by('ana', 'SELECT dataset || '' '' || role FROM dp_cdp.budgets'), '{"clinic team"}', 'a member sees the team''s');
SELECT is(seen_by('bob', 'SELECT dataset || '' '' || role FROM dp_cdp.budgets'), '{"clinic bob","secret bob"}', 'a role sees its own');
SELECT is(seen_by('eve', 'SELECT dataset || '' '' || role FROM dp_cdp.budgets'), NULL, 'others see none');
SELECT is(seen_by('postgres', 'SELECT dataset || '' '' || role FROM dp_cdp.budgets'), '{"clinic bob","clinic team","secret bob"}', 'superusers see all');
SELECT is(seen_by('ana', 'SELECT dataset FROM dp_cdp.datasets'), '{clinic}', 'datasets one has a budget in');
SELECT is(seen_by('dba', 'SELECT dataset FROM dp_cdp.datasets'), '{clinic}', 'or owns');
SELECT is(seen_by('eve', 'SELECT dataset FROM dp_cdp.datasets'), NULL, 'and no other');
SELECT is(seen_by('ana', 'SELECT coalesce(rho_spent, rho_remaining, delta_spent, epsilon_spent::numeric) IS NULL FROM dp_cdp.datasets'), '{true}',
	'what all roles have spent is not shown to one with a budget');
SELECT is(seen_by('dba', 'SELECT num_nulls(rho_spent, delta_spent, epsilon_spent) FROM dp_cdp.datasets'), '{0}', 'but to the owner');
-- what a query would run with, and why
SELECT is(seen_by('eve', 'SELECT setting FROM dp_cdp.settings'), NULL, 'settings are told where one has a budget');
SELECT is(string_agg(current_setting('dp_cdp.' || name), ''), '', 'SHOW of what is not set shows nothing') FROM unnest('{rho,delta,max_groups,max_rows}'::text[]) name;
SELECT set_config('dp_cdp.rho', '0.25', false), set_config('dp_cdp.max_rows', '999999', false), set_config('dp_cdp.reuse', 'off', false);
SELECT is(string_agg(current_setting('dp_cdp.' || name), ' '), '0.25 999999', 'and of what is set the number') FROM unnest('{rho,max_rows}'::text[]) name;
SELECT is(seen_by('ana', $$SELECT concat_ws(' | ', setting, coalesce(session, '-'), coalesce(dataset_value, '-'), coalesce(in_effect, '-'), because) FROM dp_cdp.settings WHERE because !~ 'which no dataset changes'$$), ARRAY[
	'dp_cdp.consistent | - | off | off | the dataset''s default',
	'dp_cdp.delta | - | 0.000000001 | 0.000000001 | the dataset''s default',
	'dp_cdp.find_bounds | - | 0.1 | 0.1 | the dataset''s default',
	'dp_cdp.max_contribution | - | auto | auto | the dataset''s default',
	'dp_cdp.max_groups | - | - | - | neither the session nor the dataset says anything',
	'dp_cdp.max_rows | 999999 | - | 999999 | SET in this session',
	'dp_cdp.release_memory | - | - | 256MB | the server''s, of which the dataset takes nothing away',
	'dp_cdp.reuse | off | - | off | the dataset keeps no answers',
	'dp_cdp.rho | 0.25 | 0.01 | 0.25 | SET in this session',
	'dp_cdp.target_error | - | - | - | neither the session nor the dataset says anything'], 'what a query would run with');
SELECT dp_cdp.alter_dataset('clinic', reuse => '1 day', release_memory => 1024);
SELECT is(seen_by('ana', $$SELECT concat_ws(' | ', setting, coalesce(session, '-'), coalesce(dataset_value, '-'), in_effect, because) FROM dp_cdp.settings WHERE setting ~ 'public_time|max_size'$$), ARRAY[
	'dp_cdp.max_public_time | - | - | 30s | the server''s default, which no dataset changes', 'dp_cdp.reuse_max_size | - | - | 256MB | the server''s default, which no dataset changes'], 'and with the server''s own');
SELECT is((SELECT array_agg(DISTINCT setting ORDER BY setting) FROM dp_cdp.settings), (SELECT array_agg(name ORDER BY name) FROM pg_settings WHERE name LIKE 'dp\_cdp.%'), 'each setting is told of');
SELECT is(seen_by('dba', $$SELECT concat_ws(' | ', setting, session, dataset_value, in_effect, because) FROM dp_cdp.settings WHERE setting ~ 'reuse$|release_memory'$$), ARRAY[
	'dp_cdp.release_memory | 1MB | 1MB | the dataset allows less than the server',
	'dp_cdp.reuse | off | 1 day | off | SET in this session'], 'both of the owner and of the session may say less');
RESET dp_cdp.rho; RESET dp_cdp.max_rows; RESET dp_cdp.reuse;
SELECT is(seen_by('ana', 'SELECT DISTINCT dataset FROM dp_cdp.protected'), '{clinic}', 'tables one has a budget for');
SELECT is(seen_by('bob', 'SELECT DISTINCT dataset FROM dp_cdp.protected'), '{clinic,secret}', 'in all datasets');
SELECT is(seen_by('eve', 'SELECT DISTINCT dataset FROM dp_cdp.protected'), NULL, 'and no other');

BEGIN;
SET LOCAL SESSION AUTHORIZATION bob;
SELECT has_table_privilege('dp_cdp_internal.' || t, p) AS "any" FROM unnest('{dataset,budget,release_log,ledger_stamp}'::text[]) t,
	unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) p GROUP BY 1 \gset
ROLLBACK;
SELECT is(:'any'::boolean, false, 'the tables themselves are nobody''s');

-- ------------------------------------------------------------------------
-- what is spent
-- ------------------------------------------------------------------------

GRANT EXECUTE ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) TO PUBLIC;
CREATE VIEW budget AS SELECT dataset, role, rho_limit, rho_spent, rho_remaining, delta_spent, epsilon_spent FROM dp_cdp.budgets;
SET SESSION AUTHORIZATION ana;
SELECT dp_cdp.debit_budget('clinic', 0.25);
RESET SESSION AUTHORIZATION;
SELECT results_eq($$SELECT role::text, rho_limit, rho_spent, rho_remaining, delta_spent FROM budget WHERE dataset = 'clinic' ORDER BY 1$$,
	$$VALUES ('bob', 2::numeric, 0::numeric, 2::numeric, 0::numeric), ('team', 1, 0.25, 0.75, 0)$$, 'a debit shows');
SELECT ok(epsilon_spent BETWEEN 3.54 AND 3.55, 'as epsilon, too: ' || epsilon_spent) FROM budget WHERE dataset = 'clinic' AND role = 'team'::regrole;
SELECT is(rho_spent || ' ' || rho_remaining, '0.25 9.75', 'and in the dataset') FROM dp_cdp.datasets WHERE dataset = 'clinic';
SELECT is(seen_by('ana', 'SELECT role || '' '' || rho || '' '' || granted FROM dp_cdp.releases'), '{"ana 0.25 true"}', 'who released sees it in the log');
SELECT is(seen_by('dba', 'SELECT role || '' '' || rho FROM dp_cdp.releases'), '{"ana 0.25"}', 'so does the owner');
SELECT is(seen_by('bob', 'SELECT role || '' '' || rho FROM dp_cdp.releases'), NULL, 'and nobody else');

SELECT dp_cdp.set_budget('clinic', 'team', epsilon => 5, delta => 1e-5);
SELECT is(rho_spent, 0.25, 'changing a budget keeps what is spent') FROM budget WHERE dataset = 'clinic' AND role = 'team'::regrole;
SELECT dp_cdp.set_budget('clinic', 'team', rho => 0.1);
SELECT is(rho_remaining, 0::numeric, 'also when that is more than the new limit') FROM budget WHERE dataset = 'clinic' AND role = 'team'::regrole;

SELECT throws_ok($$SELECT dp_cdp.alter_dataset('clinic', neighbors => 'replace_one')$$, 'ZC004', NULL, 'the neighbouring relation is fixed by the first release');
SELECT lives_ok($$SELECT dp_cdp.alter_dataset('clinic', neighbors => 'add_remove', rho => 20)$$, 'other settings are not');
SELECT is(rho_spent, 0.25, 'and leave the ledger alone') FROM dp_cdp.datasets WHERE dataset = 'clinic';

-- periods
SELECT dp_cdp.set_budget('secret', 'bob', rho => 1, period => '1 day');
SELECT renews_at AS first FROM dp_cdp.budgets WHERE dataset = 'secret' \gset
SELECT dp_cdp.set_budget('secret', 'bob', rho => 2, period => '24 hours');
SELECT is(renews_at, :'first', 'an equal period goes on') FROM dp_cdp.budgets WHERE dataset = 'secret';
SELECT dp_cdp.set_budget('secret', 'bob', rho => 2, period => '2 days');
SELECT isnt(renews_at, :'first', 'another begins now') FROM dp_cdp.budgets WHERE dataset = 'secret';
SELECT dp_cdp.set_budget('secret', 'bob', rho => 2);
SELECT ok(renews_at IS NULL AND period IS NULL, 'and none ends it') FROM dp_cdp.budgets WHERE dataset = 'secret';
SELECT dp_cdp.set_budget('secret', 'bob', rho => 2, period => '0.1 seconds');
SET SESSION AUTHORIZATION bob;
SELECT dp_cdp.debit_budget('secret', 0.5);
RESET SESSION AUTHORIZATION;
SELECT rho_spent AS spent_before FROM dp_cdp_internal.budget WHERE dataset = 'secret' \gset
SELECT pg_sleep(0.15);
SELECT is(:'spent_before'::numeric, 0.5, 'spent in a period');
SELECT is(rho_spent || ' ' || rho_remaining, '0 2', 'a period that is over shows as renewed') FROM dp_cdp.budgets WHERE dataset = 'secret';
SELECT ok(renews_at > now(), 'with its next renewal') FROM dp_cdp.budgets WHERE dataset = 'secret';
SELECT is(rho_spent, 0.5, 'the dataset is not renewed') FROM dp_cdp.datasets WHERE dataset = 'secret';

-- ------------------------------------------------------------------------
-- what cannot be dropped
-- ------------------------------------------------------------------------

DROP VIEW policy, budget;
SELECT throws_ok('DROP ROLE bob', '2BP01', NULL, 'a role with a budget');
SELECT throws_ok('DROP ROLE dba', '2BP01', NULL, 'the owner of a dataset');
SELECT throws_ok($$SELECT dp_cdp.drop_dataset('secret')$$, '2BP01', NULL, 'a dataset that protects a table');
SELECT dp_cdp.unprotect_table('hidden');
SELECT throws_like($$SELECT dp_cdp.drop_dataset('secret')$$, '%erase_spent%', 'a dataset in which something was spent');
SELECT throws_like('DROP EXTENSION dp_cdp', '%empty_ledger%', 'the extension while there is a ledger');
SELECT throws_like('DROP EXTENSION dp_cdp CASCADE', '%empty_ledger%', 'nor with CASCADE');
SELECT throws_like('DROP SCHEMA dp_cdp CASCADE', '%extension%', 'its schema');
SELECT throws_like('DROP TABLE dp_cdp_internal.budget CASCADE', '%extension%', 'its tables');
SELECT throws_like('ALTER EXTENSION dp_cdp DROP TABLE dp_cdp_internal.release_log; DROP TABLE dp_cdp_internal.release_log CASCADE', '%empty_ledger%', 'not even when they are no members');
SELECT throws_like('ALTER EXTENSION dp_cdp DROP SCHEMA dp_cdp; CREATE SCHEMA elsewhere; DROP EXTENSION dp_cdp CASCADE',
	'%empty_ledger%', 'nor when their schema is none');
SELECT is(dp_cdp.dataset_of('parent'), 'clinic', 'all is as it was');
SELECT lives_ok($$SELECT dp_cdp.drop_dataset('secret', erase_spent => true)$$, 'a dataset, explicitly');
SELECT is(count(*), 2::bigint, 'the log stays') FROM dp_cdp.releases WHERE kind <> 'guard';
SELECT dp_cdp.drop_budget('clinic', 'team');
SELECT dp_cdp.drop_budget('clinic', 'bob');
SELECT throws_like('DROP EXTENSION dp_cdp', '%empty_ledger%', 'the log alone is a ledger');
SELECT dp_cdp.empty_ledger();
SELECT lives_ok('DROP EXTENSION dp_cdp', 'the extension, once its ledger is empty');
SELECT lives_ok('DROP ROLE bob', 'roles, once nothing is known of them');
SELECT is(count(*) > 0, true, 'labels stay, and with them the protection') FROM pg_seclabel WHERE provider = 'dp_cdp';

-- a label that outlived its dataset is not for the next one to take
CREATE EXTENSION dp_cdp;
SELECT throws_ok($$SELECT dp_cdp.dataset_of('parent')$$, 'ZC004', NULL, 'the dataset is gone');
SELECT throws_ok($$SELECT seen_by('eve', 'SELECT dp_cdp.create_dataset(''clinic'')')$$, '42501', NULL, 'not for a stranger to create');
SELECT lives_ok($$SELECT dp_cdp.create_dataset('clinic')$$, 'but for a superuser');
SELECT is(dp_cdp.dataset_of('parent'), 'clinic', 'and the policy is whole again');

SELECT * FROM finish();
