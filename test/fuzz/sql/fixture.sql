-- What "make fuzz-sql" asks about; run by a superuser in an empty database.
--
-- Schema c holds the canaries: values that only person 777 has, extreme
-- values and NULLs; its dataset "c" is noisy.  Schema x has the same tables
-- with tame values and no NULL units; its dataset "x" allows so much rho that
-- noise vanishes, and answers can be compared with exact ones.  What wire.py
-- calls a canary is inserted at the end.

\set ON_ERROR_STOP on
SET client_min_messages = error;		-- a name that a protected table has left is warned of

CREATE ROLE fuzz_owner LOGIN;
CREATE ROLE fuzz_team;
CREATE ROLE fuzz_analyst LOGIN IN ROLE fuzz_team;
CREATE ROLE fuzz_poor LOGIN;
CREATE EXTENSION dp_cdp;
SELECT format('GRANT CREATE ON DATABASE %I TO fuzz_owner', current_database()) \gexec

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO fuzz_owner;
SET ROLE fuzz_owner;
CREATE SCHEMA pub;
CREATE TYPE pub.mood AS ENUM ('bad', 'fair', 'good');
CREATE TABLE pub.sites (site int PRIMARY KEY, region text, beds int);
INSERT INTO pub.sites VALUES (1, 'north', 10), (2, 'north', 20), (3, 'south', 30), (4, 'west', NULL);
CREATE FUNCTION pub.twice(anyelement) RETURNS anyelement IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 2';
CREATE DOMAIN pub.who AS int;
CREATE TABLE pub.depts (dept text, floor int);
INSERT INTO pub.depts VALUES ('a', 1), ('b', 2), ('c', 2), ('c', 3), ('e', 5);

SELECT dp_cdp.create_dataset('c', default_rho => 0.01, max_rho => 0.05, delta => 1e-3, default_delta => 1e-15) \g /dev/null
SELECT dp_cdp.create_dataset('x', default_rho => 200000, delta => 1e-3, default_delta => 1e-12,
	max_groups => 24, max_rows => 24) \g /dev/null
SELECT dp_cdp.create_dataset('vault') \g /dev/null
SELECT dp_cdp.create_dataset('replaced', default_rho => 0.01, default_delta => 1e-15, neighbors => 'replace_one') \g /dev/null
-- neither limits what is asked at random
SELECT dp_cdp.alter_dataset(d, min_rho => 1e-12, max_failures => 1000000000) FROM unnest('{c,x,vault,replaced}'::text[]) d \g /dev/null

