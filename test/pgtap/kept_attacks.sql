-- Attacks on kept answers: what would tell more than was paid for, or charge
-- for what was.

\ir kept.psql

SELECT no_plan();

-- ------------------------------------------------------------------
-- One question twice in a statement: two draws of an answer that was paid for
-- once would tell more
-- ------------------------------------------------------------------

SELECT ask('analyst1', 'SELECT count(*) FROM visits UNION ALL SELECT count(*) FROM visits');
SELECT is(paid(), 'analyst1 1, cap 1', 'asked twice at once, it is bought once');
SELECT is((SELECT count(DISTINCT l) FROM lines() l), 1::bigint, 'and has one answer');
SELECT ask('analyst1', 'SELECT count(*) FROM visits');
SELECT is(paid() || answer(), 'nobody' || (SELECT l FROM lines(1) l LIMIT 1), 'which is kept');
SELECT ask('analyst1', 'SELECT count(*), 1 AS x FROM visits UNION ALL SELECT count(*), 1 FROM visits', 'SET dp_cdp.rho = 5e-6');
SELECT is(paid(), 'analyst1 4, cap 4', 'a better one is bought once, too');
SELECT is((SELECT count(DISTINCT l) FROM lines() l), 1::bigint, 'it is the same in both');
SELECT ask('analyst2', 'SELECT count(*), 1 AS x FROM visits UNION ALL SELECT count(*), 1 FROM visits', 'SET dp_cdp.rho = 3e-6');
SELECT is(paid(), 'analyst2 3', 'derived once');
SELECT is((SELECT count(DISTINCT l) FROM lines() l), 1::bigint, 'and shown twice');
SELECT ask('analyst2', 'SELECT count(*) FROM visits', 'SET dp_cdp.rho = 3e-6');
SELECT is(paid() || answer(), 'nobody' || (SELECT regexp_replace(l, ',.*', ')') FROM lines(1) l LIMIT 1), 'which is kept');
SELECT ask('analyst2', 'SELECT count(*) FROM visits UNION ALL SELECT count(*) FROM visits', 'SET dp_cdp.rho = 5e-6');
SELECT is(paid(), 'analyst2 2', 'what is there is paid once');
SELECT ask('analyst1', 'SELECT dept, sum(cost), count(*), avg(cost), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits GROUP BY dept'
		   ' UNION ALL SELECT dept, sum(cost), count(*), avg(cost), percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits GROUP BY dept');
SELECT is(paid(), 'analyst1 4, cap 4', 'several columns');
SELECT is((SELECT count(DISTINCT l) FROM lines() l), 4::bigint, 'of several groups');
SELECT ask('analyst1', 'SELECT (SELECT sum(cost) FROM visits WHERE ward = 2), count(*), sum(cost) FROM visits WHERE ward = 2');
SELECT is(paid(), 'analyst1 2, cap 2', 'in a subquery');
SELECT matches(answer(), '^\((-?[0-9]+),-?[0-9]+,\1\)$', 'with the same answer');
SELECT ask('analyst1', 'WITH q AS (SELECT 1e-6 AS r) SELECT count(*) FROM visits WHERE ward = 3 UNION ALL SELECT * FROM (SELECT count(*) FROM visits AS v WHERE v.ward = 3) s');
SELECT is(paid(), 'analyst1 1, cap 1', 'written in another way');

-- what finds bounds is a question, too
SELECT ask('analyst1', 'SELECT sum(id) FROM visits UNION ALL SELECT sum(id) FROM visits', 'SET dp_cdp.rho = 1e-5; SET dp_cdp.find_bounds = on');
SELECT is(paid(), 'analyst1 11, cap 11', 'bounds are found once');
SELECT is((SELECT count(DISTINCT l) FROM lines() l), 1::bigint, 'for one answer');
SELECT ask('analyst1', 'SELECT sum(id), 1 AS x FROM visits UNION ALL SELECT sum(id), 1 FROM visits', 'SET dp_cdp.rho = 2e-5; SET dp_cdp.find_bounds = on');
SELECT matches(answer(), '^\((-?[0-9]*),1\)\n\(\1,1\)$', 'and found better once');
RESET dp_cdp.find_bounds;

