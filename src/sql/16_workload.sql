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
	'shares of rho for queries that are one count or sum of the same rows by declared keys. They give the least total variance of all cells. Use rho_alone for answers taken as they are, and rho_consistent for answers that least squares reconciles. The stddev of a cell stands beside that of equal shares and of the best of all Gaussian mechanisms. Nothing is executed or charged';

