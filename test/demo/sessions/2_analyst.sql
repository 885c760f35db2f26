-- An analyst has no right to read the table.
-- Refused: rows
SELECT * FROM visits LIMIT 5;

-- Refused: a way around
COPY visits TO STDOUT;

-- EXPLAIN is free: it shows the cost in rho, and the standard deviation of the noise.
EXPLAIN
SELECT dp_count(*), dp_count(DISTINCT patient_id), dp_sum(cost) FROM visits;

-- The query itself costs 0.01 for each of its three aggregates. One patient counts
-- with 20 visits and a cost of 1000 at most, so that the noise can hide each of them.
-- The rest is cut: the owner counts 100,005 visits, of which some 95,500 are within.
SELECT dp_count(*) AS visits, dp_count(DISTINCT patient_id) AS patients, dp_sum(cost) AS cost
FROM visits;

-- By department: every declared key is answered, also the one without visits.
EXPLAIN
SELECT dept, dp_count(*) AS visits, dp_sum(cost) AS cost
FROM visits GROUP BY dept ORDER BY dept;
SELECT dept, dp_count(*) AS visits, dp_sum(cost) AS cost
FROM visits GROUP BY dept ORDER BY dept;

-- Less noise costs more.
SET dp_cdp.rho = 0.04;
SELECT dept, dp_count(*) AS visits FROM visits WHERE visited_on >= '2025-07-01'
GROUP BY dept HAVING dp_count(*) > 1000 ORDER BY visits DESC;
RESET dp_cdp.rho;

-- Diagnoses are not public: only those of many patients appear. This also costs delta.
SELECT diagnosis, dp_count(DISTINCT patient_id) AS patients
FROM visits GROUP BY diagnosis ORDER BY patients DESC LIMIT 5;

-- What is left:
SELECT dataset, rho_limit, rho_spent, rho_remaining, delta_spent,
       round(epsilon_spent::numeric, 3) AS epsilon_spent
FROM dp_cdp.budgets;

-- A ROLLBACK takes back nothing that was seen.
BEGIN;
SELECT dp_count(*) FROM visits;
ROLLBACK;
SELECT dataset, rho_spent, rho_remaining FROM dp_cdp.budgets;
