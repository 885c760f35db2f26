-- Exact states: grids, sums in 128 bits, bounded contributions of a unit.
-- Run by a superuser: everything here is out of an analyst's reach, which
-- the last section checks.
SET client_min_messages = warning;
SET plan_cache_mode = force_generic_plan;	-- parameters as the release node has them
CREATE SCHEMA exact_states;
SET search_path = exact_states, public;

-- what a unit keeps, of a call of bound_unit: columns k0 .. of the types that are named, and v0 .. of these kinds
CREATE FUNCTION columns(bound text, spec text, keys text[], kinds text[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(', ',
		(SELECT string_agg(format('dp_cdp_internal.bound_key(%s, %s, NULL::%s) AS k%s', i - 1, bound, t, i - 1), ', ' ORDER BY i) FROM unnest(keys) WITH ORDINALITY u (t, i)),
		(SELECT string_agg(format(CASE kind WHEN 'codes' THEN 'dp_cdp_internal.bound_codes(%3$s, %1$s, %2$s)' WHEN 'distinct' THEN 'dp_cdp_internal.bound_distinct_codes(%3$s, %1$s, %2$s)'
			ELSE 'dp_cdp_internal.bound_value(%3$s, %1$s, %2$s)' END || ' AS v%3$s', bound, spec, i - 1), ', ' ORDER BY i) FROM unnest(kinds) WITH ORDINALITY u (kind, i))) $$;

-- ---------------------------------------------------------------------
-- Grids
-- ---------------------------------------------------------------------

SELECT l AS lower, u AS upper, t AS input, p.*
  FROM (VALUES ('0', '100', 'int'), ('0.5', '10.5', 'int'), ('-3.7', '-1.2', 'smallint'),
			   ('0', '4294967296', 'bigint'), ('0', '4294967297', 'bigint'),
			   ('-9223372036854775808', '9223372036854775807', 'bigint'), ('0', '1e30', 'bigint'),
			   ('0', '100', 'float8'), ('-0.001', '0.0005', 'real'), ('-100.25', '50', 'numeric'),
			   ('1000000', '1000000.000001', 'float8'),
			   ('1e-300', '2e-300', 'float8'), ('-1e300', '1e300', 'float8')) v (l, u, t),
	   dp_cdp_internal.grid_parts(dp_cdp_internal.make_grid(l::numeric, u::numeric, t::regtype)) p;

SELECT dp_cdp_internal.make_grid(1, 1, 'int');
SELECT dp_cdp_internal.make_grid('NaN', 1, 'int');
SELECT dp_cdp_internal.make_grid(0, 'Infinity', 'float8');
SELECT dp_cdp_internal.make_grid(0.2, 0.8, 'int');
SELECT dp_cdp_internal.make_grid(-0.5, 0.5, 'int');
SELECT dp_cdp_internal.make_grid(0, 1e-320, 'float8');
SELECT dp_cdp_internal.make_grid(0, 1e400, 'numeric');
SELECT dp_cdp_internal.make_grid(0, 1, 'text');

-- back to SQL values: half to even, saturating, finite
SELECT n, dp_cdp_internal.grid_value(n, g4, NULL::bigint) AS "int8 x 2^8", dp_cdp_internal.grid_value(n, g, NULL::bigint) AS "int8 x 2^-25",
	   dp_cdp_internal.grid_value(n, g, NULL::numeric) AS "numeric x 2^-25"
  FROM (VALUES (0::numeric), (1), (16777216), (50331648), (-16777216), (-50331648), (1e20), (-1e20), (1e28), (-1e28)) v (n),
	   (SELECT dp_cdp_internal.make_grid(0, 1e12, 'bigint') AS g4, dp_cdp_internal.make_grid(0, 100, 'float8') AS g) s;
SELECT dp_cdp_internal.grid_value(n, dp_cdp_internal.make_grid(-1e300, 1e300, 'float8'), NULL::float8) AS huge,
	   dp_cdp_internal.grid_value(n, dp_cdp_internal.make_grid(0, 1e-300, 'float8'), NULL::float8) AS tiny
  FROM (VALUES (0::numeric), (3206669376), (1e28), (-1e28)) v (n);

-- ---------------------------------------------------------------------
-- Sums of rows
-- ---------------------------------------------------------------------

-- the exact total of x over the rows of q, as numeric
CREATE FUNCTION total(q text, lower numeric, upper numeric, input regtype) RETURNS numeric
	LANGUAGE plpgsql AS $$
DECLARE result numeric;
BEGIN
	EXECUTE format('SELECT dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum(x, $1), $1) FROM (%s) s', q)
		INTO result USING dp_cdp_internal.make_grid(lower, upper, input);
	RETURN result;
END $$;

SELECT total('SELECT x::int2 FROM generate_series(-5, 20) x', 0, 10, 'int2') AS int2,
	   total('SELECT x::int4 FROM generate_series(-5, 20) x', 0, 10, 'int4') AS int4,
	   total('SELECT x::int8 FROM generate_series(-5, 20) x', 0, 10, 'int8') AS int8,
	   total('SELECT x::float4 FROM generate_series(-5, 20) x', 0, 10, 'float4') AS float4,
	   total('SELECT x::float8 FROM generate_series(-5, 20) x', 0, 10, 'float8') AS float8,
	   total('SELECT x::numeric FROM generate_series(-5, 20) x', 0, 10, 'numeric') AS "numeric";

-- a fractional bound of integers: 10 stays 10
SELECT total('SELECT x FROM (VALUES (0), (10), (11)) v (x)', 0.5, 10.5, 'int');
-- no rows, and nothing but NULL
SELECT total('SELECT 1 AS x WHERE false', 0, 1, 'int') AS none,
	   total('SELECT NULL::float8 AS x', 0, 1, 'float8') AS nulls;
-- NULL contributes nothing, of any type, and so does a row without a grid
SELECT t AS type, total(format('SELECT CASE WHEN i %% 3 <> 0 THEN i::%1$s END AS x FROM generate_series(1, 10) i', t), 0, 8, t)
  FROM unnest('{int2,int4,int8,float4,float8,numeric}'::regtype[]) t;
SELECT dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum(i, CASE WHEN i <> 2 THEN dp_cdp_internal.make_grid(0, 8, 'int') END), dp_cdp_internal.make_grid(0, 8, 'int'))
  FROM generate_series(1, 4) i;

-- what a row adds, added up by PostgreSQL, is the same
CREATE FUNCTION total_of_steps(q text, lower numeric, upper numeric, input regtype) RETURNS numeric
	LANGUAGE plpgsql AS $$
DECLARE result numeric;
BEGIN
	EXECUTE format('SELECT dp_cdp_internal.grid_value(coalesce(sum(dp_cdp_internal.clamped_steps(x, $1)), 0), $1, 0::numeric) FROM (%s) s', q)
		INTO result USING dp_cdp_internal.make_grid(lower, upper, input);
	RETURN result;
END $$;
SELECT t AS type, bool_and(total(q, lower, upper, t) = total_of_steps(q, lower, upper, t)) AS same, bool_or(total(q, lower, upper, t) <> 0) AS not_all_0
  FROM unnest('{int2,int4,int8,float4,float8,numeric}'::regtype[]) t,
	   (VALUES (0, 10), (-3, 7), (0, 1e10), (-0.5, 0.25), (-1e30, 1e30)) b (lower, upper),
	   LATERAL (SELECT format('SELECT CASE WHEN i <> 3 THEN i::%1$s END AS x FROM generate_series(-5, 20) i%2$s', t,
			CASE WHEN t IN ('float4'::regtype, 'float8', 'numeric') THEN format(' UNION ALL SELECT i::%1$s FROM unnest(''{NaN,0.125,Infinity,-0.375,1e20}''::%1$s[]) i', t) END) AS q) q
  WHERE t NOT IN ('int2'::regtype, 'int4', 'int8') OR upper >= 1
  GROUP BY t ORDER BY t;

-- adversarial values never leave the bounds, and order does not matter
SELECT x, total(format('SELECT %L::float8 AS x', x), -1, 2, 'float8')
  FROM (VALUES ('1e308'), ('-1e308'), ('4.9e-324'), ('-4.9e-324'), ('2.2250738585072014e-308'),
			   ('-0'), ('NaN'), ('Infinity'), ('-Infinity'), ('0.3333333333333333'),
			   ('1.7976931348623157e308'), ('2'), ('2.0000000000000004'), ('1.9999999999999998')) v (x);
SELECT x, total(format('SELECT %L::float4 AS x', x), -1, 2, 'float4')
  FROM (VALUES ('3.4e38'), ('-3.4e38'), ('1e-45'), ('-0'), ('NaN'), ('Infinity'), ('-Infinity')) v (x);
SELECT x, total(format('SELECT %L::numeric AS x', x), -1, 2, 'numeric')
  FROM (VALUES ('1e130000'), ('-1e130000'), ('1e-16000'), ('-1e-16000'), ('NaN'), ('Infinity'), ('-Infinity'),
			   ('0.3333333333333333'), ('2.00000000000000000000001'), ('-0.99999999999999999')) v (x);
SELECT x, total(format('SELECT %L::bigint AS x', x), -5, 1e12, 'bigint') AS coarse,
	   total(format('SELECT %L::bigint AS x', x), -1e30, 1e30, 'bigint') AS coarser
  FROM (VALUES ('9223372036854775807'), ('-9223372036854775808'), ('127'), ('128'), ('129'), ('384')) v (x);

-- doubles are rounded half to even, here to whole numbers
SELECT x, total(format('SELECT %L::float8 AS x', x), -4294967295, 4294967295, 'float8')
  FROM (VALUES ('0.49999999999999994'), ('0.5'), ('-0.5'), ('0.50000000000000011'), ('1.4999999999999998'), ('1.5'),
			   ('-1.5'), ('2.5'), ('-2.5'), ('2147483646.5'), ('2147483647.5'), ('-2147483647.5'),
			   ('4294967294.5'), ('4294967293.4999995'), ('-4294967294.5')) v (x);
-- also where they are far beyond the bounds, before a unit's total is clamped
SELECT x, y, dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(v), dp_cdp_internal.make_grid(-4294967295, 4294967295, 'float8')) AS total
  FROM (VALUES (2251799813685247.25::float8, -2251799813685240::float8), (2251799813685247.5, -2251799813685240),
			   (2251799813685248.5, -2251799813685240), (2251799813685249.5, -2251799813685240),
			   (-2251799813685248.5, 2251799813685250), (-2251799813685249.5, 2251799813685250),
			   (4503599627370497, -4503599627370496), (4611686018427388928, -4611686018427387904),
			   (9223372036854777856, -9223372036854775808)) v (x, y),
	   (SELECT dp_cdp_internal.make_bound_spec(0, 1, ARRAY[1::bigint, 2], '{sum}',
									  ARRAY[dp_cdp_internal.make_grid(-4294967295, 4294967295, 'float8')]) AS s) s,
	   LATERAL (SELECT dp_cdp_internal.bound_unit(s, z) AS b FROM (VALUES (x), (y)) u (z)) b,
	   LATERAL dp_cdp_internal.bound_value(0, b, s) w (v)
 GROUP BY x, y ORDER BY x;

