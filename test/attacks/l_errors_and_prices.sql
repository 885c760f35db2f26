-- What is told about answers: companions that show an error, previews, the last
-- release, and prices that follow from a wanted accuracy.

--# companions around what is not a private aggregate
--@ attack
SELECT dp_margin(cost) FROM visit;
--> ZC002
SELECT dp_noise_stddev(v) FROM visit v WHERE age = 97;
--> ZC002
SELECT dp_count(*), dp_margin(ward) FROM visit GROUP BY ward;
--> ZC002
SELECT dp_count(*), dp_noise_stddev(1) FROM visit;
--> ZC002
SELECT dp_margin(1), dp_noise_stddev(floor) FROM ward;
--> ZC002
SELECT dp_margin(string_agg(ward, ',')) FROM visit;
--> ZC002
SELECT dp_margin(max(ward)), dp_count(*) FROM visit;
--> ZC002
SELECT dp_margin(count(*)) FROM ward;
--> ZC002
SELECT dp_count(*) FROM visit WHERE dp_margin(age) > 0;
--> ZC002
SELECT dp_count(*) FROM visit WHERE dp_margin(dp_count(*)) > 0;
--> 42803
SELECT dp_count(dp_margin(age)) FROM visit;
--> ZC002
SELECT dp_sum(age, 0, dp_margin(age)::numeric) FROM visit;
--> ZC002
SELECT dp_sum(age, 0, dp_margin(dp_count(*))::numeric) FROM visit;
--> 42803
SELECT dp_margin(age), dp_count(*) FROM visit GROUP BY dp_margin(age);
--> ZC002
SELECT dp_count(*) FILTER (WHERE dp_noise_stddev(age) > 0) FROM visit;
--> ZC002
SELECT dp_margin(dp_margin(dp_count(*))) FROM visit;
--> ZC002
SELECT dp_noise_stddev(dp_noise_stddev(dp_count(*))) FROM visit;
--> ZC002
SELECT dp_margin(dp_count(*) || '') FROM visit;
--> ZC002
SELECT dp_margin(abs(dp_count(*))) FROM visit;
--> ZC002
SELECT dp_margin(dp_count(*) + age) FROM visit GROUP BY age;
--> ZC002 | ok 2
SELECT dp_margin(n) FROM (SELECT dp_count(*) AS n FROM visit) s;
--> ZC002
SELECT dp_margin((SELECT dp_count(*) FROM visit));
--> ZC002
SELECT (SELECT dp_margin(dp_count(v.age)) FROM ward LIMIT 1) FROM visit v;
--> ok 1 | ZC002
SELECT (SELECT dp_margin(dp_count(v.age) + count(*)) FROM ward LIMIT 1) FROM visit v;
--> ZC002
SELECT sum(dp_margin(dp_count(*))) OVER () IS NULL FROM visit;
--> ok 1
SELECT dp_margin(dp_count(*) OVER ()) FROM visit;
--> ZC002
SELECT dp_count(*), dp_margin(dp_count(*), 0), dp_margin(dp_count(*), 1) FROM visit;
--> ZC004
SELECT dp_count(*), dp_margin(dp_count(*), 'NaN') FROM visit;
--> ZC004
SELECT dp_margin(dp_count(*), age) FROM visit GROUP BY age;
--> ZC004 | ZC004 2 | ok 2
SELECT dp_margin(dp_count(*), cost::float8 / 100000) FROM visit;
--> 42803 | ZC002
SELECT dp_margin(dp_count(*), (SELECT age FROM visit LIMIT 1)) FROM visit;
--> ZC002
SELECT dp_margin(dp_count(*), (SELECT 0.5 FROM ward LIMIT 1)) IS NULL FROM visit;
--> ok 1 | ZC002
CREATE FUNCTION ana.reads() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT age / 100.0 FROM visit WHERE age = 97 LIMIT 1); END $$;
SELECT dp_margin(dp_count(*), ana.reads()) FROM visit;
--> ZC002 0..1
SELECT dp_margin(dp_avg(cost)), dp_noise_stddev(dp_max(cost) - dp_min(cost)) FROM visit WHERE patient = 42;
--> ok 3

