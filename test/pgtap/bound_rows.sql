-- Contributions of persons with many rows, gathered in passes when memory is short: with hardly any noise
-- and bounds that leave nothing out, or only what is known, private answers are those of plain SQL.
-- work_mem of 64 kB has 20,000 persons set aside in files, several times over, and so the 5,000 of "make test".

\ir size.psql
SELECT CASE WHEN :long THEN 20000 ELSE 5000 END AS persons, CASE WHEN :long THEN '{64kB,1MB,64MB}' ELSE '{64kB,64MB}' END AS memory \gset
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('clinic', max_groups => 8, max_rows => 8);
SELECT dp_cdp.create_dataset('ward', max_groups => 8, max_rows => 8);
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e6) FROM unnest('{clinic,ward}'::text[]) d;
-- persons of 8 rows in scattered order, some of nobody; up to 8 groups each
CREATE TABLE visits AS
	SELECT nullif(p, 0) AS i4, nullif(p, 0)::smallint AS i2, nullif(p, 0)::bigint * 10000000000 AS i8,
		date '2000-01-01' + nullif(p, 0) AS d, nullif(p, 0)::text AS t, nullif(p, 0)::numeric AS n,
		nullif((p + v * 3) % 11, 10) AS k, substr('abcdefghijk', 1 + (p + v * 3) % 11, 1 + v % 3) AS word,
		p % 4 = 0 AS flag, (p + v) % 2 AS x, ((p + v) % 2)::float8 AS y, nullif((p + v) % 3, 2)::numeric / 2 AS z
	FROM generate_series(0, 7) v, LATERAL (SELECT (g * 7919 + v * 13) % :persons AS p FROM generate_series(1, :persons) g) s;
CREATE TABLE many (unit int, k int NOT NULL, x int);
INSERT INTO many SELECT g % 3000, g % 3, 1 FROM generate_series(1, 90000) g;
-- more groups than are added up at once, and more units; keys that are told apart by their type, and long ones
CREATE TABLE wide (unit int, k int NOT NULL, n numeric NOT NULL, x int);
INSERT INTO wide SELECT p, (p * 7 + v) % 6000, ((p + v) % 5)::numeric / 2, v % 2
	FROM generate_series(1, :persons) p, generate_series(1, 4) v;
CREATE TABLE full_groups AS SELECT p AS unit, g AS k, r FROM generate_series(1, 5500) p, generate_series(1, 6) r, generate_series(0, 4) g;
ALTER TABLE full_groups ALTER k SET NOT NULL;
DELETE FROM full_groups WHERE unit % 11 = 0;
ALTER TABLE full_groups ADD COLUMN late int DEFAULT 1;
INSERT INTO full_groups SELECT NULL, g % 5, 1, 1 FROM generate_series(1, 1000) g;
CREATE TABLE deep AS SELECT unit, unit % 3 AS k FROM generate_series(1, :persons * 60) unit;
ALTER TABLE deep ALTER k SET NOT NULL;
CREATE TABLE long AS SELECT p AS unit, repeat(chr(97 + (p + v) % 4), 60000) AS k FROM generate_series(1, 200) p, generate_series(0, 2) v;
ALTER TABLE long ALTER k SET NOT NULL;
CREATE TABLE by_i4 AS SELECT * FROM visits;
ALTER TABLE by_i4 ALTER word SET NOT NULL, ALTER flag SET NOT NULL;
CREATE TABLE by_i2 AS SELECT * FROM visits;
CREATE TABLE by_i8 AS SELECT * FROM visits;
CREATE TABLE by_d AS SELECT * FROM visits;
CREATE TABLE by_t AS SELECT * FROM visits;
CREATE TABLE by_n AS SELECT * FROM visits;
SELECT dp_cdp.protect_table('by_' || c, 'clinic', c) FROM unnest('{i4,i2,i8,d,t,n}'::name[]) c;
SELECT dp_cdp.protect_table(t, 'clinic', 'unit') FROM unnest('{many,wide,deep,long}'::regclass[]) t;
SELECT dp_cdp.protect_table('full_groups', 'ward', 'unit');
SELECT dp_cdp.set_keys('by_' || c, 'k', ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, NULL]),
	dp_cdp.set_bounds('by_' || c, 'x', 0, 1), dp_cdp.set_bounds('by_' || c, 'y', 0, 1),
	dp_cdp.set_bounds('by_' || c, 'z', 0, 0.5) FROM unnest('{i4,i2,i8,d,t,n}'::name[]) c;
