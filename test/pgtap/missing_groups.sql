-- Averages and the like over released groups: refused, for nothing, where the small groups are missing.

\ir shop.psql

SELECT no_plan();

-- averages over groups of which the small ones are not released, and what the message says to write
SELECT refused(replace(statement, 'GROUPS', '(SELECT id / 2 AS pair, count(*) AS n FROM orders GROUP BY 1) q')) FROM unnest(ARRAY[
	'SELECT avg(n) FROM GROUPS', 'SELECT round(min(n), 1) FROM GROUPS', 'SELECT count(*), stddev(n) FROM GROUPS', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) FROM GROUPS',
	'SELECT avg(n) FROM (SELECT pair, n FROM GROUPS) s', 'WITH s AS (SELECT * FROM GROUPS) SELECT avg(n) FROM s', 'SELECT (SELECT avg(n) FROM GROUPS)']) AS statement;
SELECT matches(rows_for('analyst1', 'SELECT avg(n) FROM (SELECT kind, count(*) AS n FROM events GROUP BY 1) q'), 'avg over the groups of kind would not be that of all; add the privacy unit', 'what it says');
SELECT as_written(statement) FROM unnest(ARRAY[
	'SELECT round(avg(n), 1) FROM (SELECT customer, id / 2 AS pair, count(*) AS n FROM orders GROUP BY 1, 2) q',
	'SELECT round(avg(n), 1) FROM (SELECT kind, count(*) AS n FROM events WHERE kind IN (''view'', ''buy'') GROUP BY 1) q',
	'SELECT round(avg(n), 1) FROM (SELECT kind, count(*) AS n FROM events GROUP BY 1 HAVING count(*) > 500) q',
	'SELECT round(avg(n), 1) FROM (SELECT kind, count(*) AS n FROM events GROUP BY 1) q WHERE n > 500',
	'SELECT round(avg(n), 1) FROM (SELECT kind, count(*) AS n FROM events GROUP BY 1 ORDER BY n DESC LIMIT 2) q',
	'SELECT round(avg(n), 1) FROM (SELECT region, count(*) AS n FROM customers GROUP BY 1) q',
	'SELECT sum(n), max(n), count(*) FROM (SELECT kind, count(*) AS n FROM events GROUP BY 1) q']) AS statement;

SELECT is(rows_for('analyst1', 'SELECT round(avg(n), 1) FROM (SELECT kind, dp_count(*) AS n FROM events GROUP BY 1) q'), '(1000.0)', 'dp_count is of what is shown');

SELECT * FROM finish();
