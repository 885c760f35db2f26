-- What set_budget, create_dataset and alter_dataset return, held against the calculators and the ledger; the warning
-- where it is little, whose hint is typed in; and the share of delta for selections of keys.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE other1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE "o'ne ""two" LOGIN;
\ir analyst.psql
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;

SELECT no_plan();

-- within rounding up to so many digits
CREATE FUNCTION just_above(a float8, b float8, digits int) RETURNS boolean LANGUAGE sql IMMUTABLE
	AS $$ SELECT a >= b AND a <= b * (1 + 10 ^ (1 - digits)) $$;
-- the least epsilon at which everything is (epsilon, delta)-DP, and how often a guess is right, by the calculators
CREATE FUNCTION least_epsilon(g dp_cdp.granted) RETURNS float8 LANGUAGE sql IMMUTABLE
	AS $$ SELECT dp_cdp.zcdp_epsilon((g).rho::float8, ((g).delta::numeric - (g).key_delta::numeric)::float8) $$;
CREATE FUNCTION guess(g dp_cdp.granted) RETURNS float8 LANGUAGE sql IMMUTABLE
	AS $$ SELECT (1 + t.gauss + (g).key_delta * (1 - t.gauss)) / 2 FROM dp_cdp.gdp_delta(sqrt(2 * (g).rho)::float8, 0) AS t(gauss) $$;

-- what alter_dataset returns is the same, but for what has changed
CREATE FUNCTION as_granted(a dp_cdp.altered) RETURNS dp_cdp.granted LANGUAGE sql IMMUTABLE
	AS $$ SELECT ROW((a).dataset, NULL, (a).rho, (a).epsilon, (a).delta, (a).best_guess, (a).aggregates, (a).report_delta, (a).key_delta, (a).key_selections, (a).warnings)::dp_cdp.granted $$;

-- ------------------------------------------------------------------------
-- budgets
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('town', delta => 1e-5, default_delta => 1e-8) \g /dev/null
CREATE TABLE people (person int, sex text);
INSERT INTO people SELECT i, (ARRAY['f', 'm'])[1 + i % 2] FROM generate_series(1, 2000) i;
SELECT dp_cdp.protect_table('people', 'town', unit => 'person') \g /dev/null
CREATE TEMP TABLE given AS
	SELECT a.*, (dp_cdp.set_budget('town', 'analyst1', a.rho, a.epsilon, a.delta)) AS g
	FROM (VALUES (1e-12::float8, NULL::float8, NULL::float8), (0.0123, NULL, 1e-7), (0.1, NULL, 0), (0.1, NULL, NULL), (1, NULL, NULL), (2, NULL, 1e-5),
		(20, NULL, NULL), (977.5, NULL, 0.01), (1e6, NULL, NULL),
		(NULL, 0.01, 1e-5), (NULL, 0.123456789, 1e-6), (NULL, 0.5, 1e-6), (NULL, 1, 1e-6), (NULL, 1, 1e-15), (NULL, 3.25, 1e-5), (NULL, 20, 1e-9), (NULL, 500, 0.3)) AS a(rho, epsilon, delta);
SELECT ok(rho IS NULL OR (g).rho = rho::numeric, 'rho ' || (g).rho || ' is granted') FROM given;
SELECT ok(CASE WHEN rho IS NULL THEN (g).epsilon = epsilon ELSE just_above((g).epsilon, least_epsilon(g), 6) END
	AND (g).epsilon >= least_epsilon(g) * (1 - 1e-12), 'epsilon ' || (g).epsilon || ' is that of rho ' || (g).rho) FROM given;
-- another way to the same: of delta-approximate zCDP
SELECT ok((g).epsilon >= dp_cdp.approx_zcdp_epsilon((g).rho::float8, (g).key_delta, (g).delta) * (1 - 1e-12), 'with selections of keys, too: ' || (g).epsilon)
	FROM given WHERE (g).delta < 1;
