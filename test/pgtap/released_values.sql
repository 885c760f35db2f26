-- Each function and operator of PostgreSQL's, called with released values that it may fail for: a
-- statement that was paid for is answered.  One that fails does so before it is paid for.

\ir shop.psql

SELECT no_plan();

SET client_min_messages = error;
SELECT dp_cdp.alter_dataset('shop', default_rho => 1);

-- what values of a type are tried, as literals
CREATE TABLE samples (type regtype PRIMARY KEY, literals text[]);
INSERT INTO samples VALUES
	('bool', '{t,f}'),
	('int2', '{-1,0,32767,-32768}'), ('int4', '{-1,0,2147483647,-2147483648}'), ('int8', '{-1,0,9223372036854775807,-9223372036854775808}'),
	('float4', '{-1,0,3e38,NaN}'), ('float8', '{-1,0,1e308,NaN}'), ('numeric', '{-1.5,0,1e2000,NaN}'), ('money', '{-1,0,92233720368547758.07,1}'),
	('text', '{"",x(,-1,"\\"}'), ('varchar', '{"",x(,-1,"\\"}'), ('bpchar', '{"",x(,-1,"\\"}'), ('name', '{"",x(,-1,pg_class}'), ('"char"', '{"",x,1,"\\"}'),
	('bytea', '{"",x,"\\\\xff","\\\\x00"}'), ('cstring', '{"",x(,-1,"{"}'),
	('date', '{infinity,4713-01-01 BC,5874897-12-31,2025-01-31}'), ('time', '{00:00,24:00}'), ('timetz', '{00:00+15:59,24:00-15:59}'),
	('timestamp', '{infinity,4713-01-01 BC,294276-12-31,2025-01-31}'), ('timestamptz', '{infinity,4713-01-01 BC,294276-12-31,2025-01-31}'),
	('interval', '{178000000 years,-1 day,0,2147483647 days}'),
	('uuid', '{00000000-0000-0000-0000-000000000000}'), ('inet', '{255.255.255.255,::/0,0.0.0.0/0}'), ('cidr', '{255.255.255.255,::/0}'), ('macaddr', '{00:00:00:00:00:00}'), ('macaddr8', '{00:00:00:00:00:00:00:00}'),
	('bit', '{1,0}'), ('varbit', '{"",101}'),
	('json', '{1,[],null}'), ('jsonb', '{1,[],"{\"a\": 1}",null}'), ('jsonpath', '{$,$[*] / 0,strict $.a.b}'),
	('point', '{"(0,0)","(1e308,-1e308)"}'), ('lseg', '{"[(0,0),(0,0)]","[(1e308,0),(-1e308,0)]"}'), ('path', '{"[(0,0),(1,1)]","((1e308,0),(-1e308,0))"}'), ('box', '{"(0,0),(0,0)","(1e308,0),(-1e308,0)"}'),
	('polygon', '{"((0,0))","((0,0),(1e308,0),(-1e308,0))"}'), ('line', '{"{1,0,0}","{1e308,1e308,1e308}"}'), ('circle', '{"<(0,0),0>","<(1e308,0),1e308>"}'),
	('int4range', '{empty,"[1,2)","(,)","[5,9)"}'), ('int8range', '{empty,"[1,2)","(,)","[5,9)"}'), ('numrange', '{empty,"[1,2)","(,)","[5,9)"}'), ('daterange', '{empty,"(,)"}'), ('tsrange', '{empty,"(,)"}'), ('tstzrange', '{empty,"(,)"}'),
	('int4multirange', '{"{}","{[1,2)}"}'), ('int8multirange', '{"{}"}'), ('nummultirange', '{"{}"}'), ('datemultirange', '{"{}"}'), ('tsmultirange', '{"{}"}'), ('tstzmultirange', '{"{}"}'),
	('tsvector', '{"",a:1}'), ('tsquery', '{"",a}'), ('oid', '{0,1,4294967295,1259}'), ('regclass', '{0,pg_class,4294967295}'), ('regtype', '{0,int4}'), ('regproc', '{0,now}'), ('regprocedure', '{0}'), ('regoper', '{0}'), ('regoperator', '{0}'), ('regconfig', '{0,simple}'), ('regdictionary', '{0,simple}'), ('regrole', '{0}'), ('regnamespace', '{0}'), ('regcollation', '{0}'),
	('xid', '{0,1}'), ('xid8', '{0,1}'), ('cid', '{0}'), ('tid', '{"(0,0)"}'), ('pg_lsn', '{0/0,FFFFFFFF/FFFFFFFF}'), ('txid_snapshot', '{1:1:}'), ('pg_snapshot', '{1:1:}'), ('int2vector', '{"",1 2}'), ('oidvector', '{"",1 2}'), ('xml', '{a,<a/>}'),
	('_int4', '{"{}","{1,NULL}","{{1,2},{3,4}}","[5:5]={1}"}'), ('_int8', '{"{}","{1,NULL}"}'), ('_float8', '{"{}","{1,NULL}","{1,NaN}"}'), ('_float4', '{"{}"}'), ('_numeric', '{"{}","{1,NULL}"}'), ('_text', '{"{}","{a,NULL}","{{a,b},{c,d}}"}'), ('_bool', '{"{}"}'), ('_oid', '{"{}"}'), ('_name', '{"{}"}'), ('_char', '{"{}"}'), ('_jsonb', '{"{}"}');

