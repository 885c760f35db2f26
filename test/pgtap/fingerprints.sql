-- dp_cdp.query_fingerprint: what makes two releases ask the same, and what does not.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
CREATE TYPE mood AS ENUM ('calm', 'glad', 'cross');

SET SESSION AUTHORIZATION owner1;
CREATE TABLE depts (dept text PRIMARY KEY, floor int, name varchar(20));
INSERT INTO depts VALUES ('a', 1, 'x'), ('b', 2, 'y'), ('c', 3, 'z');
CREATE TABLE people (person int PRIMARY KEY, region text NOT NULL, born int);
CREATE TABLE visits (id int PRIMARY KEY, person int NOT NULL REFERENCES people, dept text NOT NULL, cost numeric, price numeric, days int, weight float8,
	seen date, at timestamptz, mood mood, kind varchar(10), urgent boolean);
CREATE TABLE lines (id int PRIMARY KEY, visit int NOT NULL REFERENCES visits, amount int);
CREATE TABLE rows_alone (id int PRIMARY KEY, dept text, cost numeric);
CREATE TABLE old_visits (id int PRIMARY KEY, person int NOT NULL, dept text, cost numeric, days int);
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.01, default_delta => 1e-6, delta => 0.5, max_groups => 3, max_rows => 4);
SELECT dp_cdp.protect_table(t, 'clinic', 'person') FROM unnest('{people,visits,old_visits}'::regclass[]) t;
SELECT dp_cdp.protect_table('lines', 'clinic', through => 'visit');
SELECT dp_cdp.protect_table('rows_alone', 'clinic', each_row => true);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_bounds('visits', 'price', 0, 100);
SELECT dp_cdp.set_bounds('visits', 'weight', 0, 100);
SELECT dp_cdp.set_bounds('visits', 'days', 0, 30);
SELECT dp_cdp.set_bounds('lines', 'amount', 0, 30);
SELECT dp_cdp.set_bounds('old_visits', 'cost', 0, 100);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_keys('visits', 'days', ARRAY[1, 2, 3]);
SELECT dp_cdp.set_keys('people', 'region', ARRAY['n', 's']);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000, delta => 0.4);
CREATE VIEW all_visits AS SELECT * FROM visits;
CREATE VIEW dear_visits AS SELECT id AS number, dept AS department, cost AS paid, person FROM visits WHERE cost > 10;
CREATE VIEW seen_visits WITH (security_barrier) AS SELECT * FROM visits WHERE cost > 10;
GRANT SELECT ON depts, all_visits, dear_visits, seen_visits TO analyst1;
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE mine (dept text, floor int);
INSERT INTO mine VALUES ('a', 1), ('b', 2);
CREATE FUNCTION half(x numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT x / 2';
RESET SESSION AUTHORIZATION;
CREATE FUNCTION added(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x + 1; END';
SELECT dp_cdp.allow_function('added(int)');
CREATE FUNCTION added2(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x + 1; END';
SELECT dp_cdp.allow_function('added2(int)');

-- the questions of a query of analyst1 in an order of their own, or how it fails
CREATE FUNCTION asks(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		SELECT string_agg(coalesce(fingerprint, 'unknown'), ' ' ORDER BY fingerprint) INTO answer FROM dp_cdp.query_fingerprint(query);
	EXCEPTION WHEN OTHERS THEN
		answer := 'failed: ' || SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN coalesce(answer, 'none');
END $$;

-- an identity, or several
CREATE FUNCTION known(answer text) RETURNS boolean LANGUAGE sql AS $$ SELECT answer ~ '^[0-9a-f]{64}( [0-9a-f]{64})*$' $$;

CREATE FUNCTION same_fingerprint(a text, b text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	first text := asks(a);
	second text := asks(b);
BEGIN
	RETURN NEXT ok(first = second AND known(first), format('same: %s / %s', a, b));
	IF NOT known(first) THEN
		RETURN NEXT diag(a || ' ' || first);
	END IF;
	IF NOT known(second) THEN
		RETURN NEXT diag(b || ' ' || second);
	END IF;
END $$;

CREATE FUNCTION another_fingerprint(a text, b text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	first text := asks(a);
	second text := asks(b);
BEGIN
	RETURN NEXT ok(first <> second AND known(first) AND known(second), format('another: %s / %s', a, b));
	IF NOT known(first) THEN
		RETURN NEXT diag(a || ' ' || first);
	END IF;
	IF NOT known(second) THEN
		RETURN NEXT diag(b || ' ' || second);
	END IF;
END $$;

-- the question is the same, or another, under a setting
CREATE FUNCTION asked_with(setting text, value text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SET %s = %s', setting, value);
	answer := asks(query);
	EXECUTE 'RESET ' || setting;
	RETURN answer;
END $$;

-- the questions of a prepared statement of the session, as EXPLAIN shows them
CREATE FUNCTION explained(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	answer text;
BEGIN
	EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || statement INTO plan;
	SELECT string_agg(h[1], ' ' ORDER BY h[1]) INTO answer FROM regexp_matches(plan::text, '"([0-9a-f]{64})"', 'g') h;
	RETURN coalesce(answer, 'unknown');
END $$;

BEGIN;
SELECT no_plan();

-- spelling
SELECT same_fingerprint('SELECT count(*) FROM visits', 'select   COUNT(*)  as n from public.visits v');
SELECT same_fingerprint('SELECT dp_count(*) FROM visits', 'SELECT count(*) FROM visits');
SELECT same_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) + 1 FROM visits LIMIT 1');
SELECT same_fingerprint('SELECT count(*), sum(cost) FROM visits', 'SELECT sum(v.cost) AS a, count(*) AS b FROM visits AS v');
SELECT same_fingerprint('SELECT dept, count(*) FROM visits GROUP BY dept', 'SELECT count(*) AS n, v.dept d FROM visits v GROUP BY v.dept ORDER BY 1 DESC');
SELECT same_fingerprint('SELECT dept, count(*) FROM visits GROUP BY dept', 'SELECT dept, count(*) FROM visits GROUP BY 1 HAVING count(*) > 10');
SELECT same_fingerprint('SELECT dept, count(*) FROM visits GROUP BY dept', 'SELECT dept, count(*), dp_noise_stddev(count(*)) FROM visits GROUP BY 1');
SELECT same_fingerprint('SELECT dept, count(*) FROM visits GROUP BY dept', 'SELECT * FROM (SELECT dept, count(*) FROM visits GROUP BY dept) t WHERE t.count > 3');
SELECT same_fingerprint('SELECT dept, count(*) FROM visits GROUP BY dept', 'WITH q AS (SELECT dept, count(*) AS n FROM visits GROUP BY dept) SELECT max(n) FROM q');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE cost > 10 AND days < 5', 'SELECT count(*) FROM visits WHERE days < 5 AND cost > 10');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE cost > 10 AND days < 5 AND urgent', 'SELECT count(*) FROM visits WHERE urgent AND (days < 5 AND cost > 10)');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE cost > 10 OR days < 5', 'SELECT count(*) FROM visits WHERE days < 5 OR cost > 10');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits WHERE 10 < cost');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits WHERE cost > 10 AND true AND cost > 10');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE days BETWEEN 2 AND 5', 'SELECT count(*) FROM visits WHERE days <= 5 AND days >= 2');
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE days BETWEEN 2 AND 5$$, $$SELECT count(*) FROM visits WHERE days > 1 AND 6 > days$$);
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE seen BETWEEN '2024-02-01' AND '2024-02-29'$$, $$SELECT count(*) FROM visits WHERE seen >= '2024-02-01' AND seen < '2024-03-01'$$);
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE at::date <= '2024-01-31'$$, $$SELECT count(*) FROM visits WHERE date '2024-02-01' > at::date$$);
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE days <= 5::bigint AND days >= 2::smallint$$, $$SELECT count(*) FROM visits WHERE days < 6::bigint AND days > 1::smallint$$);
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE NOT days <= 5$$, $$SELECT count(*) FROM visits WHERE NOT days < 6$$);
SELECT same_fingerprint('SELECT sum(cost) FILTER (WHERE days < 5) FROM visits', 'SELECT sum(cost) FILTER (WHERE days <= 4) FROM visits');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE days IN (1, 2, 3)', 'SELECT count(*) FROM visits WHERE days IN (3, 1, 2, 1)');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE days IN (1, 2, 3)', $$SELECT count(*) FROM visits WHERE days = ANY ('{2,3,1}')$$);
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE days BETWEEN 1 AND 2', 'SELECT count(*) FROM visits WHERE ' || spelling)
	FROM unnest(ARRAY['days IN (1, 2)', 'days = 2 OR days = 1', 'NOT (days < 1 OR days > 2)', 'days BETWEEN SYMMETRIC 2 AND 1', 'days = ANY (''{2,1,2}'')', 'days > 0 AND NOT days >= 3',
		'CASE WHEN days IN (1, 2) THEN true ELSE false END', 'coalesce(days BETWEEN 1 AND 2, false)', '(days IN (1, 2)) IS TRUE']) spelling;
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE kind = 'p' OR kind = 'q'$$, $$SELECT count(*) FROM visits WHERE kind IN ('q', 'p')$$);
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE kind IN ('p', 'q')$$, $$SELECT count(*) FROM visits WHERE kind IN ('q', 'p')$$);
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE days NOT IN (1, 2)', 'SELECT count(*) FROM visits WHERE ' || c) FROM unnest(ARRAY['days NOT IN (2, 1)', 'days <> 1 AND days <> 2', 'NOT (days = 2 OR days = 1)',
	'days <> 2 AND days NOT IN (1)']) c;
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE dept = 'a'$$, $$SELECT count(*) FROM visits WHERE 'a' = dept$$);
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE dept = 'a'$$, $$SELECT count(*) FROM visits WHERE dept = 'a'::text$$);
SELECT same_fingerprint($$SELECT count(*) FROM visits WHERE dept IS DISTINCT FROM 'a'$$, $$SELECT count(*) FROM visits WHERE 'a' IS DISTINCT FROM dept$$);
SELECT same_fingerprint('SELECT sum(cost + price) FROM visits', 'SELECT sum(price + cost) FROM visits');
SELECT same_fingerprint('SELECT sum(cost) FILTER (WHERE urgent AND days > 3) FROM visits', 'SELECT sum(cost) FILTER (WHERE 3 < days AND urgent) FROM visits');
SELECT same_fingerprint('SELECT sum(cost) FROM visits', 'SELECT dp_sum(cost, 0, 100) FROM visits');
SELECT same_fingerprint('SELECT dp_sum(cost, 0, 100) FROM visits', 'SELECT dp_sum(cost, 0.0, 1e2) FROM visits');
SELECT same_fingerprint('SELECT count(DISTINCT person) FROM visits', 'SELECT dp_count(DISTINCT v.person) FROM visits v');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE seen > current_date - 30', 'SELECT count(*) FROM visits WHERE current_date - 30 < seen');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE at > now()', 'SELECT count(*) FROM visits WHERE now() < at');

