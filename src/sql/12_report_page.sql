-- =========================================================================
-- 12. The report's page
-- =========================================================================

-- One HTML page without scripts, links or files: it may be mailed and printed,
-- and its Content-Security-Policy forbids the browser to load or run anything.
-- It is also well-formed XML.

-- -------------------------------------------------------------------------
-- Sections
-- -------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_lead(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<p class="lead">' || CASE
		WHEN n.spent = 0 THEN CASE WHEN n.cap IS NULL THEN 'Nothing was spent yet, and there is no lifetime cap.'
			ELSE format('Nothing of the lifetime cap of %s was spent yet.', dp_cdp_internal.report_number(n.cap)) END
		WHEN n.cap IS NULL THEN format('A rho of %s is spent, and there is no lifetime cap.', dp_cdp_internal.report_number(n.spent))
			|| CASE WHEN n.rate > 0 THEN format(' Each day adds %s.', dp_cdp_internal.report_number(n.rate)) ELSE '' END
		WHEN n.remaining = 0 THEN format('The lifetime cap of %s is spent: nobody gets another answer.', dp_cdp_internal.report_number(n.cap))
		ELSE format('%s %% of the lifetime cap of %s is spent.', trim_scale(trunc(100 * n.spent / n.cap, 1)), dp_cdp_internal.report_number(n.cap))
			|| CASE WHEN n.rate IS NULL OR n.rate = 0 THEN ' Nothing was spent in the last seven days.'
				WHEN n.days < 3650 THEN format(' At the rate of the last seven days the rest lasts %s, until %s.',
					dp_cdp_internal.report_lasts(n.days), dp_cdp_internal.report_day((r ->> 'today')::date + floor(n.days)::int))
				ELSE ' At the rate of the last seven days the rest lasts over ten years.' END
		END || '</p>'
	FROM (SELECT (r ->> 'rho_limit')::numeric AS cap, (r ->> 'rho_spent')::numeric AS spent,
			(r ->> 'rho_remaining')::numeric AS remaining, (r ->> 'rho_per_day')::numeric AS rate,
			(r ->> 'days_left')::numeric AS days) n
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_lead(jsonb) IS
	'for dp_cdp.report: the sentence that says it all';

-- Names of roles, the first few of them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_names(names text[]) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT string_agg(dp_cdp_internal.report_name(n.n), ', ' ORDER BY n.o)
		|| CASE WHEN cardinality(names) > 6 THEN format(' and %s more', cardinality(names) - 6) ELSE '' END
	FROM unnest(names[1:6]) WITH ORDINALITY n(n, o)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_names(text[]) IS
	'for dp_cdp.report: a list of names';

-- What needs a person.  Each sentence says what is so, and where to look.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_alerts(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	WITH budgets AS (
		SELECT b ->> 'role' AS role, (b ->> 'rho_remaining')::numeric AS remaining, (b ->> 'rho_limit')::numeric AS rho_limit,
			(b ->> 'days_left')::numeric AS days_left, (b ->> 'renews_on')::date AS renews_on,
			(b ->> 'failures')::int >= (b ->> 'max_failures')::int AS closed, n
		FROM jsonb_array_elements(r -> 'budgets') WITH ORDINALITY x(b, n)
	), alerts(place, class, sentence) AS (
		SELECT 1, 'bad', format('The setup has %s. <a href="#setup">Setup</a>',
				dp_cdp_internal.report_plural(count(*), 'critical finding', 'critical findings'))
			FROM jsonb_array_elements(r -> 'findings') f WHERE f ->> 'severity' = 'critical' HAVING count(*) > 0
		UNION ALL
		SELECT 2, 'bad', 'The lifetime cap is spent. <a href="#cap">Cap</a>'
			WHERE (r ->> 'rho_remaining')::numeric = 0
		UNION ALL
		SELECT 3, 'warn', format('The lifetime cap lasts %s. <a href="#cap">Cap</a>', dp_cdp_internal.report_lasts((r ->> 'days_left')::numeric))
			WHERE (r ->> 'rho_remaining')::numeric > 0 AND (r ->> 'days_left')::numeric < 14
		UNION ALL
		SELECT 4, 'warn', format('%s spent: %s. <a href="#roles">Roles</a>',
				dp_cdp_internal.report_plural(count(*), 'budget is', 'budgets are'), dp_cdp_internal.report_names(array_agg(b.role ORDER BY b.n)))
			FROM budgets b WHERE b.remaining = 0 HAVING count(*) > 0
		UNION ALL
		SELECT 5, 'warn', format('%s within a week at this rate: %s. <a href="#roles">Roles</a>',
				dp_cdp_internal.report_plural(count(*), 'budget ends', 'budgets end'), dp_cdp_internal.report_names(array_agg(b.role ORDER BY b.n)))
			FROM budgets b
			WHERE b.remaining > 0 AND b.days_left < 7
				AND (b.renews_on IS NULL OR (r ->> 'today')::date + least(floor(b.days_left), 9999)::int < b.renews_on)
			HAVING count(*) > 0
		UNION ALL
		SELECT 6, 'warn', format('Too many releases failed: closed for today %s %s. <a href="#roles">Roles</a>',
				CASE count(*) WHEN 1 THEN 'is' ELSE 'are' END, dp_cdp_internal.report_names(array_agg(b.role ORDER BY b.n)))
			FROM budgets b WHERE b.closed HAVING count(*) > 0
		UNION ALL
		SELECT 7, 'warn', format('The roles'' budgets together hold %s, the cap %s. <a href="#together">Roles together</a>',
				dp_cdp_internal.report_number((r #>> '{together,rho_remaining}')::numeric), dp_cdp_internal.report_number((r ->> 'rho_remaining')::numeric))
			WHERE (r #>> '{together,rho_remaining}')::numeric > (r ->> 'rho_remaining')::numeric
				AND (r ->> 'rho_remaining')::numeric > 0
		UNION ALL
		SELECT 8, 'warn', format('The setup has %s. <a href="#setup">Setup</a>',
				dp_cdp_internal.report_plural(count(*), 'warning', 'warnings'))
			FROM jsonb_array_elements(r -> 'findings') f WHERE f ->> 'severity' = 'warning' HAVING count(*) > 0
	)
	SELECT coalesce('<ul class="alerts">' || string_agg(format('<li class="%s">%s</li>', a.class, a.sentence), '' ORDER BY a.place) || '</ul>',
		'<ul class="alerts"><li class="good">Nothing needs attention.</li></ul>')
	FROM alerts a
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_alerts(jsonb) IS
	'for dp_cdp.report: what needs attention';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_tiles(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<dl class="tiles">' || string_agg(format('<div><dt>%s</dt><dd>%s <small>%s</small></dd></div>', t.name, t.number, t.small), '' ORDER BY t.n)
		|| '</dl>'
	FROM (VALUES
		(1, 'Left of the cap', CASE WHEN r ->> 'rho_limit' IS NULL THEN '&#8734;' ELSE dp_cdp_internal.report_amount((r ->> 'rho_remaining')::numeric) END,
			CASE WHEN r ->> 'rho_limit' IS NULL THEN 'no lifetime cap' ELSE 'of ' || dp_cdp_internal.report_number((r ->> 'rho_limit')::numeric) || ' rho' END),
		(2, 'Spent', dp_cdp_internal.report_amount((r ->> 'rho_spent')::numeric),
			format('rho; epsilon %s at delta %s', dp_cdp_internal.report_number((r ->> 'epsilon_spent')::numeric), dp_cdp_internal.report_number((r ->> 'delta_limit')::numeric))),
		(3, 'Rate', dp_cdp_internal.report_number((r ->> 'rho_per_day')::numeric), 'rho a day, last 7 days'),
		(4, 'Answers', dp_cdp_internal.report_number((r #>> '{totals,answered}')::numeric),
			CASE WHEN r ->> 'first' IS NULL THEN 'none yet' ELSE 'since ' || dp_cdp_internal.report_day((r ->> 'first')::date) END),
		(5, 'Refusals', dp_cdp_internal.report_number((r #>> '{totals,refused}')::numeric),
			format('and %s', dp_cdp_internal.report_plural((r #>> '{totals,failed}')::bigint, 'failure', 'failures')))
	) AS t(n, name, number, small)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_tiles(jsonb) IS
	'for dp_cdp.report: the figures at its head';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_cap(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	today date := r ->> 'today';
	first date := coalesce((r ->> 'first')::date, today);
	lasts numeric := (r ->> 'days_left')::numeric;
	-- days: as much as tells something, but not more than what was
	ahead int;
	days jsonb;
BEGIN
	IF r ->> 'rho_limit' IS NULL THEN
		RETURN '<section id="cap"><h2>The lifetime cap</h2><p class="none">This dataset has none. What its roles may spend in all '
			'is bounded by their budgets alone, and by nothing where these renew: <code>dp_cdp.alter_dataset</code> sets a cap.</p></section>';
	END IF;
	SELECT coalesce(jsonb_agg(jsonb_build_array(d ->> 'day', d -> 'rho') ORDER BY d ->> 'day'), '[]') INTO days
		FROM jsonb_array_elements(r -> 'days') d WHERE (d ->> 'rho')::numeric > 0;
	ahead := least(coalesce(ceil(lasts), 0), greatest(14, (today - first) / 3));
	RETURN '<section id="cap"><h2>The lifetime cap</h2>'
		-- a narrow screen shows one end of it: that with today
		|| CASE WHEN ahead > today - first THEN '<figure class="early">' ELSE '<figure>' END
		|| dp_cdp_internal.report_burndown('f-cap', 'the lifetime cap', (r ->> 'rho_limit')::numeric, (r ->> 'rho_remaining')::numeric,
			(r ->> 'rho_per_day')::numeric, first, today, today + ahead, false, days, false)
		|| '<figcaption>What is left of it, by day. Dashed: at the rate of the last seven days. It never renews.</figcaption></figure></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_cap(jsonb) IS
	'for dp_cdp.report: burn-down of the cap';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_roles(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	today date := r ->> 'today';
	rows text;
	cards text;
	n int;
	drawn int;
BEGIN
	WITH budgets AS (
		SELECT x.n, b ->> 'role' AS role, (b ->> 'rho_limit')::numeric AS rho_limit, (b ->> 'rho_spent')::numeric AS spent,
			(b ->> 'rho_remaining')::numeric AS remaining, (b ->> 'percent_spent')::numeric AS percent,
			(b ->> 'rho_per_day')::numeric AS rate, (b ->> 'days_left')::numeric AS days_left, (b ->> 'renews_on')::date AS renews_on,
			(b ->> 'answered')::bigint AS answered, (b ->> 'refused')::bigint AS refused,
			(b ->> 'epsilon_spent')::numeric AS epsilon, (b ->> 'delta_spent')::numeric AS delta,
			coalesce((b ->> 'begins')::date, today) AS begins, b -> 'days' AS days, (b ->> 'chart')::boolean AS chart
		FROM jsonb_array_elements(r -> 'budgets') WITH ORDINALITY x(b, n)
	)
	SELECT count(*), count(*) FILTER (WHERE b.chart),
		string_agg(format('<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td>' ||
			'<td class="share">%s<span>%s&#160;%%</span></td><td class="n">%s</td><td class="n">%s</td><td>%s</td>' ||
			'<td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
			dp_cdp_internal.report_name(b.role), dp_cdp_internal.report_amount(b.rho_limit), dp_cdp_internal.report_amount(b.spent), dp_cdp_internal.report_amount(b.remaining),
			dp_cdp_internal.report_bar(b.percent / 100, CASE WHEN b.remaining = 0 THEN 'bad' WHEN b.percent >= 80 THEN 'warn' ELSE 'spent' END),
			dp_cdp_internal.report_number(b.percent),
			dp_cdp_internal.report_number(b.rate), dp_cdp_internal.report_lasts(b.days_left), dp_cdp_internal.report_day(b.renews_on),
			dp_cdp_internal.report_number(b.epsilon), dp_cdp_internal.report_number(b.answered), dp_cdp_internal.report_number(b.refused)), '' ORDER BY b.n),
		string_agg(format('<figure class="card"><figcaption>%s</figcaption>%s<p>%s</p></figure>', dp_cdp_internal.report_name(b.role),
			dp_cdp_internal.report_burndown('f-role-' || b.n, 'the budget of ' || b.role, b.rho_limit, b.remaining, b.rate,
				-- a budget that was overdue has begun anew today
				least(b.begins, today), today,
				greatest(coalesce(b.renews_on, today + least(coalesce(ceil(b.days_left), 0), greatest(7, (today - b.begins) / 3))::int), today),
				b.renews_on IS NOT NULL, b.days, true),
			CASE WHEN b.remaining = 0 THEN 'Spent' WHEN b.rate > 0 THEN format('%s a day, lasts %s', dp_cdp_internal.report_number(b.rate), dp_cdp_internal.report_lasts(b.days_left))
				ELSE 'Nothing in the last 7 days' END
				|| CASE WHEN b.renews_on IS NULL THEN '' ELSE '; renews ' || dp_cdp_internal.report_day(b.renews_on) END), '' ORDER BY b.n)
			FILTER (WHERE b.chart)
		INTO n, drawn, rows, cards
		FROM budgets b;
	IF n = 0 THEN
		RETURN '<section id="roles"><h2>Roles</h2><p class="none">No role has a budget: <code>dp_cdp.set_budget</code> gives one.</p></section>';
	END IF;
	RETURN '<section id="roles"><h2>Roles</h2><div class="scroll" tabindex="0" role="region" aria-label="Budgets of roles"><table>'
		|| '<caption>Budgets, those that are nearest to their end first</caption><thead><tr><th scope="col">Role</th>'
		|| '<th scope="col" class="n">Limit</th><th scope="col" class="n">Spent</th><th scope="col" class="n">Left</th>'
		|| '<th scope="col">Share spent</th><th scope="col" class="n">A day</th><th scope="col" class="n">Lasts</th><th scope="col">Renews</th>'
		|| '<th scope="col" class="n">Epsilon</th><th scope="col" class="n">Answers</th><th scope="col" class="n">Refusals</th></tr></thead><tbody>'
		|| rows || '</tbody></table></div><h3>What is left of each</h3><div class="cards">' || cards || '</div>'
		|| CASE WHEN drawn < n THEN format('<p class="note">Drawn are the %s budgets that are nearest to their end; the table has all %s.</p>', drawn, n) ELSE '' END
		|| '<p class="note">A budget that renews is drawn since it last did, with an even pace dotted. Where rows do not say who paid, today''s '
		|| 'memberships tell; where an answer is paid from several budgets, each of them shows it.</p></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_roles(jsonb) IS
	'for dp_cdp.report: budgets of roles, as a table and as burn-downs';

-- Whether the budgets promise more than the cap holds.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_together(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	cap numeric := (r ->> 'rho_remaining')::numeric;
	promised numeric := (r #>> '{together,rho_remaining}')::numeric;
	daily numeric := (r #>> '{together,rho_renewed_per_day}')::numeric;
	roles bigint := (r #>> '{together,roles}')::bigint;
	most numeric := greatest(cap, promised);
	told text;
BEGIN
	IF cap IS NULL OR roles = 0 THEN
		RETURN '';
	END IF;
	IF promised > cap AND cap > 0 THEN
		SELECT format('Together, the roles would reach the cap before their limits. That takes no more than %s: %s.',
				CASE count(*) WHEN 1 THEN 'one of them' ELSE format('these %s', count(*)) END,
				string_agg(format('%s (%s)', dp_cdp_internal.report_name(e ->> 'role'), dp_cdp_internal.report_number((e ->> 'rho_remaining')::numeric)), ', ' ORDER BY o)
					FILTER (WHERE o <= 12)
				|| CASE WHEN count(*) > 12 THEN format(' and %s more', count(*) - 12) ELSE '' END)
			INTO told
			FROM jsonb_array_elements(r #> '{together,enough}') WITH ORDINALITY x(e, o);
	ELSIF cap = 0 THEN
		told := 'The cap is spent, whatever the roles'' budgets still hold.';
	ELSE
		told := 'The cap holds what is left of all budgets.';
		IF daily > 0 THEN
			told := told || format(' Budgets that renew add up to %s a day if they are used up: the cap then lasts %s.',
				dp_cdp_internal.report_number(daily), dp_cdp_internal.report_lasts((cap - promised) / daily));
		END IF;
	END IF;
	RETURN '<section id="together"><h2>Roles together</h2><p>' || told || '</p><table class="bars"><caption>Left, in rho</caption><tbody>'
		|| format('<tr><th scope="row">Budgets of %s</th><td class="share">%s</td><td class="n">%s</td></tr>',
			dp_cdp_internal.report_plural(roles, 'role', 'roles'), dp_cdp_internal.report_bar(promised / nullif(most, 0), CASE WHEN promised > cap THEN 'warn' ELSE 'spent' END),
			dp_cdp_internal.report_amount(promised))
		|| format('<tr><th scope="row">Lifetime cap</th><td class="share">%s</td><td class="n">%s</td></tr></tbody></table>',
			dp_cdp_internal.report_bar(cap / nullif(most, 0), 'cap'), dp_cdp_internal.report_amount(cap))
		|| '<p class="note">Budgets whose every debit is also debited from a wider one, as a member''s from the team''s, are not counted.</p></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_together(jsonb) IS
	'for dp_cdp.report: the roles'' budgets against the cap';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_spending(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	today date := r ->> 'today';
	first date := r ->> 'first';
BEGIN
	IF first IS NULL THEN
		RETURN '<section id="spending"><h2>Spending</h2><p class="none">Nothing was asked yet.</p></section>';
	END IF;
	RETURN '<section id="spending"><h2>Spending</h2><figure>'
		|| dp_cdp_internal.report_columns('f-days', 'Rho that was spent', r -> 'days', 'rho', first, today)
		|| '<figcaption>Rho that was spent, over all roles.</figcaption></figure>'
		|| '<details><summary>Numbers of each day</summary><div class="scroll" tabindex="0" role="region" aria-label="Numbers of each day">'
		|| '<table id="days"><thead><tr><th scope="col">Day</th><th scope="col" class="n">Rho</th><th scope="col" class="n">Delta</th>'
		|| '<th scope="col" class="n">Answers</th><th scope="col" class="n">Refusals</th><th scope="col" class="n">Failures</th></tr></thead><tbody>'
		|| (SELECT string_agg(format('<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
				dp_cdp_internal.report_day((d ->> 'day')::date), dp_cdp_internal.report_amount((d ->> 'rho')::numeric), dp_cdp_internal.report_amount((d ->> 'delta')::numeric),
				dp_cdp_internal.report_amount((d ->> 'answered')::numeric), dp_cdp_internal.report_amount((d ->> 'refused')::numeric),
				dp_cdp_internal.report_amount((d ->> 'failed')::numeric)), '' ORDER BY d ->> 'day' DESC)
			FROM jsonb_array_elements(r -> 'days') d)
		|| format('</tbody><tfoot><tr><th scope="row">In all</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr></tfoot></table></div></details>',
			dp_cdp_internal.report_amount((r #>> '{totals,rho}')::numeric), dp_cdp_internal.report_amount((r #>> '{totals,delta}')::numeric),
			dp_cdp_internal.report_amount((r #>> '{totals,answered}')::numeric), dp_cdp_internal.report_amount((r #>> '{totals,refused}')::numeric),
			dp_cdp_internal.report_amount((r #>> '{totals,failed}')::numeric))
		|| '<div class="two">' || dp_cdp_internal.report_shares('By table', 'Tables', 'not known', r -> 'tables')
		|| dp_cdp_internal.report_shares('By application', 'Application', 'without a name', r -> 'applications')
		|| dp_cdp_internal.report_shares('By question', 'Aggregates', 'none', r -> 'aggregates') || '</div></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_spending(jsonb) IS
	'for dp_cdp.report: spending by day, application and question';

-- Rows of {name, rho, answered, refused}; a row without a name is the sum of the rest.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_shares(heading text, of text, nameless text, shares jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT format('<div><h3>%s</h3><div class="scroll" tabindex="0" role="region" aria-label="%1$s"><table class="bars"><thead><tr><th scope="col">%s</th>' ||
			'<th scope="col"><span class="hidden">Share</span></th><th scope="col" class="n">Rho</th><th scope="col" class="n">Answers</th></tr></thead><tbody>', heading, of)
		|| coalesce(string_agg(format('<tr><th scope="row">%s</th><td class="share">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
			CASE WHEN s ->> 'name' IS NULL THEN format('<i>%s others</i>', s ->> 'others')
				WHEN s ->> 'name' = '' THEN format('<i>%s</i>', nameless) ELSE dp_cdp_internal.report_name(s ->> 'name') END,
			dp_cdp_internal.report_bar((s ->> 'rho')::numeric / nullif(m.most, 0)), dp_cdp_internal.report_amount((s ->> 'rho')::numeric),
			dp_cdp_internal.report_amount((s ->> 'answered')::numeric)), '' ORDER BY x.n), '') || '</tbody></table></div></div>'
	FROM jsonb_array_elements(shares) WITH ORDINALITY x(s, n),
		(SELECT max((s ->> 'rho')::numeric) AS most FROM jsonb_array_elements(shares) s) m
	-- of what was only refused another section tells
	WHERE (s ->> 'rho')::numeric <> 0 OR (s ->> 'answered')::numeric > 0
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_shares(text, text, text, jsonb) IS
	'for dp_cdp.report: a table with bars';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_refusals(r jsonb) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	-- failures were granted: they are no refusals of any reason
	reasons jsonb := (r -> 'reasons') || CASE WHEN (r #>> '{totals,failed}')::numeric > 0
		THEN jsonb_build_array(jsonb_build_object('name', NULL, 'refused', r #> '{totals,failed}')) ELSE '[]' END;
BEGIN
	IF (r #>> '{totals,refused}')::numeric + (r #>> '{totals,failed}')::numeric = 0 THEN
		RETURN '<section id="refusals"><h2>Refusals</h2><p class="none">Nothing was refused, and nothing failed.</p></section>';
	END IF;
	RETURN '<section id="refusals"><h2>Refusals</h2><figure>'
		|| dp_cdp_internal.report_columns('f-refusals', 'Refusals', r -> 'days', 'refused', (r ->> 'first')::date, (r ->> 'today')::date)
		|| '<figcaption>Refused, over all roles.</figcaption></figure>'
		|| '<div class="scroll" tabindex="0" role="region" aria-label="Reasons"><table class="bars"><thead><tr><th scope="col">Reason</th>'
		|| '<th scope="col"><span class="hidden">Share</span></th><th scope="col" class="n">Times</th></tr></thead><tbody>'
		|| (SELECT string_agg(format('<tr><th scope="row">%s</th><td class="share">%s</td><td class="n">%s</td></tr>',
				CASE WHEN s ->> 'name' IS NULL THEN '<i>failed after it was charged</i>'
					WHEN s ->> 'name' = '' THEN '<i>not known</i>' ELSE dp_cdp_internal.report_name(dp_cdp_internal.report_reason(s ->> 'name')) END,
				dp_cdp_internal.report_bar((s ->> 'refused')::numeric / m.most, 'no'), dp_cdp_internal.report_amount((s ->> 'refused')::numeric)), '' ORDER BY x.n)
			FROM jsonb_array_elements(reasons) WITH ORDINALITY x(s, n),
				(SELECT max((s ->> 'refused')::numeric) AS most FROM jsonb_array_elements(reasons) s) m
			WHERE x.n <= 12 OR s ->> 'name' IS NULL)
		|| '</tbody></table></div><div class="scroll" tabindex="0" role="region" aria-label="The latest refusals">'
		|| '<table class="latest"><caption>The latest</caption><thead><tr><th scope="col">When</th><th scope="col">Role</th><th scope="col">Application</th>'
		|| '<th scope="col">Asked</th><th scope="col">Reason</th><th scope="col" class="n">Times</th></tr></thead><tbody>'
		|| coalesce((SELECT string_agg(format('<tr><td class="when">%s</td><th scope="row">%s</th><td>%s</td><td>%s</td><td>%s</td><td class="n">%s</td></tr>',
				f ->> 'at', dp_cdp_internal.report_name(f ->> 'role'), dp_cdp_internal.report_name(f ->> 'application'),
				CASE WHEN f ->> 'query' IS NULL THEN dp_cdp_internal.report_name(f ->> 'aggregates')
					ELSE format('<code>%s</code>', dp_cdp_internal.report_text(f ->> 'query')) END,
				coalesce(dp_cdp_internal.report_name(dp_cdp_internal.report_reason(f ->> 'reason')), CASE WHEN (f ->> 'failed')::boolean THEN 'failed after it was charged; why, the server''s log says' ELSE 'refused' END),
				dp_cdp_internal.report_number(greatest((f ->> 'repeats')::numeric, 1))), '' ORDER BY x.n)
			FROM jsonb_array_elements(r -> 'refusals') WITH ORDINALITY x(f, n)), '')
		|| '</tbody></table></div></section>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_refusals(jsonb) IS
	'for dp_cdp.report: refusals by day, and the latest';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_findings_of(findings jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<ul class="findings">' || coalesce(string_agg(format('<li class="%s"><span class="badge">%s</span><div><b>%s</b> %s%s</div></li>',
			CASE f ->> 'severity' WHEN 'critical' THEN 'bad' WHEN 'warning' THEN 'warn' ELSE 'info' END,
			dp_cdp_internal.report_text(f ->> 'severity'), dp_cdp_internal.report_name(f ->> 'object'), dp_cdp_internal.report_name(f ->> 'finding'),
			CASE WHEN f ->> 'remedy' IS NULL THEN '' ELSE format('<code>%s</code>', dp_cdp_internal.report_text(f ->> 'remedy'))
				|| CASE WHEN (f ->> 'by_superuser')::boolean THEN ' by a superuser' ELSE '' END END), '' ORDER BY x.n), '')
		|| '</ul>'
	FROM jsonb_array_elements(findings) WITH ORDINALITY x(f, n)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_findings_of(jsonb) IS
	'for dp_cdp.report: a list of findings';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_findings(r jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<section id="setup"><h2>Setup</h2><p class="note">What <code>dp_cdp.check_setup()</code> finds in this database.</p>'
		|| dp_cdp_internal.report_findings_of(r -> 'findings') || '</section>'
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_findings(jsonb) IS
	'for dp_cdp.report: findings of check_setup()';

-- -------------------------------------------------------------------------
-- The page
-- -------------------------------------------------------------------------

-- Pairs of colours that stand on one another have a contrast of 4.5 and more as
-- text and 3 and more as figures, light and dark; a test holds that.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_style() RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT $css$
:root { color-scheme: light dark;
	--page: #f5f6f8; --card: #ffffff; --ink: #16191d; --soft: #545c67; --line: #dde1e7; --track: #e8ebf0;
	--blue: #1f5fbf; --wash: #dfe9f9; --amber: #8a5200; --amber-wash: #fdf1dc; --red: #b3261e; --red-wash: #fdeae8;
	--green: #1a6b3c; --green-wash: #e3f4e9; }
@media (prefers-color-scheme: dark) { :root {
	--page: #0f1216; --card: #171b21; --ink: #e7eaee; --soft: #a0a9b5; --line: #2c333c; --track: #272d36;
	--blue: #7dabf8; --wash: #1c2d4a; --amber: #efb65c; --amber-wash: #33270f; --red: #ff9187; --red-wash: #3c1a18;
	--green: #6fd196; --green-wash: #12301e; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5; font-size: 1rem;
	font-family: Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif;
	font-variant-numeric: tabular-nums lining-nums; }
main { max-width: 68rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
header { margin-bottom: 1.75rem; }
#promise + .spending { margin-top: 2rem; }
.kicker { margin: 0 0 .35rem; color: var(--blue); font-size: .8125rem; font-weight: 650; letter-spacing: .02em; }
h1 { margin: 0; font-size: 2.375rem; line-height: 1.15; letter-spacing: -.022em; font-weight: 680; overflow-wrap: anywhere; }
.meta { margin: .5rem 0 0; color: var(--soft); font-size: .9375rem; overflow-wrap: anywhere; }
.lead { margin: 0 0 1.5rem; max-width: 46rem; font-size: 1.3125rem; line-height: 1.42; letter-spacing: -.008em; }
h2 { margin: 0 0 1rem; font-size: 1.25rem; line-height: 1.3; letter-spacing: -.012em; font-weight: 650; }
h3 { margin: 1.75rem 0 .75rem; font-size: .9375rem; font-weight: 650; }
p { margin: .75rem 0; }
a { color: var(--blue); text-underline-offset: .18em; }
code { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
bdi, code { overflow-wrap: anywhere; }
section, .tiles > div { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
section { margin: 1.25rem 0 0; padding: 1.5rem; }
.alerts { list-style: none; margin: 0 0 1.5rem; padding: 0; }
.alerts li { margin: .5rem 0 0; padding: .625rem 1rem; border-radius: .5rem; border-left: .25rem solid; }
.alerts a { color: inherit; white-space: nowrap; }
.alerts .bad { background: var(--red-wash); border-color: var(--red); }
.alerts .warn { background: var(--amber-wash); border-color: var(--amber); }
.alerts .good { background: var(--green-wash); border-color: var(--green); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .75rem; margin: 0; }
.tiles > div { padding: 1rem 1.125rem; }
.tiles dt { color: var(--soft); font-size: .875rem; }
.tiles dd { margin: .15rem 0 0; font-size: 1.75rem; line-height: 1.25; letter-spacing: -.018em; font-weight: 620; }
.tiles small { display: block; color: var(--soft); font-size: .8125rem; font-weight: 400; letter-spacing: 0; line-height: 1.4; }
figure { margin: 0; }
figcaption, .note, caption { color: var(--soft); font-size: .875rem; }
figcaption { margin-top: .5rem; }
figure + .scroll, .scroll + .scroll { margin-top: 1.5rem; }
caption { text-align: left; padding: 0 0 .5rem; }
.none { color: var(--soft); margin: 0; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-size: 13px; fill: var(--ink); font-family: inherit; }
svg.small text { font-size: 11.5px; }
svg .tick { fill: var(--soft); }
svg .mark { font-weight: 650; paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
.grid, .tickline { stroke: var(--line); stroke-width: 1; }
.limit { stroke: var(--soft); stroke-width: 1; }
.area { fill: var(--wash); }
.line { fill: none; stroke: var(--blue); stroke-width: 2; stroke-linejoin: round; }
.ahead { fill: none; stroke: var(--blue); stroke-width: 2; stroke-dasharray: 2 5; stroke-linecap: round; }
.even { fill: none; stroke: var(--soft); stroke-width: 1.25; stroke-dasharray: 1 4; stroke-linecap: round; }
.now { fill: var(--blue); stroke: var(--card); stroke-width: 2; }
svg.spent rect { fill: var(--blue); }
svg.no rect, svg.bad rect { fill: var(--red); }
svg.warn rect { fill: var(--amber); }
svg.cap rect { fill: var(--soft); }
.line.other { stroke: var(--amber); }
svg.bar { display: inline-block; height: .5rem; min-width: 3.5rem; border-radius: .25rem; vertical-align: middle; overflow: hidden; }
svg.bar .track { fill: var(--track); }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { padding: .5rem .5rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-weight: 500; font-size: .8125rem; white-space: nowrap; vertical-align: bottom; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 550; min-width: 8.5rem; }
tfoot > tr > * { border-top: 1px solid var(--soft); border-bottom: 0; font-weight: 650; }
.n { text-align: right; white-space: nowrap; }
.when { white-space: nowrap; color: var(--soft); }
.share { min-width: 7rem; white-space: nowrap; }
.share svg + span { display: inline-block; width: 3.5rem; text-align: right; }
td.share svg.bar:not(:last-child) { width: calc(100% - 3.5rem); }
.bars { table-layout: fixed; }
.bars th { width: 46%; min-width: 0; }
.bars th + th, .bars .share { width: 24%; min-width: 0; }
.bars .n { width: 15%; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--blue); outline-offset: 4px; border-radius: .25rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(17.5rem, 1fr)); gap: 1.75rem 1.5rem; }
.card figcaption { margin: 0 0 .25rem; color: var(--ink); font-weight: 550; font-size: .9375rem; }
.card p { margin: .125rem 0 0; color: var(--soft); font-size: .8125rem; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 0 2.5rem; }
.plain { margin: 0; padding-left: 1.125rem; font-size: .875rem; }
.plain li + li { margin-top: .25rem; }
.warning { padding: .5rem .75rem; border-radius: .5rem; background: var(--amber-wash); }
.told + .note { margin: .5rem 0 0; }
#promise .findings { font-size: .875rem; }
#promise .findings li { padding: .375rem 0; }
.sign { display: grid; grid-template-columns: 2fr 1fr 2fr; gap: 1.5rem; }
.sign p { margin: 2.5rem 0 0; padding-top: .25rem; border-top: 1px solid var(--soft); color: var(--soft); font-size: .8125rem; }
details { margin-top: 1rem; }
summary { cursor: pointer; color: var(--blue); font-size: .9375rem; }
details .scroll { margin-top: .75rem; max-height: 26rem; overflow: auto; }
.findings { list-style: none; margin: 1rem 0 0; padding: 0; }
.findings li { display: grid; grid-template-columns: 5.25rem 1fr; gap: .875rem; padding: .75rem 0; border-top: 1px solid var(--line); }
.badge { justify-self: start; align-self: start; padding: .0625rem .5rem; border-radius: 1rem; font-size: .8125rem; font-weight: 550;
	background: var(--track); color: var(--ink); }
.bad .badge { background: var(--red-wash); color: var(--red); }
.warn .badge { background: var(--amber-wash); color: var(--amber); }
.findings b { font-weight: 620; }
.findings code { display: block; margin-top: .25rem; color: var(--soft); }
footer { margin: 2rem 0 0; color: var(--soft); font-size: .875rem; }
footer dt { color: var(--ink); font-weight: 550; }
footer dd { margin: 0 0 .625rem; max-width: 46rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 40rem) {
	main { padding: 1.75rem 1rem 2.5rem; }
	section { padding: 1.125rem 1rem; margin-left: -.25rem; margin-right: -.25rem; }
	h1 { font-size: 1.875rem; }
	.lead { font-size: 1.125rem; }
	.tiles { grid-template-columns: 1fr 1fr; }
	.tiles dd { font-size: 1.5rem; }
	svg.wide { min-width: 40rem; }
	figure { overflow-x: auto; }
	.sign { grid-template-columns: 1fr; gap: 0; }
	section > figure { direction: rtl; }
	section > figure.early { direction: ltr; }
	figure > * { direction: ltr; text-align: left; }
	.scroll table:not(.bars) { min-width: 42rem; }
	.findings li { grid-template-columns: 1fr; gap: .375rem; } }
@media print {
	:root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --track: #ddd;
		--blue: #1f5fbf; --wash: #dfe9f9; --amber: #8a5200; --amber-wash: #fff; --red: #b3261e; --red-wash: #fff;
		--green: #1a6b3c; --green-wash: #fff; }
	body { font-size: 10pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
	main { max-width: none; padding: 0; }
	section { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 1rem 0; }
	.scroll, details .scroll { overflow: visible; max-height: none; }
	@page { size: A4; margin: 11mm; }
	header { margin-bottom: .5rem; }
	h1 { font-size: 1.5rem; }
	#promise { zoom: .88; margin: 0; padding: .5rem 0 0; line-height: 1.35; }
	#promise p, .plain, #promise table, .findings { font-size: 8.5pt; }
	#promise h2 { margin: 0 0 .25rem; }
	#promise h3 { margin: .5rem 0 .125rem; font-size: 9.5pt; }
	#promise p { margin: .25rem 0; }
	#promise th, #promise td { padding: .0625rem .375rem .0625rem 0; }
	#promise svg.bells { max-width: 7cm; }
	#promise figcaption { font-size: 8pt; margin-top: 0; }
	.plain li + li { margin-top: 0; }
	#promise .two { grid-template-columns: 1fr 1fr; gap: 0 2rem; }
	#promise .findings { margin-top: .25rem; }
	#promise .findings li { padding: .125rem 0; }
	#promise + * { break-before: page; }
	#promise + footer { break-before: auto; margin-top: .5rem; font-size: 8pt; }
	.sign { break-inside: avoid; }
	#promise .sign p { margin-top: 1.75rem; }
	table { font-size: 8.5pt; }
	th, td { padding: .25rem .375rem; }
	details::details-content { content-visibility: visible; height: auto; }
	h2, h3 { break-after: avoid; }
	figure, tr, .findings li, .tiles > div { break-inside: avoid; }
	thead { display: table-header-group; }
	a { color: inherit; text-decoration: none; } }
$css$
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_style() IS
	'for dp_cdp.report: its style sheet';

-- What goes around the sections of a page.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_frame(r jsonb, title text, sections text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	name text := dp_cdp_internal.report_text(r ->> 'dataset');
BEGIN
	RETURN '<!DOCTYPE html>' || chr(10)
		|| '<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>'
		|| '<meta http-equiv="Content-Security-Policy" content="default-src ''none''; style-src ''unsafe-inline''; base-uri ''none''; form-action ''none''"/>'
		|| '<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="referrer" content="no-referrer"/>'
		|| '<meta name="color-scheme" content="light dark"/>'
		|| format('<title>%s of %s</title><style>%s</style></head><body><main>', title, name, dp_cdp_internal.report_style())
		|| format('<header><p class="kicker">%s</p><h1><bdi>%s</bdi></h1><p class="meta">Database %s, dataset of %s, dp_cdp %s. %s (%s)</p></header>', title,
			name, dp_cdp_internal.report_name(r ->> 'database'), dp_cdp_internal.report_name(r ->> 'owner'), dp_cdp_internal.report_text(r ->> 'version'),
			r ->> 'made_at', dp_cdp_internal.report_text(r ->> 'zone'))
		|| sections || '</main></body></html>' || chr(10);
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_frame(jsonb, text, text) IS
	'for dp_cdp.report: a page around sections';

CREATE OR REPLACE FUNCTION dp_cdp.report(dataset text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r jsonb := dp_cdp.report_data(dataset);
BEGIN
	RETURN dp_cdp_internal.report_frame(r, 'Privacy budget', dp_cdp_internal.report_promise(r)
		|| '<div class="spending">' || dp_cdp_internal.report_lead(r) || dp_cdp_internal.report_alerts(r) || dp_cdp_internal.report_tiles(r) || '</div>'
		|| dp_cdp_internal.report_cap(r) || dp_cdp_internal.report_roles(r)
		|| dp_cdp_internal.report_together(r) || dp_cdp_internal.report_spending(r) || dp_cdp_internal.report_refusals(r) || dp_cdp_internal.report_findings(r)
		|| '<footer><dl><dt>Rho</dt><dd>What each answer costs of privacy, as zero-concentrated differential privacy counts it. It adds up, '
		|| 'nothing gives it back, and with delta it translates into an epsilon: ' || dp_cdp_internal.report_neighbors(r) || ' are hard to tell apart.</dd>'
		|| '<dt>Who may see this page</dt><dd>It holds no data, but names roles, their applications and what they asked for, and what was spent of the '
		|| 'whole dataset: that is for its owner. Days and times are those of the time zone above.</dd></dl></footer>');
END $$;
COMMENT ON FUNCTION dp_cdp.report(text) IS
	'one self-contained HTML page for the owner of a dataset, on what is promised, budgets, spending, refusals and setup. Write it into a file with psql -AtXqc';

CREATE OR REPLACE FUNCTION dp_cdp.certificate(dataset text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r jsonb := dp_cdp.report_data(dataset);
BEGIN
	RETURN dp_cdp_internal.report_frame(r, 'Privacy promise', dp_cdp_internal.report_promise(r));
END $$;
COMMENT ON FUNCTION dp_cdp.certificate(text) IS
	'page for the owner of a dataset that says what is promised, to be printed and signed. It is the first section of dp_cdp.report. Write it into a file with psql -AtXqc';
