-- The owner sees every release, granted or not, and what each budget has left.
SELECT id, role, aggregates, groups, rho, delta, stddev, granted
FROM dp_cdp.releases ORDER BY id;
SELECT dataset, role, rho_limit, rho_spent, rho_remaining, delta_limit, delta_spent
FROM dp_cdp.budgets ORDER BY role::text;
-- At a glance: how fast it goes, and how long it lasts. dp_cdp.report() makes a page of it.
SELECT dataset, role, rho_limit, rho_spent, percent_spent, rho_per_day, days_left FROM dp_cdp.overview;
