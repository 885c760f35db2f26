-- What is shown of answers that are made to agree; noise is not shown.
-- test/pgtap/consistent.sql has the rest.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE SCHEMA consistent AUTHORIZATION regress_dp_owner;
GRANT USAGE ON SCHEMA consistent TO regress_dp_analyst;
SET search_path = consistent, public;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET SESSION AUTHORIZATION regress_dp_owner;
CREATE TABLE visits (id int, dept text NOT NULL, sex text NOT NULL, free text, cost numeric);
SELECT dp_cdp.create_dataset('consistent', default_rho => 0.01);
SELECT dp_cdp.protect_table('visits', 'consistent', each_row => true);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b', 'c', 'd']);
SELECT dp_cdp.set_keys('visits', 'sex', ARRAY['f', 'm']);
SELECT dp_cdp.set_budget('consistent', 'regress_dp_analyst', rho => 10);
SET SESSION AUTHORIZATION regress_dp_analyst;

SHOW dp_cdp.consistent;
SET dp_cdp.consistent = perhaps;
SET dp_cdp.consistent = on;

-- EXPLAIN has the noise that is drawn, preview that of the answers
EXPLAIN (COSTS OFF) SELECT dept, dp_count(*) FROM visits GROUP BY ROLLUP (dept);
SELECT item, name, round(stddev::numeric, 4) AS stddev, round(margin::numeric, 4) AS margin, rho
	FROM dp_cdp.preview('SELECT dept, sex, dp_count(*), dp_sum(cost), dp_avg(cost) FROM visits GROUP BY CUBE (dept, sex)');
RESET dp_cdp.consistent;
-- all of this was free
SELECT rho_spent FROM dp_cdp.budgets;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP SCHEMA consistent CASCADE;
SELECT dp_cdp.drop_budget('consistent', 'regress_dp_analyst');
SELECT dp_cdp.drop_dataset('consistent');
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_analyst;
