-- Units of types that no expression over protected rows may read: a unit is grouped by, and no more
-- is computed of it than whether it is NULL.

SET client_min_messages = error;
CREATE DOMAIN patient AS int;
CREATE TYPE pair AS (a int, b numeric);
SELECT dp_cdp.create_dataset('d', default_rho => 20000, delta => 0.1, max_groups => 3, max_rows => 4) \g /dev/null
SELECT dp_cdp.set_budget('d', 'postgres', rho => 1000000) \g /dev/null
-- 100 units of 12 rows in 3 groups, of which some are written in two ways; 20 rows of nobody
CREATE TABLE made AS SELECT nullif(i % 101, 100) AS p, i / 101 % 3 AS k, i / 101 % 2 AS w FROM generate_series(0, 101 * 12 - 1) i;
CREATE TABLE form (type text, expression text);
INSERT INTO form VALUES ('int', 'p'), ('patient', 'p::patient'), ('pair', 'ROW(p, (w || ''.0'')::numeric * 0)::pair'), ('int[]', 'ARRAY[p]'),
	('int4range', 'int4range(p, 200)'), ('jsonb', '(''{"a": '' || p || CASE w WHEN 0 THEN ''.0}'' ELSE ''}'' END)::jsonb'),
	('pg_lsn', '(''0/'' || to_hex(p))::pg_lsn');
SELECT * FROM no_plan();

CREATE FUNCTION answers(t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	EXECUTE format('SELECT (SELECT dp_count(*) FROM %1$I) || '' '' || (SELECT dp_count(DISTINCT u) FROM %1$I) || '' '' ||
		(SELECT string_agg(k || '':'' || n, '','' ORDER BY k) FROM (SELECT k, dp_count(*) AS n FROM %1$I WHERE k IN (0, 1, 2) GROUP BY k) s) || '' '' ||
		(SELECT dp_count(*) FROM (SELECT u, k FROM %1$I WHERE k < 2) s)', t) INTO result;
	RETURN result;
END $$;
CREATE PROCEDURE make(type text, expression text, t text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (u %s, k int)', t, type);
	EXECUTE format('INSERT INTO %I SELECT CASE WHEN p IS NOT NULL THEN %s END, k FROM made', t, expression);
	PERFORM dp_cdp.protect_table(quote_ident(t)::regclass, 'd', unit => 'u');
END $$;
SELECT format('CALL make(%L, %L, %L)', type, expression, 'of ' || type) FROM form \gexec
-- of 12 rows of a unit 4 count, in each group 4; of 8 rows 4
SELECT is(answers('of ' || type), '400 100 0:400,1:400,2:400 400', 'units of type ' || type) FROM form;
SELECT throws_ok(format('SELECT dp_count(*) FROM %1$I WHERE u = u', 'of ' || type), 'ZC002', NULL, 'reading units of type ' || type)
	FROM form WHERE type NOT IN ('int', 'patient');
SELECT lives_ok('SELECT dp_count(*) FROM "of patient" WHERE u = u', 'reading units of a domain over int');
SELECT * FROM finish();
