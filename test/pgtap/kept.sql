-- Kept answers: what is given again, what a better or a worse answer costs, and
-- who pays what.

\ir kept.psql

SELECT no_plan();

-- ------------------------------------------------------------------
-- The same question
-- ------------------------------------------------------------------

SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'the first answer is bought');
SELECT matches(answer(), '^\(a,-?[0-9]+\)\n\(b,-?[0-9]+\)\n\(c,-?[0-9]+\)\n\(z,-?[0-9]+\)$', 'it has all groups');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits GROUP BY dept');
SELECT is(paid(), 'nobody', 'the same question is free');
SELECT is(answer(), answer(1), 'and has the same answer');
SELECT ask('analyst1', 'SELECT v.dept, count(*) AS n FROM visits AS v GROUP BY v.dept ORDER BY 1');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'names and order do not matter');
SELECT ask('analyst1', 'SELECT * FROM (SELECT dept, count(*) * 2 / 2 AS n FROM visits GROUP BY dept) t WHERE dept <> ''b''');
SELECT is(paid(), 'nobody', 'what is done above the release does not matter');
SELECT ask('analyst1', 'SELECT dept, count(*), sum(cost) FROM visits GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'a column more is bought alone');
SELECT is(regexp_replace(answer(), ',-?[0-9]+\)', ')', 'g'), answer(2), 'beside the one that is kept');
SELECT ask('analyst1', 'SELECT dept, sum(cost), count(*) FROM visits GROUP BY dept');
SELECT is(paid(), 'nobody', 'both are kept');
SELECT ask('analyst1', 'SELECT dept, avg(cost) FROM visits GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'an average is another question');
SELECT ask('analyst1', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits');
SELECT is(paid(), 'analyst1 1, cap 1', 'a median is bought');
SELECT ask('analyst1', 'SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY cost) FROM visits');
SELECT is(paid(), 'nobody', 'another quantile of the same rows is free');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE cost > 10 GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'other rows are another question');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits GROUP BY dept', 'SET dp_cdp.max_groups = 1');
SELECT is(paid(), 'analyst1 1, cap 1', 'and so are other limits');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits GROUP BY dept', 'SET dp_cdp.reuse = off');
SELECT is(paid(), 'analyst1 1, cap 1', 'a fresh answer can be bought');
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'analyst1 1, cap 1', 'without groups');
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'without groups, again');

-- data do not matter
INSERT INTO visits SELECT i, i, 'a', 100, 1, '2026-01-01' FROM generate_series(10001, 30000) i;
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'that rows have come does not end an answer');

-- ------------------------------------------------------------------
-- Who pays
-- ------------------------------------------------------------------

SELECT ask('analyst2', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'analyst2 1', 'another role pays by itself, and the cap nothing');
SELECT is(answer(), answer(1), 'for the same answer');
SELECT ask('analyst2', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'nobody', 'and then no more');
SELECT ask('analyst3', 'SELECT count(*) FROM visits');
SELECT matches(answer(), '^ZC001', 'who has no budget is told nothing');

GRANT team TO analyst1;
SELECT dp_cdp.set_budget('clinic', 'team', rho => 1000, delta => 1e-6);
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'team 1', 'a budget that has come meanwhile pays, the other has');
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'nobody', 'both have paid');
GRANT team TO analyst3;
SELECT ask('analyst3', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'nobody', 'what the team has paid for is free for who has no other budget');
REVOKE team FROM analyst1, analyst3;
SELECT dp_cdp.set_budget('clinic', 'analyst3', rho => 1.5e-6);
SELECT ask('analyst3', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'analyst3 1', 'a small budget pays');
SELECT ask('analyst3', 'SELECT dept, count(*) FROM visits GROUP BY dept');
SELECT matches(answer(), '^ZC001', 'until it is exhausted');
SELECT is(paid(), 'nobody', 'and nobody pays then');
SELECT ask('analyst3', 'SELECT count(*) FROM visits');
SELECT is(paid() || answer(), 'nobody' || answer(2), 'what it has paid for it may still see');
SELECT dp_cdp.drop_budget('clinic', 'analyst3');
SELECT ask('analyst3', 'SELECT count(*) FROM visits');
SELECT matches(answer(), '^ZC001', 'without a budget it may not');

