-- One person's rows that take more memory than others': what a state, a record
-- or a tuple can hold must not be seen to end there.

--# group keys too long for the state of one person, in one column and in two
--@ only: noselect
--@ setup
SET SESSION AUTHORIZATION boss;
CREATE TABLE note (patient int, body text, other text, n int);
INSERT INTO note SELECT i, 'short', 'short', 1 FROM generate_series(1, 400) i;
-- 42's are compressed to a megabyte each, here and below as fast as the server can
SELECT set_config(name, 'lz4', false) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals);
INSERT INTO note SELECT 42, repeat(repeat(chr(96 + i), 1000), 250000), 'short', 1 FROM generate_series(1, 5) i;
SELECT dp_cdp.protect_table('note', 'clinic', unit => 'patient');
RESET SESSION AUTHORIZATION;
--@ attack
SELECT count(c) FROM (SELECT body, dp_count(*) AS c FROM note GROUP BY body) q;
--> ok 2
SET enable_hashagg = off;
SELECT count(c) FROM (SELECT body, dp_count(*) AS c FROM note GROUP BY body) q;
--> ok 2
RESET enable_hashagg;
SELECT count(c) FROM (SELECT body, other, dp_sum(n, 0, 1) AS c FROM note GROUP BY body, other) q;
--> ok 2
SET work_mem = '64kB';
SET dp_cdp.max_groups = 1;
SELECT count(c) FROM (SELECT body, dp_count(*) AS c FROM note GROUP BY body) q;
--> ok 2
--@ teardown
SELECT dp_cdp.unprotect_table('note');
DROP TABLE note;

--# long keys of one person in rows that are set aside, because there are too many people for one pass
--@ only: noselect
--@ absent: wrong
--@ setup
SET SESSION AUTHORIZATION boss;
-- 1.1 GB in one row, compressed once
CREATE TABLE text_of_42 AS SELECT repeat(repeat('x', 1000), 110000) AS body;
CREATE TABLE note (patient int, b1 text, b2 text, b3 text, b4 text, b5 text, b6 text, b7 text, b8 text, b9 text, b10 text);
INSERT INTO note SELECT hashint4(i), 'short', 'short', 'short', 'short', 'short', 'short', 'short', 'short', 'short', 'short' FROM generate_series(1, 100000) i;
INSERT INTO note SELECT 42, body, body, body, body, body, body, body, body, body, body FROM text_of_42;
INSERT INTO note SELECT hashint4(i), 'other', 'other', 'other', 'other', 'other', 'other', 'other', 'other', 'other', 'other' FROM generate_series(1, 100000) i;
SELECT dp_cdp.protect_table('note', 'clinic', unit => 'patient');
RESET SESSION AUTHORIZATION;
--@ attack
SET dp_cdp.max_groups = 2;
SET dp_cdp.rho = 10;
SELECT 'wrong', n FROM (SELECT b1, dp_count(*) AS n FROM note GROUP BY b1, b2, b3, b4, b5, b6, b7, b8, b9, b10) q WHERE abs(n - 100000) > 100;
--> ok 2000
SET work_mem = '64kB';
SELECT 'wrong', n FROM (SELECT b1, dp_count(*) AS n FROM note GROUP BY b1, b2, b3, b4, b5, b6, b7, b8, b9, b10) q WHERE abs(n - 100000) > 100;
--> ok 2000
SELECT 'wrong', n FROM (SELECT b1, dp_count(*) AS n FROM note GROUP BY b1) q WHERE abs(n - 100000) > 100;
--> ok 2000
--@ teardown
SELECT dp_cdp.unprotect_table('note');
DROP TABLE note, text_of_42;

