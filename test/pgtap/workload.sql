-- dp_cdp.plan_workload: how to share rho among counts or sums of the same rows, and what cannot be planned.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE stranger LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, a text NOT NULL, b int NOT NULL, c boolean NOT NULL, free int, cost numeric);
CREATE TABLE people (id int PRIMARY KEY, person int, a text NOT NULL, cost numeric);
CREATE TABLE other (id int PRIMARY KEY, a text NOT NULL);
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.01, min_rho => 0.0001, max_groups => 3, max_rows => 5);
SELECT dp_cdp.create_dataset('second', default_rho => 0.01, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true);
SELECT dp_cdp.protect_table('people', 'clinic', 'person');
SELECT dp_cdp.protect_table('other', 'second', each_row => true);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_keys(t, 'a', '{w,x,y,z}'::text[]) FROM unnest('{visits,people,other}'::regclass[]) t;
SELECT dp_cdp.set_keys('visits', 'b', '{0,1,2,3,4}'::int[]);
SELECT dp_cdp.set_keys('visits', 'c', '{f,t}'::boolean[]);
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 10) FROM unnest('{clinic,second}'::text[]) d;
RESET SESSION AUTHORIZATION;

SELECT plan(37);
SET SESSION AUTHORIZATION analyst1;

-- a total and its parts, which can be done by hand: alone, shares are as the roots of cells
CREATE TEMP TABLE p AS SELECT * FROM dp_cdp.plan_workload(ARRAY['SELECT dp_count(*) FROM visits', 'SELECT a, dp_count(*) FROM visits GROUP BY a'], 0.03);
SELECT results_eq('SELECT query, keys, cells FROM p', $$VALUES (1, '', 1::bigint), (2, 'a', 4), (NULL, 'all', 5)$$, 'a row for each query and one for all');
SELECT results_eq('SELECT rho_alone FROM p', 'VALUES (0.01), (0.02), (0.03)', 'by the roots of cells');
SELECT results_eq('SELECT round(stddev::numeric, 6) FROM p', $$SELECT round(sqrt(x), 6) FROM unnest('{50,25,30}'::numeric[]) x$$, 'noise of each, and the root of its mean square');
SELECT results_eq('SELECT round(equal_stddev::numeric, 6) FROM p', $$SELECT round(sqrt(1 / 0.03), 6) FROM generate_series(1, 3)$$, 'beside equal shares');
-- reconciled: the total is known from 4 g0 + g1, the three differences from g1; of variances 1 / g a total needs 2 / known, a part 1
SELECT ok(abs(equal_consistent_stddev - sqrt(1 / 0.03 / (1 + 0.25))) < 1e-9, 'the total, from itself and from its parts') FROM p WHERE query = 1;
SELECT ok(abs(equal_consistent_stddev - sqrt((1 / 0.03) * (3 + 1 / 5.0) / 4)) < 1e-9, 'a part') FROM p WHERE query = 2;
-- the optimum: (sum over spaces of dimensions * root of what is wanted of them) ^ 2 / cells / (2 rho)
SELECT ok(abs(optimum_stddev - sqrt((sqrt(5) + 3) ^ 2 / 4 / 0.06 / 5)) < 1e-9, 'the best of all mechanisms') FROM p WHERE query IS NULL;
SELECT ok(optimum_stddev <= consistent_stddev AND consistent_stddev <= equal_consistent_stddev AND consistent_stddev <= stddev AND stddev <= equal_stddev,
	'each is at least as good as what is less free') FROM p WHERE query IS NULL;
SELECT ok(sum(rho_alone) <= 0.03 AND sum(rho_alone) > 0.0299999, 'what is proposed is what may be spent') FROM p WHERE query IS NOT NULL;
SELECT ok(sum(rho_consistent) <= 0.03 AND sum(rho_consistent) > 0.0299999, 'reconciled as well') FROM p WHERE query IS NOT NULL;

