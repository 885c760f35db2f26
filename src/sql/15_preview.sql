-- =========================================================================
-- 15. The price and the error of a query, before and after it ran (src/release/report.c)
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp_internal.preview_columns(query text, OUT aggregate text, OUT dataset text, OUT "group" text,
		OUT sensitivity double precision, OUT stddev double precision, OUT margin double precision,
		OUT rho numeric, OUT delta numeric, OUT formula text,
		OUT row_lower double precision, OUT row_upper double precision, OUT total_lower double precision, OUT total_upper double precision,
		OUT reused_since timestamptz, OUT block_from date, OUT block_to date, OUT norm double precision, OUT cut double precision, OUT limits text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_preview_columns' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_cdp_internal.preview_columns(text) IS
	'price and noise that each private aggregate of a query would have. For totals, too, call dp_cdp.preview';
CREATE OR REPLACE FUNCTION dp_cdp.preview(query text) RETURNS TABLE (item text, name text, dataset text,
		sensitivity double precision, stddev double precision, margin double precision, rho numeric, delta numeric,
		formula text, row_lower double precision, row_upper double precision,
		total_lower double precision, total_upper double precision, reused_since timestamptz,
		block_from date, block_to date, norm double precision, limits text)
	LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
	WITH c AS MATERIALIZED (
		SELECT p.* FROM dp_cdp_internal.preview_columns(preview.query) WITH ORDINALITY
			AS p(aggregate, dataset, "group", sensitivity, stddev, margin, rho, delta, formula,
				row_lower, row_upper, total_lower, total_upper, reused_since, block_from, block_to, norm, cut, limits, n)
	), t AS MATERIALIZED (
		SELECT c.dataset, sum(c.rho) AS rho, sum(c.delta) AS delta, min(c.block_from) AS block_from, max(c.block_to) AS block_to
			FROM c GROUP BY c.dataset
	), l AS (
		SELECT 1 AS part, c.n, CASE WHEN c.rho IS NULL THEN 'expression' ELSE 'aggregate' END AS item, c.aggregate AS name, c.dataset, c.sensitivity, c.stddev, c.margin, c.rho, c.delta, c.formula,
				c.row_lower, c.row_upper, c.total_lower, c.total_upper, c.reused_since, c.block_from, c.block_to, c.norm, c.limits
			FROM c
		UNION ALL
		SELECT 2, 0, 'total', NULL, t.dataset, NULL, NULL, NULL, t.rho, t.delta, NULL,
				NULL, NULL, NULL, NULL, NULL, t.block_from, t.block_to, NULL, NULL FROM t
		UNION ALL
		SELECT 3, 0, 'remains', b.role::text, b.dataset, NULL, NULL, NULL,
				b.rho_limit - CASE WHEN t.block_from IS NULL THEN b.rho_spent ELSE k.rho END - t.rho,
				b.delta_limit - CASE WHEN t.block_from IS NULL THEN b.delta_spent ELSE k.delta END - t.delta, NULL,
				NULL, NULL, NULL, NULL, NULL, t.block_from, t.block_to, NULL, NULL
			FROM t JOIN dp_cdp.budgets b ON b.dataset = t.dataset
				-- of the block with the most
				CROSS JOIN LATERAL (SELECT coalesce(max(s.rho_spent), 0) AS rho, coalesce(max(s.delta_spent), 0) AS delta
					FROM dp_cdp.blocks s
					WHERE s.ledger_id = b.ledger_id AND s.block_from < t.block_to AND t.block_from < s.block_to) k
			WHERE dp_cdp_internal.role_pays(session_user::regrole, b.role) OR dp_cdp_internal.role_pays(current_user::regrole, b.role)
	)
	SELECT l.item, l.name, l.dataset, l.sensitivity, l.stddev, l.margin, trim_scale(l.rho), trim_scale(l.delta), l.formula,
			l.row_lower, l.row_upper, l.total_lower, l.total_upper, l.reused_since, l.block_from, l.block_to, l.norm, l.limits
		FROM l ORDER BY l.part, l.n, l.dataset, l.name;
END;
COMMENT ON FUNCTION dp_cdp.preview(text) IS
	'price that a query would have, and the noise of each of its private aggregates. Nothing is executed or charged. The margin is half of a 95 % interval. Where stddev and margin depend on the answer they are NULL, and formula says about what the margin is for N rows. Where the norm is found first, formula has C for it. The limits of rows'' values and of units'' totals are row_lower to total_upper. The norm is a number of rows, for sums at the larger bound. It is NULL where it is found first, or limits nothing. The column limits says what a unit may add, as EXPLAIN does. Rows of the item remains say what would be left of each budget. Where an answer would be given again, or made better for the difference in price, reused_since tells since when it is kept. With blocks of time, each block that the query reads is charged the whole price, and what remains is of the block with the least';
CREATE OR REPLACE FUNCTION dp_cdp.query_fingerprint(query text, OUT aggregate text, OUT dataset text, OUT fingerprint text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_fingerprint' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_cdp.query_fingerprint(text) IS
	'fingerprint of what each private aggregate asks. Equal ones ask the same, whatever they cost. NULL: it is known only when the query runs. Nothing is executed or charged';
CREATE OR REPLACE FUNCTION dp_cdp.last_release(OUT aggregate text, OUT dataset text, OUT "group" text,
		OUT sensitivity double precision, OUT stddev double precision, OUT margin double precision,
		OUT rho numeric, OUT delta numeric,
		OUT row_lower double precision, OUT row_upper double precision, OUT total_lower double precision, OUT total_upper double precision,
		OUT reused_since timestamptz, OUT block_from date, OUT block_to date, OUT norm double precision, OUT cut double precision, OUT limits text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_last_release' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_cdp.last_release() IS
	'price and error of each private aggregate that this session released last. Single groups have rows where the error differs. The row tells since when the answer is kept, where it was given again or made better. Where the limit was found, it tells the norm to which a unit''s contributions to all groups were scaled. It tells by estimate the share that was cut. The column limits says what a unit may add. The margin is that of noise alone: dp_margin holds what was cut, too. An expression of aggregates, such as dp_margin(x), has a row without rho';

