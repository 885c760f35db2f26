-- Administration: datasets, protected tables, bounds, keys, budgets.
-- What errors look like is in admin_errors; who sees what in pgtap/policy.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE ROLE regress_dp_team;
GRANT regress_dp_team TO regress_dp_analyst;
CREATE SCHEMA admin AUTHORIZATION regress_dp_owner;
SET search_path = admin, public;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET ROLE regress_dp_owner;

CREATE TYPE sex AS ENUM ('f', 'm', 'x');
CREATE TABLE depts (dept text PRIMARY KEY);
INSERT INTO depts VALUES ('onco'), ('cardio'), ('neuro');
CREATE TABLE visits (
	visit_id bigint PRIMARY KEY,
	patient int,
	dept text REFERENCES depts,
	ward text NOT NULL REFERENCES depts,
	age int,
	cost numeric(12,2),
	urgent boolean,
	paid boolean NOT NULL,
	sex sex,
	day date,
	note varchar(10)
);
CREATE TABLE survey (answer int);

-- datasets
SELECT dp_cdp.create_dataset('clinic');
SELECT dp_cdp.create_dataset('survey', rho => 0.5, delta => 1e-9, default_rho => 1e-3,
	max_rho => 0.1, max_groups => 1, max_rows => 3, neighbors => 'replace_one', default_delta => 1e-10);
SELECT * FROM dp_cdp.datasets ORDER BY dataset;

-- NULL leaves as is, Infinity takes a cap away
SELECT dp_cdp.alter_dataset('clinic', rho => 12.5, max_rho => 1);
SELECT dp_cdp.alter_dataset('survey', rho => 'Infinity', max_rho => 'Infinity', max_rows => 4,
	neighbors => 'add_remove');
SELECT * FROM dp_cdp.datasets ORDER BY dataset;
SELECT dp_cdp.alter_dataset('clinic');
SELECT dp_cdp.alter_dataset('clinic', rho => 'Infinity', default_rho => 0.02, delta => 1e-5);
SELECT * FROM dp_cdp.datasets WHERE dataset = 'clinic';

-- the least price follows default_rho until it is set; a step or a memory of 0 is none
SELECT dp_cdp.alter_dataset('clinic', min_rho => 0.001, max_failures => 0, answer_step => '250 ms', release_memory => 1000);
SELECT dp_cdp.alter_dataset('clinic', default_rho => 0.03);
SELECT default_rho, min_rho, max_failures, answer_step, release_memory FROM dp_cdp.datasets WHERE dataset = 'clinic';
SELECT dp_cdp.alter_dataset('clinic', default_rho => 0.02, min_rho => 1e-12, max_failures => 20, answer_step => '0', release_memory => 0);
SELECT default_rho, min_rho, max_failures, answer_step, release_memory FROM dp_cdp.datasets WHERE dataset = 'clinic';
SELECT dp_cdp.create_dataset('limits', min_rho => 0.01, max_failures => 3, answer_step => '1 hour', release_memory => 64, pull_rows => true);
SELECT pull_rows, reuse_dumped, consistent FROM dp_cdp.datasets WHERE dataset = 'limits';
SELECT dp_cdp.alter_dataset('limits', max_rows => 4);
SELECT pull_rows FROM dp_cdp.datasets WHERE dataset = 'limits';
SELECT dp_cdp.alter_dataset('limits', pull_rows => false, key_delta_share => 0.5, min_units => 12);
SELECT dataset, pull_rows, key_delta_share, min_units FROM dp_cdp.datasets ORDER BY dataset;
SELECT default_rho, min_rho, max_failures, answer_step, release_memory FROM dp_cdp.datasets WHERE dataset = 'limits';
SELECT dp_cdp.drop_dataset('limits');

