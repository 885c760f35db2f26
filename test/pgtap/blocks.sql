-- Blocks of time: the promise, caps and budgets hold for each person and block;
-- a query whose conditions name blocks is charged to these alone.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
-- noise of 0.01 and less
SELECT dp_cdp.create_dataset('clinic', rho => 100000, default_rho => 10000, max_groups => 20, max_rows => 50);
CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, dept text NOT NULL, cost int NOT NULL, visited_on date);
INSERT INTO visits SELECT i, i % 40, substr('abc', 1 + i % 3, 1), i % 10, date '2024-01-01' + i % 120 FROM generate_series(1, 600) i;
INSERT INTO visits VALUES (1001, 1, 'a', 1, NULL), (1002, 2, 'a', 1, '-infinity');
CREATE TABLE stays (patient int NOT NULL, began timestamp NOT NULL, days int NOT NULL);
INSERT INTO stays SELECT i % 40, timestamp '2024-01-01' + i * interval '6 hours', i % 5 FROM generate_series(1, 400) i;
CREATE TABLE events (patient int NOT NULL, at timestamptz NOT NULL);
INSERT INTO events SELECT i % 40, timestamptz '2024-01-01 00:00+00' + i * interval '6 hours' FROM generate_series(0, 399) i;
CREATE TABLE bills (visit int REFERENCES visits, amount int NOT NULL);
INSERT INTO bills SELECT i, i % 7 FROM generate_series(1, 600) i;
CREATE TABLE months (month date PRIMARY KEY);
INSERT INTO months SELECT date '2024-01-01' + i * interval '1 month' FROM generate_series(0, 5) i;
GRANT SELECT ON months TO analyst1;
RESET SESSION AUTHORIZATION;

\ir analyst.psql

CREATE FUNCTION owner1(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	failure text := 'ok';
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION owner1';
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		failure := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN failure;
END $$;

CREATE FUNCTION must(statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	result text := owner1(statement);
BEGIN
	IF result <> 'ok' THEN
		RAISE EXCEPTION '%', result;
	END IF;
END $$;
CREATE FUNCTION root(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- policies
-- ------------------------------------------------------------------------

SELECT matches(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'dept', every => '1 month')$$),
	'ZC004 .*type text', 'a block column is of time');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'visited_on', every => '$$ || e || $$')$$),
	'ZC004 every must be whole months or whole days', 'blocks cannot be ' || e)
	FROM unnest('{0,-1 month,1 month 3 days,5 hours,36 hours,1 day 1 hour,101 years}'::text[]) e;
SELECT matches(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', every => '1 month')$$), 'ZC004 every says', 'every without block');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'visited_on')$$), 'ZC004 give every', 'block without every');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'day', every => '1 month')$$), 'ZC004 .*no column', 'no such column');
SELECT is(owner1($$CREATE TABLE made (patient int, at date, day date GENERATED ALWAYS AS (at) STORED)$$), 'ok', 'a table with a generated column');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('made', 'clinic', 'patient', block => 'day', every => '1 month')$$), 'ZC004 .*is generated', 'generated columns cannot be');
SELECT is((SELECT count(*) FROM dp_cdp.protected), 0::bigint, 'nothing of this has protected a table');
SELECT is((SELECT block_every FROM dp_cdp_internal.dataset), NULL, 'nor made a dataset one with blocks');

SELECT is(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'visited_on', every => '1 month')$$), 'ok', 'a table with blocks');
SELECT is((SELECT block_every FROM dp_cdp.datasets), interval '1 month', 'makes its dataset one with blocks');
SELECT is((SELECT block FROM dp_cdp.protected), 'visited_on', 'and the view of policies names the column');
SELECT is(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'visited_on', every => '1 month')$$), 'ok', 'the same once more');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient')$$), 'ZC004 .*another block column', 'not without');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('stays', 'clinic', 'patient')$$), 'ZC004 .*has blocks of time', 'a table without blocks in it');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('stays', 'clinic', 'patient', block => 'began', every => '1 year')$$), 'ZC004 .*another length', 'blocks of another length');
SELECT is(owner1($$SELECT dp_cdp.protect_table('stays', 'clinic', 'patient', block => 'began')$$), 'ok', 'timestamps, as long as the dataset''s');
SELECT is(owner1($$SELECT dp_cdp.protect_table('events', 'clinic', 'patient', block => 'at', every => '1 month')$$), 'ok', 'timestamps with time zone');
SELECT is(owner1($$SELECT dp_cdp.protect_table('bills', 'clinic', through => 'visit')$$), 'ok', 'rows in the block of those that they belong through to');
SELECT matches(owner1($$ALTER TABLE visits DROP COLUMN visited_on$$), '2BP01', 'the column is not dropped');
SELECT must($$SELECT dp_cdp.create_dataset('flat')$$);
SELECT must($$SELECT dp_cdp.protect_table('made', 'flat', 'patient')$$);
SELECT is(owner1($$CREATE TABLE more (patient int, day date)$$), 'ok', 'a table more');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('more', 'flat', 'patient', block => 'day', every => '1 month')$$), 'ZC004 .*was protected without', 'a dataset without blocks stays without');
SELECT must($$SELECT dp_cdp.create_dataset('used')$$);
SELECT must($$SELECT dp_cdp.set_budget('used', 'owner1', rho => 1)$$);
SELECT dp_cdp.debit_budget('used', 0.1, 0, 'owner1');
SELECT matches(owner1($$SELECT dp_cdp.protect_table('more', 'used', 'patient', block => 'day', every => '1 month')$$), 'ZC004 .*some of its budget was spent', 'nor one that has spent');
SELECT matches(owner1($$SECURITY LABEL FOR dp_cdp ON COLUMN stays.days IS '{"block": true}'$$), 'ZC004', 'no label beside the functions');

