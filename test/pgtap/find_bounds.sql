-- dp_cdp.find_bounds: bounds that nobody knows are found privately, as a release before the release, that is paid for together with it.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop', find_bounds => 0, max_groups => 3, max_rows => 10);
SELECT dp_cdp.create_dataset('persons', find_bounds => 0, neighbors => 'replace_one');
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6) FROM unnest('{shop,persons}'::text[]) d;
-- 5000 customers with 1 to 8 orders
CREATE TABLE orders AS SELECT c AS customer, (ARRAY['web', 'app'])[1 + o % 2] AS channel, c % 3 AS region,
	(20 + (c * 7 + o * 13) % 400)::numeric(10, 2) AS amount, (c * 7 + o * 13) % 1000 - 300 AS change,
	CASE c % 10 WHEN 0 THEN NULL WHEN 1 THEN float8 'NaN' ELSE c % 100 / 1000.0 END AS share,
	CASE c % 10 WHEN 1 THEN float8 'infinity' WHEN 2 THEN '-infinity' ELSE c % 100 + 100 END AS wild,
	0 AS zero, (c % 7) * bigint '1000000000' AS big, (c % 50 + 1)::int2 AS small, (c % 90)::float4 AS weight,
	date '2026-01-01' + c % 60 AS day, timestamp '2026-01-01 12:00' + c % 60 * interval '1 day' AS at,
	timestamptz '2026-01-01 12:00+00' + c % 60 * interval '1 day' AS instant,
	CASE c % 10 WHEN 0 THEN date 'infinity' WHEN 1 THEN date '1066-10-14' ELSE date '2026-03-01' END AS odd_day,
	NULL::numeric AS nothing
	FROM generate_series(1, 5000) c, generate_series(1, 1 + c % 8) o;
ALTER TABLE orders ALTER channel SET NOT NULL;
CREATE TABLE person AS SELECT c AS id, c % 90 AS age, (c % 90)::float8 AS points FROM generate_series(1, 5000) c;
CREATE TABLE nobody (LIKE orders);
CREATE TABLE regions AS SELECT r AS region, 'r' || r AS name, 10 * (r + 1) AS weight FROM generate_series(0, 2) r;
ALTER TABLE regions ADD PRIMARY KEY (region);
GRANT SELECT ON regions TO analyst1;
SELECT dp_cdp.protect_table('orders', 'shop', 'customer'), dp_cdp.protect_table('nobody', 'shop', 'customer'), dp_cdp.protect_table('person', 'persons', each_row => true);
SELECT dp_cdp.set_keys('orders', 'channel', '{web,app}'::text[]), dp_cdp.set_bounds('orders', 'weight', 0, 90);
RESET SESSION AUTHORIZATION;
ANALYZE;

-- what a query returns as the analyst, with a price of rho for each aggregate
CREATE FUNCTION asked(query text, rho text DEFAULT '1e4', find text DEFAULT 'on') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('dp_cdp.rho', rho, true), set_config('dp_cdp.find_bounds', find, true);
	SET SESSION AUTHORIZATION analyst1;
	RETURN QUERY EXECUTE format('SELECT q::text FROM (%s) q', query);
	RESET SESSION AUTHORIZATION;
END $$;
CREATE FUNCTION answers(query text, wanted text, description text) RETURNS text LANGUAGE sql AS
	$$ SELECT is((SELECT string_agg(asked, ' ') FROM asked(query)), wanted, description) $$;