-- one question for what is post-processing of the same noisy states
SELECT same_fingerprint('SELECT dp_median(cost) FROM visits', 'SELECT dp_quantile(cost, 0.9) FROM visits');
SELECT same_fingerprint('SELECT dp_median(cost) FROM visits', 'SELECT dp_quantile(cost, 0.1, 0, 100) FROM visits');
SELECT same_fingerprint('SELECT dp_median(weight) FROM visits', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY weight DESC) FROM visits');
SELECT same_fingerprint('SELECT dp_median(cost) FROM visits', 'SELECT dp_quantile(cost, ARRAY[0.1, 0.9]) FROM visits');
SELECT same_fingerprint('SELECT min(cost) FROM visits', 'SELECT max(cost) FROM visits');
SELECT same_fingerprint('SELECT var_pop(cost) FROM visits', 'SELECT stddev_samp(cost) FROM visits');
SELECT same_fingerprint('SELECT mode() WITHIN GROUP (ORDER BY dept) FROM visits', 'SELECT dp_mode(dept) FROM visits');

-- views, subqueries and wrappers
SELECT same_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) FROM all_visits');
SELECT same_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) FROM (SELECT * FROM visits) t');
SELECT same_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) FROM (SELECT * FROM (SELECT * FROM all_visits) a) b');
SELECT same_fingerprint('SELECT count(*) FROM visits', 'WITH v AS (SELECT * FROM visits) SELECT count(*) FROM v');
SELECT same_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) FROM (TABLE visits) t');
SELECT same_fingerprint('SELECT sum(cost) FROM visits WHERE cost > 10', 'SELECT sum(paid) FROM dear_visits');
SELECT same_fingerprint('SELECT sum(cost) FROM visits WHERE cost > 10', 'SELECT sum(cost) FROM seen_visits');
SELECT same_fingerprint('SELECT sum(cost) FROM visits WHERE cost > 10', 'SELECT sum(c) FROM (SELECT cost AS c, days FROM visits WHERE 10 < cost) q');
SELECT same_fingerprint('SELECT dept, sum(cost) FROM visits WHERE cost > 10 AND days > 1 GROUP BY dept',
	'SELECT department, sum(paid) FROM (SELECT * FROM (SELECT dept AS department, cost AS paid, days AS d FROM visits WHERE days > 1) x WHERE paid > 10) y GROUP BY 1');