-- ------------------------------------------------------------------
-- Paid for, and never drawn
-- ------------------------------------------------------------------

-- an answer that waits for its step is cancelled after the debit, for which a busy machine has 0.9 s
CREATE VIEW states AS
	SELECT rho * 1e6 AS rho, answer IS NULL AS undrawn FROM dp_cdp_internal.kept_answer WHERE NOT ended ORDER BY began DESC, rho DESC;
SELECT dp_cdp.alter_dataset('clinic', answer_step => '1 s');
SET SESSION AUTHORIZATION analyst1;
SET statement_timeout = '900ms';
\set ON_ERROR_STOP 0
SELECT count(*) FROM visits WHERE ward = 4;
\set ON_ERROR_STOP 1
RESET statement_timeout;
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('clinic', answer_step => '0');
SELECT is((SELECT undrawn FROM states LIMIT 1), true, 'a cancelled answer is paid for, and not drawn');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE ward = 4 UNION ALL SELECT count(*) FROM visits WHERE ward = 4');
SELECT is(paid(), 'nobody', 'asked again it costs nothing');
SELECT is((SELECT count(DISTINCT l) FROM lines() l), 1::bigint, 'and is drawn once, however often it is asked at once');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE ward = 4');
SELECT is(paid() || answer(), 'nobody' || (SELECT l FROM lines(1) l LIMIT 1), 'and kept');

-- a role that has not paid buys a cheaper one meanwhile
SELECT dp_cdp.alter_dataset('clinic', answer_step => '1 s');
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.rho = 5e-6;
SET statement_timeout = '900ms';
\set ON_ERROR_STOP 0
SELECT count(*) FROM visits WHERE ward = 5;
\set ON_ERROR_STOP 1
RESET statement_timeout;
RESET dp_cdp.rho;
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('clinic', answer_step => '0');
SELECT ask('analyst2', 'SELECT count(*) FROM visits WHERE ward = 5', 'SET dp_cdp.rho = 2e-6');
SELECT is(paid(), 'analyst2 2', 'what the cap has paid for and nobody has seen costs the cap no more');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE ward = 5');
SELECT is(paid(), 'nobody', 'who has paid for the dearer one gets it');
SELECT is((SELECT string_agg(rho::float8 || undrawn::text, ' ') FROM (SELECT * FROM states LIMIT 2) s), '5false 2false', 'as an increment above the cheaper one');
SELECT is((SELECT below * 1e6 FROM dp_cdp_internal.kept_answer WHERE NOT ended ORDER BY began DESC, rho DESC LIMIT 1)::float8, 2::float8, 'that says so');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE ward = 5');
SELECT is(paid() || answer(), 'nobody' || (SELECT l FROM lines(1) l LIMIT 1), 'and is given again as it was shown');
SELECT ask('analyst2', 'SELECT count(*) FROM visits WHERE ward = 5', 'SET dp_cdp.rho = 7e-6');
SELECT is(paid(), 'analyst2 5, cap 2', 'and so it goes on');

-- keys that are selected
SELECT dp_cdp.alter_dataset('clinic', answer_step => '1 s');
SET SESSION AUTHORIZATION analyst1;
SET dp_cdp.rho = 1;
SET statement_timeout = '900ms';
\set ON_ERROR_STOP 0
SELECT ward, count(*) FROM visits GROUP BY ward;
\set ON_ERROR_STOP 1
RESET statement_timeout;
RESET dp_cdp.rho;
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.alter_dataset('clinic', answer_step => '0');
SELECT ask('analyst1', 'SELECT ward, count(*) FROM visits GROUP BY ward', 'SET dp_cdp.rho = 1');
SELECT is(paid(), 'nobody', 'a selection that was cancelled costs no more, nor what was asked with it');
SELECT ask('analyst1', 'SELECT ward, count(*) FROM visits GROUP BY ward', 'SET dp_cdp.rho = 1');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'and is kept');
SELECT ask('analyst1', 'SELECT ward, sum(cost) FROM visits GROUP BY ward UNION ALL SELECT ward, sum(cost) FROM visits GROUP BY ward', 'SET dp_cdp.rho = 1');
SELECT is(paid(), 'analyst1 1000000, cap 1000000', 'a sum by keys that are kept, twice');
SELECT is((SELECT count(DISTINCT l) FROM lines() l), 7::bigint, 'is one');
SELECT ask('analyst2', 'SELECT ward, count(*) FROM visits GROUP BY ward UNION ALL SELECT ward, count(*) FROM visits GROUP BY ward', 'SET dp_cdp.rho = 1');
SELECT is(paid(), 'analyst2 2000000', 'given twice, keys are paid for once');

