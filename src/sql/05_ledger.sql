-- =========================================================================
-- 5. Ledger (src/ledger)
-- =========================================================================

REVOKE ALL ON dp_cdp.dataset, dp_cdp.budget, dp_cdp.release_log, dp_cdp.ledger_stamp FROM PUBLIC;

-- A debit updates two or three rows, always the same ones: room on their pages
-- lets the new versions stay there, and vacuum should come often.
ALTER TABLE dp_cdp.dataset SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp.budget SET (fillfactor = 10, vacuum_truncate = off,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE dp_cdp.release_log SET (vacuum_truncate = off);

-- Dumped with their contents.  A restored ledger waits for adopt_ledger().
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.dataset', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.budget', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.release_log', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.release_log_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_cdp.ledger_stamp', '');

-- Balances change only through the worker and the functions of this schema.
CREATE OR REPLACE FUNCTION dp_cdp.ledger_guard() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_ledger_guard';
REVOKE ALL ON FUNCTION dp_cdp.ledger_guard() FROM PUBLIC;

CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp.dataset
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp.budget
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE UPDATE OR DELETE ON dp_cdp.release_log
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp.ledger_stamp
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.dataset
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.budget
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.release_log
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
CREATE OR REPLACE TRIGGER ledger_guard_truncate BEFORE TRUNCATE ON dp_cdp.ledger_stamp
	FOR EACH STATEMENT EXECUTE FUNCTION dp_cdp.ledger_guard();
ALTER TABLE dp_cdp.dataset ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp.budget ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp.release_log ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;
ALTER TABLE dp_cdp.ledger_stamp ENABLE ALWAYS TRIGGER ledger_guard, ENABLE ALWAYS TRIGGER ledger_guard_truncate;

-- What logical replication brings is not applied, here nor to the tables above:
-- a trigger of one of the two kinds is on each table of this schema.
CREATE OR REPLACE FUNCTION dp_cdp.not_replicated() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dp_ledger_not_replicated';
REVOKE ALL ON FUNCTION dp_cdp.not_replicated() FROM PUBLIC;
CREATE OR REPLACE TRIGGER not_replicated BEFORE INSERT ON dp_cdp.release_log
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.not_replicated();
CREATE OR REPLACE TRIGGER not_replicated BEFORE INSERT OR UPDATE OR DELETE ON dp_cdp.hardened
	FOR EACH ROW EXECUTE FUNCTION dp_cdp.not_replicated();
ALTER TABLE dp_cdp.release_log ENABLE ALWAYS TRIGGER not_replicated;
ALTER TABLE dp_cdp.hardened ENABLE ALWAYS TRIGGER not_replicated;

-- The rules that the worker applies, for views and for adopt_ledger().
CREATE OR REPLACE FUNCTION dp_cdp.role_pays(payer oid, role oid) RETURNS boolean
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_role_pays';
COMMENT ON FUNCTION dp_cdp.role_pays(oid, oid) IS
	'is the payer charged to budgets of this role: by inheritance, for superusers by membership';
CREATE OR REPLACE FUNCTION dp_cdp.next_renewal(renews_at timestamptz, period interval, now timestamptz) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_next_renewal';
COMMENT ON FUNCTION dp_cdp.next_renewal(timestamptz, interval, timestamptz) IS
	'when a budget renews next, seen from now; differs from renews_at when a renewal is due';
CREATE OR REPLACE FUNCTION dp_cdp.period_start(renews_at timestamptz, period interval) RETURNS timestamptz
	LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_ledger_period_start';
COMMENT ON FUNCTION dp_cdp.period_start(timestamptz, interval) IS
	'when the period began that ends at renews_at';

CREATE OR REPLACE FUNCTION dp_cdp.worker_slots(OUT needed int, OUT available int)
	LANGUAGE C STRICT STABLE AS 'MODULE_PATHNAME', 'dp_ledger_worker_slots';
COMMENT ON FUNCTION dp_cdp.worker_slots() IS
	'background workers that ledgers, parallel queries and logical replication need together; and max_worker_processes';

CREATE OR REPLACE FUNCTION dp_cdp.debit(dataset text, rho numeric, delta numeric DEFAULT 0) RETURNS void
	LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_ledger_debit_by_hand';
REVOKE ALL ON FUNCTION dp_cdp.debit(text, numeric, numeric) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.debit(text, numeric, numeric) IS
	'debits the caller''s budgets by hand, for an answer given outside of the database';

-- Asks for itself whether the caller owns the extension, or the dataset.  The
-- planner expects few rows of what its statements compute, and nested loops
-- over them took half a minute for 3,000 roles.
CREATE OR REPLACE FUNCTION dp_cdp.adopt_ledger(surcharge_rho float8 DEFAULT 0, surcharge_delta float8 DEFAULT 0, dataset text DEFAULT '*')
	RETURNS void
	LANGUAGE C VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET enable_nestloop = off
	AS 'MODULE_PATHNAME', 'dp_adopt_ledger';
COMMENT ON FUNCTION dp_cdp.adopt_ledger(float8, float8, text) IS
	'accepts a ledger that was copied, restored or promoted: raises balances to the audit log, plus a surcharge on each; all of it, or one dataset, by its owner';

CREATE OR REPLACE FUNCTION dp_cdp.ledger_problem() RETURNS text
	LANGUAGE C STRICT STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_ledger_problem';
COMMENT ON FUNCTION dp_cdp.ledger_problem() IS
	'why nothing can be debited until the ledger is adopted; NULL: it can';

CREATE OR REPLACE FUNCTION dp_cdp.empty_ledger() RETURNS void
	LANGUAGE C STRICT VOLATILE SET search_path = pg_catalog, pg_temp
	AS 'MODULE_PATHNAME', 'dp_ledger_empty';
REVOKE ALL ON FUNCTION dp_cdp.empty_ledger() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp.empty_ledger() IS
	'forgets all spending and the audit log';