-- and what plain SQL does
CREATE FUNCTION near(query text, tolerance float8, truth text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected float8;
	got float8 := (SELECT trim(asked, '()')::float8 FROM asked(query));
BEGIN
	EXECUTE truth INTO expected;
	RETURN ok(abs(got - expected) <= tolerance, format('%s: %s is %s', description, got, expected));
END $$;
CREATE FUNCTION plain(query text) RETURNS SETOF text LANGUAGE plpgsql AS
	$$ BEGIN RETURN QUERY EXECUTE format('SELECT q::text FROM (%s) q', query); END $$;
-- the bounds that were found, as the last release shows them
CREATE FUNCTION found(query text, rho text DEFAULT '1e4') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM asked(query, rho);
	SET SESSION AUTHORIZATION analyst1;
	SELECT string_agg(aggregate || coalesce(', ' || row_lower || ' .. ' || row_upper, ''), '; ') INTO result
		FROM dp_cdp.last_release() WHERE aggregate LIKE 'bounds of%';
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
CREATE FUNCTION fails(statement text, message text, description text, find text DEFAULT 'on') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ended record;
BEGIN
	PERFORM set_config('dp_cdp.find_bounds', find, true);
	SELECT * INTO ended FROM run_as_analyst(statement);
	RETURN is(coalesce(ended.failure, 'answered') || ' ' || ended.cost, message || ' 0', description);
END $$;
CREATE FUNCTION explained(query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text;
BEGIN
	PERFORM set_config('dp_cdp.find_bounds', 'on', true);
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	FOR line IN EXECUTE format('EXPLAIN (costs off, verbose) %s', query) LOOP
		result := concat_ws(E'\n', result, substring(line FROM '^ *(Release: .*|Rho: .*|Threshold.*)'));
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN ltrim(result, E'\n');
END $$;

SELECT no_plan();

-- --------------------------------------------------------------------------
-- Off, unless somebody turns it on
-- --------------------------------------------------------------------------

SELECT fails('SELECT dp_avg(amount) FROM orders',
	'ZC004 dp_avg(amount) needs bounds: write dp_avg(amount, lower, upper), or let the owner declare them with dp_cdp.set_bounds', 'off', '');
SELECT fails('SELECT dp_min(day) FROM orders', 'ZC004 dp_min(day) needs bounds: write dp_min(day, lower, upper), or let the owner declare them with dp_cdp.set_bounds', 'off, of dates', '');
DO $$
DECLARE
	hint text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	BEGIN
		PERFORM dp_avg(amount) FROM orders;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	END;
	RESET SESSION AUTHORIZATION;
	PERFORM set_config('test.hint', hint, false);
END $$;
SELECT matches(current_setting('test.hint'), '^SET dp_cdp.find_bounds = on', 'the hint names the setting');
BEGIN;
SELECT substring(current_setting('test.hint') FROM '^SET dp_cdp.find_bounds = on') AS remedy \gset
:remedy;
SELECT is(failure, NULL, 'and what it says works') FROM run_as_analyst('SELECT dp_avg(amount) FROM orders');
SELECT is(failure, NULL, 'and what it says works of dates') FROM run_as_analyst('SELECT dp_min(day) FROM orders');
ROLLBACK;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('shop', find_bounds => 0.2);
RESET SESSION AUTHORIZATION;
SELECT is((failure, cost)::text, (NULL::text, 12000)::text, 'a default of the dataset, a fifth of the price') FROM run_as_analyst('SELECT dp_avg(amount) FROM orders');
SELECT fails('SELECT dp_avg(amount) FROM orders',
	'ZC004 dp_avg(amount) needs bounds: write dp_avg(amount, lower, upper), or let the owner declare them with dp_cdp.set_bounds', 'who asks may turn it off', 'off');
SELECT is(find_bounds, 0.2::float8, 'the default is shown') FROM dp_cdp.datasets WHERE dataset = 'shop';
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('shop', find_bounds => 0);
SELECT is(find_bounds, NULL, '0 removes it') FROM dp_cdp.datasets WHERE dataset = 'shop';
SELECT throws_like($$SELECT dp_cdp.alter_dataset('shop', find_bounds => 1.1)$$, 'find_bounds is a share of an aggregate''s price: give a number between 0 and 1%');
SELECT throws_like($$SELECT dp_cdp.alter_dataset('shop', find_bounds => 'NaN')$$, 'find_bounds is a share%');
RESET SESSION AUTHORIZATION;
SELECT throws_like(format('SET dp_cdp.find_bounds = %L', v), 'dp_cdp.find_bounds must be on, off, or which share%', v) FROM unnest('{1.5,-1,nan,maybe,0.1x}'::text[]) v;

-- --------------------------------------------------------------------------
-- Prices
-- --------------------------------------------------------------------------

SELECT is(explained('SELECT channel, dp_avg(amount), dp_sum(amount), dp_sum(change) FROM orders GROUP BY channel'),
'Release: bounds of amount  (sees bins of more than 129.6 units, rho=0.001 sensitivity=1)  found first
Release: bounds of change  (sees bins of more than 129.6 units, rho=0.001 sensitivity=1)  found first
Release: dp_avg(amount)  (stddev known when it runs, rho=0.01)  values within bounds that are found first
Release: dp_sum(amount)  (stddev known when it runs, rho=0.01)  values within bounds that are found first
Release: dp_sum(change)  (stddev known when it runs, rho=0.01)  values within bounds that are found first
Rho: 0.032', 'a line for each expression');
SELECT is(explained('SELECT dp_max(age) FROM person'),
'Release: bounds of age  (sees bins of more than 183.1 rows, rho=0.001 sensitivity=1.41421)  found first
Release: dp_max(age)  (stddev known when it runs, rho=0.01)  values within bounds that are found first
Rho: 0.011', 'rows as units, exchanged');
SELECT is((failure, cost)::text, (NULL::text, 32000)::text, 'paid for together')
	FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on; SELECT channel, dp_avg(amount), dp_sum(amount), dp_sum(change) FROM orders GROUP BY channel$$);
SELECT is(string_agg(format('%s: %s %s', aggregates, rho, stddev), '; ' ORDER BY id),
	'bounds of amount, bounds of change: 0.002 22.3607, 22.3607; dp_avg(amount), dp_sum(amount), dp_sum(change): 0.03 173.205, by bounds, by bounds', 'two rows of the audit')
	FROM (SELECT * FROM dp_cdp.releases WHERE kind <> 'guard' ORDER BY id DESC LIMIT 2) r;
SELECT is(a::int, b, 'a row of the audit for each, of one debit') FROM (SELECT count(*) AS a, 2 AS b FROM (SELECT released_at FROM dp_cdp.releases WHERE kind <> 'guard' ORDER BY id DESC LIMIT 2) r GROUP BY released_at) q;
SELECT is(cost, 15000::bigint, 'half of the price') FROM run_as_analyst('SET LOCAL dp_cdp.find_bounds = 0.5; SELECT dp_avg(amount) FROM orders');
SELECT is(cost, 10100::bigint, 'at least min_rho') FROM run_as_analyst('SET LOCAL dp_cdp.find_bounds = 0.00001; SELECT dp_avg(amount) FROM orders');
SELECT is(cost, 10000::bigint, 'nothing where bounds are known') FROM run_as_analyst('SET LOCAL dp_cdp.find_bounds = on; SELECT dp_avg(weight) FROM orders');
SELECT is(cost, 10000::bigint, '... or written') FROM run_as_analyst('SET LOCAL dp_cdp.find_bounds = on; SELECT dp_avg(amount, 0, 500) FROM orders');
SELECT is(string_agg(name || ' ' || rho || coalesce(' ' || round(stddev::numeric, 1), ''), '; '), 'bounds of amount 0.001; dp_avg(amount) 0.01', 'preview')
	FROM (SELECT set_config('dp_cdp.find_bounds', 'on', true)) s, dp_cdp.preview('SELECT dp_avg(amount) FROM orders') WHERE item = 'aggregate';
RESET dp_cdp.find_bounds;
SELECT is(explained('SELECT region, dp_avg(amount), dp_count(*) FROM orders GROUP BY region'),
'Release: bounds of amount  (sees bins of more than 129.6 units, rho=0.001 sensitivity=1)  found first
Release: dp_avg(amount)  (stddev known when it runs, rho=0.01)  values within bounds that are found first
Release: dp_count(*)  (stddev=122.474 rho=0.01 sensitivity=17.3205 margin=240.046)  a unit counts with 10 rows of each group
Release: key selection  (stddev=12.2474 rho=0.01 sensitivity=1.73205 margin=24.0046)  selects keys
Rho: 0.031
Threshold: 78', 'keys that are selected');

-- --------------------------------------------------------------------------
-- Answers
-- --------------------------------------------------------------------------

SELECT is(found('SELECT dp_avg(amount), dp_sum(amount) FROM orders'), 'bounds of amount, 16 .. 512', 'once for all aggregates of an expression');
-- where the norm of a sum is found, that cuts, and tells how much
CREATE FUNCTION held_to(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM asked(query);
	SET SESSION AUTHORIZATION analyst1;
	SELECT string_agg(aggregate || ' ' || row_lower || ' .. ' || row_upper, ', ' ORDER BY aggregate) INTO result FROM dp_cdp.last_release()
		WHERE aggregate ~ '^(sum|dp_sum|avg|dp_avg)' AND rho IS NOT NULL;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
SELECT is(held_to('SELECT dp_avg(amount), dp_sum(amount), dp_sum(-amount) FROM orders'), 'dp_avg(amount) 16 .. 512, dp_sum((- amount)) -512 .. -16, dp_sum(amount) 16 .. 512', 'values are held to what is found');
SELECT set_config('dp_cdp.max_contribution', 'auto', false) \g /dev/null
SELECT is(held_to('SELECT dp_avg(amount), dp_sum(amount), dp_sum(-amount) FROM orders'), 'dp_avg(amount) 16 .. 512, dp_sum((- amount)) -4096 .. -16, dp_sum(amount) 16 .. 4096', '... those of a sum whose norm is found to eight times that');
SELECT set_config('dp_cdp.max_contribution', '100', false) \g /dev/null
SELECT is(held_to('SELECT dp_sum(amount) FROM orders'), 'dp_sum(amount) 16 .. 512', '... whose norm is set, to that');
RESET dp_cdp.max_contribution;
SELECT near('SELECT dp_avg(amount) FROM orders', 0.01, 'SELECT avg(amount) FROM orders', 'an average');
SELECT near('SELECT dp_sum(amount) FROM orders', 250, 'SELECT sum(amount) FROM orders', 'a sum');
SELECT near('SELECT sum(amount) FILTER (WHERE channel = ''web'') FROM orders', 250, 'SELECT sum(amount) FROM orders WHERE channel = ''web''', 'a filter');
SELECT near('SELECT dp_stddev(amount) FROM orders', 0.1, 'SELECT stddev(amount) FROM orders', 'a standard deviation');
SELECT near('SELECT dp_variance(amount) FROM orders', 30, 'SELECT variance(amount) FROM orders', 'a variance');
SELECT near('SELECT dp_median(amount) FROM orders', 1, 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders', 'a median');
SELECT near('SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY amount) FROM orders', 1, 'SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY amount) FROM orders', 'a percentile');
SELECT near('SELECT dp_min(amount) FROM orders', 1, 'SELECT min(amount) FROM orders', 'a minimum');
SELECT near('SELECT dp_max(change) FROM orders', 2, 'SELECT max(change) FROM orders', 'a maximum');
SELECT near('SELECT dp_sum(change) FROM orders', 500, 'SELECT sum(change) FROM orders', 'integers on both sides of 0');
SELECT near('SELECT dp_sum(big) FROM orders', 5e9, 'SELECT sum(big) FROM orders', 'large integers');
SELECT near('SELECT dp_sum(small) FROM orders', 35, 'SELECT sum(small) FROM orders', 'small integers');
SELECT near('SELECT dp_avg(weight * 1000000) FROM orders WHERE region = 1', 5000, 'SELECT avg(weight * 1000000) FROM orders WHERE region = 1', 'bounds follow where they can');
SELECT near('SELECT corr(amount::float8, weight::float8) FROM orders', 0.01, 'SELECT corr(amount, weight) FROM orders', 'two arguments, one with bounds');
SELECT near('SELECT dp_covar_pop(amount, change::numeric) FROM orders', 30, 'SELECT covar_pop(amount, change) FROM orders', 'two arguments without');
SELECT near('SELECT avg(points) FROM person', 0.01, 'SELECT avg(points) FROM person', 'rows as units');
SELECT near('SELECT sum(age) FROM person', 8, 'SELECT sum(age) FROM person', 'a sum of these');
SELECT near('SELECT avg(t) FROM (SELECT customer, sum(amount) AS t FROM orders GROUP BY customer) q', 1,
	'SELECT avg(t) FROM (SELECT sum(amount) AS t FROM orders GROUP BY customer) q', 'totals of units');
SELECT near('SELECT sum(o.amount * r.weight) FROM orders o JOIN regions r USING (region)', 25000, 'SELECT sum(o.amount * r.weight) FROM orders o JOIN regions r USING (region)', 'a join with public rows');
SELECT near('SELECT sum(o.amount) FROM orders o JOIN (SELECT region FROM regions WHERE weight > 10 OFFSET 0) r USING (region)', 250,
	'SELECT sum(amount) FROM orders WHERE region > 0', 'rows that are prefetched');
SELECT answers(format(q, 'avg'), (SELECT string_agg(x, ' ') FROM plain(format(q, 'avg')) x), d) FROM (VALUES
	('SELECT channel, round(%s(amount)) FROM orders GROUP BY channel ORDER BY 1', 'groups'),
	('SELECT region, round(%s(amount)) FROM orders GROUP BY region ORDER BY 1', 'groups that are selected'),
	('SELECT channel, round(%s(amount)) FROM orders GROUP BY ROLLUP (channel) ORDER BY 1', 'grouping sets')) v(q, d);
SELECT answers('SELECT dp_histogram(change, 4) FROM orders',
	(SELECT format('("{%s}")', string_agg(n::text, ',' ORDER BY b)) FROM (SELECT width_bucket(change, -512, 1024, 4) AS b, count(*) AS n FROM orders GROUP BY 1) q), 'a histogram');
SELECT answers('SELECT abs(dp_noise_stddev(dp_sum(small)) - sqrt(640 * 640 / 2e4)) < 1 AS s FROM orders', '(t)', 'the error is that of the bounds that were found');

-- --------------------------------------------------------------------------
-- Types and odd values
-- --------------------------------------------------------------------------

SELECT is(found('SELECT dp_avg(share) FROM orders'), 'bounds of share, 0.001953125 .. 0.125', 'NULL and NaN are no values');
SELECT is(found('SELECT dp_avg(wild) FROM orders'), 'bounds of wild, -7.922816251426434e+28 .. 7.922816251426434e+28', 'infinities are in the outermost bins');
SELECT is(found('SELECT dp_avg(zero) FROM orders'), 'bounds of zero, -1 .. 1', 'only 0');
SELECT is(found('SELECT dp_avg(big) FROM orders'), 'bounds of big, 0 .. 8589934592', 'bigint');
SELECT is(found('SELECT dp_avg(small) FROM orders'), 'bounds of small, 0 .. 64', 'smallint');
SELECT is(found('SELECT dp_avg(amount * 0) FROM orders'), 'bounds of (amount * 0), -2.3283064365386963e-10 .. 2.3283064365386963e-10', 'numeric 0');
SELECT is(found('SELECT dp_min(day) FROM orders'), 'bounds of day: 2025-12-31 .. 2026-03-03', 'dates');
SELECT is(found('SELECT dp_median(at) FROM orders'), 'bounds of at: 2025-12-31 .. 2026-03-03', 'timestamps');
SELECT is(found('SELECT dp_max(instant) FROM orders'), 'bounds of instant: 2025-12-31 .. 2026-03-03', 'with time zone');
SELECT is(found('SELECT dp_max(odd_day) FROM orders'), 'bounds of odd_day: 1800-01-01 .. 2200-01-01', 'dates long ago, and infinite');
SELECT answers('SELECT dp_min(day) AS a, dp_max(day) AS b, dp_median(day) AS c FROM orders', '(2026-01-01,2026-03-01,2026-01-31)', 'answers that are dates');

-- --------------------------------------------------------------------------
-- Nothing to find
-- --------------------------------------------------------------------------

SELECT is(found('SELECT dp_avg(amount), dp_max(day) FROM nobody'), 'bounds of amount: none found, 0 .. 1; bounds of day: none found', 'no rows');
SELECT is(found('SELECT dp_avg(nothing) FROM orders'), 'bounds of nothing: none found, 0 .. 1', 'no values');
SELECT is(count(*)::int, 1, 'an answer all the same') FROM asked('SELECT dp_avg(amount), dp_sum(amount), dp_max(day), dp_histogram(change, 3) FROM nobody', '0.01');
SELECT is(count(*)::int, 2, 'and all groups') FROM asked('SELECT channel, dp_sum(amount) FROM orders WHERE false OR amount < 0 GROUP BY channel', '0.01');
SELECT matches(string_agg(found('SELECT dp_avg(amount) FROM orders WHERE customer < 30', '0.0001'), '; '), 'bounds of amount: none found, 0 .. 1', 'noise hides them, but once in a million') FROM generate_series(1, 3);

-- --------------------------------------------------------------------------
-- By default
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('usual', max_groups => 3, max_rows => 10);
CREATE TABLE usual AS SELECT * FROM orders;
SELECT dp_cdp.protect_table('usual', 'usual', 'customer'), dp_cdp.set_budget('usual', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;
SELECT is(find_bounds, 0.1::float8, 'a tenth of the price is the default of a dataset') FROM dp_cdp.datasets WHERE dataset = 'usual';
SELECT is(string_agg(asked, ' '), '(2026-01-01,2026-03-01)', 'bounds of dates are found without a setting') FROM asked('SELECT min(day), max(day) FROM usual', find => '');
SELECT is(string_agg(asked, ' '), '(,)', 'where none are found, there is no answer') FROM asked('SELECT sum(nothing), avg(share) FROM usual WHERE amount < 0', find => '');
SELECT matches(string_agg(asked, ' '), '^\(-?[0-9]+,\)$', '... but of what needs no bounds') FROM asked('SELECT count(*), sum(amount) FROM usual WHERE amount < 0', find => '');
SELECT dp_cdp.alter_dataset('usual', find_bounds => 0) \g /dev/null
SELECT fails('SELECT min(day) FROM usual', 'ZC004 min(day) needs bounds: write dp_min(day, lower, upper), or let the owner declare them with dp_cdp.set_bounds', '0 turns it off', '');
SELECT dp_cdp.alter_dataset('usual', reset => '{find_bounds}') \g /dev/null
SELECT is(find_bounds, 0.1::float8, 'and a reset on') FROM dp_cdp.datasets WHERE dataset = 'usual';

-- --------------------------------------------------------------------------
-- Once, however it is asked
-- --------------------------------------------------------------------------

SELECT is((failure, cost)::text, (NULL::text, 11000)::text, 'a cursor that is rewound') FROM run_as_analyst($$
	SET LOCAL dp_cdp.find_bounds = on;
	DO $do$
	DECLARE
		c SCROLL CURSOR FOR SELECT channel, sum(amount) AS s FROM orders GROUP BY channel;
		a record;
		b record;
	BEGIN
		OPEN c;
		FETCH c INTO a;
		FETCH c INTO b;
		FETCH FIRST FROM c INTO b;
		IF a IS DISTINCT FROM b THEN
			RAISE 'differs';
		END IF;
	END $do$ $$);
SELECT is((failure, cost)::text, (NULL::text, 11000)::text, 'a rescan') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on;
	SELECT * FROM generate_series(1, 3) i, LATERAL (SELECT i, s FROM (SELECT sum(amount) AS s FROM orders) q OFFSET 0) r$$);
SELECT is((failure, cost)::text, (NULL::text, 33000)::text, 'prepared, and run three times') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on; SET LOCAL plan_cache_mode = force_generic_plan;
	PREPARE p(numeric) AS SELECT dp_sum(amount * $1) FROM orders WHERE amount > $1;
	EXECUTE p(1); EXECUTE p(2); EXECUTE p(300)$$);
SELECT is((failure, cost)::text, (NULL::text, 11000)::text, 'parameters of the aggregate') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on;
	PREPARE h(int) AS SELECT dp_histogram(amount, $1) FROM orders; EXECUTE h(7)$$);
SELECT is((failure, cost)::text, ('ZC004 this query was planned to find bounds of amount first; take back what was SET since of dp_cdp.find_bounds and dp_cdp.max_rows, or prepare the query anew'::text, 0)::text,
	'turned off after it was prepared') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on; SET LOCAL plan_cache_mode = force_generic_plan;
	PREPARE q AS SELECT dp_sum(amount) FROM orders; EXPLAIN EXECUTE q; SET LOCAL dp_cdp.find_bounds = off; EXECUTE q$$);
SELECT ok(failure IS NULL AND cost >= 3000, 'a target of accuracy: the pilot finds bounds, and pays for it once: ' || concat(failure, ' ', cost)) FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on; SET LOCAL dp_cdp.target_error = '5%'; SELECT dp_avg(amount) FROM orders$$);
SELECT is((failure, cost)::text, (NULL::text, 32000)::text, 'two releases of a statement') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on;
	SELECT (SELECT sum(amount) FROM orders), (SELECT max(age) FROM person), (SELECT count(*) FROM orders)$$);
SELECT is((failure, cost)::text, (NULL::text, 22000)::text, 'grouping sets find their own') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on;
	SELECT channel, sum(amount) FROM orders GROUP BY ROLLUP (channel)$$);
