-- Every error of the administration functions, with its SQLSTATE.

CREATE ROLE regress_dp_owner;
CREATE ROLE regress_dp_other;
CREATE ROLE regress_dp_analyst;
CREATE SCHEMA admin AUTHORIZATION regress_dp_owner;
GRANT USAGE ON SCHEMA admin TO PUBLIC;
SET search_path = admin, public;
SET client_min_messages = warning;

CREATE FUNCTION admin.try(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ' ' || sqlerrm;
END $$;

GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO regress_dp_owner, regress_dp_other;
SET ROLE regress_dp_owner;
CREATE TABLE visits (patient int, dept text, cost numeric, odd text COLLATE "C", doc json, price money);
CREATE TABLE other (patient int);
CREATE VIEW visits_view AS SELECT patient, dept FROM visits;
CREATE MATERIALIZED VIEW visits_matview AS SELECT patient, dept FROM visits;
CREATE SEQUENCE numbers;
CREATE TYPE pair AS (a int, b int);
CREATE INDEX visits_dept ON visits (dept);
CREATE TEMP TABLE temporary (patient int);
CREATE TABLE parts (patient int, year int) PARTITION BY LIST (year);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1) PARTITION BY LIST (patient);
CREATE TABLE parts_1_1 PARTITION OF parts_1 FOR VALUES IN (1);
CREATE TABLE base (patient int);
CREATE TABLE child () INHERITS (base);

\pset tuples_only on
\pset format unaligned

-- create_dataset
SELECT try($$SELECT dp_cdp.create_dataset(NULL)$$);
SELECT try($$SELECT dp_cdp.create_dataset('')$$);
SELECT try($$SELECT dp_cdp.create_dataset(repeat('x', 64))$$);
SELECT try($$SELECT dp_cdp.create_dataset(repeat('é', 32))$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', rho => 0)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', rho => -1)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', rho => 'NaN')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', rho => '-Infinity')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', rho => 1e7)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', rho => 1e-13)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', delta => 0)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', delta => 1)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', delta => -1e-9)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', delta => 'NaN')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', delta => 1e-19)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', epsilon => 1)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', rho => 1, epsilon => 1, delta => 1e-6)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', epsilon => 0, delta => 1e-6)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', epsilon => 'Infinity', delta => 1e-6)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', epsilon => 1, delta => 1)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', default_rho => 0)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', default_rho => 'Infinity')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', max_rho => 'NaN')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', default_rho => 0.2, max_rho => 0.1)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', max_groups => 0)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', max_groups => 1000001)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', max_rows => -5)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', neighbors => 'swap')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', min_rho => 0)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', min_rho => 'NaN')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', min_rho => 'Infinity')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', min_rho => 0.02)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', max_failures => -1)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', answer_step => '0')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', answer_step => '-1 second')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', answer_step => '01:00:00.000001')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', answer_step => '1 day')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', answer_step => '1 day -23:30')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', answer_step => '1 month')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', release_memory => 0)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', release_memory => 63)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', find_bounds => 1.5)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', find_bounds => 'NaN')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', key_delta_share => 1)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', key_delta_share => 'NaN')$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', min_units => 0)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', default_delta => 1e-3)$$);
SELECT try($$SELECT dp_cdp.create_dataset('c', default_delta => 0)$$);
SELECT count(*) FROM dp_cdp.datasets;
SELECT try($$SELECT dp_cdp.create_dataset('clinic', rho => NULL, delta => NULL, default_rho => NULL,
	max_groups => NULL, max_rows => NULL, neighbors => NULL)$$);
SELECT try($$SELECT dp_cdp.create_dataset('clinic')$$);
SELECT try($$SELECT dp_cdp.create_dataset('second')$$);

