-- At a glance: dp_cdp.overview, dp_cdp.metrics, dp_cdp.report: who sees what, that
-- sums are the log's, and that nothing which somebody has chosen is taken for markup.

SET client_min_messages = warning;
SELECT no_plan();

ALTER SYSTEM SET fsync = on;
ALTER SYSTEM SET full_page_writes = on;
SELECT pg_reload_conf();

CREATE ROLE owner1 LOGIN;
CREATE ROLE "<script>alert(1)</script>";                -- a team
CREATE ROLE analyst1 LOGIN IN ROLE "<script>alert(1)</script>";
CREATE ROLE analyst2 LOGIN IN ROLE "<script>alert(1)</script>";
CREATE ROLE "a&b'c""d" LOGIN;
CREATE ROLE stranger LOGIN;
CREATE ROLE monitor LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;

SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int NOT NULL, cost int);
INSERT INTO visits SELECT i, i FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('"><img src=x onerror=alert(2)>', rho => 1, max_groups => 5, max_rows => 5);
SELECT dp_cdp.create_dataset('empty');
SELECT dp_cdp.protect_table('visits', '"><img src=x onerror=alert(2)>', 'patient');
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1000);
SELECT dp_cdp.set_budget(d, '<script>alert(1)</script>', rho => 0.5),
	dp_cdp.set_budget(d, 'analyst2', rho => 0.05),
	dp_cdp.set_budget(d, 'a&b''c"d', rho => 0.9, period => '1 week')
	FROM (VALUES ('"><img src=x onerror=alert(2)>')) v(d);
RESET SESSION AUTHORIZATION;

CREATE VIEW the AS SELECT '"><img src=x onerror=alert(2)>'::text AS dataset;
GRANT SELECT ON the TO PUBLIC;

-- the first time: nothing was asked
SELECT matches(page, 'Nothing was asked yet.*</html>\s*$', 'a report of nothing')
	FROM the, LATERAL (VALUES (dataset), ('empty')) v(d), dp_cdp.report(d) page;
SELECT is((SELECT count(*) FROM dp_cdp.overview o, the WHERE o.dataset = the.dataset AND o.rho_per_day = 0 AND o.days_left IS NULL), 4::bigint,
	'an overview of nothing');

-- what the rest looks at
SET application_name = '</title></svg><script src="//evil.example/x">alert(3)</script>';
SET SESSION AUTHORIZATION analyst1;
SELECT dp_count(*), dp_sum(cost) FROM visits \g /dev/null
SET application_name = 'plain';
SELECT dp_count(*) FROM visits \g /dev/null
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION analyst2;
SELECT dp_count(*) FROM visits \g /dev/null
SET dp_cdp.rho = 0.07;
\set ON_ERROR_STOP 0
SELECT dp_count(*) FROM visits \g /dev/null
\set ON_ERROR_STOP 1
\set refused :LAST_ERROR_SQLSTATE
RESET dp_cdp.rho;
RESET SESSION AUTHORIZATION;
SELECT is(:'refused'::text, 'ZC001', 'more than is left was refused');

-- ----------------------------------------------------------------------
-- overview
-- ----------------------------------------------------------------------