-- rows stay where they are
SELECT is(owner1($$UPDATE visits SET visited_on = visited_on, cost = cost$$), 'ok', 'an update that moves nothing');
SELECT is(owner1($$UPDATE visits SET visited_on = '2024-01-30' WHERE id = 1; UPDATE visits SET visited_on = '2024-01-02' WHERE id = 1$$), 'ok', 'within a block');
SELECT matches(owner1($$UPDATE visits SET visited_on = '2024-02-01' WHERE id = 1$$), 'ZC004 an UPDATE of column "visited_on"', 'not to another block');
SELECT matches(owner1($$UPDATE visits SET visited_on = '2024-02-01' WHERE id = 1001$$), 'ZC004 an UPDATE', 'nor from none');
SELECT matches(owner1($$INSERT INTO visits VALUES (1, 1, 'a', 1, '2024-03-01') ON CONFLICT (id) DO UPDATE SET visited_on = excluded.visited_on$$), 'ZC004 an UPDATE', 'nor by INSERT');
SELECT matches(owner1($$UPDATE events SET at = at + interval '40 days'$$), 'ZC004 an UPDATE', 'timestamps, too');

SELECT must($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 50000)$$);
SELECT must($$SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c'])$$);
SELECT must($$SELECT dp_cdp.set_bounds('bills', 'amount', 0, 10)$$);
SELECT must($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10)$$);

-- ------------------------------------------------------------------------
-- which blocks a query is charged to, and what it answers
-- ------------------------------------------------------------------------

CREATE FUNCTION last_blocks() RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT block_from || ' ' || block_to FROM dp_cdp_internal.release_log WHERE granted ORDER BY id DESC LIMIT 1 $$;

