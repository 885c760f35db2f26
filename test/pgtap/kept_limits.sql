-- Limits that are found and kept: up to ten times their price they stay, from there on they are found anew.

SET client_min_messages = error;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
-- 1,000 patients, each with 5 visits
CREATE TABLE visits (patient int, dept text NOT NULL);
INSERT INTO visits SELECT i % 1000, substr('abcde', 1 + i / 1000, 1) FROM generate_series(0, 4999) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.01, min_rho => 1e-5, reuse => '1 day');
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000, delta => 1e-6);
SELECT dp_cdp.set_budget('clinic', 'analyst2', rho => 1000, delta => 1e-6);
RESET SESSION AUTHORIZATION;
ANALYZE visits;

CREATE TABLE told (n serial, answer bigint, kept text, paid numeric, cap numeric);
GRANT ALL ON told, told_n_seq TO PUBLIC;
CREATE FUNCTION spent(who text) RETURNS numeric LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
	SELECT rho_spent::numeric FROM dp_cdp_internal.budget WHERE role = who::regrole $$;
CREATE FUNCTION cap() RETURNS numeric LANGUAGE sql VOLATILE SECURITY DEFINER AS $$ SELECT rho_spent::numeric FROM dp_cdp_internal.dataset $$;
-- asks for the number of visits as a role, at a price; kept: which of its columns were
CREATE FUNCTION ask(who text, price numeric) RETURNS SETOF told LANGUAGE plpgsql AS $$
DECLARE
	paid numeric := spent(who);
	cap numeric := cap();
	answer bigint;
	kept text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION ' || who;
	EXECUTE 'SET dp_cdp.rho = ' || price;
	EXECUTE 'SELECT count(*) FROM visits' INTO answer;
	SELECT string_agg(aggregate, ', ' ORDER BY aggregate) INTO kept FROM dp_cdp.last_release() WHERE reused_since IS NOT NULL;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN QUERY INSERT INTO told (answer, kept, paid, cap) VALUES (answer, kept, spent(who) - paid, cap() - cap) RETURNING *;
END $$;

SELECT plan(13);
SELECT is(kept, NULL, 'nothing is kept at first') FROM ask('analyst1', 1e-4);
SELECT is(kept, 'count(*), limit of count(*)', 'at nine times the price the limit stays') FROM ask('analyst1', 9e-4);
SELECT ok(paid < 8e-4, 'and a better answer costs the difference, less what the limit would') FROM told WHERE n = 2;
SELECT is(kept, 'limit of count(*)', 'at more than ten times the price the limit is found better, and the count anew') FROM ask('analyst1', 0.5);
SELECT ok(paid BETWEEN 0.4999 AND 0.5 AND cap = paid, 'which costs the whole price, but for the increment of the limit') FROM told WHERE n = 3;
-- a limit of 4 to 16 visits; the standard deviation is below 16 / sqrt(2 * 0.4) = 18
SELECT ok(abs(answer - 5000) < 250, 'and is worth it') FROM told WHERE n = 3;
SELECT is(answer, (SELECT answer FROM told WHERE n = 3), 'who asks for less then is given the best') FROM ask('analyst1', 9e-4);
SELECT is(paid + cap, 0::numeric, 'for nothing') FROM told WHERE n = 4;
SELECT is(answer, (SELECT answer FROM told WHERE n = 1), 'another, who has paid for nothing, has the first answer at its price') FROM ask('analyst2', 1e-4);
SELECT is(format('%s, %s', paid::float8, cap::float8), '0.0001, 0', 'which the cap has paid for') FROM told WHERE n = 5;
SELECT is(answer, (SELECT answer FROM told WHERE n = 3), 'and the best at its price') FROM ask('analyst2', 0.5);
SELECT is(cap::float8, 0::float8, 'which the cap has paid for, too') FROM told WHERE n = 6;
-- that no group is shown is told of kept answers, too, each time
\set said `psql -X -q -U analyst1 -o /dev/null -c 'SELECT dept, count(*) FROM visits WHERE patient < 3 GROUP BY 1' -c 'SELECT dept, count(*) FROM visits WHERE patient < 3 GROUP BY 1' 2>&1 | grep -c 'no group is shown'`
SELECT is(:'said'::text, '2', 'no group is shown, and kept');
SELECT * FROM finish();
