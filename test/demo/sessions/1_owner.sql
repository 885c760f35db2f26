-- The administrator owns the table and decides, once, what may be asked.
-- best_guess: how often the best guesser is right whether a patient is in the data, once all of rho is spent.
SELECT rho, epsilon, delta, best_guess, aggregates
FROM dp_cdp.create_dataset('clinic', rho => 1, delta => 1e-5, default_rho => 0.01, max_groups => 5, max_rows => 20);

-- Who the data is about: each patient is one privacy unit.
SELECT dataset, "table", unit, readers FROM dp_cdp.protect_table('visits', 'clinic', unit => 'patient_id');

-- A visit costs between 0 and 500; what a patient costs in all, within one group, counts up to 1000.
SELECT lower, upper, total_lower, total_upper FROM dp_cdp.set_bounds('visits', 'cost', 0, 500, total_lower => 0, total_upper => 1000);

-- The departments are public knowledge; radiology has just opened.
SELECT "column", keys FROM dp_cdp.set_keys('visits', 'dept', ARRAY['cardiology', 'neurology', 'orthopedics',
                                                                   'pediatrics', 'radiology', 'surgery']);

-- Whether rows are as declared, which only the owner may know:
SELECT severity, "column", finding FROM dp_cdp.check_data('clinic');

-- Budgets: the analyst's in rho, the partner's in (epsilon, delta), the trainee's for one number.
-- delta has two parts: epsilon holds at one, and selections of groups may spend the other.
SELECT rho, epsilon, delta, best_guess, aggregates FROM dp_cdp.set_budget('clinic', 'analyst', rho => 0.5);
SELECT rho, epsilon, delta, best_guess, aggregates FROM dp_cdp.set_budget('clinic', 'partner', epsilon => 1, delta => 1e-6);
SELECT rho, epsilon, delta, best_guess, aggregates FROM dp_cdp.set_budget('clinic', 'trainee', rho => 0.01);

SELECT dataset, role, rho_limit, rho_spent, delta_limit
FROM dp_cdp.budgets ORDER BY role::text;

-- The truth, which the owner may see and nobody else:
SELECT count(*), count(DISTINCT patient_id), sum(cost) FROM visits;
SELECT dept, count(*), sum(cost) FROM visits GROUP BY dept ORDER BY dept;