-- a function that changes what it costs while it is priced
CREATE FUNCTION cheaper(x int) RETURNS int LANGUAGE plpgsql STABLE AS
	$$ BEGIN PERFORM set_config('dp_cdp.rho', '0.5', true), set_config('test.calls', (coalesce(nullif(current_setting('test.calls', true), ''), '0')::int + 1)::text, false); RETURN x; END $$;
SELECT is((failure, cost)::text, (NULL::text, 11000)::text, 'priced once') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on; SELECT dp_histogram(amount, cheaper(3)) FROM orders$$);
-- averages of values of which few people have the most: margins hold what bounds leave out, and bounds leave out less
SET SESSION AUTHORIZATION owner1;
CREATE TABLE costs AS SELECT c AS person, exp(3 + 1.2 * sqrt(-2 * ln((c - 0.5) / 3000)) * cos(2 * pi() * (c * 0.6180339887498949 - floor(c * 0.6180339887498949)))) AS cost FROM generate_series(1, 3000) c;
SELECT dp_cdp.create_dataset('costs'), dp_cdp.protect_table('costs', 'costs', 'person'), dp_cdp.set_budget('costs', 'analyst1', rho => 1000);
RESET SESSION AUTHORIZATION;
CREATE FUNCTION held(statement text, truth float8) RETURNS TABLE (n bigint, off float8) LANGUAGE plpgsql AS $$
DECLARE
	answer float8;
	margin float8;
