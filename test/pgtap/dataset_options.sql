-- create_dataset with epsilon, and of one that exists; options that
-- alter_dataset puts back; what owners are told of limits that promise little.

SELECT no_plan();

CREATE ROLE owner1 LOGIN;
CREATE ROLE owner2 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1, owner2;
SET SESSION AUTHORIZATION owner1;
CREATE TEMP VIEW options AS SELECT to_jsonb(d) - '{dataset,owner}'::text[] AS options, dataset FROM dp_cdp.datasets d;

-- epsilon and delta: all of the cap is within them
CREATE TEMP TABLE given AS SELECT * FROM dp_cdp.create_dataset('eps', epsilon => 1, delta => 1e-6, default_rho => 0.001);
SELECT is((SELECT format('%s %s %s', epsilon, delta, key_delta) FROM given), '1 1e-06 5e-07', 'the cap is epsilon and delta, half of which selects keys');
SELECT cmp_ok(dp_cdp.epsilon_spent(rho, 5e-7), '<=', 1::float8, 'rho is within it') FROM given;
SELECT cmp_ok(dp_cdp.epsilon_spent(rho * 1.001, 5e-7), '>', 1::float8, 'and no less than can be') FROM given;
SELECT is((SELECT rho_limit || ' ' || delta_limit FROM dp_cdp.datasets), (SELECT rho || ' ' || 5e-7::numeric FROM given), 'the dataset has it');

-- one that exists stays
CREATE TEMP TABLE before AS SELECT * FROM options;
SELECT is((SELECT to_jsonb(c) - '{role_name,warnings}'::text[] FROM dp_cdp.create_dataset('eps', rho => 3, max_rows => 2, if_not_exists => true) c),
	(SELECT to_jsonb(c) - '{changed,warnings}'::text[] FROM dp_cdp.alter_dataset('eps') c), 'if_not_exists returns what the cap is');
SELECT results_eq('SELECT * FROM options', 'SELECT * FROM before', 'and changes nothing');
SELECT throws_ok($$SELECT dp_cdp.create_dataset('eps')$$, 'ZC004', NULL, 'without it that is an error');
SELECT throws_ok($$SELECT dp_cdp.create_dataset('eps', rho => 0, if_not_exists => true)$$, 'ZC004', NULL, 'arguments are checked all the same');
SELECT lives_ok($$SELECT dp_cdp.create_dataset('plain', if_not_exists => true)$$, 'one that is not there is made');
SET SESSION AUTHORIZATION owner2;
SELECT throws_ok($$SELECT dp_cdp.create_dataset('eps', if_not_exists => true)$$, '42501', NULL, 'of others it tells nothing');
SET SESSION AUTHORIZATION owner1;

-- reset
SELECT dp_cdp.create_dataset('set', rho => 1, delta => 1e-5, default_rho => 0.02, max_rho => 0.5, max_groups => 3, max_rows => 4,
	neighbors => 'replace_one', default_delta => 1e-7, min_rho => 0.003, max_failures => 7, answer_step => '1 s', release_memory => 1000,
	find_bounds => 0.2, reuse => '1 day', reuse_dumped => true, consistent => true, pull_rows => true, key_delta_share => 0.3, min_units => 4) \g /dev/null
CREATE TEMP TABLE set AS SELECT key, value FROM options, jsonb_each(options) WHERE dataset = 'set';
CREATE TEMP TABLE plain AS SELECT key, value FROM options, jsonb_each(options) WHERE dataset = 'plain';
CREATE FUNCTION pg_temp.changed(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	EXECUTE format('SELECT changed FROM dp_cdp.alter_dataset(''set'', %s)', arguments) INTO STRICT result;
	RETURN result;
END $$;
SELECT is(pg_temp.changed('rho => NULL, reuse => NULL, max_rho => NULL, reset => NULL'), '{}', 'no option is said to have changed');
SELECT set_eq($$SELECT key, value FROM options, jsonb_each(options) WHERE dataset = 'set'$$, 'SELECT * FROM set', 'NULL changes nothing');
SELECT is(pg_temp.changed($$reset => ARRAY['reuse', 'max_rows']$$), '{max_rows,reuse}', 'what is reset has changed');
SELECT set_eq($$SELECT key FROM options, jsonb_each(options) JOIN set USING (key) WHERE dataset = 'set' AND jsonb_each.value <> set.value$$,
	ARRAY['reuse', 'max_rows', 'max_contribution'], 'what is reset, and no more; a limit that is not set is found');
SELECT is(pg_temp.changed($$reset => '{rho,delta,default_rho,max_rho,max_groups,max_rows,neighbors,default_delta,min_rho,max_failures,answer_step,release_memory,find_bounds,reuse,reuse_dumped,consistent,pull_rows,key_delta_share,max_contribution,min_units}'$$), '{rho,delta,default_rho,max_rho,max_groups,neighbors,default_delta,min_rho,max_failures,answer_step,release_memory,find_bounds,reuse_dumped,consistent,pull_rows,key_delta_share,min_units}',
	'... where it was not the default already');
SELECT set_eq($$SELECT key, value FROM options, jsonb_each(options) WHERE dataset = 'set'$$, 'SELECT * FROM plain', 'all options have the defaults of create_dataset');

-- what has changed
SELECT is(pg_temp.changed(arguments), options, arguments) FROM (VALUES
	(1, 'rho => 1', '{rho}'), (2, 'rho => 1', '{}'), (3, 'rho => 2, delta => 1e-6, max_failures => 20', '{rho}'), (4, $$rho => 'Infinity', max_rho => 'Infinity'$$, '{rho}'),
	(5, $$answer_step => '60 s', reuse => '1 day'$$, '{answer_step,reuse}'), (6, $$answer_step => '1 min', reuse => '24:00'$$, '{}'), (7, $$answer_step => '0', reuse => '0'$$, '{answer_step,reuse}'),
	(8, 'max_groups => 3, max_rows => 4', '{max_groups,max_rows}'), (9, $$max_contribution => 'auto'$$, '{max_groups,max_rows,max_contribution}'),
	(10, $$max_contribution => '20', consistent => true, new_owner => 'owner1'$$, '{consistent,max_contribution}')) AS calls(n, arguments, options) ORDER BY n;
RESET SESSION AUTHORIZATION;
SELECT is(pg_temp.changed($$default_rho => 0.02, new_owner => 'owner2'$$), '{default_rho,min_rho,new_owner}', 'another owner');

SELECT * FROM finish();
