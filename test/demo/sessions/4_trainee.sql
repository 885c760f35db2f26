-- The trainee's budget holds one aggregate.
SELECT dp_count(*) AS visits FROM visits;

-- Refused: the budget is spent
SELECT dp_count(*) AS visits FROM visits;
