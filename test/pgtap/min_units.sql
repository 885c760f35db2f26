-- min_units of a dataset: undeclared groups of fewer people are not shown, whatever noise says, and declared ones whose noisy
-- count of people is below it have no answers.
-- Noise is so small that it decides nothing: sigma is 0.025 of a person at rho 800, and a threshold is 7 sigma from what it is
-- compared with, or more.  All of this file together is a false alarm with probability below 1e-9.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset(d, neighbors => n, default_rho => 800, delta => 0.5, default_delta => 1e-14)
	FROM (VALUES ('town', 'add_remove'), ('replaced', 'replace_one')) v (d, n) \g /dev/null
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6, delta => 0.4) FROM unnest('{town,replaced}'::text[]) d \g /dev/null
-- group g has g people, who are in no other one; in the groups of "four" each is in four of one size.  In mix_20 nine people are in no
-- other group, and 20 in 99 more; mix_10 has 10 of the latter
CREATE TABLE alone AS SELECT g * 1000 + u AS u, g::text AS g, u % 2 AS half, u % 5 AS x FROM generate_series(1, 30) g, generate_series(1, g) u;
CREATE TABLE four AS SELECT n * 1000 + u AS u, n || '.' || t AS g, 0 AS half, u % 5 AS x FROM generate_series(1, 30) n, generate_series(1, n) u, generate_series(1, 4) t;
CREATE TABLE mixed AS SELECT u, g, 0 AS half, 1 AS x FROM (
	SELECT m * 1000 + u AS u, 'mix_' || m AS g FROM unnest('{10,20}'::int[]) m, generate_series(1, 9) u
	UNION ALL SELECT m * 1000 + 100 + u, CASE f WHEN 1 THEN 'mix_' || m ELSE m || '.' || f END FROM unnest('{10,20}'::int[]) m, generate_series(1, m) u, generate_series(1, 100) f) s;
CREATE TABLE alone_replaced AS TABLE alone;
CREATE TABLE by_row AS TABLE alone;
SELECT dp_cdp.protect_table(t, 'town', 'u') FROM unnest('{alone,four,mixed}'::regclass[]) t \g /dev/null
SELECT dp_cdp.protect_table('alone_replaced', 'replaced', 'u'), dp_cdp.protect_table('by_row', 'town', each_row => true) \g /dev/null
SELECT dp_cdp.set_bounds(t, 'x', 0, 5) FROM unnest('{alone,four,mixed,alone_replaced,by_row}'::regclass[]) t \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE;