-- a cube, whose finest cells are asked, and the rest is added up from them as far as that is better
CREATE TEMP TABLE c AS SELECT * FROM dp_cdp.plan_workload(ARRAY['SELECT dp_count(*) FROM visits', 'SELECT a, dp_count(*) FROM visits GROUP BY a',
	'SELECT b, dp_count(*) FROM visits GROUP BY b', 'SELECT c, dp_count(*) FROM visits GROUP BY c', 'SELECT a, b, dp_count(*) FROM visits GROUP BY a, b',
	'SELECT a, c, dp_count(*) FROM visits GROUP BY a, c', 'SELECT b, c, dp_count(*) FROM visits GROUP BY b, c', 'SELECT a, b, c, dp_count(*) FROM visits GROUP BY a, b, c']);
SELECT is((SELECT sum(cells) FROM c WHERE query IS NOT NULL), 90::numeric, 'all cells of a cube');
SELECT is((SELECT rho_alone > 0.0799999 AND rho_alone <= 0.08 FROM c WHERE query IS NULL), true, 'without rho: what they cost by the settings');
SELECT ok(bool_and(consistent_stddev >= 0), 'every margin is known') FROM c;
SELECT ok(optimum_stddev < consistent_stddev AND consistent_stddev < equal_consistent_stddev AND equal_consistent_stddev < stddev, 'each step is worth something') FROM c WHERE query IS NULL;
-- what dp_cdp.consistent makes of a cube at equal prices has this noise, and that of rounding
SET dp_cdp.consistent = on;
SELECT ok(abs(max(r.stddev) ^ 2 - 8.0 / 12 - max(c.equal_consistent_stddev) ^ 2) < 1e-6, 'equal shares of a cube are those of dp_cdp.consistent')
	FROM c, dp_cdp.preview('SELECT dp_count(*) FROM visits GROUP BY CUBE (a, b, c)') r WHERE c.query = 8;
RESET dp_cdp.consistent;

-- units: noise grows with how many groups one may be in, and there is no common optimum
SELECT is(array_agg(optimum_stddev IS NULL ORDER BY query), '{t,t,t}', 'no optimum is told where sensitivities differ')
	FROM dp_cdp.plan_workload('{SELECT dp_count(*) FROM people,"SELECT a, dp_count(*) FROM people GROUP BY a"}');
SELECT ok(abs(a.equal_stddev / t.equal_stddev - sqrt(3)) < 1e-9, 'noise is that of max_groups')
	FROM dp_cdp.plan_workload('{SELECT dp_count(*) FROM people,"SELECT a, dp_count(*) FROM people GROUP BY a"}') t,
		dp_cdp.plan_workload('{SELECT dp_count(*) FROM people,"SELECT a, dp_count(*) FROM people GROUP BY a"}') a WHERE t.query = 1 AND a.query = 2;

-- sums, conditions, aliases
SELECT is(count(*), 3::bigint, 'sums under a condition, with other names') FROM dp_cdp.plan_workload(ARRAY['SELECT dp_sum(cost) FROM visits WHERE free > 1',
	'SELECT v.a, dp_sum(cost) AS s FROM visits v WHERE free > 1 GROUP BY 1']);
-- no price below the least
SELECT ok(min(rho_alone) >= 0.0001 AND sum(rho_alone) <= 0.0004, 'none is below the least price of the dataset')
	FROM dp_cdp.plan_workload(ARRAY['SELECT dp_count(*) FROM visits', 'SELECT a, b, c, dp_count(*) FROM visits GROUP BY a, b, c'], 0.0004) WHERE query IS NOT NULL;

