-- The plan node that bounds contributions: the planner takes it, EXPLAIN shows it, and
-- what it returns is bit for bit what PostgreSQL's own aggregation with bound_unit
-- returns for the same seed, whatever the memory, the order of rows and the plan below.
-- "make test" asks all of it of fewer rows, whose batches are hardly ever split again, and with two amounts of
-- memory, where it is about something else with one.

\ir bounding_node.psql

SELECT * FROM no_plan();

SELECT same(f, 'i4', 'visit', CASE WHEN :long OR name <> 'most values' THEN '{1,2}' ELSE '{1}' END::int[]) FROM form f;
-- who is in no bin adds the same by rows of his own and by one of several units, and is in no histogram
SELECT is(dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b, v, s, f)), '{-1,1,0,0,2,7,3,1}'::numeric[], 'units without bins, ' || rows)
	FROM (VALUES ('apart', -1, 1, 0, 1), ('apart', -1, 0, 0, 1), ('apart', 2, 7, 3, 1), ('together', -1, 1, 0, 2), ('together', 2, 7, 3, 1)) r (rows, b, v, s, f) GROUP BY rows;
SELECT is(dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b, v, 0, f)), NULL::numeric[], 'whose values come to 0, ' || rows)
	FROM (VALUES ('apart', -1, 1, 1), ('apart', -1, -1, 1), ('together', -1, 0, 2)) r (rows, b, v, f) GROUP BY rows;
-- of several norms each has rows of its own
SELECT same(f, 'i4', 'visit', '{3}') FROM form f WHERE cardinality(bins(f)) = 1;
SELECT same(f, unit, 'visit') FROM form f, unnest('{i2,i8,d,ts,b}'::text[]) unit WHERE f.name = 'count' OR f.name = 'sums' AND unit <> 'b';
-- values in place: units of each word, one that has all rows, rows that are set aside because hardly any unit comes again
SELECT same(f, unit, 'visit', '{2}') FROM form f, unnest('{i2,i8,d,ts,b}'::text[]) unit WHERE f.name IN ('no keys', 'norm without limits');
SELECT same(f, unit, '(SELECT i4 % 2 AS half, row_number() OVER () % 20000 AS anybody, visit.* FROM visit) v', '{2}', :'little')
	FROM form f, unnest('{half,anybody,"anybody, i4"}'::text[]) unit WHERE f.name = 'no keys';
SELECT same(f, 'i4', source, memory => :'little') FROM form f, unnest(ARRAY['visit_dropped', 'empty', '(SELECT * FROM visit ORDER BY noise OFFSET 0) v',
	'visit WHERE x < 500', 'visit WHERE x < 500 AND i4 IS NOT NULL']) source WHERE f.name IN ('count', 'computed', 'long keys');
-- lists of keys in the condition: near each other, far apart, with NULL, of each type, more than one, beside other conditions
SELECT same(f, 'i4', 'visit WHERE ' || condition, '{1}', :'little') FROM form f, unnest(ARRAY['k IN (0, 1, 5, 11)', 'k IN (-3, 2, 100000)', 'k IN (3, 4, NULL)',
	'k = ANY (ARRAY[-70000, 7, 63, 64, 65]) AND x < 500', 'k IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AND x IN (0, 63, 64, 128, 999) AND (flag OR y > 3)',
	'k = ANY (''{}''::int[]) OR x = 7', 'k <> ALL (''{1,2,3}'') AND k <> 7', 'i2 IN (-1::smallint, 5::smallint, 6::smallint) OR i2 IS NULL', 'i2 = ANY (''{1,2,300}''::smallint[])',
	'i8 = ANY (''{10000000000,20000000000,-9223372036854775808,9223372036854775807}'')', 'i8 = ANY (''{10000000000}'')', 'd = ANY (''{2000-01-02,2000-03-01,1999-01-01}'')',
	'd = ANY (''{infinity,-infinity,2000-01-02}'')', 'k IN (1, 2) AND k IN (2, 3)', 'i2 IN (5, 6, 70000)',
	'b = ANY (''{t}'')', 'b = ANY (''{t,f}'')', 'side = ANY (''{left,middle}'')', 'number = ANY (''{1,3,4294967295}'')', 'number = ANY (''{4294967294,4294967295}'')',
	'letter = ANY (''{a,b,~}''::"char"[])', 'ts = ANY (ARRAY[''2000-01-01 00:00:07'', ''2000-01-01 00:00:07.00001'']::timestamptz[])', 'ts = ANY (''{infinity,2000-01-01 00:01:00}'')',
	'hour = ANY (''{00:00,00:00:00.000005,24:00}'')']) condition WHERE f.name IN ('count', 'sums');
