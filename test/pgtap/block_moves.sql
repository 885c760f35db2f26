-- Blocks of time: no row moves to another one, by whatever moves it: its own
-- columns, the row that its foreign key leads to, triggers, partitions.

SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;

-- runs statements as owner1, one after the other, in one subtransaction whose deferred constraints are checked
CREATE FUNCTION owner1(VARIADIC statements text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	failure text := 'ok';
	statement text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION owner1';
	BEGIN
		FOREACH statement IN ARRAY statements LOOP
			EXECUTE statement;
		END LOOP;
		SET CONSTRAINTS ALL IMMEDIATE;
	EXCEPTION WHEN OTHERS THEN
		failure := SQLSTATE || ' ' || SQLERRM;
	END;
	SET CONSTRAINTS ALL DEFERRED;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	RETURN failure;
END $$;

SELECT no_plan();

SELECT is(owner1($$SELECT dp_cdp.create_dataset('clinic')$$,
	-- parents of either kind: 1 to 3 in January, 4 to 6 in February
	$$CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, day date, note text)$$,
	$$INSERT INTO visits SELECT i, i, date '2024-01-10' + 31 * ((i - 1) / 3) FROM generate_series(1, 6) i$$,
	$$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'day', every => '1 month')$$,
	-- three kinds of foreign keys
	$$CREATE TABLE bills (id int, visit int REFERENCES visits, amount int)$$,
	$$CREATE TABLE follows (id int, visit int REFERENCES visits ON UPDATE CASCADE ON DELETE CASCADE)$$,
	$$CREATE TABLE waits (id int PRIMARY KEY, visit int REFERENCES visits DEFERRABLE INITIALLY DEFERRED)$$,
	$$CREATE TABLE leaves (id int, visit int REFERENCES visits ON DELETE SET NULL)$$,
	$$CREATE TABLE lines (id int, wait int REFERENCES waits)$$,
	$$CREATE TABLE own (id int, visit int REFERENCES visits, at timestamp)$$,
	$$SELECT dp_cdp.protect_table(t::regclass, 'clinic', through => 'visit') FROM unnest('{bills,follows,waits,leaves}'::text[]) t$$,
	$$SELECT dp_cdp.protect_table('lines', 'clinic', through => 'wait')$$,
	$$SELECT dp_cdp.protect_table('own', 'clinic', through => 'visit', block => 'at')$$,
	$$INSERT INTO bills VALUES (1, 1, 7), (6, NULL, 7)$$,
	$$INSERT INTO follows VALUES (2, 2)$$,
	$$INSERT INTO waits VALUES (3, 3), (4, 4)$$,
	$$INSERT INTO lines VALUES (3, 3)$$,
	$$INSERT INTO own VALUES (1, 1, '2024-05-01')$$), 'ok', 'tables');
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE finding LIKE '%keeps them there%'), 0::bigint, 'all of them are held');

-- ------------------------------------------------------------------------
-- the column of a foreign key
-- ------------------------------------------------------------------------

SELECT is(owner1($$UPDATE bills SET visit = visit, amount = amount + 1$$), 'ok', 'an update that moves nothing');
SELECT is(owner1($$UPDATE bills SET visit = 2 WHERE id = 1$$, $$UPDATE bills SET visit = 1 WHERE id = 1$$), 'ok', 'to another row of the same block');
SELECT matches(owner1($$UPDATE bills SET visit = 4 WHERE id = 1$$), '^ZC004 an UPDATE of \(visit\) would move a row', 'not to one of another block');
SELECT matches(owner1($$UPDATE bills SET visit = NULL WHERE id = 1$$), '^ZC004 an UPDATE of \(visit\) would leave a row .* in no block', 'nor to none');
SELECT is(owner1($$UPDATE bills SET visit = 4 WHERE id = 6$$), 'ok', 'what was nobody''s may become somebody''s');
SELECT matches(owner1($$UPDATE bills SET visit = 3 WHERE id = 6$$), '^ZC004', 'once');
SELECT matches(owner1($$UPDATE bills SET visit = v.id FROM visits v WHERE v.id = bills.visit + 3$$), '^ZC004', 'UPDATE FROM');
SELECT matches(owner1($$MERGE INTO bills b USING (VALUES (1, 5)) v (id, visit) ON b.id = v.id WHEN MATCHED THEN UPDATE SET visit = v.visit$$), '^ZC004', 'MERGE');
SELECT matches(owner1($$INSERT INTO waits VALUES (3, 5) ON CONFLICT (id) DO UPDATE SET visit = excluded.visit$$), '^ZC004', 'ON CONFLICT DO UPDATE');
SELECT is(owner1($$INSERT INTO waits VALUES (3, 2) ON CONFLICT (id) DO UPDATE SET visit = excluded.visit$$), 'ok', 'within the block');
SELECT is(owner1($$INSERT INTO visits VALUES (11, 1, '2024-01-20')$$, $$INSERT INTO bills VALUES (11, 11, 1)$$, $$UPDATE bills SET visit = 1 WHERE id = 11$$,
	$$DELETE FROM bills WHERE id = 11$$), 'ok', 'a row of this transaction');
