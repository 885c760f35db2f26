-- =========================================================================
-- 6. Views over policies and balances
-- =========================================================================

-- Visible to a session are the rows of its session_user, its current_user and
-- the roles they inherit from; to the owner of a dataset all that concern it.

CREATE OR REPLACE VIEW dp_cdp.budgets WITH (security_barrier) AS
	SELECT b.dataset,
		who.is AS role,
		trim_scale(b.rho_limit) AS rho_limit,
		trim_scale(spent.rho) AS rho_spent,
		trim_scale(greatest(b.rho_limit - spent.rho, 0)) AS rho_remaining,
		trim_scale(b.delta_limit) AS delta_limit,
		trim_scale(spent.delta) AS delta_spent,
		dp_cdp.epsilon_spent(spent.rho, b.report_delta) AS epsilon_spent,
		b.period,
		coalesce(due.next, b.renews_at) AS renews_at,
		failed.failures,
		d.max_failures,
		failed.failures_end,
		coalesce((SELECT r.rolname::text FROM pg_catalog.pg_roles r WHERE r.oid = who.is), b.role_name) AS role_name,
		who.is IS NULL AS role_missing,
		b.ledger_id
	FROM dp_cdp_internal.budget b
		JOIN dp_cdp_internal.dataset d ON d.name = b.dataset
		-- not by an alias, which is for rows of the audit
		CROSS JOIN LATERAL (SELECT CASE WHEN k.is = b.role THEN k.is END AS is
			FROM (SELECT dp_cdp_internal.known_role(b.role, b.role_name) AS is) k) who
		CROSS JOIN LATERAL (SELECT dp_cdp_internal.next_renewal(b.renews_at, b.period, now()) AS next) due
		CROSS JOIN LATERAL (
			SELECT CASE WHEN due.next <> b.renews_at THEN 0 ELSE b.rho_spent END AS rho,
				CASE WHEN due.next <> b.renews_at THEN 0 ELSE b.delta_spent END AS delta) spent
		CROSS JOIN LATERAL (
			SELECT CASE WHEN today.fresh THEN b.failures ELSE 0 END AS failures,
				CASE WHEN today.fresh AND b.failures > 0 THEN b.failures_since + interval '24:00' END AS failures_end
			FROM (SELECT b.failures_since > clock_timestamp() - interval '24:00' AS fresh) today) failed
	WHERE dp_cdp_internal.is_mine(coalesce(who.is::oid, 0), b.role_name)
		OR dp_cdp_internal.is_mine(d.owner, d.owner_name);
COMMENT ON VIEW dp_cdp.budgets IS
	'budgets of the current roles, and all budgets of a dataset for its owner. A period that is over counts as renewed';
COMMENT ON COLUMN dp_cdp.budgets.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.budgets.rho_limit IS 'how much rho the budget has in a period';
COMMENT ON COLUMN dp_cdp.budgets.rho_remaining IS 'how much rho is left in this period';
COMMENT ON COLUMN dp_cdp.budgets.delta_limit IS 'how much delta private selections of keys may spend';
COMMENT ON COLUMN dp_cdp.budgets.delta_spent IS 'how much delta they have spent in this period';
COMMENT ON COLUMN dp_cdp.budgets.period IS 'how often the budget is renewed; NULL: never';
COMMENT ON COLUMN dp_cdp.budgets.renews_at IS 'when it is renewed next';
COMMENT ON COLUMN dp_cdp.budgets.max_failures IS 'this many failures in a day close the budget';
COMMENT ON COLUMN dp_cdp.budgets.failures_end IS 'when the failures are forgotten';
COMMENT ON COLUMN dp_cdp.budgets.role_name IS 'name of the role, also of one that does not exist any more';
COMMENT ON COLUMN dp_cdp.budgets.role_missing IS 'the role does not exist any more, and nobody has this budget';
COMMENT ON COLUMN dp_cdp.budgets.rho_spent IS
	'rho that is spent. With blocks of time it is that of the block in which most was spent. It bounds what is known of a person''s rows of any one block. For a person with rows in several blocks add these up, by dp_cdp.blocks';
