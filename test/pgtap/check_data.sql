-- dp_cdp.check_data: what rows have that the policy does not say, for the owner who may read them, and for nobody else.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE owner2 LOGIN;
CREATE ROLE member1 LOGIN IN ROLE owner1;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO owner1', current_database()); END $$;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1, owner2;
SELECT no_plan();

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('clinic', rho => 1, max_groups => 2, max_rows => 3) \g /dev/null
-- 10 patients; patient n has n visits, and 5 visits are nobody's
CREATE TABLE visits (gone text, id int PRIMARY KEY, patient int, dept text, cost numeric, score float8, seen timestamptz, code char(3));
ALTER TABLE visits DROP gone;
INSERT INTO visits SELECT row_number() OVER (), p, (ARRAY['a', 'b', 'c', 'x', NULL])[1 + (n - 1) % 5], n * 100, n, '2024-01-01 00:00 UTC'::timestamptz + n * interval '1 day', 'k' || n % 2
	FROM generate_series(1, 10) p, generate_series(1, p) n;
INSERT INTO visits SELECT 100 + n, NULL, 'a', 0, 'NaN', '2024-01-01 12:00 UTC', 'k1' FROM generate_series(1, 5) n;
-- each visit has two drugs; one drug has no visit
CREATE TABLE drugs (visit int REFERENCES visits, name text);
INSERT INTO drugs SELECT id, d FROM visits, unnest('{p,q}'::text[]) d;
INSERT INTO drugs VALUES (NULL, 'p');
CREATE TABLE wards (ward text, beds int);
INSERT INTO wards VALUES ('east', 5), ('east', 500);
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE DOMAIN share AS real CHECK (value >= 0);
CREATE TABLE odd (unit int, mood mood, share share, born date, "the ""Key" text) PARTITION BY LIST (unit);
CREATE TABLE odd_1 PARTITION OF odd FOR VALUES IN (1);
INSERT INTO odd VALUES (1, 'glad', 0.5, '2024-02-29', 'é');
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient'), dp_cdp.protect_table('drugs', 'clinic', through => 'visit'),
	dp_cdp.protect_table('wards', 'clinic', each_row => true), dp_cdp.protect_table('odd', 'clinic', 'unit') \g /dev/null
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 0.5) \g /dev/null
SELECT dp_cdp.set_budget('clinic', 'owner1', rho => 0.5) \g /dev/null

CREATE FUNCTION findings() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s %s%s: %s [%s]', severity, object, '.' || "column", finding, number) FROM dp_cdp.check_data('clinic') $$;
SELECT results_eq('SELECT findings()', ARRAY[
	'warning public.drugs: 11 rows belong to nobody, and count in no answer [11]',
	'warning public.drugs: 9 of 10 people have more than 3 rows (max_rows): in one group at most 3 of each count [9]',
	'warning public.visits: 5 rows belong to nobody, and count in no answer [5]',
	'warning public.visits: 7 of 10 people have more than 3 rows (max_rows): in one group at most 3 of each count [7]'], 'before anything is declared');

SELECT dp_cdp.set_bounds('visits', 'cost', 100, 800.5, 0, 2000), dp_cdp.set_bounds('visits', 'score', 1, 10),
	dp_cdp.set_bounds('visits', 'seen', '2024-01-02 00:00+00', '2024-01-08 00:00+00'), dp_cdp.set_bounds('wards', 'beds', 0, 100),
	dp_cdp.set_bounds('odd', 'share', 0, 0.25), dp_cdp.set_bounds('odd', 'born', '2024-03-01', '2024-12-31') \g /dev/null
SELECT dp_cdp.set_keys('visits', 'dept', '{a,b,c,d,e,f,g,h,i}'::text[]), dp_cdp.set_keys('visits', 'code', '{k0,k1}'::text[]),
	dp_cdp.set_keys('wards', 'ward', '{east,west}'::text[]), dp_cdp.set_keys('odd', 'mood', '{sad,NULL}'::mood[]),
	dp_cdp.set_keys('odd', 'the "Key', '{é}'::text[]), dp_cdp.set_keys('drugs', 'name', '{p}'::text[]) \g /dev/null
