-- Buckets of time are declared keys: those of the range that a query's
-- conditions give, or that the owner has declared, are the groups of its
-- answer, without a selection.  They are compared with what plain SQL makes of
-- every second of the range, in zones where clocks are set.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE days (day date PRIMARY KEY, year int NOT NULL, holiday boolean NOT NULL);
INSERT INTO days SELECT d, extract(year FROM d), extract(day FROM d) = 1 FROM generate_series('2023-12-01'::date, '2025-01-31', '1 day') d;
CREATE TABLE events (person int NOT NULL, kind text NOT NULL, day date NOT NULL, at timestamp NOT NULL, seen timestamptz NOT NULL, maybe timestamp);
INSERT INTO events SELECT i, (ARRAY['a', 'b'])[1 + i % 2], date '2024-01-01' + i % 366, timestamp '2024-01-01' + i * interval '97 minutes',
	timestamptz '2024-01-01 UTC' + i * interval '97 minutes', CASE WHEN i % 3 > 0 THEN timestamp '2024-06-01' + i * interval '1 hour' END
	FROM generate_series(1, 5400) i;
SELECT dp_cdp.create_dataset('shop', default_rho => 500, max_rows => 1, max_groups => 1);
SELECT dp_cdp.protect_table('events', 'shop', 'person');
SELECT dp_cdp.set_keys('events', 'kind', ARRAY['a', 'b']);
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1000000);
GRANT SELECT ON days TO analyst1;
RESET SESSION AUTHORIZATION;

\ir analyst.psql
\ir same.psql

