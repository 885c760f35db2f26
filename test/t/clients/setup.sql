-- A clinic whose analyst asks through drivers.  One aggregate costs rho 1e-6.

CREATE EXTENSION dp_cdp;
CREATE ROLE auditor LOGIN SUPERUSER;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
CREATE ROLE intern1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, dept text NOT NULL, ward text, flag boolean,
	i4 int, i8 bigint, f8 float8, n numeric(12,2), day date);
COMMENT ON TABLE visits IS 'one row for each visit';
INSERT INTO visits SELECT i, i % 500, substr('abc', 1 + i % 3, 1), 'w' || i % 2, i % 2 = 0,
	1, 1, 1, 1, date '2025-01-01' + i % 365 FROM generate_series(1, 3000) i;
INSERT INTO visits VALUES (3001, 1, 'a', 'rare', true, 1, 1, 'NaN', 'NaN', NULL),
	(3002, 2, 'a', 'w1', true, 1, 1, 'Infinity', 1, NULL), (3003, 3, 'b', 'w1', true, 1, 1, '-Infinity', 1, NULL);
CREATE VIEW recent AS SELECT id AS visit, patient, dept AS department, n AS cost FROM visits WHERE id > 1000;
GRANT SELECT ON recent TO analyst1;
-- for tools that list only tables on which a role has a privilege
CREATE TABLE admissions (id int PRIMARY KEY, patient int NOT NULL, dept text NOT NULL, cost numeric);
INSERT INTO admissions SELECT i, i % 500, substr('abc', 1 + i % 3, 1), 1 FROM generate_series(1, 1000) i;

SELECT dp_cdp.create_dataset('clinic', find_bounds => 0, default_rho => 1e-6, delta => 1e-3, default_delta => 1e-6, max_groups => 5, max_rows => 5);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('visits', c, 0, 10) FROM unnest('{i4,i8,f8,n}'::name[]) c;
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c', 'd']);
SELECT dp_cdp.protect_table('admissions', 'clinic', 'patient');
SELECT dp_cdp.set_bounds('admissions', 'cost', 0, 10);
SELECT dp_cdp.set_keys('admissions', 'dept', ARRAY['a', 'b', 'c', 'd']);
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
SELECT dp_cdp.set_budget('clinic', 'intern1', rho => 2.5e-6);
GRANT SELECT ON admissions TO analyst1;
ALTER TABLE admissions ENABLE ROW LEVEL SECURITY;
RESET SESSION AUTHORIZATION;
ANALYZE;
SELECT FROM dp_cdp.harden();

-- What analyst1 has spent, in prices of one aggregate; NULL when balance and log disagree.
CREATE FUNCTION spent() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN balance = logged THEN (balance * 1e6)::bigint END
	FROM (SELECT rho_spent AS balance FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole) b,
		(SELECT coalesce(sum(rho), 0) AS logged FROM dp_cdp.releases WHERE granted AND role = 'analyst1'::regrole) l
$$;
-- Selections of keys that it has paid for.
CREATE FUNCTION selections() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN balance = logged THEN (balance * 1e6)::bigint END
	FROM (SELECT delta_spent AS balance FROM dp_cdp_internal.budget WHERE role = 'analyst1'::regrole) b,
		(SELECT coalesce(sum(delta), 0) AS logged FROM dp_cdp.releases WHERE granted AND role = 'analyst1'::regrole) l
$$;
-- How many sessions of analyst1 wait: for a lock, or for the ledger.
CREATE FUNCTION waiting(type text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT count(*) FROM pg_stat_activity WHERE usename = 'analyst1' AND wait_event_type = type
$$;