SELECT is((g).delta::numeric, CASE WHEN rho IS NULL THEN coalesce(delta, 1e-5) ELSE 1e-5 + coalesce(delta, 1e-5) END::numeric, 'delta of rho ' || (g).rho) FROM given;
SELECT is((g).key_delta::numeric, (CASE WHEN rho IS NULL THEN 0.1 ELSE 1 END * coalesce(delta, 1e-5))::numeric, '... of which so much is for keys') FROM given;
SELECT ok(rho IS NOT NULL OR least_epsilon(ROW('', NULL, (g).rho * 1.000000001 + 2e-12, (g).epsilon, (g).delta, 0, 0, 0, (g).key_delta, 0, '{}')::dp_cdp.granted) > epsilon, 'no more rho is within epsilon ' || (g).epsilon) FROM given;
SELECT ok((g).best_guess >= guess(g) - 1e-15 AND (g).best_guess <= guess(g) + 1.001e-4 AND (g).best_guess BETWEEN 0.5 AND 1,
	'the best guess of rho ' || (g).rho || ' is right ' || (g).best_guess) FROM given;
SELECT is((g).best_guess, 0.7603::float8, 'Phi(sqrt(1/2)) = 0.76025, upwards') FROM given WHERE rho = 1;
SELECT is((g).aggregates, floor((g).rho / 0.01), 'aggregates of rho ' || (g).rho) FROM given;
SELECT is((g).key_selections, floor(round((g).key_delta::numeric / 1e-8, 6)), 'selections of delta ' || (g).key_delta) FROM given;
SELECT dp_cdp.create_dataset('as_epsilon', epsilon => 3, delta => 1e-6), dp_cdp.create_dataset('as_rho', rho => 1) \g /dev/null
SELECT is(a, b, 'alter_dataset takes an epsilon as create_dataset does') FROM (SELECT rho, epsilon, delta, report_delta, key_delta FROM dp_cdp.alter_dataset('as_rho', epsilon => 3, delta => 1e-6)) a,
	(SELECT d.rho_limit AS rho, d.epsilon_limit, d.delta_limit, d.report_delta, d.key_delta FROM (SELECT rho_limit, 3::float8 AS epsilon_limit, 1e-6::float8 AS delta_limit, 5e-7::float8 AS report_delta, 5e-7::float8 AS key_delta FROM dp_cdp.datasets WHERE dataset = 'as_epsilon') d) b;
SELECT throws_ok($$SELECT dp_cdp.alter_dataset('as_rho', epsilon => 3)$$, 'ZC004', NULL, 'but not without a delta');
SELECT throws_ok($$SELECT dp_cdp.alter_dataset('as_rho', rho => 1, epsilon => 3, delta => 1e-6)$$, 'ZC004', NULL, 'nor beside a rho');
SELECT dp_cdp.drop_dataset('as_epsilon'), dp_cdp.drop_dataset('as_rho') \g /dev/null
SELECT is((dp_cdp.set_budget('town', 'analyst1', epsilon => 1, delta => 1e-6)).aggregates, 2::numeric, 'epsilon 1 at delta 1e-6 buys two aggregates');
SELECT is((dp_cdp.set_budget('town', 'analyst1', epsilon => 0.5, delta => 1e-6)).aggregates, 0::numeric, 'epsilon 0.5 none');
RESET SESSION AUTHORIZATION;
CREATE VIEW limits AS SELECT rho_limit, delta_limit::float8, (delta_limit + report_delta)::float8 FROM dp_cdp_internal.budget WHERE role_name = 'analyst1';
SELECT rho, delta, key_delta FROM dp_cdp.set_budget('town', 'analyst1', epsilon => 2, delta => 1e-7) \gset
SELECT results_eq('SELECT * FROM limits', format('VALUES (%s::numeric, %s::float8, %s::float8)', :'rho', :'key_delta', :'delta'), 'the ledger has just this, and delta whole');
SELECT rho, delta, key_delta FROM dp_cdp.set_budget('town', 'analyst1', rho => 0.3, delta => 1e-7) \gset
SELECT results_eq('SELECT * FROM limits', format('VALUES (%s::numeric, %s::float8, %s::float8)', :'rho', :'key_delta', :'delta'), '... of a budget in rho, too');

-- what it says it buys it buys: two aggregates, or one and a selection of keys
SET SESSION AUTHORIZATION owner1;
SELECT aggregates FROM dp_cdp.set_budget('town', 'analyst1', epsilon => 1, delta => 1e-6) \gset
RESET SESSION AUTHORIZATION;
SELECT is(:aggregates, 2, 'two');
SELECT is((run_as_analyst('SELECT count(*) FROM people')).failure, NULL, 'one is answered') FROM generate_series(1, :aggregates);
SELECT alike((run_as_analyst('SELECT count(*) FROM people')).failure, 'ZC001%', 'and none after that');
SELECT is((dp_cdp.set_budget('town', 'analyst1', epsilon => 1, delta => 1e-6)).aggregates, 2::numeric, 'set again it is the same, though spent');