--# strings of one person that do not fit into one row of a subquery
--@ only: noselect
--@ setup
SET SESSION AUTHORIZATION boss;
CREATE TABLE text_of_42 AS SELECT repeat(repeat('x', 1000), 110000) AS body;
CREATE TABLE note (patient int, b1 text, b2 text, b3 text, b4 text, b5 text, b6 text, b7 text, b8 text, b9 text, b10 text);
INSERT INTO note SELECT i, 'short', 'short', 'short', 'short', 'short', 'short', 'short', 'short', 'short', 'short' FROM generate_series(1, 400) i;
INSERT INTO note SELECT 42, body, body, body, body, body, body, body, body, body, body FROM text_of_42;
SELECT dp_cdp.protect_table('note', 'clinic', unit => 'patient');
RESET SESSION AUTHORIZATION;
--@ attack
SELECT dp_count(*) IS NULL FROM (SELECT patient, max(b1) AS b1, max(b2) AS b2, max(b3) AS b3, max(b4) AS b4, max(b5) AS b5, max(b6) AS b6, max(b7) AS b7, max(b8) AS b8, max(b9) AS b9, max(b10) AS b10 FROM note GROUP BY patient) s
	WHERE b1 <> $$a$$ AND b2 <> $$a$$ AND b3 <> $$a$$ AND b4 <> $$a$$ AND b5 <> $$a$$ AND b6 <> $$a$$ AND b7 <> $$a$$ AND b8 <> $$a$$ AND b9 <> $$a$$ AND b10 <> $$a$$;
--> ok 1
-- rows that a join has to hold
SET enable_nestloop = off; SET enable_mergejoin = off;
SELECT dp_count(*) IS NULL FROM (SELECT patient, max(b1) AS b1, max(b2) AS b2, max(b3) AS b3, max(b4) AS b4, max(b5) AS b5, max(b6) AS b6, max(b7) AS b7, max(b8) AS b8, max(b9) AS b9, max(b10) AS b10 FROM note GROUP BY patient) s
	JOIN (SELECT patient, max(b1) AS b1, max(b2) AS b2, max(b3) AS b3, max(b4) AS b4, max(b5) AS b5, max(b6) AS b6, max(b7) AS b7, max(b8) AS b8, max(b9) AS b9, max(b10) AS b10 FROM note GROUP BY patient) t ON s.patient = t.patient
	WHERE s.b1 <> t.b1 || $$a$$ AND s.b2 <> t.b2 || $$a$$ AND s.b3 <> t.b3 || $$a$$ AND s.b4 <> t.b4 || $$a$$ AND s.b5 <> t.b5 || $$a$$ AND s.b6 <> t.b6 || $$a$$ AND s.b7 <> t.b7 || $$a$$ AND s.b8 <> t.b8 || $$a$$ AND s.b9 <> t.b9 || $$a$$ AND s.b10 <> t.b10 || $$a$$;
--> ok 1
SET enable_hashagg = off;
SELECT dp_count(*) IS NULL FROM (SELECT DISTINCT patient, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10 FROM note) s WHERE b1 <> $$a$$ AND b2 <> $$a$$ AND b3 <> $$a$$ AND b4 <> $$a$$ AND b5 <> $$a$$ AND b6 <> $$a$$ AND b7 <> $$a$$ AND b8 <> $$a$$ AND b9 <> $$a$$ AND b10 <> $$a$$;
--> ok 1
--@ teardown
SELECT dp_cdp.unprotect_table('note');
DROP TABLE note, text_of_42;

--# more distinct values than memory is allowed for, of one person too
--@ only: noselect
--@ absent: wrong
--@ setup
SET SESSION AUTHORIZATION boss;
CREATE TABLE note (patient int, ward int NOT NULL, n int);
INSERT INTO note SELECT i % 2000, i % 3, i FROM generate_series(1, 60000) i;
INSERT INTO note SELECT 42, i % 3, -i FROM generate_series(1, 100000) i;
SELECT dp_cdp.protect_table('note', 'clinic', unit => 'patient');
SELECT dp_cdp.set_keys('note', 'ward', ARRAY[0, 1, 2]);
RESET SESSION AUTHORIZATION;
--@ attack
SET work_mem = '64kB';
SET dp_cdp.max_groups = 3;
SET dp_cdp.max_rows = 100;
SET dp_cdp.rho = 300;
SELECT 'wrong', ward, d FROM (SELECT ward, dp_count(DISTINCT n) AS d FROM note GROUP BY ward) q WHERE d NOT BETWEEN 19900 AND 20200;
--> ok 30000
SET enable_hashagg = off;
SELECT 'wrong', ward, d FROM (SELECT ward, dp_count(DISTINCT n) AS d FROM note GROUP BY ward) q WHERE d NOT BETWEEN 19900 AND 20200;
--> ok 30000
SELECT 'wrong', d FROM (SELECT dp_count(DISTINCT n) AS d FROM note) q WHERE d NOT BETWEEN 59000 AND 60300;
--> ok 30000
--@ teardown
SELECT dp_cdp.unprotect_table('note');
DROP TABLE note;
