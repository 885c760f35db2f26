-- What costs next to nothing, what fails on purpose, what others have paid, and
-- functions that do not end.

--# a price of nothing
--@ attack
SET dp_cdp.rho = 1e-12;
SELECT dp_count(*) IS NULL FROM visit WHERE patient = 42;
--> ZC004
SET dp_cdp.rho = 0.0000999;
SELECT dp_sum(cost) IS NULL FROM visit GROUP BY ward;
--> ZC004
EXPLAIN SELECT dp_count(*) FROM visit;
--> ZC004
SELECT * FROM dp_cdp.preview('SELECT dp_count(*) FROM visit');
--> ZC004
PREPARE cheap AS SELECT dp_count(*) IS NULL FROM visit;
EXECUTE cheap;
--> ZC004
SET dp_cdp.rho = 0.0001;
EXECUTE cheap;
--> ok 0.01

--# ... by way of a function's settings, and of a block that catches
--@ attack
CREATE FUNCTION ana.cheap() RETURNS bigint LANGUAGE sql SET dp_cdp.rho = 1e-9 AS 'SELECT dp_count(*) FROM visit';
SELECT ana.cheap() IS NULL;
--> ZC004
DO $$ BEGIN
	FOR i IN 1 .. 100 LOOP
		BEGIN
			SET LOCAL dp_cdp.rho = 1e-10;
			PERFORM dp_count(*) FROM visit WHERE age = i;
		EXCEPTION WHEN division_by_zero THEN NULL;
		END;
	END LOOP;
END $$;
--> ZC004

--# ... by way of a target that anything meets
--@ attack
SET dp_cdp.target_error = '1e300';
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0.01
SET dp_cdp.target_error = '1e30%';
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0.11
SET dp_cdp.rho = 0.0001;
SELECT dp_count(*) IS NULL FROM visit;
--> ok 0.02
SELECT dp_avg(cost) IS NULL FROM visit;
--> ok 0.02
SET dp_cdp.rho = 1e-11;
SELECT dp_avg(cost) IS NULL FROM visit;
--> ZC004

