-- =========================================================================
-- 5. Ledger (src/ledger)
-- =========================================================================

REVOKE ALL ON dp_cdp_internal.dataset, dp_cdp_internal.budget, dp_cdp_internal.release_log, dp_cdp_internal.ledger_stamp,
	dp_cdp_internal.ledger_chain, dp_cdp_internal.pruned, dp_cdp_internal.role_alias, dp_cdp_internal.kept_answer, dp_cdp_internal.block_spent FROM PUBLIC;

-- A debit updates two or three rows, always the same ones: room on their pages
-- lets the new versions stay there, and vacuum should come often.
ALTER TABLE dp_cdp_internal.dataset SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.budget SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.ledger_chain SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.block_spent SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp_internal.release_log SET (vacuum_truncate = off);

-- Dumped with their contents.  A restored ledger waits for adopt_ledger().
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.dataset', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.budget', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.release_log', '');
COMMENT ON SEQUENCE dp_cdp_internal.release_log_id_seq IS 'numbers of the rows of dp_cdp_internal.release_log';
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.release_log_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.ledger_stamp', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.ledger_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.ledger_chain', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.pruned', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.role_alias', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.kept_answer', 'WHERE dumped');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp_internal.block_spent', '');

-- Balances change only through the worker and the functions of this schema.
CREATE OR REPLACE FUNCTION dp_cdp_internal.ledger_guard() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_ledger_guard';
REVOKE ALL ON FUNCTION dp_cdp_internal.ledger_guard() FROM PUBLIC;

CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.dataset
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.budget
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.release_log
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.ledger_stamp
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.ledger_chain
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.pruned
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.role_alias
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.kept_answer
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.block_spent
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.dataset
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.budget
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.release_log
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.ledger_stamp
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.ledger_chain
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.pruned
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.role_alias
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.kept_answer
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp_internal.block_spent
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp_internal.ledger_guard();
ALTER TABLE dp_cdp_internal.dataset ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.budget ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.release_log ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.ledger_stamp ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.ledger_chain ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.pruned ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.role_alias ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.kept_answer ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp_internal.block_spent ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;

-- Whose rows are whose, for the views.
CREATE OR REPLACE FUNCTION dp_cdp_internal.known_role(role oid, name text) RETURNS regrole
	LANGUAGE C CALLED ON NULL INPUT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_known_role';
COMMENT ON FUNCTION dp_cdp_internal.known_role(oid, text) IS
	'role that a row of the ledger means by an OID and a name. NULL: there is no such role any more';
CREATE OR REPLACE FUNCTION dp_cdp_internal.is_mine(role oid, name text) RETURNS boolean
	LANGUAGE C CALLED ON NULL INPUT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_is_mine';
COMMENT ON FUNCTION dp_cdp_internal.is_mine(oid, text) IS
	'is the role that a row of the ledger means one of the session''s, or one that it inherits from';
CREATE OR REPLACE FUNCTION dp_cdp_internal.my_roles() RETURNS oid[]
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_my_roles';
COMMENT ON FUNCTION dp_cdp_internal.my_roles() IS
	'OIDs in rows of the ledger that may mean a role of the session''s, or one that it inherits from';
CREATE OR REPLACE FUNCTION dp_cdp_internal.my_datasets() RETURNS text[]
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_my_datasets';
COMMENT ON FUNCTION dp_cdp_internal.my_datasets() IS
	'datasets that the session owns';

-- What logical replication brings is not applied, here nor to the tables above:
-- a trigger of one of the two kinds is on each table of this schema.
CREATE OR REPLACE FUNCTION dp_cdp_internal.not_replicated() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_ledger_not_replicated';
REVOKE ALL ON FUNCTION dp_cdp_internal.not_replicated() FROM PUBLIC;
CREATE OR REPLACE TRIGGER not_replicated BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp_internal.hardened
	FOR EACH ROW EXECUTE FUNCTION dp_cdp_internal.not_replicated();
