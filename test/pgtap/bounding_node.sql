-- The plan node that bounds contributions: the planner takes it, EXPLAIN shows it, and
-- what it returns is bit for bit what PostgreSQL's own aggregation with bound_unit
-- returns for the same seed, whatever the memory, the order of rows and the plan below.
-- "make test" asks all of it of fewer rows, whose batches are hardly ever split again, and with two amounts of
-- memory, where it is about something else with one.

\ir size.psql
SELECT CASE WHEN :long THEN 6000 ELSE 1000 END AS units, CASE WHEN :long THEN 60000 ELSE 10000 END AS rows,
	CASE WHEN :long THEN '{64kB,512kB,64MB}' ELSE '{64kB,64MB}' END AS memory, CASE WHEN :long THEN '{64kB,512kB,64MB}' ELSE '{64kB}' END AS little \gset

SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET jit = off;

CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE side AS ENUM ('left', 'right', 'middle');
-- units of all types, keys and values of each kind; units with 1 to 19 rows, some of nobody
CREATE TABLE visit AS
	SELECT nullif(p, 0) AS i4, nullif(p, 0)::smallint AS i2, nullif(p, 0)::bigint * 10000000000 AS i8,
		date '2000-01-01' + nullif(p, 0) AS d, timestamptz '2000-01-01' + nullif(p, 0) * interval '1 s' AS ts,
		p % 2 = 0 AS b, nullif(p, 0)::text AS t, gen_random_uuid() AS noise,
		md5(nullif(p, 0)::text)::uuid AS u, rpad(nullif(p, 0)::text, 4 + h % 3)::char(9) AS label,
		(CASE WHEN h % 2 = 0 THEN 'Ab' ELSE 'aB' END || nullif(p, 0)) COLLATE caseless AS ci, nullif(p, 0)::float8 * (h % 2 - 0.5) / abs(h % 2 - 0.5) * (p - :units / 2) AS f,
		nullif(p, 0) * (ARRAY[1, 1.0, 1.00])[1 + h % 3] AS nu, nullif(p, 0) * CASE WHEN h % 2 = 0 THEN interval '24 h' ELSE interval '1 day' END AS span,
		to_jsonb(nullif(p, 0)) AS doc,
		nullif(h % 13, 12) AS k, substr('abcdefghijk', 1 + h % 7, 1 + h % 3) AS word, (h % 5)::numeric / 2 AS n,
		h % 1000 AS x, (h % 1000)::float8 / 7 AS y, (h % 1000)::numeric / 3 AS z, h % 3 = 0 AS flag,
		(enum_range(NULL::side))[1 + h % 4] AS side, (CASE h % 5 WHEN 4 THEN 4294967295 ELSE h % 5 END)::oid AS number,
		chr(nullif(h % 127, 5) + 1)::"char" AS letter, time '00:00' + h % 11 * interval '1 us' AS hour
	FROM generate_series(1, :rows) g, LATERAL (SELECT hashint4(g) & 65535 AS h, (hashint4(g * 7) & 65535) % :units * (1 + (g & 1)) / 2 AS p) s;
CREATE INDEX ON visit (i4);
CREATE TABLE person AS SELECT p AS i4, p % 3 AS area FROM generate_series(1, :units) p;
CREATE TABLE visit_by_range (LIKE visit) PARTITION BY RANGE (i4);
CREATE TABLE visit_low PARTITION OF visit_by_range FOR VALUES FROM (MINVALUE) TO (:units / 2);
CREATE TABLE visit_high PARTITION OF visit_by_range FOR VALUES FROM (:units / 2) TO (MAXVALUE);
CREATE TABLE visit_rest PARTITION OF visit_by_range DEFAULT;
INSERT INTO visit_by_range SELECT * FROM visit;
CREATE TABLE visit_dropped AS SELECT 1 AS gone, * FROM visit;
ALTER TABLE visit_dropped DROP COLUMN gone;
CREATE TABLE empty (LIKE visit);
ANALYZE visit, person, visit_by_range, visit_dropped, empty;