-- alter_dataset
SELECT try($$SELECT dp_cdp.alter_dataset(NULL)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('nowhere')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', max_groups => 0)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', rho => 'NaN')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', max_rho => 1e-5)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', min_rho => 1000)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', answer_step => '2 hours')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', release_memory => -1)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', key_delta_share => -0.1)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', key_delta_share => '-Infinity')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', min_units => 1000001)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', delta => 1e-12)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', reset => '{reuse,new_owner}')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', reset => '{NULL}')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', reuse => '1 day', reset => '{reuse}')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', reuse => '1 month')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', reuse => '-1 day')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', min_rho => 0.001, default_rho => 0.001, reset => '{}')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', min_rho => 0.02, reset => '{default_rho}')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', reset => '{default_rho,min_rho}')$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', new_owner => 0)$$);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', new_owner => 'regress_dp_other')$$);

-- protect_table
SELECT try($$SELECT dp_cdp.protect_table(NULL, 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('nowhere', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table(4000000000, 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', NULL, each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'nowhere', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'nobody')$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'ctid')$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'doc')$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic')$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', each_row => false)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', each_row => NULL)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits_view', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits_matview', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('numbers', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('pair', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits_dept', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('temporary', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('parts_1', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('child', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('pg_catalog.pg_class', 'clinic', each_row => true)$$);
RESET ROLE;
SELECT try($$SELECT dp_cdp.protect_table('pg_catalog.pg_class', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('dp_cdp_internal.budget', 'clinic', each_row => true)$$);
SET ROLE regress_dp_owner;
SELECT count(*) FROM pg_seclabel WHERE provider = 'dp_cdp';
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient')$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'second', unit => 'patient')$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'dept')$$);
SELECT try($$SELECT dp_cdp.protect_table('visits', 'nowhere', unit => 'patient')$$);
SET client_min_messages = notice;
SELECT try($$SELECT dp_cdp.protect_table('visits', 'clinic', unit => 'patient')$$);
SET client_min_messages = warning;
SELECT try($$SELECT dp_cdp.protect_table('parts', 'clinic', unit => 'patient')$$);

-- replace_table
CREATE TABLE same (LIKE visits);
CREATE TABLE less (patient int, dept text, cost numeric, odd text COLLATE "C", doc json);
CREATE TABLE more (LIKE visits, also int);
CREATE TABLE longer (patient int, dept varchar(9), cost numeric, odd text COLLATE "C", doc json, price money);
CREATE TABLE ordered (patient int, dept text, cost numeric, odd text, doc json, price money);
SELECT try($$SELECT dp_cdp.replace_table(NULL, 'same')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', NULL)$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 4000000000)$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'nowhere')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'visits')$$);
SELECT try($$SELECT dp_cdp.replace_table('same', 'visits')$$);
SELECT try($$SELECT dp_cdp.replace_table('parts_1', 'same')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'parts')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'parts_1')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'visits_view')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'temporary')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'less')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'more')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'longer')$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'ordered')$$);
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
SELECT try($$SELECT dp_cdp.replace_table('visits', 'same')$$);
ALTER TABLE visits DISABLE ROW LEVEL SECURITY;
SELECT try($$SELECT dp_cdp.protect_table('same', 'second', each_row => true)$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'same')$$);
SELECT try($$SELECT dp_cdp.unprotect_table('same'), dp_cdp.protect_table('same', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.replace_table('visits', 'same')$$);
SELECT try($$SELECT dp_cdp.unprotect_table('same')$$);
SELECT count(*) FROM dp_cdp.reserved_names;

-- names that are held
SELECT try($$SELECT dp_cdp.forget_name(NULL)$$);
SELECT try($$SELECT dp_cdp.forget_name('')$$);
SELECT try($$SELECT dp_cdp.forget_name('a.b.c')$$);
SELECT try($$SELECT dp_cdp.forget_name('a..b')$$);
SELECT try($$SELECT dp_cdp.forget_name('visits')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.visits')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.visits', 'clinic')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.nowhere', 'clinic')$$);
SELECT try($$SELECT dp_cdp.forget_name('nowhere.visits', 'clinic')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.same', 'nowhere')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.same', '')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.same', 'clinic')$$);
ALTER TABLE visits RENAME TO "Visits, old";
CREATE TABLE visits (patient int);
SELECT try($$SELECT dp_cdp.forget_name('visits', 'second')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.visits')$$);
SELECT try($$SELECT dp_cdp.forget_name('admin.visits')$$);
DROP TABLE visits;
ALTER TABLE "Visits, old" RENAME TO visits;
SELECT schema, name, dataset, released, relation FROM dp_cdp.reserved_names ORDER BY name;
SELECT try($$SELECT dp_cdp.forget_name('"Visits, old"')$$);

-- unprotect_table
SELECT try($$SELECT dp_cdp.unprotect_table(NULL)$$);
SELECT try($$SELECT dp_cdp.unprotect_table('other')$$);
SELECT try($$SELECT dp_cdp.unprotect_table('parts_1_1')$$);

-- bounds
SELECT try($$SELECT dp_cdp.set_bounds(NULL, 'cost', 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('other', 'patient', 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('parts_1', 'year', 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', NULL, 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'nothing', 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'xmin', 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'dept', 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'price', 0, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', NULL, 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, NULL)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 1, 0)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 1, 1.0)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 'NaN', 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 'Infinity')$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', '-1e400', 0)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, total_upper => 1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, total_lower => 0)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, 3, 2)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, 0, 0.0)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, 1, 2)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, -2, -1)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, 'NaN', 2)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, 0, 'Infinity')$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1, '-1e400', 0)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', NULL, NULL, 0, 2)$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'dept', 0, 1, 0, 2)$$);
SELECT try($$SELECT dp_cdp.drop_bounds('visits', 'cost')$$);
SELECT try($$SELECT dp_cdp.drop_bounds('other', 'patient')$$);

