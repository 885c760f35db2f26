-- Declared keys of a column that can be NULL have NULL among them, so that groups add up to all rows.
-- The noise is too small to be seen, and every group that can have rows has some, so that answers are
-- compared with the owner's plain SQL.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE DOMAIN filled AS text NOT NULL;
CREATE DOMAIN filled_too AS filled;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE wards (ward int PRIMARY KEY, name text NOT NULL, floor int);
INSERT INTO wards VALUES (1, 'north', 1), (2, 'south', NULL);
CREATE TABLE depts (dept text PRIMARY KEY, building text NOT NULL);
INSERT INTO depts VALUES ('a', 'main'), ('b', 'side');
-- dept, sex, ward, mood and paid are NULL in a third of the rows each, and in all combinations
CREATE TABLE payslips (id int PRIMARY KEY, person int NOT NULL, dept text, sex text, ward int REFERENCES wards, mood mood, paid boolean,
	day date, amount int NOT NULL);
INSERT INTO payslips SELECT i, i, (ARRAY['a', 'b', NULL])[1 + i % 3], (ARRAY['f', 'm', NULL])[1 + i / 3 % 3], (ARRAY[1, 2, NULL])[1 + i / 9 % 3],
	(ARRAY['good', 'bad', NULL]::mood[])[1 + i / 27 % 3], (ARRAY[true, false, NULL])[1 + i / 81 % 3],
	(ARRAY[date '2024-01-15', '2024-02-15', NULL])[1 + i / 243 % 3], i % 7 FROM generate_series(1, 1458) i;
-- columns without NULL, by whatever says so, or seems to
CREATE TABLE notes (id int PRIMARY KEY, strict text NOT NULL, checked text CHECK (checked IS NOT NULL AND length(checked) < 9),
	weak text CHECK (weak IN ('a', 'b')), filled filled, filled_too filled_too, late text, inner_only text CHECK (inner_only IS NOT NULL) NO INHERIT);
INSERT INTO notes SELECT i, k, k, k, k, k, k, k FROM (SELECT i, substr('ab', 1 + i % 2, 1) AS k FROM generate_series(1, 40) i) q;
ALTER TABLE notes ADD CONSTRAINT late CHECK (late IS NOT NULL) NOT VALID;
CREATE TABLE parent (id int, k text NOT NULL, c text CHECK (c IS NOT NULL));
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT i, 'a', 'a' FROM generate_series(1, 20) i;
CREATE TABLE months (id int, k text NOT NULL, month date NOT NULL) PARTITION BY LIST (k);
CREATE TABLE months_a PARTITION OF months FOR VALUES IN ('a', 'b');
INSERT INTO months SELECT i, 'a', '2024-01-01' FROM generate_series(1, 20) i;
SELECT dp_cdp.create_dataset('pay', find_bounds => 0, default_rho => 5000, max_rows => 2, max_groups => 2);
SELECT dp_cdp.protect_table('payslips', 'pay', 'person'), dp_cdp.protect_table(t, 'pay', each_row => true) FROM unnest('{notes,parent,months}'::regclass[]) t;
SELECT dp_cdp.set_keys('payslips', 'dept', ARRAY['a', 'b']), dp_cdp.set_keys('payslips', 'sex', ARRAY['f', 'm']);
SELECT dp_cdp.set_bounds('payslips', 'day', '2024-01-01', '2024-02-29'), dp_cdp.set_bounds('payslips', 'amount', 0, 10);
SELECT dp_cdp.set_keys('notes', c, ARRAY['a', 'b']) FROM unnest('{strict,checked,weak,filled,filled_too,late,inner_only}'::name[]) c;
SELECT dp_cdp.set_keys('parent', c, ARRAY['a']) FROM unnest('{k,c}'::name[]) c;
SELECT dp_cdp.set_keys('months', 'k', ARRAY['a']);
SELECT dp_cdp.set_budget('pay', 'analyst1', rho => 1e6);
GRANT SELECT ON wards, depts TO analyst1;
CREATE VIEW known AS SELECT * FROM payslips WHERE dept IS NOT NULL;
GRANT SELECT ON known TO analyst1;
RESET SESSION AUTHORIZATION;