-- an expression of a type with one of its samples, which is no constant: z is 0 and released
CREATE FUNCTION released(type oid, place int) RETURNS text LANGUAGE sql AS $$
	SELECT format('CASE WHEN z = 0 THEN %L::%s END', literals[1 + place % cardinality(literals)], format_type(s.type, NULL))
	FROM samples s WHERE s.type = CASE
		WHEN $1 IN ('anyelement'::regtype, 'anynonarray'::regtype, '"any"'::regtype, 'anycompatible'::regtype, 'anycompatiblenonarray'::regtype) THEN 'int4'::regtype
		WHEN $1 IN ('anyarray'::regtype, 'anycompatiblearray'::regtype) THEN 'int4[]'::regtype
		WHEN $1 IN ('anyrange'::regtype, 'anycompatiblerange'::regtype) THEN 'int4range'::regtype
		WHEN $1 IN ('anymultirange'::regtype, 'anycompatiblemultirange'::regtype) THEN 'int4multirange'::regtype
		ELSE $1 END $$;

-- arguments: all of them released, each with another sample in each of four calls; or the last a constant
CREATE FUNCTION arguments(types oidvector, call int, constant boolean, VARIADIC separators text[]) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN count(released(t, 0)) = count(*) THEN string_agg(
		CASE WHEN constant AND n = cardinality(types::oid[]) THEN regexp_replace(released(t, call), 'CASE WHEN z = 0 THEN (.*) END', '\1') ELSE released(t, call + (call / 4 * n)::int) END,
		separators[1] ORDER BY n) END
	FROM unnest(types::oid[]) WITH ORDINALITY a(t, n) $$;

-- how statements with these calls end
CREATE FUNCTION outcome(calls text[]) RETURNS text LANGUAGE sql AS $$
	SELECT asked(format('SELECT %s FROM (SELECT count(*) * 0 AS z FROM orders) q', string_agg(format('(%s)::text AS c%s', c, n), ', ')))
	FROM unnest(calls) WITH ORDINALITY c(c, n) $$;

CREATE TABLE calls AS
	SELECT p.oid::regprocedure::text AS name, constant, array_agg(format('pg_catalog.%I(%s)', proname, arguments(proargtypes, i, constant, CASE WHEN provariadic > 0 AND provariadic <> '"any"'::regtype AND pronargs = 2 THEN ', VARIADIC ' ELSE ', ' END))) AS calls
	FROM pg_proc p, unnest(ARRAY[true, false]) constant, generate_series(0, CASE WHEN constant THEN 3 ELSE 7 END) i
	WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset AND provolatile <> 'v' AND pronargs BETWEEN 1 AND 4 AND prorettype <> 'record'::regtype
		-- what makes a pseudo-type cannot be caught, nor is it SQL
		AND NOT (proname ~ '_(in|validator)$' AND prorettype <> 'cstring'::regtype AND (SELECT typtype FROM pg_type WHERE oid = prorettype) = 'p')
		AND (pronargs > 1 OR NOT constant) AND NOT 'internal'::regtype::oid = ANY (proargtypes::oid[])
		AND proname !~ '^pg_' AND arguments(proargtypes, i, constant, ', ') IS NOT NULL
	GROUP BY 1, 2
	UNION ALL
	SELECT o.oid::regoperator::text, constant, array_agg(CASE WHEN oprleft = 0 THEN format('OPERATOR(pg_catalog.%s) %s', oprname, arguments(oprright::text::oidvector, i, constant, ', '))
		ELSE arguments((oprleft || ' ' || oprright)::oidvector, i, constant, format(' OPERATOR(pg_catalog.%s) ', oprname)) END)
	FROM pg_operator o, unnest(ARRAY[true, false]) constant, generate_series(0, CASE WHEN constant THEN 3 ELSE 7 END) i
	WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprright <> 0 AND (oprleft > 0 OR NOT constant)
		AND released(oprright, 0) IS NOT NULL AND (oprleft = 0 OR released(oprleft, 0) IS NOT NULL)
	GROUP BY 1, 2
	UNION ALL
	SELECT format('%s to %s', format_type(castsource, NULL), format_type(casttarget, NULL)), false,
		array_agg(format('(%s)::%s', released(castsource, i), format_type(casttarget, NULL)))
	FROM pg_cast, generate_series(0, 3) i WHERE released(castsource, 0) IS NOT NULL AND casttarget <> '"char"'::regtype GROUP BY castsource, casttarget
	UNION ALL
	SELECT format('text to %s', format_type(type, NULL)), false,
		array_agg(format('(%s)::%s', released('text'::regtype, i), format_type(type, NULL)))
	FROM samples, generate_series(0, 3) i
	GROUP BY type;

SELECT cmp_ok(count(*), '>', 2000::bigint, 'many functions, operators and casts are tried') FROM calls;

CREATE TABLE outcomes AS SELECT name, constant, calls, outcome(calls) FROM calls;

SELECT is_empty($$ SELECT name, outcome, calls[1] FROM outcomes WHERE outcome LIKE 'charged%' $$, 'none fails after it was paid for');

-- a constant that is taken for a mistake is one
SELECT is_empty($$ SELECT name, outcome FROM outcomes WHERE NOT constant AND outcome !~ '^\[' $$, 'all are answered whose arguments were released');
SELECT cmp_ok((SELECT count(*) FILTER (WHERE outcome ~ '^\[') FROM outcomes WHERE constant), '>', (SELECT count(*) * 9 / 10 FROM outcomes WHERE constant), 'and most with constants');

SELECT * FROM finish();
