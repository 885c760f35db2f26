-- Kept answers of a dataset with blocks of time: which balances of which blocks
-- pay, and what roles know together of a block.
--
-- Prices are in units of the price of one aggregate, rho 1e-6.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
CREATE ROLE team NOLOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, cost int, visited_on date);
INSERT INTO visits SELECT i, i % 40, i % 10, date '2024-01-01' + i % 120 FROM generate_series(1, 600) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6, max_groups => 5, max_rows => 5, reuse => '1 day');
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'visited_on', every => '1 month');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 10);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1);
SELECT dp_cdp.set_budget('clinic', 'analyst2', rho => 1);
SELECT dp_cdp.create_dataset('flat', default_rho => 1e-6, max_groups => 5, max_rows => 5, reuse => '1 day');
CREATE TABLE stays (patient int);
SELECT dp_cdp.protect_table('stays', 'flat', 'patient');
SELECT dp_cdp.set_budget('flat', 'analyst1', rho => 1);
RESET SESSION AUTHORIZATION;

-- what each balance has spent in each block
CREATE FUNCTION spent() RETURNS SETOF text LANGUAGE sql VOLATILE AS $$
	SELECT concat_ws(' ', coalesce(b.role::regrole::text, 'cap'), s.block_from, s.block_to, round(s.rho_spent * 1e6, 3)::float8)
	FROM dp_cdp_internal.block_spent s LEFT JOIN dp_cdp_internal.budget b USING (ledger_id) WHERE s.rho_spent <> 0 ORDER BY 1 $$;
CREATE FUNCTION ask(who text, query text, settings text DEFAULT 'SELECT') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text[] := ARRAY(SELECT spent());
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION ' || who;
	EXECUTE settings;
	BEGIN
		EXECUTE query INTO answer;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	EXECUTE 'RESET dp_cdp.rho';
	EXECUTE 'RESET dp_cdp.reuse';
	IF answer !~ '^-?[0-9]+$' THEN
		RETURN answer;
	END IF;
	RETURN coalesce((SELECT string_agg(s, ', ' ORDER BY s) FROM spent() s WHERE s <> ALL (before)), 'nothing');
END $$;
CREATE FUNCTION month(n int) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT count(*) FROM visits WHERE visited_on >= %L AND visited_on < %L', date '2024-01-01' + (n - 1) * interval '1 month', date '2024-01-01' + n * interval '1 month') $$;
-- rho of what roles know together, and of what they would if nothing was shared
CREATE FUNCTION known(roles text, wanted text DEFAULT 'clinic') RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT round(rho * 1e6, 3)::float8 || ' of ' || round(rho_sum * 1e6, 3)::float8 FROM dp_cdp.spent_together(wanted, roles::regrole[]) $$;

SELECT no_plan();

-- who pays
SELECT is(ask('analyst1', month(1)), 'analyst1 2024-01-01 2024-02-01 1, cap 2024-01-01 2024-02-01 1', 'a month is bought');
SELECT is(ask('analyst1', month(1)), 'nothing', 'and kept');
SELECT is(ask('analyst1', month(2)), 'analyst1 2024-02-01 2024-03-01 1, cap 2024-02-01 2024-03-01 1', 'the next one is another question');
SELECT is(ask('analyst2', month(1)), 'analyst2 2024-01-01 2024-02-01 1', 'who has not paid for it pays, in its block');
SELECT is(known('{analyst1}'), '1 of 1', 'of any month analyst1 knows one answer');
SELECT is(known('{analyst1,analyst2}'), '1 of 2', 'both know the same');
SELECT is(ask('analyst2', month(1), 'SET dp_cdp.rho = 3e-6'), 'analyst2 2024-01-01 2024-02-01 3, cap 2024-01-01 2024-02-01 3', 'a better one');
SELECT is(known('{analyst1,analyst2}'), '3 of 4', 'of January they know the better one');
SELECT is(known('{analyst1}'), '1 of 1', 'analyst1 does not');
SELECT is(ask('analyst1', 'SELECT sum(cost) FROM visits WHERE visited_on >= ''2024-02-01'' AND visited_on < ''2024-04-01'''),
	'analyst1 2024-02-01 2024-03-01 2, analyst1 2024-03-01 2024-04-01 1, cap 2024-02-01 2024-03-01 2, cap 2024-03-01 2024-04-01 1', 'two months');
