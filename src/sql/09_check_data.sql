-- =========================================================================
-- 9. Whether the rows are as the policy says, for owners who may read them
-- =========================================================================

-- Everything here is for who calls, and is told to nobody else.  dp_cdp_internal.may_read() comes first: a role that may not
-- read a table would be given a private answer instead, and pay for it.  Rows are read as the table's owner (row_checks.c).

CREATE OR REPLACE FUNCTION dp_cdp_internal.may_read("table" regclass) RETURNS boolean
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_may_read_rows';

-- What to name in place of a name that is no dataset's: that of the table which bears it, with its schema or without.
CREATE OR REPLACE FUNCTION dp_cdp_internal.hint_of_dataset(asked text) RETURNS text
	LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
SELECT coalesce(string_agg(format('Table %s is protected in dataset %s: name %2$L.', p."table", p.dataset), ' ' ORDER BY p."table"::text),
	'SELECT dataset FROM dp_cdp.datasets names those that are there.')
FROM dp_cdp.protected p JOIN pg_class c ON c.oid = p."table" WHERE asked IN (c.relname, p."table"::text)
$$;

-- The rows of a table as t0, joined along foreign keys with those that name the
-- person; person is NULL where each row of the table is one.
CREATE OR REPLACE FUNCTION dp_cdp_internal.people_source("table" regclass, OUT source text, OUT person text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	at regclass := people_source."table";
	policy record;
	referenced regclass;
	condition text;
BEGIN
	FOR step IN 0 .. 100 LOOP
		IF NOT dp_cdp_internal.may_read(at) THEN
			RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE =
				CASE WHEN pg_catalog.has_table_privilege(at, 'SELECT') AND session_user <> current_user
					THEN format('must be allowed to read the rows of table %s, to check them: role "%s" may, and login role "%s" may not; log in as a role that may',
						at, current_user, session_user)
				ELSE format('must be allowed to read the rows of table %s, to check them: have SELECT on it granted', at) END;
		ELSIF pg_catalog.row_security_active(at) THEN
			RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE =
				format('must be allowed to read all rows of table %s, to check them: row-level security hides some from role "%s"', at, current_user);
		END IF;
		source := coalesce(source || format(' LEFT JOIN %s AS t%s ON %s', at, step, condition), format('%s AS t0', at));
		-- a partition has the policy of the table that it is one of
		SELECT p.unit, p.through INTO policy FROM dp_cdp.protected p
			WHERE p."table" = at OR p."table" IN (SELECT a.relid FROM pg_partition_ancestors(at) a(relid));
		IF policy.unit IS NOT NULL THEN
			person := format('t%s.%I', step, policy.unit);
		ELSIF policy.through IS NULL AND step > 0 THEN
			person := format('(t%s.tableoid, t%1$s.ctid)', step);
		END IF;
		EXIT WHEN policy.unit IS NOT NULL OR policy.through IS NULL;
		SELECT f.confrelid::regclass, string_agg(format('t%s.%I OPERATOR(%I.%s) t%s.%I',
				step + 1, r.attname, n.nspname, o.oprname, step, a.attname), ' AND ') INTO referenced, condition
			FROM pg_constraint f CROSS JOIN LATERAL unnest(f.conkey, f.confkey, f.conpfeqop) c(here, there, operator)
				JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = c.here
				JOIN pg_attribute r ON r.attrelid = f.confrelid AND r.attnum = c.there
				JOIN pg_operator o ON o.oid = c.operator JOIN pg_namespace n ON n.oid = o.oprnamespace
			WHERE f.contype = 'f' AND f.conrelid = at AND f.convalidated
			GROUP BY f.oid, f.confrelid
			HAVING string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) = policy.through
			ORDER BY f.oid LIMIT 1;
		-- check_setup() says what has become of the key
		EXIT WHEN referenced IS NULL;
		at := referenced;
	END LOOP;
END $$;