-- the specs, by what they take after the unit
CREATE TABLE form (name text, keys text, types text[], vals text, spec text);
INSERT INTO form VALUES
	('count', 'k', '{int}', 'true', $$dp_cdp_internal.make_bound_spec(1, 3, '{11,12}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 4, 'int')])$$),
	('no keys', NULL, '{}', 'flag, x', $$dp_cdp_internal.make_bound_spec(0, 1, '{13,14}', '{count,sum}',
		ARRAY[dp_cdp_internal.make_grid(0, 4, 'int'), dp_cdp_internal.make_grid(0, 500, 'int')])$$),
	('sums', 'k, b', '{int,boolean}', 'x, y, z, flag', $$dp_cdp_internal.make_bound_spec(2, 4, '{15,16}', '{sum,sum,sum,units}',
		ARRAY[dp_cdp_internal.make_grid(0, 900, 'int'), dp_cdp_internal.make_grid(-5, 100, 'float8'), dp_cdp_internal.make_grid(0, 300, 'numeric'), dp_cdp_internal.make_grid(0, 1, 'int')])$$),
	('long keys', 'word, n', '{text,numeric}', 'x + 1, flag AND x > 10', $$dp_cdp_internal.make_bound_spec(2, 2, '{17,18}', '{sum,count}',
		ARRAY[dp_cdp_internal.make_grid(0, 900, 'int'), dp_cdp_internal.make_grid(0, 3, 'int')])$$),
	('computed', 'k / 2, x % 4', '{int,int}', 'x * 2', $$dp_cdp_internal.make_bound_spec(2, 3, '{19,20}', '{sum}', ARRAY[dp_cdp_internal.make_grid(-10, 900, 'int')])$$),
	('text keys', 'word, b', '{text,boolean}', 'flag, x', $$dp_cdp_internal.make_bound_spec(2, 3, '{23,24}', '{count,sum}',
		ARRAY[dp_cdp_internal.make_grid(0, 3, 'int'), dp_cdp_internal.make_grid(0, 900, 'int')])$$),
	('many groups', 'x, k', '{int,int}', 'flag', $$dp_cdp_internal.make_bound_spec(2, 5, '{25,26}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 3, 'int')])$$),
	('many values', 'k', '{int}', 'true, flag, x % 2 = 0, x % 7 = 0, x, y, z, x + k, -x, x > 500', $$dp_cdp_internal.make_bound_spec(1, 3, '{27,28}',
		'{count,units,count,units,sum,sum,sum,sum,sum,count}', array_fill(dp_cdp_internal.make_grid(0, 1, 'int'), '{4}') || ARRAY[dp_cdp_internal.make_grid(0, 900, 'int'),
		dp_cdp_internal.make_grid(-5, 100, 'float8'), dp_cdp_internal.make_grid(0, 300, 'numeric'), dp_cdp_internal.make_grid(0, 900, 'int'), dp_cdp_internal.make_grid(-900, 900, 'int'), dp_cdp_internal.make_grid(0, 3, 'int')])$$),
	('codes and values', 'word, n', '{text,numeric}', 'x, flag, x::bigint, x', $$dp_cdp_internal.make_bound_spec(2, 3, '{29,30}', '{codes,count,distinct,sum}',
		ARRAY[dp_cdp_internal.make_grid(0, 2, 'int'), dp_cdp_internal.make_grid(0, 3, 'int'), dp_cdp_internal.make_grid(0, 3, 'int'), dp_cdp_internal.make_grid(0, 900, 'int')])$$),
	('rows with limits', 'k', '{int}', 'x, y, z, x, z', $$dp_cdp_internal.make_bound_spec(1, 3, '{31,32}', '{sum,sum,sum,cut,cut}',
		ARRAY[dp_cdp_internal.make_grid(0, 900, 'int'), dp_cdp_internal.make_grid(-5, 100, 'float8'), dp_cdp_internal.make_grid(0, 300, 'numeric'), dp_cdp_internal.make_grid(0, 900, 'int'), dp_cdp_internal.make_grid(0, 300, 'numeric')],
		limits => '{100,200,0,1000000000,-5,2000000000,100,400,0,1000000000}')$$),
	('norm', 'k', '{int}', 'true', $$dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 100, '{35,36}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 4294967295, 'bigint')]),
		0, 20, '{}', '{1048576,2097152,3145728,5242880}')$$),
	('norms', 'k, b', '{int,boolean}', 'x, flag, y, z', $$dp_cdp_internal.with_norm(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(2, 100, '{37,38}', '{sum,count,sum,sum}',
		ARRAY[dp_cdp_internal.make_grid(-1000, 90000, 'int'), dp_cdp_internal.make_grid(0, 40, 'int'), dp_cdp_internal.make_grid(-5, 100, 'float8'), dp_cdp_internal.make_grid(-30, 300, 'numeric')]),
		0, 14, '{}', '{1048576,16777216,33554432}'), 3, 0, '{2}', '{1073741824,4294967296,8589934592}')$$),
	('norm of an average', 'word', '{text}', 'true, k, k / 2', $$dp_cdp_internal.with_groups(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 100, '{39,40}', '{rows,scaled,scaled}',
		ARRAY[dp_cdp_internal.make_grid(0, 4294967295, 'bigint'), dp_cdp_internal.make_scaled_grid(4294967295), dp_cdp_internal.make_scaled_grid(4294967295)], '{0,0,0}'),
		0, 24, '{1,2}', '{16777216,33554432}'), '{5,5,2}')$$),
	('norm without limits', NULL, '{}', 'flag, x', $$dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(0, 1, '{41,42}', '{count,sum}',
		ARRAY[dp_cdp_internal.make_grid(0, 4, 'int'), dp_cdp_internal.make_grid(0, 500, 'int')]), 1, 10, '{}', '{}')$$),
	('norm and codes', 'k, word', '{int,text}', 'x, x, flag', $$dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(2, 3, '{43,44}', '{codes,sum,units}',
		ARRAY[dp_cdp_internal.make_grid(0, 2, 'int'), dp_cdp_internal.make_grid(-1000, 90000, 'int'), dp_cdp_internal.make_grid(0, 1, 'int')]), 1, 14, '{}', '{1048576,16777216,33554432}')$$),
	('norm of a set', 'k', '{int}', 'x::bigint % 40, flag', $$dp_cdp_internal.with_norm(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(1, 100, '{47,48}', '{distinct,count}',
		ARRAY[dp_cdp_internal.make_grid(0, 20, 'int'), dp_cdp_internal.make_grid(0, 40, 'int')]), 0, 20, '{}', '{1048576,2097152,3145728}'), 1, 20, '{}', '{1048576,4194304}')$$),
	('norms of sets', NULL, '{}', 'x::bigint, flag, x % 7, x::bigint % 50', $$dp_cdp_internal.with_norm(dp_cdp_internal.with_norm(dp_cdp_internal.make_bound_spec(0, 1, '{49,50}', '{distinct,count,codes,distinct}',
		ARRAY[dp_cdp_internal.make_grid(0, 20, 'int'), dp_cdp_internal.make_grid(0, 40, 'int'), dp_cdp_internal.make_grid(0, 20, 'int'), dp_cdp_internal.make_grid(0, 5, 'int')]), 0, 24, '{}', '{16777216,50331648}'), 3, 0, '{}', '{}')$$),
	('fewer groups', 'k', '{int}', 'flag, x', $$dp_cdp_internal.with_groups(dp_cdp_internal.make_bound_spec(1, 6, '{45,46}', '{count,sum}', ARRAY[dp_cdp_internal.make_grid(0, 4, 'int'), dp_cdp_internal.make_grid(0, 500, 'int')]), '{2,6}')$$),
	('codes', 'k', '{int}', 'x, x::bigint', $$dp_cdp_internal.make_bound_spec(1, 3, '{21,22}', '{codes,distinct}',
		ARRAY[dp_cdp_internal.make_grid(0, 3, 'int'), dp_cdp_internal.make_grid(0, 4, 'int')])$$);
-- as many as there can be, of three kinds
INSERT INTO form
	SELECT 'most values', 'k', '{int}', string_agg(CASE kind WHEN 'count' THEN 'x % ' || i || ' = 0' WHEN 'distinct' THEN 'x::bigint' ELSE 'x + ' || i END, ', ' ORDER BY i),
		format($$dp_cdp_internal.make_bound_spec(1, 3, '{33,34}', '{%s}', ARRAY[%s])$$, string_agg(kind, ',' ORDER BY i),
			string_agg(format('dp_cdp_internal.make_grid(0, %s, ''int'')', CASE kind WHEN 'sum' THEN 900 ELSE 3 END), ', ' ORDER BY i))
	FROM (SELECT i, CASE WHEN i % 3 = 0 THEN 'count' WHEN i % 31 = 1 THEN 'distinct' ELSE 'sum' END AS kind FROM generate_series(1, 95) i) v;

-- columns of rows of units: k0 .. and v0 ..
CREATE FUNCTION kinds(f form) RETURNS text[] LANGUAGE sql AS $$ SELECT regexp_split_to_array((regexp_match(f.spec, '\{([a-z,]+)\}'))[1], ',') $$;
-- and where it has norms b0 .., f0 .., s0 .. of what may have a share; f0 in all
CREATE FUNCTION bins(f form) RETURNS text[] LANGUAGE sql AS $$ SELECT array_agg('b' || i - 1 ORDER BY i) FROM (SELECT row_number() OVER () AS i FROM regexp_matches(f.spec, 'with_norm', 'g')) s $$;
-- sets that a norm limits, which is the first number after the spec that it is added to
CREATE FUNCTION limited_sets(f form) RETURNS int[] LANGUAGE sql AS $$
	SELECT array_agg((m[1])::int) FROM regexp_matches(f.spec, '\), (\d+), \d+, ''\{[0-9,]*\}'', ''\{[0-9,]*\}''', 'g') m WHERE (kinds(f))[(m[1])::int + 1] = 'distinct' $$;