SELECT dp_cdp.set_keys('by_i4', 'word', (SELECT array_agg(DISTINCT word) FROM visits)), dp_cdp.set_keys('by_i4', 'flag', ARRAY[false, true]);
SELECT dp_cdp.set_keys('wide', 'k', (SELECT array_agg(DISTINCT k) FROM wide)), dp_cdp.set_keys('wide', 'n', ARRAY[0, 0.50, 1, 1.5, 2.0]),
	dp_cdp.set_bounds('wide', 'x', 0, 1), dp_cdp.set_keys('deep', 'k', ARRAY[0, 1, 2]), dp_cdp.set_keys('full_groups', 'k', ARRAY[0, 1, 2, 3, 4]),
	dp_cdp.set_bounds('full_groups', 'late', 0, 1),
	dp_cdp.set_keys('long', 'k', (SELECT array_agg(DISTINCT k) FROM long));
SELECT dp_cdp.set_keys('many', 'k', ARRAY[0, 1, 2]), dp_cdp.set_bounds('many', 'x', 0, 5, 0, 5);
RESET SESSION AUTHORIZATION;
ANALYZE by_i4, by_i2, by_i8, by_d, by_t, by_n, many, wide, full_groups, deep, long;

-- the answers of both, as text; private ones rounded, as noise has a deviation of
-- 0.07 at most; without empty groups
CREATE FUNCTION answers(statement text, memory text, workers int, prefix text, max_rows text) RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE t text;
BEGIN
	PERFORM set_config('work_mem', memory, true), set_config('max_parallel_workers_per_gather', workers::text, true),
		set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true),
		set_config('min_parallel_table_scan_size', '0', true);
	IF prefix <> '' THEN
		PERFORM set_config('dp_cdp.max_rows', max_rows, true),
			set_config('dp_cdp.rho', CASE max_rows WHEN '1' THEN '2000' ELSE '20000' END, true);
		SET SESSION AUTHORIZATION analyst1;
	END IF;
	EXECUTE format('SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM (%s) r WHERE a <> 0',
				   regexp_replace(statement, '@(\w+)', prefix || '\1', 'g')) INTO t;
	RESET SESSION AUTHORIZATION;
	RETURN t;
END $$;
CREATE FUNCTION same(source text, statement text, truth text, description text, max_rows text DEFAULT '1', memory text[] DEFAULT :'memory') RETURNS SETOF text
	LANGUAGE plpgsql AS $$
DECLARE
	expected text := answers(replace(truth, '@t', source), '64MB', 0, '', max_rows);
	m text;
	w int;
BEGIN
	FOREACH m IN ARRAY memory LOOP
		FOREACH w IN ARRAY '{0,3}'::int[] LOOP
			RETURN NEXT is(answers(replace(statement, '@t', source), m, w, 'dp_', max_rows), expected,
						   format('%s of %s, work_mem %s, %s workers', description, source, m, w));
		END LOOP;
	END LOOP;
END $$;

SELECT plan(CASE WHEN :long THEN 151 ELSE 101 END);

SELECT same('by_' || c, 'SELECT k, round(@count(*)) AS a FROM @t GROUP BY k',
			format('SELECT k, count(*)::float8 AS a FROM @t WHERE %I IS NOT NULL GROUP BY k', c), 'counts by a key that may be NULL')
	FROM unnest('{i4,i2,i8,d,t,n}'::name[]) c;