SELECT matches(owner1($$INSERT INTO visits VALUES (12, 1, '2024-01-20')$$, $$INSERT INTO bills VALUES (12, 12, 1)$$, $$UPDATE bills SET visit = 4 WHERE id = 12$$),
	'^ZC004', 'is in a block, too');
SELECT matches(owner1($$WITH gone AS (DELETE FROM follows), v AS (INSERT INTO visits VALUES (13, 1, '2024-03-01') RETURNING id) UPDATE bills SET visit = v.id FROM v WHERE bills.id = 1$$),
	'^ZC004', 'to a row of the same statement');
SELECT is(owner1($$WITH v AS (INSERT INTO visits VALUES (14, 1, '2024-01-01') RETURNING id) UPDATE bills SET visit = v.id FROM v WHERE bills.id = 1$$), 'ok', 'of this block');
SELECT matches(owner1($$UPDATE lines SET wait = 4$$), '^ZC004', 'a key that leads on');
SELECT matches(owner1($$UPDATE waits SET visit = 4 WHERE id = 3$$), '^ZC004', 'in the middle of its way');
SELECT is(owner1($$UPDATE own SET visit = 4$$), 'ok', 'a table with a block column of its own');
SELECT matches(owner1($$UPDATE own SET at = at + interval '1 month'$$), '^ZC004 an UPDATE of column "at"', 'is held by that');

-- ------------------------------------------------------------------------
-- the row that it references
-- ------------------------------------------------------------------------

SELECT is(owner1($$UPDATE visits SET id = 22 WHERE id = 2$$, $$UPDATE visits SET id = 2 WHERE id = 22$$), 'ok', 'keys that follow');
SELECT is(owner1($$UPDATE visits SET id = 32 WHERE id = 2$$, $$UPDATE visits SET id = 2 WHERE id = 5$$, $$UPDATE visits SET id = 5 WHERE id = 2$$,
	$$UPDATE visits SET id = 2 WHERE id = 32$$), 'ok', 'also where another row takes them');
SELECT is((SELECT visit FROM follows), 2, 'they have followed');
SELECT is(owner1($$UPDATE visits SET id = 43 WHERE id = 3$$, $$UPDATE visits SET id = 3 WHERE id = 6$$), 'ok', 'a key that nobody references');
SELECT is(owner1($$UPDATE waits SET visit = 43 WHERE id = 3$$), 'ok', 'one that somebody does');
SELECT matches(owner1($$UPDATE visits SET id = 44 WHERE id = 43$$, $$UPDATE visits SET id = 43 WHERE id = 5$$), '^ZC004 rows of protected table "waits" would be in another block', 'is not taken over by another block');
SELECT is(owner1($$UPDATE visits SET id = 44 WHERE id = 43$$, $$UPDATE visits SET id = 43 WHERE id = 1$$,
	$$SET CONSTRAINTS ALL IMMEDIATE$$, $$SET CONSTRAINTS ALL DEFERRED$$, $$UPDATE visits SET id = 1 WHERE id = 43$$, $$UPDATE visits SET id = 43 WHERE id = 44$$), 'ok', 'but within the block');
