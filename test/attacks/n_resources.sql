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
--> ok 0..12
--@ teardown
ALTER ROLE ana RESET max_stack_depth;