-- ------------------------------------------------------------------
-- Who asks
-- ------------------------------------------------------------------

SELECT ask('analyst1', 'SELECT sum(cost) FROM visits WHERE ward = 6');
SELECT ask('analyst3', 'SELECT sum(cost) FROM visits WHERE ward = 6');
SELECT matches(answer(), '^ZC001', 'without a budget nothing is given');
SELECT ask('analyst3', 'SELECT * FROM dp_cdp.preview($q$SELECT sum(cost) FROM visits WHERE ward = 6$q$)');
SELECT matches(answer(), '^ZC001', 'nor its price told');
-- a role of somebody's own
GRANT team TO analyst1;
SELECT dp_cdp.set_budget('clinic', 'team', rho => 1000, delta => 1e-6);
SELECT ask('analyst1', 'SELECT sum(cost) FROM visits WHERE ward = 6', 'SET ROLE team');
SELECT is(paid(), 'team 1', 'SET ROLE: who is behind it has paid, the role has not');
SELECT ask('analyst1', 'SELECT sum(cost) FROM visits WHERE ward = 6');
SELECT is(paid() || answer(), 'nobody' || answer(1), 'now both have');
-- functions that run as their owner
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION public.total() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER AS $$ SELECT sum(cost) FROM visits WHERE ward = 6 $$;
RESET SESSION AUTHORIZATION;
SELECT ask('analyst2', 'SELECT public.total()');
SELECT is(paid(), 'analyst2 1', 'a function of analyst1''s lends no rights to what he has paid for: analyst2 pays');
SELECT ask('analyst3', 'SELECT public.total()');
SELECT is(paid(), 'nobody', 'who has no budget has nobody pay');
-- a budget that is dropped and given again is another
SELECT dp_cdp.drop_budget('clinic', 'team');
SELECT dp_cdp.set_budget('clinic', 'team', rho => 1000, delta => 1e-6);
SELECT ask('analyst1', 'SELECT sum(cost) FROM visits WHERE ward = 6');
SELECT is(paid(), 'team 1', 'a budget that was dropped and is given again has not paid');
REVOKE team FROM analyst1;

-- ------------------------------------------------------------------
-- What is asked
-- ------------------------------------------------------------------

-- the same policy again
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost < 50');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.unprotect_table('visits');
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
RESET SESSION AUTHORIZATION;
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost < 50');
SELECT is(paid(), 'analyst1 1, cap 1', 'another policy is another question');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c', 'z']);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
RESET SESSION AUTHORIZATION;
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost < 50');
SELECT is(paid(), 'analyst1 1, cap 1', 'one that was dropped has ended its answers, though it is written alike');
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.unprotect_table('visits');
ALTER TABLE visits RENAME TO former;
CREATE TABLE visits (LIKE former INCLUDING ALL);
INSERT INTO visits SELECT * FROM former LIMIT 10;
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c', 'z']);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
RESET SESSION AUTHORIZATION;
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE cost < 50');
SELECT is(paid(), 'analyst1 1, cap 1', 'another table of the name is another question');
SET SESSION AUTHORIZATION owner1;
ALTER TABLE visits RENAME TO calls;
ALTER TABLE calls RENAME COLUMN cost TO price;
RESET SESSION AUTHORIZATION;
SELECT ask('analyst1', 'SELECT count(*) FROM calls WHERE price < 50');
SELECT isnt(paid(), '', 'a renamed one is bought or given, by its labels');
SET SESSION AUTHORIZATION owner1;
ALTER TABLE calls RENAME COLUMN price TO cost;
ALTER TABLE calls RENAME TO visits;
RESET SESSION AUTHORIZATION;
-- settings that change what an expression means
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE visited_on::timestamptz < ''2026-03-01 00:00+00''', 'SET TimeZone = ''UTC''');
SELECT ask('analyst1', 'SELECT count(*) FROM visits WHERE visited_on::timestamptz < ''2026-03-01 00:00+00''', 'SET TimeZone = ''Asia/Tokyo''');
SELECT is(paid(), 'analyst1 1, cap 1', 'another time zone is another question');
-- parameters
SET SESSION AUTHORIZATION analyst1;
PREPARE q(int) AS SELECT count(*) AS n, sum(cost), count(dept) FROM visits WHERE cost < $1;
RESET SESSION AUTHORIZATION;
SELECT ask('analyst1', 'SELECT count(*) AS n, sum(cost), count(dept) FROM visits WHERE cost < 51');
CREATE TABLE given AS SELECT spent() AS before;
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE first AS EXECUTE q(51);
CREATE TEMP TABLE second AS EXECUTE q(52);
SET plan_cache_mode = force_generic_plan;
CREATE TEMP TABLE third AS EXECUTE q(51);
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
SELECT is(spent() - (SELECT before FROM given), 3::bigint, 'a parameter is its value');
SELECT is((SELECT first::text FROM first), answer(), 'as if it were written');
SELECT is((SELECT third::text FROM third), answer(), 'in a generic plan, too');
SELECT isnt((SELECT second::text FROM second), answer(), 'and not as if it were another');		-- by three draws

