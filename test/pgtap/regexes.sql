-- The matcher of regular expressions on raw rows: PostgreSQL's own, where it
-- reads a string once; NULL for what it would try place by place.
-- "make test" tries a tenth of the random strings of "make test-all".

\ir size.psql
SELECT CASE WHEN :long THEN 20000 ELSE 2000 END AS samples \gset
SET client_min_messages = error;
CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE agents (id int PRIMARY KEY, agent text, code bpchar(6), label varchar(40), n name);
INSERT INTO agents SELECT i, a, left(a, 6), a, a
	FROM (SELECT i, (ARRAY['Mozilla/5.0 (X11; Linux)', 'curl/7.88', 'Googlebot/2.1', 'bingbot 2', 'ÄÖÜ', E'two\nlines', '', NULL])[1 + i % 8] AS a FROM generate_series(1, 800) i) v;
SELECT dp_cdp.create_dataset('web', default_rho => 3000, max_rows => 1, max_groups => 1);
SELECT dp_cdp.protect_table('agents', 'web', 'id');
SELECT dp_cdp.set_budget('web', 'analyst1', rho => 1000000);
RESET SESSION AUTHORIZATION;

\ir same.psql

SELECT no_plan();

-- Random expressions of these tokens over random strings: what differs, what is NULL for no reason, and how much matches.
CREATE FUNCTION compare(samples int, collate_as name, OUT differences bigint, OUT refused bigint, OUT matches bigint, OUT taken bigint) LANGUAGE plpgsql AS $$
DECLARE
	s text;
	p text;
	expected boolean;
	own boolean;
	-- what would be tried place by place
	slow constant text := '\\[1-9]|\(\?<?[=!]';
BEGIN
	differences := 0; refused := 0; matches := 0; taken := 0;
	FOR i IN 1 .. samples LOOP
		SELECT coalesce(string_agg(substr('aabbAB1_ äÄ', 1 + floor(random() * 11)::int + 0 * g, 1), ''), '') INTO s FROM generate_series(1, floor(random() * 9)::int) g;
		SELECT coalesce(string_agg(t[1 + floor(random() * cardinality(t))::int + 0 * g], ''), '') INTO p
			FROM generate_series(1, 1 + floor(random() * 6)::int) g,
				(SELECT string_to_array('a b A ä . [ab] [^a] [a-c] [[:alpha:]] [[:digit:]] \d \w \s \W ( ) (?: | * + ? {1,2} {2} *? ^ $ \y \m \M \A \Z \1 (?= (?<! (?i)', ' ') AS t) v;
		FOR icase IN 0 .. 1 LOOP
			BEGIN
				EXECUTE format('SELECT %L::text COLLATE %I %s %L', s, collate_as, CASE icase WHEN 0 THEN '~' ELSE '~*' END, p) INTO expected;
			EXCEPTION WHEN invalid_regular_expression THEN
				expected := NULL;
			END;
			EXECUTE format('SELECT dp_cdp_internal.%I(%L::text COLLATE %I, %L)', CASE icase WHEN 0 THEN 'try_matches' ELSE 'try_imatches' END, s, collate_as, p) INTO own;
			IF own IS NULL AND expected IS NOT NULL AND p ~ slow THEN
				refused := refused + 1;
			ELSIF own IS DISTINCT FROM expected THEN
				differences := differences + 1;
				RAISE WARNING '% ~ %: % for %', s, p, own, expected;
			END IF;
			matches := matches + (own IS TRUE)::int;
			taken := taken + (own IS NOT NULL)::int;
		END LOOP;
	END LOOP;
END $$;
SELECT setseed(0.5);
SELECT unnest(ARRAY[
		is(differences, 0::bigint, 'as PostgreSQL''s own, in ' || name),
		ok(matches > taken / 10 AND matches < taken * 9 / 10 AND taken > :samples / 2 AND refused > 0, format('%s of %s match, %s are not taken', matches, taken, refused))])
	FROM unnest(ARRAY['C', 'default', 'C.utf8', 'en-x-icu', 'tr-x-icu']::name[]) AS name, compare(:samples, name)
	WHERE EXISTS (SELECT FROM pg_collation WHERE collname = name);

