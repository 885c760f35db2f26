-- Bounds of what a person's rows add up to, where nobody has set how many rows count: found privately, before the answer.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE analyst2 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
-- 3,000 persons with 1 to 20 visits, 10.5 in the mean; change is -10 to 9
CREATE TABLE visits AS SELECT p AS person, (p + v) % 6 AS dept, (p * 7 + v * 3) % 20 - 10 AS change, v AS undeclared FROM generate_series(1, 3000) p, generate_series(1, 1 + p % 20) v;
ALTER TABLE visits ALTER dept SET NOT NULL;
CREATE TABLE persons AS SELECT p AS person FROM generate_series(1, 3000) p;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1, min_rho => 1e-6);
SELECT dp_cdp.create_dataset('kept', default_rho => 1, min_rho => 1e-6, reuse => '1 day');
CREATE TABLE kept AS SELECT * FROM visits;
SELECT dp_cdp.protect_table('kept', 'kept', 'person'), dp_cdp.protect_table('visits', 'clinic', 'person'), dp_cdp.protect_table('persons', 'clinic', 'person');
SELECT dp_cdp.set_keys('visits', 'dept', '{0,1,2,3,4,5}'::int[]), dp_cdp.set_bounds('visits', 'change', -10, 10);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6), dp_cdp.set_budget('kept', 'analyst1', rho => 1e6), dp_cdp.set_budget('kept', 'analyst2', rho => 1e6);
RESET SESSION AUTHORIZATION;
ANALYZE;

CREATE FUNCTION spent() RETURNS float8 LANGUAGE sql VOLATILE AS $$ SELECT round(sum(rho_spent), 6)::float8 FROM dp_cdp_internal.budget $$;
-- asks as the analyst; what is told, what is charged, and what last_release says of bounds
CREATE TABLE told (n serial, answer float8, cost float8, notices text, bounds text);
GRANT ALL ON told, told_n_seq TO analyst1;
CREATE FUNCTION ask(query text, settings text DEFAULT 'SELECT 1') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	before float8 := spent();
	answer float8;
	bounds text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	EXECUTE settings;
	EXECUTE query INTO answer;
	SELECT string_agg(format('%s: %s .. %s%s', aggregate, row_lower, row_upper, substring(limits FROM ' \(max_rows 5\)$')), ', ') INTO bounds FROM dp_cdp.last_release() WHERE rho IS NOT NULL;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RESET dp_cdp.rho;
	RESET dp_cdp.max_rows;
	RESET dp_cdp.find_bounds;
	RESET dp_cdp.target_error;
	INSERT INTO told (answer, cost, bounds) VALUES (answer, round((spent() - before)::numeric, 6), bounds);
	RETURN answer;
END $$;
CREATE FUNCTION cost() RETURNS float8 LANGUAGE sql VOLATILE AS $$ SELECT cost FROM told ORDER BY n DESC LIMIT 1 $$;
CREATE FUNCTION bounds() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT bounds FROM told ORDER BY n DESC LIMIT 1 $$;

-- the answer with what a person's number of visits n is made to
CREATE FUNCTION of_n(value text, condition text DEFAULT 'true') RETURNS float8 LANGUAGE sql VOLATILE AS
	$$ SELECT ask(format('SELECT avg(%s) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q WHERE %s', value, condition)) $$;

SELECT no_plan();

-- An estimator's noise has a standard deviation of 1 / sqrt(0.2) people for each of whom there are 150 at least in a bin; that of averages is below
-- 64 / 3000.  All limits are more than seven standard deviations away.  Noise may widen bounds for values that it hides: at a rho of 1000 no count of
-- people has any, but with a probability of 1e-40.
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q') - 10.5) < 0.2, 'an average of counts');
SELECT is(cost(), 1.1::float8, 'for a tenth of the price');
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q', 'SET dp_cdp.rho = 1000') - 10.5) < 0.01, 'at a high price');
SELECT is(bounds(), 'bounds of n: 0 .. 32, avg(n): 0 .. 32', 'within bounds that were found');
SELECT ok(abs(ask('SELECT sum(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q') - 31500) < 400, 'a sum of counts');
SELECT is(cost(), 1.1::float8, 'for a tenth of the price, too');
SELECT ok(abs(ask('SELECT avg((SELECT count(*) FROM visits v WHERE v.person = p.person)) FROM persons p') - 10.5) < 0.2, 'a correlated count');
SELECT ok(abs(ask('SELECT avg(t) FROM (SELECT person, sum(change) AS t FROM visits GROUP BY person) q', 'SET dp_cdp.rho = 1000') -
	(SELECT avg(t) FROM (SELECT sum(change) AS t FROM visits GROUP BY person) q)) < 0.05, 'an average of totals of both signs');
