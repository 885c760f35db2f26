-- The calculators as SQL: signatures, labels, comments, defaults, NULL,
-- errors, pairs, aggregates.  Their values are held against a table by
-- stat/calculators.py.
\set QUIET on
\pset format unaligned
\pset tuples_only on

SELECT no_plan();

-- what a call ends in: its value, or SQLSTATE and message
CREATE FUNCTION try(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SELECT ' || sql INTO answer;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- within some units in the last place
CREATE FUNCTION near(a float8, b float8) RETURNS boolean LANGUAGE sql AS
	$$SELECT a = b OR abs(a - b) <= 1e-15 * abs(b)$$;

-- --------------------------------------------------------------------------
-- The catalogue
-- --------------------------------------------------------------------------

CREATE TEMP VIEW calculator AS
	SELECT p.oid, p.proname, p.oid::regprocedure::text AS signature, p.provolatile, p.proisstrict, p.proparallel,
		p.proargnames, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result,
		obj_description(p.oid, 'pg_proc') AS comment, p.prosrc
	FROM pg_proc p
	WHERE p.pronamespace IN ('dp_cdp'::regnamespace, 'dp_cdp_internal'::regnamespace) AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')
		AND p.prosrc LIKE 'dp\_calc\_%';

SELECT ok(count(*) >= 70, 'there are ' || count(*) || ' functions') FROM calculator;
SELECT is(string_agg(signature, ', '), NULL, 'all are IMMUTABLE, STRICT and PARALLEL SAFE')
FROM calculator WHERE provolatile <> 'i' OR NOT proisstrict OR proparallel <> 's';
SELECT is(string_agg(signature, ', '), NULL, 'all have a comment')
FROM calculator WHERE comment IS NULL;
SELECT is(string_agg(signature, ', '), NULL, 'comments give ranges, and theorem and source')
FROM calculator
WHERE has_function_privilege('public', oid, 'EXECUTE')
	AND NOT (comment ~ '(>=|<=|>|<|add_remove)' AND comment ~ '(20[0-9][0-9]|src/)');
SELECT is(string_agg(signature, ', '), NULL, 'all arguments have names')
FROM calculator WHERE has_function_privilege('public', oid, 'EXECUTE') AND (proargnames IS NULL OR '' = ANY (proargnames));
SELECT is(string_agg(DISTINCT substring(arguments FROM 'xi double precision( DEFAULT [^,]*)?')
		|| substring(arguments FROM 'bound text( DEFAULT [^,]*)?'), ', '),
	' DEFAULT 0 DEFAULT ''tight''::text', 'xi is 0 and bound the tightest where they are left out')
FROM calculator WHERE arguments ~ 'xi double precision' AND arguments ~ 'bound text';
SELECT is(string_agg(signature, ', '), NULL, 'every bound has a default')
FROM calculator WHERE arguments ~ 'bound text' AND arguments !~ 'bound text DEFAULT ''tight''';

-- signatures are stable: names of arguments can be used in calls
SELECT is((SELECT string_agg(proname || '(' || array_to_string(proargnames, ', ') || ')' || result, E'\n'
		ORDER BY proname COLLATE "C", array_length(proargnames, 1), arguments COLLATE "C")
	FROM calculator WHERE has_function_privilege('public', oid, 'EXECUTE')), btrim($$
approx_curve_to_zcdp(xi, rho)dp_cdp.zcdp
approx_to_zcdp(epsilon, delta, bound)double precision
approx_zcdp_delta(rho, delta0, epsilon, xi)double precision
approx_zcdp_epsilon(rho, delta0, delta, xi, bound)double precision
bounded_range_to_zcdp(eta, bound)double precision
compose_advanced(epsilon, delta_slack)double precision
compose_advanced(epsilon, delta_slack, k, bound)double precision
compose_advanced_delta(delta, delta_slack)double precision
compose_advanced_delta(delta, delta_slack, k)double precision
compose_basic(epsilon, delta, k)dp_cdp.approx_dp
compose_delta(delta)double precision
compose_delta(delta, k)double precision
compose_gdp(mu)double precision
compose_mcdp(mu, tau)dp_cdp.mcdp
compose_optimal_delta(epsilon, delta, epsilon_g)double precision
compose_optimal_delta(epsilon, delta, k, epsilon_g)double precision
compose_optimal_epsilon(epsilon, delta, delta_g)double precision
compose_optimal_epsilon(epsilon, delta, k, delta_g)double precision
compose_rdp(alpha, epsilon)double precision
compose_zcdp(rho)dp_cdp.zcdp
compose_zcdp(rho, xi)dp_cdp.zcdp
discrete_gaussian_delta(sensitivity, sigma, epsilon)double precision
gaussian_delta(sensitivity, stddev, epsilon)double precision
gaussian_epsilon(sensitivity, stddev, delta)double precision
gaussian_gdp(sensitivity, stddev)double precision
gaussian_mcdp(sensitivity, stddev)dp_cdp.mcdp
gaussian_rdp(alpha, sensitivity, stddev)double precision
gaussian_rho(sensitivity, stddev)double precision
gaussian_stddev(sensitivity, epsilon, delta, bound)double precision
gaussian_stddev_zcdp(sensitivity, rho)double precision
gdp_delta(mu, epsilon)double precision
gdp_epsilon(mu, delta)double precision
gdp_mu(epsilon, delta)double precision
gdp_to_zcdp(mu)double precision
group_approx_delta(epsilon, delta, k, bound)double precision
group_gaussian(sensitivity, stddev, k)dp_cdp.mcdp
group_gdp(mu, k)double precision
group_mcdp(mu, tau, k)dp_cdp.mcdp
group_mcdp_general(mu, tau, k)dp_cdp.mcdp
group_pure(epsilon, k)double precision
group_zcdp(rho, k, xi)dp_cdp.zcdp
kl_divergence(p, q)double precision
laplace_to_zcdp(epsilon)double precision
margin_of(rho, probability, lower, upper, max_groups, neighbors, grouped, step)double precision
max_divergence(p, q)double precision
mcdp_delta(mu, tau, epsilon)double precision
mcdp_epsilon(mu, tau, delta)double precision
mcdp_to_zcdp(mu, tau)dp_cdp.zcdp
mcdp_triangle(mu_pq, tau_pq, mu_qr, tau_qr)dp_cdp.mcdp
mutual_information(rho, n, xi)double precision
mutual_information_product(rho, n, xi)double precision
privacy_loss(p, q)dp_cdp.mcdp
pure_to_mcdp(epsilon, bound)dp_cdp.mcdp
pure_to_rdp(alpha, epsilon)double precision
pure_to_zcdp(epsilon, bound)double precision
rdp_delta(alpha, epsilon, target_epsilon, bound)double precision
rdp_delta(alpha, epsilon, target_epsilon, bound)double precision
rdp_epsilon(alpha, epsilon, delta, bound)double precision
rdp_epsilon(alpha, epsilon, delta, bound)double precision
releases_within(rho, epsilon, delta)bigint
renyi_divergence(alpha, p, q)double precision
renyi_triangle(alpha, k, epsilon_pq, epsilon_qr)double precision
rho_for_margin(margin, probability, lower, upper, max_groups, neighbors, grouped, step)double precision
rho_for_stddev(stddev, lower, upper, max_groups, neighbors, grouped)double precision
sensitivity(lower, upper, max_groups, neighbors, grouped)double precision
split_budget(rho, k)double precision
split_budget(rho, weights)double precision[]
split_budget(epsilon, delta, k)double precision
stddev_of(rho, lower, upper, max_groups, neighbors, grouped)double precision
zcdp_delta(rho, epsilon, xi, bound)double precision
zcdp_epsilon(rho, delta, xi, bound)double precision
zcdp_rho(epsilon, delta, xi, bound)double precision
zcdp_to_mcdp(rho, xi)dp_cdp.mcdp
zcdp_to_pure(rho, xi)double precision
zcdp_to_rdp(alpha, rho, xi)double precision
$$, E'\n'), 'signatures');

SELECT is((SELECT string_agg(p.oid::regprocedure::text || p.proparallel::text || (a.aggcombinefn <> 0) || (obj_description(p.oid, 'pg_proc') IS NOT NULL), E'\n'
		ORDER BY p.oid::regprocedure::text COLLATE "C")
	FROM pg_proc p JOIN pg_aggregate a ON a.aggfnoid = p.oid WHERE p.proname ~ '^compose.*_agg$'), btrim($$
dp_cdp.compose_delta_agg(double precision)struetrue
dp_cdp.compose_gdp_agg(double precision)struetrue
dp_cdp.compose_mcdp_agg(double precision,double precision)struetrue
dp_cdp.compose_zcdp_agg(double precision)struetrue
dp_cdp.compose_zcdp_agg(double precision,double precision)struetrue
$$, E'\n'), 'aggregates are parallel safe, have combine functions and comments');
SELECT is(string_agg(p.oid::regprocedure::text, ', '), NULL, 'nobody calls the functions of an aggregate by hand')
FROM pg_proc p WHERE p.proname ~ '^compose_.*_(add|combine|final)$' AND has_function_privilege('public', p.oid, 'EXECUTE');
SELECT is(string_agg(t.typname || ':' || (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = t.typrelid AND attnum > 0)
		|| ':' || (obj_description(t.oid, 'pg_type') IS NOT NULL), ' ' ORDER BY t.typname),
	'approx_dp:epsilon,delta:true mcdp:mu,tau:true zcdp:rho,xi:true', 'pairs have names')
FROM pg_type t WHERE t.typnamespace = 'dp_cdp'::regnamespace AND t.typname IN ('zcdp', 'mcdp', 'approx_dp');

-- --------------------------------------------------------------------------
-- Calls
-- --------------------------------------------------------------------------

-- NULL for any argument gives NULL
SELECT is(string_agg(signature || ' argument ' || n || ': ' || answer, E'\n'), NULL, 'NULL in, NULL out')
FROM (
	SELECT c.signature, n, try(format('dp_cdp.%I(%s)', c.proname, string_agg(
		format('%s::%s', CASE WHEN i = n THEN 'NULL' ELSE CASE
			WHEN t IN ('float8[]'::regtype) THEN '''{2}'''
			WHEN t = 'bigint'::regtype THEN '2'
			WHEN t = 'boolean'::regtype THEN 'true'
			WHEN c.proargnames[i] = 'bound' THEN '''tight'''
			WHEN c.proargnames[i] = 'neighbors' THEN '''add_remove'''
			WHEN c.proargnames[i] ~ '^(delta|probability)' THEN '0.5'
			ELSE '2' END END, t::regtype), ', ' ORDER BY i))) AS answer
	FROM calculator c JOIN pg_proc p USING (oid)
		CROSS JOIN generate_series(1, p.pronargs) n
		CROSS JOIN unnest(p.proargtypes::oid[]) WITH ORDINALITY a(t, i)
	WHERE has_function_privilege('public', c.oid, 'EXECUTE')
	GROUP BY c.oid, c.signature, c.proname, n) calls
WHERE answer IS NOT NULL;

SELECT is(dp_cdp.zcdp_epsilon(0.1, 1e-6), dp_cdp.zcdp_epsilon(rho => 0.1, delta => 1e-6, xi => 0, bound => 'tight'), 'defaults and names');
SELECT is(dp_cdp.zcdp_epsilon(1, 1e-6), dp_cdp.zcdp_epsilon(1::float8, 1e-6::float8), 'numbers of any type');
SELECT is(dp_cdp.group_pure(0.5, 3), dp_cdp.group_pure(0.5, 3::bigint), 'k is an integer or a bigint');
SELECT is(dp_cdp.zcdp_to_rdp(2, 0.5), dp_cdp.zcdp_to_rdp(2, 0.5, 0), 'xi of zcdp_to_rdp');
SELECT is(dp_cdp.zcdp_to_mcdp(0.5), dp_cdp.zcdp_to_mcdp(0.5, 0), 'xi of zcdp_to_mcdp');
SELECT is(dp_cdp.group_zcdp(0.5, 4), dp_cdp.group_zcdp(0.5, 4, 0), 'xi of group_zcdp');
SELECT is(dp_cdp.compose_zcdp('{0.5,0.25}'), ROW(0.75, 0)::dp_cdp.zcdp, 'a list without xi');
SELECT is((SELECT rho || ' ' || xi FROM dp_cdp.compose_zcdp('{0.5,0.25}', '{1,2}')), '0.75 3', 'pairs can be read as rows');
SELECT is(dp_cdp.gaussian_mcdp(1, 2), ROW(0.125, 0.5)::dp_cdp.mcdp, 'pairs of mean-concentrated DP');
SELECT is(dp_cdp.compose_basic(0.5, 0.125, 4), ROW(2, 0.5)::dp_cdp.approx_dp, 'pairs of (epsilon, delta)');
SELECT is(dp_cdp.rdp_epsilon(2, 0.01, 1e-3)::numeric(5, 3) || ' ' || dp_cdp.rdp_epsilon(2, 0.01, 1e-3, 'improved')::numeric(5, 3), '1.256 5.531', 'tight is less than improved');
SELECT is(dp_cdp.rdp_delta(2, 0.01, dp_cdp.rdp_epsilon(2, 0.01, 1e-3))::numeric(12, 10), 0.001, 'and back');
SELECT is(dp_cdp.rdp_epsilon('{2,5}'::float8[], '{0.01,0.01}', 1e-5), dp_cdp.rdp_epsilon(5, 0.01, 1e-5), 'the best order of a curve');
SELECT is(dp_cdp.rdp_delta('{2,5}'::float8[], '{0.01,0.01}', 3, 'improved'), dp_cdp.rdp_delta(5, 0.01, 3, 'improved'), 'by each bound');
SELECT is(dp_cdp.rdp_epsilon('{2}'::float8[], '{1}', 0.1), dp_cdp.rdp_epsilon(2, 1, 0.1), 'a curve of one order');
SELECT is(dp_cdp.compose_advanced(1, 0.1, 2), dp_cdp.compose_advanced(1, 0.1, 2, 'kov'), 'kov is tight');
SELECT is(dp_cdp.compose_advanced(0.01, 1e-10, 37), (dp_cdp.compose_basic(0.01, 0, 37)).epsilon, 'advanced composition is not worse than basic');
SELECT ok(near(dp_cdp.compose_advanced(x, 1e-6, 20), dp_cdp.compose_advanced(array_fill(x, ARRAY[20]), 1e-6))
		AND near(dp_cdp.compose_advanced_delta(x / 10, 1e-6, 20), dp_cdp.compose_advanced_delta(array_fill(x / 10, ARRAY[20]), 1e-6)),
	'k alike are a list of k alike: ' || x) FROM unnest('{0.001,0.1,1,5}'::float8[]) x;
SELECT is(dp_cdp.gaussian_stddev(1, 1, 0.1), dp_cdp.gaussian_stddev(1, 1, 0.1, 'analytic'), 'analytic is tight');
SELECT is(dp_cdp.bounded_range_to_zcdp(1), dp_cdp.bounded_range_to_zcdp(1, 'min'), 'min is tight');
SELECT is(dp_cdp.privacy_loss('{0.5,0.5}', '{0.25,0.75}')::text ~ '^\(0.14384103622[0-9]*,0.54930614433[0-9]*\)$', true, 'the privacy loss of two distributions');
SELECT ok((dp_cdp.privacy_loss(p, q)).mu <= dp_cdp.renyi_divergence(2, p, q) AND dp_cdp.renyi_divergence(2, p, q) <= dp_cdp.max_divergence(p, q), 'divergences rise with the order')
FROM (SELECT '{0.2,0.3,0.5}'::float8[] AS p, '{0.5,0.3,0.2}'::float8[] AS q) d;
SELECT ok(dp_cdp.renyi_triangle(1e308, k, 1, 1) BETWEEN 2 AND 2.00000000000001, 'the triangle at the largest orders: ' || k) FROM unnest('{2,1e10,1e308}'::float8[]) k;
SELECT is(dp_cdp.mutual_information(0.5, 4), dp_cdp.mutual_information(0.5, 4, 0), 'xi of mutual_information');
SELECT is(dp_cdp.group_mcdp_general(0.5, 0.25, 1), ROW(0.03125, 0.25)::dp_cdp.mcdp, 'a group of one: the mean is at most tau^2 / 2');
SELECT ok(g.mu <= 4 * 0.005 * (1 + 1e-14) AND g.tau BETWEEN 0.2 AND 0.24, 'a group of two: k^2 tau^2 / 2, and tau nearly doubled')
FROM dp_cdp.group_mcdp_general(1, 0.1, 2) g;
SELECT is(dp_cdp.mcdp_triangle(0.005, 0.1, 0.005, 0.1), dp_cdp.group_mcdp_general(0.005, 0.1, 2), 'two equal steps are a group of two');
SELECT is(dp_cdp.split_budget(1, '{1,2,1}'::float8[]), '{0.25,0.5,0.25}'::float8[], 'a budget by weights');
SELECT is(dp_cdp.releases_within(1, 1, 1), 9223372036854775807, 'any number of releases at delta 1');
SELECT is(dp_cdp.stddev_of('-0'), 'Infinity'::float8, '-0 is 0');
SELECT is(dp_cdp.compose_gdp('{-0}')::text, '0', '-0 is 0 in lists');
PREPARE planned(float8, text) AS SELECT dp_cdp.zcdp_epsilon($1, 1e-6, bound => $2);
EXECUTE planned(0.25, 'simple') \g /dev/null
SELECT ok(bool_and(b.tight <= b.bs36 * (1 + 1e-14) AND b.bs36 <= b.simple * (1 + 1e-14) AND b.bs36 <= b.closed * (1 + 1e-14)),
	'tight <= bs36 <= simple, with a bound that varies by row')
FROM (SELECT max(e) FILTER (WHERE bound = 'tight') AS tight, max(e) FILTER (WHERE bound = 'bs36') AS bs36,
		max(e) FILTER (WHERE bound = 'bs36_closed') AS closed, max(e) FILTER (WHERE bound = 'simple') AS simple
	FROM (SELECT rho, delta, bound, dp_cdp.zcdp_epsilon(10.0 ^ rho, 10.0 ^ delta, bound => bound) AS e
		FROM generate_series(-9, 3) rho, generate_series(-20, -1) delta,
			unnest('{tight,bs36,bs36_closed,simple}'::text[]) bound) s GROUP BY rho, delta) b;

-- --------------------------------------------------------------------------
-- Errors
-- --------------------------------------------------------------------------

SELECT is(try(call), 'ZC004: ' || message, call)
FROM (VALUES
	('dp_cdp.zcdp_epsilon(-1, 0.1)', 'rho must be a finite number of at least 0'),
	('dp_cdp.zcdp_epsilon(''NaN'', 0.1)', 'rho must be a finite number of at least 0'),
	('dp_cdp.zcdp_epsilon(''Infinity'', 0.1)', 'rho must be a finite number of at least 0'),
	('dp_cdp.zcdp_epsilon(1, 1.5)', 'delta must be between 0 and 1'),
	('dp_cdp.zcdp_epsilon(1, 0.1, -1)', 'xi must be a finite number of at least 0'),
	('dp_cdp.zcdp_epsilon(1, 0.1, bound => ''TIGHT'')', 'bound must be one of "tight", "bs36", "bs36_closed", "simple"'),
	('dp_cdp.zcdp_epsilon(1, 0.1, bound => '''')', 'bound must be one of "tight", "bs36", "bs36_closed", "simple"'),
	('dp_cdp.pure_to_zcdp(1, ''kl'')', 'bound must be one of "tight", "standard"'),
	('dp_cdp.zcdp_rho(1, 0.1, 2)', 'no rho satisfies this: xi must be at most epsilon - ln(1 - delta)'),
	('dp_cdp.zcdp_rho(1, 0.9, 2, ''simple'')', 'no rho satisfies this: xi must be at most epsilon'),
	('dp_cdp.gaussian_rho(1, 0)', 'stddev must be a finite number greater than 0'),
	('dp_cdp.gaussian_stddev(1, 2, 0.1, ''classic'')', 'epsilon must be greater than 0 and at most 1 for the bound "classic"'),
	('dp_cdp.discrete_gaussian_delta(0.5, 1, 1)', 'sensitivity must be a whole number of at least 0'),
	('dp_cdp.rdp_epsilon(1, 1, 0.1)', 'alpha must be a finite number greater than 1'),
	('dp_cdp.rdp_epsilon(''{2,1}''::float8[], ''{1,1}'', 0.1)', 'each element of alpha must be a finite number greater than 1'),
	('dp_cdp.rdp_epsilon(''{2,3}''::float8[], ''{1}'', 0.1)', 'alpha and epsilon must have the same number of elements'),
	('dp_cdp.rdp_delta(''{2}''::float8[], ''{1}'', 1, ''kov'')', 'bound must be one of "tight", "improved", "simple"'),
	('dp_cdp.group_pure(1, 0)', 'k must be between 1 and 9007199254740992'),
	('dp_cdp.group_pure(1, 9223372036854775807)', 'k must be between 1 and 9007199254740992'),
	('dp_cdp.compose_gdp(''{}'')', 'mu must be an array of one dimension with at least one element and no NULL'),
	('dp_cdp.compose_gdp(''{1,NULL}'')', 'mu must be an array of one dimension with at least one element and no NULL'),
	('dp_cdp.compose_gdp(''{{1},{2}}'')', 'mu must be an array of one dimension with at least one element and no NULL'),
	('dp_cdp.compose_gdp(''{1,NaN}'')', 'each element of mu must be a finite number of at least 0'),
	('dp_cdp.compose_delta(''{0.5,2}'')', 'each element of delta must be between 0 and 1'),
	('dp_cdp.compose_mcdp(''{1,2}'', ''{1}'')', 'mu and tau must have the same number of elements'),
	('dp_cdp.compose_optimal_delta(0.1, 0, 100000000000, 1)', 'k must be at most 10000000000 for optimal composition: use compose_advanced, or convert to zCDP'),
	('dp_cdp.compose_optimal_delta((SELECT array_agg(0.001 * i) FROM generate_series(1, 60) i)::float8[], array_fill(0::float8, ARRAY[60]), 1)',
		'optimal composition takes up to 36 different elements of epsilon: round them up to fewer, use compose_advanced, or convert to zCDP'),
	('dp_cdp.kl_divergence(''{0.5,0.4}'', ''{0.5,0.5}'')', 'the elements of p must add up to 1: divide each of them by their sum'),
	('dp_cdp.max_divergence(''{0.5,0.5}'', ''{0.5,0.5001}'')', 'the elements of q must add up to 1: divide each of them by their sum'),
	('dp_cdp.renyi_divergence(2, ''{0.5,0.5}'', ''{1}'')', 'p and q must have the same number of elements'),
	('dp_cdp.renyi_divergence(1, ''{1}'', ''{1}'')', 'alpha must be a finite number greater than 1'),
	('dp_cdp.privacy_loss(''{2,-1}'', ''{0.5,0.5}'')', 'each element of p must be between 0 and 1'),
	('dp_cdp.privacy_loss(array_fill(0.00009765625::float8, ARRAY[10240]), array_fill(0.00009765625::float8, ARRAY[10240]))',
		'p must have at most 10000 elements here: join outcomes of nearly one ratio'),
	('dp_cdp.approx_curve_to_zcdp(0.5, 1.5)', 'rho must be between 0 and 1'),
	('dp_cdp.renyi_triangle(2, 1, 1, 1)', 'k must be a finite number greater than 1'),
	('dp_cdp.mcdp_triangle(1, 1, 1, -1)', 'tau_qr must be a finite number of at least 0'),
	('dp_cdp.group_mcdp_general(1, ''Infinity'', 2)', 'tau must be a finite number of at least 0'),
	('dp_cdp.group_mcdp_general(1, 1, 0)', 'k must be between 1 and 9007199254740992'),
	('dp_cdp.mutual_information(1, 0)', 'n must be between 1 and 9007199254740992'),
	('dp_cdp.sensitivity(1, 0)', 'lower must not be greater than upper'),
	('dp_cdp.sensitivity(0, ''Infinity'')', 'upper must be a finite number'),
	('dp_cdp.sensitivity(0, 1, 0)', 'max_groups must be between 1 and 9007199254740992'),
	('dp_cdp.sensitivity(neighbors => ''both'')', 'neighbors must be "add_remove" or "replace_one"'),
	('dp_cdp.stddev_of(0.1, -1e308, 1e308, 1000)', 'the sensitivity of these bounds is beyond the largest number: narrow them, or lower max_groups'),
	('dp_cdp.margin_of(0.1, 1)', 'probability must be greater than 0 and less than 1'),
	('dp_cdp.rho_for_margin(-1, 0.9)', 'margin must be a finite number of at least 0'),
	('dp_cdp.releases_within(0, 1, 0.1)', 'rho must be a finite number greater than 0'),
	('dp_cdp.split_budget(1e-11, 100)', 'rho / k must be at least 1e-12, the least that can be charged: raise rho or lower k'),
	('dp_cdp.split_budget(1e-9, 1e-9, 1000)', 'this epsilon and delta are less than 1e-12 of rho for each of k, the least that can be charged: raise them or lower k'),
	('dp_cdp.split_budget(1, ''{0,0}''::float8[])', 'weights must have a positive sum, and rho must be large enough for a part of 1e-12'),
	('dp_cdp.compose_zcdp_agg(x) FROM (VALUES (1), (-1)) v(x)', 'rho must be a finite number of at least 0'),
	('dp_cdp.compose_zcdp_agg(1, ''NaN'')', 'xi must be a finite number of at least 0'),
	('dp_cdp.compose_mcdp_agg(1, -1)', 'tau must be a finite number of at least 0'),
	('dp_cdp.compose_gdp_agg(''Infinity'')', 'mu must be a finite number of at least 0'),
	('dp_cdp.compose_delta_agg(2)', 'delta must be between 0 and 1')) v(call, message);

SELECT ok(try('dp_cdp_internal.compose_zcdp_add(''{1,2,3,4}'', 1)') ~ 'outside of an aggregate', 'no transition without an aggregate');
SELECT ok(try('dp_cdp_internal.compose_gdp_final(''{1}'')') ~ 'not a state', 'no final function without a state');

-- --------------------------------------------------------------------------
-- Aggregates
-- --------------------------------------------------------------------------

CREATE TABLE mechanism AS
	SELECT i, i % 7 AS role, 10 ^ (sin(i) * 8) AS rho, abs(cos(i * 2.5)) AS xi, abs(sin(i * 1.7)) * 1e-4 AS delta
	FROM generate_series(1, 30000) i;
ALTER TABLE mechanism SET (parallel_workers = 2);
ANALYZE mechanism;

CREATE VIEW composed AS
	SELECT role, dp_cdp.compose_zcdp_agg(rho) AS rho, dp_cdp.compose_zcdp_agg(rho, xi) AS rho_xi,
		dp_cdp.compose_mcdp_agg(xi, rho) AS mcdp, dp_cdp.compose_gdp_agg(rho) AS gdp, dp_cdp.compose_delta_agg(delta) AS delta
	FROM mechanism GROUP BY role;

SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE serial AS SELECT * FROM composed;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE FUNCTION plan(sql text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || sql; END $$;
SELECT ok(string_agg(plan, ' ') ~ 'Gather.*Partial', 'the plan is parallel') FROM plan('SELECT * FROM composed');
CREATE TEMP TABLE parallel AS SELECT * FROM composed;
RESET max_parallel_workers_per_gather;
SELECT ok(bool_and(near((s.rho).rho, (p.rho).rho) AND near((s.rho_xi).xi, (p.rho_xi).xi) AND near((s.mcdp).mu, (p.mcdp).mu)
		AND near((s.mcdp).tau, (p.mcdp).tau) AND near(s.gdp, p.gdp) AND near(s.delta, p.delta)) AND count(*) = 7, 'parallel = serial')
FROM serial s JOIN parallel p USING (role);

CREATE TEMP TABLE listed AS
	SELECT role, dp_cdp.compose_zcdp(array_agg(rho), array_agg(xi)) AS rho_xi, dp_cdp.compose_mcdp(array_agg(xi), array_agg(rho)) AS mcdp,
		dp_cdp.compose_gdp(array_agg(rho)) AS gdp, dp_cdp.compose_delta(array_agg(delta)) AS delta
	FROM mechanism GROUP BY role;
SELECT ok(bool_and(near((s.rho_xi).rho, (l.rho_xi).rho) AND near((s.rho_xi).xi, (l.rho_xi).xi) AND near((s.mcdp).mu, (l.mcdp).mu)
		AND near((s.mcdp).tau, (l.mcdp).tau) AND near(s.gdp, l.gdp) AND near(s.delta, l.delta)), 'tables = lists')
FROM serial s JOIN listed l USING (role);
SELECT ok(near((dp_cdp.compose_zcdp_agg(rho ORDER BY rho)).rho, (dp_cdp.compose_zcdp_agg(rho ORDER BY rho DESC)).rho)
		AND near((dp_cdp.compose_zcdp_agg(rho)).rho, sum(rho::numeric)::float8), 'the order does not matter')
FROM mechanism;

SELECT is(dp_cdp.compose_zcdp_agg(x), NULL, 'no rows: NULL') FROM (VALUES (1.0)) v(x) WHERE false;
SELECT is(dp_cdp.compose_delta_agg(x), NULL, 'NULL alone: NULL') FROM (VALUES (NULL::float8)) v(x);
SELECT is((dp_cdp.compose_zcdp_agg(x)).rho, 3::float8, 'NULL is left out') FROM (VALUES (1), (NULL), (2)) v(x);
SELECT is((dp_cdp.compose_zcdp_agg(x, y)).rho, 1::float8, 'NULL in either') FROM (VALUES (1, 1), (NULL, 1), (2, NULL)) v(x, y);
SELECT is(dp_cdp.compose_delta_agg(x), 1::float8, 'delta 1') FROM (VALUES (0.5), (1), (0.1)) v(x);
SELECT is(dp_cdp.compose_gdp_agg(x), 5::float8, 'a norm') FROM (VALUES (3), (4)) v(x);
SELECT is(dp_cdp.compose_gdp_agg(x), 5e300::float8, 'a norm that does not overflow') FROM (VALUES (3e300), (4e300)) v(x);
SELECT is((dp_cdp.compose_mcdp_agg(x, x)).mu, 'Infinity'::float8, 'a sum that does') FROM (VALUES (1e308), (1.5e308)) v(x);
SELECT is(array_agg(total), '{1,3,6}'::float8[], 'as a window function')
FROM (SELECT (dp_cdp.compose_zcdp_agg(x) OVER (ORDER BY x)).rho AS total FROM generate_series(1, 3) x) s;

-- --------------------------------------------------------------------------
-- With a ledger, and without
-- --------------------------------------------------------------------------

-- a ledger's releases in one query, rho being numeric there
SELECT dp_cdp.create_dataset('calculators');
SELECT lives_ok($$SELECT role, dp_cdp.zcdp_epsilon((dp_cdp.compose_zcdp_agg(rho)).rho, 1e-6) FROM dp_cdp.releases WHERE granted GROUP BY role$$,
	'dp_cdp.releases by role');
SELECT ok(near((dp_cdp.compose_zcdp_agg(x::numeric)).rho, 0.3), 'numeric') FROM (VALUES (0.1), (0.2)) v(x);

-- anybody may calculate
CREATE ROLE calculating;
SET ROLE calculating;
SELECT is(dp_cdp.gdp_to_zcdp(2), 2::float8, 'an ordinary role');
SELECT is(dp_cdp.compose_gdp_agg(2), 2::float8, 'an ordinary role composes');
RESET ROLE;

SELECT * FROM finish();