ALTER TABLE dp_cdp_internal.hardened ENABLE ALWAYS TRIGGER not_replicated;

-- The rules that the worker applies, for views and for adopt_ledger().
CREATE OR REPLACE FUNCTION dp_cdp_internal.role_pays(payer oid, role oid) RETURNS boolean
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_role_pays';
COMMENT ON FUNCTION dp_cdp_internal.role_pays(oid, oid) IS
	'is the payer charged to budgets of this role: by inheritance, for superusers by membership';
CREATE OR REPLACE FUNCTION dp_cdp_internal.next_renewal(renews_at timestamptz, period interval, now timestamptz) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_next_renewal';
COMMENT ON FUNCTION dp_cdp_internal.next_renewal(timestamptz, interval, timestamptz) IS
	'when a budget renews next, seen from now; differs from renews_at when a renewal is due';
CREATE OR REPLACE FUNCTION dp_cdp_internal.period_start(renews_at timestamptz, period interval) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_period_start';
COMMENT ON FUNCTION dp_cdp_internal.period_start(timestamptz, interval) IS
	'when the period began that ends at renews_at';

CREATE OR REPLACE FUNCTION dp_cdp.clock_ahead() RETURNS interval
	LANGUAGE C STRICT VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_clock_ahead';
COMMENT ON FUNCTION dp_cdp.clock_ahead() IS
	'how far the server''s clock was set ahead while the server ran. Nothing is renewed by that much. 0: it was not, or was accepted';
CREATE OR REPLACE FUNCTION dp_cdp.accept_clock() RETURNS interval
	LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME', 'dp_ledger_accept_clock';
REVOKE ALL ON FUNCTION dp_cdp.accept_clock() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.accept_clock() IS
	'has budgets renewed by the server''s clock as it is now, although it was set ahead while the server ran. It returns by how much. For the owner of the extension';

CREATE OR REPLACE FUNCTION dp_cdp.worker_slots(OUT needed int, OUT available int)
	LANGUAGE C STRICT STABLE AS 'MODULE_PATHNAME', 'dp_ledger_worker_slots';
COMMENT ON FUNCTION dp_cdp.worker_slots() IS
	'background workers that ledgers, parallel queries and logical replication need together; and max_worker_processes';

CREATE OR REPLACE FUNCTION dp_cdp.debit_budget(dataset text, rho numeric, delta numeric DEFAULT 0) RETURNS numeric
	LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_ledger_debit_by_hand';
REVOKE ALL ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric) IS
	'debits the caller''s budgets by hand, for an answer given outside of the database. It returns the rho that was debited, rounded up to the ledger''s digits';

CREATE OR REPLACE FUNCTION dp_cdp.debit_budget(dataset text, rho numeric, delta numeric, role regrole) RETURNS numeric
	LANGUAGE C VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_debit_for';
COMMENT ON FUNCTION dp_cdp.debit_budget(text, numeric, numeric, regrole) IS
	'debits a role''s budgets by hand, for an answer given outside of the database. It returns the rho that was debited, rounded up to the ledger''s digits. For the owner of the dataset';

CREATE OR REPLACE FUNCTION dp_cdp.correct_spent(dataset text, role regrole, rho numeric, reason text) RETURNS numeric
	LANGUAGE C VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_correct';
COMMENT ON FUNCTION dp_cdp.correct_spent(text, regrole, numeric, text) IS
	'adds rho to what a role''s budget and the dataset''s cap have spent, with a reason. With role NULL it changes the cap alone. It returns what it added. For the owner of the dataset; a negative rho is for superusers';

CREATE OR REPLACE FUNCTION dp_cdp.prune_releases(before timestamptz) RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off
	AS 'MODULE_PATHNAME', 'dp_ledger_prune';
COMMENT ON FUNCTION dp_cdp.prune_releases(timestamptz) IS
	'makes older rows of the audit into one checkpoint for each balance. Owners of datasets prune their rows, the owner of the extension prunes all';

