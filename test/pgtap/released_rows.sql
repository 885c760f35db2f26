-- Released rows are handed out forwards and backwards, again, and as they are by several readers, wherever they lie:
-- in memory, where all values are passed by value; on disk, where they are too many or others.

SET client_min_messages = error;

CREATE ROLE analyst1 LOGIN;
CREATE TABLE visits (k int, dept text NOT NULL, x int);
INSERT INTO visits SELECT i % 5000, 'dept ' || lpad((i % 5000)::text, 4, '0'), i % 10 FROM generate_series(1, 6000) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1e4) \g /dev/null
SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true) \g /dev/null
SELECT dp_cdp.set_keys('visits', 'k', (SELECT array_agg(i ORDER BY random()) FROM (SELECT generate_series(0, 4999) UNION ALL SELECT NULL) AS g (i))) \g /dev/null
SELECT dp_cdp.set_keys('visits', 'dept', (SELECT array_agg('dept ' || lpad(i::text, 4, '0')) FROM generate_series(0, 4999) i)) \g /dev/null
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6) \g /dev/null

-- goes through the rows of a query, each as text
CREATE FUNCTION walk(query text, steps text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	step text;
	seen text[];
BEGIN
	OPEN c SCROLL FOR EXECUTE query;
	FOREACH step IN ARRAY string_to_array(steps, ' ') LOOP
		CASE step
			WHEN 'next' THEN FETCH NEXT FROM c INTO r;
			WHEN 'prior' THEN FETCH PRIOR FROM c INTO r;
			WHEN 'first' THEN FETCH FIRST FROM c INTO r;
			WHEN 'last' THEN FETCH LAST FROM c INTO r;
			WHEN 'third' THEN FETCH ABSOLUTE 3 FROM c INTO r;
		END CASE;
		seen := seen || CASE WHEN FOUND THEN r::text ELSE 'nothing' END;
	END LOOP;
	CLOSE c;
	RETURN seen;
END $$;
GRANT EXECUTE ON FUNCTION walk TO analyst1;

-- both ways
\set steps 'next next prior prior next last next prior prior next next third prior first prior last'

SELECT plan(10);

SET SESSION AUTHORIZATION analyst1;
-- 5001 rows of 18 bytes
SELECT walk('SELECT k, dp_count(*) FROM visits GROUP BY k', :'steps') AS in_memory \gset
SET work_mem = '64kB';
SELECT walk('SELECT k, dp_count(*) FROM visits GROUP BY k', :'steps') AS moved_to_disk \gset
RESET work_mem;
SELECT walk('SELECT dept, dp_count(*) FROM visits GROUP BY dept', :'steps') AS stored \gset
RESET SESSION AUTHORIZATION;

SELECT is(:'in_memory'::text[],
	ARRAY['(0,1)', '(1,2)', '(0,1)', 'nothing', '(0,1)', '(,0)', 'nothing', '(,0)', '(4999,1)', '(,0)', 'nothing', '(2,2)', '(1,2)', '(0,1)', 'nothing', '(,0)'],
	'rows in memory are read in both directions, NULL as well');
SELECT is(:'moved_to_disk'::text[], :'in_memory'::text[], 'those that outgrew work_mem, too');
SELECT is(:'stored'::text[],
	ARRAY['("dept 0000",1)', '("dept 0001",2)', '("dept 0000",1)', 'nothing', '("dept 0000",1)', '("dept 4999",1)', 'nothing', '("dept 4999",1)', '("dept 4998",1)',
		'("dept 4999",1)', 'nothing', '("dept 0002",2)', '("dept 0001",2)', '("dept 0000",1)', 'nothing', '("dept 4999",1)'],
	'and those with values by reference');

-- all of them are there, once
SET SESSION AUTHORIZATION analyst1;
CREATE TEMP TABLE few AS SELECT k, dp_count(*) AS n FROM visits GROUP BY k;
SET work_mem = '64kB';
CREATE TEMP TABLE many AS SELECT k, dp_count(*) AS n FROM visits GROUP BY k;
RESET work_mem;
RESET SESSION AUTHORIZATION;
SELECT is((SELECT row(count(*), count(DISTINCT k), sum(n))::text FROM few), '(5001,5000,6000)', 'all rows come out of memory');
SELECT is((SELECT row(count(*), count(DISTINCT k), sum(n))::text FROM many), '(5001,5000,6000)', 'and of what was moved to disk');

-- two readers of one release, one of which begins anew for each row of the other
SET SESSION AUTHORIZATION analyst1;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
PREPARE twice AS WITH r AS NOT MATERIALIZED (SELECT c, dp_count(*) AS n FROM (SELECT x % 2 = 0 AS c FROM visits) v GROUP BY c)
	SELECT string_agg(a.c || ' ' || b.c || ' ' || (a.n - b.n), ', ' ORDER BY a.c, b.c) FROM r a JOIN r b ON a.c <= b.c;
EXECUTE twice \gset
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET SESSION AUTHORIZATION;
SELECT is(:'string_agg'::text, 'false false 0, false true 0, true true 0', 'several readers do not disturb each other');

SELECT is((SELECT count(*) FROM dp_cdp.releases WHERE granted AND groups = 'k'), 4::bigint, 'each walk was one release');
SET SESSION AUTHORIZATION analyst1;
SELECT walk('SELECT dp_count(*), dp_count(x) FROM visits', 'next next prior prior next') AS one \gset
SELECT walk('SELECT k, dp_count(*) FROM visits GROUP BY k LIMIT 0', 'next prior next') AS none \gset
SELECT walk('SELECT x % 2 = 0, dp_count(*) FROM visits WHERE x = 3 GROUP BY 1 HAVING dp_count(*) > 1000000', 'next prior next') AS filtered \gset
RESET SESSION AUTHORIZATION;
SELECT is(:'one'::text[], '{"(6000,6000)",nothing,"(6000,6000)",nothing,"(6000,6000)"}'::text[], 'a row alone');
SELECT is(:'none'::text[], '{nothing,nothing,nothing}'::text[], 'none');
SELECT is(:'filtered'::text[], '{nothing,nothing,nothing}'::text[], 'and none that is shown');

SELECT * FROM finish();
