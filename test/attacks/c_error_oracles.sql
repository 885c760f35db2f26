-- Errors, NULLs and warnings that would depend on a row.  What could fail
-- yields NULL, or is refused; nothing in the messages depends on data.

--# arithmetic
--@ absent: out of range|division by zero|overflow
--@ attack
SELECT dp_count(*) IS NULL FROM visit WHERE age + 2147483551 > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE 1 / (age - 97) > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE age % (age - 97) > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE -(age - 97 - 2147483551 - 97) > 0 AND abs(age - 2147483647 - 98) > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE cost / (cost - 87654) > 0 AND sqrt(1000 - cost) > 0 AND ln(1000 - cost) > 0;
--> ok 1 | ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE cost::float8 * 1e304 > 0 AND exp(cost::float8) > 0 AND power(0, age - 98) > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE width_bucket(age, 0, age - 97, 1) > 0;
--> ok 1 | ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE factorial(age) > 0;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE age << 97 > 0 OR age # 1 > 0;
--> ZC002 | ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE CASE WHEN age = 97 THEN 1 / 0 ELSE 1 END > 0;
--> ok 1 | 22012 | ZC002

--# casts
--@ absent: out of range|invalid input|overflow
--@ attack
SELECT dp_count(*) IS NULL FROM visit WHERE cost::int2 > 0 AND (cost * 1e10)::int4 > 0 AND (age * 1e30)::int8 > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE cost::numeric(6, 2) > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE ward::int > 0;
--> ok 1
SELECT dp_count(*) IS NULL FROM patient WHERE name::date > '2000-01-01' OR zip::numeric > 1 OR zip::float8 > 1;
--> ok 1
SELECT dp_count(*) IS NULL FROM patient WHERE name::regclass::oid > 0;
--> ZC002
SELECT dp_count(*) IS NULL FROM patient WHERE name::inet IS NOT NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM patient WHERE name::json IS NOT NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM patient WHERE name::boolean OR name::uuid IS NOT NULL OR name::time > '10:00';
--> ok 1
SELECT dp_count(*) IS NULL FROM patient WHERE name::"char" = 'Q' AND name::varchar(2) = 'Qu' AND name::char(3) = 'Quu';
--> ok 1 | ZC002
SELECT dp_count(*) IS NULL FROM patient WHERE name::interval > '1 day' OR name::timestamptz > now();
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE (at + age * interval '200000 years') > now();
--> ok 1 | ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE at::date + age * 100000000 > '2000-01-01';
--> ok 1

--# angles, arrays, ranges, addresses
--@ absent: out of range|too large|invalid|bound must|multidimensional
--@ attack
SELECT dp_count(*) IS NULL FROM visit WHERE acos(age) > 0 OR sin(1e308::float8 * age) > 0 OR degrees(1e308::float8 * (98 - age)) > 0 OR lpad(ward, age * 20000000) = '';
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE array_position(CASE WHEN age = 97 THEN '{{1,2}}'::int[] END, 1) = 1;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE int4range(97, age) @> 5 OR set_masklen('10.0.0.1', age)::text = '';
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE family(set_masklen('10.0.0.1', age)) = 4 OR ('{1,2,3}'::int[])[age] = 1 OR age <@ int4range(90, 100) OR age = ANY ('{97}');
--> ok 1 | ZC002

--# strings, dates
--@ absent: negative substring|too large|must be positive|not recognized|invalid
--@ attack
SELECT dp_count(*) IS NULL FROM visit WHERE substring(ward FROM 1 FOR 96 - age) IS NULL;
--> ok 1 | ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE repeat('x', age * 30000000) IS NULL OR lpad(ward, age * 20000000) IS NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE chr(97 - age) IS NOT NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE ward LIKE ward || '\';
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE ward LIKE 'z\';
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE 'x' ~ (CASE WHEN age = 97 THEN '(' ELSE 'x' END);
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE at AT TIME ZONE ward IS NOT NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE date_trunc(ward, at) IS NOT NULL OR date_part(ward, at) > 0;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE extract(fortnight FROM at) > 0;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE to_char(at, ward) = 'x' OR to_date(ward, 'YYYY') IS NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE split_part(ward, 'e', age - 97) = 'x';
--> ZC002 | ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE decode(ward, 'hex') IS NULL OR convert_from(ward::bytea, ward) IS NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE make_date(2000, 109 - age, 1) IS NULL;
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE date_bin(age * interval '1 day', at, '2020-01-01') IS NULL OR make_time(121 - age, 0, 0) IS NULL;
--> ZC002
SELECT dp_count(*) IS NULL FROM visit WHERE to_timestamp(cost::float8 * 1e300) IS NULL OR age(at) > '1 year' OR ward || age = 'x';
--> ok 1
SELECT dp_count(*) IS NULL FROM visit WHERE overlay(ward PLACING 'x' FROM 97 - age) IS NULL OR translate(ward, 'z', ward) = '';
--> ZC002