SELECT is(known('{analyst1}'), '2 of 2', 'of February analyst1 knows two answers');
SELECT is(known('{analyst1,analyst2}'), '3 of 4', 'and of January both know more, still');
SELECT is(ask('analyst1', month(3), 'SET dp_cdp.reuse = off'), 'analyst1 2024-03-01 2024-04-01 2, cap 2024-03-01 2024-04-01 2', 'a fresh one');
SELECT is(known('{analyst1}'), '2 of 2', 'of March analyst1 knows two answers, too');
SELECT is(ask('analyst2', month(3), 'SET dp_cdp.rho = 4e-6'), 'analyst2 2024-03-01 2024-04-01 4, cap 2024-03-01 2024-04-01 6', 'another one for analyst2');
SELECT is(known('{analyst1,analyst2}'), '6 of 6', 'together they know most of March');
SELECT is(ask('analyst2', 'SELECT count(*) FROM visits'), 'analyst2 -infinity 2024-01-01 1, analyst2 2024-01-01 2024-02-01 4, analyst2 2024-02-01 2024-03-01 1, '
	|| 'analyst2 2024-03-01 2024-04-01 5, analyst2 2024-04-01 infinity 1, cap -infinity 2024-01-01 1, cap 2024-01-01 2024-02-01 4, cap 2024-02-01 2024-03-01 3, '
	|| 'cap 2024-03-01 2024-04-01 7, cap 2024-04-01 infinity 1', 'all blocks');
SELECT is(known('{analyst2}'), '5 of 5', 'are of each block');
SELECT is(known('{analyst1,analyst2}'), '7 of 7', 'of March, too');
SELECT is((SELECT round(rho_spent * 1e6, 3)::float8 FROM dp_cdp_internal.dataset WHERE name = 'clinic'), 7::float8, 'which is what the cap has paid');
-- team has a balance of its own
SELECT is(known('{team}'), NULL, 'a role without a balance');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('clinic', 'team', rho => 1);
RESET SESSION AUTHORIZATION;
GRANT team TO analyst1;
SELECT is(ask('analyst1', month(1)), 'team 2024-01-01 2024-02-01 1', 'what a team pays');
SELECT is(known('{analyst1}'), '2 of 2', 'its members know once');
SELECT is(known('{team}'), '1 of 1', 'and whoever is of it');
-- without blocks
SELECT ask('analyst1', 'SELECT count(*) FROM stays');
SELECT ask('analyst1', 'SELECT count(*) + 0 FROM stays WHERE patient > 1');
SELECT is(known('{analyst1}', 'flat'), '2 of 2', 'without blocks all is added up');

-- a debit by hand is of all blocks
SELECT dp_cdp.debit_budget('clinic', 1e-6, 0, 'analyst2');
SELECT is(known('{analyst1,analyst2}'), '8 of 8', 'debits by hand are of all blocks');

-- chains that are gone, as after pruning, count for each who has paid for them, in their blocks
ALTER TABLE dp_cdp_internal.kept_answer DISABLE TRIGGER ledger_guard;
DELETE FROM dp_cdp_internal.kept_answer WHERE block_from = '2024-01-01' AND block_to = '2024-02-01';
SELECT is(known('{analyst1,analyst2}'), '8 of 8', 'of March they know the same');
UPDATE dp_cdp_internal.kept_answer SET block_from = NULL, block_to = NULL WHERE block_from = '2024-03-01';
DELETE FROM dp_cdp_internal.kept_answer;
ALTER TABLE dp_cdp_internal.kept_answer ENABLE ALWAYS TRIGGER ledger_guard;
SELECT is(known('{analyst1}'), '2 of 2', 'analyst1 by himself');
SELECT is(known('{analyst1,analyst2}'), '8 of 8', 'and both, as if each had bought his own');
SELECT is(known('{analyst1,team}'), known('{analyst1}'), 'balances of one role');

-- why all blocks are charged is told to who is charged: of a kept answer to whoever has not paid for it
\set ask '-c "SELECT count(*) FROM visits WHERE extract(month FROM visited_on) = 2"'
\setenv ASK :ask
\set first `eval psql -X -q -U analyst1 -o /dev/null $ASK $ASK 2>&1 | grep -c 'all blocks of time are charged'`
\set second `eval psql -X -q -U analyst2 -o /dev/null $ASK 2>&1 | grep -c 'all blocks of time are charged'`
SELECT is(:'first'::text || ' ' || :'second', '1 1', 'who is charged is told why all blocks are');

SELECT * FROM finish();
