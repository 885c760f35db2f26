-- Tables of few values, for shapes.py; run by a superuser after fixture.sql.
--
-- In schema y is every row that the schema of sales and buyers allows, beside declared keys a few others, in all combinations, each of a person of its own: what plain
-- SQL returns there are all groups that can be.  Only the owner reads it.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

SET ROLE fuzz_owner;
CREATE TABLE pub.shops (shop int PRIMARY KEY, town text NOT NULL, size int, opened date NOT NULL);
INSERT INTO pub.shops VALUES (1, 'north', 1, '2024-03-30'), (2, 'north', NULL, '2024-03-31'), (3, 'south', 2, '2024-04-01');
CREATE TABLE pub.items (item text PRIMARY KEY, kind text, price numeric(6,2) NOT NULL, parent text REFERENCES pub.items);
INSERT INTO pub.items VALUES ('nut', 'small', 0.5, NULL), ('bolt', 'small', 1.5, 'nut'), ('saw', NULL, 2.25, 'nut');
CREATE TABLE pub.dates (day date PRIMARY KEY, month int NOT NULL, name text NOT NULL, weekend boolean NOT NULL);
INSERT INTO pub.dates SELECT d, extract(month FROM d), to_char(d, 'Mon'), extract(isodow FROM d) > 5
	FROM generate_series('2024-03-30'::date, '2024-04-02', '1 day') d;
CREATE TABLE pub.offers (shop int, item text, note text);
INSERT INTO pub.offers VALUES (1, 'nut', 'p'), (1, 'saw', 'q'), (2, 'nut', NULL), (NULL, 'bolt', 'p'), (2, NULL, 'r');
GRANT SELECT ON pub.shops, pub.items, pub.dates, pub.offers TO PUBLIC;
-- who may write a column may lock rows
GRANT UPDATE (size) ON pub.shops TO fuzz_analyst;

SELECT format($$
CREATE SCHEMA IF NOT EXISTS %1$s;
CREATE TABLE %1$s.buyers (person int PRIMARY KEY, region text NOT NULL, home int REFERENCES pub.shops, age int);
CREATE TABLE %1$s.sales (person int NOT NULL REFERENCES %1$s.buyers ON DELETE CASCADE, shop int NOT NULL REFERENCES pub.shops,
	item text REFERENCES pub.items, channel text, grade int NOT NULL, cost numeric(4,2) NOT NULL, paid boolean,
	day date NOT NULL REFERENCES pub.dates, code varchar(6), seen timestamptz NOT NULL, n int, coin boolean);
CREATE INDEX ON %1$s.sales (person);
CREATE VIEW %1$s.v_sales AS SELECT s.*, h.town, h.size FROM %1$s.sales s JOIN pub.shops h USING (shop);
CREATE VIEW %1$s.v_paid AS SELECT * FROM %1$s.sales WHERE paid OR channel = 'web';
$$, schema) FROM unnest(ARRAY['c', 'x', 'y']) AS schema
\o /dev/null
\gexec

SELECT setseed(0.5);
CREATE TEMP TABLE every AS
	SELECT row_number() OVER (ORDER BY random())::int AS person, *
	FROM generate_series(1, 3) shop, unnest(ARRAY['nut', 'bolt', 'saw', NULL]) item, unnest(ARRAY['web', 'shop', 'phone', NULL]) channel,
		generate_series(1, 3) grade, unnest(ARRAY[0.5, 1.5, 2.25, 3.75]) cost, unnest(ARRAY[true, false, NULL]) paid,
		generate_series('2024-03-30'::date, '2024-04-02', '1 day') day,
		unnest(ARRAY['east', 'west']) region, unnest(ARRAY[1, 2, 3, NULL]) home, generate_series(1, 2) again;
-- no foreign key is looked up: each row is made of what these allow
RESET ROLE;
SET session_replication_role = replica;
-- n, coin and age: what lies beside and between the constants that keys compare undeclared columns with
INSERT INTO y.buyers SELECT person, CASE WHEN random() < 0.1 THEN (ARRAY['p', 'nut', 'north', 'small', 'south'])[1 + floor(5 * random())::int] ELSE region END,
	home, nullif(person % 6, 5) * 10 + 10 FROM every;
INSERT INTO y.sales SELECT person, shop, item, CASE WHEN random() < 0.1 THEN (ARRAY['nut', 'bolt', 'saw', 'north', 'south', 'small'])[1 + floor(6 * random())::int] ELSE channel END,
	CASE WHEN random() < 0.1 THEN 7 ELSE grade END, cost, paid, day, CASE WHEN random() < 0.1 THEN (ARRAY['k9', 'nut', 'bolt', 'saw', 'north', 'south', 'small'])[1 + floor(7 * random())::int] ELSE (ARRAY['k1', 'k2', 'k3', NULL])[1 + floor(4 * random())::int] END,
	timestamptz '2024-03-27 00:00 UTC' + floor(random() * 11 * 24 * 60) * interval '1 minute', nullif(person % 6, 5) - 1, nullif((person / 6) % 3, 2)::boolean
	FROM every;
RESET session_replication_role;
SET ROLE fuzz_owner;

-- at most 2 rows of a person
SELECT format($$
INSERT INTO %1$s.buyers SELECT person, CASE WHEN region IN ('east', 'west') THEN region ELSE 'west' END, home, age FROM y.buyers WHERE person <= 150;
INSERT INTO %1$s.buyers VALUES (777, 'east', 1, 40);
INSERT INTO %1$s.sales SELECT person %% 150 + 1, shop, item, channel, grade, cost, paid, day, code, seen, n, coin
	FROM (SELECT row_number() OVER () AS person, y.* FROM y.sales y WHERE cost < 2 AND grade < 4 AND (code IS NULL OR code IN ('k1', 'k2', 'k3'))
		AND (channel IS NULL OR channel IN ('web', 'shop', 'phone')) LIMIT 280) y
		(person, old, shop, item, channel, grade, cost, paid, day, code, seen, n, coin);
INSERT INTO %1$s.sales VALUES (777, 1, 'nut', 'web', 1, 1.5, true, '2024-03-30', 'k1', '2024-03-30 12:00', 1, true),
	(777, 3, NULL, NULL, 3, 0.5, NULL, '2024-04-02', NULL, '2024-03-31 01:30 UTC', 2, false);
SELECT dp_cdp.protect_table('%1$s.buyers', '%1$s', unit => 'person');
SELECT dp_cdp.protect_table('%1$s.sales', '%1$s', unit => 'person');
SELECT dp_cdp.set_keys('%1$s.buyers', 'region', ARRAY['east', 'west']);
SELECT dp_cdp.set_keys('%1$s.sales', 'channel', ARRAY['web', 'shop', 'phone', NULL]);
SELECT dp_cdp.set_keys('%1$s.sales', 'grade', ARRAY[1, 2, 3]);
SELECT dp_cdp.set_keys('%1$s.sales', 'cost', ARRAY[0.5, 1.5]);
-- NULL is a key of it, too
SELECT dp_cdp.set_keys('%1$s.sales', 'code', ARRAY['k1', 'k2', 'k3']);
SELECT dp_cdp.set_bounds('%1$s.sales', 'cost', 0, 2);
GRANT SELECT ON %1$s.v_sales, %1$s.v_paid TO fuzz_analyst;
$$, schema) FROM unnest(ARRAY['c', 'x']) AS schema
\gexec
\o
RESET ROLE;
VACUUM ANALYZE;