-- units of types that have no words: by bytes, by operators, and of several columns, some of them NULL
SELECT same(f, unit, 'visit') FROM form f, unnest('{t,u,doc,"b, i2, t"}'::text[]) unit
	WHERE f.name = 'count' OR f.name IN ('sums', 'codes', 'codes and values') AND unit IN ('t', 'u');
-- a unit that is a constant, as in a subquery; from 16 on nothing is grouped by one alone
SELECT same(f, unit, '(SELECT NULL::int AS nobody, ''all''::text AS everybody, visit.* FROM visit) v')
	FROM form f, unnest(CASE WHEN current_setting('server_version_num')::int < 160000 THEN '{nobody,everybody}'::text[] END || '{"everybody, i4"}'::text[]) unit
	WHERE f.name = 'sums';
-- which of the forms of equal values stands for the unit is not told
SELECT same(f, unit, 'visit', '{1}') FROM form f, unnest('{label,ci,f,nu,span,"label, i4"}'::text[]) unit
	WHERE f.name = 'count' OR f.name IN ('sums', 'codes') AND unit = 'nu';
-- in processes together
SET max_parallel_workers_per_gather = 2;
SELECT same(f, unit, 'visit', '{1}') FROM form f, unnest('{i4,t,nu,"b, i2, t"}'::text[]) unit
	WHERE f.name = 'sums' OR f.name IN ('count', 'codes', 'long keys', 'norms', 'norm of an average') AND (:long OR unit = 'i4');
SELECT matches(plan_of(together(f, 'i4', 'visit')), 'Gather.*Parallel Custom Scan \(DpBounding\)', 'workers gather together') FROM form f WHERE name = 'count';
SET max_parallel_workers_per_gather = 0;
-- plans below the node
SET enable_seqscan = off;
SELECT same(f, 'i4', 'visit WHERE i4 BETWEEN 100 AND 2000') FROM form f WHERE f.name IN ('count', 'sums', 'long keys');
SET enable_indexscan = off;
-- with expressions that are compiled
SET jit = on;
SELECT same(f, 'i4', 'visit WHERE i4 BETWEEN 100 AND 2000') FROM form f WHERE f.name = 'sums';
SET jit = off;
RESET enable_indexscan;
RESET enable_seqscan;
SELECT same(f, 'v.i4', 'visit v JOIN person USING (i4) WHERE area < 2') FROM form f WHERE f.name IN ('count', 'sums');
SELECT same(f, 'i4', 'visit_by_range') FROM form f WHERE f.name IN ('count', 'sums', 'codes', 'codes and values');
SET enable_partitionwise_aggregate = on;
SELECT same(f, 'i4', 'visit_by_range') FROM form f WHERE f.name IN ('count', 'sums', 'codes', 'codes and values');
SELECT matches(plan_of(together(f, 'i4', 'visit_by_range')), '(Custom Scan \(DpBounding\).*){3}', 'each partition is bounded by itself')
	FROM form f WHERE name = 'count';
