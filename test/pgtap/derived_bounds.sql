-- Bounds that nobody has written follow from those of columns, from constants and parameters and from max_rows.
-- Whatever they are, answers are those of plain SQL where no value is cut.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop', find_bounds => 0, max_groups => 3, max_rows => 10);
SELECT dp_cdp.create_dataset('persons', find_bounds => 0);
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6, period => '1 millisecond') FROM unnest('{shop,persons}'::text[]) d;
-- 1000 customers with 1 to 8 orders
CREATE TABLE orders AS SELECT c AS customer, (ARRAY['web', 'app'])[1 + o % 2] AS channel, (1 + (c * 7 + o * 13) % 400)::numeric(10, 2) AS amount,
	((c + o) % 20)::numeric AS discount, 1 + (c + o) % 5 AS quantity, (c * o) % 3 AS parts, (c % 50 + o) / 10.0::float8 AS weight,
	(c % 2 = 0) AS gift, (c % 10 - 5)::int AS change, c % 7 AS unknown, c % 7 AS stray, 'n' || c AS note, ('c' || c)::varchar(8) AS code, timestamp '2026-01-01' + c * interval '1 day 1 second' AS bought,
	timestamp '2026-01-01' + c * interval '1 day 1 second' AS seen
	FROM generate_series(1, 1000) c, generate_series(1, 1 + c % 8) o;
ALTER TABLE orders ALTER channel SET NOT NULL;
CREATE TABLE person AS SELECT c AS id, c % 90 AS age, (c % 90)::float8 AS points FROM generate_series(1, 1000) c;
SELECT dp_cdp.protect_table('orders', 'shop', 'customer'), dp_cdp.protect_table('person', 'persons', each_row => true);
SELECT dp_cdp.set_keys('orders', 'channel', '{web,app}'::text[]),
	dp_cdp.set_bounds('orders', 'amount', 0, 400), dp_cdp.set_bounds('orders', 'discount', 0, 20), dp_cdp.set_bounds('orders', 'quantity', 1, 5),
	dp_cdp.set_bounds('orders', 'parts', 0, 2), dp_cdp.set_bounds('orders', 'weight', 0, 10), dp_cdp.set_bounds('orders', 'change', -5, 5),
	dp_cdp.set_bounds('person', 'age', 0, 90), dp_cdp.set_bounds('person', 'points', 0, 90);
CREATE VIEW net AS SELECT customer, channel, amount - discount AS net, amount * quantity AS value FROM orders;
GRANT SELECT ON net TO analyst1;
RESET SESSION AUTHORIZATION;
ANALYZE;

-- the bounds of the first aggregate, as the analyst sees them
CREATE FUNCTION bounds(expression text, source text DEFAULT 'orders', aggregate text DEFAULT 'dp_avg') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	BEGIN
		SELECT round(row_lower::numeric, 6)::float8 || ' .. ' || round(row_upper::numeric, 6)::float8 INTO result
			FROM dp_cdp.preview(format('SELECT %s(%s) FROM %s', aggregate, expression, source)) WHERE item = 'aggregate' LIMIT 1;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
CREATE FUNCTION totals(expression text, source text DEFAULT 'orders') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	SELECT round(total_lower::numeric, 6)::float8 || ' .. ' || round(total_upper::numeric, 6)::float8 INTO result
		FROM dp_cdp.preview(format('SELECT dp_sum(%s) FROM %s', expression, source)) WHERE item = 'aggregate' LIMIT 1;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
