-- =========================================================================
-- 3. Policy and administration (src/policy, src/admin)
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp.library_version() RETURNS text
	LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_library_version';
COMMENT ON FUNCTION dp_cdp.library_version() IS
	'version of the library that is loaded; that of the objects in this database is in pg_extension';

-- Anyone may call these, but for create_dataset; each asks for itself whether
-- the caller owns the dataset (and, to protect a table, the table).

COMMENT ON TYPE dp_cdp.granted IS
	'row that functions on budgets and datasets return. It tells what a budget, or a dataset''s cap, allows in all, however much of it is spent';
COMMENT ON COLUMN dp_cdp.granted.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.granted.role_name IS 'name of the role that has the budget. NULL: this is the dataset''s cap';
COMMENT ON COLUMN dp_cdp.granted.rho IS
	'the limit; Infinity: the dataset has no cap';
COMMENT ON COLUMN dp_cdp.granted.epsilon IS
	'once rho and key_delta are spent, everything that is seen is (epsilon, delta)-differentially private. Rounded up to 6 digits';
COMMENT ON COLUMN dp_cdp.granted.delta IS
	'the delta of that, with key_delta in it';
COMMENT ON COLUMN dp_cdp.granted.best_guess IS
	'how often the best guesser is right, once all is spent. He knows everything but whether one person is in the data, which is as likely as not. At 0.5 he learns nothing, at 1 he may know. It is Phi(sqrt(rho / 2)) with key_delta added, rounded up to 4 decimals';
COMMENT ON COLUMN dp_cdp.granted.aggregates IS
	'how many aggregates rho pays for at the dataset''s default_rho';
COMMENT ON COLUMN dp_cdp.granted.report_delta IS
	'the part of delta at which epsilon holds; key_delta is the other part';
COMMENT ON COLUMN dp_cdp.granted.key_delta IS
	'the limit on delta for private selections of keys; 0: none';
COMMENT ON COLUMN dp_cdp.granted.key_selections IS
	'how many selections of keys that pays for at the dataset''s default_delta';
COMMENT ON COLUMN dp_cdp.granted.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

COMMENT ON TYPE dp_cdp.altered IS
	'row that alter_dataset returns. It tells which options were changed, and what the cap allows in all, however much of it is spent';
COMMENT ON COLUMN dp_cdp.altered.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.altered.changed IS
	'options that have another value than before the call, with the names of alter_dataset''s arguments; empty: none';
COMMENT ON COLUMN dp_cdp.altered.rho IS
	'the limit; Infinity: the dataset has no cap';
COMMENT ON COLUMN dp_cdp.altered.epsilon IS
	'once rho and key_delta are spent, everything that is seen is (epsilon, delta)-differentially private. Rounded up to 6 digits';
COMMENT ON COLUMN dp_cdp.altered.delta IS
	'the delta of that, with key_delta in it';
COMMENT ON COLUMN dp_cdp.altered.best_guess IS
	'how often the best guesser is right, once all is spent. He knows everything but whether one person is in the data, which is as likely as not. At 0.5 he learns nothing, at 1 he may know. It is Phi(sqrt(rho / 2)) with key_delta added, rounded up to 4 decimals';
COMMENT ON COLUMN dp_cdp.altered.aggregates IS
	'how many aggregates rho pays for at the dataset''s default_rho';
COMMENT ON COLUMN dp_cdp.altered.report_delta IS
	'the part of delta at which epsilon holds; key_delta is the other part';
COMMENT ON COLUMN dp_cdp.altered.key_delta IS
	'the limit on delta for private selections of keys; 0: none';
COMMENT ON COLUMN dp_cdp.altered.key_selections IS
	'how many selections of keys that pays for at the dataset''s default_delta';
COMMENT ON COLUMN dp_cdp.altered.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

COMMENT ON TYPE dp_cdp.table_policy IS
	'how a table is protected now; protect_table, unprotect_table and replace_table return it';
COMMENT ON COLUMN dp_cdp.table_policy.dataset IS 'name of the dataset; NULL: the table is not protected';
COMMENT ON COLUMN dp_cdp.table_policy."table" IS 'the table';
COMMENT ON COLUMN dp_cdp.table_policy.unit IS 'column that names the person; NULL: see through';
COMMENT ON COLUMN dp_cdp.table_policy.through IS
	'columns of the foreign key that leads to the person; NULL with unit NULL: each row is a person';
