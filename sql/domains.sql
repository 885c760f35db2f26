-- Which keys a grouped query releases: where they come from, and what its
-- conditions leave of them.  Rho is so large that noise rounds to 0, and keys
-- that no row has are shown with 0 rows.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE SCHEMA domains AUTHORIZATION regress_dp_owner;
GRANT USAGE ON SCHEMA domains TO regress_dp_analyst;
SET search_path = domains, public;
SET client_min_messages = warning;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET SESSION AUTHORIZATION regress_dp_owner;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE facts (
	id int PRIMARY KEY, dept text, maybe text, code varchar(8), short char(3), mood mood, urgent boolean, flag boolean NOT NULL,
	i2 smallint, i int, b bigint, r real, f double precision, n numeric, n2 numeric(6, 2), day date, at timestamp, tz timestamptz,
	hour time, ward int, u uuid
);
INSERT INTO facts SELECT g, (ARRAY['a', 'b', 'c'])[1 + g % 3], CASE WHEN g % 2 = 0 THEN 'x' END, 'v' || g % 3, 's' || g % 3,
	(ARRAY['sad', 'ok']::mood[])[1 + g % 2], CASE WHEN g % 5 > 0 THEN g % 2 = 0 END, g % 2 = 0,
	g % 10, g % 10, g % 10, (g % 10) / 4.0, CASE g % 3 WHEN 0 THEN -0.0::float8 WHEN 1 THEN 0.5 ELSE 'NaN' END,
	CASE WHEN g % 2 = 0 THEN 1.0 ELSE 1.00 END, g % 3, date '2024-01-31' + g % 3, timestamp '2024-01-31' + g % 3 * interval '25 hours',
	CASE WHEN g > 1 THEN timestamptz '2024-12-31 23:30 UTC' ELSE 'infinity' END,
	CASE WHEN g % 2 = 0 THEN time '24:00' ELSE '01:30' END, 1 + g % 2, '00000000-0000-0000-0000-000000000001'
	FROM generate_series(1, 60) g;
SELECT dp_cdp.create_dataset('domains', default_rho => 1000);
SELECT dp_cdp.protect_table('facts', 'domains', each_row => true);
SELECT dp_cdp.set_keys('facts', 'dept', ARRAY['b', 'a', 'z', NULL]);
SELECT dp_cdp.set_keys('facts', 'maybe', ARRAY['x', 'y']);
SELECT dp_cdp.set_keys('facts', 'code', ARRAY['v1', 'v2', 'v3']);
SELECT dp_cdp.set_keys('facts', 'n2', ARRAY[0, 1, 2.5, 7]);
CREATE TABLE visits (patient int, k int, n numeric);		-- a patient has several rows
INSERT INTO visits SELECT g % 20, g / 20, CASE WHEN g < 60 THEN 2.0 + g / 20 ELSE 1.00 END FROM generate_series(0, 79) g;
SELECT dp_cdp.protect_table('visits', 'domains', unit => 'patient');
SELECT dp_cdp.set_keys('visits', 'n', ARRAY[1.00, 3, 5]);
SELECT dp_cdp.set_budget('domains', 'regress_dp_analyst', rho => 1000000);

-- what the analyst may read beside them, or may not
CREATE TABLE wards (ward int PRIMARY KEY, name text, kind varchar(5), area numeric, secret text, open boolean);
INSERT INTO wards VALUES (1, 'north', 'k1', 1.0, 's1', true), (2, 'south', 'k2', 1.00, 's2', true), (3, 'empty', NULL, 2.50, 's3', NULL);
GRANT SELECT (ward, name, kind, area, open) ON wards TO regress_dp_analyst;
CREATE TABLE parted (ward int, name text) PARTITION BY LIST (ward);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 (name text, ward int);
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES IN (2);
INSERT INTO parted VALUES (1, 'p1'), (2, 'p2');
CREATE TABLE parent (ward int, name text);
CREATE TABLE child (more text) INHERITS (parent);
INSERT INTO parent VALUES (1, 'parent');
INSERT INTO child VALUES (2, 'child');
CREATE MATERIALIZED VIEW stored AS SELECT ward, upper(name) AS name FROM wards;
CREATE TABLE policed (ward int, name text);
INSERT INTO policed VALUES (1, 'seen'), (2, 'hidden');
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON policed USING (ward = 1);
CREATE TABLE none (ward int, name text);
CREATE VIEW viewed AS SELECT * FROM wards;
GRANT SELECT ON parted, parted_2, parent, stored, policed, none, viewed TO regress_dp_analyst;
RESET SESSION AUTHORIZATION;