CREATE OR REPLACE FUNCTION dp_cdp_internal.check_chain(OUT id bigint, OUT finding text) RETURNS SETOF record
	LANGUAGE C STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_check_chain';
REVOKE ALL ON FUNCTION dp_cdp_internal.check_chain() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.check_chain() IS
	'rows of the audit whose hash does not follow from their text and the row before';

-- Findings that a look at the catalogues brings, whatever is left of the tables.
CREATE OR REPLACE FUNCTION dp_cdp_internal.table_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH wanted (name, key) AS (
	VALUES ('dataset', 'name'), ('budget', 'dataset, role, role_name'), ('release_log', 'id'), ('ledger_stamp', 'one'), ('ledger_chain', 'one'),
		('pruned', 'first_id'), ('role_alias', 'role, role_name'), ('kept_answer', 'fingerprint, began, rho, delta'), ('block_spent', 'ledger_id, block_from')
), tables AS (
	SELECT c.oid, c.relpersistence, c.relname, w.key
	FROM wanted w JOIN pg_class c ON c.relname = w.name AND c.relnamespace = to_regnamespace('dp_cdp_internal') AND c.relkind = 'r'
)
SELECT 'critical', format('trigger %s on dp_cdp_internal.%s', n.name, t.relname),
	'is missing, disabled or changed: rows of the ledger can be changed unseen',
	CASE WHEN g.oid IS NULL THEN format('CREATE OR REPLACE TRIGGER %s BEFORE %s ON dp_cdp_internal.%s FOR EACH %s EXECUTE FUNCTION dp_cdp_internal.ledger_guard(); ',
		n.name, n.events, t.relname, n.each) ELSE '' END
		|| format('ALTER TABLE dp_cdp_internal.%s ENABLE ALWAYS TRIGGER %s', t.relname, n.name)
FROM tables t
	-- tgtype: before 2, row 1, insert 4, delete 8, update 16, truncate 32
	CROSS JOIN (VALUES ('ledger_guard', 'INSERT OR UPDATE OR DELETE', 'ROW', 31),
		('ledger_guard_truncate', 'TRUNCATE', 'STATEMENT', 34)) n(name, events, each, type)
	LEFT JOIN pg_trigger g ON g.tgrelid = t.oid AND g.tgname = n.name AND g.tgtype = n.type AND g.tgattr = ''
		AND g.tgfoid = to_regprocedure('dp_cdp_internal.ledger_guard()') AND g.tgqual IS NULL
WHERE g.tgenabled IS DISTINCT FROM 'A'
UNION ALL
SELECT 'critical', format('dp_cdp_internal.%s', t.relname), 'is UNLOGGED: a crash empties it',
	format('ALTER TABLE dp_cdp_internal.%s SET LOGGED', t.relname)
FROM tables t WHERE t.relpersistence <> 'p'
UNION ALL
SELECT 'critical', format('dp_cdp_internal.%s', w.name), 'is missing', 'restore the database from a backup, then SELECT dp_cdp.adopt_ledger(surcharge_rho => ...)'
FROM wanted w WHERE NOT EXISTS (SELECT FROM tables t WHERE t.relname = w.name)
UNION ALL
SELECT 'critical', format('dp_cdp_internal.%s', t.relname), 'has lost its primary key: debits fail, and a row can be there twice',
	format('ALTER TABLE dp_cdp_internal.%s ADD PRIMARY KEY (%s)', t.relname, t.key)
FROM tables t WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary AND i.indisvalid)
UNION ALL
SELECT 'critical', format('event trigger %s', n.name), 'is missing, disabled or changed: ' || n.lost,
	CASE WHEN g.oid IS NULL THEN 'restore the database from a backup' ELSE format('ALTER EVENT TRIGGER %I ENABLE ALWAYS', n.name) END
