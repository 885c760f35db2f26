-- What tools send, asked through each driver as it is.  Before each statement
-- stand its price (aggregates, and selections of keys), the rows or the
-- SQLSTATE that come of it, and its name.

-- 1 rho, 0 keys, 1 rows: standard count(*)
SELECT count(*) FROM visits;
-- 1 rho, 0 keys, 1 rows: dp_count(*)
SELECT dp_count(*) FROM visits;
-- 2 rho, 0 keys, 4 rows: positions, quoted aliases, DESC and LIMIT
SELECT dept AS "Department", dp_count(*) AS "Number of visits", dp_sum(n) AS "Cost" FROM visits GROUP BY 1 ORDER BY 2 DESC LIMIT 10;
-- 1 rho, 0 keys, 4 rows: all names quoted, as LibreOffice Base writes them
SELECT "dept", COUNT( "id" ) AS "n" FROM "public"."visits" AS "visits" GROUP BY "dept" ORDER BY "dept" ASC;
-- 1 rho, 0 keys, 1 rows: dp_count(x), where a parser refuses dp_count(*)
SELECT dp_count( "id" ) FROM "public"."visits";
-- 2 rho, 0 keys, 1 rows: sums and numbers as strings
SELECT dp_sum(n, '0', '10') AS a, sum(i4) AS b FROM visits WHERE id > '5';
-- 2 rho, 0 keys, 1 rows: FILTER and HAVING
SELECT dp_count(*) FILTER (WHERE flag) AS flagged, dp_count(*) AS n FROM visits HAVING dp_count(*) > -1000000000;
-- 1 rho, 0 keys, 4 rows: a subquery of a chart
SELECT dept AS dept, count(*) AS count FROM (SELECT * FROM visits WHERE id > 5) AS virtual_table GROUP BY dept ORDER BY count DESC LIMIT 1000;
-- 1 rho, 0 keys, 4 rows: rows of a release, with a limit
SELECT * FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) AS virtual_table LIMIT 1000;
-- 0 rho, 0 keys, 1 rows: Evidence counts the rows before every query
WITH root AS (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) SELECT COUNT(*) AS rows FROM root;
-- 1 rho, 1 keys, 1 rows: Evidence counts groups whose keys are not public
WITH root AS (SELECT ward, dp_count(DISTINCT patient) AS n FROM visits GROUP BY ward) SELECT COUNT(*) AS rows FROM root;
-- 0 rho, 0 keys, 1 rows: knex counts before it pages
select count(*) as "count" from (select "dept", dp_count(*) as "n" from "visits" group by "dept") as "t1" limit 1;
-- 1 rho, 0 keys, 2 rows: a page
select "dept", dp_count(*) as "n" from "visits" group by "dept" order by "dept" asc limit 2 offset 2;
-- 1 rho, 0 keys, 1 rows: sequelize's findAndCountAll
SELECT count(*) AS "count" FROM "visits" AS "visit" WHERE "visit"."id" > 10;
-- 0 rho, 0 keys, 4 rows: keys out of a release
SELECT dept FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) AS q;
-- 1 rho, 1 keys, any rows: a filter box
SELECT ward FROM visits GROUP BY 1 ORDER BY 1;
-- 0 rho, 0 keys, 4 rows: a filter box of declared keys
SELECT DISTINCT dept FROM visits ORDER BY dept;
-- 1 rho, 0 keys, 4 rows: a view
SELECT department, sum(cost) AS cost FROM recent GROUP BY department;
-- 1 rho, 0 keys, 12 rows: a join of released rows
SELECT a.dept, a.n, b.x FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) a, generate_series(1, 3) AS b (x);
-- 2 rho, 0 keys, 8 rows: UNION ALL of two releases
SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept UNION ALL SELECT dept, dp_count(*) FROM visits WHERE flag GROUP BY dept;
-- 0 rho, 0 keys, 0 rows: dbplyr's probe
SELECT * FROM visits AS q01 WHERE (0 = 1);
-- 0 rho, 0 keys, 0 rows: a probe of a query, as SQLAlchemy and R write it
SELECT * FROM (SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept) AS q WHERE 0=1;
-- 0 rho, 0 keys, 0 rows: LIMIT 0
SELECT * FROM "public"."visits" LIMIT 0;
-- 0 rho, 0 keys, ZC002 rows: a preview
SELECT * FROM visits LIMIT 10;
-- 0 rho, 0 keys, ZC002 rows: a preview of a view
SELECT * FROM recent LIMIT 10;
-- 0 rho, 0 keys, ZC002 rows: LibreOffice's preview
SELECT * FROM "public"."visits";
-- 0 rho, 0 keys, ZC002 rows: a function that is not on the list
SELECT dp_count(*) FROM visits WHERE md5(dept) = 'x';
-- 0 rho, 0 keys, ZC004 rows: bounds that are none
SELECT dp_sum(n, 10, 0) FROM visits;
-- 0 rho, 0 keys, ZC004 rows: a sum without bounds
SELECT sum(patient) FROM visits;
-- 0 rho, 0 keys, ZC002 rows: an exact aggregate
SELECT array_agg(n) FROM visits;
-- 1 rho, 0 keys, 22023 rows: an error over released values, which the analyst made
SELECT setseed(2 + dp_count(*) * 0) FROM visits;
-- 0 rho, 0 keys, ZC002 rows: row-level security without a policy: rows
SELECT * FROM admissions;
-- 2 rho, 0 keys, 4 rows: row-level security without a policy: aggregates
SELECT dept, count(*) AS n, sum(cost) AS cost FROM admissions GROUP BY dept;
-- 0 rho, 0 keys, 0 rows: row-level security without a policy: a probe
SELECT * FROM admissions WHERE 0 = 1;
-- 0 rho, 0 keys, 1 rows: information_schema lists what one has a privilege on
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name IN ('visits', 'admissions');
-- 0 rho, 0 keys, 4 rows: ... and its columns
SELECT column_name, data_type FROM information_schema.columns WHERE table_name IN ('visits', 'admissions');
-- 0 rho, 0 keys, 2 rows: pg_catalog lists all tables
SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r';
-- 0 rho, 0 keys, any rows: EXPLAIN
EXPLAIN SELECT dept, dp_count(*) FROM visits GROUP BY dept;