-- asks for a number as analyst1; what it is, rounded, and the blocks that were charged
CREATE FUNCTION asked(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer numeric;
	failure text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE statement INTO answer;
	EXCEPTION WHEN OTHERS THEN
		failure := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN coalesce(failure, round(answer) || ' ' || last_blocks());
END $$;

-- what plain SQL answers, and what is to be charged
CREATE FUNCTION is_charged(statement text, blocks text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer numeric;
	result text := asked(statement);
BEGIN
	EXECUTE replace(statement, 'dp_', '') INTO answer;
	PERFORM owner1($q$SELECT dp_cdp.drop_budget('clinic', 'analyst1')$q$);
	PERFORM owner1($q$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 50000)$q$);
	-- noise has a standard deviation of 4 and less
	IF result ~ '^-?\d+ ' AND abs(split_part(result, ' ', 1)::numeric - answer) < 40 THEN
		result := regexp_replace(result, '^\S+ ', '');
	END IF;
	RETURN is(result, blocks, description);
END $$;
-- so that nothing but prices matters
SELECT must($$SELECT dp_cdp.alter_dataset('clinic', rho => 'Infinity')$$);

SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on >= '2024-02-01' AND visited_on < '2024-03-01'$$, '2024-02-01 2024-03-01', 'a month');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on >= date '2024-02-01' AND visited_on < date '2024-02-01' + interval '1 month'$$, '2024-02-01 2024-03-01', 'a month that is computed');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE timestamp '2024-03-01 00:00' > visited_on AND timestamptz '2024-02-01 00:00+00' <= visited_on$$, '2024-02-01 2024-03-01', 'midnights on the left');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on BETWEEN '2024-02-10' AND '2024-02-12'$$, '2024-02-01 2024-03-01', 'days in it');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on = '2024-03-31'$$, '2024-03-01 2024-04-01', 'a day');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on >= '2024-02-10'$$, '2024-02-01 infinity', 'from a day on');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on < '2024-02-01'$$, '-infinity 2024-02-01', 'before a day');
SELECT is_charged($$SELECT dp_count(*) FROM visits$$, '-infinity infinity', 'no condition: also what has no day');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on IS NULL$$, '-infinity infinity', 'no day');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE date_trunc('month', visited_on) = '2024-02-01'$$, '2024-02-01 2024-03-01', 'date_trunc');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE date_trunc('month', visited_on) < '2024-02-15' AND date_trunc('quarter', visited_on) > '2023-12-01'$$, '2024-01-01 2024-03-01', 'units on either side');
SELECT is_charged($$SELECT dp_count(*) FROM stays WHERE date_trunc('month', began) <= '2024-02-01' AND date_trunc('year', began) >= '2024-01-01'$$, '2024-01-01 2024-03-01', 'of timestamps');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE extract(year FROM visited_on) = 2024$$, '2024-01-01 2025-01-01', 'a year');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on IN ('2024-02-03', '2024-03-05')$$, '2024-02-01 2024-04-01', 'a list');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on = '2024-02-03' OR (visited_on > '2024-03-05' AND visited_on < '2024-03-07' AND cost > 3)$$, '2024-02-01 2024-04-01', 'alternatives');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE visited_on = '2024-02-03' OR cost > 3$$, '-infinity infinity', 'of which one says nothing');
SELECT is_charged($$SELECT dp_count(*) FROM visits WHERE NOT (visited_on = '2024-02-03')$$, '-infinity infinity', 'a negation');
SELECT is_charged($$SELECT dp_sum(cost) FILTER (WHERE visited_on < '2024-02-01') FROM visits$$, '-infinity infinity', 'a filter of an aggregate leaves its rows to others');
SELECT is_charged($$SELECT sum(n) FROM (SELECT dept, dp_count(*) AS n FROM visits WHERE visited_on >= '2024-04-01' AND visited_on < '2024-05-01' GROUP BY dept) g$$, '2024-04-01 2024-05-01', 'groups');
SELECT is_charged($$SELECT dp_count(*) FROM (SELECT * FROM visits WHERE cost < 5) v WHERE v.visited_on < '2024-03-01' AND v.visited_on >= '2024-02-01'$$, '2024-02-01 2024-03-01', 'a subquery');
SELECT is_charged($$SELECT dp_count(*) FROM (SELECT patient, visited_on AS d FROM visits UNION ALL SELECT patient, visited_on FROM visits WHERE cost > 2) v WHERE d < '2024-03-01' AND d >= '2024-02-01'$$, '2024-02-01 2024-03-01', 'operands of UNION ALL');
SELECT is_charged($$SELECT dp_count(*) FROM (SELECT patient, visited_on FROM visits WHERE visited_on < '2024-02-01' AND visited_on >= '2024-01-01' UNION ALL SELECT patient, began::date FROM stays WHERE began >= '2024-03-01' AND began < '2024-04-01') v$$, '2024-01-01 2024-04-01', 'and each of its own');
SELECT is_charged($$SELECT dp_count(*) FROM (SELECT patient, sum(cost) AS s FROM visits WHERE visited_on < '2024-02-01' AND visited_on >= '2024-01-01' GROUP BY patient) v WHERE s > 3$$, '2024-01-01 2024-02-01', 'sums of each person');
SELECT is_charged($$SELECT dp_count(*) FROM (SELECT patient, visited_on, count(*) AS s FROM visits GROUP BY patient, visited_on) v WHERE visited_on < '2024-02-01' AND visited_on >= '2024-01-01'$$, '2024-01-01 2024-02-01', 'of each person and day');
SELECT is_charged($$SELECT dp_count(*) FROM (SELECT patient, max(visited_on) AS last FROM visits GROUP BY patient) v WHERE last < '2024-02-01' AND last >= '2024-01-01'$$, '-infinity infinity', 'the last day of each person depends on all');
SELECT is_charged($$SELECT dp_count(*) FROM stays WHERE began >= '2024-02-01' AND began < '2024-03-01'$$, '2024-02-01 2024-03-01', 'timestamps');
SELECT is_charged($$SELECT dp_count(*) FROM stays WHERE began::date = '2024-02-29'$$, '2024-02-01 2024-03-01', 'their days');
SET TimeZone = 'Europe/Berlin';
SELECT is_charged($$SELECT dp_count(*) FROM events WHERE at >= '2024-02-01 00:00+00' AND at < '2024-03-01 00:00+00'$$, '2024-02-01 2024-03-01', 'UTC');
SELECT is_charged($$SELECT dp_count(*) FROM events WHERE at >= '2024-02-01' AND at < '2024-03-01'$$, '2024-01-01 2024-03-01', 'a month of Berlin is in two of UTC');
RESET TimeZone;
-- joins
SELECT is_charged($$SELECT dp_count(*) FROM visits v JOIN stays s USING (patient) WHERE visited_on = '2024-01-05' AND began >= '2024-02-01' AND began < '2024-02-03'$$, '2024-01-01 2024-03-01', 'a join: from the first block to the last');
SELECT is_charged($$SELECT dp_count(*) FROM visits v JOIN stays s USING (patient) WHERE visited_on = '2024-01-05'$$, '-infinity infinity', 'all blocks of one table');
SELECT is_charged($$SELECT dp_count(*) FROM visits v LEFT JOIN stays s ON s.patient = v.patient AND s.began < '2024-02-01' AND s.began >= '2024-01-01' WHERE visited_on = '2024-01-05'$$, '2024-01-01 2024-02-01', 'a condition of an outer join');
SELECT is_charged($$SELECT dp_count(*) FROM visits v LEFT JOIN stays s ON s.patient = v.patient AND v.visited_on = '2024-01-05' WHERE s.began = '2024-01-05'$$, '-infinity infinity', 'which is none for the other side');
SELECT is_charged($$SELECT dp_count(*) FROM visits v WHERE visited_on = '2024-01-05' AND EXISTS (SELECT FROM stays s WHERE s.patient = v.patient AND s.began >= '2024-02-01' AND s.began < '2024-03-01')$$, '2024-01-01 2024-03-01', 'EXISTS');
SELECT is_charged($$SELECT dp_count(*) FROM visits v WHERE visited_on = '2024-01-05' AND NOT EXISTS (SELECT FROM stays s WHERE s.patient = v.patient AND s.began >= '2024-02-01' AND s.began < '2024-02-02')$$, '2024-01-01 2024-03-01', 'NOT EXISTS');
SELECT is_charged($$SELECT dp_sum(amount) FROM bills b JOIN visits v ON v.id = b.visit WHERE visited_on >= '2024-02-01' AND visited_on < '2024-03-01'$$, '2024-02-01 2024-03-01', 'bills are in the block of their visit');
SELECT is_charged($$SELECT dp_sum(amount) FROM bills b$$, '-infinity infinity', 'and in all without it');
SELECT is_charged($$SELECT dp_count(*) FROM visits v JOIN months m ON m.month = v.visited_on WHERE m.month = '2024-02-01'$$, '-infinity infinity', 'conditions on public columns say nothing');