-- the price is the dataset's, whatever the caller's setting is
SET dp_cdp.rho = 0.003;
SELECT is((dp_cdp.set_budget('town', 'analyst1', rho => 0.1)).aggregates, 10::numeric, 'not at dp_cdp.rho');
SELECT is((dp_cdp.create_dataset('set', rho => 1)).aggregates, 100::numeric, 'nor is a cap');
RESET dp_cdp.rho;
SELECT dp_cdp.alter_dataset('town', default_rho => 0.04) \g /dev/null
SELECT is((dp_cdp.set_budget('town', 'analyst1', rho => 0.1)).aggregates, 2::numeric, 'at default_rho');
SELECT dp_cdp.alter_dataset('town', default_rho => 0.01) \g /dev/null

-- ------------------------------------------------------------------------
-- caps
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT results_eq($$SELECT rho, epsilon, delta, best_guess, aggregates, key_delta, key_selections FROM dp_cdp.create_dataset('free')$$,
	$$VALUES ('Infinity'::numeric, 'Infinity'::float8, 2e-6::float8, 1::float8, 'Infinity'::numeric, 1e-6::float8, 1000::numeric)$$, 'no cap is infinite');
CREATE TEMP TABLE caps AS SELECT dp_cdp.create_dataset('capped', rho => 3, delta => 1e-7, default_rho => 0.07, default_delta => 3e-9) AS g;
INSERT INTO caps SELECT as_granted(dp_cdp.alter_dataset('capped', rho => 5));
INSERT INTO caps SELECT as_granted(dp_cdp.alter_dataset('capped', delta => 1e-6, default_rho => 0.05));
INSERT INTO caps SELECT as_granted(dp_cdp.alter_dataset('capped', max_rows => 2));
SELECT results_eq('SELECT (g).rho, (g).aggregates, (g).key_selections, (g).delta, (g).key_delta FROM caps',
	$$VALUES (3::numeric, 42::numeric, 33::numeric, 2e-7::float8, 1e-7::float8), (5, 71, 33, 2e-7, 1e-7), (5, 100, 333, 2e-6, 1e-6), (5, 100, 333, 2e-6, 1e-6)$$, 'a cap, as it was made and changed');
SELECT ok(just_above((g).epsilon, least_epsilon(g), 6) AND (g).best_guess BETWEEN guess(g) AND guess(g) + 1.001e-4, 'epsilon and best guess of cap ' || (g).rho) FROM caps;
SELECT is((dp_cdp.alter_dataset('capped', rho => 'Infinity')).rho, 'Infinity', 'no cap any more');
SELECT is((dp_cdp.alter_dataset('capped', delta => 0.9)).delta, 1::float8, 'delta is at most 1');
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------------------
-- callers of before
-- ------------------------------------------------------------------------

SELECT lives_ok($$ DO $do$ BEGIN PERFORM dp_cdp.set_budget('town', 'analyst1', rho => 1); PERFORM dp_cdp.alter_dataset('town', max_rows => 3); END $do$ $$, 'PERFORM');
CREATE FUNCTION give() RETURNS void LANGUAGE sql AS $$ SELECT dp_cdp.set_budget('town', 'analyst1', rho => 1) $$;
SELECT lives_ok('SELECT give()', 'a function in SQL without a result');
SELECT is(count(dp_cdp.set_budget('town', r::regrole, rho => 1)), 2::bigint, 'counted, once for each') FROM unnest('{analyst1,other1}'::text[]) r;
SELECT is(count(*), 2::bigint, '... which there are') FROM dp_cdp.budgets WHERE dataset = 'town';
DO $$ DECLARE g dp_cdp.granted; BEGIN g := dp_cdp.set_budget('town', 'analyst1', rho => 1); IF g.aggregates <> 100 THEN RAISE EXCEPTION '%', g; END IF; END $$;
SET SESSION AUTHORIZATION other1;
SELECT throws_ok($$SELECT * FROM dp_cdp.set_budget('town', 'other1', rho => 1)$$, '42501', NULL, 'others are told nothing');
SELECT throws_ok($$SELECT * FROM dp_cdp.alter_dataset('town')$$, '42501', NULL, 'nor of the cap');
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------------------
-- the share for selections of keys
-- ------------------------------------------------------------------------