SELECT same_fingerprint('SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING sum(cost) > 10) q',
	'SELECT count(*) FROM (SELECT v.person AS p, max(days) AS unread FROM visits AS v GROUP BY 1 HAVING sum(v.cost) > 10) z');
SELECT same_fingerprint('SELECT count(*) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) q WHERE n > 2',
	'WITH q AS (SELECT count(*) AS m, person FROM visits GROUP BY person) SELECT count(*) FROM q AS r WHERE 2 < m');
SELECT same_fingerprint('SELECT count(*) FROM visits WHERE EXISTS (SELECT FROM people p WHERE p.person = visits.person AND p.born > 1980)',
	'SELECT count(*) FROM visits AS v WHERE EXISTS (SELECT 1 FROM people AS w WHERE 1980 < w.born AND w.person = v.person)');
SELECT same_fingerprint('SELECT count(*) FROM visits v JOIN people p USING (person) WHERE p.born > 1980',
	'SELECT count(*) FROM visits JOIN people ON visits.person = people.person AND people.born > 1980');
SELECT same_fingerprint('SELECT count(*) FROM visits v JOIN people p USING (person)', 'SELECT count(*) FROM visits a, people b WHERE b.person = a.person');
SELECT same_fingerprint('SELECT count(*) FROM visits v JOIN people p USING (person) WHERE p.born > 1980',
	'SELECT count(*) FROM visits v JOIN (SELECT person AS q FROM people WHERE born > 1980) p ON v.person = p.q');
SELECT same_fingerprint('SELECT floor, count(*) FROM visits JOIN depts USING (dept) GROUP BY floor',
	'SELECT d.floor, count(*) FROM visits AS v JOIN depts AS d ON d.dept = v.dept GROUP BY 1');
SELECT same_fingerprint('SELECT count(*) FROM visits v LEFT JOIN people p USING (person)', 'SELECT count(*) FROM visits x LEFT OUTER JOIN people y ON y.person = x.person');
SELECT same_fingerprint('SELECT count(*) FROM visits JOIN mine USING (dept)', 'SELECT count(*) FROM visits v JOIN mine m ON v.dept = m.dept');
SELECT same_fingerprint('SELECT count(*) FROM (SELECT person, dept FROM visits UNION ALL SELECT person, dept FROM old_visits) u',
	'SELECT count(*) FROM (SELECT v.person, v.dept, v.cost FROM visits v UNION ALL SELECT o.person, o.dept, o.cost FROM old_visits o) w');
SELECT same_fingerprint('SELECT count(*) FROM (SELECT DISTINCT ON (person) person, cost FROM visits ORDER BY person, id) q WHERE cost > 5',
	'SELECT count(*) FROM (SELECT DISTINCT ON (v.person) v.cost AS c, v.person FROM visits v ORDER BY v.person, v.id) r WHERE 5 < c');
SELECT same_fingerprint('SELECT sum(half(cost)) FROM visits', 'SELECT sum(cost / 2) FROM visits');
SELECT same_fingerprint('SELECT sum(amount) FROM lines', 'SELECT sum(l.amount) FROM lines AS l');
SELECT same_fingerprint('SELECT dept, count(*) FROM visits GROUP BY GROUPING SETS ((dept))', 'SELECT dept, count(*) FROM visits GROUP BY dept');
SELECT same_fingerprint('SELECT DISTINCT kind FROM visits', 'SELECT v.kind FROM visits v GROUP BY v.kind');
SELECT same_fingerprint('SELECT kind, count(DISTINCT person) FROM visits GROUP BY 1', 'SELECT DISTINCT kind FROM visits');
SELECT same_fingerprint('SELECT sum(cost * price + cost * price + cost * price + cost * price + cost * price) FROM visits',
	'SELECT sum(x) FROM (SELECT c * p + c * p + c * p + c * p + p * c AS x FROM (SELECT cost AS c, price AS p FROM visits) a) b');

-- each column by itself
SELECT is(asks('SELECT count(*), sum(cost), avg(days) FROM visits'),
	(SELECT string_agg(q, ' ' ORDER BY q) FROM unnest(ARRAY[asks('SELECT count(*) FROM visits'), asks('SELECT sum(cost) FROM visits'), asks('SELECT avg(days) FROM visits')]) q),
	'a question for each aggregate, whatever stands beside it');
