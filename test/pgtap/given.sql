-- What a private query joins with and what is not read where protected rows
-- are: computed before the debit, with the rights of who asks.  The noise is
-- too small to be seen, so that answers tell which rows were joined.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int, dept text);
INSERT INTO visits SELECT i, i % 100, substr('abc', 1 + i % 3, 1) FROM generate_series(1, 300) i;
CREATE TABLE stays AS SELECT * FROM visits;
SELECT dp_cdp.create_dataset('clinic', default_rho => 5000);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.protect_table('stays', 'clinic', each_row => true);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);

CREATE TABLE depts (dept text PRIMARY KEY, beds int);
INSERT INTO depts VALUES ('a', 1), ('b', 2);
GRANT SELECT ON depts TO analyst1;
CREATE VIEW small AS SELECT dept, beds FROM depts WHERE beds < 2;
GRANT SELECT ON small TO analyst1;
CREATE VIEW hidden AS SELECT * FROM depts;
CREATE TABLE secret AS SELECT * FROM depts;
CREATE TABLE notes AS SELECT dept, CASE dept WHEN 'a' THEN 'analyst1' ELSE 'owner1' END AS reader FROM depts;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON notes USING (reader = current_user AND dept IN (SELECT d.dept FROM depts d));
GRANT SELECT ON notes TO analyst1;
RESET SESSION AUTHORIZATION;

\ir analyst.psql

-- the single value of a query of analyst1, or its error, and what it cost
CREATE FUNCTION ask(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before float8 := (SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole);
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		IF statement ~ '^(PREPARE|DECLARE|CLOSE|TRUNCATE)' THEN
			EXECUTE statement;
		ELSE
			EXECUTE statement INTO answer;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN format('%s for %s', coalesce(answer, 'NULL'),
				  ((SELECT sum(rho_spent) FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole) - before) / 5000);
END $$;

-- owned by the analyst, so that nothing but the settings of a query keeps
-- them from being counted up
SET SESSION AUTHORIZATION analyst1;
CREATE SEQUENCE ticks;
CREATE SEQUENCE seen_analyst1;
CREATE SEQUENCE seen_owner1;
CREATE SEQUENCE seen_postgres;
GRANT USAGE ON SEQUENCE seen_owner1, seen_postgres TO PUBLIC;
CREATE FUNCTION spy(i int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM nextval('public.seen_' || current_user);
	RETURN true;
END $$;
RESET SESSION AUTHORIZATION;

-- who ran spy() in a query, after its index has been forgotten
CREATE FUNCTION spied(index text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	seen text;
BEGIN
	EXECUTE 'REINDEX INDEX ' || index;
	PERFORM setval('seen_analyst1', 1, false), setval('seen_owner1', 1, false), setval('seen_postgres', 1, false);
	answer := ask(statement);
	SELECT concat_ws(' ', (SELECT 'analyst1' FROM seen_analyst1 WHERE is_called),
		(SELECT 'owner1' FROM seen_owner1 WHERE is_called), (SELECT 'postgres' FROM seen_postgres WHERE is_called)) INTO seen;
	RETURN format('%s, seen by %s', answer, seen);
END $$;

CREATE FUNCTION ticked() RETURNS bigint LANGUAGE sql VOLATILE
	AS $$ SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ticks $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- what can be given
-- ------------------------------------------------------------------------

SELECT is(ask('SELECT dp_count(*) FROM visits'), '300 for 1', 'alone');
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN depts USING (dept)'), '200 for 1', 'a trusted table');
SELECT is(ask(format('SELECT dp_count(*) FROM %s v JOIN (VALUES (''a'', 1), (''x'', 2)) d (dept, i) ON d.dept = v.dept', t)),
	'100 for 1', 'VALUES, ' || t) FROM unnest('{visits,stays}'::text[]) t;
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (VALUES ((SELECT min(dept) FROM depts)), ($$b$$)) d (dept) USING (dept)'),
	'200 for 1', 'VALUES of a subquery');
SELECT is(ask('WITH w AS (SELECT dept FROM depts) SELECT dp_count(*) FROM visits v JOIN (VALUES ((SELECT min(dept) FROM w))) d (dept) USING (dept)'),
	'100 for 1', 'of a WITH query');
SELECT is(ask(format('SELECT dp_count(*) FROM %s v, (SELECT upper(dept) AS d FROM depts) s WHERE upper(v.dept) = s.d', t)),
	'200 for 1', 'a subquery, ' || t) FROM unnest('{visits,stays}'::text[]) t;
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN small USING (dept)'), '100 for 1', 'a view');
SELECT is(ask('WITH d AS (SELECT dept FROM depts WHERE beds > 1) SELECT dp_count(*) FROM visits JOIN d USING (dept)'),
	'100 for 1', 'a WITH query');
SELECT is(ask('WITH d AS (SELECT * FROM depts), e AS (SELECT * FROM d WHERE beds > 1) SELECT dp_count(*) FROM visits JOIN e USING (dept)'),
	'100 for 1', 'of another one');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept, max(beds) AS m FROM depts GROUP BY dept HAVING max(beds) > 1) d USING (dept)'),
	'100 for 1', 'with aggregates of its own');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT g AS id FROM generate_series(11, 20) g) s USING (id)'),
	'10 for 1', 'with a function');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT ''a'' AS dept UNION SELECT ''b'') s USING (dept)'),
	'200 for 1', 'a set operation');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept FROM depts ORDER BY beds LIMIT 1) s USING (dept)'),
	'100 for 1', 'with LIMIT');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT typname FROM pg_type WHERE typname IN (''int4'', ''bool'')) t ON t.typname = v.dept'),
	'0 for 1', 'over a catalogue');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN pg_am a ON a.amname::text = v.dept'), '0 for 1', 'a catalogue itself');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept FROM depts WHERE false) d USING (dept)'),
	'0 for 1', 'without rows');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (VALUES (''a'')) d (dept) USING (dept) JOIN (VALUES (1), (2), (3), (4)) e (id) USING (id)'),
	'1 for 1', 'two of them');
