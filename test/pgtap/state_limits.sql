-- Of more groups than the largest state holds a unit keeps those of smallest
-- rank: as many as fit whatever their keys are (64 MB by 1 kB for the keys and 24
-- bytes), the same ones in any order of rows, and with all of their rows.

SET client_min_messages = error;
CREATE TABLE crowd AS SELECT 1 AS unit, md5(i::text) || repeat('x', 900) AS k FROM generate_series(1, 66000) i;
CREATE FUNCTION crowd_digest(source text) RETURNS TABLE (groups bigint, rows bigint, digest text) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'SELECT count(*), sum(n)::bigint, md5(string_agg(left(k, 32), '','' ORDER BY k)) FROM (
		SELECT k COLLATE "C" AS k, n
		  FROM (SELECT dp_cdp_internal.bound_key(0, state, NULL::text) AS k, dp_cdp_internal.bound_value(0, state, $1) AS n
				  FROM (SELECT dp_cdp_internal.bound_unit($1, unit, k, true) AS state FROM ' || source || ' GROUP BY unit) u) s) l'
		USING dp_cdp_internal.make_bound_spec(1, 1000000, '{5,6}', '{count}', ARRAY[dp_cdp_internal.make_grid(0, 100, 'int')]);
END $$;

SELECT plan(3);
CREATE TABLE stored AS SELECT * FROM crowd_digest('crowd');
CREATE TABLE shuffled AS SELECT * FROM crowd_digest('(SELECT * FROM crowd ORDER BY md5(k) OFFSET 0) c');
SELECT is(groups, 67108864::bigint / (1024 + 24), 'as many as fit') FROM stored;
SELECT is(rows, groups, 'with all of their rows') FROM stored;
SELECT is(a::text, b::text, 'in any order of rows') FROM stored a, shuffled b;
SELECT * FROM finish();