--# inside the aggregates
--@ absent: out of range|division|^NaN|^-?Infinity|overflow
--@ attack
SELECT dp_sum(cost::float8 * 1e304, -1e307, 1e307) IS NULL FROM visit;
--> ok 1
SELECT dp_sum(cost::float8 * 1e304, -1e308, 1e308, -1e308, 1e308) IS NULL FROM visit;
--> ok 1
SELECT dp_sum(cost::float8 * 1e304, -1e308, 1e308) IS NULL FROM visit;
--> ZC004
SELECT dp_sum(1, 1.0 / (age - 97), 1) FROM visit;
--> ZC002 | 42803
SELECT dp_sum(age, age, 97) FROM visit;
--> ZC002
SELECT dp_sum(CASE WHEN age = 97 THEN 'NaN'::float8 ELSE 1 END, 0, 1) FROM visit;
--> ok 1
SELECT dp_sum(CASE WHEN age = 97 THEN 'Infinity'::numeric ELSE 1 END, 0, 1) FROM visit;
--> ok 1
SELECT dp_sum(CASE WHEN age = 97 THEN 9223372036854775807 ELSE 1 END, -9e18, 9e18) IS NULL FROM visit;
--> ok 1 | ZC004
SELECT dp_sum(age, 'NaN', 1) FROM visit;
--> ZC004
SELECT dp_sum(age, 0, 'Infinity') FROM visit;
--> ZC004
SELECT dp_sum(age, 1, 1) FROM visit;
--> ZC004
SELECT dp_sum(age, NULL, 1) FROM visit;
--> ZC004
SELECT dp_sum(cost, 0, 1e300) IS NULL, dp_count(cost) IS NULL FROM visit WHERE cost IS NULL;
--> ok 2 | ZC004

--# nothing to count is noise, not NULL
--@ absent: ^t$|t\||\|t
--@ attack
SELECT dp_count(*) IS NULL, dp_sum(cost, 0, 10) IS NULL, count(*) IS NULL, dp_count(DISTINCT patient) IS NULL FROM visit WHERE patient = -1;
--> ok 4
SELECT bool_and(n = 0 AND m = 0) FROM (SELECT dp_count(*) AS n, dp_sum(cost, 0, 10) AS m FROM visit WHERE false) a;
--> ok 2
SELECT n = 0 AND m = 0 AND o = 0 AND p = 0 AND q = 0 AND r = 0 FROM (SELECT dp_count(*) AS n, dp_count(age) AS m, dp_count(cost) AS o, dp_count(at) AS p, dp_count(id) AS q, dp_sum(age, 0, 200) AS r
	FROM visit WHERE patient = 42 AND patient = 43) a;
--> ok 6

--# outer errors come after the debit, and give nothing back
--@ attack
SELECT setseed(2 + 0 * dp_count(*)) FROM visit;
--> 22023 1
SELECT dp_count(*) FROM visit HAVING (0 * dp_count(*))::text::date IS NULL;
--> ok 1
DO $$ BEGIN BEGIN PERFORM setseed(2 + 0 * dp_count(*)) FROM visit; EXCEPTION WHEN OTHERS THEN NULL; END; END $$;
--> standby: any; ok 1
SELECT (dp_count(*) * 1e30)::money FROM visit;
--> ok 1

--# errors of planning tell nothing
--@ attack
EXPLAIN SELECT dp_count(*) FROM visit WHERE age > 96 + (97 - 97);
--> ok
SELECT dp_count(*) FROM visit WHERE age > 1 / 0;
--> 22012 | ZC002
SELECT dp_count(*) FROM visit WHERE 'a' = 'b' COLLATE "C" AND ward = 'a' COLLATE "nowhere";
--> 42704
SELECT dp_count(*) FROM visit WHERE ward < 'a' COLLATE "en-x-icu";
--> ok 1 | 42704
SELECT dp_count(*) FROM visit WHERE ward COLLATE "C" < ward COLLATE "POSIX";
--> 42P21 | 42P22