-- keys
SELECT try($$SELECT dp_cdp.set_keys(NULL, 'dept', ARRAY['a'])$$);
SELECT try($$SELECT dp_cdp.set_keys('other', 'patient', ARRAY[1])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', NULL, ARRAY['a'])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'nothing', ARRAY['a'])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'dept', NULL::text[])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'dept', '{}'::text[])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'patient', ARRAY['a'])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'patient', ARRAY[1, 3000000000])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'dept', ARRAY[true])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'dept', ARRAY[1])$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'doc', ARRAY['{}'::json])$$);
SELECT try($$SELECT dp_cdp.drop_keys('visits', 'dept')$$);
SELECT try($$SELECT dp_cdp.declared_keys('other', 'patient')$$);

-- budgets
SELECT try($$SELECT dp_cdp.set_budget(NULL, 'regress_dp_analyst', rho => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('nowhere', 'regress_dp_analyst', rho => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', NULL, rho => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_nobody', rho => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'public', rho => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', '-', rho => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 4000000000, rho => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst')$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 1, epsilon => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 0)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 'NaN')$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 'Infinity')$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 1, delta => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 1, delta => -1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 0)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 'NaN')$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 'Infinity')$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 1, delta => 0)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 1e-6, delta => 1e-18)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 1e9, delta => 1e-6)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 1)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', epsilon => 1e-9, delta => 1e-9)$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 1, period => '0')$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 1, period => '-1 day')$$);
SELECT try($$SELECT dp_cdp.drop_budget('clinic', 'regress_dp_analyst')$$);
SELECT try($$SELECT dp_cdp.drop_budget('nowhere', 'regress_dp_analyst')$$);
SELECT count(*) FROM dp_cdp.budgets;
SELECT try($$SELECT dp_cdp.epsilon_spent(-1, 0.1)$$);
SELECT try($$SELECT dp_cdp.epsilon_spent('NaN', 0.1)$$);
SELECT try($$SELECT dp_cdp.epsilon_spent(1, 2)$$);

-- drop_dataset
SELECT try($$SELECT dp_cdp.drop_dataset(NULL)$$);
SELECT try($$SELECT dp_cdp.drop_dataset('nowhere')$$);
SELECT try($$SELECT dp_cdp.drop_dataset('clinic')$$);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT try($$SELECT dp_cdp.drop_dataset('second')$$);
COMMIT;

