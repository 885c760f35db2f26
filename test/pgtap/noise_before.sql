-- What EXPLAIN and previews say of noise before there is an answer is what the answer says of its own, and a
-- number that is not its noise is never shown as that.  Fields of EXPLAIN in the formats that programs read.
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('d', rho => 1e6, default_rho => 0.1, max_groups => 2, max_rows => 3);
SELECT dp_cdp.create_dataset('kept', rho => 1e6, reuse => '1 day');
-- means a quarter of the way between the bounds, standard deviations of a quarter of it, no correlation; even is even
CREATE TABLE facts AS SELECT i AS id, 5.0 * (i % 2) AS x, 20.0 * (i / 2 % 2) AS y, (i + 0.5) / 40000 AS even, i % 4 AS kind FROM generate_series(0, 39999) i;
ALTER TABLE facts ALTER kind SET NOT NULL;
CREATE TABLE people AS SELECT i / 2 AS person, i % 3 AS kind, i % 10 AS x, 0.0 + i AS free FROM generate_series(1, 1000) i;
ALTER TABLE people ALTER kind SET NOT NULL;
CREATE TABLE again AS SELECT id, kind FROM facts WHERE id < 100;
ALTER TABLE again ALTER kind SET NOT NULL;
SELECT dp_cdp.protect_table('facts', 'd', each_row => true), dp_cdp.protect_table('people', 'd', 'person'), dp_cdp.protect_table('again', 'kept', each_row => true);
SELECT dp_cdp.set_keys('people', 'kind', ARRAY[0, 1, 2]), dp_cdp.set_keys('again', 'kind', ARRAY[0, 1, 2, 3]), dp_cdp.set_keys('facts', 'kind', ARRAY[0, 1, 2, 3]);
SELECT dp_cdp.set_bounds('people', 'x', 0, 10);
SELECT dp_cdp.set_budget(d, 'analyst1', rho => 1e5) FROM unnest('{d,kept}'::text[]) d;
RESET SESSION AUTHORIZATION;
ANALYZE;
SELECT no_plan();

-- one row as the analyst gets it
CREATE FUNCTION asked(query text, settings text DEFAULT '') RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	result jsonb;
BEGIN
	EXECUTE 'SET LOCAL SESSION AUTHORIZATION analyst1';
	EXECUTE settings;
	EXECUTE 'SELECT to_jsonb(q) FROM (' || query || ') q' INTO result;
	SET LOCAL SESSION AUTHORIZATION DEFAULT;
	RESET dp_cdp.find_bounds;
	RETURN result;
END $$;
-- the node of a release
CREATE FUNCTION node_of(query text, options text DEFAULT '', settings text DEFAULT '', who text DEFAULT 'analyst1') RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'SET LOCAL SESSION AUTHORIZATION ' || who;
	EXECUTE settings;
	EXECUTE 'EXPLAIN (FORMAT json' || options || ') ' || query INTO plan;
	SET LOCAL SESSION AUTHORIZATION DEFAULT;
	RESET dp_cdp.find_bounds;
	RETURN jsonb_path_query_first(plan, '$.**?(@.Dataset != "")');
