-- A dataset with three months behind it, for a page that has something to show:
-- the log is written as if it were restored, and then adopted. Nobody has asked
-- any of this.

CREATE ROLE registry_owner LOGIN;
CREATE ROLE epidemiology;
CREATE ROLE ana LOGIN IN ROLE epidemiology;
CREATE ROLE ben LOGIN IN ROLE epidemiology;
CREATE ROLE portal LOGIN;
CREATE ROLE ministry LOGIN;
CREATE ROLE student LOGIN;
CREATE ROLE insurer LOGIN;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO registry_owner;
CREATE SCHEMA registry AUTHORIZATION registry_owner;
SET SESSION AUTHORIZATION registry_owner;
SELECT dp_cdp.create_dataset('registry', rho => 1.15, delta => 1e-5, default_rho => 0.001, max_groups => 5, max_rows => 20);
CREATE TABLE registry.patients (patient_id int PRIMARY KEY, age int, sex text);
CREATE TABLE registry.visits (patient_id int NOT NULL REFERENCES registry.patients, dept text, diagnosis text, cost numeric);
SELECT dp_cdp.protect_table('registry.patients', 'registry', unit => 'patient_id');
SELECT dp_cdp.protect_table('registry.visits', 'registry', through => 'patient_id');
SELECT dp_cdp.set_budget('registry', 'epidemiology', rho => 0.6);
SELECT dp_cdp.set_budget('registry', 'ben', rho => 0.2);
SELECT dp_cdp.set_budget('registry', 'ministry', rho => 0.4);
SELECT dp_cdp.set_budget('registry', 'student', rho => 0.021);
SELECT dp_cdp.set_budget('registry', 'insurer', epsilon => 1, delta => 1e-6);
RESET SESSION AUTHORIZATION;
-- a budget in the middle of its month
INSERT INTO dp_cdp_internal.budget (dataset, role, rho_limit, delta_limit, report_delta, period, renews_at)
VALUES ('registry', 'portal'::regrole, 0.06, 1e-5, 1e-5, '1 month', now() + interval '12 days');

SELECT setseed(0.25) \g /dev/null
INSERT INTO dp_cdp_internal.release_log (released_at, dataset, role, session_role, application, aggregates, groups, rho, delta, stddev, granted,
	kind, reason, tables, query)
SELECT h.at, 'registry', h.who::regrole, h.who::regrole, h.app, h.aggregates, h.groups, h.rho,
	   CASE WHEN h.groups = 'diagnosis' AND h.granted THEN 1e-8 ELSE 0 END, '12.7', h.granted,
	   CASE WHEN h.granted THEN 'granted' ELSE 'refused' END, CASE WHEN NOT h.granted THEN 'ZC001 rho' END,
	   t.tables, concat('SELECT ', h.groups || ', ', h.aggregates, ' FROM ', replace(t.tables, ', ', ' JOIN '),
			CASE WHEN t.tables LIKE '%,%' THEN ' USING (patient_id)' END, ' GROUP BY ' || h.groups)
FROM (
	SELECT now() - make_interval(days => d.d, mins => (random() * 600)::int) AS at, w.who,
		   w.apps[1 + floor(random() * cardinality(w.apps))::int] AS app,
		   (ARRAY['dp_count(*)', 'dp_count(*)', 'dp_sum(cost)', 'dp_avg(cost)', 'dp_median(age)', 'dp_count(DISTINCT patient_id)'])
			[1 + floor(random() * 6)::int] AS aggregates,
		   (ARRAY[NULL, 'dept', 'dept', 'sex', 'diagnosis'])[1 + floor(random() * 5)::int] AS groups,
		   w.rho * (ARRAY[1, 1, 1, 2, 4])[1 + floor(random() * 5)::int] AS rho,
		   random() > w.refused AS granted
	FROM generate_series(1, 91) AS d(d)
	CROSS JOIN (VALUES
		('ana', ARRAY['psql', 'RStudio'], 2.2, 0.001, 0.02, 91, 1),
		('ben', ARRAY['jupyter'], 2.4, 0.0005, 0.02, 60, 1),
		('portal', ARRAY['Metabase'], 6.0, 0.00015, 0.0, 91, 1),
		('ministry', ARRAY['Power BI', 'psql'], 1.6, 0.002, 0.05, 40, 12),
		('student', ARRAY['jupyter'], 1.3, 0.0004, 0.1, 24, 5),
		('insurer', ARRAY['DBeaver'], 0.3, 0.0002, 0.3, 70, 3))
		AS w(who, apps, often, rho, refused, since, until)
	CROSS JOIN LATERAL generate_series(1, floor(w.often * random() * 2 * CASE WHEN extract(isodow FROM now() - make_interval(days => d.d)) > 5
		AND w.who <> 'portal' THEN 0.15 ELSE 1 END + random())::int) AS q
	WHERE d.d BETWEEN w.until AND w.since
	ORDER BY 1) h
	-- age and sex are the patients', the rest is the visits'
	CROSS JOIN LATERAL (SELECT CASE WHEN h.groups = 'sex' OR h.aggregates LIKE '%age)' THEN
		CASE WHEN h.aggregates LIKE '%cost%' OR h.groups <> 'sex' THEN 'registry.patients, registry.visits' ELSE 'registry.patients' END
		ELSE 'registry.visits' END AS tables) t;
SELECT dp_cdp.adopt_ledger();