SELECT is(asks('SELECT dept, count(*), dp_median(cost), count(DISTINCT days) FROM visits GROUP BY dept'),
	(SELECT string_agg(q, ' ' ORDER BY q) FROM unnest(ARRAY[asks('SELECT dept, count(*) FROM visits GROUP BY dept'), asks('SELECT dept, dp_median(cost) FROM visits GROUP BY dept'),
		asks('SELECT dept, count(DISTINCT days) FROM visits GROUP BY dept')]) q),
	'... in groups, too');
SELECT is(asks('SELECT dept, count(*) FROM visits GROUP BY ROLLUP (dept)'),
	(SELECT string_agg(q, ' ' ORDER BY q) FROM unnest(ARRAY[asks('SELECT dept, count(*) FROM visits GROUP BY dept'), asks('SELECT count(*) FROM visits')]) q),
	'grouping sets ask what queries by themselves ask');

-- prices
SELECT is(asked_with('dp_cdp.rho', '0.5', 'SELECT dept, sum(cost) FROM visits GROUP BY dept'), asks('SELECT dept, sum(cost) FROM visits GROUP BY dept'), 'a price is not in it');
SELECT is(asked_with('dp_cdp.target_error', '2000', 'SELECT dept, sum(cost) FROM visits GROUP BY dept'), asks('SELECT dept, sum(cost) FROM visits GROUP BY dept'), '... nor an error');
SELECT is(asked_with('dp_cdp.delta', '1e-9', 'SELECT kind, sum(cost) FROM visits GROUP BY kind'), asks('SELECT kind, sum(cost) FROM visits GROUP BY kind'), '... nor delta');
SELECT is(asked_with('search_path', 'pg_catalog, public', $$SELECT sum(cost) FROM public.visits WHERE mood = 'glad'$$), asks($$SELECT sum(cost) FROM visits WHERE mood = 'glad'$$), '... nor search_path');
SELECT is(asked_with('DateStyle', 'German', $$SELECT count(*) FROM visits WHERE seen > '2024-01-02'$$), asks($$SELECT count(*) FROM visits WHERE seen > '2024-01-02'$$), '... nor DateStyle');
SELECT is(asked_with('extra_float_digits', '-10', 'SELECT count(*) FROM visits WHERE weight > 0.1::float8'), asks('SELECT count(*) FROM visits WHERE weight > 0.1::float8'), '... nor extra_float_digits');