BEGIN
	n := 0;
	off := 0;
	FOR i IN 1..60 LOOP
		SELECT split_part(asked, ',', 1)::float8, split_part(asked, ',', 2)::float8 INTO answer, margin
			FROM (SELECT btrim(a, '()') AS asked FROM asked(statement, '0.1') a) q;
		n := n + (abs(answer - truth) <= margin)::int;
		off := off + (answer - truth) / 60;
	END LOOP;
	RETURN NEXT;
END $$;
-- with bounds as they are found 5 % of the average are missing, and margins of 2 % never hold; of margins that hold nine times in ten 34 of 60 do but for one time in 1e11
SELECT unnest(ARRAY[ok(h.n >= 34, format('%s of 60 margins hold', h.n)), ok(h.off > -0.04 * truth, format('the average is off by %s of %s', h.off, truth))])
	FROM (SELECT avg(cost) AS truth FROM costs) t, held('SELECT avg(cost), dp_margin(avg(cost)) FROM costs', truth) h;
SELECT matches((SELECT string_agg(a, ';') FROM asked('SELECT dp_bounds(cost) FROM costs', '0.1') a), '^\("\{[0-9.]+,[0-9]+\}"\)$', 'dp_bounds() is of two numbers');
-- what fails while rows are read has been paid for, both parts of it
CREATE FUNCTION fussy(x numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS
	$$ BEGIN IF x = 77 THEN RAISE EXCEPTION 'secret 77'; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('fussy(numeric)');
SELECT is((failure, cost)::text, ('ZC002 private query failed while it read protected rows; what it was charged (rho 0.011) stays charged, and it counts as failure 1 of at most 20 in a day; the cause is in the server''s log'::text, 11000)::text,
	'an error while bounds are found') FROM run_as_analyst($$SET LOCAL dp_cdp.find_bounds = on; SELECT sum(fussy(amount)) FROM orders$$);
SELECT is(string_agg(kind || ' ' || aggregates, '; ' ORDER BY id), 'granted bounds of fussy(amount); granted sum(fussy(amount)); failed bounds of fussy(amount)', 'it is the first that failed')
	FROM (SELECT * FROM dp_cdp.releases WHERE kind <> 'guard' ORDER BY id DESC LIMIT 3) r;
-- with workers, on a table of domains
CREATE DOMAIN euros AS numeric CHECK (VALUE > -1000);
SET SESSION AUTHORIZATION owner1;
CREATE TABLE bills AS SELECT c AS customer, (c % 500)::numeric::euros AS amount FROM generate_series(1, 20000) c;
SELECT dp_cdp.protect_table('bills', 'shop', 'customer');
RESET SESSION AUTHORIZATION;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT near('SELECT dp_avg(amount) FROM bills', 0.2, 'SELECT avg(amount) FROM bills', 'a domain, with workers');
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- who may read the table sees its plan, and what was found
SELECT dp_cdp.set_budget('shop', 'owner1', rho => 1000);
SET SESSION AUTHORIZATION owner1;
SET dp_cdp.find_bounds = on;
SET dp_cdp.rho = 500;
CREATE FUNCTION shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE query; END $$;
SELECT is(string_agg(substring(shown FROM 'bounds of amount.*|dp_avg.*within.*|Inner Plan:'), '; '),
	'bounds of amount  (sees bins of more than 1.077 units, rho=50)  found first; dp_avg(amount)  (stddev about 118 / N for N rows, rho=500)  values within 16 .. 512  a unit counts with 10 rows; Inner Plan:', 'EXPLAIN ANALYZE')
	FROM shown('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT dp_avg(amount) FROM orders');
RESET dp_cdp.find_bounds;
RESET dp_cdp.rho;
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => (SELECT rho_spent + 0.0105 FROM dp_cdp.budgets WHERE dataset = 'shop' AND role = 'analyst1'::regrole)::float8);
RESET SESSION AUTHORIZATION;
SELECT is((left(failure, 5), cost)::text, ('ZC001', 0)::text, 'a budget for one of the two pays for none') FROM run_as_analyst('SET LOCAL dp_cdp.find_bounds = on; SELECT sum(amount) FROM orders');
SELECT is((failure, cost)::text, (NULL::text, 10000)::text, '... but for the release alone') FROM run_as_analyst('SELECT dp_sum(amount, 0, 500) FROM orders');

SELECT * FROM finish();
