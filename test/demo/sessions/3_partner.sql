-- The partner's budget is the largest rho that is (1, 1e-6)-differentially private.
SELECT rho_limit, delta_limit FROM dp_cdp.budgets;

-- Two answers to one question differ: the noise is drawn afresh, and paid for again.
SELECT dp_sum(cost) AS cost FROM visits WHERE dept = 'surgery';
SELECT dp_sum(cost) AS cost FROM visits WHERE dept = 'surgery';
