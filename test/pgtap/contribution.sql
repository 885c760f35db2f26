-- max_contribution: what a person adds to a query is scaled to a norm, whose limit is declared, or found for a share of the price.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
-- 3000 persons with 1 to 4 visits, in as many of 6 departments; a visit costs 0 to 9
CREATE TABLE visits AS SELECT p AS person, p * 4 + v AS id, (p + v) % 6 AS dept, (p + v) % 10 AS cost, date '2026-01-01' + (p + v) % 90 AS day
	FROM generate_series(1, 3000) p, generate_series(1, 1 + p % 4) v;
ALTER TABLE visits ALTER dept SET NOT NULL;
CREATE TABLE kept (LIKE visits);
-- of these with 1 to 20
INSERT INTO kept SELECT p, p * 20 + v, (p + v) % 6, (p + v) % 10, date '2026-01-01' + (p + v) % 90 FROM generate_series(1, 3000) p, generate_series(1, 1 + p % 20) v;
CREATE TABLE diary (LIKE visits);
INSERT INTO diary SELECT * FROM visits;
ALTER TABLE diary ALTER person SET NOT NULL, ALTER day SET NOT NULL;
CREATE VIEW seen AS SELECT person AS who, dept AS d, cost AS c FROM visits WHERE dept < 3;
GRANT SELECT ON seen TO analyst1;
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.5, min_rho => 1e-6);
SELECT dp_cdp.create_dataset('kept', default_rho => 0.01, min_rho => 1e-6, reuse => '1 day');
SELECT dp_cdp.create_dataset('diary', default_rho => 10);
SELECT dp_cdp.protect_table('visits', 'clinic', 'person'), dp_cdp.protect_table('kept', 'kept', 'person'),
	dp_cdp.protect_table('diary', 'diary', 'person', block => 'day', every => '1 month');
SELECT dp_cdp.set_keys(t::regclass, 'dept', '{0,1,2,3,4,5}'::int[]), dp_cdp.set_bounds(t::regclass, 'cost', 0, 10) FROM unnest('{visits,kept,diary}'::text[]) t;
SELECT dp_cdp.set_budget(d, r::regrole, rho => 1e6) FROM unnest('{clinic,kept,diary}'::text[]) d, unnest('{analyst1,analyst2}'::text[]) r;
RESET SESSION AUTHORIZATION;
ANALYZE;

-- what a dataset has of limits
CREATE FUNCTION limits(name text) RETURNS text LANGUAGE sql AS
	$$ SELECT format('groups %s rows %s contribution %s', max_groups, max_rows, max_contribution) FROM dp_cdp.datasets WHERE dataset = name $$;
-- what all have spent, and all limits
CREATE FUNCTION all_there_is() RETURNS text LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
	SELECT (SELECT sum(rho_spent) FROM dp_cdp_internal.budget) || (SELECT string_agg(dataset || ': ' || limits(dataset), ', ' ORDER BY dataset) FROM dp_cdp.datasets) $$;
-- a query's answer as a role, with settings
CREATE FUNCTION ask(query text, settings text DEFAULT '', who name DEFAULT 'analyst1') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I; %s', who, settings);
	EXECUTE format('SELECT string_agg(q::text, '' '') FROM (%s) q', query) INTO answer;
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.rho; RESET dp_cdp.max_contribution; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows;
		RESET dp_cdp.find_bounds; RESET dp_cdp.target_error; RESET dp_cdp.reuse';
	RETURN answer;
END $$;
-- what EXPLAIN says of limits and noise
CREATE FUNCTION explained(query text, settings text DEFAULT '', options text DEFAULT 'costs off') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		result := concat_ws(E'\n', result, substring(line FROM '^ *Release: (.*)'));
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.rho; RESET dp_cdp.max_contribution; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows; RESET dp_cdp.find_bounds';
	RETURN ltrim(result, E'\n');
END $$;
-- what was reported of the last release
CREATE FUNCTION reported() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	SELECT string_agg(concat_ws(' ', aggregate, rho, 'norm ' || norm), ', ') INTO result FROM dp_cdp.last_release() WHERE "group" IS NULL;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- Datasets
-- ------------------------------------------------------------------------

