-- Groups by values that are equal but written differently, below and beside what
-- tells these apart: each group has its key in the shortest form, and this is what is read of
-- it.  So answers are plain SQL's over tables that have no other.

\ir shop.psql

SET SESSION AUTHORIZATION owner1;
CREATE TABLE tips (id int PRIMARY KEY, customer int NOT NULL, tip numeric NOT NULL, priced numeric(6, 2), f float8, c bpchar);
INSERT INTO tips SELECT i, i % 400, (ARRAY['1.0', '1', '2.50', '3', '1.00'])[1 + i % 5]::numeric, (ARRAY[1, 2.5])[1 + i % 2],
	(ARRAY['0', '-0', '1'])[1 + i % 3]::float8, (ARRAY['a', 'a ', 'b'])[1 + i % 3]::bpchar FROM generate_series(1, 1500) i;
-- of one customer, all of them
CREATE TABLE mixed (customer int NOT NULL, v numeric);
INSERT INTO mixed SELECT i % 300, (ARRAY['1.00', '1.0', '1'])[1 + i / 300]::numeric FROM generate_series(0, 899) i;
-- people who are numbers of no fixed scale
CREATE TABLE accounts (account numeric NOT NULL, v int, d numeric);
INSERT INTO accounts SELECT (ARRAY['1.0', '1', '2.50', '3', '1.00'])[1 + i % 5]::numeric + i % 10 * 10, i, i / 10.0 FROM generate_series(1, 60) i;
SELECT dp_cdp.protect_table('tips', 'shop', 'customer'), dp_cdp.protect_table('mixed', 'shop', 'customer'), dp_cdp.protect_table('accounts', 'shop', 'account');
CREATE VIEW short_tips AS SELECT id, customer, trim_scale(tip) AS tip, priced, f, rtrim(c)::bpchar AS c FROM tips;
CREATE VIEW short_mixed AS SELECT customer, trim_scale(v) AS v FROM mixed;
CREATE VIEW short_accounts AS SELECT trim_scale(account) AS account, v, trim_scale(d) AS d FROM accounts;
RESET SESSION AUTHORIZATION;

-- the answer is what the owner gets from tables whose values are all in the shortest form
CREATE FUNCTION as_shortest(statement text, about text DEFAULT NULL) RETURNS text LANGUAGE sql
	AS $$ SELECT is(rows_for('analyst1', statement), rows_for('owner1', regexp_replace(statement, '\m(tips|mixed|accounts)\M', 'short_\1', 'g')), coalesce(about, statement)) $$;

SELECT no_plan();

-- conditions on keys alone
SELECT as_shortest('SELECT count(*) FROM (SELECT customer, tip FROM tips GROUP BY 1, 2) s WHERE ' || condition) FROM unnest(ARRAY[
	'tip::text = ''1.0''', 'tip::text LIKE ''%.50''', 'scale(tip) = 2', 'tip::text || '''' = ''1.00''', '''<'' || tip || ''>'' = ''<1.0>''', 'tip > 0 AND tip::text <> ''1''',
	'(tip + 1)::text = ''3.50''', 'tip::text IN (''1.0'', ''3'')', 'tip = 1.00', 'trim_scale(tip)::text = ''1''']) AS condition;