COMMENT ON COLUMN dp_cdp.budgets.role IS
	'NULL: the role that role_name names does not exist any more, and nobody has this budget';
COMMENT ON COLUMN dp_cdp.budgets.ledger_id IS
	'number of the balance, as in paid_by of the audit';
COMMENT ON COLUMN dp_cdp.budgets.failures IS
	'releases that this budget paid for and that failed or were cancelled, since the first of them, at most a day ago. After max_failures of them it pays for no more until failures_end';
COMMENT ON COLUMN dp_cdp.budgets.epsilon_spent IS
	'epsilon that corresponds to rho_spent, at the delta of the budget, or of the dataset where the budget is a rho. On top of that delta comes delta_spent';

CREATE OR REPLACE VIEW dp_cdp.releases WITH (security_barrier) AS
	SELECT l.id, l.released_at, l.dataset,
		dp_cdp_internal.known_role(l.role, l.role_name) AS role,
		dp_cdp_internal.known_role(l.session_role, l.session_role_name) AS session_role,
		l.application,
		l.aggregates, l.groups, trim_scale(l.rho) AS rho, trim_scale(l.delta) AS delta,
		l.stddev, l.granted, l.failed,
		coalesce(l.kind, CASE WHEN l.failed THEN 'failed' WHEN l.granted THEN 'granted' ELSE 'refused' END) AS kind,
		l.reason, l.query, l.tables, l.client, l.repeats, l.last_at,
		l.role_name, l.session_role_name,
		-- it follows from the row before, and would let its guess be tried
		CASE WHEN l.dataset = ANY (dp_cdp_internal.my_datasets()) THEN l.hash END AS hash,
		trim_scale(l.reuse_rho) AS reuse_rho, trim_scale(l.reuse_delta) AS reuse_delta,
		l.block_from, l.block_to
	FROM dp_cdp_internal.release_log l
	WHERE l.dataset = ANY (dp_cdp_internal.my_datasets())
		OR (l.role = ANY (dp_cdp_internal.my_roles()) AND dp_cdp_internal.is_mine(l.role, l.role_name))
		OR (l.session_role = ANY (dp_cdp_internal.my_roles()) AND l.session_role <> l.role
			AND dp_cdp_internal.is_mine(l.session_role, l.session_role_name))
	-- the planner looks into no security barrier: only so are the last rows found by their index
	ORDER BY l.id DESC;
COMMENT ON VIEW dp_cdp.releases IS
	'audit of releases, refused debits and failures: those of the current roles, and all of a dataset for its owner';
COMMENT ON COLUMN dp_cdp.releases.id IS 'number of the row';
COMMENT ON COLUMN dp_cdp.releases.released_at IS 'when the budget was debited, or the query refused';
COMMENT ON COLUMN dp_cdp.releases.dataset IS 'dataset that was asked';
COMMENT ON COLUMN dp_cdp.releases.session_role IS 'the role that has logged in; NULL: it does not exist any more';
COMMENT ON COLUMN dp_cdp.releases.application IS 'application_name of the session';
COMMENT ON COLUMN dp_cdp.releases.aggregates IS 'aggregates that were released';
COMMENT ON COLUMN dp_cdp.releases.groups IS 'keys of GROUP BY';
COMMENT ON COLUMN dp_cdp.releases.rho IS 'rho that was charged';
COMMENT ON COLUMN dp_cdp.releases.delta IS 'delta that was charged for private selections of keys';
COMMENT ON COLUMN dp_cdp.releases.stddev IS 'standard deviation of the noise of the first count or sum inside each aggregate. Where it says by bounds, or by limit, these are found after the debit';
COMMENT ON COLUMN dp_cdp.releases.granted IS 'the ledger has debited the budgets';
COMMENT ON COLUMN dp_cdp.releases.query IS 'text of the statement, as much as dp_cdp.log_query_bytes keeps';
COMMENT ON COLUMN dp_cdp.releases.tables IS 'protected tables that were read';
COMMENT ON COLUMN dp_cdp.releases.client IS 'address of the client';
COMMENT ON COLUMN dp_cdp.releases.last_at IS 'when the last of the repeated refusals was';
COMMENT ON COLUMN dp_cdp.releases.role_name IS 'name that the role had then';
COMMENT ON COLUMN dp_cdp.releases.session_role_name IS 'name that the role of the session had then';
COMMENT ON COLUMN dp_cdp.releases.reuse_delta IS 'the part of delta that was paid for answers that are kept';
COMMENT ON COLUMN dp_cdp.releases.block_to IS 'the end of the blocks that were debited, not included';
COMMENT ON COLUMN dp_cdp.releases.role IS
	'NULL: the role that role_name names does not exist any more';
