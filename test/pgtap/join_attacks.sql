-- What a level reads, against those who attack it: code of theirs inside of
-- subqueries over protected rows, units that are equal in one sense and
-- different in another, queries that grow while they are planned.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int, ward int, w int);
INSERT INTO visits SELECT i % 100, i % 4, 1 FROM generate_series(1, 300) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 5000, max_groups => 4, max_rows => 3);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);

-- two units each, for character one; the public table has no unit
CREATE TABLE names (name text, n int);
CREATE TABLE notes (name text, n int);
INSERT INTO names VALUES ('a', 1), ('a ', 2);
INSERT INTO notes VALUES ('a', 1), ('a ', 2);
CREATE TABLE dates (day date);
CREATE TABLE times (day timestamptz);
INSERT INTO dates VALUES ('2020-01-01');
INSERT INTO times VALUES ('2020-01-01 00:00+0');
CREATE TABLE wards (ward int PRIMARY KEY, name text);
INSERT INTO wards VALUES (0, 'x'), (1, 'y'), (2, 'x'), (3, 'y');
GRANT SELECT ON wards TO analyst1;
SELECT dp_cdp.protect_table(t, 'clinic', u) FROM (VALUES ('names'::regclass, 'name'), ('notes', 'name'), ('dates', 'day'), ('times', 'day')) AS v (t, u);
RESET SESSION AUTHORIZATION;

-- a query of analyst1 has one row with this value, or fails like that and costs nothing
CREATE FUNCTION gives(statement text, value text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before float8 := (SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole);
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE statement INTO answer;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	IF answer LIKE '_____ %' AND (SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole) <> before THEN
		RETURN fail(description || ': charged for ' || answer);
	END IF;
	RETURN CASE WHEN value ~ '^\^' THEN matches(answer, value, description) ELSE is(answer, value, description) END;
END $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- code of an analyst
-- ------------------------------------------------------------------------

-- the planner evaluates it, and as whom it does is seen when the function raises or succeeds
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION whoami(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'analyst1' THEN
		RAISE 'run as %', current_user;
	END IF;
	RETURN 1;
END $$;
RESET SESSION AUTHORIZATION;

SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient WINDOW w AS (ROWS whoami(1) PRECEDING)) q', '100',
	'a window that nothing uses, in a subquery');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient WINDOW w AS (ROWS (SELECT count(*) FROM visits) PRECEDING)) q', '100',
	'a window that nothing uses, with a subquery in it');
SELECT gives('SELECT dp_count(*) FROM visits WINDOW w AS (ROWS whoami(1) PRECEDING)', '300', 'a window that nothing uses');

-- ------------------------------------------------------------------------
-- units that are equal in another sense
-- ------------------------------------------------------------------------

SELECT gives('SELECT dp_count(*) FROM names a JOIN notes b ON a.name = b.name', '2', 'equal units');
SELECT gives('SELECT dp_count(*) FROM names a JOIN notes b ON a.name::varchar = b.name::varchar', '2', 'equal units, by another name of the type');
SELECT gives('SELECT dp_count(*) FROM names a JOIN notes b ON a.name::char(2) = b.name::char(2)', '^ZC002 .*only on their privacy units', 'cast to character of some length');
SELECT gives('SELECT dp_count(*) FROM names a JOIN notes b ON a.name::bpchar = b.name::bpchar', '^ZC002 .*only on their privacy units', 'relabelled as character');
SELECT gives('SELECT dp_count(*) FROM names a LEFT JOIN notes b ON a.name::bpchar = b.name::bpchar', '^ZC002 .*only on their privacy units', 'relabelled in an outer join');
SELECT gives('SELECT dp_count(*) FROM names a JOIN notes b ON a.name::bpchar = b.name::bpchar AND a.name = b.name', '2', 'relabelled, too');
SELECT gives('SELECT dp_count(*) FROM (SELECT name::bpchar AS name FROM names GROUP BY name::bpchar) q', '^ZC002 ', 'grouped by what is relabelled');
SELECT gives('SELECT dp_count(*) FROM dates d JOIN times t ON d.day = t.day', '^ZC002 .*only on their privacy units', 'an equality that depends on the time zone');