-- inheritance: one policy on each path, at its top
CREATE TABLE parts_2 (patient int, year int);
SELECT try($$SELECT dp_cdp.protect_table('parts_2', 'clinic', each_row => true)$$);
SELECT try($$ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2)$$);
SELECT try($$SELECT dp_cdp.unprotect_table('parts_2')$$);
SELECT try($$ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2)$$);
SELECT try($$ALTER TABLE parts DETACH PARTITION parts_2$$);
CREATE TABLE base_2 (patient int);
ALTER TABLE child INHERIT base_2;
SELECT try($$SELECT dp_cdp.protect_table('base', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.protect_table('base_2', 'clinic', each_row => true)$$);
ALTER TABLE child NO INHERIT base_2;
SELECT try($$SELECT dp_cdp.protect_table('base_2', 'clinic', each_row => true)$$);
SELECT try($$ALTER TABLE child INHERIT base_2$$);
SELECT try($$ALTER TABLE base INHERIT base_2$$);
CREATE TABLE both_bases () INHERITS (base, base_2);
SELECT try($$SELECT dp_cdp.dataset_of('both_bases')$$);

-- the unit column stays
SELECT try($$ALTER TABLE visits DROP COLUMN patient CASCADE$$);
SELECT try($$ALTER TABLE parts DROP COLUMN patient$$);
SELECT try($$ALTER TABLE visits DROP COLUMN price$$);

-- labels by hand
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE other IS 'clinic'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE other IS '[]'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE other IS '{}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE other IS '{"dataset": 1}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE other IS '{"dataset": "clinic", "unit": false}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE other IS '{"dataset": "clinic", "lower": 1, "upper": 2}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE other IS '{"dataset": "nowhere"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE child IS '{"dataset": "clinic"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE visits IS '{"dataset": "clinic"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE visits IS '{"dataset": "second", "unit": true}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN other.patient IS '{"lower": 1, "upper": 2}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"lower": 1}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"lower": 2, "upper": 2}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"lower": "1", "upper": "2"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"keys": "a"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"keys": [1]}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"dataset": "clinic"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"unit": true}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.patient IS NULL$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.patient IS '{"lower": 1, "upper": 2}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON VIEW visits_view IS '{"dataset": "clinic"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TYPE pair IS '{"dataset": "clinic"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON SCHEMA admin IS '{"dataset": "clinic"}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS '{"lower": 1, "upper": 2}'$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE visits IS '{"dataset": "clinic", "unit": true}'$$);

-- somebody else
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_analyst', rho => 1)$$);
GRANT ALL ON visits, other TO regress_dp_other;
SET ROLE regress_dp_other;
CREATE TEMP TABLE mine (patient int);
SELECT try($$SELECT dp_cdp.alter_dataset('clinic', rho => 5)$$);
SELECT try($$SELECT dp_cdp.reset_failures('clinic', 'regress_dp_analyst')$$);
SELECT try($$SELECT dp_cdp.drop_dataset('clinic')$$);
SELECT try($$SELECT dp_cdp.protect_table('other', 'clinic', each_row => true)$$);
SELECT try($$SELECT dp_cdp.create_dataset('theirs')$$);
SELECT try($$SELECT dp_cdp.protect_table('other', 'theirs', each_row => true)$$);
SELECT try($$SELECT dp_cdp.unprotect_table('visits')$$);
SELECT try($$SELECT dp_cdp.set_bounds('visits', 'cost', 0, 1)$$);
SELECT try($$SELECT dp_cdp.drop_bounds('visits', 'cost')$$);
SELECT try($$SELECT dp_cdp.set_keys('visits', 'dept', ARRAY['a'])$$);
SELECT try($$SELECT dp_cdp.drop_keys('visits', 'dept')$$);
SELECT try($$SELECT dp_cdp.declared_keys('visits', 'dept')$$);
SELECT try($$SELECT dp_cdp.set_budget('clinic', 'regress_dp_other', rho => 1)$$);
SELECT try($$SELECT dp_cdp.drop_budget('clinic', 'regress_dp_analyst')$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE visits IS NULL$$);
SELECT try($$UPDATE dp_cdp_internal.budget SET rho_limit = 1$$);
SELECT try($$SELECT * FROM dp_cdp_internal.dataset$$);
SELECT try($$SELECT dp_cdp.drop_dataset('theirs')$$);
RESET ROLE;

-- the table's owner alone cannot take it out of somebody else's dataset
SELECT dp_cdp.alter_dataset('clinic', new_owner => 'regress_dp_other');
SET ROLE regress_dp_owner;
SELECT try($$SECURITY LABEL FOR dp_cdp ON TABLE visits IS NULL$$);
SELECT try($$SELECT dp_cdp.unprotect_table('visits')$$);
SELECT try($$SECURITY LABEL FOR dp_cdp ON COLUMN visits.cost IS NULL$$);
RESET ROLE;
SET ROLE regress_dp_other;
SELECT try($$SELECT dp_cdp.unprotect_table('visits')$$);
RESET ROLE;
SELECT dp_cdp.alter_dataset('clinic', new_owner => 'regress_dp_owner');

-- a label without its dataset is nobody's prey
SECURITY LABEL FOR dp_cdp ON TABLE visits IS '{"dataset": "lost"}';
SELECT try($$SELECT dp_cdp.dataset_of('visits')$$);
SET ROLE regress_dp_other;
SELECT try($$SELECT dp_cdp.create_dataset('lost')$$);
SELECT try($$SELECT dp_cdp.unprotect_table('visits')$$);
SET ROLE regress_dp_owner;
SELECT try($$SELECT dp_cdp.create_dataset('lost')$$);
SELECT try($$SELECT dp_cdp.unprotect_table('visits')$$);
SELECT try($$SELECT dp_cdp.drop_dataset('lost')$$);
RESET ROLE;

-- roles with a stake in a dataset stay
SELECT try('DROP ROLE regress_dp_analyst');
SELECT dp_cdp.create_dataset('unowned');
SELECT dp_cdp.alter_dataset('unowned', new_owner => 'regress_dp_other');
SELECT try('DROP ROLE regress_dp_other');
SELECT dp_cdp.drop_dataset('unowned');

-- settings
SELECT try($$SET dp_cdp.rho = 'NaN'$$);
SELECT try($$SET dp_cdp.rho = -0.1$$);
SELECT try($$SET dp_cdp.rho = 'Infinity'$$);
SELECT try($$SET dp_cdp.rho = 'much'$$);
SELECT try($$SET dp_cdp.delta = 'NaN'$$);
SELECT try($$SET dp_cdp.delta = 1.5$$);
SELECT try($$SET dp_cdp.max_groups = -1$$);
SELECT try($$SET dp_cdp.max_groups = 0$$);
SELECT try($$SET dp_cdp.max_rows = 0$$);
SELECT try($$SET dp_cdp.max_rows = 2000000$$);
SELECT try($$SET dp_cdp.rho = 0.5$$);
SHOW dp_cdp.rho;

-- nothing else stands in the way of leaving
SELECT dp_cdp.drop_budget('clinic', 'regress_dp_analyst');
SELECT dp_cdp.unprotect_table('parts');
SELECT dp_cdp.unprotect_table('base');
SELECT dp_cdp.unprotect_table('base_2');
SELECT dp_cdp.drop_dataset('clinic');
SELECT dp_cdp.drop_dataset('second');
SELECT count(*) FROM dp_cdp.datasets;
SELECT count(*) FROM pg_seclabel WHERE provider = 'dp_cdp';
DROP TABLE mine, temporary;
DROP SCHEMA admin CASCADE;
REVOKE EXECUTE ON FUNCTION dp_cdp.create_dataset FROM regress_dp_owner, regress_dp_other;
DROP ROLE regress_dp_owner, regress_dp_other, regress_dp_analyst;