SELECT is(bounds(), 'bounds of t: -32 .. 4, avg(t): -32 .. 4', 'has both bounds found');
SELECT ok(abs(ask('SELECT avg(n - 1) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q', 'SET dp_cdp.rho = 1000') - 9.5) < 0.01, 'an expression of a count');
SELECT is(bounds(), 'bounds of (n - 1): 0 .. 32, avg((n - 1)): 0 .. 32', 'has bounds of its own');
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, dept, count(*) AS n FROM visits GROUP BY person, dept) q WHERE dept = 3') -
	(SELECT avg(n) FROM (SELECT count(*) AS n FROM visits WHERE dept = 3 GROUP BY person) q)) < 0.2, 'of one group of a person');
SELECT is(ask('SELECT count(*) FROM (SELECT dept, avg(n) AS a FROM (SELECT person, dept, count(*) AS n FROM visits GROUP BY person, dept) q GROUP BY dept) g WHERE a BETWEEN 1.8 AND 2.7'),
	6::float8, 'and by groups');

-- two aggregates of one value find once
SELECT ok(ask('SELECT avg(n) + dp_median(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q') BETWEEN 19 AND 23, 'two aggregates');
SELECT is(cost(), 2.1::float8, 'have bounds found once');
SELECT ok(ask('SELECT corr(n, t) FROM (SELECT person, count(*) AS n, sum(change) AS t FROM visits GROUP BY person) q') BETWEEN -1 AND 1, 'two values');
SELECT is(cost(), 1.2::float8, 'each by itself');

