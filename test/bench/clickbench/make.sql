-- The table of ClickBench, page views of web sites with all of its 105 columns, at :scale (1: 1,000,000 rows); made by hashes of
-- keys, so that each run makes the same.  Visitors, sites, pages and phrases are skewed, and most strings of rare columns are
-- empty, as in the traffic that the benchmark was taken from; the constants of its queries are found.
\set ON_ERROR_STOP on
SET work_mem = '256MB';

-- a whole number from 0 to n - 1, even or with small ones more frequent, and one of the array, for a row and a column
CREATE FUNCTION pick(key bigint, col int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN (hashint8extended(key, col) & 9223372036854775807) % n;
CREATE FUNCTION skewed(key bigint, col int, n bigint, exponent float8) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN least(n - 1, floor(n * power((hashint8extended(key, col) & 9223372036854775807) / 9223372036854775808.0::float8, exponent))::bigint);
CREATE FUNCTION pick(key bigint, col int, VARIADIC of text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN of[1 + pick(key, col, array_length(of, 1))];
-- one in n
CREATE FUNCTION rarely(key bigint, col int, n bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN (hashint8extended(key, col) & 9223372036854775807) % n = 0;
CREATE FUNCTION id_of(key bigint, col int) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN hashint8extended(key, col) & 9223372036854775807;
-- an address is a page of a site
CREATE FUNCTION address(site bigint, page bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN 'http' || CASE WHEN site % 3 = 0 THEN 's' ELSE '' END || '://' || CASE WHEN site % 2 = 0 THEN 'www.' ELSE '' END
		|| CASE WHEN site % 50 = 7 THEN 'google' ELSE pick(site, 90, 'auto', 'kino', 'smeshariki', 'irr', 'video', 'news', 'mail', 'forum') || site END
		|| pick(site, 91, '.ru', '.com', '.com.tr', '.ua') || '/' || CASE WHEN page = 0 THEN '' ELSE pick(page, 92, 'catalog', 'search', 'item', 'video', 'google-maps')
		|| '/' || page || CASE WHEN page % 4 = 0 THEN '?state=' || md5(page::text) ELSE '.html' END END;

CREATE TABLE hits (
	WatchID bigint NOT NULL, JavaEnable smallint NOT NULL, Title text NOT NULL, GoodEvent smallint NOT NULL, EventTime timestamp NOT NULL, EventDate date NOT NULL,
	CounterID int NOT NULL, ClientIP int NOT NULL, RegionID int NOT NULL, UserID bigint NOT NULL, CounterClass smallint NOT NULL, OS smallint NOT NULL,
	UserAgent smallint NOT NULL, URL text NOT NULL, Referer text NOT NULL, IsRefresh smallint NOT NULL, RefererCategoryID smallint NOT NULL,
	RefererRegionID int NOT NULL, URLCategoryID smallint NOT NULL, URLRegionID int NOT NULL, ResolutionWidth smallint NOT NULL, ResolutionHeight smallint NOT NULL,
	ResolutionDepth smallint NOT NULL, FlashMajor smallint NOT NULL, FlashMinor smallint NOT NULL, FlashMinor2 text NOT NULL, NetMajor smallint NOT NULL,
	NetMinor smallint NOT NULL, UserAgentMajor smallint NOT NULL, UserAgentMinor varchar(255) NOT NULL, CookieEnable smallint NOT NULL,
	JavascriptEnable smallint NOT NULL, IsMobile smallint NOT NULL, MobilePhone smallint NOT NULL, MobilePhoneModel text NOT NULL, Params text NOT NULL,
	IPNetworkID int NOT NULL, TraficSourceID smallint NOT NULL, SearchEngineID smallint NOT NULL, SearchPhrase text NOT NULL, AdvEngineID smallint NOT NULL,
	IsArtifical smallint NOT NULL, WindowClientWidth smallint NOT NULL, WindowClientHeight smallint NOT NULL, ClientTimeZone smallint NOT NULL,
	ClientEventTime timestamp NOT NULL, SilverlightVersion1 smallint NOT NULL, SilverlightVersion2 smallint NOT NULL, SilverlightVersion3 int NOT NULL,
	SilverlightVersion4 smallint NOT NULL, PageCharset text NOT NULL, CodeVersion int NOT NULL, IsLink smallint NOT NULL, IsDownload smallint NOT NULL,
	IsNotBounce smallint NOT NULL, FUniqID bigint NOT NULL, OriginalURL text NOT NULL, HID int NOT NULL, IsOldCounter smallint NOT NULL, IsEvent smallint NOT NULL,
	IsParameter smallint NOT NULL, DontCountHits smallint NOT NULL, WithHash smallint NOT NULL, HitColor char NOT NULL, LocalEventTime timestamp NOT NULL,
	Age smallint NOT NULL, Sex smallint NOT NULL, Income smallint NOT NULL, Interests smallint NOT NULL, Robotness smallint NOT NULL, RemoteIP int NOT NULL,
	WindowName int NOT NULL, OpenerName int NOT NULL, HistoryLength smallint NOT NULL, BrowserLanguage text NOT NULL, BrowserCountry text NOT NULL,
	SocialNetwork text NOT NULL, SocialAction text NOT NULL, HTTPError smallint NOT NULL, SendTiming int NOT NULL, DNSTiming int NOT NULL,
	ConnectTiming int NOT NULL, ResponseStartTiming int NOT NULL, ResponseEndTiming int NOT NULL, FetchTiming int NOT NULL, SocialSourceNetworkID smallint NOT NULL,
	SocialSourcePage text NOT NULL, ParamPrice bigint NOT NULL, ParamOrderID text NOT NULL, ParamCurrency text NOT NULL, ParamCurrencyID smallint NOT NULL,
	OpenstatServiceName text NOT NULL, OpenstatCampaignID text NOT NULL, OpenstatAdID text NOT NULL, OpenstatSourceID text NOT NULL, UTMSource text NOT NULL,
	UTMMedium text NOT NULL, UTMCampaign text NOT NULL, UTMContent text NOT NULL, UTMTerm text NOT NULL, FromTag text NOT NULL, HasGCLID smallint NOT NULL,
	RefererHash bigint NOT NULL, URLHash bigint NOT NULL, CLID int NOT NULL);

INSERT INTO hits
	SELECT id_of(i, 10), 1 - rarely(i, 11, 5)::int, title, 1, at, at::date, counter, (id_of(skewed(visitor, 12, 30000, 3), 12) % 2147483647)::int, region, userid,
		0, 1 + skewed(visitor, 13, 90, 4), 1 + skewed(visitor, 14, 80, 4), url, referer, rarely(i, 15, 8)::int, skewed(i, 16, 16000, 6), region, skewed(counter, 17, 16000, 4), 1 + skewed(counter, 18, 300, 3),
		width, width * 9 / 16, 24, 11, 7, CASE WHEN rarely(visitor, 19, 3) THEN '700' ELSE '' END, rarely(visitor, 20, 4)::int * 4, 0, 1 + skewed(visitor, 21, 80, 2), pick(visitor, 22, 'D', 'nA', '3', '5'), 1,
		1, (phone > 0)::int, phone, CASE WHEN phone = 0 THEN '' ELSE pick(visitor, 23, 'iPad', 'iPhone', 'A500', 'N8-00', 'GT-P7300B', '3110000', 'eagle75', 'Desire') END, '',
		pick(visitor, 24, 4000000), CASE WHEN phrase <> '' THEN 2 ELSE skewed(i, 25, 11, 2) - 1 END, engine, phrase, CASE WHEN rarely(i, 26, 160) THEN 2 + skewed(i, 27, 40, 3) ELSE 0 END,
		0, width - pick(visitor, 28, 40), width * 9 / 16 - 100 - pick(i, 29, 100), 135, at + pick(i, 30, 30) * interval '1 second', rarely(visitor, 31, 3)::int * 5, 1, 0,
		0, pick(counter, 32, 'windows-1251', 'utf-8', 'koi8-r'), 291 + pick(counter, 33, 1500), rarely(i, 34, 10)::int, rarely(i, 35, 300)::int,
		rarely(i, 36, 4)::int, id_of(visitor, 37), '', pick(i, 38, 1073741824), 0, 0,
		0, rarely(i, 39, 16)::int, 0, pick(i, 40, '5', 'E', 'T', 'D', 'w'), at + interval '2 hours',
		pick(visitor, 41, 6) * 10, pick(visitor, 42, 3), skewed(visitor, 43, 4, 2), pick(visitor, 44, 30000), 0, (id_of(visitor, 45) % 2147483647)::int,
		pick(visitor, 46, 100000), -1, 1 + skewed(i, 47, 20, 3), pick(region, 48, 'S0', 'ru', 'en', 'tr'), pick(region, 49, 'nD', 'RU', 'US', 'TR'),
		'', '', rarely(i, 50, 400)::int * 404, skewed(i, 51, 30000, 6), skewed(i, 52, 3000, 6),
		skewed(i, 53, 3000, 6), skewed(i, 54, 3000, 4), skewed(i, 55, 30000, 4), skewed(i, 56, 30000, 4), 0,
		'', 0, '', CASE WHEN rarely(i, 57, 500) THEN 'RUB' ELSE 'NH' END, rarely(i, 57, 500)::int,
		'', '', '', '', CASE WHEN rarely(i, 58, 60) THEN pick(i, 59, 'yandex', 'google', 'mail') ELSE '' END,
		CASE WHEN rarely(i, 58, 60) THEN 'cpc' ELSE '' END, CASE WHEN rarely(i, 58, 60) THEN 'summer' ELSE '' END, '', '', '', rarely(i, 60, 900)::int,
		CASE referer WHEN address(3, 0) THEN 3594120000172545465 ELSE hashtextextended(referer, 0) END, CASE WHEN site = 0 AND page = 0 THEN 2868770270353813622 ELSE hashtextextended(url, 0) END, 0
	FROM (SELECT *, CASE WHEN visitor = 0 THEN 435090932899640449 ELSE id_of(visitor, 61) END AS userid, 1 + skewed(visitor, 62, 9000, 4) AS region,
			CASE site WHEN 0 THEN 62 WHEN 1 THEN 3922 ELSE 100 + site * 31 END AS counter, address(site, page) AS url,
			date '2013-07-01' + day::int + interval '1 second' * second AS at,
			(ARRAY[1366, 1920, 1280, 1024, 1600, 1440, 1638, 768, 1152, 320])[1 + skewed(visitor, 63, 10, 2)] AS width,
			CASE WHEN rarely(visitor, 64, 25) THEN 1 + skewed(visitor, 65, 80, 4) ELSE 0 END AS phone,
			CASE WHEN rarely(i, 66, 2) THEN '' ELSE address(skewed(i, 67, 2000, 3), skewed(i, 68, 300, 3)) END AS referer,
			CASE WHEN words IS NULL THEN '' ELSE pick(words, 69, 'karelia', 'video', 'google', 'game', 'tea', 'weather', 'taxi') || ' ' || pick(words, 70, 'novosibirsk', 'online', 'buy', 'watch', 'price') || ' ' || words END AS phrase,
			CASE WHEN words IS NULL THEN 0 ELSE 2 + skewed(i, 71, 30, 4) END AS engine,
			CASE WHEN rarely(site * 100003 + page, 72, 30) THEN 'Google ' ELSE '' END || pick(site, 73, 'Kino', 'Cars', 'News', 'Forum', 'Shop') || ' ' || site || CASE WHEN page = 0 THEN '' ELSE ', page ' || page END AS title
		FROM (SELECT i, skewed(i, 1, greatest(100, (200000 * :scale)::bigint), 1.5) AS visitor, skewed(i, 2, 6500, 5) AS site, skewed(i, 3, 5000, 9) AS page, pick(i, 4, 31) AS day,
				pick(i, 5, 43200) + pick(i, 6, 43200) AS second, CASE WHEN pick(i, 7, 100) < 13 THEN skewed(i, 8, 60000, 4) END AS words
			FROM generate_series(1, (1000000 * :scale)::bigint) i OFFSET 0) a OFFSET 0) b;

DROP FUNCTION pick(bigint, int, bigint), skewed(bigint, int, bigint, float8), pick(bigint, int, text[]), rarely(bigint, int, bigint), id_of(bigint, int), address(bigint, bigint);
VACUUM (FREEZE, ANALYZE);