-- dates are written alike whatever the session says
SET datestyle = 'German';
SET timezone = 'Asia/Tokyo';
SELECT results_eq($$SELECT f FROM findings() f WHERE f NOT LIKE '%people have more%' AND f NOT LIKE '%to nobody%'$$, ARRAY[
	'warning public.drugs.name: 60 rows have a value that is no declared key: they are in no group [60]'::text,
	'warning public.odd.mood: 1 rows have a value that is no declared key: they are in no group [1]',
	'info public.odd.mood: 1 declared key has no row: its group is noise around 0: sad [1]',
	'warning public.odd.share: 1 of 1 values are outside of the bounds 0 and 0.25, and count as the nearer one [1]',
	'warning public.odd.born: 1 of 1 values are outside of the bounds 2024-03-01 and 2024-12-31, and count as the nearer one [1]',
	'warning public.visits.dept: 8 of 10 people are in more than 2 of its groups (max_groups), and count in so many alone [8]',
	'info public.visits.dept: 7 rows have NULL here [7]',
	'warning public.visits.dept: 9 rows have a value that is no declared key: they are in no group [9]',
	'info public.visits.dept: 6 declared keys have no row: their groups are noise around 0: d, e, f, g, h, ... [6]',
	'warning public.visits.cost: 8 of 60 values are outside of the bounds 100 and 800.5, and count as the nearer one [8]',
	'warning public.visits.cost: the values of 5 of 10 people add up to less than 0 or more than 2000, and are cut to that [5]',
	'warning public.visits.score: 5 of 60 values are outside of the bounds 1 and 10, and count as the nearer one [5]',
	'warning public.visits.seen: 11 of 60 values are outside of the bounds 2024-01-02T00:00:00+00:00 and 2024-01-08T00:00:00+00:00, and count as the nearer one [11]',
	'info public.wards.ward: 1 declared key has no row: its group is noise around 0: west [1]',
	'warning public.wards.beds: 1 of 2 values are outside of the bounds 0 and 100, and count as the nearer one [1]'], 'what is declared, and what rows have');
RESET datestyle;
RESET timezone;
-- bounds that are ten times too wide, on either side of 0
CREATE FUNCTION wide(lower numeric, upper numeric) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT dp_cdp.set_bounds('visits', 'cost', lower, upper);
	SELECT f FROM findings() f WHERE f ~ 'within a tenth' $$;
SELECT is_empty(format('SELECT wide(%s, %s)', l, u), format('some need them: %s to %s', l, u)) FROM (VALUES (0, 9999.9), (-9999.9, 1000), (5, 1000)) v(l, u);
SELECT results_eq(format('SELECT wide(%s, %s)', l, u), ARRAY[format('info public.visits.cost: each of 60 values is within a tenth of the bounds %s and %s: sums have at least ten times the noise of narrower bounds [60]', l, u)],
	format('none does: %s to %s', l, u)) FROM (VALUES (0, 10000), (-10000, 1000)) v(l, u);
SELECT dp_cdp.set_bounds('visits', 'cost', 100, 800.5, 0, 2000) \g /dev/null
SELECT dp_cdp.alter_dataset('clinic', max_contribution => '4.5') \g /dev/null
SELECT is(count(*), 2::bigint, 'a norm that is declared') FROM findings() f WHERE f ~ 'have more than 4\.5 rows \(max_contribution\), and are scaled';
SELECT dp_cdp.alter_dataset('clinic', max_contribution => 'auto') \g /dev/null
SELECT is_empty($$SELECT f FROM findings() f WHERE f ~ 'people (have|are)'$$, 'limits that are found are none of it');
-- each remedy that is a statement names its table and column
SELECT is(count(*), 11::bigint, 'statements') FROM dp_cdp.check_data('clinic') WHERE remedy ~ format('^(SELECT dp_cdp\.set_(bounds|keys)\(''%s'', ''%s'',|ALTER TABLE %s ALTER)', object, "column", object);

