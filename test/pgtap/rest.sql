-- The row of groups that are not shown: dp_cdp.rest() in GROUP BY, and the setting dp_cdp.rest.
-- Noise is so small that it decides nothing: at rho 800 sigma is 0.025 of a person, or of three rows 0.08, and answers are compared rounded.  Sums
-- of values up to 10 are asked for at rho 10,000, where sigma is 0.07.
-- Groups of one person, who has one row in each, are not shown; those of five are.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('town', default_rho => 800, delta => 0.5, default_delta => 1e-14) \g /dev/null
SELECT dp_cdp.set_budget('town', 'analyst1', rho => 1e6, delta => 0.4) \g /dev/null
-- g: 'a' has 20 people, 'b' 10, NULL 6, and 'one..' one each; 30 of them.  s is declared but for 'z'
CREATE TABLE t AS SELECT u, CASE WHEN u <= 20 THEN 'a' WHEN u <= 30 THEN 'b' WHEN u <= 36 THEN NULL ELSE 'one' || u END AS g,
	(CASE u % 3 WHEN 0 THEN 'x' WHEN 1 THEN 'y' ELSE 'z' END)::varchar(3) AS s, u % 10 AS x, u % 2 = 0 AS even, u::numeric / 2 AS h,
	date '2025-01-01' + CASE WHEN u <= 30 THEN 0 ELSE u END AS d
	FROM generate_series(1, 66) u;
ALTER TABLE t ALTER s SET NOT NULL;
CREATE TABLE by_row AS TABLE t;
SELECT dp_cdp.protect_table('t', 'town', 'u'), dp_cdp.protect_table('by_row', 'town', each_row => true) \g /dev/null
SELECT dp_cdp.set_bounds(t, 'x', 0, 10), dp_cdp.set_keys(t, 's', '{x,y}'::varchar[]) FROM unnest('{t,by_row}'::regclass[]) t \g /dev/null
CREATE TABLE public_towns (g text, mayor text);
INSERT INTO public_towns VALUES ('a', 'ann'), ('one40', 'bob');
GRANT SELECT ON public_towns TO analyst1;
RESET SESSION AUTHORIZATION;
ANALYZE;

