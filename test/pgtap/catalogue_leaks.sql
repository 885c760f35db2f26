-- After dp_cdp.harden() nothing that catalogue queries show depends on how many rows tables have that one may not read: each is
-- asked twice before rows are added, changed, deleted, analyzed and vacuumed, and once after that. Also all catalogues as a
-- whole, and functions of one relation.  "make test" leaves out the one view that takes longer than all others together.

\ir size.psql
SET client_min_messages = warning;
SELECT no_plan();
ALTER SYSTEM SET autovacuum = off;
SELECT pg_reload_conf();

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE depts (dept text PRIMARY KEY, building text);
INSERT INTO depts VALUES ('a', 'north'), ('b', 'south'), ('c', 'south');
CREATE TABLE visits (id serial PRIMARY KEY, patient int NOT NULL, dept text REFERENCES depts, note text);
CREATE INDEX ON visits (patient);
CREATE STATISTICS of_visits ON patient, dept FROM visits;
CREATE TABLE parts (patient int NOT NULL, year int) PARTITION BY LIST (year);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE elders (patient int NOT NULL);
CREATE TABLE elders_1 () INHERITS (elders);
CREATE TABLE secret (x int);
CREATE TABLE by_row (x int);
ALTER TABLE by_row ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON by_row TO PUBLIC USING (x < 5);
CREATE MATERIALIZED VIEW copied AS SELECT * FROM visits;
GRANT SELECT ON depts, by_row TO PUBLIC;
SELECT dp_cdp.create_dataset('clinic', rho => 1000);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{visits,parts,elders}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 500);
RESET SESSION AUTHORIZATION;

CREATE PROCEDURE fill(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO visits (patient, dept, note) SELECT i % 500, (ARRAY['a', 'b', 'c'])[1 + i % 3], repeat(md5(i::text), 100) FROM generate_series(first, last) i;
	INSERT INTO parts SELECT i, 1 FROM generate_series(first, last) i;
	INSERT INTO elders_1 SELECT i FROM generate_series(first, last) i;
	INSERT INTO secret SELECT i FROM generate_series(first, last) i;
	INSERT INTO by_row SELECT i FROM generate_series(first, last) i;
END $$;
CALL fill(6, 300);
REFRESH MATERIALIZED VIEW copied;
-- or what the session has not yet told of its rows would be added to what VACUUM counts
SELECT pg_stat_force_next_flush() \g /dev/null
VACUUM ANALYZE;

\ir same.psql
\ir catalogue_queries.psql
\ir catalogue_browsers.psql

CREATE TABLE asked_for (n serial, name text, query text, first text, again text, after text);
INSERT INTO asked_for (name, query) SELECT tool, query FROM tool_query
	UNION ALL SELECT c.oid::regclass::text, format('SELECT * FROM %s', c.oid::regclass) FROM pg_class c
	WHERE c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) AND c.relkind IN ('r', 'v') AND c.oid <> 'pg_type'::regclass
	UNION ALL SELECT p.oid::regprocedure::text, format('SELECT t.n, pg_catalog.%I(t.n::regclass) FROM (VALUES (''visits''), (''visits_pkey''), (''visits_id_seq''), (''parts''), (''parts_1''), (''elders''),
		(''elders_1''), (''secret''), (''by_row''), (''copied'')) t (n)', p.proname) FROM pg_proc p
	WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.pronargs = 1 AND p.proargtypes[0] IN ('oid'::regtype, 'regclass'::regtype)
		AND p.proname ~ '^(pg_(stat_get|relation|table|total|indexes|sequence|get|index|partition|filenode|nextoid)|has_|row_security|to_|age|txid)' AND p.provolatile <> 'i'
		AND p.proname <> 'pg_tablespace_location' AND p.proname <> 'pg_get_replica_identity_index';
-- the server's own time, processes, locks and transactions
DELETE FROM asked_for WHERE name IN ('pg_stat_activity', 'pg_locks', 'pg_timezone_names', 'pg_cursors', 'pg_prepared_statements', 'pg_stat_database',
	'locks by table') OR name = 'information_schema.element_types' AND NOT :long;
-- of rows that only one of two answers has, the first
CREATE FUNCTION difference(a text, b text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN a IS DISTINCT FROM b THEN (SELECT string_agg(left(line, 1000), ' <> ') FROM (
		(SELECT line FROM string_to_table(a, E', \n ') line EXCEPT SELECT line FROM string_to_table(b, E', \n ') line LIMIT 1) UNION ALL
		(SELECT line FROM string_to_table(b, E', \n ') line EXCEPT SELECT line FROM string_to_table(a, E', \n ') line LIMIT 1)) d) END $$;

SELECT cmp_ok((SELECT count(*) FROM asked_for a JOIN tool_query t ON t.tool = a.name)::int, '>=', 100, 'a hundred queries of tools');
SELECT cmp_ok((SELECT count(*) FROM asked_for)::int, '>=', 300, 'and all of the catalogues');

-- pgtap's own, which grows
REVOKE ALL ON __tcache__ FROM PUBLIC;
SELECT count(*) FROM dp_cdp.harden() \g /dev/null
UPDATE asked_for SET first = asked(query);
UPDATE asked_for SET again = asked(query);
SELECT is(difference(first, again), NULL, 'does not change by itself: ' || name) FROM asked_for WHERE again IS DISTINCT FROM first;
SELECT matches(coalesce(again, '[none'), '^(\[|42501|42704|42883|42P13|22|0A000)', 'answered or refused: ' || name) FROM asked_for;
SELECT is((SELECT count(*) FROM asked_for a JOIN tool_query t ON t.tool = a.name WHERE again ~ '^[0-9A-Z]{5} '), 0::bigint, 'those of tools are answered, all of them');

CALL fill(1000, 9000);
DELETE FROM visits WHERE id % 3 = 0;
UPDATE visits SET note = 'x' WHERE id % 3 = 1;
ANALYZE visits, parts, elders, secret, by_row;
SELECT pg_stat_force_next_flush() \g /dev/null
UPDATE asked_for SET after = asked(query);
SELECT is(difference(again, after), NULL, 'tells nothing of rows: ' || name) FROM asked_for ORDER BY n;
VACUUM visits, parts, elders_1, secret, by_row;
UPDATE asked_for SET after = asked(query);
SELECT is(difference(again, after), NULL, 'nor after VACUUM: ' || name) FROM asked_for ORDER BY n;
-- what the comparison would find
SELECT isnt((SELECT reltuples FROM pg_class WHERE relname = 'visits'), 295::real, 'there are more rows now');
SELECT isnt(asked('SELECT reltuples FROM pg_class WHERE relname = ''visits'''), NULL, 'and the question is answered');

SELECT * FROM finish();