-- the groups of an expression over a column, and plain SQL's over every second
CREATE FUNCTION same_buckets(expression text, col text, first text, last text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	kind text := CASE col WHEN 'seen' THEN 'timestamptz' ELSE 'timestamp' END;
	before float8 := selected();
	about text := format('%s between %s and %s, %s', replace(expression, '{}', col), first, last, current_setting('TimeZone'));
BEGIN
	RETURN NEXT is(
		rows_for('analyst1', format('SELECT k FROM (SELECT %s AS k, count(*) FROM events WHERE %s >= %L AND %2$s < %4$L GROUP BY 1) q',
									replace(expression, '{}', col), col, first, last)),
		rows_for('owner1', format('SELECT DISTINCT %s AS k FROM generate_series(%L::%s, %L::%3$s - interval ''1 second'', ''1 second'') c',
								  replace(expression, '{}', 'c'), first, kind, last)), about);
	RETURN NEXT is(selected(), before, '... without a selection: ' || about);
END $$;

CREATE FUNCTION prepared(types text, statement text, VARIADIC arguments text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	SET LOCAL plan_cache_mode = force_generic_plan;
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE format('PREPARE asked (%s) AS SELECT coalesce(string_agg(q::text, '' '' ORDER BY q::text), ''none'') FROM (%s) q',
					   types, statement);
		EXECUTE format('EXECUTE asked (%s)', array_to_string(arguments, ', ')) INTO answer;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'DEALLOCATE ALL';
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN answer;
END $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- every function, over every second, where clocks are set
-- ------------------------------------------------------------------------

CREATE TABLE functions (f text, cols text[] DEFAULT '{at,seen}');
INSERT INTO functions VALUES
	($$date_trunc('minute', {}) > '2024-01-01'$$), ($$date_trunc('hour', {})$$), ($$date_trunc('day', {})$$), ($$date_trunc('week', {})$$),
	($$date_trunc('month', {})$$), ($$date_trunc('quarter', {})$$), ($$date_trunc('year', {})$$), ($${}::date$$),
	($$extract(hour FROM {})$$), ($$extract(day FROM {})::int$$), ($$date_part('dow', {})$$), ($$extract(week FROM {})$$), ($$extract(year FROM {})$$),
	($$to_char({}, 'HH24')$$), ($$to_char({}, 'YYYY-MM-DD')$$), ($$to_char({}, 'Dy DD Mon')$$), ($$to_char({}, 'IYYY-IW')$$), ($$to_char({}, 'yyyy-mm-01')$$), ($$to_char({}, 'FMMonth FMdd, W')$$),
	($$date_bin('15 minutes', {}, '2024-01-01')$$), ($$date_bin('7 hours', {}, '2024-01-01 03:10')$$),
	($$floor(extract(epoch FROM {}) / 1800) * 1800$$), ($$floor(extract(epoch FROM {}))::bigint / 7200 * 7200$$),
	($$to_timestamp(floor(extract(epoch FROM {}) / 3600) * 3600)$$),
	($$date_trunc('week', {} + interval '1 day') - interval '1 day'$$), ($$date_trunc('day', {} - interval '5 hours')$$),
	($${}::date - extract(dow FROM {})::int$$), ($$CASE WHEN extract(hour FROM {}) < 12 THEN 'am' ELSE 'pm' END$$),
	($$date_trunc('hour', {}) + interval '5 minutes' * floor(extract(minute FROM {}) / 5)$$), ($$date_trunc('hour', {}) + floor(extract(minute FROM {}) / 20) * interval '20 minutes'$$),
	($$floor(extract(minute FROM {})::int / 12)$$), ($$timestamp 'epoch' + interval '1 second' * floor(extract(epoch FROM {}) / 1800) * 1800$$),
	($$extract(year FROM {}) || '-' || extract(month FROM {})$$);
INSERT INTO functions VALUES ($$date_trunc('hour', {} AT TIME ZONE 'Asia/Kolkata')$$, '{seen}'),
	($$({} AT TIME ZONE 'America/New_York')::date$$, '{seen}'), ($$date_trunc('day', {}, 'Australia/Lord_Howe')$$, '{seen}');
GRANT SELECT ON functions TO PUBLIC;

CREATE FUNCTION in_zone(zone text, first text, last text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('TimeZone', zone, false);
	RETURN QUERY SELECT t.* FROM functions, unnest(cols) col, same_buckets(f, col, first, last) t;
	PERFORM set_config('TimeZone', 'UTC', false);
END $$;

SELECT in_zone('America/New_York', '2024-03-09 22:15:01', '2024-03-10 08:00:00');
SELECT in_zone('Europe/Berlin', '2024-10-26 23:50:00', '2024-10-27 04:30:00');
SELECT in_zone('Australia/Lord_Howe', '2024-10-05 20:00:00', '2024-10-06 05:00:00');
SELECT in_zone('Asia/Kolkata', '2024-12-31 20:20:00', '2025-01-01 02:02:02');
SELECT in_zone('Pacific/Apia', '2011-12-29 20:00:00', '2011-12-31 04:00:00');

-- ------------------------------------------------------------------------
-- ranges
-- ------------------------------------------------------------------------

SELECT as_declared($$SELECT date_trunc('month', at), count(*) FROM events WHERE at >= '2024-02-10' AND at < '2024-05-03' GROUP BY 1$$, 'months');
SELECT as_declared($$SELECT date_trunc('month', at), kind, count(*) FROM events WHERE at BETWEEN '2024-02-10' AND '2024-05-03' GROUP BY 1, 2$$, '... with another key');
SELECT as_declared($$SELECT date_trunc('month', at) AS m, to_char(at, 'Mon') AS n, count(*) FROM events WHERE at >= '2024-02-10' AND at < '2024-05-03' GROUP BY 1, 2$$,
	'two keys of one column stay together');
SELECT as_declared($$SELECT at::date, count(*) FROM events WHERE at::date BETWEEN '2024-02-10' AND '2024-02-20' GROUP BY 1$$, 'a range of days');
SELECT as_declared($$SELECT at::date, count(*) FROM events WHERE at::date = '2024-02-10' GROUP BY 1$$, 'one day');
SELECT as_declared($$SELECT extract(month FROM at), count(*) FROM events WHERE extract(year FROM at) = 2024 GROUP BY 1$$, 'a year');
SELECT as_declared($$SELECT date_trunc('quarter', at), count(*) FROM events WHERE date_trunc('year', at) = '2024-01-01' GROUP BY 1$$, 'a year that is cut');
SELECT as_declared($$SELECT date_trunc('day', at), count(*) FROM events WHERE at >= timestamp '2024-03-01' + interval '1 day' AND at < date '2024-03-05' GROUP BY 1$$,
	'arithmetic of constants');
SELECT as_declared($$SELECT date_trunc('day', at), count(*) FROM events WHERE at >= '2024-03-01' AND at < '2024-03-20' AND extract(isodow FROM at) < 6 GROUP BY 1$$,
	'a condition on the weekday');
SELECT as_declared($$SELECT date_trunc('day', at), kind, count(*) FROM events WHERE at >= '2024-03-01' AND at < '2024-03-10' AND (kind = 'a' OR at::date = '2024-03-04') GROUP BY 1, 2$$,
	'a condition on another column, too');
SELECT as_declared($$SELECT extract(dow FROM at), extract(hour FROM at), count(*) FROM events GROUP BY 1, 2$$, 'weekdays and hours, of all times');
SELECT as_declared($$SELECT to_char(at, 'Dy'), count(*) FROM events GROUP BY 1$$, 'names of weekdays');
SELECT as_declared($$SELECT to_char(at, 'FMDay'), extract(isodow FROM at), count(*) FROM events GROUP BY 1, 2$$, '... without padding, and their numbers');
SELECT as_declared($$SELECT extract(month FROM at)::int, to_char(at, 'Mon'), count(*) FROM events GROUP BY 1, 2$$, 'months and their names');
SELECT as_declared($$SELECT CASE WHEN mod(extract(dow FROM at)::int + 1, 7) < 2 THEN 'weekend' ELSE 'work' END, count(*) FROM events GROUP BY 1$$, 'arithmetic of weekdays');
SELECT as_declared($$SELECT date_trunc('month', maybe), count(*) FROM events WHERE maybe >= '2024-06-01' AND maybe < '2024-09-01' GROUP BY 1$$,
	'a condition leaves no NULL');
SELECT as_declared($$SELECT extract(month FROM maybe), count(*) FROM events WHERE maybe IS NOT NULL AND extract(month FROM maybe) IN (6, 7, 8, 9, 10, 11, 12, 1) GROUP BY 1$$,
	'... of any kind');
SELECT as_declared($$SELECT date_trunc('week', day), count(*) FROM events WHERE day >= '2024-03-01' AND day < '2024-04-01' GROUP BY 1$$, 'weeks of dates');
SELECT as_declared($$SELECT day, count(*) FROM events WHERE day >= '2024-03-01' AND day < date '2024-03-01' + interval '10 days' GROUP BY 1$$, 'dates that are compared with timestamps');
SELECT as_declared($$SELECT day, count(*) FROM events WHERE day > timestamp '2024-03-01 12:00' AND day <= timestamp '2024-03-05' GROUP BY 1$$, '... at noon and at midnight');
SELECT as_declared($$SELECT day, count(*) FROM events WHERE timestamp '2024-03-01 12:00' <= day AND day < timestamp '2024-03-05 12:00' GROUP BY 1$$, '... on the other side');
SELECT as_declared($$SELECT day::date, count(*) FROM events WHERE day > timestamp '2024-03-01' AND day < timestamp '2024-03-05' GROUP BY 1$$, '... and the ends are left out');
SELECT as_declared($$SELECT d.holiday, date_trunc('month', at), count(*) FROM events e JOIN days d ON d.day = e.at::date WHERE at >= '2024-02-01' AND at < '2024-05-01' GROUP BY 1, 2$$,
	'a dimension that is joined by the day');
SELECT as_declared($$SELECT d.year, count(*) FROM events e JOIN days d ON d.day = e.at::date WHERE at >= '2024-02-01' AND at < '2024-05-01' GROUP BY 1$$,
	'... which the range limits');

SELECT as_declared($$SELECT at::date, count(*) FROM events WHERE at::text LIKE '2024-03-0%' AND at >= '2024-01-01' AND at < '2024-05-01' GROUP BY 1$$,
	'the beginning of a moment as it is written');
SELECT as_declared($$SELECT date_trunc('month', at), kind, count(*) FROM events WHERE at::text NOT LIKE '2024-03%' AND at >= '2024-01-01' AND at < '2024-05-01' GROUP BY 1, 2$$, '... another');
SELECT as_declared($$SELECT at::date, count(*) FROM events WHERE at::text LIKE '2024-__-01 1%' AND at >= '2024-01-30' AND at < '2024-04-02' GROUP BY 1$$, '... with any two characters');
SELECT as_declared($$SELECT at::date, count(*) FROM events WHERE left(at::text, 7) = '2024-02' AND at >= '2024-01-30' AND at < '2024-03-03' GROUP BY 1$$, '... taken of it');
SELECT as_declared($$SELECT substring(at::text FROM 1 FOR 7), left(at::text, 4), count(*) FROM events WHERE at >= '2024-01-30' AND at < '2024-05-03' GROUP BY 1, 2$$, '... as a key');
SELECT as_declared($$SELECT substr(at::text, 12, 2), count(*) FROM events WHERE at >= '2024-02-01' AND at < '2024-02-20' GROUP BY 1$$, '... the hour of it');
SELECT as_declared($$SELECT seen::date, count(*) FROM events WHERE left(seen::text, 7) = '2024-02' AND seen >= '2024-01-30' AND seen < '2024-03-03' GROUP BY 1$$, '... in a zone');
SELECT as_declared($$SELECT left(seen::text, 7), count(*) FROM events WHERE seen >= '2024-01-30' AND seen < '2024-05-03' GROUP BY 1$$, '... as a key');
SELECT is(rows_for('analyst1', $$SELECT at::date, count(*) FROM events WHERE at::text LIKE '%-02-01 0_:%' AND at >= '2024-01-31' AND at < '2024-02-03' GROUP BY 1$$),
	'(2024-01-31,0) (2024-02-01,6) (2024-02-02,0)', '... of which nobody knows what it asks');

SELECT is(prepared('timestamp, timestamp', $$SELECT date_trunc('month', at), count(*) FROM events WHERE at BETWEEN $1 AND $2 GROUP BY 1$$, $$'2024-02-01'$$, $$'2024-03-31 12:00'$$),
	rows_for('owner1', $$SELECT date_trunc('month', at), count(*) FROM events WHERE at BETWEEN '2024-02-01' AND '2024-03-31 12:00' GROUP BY 1$$), 'parameters');
SELECT is(prepared('date, date', $$SELECT day, count(*) FROM events WHERE day BETWEEN $1 AND $2 GROUP BY 1$$, $$'2024-02-01'$$, $$'2024-02-04'$$),
	rows_for('owner1', $$SELECT day, count(*) FROM events WHERE day BETWEEN '2024-02-01' AND '2024-02-04' GROUP BY 1$$), '... of dates');
SELECT is(prepared('date, date', $$SELECT day, count(*) FROM events WHERE day BETWEEN $1 AND $2 GROUP BY 1$$, 'NULL', $$'2024-02-04'$$), 'none', '... one of which is NULL');
SELECT is(prepared('timestamp, timestamp', $$SELECT date_trunc('minute', at), count(*) FROM events WHERE at BETWEEN $1 AND $2 GROUP BY 1$$, $$'2004-02-01'$$, $$'2024-03-31 12:00'$$),
	'ZC002 groups of time need more than 1000000 points in the range that the query asks for; narrow the range, or take a coarser unit',
	'... too far apart');
SELECT is(prepared('timestamp, timestamp', $$SELECT date_trunc('month', at), count(*) FROM events WHERE at BETWEEN $1 AND $2 GROUP BY 1$$, $$'2004-02-01'$$, $$'infinity'$$),
	'ZC002 groups of time need a finite range; give a first and a last day', '... infinite');

-- ------------------------------------------------------------------------
-- what cannot be told is selected as before
-- ------------------------------------------------------------------------

CREATE FUNCTION is_selected(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before float8 := selected();
BEGIN
	PERFORM rows_for('analyst1', statement);
	RETURN isnt(selected(), before, 'selected: ' || statement);
END $$;
SELECT is_selected(s) FROM unnest(ARRAY[
	$$SELECT at, count(*) FROM events WHERE at BETWEEN '2024-02-01' AND '2024-02-02' GROUP BY 1$$,
	$$SELECT date_trunc('month', at), count(*) FROM events GROUP BY 1$$,
	$$SELECT date_trunc('month', at), count(*) FROM events WHERE at > '2024-02-02' GROUP BY 1$$,
	$$SELECT date_trunc('second', at), count(*) FROM events WHERE at BETWEEN '2024-02-01' AND '2025-02-02' GROUP BY 1$$,
	$$SELECT extract(second FROM at), count(*) FROM events WHERE at BETWEEN '2024-02-01' AND '2024-02-02' GROUP BY 1$$]) s;

-- ------------------------------------------------------------------------
-- declared bounds
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_bounds('events', 'at', '2024-01-01', '2024-12-31');
SELECT dp_cdp.set_bounds('events', 'day', date '2024-01-01', date '2024-12-31');
SELECT dp_cdp.set_bounds('events', 'seen', timestamptz '2024-01-01 00:00 UTC', timestamptz '2024-12-31 UTC');
SELECT is(columns -> 'at', '{"lower": "2024-01-01T00:00:00", "upper": "2024-12-31T00:00:00"}', 'bounds of timestamps')
	FROM dp_cdp.protected WHERE "table" = 'events'::regclass;
SELECT is(columns -> 'day', '{"lower": "2024-01-01", "upper": "2024-12-31"}', '... of dates')
	FROM dp_cdp.protected WHERE "table" = 'events'::regclass;
SELECT is(columns -> 'seen', '{"lower": "2024-01-01T00:00:00+00:00", "upper": "2024-12-31T00:00:00+00:00"}', '... with time zone')
	FROM dp_cdp.protected WHERE "table" = 'events'::regclass;
RESET SESSION AUTHORIZATION;

SELECT as_declared($$SELECT date_trunc('month', at), count(*) FROM events GROUP BY 1$$, 'months of declared bounds');
SELECT as_declared($$SELECT date_trunc('month', at), count(*) FROM events WHERE at >= '2024-10-01' GROUP BY 1$$, '... and one end');
SELECT as_declared($$SELECT date_trunc('quarter', day), count(*) FROM events GROUP BY 1$$, 'quarters of dates');
SELECT is(rows_for('analyst1', $$SELECT abs(extract(epoch FROM min(at) - '2024-01-01')) < 86400 * 9, abs(extract(epoch FROM max(at) - '2024-12-29')) < 86400 * 9 FROM events$$),
	'(t,t)', 'the first and the last');
SELECT is(rows_for('analyst1', $$SELECT abs(min(day) - date '2024-01-01') < 9, abs(max(day) - date '2024-12-30') < 9 FROM events$$), '(t,t)', '... date');

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.drop_bounds('events', 'day');
SELECT is(columns -> 'day', NULL, 'bounds are dropped') FROM dp_cdp.protected WHERE "table" = 'events'::regclass;
SELECT throws_ok(q, code, message, q) FROM (VALUES
	($$SELECT dp_cdp.set_bounds('events', 'day', 0, 5)$$, 'ZC004',
	 'column "day" has type date: its bounds are written as in ''2024-01-01'', ''2024-12-31'', and it has no totals'),
	($$SELECT dp_cdp.set_bounds('events', 'day', '2024-02-30', '2024-12-31')$$, 'ZC004', 'lower "2024-02-30" is no date: write it as in ''2024-12-31'''),
	($$SELECT dp_cdp.set_bounds('events', 'day', '2024-02-03', 'soon')$$, 'ZC004', 'upper "soon" is no date: write it as in ''2024-12-31'''),
	($$SELECT dp_cdp.set_bounds('events', 'day', '2024-02-03', 'infinity')$$, 'ZC004', 'upper must be a finite date'),
	($$SELECT dp_cdp.set_bounds('events', 'at', '-infinity', '2024-02-03')$$, 'ZC004', 'lower must be a finite timestamp without time zone'),
	($$SELECT dp_cdp.set_bounds('events', 'at', '2024-02-03', '2024-02-03')$$, 'ZC004', 'the lower bound of column "at" of table "events" must be less than its upper bound'),
	($$SELECT dp_cdp.set_bounds('events', 'at', '2024-02-03', NULL)$$, 'ZC004', 'lower and upper must both be given: call dp_cdp.drop_bounds to remove bounds'),
	($$SELECT dp_cdp.set_bounds('events', 'person', date '2024-02-03', date '2024-02-04')$$, 'ZC004', 'column "person" has type integer: its bounds are numbers'),
	($$SELECT dp_cdp.set_bounds('events', 'person', 'a', 'b')$$, 'ZC004', 'lower must be a finite number'),
	($$SELECT dp_cdp.set_bounds('events', 'kind', 'a', 'b')$$, 'ZC004',
	 'column "kind" has type text: only smallint, integer, bigint, real, double precision, numeric, date and timestamp columns have bounds')) t (q, code, message);
SELECT lives_ok($$SELECT dp_cdp.set_bounds('events', 'person', '0', '10000')$$, 'numbers in quotes');
SELECT lives_ok($$SELECT dp_cdp.set_bounds('events', 'person', 0, 10000.5)$$, '... without');
SELECT lives_ok($$SELECT dp_cdp.set_bounds('events', 'person', 0, 10000.5, 0, 20000)$$, '... with totals');
SELECT is(columns -> 'person', '{"lower": 0, "upper": 10000.5, "total_lower": 0, "total_upper": 20000}', 'bounds of numbers')
	FROM dp_cdp.protected WHERE "table" = 'events'::regclass;
RESET SESSION AUTHORIZATION;

SELECT * FROM finish();
