-- Customers are the units; parts, suppliers and dates are public.  Bounds are what the specification says.  Little noise.
\set ON_ERROR_STOP on
SELECT dp_cdp.create_dataset('bench', delta => 0.9, default_rho => 1000, max_groups => 300, max_rows => 50);
SELECT dp_cdp.set_budget('bench', 'analyst', rho => 1e6, delta => 0.9);
SELECT dp_cdp.protect_table('customer', 'bench', unit => 'c_custkey'), dp_cdp.protect_table('lineorder', 'bench', unit => 'lo_custkey');
GRANT SELECT ON supplier, part, date TO analyst;
SELECT dp_cdp.set_bounds('lineorder', 'lo_quantity', 1, 50), dp_cdp.set_bounds('lineorder', 'lo_extendedprice', 900, 105000),
	dp_cdp.set_bounds('lineorder', 'lo_discount', 0, 10), dp_cdp.set_bounds('lineorder', 'lo_revenue', 800, 105000),
	dp_cdp.set_bounds('lineorder', 'lo_supplycost', 500, 1500);
SELECT dp_cdp.set_keys('customer', 'c_region', ARRAY['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST']),
	dp_cdp.set_keys('customer', 'c_nation', nations), dp_cdp.set_keys('customer', 'c_city', (SELECT array_agg(rpad(substr(n, 1, 9), 9) || i) FROM unnest(nations) n, generate_series(0, 9) i))
	FROM (SELECT '{ALGERIA,ARGENTINA,BRAZIL,CANADA,EGYPT,ETHIOPIA,FRANCE,GERMANY,INDIA,INDONESIA,IRAN,IRAQ,JAPAN,JORDAN,KENYA,MOROCCO,MOZAMBIQUE,PERU,CHINA,ROMANIA,SAUDI ARABIA,VIETNAM,RUSSIA,UNITED KINGDOM,UNITED STATES}'::text[] AS nations) s;