COMMENT ON COLUMN dp_cdp.releases.kind IS
	'granted, refused (by the ledger), guard (refused before a price was known), failed, correction, or checkpoint (sum of pruned rows of a balance)';
COMMENT ON COLUMN dp_cdp.releases.reason IS
	'why it was not granted, as SQLSTATE and words, such as ZC001 rho; or why it was corrected';
COMMENT ON COLUMN dp_cdp.releases.repeats IS
	'refusals of this role and reason, from released_at to last_at, within a minute, for which this row stands. 0: the row belongs to a release that another row stands for, and these balances owed another amount';
COMMENT ON COLUMN dp_cdp.releases.hash IS
	'sha256 of the row and of the hash of the one before, see dp_cdp.check_ledger(). Owners see it. Others, who could try out by it what was asked, see NULL';
COMMENT ON COLUMN dp_cdp.releases.reuse_rho IS
	'part of rho that was paid for kept answers. Whoever has paid for such an answer knows it, and all cheaper ones, alone. See dp_cdp.spent_together';
COMMENT ON COLUMN dp_cdp.releases.block_from IS
	'first day of the blocks of time that were debited, up to the day before block_to';
COMMENT ON COLUMN dp_cdp.releases.failed IS
	'a release that another row shows as granted, and that failed or was cancelled while it read rows';

-- For auditors, who are not analysts: GRANT SELECT ON dp_cdp.audit TO ...
CREATE OR REPLACE VIEW dp_cdp.audit WITH (security_barrier) AS
	SELECT l.id, l.released_at, l.dataset, l.role, l.session_role, l.application,
		l.aggregates, l.groups, l.rho, l.delta, l.stddev, l.granted, l.failed,
		coalesce(l.kind, CASE WHEN l.failed THEN 'failed' WHEN l.granted THEN 'granted' ELSE 'refused' END) AS kind,
		l.reason, l.query, l.tables, l.client, l.repeats, l.last_at,
		l.role_name, l.session_role_name, l.paid_by, l.hash, l.reuse_rho, l.reuse_delta, l.block_from, l.block_to
	FROM dp_cdp_internal.release_log l;
REVOKE ALL ON dp_cdp.audit FROM PUBLIC;
COMMENT ON VIEW dp_cdp.audit IS
	'the whole audit, with all that is needed to put rows back into a restored ledger. For whom it is granted to';
COMMENT ON COLUMN dp_cdp.audit.paid_by IS 'numbers of the balances that were debited: the budgets'' and the cap''s';
COMMENT ON COLUMN dp_cdp.audit.role IS 'oid that the role had then';
COMMENT ON COLUMN dp_cdp.audit.session_role IS 'oid that the role of the session had then';
COMMENT ON COLUMN dp_cdp.audit.hash IS 'sha256 of the row and of the hash of the one before, see dp_cdp.check_ledger(). Owners see it. Others, who could try out by it what was asked, see NULL';
-- the others are those of dp_cdp.releases
DO $$
DECLARE
	a record;
