-- =========================================================================
-- 10. At a glance: overview, metrics, and what a report shows
-- =========================================================================

-- Everything here reads what budgets, datasets and releases show and adds it
-- up; nothing is kept, and nothing runs with other rights than the caller's but
-- views, and setup_metrics(), which tells numbers of findings and no names.

CREATE OR REPLACE FUNCTION dp_cdp_internal.significant(x numeric, digits int DEFAULT 3) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN x IN ('NaN', 'Infinity', '-Infinity') OR x = 0 THEN trim_scale(x)
		ELSE trim_scale(round(x, digits - 1 - floor(log(abs(x)))::int)) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.significant(numeric, int) IS
	'a number with so many significant digits';

-- Rows of the log as sums need them: what they stand for, and for whose owner.
-- A checkpoint stands for rows that were pruned, up to its last_at: for each
-- balance one, so that of all checkpoints only the cap's is the dataset's.  What an
-- adoption adds to the log repeats rows that are there, and is no
-- spending of any day: neither granted, nor a checkpoint with last_at.
CREATE OR REPLACE VIEW dp_cdp_internal.log_sums WITH (security_barrier) AS
	SELECT l.id, l.dataset,
		CASE WHEN k.kind = 'checkpoint' THEN coalesce(l.last_at, l.released_at) ELSE l.released_at END AS at,
		dp_cdp_internal.known_role(l.role, l.role_name) AS role, l.role_name,
		dp_cdp_internal.known_role(l.session_role, l.session_role_name) AS session_role,
		l.application, l.aggregates, l.tables, l.query, l.reason, l.paid_by, k.kind,
		CASE WHEN l.granted OR (k.kind = 'checkpoint' AND l.last_at IS NOT NULL) THEN l.rho ELSE 0 END AS rho,
		CASE WHEN l.granted OR (k.kind = 'checkpoint' AND l.last_at IS NOT NULL) THEN l.delta ELSE 0 END AS delta,
		CASE WHEN k.kind = 'granted' THEN l.repeats ELSE 0 END AS answered,
		CASE WHEN k.kind IN ('refused', 'guard') THEN l.repeats ELSE 0 END AS refused,
		CASE WHEN k.kind = 'failed' THEN 1 ELSE 0 END AS failed,
		l.paid_by IS NULL OR d.ledger_id = ANY (l.paid_by) AS of_dataset,
		l.rho AS asked_rho
	FROM dp_cdp_internal.release_log l
		LEFT JOIN dp_cdp_internal.dataset d ON d.name = l.dataset
		CROSS JOIN LATERAL (SELECT coalesce(l.kind, CASE WHEN l.failed THEN 'failed' WHEN l.granted THEN 'granted' ELSE 'refused' END) AS kind) k
	WHERE l.dataset = ANY (dp_cdp_internal.my_datasets());
COMMENT ON VIEW dp_cdp_internal.log_sums IS
	'for dp_cdp.report: the audit of datasets that one owns, ready to be added up';

-- Does a row count at a balance?  It says from which it was debited; those that
-- were put back without that, and refusals, count where they would have been paid.
CREATE OR REPLACE FUNCTION dp_cdp_internal.counts_at(paid_by bigint[], ledger_id bigint, role oid, session_role oid, budget_role oid) RETURNS boolean
	LANGUAGE sql STABLE PARALLEL SAFE
	RETURN CASE WHEN paid_by IS NOT NULL THEN ledger_id = ANY (paid_by)
		WHEN dp_cdp_internal.role_pays(role, budget_role) THEN true
		WHEN session_role <> role THEN coalesce(dp_cdp_internal.role_pays(session_role, budget_role), false)
		ELSE false END;
COMMENT ON FUNCTION dp_cdp_internal.counts_at(bigint[], bigint, oid, oid, oid) IS
	'is a row of the audit, by its paid_by, role and session_role, one of a balance';