SELECT is(ask('SELECT string_agg(dept || n, '' '' ORDER BY dept) FROM (SELECT s.dept, dp_count(*) AS n FROM visits v JOIN (SELECT dept FROM depts WHERE beds > 1) s USING (dept) GROUP BY s.dept) r'),
	'b100 for 1', 'as a key: what it may have');

SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE chosen AS SELECT i AS id, repeat('x', 20) AS filler FROM generate_series(1, 7) i;
RESET SESSION AUTHORIZATION;
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN chosen USING (id)'), '7 for 1', 'a temporary table');

CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE major (id int) SERVER files OPTIONS (filename 'PG_VERSION');
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN major USING (id)'),
	'42501 permission denied for foreign table major for 0', 'a foreign table, without the right to read it');
GRANT SELECT ON major TO analyst1;
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN major USING (id)'), '1 for 1', 'a foreign table');

-- columns keep their places, whatever was dropped before them
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE wide (gone int, a int, b text, also_gone int, dept text, n numeric(5,2));
ALTER TABLE wide DROP COLUMN gone, DROP COLUMN also_gone;
INSERT INTO wide VALUES (7, 'seven', 'c', 1.25);
RESET SESSION AUTHORIZATION;
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN wide w ON w.dept = v.dept AND w.n = 1.25'), '100 for 1', 'dropped columns');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT *, 1 / (a - 7) AS fails FROM wide) w USING (dept)'),
	'100 for 1', 'a column that is not read is not computed');

-- more rows than memory
SELECT is(ask('SELECT set_config(''work_mem'', ''64kB'', false)'), '64kB for 0', 'little memory');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT i AS id, repeat(''x'', 100) || i AS filler FROM generate_series(1, 20000) i) s ON s.id = v.id AND s.filler IS NOT NULL'),
	'300 for 1', 'rows in temporary files');