COMMENT ON COLUMN dp_cdp.table_policy.block IS 'column that says in which block of time a row is; NULL: rows are in none';
COMMENT ON COLUMN dp_cdp.table_policy.bounds IS 'columns that have declared bounds';
COMMENT ON COLUMN dp_cdp.table_policy.keys IS 'columns that have keys by set_keys';
COMMENT ON COLUMN dp_cdp.table_policy.readers IS
	'roles beside the owner that hold SELECT: plain SQL shows them the rows that row-level security leaves them';
COMMENT ON COLUMN dp_cdp.table_policy.problem IS
	'why nothing is released from the table; NULL: nothing is wrong with its foreign key';
COMMENT ON COLUMN dp_cdp.table_policy.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

COMMENT ON TYPE dp_cdp.column_policy IS
	'bounds and keys that a column has now; set_bounds, drop_bounds, set_keys and drop_keys return it';
COMMENT ON COLUMN dp_cdp.column_policy.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.column_policy."table" IS 'the table';
COMMENT ON COLUMN dp_cdp.column_policy."column" IS 'the column';
COMMENT ON COLUMN dp_cdp.column_policy.lower IS 'lower bound of a row''s value; NULL: none is declared';
COMMENT ON COLUMN dp_cdp.column_policy.upper IS 'upper bound of a row''s value; NULL: none is declared';
COMMENT ON COLUMN dp_cdp.column_policy.total_lower IS 'lower limit of a person''s total in a group; NULL: it follows from the bounds';
COMMENT ON COLUMN dp_cdp.column_policy.total_upper IS 'upper limit of a person''s total in a group; NULL: it follows from the bounds';
COMMENT ON COLUMN dp_cdp.column_policy.keys IS 'how many keys set_keys has declared; NULL: none';
COMMENT ON COLUMN dp_cdp.column_policy.warnings IS 'notices and warnings that the call has raised, with what to do; empty: none';

CREATE OR REPLACE FUNCTION dp_cdp.create_dataset(
	dataset text,
	rho float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	default_rho float8 DEFAULT 0.01,
	max_rho float8 DEFAULT NULL,
	max_groups int DEFAULT NULL,
	max_rows int DEFAULT NULL,
	neighbors text DEFAULT 'add_remove',
	default_delta float8 DEFAULT NULL,
	min_rho float8 DEFAULT NULL,
	max_failures int DEFAULT 20,
	answer_step interval DEFAULT NULL,
	release_memory dp_cdp.memory DEFAULT NULL,
	find_bounds float8 DEFAULT 0.1,
	reuse interval DEFAULT NULL,
	reuse_dumped boolean DEFAULT NULL,
	consistent boolean DEFAULT NULL,
	pull_rows boolean DEFAULT NULL,
	key_delta_share float8 DEFAULT 0.1,
	max_contribution dp_cdp.contribution DEFAULT NULL,
	epsilon float8 DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	min_units int DEFAULT 1
) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_create_dataset';
COMMENT ON FUNCTION dp_cdp.create_dataset(text, float8, float8, float8, float8, int, int, text, float8, float8, int, interval, dp_cdp.memory, float8, interval, boolean, boolean, boolean, float8, dp_cdp.contribution, float8, boolean, int) IS
	'creates a dataset that the caller owns. Its arguments are lifetime caps on rho and delta, or on epsilon and delta, defaults and limits for queries, and the neighbouring relation. It returns what the cap allows';

-- Not for everybody: datasets are many, and never forgotten.  16_database_owner.sql says who else may.
REVOKE ALL ON FUNCTION dp_cdp.create_dataset(text, float8, float8, float8, float8, int, int, text, float8, float8, int, interval, dp_cdp.memory, float8, interval, boolean, boolean, boolean, float8, dp_cdp.contribution, float8, boolean, int) FROM PUBLIC;

CREATE OR REPLACE FUNCTION dp_cdp.alter_dataset(
	dataset text,
	rho float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	default_rho float8 DEFAULT NULL,
	max_rho float8 DEFAULT NULL,
	max_groups int DEFAULT NULL,
	max_rows int DEFAULT NULL,
	neighbors text DEFAULT NULL,
	default_delta float8 DEFAULT NULL,
	new_owner regrole DEFAULT NULL,
	min_rho float8 DEFAULT NULL,
	max_failures int DEFAULT NULL,
	answer_step interval DEFAULT NULL,
	release_memory dp_cdp.memory DEFAULT NULL,
	find_bounds float8 DEFAULT NULL,
	reuse interval DEFAULT NULL,
	reuse_dumped boolean DEFAULT NULL,
	consistent boolean DEFAULT NULL,
	pull_rows boolean DEFAULT NULL,
	key_delta_share float8 DEFAULT NULL,
	max_contribution dp_cdp.contribution DEFAULT NULL,
	reset text[] DEFAULT NULL,
	min_units int DEFAULT NULL,
	epsilon float8 DEFAULT NULL
) RETURNS dp_cdp.altered
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_alter_dataset';
COMMENT ON FUNCTION dp_cdp.alter_dataset(text, float8, float8, float8, float8, int, int, text, float8, regrole, float8, int, interval, dp_cdp.memory, float8, interval, boolean, boolean, boolean, float8, dp_cdp.contribution, text[], int, float8) IS
	'changes settings of a dataset. NULL leaves one as it is, and reset names those that get their defaults again. Infinity removes rho or max_rho, and 0 removes an answer_step, a release_memory, a find_bounds or a reuse. Setting max_contribution removes max_groups and max_rows, where they are not set with it. It returns which options were changed, and what the cap allows';