-- numeric is rounded exactly, half to even: compare with numeric arithmetic
CREATE FUNCTION half_even(x numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS
	$$ SELECT CASE WHEN x - floor(x) = 0.5 THEN 2 * round(x * 0.5) ELSE round(x) END $$;
CREATE FUNCTION pow2(e int) RETURNS numeric LANGUAGE sql IMMUTABLE AS
	$$ SELECT CASE WHEN e >= 0 THEN round(2::numeric ^ e) ELSE (round(5::numeric ^ -e)::text || 'e' || e)::numeric END $$;
SELECT e AS exponent, count(*), count(*) FILTER (WHERE got <> want) AS wrong
  FROM (SELECT e, total('SELECT ' || x || '::numeric AS x', -pow2(e + 31), pow2(e + 31), 'numeric') AS got,
			   round(half_even(x * pow2(-e)) * pow2(e), greatest(ceil(-e * 0.30103), 0)::int) AS want
		  FROM (VALUES (-200), (-64), (-31), (-20), (-1), (0), (1), (2), (33), (70), (300)) v (e),
			   LATERAL (SELECT DISTINCT n * s * d * pow2(e) AS x
						  FROM (VALUES (0.5), (1), (1.5), (2.5), (12345.5), (98765.4321), (1234567.5), (2147483646.5)) a (n),
							   (VALUES (1), (-1)) b (s),
							   (VALUES (1), (1.0000000000000000000001), (0.9999999999999999999999), (0.3333), (0.0001)) c (d)) x) s
 GROUP BY e ORDER BY e;

-- doubles of many magnitudes, a million in the run of all tests: some random orders, 20 in that run, and 2 workers
\set rows 200000
\set orders 3
\set longest 10000000
\set units 60
\getenv all DP_TEST_ALL
\if :{?all}
\set rows 1000000
\set orders 20
\set longest 100000000
\set units 300
\endif
CREATE TABLE doubles AS
	SELECT (hashint4extended(i, 1) % 1000000) * power(2.0::float8, hashint4extended(i, 2) % 40) AS x,
		   i % 7 AS k
	  FROM generate_series(1, :rows) i;
ANALYZE doubles;
CREATE FUNCTION orders(n int) RETURNS TABLE (sum numeric) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		RETURN QUERY SELECT total('SELECT x FROM doubles ORDER BY random()', -1e9, 3e9, 'float8');
	END LOOP;
END $$;
SET work_mem = '256MB';
SET max_parallel_workers_per_gather = 0;
SELECT count(*) = :orders AS runs, count(DISTINCT sum) AS sums,
	   count(*) FILTER (WHERE sum <> (SELECT total('SELECT x FROM doubles', -1e9, 3e9, 'float8'))) AS differ
  FROM orders(:orders);

PREPARE by_k(dp_cdp_internal.grid) AS
	SELECT k, dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum(x, $1), $1) AS sum FROM doubles GROUP BY k ORDER BY k;
