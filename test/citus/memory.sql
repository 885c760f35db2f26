-- One person's rows that take more memory than others': where they are read at shards, too.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO owner1;
SET SESSION AUTHORIZATION owner1;
CREATE TABLE note (patient int, body text, other text, n int);
CREATE TABLE wide (patient int, b1 text, b2 text, b3 text, b4 text, b5 text, b6 text, b7 text, b8 text, b9 text, b10 text);
SELECT create_distributed_table('note', 'patient');
SELECT create_distributed_table('wide', 'patient');
INSERT INTO note SELECT i, 'short', 'short', 1 FROM generate_series(1, 400) i;
INSERT INTO note SELECT 42, chr(96 + i), 'short', 1 FROM generate_series(1, 5) i;
UPDATE note SET body = repeat(body, 250000000) WHERE length(body) = 1;
INSERT INTO wide SELECT i, 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x' FROM generate_series(1, 400) i;
-- more than fits into one row as it is sent
DO $$ BEGIN FOR i IN REVERSE 10..1 LOOP EXECUTE format('UPDATE wide SET b%s = repeat(b1, 110000000) WHERE patient = 42', i); END LOOP; END $$;
SELECT dp_cdp.create_dataset('clinic', default_rho => 1, max_rho => 100);
SELECT dp_cdp.protect_table(t, 'clinic', 'patient') FROM unnest('{note,wide}'::regclass[]) t;
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1e6, delta => 0.5);
RESET SESSION AUTHORIZATION;

\ir ask.psql
SELECT no_plan();
SELECT is(ask('coordinator', 'SELECT (SELECT sum(length(body)) FROM note), (SELECT sum(length(b10)) FROM wide)', 'owner1'), '1250002000|110000399', 'the rows are there');
SELECT is(ask('coordinator', q), a, q) FROM (VALUES
	('SELECT count(c) FROM (SELECT body, dp_count(*) AS c FROM note GROUP BY body) q', '1'),
	('SET enable_hashagg = off; SELECT count(c) FROM (SELECT body, dp_count(*) AS c FROM note GROUP BY body) q', '1'),
	('SELECT count(c) FROM (SELECT body, other, dp_sum(n, 0, 1) AS c FROM note GROUP BY body, other) q', '1'),
	('SET dp_cdp.max_groups = 1; SELECT count(c) FROM (SELECT body, dp_count(*) AS c FROM note GROUP BY body) q', '1')) v(q, a);
SELECT is(ask('coordinator', q), a, q) FROM (VALUES
	('SELECT count(n) FROM (SELECT b1, dp_count(*) AS n FROM wide GROUP BY b1, b2, b3, b4, b5, b6, b7, b8, b9, b10) q', '1'),
	('SELECT count(n) FROM (SELECT b1, dp_count(*) AS n FROM wide GROUP BY b1) q', '1'),
	('SELECT dp_count(*) IS NULL FROM (SELECT patient, max(b1) AS b1, max(b2) AS b2, max(b3) AS b3, max(b4) AS b4, max(b5) AS b5, max(b6) AS b6, max(b7) AS b7, max(b8) AS b8, max(b9) AS b9, max(b10) AS b10 FROM wide GROUP BY patient) s WHERE b1 <> $$a$$ AND b2 <> $$a$$ AND b3 <> $$a$$ AND b4 <> $$a$$ AND b5 <> $$a$$ AND b6 <> $$a$$ AND b7 <> $$a$$ AND b8 <> $$a$$ AND b9 <> $$a$$ AND b10 <> $$a$$', 'f')) v(q, a);
SELECT is(ask('coordinator', $$SELECT dp_cdp.alter_dataset('clinic', pull_rows => true, max_groups => 5, max_rows => 5) \g /dev/null$$, 'owner1'), '', 'rows are pulled');
SELECT is(ask('coordinator', q), a, q) FROM (VALUES
	('SELECT dp_count(DISTINCT body) IS NULL FROM note', 'f'),
	('SELECT count(c) FROM (SELECT body, dp_count(DISTINCT other) AS c FROM note GROUP BY body) q', '1'),
	('SELECT dp_count(DISTINCT b1) IS NULL, dp_count(DISTINCT b2) IS NULL, dp_count(DISTINCT b3) IS NULL, dp_count(DISTINCT b4) IS NULL, dp_count(DISTINCT b5) IS NULL, dp_count(DISTINCT b6) IS NULL, dp_count(DISTINCT b7) IS NULL, dp_count(DISTINCT b8) IS NULL, dp_count(DISTINCT b9) IS NULL, dp_count(DISTINCT b10) IS NULL FROM wide', 'f|f|f|f|f|f|f|f|f|f')) v(q, a);
SELECT * FROM finish();
