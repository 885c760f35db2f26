-- What BI tools send: standard aggregates, lists of keys, probes without rows.
-- Prices are in those of one aggregate (rho 1e-6).

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int, dept text, flag boolean,
	i2 smallint, i4 int, i8 bigint, f4 real, f8 float8, n numeric, gone int, free numeric);
ALTER TABLE visits DROP COLUMN gone;
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), i % 2 = 0, 1, 1, 1, 1, 1, 1, 1
	FROM generate_series(1, 3000) i;
INSERT INTO visits VALUES (0, 1, 'rare', true, 1, 1, 1, 1, 1, 1, 1);
SELECT dp_cdp.create_dataset('clinic', find_bounds => 0, default_rho => 1e-6);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', c, 0, 10) FROM unnest('{i2,i4,i8,f4,f8,n}'::name[]) c;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
RESET SESSION AUTHORIZATION;
ANALYZE visits;

\ir analyst.psql

CREATE FUNCTION answers(statement text, price int, description text) RETURNS text
	LANGUAGE sql AS $$ SELECT is(run_as_analyst(statement)::text, format('(,%s)', price), description) $$;
CREATE FUNCTION refused(statement text, message text, description text) RETURNS text
	LANGUAGE sql AS $$
	SELECT CASE WHEN r.cost = 0 THEN matches(coalesce(r.failure, 'answered'), message, description)
		ELSE fail(description || ': it cost ' || r.cost) END
	FROM run_as_analyst(statement) r $$;

SELECT plan(63);

-- standard aggregates

SELECT answers('SELECT count(*) FROM visits', 1, 'count(*) is taken for dp_count(*)');
SELECT answers('SELECT count(n), count(DISTINCT patient), sum(n) FROM visits', 3, 'count(x), count of units, sum');
SELECT answers('SELECT count(*), dp_count(*) FROM visits', 2, 'both ways of writing it are two releases');
SELECT answers('SELECT flag, count(*) FILTER (WHERE i4 > 0) FROM visits GROUP BY 1 HAVING sum(n) > -1e9 ORDER BY sum(f8)', 3,
	'in HAVING, ORDER BY and with FILTER');
SELECT refused('SELECT sum(free) FROM visits', '^ZC004 .*set_bounds', 'a sum without bounds names set_bounds');
SELECT answers('SELECT sum(n + 1) FROM visits', 1, 'bounds of an expression follow from those of its columns');
SELECT refused('SELECT sum(length(dept)) FROM visits', '^ZC004 .*lower, upper', 'or do not follow');
SELECT refused('SELECT string_agg(dept, '','') FROM visits', '^ZC002 string_agg is exact', 'other aggregates are refused by name');
SELECT answers('SELECT count(DISTINCT dept) FROM visits', 1, 'distinct values of any column are counted');