SELECT format($$
CREATE SCHEMA %1$s;
CREATE TABLE %1$s.people (person int PRIMARY KEY, name text, born int, zip text, sex boolean NOT NULL);
CREATE TABLE %1$s.visits (visit_id int, person int, dept text NOT NULL, feel pub.mood NOT NULL, city text,
	flag boolean NOT NULL, n int, v numeric(9,2), f float8, at date, site int NOT NULL REFERENCES pub.sites);
CREATE INDEX ON %1$s.visits (person);
CREATE TABLE %1$s.stays (person int, ward text, days int, score float8);
CREATE TABLE %1$s.samples (batch text, level int, amount numeric);
CREATE TABLE %1$s.trips (trip int PRIMARY KEY, person int, mode text);
CREATE TABLE %1$s.legs (leg int PRIMARY KEY, trip int REFERENCES %1$s.trips ON DELETE CASCADE, km int);
CREATE TABLE %1$s.scans (leg int REFERENCES %1$s.legs ON DELETE CASCADE, code int);
CREATE TABLE %1$s.events (event int, part int, person pub.who, at timestamp, ended timestamp, kind text, amount numeric(6,2), size smallint,
	PRIMARY KEY (event, part));
CREATE TABLE %1$s.parts (event int, part int, label text, grams float8, FOREIGN KEY (event, part) REFERENCES %1$s.events ON DELETE CASCADE);
CREATE TABLE %1$s.cards (holder text, issued date, level int NOT NULL, points float8);
CREATE TABLE %1$s.phones (owner uuid, area text, calls int, seen timestamptz);
CREATE TABLE %1$s.logs (person int, day date, code int, w real) PARTITION BY RANGE (day);
CREATE TABLE %1$s.logs_old PARTITION OF %1$s.logs FOR VALUES FROM (MINVALUE) TO ('2024-06-01');
CREATE TABLE %1$s.logs_new PARTITION OF %1$s.logs FOR VALUES FROM ('2024-06-01') TO (MAXVALUE) PARTITION BY HASH (person);
CREATE TABLE %1$s.logs_new0 PARTITION OF %1$s.logs_new FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE %1$s.logs_new1 PARTITION OF %1$s.logs_new FOR VALUES WITH (MODULUS 2, REMAINDER 1);

INSERT INTO %1$s.people SELECT i, 'name' || i %% 9, 1940 + i %% 60, (100 + i %% 7)::text, i %% 3 = 0
	FROM generate_series(1, 60) i;
-- at most 3 rows of a person in visits, 2 in stays and logs
INSERT INTO %1$s.visits SELECT i, 1 + i %% 60, (ARRAY['a', 'b', 'c', 'd'])[1 + i %% 4],
	(ARRAY['bad', 'fair', 'good'])[1 + i %% 3]::pub.mood,
	CASE WHEN i %% 17 <> 0 THEN 'city' || (i / 5) %% 6 END, i %% 5 < 2,
	CASE WHEN i %% 13 <> 0 THEN i %% 5 - 1 END, (i %% 40) / 10.0, (i %% 30) / 10.0::float8,
	date '2024-01-01' + i, 1 + (i / 3) %% 3
	FROM generate_series(1, 180) i;
INSERT INTO %1$s.stays SELECT 1 + (i * 7) %% 55, CASE WHEN i %% 11 <> 0 THEN 'ward' || i %% 5 END, i %% 4, (i %% 20) / 5.0
	FROM generate_series(1, 110) i;
INSERT INTO %1$s.samples SELECT 'batch' || i %% 6, i %% 5, (i %% 30) / 10.0 FROM generate_series(1, 150) i;
INSERT INTO %1$s.logs SELECT 1 + i %% 60, date '2024-01-05' + 2 * i, i %% 6 - 2, (i %% 16) / 4.0
	FROM generate_series(1, 120) i;
-- at most 2 trips of a person, with 2 legs each, and a scan of each leg
INSERT INTO %1$s.trips SELECT i, 1 + i %% 60, (ARRAY['bus', 'car'])[1 + i %% 2] FROM generate_series(1, 120) i;
INSERT INTO %1$s.legs SELECT i, 1 + i %% 120, i %% 4 FROM generate_series(1, 240) i;
INSERT INTO %1$s.scans SELECT i, i %% 5 FROM generate_series(1, 240) i;
-- 2 rows of a person in each of these, whose units are of a domain, behind a key of two columns, text, uuid
INSERT INTO %1$s.events SELECT i, i %% 2, 1 + i %% 60, timestamp '2024-01-01 00:30' + i * interval '37 hours', timestamp '2024-01-01 00:30' + (i * 37 + i %% 5 * 6) * interval '1 hour',
	'kind' || i %% 3, (i %% 40) / 10.0, CASE WHEN i %% 13 <> 0 THEN i %% 6 END FROM generate_series(1, 120) i;
INSERT INTO %1$s.parts SELECT i, i %% 2, 'label' || i %% 5, (i %% 20) / 5.0 FROM generate_series(1, 120) i;
INSERT INTO %1$s.cards SELECT 'p' || 1 + i %% 60, date '2024-01-01' + i %% 50, i %% 4, (i %% 16) / 4.0 FROM generate_series(1, 120) i;
INSERT INTO %1$s.phones SELECT md5('p' || 1 + i %% 60)::uuid, 'area' || i %% 6, i %% 5, timestamptz '2024-03-01 12:00 UTC' + i * interval '11 hours' FROM generate_series(1, 120) i;

SELECT dp_cdp.protect_table('%1$s.people', '%1$s', unit => 'person');
SELECT dp_cdp.protect_table('%1$s.events', '%1$s', unit => 'person');
SELECT dp_cdp.protect_table('%1$s.parts', '%1$s', through => 'event, part');
SELECT dp_cdp.protect_table('%1$s.cards', '%1$s', unit => 'holder');
SELECT dp_cdp.protect_table('%1$s.phones', '%1$s', unit => 'owner');
SELECT dp_cdp.set_bounds('%1$s.events', 'at', '2024-01-01', '2024-12-31');
SELECT dp_cdp.set_bounds('%1$s.events', 'amount', 0, 60, 0, 20);
SELECT dp_cdp.set_bounds('%1$s.cards', 'level', 0, 60);
SELECT dp_cdp.set_bounds('%1$s.phones', 'seen', '2024-03-01', '2024-05-31');
SELECT dp_cdp.set_keys('%1$s.cards', 'level', ARRAY[0, 1, 2, 3]);
SELECT dp_cdp.protect_table('%1$s.trips', '%1$s', unit => 'person');
SELECT dp_cdp.protect_table('%1$s.legs', '%1$s', through => 'trip');
SELECT dp_cdp.protect_table('%1$s.scans', '%1$s', through => 'leg');
SELECT dp_cdp.set_bounds('%1$s.legs', 'km', 0, 60);
SELECT dp_cdp.protect_table('%1$s.visits', '%1$s', unit => 'person');
SELECT dp_cdp.protect_table('%1$s.stays', '%1$s', unit => 'person');
SELECT dp_cdp.protect_table('%1$s.samples', '%1$s', each_row => true);
SELECT dp_cdp.protect_table('%1$s.logs', '%1$s', unit => 'person');
SELECT dp_cdp.set_keys('%1$s.visits', 'dept', ARRAY['a', 'b', 'c', 'd']);
SELECT dp_cdp.set_keys('%1$s.samples', 'level', ARRAY[0, 1, 2, 3, 4]);
SELECT dp_cdp.set_bounds('%1$s.visits', 'n', -20, 60);
SELECT dp_cdp.set_bounds('%1$s.visits', 'v', 0, 60);
SELECT dp_cdp.set_bounds('%1$s.stays', 'days', 0, 60);
SELECT dp_cdp.set_bounds('%1$s.samples', 'amount', 0, 10);
SELECT dp_cdp.set_bounds('%1$s.logs', 'code', -30, 60);

-- a dataset with blocks of time; 2 rows of a person, mostly in two of them
SELECT dp_cdp.create_dataset('%1$sb', default_rho => 0.01, max_rho => CASE '%1$s' WHEN 'c' THEN 0.05 END, delta => 1e-3, default_delta => 1e-15, max_groups => 24, max_rows => 24);
SELECT dp_cdp.alter_dataset('%1$sb', min_rho => 1e-12, max_failures => 1000000000);
CREATE TABLE %1$s.tides (person int, day date, kind text NOT NULL, n int, w float8);
INSERT INTO %1$s.tides SELECT 1 + i %% 60, CASE WHEN i %% 19 <> 0 THEN date '2024-01-10' + i END, (ARRAY['a', 'b', 'c'])[1 + i %% 3], i %% 5 - 1, (i %% 30) / 10.0
	FROM generate_series(1, 120) i;
SELECT dp_cdp.protect_table('%1$s.tides', '%1$sb', unit => 'person', block => 'day', every => '1 month');
SELECT dp_cdp.set_keys('%1$s.tides', 'kind', ARRAY['a', 'b', 'c']);

-- a name that a protected table has left
CREATE TABLE %1$s.left_behind (person int, secret text);
SELECT dp_cdp.protect_table('%1$s.left_behind', '%1$s', unit => 'person');
ALTER TABLE %1$s.left_behind RENAME TO left_behind_old;
CREATE TABLE %1$s.left_behind AS SELECT person, name AS secret FROM %1$s.people;

CREATE VIEW %1$s.v_visits AS SELECT person, dept, feel, city, flag, n, v, site FROM %1$s.visits WHERE n >= 0;
CREATE VIEW %1$s.v_words AS SELECT person AS who, upper(city) AS town, n + 1 AS n1, dept FROM %1$s.visits;
CREATE VIEW %1$s.v_pair AS SELECT p.person, p.sex, p.born, s.ward, s.days
	FROM %1$s.people p JOIN %1$s.stays s ON s.person = p.person;
CREATE VIEW %1$s.v_parts AS SELECT e.person, e.kind, e.at, p.label, p.grams FROM %1$s.parts p JOIN %1$s.events e USING (event, part);
CREATE VIEW %1$s.v_private AS SELECT dept, dp_count(*) AS visits FROM %1$s.visits GROUP BY dept;
GRANT USAGE ON SCHEMA %1$s TO PUBLIC;
GRANT SELECT ON %1$s.v_visits, %1$s.v_words, %1$s.v_pair, %1$s.v_parts, %1$s.v_private TO fuzz_analyst;
$$, schema) FROM unnest(ARRAY['c', 'x']) AS schema
\o /dev/null
\gexec