-- ------------------------------------------------------------------
-- Transactions
-- ------------------------------------------------------------------

UPDATE given SET before = spent();
SET SESSION AUTHORIZATION analyst1;
BEGIN;
CREATE TEMP TABLE t4 AS SELECT count(*) FROM visits WHERE cost < 53;
ROLLBACK;
BEGIN READ ONLY;
SELECT count(*) AS read_only FROM visits WHERE cost < 53 \gset
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 1;
SAVEPOINT s;
SELECT count(*) AS in_savepoint FROM visits WHERE cost < 53 \gset
ROLLBACK TO s;
SELECT count(*) AS after_savepoint FROM visits WHERE cost < 53 \gset
SELECT count(*) AS fresh FROM visits WHERE cost < 54 \gset
SELECT count(*) AS again FROM visits WHERE cost < 54 \gset
DECLARE c CURSOR FOR SELECT count(*) FROM visits WHERE cost < 55;
SELECT 1 FROM pg_locks WHERE locktype = 'advisory';
FETCH c \gset cursor_
SELECT count(*) AS locks FROM pg_locks WHERE locktype = 'advisory' \gset
DECLARE d SCROLL CURSOR FOR SELECT count(*) FROM visits WHERE cost < 55;
FETCH d \gset second_
FETCH PRIOR d;
FETCH d \gset third_
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT is(spent() - (SELECT before FROM given), 3::bigint, 'three questions, however often and in whatever transaction');
SELECT is(:read_only, :in_savepoint, 'READ ONLY and SAVEPOINT');
SELECT is(:read_only, :after_savepoint, 'ROLLBACK TO');
SELECT is(:fresh, :again, 'in an old snapshot');
SELECT is(:cursor_count, :second_count, 'cursors');
SELECT is(:third_count, :second_count, 'that go back');
SELECT is(:locks, 0, 'no question stays locked in a transaction');
-- loops
SELECT ask('analyst1', 'SELECT 1');
SET SESSION AUTHORIZATION analyst1;
DO $$
DECLARE
	n bigint;
	first bigint;
BEGIN
	FOR i IN 1..50 LOOP
		BEGIN
			SELECT count(*) INTO n FROM visits WHERE cost < 56;
			first := coalesce(first, n);
			IF n <> first THEN
				RAISE EXCEPTION 'another answer';
			END IF;
			IF i % 2 = 0 THEN
				PERFORM 1 / 0;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
		END;
	END LOOP;
END $$;
RESET SESSION AUTHORIZATION;
SELECT is(spent() - (SELECT before FROM given), 4::bigint, 'a loop with subtransactions that fail buys once');
SELECT is((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), 0::bigint, 'and locks nothing');

-- ------------------------------------------------------------------
-- The ledger agrees
-- ------------------------------------------------------------------

SELECT is((SELECT count(*) FROM dp_cdp.check_ledger() WHERE severity <> 'info'), 0::bigint, 'the ledger is sound');
SELECT * FROM finish();