-- what is another question
SELECT another_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) FROM people');
SELECT another_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) FROM lines');
SELECT another_fingerprint('SELECT count(*) FROM visits', 'SELECT count(*) FROM ONLY visits');
SELECT another_fingerprint('SELECT count(*) FROM visits', 'SELECT count(cost) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM visits', 'SELECT count(DISTINCT person) FROM visits');
SELECT another_fingerprint('SELECT count(days) FROM visits', 'SELECT count(DISTINCT days) FROM visits');
SELECT another_fingerprint('SELECT count(cost) FROM visits', 'SELECT count(price) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM visits', 'SELECT sum(cost) FROM visits');
SELECT another_fingerprint('SELECT sum(cost) FROM visits', 'SELECT avg(cost) FROM visits');
SELECT another_fingerprint('SELECT sum(cost) FROM visits', 'SELECT sum(price) FROM visits');
SELECT another_fingerprint('SELECT avg(cost) FROM visits', 'SELECT var_pop(cost) FROM visits');
SELECT another_fingerprint('SELECT dp_median(cost) FROM visits', 'SELECT dp_histogram(cost, 0, 100, 10) FROM visits');
SELECT another_fingerprint('SELECT dp_median(cost) FROM visits', 'SELECT dp_median(price) FROM visits');
SELECT another_fingerprint('SELECT dp_median(cost) FROM visits', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits');
SELECT another_fingerprint('SELECT dp_histogram(cost, 0, 100, 10) FROM visits', 'SELECT dp_histogram(cost, 0, 100, 20) FROM visits');
SELECT another_fingerprint('SELECT dp_histogram(cost, 0, 100, 10) FROM visits', 'SELECT dp_histogram(cost, 0, 50, 10) FROM visits');
SELECT another_fingerprint('SELECT dp_median(cost, 0, 100) FROM visits', 'SELECT dp_median(cost, 0, 101) FROM visits');
SELECT another_fingerprint('SELECT dp_sum(cost, 0, 100) FROM visits', 'SELECT dp_sum(cost, 0, 100.0000001) FROM visits');
SELECT another_fingerprint('SELECT dp_sum(cost, 0, 100) FROM visits', 'SELECT dp_sum(cost, 1, 100) FROM visits');
SELECT another_fingerprint('SELECT dp_sum(cost, 0, 100, 0, 200) FROM visits', 'SELECT dp_sum(cost, 0, 100, 0, 150) FROM visits');
SELECT another_fingerprint('SELECT dp_avg(cost, 0, 100) FROM visits', 'SELECT dp_avg(cost, 0, 90) FROM visits');
SELECT another_fingerprint('SELECT dp_regr_slope(cost, days) FROM visits', 'SELECT dp_regr_slope(days, cost) FROM visits');
SELECT another_fingerprint('SELECT dp_regr_slope(cost, days, 0, 9, 0, 8) FROM visits', 'SELECT dp_regr_slope(cost, days, 0, 9, 0, 9) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits WHERE cost > 11');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits WHERE cost >= 10');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits WHERE cost < 10');
-- values that have none next to them, or none of their type
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days < 5$$, $$SELECT count(*) FROM visits WHERE days <= 5$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days < 5$$, $$SELECT count(*) FROM visits WHERE days < 6$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days < 5$$, $$SELECT count(*) FROM visits WHERE days >= 4$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days < 5$$, $$SELECT count(*) FROM visits WHERE days > 5$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE 5 < days$$, $$SELECT count(*) FROM visits WHERE days <= 4$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE cost < 5$$, $$SELECT count(*) FROM visits WHERE cost <= 4$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE weight < 5$$, $$SELECT count(*) FROM visits WHERE weight <= 4$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE at < '2024-02-01'$$, $$SELECT count(*) FROM visits WHERE at <= '2024-01-31'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen < timestamp '2024-02-01'$$, $$SELECT count(*) FROM visits WHERE seen <= timestamp '2024-01-31'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen < 'infinity'$$, $$SELECT count(*) FROM visits WHERE seen <= 'infinity'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen > '-infinity'$$, $$SELECT count(*) FROM visits WHERE seen >= '-infinity'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen < 'infinity'$$, $$SELECT count(*) FROM visits WHERE seen <= '5874897-12-31'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen > '-infinity'$$, $$SELECT count(*) FROM visits WHERE seen >= '4713-01-01 BC'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen > '5874897-12-31'$$, $$SELECT count(*) FROM visits WHERE seen >= 'infinity'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen < '4714-11-24 BC'$$, $$SELECT count(*) FROM visits WHERE seen <= '-infinity'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days > 2147483647$$, $$SELECT count(*) FROM visits WHERE days >= -2147483648$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days < -2147483648$$, $$SELECT count(*) FROM visits WHERE days <= 2147483647$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days > 32767::smallint$$, $$SELECT count(*) FROM visits WHERE days >= (-32768)::smallint$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days > 9223372036854775807$$, $$SELECT count(*) FROM visits WHERE days >= -9223372036854775808$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days > 2147483647$$, $$SELECT count(*) FROM visits WHERE days >= 2147483647$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE days < person$$, $$SELECT count(*) FROM visits WHERE days <= person$$);
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits WHERE NOT cost > 10');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits WHERE price > 10');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > 10', 'SELECT count(*) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > 10 AND days > 2', 'SELECT count(*) FROM visits WHERE cost > 10 OR days > 2');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE cost > price', 'SELECT count(*) FROM visits WHERE price > cost');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE urgent AND (cost > 10 OR days > 2)', 'SELECT count(*) FROM visits WHERE (urgent AND cost > 10) OR days > 2');
SELECT another_fingerprint('SELECT sum(cost - price) FROM visits', 'SELECT sum(price - cost) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE urgent', 'SELECT count(*) FROM visits WHERE urgent IS NOT FALSE');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE urgent IS NULL', 'SELECT count(*) FROM visits WHERE urgent IS NOT NULL');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE days IN (1, 2)', 'SELECT count(*) FROM visits WHERE days IN (1, 2, 3)');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE days IN (1, 2)', 'SELECT count(*) FROM visits WHERE days NOT IN (1, 2)');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE days IN (1, 2)', 'SELECT count(*) FROM visits WHERE days <> ANY (ARRAY[1, 2])');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE days IN (1, 2)', 'SELECT count(*) FROM visits WHERE days IN (1, NULL, 2)');
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE dept = 'a'$$, $$SELECT count(*) FROM visits WHERE dept = 'A'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE dept = 'a'$$, $$SELECT count(*) FROM visits WHERE dept = 'a '$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE dept = 'a'$$, $$SELECT count(*) FROM visits WHERE kind = 'a'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE dept < 'a'$$, $$SELECT count(*) FROM visits WHERE dept < 'a' COLLATE "C"$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE dept = 'a'$$, $$SELECT count(*) FROM visits WHERE dept = 'a' COLLATE "C"$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE mood = 'glad'$$, $$SELECT count(*) FROM visits WHERE mood = 'cross'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE mood IN ('glad', 'calm')$$, $$SELECT count(*) FROM visits WHERE mood IN ('cross', 'calm')$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE dept LIKE 'a%'$$, $$SELECT count(*) FROM visits WHERE dept LIKE 'a_'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE dept LIKE 'a%'$$, $$SELECT count(*) FROM visits WHERE dept ILIKE 'a%'$$);
SELECT another_fingerprint($$SELECT count(*) FROM visits WHERE seen > '2024-01-01'$$, $$SELECT count(*) FROM visits WHERE seen > '2024-01-02'$$);
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE seen > current_date - 30', 'SELECT count(*) FROM visits WHERE seen > current_date - 31');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE at > now()', 'SELECT count(*) FROM visits WHERE at > current_date');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE at > now()', 'SELECT count(*) FROM visits WHERE at > date_trunc(''day'', now())');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE at > current_timestamp', 'SELECT count(*) FROM visits WHERE at > current_timestamp(0)');
SELECT another_fingerprint('SELECT sum(cost) FROM visits', 'SELECT sum(cost) FILTER (WHERE urgent) FROM visits');
SELECT another_fingerprint('SELECT sum(cost) FILTER (WHERE urgent) FROM visits', 'SELECT sum(cost) FILTER (WHERE NOT urgent) FROM visits');
SELECT another_fingerprint('SELECT sum(cost) FILTER (WHERE urgent) FROM visits', 'SELECT sum(cost) FROM visits WHERE urgent');
SELECT another_fingerprint('SELECT sum(cost) FROM visits', 'SELECT dept, sum(cost) FROM visits GROUP BY dept');
SELECT another_fingerprint('SELECT dept, sum(cost) FROM visits GROUP BY dept', 'SELECT days, sum(cost) FROM visits GROUP BY days');
SELECT another_fingerprint('SELECT dept, sum(cost) FROM visits GROUP BY dept', 'SELECT dept, days, sum(cost) FROM visits GROUP BY dept, days');
SELECT another_fingerprint('SELECT dept, sum(cost) FROM visits GROUP BY dept', 'SELECT upper(dept), sum(cost) FROM visits GROUP BY 1');
SELECT another_fingerprint($$SELECT dept, sum(cost) FROM visits GROUP BY dept$$, $$SELECT dept, sum(cost) FROM visits WHERE dept <> 'a' GROUP BY dept$$);
SELECT another_fingerprint($$SELECT dept, sum(cost) FROM visits WHERE dept IN ('a', 'b') GROUP BY dept$$, $$SELECT dept, sum(cost) FROM visits WHERE dept IN ('a', 'c') GROUP BY dept$$);
SELECT another_fingerprint('SELECT kind, count(*) FROM visits GROUP BY kind', 'SELECT dept, count(*) FROM visits GROUP BY dept');
SELECT another_fingerprint('SELECT count(*) FROM visits JOIN people USING (person)', 'SELECT count(*) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM visits JOIN people USING (person)', 'SELECT count(*) FROM visits LEFT JOIN people USING (person)');
SELECT another_fingerprint('SELECT count(*) FROM visits v JOIN people p USING (person) WHERE p.born > 1980', 'SELECT count(*) FROM visits v JOIN people p USING (person) WHERE p.born > 1981');
SELECT another_fingerprint('SELECT count(*) FROM visits v LEFT JOIN people p ON v.person = p.person AND p.born > 1980', 'SELECT count(*) FROM visits v LEFT JOIN people p ON v.person = p.person WHERE p.born > 1980');
SELECT another_fingerprint('SELECT count(*) FROM visits a JOIN visits b USING (person) WHERE a.cost > 10', 'SELECT count(*) FROM visits a JOIN visits b USING (person) WHERE a.cost > 10 AND b.cost > 10');
SELECT another_fingerprint('SELECT sum(a.cost) FROM visits a JOIN visits b USING (person) WHERE a.days > 10', 'SELECT sum(a.cost) FROM visits a JOIN visits b USING (person) WHERE b.days > 10');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE EXISTS (SELECT FROM people p WHERE p.person = visits.person)', 'SELECT count(*) FROM visits WHERE NOT EXISTS (SELECT FROM people p WHERE p.person = visits.person)');
SELECT another_fingerprint('SELECT count(*) FROM visits JOIN depts USING (dept)', 'SELECT count(*) FROM visits JOIN mine USING (dept)');
SELECT another_fingerprint('SELECT count(*) FROM visits JOIN mine USING (dept)', 'SELECT count(*) FROM visits JOIN (SELECT * FROM mine WHERE floor = 1) m USING (dept)');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING sum(cost) > 10) q', 'SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING sum(cost) > 11) q');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING sum(cost) > 10) q', 'SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING max(cost) > 10) q');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING count(days) > 10) q', 'SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING count(DISTINCT days) > 10) q');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person FROM visits GROUP BY person) q', 'SELECT count(*) FROM (SELECT person FROM visits GROUP BY person, dept) q');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT DISTINCT person FROM visits) q', 'SELECT count(*) FROM (SELECT person FROM visits) q');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT DISTINCT ON (person) person, cost FROM visits ORDER BY person, id) q WHERE cost > 5',
	'SELECT count(*) FROM (SELECT DISTINCT ON (person) person, cost FROM visits ORDER BY person, id DESC) q WHERE cost > 5');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person, row_number() OVER (PARTITION BY person ORDER BY id) AS n FROM visits) q WHERE n = 1',
	'SELECT count(*) FROM (SELECT person, row_number() OVER (PARTITION BY person ORDER BY id DESC) AS n FROM visits) q WHERE n = 1');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person, row_number() OVER (PARTITION BY person ORDER BY kind COLLATE "en-x-icu", id) AS n, kind FROM visits) q WHERE n = 1 AND kind = ''b''',
	'SELECT count(*) FROM (SELECT person, row_number() OVER (PARTITION BY person ORDER BY kind COLLATE "da-x-icu", id) AS n, kind FROM visits) q WHERE n = 1 AND kind = ''b''');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT DISTINCT ON (person) person, kind FROM visits ORDER BY person, kind COLLATE "en-x-icu", id) q WHERE kind = ''b''',
	'SELECT count(*) FROM (SELECT DISTINCT ON (person) person, kind FROM visits ORDER BY person, kind COLLATE "da-x-icu", id) q WHERE kind = ''b''');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person, sum(days) OVER (PARTITION BY person ORDER BY id ROWS 1 PRECEDING) AS n FROM visits) q WHERE n > 1',
	'SELECT count(*) FROM (SELECT person, sum(days) OVER (PARTITION BY person ORDER BY id ROWS 2 PRECEDING) AS n FROM visits) q WHERE n > 1');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM old_visits) u', 'SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM visits) u');