END $$;
CREATE FUNCTION said(aggregate text, field text, source text DEFAULT 'facts') RETURNS float8 LANGUAGE sql AS $$
	SELECT (node_of(format('SELECT %s FROM %s', aggregate, source)) #>> ARRAY['Releases', '0', field])::float8 $$;

-- --------------------------------------------------------------------------
-- About what the noise is for N rows, beside what an answer of N rows says of its own
-- --------------------------------------------------------------------------

-- the noise of a sum is a thousandth of what there is, and so is that of what is told of it: 5 in a hundred are 40 times that
SELECT ok(told BETWEEN 0.95 * before AND 1.05 * before, format('%s: about %s before, %s after', a, before, told))
	FROM unnest(ARRAY['dp_avg(x, 0, 10)', 'dp_var_pop(x, 0, 10)', 'dp_var_samp(x, 0, 10)', 'dp_stddev(x, 0, 10)', 'dp_stddev_pop(x, 0, 10)',
		'dp_covar_pop(x, y, 0, 10, 0, 40)', 'dp_covariance(x, y, 0, 10, 0, 40)', 'dp_correlation(x, y, 0, 10, 0, 40)', 'dp_regr_slope(x, y, 0, 10, 0, 40)',
		'dp_regr_intercept(x, y, 0, 10, 0, 40)', 'dp_clipped(x, -1, 10)']) a,
	LATERAL (SELECT said(a, 'Stddev Times Rows') / 40000 AS before, (asked(format('SELECT dp_noise_stddev(%s) AS s FROM facts', a)) ->> 's')::float8 AS told) s;
-- of ranks, in units of what a count of a third of 0.1 has: test/unit/test_quantile.c has simulations of these; of several quantiles the largest
SELECT is(round(said(a, 'Rank Stddev')::numeric, 3), round(ranks / sqrt(2 * 0.1 / 3), 3), a)
	FROM (VALUES ('dp_median(even, 0, 1)', 2.93331), ('dp_quantile(even, 0.3, 0, 1)', 3.03384), ('dp_quantile(even, ARRAY[0.7, 0.2], 0, 1)', 3.15488)) v(a, ranks);
-- even values are ranks: ten times what is said of their error is 7.5 times of any error that there is
SELECT ok(off < 10 * before, format('%s: off by about %s, is %s', a, before, off))
	FROM (VALUES ('dp_median(even, 0, 1)', 0.5), ('dp_quantile(even, 0.3, 0, 1)', 0.3)) v(a, truth),
	LATERAL (SELECT said(a, 'Rank Stddev') / 40000 AS before, abs((asked(format('SELECT %s AS s FROM facts', a)) ->> 's')::float8 - truth) AS off) s;

-- --------------------------------------------------------------------------
-- What is known of others
-- --------------------------------------------------------------------------

-- each level of a tree has a third of 0.1; a row is in one place
SELECT is(round(said(a, 'Rows Beyond')::numeric, 3), round(3.5 / sqrt(2 * 0.1 / 3), 3), a || ': rows that noise explains') FROM unnest('{"dp_max(even, 0, 1)","dp_min(even, 0, 1)"}'::text[]) a;
SELECT is(round(said('dp_mode(kind)', 'Count Stddev')::numeric, 3), round(1 / sqrt(0.2), 3), 'dp_mode: noise of the counts');
SELECT ok(said('dp_bounds(x)', 'Bin Threshold') BETWEEN 5 / sqrt(0.2) AND 6 / sqrt(0.2) + 0.5, 'dp_bounds: rows that a bin needs');
SELECT is(round(said('dp_clipped_totals(x)', 'Stddev Times Totals', 'people')::numeric, 3), round(sqrt(2.0) / sqrt(0.2), 3), 'dp_clipped_totals: by the number of totals');
SELECT is(said(a, 'Stddev'), NULL, a || ' has no noise that were known') FROM unnest(ARRAY['dp_avg(x, 0, 10)', 'dp_stddev(x, 0, 10)', 'dp_median(even, 0, 1)', 'dp_max(even, 0, 1)',
	'dp_mode(kind)', 'dp_bounds(x)', 'dp_clipped(x, 0, 10)']) a;
SELECT is(round(said(a, 'Stddev')::numeric, 3), round(1 / sqrt(0.2), 3), a || ' has') FROM unnest('{dp_count(*),"dp_histogram(x, 0, 10, 4)"}'::text[]) a;

-- as lines for people; 2.236 is the noise of a half of 0.1 for an average's count, and sqrt(5) is what its mean adds
CREATE FUNCTION lines_of(query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
BEGIN
	EXECUTE 'SET LOCAL SESSION AUTHORIZATION analyst1';
	EXECUTE settings;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		result := result || coalesce(substring(line FROM 'Release: (.*)') || E'\n', '');
	END LOOP;
	SET LOCAL SESSION AUTHORIZATION DEFAULT;
	RESET dp_cdp.find_bounds;
	RETURN result;
END $$;
SELECT is(lines_of('SELECT dp_count(*), dp_avg(x, 0, 10), dp_median(x, 0, 10), dp_max(x, 0, 10), dp_mode(kind), dp_bounds(x), dp_clipped(x, 0, 10) FROM facts'),
'dp_count(*)  (stddev=2.23607 rho=0.1)
dp_avg(x, 0, 10)  (stddev about 16.8 / N for N rows, rho=0.1)
dp_median(x, 0, 10)  (stddev of its rank about 11.4 of N rows, rho=0.1)
dp_max(x, 0, 10)  (about 13.6 rows or more lie beyond it, rho=0.1)
dp_mode(kind)  (stddev=2.23607 of each count, rho=0.1)
dp_bounds(x)  (sees bins of more than 13.41 rows, rho=0.1)
dp_clipped(x, 0, 10)  (stddev about 3.16 / N for N rows, rho=0.1)
', 'lines of EXPLAIN');
SELECT is(lines_of('SELECT dp_avg(free) FROM people', 'SET dp_cdp.find_bounds = on'),
'bounds of free  (sees bins of more than 41.32 units, rho=0.01)  found first
dp_avg(free)  (stddev known when it runs, rho=0.1)  values within bounds that are found first
', 'with bounds that are found first');

-- --------------------------------------------------------------------------
-- Previews, and reports of what was released
-- --------------------------------------------------------------------------

SELECT is(asked('SELECT string_agg(concat_ws(''|'', name, round(stddev::numeric, 3), round(margin::numeric, 3), formula), E''\n'') AS lines FROM dp_cdp.preview(
	''SELECT dp_count(*), dp_avg(x, 0, 10), dp_median(x, 0, 10), dp_min(x, 0, 10), dp_mode(kind), dp_bounds(x), dp_clipped(x, 0, 10) FROM facts'') WHERE item = ''aggregate''') ->> 'lines',
'dp_count(*)|2.236|4.383
dp_avg(x, 0, 10)|about 32.9 / N for N rows
dp_median(x, 0, 10)|that of its rank is about 22.3 of N rows
dp_min(x, 0, 10)|about 13.6 rows or more lie beyond it
dp_mode(kind)
dp_bounds(x)
dp_clipped(x, 0, 10)|about 6.2 / N for N rows', 'a preview tells margins, or about what they are');
SELECT is(asked('SELECT string_agg(concat_ws(''|'', name, stddev, margin, formula), E''\n'') AS lines FROM dp_cdp.preview(''SELECT dp_avg(free) FROM people'') WHERE item = ''aggregate''',
	'SET dp_cdp.find_bounds = on') ->> 'lines', E'bounds of free\ndp_avg(free)', 'nothing is said of bounds that are found first');
-- of a norm that is found first they tell what the margin is by that norm: the release says afterwards which it was
CREATE FUNCTION foretold(aggregate text, OUT formula text, OUT before float8, OUT norm float8, OUT margin float8) LANGUAGE plpgsql AS $$
BEGIN
	formula := asked(format('SELECT formula AS f FROM dp_cdp.preview(''SELECT %s FROM people'') WHERE name = ''%1$s''', aggregate), 'SET LOCAL dp_cdp.max_contribution = auto') ->> 'f';
	before := substring(formula FROM '^about ([0-9.]+) \* C');
	PERFORM asked(format('SELECT %s AS a FROM people', aggregate), 'SET LOCAL dp_cdp.max_contribution = auto');
	SELECT l ->> 'norm', l ->> 'margin' INTO norm, margin
		FROM asked(format('SELECT norm, margin FROM dp_cdp.last_release() WHERE aggregate = ''%s'' ORDER BY margin LIMIT 1', aggregate)) l;
	RESET dp_cdp.max_contribution;
END $$;
SELECT ok(regexp_replace(formula, '[0-9.]+', 'M') = says AND before * norm / margin BETWEEN 0.99 AND 1.01, format('%s: %s, was %s for %s', a, formula, margin, norm))
	FROM (VALUES ('dp_count(*)', 'about M * C for a norm of C'), ('dp_sum(x)', 'about M * C for a norm of C'), ('dp_count(DISTINCT kind)', 'about M * C for a norm of C')) v(a, says), foretold(a);
SELECT ok(regexp_replace(formula, '[0-9.]+', 'M') = 'about M * C / N for N rows and a norm of C' AND before * norm / 1000 / margin BETWEEN 0.8 AND 1.25, format('dp_avg(x): %s, was %s for %s', formula, margin, norm))
	FROM foretold('dp_avg(x)');
SELECT is(asked('SELECT string_agg(regexp_replace(formula, ''[0-9.]+'', ''M''), E''\n'') AS lines FROM dp_cdp.preview(''SELECT dp_median(x), dp_max(x) FROM people'') WHERE formula IS NOT NULL',
	'SET LOCAL dp_cdp.max_contribution = auto') ->> 'lines', E'that of its rank is about M * C of N rows for a norm of C\nabout M * C rows or more lie beyond it for a norm of C', 'and so of ranks');
RESET dp_cdp.max_contribution;
SELECT is(asked('SELECT count(*) FROM (SELECT dp_mode(kind) AS a, dp_bounds(x) AS b, dp_avg(x, 0, 10) AS c, dp_count(*) AS d FROM facts) q WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL AND d IS NOT NULL')
	->> 'count', '1', 'a release');
SELECT is(asked('SELECT string_agg(concat_ws(''|'', aggregate, "group", stddev > 0), E''\n'') AS lines FROM dp_cdp.last_release()') ->> 'lines',
	E'dp_mode(kind)\ndp_bounds(x)\ndp_avg(x, 0, 10)\ndp_count(*)|t\ndp_avg(x, 0, 10)||t', 'a report has no noise of what has none');

-- --------------------------------------------------------------------------
-- Fields
-- --------------------------------------------------------------------------

CREATE TABLE shown AS SELECT node_of('SELECT kind, dp_count(*), dp_sum(x), dp_avg(x) FROM people GROUP BY kind', ', VERBOSE') AS node;
SELECT is(node - '{Releases,Budgets,Fingerprints}'::text[] - (SELECT array_agg(k) FROM shown, jsonb_object_keys(node) k WHERE k ~ 'Cost|Rows|Width|Node|Provider|Alias|Parent|Output|Aware|Capable|Relation'),
	'{"Dataset": "d", "Groups": ["kind"], "Groups Known": true, "Rho": 0.3, "Memory Usage": 1}', 'fields of a release') FROM shown;
-- 2 groups of 3 rows each: sqrt(2) * 3 rows
SELECT is(node #> '{Releases,0}', '{"Aggregate": "dp_count(*)", "Rho": 0.1, "Charged Rho": 0.1, "Stddev": 9.48683, "Sensitivity": 4.24264, "Margin": 18.5939, "Max Groups": 2, "Max Rows": 3, "Selects Keys": false}', 'of a count') FROM shown;
SELECT is(node #> '{Releases,1}', '{"Aggregate": "dp_sum(x)", "Rho": 0.1, "Charged Rho": 0.1, "Stddev": 94.8683, "Sensitivity": 42.4264, "Margin": 185.939, "Row Lower": 0, "Row Upper": 10,
	"Total Lower": 0, "Total Upper": 30, "Max Rows": 3, "Max Groups": 2, "Selects Keys": false}', 'of a sum') FROM shown;
SELECT is(node #> '{Releases,2}', '{"Aggregate": "dp_avg(x)", "Rho": 0.1, "Charged Rho": 0.1, "Stddev Times Rows": 71.1512, "Sensitivity": 4.24264, "Row Lower": 0, "Row Upper": 10, "Max Groups": 2, "Max Rows": 3, "Selects Keys": false}', 'of an average') FROM shown;
SELECT matches(q, '^[0-9a-f]{64}$', 'a fingerprint') FROM shown, jsonb_array_elements_text(node -> 'Fingerprints') q;
SELECT is(jsonb_array_length(node -> 'Fingerprints'), 3, 'one for each') FROM shown;
SELECT is(b - 'Rho Remaining' - 'Rho After', '{"Role": "analyst1", "Rho Limit": 100000, "Failures Today": 0}', 'a budget') FROM shown, jsonb_array_elements(node -> 'Budgets') b;
SELECT is((b -> 'Rho Remaining')::numeric - (b -> 'Rho After')::numeric, 0.3, 'and what would be left of it') FROM shown, jsonb_array_elements(node -> 'Budgets') b;
SELECT is((node -> 'Threshold')::int > 0 AND jsonb_typeof(node -> 'Delta') = 'number' AND node #> '{Releases,0,Selects Keys}' = 'true', true, 'of keys that are selected')
	FROM node_of('SELECT id, dp_count(*) FROM facts GROUP BY id') node;
SELECT is(node #>> '{Releases,0,Limits}' || '; ' || (node #>> '{Releases,1,Limits}'), 'found first; values within bounds that are found first', 'of bounds that are found first')
	FROM node_of('SELECT dp_avg(free) FROM people', '', 'SET dp_cdp.find_bounds = on') node;
SELECT is(jsonb_path_query_array(node, '$."Released Before"[*]'), '[{"Aggregates": "dp_avg(x, 0, 10)", "Rho": 0.1, "Charged Rho": 0.1}]', 'of what is released before')
	FROM node_of('SELECT dp_count(*) FROM facts WHERE x > (SELECT dp_avg(x, 0, 10) FROM facts)') node;
SELECT is(jsonb_build_array(node -> 'Budgets', node -> 'Refused'), '[[], "role \"owner1\" has no privacy budget for dataset \"d\", and the query would be refused"]', 'of who has no budget')
	FROM node_of('SELECT dp_count(*) FROM facts', '', '', 'owner1') node;
SELECT is(node -> 'Consistent', 'true', 'of groupings that are made to agree')
	FROM node_of('SELECT kind, dp_count(*) FROM facts GROUP BY ROLLUP (kind)', '', 'SET LOCAL dp_cdp.consistent = on') node;
SELECT asked('SELECT sum(n) FROM (SELECT kind, dp_count(*) AS n FROM again GROUP BY kind) q') IS NOT NULL;
SELECT is(r - 'Reused Since' - 'Stddev' - 'Margin' - 'Sensitivity', '{"Aggregate": "dp_count(*)", "Rho": 0.01, "Charged Rho": 0, "Kept": "kept", "Selects Keys": false}', 'of a kept answer')
	FROM node_of('SELECT kind, dp_count(*) FROM again GROUP BY kind') node, jsonb_array_elements(node -> 'Releases') r;
SELECT ok((r ->> 'Reused Since')::timestamptz > now() - interval '1 hour', 'since when it is kept')
	FROM node_of('SELECT kind, dp_count(*) FROM again GROUP BY kind') node, jsonb_array_elements(node -> 'Releases') r;

-- numbers of all sizes are numbers
CREATE FUNCTION formatted(format text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SET LOCAL SESSION AUTHORIZATION analyst1';
	EXECUTE format('EXPLAIN (FORMAT %s) %s', format, query) INTO result;
	SET LOCAL SESSION AUTHORIZATION DEFAULT;
	RETURN result;
END $$;
SELECT is(jsonb_build_array(r -> 'Row Lower', r -> 'Row Upper', jsonb_typeof(r -> 'Stddev')), jsonb_build_array(-low::numeric, high::numeric, 'number'), format('a sum within -%s and %s', low, high))
	FROM (VALUES ('0.000000125', '1e17'), ('1e-30', '0.1'), ('0', '123456.789')) v(low, high),
		LATERAL (SELECT node_of(format('SELECT dp_sum(free::float8, -%s, %s) FROM people', low, high)) #> '{Releases,0}' AS r) n;
SELECT matches(formatted('xml', 'SELECT dp_avg(x), dp_count(*) FROM people'), '<Releases>\s*<Release>\s*<Aggregate>dp_avg\(x\)</Aggregate>.*<Stddev-Times-Rows>50.3115</Stddev-Times-Rows>.*</Release>\s*<Release>.*<Stddev>6.7082</Stddev>', 'XML');
SELECT matches(formatted('yaml', 'SELECT dp_avg(x), dp_count(*) FROM people'), 'Releases: *\n *- Aggregate: "dp_avg\(x\)" *\n.*Stddev Times Rows: 50.3115\n.*- Aggregate: "dp_count\(\*\)" *\n.*Stddev: 6.7082\n', 'YAML');

SELECT * FROM finish();