-- what is known only when it runs
SET SESSION AUTHORIZATION analyst1;
PREPARE by_day(date, date) AS SELECT dp_count(*) FROM visits WHERE visited_on >= $1 AND visited_on < $2;
SET plan_cache_mode = force_generic_plan;
RESET SESSION AUTHORIZATION;
SELECT matches(asked($$EXECUTE by_day('2024-02-01', '2024-02-29')$$), '^1\d\d 2024-02-01 2024-03-01$', 'parameters');
SELECT matches(asked($$EXECUTE by_day('2024-05-01', '2024-02-29')$$), '^-?\d 2024-05-01 2024-06-01$', 'no day between them');
SELECT matches(asked($$EXECUTE by_day(NULL, '2024-02-29')$$), '^-?\d -infinity 2024-03-01$', 'NULL costs as much as no condition');
RESET plan_cache_mode;
SELECT matches(asked($$SELECT dp_count(*) FROM visits WHERE visited_on >= current_date - 30 AND visited_on < current_date$$),
	format('^-?\d %s %s$', date_trunc('month', current_date - 30)::date, (date_trunc('month', current_date - 1) + interval '1 month')::date), 'the clock');
SELECT matches(asked($$SELECT dp_count(*) FROM visits WHERE visited_on > 'infinity'$$), '^-?\d ', 'infinity');

-- conditions that name a block column, and no days, are told of: once a statement, and where it is charged
CREATE TABLE named (n int GENERATED ALWAYS AS IDENTITY, undated text, query text);
INSERT INTO named (undated, query) VALUES
	('visits visited_on', $$SELECT dp_count(*), dp_count(*) + 1 FROM visits WHERE to_char(visited_on, 'YYYY-MM') = '2024-02'$$),
	('visits visited_on', $$SELECT dp_count(*), (SELECT dp_count(*) FROM visits WHERE visited_on::text > 'a') FROM visits WHERE extract(month FROM visited_on) = 2$$),
	('visits visited_on', $$SELECT dp_count(*) FROM visits WHERE visited_on = '2024-02-03' OR cost > 3$$),
	('stays began', $$SELECT dp_count(*) FROM visits v JOIN stays s USING (patient) WHERE visited_on = '2024-01-05'$$),
	('visits visited_on', $$SELECT dp_count(*) FROM visits v JOIN months m ON m.month = v.visited_on$$),
	('bills visited_on', $$SELECT dp_sum(amount) FROM bills b JOIN visits v ON v.id = b.visit WHERE visited_on::text LIKE '2024-02%'$$),
	('visits visited_on', $$SELECT dp_count(*) FROM (SELECT patient, visited_on AS d FROM visits
		UNION ALL SELECT patient, began::date FROM stays WHERE began < '2024-02-01') v WHERE d::text > 'a'$$),
	(NULL, $$SELECT dp_count(*) FROM visits WHERE visited_on IS NOT NULL AND cost > 3$$),
	(NULL, $$SELECT dp_count(*) FROM visits WHERE visited_on >= '2024-02-10'$$),
	(NULL, $$SELECT dp_count(*) FROM visits WHERE extract(year FROM visited_on) = 2024$$),
	(NULL, $$SELECT dp_count(*) FROM visits v JOIN stays s USING (patient) WHERE visited_on > '2024-01-05' AND began < '2024-01-05'$$),
	(NULL, $$SELECT dp_sum(amount) FROM bills$$),
	(NULL, $$EXPLAIN SELECT dp_count(*) FROM visits WHERE extract(month FROM visited_on) = 2$$);
