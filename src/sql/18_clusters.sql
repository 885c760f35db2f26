-- =========================================================================
-- 18. Clusters of Citus
-- =========================================================================

-- What a row adds to totals (bigint) and histograms (codes: integer, integer[]; bigint[] after what each counts), as rows of a cell and a number, whose sums Citus has computed where rows are
CREATE OR REPLACE FUNCTION dp_cdp_internal.entry_cells(VARIADIC "any") RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_entry_cells' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 3;
CREATE OR REPLACE FUNCTION dp_cdp_internal.entry_totals(VARIADIC "any") RETURNS SETOF bigint
	AS 'MODULE_PATHNAME', 'dp_entry_totals' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 3;

-- Without a function that combines states: Citus has the rows brought to the coordinator, or has all of it done by the one server that has them
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_histogram(code integer, bins integer) (
	SFUNC = dp_cdp_internal.exact_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192, FINALFUNC = dp_cdp_internal.vector_counts, PARALLEL = SAFE
);
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_histogram(codes integer[], bins integer) (
	SFUNC = dp_cdp_internal.codes_histogram_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192, FINALFUNC = dp_cdp_internal.vector_counts, PARALLEL = SAFE
);
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_shares(codes integer[], bins integer, share bigint) (
	SFUNC = dp_cdp_internal.codes_shares_add, STYPE = dp_cdp_internal.exact_vector, SSPACE = 8192, FINALFUNC = dp_cdp_internal.vector_counts, PARALLEL = SAFE
);
CREATE OR REPLACE FUNCTION dp_cdp_internal.gathered_distinct(dp_cdp_internal.exact_distinct) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'dp_gathered_distinct' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OR REPLACE AGGREGATE dp_cdp_internal.gathered_distinct_shares(codes bigint[], share bigint, dp_cdp_internal.bound_spec, value integer) (
	SFUNC = dp_cdp_internal.codes_distinct_shares_add, STYPE = dp_cdp_internal.exact_distinct, SSPACE = 4096,
	FINALFUNC = dp_cdp_internal.gathered_distinct, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);

-- Gives the table that Citus manages the labels that it has here at the workers, too, or takes those of "removed" (numbers of columns,
-- 0: of the table) from them, and all of shards.  Labels are set in transactions of the workers' own, and taken from shards in such:
-- one that stays there when this is undone closes a table, and shards of a table with one are closed.  The table's own
-- are removed by Citus, in transactions that end as this one does, lest a ROLLBACK should leave it open at workers
CREATE OR REPLACE FUNCTION dp_cdp_internal.relabel_workers("table" regclass, removed smallint[])
	RETURNS void
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	AS $f$
DECLARE
	-- labels of the table where that is true and it gets new ones, and of shards
	clear text := $d$DECLARE
			statement text;
		BEGIN
			-- shard_name() does not say public; the function that this is a part of resets it
			SET LOCAL search_path = pg_catalog, public;
			%3$s
			FOR statement IN SELECT format('SECURITY LABEL FOR dp_cdp ON %%s IS NULL', CASE WHEN l.objsubid = 0 THEN 'TABLE ' || l.objoid::regclass
					ELSE format('COLUMN %%s.%%I', l.objoid::regclass, a.attname) END)
				FROM pg_seclabel l LEFT JOIN pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
				WHERE l.provider = 'dp_cdp' AND l.classoid = 'pg_class'::regclass AND (%2$L AND l.objoid = to_regclass(%1$L) OR
					l.objoid IN (SELECT to_regclass(shard_name(s.logicalrelid, s.shardid)) FROM pg_dist_shard s WHERE s.logicalrelid = to_regclass(%1$L)))
				ORDER BY l.objoid, l.objsubid LOOP
				EXECUTE statement;
			END LOOP;$d$;
	statement text;
	name text := (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = "table");
	wanted text;
	command text;
	failed text;
	roles_propagate text := current_setting('citus.enable_alter_role_propagation');
	propagates text := current_setting('citus.enable_ddl_propagation');
	-- workers know no others: of those that are distributed by ranges or appended to they have shards alone
	known bool := (SELECT p.partmethod IN ('h', 'n') FROM pg_dist_partition p WHERE p.logicalrelid = "table");