-- ------------------------------------------------------------------------
-- rights
-- ------------------------------------------------------------------------

SELECT is(ask('SELECT dp_count(*) FROM visits JOIN secret USING (dept)'), '42501 permission denied for table secret for 0', 'a table that is not readable');
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN (SELECT dept FROM secret) s USING (dept)'),
	'42501 permission denied for table secret for 0', 'in a subquery');
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN hidden USING (dept)'), '42501 permission denied for view hidden for 0', 'a view that is not readable');
SELECT is(ask('EXPLAIN SELECT dp_count(*) FROM visits JOIN ' || r || ' USING (dept)'), '42501 permission denied for ' || o || ' for 0', 'also for EXPLAIN: ' || r)
	FROM (VALUES ('hidden', 'view hidden'), ('secret', 'table secret'), ('(SELECT dept FROM secret) s', 'table secret')) v (r, o);
GRANT SELECT (dept) ON secret TO analyst1;
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN secret USING (dept)'), '200 for 1', 'a column that is readable');
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN secret USING (dept) WHERE beds = 1'),
	'42501 permission denied for table secret for 0', 'and one that is not');

-- the owner of protected rows need not be allowed to read what is joined
CREATE TABLE codes AS SELECT dept FROM depts;
GRANT SELECT ON codes TO analyst1;
SELECT is(ask(format('SELECT dp_count(*) FROM %s JOIN codes USING (dept)', t)), '200 for 1', 'a table that the owner may not read, ' || t)
	FROM unnest('{visits,stays}'::text[]) t;
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN (SELECT * FROM codes) c USING (dept)'), '200 for 1', 'nor in a subquery');
SELECT is(ask('PREPARE trusted AS SELECT dp_count(*) FROM visits JOIN codes USING (dept)'), 'NULL for 0', 'prepared');
SELECT is(ask('EXECUTE trusted'), '200 for 1', 'and executed, time ' || i) FROM generate_series(1, 7) i;

-- they are asked for when a statement starts
BEGIN;
SELECT ask('DECLARE started CURSOR FOR SELECT dp_count(*) FROM visits JOIN codes USING (dept)');
REVOKE SELECT ON codes FROM analyst1;
SELECT is(ask('FETCH 1 FROM started'), '200 for 1', 'not after it was paid for');
ROLLBACK;

-- policies are those of who asks
SELECT is(ask('SELECT dp_count(*) FROM visits JOIN notes USING (dept)'), '100 for 1', 'a table with row-level security');
SELECT is(ask('SELECT dp_count(*) FROM stays JOIN (SELECT * FROM notes) n USING (dept)'), '100 for 1', 'in a subquery');

-- code of analysts runs as themselves
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE mine AS SELECT 'a' AS dept, i FROM generate_series(1, 3) i;
CREATE INDEX mine_key ON mine (i) WHERE spy(1);
RESET SESSION AUTHORIZATION;
CREATE TABLE parts (dept text, i int) PARTITION BY RANGE (i);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
INSERT INTO parts VALUES ('a', 1), ('b', 10);
GRANT SELECT ON parts TO analyst1;
ALTER TABLE parts_2 OWNER TO analyst1;
SET SESSION AUTHORIZATION analyst1;
CREATE INDEX parts_key ON parts_2 (i) WHERE spy(2);
RESET SESSION AUTHORIZATION;
SELECT is(spied('mine_key', 'SELECT count(*) FROM mine'), '3 for 0, seen by analyst1', 'planning runs code');
SELECT is(spied('mine_key', format('SELECT dp_count(*) FROM %s v JOIN mine m ON m.dept = v.dept AND m.i = 2', t)),
	'100 for 1, seen by analyst1', 'of a table of the analyst, ' || t) FROM unnest('{visits,stays}'::text[]) t;
SELECT is(spied('mine_key', 'SELECT dp_count(*) FROM visits v JOIN (SELECT * FROM mine WHERE i = 2) m USING (dept)'),
	'100 for 1, seen by analyst1', 'in a subquery');
