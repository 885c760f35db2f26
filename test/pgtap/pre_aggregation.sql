-- Private aggregates over subqueries that aggregate the rows of each privacy
-- unit by itself.  What these compute is exact, runs on raw rows, and may not
-- fail for any unit: the rows of units 1001 and above are there to try.
-- Prices are in those of one aggregate (rho 1e-6).  Where values are compared,
-- rho is so large that the standard deviation of the noise is a tenth.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int);
CREATE COLLATION loose (provider = icu, locale = 'und', deterministic = false);

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int, dept text, w int, b bigint, r real, f float8, n numeric,
	d date, ts timestamp, mood mood, ok boolean, m money, iv interval, j jsonb);
-- 200 patients with 1 to 5 visits
INSERT INTO visits
	SELECT p, substr('abc', 1 + v % 3, 1), v, p, v + 0.5, p / 100.0, 1 + (p + v) / 100.0,
		date '2020-01-01' + p % 30 + v, timestamp '2020-01-01 08:00' + v * interval '1 hour',
		(enum_range(NULL::mood))[1 + v % 3], v % 2 = 0, v, v * interval '1 day', '1'
	FROM generate_series(1, 200) p, generate_series(1, 1 + p % 5) v;
-- nobody's
INSERT INTO visits (patient, w, f, n) SELECT NULL, 1, 50, 50 FROM generate_series(1, 100);
-- what makes sums and what is computed of them fail
INSERT INTO visits (patient, dept, w, b, r, f, n, d, ts, mood, ok, m, iv)
	SELECT 1001, 'a', 2147483647, 9223372036854775807, 3.4e38, 1.7e308, '9e131071', 'infinity', 'infinity', 'sad', true,
		'92233720368547758.07', '178000000 years'
	FROM generate_series(1, 3);
INSERT INTO visits (patient, w, b, r, f, n, d, ts)
	SELECT 1002, -2147483648, -9223372036854775808, x::real, x::float8, x, '-infinity', '-infinity'
	FROM unnest('{Infinity,-Infinity,NaN}'::numeric[]) x;
INSERT INTO visits (patient, r, f, n) VALUES (1003, 3.4e38, 1.7e308, '9e131071'), (1003, -3.4e38, -1.7e308, '1e-16383');
INSERT INTO visits (patient) VALUES (1004), (1004);
CREATE TABLE one_each (id int, x float8);
INSERT INTO one_each SELECT i, i FROM generate_series(1, 100) i;
SELECT dp_cdp.create_dataset('clinic', find_bounds => 0, default_rho => 1e-6);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.protect_table('one_each', 'clinic', each_row => true);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
CREATE VIEW busy AS SELECT patient, count(*) AS visits, sum(f) AS total FROM visits GROUP BY patient HAVING count(*) > 2;
GRANT SELECT ON busy TO analyst1;
RESET SESSION AUTHORIZATION;
ANALYZE visits;

\ir analyst.psql

CREATE FUNCTION answers(statement text, price int, description text) RETURNS text
	LANGUAGE sql AS $$ SELECT is(run_as_analyst(statement)::text, format('(,%s)', price), description) $$;
CREATE FUNCTION refused(statement text, message text, description text) RETURNS text
	LANGUAGE sql AS $$
	SELECT CASE WHEN r.cost = 0 THEN matches(coalesce(r.failure, 'answered'), message, description)
		ELSE fail(description || ': it cost ' || r.cost) END
	FROM run_as_analyst(statement) r $$;