SELECT as_shortest(statement) FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT DISTINCT customer, tip FROM tips) s WHERE tip::text = ''1.0''',
	'SELECT count(*) FROM (SELECT customer, tip FROM tips UNION SELECT customer, tip FROM tips) s WHERE tip::text = ''1.0''',
	'SELECT count(*) FROM (SELECT customer, tip, count(*) AS n FROM tips GROUP BY 1, 2) s WHERE tip::text = ''1.0'' AND n < 4',
	'SELECT count(*) FROM (SELECT customer, tip, count(*) AS n FROM tips GROUP BY 1, 2 HAVING tip::text = ''1.0'') s WHERE n > 3',
	'SELECT count(*) FROM (SELECT customer, tip, count(*) AS n FROM tips GROUP BY 1, 2 HAVING tip::text = ''1.0'' AND count(*) > 3) s',
	'SELECT count(*) FROM (SELECT customer, tip FROM (SELECT customer, tip FROM tips GROUP BY 1, 2) s GROUP BY 1, 2) s WHERE tip::text LIKE ''%.50''',
	'SELECT count(*) FROM (SELECT customer, t FROM (SELECT customer, tip + 1 AS t FROM tips GROUP BY 1, 2) s) s WHERE t::text = ''2.0''',
	'SELECT count(*) FROM customers c JOIN (SELECT customer, tip FROM tips GROUP BY 1, 2) s USING (customer) WHERE tip::text = ''1.0''',
	'SELECT count(*) FROM customers c LEFT JOIN (SELECT customer, tip FROM tips GROUP BY 1, 2) s USING (customer) WHERE tip::text = ''2.50''',
	'SELECT count(*) FROM customers c LEFT JOIN (SELECT customer, tip FROM tips GROUP BY 1, 2) s ON s.customer = c.customer AND tip::text = ''2.50'' WHERE tip IS NOT NULL',
	'SELECT count(*) FROM customers WHERE customer IN (SELECT customer FROM tips GROUP BY customer, tip HAVING tip::text = ''1.0'')',
	'SELECT count(*) FROM (SELECT customer, c FROM tips GROUP BY 1, 2) s WHERE octet_length(c) = 2',
	'SELECT count(*) FROM (SELECT customer, c FROM tips GROUP BY 1, 2) s WHERE c LIKE ''a ''',
	'SELECT count(*) FROM (SELECT customer, c FROM tips GROUP BY 1, 2) s WHERE c = ''a''',
	'SELECT count(*) FROM (SELECT account, count(*) FROM accounts GROUP BY 1) s WHERE account::text LIKE ''1%''',
	'SELECT count(*) FROM (SELECT account, d FROM accounts WHERE v < 5 GROUP BY 1, 2) s WHERE account::text LIKE ''1%''',
	'SELECT count(*) FROM (SELECT account, d FROM accounts WHERE v < 5 GROUP BY 2, 1) s WHERE scale(account) > 0 AND scale(d) > 0',
	'SELECT count(*) FROM (SELECT customer, priced FROM tips GROUP BY 1, 2) s WHERE priced::text = ''1.00''',
	'SELECT count(*) FROM (SELECT customer, v FROM mixed GROUP BY 1, 2) s WHERE v::text = ''1.0''',
	'SELECT count(*) FROM (SELECT customer, v, count(*) AS n FROM mixed GROUP BY 1, 2) s WHERE v::text = ''1.0'' AND n = 1']) AS statement;

