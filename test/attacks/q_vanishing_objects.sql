-- Types, collations and functions that are not what they were when the query
-- was planned.  Where a row decides whether they are looked up, an error tells
-- of the row: patient 42 alone has age 97.

--# an analyst's own enum, collation and domain
--@ only: noselect hardened
--@ attack
CREATE TYPE ana.mood AS ENUM ('a', 'b'); CREATE COLLATION ana.coll FROM "C"; CREATE DOMAIN ana.dom AS text;
PREPARE e (ana.mood) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN $1 < 'b'::ana.mood ELSE true END;
EXECUTE e ('a');
--> ZC002
PREPARE e0 (ana.mood) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = -1 THEN $1 < 'b'::ana.mood ELSE true END;
EXECUTE e0 ('a');
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN ward < 'x' COLLATE ana.coll ELSE true END;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN ward::ana.dom = 'x' ELSE true END;
--> ZC002
SELECT 'a'::ana.mood, dp_count(*) IS NULL FROM visit GROUP BY 'a'::ana.mood;
--> ZC002 | ok 1
SELECT m, dp_count(*) IS NULL FROM (SELECT patient, 'a'::ana.mood AS m FROM visit) s GROUP BY m;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit GROUP BY ward COLLATE ana.coll;
--> ZC002
CREATE TABLE ana.t (age int, m ana.mood, w text COLLATE ana.coll); INSERT INTO ana.t VALUES (97, 'a', 'x');
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t ON t.age = v.age AND t.m < 'b';
--> ZC002
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t ON t.age = v.age AND t.w < v.ward;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit v JOIN (SELECT age, m::text AS m, w COLLATE "C" AS w FROM ana.t) t ON t.age = v.age AND t.m < 'b' AND t.w = v.ward;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit v JOIN ana.t ON t.age = v.age;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN 'a'::ana.mood < 'b'::ana.mood ELSE true END;
--> ok 1 | ZC002

--# ... dropped when a cached plan knows it
--@ only: noselect hardened
--@ attack
SET plan_cache_mode = force_generic_plan;
CREATE TYPE ana.mood AS ENUM ('a', 'b'); CREATE COLLATION ana.coll FROM "C";
PREPARE hit (text) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN ward < $1 COLLATE ana.coll ELSE true END;
PREPARE miss (text) AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = -1 THEN ward < $1 COLLATE ana.coll ELSE true END;
EXECUTE hit ('x');
--> ZC002
EXECUTE miss ('x');
--> ZC002
DROP COLLATION ana.coll;
EXECUTE hit ('x');
--> ZC002
EXECUTE miss ('x');
--> ZC002

--# ... dropped, so that an answer or a key has no name any more
--@ only: noselect hardened
--@ attack
CREATE COLLATION ana.coll FROM "C";
PREPARE distinct_values AS SELECT count(DISTINCT ward COLLATE ana.coll) IS NULL FROM visit;
PREPARE most_frequent AS SELECT mode() WITHIN GROUP (ORDER BY ward COLLATE ana.coll) IS NULL FROM visit;
PREPARE by_key AS SELECT count(*) IS NULL FROM visit GROUP BY ward COLLATE ana.coll;
DROP COLLATION ana.coll;
EXECUTE distinct_values;
--> ZC002
EXECUTE most_frequent;
--> ZC002
EXECUTE by_key;
--> ZC002

--# ... dropped by what the query joins
--@ only: noselect hardened
--@ attack
CREATE TYPE ana.mood AS ENUM ('a', 'b');
CREATE FUNCTION ana.drops() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DROP TYPE ana.mood'; RETURN 1; END $$;
PREPARE hit (ana.mood) AS SELECT dp_count(*) IS NULL FROM visit v, (SELECT ana.drops() AS one) s WHERE v.age > one AND CASE WHEN age = 97 THEN $1 < 'b'::ana.mood ELSE true END;
EXECUTE hit ('a');
--> ZC002
SELECT count(*) FROM pg_type WHERE typname = 'mood';
--> ok

--# the type of a parameter, dropped before EXECUTE
--@ only: noselect hardened
--@ absent: cache lookup failed
--@ attack
CREATE TYPE ana.mood AS ENUM ('a', 'b');
PREPARE plain (int, ana.mood) AS SELECT dp_count(*) IS NULL, $2 FROM visit WHERE age > $1;
EXECUTE plain (1, 'a');
--> ok 1
DROP TYPE ana.mood;
EXECUTE plain (1, 'a');
--> 42704
EXPLAIN EXECUTE plain (1, 'a');
--> 42704
CREATE TEMP TABLE kept AS EXECUTE plain (1, 'a');
--> 42704
CREATE TYPE ana.mood AS ENUM ('a', 'b');
PREPARE named AS SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN 'b'::ana.mood END > 'a'::ana.mood;
DROP TYPE ana.mood;
EXECUTE named;
--> 42704