CREATE FUNCTION as_role(role name, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SET LOCAL SESSION AUTHORIZATION %I', role);
	BEGIN
		EXECUTE statement INTO result;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	SET LOCAL SESSION AUTHORIZATION DEFAULT;
	RETURN result;
END $$;

SELECT is(as_role('owner1', $$SELECT string_agg(concat_ws('|', coalesce(role, 'all'), rho_limit, rho_spent, percent_spent, rho_per_day, days_left,
			last_refusal IS NOT NULL), E'\n') FROM dp_cdp.overview WHERE dataset <> 'empty'$$),
	E'all|1|0.04|4.0|0.04|24|t\n<script>alert(1)</script>|0.5|0.04|8.0|0.04|11.5|t\na&b''c"d|0.9|0|0.0|0|f\nanalyst2|0.05|0.01|20.0|0.01|4|t',
	'the owner sees the whole dataset and all budgets');
SELECT is(as_role('analyst1', $$SELECT string_agg(concat_ws('|', role, rho_spent, rho_per_day, last_refusal IS NOT NULL), ', ') FROM dp_cdp.overview$$),
	'<script>alert(1)</script>|0.04|0.04|f', 'an analyst sees the budget of the team, but not that a colleague was refused');
SELECT is(as_role('analyst2', $$SELECT string_agg(concat_ws('|', role, rho_spent, last_refusal IS NOT NULL), ', ') FROM dp_cdp.overview$$),
	'<script>alert(1)</script>|0.04|t, analyst2|0.01|t', 'a colleague sees both of his, and his refusal');
SELECT is(as_role('stranger', 'SELECT count(*) FROM dp_cdp.overview'), '0', 'a stranger sees nothing');
SELECT is((SELECT array_agg(o.rho_spent ORDER BY o.role) FROM dp_cdp.overview o, the WHERE o.dataset = the.dataset AND o.role IS NOT NULL),
	(SELECT array_agg(b.rho_spent ORDER BY b.role_name) FROM dp_cdp.budgets b, the WHERE b.dataset = the.dataset), 'balances are those of dp_cdp.budgets');

SELECT is(dp_cdp_internal.rate(s, w, now() - a, now()), r, format('the rate of %s in a week, of %s, for %s', w, s, a))
	FROM (VALUES (14, 14, interval '7 days', 2::numeric), (14, 14, '2 days', 7), (14, 14, '1 minute', 14), (15, 14, '1 minute', 2),
		(3, NULL, NULL, 0)) v(s, w, a, r);

-- ----------------------------------------------------------------------
-- metrics
-- ----------------------------------------------------------------------

SELECT is(as_role('monitor', s), '42501 permission denied for ' || w, w || ' is not for everybody')
	FROM (VALUES ('SELECT count(*) FROM dp_cdp.metrics', 'view metrics'), ('SELECT count(*) FROM dp_cdp.metrics_hour', 'view metrics_hour'),
		('SELECT count(*) FROM dp_cdp_internal.last_week', 'view last_week'), ('SELECT count(*) FROM dp_cdp.setup_metrics()', 'function setup_metrics')) v(s, w);
GRANT SELECT ON dp_cdp.metrics, dp_cdp.metrics_hour TO monitor;
GRANT EXECUTE ON FUNCTION dp_cdp.setup_metrics() TO monitor;
SELECT is(as_role('monitor', $$SELECT string_agg(concat_ws('|', role, rho_limit, rho_spent, rho_remaining, rho_per_day, days_left, failures), ', ' ORDER BY role COLLATE "C")
		FROM dp_cdp.metrics WHERE dataset <> 'empty'$$),
	E'|1|0.04|0.96|0.04|24|0, <script>alert(1)</script>|0.5|0.04|0.46|0.04|11.5|0, a&b''c"d|0.9|0|0.9|0|Infinity|0, analyst2|0.05|0.01|0.04|0.01|4|0',
	'who monitors sees all balances');
SELECT is(as_role('monitor', $$SELECT string_agg(outcome || ' ' || releases, ', ' ORDER BY outcome) FROM dp_cdp.metrics_hour WHERE dataset <> 'empty'$$),
	'answered 3, failed 0, refused 1', '... how many releases there were');
SELECT is(as_role('monitor', 'SELECT string_agg(severity || '' '' || findings, '', '' ORDER BY severity) FROM dp_cdp.setup_metrics() WHERE severity <> ''info'''),
	(SELECT format('critical %s, warning %s', count(*) FILTER (WHERE severity = 'critical'), count(*) FILTER (WHERE severity = 'warning')) FROM dp_cdp.check_setup()),
	'... and how many findings');
SELECT is(as_role('monitor', 'SELECT (SELECT count(*) FROM dp_cdp.budgets) + (SELECT count(*) FROM dp_cdp.releases)'), '0', '... and nothing else');
SELECT is(as_role('monitor', 'SELECT dp_cdp.check_setup()'), '42501 only superusers, the owner of the database and owners of datasets may call dp_cdp.check_setup', '... and no finding');

-- ----------------------------------------------------------------------
-- report: whose
-- ----------------------------------------------------------------------

SELECT ok(as_role('owner1', 'SELECT dp_cdp.report(dataset) FROM the') ~ '^<!DOCTYPE html>', 'the owner has a report');
SELECT is(as_role('analyst1', 'SELECT dp_cdp.' || f || '(dataset) FROM the'),
	'42501 must be owner of dataset ""><img src=x onerror=alert(2)>" to see a report of it; your own budgets are in dp_cdp.overview', 'an analyst has no ' || f)
	FROM unnest(ARRAY['report', 'certificate', 'report_data']) f;
SELECT is(as_role('stranger', format('SELECT dp_cdp.%s(%L)', f, d)), format('ZC004 dataset "%s" does not exist, or is none of yours: see dp_cdp.datasets', d),
	'a stranger is not told what there is by ' || f) FROM the, LATERAL (VALUES (dataset), ('nowhere')) v(d), unnest(ARRAY['report', 'certificate']) f;
SELECT is(as_role(r, 'SELECT (SELECT count(*) FROM dp_cdp.limits) || '' '' || (SELECT jsonb_array_length(dp_cdp_internal.report_tables(dataset)) FROM the)'), n, 'limits and tables that ' || r || ' sees')
	FROM (VALUES ('stranger', '0 0'), ('owner1', '5 1')) v(r, n);
SELECT throws_ok('SELECT dp_cdp.report(NULL)', 'ZC004', 'dataset is NULL: name one of dp_cdp.datasets', 'no dataset');
SELECT throws_ok('SELECT dp_cdp.report(''nowhere'')', 'ZC004', 'dataset "nowhere" does not exist, or is none of yours: see dp_cdp.datasets', 'a dataset that does not exist');
SELECT is(as_role('stranger', 'SELECT count(*) FROM (SELECT dp_cdp_internal.report_sums(dataset) FROM the) s'), '0', 'sums are of what one sees');

-- ----------------------------------------------------------------------
-- report: what
-- ----------------------------------------------------------------------

CREATE TEMP TABLE page AS
	SELECT dp_cdp.report(dataset) AS html, dp_cdp.report_data(dataset) AS data FROM the;

SELECT is((data #>> '{totals,rho}')::numeric, (SELECT sum(rho) FROM dp_cdp.releases WHERE granted), 'rho in all is that of the log') FROM page;
SELECT is((data #>> '{totals,rho}')::numeric, (SELECT d.rho_spent FROM dp_cdp.datasets d JOIN the USING (dataset)), '... and the dataset''s balance') FROM page;
SELECT is(data -> 'totals', '{"rho": 0.04, "delta": 0, "failed": 0, "refused": 1, "answered": 3}', 'totals') FROM page;
SELECT is((SELECT jsonb_agg(a ORDER BY a ->> 'name' COLLATE "C") FROM jsonb_array_elements(data -> 'applications') a),
	'[{"rho": 0.02, "name": "</title></svg><script src=\"//evil.example/x\">alert(3)</script>", "refused": 0, "answered": 1},
	  {"rho": 0.02, "name": "plain", "refused": 1, "answered": 2}]', 'by application') FROM page;
SELECT is((SELECT sum((b ->> 'refused')::int) FROM jsonb_array_elements(data -> 'budgets') b), 2::bigint, 'a refusal is told at each budget that would have paid') FROM page;
SELECT is(data -> 'together', '{"roles": 2, "enough": [{"role": "a&b''c\"d", "rho_remaining": 0.9}, {"role": "<script>alert(1)</script>", "rho_remaining": 0.46}],
	"rho_remaining": 1.36, "rho_renewed_per_day": 0.12857142857142857143}'::jsonb || jsonb_build_object('rho_renewed_per_day', data #> '{together,rho_renewed_per_day}'),
	'together: the member''s budget is within the team''s') FROM page;

-- the page
CREATE TEMP TABLE document AS
	SELECT xmlparse(DOCUMENT html) AS doc, html FROM page;
SELECT pass('a page is well-formed XML');
CREATE FUNCTION find_all(text) RETURNS text[] LANGUAGE sql
	AS $$ SELECT xpath($1, doc, '{{h,http://www.w3.org/1999/xhtml},{s,http://www.w3.org/2000/svg}}')::text[] FROM document $$;
SELECT is(cardinality(find_all('//*[local-name() = "script" or local-name() = "img" or local-name() = "link" or local-name() = "iframe" or @src or @onerror]')), 0,
	'nothing to run and nothing to load');
SELECT is(cardinality(find_all('//h:a[not(starts-with(@href, "#"))]')), 0, 'no link leaves the page');
SELECT ok(html !~ '[^\n -~\t]', 'only ASCII') FROM page;
SELECT is((find_all('string(//h:h1)'))[1], '"&gt;&lt;img src=x onerror=alert(2)&gt;', 'the dataset''s name is text');
SELECT set_eq($$SELECT unnest(find_all('//h:section[@id = "roles"]//h:tbody/h:tr/h:th/h:bdi/text()'))$$,
	$$VALUES ('&lt;script&gt;alert(1)&lt;/script&gt;'), ('a&amp;b''c"d'), ('analyst2')$$, 'so are roles''');
SELECT is((SELECT sum(v::numeric) FROM unnest(find_all('//h:table[@id = "days"]/h:tbody/h:tr/h:td[1]/h:data/@value')) v), 0.04, 'days add up to the log');
SELECT is(find_all('//h:table[@id = "days"]/h:tfoot/h:tr/h:td/h:data/@value'), '{0.04,0,3,1,0}', '... as their sum says');
SELECT is(cardinality(find_all('//s:svg[@role = "img"][not(s:title) or not(s:desc)]')), 0, 'figures have a title and a description');
SELECT is(cardinality(find_all('//s:svg[not(@role = "img") and not(@aria-hidden = "true")]')), 0, '... or are decoration');

-- text
SELECT is(dp_cdp_internal.report_text(t), w, format('%s as text', t::bytea)) FROM (VALUES
	('<a href="x">&''</a>', '&#60;a href=&#34;x&#34;&#62;&#38;&#39;&#60;/a&#62;'), (E'\u00e9\u6f22\U0001F600', '&#233;&#28450;&#128512;'),
	(E'a\u202eb', 'a&#8238;b'), (E'\x01\x1b[31m\x7f\u0085\uffff\ufdd0', '??[31m????'), (E'a\n\tb', 'a&#10;&#9;b'), ('', '')) v(t, w);
SELECT is(dp_cdp_internal.report_number(x), w, format('%s as a number', x)) FROM (VALUES
	(0, '0'), (1, '1'), (0.04, '0.04'), (0.123456, '0.123'), (9.999, '10'), (12.345, '12.3'), (999.4, '999'), (123456.7, '123,457'), (2.5e9, '2.5e9'),
	(0.00001234, '1.23e-5'), (-0.5, '-0.5'), (1e-18, '1e-18'), ('Infinity', '&#8734;'), ('NaN', '&#8211;'), (NULL, '&#8211;')) v(x, w);
SELECT is((SELECT string_agg(dp_cdp_internal.report_step(x)::text, ' ' ORDER BY x) FROM unnest('{0.0000001,0.05,0.51,1,2.4,5,5.1,37,1000000}'::numeric[]) x),
	'0.00000002 0.01 0.2 0.2 0.5 1 2 10 200000', 'steps of axes');
SELECT is(dp_cdp_internal.report_step(1, true), 1::numeric, 'steps of counts');
SELECT ok((SELECT count(*) BETWEEN 2 AND 8 FROM dp_cdp_internal.report_dates('2020-03-15', date '2020-03-15' + n, 8)), format('days named of %s', n))
	FROM unnest(ARRAY[2, 6, 20, 40, 100, 250, 400, 800, 1100, 4000, 40000]) n;

-- amounts and periods at the ends of what there is
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('ends', rho => 1e-12), dp_cdp.create_dataset('no cap');
SELECT dp_cdp.set_budget(d, r::regrole, rho => x, period => p) FROM (VALUES ('ends', 'analyst1', 1e-12, interval '999 years'), ('ends', 'analyst2', 1e-9, NULL),
	('ends', 'stranger', 1000000, '1 second'), ('no cap', 'analyst1', 5, '1 day'), ('no cap', 'stranger', 1000000, '10 years')) v(d, r, x, p);
RESET SESSION AUTHORIZATION;
INSERT INTO dp_cdp_internal.release_log (released_at, dataset, role, session_role, application, aggregates, rho, delta, granted)
	SELECT t::timestamptz, d, 'analyst1'::regrole, 'stranger'::regrole, NULL, '', x, 0, true
	FROM unnest(ARRAY['-infinity', 'infinity', '1970-01-01', '2200-01-01', 'now']) t, (VALUES ('ends', 1e-12), ('no cap', 123456)) v(d, x);
SELECT dp_cdp.adopt_ledger();
SELECT ok(xmlparse(DOCUMENT page) IS NOT NULL AND page !~ '="[^"]*(NaN|Infinity)', format('a report of dataset %s', d))
	FROM unnest(ARRAY['ends', 'no cap']) d, dp_cdp.report(d) page;
SELECT is((SELECT sum((d ->> 'rho')::numeric) FROM jsonb_array_elements(dp_cdp.report_data('no cap') -> 'days') d), 617280::numeric, 'dates out of the calendar are counted');
SELECT isnt_empty('SELECT * FROM dp_cdp.metrics', 'metrics of such');

-- a surcharge was spent on no day
SELECT dp_cdp.create_dataset('young', rho => 20), dp_cdp.create_dataset('old', rho => 20);
SELECT dp_cdp.set_budget(d, 'stranger', rho => 10) FROM unnest(ARRAY['young', 'old']) d;
INSERT INTO dp_cdp_internal.release_log (released_at, dataset, role, session_role, aggregates, rho, delta, granted)
	SELECT now() - interval '2 days', d, 'stranger'::regrole, 'stranger'::regrole, 'dp_count(*)', 1, 0, true FROM unnest(ARRAY['young', 'old']) d;
SELECT dp_cdp.adopt_ledger();
SELECT dp_cdp.adopt_ledger(surcharge_rho => 3, dataset => 'young');
SELECT is((SELECT string_agg(concat_ws('|', dataset, role, rho_spent, round(rho_per_day, 2)), ', ') FROM dp_cdp.overview WHERE dataset IN ('young', 'old')),
	'old|1|0.50, old|stranger|1|0.50, young|4|0.50, young|stranger|4|0.50', 'the rate is that of debits, not of surcharges');
SELECT is((SELECT array_agg(rho_per_day::numeric(5, 2)) FROM dp_cdp.metrics WHERE dataset IN ('young', 'old')), '{0.50,0.50,0.50,0.50}', '... and that of metrics');

-- a role of one name after the other
INSERT INTO dp_cdp_internal.budget (dataset, role, role_name, rho_limit, delta_limit, report_delta) SELECT 'old', n, 'stranger', 1, 1e-6, 1e-6
	FROM unnest('{4000000000,4000000001}'::oid[]) n;
SELECT is_empty('SELECT dataset, role FROM dp_cdp.metrics GROUP BY 1, 2 HAVING count(*) > 1', 'metrics have one row of each name');
SELECT is((SELECT count(*) FROM dp_cdp.metrics WHERE dataset = 'old' AND role ~ '^stranger \(missing, \d+\)$'), 2::bigint, '... also where the role is missing');

-- what failed was not refused
INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, aggregates, rho, delta, granted, failed, kind)
	VALUES ('young', 'stranger'::regrole, 'stranger'::regrole, 'dp_count(*)', 0, 0, false, true, 'failed');
INSERT INTO dp_cdp_internal.release_log (dataset, role, session_role, rho, delta, granted, kind, reason, tables, application, aggregates)
	VALUES ('young', 'stranger'::regrole, 'stranger'::regrole, 0, 0, false, 'guard', 'ZC002 raw rows', 'public.refused', 'refused tool', '');
SELECT is(dp_cdp.report_data('young') -> 'reasons', '[{"name": "ZC002 raw rows", "refused": 1}]', 'failures are no refusals without a reason');
SELECT ok(dp_cdp.report('young') ~ '<i>failed after it was charged</i></th>', '... but told beside them');
SELECT ok(dp_cdp.report('young') !~ '<th scope="row">(<bdi>)?(public.refused|refused tool)', 'spending lists nothing that was only refused');

-- ----------------------------------------------------------------------
-- certificate: what is promised
-- ----------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('<b>&"''', rho => 1, delta => 1e-6, max_groups => 3);
CREATE TABLE "<u>&""'" (id int PRIMARY KEY, "<i>'&""x" int NOT NULL);
CREATE TABLE parts (a int NOT NULL, owner_id int NOT NULL REFERENCES "<u>&""'");
CREATE TABLE rows (v int);
SELECT dp_cdp.protect_table('"<u>&""''"', '<b>&"''', unit => '<i>''&"x');
SELECT dp_cdp.protect_table('parts', '<b>&"''', through => 'owner_id');
SELECT dp_cdp.protect_table('rows', '<b>&"''', each_row => true);
CREATE TEMP TABLE given AS
	SELECT 'cap' AS what, g.* FROM dp_cdp.create_dataset('<b>&"''', if_not_exists => true) g
	UNION ALL SELECT r, g.* FROM (VALUES ('analyst1', 0.5, NULL, NULL, NULL), ('stranger', NULL, 1, 1e-6, interval '1 week')) v(r, rho, epsilon, delta, period),
		dp_cdp.set_budget('<b>&"''', r::regrole, rho => v.rho, epsilon => v.epsilon, delta => v.delta, period => v.period) g;
CREATE TEMP TABLE told AS SELECT dp_cdp.certificate('<b>&"''') AS html, dp_cdp.report_data('<b>&"''') AS data, dp_cdp.report('<b>&"''') AS report;
RESET SESSION AUTHORIZATION;

TRUNCATE document;
INSERT INTO document SELECT xmlparse(DOCUMENT html), html FROM told;
SELECT pass('a certificate is well-formed XML');
CREATE FUNCTION cells(text) RETURNS text[] LANGUAGE sql
	AS $$ SELECT array_agg(regexp_replace(c, '<[^>]*>', '', 'g') ORDER BY n) FROM unnest(find_all('//h:div[@aria-label = "' || $1 || '"]//h:tbody/h:tr/*')) WITH ORDINALITY x(c, n) $$;
SELECT ok(html !~ '[^\n -~\t]', 'only ASCII') FROM told;
SELECT is(cells('Protected tables'), ARRAY[
	'public."&lt;u&gt;&amp;""''"', 'The person whom column &lt;i&gt;''&amp;"x names', 'owner1',
	'public.parts', 'The person of the row of public."&lt;u&gt;&amp;""''" to which foreign key (owner_id) leads', 'owner1',
	'public.rows', 'Each row is a person of its own: whoever has several has this promise for each row alone', 'owner1'], 'whose rows these are, and who owns them');
SELECT is(cells('Cap and budgets'), ARRAY['All roles together, for ever: the lifetime cap', '1', '7.77', '2e-6', E'76.1\u00a0%',
	'analyst1', '0.5', '5.23', '2e-6', E'69.2\u00a0%', 'stranger, anew each 7 days', '0.0242', '1', '1e-6', E'54.4\u00a0%'], 'cap and budgets, rounded up');
SELECT is((SELECT jsonb_agg(jsonb_build_array(l.epsilon, l.delta, l.best_guess) ORDER BY l.n) FROM (
			SELECT 0 AS n, data -> 'epsilon_limit' AS epsilon, data -> 'report_delta' AS delta, data -> 'best_guess' AS best_guess FROM told
			UNION ALL SELECT 1, b -> 'epsilon_limit', b -> 'report_delta', b -> 'best_guess' FROM told, jsonb_array_elements(data -> 'budgets') b WHERE b ->> 'role' = 'analyst1') l
		WHERE l.epsilon::float8 <= (SELECT g.epsilon FROM given g WHERE g.what = CASE l.n WHEN 0 THEN 'cap' ELSE 'analyst1' END)),
	(SELECT jsonb_agg(jsonb_build_array(dp_cdp.epsilon_spent(g.rho, 1e-6), g.delta, g.best_guess) ORDER BY g.rho DESC) FROM given g WHERE g.what <> 'stranger'),
	'as set_budget and create_dataset told');
SELECT is((find_all('normalize-space(//h:section[@id = "promise"]/h:p[1])'))[1],
	E'By all private answers, two databases of which one lacks all rows of one person are hard to tell apart. Take the best guesser: he knows everything but whether one person is in the data, and thinks both equally likely. Once a limit below is spent, he is right at most as often as it says; without answers, 50\u00a0% of the time.',
	'the promise in words');
SELECT ok(html ~ '<code>max_contribution</code>, found:' AND html ~ 'max_groups</code>, declared: a person counts in at most 3 groups' AND html ~ 'max_rows</code>, not declared: 5', 'limits, found and declared') FROM told;
SELECT is(cardinality(find_all('//h:section')), 1, 'one section') FROM told;
SELECT is(cardinality(find_all('//s:svg[contains(@class, "bells")]/s:path[contains(@class, "line")]')), 2, 'two bells');
SELECT is(cardinality(find_all('//h:div[@class = "sign"]/h:p')), 3, 'place for name, date and signature');
SELECT is(cardinality(find_all('//h:ul[@class = "plain"]/h:li')), 10, 'four lines on limits, six on what is not covered');
SELECT ok(position(substring(html FROM '<section id="promise">.*</section>') IN report) > 0, 'the report has the same section') FROM told;
SELECT is((SELECT regexp_match(html, 'has (\d+) critical findings? and (\d+) warnings?'))::int[],
	(SELECT ARRAY[count(*) FILTER (WHERE f ->> 'severity' = 'critical'), count(*) FILTER (WHERE f ->> 'severity' = 'warning')]::int[] FROM jsonb_array_elements(data -> 'findings') f), 'findings are counted') FROM told;
SELECT is(cardinality(find_all('//h:ul[@class = "findings"]/h:li')),
	(SELECT count(*)::int FROM jsonb_array_elements(data -> 'findings') f WHERE f ->> 'severity' IN ('critical', 'warning')), '... and listed') FROM told;

SELECT dp_cdp.create_dataset('spent', rho => 10);
CREATE TABLE dear (patient int NOT NULL);
SELECT dp_cdp.protect_table('dear', 'spent', 'patient');
SELECT dp_cdp.create_dataset('replaced', neighbors => 'replace_one', rho => 20, max_groups => 1, max_rows => 2), dp_cdp.create_dataset('monthly', max_contribution => '7', min_units => 12);
CREATE TABLE stays (patient int NOT NULL, day date NOT NULL);
SELECT dp_cdp.protect_table('stays', 'monthly', 'patient', block => 'day', every => '1 month');
SELECT ok(dp_cdp.certificate(d) ~ w, d || ' says ' || w) FROM (VALUES
	('replaced', 'in which all rows of one person are those of one or of another person'), ('replaced', 'everything but which of two persons is in the data'),
	('replaced', 'No table is protected: nothing is promised yet of two databases'), ('replaced', 'almost 100&#160;%'), ('replaced', 'max_contribution</code>, none'), ('replaced', 'at most 2 rows count of a person'),
	('monthly', 'all rows of one person in one block of 1 mon'), ('monthly', 'Caps and budgets hold for each block of time'), ('monthly', 'its block of time is that of <bdi>day'),
	('monthly', 'No cap limits what all roles learn together'), ('monthly', 'There is no lifetime cap'), ('spent', 'little is hidden: two databases of which one lacks all rows of one person are told apart in 98.8&#160;% of cases'), ('monthly', 'There is no cap to draw'), ('monthly', 'as much as 7 rows in one'), ('monthly', 'min_units</code>, declared: groups of fewer than 12 people')) v(d, w);
SELECT ok(dp_cdp.certificate('spent') !~ 'min_units', 'without min_units no line');

SELECT is(dp_cdp.best_guess(1), 0.7603::float8, 'Phi(sqrt(1/2)), upwards');
SELECT ok(dp_cdp.best_guess(x, d) BETWEEN w AND w + 1.001e-4, format('best guess of rho %s and delta %s', x, d)) FROM (VALUES (0, 0, 0.5), (0, 0.5, 0.75), (20, 0, 0.9992), (1e9, 0, 0.9999)) v(x, d, w);
SELECT throws_ok(format('SELECT dp_cdp.best_guess(%s)', v), 'ZC004', NULL, 'no best guess of ' || v) FROM unnest(ARRAY['-1', '''NaN''', '1, 2']) v;
SELECT is(dp_cdp_internal.report_up(x), w, format('%s, upwards', x)) FROM (VALUES (0, '0'), (1, '1'), (1.001, '1.01'), (10.7249, '10.8'), (0.000020001, '2.01e-5'), (123400.1, '124,000'), (NULL, '&#8211;')) v(x, w);
SELECT is(dp_cdp_internal.report_guess(x), w, format('a guess of %s', x)) FROM (VALUES (0.5, '50&#160;%'), (0.8414, '84.2&#160;%'), (0.999, '99.9&#160;%'), (0.9995, 'almost 100&#160;%'), (1, 'almost 100&#160;%')) v(x, w);
SELECT is(dp_cdp_internal.report_reason(x), w, format('%s in words', x)) FROM (VALUES
	('ZC001 rho', 'too little rho was left (ZC001)'), ('ZC001 delta; and others, of which this role has too many', 'too little delta was left to select keys; and others, of which this role has too many (ZC001)'),
	('ZC003', 'the ledger could not answer (ZC003)'), ('ZC002 raw rows', 'raw rows (ZC002)'), ('by hand', 'by hand'), ('', ''), (NULL, NULL)) v(x, w);
SELECT ok(html ~ 'too little rho was left' AND html !~ 'ZC001 rho', 'refusals are told in words') FROM page;

-- without a cap the rest has no end
SELECT dp_cdp.create_dataset('endless', rho => 'Infinity'), dp_cdp.set_budget('endless', 'analyst1', rho => 1) \g /dev/null
SELECT dp_cdp.debit_budget('endless', 0.5, 0, 'analyst1') \g /dev/null
SELECT is((SELECT string_agg(concat_ws('|', coalesce(role, 'all'), rho_spent, rho_per_day, coalesce(days_left::text, 'none')), ', ' ORDER BY role NULLS FIRST) FROM dp_cdp.overview WHERE dataset = 'endless'),
	'all|0.5|0.5|none, analyst1|0.5|0.5|1', 'in the overview');
SELECT is((SELECT string_agg(concat_ws('|', role, rho_limit, rho_remaining, days_left), ', ' ORDER BY role) FROM dp_cdp.metrics WHERE dataset = 'endless'),
	'|Infinity|Infinity|Infinity, analyst1|1|0.5|1', 'and in metrics');

SELECT * FROM finish();