-- how rows are spread over people, and over blocks of time
SELECT dp_cdp.create_dataset('months', rho => 1) \g /dev/null
CREATE TABLE spread (person int, day date);
CREATE TABLE parts (spread int, day date);
ALTER TABLE spread ADD id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE parts ADD FOREIGN KEY (spread) REFERENCES spread;
SELECT dp_cdp.protect_table('spread', 'months', 'person', block => 'day', every => '1 month'), dp_cdp.protect_table('parts', 'months', through => 'spread') \g /dev/null
CREATE FUNCTION months() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s %s%s: %s [%s]', severity, object, '.' || "column", finding, number) FROM dp_cdp.check_data('months') WHERE finding !~ 'nobody' $$;
CREATE FUNCTION spread(people int, rows int, heaviest int, of_each int) RETURNS SETOF text LANGUAGE sql AS $$
	TRUNCATE spread, parts;
	INSERT INTO spread SELECT p, '2024-01-01' FROM generate_series(1, people) p, generate_series(1, CASE WHEN p <= heaviest THEN of_each ELSE rows END);
	INSERT INTO spread VALUES (NULL, '2024-01-01'), (NULL, '2024-01-01');
	SELECT months() $$;
SELECT is_empty('SELECT spread(0, 0, 0, 0)', 'nobody at all');
SELECT is_empty('SELECT spread(300, 2, 3, 22)', 'a tenth of the rows is not too much for one person in a hundred');
SELECT results_eq('SELECT spread(300, 2, 3, 23)', ARRAY['info public.spread: the 3 people with most rows, of 300, have 69 of 663 rows: a limit cuts much of that, or noise grows with it [69]'], 'more is');
SELECT results_eq('SELECT spread(301, 1, 1, 200)', ARRAY['info public.spread: the 4 people with most rows, of 301, have 203 of 500 rows: a limit cuts much of that, or noise grows with it [203]'], 'a hundredth is rounded up');
SELECT is_empty('SELECT spread(19, 1, 1, 100)', 'among few people one has always much');
SELECT isnt_empty('SELECT spread(20, 1, 1, 100)', '... until there are twenty');
SELECT is_empty('SELECT spread(9, 10, 0, 0)', 'few values in few rows');
SELECT results_eq('SELECT spread(9, 10, 1, 11)', ARRAY['warning public.spread.person: 91 rows have 9 different values here: is each of them one person? [9]'], '... in more rows');
SELECT is_empty('SELECT spread(10, 1000, 0, 0)', 'more values in many rows');
SELECT results_eq('SELECT spread(10, 1000, 1, 1001)', ARRAY['warning public.spread.person: 10001 rows have 10 different values here: is each of them one person? [10]'], '... in too many');
SELECT is_empty('SELECT spread(100, 1001, 0, 0)', 'a hundred are enough');
INSERT INTO spread VALUES (1, NULL), (2, NULL), (2, '-infinity');
INSERT INTO parts SELECT min(id), NULL FROM spread;
SELECT results_eq('SELECT m FROM months() m WHERE m ~ ''block''',
	ARRAY['info public.spread.day: 2 rows have NULL here: they are in the first block of time, and only queries without a lower end read them [2]'], 'rows without a time');
SELECT throws_ok($$UPDATE spread SET day = '2024-01-01' WHERE day IS NULL$$, 'ZC004', NULL, 'they cannot be given one');
SELECT lives_ok($$DELETE FROM spread WHERE day IS NULL AND id NOT IN (SELECT spread FROM parts)$$, 'but be deleted, as is the remedy');

-- the dataset of a table whose name is given
CREATE FUNCTION hint_of(asked text, call text DEFAULT 'check_data') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE format('SELECT dp_cdp.%I($1)', call) USING asked;
EXCEPTION WHEN SQLSTATE 'ZC004' THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END $$;
SELECT is(hint_of(asked), 'Table public.spread is protected in dataset months: name ''months''.', 'names it: ' || asked) FROM unnest('{spread,public.spread}'::text[]) asked;
SELECT is(hint_of('spread', 'report'), hint_of('spread'), 'for other functions, too');
CREATE SCHEMA beside CREATE TABLE spread (person int);
SELECT dp_cdp.protect_table('beside.spread', 'clinic', 'person') \g /dev/null
SELECT is(hint_of('spread'), 'Table beside.spread is protected in dataset clinic: name ''clinic''.'
	' Table public.spread is protected in dataset months: name ''months''.', 'or both');
SELECT is(hint_of(asked), 'SELECT dataset FROM dp_cdp.datasets names those that are there.', 'of no table: ' || coalesce(asked, 'NULL')) FROM unnest('{none,other.spread,NULL}'::text[]) asked;
SET SESSION AUTHORIZATION analyst1;
SELECT unalike(hint_of('public.spread'), '%months%', 'nor of one that the role cannot see');
SET SESSION AUTHORIZATION owner1;
DROP SCHEMA beside CASCADE;
DROP TABLE parts, spread;