FROM (VALUES ('dp_cdp_keep_ledger', 'keep_ledger', 'where the library is not loaded, DROP EXTENSION erases the ledger'),
		('dp_cdp_extensions', 'tell_of_extension', 'extensions that tell numbers of rows come unseen')) n(name, function, lost)
	LEFT JOIN pg_event_trigger g ON g.evtname = n.name AND g.evtfoid = to_regprocedure(format('dp_cdp_internal.%s()', n.function))
WHERE g.evtenabled IS DISTINCT FROM 'A'
$$;
COMMENT ON FUNCTION dp_cdp_internal.table_findings() IS
	'faults of the ledger''s tables, their keys and triggers, by the catalogues';

-- Findings that a look at the sequences and at the end of the log brings: cheap, for check_setup(), too.
CREATE OR REPLACE FUNCTION dp_cdp_internal.ledger_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
WITH last AS (
	SELECT l.id, l.hash FROM dp_cdp_internal.release_log l WHERE l.hash IS NOT NULL ORDER BY l.id DESC LIMIT 1
)
SELECT 'critical', 'audit', 'it does not end with the row that the ledger wrote last: rows were deleted, or put back',
	'find out who did that, then SELECT dp_cdp.adopt_ledger(surcharge_rho => ...)'
FROM (SELECT) one LEFT JOIN dp_cdp_internal.ledger_chain c ON true LEFT JOIN last l ON true
	LEFT JOIN (SELECT max(last_id) AS last_id FROM dp_cdp_internal.pruned) p ON true
WHERE c.id IS DISTINCT FROM greatest(l.id, p.last_id)
	OR (l.id > coalesce(p.last_id, 0) AND c.hash IS DISTINCT FROM l.hash)
UNION ALL
SELECT 'critical', s.name, format('stands at %s, and the greatest number in use is %s: it was set by hand, and debits fail or will', s.last_value, s.greatest),
	format('SELECT setval(%L, %s)', s.name, greatest(s.greatest, 1))
FROM (
	SELECT 'dp_cdp_internal.release_log_id_seq', q.last_value, q.is_called, (SELECT max(id) FROM dp_cdp_internal.release_log)
	FROM dp_cdp_internal.release_log_id_seq q
	UNION ALL
	SELECT 'dp_cdp_internal.ledger_id_seq', q.last_value, q.is_called,
		greatest((SELECT max(ledger_id) FROM dp_cdp_internal.dataset), (SELECT max(ledger_id) FROM dp_cdp_internal.budget))
	FROM dp_cdp_internal.ledger_id_seq q) AS s(name, last_value, is_called, greatest)
-- restores set numbers back, and the ledger goes on from what it finds
WHERE s.last_value > 9e18 OR s.name ~ 'log' AND (s.last_value < s.greatest OR s.last_value = s.greatest AND NOT s.is_called)
UNION ALL
SELECT 'critical', q.seqrelid::regclass::text,
	format('was altered, and counts from %s to %s by %s%s: debits fail or will', q.seqmin, q.seqmax, q.seqincrement, CASE WHEN q.seqcycle THEN ', in cycles' ELSE '' END),
	format('ALTER SEQUENCE %s INCREMENT BY 1 MINVALUE 1 NO MAXVALUE NO CYCLE', q.seqrelid::regclass)
FROM pg_sequence q WHERE q.seqrelid IN ('dp_cdp_internal.release_log_id_seq'::regclass, 'dp_cdp_internal.ledger_id_seq'::regclass)
	AND (q.seqmin, q.seqmax, q.seqincrement, q.seqcycle) <> (1, 9223372036854775807, 1, false)
$$;
COMMENT ON FUNCTION dp_cdp_internal.ledger_findings() IS
	'faults of the ledger''s sequences and of the end of its log, at a glance. Every row is looked at by check_ledger()';