CREATE OR REPLACE FUNCTION dp_cdp.drop_dataset(dataset text, erase_spent boolean DEFAULT false) RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_dataset';
COMMENT ON FUNCTION dp_cdp.drop_dataset(text, boolean) IS
	'drops a dataset that protects no table, with its budgets, and returns how many these were. It asks for erase_spent => true where some of them was spent';

CREATE OR REPLACE FUNCTION dp_cdp.forget_answers(dataset text) RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_refresh';
COMMENT ON FUNCTION dp_cdp.forget_answers(text) IS
	'ends all kept answers of a dataset, for its owner, and returns how many. Each question asked from now on is computed, and paid for, anew';

CREATE OR REPLACE FUNCTION dp_cdp.suggest_limits("table" regclass, rho float8, OUT question text, OUT max_contribution float8,
		OUT cut float8, OUT stddev float8) RETURNS SETOF record
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_suggest_limits';
COMMENT ON FUNCTION dp_cdp.suggest_limits(regclass, float8) IS
	'finds, for the owner of the dataset, which max_contribution serves best. The first row is for a count of all rows, the others are for counts by each column with declared keys. Each tells, by estimate, which share of contributions is cut, and the standard deviation of the count''s noise at default_rho. The answers are private, and the dataset''s cap over all roles pays rho for them';

CREATE OR REPLACE FUNCTION dp_cdp.protect_table("table" regclass, dataset text, unit name DEFAULT NULL, through text DEFAULT NULL,
		block name DEFAULT NULL, every interval DEFAULT NULL, each_row boolean DEFAULT false) RETURNS dp_cdp.table_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_protect_table';
COMMENT ON FUNCTION dp_cdp.protect_table(regclass, text, name, text, name, interval, boolean) IS
	'puts a table and its children under the policy of a dataset. The argument unit is the column that names the person. Or through names the columns of a foreign key to protected rows, to which rows of this table belong. Or each_row => true says that each row is a person of its own. With block and every, budgets hold for each person and block of time. The column block says in which block a row is, and every how long blocks are';
CREATE OR REPLACE FUNCTION dp_cdp_internal.keep_block() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_keep_block';
COMMENT ON FUNCTION dp_cdp_internal.keep_block() IS
	'trigger on protected tables with blocks of time: an UPDATE moves no row to another block';
CREATE OR REPLACE FUNCTION dp_cdp_internal.keep_referenced() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_keep_referenced';
COMMENT ON FUNCTION dp_cdp_internal.keep_referenced() IS
	'trigger on tables whose rows tell the block of time of rows that reference them. It keeps these in their block';
CREATE OR REPLACE FUNCTION dp_cdp_internal.block_problem("table" regclass) RETURNS text
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_block_problem';
COMMENT ON FUNCTION dp_cdp_internal.block_problem(regclass) IS
	'why rows of a protected table, or partition, could move to another block of time. NULL: they cannot, or are in no blocks';

CREATE OR REPLACE FUNCTION dp_cdp.unprotect_table("table" regclass) RETURNS dp_cdp.table_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_unprotect_table';
COMMENT ON FUNCTION dp_cdp.unprotect_table(regclass) IS
	'removes the policy of a table: only who holds SELECT may read it then';

CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower numeric, upper numeric,
		total_lower numeric DEFAULT NULL, total_upper numeric DEFAULT NULL) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, numeric, numeric, numeric, numeric) IS
	'declares bounds of a column, to which each row''s value is clamped. A unit''s total in a group is clamped to total_lower .. total_upper. NULL: max_rows times the bounds';