-- the released number, with next to no noise
CREATE FUNCTION released(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	result numeric;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SET dp_cdp.rho = 5000;
	BEGIN
		EXECUTE statement INTO result;
	EXCEPTION WHEN OTHERS THEN
		RAISE WARNING '%', sqlerrm;
	END;
	RESET dp_cdp.rho;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN result;
END $$;
CREATE FUNCTION gives(statement text, expected numeric, description text) RETURNS text LANGUAGE sql AS $$
	SELECT ok(got IS NOT NULL AND abs(got - expected) < 0.7, description || format(' (%s for %s)', got, expected))
	FROM released(statement) got $$;

-- the sum over units of an aggregate clamped to 0 .. 10, asked for privately
-- and computed over the ordinary units alone: the others must not count
CREATE FUNCTION per_unit(aggregate text, expected_more numeric DEFAULT 0) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected numeric;
BEGIN
	EXECUTE format('SELECT sum(least(greatest(m, 0), 10)) FROM (SELECT (%s)::numeric AS m FROM visits WHERE patient <= 200 GROUP BY patient) q',
		aggregate) INTO expected;
	RETURN gives(format('SELECT dp_sum(m, 0, 10) FROM (SELECT patient, %s AS m FROM visits GROUP BY patient) q', aggregate),
		expected + expected_more, aggregate);
END $$;

SELECT plan(130);

-- ------------------------------------------------------------------------
-- what is charged
-- ------------------------------------------------------------------------

SELECT answers('SELECT dp_sum(m, 0, 100) FROM (SELECT patient, max(f) AS m FROM visits GROUP BY patient) q', 1, 'one aggregate is charged once');
SELECT answers('SELECT dp_sum(m, 0, 100), dp_count(m), dp_count(*) FROM (SELECT patient, max(f) AS m, min(n), count(*) FROM visits GROUP BY 1) q', 3,
	'aggregates of the subquery are not charged');
SELECT answers('SELECT dp_count(*) FROM (SELECT max(f) AS m FROM visits GROUP BY patient) q WHERE m > 3', 1, 'the unit need not be selected');
SELECT answers('WITH q AS (SELECT patient, avg(f) AS m FROM visits WHERE w > 1 GROUP BY patient) SELECT dp_sum(m, 0, 100) FROM q', 1, 'in WITH');
SELECT answers('SELECT dp_sum(total, 0, 100) FROM busy WHERE visits > 3', 1, 'in a view');
SELECT answers('SELECT dp_sum(m, 0, 100) FROM (SELECT patient, max(c) AS m FROM (SELECT patient, dept, count(*) AS c FROM visits GROUP BY 1, 2) a GROUP BY 1) b', 1,
	'twice');
SELECT answers('PREPARE p (int) AS SELECT dp_sum(m, 0, 100) FROM (SELECT patient, sum(w / $1) AS m FROM visits GROUP BY patient HAVING count(*) > $1) q; EXECUTE p(0)', 1,
	'with parameters, on which a unit might fail');

-- ------------------------------------------------------------------------
-- the aggregates, and that no unit makes them fail
-- ------------------------------------------------------------------------

-- of 1001 to 1004
SELECT per_unit('count(*)', 3 + 3 + 2 + 2);
SELECT per_unit('count(f)', 3 + 3 + 2);
SELECT per_unit('count(DISTINCT f)', 1 + 3 + 2);
SELECT per_unit('count(DISTINCT dept)', 1);
SELECT per_unit('count(*) FILTER (WHERE w > 2)', 3);
SELECT gives('SELECT dp_sum(m, 0, 10) FROM (SELECT patient, count(*) FILTER (WHERE 10 / (w - 1) > 2) AS m FROM visits GROUP BY patient) q',
	(SELECT count(*) FROM visits WHERE w BETWEEN 2 AND 4), 'a filter that is undefined for some rows');
-- what does not overflow counts
SELECT per_unit(a, 10) FROM unnest(ARRAY['avg(f)', 'sum(DISTINCT f)', 'stddev_pop(f)']) a;
SELECT per_unit(a) FROM unnest(ARRAY[
	'sum(r)', 'sum(f)', 'sum(n)', 'avg(n)', 'avg(DISTINCT n)',
	'stddev(f)', 'stddev_samp(f)', 'variance(f)', 'var_pop(f)', 'var_samp(f)',
	'stddev(n)', 'stddev_pop(n)', 'stddev_samp(n)', 'variance(n)', 'var_pop(n)', 'var_samp(n)',
	'sum(f) + sum(n)::float8', 'sum(f * 1e290) / 1e290', 'sum(n) * 1e900 / 1e900',
	'stddev(w) FILTER (WHERE w < 100)', 'sum(w) FILTER (WHERE w < 100)', 'avg(w) FILTER (WHERE abs(w) < 100)',
	'sum(w)::int', 'sum(b) / nullif(count(*), 3) - min(b) / 2', 'max(ts)::date - min(ts)::date + count(mood)']) a;

-- those that never fail count every unit
SELECT gives(format('SELECT dp_count(*) FROM (SELECT %s AS m FROM visits GROUP BY patient) q WHERE m IS NOT NULL', a), count, a)
	FROM unnest('{w,b,r,f,n,d,ts,mood,dept,m,iv}'::text[]) c, unnest(ARRAY[format('min(%s)', c), format('max(%s)', c)]) a,
		LATERAL (SELECT count(DISTINCT patient) FROM visits v WHERE to_jsonb(v) ->> c IS NOT NULL) x;
SELECT gives('SELECT dp_count(*) FROM (SELECT bool_and(ok) AS a, bool_or(ok) AS o, every(ok) AS e FROM visits GROUP BY patient) q WHERE (o AND NOT a) OR e',
	(SELECT count(*) FROM (SELECT FROM visits WHERE patient IS NOT NULL GROUP BY patient HAVING bool_or(ok)) q), 'of booleans');
SELECT gives('SELECT dp_count(*) FROM (SELECT DISTINCT patient FROM visits) q', 204, 'DISTINCT alone');

-- ------------------------------------------------------------------------
-- lists of a unit's rows
-- ------------------------------------------------------------------------

SELECT gives(format('SELECT dp_count(*) FROM (SELECT patient, %s AS m FROM visits WHERE patient <= 200 GROUP BY patient) q WHERE m %s', list, is_so), count, list || ' ' || is_so) FROM (VALUES
	('string_agg(dept, ''>'' ORDER BY w)', '= ''b>c>a''', 40), ('string_agg(dept, ''>'' ORDER BY w DESC)', '= ''a>c>b''', 40), ('string_agg(DISTINCT dept, '''')', '= ''abc''', 120),
	('string_agg(dept, ''>'') FILTER (WHERE w > 1)', 'IS NULL', 40), ('string_agg(dept, w::text ORDER BY w)', '= ''b2c''', 40),
	('(array_agg(dept ORDER BY w))[1]', '= ''b''', 200), ('(array_agg(dept ORDER BY w DESC))[1]', '= ''a''', 40),
	('(array_agg(w ORDER BY w))[array_length(array_agg(w ORDER BY w), 1)]', '= 5', 40), ('cardinality(array_agg(ts))', '= 3', 40),
	('(array_agg(mood ORDER BY w))[2]', '= ''happy''', 160), ('array_to_string(array_agg(w ORDER BY w DESC), ''-'')', '= ''3-2-1''', 40)) v (list, is_so, count);
SELECT gives('SELECT dp_count(*) FROM (SELECT patient, array_agg(dept ORDER BY w) AS l FROM visits WHERE patient <= 200 GROUP BY patient) q WHERE ' || condition, count, 'an array of a subquery: ' || condition) FROM (VALUES
	('l[2] = ''c''', 160), ('''c'' = ANY (l)', 160), ('l @> ARRAY[''a'', ''b'']', 120), ('cardinality(l) > 3', 80), ('array_position(l, ''a'') = 3', 120)) v (condition, count);
SELECT gives('SELECT n FROM (SELECT l, dp_count(*) AS n FROM (SELECT patient, string_agg(dept, ''>'' ORDER BY w) AS l FROM visits GROUP BY patient) q GROUP BY l) r WHERE l = ''b>c''', 40, 'as a key');
-- of 1001 three rows are too long together
UPDATE visits SET dept = repeat('x', 200000) WHERE patient = 1001;
SELECT gives('SELECT dp_count(*) FROM (SELECT patient, ' || list || ' AS m FROM visits WHERE patient > 1000 GROUP BY patient) q WHERE m IS NULL', 4, list || ' of long strings')
	FROM unnest(ARRAY['string_agg(dept, '','')', '(array_agg(dept))[1]']) list;
UPDATE visits SET dept = 'a' WHERE patient = 1001;

-- ------------------------------------------------------------------------
-- HAVING
-- ------------------------------------------------------------------------

-- the sum is NULL for 1001 and 1003, NaN, which is greater than all, for 1002
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING sum(f) > 0) q', 201, 'a sum of double precision that overflows');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING sum(r) > 0) q', 201, 'a sum of real that overflows');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING sum(n) > 1) q', 201, 'a sum of numeric that overflows');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING sum(n) / (count(*) - 3) > 1) q', 81, 'a division by zero');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING sum(b) > 18446744073709551616) q', 1, 'a sum of bigint, which is numeric');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING max(w) * 2 > 4) q',
	(SELECT count(DISTINCT patient) FROM visits WHERE w BETWEEN 3 AND 5), 'arithmetic that overflows');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING patient > 100 AND count(*) = 1) q', 20, 'a condition on the unit');