-- What was debited in the last seven days, by who asked: the rate at which a
-- budget is spent is that of a week, so that weekends do not matter.  Groups are
-- few, so that who pays is asked once for each of them, not for each row.
CREATE OR REPLACE VIEW dp_cdp_internal.last_week WITH (security_barrier) AS
	SELECT l.dataset,
		dp_cdp_internal.known_role(l.role, l.role_name)::oid AS role, l.role_name,
		dp_cdp_internal.known_role(l.session_role, l.session_role_name)::oid AS session_role,
		l.paid_by,
		coalesce(sum(l.rho) FILTER (WHERE l.granted), 0) AS rho,
		min(l.released_at) FILTER (WHERE l.granted AND l.rho > 0) AS first_debit,
		max(coalesce(l.last_at, l.released_at)) FILTER (WHERE NOT l.granted AND NOT l.failed AND coalesce(l.kind, 'refused') IN ('refused', 'guard')) AS last_refusal,
		-- of others' refusals nobody hears but the owner
		dp_cdp_internal.is_mine(l.role, l.role_name) OR dp_cdp_internal.is_mine(l.session_role, l.session_role_name) AS mine,
		-- surcharges: they were spent on no day
		coalesce(sum(l.rho) FILTER (WHERE l.kind = 'correction' AND NOT l.granted), 0) AS corrected
	FROM dp_cdp_internal.release_log l
	WHERE l.released_at > now() - interval '7 days'
	GROUP BY l.dataset, l.role, l.role_name, l.session_role, l.session_role_name, l.paid_by;
COMMENT ON VIEW dp_cdp_internal.last_week IS
	'for dp_cdp.overview and dp_cdp.metrics: debits and refusals of the last seven days, of everybody';

CREATE OR REPLACE FUNCTION dp_cdp_internal.rate(spent numeric, week numeric, first_debit timestamptz, now timestamptz) RETURNS numeric
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	-- where nothing was spent before this week, it begins with the first debit
	SELECT coalesce(week, 0) / CASE WHEN week < spent OR first_debit IS NULL THEN 7
		ELSE least(greatest(extract(epoch FROM now - first_debit) / 86400, 1), 7) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.rate(numeric, numeric, timestamptz, timestamptz) IS
	'rho per day over the last seven days, or since the first debit, but at least a day';

CREATE OR REPLACE VIEW dp_cdp.overview WITH (security_barrier) AS
	-- once, not for each budget
	WITH week AS MATERIALIZED (SELECT * FROM dp_cdp_internal.last_week)
	SELECT o.dataset,
		o.role,
		o.rho_limit,
		o.rho_spent,
		trunc(100 * o.rho_spent / nullif(o.rho_limit, 0), 1) AS percent_spent,
		dp_cdp_internal.significant(o.rate) AS rho_per_day,
		CASE WHEN o.rate > 0 AND o.rho_limit IS NOT NULL THEN dp_cdp_internal.significant(greatest(o.rho_limit - o.rho_spent, 0) / o.rate) END AS days_left,
		o.renews_at,
		date_trunc('second', o.last_refusal) AS last_refusal,
		o.ledger_id,
		o.paid_by_roles
	FROM (
		SELECT d.dataset, t.ledger_id, NULL::text AS role, d.rho_limit, d.rho_spent, NULL::timestamptz AS renews_at,
			dp_cdp_internal.rate(d.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()) AS rate, w.last_refusal,
			(SELECT trim_scale(coalesce(sum(b.rho_spent), 0)) FROM dp_cdp.budgets b WHERE b.dataset = d.dataset) AS paid_by_roles
		FROM dp_cdp.datasets d
			JOIN dp_cdp_internal.dataset t ON t.name = d.dataset
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit, max(l.last_refusal) AS last_refusal
				FROM week l
				WHERE l.dataset = d.dataset AND (l.paid_by IS NULL OR t.ledger_id = ANY (l.paid_by))) w ON true
		-- shown to the owner alone
		WHERE d.rho_spent IS NOT NULL
		UNION ALL
		SELECT b.dataset, b.ledger_id, b.role_name, b.rho_limit, b.rho_spent, b.renews_at,
			dp_cdp_internal.rate(b.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()), w.last_refusal, NULL
		FROM dp_cdp.budgets b
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit,
					max(l.last_refusal) FILTER (WHERE l.mine OR b.dataset = ANY (dp_cdp_internal.my_datasets())) AS last_refusal
				FROM week l
				WHERE l.dataset = b.dataset
					AND dp_cdp_internal.counts_at(l.paid_by, b.ledger_id, l.role, l.session_role, b.role::oid)) w ON true
	) o
	ORDER BY o.dataset, o.role IS NOT NULL, o.role, o.ledger_id;
COMMENT ON VIEW dp_cdp.overview IS
	'budgets of the current roles at a glance. The owner of a dataset sees all of its budgets, and the whole dataset, with role NULL and its cap as the limit';