-- one number as the analyst gets it, with hardly any noise
CREATE FUNCTION answer(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	result float8;
BEGIN
	PERFORM set_config('dp_cdp.rho', '3e4', true);
	SET SESSION AUTHORIZATION analyst1;
	EXECUTE query INTO result;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
CREATE FUNCTION near(query text, tolerance float8, description text, truth text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected float8;
	got float8 := answer(query);
BEGIN
	EXECUTE coalesce(truth, query) INTO expected;
	RETURN ok(abs(got - expected) <= tolerance, format('%s: %s is %s', description, got, expected));
END $$;
CREATE FUNCTION refused(query text, message text, description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	ended record;
BEGIN
	SELECT * INTO ended FROM run_as_analyst(query);
	RETURN NEXT matches(coalesce(ended.failure, 'answered'), message, description);
	RETURN NEXT is(ended.cost, 0::bigint, description || ': not charged');
END $$;

SELECT * FROM no_plan();

-- what follows from what
SELECT is(bounds(e), expected, e) FROM (VALUES
	('amount', '0 .. 400'), ('amount - discount', '-20 .. 400'), ('amount + discount', '0 .. 420'), ('amount * quantity', '0 .. 2000'),
	('change * quantity', '-25 .. 25'), ('-amount', '-400 .. 0'), ('+amount', '0 .. 400'), ('amount * 1.19', '0 .. 476'), ('1 - discount / 100', '0.8 .. 1'),
	('amount * (1 - discount / 100)', '0 .. 400'), ('amount / 100', '0 .. 4'), ('amount / quantity', '0 .. 400'), ('quantity / 2', '0 .. 2'),
	('amount / -4', '-100 .. 0'), ('100 / quantity', '20 .. 100'), ('100.0 / quantity', '20 .. 100'),
	-- where a denominator is 0 the value is NULL
	('amount / parts', '0 .. 400'), ('amount / nullif(parts, 0)', '0 .. 400'), ('quantity / change', '-5 .. 5'), ('1 / amount', '0.0025 .. 100'),
	('amount / greatest(weight, 0.5)', '0 .. 800'), ('nullif(parts, 0)', '1 .. 2'), ('nullif(parts, 2)', '0 .. 2'),
	('amount::int % 7', '0 .. 6'), ('change % 3', '-2 .. 2'), ('mod(quantity, 100)', '0 .. 5'), ('amount % 7', '0 .. 6.99'),
	('abs(change)', '0 .. 5'), ('abs(change - 10)', '5 .. 15'), ('@ change', '0 .. 5'), ('sign(change)', '-1 .. 1'),
	('round(weight)', '0 .. 10'), ('round(amount / 7, 1)', '0 .. 57.1'), ('floor(weight / 3)', '0 .. 3'), ('ceil(weight / 3)', '0 .. 4'), ('trunc(amount / 7)', '0 .. 57'),
	('sqrt(amount)', '0 .. 20'), ('sqrt(weight + 6)', '2.44949 .. 4'), ('exp(discount::float8 / 20)', '1 .. 2.718282'), ('ln(amount::float8 + 1)', '0 .. 5.993961'), ('log(quantity)', '0 .. 0.69897'),
	('power(weight, 2)', '0 .. 100'), ('change ^ 2', '0 .. 25'), ('change ^ 3', '-125 .. 125'), ('weight ^ 0.5', '0 .. 3.162278'),
	('least(amount, 50)', '0 .. 50'), ('greatest(amount, 50)', '50 .. 400'), ('greatest(amount, weight)', '0 .. 400'), ('least(amount, weight)', '0 .. 400'),
	('greatest(change, 0)', '0 .. 5'), ('greatest(NULL, change, 0)', '0 .. 5'),
	('CASE WHEN gift THEN amount ELSE 0 END', '0 .. 400'), ('CASE WHEN gift THEN amount * 2 WHEN note = ''n'' THEN -discount END', '-20 .. 800'),
	('coalesce(amount, -1)', '-1 .. 400'), ('coalesce(amount / nullif(parts, 0), 1000)', '0 .. 1000'), ('gift::int * 3', '0 .. 3'),
	('amount::int', '0 .. 400'), ('(amount / 3)::numeric(10, 1)', '0 .. 133.3'), ('(amount * 1e6)::int', '0 .. 400000000'), ('(amount * 1e9)::int', '0 .. 2147483647'),
	('amount::float8 / 3', '0 .. 133.333333'), ('amount::text::numeric', 'ZC004 dp_avg(((amount)::text)::numeric) needs bounds, and none follow from ((amount)::text)::numeric: write dp_avg(((amount)::text)::numeric, lower, upper)'),
	('length(code)', '0 .. 8'), ('extract(month FROM bought)', '1 .. 12'), ('date_part(''dow'', bought)', '0 .. 6'), ('extract(second FROM bought) / 60', '0 .. 1'), ('extract(hour FROM bought) + 1', '1 .. 25'),
	('width_bucket(amount, 0, 400, 8)', '0 .. 9'), ('3', '0 .. 3'), ('-3', '-3 .. 0'), ('0', '0 .. 1'), ('NULL::int', '0 .. 1'), ('quantity * NULL::int', '0 .. 1'),
	('amount * pi()::numeric', '0 .. 1256.637061')) AS v (e, expected);

-- subqueries and views
SELECT is(bounds(e, s), expected, e || ' of ' || s) FROM (VALUES
	('net', 'net', '-20 .. 400'), ('value / 2', 'net', '0 .. 1000'),
	('y', '(SELECT amount + 1 AS y FROM orders) q', '1 .. 401'), ('y * y', '(SELECT x + 1 AS y FROM (SELECT change - 1 AS x FROM orders) p) q', '-25 .. 25'),
	-- of each customer
	('n', '(SELECT customer, count(*) AS n FROM orders GROUP BY 1) q', '0 .. 10'), ('n', '(SELECT customer, count(DISTINCT quantity) AS n FROM orders GROUP BY 1) q', '0 .. 10'),
	('n + 1', '(SELECT customer, count(note) AS n FROM orders GROUP BY 1) q', '1 .. 11'),
	('s', '(SELECT customer, sum(amount) AS s FROM orders GROUP BY 1) q', '0 .. 4000'), ('s', '(SELECT customer, sum(change) AS s FROM orders GROUP BY 1) q', '-50 .. 50'),
	('s', '(SELECT customer, sum(quantity) AS s FROM orders GROUP BY 1) q', '0 .. 50'), ('s', '(SELECT customer, sum(weight) AS s FROM orders GROUP BY 1) q', '0 .. 100'),
	('s', '(SELECT customer, sum(amount * quantity) AS s FROM orders GROUP BY 1) q', '0 .. 20000'),
	('a', '(SELECT customer, avg(amount) AS a FROM orders GROUP BY 1) q', '0 .. 400'), ('a', '(SELECT customer, avg(weight) AS a FROM orders GROUP BY 1) q', '0 .. 10'),
	('a', '(SELECT customer, min(amount) AS a FROM orders GROUP BY 1) q', '0 .. 400'), ('a', '(SELECT customer, max(quantity) AS a FROM orders GROUP BY 1) q', '1 .. 5'),
	('b - a', '(SELECT customer, min(amount) AS a, max(amount) AS b FROM orders GROUP BY 1) q', '-400 .. 400'),
	('b::int', '(SELECT customer, bool_or(gift) AS b FROM orders GROUP BY 1) q', '0 .. 1'),
	('d', '(SELECT customer, stddev(amount) AS d FROM orders GROUP BY 1) q', '0 .. 400'), ('d', '(SELECT customer, variance(change) AS d FROM orders GROUP BY 1) q', '0 .. 100'),
	('s / n', '(SELECT customer, sum(amount) AS s, count(*) AS n FROM orders GROUP BY 1) q', '0 .. 4000'),
	('s / nullif(n, 0)', '(SELECT customer, sum(amount) FILTER (WHERE gift) AS s, count(*) FILTER (WHERE gift) AS n FROM orders GROUP BY 1) q', '0 .. 4000'),
	('coalesce(n, 0)', '(SELECT customer, count(*) AS n FROM orders GROUP BY 1) q', '0 .. 10'),
	('m', '(SELECT customer, max(n) AS m FROM (SELECT customer, channel, count(*) AS n FROM orders GROUP BY 1, 2) p GROUP BY 1) q', '0 .. 10'),
	('n', '(SELECT customer, channel, count(*) AS n FROM orders GROUP BY 1, 2) q', '0 .. 10')) AS v (e, s, expected);
SET dp_cdp.max_rows = 3;
SELECT is(bounds('n', '(SELECT customer, count(*) AS n FROM orders GROUP BY 1) q'), '0 .. 3', 'dp_cdp.max_rows says how many rows of a unit count');
RESET dp_cdp.max_rows;

-- totals
SELECT is(totals('amount * 2'), '0 .. 8000', 'without limits of totals: max_rows times the bounds');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_bounds('orders', 'amount', 0, 400, total_lower => 0, total_upper => 1000), dp_cdp.set_bounds('orders', 'change', -5, 5, total_lower => -10, total_upper => 20);
RESET SESSION AUTHORIZATION;
SELECT is(totals(e, s), expected, 'a total of ' || e) FROM (VALUES
	('amount', 'orders', '0 .. 1000'), ('amount * 1.19', 'orders', '0 .. 1190'), ('-amount', 'orders', '-1000 .. 0'), ('amount / 100', 'orders', '0 .. 10'), ('amount * quantity', 'orders', '0 .. 5000'),
	('amount / quantity', 'orders', '0 .. 1000'), ('amount / nullif(parts, 0)', 'orders', '0 .. 1000'), ('amount * (1 - discount / 100)', 'orders', '0 .. 1000'), ('amount * -0.5', 'orders', '-500 .. 0'),
	('amount * change', 'orders', '-5000 .. 5000'), ('amount - discount', 'orders', '-200 .. 1000'), ('amount + 1', 'orders', '0 .. 1010'), ('change * 2', 'orders', '-20 .. 40'), ('change * -2', 'orders', '-40 .. 20'),
	('change * quantity', 'orders', '-250 .. 250'), ('amount - change', 'orders', '-20 .. 1010'), ('CASE WHEN gift THEN amount ELSE 0 END', 'orders', '0 .. 1000'),
	('CASE WHEN gift THEN amount * 2 ELSE amount END', 'orders', '0 .. 3000'), ('coalesce(amount, 0)', 'orders', '0 .. 1000'), ('amount::float8', 'orders', '0 .. 1000'), ('abs(amount)', 'orders', '0 .. 1000'),
	('CASE WHEN gift THEN amount ELSE 500 END', 'orders', '0 .. 5000'), ('amount * 0', 'orders', '0 .. 10'), ('net', 'net', '-200 .. 1000')) AS v (e, s, expected);
SELECT is(bounds('s', '(SELECT customer, sum(amount) AS s FROM orders GROUP BY 1) q'), '0 .. 1000', 'a total of one customer');
SELECT near('SELECT dp_sum(amount * 1.19, 0, 476) FROM orders', 80, 'also where bounds are written',
			'SELECT sum(least(s, 1190)) FROM (SELECT sum(amount * 1.19) AS s FROM orders GROUP BY customer) q');
SELECT near('SELECT dp_sum(amount * 1.19, 0, 476, 0, 5000) FROM orders', 200, 'but not where totals are', 'SELECT sum(amount * 1.19) FROM orders');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.drop_bounds('orders', 'amount'), dp_cdp.set_bounds('orders', 'amount', 0, 400), dp_cdp.set_bounds('orders', 'change', -5, 5);
RESET SESSION AUTHORIZATION;

-- answers
SELECT near(q, tolerance, q) FROM (VALUES
	('SELECT sum(amount - discount) FROM orders', 200), ('SELECT sum(amount * quantity) FROM orders', 1000), ('SELECT avg(amount / quantity) FROM orders', 0.5),
	('SELECT sum(-amount) FROM orders', 200), ('SELECT sum(amount * 1.19) FROM orders', 300), ('SELECT sum(amount / 100) FROM orders', 2), ('SELECT sum(CASE WHEN gift THEN amount * quantity ELSE 0 END) FROM orders', 1000),
	('SELECT avg(n) FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1) q', 0.05), ('SELECT avg(s) FROM (SELECT customer, sum(amount) AS s FROM orders GROUP BY 1) q', 10),
	('SELECT sum(s) FROM (SELECT customer, sum(amount) AS s FROM orders GROUP BY 1) q', 200), ('SELECT sum(s) FILTER (WHERE s > 500) / sum(s) FROM (SELECT customer, sum(amount) AS s FROM orders GROUP BY 1) q', 0.001),
	('SELECT avg(net) FROM net', 0.5), ('SELECT sum(value) FROM net WHERE channel = ''web''', 1000), ('SELECT avg(abs(change)) FROM orders', 0.01), ('SELECT stddev(amount * quantity) FROM orders', 5),
	('SELECT max(n) FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1) q', 1), ('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s) FROM (SELECT customer, sum(amount) AS s FROM orders GROUP BY 1) q', 40),
	('SELECT corr(amount * quantity, quantity - 1) FROM orders', 0.01), ('SELECT corr(s, n::float8) FROM (SELECT customer, max(weight) AS s, count(*) AS n FROM orders GROUP BY customer) q', 0.01), ('SELECT avg(age * 2 + points) FROM person', 0.1), ('SELECT sum(age - 45) FROM person', 5)) AS v (q, tolerance);
SET dp_cdp.max_rows = 3;
SELECT near('SELECT avg(n) FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1) q', 0.05, 'values above max_rows count as that',
			'SELECT avg(least(n, 3)) FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1) q');
RESET dp_cdp.max_rows;

-- parameters, of generic plans, too
SET plan_cache_mode = force_generic_plan;
SET SESSION AUTHORIZATION analyst1;
PREPARE scaled(numeric) AS SELECT sum(amount * $1) FROM orders;
PREPARE part(float8) AS SELECT avg(weight / $1) FROM orders;
PREPARE inner_part(int) AS SELECT avg(s) FROM (SELECT customer, sum(quantity * $1) AS s FROM orders GROUP BY 1) q;
PREPARE either(int) AS SELECT sum(CASE WHEN gift THEN $1 ELSE 0 END) FROM orders;
RESET SESSION AUTHORIZATION;
SELECT near('EXECUTE scaled(2)', 400, 'a factor', 'SELECT sum(amount * 2) FROM orders');
SELECT near('EXECUTE scaled(-0.5)', 100, 'another', 'SELECT sum(amount * -0.5) FROM orders');
SELECT near('EXECUTE scaled(0)', 5, 'none', 'SELECT 0');
SELECT near('EXECUTE part(2)', 0.1, 'a denominator', 'SELECT avg(weight / 2) FROM orders');
SELECT near('EXECUTE inner_part(3)', 1, 'below', 'SELECT avg(s) FROM (SELECT sum(quantity * 3) AS s FROM orders GROUP BY customer) q');
SELECT near('EXECUTE either(7)', 10, 'a branch', 'SELECT sum(CASE WHEN gift THEN 7 ELSE 0 END) FROM orders');
SELECT ok(answer('EXECUTE scaled(NULL)') BETWEEN -5 AND 5, 'NULL: there is no value');
SELECT ok(answer('EXECUTE scaled(''NaN'')') BETWEEN -5 AND 5, 'NaN is none, either');
SELECT ok(answer('EXECUTE part(0)') IS NOT NULL, 'nor is what is divided by 0');
SELECT refused('EXECUTE part(''Infinity'')', '^ZC004 avg\(.*\) needs bounds, .*too large, or not finite; write them', 'infinity');
SELECT refused('EXECUTE scaled(1e300)', '^ZC004 sum\(.*\) needs bounds, .*too large', 'a factor that is too large');
RESET plan_cache_mode;

-- public columns, in rows that the query's public conditions allow, and released values
SET SESSION AUTHORIZATION owner1;
CREATE TABLE rates (channel text PRIMARY KEY, rate numeric(4, 2), fee int, region text, odd float8);
INSERT INTO rates VALUES ('web', 1.5, 3, 'north', 1), ('app', 0.5, -2, 'south', 'NaN'), ('shop', 9, 40, 'south', 2), ('phone', NULL, NULL, 'east', 'Infinity');
CREATE TABLE eras (channel text PRIMARY KEY, since date, till timestamp);
INSERT INTO eras VALUES ('web', '2020-03-01', '2020-03-02 12:00'), ('app', '2021-02-28', '2021-03-01'), ('shop', '2023-12-31', '2024-01-01'), ('phone', NULL, NULL);
CREATE TABLE secret_rates AS SELECT * FROM rates;
CREATE VIEW rated AS SELECT o.*, s.rate AS secret_rate FROM orders o JOIN secret_rates s USING (channel);
CREATE VIEW priced AS SELECT o.*, r.rate, r.region FROM orders o JOIN rates r USING (channel);
GRANT SELECT ON rates, rated, priced, eras TO analyst1;
RESET SESSION AUTHORIZATION;
SELECT is(bounds(e, s), expected, e || ' of ' || s) FROM (VALUES
	('amount * rate', 'orders JOIN rates USING (channel)', '0 .. 3600'), ('rate', 'orders JOIN rates USING (channel)', '0.5 .. 9'),
	('amount * rate', 'orders JOIN rates USING (channel) WHERE region = ''south''', '0 .. 3600'), ('amount * rate', 'orders JOIN rates USING (channel) WHERE region = ''north''', '0 .. 600'),
	('amount * rate', 'orders JOIN rates USING (channel) WHERE channel IN (''web'', ''app'')', '0 .. 600'), ('amount * rate', 'orders JOIN rates USING (channel) WHERE region = ''none''', '0 .. 1'),
	('amount * coalesce(rate, 20)', 'orders LEFT JOIN rates USING (channel)', '0 .. 8000'), ('amount / rate', 'orders JOIN rates USING (channel)', '0 .. 800'), ('fee - quantity', 'orders JOIN rates USING (channel)', '-7 .. 39'),
	('amount / nullif(fee, 0)', 'orders JOIN rates USING (channel)', '-400 .. 400'), ('amount * rate', 'priced WHERE region = ''north''', '0 .. 3600'),
	('s', '(SELECT customer, sum(amount * rate) AS s FROM orders JOIN rates USING (channel) GROUP BY 1) q', '0 .. 36000'),
	('amount * m', 'orders JOIN (SELECT channel, max(rate) AS m FROM rates GROUP BY 1) q USING (channel)', '0 .. 3600'),
	('amount * f', 'orders JOIN (VALUES (''web'', 2), (''app'', 3)) v (c, f) ON c = channel WHERE f = 3', '0 .. 1200')) AS v (e, s, expected);
SELECT is(bounds(e, 'orders JOIN eras USING (channel)'), expected, e) FROM (VALUES
	('since - date ''2020-01-01''', '60 .. 1460'), ('extract(year FROM since)', '2020 .. 2023'), ('extract(epoch FROM since)', '1583020800 .. 1703980800'),
	('extract(epoch FROM (till - since)) / 86400', '-1398.5 .. 1401'), ('extract(day FROM till - since)', '-1398 .. 1401'), ('date_part(''year'', age(till, since))', '-3 .. 3'),
	('since + 7 - since', '-1393 .. 1407'), ('till::date - since', '-1399 .. 1401'), ('extract(year FROM till::timestamptz)', '2020 .. 2024'),
	('extract(year FROM greatest(since, till::date)) - 2000', '20 .. 24'), ('extract(epoch FROM (till AT TIME ZONE ''Asia/Tokyo'') - till::timestamptz)', '-121089600 .. 121089600')) AS v (e, expected);
SELECT matches(bounds('since', 'orders JOIN eras USING (channel)', 'dp_max'), '^ZC004 .*needs bounds', 'bounds of dates are written as dates');
SELECT near('SELECT avg(till::date - since) FROM orders JOIN eras USING (channel)', 1, 'an average of days');
SELECT matches(bounds('secret_rate', 'rated'), '^ZC004 .*needs bounds, and its parts tell none', 'what a view reads of a table that is not the asker''s');
SELECT refused('SELECT avg(odd) FROM orders JOIN rates USING (channel)', '^ZC004 .*needs bounds, .*not finite; write them', 'public values that are not finite');
SELECT near('SELECT sum(amount * rate) FROM orders JOIN rates USING (channel)', 2500, 'of public columns');
SELECT near('SELECT avg(s) FROM (SELECT customer, sum(amount * rate) AS s FROM orders JOIN rates USING (channel) GROUP BY 1) q', 100, 'of each customer');
SELECT near('SELECT avg(amount / n) FROM orders JOIN (SELECT channel, count(*) AS n FROM orders GROUP BY channel) q USING (channel)', 0.01, 'of released values');
SELECT near('SELECT sum(CASE WHEN channel = ''web'' THEN amount * n ELSE 0 END) FROM orders JOIN (SELECT channel, 7 AS n FROM rates) q USING (channel)', 5000, 'of what is prefetched');
SET plan_cache_mode = force_generic_plan;
SET SESSION AUTHORIZATION analyst1;
PREPARE by_region(text) AS SELECT sum(amount * rate) FROM orders JOIN rates USING (channel) WHERE region = $1;
EXPLAIN EXECUTE by_region('north');
RESET SESSION AUTHORIZATION;
SELECT near('EXECUTE by_region(''north'')', 300, 'by a parameter', 'SELECT sum(amount * rate) FROM orders JOIN rates USING (channel) WHERE region = ''north''');
SET SESSION AUTHORIZATION owner1;
UPDATE rates SET rate = 3 WHERE channel = 'web';
RESET SESSION AUTHORIZATION;
SELECT near('EXECUTE by_region(''north'')', 800, 'as they are when it runs', 'SELECT sum(amount * rate) FROM orders JOIN rates USING (channel) WHERE region = ''north''');
RESET plan_cache_mode;

-- dates and times, of which the message names set_bounds
SELECT refused('SELECT avg(extract(epoch FROM bought - timestamp ''2026-01-01'') / 86400) FROM orders',
			   '^ZC004 avg\(.*\) needs bounds, and column bought has none: write dp_avg\(.*, lower, upper\), or let the owner declare them with dp_cdp.set_bounds$', 'a timestamp without bounds');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_bounds('orders', 'bought', '2026-01-01', '2029-01-01');
RESET SESSION AUTHORIZATION;
SELECT is(bounds(e), expected, e) FROM (VALUES
	('extract(epoch FROM bought - timestamp ''2026-01-01'') / 86400', '0 .. 1096'), ('bought::date - date ''2026-01-01''', '0 .. 1096'), ('extract(year FROM bought)', '2026 .. 2029'),
	('extract(day FROM timestamp ''2029-01-01'' - bought)', '0 .. 1096')) AS v (e, expected);
SELECT near('SELECT avg(extract(epoch FROM bought - timestamp ''2026-01-01'') / 86400) FROM orders', 1, 'declared');
SELECT near('SELECT avg(d) FROM (SELECT customer, max(bought)::date - min(bought)::date AS d FROM orders GROUP BY 1) q', 1, 'of each customer');

-- what has none, and the remedy of each message
SELECT refused('SELECT avg(unknown) FROM orders', '^ZC004 avg\(unknown\) needs bounds: write dp_avg\(unknown, lower, upper\), or let the owner declare them with dp_cdp.set_bounds$', 'a column without bounds');
SELECT refused('SELECT avg(amount * unknown) FROM orders', '^ZC004 avg\(.*\) needs bounds, and column unknown has none: write dp_avg\(\(amount \* unknown\), lower, upper\), or let the owner declare them with dp_cdp.set_bounds$', 'within an expression');
SELECT near('SELECT dp_avg((amount * unknown), 0, 2400) FROM orders', 5, 'written', 'SELECT avg(amount * unknown) FROM orders');
SELECT refused('SELECT avg(s) FROM (SELECT customer, sum(unknown) AS s FROM orders GROUP BY 1) q', '^ZC004 avg\(s\) needs bounds.*column unknown has none', 'below');
SELECT near('SELECT dp_avg(s, 0, 60) FROM (SELECT customer, sum(unknown) AS s FROM orders GROUP BY 1) q', 1, 'written below', 'SELECT avg(s) FROM (SELECT customer, sum(unknown) AS s FROM orders GROUP BY 1) q');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_bounds('orders', 'unknown', 0, 6);
RESET SESSION AUTHORIZATION;
SELECT near('SELECT avg(amount * unknown) FROM orders', 5, 'declared');
SELECT refused('SELECT avg(amount / weight) FROM orders', '^ZC004 avg\(.*\) needs bounds, as weight may be 0 or as near to it as can be: divide by greatest\(weight, its least value\), or write dp_avg\(.*, lower, upper\)$', 'a denominator near 0');
SELECT near('SELECT avg(quantity / greatest(weight, 0.5)) FROM orders', 0.05, 'its least value');
SELECT near('SELECT dp_avg((quantity / weight), 0, 10) FROM orders', 0.05, 'bounds of the quotient', 'SELECT avg(least(quantity / weight, 10)) FROM orders');
SELECT refused('SELECT avg(s) FROM (SELECT quantity / weight AS s FROM orders) q', '^ZC004 avg\(s\) needs bounds, as a denominator may be 0 .*: divide by the greatest\(\) of it and its least value, or write dp_avg\(s, lower, upper\)$', 'a denominator below');
SELECT refused('SELECT sum(length(note)) FROM orders', '^ZC004 sum\(length\(note\)\) needs bounds, and none follow from length\(note\): write dp_sum\(length\(note\), lower, upper\)$', 'a function that tells none');
SELECT near('SELECT dp_sum(length(note), 0, 5) FROM orders', 5, 'bounds of what it returns', 'SELECT sum(length(note)) FROM orders');
SELECT refused('SELECT sum(power(weight, change)) FROM orders', '^ZC004 .*needs bounds, and none follow from power', 'a power by a column');
SELECT refused('SELECT sum(amount * 1e300) FROM orders', '^ZC004 .*needs bounds, .*too large, or not finite', 'too large');
SELECT refused('SELECT sum(CASE WHEN gift THEN ''Infinity'' ELSE weight END) FROM orders', '^ZC004 .*needs bounds, .*not finite', 'an infinite constant');
SELECT refused('SELECT sum(1 / 0) FROM orders', '^(ZC002|22012) ', 'a constant that fails');
-- a name that stands for more and more
SELECT refused(format('SELECT sum(x%s) FROM %s', 16, (SELECT string_agg('(SELECT customer' || CASE WHEN i = 0 THEN '' ELSE '' END || format(', x%s + x%s AS x%s FROM ', i - 1, i - 1, i), '' ORDER BY i DESC)
	FROM generate_series(1, 16) i) || '(SELECT customer, change AS x0 FROM orders) q0' || (SELECT string_agg(format(') q%s', i), '' ORDER BY i) FROM generate_series(1, 16) i)),
	'^ZC004 .*needs bounds', 'an expression that has grown too large');

-- ------------------------------------------------------------------------
-- conditions of the query
-- ------------------------------------------------------------------------

SELECT is(bounds('stray', 'orders WHERE stray BETWEEN 0 AND 6'), '0 .. 6', 'a condition');
SELECT is(bounds('stray', 'orders WHERE 7 > stray AND stray >= 1 AND stray > -3 AND gift'), '1 .. 6', '... turned round, and one of several');
SELECT is(bounds('stray * 2', 'orders WHERE stray IN (5, 2, 3)'), '4 .. 10', '... a list');
SELECT is(bounds('stray', 'orders WHERE stray = 3'), '0 .. 3', '... one value');
SELECT is(bounds('stray + discount', 'orders WHERE stray + discount BETWEEN 0 AND 9'), '0 .. 9', '... of an expression');
-- ... and narrow what is declared
SELECT is(bounds(expression, source), expected, expression || ' of ' || source) FROM (VALUES
	('amount', 'orders WHERE amount BETWEEN 10 AND 20', '10 .. 20'), ('amount', 'orders WHERE amount >= 10', '10 .. 400'), ('amount', 'orders WHERE 20 > amount AND gift', '0 .. 19.99'),
	('amount', 'orders WHERE amount IN (3, 7, 5)', '3 .. 7'), ('amount', 'orders WHERE amount = 3 OR amount = 7', '3 .. 7'),
	('amount', 'orders WHERE amount BETWEEN SYMMETRIC 20 AND 10', '10 .. 20'), ('amount', 'orders WHERE NOT (amount < 10 OR amount > 20)', '10 .. 20'),
	('amount', 'orders WHERE amount BETWEEN 10 AND 20 OR amount BETWEEN 50 AND 60', '10 .. 60'), ('amount', 'orders WHERE amount BETWEEN 10 AND 20 OR gift', '0 .. 400'),
	('amount', 'orders WHERE amount IS NOT DISTINCT FROM 30', '0 .. 30'), ('stray', 'orders WHERE -stray BETWEEN -5 AND 0', '0 .. 5'), ('stray', 'orders WHERE 2 * stray - 1 BETWEEN 3 AND 9', '2 .. 5'), ('amount', 'orders WHERE amount > 500', '0 .. 400'), ('amount', 'orders WHERE amount < 1000', '0 .. 400'),
	('amount', 'orders WHERE amount <> 4', '0 .. 400'), ('amount', 'orders WHERE amount < ''Infinity''::numeric', '0 .. 400'), ('amount', 'orders WHERE amount < NULL', '0 .. 400'),
	('amount) FILTER (WHERE amount <= 20', 'orders', '0 .. 20'), ('CASE WHEN amount BETWEEN 5 AND 20 THEN amount END', 'orders', '5 .. 20'),
	('CASE WHEN amount < 20 THEN amount WHEN gift THEN 0 ELSE amount END', 'orders', '0 .. 400'), ('CASE WHEN amount > 20 THEN 20 ELSE amount END', 'orders', '0 .. 20'),
	('CASE WHEN stray > 5 THEN 5 WHEN stray < 0 THEN 0 ELSE stray END', 'orders', '0 .. 5'), ('CASE WHEN gift OR amount > 20 THEN 0 ELSE amount END', 'orders', '0 .. 20'),
	('CASE WHEN gift AND amount > 20 THEN 0 ELSE amount END', 'orders', '0 .. 400'), ('CASE WHEN amount > NULL THEN 0 ELSE amount END', 'orders', '0 .. 400'),
	('CASE WHEN amount > 20 THEN CASE WHEN amount > 30 THEN 30 ELSE amount END ELSE 20 END', 'orders', '20 .. 30'), ('CASE WHEN amount > 20 THEN 20 ELSE amount END + amount', 'orders', '0 .. 420'),
	('CASE amount WHEN 3 THEN 3 ELSE amount END', 'orders', '0 .. 400'), ('CASE WHEN amount <> ALL (''{1,2,NULL}''::numeric[]) THEN 0 ELSE amount END', 'orders', '0 .. 400'),
	('CASE WHEN amount NOT IN (1, 2, nullif(1, 1)) THEN 0 ELSE amount END', 'orders', '0 .. 400'), ('CASE WHEN amount NOT IN (1, 2) THEN 0 ELSE amount END', 'orders', '0 .. 2'),
	('s', '(SELECT customer, CASE WHEN amount > 3 THEN 0 ELSE max(amount) OVER (PARTITION BY customer) END AS s FROM orders) q', '0 .. 400'),
	('s', '(SELECT customer, CASE WHEN amount <= 3 THEN lead(amount) OVER (PARTITION BY customer ORDER BY amount) ELSE 0 END AS s FROM orders WHERE amount < 50) q', '0 .. 49.99'), ('CASE WHEN amount NOT BETWEEN 5 AND 9 THEN 5 ELSE amount END', 'orders', '5 .. 9'), ('CASE WHEN amount < 20 THEN amount ELSE 0 END', 'orders', '0 .. 19.99'),
	('amount + 1', 'orders WHERE amount < 20', '1 .. 20.99'), ('ln(amount)', 'orders WHERE amount BETWEEN 1 AND exp(2.0)', '0 .. 2'),
	('u', '(SELECT amount AS u, customer FROM orders WHERE amount < 20) q', '0 .. 19.99'), ('u', '(SELECT amount AS u, customer FROM orders WHERE amount < 20) q WHERE u > 10', '10.01 .. 19.99'),
	('u', '(SELECT 2 * amount AS u, customer FROM orders WHERE amount < 20) q WHERE u > 10', '10 .. 39.98'),
	('o.amount', 'orders o JOIN orders p ON o.customer = p.customer AND o.amount BETWEEN 0 AND 5', '0 .. 5'),
	('amount', 'orders JOIN (VALUES (3.0), (9), (7)) v (k) ON amount = k', '3 .. 9'), ('stray', 'orders, (VALUES (3), (9), (7)) v (k) WHERE k = stray', '3 .. 9'),
	('stray', 'orders WHERE stray IN (3, 9, 7) AND stray <> 5', '3 .. 9'),
	('p.amount', 'orders o LEFT JOIN orders p ON o.customer = p.customer AND p.amount BETWEEN 0 AND 5', '0 .. 400')) AS v (expression, source, expected);
SELECT near('SELECT avg(amount) FROM orders WHERE amount BETWEEN 50 AND 120', 5, 'answers are those of plain SQL, with declared bounds');
SELECT near('SELECT avg(CASE WHEN amount < 100 THEN amount END) FROM orders', 5, '... of CASE');
SELECT near('SELECT avg(CASE WHEN amount > 100 THEN 100 ELSE amount END) FROM orders', 5, '... capped by CASE');
SELECT near('SELECT dp_median(amount) FROM orders WHERE amount > 300', 5, '... of a median', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders WHERE amount > 300');
SELECT is(bounds('u', '(SELECT stray AS u, customer FROM orders WHERE stray BETWEEN 1 AND 4) q'), '1 .. 4', '... of a subquery');
SELECT is(bounds('u', '(SELECT stray AS u, customer FROM orders) q WHERE u BETWEEN 1 AND 4'), '1 .. 4', '... of what it shows');
SELECT is(bounds('stray', 'orders o WHERE EXISTS (SELECT FROM rates r WHERE r.channel = o.channel AND o.stray BETWEEN 1 AND 4)'), '1 .. 4', '... of what EXISTS asks of the row');
SELECT is(bounds('amount', 'orders o WHERE o.channel IN (SELECT r.channel FROM rates r WHERE o.amount < 50 AND r.rate > 0)'), '0 .. 49.99', '... and IN');
SELECT is(bounds('extract(day FROM seen - timestamp ''2026-01-01'')', 'orders WHERE seen >= ''2026-01-01'' AND seen < ''2026-02-01'''), '0 .. 30', '... of times');
SELECT is(bounds('o.stray', 'orders o JOIN orders p ON o.customer = p.customer AND o.stray BETWEEN 0 AND 5'), '0 .. 5', '... of an inner join');
SELECT is(bounds('stray) FILTER (WHERE stray BETWEEN 2 AND 5'), '2 .. 5', '... of FILTER');
SELECT matches(bounds(expression, source), '^ZC004 .*needs bounds', expression || ' of ' || source) FROM (VALUES
	('stray', 'orders WHERE stray >= 0'), ('stray', 'orders WHERE stray BETWEEN 0 AND 5 OR gift'), ('stray', 'orders WHERE stray <> 4'),
	('stray', 'orders WHERE NOT (stray BETWEEN 0 AND 5)'), ('stray', 'orders WHERE stray BETWEEN 0 AND quantity'),
	('stray', 'orders WHERE stray NOT IN (1, 2)'), ('stray', 'orders WHERE stray * stray BETWEEN 0 AND 5'),
	('p.stray', 'orders o LEFT JOIN orders p ON o.customer = p.customer AND p.stray BETWEEN 0 AND 5'),
	('stray) FILTER (WHERE gift', 'orders WHERE stray > 0')) AS v (expression, source);
SELECT near('SELECT avg(stray) FROM orders WHERE stray BETWEEN 1 AND 5', 0.05, 'answers are those of plain SQL');
SELECT near('SELECT sum(stray * 1.5) FROM orders WHERE stray > 1 AND stray < 6', 20, '... of fractions');
SELECT near('SELECT sum(stray / 2.0) FILTER (WHERE stray / 2.0 BETWEEN 0.5 AND 2) FROM orders', 20, '... with a filter');
SELECT near('SELECT avg(extract(epoch FROM seen) / 86400) FROM orders WHERE seen BETWEEN ''2026-02-01'' AND ''2026-03-01''', 0.1, '... of times');
SELECT near('SELECT extract(epoch FROM max(seen)) / 86400 FROM orders WHERE seen >= ''2026-02-01'' AND seen < date ''2026-03-01''', 1, '... the last moment');
SELECT near('SELECT extract(epoch FROM min(seen)) / 86400 FROM orders WHERE extract(year FROM seen) = 2027', 2, '... the first of a year');
CREATE FUNCTION limited(low int, high int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	result float8;
BEGIN
	PERFORM set_config('dp_cdp.rho', '3e3', true);
	SET SESSION AUTHORIZATION analyst1;
	SELECT avg(stray) INTO result FROM orders WHERE stray BETWEEN low AND high;
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
SELECT ok(abs(limited(1, 5) - (SELECT avg(stray) FROM orders WHERE stray BETWEEN 1 AND 5)) < 0.05, 'parameters are limits');
SELECT ok(abs(limited(6, 6) - 6) < 0.05, '... others the next time');
SELECT lives_ok('SELECT limited(NULL, 5)', '... also NULL, of which no row is');
SELECT ok(limited(5, 1) BETWEEN 1 AND 5, '... and none between which a value is');

-- EXPLAIN
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		RETURN NEXT line;
	END LOOP;
	RESET SESSION AUTHORIZATION;
END $$;
SELECT matches((SELECT string_agg(l, ' ') FROM explained('SELECT avg(amount - discount) FROM orders') l), 'values within -20 \.\. 400', 'EXPLAIN shows bounds that follow');
SELECT matches((SELECT string_agg(l, ' ') FROM explained('SELECT avg(n) FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1) q') l), 'values within 0 \.\. 10 \(max_rows 10\)', 'and what they depend on');
SELECT matches((SELECT string_agg(l, ' ') FROM explained('SELECT sum(amount * 2) FROM orders') l), 'rows within 0 \.\. 800, a unit''s total within 0 \.\. 8000 \(max_rows 10\)', 'of sums, with totals');
SELECT matches((SELECT string_agg(l, ' ') FROM explained('SELECT avg(amount * rate) FROM orders JOIN rates USING (channel) WHERE region = ''north''') l), 'values within 0 \.\. 1200', 'of public columns');
SELECT matches((SELECT string_agg(l, ' ') FROM explained('SELECT avg(amount / n) FROM orders JOIN (SELECT channel, count(*) AS n FROM orders GROUP BY channel) q USING (channel)') l),
			   'stddev known when it runs, rho=[0-9.e-]+\)  values within what public columns hold', 'but not of what is yet to be released');
SELECT doesnt_match((SELECT string_agg(l, ' ') FROM explained('SELECT avg(amount) FROM orders') l), 'within', 'a column''s own are known');
-- rounding to the nearest keeps whole bounds: the largest is not beyond them
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.rho = 1e5;
SELECT percentile_cont(1.0) WITHIN GROUP (ORDER BY amount) AS largest FROM orders \gset
RESET dp_cdp.rho;
RESET SESSION AUTHORIZATION;
SELECT ok(:largest BETWEEN 399 AND 400, 'a cast to floating point is within whole bounds: ' || :largest);

SELECT * FROM finish();