-- sets min_units of all datasets
CREATE FUNCTION hold_to(n int) RETURNS void LANGUAGE sql AS $$ SELECT dp_cdp.alter_dataset(name, min_units => n) FROM dp_cdp.dataset $$;
-- the first of the released columns, as the analyst
CREATE FUNCTION shown(query text, settings text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; ' || settings;
	EXECUTE format('SELECT array_agg((to_jsonb(q) ->> (SELECT key FROM jsonb_object_keys(to_jsonb(q)) key WHERE key IN (''g'', ''s'') LIMIT 1))) FROM (%s) q', query) INTO answer;
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows; RESET dp_cdp.max_contribution; RESET dp_cdp.bounding_node; RESET dp_cdp.rho';
	RETURN QUERY SELECT unnest(answer);
END $$;
-- the size of the smallest group that is shown; every larger one is, too
CREATE FUNCTION smallest(query text, settings text DEFAULT '', per_size int DEFAULT 1) RETURNS text LANGUAGE sql AS $$
	WITH s AS MATERIALIZED (SELECT split_part(g, '.', 1)::int AS n, count(*) AS groups FROM shown(query, settings) g GROUP BY 1)
	SELECT CASE WHEN count(*) = 31 - min(n) AND min(groups) = per_size AND max(groups) = per_size THEN min(n)::text ELSE coalesce(string_agg(n || 'x' || groups, ' ' ORDER BY n), 'none') END FROM s $$;

SELECT * FROM no_plan();

-- --------------------------------------------------------------------------
-- Selected keys
-- --------------------------------------------------------------------------

-- with so little noise each group of two is shown
CREATE TEMP TABLE queries (n serial, query text, settings text);
INSERT INTO queries (query, settings) VALUES
	('SELECT g, count(*) FROM alone GROUP BY g', ''),
	('SELECT g, count(DISTINCT u) FROM alone GROUP BY g', ''),
	('SELECT DISTINCT g FROM alone', ''),
	('SELECT g, sum(x), avg(x) FROM alone GROUP BY g', ''),
	('SELECT g, dp_median(x) FROM alone GROUP BY g', ''),
	('SELECT g, dp_histogram(x, 5), count(DISTINCT x) FROM alone GROUP BY g', ''),
	('SELECT g, count(*) FROM alone GROUP BY g', 'SET dp_cdp.max_groups = 3; SET dp_cdp.max_rows = 2'),
	('SELECT g, count(*) FROM alone GROUP BY g', 'SET dp_cdp.max_contribution = 2'),
	('SELECT g, count(*) FROM alone GROUP BY GROUPING SETS ((g))', ''),
	('SELECT g, n FROM (SELECT g, half, count(*) AS n FROM alone GROUP BY GROUPING SETS ((g), (half))) s WHERE g IS NOT NULL', ''),
	('SELECT g, rank() OVER (ORDER BY n) FROM (SELECT g, count(*) AS n FROM alone GROUP BY g) s', ''),
	('SELECT s.g FROM generate_series(1, 30) AS s(g) WHERE s.g::text IN (SELECT a.g FROM alone a GROUP BY a.g HAVING count(*) > 0)', ''),
	('WITH w AS (SELECT g, count(*) AS n FROM alone GROUP BY g) SELECT * FROM w', ''),
	('SELECT g, count(*) FROM alone_replaced GROUP BY g', ''),
	('SELECT g, count(DISTINCT u) FROM alone_replaced GROUP BY g', ''),
	('SELECT g, count(*) FROM by_row GROUP BY g', ''),
	('SELECT g, sum(x) FROM by_row GROUP BY g', ''),
	('SELECT g, dp_median(x) FROM by_row GROUP BY g', '');
SELECT is(smallest(query, settings), '2', format('without: %s %s', query, settings)) FROM queries ORDER BY n;
SELECT hold_to(10);
SELECT is(smallest(query, settings), '11', format('with: %s %s', query, settings)) FROM queries ORDER BY n;
SELECT is(smallest(query, settings), '11', format('without the node: %s', query)) FROM queries, set_config('dp_cdp.bounding_node', 'off', false) ORDER BY n;
RESET dp_cdp.bounding_node;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is(smallest(query, settings), '11', format('in workers: %s', query)) FROM queries ORDER BY n;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- at 30, none is above it by enough
SELECT hold_to(30);
SELECT is((SELECT count(*) FROM queries, shown(query, settings)), 0::bigint, 'no group has more people than 30');
SELECT hold_to(1000000);
SELECT is((SELECT count(*) FROM queries, shown(query, settings)), 0::bigint, 'none has a million');

-- who is in 4 groups weighs a half in each: 2 of the weight 1 are 3 people, beside the 9 heaviest
SELECT hold_to(1);
CREATE TEMP TABLE of_four (query text, settings text, usual text, held text);
INSERT INTO of_four VALUES ('SELECT g, count(*) FROM four GROUP BY g', '', '3', '12'), ('SELECT DISTINCT g FROM four', '', '3', '12'),
	('SELECT g, dp_histogram(x, 5), count(DISTINCT x) FROM four GROUP BY g', '', '3', '12'), ('SELECT g, count(DISTINCT u) FROM four GROUP BY g', 'SET dp_cdp.max_groups = 4', '2', '11'),
	('SELECT g, count(*) FROM four GROUP BY g', 'SET dp_cdp.max_groups = 4; SET dp_cdp.max_rows = 1', '2', '11');
SELECT is(smallest(query, settings, 4), usual, format('in four, without: %s %s', query, settings)) FROM of_four;
SELECT hold_to(10);
SELECT is(smallest(query, settings, 4), held, format('in four: %s %s', query, settings)) FROM of_four;
SELECT is(smallest(query, settings, 4), held, format('in four, without the node: %s', query)) FROM of_four, set_config('dp_cdp.bounding_node', 'off', false);
RESET dp_cdp.bounding_node;
-- nine heavy ones are left out, and 20 of a tenth are 2; 10 are no more than one person
SELECT is((SELECT string_agg(g, ' ' ORDER BY g) FROM shown('SELECT g, count(*) FROM mixed GROUP BY g') g), 'mix_20', 'the heaviest people do not count');
SELECT hold_to(9);
SELECT is((SELECT string_agg(g, ' ' ORDER BY g) FROM shown('SELECT g, count(*) FROM mixed GROUP BY g') g WHERE g ~ 'mix'), 'mix_10 mix_20', 'but for the ninth');

-- --------------------------------------------------------------------------
-- What is told
-- --------------------------------------------------------------------------

SELECT hold_to(10);
CREATE FUNCTION explained(query text, format text DEFAULT 'text') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	FOR line IN EXECUTE format('EXPLAIN (FORMAT %s) %s', format, query) LOOP
		RETURN NEXT line;
	END LOOP;
	RESET SESSION AUTHORIZATION;
END $$;
SELECT is((SELECT string_agg(trim(l), '; ') FROM explained('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') l WHERE l ~ 'Threshold|Min Units'),
	'Threshold: 11; Min Units: 10', 'EXPLAIN has it, and a threshold for what is shown');
SELECT is((SELECT string_agg(trim(l), '; ') FROM explained('SELECT g, count(*) FROM alone GROUP BY g') l WHERE l ~ 'Threshold|Min Units'),
	'Threshold: 1.19; Min Units: 10', '... and for weights beside the heaviest');
SELECT ok((SELECT bool_or(l ~ '"Min Units": 10') FROM explained('SELECT g, count(*) FROM alone GROUP BY g', 'json') l), '... as a number');
SELECT is((SELECT min(limits) FROM dp_cdp.preview('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') WHERE name ~ 'count'), NULL, 'who may not ask is told nothing');
SET SESSION AUTHORIZATION analyst1;
SELECT is((SELECT string_agg(limits, '; ') FROM dp_cdp.preview('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') WHERE limits ~ 'at least'),
	'a unit counts in 5 groups; a group that is shown has at least 10 units', 'previews have it');
SELECT is((SELECT string_agg(limits, '; ') FROM dp_cdp.preview('SELECT g, count(*) FROM alone GROUP BY g') WHERE limits ~ 'at least'),
	'a unit in n groups weighs 1 / sqrt(n) in each; a group that is shown has at least 10 units', '... of weights, too');
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'town'), 10, 'analysts see it');
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- Kept answers
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('town', reuse => '1 day', min_units => 1) \g /dev/null
RESET SESSION AUTHORIZATION;
CREATE FUNCTION id(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	SELECT string_agg(question, ' ' ORDER BY question) INTO answer FROM dp_cdp.question_id(query);
	RESET SESSION AUTHORIZATION;
	RETURN answer;
END $$;
CREATE TEMP TABLE ids AS SELECT q, id(q) FROM unnest('{"SELECT g, count(*) FROM alone GROUP BY g","SELECT g, count(DISTINCT u) FROM alone GROUP BY g",SELECT count(*) FROM alone}'::text[]) q;
SELECT is(smallest('SELECT g, count(DISTINCT u) FROM alone GROUP BY g'), '2', 'an answer is kept');
SELECT is(run_as_analyst('SELECT g, count(DISTINCT u) FROM alone GROUP BY g')::text, '(,0)', '... and given again');
SELECT hold_to(10);
SELECT is((SELECT string_agg((id(q) = id)::text, ' ' ORDER BY q) FROM ids), 'true false false', 'it is part of questions that select keys, and of no others');
SELECT is(run_as_analyst('SELECT g, count(DISTINCT u) FROM alone GROUP BY g')::text, '(,800000000)', 'another min_units is another question');
SELECT is(smallest('SELECT g, count(DISTINCT u) FROM alone GROUP BY g'), '11', '... whose groups are fewer');
SELECT is(smallest('SELECT g, count(DISTINCT u), sum(x) FROM alone GROUP BY g'), '11', '... also where a column is bought beside it');
SELECT hold_to(1);
SELECT is((SELECT bool_and(id(q) = id) FROM ids), true, 'a former min_units is the former question');
SELECT is(smallest('SELECT g, count(DISTINCT u) FROM alone GROUP BY g') || run_as_analyst('SELECT g, count(DISTINCT u) FROM alone GROUP BY g')::text, '2(,0)', '... whose answer is there');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('town', reuse => '0') \g /dev/null
RESET SESSION AUTHORIZATION;

-- --------------------------------------------------------------------------
-- The option
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT throws_ok(format('SELECT dp_cdp.%s_dataset(%L, min_units => %s)', f, CASE f WHEN 'alter' THEN 'town' ELSE 'new' END, v), 'ZC004',
	'min_units must be between 1 and 1000000, such as 10; 1 is no limit', f || ' refuses ' || v) FROM unnest('{create,alter}'::text[]) f, unnest('{0,-1,1000001}'::int[]) v;
SELECT throws_ok($$SELECT dp_cdp.alter_dataset('town', min_units => 5, reset => ARRAY['min_units'])$$, 'ZC004', NULL, 'a value and a reset');
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'town'), 1, 'nothing has changed');
SELECT dp_cdp.create_dataset('new', min_units => 1000000), dp_cdp.create_dataset('null', min_units => NULL), dp_cdp.create_dataset('plain') \g /dev/null
SELECT is((SELECT string_agg(min_units::text, ' ' ORDER BY dataset) FROM dp_cdp.datasets WHERE dataset IN ('new', 'null', 'plain')), '1000000 1 1', 'it is 1 unless it is given');
SELECT dp_cdp.alter_dataset('new', min_units => NULL) \g /dev/null
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'new'), 1000000, 'NULL changes nothing');
SELECT dp_cdp.alter_dataset('new', reset => ARRAY['min_units']) \g /dev/null
SELECT is((SELECT min_units FROM dp_cdp.datasets WHERE dataset = 'new'), 1, 'a reset');
SET SESSION AUTHORIZATION analyst1;
SELECT throws_ok($$SELECT dp_cdp.alter_dataset('town', min_units => 1)$$, '42501', NULL, 'it is the owner''s');
RESET SESSION AUTHORIZATION;

SELECT * FROM finish();
