-- dp_cdp.consistent and answers that are kept: what was bought by itself is taken for a grouping set of the same rows,
-- costs nothing there, and agrees. Rows are the same where types and constraints leave no row without a declared key.

SET client_min_messages = error;

CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
CREATE TYPE sex AS ENUM ('f', 'm');
CREATE TABLE visits (id int PRIMARY KEY, dept text NOT NULL CHECK (dept IN ('a', 'b', 'c')), sex sex NOT NULL, ok boolean NOT NULL,
	code varchar(3) NOT NULL CHECK (code IN ('x', 'y')), digit int NOT NULL CHECK (digit = ANY ('{0,1,2}')),
	ward text, hole text NOT NULL CHECK (hole IN ('p', 'q', NULL)), maybe text CHECK (maybe IN ('p', 'q')),
	old text NOT NULL, cost int);
INSERT INTO visits SELECT i, substr('abc', 1 + i % 3, 1), (ARRAY['f', 'm']::sex[])[1 + i % 2], i % 5 = 0, substr('xy', 1 + i % 2, 1), i % 3,
	CASE WHEN i % 10 > 0 THEN 'w' || i % 2 END, substr('pqr', 1 + i % 3, 1), CASE WHEN i % 4 > 0 THEN substr('pq', 1 + i % 2, 1) END,
	substr('pqr', 1 + i % 3, 1), i % 100
	FROM generate_series(1, 6000) i;
ALTER TABLE visits ADD CONSTRAINT old_values CHECK (old IN ('p', 'q')) NOT VALID;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e-6, min_rho => 1e-12, reuse => '1 day') \g /dev/null
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true) \g /dev/null
SELECT dp_cdp.set_keys('visits', column_name, keys) FROM (VALUES ('dept'::name, '{a,b,c}'::text[]), ('ward', '{w0,w1}'), ('hole', '{p,q}'),
	('maybe', '{p,q,NULL}'), ('old', '{p,q}')) AS k (column_name, keys) \g /dev/null
SELECT dp_cdp.set_keys('visits', 'code', '{x,y}'::varchar[]) \g /dev/null
SELECT dp_cdp.set_keys('visits', 'digit', '{0,1,2}'::int[]) \g /dev/null
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100) \g /dev/null
SELECT dp_cdp.set_budget('clinic', role, rho => 1000) FROM unnest('{analyst1,analyst2}'::regrole[]) role \g /dev/null

\ir analyst.psql

-- the answers of a query as a role gets them where they are to agree, and what they cost analyst1 or the cap
CREATE FUNCTION ask(query text, who text DEFAULT 'analyst1', setting text DEFAULT 'on', OUT answers jsonb, OUT cost bigint, OUT cap bigint) LANGUAGE plpgsql AS $$
DECLARE
	before bigint := spent();
	cap_before bigint := (SELECT rho_spent * 1e6 FROM dp_cdp_internal.dataset);
BEGIN
	PERFORM set_config('dp_cdp.consistent', setting, false);
	EXECUTE 'SET SESSION AUTHORIZATION ' || who;
	EXECUTE format('SELECT jsonb_agg(to_jsonb(q) ORDER BY q) FROM (%s) q', query) INTO answers;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	cost := spent() - before;
	cap := (SELECT rho_spent * 1e6 FROM dp_cdp_internal.dataset) - cap_before;
END $$;