SELECT another_fingerprint('SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM old_visits) u', 'SELECT count(*) FROM (SELECT person FROM visits UNION SELECT person FROM old_visits) u');
SELECT another_fingerprint('SELECT sum(x) FROM (SELECT person, cost AS x FROM visits UNION ALL SELECT person, cost FROM old_visits) u',
	'SELECT sum(x) FROM (SELECT person, price AS x FROM visits UNION ALL SELECT person, cost FROM old_visits) u');
SELECT another_fingerprint('SELECT sum(CASE WHEN urgent THEN cost ELSE 0 END) FROM visits', 'SELECT sum(CASE WHEN urgent THEN cost END) FROM visits');
SELECT another_fingerprint('SELECT sum(CASE days WHEN 1 THEN cost WHEN 2 THEN price END) FROM visits', 'SELECT sum(CASE days WHEN 2 THEN cost WHEN 1 THEN price END) FROM visits');
SELECT another_fingerprint('SELECT sum(coalesce(cost, price)) FROM visits', 'SELECT sum(coalesce(price, cost)) FROM visits');
SELECT another_fingerprint('SELECT sum(greatest(cost, price)) FROM visits', 'SELECT sum(least(cost, price)) FROM visits');
SELECT another_fingerprint('SELECT count(nullif(days, 1)) FROM visits', 'SELECT count(nullif(1, days)) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM visits WHERE added(days) > 1', 'SELECT count(*) FROM visits WHERE added2(days) > 1');
SELECT another_fingerprint('SELECT sum(half(cost)) FROM visits', 'SELECT sum(cost) FROM visits');
SELECT another_fingerprint('SELECT sum(cost::int) FROM visits', 'SELECT sum(cost) FROM visits');
SELECT another_fingerprint('SELECT dp_sum(days::numeric, 0, 30) FROM visits', 'SELECT dp_sum(days, 0, 30) FROM visits');
SELECT another_fingerprint('SELECT count(*) FROM rows_alone', 'SELECT count(*) FROM (SELECT * FROM rows_alone WHERE cost > 1) q');

