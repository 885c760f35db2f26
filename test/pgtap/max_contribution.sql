-- dp_cdp.max_contribution: what a unit adds to all groups is scaled to a norm, of a number of rows or of what is found
-- privately first; answers, prices, noise and refusals.
-- Noise is so small that answers are compared with plain SQL: 7 standard deviations miss with probability 2.6e-12 each,
-- all answers of this file together with less than 1e-9.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop'), dp_cdp.create_dataset('persons', neighbors => 'replace_one');
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6, delta => 1e-6) FROM unnest('{shop,persons}'::text[]) d;
-- 400 customers with up to 9 rows, every 20th with 60 more; v from 0 to 10, w on both sides of 0
CREATE TABLE visits AS
	SELECT c AS customer, k, c % 11 AS v, c % 11 - 5 AS w, (c % 11)::numeric / 3 AS z, c % 2 = 0 AS even
	FROM generate_series(1, 400) c, LATERAL (SELECT 'a' AS k FROM generate_series(0, c % 7) UNION ALL SELECT 'b' FROM generate_series(1, c % 3)
		UNION ALL SELECT 'c' FROM generate_series(1, CASE WHEN c % 20 = 0 THEN 60 ELSE 0 END)) s;
ALTER TABLE visits ALTER k SET NOT NULL;
CREATE TABLE replaced AS TABLE visits;
ALTER TABLE replaced ALTER k SET NOT NULL;
CREATE TABLE nobody (LIKE visits);
SELECT dp_cdp.protect_table(t, 'shop', 'customer'), dp_cdp.set_keys(t, 'k', '{a,b,c,d}'::text[]) FROM unnest('{visits,nobody}'::regclass[]) t;
SELECT dp_cdp.protect_table('replaced', 'persons', 'customer'), dp_cdp.set_keys('replaced', 'k', '{a,b,c,d}'::text[]);
SELECT dp_cdp.set_bounds(t, 'v', 0, 10), dp_cdp.set_bounds(t, 'w', -5, 5), dp_cdp.set_bounds(t, 'z', 0, 4) FROM unnest('{visits,nobody,replaced}'::regclass[]) t;
RESET SESSION AUTHORIZATION;
ANALYZE;

-- --------------------------------------------------------------------------
-- What is asked, and the same in plain SQL
-- --------------------------------------------------------------------------

-- as the analyst: rows of key and answer
CREATE FUNCTION asked(query text) RETURNS TABLE (key text, answer float8) LANGUAGE plpgsql AS $$
BEGIN
	SET SESSION AUTHORIZATION analyst1;
	RETURN QUERY EXECUTE format('SELECT coalesce(k::text, ''none''), n::float8 FROM (%s) q (k, n)', query);
	RESET SESSION AUTHORIZATION;