SELECT must($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000)$$);
SELECT format(E'\\warn @ %s\n%s;', n, query) FROM named ORDER BY n
	\g (format=unaligned tuples_only=on) |psql -X -q -U analyst1 -o /dev/null 2>&1 | sed -n 's/.*between which days rows of table "\(.*\)" are/\1/p; s/.*Compare column "\(.*\)" itself.*/\1/p; /^@\|ERROR/p' >"$HOME/undated"
\set undated `paste -s -d ' ' "$HOME/undated"`
SELECT is(:'undated'::text, (SELECT string_agg(concat_ws(' ', '@ ' || n, undated), ' ' ORDER BY n) FROM named), 'why all blocks are charged, where a condition names time');

-- ------------------------------------------------------------------------
-- budgets and the cap hold in each block
-- ------------------------------------------------------------------------

SELECT dp_cdp.empty_ledger();
SELECT is((SELECT count(*) FROM dp_cdp_internal.block_spent), 0::bigint, 'empty_ledger() forgets blocks, too');
SELECT must($$SELECT dp_cdp.alter_dataset('clinic', rho => 35000, max_failures => 100)$$);
SELECT must($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 20000)$$);
CREATE FUNCTION ask(first date, last date) RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT regexp_replace(asked(format('SELECT dp_count(*) FROM visits WHERE visited_on BETWEEN %L AND %L', first, last)), '^-?\d+ ', '') $$;
SELECT is(ask('2024-01-01', '2024-01-31'), '2024-01-01 2024-02-01', 'January once');
SELECT is(ask('2024-01-01', '2024-02-29'), '2024-01-01 2024-03-01', 'January and February');
SELECT matches(ask('2024-01-01', '2024-01-31'), 'ZC001 .*in the blocks from 2024-01-01 to before 2024-02-01, remaining 0 ', 'January is exhausted');
SELECT matches(ask('2023-12-31', '2024-05-31'), 'ZC001 .*from 2024-01-01 to before 2024-02-01', 'and whatever it is part of');
SELECT matches(asked('SELECT dp_count(*) FROM visits'), 'ZC001', 'all blocks');
SELECT is(ask('2024-02-01', '2024-02-29'), '2024-02-01 2024-03-01', 'February is not');
SELECT matches(ask('2024-02-01', '2024-02-29'), 'ZC001', 'now it is');
SELECT is(ask('2024-03-01', '2024-04-30'), '2024-03-01 2024-05-01', 'new months come with new budget');
SELECT is(ask('2031-03-01', '2031-03-02'), '2031-03-01 2031-04-01', 'those of the future, too');
SELECT results_eq($$SELECT block_from, block_to, rho_spent, rho_remaining FROM dp_cdp.blocks WHERE role_name = 'analyst1' ORDER BY 1$$,
	$$VALUES (date '2024-01-01', date '2024-02-01', 20000::numeric, 0::numeric), ('2024-02-01', '2024-03-01', 20000, 0), ('2024-03-01', '2024-05-01', 10000, 10000), ('2031-03-01', '2031-04-01', 10000, 10000)$$,
	'the view of blocks');
SELECT is((SELECT rho_spent FROM dp_cdp.budgets WHERE role_name = 'analyst1'), 20000::numeric, 'the budget shows the block with the most');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity <> 'info'), 0::bigint, 'the audit adds up to the blocks');
-- several releases of a statement
SELECT is(regexp_replace(asked($$SELECT (SELECT dp_count(*) FROM visits WHERE visited_on = '2024-06-01') + (SELECT dp_count(*) FROM visits WHERE visited_on = '2024-07-01')$$), '^-?\d ', ''),
	'2024-07-01 2024-08-01', 'two releases of one statement');