CREATE FUNCTION shares(f form) RETURNS text[] LANGUAGE sql AS $$ SELECT array_agg('s' || i - 1 ORDER BY i) FROM unnest(kinds(f)) WITH ORDINALITY u (kind, i) WHERE (kind NOT IN ('codes', 'distinct', 'cut') AND bins(f) IS NOT NULL) OR (kind = 'distinct' AND i - 1 = ANY (limited_sets(f))) $$;
CREATE FUNCTION row_columns(f form) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(', ', (SELECT string_agg(format('dp_cdp_internal.bound_key(%s, state, NULL::%s) AS k%s', i - 1, t, i - 1), ', ' ORDER BY i) FROM unnest(f.types) WITH ORDINALITY u (t, i)),
		(SELECT string_agg(format(CASE kind WHEN 'codes' THEN 'dp_cdp_internal.bound_codes(%2$s, state, %1$s)' WHEN 'distinct' THEN 'dp_cdp_internal.bound_distinct_codes(%2$s, state, %1$s)'
			WHEN 'cut' THEN 'dp_cdp_internal.bound_cut(%2$s, state, %1$s)'
			ELSE 'dp_cdp_internal.bound_value(%2$s, state, %1$s)' END || ' AS v%2$s', f.spec, i - 1), ', ' ORDER BY i) FROM unnest(kinds(f)) WITH ORDINALITY u (kind, i)),
		(SELECT string_agg(format('dp_cdp_internal.bound_bin(%s, state, %s) AS %s', substr(b, 2), f.spec, b), ', ' ORDER BY i) FROM unnest(bins(f)) WITH ORDINALITY u (b, i)),
		(SELECT string_agg(format('dp_cdp_internal.bound_share(%s, state, %s) AS %s', substr(s, 2), f.spec, s), ', ' ORDER BY i) FROM unnest(shares(f)) WITH ORDINALITY u (s, i)),
		(SELECT string_agg(format('dp_cdp_internal.bound_first(%s, state) AS %s', i - 1, replace(b, 'b', 'f')), ', ' ORDER BY i) FROM unnest(coalesce(bins(f), ARRAY['b0'])) WITH ORDINALITY u (b, i))) $$;
CREATE FUNCTION states(f form, unit text, source text) RETURNS text LANGUAGE sql AS $$
	SELECT format('dp_cdp_internal.bound_unit(%s, %s, %s) AS state FROM %s GROUP BY %s', f.spec, regexp_replace(unit, '.*, ', ''), concat_ws(', ', f.keys, f.vals), source, unit) $$;
-- with the unit beside each row, which keeps units apart
CREATE FUNCTION apart(f form, unit text, source text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT %s, %s FROM (SELECT %s, %s) units', string_agg(name, ', ' ORDER BY i), row_columns(f), string_agg(u || ' AS ' || name, ', ' ORDER BY i), states(f, unit, source))
	FROM regexp_split_to_table(unit, ', ') WITH ORDINALITY s (u, i), concat('unit', nullif(i, 1)) name $$;
CREATE FUNCTION kept(f form, unit text, source text) RETURNS text LANGUAGE sql AS $$ SELECT format('SELECT %s FROM (SELECT %s) units', row_columns(f), states(f, unit, source)) $$;
-- as the inner query of a release has it, with what is in the exact states: with norms by bins of these, or with their bins in limited_sum
CREATE FUNCTION norms(f form) RETURNS int[] LANGUAGE sql AS $$
	SELECT array_agg((SELECT n - 1 FROM regexp_matches(f.spec, '\m(\d+), \d+, ''\{([\d,]*)\}'', ''\{[\d,]*\}''\)', 'g') WITH ORDINALITY m (m, n)
		WHERE (i - 1)::text = ANY (m[1] || string_to_array(m[2], ','))) ORDER BY i) FROM unnest(kinds(f)) WITH ORDINALITY u (kind, i) $$;
CREATE FUNCTION added(f form, unit text, source text, by_bins boolean) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT %s FROM (%s) kept', concat_ws(', ', grouped,
		(SELECT string_agg(format(CASE WHEN kind = 'distinct' AND i - 1 = ANY (limited_sets(f)) THEN replace('dp_cdp_internal.vector_counts(dp_cdp_internal.codes_distinct_shares(v%1$s, s%1$s, SPEC, %1$s))', 'SPEC', f.spec)
			WHEN norm IS NOT NULL AND NOT by_bins THEN 'dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b%2$s, v%1$s, s%1$s, f%2$s))'
			WHEN kind IN ('codes', 'cut') THEN 'dp_cdp_internal.vector_counts(dp_cdp_internal.codes_histogram(v%s, 1000))' WHEN kind = 'distinct' THEN 'dp_cdp_internal.codes_distinct(v%s)'
			ELSE 'dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(v%s), dp_cdp_internal.make_grid(0, 1000, ''int''))' END, i - 1, norm), ', ' ORDER BY i)
			FROM unnest(kinds(f), norms(f)) WITH ORDINALITY u (kind, norm, i)),
		(SELECT string_agg(format('dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(%s), dp_cdp_internal.make_grid(0, 1000, ''int''))', s), ', ')
			FROM unnest(shares(f) || CASE WHEN bins(f) IS NOT NULL THEN ARRAY['f0'] END) s WHERE by_bins)), kept(f, unit, source)) || coalesce(' GROUP BY ' || grouped, '')
	FROM (SELECT nullif(concat_ws(', ', (SELECT string_agg('k' || i - 1, ', ' ORDER BY i) FROM unnest(f.types) WITH ORDINALITY u (t, i)), CASE WHEN by_bins THEN array_to_string(bins(f), ', ') END), '')) g (grouped) $$;
CREATE FUNCTION together(f form, unit text, source text) RETURNS text LANGUAGE sql AS $$ SELECT added(f, unit, source, bins(f) IS NULL OR limited_sets(f) IS NOT NULL) $$;

CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; result text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP result := result || line || E'\n'; END LOOP;
	RETURN result;
