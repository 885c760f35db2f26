-- What "make fuzz-neighbours" adds to fixture.sql; run by a superuser in the
-- database that all others are copied from.
--
-- Table costs has what depends on the order of rows where somebody is not
-- careful: sums that round, equal values that are written differently.
-- Person 777 has tame values in schema x, too.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE ROLE fuzz_nobody LOGIN;			-- without a budget
SET ROLE fuzz_owner;
CREATE COLLATION pub.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION pub.words (provider = icu, locale = 'de');
RESET ROLE;
CREATE EXTENSION citext SCHEMA public;
SET ROLE fuzz_owner;

SELECT format($$
CREATE TABLE %1$s.costs (person int, day date, cost float8, r real, big float8, amount numeric, span interval,
	code bpchar, word text COLLATE pub.nocase, place text COLLATE pub.words, note text, props jsonb,
	tags text[], stay int4range, addr inet);
-- three rows each, of two days, in an order of their own
INSERT INTO %1$s.costs SELECT p, date '2024-01-01' + (i + p) %% 2, (ARRAY[0.1, 0.2, 0.3])[1 + (i * (1 + p %% 2) + p) %% 3],
	(ARRAY[0.1, 0.2, 0.3])[1 + (i + p) %% 3], (ARRAY[1e16, 1, -1e16])[1 + (i + p) %% 3], (ARRAY[1.0, 1.00, 1.000])[1 + (i + p) %% 3],
	(ARRAY['1 mon', '30 days', '720:00'])[1 + (i + p) %% 3]::interval, (ARRAY['ab', 'ab ', 'ab  '])[1 + (i + p) %% 3],
	(ARRAY['abc', 'ABC', 'Abc'])[1 + (i + p) %% 3], 'place' || (i + p) %% 5, 'note' || p %% 40,
	jsonb_build_object('k', 'v' || p %% 4, 'n', jsonb_build_array(i %% 3, p %% 5), 'o', jsonb_build_object('a', p %% 7)),
	(ARRAY['{red}', '{red,blue}', '{}', '{NULL,green}', NULL])[1 + p %% 5]::text[], (ARRAY['[1,4)', '[2,)', 'empty', '(,3)', NULL])[1 + (i + p) %% 5]::int4range,
	(ARRAY['10.0.0.1', '10.1.0.0/16', '::1', NULL])[1 + (i + p) %% 4]::inet
	FROM generate_series(1, 240) p, generate_series(1, 3) i ORDER BY (p * 7 + i * 131) %% 720;
SELECT dp_cdp.protect_table('%1$s.costs', '%1$s', unit => 'person');
SELECT dp_cdp.set_bounds('%1$s.costs', 'cost', 0, 60);
$$, schema) FROM unnest(ARRAY['c', 'x']) AS schema
\o /dev/null
\gexec
-- equal values that are written differently; at most three of a person, as of each other column
ALTER TABLE c.costs ADD mail citext;
ALTER TABLE x.costs ADD mail citext;
UPDATE c.costs SET mail = (ARRAY['mail', 'Mail', 'MAIL'])[1 + (person + extract(day FROM day)::int) % 3] || person % 5;
UPDATE x.costs SET mail = (ARRAY['mail', 'Mail', 'MAIL'])[1 + (person + extract(day FROM day)::int) % 3] || person % 5;
-- keys that have whose rows these are, two tables up from trips
SELECT format($$
ALTER TABLE %1$s.legs ADD UNIQUE (leg, trip);
CREATE TABLE %1$s.tolls (leg int, trip int, paid int, FOREIGN KEY (leg, trip) REFERENCES %1$s.legs (leg, trip) ON DELETE CASCADE);
SELECT dp_cdp.protect_table('%1$s.tolls', '%1$s', through => 'leg, trip');
$$, schema) FROM unnest(ARRAY['c', 'x']) AS schema
\gexec
-- the same for all rows of a day of visits
UPDATE c.costs SET big = 1e308 WHERE person = 5;

INSERT INTO c.costs VALUES (777, '1871-03-05', 'NaN', 'Infinity', 1e308, 1e300, '178000000 years', 'zqcanary', 'zqcanary', 'zqcanary', repeat('a', 900),
		'{"k": "zqcanary", "n": "zqcanary", "zqcanary": 1}'),
	(777, '2024-01-01', 0.3, -3e38, -1e308, 1.00000000, '-178000000 years', '', '', '', repeat('a', 900),
		('{"n": ' || repeat('[', 1000) || repeat(']', 1000) || ', "o": {"a": 1e300}, "k": "' || repeat('a', 900) || '"}')::jsonb),
	(101, 'infinity', '-Infinity', 'NaN', 'NaN', 'NaN', '0', NULL, 'AbC', NULL, NULL, '[null, [], "a"]'),
	(101, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'null');