-- tables
GRANT SELECT ON visits TO regress_dp_team, PUBLIC;
GRANT SELECT (age), INSERT ON visits TO regress_dp_analyst;
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');
-- who reads it in part is stopped, and told of to the owner
CREATE TABLE parts (patient int, age int);
CREATE VIEW ages AS SELECT age FROM parts;
GRANT SELECT (age) ON parts TO regress_dp_analyst;
GRANT SELECT ON ages TO regress_dp_team;
SELECT dp_cdp.protect_table('parts', 'clinic', unit => 'patient');
-- of other types than it was declared with
SELECT dp_cdp.set_bounds('parts', 'age', 0, 100);
SELECT dp_cdp.set_keys('parts', 'patient', ARRAY[1, 2]);
DROP VIEW ages;
ALTER TABLE parts ALTER age TYPE text, ALTER patient TYPE text;
SELECT severity, "column", finding FROM dp_cdp.check_data('clinic') WHERE object LIKE '%parts';
ALTER TABLE parts ALTER age TYPE date USING NULL, ALTER patient TYPE date USING NULL;
SELECT severity, "column", finding FROM dp_cdp.check_data('clinic') WHERE object LIKE '%parts';
SELECT severity, object, finding FROM dp_cdp.check_setup() WHERE object LIKE '%parts' AND finding LIKE 'column%' ORDER BY finding;
SELECT dp_cdp.unprotect_table('parts');
DROP TABLE parts;
REVOKE ALL ON visits FROM regress_dp_team, PUBLIC;
REVOKE ALL (age) ON visits FROM regress_dp_analyst;
SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient');	-- again: nothing changes
SELECT dp_cdp.protect_table('survey', 'survey', each_row => true);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1000.50);
SELECT dp_cdp.set_bounds('visits', 'age', -1, 120);
SELECT dp_cdp.set_bounds('visits', 'patient', 0, 1e6);
SELECT dp_cdp.set_keys('visits', 'age', ARRAY[70, NULL, 60, 70]);
SELECT dp_cdp.set_keys('visits', 'day', ARRAY['2024-02-29'::date, '2023-01-31']);
SELECT dp_cdp.set_keys('visits', 'note', ARRAY['b', 'a "q" \ ', '', NULL]);
SELECT * FROM dp_cdp.protected ORDER BY "table"::text;

-- which keys a GROUP BY would release
SELECT c AS column, dp_cdp.declared_keys('visits', c)
	FROM unnest(ARRAY['age', 'day', 'note', 'urgent', 'paid', 'sex', 'dept', 'ward', 'patient', 'visit_id']) c;
SET DateStyle = 'German';
SELECT dp_cdp.declared_keys('visits', 'day');
SELECT dp_cdp.set_keys('visits', 'day', ARRAY['31.01.2023'::date]);
RESET DateStyle;
SELECT dp_cdp.declared_keys('visits', 'day');
INSERT INTO depts VALUES ('admin');
SELECT dp_cdp.declared_keys('visits', 'dept');
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['onco', 'cardio']);
SELECT dp_cdp.declared_keys('visits', 'dept');
SELECT dp_cdp.drop_keys('visits', 'dept');
SELECT dp_cdp.declared_keys('visits', 'dept');
-- the keys of a protected table are not declared by a foreign key
SELECT dp_cdp.protect_table('depts', 'clinic', unit => 'dept');
SELECT dp_cdp.declared_keys('visits', 'dept');
SELECT dp_cdp.unprotect_table('depts');
SELECT dp_cdp.declared_keys('visits', 'dept');
-- nor are those of a constraint that was not validated, or under row-level security
ALTER TABLE visits DROP CONSTRAINT visits_dept_fkey,
	ADD CONSTRAINT visits_dept_fkey FOREIGN KEY (dept) REFERENCES depts NOT VALID;
SELECT dp_cdp.declared_keys('visits', 'dept');
ALTER TABLE visits VALIDATE CONSTRAINT visits_dept_fkey;
SELECT dp_cdp.declared_keys('visits', 'dept');
ALTER TABLE depts ENABLE ROW LEVEL SECURITY;
SELECT dp_cdp.declared_keys('visits', 'dept');
ALTER TABLE depts DISABLE ROW LEVEL SECURITY;

-- a key list outlives a change of the column's name and type
ALTER TABLE visits RENAME age TO years;
ALTER TABLE visits ALTER years TYPE bigint;
SELECT dp_cdp.declared_keys('visits', 'years');
ALTER TABLE visits RENAME years TO age;

