-- What is written in other words than those of the private aggregates, and
-- means something that can be released: its answers are those of the owner's
-- plain SQL, as the noise is too small to be seen.  And refusals that write
-- out what to ask instead: that is run as it stands in the message.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL, status text NOT NULL, channel text, quantity int NOT NULL, amount numeric NOT NULL,
	day date NOT NULL, active boolean NOT NULL, props jsonb, raw json);
INSERT INTO orders SELECT i, i, (ARRAY['paid', 'open', 'returned'])[1 + i % 3], CASE WHEN i % 4 > 0 THEN (ARRAY['web', 'app'])[1 + i % 2] END,
	i % 6, i % 101, date '2025-01-01' + i % 10, i % 5 > 0,
	CASE WHEN i % 11 > 0 THEN jsonb_build_object('device', (ARRAY['ios', 'android', 'web'])[1 + i % 3], 'v', i % 4,
		'os', jsonb_build_object('name', 'x' || i % 2, 'tags', jsonb_build_array('a', i % 2, NULL))) END, '{"a": 1}'
	FROM generate_series(1, 6000) i;
SELECT dp_cdp.create_dataset('shop', default_rho => 2000, max_rows => 1, max_groups => 1);
SELECT dp_cdp.protect_table('orders', 'shop', 'customer');
CREATE TABLE words (customer int PRIMARY KEY, word text NOT NULL);
SELECT setseed(0.1);
INSERT INTO words SELECT i, (SELECT coalesce(string_agg(substr(E'ab.$^*%_\\\n', 1 + floor(random() * 10)::int + 0 * g, 1), ''), '') FROM generate_series(1, i % 7) g)
	FROM generate_series(1, 3000) i;
SELECT dp_cdp.protect_table('words', 'shop', 'customer');
SELECT dp_cdp.set_bounds('orders', 'quantity', 0, 8), dp_cdp.set_bounds('orders', 'amount', 0, 100);
SELECT dp_cdp.set_keys('orders', 'status', ARRAY['paid', 'open', 'returned']);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1000000, delta => 0.9);
CREATE VIEW v_orders AS SELECT o.*, status || '!' AS loud FROM orders o;
GRANT SELECT ON v_orders TO analyst1;
RESET SESSION AUTHORIZATION;

\ir same.psql
\ir taught.psql

SELECT no_plan();

-- ------------------------------------------------------------------------
-- quantiles
-- ------------------------------------------------------------------------

SELECT as_written('SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY quantity) FROM orders', 'percentile_disc');
SELECT as_written('SELECT percentile_disc(ARRAY[0.1, 0.4, 0.9]) WITHIN GROUP (ORDER BY quantity DESC) FROM orders', '... of several, from the largest');
SELECT as_written('SELECT status, percentile_disc(0.2) WITHIN GROUP (ORDER BY quantity DESC) FROM orders GROUP BY 1', '... by groups');
SELECT as_written('SELECT round(percentile_cont(0.2) WITHIN GROUP (ORDER BY quantity DESC)) AS p FROM orders', 'percentile_cont from the largest');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY status) FROM orders WHERE amount < 80 AND id > 2', 'the mode of declared keys');
SELECT as_written('SELECT active, mode() WITHIN GROUP (ORDER BY status DESC) FROM orders GROUP BY 1', '... by groups');
SELECT as_written('SELECT status, mode() WITHIN GROUP (ORDER BY active) FROM orders GROUP BY 1', '... of a boolean');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY quantity) FROM orders WHERE quantity BETWEEN 2 AND 5 AND id % 7 < quantity', '... of values that a condition lists');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY extract(dow FROM day)) FROM orders', '... of what has few values');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY channel) FILTER (WHERE id % 4 > 1) FROM orders WHERE channel IN (''app'', ''web'')', '... with a filter');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY status) FROM orders WHERE status = ''x'' ', '... of values that do not occur');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY CASE WHEN amount > 60 THEN ''high'' WHEN amount > 5 THEN NULL ELSE ''low'' END) FROM orders', '... not counting NULL');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY status) FROM v_orders WHERE loud <> ''paid!''  AND id > 2', '... of a view');
SELECT as_written('SELECT mode() WITHIN GROUP (ORDER BY w DESC) FROM (SELECT customer, amount > 10 AS w FROM orders) q', '... of a subquery''s column');
SELECT is(rows_for('analyst1', 'SELECT dp_mode(status), dp_mode(active), dp_margin(dp_mode(status)) < 1 FROM orders WHERE status IN (''open'', ''paid'') AND id % 3 > 0 AND id > 1'), '(open,t,t)', 'dp_mode');
SELECT matches(rows_for('analyst1', 'SELECT dp_mode(props) FROM orders'), '^ZC002 .*->> ''name''', '... of a type without an order');

SELECT matches(rows_for('analyst1', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY status) FROM orders'),
	'^ZC002 .*values of type text; give it numbers', '... of text');
SELECT matches(rows_for('analyst1', 'SELECT percentile_disc(''NaN''::float8) WITHIN GROUP (ORDER BY quantity DESC) FROM orders'),
	'^ZC004 .*is not a number from 0 to 1', '... NaN');
SELECT matches(rows_for('analyst1', 'SELECT percentile_disc(NULL::float8) WITHIN GROUP (ORDER BY quantity) FROM orders'),
	'^ZC004 .*is not a number from 0 to 1', '... NULL');

-- ------------------------------------------------------------------------
-- literals of no type
-- ------------------------------------------------------------------------

SELECT as_written('SELECT status, count(NULL) AS z, count(''x'') AS n, count(DISTINCT ''x'') AS d FROM orders GROUP BY 1', 'literals that are counted');
SELECT as_written('SELECT count(n) AS c, sum(z) AS z FROM (SELECT customer, count(''x'') AS n, count(NULL) AS z FROM orders GROUP BY 1) q', '... of a person');

