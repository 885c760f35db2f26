-- Each function and operator of PostgreSQL's, called with released values that it may fail for: a
-- statement that was paid for is answered.  One that fails does so before it is paid for.
-- "make test" leaves out what takes seconds by itself.

\ir size.psql
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

-- the samples of each type: as constants, and as what is none, because z is 0 and released
CREATE TABLE spelled AS
	SELECT type::oid, place, literal, format('CASE WHEN z = 0 THEN %s END', literal) AS released
	FROM (SELECT type, type AS of FROM samples UNION ALL SELECT unnest('{anyelement,anynonarray,"\"any\"",anycompatible,anycompatiblenonarray}'::regtype[]), 'int4'
		UNION ALL SELECT unnest('{anyarray,anycompatiblearray}'::regtype[]), 'int4[]' UNION ALL SELECT unnest('{anyrange,anycompatiblerange}'::regtype[]), 'int4range'
		UNION ALL SELECT unnest('{anymultirange,anycompatiblemultirange}'::regtype[]), 'int4multirange') t, generate_series(0, 11) place,
		LATERAL (SELECT format('%L::%s', literals[1 + place % cardinality(literals)], format_type(of, NULL)) AS literal FROM samples s WHERE s.type = of) l;
ALTER TABLE spelled ADD PRIMARY KEY (type, place);

-- arguments: all of them released, each with another sample in each of four calls; or the last a constant
CREATE FUNCTION arguments(types oidvector, call int, constant boolean, separator text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN count(released) = count(*) THEN string_agg(CASE WHEN constant AND n = cardinality(types::oid[]) THEN literal ELSE released END, separator ORDER BY n) END
	FROM unnest(types::oid[]) WITH ORDINALITY a(t, n) LEFT JOIN spelled ON type = t AND place = call + CASE WHEN constant THEN 0 ELSE call / 4 * n END $$;

-- how statements with these calls end
CREATE FUNCTION outcome(calls text[]) RETURNS text LANGUAGE sql AS $$
	SELECT asked(format('SELECT %s FROM (SELECT count(*) * 0 AS z FROM orders) q', string_agg(format('(%s)::text AS c%s', c, n), ', ')))
	FROM unnest(calls) WITH ORDINALITY c(c, n) $$;

CREATE TABLE calls AS
	SELECT p.oid::regprocedure::text AS name, constant, array_agg(format('pg_catalog.%I(%s)', proname, given)) AS calls
	FROM pg_proc p, unnest(ARRAY[true, false]) constant, generate_series(0, CASE WHEN constant THEN 3 ELSE 7 END) i,
		arguments(proargtypes, i, constant, CASE WHEN provariadic > 0 AND provariadic <> '"any"'::regtype AND pronargs = 2 THEN ', VARIADIC ' ELSE ', ' END) given
	WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset AND provolatile <> 'v' AND pronargs BETWEEN 1 AND 4 AND prorettype <> 'record'::regtype
		-- what makes a pseudo-type cannot be caught, nor is it SQL
		AND NOT (proname ~ '_(in|validator)$' AND prorettype <> 'cstring'::regtype AND (SELECT typtype FROM pg_type WHERE oid = prorettype) = 'p')
		AND (pronargs > 1 OR NOT constant) AND NOT 'internal'::regtype::oid = ANY (proargtypes::oid[])
		AND proname !~ '^pg_' AND given IS NOT NULL 
		AND (proname !~ '^database_to_xml' OR :long AND i = 0) AND (proname <> 'repeat' OR :long OR NOT constant)
	GROUP BY 1, 2
	UNION ALL
	SELECT o.oid::regoperator::text, constant, array_agg(CASE WHEN oprleft = 0 THEN format('OPERATOR(pg_catalog.%s) %s', oprname, given) ELSE given END)
	FROM pg_operator o, unnest(ARRAY[true, false]) constant, generate_series(0, CASE WHEN constant THEN 3 ELSE 7 END) i,
		arguments(concat_ws(' ', nullif(oprleft, 0), oprright)::oidvector, i, constant, format(' OPERATOR(pg_catalog.%s) ', oprname)) given
	WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprright <> 0 AND (oprleft > 0 OR NOT constant) AND given IS NOT NULL
	GROUP BY 1, 2
	UNION ALL
	SELECT format('%s to %s', format_type(castsource, NULL), format_type(casttarget, NULL)), false, array_agg(format('(%s)::%s', released, format_type(casttarget, NULL)))
	FROM (SELECT castsource, casttarget FROM pg_cast WHERE casttarget <> '"char"'::regtype UNION ALL SELECT 'text'::regtype, type FROM samples) c JOIN spelled ON type = castsource AND place < 4
	GROUP BY castsource, casttarget;

SELECT cmp_ok(count(*), '>', 2000::bigint, 'many functions, operators and casts are tried') FROM calls;

-- many in a statement, and one by one where that fails
CREATE FUNCTION outcomes(batch calls[]) RETURNS TABLE (name text, constant boolean, calls text[], outcome text) LANGUAGE sql AS $$
	SELECT c.*, CASE WHEN together ~ '^\[' THEN together ELSE outcome(c.calls) END
	FROM unnest(batch) c, (SELECT outcome(array_agg(call ORDER BY call)) AS together FROM unnest(batch) b, unnest(b.calls) call) t $$;
CREATE TABLE outcomes AS
	SELECT o.* FROM (SELECT array_agg(c) AS batch FROM (SELECT c::calls, row_number() OVER (PARTITION BY constant ORDER BY name) AS n FROM calls c) s
		GROUP BY (c).constant, n / CASE WHEN (c).constant THEN 8 ELSE 32 END) b, outcomes(batch) o;

SELECT is_empty($$ SELECT name, outcome, calls[1] FROM outcomes WHERE outcome LIKE 'charged%' $$, 'none fails after it was paid for');

-- a constant that is taken for a mistake is one
SELECT is_empty($$ SELECT name, outcome FROM outcomes WHERE NOT constant AND outcome !~ '^\[' $$, 'all are answered whose arguments were released');
SELECT cmp_ok((SELECT count(*) FILTER (WHERE outcome ~ '^\[') FROM outcomes WHERE constant), '>', (SELECT count(*) * 9 / 10 FROM outcomes WHERE constant), 'and most with constants');

SELECT * FROM finish();