BEGIN
	IF known THEN
		PERFORM set_config('citus.enable_ddl_propagation', 'on', true), set_config('citus.enable_alter_role_propagation', 'on', true);
		FOR statement IN SELECT format('SECURITY LABEL FOR dp_cdp ON %s IS NULL', CASE WHEN r = 0 THEN 'TABLE ' || name ELSE format('COLUMN %s.%I', name, a.attname) END)
			FROM unnest(removed) r LEFT JOIN pg_attribute a ON a.attrelid = "table" AND a.attnum = r ORDER BY r DESC LOOP
			EXECUTE statement;
		END LOOP;
		PERFORM set_config('citus.enable_ddl_propagation', propagates, true), set_config('citus.enable_alter_role_propagation', roles_propagate, true);
	END IF;
	SELECT string_agg(format('SECURITY LABEL FOR dp_cdp ON %s IS %L', CASE WHEN l.objsubid = 0 THEN 'TABLE ' || name
			ELSE format('COLUMN %s.%I', name, a.attname) END, l.label), '; ' ORDER BY l.objsubid)
		INTO wanted
		FROM pg_seclabel l LEFT JOIN pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
		WHERE l.provider = 'dp_cdp' AND l.classoid = 'pg_class'::regclass AND l.objoid = "table";
	-- one that knows no tables of the cluster, by its own number, has none to be closed
	command := format('DO LANGUAGE plpgsql %L', format(clear, name, wanted IS NOT NULL, 'SET LOCAL lock_timeout = ''10s''; SET LOCAL citus.enable_ddl_propagation = off;')
		|| format(' IF EXISTS (SELECT FROM pg_dist_local_group WHERE groupid <> 0) THEN IF to_regclass(%L) IS NULL THEN'
			' RAISE ''it is not there yet: call this in a transaction after that in which the table was distributed''; END IF; %s END IF; END',
			name, coalesce(wanted || ';', '')));
	IF known THEN
		EXECUTE 'SELECT string_agg(format(''%s:%s: %s'', w.nodename, w.nodeport, w.result), ''; '') FROM run_command_on_workers($1) w WHERE NOT w.success'
			INTO failed USING command;
	END IF;
	IF failed IS NOT NULL THEN
		RAISE 'the label of table % cannot be set at all servers of the cluster: %', name, failed USING ERRCODE = 'ZC004';
	END IF;
	IF wanted IS NULL THEN
		PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
		EXECUTE format('DO LANGUAGE plpgsql %L', format(clear, name, false, '') || ' END');
		PERFORM set_config('citus.enable_ddl_propagation', propagates, true);
	END IF;
END $f$;
REVOKE ALL ON FUNCTION dp_cdp_internal.relabel_workers(regclass, smallint[]) FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.relabel_workers(regclass, smallint[]) IS
	'called by protect_table() and unprotect_table(): labels of a table that Citus manages at the workers';