-- where somebody has set how many rows count, or the query says it, nothing is found
SELECT ok(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q', 'SET dp_cdp.max_rows = 5') BETWEEN 4 AND 5, 'by max_rows');
SELECT is(bounds(), 'avg(n): 0 .. 5 (max_rows 5)', 'the bounds are those');
SELECT is(cost(), 1::float8, 'for the price alone');
SELECT ok(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q', 'SET dp_cdp.find_bounds = off') BETWEEN 4 AND 5, 'without finding any');
SELECT is(bounds(), 'avg(n): 0 .. 5 (max_rows 5)', 'the bounds are usual ones');
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q', 'SET dp_cdp.find_bounds = 0.5') - 10.5) < 0.2, 'for another share');
SELECT is(cost(), 1.5::float8, 'the price is that');
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q WHERE n BETWEEN 1 AND 20') - 10.5) < 0.2, 'a condition that has both bounds');
SELECT is(bounds(), 'avg(n): 1 .. 20', 'gives them');
SELECT is(cost(), 1::float8, 'for nothing');
SELECT ok(abs(ask('SELECT avg(least(n, 30)) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q') - 10.5) < 0.2, 'a function that has');
SELECT is(bounds(), 'avg(LEAST(n, 30)): 0 .. 30', 'gives them, too');
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q WHERE n <= 20') - 10.5) < 0.2, 'one that has the upper bound, as the lower one is known');
SELECT is(cost(), 1::float8, 'suffices');
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q', 'SET dp_cdp.target_error = ''5%''') - 10.5) < 2, 'a target of accuracy');

-- few people: 40 against a threshold of 4.5 * 1 / sqrt(2e-3) = 100
SELECT ok(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits WHERE person <= 40 GROUP BY person) q', 'SET dp_cdp.rho = 0.01') BETWEEN 0 AND 5, 'few people');
SELECT is(bounds(), 'bounds of n: none found: 0 .. 1, avg(n): 0 .. 5 (max_rows 5)', 'have usual bounds');

-- a value that 5 rows do not have, one that a million have not, one that its type cuts: what was found holds
SELECT ok(abs(of_n(value, condition) / truth - 1) < 0.1, format('avg(%s) where %s', value, condition)) FROM (VALUES
	('sqrt(n - 6)', 'n >= 6', (SELECT avg(sqrt(n - 6)) FROM generate_series(6, 20) n)),
	('ln(n - 6)', 'n > 6', (SELECT avg(ln(n - 6)) FROM generate_series(7, 20) n)),
	('exp(n / 100.0)', 'true', (SELECT avg(exp(n / 100.0)) FROM generate_series(1, 20) n)),
	('ln(exp(n))', 'true', 10.5), ('n::int2', 'true', 10.5), ('(n * 5000)::int', 'true', 52500),
	('n * n * n', 'true', (SELECT avg(n * n * n) FROM generate_series(1, 20) n)), ('n', 'n < 400000', 10.5)) AS v (value, condition, truth);
SELECT ok(abs(ask('SELECT avg(t * t) FROM (SELECT person, sum(change * 200) AS t FROM visits GROUP BY person) q') /
	(SELECT avg(t * t) FROM (SELECT sum(change * 200) AS t FROM visits GROUP BY person) q)::float8 - 1) < 0.2, 'a square of totals');

-- one value, once with bounds that follow from numbers of rows and once without any
SELECT isnt(ask('SELECT sum(n + x) FILTER (WHERE x BETWEEN 0 AND 20) + sum(n + x) FROM (SELECT person, count(*) AS n, max(undeclared) AS x FROM visits GROUP BY person) q',
	'SET dp_cdp.find_bounds = on'), NULL, 'a value with bounds, and without');
SELECT isnt(ask('SELECT sum(n + x) + sum(n + x) FILTER (WHERE x BETWEEN 0 AND 20) FROM (SELECT person, count(*) AS n, max(undeclared) AS x FROM visits GROUP BY person) q',
	'SET dp_cdp.find_bounds = on'), NULL, '... in the other order');
SELECT ok(abs(ask('SELECT avg(power(1.05, n)) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q', 'SET dp_cdp.find_bounds = on') -
	(SELECT avg(power(1.05, n)) FROM generate_series(1, 20) n)) < 0.1, 'one that may be too large for any');

-- kept: of bounds with hardly any noise none can be made, and they are found anew
SELECT ok(abs(ask('SELECT avg(n) FROM (SELECT person, count(*) AS n FROM kept GROUP BY person) q', 'SET dp_cdp.rho = 10') - 10.5) < 0.2, 'a dear answer');
SET SESSION AUTHORIZATION analyst2;
SET dp_cdp.rho = 0.5;
SELECT ok((SELECT avg(n) FROM (SELECT person, count(*) AS n FROM kept GROUP BY person) q) BETWEEN 10 AND 11, 'another asks for less');
SELECT ok(EXISTS (SELECT FROM dp_cdp.last_release() WHERE aggregate = 'bounds of n' AND reused_since IS NULL), 'and finds the bounds himself');
RESET dp_cdp.rho;
RESET SESSION AUTHORIZATION;

-- plans that are kept are of their settings
SET SESSION AUTHORIZATION analyst1;
PREPARE p AS SELECT avg(n) > 9 FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q;
SELECT results_eq('EXECUTE p', 'VALUES (true)', 'a prepared query finds bounds');
SET dp_cdp.max_rows = 5;
SELECT results_eq('EXECUTE p', 'VALUES (false)', 'and has those that are set since');
RESET dp_cdp.max_rows;
SELECT results_eq('EXECUTE p', 'VALUES (true)', 'and finds them again');
SET dp_cdp.find_bounds = off;
SELECT throws_ok('EXECUTE p', 'ZC004', 'this query was planned to find bounds of n first; take back what was SET since of dp_cdp.find_bounds and dp_cdp.max_rows, or prepare the query anew',
	'but not where finding was turned off');
SELECT * FROM finish();