BEGIN
	FOR a IN SELECT r.attname, pg_catalog.col_description(r.attrelid, r.attnum) AS text
		FROM pg_catalog.pg_attribute r WHERE r.attrelid = 'dp_cdp.releases'::pg_catalog.regclass AND r.attnum > 0
			AND r.attname NOT IN ('role', 'session_role', 'hash')
	LOOP
		EXECUTE pg_catalog.format('COMMENT ON COLUMN dp_cdp.audit.%I IS %L', a.attname, a.text);
	END LOOP;
END $$;

CREATE OR REPLACE VIEW dp_cdp.datasets WITH (security_barrier) AS
	SELECT d.name AS dataset,
		dp_cdp_internal.known_role(d.owner, d.owner_name) AS owner,
		trim_scale(d.rho_limit) AS rho_limit,
		CASE WHEN own.er THEN trim_scale(d.rho_spent) END AS rho_spent,
		CASE WHEN own.er AND d.rho_limit IS NOT NULL THEN trim_scale(greatest(d.rho_limit - d.rho_spent, 0)) END AS rho_remaining,
		trim_scale(d.delta_limit) AS delta_limit,
		CASE WHEN own.er THEN trim_scale(d.delta_spent) END AS delta_spent,
		CASE WHEN own.er THEN dp_cdp.epsilon_spent(d.rho_spent, d.delta_limit) END AS epsilon_spent,
		trim_scale(d.default_rho) AS default_rho,
		trim_scale(d.max_rho) AS max_rho,
		trim_scale(d.default_delta) AS default_delta,
		d.max_groups,
		d.max_rows,
		d.neighbors,
		trim_scale(coalesce(d.min_rho, greatest(trunc(d.default_rho / 100, 12), 1e-12))) AS min_rho,
		d.max_failures,
		d.answer_step,
		d.owner_name,
		d.release_memory,
		d.find_bounds,
		d.reuse,
		d.forgotten_at,
		d.reuse_dumped,
		d.block_every,
		d.consistent,
		d.pull_rows,
		d.key_delta_share,
		coalesce(d.max_contribution, CASE WHEN d.max_groups IS NULL OR d.max_rows IS NULL THEN 'auto' END) AS max_contribution,
		d.min_units
	FROM dp_cdp_internal.dataset d
		CROSS JOIN LATERAL (SELECT dp_cdp_internal.is_mine(d.owner, d.owner_name) AS er) own
	WHERE own.er
		OR EXISTS (SELECT FROM dp_cdp_internal.budget b
			WHERE b.dataset = d.name AND dp_cdp_internal.is_mine(b.role, b.role_name));
COMMENT ON VIEW dp_cdp.datasets IS
	'datasets that one owns or has a budget in, with their settings and lifetime caps. Owners see what is spent over all roles. Others see NULL, because a price may follow from answers that somebody else has paid for';