SELECT is((SELECT string_agg(rho_spent::text, ',' ORDER BY block_from) FROM dp_cdp.blocks WHERE role_name = 'analyst1' AND block_from IN ('2024-06-01', '2024-07-01')), '10000,10000', 'are charged to their own blocks each');
-- by hand and corrections: all blocks
SELECT matches(root($$SELECT dp_cdp.correct_spent('clinic', 'analyst1', -10, 'was wrong')$$), 'ZC004 .*in some blocks', 'nothing can be given back where nothing was spent');
SELECT is(owner1($$SELECT dp_cdp.correct_spent('clinic', 'analyst1', 5, 'was wrong')$$), 'ok', 'a correction is of all blocks');
SELECT is((SELECT rho_spent FROM dp_cdp.blocks WHERE role_name = 'analyst1' AND block_from = '-infinity'), 5::numeric, 'also of those before');
SELECT is(root($$SELECT dp_cdp.correct_spent('clinic', 'analyst1', -2, 'was wrong')$$), 'ok', 'and back');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity <> 'info'), 0::bigint, 'the audit adds up with corrections');
SELECT is(root($$SELECT dp_cdp.correct_spent('clinic', 'analyst1', -3, 'was wrong')$$), 'ok', 'all of it');
\set said `psql -X -q -U owner1 -o /dev/null -c "SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 10000)" 2>&1`
SELECT matches(:'said'::text, '^NOTICE:  the budget of role "analyst1" in dataset "clinic" is rho 10000, and rho 20000 is spent already in a block of time: it pays for nothing there\n', 'a budget below what a block has spent');
SELECT matches(ask('2024-02-01', '2024-02-29'), 'ZC001', '... which has nothing left');
SELECT is(ask('2029-03-01', '2029-03-02'), '2029-03-01 2029-04-01', '... and others have');
-- the cap over all roles
SELECT must($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000)$$);
SELECT is(ask('2024-02-01', '2024-02-29'), '2024-02-01 2024-03-01', 'a third time');
SELECT matches(ask('2024-02-01', '2024-02-29'), 'ZC001 .*in the blocks from 2024-02-01 to before 2024-03-01, more than its lifetime cap over all roles still holds there', 'the cap of a block');
SELECT is(ask('2024-03-01', '2024-03-02'), '2024-03-01 2024-04-01', 'that of another');
-- pruning, adopting
SELECT is(dp_cdp.prune_releases(clock_timestamp()) > 0, true, 'pruned');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity <> 'info'), 0::bigint, 'checkpoints add up to the blocks');
CREATE TABLE before AS SELECT * FROM dp_cdp_internal.block_spent;
SELECT dp_cdp.adopt_ledger(surcharge_rho => 7);
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity <> 'info'), 0::bigint, 'an adopted ledger adds up');
SELECT is((SELECT count(*) FROM before b JOIN dp_cdp_internal.block_spent k USING (ledger_id, block_from, block_to) WHERE k.rho_spent = b.rho_spent + 7), (SELECT count(*) FROM before), 'with the surcharge on each block');
SELECT is((SELECT rho_spent FROM dp_cdp.blocks WHERE role_name = 'analyst1' AND block_from = '-infinity'), 7::numeric, 'and on those in which nothing was spent');
-- renewal
SELECT must($$SELECT dp_cdp.drop_budget('clinic', 'analyst1')$$);
SELECT is((SELECT count(*) FROM dp_cdp_internal.block_spent k WHERE NOT EXISTS (SELECT FROM dp_cdp_internal.dataset d WHERE d.ledger_id = k.ledger_id) AND NOT EXISTS (SELECT FROM dp_cdp_internal.budget b WHERE b.ledger_id = k.ledger_id)), 0::bigint, 'a budget goes with its blocks');
SELECT must($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 10000, period => '0.1 seconds')$$);
SELECT is(ask('2025-02-01', '2025-02-02'), '2025-02-01 2025-03-01', 'a period');
SELECT pg_sleep(0.15);
SELECT is(ask('2025-02-01', '2025-02-02'), '2025-02-01 2025-03-01', 'the next one, the same block');
SELECT pg_sleep(0.15);
SELECT is(ask('2025-03-01', '2025-03-02'), '2025-03-01 2025-04-01', 'another block');
SELECT is((SELECT count(*) FROM dp_cdp_internal.block_spent k JOIN dp_cdp_internal.budget b USING (ledger_id) WHERE b.role = 'analyst1'::regrole), 1::bigint, 'a period forgets those before');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'), 0::bigint, 'the audit adds up to the period');

-- ------------------------------------------------------------------------
-- answers that are kept
-- ------------------------------------------------------------------------

CREATE ROLE analyst2 LOGIN;
SELECT must($$SELECT dp_cdp.create_dataset('diary', default_rho => 10, max_groups => 5, max_rows => 5, reuse => '1 day')$$);
SELECT must($$CREATE TABLE diary (patient int NOT NULL, day date NOT NULL); INSERT INTO diary SELECT i % 50, date '2024-01-01' + i % 90 FROM generate_series(1, 500) i$$);
SELECT must($$SELECT dp_cdp.protect_table('diary', 'diary', 'patient', block => 'day', every => '1 month'); SELECT dp_cdp.set_budget('diary', r::regrole, rho => 1000) FROM unnest('{analyst1,analyst2}'::text[]) r$$);
CREATE FUNCTION paid() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT string_agg(format('%s %s %s %s', coalesce(role_name, 'cap'), block_from, block_to, rho_spent), ', ' ORDER BY coalesce(role_name, 'cap'), block_from)
	FROM dp_cdp.blocks WHERE dataset = 'diary' $$;
