-- The fixture on a cluster of Citus: tables with a unit are distributed by it.  As
-- superuser on the coordinator, after fixture.sql and before rls.sql.  Tables with
-- children cannot be distributed.

SET client_min_messages = error;
SET SESSION AUTHORIZATION boss;
-- a key of a distributed table has what the table is distributed by
ALTER TABLE visit DROP CONSTRAINT visit_pkey, ADD PRIMARY KEY (id, patient);
SELECT create_reference_table('ward');
-- what refers to it follows
ALTER TABLE visit DROP CONSTRAINT visit_patient_fkey;
ALTER TABLE bed DROP CONSTRAINT bed_patient_fkey;
SELECT create_distributed_table(t, 'patient') FROM unnest('{patient,visit,bed,part,lab}'::regclass[]) t;
ALTER TABLE visit ADD FOREIGN KEY (patient) REFERENCES patient;
ALTER TABLE bed ADD FOREIGN KEY (patient) REFERENCES patient;
SELECT create_distributed_table('single', 'id');
RESET SESSION AUTHORIZATION;
ANALYZE;