-- What the log says that each balance has spent, from which day on until the next
-- such day.  A row counts for each balance in paid_by, from the row on with which
-- its period began, in the blocks of its days; without blocks, on all days.
CREATE OR REPLACE FUNCTION dp_cdp_internal.logged_steps()
	RETURNS TABLE(ledger_id bigint, block_from date, rho numeric, delta numeric)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH rows AS (
	SELECT p.id, coalesce(l.block_from, '-infinity') AS block_from, coalesce(l.block_to, 'infinity') AS block_to,
		sum(l.rho) AS rho, sum(l.delta) AS delta
	FROM dp_cdp_internal.release_log l CROSS JOIN LATERAL unnest(l.paid_by) AS p(id)
		JOIN (SELECT d.ledger_id, 0::bigint AS since FROM dp_cdp_internal.dataset d
			UNION ALL SELECT b.ledger_id, b.spent_since FROM dp_cdp_internal.budget b) s ON s.ledger_id = p.id AND l.id >= s.since
	GROUP BY 1, 2, 3
), changes AS (
	SELECT r.id, r.block_from AS day, r.rho, r.delta FROM rows r
	UNION ALL SELECT r.id, r.block_to, -r.rho, -r.delta FROM rows r WHERE r.block_to < 'infinity'
)
SELECT c.id, c.day, sum(sum(c.rho)) OVER w, sum(sum(c.delta)) OVER w
FROM changes c GROUP BY c.id, c.day
WINDOW w AS (PARTITION BY c.id ORDER BY c.day)
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.logged_steps() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.logged_steps() IS
	'sums of the rows of the audit for each balance, from a day on until the next. Without blocks, from -infinity on';

-- With blocks, the maximum over them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.logged_balances()
	RETURNS TABLE(dataset text, role oid, role_name text, rho_spent numeric, rho_logged numeric,
				  delta_spent numeric, delta_logged numeric, ledger_id bigint)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH balances AS (
	SELECT d.ledger_id, d.name AS dataset, NULL::oid AS role, NULL::text AS role_name, d.rho_spent, d.delta_spent
	FROM dp_cdp_internal.dataset d
	UNION ALL
	SELECT b.ledger_id, b.dataset, b.role, b.role_name, b.rho_spent, b.delta_spent FROM dp_cdp_internal.budget b
), sums AS (
	SELECT s.ledger_id AS id, max(s.rho) AS rho, max(s.delta) AS delta FROM dp_cdp_internal.logged_steps() s GROUP BY 1
)
SELECT b.dataset, b.role, b.role_name, b.rho_spent, coalesce(s.rho, 0), b.delta_spent, coalesce(s.delta, 0),
	b.ledger_id
FROM balances b LEFT JOIN sums s ON s.id = b.ledger_id
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.logged_balances() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.logged_balances() IS
	'each balance (role NULL: the dataset''s cap) beside what the rows of the audit add up to';

CREATE OR REPLACE FUNCTION dp_cdp.spent_together(dataset text, roles regrole[])
	RETURNS TABLE(dataset text, rho numeric, delta numeric, epsilon float8, rho_sum numeric)
	LANGUAGE C STRICT STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off
	AS 'MODULE_PATHNAME', 'dp_ledger_collusion';
COMMENT ON FUNCTION dp_cdp.spent_together(text, regrole[]) IS
	'rho that roles have spent together in a dataset, or in each with ''*''. A kept answer counts once, as the dearest that one of them has paid for, and every other release counts for itself. The epsilon is at the dataset''s delta, and rho_sum counts kept answers as often as they were paid for. For owners of datasets, and for oneself';

-- Days on which a balance with blocks is not what the log says.
CREATE OR REPLACE FUNCTION dp_cdp_internal.logged_blocks()
	RETURNS TABLE(ledger_id bigint, block_from date, block_to date, rho_spent numeric, rho_logged numeric,
				  delta_spent numeric, delta_logged numeric)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