COMMENT ON COLUMN dp_cdp.overview.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.overview.role IS 'name of the role; NULL: the dataset as a whole';
COMMENT ON COLUMN dp_cdp.overview.rho_limit IS 'rho of the budget, or the dataset''s cap';
COMMENT ON COLUMN dp_cdp.overview.rho_spent IS 'rho that was spent of it';
COMMENT ON COLUMN dp_cdp.overview.percent_spent IS 'the same in percent of the limit';
COMMENT ON COLUMN dp_cdp.overview.renews_at IS 'when the budget is renewed next';
COMMENT ON COLUMN dp_cdp.overview.rho_per_day IS
	'mean of the last seven days, or since the first debit if that is later, over at least a day';
COMMENT ON COLUMN dp_cdp.overview.days_left IS
	'how long the rest lasts at this rate; a budget that renews before has more';
COMMENT ON COLUMN dp_cdp.overview.ledger_id IS
	'number of the balance, as in paid_by of the audit. Two budgets may have one name, when a role of that name is missing';
COMMENT ON COLUMN dp_cdp.overview.paid_by_roles IS
	'sum of what the budgets of a whole dataset have paid in their periods. It exceeds rho_spent, which is what all of them know together, where roles share kept answers. See dp_cdp.spent_together';
COMMENT ON COLUMN dp_cdp.overview.last_refusal IS
	'last refusal within seven days, as far as dp_cdp.releases shows it';

-- With each limit its own delta: that at which its epsilon is told, and that of selections of keys.
CREATE OR REPLACE VIEW dp_cdp.limits WITH (security_barrier) AS
	SELECT l.dataset, l.ledger_id, l.rho, dp_cdp.epsilon_spent(l.rho, l.report_delta) AS epsilon,
		trim_scale(least(l.report_delta + l.key_delta, 1)) AS delta, dp_cdp.best_guess(l.rho, l.key_delta) AS best_guess
	FROM (SELECT d.name AS dataset, d.ledger_id, d.rho_limit AS rho, d.delta_limit AS report_delta, d.delta_limit AS key_delta FROM dp_cdp_internal.dataset d
		UNION ALL
		SELECT b.dataset, b.ledger_id, b.rho_limit, b.report_delta, b.delta_limit FROM dp_cdp_internal.budget b) l
	WHERE l.dataset = ANY (dp_cdp_internal.my_datasets());
COMMENT ON VIEW dp_cdp.limits IS
	'caps and budgets of datasets that one owns, with what they allow in all, as set_budget returned it. For dp_cdp.report';
COMMENT ON COLUMN dp_cdp.limits.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.limits.ledger_id IS 'number of the balance, as in paid_by of dp_cdp.audit: that of the cap, or of a budget';
COMMENT ON COLUMN dp_cdp.limits.rho IS 'limit of rho; NULL: none';
COMMENT ON COLUMN dp_cdp.limits.epsilon IS 'epsilon that the limit is worth, at delta';
COMMENT ON COLUMN dp_cdp.limits.delta IS 'delta at which epsilon holds, with the delta that selecting keys may spend';
COMMENT ON COLUMN dp_cdp.limits.best_guess IS 'how often the best guesser is right, once all is spent; 0.5 is a coin';

GRANT SELECT ON dp_cdp.overview, dp_cdp_internal.log_sums, dp_cdp.limits TO PUBLIC;
REVOKE ALL ON dp_cdp_internal.last_week FROM PUBLIC;

-- It asks for itself who calls: a view checks the right to call a function of whoever reads the view.
CREATE OR REPLACE FUNCTION dp_cdp.spilled_bytes(dataset text) RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_spilled_bytes';
COMMENT ON FUNCTION dp_cdp.spilled_bytes(text) IS
	'bytes that releases from a dataset have written to temporary files since the server was started, for its owner and for those who may read dp_cdp.metrics. Others get NULL, because these bytes depend on rows';