-- ------------------------------------------------------------------------
-- refusals
-- ------------------------------------------------------------------------

CREATE FUNCTION refused_target(aggregate text, message text) RETURNS text LANGUAGE sql AS $$
	SELECT refused(format('SELECT dp_count(m) FROM (SELECT patient, %s AS m FROM visits GROUP BY patient) q', aggregate),
		'^ZC002 ' || message, aggregate);
	$$;
SELECT refused_target(a, m) FROM (VALUES
	('array_agg(j)', 'a value of type jsonb'),
	('array_agg(ARRAY[w])', 'aggregate array_agg\(anyarray\) cannot be used on rows .* may use count, min, max'),
	('array_agg(DISTINCT iv)', 'DISTINCT of values of type interval in a list'),
	('string_agg(dept::bytea, '''')', 'aggregate string_agg\(bytea,bytea\) cannot'),
	('string_agg(dept, '','' ORDER BY random())', 'function random'),
	('string_agg(dept COLLATE loose, '','' ORDER BY dept COLLATE loose)', 'nondeterministic collation'),
	('json_agg(w)', 'aggregate json_agg\(anyelement\) cannot'),
	('sum(m)', 'aggregate sum\(money\) cannot .* as numeric'),
	('corr(f, f)', 'aggregate corr'),
	('bit_or(w)', 'aggregate bit_or'),
	('percentile_cont(1.5) WITHIN GROUP (ORDER BY f)', 'aggregate percentile_cont'),
	('mode() WITHIN GROUP (ORDER BY w)', 'aggregate mode'),
	('rank(1) WITHIN GROUP (ORDER BY w)', 'aggregate rank'),
	('total(w)', 'aggregate total\(integer\) cannot'),
	('sum(f ORDER BY n)', 'ORDER BY inside of an aggregate'),
	('count(DISTINCT j)', 'column "j" of type jsonb'),
	('count(visits)', 'a whole row'),
	('max(md5(dept))', 'function md5'),
	('count(*) FILTER (WHERE dept ~ ''(a)\1'')', 'operator ~'),
	('sum(random())', 'function random'),
	('max(dept COLLATE loose)', 'nondeterministic collation'),
	('count(DISTINCT dept COLLATE loose)', 'nondeterministic collation'),
	('date_trunc(max(dept), max(ts))', 'function .*date_trunc.* must be a constant'),
	('date_trunc(count(*)::text, max(ts))', 'an aggregate in place of a constant'),
	('(3 = ANY (ARRAY[count(*), 2]))', 'an aggregate in place of a constant'),
	('sum(max(w)) OVER ()', 'a window over protected rows .*add the unit .* to its PARTITION BY'),
	('max(w) + (SELECT 1)', 'a subquery')
	) AS v (a, m);
SELECT refused(s, '^ZC002 ', d) FROM (VALUES
	('SELECT dp_sum(m, 0, 1) FROM (SELECT dept, max(w) AS m FROM visits GROUP BY dept) q', 'not by the unit'),
	('SELECT dp_sum(m, 0, 1) FROM (SELECT max(w) AS m FROM visits) q', 'by nothing'),
	('SELECT dp_sum(m, 0, 1) FROM (SELECT max(w) AS m FROM visits GROUP BY patient % 10) q', 'by something computed from the unit'),
	('SELECT dp_sum(m, 0, 1) FROM (SELECT max(w) AS m FROM visits GROUP BY GROUPING SETS ((patient), ())) q', 'grouping sets'),
	('SELECT dp_sum(m, 0, 1) FROM (SELECT max(w) AS m FROM visits GROUP BY ROLLUP (patient)) q', 'rollup'),
	('SELECT dp_sum(m, 0, 1) FROM (SELECT max(x) AS m FROM one_each GROUP BY id) q', 'of a table without a unit'),
	('SELECT dp_sum(c, 0, 1) FROM (SELECT m, count(*) AS c FROM (SELECT patient, max(w) AS m FROM visits GROUP BY patient) a GROUP BY m) b', 'again, not by the unit'),
	('SELECT dp_sum(m, 0, 1) FROM (SELECT patient, max(w) AS m FROM visits GROUP BY patient LIMIT 10) q', 'LIMIT'),
	('SELECT dp_sum(m, 0, 1) FROM (SELECT DISTINCT ON (dept) patient, w AS m FROM visits) q', 'DISTINCT ON')
	) AS v (s, d);
-- no exact aggregate of what was aggregated
SELECT refused('SELECT max(m) FROM (SELECT patient, max(w) AS m FROM visits GROUP BY patient) q', '^ZC004 max\(m\) needs bounds, and column w has none', 'an aggregate above, as private as any, needs bounds');
SELECT refused('SELECT m FROM (SELECT patient, max(w) AS m FROM visits GROUP BY patient) q', '^ZC002 ', 'no aggregate above');
SELECT refused('SELECT patient, max(w) FROM visits GROUP BY patient', '^ZC002 ', 'no level above');

SELECT * FROM finish();