-- ------------------------------------------------------------------------
-- distinct rows of values
-- ------------------------------------------------------------------------

SELECT as_written('SELECT count(DISTINCT (status, channel)) FROM orders', 'distinct pairs, with NULL');
SELECT as_written('SELECT count(DISTINCT (channel, status)), count(DISTINCT (quantity, quantity)), count(DISTINCT ROW(channel)), count(DISTINCT channel) FROM orders',
	'... in other orders, of the same, of one');
SELECT as_written('SELECT count(DISTINCT (quantity, amount)), count(DISTINCT (amount, quantity)) FROM orders', '... which are not symmetric');
SELECT matches(rows_for('analyst1', 'SELECT count(DISTINCT (status, raw)) FROM orders'), '^ZC002', '... not of json');

-- ------------------------------------------------------------------------
-- functions in FROM, and limits that limit nothing
-- ------------------------------------------------------------------------

SELECT as_written('SELECT g, count(*) FROM orders JOIN generate_series(1, 3) g ON g = quantity GROUP BY 1', 'a series');
SELECT as_written('SELECT d::date, count(o.id) FROM generate_series(timestamp ''2025-01-01'', ''2025-01-04'', ''1 day'') d
	LEFT JOIN orders o ON o.day = d::date GROUP BY 1', 'a spine of dates');
SELECT as_written('SELECT c, n, count(*) FROM orders JOIN unnest(ARRAY[''paid'', ''open'']) WITH ORDINALITY u (c, n) ON c = status GROUP BY 1, 2',
	'an array with ordinality');
SELECT as_written('SELECT count(*) FROM orders JOIN ROWS FROM (generate_series(1, 2), generate_series(3, 5)) AS r (a, b) ON quantity = b', 'ROWS FROM');
SELECT as_written('WITH n AS (SELECT 3 AS top) SELECT g, count(*) FROM orders JOIN generate_series(1, (SELECT top FROM n)) g ON g = quantity GROUP BY 1',
	'... whose argument reads a WITH query');
SELECT as_written('WITH n AS (SELECT 3 AS top) SELECT v, count(*) FROM orders JOIN (VALUES (1), ((SELECT top FROM n))) q (v) ON v = quantity GROUP BY 1',
	'... and VALUES that do');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM orders, generate_series(1, quantity) g'), '^ZC002 .*JOIN generate_series', '... not of a protected column');
SELECT as_written('SELECT count(*) FROM (SELECT * FROM orders OFFSET 0) q', 'OFFSET 0');
SELECT as_written('SELECT count(*) FROM (SELECT * FROM orders LIMIT ALL OFFSET 0::bigint) q', 'LIMIT ALL');
SELECT matches(rows_for('analyst1', 'SELECT sum(quantity) FROM (SELECT * FROM orders LIMIT ALL OFFSET 1) q'), '^ZC002 LIMIT and OFFSET', 'OFFSET 1');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM (SELECT * FROM orders LIMIT 0) q'), '^ZC002 LIMIT and OFFSET|^\(0\)$', 'LIMIT 0');

-- ------------------------------------------------------------------------
-- parts of jsonb
-- ------------------------------------------------------------------------

SELECT as_written('SELECT count(*) FROM orders WHERE props ->> ''device'' = ''ios''', 'a part');
SELECT as_written('SELECT count(*) FROM orders WHERE props -> ''os'' ->> ''name'' = ''x1'' AND props #>> ''{os,tags,0}'' = ''a''', 'parts of parts');
SELECT as_written('SELECT count(*) FROM orders WHERE (props -> ''os'' -> ''tags'' ->> 1)::int = 1 AND props -> ''os'' -> ''tags'' ->> -1 IS NULL',
	'... of arrays, from both ends');
SELECT as_written('SELECT count(*) FROM orders WHERE props #> ''{os}'' ->> ''name'' = ''x0''', '... by path');
SELECT as_written('SELECT count(*) FROM orders WHERE jsonb_extract_path_text(props, ''os'', ''name'') = ''x0''', '... as a function');
SELECT as_written('SELECT count(*) FROM orders WHERE props ->> ''none'' IS NULL', '... that is not there');
SELECT is(rows_for('analyst1', 'SELECT dp_sum((props ->> ''v'')::int, 0, 3) FROM orders'), rows_for('owner1', 'SELECT sum((props ->> ''v'')::int) FROM orders'),
	'a number in it');
SELECT as_written('SELECT props ->> ''device'', count(*) FROM orders WHERE props ->> ''device'' IN (''ios'', ''web'') GROUP BY 1', '... a key, with a list');
SELECT as_written('SELECT props ->> ''device'', count(*) FROM orders GROUP BY 1', '... a key that is selected, and its NULL');
SELECT as_written('SELECT count(*) FROM v_orders WHERE props ->> ''device'' = ''ios'' AND loud = ''paid!''', 'through a view');
SELECT as_written('SELECT count(*) FROM (SELECT p FROM (SELECT props AS p, customer FROM orders) a) b WHERE p ->> ''device'' = ''ios''', 'through subqueries');
SELECT as_written('SELECT count(props) FROM orders', 'how many there are');
SELECT as_written(format('SELECT count(*) FILTER (WHERE %1$s), count(*) FILTER (WHERE NOT %1$s), count(*) FILTER (WHERE (%1$s) IS NULL) FROM orders', c), c)
	FROM unnest(ARRAY['props @> ''{"device": "ios"}''', 'props @> ''{"v": 2}''', 'props @> ''{"v": 2.0, "device": "web"}''', 'props @> ''{"v": "2"}''', 'props @> ''{"none": null}''', 'props @> ''{}''', 'props @> ''{"os": {}}''',
		'props @> ''{"os": {"name": "x1"}}''', 'props @> ''{"os": "x1"}''', 'props -> ''os'' @> ''{"name": "x0"}''', 'props ? ''device''', 'props ? ''none''', 'props -> ''os'' ? ''tags''', 'jsonb_typeof(props) = ''object''',
		'jsonb_typeof(props -> ''os'' -> ''tags'') = ''array''', 'jsonb_array_length(props -> ''os'' -> ''tags'') >= 1', 'props ?| ARRAY[''none'', ''device'']',
		'props ?& ARRAY[''device'', ''none'']', 'props -> ''os'' ?| ARRAY[''tags'']', 'props ?& ''{}''', 'jsonb_typeof(props -> ''v'') = ''number''']) c;
SELECT is(rows_for('analyst1', 'SELECT count(*) FROM orders WHERE jsonb_array_length(props) IS NULL'), rows_for('owner1', 'SELECT count(*) FROM orders WHERE props IS NULL OR jsonb_typeof(props) <> ''array'''), 'no length of what is no array');
SELECT as_written('SELECT props ->> ''device'', count(*) FROM orders WHERE props @> ''{"device": "web"}'' GROUP BY 1', '@>, and a key');
SELECT matches(rows_for('analyst1', statement), '^ZC002 .*(jsonb?|parts?)', statement)
	FROM unnest(ARRAY['SELECT props, count(*) FROM orders GROUP BY 1',
		'SELECT props -> ''os'', count(*) FROM orders GROUP BY 1', 'SELECT count(*) FROM orders WHERE props -> ''v'' = ''1''',
		'SELECT count(*) FROM orders WHERE props @> ''{"os": {"tags": ["a"]}}''', 'SELECT count(*) FROM orders WHERE props @> props', 'SELECT count(*) FROM orders WHERE props ?| ARRAY[status]',
		'SELECT count(*) FROM orders WHERE raw ->> ''a'' = ''1''', 'SELECT count(*) FROM orders WHERE props ->> status IS NULL',
		'SELECT count(*) FROM (SELECT DISTINCT props FROM orders) q', 'SELECT count(*) FROM (SELECT customer, props FROM orders GROUP BY 1, 2) q',
		'SELECT count(*) FROM orders WHERE coalesce(props, ''{}'') ->> ''device'' = ''ios''',
		'SELECT count(*) FROM v_orders a JOIN v_orders b ON a.customer = b.customer AND a.props = b.props',
		'SELECT p, count(*) FROM (SELECT props AS p FROM orders) q GROUP BY 1']) AS statement;

-- ------------------------------------------------------------------------
-- logarithms and powers of numeric
-- ------------------------------------------------------------------------

SELECT as_written('SELECT count(*) FROM orders WHERE ' || condition, condition) FROM unnest(ARRAY['ln(amount + 1) > 2', 'log(amount + 1) >= 1', 'log10(amount + 1) < 1.5',
	'log(2, amount + 1) > 4', 'exp(amount / 100) > 2', 'power(amount, 2) > 200', 'pow(amount, 0.5) > 3', 'amount ^ 2 BETWEEN 100 AND 2500', 'floor(log(10, amount + 10)) = 2']) AS condition;
SELECT as_written('SELECT floor(ln(amount + 1)) AS k, count(*) FROM orders GROUP BY 1', 'a key');
SELECT as_written('SELECT round(avg(ln(amount + 1)), 1), round(avg(power(amount, 2)), -3), round(sum(exp(amount / 100)), -3) FROM orders', 'bounds follow');
SELECT as_written('SELECT round(avg(x), 1) FROM (SELECT customer, ln(amount + 1) AS x FROM orders) q', '... of a subquery');
SELECT is(rows_for('analyst1', 'SELECT count(*) FROM orders WHERE ln(amount - 1) > 0'), rows_for('owner1', 'SELECT count(*) FROM orders WHERE amount > 2'), 'what has none is NULL');
SELECT is(rows_for('analyst1', 'SELECT count(exp(amount * 1000)) FROM orders'), rows_for('owner1', 'SELECT count(*) FROM orders WHERE amount = 0'), '... or too large for double precision');

-- ------------------------------------------------------------------------
-- regular expressions
-- ------------------------------------------------------------------------

SELECT as_written('SELECT count(*) FROM words WHERE word ~ ''^a''', 'a beginning');
SELECT as_written('SELECT count(*) FROM words WHERE word !~ ''a.*b$''', 'no end');
SELECT as_written('SELECT status, count(*) FROM orders WHERE channel ~ ''^(web|ap.)$'' AND status !~ ''open|retur'' GROUP BY 1', 'alternatives');
SELECT as_written('SELECT count(*) FROM words WHERE word SIMILAR TO ''(a|b)%'' AND word NOT SIMILAR TO ''%.(_|b)''', 'SIMILAR TO');
-- random ones: answered as plain SQL answers them, or refused
SELECT setseed(0.2);
CREATE TABLE patterns AS SELECT i, (SELECT coalesce(string_agg((ARRAY['a', 'b', '.', '.*', '^', '$', '\.', '\$', '%', '_', '\\', '.', 'a', '*', '\n'])[1 + floor(random() * 15)::int + 0 * g], ''), '')
	FROM generate_series(1, 1 + i % 5) g) AS pattern FROM generate_series(1, 90) i;
INSERT INTO patterns SELECT i, (SELECT string_agg((ARRAY['(', '(?:', ')', '|', 'a', 'b', 'a|b', '(a|.)', '(?:b|)', '^', '$', '\.', '.*', '*', '\('])[1 + floor(random() * 15)::int + 0 * g], '')
	FROM generate_series(1, 1 + i % 6) g) AS pattern FROM generate_series(91, 300) i;
CREATE TABLE tried AS SELECT pattern, rows_for('analyst1', format('SELECT count(*) FROM words WHERE word ~ %L', pattern)) AS private,
	rows_for('owner1', format('SELECT count(*) FROM words WHERE word ~ %L', pattern)) AS plain FROM patterns;
SELECT is((SELECT string_agg(format('%s: %s %s', pattern, private, plain), ', ') FROM tried WHERE private <> plain AND private !~ '^ZC002'), NULL,
	'none is answered otherwise');
SELECT cmp_ok((SELECT count(DISTINCT private) FROM tried WHERE private !~ '^ZC002')::int, '>', 15, '... of those that are answered');
SELECT is((SELECT string_agg(pattern, ', ') FROM tried WHERE private ~ '^ZC002' AND plain !~ 'invalid regular expression'), NULL, '... nor refused that PostgreSQL takes');

-- ------------------------------------------------------------------------
-- distinct values: of released groups
-- ------------------------------------------------------------------------

SELECT as_written('SELECT ' || calls || ' FROM orders', calls) FROM unnest(ARRAY['sum(DISTINCT quantity)', 'avg(DISTINCT quantity * 2)', 'round(stddev(DISTINCT amount), 2)',
	'array_agg(DISTINCT channel ORDER BY channel DESC)', 'array_agg(DISTINCT channel), count(*)', 'jsonb_agg(DISTINCT upper(status))', 'string_agg(DISTINCT status || ''x'', '','')',
	'sum(DISTINCT quantity), sum(DISTINCT quantity + 1), count(DISTINCT quantity)', 'sum(DISTINCT quantity), array_agg(DISTINCT quantity), count(*)']) AS calls;
SELECT as_written('SELECT status, count(*), string_agg(DISTINCT channel, ''+''), array_agg(DISTINCT quantity) FROM orders WHERE amount > 3 GROUP BY 1', 'by groups');
SELECT as_written('SELECT channel, active, string_agg(DISTINCT status, '' '') || ''!'' AS m FROM orders GROUP BY 1, 2 HAVING count(*) > 700', '... with HAVING, and NULL among the groups');
SELECT as_written('SELECT status, array_agg(DISTINCT active), sum(DISTINCT quantity) FROM orders GROUP BY 1', '... of two values and nothing else');
SELECT as_written('SELECT status, rank() OVER (ORDER BY sum(DISTINCT quantity), status) FROM orders GROUP BY status ORDER BY array_agg(DISTINCT channel), 1 LIMIT (SELECT 2)', '... with windows, an order and a limit');
SET enable_mergejoin = off;
SELECT as_written('SELECT channel, count(*), array_agg(DISTINCT status) FROM orders GROUP BY 1', '... compared one by one');
RESET enable_mergejoin;
SELECT as_written('SELECT string_agg(DISTINCT o.loud, '','') AS l, count(*) FROM v_orders o', 'in a view');
SELECT as_written('SELECT max(m) FROM (SELECT active, avg(DISTINCT quantity) AS m FROM v_orders GROUP BY 1) q', 'in a subquery');
SELECT as_written('SELECT s, (SELECT string_agg(DISTINCT status, s) FROM orders) AS l FROM unnest(ARRAY[''-'', ''+'']) s', '... with what is outside of it');
SELECT as_written('SELECT s, (SELECT array_agg(DISTINCT channel) FROM orders o WHERE o.status = s) AS l FROM unnest(ARRAY[''paid'', ''x'']) s', '... for each public row');
SELECT as_written('SELECT array_agg(DISTINCT o.status) FROM orders o JOIN words w USING (customer) WHERE EXISTS (SELECT 1 FROM words v WHERE v.customer = o.customer)', 'of a join');
SELECT as_written('SELECT array_agg(DISTINCT status) FROM orders WHERE false', 'of no rows');
SELECT as_written('SELECT count(*) FROM (SELECT customer, sum(DISTINCT quantity) AS m FROM orders GROUP BY 1) q WHERE m = 3', 'of each unit it is what it was');
SELECT is(rows_for('analyst1', 'SELECT array_agg(DISTINCT word || customer) FROM words'), '()', 'words that one person has are not among them');
SELECT matches(rows_for('analyst1', statement), '^ZC002', statement) FROM unnest(ARRAY['SELECT customer, array_agg(DISTINCT status) FROM orders GROUP BY 1', 'SELECT count(*), array_agg(DISTINCT customer) FROM orders',
	'SELECT array_agg(DISTINCT id), sum(DISTINCT quantity) FROM orders', 'SELECT array_agg(DISTINCT props) FROM orders', 'SELECT status, grouping(status), array_agg(DISTINCT channel) FROM orders GROUP BY 1',
	'SELECT status, array_agg(DISTINCT channel) FROM orders GROUP BY ROLLUP (status)', 'SELECT array_agg(DISTINCT status) FILTER (WHERE active) FROM orders', 'SELECT string_agg(DISTINCT status, channel) FROM orders',
	'SELECT array_agg(DISTINCT status) FROM orders WHERE amount > (SELECT avg(amount) FROM orders)', 'SELECT array_agg(DISTINCT o.status) FROM orders o JOIN (SELECT channel, count(*) AS n FROM orders GROUP BY 1) q USING (channel) WHERE n > 9',
	'SELECT sum(DISTINCT quantity), string_agg(status, '','') FROM orders',
	'SELECT ' || (SELECT string_agg(format('sum(DISTINCT quantity + %s)', i), ', ') FROM generate_series(1, 21) i) || ' FROM orders']) AS statement;

-- ------------------------------------------------------------------------
-- refusals that teach
-- ------------------------------------------------------------------------

SELECT taught('SELECT min(status) FROM orders', 'min of text');
SELECT taught('SELECT max(o.status), count(*) FROM orders o', 'max of text');
SELECT taught('SELECT array_agg(status) FROM orders', 'array_agg');
SELECT taught('SELECT string_agg(status, '','') FROM orders', 'string_agg');
SELECT taught('SELECT mode() WITHIN GROUP (ORDER BY quantity / 4) FROM orders', 'mode without declared keys');
SELECT taught('SELECT mode() WITHIN GROUP (ORDER BY customer) FROM orders', 'mode of the unit');

SELECT taught('SELECT ' || call || ' FROM orders', call) FROM unnest(ARRAY['sum(DISTINCT customer)',
	'sum(DISTINCT quantity) FILTER (WHERE active)', 'array_agg(DISTINCT status) FILTER (WHERE active)', 'array_agg(customer)', 'array_agg(DISTINCT id)', 'json_agg(status)', 'min(upper(status))']) AS call;
SELECT matches(rows_for('analyst1', 'SELECT ' || call || ' FROM orders AS o'), 'for example SELECT', call) FROM unnest(ARRAY['bit_and(quantity)', 'json_agg(o)']) AS call;
-- aggregates of intervals, in seconds: equal by the order of intervals, in which a month has 30 days
SELECT as_written('SELECT status, round(extract(epoch FROM avg(day + interval ''7 hours'' * quantity - day)) / 3600 + 0.3) AS hours, round(extract(epoch FROM sum(day + interval ''7 hours'' * quantity - day)) / 36e5 + 3, -1) AS total FROM orders GROUP BY 1', 'averages and sums of intervals');
SELECT as_written('SELECT date_trunc(''day'', avg(age(date ''2026-04-11'', day))) AS a, date_trunc(''month'', max(d)) AS m FROM (SELECT *, age(date ''2027-02-02'', day) AS d FROM orders) q', '... with years');
SELECT as_written('SELECT round(extract(epoch FROM q) / 7200 + 0.2) AS h FROM (SELECT unnest(percentile_cont(ARRAY[0.2, 0.9]) WITHIN GROUP (ORDER BY e - s)) AS q FROM (SELECT day::timestamp AS s, day + interval ''7 hours'' * quantity AS e FROM orders) x) y', 'quantiles of intervals');
SELECT as_written('WITH g AS (SELECT coalesce(day + interval ''7 hours'' * quantity - day, ''0'') AS d FROM orders) SELECT round(extract(epoch FROM percentile_disc(0.1) WITHIN GROUP (ORDER BY d DESC)) / 7200 + 0.2) AS h, avg(d) FILTER (WHERE d > ''1 day'') > ''30 hours'' AS b FROM g', '... from the longest, of a WITH query');
SELECT matches(rows_for('analyst1', 'SELECT avg(day + interval ''25 hours'' - day) FROM orders WHERE quantity >= 0'), '1 day 0[01]:', 'written in days and hours');
SELECT as_written('SELECT count(*) FROM (SELECT customer, sum(day + interval ''7 hours'' * quantity - day) AS s, avg(day + interval ''7 hours'' * quantity - day) AS a FROM orders GROUP BY 1) q WHERE s >= interval ''21 hours'' AND a < interval ''30 hours''', 'sums and averages of one person''s intervals');
SELECT as_written('SELECT d, count(*) FROM (SELECT customer, extract(day FROM avg(day + interval ''50 hours'' * quantity - day)) AS d FROM orders GROUP BY 1) q WHERE d IN (0, 2, 4, 10) GROUP BY 1', '... whose days are counted');
-- hours beyond a day stay hours in PostgreSQL's sums, and days beyond a month days
SELECT matches(rows_for('analyst1', 'SELECT ' || call || ' FROM orders'), '^ZC002 .*; take the seconds of it, and divide them, for example SELECT extract\(epoch FROM [a-z]+\(.*\)\) / 3600 FROM orders$', call)
	FROM unnest(ARRAY['extract(hour FROM sum(day + interval ''7 hours'' * quantity - day))', 'extract(day FROM avg(interval ''7 days'' * quantity))', 'date_part(''month'', max(interval ''7 days'' * quantity))']) AS call;
SELECT as_written('SELECT extract(hour FROM max(day + interval ''7 hours'' * quantity - day)) AS h, round(extract(epoch FROM max(day + interval ''7 hours'' * quantity - day)) / 3600) AS hours FROM orders WHERE quantity < 3', '... but where they are equal');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM (SELECT customer, extract(hour FROM sum(day + interval ''7 hours'' * quantity - day)) AS h FROM orders GROUP BY 1) q WHERE h > 9'), '^ZC002 aggregate sum\(interval\) .*; aggregate extract\(epoch FROM interval\)', '... of one person');
-- 7 days, 15,000 times, are 105,000 days; in months they would be years of 365.25 days
SELECT as_written('SELECT round(extract(epoch FROM sum(interval ''7 days'' * quantity)) / 1e8) AS total, round(date_part(''epoch'', max(interval ''7 days'' * quantity)) / 86400) AS most FROM orders', 'seconds of an aggregate of intervals, which may have months');
SELECT as_written('SELECT round(extract(epoch FROM coalesce(s, ''0'')) / 1e8) AS total FROM (SELECT sum(interval ''7 days'' * quantity) AS s FROM orders) q', '... beside it, as it is written in days');
-- whole rows, which are NULL where an outer join finds none
SELECT as_written('SELECT count(o.*), count(o) FILTER (WHERE active) FROM orders o', 'counts of whole rows');
SELECT as_written('SELECT s, count(o.*) FROM (VALUES (''open''), (''lost'')) v (s) LEFT JOIN orders o ON o.status = s GROUP BY 1', '... of an outer join');
SELECT as_written('SELECT n, count(*) FROM (SELECT o.customer, count(w.*) AS n FROM orders o LEFT JOIN words w USING (customer) GROUP BY 1) q WHERE n < 2 GROUP BY 1', '... of one person''s');
-- counts of so many rows at most, as ORMs send them for a page
SELECT as_written('SELECT count(*) FROM (SELECT 1 AS one FROM orders WHERE active LIMIT 100) subquery_for_count', 'a count of rows with LIMIT');
SELECT as_written('SELECT count(*) > 5 AS b, count(1) + 1 AS n FROM (SELECT id AS col1 FROM orders ORDER BY 1 LIMIT 20 OFFSET 40) subquery HAVING count(*) > 3', '... with OFFSET');
SELECT as_written('SELECT count(*) FROM (SELECT id FROM orders OFFSET 9000) q', '... behind the last');
SELECT as_written('SELECT count(*) FROM (SELECT customer FROM orders GROUP BY customer HAVING sum(quantity) > 3 LIMIT 9) q', '... of persons');
SELECT as_written('SELECT count(count_column) FROM (SELECT 1 AS count_column FROM orders LIMIT 1000) subquery_for_count', '... of a column that is a constant');
SELECT as_written('SELECT count(count_column) FROM (SELECT id AS count_column FROM orders LIMIT 1000 OFFSET 5500) subquery_for_count', '... or never NULL');
SELECT as_written('SELECT count(n) FROM (SELECT customer, count(channel) AS n FROM orders GROUP BY 1 LIMIT 20) q', '... or a count');
SELECT matches(rows_for('analyst1', 'SELECT ' || counted || ' FROM (SELECT channel, NULL AS nothing, 1 AS one FROM orders LIMIT 100) q'), 'LIMIT and OFFSET on protected rows', 'not ' || counted)
	FROM unnest(ARRAY['count(nothing)', 'count(q)', 'count(DISTINCT one)', 'sum(one)', 'count(one) FILTER (WHERE channel = ''web'')', 'count(nullif(one, 1))']) counted;
SELECT matches(rows_for('analyst1', 'SELECT count(word) FROM (SELECT w.word FROM orders o LEFT JOIN words w USING (customer) LIMIT 100) q'), 'LIMIT and OFFSET on protected rows', 'nor what an outer join leaves NULL');
SELECT matches(rows_for('analyst1', 'SELECT count(channel) FROM (SELECT channel FROM orders LIMIT 100) q'), 'LIMIT and OFFSET on protected rows', 'values of some rows are refused');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM (SELECT quantity FROM orders LIMIT 100) q WHERE quantity > 3'), 'LIMIT and OFFSET on protected rows', '... and a condition on some rows');
SELECT is(executed_for('analyst1', 'SELECT count(*) FROM (SELECT 1 FROM orders LIMIT $1 OFFSET $2) q', arguments), answer, 'LIMIT and OFFSET by parameters: ' || arguments) FROM (VALUES ('NULL, 5990', '(10)'), ('7, NULL', '(7)'), ('-1, 0', '(0)'), ('7, -1', '(7)'), ('NULL, -1', '(6000)'), ('NULL, -9223372036854775808', '(6000)')) v (arguments, answer);
-- the first match of a pattern
SELECT as_written('SELECT (regexp_match(status, ''^(.)p''))[1] AS k, count(*) FROM orders WHERE (regexp_match(status, ''^(.)p''))[1] IN (''o'', ''x'') GROUP BY 1 HAVING count(*) > 10', 'the first match of a pattern');
SELECT as_written('SELECT count(*) FROM orders WHERE (regexp_match(status, ''r.*n''))[1] = ''return''', '... of all of it');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM orders WHERE (regexp_match(status, ''(.)(.)''))[2] = ''p'''), '^ZC002', '... not the second');
-- quantiles of one person's rows, as members of an array
CREATE TABLE drinks (customer int NOT NULL, ml int, price float8 NOT NULL);
INSERT INTO drinks SELECT i, nullif(100 * (j % (1 + i % 5)), 200), j / 2.0 FROM generate_series(1, 1000) i, generate_series(1, 1 + i % 4) j;
ALTER TABLE drinks OWNER TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.protect_table('drinks', 'shop', 'customer');
RESET SESSION AUTHORIZATION;
SELECT as_written(format('SELECT m, count(*) FROM (SELECT customer, %s AS m FROM drinks GROUP BY 1) q WHERE m IN (0, 100, 150, 250, 300) GROUP BY 1 HAVING count(*) > 10', call), call)
	FROM unnest(ARRAY['percentile_disc(0.5) WITHIN GROUP (ORDER BY ml)', 'percentile_disc(0) WITHIN GROUP (ORDER BY ml DESC)', 'percentile_disc(1.0 - 0.25) WITHIN GROUP (ORDER BY ml) FILTER (WHERE price > 0.5)',
		'percentile_cont(0.5) WITHIN GROUP (ORDER BY ml)', 'percentile_cont(0.25) WITHIN GROUP (ORDER BY ml DESC) FILTER (WHERE price < 2)', 'percentile_cont(1) WITHIN GROUP (ORDER BY ml)']) AS call;
SELECT as_written('SELECT round(avg(m) / 10) AS a FROM (SELECT customer, percentile_cont(0.9) WITHIN GROUP (ORDER BY price) * 100 AS m FROM drinks GROUP BY 1) q WHERE m BETWEEN 0 AND 200', '... of numbers');
SELECT as_written('SELECT count(*) FROM (SELECT customer, percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN price > 1 THEN ''Infinity'' ELSE price END) AS m FROM drinks GROUP BY 1) q WHERE m = ''Infinity''', '... of infinities');
SELECT as_written('SELECT count(*) FROM (SELECT customer FROM drinks GROUP BY 1 HAVING percentile_disc(0.5) WITHIN GROUP (ORDER BY ml) IS NULL) q', '... of none');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM (SELECT customer, percentile_cont(1.5) WITHIN GROUP (ORDER BY price) AS m FROM drinks GROUP BY 1) q WHERE m > 1'), '^ZC002 aggregate percentile_cont', 'no share');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM (SELECT customer, mode() WITHIN GROUP (ORDER BY ml) AS m FROM drinks GROUP BY 1) q WHERE m > 1'), 'row_number\(\) OVER \(PARTITION BY unit ORDER BY count\(\*\) DESC\)', 'a mode has a remedy ...');
SELECT as_written('SELECT ml, count(*) FROM (SELECT customer, ml, row_number() OVER (PARTITION BY customer ORDER BY count(*) DESC, ml) AS i FROM drinks GROUP BY 1, 2) q WHERE i = 1 AND ml IN (0, 100, 300) GROUP BY 1 HAVING count(*) > 10', '... which is answered');
-- a release for each group of other people's rows, with which rows are compared
SELECT as_written('SELECT status, count(*) FROM orders o WHERE quantity > (SELECT avg(quantity) FROM orders x WHERE x.status = o.status) AND customer <= 300 GROUP BY 1', 'rows above the average of their group');
SELECT as_written('SELECT count(*) FROM orders o WHERE quantity > (SELECT percentile_cont(0.2) WITHIN GROUP (ORDER BY quantity) + 0.5 FROM orders x WHERE x.status = o.status AND active) AND active AND customer <= 300', '... above a quantile');
SELECT as_written('SELECT o.status, round(sum(quantity - (SELECT avg(quantity) FROM orders x WHERE x.status = o.status)) FILTER (WHERE quantity > 2) / 100) AS s FROM orders o WHERE customer <= 300 GROUP BY 1', '... by how much, in an aggregate');
SELECT as_written('SELECT round(avg(r)) AS r FROM (SELECT customer, quantity / (SELECT avg(quantity) FROM orders x WHERE x.status = o.status) AS r FROM orders o WHERE customer <= 300) q WHERE r BETWEEN 0 AND 2', '... in a subquery');
SELECT as_written('SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM orders x WHERE x.status = o.status GROUP BY x.status HAVING avg(quantity) > 2) AND customer <= 300', '... by HAVING');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM orders x WHERE x.status = o.status)'), '^ZC002 .*joined only on their privacy units', '... not to find rows of others');
SELECT matches(rows_for('analyst1', 'SELECT count(*) FROM orders o WHERE (SELECT x.quantity FROM orders x WHERE x.status = o.status ORDER BY x.quantity LIMIT 1) > 1'), '^ZC002 .*must choose among one privacy unit', '... nor one of them');
SELECT is(rows_for('analyst1', 'SELECT rho FROM dp_cdp.preview(''SELECT count(*) FROM orders o WHERE quantity > (SELECT avg(quantity) FROM orders x WHERE x.status = o.status)'') WHERE item = ''total'''), '(4000)', '... is paid for, too');
-- aggregates that others make up
SELECT as_written('SELECT bool_or(active), bool_and(active), every(amount < 200), bool_or(amount > 200), bool_and(amount < 200) FROM orders', 'of booleans');
SELECT as_written('SELECT status, bool_or(active) FILTER (WHERE quantity > 2), regr_count(amount, quantity) FILTER (WHERE active) FROM orders GROUP BY 1 HAVING bool_or(amount > 50)', '... by groups, with a filter');
SELECT as_written('SELECT regr_count(amount, nullif(quantity, 0)) FROM orders', 'pairs without NULL');
SELECT as_written('SELECT round(regr_avgx(amount, nullif(quantity, 0))::numeric, 1), round(regr_avgy(amount, quantity)::numeric), round(regr_r2(amount, quantity)::numeric, 1) FROM orders', 'means of pairs');
SELECT as_written('SELECT abs(regr_sxx(amount, quantity) - 17500) < 500, abs(regr_syy(amount, quantity) - 5105135) < 50000, abs(regr_sxy(amount, quantity)) < 50000 FROM orders', 'sums of squares');
SELECT taught('SELECT min(o.status), count(*) FROM v_orders o', 'in a view');
SELECT taught('SELECT array_agg(loud) FROM v_orders', '... by its name');
SELECT matches(rows_for('analyst1', 'SELECT array_agg(o.status) FROM orders o JOIN words w USING (customer)'), 'SELECT o.status AS k, count\(\*\) AS n FROM \(orders o JOIN words w USING \(customer\)\) GROUP BY', 'with all of FROM');
SELECT as_written('SELECT count(*) FROM orders WHERE concat(status::char(6), active, nullif(active, true)) = ''open  ft''', 'concat of char(n) and booleans');
SELECT as_written('SELECT concat_ws(''/'', status::char(5), active) AS k, count(*) FROM orders WHERE status IN (''open'', ''paid'') GROUP BY 1', 'as a key');
-- of numbers and literals alone concat compares in no collation
SELECT as_written('SELECT concat(''Q'', extract(quarter FROM day)) AS q, count(*) FROM orders GROUP BY 1 HAVING count(*) > 9', 'concat of a literal and a number, as a key');
SELECT as_written('SELECT concat(quantity / 2 * 2, '' - '', quantity / 2 * 2 + 1) AS k, count(*) FROM orders WHERE quantity BETWEEN 0 AND 5 GROUP BY 1', '... of several');
SELECT as_written('SELECT count(*) FILTER (WHERE concat(quantity, '''') = ''3''), count(*) FILTER (WHERE upper(concat(NULL, quantity, ''x'', nullif(quantity, 3))) < ''3X4''), count(*) FILTER (WHERE concat(active) ~ ''t'') FROM orders', '... in conditions');
SELECT as_written('SELECT round(count(DISTINCT concat(id, ''-'', quantity)), -1) FROM orders', '... of which the distinct ones are counted');
-- subqueries that compare public rows by more than equality: a customer counts for several of them
SELECT dp_cdp.alter_dataset('shop', max_groups => 6);
SELECT as_written('SELECT s, (SELECT count(*) FROM orders o WHERE o.status >= s) AS n FROM unnest(ARRAY[''paid'', ''open'']) s', 'a count for each public row, of more than equal rows');
SELECT as_written('SELECT n, (SELECT count(*) FROM orders WHERE quantity >= n), (SELECT count(*) FROM orders WHERE quantity >= n AND active) FROM generate_series(1, 3) n', '... of one series, twice');
SELECT as_written('SELECT n, (SELECT count(*) FROM orders WHERE quantity >= n AND (amount IS NULL OR amount > n)) FROM (VALUES (1), (2), (NULL), (2)) v (n)', '... NULL among them, and one twice');
SELECT as_written('WITH s AS (SELECT n FROM generate_series(1, 3) n) SELECT n FROM s WHERE (SELECT count(*) FROM orders WHERE quantity < n) > 1000', '... of a WITH query, in WHERE');
SELECT as_written('SELECT n, q.c FROM generate_series(1, 3) n, LATERAL (SELECT count(*) AS c FROM orders WHERE quantity <> n) q', '... of LATERAL');
SELECT as_written('SELECT n FROM generate_series(1, 3) n WHERE EXISTS (SELECT FROM orders WHERE quantity > n)', '... whether there are any');
SELECT as_written('SELECT n, q.* FROM generate_series(1, 3) n, LATERAL (SELECT count(*) AS c, n + 1 AS more, round(count(*) * n / 100.0) AS times, round(sum(n) FILTER (WHERE quantity > n) / 100.0) AS s FROM orders WHERE quantity > n) q', '... whose select list names them, too');
SELECT as_written('SELECT n, (SELECT count(*) FROM orders WHERE quantity >= n) FROM generate_series(0.5, 3.5, 1.0) n', '... of a type whose equal values are written differently');
SELECT as_written('SELECT n, (SELECT count(*) FROM orders WHERE quantity >= n) FROM (SELECT 1::bigint AS n UNION ALL SELECT 2) a JOIN generate_series(1, 3) n USING (n)', '... of a join that has one column of two');
SELECT as_written('SELECT n, (SELECT count(*) FROM orders WHERE quantity >= n) FROM generate_series(1, 3) n WHERE random() >= 0 AND n > 1', '... where a condition of the level is one that changes');
SELECT dp_cdp.alter_dataset('shop', max_groups => 2);
SELECT as_written('SELECT n, (SELECT count(*) FROM orders WHERE quantity >= n), (SELECT count(*) FROM orders WHERE quantity < n) FROM generate_series(1, 30) n WHERE n IN (2, 3)', 'only the public rows that the level leaves are groups');
SELECT dp_cdp.alter_dataset('shop', max_groups => 6);
SELECT is(rows_for('analyst1', 'SELECT rho FROM dp_cdp.preview(''SELECT n, (SELECT count(*) FROM orders WHERE quantity >= n) FROM generate_series(1, 3) n'')'),
	rows_for('analyst1', 'SELECT rho FROM dp_cdp.preview(''SELECT n, count(o.quantity) FROM generate_series(1, 3) n LEFT JOIN orders o ON quantity >= n GROUP BY n'')'), '... for the price of the join');
SELECT matches(rows_for('analyst1', 'SELECT (SELECT count(*) FROM orders WHERE quantity >= n) FROM ' || rows),
	'^ZC002 .*; join the rows in FROM, on what it is compared with, and group by columns of that query', '... not of rows that may be others when they are read again: ' || rows)
	FROM unnest(ARRAY['(SELECT floor(random() * 3) AS n) r', '(SELECT n FROM generate_series(1, 3) n LIMIT 2) r', '(SELECT status, count(*) AS n FROM orders GROUP BY 1) r',
		'(SELECT quantity AS n FROM orders GROUP BY 1) r', '(SELECT 1::bigint AS n) a RIGHT JOIN generate_series(1, 3) n USING (n)', '(SELECT 1 AS n) a FULL JOIN generate_series(1, 3) n USING (n)']) AS rows;
SELECT matches(rows_for('analyst1', 'SELECT (SELECT count(*) FROM orders o ' || rows || ') FROM (VALUES (1.0), (1.00)) v (n)'),
	'^ZC002 .*; join the rows in FROM, on what it is compared with, and group by columns of that query', '... not where FROM names them, nor how they are written: ' || rows)
	FROM unnest(ARRAY['LEFT JOIN (VALUES (2)) w (x) ON x > n WHERE quantity > n', 'WHERE quantity > n AND scale(n) = 1', 'WHERE quantity > n AND n::text = ''1.0''']) AS rows;
SELECT matches(rows_for('analyst1', 'SELECT (SELECT count(*) FROM orders WHERE quantity IS DISTINCT FROM n) FROM generate_series(1, 3) n'),
	'^ZC002 .*; join the rows in FROM, on what it is compared with, and group by columns of that query', '... nor where NULL is compared with, too');
SELECT as_written('SELECT s, n FROM unnest(ARRAY[''paid'', ''open'']) s LEFT JOIN (SELECT status AS s, count(*) AS n FROM orders GROUP BY 1) q USING (s)', '... as that says');

SELECT * FROM finish();
