-- One person's rows that take more memory than others': what a state, a record
-- or a tuple can hold must not be seen to end there.

--# group keys too long for the state of one person, in one column and in two
--@ only: noselect
--@ setup
SET SESSION AUTHORIZATION boss;
CREATE TABLE note (patient int, body text, other text, n int);
INSERT INTO note SELECT i, 'short', 'short', 1 FROM generate_series(1, 400) i;
-- 42's are compressed to a few megabytes
INSERT INTO note SELECT 42, repeat(chr(96 + i), 250000000), 'short', 1 FROM generate_series(1, 5) i;
SELECT dp_cdp.protect_table('note', 'clinic', unit => 'patient');
RESET SESSION AUTHORIZATION;
--@ attack
SELECT count(*) FROM (SELECT body, dp_count(*) FROM note GROUP BY body) q;
--> ok 2
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT body, dp_count(*) FROM note GROUP BY body) q;
--> ok 2
RESET enable_hashagg;
SELECT count(*) FROM (SELECT body, other, dp_sum(n, 0, 1) FROM note GROUP BY body, other) q;
--> ok 2
-- rows that are set aside for a later pass
SET work_mem = '64kB';
SET dp_cdp.max_groups = 1;
SELECT count(*) FROM (SELECT body, dp_count(*) FROM note GROUP BY body) q;
--> ok 2
--@ teardown
SELECT dp_cdp.unprotect_table('note');
DROP TABLE note;