-- the rows of an answer, in an order of their own, and what they cost in releases of one aggregate
CREATE FUNCTION asked(query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
	line record;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	FOR line IN EXECUTE query LOOP
		answer := answer || trim('()' FROM line::text);
	END LOOP;
	RESET SESSION AUTHORIZATION;
	RESET dp_cdp.rest; RESET dp_cdp.rest_label; RESET dp_cdp.rho; RESET dp_cdp.target_error; RESET dp_cdp.find_bounds;
	RETURN (SELECT string_agg(a, ' ' ORDER BY a) FROM unnest(answer) a);
END $$;
CREATE FUNCTION price(query text, settings text DEFAULT '') RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	before bigint := spent();
BEGIN
	PERFORM asked(query, settings);
	RETURN (spent() - before) / 800e6;
END $$;

SELECT * FROM no_plan();

-- --------------------------------------------------------------------------
-- By the function
-- --------------------------------------------------------------------------

SELECT is(asked('SELECT g, dp_cdp.rest(), count(*) FROM t GROUP BY g, dp_cdp.rest()'), ',f,6 ,t,30 a,f,20 b,f,10', 'groups and their rest');
SELECT is(asked('SELECT g, dp_cdp.rest() AS r, count(*) FROM t GROUP BY 1, 2'), ',f,6 ,t,30 a,f,20 b,f,10', '... by number');
SELECT is(asked('SELECT g, count(*) FROM t GROUP BY g, dp_cdp.rest()'), ',30 ,6 a,20 b,10', '... which is not selected');
SELECT is(asked('SELECT coalesce(CASE WHEN dp_cdp.rest() THEN ''others'' ELSE g END, ''none'') AS g, count(*) FROM t GROUP BY g, dp_cdp.rest()'),
	'a,20 b,10 none,6 others,30', '... in expressions');
SELECT is(asked('SELECT g, dp_cdp.rest(), count(*) FROM t GROUP BY g'), ',f,6 a,f,20 b,f,10', 'in the select list alone it asks for nothing');
SELECT is(asked('SELECT g, count(*) FROM t GROUP BY g, dp_cdp.rest() HAVING NOT dp_cdp.rest() AND count(*) > 8'), 'a,20 b,10', 'in HAVING');
SELECT is(asked('SELECT g, count(*) FROM t GROUP BY g, dp_cdp.rest() ORDER BY dp_cdp.rest() DESC, 2 LIMIT 2'), ',30 ,6', 'in ORDER BY');
SELECT is(asked('SELECT s, dp_cdp.rest(), count(*) FROM t GROUP BY s, dp_cdp.rest()'), 'x,f,22 y,f,22', 'declared groups have none');
SELECT is(asked('SELECT dp_cdp.rest(), count(*) FROM t GROUP BY dp_cdp.rest()'), 'f,66', '... nor has a query without keys');
SELECT is(asked('SELECT even, g, dp_cdp.rest(), count(*) FROM t GROUP BY even, g, dp_cdp.rest()'),
	',,t,30 f,,f,3 f,a,f,10 f,b,f,5 t,,f,3 t,a,f,10 t,b,f,5', 'several keys have one rest');
SELECT is(asked('SELECT s, g, dp_cdp.rest(), count(*) FROM t WHERE u <= 30 GROUP BY s, g, dp_cdp.rest()'),
	',,t,10 x,a,f,6 x,b,f,4 y,a,f,7 y,b,f,3', 'rows of values that are not declared are in it');
SELECT is(asked('SELECT x, dp_cdp.rest(), count(*) FROM t WHERE u < 3 GROUP BY x, dp_cdp.rest()'), ',t,2', 'where no group is shown all are in it');
SELECT is(asked('SELECT g, dp_cdp.rest(), count(*) FROM t WHERE u < 31 GROUP BY g, dp_cdp.rest()'), ',t,0 a,f,20 b,f,10', '... none where all are');
SELECT is(asked('SELECT h, dp_cdp.rest(), sum(x), round(avg(x), 1), round(dp_median(x)), count(DISTINCT u) FROM t GROUP BY h, dp_cdp.rest()', 'SET dp_cdp.rho = 10000'),
	',t,' || (SELECT format('%s,%s,%s,%s', sum(x), round(avg(x), 1), 4, count(*)) FROM t), 'it has all aggregates');
SELECT is(asked('SELECT d, dp_cdp.rest(), count(*) FROM t GROUP BY d, dp_cdp.rest()'), ',t,36 2025-01-01,f,30', 'of dates');
SELECT is(asked('SELECT g, dp_cdp.rest(), count(*) FROM by_row GROUP BY g, dp_cdp.rest()'), ',f,6 ,t,30 a,f,20 b,f,10', 'where rows are people');
SELECT is(asked('SELECT g, dp_cdp.rest(), count(*), count(mayor) FROM t LEFT JOIN public_towns USING (g) GROUP BY g, dp_cdp.rest()'),
	',f,6,0 ,t,30,1 a,f,20,20 b,f,10,0', 'of joins');
SELECT is(asked('SELECT g, n, dp_cdp.rest(), count(*) FROM (SELECT u, g, count(*) AS n FROM t GROUP BY u, g) q GROUP BY g, n, dp_cdp.rest()'),
	',,t,30 ,1,f,6 a,1,f,20 b,1,f,10', 'of subqueries');
SELECT is(asked('SELECT g, grouping(g), dp_cdp.rest(), count(*) FROM t GROUP BY ROLLUP (g), dp_cdp.rest()'), ',0,f,6 ,0,t,30 ,1,f,66 a,0,f,20 b,0,f,10', 'of grouping sets');
SELECT is(asked('SELECT g, grouping(g), dp_cdp.rest(), count(*) FROM t GROUP BY GROUPING SETS ((g), ())'), ',0,f,6 ,1,f,66 a,0,f,20 b,0,f,10', '... which do not ask for it');
SELECT is(asked('SELECT g, dp_cdp.rest(), count(*) FROM t GROUP BY g, dp_cdp.rest() UNION ALL SELECT s, dp_cdp.rest(), count(*) FROM t WHERE u > 36 GROUP BY s, dp_cdp.rest()'),
	',f,6 ,t,30 a,f,20 b,f,10 x,f,10 y,f,10', 'in an operand of UNION ALL');
SELECT is(asked('SELECT sum(n) FROM (SELECT g, count(*) AS n FROM t GROUP BY g, dp_cdp.rest()) q'), '66', 'all add up');
SELECT is(price('SELECT g, count(DISTINCT u) FROM t GROUP BY g'), 2.0, 'groups cost one release, and their selection');
SELECT is(price('SELECT g, count(DISTINCT u) FROM t GROUP BY g, dp_cdp.rest()'), 3.0, 'their rest costs one more');
SELECT is(price('SELECT g, count(DISTINCT u), dp_sum(x, 0, 10) FROM t GROUP BY ROLLUP (g), dp_cdp.rest()'), 7.0, '... for each aggregate');
SELECT is(asked('SELECT g, dp_cdp.rest(), round(avg(x) / 10) FROM t WHERE u > 8 GROUP BY g, dp_cdp.rest()', 'SET dp_cdp.target_error = ''20%'''),
	asked('SELECT g, dp_cdp.rest(), round(avg(x) / 10) FROM t WHERE u > 8 GROUP BY g, dp_cdp.rest()'), 'with a target of accuracy');
SELECT is(asked('SELECT g, dp_cdp.rest(), round(sum(u % 4)) FROM t GROUP BY g, dp_cdp.rest()', 'SET dp_cdp.find_bounds = on; SET dp_cdp.rho = 10000'),
	(SELECT string_agg(format('%s,%s,%s', g, r, n), ' ' ORDER BY format('%s,%s,%s', g, r, n)) FROM (SELECT CASE WHEN u <= 36 THEN g END AS g, u > 36 AS r, sum(u % 4) AS n FROM t GROUP BY 1, 2) q), 'with bounds that are found');

-- prepared, with parameters and without
SET SESSION AUTHORIZATION analyst1;
PREPARE p(int) AS SELECT g, dp_cdp.rest() AS r, count(*) AS n FROM t WHERE u > $1 GROUP BY g, dp_cdp.rest();
SET plan_cache_mode = force_generic_plan;
CREATE TEMP TABLE answers AS EXECUTE p(20);
CREATE TEMP TABLE more_answers AS EXECUTE p(30);
RESET plan_cache_mode;
SELECT is((SELECT string_agg(format('%s,%s,%s', g, r, n), ' ' ORDER BY format('%s,%s,%s', g, r, n)) FROM (TABLE answers UNION ALL TABLE more_answers) q), ',f,6 ,f,6 ,t,30 ,t,30 b,f,10', 'of a generic plan');
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT g, dp_cdp.rest() AS r, count(*) AS n FROM t WHERE u > 36 GROUP BY g, dp_cdp.rest();
SELECT is((SELECT count(*) FROM cursor_to_xml('c', 2, true, true, '')), 1::bigint, 'by a cursor');
COMMIT;
RESET SESSION AUTHORIZATION;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is(asked('SELECT g, even, dp_cdp.rest(), count(*) FROM t GROUP BY g, even, dp_cdp.rest()'), ',,t,30 ,f,f,3 ,t,f,3 a,f,f,10 a,t,f,10 b,f,f,5 b,t,f,5', 'in workers');
SELECT is(asked('SELECT g, dp_cdp.rest(), sum(x) FROM by_row GROUP BY g, dp_cdp.rest()', 'SET dp_cdp.rho = 10000'),
	(SELECT string_agg(format('%s,%s,%s', g, r, n), ' ' ORDER BY format('%s,%s,%s', g, r, n)) FROM (SELECT CASE WHEN u <= 36 THEN g END AS g, u > 36 AS r, sum(x) AS n FROM t GROUP BY 1, 2) q), '... where rows are people');
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- --------------------------------------------------------------------------
-- By the setting
-- --------------------------------------------------------------------------

CREATE FUNCTION with_rest(query text) RETURNS text LANGUAGE sql AS $$ SELECT asked(query, 'SET dp_cdp.rest = on; SET dp_cdp.rest_label = ''...'';') $$;
SELECT is(asked('SELECT g, count(*) FROM t GROUP BY g', 'SET dp_cdp.rest = on'), ',30 ,6 a,20 b,10', 'the setting adds the row');
SELECT is(with_rest('SELECT g, count(*) FROM t GROUP BY g'), ',6 ...,30 a,20 b,10', '... with a label');
SELECT is(with_rest('SELECT g, even, dp_cdp.rest(), count(*) FROM t GROUP BY g, even'), ',f,f,3 ,t,f,3 ...,,t,30 a,f,f,10 a,t,f,10 b,f,f,5 b,t,f,5', '... of texts alone');
SELECT is(with_rest('SELECT g, s, count(*) FROM t WHERE u <= 30 GROUP BY g, s'), '...,...,10 a,x,6 a,y,7 b,x,4 b,y,3', '... which fits');
SELECT is(asked('SELECT g, s, count(*) FROM t WHERE u <= 30 GROUP BY g, s', 'SET dp_cdp.rest = on; SET dp_cdp.rest_label = ''others'''), 'a,x,6 a,y,7 b,x,4 b,y,3 others,,10', '... or is NULL');
SELECT is(with_rest('SELECT s, count(*) FROM t GROUP BY s'), 'x,22 y,22', 'declared groups have none');
SELECT is(with_rest('SELECT g, count(*) FROM t GROUP BY ROLLUP (g)'), ',6 ,66 ...,30 a,20 b,10', 'of grouping sets');
SELECT is(with_rest('SELECT * FROM (SELECT g AS k, count(*) AS n FROM t GROUP BY g) q WHERE n > 8'), '...,30 a,20 b,10', 'of a subquery that is handed on');
SELECT is(with_rest('WITH q AS (SELECT g AS k, count(*) AS n FROM t GROUP BY g) SELECT k, round(n / sum(n) OVER (), 2) FROM q'), ',0.09 ...,0.45 a,0.30 b,0.15', 'of a WITH query');
SELECT is(with_rest('SELECT g, count(*) FROM t GROUP BY g UNION ALL SELECT s, count(*) FROM t GROUP BY s'), ',6 ...,30 a,20 b,10 x,22 y,22', 'of UNION ALL');
SELECT is(with_rest('SELECT count(*), sum(n) FROM (SELECT g, count(*) AS n FROM t GROUP BY g) q'), '3,36', 'not of one that is aggregated');
SELECT is(with_rest('SELECT p.g, n FROM public_towns p LEFT JOIN (SELECT g, count(*) AS n FROM t GROUP BY g) q USING (g)'), 'a,20 one40,', 'not of one that is joined');
SELECT is(with_rest('SELECT p.g FROM public_towns p WHERE p.g NOT IN (SELECT t.g FROM t WHERE u < 31 GROUP BY t.g HAVING count(*) > 0)'), 'one40', 'not in NOT IN');
SELECT is(with_rest('SELECT count(*) FROM t WHERE g IN (SELECT g FROM t GROUP BY g HAVING count(*) > 8)'), '30', 'not of what is joined with rows');
SELECT is(with_rest('SELECT g, count(*) FROM t GROUP BY g EXCEPT SELECT NULL, 6'), 'a,20 b,10', 'not of EXCEPT');
-- a plan that is kept is of the setting that holds
SET SESSION AUTHORIZATION analyst1;
PREPARE s AS SELECT g, count(*) AS n FROM t GROUP BY g;
CREATE TEMP TABLE sizes AS EXECUTE s;
SET dp_cdp.rest = on;
CREATE TEMP TABLE with_row AS EXECUTE s;
SET dp_cdp.rest = off;
CREATE TEMP TABLE without_row AS EXECUTE s;
-- ... and plans that read nothing protected are kept as they are
PREPARE bystander AS SELECT count(*) FROM pg_class WHERE oid = 1259;
CREATE FUNCTION pg_temp.is_by_index() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN EXECUTE bystander' LOOP
		plan := plan || line;
	END LOOP;
	RETURN plan ~ 'Index';
END $$;
SET plan_cache_mode = force_generic_plan;
SELECT pg_temp.is_by_index();
SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;
SET dp_cdp.rest = on; SET dp_cdp.rest_label = 'others'; SET dp_cdp.max_groups = 7; SET dp_cdp.consistent = on;
SELECT ok(pg_temp.is_by_index(), 'plans of other statements stay');
RESET dp_cdp.rest; RESET dp_cdp.rest_label; RESET dp_cdp.max_groups; RESET dp_cdp.consistent;
SELECT ok(pg_temp.is_by_index(), '... also when settings end');
RESET enable_indexscan; RESET enable_indexonlyscan; RESET enable_bitmapscan; RESET plan_cache_mode;
SELECT is((SELECT array_agg(n) FROM (SELECT (SELECT count(*) FROM sizes) UNION ALL SELECT count(*) FROM with_row UNION ALL SELECT count(*) FROM without_row) q (n)), '{3,4,3}'::bigint[], 'prepared statements follow the setting');
SELECT is(dp_cdp.rest(), false, 'in plain SQL it is false');
SELECT is((SELECT string_agg(g || r, ' ') FROM (SELECT g, dp_cdp.rest() AS r FROM public_towns GROUP BY 1, 2) q), 'afalse one40false', '... of public tables');
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- min_units, and kept answers
-- --------------------------------------------------------------------------

SELECT dp_cdp.alter_dataset('town', min_units => 8) \g /dev/null
SELECT is(asked('SELECT g, dp_cdp.rest(), count(*) FROM t GROUP BY g, dp_cdp.rest()'), ',t,36 a,f,20 b,f,10', 'groups below min_units are in the rest');
SELECT is(asked('SELECT g, dp_cdp.rest(), count(*), avg(x) FROM t WHERE u <= 36 GROUP BY g, dp_cdp.rest() HAVING dp_cdp.rest()'), ',t,,', 'a rest of fewer has no answers');
SELECT is(price('SELECT g, dp_sum(x, 0, 10) FROM t GROUP BY g, dp_cdp.rest()'), 4.0, '... by a count that is paid for');
SELECT dp_cdp.alter_dataset('town', min_units => 1, reuse => '1 day') \g /dev/null
SELECT is(price('SELECT g, sum(x) FROM t GROUP BY g'), 2.0, 'groups that are kept');
SELECT is(price('SELECT g, sum(x) FROM t GROUP BY g, dp_cdp.rest()'), 1.0, '... and their rest');
SELECT is(price('SELECT g, dp_cdp.rest(), sum(x) FROM t GROUP BY g, dp_cdp.rest()'), 0.0, '... which is kept, too');
SELECT is(price('SELECT g, sum(x) FROM t GROUP BY g', 'SET dp_cdp.rest = on'), 0.0, '... for the setting');
SELECT is(asked('SELECT g, sum(x) FROM t GROUP BY g, dp_cdp.rest()'), asked('SELECT g, sum(x) FROM t GROUP BY g, dp_cdp.rest()'), '... and is the same');
SELECT is(price('SELECT sum(x) FROM t'), 1.0, 'a total is another question');
SELECT is(price('SELECT g, s, sum(x) FROM t GROUP BY g, s, dp_cdp.rest()'), 3.0, '... and the rest of other groups');
SELECT dp_cdp.alter_dataset('town', reset => '{reuse}') \g /dev/null

-- --------------------------------------------------------------------------
-- What is told, and what is refused
-- --------------------------------------------------------------------------

CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	FOR line IN EXECUTE format('EXPLAIN %s', query) LOOP
		RETURN NEXT line;
	END LOOP;
	RESET SESSION AUTHORIZATION;
END $$;
SELECT is((SELECT string_agg(trim(l), '; ') FROM explained('SELECT g, s, count(DISTINCT u) FROM t GROUP BY g, s, dp_cdp.rest()') l WHERE l ~ 'Groups|Rho'),
	'Groups: g, s; Rho: 1600; Groups: rest of g, s; Rho: 800', 'EXPLAIN shows both');
SELECT is((SELECT string_agg(groups, '; ' ORDER BY id) FROM (SELECT id, groups FROM dp_cdp.releases WHERE groups IS NOT NULL ORDER BY id DESC LIMIT 2) r), 'g, s; rest of g, s', 'so does the audit');
SET SESSION AUTHORIZATION analyst1;
SELECT is((SELECT rho FROM dp_cdp.preview('SELECT g, count(DISTINCT u) FROM t GROUP BY g, dp_cdp.rest()') WHERE item = 'total'), 2400.0, 'previews have the price of both');
RESET SESSION AUTHORIZATION;
SELECT is((run_as_analyst(query)).failure, 'ZC002 ' || message, query) FROM (VALUES
	('SELECT count(*) FROM t WHERE dp_cdp.rest()', 'dp_cdp.rest() tells of groups, and WHERE is about rows; put it into GROUP BY, HAVING or the select list'),
	('SELECT count(*) FILTER (WHERE dp_cdp.rest()) FROM t', 'dp_cdp.rest() tells of groups, and an aggregate is of rows; write it beside the aggregate'),
	('SELECT coalesce(g, dp_cdp.rest()::text), count(*) FROM t GROUP BY 1',
		'dp_cdp.rest() is a key by itself; GROUP BY it and the key, and use both in the select list: CASE WHEN dp_cdp.rest() THEN ''others'' ELSE key END'),
	('SELECT g, dp_cdp.rest() FROM t GROUP BY g, dp_cdp.rest()', 'dp_cdp.rest() needs an aggregate of rows; add dp_count(*)'),
	('SELECT g, dp_cdp.rest() FROM (SELECT g, count(*) FROM t GROUP BY g) q',
		'dp_cdp.rest() tells of groups, and the query around it makes none; write it into the query that makes them, and read its column'))
	v (query, message);
SELECT is((run_as_analyst('SELECT u FROM t WHERE dp_cdp.rest() GROUP BY u')).cost, 0::bigint, 'nothing of it is charged');
SELECT throws_ok('SELECT dp_cdp_internal.is_shown(1, 2)', '22023', NULL, 'what tells rows of the rest cannot be called by hand');
SELECT throws_ok('SELECT dp_cdp_internal.is_shown(VARIADIC ARRAY[1, 2])', '22023', NULL, '... with an array');
SELECT throws_ok('SELECT dp_cdp_internal.is_shown()', '42883', NULL, '... or nothing');
SELECT is(spent(), (SELECT sum(rho * 1e6) FROM dp_cdp.releases)::bigint, 'balances agree with the audit');

SELECT * FROM finish();
