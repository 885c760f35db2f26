-- Customers are the units; orders are theirs, and items of orders.  Suppliers, parts, nations and regions are public.
-- Bounds, totals and lists of keys are what the specification says of the columns, not of the data; a customer's
-- total is publicly plausible.  Little noise: at scale 1 sums over all customers differ by less than 2 %.
\set ON_ERROR_STOP on
SELECT dp_cdp.create_dataset('bench', delta => 0.9, default_rho => 2000, max_groups => 100, max_rows => 200);
SELECT dp_cdp.set_budget('bench', 'analyst', rho => 1e6, delta => 0.9);
SELECT dp_cdp.protect_table('customer', 'bench', unit => 'c_custkey');
SELECT dp_cdp.protect_table('orders', 'bench', unit => 'o_custkey');
SELECT dp_cdp.protect_table('lineitem', 'bench', through => 'l_orderkey');
GRANT SELECT ON region, nation, supplier, part, partsupp TO analyst;

SELECT dp_cdp.set_bounds('lineitem', 'l_quantity', 1, 50), dp_cdp.set_bounds('lineitem', 'l_extendedprice', 900, 105000, 0, 4000000),
	dp_cdp.set_bounds('lineitem', 'l_discount', 0, 0.1), dp_cdp.set_bounds('lineitem', 'l_tax', 0, 0.08),
	dp_cdp.set_bounds('orders', 'o_totalprice', 800, 600000), dp_cdp.set_bounds('customer', 'c_acctbal', -999.99, 9999.99);
SELECT dp_cdp.set_keys('lineitem', 'l_returnflag', ARRAY['A', 'N', 'R']), dp_cdp.set_keys('lineitem', 'l_linestatus', ARRAY['F', 'O']),
	dp_cdp.set_keys('lineitem', 'l_shipmode', ARRAY['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB']),
	dp_cdp.set_keys('orders', 'o_orderpriority', ARRAY['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW']);
