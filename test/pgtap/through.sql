-- Tables whose rows belong to people through a foreign key.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE owner2 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, owner2;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('shop', default_rho => 8000, max_groups => 3, max_rows => 8);
SELECT dp_cdp.create_dataset('other');
SELECT dp_cdp.set_budget('shop', 'analyst1', rho => 1e6);

CREATE TABLE customers (cust int PRIMARY KEY, segment text NOT NULL);
INSERT INTO customers SELECT i, (ARRAY['a', 'b', 'c'])[i % 3 + 1] FROM generate_series(1, 30) i;
-- up to 2 orders of each; some of nobody
CREATE TABLE orders (id int PRIMARY KEY, cust int REFERENCES customers, amount int NOT NULL, day date NOT NULL, code text UNIQUE);
INSERT INTO orders SELECT i * 10, CASE WHEN i % 11 <> 0 THEN i % 20 + 1 END, i, date '2024-01-01' + i % 5, 'c' || i FROM generate_series(1, 40) i;
-- up to 2 lines of each; some of no order
CREATE TABLE lines (id int PRIMARY KEY, oid int REFERENCES orders, pos smallint NOT NULL, qty int NOT NULL, product int NOT NULL, UNIQUE (oid, pos));
INSERT INTO lines SELECT i, CASE WHEN i % 17 <> 0 THEN (i % 35 + 1) * 10 END, i / 35, i % 7, i % 3 FROM generate_series(1, 69) i;
-- by two columns
CREATE TABLE notes (oid int, pos int, stars int NOT NULL, FOREIGN KEY (oid, pos) REFERENCES lines (oid, pos));
INSERT INTO notes SELECT oid, pos, id % 5 FROM lines WHERE id % 2 = 0;
INSERT INTO notes VALUES (NULL, 1, 1), (10, NULL, 1);
CREATE TABLE products (product int PRIMARY KEY, kind text NOT NULL);
INSERT INTO products VALUES (0, 'x'), (1, 'y'), (2, 'x');
GRANT SELECT ON products TO analyst1;

SELECT dp_cdp.protect_table('customers', 'shop', 'cust');
SELECT dp_cdp.protect_table('orders', 'shop', through => 'cust');
SELECT dp_cdp.protect_table('lines', 'shop', through => 'oid');
SELECT dp_cdp.protect_table('notes', 'shop', through => 'pos, oid');
SELECT dp_cdp.set_keys('customers', 'segment', ARRAY['a', 'b', 'c']);
SELECT dp_cdp.set_keys('lines', 'product', ARRAY[0, 1, 2]);
CREATE VIEW facts AS SELECT l.qty, l.product, o.amount, o.id AS order_no, c.segment AS seg
	FROM lines l JOIN orders o ON l.oid = o.id JOIN customers c ON c.cust = o.cust;
CREATE VIEW bare AS SELECT qty AS n, product AS p FROM lines;
GRANT SELECT ON facts, bare TO analyst1;
RESET SESSION AUTHORIZATION;

\ir analyst.psql
\ir same.psql

-- rows that belong to somebody
CREATE VIEW somebodys AS
	SELECT l.*, o.cust, o.amount, o.day FROM lines l JOIN orders o ON o.id = l.oid JOIN customers c ON c.cust = o.cust;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- policies
-- ------------------------------------------------------------------------

SELECT is((SELECT array_agg(format('%s %s %s', "table", unit, through) ORDER BY "table"::text) FROM dp_cdp.protected),
	'{"customers cust ","lines  oid","notes  oid, pos","orders  cust"}', 'the view of policies');