-- how a group is written
SELECT as_shortest(statement) FROM unnest(ARRAY[
	'SELECT count(*) FILTER (WHERE tip::text = ''2.50'') FROM (SELECT customer, tip FROM tips GROUP BY 1, 2) s',
	'SELECT count(*) FROM (SELECT customer, tip::text AS t FROM tips GROUP BY customer, tip) s WHERE t = ''2.50''',
	'SELECT count(*) FROM (SELECT customer, tip + 1 AS t, count(*) FROM tips GROUP BY customer, tip) s WHERE t::text = ''3.50''',
	'SELECT t, count(*) FROM (SELECT customer, tip::text AS t FROM (SELECT customer, tip FROM tips WHERE tip > 2 GROUP BY 1, 2) s) s GROUP BY 1',
	'SELECT count(DISTINCT tip::text) FROM (SELECT customer, tip FROM tips WHERE tip > 2 GROUP BY 1, 2) s',
	'SELECT count(*) FROM (SELECT customer, tip FROM tips WHERE tip > 2 GROUP BY 1, 2 HAVING tip::text = ''2.50'' OR count(*) > 1000) s',
	'SELECT count(*) FROM (SELECT customer, tip, rank() OVER (PARTITION BY customer ORDER BY tip) AS r FROM tips GROUP BY 1, 2) s WHERE tip::text = ''2.50'' AND r < 3',
	'SELECT count(*) FILTER (WHERE t LIKE ''1%'') FROM (SELECT account, account::text AS t, count(*) FROM accounts GROUP BY 1) s',
	'SELECT count(*) FILTER (WHERE t LIKE ''1%'') FROM (SELECT account, d, account::text AS t FROM accounts WHERE v < 5 GROUP BY 1, 2) s',
	'SELECT count(*) FROM accounts JOIN (SELECT account, account::text AS t FROM accounts GROUP BY 1) s USING (account) WHERE t LIKE ''%1%''',
	'SELECT count(*) FILTER (WHERE octet_length(c) = 1) FROM (SELECT customer, c FROM tips WHERE c = ''b'' GROUP BY 1, 2) s',
	-- of several, one that PostgreSQL might have chosen
	'SELECT count(*) FILTER (WHERE v::text IN (''1'', ''1.0'', ''1.00'')) FROM (SELECT customer, v FROM mixed GROUP BY 1, 2) s',
	'SELECT count(*) FROM (SELECT DISTINCT v::text FROM (SELECT customer, v FROM mixed GROUP BY 1, 2) s) t',
	-- nobody looks
	'SELECT count(*) FILTER (WHERE tip > 1.00 AND round(tip) = 3) FROM (SELECT customer, tip FROM tips GROUP BY 1, 2) s']) AS statement;

-- windows over groups, and the unit as a key
SELECT as_shortest(statement) FROM unnest(ARRAY[
	'SELECT count(*) FILTER (WHERE account::text LIKE ''1%'') FROM (SELECT account, count(*) FROM accounts GROUP BY 1) s',
	'SELECT count(*) FILTER (WHERE l::text = ''2.5'') FROM (SELECT customer, lag(tip) OVER (PARTITION BY customer ORDER BY tip) AS l FROM tips GROUP BY customer, tip) s',
	'SELECT count(*) FILTER (WHERE l::text = ''2.50'') FROM (SELECT customer, lag(tip) OVER (PARTITION BY customer ORDER BY tip) AS l FROM (SELECT customer, tip FROM tips WHERE tip <> 1 GROUP BY 1, 2) g) s']) AS statement;

-- released keys
SELECT as_shortest(statement) FROM unnest(ARRAY[
	'SELECT tip, count(*) FROM tips GROUP BY 1 HAVING tip::text = ''1.0''', 'SELECT tip, count(*) FROM tips GROUP BY 1 HAVING tip::text = ''1'' AND count(*) > 1', 'SELECT tip, count(*) FROM tips GROUP BY 1 HAVING scale(tip) = 1',
	'SELECT tip, count(*) FROM tips GROUP BY 1 HAVING tip = 1.00', 'SELECT tip, count(*) FROM tips GROUP BY 1 HAVING tip::text = ''1'' OR count(*) > 2000',
	'SELECT n FROM (SELECT tip, count(*) AS n FROM tips GROUP BY 1) s WHERE tip::text = ''1''',
	'SELECT n FROM (SELECT tip, count(*) AS n FROM tips GROUP BY 1) s, (VALUES (1)) v (i) WHERE tip::text = ''2.5'' AND n > i',
	'SELECT n FROM (SELECT tip, count(*) AS n FROM tips GROUP BY 1) s JOIN (VALUES (1.0)) v (l) ON l = tip',
	'SELECT n FROM (SELECT tip, count(*) AS n FROM tips GROUP BY 1) s JOIN (VALUES (''1''), (''2.50'')) v (l) ON l = tip::text',
	'WITH s AS (SELECT tip, count(*) AS n FROM tips GROUP BY 1) SELECT n FROM s WHERE tip::text = ''2.5''']) AS statement;
SELECT is(rows_for('owner1', 'SELECT n FROM (SELECT tip, count(*) AS n FROM tips GROUP BY 1) s, (VALUES (''2.50'')) v (l) WHERE l = tip::text'), '(300)', 'who may read asks as ever');