SELECT same('by_' || c, 'SELECT k, round(@sum(x)::numeric) AS a, round(@sum(y)::numeric) + 0 AS b, round(@sum(z) * 2) + 0 AS c,
		round(@count(*) FILTER (WHERE flag AND x > 0)) AS d, round(@count(z)) AS e FROM @t GROUP BY k',
			format('SELECT k, round(sum(x)::numeric) AS a, round(sum(y)::numeric) AS b, round(sum(z) * 2) AS c,
		count(*) FILTER (WHERE flag AND x > 0)::float8 AS d, count(z)::float8 AS e FROM @t WHERE %I IS NOT NULL GROUP BY k', c),
			'sums, filters and values that are NULL')
	FROM unnest('{i4,i8,t}'::name[]) c;
SELECT same('by_i4', 'SELECT word, round(@count(*)) AS a FROM @t GROUP BY word',
			'SELECT word, count(*)::float8 AS a FROM @t WHERE i4 IS NOT NULL GROUP BY word', 'keys of text');
SELECT same('by_i4', 'SELECT round(@count(*)) AS a, round(@count(x) FILTER (WHERE flag)) AS b FROM @t',
			'SELECT count(*)::float8 AS a, (count(x) FILTER (WHERE flag))::float8 AS b FROM @t WHERE i4 IS NOT NULL', 'no keys', '8');
SELECT same('by_i4', 'SELECT word, k, round(@sum(z) * 2) + 0 AS a FROM @t WHERE x <> 1 GROUP BY word, k',
			'SELECT word, k, round(sum(z) * 2) AS a FROM @t WHERE i4 IS NOT NULL AND x <> 1 GROUP BY word, k', 'two keys');
-- each person has 30 rows in one group, of which 8 count
SELECT same('many', 'SELECT k, round(@count(*)) AS a, round(@sum(x)::numeric) AS b, round(@sum(x, 0, 1, 0, 9)::numeric) AS c FROM @t GROUP BY k',
			'SELECT k, 8000::float8 AS a, 5000::numeric AS b, 8000::numeric AS c FROM @t GROUP BY k', 'rows beyond max_rows', '8');
-- 8 groups of each person, of which 3 count, whichever
SELECT set_config('dp_cdp.max_groups', '3', false);
SELECT same('by_' || c, 'SELECT round(sum(a)) AS a FROM (SELECT k, @count(*) AS a FROM @t GROUP BY k) s',
			format('SELECT 3 * count(DISTINCT %I)::float8 AS a FROM @t', c), 'groups beyond max_groups')
	FROM unnest('{i4,i8,t}'::name[]) c;
SELECT same('by_i4', 'SELECT round(sum(a)) AS a FROM (SELECT k, flag, @count(*) AS a FROM @t GROUP BY k, flag) s',
			'SELECT 3 * count(DISTINCT i4)::float8 AS a FROM @t', 'two keys beyond max_groups');
-- 6 rows in each of 5 groups of a person; of those that count, every row does
SELECT same('full_groups', 'SELECT round(sum(a)) AS a FROM (SELECT k, @count(*) AS a FROM @t GROUP BY k) s',
			'SELECT 3 * 6 * count(DISTINCT unit)::float8 AS a FROM @t', 'all rows of groups that count', '6');
-- a condition that drops fewer rows than groups beyond max_groups do, one that drops more, and one whose share changes on the way
SELECT same('full_groups', 'SELECT round(sum(a)) AS a FROM (SELECT k, @count(*) AS a FROM @t WHERE r <= 5 GROUP BY k) s',
			'SELECT 3 * 5 * count(DISTINCT unit)::float8 AS a FROM @t', 'a condition that few rows fail', '6');
SELECT same('full_groups', 'SELECT round(sum(a)) AS a FROM (SELECT k, @sum(late) AS a FROM @t WHERE r <= 1 GROUP BY k) s',
			'SELECT 3 * count(DISTINCT unit)::float8 AS a FROM @t', 'a condition that most rows fail', '6');
SELECT same('full_groups', 'SELECT round(sum(a)) AS a FROM (SELECT k, @count(*) AS a FROM @t WHERE unit < 2000 OR r <= 1 AND unit > 4000 GROUP BY k) s',
			'SELECT 3 * sum(CASE WHEN unit < 2000 THEN 6 WHEN unit > 4000 THEN 1 ELSE 0 END)::float8 AS a FROM (SELECT DISTINCT unit FROM @t) s',
			'a condition that most rows fail later on', '6');
-- groups that fail the condition do not count against max_groups
SELECT same('full_groups', 'SELECT k, round(@count(*)) AS a FROM @t WHERE k + unit % 2 IN (1, 3, 4) GROUP BY k',
			'SELECT k, count(*)::float8 AS a FROM @t WHERE k + unit % 2 IN (1, 3, 4) GROUP BY k', 'groups that pass the condition', '6');
RESET dp_cdp.max_groups;
SELECT same('wide', 'SELECT k, round(@count(*)) AS a, round(@sum(x)::numeric) + 0 AS b FROM @t GROUP BY k',
			'SELECT k, count(*)::float8 AS a, sum(x)::numeric AS b FROM @t GROUP BY k', '6,000 groups');
SELECT same('wide', 'SELECT trim_scale(n) AS n, round(@count(*)) AS a FROM @t GROUP BY n',
			'SELECT trim_scale(n) AS n, count(*)::float8 AS a FROM @t GROUP BY n', 'keys of numeric');
SET enable_sort = off;
SELECT same('long', 'SELECT left(k, 1) AS k, round(@count(*)) AS a FROM @t GROUP BY @t.k',
			'SELECT left(k, 1) AS k, count(*)::float8 AS a FROM @t GROUP BY @t.k', 'long keys');
RESET enable_sort;
SELECT is(answers('SELECT k, round(@count(*)) AS a FROM deep GROUP BY k', :persons / 320 || 'MB', 0, 'dp_', '1'),
		  format('(0,%1$s) (1,%1$s) (2,%1$s)', :persons * 20), 'more units than there is much memory for');

SELECT * FROM finish();