CREATE SCHEMA vault;
CREATE TABLE vault.vault (person int, secret text);
INSERT INTO vault.vault SELECT i, 'zqvault' FROM generate_series(1, 234567) i;
SELECT dp_cdp.protect_table('vault.vault', 'vault', unit => 'person');
CREATE TABLE vault.swaps (person int, kind text, n int);
INSERT INTO vault.swaps SELECT i % 50, 'kind' || i % 4, i % 9 FROM generate_series(1, 200) i;
SELECT dp_cdp.protect_table('vault.swaps', 'replaced', unit => 'person');
GRANT USAGE ON SCHEMA vault, pub TO PUBLIC;
GRANT SELECT ON pub.sites, pub.depts TO PUBLIC;

SELECT dp_cdp.set_budget('c', 'fuzz_analyst', rho => 1000000);
SELECT dp_cdp.set_budget('c', 'fuzz_team', rho => 1000000);
SELECT dp_cdp.set_budget('replaced', 'fuzz_analyst', rho => 1000000);
SELECT dp_cdp.set_budget('c', 'fuzz_poor', rho => 0.05);
SELECT dp_cdp.set_budget('cb', 'fuzz_analyst', rho => 1000000);
SELECT dp_cdp.set_budget('cb', 'fuzz_poor', rho => 0.05);

