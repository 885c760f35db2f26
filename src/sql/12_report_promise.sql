
-- =========================================================================
-- 12. The report's page: what is promised, a page that a review board signs
-- =========================================================================

-- The two databases that are hard to tell apart.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_neighbors(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE r ->> 'neighbors'
		WHEN 'replace_one' THEN format('two databases in which all rows of one person%s are those of one or of another person', b.blocks)
		ELSE format('two databases of which one lacks all rows of one person%s', b.blocks) END
	FROM (SELECT coalesce(' in one block of ' || (r ->> 'block_every'), '') AS blocks) b
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_neighbors(jsonb) IS
	'for dp_cdp.report: neighbouring databases, in words';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_tables_of(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN count(*) = 0 THEN '<p class="none">No table is protected: nothing is promised of any, and nothing is released.</p>'
		ELSE '<div class="scroll" tabindex="0" role="region" aria-label="Protected tables"><table class="told"><thead><tr><th scope="col">Table</th>'
			|| '<th scope="col">Whose rows these are</th><th scope="col">Owner</th></tr></thead><tbody>'
			|| string_agg(format('<tr><th scope="row">%s</th><td>%s</td><td>%s</td></tr>', dp_cdp_internal.report_name(t ->> 'table'),
				CASE WHEN t ->> 'unit' IS NOT NULL THEN format('The person whom column %s names', dp_cdp_internal.report_name(t ->> 'unit'))
					WHEN t ->> 'through' IS NOT NULL THEN format('The person of the row of %s to which foreign key (%s) leads',
						coalesce(dp_cdp_internal.report_name(t ->> 'references'), '<i>an unknown table</i>'), dp_cdp_internal.report_name(t ->> 'through'))
					ELSE 'Each row is a person of its own: whoever has several has this promise for each row alone' END
				|| CASE WHEN t ->> 'block' IS NULL THEN '' ELSE format('; its block of time is that of %s', dp_cdp_internal.report_name(t ->> 'block')) END,
				dp_cdp_internal.report_name(t ->> 'owner')), '' ORDER BY x.n) || '</tbody></table></div>' END
	FROM jsonb_array_elements(r -> 'protected') WITH ORDINALITY x(t, n)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_tables_of(jsonb) IS
	'for dp_cdp.report: protected tables, and whose rows they are';

-- The cap, and the largest budgets.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_limits(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	WITH limits AS (
		SELECT 0::bigint AS place, 'All roles together, for ever: the lifetime cap' AS whom, r AS of WHERE r ->> 'rho_limit' IS NOT NULL
		UNION ALL
		SELECT row_number() OVER (ORDER BY (b ->> 'rho_limit')::numeric DESC, b ->> 'role'),
			dp_cdp_internal.report_name(b ->> 'role') || CASE WHEN b ->> 'period' IS NULL THEN '' ELSE format(', anew each %s',
				dp_cdp_internal.report_text(regexp_replace(regexp_replace(b ->> 'period', '\mmon', 'month'), '^1 (\w+)$', '\1'))) END, b
		FROM jsonb_array_elements(r -> 'budgets') b
	)
	SELECT CASE WHEN r ->> 'rho_limit' IS NULL THEN '<p class="warning">There is no lifetime cap: budgets alone bound what roles learn, and those that renew bound it within each period only.</p>' ELSE '' END
		|| CASE WHEN count(*) = 0 THEN '<p class="none">No role has a budget.</p>' ELSE
			'<div class="scroll" tabindex="0" role="region" aria-label="Cap and budgets"><table class="told"><thead><tr><th scope="col">Who</th>'
			|| '<th scope="col" class="n">Rho</th><th scope="col" class="n">Epsilon</th><th scope="col" class="n">at delta</th><th scope="col" class="n">Best guess is right</th></tr></thead><tbody>'
			|| string_agg(format('<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
				l.whom, dp_cdp_internal.report_up((l.of ->> 'rho_limit')::numeric), dp_cdp_internal.report_up((l.of ->> 'epsilon_limit')::numeric),
				dp_cdp_internal.report_up((l.of ->> 'report_delta')::numeric), dp_cdp_internal.report_guess((l.of ->> 'best_guess')::numeric)), '' ORDER BY l.place)
				FILTER (WHERE l.place <= 12)
			|| '</tbody></table></div>'
			|| CASE WHEN max(l.place) > 12 THEN format('<p class="note">%s have no larger rho than the last of these.</p>',
				dp_cdp_internal.report_plural(max(l.place) - 12, 'more budget', 'more budgets')) ELSE '' END END
	FROM limits l
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_limits(jsonb) IS
	'for dp_cdp.report: the cap and budgets as rho, epsilon and guess';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_contribution(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<ul class="plain">' || string_agg(format('<li>%s</li>', l.line), '' ORDER BY l.n) || '</ul>'
	FROM (VALUES
		(1, CASE WHEN r ->> 'max_contribution' = 'auto' THEN '<code>max_contribution</code>, found: each answer finds privately, within its price, how much of a person counts.'
			WHEN r ->> 'max_contribution' IS NULL THEN '<code>max_contribution</code>, none: the two below limit a person alone.'
			ELSE format('<code>max_contribution</code>, declared: a person counts in all groups together as much as %s rows in one.', dp_cdp_internal.report_text(r ->> 'max_contribution')) END),
		(2, CASE WHEN r ->> 'max_groups' IS NULL THEN '<code>max_groups</code>, not declared: 5 is used for the few aggregates that need a limit.'
			ELSE format('<code>max_groups</code>, declared: a person counts in at most %s of an answer.', dp_cdp_internal.report_plural((r ->> 'max_groups')::bigint, 'group', 'groups')) END),
		(3, CASE WHEN r ->> 'max_rows' IS NULL THEN '<code>max_rows</code>, not declared: 5 is used for the few aggregates that need a limit.'
			ELSE format('<code>max_rows</code>, declared: in one group at most %s of a person.', dp_cdp_internal.report_plural((r ->> 'max_rows')::bigint, 'row counts', 'rows count')) END),
		(4, 'An analyst may choose others: noise follows the limit, and the promise stays.'),
		(5, CASE WHEN (r ->> 'min_units')::bigint > 1 THEN format('<code>min_units</code>, declared: groups of fewer than %s people are not shown. Groups whose keys are declared have no answers where a noisy number of people is below it.', (r ->> 'min_units')::bigint) END)) l(n, line)
	WHERE l.line IS NOT NULL
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_contribution(jsonb) IS
	'for dp_cdp.report: how much of a person counts';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_checked(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT format('<p><code>check_setup()</code> has %s and %s. %s</p>', dp_cdp_internal.report_plural(n.critical, 'critical finding', 'critical findings'),
			dp_cdp_internal.report_plural(n.warnings, 'warning', 'warnings'),
			CASE WHEN n.critical > 0 THEN '<b>The promise does not hold until they are mended.</b>'
				WHEN n.warnings > 0 THEN 'Roles with a budget see no rows, but something beside them is open, or fails.' ELSE 'The promise holds for roles with a budget.' END)
		|| CASE WHEN n.listed = '[]' THEN '' ELSE dp_cdp_internal.report_findings_of(n.listed) END
	FROM (SELECT count(*) FILTER (WHERE f ->> 'severity' = 'critical') AS critical, count(*) FILTER (WHERE f ->> 'severity' = 'warning') AS warnings,
			coalesce(jsonb_agg(f - 'remedy' ORDER BY f ->> 'severity', x.n) FILTER (WHERE f ->> 'severity' IN ('critical', 'warning')), '[]') AS listed
		FROM jsonb_array_elements(r -> 'findings') WITH ORDINALITY x(f, n)) n
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_checked(jsonb) IS
	'for dp_cdp.report: critical findings and warnings';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_promise(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	replaced boolean := r ->> 'neighbors' = 'replace_one';
	every text := dp_cdp_internal.report_text(r ->> 'block_every');
	guess text := dp_cdp_internal.report_guess((r ->> 'best_guess')::numeric);
	figure text := '';
BEGIN
	IF r ->> 'rho_limit' IS NOT NULL THEN
		figure := '<figure>' || dp_cdp_internal.report_bells((r ->> 'rho_limit')::numeric, guess,
				CASE WHEN replaced THEN 'the one' ELSE 'without the person' END, CASE WHEN replaced THEN 'the other' ELSE 'with the person' END)
			|| '<figcaption>All answers that the cap buys, seen as one number. Where the bells overlap, a guess can be wrong.</figcaption></figure>';
	END IF;
	RETURN '<section id="promise"><h2>What is promised</h2>'
		|| format(CASE WHEN r -> 'protected' = '[]' THEN '<p class="warning">No table is protected: nothing is promised yet of %s. '
			WHEN r ->> 'rho_limit' IS NULL THEN '<p class="warning">No cap limits what all roles learn together. By the answers of one role, %s are as hard to tell apart as its budget says. '
			WHEN (r ->> 'best_guess')::numeric > 0.8 THEN '<p class="warning">Once the cap is spent, little is hidden: %s are told apart in %s of cases. '
			ELSE '<p>By all private answers, %s are hard to tell apart. ' END, dp_cdp_internal.report_neighbors(r), guess)
		|| format('Take the best guesser: he knows %s, and thinks both equally likely. Once a limit below is spent, he is right at most as often as it says; without answers, 50&#160;%% of the time.</p>',
			CASE WHEN replaced THEN 'everything but which of two persons is in the data'
				WHEN every IS NOT NULL THEN 'everything but whether a person''s rows of one block are in the data' ELSE 'everything but whether one person is in the data' END)
		|| CASE WHEN every IS NULL THEN '' ELSE format('<p class="warning">Caps and budgets hold for each block of time (%s) alone. Of somebody with rows in several blocks, up to as many times as much is known.</p>', every) END
		|| '<h3>Protected tables</h3>' || dp_cdp_internal.report_tables_of(r)
		|| '<h3>Cap and budgets</h3>' || dp_cdp_internal.report_limits(r)
		|| '<div class="two"><div><h3>How well the cap hides a person</h3>' || coalesce(nullif(figure, ''), '<p class="none">There is no cap to draw.</p>')
		|| '</div><div><h3>How much of a person counts</h3>' || dp_cdp_internal.report_contribution(r) || '</div><div><h3>Not covered</h3><ul class="plain">'
		|| '<li>Time: how long a query takes depends on rows. Each try has a price, and failures are counted.</li>'
		|| '<li>Roles that put answers together: only the lifetime cap limits what they know.</li>'
		|| '<li>Superusers, the operating system, backups, WAL and the server''s log: they show rows.</li>'
		|| '<li>Copies, exports, and tables that are not listed above.</li>'
		|| '<li>A person who goes by two names in the unit column: up to four times the rho.</li>'
		|| '<li>Disks that are set back as a whole: old balances come back with them.</li></ul></div>'
		|| '</div><h3>Setup</h3>' || dp_cdp_internal.report_checked(r)
		|| format('<h3>Owner of the dataset: %s. Read, and agreed to:</h3>', dp_cdp_internal.report_name(r ->> 'owner'))
		|| '<div class="sign"><p>Name</p><p>Date</p><p>Signature</p></div></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_promise(jsonb) IS
	'for dp_cdp.report: what is promised, as a page to be signed';