END $$;
-- all rows, in any order, in one hash
CREATE FUNCTION digest(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	EXECUTE format('SELECT concat_ws('' rows '', count(*), sum(hashtextextended(r::text, 0))) FROM (%s) r', statement) INTO result;
	RETURN result;
END $$;

-- the node's answer for each amount of memory beside nodeAgg's, which sorts
CREATE FUNCTION same(f form, unit text, source text, ways int[] DEFAULT '{1,2}', memory text[] DEFAULT :'memory') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statements text[] := ARRAY[together(f, unit, source), apart(f, unit, source), added(f, unit, source, true)];
	expected text;
	m text;
	i int;
BEGIN
	FOREACH i IN ARRAY ways LOOP
		PERFORM set_config('enable_hashagg', 'off', true), set_config('enable_sort', 'on', true), set_config('work_mem', '64MB', true);
		IF plan_of(statements[i]) ~ 'DpBounding' THEN
			RETURN NEXT fail(format('%s by %s of %s: nodeAgg groups where hashing is off', f.name, unit, source));
		END IF;
		expected := digest(statements[i]);
		PERFORM set_config('enable_hashagg', 'on', true);
		FOREACH m IN ARRAY memory LOOP
			PERFORM set_config('work_mem', m, true);
			IF plan_of(statements[i]) !~ 'Custom Scan \(DpBounding\)' THEN
				RETURN NEXT fail(format('%s by %s of %s, work_mem %s: the node is taken: %s', f.name, unit, source, m, plan_of(statements[i])));
			END IF;
			RETURN NEXT is(digest(statements[i]), expected,
						   format('%s by %s of %s, work_mem %s, %s', f.name, unit, source, m, (ARRAY['together', 'apart', 'by bins'])[i]));
		END LOOP;
	END LOOP;
END $$;

SELECT * FROM no_plan();

SELECT same(f, 'i4', 'visit', CASE WHEN :long OR name <> 'most values' THEN '{1,2}' ELSE '{1}' END::int[]) FROM form f;
-- who is in no bin adds the same by rows of his own and by one of several units, and is in no histogram
SELECT is(dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b, v, s, f)), '{-1,1,0,0,2,7,3,1}'::numeric[], 'units without bins, ' || rows)
	FROM (VALUES ('apart', -1, 1, 0, 1), ('apart', -1, 0, 0, 1), ('apart', 2, 7, 3, 1), ('together', -1, 1, 0, 2), ('together', 2, 7, 3, 1)) r (rows, b, v, s, f) GROUP BY rows;
SELECT is(dp_cdp_internal.limited_sum_parts(dp_cdp_internal.limited_sum(b, v, 0, f)), NULL::numeric[], 'whose values come to 0, ' || rows)
	FROM (VALUES ('apart', -1, 1, 1), ('apart', -1, -1, 1), ('together', -1, 0, 2)) r (rows, b, v, f) GROUP BY rows;
-- of several norms each has rows of its own
SELECT same(f, 'i4', 'visit', '{3}') FROM form f WHERE cardinality(bins(f)) = 1;
SELECT same(f, unit, 'visit') FROM form f, unnest('{i2,i8,d,ts,b}'::text[]) unit WHERE f.name = 'count' OR f.name = 'sums' AND unit <> 'b';
SELECT same(f, 'i4', source, memory => :'little') FROM form f, unnest(ARRAY['visit_dropped', 'empty', '(SELECT * FROM visit ORDER BY noise OFFSET 0) v',
	'visit WHERE x < 500', 'visit WHERE x < 500 AND i4 IS NOT NULL']) source WHERE f.name IN ('count', 'computed', 'long keys');
-- lists of keys in the condition: near each other, far apart, with NULL, of each type, more than one, beside other conditions
SELECT same(f, 'i4', 'visit WHERE ' || condition, '{1}', :'little') FROM form f, unnest(ARRAY['k IN (0, 1, 5, 11)', 'k IN (-3, 2, 100000)', 'k IN (3, 4, NULL)',
	'k = ANY (ARRAY[-70000, 7, 63, 64, 65]) AND x < 500', 'k IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AND x IN (0, 63, 64, 128, 999) AND (flag OR y > 3)',
	'k = ANY (''{}''::int[]) OR x = 7', 'k <> ALL (''{1,2,3}'') AND k <> 7', 'i2 IN (-1::smallint, 5::smallint, 6::smallint) OR i2 IS NULL', 'i2 = ANY (''{1,2,300}''::smallint[])',
	'i8 = ANY (''{10000000000,20000000000,-9223372036854775808,9223372036854775807}'')', 'i8 = ANY (''{10000000000}'')', 'd = ANY (''{2000-01-02,2000-03-01,1999-01-01}'')',
	'd = ANY (''{infinity,-infinity,2000-01-02}'')', 'k IN (1, 2) AND k IN (2, 3)', 'i2 IN (5, 6, 70000)',
	'b = ANY (''{t}'')', 'b = ANY (''{t,f}'')', 'side = ANY (''{left,middle}'')', 'number = ANY (''{1,3,4294967295}'')', 'number = ANY (''{4294967294,4294967295}'')',
	'letter = ANY (''{a,b,~}''::"char"[])', 'ts = ANY (ARRAY[''2000-01-01 00:00:07'', ''2000-01-01 00:00:07.00001'']::timestamptz[])', 'ts = ANY (''{infinity,2000-01-01 00:01:00}'')',
	'hour = ANY (''{00:00,00:00:00.000005,24:00}'')']) condition WHERE f.name IN ('count', 'sums');
-- units of types that have no words: by bytes, by operators, and of several columns, some of them NULL
SELECT same(f, unit, 'visit') FROM form f, unnest('{t,u,doc,"b, i2, t"}'::text[]) unit
	WHERE f.name = 'count' OR f.name IN ('sums', 'codes', 'codes and values') AND unit IN ('t', 'u');
-- a unit that is a constant, as in a subquery; from 16 on nothing is grouped by one alone
SELECT same(f, unit, '(SELECT NULL::int AS nobody, ''all''::text AS everybody, visit.* FROM visit) v')
	FROM form f, unnest(CASE WHEN current_setting('server_version_num')::int < 160000 THEN '{nobody,everybody}'::text[] END || '{"everybody, i4"}'::text[]) unit
	WHERE f.name = 'sums';
-- which of the forms of equal values stands for the unit is not told
SELECT same(f, unit, 'visit', '{1}') FROM form f, unnest('{label,ci,f,nu,span,"label, i4"}'::text[]) unit
	WHERE f.name = 'count' OR f.name IN ('sums', 'codes') AND unit = 'nu';
-- in processes together
SET max_parallel_workers_per_gather = 2;
SELECT same(f, unit, 'visit', '{1}') FROM form f, unnest('{i4,t,nu,"b, i2, t"}'::text[]) unit
	WHERE f.name = 'sums' OR f.name IN ('count', 'codes', 'long keys', 'norms', 'norm of an average') AND (:long OR unit = 'i4');
SELECT matches(plan_of(together(f, 'i4', 'visit')), 'Gather.*Parallel Custom Scan \(DpBounding\)', 'workers gather together') FROM form f WHERE name = 'count';
SET max_parallel_workers_per_gather = 0;
-- plans below the node
SET enable_seqscan = off;
SELECT same(f, 'i4', 'visit WHERE i4 BETWEEN 100 AND 2000') FROM form f WHERE f.name IN ('count', 'sums', 'long keys');
SET enable_indexscan = off;
-- with expressions that are compiled
SET jit = on;
SELECT same(f, 'i4', 'visit WHERE i4 BETWEEN 100 AND 2000') FROM form f WHERE f.name = 'sums';
SET jit = off;
RESET enable_indexscan;
RESET enable_seqscan;
SELECT same(f, 'v.i4', 'visit v JOIN person USING (i4) WHERE area < 2') FROM form f WHERE f.name IN ('count', 'sums');
SELECT same(f, 'i4', 'visit_by_range') FROM form f WHERE f.name IN ('count', 'sums', 'codes', 'codes and values');
SET enable_partitionwise_aggregate = on;
SELECT same(f, 'i4', 'visit_by_range') FROM form f WHERE f.name IN ('count', 'sums', 'codes', 'codes and values');
SELECT matches(plan_of(together(f, 'i4', 'visit_by_range')), '(Custom Scan \(DpBounding\).*){3}', 'each partition is bounded by itself')
	FROM form f WHERE name = 'count';