-- The same of what substring and regexp_replace make of them.
CREATE FUNCTION compare_parts(samples int, OUT differences bigint, OUT agreed bigint, OUT refused bigint, OUT captured bigint) LANGUAGE plpgsql AS $$
DECLARE
	s text;
	p text;
	given text[];
	expected text;
	own text;
	is_invalid boolean;
BEGIN
	differences := 0; agreed := 0; refused := 0; captured := 0;
	FOR i IN 1 .. samples LOOP
		SELECT coalesce(string_agg(substr('aabbAB1_ äÄ', 1 + floor(random() * 11)::int + 0 * g, 1), ''), '') INTO s FROM generate_series(1, floor(random() * 12)::int) g;
		SELECT coalesce(string_agg(t[1 + floor(random() * cardinality(t))::int + 0 * g], ''), '') INTO p
			FROM generate_series(1, 1 + floor(random() * 7)::int) g,
				(SELECT string_to_array('a b A ä . [ab] [^a] [a-c)(] []a] [[:alpha:]] \d \w \W ( ) ( ) (a*) (.*) ([^b]+) (.) (a|ab) (?: | * + ? {1,2} *? ^ $ \y \( \1 (?=', ' ') AS t) v;
		given := ARRAY[quote_literal(s), quote_literal(p), quote_literal((ARRAY['', 'x', '\1', '<\&>', '\\1\', '\2\1y\z'])[1 + i % 6]), quote_literal((ARRAY['g', '', 'i', 'gi'])[1 + i % 4])];
		FOR n IN 2 .. 4 LOOP
			is_invalid := false;
			BEGIN
				EXECUTE format('SELECT %s(%s)', CASE n WHEN 2 THEN 'substring' ELSE 'regexp_replace' END, array_to_string(given[:n], ', ')) INTO expected;
			EXCEPTION WHEN invalid_regular_expression THEN
				is_invalid := true;
			END;
			EXECUTE format('SELECT dp_cdp_internal.%s(%s)', CASE n WHEN 2 THEN 'try_regexp_substr' ELSE 'try_regexp_replace' END, array_to_string(given[:n], ', ')) INTO own;
			IF own IS NULL AND (is_invalid OR p ~ '\\1|\(\?=|\((?!\?)') THEN
				refused := refused + (expected IS NOT NULL AND NOT is_invalid)::int;
			ELSIF is_invalid OR own IS DISTINCT FROM expected THEN
				differences := differences + 1;
				RAISE WARNING '%: % for %', given[:n], own, expected;
			ELSE
				agreed := agreed + 1;
				captured := captured + (p ~ '\((?!\?)' AND own IS NOT NULL AND own <> s)::int;
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT setseed(0.25);
SELECT unnest(ARRAY[is(differences, 0::bigint, 'parts and what is put in their place are as PostgreSQL''s own'),
		ok(agreed > :samples / 2 AND captured > :samples / 20, format('%s agree, of which %s capture; %s are not taken', agreed, captured, refused))])
	FROM compare_parts(:samples);
SELECT is(dp_cdp_internal.try_regexp_substr(s, p), answer, format('substring(%s FROM %s)', left(s, 20), left(p, 20)))
	FROM (VALUES ('https://www.example.com/a/b', '^https?://(?:www\.)?([^/]+)/', 'example.com'), ('a=1&b=22&c', '[&?]b=([^&]*)', '22'), ('a.b.tar.gz', '(.*)\.', 'a.b.tar'), ('2025-03-01', '^\d{4}-(\d\d)', '03'),
		('aXbXc', 'X(.*)X', 'b'), ('xyz', '([ab]*)', ''), ('ab', '((a)b)', NULL), ('ab', '(a)|b', NULL), ('ab', '(?:(a)b)', NULL), ('aab', '(a)+b', NULL), ('aab', '(a+?)', NULL), ('a$', '(.)\$', 'a'), ('foo bar', '(foo)[[:>:]]', NULL), ('foo bar', '[[:>:]]( b)', NULL), ('foo bar', 'foo[[:>:]]', 'foo'), ('a\', '(\\)$', '\'),
		(repeat('a', 4096), 'a*(a)$', 'a'), (repeat('a', 4097), 'a*(a)$', NULL)) AS v (s, p, answer);
SELECT is(dp_cdp_internal.try_regexp_replace(repeat('a', 4096), 'a', repeat('b', 200), 'g'), NULL, 'a result that is too long');
SELECT is(dp_cdp_internal.try_regexp_replace(repeat('ab', n), '[ab]*a[ab]{255}[ab]*b[ab]{255}z|a', '', 'g'), answer, n || ' times two characters, for an automaton of many states')
	FROM (VALUES (100, repeat('b', 100)), (1000, NULL)) AS v (n, answer);
SELECT is(dp_cdp_internal.try_regexp_replace('abc', 'b', 'x', 'n'), NULL, 'other flags');
-- the worst there is takes the square of a string's length
SET statement_timeout = '20s';
SELECT is(dp_cdp_internal.try_regexp_substr(repeat('a', 4095) || 'c', 'a*b|c'), 'c', 'not more than the square');
SELECT is(length(dp_cdp_internal.try_regexp_replace(repeat('a', 4095) || 'c', 'a*(a)c', '\1')), 1, 'nor where something is captured');
RESET statement_timeout;

-- beyond what is sampled
SELECT is(dp_cdp_internal.try_matches(s, p), answer, format('%s ~ %s', left(s, 20), left(p, 20)))
	FROM (VALUES ('aa', '(a)\1', NULL), ('ab', 'a(?=b)', NULL), ('ab', '(?<=a)b', NULL), ('ab', '(', NULL), ('ab', 'a{2,1}', NULL), ('', '', true),
		('aa', 'a***', NULL), ('a.b', '***=a.b', true), ('axb', '***=a.b', false), (E'a\nb', '(?n)^b$', true), ('x', repeat('x', 4097), NULL), (repeat('x', 4096), repeat('x', 4096), true)) AS v (s, p, answer);
CREATE COLLATION loose (provider = icu, locale = 'und', deterministic = false);
SELECT is(dp_cdp_internal.try_matches('a' COLLATE loose, 'a'), NULL, 'nondeterministic collations have no regular expressions');
SELECT is(dp_cdp_internal.try_imatches('a' COLLATE loose, 'a'), NULL, 'in any case');
SELECT is((SELECT array_agg(dp_cdp_internal.try_matches(s, p)) FROM (VALUES ('a', 'a'), ('a', '('), ('a', 'b'), ('a', 'a'), ('b', 'a')) v (s, p)), '{t,NULL,f,t,f}', 'patterns that change from row to row');
SELECT is(dp_cdp_internal.try_matches(repeat('x', n), 'x$'), answer, n || ' bytes')
	FROM (VALUES (16 * 1024 * 1024, true), (16 * 1024 * 1024 + 1, NULL)) AS v (n, answer);
-- what a matcher that goes back would take for ever over
SET statement_timeout = '20s';
SELECT is(dp_cdp_internal.try_matches(repeat('a', 100000) || 'b', '^(a+)+$'), false, 'linear time');
RESET statement_timeout;
CREATE FUNCTION is_canceled() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dp_cdp_internal.try_matches(repeat('ab', 8000000 - i), '(a|b)*c') FROM generate_series(1, 1000) i;
	RETURN false;
EXCEPTION WHEN query_canceled THEN
	RETURN true;
END $$;
SET statement_timeout = 300;
SELECT ok(is_canceled(), 'canceled');
RESET statement_timeout;

-- analysts: every spelling counts what it counts in plain SQL
SELECT as_written(format('SELECT count(*) FILTER (WHERE %s) FROM agents', c), c)
	FROM unnest(ARRAY['agent ~ ''^[A-Z]\w+/\d''', 'agent !~ ''\d\.\d''', 'agent ~* ''bot|CURL''', 'agent !~* ''[äo]''', 'code ~ ''^[a-z]+''', 'code ~ '' $''', 'code !~* ''GOO''', 'label ~ ''(?i)BOT\y''', 'n ~ ''^.{3}$''', 'n !~* ''l$''',
		'regexp_like(agent, ''^two$'')', 'agent SIMILAR TO ''%(bot|curl)[ /][0-9]%''', 'agent NOT SIMILAR TO ''_*''', 'agent ~ ''(^|/)[0-9.]+$'' IS NULL', 'CASE WHEN agent ~ ''bot'' THEN ''bot'' WHEN agent ~ ''^Moz'' THEN ''browser'' END = ''bot''',
		'agent || '''' ~ ''^$''', 'substring(agent FROM ''^(\w+)/'') = ''curl''', 'regexp_replace(agent, ''\D+'', '''', ''g'') = ''50''', 'regexp_replace(code::text, ''^(.)o'', ''\1_'') ~ ''_''', 'substring(label, ''o+'') IS NULL', 'lower(agent) ~ ''^[^/]*bot''']) c;
SELECT as_written('SELECT count(*) FROM agents WHERE agent ~* ''(google|bing)bot''', 'WHERE');
SELECT matches(rows_for('analyst1', format('SELECT count(*) FROM agents WHERE %s', c)), '^ZC002 .*' || says, c)
	FROM (VALUES ('agent ~ ''(a)\1''', 'without back references'), ('agent ~ ''a(?=b)''', 'without back references'), ('agent ~ ''(''', 'correct the regular expression: parentheses \(\) not balanced'), ('agent ~ ''(?:a?b?c?d?){120}''', 'less is optional, repeated or nested'),
		(format('agent ~ %L', repeat('(?:', 31) || 'a' || repeat(')', 31)), 'less is optional, repeated or nested'), ('agent ~ ''((a{15}){15}){15,20}''', 'less is optional'), ('substring(agent FROM ''(a)[[:>:]]'') = ''a''', 'capture with one pair'),
		('agent ~ agent', 'argument number 2 must be a constant'), ('regexp_like(agent, ''a'', ''i'')', 'text ~\* pattern'), (format('agent ~ %L', repeat('x', 4097)), 'at most 4096 bytes'),
		('substring(agent FROM ''(a)(b)'') = ''a''', 'capture with one pair of parentheses'), ('substring(agent FROM ''(a|b)+'') = ''a''', 'capture with one pair'), ('substring(agent FROM agent) = ''a''', 'argument number 2 must be a constant'),
		('regexp_replace(agent, ''a'', agent) = ''a''', 'argument number 3 must be a constant'), ('regexp_replace(agent, ''a'', ''b'', ''gx'') = ''a''', 'flags g and i alone'),
		('agent ~ CASE WHEN id = 7 THEN ''('' ELSE ''x'' END', 'argument number 2 must be a constant')) v (c, says);

-- the planner: the same estimates, and the same indexes
CREATE TABLE words (word text, code bpchar);
INSERT INTO words SELECT w, w FROM (SELECT md5(i::text) AS w FROM generate_series(1, 4000) i) v;
CREATE INDEX words_word ON words (word text_pattern_ops);
ANALYZE words;
CREATE FUNCTION plan(condition text, OUT rows float8, OUT index text) LANGUAGE plpgsql AS $$
DECLARE
	tree jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM words WHERE ' || condition INTO tree;
	rows := (tree #>> '{0,Plan,Plan Rows}')::float8;
	index := coalesce(jsonb_path_query_first(tree, '$.**."Index Cond"') #>> '{}', 'none');
END $$;
SELECT is(plan(format('dp_cdp_internal.%I(%I, %L)', function, c, pattern)), plan(format('%I %s %L', c, operator, pattern)), format('%s %s %s', c, operator, pattern))
	FROM unnest('{word,code}'::text[]) c, unnest(ARRAY['^ab', '^abc.*e', 'abc', '^7[0-9]']) pattern, (VALUES ('~', 'try_matches'), ('~*', 'try_imatches')) AS o (operator, function);

SELECT * FROM finish();