-- ------------------------------------------------------------------
-- Better and worse
-- ------------------------------------------------------------------

SELECT ask('analyst1', 'SELECT count(*) FROM visits', 'SET dp_cdp.rho = 5e-6');
SELECT is(paid(), 'analyst1 4, cap 4', 'a better answer costs the difference');
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'then the better one is given');
SELECT ask('analyst2', 'SELECT count(*) FROM visits');
SELECT is(answer(), (SELECT answer FROM told WHERE paid = 'analyst2 1' LIMIT 1), 'who has not paid for it has his own');
SELECT ask('analyst2', 'SELECT count(*) FROM visits', 'SET dp_cdp.rho = 3e-6');
SELECT is(paid(), 'analyst2 2', 'one between is derived, and the cap pays nothing');
SELECT ask('analyst2', 'SELECT count(*) FROM visits', 'SET dp_cdp.rho = 3e-6');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'it is kept');
SELECT ask('analyst2', 'SELECT count(*) FROM visits', 'SET dp_cdp.rho = 4e-6');
SELECT is(paid(), 'analyst2 1', 'and another between that and the best');
SELECT ask('analyst2', 'SELECT count(*) FROM visits', 'SET dp_cdp.rho = 5e-6');
SELECT is(paid(), 'analyst2 1', 'up to the best');
SELECT ask('analyst1', 'SELECT count(*) FROM visits', 'SET dp_cdp.rho = 5e-6');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'which both have');
SELECT ask('analyst1', 'SELECT dept, avg(cost), count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE ward = 1 GROUP BY dept',
		   'SET dp_cdp.rho = 1e-5');
SELECT is(paid(), 'analyst1 30, cap 30', 'several columns');
SELECT ask('analyst2', 'SELECT dept, avg(cost), count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE ward = 1 GROUP BY dept');
SELECT is(paid(), 'analyst2 3', 'derived together');
SELECT ask('analyst2', 'SELECT dept, avg(cost), count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE ward = 1 GROUP BY dept',
		   'SET dp_cdp.rho = 2e-5');
SELECT is(paid(), 'analyst2 57, cap 30', 'and made better than the best');
SELECT ask('analyst1', 'SELECT dept, avg(cost), count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE ward = 1 GROUP BY dept',
		   'SET dp_cdp.rho = 1.5e-5');
SELECT is(paid(), 'analyst1 15', 'within a second increment');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE ward = 2 GROUP BY dept');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE ward = 2 GROUP BY dept', 'SET dp_cdp.rho = 2e-6');
SELECT isnt(answer(), answer(1), 'a better answer is another one');		-- four counts, each of a deviation of hundreds

-- noise below one step: nothing is made of it
SELECT ask('analyst1', 'SELECT count(DISTINCT patient) FROM visits WHERE ward = 3', 'SET dp_cdp.rho = 0.5');
SELECT ask('analyst2', 'SELECT count(DISTINCT patient) FROM visits WHERE ward = 3', 'SET dp_cdp.rho = 0.25');
SELECT is(paid(), 'analyst2 250000', 'of a variance of 1 a worse answer is made');
SELECT ask('analyst1', 'SELECT count(DISTINCT patient) FROM visits WHERE ward = 4', 'SET dp_cdp.rho = 0.501');
SELECT is(paid(), 'analyst1 501000, cap 501000', 'a variance below 1');
SELECT ask('analyst2', 'SELECT count(DISTINCT patient) FROM visits WHERE ward = 4', 'SET dp_cdp.rho = 0.25');
SELECT matches(answer(), '^ZC004 more noise cannot make the kept answer of', 'has no worse answers');
SELECT is(paid(), 'nobody', 'which are not paid for');
SELECT ask('analyst2', 'SELECT count(DISTINCT patient) FROM visits WHERE ward = 4', 'SET dp_cdp.rho = 0.501');
SELECT is(paid() || answer(), 'analyst2 501000' || answer(2), 'it is given as it is');
SELECT ask('analyst1', 'SELECT avg(cost) FROM visits WHERE ward = 5', 'SET dp_cdp.rho = 300');
SELECT ask('analyst2', 'SELECT avg(cost) FROM visits WHERE ward = 5', 'SET dp_cdp.rho = 100');
SELECT matches(answer(), '^ZC004 more noise cannot make', 'nor has an average one of whose parts is such');
SELECT ask('analyst1', 'SELECT sum(cost) FROM visits WHERE ward = 5', 'SET dp_cdp.rho = 300');
SELECT ask('analyst2', 'SELECT sum(cost) FROM visits WHERE ward = 5', 'SET dp_cdp.rho = 100');
SELECT is(paid(), 'analyst2 100000000', 'a sum on a fine grid has');