-- settings and what they stand for
SELECT isnt(asked_with('TimeZone', '''Asia/Tokyo''', 'SELECT count(*) FROM visits'), asks('SELECT count(*) FROM visits'), 'the time zone is in it');
SELECT isnt(asked_with('dp_cdp.max_rows', '2', 'SELECT sum(cost) FROM visits'), asks('SELECT sum(cost) FROM visits'), '... and how many rows of a unit count');
SELECT isnt(asked_with('dp_cdp.max_groups', '2', 'SELECT dept, count(*) FROM visits GROUP BY dept'), asks('SELECT dept, count(*) FROM visits GROUP BY dept'), '... and groups');
SELECT is(asked_with('dp_cdp.max_groups', '2', 'SELECT count(*) FROM visits'), asks('SELECT count(*) FROM visits'), '... where there are some');
COMMIT;

-- the policy, public inputs and objects, as they are when it is asked
CREATE TABLE told (n serial, query text, answer text);
CREATE FUNCTION remember(VARIADIC queries text[]) RETURNS void LANGUAGE sql AS $$
	TRUNCATE told;
	INSERT INTO told (query, answer) SELECT q, asks(q) FROM unnest(queries) q;
$$;
CREATE FUNCTION changed(expected boolean[], about text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT ok(known(t.answer) AND known(now.answer) AND (t.answer <> now.answer) = expected[row_number() OVER (ORDER BY n)],
		about || CASE WHEN t.answer <> now.answer THEN ' changed: ' ELSE ' kept: ' END || query)
	FROM told t, LATERAL (SELECT asks(t.query) AS answer) now
$$;

SELECT remember('SELECT sum(cost) FROM visits', 'SELECT dp_sum(cost, 0, 100) FROM visits', 'SELECT count(*) FROM people', 'SELECT count(*) FROM visits JOIN people USING (person)');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 90);
SELECT changed('{t,t,f,t}', 'bounds of a column');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT changed('{f,f,f,f}', 'bounds as before');
BEGIN;
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 80);
SELECT changed('{t,t,f,t}', 'bounds in a transaction');
ROLLBACK;
SELECT changed('{f,f,f,f}', 'bounds that were rolled back');
SELECT remember('SELECT dept, count(*) FROM visits GROUP BY dept', 'SELECT count(*) FROM people');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'd']);
SELECT changed('{t,f}', 'declared keys');
SELECT remember('SELECT count(*) FROM visits JOIN mine USING (dept)', 'SELECT floor, count(*) FROM visits JOIN mine USING (dept) GROUP BY floor', 'SELECT count(*) FROM visits');
UPDATE mine SET floor = 7 WHERE dept = 'a';
SELECT changed('{f,t,f}', 'rows that are joined with, as far as they are read');
INSERT INTO mine VALUES ('c', 3);
SELECT changed('{t,t,f}', 'more rows that are joined with');
SELECT remember('SELECT floor, count(*) FROM visits JOIN depts USING (dept) GROUP BY floor', 'SELECT count(*) FROM visits');
UPDATE depts SET floor = 9 WHERE dept = 'b';
SELECT changed('{t,f}', 'keys that a public table tells');
SELECT remember('SELECT count(*) FROM visits', 'SELECT dept, sum(cost) FROM visits GROUP BY dept');
INSERT INTO people SELECT i, 'n', 1990 FROM generate_series(1, 100) i;
INSERT INTO visits (id, person, dept, cost) SELECT i, i, 'a', i FROM generate_series(1, 100) i;
ANALYZE visits, people;
SELECT changed('{f,f}', 'protected rows');
SELECT remember('SELECT count(*) FROM visits WHERE added(days) > 1', 'SELECT count(*) FROM visits');
CREATE OR REPLACE FUNCTION added(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x + 2; END';
SELECT changed('{t,f}', 'what an added function does');
SELECT remember('SELECT count(*) FROM visits', 'SELECT kind, count(*) FROM visits GROUP BY kind');
SELECT dp_cdp.alter_dataset('clinic', default_rho => 0.02);
SELECT changed('{f,f}', 'the default price');
SELECT dp_cdp.alter_dataset('clinic', max_rows => 5);
SELECT changed('{t,t}', 'limits of the dataset');
SELECT remember('SELECT count(*) FROM visits WHERE cost > 3');
ALTER TABLE visits RENAME cost TO costs;
SELECT remember('SELECT count(*) FROM visits WHERE costs > 3');
ALTER TABLE visits RENAME costs TO cost;
ALTER TABLE visits ADD extra int;
ALTER TABLE visits DROP extra;
SELECT remember('SELECT count(*) FROM visits WHERE cost > 3');
ALTER TABLE visits ADD other int;
SELECT changed('{f}', 'columns that are not read');

-- a policy of partitions is their parent's
SET SESSION AUTHORIZATION owner1;
CREATE TABLE parted (person int NOT NULL, cost numeric) PARTITION BY RANGE (person);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
SELECT dp_cdp.protect_table('parted', 'clinic', 'person');
SELECT dp_cdp.set_bounds('parted', 'cost', 0, 10);
RESET SESSION AUTHORIZATION;
SELECT another_fingerprint('SELECT count(*) FROM parted', 'SELECT count(*) FROM parted1');
SELECT remember('SELECT sum(cost) FROM parted', 'SELECT count(*) FROM parted1', 'SELECT count(*) FROM people');
SELECT dp_cdp.set_bounds('parted', 'cost', 0, 20);
SELECT changed('{t,t,f}', 'the label of a partitioned table');

-- parameters: their values are in it, not their numbers, nor how the plan was made
SET SESSION AUTHORIZATION analyst1;
PREPARE above(numeric) AS SELECT count(*) FROM visits WHERE cost > $1;
PREPARE above2(int, numeric) AS SELECT count(*) FROM visits WHERE cost > $2;
PREPARE between_days(int, date) AS SELECT count(*) FROM visits WHERE days > $1 AND seen < $2;
PREPARE within(int[]) AS SELECT count(*) FROM visits WHERE days = ANY ($1);
PREPARE bounded(numeric) AS SELECT dp_sum(cost, 0, $1) FROM visits;
CREATE TEMP TABLE identities (name text, question text);
GRANT ALL ON identities TO public;
SET plan_cache_mode = force_custom_plan;
INSERT INTO identities VALUES ('custom 5', explained('EXECUTE above(5)')), ('custom 6', explained('EXECUTE above(6)')), ('second 5', explained('EXECUTE above2(3, 5)')),
	('days', explained($$EXECUTE between_days(1, '2024-03-01')$$)), ('no days', explained('EXECUTE between_days(2147483647, $$infinity$$)')),
	('in 12', explained($$EXECUTE within('{1,2}')$$)), ('in 13', explained($$EXECUTE within('{1,3}')$$)), ('to 50', explained('EXECUTE bounded(50)')), ('to 60', explained('EXECUTE bounded(60)'));
SET plan_cache_mode = force_generic_plan;
INSERT INTO identities VALUES ('generic 5', explained('EXECUTE above(5)')), ('generic 6', explained('EXECUTE above(6)')), ('generic days', explained($$EXECUTE between_days(1, '2024-03-01')$$)),
	('generic no days', explained('EXECUTE between_days(2147483647, $$infinity$$)')), ('generic to 50', explained('EXECUTE bounded(50)'));
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
CREATE FUNCTION identity_of(wanted text) RETURNS text LANGUAGE sql AS $$ SELECT question FROM identities WHERE name = wanted $$;
SELECT ok(known(string_agg(question, ' ')), 'prepared statements have identities') FROM identities;
SELECT is(identity_of('custom 5'), identity_of('generic 5'), 'custom and generic plans ask the same');
SELECT is(identity_of('custom 6'), identity_of('generic 6'), '... with another value, too');
SELECT isnt(identity_of('custom 5'), identity_of('custom 6'), '... which is another question');
SELECT is(identity_of('custom 5'), identity_of('second 5'), 'the number of a parameter is not in it');
SELECT is(identity_of('custom 5'), asks('SELECT count(*) FROM visits WHERE cost > 5::numeric'), 'a parameter is as good as what it is');
SELECT is(identity_of('days'), asks($$SELECT count(*) FROM visits WHERE days >= 2 AND seen <= '2024-02-29'$$), 'strict bounds that are parameters are as good as closed ones');
SELECT is(identity_of('days'), identity_of('generic days'), '... in generic plans');
SELECT isnt(identity_of('no days'), identity_of('days'), '... by their values');
SELECT is(identity_of('generic no days'), asks('SELECT count(*) FROM visits WHERE days > 2147483647 AND seen < $$infinity$$'), '... and where there is none next to them');
SELECT isnt(identity_of('in 12'), identity_of('in 13'), 'arrays are compared by their values');
SELECT isnt(identity_of('to 50'), identity_of('to 60'), 'bounds that are parameters');
SELECT is(identity_of('to 50'), identity_of('generic to 50'), '... in generic plans');
SELECT is(identity_of('to 50'), asks('SELECT dp_sum(cost, 0, 50) FROM visits'), '... and as constants');

-- bounds that are found first: the question is how they are found
SELECT isnt(asked_with('dp_cdp.find_bounds', 'on', 'SELECT avg(born) FROM people'), asked_with('dp_cdp.find_bounds', 'on', 'SELECT avg(born + 1) FROM people'), 'found bounds of other values are another question');
SELECT ok(known(asked_with('dp_cdp.find_bounds', 'on', 'SELECT avg(born) FROM people')), 'bounds that are found first have an identity');

-- what is told, to whom, and for nothing
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE named AS SELECT aggregate, dataset, length(fingerprint) AS n FROM dp_cdp.query_fingerprint('SELECT dept, count(*), sum(price) AS s FROM visits GROUP BY dept');
CREATE TEMP TABLE selected AS SELECT aggregate, dataset, length(fingerprint) AS n FROM dp_cdp.query_fingerprint('SELECT kind, sum(price) AS s FROM visits GROUP BY kind');
RESET SESSION AUTHORIZATION;
SELECT results_eq('SELECT * FROM named', $$VALUES ('count(*)', 'clinic', 64), ('sum(price)', 'clinic', 64)$$, 'aggregates are named');
SELECT results_eq('SELECT * FROM selected', $$VALUES ('sum(price)', 'clinic', 64), ('key selection', 'clinic', 64)$$, 'the selection of keys is a question, too');
SELECT is(sum(rho_spent), 0::numeric, 'nothing was charged') FROM dp_cdp.budgets;
CREATE ROLE nobody1 LOGIN;
CREATE FUNCTION asks_as_nobody() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION nobody1';
	BEGIN
		SELECT fingerprint INTO answer FROM dp_cdp.query_fingerprint('SELECT count(*) FROM visits');
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN answer;
END $$;
SELECT is(asks_as_nobody(), 'ZC001', 'without a budget nothing is told');
SELECT throws_ok($$SELECT * FROM dp_cdp.query_fingerprint('SELECT 1; SELECT 2')$$, 'ZC004', NULL, 'one query');
SELECT throws_ok($$SELECT * FROM dp_cdp.query_fingerprint('DELETE FROM visits')$$, 'ZC004', NULL, '... which is a SELECT');
SELECT is_empty($$SELECT * FROM dp_cdp.query_fingerprint('SELECT 1')$$, 'a query without a release asks nothing');
SELECT * FROM finish();
