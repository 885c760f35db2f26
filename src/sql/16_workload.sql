-- =========================================================================
-- 16. How to share rho among counts or sums of the same rows (src/release/workload.c)
-- =========================================================================

CREATE OR REPLACE FUNCTION dp_cdp.plan_workload(queries text[], rho double precision DEFAULT NULL,
		OUT query integer, OUT keys text, OUT cells bigint,
		OUT equal_stddev double precision, OUT equal_consistent_stddev double precision,
		OUT rho_alone numeric, OUT stddev double precision,
		OUT rho_consistent numeric, OUT consistent_stddev double precision,
		OUT optimum_stddev double precision) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_plan_workload' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_cdp.plan_workload(text[], double precision) IS
	'how to share rho among queries that are one count or sum of the same rows by declared keys, with the least total variance of all cells: if each answer is taken as it is (rho_alone), or all are reconciled by least squares (rho_consistent); stddev of a cell, beside equal shares and the best of all Gaussian mechanisms; nothing is executed or charged';

