-- The tables of TPC-H with the distributions of its specification (clause 4.2.3), at :scale; made by hashes of keys,
-- so that each run makes the same.  Comments are phrases of the specification's kinds of words, not its grammar.
\set ON_ERROR_STOP on
SET work_mem = '256MB';
SET maintenance_work_mem = '512MB';

-- a whole number from 0 to n - 1, and one of the array, for a row and a column
CREATE FUNCTION pick(key bigint, col int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN (hashint8extended(key, col) & 9223372036854775807) % n;
CREATE FUNCTION pick(key bigint, col int, VARIADIC of text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN of[1 + pick(key, col, array_length(of, 1))];
-- as many characters as lowest to highest, of letters and digits
CREATE FUNCTION letters(key bigint, col int, lowest int, highest int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN substr(md5(key::text || col) || md5(col || key::text), 1, (lowest + pick(key, col, highest - lowest + 1))::int);
CREATE FUNCTION phone(key bigint, nation bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN (nation + 10) || '-' || 100 + pick(key, 90, 900) || '-' || 100 + pick(key, 91, 900) || '-' || 1000 + pick(key, 92, 9000);

-- phrases of 200 characters or more, and how many characters of which one a comment is
CREATE TEMP TABLE phrases AS
	SELECT i, string_agg(pick(i * 100 + j, 1, 'furious', 'sly', 'careful', 'blithe', 'quick', 'fluffy', 'slow', 'quiet', 'ruthless', 'thin', 'close',
			'dogged', 'daring', 'bold', 'stealthy', 'permanent', 'enticing', 'idle', 'busy', 'regular', 'final', 'ironic', 'even', 'special', 'silent', 'unusual', 'express')
		|| ' ' || pick(i * 100 + j, 2, 'foxes', 'ideas', 'theodolites', 'pinto beans', 'instructions', 'dependencies', 'excuses', 'platelets', 'asymptotes',
			'courts', 'dolphins', 'multipliers', 'sauternes', 'warthogs', 'frets', 'dinos', 'attainments', 'requests', 'accounts', 'packages', 'deposits', 'pearls')
		|| ' ' || pick(i * 100 + j, 3, 'sleep', 'wake', 'are', 'cajole', 'haggle', 'nag', 'use', 'boost', 'affix', 'detect', 'integrate', 'maintain', 'nod', 'was', 'lose', 'sublate')
		|| ' ' || pick(i * 100 + j, 4, 'about', 'above', 'according to', 'across', 'after', 'against', 'along', 'among', 'around', 'at', 'between', 'the'), ' ') AS words
	FROM generate_series(0, 49999) i, generate_series(1, 9) j GROUP BY i;
CREATE UNIQUE INDEX ON phrases (i);
ANALYZE phrases;

CREATE TABLE region (r_regionkey int PRIMARY KEY, r_name char(25) NOT NULL, r_comment varchar(152));
INSERT INTO region SELECT i - 1, (ARRAY['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'])[i], substr(words, 1, 150) FROM generate_series(1, 5) n (i) JOIN phrases p USING (i);

CREATE TABLE nation (n_nationkey int PRIMARY KEY, n_name char(25) NOT NULL, n_regionkey int NOT NULL REFERENCES region, n_comment varchar(152));
INSERT INTO nation SELECT i - 1, name, region, substr(words, 1, 100) FROM unnest(
		'{ALGERIA,ARGENTINA,BRAZIL,CANADA,EGYPT,ETHIOPIA,FRANCE,GERMANY,INDIA,INDONESIA,IRAN,IRAQ,JAPAN,JORDAN,KENYA,MOROCCO,MOZAMBIQUE,PERU,CHINA,ROMANIA,SAUDI ARABIA,VIETNAM,RUSSIA,UNITED KINGDOM,UNITED STATES}'::text[],
		'{0,1,1,1,4,0,3,3,2,2,4,4,2,4,0,0,0,1,2,3,4,2,3,3,1}'::int[]) WITH ORDINALITY n (name, region, i) JOIN phrases p USING (i);

CREATE TABLE supplier (s_suppkey int NOT NULL, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, s_nationkey int NOT NULL,
	s_phone char(15) NOT NULL, s_acctbal numeric(15,2) NOT NULL, s_comment varchar(101) NOT NULL);
-- five of 10,000 have complaints of customers, five recommendations
INSERT INTO supplier
	SELECT k, 'Supplier#' || lpad(k::text, 9, '0'), letters(k, 10, 10, 40), n, phone(k + 1000000000, n), (pick(k, 11, 1099999) - 99999) / 100.0,
		CASE k % 2000 WHEN 1 THEN 'Customer ' || substr(words, 1, (pick(k, 12, 20))::int) || ' Complaints'
			WHEN 2 THEN 'Customer ' || substr(words, 1, (pick(k, 12, 20))::int) || ' Recommends' ELSE substr(words, 1, (25 + pick(k, 13, 76))::int) END
	FROM (SELECT k, pick(k, 14, 25) AS n FROM generate_series(1, (10000 * :scale)::bigint) k) s JOIN phrases p ON p.i = pick(k, 15, 50000);

CREATE TABLE part (p_partkey int NOT NULL, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, p_brand char(10) NOT NULL, p_type varchar(25) NOT NULL,
	p_size int NOT NULL, p_container char(10) NOT NULL, p_retailprice numeric(15,2) NOT NULL, p_comment varchar(23) NOT NULL);
INSERT INTO part
	SELECT k, (SELECT string_agg(colours[1 + (pick(k, 20, 92) + j * (1 + 2 * pick(k, 21, 11))) % 92], ' ') FROM generate_series(0, 4) j),
		'Manufacturer#' || m, 'Brand#' || m || 1 + pick(k, 22, 5),
		pick(k, 23, 'STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO') || ' ' || pick(k, 24, 'ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED')
			|| ' ' || pick(k, 25, 'TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'),
		1 + pick(k, 26, 50), pick(k, 27, 'SM', 'LG', 'MED', 'JUMBO', 'WRAP') || ' ' || pick(k, 28, 'CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'),
		(90000 + (k / 10) % 20001 + 100 * (k % 1000)) / 100.0, substr(words, 1, (5 + pick(k, 29, 18))::int)
	FROM (SELECT k, 1 + pick(k, 30, 5) AS m FROM generate_series(1, (200000 * :scale)::bigint) k) s JOIN phrases p ON p.i = pick(k, 31, 50000),
		LATERAL (SELECT string_to_array('almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow', ' ')) c (colours);

CREATE TABLE partsupp (ps_partkey int NOT NULL, ps_suppkey int NOT NULL, ps_availqty int NOT NULL, ps_supplycost numeric(15,2) NOT NULL, ps_comment varchar(199) NOT NULL);
-- the i-th of the four suppliers of a part
CREATE FUNCTION supplier_of(part bigint, i bigint, suppliers bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN (part + i * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1;
INSERT INTO partsupp
	SELECT k, supplier_of(k, j, (10000 * :scale)::bigint), 1 + pick(k * 4 + j, 40, 9999), (100 + pick(k * 4 + j, 41, 99901)) / 100.0, substr(words, 1, (49 + pick(k * 4 + j, 42, 151))::int)
	FROM generate_series(1, (200000 * :scale)::bigint) k CROSS JOIN generate_series(0, 3) j JOIN phrases p ON p.i = pick(k * 4 + j, 43, 50000);

CREATE TABLE customer (c_custkey int NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, c_nationkey int NOT NULL, c_phone char(15) NOT NULL,
	c_acctbal numeric(15,2) NOT NULL, c_mktsegment char(10) NOT NULL, c_comment varchar(117) NOT NULL);
INSERT INTO customer
	SELECT k, 'Customer#' || lpad(k::text, 9, '0'), letters(k, 50, 10, 40), n, phone(k, n), (pick(k, 51, 1099999) - 99999) / 100.0,
		pick(k, 52, 'AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD'), substr(words, 1, (29 + pick(k, 53, 88))::int)
	FROM (SELECT k, pick(k, 54, 25) AS n FROM generate_series(1, (150000 * :scale)::bigint) k) s JOIN phrases p ON p.i = pick(k, 55, 50000);

-- eight of 32 keys are used, and two of three customers have orders
CREATE TEMP TABLE placed AS
	SELECT (i / 8) * 32 + i % 8 + 1 AS k, 1 + 3 * (c / 2) + c % 2 AS customer, date '1992-01-01' + pick(i, 61, 2406)::int AS day
	FROM (SELECT i, pick(i, 60, (100000 * :scale)::bigint) AS c FROM generate_series(0, (1500000 * :scale)::bigint - 1) i) s;

CREATE TABLE lineitem (l_orderkey int NOT NULL, l_partkey int NOT NULL, l_suppkey int NOT NULL, l_linenumber int NOT NULL, l_quantity numeric(15,2) NOT NULL,
	l_extendedprice numeric(15,2) NOT NULL, l_discount numeric(15,2) NOT NULL, l_tax numeric(15,2) NOT NULL, l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL,
	l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL, l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL);
INSERT INTO lineitem
	SELECT k, part, supplier_of(part, pick(id, 71, 4), (10000 * :scale)::bigint), line, quantity, quantity * (90000 + (part / 10) % 20001 + 100 * (part % 1000)) / 100.0,
		pick(id, 72, 11) / 100.0, pick(id, 73, 9) / 100.0, CASE WHEN received <= date '1995-06-17' THEN pick(id, 74, 'R', 'A') ELSE 'N' END,
		CASE WHEN shipped > date '1995-06-17' THEN 'O' ELSE 'F' END, shipped, day + 30 + pick(id, 75, 61)::int, received,
		pick(id, 76, 'DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'), pick(id, 77, 'REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'),
		substr(words, 1, (10 + pick(id, 78, 34))::int)
	FROM (SELECT *, shipped + 1 + pick(id, 79, 30)::int AS received
		FROM (SELECT *, 1 + pick(id, 80, (200000 * :scale)::bigint) AS part, 1 + pick(id, 81, 50) AS quantity, day + 1 + pick(id, 82, 121)::int AS shipped
			FROM (SELECT k, day, line, k * 8 + line AS id FROM placed, generate_series(1, 1 + pick(k, 70, 7)) line) a) b) c
	JOIN phrases p ON p.i = pick(id, 83, 50000);

CREATE TABLE orders (o_orderkey int NOT NULL, o_custkey int NOT NULL, o_orderstatus char(1) NOT NULL, o_totalprice numeric(15,2) NOT NULL, o_orderdate date NOT NULL,
	o_orderpriority char(15) NOT NULL, o_clerk char(15) NOT NULL, o_shippriority int NOT NULL, o_comment varchar(79) NOT NULL);
INSERT INTO orders
	SELECT k, customer, status, total, day, pick(k, 62, '1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'),
		'Clerk#' || lpad((1 + pick(k, 63, greatest(1, (1000 * :scale)::bigint)))::text, 9, '0'), 0, substr(words, 1, (19 + pick(k, 64, 60))::int)
	FROM placed JOIN (SELECT l_orderkey, CASE WHEN bool_and(l_linestatus = 'F') THEN 'F' WHEN bool_and(l_linestatus = 'O') THEN 'O' ELSE 'P' END AS status,
			sum(round(l_extendedprice * (1 + l_tax) * (1 - l_discount), 2)) AS total FROM lineitem GROUP BY 1) l ON l_orderkey = k
	JOIN phrases p ON p.i = pick(k, 65, 50000);

ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey), ADD FOREIGN KEY (s_nationkey) REFERENCES nation;
ALTER TABLE part ADD PRIMARY KEY (p_partkey);
ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey), ADD FOREIGN KEY (ps_partkey) REFERENCES part, ADD FOREIGN KEY (ps_suppkey) REFERENCES supplier;
ALTER TABLE customer ADD PRIMARY KEY (c_custkey), ADD FOREIGN KEY (c_nationkey) REFERENCES nation;
ALTER TABLE orders ADD PRIMARY KEY (o_orderkey), ADD FOREIGN KEY (o_custkey) REFERENCES customer;
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber), ADD FOREIGN KEY (l_orderkey) REFERENCES orders,
	ADD FOREIGN KEY (l_partkey, l_suppkey) REFERENCES partsupp;
DROP FUNCTION pick(bigint, int, bigint), pick(bigint, int, text[]), letters, phone, supplier_of;
VACUUM (FREEZE, ANALYZE);