SELECT matches(owner1($$DELETE FROM visits WHERE id = 43$$, $$INSERT INTO visits VALUES (43, 1, '2024-02-02')$$), '^ZC004 rows of protected table "waits"', 'a row that is put in anew in another block');
SELECT is(owner1($$DELETE FROM visits WHERE id = 43$$, $$INSERT INTO visits VALUES (43, 1, '2024-01-02')$$), 'ok', 'or in the same');
SELECT is(owner1($$UPDATE visits SET id = 45 WHERE id = 43$$, $$UPDATE waits SET visit = 45 WHERE visit = 43$$), 'ok', 'keys that are set by hand');
SELECT matches(owner1($$DELETE FROM visits WHERE id = 45$$, $$UPDATE waits SET visit = 5 WHERE visit = 45$$), '^ZC004', 'a row whose parent is gone is in its block still');
SELECT matches(owner1($$WITH d AS (DELETE FROM visits WHERE id = 45) UPDATE waits SET visit = 5 WHERE visit = 45$$), '^ZC004', 'also in one statement');
SELECT is(owner1($$DELETE FROM visits WHERE id = 45$$, $$UPDATE waits SET visit = 2 WHERE visit = 45$$), 'ok', 'and may be given to another there');
SELECT matches(owner1($$DELETE FROM visits WHERE id = 2$$, $$INSERT INTO visits VALUES (2, 1, '2024-02-02')$$), '^ZC004 rows of protected table "waits"', 'what follows is deleted, and others remain');
SELECT is(owner1($$DELETE FROM waits WHERE visit = 2 AND id NOT IN (SELECT wait FROM lines)$$), 'ok', 'rows that nothing references');
SELECT is(owner1($$INSERT INTO leaves VALUES (6, 6)$$), 'ok', 'ON DELETE SET NULL') FROM (SELECT owner1($$INSERT INTO visits VALUES (6, 6, '2024-02-10') ON CONFLICT DO NOTHING$$)) x;
SELECT matches(owner1($$DELETE FROM visits WHERE id = 6$$), '^ZC004 an UPDATE of \(visit\) would leave a row', 'would leave rows in no block');
SELECT is(owner1($$DELETE FROM leaves$$, $$DELETE FROM visits WHERE id = 6$$), 'ok', 'which are deleted first');

-- ------------------------------------------------------------------------
-- triggers that fire later, and other ways around triggers
-- ------------------------------------------------------------------------

CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.day := '2024-06-05'; RETURN NEW; END $$;
CREATE TRIGGER set_updated_at BEFORE UPDATE ON visits FOR EACH ROW EXECUTE FUNCTION touch();
SELECT matches(owner1($$UPDATE visits SET note = 'x' WHERE id = 1$$), '^ZC004 an UPDATE of column "day"', 'a trigger that is called after ours');
DROP TRIGGER set_updated_at ON visits;
CREATE FUNCTION send() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.visit := 5; RETURN NEW; END $$;
CREATE TRIGGER zzz BEFORE UPDATE OF amount ON bills FOR EACH ROW EXECUTE FUNCTION send();
SELECT matches(owner1($$UPDATE bills SET amount = 8 WHERE id = 1$$), '^ZC004 an UPDATE of \(visit\) would move', 'on a foreign key');
DROP TRIGGER zzz ON bills;
CREATE TRIGGER zzz AFTER UPDATE OF note ON visits FOR EACH ROW EXECUTE FUNCTION touch();
SELECT is(owner1($$UPDATE visits SET note = 'x' WHERE id = 1$$), 'ok', 'what a trigger says after the update moves nothing');
DROP TRIGGER zzz ON visits;
SET session_replication_role = replica;
SELECT throws_like($$UPDATE visits SET day = '2024-03-01' WHERE id = 1$$, '%"day" would move%', 'replicas are held, too');
SELECT throws_like($$UPDATE bills SET visit = 4 WHERE id = 1$$, '%(visit) would move%', 'and what leads to their rows');
RESET session_replication_role;
SELECT is(owner1($$ALTER TABLE bills DROP CONSTRAINT bills_visit_fkey$$), 'ok', 'without the foreign key');
SELECT matches(owner1($$UPDATE bills SET visit = 5 WHERE id = 1$$), '^ZC004 .*no foreign key.*mend', 'no row is moved');
SELECT is(owner1($$ALTER TABLE bills ADD FOREIGN KEY (visit) REFERENCES visits$$), 'ok', 'with it, as before');