COMMENT ON COLUMN dp_cdp.datasets.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.datasets.owner IS 'role that sets its policy and gives budgets';
COMMENT ON COLUMN dp_cdp.datasets.rho_limit IS 'lifetime cap on the rho of all roles together; NULL: none';
COMMENT ON COLUMN dp_cdp.datasets.rho_spent IS 'rho that all roles have spent together; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.rho_remaining IS 'rho that is left under the cap; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.delta_limit IS 'lifetime cap on delta, at which epsilon is given, too';
COMMENT ON COLUMN dp_cdp.datasets.delta_spent IS 'delta that all roles have spent together; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.epsilon_spent IS 'epsilon that corresponds to rho_spent, at delta_limit; for the owner alone';
COMMENT ON COLUMN dp_cdp.datasets.default_rho IS 'price of one aggregate, where dp_cdp.rho is not set';
COMMENT ON COLUMN dp_cdp.datasets.max_rho IS 'the most that one aggregate may cost; NULL: no such limit';
COMMENT ON COLUMN dp_cdp.datasets.default_delta IS 'price of one private selection of keys, where dp_cdp.delta is not set';
COMMENT ON COLUMN dp_cdp.datasets.max_groups IS 'the most groups of a query in which a person counts; NULL: no such limit';
COMMENT ON COLUMN dp_cdp.datasets.max_rows IS 'how many rows of a person count in a group; NULL: no such limit';
COMMENT ON COLUMN dp_cdp.datasets.neighbors IS 'add_remove: a person is in the data or is not; replace_one: his rows are replaced by others';
COMMENT ON COLUMN dp_cdp.datasets.min_rho IS 'the least that one aggregate may cost';
COMMENT ON COLUMN dp_cdp.datasets.max_failures IS 'this many failures in a day close a budget';
COMMENT ON COLUMN dp_cdp.datasets.answer_step IS 'answers and failures leave at a multiple of this time; NULL: at once';
COMMENT ON COLUMN dp_cdp.datasets.owner_name IS 'name of the owner, also of one that does not exist any more';
COMMENT ON COLUMN dp_cdp.datasets.release_memory IS 'kB that declared keys and their groups may take; NULL: as much as the server allows';
COMMENT ON COLUMN dp_cdp.datasets.find_bounds IS 'share of an aggregate''s price for finding bounds that nobody has declared; NULL: they are not found';
COMMENT ON COLUMN dp_cdp.datasets.reuse IS 'how long answers are kept and given again; NULL: never';
COMMENT ON COLUMN dp_cdp.datasets.forgotten_at IS 'when all kept answers were last ended, by forget_answers or unprotect_table';
COMMENT ON COLUMN dp_cdp.datasets.reuse_dumped IS 'kept answers are in dumps of the database';
COMMENT ON COLUMN dp_cdp.datasets.consistent IS 'counts and sums of grouping sets are made to add up';
COMMENT ON COLUMN dp_cdp.datasets.pull_rows IS 'rows of distributed tables may leave their servers, where these cannot add up what is asked for';

COMMENT ON COLUMN dp_cdp.datasets.block_every IS
	'length of blocks of time. Caps and budgets hold for a person''s rows of each block, and what is known of a person with rows in several blocks adds up. NULL: the dataset has no blocks, and they hold for all rows of a person';

COMMENT ON COLUMN dp_cdp.datasets.key_delta_share IS
	'the share of the delta of an (epsilon, delta) budget that set_budget keeps for selecting keys';
COMMENT ON COLUMN dp_cdp.datasets.max_contribution IS
	'norm to which the rows of a person in all groups of a query are scaled. It is a number of rows, or auto, which finds it privately. NULL: max_groups and max_rows alone limit these rows';
COMMENT ON COLUMN dp_cdp.datasets.min_units IS
	'groups of fewer people than this are not shown. A group of declared keys is shown with NULL for its answers where its noisy number of people is below it. 1: no such limit';