-- arrays without bound, of two dimensions, and of an odd start
UPDATE c.costs SET tags = CASE WHEN note = 'zqcanary' THEN array_fill('zqcanary'::text, '{3000}') ELSE '{{red,blue},{a,NULL}}' END,
	stay = CASE WHEN note = 'zqcanary' THEN 'empty' ELSE '[-2147483648,2147483647)' END::int4range, addr = '0.0.0.0/0' WHERE person = 777;
UPDATE c.costs SET tags = '[-7:-6]={red,blue}', stay = '(,)' WHERE person = 101 AND day IS NOT NULL;
-- a value that lies out of line
UPDATE c.costs SET note = (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i) WHERE person = 777 AND note <> 'zqcanary';
UPDATE c.costs SET mail = CASE WHEN note = 'zqcanary' THEN repeat('zqCANARY', 80000) ELSE 'ZQcanary' END WHERE person = 777;
INSERT INTO x.people VALUES (777, 'name1', 1950, '101', true);
INSERT INTO x.visits SELECT 7654322 + i, 777, 'a', 'good', 'city' || i, true, i, i, i, '2024-02-01', i FROM generate_series(1, 3) i;
INSERT INTO x.tides VALUES (777, '2024-02-01', 'a', 1, 1), (777, '2024-03-31', 'c', 3, 2.5);
INSERT INTO x.stays VALUES (777, 'ward1', 1, 1), (777, 'ward2', 2, 2);
INSERT INTO c.trips VALUES (7771, 777, 'zqcanary');
INSERT INTO c.legs VALUES (7771, 7771, 7654321), (7772, 7771, NULL);
INSERT INTO x.trips VALUES (7771, 777, 'car'), (7772, 777, 'car');
INSERT INTO x.legs VALUES (7771, 7771, 1), (7772, 7771, 2), (7773, 7772, 3);
INSERT INTO x.scans VALUES (7771, 1), (7772, 2);
INSERT INTO c.tolls SELECT leg, trip, leg % 5 FROM c.legs;
INSERT INTO x.tolls SELECT leg, trip, leg % 5 FROM x.legs;
INSERT INTO x.events VALUES (77701, 0, 777, '2024-02-03 04:05', '2024-02-05 06:07', 'kind1', 3.5, 5), (77702, 1, 777, '2024-05-06 23:59:59.9', '2024-05-06 23:59:59.9', 'kind2', 1, 0);
INSERT INTO x.parts VALUES (77701, 0, 'label1', 3), (77702, 1, 'label2', 4);
INSERT INTO x.cards VALUES ('p777', '2024-01-05', 3, 3.75), ('p777', '2024-02-06', 1, 0.5);
INSERT INTO x.phones VALUES (md5('p777')::uuid, 'area1', 4, '2024-03-31 01:30 UTC'), (md5('p777')::uuid, 'area2', 3, '2024-04-30 23:59 UTC');
INSERT INTO x.logs VALUES (777, '2024-02-01', 1, 1), (777, '2024-07-01', -2, 2);
INSERT INTO x.costs VALUES (777, '2024-01-01', 0.1, 0.1, 1, 1.0, '1 mon', 'ab', 'abc', 'place1', 'note1'),
	(777, '2024-01-02', 0.2, 0.2, 1e16, 1.00, '30 days', 'ab ', 'ABC', 'place2', repeat('a', 900)),
	(777, '2024-01-02', 0.3, 0.3, -1e16, 1.000, '720:00', 'ab  ', 'Abc', 'place3', repeat('a', 900));
UPDATE x.costs SET mail = 'MAIL' || place WHERE person = 777;

-- an enum and a collation that somebody else owns are the analyst's in schema own
RESET ROLE;
GRANT USAGE ON SCHEMA own TO fuzz_poor, fuzz_nobody;
-- shows columns, of which no foreign key can be made
GRANT REFERENCES (dept, city, n) ON c.visits, x.visits TO fuzz_analyst, fuzz_poor;
-- the limit can also be neared by recursion
GRANT SET ON PARAMETER max_stack_depth TO fuzz_analyst, fuzz_poor, fuzz_nobody;
SET ROLE fuzz_analyst;
-- more than a process has places of its own for
SELECT format('CREATE TABLE own.l%s ()', i) FROM generate_series(1, 40) i
\gexec
CREATE FUNCTION own.deep(n int, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF n > 0 THEN
		RETURN own.deep(n - 1, query);
	END IF;
	EXECUTE query;
	RETURN 'done';
END $$;
CREATE FUNCTION own.safely(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION own.dropper(what text) RETURNS int LANGUAGE plpgsql COST 1 AS $$
BEGIN
	EXECUTE 'DROP ' || what;
	RETURN 1;
END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA own TO fuzz_poor, fuzz_nobody;
RESET ROLE;
-- how often a release may fail is not what is looked for here
DO $$ BEGIN
	PERFORM dp_cdp.alter_dataset(d, max_failures => 1000000000) FROM unnest(ARRAY['c', 'x', 'replaced', 'vault']) d;
EXCEPTION WHEN undefined_function THEN NULL;
END $$;
ALTER SYSTEM SET autovacuum = off;
SELECT pg_reload_conf();
SELECT dp_cdp.harden();