-- PostgreSQL has each partition grouped by one of several processes
SET max_parallel_workers_per_gather = 2;
SELECT same(f, 'i4', 'visit_by_range', ARRAY[way]) FROM form f, generate_series(1, 2) way WHERE f.name = 'sums' OR f.name = 'codes' AND way = 1;
SET max_parallel_workers_per_gather = 0;
RESET enable_partitionwise_aggregate;
-- within a worker; DEBUG: debug_parallel_query from 16 on
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT same(f, 'i4', 'visit') FROM form f WHERE f.name IN ('count', 'sums');
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- arithmetic of numeric: numbers of few digits, of many, and none
CREATE TABLE amount AS
	SELECT h % 700 AS i4, h % 3 AS k, h % 4 > 0 AS flag, v[1 + h % n] AS a, v[1 + h / n % n] AS b, v[1 + (hashint4(h) & 65535) % n] AS c,
		(h % 999 - 500)::smallint AS i2, h * 30011 - 1000000000 AS i4x, h * 140737488355327 AS i8
	FROM generate_series(1, :rows / 2) g, LATERAL (SELECT hashint4(g) & 65535 AS h) s,
		LATERAL (SELECT ARRAY[0, 1, -1, 0.01, -0.05, 105000.00, 99999999.9999, 9999999999999999, 0.0001, 0.00000001, -0.0000000000000001, 0.00000000000000001, 12345678.00000001, 10000, 100000000,
			1234567890123456.7890, 4503599627370496.5, 9007199254740993, -9223372036854775808, 9223372036854775807, 1e20, -1e40, 1e300, 1e-300, 0.5, 1.5, 2.5, -2.5, 0.00048828125, 1000.00048828125,
			123.450000, 0.0, 49, 999.999, 1e15, 1e16 - 1, ('1.' || repeat('0', 70))::numeric, ('3.25' || repeat('0', 300))::numeric, 1 / 3.0, 'NaN', 'Infinity', '-Infinity', NULL] AS v) w,
		LATERAL (SELECT array_length(v, 1) AS n) z;
CREATE TABLE short_amount AS SELECT a.* FROM amount a, generate_series(1, 8) WHERE abs(a) < 1e5 AND abs(b) < 1e5 AND abs(c) < 1e5 AND scale(a) <= 4 AND scale(b) <= 4 AND scale(c) <= 4;
ANALYZE amount, short_amount;
CREATE TABLE arithmetic (vals text);
INSERT INTO arithmetic VALUES ('a'), ('a + b'), ('a - b'), ('a * b'), ('-a'), ('a * (1 - b)'), ('a * (1 - b) * (1 + c)'), ('(a + b) * (a - b) - c * c'), ('a + i2'), ('c * i4x'), ('i8 - b'), ('a * 0.1 * 0.01 * 0.001'),
	('a + 1e30'), ('a / 7'), ('dp_cdp_internal.try_add(a, dp_cdp_internal.try_multiply(b, c))'), ('dp_cdp_internal.try_subtract(a, b)'), ('dp_cdp_internal.try_divide(a, b) + c'), ('CASE WHEN flag THEN a * b END'), ('round(a, 2) + b'), ('CASE WHEN abs(a) < 1e30 THEN a::numeric(40, 2) END + b');
INSERT INTO form SELECT 'arithmetic ' || vals, 'k', '{int}', format('%1$s, %1$s, NULLIF(%1$s, ''NaN'') IS NOT NULL, (%1$s) IS NOT NULL, dp_cdp_internal.centered(%1$s, %2$s), dp_cdp_internal.bin(%1$s, %2$s)', vals, $$dp_cdp_internal.make_range(-1000, 150000, 1000, 0)$$),
	$$dp_cdp_internal.make_bound_spec(1, 3, '{31,32}', '{sum,sum,count,rows,scaled,codes}', ARRAY[dp_cdp_internal.make_grid(-200000, 1e6, 'numeric'), dp_cdp_internal.make_grid(-1e-6, 1e-7, 'numeric'), dp_cdp_internal.make_grid(0, 400, 'int'),
		dp_cdp_internal.make_grid(0, 400, 'bigint'), dp_cdp_internal.make_scaled_grid(400), dp_cdp_internal.make_grid(0, 9, 'int')], '{0,0,0,0,3,0}')$$ FROM arithmetic;
SELECT same(f, 'i4', 'amount', CASE WHEN :long THEN '{1,2}' ELSE '{2}' END::int[], :'little') FROM form f WHERE name LIKE 'arithmetic %';
-- where every number has few digits, and one by one
SELECT same(f, 'i4', 'short_amount', '{1}', :'little') FROM form f WHERE name LIKE 'arithmetic %';
SELECT same(f, 'u', '(SELECT *, row_number() OVER () AS u FROM amount) s', '{1}') FROM form f WHERE name IN ('arithmetic a * (1 - b) * (1 + c)', 'arithmetic (a + b) * (a - b) - c * c', 'arithmetic a');
SELECT same(f, 'i4', 'amount', '{1}') FROM (SELECT name, keys, types, 'a + b, a * (1 - b), a * (1 - b) * (1 + c), a * b, dp_cdp_internal.centered(a * b, dp_cdp_internal.make_range(0, 1e6, 8, 0)), a IS NOT NULL, b IS NOT NULL', 
	$$dp_cdp_internal.make_bound_spec(1, 3, '{33,34}', '{sum,sum,sum,sum,scaled,rows,count}', ARRAY[dp_cdp_internal.make_grid(-1e5, 1e6, 'numeric'), dp_cdp_internal.make_grid(-1, 1e12, 'numeric'), dp_cdp_internal.make_grid(-1e5, 1e6, 'numeric'),
		dp_cdp_internal.make_grid(-1e5, 1e20, 'numeric'), dp_cdp_internal.make_scaled_grid(400), dp_cdp_internal.make_grid(0, 400, 'bigint'), dp_cdp_internal.make_grid(0, 400, 'int')], '{0,0,0,0,5,0,0}')$$ FROM form WHERE name = 'count') AS q, LATERAL (SELECT q::form AS f) s;