-- what owner1 calls
CREATE FUNCTION owner1(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := 'done';
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION owner1';
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN result;
END $$;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE plain (id int PRIMARY KEY);
CREATE TABLE late (id int PRIMARY KEY, oid int, code varchar(10), num char(10) REFERENCES orders (code), own int REFERENCES late, pub int REFERENCES plain,
	line int REFERENCES lines, twice int REFERENCES lines REFERENCES orders);
ALTER TABLE late ADD FOREIGN KEY (oid) REFERENCES orders NOT VALID;
ALTER TABLE late ADD FOREIGN KEY (code) REFERENCES orders (code);
CREATE TABLE parent (id int PRIMARY KEY, oid int REFERENCES orders);
CREATE TABLE child () INHERITS (parent);
RESET SESSION AUTHORIZATION;
SELECT matches(owner1(format('SELECT dp_cdp.protect_table(%s)', q)), '^ZC004 .*' || m, q) FROM (VALUES
	($$'late', 'shop', 'oid', 'oid'$$, 'exclude each other'),
	($$'late', 'shop', through => ''$$, 'must name the columns'),
	($$'late', 'shop', through => ' , '$$, 'must name the columns'),
	($$'late', 'shop', through => 'nothing'$$, 'has no column "nothing"'),
	($$'late', 'shop', through => 'ctid'$$, 'has no column "ctid"'),
	($$'late', 'shop', through => 'line, line'$$, 'twice'),
	($$'late', 'shop', through => 'id'$$, 'has no foreign key on just these'),
	($$'late', 'shop', through => 'line, oid'$$, 'has no foreign key on just these'),
	($$'late', 'shop', through => 'oid'$$, 'is not validated'),
	($$'late', 'shop', through => 'num'$$, 'take different values for equal'),
	($$'late', 'shop', through => 'pub'$$, 'references a table that is not protected'),
	($$'late', 'shop', through => 'own'$$, 'not protected'),
	($$'late', 'other', through => 'line'$$, 'of another dataset'),
	($$'late', 'shop', through => 'twice'$$, 'several foreign keys'),
	($$'parent', 'shop', through => 'oid'$$, 'children by INHERITS'),
	($$'lines', 'shop', each_row => true$$, 'already protected in dataset "shop" with another privacy unit'),
	($$'lines', 'shop', 'oid'$$, 'already protected in dataset "shop" with another privacy unit'),
	($$'customers', 'shop', through => 'cust'$$, 'has no foreign key'),
	($$'late', NULL, through => 'line'$$, 'dataset')
	) AS v (q, m);
SELECT is(owner1($$SELECT dp_cdp.protect_table('late', 'shop', through => 'code')$$), 'done', 'varchar that references text');
SELECT is(owner1($$SELECT dp_cdp.protect_table('late', 'shop', through => ' "code" ')$$), 'done', 'again');
SELECT matches(owner1(q), m, q) FROM (VALUES
	('ALTER TABLE late DROP COLUMN code', '^2BP01 rows of table "late" belong to people through column "code"'),
	('SECURITY LABEL FOR dp_cdp ON COLUMN late.code IS NULL', '^ZC004 the privacy unit .* cannot be changed'),
	($$SECURITY LABEL FOR dp_cdp ON COLUMN late.line IS '{"through": true}'$$, '^ZC004 the privacy unit .* cannot be changed'),
	($$SECURITY LABEL FOR dp_cdp ON TABLE late IS '{"dataset": "shop"}'$$, '^ZC004 .*already protected'),
	($$SECURITY LABEL FOR dp_cdp ON TABLE late IS '{"dataset": "shop", "unit": true, "through": 1}'$$, '^ZC004 .*not a security label'),
	($$SECURITY LABEL FOR dp_cdp ON TABLE late IS '{"dataset": "shop", "through": 0}'$$, '^ZC004 .*not a security label'),
	($$SECURITY LABEL FOR dp_cdp ON TABLE late IS '{"dataset": "shop", "through": true}'$$, '^ZC004 .*not a security label'),
	('ALTER TABLE late RENAME code TO kode', '^done'),
	($$SELECT dp_cdp.set_keys('late', 'kode', ARRAY['c1', 'c2'])$$, '^done')
	) AS v (q, m);
INSERT INTO late (id, kode) VALUES (1, 'c1'), (2, 'c1'), (3, 'c2'), (4, NULL), (5, 'c12');
SELECT is((run_as_analyst($$SELECT dp_cdp_internal.through_problem('lines')$$)).failure, NULL, 'anybody may ask what is wrong');
SELECT is((SELECT array_agg(dp_cdp_internal.through_problem(t)) FROM unnest('{customers,orders,notes,plain}'::regclass[]) t), '{NULL,NULL,NULL,NULL}', 'nothing is');

-- ------------------------------------------------------------------------
-- one table by itself
-- ------------------------------------------------------------------------

SELECT same('SELECT count(*) AS n, count(*) FILTER (WHERE amount > 20) AS s FROM orders', 'orders alone',
	'SELECT count(*) AS n, count(*) FILTER (WHERE amount > 20) AS s FROM orders WHERE cust IS NOT NULL');
SELECT same('SELECT count(*) AS n, count(*) FILTER (WHERE qty > 3) AS s FROM lines', 'a chain of three', 'SELECT count(*) AS n, count(*) FILTER (WHERE qty > 3) AS s FROM somebodys');
SELECT same('SELECT product, count(*) FILTER (WHERE qty > 3) AS s FROM lines WHERE pos < 2 GROUP BY product ORDER BY 1', 'a chain of three, with conditions and keys',
	'SELECT product, count(*) FILTER (WHERE qty > 3) AS s FROM somebodys WHERE pos < 2 GROUP BY product ORDER BY 1');
SELECT same('SELECT count(*) AS n, count(*) FILTER (WHERE stars > 2) AS s FROM notes', 'a chain of four, the last by two columns',
	'SELECT count(*) AS n, count(*) FILTER (WHERE stars > 2) AS s FROM notes n JOIN somebodys s ON s.oid = n.oid AND s.pos = n.pos');
SELECT same('SELECT kind, count(*) AS n FROM lines JOIN products USING (product) GROUP BY kind ORDER BY 1', 'with a public table',
	'SELECT kind, count(*) AS n FROM somebodys JOIN products USING (product) GROUP BY kind ORDER BY 1');
SELECT same('SELECT count(*) AS n, count(*) FILTER (WHERE n > 3) AS s FROM bare', 'through a view that renames and leaves the key out',
	'SELECT count(*) AS n, count(*) FILTER (WHERE qty > 3) AS s FROM somebodys');

-- ------------------------------------------------------------------------
-- joins along the keys
-- ------------------------------------------------------------------------

SELECT same(q, q) FROM unnest(ARRAY[
	'SELECT count(*) AS n FROM orders o JOIN customers c ON o.cust = c.cust',
	'SELECT segment, count(*) FILTER (WHERE qty > 3) AS s FROM customers, orders, lines WHERE lines.oid = orders.id AND customers.cust = orders.cust GROUP BY segment ORDER BY 1',
	'SELECT segment, count(*) FILTER (WHERE qty > 3) AS s FROM lines l JOIN (orders o JOIN customers c USING (cust)) ON o.id = l.oid GROUP BY segment ORDER BY 1',
	'SELECT count(*) FILTER (WHERE stars > 2) AS s FROM notes n JOIN lines l ON n.oid = l.oid AND l.pos = n.pos JOIN orders o ON o.id = l.oid JOIN customers c ON c.cust = o.cust',
	'SELECT seg, count(*) FILTER (WHERE qty > 3) AS s FROM facts GROUP BY seg ORDER BY 1',
	'SELECT count(*) AS n FROM facts f JOIN orders o ON o.id = f.order_no',
	'SELECT count(*) AS s FROM (SELECT o.cust, count(*) AS n FROM lines l JOIN orders o ON l.oid = o.id JOIN customers c ON c.cust = o.cust GROUP BY o.cust) q WHERE n < 4'
	]) AS q;
-- two children of one parent, and the same table twice
SELECT same('SELECT count(*) AS n FROM lines a JOIN lines b ON a.oid = b.oid', 'a self-join on the foreign key',
	'SELECT count(*) AS n FROM somebodys a JOIN somebodys b ON a.oid = b.oid');
SELECT same('SELECT count(*) AS n FROM lines a JOIN lines b ON a.id = b.id', 'a self-join on the primary key',
	'SELECT count(*) AS n FROM somebodys');
SELECT same('SELECT count(*) AS n FROM lines a JOIN notes b ON a.oid = b.oid AND a.pos = b.pos', 'a child and its parent, without the table of people',
	'SELECT count(*) AS n FROM somebodys a JOIN notes b ON a.oid = b.oid AND a.pos = b.pos');
SELECT same('SELECT count(*) AS n FROM lines a JOIN lines b ON a.oid IS NOT DISTINCT FROM b.oid', 'IS NOT DISTINCT FROM of keys',
	'SELECT count(*) AS n FROM somebodys a JOIN somebodys b ON a.oid = b.oid');
-- outer joins
SELECT same('SELECT count(*) AS n, count(o.id) AS m, count(l.id) AS k FROM customers c LEFT JOIN orders o ON o.cust = c.cust LEFT JOIN lines l ON l.oid = o.id',
	'left joins from the people');
SELECT same('SELECT count(*) AS n, count(o.id) AS m FROM lines l LEFT JOIN orders o ON o.id = l.oid AND o.amount > 20',
	'a left join from the child', 'SELECT count(*) AS n, count(*) FILTER (WHERE amount > 20) AS m FROM somebodys');
SELECT same('SELECT segment, count(*) AS n FROM lines l LEFT JOIN orders o ON o.id = l.oid LEFT JOIN customers c ON c.cust = o.cust GROUP BY segment ORDER BY 1',
	'a chain of left joins from the child',
	'SELECT segment, count(s.id) AS n FROM (SELECT DISTINCT segment FROM customers UNION ALL SELECT NULL) k LEFT JOIN customers c USING (segment) LEFT JOIN somebodys s USING (cust) GROUP BY segment ORDER BY 1');
SELECT same('SELECT count(*) AS n FROM lines l LEFT JOIN orders o ON o.id = l.oid JOIN customers c ON c.cust = o.cust',
	'an inner join above the null-extended side', 'SELECT count(*) AS n FROM somebodys');
SELECT same('SELECT count(*) AS n FROM orders o RIGHT JOIN lines l ON o.id = l.oid', 'a right join', 'SELECT count(*) AS n FROM somebodys');
SELECT same('SELECT count(*) AS n, count(o.id) FILTER (WHERE amount > 20) AS m FROM lines l LEFT JOIN orders o ON o.id = l.oid JOIN lines k ON k.oid = l.oid',
	'a left join from the child, joined further', 'SELECT count(*) AS n, count(*) FILTER (WHERE l.amount > 20) AS m FROM somebodys l JOIN somebodys k ON k.oid = l.oid');
SELECT same('SELECT kind, count(l.id) AS n FROM products p LEFT JOIN lines l USING (product) GROUP BY kind ORDER BY 1', 'a public table to the left of a child',
	'SELECT kind, count(l.id) AS n FROM products p LEFT JOIN somebodys l USING (product) GROUP BY kind ORDER BY 1');
SELECT same('SELECT kind, count(o.id) AS n FROM products p LEFT JOIN (lines l JOIN orders o ON o.id = l.oid AND o.amount > 20) USING (product) GROUP BY kind ORDER BY 1',
	'a public table to the left of a chain',
	'SELECT kind, count(l.id) AS n FROM products p LEFT JOIN (SELECT * FROM somebodys WHERE amount > 20) l USING (product) GROUP BY kind ORDER BY 1');

-- ------------------------------------------------------------------------
-- what is joined inside
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.set_budget('shop', 'owner1', rho => 1e6);
CREATE TABLE tours (tour int PRIMARY KEY, cust int, day int NOT NULL);
INSERT INTO tours SELECT i, i % 500, i % 30 FROM generate_series(1, 3000) i;
CREATE TABLE steps (tour int NOT NULL REFERENCES tours, metres int NOT NULL);
INSERT INTO steps SELECT 1 + i % 3000, i % 100 FROM generate_series(1, 9000) i;
SELECT dp_cdp.protect_table('tours', 'shop', 'cust'), dp_cdp.protect_table('steps', 'shop', through => 'tour');
ANALYZE tours, steps;
RESET SESSION AUTHORIZATION;
-- joins and conditions of the plan that reads rows, as the owner sees it
CREATE FUNCTION inside(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text[] := '{}';
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION owner1';
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Join|Nested Loop|Cond:|Filter:' AND line !~ 'Removed' THEN
			found := found || trim(regexp_replace(line, '^ *(-> *)?|\(actual.*', '', 'g'));
		END IF;
	END LOOP;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN array_to_string(found, '; ');
END $$;
SET max_parallel_workers_per_gather = 0;
SELECT is(inside('SELECT dp_count(*) FROM steps WHERE metres > 5'), one, 'a parent that is needed for nothing but the unit costs one join')
	FROM (VALUES ('Custom Scan (DpKeyJoin); Key Cond: (steps.tour = tours.tour); Filter: (metres > 5); Filter: (cust IS NOT NULL)')) AS v (one);
SELECT is(inside(q), 'Custom Scan (DpKeyJoin); Key Cond: (s.tour = t.tour); Filter: (cust IS NOT NULL)', q) FROM unnest(ARRAY[
	'SELECT dp_count(*) FROM steps s JOIN tours t ON s.tour = t.tour', 'SELECT dp_count(*) FROM tours t, steps s WHERE s.tour = t.tour']) AS q;
SELECT unalike(inside('SELECT dp_count(*) FROM steps s LEFT JOIN tours t ON s.tour = t.tour WHERE metres > 5'), '%Join%Join%',
	'a LEFT JOIN on the key alone needs the parent once');
SELECT unalike(inside('SELECT dp_count(*) FROM steps a JOIN steps b ON a.tour = b.tour'), '%Join%Join%Join%', 'two of one parent are joined with it once');
SELECT dp_cdp.drop_budget('shop', 'owner1');

-- ------------------------------------------------------------------------
-- groups of one parent's rows
-- ------------------------------------------------------------------------

SELECT same('SELECT count(*) AS n FROM (SELECT oid, sum(qty) AS s FROM lines GROUP BY oid HAVING sum(qty) > 5) q', 'groups by the foreign key',
	'SELECT count(*) AS n FROM (SELECT oid, sum(qty) AS s FROM somebodys GROUP BY oid HAVING sum(qty) > 5) q');
SELECT same('SELECT count(*) AS n FROM (SELECT l.oid, l.product, sum(qty) AS s FROM lines l GROUP BY 1, 2) q', 'finer groups',
	'SELECT count(*) AS n FROM (SELECT oid, product, sum(qty) AS s FROM somebodys GROUP BY 1, 2) q');
SELECT same('SELECT count(*) AS n FROM (SELECT DISTINCT oid, product FROM lines) q JOIN orders o ON o.id = q.oid WHERE o.amount > 10', 'DISTINCT keys, joined with their parent',
	'SELECT count(*) AS n FROM (SELECT DISTINCT oid, product FROM somebodys WHERE amount > 10) q');
SELECT same('SELECT count(*) AS n FROM orders o JOIN (SELECT oid, count(*) AS c FROM lines GROUP BY oid) q ON q.oid = o.id AND q.c > 1', 'counts beside their parent',
	'SELECT count(*) AS n FROM (SELECT oid, count(*) AS c FROM somebodys GROUP BY oid) q WHERE c > 1');
SELECT matches((run_as_analyst(q)).failure, m, q) FROM (VALUES
	('SELECT oid, count(*) FROM lines GROUP BY oid', '^ZC002 grouping by "oid" would show single persons'),
	('SELECT id, count(*) FROM orders GROUP BY id', '^ZC002 grouping by "id" would show'),
	('SELECT DISTINCT oid FROM lines', '^ZC002 grouping by "oid"'),
	('SELECT product, oid, count(*) FROM lines GROUP BY oid, product', '^ZC002 grouping by "oid"')
	) AS v (q, m);

-- ------------------------------------------------------------------------
-- joins that connect nothing
-- ------------------------------------------------------------------------

SELECT matches(asked(q), m, q) FROM (VALUES
	('SELECT count(*) FROM lines l JOIN orders o ON l.id = o.id', '^ZC002 .*; add l\.oid = o\.id to the join''s condition'),
	('SELECT count(*) FROM lines l, orders o WHERE l.oid > o.id', '^ZC002 .*add l\.oid = o\.id'),
	('SELECT count(*) FROM notes n JOIN lines l ON n.oid = l.oid', '^ZC002 .*n\.pos = l\.pos'),
	('SELECT count(*) FROM lines a JOIN lines b ON a.product = b.product', '^ZC002 .*add a\.oid = b\.oid'),
	('SELECT count(*) FROM lines l JOIN customers c ON c.cust = l.qty', '^ZC002 .*"lines" \(l\).* through table "orders"; join that table, too'),
	('SELECT count(*) FROM lines l LEFT JOIN orders o ON o.id = l.oid OR o.amount = 1', '^ZC002'),
	-- what an outer join may have replaced by NULLs is nobody's name
	('SELECT count(*) FROM (customers c LEFT JOIN orders o ON o.cust = c.cust) JOIN lines l ON l.oid IS NOT DISTINCT FROM o.id', '^ZC002'),
	('SELECT count(*) FROM (SELECT o.id, count(*) AS n FROM customers c LEFT JOIN orders o ON o.cust = c.cust GROUP BY o.id) q', '^ZC002|^\[')
	) AS v (q, m);

-- ------------------------------------------------------------------------
-- keys that are gone, and rows that reference nothing
-- ------------------------------------------------------------------------

SET session_replication_role = replica;
INSERT INTO lines VALUES (1001, 99990, 1, 5, 0), (1002, 99990, 2, 5, 0);
RESET session_replication_role;
SELECT same('SELECT count(*) AS n FROM lines', 'rows that reference nothing', 'SELECT count(*) AS n FROM somebodys');
SELECT same('SELECT count(*) AS n FROM (SELECT oid, count(*) AS c FROM lines GROUP BY oid) q', 'groups of them',
	'SELECT count(DISTINCT oid) AS n FROM somebodys');
DELETE FROM lines WHERE id > 1000;

-- after a statement of the owner, what the analyst gets and what the owner is told
CREATE FUNCTION after(statement text, query text, complaint text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT is(owner1(statement), 'done', statement);
	RETURN NEXT matches(asked(query), '^ZC004 rows of table .* belong to people through .*, but .*' || complaint, statement || ': ' || query);
	RETURN NEXT matches((SELECT string_agg(finding, E'\n') FROM dp_cdp.check_setup()), 'nothing is released from it: [^\n]*' || complaint, statement || ': check_setup()');
END $$;
SELECT after('ALTER TABLE lines DROP CONSTRAINT lines_oid_fkey', 'SELECT count(*) FROM lines l JOIN orders o ON o.id = l.oid', 'no foreign key');
SELECT after('ALTER TABLE lines ADD CONSTRAINT lines_oid_fkey FOREIGN KEY (oid) REFERENCES orders NOT VALID', 'SELECT count(*) FROM lines', 'not validated');
SELECT is(owner1('ALTER TABLE lines VALIDATE CONSTRAINT lines_oid_fkey'), 'done', 'validated');
SELECT same('SELECT count(*) AS n FROM lines', 'a key that is there again', 'SELECT count(*) AS n FROM somebodys');
SELECT after($$SELECT dp_cdp.unprotect_table('orders')$$, 'SELECT count(*) FROM lines', 'not protected');
SELECT matches(asked('SELECT count(*) FROM notes'), '^ZC004 rows of table "lines" .* not protected', 'a chain that is broken above');
SELECT after($$SELECT dp_cdp.protect_table('orders', 'other', 'cust')$$, 'SELECT count(*) FROM lines', 'of another dataset');
SELECT is(owner1($$SELECT dp_cdp.unprotect_table('orders')$$), 'done', 'unprotected');
-- a circle made after protecting
SET SESSION AUTHORIZATION owner1;
ALTER TABLE orders ADD COLUMN line int REFERENCES lines;
RESET SESSION AUTHORIZATION;
SELECT matches(owner1($$SELECT dp_cdp.protect_table('orders', 'shop', through => 'line')$$), '^ZC004 .*not protected', 'a circle is refused');
SECURITY LABEL FOR dp_cdp ON TABLE orders IS '{"dataset": "shop", "through": 1}';
SECURITY LABEL FOR dp_cdp ON COLUMN orders.line IS '{"through": true}';
SELECT matches(asked(q), '^ZC004 rows of table "(lines|orders|l|o)" belong to nobody, because .* circle', q) FROM unnest(ARRAY[
	'SELECT count(*) FROM lines', 'SELECT count(*) FROM lines l JOIN orders o ON o.id = l.oid AND o.line = l.id']) AS q;
SELECT ok(EXISTS (SELECT FROM dp_cdp.check_setup() WHERE finding ~ 'circle'), 'a circle: check_setup()');
SELECT dp_cdp.unprotect_table('orders');
SELECT is(owner1($$SELECT dp_cdp.protect_table('orders', 'shop', through => 'cust')$$), 'done', 'as it was');
SELECT same('SELECT count(*) AS n FROM lines', 'as it was', 'SELECT count(*) AS n FROM somebodys');

-- ------------------------------------------------------------------------
-- tables that should be protected, and tables that replace others
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
CREATE TABLE returns (line int REFERENCES lines, reason text);
CREATE TABLE photos (oid int, pos smallint, FOREIGN KEY (pos, oid) REFERENCES lines (pos, oid));
GRANT SELECT ON returns TO analyst1;
CREATE TABLE lines_new (LIKE lines INCLUDING ALL);
RESET SESSION AUTHORIZATION;
SELECT is((SELECT array_agg(format('%s %s %s', severity, object, remedy) ORDER BY object) FROM dp_cdp.check_setup()
		WHERE finding LIKE 'references table%' AND object IN ('public.returns', 'public.photos')),
	ARRAY[$$warning public.photos SELECT dp_cdp.protect_table('public.photos', 'shop', through => 'pos, oid'); -- if its rows are nobody's: SELECT dp_cdp.forget_name('public.photos', 'shop')$$,
		$$critical public.returns SELECT dp_cdp.protect_table('public.returns', 'shop', through => 'line'); -- if its rows are nobody's: SELECT dp_cdp.forget_name('public.returns', 'shop')$$],
	'check_setup() proposes tables');
SELECT is(owner1($$SELECT dp_cdp.protect_table('photos', 'shop', through => 'pos, oid'); SELECT dp_cdp.forget_name('public.returns', 'shop')$$), 'done', 'its remedies run');
SELECT ok(NOT EXISTS (SELECT FROM dp_cdp.check_setup() WHERE finding LIKE 'references table%' AND object IN ('public.returns', 'public.photos')), 'and are remedies');
SELECT is(owner1($$SELECT dp_cdp.replace_table('lines', 'lines_new')$$), 'done', 'a table that lacks the key takes the policy');
SELECT matches(asked('SELECT count(*) FROM lines_new'), '^ZC004 .*no foreign key', 'and answers nothing');
SELECT is(owner1('ALTER TABLE lines_new ADD FOREIGN KEY (oid) REFERENCES orders; INSERT INTO lines_new SELECT * FROM lines'), 'done', 'until it has one');
SELECT same('SELECT count(*) AS n FROM lines_new', 'then it does', 'SELECT count(*) AS n FROM somebodys');

-- ------------------------------------------------------------------------
-- a unit that the foreign key names: its table is not read, and its policy counts
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
SET plan_cache_mode = force_generic_plan;
SET dp_cdp.max_rows = 2;
PREPARE orders_of AS SELECT round(dp_count(*))::int AS n FROM orders;
EXECUTE orders_of \gset before_
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.unprotect_table('customers') \g /dev/null
SELECT dp_cdp.protect_table('customers', 'shop', 'segment') \g /dev/null
SET SESSION AUTHORIZATION analyst1;
EXECUTE orders_of \gset other_
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.unprotect_table('customers') \g /dev/null
SELECT dp_cdp.protect_table('customers', 'shop', 'cust') \g /dev/null
SET SESSION AUTHORIZATION analyst1;
EXECUTE orders_of \gset again_
RESET SESSION AUTHORIZATION;
RESET plan_cache_mode;
RESET dp_cdp.max_rows;
SELECT is(:before_n, (SELECT count(*)::int FROM orders WHERE cust IS NOT NULL), 'rows of somebody');
SELECT is(:other_n, 6, 'another unit of the parent, of which three have two rows each that count');
SELECT is(:again_n, :before_n, '... and the first again');
SELECT dp_cdp.set_budget('shop', 'owner1', rho => 1e6) \g /dev/null
SELECT is(inside('SELECT dp_count(*) FROM orders'), 'Filter: (cust IS NOT NULL)', 'no table is looked up');
-- a table further up: it is read, so that plans depend on it
SET SESSION AUTHORIZATION owner1;
CREATE TABLE members (id int PRIMARY KEY, family int NOT NULL);
CREATE TABLE stays (id int PRIMARY KEY, member int NOT NULL REFERENCES members, UNIQUE (id, member));
CREATE TABLE meals (stay int, member int, FOREIGN KEY (stay, member) REFERENCES stays (id, member));
INSERT INTO members SELECT i, 1 FROM generate_series(1, 20) i;
INSERT INTO stays SELECT i, i FROM generate_series(1, 20) i;
INSERT INTO meals SELECT i, i FROM generate_series(1, 20) i;
SELECT dp_cdp.protect_table('members', 'shop', 'id'), dp_cdp.protect_table('stays', 'shop', through => 'member'), dp_cdp.protect_table('meals', 'shop', through => 'stay, member') \g /dev/null
SET SESSION AUTHORIZATION analyst1;
SET plan_cache_mode = force_generic_plan;
SET dp_cdp.max_rows = 1;
PREPARE meals_of AS SELECT round(dp_count(*))::int AS n FROM meals;
EXECUTE meals_of \gset before_
SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.unprotect_table('members'), dp_cdp.protect_table('members', 'shop', 'family') \g /dev/null
SET SESSION AUTHORIZATION analyst1;
EXECUTE meals_of \gset other_
RESET SESSION AUTHORIZATION;
RESET plan_cache_mode;
RESET dp_cdp.max_rows;
SELECT is(ARRAY[:before_n, :other_n], ARRAY[20, 1], 'twenty members are one family');

SELECT * FROM finish();