-- ------------------------------------------------------------------------
-- partitions
-- ------------------------------------------------------------------------

SELECT is(owner1($$CREATE TABLE parts (id int, patient int NOT NULL, day date NOT NULL, note text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)$$,
	$$CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2024-01-01') TO ('2024-01-15')$$,
	$$CREATE TABLE parts_2 (note text, day date NOT NULL, id int NOT NULL, patient int NOT NULL)$$,
	$$ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM ('2024-01-15') TO ('2024-07-01')$$,
	$$INSERT INTO parts SELECT i, i, date '2024-01-10' + 10 * i FROM generate_series(0, 10) i$$,
	$$SELECT dp_cdp.protect_table('parts', 'clinic', 'patient', block => 'day')$$,
	$$CREATE TABLE items (id int, part int, day date, FOREIGN KEY (part, day) REFERENCES parts ON UPDATE CASCADE) PARTITION BY LIST (part)$$,
	$$CREATE TABLE items_0 PARTITION OF items FOR VALUES IN (0)$$,
	$$CREATE TABLE items_more PARTITION OF items DEFAULT$$,
	$$SELECT dp_cdp.protect_table('items', 'clinic', through => 'part, day')$$,
	$$INSERT INTO items SELECT i, i, date '2024-01-10' + 10 * i FROM generate_series(0, 10) i$$), 'ok', 'partitioned tables');
SELECT matches(owner1($$UPDATE parts SET day = '2024-02-02' WHERE id = 0$$), '^ZC004 an UPDATE of column "day"', 'to a partition in another block');
SELECT is(owner1($$UPDATE parts SET day = '2024-01-16' WHERE id = 0$$), 'ok', 'in the same');
SELECT is((SELECT day FROM items WHERE id = 0), date '2024-01-16', 'references follow');
SELECT matches(owner1($$UPDATE items SET part = 5, day = '2024-02-29' WHERE id = 0$$), '^ZC004 an UPDATE of \(part, day\)', 'to another partition by the foreign key');
SELECT is(owner1($$UPDATE items SET part = 1, day = '2024-01-20' WHERE id = 0$$), 'ok', 'within the block');
SELECT matches(owner1($$UPDATE items_more SET part = 5, day = '2024-02-29' WHERE id = 1$$), '^ZC004 an UPDATE of \(part, day\)', 'within a partition');
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE finding LIKE '%keeps them there%'), 0::bigint, 'partitions are held');
CREATE TRIGGER set_updated_at BEFORE UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION touch();
SELECT matches(owner1($$UPDATE parts SET note = 'x' WHERE id = 1$$), '^ZC004 an UPDATE of column "day"', 'a trigger changes a row of a partition');
SELECT matches(owner1($$UPDATE parts SET note = 'x' WHERE id = 0$$), '^ZC004 an UPDATE of column "day"', 'and moves it to another');
ALTER TRIGGER set_updated_at ON parts RENAME TO zzz;
SELECT is((SELECT string_agg(object || ' ' || severity, ', ' ORDER BY object) FROM dp_cdp.check_setup() WHERE finding LIKE '%trigger zzz fires after zz_dp_cdp_keep_block%'),
	'public.parts critical, public.parts_1 critical, public.parts_2 critical', 'one that would be called later is told of');
DROP TRIGGER zzz ON parts;
-- a row that moves to another partition is inserted there
CREATE TRIGGER set_created_at BEFORE INSERT ON parts_2 FOR EACH ROW EXECUTE FUNCTION touch();
SELECT is((SELECT string_agg(object || ' ' || severity || ' ' || remedy, ', ') FROM dp_cdp.check_setup() WHERE finding LIKE '%trigger set_created_at fires where an UPDATE moves a row%'),
	'public.parts_2 critical the trigger''s owner can do what the finding says', 'and one that is called for rows from other partitions');