--# errors are not finer than what was paid for
--@ absent: ^f
--@ attack
SELECT a = b FROM (SELECT dp_noise_stddev(dp_count(*)) AS a FROM visit WHERE patient = 42) s, (SELECT dp_noise_stddev(dp_count(*)) AS b FROM visit WHERE patient = -1) t;
--> ok 2
SELECT a = b FROM (SELECT dp_noise_stddev(dp_histogram(cost, 3)) AS a FROM visit WHERE patient = 42) s, (SELECT dp_noise_stddev(dp_histogram(cost, 3)) AS b FROM visit WHERE patient = -1) t;
--> ok 2
SELECT dp_noise_stddev(dp_avg(cost)) = dp_noise_stddev(dp_avg(cost)), dp_margin(dp_avg(cost)) > 0 FROM visit;
--> ok 1
SELECT dp_noise_stddev(dp_quantile(cost, 0.0)) <= 1000, dp_noise_stddev(dp_max(cost)) <= 1000 FROM visit;
--> ok 2

--# functions called like companions
--@ setup
SET ROLE boss; CREATE FUNCTION public.dp_margin(bigint) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$; CREATE FUNCTION public.dp_noise_stddev(int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN 'mine'; END $$;
--@ absent: spy
--@ attack
SELECT dp_margin(dp_count(*)) FROM visit;
--> ok 1
SELECT dp_noise_stddev(age) FROM visit;
--> ZC002
SELECT dp_noise_stddev(age), dp_count(*) FROM visit GROUP BY age HAVING dp_margin(dp_count(*)) = 'mine' AND dp_count(*) > 1000000;
--> ok 2
SELECT dp_count(*) FROM visit WHERE dp_noise_stddev(age) = 'mine';
--> ZC002
CREATE FUNCTION ana.dp_margin("any") RETURNS float8 LANGUAGE sql AS 'SELECT 1::float8';
--> 42P13
CREATE FUNCTION ana.dp_margin(anyelement, float8 DEFAULT 1) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN 'x'; END $$;
CREATE FUNCTION ana.dp_noise_stddev(anyelement) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'spy %', $1; RETURN 1; END $$;
SET search_path = ana, public;
SELECT dp_margin(cost), ana.dp_noise_stddev(cost) FROM visit;
--> ZC002 | 42725
SELECT dp_count(*) FILTER (WHERE ana.dp_margin(age) = 'x') FROM visit;
--> ZC002
SELECT dp_count(*) FROM visit WHERE ana.dp_noise_stddev(age) = 1;
--> ZC002
--@ teardown
SET ROLE boss; DROP FUNCTION public.dp_margin(bigint), public.dp_noise_stddev(int);

--# previews run nothing, and tell no more than EXPLAIN
--@ absent: called|Seq Scan|rows=4\d{3}|(^|\|)4\d{3}\b
--@ attack
CREATE TABLE ana.t (x int); INSERT INTO ana.t VALUES (1);
CREATE FUNCTION ana.w() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'called'; INSERT INTO ana.t VALUES (2); RETURN 1; END $$;
SELECT count(*) FROM dp_cdp.preview('SELECT dp_count(*), dp_avg(cost) FROM visit');
--> ok
SELECT * FROM dp_cdp.preview('SELECT max(cost), dp_count(*) FROM visit WHERE age = 97') WHERE item = 'aggregate';
--> ok
SELECT count(*) FROM dp_cdp.preview('SELECT cost FROM visit');
--> ZC002
SELECT count(*) FROM dp_cdp.preview('SELECT max(ward) FROM visit');
--> ZC002
SELECT count(*) FROM dp_cdp.preview('SELECT dp_count(*), ana.w() FROM visit');
--> ok
SELECT count(*) FROM dp_cdp.preview('SELECT ana.w()');
--> ok
SELECT count(*) FROM dp_cdp.preview('WITH d AS (DELETE FROM ana.t RETURNING x) SELECT x FROM d');
--> ok | ZC004
SELECT count(*) FROM dp_cdp.preview('WITH d AS (DELETE FROM ana.t RETURNING x) SELECT dp_count(*) FROM visit, d');
--> ZC002
SELECT count(*) FROM dp_cdp.preview('WITH d AS (DELETE FROM visit RETURNING *) SELECT 1');
--> ZC002
SELECT count(*) FROM dp_cdp.preview('DELETE FROM ana.t');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('SELECT dp_count(*) INTO ana.n FROM visit');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('CREATE TABLE ana.n AS SELECT dp_count(*) FROM visit');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('SELECT 1; DELETE FROM ana.t');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('SELECT dp_count(*) FROM visit; SELECT dp_count(*) FROM visit');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('EXPLAIN ANALYZE SELECT dp_count(*) FROM visit');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('EXPLAIN (ANALYZE) SELECT ana.w()');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('COPY visit TO STDOUT');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('SET ROLE boss');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('BEGIN');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('DO $d$ BEGIN PERFORM ana.w(); END $d$');
--> ZC004
SELECT count(*) FROM dp_cdp.preview('SELECT dp_count(*) FROM visit WHERE age > $1');
--> 42P02
SELECT count(*) FROM dp_cdp.preview('SELECT dp_count(*) FROM');
--> 42601
SELECT count(*) FROM dp_cdp.preview('SELECT * FROM dp_cdp.preview(''SELECT dp_count(*) FROM visit'')');
--> ok
SELECT count(*) FROM dp_cdp.preview('SELECT * FROM ward FOR UPDATE');
--> ok | 42501
SELECT count(*) FROM dp_cdp.preview(format('SELECT %s FROM visit', (SELECT string_agg(format('dp_sum(age, 0, %s)', g), ',') FROM generate_series(1, 100) g)));
--> ok | ZC002
CREATE FUNCTION ana.deep() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM * FROM dp_cdp.preview('SELECT dp_avg(cost, 0, ana.deep()) FROM visit'); RETURN 1; END $$;
SELECT count(*) FROM dp_cdp.preview('SELECT dp_avg(cost, 0, ana.deep()) FROM visit');
--> ok
CREATE FUNCTION ana.bought() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE NOTICE 'called'; PERFORM dp_count(*) FROM visit; RETURN 1; END $$;
SELECT count(*) FROM dp_cdp.preview('SELECT dp_avg(cost, 0, ana.bought()) FROM visit');
--> ok
EXPLAIN ANALYZE SELECT * FROM dp_cdp.preview('SELECT dp_count(*) FROM visit');
--> ok
SELECT count(*) FROM ana.t HAVING count(*) <> 1;
--> ok
CREATE FUNCTION ana.p(a text, b text) RETURNS boolean LANGUAGE sql AS $$ SELECT (SELECT array_agg(x::text) FROM (SELECT sensitivity, stddev, margin, rho, delta FROM dp_cdp.preview(a)) x) = (SELECT array_agg(x::text) FROM (SELECT sensitivity, stddev, margin, rho, delta FROM dp_cdp.preview(b)) x) $$;
SELECT ana.p('SELECT ward, dp_count(*) FROM visit WHERE age = 97 GROUP BY ward', 'SELECT ward, dp_count(*) FROM visit WHERE age = 20 GROUP BY ward') AS same \gset
SELECT 1 / (:'same' = 't')::int;
--> standby: any; ok
SELECT ana.p('SELECT dp_avg(cost), dp_max(cost) FROM visit WHERE patient = 42', 'SELECT dp_avg(cost), dp_max(cost) FROM visit WHERE patient = -1') AS same \gset
SELECT 1 / (:'same' = 't')::int;
--> standby: any; ok
--@ attack nob
SELECT item FROM dp_cdp.preview('SELECT dp_count(*) FROM visit') WHERE item = 'remains';
--> ZC001
--@ attack poor
SELECT count(*) FROM dp_cdp.preview('SELECT dp_count(*), dp_count(age), dp_sum(age) FROM visit');
--> ok

--# the last release is told to who made it
--@ absent: ^[1-9]
--@ setup
CREATE FUNCTION public.told() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM dp_cdp.last_release()'; ALTER FUNCTION told() OWNER TO boss;
GRANT bob TO ana;
--@ attack postgres
SET SESSION AUTHORIZATION ana;
SELECT ward, dp_avg(cost) FROM visit GROUP BY ward \g /dev/null
--> ok 2 bob:2
SET SESSION AUTHORIZATION nob;
SELECT count(*) FROM dp_cdp.last_release();
--> ok
SELECT told();
--> ok
SET SESSION AUTHORIZATION poor;
SELECT count(*) FROM dp_cdp.last_release();
--> ok
RESET SESSION AUTHORIZATION;
SET ROLE nob;
SELECT count(*) FROM dp_cdp.last_release();
--> ok
--@ attack
SELECT dp_count(*) FROM visit \g /dev/null
--> ok 1 bob:1
SET ROLE bob;
SELECT count(*) FROM dp_cdp.last_release();
--> ok
SELECT dp_sum(cost) FROM visit \g /dev/null
--> ok 1 bob:1
RESET ROLE;
SELECT count(*) FROM dp_cdp.last_release();
--> ok
SELECT dp_count(*), max(ward) FROM visit;
--> ZC002
SELECT count(*) FROM dp_cdp.last_release();
--> ok
--@ teardown
DROP FUNCTION told(); REVOKE bob FROM ana;

--# the last release holds what was released
--@ absent: ^f
--@ attack
SET dp_cdp.rho = 50;
SELECT array_agg(n) FROM (SELECT ward, dp_avg(cost) AS n FROM visit GROUP BY ward) s \g /dev/null
--> ok 10000
SELECT bool_and("group" <> 'zebra') FROM dp_cdp.last_release() WHERE "group" IS NOT NULL;
--> ok
SELECT count(m) IS NULL FROM (SELECT age, dp_max(cost) AS m FROM visit WHERE age > 96 GROUP BY age) s \g /dev/null
--> ok 10000
SELECT count(*) = 0 FROM dp_cdp.last_release() WHERE "group" = '97';
--> ok
BEGIN; SELECT dp_count(*) FROM visit \g /dev/null
ROLLBACK;
--> standby: any; ok 5000
SELECT sum(rho) = 50 FROM dp_cdp.last_release();
--> standby: any; ok
SELECT 1 FROM dp_cdp.last_release() WHERE aggregate ~ 'pilot';
--> ok
DISCARD ALL;
SELECT count(*) >= 0 FROM dp_cdp.last_release();
--> ok

--# a wanted accuracy has its price
--@ attack
SET dp_cdp.target_error = '0';
--> ZC004
SET dp_cdp.target_error = '-5';
--> ZC004
SET dp_cdp.target_error = 'NaN';
--> ZC004
SET dp_cdp.target_error = 'Infinity';
--> ZC004
SET dp_cdp.target_error = '1e999';
--> ZC004
SET dp_cdp.target_error = '-5%';
--> ZC004
SET dp_cdp.target_error = 'NaN%';
--> ZC004
SET dp_cdp.target_error = '5%%';
--> ZC004
SET dp_cdp.target_error = '1e-300';
SELECT dp_count(*) FROM visit;
--> ZC004
SELECT dp_avg(cost) IS NULL FROM visit;
--> ok 0.1..100.1
SET dp_cdp.target_error = '1e-300%';
--> ZC004
SET dp_cdp.target_error = '1e-290%';
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0.1..100.1
SELECT dp_count(*) IS NULL FROM visit WHERE patient = -1;
--> ok 0.1..100.1
SELECT dp_avg(cost) IS NULL, dp_max(cost) IS NULL, dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ok 0.3..300.3
SET dp_cdp.target_error = '1e300';
SELECT dp_count(*) IS NULL, dp_sum(cost) IS NULL FROM visit;
--> ok 0..0.001
SELECT dp_avg(cost) IS NULL FROM visit;
--> ok 0.1..1 | ZC004 0..0.1
SET dp_cdp.target_error = '1e300%';
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0.1..1
SET dp_cdp.target_error = '5%';
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0.1..100.1
SELECT dp_bounds(cost) IS NULL FROM visit;
--> ok 1
SELECT ward, dp_avg(cost) IS NULL, dp_count(*) IS NULL FROM visit GROUP BY ward LIMIT 1;
--> ok 1.2..301.2
SELECT DISTINCT ward FROM visit LIMIT 1;
--> ok 1..2
SELECT dp_count(*) FROM visit LIMIT 0;
--> ok
EXPLAIN SELECT dp_avg(cost) FROM visit;
--> ok
SELECT count(*) FROM dp_cdp.preview('SELECT dp_avg(cost), dp_count(*) FROM visit');
--> ok
SELECT setseed(2 + 0 * dp_count(*)) FROM visit;
--> 22023 0.1..100.1
SELECT dp_count(*) FROM visit WHERE (SELECT dp_count(*) FROM visit) > 1000;
--> ok 0.2..200.2
SELECT s.n IS NULL FROM generate_series(1, 20) g, (SELECT dp_count(*) AS n FROM visit) s;
--> ok 0.1..100.1
SELECT dp_count(*) IS NULL FROM visit UNION ALL SELECT dp_avg(cost) IS NULL FROM visit;
--> ok 0.2..200.2
DO $$ BEGIN BEGIN PERFORM dp_count(*) FROM visit; RAISE EXCEPTION 'no'; EXCEPTION WHEN OTHERS THEN NULL; END; END $$;
--> standby: any; ok 0.1..100.1
SET dp_cdp.target_error = '25';
SELECT bool_and(dp_margin <= 25.0001) FROM (SELECT dp_margin(dp_count(*)) FROM visit WHERE patient = 42) s;
--> ok 0.1..100
SET dp_cdp.rho = 1e-12; SET dp_cdp.target_error = '1%';
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0..0.0001 | ZC004

--# a wanted accuracy shows nothing that was not released
--@ only: noselect rls hardened
--@ absent: worker: nothing; ^f
--@ attack
SET dp_cdp.target_error = '5%';
SELECT dp_avg(cost) IS NOT NULL FROM visit WHERE patient = 42;
--> ok 0.1..100.1
SELECT count(*) = 1 AND bool_and(rho > 0) FROM dp_cdp.last_release() WHERE "group" IS NULL;
--> ok
SELECT bool_and(role::text = 'ana' AND aggregates !~ '\d{3}') FROM dp_cdp.releases WHERE aggregates ~ 'pilot';
--> ok

--# code of the analyst between the look and the answer
--@ absent: ^f
--@ attack
CREATE FUNCTION ana.flips() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN
	PERFORM set_config('dp_cdp.target_error', CASE current_setting('dp_cdp.target_error') WHEN '5%' THEN '' ELSE '5%' END, false);
	PERFORM set_config('dp_cdp.max_rows', CASE current_setting('dp_cdp.max_rows') WHEN '1' THEN '1000' ELSE '1' END, false);
	RETURN CASE current_setting('dp_cdp.max_rows') WHEN '1' THEN 1000 ELSE 1 END; END $$;
SET dp_cdp.target_error = '5%';
SELECT dp_avg(cost, 0, ana.flips()) IS NOT NULL FROM visit;
--> ok 0.1..100.1
SET dp_cdp.target_error = '5%';
SELECT dp_sum(cost, 0, ana.flips()) IS NOT NULL, dp_count(*) IS NOT NULL FROM visit WHERE patient = 42;
--> ok 0.2..200.2
CREATE FUNCTION ana.dear() RETURNS float8 LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM set_config('dp_cdp.rho', '0.05', false), dp_count(*) FROM visit; RETURN 1000; END $$;
SET dp_cdp.target_error = '5%'; RESET dp_cdp.max_rows;
SELECT dp_median(cost, 0, ana.dear()::numeric) IS NOT NULL FROM visit;
--> ok 0.5..3000

--# bounds that are found have their price, whatever is found, and code of the analyst changes none of it
--@ only: noselect rls hardened
--@ absent: ^f
--@ attack
RESET dp_cdp.target_error; RESET dp_cdp.max_rows; RESET dp_cdp.rho;
SET dp_cdp.find_bounds = '-1';
--> ZC004
SET dp_cdp.find_bounds = 'NaN';
--> ZC004
SET dp_cdp.find_bounds = '1e-300';
SELECT coalesce(dp_avg(cost / (cost - 7)), 1) IS NOT NULL FROM visit;
--> ok 1.01
SET dp_cdp.find_bounds = on;
SELECT coalesce(dp_avg(cost / (cost - 7)), 1) IS NOT NULL FROM visit WHERE patient = 42;
--> ok 1.1
SELECT coalesce(dp_sum(cost / (cost - 7)), 1) IS NOT NULL, coalesce(dp_avg(cost / (cost - 7)), 1) IS NOT NULL FROM visit WHERE patient = -1;
--> ok 2.1
SELECT bool_and(coalesce(dp_sum, 1) IS NOT NULL) FROM (SELECT ward, dp_sum(cost / (cost - 7)) FROM visit GROUP BY ward) q;
--> ok 1..2.2
CREATE FUNCTION ana.cheap() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN
	PERFORM set_config('dp_cdp.rho', '0.0001', false), set_config('dp_cdp.find_bounds', '0', false), set_config('dp_cdp.max_rows', '1000', false); RETURN 5; END $$;
SELECT coalesce(dp_histogram(cost / (cost - 7), ana.cheap()), '{}') IS NOT NULL FROM visit;
--> ok 1.1 | ZC004 0
RESET dp_cdp.rho; RESET dp_cdp.max_rows; SET dp_cdp.find_bounds = on;
CREATE FUNCTION ana.buys() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM dp_avg(cost / (cost - 7)) FROM visit; RETURN 5; END $$;
SELECT coalesce(dp_histogram(cost / (cost - 7), ana.buys()), '{}') IS NOT NULL FROM visit;
--> ok 2.2..6.6
SELECT bool_and(aggregates !~ '\d{3}') FROM dp_cdp.releases WHERE aggregates ~ 'bounds of';
--> ok
RESET dp_cdp.find_bounds;

--# a budget that ends between the look and the answer
--@ only: noselect rls hardened
--@ setup
CREATE ROLE tight LOGIN; SET ROLE boss; SELECT dp_cdp.set_budget('clinic', 'tight', rho => 0.011);
--@ attack tight
SET dp_cdp.target_error = '0.0001%';
SELECT dp_avg(cost) FROM visit;
--> ZC001 tight:0.1
SELECT dp_count(*) FROM visit;
--> ZC001 tight:0.1
BEGIN; SELECT dp_count(*) FROM visit;
--> ZC001 tight:0.1
ROLLBACK;
DO $$ BEGIN FOR i IN 1..20 LOOP BEGIN PERFORM dp_count(*) FROM visit; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$;
--> worker: ok; ok tight:0.8
SELECT dp_count(*) FROM visit;
--> ZC001
SELECT count(*) FROM dp_cdp.last_release() HAVING count(*) > 0;
--> ok
RESET dp_cdp.target_error;
SELECT dp_count(*) FROM visit;
--> ZC001
--@ teardown
SET ROLE boss; SELECT dp_cdp.drop_budget('clinic', 'tight'); RESET ROLE; DROP ROLE tight;
