-- The owner sees every release, granted or not, and what each budget has left.
SELECT id, role, aggregates, groups, rho, delta, sigma, granted
FROM dp_cdp.releases ORDER BY id;
SELECT dataset, role, rho_limit, rho_spent, rho_remaining, delta_limit, delta_spent
FROM dp_cdp.budgets ORDER BY role::text;