WITH balances AS (
	SELECT d.ledger_id FROM dp_cdp_internal.dataset d WHERE d.block_every IS NOT NULL
	UNION ALL
	SELECT b.ledger_id FROM dp_cdp_internal.budget b JOIN dp_cdp_internal.dataset d ON d.name = b.dataset WHERE d.block_every IS NOT NULL
), changes AS (
	SELECT k.ledger_id AS id, k.block_from AS day, k.rho_spent AS rho, k.delta_spent AS delta, 0::numeric AS l_rho, 0::numeric AS l_delta
	FROM dp_cdp_internal.block_spent k
	UNION ALL
	SELECT k.ledger_id, k.block_to, -k.rho_spent, -k.delta_spent, 0, 0 FROM dp_cdp_internal.block_spent k WHERE k.block_to < 'infinity'
	UNION ALL
	SELECT s.ledger_id, s.block_from, 0, 0, s.rho - lag(s.rho, 1, 0) OVER w, s.delta - lag(s.delta, 1, 0) OVER w
	FROM dp_cdp_internal.logged_steps() s WINDOW w AS (PARTITION BY s.ledger_id ORDER BY s.block_from)
)
SELECT c.id, c.day, coalesce(lead(c.day) OVER w, 'infinity'), sum(sum(c.rho)) OVER w, sum(sum(c.l_rho)) OVER w,
	sum(sum(c.delta)) OVER w, sum(sum(c.l_delta)) OVER w
FROM changes c JOIN balances b ON b.ledger_id = c.id
GROUP BY c.id, c.day
WINDOW w AS (PARTITION BY c.id ORDER BY c.day)
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.logged_blocks() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.logged_blocks() IS
	'rho and delta that each balance of a dataset with blocks has spent in them, beside the sums of the audit''s rows';

CREATE OR REPLACE FUNCTION dp_cdp_internal.balance_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN b.rho_spent < b.rho_logged OR b.delta_spent < b.delta_logged OR b.rho_spent < 0 OR b.delta_spent < 0
			THEN 'critical' ELSE 'warning' END,
		CASE WHEN b.role IS NULL THEN format('cap of dataset %s', quote_ident(b.dataset))
			ELSE format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)) END,
		format('has spent rho %s and delta %s, and the audit adds up to rho %s and delta %s',
			trim_scale(b.rho_spent), trim_scale(b.delta_spent), trim_scale(b.rho_logged), trim_scale(b.delta_logged)),
		CASE WHEN b.rho_spent < b.rho_logged THEN format('SELECT dp_cdp.correct_spent(%L, %L, %s, ''...'')', b.dataset,
				b.role_name, trim_scale(b.rho_logged - b.rho_spent))
			ELSE 'put rows of an exported audit back, if there are more' END
	FROM dp_cdp_internal.logged_balances() b
	WHERE b.rho_spent <> b.rho_logged OR b.delta_spent <> b.delta_logged OR b.rho_spent < 0 OR b.delta_spent < 0
	UNION ALL
	SELECT CASE WHEN k.rho_spent < k.rho_logged OR k.delta_spent < k.delta_logged OR k.rho_spent < 0 OR k.delta_spent < 0
			THEN 'critical' ELSE 'warning' END,
		format('balance %s, blocks from %s to before %s', k.ledger_id, k.block_from, k.block_to),
		format('has spent rho %s and delta %s there, and the audit adds up to rho %s and delta %s',
			trim_scale(k.rho_spent), trim_scale(k.delta_spent), trim_scale(k.rho_logged), trim_scale(k.delta_logged)),
		'SELECT dp_cdp.adopt_ledger() raises it to the audit; or put rows of an exported audit back, if there are more'
	FROM dp_cdp_internal.logged_blocks() k
	WHERE k.rho_spent <> k.rho_logged OR k.delta_spent <> k.delta_logged OR k.rho_spent < 0 OR k.delta_spent < 0
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.balance_findings() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.balance_findings() IS
	'balances that are not what the rows of the audit add up to';

