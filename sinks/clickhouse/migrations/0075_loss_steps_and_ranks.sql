-- The step at which a loss was printed: a line that names a step often has no loss.

ALTER TABLE job_metrics ADD COLUMN IF NOT EXISTS loss_step Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER loss_not_finite;

-- Start and end of one rank of a job that no scheduler reports.
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS rank Nullable(Int64) CODEC(T64, ZSTD(1)) AFTER workload;
