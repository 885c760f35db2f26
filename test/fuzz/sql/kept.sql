-- What FUZZ_KEPT adds: answers are kept, and two more analysts.  One pays with
-- fuzz_analyst's budgets, too, and the other has the same rights and budgets of his own.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE ROLE fuzz_second LOGIN IN ROLE fuzz_analyst;
CREATE ROLE fuzz_third LOGIN;
\o /dev/null
SELECT dp_cdp.alter_dataset(name, reuse => '7 days') FROM dp_cdp_internal.dataset;
SELECT format('GRANT SELECT ON %I.%I TO fuzz_third', table_schema, table_name)
	FROM information_schema.role_table_grants WHERE grantee = 'fuzz_analyst' AND privilege_type = 'SELECT'
\gexec
SELECT format('GRANT USAGE ON SCHEMA %I TO fuzz_third', nspname) FROM pg_namespace
	WHERE has_schema_privilege('fuzz_analyst', oid, 'USAGE') AND nspname !~ '^pg_'
\gexec
INSERT INTO dp_cdp_internal.budget (dataset, role, rho_limit, delta_limit, report_delta)
	SELECT dataset, r::regrole, rho_limit, delta_limit, report_delta FROM dp_cdp_internal.budget, unnest(ARRAY['fuzz_second', 'fuzz_third']) r
	WHERE role = 'fuzz_analyst'::regrole;