-- what cannot be planned
PREPARE plan_of AS SELECT * FROM dp_cdp.plan_workload($1, $2);
SELECT throws_ok(format('SELECT * FROM dp_cdp.plan_workload(%L, %s)', q, rho), state, message, why)
	FROM (VALUES
		(ARRAY['SELECT dp_count(*) FROM visits', 'SELECT free, dp_count(*) FROM visits GROUP BY free'], 'NULL', 'ZC002',
			'query 2 groups by "free", whose keys are not declared; declare them with dp_cdp.set_keys', 'undeclared keys'),
		(ARRAY['SELECT dp_count(*) FROM visits', 'SELECT dp_count(*) FROM visits WHERE free > 1'], 'NULL', 'ZC004',
			'query 2 reads other rows than query 1, or is written in another way; give all the same FROM and WHERE', 'other rows'),
		(ARRAY['SELECT a, dp_count(*) FROM visits GROUP BY a', 'SELECT a, dp_count(*) FROM people GROUP BY a'], 'NULL', 'ZC004',
			'query 2 reads other rows than query 1, or is written in another way; give all the same FROM and WHERE', 'another table'),
		(ARRAY['SELECT dp_count(*) FROM visits', 'SELECT dp_count(*) FROM other'], 'NULL', 'ZC004',
			'query 2 asks of dataset "second", and query 1 of "clinic"; plan them apart', 'another dataset'),
		(ARRAY['SELECT dp_count(*) FROM visits', 'SELECT dp_sum(cost) FROM visits'], 'NULL', 'ZC004',
			'query 2 asks for dp_sum(cost), and query 1 for dp_count(*); plan them apart', 'another aggregate'),
		(ARRAY['SELECT dp_count(*), dp_sum(cost) FROM visits'], 'NULL', 'ZC004',
			'query 1 asks for 2 aggregates, and a workload is planned for one; give a count or a sum alone', 'two aggregates'),
		(ARRAY['SELECT a, dp_count(*) FROM visits GROUP BY CUBE (a)'], 'NULL', 'ZC004',
			'query 1 makes 2 releases; give each grouping set as a query of its own', 'grouping sets'),
		(ARRAY['SELECT dp_avg(cost) FROM visits'], 'NULL', 'ZC002',
			'query 1 asks for dp_avg(cost), whose groups do not add up; a workload is of counts of rows or sums', 'an average'),
		(ARRAY['SELECT dp_count(DISTINCT person) FROM people'], 'NULL', 'ZC002',
			'query 1 asks for dp_count(DISTINCT person), whose groups do not add up; a workload is of counts of rows or sums', 'units'),
		(ARRAY['SELECT 1'], 'NULL', 'ZC004',
			'query 1 releases nothing that is known before it runs; give counts or sums of a protected table, without parameters', 'no release'),
		(ARRAY[]::text[], 'NULL', 'ZC004', 'dp_cdp.plan_workload takes 1 to 64 queries', 'no query'),
		(array_fill('SELECT dp_count(*) FROM visits'::text, '{65}'), 'NULL', 'ZC004', 'dp_cdp.plan_workload takes 1 to 64 queries', 'too many'),
		(NULL, 'NULL', 'ZC004', 'dp_cdp.plan_workload takes 1 to 64 queries', 'NULL'),
		(ARRAY['SELECT dp_count(*) FROM visits', NULL], 'NULL', 'ZC004', 'query 2 of dp_cdp.plan_workload is NULL', 'a NULL among them'),
		(ARRAY['SELECT dp_count(*) FROM visits'], '0.00001', 'ZC004',
			'rho is less than the least price of 1 aggregates of dataset "clinic"; give at least 0.0001', 'too little'),
		(ARRAY['SELECT dp_count(*) FROM visits'], '''NaN''', 'ZC004', NULL, 'not a number')) v(q, rho, state, message, why);
SELECT is(rho_spent, 0::numeric, 'nothing was charged') FROM dp_cdp.budgets WHERE dataset = 'clinic';
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION stranger;
SELECT throws_ok('SELECT * FROM dp_cdp.plan_workload(''{SELECT dp_count(*) FROM visits}'')', 'ZC001', NULL, 'who has no budget plans nothing');
RESET SESSION AUTHORIZATION;

SELECT * FROM finish();
