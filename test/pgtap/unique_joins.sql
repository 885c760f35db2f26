-- Joins of a table whose rows are units by themselves with public tables: where
-- a unique index proves that no row is repeated, contributions need no bound
-- and a count's noise is that of one row; where nothing proves it, a row may
-- count max_rows times.  EXPLAIN tells, and charges nothing.

SET client_min_messages = error;
SET TimeZone = 'UTC';
-- whose snapshots may be older than the indexes below
ALTER SYSTEM SET autovacuum = off;
SELECT pg_reload_conf();

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (i int, b bigint, f float8, n numeric, t text, v varchar(9), c char(3), o oid,
	d date, ts timestamp, tz timestamptz, m mood, tc text COLLATE "C", k int, gone int);
INSERT INTO visits (i, k, t) SELECT g % 10, g % 3, g % 10 FROM generate_series(1, 100) g;
SELECT dp_cdp.create_dataset('clinic', default_rho => 0.5, max_rows => 7);
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000);

-- one unique index each, on the first column
CREATE TABLE primary_key (i int PRIMARY KEY, k int);
CREATE TABLE two_columns (i int, k int, x int, UNIQUE (i, k));
CREATE TABLE covering (i int, k int, UNIQUE (i) INCLUDE (k));
CREATE TABLE no_key (i int, k int);
CREATE INDEX ON no_key (i);
CREATE TABLE deferred (i int UNIQUE DEFERRABLE, k int);
CREATE TABLE of_some (i int, k int);
CREATE UNIQUE INDEX ON of_some (i) WHERE k > 0;
CREATE TABLE of_expression (i int, k int);
CREATE UNIQUE INDEX ON of_expression ((i % 100));
CREATE TABLE mixed (i int, k int);
CREATE UNIQUE INDEX ON mixed (i, abs(k));
CREATE TABLE excluded (i int, k int, EXCLUDE (i WITH =));
CREATE TABLE parent (i int PRIMARY KEY, k int);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE parted (i int PRIMARY KEY, k int) PARTITION BY RANGE (i);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_later (i int, k int) PARTITION BY RANGE (i);
CREATE TABLE parted_later_1 PARTITION OF parted_later FOR VALUES FROM (0) TO (100);
CREATE UNIQUE INDEX ON ONLY parted_later (i);
CREATE MATERIALIZED VIEW stored AS SELECT g AS i, g AS k FROM generate_series(1, 9) g;
CREATE UNIQUE INDEX ON stored (i);
CREATE TABLE nothing_twice (i int, k int);
DO $$ BEGIN IF current_setting('server_version_num')::int >= 150000 THEN
	EXECUTE 'CREATE UNIQUE INDEX ON nothing_twice (i) NULLS NOT DISTINCT';
ELSE CREATE UNIQUE INDEX ON nothing_twice (i); END IF; END $$;
CREATE TABLE types (b bigint UNIQUE, f float8 UNIQUE, n numeric UNIQUE, t text UNIQUE, v varchar(9) UNIQUE, c char(3) UNIQUE,
	o oid UNIQUE, d date UNIQUE, ts timestamp UNIQUE, tz timestamptz UNIQUE, m mood UNIQUE,
	tc text COLLATE "C" UNIQUE, x int);
CREATE TABLE pattern (t text);
CREATE UNIQUE INDEX ON pattern (t text_pattern_ops);
RESET SESSION AUTHORIZATION;