-- For monitoring: everybody's, and so granted to nobody.  No amount is NULL,
-- because exporters cannot tell one: what has no limit has an infinite one.
CREATE OR REPLACE VIEW dp_cdp.metrics WITH (security_barrier) AS
	WITH week AS MATERIALIZED (SELECT * FROM dp_cdp_internal.last_week)
	SELECT m.dataset,
		m.role,
		coalesce(m.rho_limit, 'Infinity')::float8 AS rho_limit,
		m.rho_spent::float8 AS rho_spent,
		greatest(coalesce(m.rho_limit, 'Infinity') - m.rho_spent, 0)::float8 AS rho_remaining,
		m.delta_limit::float8 AS delta_limit,
		m.delta_spent::float8 AS delta_spent,
		m.rate::float8 AS rho_per_day,
		(CASE WHEN m.rate > 0 AND m.rho_limit IS NOT NULL
			THEN round(greatest(m.rho_limit - m.rho_spent, 0) / m.rate, 6) ELSE 'Infinity' END)::float8 AS days_left,
		m.failures,
		m.max_failures,
		CASE WHEN m.role = '' THEN coalesce(dp_cdp.spilled_bytes(m.dataset), 0) ELSE 0 END AS spilled_bytes
	FROM (
		SELECT d.name AS dataset, '' AS role, d.rho_limit, d.rho_spent, d.delta_limit, d.delta_spent,
			dp_cdp_internal.rate(d.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()) AS rate, 0 AS failures, d.max_failures
		FROM dp_cdp_internal.dataset d
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit
				FROM week l
				WHERE l.dataset = d.name AND (l.paid_by IS NULL OR d.ledger_id = ANY (l.paid_by))) w ON true
		UNION ALL
		SELECT b.dataset, coalesce((SELECT r.rolname::text FROM pg_catalog.pg_roles r WHERE r.oid = who.is),
				-- exporters stop at a second row of one name
				format('%s (missing, %s)', coalesce(b.role_name, b.role::text), b.ledger_id)), b.rho_limit, s.rho_spent, b.delta_limit, s.delta_spent,
			dp_cdp_internal.rate(s.rho_spent - coalesce(w.corrected, 0), w.rho, w.first_debit, now()), s.failures, d.max_failures
		FROM dp_cdp_internal.budget b
			JOIN dp_cdp_internal.dataset d ON d.name = b.dataset
			CROSS JOIN LATERAL (SELECT dp_cdp_internal.known_role(b.role, b.role_name)::oid AS is) who
			CROSS JOIN LATERAL (
				SELECT coalesce(dp_cdp_internal.next_renewal(b.renews_at, b.period, now()) <> b.renews_at, false) AS renewed) due
			CROSS JOIN LATERAL (
				SELECT CASE WHEN due.renewed THEN 0 ELSE b.rho_spent END AS rho_spent,
					CASE WHEN due.renewed THEN 0 ELSE b.delta_spent END AS delta_spent,
					CASE WHEN b.failures_since > clock_timestamp() - interval '24:00' THEN b.failures ELSE 0 END AS failures) s
			LEFT JOIN LATERAL (
				SELECT sum(l.rho) AS rho, sum(l.corrected) AS corrected, min(l.first_debit) AS first_debit
				FROM week l
				WHERE l.dataset = b.dataset
					AND dp_cdp_internal.counts_at(l.paid_by, b.ledger_id, l.role, l.session_role, who.is)) w ON true
	) m;
COMMENT ON VIEW dp_cdp.metrics IS
	'all budgets, and each dataset as a whole (role empty), as numbers for monitoring. Nobody may read it at first: grant it to the role that monitors';
COMMENT ON COLUMN dp_cdp.metrics.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.metrics.role IS 'name of the role. Empty: the dataset as a whole. A role that does not exist any more is shown as name (missing, ledger_id)';
COMMENT ON COLUMN dp_cdp.metrics.rho_limit IS 'rho of the budget, or the dataset''s cap; Infinity: none';
COMMENT ON COLUMN dp_cdp.metrics.rho_spent IS 'rho that was spent of it';
COMMENT ON COLUMN dp_cdp.metrics.rho_remaining IS 'rho that is left of it';
COMMENT ON COLUMN dp_cdp.metrics.delta_limit IS 'delta of the budget or cap';
COMMENT ON COLUMN dp_cdp.metrics.delta_spent IS 'delta that was spent of it';
COMMENT ON COLUMN dp_cdp.metrics.rho_per_day IS 'mean of the last seven days, or since the first debit if that is later, over at least a day';
COMMENT ON COLUMN dp_cdp.metrics.days_left IS 'how long the rest lasts at this rate';
COMMENT ON COLUMN dp_cdp.metrics.failures IS 'failures that were counted at the budget today';
COMMENT ON COLUMN dp_cdp.metrics.max_failures IS 'as many failures close the budget for the day';
COMMENT ON COLUMN dp_cdp.metrics.spilled_bytes IS 'bytes that releases from the dataset have written to temporary files since the server was started; 0 for a budget';