-- a cast to numeric(p, s) fixes how its values are written
SELECT as_shortest(statement) FROM unnest(ARRAY[
	'SELECT tip::numeric(10, 2), count(*) FROM tips GROUP BY 1',
	'SELECT tip::numeric(10, 2)::text, count(*) FROM tips GROUP BY tip::numeric(10, 2)',
	'SELECT CASE WHEN tip::numeric(10, 2)::text = ''1.00'' THEN ''one'' ELSE ''more'' END, count(*) FROM tips GROUP BY tip::numeric(10, 2)',
	'SELECT t, count(*) FROM (SELECT customer, tip::numeric(10, 2) AS t FROM tips GROUP BY 1, 2) s GROUP BY 1',
	'SELECT count(*) FILTER (WHERE t::text = ''2.50'') FROM (SELECT customer, tip::numeric(10, 2) AS t FROM tips GROUP BY 1, 2) s',
	'SELECT tip::numeric(10, 2), count(*) FROM tips WHERE tip::numeric(10, 2) IN (1, 3) GROUP BY 1',
	'SELECT tip::numeric(4, 1) AS t, count(*) FROM tips WHERE tip > 2 GROUP BY 1 HAVING tip::numeric(4, 1)::text LIKE ''%.5''',
	'SELECT n FROM (SELECT tip::numeric(10, 2) AS tip, count(*) AS n FROM tips GROUP BY 1) s, (VALUES (''1.00'')) v (l) WHERE l = tip::text']) AS statement;

-- as they are shown, and computed with
SELECT is(rows_for('analyst1', statement), answer, statement) FROM (VALUES
	('SELECT tip::text, count(*) FROM tips GROUP BY tip', '(1,900) (2.5,300) (3,300)'),
	('SELECT tip || '' EUR'', count(*) FROM tips WHERE tip > 2 GROUP BY tip', '("2.5 EUR",300) ("3 EUR",300)'),
	('SELECT CASE WHEN tip = 1 THEN ''one'' ELSE tip::text END, count(*) FROM tips GROUP BY tip', '(2.5,300) (3,300) (one,900)'),
	('SELECT CASE tip WHEN 1 THEN ''one'' ELSE tip::text END, count(*) FROM tips GROUP BY tip', '(2.5,300) (3,300) (one,900)'),
	('SELECT to_char(tip, ''FM9.00'') = ''1.00'' AS one, count(*) FROM tips GROUP BY tip', '(f,300) (f,300) (t,900)'),
	('SELECT coalesce(tip::text, ''none''), tip::text IS NULL, count(*) FROM tips GROUP BY tip', '(1,f,900) (2.5,f,300) (3,f,300)'),
	('SELECT string_agg(t, '' '' ORDER BY t) FROM (SELECT tip::text AS t, count(*) FROM tips GROUP BY tip) s', '("1 2.5 3")'),
	('SELECT json_build_object(''tip'', tip, ''n'', count(*))::text FROM tips WHERE tip > 2.6 GROUP BY tip', '("{""tip"" : 3, ""n"" : 300}")'),
	('SELECT tip::text, tip, count(*) FROM tips WHERE tip < 2 GROUP BY tip::text, tip', '(1,1,300) (1.0,1,300) (1.00,1,300)')) AS q (statement, answer);
-- numbers without a fraction are written in one way
SELECT as_shortest(statement) FROM unnest(ARRAY[
	'SELECT length(floor(tip)::text), count(*) FROM tips WHERE floor(tip) IN (1, 2, 3) GROUP BY floor(tip)',
	'SELECT CASE WHEN length(k::text) = 1 THEN ''0'' || k END, count(*) FROM (SELECT round(tip) AS k FROM tips) s GROUP BY k',
	'SELECT CASE WHEN length(m::text) = 1 THEN ''0'' || m END, count(*) FROM (SELECT extract(month FROM date ''2025-01-01'' + customer % 50) AS m FROM tips) s WHERE m IN (1, 2) GROUP BY m',
	'SELECT count(*) FILTER (WHERE length(k::text) = 1) FROM (SELECT customer, ceil(tip) AS k FROM tips GROUP BY 1, 2) s']) AS statement;
