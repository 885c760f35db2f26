-- Stack, memory and size that a row decides: what runs on raw rows has enough
-- of all, whatever the row is, or none of it is asked for.

--# LIKE, whose matcher in PostgreSQL recurses for every %
--@ attack
PREPARE l (text, text) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN patient = 42 AND ward = 'zebra' THEN $1 END LIKE $2;
EXECUTE l (repeat('a', 60001), repeat('%a', 60000) || '%b');
--> ok 1
PREPARE n (text, text) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN patient = 42 AND ward = 'zebra' THEN $1 END NOT LIKE $2;
EXECUTE n (repeat('a', 60001), repeat('%a', 60000) || '%b');
--> ok 1
PREPARE i (text, text) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN patient = 42 AND ward = 'zebra' THEN $1 END ILIKE $2;
EXECUTE i (repeat('A', 60001), repeat('%a', 60000) || '%B');
--> ok 1
PREPARE b (bpchar, text) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN patient = 42 AND ward = 'zebra' THEN $1 END NOT ILIKE $2;
EXECUTE b (repeat('A', 60001), repeat('%a', 60000) || '%B');
--> ok 1
PREPARE g (text, text) AS SELECT (SELECT dp_count(*) FROM (SELECT patient, max(CASE WHEN ward = 'zebra' THEN $1 ELSE '' END) AS w FROM visit GROUP BY patient) s
	WHERE s.w LIKE $2) IS NULL;
EXECUTE g (repeat('a', 60001), repeat('%a', 60000) || '%b');
--> ok 1

--# the same with a constant, where little stack is left
--@ setup
ALTER ROLE ana SET max_stack_depth = '100kB';
--@ attack
SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN patient = 42 AND ward = 'zebra' THEN repeat('a', 2001) END LIKE repeat('%a', 2000) || '%b';
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN patient = 42 AND ward = 'zebra' THEN repeat('A', 2001) END ILIKE repeat('%a', 2000) || '%b';
--> ok 1
--@ teardown
ALTER ROLE ana RESET max_stack_depth;

--# functions that leave just so much stack that a row decides whether it suffices
--@ only: noselect rls hardened
--@ absent: differs
--@ setup
ALTER ROLE ana SET max_stack_depth = '100kB';
--@ attack
CREATE FUNCTION ana.deep(n int, q text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
	IF n > 0 THEN RETURN ana.deep(n - 1, q); END IF;
	EXECUTE q; RETURN 'answered'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
SET plan_cache_mode = force_generic_plan; SET enable_hashjoin = off; SET enable_mergejoin = off;
PREPARE p (int) AS SELECT dp_count(*) FROM visit WHERE patient = $1 AND CASE WHEN patient = 42 THEN repeat('ad', 200) END LIKE repeat('%d', 200) || 'b%';
EXECUTE p (1);
--> ok 1
SELECT CASE WHEN ana.deep(n, 'EXECUTE p (42)') IS DISTINCT FROM ana.deep(n, 'EXECUTE p (424242)') THEN 'differs' END FROM unnest('{5,10,15,20,25,30}'::int[]) n;
--> worker: ok; ok 0..12
--@ teardown
ALTER ROLE ana RESET max_stack_depth;

--# values that a row makes so long that no tuple can hold all of them
--@ only: noselect
--@ attack
CREATE FUNCTION ana.long(n int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('replace(CASE WHEN ward = ''zebra'' THEN repeat(''a'', 1500) END || ''%s'', ''a'', repeat(''b'', 10000))', i), ', ')
	FROM generate_series(1, n) i $$;
--> ok
DO $$ BEGIN EXECUTE format('SELECT dp_count(*) FROM (SELECT patient FROM visit GROUP BY patient, %s) s', ana.long(75)); END $$;
--> ok 1
DO $$ BEGIN EXECUTE format('SELECT dp_count(*) FROM (SELECT DISTINCT patient, %s FROM visit) s', ana.long(75)); END $$;
--> ok 1 | ZC002
SET enable_hashagg = off;
DO $$ BEGIN EXECUTE format('SELECT dp_count(*) FROM (SELECT patient FROM visit GROUP BY patient, %s) s', ana.long(75)); END $$;
--> ok 1

--# values that come with the query and are too long, found before anything is paid
--@ attack
PREPARE l (text) AS SELECT dp_count(*) FROM visit WHERE ward = $1;
EXECUTE l (repeat('a', 524289));
--> ZC002
EXECUTE l (repeat('a', 524288));
--> ok 1
PREPARE a (text[]) AS SELECT dp_count(*) IS NULL FROM visit WHERE ward = ANY ($1);
EXECUTE a (array_fill('heart'::text, '{100000}'));
--> ok 1
SELECT dp_count(*) FROM visit v JOIN (SELECT 'heart' AS ward, repeat('a', g) AS filler FROM generate_series(524289, 524289) g) s ON s.ward = v.ward AND s.filler > v.ward;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT 'heart' AS ward, repeat('a', g) AS filler FROM generate_series(524288, 524288) g) s ON s.ward = v.ward AND s.filler > v.ward;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT 'heart' AS ward, repeat('a', 600000) AS filler) s ON s.ward = v.ward;
--> ok 1
