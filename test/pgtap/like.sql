-- The matcher of LIKE and its relatives on raw rows: the same answers as
-- PostgreSQL's, in constant stack, and known to the planner as LIKE is.
-- "make test" tries a tenth of the random strings of "make test-all".

\ir size.psql
SELECT CASE WHEN :long THEN 20000 ELSE 2000 END AS samples \gset
SET client_min_messages = error;
-- Random strings and patterns over a small alphabet, so that much matches, each
-- with each operator; how many calls, how many matches, how many differences.
CREATE FUNCTION compare(alphabet text, wildcards text, collate_as text, samples int, OUT calls bigint, OUT matches bigint, OUT differences bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('
		WITH letter AS (SELECT %1$L::text AS plain, %1$L || %2$L AS any),
		strings AS MATERIALIZED (
			SELECT (SELECT coalesce(string_agg(substr(plain, 1 + floor(random() * length(plain))::int + 0 * g, 1), ''''), '''')
					FROM generate_series(1, floor(random() * 9)::int + 0 * i) g) AS s,
				(SELECT coalesce(string_agg(substr("any", 1 + floor(random() * length("any"))::int + 0 * g, 1), ''''), '''')
					FROM generate_series(1, floor(random() * 9)::int + 0 * i) g) AS p
			FROM letter, generate_series(1, %4$s) i),
		-- the built-ins refuse a pattern that ends with the escape character, when they get so far
		good AS (SELECT s, p || CASE WHEN p ~ ''(^|[^\\])(\\\\)*\\$'' THEN ''\'' ELSE '''' END AS p FROM strings),
		tried AS (
			SELECT s COLLATE %3$I LIKE p AS yes, dp_cdp_internal.try_like(s COLLATE %3$I, p) AS own FROM good UNION ALL
			SELECT s COLLATE %3$I NOT LIKE p, dp_cdp_internal.try_not_like(s COLLATE %3$I, p) FROM good UNION ALL
			SELECT s COLLATE %3$I ILIKE p, dp_cdp_internal.try_ilike(s COLLATE %3$I, p) FROM good UNION ALL
			SELECT s COLLATE %3$I NOT ILIKE p, dp_cdp_internal.try_not_ilike(s COLLATE %3$I, p) FROM good UNION ALL
			SELECT s::bpchar COLLATE %3$I LIKE p, dp_cdp_internal.try_like(s::bpchar COLLATE %3$I, p) FROM good UNION ALL
			SELECT s::bpchar COLLATE %3$I NOT ILIKE p, dp_cdp_internal.try_not_ilike(s::bpchar COLLATE %3$I, p) FROM good UNION ALL
			SELECT s::name COLLATE %3$I NOT LIKE p, dp_cdp_internal.try_not_like(s::name COLLATE %3$I, p) FROM good UNION ALL
			SELECT s::name COLLATE %3$I ILIKE p, dp_cdp_internal.try_ilike(s::name COLLATE %3$I, p) FROM good)
		SELECT count(*), count(*) FILTER (WHERE yes), count(*) FILTER (WHERE own IS DISTINCT FROM yes) FROM tried',
		alphabet, wildcards, collate_as, samples) INTO calls, matches, differences;
END $$;

-- encodings in which characters are told apart in other ways
SELECT current_database() AS database \gset
\o /dev/null
SELECT pg_get_functiondef('compare'::regproc) AS definition \gset
\o
CREATE DATABASE like_latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE like_euc ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
\connect like_latin
SET client_encoding = 'UTF8';
CREATE EXTENSION dp_cdp;
:definition;
SELECT setseed(0.5) \g /dev/null
-- ILIKE of 19rc1 finds no letter beyond ASCII after %, in encodings of one byte
SELECT *
	FROM compare(CASE WHEN current_setting('server_version_num')::int < 190000 THEN 'aAäÄ' ELSE 'aAbB' END, '%%_\', 'default', :samples) \gset latin_
\connect like_euc
SET client_encoding = 'UTF8';
CREATE EXTENSION dp_cdp;
:definition;
SELECT setseed(0.6) \g /dev/null
-- あ is A4 A2, い A4 A4, ぢ A4 C2, 造 C2 A4: two characters' bytes make up a third
SELECT * FROM compare('aあい造ぢ', '%%_\', 'default', :samples) \gset euc_
\connect :database
SET client_min_messages = error;
DROP DATABASE like_latin;
DROP DATABASE like_euc;
SELECT no_plan();
SELECT is(:latin_differences, 0, 'LATIN1');
SELECT cmp_ok(:latin_matches, '>', :latin_calls / 16, '... of which much matches');
SELECT is(:euc_differences, 0, 'EUC_JP');
SELECT cmp_ok(:euc_matches, '>', :euc_calls / 16, '... of which much matches');

SELECT setseed(0.4);
SELECT unnest(ARRAY[
		is(differences, 0::bigint, format('%s with %s as %s', alphabet, wildcards, name)),
		ok(matches > calls / 10 AND matches < calls * 9 / 10 AND calls = :samples * 8, format('%s of %s match', matches, calls))])
	FROM (VALUES ('ab', '%_'), ('ab', '%%%%_'), ('aAbB', '%%_\'), ('ab\', '%_\%_\'), ('a%_', '\%_'), ('aäÄ€𝄞', '%_%_\'), ('éèÉ', '%_'), ('iIİıςΣ', '%_'))
			AS v (alphabet, wildcards),
		unnest(ARRAY['C', 'default', 'C.utf8', 'en-x-icu', 'tr-x-icu']::name[]) AS name,
		compare(alphabet, wildcards, name, :samples)
	WHERE EXISTS (SELECT FROM pg_collation WHERE collname = name);

-- beyond what is sampled
SELECT is(dp_cdp_internal.try_like(s, p), s LIKE p, format('%s LIKE %s', s, p))
	FROM (VALUES ('', ''), ('', '%'), ('', '_'), ('', '%%%'), ('a', ''), ('aXb', 'a%b%'), ('aab', '%ab'), ('abab', '%ab_'),
		('mississippi', '%iss%ip%'), ('mississippi', '%issip_i'), ('%', '\%'), ('\', '\\'), ('a\b', 'a\\_')) AS v (s, p);
SELECT is(dp_cdp_internal.try_like('a', 'a\'), NULL, 'a pattern that ends with the escape character');
SELECT is(dp_cdp_internal.try_ilike('b', 'a\'), NULL, 'the same where it is not reached');
SELECT is(dp_cdp_internal.try_not_like('a', '\\\'), NULL, 'the same after an escaped one');
CREATE COLLATION loose (provider = icu, locale = 'und', deterministic = false);
SELECT is(dp_cdp_internal.try_like('a' COLLATE loose, 'a'), NULL, 'nondeterministic collations have no LIKE');
SELECT is(dp_cdp_internal.try_ilike('a' COLLATE loose, 'a'), NULL, 'nor ILIKE');

-- a stack of 100 kB, of which this leaves not much, holds a pattern of any length
SET max_stack_depth = '100kB';
SELECT throws_ok($$SELECT repeat('a', 50001) LIKE repeat('%a', 50000) || '%b'$$, '54001', NULL, 'the built-in matcher does not');
SELECT unnest(ARRAY[
		is(dp_cdp_internal.try_like(repeat('a', n), repeat('%a', 50000) || tail), matches, format('%s letters, 50000 %%, tail %s', n, tail)),
		is(dp_cdp_internal.try_not_like(repeat('a', n)::bpchar, repeat('%a', 50000) || tail), NOT matches, 'NOT LIKE'),
		is(dp_cdp_internal.try_ilike(repeat('A', n), repeat('%a', 50000) || tail), matches, 'ILIKE'),
		is(dp_cdp_internal.try_not_ilike(repeat('a', n), repeat('%A', 50000) || tail), NOT matches, 'NOT ILIKE')])
	FROM (VALUES (50001, '%b', false), (50001, '%', true), (50001, '_', true), (50001, '', true), (49999, '', false), (0, '', false))
		AS v (n, tail, matches);
RESET max_stack_depth;

-- the worst there is takes the product of both lengths, and can be stopped
CREATE FUNCTION is_canceled() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dp_cdp_internal.try_like(repeat('a', 8000000), '%' || repeat('a', 4000000) || 'b%');
	RETURN false;
EXCEPTION WHEN query_canceled THEN
	RETURN true;
END $$;
SET statement_timeout = 500;
SELECT ok(is_canceled(), 'canceled');
RESET statement_timeout;

-- how long a string may be
SELECT is(dp_cdp_internal.try_like(repeat('x', n), '%x'), answer, n || ' bytes')
	FROM (VALUES (16 * 1024 * 1024, true), (16 * 1024 * 1024 + 1, NULL)) AS v (n, answer);

-- the planner: the same estimates, and the same indexes
CREATE TABLE words (word text, code bpchar, label varchar(40), n name);
INSERT INTO words SELECT w, w, w, w FROM (SELECT md5(i::text) AS w FROM generate_series(1, 4000) i UNION ALL
	SELECT 'often' || i % 3 FROM generate_series(1, 2000) i) v;
CREATE INDEX words_word ON words (word text_pattern_ops);
CREATE INDEX words_label ON words (label varchar_pattern_ops);
CREATE INDEX words_code ON words (code bpchar_pattern_ops);
CREATE INDEX words_c ON words (n COLLATE "C");
ANALYZE words;
CREATE FUNCTION plan(condition text, OUT rows float8, OUT index text) LANGUAGE plpgsql AS $$
DECLARE
	tree jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM words WHERE ' || condition INTO tree;
	rows := (tree #>> '{0,Plan,Plan Rows}')::float8;
	index := coalesce(jsonb_path_query_first(tree, '$.**."Index Cond"') #>> '{}', 'none');
END $$;
SELECT unnest(ARRAY[
		is(own, builtin, format('%s %s %L: %s', c, operator, pattern, own)),
		ok((own).index <> 'none' OR operator <> 'LIKE' OR pattern ~ '^(%|of)', 'by index: ' || (own).index)])
	FROM unnest('{word,code,label,n}'::text[]) c,
		unnest(ARRAY['ab%', 'abc%e%', '%abc%', 'often0', 'oft%', 'often_%', '7%', '%often%']) pattern,
		(VALUES ('LIKE', 'try_like'), ('ILIKE', 'try_ilike')) AS o (operator, function),
		plan(format('%I %s %L', c, operator, pattern)) builtin,
		plan(format('dp_cdp_internal.%I(%I, %L)', function, c, pattern)) own;
SELECT is((plan(format('NOT dp_cdp_internal.try_like(word, %L)', pattern))).rows, (plan(format('word NOT LIKE %L', pattern))).rows, 'NOT LIKE ' || pattern)
	FROM unnest(ARRAY['%abc%', 'often%']) pattern;

SELECT * FROM finish();