-- pg_settings says where a value comes from; a value of '' is none.  Of settings that datasets have no part in the server shows
-- what holds, with its unit.
CREATE OR REPLACE VIEW dp_cdp.settings WITH (security_barrier) AS
	SELECT d.dataset, g.setting, g.value AS session, s.own AS dataset_value,
		CASE g.setting
			WHEN 'dp_cdp.reuse' THEN CASE WHEN g.value = 'off' THEN 'off' ELSE coalesce(s.own, 'off') END
			WHEN 'dp_cdp.release_memory' THEN least(coalesce(g.value, g.boot)::int, d.release_memory)::dp_cdp.memory::text
			ELSE coalesce(g.value, s.own, g.boot)
		END AS in_effect,
		CASE
			WHEN g.setting = 'dp_cdp.release_memory' THEN CASE WHEN d.release_memory < coalesce(g.value, g.boot)::int
				THEN 'the dataset allows less than the server' ELSE 'the server''s, of which the dataset takes nothing away' END
			WHEN g.setting = 'dp_cdp.reuse' AND s.own IS NULL THEN 'the dataset keeps no answers'
			WHEN g.setting = 'dp_cdp.reuse' AND g.value IS DISTINCT FROM 'off' THEN 'the dataset keeps answers for so long'
			WHEN g.value IS NULL AND s.setting IS NULL THEN 'the server''s default, which no dataset changes'
			WHEN g.value IS NULL AND s.own IS NULL THEN 'neither the session nor the dataset says anything'
			WHEN g.value IS NULL THEN 'the dataset''s default'
			WHEN g.source = 'session' THEN 'SET in this session'
			WHEN g.source = 'client' THEN 'set by the client when it connected'
			WHEN g.source IN ('user', 'database user') THEN 'ALTER ROLE ... SET'
			WHEN g.source = 'database' THEN 'ALTER DATABASE ... SET'
			ELSE 'set for the server'
		END AS because
	FROM dp_cdp.datasets d
		CROSS JOIN (
			SELECT p.name AS setting, p.source, CASE WHEN p.source <> 'default' THEN nullif(p.setting, '') END AS value,
				CASE p.name WHEN 'dp_cdp.release_memory' THEN p.boot_val WHEN 'dp_cdp.find_bounds' THEN 'off'
					ELSE nullif(current_setting(p.name), '') END AS boot
			FROM pg_catalog.pg_settings p WHERE p.name LIKE 'dp\_cdp.%') g
		LEFT JOIN LATERAL (VALUES
			('dp_cdp.rho', d.default_rho::text),
			('dp_cdp.delta', d.default_delta::text),
			('dp_cdp.target_error', NULL),
			('dp_cdp.max_contribution', d.max_contribution),
			('dp_cdp.max_groups', d.max_groups::text),
			('dp_cdp.max_rows', d.max_rows::text),
			('dp_cdp.find_bounds', d.find_bounds::text),
			('dp_cdp.consistent', CASE WHEN d.consistent THEN 'on' ELSE 'off' END),
			('dp_cdp.reuse', CASE WHEN d.reuse > interval '0' THEN d.reuse::text END),
			('dp_cdp.release_memory', d.release_memory::dp_cdp.memory::text)) s(setting, own) ON s.setting = g.setting;
COMMENT ON VIEW dp_cdp.settings IS
	'settings that a query of this session would run with, and why. One row for each setting of each dataset that one owns or has a budget in';
COMMENT ON COLUMN dp_cdp.settings.dataset IS
	'name of the dataset';
COMMENT ON COLUMN dp_cdp.settings.setting IS
	'name of the setting, for SET';
COMMENT ON COLUMN dp_cdp.settings.because IS
	'who decided so';
COMMENT ON COLUMN dp_cdp.settings.session IS
	'value that the session, the role, the database or the server sets; NULL: none';
COMMENT ON COLUMN dp_cdp.settings.dataset_value IS
	'value that the dataset''s owner has set; NULL: none';
COMMENT ON COLUMN dp_cdp.settings.in_effect IS
	'value that holds; NULL: no limit, or no target';

CREATE OR REPLACE VIEW dp_cdp.blocks WITH (security_barrier) AS
	SELECT b.dataset, b.role, b.role_name, k.block_from, k.block_to,
		trim_scale(k.rho_spent) AS rho_spent,
		trim_scale(greatest(b.rho_limit - k.rho_spent, 0)) AS rho_remaining,
		trim_scale(k.delta_spent) AS delta_spent,
		b.ledger_id
	FROM (SELECT v.dataset, v.role, v.role_name, v.rho_limit, v.ledger_id
			FROM dp_cdp.budgets v JOIN dp_cdp_internal.budget c ON c.ledger_id = v.ledger_id
			-- a period that is over counts as renewed
			WHERE c.renews_at IS NOT DISTINCT FROM v.renews_at
		UNION ALL
		SELECT d.name, NULL, NULL, d.rho_limit, d.ledger_id FROM dp_cdp_internal.dataset d
			WHERE dp_cdp_internal.is_mine(d.owner, d.owner_name)) b
		JOIN dp_cdp_internal.block_spent k ON k.ledger_id = b.ledger_id;
COMMENT ON VIEW dp_cdp.blocks IS
	'rho and delta that budgets have spent in each block of time. Analysts see those of their current roles. The owner of a dataset sees all, and the cap (role_name NULL). A row is for blocks from block_from on and before block_to; nothing is spent in other blocks. Each row bounds what is known of a person''s rows of one of its blocks. For a person with rows in several blocks, add these up';
