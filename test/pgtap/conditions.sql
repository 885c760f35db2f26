-- Whichever way a condition is written, the groups of an answer are those that it
-- leaves: random conditions, in zones where clocks are set, are compared with what plain
-- SQL makes of all moments of a grid, or of all integers, for which they hold.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE events (person int NOT NULL, kind text NOT NULL, day date NOT NULL, at timestamp NOT NULL, seen timestamptz NOT NULL, n int NOT NULL,
	small smallint NOT NULL, price numeric(6,1) NOT NULL);
INSERT INTO events SELECT i, (ARRAY['a', 'b'])[1 + i % 2], date '2024-03-05' + i % 40, timestamp '2024-03-05' + i * interval '23 minutes',
	timestamptz '2024-03-05 UTC' + i * interval '23 minutes', i % 20, i % 7, i % 100 FROM generate_series(1, 2500) i;
SELECT dp_cdp.create_dataset('shop', default_rho => 500, max_rows => 1, max_groups => 1);
SELECT dp_cdp.protect_table('events', 'shop', 'person');
SELECT dp_cdp.set_keys('events', 'kind', ARRAY['a', 'b']);
SELECT dp_cdp.set_bounds('events', c, '2024-03-05', '2024-04-13') FROM unnest(ARRAY['day', 'at', 'seen']) c;
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1000000);
RESET SESSION AUTHORIZATION;

\ir analyst.psql
\ir same.psql

SELECT no_plan();

-- ------------------------------------------------------------------------
-- times
-- ------------------------------------------------------------------------

-- comparisons of {} with moments, days, times of the day and lengths of time on a grid of five minutes
CREATE FUNCTION random_moment() RETURNS text LANGUAGE sql VOLATILE
	AS $$ SELECT format('timestamp %L', timestamp '2024-03-04' + floor(random() * 12096) * interval '5 minutes') $$;
CREATE FUNCTION random_day() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT format('date %L', date '2024-03-04' + floor(random() * 42)::int) $$;
CREATE FUNCTION random_sign() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT (ARRAY['<', '<=', '>', '>=', '<', '>='])[1 + floor(random() * 6)] $$;

CREATE FUNCTION random_comparison(is_zoned boolean) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	sign text := random_sign();
	span text := format('interval %L', (ARRAY['1 day', '90 minutes', '1 month', '30 days 5 hours', '-2 days', '1 mon -3 days'])[1 + floor(random() * 6)]);