CREATE OR REPLACE VIEW dp_cdp.metrics_hour WITH (security_barrier) AS
	SELECT d.name AS dataset, o.outcome,
		coalesce(CASE o.outcome WHEN 'answered' THEN l.answered WHEN 'refused' THEN l.refused ELSE l.failed END, 0) AS releases
	FROM dp_cdp_internal.dataset d
		CROSS JOIN (VALUES ('answered'), ('refused'), ('failed')) AS o(outcome)
		LEFT JOIN (
			SELECT l.dataset,
				coalesce(sum(l.repeats) FILTER (WHERE l.granted AND l.kind IS DISTINCT FROM 'correction'), 0) AS answered,
				coalesce(sum(l.repeats) FILTER (WHERE NOT l.granted AND NOT l.failed AND coalesce(l.kind, 'refused') IN ('refused', 'guard')), 0) AS refused,
				count(*) FILTER (WHERE l.failed) AS failed
			FROM dp_cdp_internal.release_log l
			WHERE l.released_at > now() - interval '1 hour'
			GROUP BY l.dataset) l ON l.dataset = d.name;
COMMENT ON VIEW dp_cdp.metrics_hour IS
	'numbers of releases that were answered, refused and failed in the last hour, by dataset. Nobody may read it at first: grant it to the role that monitors';
COMMENT ON COLUMN dp_cdp.metrics_hour.dataset IS 'name of the dataset';
COMMENT ON COLUMN dp_cdp.metrics_hour.outcome IS 'answered, refused or failed';
COMMENT ON COLUMN dp_cdp.metrics_hour.releases IS 'how many releases of the last hour had this outcome';

-- A role that monitors owns no dataset, and must not: this runs with the rights
-- of the extension's owner and tells numbers alone.
CREATE OR REPLACE FUNCTION dp_cdp.setup_metrics() RETURNS TABLE(severity text, findings bigint)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT s.severity, count(f.severity)
	FROM (VALUES ('critical'), ('warning'), ('info')) AS s(severity)
		LEFT JOIN dp_cdp.check_setup() f ON f.severity = s.severity
	GROUP BY s.severity
$$;
COMMENT ON FUNCTION dp_cdp.setup_metrics() IS
	'numbers of findings of dp_cdp.check_setup(), by severity. Nobody may call it at first: grant it to the role that monitors';

REVOKE ALL ON dp_cdp.metrics, dp_cdp.metrics_hour FROM PUBLIC;
REVOKE ALL ON FUNCTION dp_cdp.setup_metrics() FROM PUBLIC;

-- -------------------------------------------------------------------------
-- What a report shows, as numbers
-- -------------------------------------------------------------------------

-- The log is read once: the sums by day, by who asked, by application, tables,
-- question and reason are made in one pass.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_sums(dataset text)
	RETURNS TABLE(kind text, day date, role oid, session_role oid, paid_by bigint[], name text, rho numeric, delta numeric,
				  paid numeric, answered bigint, refused bigint, failed bigint)
	LANGUAGE sql STABLE ROWS 100000 SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE grouping(l.day, l.role, l.application, l.tables, l.aggregates, l.reason)
			WHEN 31 THEN 'day' WHEN 15 THEN 'role' WHEN 55 THEN 'application' WHEN 59 THEN 'tables' WHEN 61 THEN 'aggregates' ELSE 'reason' END,
		l.day, l.role, l.session_role, l.paid_by, coalesce(l.application, l.tables, l.aggregates, l.reason),
		coalesce(sum(l.rho) FILTER (WHERE l.of_dataset), 0),
		coalesce(sum(l.delta) FILTER (WHERE l.of_dataset), 0),
		sum(l.rho), sum(l.answered), sum(l.refused), sum(l.failed)
	FROM (
		-- what is out of the calendar was put there by hand
		SELECT least(greatest(r.at, now() - interval '20 years'), now())::date AS day,
			r.role::oid AS role, r.session_role::oid AS session_role, r.paid_by, coalesce(r.application, '') AS application,
			coalesce(r.tables, '') AS tables, r.aggregates, coalesce(r.reason, '') AS reason,
			r.rho, r.delta, r.of_dataset, r.answered, r.refused, r.failed
		FROM dp_cdp_internal.log_sums r
		WHERE r.dataset = report_sums.dataset) l
	GROUP BY GROUPING SETS ((l.day), (l.day, l.role, l.session_role, l.paid_by), (l.application), (l.tables), (l.aggregates), (l.reason))
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_sums(text) IS
	'for dp_cdp.report: the audit of a dataset that one owns, added up in several ways';