SELECT is(spied('parts_key', 'SELECT dp_count(*) FROM visits v JOIN parts USING (dept)'),
	'200 for 1, seen by analyst1', 'of a partition of the analyst');

-- ------------------------------------------------------------------------
-- errors cost nothing
-- ------------------------------------------------------------------------

SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept, 1 / (beds - 1) AS q FROM depts) d ON d.dept = v.dept AND q > 0'),
	'22012 division by zero; nothing was charged for the private query for 0', 'an error is its own');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept FROM depts WHERE beds = (SELECT beds FROM depts)) d USING (dept)'),
	'21000 more than one row returned by a subquery used as an expression; nothing was charged for the private query for 0', 'in a condition, too');
SELECT is(ask('SELECT sum(n) FROM (SELECT dp_count(*) AS n FROM visits UNION ALL
		SELECT dp_count(*) FROM visits v JOIN (SELECT dept FROM depts WHERE 1 / (beds - 1) > 0) d USING (dept)) r'),
	'22012 division by zero; nothing was charged for the private query for 0', 'all is computed before anything is paid for');
SELECT matches(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept, nextval(''ticks'') AS t FROM depts) d ON d.dept = v.dept AND d.t > 0 WHERE pg_sleep(0) IS NULL'),
	'^ZC002 .* for 0$', 'a query that is refused');
SELECT is(ticked(), 0::bigint, 'computes nothing');
SELECT matches(ask('SELECT dp_sum(id, 2, 1) FROM visits v JOIN (SELECT dept, nextval(''ticks'') AS t FROM depts) d ON d.dept = v.dept AND d.t > 0'),
	'^ZC004 .* for 0$', 'nor one with a bad bound');
SELECT is(ticked(), 0::bigint, 'computes anything');

-- ------------------------------------------------------------------------
-- computed once
-- ------------------------------------------------------------------------

SELECT unalike(ask('EXPLAIN (VERBOSE) SELECT dp_count(*) FROM visits v JOIN (SELECT dept, nextval(''ticks'') AS t FROM depts) d ON d.dept = v.dept AND d.t > 0'),
	'%ticks%', 'EXPLAIN does not show them');
SELECT is(ticked(), 0::bigint, 'nor compute them');
SELECT is(ask('SELECT sum(n) FROM generate_series(1, 4) x, LATERAL (SELECT n FROM (SELECT dp_count(*) AS n FROM visits v
		JOIN (SELECT dept, nextval(''ticks'') AS t FROM depts) d ON d.dept = v.dept AND d.t > 0) r WHERE n > x OFFSET 0) l'),
	'800 for 1', 'rescans');
SELECT is(ticked(), 2::bigint, 'compute each row once');
SET SESSION AUTHORIZATION analyst1;
DECLARE again SCROLL CURSOR WITH HOLD FOR SELECT dp_count(*) FROM visits v
		JOIN (SELECT dept, nextval('ticks') AS t FROM depts) d ON d.dept = v.dept AND d.t > 0 UNION ALL
		SELECT dp_count(*) FROM stays JOIN (VALUES (1)) i (id) USING (id);
RESET SESSION AUTHORIZATION;
SELECT is(ask('FETCH 1 FROM again'), '200 for 0', 'a cursor that outlives its transaction');
SELECT is(ask('FETCH LAST FROM again'), '1 for 0', 'its last');
SELECT is(ask('FETCH FIRST FROM again'), '200 for 0', 'and the first again');
SELECT is(ticked(), 4::bigint, 'of the same rows');
SELECT ask('CLOSE again');