-- extremes, and rows that belong to nobody
INSERT INTO c.visits VALUES (1000, 101, 'a', 'bad', '', true, 2147483647, 9999999.99, 'NaN', 'infinity', 1),
	(1001, 101, 'a', 'bad', NULL, true, -2147483648, 'NaN', 'Infinity', '-infinity', 2),
	(1002, 102, 'undeclared', 'good', 'äöü€𝄞', false, 0, 0, '-Infinity', '0001-01-01 BC', 3),
	(1003, NULL, 'a', 'bad', 'city1', true, 1, 1, 1, '2024-01-01', 1),
	(1004, NULL, 'b', 'bad', 'city1', true, 1, 1, '1e308', '2024-01-01', 1);
INSERT INTO c.tides VALUES (777, '1871-03-05', 'a', 7654327, 97531.86), (101, 'infinity', 'undeclared', -2147483648, '-Infinity'), (101, '-infinity', 'b', 2147483647, 'NaN'), (NULL, '2024-02-02', 'a', 1, 1);
INSERT INTO c.stays VALUES (101, '', 2147483647, '1e308'), (102, repeat('x', 3000), -2147483648, '4.9e-324'), (NULL, NULL, NULL, NULL);
INSERT INTO c.samples VALUES ('', 2147483647, 'NaN'), (NULL, NULL, NULL), ('batch1', -2147483648, '1e400');
INSERT INTO c.logs VALUES (101, 'infinity', 2147483647, 'NaN'), (101, '0001-01-01 BC', -2147483648, '3e38');
-- the canaries
INSERT INTO c.people VALUES (777, 'zqcanary1', 7654321, 'zqcanary2', false);
INSERT INTO c.visits VALUES (7654322, 777, 'zqcanary3', 'good', 'zqcanary4', true, 7654323, 97531.86, 86421.97531, '1871-03-05', 4);
INSERT INTO c.stays VALUES (777, 'zqcanary5', 7654321, 88888.25);
INSERT INTO c.samples VALUES ('zqcanary6', 7654322, 97532.86);
INSERT INTO c.logs VALUES (777, '1871-03-06', 7654324, 88888.25);
INSERT INTO c.events VALUES (77701, 0, 777, '1871-03-07 07:53', 'infinity', 'zqcanary7', 7531.86, 32767), (77702, 1, 777, '2024-02-03 04:05:06.789', NULL, NULL, NULL, NULL),
	(77703, 0, NULL, NULL, '2024-02-01', 'kind1', 1, 1), (77704, 0, 101, '-infinity', '294276-12-31 23:59', 'kind2', -9999.99, -32768), (77705, 1, 102, 'infinity', '-infinity', '', 'NaN', 0);