CREATE TABLE serial AS EXECUTE by_k(dp_cdp_internal.make_grid(-1e9, 3e9, 'float8'));
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE FUNCTION workers(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (costs off) ' || q LOOP
		IF line ~ 'Workers Planned|Partial .*Aggregate' THEN
			RETURN NEXT trim(regexp_replace(line, '(Hash|Group)Aggregate', 'Aggregate'), ' ->');
		END IF;
	END LOOP;
END $$;
DEALLOCATE by_k;
PREPARE by_k(dp_cdp_internal.grid) AS
	SELECT k, dp_cdp_internal.exact_sum_value(dp_cdp_internal.exact_sum(x, $1), $1) AS sum FROM doubles GROUP BY k ORDER BY k;
SELECT workers('EXECUTE by_k(dp_cdp_internal.make_grid(-1e9, 3e9, ''float8''))');
CREATE TABLE parallel AS EXECUTE by_k(dp_cdp_internal.make_grid(-1e9, 3e9, 'float8'));
SELECT count(*) FROM serial JOIN parallel USING (k, sum);

-- ---------------------------------------------------------------------
-- Contributions of a unit
-- ---------------------------------------------------------------------

-- 300 units of up to 60 rows in up to 40 groups
CREATE TABLE visits AS
	SELECT i % 300 AS unit, nullif('g' || abs(hashint4extended(i, 3)) % (1 + i % 40), 'g3') AS k,
		   hashint4extended(i, 4) % 1000 / 7.0::float8 AS x, i % 3 = 0 AS ok
	  FROM generate_series(1, 12000) i;
ANALYZE visits;

CREATE FUNCTION spec(max_groups int, seed bigint DEFAULT 42) RETURNS dp_cdp_internal.bound_spec LANGUAGE sql AS $$
	SELECT dp_cdp_internal.make_bound_spec(1, max_groups, ARRAY[seed, 4711], '{count,count,units,sum}',
								  ARRAY[dp_cdp_internal.make_grid(0, 5, 'int'), dp_cdp_internal.make_grid(0, 2, 'int'),
										dp_cdp_internal.make_grid(0, 1, 'int'), dp_cdp_internal.make_grid(-100, 150, 'float8')]) $$;
-- every entry, or those of one unit and key
CREATE FUNCTION entries(q text, s dp_cdp_internal.bound_spec)
	RETURNS TABLE (unit int, k text, n bigint, n_ok bigint, any_ok bigint, x bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT unit, k0, v0, v1, v2, v3 FROM (SELECT unit, %s FROM (%s) v GROUP BY unit) s',
		columns('dp_cdp_internal.bound_unit($1, unit, k, true, ok, ok, x)', '$1', '{text}', '{count,count,units,sum}'), q) USING s;
END $$;

-- what the same would be without a limit on groups
CREATE TABLE truth AS
	SELECT unit, k, least(count(*), 5) AS n, least(count(*) FILTER (WHERE ok), 2) AS n_ok,
		   bool_or(ok)::int::bigint AS any_ok,
		   least(greatest(sum(half_even((x * 16777216)::numeric)), -100 * 16777216::numeric), 150 * 16777216::numeric)::bigint AS x
	  FROM visits GROUP BY unit, k;
SELECT p.exponent FROM dp_cdp_internal.grid_parts(dp_cdp_internal.make_grid(-100, 150, 'float8')) p;
SELECT count(*) AS entries, count(*) FILTER (WHERE t.unit IS NULL) AS wrong, (SELECT count(*) FROM truth) AS groups
  FROM entries('SELECT * FROM visits', spec(1000)) e
  LEFT JOIN truth t ON (e.unit, e.n, e.n_ok, e.any_ok, e.x) = (t.unit, t.n, t.n_ok, t.any_ok, t.x) AND e.k IS NOT DISTINCT FROM t.k;

-- few groups: no more than allowed, each complete, whatever came and went
SELECT m AS max_groups, bool_and(c = least(m, g)) AS respected, sum(wrong) AS wrong
  FROM (SELECT m, e.unit, count(*) AS c, count(*) FILTER (WHERE t.unit IS NULL) AS wrong
		  FROM (VALUES (1), (2), (3), (5), (8), (20)) v (m), entries('SELECT * FROM visits', spec(m)) e
		  LEFT JOIN truth t ON (e.unit, e.n, e.n_ok, e.any_ok, e.x) = (t.unit, t.n, t.n_ok, t.any_ok, t.x) AND e.k IS NOT DISTINCT FROM t.k
		 GROUP BY m, e.unit) s
  JOIN (SELECT unit, count(*) AS g FROM truth GROUP BY unit) g USING (unit)
 GROUP BY m ORDER BY m;

-- the same groups for the same seed, in any order and with workers; others for another seed
CREATE FUNCTION digest(q text, s dp_cdp_internal.bound_spec) RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(e::text, ',' ORDER BY unit, k)) FROM entries(q, s) e $$;
SET max_parallel_workers_per_gather = 0;
SELECT count(DISTINCT digest('SELECT * FROM visits ORDER BY ' || o, spec(4))) AS digests
  FROM (VALUES ('random()'), ('random() '), ('k'), ('x'), ('unit, k DESC'), ('ok, k')) v (o);