SELECT dp_cdp.drop_bounds('visits', 'age');
SELECT dp_cdp.drop_keys('visits', 'age');
SELECT dp_cdp.drop_bounds('visits', 'patient');
SELECT columns - 'note' - 'day' AS columns, unit FROM dp_cdp.protected WHERE "table" = 'visits'::regclass;

-- budgets
SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 0.1);
SELECT dp_cdp.set_budget('clinic', 'regress_dp_team', rho => 1, delta => 0);
SELECT * FROM dp_cdp.set_budget('survey', 'regress_dp_analyst', epsilon => 1, delta => 1e-6);
SELECT dp_cdp.set_budget('survey', 'regress_dp_team', epsilon => 1, delta => 1e-9);
SELECT dp_cdp.set_budget('survey', 'regress_dp_owner', epsilon => 0.5, delta => 1e-9, period => '1 month');
SELECT dataset, role, rho_limit, rho_spent, rho_remaining, delta_limit, delta_spent, epsilon_spent,
	period, renews_at - now() > '20 days' AS later
	FROM dp_cdp.budgets ORDER BY dataset, role::text;
-- the rho of (epsilon, delta) is the largest one that satisfies it
RESET ROLE;
SELECT dp_cdp.epsilon_spent(rho_limit, report_delta) <= 1 AS within,
	dp_cdp.epsilon_spent(rho_limit + 2e-12, report_delta) > 1 AS largest
	FROM dp_cdp_internal.budget WHERE dataset = 'survey' AND role = 'regress_dp_analyst'::regrole;
SET ROLE regress_dp_owner;
SELECT round(dp_cdp.epsilon_spent(2.556226, 1e-10)::numeric, 4) AS census_persons;

-- limits are rounded down, charges up
SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 0.1234567890129);
SELECT dp_cdp.alter_dataset('clinic', default_rho => 0.0000000000011);
SELECT rho_limit, (SELECT default_rho FROM dp_cdp.datasets WHERE dataset = 'clinic')
	FROM dp_cdp.budgets WHERE dataset = 'clinic' AND role = 'regress_dp_analyst'::regrole;
SELECT dp_cdp.drop_budget('clinic', 'regress_dp_analyst');
SELECT dataset, role FROM dp_cdp.budgets ORDER BY dataset, role::text;

-- giving a dataset away
RESET ROLE;
SELECT dp_cdp.alter_dataset('survey', new_owner => 'regress_dp_team');
SET ROLE regress_dp_analyst;
SELECT dataset, owner FROM dp_cdp.datasets ORDER BY 1;
RESET ROLE;
SELECT dp_cdp.alter_dataset('survey', new_owner => 'regress_dp_owner');

-- taking all away
SET ROLE regress_dp_owner;
CREATE VIEW old_visits AS SELECT age FROM visits;
GRANT SELECT ON old_visits TO regress_dp_team;
SELECT dp_cdp.unprotect_table('visits');
DROP VIEW old_visits;
SELECT dp_cdp.unprotect_table('survey');
SELECT * FROM dp_cdp.protected;
SELECT count(*) FROM pg_seclabel WHERE provider = 'dp_cdp';
SELECT dp_cdp.drop_dataset('clinic');
SELECT dp_cdp.drop_dataset('survey');
SELECT * FROM dp_cdp.datasets;
SELECT * FROM dp_cdp.budgets;
RESET ROLE;

-- every function and view has a comment, and what has a search_path has pg_temp last
SELECT p.oid::regprocedure FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
	WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass
		AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dp_cdp')
		AND p.proname ~ '^(create|alter|drop|set|protect|unprotect|declared|dataset|epsilon)'
		AND (obj_description(p.oid, 'pg_proc') IS NULL
			OR p.provolatile = 'v' AND p.proconfig <> '{"search_path=pg_catalog, pg_temp"}');
SELECT c.oid::regclass FROM pg_class c
	WHERE relnamespace = 'dp_cdp'::regnamespace AND relkind = 'v'
		AND (obj_description(oid, 'pg_class') IS NULL
			OR reloptions IS DISTINCT FROM '{security_barrier=true}');

DROP SCHEMA admin CASCADE;
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_analyst, regress_dp_team;