CREATE FUNCTION eq(int, int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 / 10 = $2 / 10';
CREATE FUNCTION lt(int, int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 / 10 < $2 / 10';
CREATE FUNCTION cmp(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 / 10 - $2 / 10';
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = eq, COMMUTATOR = ===, MERGES);
CREATE OPERATOR <<< (LEFTARG = int, RIGHTARG = int, FUNCTION = lt);
CREATE OPERATOR CLASS tens FOR TYPE int USING btree AS OPERATOR 1 <<<, OPERATOR 3 ===, FUNCTION 1 cmp(int, int);
SELECT gives('SELECT dp_count(*) FROM (SELECT DISTINCT patient FROM visits ORDER BY patient USING <) q', '100', 'distinct by an order of units');
SELECT gives('SELECT dp_count(*) FROM (SELECT DISTINCT patient FROM visits ORDER BY patient USING <<<) q', '^ZC002 ', 'distinct by a coarser order of units');
SELECT gives('SELECT dp_count(*) FROM visits a JOIN visits b ON a.patient === b.patient', '^ZC002 ', 'joined by a coarser equality');

-- ------------------------------------------------------------------------
-- queries that grow
-- ------------------------------------------------------------------------

-- each WITH query reads the one before twice
CREATE FUNCTION doubling(first text, key text, n int, last text) RETURNS text LANGUAGE sql AS $$
	SELECT format('WITH c0 AS (%s), ', first) ||
		string_agg(format('c%s AS (SELECT x.%s FROM c%s x JOIN c%3$s y ON x.%2$s = y.%2$s)', i, key, i - 1), ', ' ORDER BY i) ||
		' ' || last
	FROM generate_series(1, n) i $$;
SELECT gives(doubling('SELECT ward FROM wards', 'ward', 4, 'SELECT dp_count(*) FROM visits JOIN c4 USING (ward)'), '300', 'public rows, doubled sometimes');
SELECT gives(doubling('SELECT ward FROM wards', 'ward', 50, 'SELECT dp_count(*) FROM visits JOIN c50 USING (ward)'),
	'^ZC002 more than [0-9]+ references to WITH queries are joined with protected rows', 'public rows, doubled often');
SELECT gives(doubling('SELECT DISTINCT patient FROM visits', 'patient', 4, 'SELECT dp_count(*) FROM c4'), '100', 'protected rows, doubled sometimes');
SELECT gives(doubling('SELECT DISTINCT patient FROM visits', 'patient', 50, 'SELECT dp_count(*) FROM c50'),
	'^ZC002 more than [0-9]+ references to WITH queries are joined with protected rows', 'protected rows, doubled often');
SELECT gives(doubling('SELECT ward FROM wards', 'ward', 50, 'SELECT dp_count(*) FROM visits'), '300', 'doubled often and not read');
-- who may read rows is not limited, in plain SQL
SELECT is(count(*), 0::bigint, 'protected rows in plain SQL, doubled often')
	FROM query_to_xml(doubling('SELECT patient FROM visits WHERE ward > 9', 'patient', 20, 'SELECT patient FROM c20'), false, false, '') x
	WHERE x::text ~ 'row';

-- a copy of a WITH query must have the rows of the others
SELECT gives('WITH c AS (SELECT ward, random() AS r FROM wards) SELECT dp_count(*) FROM visits JOIN c USING (ward)', '300', 'a volatile WITH query');
SELECT gives('WITH c AS (SELECT ward, random() AS r FROM wards) SELECT dp_count(*) FROM visits v JOIN c ON c.ward = v.ward JOIN c d ON d.ward = v.ward AND d.r = c.r',
	'^ZC002 WITH query "c" is joined with protected rows, and would be computed more than once', 'a volatile WITH query, twice');
SELECT gives('WITH b AS (SELECT ward, random() AS r FROM wards), c AS (SELECT * FROM b) SELECT dp_count(*) FROM visits v JOIN c ON c.ward = v.ward JOIN c d ON d.ward = v.ward AND d.r = c.r',
	'^ZC002 WITH query "b" is joined with protected rows, and would be computed more than once', 'a volatile WITH query, behind another');
SELECT gives('WITH b AS (SELECT n FROM (SELECT dp_count(*) AS n FROM visits) q) SELECT dp_count(*) FROM visits v JOIN b ON b.n > v.ward JOIN b c ON c.n > v.ward',
	'^ZC002 WITH query "b" is joined with protected rows, and would be released more than once', 'a released WITH query, twice');

-- ------------------------------------------------------------------------
-- rows that cannot be told apart
-- ------------------------------------------------------------------------

CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE TABLE rows (ward int, n int) PARTITION BY LIST (ward);
CREATE FOREIGN TABLE rows_1 PARTITION OF rows FOR VALUES IN (1)
	SERVER files OPTIONS (program 'for i in 1 2 3 4 5 6 7 8; do echo 1,$i; done', format 'csv');
CREATE TABLE rows_2 PARTITION OF rows DEFAULT;
INSERT INTO rows SELECT 2, i FROM generate_series(1, 8) i;
CREATE TABLE twice AS SELECT ward FROM generate_series(1, 2) ward, generate_series(1, 2);
GRANT SELECT ON twice TO analyst1;
SELECT dp_cdp.protect_table('rows', 'clinic', each_row => true);
SELECT gives('SELECT dp_count(*) FROM rows', '16', 'rows of a foreign table');
SELECT gives('SELECT dp_count(*) FROM rows JOIN twice USING (ward)', '^ZC002 .*partly in foreign table "rows_1"', 'rows of a foreign table, repeated');
SELECT gives('SELECT dp_count(*) FROM (SELECT ward FROM rows) q JOIN twice USING (ward)', '^ZC002 .*partly in foreign table "rows_1"', 'rows of a foreign table, in a subquery, repeated');

SELECT * FROM finish();