\ir analyst.psql
\ir same.psql

CREATE FUNCTION owned(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION owner1';
	EXECUTE statement;
	EXECUTE 'RESET SESSION AUTHORIZATION';
END $$;
-- the groups by a column of a table, each with its number of rows
CREATE FUNCTION groups(of text, key text) RETURNS text LANGUAGE sql AS $$ SELECT rows_for('analyst1', format('SELECT %s, count(*) FROM %s GROUP BY 1', key, of)) $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- which columns have the key NULL
-- ------------------------------------------------------------------------

SELECT is((SELECT string_agg(c || array_to_string(dp_cdp.declared_keys('payslips', c), ',', '-'), ' ') FROM unnest('{dept,sex,ward,mood,paid}'::name[]) c),
	'depta,b,- sexf,m,- ward1,2,- moodgood,bad,- paidf,t,-', 'where a column can be NULL, NULL is the last key');
SELECT is((SELECT string_agg(c || ' ' || groups('notes', c), '; ') FROM unnest('{strict,checked,filled,filled_too,inner_only}'::name[]) c),
	'strict (a,20) (b,20); checked (a,20) (b,20); filled (a,20) (b,20); filled_too (a,20) (b,20); inner_only (,0) (a,20) (b,20)',
	'NOT NULL, a constraint and a domain that say so leave it out, but not a constraint that others do not inherit');
SELECT is((SELECT string_agg(c || ' ' || groups('notes', c), '; ') FROM unnest('{weak,late}'::name[]) c), 'weak (,0) (a,20) (b,20); late (,0) (a,20) (b,20)',
	'a constraint that NULL passes, or that was not validated, does not, and no row is asked');
SELECT is(groups('parent', 'k') || '; ' || groups('parent', 'c') || '; ' || groups('months', 'k'), '(a,20); (a,20); (a,20)', 'children and partitions have both');
SELECT owned('ALTER TABLE child ALTER k DROP NOT NULL') WHERE current_setting('server_version_num')::int < 180000;
SELECT is(groups('parent', 'k'), CASE WHEN current_setting('server_version_num')::int < 180000 THEN '(,0) ' ELSE '' END || '(a,20)', '... but a child that has lost it');

-- a row whose key is not NULL and not declared has no group
SELECT owned('UPDATE payslips SET dept = $$q$$ WHERE id <= 100');
SELECT is(groups('payslips', 'dept'), (SELECT string_agg(q::text, ' ' ORDER BY q::text) FROM (SELECT dept, count(*) FROM payslips WHERE dept IS DISTINCT FROM 'q' GROUP BY 1) q),
	'rows of other keys have no group');
SELECT owned('UPDATE payslips SET dept = (ARRAY[$$a$$, $$b$$, NULL])[1 + id % 3] WHERE id <= 100');

-- ------------------------------------------------------------------------
-- shapes of a query
-- ------------------------------------------------------------------------

SELECT as_declared(format('SELECT %s AS k, count(*) FROM payslips GROUP BY 1', key), key) FROM unnest(ARRAY['dept', 'ward', 'mood', 'paid', 'dept::varchar', 'dept COLLATE "C"',
	'coalesce(dept, $$none$$)', 'upper(dept)', 'dept || $$x$$', 'dept IS NULL', 'CASE WHEN dept = $$a$$ THEN $$first$$ ELSE $$other$$ END', 'CASE WHEN dept IS NULL THEN sex ELSE dept END',
	'nullif(dept, $$a$$)', 'concat(dept, $$x$$)', 'date_trunc($$month$$, day)', 'extract(month FROM day)', 'coalesce(dept, sex)']) key;
SELECT as_declared('SELECT dept, sex, count(*) FROM payslips GROUP BY 1, 2', 'two keys');
SELECT as_declared('SELECT dept, mood, ward, paid, count(*) FROM payslips GROUP BY 1, 2, 3, 4', 'four keys');
SELECT as_declared('SELECT upper(dept), dept, date_trunc($$month$$, day), count(DISTINCT person) FROM payslips GROUP BY 1, 2, 3', 'keys of one column');
SELECT as_declared('SELECT DISTINCT dept FROM payslips', 'DISTINCT');
SELECT as_declared('SELECT dept, count(*) FROM payslips GROUP BY 1 HAVING count(*) > 10 AND dept IS NULL', 'HAVING');
SELECT as_declared('SELECT dept, count(*) FROM payslips GROUP BY 1 ORDER BY dept DESC NULLS LAST LIMIT 2', 'the order of NULL');
SELECT as_declared('SELECT sum(n) FROM (SELECT dept, count(*) AS n FROM payslips GROUP BY 1) q', 'parts add up');
SELECT as_declared('SELECT dept, sex, GROUPING(dept, sex), count(*) FROM payslips GROUP BY ' || s, s)
	FROM unnest(ARRAY['ROLLUP (dept, sex)', 'CUBE (dept, sex)', 'GROUPING SETS ((dept), (sex), ())', 'GROUPING SETS ((dept, sex), (dept))']) s;
SELECT as_declared('SELECT dept, sex, GROUPING(dept, sex), count(*) FROM payslips WHERE dept IS NOT NULL GROUP BY CUBE (dept, sex)', '... of one of which a condition takes NULL away');
SELECT executed_as_declared('SELECT dept, count(*) FROM payslips WHERE ' || condition || ' GROUP BY 1', arguments)
	FROM (VALUES ('dept = $1', '$$a$$'), ('dept IS NOT DISTINCT FROM $1::text', 'NULL'), ('dept = ANY ($1::text[])', '$${a,NULL}$$'), ('coalesce(dept, $1) = $1', '$$b$$')) v (condition, arguments);

-- ------------------------------------------------------------------------
-- conditions
-- ------------------------------------------------------------------------

SELECT as_declared('SELECT dept, count(*) FROM payslips WHERE ' || condition || ' GROUP BY 1', condition) FROM unnest(ARRAY['dept = $$a$$', 'dept IN ($$a$$, $$b$$)', 'dept <> $$a$$', 'dept > $$$$',
	'NOT dept = $$a$$', 'dept NOT IN ($$a$$)', 'dept IS NULL', 'dept IS NOT NULL', 'dept = $$a$$ OR dept IS NULL', 'dept IS DISTINCT FROM $$a$$', 'coalesce(dept, $$a$$) = $$a$$', 'dept LIKE $$%$$',
	'length(dept) = 1', 'amount > 2', 'dept IS NOT NULL AND sex IS NULL', 'dept = $$a$$ OR sex IS NULL', 'sex = $$f$$', 'dept <= sex', 'amount + length(dept) > 3', 'left(dept, amount) <> $$x$$']) condition;
SELECT as_declared('SELECT dept, sex, count(*) FROM payslips WHERE ' || condition || ' GROUP BY 1, 2', 'two keys: ' || condition) FROM unnest(ARRAY['dept = $$a$$', 'dept IS NOT NULL OR sex IS NOT NULL',
	'dept IS NULL AND sex IS NULL', 'amount + length(dept) > 3', 'sex IS NOT DISTINCT FROM $$f$$']) condition;
SELECT as_declared('SELECT coalesce(dept, $$none$$), count(*) FROM payslips WHERE dept IS NOT NULL GROUP BY 1', 'what would stand for NULL, too');

-- ------------------------------------------------------------------------
-- joins and subqueries
-- ------------------------------------------------------------------------

SELECT as_declared(query, query) FROM unnest(ARRAY[
	'SELECT dept, count(*) FROM known GROUP BY 1',
	'SELECT dept, count(*) FROM (SELECT * FROM payslips) q GROUP BY 1',
	'SELECT dept, sex, count(*) FROM known GROUP BY 1, 2',
	'SELECT dept, count(*) FROM (SELECT dept, person, sum(amount) FROM payslips GROUP BY 1, 2) q GROUP BY 1',
	'WITH q AS (SELECT * FROM payslips WHERE dept > $$a$$) SELECT dept, count(*) FROM q GROUP BY 1',
	'SELECT dept, count(*) FROM (SELECT dept, person FROM payslips UNION ALL SELECT sex, person FROM payslips) q GROUP BY 1',
	'SELECT dept, count(*) FROM payslips JOIN depts USING (dept) GROUP BY 1',
	-- what a subquery asks of the row around it
	'SELECT p.sex, p.dept IS NULL, count(*) FROM payslips p WHERE EXISTS (SELECT FROM depts d WHERE d.dept = p.dept AND p.sex IS NOT NULL) GROUP BY 1, 2',
	'SELECT p.sex, p.dept IS NULL, count(*) FROM payslips p WHERE p.dept IN (SELECT d.dept FROM depts d WHERE p.sex <= $$f$$) GROUP BY 1, 2',
	'SELECT p.sex, count(*) FROM payslips p WHERE p.dept IN (SELECT d.dept FROM depts d WHERE p.sex > $$a$$ OR d.dept = $$a$$) GROUP BY 1',
	'SELECT p.dept, count(*) FROM payslips p JOIN depts d ON d.dept = p.dept GROUP BY 1',
	'SELECT p.dept, count(*) FROM payslips p JOIN depts d ON length(p.dept || d.dept) = 2 AND d.building = $$main$$ GROUP BY 1',
	'SELECT p.dept, d.building, count(*) FROM payslips p LEFT JOIN depts d USING (dept) GROUP BY 1, 2',
	'SELECT d.building, count(*) FROM payslips p LEFT JOIN depts d USING (dept) GROUP BY 1',
	'SELECT p.dept, p.sex, d.building, count(*) FROM payslips p LEFT JOIN depts d ON d.dept = p.dept AND d.building = $$main$$ GROUP BY 1, 2, 3',
	'SELECT w.name, count(*) FROM payslips p JOIN wards w USING (ward) GROUP BY 1',
	'SELECT w.name, w.floor, count(*) FROM payslips p LEFT JOIN wards w USING (ward) GROUP BY 1, 2',
	'SELECT w.floor, p.dept, count(*) FROM payslips p JOIN wards w USING (ward) GROUP BY 1, 2',
	'SELECT d.dept, count(p.id) FROM depts d LEFT JOIN payslips p USING (dept) GROUP BY 1',
	'SELECT d.dept, p.sex, count(p.id) FROM depts d JOIN payslips p USING (dept) GROUP BY 1, 2',
	'SELECT a.dept, b.sex, count(*) FROM payslips a LEFT JOIN payslips b ON b.person = a.person AND b.amount > 2 GROUP BY 1, 2',
	'SELECT m::date, count(p.id) FROM generate_series(date $$2024-01-01$$, $$2024-02-01$$, $$1 month$$) m LEFT JOIN payslips p ON date_trunc($$month$$, p.day) = m GROUP BY 1',
	'SELECT p.dept, n.k, count(*) FROM payslips p JOIN (SELECT dept AS k, count(*) AS n FROM payslips GROUP BY 1) n ON n.k IS NOT DISTINCT FROM p.dept GROUP BY 1, 2']) query;

-- ------------------------------------------------------------------------
-- that a group NULL is there does not depend on rows, and changes are noticed
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION analyst1;
SET plan_cache_mode = force_generic_plan;
PREPARE by_dept AS SELECT string_agg(format('%s:%s', coalesce(dept, 'NULL'), n > 0), ' ' ORDER BY dept) AS groups FROM (SELECT dept, count(*) AS n FROM payslips WHERE $1 GROUP BY 1) q;
EXECUTE by_dept(true) \gset first_
RESET SESSION AUTHORIZATION;
SELECT owned('DELETE FROM payslips WHERE dept IS NULL');
SET SESSION AUTHORIZATION analyst1;
EXECUTE by_dept(true) \gset second_
RESET SESSION AUTHORIZATION;
SELECT owned('ALTER TABLE payslips ALTER dept SET NOT NULL');
SET SESSION AUTHORIZATION analyst1;
EXECUTE by_dept(true) \gset third_
RESET SESSION AUTHORIZATION;
SELECT owned('ALTER TABLE payslips ALTER dept DROP NOT NULL; ALTER TABLE payslips ADD CONSTRAINT filled CHECK (dept IS NOT NULL)');
SET SESSION AUTHORIZATION analyst1;
EXECUTE by_dept(true) \gset fourth_
RESET SESSION AUTHORIZATION;
SELECT owned('ALTER TABLE payslips DROP CONSTRAINT filled');
SET SESSION AUTHORIZATION analyst1;
EXECUTE by_dept(true) \gset fifth_
DEALLOCATE by_dept;
RESET plan_cache_mode;
RESET SESSION AUTHORIZATION;
SELECT is(regexp_replace(concat_ws('; ', :'first_groups', :'second_groups', :'third_groups', :'fourth_groups', :'fifth_groups'), 'NULL:[tf]', 'NULL', 'g'), 'a:t b:t NULL; a:t b:t NULL; a:t b:t; a:t b:t; a:t b:t NULL',
	'a prepared statement has the group NULL without rows, none after SET NOT NULL, or such a constraint, and one again without it');
SELECT is(:'first_groups'::text, 'a:t b:t NULL:t', '... which had rows at first');
SELECT is(rows_for('analyst1', 'SELECT dept, sex, count(*) > 0 FROM payslips WHERE dept IS NULL GROUP BY 1, 2'),
	rows_for('analyst1', 'SELECT dept, sex, count(*) > 0 FROM payslips WHERE id < 0 AND dept IS NULL GROUP BY 1, 2'), 'nor does it with another key');

-- ------------------------------------------------------------------------
-- blocks of time, grouping sets that agree, kept answers
-- ------------------------------------------------------------------------

SET SESSION AUTHORIZATION owner1;
SELECT dp_cdp.create_dataset('visits', find_bounds => 0, default_rho => 1e-6, reuse => '1 day', max_groups => 3, max_rows => 5, consistent => true);
SELECT dp_cdp.create_dataset('blocks', default_rho => 5000, max_groups => 3, max_rows => 5);
CREATE TABLE visits AS SELECT i AS id, i % 500 AS person, (ARRAY['a', 'b', NULL])[1 + i % 3] AS dept, (ARRAY['f', 'm'])[1 + i % 2] AS sex, date '2024-01-01' + i % 60 AS day FROM generate_series(1, 3000) i;
ALTER TABLE visits ALTER day SET NOT NULL;
CREATE TABLE stays AS TABLE visits;
ALTER TABLE stays ALTER day SET NOT NULL;
SELECT dp_cdp.protect_table('visits', 'visits', 'person'), dp_cdp.protect_table('stays', 'blocks', 'person', block => 'day', every => '1 month');
SELECT dp_cdp.set_keys(t, 'dept', ARRAY['a', 'b']), dp_cdp.set_keys(t, 'sex', ARRAY['f', 'm']) FROM unnest('{visits,stays}'::regclass[]) t;
SELECT dp_cdp.set_budget('visits', 'analyst1', rho => 1000, delta => 0), dp_cdp.set_budget('blocks', 'analyst1', rho => 1e6);
RESET SESSION AUTHORIZATION;

SELECT as_declared($$SELECT dept, count(*) FROM stays WHERE day >= '2024-01-01' AND day < '2024-02-01' GROUP BY 1$$, 'a block of time');

-- the totals of grouping sets that agree are the sums of their parts, NULL among them
SELECT is(rows_for('analyst1', 'SELECT sum(n) FILTER (WHERE g = 0) = sum(n) FILTER (WHERE g = 3), count(*) FROM (SELECT GROUPING(dept, sex) AS g, count(*) AS n FROM visits GROUP BY CUBE (dept, sex)) q'),
	'(t,16)', 'a CUBE adds up, with the NULLs of keys and those of totals');

CREATE FUNCTION cost(query text) RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(' ', failure, cost) FROM run_as_analyst(query) $$;
SELECT is(cost('SELECT dept, sum(id) FROM visits GROUP BY dept') LIKE 'ZC00%', true, 'what has no bounds is refused as ever');
SELECT is(cost('SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept'), '1', 'an answer with the group NULL is bought');
SELECT is(cost('SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept'), '0', '... kept');
SELECT is(cost('SELECT dept, count(DISTINCT person) FROM visits WHERE dept IS NOT NULL GROUP BY dept'), '0', '... given without it');
SELECT is(cost('SELECT dept, count(DISTINCT person) FROM visits WHERE dept IS NULL GROUP BY dept'), '0', '... and it alone');
SELECT owned('UPDATE visits SET dept = $$b$$ WHERE dept IS NULL; ALTER TABLE visits ALTER dept SET NOT NULL');
SELECT is(cost('SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept'), '1', 'where the groups are others it is another question');
SELECT is(rows_for('analyst1', 'SELECT dept FROM (SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept) q'), '(a) (b)', '... whose answer has no such group');
SELECT owned('ALTER TABLE visits ALTER dept DROP NOT NULL');
SELECT is(cost('SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept'), '0', '... until they are again what they were');
SELECT is(rows_for('analyst1', 'SELECT dept FROM (SELECT dept, count(DISTINCT person) FROM visits GROUP BY dept) q'), '() (a) (b)', '... with it');

-- what is computed of values that are not NULL
CREATE FUNCTION flags(of text) RETURNS text LANGUAGE sql AS $$
	SELECT rows_for('analyst1', format('SELECT f FROM (SELECT f, count(*) AS n FROM (%s) q GROUP BY 1) g', of)) $$;
SELECT is(flags(format('SELECT person, %s AS f FROM payslips WHERE day IS NOT NULL GROUP BY 1', flag)), '(f) (t)', flag)
	FROM unnest(ARRAY['count(*) > 1', 'count(dept) > 0', 'count(*) FILTER (WHERE amount > 3) > 0', 'max(day) > ''2024-02-01''', 'bool_or(amount > 3)', 'sum((amount > 3)::int) > 0', 'min(amount) % 2 = 1']) flag;
SELECT is(flags('SELECT person, row_number() OVER (PARTITION BY person ORDER BY id) = 1 AS f FROM payslips'), '(f) (t)', 'a number of rows');
SELECT is(flags(format('SELECT person, %s AS f FROM payslips', flag)), '(f) (t)', flag) FROM unnest(ARRAY['amount % 2 = 0', 'id / 100 > 7']) flag;
SELECT is(flags(format('SELECT person, %s AS f FROM payslips GROUP BY 1', flag)), '() (f) (t)', flag || ' may be NULL')
	FROM unnest(ARRAY['max(day) > ''2024-02-01''', 'bool_or(paid)', 'bool_or(amount > 3) FILTER (WHERE amount > 5)', 'min(100 / amount) > 30']) flag;
SELECT is(flags(format('SELECT person, %s AS f FROM payslips', flag)), '() (f) (t)', flag || ' may be NULL') FROM unnest(ARRAY['100 / amount > 30', 'ward % 2 = 0', '(-id) / (amount - 1) > 0']) flag;
SELECT is(flags(format('SELECT person, %s AS f FROM payslips WHERE day IS NOT NULL', flag)), '(f) (t)', flag) FROM unnest(ARRAY['extract(month FROM day) = 2', 'day - date ''2024-01-20'' > 0',
	'date_trunc(''month'', day) = day', 'day + interval ''1 day'' > timestamp ''2024-02-01''', '(day::timestamp AT TIME ZONE ''UTC'')::date > ''2024-02-01''']) flag;
SELECT * FROM finish();