-- numbers without quotes are numeric, literals in quotes text
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower text, upper text) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, text, text) IS
	'declares bounds of a column, written as values of its type: numbers, dates or timestamps';
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower date, upper date) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, date, date) IS
	'declares bounds of a column of dates or timestamps';
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower timestamp, upper timestamp) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, timestamp, timestamp) IS
	'declares bounds of a column of dates or timestamps';
CREATE OR REPLACE FUNCTION dp_cdp.set_bounds("table" regclass, "column" name, lower timestamptz, upper timestamptz) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_bounds';
COMMENT ON FUNCTION dp_cdp.set_bounds(regclass, name, timestamptz, timestamptz) IS
	'declares bounds of a column of dates or timestamps';

CREATE OR REPLACE FUNCTION dp_cdp.drop_bounds("table" regclass, "column" name) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_bounds';
COMMENT ON FUNCTION dp_cdp.drop_bounds(regclass, name) IS
	'removes the bounds of a column';

CREATE OR REPLACE FUNCTION dp_cdp.set_keys("table" regclass, "column" name, keys anyarray) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_keys';
COMMENT ON FUNCTION dp_cdp.set_keys(regclass, name, anyarray) IS
	'declares which keys a GROUP BY of this column releases, whether rows have them or not. NULL is one more where the column can be NULL';

CREATE OR REPLACE FUNCTION dp_cdp.drop_keys("table" regclass, "column" name) RETURNS dp_cdp.column_policy
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_keys';
COMMENT ON FUNCTION dp_cdp.drop_keys(regclass, name) IS
	'removes the declared keys of a column';

CREATE OR REPLACE FUNCTION dp_cdp.declared_keys("table" regclass, "column" name) RETURNS text[]
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_declared_keys';
COMMENT ON FUNCTION dp_cdp.declared_keys(regclass, name) IS
	'keys that a GROUP BY of this column releases, by set_keys, its type or a foreign key. NULL: they are selected privately';

CREATE OR REPLACE FUNCTION dp_cdp.dataset_of("table" regclass) RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'dp_dataset_of';
COMMENT ON FUNCTION dp_cdp.dataset_of(regclass) IS
	'dataset that protects a table, by its own policy or by that of a table it is a partition or child of. NULL: none';

CREATE OR REPLACE FUNCTION dp_cdp_internal.through_problem("table" regclass) RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'dp_through_problem';
COMMENT ON FUNCTION dp_cdp_internal.through_problem(regclass) IS
	'why nothing is released from a table whose rows belong to people through a foreign key. The key is gone, not validated, or leads to no protected row. NULL: nothing is wrong';

CREATE OR REPLACE FUNCTION dp_cdp.set_budget(
	dataset text,
	role regrole,
	rho float8 DEFAULT NULL,
	epsilon float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	period interval DEFAULT NULL
) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_set_budget';
COMMENT ON FUNCTION dp_cdp.set_budget(text, regrole, float8, float8, float8, interval) IS
	'gives a role a budget, or changes it and keeps what is spent. A budget is a rho, or (epsilon, delta), and is renewed each period. The function returns what it allows';

CREATE OR REPLACE FUNCTION dp_cdp.drop_budget(dataset text, role regrole) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_budget';
COMMENT ON FUNCTION dp_cdp.drop_budget(text, regrole) IS
	'takes a role''s budget away';

CREATE OR REPLACE FUNCTION dp_cdp.drop_missing_budget(dataset text, role_name text) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_drop_missing_budget';
COMMENT ON FUNCTION dp_cdp.drop_missing_budget(text, text) IS
	'takes the budget of a role away that does not exist any more';

CREATE OR REPLACE FUNCTION dp_cdp.reset_failures(dataset text, role regrole) RETURNS dp_cdp.granted
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_reset_failures';
COMMENT ON FUNCTION dp_cdp.reset_failures(text, regrole) IS
	'forgets the failures of today that were counted at a role''s budget, so that it may ask again';

CREATE OR REPLACE FUNCTION dp_cdp.epsilon_spent(rho numeric, delta numeric) RETURNS float8
	LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dp_epsilon_spent';
COMMENT ON FUNCTION dp_cdp.epsilon_spent(numeric, numeric) IS
	'the smallest known epsilon for which rho-zCDP implies (epsilon, delta)-DP, rounded up';

CREATE OR REPLACE FUNCTION dp_cdp.best_guess(rho numeric, delta numeric DEFAULT 0) RETURNS float8
	LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dp_best_guess';
COMMENT ON FUNCTION dp_cdp.best_guess(numeric, numeric) IS
	'how often the best guesser is right whether one person is in the data, once rho and a delta for selecting keys are spent. From 0.5 to 1, rounded up to 4 decimals';

