-- What a level reads, against those who attack it: code of theirs inside of
-- subqueries over protected rows, units that are equal in one sense and
-- different in another, queries that grow while they are planned.

\set ON_ERROR_STOP 0
SET client_min_messages = error;

CREATE ROLE owner1 LOGIN;
CREATE ROLE analyst1 LOGIN;
GRANT CREATE ON SCHEMA public TO owner1, analyst1;

SET SESSION AUTHORIZATION owner1;
CREATE TABLE visits (patient int, ward int, w int);
INSERT INTO visits SELECT i % 100, i % 4, 1 FROM generate_series(1, 300) i;
SELECT dp_cdp.create_dataset('clinic', default_rho => 5000, max_groups => 4, max_rows => 3);
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient');
SELECT dp_cdp.set_budget('clinic', 'analyst1', rho => 1000000);
RESET SESSION AUTHORIZATION;

-- a query of analyst1 has one row with this value, or fails like that and costs nothing
CREATE FUNCTION gives(statement text, value text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before float8 := (SELECT sum(rho_spent) FROM dp_cdp.budget WHERE role = 'analyst1'::regrole);
	answer text;
BEGIN
	EXECUTE 'SET SESSION AUTHORIZATION analyst1';
	BEGIN
		EXECUTE statement INTO answer;
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || ' ' || SQLERRM;
	END;
	EXECUTE 'RESET SESSION AUTHORIZATION';
	IF answer LIKE '_____ %' AND (SELECT sum(rho_spent) FROM dp_cdp.budget WHERE role = 'analyst1'::regrole) <> before THEN
		RETURN fail(description || ': charged for ' || answer);
	END IF;
	RETURN CASE WHEN value ~ '^\^' THEN matches(answer, value, description) ELSE is(answer, value, description) END;
END $$;

SELECT no_plan();

-- ------------------------------------------------------------------------
-- code of an analyst
-- ------------------------------------------------------------------------

-- the planner evaluates it, and as whom it does is seen when the function raises or succeeds
SET SESSION AUTHORIZATION analyst1;
CREATE FUNCTION whoami(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'analyst1' THEN
		RAISE 'run as %', current_user;
	END IF;
	RETURN 1;
END $$;
RESET SESSION AUTHORIZATION;

SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient WINDOW w AS (ROWS whoami(1) PRECEDING)) q', '100',
	'a window that nothing uses, in a subquery');
SELECT gives('SELECT dp_count(*) FROM (SELECT patient FROM visits GROUP BY patient WINDOW w AS (ROWS (SELECT count(*) FROM visits) PRECEDING)) q', '100',
	'a window that nothing uses, with a subquery in it');
SELECT gives('SELECT dp_count(*) FROM visits WINDOW w AS (ROWS whoami(1) PRECEDING)', '300', 'a window that nothing uses');

SELECT * FROM finish();
