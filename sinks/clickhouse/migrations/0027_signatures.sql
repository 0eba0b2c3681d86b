-- Who signed a decision, by the id of the key.

ALTER TABLE decisions ADD COLUMN IF NOT EXISTS signature String AFTER beneficiary;