COMMENT ON COLUMN dp_cdp.blocks.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.blocks.role IS 'role that has the budget; NULL: the cap, or the role does not exist any more';
COMMENT ON COLUMN dp_cdp.blocks.role_name IS 'name of the role; NULL: the dataset''s cap';
COMMENT ON COLUMN dp_cdp.blocks.block_from IS 'first day of the block';
COMMENT ON COLUMN dp_cdp.blocks.block_to IS 'end of the block, not included';
COMMENT ON COLUMN dp_cdp.blocks.rho_spent IS 'rho that was spent in the block';
COMMENT ON COLUMN dp_cdp.blocks.rho_remaining IS 'rho that is left in it';
COMMENT ON COLUMN dp_cdp.blocks.delta_spent IS 'delta that was spent in it';
COMMENT ON COLUMN dp_cdp.blocks.ledger_id IS 'number of the balance, as in paid_by of the audit';

CREATE OR REPLACE VIEW dp_cdp.protected WITH (security_barrier) AS
	SELECT l.objoid::regclass AS "table",
		l.label ->> 'dataset' AS dataset,
		columns.unit,
		columns.columns,
		columns.through,
		columns.block
	FROM (SELECT objoid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
			FROM pg_catalog.pg_seclabel
			WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass AND objsubid = 0) l
		JOIN pg_catalog.pg_class c ON c.oid = l.objoid
		LEFT JOIN dp_cdp_internal.dataset d ON d.name = l.label ->> 'dataset'
		CROSS JOIN LATERAL (
			SELECT (array_agg(a.attname) FILTER (WHERE s.label ? 'unit'))[1] AS unit,
				(array_agg(a.attname) FILTER (WHERE s.label ? 'block'))[1] AS block,
				jsonb_object_agg(a.attname, s.label - '{unit,through,block}'::text[])
					FILTER (WHERE s.label - '{unit,through,block}'::text[] <> '{}') AS columns,
				string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE s.label ? 'through') AS through
			FROM (SELECT objsubid, CASE WHEN provider = 'dp_cdp' THEN label::jsonb END AS label
					FROM pg_catalog.pg_seclabel
					WHERE provider = 'dp_cdp' AND classoid = 'pg_catalog.pg_class'::regclass
						AND objoid = c.oid AND objsubid > 0) s
				JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.objsubid) columns
	WHERE pg_has_role(session_user, c.relowner, 'USAGE')
		OR pg_has_role(current_user, c.relowner, 'USAGE')
		OR dp_cdp_internal.is_mine(d.owner, d.owner_name)
		OR EXISTS (SELECT FROM dp_cdp_internal.budget b
			WHERE b.dataset = l.label ->> 'dataset' AND dp_cdp_internal.is_mine(b.role, b.role_name));
COMMENT ON VIEW dp_cdp.protected IS
	'protected tables that one owns or has a budget for, with dataset, privacy unit, bounds and declared keys of columns. In through are the columns of the foreign key that leads to the unit. Where unit and through are NULL, each row is one. In block is the column that says in which block of time a row is';
COMMENT ON COLUMN dp_cdp.protected."table" IS 'the protected table';
COMMENT ON COLUMN dp_cdp.protected.dataset IS 'dataset whose policy it has';
COMMENT ON COLUMN dp_cdp.protected.unit IS 'column that names the person; NULL: see through';
COMMENT ON COLUMN dp_cdp.protected.columns IS 'bounds, totals and keys of its columns';
COMMENT ON COLUMN dp_cdp.protected.through IS 'columns of the foreign key that leads to the person; NULL with unit NULL: each row is a person';
COMMENT ON COLUMN dp_cdp.protected.block IS 'column that says in which block of time a row is';

GRANT SELECT ON dp_cdp.budgets, dp_cdp.releases, dp_cdp.datasets, dp_cdp.settings, dp_cdp.protected, dp_cdp.blocks TO PUBLIC;

