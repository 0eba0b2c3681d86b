-- Actions on nodes, and the time that a job gets to save a checkpoint before it is evicted.

ALTER TABLE decisions ADD COLUMN IF NOT EXISTS node String AFTER job;

ALTER TABLE decisions ADD COLUMN IF NOT EXISTS grace_s Float64 AFTER node_evidence;