CREATE FUNCTION at_share(share float8) RETURNS dp_cdp.granted LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dp_cdp.alter_dataset('town', key_delta_share => share);
	RETURN dp_cdp.set_budget('town', 'analyst1', epsilon => 3, delta => 1e-6);
END $$;
CREATE TEMP TABLE shares AS SELECT share, at_share(share) AS g FROM unnest('{0,0.1,0.3,0.5,0.999}'::float8[]) share;
SELECT is((g).key_delta::numeric || ' of ' || (g).delta::numeric, (share * 1e-6)::numeric || ' of 0.000001', 'share ' || share) FROM shares;
SELECT ok((g).epsilon = 3 AND dp_cdp.zcdp_epsilon((g).rho::float8 + 1e-11, ((g).delta - (g).key_delta)) >= 3 * (1 - 1e-9)
	AND least_epsilon(g) <= 3, '... within epsilon, and just so') FROM shares;
SELECT ok((h.g).rho / (t.g).rho BETWEEN 0.94 AND 0.97, 'a half costs 3 to 6 % of rho: ' || (h.g).rho / (t.g).rho) FROM shares h, shares t WHERE h.share = 0.5 AND t.share = 0.1;
SELECT is(key_delta_share, 0.999::float8, 'shown') FROM dp_cdp.datasets WHERE dataset = 'town';
SELECT rho_limit FROM limits \gset
SELECT dp_cdp.alter_dataset('town', key_delta_share => 0.2) \g /dev/null
SELECT is(rho_limit, :rho_limit, 'budgets stay as they are until they are set again') FROM limits;
SELECT is((dp_cdp.create_dataset('half', key_delta_share => 0.5)).rho, 'Infinity', 'given with the dataset');
SELECT is((dp_cdp.set_budget('half', 'analyst1', epsilon => 1, delta => 1e-6)).key_delta, 5e-7::float8, '... and followed');
SELECT is((dp_cdp.create_dataset('other', key_delta_share => NULL)).key_delta, 1e-6::float8, 'NULL is the default');
SELECT is(key_delta_share, 0.1::float8, '... a tenth') FROM dp_cdp.datasets WHERE dataset = 'other';
SELECT is((at_share(0)).key_selections, 0::numeric, 'with 0 no key can be selected');
SELECT alike((run_as_analyst('SELECT sex, count(*) FROM people GROUP BY sex')).failure, 'ZC001%delta%', 'which is refused');
SELECT is((at_share(0.1)).key_selections, 10::numeric, 'with a tenth ten can');
SELECT is((run_as_analyst('SELECT sex, count(*) FROM people GROUP BY sex')).failure, NULL, 'which is answered');

SELECT throws_ok(format('SELECT dp_cdp.%s_dataset(%L, key_delta_share => %L)', f, CASE f WHEN 'alter' THEN 'town' ELSE 'new' END, v), 'ZC004', NULL, f || ' refuses ' || v)
	FROM unnest('{create,alter}'::text[]) f, unnest('{-1,-1e-300,1,1.5,NaN,Infinity,-Infinity}'::text[]) v;
SELECT is(key_delta_share, 0.1::float8, 'and changes nothing') FROM dp_cdp.datasets WHERE dataset = 'town';
SELECT is(count(*), 0::bigint, 'nor makes anything') FROM dp_cdp.datasets WHERE dataset = 'new';

-- ------------------------------------------------------------------------
-- the warning
-- ------------------------------------------------------------------------