-- an operator class of somebody's own, for which -1 and 1 are the same
CREATE FUNCTION by_size(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp(abs($1), abs($2))';
CREATE OPERATOR CLASS by_size FOR TYPE int USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 by_size(int, int);
CREATE TABLE own_class (i int, k int);
CREATE UNIQUE INDEX ON own_class (i by_size);
-- which failed halfway
CREATE TABLE invalid (i int, k int);
CREATE UNIQUE INDEX invalid_i ON invalid (i);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'invalid_i'::regclass;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst1;
REVOKE ALL ON visits FROM analyst1;
ALTER TABLE own_class OWNER TO owner1;
ALTER TABLE invalid OWNER TO owner1;

-- 1: a row counts once; max_rows: a row may be repeated
CREATE FUNCTION repeats(source text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := 'no sigma';
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		FOR line IN EXECUTE 'EXPLAIN SELECT dp_count(*) FROM ' || source LOOP
			IF line ~ 'stddev=' THEN result := substring(line, 'stddev=([0-9.]+)'); END IF;
		END LOOP;
	EXCEPTION WHEN OTHERS THEN
		result := sqlstate || ' ' || sqlerrm;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN result;
END $$;
CREATE FUNCTION once(source text) RETURNS text LANGUAGE sql AS $$ SELECT is(repeats(source), '1', source) $$;
CREATE FUNCTION often(source text) RETURNS text LANGUAGE sql AS $$ SELECT is(repeats(source), '7', source) $$;

SELECT plan(115);

SELECT once('visits');

-- the index
SELECT once(format('visits a JOIN %s b ON a.i = b.i', t))
	FROM unnest('{primary_key,covering,parted,stored,nothing_twice}'::text[]) t;
SELECT once(format('visits a LEFT JOIN %s b ON b.i = a.i', t))
	FROM unnest('{primary_key,covering,parted,stored,nothing_twice}'::text[]) t;
SELECT often(format('visits a JOIN %s b ON a.i = b.i', t))
	FROM unnest('{two_columns,no_key,deferred,of_some,of_expression,mixed,excluded,parent,parted_later,own_class,invalid}'::text[]) t;
SELECT often(format('visits a JOIN %s b ON a.i = b.i AND a.k = b.k AND b.k > 0', t))
	FROM unnest('{no_key,deferred,of_some,of_expression,mixed,excluded,parent,parted_later,own_class,invalid}'::text[]) t;
SELECT often('visits a LEFT JOIN no_key b ON a.i = b.i');

-- one row at most
SELECT once(source) FROM unnest(ARRAY['visits CROSS JOIN (SELECT 3 AS x) b', 'visits a LEFT JOIN (SELECT 3 AS x) b ON a.k > b.x', 'visits a LEFT JOIN (VALUES (3)) b (x) ON a.k > b.x', 'visits a JOIN (SELECT CURRENT_DATE AS x) b ON a.d < b.x', 'visits a JOIN (SELECT k FROM no_key LIMIT 1) b ON a.k > b.k',
	'visits a LEFT JOIN (SELECT k FROM no_key FETCH FIRST ROW ONLY) b ON true', 'visits a JOIN (SELECT max(k) AS k FROM no_key HAVING count(*) > 1) b ON a.k > b.k', 'visits a, (SELECT m, 3 AS x FROM (SELECT max(k) AS m FROM no_key) n WHERE m > 1 GROUP BY m) b']) source;
SELECT often(source) FROM unnest(ARRAY['visits a JOIN (VALUES (3), (2)) b (x) ON a.k > b.x', 'visits a JOIN (SELECT k FROM no_key LIMIT 2) b ON a.k > b.k', 'visits a JOIN (SELECT k FROM no_key ORDER BY k FETCH FIRST ROW WITH TIES) b ON a.k > b.k', 'visits a LEFT JOIN (SELECT k FROM no_key LIMIT (SELECT 1)) b ON a.k > b.k',
	'visits a JOIN (SELECT generate_series(1, 2) AS k) b ON a.k > b.k', 'visits a JOIN (SELECT max(k) AS k FROM no_key GROUP BY i) b ON a.k > b.k', 'visits a JOIN (SELECT max(k) AS k FROM no_key GROUP BY GROUPING SETS ((), ())) b ON a.k > b.k',
	'visits a JOIN (SELECT x AS k FROM (SELECT 1 AS x) b FULL JOIN (SELECT 2 AS y) c ON x = y) b ON a.k > b.k']) source;

-- the condition
SELECT once('visits a JOIN two_columns b ON a.i = b.i AND a.k = b.k');
SELECT once('visits a JOIN two_columns b ON a.i = b.i WHERE b.k = a.k');
SELECT once('visits a JOIN two_columns b ON a.i = b.i AND b.k = 3');
SELECT once('visits a JOIN two_columns b USING (i, k)');
SELECT once('visits a NATURAL JOIN primary_key b');
SELECT once('visits a, two_columns b WHERE b.i = a.k + 1 AND 2 * a.i = b.k');
SELECT once('visits a JOIN primary_key b ON b.i = a.b');
SELECT once('visits a JOIN primary_key b ON (b.i = a.i AND a.k > 2) AND b.k < a.k');
SELECT often('visits a JOIN two_columns b ON a.i = b.i AND b.k = b.x');
SELECT often('visits a JOIN two_columns b ON a.i = b.i OR a.k = b.k');
SELECT often('visits a JOIN primary_key b ON a.i = b.k');
SELECT often('visits a JOIN primary_key b ON a.i >= b.i');
SELECT often('visits a JOIN primary_key b ON b.i + 0 = a.i');
SELECT often('visits a JOIN primary_key b ON b.i = a.i + b.k');
SELECT often('visits a JOIN primary_key b ON (b.i = a.i) OR a.k = b.k');
SELECT often('visits a JOIN primary_key b ON NOT b.i = a.i');
SELECT often('visits a JOIN primary_key b ON b.i IS NOT DISTINCT FROM a.i');
SELECT often('visits a JOIN primary_key b ON b.i IN (1, 2) AND a.k > b.k');
SELECT often('visits a LEFT JOIN two_columns b ON a.i = b.i WHERE b.k = a.k');

-- more than one table, whatever their order
SELECT once('visits a JOIN primary_key b ON a.i = b.i JOIN covering c ON c.i = b.k');
SELECT once('visits a JOIN covering c ON true JOIN primary_key b ON a.i = b.i AND c.i = b.k');
SELECT once('primary_key b JOIN covering c ON c.i = b.k JOIN visits a ON a.i = b.i');
SELECT once('visits a LEFT JOIN primary_key b ON a.i = b.i LEFT JOIN covering c ON c.i = b.k');
SELECT once('visits a JOIN two_columns x ON x.i = a.i JOIN primary_key b ON b.i = a.k WHERE x.k = b.k');
SELECT often('visits a JOIN primary_key b ON a.i = b.i JOIN covering c ON c.k = b.k');
SELECT often('visits a JOIN primary_key b ON a.i = b.k JOIN covering c ON c.i = b.k');
SELECT often('visits a JOIN two_columns x ON x.i = a.i JOIN two_columns y ON y.i = a.i WHERE x.k = y.k');
SELECT once('(SELECT a.i FROM visits a JOIN primary_key b ON a.i = b.i) q JOIN covering c USING (i)');
SELECT often('(SELECT a.i FROM visits a JOIN primary_key b ON a.i = b.k) q JOIN covering c USING (i)');

-- types: equality of the index's own family, and not by a time zone
SELECT once(format('visits a JOIN types b ON a.%1$s = b.%1$s', c)) FROM unnest('{b,f,n,t,v,c,o,d,ts,tz,m,tc}'::text[]) c;
SELECT once('visits a JOIN types b ON b.b = a.i');
SELECT once('visits a JOIN types b ON b.ts = a.d');
SELECT once('visits a JOIN types b ON b.t = a.v');
SELECT once('visits a JOIN pattern b ON b.t = a.t');
SELECT often('visits a JOIN types b ON b.d = a.tz');
SELECT often('visits a JOIN types b ON b.ts = a.tz');
SELECT often('visits a JOIN types b ON b.tz = a.d');
SELECT often('visits a JOIN types b ON b.b::int = a.i');
SELECT often('visits a JOIN types b ON b.n::float8 = a.f');
SELECT often('visits a JOIN types b ON b.t = a.tc COLLATE "C"');
SELECT often('visits a JOIN types b ON b.c::text = a.t');

-- that the noise is right: where the index proves it, rows are not dropped either
SET SESSION AUTHORIZATION owner1;
INSERT INTO primary_key SELECT g, g FROM generate_series(0, 9) g;
INSERT INTO no_key SELECT g % 10, g FROM generate_series(1, 100) g;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.rho = 100;
CREATE TEMP TABLE counted AS
	SELECT (SELECT dp_count(*) FROM visits a JOIN primary_key b ON a.i = b.i) AS once,
		(SELECT dp_count(*) FROM visits a JOIN no_key b ON a.i = b.i) AS often;
RESET dp_cdp.rho;
RESET SESSION AUTHORIZATION;
SELECT ok(abs(once - 100) <= 2, 'joined once') FROM counted;
-- ten times each, of which seven count
SELECT ok(abs(often - 700) <= 10, 'joined often') FROM counted;

-- a snapshot may be older than an index, and see what was deleted for it
SET SESSION AUTHORIZATION owner1;
CREATE TABLE cleaned (i int, k int);
GRANT SELECT ON cleaned TO analyst1;
RESET SESSION AUTHORIZATION;
CREATE EXTENSION dblink;
CREATE FUNCTION conninfo() RETURNS text LANGUAGE sql AS $$
	SELECT format('dbname=%s user=%s host=%s port=%s', current_database(), current_user,
		split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port')) $$;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT is(count(*), 0::bigint, 'a snapshot') FROM pg_class WHERE relname = 'nowhere';
SELECT is(dblink_exec(conninfo(), 'CREATE UNIQUE INDEX ON cleaned (i)'), 'CREATE INDEX', 'an index made meanwhile');
SELECT often('visits a JOIN cleaned b ON a.i = b.i');
COMMIT;
SELECT once('visits a JOIN cleaned b ON a.i = b.i');
-- also one that another session has, because it can be imported
SELECT dblink_connect('other', conninfo());
SELECT dblink_exec('other', 'BEGIN ISOLATION LEVEL REPEATABLE READ');
SELECT isnt(snapshot, NULL, 'a snapshot of another session') FROM dblink('other', 'SELECT pg_export_snapshot()') AS s (snapshot text);
CREATE UNIQUE INDEX ON no_key (k);
SELECT often('visits a JOIN no_key b ON a.i = b.k');
SELECT dblink_exec('other', 'COMMIT');
SELECT once('visits a JOIN no_key b ON a.i = b.k');


-- a partition that was attached meanwhile brings a young index, and rows that were deleted for its bounds
SET SESSION AUTHORIZATION owner1;
CREATE TABLE halves (i int PRIMARY KEY, k int) PARTITION BY RANGE (i);
CREATE TABLE halves_1 PARTITION OF halves FOR VALUES FROM (0) TO (5);
CREATE TABLE halves_2 (i int NOT NULL, k int);
GRANT SELECT ON halves TO analyst1;
RESET SESSION AUTHORIZATION;
SELECT once('visits a JOIN halves b ON a.i = b.i');
SELECT dblink_exec('other', 'BEGIN ISOLATION LEVEL REPEATABLE READ');
SELECT isnt(snapshot, NULL, 'a snapshot of another session') FROM dblink('other', 'SELECT pg_export_snapshot()') AS s (snapshot text);
ALTER TABLE halves ATTACH PARTITION halves_2 FOR VALUES FROM (5) TO (100);
SELECT often('visits a JOIN halves b ON a.i = b.i');
SELECT once('visits a JOIN parted b ON a.i = b.i');
SELECT dblink_exec('other', 'COMMIT');
SELECT once('visits a JOIN halves b ON a.i = b.i');

SELECT * FROM finish();