SELECT as_shortest('SELECT n FROM (SELECT tip::text AS t, count(*) AS n FROM tips GROUP BY tip) s WHERE t = ''1.0''');
SELECT as_shortest('SELECT n FROM (SELECT t || ''x'' AS t, n FROM (SELECT tip::text AS t, count(*) AS n FROM tips GROUP BY tip) s) s WHERE t = ''1.0x''');
SELECT as_shortest(statement) FROM unnest(ARRAY[
	'SELECT CASE WHEN tip::text = ''1'' THEN ''one'' END, count(*) FROM tips GROUP BY tip',
	'SELECT CASE tip::text WHEN ''1'' THEN ''one'' END, count(*) FROM tips GROUP BY tip',
	'SELECT nullif(tip::text, ''1''), count(*) FROM tips GROUP BY tip',
	'SELECT length(tip::text), count(*) FROM tips GROUP BY tip',
	'SELECT scale(tip), count(*) FROM tips GROUP BY tip',
	'SELECT split_part(tip::text, ''.'', 2), count(*) FROM tips GROUP BY tip',
	'SELECT octet_length(c), count(*) FROM tips GROUP BY c',
	'SELECT CASE WHEN tip::text = ''1'' THEN 1 END, count(*) FROM tips GROUP BY ROLLUP (tip)',
	'SELECT sum(n) FILTER (WHERE tip::text = ''1'') FROM (SELECT tip, count(*) AS n FROM tips GROUP BY tip) s',
	'SELECT sum(CASE WHEN t = ''1'' THEN n END) FROM (SELECT tip::text AS t, count(*) AS n FROM tips GROUP BY tip) s',
	'SELECT CASE WHEN t = ''1x'' THEN n END FROM (SELECT t || ''x'' AS t, n FROM (SELECT tip::text AS t, count(*) AS n FROM tips GROUP BY tip) s) s',
	'SELECT t, sum(n) FROM (SELECT tip::text AS t, count(*) AS n FROM tips GROUP BY tip) s GROUP BY t HAVING t LIKE ''%5''',
	'WITH s AS (SELECT tip::text AS t, count(*) AS n FROM tips GROUP BY tip) SELECT n FROM s WHERE t = ''1''']) AS statement;
-- rows have their own form, by which they may be grouped
SELECT as_written(statement) FROM unnest(ARRAY['SELECT CASE WHEN tip::text = ''1.0'' THEN ''one'' ELSE ''more'' END, count(*) FROM tips GROUP BY 1',
	'SELECT count(*) FROM tips WHERE tip::text = ''1.0''', 'SELECT count(*) FILTER (WHERE scale(tip) = 2) FROM tips']) AS statement;

-- listed keys that a condition on how they are written excludes are no groups
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_keys('tips', 'tip', ARRAY[1.0, 2.50, 3, 4]);
RESET SESSION AUTHORIZATION;
SELECT is(rows_for('analyst1', 'SELECT tip, count(*) FROM tips WHERE ' || condition || ' GROUP BY 1'), answer, condition) FROM (VALUES
	('tip::text = ''1.0''', '(1,300)'), ('''3'' = tip::text', '(3,300)'), ('tip::text IN (''1.0'', ''3'', ''x'', NULL)', '(1,300) (3,300)'),
	('tip::text = ''x''', 'none'), ('tip::text = ''3.000''', '(3,0)'), ('tip::text <> ''3''', '(1,900) (2.5,300) (3,0) (4,0)'),
	('tip::text = ''3'' OR tip = 4', '(1,0) (2.5,0) (3,300) (4,0)')) AS q (condition, answer);

SELECT * FROM finish();