DROP TRIGGER set_created_at ON parts_2;
CREATE TRIGGER set_created_at BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION touch();
SELECT is((SELECT count(DISTINCT object) FROM dp_cdp.check_setup() WHERE finding LIKE '%trigger set_created_at fires where%'), 3::bigint, 'in all of them');
ALTER TABLE parts DISABLE TRIGGER set_created_at;
CREATE TRIGGER after_insert AFTER INSERT ON parts FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER on_other_table BEFORE INSERT ON visits FOR EACH ROW EXECUTE FUNCTION touch();
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE finding LIKE '%keeps them there%'), 0::bigint, 'others are not');
DROP TRIGGER set_created_at ON parts;
DROP TRIGGER after_insert ON parts;
DROP TRIGGER on_other_table ON visits;

-- ------------------------------------------------------------------------
-- triggers that are not as they were made
-- ------------------------------------------------------------------------

CREATE FUNCTION found() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('%s %s', object, substring(finding FROM 'trigger .*')), ', ' ORDER BY object) FROM dp_cdp.check_setup()
	WHERE severity = 'critical' AND finding LIKE '%keeps them there%' $$;
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE finding LIKE '%keeps them there%'), 0::bigint, 'all is well');
DO $$
DECLARE
	t record;
	r text;
BEGIN
	FOR t IN SELECT tgrelid::regclass::text AS rel, tgname FROM pg_trigger WHERE tgparentid = 0 AND tgname LIKE '%dp_cdp_keep%'
		ORDER BY array_position('{dp_cdp_keep_referenced,dp_cdp_keep_key,zz_dp_cdp_keep_block,dp_cdp_keep_block}', tgname::text) LOOP	-- the first is told of alone
		EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', t.rel, t.tgname);
		IF coalesce(found(), '') NOT LIKE format('%%public.%s trigger %s is missing, disabled or changed%%', t.rel, t.tgname) THEN
			RAISE EXCEPTION 'not found: % on %, but %', t.tgname, t.rel, found();
		END IF;
		EXECUTE format('ALTER TABLE %s ENABLE TRIGGER %I', t.rel, t.tgname);
		IF coalesce(found(), '') NOT LIKE format('%%public.%s trigger %s is missing, disabled or changed%%', t.rel, t.tgname) THEN
			RAISE EXCEPTION 'not found: % on %', t.tgname, t.rel;
		END IF;
		EXECUTE format('DROP TRIGGER %I ON %s', t.tgname, t.rel);
		IF coalesce(found(), '') NOT LIKE format('%%public.%s trigger %s is missing, disabled or changed%%', t.rel, t.tgname) THEN
			RAISE EXCEPTION 'not found: % on %', t.tgname, t.rel;
		END IF;
	END LOOP;
END $$;
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgname LIKE '%dp_cdp_keep%'), 0::bigint, 'without any trigger');
SELECT is((SELECT count(*) FROM dp_cdp.check_setup() WHERE severity = 'critical' AND finding LIKE '%keeps them there%'), 13::bigint, 'each of the tables and partitions is told of');
CREATE FUNCTION again() RETURNS text LANGUAGE sql AS $$
	SELECT owner1($q$SELECT dp_cdp.protect_table('visits', 'clinic', 'patient', block => 'day')$q$,
		$q$SELECT dp_cdp.protect_table('parts', 'clinic', 'patient', block => 'day')$q$,
		$q$SELECT dp_cdp.protect_table('items', 'clinic', through => 'part, day')$q$,
		$q$SELECT dp_cdp.protect_table(t::regclass, 'clinic', through => 'visit') FROM unnest('{bills,follows,waits,leaves}'::text[]) t$q$,
		$q$SELECT dp_cdp.protect_table('lines', 'clinic', through => 'wait')$q$,
		$q$SELECT dp_cdp.protect_table('own', 'clinic', through => 'visit', block => 'at')$q$) $$;