-- The first of a list, and what the rest adds up to: names of applications are
-- anybody's to make up.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_shares_of(shares jsonb, most int DEFAULT 12) RETURNS jsonb
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce(jsonb_agg(x.s ORDER BY x.n) FILTER (WHERE x.n <= most), '[]')
		|| CASE WHEN count(*) > most THEN jsonb_build_array(jsonb_build_object('name', NULL, 'others', count(*) - most,
			'rho', sum((x.s ->> 'rho')::numeric) FILTER (WHERE x.n > most),
			'answered', sum((x.s ->> 'answered')::numeric) FILTER (WHERE x.n > most),
			'refused', sum((x.s ->> 'refused')::numeric) FILTER (WHERE x.n > most))) ELSE '[]' END
	FROM jsonb_array_elements(shares) WITH ORDINALITY x(s, n)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_shares_of(jsonb, int) IS
	'for dp_cdp.report: the first of a list, and the sum of the rest';

-- The key of a table that is protected through one leads to a table of the same dataset.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_tables(dataset text) RETURNS jsonb
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce(jsonb_agg(jsonb_build_object('table', p."table"::text, 'owner', pg_get_userbyid(c.relowner), 'unit', p.unit,
			'through', p.through, 'block', p.block, 'references', (
				SELECT min(f.confrelid::regclass::text)
				FROM pg_constraint f JOIN dp_cdp.protected o ON o."table" = f.confrelid AND o.dataset = p.dataset
				WHERE f.contype = 'f' AND p.unit IS NULL
					AND (f.conrelid = p."table" OR f.conrelid IN (SELECT t.relid FROM pg_partition_tree(p."table") t))
					AND p.through = (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
						FROM pg_attribute a WHERE a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey))))
		ORDER BY p.unit IS NULL, p.through IS NULL, p."table"::text), '[]')
	FROM dp_cdp.protected p JOIN pg_class c ON c.oid = p."table"
	WHERE p.dataset = report_tables.dataset
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_tables(text) IS
	'protected tables of a dataset, as far as the caller sees them, and whose rows they are. For dp_cdp.report';

CREATE OR REPLACE FUNCTION dp_cdp.report_data(dataset text) RETURNS jsonb
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	asked text := report_data.dataset;
	-- burn-downs are drawn of the budgets that are nearest to their end
	charts int := 24;
	today date := now()::date;
	cap record;
	result jsonb;