BEGIN;
SELECT is(ask('DECLARE again SCROLL CURSOR FOR SELECT dp_count(*) FROM visits v
		JOIN (SELECT dept, nextval(''ticks'') AS t FROM depts) d ON d.dept = v.dept AND d.t > 0'), 'NULL for 0', 'a cursor');
SELECT is(ticked(), 4::bigint, 'is not yet asked');
SELECT is(ask('FETCH 1 FROM again'), '200 for 1', 'its first row');
SELECT is(ask('FETCH 1 FROM again'), 'NULL for 0', 'has no other');
SELECT is(ask('FETCH FIRST FROM again'), '200 for 0', 'and the first again');
SELECT is(ticked(), 6::bigint, 'of the same rows');
COMMIT;

-- everything at the first row, and nothing of the tables after it
SET SESSION AUTHORIZATION analyst1;
CREATE TABLE long (id int, filler text);
ALTER TABLE long ALTER COLUMN filler SET STORAGE EXTERNAL;
INSERT INTO long SELECT i, repeat('x', 10000) FROM generate_series(1, 5) i;
RESET SESSION AUTHORIZATION;
BEGIN;
SELECT ask('DECLARE two CURSOR FOR SELECT dp_count(*) FROM visits UNION ALL
	SELECT dp_count(*) FROM visits v JOIN long l ON l.id = v.id AND l.filler LIKE ''%x''');
SELECT is(ask('FETCH 1 FROM two'), '300 for 2', 'both are paid for');
SELECT is(ask('TRUNCATE long'), 'NULL for 0', 'and the rows are gone');
SELECT is(ask('FETCH 1 FROM two'), '5 for 0', 'but were read');
COMMIT;

-- what is given need not be read: its file goes with the query
CREATE FUNCTION files() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER AS $$ SELECT count(*) FROM pg_ls_tmpdir() $$;
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION first_of_two() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer bigint;
	during bigint;
BEGIN
	SELECT n, files() INTO answer, during FROM (
		SELECT dp_count(*) AS n FROM visits UNION ALL
		SELECT dp_count(*) FROM visits v JOIN (SELECT id, repeat('y', 1000) AS filler FROM generate_series(1, 2000) id) l
			ON l.id = v.id AND l.filler LIKE '%y') r;
	RETURN format('%s, %s files, then %s', answer, during, files());
END $$;
RESET SESSION AUTHORIZATION;
SELECT is(ask('SELECT first_of_two()'), '300, 1 files, then 0 for 2', 'rows in a file that nobody reads');
RESET work_mem;

-- ------------------------------------------------------------------------
-- parameters and plans
-- ------------------------------------------------------------------------

SELECT is(ask('PREPARE by_dept (text, int) AS SELECT dp_count(*) FROM visits v JOIN (SELECT $1 AS dept, $2 AS n) d ON d.dept = v.dept AND v.id > d.n WHERE v.id < $2 + 30'),
	'NULL for 0', 'prepared with parameters');
SELECT is(ask(format('EXECUTE by_dept (%L, %s)', d, n)), e || ' for 1', 'and executed with ' || d || n)
	FROM (VALUES ('a', 0, 9), ('b', 0, 10), ('c', 0, 10), ('a', 30, 9), ('b', 60, 10), ('x', 0, 0), ('a', 275, 9)) v (d, n, e);

SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION by_variable(wanted text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	doubled text := wanted || wanted;
	answer bigint;
BEGIN
	SELECT dp_count(*) INTO answer FROM visits v JOIN (SELECT substr(doubled, 2) AS dept) d USING (dept);
	RETURN answer;
END $$;
RESET SESSION AUTHORIZATION;
SELECT is(ask('SELECT by_variable(''a'')'), '100 for 1', 'variables of a function, time ' || i) FROM generate_series(1, 7) i;

-- what plans depend on
SELECT is(ask('PREPARE given AS SELECT dp_count(*) FROM visits JOIN (SELECT dept FROM depts WHERE beds < 5) d USING (dept)'), 'NULL for 0', 'prepared');
SELECT is(ask('PREPARE direct AS SELECT dp_count(*) FROM visits JOIN depts USING (dept)'), 'NULL for 0', 'prepared');
SELECT is(ask('EXECUTE ' || p), '200 for 1', p || ', time ' || i) FROM unnest('{given,direct}'::text[]) p, generate_series(1, 6) i;
ALTER TABLE depts ADD COLUMN floor int;
ALTER TABLE depts DROP COLUMN floor;
SELECT is(ask('EXECUTE ' || p), '200 for 1', p || ' after ALTER TABLE') FROM unnest('{given,direct}'::text[]) p;
REVOKE SELECT ON depts FROM analyst1;
SELECT is(ask('EXECUTE ' || p), '42501 permission denied for table depts for 0', p || ' after REVOKE') FROM unnest('{given,direct}'::text[]) p;
GRANT SELECT ON depts TO analyst1;
SELECT is(ask('EXECUTE ' || p), '200 for 1', p || ' after GRANT') FROM unnest('{given,direct}'::text[]) p;
ALTER TABLE depts ENABLE ROW LEVEL SECURITY;
SELECT is(ask('EXECUTE ' || p), '0 for 1', p || ' with row-level security') FROM unnest('{given,direct}'::text[]) p;
CREATE POLICY dept_a ON depts TO analyst1 USING (dept = 'a');
SELECT is(ask('EXECUTE ' || p), '100 for 1', p || ' with a policy') FROM unnest('{given,direct}'::text[]) p;
ALTER TABLE depts DISABLE ROW LEVEL SECURITY;
ALTER TABLE depts OWNER TO analyst1;
SET SESSION AUTHORIZATION analyst1;
CREATE INDEX depts_key ON depts (beds) WHERE spy(3);
RESET SESSION AUTHORIZATION;
SELECT is(spied('depts_key', 'EXECUTE ' || p), '200 for 1, seen by analyst1', p || ' when the owner is another') FROM unnest('{given,direct}'::text[]) p;
DROP TABLE depts CASCADE;
SELECT is(ask('EXECUTE ' || p), '42P01 relation "depts" does not exist for 0', p || ' without the table') FROM unnest('{given,direct}'::text[]) p;

-- ------------------------------------------------------------------------
-- released rows
-- ------------------------------------------------------------------------

-- a selection of keys costs one, what reads it another
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept FROM stays WHERE id < 200 GROUP BY dept) d USING (dept)'), '300 for 2', 'keys');
SELECT is(ask('SELECT dp_count(*) FROM visits v JOIN (SELECT dept, dp_count(*) AS n FROM stays WHERE dept < ''c'' GROUP BY dept) d
		ON d.dept = v.dept AND d.n > 50'), '200 for 2', 'counts');
SELECT is(ask('PREPARE twice AS SELECT dp_count(*) FROM visits v JOIN (SELECT dept, dp_count(*) AS n FROM stays WHERE dept < ''c'' GROUP BY dept) d
		ON d.dept = v.dept AND d.n > 50'), 'NULL for 0', 'prepared');
SELECT is(ask('EXECUTE twice'), '200 for 2', 'and executed, time ' || i) FROM generate_series(1, 7) i;

-- exact ones, of somebody who may read protected rows, tell of them by what is joined
SELECT throws_matching(format('SELECT dp_count(*) FROM visits v JOIN %s ON s.id >= v.id', s),
		'cannot be joined with what is computed exactly from protected table "' || t || '"', 'exact: ' || s)
	FROM (VALUES ('(SELECT max(id) AS id FROM visits) s', 'visits'),
		('(SELECT i AS id FROM mine WHERE i = (SELECT count(*) FROM stays)) s', 'stays'),
		('(VALUES ((SELECT count(*) FROM visits)), (1)) s (id)', 'visits')) v (s, t);
SET SESSION AUTHORIZATION owner1;
CREATE TABLE numbered (id serial, dept text);
SELECT dp_cdp.protect_table('numbered', 'clinic', each_row => true);
RESET SESSION AUTHORIZATION;
SELECT throws_matching('SELECT dp_count(*) FROM visits v JOIN numbered_id_seq s ON s.last_value = v.id',
	'cannot be joined with what is computed exactly from protected table "numbered"', 'exact: a sequence');

SELECT * FROM finish();