-- what is nodeAgg's
SELECT unalike(plan_of(statement), '%DpBounding%', description) FROM (SELECT form.*::form AS f FROM form WHERE name = 'count') s,
	LATERAL (SELECT apart(f, 'i4', 'visit') AS a, (f).spec) a,
	LATERAL (VALUES (replace(a, 'GROUP BY i4', 'GROUP BY i4 HAVING count(*) > 1'), 'HAVING'),
		(replace(a, ', true)', ', k > (SELECT count(*) FROM empty e WHERE e.k = visit.k))'), 'a subplan in an argument'),
		(replace(replace(a, 'SELECT unit', 'SELECT largest, unit'), 'SELECT i4', 'SELECT max(x) AS largest, i4'), 'another aggregate'),
		(replace(a, ', i4, ', ', i8, '), 'a unit by which rows are not grouped'),
		(replace(a, 'true)', 'true ORDER BY x)'), 'an order of arguments'),
		(replace(a, 'true)', 'true) FILTER (WHERE flag)'), 'a filter'),
		(replace(a, ' AS v0', ' + 1 AS v0'), 'something computed of a row'),
		(replace(a, ' AS v0', ' AS v0, generate_series(1, 2)'), 'another set'),
		(replace(replace(a, '(0, state, dp_cdp', '(0, other, dp_cdp'), ' FROM visit', format(', dp_cdp_internal.bound_unit(%s, i4, k, flag) AS other FROM visit', spec)), 'two calls of bound_unit'),
		(replace(a, '(0, state, ' || spec, '(0, state, ' || replace(spec, '11,', '10,')), 'two specs'),
		(a || ' WHERE state IS NOT NULL', 'a condition of states'), (a || ' JOIN person ON i4 = unit', 'a join above'),
		(replace(a, ' FROM (', ', state IS NULL FROM ('), 'a state itself'),
		(replace(a, ' FROM (', ', (SELECT max(area) FROM person p WHERE p.i4 = unit) FROM ('), 'a subquery beside rows'),
		(a || ' ORDER BY unit', 'an order'), (a || ' LIMIT 1', 'LIMIT'), (replace(a, 'i4) units', 'i4 LIMIT 1) units'), 'LIMIT of units'),
		('SELECT DISTINCT' || substr(a, 7), 'DISTINCT'),
		(replace(a, 'GROUP BY i4', 'GROUP BY ROLLUP (i4)'), 'sets of units'),
		(format('SELECT i4, %s FROM visit GROUP BY i4', replace(row_columns(f), 'state', format('dp_cdp_internal.bound_unit(%s, i4, k, true)', spec))), 'one level'),
		(replace(a, 'AS state', 'AS state, generate_series(1, 2)'), 'a set below')) v (statement, description);
SELECT matches(plan_of(apart(f, 'i4', 'visit') || ' WHERE unit < 100'), 'DpBounding.*i4 < 100', 'a condition of units goes below') FROM form f WHERE name = 'count';
SELECT throws_ok('SELECT dp_cdp_internal.bound_unit(NULL, i4, k, true) FROM visit GROUP BY i4', '0A000', NULL, 'no spec');
PREPARE no_spec (dp_cdp_internal.bound_spec) AS SELECT dp_cdp_internal.bound_key(0, state, NULL::int) FROM (SELECT dp_cdp_internal.bound_unit($1, i4, k, true) AS state FROM visit GROUP BY i4) units;
SET plan_cache_mode = force_generic_plan;
SELECT matches(plan_of('EXECUTE no_spec (NULL)'), 'DpBounding', 'a spec that is a parameter');
SELECT throws_ok('EXECUTE no_spec (NULL)', '0A000', NULL, 'no spec, at execution');
PREPARE not_the_unit (dp_cdp_internal.bound_spec) AS SELECT dp_cdp_internal.bound_key(0, state, NULL::int) FROM (SELECT dp_cdp_internal.bound_unit($1, i8, k, true) AS state FROM visit GROUP BY i4) units;
SELECT throws_ok(format('EXECUTE not_the_unit (%s)', spec), 'XX000', 'the unit of bound_unit is not what rows are grouped by',
	'a unit by which rows are not grouped, and a generic plan') FROM form WHERE name = 'count';
RESET plan_cache_mode;
-- columns that states do not have: the same errors
SELECT throws_ok(format('SELECT * FROM (SELECT %s FROM (SELECT %s) units) q', replace(c, 'SPEC', spec), states(f, 'i4', 'visit')), 'XX000', message, message)
	FROM (SELECT form.*::form AS f, spec FROM form WHERE name = 'codes and values') s (f, spec),
	LATERAL (VALUES ('dp_cdp_internal.bound_key(2, state, NULL::text)', 'bound_state has no key 2'), ('dp_cdp_internal.bound_key(-1, state, NULL::text)', 'bound_state has no key -1'),
		('dp_cdp_internal.bound_key(0, state, NULL::int)', 'key 0 of bound_state is of type text'), ('dp_cdp_internal.bound_key(1, state, NULL::text)', 'key 1 of bound_state is of type numeric'),
		('dp_cdp_internal.bound_value(4, state, SPEC)', 'bound_state has no value 4'), ('dp_cdp_internal.bound_value(-1, state, SPEC)', 'bound_state has no value -1'),
		('dp_cdp_internal.bound_value(0, state, SPEC)', 'bound_state has no value 0'), ('dp_cdp_internal.bound_value(2, state, SPEC)', 'bound_state has no value 2'),
		('dp_cdp_internal.bound_codes(1, state, SPEC)', 'bound_state has no codes 1'), ('dp_cdp_internal.bound_codes(2, state, SPEC)', 'bound_state has no codes 2'),
		('dp_cdp_internal.bound_cut(0, state, SPEC)', 'bound_state has no total 0'), ('dp_cdp_internal.bound_cut(1, state, SPEC)', 'bound_state has no total 1'),
		('dp_cdp_internal.bound_distinct_codes(0, state, SPEC)', 'bound_state has no distinct codes 0'), 
		('dp_cdp_internal.bound_share(4, state, SPEC)', 'bound_state has no value 4'), ('dp_cdp_internal.bound_bin(0, state, SPEC)', 'bound_spec has no norm 0'),
		('dp_cdp_internal.bound_first(-1, state)', 'bound_state has no norm -1'), ('dp_cdp_internal.bound_bin(-1, state, SPEC)', 'bound_state has no norm -1'), ('dp_cdp_internal.bound_bin(1000, state, SPEC)', 'bound_state has no norm 1000')) c (c, message);