-- it costs nothing, whoever has a budget
RESET SESSION AUTHORIZATION;
SELECT is(sum(rho_spent), 0::numeric, 'nothing was debited') FROM (SELECT rho_spent FROM dp_cdp_internal.budget UNION ALL SELECT rho_spent FROM dp_cdp_internal.dataset) b;
SELECT is_empty('SELECT FROM dp_cdp_internal.release_log', 'nor is it in the audit');

-- who may ask
SELECT isnt_empty($$SELECT dp_cdp.check_data('clinic')$$, 'a superuser');
SET SESSION AUTHORIZATION member1;
SELECT isnt_empty($$SELECT dp_cdp.check_data('clinic')$$, 'who inherits from the owner');
SET SESSION AUTHORIZATION analyst1;
SELECT throws_ok($$SELECT dp_cdp.check_data('clinic')$$, '42501', 'must be owner of dataset "clinic" to check its data', 'no analyst');
SELECT throws_ok($$SELECT dp_cdp.check_data('none')$$, 'ZC004', NULL, 'nor of a dataset that is not there');
SELECT throws_ok($$SELECT dp_cdp.check_data(NULL)$$, 'ZC004', NULL, '... or is NULL');
SELECT throws_ok($$SELECT dp_cdp_internal.people_source('visits')$$, '42501', 'must be allowed to read the rows of table public.visits, to check them: have SELECT on it granted', 'nor by its parts');
SELECT ok(NOT dp_cdp_internal.may_read('visits'), 'who may not read');
RESET SESSION AUTHORIZATION;
-- an owner of the dataset who may not read rows is told nothing, and is given no private answer for it
ALTER TABLE wards OWNER TO owner2;
REVOKE ALL ON wards FROM owner1;
SET SESSION AUTHORIZATION owner1;
SELECT throws_ok($$SELECT dp_cdp.check_data('clinic')$$, '42501', 'must be allowed to read the rows of table public.wards, to check them: have SELECT on it granted', 'an owner who may not read');
RESET SESSION AUTHORIZATION;
GRANT SELECT ON wards TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT isnt_empty($$SELECT dp_cdp.check_data('clinic')$$, '... until he may');
-- SET ROLE takes nobody's eyes away: the session is the analyst's
RESET SESSION AUTHORIZATION;
GRANT owner1 TO analyst1;
ALTER ROLE analyst1 NOINHERIT;
SET SESSION AUTHORIZATION analyst1;
SET ROLE owner1;
SELECT throws_ok($$SELECT dp_cdp.check_data('clinic')$$, '42501', NULL, 'not in the session of an analyst');
RESET ROLE;
RESET SESSION AUTHORIZATION;
REVOKE owner1 FROM analyst1;
SELECT is(sum(rho_spent), 0::numeric, 'still nothing was debited') FROM dp_cdp_internal.budget;

-- not within a private query, also by a function of the owner's own
SET SESSION AUTHORIZATION owner1;
CREATE FUNCTION hidden() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT max(number) FROM dp_cdp.check_data('clinic')); END $$;
SELECT throws_ok(q, 'ZC002', NULL, 'refused: ' || q) FROM unnest(ARRAY[
	$$SELECT dp_count(*) FROM visits, dp_cdp.check_data('clinic')$$,
	$$SELECT dp_count(*) FROM visits WHERE cost > (SELECT max(number) FROM dp_cdp.check_data('clinic'))$$,
	$$SELECT dp_count(*) FROM visits, hidden() h$$]) q;
SELECT is(sum(rho_spent), 0::numeric, 'for nothing') FROM dp_cdp.budgets WHERE role = 'owner1'::regrole;
-- what is computed with a result comes after the charge, as everywhere
SELECT throws_ok(q, 'ZC002', NULL, 'refused: ' || q) FROM unnest(ARRAY[
	$$SELECT dp_count(*), (SELECT max(number) FROM dp_cdp.check_data('clinic')) FROM visits$$,
	$$SELECT dp_count(*) + hidden() FROM visits$$]) q;
SELECT isnt_empty($$SELECT dp_cdp.check_data('clinic')$$, 'after that it goes on');
RESET SESSION AUTHORIZATION;

SELECT * FROM finish();
