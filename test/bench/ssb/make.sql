-- The tables of the Star Schema Benchmark (O'Neil, O'Neil, Chen: revision 3) at :scale; made by hashes of keys.
\set ON_ERROR_STOP on
SET work_mem = '256MB';
SET maintenance_work_mem = '512MB';

-- a whole number from 0 to n - 1, and one of the array, for a row and a column
CREATE FUNCTION pick(key bigint, col int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN (hashint8extended(key, col) & 9223372036854775807) % n;
CREATE FUNCTION pick(key bigint, col int, VARIADIC of text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN of[1 + pick(key, col, array_length(of, 1))];

-- ten cities in each nation, written as the first nine characters and a digit
CREATE TEMP TABLE places AS
	SELECT (i - 1)::int AS id, nation, region FROM unnest(
		'{ALGERIA,ARGENTINA,BRAZIL,CANADA,EGYPT,ETHIOPIA,FRANCE,GERMANY,INDIA,INDONESIA,IRAN,IRAQ,JAPAN,JORDAN,KENYA,MOROCCO,MOZAMBIQUE,PERU,CHINA,ROMANIA,SAUDI ARABIA,VIETNAM,RUSSIA,UNITED KINGDOM,UNITED STATES}'::text[],
		'{AFRICA,AMERICA,AMERICA,AMERICA,MIDDLE EAST,AFRICA,EUROPE,EUROPE,ASIA,ASIA,MIDDLE EAST,MIDDLE EAST,ASIA,MIDDLE EAST,AFRICA,AFRICA,AFRICA,AMERICA,ASIA,EUROPE,MIDDLE EAST,ASIA,EUROPE,EUROPE,AMERICA}'::text[])
		WITH ORDINALITY n (nation, region, i);

CREATE TABLE customer (c_custkey int PRIMARY KEY, c_name varchar(25) NOT NULL, c_address varchar(25) NOT NULL, c_city char(10) NOT NULL,
	c_nation char(15) NOT NULL, c_region char(12) NOT NULL, c_phone char(15) NOT NULL, c_mktsegment char(10) NOT NULL);
INSERT INTO customer
	SELECT k, 'Customer#' || lpad(k::text, 9, '0'), substr(md5(k::text), 1, 15), rpad(substr(nation, 1, 9), 9) || pick(k, 1, 10), nation, region,
		(10 + id) || '-' || 1000000 + pick(k, 2, 9000000), pick(k, 3, 'AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD')
	FROM generate_series(1, (30000 * :scale)::bigint) k JOIN places ON id = pick(k, 4, 25);

CREATE TABLE supplier (s_suppkey int PRIMARY KEY, s_name char(25) NOT NULL, s_address varchar(25) NOT NULL, s_city char(10) NOT NULL,
	s_nation char(15) NOT NULL, s_region char(12) NOT NULL, s_phone char(15) NOT NULL);
INSERT INTO supplier
	SELECT k, 'Supplier#' || lpad(k::text, 9, '0'), substr(md5(k || 's'), 1, 15), rpad(substr(nation, 1, 9), 9) || pick(k, 11, 10), nation, region,
		(10 + id) || '-' || 1000000 + pick(k, 12, 9000000)
	FROM generate_series(1, (2000 * :scale)::bigint) k JOIN places ON id = pick(k, 14, 25);

-- five manufacturers with five categories each, of forty brands
CREATE TABLE part (p_partkey int PRIMARY KEY, p_name varchar(22) NOT NULL, p_mfgr char(6) NOT NULL, p_category char(7) NOT NULL, p_brand1 char(9) NOT NULL,
	p_color varchar(11) NOT NULL, p_type varchar(25) NOT NULL, p_size int NOT NULL, p_container char(10) NOT NULL);
INSERT INTO part
	SELECT k, color || ' ' || pick(k, 21, 'lace', 'navy', 'snow', 'wheat'), 'MFGR#' || m, 'MFGR#' || m || c, 'MFGR#' || m || c || 1 + pick(k, 22, 40), color,
		pick(k, 23, 'STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO') || ' ' || pick(k, 24, 'TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'),
		1 + pick(k, 25, 50), pick(k, 26, 'SM', 'LG', 'MED', 'JUMBO', 'WRAP') || ' ' || pick(k, 27, 'CASE', 'BOX', 'BAG', 'JAR')
	FROM (SELECT k, 1 + pick(k, 28, 5) AS m, 1 + pick(k, 29, 5) AS c, pick(k, 20, 'almond', 'azure', 'beige', 'coral', 'ivory', 'lemon', 'olive', 'salmon') AS color
		FROM generate_series(1, (200000 * (1 + greatest(0, floor(log(2, greatest(1, :scale::numeric))))) * least(1, :scale::numeric))::bigint) k) s;

CREATE TABLE date (d_datekey int PRIMARY KEY, d_date char(18) NOT NULL, d_dayofweek char(9) NOT NULL, d_month char(9) NOT NULL, d_year int NOT NULL, d_yearmonthnum int NOT NULL,
	d_yearmonth char(7) NOT NULL, d_daynuminweek int NOT NULL, d_daynuminmonth int NOT NULL, d_daynuminyear int NOT NULL, d_monthnuminyear int NOT NULL,
	d_weeknuminyear int NOT NULL, d_sellingseason varchar(12) NOT NULL, d_lastdayinmonthfl boolean NOT NULL, d_holidayfl boolean NOT NULL, d_weekdayfl boolean NOT NULL);
INSERT INTO date
	SELECT to_char(d, 'YYYYMMDD')::int, to_char(d, 'FMMonth FMDD, YYYY'), to_char(d, 'FMDay'), to_char(d, 'FMMonth'), extract(year FROM d), to_char(d, 'YYYYMM')::int,
		to_char(d, 'MonYYYY'), extract(dow FROM d) + 1, extract(day FROM d), extract(doy FROM d), extract(month FROM d), (extract(doy FROM d)::int - 1) / 7 + 1,
		(ARRAY['Winter', 'Winter', 'Spring', 'Spring', 'Spring', 'Summer', 'Summer', 'Summer', 'Fall', 'Fall', 'Christmas', 'Christmas'])[extract(month FROM d)::int],
		extract(day FROM d + 1) = 1, to_char(d, 'MMDD') IN ('0101', '0704', '1225'), extract(isodow FROM d) < 6
	FROM (SELECT date '1992-01-01' + i AS d FROM generate_series(0, 2555) i) s;

CREATE TABLE lineorder (lo_orderkey int NOT NULL, lo_linenumber int NOT NULL, lo_custkey int NOT NULL, lo_partkey int NOT NULL, lo_suppkey int NOT NULL, lo_orderdate int NOT NULL,
	lo_orderpriority char(15) NOT NULL, lo_shippriority char(1) NOT NULL, lo_quantity int NOT NULL, lo_extendedprice int NOT NULL, lo_ordtotalprice int NOT NULL,
	lo_discount int NOT NULL, lo_revenue int NOT NULL, lo_supplycost int NOT NULL, lo_tax int NOT NULL, lo_commitdate int NOT NULL, lo_shipmode char(10) NOT NULL);
INSERT INTO lineorder
	SELECT k, line, customer, part, 1 + pick(id, 40, greatest(1, (2000 * :scale)::bigint)), to_char(day, 'YYYYMMDD')::int,
		pick(k, 41, '1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECI', '5-LOW'), '0', quantity, price, price * 4, discount, price * (100 - discount) / 100,
		(60 + pick(part, 42, 10)) * (price / quantity) / 100, pick(id, 43, 9), to_char(day + 30 + pick(id, 44, 60)::int, 'YYYYMMDD')::int,
		pick(id, 45, 'REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB')
	FROM (SELECT *, (quantity * (90000 + (part / 10) % 20001 + 100 * (part % 1000)) / 100)::int AS price FROM (
		SELECT k, line, k * 8 + line AS id, 1 + pick(k, 46, (30000 * :scale)::bigint) AS customer, 1 + pick(k * 8 + line, 47, (SELECT count(*) FROM part)) AS part,
			date '1992-01-01' + pick(k, 48, 2406)::int AS day, (1 + pick(k * 8 + line, 49, 50))::int AS quantity, pick(k * 8 + line, 50, 11)::int AS discount
		FROM generate_series(1, (1500000 * :scale)::bigint) k, generate_series(1, 1 + pick(k, 51, 7)) line) a) b;
ALTER TABLE lineorder ADD PRIMARY KEY (lo_orderkey, lo_linenumber), ADD FOREIGN KEY (lo_custkey) REFERENCES customer, ADD FOREIGN KEY (lo_partkey) REFERENCES part,
	ADD FOREIGN KEY (lo_suppkey) REFERENCES supplier, ADD FOREIGN KEY (lo_orderdate) REFERENCES date;
DROP FUNCTION pick(bigint, int, bigint), pick(bigint, int, text[]);
VACUUM (FREEZE, ANALYZE);