-- PostgreSQL has each partition grouped by one of several processes
SET max_parallel_workers_per_gather = 2;
SELECT same(f, 'i4', 'visit_by_range', ARRAY[way]) FROM form f, generate_series(1, 2) way WHERE f.name = 'sums' OR f.name = 'codes' AND way = 1;
SET max_parallel_workers_per_gather = 0;
RESET enable_partitionwise_aggregate;
-- within a worker; DEBUG: debug_parallel_query from 16 on
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT same(f, 'i4', 'visit') FROM form f WHERE f.name IN ('count', 'sums');
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- arithmetic of numeric: numbers of few digits, of many, and none
CREATE TABLE amount AS
	SELECT h % 700 AS i4, h % 3 AS k, h % 4 > 0 AS flag, v[1 + h % n] AS a, v[1 + h / n % n] AS b, v[1 + (hashint4(h) & 65535) % n] AS c,
		(h % 999 - 500)::smallint AS i2, h * 30011 - 1000000000 AS i4x, h * 140737488355327 AS i8
	FROM generate_series(1, :rows / 2) g, LATERAL (SELECT hashint4(g) & 65535 AS h) s,
		LATERAL (SELECT ARRAY[0, 1, -1, 0.01, -0.05, 105000.00, 99999999.9999, 9999999999999999, 0.0001, 0.00000001, -0.0000000000000001, 0.00000000000000001, 12345678.00000001, 10000, 100000000,
			1234567890123456.7890, 4503599627370496.5, 9007199254740993, -9223372036854775808, 9223372036854775807, 1e20, -1e40, 1e300, 1e-300, 0.5, 1.5, 2.5, -2.5, 0.00048828125, 1000.00048828125,
			123.450000, 0.0, 49, 999.999, 1e15, 1e16 - 1, ('1.' || repeat('0', 70))::numeric, ('3.25' || repeat('0', 300))::numeric, 1 / 3.0, 'NaN', 'Infinity', '-Infinity', NULL] AS v) w,
		LATERAL (SELECT array_length(v, 1) AS n) z;
CREATE TABLE short_amount AS SELECT a.* FROM amount a, generate_series(1, 8) WHERE abs(a) < 1e5 AND abs(b) < 1e5 AND abs(c) < 1e5 AND scale(a) <= 4 AND scale(b) <= 4 AND scale(c) <= 4;
ANALYZE amount, short_amount;
CREATE TABLE arithmetic (vals text);
INSERT INTO arithmetic VALUES ('a'), ('a + b'), ('a - b'), ('a * b'), ('-a'), ('a * (1 - b)'), ('a * (1 - b) * (1 + c)'), ('(a + b) * (a - b) - c * c'), ('a + i2'), ('c * i4x'), ('i8 - b'), ('a * 0.1 * 0.01 * 0.001'),
	('a + 1e30'), ('a / 7'), ('dp_cdp_internal.try_add(a, dp_cdp_internal.try_multiply(b, c))'), ('dp_cdp_internal.try_subtract(a, b)'), ('dp_cdp_internal.try_divide(a, b) + c'), ('CASE WHEN flag THEN a * b END'), ('round(a, 2) + b'), ('CASE WHEN abs(a) < 1e30 THEN a::numeric(40, 2) END + b');
INSERT INTO form SELECT 'arithmetic ' || vals, 'k', '{int}', format('%1$s, %1$s, NULLIF(%1$s, ''NaN'') IS NOT NULL, (%1$s) IS NOT NULL, dp_cdp_internal.centered(%1$s, %2$s), dp_cdp_internal.bin(%1$s, %2$s)', vals, $$dp_cdp_internal.make_range(-1000, 150000, 1000, 0)$$),
	$$dp_cdp_internal.make_bound_spec(1, 3, '{31,32}', '{sum,sum,count,rows,scaled,codes}', ARRAY[dp_cdp_internal.make_grid(-200000, 1e6, 'numeric'), dp_cdp_internal.make_grid(-1e-6, 1e-7, 'numeric'), dp_cdp_internal.make_grid(0, 400, 'int'),
		dp_cdp_internal.make_grid(0, 400, 'bigint'), dp_cdp_internal.make_scaled_grid(400), dp_cdp_internal.make_grid(0, 9, 'int')], '{0,0,0,0,3,0}')$$ FROM arithmetic;