CREATE TABLE serial_digest AS SELECT digest('SELECT * FROM visits', spec(4));
SELECT count(DISTINCT digest('SELECT * FROM visits', spec(4, seed))) AS digests FROM generate_series(1, 10) seed;
SET max_parallel_workers_per_gather = 2;
SET dp_cdp.bounding_node = off;
SELECT columns('dp_cdp_internal.bound_unit($1, unit, k, true, ok, ok, x)', '$1', '{text}', '{count,count,units,sum}') AS columns \gset
PREPARE units(dp_cdp_internal.bound_spec) AS SELECT unit, :columns FROM visits GROUP BY unit;
SELECT workers('EXECUTE units(spec(4))');
-- not within a function: those run without workers
PREPARE digest_units(dp_cdp_internal.bound_spec) AS
	SELECT (SELECT digest FROM serial_digest) =
		   md5(string_agg(ROW(unit, k0, v0, v1, v2, v3)::text, ',' ORDER BY unit, k0)) AS same
	  FROM (SELECT unit, :columns FROM visits GROUP BY unit) s;
SELECT workers('EXECUTE digest_units(spec(4))');
EXECUTE digest_units(spec(4));
RESET dp_cdp.bounding_node;

-- totals as the release node asks for them
PREPARE totals(dp_cdp_internal.bound_spec, dp_cdp_internal.grid) AS
	SELECT k0 AS k, dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(v0), $2) AS n,
		   dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(v2), $2) AS any_ok, count(*) AS units
	  FROM (SELECT :columns FROM visits WHERE unit IS NOT NULL GROUP BY unit) s GROUP BY 1 ORDER BY 1;