-- What of a column's policy is not of its type any more, which was changed; NULL: nothing.
CREATE OR REPLACE FUNCTION dp_cdp_internal.unfit_policy("table" regclass, "column" name, declared jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD'
	AS $$
DECLARE
	type oid;
	base oid;
	category "char";
BEGIN
	SELECT t.oid, coalesce(nullif(t.typbasetype, 0), t.oid), t.typcategory INTO type, base, category FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = unfit_policy."table" AND a.attname = unfit_policy."column";
	IF declared ? 'lower' AND category <> (CASE jsonb_typeof(declared -> 'lower') WHEN 'number' THEN 'N' ELSE 'D' END) THEN
		RETURN format('its bounds %s and %s are not of its type %s', declared ->> 'lower', declared ->> 'upper', format_type(type, NULL));
	-- of PostgreSQL's own types alone: no code of the table's owner runs here
	ELSIF declared ? 'keys' AND base < 16384 THEN
		BEGIN
			EXECUTE format('SELECT FROM jsonb_array_elements_text($1) k WHERE k::%s IS NULL', format_type(base, NULL)) USING declared -> 'keys';
		EXCEPTION WHEN data_exception THEN
			RETURN format('its declared keys are not of its type %s', format_type(type, NULL));
		END;
	END IF;
	RETURN NULL;
END $$;

-- What is declared of a column beside what its rows have.  keys: what dp_cdp.declared_keys() says, for its owner, or NULL.
CREATE OR REPLACE FUNCTION dp_cdp_internal.check_column("table" regclass, "column" name, declared jsonb, keys jsonb, source text, person text)
	RETURNS TABLE(severity text, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD'
	AS $$
#variable_conflict use_column
DECLARE
	value text := format('t0.%I', check_column."column");
	its_rows text := format('%s AS t0', check_column."table");
	type text := (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
		WHERE a.attrelid = check_column."table" AND a.attname = check_column."column");
	bound text := CASE jsonb_typeof(declared -> 'lower') WHEN 'number' THEN 'numeric' ELSE type END;
	them text := format('%L, %L', check_column."table", check_column."column");
	unfit text := dp_cdp_internal.unfit_policy(check_column."table", check_column."column", declared);
	missing text;
	n record;
BEGIN
	IF unfit IS NOT NULL THEN
		RETURN QUERY SELECT 'warning', unfit, NULL::bigint, format('SELECT dp_cdp.set_bounds(%1$s, ...) or dp_cdp.set_keys(%1$s, ...), or drop_bounds and drop_keys', them);
		RETURN;
	END IF;
	IF declared ? 'lower' THEN
		EXECUTE format('SELECT count(*) FILTER (WHERE %1$s < $1::%2$s OR %1$s > $2::%2$s) AS outside, count(%1$s) AS whole FROM %3$s',
			value, bound, its_rows) INTO n USING declared ->> 'lower', declared ->> 'upper';
		RETURN QUERY SELECT 'warning', format('%s of %s values are outside of the bounds %s and %s, and count as the nearer one', n.outside, n.whole,
				declared ->> 'lower', declared ->> 'upper'), n.outside,
			format('SELECT dp_cdp.set_bounds(%s, lower, upper), with bounds that are publicly plausible', them) WHERE n.outside > 0;
		IF bound = 'numeric' THEN
			EXECUTE format('SELECT count(*) FILTER (WHERE 10 * abs(%1$s::numeric) > greatest(abs($1::numeric), abs($2::numeric))) AS far, count(%1$s) AS whole FROM %2$s',
				value, its_rows) INTO n USING declared ->> 'lower', declared ->> 'upper';
			-- the values themselves are not told: bounds that follow them would be told to analysts
			RETURN QUERY SELECT 'info', format('each of %s values is within a tenth of the bounds %s and %s: sums have at least ten times the noise of narrower bounds', n.whole,
					declared ->> 'lower', declared ->> 'upper'), n.whole,
				format('SELECT dp_cdp.set_bounds(%s, lower, upper), with narrower bounds if these are publicly plausible', them) WHERE n.far = 0 AND n.whole >= 20;
		END IF;
	END IF;
	IF declared ? 'total_lower' AND person IS NOT NULL THEN
		EXECUTE format('SELECT count(*) FILTER (WHERE p.total < $1 OR p.total > $2) AS outside, count(*) AS whole'
			' FROM (SELECT sum(least(greatest(%s::numeric, $3), $4)) AS total FROM %s WHERE %s IS NOT NULL GROUP BY %3$s) p', value, source, person)
			INTO n USING (declared ->> 'total_lower')::numeric, (declared ->> 'total_upper')::numeric, (declared ->> 'lower')::numeric, (declared ->> 'upper')::numeric;
		RETURN QUERY SELECT 'warning', format('the values of %s of %s people add up to less than %s or more than %s, and are cut to that',
				n.outside, n.whole, declared ->> 'total_lower', declared ->> 'total_upper'), n.outside,
			format('SELECT dp_cdp.set_bounds(%s, %s, %s, total_lower, total_upper), with totals that are publicly plausible',
				them, declared ->> 'lower', declared ->> 'upper') WHERE n.outside > 0;
	END IF;
	IF NOT declared ? 'keys' THEN
		RETURN;
	END IF;
	-- by the equality of GROUP BY
	EXECUTE format('SELECT coalesce(sum(g.rows) FILTER (WHERE g.key IS NULL), 0)::bigint AS nulls,'
		' coalesce(sum(g.rows) FILTER (WHERE g.key IS NOT NULL AND NOT g.declared), 0)::bigint AS others,'
		' count(*) FILTER (WHERE g.rows = 0 AND g.key IS NOT NULL) AS missing, coalesce(sum(g.rows), 0) > 0 AS any_row,'
		' array_to_string((array_agg(g.key::text ORDER BY g.key::text) FILTER (WHERE g.rows = 0 AND g.key IS NOT NULL))[1:5], '', '') AS names'
		' FROM (SELECT k.key, sum(k.rows) AS rows, bool_or(k.declared) AS declared'
		' FROM (SELECT %s AS key, count(*) AS rows, false AS declared FROM %s GROUP BY 1 UNION ALL SELECT d.key::%s, 0, true FROM unnest($1) d(key)) k'
		' GROUP BY k.key) g', value, its_rows, type)
		INTO n USING ARRAY(SELECT jsonb_array_elements_text(keys));
	missing := n.names || CASE WHEN n.missing > 5 THEN ', ...' ELSE '' END;
	RETURN QUERY SELECT 'info', format('%s rows have NULL here', n.nulls), n.nulls,
			format('ALTER TABLE %s ALTER %I SET NOT NULL once they have a value, where NULL is to be no group',
				check_column."table", check_column."column") WHERE n.nulls > 0
		UNION ALL SELECT 'warning', format('%s rows have a value that is no declared key: they are in no group', n.others), n.others,
			format('SELECT dp_cdp.set_keys(%s, ...), with all keys that are publicly known', them) WHERE n.others > 0
		UNION ALL SELECT 'info', format(CASE n.missing WHEN 1 THEN '%s declared key has no row: its group is noise around 0: %s' ELSE '%s declared keys have no row: their groups are noise around 0: %s' END, n.missing, missing), n.missing,
			'leave them out of the keys if everybody knows that they have no row' WHERE n.missing > 0 AND n.any_row;
END $$;

-- What the rows of a table tell of its people, where one counts with "most" rows, which is a norm or max_rows, in so many groups:
-- of limits alone, or all; of the groups by one column with declared keys (at), or of all columns and of rows.
CREATE OR REPLACE FUNCTION dp_cdp_internal.people_findings("table" regclass, at name, limits_only boolean, most numeric, of_norm boolean, most_groups int,
		source text, person text) RETURNS TABLE(severity text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	t record;
	keyed record;
	n record;
	g record;
BEGIN
	SELECT p.* INTO t FROM dp_cdp.protected p WHERE p."table" = people_findings."table";
	IF person IS NULL THEN
		RETURN;
	END IF;
	IF at IS NULL AND NOT (limits_only AND most IS NULL) THEN
		-- heaviest are the people with most rows, one in a hundred
		EXECUTE format('SELECT coalesce(sum(p.rows) FILTER (WHERE p.nobody), 0)::bigint AS of_nobody,'
			' count(*) FILTER (WHERE NOT p.nobody) AS whole, coalesce(sum(p.rows) FILTER (WHERE NOT p.nobody), 0)::bigint AS rows,'
			' count(*) FILTER (WHERE NOT p.nobody AND p.rows > $1) AS above, coalesce(round(sum(p.rows - $1) FILTER (WHERE NOT p.nobody AND p.rows > $1)), 0) AS cut,'
			' count(*) FILTER (WHERE p.place <= p.heaviest) AS heaviest, coalesce(sum(p.rows) FILTER (WHERE p.place <= p.heaviest), 0)::bigint AS of_heaviest'
			' FROM (SELECT h.rows, h.nobody, row_number() OVER (PARTITION BY h.nobody ORDER BY h.rows DESC) AS place,'
			' CASE WHEN NOT h.nobody THEN ceil(count(*) OVER (PARTITION BY h.nobody) / 100.0) END AS heaviest'
			' FROM (SELECT count(*) AS rows, %2$s IS NULL AS nobody FROM %1$s GROUP BY %2$s) h) p', source, person) INTO n USING most;
		RETURN QUERY SELECT 'warning', NULL::name, format('%s rows belong to nobody, and count in no answer', n.of_nobody), n.of_nobody,
				'give each row its person, and declare the column NOT NULL' WHERE n.of_nobody > 0 AND NOT limits_only
			UNION ALL SELECT 'warning', t.unit, format('%s rows have %s different values here: is each of them one person?', n.rows, n.whole), n.whole,
				format('SELECT dp_cdp.unprotect_table(%1$L), and dp_cdp.protect_table(%1$L, %2$L, unit => ...) with the column that says whose row it is, if it is another', t."table", t.dataset)
				WHERE t.unit IS NOT NULL AND n.whole < 100 AND n.rows > n.whole * CASE WHEN n.whole < 10 THEN 10 ELSE 1000 END AND NOT limits_only
			UNION ALL SELECT 'warning', NULL,
				CASE WHEN of_norm THEN format('%s of %s people have more than %s rows (max_contribution), and are scaled down to that: a count lacks %s of %s rows', n.above, n.whole, most, n.cut, n.rows)
					ELSE format('%2$s of %3$s people have more than %1$s rows (max_rows): in one group at most %1$s of each count', most, n.above, n.whole) END,
				n.above, format('SELECT * FROM dp_cdp.suggest_limits(%L, rho => ...), which finds a limit privately', t."table") WHERE n.above > 0;
	END IF;
	FOR keyed IN SELECT a.attname, c.value FROM jsonb_each(t.columns) c JOIN pg_attribute a ON a.attrelid = t."table" AND a.attname = c.key
			WHERE most_groups IS NOT NULL AND c.value ? 'keys' AND a.attname = coalesce(at, a.attname)
				AND dp_cdp_internal.unfit_policy(t."table", a.attname, c.value) IS NULL ORDER BY a.attnum LOOP
		EXECUTE format('SELECT count(*) FILTER (WHERE p.groups > $1) AS above, count(*) AS whole'
			' FROM (SELECT count(DISTINCT t0.%I) AS groups FROM %s WHERE %s IS NOT NULL GROUP BY %3$s) p', keyed.attname, source, person)
			INTO g USING most_groups;
		RETURN QUERY SELECT 'warning', keyed.attname,
			format('%s of %s people are in more than %s of its groups (max_groups), and count in so many alone', g.above, g.whole, most_groups),
			g.above, format('SELECT dp_cdp.alter_dataset(%L, max_groups => ...), or a max_contribution instead', t.dataset) WHERE g.above > 0;
	END LOOP;
	IF at IS NULL AND NOT limits_only THEN
		RETURN QUERY SELECT 'info', NULL::name,
			format('the %s people with most rows, of %s, have %s of %s rows: a limit cuts much of that, or noise grows with it', n.heaviest, n.whole, n.of_heaviest, n.rows), n.of_heaviest,
			format('SELECT * FROM dp_cdp.suggest_limits(%L, rho => ...) finds a limit privately, and dp_cdp.alter_dataset(%L, max_contribution => ...), or max_rows, declares it; dp_cut tells what a limit cuts that queries find', t."table", t.dataset)
			WHERE n.whole >= 20 AND 10 * n.of_heaviest > n.rows;
	END IF;
END $$;

-- What a declaration tells at once of the rows of a table that is read in a moment: of a column's bounds (of_bounds) or keys,
-- and without a column of whose rows they are (of_bounds), or of limits alone.
CREATE OR REPLACE FUNCTION dp_cdp_internal.findings_at_once("table" regclass, "column" name, of_bounds boolean, keys jsonb,
		most numeric, of_norm boolean, most_groups int) RETURNS TABLE(at_column name, finding text, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	asked regclass := findings_at_once."table";
	at name := findings_at_once."column";
	unread constant text := format('SELECT * FROM dp_cdp.check_data(%L) reads them', dp_cdp.dataset_of(asked));
	too_large boolean;
	people record;
BEGIN
	WITH RECURSIVE r AS (SELECT asked::oid AS relid UNION SELECT i.inhrelid FROM r JOIN pg_inherits i ON i.inhparent = r.relid)
	SELECT coalesce(sum(CASE WHEN c.relkind = 'f' THEN NULL ELSE pg_table_size(c.oid) END) > 134217728
			OR bool_or(c.relkind = 'f') OR bool_or(pg_table_size(c.oid) IS NULL), true) INTO too_large
		FROM r JOIN pg_class c ON c.oid = r.relid WHERE c.relkind <> 'p';
	IF too_large THEN
		RETURN QUERY SELECT at, 'its rows were not looked at, as they may be many', unread;
		RETURN;
	END IF;
	people := dp_cdp_internal.people_source(asked);
	RETURN QUERY SELECT at, f.finding, f.remedy FROM dp_cdp.protected p CROSS JOIN LATERAL dp_cdp_internal.check_column(p."table", at,
			(p.columns -> at::text) - CASE WHEN of_bounds THEN '{keys}'::text[] ELSE '{lower,upper,total_lower,total_upper}'::text[] END,
			keys, people.source, people.person) f
		WHERE p."table" = asked AND at IS NOT NULL
		UNION ALL SELECT f."column", f.finding, f.remedy
			FROM dp_cdp_internal.people_findings(asked, at, at IS NOT NULL OR NOT of_bounds, most, of_norm, most_groups, people.source, people.person) f
			WHERE f.severity = 'warning' AND (at IS NULL OR NOT of_bounds);
-- a declaration does not fail because its rows cannot be read
EXCEPTION WHEN OTHERS THEN
	RETURN QUERY SELECT at, 'its rows could not be looked at', unread;
END $$;

-- What check_data() tells of a table, where a person counts with "most" rows, which is a norm or max_rows, in so many groups.
CREATE OR REPLACE FUNCTION dp_cdp_internal.findings_of_table("table" regclass, most numeric, of_norm boolean, most_groups int, keys jsonb)
	RETURNS TABLE(severity text, object text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	t record;
	rows_of record;
	n record;
BEGIN
	SELECT p."table"::text AS name, p.* INTO t FROM dp_cdp.protected p WHERE p."table" = findings_of_table."table";
	rows_of := dp_cdp_internal.people_source(t."table");
	RETURN QUERY SELECT f.severity, t.name, f."column", f.finding, f.number, f.remedy
		FROM dp_cdp_internal.people_findings(t."table", NULL, false, most, of_norm, most_groups, rows_of.source, rows_of.person) f;
	IF t.block IS NOT NULL THEN
		EXECUTE format('SELECT count(*) AS rows FROM %s WHERE %I IS NULL', t."table", t.block) INTO n;
		RETURN QUERY SELECT 'info', t.name, t.block,
			format('%s rows have NULL here: they are in the first block of time, and only queries without a lower end read them', n.rows), n.rows,
			'give each row its time before the table is protected, or delete these and put them in anew: triggers keep rows in their blocks' WHERE n.rows > 0;
	END IF;
	RETURN QUERY SELECT f.severity, t.name, a.attname, f.finding, f.number, f.remedy
		FROM jsonb_each(t.columns) c JOIN pg_attribute a ON a.attrelid = t."table" AND a.attname = c.key
			CROSS JOIN LATERAL dp_cdp_internal.check_column(t."table", a.attname, c.value, keys -> c.key, rows_of.source, rows_of.person) f
		ORDER BY a.attnum;
END $$;

CREATE OR REPLACE FUNCTION dp_cdp_internal.check_table("table" regclass, most numeric, of_norm boolean, most_groups int, keys jsonb)
	RETURNS TABLE(severity text, object text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE C STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_check_table';

CREATE OR REPLACE FUNCTION dp_cdp.check_data(dataset text)
	RETURNS TABLE(severity text, object text, "column" name, finding text, number bigint, remedy text)
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	asked text := check_data.dataset;
	cap record;
	t record;
	most numeric;
BEGIN
	SELECT d.*, pg_has_role(current_user, d.owner::oid, 'USAGE') AS own INTO cap FROM dp_cdp.datasets d WHERE d.dataset = asked;
	IF cap.dataset IS NULL THEN
		RAISE EXCEPTION 'dataset "%" does not exist, or is none of yours: see dp_cdp.datasets', asked
			USING ERRCODE = 'ZC004', HINT = dp_cdp_internal.hint_of_dataset(asked);
	ELSIF NOT coalesce(cap.own, (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user)) THEN
		RAISE EXCEPTION 'must be owner of dataset "%" to check its data', asked USING ERRCODE = 'insufficient_privilege';
	END IF;
	most := coalesce(cap.max_rows, nullif(cap.max_contribution, 'auto')::numeric);

	FOR t IN SELECT p."table", p.columns FROM dp_cdp.protected p WHERE p.dataset = asked ORDER BY p."table"::text LOOP
		RETURN QUERY SELECT * FROM dp_cdp_internal.check_table(t."table", most, cap.max_rows IS NULL, cap.max_groups,
			(SELECT jsonb_object_agg(c.key, dp_cdp.declared_keys(t."table", c.key::name)) FROM jsonb_each(t.columns) c
				WHERE c.value ? 'keys' AND dp_cdp_internal.unfit_policy(t."table", c.key::name, c.value) IS NULL));
	END LOOP;
END $$;
COMMENT ON FUNCTION dp_cdp.check_data(text) IS
	'where rows are not as the policy of a dataset says. It finds rows of nobody, and rows without time. It finds values out of bounds, bounds that are far too wide, undeclared keys, and units with few values. It finds people above limits, and people with much of the rows. It is for the owner of the dataset who may read all of its tables. It counts rows without noise and costs nothing, so its result is for no analyst';