-- What a worker tells of itself; '{}' where there is no Citus, or this is a worker
CREATE OR REPLACE FUNCTION dp_cdp_internal.cluster_facts()
	RETURNS TABLE(node text, answers boolean, told jsonb)
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	coordinator boolean;
BEGIN
	IF to_regclass('pg_catalog.pg_dist_local_group') IS NULL THEN
		RETURN;
	END IF;
	EXECUTE 'SELECT groupid = 0 FROM pg_catalog.pg_dist_local_group' INTO coordinator;
	IF coordinator THEN
		RETURN QUERY EXECUTE 'SELECT format(''%s:%s'', w.nodename, w.nodeport), w.success,'
			' CASE WHEN w.success THEN w.result::jsonb ELSE ''{}'' END FROM run_command_on_workers($1) w'
			USING format('SELECT jsonb_build_object(''libraries'', current_setting(''shared_preload_libraries''),'
				' ''version'', (SELECT extversion FROM pg_extension WHERE extname = ''dp_cdp''),'
				' ''logs'', (SELECT string_agg(l.setting, '', '' ORDER BY l.setting) FROM (SELECT name || '' = '' || setting FROM pg_settings'
				' WHERE name IN (''log_statement'', ''log_min_duration_statement'', ''log_min_duration_sample'') AND setting NOT IN (''none'', ''-1'')'
				' UNION SELECT replace(c, ''='', '' = '') || coalesce('' of role '' || nullif(setrole, 0)::regrole, '''') FROM pg_db_role_setting, unnest(setconfig) c'
				' WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))'
				' AND c ~ ''^log_(statement|min_duration_statement|min_duration_sample)='' AND c !~ ''=(none|-1)$'') l(setting)),'
				' ''analysts'', (SELECT string_agg(quote_ident(rolname), '', '' ORDER BY rolname) FROM pg_roles'
				' WHERE rolname = ANY (%L::text[]) AND rolcanlogin AND has_database_privilege(oid, current_database(), ''CONNECT'')))',
				ARRAY(SELECT DISTINCT b.role_name::text FROM dp_cdp_internal.budget b));
	END IF;
END $$;
REVOKE ALL ON FUNCTION dp_cdp_internal.cluster_facts() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.cluster_facts() IS
	'facts that the workers of a Citus cluster tell of themselves. No rows on a worker, nor where there is no Citus';

-- What check_setup() says of them
CREATE OR REPLACE FUNCTION dp_cdp_internal.cluster_findings()
	RETURNS TABLE(severity text, object text, finding text, remedy text)
	LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
	AS $$
WITH facts AS MATERIALIZED (
	SELECT f.node, f.answers, f.told FROM dp_cdp_internal.cluster_facts() f
)
SELECT v.severity, format('worker %s', f.node), v.finding, v.remedy
FROM facts f, LATERAL (VALUES
	(NOT f.answers, 'warning', 'does not answer: what is open there is not known, and releases from distributed tables are refused',
		'start it, or take it out of the cluster'),
	(f.answers AND NOT coalesce('dp_cdp' = ANY (string_to_array(regexp_replace(f.told ->> 'libraries', '[ "]|\.so', '', 'g'), ',')), false),
		'critical', 'shared_preload_libraries has no dp_cdp: nothing is guarded there',
		'add dp_cdp after citus to its shared_preload_libraries and restart it'),
	(f.answers AND f.told ->> 'version' IS DISTINCT FROM (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'dp_cdp'),
		'warning', format('has version %s of dp_cdp, and the coordinator another', coalesce(f.told ->> 'version', 'none')),
		'install the same version on all servers, and ALTER EXTENSION dp_cdp UPDATE'),
	(f.told ->> 'logs' IS NOT NULL, 'warning',
		format('logs statements (%s): of inner queries they show the seed that decides which groups of a person are left out', f.told ->> 'logs'),
		'ALTER SYSTEM RESET those settings there; SELECT pg_reload_conf()'),
	(f.told ->> 'analysts' IS NOT NULL, 'info',
		format('as far as privileges tell, analysts may log in there (%s); they read nothing, but have no business with it', f.told ->> 'analysts'),
		'let pg_hba.conf there admit the coordinator and administrators alone')
	) AS v(applies, severity, finding, remedy)
WHERE v.applies
$$;
REVOKE ALL ON FUNCTION dp_cdp_internal.cluster_findings() FROM PUBLIC;
COMMENT ON FUNCTION dp_cdp_internal.cluster_findings() IS
	'for check_setup(): what is open or missing at the workers of a Citus cluster';