CREATE TABLE all_totals AS EXECUTE totals(spec(1000), dp_cdp_internal.make_grid(0, 5, 'int'));
SELECT count(*) AS groups, count(t.units) AS agree
  FROM all_totals a
  LEFT JOIN (SELECT k, sum(n) AS n, sum(any_ok) AS any_ok, count(*) AS units FROM truth GROUP BY k) t
	ON a.k IS NOT DISTINCT FROM t.k AND (a.n, a.any_ok, a.units) = (t.n, t.any_ok, t.units);

-- the choice is fair, and made by each unit for itself; not so without the unit
PREPARE fair(dp_cdp_internal.bound_spec) AS
	SELECT count(*) AS groups, sum(n) AS entries, bool_and(n BETWEEN 2700 AND 3300) AS even
	  FROM (SELECT k0 AS k, count(*) AS n
			  FROM (SELECT dp_cdp_internal.bound_key(0, dp_cdp_internal.bound_unit($1, unit, k), NULL::int) AS k0
					  FROM generate_series(1, 10000) unit, generate_series(1, 10) k GROUP BY unit) s GROUP BY 1) s;
EXECUTE fair(dp_cdp_internal.make_bound_spec(1, 3, '{1,2}', '{}', '{}'));
EXECUTE fair(dp_cdp_internal.make_bound_spec(1, 3, '{0,0}', '{}', '{}'));
PREPARE alike(dp_cdp_internal.bound_spec) AS
	SELECT count(DISTINCT k0) AS groups, count(*) AS entries
	  FROM (SELECT dp_cdp_internal.bound_key(0, dp_cdp_internal.bound_unit($1, k), NULL::int) AS k0
			  FROM generate_series(1, 100) unit, generate_series(1, 10) k GROUP BY unit) s;
EXECUTE alike(dp_cdp_internal.make_bound_spec(1, 3, '{1,2}', '{}', '{}'));

-- no keys: one row
PREPARE no_keys(dp_cdp_internal.bound_spec) AS
	SELECT unit, dp_cdp_internal.bound_value(0, dp_cdp_internal.bound_unit($1, unit, true), $1) AS n
	  FROM visits WHERE unit < 3 GROUP BY unit ORDER BY 1;
EXECUTE no_keys(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 7, 'int')]));

-- rows of a sum have limits of their own, and a total may be asked for its place alone, before it is clamped
PREPARE limited(dp_cdp_internal.bound_spec) AS
	SELECT unit, v, c FROM (SELECT unit, dp_cdp_internal.bound_value(0, b, $1) AS v, dp_cdp_internal.bound_cut(1, b, $1) AS c
		FROM (SELECT unit, dp_cdp_internal.bound_unit($1, unit, x, x) AS b
			FROM (VALUES (1, 5), (1, 100), (2, -7), (2, NULL), (3, NULL), (4, 2), (5, 100), (5, 100), (5, 100)) v (unit, x) GROUP BY unit) s) s ORDER BY unit;
EXECUTE limited(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum,cut}', array_fill(dp_cdp_internal.make_grid(-10, 25, 'int'), ARRAY[2]), limits => '{0,10,0,10}'));
EXECUTE limited(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum,cut}', array_fill(dp_cdp_internal.make_grid(-10, 25, 'int'), ARRAY[2]), limits => '{-50,10,-20,-11}'));
EXECUTE limited(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum,cut}', array_fill(dp_cdp_internal.make_grid(-10, 25, 'int'), ARRAY[2])));
-- a limit beyond the type of the values
EXECUTE limited(dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum,cut}', array_fill(dp_cdp_internal.make_grid(0, 4e9, 'int'), ARRAY[2]), limits => '{3000000000,4000000000,-4000000000,-3000000000}'));
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum}', ARRAY[dp_cdp_internal.make_grid(0, 1, 'int')], limits => '{1,0}');
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum}', ARRAY[dp_cdp_internal.make_grid(0, 1, 'int')], limits => '{1}');
SELECT dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum}', ARRAY[dp_cdp_internal.make_grid(0, 1, 'int')], limits => '{0,9223372036854775807}');

-- keys are equal when GROUP BY says so; what is shown does not depend on the order
CREATE FUNCTION keys_of(key_type regtype, max_groups int, VARIADIC vals text[]) RETURNS TABLE (key text, n bigint)
	LANGUAGE plpgsql AS $$