INSERT INTO c.parts VALUES (77701, 0, 'zqcanary8', 97533.86), (77704, 0, 'label1', 'Infinity'), (77705, 1, NULL, 'NaN'), (NULL, 1, 'label1', 1), (77703, 0, 'label1', 1);
INSERT INTO c.cards VALUES ('p777', '1871-03-08', 7654325, 97534.86), ('p101', 'infinity', -2147483648, '-Infinity'), (NULL, '2024-01-01', 1, 1), ('', NULL, 0, NULL);
INSERT INTO c.phones VALUES (md5('p777')::uuid, 'zqcanary9', 7654326, '1871-03-09 12:34 UTC'), (md5('p101')::uuid, NULL, NULL, 'infinity'), (NULL, 'area1', 1, '2024-03-03 UTC');
RESET ROLE;
ANALYZE;

-- More than set_budget accepts, for a night of asking; INSERT is open to restores.
INSERT INTO dp_cdp_internal.budget (dataset, role, rho_limit, delta_limit, report_delta)
	SELECT d, 'fuzz_analyst'::regrole, 1e20, 1e-3, 1e-6 FROM unnest('{x,xb}'::text[]) d;
CREATE SCHEMA own AUTHORIZATION fuzz_analyst;
SET ROLE fuzz_analyst;
SET check_function_bodies = off;
CREATE TABLE own.notes (id int, note text, n numeric);
INSERT INTO own.notes SELECT i, 'note' || i, i / 3.0 FROM generate_series(1, 20) i;
CREATE TABLE own.marks (id int);
INSERT INTO own.marks SELECT generate_series(1, 20);
-- what releases are written into
CREATE DOMAIN own.percent AS int CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE own.kept (c0 text, small smallint, whole int, big bigint, short varchar(2), num numeric(3,1), re real, dbl float8, txt text, pct own.percent);
-- rows by a function that is inlined; which schema's is told by the search path
CREATE FUNCTION own.visits_of(text) RETURNS TABLE (person int, dept text, flag boolean, n int, v numeric, f float8, at date, site int) STABLE LANGUAGE sql
	AS 'SELECT person, dept, flag, n, v, f, at, site FROM visits WHERE dept <> $1';
CREATE FUNCTION own.later(date, int) RETURNS date IMMUTABLE LANGUAGE sql AS 'SELECT $1 + $2';
-- for exact twins of what the analyst joins with it
GRANT USAGE ON SCHEMA own TO fuzz_owner;
GRANT SELECT ON own.marks TO fuzz_owner;
-- for exact twins of what is NULL where it fails
CREATE FUNCTION own.tried(expression text, n bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT (%s)::text', replace(expression, '{n}', format('(%s)::bigint', n))) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;
RESET ROLE;
SELECT dp_cdp.harden();