END $$;
-- each unit's sum of x in each group, scaled by the norm that its sums of "weighed" have over all groups
CREATE FUNCTION held(source text, by text, weighed text, x text, norm float8) RETURNS TABLE (key text, answer float8) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('
		SELECT k, sum(n * least(1, $1 / nullif(norm, 0)))::float8 FROM (
			SELECT k, n, sqrt(sum(w ^ 2) OVER (PARTITION BY customer)) AS norm FROM (
				SELECT customer, coalesce((%s)::text, ''none'') AS k, sum(%s)::float8 AS w, sum(%s)::float8 AS n FROM %s GROUP BY 1, 2) s) s GROUP BY k', by, weighed, x, source) USING norm;
END $$;
-- in all groups, also in those without rows
CREATE FUNCTION near(contribution text, query text, truth text, tolerance float8, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wrong text;
BEGIN
	PERFORM set_config('dp_cdp.max_contribution', contribution, true);
	EXECUTE format('CREATE TEMP TABLE truth AS %s', truth);
	SELECT string_agg(format('%s: %s is %s', key, a.answer, t.answer), ', ') INTO wrong FROM asked(query) a FULL JOIN truth t USING (key)
		WHERE a.answer IS NULL OR abs(a.answer - coalesce(t.answer, 0)) > tolerance + abs(coalesce(t.answer, 0)) * 1e-5;
	DROP TABLE truth;
	RETURN is(wrong, NULL, description);
END $$;
-- standard deviations and the price, as the analyst is told
CREATE FUNCTION priced(contribution text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('dp_cdp.max_contribution', contribution, true), set_config('dp_cdp.rho', '0.005', true);
	SET SESSION AUTHORIZATION analyst1;
	SELECT string_agg(format('%s %s', name, coalesce(round(stddev::numeric, 4)::text, '?')), '; ') || '; rho ' || sum(rho) INTO result FROM dp_cdp.preview(query) WHERE item = 'aggregate';
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
CREATE FUNCTION costs(statement text, wanted text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ended record;
BEGIN
	SELECT * INTO ended FROM run_as_analyst(statement);
	RETURN is(concat_ws(' ', ended.failure, ended.cost), wanted, description);
END $$;

SELECT * FROM no_plan();

-- --------------------------------------------------------------------------
-- A number of rows: sigma is C / sqrt(2 rho), of sums times the larger bound
-- --------------------------------------------------------------------------

-- sigma is C / 100; answers are whole numbers
SET dp_cdp.rho = 5000;
SELECT near(c::text, format('SELECT %s, dp_count(*) FROM visits%s', by, clause), format('SELECT * FROM held(''visits'', %L, ''1'', ''1'', %s)', by, c), 0.07 * c + 0.6, format('rows by %s, up to %s', by, c))
	FROM unnest('{0.5,1,3,7.5,60,100}'::float8[]) c, (VALUES ('k', ' GROUP BY k'), ('NULL::text', '')) q (by, clause);
SELECT near(c::text, format('SELECT k, dp_count(*) FROM visits WHERE %s GROUP BY k', w), format('SELECT * FROM held(''visits WHERE %s'', ''k'', ''1'', ''1'', %s)', w, c), 0.07 * c + 0.6, format('rows where %s, up to %s', w, c))
	FROM unnest('{1,7.5}'::float8[]) c, unnest('{even,v > 3}'::text[]) w;
SELECT near(c::text, 'SELECT k, dp_count(*) FILTER (WHERE v > 3) FROM visits GROUP BY k', format('SELECT * FROM held(''visits WHERE v > 3'', ''k'', ''1'', ''1'', %s)', c), 0.07 * c + 0.6, format('rows with a filter, up to %s', c))
	FROM unnest('{1,7.5}'::float8[]) c;
-- without groups a unit counts once, and nothing is to be scaled
SELECT near(c::text, format('SELECT %s, dp_count(DISTINCT customer) FROM visits%s', by, clause), format('SELECT * FROM held(''(SELECT DISTINCT customer, %1$s AS g FROM visits) s'', ''g'', ''1'', ''1'', %2$s)', by, greatest(c, least)), 0.07 * c + 0.6, format('units by %s, up to %s', by, c))
	FROM unnest('{0.5,1,1.5,3}'::float8[]) c, (VALUES ('k', ' GROUP BY k', 0), ('NULL::text', '', 1)) q (by, clause, least);
SELECT near(c::text, format('SELECT %s, dp_sum(%s) FROM visits%s', by, x, clause), format('SELECT * FROM held(''visits'', %L, %L, %L, %s)', by, x, x, c * bound), 0.07 * c * bound + 0.6, format('sum of %s by %s, up to %s', x, by, c))
	FROM unnest('{0.5,3,60}'::float8[]) c, (VALUES ('k', ' GROUP BY k'), ('NULL::text', '')) q (by, clause), (VALUES ('v', 10), ('w', 5), ('z', 4)) x (x, bound);
-- rows beyond the bounds count as these, before anything is added up; totals have limits of their own
SELECT near('3', 'SELECT k, dp_sum(v, 2, 4) FROM visits GROUP BY k', 'SELECT * FROM held(''visits'', ''k'', ''greatest(2, least(4, v))'', ''greatest(2, least(4, v))'', 12)', 0.07 * 12 + 0.6, 'bounds that are written');
SELECT near('30', 'SELECT k, dp_sum(v, 0, 10, 0, 20) FROM visits GROUP BY k',
	'SELECT * FROM held(''(SELECT customer, k, least(20, sum(v)) AS t FROM visits GROUP BY customer, k) s'', ''k'', ''t'', ''t'', 300)', 0.07 * 300 + 0.6, 'limits of totals');
-- all sums of an average are scaled as the count of its rows is: its error is below 0.6 / N
SELECT near(c::text, format('SELECT k, dp_avg(%s) FROM visits WHERE k IN (''a'', ''b'', ''c'') GROUP BY k', x), format('SELECT key, t.answer / n.answer AS answer FROM held(''visits'', ''k'', ''1'', %L, %s) t JOIN held(''visits'', ''k'', ''1'', ''1'', %s) n USING (key)', x, c, c),
		0.1 * c, format('average of %s, up to %s', x, c))
	FROM unnest('{1,3,60}'::float8[]) c, unnest('{v,w,z}'::text[]) x;
SELECT near('3', 'SELECT k, dp_var_pop(v) FROM visits WHERE k IN (''a'', ''b'', ''c'') GROUP BY k', 'SELECT key, q.answer / n.answer - (t.answer / n.answer) ^ 2 AS answer FROM held(''visits'', ''k'', ''1'', ''v'', 3) t JOIN held(''visits'', ''k'', ''1'', ''v * v'', 3) q USING (key)
	JOIN held(''visits'', ''k'', ''1'', ''1'', 3) n USING (key)', 2, 'a variance');
-- rows of a histogram are scaled as rows of a count, but for those beyond 64 of a unit in a group
SELECT near(c::text, format('SELECT k, h[%s] FROM (SELECT %s AS k, dp_histogram(v, 2) AS h FROM %s%s) s', bin, by, source, clause),
		format('SELECT * FROM held(%L, %L, ''1'', ''((v >= 5)::int = %s - 1)::int'', %s)', source, by, bin, c), 0.07 * c + 0.6, format('bin %s of a histogram by %s, up to %s', bin, by, c))
	FROM unnest('{0.5,3,60}'::float8[]) c, (VALUES ('k', 'visits', ' GROUP BY k'), ('NULL::text', 'visits WHERE k <> ''c''', '')) q (by, source, clause), generate_series(1, 2) bin;
-- a total is above its limit or not, and who is in several groups has a weight in each of them
SELECT near(c::text, 'SELECT k, dp_clipped_totals(v, 0, 10, 0, 15) FROM visits WHERE k IN (''a'', ''b'', ''c'') GROUP BY k',
		format('SELECT key, a.answer / n.answer AS answer FROM held(''(SELECT customer, k, (sum(v) > 15)::int AS above FROM visits GROUP BY customer, k) s'', ''k'', ''1'', ''above'', %s) a
		JOIN held(''(SELECT DISTINCT customer, k FROM visits) s'', ''k'', ''1'', ''1'', %s) n USING (key)', c, c), 0.01 * c, format('totals that are above, up to %s', c))
	FROM unnest('{0.5,1,3}'::float8[]) c;
SELECT near(c::text, 'SELECT NULL::text, dp_clipped_totals(v, 0, 10, 0, 15) FROM visits', 'SELECT ''none'' AS key, avg((s > 15)::int) AS answer FROM (SELECT sum(v) AS s FROM visits GROUP BY customer) q', 0.01, 'of all rows, in one group')
	FROM unnest('{0.5,3}'::float8[]) c;
CREATE FUNCTION sensitive(contribution text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('dp_cdp.max_contribution', contribution, true);
	SET SESSION AUTHORIZATION analyst1;
	SELECT string_agg(coalesce(round(sensitivity::numeric, 4)::text, '?'), ' ') INTO result FROM dp_cdp.preview(query) WHERE item = 'aggregate' AND name LIKE 'dp%';
	RESET SESSION AUTHORIZATION;
	RETURN result;
END $$;
SELECT is(sensitive(c, 'SELECT dp_clipped_totals(v, 0, 10, 0, 15) FROM ' || q), sensitivity, format('totals of %s, up to %s', q, c))
	FROM (VALUES ('1', 'visits GROUP BY k', '1.0000'), ('3', 'visits GROUP BY k', '2.0000'), ('auto', 'visits GROUP BY k', '?'), ('1', 'replaced GROUP BY k', '1.4142'),
		('auto', 'visits', '1.0000'), ('3', 'replaced', '1.4142')) q (c, q, sensitivity);
SELECT is(priced('3', format('SELECT %s dp_histogram(v, 2) FROM %s', by, q)), format('dp_histogram(v, 2) %s; rho 0.005', sigma), format('noise of a histogram of %s %s', by, q))
	FROM (VALUES ('k,', 'visits GROUP BY k', '30.0000'), ('', 'visits', '30.0000'), ('k,', 'replaced GROUP BY k', '42.4264'), ('', 'replaced', '42.4264')) q (by, q, sigma);
SELECT is(priced('3', 'SELECT k, dp_count(*), dp_sum(v), dp_sum(w), dp_count(DISTINCT customer) FROM visits GROUP BY k'),
	'dp_count(*) 30.0000; dp_sum(v) 300.0000; dp_sum(w) 150.0000; dp_count(DISTINCT customer) 20.0000; rho 0.020', 'noise of groups; a unit counts once in each of 4');
SELECT is(priced('3', 'SELECT dp_count(*), dp_sum(v), dp_sum(w) FROM visits'), 'dp_count(*) 30.0000; dp_sum(v) 300.0000; dp_sum(w) 150.0000; rho 0.015', 'which is that of one');
SELECT is(priced('3', 'SELECT k, dp_count(*), dp_sum(v), dp_sum(w) FROM replaced GROUP BY k'),
	'dp_count(*) 42.4264; dp_sum(v) 424.2641; dp_sum(w) 300.0000; rho 0.015', 'a unit that is replaced: the root of 2 for one sign, 2 for both');
SELECT is(priced('3', 'SELECT dp_count(*), dp_sum(v), dp_sum(w) FROM replaced'), 'dp_count(*) 30.0000; dp_sum(v) 300.0000; dp_sum(w) 300.0000; rho 0.015', 'of one group');
SELECT is(priced('3', 'SELECT dp_sum(v, -1, 0), dp_sum(w, -5, -1) FROM replaced'), $$dp_sum(v, '-1'::integer, 0) 30.0000; dp_sum(w, '-5'::integer, '-1'::integer) 150.0000; rho 0.010$$, 'of one sign below 0');

-- --------------------------------------------------------------------------
-- With hard limits: the smaller sensitivity
-- --------------------------------------------------------------------------

SET dp_cdp.max_rows = 2;
SELECT is(priced('3', 'SELECT dp_count(*), dp_sum(v) FROM visits'), 'dp_count(*) 20.0000; dp_sum(v) 200.0000; rho 0.010', 'two rows have no norm of 3');
SELECT is(priced('1.5', 'SELECT dp_count(*), dp_sum(v) FROM visits'), 'dp_count(*) 15.0000; dp_sum(v) 150.0000; rho 0.010', 'but one of 1.5');
SELECT near('3', 'SELECT NULL::text, dp_count(*) FROM visits', 'SELECT ''none'' AS key, sum(least(n, 2)) AS answer FROM (SELECT count(*) AS n FROM visits GROUP BY customer) s', 0.8, 'no more than two rows count');
SELECT near('1.5', 'SELECT NULL::text, dp_count(*) FROM visits', 'SELECT ''none'' AS key, sum(least(n, 1.5)) AS answer FROM (SELECT count(*) AS n FROM visits GROUP BY customer) s', 0.8, 'then the norm is held to 1.5');
SET dp_cdp.max_groups = 1;
SELECT is(priced('3', 'SELECT k, dp_count(*) FROM visits GROUP BY k'), 'dp_count(*) 20.0000; rho 0.005', 'two rows in one group');
SET dp_cdp.max_contribution = 3;
SELECT ok(answer BETWEEN least - 1 AND most + 1, 'each in one of them: ' || answer) FROM asked('SELECT NULL::text, sum(n) FROM (SELECT k, dp_count(*) AS n FROM visits GROUP BY k) s'),
	(SELECT sum(least(2, least)) AS least, sum(least(2, most)) AS most FROM (SELECT min(n) AS least, max(n) AS most FROM (SELECT customer, count(*) AS n FROM visits GROUP BY customer, k) s GROUP BY customer) s) s;
RESET dp_cdp.max_groups;
RESET dp_cdp.max_rows;
-- what no norm limits is limited by max_groups and max_rows, beside what one does
SELECT near('60', 'SELECT k, n FROM (SELECT k, dp_count(*) AS n, dp_median(v) AS m, dp_histogram(v, 2) AS h FROM visits GROUP BY k) s',
	'SELECT * FROM held(''visits'', ''k'', ''1'', ''1'', 60)', 0.07 * 60 + 0.6, 'a count beside a median and a histogram');
SET dp_cdp.max_groups = 1;
SET dp_cdp.max_rows = 2;
SELECT cmp_ok((SELECT sum(answer) FROM asked('SELECT NULL::text, h[1] + h[2] FROM (SELECT k, dp_histogram(v, 2) AS h FROM visits GROUP BY k) s')), '<=', 801::float8, 'a histogram, of two rows in one group');
RESET dp_cdp.max_groups;
RESET dp_cdp.max_rows;

-- --------------------------------------------------------------------------
-- Found: with so little noise, hardly anything is cut
-- --------------------------------------------------------------------------

SELECT near('auto', format('SELECT %s, dp_count(*) FROM visits%s', by, clause), format('SELECT * FROM held(''visits'', %L, ''1'', ''1'', 1000)', by), 12, format('rows by %s, found', by))
	FROM (VALUES ('k', ' GROUP BY k'), ('NULL::text', '')) q (by, clause);
SELECT near('auto', 'SELECT k, dp_sum(w) FROM visits GROUP BY k', 'SELECT * FROM held(''visits'', ''k'', ''w'', ''w'', 10000)', 40, 'a sum, found');
SELECT near('auto', 'SELECT k, dp_avg(v) FROM visits WHERE k IN (''a'', ''b'') GROUP BY k', 'SELECT k AS key, avg(v)::float8 AS answer FROM visits WHERE k IN (''a'', ''b'') GROUP BY k', 0.5, 'an average, found');
SELECT near('', 'SELECT k, dp_count(*) FROM visits GROUP BY k', 'SELECT * FROM held(''visits'', ''k'', ''1'', ''1'', 1000)', 12, 'which is so by default');
SELECT near('auto', 'SELECT k, dp_count(*) FROM nobody GROUP BY k', 'SELECT ''a'' AS key, 0 AS answer', 0.8, 'of no rows');
SELECT near('auto', 'SELECT k, dp_count(*) FROM visits WHERE v > 100 GROUP BY k', 'SELECT ''a'' AS key, 0 AS answer', 0.8, 'of nobody');
SELECT near('auto', 'SELECT k, dp_count(*) FILTER (WHERE v > 100) FROM visits GROUP BY k', 'SELECT ''a'' AS key, 0 AS answer', 0.8, 'of rows that nobody has');
SELECT near('auto', 'SELECT k, dp_sum(0 * v, 0, 10) FROM visits GROUP BY k', 'SELECT ''a'' AS key, 0 AS answer', 8, 'of what adds up to nothing');
SELECT is((SELECT count(*) FROM asked('SELECT k, dp_count(*) FROM visits WHERE k IN (''x'') GROUP BY k')), 0::bigint, 'of no group');
-- who is in more groups than have a part in selecting keys makes none of the others be there: with a delta of 0.01 in each of 10
-- queries, of 7 kinds, more than 15 groups are shown with probability 3e-14; where noise alone showed groups they were about 80
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('lone', rho => 1e4, delta => 0.999), dp_cdp.set_budget('lone', 'analyst1', rho => 1e4, delta => 0.99) \g /dev/null
CREATE TABLE lone AS SELECT 1 AS u, g AS k, g % 2 AS half FROM generate_series(1, 10000) g UNION ALL SELECT 2, -g, g % 2 FROM generate_series(1, 10) g;
SELECT dp_cdp.protect_table('lone', 'lone', 'u') \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE lone;
CREATE FUNCTION shown(query text, settings text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	groups bigint;
	result bigint := 0;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1; SET dp_cdp.rho = 0.01; SET dp_cdp.delta = 0.01; SET dp_cdp.reuse = off; ' || settings;
	FOR i IN 1 .. 10 LOOP
		EXECUTE format('SELECT count(*) FROM (%s) q', query) INTO groups;
		result := result + groups;
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION; RESET dp_cdp.rho; RESET dp_cdp.delta; RESET dp_cdp.reuse; RESET dp_cdp.max_groups; RESET dp_cdp.max_rows; RESET dp_cdp.max_contribution';
	RETURN result;
END $$;
CREATE TABLE lone_groups AS SELECT query, settings, shown(query, settings) FROM (VALUES
	('SELECT k, count(*) FROM lone GROUP BY k', ''),
	('SELECT DISTINCT k FROM lone', ''), ('SELECT k, half, dp_sum(half, 0, 1) FROM lone GROUP BY GROUPING SETS ((k), (k, half))', ''),
	('SELECT k, count(*) FROM lone GROUP BY k', 'SET dp_cdp.max_contribution = auto; SET dp_cdp.max_groups = 2000; SET dp_cdp.max_rows = 3'),
	('SELECT k, count(DISTINCT u), count(*) FROM lone GROUP BY k', 'SET dp_cdp.max_contribution = 10'),
	('SELECT k, count(DISTINCT half), count(*) FROM lone GROUP BY k', '')) v (query, settings);
SET dp_cdp.bounding_node = off;
INSERT INTO lone_groups SELECT 'without the node', '', shown('SELECT k, count(*) FROM lone GROUP BY k', '');
RESET dp_cdp.bounding_node;
SELECT cmp_ok(sum(shown), '<=', 15::numeric, 'groups that one person alone is in: ' || string_agg(shown::text, ' ')) FROM lone_groups;
SET dp_cdp.rho = 5000;
-- keys that are selected
SELECT near(c, 'SELECT v, dp_count(*) FROM visits GROUP BY v', format('SELECT * FROM held(''visits'', ''v'', ''1'', ''1'', %s)', n), t, 'undeclared keys, ' || c) FROM (VALUES ('3', 3, 0.07 * 3 + 0.6), ('auto', 1000, 12)) c (c, n, t);
-- in workers, with little memory
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET work_mem = '64kB';
SELECT near(c, 'SELECT k, dp_count(*) FROM visits GROUP BY k', format('SELECT * FROM held(''visits'', ''k'', ''1'', ''1'', %s)', n), t, 'in workers, ' || c) FROM (VALUES ('3', 3, 0.07 * 3 + 0.6), ('auto', 1000, 12)) c (c, n, t);
RESET max_parallel_workers_per_gather;
RESET work_mem;

-- --------------------------------------------------------------------------
-- Prices: what a limit costs is a part of what the aggregate costs
-- --------------------------------------------------------------------------

RESET dp_cdp.rho;
SELECT costs(format('SET LOCAL dp_cdp.max_contribution = %s; SELECT k, %s FROM visits GROUP BY k', c, q), cost, format('%s, %s', q, c)) FROM unnest('{3,auto}'::text[]) c,
	(VALUES ('dp_count(*)', '10000'), ('dp_count(*), dp_sum(v), dp_avg(w), dp_count(*) FILTER (WHERE even)', '40000'), ('dp_count(v), dp_avg(v), dp_stddev(v)', '30000'), ('dp_median(v)', '10000')) q (q, cost);
SELECT costs(format('SET LOCAL dp_cdp.max_contribution = %s; SELECT v, dp_count(*) FROM visits GROUP BY v', c), '20000', 'with a selection of keys, ' || c) FROM unnest('{3,auto}'::text[]) c;
-- two rows of the audit, of one debit
SELECT run_as_analyst('SET LOCAL dp_cdp.max_contribution = auto; SELECT k, dp_count(*), dp_sum(v) FROM visits GROUP BY k');
SELECT is(string_agg(aggregates, '; ' ORDER BY id) || ' ' || sum(rho)::float8 || ' ' || count(DISTINCT released_at), 'limit of dp_count(*), limit of dp_sum(v); dp_count(*), dp_sum(v) 0.02 1', 'the audit has both')
	FROM (SELECT * FROM dp_cdp.releases WHERE kind <> 'guard' ORDER BY id DESC LIMIT 2) r;
-- each rho, to the last bit, down to min_rho, which is the floor of an aggregate and its limit together
SELECT costs(format('SET LOCAL dp_cdp.max_contribution = auto; SET LOCAL dp_cdp.rho = %s; SELECT dp_count(*), dp_sum(w) FROM visits', rho), (2e6 * rho::numeric)::bigint::text, 'auto at ' || rho) FROM unnest('{0.0001,0.000137,0.01,0.333333,1,17}'::text[]) rho;
SELECT costs('SET LOCAL dp_cdp.max_contribution = auto; SELECT dp_count(*) FROM visits WHERE k IN (''x'') GROUP BY k', '10000', 'of no group');

-- a budget that does not hold both holds neither
CREATE ROLE poor LOGIN;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('shop', 'poor', rho => 0.0095);
SET SESSION AUTHORIZATION poor;
SET dp_cdp.max_contribution = auto;
SELECT throws_ok('SELECT dp_count(*) FROM visits', 'ZC001', NULL, 'too little for both');
RESET SESSION AUTHORIZATION;
SELECT is(rho_spent, 0::numeric, 'is not spent') FROM dp_cdp_internal.budget WHERE role = 'poor'::regrole;

-- what max_rows cuts is a question where it is set
SELECT costs('SELECT dp_clipped_rows(*) FROM visits', 'ZC002 dp_clipped_rows(*) needs max_rows, which it tells of; ask for dp_cut(dp_count(*)) beside dp_count(*), or SET dp_cdp.max_rows to a number of rows 0', 'nothing is cut by max_rows');
SELECT costs('SET LOCAL dp_cdp.max_rows = 3; SELECT k, dp_clipped_rows(*) FROM visits GROUP BY k', '10000', 'it is, where that is set');
SELECT costs('SELECT k, dp_clipped_groups(*) FROM visits GROUP BY k', 'ZC002 dp_clipped_groups(*) needs max_groups, which it tells of; ask for dp_cut(dp_count(*)) beside dp_count(*), or SET dp_cdp.max_groups to a number of groups 0', 'nor by max_groups');
SELECT costs('SET LOCAL dp_cdp.max_groups = 3; SELECT k, dp_clipped_groups(*) FROM visits GROUP BY k', '10000', 'it is, where that is set, too');
SELECT costs('SELECT dp_clipped_totals(v) FROM visits', 'ZC004 nothing limits the totals of dp_clipped_totals(v); write dp_clipped_totals(x, lower, upper, total_lower, total_upper), or SET dp_cdp.max_rows to a number of rows 0', 'nothing limits totals');
SELECT costs('SET LOCAL dp_cdp.max_rows = 3; SELECT dp_clipped_totals(v) FROM visits', '10000', 'max_rows does');
SELECT costs('SELECT dp_count(*), dp_cut(dp_count(*)) FROM visits', '10000', 'what to ask instead');

-- --------------------------------------------------------------------------
-- What is no number of rows
-- --------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
SELECT throws_ok(format('SET dp_cdp.max_contribution = %L', v), 'ZC004', 'dp_cdp.max_contribution must be auto, or a number of rows from 0.0625 to 1048576; RESET it for the dataset''s default', 'no setting: ' || v)
	FROM unnest('{0,-1,-0,0.06,1048577,1e300,1e-300,nan,inf,infinity,-inf,x,auto 3,3 rows,"3,5",--,find}'::text[]) v;
SELECT throws_ok(format('SET LOCAL dp_cdp.max_contribution = %s', v), code, NULL, v) FROM (VALUES ('-1', 'ZC004'), ('NULL', '42601')) v (v, code);
RESET SESSION AUTHORIZATION;
SELECT costs(format('SET LOCAL dp_cdp.max_contribution = %L; SELECT dp_count(*) FROM visits', v), 'ZC004 dp_cdp.max_contribution must be auto, or a number of rows from 0.0625 to 1048576; RESET it for the dataset''s default 0', 'nothing is spent: ' || v)
	FROM unnest('{0,-1,nan,infinity,x}'::text[]) v;
SELECT costs(format('SET LOCAL dp_cdp.max_contribution = %L; SELECT dp_count(*) FROM visits', v), '10000', 'a setting: ' || v) FROM unnest('{0.0625,1048576,AUTO,3.5,1e2}'::text[]) v;
SET dp_cdp.max_contribution = 1048576;
SET SESSION AUTHORIZATION analyst1;
SELECT is(norm, 1048576::float8, 'the largest limits a sum, too: ' || name) FROM dp_cdp.preview('SELECT dp_sum(w) FROM visits') WHERE item = 'aggregate';
RESET SESSION AUTHORIZATION;
RESET dp_cdp.max_contribution;
SET SESSION AUTHORIZATION owner1;
SELECT throws_ok(format('SELECT dp_cdp.%s(%L, max_contribution => %L)', f, d, v), 'ZC004', 'max_contribution must be "auto", or a number of rows from 0.0625 to 1048576, such as 20', format('no option of %s: %s', f, v))
	FROM (VALUES ('create_dataset', 'other'), ('alter_dataset', 'shop')) f (f, d), unnest('{0,-1,nan,infinity,x,""}'::text[]) v;
-- a dataset's, which a session may replace
SELECT dp_cdp.alter_dataset('shop', max_contribution => '2');
RESET SESSION AUTHORIZATION;
RESET dp_cdp.max_contribution;
SELECT is(priced('', 'SELECT k, dp_count(*) FROM visits GROUP BY k'), 'dp_count(*) 20.0000; rho 0.005', 'the dataset''s');
SELECT is(priced('5', 'SELECT k, dp_count(*) FROM visits GROUP BY k'), 'dp_count(*) 50.0000; rho 0.005', 'the session''s');

-- --------------------------------------------------------------------------
-- Plans that were made before
-- --------------------------------------------------------------------------

-- what each of them is asked with, one after the other
CREATE TABLE way (way text, settings text, wanted float8);
INSERT INTO way SELECT way, settings, CASE way WHEN 'found' THEN 3198 WHEN 'three' THEN (SELECT answer FROM held('replaced', 'NULL::text', '1', '1', 3)) ELSE (SELECT sum(least(n, 2)) FROM (SELECT count(*) AS n FROM replaced GROUP BY customer) s) END
	FROM (VALUES ('found', ''), ('three', 'SET dp_cdp.max_contribution = 3'), ('two rows', 'SET dp_cdp.max_rows = 2')) w (way, settings);
SELECT is((SELECT count(*) FROM replaced), 3198::bigint, 'rows');
CREATE FUNCTION executes(way text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	w way;
	result float8;
BEGIN
	SELECT * INTO w FROM way WHERE way.way = executes.way;
	RESET dp_cdp.max_contribution;
	RESET dp_cdp.max_rows;
	IF w.settings <> '' THEN EXECUTE w.settings; END IF;
	SET SESSION AUTHORIZATION analyst1;
	EXECUTE 'EXECUTE ' || statement INTO result;
	RESET SESSION AUTHORIZATION;
	RETURN ok(abs(result - w.wanted) < 12, format('planned when asked as %s, asked as %s: %s for %s', statement, way, result, w.wanted));
END $$;
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.rho = 5000;
SET plan_cache_mode = force_generic_plan;
PREPARE found AS SELECT dp_count(*) FROM replaced;
EXECUTE found;
SET dp_cdp.max_contribution = 3;
PREPARE three AS SELECT dp_count(*) FROM replaced;
EXECUTE three;
RESET dp_cdp.max_contribution;
SET dp_cdp.max_rows = 2;
PREPARE two_rows AS SELECT dp_count(*) FROM replaced;
EXECUTE two_rows;
RESET SESSION AUTHORIZATION;
SELECT executes(way.way, statement) FROM unnest('{found,three,two_rows}'::text[]) statement, way;
-- also where max_contribution stays as it is
SELECT executes(way, 'two_rows') FROM unnest('{two rows,found,two rows}'::text[]) way;
-- and where the dataset changes
RESET dp_cdp.max_contribution;
RESET dp_cdp.max_rows;
INSERT INTO way SELECT 'neither', '', wanted FROM way WHERE way = 'two rows';
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('persons', max_groups => 5, max_rows => 2);
RESET SESSION AUTHORIZATION;
SELECT executes('neither', statement) FROM unnest('{found,three,two_rows}'::text[]) statement;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.alter_dataset('persons', max_contribution => 'auto');
RESET SESSION AUTHORIZATION;
SELECT executes('found', statement) FROM unnest('{found,three,two_rows}'::text[]) statement;
-- one person is there, whatever the limit that is found may have cut
SELECT set_config('dp_cdp.max_contribution', 'auto', false);
SELECT is(answer, 1::float8, 'EXISTS of one person') FROM asked('SELECT NULL, (EXISTS (SELECT FROM visits WHERE v = 0 AND k = ''c''))::int');
SELECT is(answer, 0::float8, '... and of nobody') FROM asked('SELECT NULL, (EXISTS (SELECT FROM visits WHERE v = 0 AND k = ''d''))::int');
RESET dp_cdp.max_contribution;

SELECT * FROM finish();