-- Traces of a clock that was ahead.  Less than an hour is a clock that was corrected.
CREATE OR REPLACE FUNCTION dp_cdp_internal.clock_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT 'warning', 'clock', format('it was set ahead by %s while the server ran: the ledger goes on with the time that has passed, and renews no budget by the clock',
			date_trunc('second', c.ahead)),
		'set the clock right; where it is right, SELECT dp_cdp.accept_clock()'
	FROM dp_cdp.clock_ahead() c(ahead) WHERE c.ahead > '0'
	UNION ALL
	-- months differ in length by three days
	SELECT 'warning', format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)),
		format('renews on %s, later than after a period: the clock was ahead when it was renewed or given', b.renews_at),
		'repeat dp_cdp.set_budget as it was: it renews after a period from then on'
	FROM dp_cdp_internal.budget b WHERE b.renews_at > now() + b.period + least(b.period, '4 days') AND b.renews_at < 'infinity'
	UNION ALL
	SELECT 'warning', format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)),
		format('counts failures of the day that begins on %s, which is to come: the clock was ahead', b.failures_since),
		format('SELECT dp_cdp.reset_failures(%L, %L)', b.dataset, quote_ident(b.role_name))
	FROM dp_cdp_internal.budget b WHERE b.failures_since > now() + '1 hour'
	UNION ALL
	SELECT 'warning', format('budget of role %s, dataset %s', quote_ident(b.role_name), quote_ident(b.dataset)),
		format('counts rows of the audit from %s on, and the next has number %s: the sequence was set back', b.spent_since, s.last_value + s.is_called::int),
		format('SELECT setval(''dp_cdp_internal.release_log_id_seq'', %s)', b.spent_since)
	FROM dp_cdp_internal.budget b, dp_cdp_internal.release_log_id_seq s WHERE b.spent_since - s.is_called::int > s.last_value
	UNION ALL
	SELECT 'warning', format('dataset %s', quote_ident(d.name)), CASE WHEN d.forgotten_at > now() + '1 hour'
			THEN format('answers were forgotten on %s, which is to come, as the clock was ahead: until then no answer is given again', d.forgotten_at)
			ELSE 'keeps answers of times to come, as the clock was ahead: they last longer than reuse' END,
		format('SELECT dp_cdp.forget_answers(%L)', d.name)
	FROM dp_cdp_internal.dataset d
	WHERE d.forgotten_at > now() + '1 hour' OR EXISTS (SELECT FROM dp_cdp_internal.kept_answer k WHERE k.dataset = d.name AND NOT k.ended AND k.began > now() + '1 hour')
	UNION ALL
	SELECT 'warning', 'audit', format('%s rows are of times to come, the first is row %s: the clock was ahead', count(*), min(l.id)),
		'nothing is to be done: their order is that of their numbers'
	FROM dp_cdp_internal.release_log l WHERE l.released_at > now() + '1 hour' HAVING count(*) > 0
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.clock_findings() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.clock_findings() IS
	'a clock that was set ahead, and what lies in the future since it was';

