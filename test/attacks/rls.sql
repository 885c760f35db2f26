-- The fixture for tools that list only tables that one may select from.

SET SESSION AUTHORIZATION boss;
ALTER TABLE visit ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient ENABLE ROW LEVEL SECURITY;
ALTER TABLE part ENABLE ROW LEVEL SECURITY;
ALTER TABLE parent ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON visit, patient, part, parent TO ana, bob, poor;
CREATE POLICY reading ON visit TO rea USING (true);
CREATE POLICY reading ON patient TO rea USING (true);
CREATE POLICY writing ON visit TO wri WITH CHECK (true);
RESET SESSION AUTHORIZATION;