-- ------------------------------------------------------------------
-- Keys that are selected
-- ------------------------------------------------------------------

SELECT ask('analyst1', 'SELECT ward, count(*) FROM visits GROUP BY ward', 'SET dp_cdp.rho = 1');
SELECT matches(answer(), '^\(0,[0-9]+\)\n\(1,[0-9]+\)', 'keys are selected');
SELECT ask('analyst1', 'SELECT ward, count(*) FROM visits GROUP BY ward', 'SET dp_cdp.rho = 1');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'and given again');
SELECT ask('analyst1', 'SELECT ward, sum(cost) FROM visits GROUP BY ward', 'SET dp_cdp.rho = 1');
SELECT is(paid(), 'analyst1 1000000, cap 1000000', 'a sum by the same keys costs itself alone');
SELECT is((SELECT count(*) FROM regexp_matches(answer(), '\(', 'g')), 7::bigint, 'and has these keys');

-- ------------------------------------------------------------------
-- Some of the groups that are kept
-- ------------------------------------------------------------------

-- a condition on the keys alone leaves groups out, and changes none
CREATE FUNCTION of_dept(d text) RETURNS TABLE (dept text, n bigint) LANGUAGE plpgsql AS $$
	BEGIN RETURN QUERY SELECT v.dept, count(*) FROM visits v WHERE v.dept = d GROUP BY v.dept; END $$;
GRANT EXECUTE ON FUNCTION of_dept TO analyst1;
SELECT dp_cdp.set_bounds('visits', 'visited_on', date '2026-01-01', date '2026-12-31');
SELECT dp_cdp.set_keys('visits', 'ward', ARRAY[0, 1, 2, 3, 4, 5, 6]);

SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''b'' GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'where nothing is kept a filter on a key is bought as it is');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'and so is the question without it');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''b'' GROUP BY dept');
SELECT is(paid() || answer(), 'nobody' || answer(2), 'what was bought by itself is given again');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept IN (''a'', ''z'') GROUP BY dept ORDER BY 1');
SELECT is(paid() || answer(), 'nobody' || regexp_replace(answer(2), '\n\(b.*\n\(c[^\n]*', ''), 'a filter on a key reads the groups that are kept');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept > ''b'' AND dept IS NOT NULL GROUP BY dept ORDER BY dept DESC');
SELECT is(paid(), 'nobody', 'whatever it is');
SELECT is(array_length(string_to_array(answer(), E'\n'), 1), 2, 'and shows no others');
SELECT ask('analyst1', 'SELECT * FROM of_dept(''c'')');
SELECT is(paid() || answer(), 'nobody' || substring(answer(4) from '\(c[^\n]*'), 'with a parameter');
SELECT ask('analyst1', 'SELECT * FROM of_dept(''z'')');
SELECT is(paid() || answer(), 'nobody' || substring(answer(5) from '\(z[^\n]*'), 'with another');
SELECT ask('analyst1', 'SELECT dept, count(*), sum(cost) FROM visits WHERE dept = ''a'' GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'a column that is not kept is bought for what is asked');
SELECT is(regexp_replace(answer(), ',-?[0-9]+\)$', ')'), (SELECT substring(answer from '\(a,[^)]*\)') FROM told WHERE answer ~ '^\(a,-?\d+\)\n\(b,-?\d+\)\n\(c,-?\d+\)\n\(z,-?\d+\)$' ORDER BY n DESC LIMIT 1), 'beside one that is');
SELECT ask('analyst1', 'SELECT dept, count(*), sum(cost) FROM visits WHERE dept = ''a'' GROUP BY dept');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'and both are given again');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''c'' AND ward = 1 GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'a condition on anything else makes it another question');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''c'' OR ward = 1 GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'also one that is half of it on the key');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE dept = ''c''');
SELECT is(paid(), 'analyst1 1, cap 1', 'and so does a condition on what is no key');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''c'' GROUP BY dept', 'SET dp_cdp.rho = 2e-6');
SELECT is(paid(), 'analyst1 2, cap 2', 'a better answer than what is kept is bought');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''z'' GROUP BY dept', 'SET dp_cdp.reuse = off');
SELECT is(paid(), 'analyst1 1, cap 1', 'a fresh one, too');
SELECT ask('analyst2', 'SELECT dept, count(*) FROM visits WHERE dept IN (''a'', ''z'') GROUP BY dept');
SELECT is(paid(), 'analyst2 1, cap 1', 'who has not paid for the groups buys what he asks for');

SELECT ask('analyst1', 'SELECT dept, ward, count(*) FROM visits GROUP BY dept, ward ORDER BY 1, 2');
SELECT is(paid(), 'analyst1 1, cap 1', 'groups of two keys');
SELECT ask('analyst1', 'SELECT dept, ward, count(*) FROM visits WHERE dept = ''a'' AND ward = 3 GROUP BY dept, ward ORDER BY 1, 2');
SELECT is(paid() || answer(), 'nobody' || substring(answer(1) from '\(a,3,[^\n]*'), 'one for each of two');
SELECT ask('analyst1', 'SELECT * FROM (SELECT dept, ward, count(*) FROM visits GROUP BY dept, ward) t WHERE dept = ''a'' OR ward = 3 ORDER BY 1, 2');
SELECT is(paid(), 'nobody', 'filtered outside');
SELECT ask('analyst1', 'SELECT dept, ward, count(*) FROM visits WHERE dept = ''a'' OR ward = 3 GROUP BY dept, ward ORDER BY 1, 2');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'a condition on two keys shows no group that it leaves out');

SELECT ask('analyst1', 'SELECT date_trunc(''month'', visited_on), count(*) FROM visits GROUP BY 1');
SELECT is(paid(), 'analyst1 1, cap 1', 'months');
SELECT ask('analyst1', 'SELECT date_trunc(''month'', visited_on), count(*) FROM visits WHERE date_trunc(''month'', visited_on) = ''2026-03-01'' GROUP BY 1');
SELECT is(paid() || answer(), 'nobody' || substring(answer(1) from '\("2026-03-01[^\n]*'), 'one of them');

-- single columns of the groups that are kept
SELECT ask('analyst1', 'SELECT dept, ward, sum(cost), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE id > 11 GROUP BY dept, ward ORDER BY 1, 2');
SELECT is(paid(), 'analyst1 2, cap 2', 'a sum and a median of groups');
SELECT ask('analyst1', 'SELECT dept, ward, sum(cost) FROM visits WHERE id > 11 GROUP BY dept, ward ORDER BY 1, 2', 'SET dp_cdp.rho = 5e-6');
SELECT is(paid(), 'analyst1 4, cap 4', 'the sum in two increments');
SELECT ask('analyst1', 'SELECT dept, ward, sum(cost), avg(cost), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE id > 11 AND (dept = ''c'' OR ward IN (2, 5)) GROUP BY dept, ward ORDER BY 1, 2');
SELECT is(paid(), 'analyst1 1, cap 1', 'of three columns two are there');
SELECT ask('analyst1', 'SELECT dept, ward, sum(cost), avg(cost), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE id > 11 AND (dept = ''c'' OR ward IN (2, 5)) GROUP BY dept, ward ORDER BY 1, 2');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'what was bought is kept, the others are still there');
SELECT ask('analyst1', 'SELECT dept, ward, sum(cost), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits WHERE id > 11 AND (dept = ''c'' OR ward IN (2, 5)) GROUP BY dept, ward ORDER BY 1, 2');
SELECT is(paid() || answer(), 'nobody' || regexp_replace(answer(1), '(\([a-z],\d,[^,]*),[^,]*,', '\1,', 'g'), 'which are those of the wider question');
SELECT ask('analyst2', 'SELECT dept, ward, sum(cost), avg(cost) FROM visits WHERE id > 11 AND dept = ''c'' GROUP BY dept, ward');
SELECT is(paid(), 'analyst2 2, cap 2', 'who has not paid for them buys all');
SELECT ask('analyst1', 'SELECT dept, ward, sum(cost), avg(cost) FROM visits WHERE id > 11 AND dept = ''b'' GROUP BY dept, ward', 'SET dp_cdp.rho = 6e-6');
SELECT is(paid(), 'analyst1 12, cap 12', 'at a price that is not there both are bought');

-- each grouping set by itself; the one without the key is another question
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''b'' GROUP BY ROLLUP (dept)');
SELECT is(paid(), 'analyst1 1, cap 1', 'of a ROLLUP the total alone');
SELECT ask('analyst1', 'SELECT dept, count(*) FROM visits WHERE dept = ''b'' GROUP BY dept UNION ALL SELECT dept, sum(cost) FROM visits WHERE dept = ''b'' AND id > 7 GROUP BY dept');
SELECT is(paid(), 'analyst1 1, cap 1', 'one release is given, and the other bought');

-- values that are equal and written in two ways may differ by a condition
SET SESSION AUTHORIZATION owner1;
CREATE TABLE doses (patient int, mg numeric NOT NULL);
INSERT INTO doses SELECT i, CASE WHEN i % 2 = 0 THEN 1.0 ELSE 1.00 END FROM generate_series(1, 1000) i;
SELECT dp_cdp.protect_table('doses', 'clinic', 'patient');
SELECT dp_cdp.set_keys('doses', 'mg', ARRAY[1.0, 2.0]);
RESET SESSION AUTHORIZATION;
SELECT ask('analyst1', 'SELECT mg, count(*) FROM doses GROUP BY mg', 'SET dp_cdp.rho = 0.1');
SELECT is(paid(), 'analyst1 100000, cap 100000', 'numbers');
SELECT ask('analyst1', 'SELECT mg, count(*) FROM doses WHERE mg = 1 GROUP BY mg', 'SET dp_cdp.rho = 0.1');
SELECT is(paid() || answer(), 'nobody' || substring(answer(1) from '\(1[^\n]*'), 'one of them, in whatever form');
SELECT ask('analyst1', 'SELECT mg, count(*) FROM doses WHERE mg::text = ''1.0'' GROUP BY mg', 'SET dp_cdp.rho = 0.1');
SELECT is(paid(), 'analyst1 100000, cap 100000', 'one form of a number is another question');

-- ------------------------------------------------------------------
-- Bounds that are found first
-- ------------------------------------------------------------------

-- a tenth of the price for the bounds of each expression; a price at which they are found
SET SESSION AUTHORIZATION owner1;
CREATE TABLE scores (patient int, points int, age int);
INSERT INTO scores SELECT i, 70 + i % 50, i % 80 FROM generate_series(1, 20000) i;
SELECT dp_cdp.protect_table('scores', 'clinic', 'patient');
RESET SESSION AUTHORIZATION;
CREATE FUNCTION found() RETURNS text LANGUAGE sql SECURITY INVOKER AS $$
	SELECT coalesce(string_agg(concat_ws(' ', aggregate, rho::float8 * 10, row_lower, row_upper, reused_since IS NOT NULL), ', '), '')
	FROM dp_cdp.last_release() WHERE aggregate LIKE '%bounds%' $$;
CREATE FUNCTION ask_found(who text, query text, settings text DEFAULT '') RETURNS void LANGUAGE sql AS $$
	SELECT ask(who, query, 'SET dp_cdp.find_bounds = 0.5;SET dp_cdp.rho = 0.1;' || settings) $$;
SELECT ask_found('analyst1', 'SELECT sum(points) FROM scores');
SELECT is(paid(), 'analyst1 150000, cap 150000', 'bounds are found, and a sum bought');
SELECT ask_found('analyst1', 'SELECT sum(points) FROM scores');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'both are kept');
SELECT ask_found('analyst1', 'SELECT sum(points), avg(points) FROM scores');
SELECT is(paid(), 'analyst1 100000, cap 100000', 'what was found serves other aggregates');
SELECT is(substring(answer() from '[-0-9]+'), substring(answer(1) from '[-0-9]+'), 'beside what is kept');
SELECT ask_found('analyst1', 'SELECT avg(age), sum(points) FROM scores');
SELECT is(paid(), 'analyst1 150000, cap 150000', 'other bounds are found by themselves');
SELECT is(substring(answer() from ',([-0-9]+)'), substring(answer(1) from '[-0-9]+'), 'the others are kept');
SELECT ask_found('analyst2', 'SELECT sum(points) FROM scores');
SELECT is(paid(), 'analyst2 150000', 'another role pays for both, and the cap nothing');
SELECT is(answer(), answer(3), 'for the same answer');
SELECT ask_found('analyst1', 'SELECT sum(points) FROM scores', 'SET dp_cdp.rho = 0.2');
SELECT is(paid(), 'analyst1 250000, cap 250000', 'better bounds are another draw, and the sum is bought by these');
SELECT ask_found('analyst2', 'SELECT sum(points) FROM scores');
SELECT is(paid() || answer(), 'nobody' || answer(2), 'who has not paid for them has his own');
-- two releases of a statement
SELECT ask_found('analyst1', 'SELECT (SELECT sum(age) FROM scores WHERE points > 80), (SELECT avg(age) FROM scores WHERE points > 80)');
SELECT is(paid(), 'analyst1 250000, cap 250000', 'what two releases need is found once');
SELECT ask_found('analyst1', 'SELECT (SELECT sum(age) FROM scores WHERE points > 80), (SELECT avg(age) FROM scores WHERE points > 80)');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'and given again to both');
-- who names the bounds has not asked how they were found
SELECT ask('analyst2', 'SELECT dp_sum(points, 64, 128) FROM scores', 'SET dp_cdp.rho = 0.1');
SELECT is(paid(), 'analyst2 100000, cap 100000', 'written bounds do not meet found ones');

-- ------------------------------------------------------------------
-- What is shown of it
-- ------------------------------------------------------------------

-- what EXPLAIN says of releases, the price that preview tells, and what last_release says was charged, in prices of one aggregate
CREATE FUNCTION shown(who text, query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
	price numeric;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION ' || who;
	IF settings <> '' THEN
		EXECUTE settings;
	END IF;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Release[d:]' THEN
			result := result || regexp_replace(regexp_replace(line, '^.*Release', 'Release'), ' \(.*?\)|  rows within.*?\(max_rows \d+\)|  a unit counts with \d+ rows( of each group)?| \d\d:\d\d:\d\d old,', '', 'g') || '; ';
		END IF;
	END LOOP;
	SELECT rho INTO price FROM dp_cdp.preview(query) WHERE item = 'total';
	EXECUTE query;
	result := result || (price * 1e6)::float8 || ' ' || (SELECT (sum(rho) * 1e6)::float8 FROM dp_cdp.last_release());
	EXECUTE 'RESET SESSION AUTHORIZATION';
	EXECUTE 'RESET dp_cdp.rho';
	RETURN result;
END $$;
SELECT is(shown('analyst1', 'SELECT dept, sum(cost) FROM visits WHERE id > 5 GROUP BY dept'),
		  'Release: sum(cost) ; 1 1', 'what is bought');
SELECT is(shown('analyst1', 'SELECT dept, sum(cost) FROM visits WHERE id > 5 GROUP BY dept'),
		  'Release: sum(cost)   kept, charged rho 0; 0 0', 'what is given again');
SELECT is(shown('analyst1', 'SELECT dept, sum(cost) FROM visits WHERE id > 5 GROUP BY dept', 'SET dp_cdp.rho = 4e-6'),
		  'Release: sum(cost)   makes a kept answer better, charged rho 3e-06; 3 3', 'what is made better');
SELECT is(shown('analyst2', 'SELECT dept, sum(cost) FROM visits WHERE id > 5 GROUP BY dept'),
		  'Release: sum(cost)   kept, charged rho 1e-06; 1 1', 'what others have paid for');
SELECT is(shown('analyst2', 'SELECT dept, sum(cost) FROM visits WHERE id > 5 GROUP BY dept', 'SET dp_cdp.rho = 2e-6'),
		  'Release: sum(cost)   made of a better one that is kept, charged rho 1e-06; 1 1', 'what is made of what others have paid for');
SELECT is(shown('analyst1', 'SELECT dept, sum(cost) FROM visits WHERE id > 5 AND dept = ''a'' GROUP BY dept'),
		  'Release: sum(cost)   kept with more groups, charged rho 0; 0 0', 'what is one of more groups');
SELECT is(shown('analyst1', 'SELECT dept, sum(cost), count(*) FROM visits WHERE id > 5 AND dept = ''a'' GROUP BY dept'),
		  'Release: sum(cost)   kept with more groups, charged rho 0; Release: count(*) ; 1 1', 'a column of what is one of more groups');
-- it could not be asked without its condition
SELECT is(shown('analyst1', 'SELECT patient, count(*) FROM visits WHERE patient IN (1, 2) GROUP BY patient'),
		  'Release: count(*) ; 1 1', 'what is only releasable with a condition on its keys');
SELECT is(shown('analyst1', 'SELECT (SELECT count(*) FROM visits WHERE id > 5), sum(cost), (SELECT max(s) FROM (SELECT dept, sum(cost) AS s FROM visits WHERE id > 5 GROUP BY dept) q) FROM visits WHERE id > 5'),
		  'Release: sum(cost) ; Release: count(*) ; Release: sum(cost)   kept, charged rho 0; 2 2', 'several releases');
SELECT is(shown('analyst1', 'SELECT count(*) FROM visits WHERE dept IN (SELECT dept FROM visits WHERE id > 5 GROUP BY dept HAVING sum(cost) > 0)'),
		  'Release: count(*) ; Released Before: sum(cost)   kept, charged rho 0; 1 1', 'one that another one needs');

-- what is asked twice in one statement is paid for once
SELECT is(shown('analyst1', 'SELECT (SELECT count(*) FROM visits WHERE id > 21), (SELECT count(*) FROM visits v WHERE v.id > 21)'),
		  'Release: count(*) ; Release: count(*)   the same as another, which pays; 1 1', 'two releases that are one');
SELECT is(shown('analyst1', 'SELECT (SELECT count(*) FROM visits WHERE id > 21), (SELECT count(*) FROM visits v WHERE v.id > 21)'),
		  'Release: count(*)   kept, charged rho 0; Release: count(*)   kept, charged rho 0; 0 0', 'and kept');
SELECT is(shown('analyst1', 'SELECT dept, sum(cost) FROM visits WHERE id > 22 GROUP BY dept UNION ALL SELECT dept, sum(cost) FROM visits WHERE id > 22 GROUP BY dept UNION ALL SELECT dept, count(*) FROM visits WHERE id > 22 GROUP BY dept'),
		  'Release: sum(cost) ; Release: sum(cost)   the same as another, which pays; Release: count(*) ; 2 2', 'beside another');
SELECT is(shown('analyst1', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), (SELECT max(cost) FROM visits WHERE id > 23) FROM visits WHERE id > 23'),
		  shown('analyst1', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), (SELECT max(cost) FROM visits WHERE id > 24) FROM visits WHERE id > 24'), 'two aggregates of one tree');
SELECT is(shown('analyst2', 'SELECT (SELECT count(*) FROM visits WHERE id > 21), (SELECT count(*) FROM visits v WHERE v.id > 21)'),
		  'Release: count(*)   kept, charged rho 1e-06; Release: count(*)   kept, charged rho 0; 1 1', 'what somebody else has paid for, twice');
SELECT is(shown('analyst1', 'SELECT count(*) FROM visits WHERE id > 25 AND dept IN (SELECT dept FROM visits WHERE id > 25 GROUP BY dept HAVING sum(cost) > -1e12) AND (SELECT max(s) FROM (SELECT dept, sum(cost) AS s FROM visits WHERE id > 25 GROUP BY dept) q) > -1e12'),
		  'Release: count(*) ; Released Before: sum(cost) ; Released Before: sum(cost)   kept, charged rho 0; 2 1', 'one that another one needs, and that is shown');

SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE id > 26 AND dept IN (SELECT dept FROM visits WHERE id > 26 GROUP BY dept HAVING sum(cost) > -1e12) AND (SELECT max(s) FROM (SELECT dept, sum(cost) AS s FROM visits WHERE id > 26 GROUP BY dept) q) > -1e12');
SELECT is(paid(), 'analyst1 2, cap 2', 'as it is charged');

-- ------------------------------------------------------------------
-- Ends
-- ------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT cmp_ok(dp_cdp.forget_answers('clinic'), '>', 0::bigint, 'answers are forgotten');
SELECT is(dp_cdp.forget_answers('clinic'), 0::bigint, 'none is left');
RESET SESSION AUTHORIZATION;
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'analyst1 1, cap 1', 'the owner ends all answers');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 200);
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'analyst1 1, cap 1', 'and so does a changed policy');
SELECT dp_cdp.alter_dataset('clinic', reuse => '0');
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid(), 'analyst1 1, cap 1', 'nothing is given again where reuse is off');

-- ------------------------------------------------------------------
-- Rows are read for min_rho or more, and a question of the time is not made better
-- ------------------------------------------------------------------

SELECT dp_cdp.alter_dataset('clinic', reuse => '1 day');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost > 61');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost > 61', 'SET dp_cdp.rho = 1.000001e-6');
SELECT is((answer(), paid())::text, (answer(1), 'nobody'::text)::text, 'who asks for less than min_rho more is given what is there');
SELECT ask('analyst2', 'SELECT count(*) FROM visits WHERE cost > 61', 'SET dp_cdp.rho = 1.0099e-6');
SELECT is((answer(), paid())::text, (answer(1), 'analyst2 1'::text)::text, 'and pays for that');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost > 61', 'SET dp_cdp.rho = 1.01e-6');
SELECT is(paid(), 'analyst1 0.01, cap 0.01', 'for min_rho more a better answer is bought');
SELECT ask('analyst1', 'SELECT dept, count(*), sum(cost) FROM visits WHERE cost > 62 GROUP BY dept');
SELECT ask('analyst1', 'SELECT dept, count(*), sum(cost) FROM visits WHERE cost > 62 GROUP BY dept', 'SET dp_cdp.rho = 1.009e-6');
SELECT is((answer(), paid())::text, (answer(1), 'nobody'::text)::text, 'each column of a query is so');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost > 63', 'SET dp_cdp.target_error = 3000');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost > 63', 'SET dp_cdp.target_error = 2999.99');
SELECT is(paid(), 'analyst1 0.01, cap 0.01', 'a target of accuracy is met, for min_rho');

CREATE FUNCTION twice(condition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM ask('analyst1', 'SELECT count(*) FROM visits WHERE ' || condition);
	PERFORM ask('analyst1', 'SELECT count(*) FROM visits WHERE ' || condition, 'SET dp_cdp.rho = 3e-6');
	RETURN paid();
END $$;
SELECT is(twice('visited_on < date ''2026-05-05'''), 'analyst1 2, cap 2', 'a better answer costs the difference');
SELECT is(twice('visited_on < current_date - 5'), 'analyst1 3, cap 3', 'one of current_date is bought anew');
SELECT is(twice('visited_on < now() - interval ''40 days'''), 'analyst1 3, cap 3', '... of now()');
SELECT is(twice('age(visited_on) > interval ''30 days'''), 'analyst1 3, cap 3', '... of age() of one moment');
CREATE FUNCTION lately(d date, days int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT d > current_date - days';
SELECT dp_cdp.allow_function('lately(date, int)');
SELECT is(twice('lately(visited_on, 5)'), 'analyst1 3, cap 3', '... of a STABLE function that was added');
SELECT is(twice('patient IN (SELECT patient FROM visits WHERE visited_on < localtimestamp - interval ''7 days'')'), 'analyst1 3, cap 3', '... in a subquery');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE visited_on < current_date - 5');
SELECT is(paid(), 'nobody', 'and given from then on');
SELECT ask('analyst2', 'SELECT count(*) FROM visits WHERE visited_on < current_date - 5', 'SET dp_cdp.rho = 3e-6');
SELECT is((answer(), paid())::text, (answer(1), 'analyst2 3'::text)::text, 'to others, too, at its price');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE visited_on < current_date - 6');
SELECT ask('analyst2', 'SELECT count(*) FROM visits WHERE visited_on < current_date - 6', 'SET dp_cdp.rho = 3e-6');
SELECT is(paid(), 'analyst2 3, cap 3', 'others buy it anew for themselves');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE visited_on < current_date - 6');
SELECT is((answer(), paid())::text, (answer(2), 'nobody'::text)::text, 'and who has paid for the older one keeps it');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE visited_on < current_date - 6', 'SET dp_cdp.rho = 3e-6');
SELECT is((answer(), paid())::text, (answer(2), 'analyst1 3'::text)::text, '... until he pays for the younger one');

SELECT * FROM finish();