CREATE OR REPLACE FUNCTION dp_cdp.check_ledger()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
WITH findings AS (
	SELECT * FROM dp_cdp_internal.table_findings()
	UNION ALL
	SELECT * FROM dp_cdp_internal.ledger_findings()
	UNION ALL
	SELECT 'critical', CASE WHEN c.id IS NULL THEN 'audit' ELSE format('row %s of the audit', c.id) END, c.finding,
		'compare it with an export, or with a backup'
	FROM (SELECT * FROM dp_cdp_internal.check_chain() LIMIT 100) c
	UNION ALL
	SELECT * FROM dp_cdp_internal.balance_findings()
	UNION ALL
	SELECT 'warning', 'audit', format('%s rows after the beginning of the chain have no hash, the first is row %s: they were put in by hand',
		count(*), min(l.id)), 'compare them with an export'
	FROM dp_cdp_internal.release_log l, dp_cdp_internal.ledger_chain c WHERE l.hash IS NULL AND l.id > c.first_id HAVING count(*) > 0
	UNION ALL
	SELECT 'warning', format('cap of dataset %s', quote_ident(d.name)),
		format('holds no more than rho %s, less than one aggregate costs: all its roles are refused, though their budgets hold more',
			trim_scale(greatest(d.rho_limit - d.rho_spent, 0))),
		format('SELECT dp_cdp.alter_dataset(%L, rho => ...)', d.name)
	FROM dp_cdp_internal.dataset d
	-- with blocks, new ones come with new budget
	WHERE d.block_every IS NULL AND d.rho_limit - d.rho_spent < d.default_rho
		AND EXISTS (SELECT FROM dp_cdp_internal.budget b WHERE b.dataset = d.name AND b.rho_limit - b.rho_spent >= d.default_rho)
)
SELECT r.severity, r.object, r.finding, r.remedy
FROM (
	SELECT 0 AS place, 'info' AS severity, 'audit' AS object,
		(SELECT format('Rows: %s, without a hash: %s. ', count(*), count(*) FILTER (WHERE hash IS NULL)) FROM dp_cdp_internal.release_log)
		|| coalesce((SELECT format('The chain goes from row %s to row %s, which has hash %s. ', first_id, id, encode(hash, 'hex')) FROM dp_cdp_internal.ledger_chain), '')
		|| format('Critical findings: %s, warnings: %s.', (SELECT count(*) FROM findings f WHERE f.severity = 'critical'),
			(SELECT count(*) FROM findings f WHERE f.severity = 'warning')) AS finding,
		'keep the last hash elsewhere: what is written before it cannot be changed unseen then' AS remedy
	UNION ALL
	SELECT CASE f.severity WHEN 'critical' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END, f.* FROM findings f) r
ORDER BY r.place, r.object, r.finding
$$;
REVOKE ALL ON FUNCTION dp_cdp.check_ledger() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.check_ledger() IS
	'reads the whole audit. It reports rows that do not follow from the one before, balances that disagree, and what is in the way of the triggers. For the owner of the extension, and whom it is granted to';

-- Asks for itself whether the caller owns the extension, or the dataset.  The
-- planner expects few rows of what its statements compute, and nested loops
-- over them took half a minute for 3,000 roles; and takes a statement without
-- them for so dear that compiling it took three seconds, while debits wait.
CREATE OR REPLACE FUNCTION dp_cdp.adopt_ledger(surcharge_rho float8 DEFAULT 0, surcharge_delta float8 DEFAULT 0, dataset text DEFAULT '*')
	RETURNS bigint
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET enable_nestloop = off SET jit = off
	AS 'MODULE_PATHNAME', 'dp_adopt_ledger';
COMMENT ON FUNCTION dp_cdp.adopt_ledger(float8, float8, text) IS
	'accepts a ledger that was copied, restored or promoted. It raises balances to the audit log, and adds a surcharge to each. It returns how many caps and budgets it adopted. The owner of the extension adopts all of it, the owner of a dataset that dataset';

-- asks as the owner of the tables, for everybody: not with operators of the caller's search_path
CREATE OR REPLACE FUNCTION dp_cdp_internal.ledger_problem() RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_problem';
COMMENT ON FUNCTION dp_cdp_internal.ledger_problem() IS
	'why nothing can be debited until the ledger is adopted; NULL: it can';

CREATE OR REPLACE FUNCTION dp_cdp.adopt_role(role_name text, role regrole) RETURNS bigint
	LANGUAGE C VOLATILE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_adopt_role';
REVOKE ALL ON FUNCTION dp_cdp.adopt_role(text, regrole) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.adopt_role(text, regrole) IS
	'gives a role the budgets and rows that the ledger has of a role that is gone, after a restore. It returns how many rows of datasets, budgets and names it changed';

CREATE OR REPLACE FUNCTION dp_cdp.empty_ledger() RETURNS bigint
	LANGUAGE C STRICT VOLATILE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_empty';
REVOKE ALL ON FUNCTION dp_cdp.empty_ledger() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.empty_ledger() IS
	'forgets all spending and the audit log, and returns how many rows the log had. For the owner of the extension';