SELECT is(again(), 'ok', 'as they were called for');
SELECT is(found(), NULL, 'all are back');
SELECT matches(owner1($$UPDATE items SET part = 5, day = '2024-02-29' WHERE id = 0$$), '^ZC004', 'and hold');
CREATE TABLE before AS SELECT oid FROM pg_trigger WHERE tgname LIKE '%dp_cdp_keep%';
SELECT is(again(), 'ok', 'once more');
SELECT is((SELECT count(*) FROM before b FULL JOIN pg_trigger g ON g.oid = b.oid WHERE (b.oid IS NULL OR g.oid IS NULL) AND (g.tgname IS NULL OR g.tgname LIKE '%dp_cdp_keep%')),
	0::bigint, 'changes nothing');
-- a key of other columns
SELECT is(owner1($$ALTER TABLE visits ADD COLUMN number int UNIQUE$$, $$UPDATE visits SET number = id$$, $$ALTER TABLE bills DROP CONSTRAINT bills_visit_fkey$$,
	$$ALTER TABLE bills ADD FOREIGN KEY (visit) REFERENCES visits (number)$$), 'ok', 'a foreign key to other columns');
SELECT is(found(), 'public.visits trigger dp_cdp_keep_key is missing, disabled or changed', 'is told of');
SELECT is(again(), 'ok', 'protected again');
SELECT is(found(), NULL, 'it is held');
SELECT is(owner1($$INSERT INTO visits VALUES (61, 1, '2024-02-02', NULL, 61)$$), 'ok', 'a row behind the one that is referenced');
SELECT matches(owner1($$UPDATE visits SET number = CASE number WHEN 14 THEN 55 WHEN 61 THEN 14 END WHERE number IN (14, 61)$$), '^ZC004 rows of protected table "bills"', 'by these columns');
-- ------------------------------------------------------------------------
-- what a row leads to is locked before it is read, also where its foreign key looks later
-- ------------------------------------------------------------------------

CREATE FUNCTION locked() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT relation::regclass::text, ' ') FROM pg_locks
	WHERE locktype = 'relation' AND pid = pg_backend_pid() AND relation IN ('visits'::regclass, 'waits'::regclass)
$$;
INSERT INTO visits VALUES (71, 1, '2024-01-02'), (72, 1, '2024-01-03');
INSERT INTO waits VALUES (71, 71), (72, 72);
INSERT INTO lines VALUES (71, 71);
BEGIN;
UPDATE waits SET visit = 72 WHERE id = 71;
SELECT is(locked(), 'visits waits', 'a deferred foreign key');
ROLLBACK;
BEGIN;
UPDATE lines SET wait = 72 WHERE id = 71;
SELECT is(locked(), 'visits waits', 'one further away');
ROLLBACK;
DELETE FROM lines WHERE id = 71;
DELETE FROM waits WHERE id > 70;
DELETE FROM visits WHERE id > 70;

-- reloads, and the end
SELECT is(owner1($$CREATE TABLE waits_new (LIKE waits INCLUDING INDEXES, FOREIGN KEY (visit) REFERENCES visits)$$, $$INSERT INTO waits_new SELECT * FROM waits$$,
	$$SELECT dp_cdp.replace_table('waits', 'waits_new')$$, $$ALTER TABLE lines DROP CONSTRAINT lines_wait_fkey, ADD FOREIGN KEY (wait) REFERENCES waits_new$$), 'ok', 'a reload');
SELECT is(found(), NULL, 'has the triggers');
SELECT matches(owner1($$UPDATE waits_new SET visit = 5 WHERE visit = 2$$), '^ZC004', 'which hold');
SELECT is(owner1($$SELECT dp_cdp.unprotect_table('lines')$$), 'ok', 'a table is unprotected');
SELECT is(found(), NULL, 'all others are held');
SELECT is(owner1($$SELECT dp_cdp.unprotect_table(t::regclass) FROM unnest('{items,parts,own,bills,follows,waits,waits_new,leaves,visits}'::text[]) t$$), 'ok', 'all are');
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgname LIKE '%dp_cdp_keep%'), 0::bigint, 'without a trigger left');
SELECT is(owner1($$UPDATE bills SET visit = 4 WHERE id = 1$$), 'ok', 'rows may be moved');
SELECT * FROM finish();