BEGIN
	RETURN CASE floor(random() * CASE WHEN is_zoned THEN 21 ELSE 19 END)
		WHEN 0 THEN format('{} %s %s', sign, random_moment())
		WHEN 1 THEN format('%s %s {}', random_day(), sign)
		WHEN 2 THEN format('{} BETWEEN %s AND %s', random_moment(), random_moment())
		WHEN 3 THEN format('{} BETWEEN SYMMETRIC %s AND %s', random_moment(), random_day())
		WHEN 4 THEN format('{}::date %s %s', sign, random_day())
		WHEN 5 THEN format('{}::date IN (%s, %s)', random_day(), random_day())
		WHEN 6 THEN format('{}::date <> %s', random_day())
		WHEN 7 THEN format('{} + %s %s %s', span, sign, random_moment())
		WHEN 8 THEN format('{} - %s %s %s', span, sign, random_day())
		WHEN 9 THEN format('%s::%s - {} %s interval %L', random_moment(), CASE WHEN is_zoned THEN 'timestamptz' ELSE 'timestamp' END, sign,
						   (ARRAY['10 days', '-3 days', '400 hours', '1 month'])[1 + floor(random() * 4)])
		WHEN 10 THEN format('age(%s::%s, {}) %s interval %L', random_moment(), CASE WHEN is_zoned THEN 'timestamptz' ELSE 'timestamp' END, sign,
							(ARRAY['10 days', '-3 days', '35 days', '1 month'])[1 + floor(random() * 4)])
		WHEN 11 THEN format('extract(epoch FROM {}) %s extract(epoch FROM %s)', sign, random_moment())
		WHEN 12 THEN format('date_trunc(%L, {}) %s %s', (ARRAY['day', 'week', 'month', 'hour'])[1 + floor(random() * 4)], sign, random_day())
		WHEN 13 THEN format('greatest({}, %s) %s %s', random_moment(), sign, random_moment())
		WHEN 14 THEN format('least({}, %s) %s %s', random_day(), sign, random_moment())
		WHEN 15 THEN format('{}::time BETWEEN %L AND %L', time '00:00' + floor(random() * 24) * interval '1 hour', time '00:00' + floor(random() * 288) * interval '5 minutes')
		WHEN 16 THEN format('extract(%s FROM {}) %s %s', (ARRAY['month', 'day', 'dow', 'hour'])[1 + floor(random() * 4)], sign, floor(random() * 6))
		WHEN 17 THEN format('{}::date - %s %s %s', random_day(), sign, floor(random() * 20 - 10))
		WHEN 18 THEN format('{}::date IS NOT DISTINCT FROM %s', random_day())
		WHEN 19 THEN format('{} AT TIME ZONE %L %s %s', (ARRAY['Asia/Tokyo', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata'])[1 + floor(random() * 4)], sign, random_moment())
		ELSE format('({} AT TIME ZONE %L)::date %s %s', (ARRAY['Asia/Tokyo', 'America/New_York', 'Europe/Berlin'])[1 + floor(random() * 3)], sign, random_day())
	END;
END $$;

CREATE FUNCTION random_condition(is_zoned boolean, depth int) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN depth = 0 OR random() < 0.2 THEN random_comparison(is_zoned)
		WHEN random() < 0.3 THEN format('NOT (%s)', random_condition(is_zoned, depth - 1))
		WHEN random() < 0.1 THEN format('CASE WHEN %s THEN true ELSE false END', random_condition(is_zoned, depth - 1))
		WHEN random() < 0.1 THEN format('coalesce(%s, false)', random_condition(is_zoned, depth - 1))
		ELSE format('(%s %s %s)', random_condition(is_zoned, depth - 1), CASE WHEN random() < 0.5 THEN 'AND' ELSE 'OR' END, random_condition(is_zoned, depth - 1)) END $$;

CREATE FUNCTION random_key(is_zoned boolean) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT (ARRAY['{}::date', 'date_trunc(''week'', {})', 'extract(hour FROM {})', 'to_char({}, ''MM-DD HH24'')', 'extract(dow FROM {})', 'date_trunc(''month'', {})',
		'CASE WHEN {} < timestamp ''2024-03-20'' THEN ''first'' WHEN {}::date <= ''2024-04-01'' THEN ''middle'' ELSE ''last'' END', '{}::date = ''2024-03-25''',
		'({} AT TIME ZONE ''Asia/Tokyo'')::date'])[1 + floor(random() * CASE WHEN is_zoned THEN 9 ELSE 8 END)] $$;

-- the groups under a random condition, and plain SQL's over the grid
CREATE FUNCTION same_groups(col text, zone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	is_zoned boolean := col = 'seen';
	condition text := format('{} >= timestamp ''2024-03-05'' AND {} < timestamp ''2024-04-13'' AND %s', random_condition(is_zoned, 2));
	key text := random_key(is_zoned);
	about text := format('%s WHERE %s, %s', replace(key, '{}', col), replace(condition, '{}', col), zone);
	answer text;
	wanted text;
BEGIN
	answer := rows_for('analyst1', format('SELECT k FROM (SELECT %s AS k, count(*) FROM events WHERE %s GROUP BY 1) q',
										  replace(key, '{}', col), replace(condition, '{}', col)));
	wanted := rows_for('owner1', format('SELECT DISTINCT %s AS k FROM generate_series(%s, %s, ''5 minutes'') c WHERE %s', replace(key, '{}', 'c'),
										format('%s ''2024-03-05''', CASE WHEN is_zoned THEN 'timestamptz' ELSE 'timestamp' END),
										format('%s ''2024-04-13''', CASE WHEN is_zoned THEN 'timestamptz' ELSE 'timestamp' END), replace(condition, '{}', 'c')));
	RETURN is(answer, wanted, about);
END $$;

CREATE FUNCTION in_zone(zone text, col text, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('TimeZone', zone, false);
	RETURN QUERY SELECT same_groups(col, zone) FROM generate_series(1, n);
	PERFORM set_config('TimeZone', 'UTC', false);
END $$;

SELECT setseed(0.42);
SELECT in_zone('UTC', 'at', 60);
SELECT in_zone('UTC', 'seen', 40);
SELECT in_zone('Europe/Berlin', 'seen', 40);
SELECT in_zone('America/New_York', 'seen', 40);
SELECT in_zone('Australia/Lord_Howe', 'seen', 40);
-- there a day begins twice, on 7 April
SELECT in_zone('STD0DST-1,M1.1.0/0,M4.1.0/1', 'seen', 60);

-- what is not distinct from a value that is none, or not a constant
SELECT as_written('SELECT count(*) FROM events WHERE ' || c) FROM unnest(ARRAY['extract(month FROM nullif(at, at)) IS NOT DISTINCT FROM extract(month FROM nullif(at, at))',
	'nullif(kind, kind) IS NOT DISTINCT FROM substring(''abc'' from ''z'')', '(nullif(seen, seen) AT TIME ZONE ''UTC'') IS NOT DISTINCT FROM (nullif(seen, seen) AT TIME ZONE ''UTC'')']) c;
SELECT as_written('SELECT at::date, count(*) FROM events WHERE least(at, timestamp ''2026-01-01'') - interval ''1 month'' <= ''2024-02-29 03:00'' AND at >= ''2024-03-29 04:00'' AND at < ''2024-04-03'' GROUP BY 1');

-- beyond the first and the last moment there is nothing, and no error
SELECT as_written(format('SELECT at::date, count(*) FROM events WHERE %s GROUP BY 1', c)) FROM unnest(ARRAY[
	'at > ''294276-12-31 23:59:59.999999''', 'at < ''4714-11-24 BC''', 'at::date > ''294276-12-31''', 'at::date < ''4714-11-24 BC''', 'at + interval ''290000 years'' < ''2024-01-01''']) c;
SELECT is(rows_for('analyst1', 'SELECT at::date, count(*) FROM events WHERE at - interval ''290000 years'' > ''20000-01-01'' GROUP BY 1'), 'none', 'nor where PostgreSQL raises one');
SELECT as_written(format('SELECT day, count(*) FROM events WHERE %s GROUP BY 1', c)) FROM unnest(ARRAY[
	'day > ''5874897-12-31''', 'day < ''4714-11-24 BC''', 'day - date ''2024-03-05'' > 2147483647']) c;

-- ------------------------------------------------------------------------
-- integers
-- ------------------------------------------------------------------------

CREATE FUNCTION random_number() RETURNS int LANGUAGE sql VOLATILE AS $$ SELECT floor(random() * 24)::int - 2 $$;
CREATE FUNCTION random_integers(depth int) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN depth = 0 OR random() < 0.3 THEN (ARRAY[
			format('{} %s %s', random_sign(), random_number()), format('%s %s {}', random_number(), random_sign()), format('{} = %s', random_number()),
			format('{} <> %s', random_number()), format('{} IN (%s, %s)', random_number(), random_number()), format('{} NOT IN (%s, %s)', random_number(), random_number()),
			format('{} BETWEEN SYMMETRIC %s AND %s', random_number(), random_number()), format('{} - 1 %s %s', random_sign(), random_number()),
			format('%s - {} %s %s', random_number(), random_sign(), random_number()), format('2 * {} %s %s', random_sign(), random_number()),
			format('-{} %s -%s', random_sign(), abs(random_number())), format('{} %s %s.5', random_sign(), abs(random_number())), format('{} IS NOT DISTINCT FROM %s', random_number()),
			format('{} %% 3 = %s', random_number() % 3)])[1 + floor(random() * 14)]
		WHEN random() < 0.3 THEN format('NOT (%s)', random_integers(depth - 1))
		ELSE format('(%s %s %s)', random_integers(depth - 1), CASE WHEN random() < 0.5 THEN 'AND' ELSE 'OR' END, random_integers(depth - 1)) END $$;

CREATE FUNCTION same_integers(col text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	least int := random_number();
	condition text := format('{} BETWEEN %s AND %s AND %s', least, least + 12, random_integers(2));
	key text := (ARRAY['{}', '{} + 1', '{} / 5', '{} % 4', 'CASE WHEN {} < 7 THEN ''few'' ELSE ''many'' END', '{} * 10', 'width_bucket({}, 0, 20, 5)'])[1 + floor(random() * 7)];
	before float8 := selected();
	about text := format('%s WHERE %s', replace(key, '{}', col), replace(condition, '{}', col));
BEGIN
	RETURN NEXT is(rows_for('analyst1', format('SELECT k FROM (SELECT %s AS k, count(*) FROM events WHERE %s GROUP BY 1) q', replace(key, '{}', col), replace(condition, '{}', col))),
				   rows_for('owner1', format('SELECT DISTINCT %s AS k FROM generate_series(-100, 100) c WHERE %s', replace(key, '{}', 'c'), replace(condition, '{}', 'c'))), about);
	RETURN NEXT is(selected(), before, '... without a selection: ' || about);
END $$;

SELECT same_integers(CASE WHEN i % 3 = 0 THEN 'small' ELSE 'n' END) FROM generate_series(1, 80) i;

-- beyond what is declared there are rows in tiers, too
SET SESSION AUTHORIZATION owner1;
CREATE TABLE late (person int NOT NULL, at timestamp NOT NULL, day date NOT NULL, n int NOT NULL);
INSERT INTO late SELECT i, timestamp '2024-02-01' + i * interval '2 hours', date '2024-02-01' + i / 12, i % 20 FROM generate_series(1, 1200) i;
SELECT dp_cdp.protect_table('late', 'shop', 'person');
SELECT dp_cdp.set_bounds('late', c, '2024-03-05', '2024-04-13') FROM unnest(ARRAY['at', 'day']) c;
RESET SESSION AUTHORIZATION;
SELECT as_declared(s, s) FROM unnest(ARRAY['SELECT CASE WHEN at < ''2024-05-01'' THEN ''a'' ELSE ''b'' END, count(*) FROM late GROUP BY 1', 'SELECT at < ''2024-02-10'', count(*) FROM late GROUP BY 1',
	'SELECT CASE WHEN day < ''2024-03-01'' THEN ''x'' WHEN day < ''2024-04-01'' THEN ''a'' ELSE ''b'' END, count(*) FROM late GROUP BY 1']) s;
-- which rows a FULL JOIN of public rows has is not known
SELECT as_written(s, s) FROM unnest(ARRAY['SELECT n, count(*) FROM late JOIN ((VALUES (1), (3)) a (n) FULL JOIN (VALUES (3), (4)) b (n) USING (n)) USING (n) GROUP BY 1',
	'SELECT late.n, count(*) FROM late JOIN (SELECT a.k FROM (VALUES (B''1'', 1)) a(x, k) FULL JOIN (VALUES (B''1''), (B''0'')) b(x) ON a.x = b.x) q ON late.n = q.k GROUP BY 1']) s;

-- joins with constants, and lists that are left out
SELECT as_declared(s, s) FROM unnest(ARRAY[
	'SELECT n + 1, count(*) FROM events JOIN (VALUES (3), (5), (NULL)) v (k) ON n = k GROUP BY 1', 'SELECT n / 5, count(*) FROM events JOIN (SELECT 7 AS k) v ON k = n GROUP BY 1',
	'SELECT date_trunc(''week'', day), count(*) FROM events, (VALUES (date ''2024-03-06'', 1), (''2024-03-28'', 2)) v (k, l) WHERE day = k GROUP BY 1',
	'SELECT date_trunc(''week'', at), count(*) FROM events JOIN (VALUES (date ''2024-03-06''), (''2024-03-28'')) v (k) ON at::date = k GROUP BY 1',
	'SELECT width_bucket(n, 0, 20, 5), count(*) FROM events JOIN (VALUES (3), (15)) v (k) ON n = k GROUP BY 1',
	'SELECT n, count(*) FROM events WHERE n BETWEEN 2 AND 9 AND n <> 4 AND n NOT IN (5, 7) AND NOT n = 8 GROUP BY 1',
	'SELECT CASE WHEN price < 10 THEN ''low'' WHEN price < 50 THEN ''middle'' ELSE ''high'' END, count(*) FROM events WHERE price * 12 < 100 GROUP BY 1',
	'SELECT price > 50, count(*) FROM events WHERE 100 - price < 20 GROUP BY 1']) s;

-- ------------------------------------------------------------------------
-- how many rows of a group a person has
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
CREATE TABLE people (person int PRIMARY KEY, plan text NOT NULL);
INSERT INTO people SELECT i, (ARRAY['free', 'paid'])[1 + i % 2] FROM generate_series(1, 100) i;
CREATE TABLE visits (id int PRIMARY KEY, person int NOT NULL, kind text NOT NULL, day date NOT NULL, device text NOT NULL);
INSERT INTO visits SELECT i, 1 + i % 100, (ARRAY['a', 'b'])[1 + i % 2], date '2024-03-05' + i % 7, (ARRAY['x', 'y', 'z'])[1 + i % 3] FROM generate_series(1, 3000) i;
CREATE TABLE plans (plan text PRIMARY KEY, price int NOT NULL);
INSERT INTO plans VALUES ('free', 0), ('paid', 9);
SELECT dp_cdp.create_dataset('many', default_rho => 20000, max_rows => 48, max_groups => 32);
SELECT dp_cdp.protect_table(t, 'many', 'person') FROM unnest(ARRAY['people', 'visits']::regclass[]) t;
SELECT dp_cdp.set_keys('visits', 'kind', ARRAY['a', 'b']), dp_cdp.set_keys('visits', 'device', ARRAY['x', 'y', 'z']), dp_cdp.set_keys('people', 'plan', ARRAY['free', 'paid']);
SELECT dp_cdp.set_budget('many', 'analyst1', rho => 1000000);
GRANT SELECT ON plans TO analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.preview TO analyst1;
RESET SESSION AUTHORIZATION;

-- what a person adds at most, as a Euclidean norm, to the count of a query
CREATE FUNCTION sensitivity(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	answer numeric;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SELECT round(p.sensitivity::numeric, 2) INTO answer FROM dp_cdp.preview(statement) p WHERE item = 'aggregate' AND name = 'count(*)';
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN answer;
END $$;

CREATE FUNCTION adds(statement text, most numeric, about text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT is(sensitivity(statement), most, about);
	RETURN NEXT as_written(statement, '... and all of it counts: ' || about);
END $$;

SELECT adds('SELECT kind, count(*) FROM (SELECT person, kind FROM visits GROUP BY 1, 2) q GROUP BY 1', 1.41, 'once in each of two groups');
SELECT adds('SELECT day, count(*) FROM (SELECT DISTINCT person, day FROM visits WHERE day >= ''2024-03-05'' AND day < ''2024-03-12'') q GROUP BY 1', 2.65, 'once a day, of seven');
SELECT adds('SELECT device, count(*) FROM (SELECT device, row_number() OVER (PARTITION BY person ORDER BY id) AS r FROM visits) q WHERE r = 1 GROUP BY 1', 1, 'first rows alone');
SELECT adds('SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY person ORDER BY id) AS r FROM visits) q WHERE r <= 3', 3, 'the first three');
SELECT adds('SELECT kind, count(*) FROM (SELECT kind, row_number() OVER (PARTITION BY person, kind ORDER BY id) AS r FROM visits) q WHERE NOT r > 2 GROUP BY 1', 2.83,
			'the first two of each kind');
SELECT adds('SELECT plan, count(*) FROM (SELECT person, plan, count(*) AS n FROM people JOIN visits USING (person) GROUP BY 1, 2) q GROUP BY 1', 1, 'what the person''s own row says');
SELECT adds('SELECT kind, count(*) FROM (SELECT DISTINCT ON (person, kind) person, kind FROM visits ORDER BY person, kind, id) q GROUP BY 1', 1.41, 'DISTINCT ON');
SELECT is(sensitivity('SELECT q.kind, p.plan, count(*) FROM (SELECT DISTINCT person, kind FROM visits) q JOIN people p USING (person) GROUP BY 1, 2'), 2.00, 'joined with the person''s own row');
SELECT adds('SELECT q.plan, count(*) FROM (SELECT DISTINCT person, plan FROM people JOIN visits USING (person)) q JOIN plans USING (plan) WHERE price < 10 GROUP BY 1', 1, 'joined with a public row');

SELECT as_written('SELECT count(*) FROM events WHERE NOT (n > 6 OR kind IN (SELECT plan FROM plans))');
-- columns of the level around a subquery are none of its entries
SELECT as_written('SELECT count(*) FROM people p JOIN visits v USING (person) WHERE EXISTS (SELECT FROM visits w WHERE w.person = v.person AND w.kind = ''a'')');

-- what would have to know more, or less
SELECT is(sensitivity('SELECT count(*) FROM (SELECT DISTINCT person, kind FROM visits) q'), 48::numeric, 'groups of a person, all together');
SELECT is(sensitivity('SELECT device, count(*) FROM (SELECT person, kind, max(device) AS device FROM visits GROUP BY 1, 2) q GROUP BY 1'), 271.53, 'what is no column by which rows are told apart');
SELECT is(sensitivity('SELECT q.kind, count(*) FROM (SELECT DISTINCT person, kind FROM visits) q JOIN visits v USING (person) GROUP BY 1'), 67.88, 'rows that a join repeats');
SELECT is(sensitivity('SELECT q.kind, count(*) FROM (SELECT DISTINCT person, kind FROM visits) q JOIN plans ON price >= 0 AND q.kind < plan GROUP BY 1'), 67.88, 'also a public one');
SELECT is(sensitivity('SELECT kind, count(*) FROM (SELECT kind, rank() OVER (PARTITION BY person ORDER BY day) AS r FROM visits) q WHERE r = 1 GROUP BY 1'), 67.88, 'ranks that several rows have');
SELECT is(sensitivity('SELECT kind, count(*) FROM (SELECT kind, row_number() OVER (PARTITION BY person ORDER BY id) AS r FROM visits) q WHERE r = 1 OR kind = ''a'' GROUP BY 1'), 67.88,
		  'a number that is not all that is asked');
SELECT is(sensitivity('SELECT q.kind, count(*) FROM people p LEFT JOIN (SELECT DISTINCT person, kind FROM visits) q USING (person) WHERE q.kind IS NOT NULL GROUP BY 1'), 1.41, 'an outer join of one row');

-- a fact that is wrong: an index is taken for a unique one, and its table has each row three times
SET SESSION AUTHORIZATION owner1;
CREATE TABLE prices (plan text NOT NULL, price int NOT NULL);
CREATE INDEX prices_plan ON prices (plan);
INSERT INTO prices SELECT plan, price FROM plans, generate_series(1, 3);
GRANT SELECT ON prices TO analyst1;
CREATE TABLE members (person int NOT NULL, plan text NOT NULL);
CREATE INDEX members_person ON members (person);
INSERT INTO members SELECT person, p.plan FROM people, plans p;
SELECT dp_cdp.protect_table('members', 'many', 'person'), dp_cdp.set_keys('members', 'plan', ARRAY['free', 'paid']);
RESET SESSION AUTHORIZATION;
SELECT is(sensitivity('SELECT q.plan, count(*) FROM (SELECT DISTINCT person, plan FROM people JOIN visits USING (person)) q JOIN prices USING (plan) GROUP BY 1'), 67.88, 'joined with rows that may be several');
UPDATE pg_index SET indisunique = true WHERE indexrelid IN ('prices_plan'::regclass, 'members_person'::regclass);
SELECT is(sensitivity('SELECT q.plan, count(*) FROM (SELECT DISTINCT person, plan FROM people JOIN visits USING (person)) q JOIN prices USING (plan) GROUP BY 1'), 1::numeric, 'with what is said to be one');
SELECT is(rows_for('analyst1', 'SELECT q.plan, count(*) FROM (SELECT DISTINCT person, plan FROM people JOIN visits USING (person)) q JOIN prices USING (plan) GROUP BY 1'),
		  rows_for('owner1', 'SELECT plan, count(*) FROM people GROUP BY 1'), 'each person adds one row to one group all the same');
SELECT is(sensitivity('SELECT plan, count(*) FROM (SELECT person, plan, count(*) AS n FROM members JOIN visits USING (person) GROUP BY 1, 2) q GROUP BY 1'), 1::numeric, 'the same of a person''s own row');
SELECT is(rows_for('analyst1', 'SELECT sum(n) FROM (SELECT plan, count(*) AS n FROM (SELECT person, plan, count(*) AS n FROM members JOIN visits USING (person) GROUP BY 1, 2) q GROUP BY 1) r'),
		  '(100)', 'of two groups each person is in one');

SELECT * FROM finish();
