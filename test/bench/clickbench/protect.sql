-- Visitors are the units.  Bounds, and lists of keys where the site's owner knows these, are what the columns mean: the days of the
-- log, codes of engines and sources, flags, pixels of screens.  Addresses, titles, phrases and regions are told by thresholds; the
-- lengths of addresses have no bounds, and find them.  Little noise; a visitor counts with at most 30 pages in each of 30 groups.
\set ON_ERROR_STOP on
SELECT dp_cdp.create_dataset('bench', delta => 0.9, default_rho => 400, max_groups => 30, max_rows => 30, find_bounds => 0.1);
SELECT dp_cdp.set_budget('bench', 'analyst', rho => 1e6, delta => 0.9);
SELECT dp_cdp.protect_table('hits', 'bench', unit => 'userid');
SELECT dp_cdp.set_bounds('hits', 'eventdate', date '2013-07-01', date '2013-07-31'),
	dp_cdp.set_bounds('hits', 'eventtime', timestamp '2013-07-01', timestamp '2013-07-31 23:59:59'),
	dp_cdp.set_bounds('hits', 'advengineid', 0, 50, 0, 100), dp_cdp.set_bounds('hits', 'resolutionwidth', 0, 4096),
	dp_cdp.set_bounds('hits', 'isrefresh', 0, 1), dp_cdp.set_bounds('hits', 'userid', 0, 9223372036854775807);
SELECT dp_cdp.set_keys('hits', 'advengineid', (SELECT array_agg(i::smallint) FROM generate_series(0, 41) i WHERE i <> 1)),
	dp_cdp.set_keys('hits', 'searchengineid', (SELECT array_agg(i::smallint) FROM generate_series(0, 40) i)),
	dp_cdp.set_keys('hits', 'traficsourceid', (SELECT array_agg(i::smallint) FROM generate_series(-1, 10) i));
