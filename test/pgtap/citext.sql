-- Columns of citext that do not name units: compared, searched and grouped by as text in lower case, with the answers of
-- plain SQL.

SET client_min_messages = error;

CREATE SCHEMA more;
CREATE EXTENSION citext SCHEMA more;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT USAGE ON SCHEMA more TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET search_path = public, more;

CREATE FUNCTION as_role(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SET SESSION AUTHORIZATION %I', role);
	BEGIN
		-- any of equal values may be shown: compared without case
		EXECUTE format('SELECT string_agg(lower(q::text), '' '' ORDER BY lower(q::text)) FROM (%s) q', statement) INTO result;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN result;
END $$;
-- noise has a standard deviation of 0.03, and counts are rounded
CREATE FUNCTION same(statement text) RETURNS text LANGUAGE sql AS $$
	SELECT is(as_role('analyst1', statement), as_role('owner1', statement), statement) $$;

SELECT no_plan();

CREATE DOMAIN word AS text;
CREATE DOMAIN mailbox AS more.citext CHECK (VALUE LIKE '%@%');
GRANT USAGE ON TYPE word, mailbox TO owner1, analyst1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (person int NOT NULL, mail mailbox, city citext, street text, kind word NOT NULL, n int NOT NULL);
INSERT INTO visits SELECT i, (ARRAY['Ana', 'ana', 'ANA', 'Bob', 'bob', 'Zoë'])[1 + i % 6] || '@x.org', (ARRAY['Rome', 'rome', 'Oslo', 'OSLO', NULL, 'Ulm'])[1 + i % 6],
	(ARRAY['Rome', 'oslo', 'High street'])[1 + i % 3], 'w' || i % 3, i % 10 FROM generate_series(1, 3000) i;
CREATE TABLE cities (city citext PRIMARY KEY, land citext);
INSERT INTO cities VALUES ('ROME', 'it'), ('Oslo', 'NO'), ('ulm', 'de');
CREATE TABLE persons (person int PRIMARY KEY, home citext);
INSERT INTO persons SELECT i, CASE WHEN i % 2 = 0 THEN 'ROME' ELSE 'oslo' END FROM generate_series(1, 3000) i;
CREATE VIEW letters AS SELECT person, mail AS m, city, n FROM visits;
GRANT SELECT ON cities, letters TO analyst1;
ANALYZE;
SELECT dp_cdp.create_dataset('post', default_rho => 1000, default_delta => 1e-9) \g /dev/null
SELECT dp_cdp.protect_table('visits', 'post', unit => 'person'), dp_cdp.protect_table('persons', 'post', unit => 'person') \g /dev/null
SELECT dp_cdp.set_budget('post', 'analyst1', rho => 1e6) \g /dev/null
RESET SESSION AUTHORIZATION;
ALTER ROLE analyst1 SET dp_cdp.max_groups = 1;
ALTER ROLE analyst1 SET dp_cdp.max_rows = 1;
SET dp_cdp.max_groups = 1;
SET dp_cdp.max_rows = 1;

-- ------------------------------------------------------------------------
-- conditions
-- ------------------------------------------------------------------------

SELECT same(format('SELECT round(count(*)) FROM visits WHERE %s', c)) FROM unnest(ARRAY[
	'city = ''ROME''', 'city <> ''ROME''', '''ROME'' = city', 'city < ''p''', 'city <= ''OSLO''', 'city > ''Rome''', 'city >= ''rOME''', 'city BETWEEN ''oslo'' AND ''Rome''',
	'city LIKE ''r%''', 'city NOT LIKE ''R%''', 'city ILIKE ''r%''', 'city ~ ''^o.L''', 'city !~ ''^o.L''', 'city ~* ''^o.L''', 'mail LIKE ''ana@%''',
	'city IN (''ROME'', ''ulm'')', 'city NOT IN (''ROME'', ''ulm'')', 'city = ANY (''{ROME,ulm}''::citext[])', 'city <> ALL (ARRAY[''ROME'', ''ulm'']::citext[])', 'city = ANY (''{ROME,NULL}'')',
	'city IS NULL', 'city IS NOT NULL', 'city IS DISTINCT FROM ''ROME''', 'city IS NOT DISTINCT FROM NULL', 'NOT (city = ''rome'' OR n > 4)',
	'city::text = ''Rome''', 'city::varchar = ''rome''', 'city = ''Rome''::text', 'lower(city) = ''rome''', 'upper(city) = ''ROME''', 'length(city) > 3', 'left(city, 2) = ''Ro''',
	'strpos(mail, ''NA'') = 2', 'street::citext = ''ROME''', 'city = street', 'city = mail', 'city <> street::citext', 'mail = ''ZOË@X.ORG''', 'mail = ''aNa@x.org'' AND city = ''rome''',
	'coalesce(city, ''none'') = ''NONE''', 'CASE WHEN city = ''ROME'' THEN n > 3 ELSE n < 2 END', 'city || ''!'' = ''Rome!''',
	'CASE WHEN n > 5 THEN city ELSE mail END = ''ROME''', 'length(coalesce(city, mail)) > 4', 'coalesce(city, ''None'')::text = ''Rome''', '(CASE WHEN n > 5 THEN city END)::text = ''Rome''',
	'CASE city WHEN ''ROME'' THEN n > 3 WHEN ''ulm'' THEN true ELSE false END', 'CASE city WHEN ''ROME'' THEN ''a'' ELSE city END = ''A''', '(city, n) = (''ROME'', 1)',
	'city IS DISTINCT FROM mail', 'city COLLATE "C" = ''ROME''', 'city COLLATE "C" < ''ROME''', 'CASE CASE city WHEN ''rome'' THEN ''a''::citext ELSE city END WHEN ''A'' THEN true END']) c;
SELECT same('SELECT round(count(*) FILTER (WHERE city = ''ROME'')) AS a, round(count(city)) AS b FROM visits');
SELECT same('SELECT round(sum(CASE WHEN city = ''ROME'' THEN 1 ELSE 0 END)) FROM visits');

-- ------------------------------------------------------------------------
-- parameters
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
PREPARE by_mail AS SELECT round(count(*))::int AS n FROM visits WHERE mail = $1;
EXECUTE by_mail ('ANA@x.org') \gset custom_
SET plan_cache_mode = force_generic_plan;
EXECUTE by_mail ('ANA@x.org') \gset generic_
PREPARE like_mail (citext) AS SELECT round(count(*))::int AS n FROM visits WHERE mail LIKE $1;
EXECUTE like_mail ('zoë%') \gset like_
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
SELECT is(ARRAY[:custom_n, :generic_n, :like_n], ARRAY[1500, 1500, 500], 'parameters, of plans for one value and for any');

-- ------------------------------------------------------------------------
-- keys
-- ------------------------------------------------------------------------

SELECT same(q) FROM unnest(ARRAY[
	'SELECT city, round(count(*)) FROM visits GROUP BY city', 'SELECT city, round(count(*)) FROM visits WHERE city = ''ROME'' GROUP BY city', 'SELECT mail, round(count(*)) FROM visits GROUP BY mail',
	'SELECT city, round(count(*)) FROM visits WHERE city IN (''ROME'', ''Ulm'') GROUP BY city HAVING count(*) > 700', 'SELECT upper(city) AS c, round(count(*)) FROM visits GROUP BY 1',
	'SELECT city::text AS c, round(count(*)) FROM visits GROUP BY 1', 'SELECT coalesce(city, ''None'') AS c, round(count(*)) FROM visits GROUP BY 1', 'SELECT city = ''ROME'' AS c, round(count(*)) FROM visits GROUP BY 1',
	'SELECT CASE WHEN city = ''ROME'' THEN ''r'' ELSE ''o'' END AS c, round(count(*)) FROM visits GROUP BY 1', 'SELECT left(city, 1) AS c, round(count(*)) FROM visits GROUP BY 1',
	'SELECT city, kind, round(count(*)) FROM visits GROUP BY ROLLUP (city, kind)', 'SELECT kind, n > 5 AS more, round(count(*)) FROM visits GROUP BY CUBE (kind, n > 5)',
	'SELECT DISTINCT city FROM visits', 'SELECT m, round(count(*)) FROM letters WHERE city LIKE ''r%'' GROUP BY m', 'SELECT c, round(count(*)) FROM (SELECT person, city AS c FROM visits WHERE n > 3) q WHERE c::text = ''Rome'' GROUP BY c',
	'SELECT c, round(count(*)) FROM (SELECT person, city AS c, n FROM visits GROUP BY person, city, n) q GROUP BY c', 'SELECT c, round(count(*)) FROM (SELECT DISTINCT person, city AS c FROM visits) q WHERE c = ''ROME'' GROUP BY c',
	'SELECT land, round(count(*)) FROM visits v JOIN cities c ON v.city = c.city GROUP BY land', 'SELECT c.city, round(count(v.person)) FROM cities c LEFT JOIN visits v ON v.city = c.city GROUP BY c.city',
	'SELECT round(count(*)) FROM visits WHERE city IN (SELECT city FROM cities WHERE land = ''no'')', 'SELECT round(count(*)) FROM visits v JOIN persons p ON p.person = v.person AND p.home = v.city',
	'SELECT c, round(count(*)) FROM (SELECT person, city AS c FROM visits WHERE n > 4 UNION ALL SELECT person, city FROM visits WHERE n <= 4) q GROUP BY c',
	'SELECT round(count(*)) FROM persons p WHERE EXISTS (SELECT FROM visits v WHERE v.person = p.person AND v.city = p.home)']) q;
-- what a subquery hands up is as it is written, unless it is grouped by
SELECT same(q) FROM unnest(ARRAY[
	'SELECT round(count(*)) FROM (SELECT person, coalesce(city, ''NoNe'') AS c FROM visits) r WHERE c::text = ''NoNe''', 'SELECT round(count(*)) FROM (SELECT person, CASE WHEN n > 3 THEN city ELSE ''NoNe'' END AS c FROM visits) r WHERE c::text = ''Rome''',
	'SELECT round(count(*)) FROM (SELECT person, ''Foo''::citext AS c FROM visits) r WHERE c::text = ''Foo''', 'SELECT round(count(*)) FROM (SELECT person, city COLLATE "C" AS c FROM visits) q WHERE left(c, 1) = ''R''',
	'SELECT round(count(*)) FROM (SELECT person, city FROM visits WHERE city = ''ROME'' UNION ALL SELECT person, ''Unknown'' FROM visits WHERE city IS NULL) q WHERE city::text = ''Unknown''',
	'SELECT round(count(*)) FROM (SELECT v.person, coalesce(c.home, v.city) AS h FROM visits v LEFT JOIN persons c ON c.person = v.person) q WHERE h::text = ''ROME''',
	'SELECT round(count(*)) FROM (SELECT DISTINCT ON (person) person, city FROM visits ORDER BY person, n) q WHERE city::text = ''Rome''',
	'SELECT round(count(*)) FROM persons p, LATERAL (SELECT city FROM visits v WHERE v.person = p.person ORDER BY n LIMIT 1) x WHERE x.city::text = ''OSLO''',
	'SELECT c::text AS t, round(count(*)) FROM (SELECT person, coalesce(city, ''NoNe'') AS c FROM visits) r GROUP BY 1', 'SELECT c, round(count(*)) FROM (SELECT person, coalesce(city, ''NoNe'') AS c FROM visits) r GROUP BY c']) q;
-- the index that is meant is told as it is written
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE totals (city citext, k float8);
CREATE UNIQUE INDEX ON totals (city) WHERE city <> 'x';
INSERT INTO totals SELECT street, count(*) FROM visits WHERE street IS NOT NULL GROUP BY street ON CONFLICT (city) WHERE city <> 'x' DO UPDATE SET k = excluded.k;
SELECT round(sum(k)) AS k FROM totals \gset
RESET SESSION AUTHORIZATION;
SELECT is(:k, 3000, 'ON CONFLICT with a partial index');
SELECT is(as_role('analyst1', 'SELECT pg_typeof(city), city = ''ROME'' AS eq, round(count(*)) FROM visits WHERE city = ''Rome'' GROUP BY city'), '(citext,t,1000)', 'a key is of citext still');
SELECT same('SELECT round(count(DISTINCT city)) FROM visits');
-- of equal values that are grouped, one is in lower case whichever come first
SELECT is(as_role('analyst1', 'SELECT round(count(*)) FROM (SELECT person, city AS c FROM visits GROUP BY person, city) q WHERE c::text = ''Rome'''), '(0)', 'what is grouped by is in lower case');

-- ------------------------------------------------------------------------
-- what is refused
-- ------------------------------------------------------------------------

SELECT matches(as_role('analyst1', 'SELECT round(count(*)) FROM visits WHERE ' || c), '^ZC002 .* cannot be used on rows of a protected table', c)
	FROM unnest(ARRAY['CASE city WHEN street THEN true END', 'nullif(city, ''ROME'') IS NULL', 'greatest(city, ''P'') = ''P''', 'city = ANY (ARRAY[mail])']) c;
SET SESSION AUTHORIZATION owner1;
SELECT throws_like($$SELECT dp_cdp.set_keys('visits', 'city', ARRAY['Rome'])$$, 'column "city" of type citext cannot have declared keys: leave them undeclared, %');
SECURITY LABEL FOR dp_cdp ON COLUMN visits.n IS NULL;
RESET SESSION AUTHORIZATION;
-- whoever makes operators of his own for such types is not believed
CREATE FUNCTION more.never(citext, citext) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR more.=== (LEFTARG = citext, RIGHTARG = citext, FUNCTION = more.never);
SELECT matches(as_role('analyst1', 'SELECT round(count(*)) FROM visits WHERE city OPERATOR(more.===) ''a'''), '^ZC002 operator', 'another operator of citext');

SELECT * FROM finish();