CREATE FUNCTION ask_as(role text, price float8, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', role);
	EXECUTE format('SET dp_cdp.rho = %s', price);
	EXECUTE statement INTO answer;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RESET dp_cdp.rho;
	RETURN answer;
END $$;
CREATE TABLE first AS SELECT ask_as('analyst1', 10, $$SELECT dp_count(*) FROM diary WHERE day >= '2024-02-01' AND day < '2024-03-01'$$) AS answer;
SELECT is(paid(), 'analyst1 2024-02-01 2024-03-01 10, cap 2024-02-01 2024-03-01 10', 'an answer is bought for a block');
SELECT is(ask_as('analyst1', 10, $$SELECT dp_count(*) FROM diary WHERE day >= '2024-02-01' AND day < '2024-03-01'$$), (SELECT answer FROM first), 'and given again');
SELECT is(paid(), 'analyst1 2024-02-01 2024-03-01 10, cap 2024-02-01 2024-03-01 10', 'for nothing');
SELECT is(ask_as('analyst2', 10, $$SELECT dp_count(*) FROM diary WHERE day >= '2024-02-01' AND day < '2024-03-01'$$), (SELECT answer FROM first), 'to another role');
SELECT is(paid(), 'analyst1 2024-02-01 2024-03-01 10, analyst2 2024-02-01 2024-03-01 10, cap 2024-02-01 2024-03-01 10', 'whose budget in that block pays, and the cap does not');
SELECT isnt(ask_as('analyst2', 30, $$SELECT dp_count(*) FROM diary WHERE day >= '2024-02-01' AND day < '2024-03-01'$$), NULL, 'a better one');
SELECT is(paid(), 'analyst1 2024-02-01 2024-03-01 10, analyst2 2024-02-01 2024-03-01 30, cap 2024-02-01 2024-03-01 30', 'costs the difference there');
SELECT isnt(ask_as('analyst1', 10, $$SELECT dp_count(*) FROM diary WHERE day >= '2024-01-01' AND day < '2024-03-01'$$), NULL, 'over two blocks');
SELECT is(paid(), 'analyst1 2024-01-01 2024-02-01 10, analyst1 2024-02-01 2024-03-01 20, analyst2 2024-02-01 2024-03-01 30, cap 2024-01-01 2024-02-01 10, cap 2024-02-01 2024-03-01 40', 'is another question');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'), 0::bigint, 'the audit adds up to what each owed in which block');

-- ------------------------------------------------------------------------
-- what is shown
-- ------------------------------------------------------------------------

SELECT must($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000)$$);
CREATE FUNCTION plan_of(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	FOR line IN EXECUTE 'EXPLAIN ' || statement LOOP
		RETURN NEXT line;
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
END $$;
SELECT matches(string_agg(p, E'\n'), 'Blocks: from 2025-03-01 to before 2025-04-01; each block is charged the whole price, and the promise is for each person and block', 'EXPLAIN names the blocks') FROM plan_of($$SELECT dp_count(*) FROM visits WHERE visited_on = '2025-03-01'$$) p;
SELECT is(p::jsonb #>> '{0,Plan,Block From}' || ' ' || (p::jsonb #>> '{0,Plan,Block To}'), '2025-03-01 2025-04-01', 'in fields') FROM plan_of($$(FORMAT json) SELECT dp_count(*) FROM visits WHERE visited_on = '2025-03-01'$$) p;
SELECT matches(string_agg(p, E'\n'), 'Budget: analyst1: 990000 of rho 1000000 remain', 'and what is left of them') FROM plan_of($$SELECT dp_count(*) FROM visits WHERE visited_on = '2025-03-01'$$) p;
SELECT matches(string_agg(p, E'\n'), 'Budget: analyst1: 1000000 of rho 1000000 remain', 'of others more') FROM plan_of($$SELECT dp_count(*) FROM visits WHERE visited_on = '2026-03-01'$$) p;

SET SESSION AUTHORIZATION analyst1;
SELECT results_eq($$SELECT item, rho, block_from, block_to FROM dp_cdp.preview('SELECT dp_count(*) FROM visits WHERE visited_on = ''2025-03-01''')$$,
	$$VALUES ('aggregate', 10000::numeric, date '2025-03-01', date '2025-04-01'), ('total', 10000, '2025-03-01', '2025-04-01'), ('remains', 980000, '2025-03-01', '2025-04-01')$$,
	'preview names blocks, and what would remain of them');
DO $$ BEGIN PERFORM dp_count(*) FROM visits WHERE visited_on = '2026-03-01'; END $$;
SELECT is((SELECT block_from || ' ' || block_to FROM dp_cdp.last_release()), '2026-03-01 2026-04-01', 'last_release() names blocks');
RESET SESSION AUTHORIZATION;
SELECT matches((SELECT string_agg(severity || ' ' || finding, E'\n') FROM dp_cdp.check_setup() WHERE object = 'dataset clinic'), 'info has blocks of time, each of 1 mon: ', 'check_setup() says what blocks mean');
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE finding LIKE '%keeps them there%'), 0::bigint, 'rows are kept in their blocks');
ALTER TABLE stays DISABLE TRIGGER dp_cdp_keep_block;
SELECT is((SELECT object FROM dp_cdp.check_setup() WHERE severity = 'critical' AND finding LIKE '%keeps them there%'), 'public.stays', 'where they are not, that is critical');
SELECT is(owner1($$SELECT dp_cdp.protect_table('stays', 'clinic', 'patient', block => 'began')$$), 'ok', 'protected again');
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE finding LIKE '%keeps them there%'), 0::bigint, 'they are again');
-- partitions, children and reloads
SELECT is(owner1($$CREATE TABLE parts (patient int, day date) PARTITION BY RANGE (day);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2024-01-01') TO ('2024-04-01');
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2024-04-01') TO ('2024-07-01');
	INSERT INTO parts SELECT i % 9, date '2024-01-01' + i FROM generate_series(0, 180) i;
	SELECT dp_cdp.protect_table('parts', 'clinic', 'patient', block => 'day');
	CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM ('2024-07-01') TO ('2024-10-01')$$), 'ok', 'a partitioned table');