-- Rows leave added up, and only where what reads them cannot tell.
CREATE FUNCTION node_rows(statement text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE line text; result bigint[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || statement LOOP
		result := result || (regexp_match(line, 'DpBounding.*rows=(\d+)'))[1]::bigint;
	END LOOP;
	RETURN array_remove(result, NULL);
END $$;
SELECT cmp_ok((node_rows(together(f, 'i4', 'visit')))[1], '<', 500::bigint, name || ' leave added up') FROM form f WHERE name IN ('count', 'no keys', 'sums', 'text keys', 'long keys', 'many values', 'norm', 'norms', 'norm of an average', 'norm without limits', 'fewer groups');
SELECT cmp_ok((node_rows(together(f, 'i4', 'visit')))[1], '>', :units::bigint, name || ' leave as they are') FROM form f WHERE name IN ('codes', 'many groups', 'norm and codes', 'norm of a set');
-- the table of groups grows where these have more rows than fit into a small one, as far as memory goes
CREATE TABLE crowd AS SELECT v.*, c FROM visit v, generate_series(1, 6) c;
UPDATE crowd SET i4 = (x * 7 + c * 11) % 3000, k = (x * 6 + c * 1009 + i4) % 5000, word = 'w' || (x * 6 + c) % 5000;
ANALYZE crowd;
SET work_mem = '64MB';
SELECT cmp_ok((node_rows(together(f, 'i4', 'crowd')))[1], '<', (SELECT count(*) / 3 FROM crowd), name || ' of many groups leave added up') FROM form f WHERE name IN ('norm', 'fewer groups', 'norm of an average');
SELECT same(f, 'i4', 'crowd', memory => '{1MB,8MB,64MB}') FROM form f WHERE name IN ('norm', 'norms', 'norm of an average', 'text keys', 'fewer groups');
RESET work_mem;
-- and are estimated so
CREATE FUNCTION estimated_rows(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || statement LOOP
		IF line ~ 'DpBounding' THEN RETURN (regexp_match(line, 'rows=(\d+)'))[1]; END IF;
	END LOOP;
END $$;
SELECT cmp_ok(estimated_rows(together(f, 'i4', 'visit')), '<', 500::bigint, name || ' are estimated to leave added up') FROM form f WHERE name IN ('count', 'no keys', 'sums', 'text keys', 'long keys', 'many values');
SELECT cmp_ok(estimated_rows(together(f, 'i4', 'visit')), '>', :units::bigint / 2, name || ' are estimated to leave as they are') FROM form f WHERE name IN ('codes', 'many groups', 'computed');
SET work_mem = '64kB';
SELECT cmp_ok(estimated_rows(together(f, 'i4', 'visit')), '>', :units::bigint, 'so are those that there is no room to add up') FROM form f WHERE name = 'count';
SELECT cmp_ok((node_rows(together(f, 'i4', 'visit')))[1], '>', :units::bigint, 'which leave as they are') FROM form f WHERE name = 'count';
RESET work_mem;
CREATE TABLE telling AS SELECT description, format(statement, u) AS statement, adds FROM form f, format('(%s) u', kept(f, 'i4', 'visit')) u,
	LATERAL (VALUES (true, 'sums', 'SELECT sum_of(v0), k0 FROM %s GROUP BY k0'), (true, 'a function of keys', 'SELECT k0 / 2, sum_of(v0), sum_of(v1) FROM %s GROUP BY k0 / 2'),
		(true, 'no key', 'SELECT sum_of(v2) FROM %s'), (true, 'an order above', 'SELECT k1, k0, sum_of(v0) FROM %s GROUP BY k1, k0 ORDER BY k1, 2, sum_of(v0) LIMIT 7'),
		(false, 'how many rows', 'SELECT k0, count(*), sum_of(v0) FROM %s GROUP BY k0'), (false, 'the largest', 'SELECT max(v0), sum_of(v0) FROM %s'),
		(false, 'some rows', 'SELECT dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum(v0) FILTER (WHERE k0 > 3), dp_cdp_internal.make_grid(0, 1000, ''int'')) FROM %s'), (false, 'some values', 'SELECT sum_of(v0) FROM %s WHERE v0 > 3'),
		(false, 'different values', 'SELECT sum_of(DISTINCT v0) FROM %s'), (false, 'a sum of keys', 'SELECT sum_of(k0) FROM %s'),
		(false, 'a computed value', 'SELECT sum_of(v0 + 1) FROM %s'), (false, 'a value beside', 'SELECT k0, v0, sum_of(v1) FROM %s GROUP BY k0, v0'),
		(false, 'groups of one value', 'SELECT v0, sum_of(v1) FROM %s GROUP BY v0'), (false, 'HAVING', 'SELECT k0, sum_of(v0) FROM %s GROUP BY k0 HAVING count(*) > 300'),
		(false, 'sets of groups', 'SELECT k0, k1, sum_of(v0), grouping(k0) FROM %s GROUP BY GROUPING SETS ((k0), (k1))'),
		(false, 'a join', 'SELECT k0, sum_of(v0), sum_of(1) FROM %s JOIN generate_series(1, 3) k0 USING (k0) GROUP BY k0'),
		(false, 'a union', 'SELECT k0, sum_of(v0) FROM (SELECT k0, v0 FROM %1$s UNION ALL SELECT k0, v1 FROM %1$s) s GROUP BY k0'),
		(false, 'a subquery beside', 'SELECT i, (SELECT sum(v0) FROM %s) FROM generate_series(1, 2) i'),
		(false, 'rows', 'SELECT * FROM %s')) v (adds, description, statement) WHERE name = 'sums';
UPDATE telling SET statement = regexp_replace(statement, 'sum_of(\([^()]*\))', 'dp_cdp_internal.exact_sum_value(dp_cdp_internal.steps_sum\1, dp_cdp_internal.make_grid(0, 1000, ''int''))', 'g');
SELECT cmp_ok((node_rows(statement))[1], CASE WHEN adds THEN '<' ELSE '>=' END, 500::bigint, description || CASE WHEN adds THEN ' of rows that are added up' ELSE ' of rows as they are' END) FROM telling;
SET dp_cdp.bounding_node = off;
CREATE TABLE told AS SELECT description, digest(statement) FROM telling;
RESET dp_cdp.bounding_node;
SELECT is(digest(statement), t.digest, t.description || ': the same') FROM telling JOIN told t USING (description);

-- run again, with other rows and with the same, ended early, and given up by an error: the same
-- answers, and no files are left
CREATE FUNCTION runs(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text := ''; r record;
BEGIN
	FOR r IN EXECUTE statement LOOP result := result || r::text; END LOOP;
	RETURN result;
END $$;
CREATE FUNCTION files() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_ls_tmpdir() $$;
CREATE TABLE again AS SELECT format('SELECT i, n, s FROM generate_series(1, 4) i, LATERAL (SELECT count(*) AS n, md5(string_agg(q::text, '','' ORDER BY unit, k0)) AS s FROM (%s) q) l',
	replace(apart(f, 'i4', 'visit WHERE x % 2 = i % 2'), ', true)', ', i > 2 OR flag)')) AS statement FROM form f WHERE name = 'count';
CREATE TABLE nested AS SELECT format('SELECT count(*), sum(l.i * v0) FROM (VALUES (1), (2), (3)) l (i) LEFT JOIN (%s) q ON q.unit > l.i * 100',
	apart(f, 'i4', 'visit')) AS statement FROM form f WHERE name = 'count';
SET work_mem = '64kB';
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CREATE TABLE reruns AS SELECT statement, runs(statement) AS answer, plan_of(statement) AS plan FROM (TABLE again UNION ALL TABLE nested) s;
SELECT matches(plan, 'Nested Loop.*DpBounding', 'the node is run again') FROM reruns;
SET dp_cdp.bounding_node = off;
SELECT unalike(plan_of(statement), '%DpBounding%', 'the node can be turned off') FROM reruns;
SELECT is(answer, runs(statement), 'and returns the same as nodeAgg') FROM reruns;
RESET dp_cdp.bounding_node;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT is(files(), 0::bigint, 'no files are left');
SELECT format('DECLARE c CURSOR FOR %s', apart(f, 'i4', 'visit')) AS cursor, apart(f, 'i4', 'visit') AS statement FROM form f WHERE name = 'sums' \gset
SET cursor_tuple_fraction = 1;
BEGIN;
:cursor;
FETCH 2 FROM c \g /dev/null
SELECT cmp_ok(files(), '>', 0::bigint, 'files of a cursor');
CLOSE c;
SELECT is(files(), 0::bigint, 'that is closed');
COMMIT;
SELECT throws_ok(replace(:'statement', 'x, y', 'x / nullif(least(x, 999), 999), 1 / (x - 998)::float8'), '22012', NULL, 'an error while rows are gathered');
SELECT is(files(), 0::bigint, 'leaves no files');
SELECT is(count(*), 5::bigint, 'LIMIT') FROM (SELECT runs('SELECT * FROM (' || :'statement' || ') s LIMIT 5') AS r) s, regexp_matches(r, '\(\d*,', 'g');
SELECT is(files(), 0::bigint, 'and no files are left');

-- A snapshot that is older than NOT NULL sees NULLs: a function reads with that of the cursor.
CREATE TABLE once_null AS SELECT unit AS i4, 'unit ' || unit AS t, nullif(g % 7, 0) AS k, nullif(substr('abcdefg', 1 + g % 5, 2), 'ab') AS word, g AS x, g % 3 > 0 AS flag
	FROM generate_series(1, :rows) g, LATERAL (SELECT (hashint4(g) & 65535) % (:rows / 4) AS unit) s;
ALTER TABLE once_null ALTER i4 SET NOT NULL, ALTER t SET NOT NULL;
ANALYZE once_null;
CREATE FUNCTION before_not_null(node text, workers text, statement text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE result text;
BEGIN
	PERFORM set_config('dp_cdp.bounding_node', node, true), set_config('max_parallel_workers_per_gather', workers, true), set_config('work_mem', '64kB', true), set_config('enable_sort', node, true);
	EXECUTE format('SELECT concat_ws('' rows '', count(*), sum(hashtextextended(r::text, 0))) FROM (%s) r', statement) INTO result;
	RETURN concat_ws(' ', substring(plan_of(statement), 'Parallel Custom Scan'), substring(plan_of(statement), 'DpBounding'), result);
END $$;
CREATE TABLE sees AS SELECT unit || ' by ' || n.keys AS description, together((f.name, n.keys, n.types, 'true', replace(f.spec, '(1,', '(' || array_length(n.types, 1) || ','))::form, unit, 'once_null') AS statement
	FROM form f, unnest('{i4,t}'::text[]) unit, (VALUES ('k', '{int}'::text[]), ('k, word', '{int,text}')) n (keys, types) WHERE f.name = 'count';
BEGIN;
DECLARE before CURSOR FOR SELECT description, before_not_null('off', '0', statement) AS expected, before_not_null('on', '0', statement) AS alone, before_not_null('on', '2', statement) AS together FROM sees;
UPDATE once_null SET k = 3 WHERE k IS NULL;
UPDATE once_null SET word = 'zz' WHERE word IS NULL;
ALTER TABLE once_null ALTER k SET NOT NULL, ALTER word SET NOT NULL;
CREATE TEMP TABLE seen (description text, expected text, alone text, together text);
DO $$
DECLARE c refcursor := 'before'; r record;
BEGIN
	LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; INSERT INTO seen VALUES (r.description, r.expected, r.alone, r.together); END LOOP;
END $$;
COMMIT;
SELECT is(alone, 'DpBounding ' || expected, description || ': NULLs of columns that are NOT NULL by now') FROM seen;
SELECT is(together, 'Parallel Custom Scan DpBounding ' || expected, description || ': and in processes together') FROM seen;
SELECT isnt(digest(statement), expected, description || ': which later snapshots do not have') FROM seen JOIN sees USING (description);

-- memory is limited, whatever units are and whatever they have; twice hash_mem_multiplier where states have grown
CREATE FUNCTION memory_of(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE line text; result int;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || statement LOOP
		result := coalesce((regexp_match(line, 'Memory Usage: (\d+)kB  Disk'))[1]::int, result);
	END LOOP;
	RETURN result;
END $$;
CREATE TABLE long_unit AS SELECT repeat(md5((g % 200)::text), CASE WHEN :long THEN 4000 ELSE 1000 END) AS u, g % 5 AS k FROM generate_series(1, 400) g;
CREATE TABLE busy AS SELECT nullif(g % 200, 0) AS u, g / 200 AS k, g AS x FROM generate_series(0, 59999) g;
ANALYZE long_unit, busy;
CREATE TABLE sized AS SELECT * FROM (VALUES ('long units', 2000, apart((SELECT f FROM form f WHERE name = 'count'), 'u', 'long_unit')),
	('units with many groups, one of them nobody''s', 6000, (SELECT apart(('', 'k', '{int}', string_agg('x + ' || i, ', '),
		format('dp_cdp_internal.make_bound_spec(1, 300, ''{31,32}'', ''{%s}'', ARRAY[%s])', string_agg('sum', ','), string_agg('dp_cdp_internal.make_grid(0, 90000, ''int'')', ', ')))::form, 'u', 'busy')
		FROM generate_series(1, 40) i))) s (name, kb, statement);
SET enable_sort = off;
SELECT cmp_ok(memory_of(statement), '<', kb, name || ': kB') FROM sized;
CREATE TABLE sized_answers AS SELECT name, digest(statement) AS answer FROM sized;
SET dp_cdp.bounding_node = off;
SELECT is(answer, digest(statement), name) FROM sized JOIN sized_answers USING (name);
RESET dp_cdp.bounding_node;
RESET enable_sort;

-- thousands of runs in one statement take no more memory than a few, compiled expressions neither
CREATE TABLE few AS SELECT * FROM visit WHERE i4 < 10;
ANALYZE few;
SET enable_sort = off;
SELECT format('SELECT count(*) FROM generate_series(1, 10000) i, LATERAL (%s) q', apart(f, 'i4', 'few WHERE x % 2 = i % 2')) AS often FROM form f WHERE name = 'computed' \gset
CREATE FUNCTION peak() RETURNS int LANGUAGE sql AS $$
	SELECT (regexp_match(pg_read_file('/proc/' || pg_backend_pid() || '/status'), 'VmHWM:\s*(\d+)'))[1]::int $$;
SET jit_above_cost = 0;
CREATE TABLE grown (jit text, before int, after int);
SET jit = off;
SELECT runs(replace(:'often', '10000', '10')) \g /dev/null
INSERT INTO grown SELECT 'off', peak(), 0;
SELECT runs(:'often') \g /dev/null
UPDATE grown SET after = peak() WHERE jit = 'off';
SET jit = on;
SELECT runs(replace(:'often', '10000', '10')) \g /dev/null
INSERT INTO grown SELECT 'on', peak(), 0;
SELECT runs(:'often') \g /dev/null
UPDATE grown SET after = peak() WHERE jit = 'on';
RESET jit;
RESET jit_above_cost;
SELECT matches(plan_of(:'often'), 'Nested Loop.*DpBounding', 'ten thousand runs');
RESET enable_sort;
SELECT cmp_ok(after - before, '<', 8192, format('jit %s: kB more than at first', jit)) FROM grown;
RESET work_mem;

SELECT * FROM finish();