SELECT is(limits('clinic'), 'groups  rows  contribution auto', 'limits are found where nobody has set any');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('a', max_contribution => 'auto', max_rows => 3), dp_cdp.create_dataset('b', max_contribution => '20'),
	dp_cdp.create_dataset('c', max_groups => 2, max_rows => 3), dp_cdp.create_dataset('d', max_groups => 2),
	dp_cdp.create_dataset('e', max_groups => 2, max_rows => 3, max_contribution => '0.0625'), dp_cdp.create_dataset('f', max_contribution => 'AUTO'),
	dp_cdp.create_dataset('g', max_contribution => '1048576');
SELECT is(limits(d), l, d) FROM (VALUES ('a', 'groups  rows 3 contribution auto'), ('b', 'groups  rows  contribution 20'),
	('c', 'groups 2 rows 3 contribution '), ('d', 'groups 2 rows  contribution auto'), ('e', 'groups 2 rows 3 contribution 0.0625'),
	('f', 'groups  rows  contribution auto'), ('g', 'groups  rows  contribution 1048576')) v(d, l);
RESET SESSION AUTHORIZATION;

CREATE FUNCTION bad(value text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	before text := all_there_is();
BEGIN
	RETURN NEXT throws_ok(format('SELECT dp_cdp.create_dataset(%L, max_contribution => %L)', 'bad', value), 'ZC004',
		'max_contribution must be "auto", or a number of rows from 0.0625 to 1048576, such as 20', format('create_dataset refuses "%s"', value));
	RETURN NEXT throws_ok(format('SELECT dp_cdp.alter_dataset(%L, max_rows => 9, max_contribution => %L)', 'e', value), 'ZC004',
		'max_contribution must be "auto", or a number of rows from 0.0625 to 1048576, such as 20', format('alter_dataset refuses "%s"', value));
	RETURN NEXT is(all_there_is(), before, 'nothing is changed');
END $$;
SET SESSION AUTHORIZATION owner1;
SELECT bad(v) FROM unnest('{0,-1,NaN,Infinity,-Infinity,x,"","auto ",5 rows,0.01,1e7,1e999}'::text[]) v;

SELECT dp_cdp.alter_dataset('c', max_contribution => '7');
SELECT is(limits('c'), 'groups  rows  contribution 7', 'it takes the place of max_groups and max_rows');
SELECT dp_cdp.alter_dataset('c', max_rows => 4);
SELECT is(limits('c'), 'groups  rows 4 contribution 7', 'which are given beside it');
SELECT dp_cdp.alter_dataset('c', max_groups => 3, max_contribution => '8');
SELECT is(limits('c'), 'groups 3 rows  contribution 8', 'those that are given with it stay');
SELECT dp_cdp.alter_dataset('c', rho => 3);
SELECT is(limits('c'), 'groups 3 rows  contribution 8', 'NULL leaves it');
SELECT dp_cdp.alter_dataset('c', max_contribution => 'auto');
SELECT is(limits('c'), 'groups  rows  contribution auto', 'auto takes it away');
SELECT dp_cdp.alter_dataset('c', max_groups => 2, max_rows => 3);
SELECT dp_cdp.drop_dataset(d) FROM unnest('{a,b,c,d,e,f,g}'::text[]) d;
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------------------
-- The setting, and which of all holds
-- ------------------------------------------------------------------------

SELECT is(failure || ' ' || cost, 'ZC004 dp_cdp.max_contribution must be auto, or a number of rows from 0.0625 to 1048576; RESET it for the dataset''s default 0',
		format('the setting refuses "%s"', v))
	FROM unnest('{0,-1,NaN,Infinity,x,auto 5,5 rows,1e7}'::text[]) v, run_as_analyst(format('SET dp_cdp.max_contribution = %L', v));
SELECT is(current_setting('dp_cdp.max_contribution'), '', 'and stays as it is');
SELECT matches(explained('SELECT count(*) FROM visits', 'SET dp_cdp.max_contribution = '''''), 'found first', 'empty: the dataset''s');

CREATE FUNCTION holds(settings text, wanted text, description text) RETURNS text LANGUAGE sql AS
	$$ SELECT is(explained('SELECT dept, count(*) FROM visits GROUP BY dept', settings), wanted, description) $$;
SELECT holds('', E'limit of count(*)  (stddev=4.04888 of each count, rho=0.0305)  found first\ncount(*)  (stddev known when it runs, rho=0.4695)  a unit counts up to a norm that is found first',
	'auto: a share of the price finds the limit');
SELECT holds('SET dp_cdp.max_contribution = 3', 'count(*)  (stddev=3 rho=0.5)  a unit counts up to a norm of 3 rows', 'a number');
SELECT holds('SET dp_cdp.max_groups = 2', replace(explained('SELECT dept, count(*) FROM visits GROUP BY dept'), 'counts up', 'counts in 2 of 6 groups, up'), 'max_groups alone does not limit rows');
SELECT holds('SET dp_cdp.max_groups = 6', explained('SELECT dept, count(*) FROM visits GROUP BY dept'), 'nor all groups');
SELECT holds('SET dp_cdp.max_rows = 2', replace(explained('SELECT dept, count(*) FROM visits GROUP BY dept'), 'rho=0.4695)  a unit counts up', 'rho=0.4695)  a unit counts with 2 rows of each group, up'), 'nor max_rows groups');
SELECT holds('SET dp_cdp.max_groups = 4; SET dp_cdp.max_rows = 2', 'count(*)  (stddev=4 rho=0.5)  a unit counts in 4 of 6 groups with 2 rows of each group', 'both are all that limits');
SELECT holds('SET dp_cdp.max_groups = 4; SET dp_cdp.max_rows = 2; SET dp_cdp.max_contribution = 3', 'count(*)  (stddev=3 rho=0.5)  a unit counts in 4 of 6 groups with 2 rows of each group, up to a norm of 3 rows',
	'beside a smaller norm this sets the noise');
SELECT matches(explained('SELECT dept, count(*) FROM visits GROUP BY dept', 'SET dp_cdp.max_groups = 4; SET dp_cdp.max_rows = 2; SET dp_cdp.max_contribution = 30'), 'stddev=4 rho=0.5', 'a larger one does not');
SELECT matches(explained('SELECT dept, count(*) FROM visits GROUP BY dept', 'SET dp_cdp.max_groups = 4; SET dp_cdp.max_rows = 2; SET dp_cdp.max_contribution = auto'), 'norm that is found first', 'auto finds one beside them');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', max_contribution => '20');
RESET SESSION AUTHORIZATION;
SELECT holds('', 'count(*)  (stddev=20 rho=0.5)  a unit counts up to a norm of 20 rows', 'that of the dataset');
SELECT holds('SET dp_cdp.max_contribution = 2.5', 'count(*)  (stddev=2.5 rho=0.5)  a unit counts up to a norm of 2.5 rows', 'the session''s holds instead');
SELECT matches(explained('SELECT dept, count(*) FROM visits GROUP BY dept', 'SET dp_cdp.max_contribution = auto'), 'found first', 'also where that is auto');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('clinic', max_contribution => 'auto');
RESET SESSION AUTHORIZATION;
SELECT is(explained('SELECT sum(cost), count(DISTINCT person) FROM visits', 'SET dp_cdp.max_contribution = 3'),
	E'sum(cost)  (stddev=30 rho=0.5)  a unit counts up to a norm of 3 rows at the larger bound\ncount(DISTINCT person)  (stddev=1 rho=0.5)', 'of sums times the larger bound; a person counts once');
SELECT is(explained('SELECT count(DISTINCT person) FROM visits'), 'count(DISTINCT person)  (stddev=1 rho=0.5)', 'for which no limit is found');
SELECT matches(explained('SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept', 'SET dp_cdp.max_contribution = 20'), '^.*stddev=2.44949 rho=0.5\)', 'nobody counts in more groups than there are');
SELECT matches(explained('SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept', 'SET dp_cdp.max_contribution = 2'), '^.*stddev=2 rho=0.5\)', 'or in fewer');

-- ------------------------------------------------------------------------
-- Answers, at a price at which noise vanishes: a wrong one is less likely than 1e-12
-- ------------------------------------------------------------------------

CREATE FUNCTION sharp(query text, settings text, wanted text, description text) RETURNS text LANGUAGE sql AS
	$$ SELECT is(ask(query, 'SET dp_cdp.rho = 1e5; ' || settings), wanted, description) $$;
SELECT sharp('SELECT dept, count(*), sum(cost) FROM visits GROUP BY dept ORDER BY dept', '',
	(SELECT string_agg(q::text, ' ') FROM (SELECT dept, count(*), sum(cost) FROM visits GROUP BY dept ORDER BY dept) q), 'nothing is cut');
SELECT is(ask('SELECT dp_count(*) FROM visits', 'SET dp_cdp.rho = 5e4; SET dp_cdp.max_contribution = 1'), '(3000)', 'everybody is scaled to a row');
SELECT sharp('SELECT dp_count(*) FROM visits', 'SET dp_cdp.max_contribution = 3', format('(%s)', (SELECT sum(least(1 + p % 4, 3)) FROM generate_series(1, 3000) p)), '... to three rows');
SELECT sharp('SELECT dp_count(*) FROM visits', 'SET dp_cdp.max_contribution = auto; SET dp_cdp.max_rows = 3', format('(%s)', (SELECT sum(least(1 + p % 4, 3)) FROM generate_series(1, 3000) p)), 'max_rows hold where a norm is found');
-- whoever has fewer rows adds less than max_rows times the lesser bound
SELECT is(ask('SELECT dp_sum(cost, 5, 7), dp_sum(-cost, -7, -5) FROM visits', 'SET dp_cdp.rho = 1e5; SET dp_cdp.max_rows = 4; SET dp_cdp.max_contribution = ' || c, 'analyst2'),
	format('(%s,%s)', n, -n), 'a norm of ' || c || ' and max_rows, values on one side of 0')
	FROM (SELECT sum(least(greatest(cost, 5), 7)) AS n FROM visits) v, unnest('{100,auto}'::text[]) c;
SELECT sharp('SELECT d, count(*) FROM seen GROUP BY d ORDER BY d', '', (SELECT string_agg(q::text, ' ') FROM (SELECT d, count(*) FROM seen GROUP BY d ORDER BY d) q), 'of a view');
SELECT matches(reported(), '^limit of count\(\*\) \d+, count\(\*\) \d+ norm [2-4]', 'whose limit is found, too');
SELECT sharp('SELECT dept, grouping(dept), count(*) FROM visits GROUP BY ROLLUP (dept) ORDER BY dept', '',
	(SELECT string_agg(q::text, ' ') FROM (SELECT dept, grouping(dept), count(*) FROM visits GROUP BY ROLLUP (dept) ORDER BY dept) q), 'of several grouping sets');
SELECT is(regexp_replace(reported(), '[0-9.]+', 'x', 'g'), 'limit of count(*) x, count(*) x norm x, limit of count(*) x, count(*) x norm x', 'each has a limit of its own');

-- a statement that is prepared under one setting and run under another
CREATE FUNCTION prepared(settings text, later text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; SET dp_cdp.rho = 1e4; SET plan_cache_mode = force_generic_plan; ' || settings;
	EXECUTE 'PREPARE q(int) AS SELECT dp_count(*) FROM visits WHERE cost < $1';
	EXECUTE 'EXECUTE q(10)' INTO answer;
	answers := ARRAY[answer];
	EXECUTE later;
	EXECUTE 'EXECUTE q(10)' INTO answer;
	EXECUTE 'DEALLOCATE q; RESET SESSION AUTHORIZATION; RESET dp_cdp.rho; RESET dp_cdp.max_contribution; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows; RESET plan_cache_mode';
	RETURN (answers || answer)::text;
END $$;
CREATE TABLE true_answer AS SELECT sum(n) AS all, sum(least(n, 3)) AS three FROM (SELECT count(*) AS n FROM visits GROUP BY person) s;
SELECT is(prepared('', 'SET dp_cdp.max_contribution = 1'), format('{%s,3000}', "all"), 'a prepared statement: a number, where it was planned to find one') FROM true_answer;
SELECT is(prepared('SET dp_cdp.max_contribution = 1', 'RESET dp_cdp.max_contribution'), format('{3000,%s}', "all"), '... to find one, where a number was set') FROM true_answer;
SELECT is(prepared('', 'SET dp_cdp.max_groups = 1; SET dp_cdp.max_rows = 3'), format('{%s,%s}', "all", three), '... max_groups and max_rows') FROM true_answer;
SELECT is(prepared('SET dp_cdp.max_groups = 1; SET dp_cdp.max_rows = 3', 'SET dp_cdp.max_contribution = 1'), format('{%s,3000}', three), '... a number, where these were set') FROM true_answer;
SELECT is(prepared('SET dp_cdp.max_groups = 1; SET dp_cdp.max_rows = 3', 'RESET dp_cdp.max_groups; RESET dp_cdp.max_rows'), format('{%s,%s}', three, "all"), '... to find one, where these were set') FROM true_answer;

-- ------------------------------------------------------------------------
-- EXPLAIN, before and after; a target; bounds that are found
-- ------------------------------------------------------------------------

GRANT SELECT ON visits TO analyst1;
SELECT matches(explained('SELECT dp_count(*) FROM visits', 'SET dp_cdp.rho = 2e4', 'costs off, timing off, summary off, analyze'),
	'^limit of dp_count\(\*\) .*found first\ndp_count\(\*\)  \(stddev=0.[0-9]+ rho=[0-9]+\)  a unit counts up to a norm of [4-8]\.?[0-9]* rows', 'EXPLAIN (ANALYZE) tells what was found');
REVOKE SELECT ON visits FROM analyst1;
SET SESSION AUTHORIZATION analyst1;
SELECT results_eq($$SELECT item, name, sensitivity, stddev, norm FROM dp_cdp.preview('SELECT count(*), count(*) + 1 FROM visits') WHERE item IN ('aggregate', 'expression')$$,
	$$VALUES ('aggregate', 'limit of count(*)', 1::float8, NULL::float8, NULL::float8), ('aggregate', 'count(*)', NULL, NULL, NULL), ('expression', '(count(*) + 1)', NULL, NULL, NULL)$$,
	'preview tells no noise that nobody knows');
RESET SESSION AUTHORIZATION;

-- what is cut is known where the limit that is found is all that cuts
SELECT is(ask('SELECT bool_and(c IS NULL) FROM (SELECT dept, dp_cut(count(*)) AS c FROM visits GROUP BY dept) g', 'SET dp_cdp.max_contribution = auto' || more), wanted, 'a share that is cut' || more)
	FROM (VALUES ('', '(f)'), ('; SET dp_cdp.max_rows = 2', '(t)'), ('; SET dp_cdp.max_groups = 2', '(t)'), ('; SET dp_cdp.max_groups = 6', '(f)')) AS v (more, wanted);
SELECT is(ask('SELECT c IS NULL FROM (SELECT dp_cut(dp_sum(cost, 0, 10, 0, 15)) AS c FROM visits) g', 'SET dp_cdp.max_contribution = auto'), '(t)', '... beside totals');
SELECT isnt(ask('SELECT dept, count(*), dp_margin(count(*)) FROM visits GROUP BY dept', 'SET dp_cdp.target_error = ''10%'''), NULL, 'a target of accuracy');
SELECT is((SELECT count(*) FILTER (WHERE aggregates LIKE '%limit of%') || ' of ' || count(*) FROM dp_cdp.releases WHERE id > (SELECT max(id) - 3 FROM dp_cdp.releases)), '1 of 3',
	'is met by a limit that the pilot has found');
SELECT isnt(ask('SELECT sum(id) FROM visits', 'SET dp_cdp.rho = 1e4; SET dp_cdp.find_bounds = 0.2'), NULL, 'bounds are found, too');
SELECT matches(reported(), '^bounds of .* 2000, limit of .* \d+, sum\(.*\) \d+ norm ', 'at prices of their own');
SELECT is((SELECT sum(rho)::float8 FROM dp_cdp.releases WHERE id > (SELECT max(id) - 3 FROM dp_cdp.releases)), 12000::float8, 'limits are of the price of the sum');

-- ------------------------------------------------------------------------
-- Answers that are kept
-- ------------------------------------------------------------------------

-- what a role has paid in hundredths of rho, and what all have bought of limits
CREATE FUNCTION paid(who name) RETURNS float8 LANGUAGE sql VOLATILE AS
	$$ SELECT round(rho_spent * 100, 6)::float8 FROM dp_cdp_internal.budget b WHERE dataset = 'kept' AND role = who::regrole $$;
CREATE FUNCTION limits_bought() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT count(*) FROM dp_cdp.releases WHERE dataset = 'kept' AND aggregates LIKE 'limit of%' AND rho > 0 $$;
CREATE TABLE first AS SELECT ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept') AS answer, substring(reported() FROM 'norm .*') AS norm;
SELECT is(paid('analyst1'), 1::float8, 'an answer and its limit cost the price of one aggregate');
SELECT is(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept'), answer, 'the same question has the same answer') FROM first;
SELECT is(paid('analyst1'), 1::float8, 'for nothing');
SELECT is(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept', '', 'analyst2'), answer, 'to another role, too') FROM first;
SELECT is(paid('analyst2'), 1::float8, 'who pays for it, and for its limit');
SELECT is(limits_bought(), 2::bigint, 'each role has bought the limit');
SELECT isnt(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept', 'SET dp_cdp.rho = 0.09'), answer, 'a better answer') FROM first;
SELECT is(substring(reported() FROM 'norm .*'), norm, 'has the limit that was found: what is made of both is of one limit') FROM first;
SELECT is(limits_bought(), 2::bigint, 'which is not found anew');
SELECT ok(paid('analyst1') BETWEEN 8 AND 9, 'and costs the difference');
SELECT isnt(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept', 'SET dp_cdp.rho = 100'), answer, 'one at more than ten times the price') FROM first;
SELECT is(limits_bought(), 3::bigint, 'has its limit found anew');
SELECT ok(paid('analyst1') BETWEEN 10000 AND 10010, 'and costs its whole price');
SELECT is((SELECT round(rho_spent * 100, 6)::float8 FROM dp_cdp_internal.dataset WHERE name = 'kept'), paid('analyst1'), 'the cap has paid for the best');
SELECT isnt(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept', 'SET dp_cdp.rho = 1'), answer, 'one between these is derived') FROM first;
SELECT is(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept'), ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept', 'SET dp_cdp.rho = 100'),
	'who has paid for the best sees it');
SELECT isnt(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept', 'SET dp_cdp.rho = 1', 'analyst2'), NULL, 'who has not, the one between');
SELECT is(limits_bought(), 4::bigint, 'which finds its limit: none of its price can be made of the best');
SELECT isnt(ask('SELECT dept, count(*) FROM kept GROUP BY dept ORDER BY dept', 'SET dp_cdp.reuse = off'), answer, 'who wants a fresh one') FROM first;
SELECT is(limits_bought(), 5::bigint, 'finds its limit again');

-- a limit that a pilot has found holds after it
CREATE FUNCTION fingerprints_kept() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT count(DISTINCT fingerprint) FROM dp_cdp_internal.kept_answer $$;
CREATE FUNCTION looked(who name, rho text, OUT norm float8, OUT more bigint) LANGUAGE plpgsql AS $$
BEGIN
	more := fingerprints_kept();
	PERFORM ask('SELECT sum(cost) FROM kept', 'SET dp_cdp.target_error = 300; SET dp_cdp.rho = ' || rho, who);
	more := fingerprints_kept() - more;
	EXECUTE format('SET SESSION AUTHORIZATION %I', who);
	SELECT l.norm INTO norm FROM dp_cdp.last_release() l WHERE l.norm IS NOT NULL LIMIT 1;
	RESET SESSION AUTHORIZATION;
END $$;
CREATE TABLE looks AS SELECT 'dear' AS price, * FROM looked('analyst1', '1');
SELECT is(more, 2::bigint, 'a limit, and a pilot that the answer makes better') FROM looks;

-- which limits hold is part of the question, also where bounds are found first
CREATE FUNCTION questions(query text, contribution text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION analyst1; SET dp_cdp.find_bounds = 0.2; SET dp_cdp.max_contribution = %L', contribution);
	SELECT string_agg(q::text, ' ') INTO result FROM dp_cdp.query_fingerprint(query) q WHERE q::text !~ 'bounds of|limit of';
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.find_bounds; RESET dp_cdp.max_contribution';
	RETURN result;
END $$;
SELECT is(count(DISTINCT questions(q, c)), 3::bigint, q) FROM unnest('{auto,5,10}'::text[]) c,
	unnest('{SELECT count(*) FROM kept,SELECT sum(cost) FROM kept,SELECT sum(id) FROM kept,SELECT avg(id) FROM kept}'::text[]) q GROUP BY q;
SELECT is(count(DISTINCT questions(q, c)), 1::bigint, q || ', however it is written') FROM unnest('{5,5.0,05}'::text[]) c, unnest('{SELECT sum(id) FROM kept}'::text[]) q GROUP BY q;

-- ------------------------------------------------------------------------
-- Blocks
-- ------------------------------------------------------------------------

CREATE FUNCTION blocks() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT string_agg(format('%s %s %s', block_from, block_to, rho_spent), ', ' ORDER BY block_from) FROM dp_cdp.blocks WHERE dataset = 'diary' AND role_name = 'analyst1' $$;
SELECT isnt(ask('SELECT count(*) FROM diary WHERE day >= ''2026-02-01'' AND day < ''2026-03-01'''), NULL, 'a month');
SELECT is(blocks(), '2026-02-01 2026-03-01 10', 'a limit is charged to the block whose rows it is of');
SELECT isnt(ask('SELECT dept, avg(cost) FROM diary WHERE day BETWEEN ''2026-01-05'' AND ''2026-02-03'' GROUP BY dept'), NULL, 'two months');
SELECT is(blocks(), '2026-01-01 2026-02-01 10, 2026-02-01 2026-03-01 20', 'to both');
DO $$ BEGIN
	SET SESSION AUTHORIZATION analyst1;
	PREPARE d(date) AS SELECT dp_count(*), dp_sum(cost) FROM diary WHERE day = $1;
	SET plan_cache_mode = force_generic_plan;
	EXECUTE 'EXECUTE d(''2026-03-09'')';
	RESET SESSION AUTHORIZATION;
END $$;
DEALLOCATE d;
SELECT is(blocks(), '2026-01-01 2026-02-01 10, 2026-02-01 2026-03-01 20, 2026-03-01 2026-04-01 20', 'of a parameter');
-- as many releases as grouping sets may be, with a limit each
SELECT is(cardinality(string_to_array(ask(string_agg('SELECT count(*) FROM visits', ' UNION ALL ')), ' ')), 64, 'as many counts as a cube may have sets')
	FROM generate_series(1, 64);
-- large histograms are kept when the inner plan has ended, and so is what it had in memory
SELECT is(ask('SELECT (SELECT dp_median(cost, 0, 10) FROM kept), (SELECT dp_quantile(id, 0.9, 0, 70000) FROM kept)'),
	ask('SELECT (SELECT dp_median(cost, 0, 10) FROM kept), (SELECT dp_quantile(id, 0.9, 0, 70000) FROM kept)'), 'a median and a quantile, kept');
SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity = 'critical'), 0::bigint, 'and the audit adds up');
SELECT * FROM finish();