SELECT matches(owner1($$UPDATE parts SET day = day + 100 WHERE day = '2024-01-01'$$), 'ZC004 an UPDATE', 'rows stay in their partitions');
SELECT matches(owner1($$UPDATE parts_1 SET day = day + 31 WHERE day = '2024-01-01'$$), 'ZC004 an UPDATE', 'and in the blocks of these');
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE finding LIKE '%keeps them there%'), 0::bigint, 'also in those that come later');
SELECT is_charged($$SELECT dp_count(*) FROM parts WHERE day >= '2024-03-01' AND day < '2024-05-01'$$, '2024-03-01 2024-05-01', 'a partitioned table is charged');
SELECT must($$SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000)$$);
SELECT is(owner1($$CREATE TABLE stays_new (LIKE stays); SELECT dp_cdp.replace_table('stays', 'stays_new')$$), 'ok', 'a reload');
SELECT is((SELECT block FROM dp_cdp.protected WHERE "table" = 'stays_new'::regclass), 'began', 'has the block column');
SELECT is((SELECT tgenabled FROM pg_trigger WHERE tgrelid = 'stays_new'::regclass), 'A', 'and the trigger');

-- Without the rows of one block others of the same person may count: one contribution is replaced by another.
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE sensitivities AS
SELECT (SELECT sensitivity FROM dp_cdp_internal.preview_columns($$SELECT dept, count(*) FROM visits WHERE visited_on >= '2024-02-01' AND visited_on < '2024-03-01' GROUP BY dept$$) WHERE aggregate = 'count(*)') AS one,
	(SELECT sensitivity FROM dp_cdp_internal.preview_columns($$SELECT dept, count(*) FROM visits WHERE visited_on >= '2024-02-01' AND visited_on < '2024-04-01' GROUP BY dept$$) WHERE aggregate = 'count(*)') AS two,
	(SELECT sensitivity FROM dp_cdp_internal.preview_columns($$SELECT dept, count(*) FROM visits WHERE visited_on < '2024-02-01' GROUP BY dept$$) WHERE aggregate = 'count(*)') AS first_ones,
	(SELECT sensitivity FROM dp_cdp_internal.preview_columns($$SELECT dept, count(*) FROM visits GROUP BY dept$$) WHERE aggregate = 'count(*)') AS everything,
	(SELECT sensitivity FROM dp_cdp_internal.preview_columns($$SELECT count(*) FROM visits$$)) AS no_groups;
SET dp_cdp.max_contribution = 'auto';
CREATE TEMP TABLE blocks_of_limits AS SELECT aggregate, block_from, block_to
	FROM dp_cdp_internal.preview_columns($$SELECT dept, count(*) FROM visits WHERE visited_on >= '2024-02-01' AND visited_on < '2024-03-01' GROUP BY dept$$);
RESET dp_cdp.max_contribution;
RESET SESSION AUTHORIZATION;
SELECT is(string_agg(concat_ws(' ', aggregate, block_from, block_to), ', '), 'limit of count(*) 2024-02-01 2024-03-01, count(*) 2024-02-01 2024-03-01',
	'what finds a limit is charged to the same blocks') FROM blocks_of_limits;
SELECT is(two / one, sqrt(2::float8), 'two blocks: a contribution is replaced') FROM sensitivities;
SELECT is(first_ones / one, sqrt(2::float8), 'all blocks before a day, too') FROM sensitivities;
SELECT is(everything / one, sqrt(2::float8), 'and all of them') FROM sensitivities;
SELECT is(no_groups, 50::float8, 'without groups it cannot change by more than it is') FROM sensitivities;

-- a policy that contradicts its dataset
SECURITY LABEL FOR dp_cdp ON TABLE more IS '{"dataset": "clinic", "unit": true}';
SECURITY LABEL FOR dp_cdp ON COLUMN more.patient IS '{"unit": true}';
SELECT matches(asked('SELECT dp_count(*) FROM more'), 'ZC004 .*damaged', 'a table without blocks in a dataset with');
SECURITY LABEL FOR dp_cdp ON COLUMN more.patient IS NULL;
SECURITY LABEL FOR dp_cdp ON TABLE more IS NULL;
SELECT is(owner1($$SELECT dp_cdp.unprotect_table('visits')$$), 'ok', 'unprotected');
SELECT is(owner1($$UPDATE visits SET visited_on = '2024-02-01' WHERE id = 1$$), 'ok', 'rows may be moved');
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgrelid = 'visits'::regclass AND tgname = 'dp_cdp_keep_block'), 0::bigint, 'without a trigger left');
SELECT * FROM finish();