-- what psql says of a statement, beside its result
\set statement 'SELECT dp_cdp.set_budget(''town'', ''other1'', epsilon => 1, delta => 1e-6)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, $$NOTICE:  the budget of role "other1" in dataset "town" pays for 2 aggregates at the default price, rho 0.01: give more, or let answers cost less
HINT:  For 10 aggregates, give epsilon => 2.16, or, for answers with more noise, dp_cdp.alter_dataset('town', default_rho => 0.002).$$, 'a budget that pays for two');
\set statement 'SELECT dp_cdp.set_budget(''town'', ''other1'', epsilon => 2.16, delta => 1e-6)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'the one remedy');
SELECT is((dp_cdp.set_budget('town', 'other1', epsilon => 2.16, delta => 1e-6)).aggregates, 10::numeric, '... buys ten');
SELECT is((dp_cdp.set_budget('town', 'other1', epsilon => 2.15, delta => 1e-6)).aggregates, 9::numeric, '... and a hundredth less nine');
SELECT dp_cdp.alter_dataset('town', default_rho => 0.002) \g /dev/null
\set statement 'SELECT dp_cdp.set_budget(''town'', ''other1'', epsilon => 1, delta => 1e-6)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'the other remedy');
SELECT dp_cdp.alter_dataset('town', default_rho => 0.01, min_rho => 0.005) \g /dev/null

\set statement 'SELECT dp_cdp.set_budget(''town'', ''"o''''ne ""two"'', rho => 0.015)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, $$NOTICE:  the budget of role "o'ne "two" in dataset "town" pays for 1 aggregate at the default price, rho 0.01: give more, or let answers cost less
HINT:  For 10 aggregates, give rho => 0.1, or, for answers with more noise, dp_cdp.alter_dataset('town', default_rho => 0.001, min_rho => 0.001).$$, 'one, and a least price');
\set statement 'SELECT dp_cdp.alter_dataset(''town'', default_rho => 0.001, min_rho => 0.001), dp_cdp.set_budget(''town'', ''"o''''ne ""two"'', rho => 0.015)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'its remedy');
SELECT dp_cdp.alter_dataset('town', default_rho => 0.01, min_rho => 0.0001) \g /dev/null
SELECT dp_cdp.alter_dataset('town', default_rho => 1e6) \g /dev/null
\set statement 'SELECT dp_cdp.set_budget(''town'', ''other1'', rho => 1e-12)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, 'NOTICE:  the budget of role "other1" in dataset "town" pays for no aggregate at the default price, rho 1000000: give more, or let answers cost less', 'without a remedy that there is not');
SELECT dp_cdp.alter_dataset('town', default_rho => 0.01) \g /dev/null
\set statement 'SET dp_cdp.rho = 0.5; SELECT dp_cdp.set_budget(''town'', ''other1'', rho => 1)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'a setting makes nothing dearer for others');

\set statement 'SELECT dp_cdp.create_dataset(''it''''s'', rho => 0.05)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, $$NOTICE:  the cap of dataset "it's" pays for 5 aggregates at the default price, rho 0.01: give more, or let answers cost less
HINT:  For 10 aggregates, dp_cdp.alter_dataset('it''s', rho => 0.1), or, for answers with more noise, dp_cdp.alter_dataset('it''s', default_rho => 0.005).$$, 'a cap');
\set statement 'SELECT dp_cdp.alter_dataset(''it''''s'', max_rows => 3)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'where another setting changes nothing is said');
\set statement 'SELECT dp_cdp.alter_dataset(''it''''s'', default_rho => 0.02)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT matches(:'said'::text, '^NOTICE:  the cap of dataset "it''s" pays for 2 aggregates', 'but where the price does');
\set statement 'SELECT dp_cdp.alter_dataset(''it''''s'', rho => 0.2)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'ten are enough');

-- ------------------------------------------------------------------------
-- notices
-- ------------------------------------------------------------------------

-- limits below what is spent
\set statement 'SELECT dp_cdp.set_budget(''town'', ''analyst1'', rho => 0.01)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT matches(:'said'::text, '^NOTICE:  the budget of role "analyst1" in dataset "town" is rho 0.01, and rho 0.0[2-9]\d* is spent already: it pays for nothing\nHINT:  For 10 aggregates more, give rho => 0\.1\d*\.', 'a budget below what is spent');
SELECT alike((run_as_analyst('SELECT count(*) FROM people')).failure, 'ZC001%', 'it pays for nothing');
\set statement 'SELECT dp_cdp.set_budget(''town'', ''analyst1'', rho => 0.01, period => ''1 day'')'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT matches(:'said'::text, 'For 10 aggregates more, give rho => 0\.1\d*, or wait until it is renewed, at 20\d\d-', 'and one that is renewed');
\set statement 'SELECT dp_cdp.set_budget(''town'', ''analyst1'', rho => 1)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'the remedy has nothing to say');
SELECT is((run_as_analyst('SELECT count(*) FROM people')).failure, NULL, '... and helps');
\set statement 'SELECT dp_cdp.alter_dataset(''town'', rho => 0.01)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT matches(:'said'::text, 'NOTICE:  the cap of dataset "town" is rho 0.01, and rho 0.\d+ is spent already: it pays for nothing\nHINT:  For 10 aggregates more, give rho => 0\.1\d*\.', 'a cap below what is spent');