--# errors on purpose, session by session
--@ setup
CREATE FUNCTION public.fussy(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF x = 97 THEN RAISE EXCEPTION 'found %', x; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('public.fussy(int)');
SELECT dp_cdp.reset_failures('clinic', 'ana');
--@ shell
for i in $(seq 25); do psql -X -At -U ana -c "SELECT dp_count(*) FROM visit WHERE public.fussy(age) > $i" 2>&1; done
--> any 20
--@ teardown
SELECT dp_cdp.disallow_function('public.fussy(int)');
SELECT dp_cdp.reset_failures('clinic', 'ana');
DROP FUNCTION public.fussy(int);

--# ... that end the session before their text is replaced
--@ only: noselect rls hardened
--@ absent: found 97
--@ setup
CREATE FUNCTION public.fussy(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF x = 97 THEN RAISE EXCEPTION 'found %', x; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('public.fussy(int)');
SELECT dp_cdp.reset_failures('clinic', 'ana');
--@ shell
psql -X -At -U ana -c "SET exit_on_error = on" -c "SELECT dp_count(*) FROM visit WHERE public.fussy(age) > 1" 2>&1 | grep FATAL
--> any 1
--@ verify
SELECT 'found 97, or no failure counted' FROM dp_cdp_internal.budget b WHERE b.role::regrole::text = 'ana' AND b.failures <> 1;
--@ teardown
SELECT dp_cdp.disallow_function('public.fussy(int)');
SELECT dp_cdp.reset_failures('clinic', 'ana');
DROP FUNCTION public.fussy(int);

--# ... in one transaction, caught and rolled back
--@ only: noselect rls hardened
--@ setup
CREATE FUNCTION public.fussy(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF x = 97 THEN RAISE EXCEPTION 'found %', x; END IF; RETURN x; END $$;
SELECT dp_cdp.allow_function('public.fussy(int)');
--@ attack
DO $$ BEGIN
	FOR i IN 1 .. 25 LOOP
		BEGIN
			PERFORM dp_count(*) FROM visit WHERE public.fussy(age) > i;
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
	END LOOP;
	RAISE EXCEPTION 'nothing has happened';
END $$;
--> P0001 20
SELECT dp_count(*) IS NULL FROM visit;
--> ZC001
SET dp_cdp.target_error = '1%';
SELECT dp_avg(age) IS NULL FROM visit;
--> ZC001
--@ teardown
SELECT dp_cdp.disallow_function('public.fussy(int)');
SELECT dp_cdp.reset_failures('clinic', 'ana');
DROP FUNCTION public.fussy(int);

--# ... and their number is the owner's to forget
--@ attack
SELECT dp_cdp.reset_failures('clinic', 'ana');
--> 42501
SELECT dp_cdp.alter_dataset('clinic', max_failures => 1000000);
--> 42501
SELECT dp_cdp.alter_dataset('clinic', min_rho => 1e-12);
--> 42501
SELECT dp_cdp.alter_dataset('clinic', answer_step => '0');
--> 42501
SELECT dp_cdp.alter_dataset('clinic', release_memory => 0);
--> 42501
SELECT dp_cdp.alter_dataset('clinic', find_bounds => 0.001);
--> 42501
SELECT dp_cdp.alter_dataset('clinic', key_delta_share => 0.99);
--> 42501
SELECT dp_cdp.alter_dataset('clinic', min_units => 1);
--> 42501
SELECT * FROM dp_cdp.suggest_limits('visit', 10);
--> 42501
UPDATE dp_cdp_internal.budget SET failures = 0;
--> 42501
SELECT failures FROM dp_cdp_internal.budget;
--> 42501

--# what others have paid, which follows from answers that they have bought
--@ only: noselect rls hardened
--@ absent: ^[0-9.]+[|]
--@ attack bob
SET dp_cdp.target_error = '5%';
SELECT dp_count(*) IS NULL FROM visit;
--> ok bob:0.1..10000
--@ attack
SELECT rho_spent, rho_remaining, delta_spent, epsilon_spent FROM dp_cdp.datasets WHERE dataset = 'clinic';
--> ok
SELECT sum(rho_spent), max(delta_spent) FROM dp_cdp.datasets;
--> ok
SELECT rho_spent FROM dp_cdp_internal.dataset;
--> 42501

--# ... by what refuses under the cap
--@ only: noselect rls hardened
--@ absent: remain
--@ setup
SELECT dp_cdp.alter_dataset('clinic', rho => 1000);
--@ attack
\set VERBOSITY verbose
SET dp_cdp.rho = 40000;
SELECT dp_count(*) IS NULL FROM visit;
--> ZC001
SELECT dp_count(*) IS NULL, dp_sum(cost) IS NULL FROM visit;
--> ZC001
DO $$
DECLARE m text; d text; h text;
BEGIN
	PERFORM dp_count(*) FROM visit;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
	RAISE NOTICE '% % %', m, d, h;
END $$;
--> ok
--@ teardown
SELECT dp_cdp.alter_dataset('clinic', rho => 'Infinity');

--# ... in reports, plans and previews
--@ only: noselect rls hardened
--@ absent: bob
--@ attack bob
SELECT dp_avg(age) IS NULL FROM visit;
--> ok bob:1
--@ attack
SELECT * FROM dp_cdp.budgets WHERE role <> 'ana'::regrole;
--> ok
SELECT * FROM dp_cdp.releases WHERE role <> 'ana'::regrole;
--> ok
SELECT * FROM dp_cdp.last_release();
--> ok
EXPLAIN (VERBOSE) SELECT dp_count(*) FROM visit;
--> ok
SELECT * FROM dp_cdp.preview('SELECT dp_count(*) FROM visit');
--> ok

--# renewals at the end of time
--@ attack
SET statement_timeout = '5s';
SELECT dp_cdp_internal.next_renewal('2020-01-01', '1 day', 'infinity') IS NULL;
--> ZC004

--# ... and one microsecond at a time
--@ attack
SET statement_timeout = '20s';
SELECT dp_cdp_internal.next_renewal('4713-01-01 BC', '1 microsecond', '294276-12-31') IS NULL;
--> ok
SELECT dp_cdp_internal.next_renewal('4713-01-01 BC', '1 day 1 microsecond', '294276-12-31') IS NULL;
--> ok
SELECT dp_cdp_internal.next_renewal('-infinity', '1 month', '-infinity') IS NULL;
--> ZC004

--# ... and periods of all lengths
--@ attack
SET statement_timeout = '20s';
SELECT count(dp_cdp_internal.next_renewal(r, p, n)), count(dp_cdp_internal.period_start(r, p)) FROM unnest('{4713-01-01 BC,2000-01-01,2020-02-29,294276-12-31,infinity,-infinity}'::timestamptz[]) r,
	unnest('{-1 day,0,1 microsecond,1 month -1 day,1 month 1 day,4000 years,178000000 years,2147483647 days}'::interval[]) p,
	unnest('{4713-01-01 BC,2000-01-01,2024-02-29,294276-12-31}'::timestamptz[]) n;
--> ok