SELECT same(f, 'i4', 'amount', CASE WHEN :long THEN '{1,2}' ELSE '{2}' END::int[], :'little') FROM form f WHERE name LIKE 'arithmetic %';
-- where every number has few digits, and one by one
SELECT same(f, 'i4', 'short_amount', '{1}', :'little') FROM form f WHERE name LIKE 'arithmetic %';
SELECT same(f, 'u', '(SELECT *, row_number() OVER () AS u FROM amount) s', '{1}') FROM form f WHERE name IN ('arithmetic a * (1 - b) * (1 + c)', 'arithmetic (a + b) * (a - b) - c * c', 'arithmetic a');
SELECT same(f, 'i4', 'amount', '{1}') FROM (SELECT name, keys, types, 'a + b, a * (1 - b), a * (1 - b) * (1 + c), a * b, dp_cdp_internal.centered(a * b, dp_cdp_internal.make_range(0, 1e6, 8, 0)), a IS NOT NULL, b IS NOT NULL', 
	$$dp_cdp_internal.make_bound_spec(1, 3, '{33,34}', '{sum,sum,sum,sum,scaled,rows,count}', ARRAY[dp_cdp_internal.make_grid(-1e5, 1e6, 'numeric'), dp_cdp_internal.make_grid(-1, 1e12, 'numeric'), dp_cdp_internal.make_grid(-1e5, 1e6, 'numeric'),
		dp_cdp_internal.make_grid(-1e5, 1e20, 'numeric'), dp_cdp_internal.make_scaled_grid(400), dp_cdp_internal.make_grid(0, 400, 'bigint'), dp_cdp_internal.make_grid(0, 400, 'int')], '{0,0,0,0,5,0,0}')$$ FROM form WHERE name = 'count') AS q, LATERAL (SELECT q::form AS f) s;

-- what is nodeAgg's
SELECT unalike(plan_of(statement), '%DpBounding%', description) FROM (SELECT form.*::form AS f FROM form WHERE name = 'count') s,
	LATERAL (SELECT apart(f, 'i4', 'visit') AS a, (f).spec) a,
	LATERAL (VALUES (replace(a, 'GROUP BY i4', 'GROUP BY i4 HAVING count(*) > 1'), 'HAVING'),
		(replace(a, ', true)', ', k > (SELECT count(*) FROM empty e WHERE e.k = visit.k))'), 'a subplan in an argument'),
		(replace(replace(a, 'SELECT unit', 'SELECT largest, unit'), 'SELECT i4', 'SELECT max(x) AS largest, i4'), 'another aggregate'),
		(replace(a, ', i4, ', ', i8, '), 'a unit by which rows are not grouped'),
		(replace(a, 'true)', 'true ORDER BY x)'), 'an order of arguments'),
		(replace(a, 'true)', 'true) FILTER (WHERE flag)'), 'a filter'),
		(replace(a, ' AS v0', ' + 1 AS v0'), 'something computed of a row'),
		(replace(a, ' AS v0', ' AS v0, generate_series(1, 2)'), 'another set'),
		(replace(replace(a, '(0, state, dp_cdp', '(0, other, dp_cdp'), ' FROM visit', format(', dp_cdp_internal.bound_unit(%s, i4, k, flag) AS other FROM visit', spec)), 'two calls of bound_unit'),
		(replace(a, '(0, state, ' || spec, '(0, state, ' || replace(spec, '11,', '10,')), 'two specs'),
		(a || ' WHERE state IS NOT NULL', 'a condition of states'), (a || ' JOIN person ON i4 = unit', 'a join above'),
		(replace(a, ' FROM (', ', state IS NULL FROM ('), 'a state itself'),
		(replace(a, ' FROM (', ', (SELECT max(area) FROM person p WHERE p.i4 = unit) FROM ('), 'a subquery beside rows'),
		(a || ' ORDER BY unit', 'an order'), (a || ' LIMIT 1', 'LIMIT'), (replace(a, 'i4) units', 'i4 LIMIT 1) units'), 'LIMIT of units'),
		('SELECT DISTINCT' || substr(a, 7), 'DISTINCT'),
		(replace(a, 'GROUP BY i4', 'GROUP BY ROLLUP (i4)'), 'sets of units'),
		(format('SELECT i4, %s FROM visit GROUP BY i4', replace(row_columns(f), 'state', format('dp_cdp_internal.bound_unit(%s, i4, k, true)', spec))), 'one level'),
		(replace(a, 'AS state', 'AS state, generate_series(1, 2)'), 'a set below')) v (statement, description);
