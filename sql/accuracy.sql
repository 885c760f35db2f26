-- What is shown of wanted accuracy: messages with their positions, EXPLAIN,
-- dp_cdp.preview. Noise is not shown; test/pgtap/target_error.sql has the prices.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_analyst;
CREATE SCHEMA accuracy AUTHORIZATION regress_dp_owner;
GRANT USAGE ON SCHEMA accuracy TO regress_dp_analyst;
SET search_path = accuracy, public;
\set SHOW_CONTEXT never

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner;
SET SESSION AUTHORIZATION regress_dp_owner;
CREATE TABLE visits (id int, dept text NOT NULL, cost numeric);
SELECT dp_cdp.create_dataset('accuracy', default_rho => 0.01, max_rho => 1);
SELECT dp_cdp.protect_table('visits', 'accuracy', each_row => true);
SELECT dp_cdp.set_bounds('visits', 'cost', 0, 100);
SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a', 'b']);
SELECT dp_cdp.set_budget('accuracy', 'regress_dp_analyst', rho => 10);
SET SESSION AUTHORIZATION regress_dp_analyst;

-- not a target
SET dp_cdp.target_error = 'five';
SET dp_cdp.target_error = '-5%';

-- absolute
SET dp_cdp.target_error = '25';
SHOW dp_cdp.target_error;
EXPLAIN (COSTS OFF) SELECT dept, dp_count(*) FROM visits GROUP BY dept;
SELECT item, name, dataset, sensitivity, round(stddev::numeric, 4) AS stddev, round(margin::numeric, 4) AS margin, rho, delta
	FROM dp_cdp.preview('SELECT dp_count(*) FROM visits');
EXPLAIN (COSTS OFF) SELECT dp_count(*), dp_avg(cost) FROM visits;
SET dp_cdp.target_error = '0.5';
SELECT dp_count(*) FROM visits;
SELECT dp_sum(cost) FROM visits;
SELECT item, name, dataset, sensitivity, round(stddev::numeric, 4) AS stddev, round(margin::numeric, 4) AS margin, rho, delta
	FROM dp_cdp.preview('SELECT dp_count(*) FROM visits');

-- relative
SET dp_cdp.target_error = '5%';
EXPLAIN (COSTS OFF) SELECT dp_count(*) FROM visits;
SELECT item, name, dataset, sensitivity, round(stddev::numeric, 4) AS stddev, round(margin::numeric, 4) AS margin, rho, delta
	FROM dp_cdp.preview('SELECT dp_count(*), dp_avg(cost) FROM visits');
RESET dp_cdp.target_error;

-- errors of expressions that are not known
SELECT dp_margin(dp_sum(cost) / sqrt(dp_count(*))) FROM visits;
SELECT dept, dp_margin(1 + coalesce(dp_sum(cost), 0)) FROM visits GROUP BY dept;
SELECT dp_noise_stddev(dp_count(*) * (SELECT dp_sum(cost) FROM visits)) FROM visits;
SELECT dept FROM visits GROUP BY dept HAVING dp_margin(abs(dp_count(*))) > 1;
SELECT dp_margin(n * 2) FROM (SELECT dp_count(*) AS n FROM visits) q;

-- all of this was free
SELECT rho_spent FROM dp_cdp.budgets;
SELECT * FROM dp_cdp.last_release();

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP SCHEMA accuracy CASCADE;
SELECT dp_cdp.drop_budget('accuracy', 'regress_dp_analyst');
SELECT dp_cdp.drop_dataset('accuracy', erase_spent => true);
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner;
DROP ROLE regress_dp_owner, regress_dp_analyst;