BEGIN
	IF asked IS NULL THEN
		RAISE EXCEPTION 'dataset is NULL: name one of dp_cdp.datasets' USING ERRCODE = 'ZC004';
	END IF;
	SELECT d.*, coalesce(pg_has_role(current_user, d.owner::oid, 'USAGE'), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)) AS own INTO cap
		FROM dp_cdp.datasets d WHERE d.dataset = asked;
	IF cap.dataset IS NULL THEN
		RAISE EXCEPTION 'dataset "%" does not exist, or is none of yours: see dp_cdp.datasets', asked USING ERRCODE = 'ZC004', HINT = dp_cdp_internal.hint_of_dataset(asked);
	ELSIF NOT cap.own THEN
		RAISE EXCEPTION 'must be owner of dataset "%" to see a report of it; your own budgets are in dp_cdp.overview', asked
			USING ERRCODE = 'insufficient_privilege';
	END IF;

	WITH sums AS MATERIALIZED (
		SELECT * FROM dp_cdp_internal.report_sums(asked)
	), budgets AS MATERIALIZED (
		SELECT b.ledger_id, b.role::oid AS role, b.role_name AS name, b.role_missing, b.rho_limit, b.rho_spent, b.rho_remaining,
			b.delta_limit, b.delta_spent, b.epsilon_spent, b.period, b.renews_at, b.failures, b.max_failures,
			o.percent_spent, o.rho_per_day, o.days_left,
			CASE WHEN isfinite(b.renews_at) THEN dp_cdp_internal.period_start(b.renews_at, b.period)::date END AS begins
		FROM dp_cdp.budgets b JOIN dp_cdp.overview o ON o.ledger_id = b.ledger_id
		WHERE b.dataset = asked
	), ranked AS MATERIALIZED (
		SELECT b.*, row_number() OVER (ORDER BY b.percent_spent DESC NULLS LAST, b.rho_per_day DESC, b.name) AS place,
			-- what it spends is debited from no wider budget as well
			NOT b.role_missing AND NOT EXISTS (SELECT FROM budgets w WHERE w.role <> b.role AND dp_cdp_internal.role_pays(b.role, w.role)) AS widest
		FROM budgets b
	), payers AS MATERIALIZED (
		-- what a planner cannot estimate is not computed again for each budget
		SELECT DISTINCT s.role, s.session_role, s.paid_by FROM sums s WHERE s.kind = 'role'
	), pays AS MATERIALIZED (
		SELECT p.role AS payer, p.session_role, p.paid_by, b.ledger_id, b.begins, b.place
		FROM payers p JOIN ranked b ON dp_cdp_internal.counts_at(p.paid_by, b.ledger_id, p.role, p.session_role, b.role)
	), paid AS MATERIALIZED (
		SELECT p.ledger_id, p.place, s.day, sum(s.paid) AS rho, sum(s.answered) AS answered, sum(s.refused) AS refused,
			bool_and(p.begins IS NULL OR s.day >= p.begins) AS this_period
		FROM sums s JOIN pays p ON coalesce(p.payer, 0) = coalesce(s.role, 0) AND coalesce(p.session_role, 0) = coalesce(s.session_role, 0)
			AND coalesce(p.paid_by, '{}') = coalesce(s.paid_by, '{}')
		WHERE s.kind = 'role'
		GROUP BY p.ledger_id, p.place, s.day
	), totals AS MATERIALIZED (
		SELECT p.ledger_id, sum(p.answered) AS answered, sum(p.refused) AS refused
		FROM paid p GROUP BY p.ledger_id
	), series AS MATERIALIZED (
		SELECT p.ledger_id, min(p.day) AS first, jsonb_agg(jsonb_build_array(p.day, p.rho) ORDER BY p.day) AS days
		FROM paid p WHERE p.place <= charts AND p.this_period AND p.rho <> 0 GROUP BY p.ledger_id
	), wide AS (
		SELECT r.name, r.rho_remaining, r.rho_limit, r.period,
			sum(r.rho_remaining) OVER (ORDER BY r.rho_remaining DESC, r.name) AS running
		FROM ranked r WHERE r.widest
	)
	SELECT jsonb_build_object(
		'dataset', asked,
		'database', current_database(),
		'owner', cap.owner_name,
		'neighbors', cap.neighbors,
		'version', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'dp_cdp'),
		'block_every', cap.block_every,
		'max_contribution', cap.max_contribution,
		'max_groups', cap.max_groups,
		'max_rows', cap.max_rows,
		'min_units', cap.min_units,
		'protected', dp_cdp_internal.report_tables(asked),
		'epsilon_limit', m.epsilon,
		'report_delta', m.delta,
		'best_guess', m.best_guess,
		'made_at', to_char(now(), 'FMDD Mon YYYY, HH24:MI'),
		'zone', current_setting('TimeZone'),
		'today', today,
		'first', (SELECT min(s.day) FROM sums s WHERE s.kind = 'day'),
		'rho_limit', cap.rho_limit,
		'rho_spent', cap.rho_spent,
		'rho_remaining', cap.rho_remaining,
		'delta_limit', cap.delta_limit,
		'delta_spent', cap.delta_spent,
		'epsilon_spent', cap.epsilon_spent,
		'rho_per_day', o.rho_per_day,
		'days_left', o.days_left,
		'totals', (SELECT jsonb_build_object('rho', coalesce(sum(s.rho), 0), 'delta', coalesce(sum(s.delta), 0),
				'answered', coalesce(sum(s.answered), 0), 'refused', coalesce(sum(s.refused), 0), 'failed', coalesce(sum(s.failed), 0))
			FROM sums s WHERE s.kind = 'day'),
		'days', (SELECT coalesce(jsonb_agg(jsonb_build_object('day', s.day, 'rho', s.rho, 'delta', s.delta,
				'answered', s.answered, 'refused', s.refused, 'failed', s.failed) ORDER BY s.day), '[]')
			FROM sums s WHERE s.kind = 'day'),
		'budgets', (SELECT coalesce(jsonb_agg(jsonb_build_object('role', r.name, 'rho_limit', r.rho_limit, 'rho_spent', r.rho_spent,
				'rho_remaining', r.rho_remaining, 'delta_limit', r.delta_limit, 'delta_spent', r.delta_spent,
				'epsilon_spent', r.epsilon_spent, 'percent_spent', r.percent_spent, 'rho_per_day', r.rho_per_day,
				'days_left', r.days_left, 'period', r.period, 'renews_on', CASE WHEN r.renews_at < now() + interval '100 years' THEN r.renews_at::date END,
				'failures', r.failures, 'max_failures', r.max_failures,
				'epsilon_limit', l.epsilon, 'report_delta', l.delta, 'best_guess', l.best_guess,
				'answered', coalesce(t.answered, 0), 'refused', coalesce(t.refused, 0),
				'chart', r.place <= charts, 'begins', coalesce(r.begins, s.first), 'days', coalesce(s.days, '[]')) ORDER BY r.place), '[]')
			FROM ranked r LEFT JOIN totals t ON t.ledger_id = r.ledger_id LEFT JOIN series s ON s.ledger_id = r.ledger_id
				LEFT JOIN dp_cdp.limits l ON l.dataset = asked AND l.ledger_id = r.ledger_id),
		'together', (SELECT jsonb_build_object('roles', count(*), 'rho_remaining', coalesce(sum(w.rho_remaining), 0),
				'rho_renewed_per_day', coalesce(sum(w.rho_limit * 86400 / extract(epoch FROM w.period)) FILTER (WHERE extract(epoch FROM w.period) > 0), 0),
				'enough', coalesce(jsonb_agg(jsonb_build_object('role', w.name, 'rho_remaining', w.rho_remaining)
						ORDER BY w.rho_remaining DESC, w.name)
					FILTER (WHERE w.running - w.rho_remaining <= cap.rho_remaining AND w.rho_remaining > 0), '[]'))
			FROM wide w),
		'applications', (SELECT dp_cdp_internal.report_shares_of(jsonb_agg(jsonb_build_object('name', s.name, 'rho', s.rho, 'answered', s.answered, 'refused', s.refused)
					ORDER BY s.rho DESC, s.answered DESC, s.name)) FROM sums s WHERE s.kind = 'application' AND (s.rho <> 0 OR s.answered + s.refused > 0)),
		'tables', (SELECT dp_cdp_internal.report_shares_of(jsonb_agg(jsonb_build_object('name', s.name, 'rho', s.rho, 'answered', s.answered, 'refused', s.refused)
					ORDER BY s.rho DESC, s.answered DESC, s.name)) FROM sums s WHERE s.kind = 'tables' AND (s.rho <> 0 OR s.answered + s.refused > 0)),
		'aggregates', (SELECT dp_cdp_internal.report_shares_of(jsonb_agg(jsonb_build_object('name', s.name, 'rho', s.rho, 'answered', s.answered, 'refused', s.refused)
					ORDER BY s.rho DESC, s.answered DESC, s.name)) FROM sums s WHERE s.kind = 'aggregates' AND (s.rho <> 0 OR s.answered + s.refused > 0)),
		'reasons', (SELECT coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'refused', s.refused) ORDER BY s.refused DESC, s.name), '[]')
			FROM sums s WHERE s.kind = 'reason' AND s.refused > 0),
		'refusals', (SELECT coalesce(jsonb_agg(to_jsonb(f) ORDER BY f.id DESC), '[]') FROM (
				SELECT l.id, to_char(l.at, 'YYYY-MM-DD HH24:MI:SS') AS at, l.role_name AS role,
					coalesce(l.application, '') AS application, l.aggregates, l.tables, left(l.query, 300) AS query, l.reason,
					l.asked_rho AS rho, l.refused AS repeats, l.failed > 0 AS failed
				FROM dp_cdp_internal.log_sums l
				WHERE l.dataset = asked AND (l.refused > 0 OR l.failed > 0) ORDER BY l.id DESC LIMIT 10) f),
		-- not those of other datasets: of their tables, with partitions and children, and of roles with budgets in them alone
		'findings', (WITH RECURSIVE others AS (
				SELECT p."table"::oid AS relid FROM dp_cdp.protected p WHERE p.dataset <> asked
				UNION SELECT i.inhrelid FROM others o JOIN pg_inherits i ON i.inhparent = o.relid
			), payers AS (
				SELECT format('role %s', r.oid::regrole) AS object, bool_or(b.dataset = asked) AS here
				FROM pg_roles r JOIN dp_cdp.budgets b ON pg_has_role(r.oid, b.role::oid, 'MEMBER') AND NOT r.rolsuper GROUP BY r.oid
			)
			SELECT coalesce(jsonb_agg(to_jsonb(f)), '[]') FROM dp_cdp.check_setup() f
			WHERE NOT EXISTS (SELECT FROM dp_cdp.datasets d WHERE d.dataset <> asked AND f.object = format('dataset %s', quote_ident(d.dataset)))
				AND f.object NOT IN (SELECT o.relid::regclass::text FROM others o)
				AND f.object NOT IN (SELECT p.object FROM payers p WHERE NOT p.here)))
	INTO result
	FROM dp_cdp.overview o LEFT JOIN dp_cdp.limits m ON m.dataset = o.dataset AND m.ledger_id = o.ledger_id
	WHERE o.dataset = asked AND o.role IS NULL;
	RETURN result;
END $$;
COMMENT ON FUNCTION dp_cdp.report_data(text) IS
	'figures that dp_cdp.report draws, as JSON, for the owner of a dataset';