-- no cap
\set statement 'SELECT dp_cdp.create_dataset(''bare'')'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, $$NOTICE:  dataset "bare" has no cap: its roles together may spend all that their budgets allow
HINT:  Give one with dp_cdp.alter_dataset('bare', rho => 1), say.$$, 'a dataset without a cap');
-- what renews without a cap
\set statement 'SELECT dp_cdp.set_budget(''bare'', ''analyst1'', rho => 0.5, period => ''1 month'')'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, $$NOTICE:  the budget of role "analyst1" in dataset "bare" is renewed 12 times a year, which adds up to rho 6: then the best guesser is right in 95.84 % of cases
HINT:  Cap all periods together with dp_cdp.alter_dataset('bare', rho => 5) or less.$$, 'a budget whose year promises little');
\set statement 'SELECT dp_cdp.set_budget(''bare'', ''analyst1'', rho => 0.5, period => ''3 months''), dp_cdp.set_budget(''bare'', ''analyst1'', rho => 0.5, period => ''5 years'')'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'others promise more');
\set statement 'SELECT dp_cdp.set_budget(''bare'', ''analyst1'', rho => 1e-9, period => ''1 microsecond'')'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT matches(:'said'::text, 'renewed 3\.15576e\+13 times a year, which adds up to rho 3\.156e\+04: then the best guesser is right in 100 %', 'however short');
SELECT is((dp_cdp.alter_dataset('bare', rho => 1)).rho, 1::numeric, 'the remedy');
\set statement 'SELECT dp_cdp.set_budget(''bare'', ''analyst1'', rho => 0.5, period => ''1 month'')'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', '... ends what renews');
\set statement 'SELECT dp_cdp.create_dataset(''boundless'', rho => ''Infinity'')'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, '', 'who says Infinity knows');

-- who asks for rows, and has no budget for counts either, hears both at once
CREATE ROLE idle1 LOGIN;
\set said `psql -X -q -U idle1 -o /dev/null -c 'SELECT * FROM people' 2>&1`
SELECT matches(:'said'::text, E'ask for private aggregates, .*\nDETAIL:  For these, too, role "idle1" has no privacy budget for dataset "town": ', 'both are said');

-- names of datasets that there are not
\set statement 'SELECT dp_cdp.set_budget(''twon'', ''analyst1'', rho => 1)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, $$ERROR:  dataset "twon" does not exist: create it with dp_cdp.create_dataset
HINT:  Your datasets are "town", "bare", "free", "it's", "capped", "boundless".$$, 'an owner is told of his datasets, the most similar first');
\set said `psql -X -q -U other1 -o /dev/null -c :'statement' 2>&1`
SELECT is(:'said'::text, 'ERROR:  dataset "twon" does not exist: create it with dp_cdp.create_dataset', 'others are told of none');
\set statement 'SELECT dp_cdp.set_budget(''public.people'', ''analyst1'', rho => 1)'
\set said `psql -X -q -U owner1 -o /dev/null -c :'statement' 2>&1`
SELECT matches(:'said'::text, E'\nDETAIL:  "public.people" is a table, which is in dataset "town".\n', 'a table in the place of its dataset');
\set statement 'SELECT dp_cdp.set_budget(''twon'', ''analyst1'', rho => 1)'
SELECT dp_cdp.create_dataset('d' || i, rho => 1) FROM generate_series(1, 5) i \g /dev/null
\set said `psql -X -q -o /dev/null -c :'statement' 2>&1`
SELECT matches(:'said'::text, 'HINT:  Your datasets are ("[^"]+", ){9}"[^"]+" and 4 more\.$', 'and a superuser of the ten that are most similar');

SELECT * FROM finish();