DECLARE spec dp_cdp_internal.bound_spec := dp_cdp_internal.make_bound_spec(1, max_groups, '{5,6}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 100, 'int')]);
	a text;
	b text;
	q text := $q$SELECT '"' || k0::text || '"' AS key, v0 AS n
			FROM (SELECT $q$ || columns('dp_cdp_internal.bound_unit($1, v::%1$s, true)', '$1', '{%1$s}', '{count}') || $q$
					FROM (SELECT v FROM unnest($2) WITH ORDINALITY AS u (v, o) ORDER BY o %2$s) t) s$q$;
BEGIN
	EXECUTE format('SELECT string_agg(key || n, '','') FROM (' || q || ') x', key_type, 'ASC') INTO a USING spec, vals;
	EXECUTE format('SELECT string_agg(key || n, '','') FROM (' || q || ') x', key_type, 'DESC') INTO b USING spec, vals;
	IF a <> b THEN
		RAISE EXCEPTION 'order matters: % %', a, b;
	END IF;
	RETURN QUERY EXECUTE format(q, key_type, 'ASC') || ' ORDER BY 1' USING spec, vals;
END $$;
SELECT * FROM keys_of('numeric', 5, '1.00', '1.0', '1', NULL, NULL, '2', 'NaN', 'NaN', '2.000000000000000');
SELECT * FROM keys_of('float8', 5, '-0', '0', '1', 'NaN', 'NaN', NULL);
SELECT * FROM keys_of('float4', 5, '0', '-0', '1', 'NaN', 'NaN', NULL);
SELECT * FROM keys_of('text', 5, 'a', 'a ', '', NULL, 'a', '');
SELECT * FROM keys_of('bpchar', 5, 'a', 'a ', '', ' ', NULL, 'a');
SELECT * FROM keys_of('boolean', 5, 't', 'f', NULL, 'true');
SELECT * FROM keys_of('"char"', 5, 'a', 'b', NULL, 'a');
SELECT * FROM keys_of('smallint', 5, '-1', '1', '32767', '-32768', '-1');
SELECT * FROM keys_of('oid', 5, '4294967295', '1', '4294967295', NULL);
SELECT * FROM keys_of('date', 5, '2020-01-01', 'infinity', '20200101', NULL);
SELECT * FROM keys_of('interval', 5, '1 day', '24 hours', '1 mon', '30 days');
SELECT * FROM keys_of('uuid', 5, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', NULL);
SELECT * FROM keys_of('jsonb', 5, '{"a": 1.0}', '{"a":1.00}', '[]');
SELECT * FROM keys_of('int4[]', 5, '{1,2}', '{1,2}', '{2,1}', NULL);
SELECT * FROM keys_of('name', 5, 'a', 'b', 'a');
SELECT * FROM keys_of('xid', 5, '1', '2', '1');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN grade AS int CHECK (value < 7);
SELECT * FROM keys_of('mood', 5, 'ok', 'sad', NULL, 'ok');
SELECT * FROM keys_of('grade', 5, '1', '2', '1', NULL);
\set VERBOSITY terse
SELECT * FROM keys_of('money', 5, '1', '2');
SELECT * FROM keys_of('bit', 5, '1', '0');
\set VERBOSITY default

-- collations that say more is equal (where the server has ICU)
CREATE FUNCTION ignores_case() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE result boolean;
BEGIN
	BEGIN
		CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	EXCEPTION WHEN OTHERS THEN
		RETURN true;
	END;
	EXECUTE $q$SELECT array_agg(k1 || v0 ORDER BY k1 COLLATE "C") = '{A2,b1}'
		  FROM (SELECT $q$ || columns('dp_cdp_internal.bound_unit($1, c, v, true)', '$1', '{text,text}', '{count}') || $q$
				  FROM (SELECT 'x' COLLATE "C" AS c, v COLLATE ignore_case AS v FROM (VALUES ('a'), ('A'), ('b')) v (v)) v) s$q$
		INTO result USING dp_cdp_internal.make_bound_spec(2, 5, '{5,6}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 100, 'int')]);
	RETURN result;
END $$;
SELECT ignores_case();

-- long keys and many columns: states that grow, and drop what they held
CREATE TABLE long AS
	SELECT i % 5 AS unit, repeat(chr(97 + i % 26), (i * 37) % 3000) AS a, nullif(i % 11, 3)::numeric AS b,
		   i % 2 = 0 AS c, timestamp '2020-01-01' + (i % 3) * interval '1 day' AS d, i::float8 AS x
	  FROM generate_series(1, 4000) i;
INSERT INTO long SELECT unit, (SELECT string_agg(md5(unit || ' ' || i), '') FROM generate_series(1, 300) i), b, c, d, x
  FROM long WHERE x <= 50;
SELECT columns('dp_cdp_internal.bound_unit($1, unit, a, b, c, d, true, x)', '$1', '{text,numeric,boolean,timestamp}', '{count,sum}') AS columns \gset
PREPARE long(dp_cdp_internal.bound_spec) AS
	SELECT unit, k0 AS a, k1 AS b, k2 AS c, k3 AS d, v0 AS n, v1 AS x FROM (SELECT unit, :columns FROM long GROUP BY unit) s;
CREATE TABLE long_few AS
	EXECUTE long(dp_cdp_internal.make_bound_spec(4, 30, '{7,8}', '{count,sum}', ARRAY[dp_cdp_internal.make_grid(0, 100, 'int'), dp_cdp_internal.make_grid(0, 100000, 'int')]));
CREATE TABLE long_all AS
	EXECUTE long(dp_cdp_internal.make_bound_spec(4, 3000, '{7,8}', '{count,sum}', ARRAY[dp_cdp_internal.make_grid(0, 100, 'int'), dp_cdp_internal.make_grid(0, 100000, 'int')]));
CREATE TABLE long_truth AS
	SELECT unit, a, b, c, d, count(*) AS n, sum(x)::bigint AS x FROM long GROUP BY unit, a, b, c, d;
SELECT (SELECT count(*) FROM long_few) AS few, (SELECT count(*) FROM long_all) = (SELECT count(*) FROM long_truth) AS "all",
	   (SELECT count(*) FROM (TABLE long_few EXCEPT TABLE long_truth) s) AS few_wrong,
	   (SELECT count(*) FROM (TABLE long_all EXCEPT TABLE long_truth) s) AS all_wrong;

-- Keys that are too long for a state leave their row out, whatever form they
-- are stored in, by whatever plan, and before they are fetched.
CREATE TABLE lengths (unit int, a text, b text);
ALTER TABLE lengths ALTER a SET STORAGE EXTERNAL;
INSERT INTO lengths SELECT u, repeat('x', n), repeat('y', m)
  FROM generate_series(1, :units) u, (VALUES (65532, NULL), (65533, NULL), (NULL, 65532), (NULL, 65533), (32760, 32764), (32764, 32764), (32764, 32765),
	(16380, 16380), (16380, 16381), (508, 508), (508, 509)) v (n, m);
INSERT INTO lengths SELECT 1, NULL, repeat(repeat('z', 1000), :longest / 1000);
INSERT INTO lengths SELECT 2, NULL, b FROM lengths WHERE unit = 1 AND length(b) = :longest;
INSERT INTO lengths SELECT 1, NULL, repeat('y', 65532);
CREATE FUNCTION lengths_digest(max_groups int, VARIADIC settings text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	FOR i IN 1 .. array_length(settings, 1) / 2 LOOP
		PERFORM set_config(settings[2 * i - 1], settings[2 * i], true);
	END LOOP;
	EXECUTE 'SELECT string_agg(format(''%s:%s %s'', a, b, n), '', '' ORDER BY a, b) FROM (
		SELECT length(k0) AS a, length(k1) AS b, count(*) AS n
		  FROM (SELECT ' || columns('dp_cdp_internal.bound_unit($1, unit, a, b, true)', '$1', '{text,text}') || ' FROM lengths GROUP BY unit) s GROUP BY 1, 2) l'
		INTO result USING dp_cdp_internal.make_bound_spec(2, max_groups, '{5,6}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 100, 'int')]);
	RETURN result;
END $$;
SELECT replace(lengths_digest(10, 'work_mem', '64MB'), ' ' || :units, ' all') AS lengths_digest;
SELECT lengths_digest(10, 'work_mem', '64kB') = lengths_digest(10, 'work_mem', '64MB') AS small,
	   lengths_digest(10, 'enable_hashagg', 'off') = lengths_digest(10, 'enable_hashagg', 'on') AS sorted,
	   lengths_digest(10, 'parallel_setup_cost', '0', 'parallel_tuple_cost', '0', 'min_parallel_table_scan_size', '0', 'max_parallel_workers_per_gather', '3')
	   = lengths_digest(10, 'max_parallel_workers_per_gather', '0') AS workers;
-- fewer bytes where a unit may be in more groups
SELECT replace(lengths_digest(1024, 'work_mem', '64MB'), ' ' || :units, ' all') AS lengths_digest;
SELECT replace(lengths_digest(1000000, 'work_mem', '64MB'), ' ' || :units, ' all') AS lengths_digest;

-- leave out a unit, also one whose rows are beyond the limits: at most max_groups groups change, by 1
CREATE FUNCTION lengths_without(u int) RETURNS TABLE (a int, b int, n bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'SELECT coalesce(length(k0), -1) AS a, coalesce(length(k1), -1) AS b, count(*) AS n
		  FROM (SELECT ' || columns('dp_cdp_internal.bound_unit($1, unit, a, b, true)', '$1', '{text,text}') || ' FROM lengths WHERE unit <> $2 GROUP BY unit) s GROUP BY 1, 2'
		USING dp_cdp_internal.make_bound_spec(2, 3, '{5,6}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 1, 'int')]), u;
END $$;
SELECT u, count(*) AS groups, min(with_u - without_u), max(with_u - without_u)
  FROM (SELECT u, a, b, coalesce(sum(n) FILTER (WHERE NOT leave), 0) AS with_u, coalesce(sum(n) FILTER (WHERE leave), 0) AS without_u
		  FROM generate_series(1, 3) u, (VALUES (false), (true)) v (leave), LATERAL lengths_without(CASE WHEN leave THEN u ELSE 0 END) GROUP BY u, a, b) s
 WHERE with_u <> without_u GROUP BY u ORDER BY u;

DROP TABLE lengths;

-- a unit's total is clamped, not its rows; extremes cancel and never escape
CREATE FUNCTION unit_total(lower numeric, upper numeric, input regtype, VARIADIC vals text[]) RETURNS bigint
	LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
	EXECUTE format('SELECT dp_cdp_internal.bound_value(0, dp_cdp_internal.bound_unit($1, v::%s), $1) FROM unnest($2) v', input)
		INTO result USING dp_cdp_internal.make_bound_spec(0, 1, '{1,2}', '{sum}', ARRAY[dp_cdp_internal.make_grid(lower, upper, input)]), vals;
	RETURN result;
END $$;
SELECT unit_total(-10, 10, 'int', '25', '-20') AS five,
	   unit_total(-10, 10, 'int', '25', '-10') AS ten,
	   unit_total(-10, 10, 'smallint', NULL, '-11') AS minus_ten,
	   unit_total(5, 10, 'bigint', NULL) AS nothing,
	   unit_total(5, 10, 'bigint', '3', '-3') AS at_least_five,
	   unit_total(-2147483648, 2147483648, 'float8', '1e308', '-1e308', '7') AS seven,
	   unit_total(-2147483648, 2147483648, 'float8', 'Infinity', '-Infinity', 'NaN', '7') AS seven,
	   unit_total(-2147483648, 2147483648, 'float4', '3e38', '-Infinity', '7') AS seven,
	   unit_total(-2147483648, 2147483648, 'numeric', '1e1000', '-1e500', 'NaN', '7.4') AS seven,
	   unit_total(-2147483648, 2147483648, 'numeric', 'Infinity', '7') AS upper,
	   unit_total(-9223372036854775808, 9223372036854775807, 'bigint',
				  VARIADIC array_fill('9223372036854775807'::text, '{1000}')) AS upper;

-- ---------------------------------------------------------------------
-- Out of reach
-- ---------------------------------------------------------------------

RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT dp_cdp_internal.exact_sum(x, dp_cdp_internal.make_grid(0, 1, 'int')) FROM generate_series(1, 3) x;
SELECT dp_cdp_internal.exact_sum_add('0'::dp_cdp_internal.exact_sum, 1, dp_cdp_internal.make_grid(0, 1, 'int'));
SELECT dp_cdp_internal.exact_sum_add(NULL, NULL::int, NULL);
SELECT dp_cdp_internal.bound_unit_add(NULL, spec(1), 1);
SELECT dp_cdp_internal.bound_unit(spec(1), 1);
SELECT dp_cdp_internal.bound_key(0, dp_cdp_internal.bound_unit(spec(1), k, true, ok, ok, x), NULL::int) FROM visits;
SELECT dp_cdp_internal.bound_key(1, dp_cdp_internal.bound_unit(spec(1), k, true, ok, ok, x), NULL::text) FROM visits;
SELECT dp_cdp_internal.bound_key(NULL, dp_cdp_internal.bound_unit(spec(1), k, true, ok, ok, x), NULL::text) FROM visits;
SELECT dp_cdp_internal.bound_value(0, dp_cdp_internal.bound_unit(spec(1), k, true, ok, ok, x), dp_cdp_internal.make_bound_spec(1, 1, '{1,2}', '{}', '{}')) FROM visits;
SELECT dp_cdp_internal.bound_value(4, dp_cdp_internal.bound_unit(spec(1), k, true, ok, ok, x), spec(1)) FROM visits;
SELECT dp_cdp_internal.bound_cut(0, dp_cdp_internal.bound_unit(spec(1), k, true, ok, ok, x), spec(1)) FROM visits;
SELECT dp_cdp_internal.bound_key(0, NULL, NULL::int), dp_cdp_internal.bound_value(0, NULL, spec(1)), dp_cdp_internal.bound_codes(0, NULL, NULL);
SELECT dp_cdp_internal.steps_sum_add('0', 1);

CREATE ROLE regress_dp_nobody;
SELECT t.typname, typreceive <> 0 OR typsend <> 0 AS binary_form,
	   EXISTS (SELECT FROM pg_cast WHERE t.oid IN (castsource, casttarget)) AS casts,
	   has_type_privilege('regress_dp_nobody', t.oid, 'usage') AS usage
  FROM pg_type t
 WHERE typname IN ('grid', 'exact_sum', 'bound_spec', 'bound_state', 'range', 'exact_vector', 'exact_distinct') AND typnamespace = 'dp_cdp_internal'::regnamespace
 ORDER BY 1;
-- what anyone may call needs a grid or a spec, which nobody can make
SELECT p.oid::regprocedure AS callable FROM pg_proc p
 WHERE pronamespace = 'dp_cdp_internal'::regnamespace
   AND EXISTS (SELECT FROM pg_type t
				WHERE typname IN ('grid', 'exact_sum', 'bound_spec', 'bound_state', 'range', 'exact_vector', 'exact_distinct')
				  AND typnamespace = 'dp_cdp_internal'::regnamespace
				  AND (t.oid = ANY (proargtypes) OR t.typarray = ANY (proargtypes) OR t.oid = prorettype))
   AND has_function_privilege('regress_dp_nobody', p.oid, 'execute')
 ORDER BY p.oid::regprocedure::text COLLATE "C";
SET ROLE regress_dp_nobody;
SELECT '0'::dp_cdp_internal.exact_sum;
SELECT '1'::dp_cdp_internal.exact_sum;
SELECT '{0,1}'::dp_cdp_internal.exact_sum[];
SELECT '0'::dp_cdp_internal.grid;
SELECT '\x00'::dp_cdp_internal.bound_state;
SELECT dp_cdp_internal.make_grid(0, 1, 'int');
SELECT dp_cdp_internal.exact_sum(1, NULL);
SELECT dp_cdp_internal.bound_unit(NULL, 1);
SELECT dp_cdp_internal.bound_unit('', 1);
SELECT dp_cdp_internal.bound_key(0, NULL, 1), dp_cdp_internal.bound_value(0, NULL, NULL);
SELECT dp_cdp_internal.steps_sum(x) FROM generate_series(1, 3) x;
SELECT dp_cdp_internal.exact_sum_value(x, g) FROM (VALUES ('0'::dp_cdp_internal.exact_sum, NULL::dp_cdp_internal.grid), (NULL, NULL)) v (x, g);
CREATE TEMP TABLE t (x dp_cdp_internal.exact_sum);
RESET ROLE;
DROP ROLE regress_dp_nobody;

SET client_min_messages = error;
DROP SCHEMA exact_states CASCADE;