SELECT matches(plan_of(apart(f, 'i4', 'visit') || ' WHERE unit < 100'), 'DpBounding.*i4 < 100', 'a condition of units goes below') FROM form f WHERE name = 'count';
SELECT throws_ok('SELECT dp_cdp_internal.bound_unit(NULL, i4, k, true) FROM visit GROUP BY i4', '0A000', NULL, 'no spec');
PREPARE no_spec (dp_cdp_internal.bound_spec) AS SELECT dp_cdp_internal.bound_key(0, state, NULL::int) FROM (SELECT dp_cdp_internal.bound_unit($1, i4, k, true) AS state FROM visit GROUP BY i4) units;
SET plan_cache_mode = force_generic_plan;
SELECT matches(plan_of('EXECUTE no_spec (NULL)'), 'DpBounding', 'a spec that is a parameter');
SELECT throws_ok('EXECUTE no_spec (NULL)', '0A000', NULL, 'no spec, at execution');
PREPARE not_the_unit (dp_cdp_internal.bound_spec) AS SELECT dp_cdp_internal.bound_key(0, state, NULL::int) FROM (SELECT dp_cdp_internal.bound_unit($1, i8, k, true) AS state FROM visit GROUP BY i4) units;
SELECT throws_ok(format('EXECUTE not_the_unit (%s)', spec), 'XX000', 'the unit of bound_unit is not what rows are grouped by',
	'a unit by which rows are not grouped, and a generic plan') FROM form WHERE name = 'count';
RESET plan_cache_mode;
-- columns that states do not have: the same errors
SELECT throws_ok(format('SELECT * FROM (SELECT %s FROM (SELECT %s) units) q', replace(c, 'SPEC', spec), states(f, 'i4', 'visit')), 'XX000', message, message)
	FROM (SELECT form.*::form AS f, spec FROM form WHERE name = 'codes and values') s (f, spec),
	LATERAL (VALUES ('dp_cdp_internal.bound_key(2, state, NULL::text)', 'bound_state has no key 2'), ('dp_cdp_internal.bound_key(-1, state, NULL::text)', 'bound_state has no key -1'),
		('dp_cdp_internal.bound_key(0, state, NULL::int)', 'key 0 of bound_state is of type text'), ('dp_cdp_internal.bound_key(1, state, NULL::text)', 'key 1 of bound_state is of type numeric'),
		('dp_cdp_internal.bound_value(4, state, SPEC)', 'bound_state has no value 4'), ('dp_cdp_internal.bound_value(-1, state, SPEC)', 'bound_state has no value -1'),
		('dp_cdp_internal.bound_value(0, state, SPEC)', 'bound_state has no value 0'), ('dp_cdp_internal.bound_value(2, state, SPEC)', 'bound_state has no value 2'),
		('dp_cdp_internal.bound_codes(1, state, SPEC)', 'bound_state has no codes 1'), ('dp_cdp_internal.bound_codes(2, state, SPEC)', 'bound_state has no codes 2'),
		('dp_cdp_internal.bound_cut(0, state, SPEC)', 'bound_state has no total 0'), ('dp_cdp_internal.bound_cut(1, state, SPEC)', 'bound_state has no total 1'),
		('dp_cdp_internal.bound_distinct_codes(0, state, SPEC)', 'bound_state has no distinct codes 0'), 
		('dp_cdp_internal.bound_share(4, state, SPEC)', 'bound_state has no value 4'), ('dp_cdp_internal.bound_bin(0, state, SPEC)', 'bound_spec has no norm 0'),
		('dp_cdp_internal.bound_first(-1, state)', 'bound_state has no norm -1'), ('dp_cdp_internal.bound_bin(-1, state, SPEC)', 'bound_state has no norm -1'), ('dp_cdp_internal.bound_bin(1000, state, SPEC)', 'bound_state has no norm 1000')) c (c, message);

SELECT * FROM finish();