CREATE FUNCTION type_of_sum(c text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE t text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	EXECUTE format('SELECT pg_typeof(s)::text FROM (SELECT sum(%I) AS s FROM visits) q WHERE s IS NOT NULL', c) INTO t;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN t;
END $$;
SELECT is(type_of_sum('i2'), 'bigint', 'type of sum(smallint)');
SELECT is(type_of_sum('i4'), 'bigint', 'type of sum(integer)');
SELECT is(type_of_sum('i8'), 'numeric', 'type of sum(bigint)');
SELECT is(type_of_sum('f4'), 'real', 'type of sum(real)');
SELECT is(type_of_sum('f8'), 'double precision', 'type of sum(double precision)');
SELECT is(type_of_sum('n'), 'numeric', 'type of sum(numeric)');

-- with hardly any noise the values are right: 500 units of 5 rows, at most 10 each
CREATE FUNCTION sharp(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE t text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SET LOCAL dp_cdp.rho = 5000;
	SET LOCAL dp_cdp.max_rows = 1;
	EXECUTE statement INTO t;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN t;
END $$;
SELECT is(sharp('SELECT count(*) FROM visits WHERE i4 > 0')::int, 500, 'value of count(*)');
SELECT ok(abs(sharp('SELECT sum(i8) FROM visits')::numeric - 3001) < 2, 'value of sum(bigint)');
SELECT ok(abs(sharp('SELECT sum(f4) FROM visits')::real - 3001) < 2, 'value of sum(real)');

SET dp_cdp.standard_aggregates = off;
SELECT refused('SELECT count(*) FROM visits', '^ZC002 count is exact', 'the setting takes it back');
SELECT answers('SELECT dp_count(*) FROM visits', 1, '... not from dp_count');
SET dp_cdp.standard_aggregates = on;
SELECT refused('SET dp_cdp.standard_aggregates = off', '^42501', 'the setting is a superuser''s');
SELECT is((SELECT count(*) FROM visits), 3001::bigint, 'who may read the table gets what is asked for');

-- the same around a release, as post-processing

SELECT answers('WITH root AS (SELECT flag, count(*) FROM visits GROUP BY 1) SELECT count(*) FROM root', 0,
	'a count of declared groups is free');
SELECT answers('SELECT flag, sum(count(*)) OVER () FROM visits GROUP BY 1', 1, 'a window over released counts');
SELECT answers('SELECT max(n) FROM (SELECT flag, count(*) AS n FROM visits GROUP BY 1) q', 1, 'an aggregate over released counts');

-- keys alone

SELECT answers('SELECT DISTINCT dept FROM visits', 1, 'DISTINCT selects keys');
SELECT answers('SELECT dept FROM visits GROUP BY dept ORDER BY dept LIMIT 3', 1, 'so does GROUP BY');
SELECT answers('SELECT DISTINCT dept, flag FROM visits WHERE i4 > 0', 1, 'of two columns');
SELECT answers('SELECT DISTINCT upper(dept) FROM visits ORDER BY 1', 1, 'of an expression');
SELECT answers('SELECT DISTINCT flag FROM visits', 0, 'declared keys are free');
CREATE FUNCTION depts() RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE t text[];
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	SET LOCAL dp_cdp.rho = 1;
	SET LOCAL dp_cdp.delta = 1e-13;
	SELECT array_agg(dept) INTO t FROM (SELECT DISTINCT dept FROM visits) q;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN t;
END $$;
SELECT is(depts(), '{a,b,c}'::text[], 'keys of many units appear, in order; that of one does not');
SELECT refused('SELECT DISTINCT ON (dept) dept, n FROM visits', '^ZC002', 'DISTINCT ON is not a selection of keys');
SELECT refused('SELECT DISTINCT dept, row_number() OVER () FROM visits', '^ZC002', 'nor is DISTINCT over windows');
SELECT refused('SELECT DISTINCT v FROM visits v', '^ZC002', 'nor whole rows');

-- probes

SELECT answers('SELECT * FROM visits WHERE 0 = 1', 0, 'a probe is free');
SELECT answers('SELECT * FROM visits LIMIT 0', 0, '... with LIMIT');
SELECT answers('SELECT * FROM (SELECT id, n FROM visits WHERE n > 0) q WHERE (0 = 1)', 0, '... around a subquery');
SELECT answers('SELECT v.id, w.n FROM visits v JOIN visits w USING (id) WHERE false', 0, '... of a join');
SELECT answers('SELECT dp_count(*) FROM visits LIMIT 0', 0, 'a release that is not fetched is free, too');
SELECT is(run_as_analyst('CREATE TABLE probed AS SELECT * FROM visits WHERE false')::text, '(,0)', 'a probe keeps names and types');
SELECT is((SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid = 'probed'::regclass AND attnum > 0),
	'id integer, patient integer, dept text, flag boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, n numeric, free numeric',
	'... of all columns');
SELECT refused('SELECT * FROM visits WHERE id = -1', '^ZC002', 'a condition on rows makes no probe');
SELECT answers('SELECT count(*) FROM visits WHERE false', 1, 'a count of nothing is noise, and paid for');

-- subqueries, views and WITH queries that filter and project

SET SESSION AUTHORIZATION owner1;
CREATE VIEW recent AS SELECT id AS visit, patient AS person, dept AS ward, n AS cost, i4 + 1 AS more
	FROM visits WHERE id >= 1000 ORDER BY id;
CREATE VIEW nested AS SELECT person, ward, cost FROM recent WHERE cost > 0;
CREATE VIEW secret AS SELECT * FROM visits;
GRANT SELECT ON recent, nested TO analyst1;
RESET SESSION AUTHORIZATION;
SELECT answers('SELECT flag, count(*) FROM (SELECT * FROM visits) AS virtual_table GROUP BY flag LIMIT 1000', 1, 'a subquery');
SELECT answers('SELECT dp_count(DISTINCT p), dp_sum(c) FROM (SELECT patient p, n c FROM (SELECT * FROM visits WHERE id > 5) x WHERE n > 0) y', 2,
	'nested subqueries, whose columns keep unit and bounds');
SELECT answers('WITH q AS (SELECT * FROM visits WHERE flag) SELECT dp_count(*) FROM q', 1, 'a WITH query');
SELECT answers('SELECT dp_count(*), dp_count(DISTINCT person), dp_sum(cost) FROM recent', 3, 'a view');
SELECT answers('SELECT ward, dp_count(DISTINCT person) FROM nested GROUP BY ward', 2, 'a view of a view');
SELECT answers('SELECT ward FROM (SELECT DISTINCT ward FROM nested) q', 1, 'keys through a view');
SELECT is(sharp('SELECT count(*) FROM recent WHERE more = 2')::int, 500, 'conditions of the view and of the query hold');
SELECT is(sharp('SELECT count(*) FROM (SELECT * FROM visits WHERE patient < 100) q WHERE patient >= 50')::int, 50, '... of the subquery, too');
SELECT answers('SELECT sum(m) FROM (SELECT n * 2 AS m FROM visits) q', 1, 'nor has an expression of a subquery to be written again');
SELECT is(sharp('SELECT dp_sum(m, 0, 4) FROM (SELECT i4 * 2 AS m FROM visits WHERE id BETWEEN 500 AND 999) q')::int, 1000, 'values of expressions');
SELECT refused('SELECT dp_count(*) FROM secret', '^42501 permission denied for view secret', 'the view''s own privileges count');
SELECT refused('SELECT cost FROM recent', '^ZC002', 'rows of a view are not released');
SELECT refused('SELECT more, dp_count(*) FROM (SELECT patient AS more FROM visits) q GROUP BY more', '^ZC002 grouping by the privacy unit', 'the unit by another name');
SELECT answers('SELECT patient, dp_count(*) FROM (SELECT i4 AS patient FROM visits) q GROUP BY patient', 2, 'what bears its name is not the unit');
SELECT refused('SELECT dp_count(dept) FROM (SELECT * FROM visits LIMIT 10) q', '^ZC002', 'LIMIT below an aggregate');
SELECT refused('SELECT dp_count(*) FROM (SELECT dept, row_number() OVER () AS n FROM visits) q WHERE n > 1', '^ZC002', 'a window below an aggregate');
SELECT refused('SELECT dp_count(*) FROM (SELECT * FROM visits WHERE md5(dept) = ''a'') q', '^ZC002 .*md5', 'the allow-list reaches into subqueries');
SELECT refused('SELECT dp_count(q) FROM (SELECT id FROM visits) q', '^ZC002', 'whole rows of a subquery');
SELECT refused('SELECT x, (SELECT dp_count(*) FROM (SELECT * FROM visits WHERE id = x) q) FROM generate_series(1, 3) x', '^ZC002', 'a correlated subquery');
PREPARE before_change AS SELECT dp_sum(cost) FROM recent;
SET SESSION AUTHORIZATION analyst1;
EXECUTE before_change \gset
SET SESSION AUTHORIZATION owner1;
CREATE OR REPLACE VIEW recent AS SELECT id AS visit, patient AS person, dept AS ward, length(dept)::numeric AS cost, i4 AS more FROM visits;
SET SESSION AUTHORIZATION analyst1;
\set ON_ERROR_STOP 0
EXECUTE before_change \gset
\set ON_ERROR_STOP 1
\set changed :LAST_ERROR_SQLSTATE
RESET SESSION AUTHORIZATION;
SELECT is(:'changed'::text, 'ZC004', 'a cached plan follows the view: its column has no bounds any more');

SELECT * FROM finish();