-- the keys of a query, each with its number of rows; or that they are selected
CREATE FUNCTION keys(key text, rest text DEFAULT '', source text DEFAULT 'facts') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT %s AS k, dp_count(*) AS n FROM %s %s GROUP BY 1', key, source, rest);
	plan jsonb;
	result text;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	IF plan #>> '{0,Plan,Threshold}' IS NOT NULL THEN
		RETURN 'selected';
	END IF;
	EXECUTE format('SELECT string_agg(coalesce(k::text, ''NULL'') || '':'' || n, '' '') FROM (%s) q', query) INTO result;
	RETURN coalesce(result, 'none');
END $$;
-- without the numbers, which are noisy where a join may repeat rows
CREATE FUNCTION names(key text, source text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(keys(key, '', source), ':-?\d+', '', 'g') $$;
SET SESSION AUTHORIZATION regress_dp_analyst;
\pset format unaligned

-- --------------------------------------------------------------------------
-- Columns of protected tables
-- --------------------------------------------------------------------------

SELECT keys('dept'), keys('maybe'), keys('mood'), keys('urgent'), keys('flag');
SELECT keys('code'), keys('n2'), keys('i'), keys('id + 0'), keys('short');
SELECT keys('code::text'), keys('dept COLLATE "C"'), keys('upper(dept)');

-- --------------------------------------------------------------------------
-- Columns of other tables
-- --------------------------------------------------------------------------

SELECT keys('name', source => 'facts JOIN wards USING (ward)');
SELECT keys('kind', source => 'facts JOIN wards USING (ward)');
SELECT keys('open', source => 'facts JOIN wards USING (ward)');
SELECT keys('area', source => 'facts JOIN wards USING (ward)') AS one_form;
SELECT keys('w.ward', source => 'facts f LEFT JOIN wards w ON f.ward = w.ward AND w.ward > 1') AS null_of_the_join;
SELECT keys('w.name', 'WHERE w.name IS NOT NULL', 'facts f LEFT JOIN wards w ON f.ward = w.ward AND w.ward > 1');
SELECT keys('name', $$WHERE name IN ('north', 'empty', 'else')$$, 'facts JOIN wards USING (ward)');
SELECT keys('coalesce(w.name, ''nowhere'')', source => 'facts f LEFT JOIN wards w ON f.ward = w.ward AND w.ward > 1');
-- what is read of partitions and children; a table of which one may see some rows only says nothing
SELECT names('name', 'facts JOIN none USING (ward)') AS none, names('name', 'facts JOIN parted USING (ward)') AS parted,
	names('name', 'facts JOIN parted_2 USING (ward)') AS partition, names('name', 'facts JOIN parent USING (ward)') AS parent,
	names('name', 'facts JOIN ONLY parent USING (ward)') AS only_parent, names('p.name', 'facts JOIN stored p USING (ward)') AS stored;
SELECT names('name', 'facts JOIN policed USING (ward)') AS policed, names('v.name', 'facts JOIN viewed v USING (ward)') AS viewed;
-- a subquery of one's own, but not one over a view
SELECT names('w.name', 'facts JOIN (SELECT name, ward FROM wards WHERE ward < 3) w USING (ward)') AS subquery, names('s.name', 'facts JOIN (SELECT name, ward FROM viewed) s USING (ward)') AS of_view,
	names('w.name', 'facts JOIN (SELECT upper(name) AS name, ward FROM wards) w USING (ward)') AS computed, names('w.name', 'facts JOIN (SELECT name, ward FROM policed) w USING (ward)') AS policed,
	names('facts.ward', 'facts JOIN (SELECT w.ward FROM wards w JOIN parted p USING (ward)) w USING (ward)') AS joined;

-- what is joined with such a column has its keys, unless the join keeps other rows or compares otherwise
SELECT keys('facts.ward', source => 'facts JOIN wards USING (ward)') AS joined, keys('f.ward', 'WHERE w.ward = f.ward', 'facts f, wards w') AS listed,
	keys('ward', 'WHERE ward < 3', 'facts JOIN wards USING (ward)') AS restricted, keys('f.ward', source => 'facts f JOIN wards w ON w.ward = f.ward AND f.ward > 1') AS on_key;
SELECT keys('f.ward', source => 'facts f LEFT JOIN wards w ON w.ward = f.ward') AS outer, keys('f.b', source => 'facts f JOIN wards w ON w.ward = f.b') AS other_type,
	keys('f.ward', source => 'facts f JOIN wards w ON w.ward = f.ward + 1') AS expression, keys('f.code', source => 'facts f JOIN wards w ON w.kind = f.code') AS declared;
SELECT names('f.n', 'facts f JOIN wards w ON w.area = f.n') AS one_form, names('f.ward', 'facts f JOIN wards w ON w.ward = f.ward LEFT JOIN parted p ON p.ward = f.ward') AS inner,
	keys('f.ward', source => 'facts f JOIN policed p ON p.ward = f.ward') AS policed;

-- --------------------------------------------------------------------------
-- Expressions
-- --------------------------------------------------------------------------

SELECT keys($$'all'$$), keys('1 + 1.50'), keys('NULL::int'), keys($$date '2024-02-29'$$), keys($$'ab'::char(4)$$), keys('-0.0::float8');
SELECT keys('i > 5'), keys('flag AND urgent'), keys('urgent IS NULL');
SELECT keys($$CASE WHEN i > 5 THEN 'high' WHEN i > 3 THEN 'mid' ELSE 'low' END$$);
SELECT keys($$CASE WHEN i > 5 THEN 2 WHEN i > 3 THEN 1 + 2 END$$) AS without_else;
SELECT keys($$CASE i WHEN 1 THEN 1.50 WHEN 2 THEN 1.5 WHEN 3 THEN NULL ELSE 2.0 END$$) AS one_form;
SELECT keys($$CASE WHEN i > 5 THEN CASE WHEN flag THEN 'b' ELSE 'a' END WHEN i > 3 THEN dept ELSE 'low' END$$) AS nested;
SELECT keys($$CASE WHEN i > 5 THEN 'x' ELSE short::text END$$) AS not_constant;
SELECT keys($$CASE WHEN i > 5 THEN 'x' ELSE $$ || $$'y' END::varchar(3)$$) AS cast;
SELECT keys($$coalesce(dept, 'none')$$), keys($$coalesce(maybe, 'none')$$), keys($$coalesce(dept, NULL)$$), keys('coalesce(urgent, false)');
SELECT keys($$coalesce(maybe, dept)$$), keys($$coalesce(maybe, short)$$), keys($$nullif(dept, 'a')$$);
SELECT keys('width_bucket(i, 2, 8, 3)'), keys('width_bucket(n, 10, 0, 2)');
-- NaN is in none, and from PostgreSQL 19 on above all
SELECT current_setting('server_version_num')::int >= 190000 AS nan_is_above \gset
SELECT keys('width_bucket(f, 0, 1, 2)') = '0:0 1:20 2:20 ' || CASE WHEN :'nan_is_above' THEN '3:20 NULL:0' ELSE '3:0 NULL:20' END;
SELECT keys('width_bucket(i, 0, 10, i)'), keys('width_bucket(f, 0, 1, 20000)');
SELECT keys('extract(month FROM day)');
SELECT keys('extract(quarter FROM day)'), keys('extract(dow FROM at)'), keys('extract(isodow FROM day)');
SELECT keys($$date_part('quarter', at)$$), pg_typeof(date_part('quarter', date '2024-01-01'));
SELECT keys('extract(hour FROM at)');
SELECT keys('extract(hour FROM hour)') AS with_24;
SELECT keys('extract(quarter FROM tz)') AS of_infinity, keys('extract(year FROM day)') AS year, keys('extract(month FROM day - at)') AS interval,
	keys($$date_trunc('month', at)$$) AS trunc;
SELECT array_length(string_to_array(keys('extract(' || field || ' FROM at)'), ' '), 1) AS keys, field
	FROM unnest('{day,doy,week,minute}'::text[]) field;

-- --------------------------------------------------------------------------
-- Conditions that list keys
-- --------------------------------------------------------------------------

SELECT keys('i', 'WHERE i = 3'), keys('i', 'WHERE 3 = i'), keys('i', 'WHERE i IN (99, 3, 3)'), keys('i', 'WHERE i = 3 OR i = 12');
SELECT keys('i', 'WHERE i = NULL'), keys('i', 'WHERE i IN (1, NULL)'), keys('i', 'WHERE i IS NULL'), keys('i', 'WHERE i = 1 OR i IS NULL');
SELECT keys('i', 'WHERE i = 3 AND i = 4'), keys('i', 'WHERE i IN (1, 2, 3) AND i > 1'), keys('i', 'WHERE i IN (1, 2) AND flag');
SELECT keys('i', 'WHERE (i = 1 AND flag) OR (i = 3 AND NOT flag)'), keys('i', 'WHERE i = 1 OR flag');
SELECT keys('short', $$WHERE short IN ('s1', 's9', 'long')$$), keys('length(short)', $$WHERE short = 's1'$$);
SELECT keys('length(short) + 1', $$WHERE length(short) + 1 = 3$$) AS expression;
SELECT keys('u', $$WHERE u = '00000000-0000-0000-0000-000000000001'$$), keys('at', $$WHERE at = '2024-01-31'$$);
SELECT keys('day', $$WHERE day = '2024-02-01'$$), keys('day', $$WHERE day = timestamp '2024-02-01'$$) AS of_two_types;
-- types that differ from the column's: exactly, or not at all
SELECT keys('i2', 'WHERE i2 IN (1, 70000)'), keys('b', 'WHERE b = 4'), keys('i', 'WHERE i = 5000000000'), keys('i', 'WHERE i = 1.0') AS cast;
SELECT keys('r', 'WHERE r = 0.5'), keys('r', 'WHERE r = 0.1'), keys('r', 'WHERE r IN (0.5::float8, 1e300)'), keys('f', 'WHERE f = 0.5::real');
-- one form of equal values, and that of the column
SELECT keys('n', 'WHERE n = 1.000'), keys('n', 'WHERE n IN (1, 1.0, 2.50)'), keys('n2', 'WHERE n2 IN (1, 1.005, 1e5)'), keys('f', 'WHERE f = 0'),
	keys('f', $$WHERE f = 'NaN'$$);
SELECT keys('code', $$WHERE code = 'v1'$$), keys('substr(code, 1, 2)', $$WHERE substr(code, 1, 2) = 'v1'$$);
-- ranges of integers and dates
SELECT keys('i', 'WHERE i BETWEEN 7 AND 11'), keys('i2', 'WHERE i2 > 7 AND i2 < 11'), keys('b', 'WHERE 8 <= b AND 10 >= b'), keys('i', 'WHERE i > 7');
SELECT keys('i', 'WHERE i BETWEEN 11 AND 7'), keys('i', 'WHERE i BETWEEN 1 AND 20000'), keys('i', 'WHERE i BETWEEN 1 AND 3 AND i <> 2');
SELECT keys('i2', 'WHERE i2 BETWEEN 32766 AND 32769') AS last, keys('b', 'WHERE b BETWEEN 9223372036854775806 AND 9223372036854775807') AS int8,
	keys('b', 'WHERE b > 9223372036854775807 AND b < 5'), keys('b', 'WHERE b BETWEEN -9223372036854775808 AND 9223372036854775807');
SELECT keys('day', $$WHERE day BETWEEN '2024-01-30' AND '2024-02-02'$$), keys('day', $$WHERE day >= '2024-02-01' AND day < '2024-02-03'$$),
	keys('day', $$WHERE day BETWEEN '-infinity' AND 'infinity'$$), keys('day', $$WHERE day >= 'infinity' AND day <= 'infinity'$$);
SELECT keys('n', 'WHERE n BETWEEN 1 AND 3'), keys('i', 'WHERE i BETWEEN 1 AND 3 OR flag');
-- parameters and other columns say nothing
PREPARE p (int) AS SELECT i, dp_count(*) FROM facts WHERE i = $1 GROUP BY 1;
EXECUTE p(3);
EXECUTE p(99);
DEALLOCATE p;
SELECT keys('i', 'WHERE i = ward'), keys('i', 'WHERE id = 3'), keys('i', 'WHERE i <> 3');

-- --------------------------------------------------------------------------
-- Conditions that restrict declared keys
-- --------------------------------------------------------------------------

SELECT keys('dept', $$WHERE dept = 'a'$$), keys('dept', $$WHERE dept IN ('z', 'q', 'a')$$), keys('dept', $$WHERE dept = 'a' OR dept = 'b'$$),
	keys('dept', $$WHERE dept NOT IN ('z', 'q')$$), keys('dept', $$WHERE dept <> 'a'$$);
SELECT keys('dept', 'WHERE dept IS NULL'), keys('dept', 'WHERE dept IS NOT NULL'), keys('dept', $$WHERE dept IS DISTINCT FROM 'a'$$),
	keys('dept', $$WHERE dept = 'q'$$) AS none;
-- NULL is a key of what can be NULL, but where no row with it satisfies them
SELECT keys('maybe', 'WHERE maybe IS NOT NULL'), keys('maybe', $$WHERE maybe = 'y'$$), keys('maybe', 'WHERE i < 100 - length(maybe)') AS strict,
	keys('maybe', 'WHERE maybe IS NULL OR i > 100'), keys('maybe', 'WHERE maybe <= dept') AS of_two, keys('upper(maybe)', 'WHERE maybe > short') AS expression;
SELECT keys('dept', $$WHERE dept > 'a'$$), keys('dept', $$WHERE dept BETWEEN 'a' AND 'c'$$), keys('dept', $$WHERE dept LIKE '%b%'$$),
	keys('dept', $$WHERE upper(dept) = 'B'$$), keys('dept', $$WHERE coalesce(dept, 'a') = 'a'$$);
SELECT keys('dept', $$WHERE dept = 'a' OR flag$$), keys('dept', $$WHERE dept = 'a' AND flag$$), keys('dept', 'WHERE false');
SELECT keys('urgent', 'WHERE urgent'), keys('urgent', 'WHERE NOT urgent'), keys('urgent', 'WHERE urgent IS NOT TRUE'),
	keys('urgent', 'WHERE urgent = false'), keys('urgent', 'WHERE urgent IS NOT NULL'), keys('i > 5', 'WHERE i > 5');
SELECT keys('mood', $$WHERE mood > 'sad'$$), keys('mood', $$WHERE mood IN ('ok')$$);
SELECT keys('code', $$WHERE code IN ('v1', 'v3')$$), keys('code::text', $$WHERE code > 'v1'$$), keys('code', $$WHERE code::text > 'v1'$$);
SELECT keys('n2', 'WHERE n2 > 0'), keys('n2', 'WHERE n2 BETWEEN 0.5 AND 3'), keys('n2', $$WHERE n2::text = '1.00'$$);
SELECT keys('extract(month FROM day)', 'WHERE extract(month FROM day) <= 3'),
	keys('extract(month FROM day)', 'WHERE extract(month FROM day) <= 3 AND day IS NOT NULL') AS other_expression;
SELECT keys('width_bucket(f, 0, 1, 2)', 'WHERE width_bucket(f, 0, 1, 2) IS NOT NULL') = '0:0 1:20 2:20 ' || CASE WHEN :'nan_is_above' THEN '3:20' ELSE '3:0' END;
-- the text of 1.0 and of 1.00 differ: that condition is left to the rows
SELECT keys($$CASE WHEN i > 5 THEN n WHEN i > 3 THEN 3 ELSE 2.0 END$$, 'WHERE n = 1');
SELECT keys($$CASE WHEN i > 5 THEN 1.0 ELSE 2.0 END$$, $$WHERE scale(CASE WHEN i > 5 THEN 1.0 ELSE 2.0 END) = 1$$);
SELECT keys($$CASE WHEN i > 5 THEN 1.0 ELSE 2.0 END$$, $$WHERE CASE WHEN i > 5 THEN 1.0 ELSE 2.0 END < 1.50$$);
-- 'v1' and 'v1 ' are one key as character, and two as varchar
SELECT keys('code::bpchar', $$WHERE code = 'v1'$$), keys('code::bpchar', $$WHERE code::bpchar = 'v1 '$$), keys('code::bpchar', $$WHERE code = 'v1 '$$);
-- settings that are others when rows are read
SET DateStyle = 'German';
SELECT keys('coalesce(CASE WHEN flag THEN date ''2024-02-01'' END, date ''2024-02-02'')',
	'WHERE coalesce(CASE WHEN flag THEN date ''2024-02-01'' END, date ''2024-02-02'')::text LIKE ''2024%''');
RESET DateStyle;
-- several keys
SELECT dept, urgent, dp_count(*) FROM facts WHERE dept IN ('a', 'z') AND urgent IS NOT NULL GROUP BY 1, 2;
SELECT dept, i, dp_count(*) FROM facts WHERE dept = 'q' AND i IN (1, 2) GROUP BY 1, 2;
SELECT dept, i, dp_count(*) FROM facts WHERE dept = 'a' AND i = 1 GROUP BY 1, 2;
-- a condition that fails for a key fails for no row
SELECT keys('i', 'WHERE i IN (0, 1, 2) AND 2 / i = 1');
-- refused as ever
SELECT keys('i', 'WHERE i IN (0, 1) AND i = random()');
SELECT keys('i', 'WHERE i IN (0, 1) AND 5 = i / 0');
SELECT keys('i', 'WHERE pg_sleep(i) IS NULL');


-- --------------------------------------------------------------------------
-- Units
-- --------------------------------------------------------------------------

SET dp_cdp.rho = 20000;
SELECT keys('k', 'WHERE k IN (2, 9)', 'visits'), keys('k', 'WHERE k BETWEEN 2 AND 4', 'visits'), keys('k', 'WHERE k = 2 AND k = 3', 'visits');
SELECT keys($$'all'$$, '', 'visits'), keys($$CASE WHEN k = 1 THEN 'one' END$$, '', 'visits'), keys('k IS NULL', '', 'visits');
-- rows of other keys do not use up a unit's groups
SET dp_cdp.max_groups = 1;
SELECT keys('n', 'WHERE n <> 3', 'visits');
RESET dp_cdp.max_groups;
RESET dp_cdp.rho;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP SCHEMA domains CASCADE;
SELECT dp_cdp.drop_budget('domains', 'regress_dp_analyst');
SELECT dp_cdp.drop_dataset('domains', erase_spent => true);
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_analyst;
