-- =========================================================================
-- 11. The report's text and figures
-- =========================================================================

-- All that somebody could have chosen (names of datasets, roles and applications,
-- queries, findings) goes through report_text, and only ASCII leaves it, so that no
-- encoding of a client can spoil a page.  These functions make text of their
-- arguments and read nothing; who may see what is decided by dp_cdp.report_data.

-- -------------------------------------------------------------------------
-- Text, numbers and dates
-- -------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_char(c text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	b bytea := convert_to(c, 'UTF8');
	code int;
BEGIN
	code := CASE
		WHEN length(b) = 1 AND get_byte(b, 0) < 128 THEN get_byte(b, 0)
		WHEN length(b) = 2 THEN (get_byte(b, 0) & 31) * 64 + (get_byte(b, 1) & 63)
		WHEN length(b) = 3 THEN (get_byte(b, 0) & 15) * 4096 + (get_byte(b, 1) & 63) * 64 + (get_byte(b, 2) & 63)
		WHEN length(b) = 4 THEN (get_byte(b, 0) & 7) * 262144 + (get_byte(b, 1) & 63) * 4096
			+ (get_byte(b, 2) & 63) * 64 + (get_byte(b, 3) & 63) END;
	-- bytes of no encoding, and what XML and HTML know no reference for
	IF code IS NULL OR code < 32 AND code NOT IN (9, 10, 13) OR code BETWEEN 127 AND 159
		OR code BETWEEN 64976 AND 65007 OR (code & 65534) = 65534 THEN
		RETURN '?';
	END IF;
	RETURN format('&#%s;', code);
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_char(text) IS
	'for dp_cdp.report: a character as a reference';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_text(t text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE
		WHEN t ~ '^[]A-Za-z0-9 _.,:;()/*=+@!?#$%^{}|~[-]*$' THEN t
		ELSE (SELECT string_agg(CASE WHEN c.c ~ '^[]A-Za-z0-9 _.,:;()/*=+@!?#$%^{}|~[-]$' THEN c.c
				ELSE dp_cdp_internal.report_char(c.c) END, '' ORDER BY c.n)
			FROM regexp_split_to_table(t, '') WITH ORDINALITY c(c, n)) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_text(text) IS
	'for dp_cdp.report: text as HTML and XML show it, in elements and in quoted attributes';

-- Isolated, so that letters that run from right to left turn nothing around them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_name(t text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT '<bdi>' || dp_cdp_internal.report_text(t) || '</bdi>'
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_name(text) IS
	'for dp_cdp.report: a name that somebody has chosen';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_number(x numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE
		WHEN x IS NULL OR x = 'NaN' THEN '&#8211;'
		WHEN x = 'Infinity' THEN '&#8734;'
		WHEN x = '-Infinity' THEN '-&#8734;'
		WHEN x = 0 THEN '0'
		WHEN abs(x) < 0.0001 OR abs(x) >= 1e9 THEN
			regexp_replace(ltrim(to_char(x, '9.99EEEE')), '\.?0*e[+]?(-?)0*(?=[0-9])', 'e\1')
		WHEN abs(x) >= 1000 THEN to_char(round(x), 'FM999,999,999,990')
		ELSE dp_cdp_internal.significant(x)::text END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_number(numeric) IS
	'for dp_cdp.report: a number with three digits, or all before the point';

-- A promise is told no smaller than it is.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_up(x numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT dp_cdp_internal.report_number(CASE WHEN x <= 0 OR x IN ('NaN', 'Infinity') THEN x
		ELSE ceil(x * 10::numeric ^ p.places) / 10::numeric ^ p.places END)
	FROM (SELECT CASE WHEN x > 0 AND x < 'Infinity' THEN 2 - floor(log(x)) END AS places) p
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_up(numeric) IS
	'for dp_cdp.report: a number with three digits, rounded up';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_guess(guess numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN guess IS NULL THEN '&#8211;' WHEN guess > 0.999 THEN 'almost 100&#160;%'
		ELSE trim_scale(ceil(guess * 1000) / 10) || '&#160;%' END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_guess(numeric) IS
	'for dp_cdp.report: how often a guess is right, rounded up';

-- The audit's words for machines, as people say them.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_reason(reason text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN x.parts IS NULL THEN reason
		ELSE coalesce(CASE concat_ws(' ', x.parts[1], nullif(x.parts[2], ''))
			WHEN 'ZC001 no budget' THEN 'the role has no budget'
			WHEN 'ZC001 rho' THEN 'too little rho was left'
			WHEN 'ZC001 delta' THEN 'too little delta was left to select keys'
			WHEN 'ZC001 failures' THEN 'too many releases had failed that day'
			WHEN 'ZC003 rate' THEN 'the role asked too often within a second'
			WHEN 'ZC003' THEN 'the ledger could not answer' END, nullif(x.parts[2], ''), 'refused')
			|| coalesce(x.parts[3], '') || ' (' || x.parts[1] || ')' END
	FROM (SELECT regexp_match(reason, '^(ZC[0-9]{3})(?: ([^;]*))?(;.*)?$') AS parts) x
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_reason(text) IS
	'for dp_cdp.report: why something was refused, in words';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_amount(x numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN x IS NULL THEN '&#8211;'
		ELSE format('<data value="%s">%s</data>', trim_scale(x), dp_cdp_internal.report_number(x)) END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_amount(numeric) IS
	'for dp_cdp.report: a number to be read, and the exact one for machines';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_day(d date) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce(format('<time datetime="%s">%s</time>', to_char(d, 'YYYY-MM-DD'),
		replace(to_char(d, 'FMDD Mon YYYY'), ' ', '&#160;')), '&#8211;')
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_day(date) IS
	'for dp_cdp.report: a date';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_lasts(days numeric) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE
		WHEN days IS NULL THEN '&#8211;'
		WHEN days = 0 THEN 'spent'
		WHEN days < 1 THEN 'under a day'
		WHEN days < 2 THEN '1 day'
		WHEN days < 3650 THEN to_char(floor(days), 'FM9,990') || ' days'
		ELSE 'over 10 years' END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_lasts(numeric) IS
	'for dp_cdp.report: how many days';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_plural(n bigint, one text, many text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT to_char(n, 'FM999,999,999,999,990') || ' ' || CASE n WHEN 1 THEN one ELSE many END
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_plural(bigint, text, text) IS
	'for dp_cdp.report: a number of things';

-- -------------------------------------------------------------------------
-- Figures
-- -------------------------------------------------------------------------

-- The step of an axis from 0 to the largest value, so that it has two to five.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_step(largest numeric, whole boolean DEFAULT false) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT min(s.step) FROM (
		SELECT trim_scale(f * round(10 ^ e.e, greatest(-e.e, 0)::int)) AS step
		FROM unnest(ARRAY[1, 2, 5, 10]) f, (SELECT floor(log(largest / 5)) AS e) e) s
	WHERE s.step * 5 >= largest AND (NOT whole OR s.step >= 1)
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_step(numeric, boolean) IS
	'for dp_cdp.report: distance of the lines of an axis';

-- Days to be named on an axis: as many as there is room for, at the begin of
-- months, quarters and years where that is possible.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_dates(first date, last date, most int) RETURNS TABLE(day date, label text)
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
	AS $$
DECLARE
	step int;
	start date;
BEGIN
	FOREACH step IN ARRAY ARRAY[1, 2, 7, 14] LOOP
		IF (last - first) / step < most THEN
			RETURN QUERY SELECT g.d::date, to_char(g.d, 'FMDD Mon')
				FROM generate_series(first::timestamp, last::timestamp, make_interval(days => step)) g(d);
			RETURN;
		END IF;
	END LOOP;
	FOREACH step IN ARRAY ARRAY[1, 3, 6, 12, 24, 60, 120, 600, 2400, 120000] LOOP
		start := make_date(extract(year FROM first)::int / greatest(step / 12, 1) * greatest(step / 12, 1), 1, 1);
		IF (SELECT count(*) FROM generate_series(start::timestamp, last::timestamp, make_interval(months => step)) g(d)
				WHERE g.d >= first) <= most OR step = 120000 THEN
			RETURN QUERY SELECT g.d::date,
					CASE WHEN step >= 12 THEN to_char(g.d, 'YYYY')
						WHEN extract(month FROM g.d) = 1 OR g.n = 1 THEN to_char(g.d, 'Mon YYYY') ELSE to_char(g.d, 'Mon') END
				FROM (SELECT s.d, row_number() OVER (ORDER BY s.d) AS n
					FROM generate_series(start::timestamp, last::timestamp, make_interval(months => step)) s(d)
					WHERE s.d >= first) g;
			RETURN;
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_dates(date, date, int) IS
	'for dp_cdp.report: the days that an axis names';

-- A frame for figures: the axes with their lines and labels.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_axes(w numeric, h numeric, l numeric, r numeric, t numeric, b numeric,
											  largest numeric, step numeric, first date, last date, most int) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT coalesce((SELECT string_agg(format('<line class="grid" x1="%s" x2="%s" y1="%s" y2="%3$s"/>' ||
				'<text class="tick" x="%s" y="%s" text-anchor="end">%s</text>',
				l, w - r, round(y.y, 1), l - 8, round(y.y + 4, 1), dp_cdp_internal.report_number(y.v)), '' ORDER BY y.v)
			FROM (SELECT g AS v, h - b - (h - b - t) * g / largest AS y FROM generate_series(0::numeric, largest, step) g) y), '')
		|| coalesce((SELECT string_agg(format('<line class="tickline" x1="%s" x2="%1$s" y1="%s" y2="%s"/>' ||
				'<text class="tick" x="%1$s" y="%4$s" text-anchor="middle">%5$s</text>',
				round(x.x, 1), h - b, h - b + 5, h - b + 19, x.label), '' ORDER BY x.x)
			FROM (SELECT l + (w - l - r) * (d.day - first + 0.5) / (last - first + 1) AS x, d.label
				FROM dp_cdp_internal.report_dates(first, last, most) d) x
			-- a name must not hang over the figure's edge
			WHERE x.x BETWEEN 26 AND w - 26), '')
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_axes(numeric, numeric, numeric, numeric, numeric, numeric, numeric, numeric, date, date, int) IS
	'for dp_cdp.report: lines and labels of a figure of size w, h with margins l, r, t, b';

-- What is left, by day: backwards from today's balance, so that it ends at the
-- truth, whatever was added by hand or at an adoption.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_burndown(id text, name text, "limit" numeric, remaining numeric, rate numeric,
												  begins date, today date, ends date, renews boolean,
												  days jsonb, small boolean) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	w numeric := CASE WHEN small THEN 340 ELSE 1000 END;
	h numeric := CASE WHEN small THEN 150 ELSE 300 END;
	l numeric := CASE WHEN small THEN 42 ELSE 56 END;
	r numeric := 14;
	t numeric := 16;
	b numeric := 30;
	spent numeric := (SELECT coalesce(sum((d ->> 1)::numeric), 0) FROM jsonb_array_elements(days) d);
	most numeric := greatest("limit", remaining + spent);
	step numeric := dp_cdp_internal.report_step(CASE WHEN most > 0 THEN most ELSE 1 END);
	top numeric := greatest(most, step);
	per_day numeric := (w - l - r) / (ends - begins + 1);
	per_rho numeric := (h - t - b) / top;
	zero numeric := h - b;
	now_x numeric := round(l + per_day * (today - begins + 1), 1);
	now_y numeric := round(zero - per_rho * remaining, 1);
	beside boolean := now_x < w - 92;
	line text;
	ahead text := '';
	until numeric;
BEGIN
	SELECT format('M%s,%s', l, round(zero - per_rho * (remaining + spent), 1))
			|| coalesce(string_agg(format('H%sV%s', s.x, s.y), '' ORDER BY s.day), '') || 'H' || now_x
		INTO line
		FROM (SELECT d.day, round(l + per_day * (d.day - begins + 0.5), 1) AS x,
				round(zero - per_rho * (remaining + spent - sum(d.rho) OVER (ORDER BY d.day)), 1) AS y
			FROM (SELECT (e ->> 0)::date AS day, (e ->> 1)::numeric AS rho FROM jsonb_array_elements(days) e) d) s;
	IF rate > 0 AND remaining > 0 THEN
		until := least(remaining / rate, ends - today);
		IF until > 0 THEN
			ahead := format('<path class="ahead" d="M%s,%sL%s,%s"/>', now_x, now_y, round(now_x + per_day * until, 1),
				round(zero - per_rho * (remaining - rate * until), 1));
		END IF;
	END IF;
	RETURN format('<svg class="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %4$s-d" xmlns="http://www.w3.org/2000/svg">',
			CASE WHEN small THEN 'small' ELSE 'wide' END, w, h, id)
		|| format('<title id="%s-t">What is left of %s</title><desc id="%1$s-d">', id, dp_cdp_internal.report_text(name))
		|| format('%s of %s are left%s.</desc>', dp_cdp_internal.report_number(remaining), dp_cdp_internal.report_number("limit"),
			CASE WHEN remaining = 0 THEN '' WHEN rate > 0 THEN format('; at %s a day that lasts %s', dp_cdp_internal.report_number(rate),
				dp_cdp_internal.report_lasts(remaining / rate)) ELSE '; nothing was spent in the last seven days' END)
		|| dp_cdp_internal.report_axes(w, h, l, r, t, b, top, CASE WHEN small AND "limit" > 0 THEN "limit" ELSE step END, begins, ends,
			CASE WHEN small THEN 3 ELSE 8 END)
		|| format('<line class="limit" x1="%s" x2="%s" y1="%s" y2="%3$s"/>', l, w - r, round(zero - per_rho * "limit", 1))
		-- named, where the axis does not name it or something near
		|| CASE WHEN NOT small AND "limit" > 0 AND abs("limit" - round("limit" / step) * step) * per_rho > 14
			THEN format('<text class="tick" x="%s" y="%s" text-anchor="end">%s</text>', l - 8, round(zero - per_rho * "limit" + 4, 1),
				dp_cdp_internal.report_number("limit")) ELSE '' END
		|| format('<path class="area" d="%sV%sH%sZ"/>', line, zero, l)
		|| CASE WHEN renews THEN format('<path class="even" d="M%s,%sL%s,%s"/>', l, round(zero - per_rho * "limit", 1), w - r, zero) ELSE '' END
		|| format('<path class="line" d="%s"/>', line) || ahead
		|| format('<circle class="now" cx="%s" cy="%s" r="4"/>', now_x, now_y)
		-- the line falls: to the right of it there is room above, to the left below
		|| format('<text class="mark" x="%s" y="%s" text-anchor="%s">%s left</text>',
			CASE WHEN beside THEN now_x + 9 ELSE now_x - 9 END,
			CASE WHEN beside OR now_y > zero - 24 THEN greatest(now_y - 8, 11) ELSE now_y + 17 END,
			CASE WHEN beside THEN 'start' ELSE 'end' END, dp_cdp_internal.report_number(remaining))
		|| '</svg>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_burndown(text, text, numeric, numeric, numeric, date, date, date, boolean, jsonb, boolean) IS
	'for dp_cdp.report: a burn-down';

-- One column for each day, week or month: rho, or a number of refusals.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_columns(id text, title text, days jsonb, measure text, first date, today date) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
	AS $$
DECLARE
	w numeric := 1000;
	h numeric := CASE WHEN measure = 'rho' THEN 260 ELSE 170 END;
	l numeric := 56;
	r numeric := 14;
	t numeric := 16;
	b numeric := 30;
	unit text := CASE WHEN today - first < 100 THEN 'day' WHEN today - first < 700 THEN 'week' ELSE 'month' END;
	start date := date_trunc(unit, greatest(first, today - 36500)::timestamp)::date;
	largest numeric;
	step numeric;
	columns text;
BEGIN
	-- not so few days that one of them fills the figure
	start := least(start, date_trunc(unit, (today - CASE unit WHEN 'day' THEN 13 ELSE 0 END)::timestamp)::date);
	WITH sums AS (
		SELECT date_trunc(unit, ((d ->> 'day')::date)::timestamp)::date AS day, sum((d ->> measure)::numeric) AS v
		FROM jsonb_array_elements(days) d GROUP BY 1
	), scale AS (
		SELECT greatest(max(s.v), 0) AS most FROM sums s
	), axis AS (
		SELECT dp_cdp_internal.report_step(CASE WHEN s.most > 0 THEN s.most ELSE 1 END, measure <> 'rho') AS step, s.most FROM scale s
	), tops AS (
		SELECT a.step, greatest(ceil(a.most / a.step), 1) * a.step AS largest FROM axis a
	)
	SELECT t2.largest, t2.step, string_agg(format('<rect x="%s" y="%s" width="%s" height="%s"><title>%s: %s</title></rect>',
			round(l + (w - l - r) * (s.day - start + x.gap) / (today - start + 1), 2),
			round(h - b - y.y, 2),
			round(greatest((w - l - r) * (least((s.day + ('1 ' || unit)::interval)::date, today + 1) - s.day - 2 * x.gap) / (today - start + 1), 0.8), 2),
			round(y.y, 2),
			CASE unit WHEN 'day' THEN to_char(s.day, 'FMDD Mon YYYY') WHEN 'week' THEN 'week of ' || to_char(s.day, 'FMDD Mon YYYY')
				ELSE to_char(s.day, 'Mon YYYY') END,
			dp_cdp_internal.report_number(s.v)), '' ORDER BY s.day)
		INTO largest, step, columns
		FROM tops t2 LEFT JOIN sums s ON s.v > 0
			CROSS JOIN LATERAL (SELECT CASE unit WHEN 'day' THEN 0.12 WHEN 'week' THEN 0.7 ELSE 2.5 END AS gap) x
			-- what there is can be seen
			CROSS JOIN LATERAL (SELECT greatest((h - b - t) * s.v / t2.largest, 1.5) AS y) y
		GROUP BY t2.largest, t2.step;
	RETURN format('<svg class="wide %s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %4$s-d" xmlns="http://www.w3.org/2000/svg">',
			CASE measure WHEN 'rho' THEN 'spent' ELSE 'no' END, w, h, id)
		|| format('<title id="%s-t">%s by %s</title><desc id="%1$s-d">From %4$s to %5$s; the table below has the numbers.</desc>',
			id, title, unit, to_char(start, 'FMDD Mon YYYY'), to_char(today, 'FMDD Mon YYYY'))
		|| dp_cdp_internal.report_axes(w, h, l, r, t, b, largest, step, start, today, 8)
		|| coalesce(columns, '') || '</svg>';
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_columns(text, text, jsonb, text, date, date) IS
	'for dp_cdp.report: columns by day, week or month';

CREATE OR REPLACE FUNCTION dp_cdp_internal.report_bar(share numeric, class text DEFAULT 'spent') RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT format('<svg class="bar %s" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" ' ||
		'xmlns="http://www.w3.org/2000/svg"><rect class="track" width="100" height="8"/><rect width="%s" height="8"/></svg>',
		class, round(100 * least(greatest(coalesce(share, 0), 0), 1), 1))
$$;
COMMENT ON FUNCTION dp_cdp_internal.report_bar(numeric, text) IS
	'for dp_cdp.report: a share as a bar, beside a number that says the same';

-- What is seen where a person is in the data and where not, or the one or the other: noise of
-- deviation 1 about centres that are sqrt(2 rho) apart.  In the overlap a guess can be wrong.
CREATE OR REPLACE FUNCTION dp_cdp_internal.report_bells(rho numeric, guess text, one text, other text) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	w int := 440;
	zero int := 128;
	-- farther apart nothing is seen to change
	apart float8 := least(sqrt(2 * rho::float8), 12);
	low float8 := -3.3;
	wide float8 := apart + 6.6;
	left_bell text;
	right_bell text;
	overlap text;
	middle numeric := w / 2;
BEGIN
	SELECT string_agg(s.x || ',' || round((zero - 96 * exp(-(s.v ^ 2) / 2))::numeric, 1), 'L' ORDER BY s.i),
			string_agg(s.x || ',' || round((zero - 96 * exp(-((s.v - apart) ^ 2) / 2))::numeric, 1), 'L' ORDER BY s.i),
			string_agg(s.x || ',' || round((zero - 96 * exp(-(greatest(abs(s.v), abs(s.v - apart)) ^ 2) / 2))::numeric, 1), 'L' ORDER BY s.i)
		INTO left_bell, right_bell, overlap
		FROM (SELECT i, low + wide * i / 160 AS v, round(w * i / 160.0, 1) AS x FROM generate_series(0, 160) i) s;
	RETURN format('<svg class="small bells" viewBox="0 0 %s 152" role="img" aria-labelledby="f-bells-t f-bells-d" xmlns="http://www.w3.org/2000/svg">', w)
		|| format('<title id="f-bells-t">What answers look like, %s and %s</title>', one, other)
		|| format('<desc id="f-bells-d">Two bells; where they overlap, a guess can be wrong. The best guess is right %s of the time.</desc>', guess)
		|| format('<path class="area" d="M0,%sL%sL%s,%1$sZ"/>', zero, overlap, w)
		|| format('<line class="limit" x1="0" x2="%s" y1="%s" y2="%2$s"/><line class="grid" x1="%3$s" x2="%3$s" y1="22" y2="%2$s"/>', w, zero, middle)
		|| format('<path class="line" d="M%s"/><path class="line other" d="M%s"/>', left_bell, right_bell)
		|| format('<text class="mark" x="%s" y="14" text-anchor="end">%s</text><text class="mark" x="%s" y="14">%s</text>', middle - 10, one, middle + 10, other)
		|| format('<text class="tick" x="%s" y="%s" text-anchor="middle">guess right at most %s of the time</text></svg>', middle, zero + 18, guess);
END $$;
COMMENT ON FUNCTION dp_cdp_internal.report_bells(numeric, text, text, text) IS
	'for dp_cdp.report: what a rho leaves to guess';
