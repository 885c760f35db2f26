-- The demo's data: a clinic whose patients come once or hundreds of times.
-- Nothing in it is real. Variables: visits, patients. The documentation makes roles of
-- other names, so that their examples can be pasted into this server, too.

CREATE ROLE administrator LOGIN;
CREATE ROLE analyst LOGIN;
CREATE ROLE partner LOGIN;
CREATE ROLE trainee LOGIN;
CREATE DATABASE clinic OWNER administrator;
\c clinic postgres

SELECT setseed(0.5) \g /dev/null

CREATE TABLE visits (
	visit_id	bigint PRIMARY KEY,
	patient_id	int NOT NULL,
	visited_on	date NOT NULL,
	dept		text NOT NULL,
	diagnosis	text NOT NULL,
	cost		numeric(8,2)
);

-- Everybody comes once; the other visits are skewed towards some patients.
INSERT INTO visits
SELECT i,
	   CASE WHEN i <= :patients THEN i ELSE 1 + floor(:patients * random() ^ 2)::int END,
	   date '2025-01-01' + (random() * 364)::int,
	   (ARRAY['surgery', 'cardiology', 'cardiology', 'neurology', 'orthopedics',
			  'orthopedics', 'orthopedics', 'pediatrics', 'pediatrics', 'pediatrics'])[1 + floor(10 * random())::int],
	   'D' || lpad((1 + floor(40 * random() ^ 3))::int::text, 2, '0'),
	   round((20 + 60 * -ln(1 - random()))::numeric, 2)
FROM generate_series(1, :visits) i;

-- Some diagnoses are so rare that they would point to somebody.
INSERT INTO visits
SELECT :visits + i, i * 7, date '2025-06-01', 'neurology', 'X' || i, 100
FROM generate_series(1, 5) i;

ALTER TABLE visits OWNER TO administrator;
VACUUM ANALYZE visits;

CREATE EXTENSION dp_cdp;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO administrator;