--# a trusted type in the analyst's schema, dropped by what the query joins
--@ only: noselect hardened
--@ absent: while it read
--@ setup
GRANT CREATE ON SCHEMA ana TO boss; GRANT USAGE ON SCHEMA ana TO boss; CREATE TYPE ana.mood AS ENUM ('a', 'b'); ALTER TYPE ana.mood OWNER TO boss; CREATE COLLATION ana.coll FROM "C"; ALTER COLLATION ana.coll OWNER TO boss;
--@ attack
CREATE FUNCTION ana.drops(what text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE what; RETURN 1; END $$;
PREPARE plain (ana.mood) AS SELECT dp_count(*) IS NULL FROM visit v WHERE CASE WHEN age = 97 THEN $1 < 'b'::ana.mood ELSE true END;
EXECUTE plain ('a');
--> ok 1
PREPARE hit (ana.mood, text) AS SELECT dp_count(*) IS NULL FROM visit v, (SELECT ana.drops($2) AS one) s WHERE v.age > one AND CASE WHEN age = 97 THEN $1 < 'b'::ana.mood ELSE true END;
PREPARE miss (ana.mood, text) AS SELECT dp_count(*) IS NULL FROM visit v, (SELECT ana.drops($2) AS one) s WHERE v.age > one AND CASE WHEN age = -1 THEN $1 < 'b'::ana.mood ELSE true END;
EXECUTE hit ('a', 'DROP TYPE ana.mood');
--> ZC002
EXECUTE miss ('a', 'DROP TYPE ana.mood');
--> ZC002
BEGIN; SAVEPOINT s;
EXECUTE miss ('a', 'DROP TYPE ana.mood CASCADE');
--> ZC002
ROLLBACK TO s; EXECUTE hit ('a', 'SELECT 1');
--> ok 1
COMMIT;
DO $$ BEGIN EXECUTE $q$ SELECT dp_count(*) FROM public.visit v, (SELECT ana.drops('DROP COLLATION ana.coll') AS one) s WHERE v.age > one AND CASE WHEN v.age = 97 THEN ward < 'x' COLLATE ana.coll ELSE true END $q$; END $$;
--> ZC002
CREATE FUNCTION ana.ask(age int, what text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE r bigint; BEGIN SELECT dp_count(*) INTO r FROM public.visit v, (SELECT ana.drops(what) AS one) s WHERE v.age > one AND CASE WHEN v.age = ask.age THEN ward < 'x' COLLATE ana.coll ELSE true END; RETURN r; END $$;
SET plan_cache_mode = force_generic_plan;
SELECT ana.ask(97, 'SELECT 1') IS NULL;
--> ok 1
SELECT ana.ask(97, 'DROP COLLATION ana.coll') IS NULL;
--> ZC002
SELECT ana.ask(-1, 'DROP COLLATION ana.coll') IS NULL;
--> ZC002
SELECT ana.ask(-1, 'SELECT 1') IS NULL;
--> ok 1
CREATE TABLE ana.log (n bigint); CREATE FUNCTION ana.trig() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := ana.ask(97, 'DROP SCHEMA ana CASCADE'); RETURN NEW; END $$; CREATE TRIGGER t BEFORE INSERT ON ana.log FOR EACH ROW EXECUTE FUNCTION ana.trig();
INSERT INTO ana.log VALUES (1);
--> ZC002 | 55006

--# ... between the opening of a cursor and its first row
--@ only: noselect hardened
--@ absent: while it read
--@ setup
GRANT USAGE ON SCHEMA ana TO boss; CREATE TYPE ana.mood AS ENUM ('a', 'b'); ALTER TYPE ana.mood OWNER TO boss; CREATE COLLATION ana.coll FROM "C"; ALTER COLLATION ana.coll OWNER TO boss;
--@ attack
BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN ward < 'x' COLLATE ana.coll ELSE true END;
DROP COLLATION ana.coll;
FETCH c;
--> ZC002
ROLLBACK;
BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = -1 THEN ward < 'x' COLLATE ana.coll ELSE true END;
DROP SCHEMA ana CASCADE;
FETCH c;
--> ZC002
ROLLBACK;
BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = -1 THEN ward < 'x' COLLATE ana.coll ELSE true END;
DROP COLLATION ana.coll;
COMMIT;
--> worker: any; ZC002
BEGIN; DECLARE c CURSOR FOR SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN ward < 'x' COLLATE ana.coll ELSE true END;
FETCH c;
--> ok 1
DROP COLLATION ana.coll;
MOVE BACKWARD ALL c; FETCH c;
--> ok
ROLLBACK;

--# ... between two releases of one statement: charged together, no row of the second is read
--@ only: noselect hardened
--@ absent: while it read
--@ setup
CREATE COLLATION ana.coll FROM "C"; ALTER COLLATION ana.coll OWNER TO boss;
--@ attack
CREATE FUNCTION ana.drops() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DROP COLLATION ana.coll'; RETURN 1; END $$;
SELECT CASE WHEN n IS NOT NULL THEN ana.drops() END, (SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN ward < 'x' COLLATE ana.coll ELSE true END) FROM (SELECT dp_count(*) AS n FROM visit) s;
--> ZC002 2
SELECT CASE WHEN n IS NOT NULL THEN ana.drops() END, (SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = -1 THEN ward < 'x' COLLATE ana.coll ELSE true END) FROM (SELECT dp_count(*) AS n FROM visit) s;
--> ZC002 2

--# what is in use cannot be dropped from another session
--@ only: noselect hardened
--@ absent: worker: nothing; was dropped
--@ setup
GRANT USAGE ON SCHEMA ana TO boss; CREATE COLLATION ana.coll FROM "C"; ALTER COLLATION ana.coll OWNER TO boss;
--@ attack
BEGIN; SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN ward < 'x' COLLATE ana.coll ELSE true END;
--> ok 1
\! psql -X -q -U ana -v ON_ERROR_STOP=1 -c "SET lock_timeout = '100ms'" -c "DROP COLLATION ana.coll" -c "SELECT 'it was dropped'"
SELECT 'it was dropped' WHERE NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'coll');
--> ok
COMMIT;

--# a stranger's type in the protected table
--@ only: noselect hardened
--@ absent: while it read
--@ setup
GRANT USAGE ON SCHEMA ana TO boss; SET ROLE ana; CREATE TYPE ana.mood AS ENUM ('a', 'b'); CREATE TYPE ana.pair AS (a int, b ana.mood); RESET ROLE;
SET ROLE boss; CREATE TABLE mooded (patient int, m ana.mood, p ana.pair, age int); INSERT INTO mooded VALUES (1, 'a', NULL, 1); SELECT dp_cdp.protect_table('mooded', 'clinic', 'patient');
--@ attack
SELECT dp_count(*) IS NULL FROM mooded WHERE m = 'a';
--> ZC002
SELECT m, dp_count(*) IS NULL FROM mooded GROUP BY m;
--> ZC002
SELECT m FROM mooded GROUP BY m;
--> ZC002
SELECT dp_count(DISTINCT m) IS NULL FROM mooded;
--> ZC002
SELECT dp_count(*) IS NULL FROM (SELECT patient, max(m) AS m FROM mooded GROUP BY patient) s WHERE m::text = 'a';
--> ZC002
SELECT dp_count(*) IS NULL FROM mooded WHERE age = 1;
--> ok 1
CREATE FUNCTION ana.drops() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DROP TYPE ana.mood CASCADE'; RETURN 1; END $$;
SELECT dp_count(*) IS NULL FROM mooded, (SELECT ana.drops() AS one) s WHERE age = one;
--> ZC002
--@ attack postgres
ALTER TYPE ana.mood OWNER TO boss;
--> ok
--@ attack
SELECT count(n) FROM (SELECT m, dp_count(*) IS NULL AS n FROM mooded GROUP BY m) s;
--> ok 1
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('mooded'); DROP TABLE mooded;

--# a type and a function that change in mid-statement
--@ only: noselect hardened
--@ absent: while it read
--@ setup
SET ROLE boss; CREATE TYPE public.mood AS ENUM ('a', 'b'); CREATE TABLE mooded (patient int, m public.mood); SELECT dp_cdp.protect_table('mooded', 'clinic', 'patient'); RESET ROLE;
CREATE FUNCTION public.twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 2'; SELECT dp_cdp.allow_function('public.twice(int)');
CREATE FUNCTION public.changes(what text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN EXECUTE what; RETURN 1; END $$;
--@ attack
SELECT dp_count(*) IS NULL FROM mooded, (SELECT public.changes('ALTER TYPE public.mood RENAME VALUE ''a'' TO ''c''') AS one) s WHERE patient = one AND m::text = 'a';
--> ZC002
SELECT dp_count(*) IS NULL FROM mooded, (SELECT public.changes('ALTER TYPE public.mood ADD VALUE ''z''') AS one) s WHERE patient = one AND m < 'b';
--> ZC002
SELECT dp_count(*) IS NULL FROM mooded, (SELECT public.changes('ALTER TYPE public.mood OWNER TO ana') AS one) s WHERE patient = one AND m < 'b';
--> ZC002
SELECT dp_count(*) IS NULL FROM visit, (SELECT public.changes('CREATE OR REPLACE FUNCTION public.twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS $f$ SELECT 1 / 0 $f$') AS one) s WHERE age > one AND public.twice(age) = 2;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit, (SELECT public.changes('ALTER FUNCTION public.twice(int) OWNER TO ana') AS one) s WHERE age > one AND public.twice(age) = 2;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit, (SELECT public.changes('DROP FUNCTION public.twice(int)') AS one) s WHERE age > one AND public.twice(age) = 2;
--> ZC002
SELECT dp_count(*) IS NULL FROM mooded, (SELECT public.changes('ALTER TABLE public.mooded ALTER patient TYPE bigint') AS one) s WHERE patient = one AND m < 'b';
--> ZC002
SELECT dp_count(*) IS NULL FROM visit, (SELECT public.changes('SELECT 1') AS one) s WHERE age > one AND public.twice(age) = 2;
--> ok 1
--@ teardown
SET ROLE boss; SELECT dp_cdp.unprotect_table('mooded'); DROP TABLE mooded; DROP TYPE public.mood; RESET ROLE; SELECT dp_cdp.disallow_function('public.twice(int)'); DROP FUNCTION public.twice(int), public.changes(text);

--# an extension that the analyst has installed
--@ only: noselect hardened
--@ setup
GRANT CREATE ON DATABASE :"DBNAME" TO ana; GRANT USAGE ON SCHEMA ana TO boss; SET ROLE ana; CREATE EXTENSION citext SCHEMA ana; RESET ROLE;
SET ROLE boss; CREATE TABLE cited (patient ana.citext, age int); INSERT INTO cited VALUES ('x', 1); SELECT dp_cdp.protect_table('cited', 'clinic', 'patient');
--@ attack
SELECT dp_count(*) IS NULL FROM cited;
--> ZC002
SELECT dp_count(*) IS NULL FROM cited WHERE age = 1;
--> ZC002
--@ teardown
SELECT dp_cdp.unprotect_table('cited'); DROP TABLE cited; DROP EXTENSION citext; REVOKE CREATE ON DATABASE :"DBNAME" FROM ana;

--# operator classes with somebody's functions
--@ only: noselect hardened
--@ absent: spy boss
--@ setup
SET ROLE boss; CREATE TYPE public.mood AS ENUM ('a', 'b'); CREATE TABLE mooded (patient public.mood, m public.mood); INSERT INTO mooded VALUES ('a', 'b'); RESET ROLE;
CREATE FUNCTION ana.cmp(public.mood, public.mood) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'spy %', current_user; RETURN enum_cmp($1, $2); END $$;
CREATE FUNCTION ana.hash(public.mood) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'spy %', current_user; RETURN 1; END $$;
ALTER FUNCTION ana.cmp(public.mood, public.mood) OWNER TO ana; ALTER FUNCTION ana.hash(public.mood) OWNER TO ana;
CREATE FUNCTION public.mood_eq(public.mood, public.mood) RETURNS bool LANGUAGE internal STRICT IMMUTABLE AS 'enum_eq'; CREATE FUNCTION public.mood_lt(public.mood, public.mood) RETURNS bool LANGUAGE internal STRICT IMMUTABLE AS 'enum_lt';
CREATE OPERATOR public.= (PROCEDURE = public.mood_eq, LEFTARG = public.mood, RIGHTARG = public.mood, COMMUTATOR = OPERATOR(public.=), HASHES, MERGES); CREATE OPERATOR public.< (PROCEDURE = public.mood_lt, LEFTARG = public.mood, RIGHTARG = public.mood);
CREATE OPERATOR CLASS public.moody DEFAULT FOR TYPE public.mood USING btree AS OPERATOR 1 public.<, OPERATOR 3 public.=, FUNCTION 1 ana.cmp(public.mood, public.mood);
CREATE OPERATOR CLASS public.hashy DEFAULT FOR TYPE public.mood USING hash AS OPERATOR 1 public.=, FUNCTION 1 ana.hash(public.mood);
SET ROLE boss; SELECT dp_cdp.protect_table('mooded', 'clinic', 'patient');
--@ attack
SELECT dp_count(*) IS NULL FROM mooded;
--> ZC002
SELECT m, dp_count(*) IS NULL FROM mooded GROUP BY m;
--> ZC002
SELECT dp_count(DISTINCT m) IS NULL FROM mooded;
--> ZC002
--@ teardown
SELECT dp_cdp.unprotect_table('mooded'); DROP TABLE mooded; DROP TYPE public.mood CASCADE;

--# a partition that was given away
--@ only: noselect hardened
--@ setup
ALTER TABLE part_2 OWNER TO ana;
--@ attack
CREATE FUNCTION ana.spy(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1; END $$;
SELECT dp_count(*) IS NULL FROM part;
--> ZC002
SELECT dp_count(*) IS NULL FROM part WHERE y = 3;
--> ZC002
--@ teardown
ALTER TABLE part_2 OWNER TO boss;