-- what grouping sets by a key and by nothing cost when both are kept by themselves
CREATE FUNCTION price_beside(key text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM ask(format('SELECT %s, count(*) AS n FROM visits GROUP BY 1', key));
	PERFORM ask('SELECT count(*) AS n FROM visits');
	RETURN (SELECT cost FROM ask(format('SELECT %s, count(*) AS n FROM visits GROUP BY GROUPING SETS ((%1$s), ())', key)));
END $$;

-- the sum of the answers of one grouping set
CREATE FUNCTION sum_of(answers jsonb, gid int, what text DEFAULT 'n') RETURNS numeric LANGUAGE sql
	AS $$ SELECT sum((a->>what)::numeric) FROM jsonb_array_elements(answers) a WHERE (a->>'gid')::int = sum_of.gid $$;

SELECT plan(29);

-- ---------------------------------------------------------------------
-- Three questions, and the same as one
-- ---------------------------------------------------------------------

\set dept 'SELECT dept, count(*) AS n, sum(cost) AS s, dp_noise_stddev(dp_count(*)) AS sd FROM visits GROUP BY dept'
\set sex 'SELECT sex, count(*) AS n, sum(cost) AS s, dp_noise_stddev(dp_count(*)) AS sd FROM visits GROUP BY sex'
\set total 'SELECT count(*) AS n, sum(cost) AS s, dp_noise_stddev(dp_count(*)) AS sd FROM visits'
\set sets 'SELECT dept, sex, GROUPING(dept, sex) AS gid, count(*) AS n, sum(cost) AS s, dp_noise_stddev(dp_count(*)) AS sd FROM visits GROUP BY GROUPING SETS ((dept), (sex), ())'
\set cube 'SELECT dept, sex, GROUPING(dept, sex) AS gid, count(*) AS n, sum(cost) AS s, dp_noise_stddev(dp_count(*)) AS sd FROM visits GROUP BY CUBE (dept, sex)'
SELECT answers AS dept_alone, cost AS dept_cost FROM ask(:'dept') \gset
SELECT answers AS sex_alone, cost AS sex_cost FROM ask(:'sex') \gset
SELECT answers AS total_alone, cost AS total_cost FROM ask(:'total') \gset
SELECT is(ARRAY[:dept_cost, :sex_cost, :total_cost]::bigint[], '{2,2,2}', 'each is bought by itself');

SELECT answers AS together, cost, cap FROM ask(:'sets') \gset
SELECT is(ARRAY[:cost, :cap]::bigint[], '{0,0}', 'asked for together they cost nothing');
SELECT ok(sum_of(:'together', 1) = sum_of(:'together', 3) AND sum_of(:'together', 2) = sum_of(:'together', 3), 'counts agree');
SELECT ok(sum_of(:'together', 1, 's') = sum_of(:'together', 3, 's') AND sum_of(:'together', 2, 's') = sum_of(:'together', 3, 's'), 'and sums do');
SELECT ok((:'together'::jsonb->0->>'sd')::float8 < (:'dept_alone'::jsonb->0->>'sd')::float8, 'with less noise than was bought');
SELECT is((SELECT array_agg(a.cost ORDER BY i) FROM unnest(ARRAY[:'dept', :'sex', :'total', :'sets']) WITH ORDINALITY q (q, i), ask(q) a), '{0,0,0,0}', 'all of them are free from then on');
SELECT is((SELECT jsonb_agg(a.answers ORDER BY i) FROM unnest(ARRAY[:'dept', :'sex', :'total', :'sets']) WITH ORDINALITY q (q, i), ask(q) a),
	jsonb_build_array(:'dept_alone'::jsonb, :'sex_alone'::jsonb, :'total_alone'::jsonb, :'together'::jsonb), 'and each is what it was, to the last digit');
-- what is shown is what least squares makes of what was shown: the weights of 2 and 3 cells and of the total
WITH w AS (SELECT sum_of(:'together', 3) AS agreed, (SELECT sum((a->>'n')::numeric) FROM jsonb_array_elements(:'dept_alone') a) AS dept,
	(SELECT sum((a->>'n')::numeric) FROM jsonb_array_elements(:'sex_alone') a) AS sex, (:'total_alone'::jsonb->0->>'n')::numeric AS total)
SELECT ok(abs(agreed - (dept / 3 + sex / 2 + total) / (1.0 / 3 + 1.0 / 2 + 1)) <= 1, 'the total is the mean of the three that were shown, by their noise') FROM w;

SELECT answers AS all_sets, cost, cap FROM ask(:'cube') \gset
SELECT is(ARRAY[:cost, :cap]::bigint[], '{2,2}', 'a cube buys its finest set alone');
SELECT ok(sum_of(:'all_sets', 0) = sum_of(:'all_sets', 3) AND sum_of(:'all_sets', 1) = sum_of(:'all_sets', 3) AND sum_of(:'all_sets', 2) = sum_of(:'all_sets', 3), 'and agrees');
SELECT is((SELECT answers FROM ask(:'sets')), :'together'::jsonb, 'sets without it stay as they were shown');
SELECT is((SELECT a.answers->5->'n' FROM ask(:'sets', setting => 'off') a), :'total_alone'::jsonb->0->'n', 'without the setting sets are as they were drawn');

-- who has not paid pays for each set, and the cap for none
SELECT answers AS others, cost, cap FROM ask(:'sets', 'analyst2') \gset
SELECT is(ARRAY[:cost, :cap]::bigint[], '{0,0}', 'what others have bought costs the first role and the cap nothing');
SELECT is((SELECT sum(rho_spent) * 1e6 FROM dp_cdp_internal.budget WHERE role = 'analyst2'::regrole)::bigint, 6::bigint, 'who has not paid for any of them pays for three sets of two');
SELECT is(:'others'::jsonb, :'together'::jsonb, 'and sees the same');

-- ---------------------------------------------------------------------
-- Which rows are the same
-- ---------------------------------------------------------------------

SELECT is(price_beside('ok'), 0::bigint, 'booleans without NULL');
SELECT is(price_beside('sex'), 0::bigint, 'an enum');
SELECT is(price_beside('code'), 0::bigint, 'varchar, by a constraint');
SELECT is(price_beside('digit'), 0::bigint, 'numbers, by a constraint');
SELECT is(price_beside('maybe'), 0::bigint, 'NULL, where it is declared');
SELECT is(price_beside('ward'), 1::bigint, 'not where a row may have no declared key: the total is of the others');
SELECT is(price_beside('hole'), 1::bigint, 'not by a list with NULL, which holds for everything');
SELECT is(price_beside('old'), 1::bigint, 'not by a constraint that old rows need not obey');
-- nor by what calls a function of the table's owner, which is not run as who asks
CREATE SEQUENCE called;
CREATE FUNCTION upon_planning(word text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('called'); RETURN word; END $$;
ALTER TABLE visits ADD COLUMN kind text NOT NULL DEFAULT 'k' CHECK (kind IN (upon_planning('k')));
SELECT dp_cdp.set_keys('visits', 'kind', '{k}'::text[]) \g /dev/null
SELECT last_value AS called FROM called \gset
SELECT is(price_beside('kind'), 1::bigint, 'not by a function of the owner');
SELECT is((SELECT last_value FROM called), :called::bigint, 'which has not run');
-- a plan that rests on a constraint does not outlive it
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.consistent = on;
SET plan_cache_mode = force_generic_plan;
PREPARE beside AS SELECT digit, count(*) AS n FROM visits GROUP BY GROUPING SETS ((digit), ());
EXECUTE beside \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT spent() AS before_it \gset
SET SESSION AUTHORIZATION analyst1;
EXECUTE beside \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT is(spent() - :before_it, 0::bigint, 'a prepared statement is given what is kept');
ALTER TABLE visits DROP CONSTRAINT visits_digit_check;
SET SESSION AUTHORIZATION analyst1;
EXECUTE beside \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT is(spent() - :before_it, 1::bigint, 'and buys the total of declared rows, once the constraint has gone');
ALTER TABLE visits ADD CONSTRAINT no_digit CHECK (digit IN (0, 1, 2)) NO INHERIT;
SELECT is(price_beside('digit'), 0::bigint, 'which is kept, too');
SELECT answers AS wards FROM ask('SELECT ward, sex, GROUPING(ward, sex) AS gid, count(*) AS n FROM visits GROUP BY GROUPING SETS ((ward), (sex), ())') \gset
SELECT ok(sum_of(:'wards', 1) = sum_of(:'wards', 3) AND sum_of(:'wards', 2) = sum_of(:'wards', 3), 'sets of which one is held to declared rows agree');

SELECT * FROM finish();
